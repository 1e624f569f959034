"""The wrenches of the world on all that each joint moves, and how they change while it moves."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.sweep import JointTransform, Spatial, States, Sweep, summed, traced
from linkwork.algorithms.triples import Rows, Triple, cross, flipped, less, plus, scaled


class External(NamedTuple):
    """The push of the world on a composite body: force, sum of moments, sum of F rᵀ.

    The moments are those given, without the forces' own about the origin.
    """

    force: Triple
    moment: Triple
    G: Rows

    @property
    def wrench(self) -> Spatial:
        """The wrench about the origin."""
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = self.G
        # r x F of the matrix F rᵀ
        arms = [less(zy, yz), less(xz, zx), less(yx, xy)]
        return Spatial(self.force, plus(self.moment, arms))

    def turned(self, angular: Triple) -> Spatial:
        """The wrench's change where force and moment turn about the point that they attack."""
        moment = plus(cross(angular, self.moment), traced(self.G, angular))
        return Spatial(cross(angular, self.force), moment)

    def against(self, motion: Spatial) -> Triple:
        """The power of `turned` on a motion, for each component of its argument."""
        v, w = motion
        moment = plus(cross(self.moment, w), traced(flipped(self.G), w))
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

    return sweep.inwards(sweep.pushed(_on_body), visit)


def _on_body(sweep: Sweep, k: int) -> External | None:
    step = sweep.transforms[k]
    if not step.owner or not step.free:
        return None
    found: External | None = None
    for frame, wrench in sweep.m.wrenches(step.body):
        force = _in_frame(sweep, k, [wrench[0], wrench[1], wrench[2]])
        moment = _in_frame(sweep, k, [wrench[3], wrench[4], wrench[5]])
        arm = sweep.m.frame_placement(frame).p
        found = summed(found, External(force, moment, [scaled(x, arm) for x in force]))
    return found


def _in_frame(sweep: Sweep, k: int, vector: Triple) -> Triple:
    """A vector given along the world's axes, along those of a transform."""
    step = sweep.transforms[k]
    return step.into(vector if step.parent < 0 else _in_frame(sweep, step.parent, vector))
