"""Robots at random for hypothesis, by the table of the format: every element, extras, comments.

`robots()` gives records that reading accepts, in the order that reading gives: `position` and
`layout` are those of the shuffled places in which everything stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from linkwork.formats.urdf.convert import SPACE, number_text
from linkwork.formats.urdf.records import (
    Comment,
    ExtraAttribute,
    ExtraElement,
    Joint,
    Link,
    Mimic,
    Robot,
)
from linkwork.formats.urdf.schema import (
    ELEMENTS,
    JOINT_TYPES,
    ROBOT,
    Attribute,
    Child,
    Element,
    Kind,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]

CHARACTERS = st.one_of(
    st.sampled_from("abz_-/:. <>&\"'\t\n\r;=é名🤖\u00a0\u0085\u2028"),
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"),
)
LABELS = st.text(CHARACTERS, max_size=6)
NAMES = LABELS.filter(lambda text: bool(text.strip()))
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, -1 / 3, 5e-324, 1e22, 1.7e308, 2.0**53]),
    st.floats(allow_nan=False, allow_infinity=False),
)
LENGTHS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, -1 / 3, 1e100, 1e-300]), st.floats(-1e100, 1e100)
)
DIRECTIONS = st.tuples(st.floats(-9, 9), st.floats(-9, 9), st.sampled_from([1.0, -1.0, 0.3]))
POSITIVE = st.floats(1e-9, 1e9)

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.NAME: NAMES,
    Kind.LABEL: LABELS,
    Kind.CONTENT: LABELS.map(lambda text: text.strip(SPACE)),
    Kind.JOINT_TYPE: st.sampled_from(JOINT_TYPES),
    Kind.NUMBER: NUMBERS,
    Kind.FACTOR: st.floats(-1e3, 1e3),
    Kind.POSITIVE: st.one_of(POSITIVE, NUMBERS),
    Kind.NOT_NEGATIVE: NUMBERS,
    Kind.LENGTHS: st.tuples(LENGTHS, LENGTHS, LENGTHS),
    Kind.ANGLES: st.tuples(LENGTHS, LENGTHS, LENGTHS),
    Kind.DIRECTION: DIRECTIONS,
    Kind.SIZES: st.tuples(POSITIVE, LENGTHS, POSITIVE),
    Kind.SCALES: st.tuples(LENGTHS, LENGTHS, POSITIVE),
    Kind.RGBA: st.tuples(*[st.floats(0, 1)] * 3, NUMBERS),
}
"""Values that reading takes, some of them with a finding."""

COMMENTS = st.one_of(
    LABELS.map(lambda text: ("", text.replace("\r", "").replace("-", "~"))),
    LABELS.map(lambda text: ("xml-model", text.replace("\r", "").replace("?", "").lstrip(SPACE))),
)
UNKNOWN = st.sampled_from(
    [
        ("gazebo", "<gazebo/>"),
        ("gazebo", '<gazebo reference="a">\n\n  <x>1 &lt; 2</x><!-- in -->\r\n</gazebo>'),
        ("sensor", "<sensor  name='s>/' ><ray\n/></sensor >"),
        ("p:cam", '<p:cam p:x="&#10;é">\t<p:y/><?z?></p:cam>'),
        ("q:own", '<q:own xmlns:q="urn:q" q:a=""/>'),
        ("odd", "<odd><![CDATA[ <link name='a'/> ]]></odd>"),
    ]
)
NEW_NAMES = st.sampled_from(["colour", "note", "xml:lang", "p:a", "é"])


class Made:
    """A record in the making: what stands in it, in the order in which it is written."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.fields: dict[str, Any] = {}
        self.extra: list[Any] = []
        self.comments: list[Comment] = []
        self.layout: list[str] = []
        self.laid = False  # whether an element is no record itself

    def few(self, most: int = 1) -> int:
        """How many there are of something: none, mostly."""
        return self.draw(st.sampled_from([0] * 5 + list(range(1, most + 1))))

    def attributes(self, element: Element) -> None:
        """The attributes of the format."""
        values = [self.value(attribute) for attribute in element.attributes]
        if element.packed:
            xx, xy, xz, yy, yz, zz = values
            whole = None not in values
            matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
            self.fields[element.packed] = matrix if whole else None
            named = zip(element.attributes, values, strict=True)
            left = [(a.name, value) for a, value in named if value is not None and not whole]
            place = len(self.layout) - 1
            self.extra += [
                ExtraAttribute(element.tag, name, number_text(value), place) for name, value in left
            ]
            return
        for attribute, value in zip(element.attributes, values, strict=True):
            self.fields[attribute.target] = value

    def value(self, attribute: Attribute) -> Any:
        there = 20 if attribute.kind is Kind.FACTOR else 1  # six make an inertia
        absent = attribute.required != "error" and self.draw(
            st.sampled_from([False] * there + [True])
        )
        return attribute.default if absent else self.draw(VALUES[attribute.kind])

    def new_attributes(self, tag: str, position: int | None) -> None:
        """Attributes that URDF does not define."""
        for name in self.draw(st.lists(NEW_NAMES, max_size=self.few(2), unique=True)):
            self.extra.append(ExtraAttribute(tag, name, self.draw(LABELS), position))

    def inside(self, element: Element) -> None:
        """What stands in an element: its own children, comments and unknown elements, shuffled."""
        jobs: list[Callable[[], None]] = []
        for child in element.children:
            one = self.draw(st.sampled_from(child.elements))
            if child.field:
                self.fields.setdefault(child.field, () if child.repeated else None)
            self.laid = self.laid or not child.records
            jobs += [self.job(child, one)] * self.number(child)
        jobs += [lambda: self.comment(element.tag)] * self.few(2)
        jobs += [lambda: self.unknown(element.tag)] * self.few(2)
        for job in self.draw(st.permutations(jobs)):
            job()

    def number(self, child: Child) -> int:
        if child.required == "error" or not child.field:
            return 1
        return self.draw(st.integers(0, 2 if child.repeated else 1))

    def job(self, child: Child, element: Element) -> Callable[[], None]:
        if child.text:
            return lambda: self.text(child)
        if child.records:
            return lambda: self.record(child, element)
        return lambda: self.inline(element)

    def record(self, child: Child, element: Element) -> None:
        made = records(self.draw, element, len(self.layout))
        self.layout.append(element.tag)
        name = child.field
        self.fields[name] = (*self.fields[name], made) if child.repeated else made

    def text(self, child: Child) -> None:
        name, tag = child.field, child.tags[0]
        if not child.repeated and self.fields[name] is not None:
            return  # the attribute of the same name counts, and stays one
        self.new_attributes(tag, len(self.layout))
        self.layout.append(tag)
        text = self.draw(LABELS).strip(SPACE)
        self.fields[name] = (*self.fields[name], text) if child.repeated else text
        if self.few():
            self.comment(tag)
            self.unknown(tag)

    def inline(self, element: Element) -> None:
        self.new_attributes(element.tag, len(self.layout))
        self.layout.append(element.tag)
        self.attributes(element)
        self.inside(element)

    def comment(self, tag: str) -> None:
        target, text = self.draw(COMMENTS)
        self.comments.append(Comment(tag, text, len(self.layout), target=target))
        self.layout.append("")

    def unknown(self, tag: str) -> None:
        self.extra.append(ExtraElement(tag, *self.draw(UNKNOWN), len(self.layout)))
        self.layout.append("")


def records(draw: Draw, element: Element, position: int | None = None) -> Any:
    """A record of an element with everything in it; names of other records mean nothing yet."""
    made = Made(draw)
    made.new_attributes(element.tag, None)
    if element is ROBOT:
        made.extra.append(ExtraAttribute("robot", "xmlns:p", "urn:p&"))
    made.attributes(element)
    made.inside(element)
    layout = {"layout": tuple(made.layout)} if made.laid else {}
    return element.record(  # type: ignore[misc]
        **made.fields,
        **layout,
        extra=tuple(made.extra),
        comments=tuple(made.comments),
        position=position,
    )


@st.composite
def robots(draw: Draw) -> Robot:
    """A robot that reading accepts, with every kind of element, extras and comments."""
    robot: Robot = records(draw, ROBOT, 0)
    if not robot.links or draw(st.integers(0, 3)):
        return _joined(draw, robot)
    return _joined(draw, replace(robot, joints=()))


def _joined(draw: Draw, robot: Robot) -> Robot:
    """Links and joints with names of their own that make one tree."""
    n = max(len(robot.links), len(robot.joints) + 1) if robot.joints else 1
    links = list(robot.links[:n])
    while len(links) < n:
        links.append(replace(records(draw, ELEMENTS[Link]), position=None))
    joints = list(robot.joints)
    while len(joints) < n - 1:
        joints.append(replace(records(draw, ELEMENTS[Joint]), position=None))
    names = draw(st.lists(NAMES, min_size=2 * n, max_size=2 * n, unique=True))
    links = [replace(link, name=names[k]) for k, link in enumerate(links)]
    order = draw(st.permutations(range(1, n)))
    for k, child in enumerate(order):
        parent = draw(st.sampled_from([0, *order[:k]]))
        ends = {"parent": names[parent], "child": names[child]}
        joints[k] = replace(joints[k], name=names[n + k], mimic=None, **ends)
    _couple(draw, joints)
    return replace(robot, links=tuple(links), joints=tuple(joints))


def _couple(draw: Draw, joints: list[Any]) -> None:
    """Followers whose leaders stand before them and move along one axis."""
    several = ("fixed", "floating", "planar", "spherical")
    single = [k for k, joint in enumerate(joints) if joint.type not in several]
    for before, k in pairwise(single):
        if draw(st.booleans()):
            mimic = records(draw, ELEMENTS[Mimic])
            mimic = replace(mimic, joint=joints[before].name)
            assert isinstance(mimic, Mimic)
            joints[k] = replace(joints[k], mimic=mimic)
