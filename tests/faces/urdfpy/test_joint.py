"""Joints, what they have beside an axis, and where they put their children."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from linkwork.errors import DescriptionError
from linkwork.faces.urdfpy import (
    URDF,
    Joint,
    JointLimit,
    Transmission,
)
from robots import about, origin
from seeds import rng

# joint parts


IN_JOINT = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/>
{}
</joint></robot>"""


@pytest.mark.row("S2-106", "S2-107", "S2-108", "S2-115", "S2-116", "S2-112")
@pytest.mark.parametrize(
    "part",
    [
        '<limit velocity="1"/>',
        '<limit effort="1"/>',
        "<limit/>",
        '<safety_controller k_position="1"/>',
        '<mimic multiplier="2"/>',
    ],
)
def test_what_a_file_must_give(tmp_path: Path, part: str):
    (tmp_path / "r.urdf").write_text(IN_JOINT.format(part))
    with pytest.raises(DescriptionError) as caught:
        URDF.load(str(tmp_path / "r.urdf"))
    assert {problem.line for problem in caught.value.problems} == {3}


@pytest.mark.row("S2-100", "S2-103", "S2-106", "S2-113", "S2-114", "S2-117", "S2-118", "S2-119")
def test_what_a_file_may_leave_out(tmp_path: Path):
    parts = '<limit effort="1" velocity="2"/><dynamics/><calibration/>'
    parts += '<safety_controller k_velocity="1"/>'
    (tmp_path / "r.urdf").write_text(IN_JOINT.format(parts))
    joint = URDF.load(str(tmp_path / "r.urdf")).joints[0]
    assert joint.limit.lower is joint.limit.upper is None
    assert (joint.dynamics.damping, joint.dynamics.friction) == (0.0, 0.0)
    assert joint.calibration.rising is joint.calibration.falling is None
    safety = joint.safety_controller
    assert (safety.k_position, safety.soft_lower_limit, safety.soft_upper_limit) == (0.0, 0.0, 0.0)


# joint


LIMIT = JointLimit(10, 2, -1, 1.5)
ROW = (0.1, -0.2, 0.3, 0.4, -0.5, 0.6)
PLACED = origin(ROW[:3], ROW[3:])


def joint(kind: str = "revolute", **options) -> Joint:
    return Joint("j", kind, "a", "b", **{"limit": LIMIT, "origin": ROW, **options})


@pytest.mark.row("S2-141", "S2-143")
def test_the_types():
    kinds = ["fixed", "prismatic", "revolute", "continuous", "floating", "planar"]
    assert kinds == Joint.TYPES
    made = joint("fixed")
    for kind in kinds:
        made.joint_type = kind
        assert made.joint_type == kind
    for wrong in ("hinge", None, 3):
        with pytest.raises(ValueError, match="one of fixed, prismatic"):
            made.joint_type = wrong
    assert made.joint_type == "planar"


@pytest.mark.row("S2-146")
def test_the_axis_is_a_unit_vector():
    assert joint().axis.tolist() == [1, 0, 0]
    made = joint(axis=[0, 3, 4])
    assert np.allclose(made.axis, [0, 0.6, 0.8])
    assert np.allclose(joint(axis=[0, 0, 1e-7]).axis, [0, 0, 1])
    assert np.allclose(joint(axis=[0, 1e200, 1e200]).axis, np.sqrt([0, 0.5, 0.5]))
    for wrong in ([1, 2], np.eye(3), [0, 0, np.inf], [0, "x", 0]):
        with pytest.raises(ValueError, match="axis"):
            made.axis = wrong
    with pytest.raises(ValueError, match="zero"):
        made.axis = [0, 0, 0]
    with pytest.raises(TypeError):
        made.axis = "z"
    assert np.allclose(made.axis, [0, 0.6, 0.8])
    made.axis = None
    assert made.axis.tolist() == [1, 0, 0]
    assert joint("fixed", axis=[0, 0, 0]).axis.tolist() == [1, 0, 0]  # which has no use for one


@pytest.mark.row("S2-148")
@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_some_joints_need_a_limit(kind: str):
    with pytest.raises(ValueError, match="needs a limit"):
        joint(kind, limit=None)
    made = joint(kind)
    with pytest.raises(ValueError, match="needs a limit"):
        made.limit = None
    with pytest.raises(TypeError):
        made.limit = 3
    assert made.limit is LIMIT


@pytest.mark.row("S2-153", "S2-154")
@pytest.mark.parametrize("kind", Joint.TYPES)
def test_without_a_position_the_child_is_at_the_origin(kind: str):
    made = joint(kind, axis=[0, 0, 1])
    assert np.array_equal(made.get_child_pose(), made.origin)
    made.get_child_pose()[0, 3] = 99.0  # the joint stays as it is
    assert made.origin[0, 3] == ROW[0]
    if kind == "fixed":
        assert np.array_equal(made.get_child_pose(3.0), made.origin)


@pytest.mark.row("S2-155", "S2-156")
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_a_joint_with_one_number(kind: str):
    random = rng(kind)
    for _ in range(20):
        axis, amount = random.normal(size=3), float(random.uniform(-4, 4))
        unit = axis / np.linalg.norm(axis)
        T = np.eye(4)
        if kind == "prismatic":
            T[:3, 3] = unit * amount
        else:
            T[:3, :3] = about(unit, amount)
        made = joint(kind, axis=axis)
        assert np.abs(made.get_child_pose(amount) - PLACED @ T).max() < 3e-15
        assert np.array_equal(made.get_child_pose([amount]), made.get_child_pose(amount))
    for wrong in ([1, 2], "x", np.nan, np.eye(4)):
        with pytest.raises(ValueError, match="'j'"):
            made.get_child_pose(wrong)


@pytest.mark.row("S2-157")
def test_a_planar_joint_moves_across_its_axis():
    flat = joint("planar", axis=[0, 0, 1])
    T = np.eye(4)
    T[:2, 3] = 1.0, 2.0
    assert np.abs(flat.get_child_pose([1, 2]) - PLACED @ T).max() < 1e-15
    random = rng("planar")
    for _ in range(20):
        made = joint("planar", axis=random.normal(size=3))
        x = (np.linalg.inv(PLACED) @ made.get_child_pose([1, 0]))[:3, 3]
        y = (np.linalg.inv(PLACED) @ made.get_child_pose([0, 1]))[:3, 3]
        frame = np.column_stack([x, y, made.axis])  # a right-handed one
        assert np.allclose(frame.T @ frame, np.eye(3), atol=1e-14)
        assert np.isclose(np.linalg.det(frame), 1.0)
        # of all turns of z onto the axis it is the smallest
        assert np.isclose(np.trace(frame), 1 + 2 * made.axis[2])
    for wrong in ([1, 2, 3], [1], 1.0, "here", np.eye(4), [1, np.inf]):
        with pytest.raises(ValueError, match="'j'"):
            flat.get_child_pose(wrong)


@pytest.mark.row("S2-158")
def test_a_floating_joint_takes_six_numbers_or_a_matrix():
    made = joint("floating")
    for row in rng("floating").uniform(-3, 3, (20, 6)):
        T = origin(row[:3], row[3:])
        assert np.abs(made.get_child_pose(row) - PLACED @ T).max() < 3e-15
        assert np.abs(made.get_child_pose(T) - PLACED @ T).max() < 3e-15
    for wrong in (np.zeros(7), np.eye(3), np.full((4, 4), np.nan), 2 * np.eye(4)):
        with pytest.raises(ValueError, match=r".+"):
            made.get_child_pose(wrong)
    for wrong in (2 * np.eye(4), np.diag([1.0, 1, -1, 1]), np.ones((4, 4))):
        with pytest.raises(ValueError, match="the position of joint 'j' is no rigid pose"):
            made.get_child_pose(wrong)
    with pytest.raises(TypeError):
        made.get_child_pose("here")


@pytest.mark.row("S2-159")
def test_valid_positions():
    for kind in ("revolute", "prismatic"):
        made = joint(kind)
        assert [made.is_valid(x) for x in (-1.01, -1, 0, 1.5, 1.51)] == [
            False,
            True,
            True,
            True,
            False,
        ]
        assert not made.is_valid([1, 1])
        assert not made.is_valid("x")
        assert joint(kind, limit=JointLimit(1, 1)).is_valid(99)
    assert joint("continuous").is_valid(99)
    assert not joint("continuous").is_valid(np.nan)
    assert joint("fixed").is_valid(99)
    planar, floating = joint("planar", axis=[0, 0, 1]), joint("floating")
    assert planar.is_valid([1, 2])
    assert not planar.is_valid([1, 2, 3])
    assert floating.is_valid(np.zeros(6))
    assert floating.is_valid(np.eye(4))
    assert not floating.is_valid(np.zeros(3))
    assert type(joint().is_valid(0.0)) is bool


@pytest.mark.row("S2-206")
def test_poses_of_the_child_at_several_positions():
    random = rng("child poses")
    T = origin([1, 2, 3], [0.1, 0.2, 0.3])
    limit = JointLimit(1, 1)
    positions = {
        "revolute": random.uniform(-3, 3, 5),
        "continuous": random.uniform(-3, 3, 5).tolist(),
        "prismatic": random.uniform(-3, 3, 5)[:, None],
        "planar": random.uniform(-1, 1, (5, 2)),
        "floating": random.uniform(-1, 1, (5, 6)),
        "fixed": np.zeros(5),
    }
    for kind, rows in positions.items():
        joint = Joint("j", kind, "a", "b", axis=[1, 2, 3], origin=T, limit=limit)
        assert np.array_equal(joint.get_child_poses(None, 3), [T] * 3)
        poses = joint.get_child_poses(rows, 5)
        assert np.abs(poses - [joint.get_child_pose(row) for row in rows]).max() < 1e-14
        assert np.array_equal(joint.get_child_poses(rows[:1], 5), [poses[0]] * 5)
        poses[0] = 0.0
        assert np.array_equal(joint.origin, T)
        if kind != "fixed":
            with pytest.raises(ValueError, match="5 positions"):
                joint.get_child_poses(rows[:2], 5)


# transmissions


@pytest.mark.row("S2-125", "S2-127", "S2-129", "S2-132", "S2-134")
def test_a_transmission_is_read(shapes: URDF):
    (transmission,) = shapes.transmissions
    assert (transmission.name, transmission.trans_type) == ("drive", "simple")
    assert transmission.joints[0].name == "turn"
    assert transmission.joints[0].hardwareInterfaces == ["effort"]
    assert transmission.actuators[0].name == "motor"
    assert transmission.actuators[0].hardwareInterfaces == ["position"]
    assert transmission.actuators[0].mechanicalReduction == "50"  # as written, not "50.0"


PARTS = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<transmission name="t">{}</transmission></robot>"""
TYPE, JOINT, ACTUATOR = "<type>s</type>", '<joint name="j"/>', '<actuator name="m"/>'


@pytest.mark.row("S2-126", "S2-130", "S2-133", "S2-176")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (JOINT, "<joint/>", "<joint> a joint of transmission 't' has no name"),
        (ACTUATOR, '<actuator name=""/>', "<actuator> an actuator of transmission 't' has no name"),
        (' name="t"', "", "<transmission> a transmission has no name"),
    ],
)
def test_names_are_needed_in_a_file(tmp_path: Path, old: str, new: str, said: str):
    path = tmp_path / "r.urdf"
    path.write_text(PARTS.format(TYPE + JOINT + ACTUATOR).replace(old, new))
    with pytest.raises(ValueError, match=rf"r\.urdf:3: error: {said}"):
        URDF.load(str(path))
    element = ET.fromstring(path.read_text())
    with pytest.raises(ValueError, match="has no name"):
        Transmission._from_xml(element.find("transmission"), "")


@pytest.mark.row("S2-132")
def test_what_a_file_must_give_of_a_transmission(tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_text(PARTS.format(JOINT + ACTUATOR))
    with pytest.raises(ValueError, match=r"r\.urdf:3.*type"):
        URDF.load(str(path))
    for parts in (TYPE + JOINT, TYPE + ACTUATOR):
        path.write_text(PARTS.format(parts))
        robot = URDF.load(str(path))  # those of other libraries have parts of their own
        assert [finding.code for finding in robot.findings] == ["transmission-parts"]
        with pytest.raises(ValueError, match=r"r\.urdf:3"):
            URDF.load(str(path), strict=True)
