"""Where the numbers of a problem stand in the two arrays that the compiled code is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.solve.problem import Problem

Span = tuple[int, int]
"""First and last (exclusive) place of some numbers."""


@dataclass(frozen=True)
class Layout:
    """``parameters``: numbers of one row of a batch. ``settings``: numbers of one call.

    Spans are in the order of the problem's tasks, limits and objectives; an empty span has no
    numbers.
    """

    targets: tuple[Span, ...]
    held: Span
    start: Span  # positions of what moves where the move began; empty where no limit needs them
    limit_numbers: tuple[Span, ...]
    objective_targets: tuple[Span, ...]
    n_parameters: int
    thresholds: tuple[Span, ...]
    weights: tuple[Span, ...]  # of a task where its level has several
    slacks: tuple[Span, ...]
    joint_weights: Span
    limit_settings: tuple[Span, ...]
    objective_weights: tuple[Span, ...]
    n_settings: int


class _Counter:
    """Hands out spans one after another."""

    def __init__(self) -> None:
        self.total = 0

    def take(self, n: int) -> Span:
        self.total += n
        return self.total - n, self.total

    def take_all(self, sizes: Sequence[int]) -> tuple[Span, ...]:
        return tuple(self.take(n) for n in sizes)


def layout_of(problem: Problem) -> Layout:
    """The places of all numbers of a problem."""
    rows, call = _Counter(), _Counter()
    needs_start = any(limit.needs_start for limit in problem.limits)
    shared = {k for level in problem.levels if len(level) > 1 for k in level}
    n_v = len(problem.moved_v)
    return Layout(
        targets=rows.take_all([t.n_target for t in problem.tasks]),
        held=rows.take(len(problem.held)),
        start=rows.take(len(problem.moved) if needs_start else 0),
        limit_numbers=rows.take_all([limit.n_numbers for limit in problem.limits]),
        objective_targets=rows.take_all([each.n_target for each in problem.objectives]),
        n_parameters=rows.total,
        thresholds=call.take_all([len(t.groups) for t in problem.tasks]),
        weights=call.take_all([int(k in shared) for k in range(len(problem.tasks))]),
        slacks=call.take_all([t.n_rows if any(t.slack) else 0 for t in problem.tasks]),
        joint_weights=call.take(0 if problem.joint_weights is None else n_v),
        limit_settings=call.take_all([len(limit.settings) for limit in problem.limits]),
        objective_weights=call.take_all([1] * len(problem.objectives)),
        n_settings=call.total,
    )
