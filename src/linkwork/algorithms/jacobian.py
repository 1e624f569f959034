"""The Jacobian of one frame, the twist that each number of v gives it, and its time derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from linkwork.algorithms.joint_transforms import (
    UNTURNED,
    JointTransform,
    Rates,
    Spatial,
    fixed_in,
)
from linkwork.algorithms.sweep import FramePose, InPasses, Output, States, Sweep
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    applied,
    cross,
    minus,
    plus,
    plus_applied,
    plus_cross,
    times,
    transposed,
    zeros,
)
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Reference = Literal["world-aligned", "local", "world"]

REFERENCES: tuple[Reference, ...] = ("world-aligned", "local", "world")


@InPasses
def jacobian(sweep: Sweep, *, frame: str, reference: Reference = "world-aligned") -> Output:
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
    found = sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, seen: Seen) -> None:
        _add_columns(found, step, [seen.twist(*axis) for axis in step.free])

    along_the_way(sweep, frame, reference, visit)
    return found


@InPasses
def jacobian_dot(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """Change of the Jacobian of one frame with time, while q moves with v: dJ/dt (6, nv).

    Shapes: q (nq,), v (nv,) to (6, nv). Units: m/s, rad/s for each unit of v. References as in
    `jacobian`; each is the derivative of the numbers in its own axes. Times v it is
    `jacobian_dot_v`.

    With z an axis, w the angular velocity of the body that carries it and r its arm, which changes
    at u: (z x r, z) changes by ((w x z) x r + z x u, w x z), all as seen from the reference's axes.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.10: derivatives of
    vectors in moving axes.
    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    found = sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, seen: Seen) -> None:
        _add_columns(found, step, [seen.twist_rate(*axis) for axis in step.free])

    along_the_way(sweep, frame, reference, visit, v)
    return found


def _add_columns(found: Output, step: JointTransform, columns: list[Spatial]) -> None:
    for k, (linear, angular) in enumerate(columns):
        for i, x in enumerate([*linear, *angular]):
            found.add((i, step.start + k), times(step.factor, x))


def check_reference(reference: str) -> None:
    """Refuse a reference that is not one of the three.

    Raises: InputError.
    """
    if reference not in REFERENCES:
        allowed = ", ".join(f"'{name}'" for name in REFERENCES)
        raise InputError(f"reference={reference!r} is not known; there are: {allowed}")


class Motion(NamedTuple):
    """The motion of a joint's frame as seen from the axes of a reference."""

    omega: Vector3  # of what carries the joint's axes
    body_omega: Vector3
    arm: Vector3  # the rate of the arm

    def after(
        self, step: JointTransform, R: Rows, way: Vector3, v: Rates
    ) -> tuple[Motion, Vector3]:
        """The motion after a transform to the axes R, without its arm, and the rate of the way."""
        slide, spin = step.own_motion(v)
        before = self.body_omega
        now = plus_applied(before, R, spin)
        rate = plus_cross(applied(R, slide), before, way)
        return Motion(before if len(step.free) == 1 else now, now, zeros()), rate


class Seen(NamedTuple):
    """The frame of a joint as seen from the axes of a reference, and the arm to a frame."""

    R: Rows
    arm: Vector3
    motion: Motion | None

    def twist(self, axis: int, turns: bool) -> Spatial:
        """The twist that a rate of 1 along or about an axis of the joint gives the frame."""
        z = [row[axis] for row in self.R]
        return Spatial(cross(z, self.arm), z) if turns else Spatial(z, zeros())

    def twist_rate(self, axis: int, turns: bool) -> Spatial:
        """The rate of `twist`."""
        omega, _, rate = self.motion or _STILL
        z = [row[axis] for row in self.R]
        turning = cross(omega, z)
        if not turns:
            return Spatial(turning, zeros())
        return Spatial(plus_cross(cross(turning, self.arm), z, rate), turning)


_STILL = Motion(zeros(), zeros(), zeros())


Visit = Callable[[JointTransform, Seen], None]


def along_the_way(
    sweep: Sweep, frame: str, reference: str, visit: Visit, v: Rates | None = None
) -> None:
    """``visit(transform, seen)`` for the joints that carry a frame, which are those of the sweep.

    Without ``v`` nothing moves. World's axes but for ``"local"``, the last joint first.
    Raises: UnknownNameError, InputError for another reference.
    """
    check_reference(reference)
    index = sweep.m.frame(frame)
    if reference == "local":
        _seen_from_frame(sweep, index, visit, v)
    elif reference == "world":
        sweep.each(visit, _seen_from_world(sweep, v))
    else:
        arms_to_frame(sweep, index, visit, v)


def _seen_from_world(sweep: Sweep, v: Rates | None) -> States:
    """`Seen` of every transform, arms to the world's origin."""

    def outwards(step: JointTransform, before: Seen) -> Seen:
        R, way = [step.into(row) for row in before.R], applied(before.R, step.r)
        arm = minus(before.arm, way)
        if v is None or before.motion is None:
            return Seen(R, arm, None)
        motion, rate = before.motion.after(step, R, way, v)
        return Seen(R, arm, motion._replace(arm=minus(before.motion.arm, rate)))

    return sweep.outwards(lambda: Seen(UNTURNED, zeros(), None if v is None else _STILL), outwards)


class _Link(NamedTuple):
    """A joint's frame in axes of the world, and the way to it from the one before.

    What lies ``along`` the axis of the joint before comes by itself: the arm of that joint can do
    without it, and is zero where a frame lies on its axis.
    """

    R: Rows
    across: Vector3
    along: Vector3
    motion: Motion | None


def arms_to_frame(sweep: Sweep, frame: int, visit: Visit, v: Rates | None = None) -> Output:
    """`along_the_way` world-aligned; the result is the position (3,) of the frame."""
    across, along, rate = sweep.scratch(3), sweep.scratch(3), sweep.scratch(3)
    position = sweep.scratch(3)

    def way(R: Rows, r: Vector3) -> tuple[Vector3, Vector3]:
        return applied(R, [r[0], r[1], 0.0]), applied(R, [0.0, 0.0, r[2]])

    def outwards(step: JointTransform, before: _Link) -> _Link:
        R, (aside, ahead) = [step.into(row) for row in before.R], way(before.R, step.r)
        if v is None or before.motion is None:
            return _Link(R, aside, ahead, None)
        motion, speed = before.motion.after(step, R, plus(aside, ahead), v)
        return _Link(R, aside, ahead, motion._replace(arm=speed))

    def begin(_: int, place: JointTransform, body: _Link) -> None:
        aside, ahead = way(body.R, place.r)
        across.fill(aside)
        along.fill(ahead)
        position.fill(plus(aside, ahead))
        if body.motion is not None:
            rate.fill(cross(body.motion.body_omega, plus(aside, ahead)))

    def back(step: JointTransform, link: _Link) -> None:
        at, ahead = [across[i] for i in range(3)], [along[i] for i in range(3)]
        whole, moving = plus(at, ahead), link.motion
        if moving is not None:
            speed = [rate[i] for i in range(3)]
            rate.fill(plus(speed, moving.arm))
            moving = moving._replace(arm=speed)
        alone = step.free == ((2, True),) and moving is None
        visit(step, Seen(link.R, at if alone else whole, moving))
        across.fill(plus(whole, link.across))
        along.fill(link.along)
        position.fill(plus(plus(whole, link.across), link.along))

    still = None if v is None else _STILL
    every = sweep.outwards(lambda: _Link(UNTURNED, zeros(), zeros(), still), outwards)
    sweep.frames([frame], begin, every)
    sweep.each(back, every, backwards=True)
    return position


def _seen_from_frame(sweep: Sweep, frame: int, visit: Visit, v: Rates | None) -> None:
    """`along_the_way` in the frame's own axes, found on the way back from it."""
    rows, across = [sweep.scratch(3) for _ in range(3)], sweep.scratch(3)
    along, omega, rate = (sweep.scratch(3) for _ in range(3))

    def parts(r: Vector3) -> tuple[Vector3, Vector3]:
        """A way across the axis and along it; the axis' own arm can do without the latter."""
        return ([r[0], r[1], 0.0], [0.0, 0.0, r[2]]) if v is None else (r, zeros())

    def begin(_: int, place: JointTransform) -> None:
        for row, values in zip(rows, transposed(place.R), strict=True):
            row.fill(values)
        for part, values in zip((across, along), parts(place.r), strict=True):
            part.fill(place.into(values))

    def back(step: JointTransform) -> None:
        R = [[row[i] for i in range(3)] for row in rows]
        at, ahead = [across[i] for i in range(3)], [along[i] for i in range(3)]
        whole = plus(at, ahead)
        turning, speed = zeros(), zeros()
        if v is not None:
            turning, speed = [omega[i] for i in range(3)], [rate[i] for i in range(3)]
        arm = at if step.free == ((2, True),) else whole
        visit(step, Seen(R, arm, None if v is None else Motion(turning, turning, speed)))
        before = [step.out(row) for row in R]
        aside, ahead = (applied(before, part) for part in parts(step.r))
        for row, values in zip(rows, before, strict=True):
            row.fill(values)
        across.fill(plus(whole, aside))
        along.fill(ahead)
        if v is not None:
            way = plus(aside, ahead)
            slide, spin = step.own_motion(v)
            turning = minus(turning, applied(R, spin))
            omega.fill(turning)
            rate.fill(plus_cross(plus_applied(speed, R, slide), turning, way))

    sweep.frames([frame], begin)
    sweep.each(back, backwards=True)


class UnitTwist(NamedTuple):
    """The twist of a frame, in axes of the world, by one number of v at work in one joint."""

    v_index: int
    factor: Scalar  # the multiplier of a coupled joint
    twist: Spatial


def frame_twists(
    o: Ops, m: Mechanism, q: Block, frame: int, since: int = -1
) -> tuple[FramePose, list[UnitTwist]]:
    """The pose of a frame in the world, and its twists from the base on.

    ``since``: a body that carries the frame and stands for the world.
    """
    way = [body for body in m.ancestry(int(m.frame_body[frame])) if body > since]
    sweep, found, last = Sweep(o, m, q, way), list[list[UnitTwist]](), UNTURNED

    def visit(step: JointTransform, seen: Seen) -> None:
        nonlocal last
        last = last if found else seen.R  # the last joint comes first
        own = enumerate(seen.twist(*axis) for axis in step.free)
        found.append([UnitTwist(step.start + k, step.factor, twist) for k, twist in own])

    p = arms_to_frame(sweep, frame, visit)
    place = fixed_in(m.frame_placement(frame))
    pose = FramePose([place.into(row) for row in last], [p[i] for i in range(3)])
    return pose, [each for own in reversed(found) for each in own]
