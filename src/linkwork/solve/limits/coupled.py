"""The limits of one joint, as a table over the position of another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.limits.base import (
    POSITION,
    BoundLimit,
    Floats,
    Interval,
    Limit,
    Where,
    no_numbers,
)
from linkwork.solve.limits.values import single_position


@dataclass(frozen=True, eq=False)
class CoupledLimit(Limit):
    """The limits of ``joint`` depend on the position of ``other``.

    ``table`` (k, 3) has the other's position, ascending, and the joint's lower and upper limit
    there: linear in between, constant before the first row and after the last. Where the limits of
    the other depend on this joint too, give a second limit the other way round.

    Raises (`bind`): UnknownNameError; ShapeError, InputError for the table and coupled joints;
    UnsupportedFeatureError for planar, floating and spherical joints.
    """

    joint: str
    other: str
    table: ArrayLike

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        c_joint, k_joint = single_position(m, self.joint, "CoupledLimit.joint")
        c_other, k_other = single_position(m, self.other, "CoupledLimit.other")
        if c_joint == c_other:
            raise InputError(f"CoupledLimit: joint '{self.joint}' cannot depend on itself")
        table = _checked(self.table)
        n = table.shape[0]
        with np.errstate(over="ignore"):
            slopes = np.diff(table[:, 1:], axis=0) / np.diff(table[:, :1], axis=0)
        if not np.isfinite(slopes).all():
            raise InputError("CoupledLimit.table is too steep: two rows are too near to each other")

        def bounds(
            o: Ops, where: Where, settings: Block, _numbers: Block
        ) -> Mapping[int, Interval]:
            lower, upper = settings[n], settings[n + 1]
            for i in range(n - 1):
                at, after = settings[i], settings[i + 1]
                done = o.minimum(o.maximum(where.q[k_other], at), after) - at
                lower = lower + settings[n + 2 + 2 * i] * done
                upper = upper + settings[n + 3 + 2 * i] * done
            return {k_joint: (lower, upper)}

        return BoundLimit(
            name=f"{self.joint} by {self.other}",
            key=f"coupled {k_joint} {k_other} {n}",
            rank=POSITION,
            positions=(k_joint,),
            coordinates=(c_joint, c_other),
            coupled=True,
            needs_start=False,
            settings=(*table[:, 0].tolist(), *table[0, 1:].tolist(), *slopes.ravel().tolist()),
            n_numbers=0,
            rows_of=no_numbers,
            numbers=None,
            bounds=bounds,
        )


def _checked(table: ArrayLike) -> Floats:
    """The table as numbers, or what is wrong with it."""
    rows = np.array(real_array(table, "CoupledLimit.table"))
    if rows.ndim != 2 or rows.shape[1] != 3 or not rows.shape[0]:
        raise ShapeError(f"CoupledLimit.table must have shape (k, 3), not {rows.shape}")
    if not np.isfinite(rows).all():
        raise InputError("CoupledLimit.table must be finite numbers")
    if np.any(np.diff(rows[:, 0]) <= 0.0):
        raise InputError("CoupledLimit.table: the other's positions must ascend from row to row")
    crossed = np.flatnonzero(rows[:, 1] > rows[:, 2])
    if crossed.size:
        raise InputError(
            f"CoupledLimit.table: row {crossed[0]} has its lower limit above its upper"
        )
    return rows
