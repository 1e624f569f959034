"""What each step moves, taken as one body: its inertia, how that changes, and the wrench on it.

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

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import BodyMass, lightened, symmetric
from linkwork.algorithms.step_motion import Motion, both
from linkwork.algorithms.steps import Spatial, Step
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
    cross,
    flipped,
    negated,
    plus,
    scaled,
    times,
    total,
    zeros,
)
from linkwork.mechanism.model import Mechanism


class Inertia(NamedTuple):
    """Mass, first and second moments about the origin of a step's frame, in its axes."""

    mass: Scalar
    first: Triple
    second: Rows  # symmetric

    def of(self, motion: Spatial) -> Spatial:
        """The momentum of this motion: I times it."""
        v, w = motion
        linear = plus(scaled(self.mass, v), cross(w, self.first))
        return Spatial(linear, plus(cross(self.first, v), traced(self.second, w)))


class Rates(NamedTuple):
    """The momentum p of a body, and its sum of m r uᵀ."""

    p: Triple
    G: Rows

    def of(self, motion: Spatial) -> Spatial:
        """B times a motion."""
        return Spatial(cross(motion.angular, self.p), traced(flipped(self.G), motion.angular))

    def against(self, motion: Spatial) -> Triple:
        """A motion (row) times B: it acts on angular velocities only."""
        v, w = motion
        return plus(cross(self.p, v), traced(self.G, w))


def traced(a: Rows, x: Triple) -> Triple:
    """``(tr a - a) x``, for a matrix (3, 3)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = a
    complement = [
        [added(yy, zz), negated(xy), negated(xz)],
        [negated(yx), added(xx, zz), negated(yz)],
        [negated(zx), negated(zy), added(xx, yy)],
    ]
    return applied(complement, x)


# -------------------------------------------------------------------------------------- one body


def own_inertias(m: Mechanism, steps: list[Step], *, points: bool = False) -> list[Inertia]:
    """The inertias that the steps move themselves, lightened of what those before them carry.

    ``points`` leaves second moments out, for what does not depend on them.
    """
    bodies = lightened(m, points=points)
    return [
        _of_body(bodies[step.body]) if step.owner else Inertia(0.0, zeros(), [zeros()] * 3)
        for step in steps
    ]


def _of_body(own: BodyMass) -> Inertia:
    return Inertia(own.mass, own.first, symmetric(own.second))


def rates(own: Inertia, velocity: Spatial) -> Rates:
    """Momentum and G of one rigid body."""
    u, w = velocity
    p = plus(scaled(own.mass, u), cross(w, own.first))
    G = [plus(scaled(h, u), cross(w, row)) for h, row in zip(own.first, own.second, strict=True)]
    return Rates(p, G)


def inertial_wrench(own: Inertia, rates: Rates, motion: Motion) -> Spatial:
    """The wrench that moves one rigid body so: I a + B v."""
    return both(own.of(motion.acceleration), rates.of(motion.velocity))


# ----------------------------------------------------------------------------- composite bodies


def composite_inertias(steps: list[Step], own: list[Inertia]) -> list[Inertia]:
    """All that each step moves, as one body."""
    result = list(own)
    for step, k in inwards(steps):
        at, mass = result[step.parent], result[k].mass
        turned = step.out(result[k].first)
        first = plus(turned, scaled(mass, step.r))
        # J + h rᵀ + r hᵀ + m r rᵀ
        second = step.symmetric_out(result[k].second)
        for i in range(3):
            for j in range(i, 3):
                shift = [times(step.r[i], turned[j]), times(step.r[j], first[i])]
                second[i][j] = second[j][i] = total([second[i][j], *shift])
        result[step.parent] = Inertia(
            added(at.mass, mass),
            plus(at.first, first),
            [plus(a, b) for a, b in zip(at.second, second, strict=True)],
        )
    return result


def composite_rates(steps: list[Step], own: list[Rates]) -> list[Rates]:
    """The momentum and G of all that each step moves."""
    result = list(own)
    for step, k in inwards(steps):
        at, p = result[step.parent], step.out(result[k].p)
        G = step.matrix_out(result[k].G)
        shifted = [plus(row, scaled(x, p)) for row, x in zip(G, step.r, strict=True)]
        result[step.parent] = Rates(
            plus(at.p, p), [plus(a, b) for a, b in zip(at.G, shifted, strict=True)]
        )
    return result


def composite_wrenches(steps: list[Step], own: list[Spatial]) -> list[Spatial]:
    """The wrenches on all that each step moves."""
    result = list(own)
    for step, k in inwards(steps):
        result[step.parent] = both(result[step.parent], step.wrench_out(result[k]))
    return result


def inwards(steps: list[Step]) -> list[tuple[Step, int]]:
    """The steps that stand on ones that move, last first."""
    return [
        (steps[k], k)
        for k in range(len(steps) - 1, -1, -1)
        if steps[k].parent >= 0 and steps[steps[k].parent].free
    ]
