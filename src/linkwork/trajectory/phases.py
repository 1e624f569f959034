"""Phases of constant jerk, each joint its own, as polynomials that all joints share: compiled."""

from __future__ import annotations

from linkwork.compile.typed import F64, I64, PtrF64, offset, typed

SAME = 1e-12
"""Instants nearer than this share of the whole time are one."""


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
        k = 0
        for part in range(count - 1):
            t = times[part + 1] - times[part]
            middle = times[part] + 0.5 * t
            while k < phases and own[k] <= middle:
                k += 1
            j = jerk[k] if k < phases else 0.0
            out = offset(cubics, part * 4 * n + i)
            out[0] = s
            out[n] = v
            out[2 * n] = 0.5 * a
            out[3 * n] = j / 6.0
            s = s + t * (v + t * (0.5 * a + t * j / 6.0))
            v = v + t * (a + 0.5 * t * j)
            a = a + t * j
    return count
