"""The time derivative of the Jacobian of one frame."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.algorithms.jacobian import (
    Reference,
    UnitTwist,
    check_reference,
    gathered,
    unit_twists,
)
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.sweep import (
    FramePose,
    JointTransform,
    Motion,
    Output,
    Rates,
    Sweep,
    fixed_in,
    motions,
    poses,
)
from linkwork.algorithms.triples import applied, cross, flipped, minus, plus, scaled, times, zeros
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def jacobian_dot(
    o: Ops,
    m: Mechanism,
    q: Block,
    v: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
) -> Block:
    """Change of the Jacobian of one frame with time, while q moves with v: dJ/dt (6, nv).

    Shapes: q (nq,), v (nv,) to (6, nv). Units: m/s, rad/s for each unit of v. References as in
    `jacobian`; each is the derivative of the numbers in its own axes. Times v it is
    `jacobian_dot_v`.

    Each column of J is the twist of an axis that one body carries: seen from where the numbers are
    taken, it changes by the motion cross product with that body's twist. What the reference point
    or the frame's own axes move by is taken off.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 2.9 and 2.10: the
    motion cross product, derivatives of vectors in moving axes.
    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    motions, twists = unit_twists(o, m, q, frame, reference)
    rates = [v[k.v_index] if k.factor == 1 else k.factor * v[k.v_index] for k in motions]
    moved = [_times(pair, rate) for pair, rate in zip(twists, rates, strict=True)]
    groups = _carried_together(m, m.frame(frame), outwards=reference != "local")
    if reference == "local":  # seen from the frame, what comes before it moves the other way
        carriers = _sums(groups, moved, own=())
        changes = [_motion_cross(o, c, by) for c, by in zip(twists, carriers, strict=True)]
    elif reference == "world":
        carriers = _sums(groups, moved, own=_CARRIED)
        changes = [_motion_cross(o, by, c) for c, by in zip(twists, carriers, strict=True)]
    else:
        carriers = _sums(groups, moved, own=_CARRIED)
        rest = _sums(groups[::-1], moved, own=(1,))  # what moves the frame's origin away from it
        changes = [
            _motion_cross(o, (_negative(away[0]), by[1]), c)
            for c, by, away in zip(twists, carriers, rest, strict=True)
        ]
    zero = o.const([0.0, 0.0, 0.0])
    columns = [o.concat([zero if x is None else x for x in pair]) for pair in changes]
    return gathered(o, m.n_v, motions, columns, 6)


_CARRIED = (3, 6)
"""The sizes of groups whose axes the body itself carries, so that its own motion turns them."""


def _carried_together(m: Mechanism, frame: int, *, outwards: bool) -> list[list[int]]:
    """The motions in the order of the way, those of which one body carries all axes in one group.

    The axes of a floating or spherical joint are its body's: they are one group, of six or three.
    """
    way = m.ancestry(int(m.frame_body[frame]))
    groups: list[list[int]] = []
    count = 0
    for body in way if outwards else reversed(way):
        type = m.body_joint_types[body]
        own = list(range(count, count + len(free_axes(type))))
        count += len(own)
        if type.has_quaternion:
            groups.append(own)
        else:
            groups += [[k] for k in (own if outwards else own[::-1])]
    return groups


def _sums(
    groups: Sequence[list[int]], moved: Sequence[UnitTwist], *, own: tuple[int, ...]
) -> list[UnitTwist]:
    """For each motion the sum of those in the groups before it; of its own too at these sizes."""
    sums: dict[int, UnitTwist] = {}
    at: UnitTwist = (None, None)
    for group in groups:
        after = at
        for k in group:
            after = (_added(after[0], moved[k][0]), _added(after[1], moved[k][1]))
        sums.update(dict.fromkeys(group, after if len(group) in own else at))
        at = after
    return [sums[k] for k in range(len(moved))]


def _motion_cross(o: Ops, a: UnitTwist, b: UnitTwist) -> UnitTwist:
    """How b changes where a carries it, both at a point that stands still."""
    linear = _added(_cross(o, a[1], b[0]), _cross(o, a[0], b[1]))
    return linear, _cross(o, a[1], b[1])


def _times(pair: UnitTwist, rate: Block) -> UnitTwist:
    linear, angular = pair
    return None if linear is None else rate * linear, None if angular is None else rate * angular


def _negative(a: Block | None) -> Block | None:
    return None if a is None else -a


def _added(a: Block | None, b: Block | None) -> Block | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _cross(o: Ops, a: Block | None, b: Block | None) -> Block | None:
    return None if a is None or b is None else o.cross(a, b)


def jacobian_dot_by_sweep(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """`jacobian_dot` in passes, for long mechanisms.

    With z an axis, w the angular velocity of the body that carries it and r its arm, which changes
    at u: (z x r, z) changes by ((w x z) x r + z x u, w x z).
    """
    check_reference(reference)
    place = fixed_in(sweep.m.frame_placement(sweep.m.frame(frame)))
    every, moving = poses(sweep), motions(sweep, v)
    found = sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, pose: FramePose, motion: Motion) -> None:
        end: FramePose = sweep.last(every).at(place)
        spin = place.twist_into(sweep.last(moving).velocity)
        turn, speed = applied(end.R, spin.angular), applied(end.R, spin.linear)
        w = applied(pose.R, motion.velocity.angular)
        away = applied(pose.R, motion.velocity.linear)
        in_world = reference == "world"
        arm = scaled(-1.0, pose.p) if in_world else minus(end.p, pose.p)
        change = scaled(-1.0, away) if in_world else minus(speed, away)
        for k, (axis, turns) in enumerate(step.free):
            z = [row[axis] for row in pose.R]
            swung = cross(w, z)
            parts, rates = [z, zeros()], [swung, zeros()]
            if turns:
                parts = [cross(z, arm), z]
                rates = [plus(cross(swung, arm), cross(z, change)), swung]
            if reference == "local":
                rates = [
                    applied(flipped(end.R), minus(rate, cross(turn, part)))
                    for part, rate in zip(parts, rates, strict=True)
                ]
            for i, x in enumerate([*rates[0], *rates[1]]):
                found.add((i, step.start + k), times(step.factor, x))

    sweep.each(visit, every, moving)
    return found
