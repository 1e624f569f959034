"""Velocity and acceleration of the centre of mass."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.composites import momentum_matrix
from linkwork.algorithms.sweep import Inertia, JointTransform, Motion, States, Sweep, motions
from linkwork.algorithms.triples import Triple, cross, plus, scaled, total, zeros
from linkwork.errors import InputError
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

    def force(_: JointTransform, own: Inertia, motion: Motion) -> Triple:
        momentum = momentum_matrix(own, motion.velocity).p
        straight = own.of(motion.acceleration).linear
        return plus(straight, cross(motion.velocity.angular, momentum))

    forces = sweep.each(force, sweep.inertias(points=True), motions(sweep, v, dv))
    return o.vector(scaled(share, in_world(sweep, forces)))


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


def total_mass(m: Mechanism) -> Scalar:
    """The mass of all bodies, that of a fixed base included.

    Raises: InputError where it is not above zero.
    """
    mass = total([m.body_mass(body) for body in range(m.n_bodies)])
    if type(mass) is float and not mass > 0:
        raise InputError(
            f"'{m.name}': the masses of its {m.n_bodies} bodies add up to {mass:g} kg, so there "
            "is no centre of mass; give the links <inertial> elements with a mass above zero"
        )
    return mass


def _share(o: Ops, m: Mechanism) -> Scalar:
    """One over the total mass."""
    mass = total_mass(m)
    return 1.0 / mass if type(mass) is float else o.const(1.0) / mass
