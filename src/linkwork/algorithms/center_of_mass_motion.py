"""Velocity and acceleration of the centre of mass."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.composites import inwards, own_inertias, rates
from linkwork.algorithms.step_motion import motions_of
from linkwork.algorithms.steps import Step, steps_of, way_to
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
    steps = steps_of(o, m, q)
    share = _share(o, m)
    own = own_inertias(m, steps, points=True)
    momenta = [
        rates(body, motion.velocity).p
        for body, motion in zip(own, motions_of(m, steps, v), strict=True)
    ]
    return o.vector(scaled(share, in_world(steps, momenta)))


def com_acceleration(o: Ops, m: Mechanism, q: Block, v: Block, dv: Block) -> Block:
    """Acceleration of the centre of mass in the world.

    Shapes: q (nq,), v (nv,), dv (nv,) to (3,). Units: m/s². Gravity has no part in it: it is the
    second derivative of `com`. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    steps = steps_of(o, m, q)
    share = _share(o, m)
    forces: list[Triple] = []
    for own, motion in zip(
        own_inertias(m, steps, points=True), motions_of(m, steps, v, dv), strict=True
    ):
        momentum = rates(own, motion.velocity).p
        force = own.of(motion.acceleration).linear
        forces.append(plus(force, cross(motion.velocity.angular, momentum)))
    return o.vector(scaled(share, in_world(steps, forces)))


def in_world(steps: list[Step], vectors: list[Triple]) -> Triple:
    """The sum of vectors along the axes of the steps, along those of the world."""
    result, all = list(vectors), zeros()
    for step, k in inwards(steps):
        result[step.parent] = plus(result[step.parent], step.out(result[k]))
    for k, step in enumerate(steps):
        if not step.free or (step.parent >= 0 and steps[step.parent].free):
            continue  # the world's own, or counted already
        for each in reversed(way_to(steps, k)):
            result[k] = steps[each].out(result[k])
        all = plus(all, result[k])
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
