"""Bodies with all that they carry as one: mass, first and second moments at one configuration."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import BodyMass, moved, placed, symmetric
from linkwork.algorithms.joint_passage import Passage
from linkwork.algorithms.path import free_axes
from linkwork.algorithms.triples import Triple, cross, less, negated, times, zeros
from linkwork.algorithms.wrenches import Wrench
from linkwork.mechanism.model import JointType, Placement


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
