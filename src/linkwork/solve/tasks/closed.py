"""All loops of the mechanism closed, and all its couplings kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.closure import closure_parts, opening_units
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
)

TOLERANCE = 1.0e-12
"""What counts as closed, in `opening_units`: what rounding leaves of lengths and turns."""


@dataclass(frozen=True, eq=False)
class Closed(Task):
    """Every loop of the mechanism closed, and every coupling kept; it has no target.

    The rows are those of `algorithms.closure`, a group or two for each loop. Its tolerance is its
    own: the options of a call do not change it.
    """

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        parts = closure_parts(m)
        if not parts:
            raise InputError(f"'{m.name}' has no loops or couplings, so nothing is to be closed")
        starts = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
        groups = [
            Group(g.name, g.unit, start + g.start, start + g.stop, chord=g.chord)
            for start, part in zip(starts, parts, strict=False)
            for g in part.groups
        ]

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = [part.residual(o, q) for part in parts]
            columns = [o.concat([each.columns[k] for each in found]) for k in range(m.n_v)]
            squared = [x for each in found for x in each.squared]
            return Residual(o.concat([each.error for each in found]), columns, squared)

        blocks = zip(starts[:-1], starts[1:], (part.coordinates for part in parts), strict=True)
        tolerances = [TOLERANCE * unit for unit in opening_units(m)]
        given = self if self.tolerance is not None else replace(self, tolerance=tolerances)
        found = bound(
            given,
            Structure(
                name="closed",
                key="closed",
                groups=groups,
                coordinates=sorted({c for part in parts for c in part.coordinates}),
                n_target=0,
                read=_no_target,
                residual=residual,
                counts_turns=sorted({k for part in parts for k in part.counts_turns}),
            ),
        )
        bent = {c for part in parts for c in part.coordinates if c not in part.straight}
        straight = {c for part in parts for c in part.straight} - bent
        return replace(
            found, keeps_tolerance=True, blocks=tuple(blocks), straight=tuple(sorted(straight))
        )


def _no_target(target: ArrayLike, of: str) -> NDArray[np.float64]:
    raise InputError(f"{of}: it takes no target")
