"""What makes a robot of its members."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import (
    URDF,
    Actuator,
    Box,
    Geometry,
    Joint,
    JointMimic,
    Link,
    Material,
    Transmission,
    TransmissionJoint,
    Visual,
)


def links(*names: str) -> list[Link]:
    return [Link(name, None, None, None) for name in names]


def joint(name: str, parent: str, child: str, **options) -> Joint:
    return Joint(name, "continuous", parent, child, **options)


def drive(joint_name: str) -> Transmission:
    return Transmission("t", "s", [TransmissionJoint(joint_name, None)], [Actuator("m")])


def follow(leader: str) -> dict:
    return {"mimic": JointMimic(leader)}


AB = [joint("j", "a", "b")]
LOOP = [joint("j", "a", "b"), joint("k", "b", "a")]
LEADERS = [joint("j", "a", "b", **follow("k")), joint("k", "b", "c", **follow("j"))]
TWO_PARENTS = [*AB, joint("k", "a", "c"), joint("l", "b", "c")]
SAME = drive("j")


def case(mark: pytest.MarkDecorator, names: str, joints: list[Joint], said: str, **others):
    """What is no robot, and what the error says."""
    return pytest.param(links(*names), joints, others, said, marks=mark)


CASES = [
    case(pytest.mark.row("S2-171"), "aba", AB, "'a'"),
    case(pytest.mark.row("S2-171"), "abc", [*AB, joint("j", "b", "c")], "'j'"),
    case(pytest.mark.row("S2-171"), "ab", AB, "'t'", transmissions=[drive("j"), drive("j")]),
    case(pytest.mark.row("S2-171"), "ab", AB, "'t'", transmissions=[SAME, SAME]),
    case(pytest.mark.row("S2-171"), "ab", AB, "'m'", materials=[Material("m"), Material("m")]),
    case(pytest.mark.row("S2-172"), "ab", [joint("j", "x", "b")], "parent link 'x'"),
    case(pytest.mark.row("S2-172"), "ab", [joint("j", "a", "x")], "child link 'x'"),
    case(pytest.mark.row("S2-173"), "ab", [joint("j", "a", "a")], "same link"),
    case(pytest.mark.row("S2-174"), "ab", [joint("j", "a", "b", **follow("x"))], "'x'"),
    case(pytest.mark.row("S2-175"), "ab", [joint("j", "a", "b", **follow("j"))], "itself"),
    case(pytest.mark.row("S2-175"), "abc", LEADERS, "cycle"),
    case(pytest.mark.row("S2-176"), "ab", AB, "'x'", transmissions=[drive("x")]),
    case(pytest.mark.row("S2-177"), "abcd", [*AB, joint("k", "c", "d")], "unconnected"),
    case(pytest.mark.row("S2-178"), "rab", LOOP, "cycle"),
    case(pytest.mark.row("S2-179"), "abc", AB, "2 links have no parent"),
    case(pytest.mark.row("S2-179"), "abc", TWO_PARENTS, "has a parent already"),
]


@pytest.mark.parametrize(("links_", "joints", "others", "message"), CASES)
def test_what_is_no_robot_is_refused(links_, joints, others, message: str):
    with pytest.raises(ValueError, match=message) as caught:
        URDF("r", links_, joints, **others)
    assert isinstance(caught.value, DescriptionError)


@pytest.mark.row("S2-170")
def test_every_fault_is_found_at_once():
    with pytest.raises(DescriptionError) as caught:
        URDF("r", links("a", "a", "b"), [joint("j", "x", "b", **follow("y"))], [drive("z")])
    codes = {problem.code for problem in caught.value.problems}
    assert codes >= {"duplicate-link", "unknown-link", "mimic-unknown", "transmission-joint"}


@pytest.mark.row("S2-170")
def test_members_have_their_class_and_there_is_a_link():
    with pytest.raises(ValueError, match="no link"):
        URDF("r")
    for name, wrong in (
        ("links", [3]),
        ("links", "a"),
        ("joints", links("a")),
        ("transmissions", 3),
        ("materials", ["red"]),
    ):
        with pytest.raises(TypeError, match=name):
            URDF(**{"name": "r", "links": links("a"), name: wrong})
    with pytest.raises(TypeError):
        URDF("r", links("a"), other_xml=3)


FIXED = '<joint name="j" type="fixed"><parent link="a"/><child link="x"/></joint>'
DRIVEN = '<type>s</type><joint name="x"/><actuator name="m"/>'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<link name="a"/><link name="a"/>', marks=pytest.mark.row("S2-171")),
        pytest.param(f'<link name="a"/>{FIXED}', marks=pytest.mark.row("S2-172")),
        pytest.param(
            f'<link name="a"/><transmission name="t">{DRIVEN}</transmission>',
            marks=pytest.mark.row("S2-176"),
        ),
        pytest.param('<link name="a"/><link name="b"/>', marks=pytest.mark.row("S2-179")),
    ],
)
def test_files_are_held_to_the_same_rules(tmp_path: Path, text: str):
    (tmp_path / "r.urdf").write_text(f'<robot name="r">\n{text}</robot>')
    with pytest.raises(DescriptionError) as caught:
        URDF.load(str(tmp_path / "r.urdf"))
    assert caught.value.problems[0].line == 2


@pytest.mark.row("S2-171")
def test_two_materials_of_one_name_in_a_file(tmp_path: Path):
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="a"/>\n<material name="m"/>\n<material name="m"/></robot>'
    )
    with pytest.raises(ValueError, match=r"r\.urdf:3.*two materials with name 'm'"):
        URDF.load(str(tmp_path / "r.urdf"))


@pytest.mark.row("S2-072", "S2-184")
def test_new_materials_of_visuals_are_the_robot_s():
    red, other = Material("red", [1, 0, 0, 1]), Material("red", [0, 0, 1, 1])
    shapes = [Visual(Geometry(box=Box([1, 1, 1])), material=m) for m in (red, other)]
    robot = URDF("r", [Link("a", None, shapes, None)])
    assert robot.materials == [red]
    assert shapes[1].material is red
    assert [finding.code for finding in robot.findings] == ["material-differs"]
