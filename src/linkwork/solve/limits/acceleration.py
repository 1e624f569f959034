"""No joint changes its velocity faster than it may, and each can stop before its limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits.base import ACCELERATION, BoundLimit, Floats, Interval, Limit, Where
from linkwork.solve.limits.values import (
    PerJoint,
    per_joint,
    position_of_velocity,
    time_step,
)
from linkwork.solve.limits.velocity import ROUNDING
from linkwork.solve.targets import finite_rows

_BRAKES = 0.999
"""The share of the acceleration that stopping is planned with; the rest takes up rounding."""


@dataclass(frozen=True, eq=False)
class AccelerationLimit(Limit):
    """Every velocity stays within a_max dt of the last one, and can be brought to rest in time.

    Positions stay within (v - a_max dt) dt and (v + a_max dt) dt of where the move began, and are
    such that braking by a_max, step by step, ends before the limits of position: v² <= 2 a d,
    made exact for steps of ``dt``. So the next step always has an answer, if this one had.

    ``dt`` in seconds; ``a_max`` in rad/s² or m/s²: one number, an array (nv,), or a mapping of
    joint names, which leaves the others free. ``v`` (nv,) is the velocity of the last step, or is
    given for each call under the name "acceleration".

    Limits may exclude each other where the last velocity already was too high: position is kept
    first, then velocity, then acceleration; of the acceleration limit, its size before stopping in
    time: a joint that cannot stop in time brakes as hard as it may, and ends at its limit at once.

    Source of the condition: A. Del Prete, "Joint position and velocity bounds in discrete-time
    acceleration/torque control of robot manipulators", IEEE Robotics and Automation Letters 3
    (2018); its closed form for steps is derived at `_way_to_stop`.

    Raises (`bind`): UnsupportedFeatureError where a floating or spherical joint is to be
    limited.
    """

    dt: float
    a_max: PerJoint
    v: ArrayLike | None = None

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        dt = time_step(self.dt, "AccelerationLimit.dt")
        what = "AccelerationLimit.a_max"
        a_max = per_joint(m, self.a_max, what, starts=m.v_start, otherwise=np.inf)
        if np.any(a_max == 0.0):
            c = int(np.searchsorted(m.v_start, np.flatnonzero(a_max == 0.0)[0], side="right")) - 1
            raise InputError(f"{what} of joint '{m.joint_names[c]}' must be above 0")
        with np.errstate(over="ignore"):
            change = a_max * dt * dt * (1.0 - ROUNDING)
        limited = np.flatnonzero(np.isfinite(change)).tolist()
        positions = [position_of_velocity(m, k, "AccelerationLimit") for k in limited]

        def rows_of(v: ArrayLike) -> Floats:
            return finite_rows(v, m.n_v, "limit 'acceleration'")

        def bounds(o: Ops, where: Where, settings: Block, numbers: Block) -> Mapping[int, Interval]:
            found: dict[int, Interval] = {}
            for i, (k, index) in enumerate(zip(positions, limited, strict=True)):
                last, most = settings[0] * numbers[index], settings[1 + i]
                found[k] = _bounds(o, where.start[k], last, most, where.room.get(k, (None, None)))
            return found

        return BoundLimit(
            name="acceleration",
            key=f"acceleration {positions}",
            rank=ACCELERATION,
            positions=tuple(positions),
            coordinates=(),
            coupled=False,
            needs_start=True,
            settings=(dt, *change[limited].tolist()),
            n_numbers=m.n_v,
            rows_of=rows_of,
            numbers=None if self.v is None else rows_of(self.v),
            bounds=bounds,
        )


def _bounds(o: Ops, begin: Block, last: Block, most: Block, room: Interval) -> Interval:
    """Where a step may end that began at ``begin``, after one of ``last``, changed by ``most``."""
    blur = ROUNDING * (o.absolute(begin) + o.absolute(last) + most)
    change = o.maximum(0.0, most - blur)
    lower, upper = begin + (last - change), begin + (last + change)
    lowest, highest = room
    stop_below = lower if lowest is None else begin - _way_to_stop(o, begin - lowest, most)
    stop_above = upper if highest is None else begin + _way_to_stop(o, highest - begin, most)
    return (
        o.minimum(o.maximum(lower, stop_below), upper),
        o.maximum(o.minimum(upper, stop_above), lower),
    )


def _way_to_stop(o: Ops, room: Block, most: Block) -> Block:
    """The longest first step from which one can stop within ``room``, each shorter by ``most``.

    With u = step / most and r = room / most: the steps u, u - 1, ... down to 0 add up to
    (n + 1) u - n (n + 1) / 2 with n = floor(u), so u = r / (n + 1) + n / 2, where n is the largest
    whole number with n (n + 1) / 2 <= r. Both sides meet where n changes: rounding does no harm.
    """
    most = _BRAKES * most
    ratio = o.maximum(0.0, room) / most
    n = o.floor(0.5 * (o.sqrt(1.0 + 8.0 * ratio) - 1.0))
    return most * (ratio / (n + 1.0) + 0.5 * n)
