"""The centre of mass of the whole mechanism and its Jacobian.

What a body carries is replaced by constants, its *moment*: its own mass times its centre of mass,
plus the mass of everything behind each of its joints placed at that joint. A moment along a
joint's z axis moves with the parent as well, so it is handed down to the parent. What remains are
two numbers for a turning body and none for a sliding one. Dividing by the total mass beforehand
leaves fractions, and no positions of bodies are needed.

Source: J. Wittenburg, Dynamics of Systems of Rigid Bodies (1977): augmented bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.algorithms.axes import Axes, in_axes, placed, reference_axes, signed_axis
from linkwork.algorithms.jacobian import gathered
from linkwork.algorithms.joint_motion import body_axes, displacement, joint_position
from linkwork.algorithms.path import Motion, free_axes
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


def com(o: Ops, m: Mechanism, q: Block) -> Block:
    """Centre of mass of the whole mechanism in the world.

    Shapes: q (nq,) to (3,). Units: metre. The root link's mass counts, also of a fixed base.

    Raises: InputError where the masses do not add up to more than zero.
    """
    total: Block = o.const(m.p_parent_joint[0])
    for term in _terms(o, m, q):
        for vector in (term.slide, term.moment):
            total = total if vector is None else total + vector
    return total


def com_jacobian(o: Ops, m: Mechanism, q: Block) -> Block:
    """Jacobian of the centre of mass: its velocity in the world is J v.

    Shapes: q (nq,) to (3, nv). Columns as in `jacobian`.

    Raises: InputError where the masses do not add up to more than zero.
    """
    terms = _terms(o, m, q)
    # fraction times (centre of mass of all that a body carries - origin of the body)
    arms: list[Block | None] = [term.moment for term in terms]
    for body in range(m.n_bodies - 1, 0, -1):
        parent = int(m.parent[body])
        for vector in (terms[body].slide, arms[body]):
            at = arms[parent]
            arms[parent] = vector if at is None else at if vector is None else at + vector
    motions: list[Motion] = []
    columns: list[Block] = []
    for term, arm in zip(terms, arms, strict=True):
        if term.fraction:
            motions += term.motions
            columns += [_column(o, motion, term.fraction, arm) for motion in term.motions]
    return gathered(o, m.n_v, motions, columns, 3)


class _Term(NamedTuple):
    """What one body contributes; None where a vector is zero by structure."""

    fraction: float  # of the total mass, carried by the body's joint
    slide: Block | None  # fraction * (origin of the body - origin of its joint)
    moment: Block | None
    motions: list[Motion]


def _terms(o: Ops, m: Mechanism, q: Block) -> list[_Term]:
    """One pass from the root body outwards."""
    fractions, moments = _constants(m)
    axes_of: dict[int, Axes] = {-1: reference_axes(o)}
    terms: list[_Term] = []
    for body, parent in enumerate(m.parent.tolist()):
        fraction = float(fractions[body])
        type = m.body_joint_types[body]
        position = joint_position(m, q, body)
        joint = placed(o, axes_of[parent], m.R_parent_joint[body])
        axes = body_axes(o, type, joint, position)
        axes_of[body] = axes
        local = displacement(type, position)
        slide = None if local is None else in_axes(joint, local)
        slide = None if slide is None or not fraction else fraction * slide
        moment = in_axes(axes, moments[body].tolist())
        moving = axes if type is JointType.FLOATING else joint
        terms.append(_Term(fraction, slide, moment, _motions(m, body, moving)))
    return terms


def _motions(m: Mechanism, body: int, axes: Axes) -> list[Motion]:
    type = m.body_joint_types[body]
    if type is JointType.FIXED:
        return []
    start, factor = int(m.v_start[int(m.coordinate[body])]), float(m.multiplier[body])
    return [
        Motion(start + k, factor, *signed_axis(axes, j), turns, 0)
        for k, (j, turns) in enumerate(free_axes(type))
    ]


def _column(o: Ops, motion: Motion, fraction: float, arm: Block | None) -> Block:
    """Axis x arm for a turn, fraction * axis for a slide."""
    if not motion.turns:
        return (motion.sign * fraction) * motion.axis
    if arm is None:
        return o.const([0.0, 0.0, 0.0])
    return o.cross(motion.axis, arm) if motion.sign > 0 else o.cross(arm, motion.axis)


def _constants(m: Mechanism) -> tuple[Floats, Floats]:
    """Fractions (nb,) of the mass behind each joint, and moments (nb, 3) over the total mass.

    Raises: InputError where the total mass is not positive.
    """
    total = float(np.sum(m.mass))
    if not total > 0:
        raise InputError(
            f"'{m.name}': the masses of its {m.n_bodies} bodies add up to {total:g} kg, so there "
            "is no centre of mass; give the links <inertial> elements with a mass above zero"
        )
    fractions = m.mass / total
    moments = fractions[:, None] * m.p_body_com
    for body in range(m.n_bodies - 1, -1, -1):
        type, parent = m.body_joint_types[body], int(m.parent[body])
        handed = np.zeros(3)
        if type is not JointType.FLOATING:
            turns = type.turns or type is JointType.PLANAR
            handed[2 if turns else slice(None)] = moments[body, 2 if turns else slice(None)]
        if parent >= 0:
            moments[body] -= handed
            moments[parent] += (
                fractions[body] * m.p_parent_joint[body] + m.R_parent_joint[body] @ handed
            )
            fractions[parent] += fractions[body]
    return fractions, moments
