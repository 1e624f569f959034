"""First derivatives of forward dynamics with respect to position, velocity and joint forces."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.composites import composite_inertias, own_inertias
from linkwork.algorithms.inverse_dynamics import bias_forces, numbers
from linkwork.algorithms.inverse_dynamics_derivatives import derivatives
from linkwork.algorithms.joint_matrix import JointMatrix, climb
from linkwork.algorithms.mass_matrix import symmetric_matrix
from linkwork.algorithms.step_motion import power
from linkwork.algorithms.steps import Step, columns, steps_of
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
    are minus the inverse of the mass matrix times those of inverse dynamics.

    Source: J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics
    algorithms", Robotics: Science and Systems (2018), section IV.
    """
    steps, rates = steps_of(o, m, q), numbers(m, v)
    masses = factor(_mass_matrix(m, steps).lower(), m.n_v)
    forces = minus(numbers(m, tau), numbers(m, bias_forces(o, m, q, v)))
    found = derivatives(m, steps, rates, solved(masses, forces))
    by_forces = symmetric_matrix(o, inverted(masses), m.n_v)
    return [_accelerations(o, masses, part, m.n_v) for part in (found.q, found.v)] + [by_forces]


def _mass_matrix(m: Mechanism, steps: list[Step]) -> JointMatrix:
    """The mass matrix in the expressions that the derivatives have of it: they are shared."""
    matrix = JointMatrix(m.n_v)
    for k, body in enumerate(composite_inertias(steps, own_inertias(m, steps))):
        for i, column in enumerate(columns(steps[k])):
            own, momentum = (steps[k], i), body.of(column)
            for j, other in enumerate(columns(steps[k])):
                matrix.add((steps[k], j), own, power(other, momentum))
            for above, (there,), _ in climb(steps, k, [momentum], []):
                for j, other in enumerate(columns(steps[above])):
                    entry = power(other, there)
                    matrix.add((steps[above], j), own, entry)
                    matrix.add(own, (steps[above], j), entry)
    for k in range(m.n_v):
        matrix.add_plain(k, k, m.armature(k))
    return matrix


def _accelerations(o: Ops, masses: TreeFactor, forces: JointMatrix, n: int) -> Block:
    """What is lost in acceleration, column by column, where joint forces grow so."""
    if n == 0:
        return o.const(np.zeros((0, 0)))
    result: list[Block] = []
    for j in range(n):
        column: list[Scalar] = [negated(forces.get(i, j)) for i in range(n)]
        result.append(o.vector(solved(masses, column)))
    return o.matrix(result)
