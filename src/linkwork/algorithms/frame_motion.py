"""Velocity and acceleration of one frame, without its Jacobian."""

from __future__ import annotations

from linkwork.algorithms.jacobian import Reference, check_reference
from linkwork.algorithms.sweep import (
    FramePose,
    JointTransform,
    Motion,
    Output,
    Rates,
    Spatial,
    Sweep,
    fixed_in,
    motions,
    poses,
)
from linkwork.algorithms.triples import Triple, applied, cross, plus
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def frame_velocity(
    o: Ops,
    m: Mechanism,
    q: Block,
    v: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
) -> Block:
    """Twist of one frame: J v, linear part first.

    Shapes: q (nq,), v (nv,) to (6,). Units: m/s, rad/s. References as in `jacobian`.

    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    way, velocity, _ = _moving(o, m, q, v, None, frame, reference)
    return _in_reference(o, way, velocity, reference)


def frame_acceleration(
    o: Ops,
    m: Mechanism,
    q: Block,
    v: Block,
    dv: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
) -> Block:
    """Change of one frame's twist: J dv + dJ/dt v, linear part first.

    Shapes: q (nq,), v (nv,), dv (nv,) to (6,). Units: m/s², rad/s². References as in `jacobian`;
    each is the derivative of the numbers in its own axes, as in `jacobian_dot_v`. World-aligned,
    that is the acceleration of the frame's origin; gravity has no part in it.

    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _acceleration(o, m, q, v, dv, frame, reference)


def _acceleration(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block | None, frame: str, reference: Reference
) -> Block:
    way, velocity, acceleration = _moving(o, m, q, v, dv, frame, reference)
    if reference == "world-aligned":
        # from the spatial acceleration to that of the point
        linear = plus(acceleration.linear, cross(velocity.angular, velocity.linear))
        acceleration = Spatial(linear, acceleration.angular)
    return _in_reference(o, way, acceleration, reference)


def jacobian_dot_v(
    o: Ops,
    m: Mechanism,
    q: Block,
    v: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
) -> Block:
    """Change of J v while q moves with a constant v: dJ/dt v, linear part first.

    Shapes: q (nq,), v (nv,) to (6,). Units: m/s^2, rad/s^2. It is `frame_acceleration` at dv = 0:
    the twist changes at J dv/dt + this. References as in `jacobian`; each is the derivative of the
    numbers in its own axes.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 2.10
    and 2.11: derivatives of spatial vectors in moving axes.
    Raises: UnknownNameError for a frame that does not exist, InputError for another reference.
    """
    return _acceleration(o, m, q, v, None, frame, reference)


def _moving(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block | None, frame: str, reference: str
) -> tuple[list[JointTransform], Spatial, Spatial]:
    """The transforms to a frame, itself included, and its motion in its own axes."""
    check_reference(reference)
    index = m.frame(frame)
    sweep = Sweep(o, m, q, m.ancestry(int(m.frame_body[index])))
    last, at = motions(sweep, v, dv)[-1], fixed_in(m.frame_placement(index))
    return [*sweep.transforms, at], at.twist_into(last.velocity), at.twist_into(last.acceleration)


def _in_reference(
    o: Ops, way: list[JointTransform], motion: Spatial, reference: Reference
) -> Block:
    linear, angular = motion
    for step in reversed(way):
        if reference == "world":
            linear, angular = step.twist_out(Spatial(linear, angular))
        elif reference == "world-aligned":
            linear, angular = step.out(linear), step.out(angular)
    numbers: Triple = [*linear, *angular]
    return o.vector(numbers)


def frame_velocity_by_sweep(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """`frame_velocity` in passes, for long mechanisms."""
    return _by_sweep(sweep, v, None, frame, reference, accelerations=False)


def frame_acceleration_by_sweep(
    sweep: Sweep, v: Rates, dv: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """`frame_acceleration` in passes, for long mechanisms."""
    return _by_sweep(sweep, v, dv, frame, reference, accelerations=True)


def jacobian_dot_v_by_sweep(
    sweep: Sweep, v: Rates, *, frame: str, reference: Reference = "world-aligned"
) -> Output:
    """`jacobian_dot_v` in passes, for long mechanisms."""
    return _by_sweep(sweep, v, None, frame, reference, accelerations=True)


def _by_sweep(
    sweep: Sweep, v: Rates, dv: Rates | None, frame: str, reference: str, *, accelerations: bool
) -> Output:
    check_reference(reference)
    found = sweep.output(6)

    def visit(k: int, step: JointTransform, before: FramePose, motion: Motion) -> None:
        pose = before.at(step)
        velocity, moved = map(step.twist_into, motion[:2])
        (linear, angular) = moved if accelerations else velocity
        if reference == "world-aligned" and accelerations:
            # from the spatial acceleration to that of the point
            linear = plus(linear, cross(velocity.angular, velocity.linear))
        if reference != "local":
            linear, angular = applied(pose.R, linear), applied(pose.R, angular)
        if reference == "world":
            linear = plus(linear, cross(pose.p, angular))
        for i, x in enumerate([*linear, *angular]):
            found.put((i,), x)

    index = sweep.m.frame(frame)
    sweep.frames([index], visit, poses(sweep), motions(sweep, v, dv))
    return found
