"""From arguments to exit codes: help, version, errors as sentences, pipes and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from fresh_python import python
from linkwork.cli import app as module
from linkwork.errors import DescriptionError, Finding, InputError

COMMANDS = (
    *("demo", "models", "info", "fk", "jacobian", "ik", "assemble", "simulate", "collide", "plan"),
)
DOCUMENT_COMMANDS = ("check", "diff", "convert")


def examples_in(text: str) -> list[str]:
    """The commands that a help text shows, as its reader would copy them."""
    lines = text[text.index("Examples:") :].splitlines()
    return [line.strip() for line in lines if line.strip().startswith("linkwork ")]


def test_version(cli: Callable[..., Any]):
    result = cli("--version")
    assert (result.exit_code, result.stdout) == (0, f"linkwork {lw.__version__}\n")


def test_without_a_command_the_help_is_shown_once(cli: Callable[..., Any]):
    result = cli()
    assert result.exit_code == 0
    assert result.stdout.rstrip() == cli("--help").stdout.rstrip()
    assert result.stdout.count("Usage:") == 1
    names = (*COMMANDS, *DOCUMENT_COMMANDS, "show", "run")
    assert all(f" {name} " in result.stdout for name in names)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_examples_in_a_help_text_work(
    cli: Callable[..., Any], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # some of them write a file
    text = cli(*command.split(), "--help").stdout
    assert cli(*command.split(), "-h").stdout == text
    examples = examples_in(text)
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert not command or words[1] == command
        result = cli(*words[1:])
        assert result.exit_code == 0, (example, result.output)
        assert result.stdout.strip()
        if "--json" in words:
            json.loads(result.stdout)


@pytest.mark.parametrize("command", DOCUMENT_COMMANDS)
def test_the_examples_with_files_work_where_the_files_are(
    cli: Callable[..., Any], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With one's own files under the names of the examples."""
    pytest.importorskip("xacro", reason="the xacro package (pip install xacro) is not installed")
    (tmp_path / "meshes").mkdir()
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    for name in ("robot.urdf", "old.urdf"):
        lw.urdf.write(lw.load("ur5e"), name)
    lw.urdf.write(lw.urdf.prefix(lw.urdf.read("ur5e"), "left_"), "new.urdf")
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    body = '<xacro:arg name="prefix" default=""/><link name="$(arg prefix)base"/></robot>'
    Path("robot.urdf.xacro").write_text(head + body)
    text = cli(command, "--help").stdout
    assert cli(command, "-h").stdout == text
    for example in examples_in(text):
        words = shlex.split(example)[1:]
        assert words[0] == command
        files = sorted(str(path) for path in Path().glob("*.urdf"))
        words = [part for word in words for part in (files if word == "*.urdf" else [word])]
        if command == "convert" and words[2] in files:
            words.append("--force")
        result = cli(*words)
        assert result.exit_code == (1 if command == "diff" else 0), (example, result.output)


def test_no_command_is_without_a_test_of_its_examples(cli: Callable[..., Any]):
    text = cli("--help").stdout.split("Commands:")[1].split("Examples:")[0]
    listed = re.findall(r"(?m)^  (\w+) ", text)
    assert {"ik", "run"} <= set(listed)
    assert set(listed) <= {*COMMANDS, *DOCUMENT_COMMANDS, "show", "run"}


@pytest.mark.slow
def test_the_examples_of_run_work(cli: Callable[..., Any], process: Callable[..., Any]):
    """In a process of their own: `run` takes over the process that it runs in."""
    for example in examples_in(cli("run", "--help").stdout):
        with process(*shlex.split(example)[1:]) as running:
            out, err = running.communicate(timeout=60)
        assert (running.returncode, err) == (0, "")
        assert out.strip()


@pytest.mark.parametrize("command", (*COMMANDS, *DOCUMENT_COMMANDS))
def test_examples_fit_into_eighty_columns(cli: Callable[..., Any], command: str):
    wide, narrow = (cli(command, "--help", env={"COLUMNS": w}).stdout for w in ("200", "80"))
    assert examples_in(wide) == examples_in(narrow)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["nope"], "linkwork: no such command 'nope'"),
        (["--nope"], "no such option: --nope"),
        (["fk"], "missing argument 'FILE|NAME'"),
        (["fk", "panda", "extra"], "unexpected extra argument"),
        (["fk", "panda", "--fame", "x"], "no such option: --fame"),
        (["fk", "panda", "--frame"], "'--frame' requires an argument"),
        (["ik", "panda", "--xyz", "-0.3", "0", "0.5"], "unexpected extra argument"),
        (["ik", "panda", "--seed", "x"], "'--seed'"),
        (["ik", "panda", "--position-tolerance", "x"], "'--position-tolerance'"),
        (["ik", "panda", "--threads", "0"], "'--threads'"),
        (["demo", "--targets", "0"], "'--targets'"),
        (["demo", "--seed", "-1"], "'--seed'"),
    ],
)
def test_wrong_usage_is_one_sentence(refused: Callable[..., str], args: list[str], text: str):
    said = refused(*args)
    unquoted = re.sub("[':]", "", said.lower())  # which of the two depends on click's release
    assert re.sub("[':]", "", text.lower()) in unquoted
    assert said.startswith("linkwork")
    assert said.endswith("--help)")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("pand", "no bundled model named 'pand'; nearest: panda"),
        ("none/such.urdf", "none/such.urdf: error: there is no such file"),
        ("robot.sdf", "'robot.sdf' is a .sdf file"),
        ("./", "this is a folder"),
        ("", "no bundled model named ''"),
    ],
)
@pytest.mark.parametrize("command", ["info", "fk", "jacobian", "ik"])
def test_a_robot_that_cannot_be_loaded(
    refused: Callable[..., str], command: str, source: str, text: str
):
    more = ["--xyz", "0 0 0"] if command == "ik" else []
    assert text in refused(command, source, *more)


def test_a_faulty_description_gives_a_line_for_each_fault(cli: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "bad.urdf"
    file.write_text(
        '<robot name="r">\n<link name="a"/>\n<joint name="j" type="fixd"><parent link="a"/>'
        '<child link="b"/></joint>\n<link name="c"><inertial><mass value="x"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    )
    with pytest.raises(DescriptionError) as caught:
        lw.load(file)
    result = cli("info", file)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [str(problem) for problem in caught.value.problems]
    assert len(caught.value.problems) >= 3


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("too small"), "linkwork: too small"),
        (PermissionError(13, "Permission denied", "f.urdf"), "linkwork: f.urdf: Permission denied"),
        (OSError(28, "No space left on device"), "linkwork: No space left on device"),
        (MemoryError("1 TiB"), "linkwork: there is not enough memory: 1 TiB"),
        (DescriptionError([Finding("error", "x", "bad", "f", 3)]), "f:3: error: bad"),
    ],
)
def test_sentences(error: Exception, text: str):
    assert module.sentence_of(error) == text


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch):
    assert module.sentence_of(ZeroDivisionError()) is None
    monkeypatch.setattr(lw, "load", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        module.run(["fk", "panda"])


def test_the_commands_that_compute_nothing_load_no_compiler():
    heavy = "{'casadi', 'llvmlite', 'jax', 'numpy', 'lxml', 'trimesh'}"
    commands = (["models"], ["--help"], ["ik", "--help"], ["--version"], ["nope"])
    code = (
        f"import sys; from linkwork.cli.app import run; [run(args) for args in {commands!r}]; "
        f"sys.stderr.write('loaded:' + repr(sorted({heavy} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.endswith("loaded:[]"), done.stderr


# real processes


def test_a_process_prints_and_exits(process: Callable[..., Any]):
    with process("models") as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    assert "panda" in out


def test_the_command_is_the_one_that_the_package_names():
    code = "import sys; sys.argv = ['linkwork', '--version']; from linkwork.cli import main; main()"
    assert python(code) == f"linkwork {lw.__version__}"
    root = Path(__file__).resolve().parents[2]
    assert 'linkwork = "linkwork.cli:main"' in (root / "pyproject.toml").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
def test_a_reader_that_leaves_is_no_error(process: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "q.npy"
    np.save(file, np.zeros((2_000, 2)))  # more than a pipe holds
    with process("fk", "planar_2r", "--q-file", file, "--json") as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=60) == 141
        assert running.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_is_one_sentence(process: Callable[..., Any], more: list[str]):
    with open("/dev/full", "w") as full, process("models", *more, stdout=full) as running:
        err = running.communicate(timeout=60)[1]
    assert running.returncode == 2
    assert re.fullmatch(r"linkwork: .*\n", err)


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path: Path):
    file = tmp_path / "r.urdf"
    file.write_text('<robot name="r\u00f6b\u2192t"><link name="a"/></robot>', encoding="utf-8")
    code = "import sys; sys.argv[0] = 'linkwork'; from linkwork.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, "info", str(file)],
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(p for p in sys.path if p)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"r\xf6b\u2192t" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_it_cleanly(process: Callable[..., Any], tmp_path: Path, threads: int):
    # Targets out of reach, so that every one takes all its tries: minutes of work.
    poses = np.tile(np.eye(4), (40_000, 1, 1))
    poses[:, 0, 3] = 50.0
    file = tmp_path / "far.npy"
    np.save(file, poses)
    with process("ik", "ur5e", "--poses", file, "--threads", threads) as running:
        time.sleep(2.0)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "linkwork: stopped\n")


def completed(line: str) -> list[str]:
    """What a shell is offered behind a command line, its last word unfinished."""
    words = line.split(" ")
    asked = {
        "_LINKWORK_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "linkwork"],
        env={**os.environ, **asked}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()  # for example "plain,simulate", or "file,./x" where files are meant


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("linkwork sim", ["plain,simulate"]),
        ("linkwork fk plan", ["plain,planar_2r", "plain,planar_3r"]),
        ("linkwork fk panda --th", []),
        ("linkwork fk panda --q", ["plain,--q", "plain,--q-file"]),
        ("linkwork fk ./no", ["file,./no"]),
    ],
)
def test_a_shell_completes_commands_options_and_models(line: str, offered: list[str]):
    assert completed(line) == offered


def test_the_shell_is_given_what_completes(cli: Callable[..., Any]):
    assert "--install-completion" in cli("--help").stdout
    for shell in ("bash", "zsh", "fish", "powershell"):
        text = cli("--show-completion", shell).stdout
        assert f"_LINKWORK_COMPLETE={shell}_complete" in text or shell == "powershell"
        assert "_LINKWORK_COMPLETE" in text
    assert cli("--show-completion", env={"SHELL": "/bin/zsh"}).stdout.startswith("#compdef")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_once(cli: Callable[..., Any], tmp_path: Path, shell: str):
    rc = tmp_path / f".{shell}rc"
    rc.write_text("mine")
    env = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    for _ in range(2):
        assert cli("--install-completion", shell, env=env).exit_code == 0
    where = "fish/completions/linkwork.fish" if shell == "fish" else f"linkwork/complete.{shell}"
    target = tmp_path / ".config" / where
    assert target.read_text() == cli("--show-completion", shell).stdout
    line = "" if shell == "fish" else f"\nsource '{target}'\n"
    assert rc.read_text() == f"mine{line}"


@pytest.mark.parametrize(
    ("words", "shell", "said"),
    [
        (["--show-completion", "tcsh"], "", "there is none for 'tcsh'; name one of bash"),
        (["--show-completion"], "", "which shell is yours is not known; name one of bash"),
        (["--install-completion", "powershell"], "", "profile is not changed"),
    ],
)
def test_a_shell_that_is_not_known_is_told(
    cli: Callable[..., Any], words: list[str], shell: str, said: str
):
    result = cli(*words, env={"SHELL": shell})
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


# names of a description on a terminal: none of them moves its cursor or forges a line

HOSTILE = ("a\x9b2J", "b\u202etfel", "c\u2066d", "e\u2028f", "g\nerror: forged", "h\u061c", "i\x85")
UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    names = [name.replace("\n", "&#10;") for name in HOSTILE]
    links = "".join(f'<link name="{name}"/>' for name in names)
    joints = "".join(
        f'<joint name="j{b}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>'
        for a, b in pairwise(names)
    )
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="{names[4]}">{links}{joints}</robot>', encoding="utf-8")
    return file


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "options",
    [
        ("info", "--frames"),
        ("fk", "--all"),
        ("fk", "--frame", HOSTILE[4]),
        ("fk", "--frame", "nobody"),
        ("ik", "--frame", HOSTILE[4], "--xyz", "0 0 0"),
        ("check",),
    ],
)
def test_no_name_is_printed_raw(cli: Callable[..., Any], hostile: Path, options: tuple[str, ...]):
    command, *rest = options
    result = cli(command, hostile, *rest)
    printed = result.stdout + result.stderr
    assert printed and not UNFIT.search(printed), ascii(UNFIT.search(printed))
    assert not any(line.startswith("error: forged") for line in printed.splitlines())


def test_errors_are_legible(hostile: Path):
    robot = lw.load(hostile)
    for call in (
        lambda: robot.fk(robot.neutral(), "x\x9b\nforged"),
        lambda: robot.with_locked("\u202ex"),
    ):
        with pytest.raises(lw.LinkworkError) as caught:
            call()
        assert not UNFIT.search(str(caught.value)) and "\n" not in str(caught.value)
