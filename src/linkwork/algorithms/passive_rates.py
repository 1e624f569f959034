"""Minimum-norm velocities of the passive joints of an assembled mechanism, by the actuated ones.

J v = 0 with the actuated speeds given: J_p x = -J_a by the implicit function theorem, one column of
x for each actuated number, and of all that hold the least x, which is -J_p⁺ J_a
(`orthogonal_factors.py`): redundant rows and joints that are free are no special cases.

Source: C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE
Transactions on Robotics and Automation 6 (1990).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.algorithms.actuation import actuation, passive_motion
from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.inverse_dynamics import as_vector
from linkwork.algorithms.triples import negated
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def passive_rates(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Block:
    """The derivative of v by the speeds of the actuated joints, where the loops stay closed.

    Shapes: q (nq,) that is assembled to (nv, n_actuated), columns in the order of `actuated`. Of
    passive joints that are free the least motion; joints in no loop that are not actuated stand
    still. ``free_motions``: see `actuation.py`. At singularities of type 2, and where the actuated
    joints hold each other, it does not close the loops: `Robot.passive_rates` looks after both.

    Source: the implicit function theorem (see `passive_rates.py`).
    """
    return as_matrix(o, following(o, m, q, free_motions=free_motions).columns, m.n_v)


def as_matrix(o: Ops, columns: list[list[Scalar]], rows: int) -> Block:
    """Columns of so many rows as a matrix, which may be empty."""
    if not columns:
        return o.const(np.zeros((rows, 0)))
    return o.matrix([as_vector(o, column) for column in columns])


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
