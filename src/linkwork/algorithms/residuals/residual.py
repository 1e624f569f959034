"""What rows that shall become zero consist of, and how they are measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.ops.protocol import Block

Floats = NDArray[np.float64]
Unit = Literal["m", "rad", "1"]


class Residual(NamedTuple):
    """What is still to go, and how the velocities change it.

    ``error`` (k,) is zero where the task is done: the target less what is. ``columns`` are the nv
    columns (k,) of its derivative by v, with the sign turned, to first order in the error.
    ``squared`` has a scalar for each group, which is compared with the group's threshold and is
    zero only where the group is done, never at an antipode.
    """

    error: Block
    columns: list[Block]
    squared: list[Block]


@dataclass(frozen=True)
class Group:
    """Rows of one kind: ``start`` to ``stop`` - 1, in metres, radians or plain numbers.

    Where ``chord`` holds, the measure is that of an angle a by its chord 2 sin(a / 2), which grows
    up to half a turn.
    """

    name: str
    unit: Unit
    start: int
    stop: int
    chord: bool = False

    def threshold(self, tolerance: float) -> float:
        """The number that the group's `Residual.squared` must not exceed."""
        if self.chord:
            return (2.0 * math.sin(0.5 * min(tolerance, math.pi))) ** 2
        return tolerance * tolerance

    def error(self, squared: Floats) -> Floats:
        """The error in the group's unit from its `Residual.squared`."""
        length = np.sqrt(np.maximum(squared, 0.0))
        if self.chord:
            return 2.0 * np.arcsin(np.minimum(0.5 * length, 1.0))
        return length
