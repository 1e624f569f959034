"""The parts of a motion that are surely free, by balls that hold all that a body passes.

A motion is cut into short intervals. In the middle of each every ball of the robot is made larger
by as far as any point of its body can come within the interval: what is clear of all is free
throughout. Sixteen intervals are the lanes of float32 vectors, as in `spheres`. What is not clear
is cut in four, some times; what is left then is looked at more closely (`motion`).
"""

from __future__ import annotations

from linkwork.collision.distances import filled
from linkwork.collision.spheres import (
    ALL_LANES,
    BALLS,
    BODY,
    ENTRY,
    FULL,
    N_AGGREGATES,
    N_BODIES,
    N_Q,
    N_ROWS,
    NARROW,
    NOTES,
    OF_AGGREGATE,
    PIECE,
    PIECES_OF_ROBOT,
    POOL,
    ROBOT,
    SCENE,
    looked,
    noted,
)
from linkwork.collision.spheres import MOST as GREATEST
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    WIDTH32,
    Bool,
    PtrF64,
    PtrI64,
    f32,
    f64,
    i64,
    lanes,
    offset,
    pointer_f32,
    pointer_f64,
    pointer_i64,
    put,
    typed,
)

LISTED, RADII, OWNERS, N_RADII, SWOLLEN, GROWTH, STARTS, MOST, MARKS = range(9)
"""Places in a record: addresses of the arguments of `spheres.check_rows`; of where radii stand
among the balls, and of whose they are; how many; of a copy of the balls; of a number for each body;
of room for two lists of MOST intervals; of marks."""

MET, UNMET = 0.0, 1e300
"""Marks of what is not surely clear in the intervals that are left: of each body, whether of
another body; of each body, whether of an obstacle; of each row of the obstacles, and of each
aggregate behind as many that all lanes are full."""

WIDEST = 0.04
"""The way of a point of a body within one of the first intervals, at most (m)."""

LEVELS = 2
"""The looks at an interval, each at a quarter of the one before."""


@typed
def swell(swept: PtrI64, speeds: PtrF64, n_bodies: I64, time: F64, more: F64) -> None:
    """Write the balls, each larger by what a body's points pass in a time, and by some more."""
    balls = pointer_f32(pointer_i64(swept[LISTED])[BALLS])
    swollen, growth = pointer_f32(swept[SWOLLEN]), pointer_f32(swept[GROWTH])
    radii, owners = pointer_i64(swept[RADII]), pointer_i64(swept[OWNERS])
    for body in range(n_bodies):
        growth[body] = f32((speeds[body] * time + more) * 1.000001)
    for k in range(swept[N_RADII]):
        swollen[radii[k]] = balls[radii[k]] + growth[owners[k]]


@typed
def is_known(q: PtrF64, most: PtrF64, n_q: I64) -> Bool:
    """Whether the balls' radii count how float32 rounds a configuration."""
    for i in range(n_q):
        if not abs(q[i]) <= most[i]:
            return False
    return True


@typed
def clear_lanes(
    start: PtrF64, stop: PtrF64, times: PtrF64, later: F64, count: I64, swept: PtrI64
) -> I64:
    """The configurations, of up to sixteen of a motion, that the swollen balls are clear in.

    They are bits. Each is at a time and some ``later``; there are sixteen times.
    """
    listed = pointer_i64(swept[LISTED])
    narrow, given = pointer_f32(listed[NARROW]), (2 << (count - 1)) - 1
    t, u = lanes(times, 0) + later, lanes(times, WIDTH) + later
    for i in range(pointer_i64(listed[ROBOT])[N_Q]):
        change = stop[i] - start[i]
        put(narrow, i * WIDTH32, t * change + start[i])
        put(narrow, i * WIDTH32 + WIDTH, u * change + start[i])
    sure = looked(given, 0, pointer_f32(swept[SWOLLEN]), ALL_LANES, listed)
    todo, marks = pointer_i64(listed[NOTES]), pointer_f64(swept[MARKS])
    if sure != 0 or todo[FULL] != 0:  # not all was looked at
        mark_all(swept, MET)
    else:
        mark_noted(listed, todo, marks)
    return given & ~(sure | noted(todo))


@typed
def mark_all(swept: PtrI64, value: F64) -> None:
    """Mark everything."""
    listed, marks = pointer_i64(swept[LISTED]), pointer_f64(swept[MARKS])
    scene = pointer_i64(listed[SCENE])
    n_others = filled(scene[N_ROWS]) + filled(scene[N_AGGREGATES])
    for k in range(2 * pointer_i64(listed[ROBOT])[N_BODIES] + n_others):
        marks[k] = value


@typed
def mark_noted(listed: PtrI64, todo: PtrI64, marks: PtrF64) -> None:
    """Mark what the last look has noted."""
    robot, pieces = pointer_i64(listed[ROBOT]), pointer_f64(listed[PIECES_OF_ROBOT])
    n_bodies, pool = robot[N_BODIES], offset(robot, robot[POOL])
    n_rows = pointer_i64(listed[SCENE])[N_ROWS]
    for e in range(todo[0]):
        entry = offset(todo, 1 + e * ENTRY)
        body = i64(pieces[pool[entry[0]] * PIECE + BODY])
        if entry[4] < 0:
            marks[n_bodies + body] = MET
            at = entry[2] + (filled(n_rows) if entry[4] == OF_AGGREGATE else 0)
            marks[2 * n_bodies + at] = MET
        else:
            marks[body] = MET
            marks[i64(pieces[pool[entry[2]] * PIECE + BODY])] = MET


@typed
def open_intervals(
    start: PtrF64, stop: PtrF64, speeds: PtrF64, more: F64, swept: PtrI64, found: PtrF64
) -> I64:
    """Write the intervals (t0, t1) of a motion that are not surely free; how many they are.

    What is not clear in them is marked.

    ``speeds``: of the points of each body, for the whole motion in a time of 1. What is free is so
    by ``more`` at least. ``found``: room for MOST of them.
    """
    listed = pointer_i64(swept[LISTED])
    robot, greatest = pointer_i64(listed[ROBOT]), pointer_f64(listed[GREATEST])
    n_q, n_bodies, most = robot[N_Q], robot[N_BODIES], swept[MOST]
    starts = pointer_f64(swept[STARTS])
    fastest = 0.0
    for body in range(n_bodies):
        fastest = max(fastest, speeds[body])
    found[0] = 0.0
    found[1] = 1.0
    mark_all(swept, MET)
    if not fastest < WIDEST * f64(most - WIDTH32):
        return 1
    if not (is_known(start, greatest, n_q) and is_known(stop, greatest, n_q)):
        return 1
    n = (i64(fastest / WIDEST) + WIDTH32) // WIDTH32 * WIDTH32
    width = 1.0 / f64(n)
    for k in range(n):
        starts[k] = f64(k) * width
    kept = n
    for level in range(LEVELS):
        swell(swept, speeds, n_bodies, 0.5 * width, more)
        mark_all(swept, UNMET)
        kept = 0
        for k in range(n, n + WIDTH32):  # the last one again where there are no more
            starts[k] = starts[n - 1]
        for first in range(0, n, WIDTH32):
            count = min(n - first, WIDTH32)
            clear = clear_lanes(start, stop, offset(starts, first), 0.5 * width, count, swept)
            for k in range(count):
                if (clear >> k) & 1 == 0:
                    starts[kept] = starts[first + k]
                    kept += 1
        if kept == 0 or level == LEVELS - 1 or 4 * kept > most - WIDTH32:
            break
        width = 0.25 * width
        n = 4 * kept
        for k in range(n - 1, -1, -1):
            starts[k] = starts[k // 4] + f64(k % 4) * width
    n = 0
    for k in range(kept):
        if n > 0 and starts[k] < found[2 * n - 1] + 0.5 * width:
            found[2 * n - 1] = starts[k] + width
        else:
            found[2 * n] = starts[k]
            found[2 * n + 1] = starts[k] + width
            n += 1
    return n
