"""Output for people: lines and tables, and the progress of a long computation."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from linkwork import settings
from linkwork.legible import legible
from linkwork.terminal_text import Text, TextTable

WIDTH_OF_A_FILE = 100
"""Columns to write where there is no terminal to ask, and COLUMNS is not set."""

_PLAIN = str.maketrans("─│├└", "-|+`")
"""The lines of tables and trees where the encoding has none."""


class Screen:
    """Standard output as people read it: lines, with colours where they are shown, and tables."""

    def __init__(self) -> None:
        self.width = max(20, shutil.get_terminal_size((WIDTH_OF_A_FILE, 24)).columns)

    def print(self, *things: str | Text | TextTable) -> None:
        """Print each thing in lines of its own; names in them obey no terminal and move none."""
        stream = sys.stdout
        styled, plain = settings.styled(stream), not _has_lines(stream.encoding)
        for thing in things:
            parts = thing.lines(self.width) if isinstance(thing, TextTable) else [thing]
            for part in parts:
                text = part if isinstance(part, Text) else Text(part)
                line = text.rendered(styled=styled)
                stream.write((line.translate(_PLAIN) if plain else line) + "\n")


def _has_lines(encoding: str | None) -> bool:
    return encoding is None or encoding.lower().replace("-", "").startswith("utf")


_BETWEEN = 0.1
"""Seconds between two changes of the line."""
_BAR = 30
"""The columns of the bar."""


@contextmanager
def progress_line(text: str) -> Generator[Callable[[int, int], None] | None, None, None]:
    """A line that stands while the body runs, and says how far it is.

    The body calls what it is given with (done, total); None where nobody looks.
    """
    stream = sys.stderr
    if not settings.on_terminal(stream):
        yield None
        return
    begun = last = settings.clock()

    def say(line: str) -> None:
        stream.write(f"\r\x1b[K{legible(line)}")
        stream.flush()

    def told(done: int, total: int) -> None:
        nonlocal last
        now = settings.clock()
        if done < total and now - last < _BETWEEN and done > 1:
            return
        last = now
        full = _BAR * done // max(total, 1)
        bar = "#" * full + "." * (_BAR - full)
        say(f"{text} {bar} {done}/{total} {now - begun:.0f} s")

    say(f"{text} ...")
    try:
        yield told
    finally:
        say("")
