"""Files of numbers: read strictly, each fault with its place; written whole or not at all."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.atomic import refusing, replacing
from linkwork.errors import InputError

Floats = NDArray[np.float64]
KINDS = (".csv", ".npy")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of numbers (n, columns), and the names of the columns where the file has a header."""

    file: str
    header: tuple[str, ...] | None
    values: Floats


# reading


def number(text: str) -> float | None:
    """The finite number that a piece of text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    # float() also takes underscores and the digits of other scripts
    return value if math.isfinite(value) and text.isascii() and "_" not in text else None


def read(name: str) -> Table | Floats:
    """A .csv file as a table, a .npy file as a float64 array.

    Raises: InputError for another kind of file, one that cannot be read, or a cell that is no
    finite number, by file and line.
    """
    kind = Path(name).suffix.lower()
    if kind not in KINDS:
        raise InputError(f"{name}: the file's name must end in .csv or .npy")
    try:
        return _read_csv(name) if kind == ".csv" else _read_npy(name)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None


def _read_csv(name: str) -> Table:
    header: tuple[str, ...] | None = None
    rows: list[list[float]] = []
    width = 0
    try:
        # a byte order mark in front, as spreadsheets write it, does not count
        with open(name, encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            for cells in lines:
                if not any(cell.strip() for cell in cells):
                    continue
                if not width:
                    width = len(cells)
                    if all(number(cell) is None for cell in cells):
                        header = tuple(cell.strip() for cell in cells)
                        continue
                rows.append(_row(f"{name}:{lines.line_num}", cells, width))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not a .csv file in UTF-8: {error}") from None
    if not rows:
        raise InputError(f"{name} holds no rows of numbers")
    return Table(name, header, np.array(rows, np.float64))


def _row(where: str, cells: Sequence[str], width: int) -> list[float]:
    if len(cells) != width:
        raise InputError(
            f"{where}: this line has {len(cells)} cells, the first has {width}; cells are parted "
            "by commas"
        )
    values: list[float] = []
    for k, cell in enumerate(cells, 1):
        value = number(cell)
        if value is None:
            raise InputError(f"{where}: cell {k} is not a finite number: {cell.strip()!r}")
        values.append(value)
    return values


def _read_npy(name: str) -> Floats:
    try:
        with open(name, "rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{name} is not a .npy array of numbers: {reason}") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} holds {array.dtype}, not numbers")
    if array.size == 0:
        raise InputError(f"{name} holds an empty array, of shape {array.shape}")
    values = np.ascontiguousarray(array, np.float64)
    if not np.isfinite(values).all():
        where = ", ".join(str(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise InputError(f"{name}: the value at [{where}] is not a finite number")
    return values


# writing


def target(name: str | None) -> Path | None:
    """The file to write, checked before any work is done.

    Raises: InputError for another ending than .csv or .npy, a folder that does not exist, or
    something there that is not a file.
    """
    if name is None:
        return None
    path = Path(name)
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{name}: the name of the file to write must end in .csv or .npy")
    with refusing(name):
        if not path.parent.is_dir():
            raise InputError(f"{name} cannot be written: there is no folder {path.parent}")
        if path.exists() and not path.is_file():
            raise InputError(f"{name} cannot be written: something that is not a file is there")
        # through a link, so that the file is replaced and not the link
        return path.resolve() if path.is_symlink() else path


def write_npy(path: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy."""
    with replacing(path) as file:
        np.save(file, array, allow_pickle=False)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows under a header; every number as short as it can be read back exactly."""
    with replacing(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(header)
        lines.writerows(rows)
        text.flush()
        text.detach()
