"""What the world exerts on all that each step moves, and how that changes while it moves."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.composites import inwards, traced
from linkwork.algorithms.steps import Spatial, Step, way_to
from linkwork.algorithms.triples import Rows, Triple, cross, flipped, less, minus, plus, scaled
from linkwork.mechanism.model import Mechanism


class External(NamedTuple):
    """What the world exerts on a composite body: force, sum of moments, sum of F rᵀ.

    The moments are those given, without the forces' own about the origin.
    """

    force: Triple
    moment: Triple
    G: Rows

    @property
    def wrench(self) -> Spatial:
        """As a wrench about the origin."""
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = self.G
        # r x F of the matrix F rᵀ
        arms = [less(zy, yz), less(xz, zx), less(yx, xy)]
        return Spatial(self.force, plus(self.moment, arms))

    def turned(self, angular: Triple) -> Spatial:
        """The wrench's change where force and moment turn about the point that they attack."""
        moment = plus(cross(angular, self.moment), traced(self.G, angular))
        return Spatial(cross(angular, self.force), moment)

    def against(self, motion: Spatial) -> Triple:
        """What `turned` works on a motion, for each component of its argument."""
        v, w = motion
        moment = plus(cross(self.moment, w), traced(flipped(self.G), w))
        return plus(cross(self.force, v), moment)


def externals(m: Mechanism, steps: list[Step]) -> list[External | None]:
    """The external wrenches on all that each step moves; None where there are none."""
    result: list[External | None] = [_on_body(m, steps, k) for k in range(len(steps))]
    for step, k in inwards(steps):
        here, at = result[k], result[step.parent]
        if here is None:
            continue
        force, moment = step.out(here.force), step.out(here.moment)
        G = [
            plus(row, scaled(x, step.r))
            for row, x in zip(step.matrix_out(here.G), force, strict=True)
        ]
        result[step.parent] = _both(at, External(force, moment, G))
    return result


def _both(a: External | None, b: External) -> External:
    if a is None:
        return b
    G = [plus(x, y) for x, y in zip(a.G, b.G, strict=True)]
    return External(plus(a.force, b.force), plus(a.moment, b.moment), G)


def _on_body(m: Mechanism, steps: list[Step], k: int) -> External | None:
    step = steps[k]
    if not step.owner or not step.free:
        return None
    found: External | None = None
    for frame, wrench in m.wrenches(step.body):
        force = _along(steps, k, [wrench[0], wrench[1], wrench[2]])
        moment = _along(steps, k, [wrench[3], wrench[4], wrench[5]])
        arm = m.frame_placement(frame).p
        found = _both(found, External(force, moment, [scaled(x, arm) for x in force]))
    return found


def _along(steps: list[Step], k: int, vector: Triple) -> Triple:
    """A vector given along the world's axes, along those of a step."""
    for each in way_to(steps, k):
        vector = steps[each].into(vector)
    return vector


def less_external(wrenches: list[Spatial], given: list[External | None]) -> list[Spatial]:
    """These composite wrenches, less what the world exerts."""
    return [
        own
        if other is None
        else Spatial(
            minus(own.linear, other.wrench.linear), minus(own.angular, other.wrench.angular)
        )
        for own, other in zip(wrenches, given, strict=True)
    ]
