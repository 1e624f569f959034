"""Settings read from the surroundings, what is refused there, and the line of the compiler."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import settings


@pytest.fixture
def threads(monkeypatch):
    """Set LINKWORK_THREADS and ask anew."""

    def ask(value: str | None) -> int:
        if value is None:
            monkeypatch.delenv("LINKWORK_THREADS", raising=False)
        else:
            monkeypatch.setenv("LINKWORK_THREADS", value)
        settings.most_threads.cache_clear()
        return settings.most_threads()

    yield ask
    settings.most_threads.cache_clear()


def test_threads_are_as_many_as_usable_cores(threads):
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert threads(None) == threads("") == usable


def test_threads_may_be_given(threads):
    assert [threads(value) for value in ("1", "3", "64", "007")] == [1, 3, 64, 7]


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " 2", "2 ", "1e3", "²", "0x2", "+1"])
def test_threads_that_are_no_number_are_refused_by_name(threads, value):
    for _ in range(2):  # an error is not remembered in place of a number
        with pytest.raises(lw.InputError, match="LINKWORK_THREADS must be a positive whole number"):
            threads(value)
    assert threads("2") == 2


def test_the_number_of_threads_does_not_change_the_answer(threads):
    q = lw.load("planar_3r").random(40_000, seed=1)
    answers = []
    for value in ("1", "2", "5"):
        assert threads(value) == int(value)
        answers.append(lw.load("planar_3r").fk(q, "tool0"))
    assert answers[0].tobytes() == answers[1].tobytes() == answers[2].tobytes()
    assert np.isfinite(answers[0]).all()


def test_ros_paths_stand_in_their_order(monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(["/a", "", "/b c"]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(["/opt/x", "/opt/y"]))
    assert settings.ros_paths() == tuple(map(Path, ("/a", "/b c", "/opt/x/share", "/opt/y/share")))
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    assert settings.ros_paths() == ()


def test_the_clock_goes_forward():
    times = [settings.clock() for _ in range(100)]
    assert times == sorted(times)
    assert 0 <= times[-1] - times[0] < 60


def test_folders_that_the_environment_allows(monkeypatch, tmp_path: Path):
    monkeypatch.delenv("LINKWORK_ALLOW", raising=False)
    assert settings.allowed_folders() == ()
    monkeypatch.setenv("LINKWORK_ALLOW", os.pathsep.join(["/a", "", "/b c"]))
    assert settings.allowed_folders() == (Path("/a"), Path("/b c"))
    monkeypatch.chdir(tmp_path)
    settings.hand_on_mesh_options(["here"], load_meshes=False)
    assert settings.allowed_folders() == (tmp_path / "here", Path("/a"), Path("/b c"))


def test_when_meshes_are_read(monkeypatch):
    monkeypatch.delenv("LINKWORK_LOAD_MESHES", raising=False)
    assert not settings.load_meshes_at_once()
    monkeypatch.setenv("LINKWORK_LOAD_MESHES", "0")
    assert not settings.load_meshes_at_once()
    settings.hand_on_mesh_options([], load_meshes=True)
    assert settings.load_meshes_at_once()
    monkeypatch.setenv("LINKWORK_LOAD_MESHES", "yes")
    with pytest.raises(lw.InputError, match="LINKWORK_LOAD_MESHES must be 0 or 1, not 'yes'"):
        settings.load_meshes_at_once()


def test_where_a_browser_is_seen(monkeypatch):
    for name in ("LINKWORK_BROWSER", "SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if sys.platform == "linux":
        assert not settings.has_desktop()
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert settings.has_desktop()
    assert not settings.over_ssh()
    monkeypatch.setenv("SSH_TTY", "/dev/pts/0")
    assert settings.over_ssh()
    assert not settings.has_desktop()
    monkeypatch.setenv("LINKWORK_BROWSER", "1")
    assert settings.has_desktop()
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    assert not settings.has_desktop()
    monkeypatch.setenv("LINKWORK_BROWSER", "no")
    with pytest.raises(lw.InputError, match="LINKWORK_BROWSER must be 0 or 1, not 'no'"):
        settings.has_desktop()


# ------------------------------------------------------------------------ the line of the compiler


pty = pytest.importorskip("pty", reason="terminals of POSIX systems")

# Work that takes a second without keeping the processor busy.
WAIT = """
import sys, threading, time
from linkwork import settings

def work(seconds):
    with settings.compiler().work("fk for nobody"):
        with settings.compiler().work("a part of it"):
            time.sleep(seconds)

work(0.05)
work(1.15)
try:
    with settings.compiler().work("what fails"):
        time.sleep(1.1)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
assert threading.active_count() == 1
"""
COMPILE = """
import numpy as np
import linkwork as lw
r = lw.load("humanoid")
rest = np.zeros(r.n_v)
r.inverse_dynamics_derivatives(r.neutral(), rest, rest)
"""


class Running:
    """Python code in a process of its own, its standard error a terminal or a pipe."""

    def __init__(self, code: str, *, terminal: bool, **environment: str) -> None:
        env = {k: v for k, v in os.environ.items() if k != "LINKWORK_PROGRESS"} | environment
        self._read, write = pty.openpty() if terminal else os.pipe()
        self._process = subprocess.Popen([sys.executable, "-c", code], stderr=write, env=env)
        os.close(write)

    def said(self) -> str:
        """What it wrote to standard error, once it has ended well."""
        text = b""
        while True:
            try:
                piece = os.read(self._read, 4096)
            except OSError:  # Linux's end of a terminal whose other side is closed
                break
            if not piece:
                break
            text += piece
        os.close(self._read)
        assert self._process.wait(60) == 0, text.decode()
        return text.decode().replace("\r\n", "\n")


LINES = (
    r"linkwork: compiling fk for nobody \.\.\. 1\.\d s\n"
    r"linkwork: compiling what fails \.\.\. 1\.\d s, given up\n"
)


@pytest.mark.slow
def test_a_line_on_a_terminal_and_nothing_in_a_pipe():
    running = {
        "a terminal": Running(WAIT, terminal=True),
        "a pipe": Running(WAIT, terminal=False),
        "off": Running(WAIT, terminal=True, LINKWORK_PROGRESS="0"),
        "a pipe that asks": Running(WAIT, terminal=False, LINKWORK_PROGRESS="1"),
    }
    said = {name: each.said() for name, each in running.items()}
    assert said["a pipe"] == said["off"] == ""
    pattern = re.compile(LINES)
    for name in ("a terminal", "a pipe that asks"):
        assert pattern.fullmatch(said[name]), (name, said[name])


@pytest.mark.slow
def test_a_function_that_takes_long_is_named_and_found_the_next_time(tmp_path: Path):
    where = {"LINKWORK_CACHE": str(tmp_path / "kernels")}
    first = Running(COMPILE, terminal=True, **where).said()
    assert first.startswith("linkwork: compiling inverse_dynamics_derivatives for humanoid ... ")
    assert first.endswith(" s, kept for next time\n")
    assert Running(COMPILE, terminal=True, **where).said() == ""
