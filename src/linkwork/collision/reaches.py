"""Bounds on how fast bodies and obstacles come nearer to each other, whatever joints do.

A point moves as fast as the rates of the joints that carry it, each times how far the point comes
from its axis; joints that carry both of two bodies do not change their distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.compile.numpy_abi import address
from linkwork.mechanism.model import JointType, Mechanism

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHAIN = 4
"""Numbers of a joint in `Reaches.chains`."""


@dataclass(frozen=True, eq=False, slots=True)
class Reaches:
    """Bounds on the speeds at which bodies and obstacles approach each other.

    ``pairs`` (n_pairs, n_q): of pairs of bodies, for a rate of 1 of each number of q (m per rad or
    m). ``chains`` (n, 4): the joints that carry each body, the root's first: how far it comes from
    the axis (1 of a slide), how far it turns (0 of a slide), both for a rate of 1, the number of q,
    and that of an acceleration, -1 where there is none. ``places`` (n_bodies, 2): first and count
    of the chain of each body.

    Of a quaternion the first number stands for the speed that it turns with, the second for the
    acceleration (see `rates_of`).
    """

    pairs: Floats
    chains: Floats
    places: Ints

    @property
    def addresses(self) -> tuple[int, int, int]:
        """The addresses of the arrays."""
        return address(self.pairs), address(self.chains), address(self.places)


def motion_bounds(
    m: Mechanism,
    names: Sequence[str],
    balls: Floats,
    *,
    pairs: Ints,
    span: tuple[ArrayLike, ArrayLike],
) -> Reaches:
    """Bounds of how fast the distances of links that lie in balls change.

    ``names``, ``balls`` (n, 4): links, and a ball in the frame of each that holds it. ``span``: the
    least and the greatest configuration that is met, which says how far joints slide.
    """
    low, high = (np.asarray(each, np.float64) for each in span)
    frames = [m.frame(name) for name in names]
    ways = [m.ancestry(int(m.frame_body[frame])) for frame in frames]
    arms = [_arms(m, frame, ball, low, high) for frame, ball in zip(frames, balls, strict=True)]
    between = np.zeros((len(pairs), m.n_q))
    for row, (a, b) in zip(between, np.asarray(pairs, np.int64).tolist(), strict=True):
        for one, other in ((a, b), (b, a)):
            for body in ways[one]:
                if body not in ways[other]:
                    for speed, _, number, _ in _links(m, body, arms[one][body]):
                        row[int(number)] += speed
    chains: list[tuple[float, float, float, float]] = []
    places: list[tuple[int, int]] = []
    for way, arm in zip(ways, arms, strict=True):
        own = [link for body in way for link in _links(m, body, arm[body])]
        places.append((len(chains), len(own)))
        chains += own
    table = np.array(chains, np.float64).reshape(-1, CHAIN)
    return Reaches(between, table, np.array(places, np.int64).reshape(-1, 2))


def _links(m: Mechanism, body: int, arm: float) -> list[tuple[float, float, float, float]]:
    """The rows of `Reaches.chains` that the joint of a body has; ``arm``: see `_arms`."""
    kind, c = m.body_joint_types[body], int(m.coordinate[body])
    if c < 0:
        return []
    factor, first, n = abs(float(m.multiplier[body])), int(m.q_start[c]), kind.n_lengths
    found = [(factor, 0.0, float(first + k), -1.0) for k in range(n)]
    if kind.has_quaternion:
        found.append((arm, 1.0, float(first + n), float(first + n + 1)))
    elif kind.turns or kind is JointType.PLANAR:
        found.append((factor * arm, factor, float(first + n), -1.0))
    return found


def _arms(m: Mechanism, frame: int, ball: Floats, low: Floats, high: Floats) -> dict[int, float]:
    """The distances that a ball of a link comes from the axes of the joints that carry it.

    From the link down to the root: a ball that holds the link wherever the joints passed so far
    are. A turn about z takes its centre around a circle: the ball about the circle's centre that
    holds them all is larger by the circle's radius.
    """
    body, found = int(m.frame_body[frame]), dict[int, float]()
    centre = m.R_body_frame[frame] @ ball[:3] + m.p_body_frame[frame]
    radius = float(ball[3])
    while body >= 0:
        kind, c = m.body_joint_types[body], int(m.coordinate[body])
        across = float(np.hypot(centre[0], centre[1]))
        found[body] = across + radius
        if kind.has_quaternion:
            found[body] = float(np.linalg.norm(centre)) + radius
            centre, radius = np.zeros(3), found[body]
        elif kind.turns or kind is JointType.PLANAR:
            centre, radius = np.array([0.0, 0.0, centre[2]]), found[body]
        if c >= 0 and kind.n_lengths:
            place = m.q_start[c] + np.arange(kind.n_lengths)
            factor, shift = float(m.multiplier[body]), float(m.offset[body])
            ends = factor * np.stack([low[place], high[place]]) + shift
            axes = [2] if kind is JointType.PRISMATIC else range(kind.n_lengths)
            centre[axes] += ends.mean(axis=0)
            radius += float(np.linalg.norm(ends[1] - ends[0])) / 2
        centre = m.R_parent_joint[body] @ centre + m.p_parent_joint[body]
        body = int(m.parent[body])
    return found
