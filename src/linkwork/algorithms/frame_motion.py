"""Velocity and acceleration of one frame, without its Jacobian."""

from __future__ import annotations

from linkwork.algorithms.jacobian import Reference, check_reference
from linkwork.algorithms.step_motion import motions_of
from linkwork.algorithms.steps import Spatial, Step, fixed_in, steps_of
from linkwork.algorithms.triples import Triple, cross, plus
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
    way, velocity, acceleration = _moving(o, m, q, v, dv, frame, reference)
    if reference == "world-aligned":
        # from the spatial acceleration to that of the point
        linear = plus(acceleration.linear, cross(velocity.angular, velocity.linear))
        acceleration = Spatial(linear, acceleration.angular)
    return _in_reference(o, way, acceleration, reference)


def _moving(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block | None, frame: str, reference: str
) -> tuple[list[Step], Spatial, Spatial]:
    """The steps to a frame, itself included, and its motion in its own axes."""
    check_reference(reference)
    index = m.frame(frame)
    steps = steps_of(o, m, q, m.ancestry(int(m.frame_body[index])))
    last, at = motions_of(m, steps, v, dv)[-1], fixed_in(m.frame_placement(index))
    return [*steps, at], at.twist_into(last.velocity), at.twist_into(last.acceleration)


def _in_reference(o: Ops, way: list[Step], motion: Spatial, reference: Reference) -> Block:
    linear, angular = motion
    for step in reversed(way):
        if reference == "world":
            linear, angular = step.twist_out(Spatial(linear, angular))
        elif reference == "world-aligned":
            linear, angular = step.out(linear), step.out(angular)
    numbers: Triple = [*linear, *angular]
    return o.vector(numbers)
