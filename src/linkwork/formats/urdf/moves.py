"""What may come next in a file, and what it means: worked out once, then looked up.

Split at its quotes, a file gives pieces and values in turn: ``/><origin xyz=`` is a piece. A spot
is all that counts of what came before in the record that is open: the tags in it so far, and the
attributes of the present tag. For a piece a spot has a move, which leads to the next value or,
where a record begins or ends, to that. What a move does is fixed: the field of a value, the
position of a record, its layout; whether anything is doubled or missing has been asked before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from linkwork.formats.urdf.convert import LONGEST, SPACE
from linkwork.formats.urdf.plans import DOCUMENT, Branch, Plan
from linkwork.formats.urdf.schema import Kind
from linkwork.formats.urdf.unknown import MISPLACED

MARK = "\0"
"""What stands for a comment in a piece; no XML has it."""

MOST = 10_000
"""How many moves are remembered, of all files that a process reads."""

_FARTHEST = 100  # things in one record that are followed, those of the root aside
_DEEPEST = 100  # elements inside each other in one that URDF does not have
_ODDEST = 20  # unknown attributes of one element, and any of one inside an unknown one
_REMEMBERED = 1000  # characters of a piece; the moves of longer ones are not

VALUE, OPEN, CLOSE, COMMENT, TEXT, STRANGE, SKIP, KEEP, END = range(9)
"""Kinds of moves: to a value, the begin and end of a record, a comment, an element with a text, an
unknown attribute, the begin and end of an unknown element, the end of the file."""


class Move(NamedTuple):
    """One move: a tuple, since it is taken apart for every value."""

    kind: int
    spot: Spot  # where it leads; in the record that begins, for OPEN
    lines: int  # line breaks on the way
    rest: str  # of the piece
    a: Any  # VALUE: the field, OPEN: the `Opening`, CLOSE: the `Closing`, TEXT: the field
    b: Any  # VALUE: the memo, CLOSE: the layout, OPEN: the spot of the owner, TEXT: the text


class Tag(NamedTuple):
    """A tag that is not over: its attributes so far, line breaks in it, unknown attributes."""

    names: frozenset[str] = frozenset()
    lines: int = 0
    odd: int = 0


@dataclass(slots=True)
class Opening:
    """How the list of a record begins."""

    template: list[Any]
    line: int
    position: int  # the field that the root fills by counting; 0 elsewhere
    lists: tuple[int, ...]  # fields that are lists until the end, for the root


@dataclass(slots=True)
class Closing:
    """How the list of a record becomes the record, and where that goes."""

    index: int  # of the owner's field
    repeated: bool
    layout: int  # 0 where there is none
    packed: int  # likewise, the field of a symmetric matrix
    upper: Callable[[Any], Any]
    n_fields: int
    lists: tuple[int, ...]
    draft: Any
    record: Any


class NotPlainError(Exception):
    """Something that only the reader of events knows how to take."""


_CONTROL = r"\x00-\x08\x0b-\x1f\x7f"
_NAME = r"([A-Za-z_][A-Za-z0-9_.:\-]*)"
_ATTRIBUTE = re.compile(rf"[ \t\n]+{_NAME}[ \t\n]*=[ \t\n]*")
_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_NAME_SPACE = re.compile(rf"xmlns:(?!xml){_LOCAL.pattern}")
_TAG_END = re.compile(r"[ \t\n]*(/?)>")
_NEXT = re.compile(
    rf"[ \t\n]*(?:</{_NAME}[ \t\n]*>|<{_NAME}(?:[ \t\n]*(/?>)|[ \t\n]+{_NAME}[ \t\n]*=[ \t\n]*$)"
    rf"|({MARK})|([\x21-\x3b\x3d-\x7e\x80-\U0010ffff][^<{_CONTROL}]*)|($))"
)
_TEXT = re.compile(rf"([^<{_CONTROL}]*)</{_NAME}[ \t\n]*>")
_LABEL = list(Kind).index(Kind.LABEL)


@dataclass(eq=False)
class _Course:
    """The spots in records of one kind at one place in the format."""

    plan: Plan
    closing: Closing | None
    spots: dict[tuple[Any, ...], Spot] = field(default_factory=dict[Any, Any])

    @property
    def counts(self) -> bool:
        """Whether it is the document or the root, which hold any number of elements."""
        return self.plan is DOCUMENT or self.plan is _ROBOT

    def spot(
        self,
        plan: Plan,
        past: tuple[str, ...] = (),
        seen: frozenset[int] = frozenset(),
        tag: Tag | None = Tag(),  # noqa: B008 -- it never changes
    ) -> Spot:
        """The one spot of this kind; by default that in the tag of the record."""
        key = id(plan), past, seen, tag
        if key not in self.spots:
            self.spots[key] = Spot(self, plan, past, seen, tag)
        return self.spots[key]


class Spot(dict[str, Move]):
    """Where a file is, with the moves from here.

    ``plan`` is that of the innermost known element: the record's own or that of an element in it.
    ``past`` has the tags of everything in the record so far, "" for what is no known element;
    ``seen`` has the hidden places of what has come. ``tag`` is None between tags.
    """

    __slots__ = ("course", "past", "plan", "seen", "tag")

    def __init__(
        self,
        course: _Course,
        plan: Plan,
        past: tuple[str, ...],
        seen: frozenset[int],
        tag: Tag | None,
    ) -> None:
        self.course, self.plan, self.past, self.seen, self.tag = course, plan, past, seen, tag

    def __missing__(self, piece: str) -> Move:
        """The move of a piece that has not come here before.

        Raises: NotPlainError where there is none.
        """
        move = _Way(self, piece).move()
        if len(piece) <= _REMEMBERED and _remember():
            self[piece] = move
        return move

    @property
    def position(self) -> int | None:
        """The place of the present element in its record; None for the record itself."""
        return None if self.plan is self.course.plan else len(self.past) - 1


class _Way:
    """From a spot along a piece to where the next move leads."""

    def __init__(self, spot: Spot, piece: str) -> None:
        self.piece, self.at, self.course = piece, 0, spot.course
        self.plan, self.past, self.seen, self.tag = spot.plan, spot.past, spot.seen, spot.tag

    def move(self) -> Move:
        """As `Spot.__missing__`."""
        if self.tag is not None:
            found = _ATTRIBUTE.fullmatch(self.piece)
            if found:
                return self._attribute(found[1], self.tag)
            found = _matched(_TAG_END, self.piece, 0)
            self.at = found.end()
            move = self._tag_ends(self.tag, closed=bool(found[1]))
            if move:
                return move
        while True:
            move = self._next()
            if move:
                return move

    def _next(self) -> Move | None:
        """One thing between tags; None where nothing is to be done about it."""
        if len(self.past) > _FARTHEST:
            raise NotPlainError
        found = _matched(_NEXT, self.piece, self.at)
        closing, tag, _, _, mark, _, nothing = found.groups()
        self.at = found.end()
        if tag:
            return self._element(tag, found)
        if closing:
            return self._element_ends(closing)
        if mark:
            return self._comment()
        if nothing is None or self.plan is not DOCUMENT or not self.seen:
            raise NotPlainError  # text that belongs to no element
        return self._to(END, None, None, None)

    def _to(self, kind: int, spot: Spot | None, a: Any, b: Any) -> Move:
        """A move up to here."""
        lines = self.piece.count("\n", 0, self.at)
        spot = self._spot() if spot is None else spot
        return Move(kind, spot, lines, self.piece[self.at :], a, b)

    def _spot(self) -> Spot:
        """Where we are."""
        return self.course.spot(self.plan, self.past, self.seen, self.tag)

    def _attribute(self, name: str, tag: Tag) -> Move:
        lines = tag.lines + self.piece.count("\n", self.at)
        self.at = len(self.piece)
        if name in tag.names:
            raise NotPlainError
        way = self.plan.ways.get(name)
        if way is not None:
            self.tag = Tag(tag.names | {name}, lines, tag.odd)
            return self._to(VALUE, None, *way)
        if name == "xmlns" or tag.odd >= _ODDEST or len(name) > LONGEST:
            raise NotPlainError
        if ":" in name:
            if self.plan is not _ROBOT or not _NAME_SPACE.fullmatch(name):
                raise NotPlainError
        elif any(":" in given for given in tag.names):
            raise NotPlainError  # name spaces come last
        self.tag = Tag(tag.names | {name}, lines, tag.odd + 1)
        return self._to(STRANGE, None, name, None)

    def _tag_ends(self, tag: Tag, *, closed: bool) -> Move | None:
        if not self.plan.needed <= tag.names:
            raise NotPlainError
        self.tag = None
        return self._element_ends(self.plan.tag) if closed else None

    def _element_ends(self, closing: str) -> Move | None:
        missing = [need for place, _, need in self.plan.needed_children if place not in self.seen]
        if missing or closing != self.plan.tag:
            raise NotPlainError
        if self.plan is self.course.plan:
            return self._to(CLOSE, None, self.course.closing, self.past)
        self.plan = self.course.plan
        return None

    def _count(self, tag: str, seen: int = -1) -> None:
        """One more thing in this record."""
        if not self.course.counts:
            self.past = (*self.past, tag)
        if self.plan is not _ROBOT and tag:
            self.seen = self.seen | {seen}

    def _comment(self) -> Move:
        place = len(self.past)
        self._count("")
        return self._to(COMMENT, None, self.plan, place)

    def _element(self, tag: str, found: re.Match[str]) -> Move | None:
        """An element begins."""
        branch, place = self.plan.children.get(tag), len(self.past)
        if branch is None:
            if tag in MISPLACED or ":" in tag or self.plan is DOCUMENT or len(tag) > LONGEST:
                raise NotPlainError
            self._count("")
            self.at = found.end(2)
            return self._to(SKIP, aside((tag,), frozenset()), (tag, self.plan, place), self._spot())
        if not branch.repeated and branch.seen in self.seen:
            raise NotPlainError
        self._count(tag, branch.seen)
        if branch.plan.text:
            return self._text(branch, tag, found)
        if branch.plan.template:
            self.at = found.end(2)
            opening = _opening(branch.plan, place, self.course)
            return self._to(OPEN, _course(branch).spot(branch.plan), opening, self._spot())
        if self.plan is not self.course.plan:
            raise NotPlainError  # URDF has no such thing
        self.plan = branch.plan
        if found[4]:
            self.at = found.end(2)
            return self._attribute(found[4], Tag())
        return self._tag_ends(Tag(), closed=found[3] == "/>")

    def _text(self, branch: Branch, tag: str, found: re.Match[str]) -> Move:
        text = ""
        if found[3] != "/>":
            held = _matched(_TEXT, self.piece, self.at)
            self.at, text = held.end(), held[1].strip(SPACE)
            if held[2] != tag:
                raise NotPlainError
        if found[4] or len(text) > LONGEST:
            raise NotPlainError
        return self._to(TEXT, None, branch, text)


class _Aside(Spot):
    """Inside an element that URDF does not have.

    ``tags`` are those of the elements that are open here, ``names`` the attributes of the present
    tag, None between tags. ``prefixes`` are those of the tags so far; with "" in it only expat can
    tell whether all is declared.
    """

    __slots__ = ("names", "prefixes", "tags")

    def __init__(
        self, tags: tuple[str, ...], names: frozenset[str] | None, prefixes: frozenset[str]
    ) -> None:
        super().__init__(_DOCUMENT, DOCUMENT, (), frozenset(), None)
        self.tags, self.names, self.prefixes = tags, names, prefixes

    def __missing__(self, piece: str) -> Move:
        """As of any spot: what is in the element may be anything."""
        move = self._move(piece)
        if len(piece) <= _REMEMBERED and _remember():
            self[piece] = move
        return move

    def _move(self, piece: str) -> Move:
        tags, at, prefixes = self.tags, 0, self.prefixes
        if self.names is not None:
            move = self._value(piece, at, tags, self.names, prefixes)
            if move:
                return move
            tags, at = _past_tag(piece, at, tags)
        while tags:
            found = _matched(_NEXT, piece, at)
            closing, tag, _, _, mark, words, _ = found.groups()
            at = found.end()
            if tag and len(tags) < _DEEPEST and len(tag) <= LONGEST:
                if ":" in tag:
                    prefixes |= {_prefix(tag)}
                tags = (*tags, tag)
                move = self._value(piece, found.end(2), tags, frozenset(), prefixes)
                if move:
                    return move
                tags, at = _past_tag(piece, found.end(2), tags)
            elif closing == tags[-1]:
                tags = tags[:-1]
            elif mark:
                spot, lines = aside(tags, None, prefixes), piece.count("\n", 0, at)
                return Move(COMMENT, spot, lines, piece[at:], None, 0)
            elif not words:
                raise NotPlainError  # a quote in a text, or the end of another element
        return Move(KEEP, self, piece.count("\n", 0, at), piece[at:], prefixes, None)

    def _value(
        self,
        piece: str,
        at: int,
        tags: tuple[str, ...],
        names: frozenset[str],
        prefixes: frozenset[str],
    ) -> Move | None:
        """To a value, where one comes next."""
        found = _ATTRIBUTE.fullmatch(piece, at)
        if found is None:
            return None
        name = found[1]
        if name in names or len(names) > _ODDEST or len(name) > LONGEST:
            raise NotPlainError
        if ":" in name or name == "xmlns":
            prefixes |= {""}
        spot = aside(tags, names | {name}, prefixes)
        return Move(VALUE, spot, piece.count("\n"), "", 0, _LABEL)


def _prefix(tag: str) -> str:
    """The prefix of a tag; nothing where that is not plain."""
    prefix, _, name = tag.partition(":")
    return prefix if _LOCAL.fullmatch(name) else ""


def _past_tag(piece: str, at: int, tags: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """The open elements after the end of a tag, and where that is."""
    found = _matched(_TAG_END, piece, at)
    return tags[:-1] if found[1] else tags, found.end()


def _matched(pattern: re.Pattern[str], piece: str, at: int) -> re.Match[str]:
    found = pattern.match(piece, at)
    if found is None:
        raise NotPlainError
    return found


def _opening(plan: Plan, place: int, course: _Course) -> Opening:
    template = plan.template.copy()
    template[plan.position] = place
    if not _packing(plan):
        del template[plan.n_fields :]
    counted = plan.position if course.counts else 0
    return Opening(template, plan.line, counted, plan.lists if plan is _ROBOT else ())


def _packing(plan: Plan) -> Plan | None:
    """The element in a record whose attributes become a matrix."""
    plans = [branch.plan for branch in plan.children.values() if branch.index < 0]
    return next((plan for plan in plans if plan.packed), None)


def _closing(branch: Branch) -> Closing:
    plan = branch.plan
    packing = _packing(plan)
    return Closing(
        branch.index,
        branch.repeated,
        plan.layout,
        packing.packed if packing else 0,
        packing.upper if packing else tuple,
        plan.n_fields,
        plan.lists if plan is _ROBOT else (),
        plan.draft,
        plan.record,
    )


def _course(branch: Branch) -> _Course:
    """What records that come by this branch have in common."""
    if id(branch) not in _courses:
        _courses[id(branch)] = _Course(branch.plan, _closing(branch))
    return _courses[id(branch)]


def aside(
    tags: tuple[str, ...],
    names: frozenset[str] | None,
    prefixes: frozenset[str] = frozenset(),
) -> Spot:
    """The spot inside these elements, of which URDF does not have the first."""
    key = tags, names, prefixes
    if key not in _asides:
        _asides[key] = _Aside(tags, names, prefixes)
    return _asides[key]


def start() -> Spot:
    """Where every file begins."""
    return _DOCUMENT.spot(DOCUMENT, tag=None)


def _remember() -> bool:
    """Count one more move, and forget all where that is too much."""
    if _known[0] >= MOST:
        forget()
    _known[0] += 1
    return True


def remembered() -> int:
    """How many moves are known."""
    return _known[0]


def forget() -> None:
    """Know no move any more, as a new process does."""
    for course in (_DOCUMENT, *_courses.values()):
        course.spots.clear()
    _asides.clear()
    _known[0] = 0


_ROBOT = DOCUMENT.children["robot"].plan
_DOCUMENT = _Course(DOCUMENT, None)
_courses: dict[int, _Course] = {}  # branches stay as long as the module
_asides: dict[tuple[tuple[str, ...], frozenset[str] | None, frozenset[str]], Spot] = {}
_known = [0]
