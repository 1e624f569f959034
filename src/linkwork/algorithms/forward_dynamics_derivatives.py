"""First derivatives of forward dynamics with respect to position, velocity and joint forces."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.closed_derivatives import closed_forward_derivatives, step_masses
from linkwork.algorithms.inverse_dynamics import bias_forces, numbers
from linkwork.algorithms.joint_matrix import JointMatrix
from linkwork.algorithms.mass_matrix import symmetric_matrix
from linkwork.algorithms.steps import steps_of
from linkwork.algorithms.tree_derivatives import derivatives
from linkwork.algorithms.tree_factor import TreeFactor, factor, inverted, solved
from linkwork.algorithms.triples import minus, negated
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


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
    steps, rates = steps_of(o, m, q), numbers(m, v)
    masses = factor(step_masses(m, steps).lower(), m.n_v)
    forces = minus(numbers(m, tau), numbers(m, bias_forces(o, m, q, v)))
    found = derivatives(m, steps, rates, solved(masses, forces))
    by_forces = symmetric_matrix(o, inverted(masses), m.n_v)
    return [_accelerations(o, masses, part, m.n_v) for part in (found.q, found.v)] + [by_forces]


def _accelerations(o: Ops, masses: TreeFactor, forces: JointMatrix, n: int) -> Block:
    """What is lost in acceleration, column by column, where joint forces grow so."""
    if n == 0:
        return o.const(np.zeros((0, 0)))
    result: list[Block] = []
    for j in range(n):
        column: list[Scalar] = [negated(forces.get(i, j)) for i in range(n)]
        result.append(o.vector(solved(masses, column)))
    return o.matrix(result)
