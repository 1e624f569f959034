"""Poses to and from the numbers that people write; rotations as nine numbers, row by row."""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import rotations
from linkwork.spatial.poses import Pose, to_matrix


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
