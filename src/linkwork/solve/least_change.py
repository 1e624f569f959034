"""The least change of a step that keeps inequalities: a small quadratic program, compiled.

minimise 1/2 (x - x0)' H (x - x0) + s' R s / 2, where A x + s >= b and lower <= x <= upper.

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
from linkwork.compile.numpy_abi import address
from linkwork.compile.typed import F64, I64, PtrF64, PtrI64, library, offset, sqrt, typed

Floats = NDArray[np.float64]

SOFTNESS = 1.0e-9
"""The share of a row's own resistance by which it gives way, about."""
HARDNESS = 1.0e-12
"""The same of bounds, which keeps their equations regular."""
LEAST = 1.0e-14
"""The number added to it, so that a row of zeros does no harm."""
ENOUGH = 1.0e-12
"""The amount by which a row or bound may fall short of its number."""
NO_BOUND = 1.0e29
"""The size from which a bound is none."""

# A problem is one record of numbers: H (n, n) | A (m, n) | b (m) | lower (n) | upper (n) | x (n).
# Its rows are numbered: those of A, then the lower bounds, then the upper ones. ``active`` are the
# numbers of the rows that hold, at most n + m = p. In ``work``: H^-1 times each of these (p, n),
# their Gram matrix (p, p), room for its factor (p, p), their forces (p), trial forces (p), x0 (n).


@typed
def row_dot(n: I64, m: I64, record: PtrF64, i: I64, x: PtrF64) -> F64:
    """The product of row i with x."""
    if i >= m + n:
        return -x[i - m - n]
    if i >= m:
        return x[i - m]
    total = 0.0
    first = n * n + i * n
    for k in range(n):
        total += record[first + k] * x[k]
    return total


@typed
def shortfall(n: I64, m: I64, record: PtrF64, i: I64, x: PtrF64) -> F64:
    """The distance by which row i falls short of its number at x."""
    wanted = record[n * n + m * n + i]
    if i >= m + n:
        wanted = -wanted
    return wanted - row_dot(n, m, record, i, x)


@typed
def factor(n: I64, stride: I64, a: PtrF64) -> None:
    """Write the lower factor of a symmetric positive definite matrix in its place."""
    for j in range(n):
        for i in range(j, n):
            s = a[i * stride + j]
            for k in range(j):
                s -= a[i * stride + k] * a[j * stride + k]
            if i == j:
                a[i * stride + j] = sqrt(max(s, 1.0e-300))
            else:
                a[i * stride + j] = s / a[j * stride + j]


@typed
def solve_factored(n: I64, stride: I64, a: PtrF64, x: PtrF64) -> None:
    """Put the solution in the place of a right-hand side x, by the factor a."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= a[i * stride + k] * x[k]
        x[i] = s / a[i * stride + i]
    for back in range(n):
        i = n - 1 - back
        s = x[i]
        for k in range(i + 1, n):
            s -= a[k * stride + i] * x[k]
        x[i] = s / a[i * stride + i]


@typed
def worst_row(n: I64, m: I64, record: PtrF64, active: PtrI64, count: I64) -> I64:
    """The row that falls short the most, of those that are not active; -1 for none."""
    x = offset(record, n * n + m * n + m + 2 * n)
    worst = ENOUGH
    place = -1
    for i in range(m + 2 * n):
        short = shortfall(n, m, record, i, x)
        if short > worst and short < NO_BOUND:
            resting = True
            for a in range(count):
                if active[a] == i:
                    resting = False
            if resting:
                worst = short
                place = i
    return place


@typed
def add_row(
    n: I64, m: I64, softness: F64, record: PtrF64, work: PtrF64, active: PtrI64, count: I64, i: I64
) -> None:
    """Make row i active, the last of ``count`` + 1."""
    most = n + m
    way = offset(work, count * n)
    for k in range(n):
        way[k] = 0.0
    soft = HARDNESS
    if i >= m + n:
        way[i - m - n] = -1.0
    elif i >= m:
        way[i - m] = 1.0
    else:
        soft = softness
        for k in range(n):
            way[k] = record[n * n + i * n + k]
    solve_factored(n, n, record, way)
    active[count] = i
    gram = offset(work, most * n)
    for a in range(count + 1):
        entry = row_dot(n, m, record, active[a], way)
        gram[a * most + count] = entry
        gram[count * most + a] = entry
    gram[count * most + count] += soft * gram[count * most + count] + LEAST
    forces = offset(work, most * n + 2 * most * most)
    forces[count] = 0.0


@typed
def trial_forces(n: I64, m: I64, record: PtrF64, work: PtrF64, active: PtrI64, count: I64) -> F64:
    """Find the forces by which active rows hold exactly; the share of the way there that pushes."""
    most = n + m
    gram = offset(work, most * n)
    room = offset(gram, most * most)
    forces = offset(room, most * most)
    trial = offset(forces, most)
    start = offset(trial, most)
    for a in range(count):
        trial[a] = shortfall(n, m, record, active[a], start)
        for b in range(count):
            room[a * most + b] = gram[a * most + b]
    factor(count, most, room)
    solve_factored(count, most, room, trial)
    share = 1.0
    for a in range(count):
        if trial[a] <= 0.0 and forces[a] > trial[a]:
            share = min(share, forces[a] / (forces[a] - trial[a]))
    return share


@typed
def drop_row(n: I64, m: I64, work: PtrF64, active: PtrI64, count: I64, place: I64) -> None:
    """Take away the active row of a place; those behind it move up."""
    most = n + m
    gram = offset(work, most * n)
    forces = offset(gram, 2 * most * most)
    trial = offset(forces, most)
    for a in range(place, count - 1):
        active[a] = active[a + 1]
        forces[a] = forces[a + 1]
        trial[a] = trial[a + 1]
        for k in range(n):
            work[a * n + k] = work[(a + 1) * n + k]
        for b in range(count):
            gram[a * most + b] = gram[(a + 1) * most + b]
    for a in range(place, count - 1):
        for b in range(count - 1):
            gram[b * most + a] = gram[b * most + a + 1]


@typed
def balance(n: I64, m: I64, record: PtrF64, work: PtrF64, active: PtrI64, count: I64) -> I64:
    """Find forces of active rows, none of them pulling; how many stay active."""
    most = n + m
    forces = offset(work, most * n + 2 * most * most)
    trial = offset(forces, most)
    left = count
    whole = False
    while left > 0 and not whole:
        share = trial_forces(n, m, record, work, active, left)
        whole = True
        a = 0
        while a < left:
            force = forces[a] + share * (trial[a] - forces[a])
            if trial[a] <= 0.0 and force <= LEAST * abs(trial[a]):
                drop_row(n, m, work, active, left, a)
                left -= 1
                whole = False
            else:
                forces[a] = max(force, 0.0)
                a += 1
    return left


@typed
def least_change(
    n: I64, m: I64, softness: F64, record: PtrF64, work: PtrF64, active: PtrI64
) -> I64:
    """Change x, where x0 stands, as little as may be; how many rows were made active.

    H is overwritten by its factor.
    """
    most = n + m
    lower = offset(record, n * n + m * n + m)
    x = offset(lower, 2 * n)
    forces = offset(work, most * n + 2 * most * most)
    start = offset(forces, 2 * most)
    for k in range(n):
        start[k] = x[k]
    factor(n, n, record)
    count = 0
    exchanges = 0
    place = worst_row(n, m, record, active, count)
    while place >= 0 and count < most and exchanges < 4 * most + 8:
        exchanges += 1
        add_row(n, m, softness, record, work, active, count, place)
        count = balance(n, m, record, work, active, count + 1)
        for k in range(n):
            x[k] = start[k]
            for a in range(count):
                x[k] += forces[a] * work[a * n + k]
        place = worst_row(n, m, record, active, count)
    for k in range(n):
        x[k] = min(max(x[k], lower[k]), lower[n + k])
    return exchanges


@typed
def least_changes(
    count: I64, n: I64, m: I64, softness: F64, records: PtrF64, work: PtrF64, active: PtrI64
) -> I64:
    """`least_change` of several, one after the other; how many rows were made active."""
    total = 0
    for i in range(count):
        record = offset(records, i * (n * n + m * n + m + 3 * n))
        total += least_change(n, m, softness, record, work, active)
    return total


class LeastChange:
    """The compiled solver, for rows of any batch."""

    def __init__(self, compiler: Compiler) -> None:
        self._code = library([least_changes], compiler, "the least change of a step")
        whole, pointer = ctypes.c_int64, ctypes.c_void_p
        kinds = [whole] * 3 + [ctypes.c_double] + [pointer] * 3
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
        records = np.concatenate(
            [H.reshape(count, -1), rows.reshape(count, -1), wanted, *ends, x0], axis=1
        )
        work, active = np.empty(work_size(n, m)), np.empty(n + m, dtype=np.int64)
        arrays = [address(each) for each in (records, work, active)]
        self._call(count, n, m, SOFTNESS, *arrays)
        return np.ascontiguousarray(records[:, -n:])


def work_size(n: int, m: int) -> int:
    """The numbers of scratch that a problem takes."""
    most = n + m
    return most * n + 2 * most * most + 2 * most + n
