"""The table of the format, laid out for reading: where in a list each value of a record goes.

A record is read into a list: its fields in order, then hidden places (what has been seen, the
numbers that are packed into a matrix). A plan says for one element, in its place in the format,
which attribute and child goes where, so that reading is a few look-ups for each element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from operator import itemgetter
from typing import Any

from linkwork.formats.urdf.convert import JUDGE, RANGE, READ, SHORT, BadText, Complaint
from linkwork.formats.urdf.records import Robot
from linkwork.formats.urdf.schema import ROBOT, Attribute, Child, Element, Kind, Need


@dataclass(slots=True)
class Place:
    """Where the text of an attribute goes."""

    index: int
    attribute: Attribute
    filler: Any  # stands for a value that is missing or wrong, so that checking can go on
    read: Callable[[str], Any]
    judge: Callable[[Any], Complaint | None] | None
    memo: int  # texts of one kind share a memory of their values


_KINDS = list(Kind)
_MOST = 200_000  # texts of one kind that are remembered


class Memo(dict[str, Any]):
    """The values of texts of one kind that have come before; others are read when asked for.

    Raises: BadText for a text without a value or with an odd one, which is not remembered.
    """

    __slots__ = ("judge", "read")

    def __init__(self, kind: Kind) -> None:
        self.read, self.judge = READ[kind], JUDGE.get(kind)

    def __missing__(self, text: str) -> Any:
        value = self.read(text)
        if self.judge is not None and (complaint := self.judge(value)) is not None:
            raise BadText(*complaint)
        if len(self) >= _MOST:
            self.clear()
        self[text] = value
        return value


class _Numbers(Memo):
    """The same for one number, read here where there is nothing to say about it."""

    __slots__ = ("high", "low")

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        _, self.low, self.high = RANGE[kind]

    def __missing__(self, text: str) -> Any:
        # Python's `float` takes no such text for a finite number that `READ` would refuse.
        if len(text) < SHORT and "_" not in text and text.isascii():
            try:
                value = float(text)
            except ValueError:
                pass  # the long way says why
            else:
                if self.low <= value <= self.high:  # false for nan
                    if len(self) >= _MOST:
                        self.clear()
                    self[text] = value
                    return value
        return super().__missing__(text)


class _Vectors(_Numbers):
    """Likewise for three numbers."""

    __slots__ = ()

    def __missing__(self, text: str) -> Any:
        if len(text) < SHORT and "_" not in text and text.isascii():
            try:
                x, y, z = map(float, text.split())
            except ValueError:
                pass
            else:
                low, high = self.low, self.high
                if low <= x <= high and low <= y <= high and low <= z <= high:
                    if len(self) >= _MOST:
                        self.clear()
                    value = self[text] = x, y, z
                    return value
        return Memo.__missing__(self, text)


def new_memos() -> list[Memo]:
    """A memory for each kind, in the order of `Place.memo`."""
    return [maker(kind) for kind, maker in _MEMOS]


_BY_COUNT = {0: Memo, 1: _Numbers, 3: _Vectors}
_MEMOS = [(kind, _BY_COUNT[RANGE.get(kind, (0,))[0]]) for kind in _KINDS]


def _place(attribute: Attribute, index: int) -> Place:
    kind = attribute.kind
    return Place(
        index, attribute, filler(attribute), READ[kind], JUDGE.get(kind), _KINDS.index(kind)
    )


# Where these are used an error is already noted, so they never reach anybody.
_FILLERS: dict[Kind, Any] = {
    Kind.NAME: "",
    Kind.JOINT_TYPE: "fixed",
    Kind.NUMBER: 0.0,
    Kind.FACTOR: 1.0,
    Kind.POSITIVE: 1.0,
    Kind.SIZES: (1.0, 1.0, 1.0),
}


def filler(attribute: Attribute) -> Any:
    """What stands for a value that is missing or wrong, so that checking can go on."""
    needed = attribute.required == "error"
    return _FILLERS[attribute.kind] if needed else attribute.default


@dataclass(slots=True)
class Plan:
    """How one element is read.

    ``template`` starts the list of a record; an element without a record works on its owner's.
    ``draft`` is a class like the record's that can be written to; its objects become records when
    they are given that class, a quarter of the time of making a frozen one.
    """

    tag: str
    record: Any
    text: bool
    draft: Any = None
    template: list[Any] = field(default_factory=list)
    n_fields: int = 0
    line: int = 0
    extra: int = 0
    comments: int = 0
    position: int = 0
    layout: int = 0  # 0 where every element is a record, which knows its place itself
    count: int = 0
    places: dict[str, Place] = field(default_factory=dict)
    ways: dict[str, tuple[int, int]] = field(default_factory=dict)  # index and memo of each place
    needed: frozenset[str] = frozenset()
    children: dict[str, Branch] = field(default_factory=dict)
    needed_children: tuple[tuple[int, str, Need], ...] = ()
    lists: tuple[int, ...] = ()
    packed: int = 0  # the field of a symmetric matrix
    upper: Callable[[Any], Any] = tuple  # its upper triangle, from the list
    allowed: str = ""  # the elements that may stand here, for messages


@dataclass(slots=True)
class Branch:
    """A child in its place: its plan, and what its owner does with it."""

    plan: Plan
    index: int  # the field of the owner; -1 where the child fills fields by itself
    repeated: bool
    seen: int  # hidden place that is True once the child has come
    doubled: Need


class _Owner:
    """The list of a record while it is laid out."""

    def __init__(self, names: list[str]) -> None:
        self.index = {name: k for k, name in enumerate(names)}
        self.template: list[Any] = [None] * len(names)

    def hidden(self, start: Any) -> int:
        self.template.append(start)
        return len(self.template) - 1

    def place(self, name: str) -> int:
        if name not in self.index:
            self.index[name] = self.hidden(None)
        return self.index[name]


def _record_plan(element: Element, record: type) -> Plan:
    """The plan of an element that becomes a record."""
    names = [f.name for f in fields(record)]
    owner = _Owner(names)
    plan = Plan(element.tag, record, text=False, draft=draft(record), n_fields=len(names))
    plan.line, plan.position = owner.index["line"], owner.index["position"]
    plan.extra, plan.comments = owner.index["extra"], owner.index["comments"]
    plan.layout = owner.index.get("layout", 0)
    plan.count = owner.hidden(0)
    _lay_out(plan, element, owner)
    several = [plan.extra, plan.comments, *plan.lists, *([plan.layout] if plan.layout else [])]
    plan.lists = tuple(several)
    for index in plan.lists:
        owner.template[index] = ()
    plan.template = owner.template
    return plan


@cache
def draft(record: type) -> Any:
    """A class like a frozen record's that can be written to, see `Plan`."""
    names = [f.name for f in fields(record)]
    return make_dataclass(record.__name__, names, slots=True, eq=False, repr=False)


def _inline_plan(element: Element, owner: _Owner, of: Plan, *, needed: bool) -> Plan:
    """The plan of an element that fills fields of the record around it, which may need it."""
    plan = Plan(element.tag, None, element.text, line=of.line, extra=of.extra, count=of.count)
    plan.comments, plan.layout = of.comments, of.layout
    _lay_out(plan, element, owner, needed=needed)
    return plan


def _lay_out(plan: Plan, element: Element, owner: _Owner, *, needed: bool = True) -> None:
    places = [_place(a, owner.place(a.target)) for a in element.attributes]
    plan.places = {place.attribute.name: place for place in places}
    plan.ways = {name: (place.index, place.memo) for name, place in plan.places.items()}
    plan.needed = frozenset(a.name for a in element.attributes if a.required)
    for place in places:
        owner.template[place.index] = place.filler if needed else place.attribute.default
    if element.packed:
        plan.packed = owner.place(element.packed)
        plan.upper = itemgetter(*[place.index for place in places])
    seen_of: dict[str, int] = {}
    asked: dict[int, tuple[list[str], Need]] = {}
    for child in element.children:
        branch = _branch(child, plan, owner, seen_of)
        plan.children[child.element.tag] = branch
        if child.required:
            asked.setdefault(branch.seen, ([], child.required))[0].append(f"<{child.element.tag}>")
    plan.needed_children = tuple((k, " or ".join(tags), need) for k, (tags, need) in asked.items())
    plan.lists = tuple(b.index for b in plan.children.values() if b.repeated)
    plan.allowed = ", ".join(f"<{tag}>" for tag in plan.children) or "no elements"


def _branch(child: Child, plan: Plan, owner: _Owner, seen_of: dict[str, int]) -> Branch:
    element = child.element
    record = element.record
    if record:
        below = _record_plan(element, record)
    else:
        below = _inline_plan(element, owner, plan, needed=child.required == "error")
    key = child.field or element.tag
    if key not in seen_of:
        seen_of[key] = owner.hidden(False)
    index = owner.place(child.field) if child.field else -1
    return Branch(below, index, child.repeated, seen_of[key], child.doubled)


def _document_plan() -> Plan:
    """What stands around the root element."""
    plan = Plan("", None, False, template=[None, False, (), (), 0], extra=2, comments=3, count=4)
    plan.children["robot"] = Branch(_record_plan(ROBOT, Robot), 0, False, 1, "error")
    plan.allowed = "<robot>"
    return plan


DOCUMENT = _document_plan()
"""The plan that reading starts with."""


def _tags(plan: Plan) -> set[str]:
    return set(plan.children).union(*(_tags(branch.plan) for branch in plan.children.values()))


TAGS = frozenset(_tags(DOCUMENT))
"""Every element that URDF has."""
