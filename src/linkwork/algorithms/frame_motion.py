"""Velocity and acceleration of one frame, without its Jacobian."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.jacobian import Reference, check_reference
from linkwork.algorithms.joint_transforms import (
    UNTURNED,
    JointTransform,
    Rates,
    Spatial,
    fixed_in,
)
from linkwork.algorithms.sweep import InPasses, Motion, Output, Sweep, motions
from linkwork.algorithms.vector3 import (
    Rows,
    Vector3,
    applied,
    cross,
    plus,
    plus_cross,
    zeros,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


@InPasses
def frame_velocity(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """Twist of one frame: J v, linear part first.

    Shapes: q (nq,), v (nv,) to (6,). Units: m/s, rad/s. References as in `jacobian`.

    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _of_frame(sweep, v, None, frame, reference, accelerations=False)


@InPasses
def frame_acceleration(
    sweep: Sweep, v: Rates, dv: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """Change of one frame's twist: J dv + dJ/dt v, linear part first.

    Shapes: q (nq,), v (nv,), dv (nv,) to (6,). Units: m/s², rad/s². References as in `jacobian`;
    each is the derivative of the numbers in its own axes, as in `jacobian_dot_v`. World-aligned,
    that is the acceleration of the frame's origin; gravity has no part in it.

    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _of_frame(sweep, v, dv, frame, reference, accelerations=True)


@InPasses
def jacobian_dot_v(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """Change of J v while q moves with a constant v: dJ/dt v, linear part first.

    Shapes: q (nq,), v (nv,) to (6,). Units: m/s^2, rad/s^2. It is `frame_acceleration` at dv = 0:
    the twist changes at J dv/dt + this. References as in `jacobian`; each is the derivative of the
    numbers in its own axes.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 2.10
    and 2.11: derivatives of spatial vectors in moving axes.
    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _of_frame(sweep, v, None, frame, reference, accelerations=True)


def _of_frame(
    sweep: Sweep, v: Rates, dv: Rates | None, frame: str, reference: str, *, accelerations: bool
) -> Output:
    check_reference(reference)
    index, found = sweep.m.frame(frame), sweep.output(6)

    def store(step: JointTransform, twist: Spatial) -> None:
        """Store a twist in a frame: in that before it, or along its axes, unless it stays."""
        if reference == "world":
            twist = step.twist_out(twist)
        elif reference == "world-aligned":
            twist = Spatial(step.out(twist.linear), step.out(twist.angular))
        found.fill([*twist.linear, *twist.angular])

    def begin(_: int, place: JointTransform, motion: Motion) -> None:
        velocity, acceleration = map(place.twist_into, motion[:2])
        if reference == "world-aligned":
            # from the spatial acceleration to that of the point
            linear = plus_cross(acceleration.linear, velocity.angular, velocity.linear)
            acceleration = Spatial(linear, acceleration.angular)
        store(place, acceleration if accelerations else velocity)

    def back(step: JointTransform) -> None:
        store(step, Spatial([found[i] for i in range(3)], [found[i] for i in range(3, 6)]))

    sweep.frames([index], begin, motions(sweep, v, dv))
    if reference != "local":
        sweep.each(back, backwards=True)
    return found


class WorldMotion(NamedTuple):
    """A frame in motion with a constant v: pose, velocities, accelerations, all in world axes.

    The ends of loops are few joints from each other, often in one plane: along fixed axes their
    motions keep the zeros that those in a frame's own axes lose, up to a tenth of the work.
    """

    R: Rows
    p: Vector3
    velocity: Vector3
    omega: Vector3
    acceleration: Vector3
    alpha: Vector3

    def moved(self, step: JointTransform, v: Rates) -> WorldMotion:
        """The motion of the frame after a transform.

        A slide s adds s to the velocity and (ω + ω_s) x s to the acceleration, ω_s being the
        angular velocity of the axes in which s is constant: those of the body for a floating joint.
        """
        way, w = applied(self.R, step.r), self.omega
        R, (slide, spin) = [step.into(row) for row in self.R], step.own_motion(v)
        slide, spin = applied(R, slide), applied(R, spin)
        across, omega = cross(w, way), plus(w, spin)
        bending = plus_cross(plus_cross(self.acceleration, self.alpha, way), w, across)
        by_slide = plus(w, omega if len(step.free) > 1 else w)
        return WorldMotion(
            R,
            plus(self.p, way),
            plus(plus(self.velocity, across), slide),
            omega,
            plus_cross(bending, by_slide, slide),
            plus_cross(self.alpha, w, spin),
        )


def world_motion(
    o: Ops, m: Mechanism, q: Block, v: Block, frame: int, since: int = -1
) -> WorldMotion:
    """The motion of a frame; ``since``: a body that carries it and stands for the world."""
    way = [body for body in m.ancestry(int(m.frame_body[frame])) if body > since]
    at = WorldMotion(UNTURNED, zeros(), zeros(), zeros(), zeros(), zeros())
    for step in Sweep(o, m, q, way).transforms:
        at = at.moved(step, v)
    return at.moved(fixed_in(m.frame_placement(frame)), v)
