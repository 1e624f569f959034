"""Twists and wrenches (6,): linear part first, so (v, w) and (f, n), in SI units.

A twist in a frame is the velocity of the body's point at the frame's origin and the angular
velocity, in the frame's axes; a wrench is the force and the moment about the frame's origin. Their
`dot` is a power, the same in every frame.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 2, with the order of the two
parts exchanged.
"""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose


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
