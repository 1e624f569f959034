"""First derivatives of a tree's inverse dynamics, entry by entry."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.composites import (
    Inertia,
    Rates,
    composite_inertias,
    composite_rates,
    composite_wrenches,
    inertial_wrench,
    own_inertias,
    rates,
)
from linkwork.algorithms.joint_matrix import JointMatrix, climb
from linkwork.algorithms.step_externals import External, externals, less_external
from linkwork.algorithms.step_motion import (
    Motion,
    both,
    crossed,
    crossed_wrench,
    doubled,
    motions_of,
    power,
)
from linkwork.algorithms.steps import Spatial, Step, columns
from linkwork.algorithms.triples import Triple, dot, scaled
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block


class Derivatives(NamedTuple):
    """Of the joint forces, row by row, with respect to what the names say."""

    q: JointMatrix
    v: JointMatrix
    dv: JointMatrix  # the mass matrix


def derivatives(
    m: Mechanism, steps: list[Step], v: Block | list[Scalar], dv: Block | list[Scalar]
) -> Derivatives:
    """The derivatives as numbers, entry by entry."""
    motions = motions_of(m, steps, v, dv, gravity=True)
    own = own_inertias(m, steps)
    own_rates = [rates(body, motion.velocity) for body, motion in zip(own, motions, strict=True)]
    forces = composite_wrenches(steps, list(map(inertial_wrench, own, own_rates, motions)))
    outside = externals(m, steps)
    behind = map(
        Behind,
        composite_inertias(steps, own),
        composite_rates(steps, own_rates),
        less_external(forces, outside),
        outside,
    )
    found = Derivatives(*(JointMatrix(m.n_v) for _ in range(3)))
    every = [_changes(step, motion) for step, motion in zip(steps, motions, strict=True)]
    for k, body in enumerate(behind):
        for i in range(len(every[k])):
            _with_own(found, steps, every, (k, i), body)
            _with_carriers(found, steps, every, (k, i), body)
    for k in range(m.n_v):
        found.v.add_plain(k, k, m.joint_damping(k))
        found.dv.add_plain(k, k, m.joint_armature(k))
    return found


class Behind(NamedTuple):
    """All that a step moves, as one body."""

    inertia: Inertia
    rates: Rates
    wrench: Spatial
    outside: External | None


class Change(NamedTuple):
    """What one number of v does, in the frame of its step."""

    motion: Spatial  # S
    velocity: Spatial  # by position, the change of the velocities behind, as seen from there
    double: Spatial  # the same, and dS/dt
    acceleration: Spatial  # by position, the change of the accelerations behind


def _changes(step: Step, motion: Motion) -> list[Change]:
    found: list[Change] = []
    for own in columns(step):
        velocity = crossed(motion.velocity_before, own)
        # a single motion does not change its own axis, so dS/dt is the same
        rate = velocity if len(step.free) == 1 else crossed(motion.velocity, own)
        bent = both(
            crossed(motion.acceleration_before, own), crossed(motion.velocity_before, velocity)
        )
        found.append(Change(own, velocity, both(velocity, rate), bent))
    return found


def _by_speed(body: Behind, change: Change) -> Spatial:
    """The wrench on all behind by the rate of this motion: 2 B S + I (dψ + dS/dt)."""
    return both(doubled(body.rates.of(change.motion)), body.inertia.of(change.double))


def _by_position(body: Behind, change: Change) -> Spatial:
    """The wrench by position, along axes that are displaced with all behind: 2 B dψ + I ddψ."""
    wrench = both(body.rates.of(doubled(change.velocity)), body.inertia.of(change.acceleration))
    if body.outside is None:
        return wrench
    return both(wrench, body.outside.turned(change.motion.angular))


def _with_own(
    found: Derivatives,
    steps: list[Step],
    every: list[list[Change]],
    at: tuple[int, int],
    body: Behind,
) -> None:
    """The entries of one number of v with all those of its step."""
    k, i = at
    change, own = every[k][i], (steps[k], i)
    momentum, by_speed = body.inertia.of(change.motion), _by_speed(body, change)
    by_position = _by_position(body, change)
    for j, other in enumerate(every[k]):
        row = (steps[k], j)
        found.dv.add(row, own, power(other.motion, momentum))
        found.v.add(row, own, power(other.motion, by_speed))
        found.q.add(row, own, power(other.motion, by_position))


def _with_carriers(
    found: Derivatives,
    steps: list[Step],
    every: list[list[Change]],
    at: tuple[int, int],
    body: Behind,
) -> None:
    """The entries of one number of v with those of all steps that carry its own."""
    k, i = at
    change, own = every[k][i], (steps[k], i)
    by_position = both(_by_position(body, change), crossed_wrench(change.motion, body.wrench))
    wrenches = [body.inertia.of(change.motion), _by_speed(body, change), by_position]
    moments: list[Triple] = [scaled(2.0, body.rates.against(change.motion))]
    if body.outside is not None:
        moments.append(body.outside.against(change.motion))
    for above, (momentum, by_speed, by_position), (turning, *outside) in climb(
        steps, k, wrenches, moments
    ):
        for j, other in enumerate(every[above]):
            there = (steps[above], j)
            mass = power(other.motion, momentum)
            found.dv.add(there, own, mass)
            found.dv.add(own, there, mass)
            found.v.add(there, own, power(other.motion, by_speed))
            back = added(dot(other.motion.angular, turning), power(other.double, momentum))
            found.v.add(own, there, back)
            found.q.add(there, own, power(other.motion, by_position))
            back = added(dot(other.velocity.angular, turning), power(other.acceleration, momentum))
            for moment in outside:
                back = added(back, dot(other.motion.angular, moment))
            found.q.add(own, there, back)
