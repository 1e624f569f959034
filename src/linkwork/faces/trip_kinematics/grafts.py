"""Mechanisms with loops beside the tree of a robot of this face, so that it can be solved closed.

The mechanism that a group's mappings are derived from is put on the ground, and its virtual joints
follow those of the group's chain. Its loops then hold the chain to states that it can have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from linkwork.errors import UnsupportedFeatureError
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.loops import Beside
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.parts import FramePart, JointPart, LinkPart, Mimic, Parts


class Graft(NamedTuple):
    """The mechanism of a group."""

    group: str
    mechanism: Mechanism
    near: Floats  # (nq,), where searches begin
    leaders: Mapping[str, str]  # the chain's joint for each virtual joint
    actuated: Mapping[str, str]  # the name of each actuated joint in the whole


def grafted(m: Mechanism, grafts: Sequence[Graft]) -> Mechanism:
    """The mechanism of a robot with those of its groups beside it.

    Raises: UnsupportedFeatureError for a mechanism on a floating base.
    """
    whole = parts_of(m)
    root = whole.links[0].name
    for graft in grafts:
        other = parts_of(graft.mechanism)
        if other.base != "fixed":
            raise UnsupportedFeatureError(f"the mechanism of group '{graft.group}' is not fixed")
        _add(whole, root, other, graft)
    return assemble(whole)


def name_in_whole(graft: Graft, joint: str) -> str:
    """What a joint of the mechanism of a group is called in the whole."""
    if joint in graft.leaders:
        return graft.leaders[joint]
    return graft.actuated.get(joint) or f"{graft.group}: {joint}"


def _add(whole: Parts, root: str, other: Parts, graft: Graft) -> None:
    def own(name: str) -> str:
        return f"{graft.group}: {name}"

    whole.links += [LinkPart(own(link.name)) for link in other.links]
    ground = own(other.links[0].name)
    whole.joints.append(
        JointPart(name=own("ground joint"), type=JointType.FIXED, parent=root, child=ground)
    )
    whole.joints += [_joint(joint, graft, own) for joint in other.joints]
    whole.frames += [_frame(frame, own) for frame in other.frames]
    beside, there = other.beside, whole.beside
    loops = [
        replace(p, name=own(p.name), frame_a=own(p.frame_a), frame_b=own(p.frame_b))
        for p in beside.loops
    ]
    couplings = [
        replace(
            each,
            joint=name_in_whole(graft, each.joint),
            leaders=tuple(name_in_whole(graft, leader) for leader in each.leaders),
        )
        for each in beside.couplings
    ]
    whole.beside = Beside((*there.loops, *loops), (*there.couplings, *couplings), there.actuated)


def _joint(joint: JointPart, graft: Graft, own: Callable[[str], str]) -> JointPart:
    leader, mimic = graft.leaders.get(joint.name), joint.mimic
    if mimic is not None:
        mimic = mimic._replace(leader=name_in_whole(graft, mimic.leader))
    elif leader is not None:
        mimic = Mimic(leader)
    return replace(
        joint,
        name=own(joint.name) if mimic is not None else name_in_whole(graft, joint.name),
        parent=None if joint.parent is None else own(joint.parent),
        child=None if joint.child is None else own(joint.child),
        mimic=mimic,
    )


def _frame(frame: FramePart, own: Callable[[str], str]) -> FramePart:
    return replace(
        frame,
        name=own(frame.name),
        link=own(frame.link),
        fixed_to=None if frame.fixed_to is None else own(frame.fixed_to),
        carrier=None if frame.carrier is None else own(frame.carrier),
        described=None if frame.described is None else LinkPart(own(frame.name)),
    )
