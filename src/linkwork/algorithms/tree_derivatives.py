"""First derivatives of a tree's inverse dynamics, entry by entry."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.composite_bodies import (
    External,
    MomentumMatrix,
    composite_inertias,
    composite_momenta,
    composite_wrenches,
    external_wrenches,
    inertial_wrench,
    momentum_matrix,
)
from linkwork.algorithms.joint_transforms import (
    Inertia,
    JointTransform,
    Rates,
    Spatial,
    both,
    crossed,
    crossed_wrench,
    doubled,
    power,
)
from linkwork.algorithms.sweep import Motion, Output, Sweep, motions
from linkwork.algorithms.vector3 import Scalar, Vector3, added, dot, minus, scaled

POSITION, VELOCITY, ACCELERATION = 0, 1, 2
"""The parts of what `derivatives` gives."""


def derivatives(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """The derivatives (3, nv, nv) of the joint forces, row by row, by position, v and dv."""
    found = sweep.output(3, sweep.m.n_v, sweep.m.n_v)
    add_derivatives(sweep, v, dv, found)
    return found


def add_derivatives(sweep: Sweep, v: Rates, dv: Rates, found: Output) -> None:
    """Add the `derivatives` to numbers that are there."""
    moving = motions(sweep, v, dv, gravity=True)
    own = sweep.inertias()
    momenta = sweep.each(
        lambda step, body, motion: momentum_matrix(body, motion.velocity), own, moving
    )
    forces = sweep.each(
        lambda step, body, momentum, motion: inertial_wrench(body, momentum, motion),
        own,
        momenta,
        moving,
    )
    outside = external_wrenches(sweep)
    behind = sweep.each(
        lambda step, *given: Behind.of(*given),
        composite_inertias(sweep, own),
        composite_momenta(sweep, momenta),
        composite_wrenches(sweep, forces),
        outside,
    )
    changes = sweep.each(_changes, moving)
    _Entries(found).fill(sweep, behind, changes)
    sweep.of_velocities("damping", lambda k, x: found.add((VELOCITY, k, k), x))
    sweep.springs(lambda k, stiffness, _: found.add((POSITION, k, k), stiffness))
    sweep.of_velocities("armature", lambda k, x: found.add((ACCELERATION, k, k), x))


class Behind(NamedTuple):
    """All that a joint moves, as one body."""

    inertia: Inertia
    momentum: MomentumMatrix
    wrench: Spatial
    outside: External | None

    @staticmethod
    def of(
        inertia: Inertia, momentum: MomentumMatrix, wrench: Spatial, outside: External | None
    ) -> Behind:
        """The wrench is the one that moves it so; what the world exerts is taken off."""
        if outside is not None:
            force, moment = outside.wrench
            wrench = Spatial(minus(wrench.linear, force), minus(wrench.angular, moment))
        return Behind(inertia, momentum, wrench, outside)


class Change(NamedTuple):
    """The effect of one number of v, in the frame of its joint."""

    motion: Spatial  # S
    velocity: Spatial  # by position, the change of the velocities behind, as seen from there
    double: Spatial  # the same, and dS/dt
    acceleration: Spatial  # by position, the change of the accelerations behind


def _changes(step: JointTransform, motion: Motion) -> list[Change]:
    found: list[Change] = []
    for own in step.columns():
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
    return both(doubled(body.momentum.of(change.motion)), body.inertia.of(change.double))


def _by_position(body: Behind, change: Change) -> Spatial:
    """The wrench by position, along axes that are displaced with all behind: 2 B dψ + I ddψ."""
    wrench = both(body.momentum.of(doubled(change.velocity)), body.inertia.of(change.acceleration))
    if body.outside is None:
        return wrench
    return both(wrench, body.outside.turned(change.motion.angular))


class _Carried(NamedTuple):
    """The effect of one number of v on the joints that carry it."""

    momentum: Spatial
    by_speed: Spatial
    by_position: Spatial
    moments: list[Vector3]  # without a force, the same about every point

    def out(self, step: JointTransform) -> _Carried:
        """The same in the frame before."""
        momentum, by_speed, by_position = map(step.wrench_out, self[:3])
        return _Carried(momentum, by_speed, by_position, list(map(step.out, self.moments)))


class _Entries:
    """The entries of the derivatives, each by the two numbers of v that meet there."""

    def __init__(self, found: Output) -> None:
        self._found = found

    def fill(self, sweep: Sweep, *states: object) -> None:
        sweep.up(self._with_own, lambda step, all: [x.out(step) for x in all], self._meet, *states)

    def _add(
        self,
        part: int,
        row: tuple[JointTransform, int],
        column: tuple[JointTransform, int],
        value: Scalar,
    ) -> None:
        self._found.meet(row, column, value, part=(part,))

    def _with_own(
        self, step: JointTransform, body: Behind, changes: list[Change]
    ) -> list[_Carried]:
        carried: list[_Carried] = []
        for i, change in enumerate(changes):
            momentum, by_speed = body.inertia.of(change.motion), _by_speed(body, change)
            by_position = _by_position(body, change)
            for j, other in enumerate(changes):
                for part, wrench in (
                    (ACCELERATION, momentum),
                    (VELOCITY, by_speed),
                    (POSITION, by_position),
                ):
                    self._add(part, (step, j), (step, i), power(other.motion, wrench))
            moments: list[Vector3] = [scaled(2.0, body.momentum.against(change.motion))]
            if body.outside is not None:
                moments.append(body.outside.against(change.motion))
            pulled = both(by_position, crossed_wrench(change.motion, body.wrench))
            carried.append(_Carried(momentum, by_speed, pulled, moments))
        return carried

    def _meet(
        self,
        step: JointTransform,
        _: Behind,
        changes: list[Change],
        above: JointTransform,
        __: Behind,
        carriers: list[Change],
        carried: list[_Carried],
    ) -> None:
        for i, (momentum, by_speed, by_position, moments) in enumerate(carried):
            own, (turning, *outside) = (step, i), moments
            for j, other in enumerate(carriers):
                there = (above, j)
                mass = power(other.motion, momentum)
                self._add(ACCELERATION, there, own, mass)
                self._add(ACCELERATION, own, there, mass)
                self._add(VELOCITY, there, own, power(other.motion, by_speed))
                back = added(dot(other.motion.angular, turning), power(other.double, momentum))
                self._add(VELOCITY, own, there, back)
                self._add(POSITION, there, own, power(other.motion, by_position))
                back = added(
                    dot(other.velocity.angular, turning), power(other.acceleration, momentum)
                )
                for moment in outside:
                    back = added(back, dot(other.motion.angular, moment))
                self._add(POSITION, own, there, back)
