"""The centre of mass of the whole mechanism, its motion, and the momentum about it.

What bodies have of it is handed inwards, each in its own axes, until it stands in the world: so no
poses of bodies are needed but where columns are along the axes of the world.
"""

from __future__ import annotations

from linkwork.algorithms.composite_bodies import PointMass, composite_inertias, point_masses
from linkwork.algorithms.inverse_dynamics import BodyMotion, body_motions
from linkwork.algorithms.joint_transforms import Inertia, JointTransform, Rates, Spatial
from linkwork.algorithms.sweep import FramePose, InPasses, Motion, Output, Sweep, motions, poses
from linkwork.algorithms.vector3 import (
    Scalar,
    Vector3,
    added,
    applied,
    cross,
    dot,
    minus,
    negated,
    plus_applied,
    plus_cross,
    scaled,
    times,
    total,
)
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism


@InPasses
def com(sweep: Sweep) -> Output:
    """Centre of mass of the whole mechanism in the world.

    Shapes: q (nq,) to (3,). Units: metre. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    return _centre(sweep, sweep.output(3))


def _centre(sweep: Sweep, found: Output) -> Output:
    points = point_masses(sweep, base=True, share=sweep.of_masses(_share))
    sweep.to_world(
        points, lambda step, whole: whole.out(step), lambda whole: found.fill(whole.first)
    )
    return found


@InPasses
def com_jacobian(sweep: Sweep) -> Output:
    """Jacobian of the centre of mass: its velocity in the world is J v.

    Shapes: q (nq,) to (3, nv). Columns as in `jacobian`.

    Raises: InputError where the masses do not add up to more than zero.
    """
    found, points = sweep.output(3, sweep.m.n_v), point_masses(sweep, share=sweep.of_masses(_share))

    def visit(step: JointTransform, pose: FramePose, behind: PointMass) -> None:
        for k, (slide, turn) in enumerate(step.columns()):
            linear = plus_cross(scaled(behind.mass, slide), turn, behind.first)
            for i, x in enumerate(applied(pose.R, linear)):
                found.add((i, step.start + k), times(step.factor, x))

    wholes = sweep.inwards(points, lambda step, whole: (whole, whole.out(step)))
    sweep.each(visit, poses(sweep), wholes)
    return found


@InPasses
def com_velocity(sweep: Sweep, v: Rates) -> Output:
    """Velocity of the centre of mass in the world: momentum over mass.

    Shapes: q (nq,), v (nv,) to (3,). Units: m/s. It is `com_jacobian` times v; the root link's mass
    counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """

    def momentum(_: JointTransform, own: PointMass, motion: Motion) -> Vector3:
        u, w = motion.velocity
        return plus_cross(scaled(own.mass, u), w, own.first)

    points = point_masses(sweep, share=sweep.of_masses(_share))
    found, own = sweep.output(3), sweep.each(momentum, points, motions(sweep, v))
    sweep.to_world(own, lambda step, whole: step.out(whole), found.fill)
    return found


@InPasses
def com_acceleration(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """Acceleration of the centre of mass in the world.

    Shapes: q (nq,), v (nv,), dv (nv,) to (3,). Units: m/s². Gravity has no part in it: it is the
    second derivative of `com`. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """

    def force(_: JointTransform, own: PointMass, motion: BodyMotion) -> Vector3:
        return plus_applied(scaled(own.mass, motion.acceleration), motion.field, own.first)

    points = point_masses(sweep, share=sweep.of_masses(_share))
    moving = body_motions(sweep, v, dv, gravity=False)
    found, own = sweep.output(3), sweep.each(force, points, moving)
    sweep.to_world(own, lambda step, whole: step.out(whole), found.fill)
    return found


@InPasses
def centroidal_momentum(sweep: Sweep, v: Rates) -> Output:
    """Linear and angular momentum of the whole mechanism about its centre of mass, world axes.

    Shapes: q (nq,), v (nv,) to (6,), linear part first. Units: kg m/s, kg m²/s. The centre of mass
    is that of `com`, to which the root link counts, also of a fixed base.

    Source: D. E. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", Autonomous
    Robots 35 (2013).
    Raises: InputError where the masses do not add up to more than zero.
    """
    centre, found = _centre(sweep, sweep.scratch(3)), sweep.output(6)

    def momentum(_: JointTransform, own: Inertia, motion: Motion) -> Spatial:
        return own.of(motion.velocity)

    def arrive(whole: Spatial) -> None:
        arm = [centre[i] for i in range(3)]
        found.fill([*whole.linear, *minus(whole.angular, cross(arm, whole.linear))])

    own = sweep.each(momentum, sweep.inertias(), motions(sweep, v))
    sweep.to_world(own, lambda step, whole: step.wrench_out(whole), arrive)
    return found


@InPasses
def centroidal_matrix(sweep: Sweep) -> Output:
    """The matrix A of `centroidal_momentum`, which is A v.

    Shapes: q (nq,) to (6, nv). Columns as in `jacobian`.

    Source: as `centroidal_momentum`. Raises: InputError as there.
    """
    centre, found = _centre(sweep, sweep.scratch(3)), sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, pose: FramePose, body: Inertia) -> None:
        arm = minus(pose.p, [centre[i] for i in range(3)])
        for k, column in enumerate(step.columns()):
            momentum = body.of(column)
            linear = applied(pose.R, momentum.linear)
            angular = plus_cross(applied(pose.R, momentum.angular), arm, linear)
            for i, x in enumerate([*linear, *angular]):
                found.add((i, step.start + k), times(step.factor, x))

    sweep.each(visit, poses(sweep), composite_inertias(sweep, sweep.inertias()))
    return found


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


def _share(m: Mechanism) -> Scalar:
    """One over the total mass."""
    return 1.0 / total_mass(m)


# ----------------------------------------------------------------------------------------- energy


@InPasses
def potential_energy(sweep: Sweep) -> Output:
    """Energy of the whole mechanism in gravity, zero where its centre of mass is at the origin.

    Shapes: q (nq,) to a scalar. Units: joule. The energy is minus the sum of m_i g·c_i over the
    links, with g the mechanism's in the world unless it is a parameter.
    """
    found = sweep.output()
    sweep.to_world(
        point_masses(sweep, base=True),
        lambda step, whole: whole.out(step),
        lambda whole: found.put((), negated(dot(sweep.gravity(), whole.first))),
    )
    return found


@InPasses
def kinetic_energy(sweep: Sweep, v: Rates) -> Output:
    """Kinetic energy of the whole mechanism: v·M v / 2, with M its mass matrix.

    Shapes: q (nq,), v (nv,) to a scalar. Units: joule. Rotors (armature) count where they are a
    parameter. `potential_energy` is the other part.
    """
    found = sweep.output()
    sweep.each(
        lambda step, own, motion: found.add((), _energy(own, motion.velocity)),
        sweep.inertias(),
        motions(sweep, v),
    )
    sweep.of_velocities(
        "armature",
        lambda k, x: found.add((), times(times(0.5, x), times(v[k], v[k]))),
    )
    return found


def _energy(own: Inertia, velocity: Spatial) -> Scalar:
    """The kinetic energy of one body: m u·u / 2 + u·(w x h) + w·J w / 2."""
    u, w = velocity
    slide = times(times(0.5, own.mass), dot(u, u))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = own.second
    x, y, z = w
    half = scaled(0.5, [added(yy, zz), added(xx, zz), added(xx, yy)])
    first = total([times(half[0], x), times(negated(xy), y), times(negated(xz), z)])
    second = total([times(half[1], y), times(negated(yz), z)])
    turning = dot(w, [first, second, times(half[2], z)])
    return total([turning, dot(u, cross(w, own.first)), slide])
