"""What one joint does: its position, its pose and the twists that it leaves free.

Joints with one axis move their body along or about the z axis of the joint frame (see
`mechanism/model.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.algorithms.axes import Axes, Scalar, rotated, turned
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose, identity
from linkwork.spatial.rotations import from_quaternion, rotation_z


def joint_position(m: Mechanism, q: Block, body: int) -> list[Block]:
    """The numbers that place the joint of a body, from q (nq,): as many as its type has positions.

    A coupled joint's are ``multiplier * q_leader + offset``; a 1 or 0 that is exact costs nothing.
    """
    coordinate = int(m.coordinate[body])
    n = m.body_joint_types[body].n_q
    if n == 0:
        return []
    start = int(m.q_start[coordinate])
    return [_coupled(m, body, q[start + k]) for k in range(n)]


def joint_rate(m: Mechanism, v: Block, body: int) -> list[Block]:
    """The numbers of v (nv,) that move the joint of a body, times its multiplier."""
    n = m.body_joint_types[body].n_v
    if n == 0:
        return []
    start, factor = int(m.v_start[int(m.coordinate[body])]), float(m.multiplier[body])
    return [v[start + k] if factor == 1 else factor * v[start + k] for k in range(n)]


def displacement(type: JointType, position: Sequence[Block]) -> list[Scalar] | None:
    """Where the body's origin lies in the joint frame; None where it always lies in its origin."""
    if type is JointType.PRISMATIC:
        return [0.0, 0.0, position[0]]
    if type is JointType.PLANAR:
        return [position[0], position[1], 0.0]
    if type is JointType.FLOATING:
        return [position[0], position[1], position[2]]
    return None


def body_axes(
    o: Ops,
    type: JointType,
    axes: Axes,
    position: Sequence[Block],
    wanted: tuple[int, int] = (1, 1),
) -> Axes:
    """The axes of the body, from those of the joint frame; ``wanted`` as in `turned`."""
    if type.turns or type is JointType.PLANAR:
        angle = position[-1]
        return turned(axes, o.cos(angle), o.sin(angle), wanted=wanted)
    if type.has_quaternion:
        return rotated(o, axes, quaternion_matrix(o, type, position))
    return axes


def joint_axes(
    o: Ops,
    type: JointType,
    axes: Axes,
    position: Sequence[Block],
    wanted: tuple[int, int] = (1, 1),
) -> Axes:
    """The axes of the joint frame, from those of the body: the way back."""
    if type.turns or type is JointType.PLANAR:
        angle = position[-1]
        return turned(axes, o.cos(angle), o.sin(angle), backwards=True, wanted=wanted)
    if type.has_quaternion:
        return rotated(o, axes, o.transpose(quaternion_matrix(o, type, position)))
    return axes


def quaternion_matrix(o: Ops, type: JointType, position: Sequence[Block]) -> Block:
    """The rotation (3, 3) of a joint whose positions end with a quaternion ``wxyz``."""
    return from_quaternion(o, o.vector([position[k] for k in range(type.n_lengths, type.n_q)]))


def joint_pose(o: Ops, type: JointType, q_joint: Sequence[Block]) -> Pose:
    """The pose of the body in the joint frame.

    Shapes: q_joint has the type's ``n_q`` numbers (a block or a list of scalars). Units: metre,
    radian; a quaternion ``wxyz`` of any norm but zero.
    """
    shift = displacement(type, q_joint)
    p = identity(o).p if shift is None else o.vector(shift)
    if type.turns:
        return Pose(rotation_z(o, q_joint[0]), p)
    if type is JointType.PLANAR:
        return Pose(rotation_z(o, q_joint[2]), p)
    if type.has_quaternion:
        return Pose(quaternion_matrix(o, type, q_joint), p)
    return Pose(identity(o).R, p)


def joint_columns(o: Ops, type: JointType, q_joint: Sequence[Block]) -> list[Block]:
    """The twists (6,) of the body that each number of v gives it: body frame, linear part first.

    A planar joint's v is dq/dt, along the axes of the joint frame, so its columns turn with theta.
    """
    if type.turns:
        return [_unit(o, 5)]
    if type is JointType.PRISMATIC:
        return [_unit(o, 2)]
    if type is JointType.PLANAR:
        c, s = o.cos(q_joint[2]), o.sin(q_joint[2])
        zeros = [0.0, 0.0, 0.0, 0.0]
        return [o.vector([c, -s, *zeros]), o.vector([s, c, *zeros]), _unit(o, 5)]
    return [_unit(o, k) for k in range(3 - type.n_lengths, 6)] if type.has_quaternion else []


def _unit(o: Ops, k: int) -> Block:
    return o.const([1.0 if i == k else 0.0 for i in range(6)])


def _coupled(m: Mechanism, body: int, leader: Block) -> Block:
    factor, offset = float(m.multiplier[body]), float(m.offset[body])
    value = leader if factor == 1 else factor * leader
    return value if offset == 0 else value + offset
