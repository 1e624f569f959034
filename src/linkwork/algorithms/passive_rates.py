"""What all joints of a mechanism with loops do when its actuated ones move."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.inverse_dynamics import as_vector
from linkwork.algorithms.least_rates import following
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def passive_rates(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Block:
    """The derivative of v by the speeds of the actuated joints, where the loops stay closed.

    Shapes: q (nq,) that is assembled to (nv, n_actuated), columns in the order of `actuated`. Of
    passive joints that are free the least motion; joints in no loop that are not actuated stand
    still. ``free_motions``: see `actuation.py`. At singularities of type 2, and where the actuated
    joints hold each other, it does not close the loops: `Robot.passive_rates` looks after both.

    Source: the implicit function theorem (see `least_rates.py`).
    """
    return as_matrix(o, following(o, m, q, free_motions=free_motions).columns, m.n_v)


def as_matrix(o: Ops, columns: list[list[Scalar]], rows: int) -> Block:
    """Columns of so many rows as a matrix, which may be empty."""
    if not columns:
        return o.const(np.zeros((rows, 0)))
    return o.matrix([as_vector(o, column) for column in columns])
