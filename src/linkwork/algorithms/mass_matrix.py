"""The mass matrix of the joints and the Coriolis matrix: sums over composite bodies."""

from __future__ import annotations

from typing import Any

from linkwork.algorithms.composite_bodies import (
    MomentumMatrix,
    composite_inertias,
    composite_momenta,
    momentum_matrix,
)
from linkwork.algorithms.joint_transforms import (
    Inertia,
    JointTransform,
    Rates,
    Spatial,
    both,
    crossed,
    power,
)
from linkwork.algorithms.sweep import InPasses, Output, Sweep, motions
from linkwork.algorithms.vector3 import Vector3, added, dot


@InPasses
def mass_matrix(sweep: Sweep) -> Output:
    """The mass matrix: symmetric, positive definite where every joint moves some mass.

    Shapes: q (nq,) to (nv, nv). Units: kg m² for turns, kg for slides, kg m between them. The
    kinetic energy is v·M v / 2 and joint forces change by M dv. Rotors (armature) are a parameter.

    Source: composite bodies, M. W. Walker and D. E. Orin, "Efficient dynamic computer simulation of
    robotic mechanisms", ASME J. Dynamic Systems 104 (1982).
    """
    matrix = sweep.output(sweep.m.n_v, sweep.m.n_v)
    add_masses(sweep, matrix)
    return matrix


def add_masses(sweep: Sweep, matrix: Output) -> None:
    """Add the `mass_matrix` to numbers that are there."""

    def begin(step: JointTransform, whole: Inertia) -> list[Spatial]:
        found = [whole.of(column) for column in step.columns()]
        for i, momentum in enumerate(found):
            for j, other in enumerate(step.columns()):
                matrix.meet((step, j), (step, i), power(other, momentum))
        return found

    def carry(step: JointTransform, momenta: list[Spatial]) -> list[Spatial]:
        return [step.wrench_out(momentum) for momentum in momenta]

    def meet(
        step: JointTransform, _: Inertia, above: JointTransform, __: Inertia, there: list[Spatial]
    ) -> None:
        for i, momentum in enumerate(there):
            for j, other in enumerate(above.columns()):
                entry = power(other, momentum)
                matrix.meet((above, j), (step, i), entry)
                matrix.meet((step, i), (above, j), entry)

    sweep.up(begin, carry, meet, composite_inertias(sweep, sweep.inertias()))
    sweep.of_velocities("armature", lambda k, value: matrix.add((k, k), value))


@InPasses
def coriolis_matrix(sweep: Sweep, v: Rates) -> Output:
    """The Coriolis matrix C: C v and gravity's forces are the bias forces.

    Shapes: q (nq,), v (nv,) to (nv, nv). Units: N m s for turns, N s/m for slides. Of all matrices
    with this product it is one for which dM/dt - 2 C is skew, M being the mass matrix; where no
    joint floats it is that of Christoffel's symbols. Damping has no part in it.

    Source: S. Echeandia and P. M. Wensing, "Numerical methods to compute the Coriolis matrix and
    Christoffel symbols for rigid-body systems", ASME J. Computational and Nonlinear Dynamics 16
    (2021).
    """
    moving, own = motions(sweep, v), sweep.inertias()
    momenta = sweep.each(
        lambda step, body, motion: momentum_matrix(body, motion.velocity), own, moving
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

    wholes = composite_inertias(sweep, own), composite_momenta(sweep, momenta)
    sweep.up(begin, carry, meet, *wholes, every)
    return matrix


_Column = tuple[Spatial, Spatial]
_Carried = tuple[Spatial, Spatial, Vector3]
