"""Phases of constant jerk, each joint its own, as polynomials that all joints share: compiled."""

from __future__ import annotations

from linkwork.compile.typed import F64, I64, PtrF64, f64, i64, offset, sqrt, typed

SAME = 2e-15
"""Instants nearer than this share of the whole time are one."""
PHASES = 7
"""Phases of a motion from rest to rest: jerk, none, -jerk, none, -jerk, none, jerk."""
SIXTH = 1.0 / 6.0
LARGEST = 1e200
"""The bound on given numbers, below which their products are finite."""
NEWTON = 60
"""Steps of Newton's method at most; it takes some five."""


@typed
def write_knots(n: I64, phases: I64, spans: PtrF64, last: F64, times: PtrF64) -> I64:
    """Write where any phase ends, in order, from 0 to ``last``; how many instants these are.

    ``spans`` (n, phases): how long each takes; they become the instants at which they end.
    ``times``: room for n phases + 2.
    """
    times[0] = 0.0
    count = 1
    for i in range(n):
        own = offset(spans, i * phases)
        t = 0.0
        for k in range(phases):
            t = t + own[k]
            own[k] = t
            if not t < last:
                continue
            at = count
            while at > 0 and times[at - 1] > t:
                times[at] = times[at - 1]
                at -= 1
            times[at] = t
            count += 1
    kept = 1
    for k in range(1, count):
        if times[k] - times[kept - 1] > SAME * last and last - times[k] > SAME * last:
            times[kept] = times[k]
            kept += 1
    if last > 0.0:
        times[kept] = last
        kept += 1
    return kept


@typed
def write_cubics(
    n: I64,
    phases: I64,
    ends: PtrF64,
    jerks: PtrF64,
    states: PtrF64,
    count: I64,
    times: PtrF64,
    cubics: PtrF64,
) -> I64:
    """Write the cubics (count - 1, 4, n) between instants, from states (3, n) at the first.

    ``ends`` and ``jerks`` (n, phases): of each joint; after the last one its jerk is zero.
    """
    for i in range(n):
        own, jerk = offset(ends, i * phases), offset(jerks, i * phases)
        s, v, a = states[i], states[n + i], states[2 * n + i]
        k, j, last = 0, jerk[0], own[0]
        for part in range(count - 1):
            t = times[part + 1] - times[part]
            middle = times[part] + 0.5 * t
            while k < phases and last <= middle:
                k += 1
                j = jerk[k] if k < phases else 0.0
                last = own[k] if k < phases else last
            out = offset(cubics, part * 4 * n + i)
            bend, half = j * SIXTH, 0.5 * a
            out[0] = s
            out[n] = v
            out[2 * n] = half
            out[3 * n] = bend
            s = s + t * (v + t * (half + t * bend))
            v = v + t * (a + 0.5 * t * j)
            a = a + t * j
    return count


@typed
def third_root(x: F64) -> F64:
    """The cube root of a number above 0: x^(1/4 + 1/16 + ...), then Newton's method."""
    part = sqrt(sqrt(x))
    root = part
    for _ in range(4):
        part = sqrt(sqrt(part))
        root = root * part
    for _ in range(5):
        root = root - (root - x / (root * root)) / 3.0
    return root


@typed
def speeding_up(v: F64, a: F64, j: F64) -> F64:
    """The least time from rest to a velocity v without acceleration."""
    return v / a + a / j if v * j >= a * a else 2.0 * sqrt(v / j)


@typed
def peak_velocity(h: F64, v: F64, a: F64, j: F64) -> F64:
    """The greatest velocity of the quickest motion over a way h > 0: v, or where it turns back."""
    peak = 0.5 * a * (sqrt(a / j * (a / j) + 4.0 * h / a) - a / j)
    if peak * j < a * a:
        root = third_root(0.5 * h * sqrt(j))
        peak = root * root
    return min(v, peak)


@typed
def velocity_for(h: F64, last: F64, peak: F64, a: F64, j: F64) -> F64:
    """The velocity, up to ``peak``, with which a way h > 0 takes the time ``last``.

    That is h/v + `speeding_up` (v) = last, of which the smaller solution has the constant velocity.
    """
    b = last - a / j
    square = b * b - 4.0 * h / a
    if b > 0.0 and square >= 0.0:
        v = 2.0 * h / (b + sqrt(square))
        if v * j >= a * a:
            return min(v, peak)
    w = sqrt(h / last)  # the root of v: from below Newton's method rises to the solution
    c = 2.0 / sqrt(j)
    for _ in range(NEWTON):
        slope = c - 2.0 * h / (w * w * w)
        if not slope < 0.0:
            break
        step = (last - h / (w * w) - c * w) / slope
        if not step > 1e-16 * w:
            break
        w = w + step
    return min(w * w, peak)


N, LEAST, STRIDES, WORK = 0, 1, 2, 5
"""Places in the room of `rest_to_rest`: how many joints, the least time, whether each limit has one
number a joint (1) or one for all (0); then 17 n numbers to work in."""


@typed
def rest_to_rest(
    _row: I64,
    _rows: I64,
    start: PtrF64,
    goal: PtrF64,
    velocity: PtrF64,
    acceleration: PtrF64,
    jerk: PtrF64,
    room: PtrF64,
    times: PtrF64,
    cubics: PtrF64,
    found: PtrF64,
    _nothing: PtrF64,
) -> I64:
    """Write the quickest motion from rest to rest; ``found``: its instants, 0 for bad numbers.

    ``times`` and ``cubics`` (found - 1, 4, n): room for 7 n + 2 instants. The arguments are those
    of a `compile.native_call.row_call`.
    """
    n, last = i64(room[N]), room[LEAST]
    every_v, every_a = i64(room[STRIDES]), i64(room[STRIDES + 1])
    every_j = i64(room[STRIDES + 2])
    states = offset(room, WORK)
    spans = offset(states, 3 * n)
    jerks = offset(spans, PHASES * n)
    found[0] = 0.0
    if not (last >= 0.0 and last < LARGEST):
        return -1
    for i in range(n):
        v, a, j = velocity[i * every_v], acceleration[i * every_a], jerk[i * every_j]
        if not (abs(start[i]) < LARGEST and abs(goal[i]) < LARGEST):
            return -1
        if not (v > 0.0 and a > 1.0 / LARGEST and j > 1.0 / LARGEST):
            return -1
        if not (v < LARGEST and a < LARGEST and j < LARGEST):
            return -1
        states[i] = start[i]
        states[n + i] = 0.0
        h = abs(goal[i] - start[i])
        if h > 0.0:
            peak = peak_velocity(h, v, a, j)
            states[2 * n + i] = peak
            last = max(last, h / peak + speeding_up(peak, a, j))
    for i in range(n):
        way = goal[i] - start[i]
        h = abs(way)
        a, j = acceleration[i * every_a], jerk[i * every_j]
        own, bend = offset(spans, PHASES * i), offset(jerks, PHASES * i)
        for k in range(PHASES):
            own[k] = 0.0
            bend[k] = 0.0
        if h > 0.0:
            v = velocity_for(h, last, states[2 * n + i], a, j)
            rise = a / j if v * j >= a * a else sqrt(v / j)
            flat = max(v / (j * rise) - rise, 0.0)
            own[0], own[1], own[2] = rise, flat, rise
            own[3] = max(last - 4.0 * rise - 2.0 * flat, 0.0)
            own[4], own[5], own[6] = rise, flat, rise
            # what rounding has left over goes into the jerk
            exact = way / (rise * (rise + flat) * (last - 2.0 * rise - flat))
            bend[0], bend[2], bend[4], bend[6] = exact, -exact, -exact, exact
        states[2 * n + i] = 0.0
    count = write_knots(n, PHASES, spans, last, times)
    write_cubics(n, PHASES, spans, jerks, states, count, times, cubics)
    found[0] = f64(count)
    return -1
