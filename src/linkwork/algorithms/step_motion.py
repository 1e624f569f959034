"""How the steps of a mechanism move: spatial velocities and accelerations."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.steps import Spatial, Step
from linkwork.algorithms.triples import cross, dot, negated, plus, scaled, times, zeros
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block


class Motion(NamedTuple):
    """How the frame of a step moves, along its own axes; accelerations are spatial.

    ``before`` is that frame as it would move if the step stood still.
    """

    velocity: Spatial
    acceleration: Spatial
    velocity_before: Spatial
    acceleration_before: Spatial


Rates = Block | list[Scalar]
"""Numbers of v, dv."""


def motions_of(
    m: Mechanism, steps: list[Step], v: Rates, dv: Rates | None = None, *, gravity: bool = False
) -> list[Motion]:
    """Velocities and accelerations of all steps; without ``dv`` it is zero.

    Gravity, where it is to count, is an acceleration of the world against it.
    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.
    """
    up = [negated(x) for x in m.gravity()] if gravity else zeros()
    world = Spatial(zeros(), zeros()), Spatial(up, zeros())
    found: list[Motion] = []
    for step in steps:
        velocity, acceleration = found[step.parent][:2] if step.parent >= 0 else world
        velocity, acceleration = step.twist_into(velocity), step.twist_into(acceleration)
        own = _own(step, v)
        after = acceleration if dv is None else both(acceleration, _own(step, dv))
        after = both(after, crossed(velocity, own))
        found.append(Motion(both(velocity, own), after, velocity, acceleration))
    return found


def _own(step: Step, v: Rates) -> Spatial:
    """What the step itself adds."""
    linear, angular = zeros(), zeros()
    for k, (axis, turns) in enumerate(step.free):
        (angular if turns else linear)[axis] = times(step.factor, v[step.start + k])
    return Spatial(linear, angular)


def both(a: Spatial, b: Spatial) -> Spatial:
    """The sum."""
    return Spatial(plus(a.linear, b.linear), plus(a.angular, b.angular))


def doubled(a: Spatial) -> Spatial:
    """Twice the same."""
    return Spatial(scaled(2.0, a.linear), scaled(2.0, a.angular))


def power(motion: Spatial, wrench: Spatial) -> Scalar:
    """What a wrench works on a motion."""
    return added(dot(motion.linear, wrench.linear), dot(motion.angular, wrench.angular))


def crossed(a: Spatial, b: Spatial) -> Spatial:
    """The rate of a motion b that is fixed to a frame of velocity a."""
    linear = plus(cross(a.angular, b.linear), cross(a.linear, b.angular))
    return Spatial(linear, cross(a.angular, b.angular))


def crossed_wrench(a: Spatial, b: Spatial) -> Spatial:
    """The rate of a wrench b that is fixed to a frame of velocity a."""
    moment = plus(cross(a.angular, b.angular), cross(a.linear, b.linear))
    return Spatial(cross(a.angular, b.linear), moment)
