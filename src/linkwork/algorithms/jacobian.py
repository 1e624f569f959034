"""The Jacobian of one frame: the twist that each number of v gives it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from linkwork.algorithms.path import (
    Motion,
    Path,
    path_down,
    path_up,
    sums_from_start,
    sums_to_end,
)
from linkwork.algorithms.sweep import (
    FramePose,
    JointTransform,
    Output,
    States,
    Sweep,
    fixed_in,
    poses,
)
from linkwork.algorithms.triples import applied, cross, flipped, minus, scaled, times, zeros
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Reference = Literal["world-aligned", "local", "world"]
UnitTwist = tuple[Block | None, Block | None]
"""Linear and angular part; None stands for a vector that is zero by structure."""

REFERENCES: tuple[Reference, ...] = ("world-aligned", "local", "world")


def jacobian(
    o: Ops, m: Mechanism, q: Block, *, frame: str, reference: Reference = "world-aligned"
) -> Block:
    """Jacobian of one frame: its twist is J v, linear part first.

    Shapes: q (nq,) to J (6, nv). Units: metre, radian. Reference: ``"world-aligned"`` takes the
    velocity of the frame's origin in axes of the world, ``"local"`` the same in the frame's own
    axes, ``"world"`` the velocity of the point that passes the world's origin, in world axes.

    The columns are those of v (the tangent of q): a floating joint's are the linear, then the
    angular velocity of its body in the body's axes; a coupled joint adds its column, times its
    multiplier, to its leader's.

    Source: D. E. Whitney, "The mathematics of coordinated control of prosthetic arms and
    manipulators", ASME J. Dynamic Systems 94 (1972): the column is (z x r, z) for a
    turn and (z, 0) for a slide.
    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _together(o, m, *unit_twists(o, m, q, frame, reference))


def jacobian_along(o: Ops, m: Mechanism, path: Path) -> Block:
    """The world-aligned Jacobian (6, nv) of the frame at the end of a path downwards."""
    return _together(o, m, *_along(o, path))


def _together(o: Ops, m: Mechanism, motions: list[Motion], twists: list[UnitTwist]) -> Block:
    zero = o.const([0.0, 0.0, 0.0])
    columns = [o.concat([zero if x is None else x for x in pair]) for pair in twists]
    return gathered(o, m.n_v, motions, columns, 6)


def unit_twists(
    o: Ops, m: Mechanism, q: Block, frame: str, reference: str
) -> tuple[list[Motion], list[UnitTwist]]:
    """What moves a frame, and the twist that a rate of 1 of each gives it.

    From the base to the frame, for ``"local"`` from the frame to the base; the motions of one joint
    in the order of v. References as in `jacobian`.

    Raises: UnknownNameError, InputError.
    """
    check_reference(reference)
    index = m.frame(frame)
    if reference == "world-aligned":
        return _along(o, path_down(o, m, q, index))
    # the arm goes from the axis to a point that is the origin of the vectors, so it is -anchor
    path = (path_up if reference == "local" else path_down)(o, m, q, index)
    anchors = sums_from_start(path.segments)
    twists = [_unit_twist(o, each, anchors[each.anchor], -1) for each in path.motions]
    return path.motions, twists


def _along(o: Ops, path: Path) -> tuple[list[Motion], list[UnitTwist]]:
    arms = sums_to_end(path.segments)
    twists = [_unit_twist(o, each, arms[each.anchor + each.along]) for each in path.motions]
    return path.motions, twists


def check_reference(reference: str) -> None:
    """Refuse a reference that is not one of the three.

    Raises: InputError.
    """
    if reference not in REFERENCES:
        allowed = ", ".join(f"'{name}'" for name in REFERENCES)
        raise InputError(f"reference={reference!r} is not known; there are: {allowed}")


def gathered(o: Ops, n_v: int, motions: list[Motion], columns: list[Block], n_rows: int) -> Block:
    """The matrix (n_rows, nv) of these columns, each times its factor, added where v is shared."""
    by_index: dict[int, Block] = {}
    for motion, column in zip(motions, columns, strict=True):
        term = column if motion.factor == 1 else motion.factor * column
        before = by_index.get(motion.v_index)
        by_index[motion.v_index] = term if before is None else before + term
    if n_v == 0:
        return o.const(np.zeros((n_rows, 0)))
    zero = o.const([0.0] * n_rows)
    return o.matrix([by_index.get(k, zero) for k in range(n_v)])


def _unit_twist(o: Ops, motion: Motion, arm: Block | None, arm_sign: int = 1) -> UnitTwist:
    """(z x r, z) for a turn and (z, 0) for a slide, z = sign * axis and r = arm_sign * arm."""
    z = motion.axis if motion.sign > 0 else -motion.axis
    if not motion.turns:
        return z, None
    if arm is None:
        return None, z
    # the sign goes into the order of the product, where it costs nothing
    if motion.sign * arm_sign > 0:
        return o.cross(motion.axis, arm), z
    return o.cross(arm, motion.axis), z


def jacobian_by_sweep(
    sweep: Sweep, every: States = None, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """`jacobian` in passes, for long mechanisms; `path.Path` takes fewer products written out.

    ``every``: the poses of all transforms, where they are there already.
    """
    check_reference(reference)
    place = fixed_in(sweep.m.frame_placement(sweep.m.frame(frame)))
    every, found = every or poses(sweep), sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, pose: FramePose) -> None:
        end: FramePose = sweep.last(every).at(place)
        arm = scaled(-1.0, pose.p) if reference == "world" else minus(end.p, pose.p)
        for k, (axis, turns) in enumerate(step.free):
            z = [row[axis] for row in pose.R]
            parts = [cross(z, arm), z] if turns else [z, zeros()]
            if reference == "local":
                parts = [applied(flipped(end.R), part) for part in parts]
            for i, x in enumerate([*parts[0], *parts[1]]):
                found.add((i, step.start + k), times(step.factor, x))

    sweep.each(visit, every)
    return found
