"""A symmetric matrix with the pattern of a tree, in factors: M = Lᵀ D L, L lower with ones.

Elimination begins at the leaves, so nothing fills that the tree leaves empty.

Source: R. Featherstone, "Efficient factorization of the joint-space inertia matrix for branched
kinematic trees", Int. J. Robotics Research 24 (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from linkwork.algorithms.vector3 import Scalar, added, is_zero, less, negated, times

Entries = dict[tuple[int, int], Scalar]
"""A symmetric matrix: its entries (i, j) with i >= j that are not zero by structure."""


class TreeFactor(NamedTuple):
    """Row by row what stands left of the diagonal of -L, and minus one over D.

    Signs are such that a reciprocal is shared: CasADi makes ``x / d`` of ``x * (1 / d)``.
    """

    rows: list[dict[int, Scalar]]
    inverse: list[Scalar]


def factor(entries: Entries, n: int) -> TreeFactor:
    """The factors of a positive definite matrix (n, n)."""
    rows: list[dict[int, Scalar]] = [{} for _ in range(n)]
    diagonal: list[Scalar] = [0.0] * n
    for (i, j), value in entries.items():
        if i == j:
            diagonal[i] = value
        else:
            rows[i][j] = value
    inverse: list[Scalar] = [0.0] * n
    for k in range(n - 1, -1, -1):
        inverse[k] = -1.0 / diagonal[k]
        own = sorted(rows[k].items())
        rows[k] = {i: times(value, inverse[k]) for i, value in own}
        for i, value in own:
            for j in [j for j, _ in own if j < i]:
                rows[i][j] = added(rows[i].get(j, 0.0), times(value, rows[k][j]))
            diagonal[i] = added(diagonal[i], times(value, rows[k][i]))
    return TreeFactor(rows, inverse)


def solved(found: TreeFactor, right: list[Scalar]) -> list[Scalar]:
    """The solution x of M x = right."""
    return out_of_half(found, half_solved(found, dict(enumerate(right))))


def half_solved(found: TreeFactor, right: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """L⁻ᵀ right, from the leaves on; what structure leaves zero is left out."""
    x = dict(right)
    for k in range(len(found.rows) - 1, -1, -1):
        if k in x:
            for j, value in found.rows[k].items():
                x[j] = added(x.get(j, 0.0), times(value, x[k]))
    return x


def out_of_half(found: TreeFactor, half: Mapping[int, Scalar]) -> list[Scalar]:
    """The solution, of what `half_solved` gives: L⁻¹ D⁻¹ half."""
    x: list[Scalar] = []
    for k, row in enumerate(found.rows):
        at = negated(times(half.get(k, 0.0), found.inverse[k]))
        for j, value in row.items():
            at = added(at, times(value, x[j]))
        x.append(at)
    return x


def half_product(found: TreeFactor, a: Mapping[int, Scalar], b: Mapping[int, Scalar]) -> Scalar:
    """``a·M⁻¹ b`` of two right sides that are half solved: a·D⁻¹ b."""
    value: Scalar = 0.0
    for k, x in a.items():
        if k in b:
            value = less(value, times(times(x, found.inverse[k]), b[k]))
    return value


def inverted(found: TreeFactor) -> Entries:
    """The entries of the inverse of M.

    From L X = D⁻¹ L⁻ᵀ, whose right side is zero below the diagonal: row after row, each from
    those of the joints that carry it.

    Source: K. Takahashi, J. Fagan, M. Chin, "Formation of a sparse bus impedance matrix and its
    application to short circuit study", PICA (1973).
    """
    entries: Entries = {}

    def at(i: int, j: int) -> Scalar:
        return entries.get((max(i, j), min(i, j)), 0.0)

    for i, row in enumerate(found.rows):
        for j in range(i):
            value: Scalar = 0.0
            for k, x in row.items():
                value = added(value, times(x, at(k, j)))
            if not is_zero(value):
                entries[i, j] = value
        value = negated(found.inverse[i])
        for k, x in row.items():
            value = added(value, times(x, at(i, k)))
        entries[i, i] = value
    return entries
