"""Unknown elements, attributes and comments: only what reads back as itself is let through."""

from __future__ import annotations

from typing import Any

import pytest

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import BadText
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Link, Robot
from linkwork.formats.urdf.specs import NONE, ROBOT_SPEC, comment_text, content, extras_of, quoted
from linkwork.formats.urdf.write import to_text


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
