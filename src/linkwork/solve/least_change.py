"""The least change of a step that keeps inequalities: a small quadratic program, compiled.

minimise 1/2 (x - x0)' H (x - x0) + 1/2 s' s / softness, where A x + s >= b and lower <= x <= upper.

The rows of A are soft, so that there is always an answer: what they fall short of, s, is next to
nothing where there is room, and the least where there is none. Bounds hold exactly.

Source: the dual is a least squares problem of nonnegative numbers, solved by its active set
(C. Lawson and R. Hanson, "Solving Least Squares Problems", 1974, chapter 23): exact after finitely
many exchanges.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.typed import F64, I64, PtrF64, PtrI64, library, offset, sqrt, typed

Floats = NDArray[np.float64]

SOFTNESS = 1.0e-9
"""The share of a row's own resistance by which it gives way, about."""
_HARDNESS = 1.0e-12
"""The same of bounds, which keeps their equations regular."""
_ENOUGH = 1.0e-12
"""What a row or bound may fall short of its number by."""
_NONE = 1.0e29
"""Bounds beyond this are none."""


@typed
def row_dot(n: I64, i: I64, m: I64, rows: PtrF64, x: PtrF64) -> F64:
    """The product of x with row i: of A, then 1 for each lower, then -1 for each upper bound."""
    if i >= m + n:
        return -x[i - m - n]
    if i >= m:
        return x[i - m]
    total = 0.0
    for k in range(n):
        total += rows[i * n + k] * x[k]
    return total


@typed
def shortfall(
    n: I64, i: I64, m: I64, rows: PtrF64, wanted: PtrF64, lower: PtrF64, upper: PtrF64, x: PtrF64
) -> F64:
    """What row i falls short of its number by at x."""
    if i >= m + n:
        return x[i - m - n] - upper[i - m - n]
    if i >= m:
        return lower[i - m] - x[i - m]
    return wanted[i] - row_dot(n, i, m, rows, x)


@typed
def factored(n: I64, a: PtrF64, stride: I64) -> None:
    """The lower factor of a symmetric positive definite matrix, in its place."""
    for j in range(n):
        pivot = a[j * stride + j]
        for k in range(j):
            pivot -= a[j * stride + k] * a[j * stride + k]
        pivot = sqrt(max(pivot, 1.0e-300))
        a[j * stride + j] = pivot
        for i in range(j + 1, n):
            s = a[i * stride + j]
            for k in range(j):
                s -= a[i * stride + k] * a[j * stride + k]
            a[i * stride + j] = s / pivot


@typed
def solved(n: I64, factor: PtrF64, stride: I64, x: PtrF64) -> None:
    """The solution for a right-hand side x, in its place."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= factor[i * stride + k] * x[k]
        x[i] = s / factor[i * stride + i]
    for back in range(n):
        i = n - 1 - back
        s = x[i]
        for k in range(i + 1, n):
            s -= factor[k * stride + i] * x[k]
        x[i] = s / factor[i * stride + i]


@typed
def least_change(
    n: I64,
    m: I64,
    H: PtrF64,
    rows: PtrF64,
    wanted: PtrF64,
    lower: PtrF64,
    upper: PtrF64,
    softness: F64,
    x: PtrF64,
    work: PtrF64,
    active: PtrI64,
) -> I64:
    """Change x (n,), where x0 stands, as little as may be; how many exchanges it took.

    H (n, n) is overwritten. ``work`` has `work_size` numbers, ``active`` n + m.
    """
    most = n + m
    ways = work  # (most, n): H^-1 times the active rows
    gram = offset(work, most * n)  # (most, most)
    factor = offset(gram, most * most)
    force = offset(factor, most * most)  # (most,), of the active rows
    trial = offset(force, most)
    start = offset(trial, most)  # (n,)
    factored(n, H, n)
    for k in range(n):
        start[k] = x[k]
    count = 0
    exchanges = 0
    while exchanges < 4 * most + 8:
        worst = _ENOUGH
        place = -1
        for i in range(m + n + n):
            short = shortfall(n, i, m, rows, wanted, lower, upper, x)
            resting = True
            for a in range(count):
                if active[a] == i:
                    resting = False
            if resting and short > worst and short < _NONE:
                worst = short
                place = i
        if place < 0 or count == most:
            break
        exchanges += 1
        way = offset(ways, count * n)
        for k in range(n):
            way[k] = 0.0
        if place >= m + n:
            way[place - m - n] = -1.0
        elif place >= m:
            way[place - m] = 1.0
        else:
            for k in range(n):
                way[k] = rows[place * n + k]
        solved(n, H, n, way)
        active[count] = place
        force[count] = 0.0
        for a in range(count + 1):
            entry = row_dot(n, active[a], m, rows, way)
            gram[a * most + count] = entry
            gram[count * most + a] = entry
        soft = _HARDNESS
        if place < m:
            soft = softness
        gram[count * most + count] += soft * gram[count * most + count] + 1.0e-14
        count += 1
        inner = 0
        while count > 0 and inner < most:
            inner += 1
            for a in range(count):
                trial[a] = shortfall(n, active[a], m, rows, wanted, lower, upper, start)
                for b in range(count):
                    factor[a * most + b] = gram[a * most + b]
            factored(count, factor, most)
            solved(count, factor, most, trial)
            share = 1.0
            for a in range(count):
                if trial[a] <= 0.0 and force[a] - trial[a] > 0.0:
                    share = min(share, force[a] / (force[a] - trial[a]))
            kept = 0
            for a in range(count):
                value = force[a] + share * (trial[a] - force[a])
                gone = trial[a] <= 0.0 and value <= 1.0e-14 * abs(trial[a])
                if not gone:
                    force[kept] = max(value, 0.0)
                    if kept < a:
                        active[kept] = active[a]
                        for k in range(n):
                            ways[kept * n + k] = ways[a * n + k]
                        for b in range(count):
                            gram[kept * most + b] = gram[a * most + b]
                        for b in range(count):
                            gram[b * most + kept] = gram[b * most + a]
                    kept += 1
            whole = kept == count
            count = kept
            if whole:
                break
        for k in range(n):
            total = start[k]
            for a in range(count):
                total += force[a] * ways[a * n + k]
            x[k] = total
    for k in range(n):
        x[k] = min(max(x[k], lower[k]), upper[k])
    return exchanges


@typed
def least_changes(
    count: I64,
    n: I64,
    m: I64,
    H: PtrF64,
    rows: PtrF64,
    wanted: PtrF64,
    lower: PtrF64,
    upper: PtrF64,
    softness: F64,
    x: PtrF64,
    work: PtrF64,
    active: PtrI64,
) -> I64:
    """`least_change` of several, one after the other; how many exchanges they took."""
    total = 0
    for i in range(count):
        total += least_change(
            n,
            m,
            offset(H, i * n * n),
            offset(rows, i * m * n),
            offset(wanted, i * m),
            offset(lower, i * n),
            offset(upper, i * n),
            softness,
            offset(x, i * n),
            work,
            active,
        )
    return total


def work_size(n: int, m: int) -> int:
    """The numbers of scratch that `least_change` takes."""
    most = n + m
    return most * n + 2 * most * most + 2 * most + n


class LeastChange:
    """The compiled solver, for rows of any batch."""

    def __init__(self, compiler: Compiler) -> None:
        self._code = library([least_changes], compiler, "the least change of a step")
        whole, number, pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
        kinds = [whole] * 3 + [pointer] * 5 + [number] + [pointer] * 3
        self._call: Callable[..., int] = ctypes.CFUNCTYPE(whole, *kinds)(
            self._code.address("least_changes")
        )

    def __call__(
        self, H: Floats, rows: Floats, wanted: Floats, x0: Floats, ends: tuple[Floats, Floats]
    ) -> Floats:
        """The nearest x (N, n) to x0 (N, n) by H (N, n, n) with rows (N, m, n) x >= wanted (N, m).

        ``ends`` are the lower and upper bounds (N, n), which hold exactly.
        """
        count, m, n = rows.shape
        lower, upper = (np.ascontiguousarray(end) for end in ends)
        given = [np.array(H), np.ascontiguousarray(rows), np.ascontiguousarray(wanted)]
        x = np.array(x0)
        work, active = np.empty(work_size(n, m)), np.empty(n + m, dtype=np.int64)
        arrays = [each.ctypes.data for each in (*given, lower, upper)]
        last = [each.ctypes.data for each in (x, work, active)]
        self._call(count, n, m, *arrays, SOFTNESS, *last)
        return x
