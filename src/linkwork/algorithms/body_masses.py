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

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, all_constant, is_constant_rotation
from linkwork.algorithms.triples import (
    Triple,
    applied,
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


def symmetric(six: list[Scalar]) -> list[list[Scalar]]:
    """The matrix (3, 3) of six numbers, as rows."""
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
