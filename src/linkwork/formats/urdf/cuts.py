"""The quick way through a file: elements of a known shape are cut out and read by their moulds.

A call from expat to Python for each begin, end and text is what reading costs most. So expat makes
sure without any call that the XML is well formed; then the file is taken element by element below
the root. One whose mould is known (see `moulds`) is read with that. All others go to the reader of
events in one stream, as if those had not been there, with as many line breaks before them as make
their lines right. A file that could puzzle this way (CDATA, a document type, other processing
instructions) is read by events from its beginning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from linkwork.formats.urdf.convert import LONGEST, SPACE, BadText
from linkwork.formats.urdf.moulds import Mould, made, mould
from linkwork.formats.urdf.nodes import NoMouldError
from linkwork.formats.urdf.oddities import TAG
from linkwork.formats.urdf.plans import DOCUMENT
from linkwork.formats.urdf.records import Comment, ExtraElement

if TYPE_CHECKING:
    from linkwork.formats.urdf.reader import Reader

SMALLEST = 2048
"""Shorter files gain nothing: they would be gone through twice."""

LARGEST = 1 << 20
"""Longer files go to expat piece by piece."""

MOST = 1000
"""How many shapes are remembered, of all files that a process reads."""

_LONGEST = 8192  # longer shapes are not
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:\-]*")
_ROBOT = DOCUMENT.children["robot"].plan

_moulds: dict[str, Mould | None] = {}
"""Shape to mould; None where there is none. A shape that came once only is not in it yet."""
_once: dict[str, None] = {}


def forget() -> None:
    """Know no shape any more, as a new process does."""
    _moulds.clear()
    _once.clear()


def remembered() -> int:
    """How many shapes are known, those that came once included."""
    return len(_moulds) + len(_once)


class _HiddenError(Exception):
    """Something may hide what is a tag and what is not."""


def _refused(*_: object) -> None:
    raise _HiddenError


def _usable(data: bytes) -> bool:
    """Whether the XML is well formed, without document type, CDATA and processing instructions."""
    if not SMALLEST <= len(data) <= LARGEST:
        return False
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return False
    parser = expat.ParserCreate("utf-8", "\n")
    parser.StartDoctypeDeclHandler = parser.StartCdataSectionHandler = _refused
    parser.ProcessingInstructionHandler = _refused
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, _HiddenError):
        return False
    return True


def _body(data: bytes) -> int:
    """Where the root's tag ends; 0 where it is not plain to see."""
    at = 0
    while True:
        at = data.find(b"<", at)
        if at < 0 or data.startswith(b"<robot", at):
            break
        if data.startswith(b"<!--", at):
            at = data.find(b"-->", at)
        elif data.startswith(b"<?", at):
            at = data.find(b"?>", at)
        else:
            return 0
    tag = TAG.match(data, at) if at >= 0 else None
    return tag.end() if tag else 0


class Cuts:
    """One file on its way through a `Reader`, which can read all of it."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.data = reader.data
        self.fed_to = 0  # bytes of the file
        self.fed_lines = 0  # line breaks that the reader has seen

    def read(self) -> bool:
        """Read the whole file, or nothing of it: then the answer is False."""
        data, reader = self.data, self.reader
        body = _body(data) if _usable(data) else 0
        if not body:
            return False
        self._feed(0, body, 0)
        if reader.plan is _ROBOT:
            self._elements(data.decode("latin-1"), body)
        else:  # an empty root
            self._feed(body, len(data), data.count(b"\n", 0, body))
        reader.parser.Parse(b"", True)
        return True

    def _elements(self, text: str, at: int) -> None:
        """What stands below the root, one by one."""
        reader = self.reader
        lines = text.count("\n", 0, at)
        while True:
            start = text.find("<", at)
            lines_at = lines
            lines += text.count("\n", at, start)
            stop = self._end(text, start)
            if not stop or text[at:start].strip(SPACE):
                break
            if not self.take(text[start:stop], lines + 1):
                self._feed(start, stop, lines)
                if reader.skipping or reader.plan is not _ROBOT:
                    at, lines_at = stop, lines + text.count("\n", start, stop)
                    break
            lines += text.count("\n", start, stop)
            at = stop
        self._feed(at, len(text), lines_at)

    def _end(self, text: str, start: int) -> int:
        """Where the element or comment that begins here seems to end; 0 for the end of the root."""
        if text.startswith("<!--", start):
            return text.find("-->", start) + 3
        name = _NAME.match(text, start + 1)
        if name is None:
            return 0
        stop = text.find(">", start)
        if text[stop - 1] == "/":
            return stop + 1
        closing = f"</{name[0]}>"
        stop = text.find(closing, stop)
        return stop + len(closing) if stop >= 0 else 0

    def _feed(self, start: int, stop: int, lines: int) -> None:
        """Give a part of the file, before which there are so many lines, to the reader."""
        reader, part = self.reader, self.data[start:stop]
        breaks = b"\n" * (lines - self.fed_lines)
        if breaks:
            reader.parser.Parse(breaks, False)
        reader.shift = start - (reader.fed + len(breaks))
        reader.fed += len(breaks) + len(part)
        self.fed_lines = lines + part.count(b"\n")
        reader.parser.Parse(part, False)

    def take(self, piece: str, line: int) -> bool:
        """Read what begins on this line into the root's list; False leaves that as it was."""
        reader = self.reader
        if not piece.isascii() or "&" in piece:
            return False
        values = reader.values
        position = values[_ROBOT.count]
        if piece.startswith("<!--"):
            record: Any = Comment("robot", piece[4:-3].replace("\r\n", "\n"), position, line)
            index = _ROBOT.comments
        else:
            parts = piece.split('"')
            found = _mould_of(parts)
            if found is None or not _fits(found, piece):
                return False
            index = found.index
            if found.recipe is None:
                name = str(values[0] or "")
                record = ExtraElement("robot", found.tag, piece, position, line)
            else:
                texts = parts[1::2]
                name = texts[found.name] if found.name >= 0 else ""
                try:
                    record = made(found.recipe, texts, line, reader.memos, position)
                except BadText:
                    return False
            for note in found.notes:
                note(reader.unknown, line, name)
        values[_ROBOT.count] = position + 1
        if values[index]:
            values[index].append(record)
        else:
            values[index] = [record]
        return True


def _fits(found: Mould, piece: str) -> bool:
    """Whether no value is so long, or has a line break or a tab, which XML reads as a space."""
    return (
        len(piece) <= LONGEST
        and piece.count("\n") == found.breaks
        and piece.count("\t") == found.tabs
    )


def _mould_of(parts: list[str]) -> Mould | None:
    """The mould for an element split at its quotes, where it has one."""
    shape = '"'.join(parts[::2])
    try:
        return _moulds[shape]
    except KeyError:
        pass
    if len(parts) % 2 == 0 or len(shape) > _LONGEST:
        return None
    for remembered in (_moulds, _once):
        if len(remembered) >= MOST:
            remembered.clear()
    if shape not in _once:  # making a mould takes longer than reading an element
        _once[shape] = None
        return None
    _once.pop(shape, None)
    try:
        _moulds[shape] = mould(parts[::2])
    except NoMouldError:
        _moulds[shape] = None
    return _moulds.get(shape)
