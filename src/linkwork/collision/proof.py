"""Proof that two links stay apart, whatever the one or two joints between them do.

For each unit of a joint the distance of two links changes by a rate at most (`motion_bounds`):
where it is d in the middle of a box of joint positions with half widths h, it is at least d - sum
of rate h anywhere in it. Boxes in which that is
not yet above zero are halved.

Source: S. Cameron, "A study of the clash detection problem in robotics", 1985 (the bound); the
halving is plain branch and bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from linkwork.algorithms.configuration import ranges
from linkwork.collision.reaches import motion_bounds
from linkwork.mechanism.model import Floats, JointType, Mechanism

MOST_JOINTS = 2


@dataclass(frozen=True)
class Motion:
    """The joints that a distance depends on: their places in q, ranges, and metres for each unit.

    ``places`` (k,), ``lower``, ``upper`` and ``rates`` (k,).
    """

    places: list[int]
    lower: Floats
    upper: Floats
    rates: Floats


def joints_between(m: Mechanism, link_a: str, link_b: str) -> set[int]:
    """The coordinates that the place of one link in the frame of another depends on."""
    ways = ways_between(m, link_a, link_b)
    return {int(m.coordinate[body]) for way in ways for body in way} - {-1}


def motions_of(m: Mechanism, link_a: str, link_b: str, reach: Mapping[str, float]) -> Motion | None:
    """The joints between two links, and by how much the distance changes for each at most.

    ``reach``: see `pairs.derive_pairs`. None where they are more than two, or of another kind than
    one that turns about or slides along an axis.
    """
    between = sorted(joints_between(m, link_a, link_b))
    kinds = [m.joint_types[c] for c in between]
    if len(between) > MOST_JOINTS or not all(
        kind.turns or kind is JointType.PRISMATIC for kind in kinds
    ):
        return None
    lower, upper = ranges(m)
    balls = np.array([[0.0, 0.0, 0.0, reach[link]] for link in (link_a, link_b)])
    pair = np.array([[0, 1]])
    bounds = motion_bounds(m, (link_a, link_b), balls, pairs=pair, span=(lower, upper))
    places = [int(m.q_start[c]) for c in between]
    return Motion(places, lower[places], upper[places], bounds.pairs[0, places])


def ways_between(m: Mechanism, link_a: str, link_b: str) -> list[list[int]]:
    """The bodies that lead to each of two links from the last body that both have above them."""
    ways = [m.ancestry(int(m.frame_body[m.frame(link)])) for link in (link_a, link_b)]
    common = sum(1 for a, b in zip(ways[0], ways[1], strict=False) if a == b)
    return [way[common:] for way in ways]


def stays_apart(
    distance: Callable[[Floats], Floats], motion: Motion, *, least: float, most: int
) -> bool:
    """Whether a distance stays above ``least`` in the whole range of its joints.

    ``distance`` gives that (n,) of joint positions (n, k), or less. False as well where looking at
    ``most`` boxes does not tell.
    """
    half = 0.5 * (motion.upper - motion.lower)[None]
    middle = 0.5 * (motion.upper + motion.lower)[None]
    looked = 0
    while len(middle):
        looked += len(middle)
        if looked > most:
            return False
        found = distance(middle)
        if (found <= least).any():
            return False
        left = found - half @ motion.rates <= least
        middle, half = middle[left], half[left]
        rows = np.arange(len(middle))
        widest = np.argmax(half * motion.rates, axis=1)
        half = half.copy()
        half[rows, widest] *= 0.5
        step = np.zeros_like(half)
        step[rows, widest] = half[rows, widest]
        middle, half = np.concatenate([middle - step, middle + step]), np.concatenate([half, half])
    return True
