"""The Coriolis matrix: one factor of the forces that velocities take, out of many."""

from __future__ import annotations

from linkwork.algorithms.axes import added
from linkwork.algorithms.composites import (
    composite_inertias,
    composite_rates,
    own_inertias,
    rates,
)
from linkwork.algorithms.joint_matrix import JointMatrix, climb
from linkwork.algorithms.step_motion import both, crossed, motions_of, power
from linkwork.algorithms.steps import columns, steps_of
from linkwork.algorithms.triples import dot
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def coriolis_matrix(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """The Coriolis matrix C: C v and gravity's forces are the bias forces.

    Shapes: q (nq,), v (nv,) to (nv, nv). Units: N m s for turns, N s/m for slides. Of all matrices
    with this product it is one for which dM/dt - 2 C is skew, M being the mass matrix; where no
    joint floats it is that of Christoffel's symbols. Damping has no part in it.

    Source: S. Echeandia and P. M. Wensing, "Numerical methods to compute the Coriolis matrix and
    Christoffel symbols for rigid-body systems", ASME J. Computational and Nonlinear Dynamics 16
    (2021).
    """
    steps = steps_of(o, m, q)
    motions, own = motions_of(m, steps, v), own_inertias(m, steps)
    inertias = composite_inertias(steps, own)
    moving = composite_rates(
        steps, [rates(body, motion.velocity) for body, motion in zip(own, motions, strict=True)]
    )
    # for each number of v its motion S and dS/dt
    every = [
        [(column, crossed(motion.velocity, column)) for column in columns(step)]
        for step, motion in zip(steps, motions, strict=True)
    ]
    matrix = JointMatrix(m.n_v)
    for k, step in enumerate(steps):
        for i, (column, rate) in enumerate(every[k]):
            wrench = both(moving[k].of(column), inertias[k].of(rate))
            for j, (other, _) in enumerate(every[k]):
                matrix.add((step, j), (step, i), power(other, wrench))
            momentum, turning = inertias[k].of(column), moving[k].against(column)
            for above, (wrench_at, momentum_at), (turning_at,) in climb(
                steps, k, [wrench, momentum], [turning]
            ):
                for j, (other, other_rate) in enumerate(every[above]):
                    there = (steps[above], j)
                    matrix.add(there, (step, i), power(other, wrench_at))
                    back = added(dot(other.angular, turning_at), power(other_rate, momentum_at))
                    matrix.add((step, i), there, back)
    return matrix.block(o)
