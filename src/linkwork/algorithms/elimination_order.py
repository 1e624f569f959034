"""In which order the unknowns of a sparse symmetric system are eliminated."""

from __future__ import annotations

from collections.abc import Collection, Sequence


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
