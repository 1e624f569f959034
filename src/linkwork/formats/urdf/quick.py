"""The quick way through a file in which nothing is wrong.

A call from expat for each begin, end and text is what reading by events costs most. Here the text
is split at its quotes, and the records are made from the pieces and values in one loop, by the
moves of `moves`, which know only well-formed XML. Where more is needed to see that all is well
formed (characters outside ASCII, prefixes) expat goes through the file too, without any call.

Whatever cannot be taken as a matter of course (a wrong or odd value, something missing, doubled or
misplaced, single quotes, entities) is left to the reader of events, which goes through the file
from its beginning and knows what to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from xml.parsers import expat

from linkwork.formats.urdf.convert import LONGEST, BadText
from linkwork.formats.urdf.moves import (
    CLOSE,
    COMMENT,
    END,
    MARK,
    OPEN,
    SKIP,
    STRANGE,
    TEXT,
    Closing,
    Move,
    NotPlainError,
    Opening,
    Spot,
    Tag,
    start,
)
from linkwork.formats.urdf.plans import DOCUMENT, TAGS, Memo, Plan, draft
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.unknown import Unknown

LARGEST = 1 << 20
"""Longer files are read by events, so that little of them is held at once."""

_ORDINARY = bytes([*b"\t\n", *range(0x20, 0x7F)])
_DECLARATION = re.compile(
    r"<\?xml version=([\"'])1\.0\1( encoding=([\"'])(utf|UTF)-8\3)?"
    r"( standalone=([\"'])(yes|no)\6)? ?\?>"
)
_COMMENT, _ELEMENT, _ATTRIBUTE = draft(Comment), draft(ExtraElement), draft(ExtraAttribute)
_RESERVED = "http://www.w3.org/"  # what begins with this may mean something to XML itself


def _refused(*_: object) -> None:
    raise NotPlainError


def _check(data: bytes) -> None:
    """Make sure that all is well formed, and that a quote is a quote and a tag a tag.

    Raises: NotPlainError; ExpatError.
    """
    parser = expat.ParserCreate("utf-8", "\n")
    parser.StartDoctypeDeclHandler = parser.StartCdataSectionHandler = _refused
    parser.ProcessingInstructionHandler = _refused
    parser.Parse(data, True)


class _Source:
    """A file's pieces, values and comments.

    Raises: NotPlainError; ExpatError.
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.checked, self.line_end = data, False, "\n"
        if b"\r" in data:
            if not data.count(b"\r") == data.count(b"\r\n") == data.count(b"\n"):
                raise NotPlainError
            data, self.line_end = data.replace(b"\r\n", b"\n"), "\r\n"
        if len(data) > LARGEST or b"&" in data or b"]]>" in data or MARK.encode() in data:
            raise NotPlainError
        if not data.isascii():
            self.check()
        self.line = 1
        self.comments: list[str] = []
        text = self._without_comments(self._without_declaration(data.decode()))
        self.parts = text.split('"')
        values = "".join(self.parts[1::2])
        if "\n" in values or "\t" in values:
            raise NotPlainError  # XML makes spaces of them
        if "<" in values or len(self.parts) % 2 == 0:
            raise NotPlainError
        if "".join([values, *self.comments]).encode().translate(None, _ORDINARY):
            self.check()
        self.parts.append("")  # if the last piece is no end, it does not lead to a value either

    def check(self) -> None:
        """Let expat see whether it is well formed; nothing is left to doubt then."""
        if not self.checked:
            self.checked = True
            _check(self.data)

    def _without_declaration(self, text: str) -> str:
        text = text.removeprefix("\ufeff")
        if not text.startswith("<?"):
            return text
        if not _DECLARATION.match(text):
            self.check()
        declaration, _, text = text.partition("?>")
        self.line += declaration.count("\n")
        return text

    def _without_comments(self, text: str) -> str:
        """The text with a mark for each comment."""
        head, *others = text.split("<!--")
        kept = [head]
        for other in others:
            comment, end, rest = other.partition("-->")
            if not end or "--" in comment or comment.endswith("-"):
                raise NotPlainError
            self.comments.append(comment)
            kept += (MARK, rest)
        return "".join(kept)

    def cut(self, begin: tuple[int, int], end: tuple[int, int], comments: int) -> str:
        """The text from one place to another, each a part and a place in it.

        ``comments`` is how many comments come before.
        """
        (first, from_), (last, to) = begin, end
        if first == last:
            text = self.parts[first][from_:to]
        else:
            between = self.parts[first + 1 : last]
            text = '"'.join([self.parts[first][from_:], *between, self.parts[last][:to]])
        if MARK in text:
            text, *others = text.split(MARK)
            marked = zip(self.comments[comments:], others, strict=False)
            text += "".join([f"<!--{comment}-->{rest}" for comment, rest in marked])
        return text.replace("\n", self.line_end)


class _Skipped(NamedTuple):
    """An element that URDF does not have, while it lasts."""

    tag: str
    within: Plan
    place: int
    line: int
    begin: tuple[int, int]
    comments: int  # before it


class _Walk:
    """One pass through a file."""

    def __init__(self, source: _Source, memos: list[Memo]) -> None:
        self.source, self.memos = source, memos
        # of the records around the present one: the spot to go on from, and the values
        self.around: list[tuple[Spot, list[Any]]] = []
        self.counts = [0, 0]  # what the document and the root have had so far
        self.comments = 0  # that have come
        self.prefixes: set[str] = set()  # that the root declares
        self.skipped = _Skipped("", DOCUMENT, 0, 0, (0, 0), 0)
        self.labels: list[str] = []  # unknown attributes of the present element
        self.notes: list[Callable[[Unknown], None]] = []

    def document(self) -> list[Any]:
        """The list of the document.

        Raises: NotPlainError; BadText.
        """
        around, memos, line, parts = self.around, self.memos, self.source.line, self.source.parts
        spot, values = start(), DOCUMENT.template.copy()
        for part, piece in enumerate(parts[::2]):
            kind, after, lines, rest, a, b = spot[piece]
            line += lines
            while kind:
                if kind == OPEN:
                    around.append((b, values))
                    spot, values = after, a.template.copy()
                    values[a.line] = line
                    if a.position:
                        self._begin(a, values)
                elif kind == CLOSE:
                    made = _made(a, b, values)
                    spot, values = around.pop()
                    if a.repeated:
                        values[a.index] += (made,)
                    else:
                        values[a.index] = made
                elif kind == STRANGE:
                    self._attribute(after, values, line, (a, parts[2 * part + 1]))
                    break
                elif kind == END:
                    if 2 * part + 2 < len(parts):
                        raise NotPlainError  # a quote outside the root
                    return values
                else:
                    place = 2 * part, len(piece) - len(rest)
                    spot, values, line = self._other(
                        Move(kind, after, line, rest, a, b), values, place
                    )
                kind, after, lines, rest, a, b = spot[rest]
                line += lines
            else:
                values[a] = memos[b][parts[2 * part + 1]]
            spot = after
        raise NotPlainError

    def _begin(self, opening: Opening, values: list[Any]) -> None:
        """The root begins, or something that stands in it."""
        values[opening.position] = self._count(len(self.around) - 1)
        for k in opening.lists:
            values[k] = []

    def _count(self, depth: int) -> int:
        """Number what stands in the document, or in the root, whose depth is 1."""
        self.counts[depth] += 1
        return self.counts[depth] - 1

    def _other(
        self, move: Move, values: list[Any], place: tuple[int, int]
    ) -> tuple[Spot, list[Any], int]:
        """A comment, an element that holds text, one that URDF does not have: where to go on.

        ``move.lines`` is the line; the move ends at ``place``, a part and a place in it.
        """
        kind, spot, line, _, a, b = move
        if kind == COMMENT:
            text = self.source.comments[self.comments]
            self.comments += 1
            if a is not None:
                depth = len(self.around)
                position = self._count(depth) if depth <= 1 else b
                values[a.comments] += (_record(_COMMENT, Comment, a.tag, text, position, line, ""),)
            line += text.count("\n")
        elif kind == TEXT:
            if a.repeated:
                values[a.index] += (b,)
            elif values[a.index] is None:
                values[a.index] = b
            else:
                raise NotPlainError  # an attribute has filled the same field
        elif kind == SKIP:
            part, at = place
            begin = part, at - len(a[0]) - 1
            tag, plan, number = a
            self.skipped = _Skipped(tag, plan, number, line, begin, self.comments)
            self.around.append((b, values))
            values = [None]
        else:
            spot, values = self.around.pop()
            self._keep(values, place)
            if not a <= self.prefixes:
                self.source.check()
        return spot, values, line

    def _keep(self, values: list[Any], end: tuple[int, int]) -> None:
        """An element that URDF does not have ends here."""
        tag, plan, place, line, begin, comments = self.skipped
        depth = len(self.around)
        position = self._count(1) if depth == 1 else place
        xml = self.source.cut(begin, end, comments)
        extra = _record(_ELEMENT, ExtraElement, plan.tag, tag, xml, position, line)
        values[plan.extra] += (extra,)
        known, named = tuple(plan.children), self._named(values)

        def note(unknown: Unknown) -> None:
            name = str(named[0] or "")
            unknown.element(plan.tag, known, tag, tags=TAGS, line=line, name=name)

        self.notes.append(note)

    def _named(self, values: list[Any]) -> list[Any]:
        """The values of the link, joint, material or transmission, or the root, we are in."""
        return values if len(self.around) <= 2 else self.around[2][1]

    def _attribute(self, spot: Spot, values: list[Any], line: int, given: tuple[str, str]) -> None:
        """An attribute that URDF does not have."""
        (name, text), plan, tag = given, spot.plan, spot.tag or Tag()
        if len(text) > LONGEST:
            raise NotPlainError
        line -= tag.lines
        known = plan.tag, name, text, spot.position, line
        values[plan.extra] += (_record(_ATTRIBUTE, ExtraAttribute, *known),)
        if ":" in name:
            if not text or text.startswith(_RESERVED):
                self.source.check()
            self.prefixes.add(name.partition(":")[2])
            return
        if tag.odd > 1:
            self.labels.append(name)
            return
        labels, named = [name], self._named(values)
        self.labels = labels

        def note(unknown: Unknown) -> None:
            name = str(named[0] or "")
            unknown.attributes(plan.tag, plan.places, labels, line=line, name=name)

        self.notes.append(note)


def _made(closing: Closing, layout: tuple[str, ...], values: list[Any]) -> Any:
    """The record of these values."""
    if closing.layout:
        values[closing.layout] = layout
    if closing.packed:
        xx, xy, xz, yy, yz, zz = closing.upper(values)
        if xx is not None:
            values[closing.packed] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        del values[closing.n_fields :]
    for k in closing.lists:
        values[k] = tuple(values[k])
    return _record(closing.draft, closing.record, *values)


def _record(draft: Any, record: type, *values: Any) -> Any:
    """A record, by way of one that can be written to, which takes a quarter of the time."""
    made = draft(*values)
    made.__class__ = record
    return made


def read(data: bytes, memos: list[Memo], unknown: Unknown) -> Robot | None:
    """The robot, with remarks on what URDF does not define; for an odd file None and nothing."""
    try:
        walk = _Walk(_Source(data), memos)
        values = walk.document()
    except (NotPlainError, BadText, expat.ExpatError):
        return None
    for note in walk.notes:
        note(unknown)
    return with_comments(values)


def with_comments(values: list[Any]) -> Robot | None:
    """The robot in the list of the document, with the comments around it."""
    robot: Robot | None = values[0]
    around: Sequence[Comment] = values[DOCUMENT.comments]
    if robot is None or not around:
        return robot
    own = robot.position or 0
    before = [comment for comment in around if (comment.position or 0) < own]
    after = around[len(before) :]
    return replace(robot, comments=(*before, *robot.comments, *after))
