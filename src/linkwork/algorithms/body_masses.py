"""The masses of bodies as second moments, with what the parents may carry as well handed to them.

A body's mass distribution enters dynamics by ten numbers: mass, first moments (mass times centre of
mass) and second moments J = sum of m r rᵀ. A mass on the axis about which a body turns moves with
the parent too, so of a turning body the mass, the first moment along the axis and the second moment
along it are handed to the parent, once and for all before anything is computed: seven numbers
remain. A sliding body never turns against its parent and hands over all its second moments. What
arrives at a fixed base does not count.

Source: M. Gautier and W. Khalil, "Direct calculation of minimum set of inertial parameters of
serial robots", IEEE Trans. Robotics and Automation 6 (1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import Rotation, Scalar, added, all_constant, is_constant_rotation
from linkwork.algorithms.joint_passage import Passage, Wrench
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import (
    Triple,
    applied,
    cross,
    less,
    minus,
    negated,
    plus,
    rows_of,
    times,
    total,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism, Placement

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Row and column of each of the six second moments xx xy xz yy yz zz."""


class BodyMass(NamedTuple):
    """Mass, first moments and second moments about the origin of a body's frame, in its axes."""

    mass: Scalar
    first: Triple
    second: list[Scalar]  # xx xy xz yy yz zz


NOTHING = BodyMass(0.0, [0.0] * 3, [0.0] * 6)


def body_masses(m: Mechanism, *, points: bool = False, base: bool = False) -> list[BodyMass]:
    """The bodies as they are; nothing for a fixed base, unless ``base`` asks for it.

    Where only mass and first moments matter, ``points`` leaves the second ones out.
    """
    return [
        NOTHING if type is JointType.FIXED and not base else _own(m, body, points)
        for body, type in enumerate(m.body_joint_types)
    ]


def lightened(m: Mechanism, *, points: bool = False) -> list[BodyMass]:
    """The `body_masses` with all that is constant and can be handed to the parent handed to it."""
    masses = body_masses(m, points=points)
    for body in range(m.n_bodies - 1, -1, -1):
        type, at, parent = m.body_joint_types[body], m.placement(body), int(m.parent[body])
        if not is_constant_rotation(at.R) or not all_constant(at.p):
            continue
        given = _handed(type, masses[body])
        own = masses[body]
        masses[body] = BodyMass(
            less(own.mass, given.mass),
            minus(own.first, given.first),
            minus(own.second, given.second),
        )
        if parent >= 0 and m.body_joint_types[parent] is not JointType.FIXED:
            masses[parent] = joined(masses[parent], placed(given, at))
    return masses


def _own(m: Mechanism, body: int, points: bool) -> BodyMass:
    if points:
        return BodyMass(m.body_mass(body), list(m.body_moment(body)), [0.0] * 6)
    xx, xy, xz, yy, yz, zz = m.body_inertia(body)
    half = times(0.5, total([xx, yy, zz]))
    second = [less(half, xx), negated(xy), negated(xz), less(half, yy), negated(yz), less(half, zz)]
    return BodyMass(m.body_mass(body), list(m.body_moment(body)), second)


def _handed(type: JointType, own: BodyMass) -> BodyMass:
    """The constant part of what the parent of a body may carry as well."""
    first, second, mass = zeros(), [0.0] * 6, 0.0
    if type.turns:
        mass, first[2] = _constant(own.mass), _constant(own.first[2])
    if type.turns or type is JointType.PLANAR:
        second[5] = _constant(own.second[5])
    if type is JointType.PRISMATIC:
        second = [_constant(x) for x in own.second]
    return BodyMass(mass, first, second)


def _constant(x: Scalar) -> Scalar:
    """The number itself where it is a constant; a block stays where it is."""
    return x if type(x) is float else 0.0


def placed(own: BodyMass, at: Placement) -> BodyMass:
    """The same masses in the frame that this one is placed in."""
    R, p = rows_of(at.R), list(at.p)
    first = applied(R, own.first)
    half = [applied(R, row) for row in symmetric(own.second)]
    whole = [applied(R, [half[k][i] for k in range(3)]) for i in range(3)]
    second = [whole[i][j] for i, j in PLACES]
    return moved(BodyMass(own.mass, first, second), p)


def moved(own: BodyMass, p: Triple) -> BodyMass:
    """The same masses about a point where this origin is at p."""
    first = plus(own.first, [times(own.mass, x) for x in p])
    second = [
        total([own.second[k], times(p[i], own.first[j]), times(p[j], first[i])])
        for k, (i, j) in enumerate(PLACES)
    ]
    return BodyMass(own.mass, first, second)


def joined(a: BodyMass, b: BodyMass) -> BodyMass:
    """Two bodies fixed to one another."""
    return BodyMass(total([a.mass, b.mass]), plus(a.first, b.first), plus(a.second, b.second))


def symmetric(six: Sequence[Scalar]) -> list[list[Scalar]]:
    """The matrix (3, 3) of six numbers, as rows."""
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def in_parent(way: Passage, turned: BodyMass) -> BodyMass:
    """Masses along the axes of the joint frame, about the body's origin, in the parent's frame."""
    joint = turned if way.shift is None else moved(turned, way.shift)
    if way.exact:
        at = way.into_joint(way.p)
        return placed(moved(joint, at), Placement(way.R, zeros()))
    return placed(joint, Placement(way.R, way.p))


def turned_out(way: Passage, own: BodyMass) -> BodyMass:
    """The masses along the axes of the joint frame, about the body's origin."""
    if way.free is not None:
        return placed(own, Placement(way.free, zeros()))
    if way.turn is None:
        return own
    xx, xy, xz, yy, yz, zz = own.second
    xx, xy, yy = turned_square(way.turn, xx, xy, yy)
    xz, yz, _ = way.out_of_body([xz, yz, 0.0])
    return BodyMass(own.mass, way.out_of_body(own.first), [xx, xy, xz, yy, yz, zz])


def turned_square(
    turn: tuple[Scalar, Scalar], xx: Scalar, xy: Scalar, yy: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """A symmetric matrix (2, 2) after a turn R of its axes: R A Rᵀ.

    With t = s (xx - yy) + 2 c xy its entries change by s t, and the other one is c t - xy.
    """
    c, s = turn
    t = added(times(s, less(xx, yy)), times(times(2.0, c), xy))
    change = times(s, t)
    return less(xx, change), less(times(c, t), xy), added(yy, change)


def momenta(type: JointType, own: BodyMass, before: BodyMass) -> list[Wrench]:
    """Momentum at a unit of each of the joint's velocities, about the body's origin.

    It is also the wrench that a unit of each acceleration takes. Velocities of
    floating and spherical joints are along the axes of the body, others along those of the joint
    frame: so must the masses be given. The
    inertia about z is the same before the turn, and depends on less there.
    """
    slides, turns = _sliding(own), _turning(own)
    turns[2].moment[2] = added(before.second[0], before.second[3])
    return [(turns if turning else slides)[axis] for axis, turning in free_axes(type)]


def _sliding(own: BodyMass) -> list[Wrench]:
    """For each axis: the momentum at a unit velocity along it."""
    units: list[Triple] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    return [Wrench([times(own.mass, x) for x in unit], cross(own.first, unit)) for unit in units]


def _turning(own: BodyMass) -> list[Wrench]:
    """For each axis: the momentum at a unit of angular velocity about it."""
    units: list[Triple] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    xx, xy, xz, yy, yz, zz = own.second
    inertia = symmetric(
        [added(yy, zz), negated(xy), negated(xz), added(xx, zz), negated(yz), added(xx, yy)]
    )
    return [
        Wrench(cross(unit, own.first), column) for unit, column in zip(units, inertia, strict=True)
    ]


def inertia_of_point(mass: Scalar, at: Sequence[Scalar]) -> list[Scalar]:
    """The inertia of a point mass at a point, about the origin: m (p·p 1 - p pᵀ), six numbers."""
    x, y, z = at
    moments = [times(mass, x), times(mass, y), times(mass, z)]
    xx, yy, zz = (times(a, b) for a, b in zip(moments, at, strict=True))
    xy, xz, yz = times(moments[0], y), times(moments[0], z), times(moments[1], z)
    off = [negated(xy), negated(xz), negated(yz)]
    return [total([yy, zz]), off[0], off[1], total([xx, zz]), off[2], total([xx, yy])]


def turned_inertia(R: Rotation, six: Sequence[Scalar]) -> list[Scalar]:
    """An inertia along other axes, R I Rᵀ, by its numbers ixx ixy ixz iyy iyz izz."""
    rows = rows_of(R)
    half = [applied(rows, row) for row in symmetric(six)]  # row k: R times column k: I = Iᵀ
    whole = [applied(rows, [half[k][i] for k in range(3)]) for i in range(3)]
    return [whole[i][j] for i, j in PLACES]
