"""Configurations: moving along a velocity, the way between two, and how to choose some."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.joint_transforms import Rates, joint_position
from linkwork.algorithms.sweep import InPasses, Output, Sweep
from linkwork.algorithms.vector3 import as_vector
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import se3, so3
from linkwork.spatial.poses import Pose, compose, inverse
from linkwork.spatial.rotations import from_quaternion, multiply_quaternions


@InPasses
def integrate(sweep: Sweep, v: Rates) -> Output:
    """Configuration reached from q by the velocity v, held for one second.

    Shapes: q (nq,), v (nv,) to q' (nq,). Exact on the group: a floating joint moves by the
    exponential of SE(3), its twist constant in the body's axes: p' = p + R V(w) v, R' = R exp(w);
    a spherical joint by R' = R exp(w) alone.
    All else adds up; angles are not wrapped. A quaternion keeps its norm.

    Source: K. M. Lynch and F. C. Park, Modern Robotics (2017), proposition 3.25.
    """
    found = sweep.output(sweep.m.n_q)

    def visit(type: JointType, at: int, rate: int) -> None:
        o = sweep.o  # of this loop
        own = o.vector([sweep.q[at + k] for k in range(type.n_q)])
        moved = one_integrated(o, type, own, o.vector([v[rate + k] for k in range(type.n_v)]))
        for k in range(type.n_q):
            found.put((at + k,), moved[k])

    sweep.coordinates(visit)
    return found


def one_integrated(o: Ops, type: JointType, q: Block, v: Block) -> Block:
    """`integrate` of one joint: q (n_q,), v (n_v,) of its own."""
    if not type.has_quaternion:
        return q + v
    n = type.n_lengths
    wxyz, w = o.part(q, n, n + 4), o.part(v, n, n + 3)
    turned = multiply_quaternions(o, wxyz, so3.quaternion_exp(o, w))
    if type is JointType.SPHERICAL:
        return turned
    step = so3.left_jacobian(o, w) @ o.part(v, 0, 3)
    return o.concat([o.part(q, 0, 3) + from_quaternion(o, wxyz) @ step, turned])


@InPasses
def difference(sweep: Sweep, q1: Block) -> Output:
    """Velocity that takes q0 to q1 in one second: integrate(q0, difference(q0, q1)) = q1.

    Shapes: q0, q1 (nq,) to v (nv,). Floating and spherical joints take the shorter way round (a
    quaternion and its negative are one rotation); other angles are numbers and are not wrapped.

    Source: the logarithms of SE(3) and SO(3), Lynch and Park, Modern Robotics (2017),
    section 3.3.3.
    """
    found = sweep.output(sweep.m.n_v)

    def visit(type: JointType, at: int, rate: int) -> None:
        o = sweep.o  # of this loop
        ends = (o.vector([q[at + k] for k in range(type.n_q)]) for q in (sweep.q, q1))
        between = one_difference(o, type, *ends)
        for k in range(type.n_v):
            found.put((rate + k,), between[k])

    sweep.coordinates(visit)
    return found


def one_difference(o: Ops, type: JointType, q0: Block, q1: Block) -> Block:
    """`difference` of one joint: q0, q1 (n_q,) of its own."""
    if type is JointType.FLOATING:
        first, second = (
            Pose(from_quaternion(o, o.part(q, 3, 7)), o.part(q, 0, 3)) for q in (q0, q1)
        )
        return se3.log(o, compose(o, inverse(o, first), second))
    if type is JointType.SPHERICAL:
        R0, R1 = (from_quaternion(o, q) for q in (q0, q1))
        return so3.log(o, o.transpose(R0) @ R1)
    return q1 - q0


def all_positions(o: Ops, m: Mechanism, q: Block) -> Block:
    """Positions of all joints that move, coupled ones included, in the order of the bodies.

    Shapes: q (nq,) to (sum of the joints' numbers of positions,).
    """
    return as_vector(o, [x for b in range(m.n_bodies) for x in joint_position(m, q, b)])


def n_full(m: Mechanism) -> int:
    """The number of positions that `full` gives."""
    return sum(type.n_q for type in m.body_joint_types)


def random(m: Mechanism, rng: np.random.Generator, n: int) -> Floats:
    """Random configurations (n, nq), uniform inside the limits.

    A missing limit of an angle counts as -pi or pi, one of a slide as -1 or 1 m; if the other limit
    lies beyond that, the range is 2 pi or 2 m wide. Quaternions are uniform over all rotations that
    the joint's limit allows.

    Raises: InputError for a joint whose lower limit is above its upper one.
    """
    lower, upper = ranges(m)
    u = rng.random((n, m.n_q))
    # a mean with weights, which no limits however wide make overflow; rounding may pass a limit
    q = np.minimum(np.maximum((1 - u) * lower + u * upper, lower), upper)
    for start in quaternion_starts(m):
        wxyz = rng.standard_normal((n, 4))
        q[:, start : start + 4] = wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)
    for c in np.flatnonzero(np.isfinite(m.angle_limit)):
        start = int(m.q_start[c])
        q[:, start : start + 4] = _within_angle(q[:, start : start + 4], float(m.angle_limit[c]))
    return q


def _within_angle(wxyz: Floats, limit: float) -> Floats:
    """Unit quaternions (n, 4), uniform over all rotations, as ones uniform up to an angle.

    Of all rotations the share (t - sin t) / pi turns by less than t: the angle that has the same
    share of those up to the limit is found by halving.
    """
    length = np.linalg.norm(wxyz[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(length, np.abs(wxyz[:, 0]))
    share = (angle - np.sin(angle)) / np.pi * (limit - np.sin(limit))
    low, high = np.zeros(len(wxyz)), np.full(len(wxyz), limit)
    for _ in range(50):
        middle = 0.5 * (low + high)
        below = middle - np.sin(middle) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    axis = wxyz[:, 1:] / np.maximum(length, np.finfo(float).tiny)[:, None]
    return np.column_stack([np.cos(0.5 * low), np.sin(0.5 * low)[:, None] * axis])


def ranges(m: Mechanism) -> tuple[Floats, Floats]:
    """Finite limits for every number of q."""
    wide = np.array([np.pi if kind == "angle" else 1.0 for kind in m.kinds_of_q])
    for c in range(len(m.joint_types)):
        start, stop = int(m.q_start[c]), int(m.q_start[c + 1])
        if np.any(m.lower[start:stop] > m.upper[start:stop]):
            low, high = m.lower[start:stop].tolist(), m.upper[start:stop].tolist()
            raise InputError(
                f"joint '{m.joint_names[c]}': its lower limit {low} is above its upper limit "
                f"{high}, so no position lies between them; correct the limits in the description"
            )
    below = np.where(m.upper > -wide, -wide, m.upper - 2 * wide)
    above = np.where(m.lower < wide, wide, m.lower + 2 * wide)
    return (
        np.where(np.isfinite(m.lower), m.lower, below),
        np.where(np.isfinite(m.upper), m.upper, above),
    )
