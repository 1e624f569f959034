"""Numbers, tables and JSON as they are printed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from linkwork.cli import inputs, output
from linkwork.cli.output import busy, progress_of
from linkwork.errors import InputError
from linkwork.legible import short
from seeds import rng


def test_numbers():
    assert output.number(-1e-9) == "0.000000"
    assert output.number(-1.5, 2) == "-1.50"
    assert output.number(math.inf) == short(-math.inf) == short(math.nan) == "-"
    assert short(-0.0) == "0"
    assert short(1 / 3) == "0.333333"
    assert output.row_of([1, -2], 1, 6) == "   1.0   -2.0"
    text = output.matrix_text(np.eye(2))
    assert [line.split() for line in text.splitlines()] == [
        ["1.000000", "0.000000"],
        ["0.000000", "1.000000"],
    ]


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]):
    name = "[bold]arm[/bold] :smile: [nope]"
    shown = output.table(("name", "value"), numbers=1)
    shown.add_row(name, "1")
    output.console().print(name, shown, sep="\n")
    assert capsys.readouterr().out.count(name) == 2


def test_long_names_are_folded_and_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    shown = output.table(("a", "b"))
    shown.add_row("x" * 50, "y" * 50)
    output.console().print(shown)
    text = capsys.readouterr().out
    assert text.count("x") == 50
    assert text.count("y") == 50
    assert max(map(len, text.splitlines())) <= 40


def test_the_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "77")
    assert output.console().width == 77
    assert output.console(at_least=300).width == 300


def test_a_reader_that_leaves_reaches_the_place_of_errors(monkeypatch: pytest.MonkeyPatch):
    def gone(_: Console) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(Console, "_write_buffer", gone, raising=False)
    with pytest.raises(BrokenPipeError):
        output.console().on_broken_pipe()


def test_notes_go_to_standard_error(capsys: pytest.CaptureFixture[str]):
    output.note("so")
    assert capsys.readouterr() == ("", "so\n")


VALUES: list[Any] = [
    {},
    [],
    {"a": {}},
    {"a": [], "b": [[]], "c": [{}, []]},
    [1, 2.5, None, True, "x"],
    {"m": [[1, 2], [3, 4]], "n": {"deep": [{"k": [1]}]}},
    'quote " backslash \\ newline \n and \u2192',
    3,
]


@pytest.mark.parametrize("value", VALUES)
def test_json_is_what_was_given(value: Any, capsys: pytest.CaptureFixture[str]):
    output.print_json(value)
    assert json.loads(capsys.readouterr().out) == value


def test_json_of_arrays_is_exact_and_has_no_nan(capsys: pytest.CaptureFixture[str]):
    values = rng("json").normal(size=(3, 4))
    capsys.readouterr()  # the seed that was told
    output.print_json(
        {
            "m": values,
            "i": np.int64(3),
            "b": np.bool_(True),
            "t": (1, 2),
            "bad": [math.nan, np.float64(np.inf), -math.inf],
        }
    )
    text = capsys.readouterr().out
    read = json.loads(text, parse_constant=pytest.fail)
    np.testing.assert_array_equal(read["m"], values)
    assert read["bad"] == [None, None, None]
    assert (read["i"], read["b"], read["t"]) == (3, True, [1, 2])
    assert text.count("\n") == 11  # rows of numbers stay on one line


# files of numbers


def test_what_is_written_is_read_again_to_the_last_bit(tmp_path: Path):
    values = rng("files").normal(size=(50, 3)) * 10.0 ** rng("exp").integers(-300, 300, (50, 3))
    path = output.target_file(str(tmp_path / "a.csv"))
    assert path is not None
    output.write_numbers(path, values, ("x", "y,z", 'q"'), values.tolist())
    read = inputs.read_numbers(str(path))
    assert isinstance(read, inputs.Table)
    assert read.header == ("x", "y,z", 'q"')
    np.testing.assert_array_equal(read.values, values)
    binary = output.target_file(str(tmp_path / "a.NPY"))
    assert binary is not None
    output.write_numbers(binary, values, (), ())
    np.testing.assert_array_equal(np.load(binary), values)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.NPY", "a.csv"]


def test_no_target():
    assert output.target_file(None) is None


def test_a_target_that_is_refused(tmp_path: Path):
    (tmp_path / "d.csv").mkdir()
    for name, said in (
        ("x.txt", r"must end in \.csv or \.npy"),
        ("x", r"must end in \.csv or \.npy"),
        (str(tmp_path / "none" / "x.csv"), "there is no folder"),
        (str(tmp_path / "d.csv"), "something that is not a file is there"),
        (str(tmp_path / ("x" * 300 + ".csv")), "cannot be written"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            output.target_file(name)
        assert "\n" not in str(caught.value)


# signs of life: on a terminal, and nowhere else


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
