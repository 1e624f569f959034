"""The inertias of bodies, with what the parents may carry as well handed to them.

A mass on the axis about which a body turns moves with the parent too, so of a turning body the
mass, the first moment along the axis and the second moment along it are handed to the parent, once
and for all before anything is computed: seven of ten numbers remain. A sliding body never turns
against its parent and hands over all its second moments. What arrives at a fixed base does not
count.

Source: M. Gautier and W. Khalil, "Direct calculation of minimum set of inertial parameters of
serial robots", IEEE Trans. Robotics and Automation 6 (1990).
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.algorithms.joint_transforms import Inertia, fixed_in
from linkwork.algorithms.vector3 import (
    Scalar,
    added,
    all_constant,
    is_constant_rotation,
    less,
    minus,
    negated,
    plus,
    symmetric,
    times,
    total,
    zeros,
)
from linkwork.mechanism.model import JointType, Mechanism

PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Row and column of each of the six numbers xx xy xz yy yz zz of a symmetric matrix."""


def body_inertias(m: Mechanism, *, points: bool = False, base: bool = False) -> list[Inertia]:
    """The inertias of the bodies; nothing for a fixed base, unless ``base`` asks for it.

    Where only mass and first moments matter, ``points`` leaves the second ones out.
    """
    found: list[Inertia] = []
    for body, type in enumerate(m.body_joint_types):
        if type is JointType.FIXED and not base:
            found.append(Inertia(0.0, zeros(), symmetric([0.0] * 6)))
            continue
        found.append(body_inertia(m, body, points=points))
    return found


def body_inertia(m: Mechanism, body: int, *, points: bool = False) -> Inertia:
    """The inertia of a body by itself."""
    second = [0.0] * 6
    if not points:
        xx, xy, xz, yy, yz, zz = m.body_inertia(body)
        half = times(0.5, total([xx, yy, zz]))
        second = [less(half, xx), negated(xy), negated(xz), less(half, yy), negated(yz)]
        second.append(less(half, zz))
    return Inertia(m.body_mass(body), list(m.body_moment(body)), symmetric(second))


def lightened(m: Mechanism, *, points: bool = False, base: bool = False) -> list[Inertia]:
    """The `body_inertias`, with what is constant and can be handed to the parent handed to it."""
    found = body_inertias(m, points=points, base=base)
    for body in range(m.n_bodies - 1, -1, -1):
        type, at, parent = m.body_joint_types[body], m.placement(body), int(m.parent[body])
        if not is_constant_rotation(at.R) or not all_constant(at.p):
            continue
        own, given = found[body], _handed(type, found[body], points)
        second = list(map(minus, own.second, given.second))
        found[body] = Inertia(less(own.mass, given.mass), minus(own.first, given.first), second)
        if parent >= 0 and (base or m.body_joint_types[parent] is not JointType.FIXED):
            before, more = found[parent], fixed_in(at).inertia_out(given)
            second = list(map(plus, before.second, more.second))
            found[parent] = Inertia(
                added(before.mass, more.mass), plus(before.first, more.first), second
            )
    return found


def _handed(joint: JointType, own: Inertia, points: bool) -> Inertia:
    """The constant part of what the parent of a body may carry as well.

    A first moment that slides is only the same to its parent where second moments do not matter.
    """

    def constant(x: Scalar) -> Scalar:  # a block stays where it is
        return x if type(x) is float else 0.0

    mass, first, second = 0.0, zeros(), symmetric([0.0] * 6)
    if joint.turns:
        mass = constant(own.mass)
    if joint.turns or (points and joint is JointType.PLANAR):
        first[2] = constant(own.first[2])
    if points and joint is JointType.PRISMATIC:
        first = list(map(constant, own.first))
    if joint.turns or joint is JointType.PLANAR:
        second[2][2] = constant(own.second[2][2])
    if joint is JointType.PRISMATIC:
        second = [list(map(constant, row)) for row in own.second]
    return Inertia(mass, first, second)


def inertia_of_point(mass: Scalar, at: Sequence[Scalar]) -> list[Scalar]:
    """The inertia of a point mass at a point, about the origin: m (p·p 1 - p pᵀ), six numbers."""
    x, y, z = at
    moments = [times(mass, x), times(mass, y), times(mass, z)]
    xx, yy, zz = (times(a, b) for a, b in zip(moments, at, strict=True))
    xy, xz, yz = times(moments[0], y), times(moments[0], z), times(moments[1], z)
    off = [negated(xy), negated(xz), negated(yz)]
    return [total([yy, zz]), off[0], off[1], total([xx, zz]), off[2], total([xx, yy])]
