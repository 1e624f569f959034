"""The pseudo-inverse of a sparse matrix that may lack rank: A = Q R, and a basis N of A x = 0.

Columns of A are made orthogonal one after the other; R is upper triangular with ones. A column of
which only rounding is left beside those before it adds no rank: it takes no part in Q, its row of R
is zero, and it gives a vector of N. With these, the Moore-Penrose inverse is

    A⁺ = (1 - N N⁺) R⁻¹ Q⁺,

whatever the rank: without the square of A's condition, which normal equations have, and without a
small number on a diagonal, which would have a unit. No roots, and what structure leaves out stays
out.

Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), sections 5.2.8
(modified Gram-Schmidt) and 5.5.6 (basic and least solutions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from linkwork.algorithms.vector3 import Scalar, added, is_zero, less, negated, times, total
from linkwork.ops.protocol import Ops

Sparse = dict[int, Scalar]
"""A vector: its entries that structure does not leave out."""

RANK = 1.0e-9
"""The share of a column's length that has to be left beside the columns before it."""


class Orthogonal(NamedTuple):
    """Vectors that are orthogonal to each other, and one over the square of each one's length.

    Zero in place of the latter where a vector does not count.
    """

    vectors: list[Sparse]
    inverses: list[Scalar]


class OrthogonalFactors(NamedTuple):
    """Q, R and N of one matrix."""

    Q: Orthogonal
    R: list[Sparse]
    """Its rows, right of the diagonal."""
    N: Orthogonal
    rank: Scalar


def orthogonal_factors(
    o: Ops,
    columns: Sequence[Sparse],
    *,
    may_lack_rank: bool,
    share: float = RANK,
    lengths: Sequence[Scalar] | None = None,
) -> OrthogonalFactors:
    """The factors of the matrix with these columns.

    ``may_lack_rank``: else N is left out, and solutions hold at full rank alone. ``lengths``:
    squared lengths that rank is told by, where columns are themselves left of longer ones.
    """
    if lengths is None:
        lengths = [squared(column) for column in columns]
    Q, kept = Orthogonal([], []), list[Scalar]()
    R: list[Sparse] = [{} for _ in columns]
    for k, column in enumerate(columns):
        left = dict(column)
        for j in range(k):
            part = times(dot(Q.vectors[j], left), Q.inverses[j])
            if not is_zero(part):
                R[j][k] = part
                left = plus_scaled(left, Q.vectors[j], negated(part))
        counts = _counts(o, lengths[k], squared(left), share)
        kept.append(counts)
        Q.vectors.append(left)
        Q.inverses.append(_inverse(counts, squared(left)))
    N = Orthogonal([], [])
    if may_lack_rank:
        for k, counts in enumerate(kept):
            own = less(1.0, counts)
            vector = across(N, _null_vector(R, k, own))
            N.vectors.append(vector)
            N.inverses.append(_inverse(own, squared(vector)))
    return OrthogonalFactors(Q, R, N, total(kept))


def _counts(o: Ops, before: Scalar, left: Scalar, share: float) -> Scalar:
    """Whether what is left of a column counts, by squared lengths: 1 or 0."""
    if is_zero(left):
        return 0.0
    counts = o.less(times(share * share, before), left)
    # a sum: CasADi takes products into a choice between a value and zero, again and again
    return o.select(counts, o.const(2.0), o.const(1.0)) - 1.0


def _inverse(counts: Scalar, length: Scalar) -> Scalar:
    """One over a squared length where it counts, else 0."""
    return 0.0 if is_zero(counts) else counts / added(length, less(1.0, counts))


def _null_vector(R: list[Sparse], k: int, own: Scalar) -> Sparse:
    """The x with R x = 0 of which x_k is ``own`` and all after it are 0."""
    x: Sparse = {k: own}
    for j in range(k - 1, -1, -1):
        value = negated(dot(R[j], x))
        if not is_zero(value):
            x[j] = value
    return x


def solved_least(by: OrthogonalFactors, right: Mapping[int, Scalar]) -> Sparse:
    """The least x of those with the least |A x - right|: A⁺ right."""
    left, x = dict(right), Sparse()
    shares: list[Scalar] = []
    for q, inverse in zip(*by.Q, strict=True):
        shares.append(times(dot(q, left), inverse))
        left = plus_scaled(left, q, negated(shares[-1]))
    for k in range(len(shares) - 1, -1, -1):
        x[k] = less(shares[k], dot(by.R[k], x))
    return across(by.N, x)


def solved_transposed(by: OrthogonalFactors, right: Mapping[int, Scalar]) -> Sparse:
    """The least f of those with the least |Aᵀ f - right|: (A⁺)ᵀ right."""
    left, f = across(by.N, right), Sparse()
    for k, (q, inverse) in enumerate(zip(*by.Q, strict=True)):
        share = left.get(k, 0.0)
        left = plus_scaled(left, by.R[k], negated(share))
        f = plus_scaled(f, q, times(inverse, share))
    return f


def across(basis: Orthogonal, vector: Mapping[int, Scalar]) -> Sparse:
    """The part of a vector that is across all of some that are orthogonal to each other."""
    left = dict(vector)
    for each, inverse in zip(*basis, strict=True):
        left = plus_scaled(left, each, negated(times(dot(each, left), inverse)))
    return left


def dot(a: Mapping[int, Scalar], b: Mapping[int, Scalar]) -> Scalar:
    """The inner product of two vectors."""
    return total([times(x, b[k]) for k, x in a.items() if k in b])


def squared(a: Mapping[int, Scalar]) -> Scalar:
    """The squared length of a vector."""
    return dot(a, a)


def plus_scaled(a: Mapping[int, Scalar], b: Mapping[int, Scalar], factor: Scalar) -> Sparse:
    """``a + factor b``."""
    found = dict(a)
    for k, x in b.items():
        value = added(found.get(k, 0.0), times(x, factor))
        if not is_zero(value):
            found[k] = value
    return found
