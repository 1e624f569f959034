"""The Coriolis matrix: one factor of the forces that velocities take, out of many."""

from __future__ import annotations

from typing import Any

from linkwork.algorithms.axes import added
from linkwork.algorithms.composites import (
    MomentumMatrix,
    composite_inertias,
    composite_momenta,
    momentum_matrix,
)
from linkwork.algorithms.sweep import (
    Inertia,
    JointTransform,
    Output,
    Rates,
    Spatial,
    Sweep,
    both,
    crossed,
    motions,
    power,
)
from linkwork.algorithms.triples import Triple, dot
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
    return coriolis_by_sweep(Sweep(o, m, q), v).block(o)


def coriolis_by_sweep(sweep: Sweep, v: Rates) -> Output:
    """The Coriolis matrix by sweeps."""
    moving, own = motions(sweep, v), sweep.inertias()
    inertias = composite_inertias(sweep, own)
    momenta = composite_momenta(
        sweep,
        sweep.each(lambda step, body, motion: momentum_matrix(body, motion.velocity), own, moving),
    )
    # for each number of v its motion S and dS/dt
    every = sweep.each(
        lambda step, motion: [(s, crossed(motion.velocity, s)) for s in step.columns()], moving
    )
    matrix = sweep.output(sweep.m.n_v, sweep.m.n_v)

    def begin(
        step: JointTransform, inertia: Inertia, momentum: MomentumMatrix, own: list[_Column]
    ) -> list[_Carried]:
        found: list[_Carried] = []
        for i, (column, rate) in enumerate(own):
            wrench = both(momentum.of(column), inertia.of(rate))
            for j, (other, _) in enumerate(own):
                matrix.meet((step, j), (step, i), power(other, wrench))
            found.append((wrench, inertia.of(column), momentum.against(column)))
        return found

    def carry(step: JointTransform, all: list[_Carried]) -> list[_Carried]:
        return [(step.wrench_out(a), step.wrench_out(b), step.out(c)) for a, b, c in all]

    def meet(step: JointTransform, *given: Any) -> None:
        above, carriers, carried = given[3], given[6], given[7]
        for i, (wrench, momentum, turning) in enumerate(carried):
            for j, (other, other_rate) in enumerate(carriers):
                matrix.meet((above, j), (step, i), power(other, wrench))
                back = added(dot(other.angular, turning), power(other_rate, momentum))
                matrix.meet((step, i), (above, j), back)

    sweep.up(begin, carry, meet, inertias, momenta, every)
    return matrix


_Column = tuple[Spatial, Spatial]
_Carried = tuple[Spatial, Spatial, Triple]
