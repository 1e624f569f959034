"""Inverse dynamics: the joint forces that a motion takes, and those that hold against gravity.

The acceleration of the point r of a body is ``a + U r`` with ``U = [alpha]x + [omega]x [omega]x``.
A point on the axis of a joint does not feel the joint turn, so the column of U along the axis
comes from the parent: it costs a turn of two numbers, and most of the angular acceleration
follows from it. By spatial accelerations (`sweep.motions`) it would be half as many products again.

Sources: recursive Newton-Euler, J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational
scheme for mechanical manipulators", ASME J. Dynamic Systems 102 (1980); R. Featherstone, Rigid Body
Dynamics Algorithms (2008), section 5.3; with the matrix U: W. Khalil, J.-F. Kleinfinger, "Minimum
operations and minimum parameters of the dynamic models of tree structure robots", IEEE J. Robotics
and Automation 3 (1987).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.actuation import actuated_forces, actuation, balanced
from linkwork.algorithms.closure import acceleration_bias, closure_rows
from linkwork.algorithms.composite_bodies import External, PointMass, point_masses, pushed
from linkwork.algorithms.joint_transforms import (
    NO_MOTION,
    Inertia,
    JointTransform,
    Rates,
    Spatial,
    power,
)
from linkwork.algorithms.sweep import Output, States, Sweep
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    added,
    as_vector,
    cross,
    is_zero,
    less,
    negated,
    plus,
    plus_applied,
    plus_cross,
    scaled,
    times,
    total,
    zeros,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def inverse_dynamics(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> Block:
    """Joint forces that give these accelerations.

    Shapes: q (nq,), v (nv,), dv (nv,) to (nv,). Units: newton metre for turns, newton for slides. A
    floating base has the force, then the moment about the origin of its body, in the body's axes.
    Gravity is the mechanism's; gravity, external wrenches, rotors (armature), damping, friction and
    springs are parameters (`mechanism/parameters.py`).

    With loops or couplings: the forces of the actuated joints, zero at the others
    (`actuation.py`, which also says what ``free_motions`` is); least norm where more joints are
    driven than move by themselves, NaN at a singularity.

    Source: recursive Newton-Euler, J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line
    computational scheme for mechanical manipulators", ASME J. Dynamic Systems 102 (1980);
    R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 5.3.
    """
    forces = tree_forces(Sweep(o, m, q), v, dv)
    if not m.is_closed:
        return forces.block(o)
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    return as_vector(o, actuated_forces(by, numbers(m, forces)))


def bias_forces(
    o: Ops, m: Mechanism, q: Block, v: Block, *, free_motions: int | None = None
) -> Block:
    """Joint forces that keep the velocity as it is: inverse dynamics at dv = 0.

    Shapes: q (nq,), v (nv,) to (nv,). Units and parameters as in `inverse_dynamics`. They
    hold against gravity, Coriolis and centrifugal forces. With loops or couplings: those of the
    actuated joints, with which the actuated speeds stay as they are.
    """
    sweep, changes = Sweep(o, m, q), still(m)
    if not m.is_closed:
        return tree_forces(sweep, v).block(o)
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    bias = acceleration_bias(o, m, q, v)
    changes = balanced(by, changes, [-bias[k] for k in range(len(by.rows))]).x
    return as_vector(o, actuated_forces(by, numbers(m, tree_forces(sweep, v, changes))))


def gravity_forces(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Block:
    """Joint forces that hold the mechanism still against gravity.

    Shapes: q (nq,) to (nv,). Units: newton metre for turns, newton for slides. It is the derivative
    of `potential_energy` along v, and what inverse dynamics gives at v = dv/dt = 0: columns as in
    `jacobian`, so a floating base has the force, then the moment, in the axes of its body.
    Gravity is the mechanism's unless it is a parameter. With loops or couplings:
    those of the actuated joints, which hold all.

    One pass turns gravity into the axes of every body, one turns the moments of what is carried
    back. Source: the gravity terms of J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line
    computational scheme for mechanical manipulators", ASME J. Dynamic Systems 102 (1980).
    """
    forces = tree_gravity_forces(Sweep(o, m, q))
    if not m.is_closed:
        return forces.block(o)
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    return as_vector(o, actuated_forces(by, numbers(m, forces)))


def path_forces(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> Block:
    """Joint forces along a path q(s): the rows a, b, c of a d²s/dt² + b (ds/dt)² + c.

    Shapes: q (nq,), v = dq/ds (nv,), dv = d²q/ds² (nv,) to (3, nv). The rows are M v, M dv with the
    Coriolis and centrifugal forces at v, and what holds still. Units and parameters as in
    `inverse_dynamics`, without losses, which are not of this form.
    """
    forces = tree_path_forces(Sweep(o, m, q), v, dv)
    if not m.is_closed:
        return forces.block(o)
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    found = Output((3, m.n_v))
    for part in range(3):
        row = [forces[part, k] for k in range(m.n_v)]
        for k, force in enumerate(actuated_forces(by, row)):
            found.put((part, k), force)
    return found.block(o)


def tree_gravity_forces(sweep: Sweep) -> Output:
    """`gravity_forces` of the tree, whatever is held beside it."""
    found = sweep.output(sweep.m.n_v)

    def upwards() -> Vector3:
        return [negated(x) for x in sweep.gravity()]

    def visit(step: JointTransform, whole: PointMass, up: Vector3) -> None:
        wrench = Spatial(scaled(whole.mass, up), cross(whole.first, up))
        for k, column in enumerate(step.columns()):
            found.add((step.start + k,), times(step.factor, power(column, wrench)))

    wholes = sweep.inwards(point_masses(sweep), lambda step, whole: (whole, whole.out(step)))
    sweep.each(visit, wholes, sweep.outwards(upwards, lambda step, up: step.into(up)))
    return found


def tree_forces(sweep: Sweep, v: Rates, dv: Rates | None = None) -> Output:
    """Inverse dynamics of the tree, rotors and losses included, whatever is held beside it."""
    found = sweep.output(sweep.m.n_v)
    add_forces(sweep, v, dv, found)
    return found


def tree_path_forces(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """`path_forces` of the tree, whatever is held beside it."""
    found = sweep.output(3, sweep.m.n_v)
    free = sweep.each(lambda step: NO_MOTION)
    for row, rates, changes in ((0, None, v), (1, v, dv)):
        moving = body_motions(sweep, rates, changes, gravity=False)
        add_joint_forces(sweep, free, moving, found, part=(row,))
        _add_rotors(sweep, changes, found, part=(row,))
    add_joint_forces(sweep, against_world(sweep), body_motions(sweep), found, part=(2,))
    return found


def add_forces(sweep: Sweep, v: Rates, dv: Rates | None, found: Output) -> None:
    """Add the `tree_forces` to numbers that are there."""
    add_joint_forces(sweep, against_world(sweep), body_motions(sweep, v, dv), found)
    if dv is not None:
        _add_rotors(sweep, dv, found)
    add_losses(sweep, v, found)


def _add_rotors(sweep: Sweep, dv: Rates, found: Output, *, part: tuple[int, ...] = ()) -> None:
    """Add what it takes to speed up the rotors."""
    sweep.of_velocities("armature", lambda k, x: found.add((*part, k), times(x, dv[k])))


def numbers(m: Mechanism, v: Rates | Output) -> list[Scalar]:
    """The elements of a vector (nv,)."""
    return [v[k] for k in range(m.n_v)]


def still(m: Mechanism) -> list[Scalar]:
    """Numbers of v that are zero."""
    return [0.0] * m.n_v


def add_losses(sweep: Sweep, v: Rates, found: Output) -> None:
    """Add the losses: damping times v, friction times the sign of v, and what stretches springs."""

    def friction(k: int, size: Scalar) -> None:
        if not is_zero(v[k]):
            o = sweep.o
            against = o.select(o.less(v[k], 0.0), -size, 0.0)
            found.add((k,), added(o.select(o.less(0.0, v[k]), size, 0.0), against))

    sweep.of_velocities("damping", lambda k, x: found.add((k,), times(x, v[k])))
    sweep.of_velocities("friction", friction)
    sweep.springs(lambda k, stiffness, stretch: found.add((k,), times(stiffness, stretch)))


# ---------------------------------------------------------------------------------------- passes


class BodyMotion(NamedTuple):
    """The motion of a body, in its own axes."""

    omega: Vector3
    alpha: Vector3
    squares: Vector3  # of omega
    xy: Scalar  # omega_x omega_y
    field: Rows  # U
    acceleration: Vector3  # of the origin, less free fall where gravity counts


def body_motions(
    sweep: Sweep, v: Rates | None = None, dv: Rates | None = None, *, gravity: bool = True
) -> States:
    """The `BodyMotion` of every transform; gravity is an acceleration of the world against it.

    Rates that are None are zero.
    """

    def visit(step: JointTransform, before: BodyMotion) -> BodyMotion:
        slide, spin = NO_MOTION if v is None else step.own_motion(v)
        slide_change, spin_change = NO_MOTION if dv is None else step.own_motion(dv)
        omega = step.into(before.omega)
        acceleration = step.into(plus_applied(before.acceleration, before.field, step.r))
        if step.turn is not None:
            # the axis z is constant in the frame before: its column of U too
            axis = [row[2] for row in step.R]
            about = total(list(map(times, axis, before.alpha)))
            column = step.into(plus_applied(zeros(), before.field, axis))
            after = plus(omega, spin)
            return _about_axis(after, column, added(about, spin_change[2]), acceleration)
        acceleration = plus_cross(
            plus(acceleration, slide_change), plus(scaled(2.0, omega), spin), slide
        )
        alpha = plus_cross(plus(step.into(before.alpha), spin_change), omega, spin)
        return _from_rates(plus(omega, spin), alpha, acceleration)

    def world() -> BodyMotion:
        up = [negated(x) for x in sweep.gravity()] if gravity else zeros()
        return _from_rates(zeros(), zeros(), up)

    return sweep.outwards(world, visit)


def _products(omega: Vector3) -> list[Scalar]:
    """The products xx yy zz xy xz yz."""
    x, y, z = omega
    return [times(a, b) for a, b in ((x, x), (y, y), (z, z), (x, y), (x, z), (y, z))]


def _from_rates(omega: Vector3, alpha: Vector3, acceleration: Vector3) -> BodyMotion:
    """A motion from the angular velocity and acceleration."""
    xx, yy, zz, xy, xz, yz = _products(omega)
    field = [
        [negated(added(yy, zz)), less(xy, alpha[2]), added(xz, alpha[1])],
        [added(xy, alpha[2]), negated(added(xx, zz)), less(yz, alpha[0])],
        [less(xz, alpha[1]), added(yz, alpha[0]), negated(added(xx, yy))],
    ]
    return BodyMotion(omega, alpha, [xx, yy, zz], xy, field, acceleration)


def _about_axis(
    omega: Vector3, column: Vector3, about: Scalar, acceleration: Vector3
) -> BodyMotion:
    """A motion from the last column of U and the angular acceleration about z."""
    xx, yy, zz, xy, xz, yz = _products(omega)
    kx, ky, kz = column
    ax, ay, az = less(yz, ky), less(kx, xz), about
    field = [
        [negated(added(yy, zz)), less(xy, az), kx],
        [added(xy, az), negated(added(xx, zz)), ky],
        [less(xz, ay), added(yz, ax), kz],
    ]
    return BodyMotion(omega, [ax, ay, az], [xx, yy, zz], xy, field, acceleration)


def against_world(sweep: Sweep) -> States:
    """The wrench on each body that holds against the push of the world on it."""

    def visit(_: JointTransform, outside: External | None) -> Spatial:
        return NO_MOTION if outside is None else Spatial(*map(_opposite, outside.wrench))

    return sweep.each(visit, pushed(sweep))


def add_joint_forces(
    sweep: Sweep, held: States, moving: States, found: Output, *, part: tuple[int, ...] = ()
) -> None:
    """Add the forces (nv,) of the joints that move all bodies so; ``held``: wrenches besides."""

    def visit(
        step: JointTransform, behind: Spatial, own: Inertia, motion: BodyMotion
    ) -> tuple[None, Spatial]:
        whole = with_inertia(behind, own, motion)
        for k, column in enumerate(step.columns()):
            found.add((*part, step.start + k), times(step.factor, power(column, whole)))
        return None, step.wrench_out(whole)

    sweep.inwards(held, visit, sweep.inertias(), moving)


def _opposite(a: Vector3) -> Vector3:
    return [negated(x) for x in a]


def with_inertia(start: Spatial, own: Inertia, motion: BodyMotion) -> Spatial:
    """A wrench, and what it takes to move a body besides: force, and moment about its origin.

    The forces on the body's points add up to ``U first + mass a``, and the moment is the
    antisymmetric part of ``U second``, besides ``first x a``.
    """
    U, a = motion.field, motion.acceleration
    (xx, xy, xz), (_xy, yy, yz), (_xz, _yz, zz) = own.second
    x_square, y_square, z_square = motion.squares
    moment = [
        [
            times(U[2][0], xy),
            times(U[1][0], negated(xz)),
            times(less(z_square, y_square), yz),
            times(U[2][1], yy),
            times(U[1][2], negated(zz)),
        ],
        [
            times(U[0][1], yz),
            times(U[2][1], negated(xy)),
            times(less(x_square, z_square), xz),
            times(U[0][2], zz),
            times(U[2][0], negated(xx)),
        ],
        [
            times(U[1][2], xz),
            times(U[0][2], negated(yz)),
            times(less(y_square, x_square), xy),
            times(motion.xy, less(xx, yy)),
            times(motion.alpha[2], added(xx, yy)),
        ],
    ]
    force = plus_applied(plus(start.linear, scaled(own.mass, a)), U, own.first)
    whole = [total([at, *terms]) for at, terms in zip(start.angular, moment, strict=True)]
    return Spatial(force, plus_cross(whole, own.first, a))
