"""First derivatives of inverse and forward dynamics by position, velocity, and what drives them."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.closed_derivatives import (
    closed_forward_derivatives,
    closed_inverse_derivatives,
)
from linkwork.algorithms.forward_dynamics import (
    accelerate,
    articulated_bodies,
    solve_articulated,
    symmetric_matrix,
    unit_forces,
)
from linkwork.algorithms.inverse_dynamics import numbers, tree_forces
from linkwork.algorithms.joint_transforms import JointTransform, Rates
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.sweep import Output, Sweep
from linkwork.algorithms.tree_derivatives import (
    ACCELERATION,
    POSITION,
    VELOCITY,
    add_derivatives,
    derivatives,
)
from linkwork.algorithms.tree_factor import TreeFactor, factor, inverted, solved
from linkwork.algorithms.vector3 import Scalar, minus, negated
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def inverse_dynamics_derivatives(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> list[Block]:
    """Derivatives of inverse dynamics: d tau / dq, d tau / dv, d tau / d(dv).

    Shapes: q (nq,), v (nv,), dv (nv,) to 3 of (nv, nv): rows are joint forces, columns are those
    of v, also for q (its tangent). The third is the mass matrix, rotors included. An external
    wrench keeps its direction in the world while the joints move. Friction's derivative is 0. With
    loops or couplings: of the actuated joints' forces (`closed_derivatives.py`).

    Sources: J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics
    algorithms", Robotics: Science and Systems (2018); S. Singh, R. P. Russell, P. M. Wensing,
    "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", IEEE
    Robotics and Automation Letters 7 (2022): here in the axes of the bodies.
    """
    if m.is_closed:
        return closed_inverse_derivatives(o, m, q, v, dv, free_motions=free_motions)
    return derivatives(Sweep(o, m, q), v, dv).block(o)


def forward_dynamics_derivatives(
    o: Ops, m: Mechanism, q: Block, v: Block, tau: Block
) -> list[Block]:
    """Derivatives of forward dynamics: d dv / dq, d dv / dv, d dv / d tau.

    Shapes: q (nq,), v (nv,), tau (nv,) to 3 of (nv, nv): rows are accelerations, columns those of
    v, also for q (its tangent). The third is the inverse of the mass matrix, rotors included.
    Parameters count as in `inverse_dynamics_derivatives`, of which these are made: the first two
    are minus the inverse of the mass matrix times those of inverse dynamics. With loops or
    couplings (`closed_derivatives.py`) the third is the inverse inertia that they leave.

    Source: J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics
    algorithms", Robotics: Science and Systems (2018), section IV.
    """
    if m.is_closed:
        return closed_forward_derivatives(o, m, q, v, tau)
    sweep, rates = Sweep(o, m, q), numbers(m, v)
    masses = factor(mass_matrix.passes(sweep).lower(), m.n_v)
    forces = minus(numbers(m, tau), numbers(m, tree_forces(sweep, v)))
    found = derivatives(sweep, rates, solved(masses, forces))
    by_forces = symmetric_matrix(o, inverted(masses), m.n_v)
    parts = (POSITION, VELOCITY)
    return [_accelerations(o, masses, found, part) for part in parts] + [by_forces]


def _accelerations(o: Ops, masses: TreeFactor, forces: Output, part: int) -> Block:
    """The loss in acceleration, column by column, where joint forces grow so."""
    n = forces.shape[1]
    if n == 0:
        return o.const(np.zeros((0, 0)))
    result: list[Block] = []
    for j in range(n):
        column: list[Scalar] = [negated(forces.get(part, i, j)) for i in range(n)]
        result.append(o.vector(solved(masses, column)))
    return o.matrix(result)


def forward_dynamics_derivatives_in_passes(sweep: Sweep, v: Rates, tau: Rates) -> Output:
    """`forward_dynamics_derivatives` in passes, for long mechanisms.

    A column is the answer to what inverse dynamics changes by, or to a unit of a joint force.
    """
    n, ways = sweep.m.n_v, articulated_bodies(sweep)
    found, dv, changes = sweep.output(3, n, n), sweep.scratch(n), sweep.scratch(3, n, n)
    accelerate(sweep, ways, v, tau, dv)
    add_derivatives(sweep, v, dv, changes)
    units = unit_forces(sweep)

    def column(j: int) -> None:
        for part in range(3):

            def push(step: JointTransform, k: int, part: int = part) -> Scalar:
                if part == ACCELERATION:
                    return units[step.start + k, j]
                return negated(changes[part, step.start + k, j])

            def entry(step: JointTransform, k: int, value: Scalar, part: int = part) -> None:
                found.add((part, step.start + k, j), value)

            solve_articulated(sweep, ways, push, entry)

    sweep.columns(column)
    return found
