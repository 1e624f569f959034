"""Names in unknown elements: found where they are known to stand, to the byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.errors import InputError
from linkwork.formats.urdf.edit.names import Mentions
from linkwork.formats.urdf.records import ExtraElement


def tag_of(xml: str) -> str:
    found = re.match(r"<([\w:]+)", xml)
    return found[1] if found else "gazebo"


def mentions(xml: str) -> Mentions:
    return Mentions(ExtraElement("robot", tag_of(xml), xml))


CASES = [
    ('<gazebo reference="a"/>', [("link joint", "a", "all")]),
    ("<gazebo  x='1' reference = 'a' y=\"2\"><mu1>3</mu1></gazebo>", [("link joint", "a", "all")]),
    ('<gazebo><x reference="a"/></gazebo>', []),
    ('<sensor name="s"><parent link="a"/></sensor>', [("link", "a", "all")]),
    ('<sensor name="s"><x><parent link="a"/></x></sensor>', []),
    ('<other reference="a"><parent link="a"/><joint name="a"/></other>', []),
    (
        '<ros2_control name="a"><joint name="a"><param name="mimic"> b\n</param></joint>'
        '<sensor name="c"/></ros2_control>',
        [
            ("joint", "a", '<joint name="a"><param name="mimic"> b\n</param></joint>'),
            ("joint", "b", None),
        ],
    ),
    (
        '<ros2_control><transmission><joint name="a"/><joint name="b"/></transmission>'
        "</ros2_control>",
        [
            ("joint", name, '<transmission><joint name="a"/><joint name="b"/></transmission>')
            for name in "ab"
        ],
    ),
    (
        '<ros2_control><joint name="é&amp;"/></ros2_control>',
        [("joint", "é&", '<joint name="é&amp;"/>')],
    ),
]


@pytest.mark.parametrize(("xml", "wanted"), CASES, ids=[xml[:40] for xml, _ in CASES])
def test_known_places(xml: str, wanted: list[tuple[str, str, str | None]]):
    found = mentions(xml)
    seen = []
    for mention in found.found:
        span = mention.span
        raw = found.xml[mention.start : mention.stop]
        assert raw.replace("&amp;", "&") == mention.name
        text = None if span is None else found.xml[slice(*span)]
        seen.append((" ".join(mention.kinds), mention.name, "all" if text == xml else text))
    assert seen == wanted


def test_everything_else_is_words():
    found = mentions(
        '<gazebo reference="a"><plugin name="p" file="b.so"><joint>c, d</joint>'
        "<link>robot::e</link><x>/f/g h</x><![CDATA[i]]></plugin></gazebo>"
    )
    assert found.tokens() >= {"p", "b.so", "c", "d", "c, d", "e", "robot::e", "f", "g", "h", "i"}
    assert "a" not in found.tokens()
    assert "reference" not in found.tokens()


NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1)


@given(NAMES, st.sampled_from("\"'"), st.integers(0, 3))
def test_any_name_is_found_where_it_stands(name: str, quote: str, blanks: int):
    raw = name.replace("&", "&amp;").replace("<", "&lt;").replace(quote, f"&#{ord(quote)};")
    gap = " " * blanks
    xml = f"<gazebo{gap} ü='{'>'}' reference{gap}={gap}{quote}{raw}{quote}{gap}/>"
    (mention,) = mentions(xml).found
    assert mention.name == name
    data = mentions(xml).xml
    assert data[mention.start : mention.stop] == raw


@pytest.mark.parametrize("xml", ["<gazebo>", "<gazebo a=1/>", "gazebo", ""])
def test_what_is_no_xml(xml: str):
    with pytest.raises(InputError, match="is no XML"):
        Mentions(ExtraElement("robot", "gazebo", xml))


def test_no_document_type():
    xml = '<!DOCTYPE a [<!ENTITY b "c">]><gazebo>&b;</gazebo>'
    with pytest.raises(InputError, match="document type"):
        Mentions(ExtraElement("robot", "gazebo", xml))


def test_deep_nesting_needs_no_recursion():
    mentions("<gazebo>" + "<a>" * 20_000 + "</a>" * 20_000 + "</gazebo>")
