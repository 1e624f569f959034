from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.description import (
    from_quaternion,
    onto_z,
    pose,
    poses,
    read,
    rotation,
    with_zeros,
)

from seeds import rng

# the child of "b" stands before its parent's joint, and a branch leaves at "a"
URDF = """<robot name="r">
  <link name="tool"/><link name="tip"/>
  <link name="a"/><link name="base"/><link name="b"/><link name="side"/>
  <joint name="end" type="fixed"><parent link="b"/><child link="tip"/>
    <origin xyz="0 0 3" rpy="0 0 1"/></joint>
  <joint name="last" type="fixed"><parent link="tip"/><child link="tool"/>
    <origin xyz="1 0 0"/></joint>
  <joint name="elbow" type="prismatic"><parent link="a"/><child link="b"/>
    <origin xyz="0 2 0"/><axis xyz="0 0 -4"/></joint>
  <joint name="spare" type="revolute"><parent link="a"/><child link="side"/></joint>
  <joint name="root" type="continuous"><parent link="base"/><child link="a"/></joint>
</robot>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "r.urdf"
    file.write_text(URDF)
    return file


def test_orders_of_joints_differ_and_each_is_told_by_name(path: Path) -> None:
    description = read(path)
    assert description.root == "base"
    assert description.moving == ["elbow", "spare", "root"]  # the file's
    assert [j.name for j in description.moving_in_order()] == ["root", "elbow", "spare"]
    assert description.breadth_first() == ["root", "elbow", "spare"]
    assert [j.name for j in description.chain("tip")] == ["root", "elbow", "end"]
    assert description.chain_first("tip") == (["root", "elbow", "spare"], 2)
    assert description.chain_first("side") == (["root", "spare", "elbow"], 2)


def test_a_link_lies_on_the_moving_joint_above_it(path: Path) -> None:
    description = read(path)
    place = description.place("tip")
    assert place.joint == "elbow"
    assert np.allclose(place.T[:3, 3], [0, 0, 3])
    assert np.allclose(place.T[:3, :3], rotation(np.array([0.0, 0.0, 1.0])))
    turned = [np.cos(1.0), np.sin(1.0), 3]  # the second offset lies in the first one's axes
    assert np.allclose(description.place("tool").T[:3, 3], turned)
    assert description.place("base").joint is None
    assert np.array_equal(description.place("a").T, np.eye(4))
    with pytest.raises(ValueError, match="no link 'nobody'; there are: tool"):
        description.chain("nobody")


def test_axes_are_made_unit_and_default_to_x(path: Path) -> None:
    joints = {joint.name: joint for joint in read(path).joints}
    assert np.array_equal(joints["elbow"].axis, [0, 0, -1])
    assert np.array_equal(joints["spare"].axis, [1, 0, 0])


def test_roll_pitch_yaw_turn_about_fixed_axes() -> None:
    assert np.allclose(rotation(np.array([np.pi / 2, 0, 0])) @ [0, 1, 0], [0, 0, 1])
    assert np.allclose(rotation(np.array([0, np.pi / 2, 0])) @ [0, 0, 1], [1, 0, 0])
    # roll first, then yaw: y goes up to z and stays there
    assert np.allclose(rotation(np.array([np.pi / 2, 0, np.pi / 2])) @ [0, 1, 0], [0, 0, 1])


def test_onto_z_is_a_rotation_whose_z_is_the_axis() -> None:
    for axis in [*np.eye(3), *-np.eye(3), *rng("axes").normal(size=(20, 3))]:
        unit = axis / np.linalg.norm(axis)
        R = onto_z(unit)
        assert np.allclose(R[:, 2], unit) and np.allclose(R.T @ R, np.eye(3))
        assert np.linalg.det(R) == pytest.approx(1.0)


def test_quaternions_have_the_vector_part_first() -> None:
    half = np.sqrt(0.5)
    assert np.allclose(from_quaternion((0, 0, half, half)) @ [1, 0, 0], [0, 1, 0])
    assert np.allclose(from_quaternion((0, 0, 0, 1)), np.eye(3))
    # about a common axis, half the angle: against the rotation about x, then y, then z
    for k, turn in enumerate(np.eye(3)):
        xyzw = np.zeros(4)
        xyzw[k], xyzw[3] = np.sin(0.35), np.cos(0.35)
        assert np.allclose(from_quaternion(xyzw), rotation(0.7 * turn))


def test_poses_are_put_together_row_by_row() -> None:
    R, p = np.arange(9.0), np.array([1.0, 2.0, 3.0])
    T = pose(p, R)
    assert T[0].tolist() == [0, 1, 2, 1] and T[2, 3] == 3 and T[3].tolist() == [0, 0, 0, 1]
    assert np.array_equal(poses(p[None], R[None])[0], T)


def test_joints_off_the_chain_have_zero_columns() -> None:
    J = with_zeros(np.ones((6, 2)), 4)
    assert J[:, :2].all() and not J[:, 2:].any() and J.shape == (6, 4)
