"""Orders in which the unknowns of sparse symmetric systems are eliminated.

Joint accelerations and loop forces of a mechanism with loops stand in one such system. Eliminating
all joints first leaves J M⁻¹ Jᵀ, which is full where a platform joins all loops. If the joints of
its legs alone can answer for the loops' rows, these rows may go before the platform's joints, so
that legs do not meet until the end. Structure decides, by the number of products.

Source: block elimination of sparse systems: A. George, J. Liu, Computer Solution of Large Sparse
Positive Definite Systems (1981); rows after their joints: R. Vanderbei, "Symmetric quasidefinite
matrices", SIAM J. Optimization 5 (1995).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple


def minimum_degree(
    near: Sequence[set[int]], among: Collection[int] | None = None
) -> tuple[tuple[int, ...], int]:
    """The order of the unknowns, and about how many products it costs.

    ``near``: with which others each one has an entry. ``among``: those that are eliminated, by
    default all.

    Source: minimum degree (George and Liu, "The evolution of the minimum degree ordering
    algorithm", SIAM Review 31, 1989).
    """
    near = [set(each) for each in near]
    left = set(range(len(near)) if among is None else among)
    order: list[int] = []
    cost = 0
    while left:
        k = min(left, key=lambda j: (len(near[j]), j))
        left.remove(k)
        order.append(k)
        cost += (len(near[k]) + 1) ** 2
        eliminate(near, k)
    return tuple(order), cost


def eliminate(near: Sequence[set[int]], k: int) -> None:
    """Take an unknown out of the pattern, in place: those that it met now meet one another."""
    for j in near[k]:
        near[j].update(near[k] - {j})
        near[j].discard(k)
    near[k].clear()


_SOLUTIONS = 6
"""Products that an entry beside the diagonal takes in solving, as `proximal.settled` solves."""


class Split(NamedTuple):
    """The unknowns in two parts: joints by their number, the row r as ``n + r``."""

    first: tuple[int, ...]
    """The joints that are eliminated first, the last of them at once."""
    border: tuple[int, ...]
    """The rows and the joints that are left, the last of them first."""


def split(n: int, masses: Collection[tuple[int, int]], rows: Sequence[Collection[int]]) -> Split:
    """The parts that cost least, for entries (i, j) of M (n, n) and rows of J by their joints.

    What may go first are the joints that no more rows than a number touch, whatever number.
    """
    touched = [sum(k in row for row in rows) for k in range(n)]
    whole = Split(tuple(range(n)), tuple(range(n, n + len(rows))))
    best, least = whole, _cost(n, masses, rows, whole)
    for most in sorted(set(touched))[:-1]:
        first = tuple(k for k in range(n) if touched[k] <= most)
        if not _answer(first, rows):
            continue
        near = _filled(_pattern(n, masses, rows), first)
        held = _in_order(near, range(n, n + len(rows)))[::-1]
        left = [k for k in range(n) if touched[k] > most]
        rest = _in_order(_filled(near, held), left)[::-1]
        found = Split(first, (*rest, *held))
        cost = _cost(n, masses, rows, found)
        if cost < least:
            best, least = found, cost
    return best


def _pattern(
    n: int, masses: Collection[tuple[int, int]], rows: Sequence[Collection[int]]
) -> list[set[int]]:
    """With which others each unknown has an entry."""
    near: list[set[int]] = [set() for _ in range(n + len(rows))]
    pairs = [*masses, *((k, n + r) for r, row in enumerate(rows) for k in row)]
    for i, j in pairs:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    return near


def _filled(near: Sequence[set[int]], gone: Sequence[int]) -> list[set[int]]:
    """The pattern after these unknowns, the last of them first."""
    near = [set(each) for each in near]
    for k in reversed(gone):
        eliminate(near, k)
    return near


def _in_order(near: Sequence[set[int]], of: Collection[int]) -> tuple[int, ...]:
    """These unknowns by minimum degree, the first eliminated first."""
    return minimum_degree(near, among=of)[0]


def _cost(
    n: int, masses: Collection[tuple[int, int]], rows: Sequence[Collection[int]], parts: Split
) -> int:
    """About how many products factors and solutions take."""
    near, cost = _pattern(n, masses, rows), 0
    for unknowns, solutions in ((parts.first, 2), (parts.border, _SOLUTIONS)):
        for k in reversed(unknowns):
            beside = len(near[k])
            cost += beside * (beside + 3) // 2 + solutions * beside
            eliminate(near, k)
    return cost


def _answer(first: Collection[int], rows: Sequence[Collection[int]]) -> bool:
    """Whether each row can be given a joint of its own: else rows depend on one another."""
    holder: dict[int, int] = {}

    def placed(r: int, seen: set[int]) -> bool:
        for k in rows[r]:
            if k in first and k not in seen:
                seen.add(k)
                if k not in holder or placed(holder[k], seen):
                    holder[k] = r
                    return True
        return False

    return all(placed(r, set()) for r in range(len(rows)))
