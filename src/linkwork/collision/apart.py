"""Tables of how far apart two links surely are, by the one or two joints that move them.

Many links are always near each other and hardly ever touch: the second next in an arm, a thigh and
the trunk. Balls that cover them meet in nearly all configurations. But their distance depends on
one or two joints alone. So their ranges are cut into cells, and each has a lower bound of the
distance: the distance d in its middle less sum(L h), where h is half the width of the cell and L
is how far a point of a link moves, at most, for a unit of the joint. `spheres` asks the table
before it looks at balls.

A joint about whose axis one of its two links is round changes nothing, and needs no cells.

Source: S. Cameron, "A study of the clash detection problem in robotics", 1985 (the bound).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import random, ranges
from linkwork.collision.pieces import CYLINDER, POINT, SEGMENT, Piece
from linkwork.collision.proof import joints_between, ways_between
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH32,
    PtrF32,
    PtrF64,
    PtrI64,
    f64,
    i64,
    lowest_bit,
    offset,
    typed,
)
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 5e-4  # m: bounds are whole multiples of it, from 1 to 255; 0 says nothing
FINE = 4e-3  # m: how far a point moves, at most, when a joint crosses a cell, where cells are few
MOST_CELLS = {1: 2048, 2: 128}
"""Cells along each joint, at most, of tables of one and of two joints."""

STATES = 300  # random configurations that tell which pairs are often near
OFTEN = 0.03  # the share of them from which a table is worth its making
ROUND = 1e-4  # m: a link that is round but for so much counts as round
ROUNDING = 2.0**-22  # of the greatest size of a number of q: what float32 makes of it is as near
EXACT = 1e-6  # m: distances are told as exactly


@dataclass(frozen=True, eq=False, slots=True)
class Apart:
    """A lower bound of the distance of two links, ``names``, for each cell of their joints.

    ``places``: the one or two numbers of q; ``cells``: bounds in `UNIT`, uint8, of as many
    dimensions. ``low`` and ``width``: where the first cell begins, and how wide cells are;
    ``period``: after which all is the same again, or 0 (rad or m).
    """

    names: tuple[str, str]
    places: tuple[int, ...]
    low: tuple[float, ...]
    width: tuple[float, ...]
    period: tuple[float, ...]
    cells: NDArray[np.uint8]


def apart_tables(
    m: Mechanism,
    names: Sequence[str],
    pieces: Sequence[Sequence[Piece]],
    pairs: Ints,
    bounds: Floats,
    *,
    overhang: Floats,
    most: Floats,
    distances: Callable[[Floats, Ints], Floats],
) -> tuple[Apart, ...]:
    """The tables of those pairs (n, 2) that one or two joints move and that are often near.

    ``pieces`` and ``overhang`` (n,) of each link of ``names``: what its shape is made of, and how
    far the balls that cover it reach out. ``bounds`` (n, nq): how fast the distances change at
    most, for a rate of 1 of each number of q. ``most`` (nq,): the greatest size of these.
    ``distances`` gives those of pairs at q (n, nq).
    """
    named = _named(names, pairs)
    ways = [ways_between(m, *both) for both in named]
    joints = [_joints(m, both, row) for both, row in zip(named, bounds, strict=True)]
    open_ = [k for k, own in enumerate(joints) if own is not None]
    if not open_:
        return ()
    q = random(m, np.random.default_rng(0), STATES)
    near = distances(q, pairs[open_]) < overhang[pairs[open_]].sum(axis=1)
    made, span = list[Apart](), ranges(m)
    for k in (k for k, share in zip(open_, near.mean(axis=0), strict=True) if share >= OFTEN):
        places, error = list(joints[k] or ()), EXACT
        for side in (0, 1):
            link, own = named[k][side], pieces[int(pairs[k, side])]
            joint, wobble = _round_joint(m, link, own, ways[k][side], ways[k][1 - side])
            if joint in places and wobble <= ROUND and len(_movers(m, ways[k], joint)) == 1:
                places.remove(joint)
                error += 2.0 * wobble
        axes = [
            _axis(m, ways[k], place, float(bounds[k, place]), len(places), span) for place in places
        ]
        middle = [low + width * (np.arange(n) + 0.5) for low, width, n, _ in axes]
        shape = tuple(len(each) for each in middle) or (1,)
        many = np.repeat(q[:1], math.prod(shape), axis=0)
        for place, each in zip(places, np.meshgrid(*middle, indexing="ij"), strict=True):
            many[:, place] = each.ravel()
        widths = np.array([width for _, width, _, _ in axes])
        less = bounds[k, places] @ (0.5 * widths + ROUNDING * most[places]) + error
        found = distances(many, pairs[k][None])[:, 0] - less
        cells = np.clip(np.floor(found / UNIT), 0, 255).astype(np.uint8)
        if not cells.any():
            continue
        low, period = tuple(low for low, *_ in axes), tuple(period for *_, period in axes)
        table = cells.reshape(shape)
        made.append(Apart(named[k], tuple(places), low, tuple(widths.tolist()), period, table))
    return tuple(made)


def _named(names: Sequence[str], pairs: Ints) -> list[tuple[str, str]]:
    """The names of both links of pairs (n, 2)."""
    return [(names[int(a)], names[int(b)]) for a, b in pairs.tolist()]


def _joints(m: Mechanism, links: tuple[str, str], bounds: Floats) -> list[int] | None:
    """The one or two numbers of q that move two links; None where it is otherwise."""
    places = np.flatnonzero(bounds > 0.0).tolist()
    if not 0 < len(places) <= 2:
        return None
    if any(m.joint_types[c].n_q != 1 for c in joints_between(m, *links)):
        return None
    return places


def _movers(m: Mechanism, ways: list[list[int]], place: int) -> list[int]:
    """The bodies between two links that a number of q moves."""
    bodies = [body for way in ways for body in way if m.coordinate[body] >= 0]
    return [body for body in bodies if int(m.q_start[int(m.coordinate[body])]) == place]


def _axis(
    m: Mechanism,
    ways: list[list[int]],
    place: int,
    bound: float,
    n_joints: int,
    span: tuple[Floats, Floats],
) -> tuple[float, float, int, float]:
    """The cells of a joint: their beginning, their width, how many they are, and their period."""
    lower, upper = (float(each[place]) for each in span)
    movers, period = _movers(m, ways, place), 0.0
    turning = all(m.body_joint_types[body].turns for body in movers)
    whole = all(float(m.multiplier[body]).is_integer() for body in movers)
    if turning and whole and upper - lower >= 2.0 * np.pi:
        lower, upper, period = -np.pi, np.pi, 2.0 * np.pi
    wanted = np.ceil((upper - lower) * bound / FINE)
    n = int(np.clip(wanted, 1, MOST_CELLS[n_joints]))
    return lower, max(upper - lower, 1e-9) / n, n, period


def _round_joint(
    m: Mechanism, link: str, pieces: Sequence[Piece], way: list[int], other: list[int]
) -> tuple[int, float]:
    """The number of q of the joint next to a link, and by how much the link is not round about it.

    ``way`` leads to the link from what the two have in common, ``other`` to the other one. The
    number is -1 where that joint does not turn.
    """
    body = way[-1] if way else other[0]
    if m.coordinate[body] < 0 or not m.body_joint_types[body].turns:
        return -1, np.inf
    frame = m.frame(link)
    R_body_link, p_body_link = m.R_body_frame[frame], m.p_body_frame[frame]
    if way:  # the joint turns the link's own body, about its z axis
        axis, point = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    else:  # the link's body carries the joint
        axis, point = m.R_parent_joint[body][:, 2], m.p_parent_joint[body]
    u, p = R_body_link.T @ axis, R_body_link.T @ (point - p_body_link)
    wobble = max((_wobble(piece, u, p) for piece in pieces), default=0.0)
    return int(m.q_start[int(m.coordinate[body])]), wobble


def _wobble(piece: Piece, u: Floats, p: Floats) -> float:
    """The distance of a piece from one that is round about the line along u through p, at most."""
    if piece.kind not in (POINT, SEGMENT, CYLINDER):
        return np.inf
    centre, z = piece.T_body_piece[:3, 3] - p, piece.T_body_piece[:3, 2]
    beside = float(np.linalg.norm(np.cross(u, centre)))
    if piece.kind == POINT:
        return beside
    return beside + float(np.linalg.norm(np.cross(u, z))) * float(np.linalg.norm(piece.sizes)) * 1.5


# ------------------------------------------------------------------------------------ in kernels

JOINT = 3
"""Numbers of a joint of a table, in float64: where cells begin, cells in a unit, the period."""


def packed(tables: Sequence[Apart], names: Sequence[str], pairs: Ints) -> tuple[Ints, Floats]:
    """Tables for kernels: for each pair the place of its own in ``ints``, or 0, then these.

    A table has the number of its joints, where their numbers begin in ``numbers``, for each joint
    the number of q and how many cells it has, and the cells, eight in an integer.
    """
    known = {frozenset(each.names): each for each in tables}
    first, chunks, numbers = np.zeros(len(pairs) + 1, np.int64), list[Ints](), list[float]()
    size = len(first)
    for k, both in enumerate(_named(names, pairs)):
        own = known.get(frozenset(both))
        if own is None:
            continue
        head = [len(own.places), len(numbers)]
        for place, count in zip(own.places, own.cells.shape, strict=False):
            head += [place, count]
        for low, width, period in zip(own.low, own.width, own.period, strict=True):
            numbers += [low, 1.0 / width, period]
        bytes_ = own.cells.tobytes()
        words = np.frombuffer(bytes_ + bytes(-len(bytes_) % 8), np.int64)
        first[k] = size
        chunks.append(np.concatenate([np.array(head, np.int64), words]))
        size += len(chunks[-1])
    return np.concatenate([first, *chunks]), np.array([*numbers, 0.0])


@typed
def lanes_apart(table: PtrI64, numbers: PtrF64, narrow: PtrF32, given: I64, extra: F64) -> I64:
    """The lanes of those given in which two bodies are farther apart than ``extra`` (m), as bits.

    Those that the table knows of; ``narrow`` has q in sixteen lanes.
    """
    n = table[0]
    cells, found, bits = offset(table, 2 + 2 * n), 0, given
    while bits != 0:
        k = lowest_bit(bits)
        bits &= bits - 1
        cell = 0
        for j in range(n):
            own, count = offset(numbers, table[1] + JOINT * j), table[3 + 2 * j]
            u = f64(narrow[table[2 + 2 * j] * WIDTH32 + k]) - own[0]
            if own[2] > 0.0:
                turns = i64(u / own[2])
                u -= f64(turns) * own[2]
                if u < 0.0:
                    u += own[2]
            at = i64(u * own[1])
            if own[2] > 0.0:
                at = min(at, count - 1)
            if not u >= 0.0 or at >= count:
                cell = -1
                break
            cell = cell * count + at
        if cell >= 0:
            bound = (cells[cell // 8] >> (8 * (cell % 8))) & 255
            if bound > 0 and UNIT * f64(bound) > extra:
                found |= 1 << k
    return found
