"""Numbers, tables and JSON as they are printed."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.cli import inputs, output
from linkwork.errors import InputError
from linkwork.legible import short
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import Text, TextTable, folded, width_of
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
    shown = TextTable(("name", "value"), numbers=1)
    shown.add_row(name, "1")
    Screen().print(name, shown)
    assert capsys.readouterr().out.count(name) == 2


def test_long_names_are_folded_and_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    shown = TextTable(("a", "b"))
    shown.add_row("x" * 50, "y" * 50)
    Screen().print(shown)
    text = capsys.readouterr().out
    assert text.count("x") == 50
    assert text.count("y") == 50
    assert max(map(len, text.splitlines())) <= 40


def test_the_width(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "77")
    assert Screen().width == 77


def test_numbers_stand_to_the_right_and_words_to_the_left():
    table = TextTable(("name", "x", "unit"), numbers=range(1, 2))
    table.add_row("a", "1.5", "m")
    table.add_row("\u4e2d\u6587", "-10")  # two columns of the screen a letter
    assert [str(line) for line in table.lines(80)] == [
        "name     x   unit",
        "\u2500" * 17,
        "a      1.5   m",
        "\u4e2d\u6587   -10",
    ]


def test_a_text_is_folded_at_spaces_or_between_letters():
    assert folded("one two three", 8) == ["one two", "three"]
    assert folded("abcdefgh", 3) == ["abc", "def", "gh"]
    assert folded("a\n\nb", 3) == ["a", "", "b"]
    for width in range(2, 12):
        lines = folded("ab \u4e2d\u6587\u5b57 e\u0301fg  hij", width)
        assert max(map(width_of, lines)) <= width
        assert "".join(lines).replace(" ", "") == "ab\u4e2d\u6587\u5b57e\u0301fghij"


def test_styles_are_for_terminals_and_names_obey_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    line = Text(("a\x1b[2Jb", "bold red"), "c")
    monkeypatch.setenv("TERM", "xterm")
    for wish, shown in (
        ({}, "a\\x1b[2Jbc\n"),
        ({"FORCE_COLOR": "1"}, "\x1b[1;31ma\\x1b[2Jb\x1b[0mc\n"),
        ({"NO_COLOR": "1"}, "a\\x1b[2Jbc\n"),
    ):
        for name, value in wish.items():
            monkeypatch.setenv(name, value)
        Screen().print(line)
        assert capsys.readouterr().out == shown


def test_lines_of_tables_are_plain_where_the_encoding_has_none(monkeypatch: pytest.MonkeyPatch):
    table = TextTable(("a",))
    table.add_row("b")
    for encoding, rule in (("ascii", "-"), ("utf-8", "\u2500"), ("latin-1", "-")):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
        monkeypatch.setattr(sys, "stdout", stream)
        Screen().print(table)
        stream.flush()
        assert stream.buffer.getvalue().decode(encoding) == f"a\n{rule}\nb\n"


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
    with progress_line("solving") as tell:
        assert tell is None
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_is_shown_on_standard_error_and_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_line("solving") as tell:
        assert screen.getvalue().endswith("solving ...")
        assert tell is not None
        for done in range(8):
            tell(done, 7)
    assert "7/7" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert capsys.readouterr().out == ""


def test_a_command_on_a_terminal_keeps_its_output_clean(cli: Callable[..., Any]):
    plain = cli("ik", "planar_2r", "--xyz", "1 1 0", "--json")
    shown = cli(
        "ik", "planar_2r", "--xyz", "1 1 0", "--json", env={"FORCE_COLOR": "1", "TERM": "xterm"}
    )
    assert plain.stdout == shown.stdout
