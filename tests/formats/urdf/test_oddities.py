"""What URDF does not have, or has once: kept as it is, remarked on, or refused."""

from __future__ import annotations

import time

import pytest

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Box, Document, ExtraAttribute, ExtraElement
from linkwork.formats.urdf.write import to_text


def robot(inside: str, attributes: str = "") -> Document:
    return read(f'<robot name="r"{attributes}><link name="a"/>{inside}</robot>')


def codes(document: Document) -> list[tuple[str, str]]:
    return [(problem.level, problem.code) for problem in document.problems]


def errors(text: str) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(text)
    return list(caught.value.problems)


KEPT = [
    '<gazebo reference="a">\n <x y="1">t</x><!-- c --> </gazebo>',
    "<gazebo/>",
    '<gazebo a="b>c" />',
    "<gazebo\n  a='\"/>'\n/>",
    "<gazebo></gazebo\n>",
    "<gazebo><gazebo/></gazebo>",
    '<gazebo><link name="q"/><robot/></gazebo>',
    "<gazebo><![CDATA[</gazebo>]]>é名</gazebo>",
    "<gazebo><?pi </gazebo> ?></gazebo>",
]


@pytest.mark.parametrize("xml", KEPT)
@pytest.mark.parametrize("after", ["", "<gazebo/>", "text", "<!-- > -->"])
def test_an_extension_is_kept_to_the_letter(xml: str, after: str):
    extra = robot(xml + after).robot.extra
    assert extra[0] == ExtraElement("robot", "gazebo", xml)
    assert len(extra) == 1 + (after == "<gazebo/>")


def test_where_an_extension_stood_is_known():
    document = read(
        '<robot name="r">\n<gazebo/>\n<link name="a">\n<visual><geometry><odd/>'
        '<box size="1 1 1"/></geometry></visual><sensor/></link>\n<ros2_control/></robot>'
    )
    first, last = document.robot.extra
    assert (first.tag, first.position, first.line) == ("gazebo", 0, 2)
    assert (last.tag, last.position, last.line) == ("ros2_control", 2, 5)
    link = document.robot.links[0]
    assert [(e.within, e.tag, e.position) for e in link.extra] == [("link", "sensor", 1)]
    assert [(e.within, e.tag) for e in link.visuals[0].extra] == [("geometry", "odd")]
    assert codes(document) == [("note", "unknown-element")]


def test_extensions_with_name_spaces():
    document = robot('<s:cam s:x="1"><s:y/></s:cam>', ' xmlns:s="urn:s" xml:lang="en"')
    name_space, language, camera = sorted(document.robot.extra, key=str)
    assert name_space == ExtraAttribute("robot", "xml:lang", "en")
    assert language == ExtraAttribute("robot", "xmlns:s", "urn:s")
    assert camera == ExtraElement("robot", "s:cam", '<s:cam s:x="1"><s:y/></s:cam>')


def test_a_default_name_space_changes_nothing():
    visual = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    text = f'<robot name="r"{{}}><link name="a">{visual}</link></robot>'
    document = read(text.format(' xmlns="http://www.ros.org"'))
    assert document.robot.links == read(text.format("")).robot.links
    assert document.robot.extra == (ExtraAttribute("robot", "xmlns", "http://www.ros.org"),)


def test_unknown_attributes_are_kept_and_named():
    document = read('<robot name="r"><link name="a" nmae="x" colour="red" type="laser"/></robot>')
    link = document.robot.links[0]
    assert link.name == "a"
    assert link.extra == (
        ExtraAttribute("link", "nmae", "x"),
        ExtraAttribute("link", "colour", "red"),
        ExtraAttribute("link", "type", "laser"),
    )
    (problem,) = document.problems
    assert (problem.level, problem.code) == ("warning", "unknown-attribute")
    assert "'nmae', 'colour', 'type'" in problem.message
    assert "'name'" in problem.hint


def test_an_unknown_attribute_hides_no_known_one():
    origin = '<origin foo="1" xyz="1 2 3" rpy="0 0 1"/>'
    text = f'<robot name="r"><link name="a"><visual>{origin}</visual></link></robot>'
    visual = read(text).robot.links[0].visuals[0]
    assert (visual.xyz, visual.rpy) == ((1, 2, 3), (0, 0, 1))


def test_slips_are_warned_about_with_the_right_word():
    (problem,) = robot("<materail name='x'/>").problems
    assert (problem.level, problem.hint) == ("warning", "did you mean <material>?")
    (problem,) = robot("<zzz/>").problems
    assert problem.level == "note"
    assert "<link>, <joint>" in problem.hint
    assert codes(robot("<origin/>")) == [("warning", "unknown-element")]


def test_links_and_joints_in_the_wrong_place_are_errors():
    (problem,) = errors('<robot name="r"><link name="a">\n<link name="b"/></link></robot>')
    assert (problem.code, problem.line, problem.element) == ("misplaced", 2, "link")
    assert errors('<robot name="r"><link name="a"><joint/></link></robot>')[0].code == "misplaced"


def test_what_may_stand_once():
    document = read(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><mass value="2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '<visual><geometry><box size="1 2 3"/><sphere radius="1"/></geometry></visual>'
        "</link></robot>"
    )
    assert document.robot.links[0].inertial.mass == 1.0
    assert document.robot.links[0].visuals[0].geometry == Box((1, 2, 3))
    assert codes(document) == [("warning", "doubled")] * 2
    joint = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/>%s</joint></robot>'
    )
    for double in (
        '<parent link="b"/>',
        "<origin/><origin/>",
        "<limit/><limit/>",
    ):
        assert "doubled" in [problem.code for problem in errors(joint % double)]


def test_text_between_elements_is_remarked_on():
    (problem,) = robot("\n>> oops").problems
    assert (problem.level, problem.code) == ("warning", "stray-text")
    assert ">> oops" in problem.message
    assert not robot(" \n\t ").problems


@pytest.mark.parametrize("inside", ["<x:p/>", '<x:macro name="m"><link/></x:macro>'])
def test_xacro_that_is_left_over_is_kept_and_not_used(inside: str):
    text = (
        f'<robot name="r" xmlns:x="http://www.ros.org/wiki/xacro"><link name="a"/>{inside}</robot>'
    )
    document = read(text)
    (problem,) = document.problems
    assert (problem.level, problem.code) == ("warning", "xacro")
    assert "expand" in problem.hint
    assert [link.name for link in document.robot.links] == ["a"]
    assert inside in to_text(document.robot)


def test_missing_things_say_what_they_are():
    visual = "<visual><geometry><sphere/></geometry></visual>"
    text = f'<robot name="r"><link name="a"><inertial/>{visual}</link></robot>'
    found = {(p.code, p.element, p.name) for p in errors(text)}
    assert found == {
        ("missing-attribute", "sphere", "a"),
    }
    (problem,) = read('<robot name="r"><link name="a"><visual/></link></robot>').problems
    assert "<geometry> is missing" in problem.message


@pytest.mark.slow
def test_many_unknown_elements_do_not_take_long():
    start = time.process_time()
    document = robot("".join(f"<odd{k}/>" for k in range(20_000)))
    assert time.process_time() - start < 5
    assert len(document.robot.extra) == 20_000
    assert document.problems[-1].message.startswith("10000 more")
