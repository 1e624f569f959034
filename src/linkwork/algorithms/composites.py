"""All that each joint moves, as one body: its inertia, how that changes, and the wrench on it.

A composite body is known by sums over its points of mass m at r with velocity u: the mass, the
first moments h = sum m r and second moments J = sum m r rᵀ; with motion the momentum p = sum m u
and G = sum m r uᵀ. The wrench that moves one rigid body is ``I a + B v`` with

    I = [[m, -[h]x], [[h]x, tr J - J]],  B = [[0, -[p]x], [0, tr G - Gᵀ]],

and the B of a composite body is the sum of those of its bodies, as its I is.

Source: S. Echeandia and P. M. Wensing, "Numerical methods to compute the Coriolis matrix and
Christoffel symbols for rigid-body systems", ASME J. Computational and Nonlinear Dynamics 16 (2021),
whose matrix B this is, written in sums over points.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.sweep import (
    Inertia,
    JointTransform,
    Motion,
    Output,
    Spatial,
    States,
    Sweep,
    both,
    power,
    traced,
)
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    cross,
    flipped,
    plus,
    scaled,
    times,
    total,
)


class MomentumMatrix(NamedTuple):
    """The momentum p of a body, and its sum G of m r uᵀ: together they say B."""

    p: Triple
    G: Rows

    def of(self, motion: Spatial) -> Spatial:
        """B times a motion."""
        return Spatial(cross(motion.angular, self.p), traced(flipped(self.G), motion.angular))

    def against(self, motion: Spatial) -> Triple:
        """A motion (row) times B: it acts on angular velocities only."""
        v, w = motion
        return plus(cross(self.p, v), traced(self.G, w))


def momentum_matrix(own: Inertia, velocity: Spatial) -> MomentumMatrix:
    """Momentum and G of one rigid body."""
    u, w = velocity
    p = plus(scaled(own.mass, u), cross(w, own.first))
    G = [plus(scaled(h, u), cross(w, row)) for h, row in zip(own.first, own.second, strict=True)]
    return MomentumMatrix(p, G)


def inertial_wrench(own: Inertia, momentum: MomentumMatrix, motion: Motion) -> Spatial:
    """The wrench that moves one rigid body so: I a + B v."""
    return both(own.of(motion.acceleration), momentum.of(motion.velocity))


def composite_inertias(sweep: Sweep, own: States) -> States:
    """The `Inertia` of all that each joint moves."""

    def visit(step: JointTransform, whole: Inertia) -> tuple[Inertia, Inertia]:
        mass, turned = whole.mass, step.out(whole.first)
        first = plus(turned, scaled(mass, step.r))
        # J + h rᵀ + r hᵀ + m r rᵀ
        second = step.symmetric_out(whole.second)
        for i in range(3):
            for j in range(i, 3):
                shift = [times(step.r[i], turned[j]), times(step.r[j], first[i])]
                second[i][j] = second[j][i] = total([second[i][j], *shift])
        return whole, Inertia(mass, first, second)

    return sweep.inwards(own, visit)


def composite_momenta(sweep: Sweep, own: States) -> States:
    """The `MomentumMatrix` of all that each joint moves."""

    def visit(step: JointTransform, whole: MomentumMatrix) -> tuple[MomentumMatrix, MomentumMatrix]:
        p, G = step.out(whole.p), step.matrix_out(whole.G)
        shifted = [plus(row, scaled(x, p)) for row, x in zip(G, step.r, strict=True)]
        return whole, MomentumMatrix(p, shifted)

    return sweep.inwards(own, visit)


def composite_wrenches(sweep: Sweep, own: States) -> States:
    """The wrenches on all that each joint moves."""
    return sweep.inwards(own, lambda step, whole: (whole, step.wrench_out(whole)))


def composite_mass_matrix(sweep: Sweep) -> Output:
    """The mass matrix (nv, nv) in the expressions that derivatives have of it: they are shared."""
    matrix = sweep.output(sweep.m.n_v, sweep.m.n_v)

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
    sweep.velocities(sweep.m.joint_armature, lambda k, value: matrix.add((k, k), value))
    return matrix
