"""What the joints of a mechanism carry, as few numbers as possible.

What a body carries is replaced by constants, its *moment*: its own mass times its centre of mass,
plus the mass of everything behind each of its joints placed at that joint. A moment along a
joint's z axis moves with the parent as well, so it is handed down to the parent. What remains are
two numbers for a turning body and none for a sliding one.

Source: J. Wittenburg, Dynamics of Systems of Rigid Bodies (1977): augmented bodies.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Axes, Scalar, applied, in_axes, is_zero, placed, times, total
from linkwork.algorithms.joint_motion import body_axes, displacement, joint_position
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops


class Carried(NamedTuple):
    """Behind each joint, the body that it moves included."""

    masses: list[Scalar]  # (nb,)
    moments: list[list[Scalar]]  # (nb, 3) in the frame of the body


def carried(m: Mechanism, own: Carried | None = None) -> Carried:
    """What each joint carries; ``own`` are the bodies' own masses and moments, in any unit."""
    masses, moments = own_masses(m) if own is None else own
    masses, moments = list(masses), [list(moment) for moment in moments]
    for body in range(m.n_bodies - 1, 0, -1):
        parent, at = int(m.parent[body]), m.placement(body)
        handed = _handed(m.body_joint_types[body], moments[body])
        moments[body] = [0.0 if x is y else x for x, y in zip(moments[body], handed, strict=True)]
        # of what one joint carries the sum comes first, so that two equal sides cancel exactly
        turned = applied(at.R, handed)
        more = [total([times(masses[body], p), x]) for p, x in zip(at.p, turned, strict=True)]
        moments[parent] = [total(pair) for pair in zip(moments[parent], more, strict=True)]
        masses[parent] = total([masses[parent], masses[body]])
    return Carried(masses, moments)


def own_masses(m: Mechanism) -> Carried:
    """The bodies' own masses and moments."""
    bodies = range(m.n_bodies)
    return Carried([m.body_mass(b) for b in bodies], [m.body_moment(b) for b in bodies])


def _handed(type: JointType, moment: list[Scalar]) -> list[Scalar]:
    """The part of a moment that the parent may carry as well."""
    if type.has_quaternion:
        return [0.0, 0.0, 0.0]
    if type.turns or type is JointType.PLANAR:
        return [0.0, 0.0, moment[2]]
    return list(moment)


class Term(NamedTuple):
    """What one body adds to the sum of mass times position; None for zero by structure."""

    slide: Block | None  # carried mass * (origin of the body - origin of its joint)
    moment: Block | None
    joint: Axes
    body: Axes


def terms(o: Ops, m: Mechanism, q: Block, behind: Carried, reference: Axes) -> list[Term]:
    """One pass from the root body outwards; vectors, or components, in the reference."""
    axes_of: dict[int, Axes] = {-1: reference}
    result: list[Term] = []
    for body, parent in enumerate(m.parent.tolist()):
        mass, type = behind.masses[body], m.body_joint_types[body]
        position = joint_position(m, q, body)
        joint = placed(o, axes_of[parent], m.placement(body).R)
        axes = body_axes(o, type, joint, position)
        axes_of[body] = axes
        local = displacement(type, position)
        slide = None if local is None or is_zero(mass) else in_axes(joint, local)
        slide = None if slide is None else times(mass, slide)
        result.append(Term(slide, in_axes(axes, behind.moments[body]), joint, axes))
    return result
