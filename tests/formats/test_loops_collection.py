"""The form of the public collection, in every shape that its files have; these are made up."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.loops import from_text
from linkwork.formats.loops_records import JointRecord, LoopRecord, LoopsRecord

ONE_LINE = (
    "closed_loop: [['l_A', 'l_B'], ['r_A', 'r_B']]\n"
    "type: ['6D', '3d']\nname_mot: ['m1', 'm2']\nrotor_inertia: [1, 2]\n"
)
OVER_LINES = """\
closed_loop:
  [
    ["l_A", "l_B"],
    ["r_A", "r_B"],
  ]
type: ["6d", "3D"]
name_mot:
  [
    "m1",
    "m2",
  ]
# name_mot: ['others']
"""
IN_BLOCKS = """\
closed_loop:
- [l_A, l_B]
- - r_A
  - r_B
type:
- 6d
- 3d
name_mot: [m1, m2]
"""


@pytest.mark.parametrize("text", [ONE_LINE, OVER_LINES, IN_BLOCKS])
def test_pairs_kinds_and_motors(text):
    loops = LoopRecord("l_A", "l_B", "pose"), LoopRecord("r_A", "r_B", "position")
    found = from_text(text, "robot.yaml")
    assert found == LoopsRecord(loops, (), ("m1", "m2"), "robot.yaml")
    assert found.loops[0].line in (1, 2, 3) and found.actuated_line > 2


def test_without_types_whole_poses_are_held():
    assert from_text("closed_loop: [[a, b]]\n").loops == (LoopRecord("a", "b", "pose"),)


def test_joints_that_are_others():
    text = (
        "closed_loop: [[a, b]]\ntype: [6d]\nname_mot: []\n"
        "joint_name: ['ball', 'cardan', 'zy', 'yz', 'welded']\n"
        "joint_type: ['SPHERICAL', 'CARDAN', 'UJOINT_ZY', 'ujoint_yz', 'FIXED']\n"
    )
    kinds = {"ball": "xyz", "cardan": "xy", "zy": "zy", "yz": "yz", "welded": ""}
    assert from_text(text).joints == tuple(JointRecord(*pair) for pair in kinds.items())
    assert from_text(text).joints[0].line == 4


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("closed_loop: [[a, b, c]]", 1, "pairs of frames"),
        ("closed_loop: [[a, b]]\ntype: ['4d']", 2, "type must be one of 6d, 3d"),
        ("closed_loop: [[a, b]]\ntype: []", 2, "has 1 pairs, type 0 entries"),
        ("closed_loop: [[a, b]]\ntype: 6d", 2, "type must be a list"),
        ("closed_loop: [a]", 1, "closed_loop must be a list"),
        ("closed_loop: true", 1, "closed_loop must be a list"),
        ("closed_loop: []\nname_mot: mot", 2, "name_mot must be a list"),
        ("closed_loop: []\njoint_name: [a]", 2, "joint_name has 1 entries, joint_type 0"),
        ("closed_loop: []\njoint_type: [CARDAN]", 2, "joint_name has 0 entries, joint_type 1"),
        ("closed_loop: []\njoint_name: [a, a]\njoint_type: [FIXED, FIXED]", 2, "'a' twice"),
        ("closed_loop: []\njoint_name: [a]\njoint_type: [SCREW]", 3, "one of SPHERICAL, CARDAN"),
        ("closed_loop: []\njoint_name: [a]\njoint_type: [UJOINT_XX]", 3, "not UJOINT_XX"),
        (
            "name_mot: mot\nname_closedloop: loop\nclosed_loop_number: 1\ntype: planar",
            2,
            "finds frames by parts of their names",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, line, why):
    with pytest.raises(DescriptionError, match=why) as caught:
        from_text(text, "robot.yaml")
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == ("robot.yaml", line)
