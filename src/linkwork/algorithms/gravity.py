"""Gravity: the energy of a mechanism in it, and the joint forces that hold against it."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.actuation import actuated_forces, actuation
from linkwork.algorithms.axes import (
    Axes,
    Scalar,
    added,
    axis,
    is_all_zero,
    is_zero,
    placed,
    signed_axis,
    times,
    total,
    transposed,
)
from linkwork.algorithms.carried_mass import Carried, carried, terms
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.joint_motion import (
    body_axes,
    displacement,
    joint_axes,
    joint_position,
)
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


def potential_energy(o: Ops, m: Mechanism, q: Block) -> Block:
    """Energy of the whole mechanism in gravity, zero where its centre of mass is at the origin.

    Shapes: q (nq,) to a scalar. Units: joule. The energy is minus the sum of m_i g·c_i over the
    links, with g = (0, 0, -9.80665) m/s² in the world unless it is a parameter.
    """
    behind, g = carried(m), m.gravity()
    parts = [times(behind.masses[0], total(list(map(times, g, m.placement(0).p))))]
    for term in terms(o, m, q, behind, _along(o, g)):
        parts += [part for part in (term.slide, term.moment) if part is not None]
    return o.vector([-total(parts)])[0]


def gravity_forces(o: Ops, m: Mechanism, q: Block, *, free_motions: int | None = None) -> Block:
    """Joint forces that hold the mechanism still against gravity.

    Shapes: q (nq,) to (nv,). Units: newton metre for turns, newton for slides. It is the derivative
    of `potential_energy` along v, and what inverse dynamics gives at v = dv/dt = 0: columns as in
    `jacobian`, so a floating base has the force, then the moment, in the axes of its body.
    Gravity is (0, 0, -9.80665) m/s² in the world unless it is a parameter. With loops or couplings:
    those of the actuated joints, which hold all.

    One pass turns gravity into the axes of every body, one turns the moments of what is carried
    back. Source: the gravity terms of J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line
    computational scheme for mechanical manipulators", ASME J. Dynamic Systems 102 (1980).
    """
    behind = carried(m)
    joints, bodies = _gravity_in(o, m, q)
    moments: list[list[Scalar]] = [list(row) for row in behind.moments]
    forces: dict[int, Scalar] = {}
    for body in range(m.n_bodies - 1, -1, -1):
        type, mass = m.body_joint_types[body], behind.masses[body]
        if type is JointType.FIXED:
            continue
        local = _forces(type, joints[body], bodies[body], mass, moments[body])
        start, factor = int(m.v_start[int(m.coordinate[body])]), float(m.multiplier[body])
        for k, force in enumerate(local):
            before = forces.get(start + k, 0.0)
            forces[start + k] = added(before, times(factor, force))
        parent = int(m.parent[body])
        if parent >= 0:
            handed = _in_parent(o, m, q, body, behind, moments[body])
            moments[parent] = list(map(added, moments[parent], handed))
    if m.n_v == 0:
        return o.const(np.zeros(0))
    found = [forces.get(k, 0.0) for k in range(m.n_v)]
    if m.is_closed:
        found = actuated_forces(actuation(o, m, closure_rows(o, m, q), free_motions), found)
    return o.vector(found)


def _along(o: Ops, direction: list[Scalar]) -> Axes:
    """The reference axes' components along a direction."""
    x, y, z = (o.const(value) if type(value) is float else value for value in direction)
    return Axes((x, y, z))


def _gravity_in(o: Ops, m: Mechanism, q: Block) -> tuple[list[Axes], list[Axes]]:
    """Gravity along the axes of every joint frame and of every body."""
    joints: list[Axes] = []
    bodies: list[Axes] = []
    start = _along(o, m.gravity())
    for body, parent in enumerate(m.parent.tolist()):
        joint = placed(o, bodies[parent] if parent >= 0 else start, m.placement(body).R)
        position = joint_position(m, q, body)
        joints.append(joint)
        bodies.append(body_axes(o, m.body_joint_types[body], joint, position))
    return joints, bodies


def _forces(
    type: JointType, joint: Axes, body: Axes, mass: Scalar, moment: list[Scalar]
) -> list[Scalar]:
    """For each number of v: -mass g along a slide; g x moment along a turn, here in body axes."""
    if type.turns:
        return [_turning(body, 0, 1, moment)]
    if type is JointType.PRISMATIC:
        return [_sliding(joint, 2, mass)]
    if type is JointType.PLANAR:
        return [
            _sliding(joint, 0, mass),
            _sliding(joint, 1, mass),
            _turning(body, 0, 1, moment),
        ]
    slides = [_sliding(body, j, mass) for j in range(type.n_lengths)]
    return slides + [_turning(body, (j + 1) % 3, (j + 2) % 3, moment) for j in range(3)]


def _sliding(g: Axes, j: int, mass: Scalar) -> Scalar:
    component, sign = signed_axis(g, j)
    return times(mass if sign < 0 else -mass, component)


def _turning(g: Axes, i: int, j: int, moment: list[Scalar]) -> Scalar:
    """``g[i] moment[j] - g[j] moment[i]``, the signs taken into the difference where possible."""
    (a, a_sign), (b, b_sign) = signed_axis(g, i), signed_axis(g, j)
    first, second = times(a, moment[j]), times(b, moment[i])
    if is_zero(second):
        return first if a_sign > 0 else -first
    if is_zero(first):
        return second if b_sign < 0 else -second
    if a_sign == b_sign:
        return first - second if a_sign > 0 else second - first
    return first + second if a_sign > 0 else -(first + second)


def _in_parent(
    o: Ops, m: Mechanism, q: Block, body: int, behind: Carried, moment: list[Scalar]
) -> list[Scalar]:
    """The moment of a body in the frame of its parent, but for the constants that are there."""
    type, position = m.body_joint_types[body], joint_position(m, q, body)
    axes = Axes((moment[0], moment[1], moment[2]))
    if not is_all_zero(moment):
        axes = joint_axes(o, type, axes, position)
    shift = displacement(type, position)
    if shift is not None:
        x, y, z = (added(axis(axes, j), times(behind.masses[body], shift[j])) for j in range(3))
        axes = Axes((x, y, z))
    if is_all_zero(axes.columns):
        return [0.0, 0.0, 0.0]
    parent = placed(o, axes, transposed(o, m.placement(body).R))
    return [axis(parent, j) for j in range(3)]
