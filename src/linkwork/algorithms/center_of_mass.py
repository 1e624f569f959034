"""The centre of mass of the whole mechanism and its Jacobian.

Masses are divided by their sum before the pass over the bodies, so that no positions of bodies are
needed and nothing is divided later; where the sum is not known beforehand (a mass that is an
input) the result is divided instead.
"""

from __future__ import annotations

from collections.abc import Callable

from linkwork.algorithms.axes import Axes, Scalar, is_zero, reference_axes, signed_axis, total
from linkwork.algorithms.carried_mass import Carried, carried, own_masses, terms
from linkwork.algorithms.composites import composite_inertias, momentum_matrix
from linkwork.algorithms.jacobian import gathered
from linkwork.algorithms.path import Motion as AxisMotion
from linkwork.algorithms.path import free_axes
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
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


def com(o: Ops, m: Mechanism, q: Block) -> Block:
    """Centre of mass of the whole mechanism in the world.

    Shapes: q (nq,) to (3,). Units: metre. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    behind, scale = _fractions(m)
    at: Block | None = None
    for term in terms(o, m, q, behind, reference_axes(o)):
        for vector in (term.slide, term.moment):
            at = vector if at is None else at if vector is None else at + vector
    start = o.vector(m.placement(0).p)
    if at is None:
        return start
    return start + (at if scale is None else (1.0 / scale) * at)


def com_jacobian(o: Ops, m: Mechanism, q: Block) -> Block:
    """Jacobian of the centre of mass: its velocity in the world is J v.

    Shapes: q (nq,) to (3, nv). Columns as in `jacobian`.

    Raises: InputError where the masses do not add up to more than zero.
    """
    behind, scale = _fractions(m)
    found = terms(o, m, q, behind, reference_axes(o))
    # fraction times (centre of mass of all that a body carries - origin of the body)
    arms: list[Block | None] = [term.moment for term in found]
    for body in range(m.n_bodies - 1, 0, -1):
        parent = int(m.parent[body])
        for vector in (found[body].slide, arms[body]):
            at = arms[parent]
            arms[parent] = vector if at is None else at if vector is None else at + vector
    motions: list[AxisMotion] = []
    columns: list[Block] = []
    for body, (term, arm) in enumerate(zip(found, arms, strict=True)):
        fraction, type = behind.masses[body], m.body_joint_types[body]
        if not is_zero(fraction):
            own = _motions(m, body, term.body if type.has_quaternion else term.joint)
            motions += own
            columns += [_column(o, motion, fraction, arm) for motion in own]
    J = gathered(o, m.n_v, motions, columns, 3)
    return J if scale is None else (1.0 / scale) * J


def _motions(m: Mechanism, body: int, axes: Axes) -> list[AxisMotion]:
    type = m.body_joint_types[body]
    if type is JointType.FIXED:
        return []
    start, factor = int(m.v_start[int(m.coordinate[body])]), float(m.multiplier[body])
    return [
        AxisMotion(start + k, factor, *signed_axis(axes, j), turns, 0)
        for k, (j, turns) in enumerate(free_axes(type))
    ]


def _column(o: Ops, motion: AxisMotion, fraction: Scalar, arm: Block | None) -> Block:
    """Axis x arm for a turn, fraction * axis for a slide."""
    if not motion.turns:
        return (fraction if motion.sign > 0 else -fraction) * motion.axis
    if arm is None:
        return o.const([0.0, 0.0, 0.0])
    return o.cross(motion.axis, arm) if motion.sign > 0 else o.cross(arm, motion.axis)


def _fractions(m: Mechanism) -> tuple[Carried, Scalar | None]:
    """What the joints carry, over the total mass; or as it is, and the total mass beside it.

    Raises: InputError where the total mass is not positive.
    """
    own, mass = own_masses(m), total_mass(m)
    if type(mass) is not float:
        return carried(m, own), mass
    masses = [x / mass for x in own.masses]
    return carried(m, Carried(masses, [[x / mass for x in row] for row in own.moments])), None


def com_by_sweep(sweep: Sweep) -> Output:
    """`com` in passes, for long mechanisms; `carried_mass` takes fewer products."""
    share, found = 1.0 / total_mass(sweep.m), sweep.output(3)

    def visit(_: JointTransform, pose: FramePose, own: Inertia) -> None:
        for i, x in enumerate(moment_in_world(pose, own)):
            found.add((i,), times(share, x))

    sweep.each(visit, poses(sweep), sweep.inertias(points=True, placed=True))
    return found


def com_jacobian_by_sweep(sweep: Sweep) -> Output:
    """`com_jacobian` in passes, for long mechanisms."""
    share, found = 1.0 / total_mass(sweep.m), sweep.output(3, sweep.m.n_v)

    def visit(step: JointTransform, pose: FramePose, behind: Inertia) -> None:
        for k, column in enumerate(step.columns()):
            for i, x in enumerate(applied(pose.R, behind.of(column).linear)):
                found.add((i, step.start + k), times(times(share, step.factor), x))

    sweep.each(visit, poses(sweep), composite_inertias(sweep, sweep.inertias()))
    return found


def moment_in_world(pose: FramePose, own: Inertia) -> Triple:
    """Mass times centre of mass of one body, in the world."""
    return plus(scaled(own.mass, pose.p), applied(pose.R, own.first))


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
