"""Steps in the tangent of q: where they lead, and how fast they grow.

A step theta (nv,) leads from q0 to ``integrate(q0, theta)``: sums for all joints but floating
and spherical ones, which move by the exponentials of SE(3) and SO(3). So a Runge-Kutta
method for vectors becomes one for the group, and no quaternion leaves the unit sphere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import integrate
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.ops.dual import Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import cross_motion
from linkwork.spatial.rotations import from_quaternion, multiply_quaternions

Flags: TypeAlias = NDArray[np.bool_]


def moved(o: Ops, m: Mechanism, q: Block, theta: Block) -> Block:
    """The configuration (nq,) reached from q by theta (nv,), with quaternions of unit length.

    What rounding has done to a length near 1 is taken back to first order, without a root.
    """
    reached = integrate(o, m, q, theta)
    starts = quaternion_starts(m)
    if not len(starts):
        return reached
    values = [reached[k] for k in range(m.n_q)]
    for start in starts:
        wxyz = o.part(reached, int(start), int(start) + 4)
        factor = 1.5 - 0.5 * o.dot(wxyz, wxyz)
        for k in range(4):
            values[int(start) + k] = factor * wxyz[k]
    return o.vector(values)


def growth(o: Ops, m: Mechanism, theta: Block, v: Block) -> Block:
    """The rate (nv,) of theta with which ``integrate(q0, theta)`` moves at the velocity v (nv,).

    It is the inverse of the right Jacobian of the exponential times v, as a series: v
    + [theta, v]/2 + [theta, [theta, v]]/12, and nothing of third order. The next term is of fourth
    order in theta, which a step makes small: methods up to order 5 keep their order.

    Source: H. Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical
    Mathematics 29 (1999); E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd
    ed., IV.8, with the sign of velocities in the axes of the body.
    """
    parts: list[Block] = []
    for c, type in enumerate(m.joint_types):
        start = int(m.v_start[c])
        rate = o.part(v, start, start + type.n_v)
        if type.has_quaternion:
            step = o.part(theta, start, start + type.n_v)
            bracket = partial(cross_motion, o) if type is JointType.FLOATING else o.cross
            once = bracket(step, rate)
            rate = rate + 0.5 * once + (1.0 / 12.0) * bracket(step, once)
        parts.append(rate)
    return o.concat(parts)


def own_slopes(
    o: Ops, m: Mechanism, function: Callable[[Duals, Block, Block], Block], q: Block, v: Block
) -> tuple[Block, Block, Block]:
    """Forces ``function(o, q, v)`` (nv,), and their derivatives (nv, nv) along the tangent of q and
    along v.

    Each force is one of its own joint's state alone, so one direction serves the j-th number of
    every joint.
    """
    d, widest = Duals(o), max(type.n_v for type in m.joint_types)
    turning, faster = {}, {}
    for j in range(widest):
        turning[j] = o.concat([_direction(o, m, q, c, j) for c in range(len(m.joint_types))])
        own = [np.eye(widest)[j][: type.n_v] for type in m.joint_types]
        faster[widest + j] = o.const(np.concatenate(own))
    found = function(d, d.block(q, turning), d.block(v, faster))
    matrices: list[Block] = []
    for first in (0, widest):
        columns: list[Block] = []
        for c, type in enumerate(m.joint_types):
            own, zeros = m.v_slice(c), np.zeros(m.n_v)
            for j in range(type.n_v):
                change = o.part(d.change(found, first + j), own.start, own.stop)
                column = [o.const(zeros[: own.start]), change, o.const(zeros[own.stop :])]
                columns.append(o.concat(column))
        matrices.append(o.matrix(columns))
    return found.value, matrices[0], matrices[1]


def _direction(o: Ops, m: Mechanism, q: Block, c: int, j: int) -> Block:
    """The derivative of a joint's numbers of q along the j-th of its velocities."""
    type, at = m.joint_types[c], int(m.q_start[c])
    if not type.has_quaternion:
        return o.const(np.eye(max(type.n_q, j + 1))[j][: type.n_q])
    n = type.n_lengths
    wxyz = o.part(q, at + n, at + n + 4)
    if j < n:
        return o.concat([o.column(from_quaternion(o, wxyz), j), o.const(np.zeros(4))])
    turn = np.eye(4)[1 + j - n] if j < type.n_v else np.zeros(4)
    half = 0.5 * multiply_quaternions(o, wxyz, o.const(turn))
    return o.concat([o.const(np.zeros(n)), half])


def unit_quaternions(m: Mechanism, q: Floats) -> Floats:
    """Configurations (n, nq) with quaternions of length 1: a copy where there are any."""
    starts = quaternion_starts(m)
    if not len(starts):
        return q
    q = q.copy()
    for start in starts:
        wxyz = q[:, start : start + 4]
        q[:, start : start + 4] = wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)
    return q


def lengths(m: Mechanism) -> tuple[int, ...]:
    """For each number of v the number of q that says how large it is; -1 for a turn of a body."""
    places: list[int] = []
    for c, type in enumerate(m.joint_types):
        start = int(m.q_start[c])
        for k in range(type.n_v):
            turn = type.has_quaternion and k >= type.n_lengths
            places.append(-1 if turn else start + k)
    return tuple(places)


def finite_rows(a: Floats) -> Flags:
    """Whether each row (...) of numbers (..., n) is finite."""
    found: Any = np.isfinite(a).all(axis=-1)
    return found
