"""The least time along a path under velocity, acceleration and force limits: the small language.

Along q(s), with x = (ds/dt)² and u = d²s/dt², every limit is linear in u and x but for damping:
dq/dt² = q' u + q'' x, and the forces of the joints are a u + b x + d sqrt(x) + c. On an interval u
is constant, so that x(s) = x_i + 2 u (s - s_i). Backwards, from the end, the sets [low, high] of x
from which the end is reached; forwards, from the start, the greatest u that stays in them. Each
step is a linear programme in (u, x), solved exactly (`highest`, `lowest`).

Limits hold at the five states of each interval, a quarter apart. `judge` finds what exceeds them in
between, by the parabola that accelerations are and by the quartic through five forces, and lowers
the limits of just these rows by as much; then the passes go again over what has changed. Damping is
taken by the tangent of sqrt(x) at the x of the pass before; with it the quartic goes through forces
evenly apart in time, in which sqrt(x) is linear. What is left at last, some 1e-5, the whole motion
is slowed by; where that is no remedy the passes go on, and the motion stays as it is.

Rows are in blocks of `WIDTH`: those of accelerations, then those of forces, where there are any.
Numbers of a state lie n by n, and the last block of each reads on into what follows. Such lanes
have no limits; all that they read has to be finite.

Source: H. Pham, Q.-C. Pham, A new approach to time-optimal path parameterization based on
reachability analysis, IEEE Transactions on Robotics 34 (2018).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    Lanes,
    PtrF64,
    PtrI64,
    any_of,
    bits_of,
    f64,
    lane,
    lane_max,
    lane_min,
    lanes,
    local_f64,
    lowest_bit,
    offset,
    put,
    select,
    splat,
    sqrt,
    typed,
)

HUGE = 1e30
"""A limit that is none."""
FASTEST = 1e8
"""x where no velocity is limited: 10,000 rad/s or m/s."""
BARE = 1e-13
"""A row in which u has less than this share of the range counts as if it had so much."""
ENOUGH = 2e-5
"""The share of limits that may be exceeded before the whole motion is slowed by as much."""
EXACT = 1e-7
"""The same where slowing is no remedy: it changes speeds that are given at the ends, damping falls
less by it, and forces at rest above their limits do not fall at all."""
KEPT = 5e-7
"""The share that such motions may exceed limits by."""
SIXTH = 1.0 / 6.0
LEAST = 1e-60
"""Five numbers of this size have a product."""
BLOCK = 3 * WIDTH
"""The numbers of a block of rows."""
N, ACCELERATIONS, FORCES, LOSSY = 0, 1, 2, 3
"""The form of a question: joints, the widths of both kinds of rows, whether there are losses."""
ROUGH = 2.0
"""Rounds after which the tangents of damping are near enough for limits to be mended."""
MOST = 0.1
"""The share of x that motions with losses may be slowed by."""
UNSURE = 0.02
"""The share of fourth differences that quartics are taken to be wrong by."""
BOTH = 4 * WIDTH
OVER = 2 * WIDTH
"""The numbers that `judge` notes in how much is exceeded."""
ALL = (1 << WIDTH) - 1
"""Every lane of a mask."""
FAR = 64.0
"""The factor by which `highest` may begin farther than it ends."""
ROUNDING = 1e-14
"""The share of an x by which the next one of `highest` may be wrong."""
NEWTON = 100
"""Steps of Newton's method at most; it takes one for each two rows that bind on its way."""

DONE, NO_STATE, NO_START, NO_WAY, NOT_KEPT = 0, 1, 2, 3, 4
"""Outcomes: found; no x keeps the limits at a place; the start is too fast; rounding fails; limits
are exceeded that slowing would not keep."""


@typed
def greater(a: Lanes, b: Lanes) -> Lanes:
    """The greater of each two."""
    return select(a > b, a, b)


@typed
def least(a: Lanes, b: Lanes) -> Lanes:
    """The less of each two."""
    return select(a < b, a, b)


@typed
def reach(rows: PtrF64, blocks: I64, x: F64) -> tuple[F64, F64, F64, F64]:
    """The least and the greatest u at x, and the slopes of both along x.

    ``rows``: blocks of L, H and R (3, WIDTH) with L + R x <= u <= H + R x.
    """
    low, high = splat(-HUGE), splat(HUGE)
    low_slope, high_slope = splat(0.0), splat(0.0)
    for k in range(0, blocks * BLOCK, BLOCK):
        slope = lanes(rows, k + 2 * WIDTH)
        from_below = lanes(rows, k) + slope * x
        from_above = lanes(rows, k + WIDTH) + slope * x
        low_slope = select(from_below > low, slope, low_slope)
        low = select(from_below > low, from_below, low)
        high_slope = select(from_above < high, slope, high_slope)
        high = select(from_above < high, from_above, high)
    greatest = lane_max(low)
    smallest = lane_min(high)
    return (
        greatest,
        smallest,
        lane(low_slope, lowest_bit(bits_of(low >= greatest))),
        lane(high_slope, lowest_bit(bits_of(high <= smallest))),
    )


@typed
def above(rows: PtrF64, k: I64, x: F64) -> Lanes:
    """The greatest u at x of each row of a block."""
    return lanes(rows, k + WIDTH) + lanes(rows, k + 2 * WIDTH) * x


@typed
def greatest_u(rows: PtrF64, blocks: I64, x: F64) -> F64:
    """The greatest u at x, as `reach` has it; all but the last block are five and five."""
    last = (blocks - 1) * BLOCK
    high = above(rows, last, x)
    for k in range(0, last, 5 * BLOCK):
        first = least(above(rows, k, x), above(rows, k + BLOCK, x))
        second = least(above(rows, k + 2 * BLOCK, x), above(rows, k + 3 * BLOCK, x))
        high = least(least(high, above(rows, k + 4 * BLOCK, x)), least(first, second))
    return lane_min(high)


@typed
def highest(rows: PtrF64, blocks: I64, top: F64) -> F64:
    """The greatest x up to ``top`` that some u goes with; -1 where there is none from 0.

    The length of the interval of u is concave in x: Newton's method comes from above, monotonic.
    From very far above rounding leads it below the end, so that it comes once more from near.
    """
    x = top
    start = top
    for _step in range(NEWTON):
        low, high, low_slope, high_slope = reach(rows, blocks, x)
        room = high - low
        if room >= 0.0:
            if x >= start or start <= FAR * x:
                return x
            start = max(2.0 * x, start / (FAR * FAR * FAR * FAR))
            x = start
            continue
        slope = high_slope - low_slope
        if slope >= 0.0:
            return -1.0
        following = x - room / slope
        if following < -ROUNDING * x:
            return -1.0
        following = max(following, ROUNDING * x)
        if following >= x:  # rounding
            return x
        x = following
    return x


@typed
def lowest(rows: PtrF64, blocks: I64, top: F64) -> F64:
    """The least x from 0 to ``top`` that some u goes with, where `highest` found one."""
    x = 0.0
    for _step in range(NEWTON):
        low, high, low_slope, high_slope = reach(rows, blocks, x)
        room = high - low
        if room >= 0.0:
            return x
        slope = high_slope - low_slope
        if slope <= 0.0:
            return top
        following = x - room / slope
        if following >= top:
            return top
        if following <= x:
            return x
        x = following
    return x


@typed
def inverses(
    a0: Lanes, a1: Lanes, a2: Lanes, a3: Lanes, a4: Lanes
) -> tuple[Lanes, Lanes, Lanes, Lanes, Lanes]:
    """One over each, by one division: their product is a number."""
    a01, a23 = a0 * a1, a2 * a3
    a03 = a01 * a23
    one = 1.0 / (a03 * a4)
    both = one * a4
    first, second = both * a23, both * a01
    return first * a1, first * a0, second * a3, second * a2, one * a03


class Path(NamedTuple):
    """The numbers that bind a motion at the states of a path; see `least_time`."""

    form: PtrI64
    slopes: PtrF64
    bends: PtrF64
    forces: PtrF64
    damping: PtrF64
    friction: PtrF64


class Intervals(NamedTuple):
    """The intervals of a path: of each its first state of five, whether it halts, half its step.

    ``halts``: 1 where the motion is at rest at its beginning.
    """

    n: I64
    first: PtrI64
    halts: PtrI64
    steps: PtrF64


class Memory(NamedTuple):
    """The memory of intervals from pass to pass; see `go_back`."""

    work: PtrF64
    tight: PtrI64
    fastest: PtrF64
    roots: PtrF64
    sets: PtrF64
    rests: PtrF64
    rows: PtrF64
    dirty: PtrI64


class Held(NamedTuple):
    """The limits that an interval is held to; see `judge`."""

    limits: PtrF64
    work: PtrF64
    tight: PtrI64
    relative: PtrF64
    enough: F64
    worst: PtrF64


@typed
def from_state(path: Path, p: I64) -> Path:
    """The path from a state on."""
    n = path.form[N]
    return Path(
        path.form,
        offset(path.slopes, p * n),
        offset(path.bends, p * n),
        offset(path.forces, 3 * p * n),
        offset(path.damping, p * n),
        offset(path.friction, p * n),
    )


@typed
def terms(path: Path, roots: PtrF64, k: I64, part: I64) -> tuple[Lanes, Lanes, Lanes]:
    """a, b and c of the block at k at a state of an interval: the row is a u + b x + c."""
    n, j = path.form[N], k - path.form[ACCELERATIONS]
    if j < 0:
        return lanes(path.slopes, part * n + k), lanes(path.bends, part * n + k), splat(0.0)
    state = offset(path.forces, 3 * part * n + j)
    a, b, c = lanes(state, 0), lanes(state, n), lanes(state, 2 * n)
    if path.form[LOSSY] != 0:
        d = lanes(path.damping, part * n + j)
        b = b + d * (0.5 / roots[part])
        c = c + d * (0.5 * roots[part])
    return a, b, c


@typed
def at_least(a: Lanes, bare: Lanes) -> Lanes:
    """The numbers, in size ``bare`` at least."""
    return select(abs(a) < bare, select(a < 0.0, -bare, bare), a)


@typed
def block_of(
    rows: PtrF64, low: Lanes, high: Lanes, one: Lanes, b: Lanes, c: Lanes
) -> tuple[Lanes, Lanes]:
    """Write a block of rows, low <= u / one + b x + c <= high.

    The least and the greatest u at x = 0.
    """
    from_low = (low - c) * one
    from_high = (high - c) * one
    from_below, from_above = least(from_low, from_high), greater(from_low, from_high)
    put(rows, 0, from_below)
    put(rows, WIDTH, from_above)
    put(rows, 2 * WIDTH, -b * one)
    return from_below, from_above


@typed
def write_rows(
    path: Path, limits: PtrF64, step: F64, roots: PtrF64, rows: PtrF64, rest: PtrF64
) -> None:
    """Write the rows of an interval, as `reach` has them, in (u, x) at its beginning.

    From ``slopes`` to ``damping``: as `least_time`, from the first state of five on. ``limits``:
    the lowest and highest of each row (2, width); ``roots``: the sqrt(x) of the pass before, five.
    ``rest`` (2,): the least and greatest u at x = 0.
    """
    width = path.form[ACCELERATIONS] + path.form[FORCES]
    half = 0.5 * step
    low_u, high_u = splat(-HUGE), splat(HUGE)
    block = rows
    for k in range(0, width, WIDTH):
        low, high = lanes(limits, k), lanes(limits, width + k)
        bare = greater((high - low) * BARE, splat(LEAST))
        a0, b0, c0 = terms(path, roots, k, 0)
        a1, b1, c1 = terms(path, roots, k, 1)
        a2, b2, c2 = terms(path, roots, k, 2)
        a3, b3, c3 = terms(path, roots, k, 3)
        a4, b4, c4 = terms(path, roots, k, 4)
        # 2 (s - s_i) is what x grows by with u
        one0, one1, one2, one3, one4 = inverses(
            at_least(a0, bare),
            at_least(a1 + b1 * half, bare),
            at_least(a2 + b2 * (2.0 * half), bare),
            at_least(a3 + b3 * (3.0 * half), bare),
            at_least(a4 + b4 * (4.0 * half), bare),
        )
        below0, above0 = block_of(offset(block, 0 * BLOCK), low, high, one0, b0, c0)
        below1, above1 = block_of(offset(block, 1 * BLOCK), low, high, one1, b1, c1)
        below2, above2 = block_of(offset(block, 2 * BLOCK), low, high, one2, b2, c2)
        below3, above3 = block_of(offset(block, 3 * BLOCK), low, high, one3, b3, c3)
        below4, above4 = block_of(offset(block, 4 * BLOCK), low, high, one4, b4, c4)
        low_u = greater(
            greater(below0, below1), greater(low_u, greater(below2, greater(below3, below4)))
        )
        high_u = least(least(above0, above1), least(high_u, least(above2, least(above3, above4))))
        block = offset(block, 5 * BLOCK)
    rest[0] = lane_max(low_u)
    rest[1] = lane_min(high_u)


@typed
def write_ends(
    rows: PtrF64, inverse: F64, places: PtrF64, fastest: PtrF64, low: F64, high: F64
) -> F64:
    """Write the last block of rows: x up to ``fastest`` (5,), and at the end from low to high.

    ``inverse``: 1 / step; ``places`` (WIDTH,): 2 / k for k from 1 to 4, else 0. The result is the
    greatest u at x = 0.
    """
    place = lanes(places, 0)
    by = place * inverse
    most = lanes(fastest, 0)
    at_end = place == 0.5
    most = select(at_end, least(most, splat(high)), most)
    from_above = select(place > 0.0, most * by, splat(HUGE))
    put(rows, 0, select(at_end, low * by, splat(-HUGE)))
    put(rows, WIDTH, from_above)
    put(rows, 2 * WIDTH, -by)
    return lane_min(from_above)


@typed
def go_back(
    path: Path,
    intervals: Intervals,
    limits: PtrF64,
    memory: Memory,
    places: PtrF64,
    begin: F64,
    end: F64,
    place: PtrI64,
    tightened: I64,
) -> I64:
    """Backwards: write the ``sets`` of x that the end is reached from; an outcome, and its place.

    ``dirty`` (n_intervals,): 1 for intervals whose rows have changed since the pass before, 2 where
    ``fastest`` has; then those whose motion may have. All else is as it was. ``tightened``: 1 where
    limits have only become narrower since then.

    ``begin`` and ``end``: x at both ends. ``limits`` (2, width), with losses of each interval, or
    where they are ``tight`` the ``work`` (n_intervals, 2, width), ``fastest`` and ``roots``
    (n_intervals, 5): as `write_rows`. ``sets`` and ``rests``: 2 n_intervals + 2 numbers.
    """
    form, n_intervals = path.form, intervals.n
    fastest, dirty, sets, rests = memory.fastest, memory.dirty, memory.sets, memory.rests
    width = form[ACCELERATIONS] + form[FORCES]
    blocks = width // WIDTH * 5 + 1
    room = blocks * BLOCK
    place[0] = n_intervals
    if end > fastest[5 * n_intervals - 1]:
        return NO_STATE
    sets[2 * n_intervals] = end
    sets[2 * n_intervals + 1] = end
    moved = False  # whether the set that an interval has to end in is another than before
    for back in range(n_intervals):
        i = n_intervals - 1 - back
        own = offset(memory.rows, i * room)
        place[0] = i
        top = fastest[5 * i]
        beside = 0
        if i > 0:
            top = min(top, fastest[5 * i - 1])
            beside = dirty[i - 1]
        if dirty[i] == 0 and beside == 0 and not moved:
            continue
        if tightened != 0:  # what was reached before is above what is reached now
            top = min(top, sets[2 * i + 1])
        if intervals.halts[i] != 0:
            top = 0.0
        if dirty[i] & 1 != 0:
            given = offset(limits, i * 2 * width if form[LOSSY] != 0 else 0)
            write_rows(
                from_state(path, intervals.first[i]),
                offset(memory.work, i * 2 * width) if memory.tight[i] != 0 else given,
                intervals.steps[i],
                offset(memory.roots, 5 * i),
                own,
                offset(rests, 2 * i),
            )
        if moved:
            dirty[i] = 1
        low, high, inverse = sets[2 * i + 2], sets[2 * i + 3], 1.0 / intervals.steps[i]
        high_u = write_ends(
            offset(own, (blocks - 1) * BLOCK), inverse, places, offset(fastest, 5 * i), low, high
        )
        most = highest(own, blocks, top)
        if most < 0.0:
            return NO_STATE
        least_x = 0.0
        if max(rests[2 * i], 0.5 * low * inverse) > min(rests[2 * i + 1], high_u):
            least_x = lowest(own, blocks, most)
        moved = most != sets[2 * i + 1] or least_x != sets[2 * i]
        sets[2 * i + 1] = most
        sets[2 * i] = least_x
    place[0] = 0
    slack = 1e-9 * begin
    if begin > sets[1] + slack or begin < sets[0] - slack:
        return NO_START
    return DONE


@typed
def higher(
    before: Lanes, here: Lanes, after: Lanes, w: Lanes, a: Lanes, b: Lanes, c: Lanes, at: F64
) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """The three samples, of two times three, with the higher middle, and where that is."""
    better = b > here
    return (
        select(better, a, before),
        select(better, b, here),
        select(better, c, after),
        select(better, splat(at), w),
    )


@typed
def top_of(v0: Lanes, v1: Lanes, v2: Lanes, v3: Lanes, v4: Lanes) -> Lanes:
    """The highest value on an interval of the quartics through five even samples.

    It is looked for with the parabola through three of nine samples of the quartic, the highest
    one in their middle.
    """
    # v2 + a1 w + a2 w² + a3 w³ + a4 w⁴ from w = -2 to 2
    even1, even2 = 0.5 * (v1 + v3) - v2, 0.5 * (v0 + v4) - v2
    odd1, odd2 = 0.5 * (v3 - v1), 0.5 * (v4 - v0)
    a4 = (even2 - 4.0 * even1) * SIXTH * 0.5
    a2 = even1 - a4
    a3 = (odd2 - 2.0 * odd1) * SIXTH
    a1 = odd1 - a3
    y0, y1, y3, y4 = v0 - v2, v1 - v2, v3 - v2, v4 - v2
    y2 = splat(0.0)
    near_even, near_odd = 0.25 * a2 + 0.0625 * a4, 0.5 * a1 + 0.125 * a3
    far_even, far_odd = 2.25 * a2 + 5.0625 * a4, 1.5 * a1 + 3.375 * a3
    m0, m1, m2, m3 = (
        far_even - far_odd,
        near_even - near_odd,
        near_even + near_odd,
        far_even + far_odd,
    )
    before, here, after, w = y0, m0, y1, splat(-1.5)
    before, here, after, w = higher(before, here, after, w, m0, y1, m1, -1.0)
    before, here, after, w = higher(before, here, after, w, y1, m1, y2, -0.5)
    before, here, after, w = higher(before, here, after, w, m1, y2, m2, 0.0)
    before, here, after, w = higher(before, here, after, w, y2, m2, y3, 0.5)
    before, here, after, w = higher(before, here, after, w, m2, y3, m3, 1.0)
    before, here, after, w = higher(before, here, after, w, y3, m3, y4, 1.5)
    bend = (here - before) + (here - after)
    slope = after - before
    inside = (abs(slope) <= 2.0 * bend) & (bend > 1e-290)
    at = w + 0.25 * slope / select(inside, bend, splat(1.0))
    peak = at * (a1 + at * (a2 + at * (a3 + at * a4)))
    found = greater(greater(y0, y4), select(inside, peak, here))
    return v2 + found


@typed
def moving(forces: PtrF64, n: I64, u: F64, x: F64) -> Lanes:
    """The forces at a state without damping: a u + b x + c."""
    return lanes(forces, 2 * n) + lanes(forces, 0) * u + lanes(forces, n) * x


@typed
def between(v0: Lanes, v1: Lanes, v2: Lanes, v3: Lanes, v4: Lanes, at: F64) -> Lanes:
    """The quartics through five even samples, at a place from 0 to 4."""
    z1, z2, z3, z4 = at - 1.0, at - 2.0, at - 3.0, at - 4.0
    first, last, ends = at * z1, z3 * z4, at * z4
    return (
        v0 * (z1 * z2 * last * (SIXTH * 0.25))
        + v1 * (-at * z2 * last * SIXTH)
        + v2 * (first * last * 0.25)
        + v3 * (-ends * z1 * z2 * SIXTH)
        + v4 * (first * z2 * z3 * (SIXTH * 0.25))
    )


@typed
def fourth(v0: Lanes, v1: Lanes, v2: Lanes, v3: Lanes, v4: Lanes) -> Lanes:
    """The size of the fourth difference of five samples."""
    return abs(v0 - 4.0 * v1 + 6.0 * v2 - 4.0 * v3 + v4)


@typed
def mended(
    over: Lanes, under: Lanes, low_rest: Lanes, high_rest: Lanes, held: Held, width: I64, k: I64
) -> I64:
    """Tighten ``work`` where the block at k exceeds its limits, and note by how much it does.

    ``low_rest`` and ``high_rest``: values of the rows at rest. ``work`` is that of ``limits`` until
    ``tight`` is 1. The result is 1 where any is exceeded by more than half of ``enough``.
    """
    excess = greater(over, under)
    if not any_of(excess > 0.0):
        return 0
    share = excess * lanes(held.relative, k)
    # what is above the value at rest falls with the square of the time
    up = select(over > 0.0, lanes(held.limits, width + k) - high_rest, splat(HUGE))
    down = select(under > 0.0, low_rest - lanes(held.limits, k), splat(HUGE))
    slow = excess / greater(least(up, down), splat(1e-280))
    little = not any_of(share > 0.5 * held.enough)
    kept = offset(held.worst, OVER if little else 0)
    put(kept, 0, greater(share, lanes(kept, 0)))
    put(kept, WIDTH, greater(slow, lanes(kept, WIDTH)))
    if little:
        return 0
    if held.tight[0] == 0:
        held.tight[0] = 1
        for j in range(0, 2 * width, WIDTH):
            put(held.work, j, lanes(held.limits, j))
    put(held.work, width + k, lanes(held.work, width + k) - 1.01 * greater(over, splat(0.0)))
    put(held.work, k, lanes(held.work, k) + 1.01 * greater(under, splat(0.0)))
    return 1


@typed
def judge(
    path: Path, held: Held, velocities: PtrF64, step: F64, x: F64, u: F64, fastest: PtrF64
) -> I64:
    """Judge an interval: tighten ``work`` and ``fastest`` where ``limits`` are exceeded.

    ``velocities``: 1 / v² of the joints, 0 beyond. ``relative`` (width,): 1 / limit.
    ``worst`` (2, 2, WIDTH), over which the largest count, of what is mended and of what is not: the
    excess of rows as a share of limits, and the factors of time that would mend them. ``enough``
    and ``tight``: as `mended`. The result has 1 where rows are exceeded, and 2 where velocities
    are.
    """
    n, accelerations, lossy = path.form[N], path.form[ACCELERATIONS], path.form[LOSSY]
    width = accelerations + path.form[FORCES]
    exceeded = 0
    x1 = max(x + 0.5 * step * u, 0.0)
    x2 = max(x + step * u, 0.0)
    x3 = max(x + 1.5 * step * u, 0.0)
    x4 = max(x + 2.0 * step * u, 0.0)
    for k in range(0, accelerations, WIDTH):  # on a cubic they are quadratic in s
        v0 = lanes(path.slopes, k) * u + lanes(path.bends, k) * x
        v2 = lanes(path.slopes, 2 * n + k) * u + lanes(path.bends, 2 * n + k) * x2
        v4 = lanes(path.slopes, 4 * n + k) * u + lanes(path.bends, 4 * n + k) * x4
        bend = v0 - 2.0 * v2 + v4
        highest_here = greater(greater(v0, v4), v2)
        lowest_here = least(least(v0, v4), v2)
        more = 0.125 * abs(bend)
        low, high = lanes(held.limits, k), lanes(held.limits, width + k)
        if bits_of((highest_here + more < high) & (lowest_here - more > low)) == ALL:
            continue
        slope = v4 - v0
        inside = abs(slope) < 2.0 * abs(bend)
        turn = v2 - 0.125 * slope * slope / select(inside, bend, splat(1.0))
        turn = select(inside, turn, v2)
        exceeded = exceeded | mended(
            greater(highest_here, turn) - high,
            low - least(lowest_here, turn),
            splat(0.0),
            splat(0.0),
            held,
            width,
            k,
        )
    if width > accelerations:
        # in time sqrt(x) is linear, along the way it is not where the motion begins or ends at rest
        r0, r4 = sqrt(x), sqrt(x4)
        gain = r4 - r0
        r1, r2, r3 = r0 + 0.25 * gain, r0 + 0.5 * gain, r0 + 0.75 * gain
        way = 4.0 / max(r0 + r4, 1e-150)
        t1, t2, t3 = 0.25 * way * (r0 + r1), 0.5 * way * (r0 + r2), 0.75 * way * (r0 + r3)
        for k in range(accelerations, width, WIDTH):
            f = offset(path.forces, k - accelerations)
            v0 = moving(f, n, u, x)
            v1 = moving(offset(f, 3 * n), n, u, x1)
            v2 = moving(offset(f, 6 * n), n, u, x2)
            v3 = moving(offset(f, 9 * n), n, u, x3)
            v4 = moving(offset(f, 12 * n), n, u, x4)
            # what the quartic leaves out falls faster with the interval than fourth differences do
            unsure = UNSURE * fourth(v0, v1, v2, v3, v4)
            if lossy != 0:
                d = offset(path.damping, k - accelerations)
                d0, d1, d2 = lanes(d, 0), lanes(d, n), lanes(d, 2 * n)
                d3, d4 = lanes(d, 3 * n), lanes(d, 4 * n)
                in1 = between(v0, v1, v2, v3, v4, t1) + between(d0, d1, d2, d3, d4, t1) * r1
                in2 = between(v0, v1, v2, v3, v4, t2) + between(d0, d1, d2, d3, d4, t2) * r2
                in3 = between(v0, v1, v2, v3, v4, t3) + between(d0, d1, d2, d3, d4, t3) * r3
                v0, v1, v2, v3, v4 = v0 + d0 * r0, in1, in2, in3, v4 + d4 * r4
                unsure = unsure + UNSURE * fourth(v0, v1, v2, v3, v4)
            highest_here = greater(greater(v0, v1), greater(v2, greater(v3, v4)))
            lowest_here = least(least(v0, v1), least(v2, least(v3, v4)))
            bend = greater(abs(v0 - 2.0 * v1 + v2), abs(v2 - 2.0 * v3 + v4))
            bend = greater(bend, abs(v1 - 2.0 * v2 + v3))
            low, high = lanes(held.limits, k), lanes(held.limits, width + k)
            near_high = highest_here + bend >= high
            near_low = lowest_here - bend <= low
            if not any_of(near_high | near_low):
                continue
            over, under = splat(-HUGE), splat(-HUGE)
            # a row is seldom near both of its limits
            turn = select(near_high, splat(1.0), splat(-1.0))
            top = top_of(v0 * turn, v1 * turn, v2 * turn, v3 * turn, v4 * turn) + unsure
            over = select(near_high, top - high, over)
            under = select(near_high, under, top + low)
            if any_of(near_high & near_low):
                under = greater(under, top_of(-v0, -v1, -v2, -v3, -v4) + unsure + low)
            c0, c1, c2 = lanes(f, 2 * n), lanes(f, 5 * n), lanes(f, 8 * n)
            c3, c4 = lanes(f, 11 * n), lanes(f, 14 * n)
            if lossy != 0:  # half of what damping takes does not fall
                d = offset(path.damping, k - accelerations)
                c0 = c0 + lanes(d, 0) * (0.5 * r0)
                c1 = c1 + lanes(d, n) * (0.5 * sqrt(x1))
                c2 = c2 + lanes(d, 2 * n) * (0.5 * sqrt(x2))
                c3 = c3 + lanes(d, 3 * n) * (0.5 * sqrt(x3))
                c4 = c4 + lanes(d, 4 * n) * (0.5 * r4)
            exceeded = exceeded | mended(
                over,
                under,
                least(least(c0, c1), least(c2, least(c3, c4))),
                greater(greater(c0, c1), greater(c2, greater(c3, c4))),
                held,
                width,
                k,
            )
    share = 0.0
    for k in range(0, n, WIDTH):
        inverse = lanes(velocities, k)
        a0, a1, a2 = lanes(path.slopes, k), lanes(path.slopes, n + k), lanes(path.slopes, 2 * n + k)
        a3, a4 = lanes(path.slopes, 3 * n + k), lanes(path.slopes, 4 * n + k)
        e0, e1, e2 = a0 * a0 * inverse * x, a1 * a1 * inverse * x1, a2 * a2 * inverse * x2
        e3, e4 = a3 * a3 * inverse * x3, a4 * a4 * inverse * x4
        bend = greater(abs(e0 - 2.0 * e1 + e2), abs(e2 - 2.0 * e3 + e4))
        bend = greater(bend, abs(e1 - 2.0 * e2 + e3))
        near = greater(greater(e0, e1), greater(e2, greater(e3, e4))) + bend >= 1.0
        if any_of(near):
            unsure = UNSURE * fourth(e0, e1, e2, e3, e4)
            share = max(share, lane_max(top_of(e0, e1, e2, e3, e4) + unsure) - 1.0)
    if share > 0.0:
        kept = offset(held.worst, 0 if share > held.enough else OVER)
        kept[0] = max(kept[0], 0.5 * share)
        kept[WIDTH] = max(kept[WIDTH], share)
    if share > held.enough:
        exceeded = exceeded | 2
        slower = 1.0 - min(1.01 * share, 0.5)
        for part in range(5):
            fastest[part] = fastest[part] * slower
    return exceeded


@typed
def lossy_limits(path: Path, intervals: Intervals, limits: PtrF64, own: PtrF64) -> None:
    """Write the limits (n_intervals, 2, width) of each interval, less what friction takes.

    Where a joint turns back twice between two states, friction goes both ways too.
    """
    n = path.form[N]
    width = path.form[ACCELERATIONS] + path.form[FORCES]
    for i in range(intervals.n):
        low = offset(own, i * 2 * width)
        for k in range(0, 2 * width, WIDTH):
            put(low, k, lanes(limits, k))
        high = offset(low, width)
        for j in range(n):
            lowest_loss, highest_loss = HUGE, -HUGE
            for part in range(5):
                f = path.friction[(intervals.first[i] + part) * n + j]
                lowest_loss = min(lowest_loss, f)
                highest_loss = max(highest_loss, f)
            begin = path.slopes[intervals.first[i] * n + j]
            middle = path.slopes[(intervals.first[i] + 2) * n + j]
            end = path.slopes[(intervals.first[i] + 4) * n + j]
            bend, slope = begin - 2.0 * middle + end, end - begin
            if abs(slope) < 2.0 * abs(bend):
                turn = middle - 0.125 * slope * slope / bend  # the parabola that q' is
                if min(turn * begin, turn * end) < 0.0:
                    lowest_loss = min(lowest_loss, -highest_loss)
                    highest_loss = max(highest_loss, -lowest_loss)
            low[path.form[ACCELERATIONS] + j] -= lowest_loss
            high[path.form[ACCELERATIONS] + j] -= highest_loss


@typed
def least_time(
    path: Path,
    intervals: Intervals,
    n_states: I64,
    bounds: PtrF64,
    begin: F64,
    end: F64,
    rounds: I64,
    room: PtrF64,
    dirty: PtrI64,
    tight: PtrI64,
    x: PtrF64,
    u: PtrF64,
    worst: PtrF64,
    place: PtrI64,
) -> I64:
    """The quickest motion: x (n_intervals + 1,) and u (n_intervals,), an outcome and its place.

    ``form`` (4,): n; the widths of the rows of accelerations and of forces, n in whole blocks or 0;
    whether there are losses. ``slopes`` and ``bends`` (n_states, n): q', q''; ``forces`` (n_states,
    3, n): a, b, c; ``damping`` and ``friction`` (n_states, n): the losses at v = q', looked at
    where there are any. Behind these are WIDTH more finite numbers each. ``bounds``: `WIDTH`
    numbers for `write_ends`; n in whole blocks of 1 / v² of joints; (2, width): lowest and highest
    of the rows; (width,): one over the highest. ``room``: `room_of` numbers, which begin with a
    line of the cache, as rows do then; ``dirty`` and ``tight``: n_intervals.
    ``worst`` (3,): what was exceeded before the motion was slowed, the factor that it was slowed
    by, and the rounds taken.
    """
    form, n_intervals = path.form, intervals.n
    n, lossy = form[N], form[LOSSY]
    width = form[ACCELERATIONS] + form[FORCES]
    velocities = offset(bounds, WIDTH)
    limits = offset(velocities, (n + WIDTH - 1) // WIDTH * WIDTH)
    relative = offset(limits, 2 * width)
    rows = room
    blocks = 5 * width // WIDTH + 1
    work = offset(rows, n_intervals * blocks * BLOCK)
    fastest = offset(work, n_intervals * 2 * width)
    roots = offset(fastest, 5 * n_intervals + WIDTH)
    sets = offset(roots, 5 * n_intervals)
    rests = offset(sets, 2 * n_intervals + 2)
    quickest = offset(rests, 2 * n_intervals)  # at each state
    memory = Memory(work, tight, fastest, roots, sets, rests, rows, dirty)
    stride = 0  # of limits
    if lossy != 0:
        stride = 2 * width
        own = offset(quickest, n_states)
        lossy_limits(path, intervals, limits, own)
        limits = own
    for p in range(n_states):
        share = splat(1.0 / FASTEST)
        for k in range(0, n, WIDTH):
            a = lanes(path.slopes, p * n + k)
            share = greater(a * a * lanes(velocities, k), share)
        quickest[p] = 1.0 / lane_max(share)
    for i in range(n_intervals):
        dirty[i] = 1
        tight[i] = 0
        x[i + 1] = -1.0
        for part in range(5):
            fastest[5 * i + part] = quickest[intervals.first[i] + part]
            if lossy != 0:
                roots[5 * i + part] = sqrt(fastest[5 * i + part])
    put(fastest, 5 * n_intervals, splat(0.0))
    x[0] = -1.0
    outcome = DONE
    enough = EXACT if begin + end > 0.0 or lossy != 0 else ENOUGH
    held = True  # whether the robot is held at rest all along the path
    over = local_f64(BOTH)
    for k in range(0, BOTH, WIDTH):
        put(over, k, splat(0.0))
    worst[1] = 0.0
    worst[2] = 0.0
    for _turn in range(rounds):
        tightened = 1 if lossy == 0 and worst[2] > 0.0 else 0
        outcome = go_back(path, intervals, limits, memory, bounds, begin, end, place, tightened)
        if outcome != DONE:
            break
        if worst[2] == 0.0:
            for i in range(n_intervals):
                if rests[2 * i] > 0.0 or rests[2 * i + 1] < 0.0:
                    held = False
                    enough = EXACT
        moved = 0.0
        # every interval is judged again where there are losses, and mended once tangents are near
        for k in range(0, BOTH if lossy != 0 else OVER, WIDTH):
            put(over, k, splat(0.0))
        spared = enough if lossy == 0 or worst[2] >= ROUGH else HUGE
        other = x[0] != begin  # whether x is another than before
        x[0] = begin
        for k in range(n_intervals + 1):  # forwards; an interval is judged while the next is found
            if k < n_intervals and (dirty[k] != 0 or other):
                most = greatest_u(offset(rows, k * blocks * BLOCK), blocks, x[k])
                following = x[k] + 2.0 * intervals.steps[k] * most
                following = min(max(following, sets[2 * k + 2]), sets[2 * k + 3])
                other = following != x[k + 1]
                x[k + 1] = following
                u[k] = 0.5 * (following - x[k]) / intervals.steps[k]
                dirty[k] = 1
                if x[k] <= 0.0 and following <= 0.0:
                    outcome = NO_WAY
                    place[0] = k
                    break
            i = k - 1
            if k == 0 or dirty[i] == 0:
                continue
            own_limits, own_work = offset(limits, i * stride), offset(work, i * 2 * width)
            bound = Held(own_limits, own_work, offset(tight, i), relative, spared, over)
            states = from_state(path, intervals.first[i])
            step, own_fastest = intervals.steps[i], offset(fastest, 5 * i)
            dirty[i] = judge(states, bound, velocities, step, x[i], u[i], own_fastest)
            if lossy != 0:
                for part in range(5):
                    at = 5 * i + part
                    here = x[i] + 0.5 * f64(part) * intervals.steps[i] * u[i]
                    now = max(sqrt(max(here, 1e-8 * fastest[at])), 1e-150)
                    moved = max(moved, abs(now - roots[at]) / now)
                    roots[at] = now
                dirty[i] = 1
        if outcome != DONE:
            break
        worst[2] = worst[2] + 1.0
        worst[0] = lane_max(greater(lanes(over, 0), lanes(over, OVER)))
        worst[1] = lane_max(greater(lanes(over, WIDTH), lanes(over, OVER + WIDTH)))
        if worst[0] <= enough and moved < 1e-3:
            break
    if worst[2] == 0.0 or outcome == NO_WAY:
        return outcome
    if enough == EXACT:
        if worst[0] <= KEPT:
            return DONE
        if begin + end > 0.0 or not held or worst[1] > MOST:
            return NOT_KEPT
    # the rest by time, where limits were lowered too far that of the motion before: x and u fall
    # alike; what damping takes falls less
    if worst[1] > 0.0:
        slower = 1.0 / (1.0 + worst[1] * 1.05)
        for i in range(n_intervals):
            x[i] = x[i] * slower
            u[i] = u[i] * slower
        x[n_intervals] = x[n_intervals] * slower
    return DONE


def room_of(width: int, n_intervals: int, n_states: int) -> int:
    """The numbers that `least_time` needs room for; ``width``: of rows."""
    rows = 3 * (5 * width + WIDTH)
    return n_intervals * (4 * width + 14 + rows) + 2 + WIDTH + n_states
