"""No joint goes faster than it may: how far its position gets within one time step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits.base import VELOCITY, BoundLimit, Interval, Limit, Where, no_numbers
from linkwork.solve.limits.values import (
    PerJoint,
    per_joint,
    position_of_velocity,
    time_step,
)

Floats = NDArray[np.float64]

ROUNDING = 2.0**-51
"""Bounds are moved inward by this share of the numbers that they come from, so that rounding
leaves no position, and no quotient of a difference by dt, beyond them."""


@dataclass(frozen=True, eq=False)
class VelocityLimit(Limit):
    """Every position stays within v_max dt of where the move began.

    ``dt`` in seconds; ``v_max`` in rad/s or m/s: one number, an array (nv,), or a mapping of joint
    names, which leaves the others free; by default the description's velocity limits, of joints
    that are neither floating nor spherical. A start outside the limits of position is moved
    inside first: position comes before velocity.

    Raises (`bind`): UnsupportedFeatureError where ``v_max`` limits one of these.
    """

    dt: float
    v_max: PerJoint | None = None

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        dt = time_step(self.dt, "VelocityLimit.dt")
        given = _of_description(m) if self.v_max is None else self.v_max
        what = "VelocityLimit.v_max"
        v_max = per_joint(m, given, what, starts=m.v_start, otherwise=np.inf)
        with np.errstate(over="ignore"):  # farther than any number is no limit
            far = v_max * dt * (1.0 - ROUNDING)
        limited = np.flatnonzero(np.isfinite(far)).tolist()
        positions = [position_of_velocity(m, k, "VelocityLimit") for k in limited]

        def bounds(
            o: Ops, where: Where, settings: Block, _numbers: Block
        ) -> Mapping[int, Interval]:
            found: dict[int, Interval] = {}
            for i, k in enumerate(positions):
                begin, reach = where.start[k], settings[i]
                reach = o.maximum(0.0, reach - ROUNDING * (o.absolute(begin) + reach))
                found[k] = (begin - reach, begin + reach)
            return found

        return BoundLimit(
            name="velocity",
            key=f"velocity {positions}",
            rank=VELOCITY,
            positions=tuple(positions),
            coordinates=(),
            coupled=False,
            needs_start=True,
            settings=tuple(far[limited].tolist()),
            n_numbers=0,
            rows_of=no_numbers,
            numbers=None,
            bounds=bounds,
        )


def _of_description(m: Mechanism) -> Floats:
    """The description's velocity limits (nv,), without those of floating and spherical
    joints.

    They are bounded in their body's axes, which no interval of positions is.
    """
    found = m.velocity_limit.copy()
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            found[int(m.v_start[c]) : int(m.v_start[c + 1])] = np.inf
    return found
