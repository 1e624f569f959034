"""Velocities of the passive joints of an assembled mechanism that follow the actuated ones.

J v = 0 with the actuated speeds given: J_p x = -J_a by the implicit function theorem, one column of
x for each actuated number, and of all that hold the least x, which is -J_p⁺ J_a
(`orthogonal_factors.py`): redundant rows and joints that are free are no special cases.

Source: C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE
Transactions on Robotics and Automation 6 (1990).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.actuation import actuation, passive_motion
from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.triples import negated
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


class Following(NamedTuple):
    """The motions that follow the actuated joints, and what tells whether they are relied on."""

    columns: list[list[Scalar]]
    """dv by each number of the actuated joints, (nv,) each."""
    left: list[Scalar]
    """Rates of the rows that the motions leave: loops that do not close."""
    singular: Scalar
    """1 where passive joints move freely that do not in general, else 0."""


def following(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Following:
    """The rates at q (nq,), where it is assembled; ``free_motions`` as in `actuation`.

    Joints that are neither actuated nor in a loop stand still.
    """
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    found = Following([], [], by.singular)
    for k in by.actuated:
        x, left = passive_motion(by, [negated(row.get(k, 0.0)) for row in by.rows])
        column: list[Scalar] = [0.0] * m.n_v
        column[k] = 1.0
        for i, value in zip(by.passive, x, strict=True):
            column[i] = value
        found.columns.append(column)
        found.left.extend(left)
    return found
