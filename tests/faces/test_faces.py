"""faces.install and its neighbours: by name, all or none of them, for this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fresh_python import python
from linkwork import faces
from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.import_hook import ImportHook
from linkwork.faces.table import FACES, FaceEntry
from made_up_face import DOTTED, ENTRY, FACE, ORIGINAL, clean, write


@pytest.fixture(name="hook")
def _hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportHook]:
    """The package with two made-up faces in its table."""
    write(tmp_path, FACE)
    with clean(tmp_path) as hook:
        monkeypatch.setattr(faces, "FACES", (ENTRY, DOTTED))
        monkeypatch.setattr(faces, "IMPORT_HOOK", hook)
        yield hook


def test_by_name(hook: ImportHook):
    assert faces.available() == ("old", "big")
    assert faces.installed() == ()
    faces.install("big")
    assert faces.installed() == ("big",)
    assert importlib.import_module("bigold.Arms").turn(1) == -1
    faces.uninstall("big")
    assert faces.installed() == ()


def test_a_face_may_be_named_by_its_module(hook: ImportHook):
    faces.install("bigold.Arms", "oldlib")
    assert faces.installed() == ("big", "old")
    faces.uninstall("oldlib")
    assert faces.installed() == ("big",)


def test_none_means_all(hook: ImportHook):
    faces.install()
    assert faces.installed() == ("old", "big")
    faces.uninstall()
    assert faces.installed() == ()
    faces.uninstall()


@pytest.mark.usefixtures("hook")
@pytest.mark.parametrize("call", [faces.install, faces.uninstall])
def test_an_unknown_name_says_which_there_are(call: Callable[..., None]):
    with pytest.raises(UnknownNameError, match="no face named 'bog'; nearest: big"):
        call("old", "bog")
    assert faces.installed() == ()


def test_all_or_none(hook: ImportHook, tmp_path: Path):
    write(tmp_path, ORIGINAL)
    importlib.import_module("oldlib")
    finders = list(sys.meta_path)
    with pytest.raises(InputError, match="imported already"):
        faces.install("big", "old")
    assert faces.installed() == ()
    assert sys.meta_path == finders


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", faces.available())
def test_each_face_there_is_can_be_installed_and_taken_away(name: str):
    """In a process of its own: the original may be imported in this one."""
    code = (
        "import importlib, sys\nfrom linkwork import faces\n"
        "from linkwork.faces.table import FACES\n"
        f"entry = next(e for e in FACES if e.name == {name!r})\n"
        "before = list(sys.meta_path)\n"
        f"faces.install({name!r})\n"
        "for old, ours in entry.modules.items():\n"
        "    assert importlib.import_module(old) is importlib.import_module(ours), old\n"
        f"faces.uninstall({name!r})\n"
        "assert sys.meta_path == before\n"
        "assert not [m for m in sys.modules if entry.covers(m)]\n"
    )
    python(code)


def module_below(entry: FaceEntry, old: str) -> str:
    """Where a module of an older library stands below Linkwork: "linkwork.faces.urdfpy.utils"."""
    face = entry.modules[entry.module]
    inside = old.removeprefix(entry.module).lstrip(".") if is_below(old, entry.module) else old
    return f"{face}.{inside}" if inside else face


def is_below(old: str, module: str) -> bool:
    return old == module or old.startswith(f"{module}.")


@pytest.mark.parametrize(
    ("entry", "old"),
    [pytest.param(entry, old, id=old) for entry in FACES for old in entry.modules],
)
def test_each_module_of_a_face_is_importable_below_linkwork_faces(entry: FaceEntry, old: str):
    """A program may change ``from urdfpy.utils import x`` by writing the face's name in front."""
    below = importlib.import_module(module_below(entry, old))
    by_its_old_name = importlib.import_module(entry.modules[old])
    listed = vars(by_its_old_name).get("__all__", dir(by_its_old_name))
    public = [name for name in listed if not name.startswith("_")]
    other = [
        name for name in public if getattr(below, name, None) is not getattr(by_its_old_name, name)
    ]
    assert not other, f"not in {below.__name__}: {', '.join(other)}"


def test_installing_loads_no_face_and_nothing_heavy():
    code = (
        "import sys\nfrom linkwork import faces\nfaces.install()\n"
        "heavy = {'numpy', 'casadi', 'llvmlite', 'lxml', 'trimesh', 'click'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
        "print([m for m in sys.modules if m.startswith('linkwork.faces.')])"
    )
    own = ["linkwork.faces.import_hook", "linkwork.faces.table"]
    heavy, loaded = python(code).splitlines()
    assert heavy == "[]"
    assert sorted(eval(loaded)) == own
