"""Another root is the same mechanism: the same poses, positions, limits, couplings and masses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf.edit import reroot
from linkwork.formats.urdf.edit.records import link_names, path_to, root_of
from linkwork.formats.urdf.edit.reroot import HERE, Origin, inverse, negated, relative
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, Joint, Robot
from linkwork.formats.urdf.write import to_text
from linkwork.mechanism.from_urdf import from_urdf
from robots import (
    ALL_TYPES,
    SINGLE_TYPES,
    by_name,
    chain_urdf,
    description_poses,
    every_joint_urdf,
    from_names,
    origin,
    random_configuration,
    random_tree,
    total_inertia,
)
from robots import origin as matrix
from seeds import rng
from urdf_strategies import robots

REVERSIBLE = ("fixed", *SINGLE_TYPES)


def positions_of(document: Document, random: np.random.Generator) -> dict[str, np.ndarray]:
    m = from_urdf(document)
    return by_name(m, random_configuration(random, m))


def reachable(document: Document) -> list[str]:
    """The links that can be the root."""
    robot = document.robot
    return [
        name
        for name in link_names(robot)
        if all(joint.type in REVERSIBLE for joint in path_to(robot, name))
    ]


def assert_same_poses(old: Document, new: Document, positions: dict[str, np.ndarray]) -> None:
    """Every link of the old one has its pose relative to every other in the new one."""
    before, after = description_poses(old, positions), description_poses(new, positions)
    root = root_of(new.robot)
    T = np.linalg.inv(before[root])
    scale = 1 + max(np.abs(pose).max() for pose in before.values())
    for name, pose in before.items():
        np.testing.assert_allclose(after[name], T @ pose, atol=1e-14 * scale * len(before))


def test_frames_stay_for_all_positions_of_random_trees():
    random = rng("reroot")
    added = 0
    for _ in range(15):
        document = read(random_tree(random, 10, (*ALL_TYPES, *REVERSIBLE), mimic=0.4))
        positions = positions_of(document, random)
        new = document
        for link in random.choice(reachable(document), 3):
            new = reroot(document, link)
            assert root_of(new.robot) == link
            assert_same_poses(document, new, positions)
            added += len(new.robot.links) - len(document.robot.links)
            # and once more, from there to a third one
            other = random.choice([n for n in reachable(new) if n in link_names(document.robot)])
            assert_same_poses(document, reroot(new, other), positions)
    assert added > 8


@pytest.mark.slow
def test_every_link_of_a_robot_with_every_joint_by_the_librarys_own_kinematics():
    document = read(every_joint_urdf())
    random = rng("reroot every joint")
    robot = lw.Robot(from_urdf(document))
    q = np.array([random_configuration(random, robot.mechanism) for _ in range(20)])
    frames = list(robot.mechanism.frame_names)
    poses = robot.fk_all(q)
    for link in ("camera", "wheel"):
        new = lw.Robot(from_urdf(reroot(document, link)))
        assert set(new.mechanism.joint_names) == set(robot.mechanism.joint_names)
        q_new = np.array([from_names(new.mechanism, by_name(robot.mechanism, row)) for row in q])
        new_poses, new_frames = new.fk_all(q_new), list(new.mechanism.frame_names)
        for name in link_names(document.robot):
            T = np.linalg.solve(poses[:, frames.index(link)], poses[:, frames.index(name)])
            np.testing.assert_allclose(new_poses[:, new_frames.index(name)], T, atol=1e-13)


def test_moved_frames_hold_the_same_bodies():
    random = rng("reroot and move")
    moved = 0
    for _ in range(20):
        document = read(random_tree(random, 10, REVERSIBLE, mimic=0.4))
        link = random.choice(link_names(document.robot))
        new = reroot(document, link, frames="move")
        assert root_of(new.robot) == link
        assert sorted(link_names(new.robot)) == sorted(link_names(document.robot))
        positions = positions_of(document, random)
        T = np.linalg.inv(description_poses(document, positions)[link])
        assert_same_bodies(document, new, positions, T)
        moved += sum(a != b for a, b in zip(document.robot.links, new.robot.links, strict=True))
    assert moved > 10


def assert_same_bodies(
    old: Document, new: Document, positions: dict[str, np.ndarray], T: np.ndarray
) -> None:
    m, n = from_urdf(old), from_urdf(new)
    mass, com, inertia = total_inertia(m, from_names(m, positions))
    com, inertia = T[:3, :3] @ com + T[:3, 3], T[:3, :3] @ inertia @ T[:3, :3].T
    new_mass, new_com, new_inertia = total_inertia(n, from_names(n, positions))
    scale = 1 + max(np.abs(pose).max() for pose in description_poses(old, positions).values())
    assert new_mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(new_com, com, atol=1e-12 * scale)
    np.testing.assert_allclose(new_inertia, inertia, atol=1e-12 * scale**2 * (1 + mass))


BODY = """<link name="{name}"><inertial><origin xyz="0.1 0 0.2" rpy="0.1 {pitch} 0.3"/>
  <mass value="2"/><inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
  <visual><origin xyz="0 0.1 0" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>
  <collision><geometry><sphere radius="1"/></geometry></collision></link>"""


@pytest.mark.parametrize("away", [0.0, 1e-15, 1e-9, 1e-8, 1e-6])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("frames", ["keep", "move"])
def test_every_content_stands_where_it_stood_near_gimbal_lock(
    away: float, side: float, frames: str
):
    pitch = repr(side * (math.pi / 2 - away))
    bodies = "".join(BODY.format(name=name, pitch=pitch) for name in "abc")
    document = read(
        f"""<robot name="r">{bodies}
        <joint name="one" type="continuous"><parent link="a"/><child link="b"/>
          <origin xyz="0.1 0.2 0.3" rpy="0.4 {pitch} -0.7"/><axis xyz="0.6 0 0.8"/></joint>
        <joint name="two" type="continuous"><parent link="b"/><child link="c"/>
          <origin xyz="-0.1 0.2 0" rpy="0 {pitch} 0"/><axis xyz="1 0 0"/></joint></robot>"""
    )
    positions = {"one": np.array([0.7]), "two": np.array([-1.9])}
    new = reroot(document, "c", frames)
    before, after = contents(document, positions), contents(new, positions)
    assert before.keys() == after.keys()
    T = np.linalg.inv(description_poses(document, positions)["c"])
    for key, pose in before.items():
        np.testing.assert_allclose(after[key], T @ pose, atol=1e-14)


def contents(document: Document, positions: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Where each inertial and shape is in the root."""
    poses = description_poses(document, positions)
    return {
        f"{link.name} {k}": poses[link.name] @ origin(part.xyz, part.rpy)
        for link in document.robot.links
        for k, part in enumerate((link.inertial, *link.visuals, *link.collisions))
        if part is not None
    }


def test_what_belongs_to_a_joint_stays_with_it():
    document = read(every_joint_urdf())
    for frames in ("keep", "move"):
        new = {joint.name: joint for joint in reroot(document, "finger_c", frames).robot.joints}
        for joint in document.robot.joints:
            other = new[joint.name]
            for field in ("type", "limit", "dynamics", "mimic", "safety", "calibration", "extra"):
                assert getattr(other, field) == getattr(joint, field)
        reversed_ = {j.name for j in document.robot.joints if new[j.name].parent != j.parent}
        assert reversed_ == {"shoulder", "elbow", "flange", "slide", "wrist", "grip_c"}


def test_links_and_joints_stay_in_order_and_new_ones_stand_behind_theirs():
    document = read(every_joint_urdf())
    new = reroot(document, "camera").robot
    names = link_names(new)
    assert names[:2] == ["base", "shoulder_frame"]
    assert [n for n in names if n != "shoulder_frame"] == link_names(document.robot)
    joints = [joint.name for joint in new.joints]
    assert joints[1:3] == ["shoulder", "shoulder_frame_fixed"]
    assert [n for n in joints if n != "shoulder_frame_fixed"] == [
        joint.name for joint in document.robot.joints
    ]


def test_names_of_new_links_are_free():
    text = chain_urdf(1).replace('"link0"', '"joint1_frame"')
    new = reroot(read(text), "link1").robot
    assert link_names(new) == ["joint1_frame", "joint1_frame_2", "link1"]


def joint_text(kind: str, xyz: str, rpy: str, axis: str) -> Document:
    limit = '<limit lower="-1" upper="2" effort="1" velocity="1"/>'
    return read(
        f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">'
        f'<parent link="a"/><child link="b"/><origin xyz="{xyz}" rpy="{rpy}"/>'
        f'<axis xyz="{axis}"/>{limit if kind != "continuous" else ""}</joint></robot>'
    )


def test_no_link_is_added_where_the_axis_goes_through_the_parent():
    for kind, xyz, rpy, axis in [
        ("revolute", "0 0 0", "0.1 0.2 0.3", "1 2 3"),
        ("revolute", "0 0 0.333", "0 0 0", "0 0 1"),
        ("continuous", "0 0 -7", "0 0 0.4", "0 0 -3"),
        ("revolute", "0 0.5 0", f"{-math.pi / 2!r} 0 0", "0 0 1"),  # to the last digits
        ("revolute", "1e-200 0 0", "0 0 0", "1e-50 0 0"),
        ("prismatic", "1 2 3", "0.1 0.2 0.3", "1 2 3"),
    ]:
        for frames in ("keep", "move"):
            document = joint_text(kind, xyz, rpy, axis)
            new = reroot(document, "b", frames)
            assert link_names(new.robot) == ["a", "b"]
            assert_same_poses(document, new, {"j": np.array([0.8])})
    for xyz, axis in [("0 0.1 0.333", "0 0 1"), ("1e-9 0 0.333", "0 0 1"), ("1 0 0", "0 1e-9 1")]:
        assert len(reroot(joint_text("revolute", xyz, "0 0 0", axis), "b").robot.links) == 3


def test_exact_where_nothing_needs_rounding():
    for kind, xyz, axis in [
        ("prismatic", "0.1 0.2 0.7", "0.3 0 -0.1"),
        ("revolute", "0 0 0.7", "0 0 0.1"),
        ("fixed", "0.1 0.2 0.7", "1 0 0"),
    ]:
        document = joint_text(kind, xyz, "0 0 0", axis)
        (old,) = document.robot.joints
        (new,) = reroot(document, "b").robot.joints
        assert new.xyz == tuple(-x for x in old.xyz)
        assert new.rpy == old.rpy
        if kind != "fixed":
            assert new.axis == tuple(-x for x in old.axis)
        assert reroot(reroot(document, "b"), "a").robot == document.robot
    document = read(chain_urdf(3))
    moved = reroot(document, "link3", "move").robot
    assert [joint.xyz for joint in moved.joints] == [(-0.1, 0, 0), (-0.1, 0, 0), (0, 0, 0)]
    assert {joint.axis for joint in moved.joints} == {(0.0, 0.0, -1.0)}


@pytest.mark.parametrize("kind", ["planar", "floating", "spherical"])
def test_joints_of_several_positions_on_the_way_are_refused(kind: str):
    document = joint_text(kind, "0 0 0", "0 0 0", "0 0 1")
    for frames in ("keep", "move"):
        with pytest.raises(InputError, match=f"joint 'j' is {kind}"):
            reroot(document, "b", frames)
    assert reroot(document, "a").robot == document.robot


def test_the_same_root_is_the_same_robot(cell: Document):
    for frames in ("keep", "move"):
        new = reroot(cell, "base", frames)
        assert new.robot == cell.robot
    with pytest.raises(UnknownNameError, match="nearest: hand"):
        reroot(cell, "hond")
    with pytest.raises(InputError, match="'keep' or 'move'"):
        reroot(cell, "hand", "stay")


def test_unknown_elements_of_a_moved_frame_are_findings(cell: Document):
    robot = replace(
        cell.robot,
        joints=(
            cell.robot.joints[0],
            replace(
                cell.robot.joints[1], type="continuous", xyz=(1.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)
            ),
            *cell.robot.joints[2:],
        ),
    )
    document = replace(cell, robot=robot)
    moved = [p for p in reroot(document, "hand", "move").problems if p.code == "frame-moved"]
    assert [(p.element, "'arm'" in p.message) for p in moved] == [("gazebo", True)]
    assert not [p for p in reroot(document, "hand").problems if p.code == "frame-moved"]


@pytest.mark.slow
def test_long_chains():
    document = read(chain_urdf(10_000))
    kept, moved = reroot(document, "link10000"), reroot(document, "link10000", "move")
    assert len(kept.robot.links) == 20_001
    assert len(moved.robot.links) == 10_001


def test_a_fixed_joint_does_not_lose_its_axis():
    joint = Joint("j", "fixed", "a", "b", axis=(0.0, 0.0, 0.0))
    document = joint_text("fixed", "0 0 1", "0 0 0", "0 0 1")
    document = replace(document, robot=replace(document.robot, joints=(joint,)))
    assert reroot(document, "b").robot.joints[0].axis == (0.0, 0.0, 0.0)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(robots(), st.data(), st.sampled_from(["keep", "move"]))
def test_any_robot_has_another_root_or_a_reason(robot: Robot, data: st.DataObject, frames: str):
    document = read(to_text(robot))
    robot = document.robot
    link = data.draw(st.sampled_from(robot.links)).name
    try:
        new = reroot(document, link, frames)
    except InputError as error:
        assert "reversed" in str(error)
        assert link not in reachable(document)
    except DescriptionError as error:  # what was nearly too large
        assert {problem.code for problem in error.problems} == {"too-large"}
    else:
        assert root_of(new.robot) == link
        assert read(to_text(new.robot)).robot == new.robot
        old = {joint.name: joint for joint in robot.joints}
        for joint in new.robot.joints:
            if joint.name in old:
                assert joint.limit == old[joint.name].limit
                assert joint.mimic == old[joint.name].mimic


# ---- Origins turned into others: exact where they can be, and as spatial's matrices elsewhere


def of(random: np.random.Generator, pitch: float | None = None) -> Origin:
    rpy = random.uniform(-math.pi, math.pi, 3)
    rpy[1] = random.uniform(-1.5, 1.5) if pitch is None else pitch
    return Origin(tuple(random.normal(size=3).tolist()), tuple(rpy.tolist()))


def pose(one: Origin) -> np.ndarray:
    return matrix(one.xyz, one.rpy)


# distances of the pitch from a right angle, on both sides of where roll and yaw meet
LADDER = [0.0, 1e-17, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3]


@pytest.mark.parametrize("away", LADDER)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_relative_is_the_product_near_gimbal_lock_too(away: float, side: float):
    random = rng("origins")
    for k in range(50):
        pitch = side * (math.pi / 2 - away)
        frame = of(random, None if k % 2 else pitch)
        # such that the relative one has this pitch
        wanted = of(random, pitch)
        T = pose(frame) @ pose(wanted)
        other = relative(inverse(frame), wanted)
        np.testing.assert_allclose(pose(other), T, atol=5e-15)
        back = relative(frame, other)
        np.testing.assert_allclose(pose(back), pose(wanted), atol=1e-14)
        assert abs(back.rpy[1]) <= math.pi / 2 + 1e-15


def test_no_negative_zeros():
    zeros = [*inverse(HERE).xyz, *inverse(HERE).rpy, *negated((0.0, 1.0, 0.0))]
    zeros += inverse(Origin((0.0, 1.0, 0.0), (0.0, 0.3, 0.0))).rpy
    assert all(math.copysign(1, x) == 1 for x in zeros if x == 0)
