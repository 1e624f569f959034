"""Poses to and from the numbers that people write; rotations as nine numbers, row by row."""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import rotations, se3, so3
from linkwork.spatial.poses import Pose, compose, from_matrix, inverse, to_matrix


def matrix_from_rpy(o: Ops, xyz: Block, rpy: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by roll, pitch, yaw (3,) about x, y, z (URDF)."""
    return to_matrix(o, Pose(rotations.from_rpy(o, rpy), xyz))


def matrix_from_quaternion(o: Ops, xyz: Block, wxyz: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by a quaternion (4,) of any length but zero."""
    return to_matrix(o, Pose(rotations.from_quaternion(o, wxyz), xyz))


def rpy_from_rows(o: Ops, rows: Block) -> Block:
    """Roll, pitch, yaw (3,) of a rotation's nine numbers."""
    return rotations.to_rpy(o, _matrix(o, rows))


def quaternion_from_rows(o: Ops, rows: Block) -> Block:
    """The unit quaternion (4,), w not negative, of a rotation's nine numbers."""
    return rotations.to_quaternion(o, _matrix(o, rows))


def _matrix(o: Ops, rows: Block) -> Block:
    return o.transpose(o.matrix([o.part(rows, 3 * i, 3 * i + 3) for i in range(3)]))


def matrix_from_rows(o: Ops, xyz: Block, rows: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by a rotation's nine numbers."""
    return to_matrix(o, Pose(_matrix(o, rows), xyz))


def composed(o: Ops, first: Block, second: Block) -> Block:
    """The product (4, 4) of two poses of sixteen numbers."""
    return to_matrix(o, compose(o, _pose(o, first), _pose(o, second)))


def inverted(o: Ops, rows: Block) -> Block:
    """The inverse (4, 4) of a pose of sixteen numbers."""
    return to_matrix(o, inverse(o, _pose(o, rows)))


def on_screw(o: Ops, first: Block, second: Block, s: Block) -> Block:
    """The pose (4, 4) at s (1,) of the screw motion from one pose to another."""
    start = _pose(o, first)
    twist = se3.log(o, compose(o, inverse(o, start), _pose(o, second)))
    return to_matrix(o, compose(o, start, se3.exp(o, s[0] * twist)))


def on_line(o: Ops, first: Block, second: Block, s: Block) -> Block:
    """The pose (4, 4) at s (1,): the origin on a line, the rotation at a constant rate."""
    start, end = _pose(o, first), _pose(o, second)
    turn = so3.exp(o, s[0] * so3.log(o, o.transpose(start.R) @ end.R))
    return to_matrix(o, Pose(start.R @ turn, start.p + s[0] * (end.p - start.p)))


def _pose(o: Ops, rows: Block) -> Pose:
    """The pose of sixteen numbers, row by row; the last row is not looked at."""
    return from_matrix(o, o.transpose(o.matrix([o.part(rows, 4 * i, 4 * i + 4) for i in range(4)])))
