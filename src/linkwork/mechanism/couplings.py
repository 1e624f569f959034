"""Mimic joints: chains resolved to the leader, which takes on what its followers have.

A follower moves at m times its leader's velocity, so that what it has counts at the leader by the
rate m: limits divided by it, damping and armature times m², Coulomb friction times |m|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.errors import Finding, InputError
from linkwork.formats import structure
from linkwork.mechanism.model import JointType
from linkwork.mechanism.parts import JointPart, Mimic, Parts
from linkwork.mechanism.tree import structure_error


class Limits(NamedTuple):
    """An interval of positions; infinite where there is no limit."""

    lower: float
    upper: float


class Resistance(NamedTuple):
    """What stands against the velocity of a joint: its limit, damping, friction and armature."""

    velocity: float  # the largest, infinite where there is no limit
    damping: float
    friction: float
    armature: float


def final_leaders(parts: Parts) -> dict[str, Mimic]:
    """The leader at the end of each follower's chain, with multiplier and offset of the chain.

    A fixed joint has no position to couple: its own mimic is without effect.

    Raises: as `structure_error`, for leaders that do not exist, that have no single position, or
    that follow each other; InputError for numbers that are not finite.
    """
    types = {joint.name: joint.type for joint in parts.joints}
    following = {
        joint.name: joint.mimic
        for joint in parts.joints
        if joint.mimic is not None and joint.type is not JointType.FIXED
    }
    if not following:
        return {}
    for name, mimic in following.items():
        if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            raise InputError(f"joint '{name}': multiplier and offset of its mimic must be finite")
    leaders = structure.final_leaders(following, types)
    coupled = [types[n].n_q == types[m.leader].n_q == 1 for n, m in leaders.items()]
    if not (all(coupled) and len(coupled) == len(following)):
        raise structure_error(parts)
    return leaders


def narrow(
    limits: dict[str, Limits], followers: Sequence[JointPart], leaders: dict[str, Mimic]
) -> list[Finding]:
    """Narrow leaders' limits in place, so that every follower stays within its own.

    A follower whose limits leave its leader no position, or but one, is a finding, and does not
    narrow it: a gripper that its file freezes is a slip of the file.
    """
    findings: list[Finding] = []
    for joint in followers:
        own = limits[joint.name]
        leader, m, b = leaders[joint.name]
        if math.isinf(own.lower) and math.isinf(own.upper):
            continue
        low, high = limits[leader]
        rule = f"follows {m:g} * '{leader}' + {b:g}"
        if m == 0:
            left = Limits(low, high)
            met = own.lower <= b <= own.upper
        else:
            ends = sorted(((own.lower - b) / m, (own.upper - b) / m))
            left = Limits(max(low, ends[0]), min(high, ends[1]))
            met = own.lower <= own.upper and left.lower <= left.upper
        shown = f"its limits [{own.lower:g}, {own.upper:g}]"
        if met and left.upper - left.lower <= FOLLOWER_TOLERANCE < high - low:
            text = (
                f"{shown} leave '{leader}', whose limits are [{low:g}, {high:g}], nothing but "
                f"{left.lower + 0.0:g}, as it {rule}: they are not counted"
            )
        elif not met:
            text = (
                f"{shown} cannot be met: it {rule}, whose limits are [{low:g}, {high:g}]; they "
                "are not counted"
            )
        else:
            limits[leader] = left
            continue
        findings.append(Finding("warning", "follower-limits", text, "", 0, "mimic", joint.name))
    return findings


def carry(
    resistances: dict[str, Resistance],
    followers: Sequence[JointPart],
    leaders: dict[str, Mimic],
) -> list[Finding]:
    """Add in place to leaders what stands against their followers, so that power is the same.

    Limits of effort stay out: they are those of a motor, which the leader's force is not taken
    from. A follower whose velocity limit would hold its leader still is a finding, and does not
    limit it.
    """
    findings: list[Finding] = []
    for joint in followers:
        own = resistances[joint.name]
        leader, m, _ = leaders[joint.name]
        on = resistances[leader]
        velocity = on.velocity
        if m != 0 and own.velocity > 0:
            velocity = min(velocity, own.velocity / abs(m))
        elif m != 0 and velocity > 0:
            text = (
                f"its velocity limit {own.velocity:g} would hold '{leader}', which it follows, "
                f"still: it is not counted, and '{leader}' keeps its own, {velocity:g}"
            )
            findings.append(Finding("warning", "follower-limits", text, "", 0, "mimic", joint.name))
        resistances[leader] = Resistance(
            velocity,
            on.damping + m * m * own.damping,
            on.friction + abs(m) * own.friction,
            on.armature + m * m * own.armature,
        )
    return findings
