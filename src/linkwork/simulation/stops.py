"""Joint limits as springs and dampers, which push back and never pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


@dataclass(frozen=True, eq=False)
class Stops:
    """Compliant stops at the joint limits.

    Beyond its limit a joint is pushed back with ``stiffness`` times how far it is beyond (N m/rad,
    N/m) and ``damping`` times its speed (N m s/rad, N s/m); the two together never pull it on. The
    damping sets in over the first ``width`` (rad, m), so that no force jumps. Stiffness and damping
    are numbers, or arrays (..., n) over the joints that are meant: those named in ``joints``, by
    default every joint that has a limit. Where they are not given, a joint with the inertia that it
    has at q0, the others free, swings back critically damped in ``time`` (s): some ten steps.
    """

    stiffness: Any = None
    damping: Any = None
    joints: str | Sequence[str] | None = None
    time: float = 0.01
    width: float = 1.0e-3

    def __post_init__(self) -> None:
        for name in ("time", "width"):
            value: Any = getattr(self, name)
            if not (isinstance(value, (int, float)) and 0.0 < value < np.inf):
                raise InputError(f"Stops: {name} must be a positive finite number, not {value!r}")


def limited(m: Mechanism, joints: str | Sequence[str] | None) -> tuple[int, ...]:
    """The coordinates with stops.

    Raises: UnknownNameError; InputError for a joint that has no limit, or where none has.
    """
    one = [
        c
        for c, type in enumerate(m.joint_types)
        if type.n_q == 1 and np.isfinite(_limits(m, c)).any()
    ]
    if joints is None:
        if not one:
            raise InputError(f"'{m.name}' has no joint with a limit, so there is nothing to stop")
        return tuple(one)
    named = [joints] if isinstance(joints, str) else list(joints)
    wanted = [m.joint(name) for name in named]
    for c in wanted:
        if c not in one:
            kind = m.joint_types[c].label
            what = "has no limit" if m.joint_types[c].n_q == 1 else f"is {kind}"
            raise InputError(f"joint '{m.joint_names[c]}' {what}, so no stop can hold it")
    return tuple(sorted(set(wanted)))


def push(
    o: Ops, m: Mechanism, q: Block, v: Block, stopped: Sequence[int], given: Mapping[str, Block]
) -> Block:
    """The forces (nv,) of the stops of these coordinates."""
    forces: list[Block] = [0.0] * m.n_v
    for k, c in enumerate(stopped):
        forces[int(m.v_start[c])] = _one(o, m, q, v, (k, c), given)[0]
    return o.vector(forces)


def push_slopes(
    o: Ops, m: Mechanism, q: Block, v: Block, stopped: Sequence[int], given: Mapping[str, Block]
) -> tuple[dict[int, Block], dict[int, Block]]:
    """The derivatives of `push` along q and along v: diagonal, by the number of v."""
    along_q: dict[int, Block] = {}
    along_v: dict[int, Block] = {}
    for k, c in enumerate(stopped):
        at = int(m.v_start[c])
        _, along_q[at], along_v[at] = _one(o, m, q, v, (k, c), given)
    return along_q, along_v


def bounds(m: Mechanism, stopped: Sequence[int]) -> list[tuple[int, int, float, float]]:
    """Where each stopped coordinate stands in q and in v, and its limits."""
    return [(int(m.q_start[c]), int(m.v_start[c]), *_limits(m, c)) for c in stopped]


def _one(
    o: Ops, m: Mechanism, q: Block, v: Block, which: tuple[int, int], given: Mapping[str, Block]
) -> tuple[Block, Block, Block]:
    """The force on one coordinate, and its slopes along position and speed."""
    k, c = which
    x, speed = q[int(m.q_start[c])], v[int(m.v_start[c])]
    spring, damper = given["stop_stiffness"][k], given["stop_damping"][k]
    thin = given["stop_width"][0]  # one over the width
    lower, upper = _limits(m, c)
    force: Block = o.const(0.0)
    along_x, along_v = o.const(0.0), o.const(0.0)
    for limit, side in ((lower, -1.0), (upper, 1.0)):
        if not np.isfinite(limit):
            continue
        depth = side * (x - float(limit))  # how far beyond
        share = o.minimum(thin * depth, 1.0)
        inward = damper * (side * speed)
        pressure = spring * depth + share * inward
        active = o.both(o.less(0.0, depth), o.less(0.0, pressure))
        setting_in = o.select(o.less(thin * depth, 1.0), thin * inward, 0.0)
        force = force - side * o.select(active, pressure, 0.0)
        along_x = along_x - o.select(active, spring + setting_in, 0.0)
        along_v = along_v - o.select(active, share * damper, 0.0)
    return force, along_x, along_v


def _limits(m: Mechanism, c: int) -> tuple[float, float]:
    at = int(m.q_start[c])
    return float(m.lower[at]), float(m.upper[at])
