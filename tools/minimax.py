"""The minimax polynomial of the arctangent of compiled code.

    python tools/minimax.py            # prints its coefficients, and the largest error

Remez' exchange (E. Remez, 1934; see J.-M. Muller, "Elementary Functions", 3rd edition, section
3.6) in 60-digit arithmetic. The result is what stands in ``src/linkwork/compile/optable.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

DIGITS = 60
GRID = 600
ROUNDS = 8

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Task:
    """Approximate f(x) by a polynomial with ``terms`` coefficients; weigh the error by w(x)."""

    name: str
    f: Function
    w: Function
    low: Any
    high: Any
    terms: int


def chebyshev(low: Any, high: Any, n: int) -> list[Any]:
    """n points, denser towards the ends."""
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (n - 1)) for k in range(n)]


def solve_reference(task: Task, points: list[Any]) -> list[Any]:
    """The polynomial whose weighted error alternates, equally large, on the points."""
    n = task.terms
    a, rhs = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
    for i, x in enumerate(points):
        for j in range(n):
            a[i, j] = x**j
        a[i, n] = (-1) ** i / task.w(x)
        rhs[i] = task.f(x)
    solution = mp.lu_solve(a, rhs)
    return [solution[j] for j in range(n)]


def value(coefficients: list[Any], x: Any) -> Any:
    """Lowest power first."""
    return mp.polyval(coefficients[::-1], x)


def extrema(errors: list[Any], grid: list[Any], count: int) -> list[Any]:
    """The largest error of each run of one sign, the ``count`` that alternate best."""
    runs: list[int] = []
    for k, error in enumerate(errors):
        if runs and mp.sign(errors[runs[-1]]) == mp.sign(error):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = k
        else:
            runs.append(k)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return [grid[k] for k in runs]


def remez(task: Task) -> list[float]:
    """Coefficients, highest power first, rounded to float64."""
    grid = chebyshev(task.low, task.high, GRID)
    points = chebyshev(task.low, task.high, task.terms + 1)
    exact: list[Any] = []
    for _ in range(ROUNDS):
        exact = solve_reference(task, points)
        errors = [(value(exact, x) - task.f(x)) * task.w(x) for x in grid]
        found = extrema(errors, grid, task.terms + 1)
        if len(found) < task.terms + 1:
            break
        points = found
    return [float(c) for c in exact[::-1]]


def worst(task: Task, coefficients: list[float]) -> float:
    """The largest weighted error of the rounded coefficients, as a power of two."""
    lowest_first = [mp.mpf(c) for c in coefficients[::-1]]
    grid = chebyshev(task.low, task.high, GRID)
    return float(
        mp.log(max(abs((value(lowest_first, x) - task.f(x)) * task.w(x)) for x in grid), 2)
    )


def main() -> None:
    """Print the coefficients of the arctangent: (atan r - r) / r³ in z = r²."""
    with mp.workdps(DIGITS):

        def arctangent(z: Any) -> Any:
            r = mp.sqrt(z)
            with mp.extradps(40):
                return (mp.atan(r) - r) / r**3

        def weight(z: Any) -> Any:  # the error counts relative to the arctangent
            return z * mp.sqrt(z) / mp.atan(mp.sqrt(z))

        eighth = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.0001")
        task = Task("ATAN", arctangent, weight, mp.mpf(10) ** -9, eighth, 12)
        coefficients = remez(task)
        print(f"{task.name}: largest error 2^{worst(task, coefficients):.1f}")
        for c in coefficients:
            print(f"    {c!r},")


if __name__ == "__main__":
    main()
