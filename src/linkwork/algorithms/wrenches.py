"""Wrenches on bodies, handed inwards through the joints: what the joints must bear."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.joint_passage import Passage
from linkwork.algorithms.triples import Triple, minus, plus, plus_cross, zeros
from linkwork.mechanism.model import JointType, Mechanism


class Wrench(NamedTuple):
    """A force, and the moment about the origin of the frame whose axes both are given in."""

    force: Triple
    moment: Triple


def in_parent(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench on a body, as one on its parent about the parent's origin."""
    return placed_in_parent(way, in_joint(way, wrench))


def placed_in_parent(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench in the joint frame, as one on the parent about the parent's origin."""
    if way.exact:
        moment = plus_cross(wrench.moment, way.into_joint(way.p), wrench.force)
        return Wrench(way.out_of_joint(wrench.force), way.out_of_joint(moment))
    force = way.out_of_joint(wrench.force)
    return Wrench(force, plus_cross(way.out_of_joint(wrench.moment), way.p, force))


def in_joint(way: Passage, wrench: Wrench) -> Wrench:
    """A wrench on a body in its joint frame, about that one's origin."""
    force, moment = way.out_of_body(wrench.force), way.out_of_body(wrench.moment)
    if way.shift is None:
        return Wrench(force, moment)
    return Wrench(force, plus_cross(moment, way.shift, force))


def along_joint(way: Passage, wrench: Wrench) -> list[Scalar]:
    """A wrench on a body along what its joint leaves free: a number for each one of v."""
    if way.type.turns:
        return [wrench.moment[2]]
    if way.type is JointType.PRISMATIC:
        return [wrench.force[2]]
    if way.type is JointType.PLANAR:
        force = way.out_of_body(wrench.force)
        return [force[0], force[1], wrench.moment[2]]
    if way.type.has_quaternion:
        return [*wrench.force[: way.type.n_lengths], *wrench.moment]
    return []


class Load:
    """Wrenches on the bodies, gathered inwards: what is added to a body goes on to its parent."""

    def __init__(self, m: Mechanism, ways: list[Passage]) -> None:
        """No wrench on any body but those that the world exerts."""
        self._m, self._ways = m, ways
        self._on = [_external(m, ways, body) for body in range(m.n_bodies)]

    def of(self, body: int) -> Wrench:
        """The wrench that a body's joint has to exert on it."""
        return self._on[body]

    def hand_inwards(self, body: int, wrench: Wrench) -> None:
        """Add a wrench, given in the joint frame of a body, to the parent's."""
        parent = int(self._m.parent[body])
        if parent >= 0 and self._ways[parent].type is not JointType.FIXED:
            more, at = placed_in_parent(self._ways[body], wrench), self._on[parent]
            force, moment = plus(at.force, more.force), plus(at.moment, more.moment)
            self._on[parent] = Wrench(force, moment)


def _external(m: Mechanism, ways: list[Passage], body: int) -> Wrench:
    """What a joint must hold against because of what the world exerts on a body."""
    force, moment = zeros(), zeros()
    if ways[body].type is JointType.FIXED:
        return Wrench(force, moment)  # what pushes a fixed base moves nothing
    for frame, given in m.wrenches(body):
        push = _in_body(m, ways, body, [given[k] for k in range(3)])
        turn = _in_body(m, ways, body, [given[k] for k in range(3, 6)])
        force = minus(force, push)
        moment = minus(moment, plus_cross(turn, m.frame_placement(frame).p, push))
    return Wrench(force, moment)


def _in_body(m: Mechanism, ways: list[Passage], body: int, vector: Triple) -> Triple:
    """A vector given along the world's axes, along those of a body."""
    for each in m.ancestry(body):
        vector = ways[each].into_body(ways[each].into_joint(vector))
    return vector
