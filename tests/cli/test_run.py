"""``linkwork run``: the same program by python and by us prints the same and ends the same.

Each program runs in a process of its own, as it will for a user.
"""

from __future__ import annotations

import multiprocessing
import os
import py_compile
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fresh_python import INTERRUPTIBLE
from linkwork import faces
from linkwork.cli.app import program_apart
from made_up_face import FACE, ORIGINAL, write

REPORT = """
from __future__ import division
import sys, os, __main__
names = ("__name__", "__file__", "__package__", "__doc__", "__cached__")
print([globals().get(n, "absent") for n in names])
print(type(__loader__).__name__ if not isinstance(__loader__, type) else __loader__.__name__)
print(__spec__.name if __spec__ else None, __builtins__.__name__)
print(sys.argv, sys.path, __main__.__dict__ is globals(), sys.modules["__main__"] is __main__)
late = {"__annotations__"} if sys.version_info >= (3, 14) else set()  # made when asked for
print(sorted(set(globals()) - {"names", "late"} - late))
print(sys.excepthook is sys.__excepthook__, sys.flags.optimize)
print(sys.stdout.errors, sys.stderr.errors)
def annotated(x: print) -> None: ...
print(annotated.__annotations__["x"])
"""
# A process in which "old" is a library that has a face, beside those that there are.
STARTED = (
    "from linkwork import faces; from made_up_face import ENTRY; faces.FACES += (ENTRY,); "
    "from linkwork.cli import main; main()"
)


def environment(folder: Path) -> dict[str, str]:
    paths = [str(Path(__file__).resolve().parents[1]), *[p for p in sys.path if p]]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(folder / "lib")])}


def start(folder: Path, first: list[str], words: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    line = [sys.executable, *first, *words]
    how = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "text": True, "encoding": "utf-8"}
    return subprocess.Popen(line, cwd=folder, env=environment(folder), **how, **INTERRUPTIBLE)


def finish(running: subprocess.Popen[str], text: str | None = None) -> tuple[int, str, str]:
    out, err = running.communicate(text, timeout=60)
    return running.returncode, out, err


def python(folder: Path, *words: str, text: str | None = None) -> tuple[int, str, str]:
    return finish(start(folder, [], list(words)), text)


def linkwork(folder: Path, *words: str, text: str | None = None) -> tuple[int, str, str]:
    """``python -m linkwork run`` with the faces that there are."""
    return finish(start(folder, ["-m", "linkwork", "run"], list(words)), text)


def with_old(folder: Path, *words: str, text: str | None = None) -> tuple[int, str, str]:
    """The same, with a made-up face."""
    return finish(start(folder, ["-c", STARTED, "run"], list(words)), text)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    write(tmp_path / "lib", FACE)
    write(
        tmp_path,
        {
            "sub/report.py": REPORT,
            "pack/__init__.py": "",
            "pack/__main__.py": REPORT,
            "pack/inner.py": REPORT,
            "plain.py": "",
            "app/__main__.py": REPORT,
        },
    )
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", REPORT)
    py_compile.compile(str(tmp_path / "sub/report.py"), cfile=str(tmp_path / "report.pyc"))
    return tmp_path


MESHES = """import subprocess, sys, {library}
try:
    {library}.URDF.load("mine/robot/r.urdf").links[0].visuals[0].geometry.meshes
    print("there")
except ValueError as error:
    print("refused")
try:
    {library}.URDF.load("mine/robot/missing.urdf")
    print("loaded")
except ValueError as error:
    print("missing")
"""


@pytest.mark.slow
@pytest.mark.parametrize("library", ["urdfpy", "urchin"])
def test_meshes_elsewhere_and_missing_ones_without_touching_the_program(folder: Path, library: str):
    """The originals read any file, and all at once."""
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    text = (
        '<robot name="r"><link name="l"><visual><geometry><mesh filename="{}"/></geometry>'
        "</visual></link></robot>"
    )
    names = {"r.urdf": folder / "elsewhere" / "part.obj", "missing.urdf": "missing.obj"}
    write(folder, {f"mine/robot/{file}": text.format(name) for file, name in names.items()})
    write(folder, {"program.py": MESHES.format(library=library)})
    run = ["--as", library, "program.py"]
    assert linkwork(folder, *run) == (0, "refused\nloaded\n", "")
    assert linkwork(folder, "--allow", "elsewhere", *run) == (0, "there\nloaded\n", "")
    done = linkwork(folder, "--load-meshes", "--allow=elsewhere", *run)
    assert done == (0, "there\nmissing\n", "")


# as python does it


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "words",
    [
        ["sub/report.py"],
        ["./sub/report.py", "a", "--as", "x", "--help", "-m", "--", "-c", "--no-such", ""],
        ["app", "x"],
        ["app.zip", "-x"],
        ["report.pyc", "1"],
        ["-m", "pack"],
        ["-m", "pack", "--help", "-h", "--", "-m", "x"],
        ["-mpack.inner", "--as=1"],
        ["-c", REPORT],
        ["-c", REPORT, "-c", "2", "--"],
        ["-c" + REPORT.lstrip(), "3"],
        ["-", "4"],
    ],
    ids=lambda words: " ".join(words)[:24].replace("\n", " "),
)
def test_a_program_sees_what_python_shows_it(folder: Path, words: list[str]):
    text = REPORT if words[0] == "-" else None
    wanted, got = python(folder, *words, text=text), linkwork(folder, *words, text=text)
    assert got[1].splitlines() == wanted[1].splitlines()
    assert got == wanted
    assert wanted[0] == 0
    assert wanted[1].count("\n") >= 7


ENDINGS = [
    "1 / 0",
    "def f():\n    raise ValueError('bad')\nf()",
    "raise SystemExit",
    "import sys; sys.exit(3)",
    "import sys; sys.exit('in words')",
    "import sys; sys.exit(-1)",
    "import sys; sys.exit(None)",
    "import sys; sys.exit(False)",
    "import sys; sys.exit((1, 2))",
    "def broken(:",
    "import nothing_of_this_name",
    "from linkwork.errors import InputError\nraise InputError('of the program')",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "raise KeyboardInterrupt",
    "raise BaseExceptionGroup('g', [ValueError(1)])",
    "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1/0",
    "import atexit, sys\natexit.register(lambda: print('bye', sys.argv))\n1 / 0",
    "import os; os._exit(7)",
    "import warnings; warnings.warn('old', DeprecationWarning)",
    "import threading, time, sys\ndef late():\n    time.sleep(0.3)\n"
    "    import __main__; print(__main__.mark, sys.argv)\nmark = 5\n"
    "threading.Thread(target=late).start()",
    "open('gone.txt')",
    "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.fail()\n"
    "import io, sys; sys.stderr = io.StringIO(); unittest.main()",
]


def short(code: str) -> str:
    return code.splitlines()[-1][:40]


def same_ending(folder: Path, words: list[str], code: str) -> tuple[str, str]:
    """Standard error by python and by us, the rest of the outcome being the same."""
    write(folder, {"program.py": code + "\n"})
    wanted, got = python(folder, *words), linkwork(folder, *words)
    if "KeyboardInterrupt" in code:  # python ends by the signal, a shell shows 130
        assert wanted[0] in (-signal.SIGINT, 130, 1)
        wanted = (130, *wanted[1:])
    assert got[:2] == wanted[:2]
    assert "linkwork" not in got[2] or "linkwork" in code
    return wanted[2], got[2]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("code", ENDINGS, ids=short)
def test_a_script_ends_as_with_python(folder: Path, code: str):
    wanted, got = same_ending(folder, ["program.py"], code)
    assert got == wanted


@pytest.mark.slow
@pytest.mark.parametrize("code", ENDINGS[:6], ids=short)
def test_a_module_ends_as_with_python(folder: Path, code: str):
    wanted, got = same_ending(folder, ["-m", "program"], code)
    assert "runpy" not in got  # as it stands in python's
    assert got.splitlines()[-1:] == wanted.splitlines()[-1:]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_a_link_leads_to_the_folder_of_the_script(folder: Path):
    (folder / "linked.py").symlink_to(folder / "sub" / "report.py")
    wanted, got = python(folder, "linked.py"), linkwork(folder, "linked.py")
    assert got == wanted
    assert str(folder / "sub") in got[1]


@pytest.mark.slow
def test_a_traceback_begins_in_the_program(folder: Path):
    write(folder, {"program.py": "import inner\n", "inner.py": "1 / 0\n"})
    for words in (["program.py"], ["-m", "program"]):
        code, out, err = linkwork(folder, *words)
        assert (code, out) == (1, "")
        files = [line.split('"')[1] for line in err.splitlines() if line.startswith("  File ")]
        assert [Path(file).name for file in files] == ["program.py", "inner.py"]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope.py"], "linkwork: nope.py: No such file or directory"),
        (["lib"], "linkwork: 'lib' has no __main__.py"),
        (["-m", "nope"], "linkwork: no module named 'nope'"),
        (["-m", "pack.nope"], "linkwork: no module named 'pack.nope'"),
        (["-m", "plain.py"], "linkwork: no module named 'plain.py'; leave out the '.py'"),
        (["-m", "lib"], "linkwork: no module named 'lib.__main__'"),
        (["-m", "_thread"], "linkwork: '_thread' is no Python code"),
        ([], "linkwork: there is nothing to run: name a script, or -m MODULE, or -c CODE"),
        (["--as", "oldd", "x.py"], "linkwork: no face named 'oldd'; nearest: old"),
        (["--nope", "x.py"], "linkwork run: no such option: --nope"),
        (["-m"], "requires an argument"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(folder: Path, words: list[str], said: str):
    code, out, err = with_old(folder, *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    # whether an option is quoted depends on click's release
    assert re.sub("[':]", "", said.lower()) in re.sub("[':]", "", err.lower())


@pytest.mark.slow
def test_a_module_whose_package_fails_shows_its_error(folder: Path):
    write(folder, {"bad/__init__.py": "import missing_thing\n", "bad/x.py": ""})
    code, _, err = linkwork(folder, "-m", "bad.x")
    assert code == 1
    assert "bad/__init__.py" in err.replace("\\", "/")
    assert err.endswith("ModuleNotFoundError: No module named 'missing_thing'\n")
    assert "importlib" not in err


@pytest.mark.slow
def test_options_of_python_hold(folder: Path):
    line = ["-O", "-W", "error", "-m", "linkwork", "run", "-c"]
    code = "import warnings, sys\nprint(__debug__)\nassert False\nwarnings.warn('x')"
    done = finish(start(folder, line, [code]))
    assert (done[0], done[1]) == (1, "False\n")
    assert done[2].endswith("UserWarning: x\n")


@pytest.mark.slow
def test_a_safe_path_stays_safe(folder: Path):
    line = ["-I", "-c", "import sys; sys.path[1:1] = sys.argv.pop(1).split('|'); "
            "from linkwork.cli import main; main()"]  # fmt: skip
    paths = "|".join(p for p in sys.path if p)
    words = [paths, "run", "-c", "import sys; print(sys.path[0]); import pack"]
    code, out, err = finish(start(folder, line, words))
    assert code == 1
    assert out.strip() not in ("", str(folder))
    assert "No module named 'pack'" in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_reaches_the_program(folder: Path):
    code = (
        "import time\nprint('on', flush=True)\ntry:\n    time.sleep(60)\nfinally:\n    print('end')"
    )
    with start(folder, ["-m", "linkwork", "run", "-c"], [code]) as running:
        assert running.stdout.readline() == "on\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        code, out, err = finish(running)
    assert (code, out) == (130, "end\n")
    assert err.endswith("KeyboardInterrupt\n")


# the faces


PROGRAM = "import oldlib\nfrom oldlib.utils import turn\nprint(oldlib.__name__, turn(2))\n"


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "words",
    [
        ["program.py"],
        ["--as", "old", "program.py"],
        ["--as=old", "-m", "program"],
        ["--as", "oldlib", "-c", PROGRAM],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_old_names_lead_to_the_face(folder: Path, words: list[str]):
    write(folder, {"program.py": PROGRAM, **ORIGINAL})
    assert with_old(folder, *words) == (0, "ourface -2\n", "")
    assert python(folder, "program.py")[0] == 1


@pytest.mark.slow
@pytest.mark.skipif(not faces.available(), reason="no faces")
def test_only_the_faces_that_are_named(folder: Path):
    write(folder, ORIGINAL)
    other = faces.available()[0]
    done = with_old(folder, "--as", other, "-c", "import oldlib; print(oldlib.REAL)")
    assert done == (0, "True\n", "")
    both = [
        "--as",
        "old",
        "--as",
        other,
        "-c",
        "from linkwork import faces as f; print(f.installed())",
    ]
    assert with_old(folder, *both)[1] == f"{('old', other)}\n"


CHILDREN = """
import multiprocessing, sys
import oldlib
def work(x):
    import oldlib.utils
    return oldlib.utils.turn(x), oldlib.__name__, sys.argv[1:]
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, [1, 2], chunksize=1))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("how", ["script", "module"])
def test_processes_of_multiprocessing_have_the_faces(folder: Path, method: str, how: str):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this platform")
    write(folder, {"program.py": CHILDREN})
    # The made-up face is one of the table's in every process.
    site = "from linkwork import faces\nfrom made_up_face import ENTRY\nfaces.FACES += (ENTRY,)\n"
    write(folder / "lib", {"sitecustomize.py": site})
    words = ["program.py"] if how == "script" else ["-m", "program"]
    code, out, err = linkwork(folder, *words, method)
    assert (code, err) == (0, "")
    parts = [method]
    assert out == f"{[(-1, 'ourface', parts), (-2, 'ourface', parts)]}\n"


# the cut between our options and the program


@pytest.mark.parametrize(
    ("words", "apart"),
    [
        ("x.py --as y", "-- x.py --as y"),
        ("--as y x.py -m z", "--as y -- x.py -m z"),
        ("--as=y -m z -c", "--as=y -m z -- -c"),
        ("-mz a", "-m z -- a"),
        ("-c code --help", "-c code -- --help"),
        ("- a", "-- - a"),
        (
            "--allow a --load-meshes --allow=b x.py --allow c",
            "--allow a --load-meshes --allow=b -- x.py --allow c",
        ),
        ("--help x.py", "--help x.py"),
        ("-h", "-h"),
        ("--nope x.py", "--nope x.py"),
        ("-- x.py --as", "-- x.py --as"),
        ("-m", "-m"),
        ("--as", "--as"),
        ("", ""),
    ],
)
def test_where_the_program_begins(words: str, apart: str):
    assert program_apart(words.split()) == apart.split()


def test_the_help_says_how_it_is_called(cli: Callable[..., object]):
    text = " ".join(cli("run", "--help").stdout.split())
    assert "linkwork run [OPTIONS] SCRIPT|-m MODULE|-c CODE [ARGUMENTS]..." in text
    assert "--as LIBRARY" in text
