"""What drives the joints: proportional-derivative control, constant forces, functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import se3, so3
from linkwork.spatial.poses import Pose, compose, inverse
from linkwork.spatial.rotations import from_quaternion

Given: TypeAlias = Mapping[str, Block]
"""What enters an expression besides q and v, by name."""

Value: TypeAlias = "ArrayLike | Callable[[float], ArrayLike]"


@dataclass(frozen=True, eq=False)
class PD:
    """Proportional-derivative control of the joints, with a force fed forward.

    tau = feed_forward + kp (q_target - q) + kd (v_target - v), bounded by ``effort_limit`` where
    that is given. Each of them is a number, an array (..., nv), {joint: number}, or a function of
    time that gives one of these; joints that are not named have zero. Where a mechanism says which
    joints are actuated, one number is for these alone, and an array may have their numbers alone.
    ``q_target`` is (..., nq), of the actuated joints, or by name, by default where the simulation
    begins. A floating joint's error is the twist in its own axes that leads to the target
    (`Robot.difference`), a spherical joint's the rotation vector.
    """

    kp: Any
    kd: Any = 0.0
    q_target: Any = None
    v_target: Any = None
    feed_forward: Any = None
    effort_limit: Any = None

    def fields(self) -> dict[str, Any]:
        """What is given, by name."""
        named = {name: getattr(self, name) for name in PD_FIELDS}
        return {name: value for name, value in named.items() if value is not None}


PD_FIELDS = ("kp", "kd", "q_target", "v_target", "feed_forward", "effort_limit")

Floats = NDArray[Any]


def torque(
    o: Ops, m: Mechanism, q: Block, v: Block, given: Given, *, without: Sequence[int] = ()
) -> Block | None:
    """The forces (nv,) of the actuators, but for those ``without``; None where there are none."""
    if "torque" in given:
        return given["torque"]
    if "kp" not in given:
        return None
    pushed = unbounded(o, m, q, v, given)
    if "effort_limit" not in given:
        return pushed
    most = given["effort_limit"]
    return o.vector(
        [
            0.0 if k in without else o.maximum(o.minimum(pushed[k], most[k]), -1.0 * most[k])
            for k in range(m.n_v)
        ]
    )


def unbounded(o: Ops, m: Mechanism, q: Block, v: Block, given: Given) -> Block:
    """The forces (nv,) of proportional-derivative control before they are bounded."""
    pushed = _times(o, m, given["kp"], position_error(o, m, q, given["q_target"]))
    speed = given["v_target"] - v if "v_target" in given else -v
    pushed = pushed + _times(o, m, given["kd"], speed)
    return pushed + given["feed_forward"] if "feed_forward" in given else pushed


def torque_slopes(
    o: Ops, m: Mechanism, q: Block, v: Block, given: Given, *, without: Sequence[int] = ()
) -> tuple[Block, Block] | None:
    """The derivatives (nv, nv) of `torque` along the tangent of q, and along v; None for zero."""
    if "kp" not in given:
        return None
    slopes = position_error_slope(o, m, q, given["q_target"])
    pushed = unbounded(o, m, q, v, given)
    stiff: list[list[Block]] = []
    damped: list[list[Block]] = []
    for i in range(m.n_v):
        free: Block = 0.0 if i in without else 1.0
        if "effort_limit" in given and i not in without:
            inside = o.less(o.absolute(pushed[i]), given["effort_limit"][i])
            free = o.select(inside, 1.0, 0.0)
        kp, kd = free * given["kp"][i], free * given["kd"][i]
        stiff.append([0.0 if x is None else kp * x for x in slopes[i]])
        damped.append([-1.0 * kd if i == j else 0.0 for j in range(m.n_v)])
    return matrix_of(o, stiff), matrix_of(o, damped)


def position_error(o: Ops, m: Mechanism, q: Block, target: Block) -> Block:
    """The way (nv,) from q to the target, as `configuration.difference`."""
    parts: list[Block] = []
    for c, type in enumerate(m.joint_types):
        at = int(m.q_start[c])
        if type is JointType.FLOATING:
            parts.append(se3.log(o, _between(o, q, target, at)))
        elif type is JointType.SPHERICAL:
            parts.append(so3.log(o, _turn_between(o, q, target, at)))
        else:
            parts.append(o.part(target, at, at + type.n_q) - o.part(q, at, at + type.n_q))
    return o.concat(parts)


def position_error_slope(o: Ops, m: Mechanism, q: Block, target: Block) -> list[list[Block | None]]:
    """The derivative of `position_error` in the tangent of q: rows of scalars, None for zero."""
    rows: list[list[Block | None]] = [[None] * m.n_v for _ in range(m.n_v)]
    for c, type in enumerate(m.joint_types):
        at, start = int(m.q_start[c]), int(m.v_start[c])
        if type.has_quaternion:
            # log(exp(-d) X) = log X - J_l^-1(log X) d
            if type is JointType.FLOATING:
                error = se3.log(o, _between(o, q, target, at))
                block = se3.left_jacobian_inverse(o, error)
            else:
                error = so3.log(o, _turn_between(o, q, target, at))
                block = so3.left_jacobian_inverse(o, error)
            for i in range(type.n_v):
                for j in range(type.n_v):
                    rows[start + i][start + j] = -1.0 * block[i, j]
        else:
            for k in range(start, start + type.n_v):
                rows[k][k] = o.const(-1.0)
    return rows


def _between(o: Ops, q: Block, target: Block, at: int) -> Pose:
    first, second = (
        Pose(from_quaternion(o, o.part(x, at + 3, at + 7)), o.part(x, at, at + 3))
        for x in (q, target)
    )
    return compose(o, inverse(o, first), second)


def _turn_between(o: Ops, q: Block, target: Block, at: int) -> Block:
    first, second = (from_quaternion(o, o.part(x, at, at + 4)) for x in (q, target))
    return o.transpose(first) @ second


def _times(o: Ops, m: Mechanism, gains: Block, x: Block) -> Block:
    return o.vector([gains[k] * x[k] for k in range(m.n_v)])


def matrix_of(o: Ops, rows: list[list[Block]]) -> Block:
    """The square matrix of these rows of scalars."""
    n = len(rows)
    return o.matrix([o.vector([rows[i][j] for i in range(n)]) for j in range(n)])
