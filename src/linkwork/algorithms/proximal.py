"""Symmetric systems that may have no more rank than some of their rows: redundant loops.

A x = b with A positive semidefinite and b in its range, as sums of squares give it. Each step
solves (A + E) x' = b + E x, E a small diagonal: what A determines of x comes a factor of about
E / A nearer each time, and what it does not determine stays zero, so x is the least one where
each number is measured by the root of its diagonal entry. A fixed number of operations, no pivots.

There may be unknowns ahead of these, in which the matrix is negative definite and takes no E; they
are eliminated after the others. Rows that the others hardly determine then divide by little, and
spoil digits of what comes after them: the last step takes what is left of the equations, as
iterative refinement does, which mends it.

Sources: the proximal point algorithm, R. T. Rockafellar, "Monotone operators and the proximal point
algorithm", SIAM J. Control and Optimization 14 (1976); N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed. (2002), chapter 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.tree_factor import Entries, TreeFactor, factor, solved
from linkwork.algorithms.triples import minus, plus, times, total

SHARE = 1.0e-8
"""Of a diagonal entry: half of the digits, which is what rank is told by."""
_FLOOR = 1.0e-16
"""Of the mean diagonal entry: for rows that are zero."""
_FLOOR_BEFORE = 1.0e-8
"""The same where unknowns are ahead, whose factors a small divisor would spoil."""
STEPS = 3
"""As many as take 1e-8 of what is determined well to nothing, and 1e-4 to 1e-12."""


class Proximal(NamedTuple):
    """A matrix, the factors of what it is with E, and E."""

    entries: Entries
    factors: TreeFactor
    small: list[Scalar]
    ahead: int
    """How many unknowns take no E."""


def proximal(
    entries: Entries, n: int, ahead: int = 0, scales: Sequence[float] | None = None
) -> Proximal:
    """A system in factors: ``entries`` (i, j) with i >= j of the matrix (n, n).

    ``scales``: what each equation after the ``ahead`` is multiplied by to be compared with others.
    """
    held = range(ahead, n)
    diagonal = {k: entries.get((k, k), 0.0) for k in held}
    share = _FLOOR_BEFORE if ahead else _FLOOR
    squares = {k: (scales[k - ahead] if scales else 1.0) ** 2 for k in held}
    compared = [times(squares[k], value) for k, value in diagonal.items()]
    floor = times(share / max(n - ahead, 1), total(compared))
    small: list[Scalar] = [0.0] * n
    shifted = dict(entries)
    for k in held:
        small[k] = added(times(SHARE, diagonal[k]), times(1.0 / squares[k], floor))
        shifted[k, k] = added(diagonal[k], small[k])
    return Proximal(entries, factor(shifted, n), small, ahead)


def settled(system: Proximal, right: list[Scalar], steps: int = STEPS) -> list[Scalar]:
    """The least x with A x = right; by one step it is as near as E is small."""
    x = solved(system.factors, right)
    mended = int(system.ahead > 0 and steps > 1)
    for _ in range(steps - 1 - mended):
        x = solved(system.factors, plus(right, list(map(times, system.small, x))))
    for _ in range(mended):
        left = minus(right, _product(system.entries, x))
        x = plus(x, solved(system.factors, left))
    return x


def _product(entries: Entries, x: list[Scalar]) -> list[Scalar]:
    found: list[Scalar] = [0.0] * len(x)
    for (i, j), value in entries.items():
        found[i] = added(found[i], times(value, x[j]))
        if i != j:
            found[j] = added(found[j], times(value, x[i]))
    return found
