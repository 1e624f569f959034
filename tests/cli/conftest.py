"""One way to run a command in this process, and one in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from fresh_python import INTERRUPTIBLE
from linkwork.cli.app import app

PLAIN = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "FORCE_COLOR": None}


@pytest.fixture(name="cli", scope="session")
def _cli() -> Callable[..., Any]:
    """``cli("fk", "panda")``: the result, with .exit_code, .stdout and .stderr."""
    runner = CliRunner(env=PLAIN)

    def call(*args: object, env: dict[str, str] | None = None) -> Any:
        result = runner.invoke(app, [str(a) for a in args], env=env, catch_exceptions=False)
        assert "Traceback" not in result.output
        return result

    return call


@pytest.fixture(name="refused")
def _refused(cli: Callable[..., Any]) -> Callable[..., str]:
    """Run a command that must be refused: code 2, nothing on stdout, one line on stderr."""

    def call(*args: object) -> str:
        result = cli(*args)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        text = result.stderr.strip()
        assert text
        assert "\n" not in text
        return text

    return call


@pytest.fixture(name="process", scope="session")
def _process() -> Callable[..., subprocess.Popen[str]]:
    """``process("models")``: `python -m linkwork models`, started; the caller waits for it."""
    environment = {**os.environ, **{k: v for k, v in PLAIN.items() if v is not None}}
    environment.pop("FORCE_COLOR", None)

    def start(*args: object, **how: Any) -> subprocess.Popen[str]:
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **INTERRUPTIBLE, **how}
        command = [sys.executable, "-m", "linkwork", *[str(a) for a in args]]
        return subprocess.Popen(command, env=environment, text=True, encoding="utf-8", **how)

    return start
