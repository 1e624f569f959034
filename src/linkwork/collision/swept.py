"""The parts of a motion that are surely free, by balls that hold all that a body passes.

A motion is cut into short intervals. In the middle of each every ball of the robot is made larger
by as far as any point of its body can come within the interval: what is clear of all is free
throughout. Sixteen intervals are the lanes of float32 vectors, as in `spheres`. What is not clear
is cut in four, some times; what is left then is looked at more closely (`motion`).
"""

from __future__ import annotations

from linkwork.collision.spheres import ALL_LANES, BALLS, N_BODIES, N_Q, NOTES, ROBOT, look, noted
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH32,
    PtrF64,
    PtrI64,
    f32,
    f64,
    i64,
    offset,
    pointer_f32,
    pointer_f64,
    pointer_i64,
    typed,
)

LISTED, RADII, OWNERS, N_RADII, SWOLLEN, ROWS, STARTS, MOST, SWEPT = range(9)
"""Places in a record: addresses of the arguments of `spheres.check_rows`; of where radii stand
among the balls, and of whose they are; how many; of a copy of the balls; of sixteen configurations;
of room for two lists of MOST intervals."""

WIDEST = 0.04
"""The way of a point of a body within one of the first intervals, at most (m)."""

LEVELS = 2
"""The looks at an interval, each at a quarter of the one before."""


@typed
def swell(swept: PtrI64, speeds: PtrF64, time: F64, more: F64) -> None:
    """Write the balls, each larger by what a body's points pass in a time, and by some more."""
    balls = pointer_f32(pointer_i64(swept[LISTED])[BALLS])
    swollen = pointer_f32(swept[SWOLLEN])
    radii, owners = pointer_i64(swept[RADII]), pointer_i64(swept[OWNERS])
    for k in range(swept[N_RADII]):
        by = f32((speeds[owners[k]] * time + more) * 1.000001)
        swollen[radii[k]] = balls[radii[k]] + by


@typed
def clear_lanes(q: PtrF64, count: I64, swept: PtrI64) -> I64:
    """The configurations, of up to sixteen, that the swollen balls are clear in, as bits."""
    listed = pointer_i64(swept[LISTED])
    sure, _ = look(q, 0, count - 1, pointer_f32(swept[SWOLLEN]), ALL_LANES, listed)
    return (2 << (count - 1)) - 1 & ~(sure | noted(pointer_i64(listed[NOTES])))


@typed
def open_intervals(
    start: PtrF64, stop: PtrF64, speeds: PtrF64, more: F64, swept: PtrI64, found: PtrF64
) -> I64:
    """Write the intervals (t0, t1) of a motion that are not surely free; how many they are.

    ``speeds``: of the points of each body, for the whole motion in a time of 1. What is free is so
    by ``more`` at least. ``found``: room for MOST of them.
    """
    robot = pointer_i64(pointer_i64(swept[LISTED])[ROBOT])
    n_q, most = robot[N_Q], swept[MOST]
    rows, starts = pointer_f64(swept[ROWS]), pointer_f64(swept[STARTS])
    fastest = 0.0
    for body in range(robot[N_BODIES]):
        fastest = max(fastest, speeds[body])
    found[0] = 0.0
    found[1] = 1.0
    if not fastest < WIDEST * f64(most - WIDTH32):
        return 1
    n = (i64(fastest / WIDEST) + WIDTH32) // WIDTH32 * WIDTH32
    width = 1.0 / f64(n)
    for k in range(n):
        starts[k] = f64(k) * width
    kept = n
    for level in range(LEVELS):
        swell(swept, speeds, 0.5 * width, more)
        kept = 0
        for first in range(0, n, WIDTH32):
            count = min(n - first, WIDTH32)
            for k in range(count):
                t = starts[first + k] + 0.5 * width
                row = offset(rows, k * n_q)
                for i in range(n_q):
                    row[i] = start[i] + t * (stop[i] - start[i])
            clear = clear_lanes(rows, count, swept)
            for k in range(count):
                if (clear >> k) & 1 == 0:
                    starts[kept] = starts[first + k]
                    kept += 1
        if kept == 0 or level == LEVELS - 1 or 4 * kept > most:
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
