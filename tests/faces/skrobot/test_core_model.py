"""The core's robot behind models of the scikit-robot face: made of what is there, kept as long."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.skrobot.coordinates import CascadedCoords, Coordinates
from linkwork.faces.skrobot.model import (
    FixedJoint,
    FloatingJoint,
    LinearJoint,
    Link,
    OmniWheelJoint,
    PlanarJoint,
    RobotModel,
    RotationalJoint,
)
from linkwork.faces.skrobot.model.core import CoreModel
from linkwork.faces.skrobot.model.joint import leaders_of
from robots import model_poses
from seeds import rng
from skrobot_robots import at_random, joined

KINDS: dict[str, Any] = {
    "turn": RotationalJoint,
    "slide": LinearJoint,
    "plane": PlanarJoint,
    "wheels": OmniWheelJoint,
    "free": FloatingJoint,
    "none": FixedJoint,
}


def mixed(draw: np.random.Generator) -> RobotModel:
    """A robot made in code with every kind of joint, frames between links, and a follower."""
    root = Link(name="root", mass=1.0, centroid=draw.normal(size=3), inertia_tensor=np.eye(3))
    links, joints = [root], []
    for name, kind in KINDS.items():
        above: Any = links[int(draw.integers(len(links)))]
        if draw.random() < 0.4:  # a frame between
            above = CascadedCoords(parent=above, pos=draw.normal(size=3)).rotate(draw.normal(), "y")
        link = Link(name=name, pos=draw.normal(size=3), rot=draw.normal(size=3), mass=2.0)
        above.assoc(link, relative_coords="local")
        parent = next(each for each in links if each is above or each is above.parent)
        joints.append(joined(kind, parent, link, f"{name}_joint", **at_random(kind, draw)))
        links.append(link)
    bare = Link(name="bare", pos=[0, 0, 1])  # a link that no joint carries
    links[2].assoc(bare, relative_coords="local")
    joints[0].register_mimic_joint(joints[1], -0.5, 0.2)
    return RobotModel([*links, bare], [joint for joint in joints if joint.joint_dof], root)


def check(robot: RobotModel, core: CoreModel) -> None:
    """Every link stands where the core says."""
    poses = model_poses(core.robot.mechanism, core.q())
    for link in robot.link_list:
        at = core.T_world_root() @ poses[core.link_name(link)]
        assert link.worldcoords().T() == pytest.approx(at, abs=1e-12), link.name


def moved(robot: RobotModel, draw: np.random.Generator) -> None:
    robot.angle_vector(draw.uniform(-1, 1, len(robot.angle_vector())))
    robot.newcoords(Coordinates(draw.normal(size=3), draw.normal(size=3)))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(20))
def test_links_stand_where_the_core_says(seed: int):
    draw = rng(f"mixed {seed}")
    robot = mixed(draw)
    for base in (None, "planar", "6dof"):
        core = CoreModel(robot, base)
        for _ in range(2):
            moved(robot, draw)
            check(robot, core)
            assert core.is_current()
        assert core.robot.mass == pytest.approx(1.0 + 2.0 * len(KINDS))
        q = core.q()
        core.set_q(q)
        assert core.q() == pytest.approx(q)


def test_columns_are_the_faces_angles_one_to_one():
    robot = mixed(rng("columns"))
    core = CoreModel(robot)
    own = [joint for joint in robot.joint_list if joint.name != "slide_joint"]
    assert core.joints == own
    assert core.robot.n_v == sum(joint.joint_dof for joint in own)
    for joint in own:
        q = 0.1 + 0.1 * np.arange(joint.joint_dof)
        joint.joint_angle(q if joint.joint_dof > 1 else q[0])
        assert core.q()[core.positions(joint)] == pytest.approx(q)
        rows = core.columns(joint)
        assert rows.stop - rows.start == joint.joint_dof
    turn, slide = robot.joints["turn_joint"], robot.joints["slide_joint"]
    assert core.columns(slide) == core.columns(turn)
    assert [way.rate for way in leaders_of(slide)] == [-0.5]
    assert core.columns(None) == core.positions(None) == slice(0, 0)
    with pytest.raises(UnknownNameError, match="strange"):
        core.columns(RotationalJoint(name="strange"))


@pytest.mark.parametrize("base", ["planar", "6dof"])
def test_a_base_moves_the_robot(base: Any):
    draw = rng(base)
    robot = mixed(draw)
    moved(robot, draw)
    core = CoreModel(robot, base)
    q = core.q()
    n = 3 if base == "planar" else 7
    assert core.positions(None) == slice(0, n)
    assert core.columns(None) == slice(0, min(n, 6))
    before = core.T_world_root()
    half = math.sin(0.2)
    q[:n] = [1, 2, 0.3] if n == 3 else [1, 2, 3, math.cos(0.2), half, 0, 0]
    q[n:] = draw.uniform(-0.5, 0.5, len(q) - n)
    expected = model_poses(core.robot.mechanism, q)
    core.set_q(q)
    for link in robot.link_list:
        at = before @ expected[core.link_name(link)]
        assert link.worldcoords().T() == pytest.approx(at, abs=1e-12), link.name
    assert core.q()[:3] == pytest.approx(np.zeros(3))
    assert robot.root_link.T() == pytest.approx(np.eye(4))


def test_a_core_is_current_until_the_robot_is_made_up_otherwise():
    draw = rng("current")
    robot = mixed(draw)
    turn, free = robot.joints["turn_joint"], robot.joints["free_joint"]
    link = robot.links["free"]
    changes = [
        lambda: link.newcoords(Coordinates([1, 2, 3])),
        lambda: link.translate([0.1, 0, 0]),
        lambda: robot.links["bare"].rotate(0.3, "x"),
        lambda: setattr(link, "mass", 5.0),
        lambda: link.centroid is None and setattr(link, "centroid", [1, 0, 0]),
        lambda: link.centroid.__setitem__(0, 2.0),
        lambda: setattr(link, "inertia_tensor", np.eye(3) * 3),
        lambda: setattr(turn, "max_angle", 0.5),
        lambda: setattr(turn, "max_joint_velocity", 0.5),
        lambda: free.min_angle.__setitem__(0, -3.0),
        lambda: setattr(turn, "axis", [0, 1, 1]),
        turn.flip_axis,
        lambda: turn.register_mimic_joint(robot.joints["slide_joint"], 2.0, 0.0),
        robot.joint_list.reverse,
        lambda: robot.root_link.assoc(link, force=True),
        lambda: robot.link_list.append(Link(name="more", parent=link)),
        lambda: setattr(link, "name", "other"),
    ]
    for k, change in enumerate(changes):
        core = CoreModel(robot)
        moved(robot, draw)
        assert core.is_current(), k
        change()
        assert not core.is_current(), k
        core = CoreModel(robot)
        moved(robot, draw)
        check(robot, core)
    frame = CascadedCoords(parent=link)
    core = CoreModel(robot)
    frame.translate([1, 0, 0])
    Link(name="elsewhere").translate([1, 0, 0])
    assert core.is_current()


def test_roots_of_several_parts():
    links = [Link(name=name) for name in "abc"]
    joint = RotationalJoint(parent_link=links[0], child_link=links[2], name="j")
    links[0].assoc(links[2])
    robot = RobotModel(links, [joint])
    assert links[2].joint is joint
    core = CoreModel(robot)
    check(robot, core)
    links[1].translate([1, 0, 0])
    assert not core.is_current()
    core = CoreModel(robot)
    check(robot, core)
    assert core.is_current()
    alone = RobotModel([links[0], links[2]], [joint])
    core = CoreModel(alone)
    links[0].translate([0, 1, 0])  # where the root is, the core need not know
    assert core.is_current()
    check(alone, core)


def test_frames_hang_on_links():
    robot = mixed(rng("frames"))
    moved(robot, rng("moved"))
    core = CoreModel(robot)
    link = robot.links["free"]
    deep = CascadedCoords(
        parent=CascadedCoords(parent=link, pos=[1, 2, 3]).rotate(0.4, "x"), pos=[0, 1, 0]
    )
    name, T = core.frame(deep)
    assert name == "free"
    assert link.worldcoords().T() @ T == pytest.approx(deep.worldcoords().T())
    assert core.frame(link)[1] == pytest.approx(np.eye(4))
    for apart in (CascadedCoords(), robot, Coordinates()):
        with pytest.raises(InputError, match="does not hang"):
            core.frame(apart)
    with pytest.raises(UnknownNameError, match="link"):
        core.link_name(Link(name="apart"))


ARM = """<robot name="two"><link name="base"/><link name="torso"/>
<link name="r1"/><link name="r2"/><link name="l1"/><link name="l2"/><link name="f"/>
<joint name="lift" type="prismatic"><parent link="base"/><child link="torso"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" velocity="1" effort="1"/></joint>
<joint name="jr1" type="continuous"><parent link="torso"/><child link="r1"/>
<origin xyz="0 1 0"/></joint>
<joint name="jr2" type="continuous"><parent link="r1"/><child link="r2"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/></joint>
<joint name="jl1" type="continuous"><parent link="torso"/><child link="l1"/>
<origin xyz="0 -1 0"/></joint>
<joint name="jl2" type="continuous"><parent link="l1"/><child link="l2"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/></joint>
<joint name="jf" type="continuous"><parent link="r2"/><child link="f"/><mimic joint="lift"/></joint>
</robot>"""


def part(robot: RobotModel, *names: str) -> RobotModel:
    links = [robot.links[name] for name in names]
    return RobotModel(links, [link.joint for link in links if link.joint is not None])


def test_the_core_of_a_limb_stands_on_what_is_above_it():
    robot = RobotModel.from_urdf(ARM)
    limb = part(robot, "r1", "r2")
    core = CoreModel(limb)
    assert core.robot.joint_names == ("jr1", "jr2")
    robot.angle_vector([0.4, 0.3, 0.2, 0, 0, 0])
    robot.translate([1, 2, 3])
    assert core.is_current()
    assert core.T_world_root() == pytest.approx(robot.torso.worldcoords().T())
    check(limb, core)
    tip = CascadedCoords(parent=robot.f, pos=[0.1, 0, 0])
    name, T = core.frame(tip)  # a link beyond the limb, as it is now
    assert name == "r2"
    assert robot.r2.worldcoords().T() @ T == pytest.approx(tip.worldcoords().T())
    assert core.frame(robot.torso) == (core.root_name, pytest.approx(np.eye(4)))


def test_parts_of_several_branches():
    robot = RobotModel.from_urdf(ARM)
    robot.angle_vector([0.4, 0.3, 0.2, -0.3, 0.7, 0])
    both = part(robot, "r2", "l2")  # what lies between is of the core as well
    core = CoreModel(both)
    check(both, core)
    assert set(core.robot.joint_names) == {"jr1", "jr2", "jl1", "jl2"}
    gap = part(robot, "torso", "r2")
    core = CoreModel(gap)
    check(gap, core)
    assert set(core.robot.joint_names) == {"lift", "jr1", "jr2"}
    finger = part(robot, "f")  # its leader is elsewhere
    core = CoreModel(finger)
    assert core.robot.joint_names == ("lift",)
    check(finger, core)
    assert CoreModel(RobotModel()).robot.n_q == 0


def test_links_of_the_same_name_and_without_one():
    a, b, c = Link(name="x"), Link(name="x"), Link()
    a.assoc(b)
    b.assoc(c)
    joints = [RotationalJoint(parent_link=p, child_link=k, name="x") for p, k in ((a, b), (b, c))]
    robot = RobotModel([a, b, c], joints, a)
    robot.angle_vector([0.3, 0.4])
    core = CoreModel(robot)
    check(robot, core)
    assert core.robot.n_q == 2


def test_what_a_core_refuses():
    robot = RobotModel.from_urdf(ARM)
    with pytest.raises(InputError, match="base"):
        CoreModel(robot, "floating")  # pyright: ignore[reportArgumentType]
    core = CoreModel(robot)
    before = robot.angle_vector()
    with pytest.raises(ShapeError):
        core.set_q([1.0])
    with pytest.raises(InputError, match="finite"):
        core.set_q([math.nan] * core.robot.n_q)
    assert (robot.angle_vector() == before).all()
    apart = RobotModel([Link(name="a"), Link(name="b")], [])
    with pytest.raises(InputError, match="no common frame"):
        CoreModel(apart, "planar").set_q(np.zeros(3))
