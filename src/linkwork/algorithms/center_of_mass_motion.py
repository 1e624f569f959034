"""Velocity and acceleration of the centre of mass."""

from __future__ import annotations

from collections.abc import Callable

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.center_of_mass import total_mass
from linkwork.algorithms.composites import momentum_matrix
from linkwork.algorithms.sweep import (
    FramePose,
    Inertia,
    JointTransform,
    Motion,
    Output,
    Rates,
    States,
    Sweep,
    motions,
    poses,
)
from linkwork.algorithms.triples import Triple, applied, cross, plus, scaled, times, zeros
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def com_velocity(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """Velocity of the centre of mass in the world: momentum over mass.

    Shapes: q (nq,), v (nv,) to (3,). Units: m/s. It is `com_jacobian` times v; the root link's mass
    counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    share, sweep = _share(o, m), Sweep(o, m, q)
    momenta = sweep.each(
        lambda step, body, motion: momentum_matrix(body, motion.velocity).p,
        sweep.inertias(points=True),
        motions(sweep, v),
    )
    return o.vector(scaled(share, in_world(sweep, momenta)))


def com_acceleration(o: Ops, m: Mechanism, q: Block, v: Block, dv: Block) -> Block:
    """Acceleration of the centre of mass in the world.

    Shapes: q (nq,), v (nv,), dv (nv,) to (3,). Units: m/s². Gravity has no part in it: it is the
    second derivative of `com`. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    share, sweep = _share(o, m), Sweep(o, m, q)
    forces = sweep.each(
        lambda step, *own: _force(*own), sweep.inertias(points=True), motions(sweep, v, dv)
    )
    return o.vector(scaled(share, in_world(sweep, forces)))


def _force(own: Inertia, motion: Motion) -> Triple:
    """The force that moves one body so."""
    momentum = momentum_matrix(own, motion.velocity).p
    return plus(own.of(motion.acceleration).linear, cross(motion.velocity.angular, momentum))


def in_world(sweep: Sweep, vectors: States) -> Triple:
    """The sum of vectors along the axes of the transforms, along those of the world."""
    found = sweep.inwards(vectors, lambda step, whole: (whole, step.out(whole)))
    all = zeros()
    for k, step in enumerate(sweep.transforms):
        if not step.free or (step.parent >= 0 and sweep.transforms[step.parent].free):
            continue  # the world's own, or counted already
        vector, at = step.out(found[k]), step.parent
        while at >= 0:
            vector, at = sweep.transforms[at].out(vector), sweep.transforms[at].parent
        all = plus(all, vector)
    return all


def _share(o: Ops, m: Mechanism) -> Scalar:
    """One over the total mass."""
    mass = total_mass(m)
    return 1.0 / mass if type(mass) is float else o.const(1.0) / mass


def com_velocity_by_sweep(sweep: Sweep, v: Rates) -> Output:
    """`com_velocity` in passes, for long mechanisms."""
    return _by_sweep(sweep, v, None, lambda own, motion: momentum_matrix(own, motion.velocity).p)


def com_acceleration_by_sweep(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """`com_acceleration` in passes, for long mechanisms."""
    return _by_sweep(sweep, v, dv, _force)


def _by_sweep(
    sweep: Sweep, v: Rates, dv: Rates | None, vector: Callable[[Inertia, Motion], Triple]
) -> Output:
    share, found = 1.0 / total_mass(sweep.m), sweep.output(3)

    def visit(_: JointTransform, pose: FramePose, own: Inertia, motion: Motion) -> None:
        for i, x in enumerate(applied(pose.R, vector(own, motion))):
            found.add((i,), times(share, x))

    sweep.each(visit, poses(sweep), sweep.inertias(points=True), motions(sweep, v, dv))
    return found
