"""Symmetric systems that may have no more rank than some of their rows: redundant loops.

A x = b with A positive semidefinite and b in its range, as sums of squares give it. Each step
solves (A + E) x' = b + E x, E a small diagonal: what A determines of x comes a factor of about
E / A nearer each time, and what it does not determine stays zero, so x is the least one where
each number is measured by the root of its diagonal entry. A fixed number of operations, no pivots.

Source: the proximal point algorithm, R. T. Rockafellar, "Monotone operators and the proximal point
algorithm", SIAM J. Control and Optimization 14 (1976).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.tree_factor import Entries, TreeFactor, factor, solved
from linkwork.algorithms.triples import plus, times, total

SHARE = 1.0e-8
"""Of a diagonal entry: half of the digits, which is what rank is told by."""
_FLOOR = 1.0e-16
"""Of the mean diagonal entry: for rows that are zero."""
_STEPS = 3


class Proximal(NamedTuple):
    """The factors of A + E, and E."""

    factors: TreeFactor
    small: list[Scalar]


def proximal(entries: Entries, n: int) -> Proximal:
    """A system in factors: ``entries`` (i, j) with i >= j of A (n, n)."""
    diagonal = [entries.get((k, k), 0.0) for k in range(n)]
    floor = times(_FLOOR / max(n, 1), total(diagonal))
    small = [added(times(SHARE, x), floor) for x in diagonal]
    shifted = dict(entries)
    for k in range(n):
        shifted[k, k] = added(diagonal[k], small[k])
    return Proximal(factor(shifted, n), small)


def settled(system: Proximal, right: list[Scalar]) -> list[Scalar]:
    """The least x with A x = right."""
    x = solved(system.factors, right)
    for _ in range(_STEPS - 1):
        x = solved(system.factors, plus(right, list(map(times, system.small, x))))
    return x
