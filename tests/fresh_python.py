"""Code in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import linkwork as lw

SOURCE, TESTS = Path(lw.__file__).parents[1], Path(__file__).parent

INTERRUPTIBLE: dict[str, Any] = (
    {}
    if sys.platform == "win32"
    else {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
)
"""Arguments of `Popen` by which a process hears of Ctrl-C where tests run in the background."""


def python(code: str | Path, *arguments: object, **environment: str) -> str:
    """The output of a fresh interpreter that runs a text or a file, stripped.

    It has these sources and the modules beside the tests; its errors are shown where it fails.
    """
    how = [str(code)] if isinstance(code, Path) else ["-c", textwrap.dedent(code)]
    return _output([*how, *map(str, arguments)], environment)


def program_as(face: str, text: str, folder: Path, **environment: str) -> list[str]:
    """The lines that a program written for another library prints, run by `linkwork run --as`."""
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    return _output(["-m", "linkwork", "run", "--as", face, str(program)], environment).splitlines()


def _output(arguments: list[str], environment: dict[str, str]) -> str:
    where = filter(None, [str(SOURCE), str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments],
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(where), **environment},
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-4000:].decode()}"
    return done.stdout.decode().strip()
