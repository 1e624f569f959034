"""Signs of life: on a terminal, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from linkwork.cli.output import busy, progress_of


def test_nothing_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]):
    with busy("compiling"), progress_of("solving") as progress:
        assert progress is None
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_it_is_shown_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with busy("compiling"):
        pass
    with progress_of("solving") as progress:
        assert progress is not None
        progress(3, 7)
    out, err = capsys.readouterr()
    assert out == ""
    assert "compiling" in err
    assert "solving" in err
    assert "3/7" in err


def test_a_command_on_a_terminal_keeps_its_output_clean(cli: Callable[..., Any]):
    plain = cli("ik", "planar_2r", "--xyz", "1 1 0", "--json")
    shown = cli(
        "ik", "planar_2r", "--xyz", "1 1 0", "--json", env={"FORCE_COLOR": "1", "TERM": "xterm"}
    )
    assert plain.stdout == shown.stdout
