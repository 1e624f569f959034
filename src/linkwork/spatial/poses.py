"""Rigid poses, and twists and wrenches seen from them.

``T_a_b = Pose(R_a_b, p_a_b)`` takes coordinates of b to coordinates of a. Positions in metres.

Twists and wrenches (6,) have the linear part first, (v, w) and (f, n), in SI units. A twist in a
frame is the velocity of the body's point at the frame's origin and the angular velocity, in the
frame's axes; a wrench is the force and the moment about the frame's origin. Their `dot` is a power,
the same in every frame.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 2, with the order of the two
parts exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.ops.protocol import Block, Ops

_IDENTITY = np.eye(4)


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


def pose_matrix(R: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """The matrix (4, 4) of a rotation (3, 3) and an origin (3,), of NumPy."""
    T = _IDENTITY.copy()
    T[:3, :3], T[:3, 3] = R, p
    return T


def from_matrix(o: Ops, T: Block) -> Pose:
    """The pose of a homogeneous matrix (4, 4); its last row is not looked at."""
    columns = [o.part(o.column(T, j), 0, 3) for j in range(4)]
    return Pose(o.matrix(columns[:3]), columns[3])


def transform_twist(o: Ops, pose: Pose, twist: Block) -> Block:
    """A twist in b as one in a, with the pose T_a_b: w' = R w, v' = R v + p x w'."""
    w = pose.R @ o.part(twist, 3, 6)
    return o.concat([pose.R @ o.part(twist, 0, 3) + o.cross(pose.p, w), w])


def transform_wrench(o: Ops, pose: Pose, wrench: Block) -> Block:
    """A wrench in b as one in a, with the pose T_a_b: f' = R f, n' = R n + p x f'."""
    f = pose.R @ o.part(wrench, 0, 3)
    return o.concat([f, pose.R @ o.part(wrench, 3, 6) + o.cross(pose.p, f)])


def cross_motion(o: Ops, twist: Block, motion: Block) -> Block:
    """The rate of a motion vector (6,) fixed to a body: (w x m_v + v x m_w, w x m_w)."""
    v, w = o.part(twist, 0, 3), o.part(twist, 3, 6)
    m_v, m_w = o.part(motion, 0, 3), o.part(motion, 3, 6)
    return o.concat([o.cross(w, m_v) + o.cross(v, m_w), o.cross(w, m_w)])


def cross_force(o: Ops, twist: Block, wrench: Block) -> Block:
    """The rate of a wrench (6,) fixed to a body of this twist: (w x f, w x n + v x f)."""
    v, w = o.part(twist, 0, 3), o.part(twist, 3, 6)
    f, n = o.part(wrench, 0, 3), o.part(wrench, 3, 6)
    return o.concat([o.cross(w, f), o.cross(w, n) + o.cross(v, f)])
