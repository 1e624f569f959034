"""The two passes of Newton and Euler: motions of bodies outwards, forces on them inwards.

The acceleration of the point r of a body is ``a + U r`` with ``U = [alpha]x + [omega]x [omega]x``.
A point on the axis of a joint does not feel the joint turn, so the column of U along the axis
comes from the parent: it costs a turn of two numbers, and most of the angular acceleration
follows from it.

Source: J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical
manipulators", ASME J. Dynamic Systems 102 (1980); with the matrix U: W. Khalil, J.-F. Kleinfinger,
"Minimum operations and minimum parameters of the dynamic models of tree structure robots", IEEE J.
Robotics and Automation 3 (1987).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import BodyMass
from linkwork.algorithms.joint_passage import Passage, Wrench, columns_of
from linkwork.algorithms.triples import (
    Rows,
    Triple,
    applied,
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
from linkwork.mechanism.model import JointType, Mechanism


class Motion(NamedTuple):
    """How a body moves, in its own axes."""

    omega: Triple
    alpha: Triple
    squares: Triple  # of omega
    xy: Scalar  # omega_x omega_y
    field: Rows  # U
    acceleration: Triple  # of the origin, less free fall


def motions(
    m: Mechanism,
    ways: list[Passage],
    v: list[Scalar],
    dv: list[Scalar],
    gravity: Triple | None = None,
) -> list[Motion]:
    """The motion of every body; gravity counts as an acceleration of the base against it."""
    g = m.gravity() if gravity is None else gravity
    base = _moving(zeros(), zeros(), [negated(x) for x in g])
    result: list[Motion] = []
    for body, way in enumerate(ways):
        parent = int(m.parent[body])
        columns, factor = columns_of(m, body)
        rates = [times(factor, v[k]) for k in columns]
        changes = [times(factor, dv[k]) for k in columns]
        result.append(_through(way, result[parent] if parent >= 0 else base, rates, changes))
    return result


def _moving(omega: Triple, alpha: Triple, acceleration: Triple) -> Motion:
    """A motion from the angular velocity and acceleration."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = (
        times(a, b) for a, b in ((x, x), (y, y), (z, z), (x, y), (x, z), (y, z))
    )
    field = [
        [negated(added(yy, zz)), less(xy, alpha[2]), added(xz, alpha[1])],
        [added(xy, alpha[2]), negated(added(xx, zz)), less(yz, alpha[0])],
        [less(xz, alpha[1]), added(yz, alpha[0]), negated(added(xx, yy))],
    ]
    return Motion(omega, alpha, [xx, yy, zz], xy, field, acceleration)


def _through(way: Passage, parent: Motion, rates: list[Scalar], changes: list[Scalar]) -> Motion:
    """The motion of the body at the other side of a joint."""
    omega = way.into_joint(parent.omega)
    at_joint = plus_applied(parent.acceleration, parent.field, way.p)
    acceleration = way.into_joint(at_joint)
    if way.type.turns:
        return _turned(way, parent, omega, acceleration, rates[0], changes[0])
    joint = _in_joint(way, parent, omega, acceleration)
    if way.type is JointType.PRISMATIC:
        slide, change = [0.0, 0.0, rates[0]], [0.0, 0.0, changes[0]]
        return joint._replace(acceleration=_displaced(way, joint, slide, change))
    if way.type is JointType.PLANAR:
        slide, change = [*rates[:2], 0.0], [*changes[:2], 0.0]
        moved = _displaced(way, joint, slide, change)
        return _turned(way, parent, omega, moved, rates[2], changes[2])
    if way.type.has_quaternion:
        return _floated(way, joint, rates, changes)
    return joint


def _turned(
    way: Passage, parent: Motion, omega: Triple, acceleration: Triple, rate: Scalar, change: Scalar
) -> Motion:
    """After a turn about z."""
    x, y, z = way.into_body(omega)
    z = added(z, rate)
    spin, column = _axis_column(way, parent, omega)
    kx, ky, kz = way.into_body(column)
    xx, yy, zz, xy, xz, yz = (
        times(a, b) for a, b in ((x, x), (y, y), (z, z), (x, y), (x, z), (y, z))
    )
    ax, ay, az = less(yz, ky), less(kx, xz), added(spin, change)
    field = [
        [negated(added(yy, zz)), less(xy, az), kx],
        [added(xy, az), negated(added(xx, zz)), ky],
        [less(xz, ay), added(yz, ax), kz],
    ]
    return Motion([x, y, z], [ax, ay, az], [xx, yy, zz], xy, field, way.into_body(acceleration))


def _axis_column(way: Passage, parent: Motion, omega: Triple) -> tuple[Scalar, Triple]:
    """The parent's angular acceleration about the joint's axis, and its U along it."""
    if way.exact:
        axis = [row[2] for row in way.R]
        return way.into_joint(parent.alpha)[2], way.into_joint(applied(parent.field, axis))
    joint = _moving(omega, way.into_joint(parent.alpha), zeros())
    return joint.alpha[2], [row[2] for row in joint.field]


def _in_joint(way: Passage, parent: Motion, omega: Triple, acceleration: Triple) -> Motion:
    """The parent's motion at the joint frame, in its axes."""
    alpha = way.into_joint(parent.alpha)
    return _moving(omega, alpha, acceleration)


def _displaced(way: Passage, joint: Motion, slide: Triple, change: Triple) -> Triple:
    """The acceleration of what slides at these rates in the joint frame."""
    away = plus_applied(plus(joint.acceleration, change), joint.field, way.shift or zeros())
    return plus_cross(away, joint.omega, scaled(2.0, slide))


def _floated(way: Passage, joint: Motion, rates: list[Scalar], changes: list[Scalar]) -> Motion:
    """After a floating or spherical joint: its rates are those of the body in its own axes."""
    n = way.type.n_lengths
    slide, spin = rates[:n] or zeros(), rates[n:]
    before = way.into_body(joint.omega)
    away = plus_applied(joint.acceleration, joint.field, way.shift or zeros())
    acceleration = plus(way.into_body(away), changes[:n] or zeros())
    acceleration = plus_cross(acceleration, plus(scaled(2.0, before), spin), slide)
    alpha = plus_cross(plus(way.into_body(joint.alpha), changes[n:]), before, spin)
    return _moving(plus(before, spin), alpha, acceleration)


def with_inertia(start: Wrench, own: BodyMass, motion: Motion) -> Wrench:
    """A wrench, and what it takes to move a body besides: force, and moment about its origin.

    The forces on the body's points add up to ``U first + mass a``, and the moment is the
    antisymmetric part of ``U second``, besides ``first x a``.
    """
    U, a, (xx, xy, xz, yy, yz, zz) = motion.field, motion.acceleration, own.second
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
    force = plus_applied(plus(start.force, scaled(own.mass, a)), U, own.first)
    whole = [total([at, *terms]) for at, terms in zip(start.moment, moment, strict=True)]
    return Wrench(force, plus_cross(whole, own.first, a))
