"""Straight motions of joints, checked without gaps: no thin thing is jumped over.

A motion is q(t) = q0 + t (q1 - q0), 0 <= t <= 1. Quaternions are of length 1 at both ends, and no
farther apart than a right angle, so that what they turn keeps its axis (`short_ways`).

Each pair of things has a bound L of how fast its distance can change with t: joint by joint the
rate times how far any point that it carries is from its axis (`motion_bounds` of `reaches`); joints
that carry both things do not count. A distance d at t leaves the pair apart until t + d / L,
whatever the motion does in between; then it is looked at again. The plane between two pieces often
says more: it parts them until they have come together along its normal, at first as fast as their
twists say, then by the greatest acceleration (`lasting`). Of a cloud only the nearest point is
known, so that a piece counts as if it came straight at it.

Source: conservative advancement, of B. Mirtich, Impulse-based dynamic simulation of rigid body
systems, thesis, Berkeley, 1996.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.aggregates import aggregate_away, aggregate_distance, is_field
from linkwork.collision.cloud import (
    Aggregate,
)
from linkwork.collision.distances import (
    BALL,
    COLUMNS,
    FAR,
    INF,
    MOVERS,
    N_AGGREGATES,
    N_BODIES,
    N_MOVERS,
    N_PAIRS,
    N_Q,
    N_ROWS,
    N_TURNS,
    N_V,
    PAIRS,
    PIECE,
    POSE,
    RANGES,
    RECORD,
    TURNS,
    Tables,
    Things,
    aggregate_of,
    ball_in_world,
    bounds_of,
    filled,
    is_allowed,
    place_balls,
    things_in,
    things_of,
)
from linkwork.collision.height_field import (
    SAME,
    WAITING,
    block_box,
    block_piece,
    box_around,
    boxes_apart,
    first_blocks,
    n_prisms,
    parts_of_block,
    prism_piece,
    wait_in_order,
    widened,
)
from linkwork.collision.narrow import (
    Solid,
    closest,
)
from linkwork.collision.reaches import CHAIN
from linkwork.collision.swept import MARKS, MOST, STARTS, open_intervals
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    PtrF64,
    PtrI64,
    bits_of,
    call_at,
    i64,
    lane_min,
    lanes,
    local_f64,
    local_i64,
    lowest_bit,
    offset,
    pointer_f64,
    pointer_i64,
    put,
    select,
    splat,
    sqrt,
    typed,
)
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def turns_of(m: Mechanism) -> Ints:
    """The joints with quaternions, as `distances.Bodies` has them (n, 3)."""
    found = [
        (m.q_start[c] + kind.n_lengths, m.v_start[c] + kind.n_lengths, kind.n_lengths)
        for c, kind in enumerate(m.joint_types)
        if kind.has_quaternion
    ]
    return np.array(found, np.int64).reshape(-1, 3)


def velocities_of(m: Mechanism, q0: Floats, q1: Floats) -> Floats:
    """The velocities (n, n_v) of straight motions (n, n_q), which last for a time of 1.

    Those of joints with quaternions change on the way: `velocity_at` writes them.
    """
    found = np.zeros((len(q0), m.n_v))
    for c, kind in enumerate(m.joint_types):
        if not kind.has_quaternion:
            found[:, m.v_slice(c)] = (q1 - q0)[:, m.q_slice(c)]
    return found


def short_ways(turns: Ints, q0: Floats, q1: Floats) -> tuple[Floats, Floats]:
    """Both ends of motions (n, n_q) with quaternions of length 1 that turn the short way."""
    if not len(turns):
        return q0, q1
    starts, stops = q0.copy(), q1.copy()
    for first in turns[:, 0].tolist():
        own = slice(first, first + 4)
        for each in (starts, stops):
            each[:, own] /= np.linalg.norm(each[:, own], axis=1, keepdims=True)
        far = np.einsum("ni,ni->n", starts[:, own], stops[:, own]) < 0.0
        stops[far, own] *= -1.0
    return starts, stops


# ----------------------------------------------------------------------------------------- motions

TWISTING, TABLES, REACHES, INTERVALS, ROOM, TWISTS, WORLD = 0, 1, 7, 10, 11, 12, 13
"""Places in the record of a world in which things move: the addresses of `twists1`, of six tables
(`distances.Tables.addresses`), of the three arrays of `Reaches`, of a record of `swept` by which
most of a motion is passed over (or 0), of `motion_room` numbers, and of room for twists."""

_MOST_SAMPLES = 10_000_000
"""Configurations of one motion with a resolution, at most."""

SLOWEST = 1e-30  # in place of a speed of 0: such a pair is looked at once
QUICK = 0.05  # a bound that leaves this part of the motion free is taken; else pieces are looked at
ENOUGH = 0.05  # of the distance that lasts to the end: more need not be told exactly
MORE = 1e-5  # m: by so much less than a tolerance is kept, or motions next to it would not end
SLACK = 0.05  # what is due within this part of the motion is looked at with what is due now


@typed
def speed_of(reach: PtrF64, rates: PtrF64, n: I64) -> F64:
    """A bound on the rate of a distance."""
    speed = SLOWEST
    for i in range(n):
        speed += reach[i] * rates[i]
    return speed


@typed
def speeds_of(
    index: PtrI64,
    pair_reach: PtrF64,
    chains: PtrF64,
    places: PtrI64,
    rates: PtrF64,
    speeds: PtrF64,
) -> None:
    """Write how fast the distance of each pair changes, then the points of each body move.

    After these, the acceleration of the points of each body. A joint's part of their velocity is
    turned by the joints before it and by itself, and a joint after it changes it once more.
    """
    n_q = index[N_Q]
    n_pairs = index[N_PAIRS]
    n_bodies = index[N_BODIES]
    for k in range(n_pairs):
        speeds[k] = speed_of(offset(pair_reach, k * n_q), rates, n_q)
    for k in range(n_bodies):
        speed = SLOWEST
        turn = 0.0
        bend = 0.0
        for i in range(places[2 * k], places[2 * k] + places[2 * k + 1]):
            link = offset(chains, CHAIN * i)
            rate = rates[i64(link[2])]
            own = link[0] * rate
            speed += own
            bend += own * (2.0 * turn + link[1] * rate)
            turn += link[1] * rate
            if link[3] >= 0.0:
                bend += link[0] * rates[i64(link[3])]
        speeds[n_pairs + k] = speed
        speeds[n_pairs + n_bodies + k] = bend


@typed
def rates_of(index: PtrI64, change: PtrF64, rates: PtrF64) -> None:
    """Write how fast each number of q changes; of quaternions what they turn with, at most.

    On the chord of length c = 2 sin(w) between two of length 1, the angle from its middle is
    atan((2 t - 1) tan(w)), and twice that is turned by: at a speed up to 4 tan(w), with an
    acceleration up to 8 tan(w)^2 sin(2 w).
    """
    for i in range(index[N_Q]):
        rates[i] = abs(change[i])
    for k in range(index[N_TURNS]):
        at = offset(index, index[TURNS] + 3 * k)[0]
        chord = 0.0
        for i in range(at, at + 4):
            chord += change[i] * change[i]
            rates[i] = 0.0
        cosine = sqrt(max(1.0 - 0.25 * chord, 0.25))
        tangent = 0.5 * sqrt(chord) / cosine
        rates[at] = 4.000001 * tangent
        rates[at + 1] = 8.000001 * tangent * tangent * sqrt(chord) * cosine


@typed
def velocity_at(index: PtrI64, q: PtrF64, change: PtrF64, velocity: PtrF64) -> None:
    """Write what the velocity is at q of joints with quaternions: in axes of their body."""
    for k in range(index[N_TURNS]):
        joint = offset(index, index[TURNS] + 3 * k)
        own = offset(q, joint[0])
        by = offset(change, joint[0])
        out = offset(velocity, joint[1])
        w, x, y, z = own[0], own[1], own[2], own[3]
        over = 1.0 / (w * w + x * x + (y * y + z * z))
        twice = 2.0 * over  # the vector of 2 q* dq / (q* q)
        out[0] = twice * (w * by[1] - by[0] * x - (y * by[3] - z * by[2]))
        out[1] = twice * (w * by[2] - by[0] * y - (z * by[1] - x * by[3]))
        out[2] = twice * (w * by[3] - by[0] * z - (x * by[2] - y * by[1]))
        if joint[2] > 0:
            shift = offset(change, joint[0] - 3)
            a, b, c = shift[0], shift[1], shift[2]
            u = twice * (z * b - y * c)  # 2 (-xyz) x shift
            v = twice * (x * c - z * a)
            s = twice * (y * a - x * b)
            linear = offset(velocity, joint[1] - 3)
            linear[0] = a + (w * u - (y * s - z * v))
            linear[1] = b + (w * v - (z * u - x * s))
            linear[2] = c + (w * s - (x * v - y * u))


class Pace(NamedTuple):
    """The pace at which two things may come together.

    ``bend``: the acceleration of their points; ``speed``: of the two, at most; ``left``: the way
    that is left at that speed; ``tolerance``: the distance (m) at which they touch.
    """

    bend: F64
    speed: F64
    left: F64
    tolerance: F64


@typed
def lasting(d: F64, closing: F64, pace: Pace) -> F64:
    """The time for which a distance d surely stays above 0.

    It shrinks by ``closing`` h + ``bend`` h^2 / 2 within h at most, and by ``speed`` h.
    """
    root = sqrt(closing * closing + 2.0 * pace.bend * d)
    found = INF
    if closing >= 0.0:
        if closing + root > 0.0:
            found = 2.0 * d / (closing + root)
    elif pace.bend > 0.0:
        found = (root - closing) / pace.bend
    return max(found, d / pace.speed)


@typed
def twist_of(index: PtrI64, body: I64, twists: PtrF64, velocity: PtrF64, out: PtrF64) -> None:
    """Write the twist of a body about the world's origin."""
    n_v = index[N_V]
    columns = offset(index, index[COLUMNS] + body * n_v)
    for i in range(6):
        out[i] = 0.0
    for k in range(n_v):
        if columns[k] >= 0:
            for i in range(6):
                out[i] += velocity[k] * twists[6 * columns[k] + i]


@typed
def closing_speed(ball: PtrF64, twist: PtrF64, n: PtrF64) -> F64:
    """A bound on the speed of a ball's points along n."""
    x = twist[4] * n[2] - twist[5] * n[1]
    y = twist[5] * n[0] - twist[3] * n[2]
    z = twist[3] * n[1] - twist[4] * n[0]
    middle = twist[0] * n[0] + (twist[1] * n[1] + twist[2] * n[2])
    # n . (angular x centre) = centre . (n x angular)
    middle -= x * ball[0] + (y * ball[1] + z * ball[2])
    return middle + ball[3] * sqrt(x * x + (y * y + z * z))


@typed
def fastest_point(ball: PtrF64, twist: PtrF64) -> F64:
    """A bound on the speed of a ball's points."""
    x = twist[0] + (twist[4] * ball[2] - twist[5] * ball[1])
    y = twist[1] + (twist[5] * ball[0] - twist[3] * ball[2])
    z = twist[2] + (twist[3] * ball[1] - twist[4] * ball[0])
    turning = sqrt(twist[3] * twist[3] + (twist[4] * twist[4] + twist[5] * twist[5]))
    return sqrt(x * x + (y * y + z * z)) + ball[3] * turning


@typed
def aggregate_lasting(
    a: I64, number: I64, things: Things, twist: PtrF64, pace: Pace, record: PtrF64
) -> F64:
    """`things_lasting` of a body and an aggregate, of which all within ``left`` is told."""
    index = things.index
    ranges = offset(index, index[RANGES])
    aggregate = aggregate_of(things, number)
    T_own, world = offset(things.poses, a * POSE), offset(things.poses, index[N_BODIES] * POSE)
    ball, best, touched, touching = local_f64(4), INF, False, pace.tolerance
    kept = max(pace.tolerance - MORE, 0.0)
    for i in range(ranges[2 * a], ranges[2 * a] + ranges[2 * a + 1]):
        own = Solid(offset(things.pieces, i * PIECE), T_own, things.vertices)
        most = touching if touched else pace.left + touching
        if is_field(aggregate) and not touched:
            until = min(best, pace.left / pace.speed)
            lasts = field_lasting(aggregate, own, world, twist, pace, until, record)
            touched = lasts < 0.0
            touching = record[0] if touched else touching
            best = min(best, lasts)
            continue
        d = aggregate_distance(aggregate, own, world, most, record)
        if d >= FAR:
            continue
        if not d > touching:
            touched = True
            touching = d
        else:
            ball_in_world(T_own, offset(own.piece, 20), ball)
            fastest = fastest_point(ball, twist)
            best = min(best, lasting(d - kept, fastest, pace))
    return -1.0 if touched else best


@typed
def field_lasting(
    field: Aggregate,
    solid: Solid,
    world: PtrF64,
    twist: PtrF64,
    pace: Pace,
    until: F64,
    record: PtrF64,
) -> F64:
    """The time for which a piece stays clear of a field, up to ``until``, or -1 where they touch.

    Blocks whose box stays clear so long are left out. The record is then of the nearest prism.
    """
    waiting, lows, parts = local_i64(WAITING), local_f64(WAITING), local_i64(4)
    around, wide, box = local_f64(6), local_f64(6), local_f64(6)
    row, found, ball = local_f64(PIECE), local_f64(9), local_f64(4)
    frame = field.frame
    box_around(frame, solid, 0.0, around)
    ball_in_world(solid.pose, offset(solid.piece, 20), ball)
    fastest = fastest_point(ball, twist)
    kept, left = max(pace.tolerance - MORE, 0.0), until * pace.speed
    widened(around, left + pace.tolerance, wide)
    n = first_blocks(field, wide, waiting)
    for i in range(n):
        lows[i] = -FAR
    best, touching, touched = until, pace.tolerance, False
    while n > 0:
        n -= 1
        block, d = waiting[n], lows[n]
        if d > touching and (touched or lasting(d - kept, fastest, pace) >= best):
            continue
        if block & 63 == 0:
            for which in range(n_prisms(field, block)):
                prism_piece(field, block, which, around, left, row)
                most = (touching if touched else ENOUGH * left + touching) + SAME * solid.piece[23]
                d = closest(solid.piece, solid.pose, row, world, solid.vertices, most, found)
                if d < touching or (d == touching and not touched):
                    touched = True
                    touching = d
                    record[0] = d
                    for i in range(9):
                        record[1 + i] = found[i]
                elif not touched:
                    closing = closing_speed(ball, twist, offset(found, 6))
                    best = min(best, lasting(d - kept, closing, pace))
            continue
        m, first = parts_of_block(field, block, parts), n
        for i in range(m):
            block_box(field, parts[i], box)
            d = boxes_apart(around, box)
            if d > touching and (touched or lasting(d - kept, fastest, pace) >= best):
                continue
            if parts[i] & 63 != 0:
                block_piece(offset(frame, 12), box, around, left, row)
                most = touching if touched else ENOUGH * left + touching
                lower = closest(solid.piece, solid.pose, row, world, solid.vertices, most, found)
                if lower > touching:
                    closing = closing_speed(ball, twist, offset(found, 6))
                    if touched or lasting(lower - kept, closing, pace) >= best:
                        continue
                d = max(d, lower)
            wait_in_order(parts[i], d, first, n, waiting, lows)
            n += 1
    return -1.0 if touched else best


@typed
def things_lasting(
    a: I64, b: I64, things: Things, twists: PtrF64, velocity: PtrF64, pace: Pace, record: PtrF64
) -> F64:
    """The time for which a body stays clear of a thing, or -1 with the record where they touch.

    The plane between two pieces keeps its direction: both have to come together along its normal. A
    distance over ``left`` lasts as long as is asked for.
    """
    index = things.index
    n_bodies = index[N_BODIES]
    ranges = offset(index, index[RANGES])
    T_own = offset(things.poses, a * POSE)
    T_others = offset(things.poses, min(b, n_bodies) * POSE)
    twist_a = local_f64(6)
    twist_b = local_f64(6)
    twist_of(index, a, twists, velocity, twist_a)
    aggregate = b - (n_bodies + index[N_ROWS])
    if aggregate >= 0:
        return aggregate_lasting(a, aggregate, things, twist_a, pace, record)
    others = offset(things.rows, (b - n_bodies) * PIECE)
    n_others = 1
    for i in range(6):
        twist_b[i] = 0.0
    if b < n_bodies:
        others = offset(things.pieces, ranges[2 * b] * PIECE)
        n_others = ranges[2 * b + 1]
        twist_of(index, b, twists, velocity, twist_b)
    found = local_f64(9)
    ball = local_f64(4)
    best = INF
    touching = pace.tolerance
    kept = max(pace.tolerance - MORE, 0.0)
    touched = False
    for i in range(ranges[2 * a], ranges[2 * a] + ranges[2 * a + 1]):
        own = offset(things.pieces, i * PIECE)
        for j in range(n_others):
            other = offset(others, j * PIECE)
            d = closest(
                own, T_own, other, T_others, things.vertices, ENOUGH * pace.left + touching, found
            )
            if not d > touching:
                touched = True
                touching = d
                record[0] = d
                for k in range(9):
                    record[1 + k] = found[k]
            elif not d > pace.left + kept:
                ball_in_world(T_own, offset(own, 20), ball)
                closing = closing_speed(ball, twist_a, offset(found, 6))
                if b < n_bodies:
                    ball_in_world(T_others, offset(other, 20), ball)
                    for k in range(6, 9):
                        found[k] = -found[k]
                    closing += closing_speed(ball, twist_b, offset(found, 6))
                best = min(best, lasting(d - kept, closing, pace))
    return -1.0 if touched else best


@typed
def bend_of(index: PtrI64, speeds: PtrF64, a: I64, b: I64) -> F64:
    """The acceleration of the points of two things together."""
    bends = offset(speeds, index[N_PAIRS] + index[N_BODIES])
    return bends[a] + (bends[b] if b < index[N_BODIES] else 0.0)


@typed
def speeds_of_bounds(index: PtrI64, speeds: PtrF64, closing: PtrF64) -> I64:
    """Write the speed that belongs to each of the bounds, those of aggregates last; how many."""
    n_pairs = index[N_PAIRS]
    n = filled(n_pairs)
    for k in range(n):
        closing[k] = speeds[k] if k < n_pairs else 1.0
    for kind in range(2):  # rows, then aggregates
        across = index[N_ROWS] if kind == 0 else index[N_AGGREGATES]
        for m in range(index[N_MOVERS]):
            speed = splat(speeds[n_pairs + index[index[MOVERS] + m]])
            for _ in range(0, across, WIDTH):
                put(closing, n, speed)
                n += WIDTH
    return n


@typed
def bounds_of_aggregates(
    things: Things,
    clocks: PtrF64,
    due: F64,
    reach: F64,
    tolerance: F64,
    closing: PtrF64,
    bounds: PtrF64,
) -> None:
    """Write lower bounds of the distances of movers and aggregates that are due.

    They are told up to what closes in a time of ``reach``, and a tolerance.
    """
    index = things.index
    across = filled(index[N_AGGREGATES])
    point = local_i64(1)
    for m in range(index[N_MOVERS]):
        body = index[index[MOVERS] + m]
        for aggregate in range(across):
            k = m * across + aggregate
            if not clocks[k] < due:
                continue
            bounds[k] = FAR
            if aggregate < index[N_AGGREGATES] and not is_allowed(
                index, body, index[N_ROWS] + aggregate
            ):
                most, ball = reach * closing[k] + tolerance, offset(things.placed, body * BALL)
                bounds[k] = aggregate_away(aggregate_of(things, aggregate), ball, most, point)


@typed
def earliest(clocks: PtrF64, n: I64) -> F64:
    """The least of the clocks."""
    least = splat(INF)
    for k in range(0, n, WIDTH):
        v = lanes(clocks, k)
        least = select(v < least, v, least)
    return lane_min(least)


@typed
def marked_clocks(index: PtrI64, marks: PtrF64, clocks: PtrF64) -> None:
    """Write when things have to be looked at first: never where `swept` did not mark them."""
    n_pairs, n_bodies, across = index[N_PAIRS], index[N_BODIES], filled(index[N_ROWS])
    of_bodies, of_rows = offset(marks, n_bodies), offset(marks, 2 * n_bodies)
    for k in range(n_pairs):
        pair = offset(index, index[PAIRS] + 2 * k)
        clocks[k] = max(marks[pair[0]], marks[pair[1]])
    n = filled(n_pairs)
    for m in range(index[N_MOVERS]):
        of_body = of_bodies[index[index[MOVERS] + m]]
        for k in range(0, across, WIDTH):
            mark = lanes(of_rows, k)
            put(clocks, n, select(mark < of_body, of_body, mark))
            n += WIDTH
    of_rows = offset(of_rows, across)
    for m in range(index[N_MOVERS]):
        of_body = of_bodies[index[index[MOVERS] + m]]
        for k in range(0, filled(index[N_AGGREGATES]), WIDTH):
            mark = lanes(of_rows, k)
            put(clocks, n, select(mark < of_body, of_body, mark))
            n += WIDTH


@typed
def motion_touches(
    start: PtrF64,
    stop: PtrF64,
    velocity: PtrF64,
    tolerance: F64,
    world: PtrI64,
    record: PtrF64,
    which: PtrI64,
    counts: PtrI64,
) -> F64:
    """The t from 0 to 1 at which two things first come within a tolerance (m), or inf.

    Writes their record and their numbers; all are farther apart than that less `MORE` before.
    ``counts``: configurations and pairs that were looked at are added. ``velocity`` is written over
    where quaternions turn.
    """
    twisting, swept, index = world[TWISTING], world[INTERVALS], pointer_i64(world[TABLES])
    pair_reach, chains = pointer_f64(world[REACHES]), pointer_f64(world[REACHES + 1])
    places = pointer_i64(world[REACHES + 2])
    room, twists = pointer_f64(world[ROOM]), pointer_f64(world[TWISTS])
    n_q = index[N_Q]
    n_bodies = index[N_BODIES]
    q = room
    change = offset(q, n_q)
    rates = offset(change, n_q)
    intervals = offset(rates, n_q)
    poses = offset(intervals, 2)
    things = things_in(offset(world, TABLES), poses, offset(poses, (n_bodies + 1) * POSE))
    speeds = offset(things.placed, n_bodies * BALL)
    closing = offset(speeds, index[N_PAIRS] + 2 * n_bodies)
    for i in range(n_q):
        q[i] = start[i]
        change[i] = stop[i] - start[i]
    rates_of(index, change, rates)
    velocity_at(index, q, change, velocity)
    speeds_of(index, pair_reach, chains, places, rates, speeds)
    n_intervals, interval = 1, 0
    intervals[0] = 0.0
    intervals[1] = 1.0
    by_balls = swept != 0
    if by_balls:
        record_of_swept = pointer_i64(swept)
        intervals = offset(pointer_f64(record_of_swept[STARTS]), record_of_swept[MOST])
        of_bodies = offset(speeds, index[N_PAIRS])
        n_intervals = open_intervals(start, stop, of_bodies, tolerance, record_of_swept, intervals)
        if n_intervals == 0:
            return INF
    kept = max(tolerance - MORE, 0.0)
    n = speeds_of_bounds(index, speeds, closing)
    bounds, clocks = offset(closing, n), offset(closing, 2 * n)
    for first in range(0, n, WIDTH):
        put(clocks, first, splat(0.0))
    if by_balls:
        marked_clocks(index, pointer_f64(pointer_i64(swept)[MARKS]), clocks)
    while True:
        t = earliest(clocks, n)
        while interval < n_intervals and not t < intervals[2 * interval + 1]:
            interval += 1
        if interval == n_intervals or not t < 1.0:
            return INF
        t = max(t, intervals[2 * interval])
        for i in range(n_q):
            q[i] = start[i] + t * change[i]
        velocity_at(index, q, change, velocity)
        call_at(twisting, q, poses, twists)
        place_balls(things)
        counts[0] += 1
        end = intervals[2 * interval + 1]
        due = min(t + SLACK, end)
        m = bounds_of(things, bounds)
        bounds_of_aggregates(
            things,
            offset(clocks, m),
            due,
            end - t,
            tolerance,
            offset(closing, m),
            offset(bounds, m),
        )
        for first in range(0, n, WIDTH):
            clock, d, rate = lanes(clocks, first), lanes(bounds, first), lanes(closing, first)
            is_due = clock < due
            lasts_by_bound = is_due & (d > tolerance) & (d - kept > min(end - t, QUICK) * rate)
            until = (d - kept) / rate + t
            until = select(clock < until, until, clock)
            put(clocks, first, select(lasts_by_bound, until, clock))
            bits = bits_of(is_due) & ~bits_of(lasts_by_bound)
            while bits != 0:
                k = first + lowest_bit(bits)
                bits &= bits - 1
                counts[1] += 1
                a, b = things_of(index, k)
                lasts = things_lasting(
                    a,
                    b,
                    things,
                    twists,
                    velocity,
                    Pace(
                        bend_of(index, speeds, a, b), closing[k], closing[k] * (end - t), tolerance
                    ),
                    record,
                )
                if not lasts >= 0.0:
                    which[0] = a
                    which[1] = b
                    return t
                # what is farther was not told
                clocks[k] = max(clocks[k], min(t + lasts, end))


@typed
def motion_rows(
    starts: PtrF64,
    stops: PtrF64,
    velocities: PtrF64,
    n_rows: I64,
    tolerance: F64,
    world: PtrI64,
    times: PtrF64,
    records: PtrF64,
    which: PtrI64,
    counts: PtrI64,
) -> None:
    """`motion_touches` for each pair of rows; things are -1 where nothing touches."""
    index = pointer_i64(world[TABLES])
    n_q, n_v = index[N_Q], index[N_V]
    for row in range(n_rows):
        things = offset(which, row * 2)
        things[0] = -1
        things[1] = -1
        times[row] = motion_touches(
            offset(starts, row * n_q),
            offset(stops, row * n_q),
            offset(velocities, row * n_v),
            tolerance,
            world,
            offset(records, row * RECORD),
            things,
            counts,
        )


def motion_room(tables: Tables) -> int:
    """The size of the scratch array of `motion_rows`."""
    index = tables.index
    speeds = int(index[N_PAIRS]) + 2 * int(index[N_BODIES])
    return tables.room + 3 * int(index[N_Q]) + 2 + speeds + 2 * tables.n_bounds


def sample_counts(q0: Floats, q1: Floats, resolution: float, turns: Ints) -> Ints:
    """The number of samples of each of the motions of `between`.

    Raises: InputError for more than anybody waits for.
    """
    rates = np.abs(q1 - q0)
    for at in turns[:, 0].tolist():
        chord = np.linalg.norm(rates[:, at : at + 4], axis=1, keepdims=True)
        rates[:, at : at + 4] = 2.0 * chord / np.sqrt(1.0 - 0.25 * chord**2)
    counts = np.ceil(rates.max(axis=1, initial=0.0) / resolution) + 1
    if not counts.max(initial=0.0) <= _MOST_SAMPLES:
        raise InputError(
            f"resolution={resolution:g} asks for {counts.max():.3g} configurations of one motion, "
            f"and at most {_MOST_SAMPLES:,} are looked at: give a larger one, or none, which looks "
            "at the whole motion"
        )
    return counts.astype(np.int64)


def between(q0: Floats, q1: Floats, resolution: float, turns: Ints) -> tuple[Floats, Ints]:
    """Rows of samples of straight motions (n, n_q), both ends included, and where each begins.

    No joint moves by more than ``resolution`` (rad, m) between two samples. Row k of the motions
    has the rows ``first[k]`` up to ``first[k + 1]`` of the samples. ``turns``: see `short_ways`,
    of which both ends are.
    """
    counts = sample_counts(q0, q1, resolution, turns)
    first = np.concatenate([[0], np.cumsum(counts)])
    row = np.repeat(np.arange(len(q0)), counts)
    t = (np.arange(first[-1]) - first[row]) / np.maximum(counts[row] - 1, 1)
    rows = q0[row] + t[:, None] * (q1 - q0)[row]
    last = first[1:] - 1
    rows[last] = q1
    return rows, first
