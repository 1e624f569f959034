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

from collections.abc import Callable, Iterable
from typing import NamedTuple

from linkwork.algorithms.joint_transforms import Inertia, JointTransform, Spatial, both, traced
from linkwork.algorithms.sweep import Motion, States, Sweep, summed
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    cross,
    less,
    plus,
    plus_cross,
    scaled,
    times,
    transposed,
)
from linkwork.ops.protocol import Block


class MomentumMatrix(NamedTuple):
    """The momentum p of a body, and its sum G of m r uᵀ: together they say B."""

    p: Vector3
    G: Rows

    def of(self, motion: Spatial) -> Spatial:
        """B times a motion."""
        return Spatial(cross(motion.angular, self.p), traced(transposed(self.G), motion.angular))

    def against(self, motion: Spatial) -> Vector3:
        """A motion (row) times B: it acts on angular velocities only."""
        v, w = motion
        return plus(cross(self.p, v), traced(self.G, w))


def momentum_matrix(own: Inertia, velocity: Spatial) -> MomentumMatrix:
    """Momentum and G of one rigid body."""
    u, w = velocity
    p = plus_cross(scaled(own.mass, u), w, own.first)
    G = [plus_cross(scaled(h, u), w, row) for h, row in zip(own.first, own.second, strict=True)]
    return MomentumMatrix(p, G)


def inertial_wrench(own: Inertia, momentum: MomentumMatrix, motion: Motion) -> Spatial:
    """The wrench that moves one rigid body so: I a + B v."""
    return both(own.of(motion.acceleration), momentum.of(motion.velocity))


def composite_inertias(sweep: Sweep, own: States) -> States:
    """The `Inertia` of all that each joint moves."""
    return sweep.inwards(own, lambda step, whole: (whole, step.inertia_out(whole)))


class PointMass(NamedTuple):
    """Mass and first moment of a body: all that gravity and the centre of mass ask for."""

    mass: Scalar
    first: Vector3

    def out(self, step: JointTransform) -> PointMass:
        """The same in the frame before a transform."""
        return PointMass(self.mass, plus(step.out(self.first), scaled(self.mass, step.r)))


def point_masses(
    sweep: Sweep, *, base: bool = False, share: Callable[[], Scalar] = lambda: 1.0
) -> States:
    """The `PointMass` that each joint moves itself, times a share; ``base`` as in `inertias`."""

    def visit(_: JointTransform, own: Inertia) -> PointMass:
        return PointMass(times(share(), own.mass), scaled(share(), own.first))

    return sweep.each(visit, sweep.inertias(points=True, base=base))


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


class External(NamedTuple):
    """The push of the world on a composite body: force, sum of moments, sum of F rᵀ.

    The moments are those given, without the forces' own about the origin.
    """

    force: Vector3
    moment: Vector3
    G: Rows

    @property
    def wrench(self) -> Spatial:
        """The wrench about the origin."""
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = self.G
        # r x F of the matrix F rᵀ
        arms = [less(zy, yz), less(xz, zx), less(yx, xy)]
        return Spatial(self.force, plus(self.moment, arms))

    def turned(self, angular: Vector3) -> Spatial:
        """The wrench's change where force and moment turn about the point that they attack."""
        moment = plus(cross(angular, self.moment), traced(self.G, angular))
        return Spatial(cross(angular, self.force), moment)

    def against(self, motion: Spatial) -> Vector3:
        """The power of `turned` on a motion, for each component of its argument."""
        v, w = motion
        moment = plus(cross(self.moment, w), traced(transposed(self.G), w))
        return plus(cross(self.force, v), moment)


def external_wrenches(sweep: Sweep) -> States:
    """The `External` on all that each joint moves; None where there is nothing."""

    def visit(
        step: JointTransform, here: External | None
    ) -> tuple[External | None, External | None]:
        if here is None:
            return None, None
        force, moment = step.out(here.force), step.out(here.moment)
        G = [
            plus(row, scaled(x, step.r))
            for row, x in zip(step.matrix_out(here.G), force, strict=True)
        ]
        return here, External(force, moment, G)

    return sweep.inwards(pushed(sweep), visit)


def pushed(sweep: Sweep) -> States:
    """The `External` on each body by itself; None where there is nothing."""
    return sweep.pushed(_on_body)


def _on_body(
    wrenches: Iterable[tuple[Block, Vector3]], into: Callable[[Vector3], Vector3]
) -> External | None:
    found: External | None = None
    for wrench, arm in wrenches:
        force = into([wrench[0], wrench[1], wrench[2]])
        moment = into([wrench[3], wrench[4], wrench[5]])
        found = summed(found, External(force, moment, [scaled(x, arm) for x in force]))
    return found
