"""Side-car files: both forms, there and back, and what is wrong said by name."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import yaml

import linkwork as lw
from linkwork.errors import DescriptionError, MissingFileError
from linkwork.formats.loops import (
    CouplingRecord,
    JointRecord,
    LoopRecord,
    LoopsRecord,
    beside,
    from_text,
    read,
    to_text,
    with_joints,
)
from linkwork.saving import save
from robots import model_poses
from seeds import rng

OURS = """
version: 1
loops:
  - {name: hinge, frame_a: rod_end, frame_b: slider, kind: revolute}
  - frame_a: elbow
    frame_b: platform
    kind: distance
    distance: 0.4
couplings:
  - {joint: wheel, leaders: [crank], rates: [-2.0], offset: 0.1}
  - {joint: cam, leaders: [crank], operations: [[input, 0], [sin, 0]]}
actuated: [crank]
"""
RECORD = LoopsRecord(
    (
        LoopRecord("rod_end", "slider", "revolute", 0.0, "hinge"),
        LoopRecord("elbow", "platform", "distance", 0.4),
    ),
    (
        CouplingRecord("wheel", ("crank",), (-2.0,), 0.1),
        CouplingRecord("cam", ("crank",), (), 0.0, (("input", (0.0,)), ("sin", (0.0,)))),
    ),
    ("crank",),
)


def test_our_form():
    assert from_text(OURS) == RECORD


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        LoopsRecord(),
        LoopsRecord((LoopRecord("a b", "c/d", "xy/z", 0.0, "1st: loop"),)),
        LoopsRecord((LoopRecord("null", "true", "distance", 0.1 + 0.2, "it's # one"),)),
        LoopsRecord((LoopRecord("yes", "1e5", "pose", 0.0, "\u00e9\\\"'"),), (), ("off", "-")),
        LoopsRecord((), (CouplingRecord("a", ("b",), (1e-5, -1e300, 5e-324, 0.1), 1e22),)),
    ],
)
def test_there_and_back(record):
    assert from_text(to_text(record)) == record


def test_pyyaml_reads_what_is_written():
    record = LoopsRecord((LoopRecord("no", "b", "distance", 1e-5),), (), ("on", "1:30"))
    found = yaml.safe_load(to_text(record))
    assert found["loops"] == [
        {"frame_a": "no", "frame_b": "b", "kind": "distance", "distance": 1e-5}
    ]
    assert found["version"] == 1 and found["actuated"] == ["on", "1:30"]


def test_entries_have_their_lines():
    record = from_text(OURS)
    assert [loop.line for loop in record.loops] == [4, 5]
    assert [each.line for each in record.couplings] == [10, 11] and record.actuated_line == 12


def test_a_name_that_cannot_be_written():
    with pytest.raises(DescriptionError, match="cannot be written"):
        to_text(LoopsRecord((LoopRecord("a\nb", "c"),)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "must be a mapping"),
        ("version: 2", "version must be 1, not 2"),
        ("loops: []", "version must be 1, not None"),
        ("version: 1\nloop: []", "'loop' is none of them"),
        ("version: 1\nloops: {}", "loops must be a list"),
        ("version: 1\nloops: [x]", "loops must be mappings"),
        ("version: 1\nloops: [{frame_a: x}]", "frame_b of a loop must be a text"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, distance: far}]", "must be a number"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, length: 1}]", "'length' is none of them"),
        ("version: 1\ncouplings: [{joint: x, leaders: [y]}]", "either rates or operations"),
        ("version: 1\nloops: [{frame_a: x, frame_b: y, distance: .nan}]", "a finite number"),
        (
            "version: 1\ncouplings: [{joint: x, leaders: [y], offset: 1, operations: []}]",
            "an offset, which belongs to rates",
        ),
        ("version: 1\nactuated: crank", "actuated must be a list"),
    ],
)
def test_what_is_wrong_is_said(text, why):
    with pytest.raises(DescriptionError, match=why):
        from_text(text, "some.loops.yaml")


def test_which_file_is_beside(tmp_path):
    description = tmp_path / "robot.urdf"
    assert beside(description) is None
    other = tmp_path / "robot.yaml"
    other.write_text("controllers: []\n")
    assert beside(description) is None  # about other things
    other.write_text("arm:\n  closed_loop: true\n  # closed_loop: []\n")
    assert beside(description) is None
    other.write_text("closed_loop: []\n")
    assert beside(description) == other
    assert beside(tmp_path / "arm.urdf") is None  # another description of the folder
    own = tmp_path / "robot.loops.yaml"
    own.write_text("version: 1\n")
    assert beside(description) == own and read(own) == LoopsRecord(file=str(own))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingFileError, match="there is no such file"):
        read(tmp_path / "nothing.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    for endless in (Path("/dev/zero"), tmp_path / "pipe.yaml", tmp_path):
        with pytest.raises(DescriptionError, match="not a file"):
            read(endless)
    odd = tmp_path / "odd.yaml"
    odd.write_bytes(b"\xff\xfe")
    with pytest.raises(DescriptionError, match="cannot be read"):
        read(odd)


# ---- the form of the collection

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


# ---- Joints that a file beside the URDF says are others: how they move, and what they close. The
# linkage has a crank and a rocker on skew axes and a rod with a ball at either end, as legs have.


def joint(name, parent, child, xyz, axis="0 0 1", rpy="0 0 0"):
    return (
        f'<link name="{child}"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>\n'
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>\n'
    )


LINKAGE = (
    '<robot name="leg">\n<link name="base"/>\n'
    + joint("crank", "base", "arm", "0 0 0")
    + joint("ball_1", "arm", "rod", "0.1 0 0", rpy="0.3 -0.2 0.1")
    + joint("tip", "rod", "rod_end", "0.3 0.1 0.05")
    + joint("rocker", "base", "lever", "0.3 0.2 0", axis="0 1 1")
    + joint("ball_2", "lever", "socket", "0.07 -0.09 0.135")
    + "</robot>\n"
)
BALLS = "joint_name: [ball_1, ball_2, tip]\njoint_type: [{}, SPHERICAL, FIXED]\n"
LOOP = "closed_loop: [[rod_end, ball_2]]\ntype: [6d]\nname_mot: [crank]\n"


def document():
    return lw.urdf.read(LINKAGE)


def written(tmp_path, text):
    (tmp_path / "robot.urdf").write_text(LINKAGE)
    (tmp_path / "robot.yaml").write_text(text)
    return tmp_path / "robot.urdf"


def test_nothing_is_changed_without_them():
    given, record = document(), LoopsRecord((LoopRecord("rod_end", "ball_2"),))
    assert with_joints(given, record) == (given, record)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("axes", "letters"), [("xy", "CARDAN"), ("zy", "UJOINT_ZY")])
def test_a_joint_moves_as_its_hinges_about_its_own_axes(axes, letters, tmp_path):
    text = f"closed_loop: []\njoint_name: [ball_1]\njoint_type: [{letters}]\n"
    robot, plain = lw.load(written(tmp_path, text)), lw.load(LINKAGE, loops=False)
    names = [f"ball_1_{axis}" for axis in axes]
    assert [n for n in robot.joint_names if n.startswith("ball_1")] == names
    assert np.isinf(robot.limits.lower[[robot.joint_names.index(n) for n in names]]).all()
    angles = rng("hinges").uniform(-2, 2, len(axes))
    q = robot.configuration({"crank": 0.4, **dict(zip(names, angles, strict=True))})
    poses = model_poses(robot.mechanism, q)
    still = model_poses(plain.mechanism, plain.configuration({"crank": 0.4}))
    expected = still["rod"]
    for axis, angle in zip(axes, angles, strict=True):
        turn = np.zeros(3)
        turn["xyz".index(axis)] = angle
        expected = expected @ lw.pose([0, 0, 0], rpy=turn)
    np.testing.assert_allclose(poses["rod"], expected, atol=1e-14)
    assert robot.mechanism.mass.sum() == plain.mechanism.mass.sum()
    np.testing.assert_allclose(robot.fk(q, names[-1]), expected, atol=1e-14)


def test_a_ball_is_a_spherical_joint(tmp_path):
    text = "closed_loop: []\njoint_name: [ball_1]\njoint_type: [SPHERICAL]\n"
    robot, plain = lw.load(written(tmp_path, text)), lw.load(LINKAGE, loops=False)
    assert robot.joint_names == plain.joint_names
    assert robot.mechanism.joint_types[robot.joint_names.index("ball_1")] is lw.JointType.SPHERICAL
    wxyz = rng("ball").normal(size=4)
    wxyz /= np.linalg.norm(wxyz)
    q = robot.configuration({"crank": 0.4, "ball_1": wxyz})
    still = model_poses(plain.mechanism, plain.configuration({"crank": 0.4}))
    expected = still["rod"] @ lw.pose([0, 0, 0], wxyz=wxyz)
    np.testing.assert_allclose(model_poses(robot.mechanism, q)["rod"], expected, atol=1e-14)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("first", "freedoms"), [("SPHERICAL", 2), ("CARDAN", 1)])
def test_a_leg_with_balls_loads_and_assembles(first, freedoms, tmp_path):
    robot = lw.load(written(tmp_path, LOOP + BALLS.format(first)))
    assert robot.loops[0].frame_b == "ball_2" and robot.actuated == ("crank",)
    assert robot.mobility().degrees_of_freedom == freedoms  # a rod with two balls spins by itself
    found = robot.assemble({"crank": 0.2})
    assert found.success and np.abs(robot.closure(found.q)).max() < 1e-12
    notes = {(f.name, f.message) for f in robot.findings if f.code == "other-joint"}
    assert notes >= {("tip", "it is fixed"), ("ball_2", "it is a spherical joint")}


def test_it_is_saved_as_it_was_understood(tmp_path):
    robot = lw.load(written(tmp_path, LOOP + BALLS.format("CARDAN")))
    saved = save(robot, tmp_path / "other" / ".." / "mine.urdf")
    assert saved.loops == tmp_path / "mine.loops.yaml"
    again = lw.load(tmp_path / "mine.urdf")
    assert again.mechanism.loops == robot.loops and again.actuated == robot.actuated
    q = rng("saved").normal(size=robot.n_q)
    assert again.joint_names == robot.joint_names
    np.testing.assert_array_equal(again.closure(q), robot.closure(q))


def test_names_that_are_taken_are_left_alone():
    taken = LINKAGE.replace('"tip"', '"ball_1_x"').replace('"rod_end"', '"ball_1_x_link"')
    record = LoopsRecord(joints=(JointRecord("ball_1", "xy"),))
    made, _ = with_joints(lw.urdf.read(taken), record)
    names = [j.name for j in made.robot.joints]
    assert names == ["crank", "ball_1_x_", "ball_1_y", "ball_1_x", "rocker", "ball_2"]
    assert "ball_1_x_link_" in [link.name for link in made.robot.links]


def test_joints_that_do_not_exist_are_all_named():
    record = LoopsRecord(joints=(JointRecord("bal", "xyz", 4), JointRecord("x", "")), file="r.yaml")
    with pytest.raises(DescriptionError, match=r"r.yaml:4.*no joint named 'bal'.*ball_1") as caught:
        with_joints(document(), record)
    assert len(caught.value.problems) == 2


def test_joints_of_an_mjcf_are_not_replaced(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    (tmp_path / "robot.xml").write_text("<mujoco><worldbody/></mujoco>")
    (tmp_path / "robot.yaml").write_text(LOOP + BALLS.format("CARDAN"))
    with pytest.raises(lw.UnsupportedFeatureError, match="joints of a URDF"):
        lw.load(tmp_path / "robot.xml")
