"""Joint limits as springs and dampers, which push back and never pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


@dataclass(frozen=True, eq=False)
class Stops:
    """Compliant stops at the joint limits.

    Beyond its limit a joint is pushed back with ``stiffness`` times how far it is beyond (N m/rad,
    N/m) and ``damping`` times its speed (N m s/rad, N s/m); the two together never pull it on. The
    damping sets in over the first ``width`` (rad, m), so that no force jumps. Stiffness and damping
    are numbers, or arrays (..., n) over the joints that are meant: those named in ``joints``, by
    default every joint that has a limit. Where they are not given, a joint with the inertia that it
    has at q0, the others free, swings back critically damped in ``time`` (s): some ten steps. A
    spherical joint is turned back about the axis that it is turned by; of its three inertias the
    least counts.
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
    one = [c for c in range(len(m.joint_types)) if np.isfinite(_limits(m, c)).any()]
    if joints is None:
        if not one:
            raise InputError(f"'{m.name}' has no joint with a limit, so there is nothing to stop")
        return tuple(one)
    named = [joints] if isinstance(joints, str) else list(joints)
    wanted = [m.joint(name) for name in named]
    for c in wanted:
        if c not in one:
            kind = m.joint_types[c].label
            able = m.joint_types[c].n_q == 1 or m.joint_types[c] is JointType.SPHERICAL
            what = "has no limit" if able else f"is {kind}"
            raise InputError(f"joint '{m.joint_names[c]}' {what}, so no stop can hold it")
    return tuple(sorted(set(wanted)))


def push(
    o: Ops, m: Mechanism, q: Block, v: Block, stopped: Sequence[int], given: Mapping[str, Block]
) -> Block:
    """The forces (nv,) of the stops of these coordinates."""
    forces: list[Block] = [0.0] * m.n_v
    for k, c in enumerate(stopped):
        at, outward, position, speed = _along(o, m, q, v, c)
        force = _one(o, m, (position, speed), (k, c), given)
        forces[at : at + len(outward)] = [force * n for n in outward]
    return o.vector(forces)


def _along(
    o: Ops, m: Mechanism, q: Block, v: Block, c: int
) -> tuple[int, list[Block], Block, Block]:
    """Where a joint's velocities begin, what of them its position grows by, position and speed.

    The position of a spherical joint is the angle that it is turned by.
    """
    at, first = int(m.v_start[c]), int(m.q_start[c])
    if m.joint_types[c] is not JointType.SPHERICAL:
        return at, [1.0], q[first], v[at]
    w, u = q[first], o.part(q, first + 1, first + 4)
    length = o.sqrt(o.dot(u, u) + _LEAST * _LEAST)
    sign = o.select(o.less(w, 0.0), -1.0, 1.0)
    n = [sign * u[k] / length for k in range(3)]
    speed = sum((n[k] * v[at + k] for k in range(3)), o.const(0.0))
    return at, n, 2.0 * o.atan2(length, o.absolute(w)), speed


_LEAST = 1.0e-12
"""Where a rotation is next to none, no limit is near and no axis counts."""


def bounds(m: Mechanism, stopped: Sequence[int]) -> list[tuple[int, int, float, float]]:
    """Where each stopped coordinate stands in q and in v, and its limits.

    A spherical joint counts as beyond them always: no one number of it tells.
    """
    beyond = (np.inf, -np.inf)
    return [
        (
            int(m.q_start[c]),
            int(m.v_start[c]),
            *(beyond if m.joint_types[c] is JointType.SPHERICAL else _limits(m, c)),
        )
        for c in stopped
    ]


def _one(
    o: Ops,
    m: Mechanism,
    at: tuple[Block, Block],
    which: tuple[int, int],
    given: Mapping[str, Block],
) -> Block:
    """The force along one coordinate at its position and speed."""
    (k, c), (x, speed) = which, at
    spring, damper = given["stop_stiffness"][k], given["stop_damping"][k]
    thin = given["stop_width"][0]  # one over the width
    lower, upper = _limits(m, c)
    force: Block = o.const(0.0)
    for limit, side in ((lower, -1.0), (upper, 1.0)):
        if not np.isfinite(limit):
            continue
        depth = side * (x - float(limit))  # how far beyond
        share = o.minimum(thin * depth, 1.0)
        inward = damper * (side * speed)
        pressure = spring * depth + share * inward
        active = o.both(o.less(0.0, depth), o.less(0.0, pressure))
        force = force - side * o.select(active, pressure, 0.0)
    return force


def _limits(m: Mechanism, c: int) -> tuple[float, float]:
    at = int(m.q_start[c])
    if m.joint_types[c] is JointType.SPHERICAL:
        return -np.inf, float(m.angle_limit[c])
    return float(m.lower[at]), float(m.upper[at])
