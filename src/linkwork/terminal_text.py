"""Lines with styles, and tables that fit a width: what is printed for people, as data."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from linkwork.legible import legible

CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""The styles, each with its number in a terminal's commands (ECMA-48, SGR)."""

_GAP = "   "
"""The space between two columns of a table."""
_NARROWEST = 8
"""The columns of the screen that a folded column of a table keeps at least."""


class Text:
    """A line in parts: plain strings, or pairs of a string and its style, such as "bold cyan"."""

    def __init__(self, *parts: str | tuple[str, str]) -> None:
        self.parts = tuple((part, "") if isinstance(part, str) else part for part in parts)

    def __add__(self, other: Text) -> Text:
        return Text(*self.parts, *other.parts)

    def __str__(self) -> str:
        return "".join(text for text, _ in self.parts)

    def rendered(self, *, styled: bool) -> str:
        """The line as a terminal takes it; names in it move no cursor."""
        found = ""
        for text, style in self.parts:
            shown = legible(text, lines=True)
            codes = ";".join(str(CODES[word]) for word in style.split())
            found += f"\x1b[{codes}m{shown}\x1b[0m" if styled and codes and shown else shown
        return found


def width_of(text: str) -> int:
    """The columns of a terminal that a text takes: two for each wide letter."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def folded(text: str, width: int) -> list[str]:
    """The lines of a text, none wider than ``width``: broken at spaces, else between letters."""
    found: list[str] = []
    for line in text.split("\n"):
        left = line
        while width_of(left) > width:
            end, taken = 0, 0
            while taken + _width(left[end]) <= width:
                taken += _width(left[end])
                end += 1
            space = left.rfind(" ", 1, end + 1)
            end = space if space > 0 else max(end, 1)
            found.append(left[:end].rstrip(" "))
            left = left[end:].lstrip(" ")
        found.append(left)
    return found


class TextTable:
    """Rows of cells under names; columns of numbers are aligned to the right.

    ``numbers`` says which are: the last so many, or a range of them. A table that is too wide has
    its widest columns of words folded.
    """

    def __init__(self, names: Sequence[str], *, numbers: int | range = 0) -> None:
        n = len(names)
        self._right = numbers if isinstance(numbers, range) else range(n - numbers, n)
        self._names, self._rows = tuple(names), list[tuple[str, ...]]()

    def add_row(self, *cells: str) -> None:
        """Add a row, from the left, each cell in one line."""
        self._rows.append(tuple(map(legible, cells)))

    def lines(self, width: int) -> list[Text]:
        """The lines of the table, in ``width`` columns where its words can be folded so far."""
        columns = [
            [name, *cells] for name, *cells in zip_longest(self._names, *self._rows, fillvalue="")
        ]
        widths = self._fitted([_widest(cells) for cells in columns], width)
        rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
        first, *rest = zip(*columns, strict=True)
        head = [Text((line, "bold")) for line in self._row(first, widths)]
        body = [Text(line) for row in rest for line in self._row(row, widths)]
        return [*head, Text(rule), *body]

    def _fitted(self, widths: list[int], most: int) -> list[int]:
        words = [k for k in range(len(widths)) if k not in self._right]
        room = most - len(_GAP) * (len(widths) - 1)
        while sum(widths) > room and words:
            widest = max(words, key=lambda k: widths[k])
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
        return widths

    def _row(self, cells: Iterable[str], widths: Sequence[int]) -> list[str]:
        parts = [folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
        return [
            _GAP.join(
                " " * (width - width_of(text)) + text
                if k in self._right
                else text + " " * (width - width_of(text))
                for k, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip(" ")
            for line in zip_longest(*parts, fillvalue="")
        ]


def _widest(cells: Iterable[str]) -> int:
    return max(width_of(line) for cell in cells for line in cell.split("\n"))
