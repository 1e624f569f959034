"""Records gone through: attributes, children, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import BadText
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import (
    Box,
    Comment,
    ExtraAttribute,
    ExtraElement,
    Inertial,
    Link,
    Mesh,
    Robot,
    Transmission,
)
from linkwork.formats.urdf.schema import ROBOT, Element
from linkwork.formats.urdf.specs import (
    NONE,
    ROBOT_SPEC,
    ElementSpec,
    as_attribute,
    comment_text,
    content,
    extras_of,
    items,
    quoted,
    spec_of,
    values,
)
from linkwork.formats.urdf.write import to_text


def sheets(sheet: ElementSpec = ROBOT_SPEC) -> Iterator[ElementSpec]:
    yield sheet
    for part in sheet.children:
        for below in (*part.specs.values(), *([part.inline] if part.inline else [])):
            yield from sheets(below)


def elements(element: Element = ROBOT) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from elements(child.element)


def find(tag: str) -> ElementSpec:
    return next(sheet for sheet in sheets() if sheet.tag == tag)


def test_everything_of_the_table_is_there():
    wanted = sorted((e.tag, tuple(a.name for a in e.attributes)) for e in elements() if not e.text)
    found = sorted((s.tag, tuple(mark.name for mark in s.attributes)) for s in sheets())
    assert found == wanted
    tags = {tag for sheet in sheets() for part in sheet.children for tag in part.tags}
    assert tags == {e.tag for e in elements()} - {"robot"}
    for sheet in sheets():
        assert set(sheet.tags) == {tag for part in sheet.children for tag in part.tags}


def test_defaults_are_texts_that_read_back():
    for sheet in sheets():
        for mark in sheet.attributes:
            if mark.default is not None:
                assert mark.read(mark.default) == mark.schema.default


def test_each_part_is_of_one_sort():
    for sheet in sheets():
        for part in sheet.children:
            assert bool(part.specs) + (part.inline is not None) + part.text == 1


def test_where_extras_may_stand():
    assert set(find("visual").inner) == {"visual", "origin", "geometry"}
    assert set(find("transmission").inner) == {"transmission", "type"}
    assert find("link").inner == {"link": find("link")}


def test_a_matrix_is_unpacked_by_its_upper_triangle():
    rows = ((1.0, 2.0, 3.0), (2.0, 4.0, 5.0), (3.0, 5.0, 6.0))
    inertial = Inertial((0.0,) * 3, (0.0,) * 3, 1.0, rows)
    assert [value for _, value in values(find("inertia"), inertial)] == [1, 2, 3, 4, 5, 6]


def test_a_type_is_an_element_unless_the_file_had_the_attribute():
    sheet = find("transmission")
    assert not as_attribute(sheet, Transmission("t", "x"), "type")
    assert not as_attribute(sheet, Transmission("t", "x", layout=("type",)), "type")
    assert as_attribute(sheet, Transmission("t", "x", layout=("joint",)), "type")
    assert not as_attribute(sheet, Transmission("t", layout=("joint",)), "joints")


def test_records_find_their_sheet_and_others_are_refused():
    links = ROBOT_SPEC.children[0]
    assert spec_of(links, Link("a")).tag == "link"
    (shapes,) = find("geometry").children
    assert [spec_of(shapes, s).tag for s in (Box((1.0,) * 3), Mesh(""))] == ["box", "mesh"]
    with pytest.raises(BadText, match="field 'links': Link, not Robot"):
        spec_of(links, Robot("r"))
    assert items(links, Robot("r", [Link("a")])) == (Link("a"),)  # type: ignore[arg-type]
    with pytest.raises(BadText, match="a tuple, not str"):
        items(links, Robot("r", "ab"))  # type: ignore[arg-type]


# ---- extras


def element(tag: str, xml: Any, within: str = "robot") -> ExtraElement:
    return ExtraElement(within, tag, xml)


def attribute(name: Any, value: Any = "", within: str = "robot") -> ExtraAttribute:
    return ExtraAttribute(within, name, value)


GOOD = [
    element("a", "<a/>"),
    element("a", "<a ></a >"),
    element("a", "<a x='>/'>/></a>"),
    element("a-b", "<a-b\n/>"),
    element("a", "<a><a/></a>"),
    element("a", "<a><!-- </a> --><link name='x'/></a>"),
    attribute("é", "<&\"'\n"),
    attribute("xml:id"),
]


@pytest.mark.parametrize("extra", GOOD, ids=repr)
def test_what_is_one_thing_reads_back(extra: Any):
    robot = Robot("r", (Link("l"),), extra=(extra,))
    assert read(to_text(robot)).robot == robot


BAD: list[tuple[Any, str]] = [
    (element("a", "<b/>"), "does not begin"),
    (element("a", "<ab/>"), "does not begin"),
    (element("a", " <a/>"), "does not begin"),
    (element("a", ""), "does not begin"),
    (element("a", "<?xml version='1.0'?><a/>"), "does not begin"),
    (element("a", "<!DOCTYPE a><a/>"), "does not begin"),
    (element("a", "<a/><link name='evil'/>"), "not this one element"),
    (element("a", "<a/> "), "not this one element"),
    (element("a", "<a/><!-- c -->"), "not this one element"),
    (element("a", "<a></a><!-- </a>-->"), "not this one element"),
    (element("a", "<a>"), "not this one element"),
    (element("a", "<a></a><a></a>"), "broken XML"),
    (element("a", "<a></b></a>"), "broken XML"),
    (element("a", "<a x=1/>"), "broken XML"),
    (element("a", "<a>&e;</a>"), "broken XML"),
    (element("a", "<a>\0</a>"), "broken XML"),
    (element("a", "<a>\ud800</a>"), "broken XML"),
    (element("a", 3), "a tag and a text"),
    (element("link", "<link/>"), "element of URDF"),
    (element("joint", "<joint/>"), "element of URDF"),
    (element("a", "<a/>", "link"), "'link' is no element of <robot>"),
    (element("a", "<a/>", ""), "no element of <robot>"),
    (attribute("name"), "an attribute of URDF"),
    (attribute("a b"), "no name"),
    (attribute('a="1" b'), "no name"),
    (attribute(""), "no name"),
    (attribute(3), "not a text"),
    (attribute("a", 3), "not a text"),
    (attribute("a", "\x1f"), "cannot hold"),
    ("<a/>", "no extra"),
]


@pytest.mark.parametrize("extra, words", BAD, ids=repr)
def test_what_would_read_back_as_something_else_is_refused(extra: Any, words: str):
    with pytest.raises(InputError) as caught:
        to_text(Robot("r", (Link("l"),), extra=(extra,)))
    assert words in str(caught.value) and "robot 'r'" in str(caught.value)


@pytest.mark.parametrize(
    "comment",
    [
        Comment("robot", "a--b"),
        Comment("robot", "a-"),
        Comment("robot", "a\rb"),
        Comment("robot", "\0"),
        Comment("robot", 3),  # type: ignore[arg-type]
        Comment("robot", "a?>", target="p"),
        Comment("robot", " a", target="p"),
        Comment("robot", "a", target="xml"),
        Comment("robot", "a", target="p q"),
        Comment("link", "a"),
        "a",
    ],
    ids=repr,
)
def test_comments_that_would_end_early_are_refused(comment: Any):
    with pytest.raises(InputError):
        to_text(Robot("r", (Link("l"),), comments=(comment,)))


def test_long_comments_are_kept():
    comment = Comment("robot", "x" * 200_000)
    robot = read(to_text(Robot("r", (Link("l"),), comments=(comment,)))).robot
    assert robot.comments == (comment,)
    with pytest.raises(BadText):
        comment_text(Comment("robot", "x" * 100_000 + "\0"))


def test_records_without_any_share_one_answer():
    assert extras_of(ROBOT_SPEC, Robot("r")) is NONE
    assert not NONE.within("robot")


def test_escapes():
    assert quoted("<&>\"'\t\n\r é") == "&lt;&amp;&gt;&quot;'&#9;&#10;&#13; é"
    assert content("<&>\"'\t\n\r é") == "&lt;&amp;&gt;\"'\t\n&#13; é"
