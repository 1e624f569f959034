"""Positions stay away from the ends that the description gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits.base import POSITION, BoundLimit, Interval, Limit, Where, no_numbers
from linkwork.solve.limits.values import PerJoint, per_joint


@dataclass(frozen=True, eq=False)
class PositionLimit(Limit):
    """Positions keep at least ``margin`` (rad or m) from the description's limits.

    The description's limits always hold; this narrows them, for all joints or for those named.
    """

    margin: PerJoint = 0.0

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        margin = per_joint(m, self.margin, "PositionLimit.margin", starts=m.q_start, otherwise=0.0)
        if not np.isfinite(margin).all():
            raise InputError("PositionLimit.margin must be finite: no position would be left")
        lower, upper = m.lower + margin, m.upper - margin
        for c, name in enumerate(m.joint_names):
            part = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
            if np.any((lower[part] > upper[part]) & (margin[part] > 0.0)):
                raise InputError(
                    f"PositionLimit.margin leaves no position of joint '{name}': its limits are "
                    f"{m.lower[part]} and {m.upper[part]}, the margin is {margin[part]}"
                )
        margins = _of_angles(m, margin)
        narrowed = margin > 0.0
        below = np.flatnonzero(narrowed & np.isfinite(lower)).tolist()
        above = np.flatnonzero(narrowed & np.isfinite(upper)).tolist()

        def bounds(
            _o: Ops, _where: Where, settings: Block, _numbers: Block
        ) -> Mapping[int, Interval]:
            found: dict[int, Interval] = {k: (settings[i], None) for i, k in enumerate(below)}
            for i, k in enumerate(above, start=len(below)):
                found[k] = (found.get(k, (None, None))[0], settings[i])
            return found

        return BoundLimit(
            name="position",
            key=f"position {below} {above} {margins}",
            rank=POSITION,
            positions=tuple(sorted({*below, *above})),
            coordinates=(),
            coupled=False,
            needs_start=False,
            settings=(*lower[below].tolist(), *upper[above].tolist()),
            n_numbers=0,
            rows_of=no_numbers,
            numbers=None,
            bounds=bounds,
            margins=margins,
        )


def _of_angles(m: Mechanism, margin: Floats) -> dict[int, float]:
    """The margins of spherical joints whose angle is limited.

    Raises: InputError where one leaves no position.
    """
    found: dict[int, float] = {}
    for c in np.flatnonzero(np.isfinite(m.angle_limit)).tolist():
        own, most = float(margin[int(m.q_start[c])]), float(m.angle_limit[c])
        if own >= most:
            raise InputError(
                f"PositionLimit.margin leaves no position of joint '{m.joint_names[c]}': it turns "
                f"up to {most:g} rad, the margin is {own:g}"
            )
        if own > 0.0:
            found[c] = own
    return found
