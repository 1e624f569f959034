"""Actuators of the joints: proportional-derivative control, constant forces, functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.configuration import difference
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Given: TypeAlias = Mapping[str, Block]
"""Blocks that enter an expression besides q and v, by name."""

Value: TypeAlias = "ArrayLike | Callable[[float], ArrayLike]"


@dataclass(frozen=True, eq=False)
class PD:
    """Proportional-derivative control of the joints, with a force fed forward.

    tau = feed_forward + kp (q_target - q) + kd (v_target - v), bounded by ``effort_limit`` where
    that is given. Each of them is a number, an array (..., nv), {joint: number}, or a function of
    time that gives one of these; joints that are not named have zero. Where a mechanism says which
    joints are actuated, one number is for these alone, and an array may have their numbers alone.
    ``q_target`` is (..., nq), of the actuated joints, or by name, by default where the simulation
    begins. Where it is a trajectory (`linkwork.trajectory`), its velocities are ``v_target`` unless
    that is given. A floating joint's error is the twist in its own axes that leads to the target
    (`Robot.difference`), a spherical joint's the rotation vector.
    """

    kp: Any
    kd: Any = 0.0
    q_target: Any = None
    v_target: Any = None
    feed_forward: Any = None
    effort_limit: Any = None

    def fields(self) -> dict[str, Any]:
        """The fields that are given, by name."""
        named = {name: getattr(self, name) for name in PD_FIELDS}
        follows = getattr(self.q_target, "velocity", None)
        if named["v_target"] is None and callable(follows):
            named["v_target"] = follows
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
    pushed = _times(o, m, given["kp"], difference(o, m, q, given["q_target"]))
    speed = given["v_target"] - v if "v_target" in given else -v
    pushed = pushed + _times(o, m, given["kd"], speed)
    return pushed + given["feed_forward"] if "feed_forward" in given else pushed


def _times(o: Ops, m: Mechanism, gains: Block, x: Block) -> Block:
    return o.vector([gains[k] * x[k] for k in range(m.n_v)])
