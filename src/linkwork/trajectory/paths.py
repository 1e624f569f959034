"""Paths of joints as cubic pieces over a path parameter s, and their grids: the small language.

A path is q(s), pieces of cubics one after another: ``breaks`` (pieces + 1,) and ``pieces``
(pieces, 4, n), of s minus the break before, the constant first. s is the length of the way from
point to point, so that dq/ds has a length of about 1, and q(s) has two continuous derivatives but
for corners, in which a motion stands still.

- `spline_pieces`: the natural cubic spline through points;
- `blended_pieces`: straight lines between points, with corners rounded by two cubics each, on which
  the second derivative rises from zero to a peak in the middle and falls to zero.

A grid cuts each piece into intervals, and each interval has five states, at quarters.

Source of the splines: C. de Boor, A Practical Guide to Splines (2001), chapter IV.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    PtrF64,
    PtrI64,
    f64,
    i64,
    lanes,
    offset,
    put,
    select,
    splat,
    sqrt,
    typed,
)

SAME = 1e-9
"""Points nearer than this share of the whole way to the one before are the same point."""
SHORTEST = 1e-12
"""Lines between two corners shorter than this share of the whole way are left out: rounding would
leave nothing of them where the path has gone on."""
STRAIGHT = 1e-9
"""Directions that differ by less than this are one."""
HALVED = 4
"""The halvings of the intervals beside a halt: speeds change most there."""
FAR = 1e300
"""A position beyond all."""
BACK = 1e-3
"""Corners where directions add up to less than this turn back: a motion stops there."""


@typed
def distance(a: PtrF64, b: PtrF64, n: I64) -> F64:
    """The distance of two points."""
    total = 0.0
    for k in range(n):
        gap = b[k] - a[k]
        total += gap * gap
    return sqrt(total)


@typed
def points_apart(points: PtrF64, m: I64, n: I64, kept: PtrF64) -> I64:
    """Write the points that are apart from the one before, the first and the last among them.

    How many there are: 1 where all are the same.
    """
    whole = 0.0
    for k in range(m - 1):
        whole += distance(offset(points, k * n), offset(points, (k + 1) * n), n)
    for j in range(n):
        kept[j] = points[j]
    if whole == 0.0:
        return 1
    count = 1
    for k in range(1, m):
        place = count
        if distance(offset(kept, (count - 1) * n), offset(points, k * n), n) <= SAME * whole:
            if k < m - 1 or count == 1:
                continue
            place = count - 1
        for j in range(n):
            kept[place * n + j] = points[k * n + j]
        count = place + 1
    return count


@typed
def corners_of(points: PtrF64, m: I64, n: I64) -> I64:
    """Leave out points in which lines between points go straight on; how many are left."""
    count = 1
    for k in range(1, m):
        here = offset(points, k * n)
        if k < m - 1:
            before = offset(points, (count - 1) * n)
            after = offset(points, (k + 1) * n)
            to_here, to_after = distance(before, here, n), distance(here, after, n)
            bend = 0.0
            for j in range(n):
                gap = (after[j] - here[j]) / to_after - (here[j] - before[j]) / to_here
                bend += gap * gap
            if bend <= STRAIGHT * STRAIGHT:
                continue
        for j in range(n):
            points[count * n + j] = here[j]
        count += 1
    return count


@typed
def bend_at_end(s: PtrF64, q: PtrF64, n: I64, first: I64, way: I64) -> F64:
    """The second derivative at s[first] of the cubic through four points, ``way`` (1, -1) apart."""
    s0, s1 = s[first], s[first + way]
    s2, s3 = s[first + 2 * way], s[first + 3 * way]
    q0, q1 = q[first * n], q[(first + way) * n]
    q2, q3 = q[(first + 2 * way) * n], q[(first + 3 * way) * n]
    d01, d12, d23 = (q1 - q0) / (s1 - s0), (q2 - q1) / (s2 - s1), (q3 - q2) / (s3 - s2)
    d012, d123 = (d12 - d01) / (s2 - s0), (d23 - d12) / (s3 - s1)
    return 2.0 * d012 + 2.0 * (d123 - d012) / (s3 - s0) * (2.0 * s0 - s1 - s2)


class Pieces(NamedTuple):
    """The pieces of a path: where they begin and end, and four rows of n coefficients of each.

    ``stops`` (pieces,): 1 where a motion has to stand still at the end of a piece.
    """

    breaks: PtrF64
    pieces: PtrF64
    stops: PtrI64


class Cuts(NamedTuple):
    """The intervals that pieces are cut into.

    Of each: its piece, the number of its first state (five of them, the last shared with the next
    interval where the motion does not halt between them), where it begins in its piece, and its
    length; ``halts`` (intervals + 1,) are 1 where the motion has to stand still. ``first`` has the
    number of states as its last.
    """

    n: I64
    pieces: PtrF64
    piece_of: PtrI64
    first: PtrI64
    halts: PtrI64
    starts: PtrF64
    steps: PtrF64


@typed
def spline_pieces(points: PtrF64, m: I64, n: I64, bent: I64, way: Pieces, room: PtrF64) -> I64:
    """Write the cubic spline through points (m, n); how many pieces it has.

    At its ends it is straight (natural), or, where ``bent`` is not 0, bent as the cubic through
    four points is.

    ``room``: 2 m n + m numbers.
    """
    q, breaks = room, way.breaks
    count = points_apart(points, m, n, q)
    second = offset(room, m * n)  # second derivatives in the points
    diagonal = offset(room, 2 * m * n)
    breaks[0] = 0.0
    for k in range(count - 1):
        breaks[k + 1] = breaks[k] + distance(offset(q, k * n), offset(q, (k + 1) * n), n)
        way.stops[k] = 0
    for j in range(n):
        second[j] = 0.0
        second[(count - 1) * n + j] = 0.0
        if bent != 0 and count > 3:
            second[j] = bend_at_end(breaks, offset(q, j), n, 0, 1)
            second[(count - 1) * n + j] = bend_at_end(breaks, offset(q, j), n, count - 1, -1)
    # h[k-1] M[k-1] + 2 (h[k-1] + h[k]) M[k] + h[k] M[k+1] = 6 (slope[k] - slope[k-1])
    for k in range(1, count - 1):
        before = breaks[k] - breaks[k - 1]
        after = breaks[k + 1] - breaks[k]
        factor = before  # of what is known at the end
        diagonal[k] = 2.0 * (before + after)
        if k > 1:
            factor = before / diagonal[k - 1]
            diagonal[k] = diagonal[k] - factor * before
        for j in range(n):
            at = k * n + j
            bend = 6.0 * ((q[at + n] - q[at]) / after - (q[at] - q[at - n]) / before)
            second[at] = bend - factor * second[at - n]
    for k in range(count - 2, 0, -1):
        after = breaks[k + 1] - breaks[k]
        for j in range(n):
            at = k * n + j
            second[at] = (second[at] - after * second[at + n]) / diagonal[k]
    for k in range(count - 1):
        h = breaks[k + 1] - breaks[k]
        for j in range(n):
            at = k * n + j
            piece = offset(way.pieces, k * 4 * n + j)
            piece[0] = q[at]
            slope = (q[at + n] - q[at]) / h
            piece[n] = slope - h * (2.0 * second[at] + second[at + n]) / 6.0
            piece[2 * n] = 0.5 * second[at]
            piece[3 * n] = (second[at + n] - second[at]) / (6.0 * h)
    return count - 1


@typed
def blended_pieces(
    points: PtrF64, m: I64, n: I64, deviation: F64, way: Pieces, room: PtrF64
) -> I64:
    """Write straight lines through points (m, n) with rounded corners; how many pieces they are.

    No point of the path is farther than ``deviation`` from the lines, nor a corner from the path. A
    corner is rounded from a length l before it to l after it: q'' = (d1 - d0) / l in its middle,
    which is l |d1 - d0| / 6 from the corner; d0 and d1 are the directions. ``room``: as
    `spline_pieces`.
    """
    q, breaks, pieces = room, way.breaks, way.pieces
    count = points_apart(points, m, n, q)
    count = corners_of(q, count, n)
    directions = offset(room, m * n)
    lengths = offset(room, 2 * m * n)
    whole = 0.0
    for k in range(count - 1):
        lengths[k] = distance(offset(q, k * n), offset(q, (k + 1) * n), n)
        whole += lengths[k]
        for j in range(n):
            directions[k * n + j] = (q[(k + 1) * n + j] - q[k * n + j]) / lengths[k]
    made = 0
    breaks[0] = 0.0
    gone = 0.0  # of a line, by the corner before it
    for k in range(count - 1):
        d0 = offset(directions, k * n)
        arm = 0.0
        stop = 0
        if k < count - 2:
            d1 = offset(directions, (k + 1) * n)
            bend, both = 0.0, 0.0
            for j in range(n):
                bend += (d1[j] - d0[j]) * (d1[j] - d0[j])
                both += (d1[j] + d0[j]) * (d1[j] + d0[j])
            bend = sqrt(bend)
            if bend > STRAIGHT:
                if deviation <= 0.0 or both < BACK * BACK:
                    stop = 1
                else:
                    arm = min(6.0 * deviation / bend, 0.5 * min(lengths[k], lengths[k + 1]))
        left = lengths[k] - gone - arm
        if left > max(SAME * lengths[k], SHORTEST * whole):
            for j in range(n):
                piece = offset(pieces, made * 4 * n + j)
                piece[0] = q[k * n + j] + d0[j] * gone
                piece[n] = d0[j]
                piece[2 * n] = 0.0
                piece[3 * n] = 0.0
            way.stops[made] = stop
            made += 1
            breaks[made] = breaks[made - 1] + left
        if arm > 0.0:
            d1 = offset(directions, (k + 1) * n)
            for j in range(n):
                gap = d1[j] - d0[j]
                third = gap / (6.0 * arm * arm)
                piece = offset(pieces, made * 4 * n + j)
                corner = q[(k + 1) * n + j]
                piece[0] = corner - arm * d0[j]
                piece[n] = d0[j]
                piece[2 * n] = 0.0
                piece[3 * n] = third
                piece = offset(pieces, (made + 1) * 4 * n + j)
                piece[0] = corner + arm * gap / 6.0
                piece[n] = d0[j] + 0.5 * gap
                piece[2 * n] = 0.5 * gap / arm
                piece[3 * n] = -third
            for _side in range(2):
                way.stops[made] = 0
                made += 1
                breaks[made] = breaks[made - 1] + arm
        gone = arm
    return made


@typed
def cut(way: Pieces, n_pieces: I64, least: I64, each: I64, cuts: Cuts) -> I64:
    """Cut pieces into intervals of about the same length; how many there are.

    At least ``each`` of a piece, and about ``least`` in all; smaller ones beside halts.
    """
    whole = way.breaks[n_pieces]
    count = 0
    state = 0
    cuts.halts[0] = 0
    for k in range(n_pieces):
        length = way.breaks[k + 1] - way.breaks[k]
        parts = max(each, i64(f64(least) * length / whole + 0.999999))
        step = length / f64(parts)
        for i in range(parts):
            finer = 0  # how often an interval is halved towards a place where the motion halts
            if i == 0 and (k == 0 or way.stops[k - 1] != 0):
                finer = HALVED
            if i == parts - 1 and (k == n_pieces - 1 or way.stops[k] != 0):
                finer = -HALVED
            size = step
            along = step * f64(i)
            if finer > 0:
                size = step / f64(1 << HALVED)
            for part in range(abs(finer) + 1):
                if finer > 0 and part > 1:
                    size = 2.0 * size
                if finer < 0 and part < HALVED:
                    size = 0.5 * size
                cuts.piece_of[count] = k
                cuts.first[count] = state
                cuts.starts[count] = along
                cuts.steps[count] = size
                along += size
                state += 4
                count += 1
                cuts.halts[count] = 0
        if way.stops[k] != 0:
            cuts.halts[count] = 1
            state += 1
    cuts.first[count] = state + 1
    return count


@typed
def write_states(
    cuts: Cuts, count: I64, q: PtrF64, slopes: PtrF64, bends: PtrF64, span: PtrF64
) -> None:
    """Write q, q' and q'' (states, n) each, and the least of each of q, and of -q.

    Rows are written in whole lanes: behind all of them are `WIDTH` zeros.
    ``span``: these two rows of n, in whole lanes.
    """
    n = cuts.n
    wide = (n + WIDTH - 1) // WIDTH * WIDTH
    for k in range(wide - WIDTH, -1, -WIDTH):  # the first lanes last: others go beyond rows
        low, turned = splat(FAR), splat(FAR)
        for i in range(count):
            piece = offset(cuts.pieces, cuts.piece_of[i] * 4 * n + k)
            c0, c1 = lanes(piece, 0), lanes(piece, n)
            c2, c3 = lanes(piece, 2 * n), lanes(piece, 3 * n)
            for part in range(cuts.first[i + 1] - cuts.first[i]):
                s = cuts.starts[i] + cuts.steps[i] * f64(part) * 0.25
                at = (cuts.first[i] + part) * n + k
                position = c0 + s * (c1 + s * (c2 + s * c3))
                low = select(position < low, position, low)
                turned = select(-position < turned, -position, turned)
                put(q, at, position)
                put(slopes, at, c1 + s * (2.0 * c2 + s * (3.0 * c3)))
                put(bends, at, 2.0 * c2 + 6.0 * c3 * s)
        put(span, k, low)
        put(span, wide + k, turned)
    at = cuts.first[count] * n
    put(q, at, splat(0.0))
    put(slopes, at, splat(0.0))
    put(bends, at, splat(0.0))


@typed
def write_motion(
    cuts: Cuts, count: I64, x: PtrF64, u: PtrF64, times: PtrF64, coefficients: PtrF64
) -> None:
    """Write times (count + 1,) and coefficients (count, 7, n) of q(s(t)).

    (ds/dt)² = x + 2 u (s - s_i). Rows are written in whole lanes: up to `WIDTH` numbers behind the
    coefficients are, too.
    """
    n = cuts.n
    wide = (n + WIDTH - 1) // WIDTH * WIDTH
    times[0] = 0.0
    for i in range(count):
        piece = offset(cuts.pieces, cuts.piece_of[i] * 4 * n)
        s = cuts.starts[i]
        speed = sqrt(x[i])
        half = 0.5 * u[i]
        times[i + 1] = times[i] + 2.0 * cuts.steps[i] / (speed + sqrt(x[i + 1]))
        for k in range(wide - WIDTH, -1, -WIDTH):  # the first lanes last: others go beyond rows
            out = offset(coefficients, i * 7 * n + k)
            c1, c2, c3 = lanes(piece, n + k), lanes(piece, 2 * n + k), lanes(piece, 3 * n + k)
            p1 = c1 + s * (2.0 * c2 + 3.0 * c3 * s)
            p2 = c2 + 3.0 * c3 * s
            put(out, 0, lanes(piece, k) + s * (c1 + s * (c2 + s * c3)))
            put(out, n, p1 * speed)
            put(out, 2 * n, p1 * half + p2 * x[i])
            put(out, 3 * n, speed * (2.0 * p2 * half + c3 * x[i]))
            put(out, 4 * n, half * (p2 * half + 3.0 * c3 * x[i]))
            put(out, 5 * n, 3.0 * c3 * speed * half * half)
            put(out, 6 * n, c3 * half * half * half)
