"""Promises about reading descriptions from anybody: a result, or one DescriptionError.

P1, P2, P5, P6, P30 and P32 of the reliability list, each with several inputs of our own; P3, P4,
P9, P11 and P12 stand in test_attacks, P7 in formats/urdf/test_check, P29 and P30 in
test_documents. For more mutations than the 300 of every run: LINKWORK_TEST_MUTATIONS=1000000.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from document_mutations import with_other_bytes
from linkwork.errors import DescriptionError
from linkwork.formats.urdf.read import examine, read
from linkwork.formats.urdf.records import Document
from seeds import rng

LOCATED = re.compile(r"^(?P<file>[^\n]+):(?P<line>\d+): error: \S")

GOOD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a robot with a little of everything -->
<robot name="good" version="1.0">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual name="v"><origin xyz="0 0 1e-2"/><geometry><box size="1 2 3"/></geometry>
      <material name="grey"/></visual>
    <collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
  </link>
  <link name="arm"><visual><geometry>
    <mesh filename="package://good/meshes/arm.stl" scale="0.001 0.001 0.001"/>
    </geometry></visual></link>
  <link name="hand"/> <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.5" rpy="0 1.57 0"/><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><limit lower="-1.5" upper="1.5" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/>
    <safety_controller k_velocity="10" soft_lower_limit="-1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.5" effort="10" velocity="2"/>
    <mimic joint="shoulder" multiplier="0.1" offset="0.05"/></joint>
  <joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <transmission name="t"><type>x/Simple</type><joint name="shoulder"/><actuator name="m">
    <mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="arm"><selfCollide>true</selfCollide></gazebo>
</robot>
"""


def refused(source: Any, **options: Any) -> DescriptionError:
    """The one error that a source gives; each of its lines says where."""
    with pytest.raises(DescriptionError) as caught:
        read(source, **options)
    error = caught.value
    assert error.problems
    for line in str(error).split("\n"):
        assert LOCATED.match(line), line
    return error


def codes(error: DescriptionError) -> set[str]:
    return {problem.code for problem in error.problems}


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) >= 1, old
    return GOOD.replace(old, new, 1)


def test_the_good_robot_is_good():
    assert not read(GOOD).problems


# ---- P1: XML that is broken is refused, never repaired, with line and column

MALFORMED: dict[str, str | bytes] = {
    "no file at all": b"",
    "white space": b" \n\n ",
    "prose": b"this is no robot",
    "one bracket": "<",
    "tag not closed": '<robot name="r"',
    "element not closed": '<robot name="r"><link name="a"/>',
    "wrong end": '<robot name="r"><link name="a"></robot></link>',
    "end in other case": '<robot name="r"><link name="a"/></Robot>',
    "extra end": '<robot name="r"><link name="a"/></link></robot>',
    "two roots": GOOD.strip() + "<robot name='r'><link name='a'/></robot>",
    "text behind": GOOD + "text",
    "text in front": b"text" + GOOD.encode(),
    "attribute twice": '<robot name="r" name="s"><link name="a"/></robot>',
    "attribute without quotes": "<robot name=r><link name='a'/></robot>",
    "attribute without value": "<robot name><link name='a'/></robot>",
    "bracket in a value": '<robot name="<"><link name="a"/></robot>',
    "lone ampersand": '<robot name="a & b"><link name="a"/></robot>',
    "unknown entity": '<robot name="&nbsp;"><link name="a"/></robot>',
    "no such character": '<robot name="&#0;"><link name="a"/></robot>',
    "surrogate by number": '<robot name="&#xD800;"><link name="a"/></robot>',
    "null byte": b'<robot name="a\0"><link name="a"/></robot>',
    "control character": b'<robot name="a\x08"><link name="a"/></robot>',
    "not UTF-8": b'<robot name="\xff"><link name="a"/></robot>',
    "overlong UTF-8": b'<robot name="\xc0\xaf"><link name="a"/></robot>',
    "comment with dashes": '<robot name="r"><!-- -- --><link name="a"/></robot>',
    "comment not closed": '<robot name="r"><link name="a"/><!-- </robot>',
    "CDATA not closed": '<robot name="r"><link name="a"/><![CDATA[ </robot>',
    "declaration twice": '<?xml version="1.0"?><?xml version="1.0"?><robot name="r"/>',
    "tag begins with a digit": '<robot name="r"><1link name="a"/></robot>',
    "space in an end": '<robot name="r"><link name="a">< /link></robot>',
}


@pytest.mark.parametrize("case", MALFORMED)
def test_p1_malformed_xml(case: str):
    error = refused(MALFORMED[case] or b"")
    assert "xml" in codes(error)
    (problem,) = [problem for problem in error.problems if problem.code == "xml"]
    assert problem.line >= 1
    assert re.search(r"column \d+", problem.message)


# ---- P2: mutations of a good file


def test_p2_mutations_give_a_result_or_the_one_error():
    random = rng("mutations")
    count = int(os.environ.get("LINKWORK_TEST_MUTATIONS", "300"))
    accepted = 0
    for _ in range(count):
        data = with_other_bytes(random, GOOD.encode())
        start = time.process_time()
        try:
            document = read(data)
        except DescriptionError as error:
            assert all(LOCATED.match(line) for line in str(error).split("\n")), data
            assert [p for p in examine(data).problems if p.level == "error"] == list(error.problems)
        else:
            accepted += 1
            sound(document)
            assert set(document.problems) <= set(examine(data).problems)
        assert time.process_time() - start < 5, data
    assert 0 < accepted < count  # both happen, or the mutations are of no use


def sound(document: Document) -> None:
    """What is returned is whole: one tree, finite numbers, no filler."""
    robot = document.robot
    links = {link.name for link in robot.links}
    children = {joint.child for joint in robot.joints}
    assert len(links) == len(robot.links) == len(children) + 1
    for joint in robot.joints:
        assert {joint.parent, joint.child} <= links
        numbers = (*joint.xyz, *joint.rpy, *joint.axis)
        assert all(abs(number) < float("inf") for number in numbers)


# ---- P5: structure

FLANGE = '<joint name="flange" type="fixed"><parent link="hand"/><child link="tool"/></joint>'


HAND, TOOL = '<link name="hand"/>', '<link name="tool"/>'
PARENT, CHILD = '<parent link="hand"/>', '<child link="tool"/>'
ORIGIN, AXIS = '<origin xyz="0 0 0.5" rpy="0 1.57 0"/>', '<axis xyz="0 0 1"/>'
ISLAND = '<link name="p"/><link name="q"/>'


def joint(parent: str, child: str, name: str = "new") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="fixed">{ends}</joint>'


STRUCTURE: dict[str, tuple[str, str, str]] = {
    "link twice": (HAND, HAND + HAND, "duplicate-link"),
    "joint twice": (FLANGE, FLANGE.replace("tool", "hand2") + FLANGE, "duplicate-joint"),
    "link without name": (HAND, HAND + "<link/>", "missing-attribute"),
    "link with empty name": (TOOL, '<link name=""/>', "empty-name"),
    "joint without name": ('joint name="flange" ', "joint ", "missing-attribute"),
    "joint with empty name": ('name="flange"', 'name=""', "empty-name"),
    "joint without type": (' type="fixed"', "", "missing-attribute"),
    "joint with empty type": ('"fixed"', '""', "joint-type"),
    "joint of unknown type": ('"fixed"', '"ball"', "joint-type"),
    "type in other case": ('"fixed"', '"Fixed"', "joint-type"),
    "no parent": (PARENT, "", "missing-element"),
    "no child": (CHILD, "", "missing-element"),
    "parent without link": (PARENT, "<parent/>", "missing-attribute"),
    "child with empty link": (CHILD, '<child link=""/>', "empty-name"),
    "two parents in a joint": (PARENT, PARENT + '<parent link="arm"/>', "doubled"),
    "two children in a joint": (CHILD, CHILD + '<child link="x"/>', "doubled"),
    "parent unknown": (PARENT, '<parent link="Hand"/>', "unknown-link"),
    "child unknown": (CHILD, '<child link="tol"/>', "unknown-link"),
    "parent is child": (PARENT, '<parent link="tool"/>', "same-link"),
    "cycle": ('<parent link="base"/>', '<parent link="tool"/>', "cycle"),
    "island": (FLANGE, FLANGE + ISLAND + joint("p", "q", "a") + joint("q", "p", "b"), "cycle"),
    "link with two parents": (FLANGE, FLANGE + joint("base", "tool"), "two-parents"),
    "the same joint again": (FLANGE, FLANGE + joint("hand", "tool"), "two-parents"),
    "loop to the base": (FLANGE, FLANGE + joint("tool", "base"), "cycle"),
    "lonely link": (HAND, HAND + '<link name="alone"/>', "several-roots"),
    "two trees": (FLANGE, FLANGE + ISLAND + joint("p", "q"), "several-roots"),
    "joint missing": (FLANGE, "", "several-roots"),
    "robot without name": ('name="good" ', "", "missing-attribute"),
    "robot with empty name": ('"good"', '" "', "empty-name"),
    "link in a link": (HAND, '<link name="hand"><link name="in"/></link>', "misplaced"),
    "joint in a link": (HAND, f'<link name="hand">{FLANGE}</link>', "misplaced"),
    "axis zero": (AXIS, '<axis xyz="0 0 0"/>', "zero-axis"),
    "two origins": (ORIGIN, "<origin/><origin/>", "doubled"),
}
WHOLE: dict[str, tuple[str, str]] = {
    "no link": ('<robot name="r"/>', "no-link"),
    "other root": ("<sdf version='1.7'><model name='r'/></sdf>", "root"),
    "MJCF": ("<mujoco model='r'/>", "root"),
    "root in other case": ("<Robot name='r'><link name='a'/></Robot>", "root"),
    "only joints": (f'<robot name="r">{joint("a", "b")}</robot>', "no-link"),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_p5_structure(case: str):
    old, new, code = STRUCTURE[case]
    assert code in codes(refused(changed(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (AXIS, AXIS + '<axis xyz="1 0 0"/>', "doubled"),
        ('<mass value="2.5"/>', "", "missing-mass"),
        (' izz="0.1"', "", "missing-attribute"),
        ("</robot>", "<x:y/></robot>", "undeclared-prefix"),
    ],
)
def test_p5_what_leaves_one_tree_is_a_finding(old: str, new: str, code: str):
    (problem,) = [each for each in read(changed(old, new)).problems if each.code == code]
    assert problem.level == "warning" and problem.line >= 1


@pytest.mark.parametrize("case", WHOLE)
def test_p5_whole_files(case: str):
    text, code = WHOLE[case]
    assert code in codes(refused(text))


def test_p5_all_faults_come_in_one_report():
    text = GOOD
    wanted: set[str] = set()
    for case in ("link twice", "joint of unknown type", "child unknown", "axis zero"):
        old, new, code = STRUCTURE[case]
        text = text.replace(old, new, 1)
        wanted.add(code)
    assert codes(refused(text)) >= wanted


# ---- P6: numbers

NUMBERS = [
    *("nan", "NaN 0 0", "0 inf 0", "0 0 -inf", "Infinity 0 0", "1e999 0 0", "-1e400 0 0"),
    *("0 1", "0 1 2 3", "", " ", "0,1,2", "0, 1, 2", "0;1;2", "0,5 0 0", "0x10 0 0", "1_0 0 0"),
    *("1m 0 0", "90deg 0 0", "0 0 1.0.0", "1e 0 0", "e5 0 0", ". 0 0", "+-1 0 0", "1- 0 0"),
    *("one 0 0", "true 0 0", "None 0 0", "٣ 0 0", "\uff11 0 0", "\u22121 0 0", "1\xa00 0 0"),
    *("${x} 0 0", "[0 0 0]", "(0 0 0)", "1/2 0 0", "pi 0 0", "1e308 0 0", "1f 0 0", "1d0 0 0"),
]


@pytest.mark.parametrize("text", NUMBERS, ids=[ascii(text) for text in NUMBERS])
def test_p6_numbers(text: str):
    error = refused(changed('xyz="0 0 0.5"', f'xyz="{text}"'))
    (problem,) = error.problems
    assert problem.code in ("number", "count", "not-finite", "too-large")
    assert (problem.element, problem.name) == ("origin", "shoulder")
    assert "'xyz'" in problem.message


PLACES = [
    *('value="2.5"', 'ixx="0.1"', 'size="1 2 3"', 'radius="0.1"', 'length="0.5"', 'lower="-1.5"'),
    *('upper="1.5"', 'effort="10"', 'velocity="2"', 'damping="0.1"', 'friction="0.2"'),
    *('multiplier="0.1"', 'offset="0.05"', 'k_velocity="10"', 'soft_lower_limit="-1"'),
    *('rgba="0.5 0.5 0.5 1"', 'scale="0.001 0.001 0.001"', 'rpy="0 1.57 0"', 'xyz="1 0 0"'),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bad", ["nan", "inf", "", "1 2", "1,5", "x"])
def test_p6_every_number_of_the_format_is_checked(place: str, bad: str):
    name = place.partition("=")[0]
    text = changed(place, f'{name}="{bad}"')
    # colours and scales leave the tree and its poses as they are: findings
    looks = name in ("rgba", "scale")
    found = read(text).problems if looks else refused(text).problems
    (problem,) = [each for each in found if f"'{name}'" in each.message]
    assert {each.level for each in found} == {"warning" if looks else "error"}
    assert f"'{name}'" in problem.message


# ---- P30: the locale


def test_p30_nothing_in_the_reader_asks_for_the_locale():
    folder = Path(__file__).resolve().parents[2] / "src/linkwork/formats"
    for path in folder.rglob("*.py"):
        assert not re.search(r"\b(setlocale|localeconv|atof|import locale)\b", path.read_text())


# ---- P32: where


def test_p32_the_line_is_the_one_of_the_fault(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    for k, line in enumerate(GOOD.split("\n"), 1):
        match = re.search(r'(?<= )(xyz|value|lower|link|type|rgba)="[^"]*"', line)
        if match is None:
            continue
        lines = GOOD.split("\n")
        lines[k - 1] = line.replace(match[0], f'{match[1]}="?"', 1)
        path.write_text("\n".join(lines))
        if match[1] == "rgba":
            assert k in [problem.line for problem in read(path).problems]
            continue
        error = refused(path)
        located = LOCATED.match(str(error))
        assert located
        assert located["file"] == str(path)
        near = [problem for problem in error.problems if abs(problem.line - k) <= 2]
        assert near, (k, str(error))
