"""Rigid poses: a rotation and the position of the origin.

``T_a_b = Pose(R_a_b, p_a_b)`` takes coordinates of b to coordinates of a. Positions in metres.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.ops.protocol import Block, Ops


class Pose(NamedTuple):
    """A pose T_a_b: the rotation ``R`` (3, 3) and the origin of b in a, ``p`` (3,)."""

    R: Block
    p: Block


def identity(o: Ops) -> Pose:
    """The pose that changes nothing; in a graph, and so in compiled code, it costs nothing."""
    return Pose(
        o.const([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), o.const([0.0, 0.0, 0.0])
    )


def compose(o: Ops, a: Pose, b: Pose) -> Pose:
    """T_a_c from T_a_b and T_b_c."""
    return Pose(a.R @ b.R, a.R @ b.p + a.p)


def inverse(o: Ops, a: Pose) -> Pose:
    """T_b_a from T_a_b."""
    R = o.transpose(a.R)
    return Pose(R, -(R @ a.p))


def act(o: Ops, a: Pose, point: Block) -> Block:
    """The point (3,) given in b, in coordinates of a."""
    return a.R @ point + a.p


def to_matrix(o: Ops, a: Pose) -> Block:
    """The homogeneous matrix (4, 4) with the last row 0 0 0 1."""
    zero, one = o.const([0.0]), o.const([1.0])
    columns = [o.concat([o.column(a.R, j), zero]) for j in range(3)]
    return o.matrix([*columns, o.concat([a.p, one])])


def from_matrix(o: Ops, T: Block) -> Pose:
    """The pose of a homogeneous matrix (4, 4); its last row is not looked at."""
    columns = [o.part(o.column(T, j), 0, 3) for j in range(4)]
    return Pose(o.matrix(columns[:3]), columns[3])
