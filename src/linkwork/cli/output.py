"""Output: tables and poses on standard output, notes on standard error, numbers in files."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork import extras
from linkwork.atomic import refusing, replacing
from linkwork.errors import InputError
from linkwork.json_values import as_json
from linkwork.legible import legible
from linkwork.terminal_text import Text

if TYPE_CHECKING:  # the list of models needs no NumPy
    import numpy as np
    from numpy.typing import NDArray

    from linkwork.solve.result import IKResult

NUMBER_FILES = (".csv", ".npy")
"""The files that numbers are written to, by the end of their name."""

PICTURE_FILES = (".png", ".svg", ".pdf")
"""The files that plots are written to."""

RESULT_COLUMNS = ("success", "position_error", "rotation_error")
"""The columns beside the joints in a file of solutions, which a file of positions may have too."""

ROWS_SHOWN = 20
"""Rows of a batch that are printed; a file or JSON has all of them."""


def note(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(legible(text, lines=True) + "\n")


_OPTIONS = (
    (re.compile(r"(pass )?allow=\[folder\]"), r"\1--allow FOLDER"),
    (re.compile(r"(pass )?allow=\[([^\]]*)\]"), r"\1--allow \2"),
    (re.compile(r"\boverwrite=True"), "--force"),
    (re.compile(r"^meshes\b"), "--meshes"),
    (re.compile(r"^format\b|\bformat=$"), "--to"),
    (re.compile(r"^choose (must be one of .*), or a function;"), r"--best \1;"),
    (re.compile(r"^PositionLimit\.margin\b"), "--limits-margin"),
    (re.compile(r"^(best|position|rotation)_(of|tolerance)(?= must be)"), r"--\1-\2"),
    (re.compile(r"^(duration|dt|tolerance|record|steps|tries|seed|seconds)(?= must be)"), r"--\1"),
)


def in_options(text: str) -> str:
    """A message with the options of commands in place of the arguments of functions."""
    for argument, option in _OPTIONS:
        text = argument.sub(option, text)
    return text


@contextmanager
def options_named() -> Generator[None, None, None]:
    """Errors of arguments raised again with the options of commands in their texts."""
    try:
        yield
    except InputError as error:
        raise InputError(in_options(str(error))) from None


# numbers


def number(value: float, digits: int = 6) -> str:
    """A number with fixed digits, without a negative zero; infinity is a dash."""
    if not math.isfinite(value):
        return "-"
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def row_of(values: Iterable[float], digits: int = 6, width: int = 11) -> str:
    """Numbers in columns."""
    return " ".join(f"{number(v, digits):>{width}}" for v in values)


def matrix_text(matrix: NDArray[np.float64], indent: str = "  ") -> str:
    """A matrix (m, n), one line for each row."""
    return "\n".join(indent + row_of(row) for row in matrix)


def heading(text: str) -> Text:
    """A line that stands above a part of the output; new lines before it are empty ones."""
    line = text.lstrip("\n")
    return Text((text[: len(text) - len(line)] + legible(line), "bold"))


def tell_rest(total: int, shown: int | None) -> None:
    """Say on standard error that there are more rows than were printed."""
    if shown is not None and total > shown:
        note(f"{shown} of {total} rows are shown; --out FILE or --json gives all of them")


# JSON


def print_json(value: Any) -> None:
    """Strict JSON on standard output; lists of plain values stay on one line."""
    for piece in _pieces(as_json(value), ""):
        sys.stdout.write(piece)
    sys.stdout.write("\n")


def _pieces(value: Any, indent: str) -> Iterator[str]:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        items = [(f"{json.dumps(key)}: ", item) for key, item in value.items()]
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        items = [("", item) for item in value]
    else:
        yield json.dumps(value, allow_nan=False)
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    for k, (key, item) in enumerate(items):
        yield f"{opening if k == 0 else ','}\n{inner}{key}"
        yield from _pieces(item, inner)
    yield f"\n{indent}{closing}"


# files of numbers: written whole or not at all


def picture_file(name: str | None, option: str) -> Path | None:
    """The file of a plot, as `target_file` has it.

    Raises: InputError; MissingExtraError without matplotlib.
    """
    path = target_file(name, PICTURE_FILES, option)
    if path is not None:
        with extras.needed(f"{option} needs", "matplotlib", "plot"):
            import_module("matplotlib")
    return path


def target_file(
    name: str | None, kinds: Sequence[str] = NUMBER_FILES, option: str = ""
) -> Path | None:
    """The file to write, checked before any work is done; ``option`` is told with its faults.

    Raises: InputError for another ending than those of ``kinds``, a folder that does not exist, or
    something there that is not a file.
    """
    if name is None:
        return None
    path, told = Path(name), f"{option} {name}".strip()
    if path.suffix.lower() not in kinds:
        ends = " or ".join([*([", ".join(kinds[:-1])] if kinds[1:] else []), kinds[-1]])
        raise InputError(f"{told}: the name of the file to write must end in {ends}")
    with refusing(name):
        if not path.parent.is_dir():
            raise InputError(f"{told} cannot be written: there is no folder {path.parent}")
        if path.exists() and not path.is_file():
            raise InputError(f"{told} cannot be written: something that is not a file is there")
        # through a link, so that the file is replaced and not the link
        return path.resolve() if path.is_symlink() else path


def write_numbers(
    path: Path | None,
    array: NDArray[Any],
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> None:
    """Write an array (.npy), or rows under a header (.csv); nothing where there is no file.

    Every number is as short as it can be read back exactly.
    """
    if path is None:
        return
    import numpy as np  # noqa: PLC0415  the list of models needs none

    with replacing(path) as file:
        if path.suffix.lower() == ".npy":
            np.save(file, array, allow_pickle=False)
            return
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(header)
        lines.writerows(rows)
        text.flush()
        text.detach()


def write_solutions(path: Path | None, labels: Sequence[str], result: IKResult) -> None:
    """Write joint positions (.npy), or a line for each row with its success and errors (.csv)."""
    rows = (
        [*one.q.tolist(), int(one.success), one.position_error, one.rotation_error]
        for _, one in result.rows()
    )
    write_numbers(path, result.q, (*labels, *RESULT_COLUMNS), rows)
