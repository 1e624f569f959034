"""Old names lead to a face: the same objects by every name, and nothing is left when it is closed.

The face is made up, so that what holds here holds for every face.
"""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fresh_python import python
from linkwork.errors import InputError
from linkwork.faces.import_hook import ImportHook
from linkwork.faces.table import FaceEntry
from made_up_face import DOTTED, ENTRY, FACE, ORIGINAL, PARENT, clean, forget, write


@pytest.fixture(name="hook")
def _hook(tmp_path: Path) -> Iterator[ImportHook]:
    write(tmp_path, FACE)
    with clean(tmp_path) as hook:
        yield hook


def names_of_oldlib() -> set[str]:
    return {name for name in sys.modules if name.split(".")[0] in ("oldlib", "bigold", "deep")}


def execute(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    return space


def test_each_way_to_import_gives_the_same_objects(hook: ImportHook):
    hook.install([ENTRY])
    space = execute(
        "import oldlib\nfrom oldlib import Robot\nimport oldlib.robot\nimport oldlib.robot as r\n"
        "from oldlib.robot import Robot as Again\nfrom oldlib import utils\n"
        "from oldlib.utils import turn\nimport oldlib.utils as u\n"
    )
    ours = importlib.import_module("ourface")
    assert space["oldlib"] is space["r"] is ours
    assert space["Robot"] is space["Again"] is ours.Robot
    assert space["utils"] is space["u"] is importlib.import_module("ourface.rotations")
    assert space["turn"] is ours.turn
    assert isinstance(space["Robot"](), ours.Robot)
    assert importlib.import_module("oldlib.utils") is space["u"]
    assert space["oldlib"].__version__ == "1.2"


@pytest.mark.parametrize(
    "text",
    [
        "import oldlib; x = oldlib.utils.turn(3)",  # as where the original imports its submodules
        "from oldlib.utils import turn; x = turn(3)",
        "from oldlib import utils; x = utils.turn(3)",
        "import oldlib.utils; x = oldlib.utils.turn(3)",
        "import oldlib.robot as r; x = r.turn(3)",
        "from oldlib import *; x = turn(3)",
    ],
)
def test_each_form_works_as_the_first_import(hook: ImportHook, text: str):
    hook.install([ENTRY])
    assert execute(text)["x"] == -3


def test_nothing_is_loaded_before_it_is_imported(hook: ImportHook):
    hook.install([ENTRY])
    assert not any(name.startswith("ourface") for name in sys.modules)
    assert names_of_oldlib() == set()
    assert importlib.util.find_spec("oldlib") is not None
    assert "ourface.rotations" not in sys.modules


def test_the_face_is_left_as_it_is(hook: ImportHook):
    ours = importlib.import_module("ourface")
    described = (ours.__name__, ours.__spec__, ours.__loader__, ours.__package__, ours.__path__)
    hook.install([ENTRY])
    importlib.import_module("oldlib.robot")
    assert (
        ours.__name__, ours.__spec__, ours.__loader__, ours.__package__, ours.__path__
    ) == described  # fmt: skip
    assert ours.__name__ == "ourface"


def test_a_submodule_that_is_not_there_is_named_with_those_that_are(hook: ImportHook):
    hook.install([ENTRY])
    for name in ("oldlib.hidden", "oldlib.nope", "oldlib.utils.deeper"):
        with pytest.raises(ModuleNotFoundError) as caught:
            importlib.import_module(name)
        assert caught.value.name == name
        if name != "oldlib.utils.deeper":  # ourface.rotations is no package; Python says so
            assert str(caught.value) == (
                f"No module named '{name}' in Linkwork's face of old; "
                "there are: oldlib, oldlib.robot, oldlib.utils"
            )
    with pytest.raises(ImportError, match="hidden_name"):
        execute("from oldlib import hidden_name")
    with pytest.raises(ModuleNotFoundError, match="there are: oldlib, "):
        importlib.util.find_spec("oldlib.nope")


def test_other_modules_are_found_as_before(hook: ImportHook, tmp_path: Path):
    write(tmp_path, {"oldlibrary.py": "X = 1\n"})
    hook.install([ENTRY])
    assert importlib.import_module("oldlibrary").X == 1
    del sys.modules["oldlibrary"]
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'oldlib2'$"):
        importlib.import_module("oldlib2")


@pytest.mark.parametrize("loaded", [False, True])
def test_find_spec(hook: ImportHook, loaded: bool):
    hook.install([ENTRY])
    if loaded:
        importlib.import_module("oldlib")
    for name, file in (("oldlib", "ourface/__init__.py"), ("oldlib.utils", "rotations.py")):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert str(spec.origin).replace("\\", "/").endswith(file)
    assert importlib.util.find_spec("oldlib.utils").origin == sys.modules["oldlib.utils"].__file__


def test_reload_runs_the_face_again_in_the_same_module(hook: ImportHook):
    hook.install([ENTRY])
    module = importlib.import_module("oldlib")
    before = module.Robot
    module.Robot = None
    assert importlib.reload(module) is module
    assert sys.modules["oldlib"] is sys.modules["ourface"] is module
    assert module.Robot is not before
    assert importlib.import_module("oldlib.utils") is importlib.import_module("ourface.rotations")


def test_an_old_name_that_was_deleted_is_found_again(hook: ImportHook):
    hook.install([ENTRY])
    module = importlib.import_module("oldlib")
    del sys.modules["oldlib"], sys.modules["oldlib.utils"]
    assert importlib.import_module("oldlib.utils") is sys.modules["ourface.rotations"]
    assert importlib.import_module("oldlib") is module


def test_pickles_name_the_module_inside_linkwork(hook: ImportHook):
    hook.install([ENTRY])
    robot = importlib.import_module("oldlib").Robot()
    data = pickle.dumps(robot, protocol=0)
    assert b"ourface" in data
    assert b"oldlib" not in data
    hook.uninstall([ENTRY])
    assert type(pickle.loads(data)) is type(robot)
    hook.install([ENTRY])  # and one that names the original comes to the face
    old = data.replace(b"ourface", b"oldlib")
    assert type(pickle.loads(old)) is type(robot)


# open and close


def test_opening_twice_is_opening_once(hook: ImportHook):
    finders = list(sys.meta_path)
    hook.install([ENTRY])
    hook.install([ENTRY, ENTRY])
    importlib.import_module("oldlib")
    hook.install([ENTRY])
    assert hook.entries == (ENTRY,)
    assert len(sys.meta_path) == len(finders) + 2
    sys.meta_path[:] = finders  # taken away by somebody, they come back
    hook.install([ENTRY])
    assert len(sys.meta_path) == len(finders) + 2
    hook.uninstall([ENTRY])
    assert sys.meta_path == finders


def test_closing_leaves_nothing_behind(hook: ImportHook):
    ours = importlib.import_module("ourface")
    importlib.import_module("ourface.rotations")
    finders, names, words = list(sys.meta_path), dict(sys.modules), dict(vars(ours))
    hook.install([ENTRY, DOTTED])
    for name in ("oldlib.utils", "bigold.Arms.utils"):
        importlib.import_module(name)
    assert {"utils", "robot"} <= vars(ours).keys() - words.keys()
    hook.uninstall([ENTRY, DOTTED])
    assert sys.meta_path == finders
    assert dict(sys.modules) == names
    assert dict(vars(ours)) == words
    for name in ("oldlib", "bigold", "bigold.Arms"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)
    hook.uninstall([ENTRY])  # again: nothing happens
    assert sys.meta_path == finders


def test_closing_one_face_leaves_the_other(hook: ImportHook):
    hook.install([ENTRY, DOTTED])
    ours = importlib.import_module("oldlib")
    importlib.import_module("bigold.Arms")
    hook.uninstall([ENTRY])
    assert names_of_oldlib() == {"bigold", "bigold.Arms", "bigold.Arms.utils"}
    assert sys.modules["bigold"].Arms is ours
    assert sys.modules["bigold.Arms.utils"] is sys.modules["ourface.rotations"]


def test_a_word_of_the_face_itself_is_not_replaced(hook: ImportHook, tmp_path: Path):
    text = FACE["ourface/__init__.py"] + "utils = 'a word of its own'\n"
    write(tmp_path, {"ourface/__init__.py": text})
    hook.install([ENTRY])
    ours = importlib.import_module("oldlib")
    assert ours.utils == "a word of its own"
    assert importlib.import_module("oldlib.utils") is sys.modules["ourface.rotations"]
    hook.uninstall([ENTRY])
    assert ours.utils == "a word of its own"


# beside the original


def test_the_face_wins_over_the_original_until_it_is_closed(hook: ImportHook, tmp_path: Path):
    write(tmp_path, ORIGINAL)
    hook.install([ENTRY])
    assert not hasattr(importlib.import_module("oldlib"), "REAL")
    assert not hasattr(importlib.import_module("oldlib.robot"), "REAL")
    with pytest.raises(ModuleNotFoundError, match="Linkwork's face"):
        importlib.import_module("oldlib.more")
    hook.uninstall([ENTRY])
    for name in ("oldlib", "oldlib.robot", "oldlib.more"):
        assert importlib.import_module(name).REAL


@pytest.mark.parametrize("name", ["oldlib", "oldlib.more"])
def test_an_original_that_is_imported_is_refused(hook: ImportHook, tmp_path: Path, name: str):
    write(tmp_path, ORIGINAL)
    importlib.import_module(name)
    finders, names = list(sys.meta_path), dict(sys.modules)
    with pytest.raises(InputError, match=r"'oldlib.*' is imported already from .*before the first"):
        hook.install([DOTTED, ENTRY])
    assert hook.entries == ()
    assert (sys.meta_path, sys.modules) == (finders, names)


def test_a_blocked_name_is_refused(hook: ImportHook):
    sys.modules["oldlib"] = None  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="blocked"):
        hook.install([ENTRY])


# names with dots


def test_a_parent_that_does_not_exist_is_made(hook: ImportHook):
    hook.install([DOTTED])
    space = execute("import bigold.Arms.utils\nfrom bigold import Arms")
    assert space["Arms"] is sys.modules["ourface"]
    assert space["bigold"].Arms.utils.turn(2) == -2
    assert "Linkwork" in space["bigold"].__doc__
    for name in ("bigold.other", "bigold.arms"):  # case counts
        with pytest.raises(ModuleNotFoundError, match=rf"^No module named '{name}'$"):
            importlib.import_module(name)


@pytest.mark.parametrize("first", ["bigold", "bigold.other", "os"])
def test_a_parent_that_exists_gets_the_submodule(hook: ImportHook, tmp_path: Path, first: str):
    write(tmp_path, PARENT)
    importlib.import_module(first)  # the original's parent may be there already
    hook.install([DOTTED])
    space = execute("import bigold.Arms\nimport bigold.other")
    assert space["bigold"].REAL
    assert space["bigold"].other.REAL
    assert space["bigold"].Arms is sys.modules["ourface"]
    hook.uninstall([DOTTED])
    assert "Arms" not in vars(space["bigold"])
    assert sys.modules["bigold"] is space["bigold"]


def test_the_submodule_of_an_original_is_hidden_and_comes_back(hook: ImportHook, tmp_path: Path):
    write(tmp_path, {**PARENT, "bigold/Arms.py": "REAL = True\n"})
    hook.install([DOTTED])
    assert importlib.import_module("bigold.Arms") is sys.modules["ourface"]
    hook.uninstall([DOTTED])
    assert importlib.import_module("bigold.Arms").REAL
    with pytest.raises(InputError, match=r"bigold\.Arms"):
        hook.install([DOTTED])


def test_an_attribute_of_the_parent_comes_back(hook: ImportHook, tmp_path: Path):
    write(tmp_path, {"bigold/__init__.py": "Arms = 'a word'\n"})
    hook.install([DOTTED])
    parent = importlib.import_module("bigold")
    importlib.import_module("bigold.Arms")
    assert parent.Arms is sys.modules["ourface"]
    hook.uninstall([DOTTED])
    assert parent.Arms == "a word"


@pytest.mark.parametrize("top_exists", [False, True])
def test_several_made_parents(hook: ImportHook, tmp_path: Path, top_exists: bool):
    if top_exists:
        write(tmp_path, {"deep/__init__.py": "REAL = True\n"})
    entry = FaceEntry("deep", {"deep.er.Old": "ourface"})
    hook.install([entry])
    space = execute("import deep.er\nfrom deep.er.Old import turn")
    assert space["turn"](1) == -1
    assert hasattr(space["deep"], "REAL") is top_exists
    hook.uninstall([entry])
    assert names_of_oldlib() == ({"deep"} if top_exists else set())
    assert not hasattr(space["deep"], "er")


# when something goes wrong, and from several threads


def test_a_face_that_fails_leaves_no_half(hook: ImportHook, tmp_path: Path):
    write(tmp_path, {"ourface/rotations.py": "", "ourface/__init__.py": "1 / 0\n"})
    hook.install([ENTRY])
    for name in ("oldlib", "oldlib.utils"):
        with pytest.raises(ZeroDivisionError):
            importlib.import_module(name)
        assert names_of_oldlib() == set()
    write(tmp_path, {"ourface/__init__.py": "OK = 1\n", "ourface/rotations.py": "1 / 0  # here\n"})
    forget()
    importlib.invalidate_caches()
    with pytest.raises(ZeroDivisionError):
        importlib.import_module("oldlib")
    assert names_of_oldlib() == set()


THREADS = """
import faulthandler, importlib, sys, threading
from pathlib import Path
from made_up_face import DOTTED, ENTRY, FACE, clean, write

faulthandler.dump_traceback_later(40, exit=True)
folder = Path(sys.argv[1])
slow = "import time\\ntime.sleep(0.005)\\n"
write(folder, {**FACE, "ourface/__init__.py": slow + FACE["ourface/__init__.py"]})
names = ["oldlib", "oldlib.utils", "oldlib.robot", "bigold.Arms.utils", "bigold.Arms"] * 4
for turn in range(30):
    with clean(folder) as hook:
        gate, seen, failed = threading.Barrier(len(names)), [], []
        def work(name):
            gate.wait()
            try:
                hook.install([ENTRY, DOTTED])
                seen.append(importlib.import_module(name).turn)
            except BaseException as error:
                failed.append((name, repr(error)))
        threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed
        assert len(seen) == len(names)
        assert set(seen) == {sys.modules["ourface.rotations"].turn}
        assert hook.entries == (ENTRY, DOTTED)
"""


def test_many_threads_get_one_module(tmp_path: Path):
    # Python holds locks while it looks for modules and while it runs them: with a finder that
    # imports, or a loader that takes a submodule before its parent, some turns hang or fail. In a
    # process of its own, because one that hangs there can import nothing more.
    python(THREADS, tmp_path)
