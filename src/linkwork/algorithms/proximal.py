"""Symmetric systems of independent rows, which may be so only with what is ahead of them.

A x = b with A positive definite is solved by its factors. With unknowns ahead, in which the matrix
is negative definite and which are eliminated after the others, the part of the others may lack
rank by itself (a leg at a singularity under a platform). It takes E, a small diagonal: the
solution of (A + E) x' = b + E x comes a factor of about E / A nearer each time, and the last step
takes what is left of the equations, as iterative refinement does. A fixed number of operations, no
pivots.

Sources: the proximal point algorithm, R. T. Rockafellar, "Monotone operators and the proximal point
algorithm", SIAM J. Control and Optimization 14 (1976); N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed. (2002), chapter 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.tree_factor import Entries, TreeFactor, factor, solved
from linkwork.algorithms.triples import minus, negated, plus, times, total
from linkwork.ops.protocol import Ops

SHARE = 1.0e-8
"""The regularisation as a share of a diagonal entry, and of their mean: half of the digits."""


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
    small: list[Scalar] = [0.0] * n
    shifted = dict(entries)
    if ahead:
        held = range(ahead, n)
        diagonal = {k: entries.get((k, k), 0.0) for k in held}
        squares = {k: (scales[k - ahead] if scales else 1.0) ** 2 for k in held}
        compared = [times(squares[k], value) for k, value in diagonal.items()]
        floor = times(SHARE / max(n - ahead, 1), total(compared))
        for k in held:
            small[k] = added(times(SHARE, diagonal[k]), times(1.0 / squares[k], floor))
            shifted[k, k] = added(diagonal[k], small[k])
    return Proximal(entries, factor(shifted, n), small, ahead)


def regular(o: Ops, system: Proximal, sizes: Sequence[Scalar], least: float) -> Scalar:
    """1, or NaN where less than a share of its ``sizes`` is left of an unknown beside the others.

    With unknowns ahead nothing tells: 1.
    """
    valid: Scalar = 1.0
    if system.ahead:
        return valid
    for inverse, size in zip(system.factors.inverse, sizes, strict=True):
        share = times(negated(inverse), size)  # one over it, infinite or below 0 where none is left
        kept = o.both(o.less(0.0, share), o.less(share, o.const(1.0 / least)))
        valid = times(valid, o.select(kept, o.const(1.0), o.const(math.nan)))
    return valid


def settled(system: Proximal, right: list[Scalar]) -> list[Scalar]:
    """The x with A x = right."""
    x = solved(system.factors, right)
    if system.ahead:
        x = solved(system.factors, plus(right, list(map(times, system.small, x))))
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
