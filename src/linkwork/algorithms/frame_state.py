"""How a frame moves while v stays, in world axes from joint to joint: what closures differentiate.

The ends of loops are few joints from each other, often in one plane: along fixed axes their motions
keep the zeros that those in a frame's own axes lose (`frame_motion.py`), up to a tenth of the work.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Axes, in_axes, placed, reference_axes
from linkwork.algorithms.joint_motion import (
    body_axes,
    displacement,
    joint_position,
    joint_rate,
)
from linkwork.algorithms.path import free_axes
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


class FrameState(NamedTuple):
    """A frame in motion with constant v: origin, velocities, accelerations, all in world axes.

    None stands for a vector that is zero by structure.
    """

    axes: Axes
    p: Block | None = None
    velocity: Block | None = None
    omega: Block | None = None
    acceleration: Block | None = None
    alpha: Block | None = None


def frame_state(
    o: Ops, m: Mechanism, q: Block, v: Block, frame: int, since: int = -1
) -> FrameState:
    """How a frame moves while v stays; ``since`` as in `path_down`, v below it counts alone."""
    state = FrameState(reference_axes(o))
    for body in (k for k in m.ancestry(int(m.frame_body[frame])) if k > since):
        place = m.placement(body)
        joint = _carried(o, state, place.p)
        joint = joint._replace(axes=placed(o, joint.axes, place.R))
        state = _through_joint(o, m, q, v, body, joint)
    place = m.frame_placement(frame)
    state = _carried(o, state, place.p)
    return state._replace(axes=placed(o, state.axes, place.R))


def _carried(o: Ops, state: FrameState, local: list[Block]) -> FrameState:
    """The same motion at a point with these components along the frame's axes."""
    arm = in_axes(state.axes, local)
    if arm is None:
        return state
    across = _cross(o, state.omega, arm)
    return state._replace(
        p=_sum(state.p, arm),
        velocity=_sum(state.velocity, across),
        acceleration=_sum(
            _sum(state.acceleration, _cross(o, state.alpha, arm)), _cross(o, state.omega, across)
        ),
    )


def _through_joint(
    o: Ops, m: Mechanism, q: Block, v: Block, body: int, joint: FrameState
) -> FrameState:
    """From the joint frame to the body.

    A slide s adds s to the velocity and (ω + ω_s) x s to the acceleration, ω_s being the
    angular velocity of the axes in which s is constant: those of the body for a floating joint.
    """
    type = m.body_joint_types[body]
    if type is JointType.FIXED:
        return joint
    position, rates = joint_position(m, q, body), joint_rate(m, v, body)
    local = displacement(type, position)
    state = joint if local is None else _carried(o, joint, local)
    axes = body_axes(o, type, joint.axes, position)
    slide, turn = _velocities(o, type, axes if type.has_quaternion else joint.axes, rates)
    omega = _sum(joint.omega, turn)
    slide_omega = omega if type.has_quaternion else joint.omega
    coriolis = _sum(_cross(o, joint.omega, slide), _cross(o, slide_omega, slide))
    return FrameState(
        axes,
        state.p,
        _sum(state.velocity, slide),
        omega,
        _sum(state.acceleration, coriolis),
        _sum(joint.alpha, _cross(o, joint.omega, turn)),
    )


def _velocities(
    o: Ops, type: JointType, axes: Axes, rates: list[Block]
) -> tuple[Block | None, Block | None]:
    """The linear and the angular velocity that the joint adds."""
    slide: list[Block] = [0.0, 0.0, 0.0]
    turn: list[Block] = [0.0, 0.0, 0.0]
    for (k, turns), rate in zip(free_axes(type), rates, strict=True):
        (turn if turns else slide)[k] = rate
    return in_axes(axes, slide), in_axes(axes, turn)


def _sum(a: Block | None, b: Block | None) -> Block | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _cross(o: Ops, a: Block | None, b: Block | None) -> Block | None:
    return None if a is None or b is None else o.cross(a, b)
