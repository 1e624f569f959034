"""In which order the unknowns of a sparse least squares problem are eliminated.

Its rows come in blocks that depend on some of the columns only. Structural zeros cost nothing in
traced code, so it pays to keep them: by the form that is factored, and by the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.elimination_order import minimum_degree
from linkwork.solve.problem import Problem


class Block(NamedTuple):
    """Rows from ``start`` to ``stop`` - 1, and the columns that they depend on."""

    start: int
    stop: int
    columns: frozenset[int]


class Elimination(NamedTuple):
    """``dual``: J Jᵀ is factored, its rows in this order; else Jᵀ J, its columns."""

    dual: bool
    order: tuple[int, ...]


def elimination(problem: Problem, members: Sequence[int]) -> Elimination | None:
    """How to solve for the rows of these tasks; None where no task is sparse.

    Source: minimum degree (George and Liu, "The evolution of the minimum degree ordering
    algorithm", SIAM Review 31, 1989).
    """
    if not any(problem.tasks[k].blocks for k in members):
        return None
    blocks = sparse_blocks(problem, members)
    rows = blocks[-1].stop
    columns = len(problem.moved_v)
    by_column = [
        {i for block in blocks if j in block.columns for i in range(block.start, block.stop)}
        for j in range(columns)
    ]
    by_row = [set(block.columns) for block in blocks for _ in range(block.start, block.stop)]
    primal, cost = minimum_degree(_graph(by_row, columns))
    if rows > columns:
        return Elimination(dual=False, order=primal)
    dual, dual_cost = minimum_degree(_graph(by_column, rows))
    if dual_cost < cost:
        return Elimination(dual=True, order=dual)
    return Elimination(dual=False, order=primal)


def sparse_blocks(problem: Problem, members: Sequence[int]) -> list[Block]:
    """The rows of these tasks, and on which columns they depend."""
    m = problem.mechanism
    place = {v: k for k, v in enumerate(problem.moved_v)}
    blocks: list[Block] = []
    first = 0
    for k in members:
        task = problem.tasks[k]
        own = task.blocks or ((0, task.n_rows, task.coordinates),)
        for start, stop, coordinates in own:
            moved = [
                place[v]
                for c in coordinates
                for v in range(int(m.v_start[c]), int(m.v_start[c + 1]))
                if v in place
            ]
            blocks.append(Block(first + start, first + stop, frozenset(moved)))
        first += task.n_rows
    return blocks


def _graph(groups: Sequence[set[int]], n: int) -> list[set[int]]:
    """Which unknowns meet in a group."""
    near: list[set[int]] = [set() for _ in range(n)]
    for group in groups:
        for k in group:
            near[k] |= group - {k}
    return near
