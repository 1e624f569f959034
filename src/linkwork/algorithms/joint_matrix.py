"""A matrix over v, filled pair by pair: each step with the steps that carry it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.steps import Spatial, Step
from linkwork.algorithms.triples import Triple, times
from linkwork.ops.protocol import Block, Ops


class JointMatrix:
    """A matrix (nv, nv) that starts at zero; entries of coupled joints add up."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._entries: dict[tuple[int, int], Scalar] = {}

    def add(self, row: tuple[Step, int], column: tuple[Step, int], value: Scalar) -> None:
        """Add to the entry of two numbers of v: each a step, and which one of its own."""
        (a, i), (b, j) = row, column
        self.add_plain(a.start + i, b.start + j, times(a.factor * b.factor, value))

    def add_plain(self, row: int, column: int, value: Scalar) -> None:
        """Add to the entry at these indices."""
        self._entries[row, column] = added(self._entries.get((row, column), 0.0), value)

    def get(self, row: int, column: int) -> Scalar:
        """The entry at these indices."""
        return self._entries.get((row, column), 0.0)

    def lower(self) -> dict[tuple[int, int], Scalar]:
        """The entries on and left of the diagonal that are not zero by structure."""
        return {at: x for at, x in self._entries.items() if at[0] >= at[1] and not is_zero(x)}

    def block(self, o: Ops) -> Block:
        """The matrix."""
        if self._n == 0:
            return o.const(np.zeros((0, 0)))
        return o.matrix(
            [o.vector([self.get(i, j) for i in range(self._n)]) for j in range(self._n)]
        )


def climb(
    steps: list[Step], k: int, wrenches: list[Spatial], moments: list[Triple]
) -> Iterator[tuple[int, list[Spatial], list[Triple]]]:
    """The steps that carry step k and move, nearest first, and these wrenches and moments there.

    A moment without a force is the same about every point.
    """
    at = k
    while (parent := steps[at].parent) >= 0 and steps[parent].free:
        wrenches = [steps[at].wrench_out(wrench) for wrench in wrenches]
        moments = [steps[at].out(moment) for moment in moments]
        at = parent
        yield at, wrenches, moments
