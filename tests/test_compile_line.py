"""A compilation that takes over a second says so on a terminal, and nowhere else by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
