"""Mimic joints: chains resolved to the leader, which takes on what its followers have.

A follower moves at m times its leader's velocity, so that what it has counts at the leader by the
rate m: limits divided by it, damping and armature times m², Coulomb friction times |m|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from linkwork.conventions import FOLLOWER_TOLERANCE
from linkwork.errors import DescriptionError, Finding, UnknownNameError, UnsupportedFeatureError
from linkwork.mechanism.model import JointType
from linkwork.mechanism.parts import JointPart, Mimic
from linkwork.mechanism.tree import error


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


def final_leaders(joints: Sequence[JointPart]) -> dict[str, Mimic]:
    """The leader at the end of each follower's chain, with multiplier and offset of the chain.

    A fixed joint has no position to couple: its own mimic is without effect.

    Raises: DescriptionError for leaders that do not exist, that have no position, or that follow
    each other; UnsupportedFeatureError for couplings of joints with several positions.
    """
    following = {
        j.name: j.mimic for j in joints if j.mimic is not None and j.type is not JointType.FIXED
    }
    if not following:
        return {}
    _check(joints, following)
    done: dict[str, Mimic] = {}
    problems: list[Finding] = []
    for name in following:
        chain: dict[str, None] = {}
        at = name
        while at in following and at not in done and at not in chain:
            chain[at] = None
            at = following[at].leader
        if at in chain:
            cycle = list(chain)[list(chain).index(at) :]
            text = f"mimic cycle: {' follows '.join([*cycle, at])}"
            problems.append(error("mimic-cycle", "mimic", at, text))
            done.update((k, Mimic(k)) for k in chain)
            continue
        for link in reversed(chain):
            done[link] = _compose(following[link], done)
    if problems:
        raise DescriptionError(problems)
    return done


def _compose(outer: Mimic, done: dict[str, Mimic]) -> Mimic:
    """q = m1 (m2 q_leader + b2) + b1, or the coupling itself where its leader leads."""
    inner = done.get(outer.leader)
    if inner is None:
        return outer
    return Mimic(
        inner.leader,
        outer.multiplier * inner.multiplier,
        outer.multiplier * inner.offset + outer.offset,
    )


def _check(joints: Sequence[JointPart], following: dict[str, Mimic]) -> None:
    by_name = {j.name: j for j in joints}
    problems: list[Finding] = []
    for name, mimic in following.items():
        leader = by_name.get(mimic.leader)
        if leader is None:
            text = str(UnknownNameError("joint", mimic.leader, list(by_name)))
            problems.append(error("unknown-leader", "mimic", name, text))
        elif leader.type is JointType.FIXED:
            text = f"it follows '{leader.name}', which is fixed and has no position"
            problems.append(error("fixed-leader", "mimic", name, text))
        elif leader.type.n_q != 1 or by_name[name].type.n_q != 1:
            raise UnsupportedFeatureError(
                f"joint '{name}' ({by_name[name].type.label}) follows '{leader.name}' "
                f"({leader.type.label}): only joints with one position can be coupled"
            )
        elif not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            problems.append(
                error("not-finite", "mimic", name, "multiplier and offset must be finite")
            )
    if problems:
        raise DescriptionError(problems)


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
