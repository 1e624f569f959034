"""Straight motions of joints, checked without gaps: no thin thing is jumped over.

A motion is q(t) = q0 + t (q1 - q0), 0 <= t <= 1. Each pair of things has a bound L of how fast its
distance can change with t: joint by joint the rate times how far any point that it carries is from
its axis (`motion_bounds`); joints that carry both things do not count. A distance d at t leaves the
pair apart until t + d / L, whatever the motion does in between; then it is looked at again. Source:
B. Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996, section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.collision.distances import (
    BALL,
    BOUND,
    FAR,
    INF,
    N_BODIES,
    N_MOVERS,
    N_PAIRS,
    N_Q,
    N_ROWS,
    POSE,
    RECORD,
    Tables,
    balls_apart,
    bounds_of,
    boxes_apart,
    filled,
    place_balls,
    place_world,
    things_distance,
    things_of,
)
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    PtrF64,
    PtrI64,
    bits_of,
    call_at,
    lane,
    lane_min,
    lanes,
    lowest_bit,
    offset,
    select,
    splat,
    typed,
)
from linkwork.errors import UnsupportedFeatureError
from linkwork.mechanism.model import JointType, Mechanism

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# ----------------------------------------------------------------------------------------- bounds


@dataclass(frozen=True, eq=False, slots=True)
class Reaches:
    """How fast distances change at most, for a rate of 1 of each number of q (m per rad or m).

    ``pairs`` (n_pairs, n_q) of pairs of bodies, ``movers`` (n_movers, n_q) of bodies and what
    stands still.
    """

    pairs: Floats
    movers: Floats


def motion_bounds(
    m: Mechanism,
    names: Sequence[str],
    balls: Floats,
    *,
    pairs: Ints,
    movers: Ints,
    span: tuple[ArrayLike, ArrayLike],
) -> Reaches:
    """Bounds of how fast the distances of links that lie in balls change.

    ``names``, ``balls`` (n, 4): links, and a ball in the frame of each that holds it. ``span``: the
    least and the greatest configuration that is met, which says how far joints slide.

    Turns about any axis have no bound here: see `check_motions`.
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
                    _add(m, row, body, arms[one][body])
    alone = np.zeros((len(movers), m.n_q))
    for row, a in zip(alone, np.asarray(movers, np.int64).tolist(), strict=True):
        for body in ways[a]:
            _add(m, row, body, arms[a][body])
    return Reaches(between, alone)


def check_motions(m: Mechanism, q0: Floats, q1: Floats) -> None:
    """Refuse motions (n, n_q) that turn a floating or spherical joint: they are no straight ones.

    Raises: UnsupportedFeatureError.
    """
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            turn = slice(int(m.q_start[c]) + kind.n_lengths, int(m.q_start[c + 1]))
            changed = (q0[:, turn] != q1[:, turn]).any(axis=1)
            if changed.any():
                raise UnsupportedFeatureError(
                    f"motion {int(changed.argmax())} turns the {kind.label} joint "
                    f"'{m.joint_names[c]}'; motions are straight in q, so its quaternion has to "
                    "stay as it is"
                )


def _add(m: Mechanism, row: Floats, body: int, arm: float) -> None:
    """Add what the joint of a body does to points within its ``arm``."""
    kind, c = m.body_joint_types[body], int(m.coordinate[body])
    if c < 0 or kind.n_q == 0:
        return
    speeds = np.full(kind.n_q, 0.0 if kind.has_quaternion else arm)
    speeds[: kind.n_lengths] = 1.0
    row[m.q_slice(c)] += abs(float(m.multiplier[body])) * speeds


def _arms(m: Mechanism, frame: int, ball: Floats, low: Floats, high: Floats) -> dict[int, float]:
    """How far a ball of a link comes from the axis of each joint that carries it.

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


# ----------------------------------------------------------------------------------------- motions

SLOWEST = 1e-30  # in place of a speed of 0: such a pair is looked at once
QUICK = 0.1  # a bound that leaves this part of the motion free is taken; else pieces are looked at
SLACK = 0.01  # what is due within this part of the motion is looked at with what is due now


@typed
def speed_of(reach: PtrF64, rates: PtrF64, n: I64) -> F64:
    """How fast a distance changes at most."""
    speed = SLOWEST
    for i in range(n):
        speed += reach[i] * rates[i]
    return speed


@typed
def speeds_of(
    index: PtrI64, pair_reach: PtrF64, mover_reach: PtrF64, rates: PtrF64, speeds: PtrF64
) -> None:
    """Write how fast the distance of each pair, then of each mover and what stands, changes."""
    n_q = index[N_Q]
    n_pairs = index[N_PAIRS]
    for k in range(n_pairs):
        speeds[k] = speed_of(offset(pair_reach, k * n_q), rates, n_q)
    for k in range(index[N_MOVERS]):
        speeds[n_pairs + k] = speed_of(offset(mover_reach, k * n_q), rates, n_q)


@typed
def speed_at(index: PtrI64, speeds: PtrF64, k: I64) -> F64:
    """The speed that belongs to a bound."""
    n_pairs = filled(index[N_PAIRS])
    if k < n_pairs:
        return speeds[k]
    return speeds[index[N_PAIRS] + (k - n_pairs) // filled(index[N_ROWS])]


@typed
def bound_at(index: PtrI64, placed: PtrF64, boxes: PtrF64, k: I64) -> F64:
    """One of the bounds that `bounds_of` writes."""
    n_pairs = filled(index[N_PAIRS])
    a, b = things_of(index, k)
    ball = offset(placed, a * BALL)
    if k < n_pairs:
        return balls_apart(ball, offset(placed, b * BALL))
    row = b - index[N_BODIES]
    return lane(boxes_apart(ball, offset(boxes, row // WIDTH * WIDTH * BOUND)), row % WIDTH)


@typed
def earliest(clocks: PtrF64, n: I64) -> F64:
    """The least of the clocks."""
    least = splat(INF)
    for k in range(0, n, WIDTH):
        v = lanes(clocks, k)
        least = select(v < least, v, least)
    return lane_min(least)


@typed
def first_clocks(index: PtrI64, speeds: PtrF64, tolerance: F64, n: I64, clocks: PtrF64) -> None:
    """Turn bounds at the start into the times until which they leave things apart."""
    for k in range(n):
        bound = clocks[k]
        if bound >= FAR:
            clocks[k] = INF
        else:
            clocks[k] = bound / speed_at(index, speeds, k) if bound > tolerance else 0.0


@typed
def motion_touches(
    start: PtrF64,
    stop: PtrF64,
    frames: I64,
    index: PtrI64,
    pieces: PtrF64,
    balls: PtrF64,
    rows: PtrF64,
    boxes: PtrF64,
    vertices: PtrF64,
    pair_reach: PtrF64,
    mover_reach: PtrF64,
    tolerance: F64,
    room: PtrF64,
    record: PtrF64,
    which: PtrI64,
    counts: PtrI64,
) -> F64:
    """The t from 0 to 1 at which two things first come within a tolerance (m), or inf.

    Writes their record and their numbers; all are farther apart than 0 before. ``counts``:
    configurations and pairs that were looked at are added.
    """
    n_q = index[N_Q]
    q = room
    rates = offset(room, n_q)
    poses = offset(room, 2 * n_q)
    placed = offset(poses, (index[N_BODIES] + 1) * POSE)
    speeds = offset(placed, index[N_BODIES] * BALL)
    clocks = offset(speeds, index[N_PAIRS] + index[N_MOVERS])
    for i in range(n_q):
        q[i] = start[i]
        rates[i] = abs(stop[i] - start[i])
    speeds_of(index, pair_reach, mover_reach, rates, speeds)
    place_world(index, poses)
    call_at(frames, q, poses)
    place_balls(index, balls, poses, placed)
    n = bounds_of(index, placed, boxes, clocks)
    first_clocks(index, speeds, tolerance, n, clocks)
    while True:
        t = earliest(clocks, n)
        if not t < 1.0:
            return INF
        if t > 0.0:
            for i in range(n_q):
                q[i] = start[i] + t * (stop[i] - start[i])
            call_at(frames, q, poses)
            place_balls(index, balls, poses, placed)
        counts[0] += 1
        for first in range(0, n, WIDTH):
            bits = bits_of(lanes(clocks, first) <= t + SLACK)
            while bits != 0:
                k = first + lowest_bit(bits)
                bits &= bits - 1
                speed = speed_at(index, speeds, k)
                left = speed * (1.0 - t)
                d = bound_at(index, placed, boxes, k)
                if not d > min(left, QUICK * speed) or not d > tolerance:
                    counts[1] += 1
                    a, b = things_of(index, k)
                    bound = max(left, tolerance)
                    d = things_distance(a, b, index, pieces, rows, vertices, poses, bound, record)
                    if not d > tolerance:
                        which[0] = a
                        which[1] = b
                        return t
                clocks[k] = INF if d > left else max(clocks[k], t + d / speed)


@typed
def motion_rows(
    starts: PtrF64,
    stops: PtrF64,
    n_rows: I64,
    frames: I64,
    index: PtrI64,
    pieces: PtrF64,
    balls: PtrF64,
    rows: PtrF64,
    boxes: PtrF64,
    vertices: PtrF64,
    pair_reach: PtrF64,
    mover_reach: PtrF64,
    tolerance: F64,
    room: PtrF64,
    times: PtrF64,
    records: PtrF64,
    which: PtrI64,
    counts: PtrI64,
) -> None:
    """`motion_touches` for each pair of rows; things are -1 where nothing touches."""
    n_q = index[N_Q]
    for row in range(n_rows):
        things = offset(which, row * 2)
        things[0] = -1
        things[1] = -1
        times[row] = motion_touches(
            offset(starts, row * n_q),
            offset(stops, row * n_q),
            frames,
            index,
            pieces,
            balls,
            rows,
            boxes,
            vertices,
            pair_reach,
            mover_reach,
            tolerance,
            room,
            offset(records, row * RECORD),
            things,
            counts,
        )


def motion_room(tables: Tables) -> int:
    """How many numbers `motion_rows` needs to work in."""
    index = tables.index
    return tables.room + 2 * int(index[N_Q]) + int(index[N_PAIRS]) + int(index[N_MOVERS])


def between(q0: Floats, q1: Floats, resolution: float) -> tuple[Floats, Ints]:
    """Rows of samples of straight motions (n, n_q), both ends included, and where each begins.

    No number of q changes by more than ``resolution`` (rad, m) between two samples. Row k of the
    motions has the rows ``first[k]`` up to ``first[k + 1]`` of the samples.
    """
    change = np.abs(q1 - q0).max(axis=1, initial=0.0)
    counts = np.ceil(change / resolution).astype(np.int64) + 1
    first = np.concatenate([[0], np.cumsum(counts)])
    row = np.repeat(np.arange(len(q0)), counts)
    t = (np.arange(first[-1]) - first[row]) / np.maximum(counts[row] - 1, 1)
    rows = q0[row] + t[:, None] * (q1 - q0)[row]
    last = first[1:] - 1
    rows[last] = q1
    return rows, first
