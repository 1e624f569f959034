"""One target in one native call: what people give, as it is, to code that checks it on the way.

Only what is exactly as that code takes it goes this way, float64 arrays of one target and one q0:
the caller goes on in general with all else, which is where errors are worded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.solve.options import Options, with_changes
from linkwork.solve.problem import Problem
from linkwork.solve.result import Terms
from linkwork.solve.tasks.base import BoundTask
from linkwork.solve.tasks.pose import pose_numbers
from linkwork.solve.tasks.position import point_numbers
from linkwork.solve.texts import poses_of, taking

Floats = NDArray[np.float64]
_PLAIN = (float, int, str)
"""Kinds of options that are the same where they are equal."""
_ONE = 16
"""Numbers of the largest target that native code takes as it is: a pose."""


class Numbers(NamedTuple):
    """What the native call takes beside targets and q0, and what its answers are judged by."""

    from_seed: Floats
    from_q0: Floats
    terms: Terms


class _Taker(NamedTuple):
    """A task that takes a target: where it stands among those given, and its own target."""

    task: BoundTask
    place: int
    read: bool
    """Whether its numbers are others than those given."""
    own: Floats | None


class SingleCalls:
    """One target at a time for a problem that is one pipeline, with options that come again."""

    def __init__(
        self,
        problem: Problem,
        one: Callable[..., Floats | None],
        neutral: Floats,
        numbers_for: Callable[[Options], Numbers],
    ) -> None:
        self._one, self._neutral, self._numbers_for = one, neutral, numbers_for
        self._usual = numbers_for(Options())
        self._asked: tuple[Any, Numbers | None] = (None, None)
        self._takers = _takers(problem)
        raw = len(self._takers) == 1 and not self._takers[0].read
        self._raw = raw and self._takers[0].own is None

    def numbers(self, options: Options | None, changes: dict[str, Any]) -> Numbers | None:
        """What is known of these options where they came in the last call too; else None."""
        if options is None and not changes:
            return self._usual
        if not all(type(value) in _PLAIN for value in changes.values()):
            return None
        asked = (options, *((name, type(x), x) for name, x in changes.items()))
        known, made = self._asked
        if known is None or known[0] is not options or known[1:] != asked[1:]:
            self._asked = asked, None
            return None
        if made is None:
            try:
                found = with_changes(options, changes, self.numbers)
            except LinkworkError:
                return None  # said on the general way
            if found.best_of == 1 and found.seconds is None:
                made = self._numbers_for(found)
                self._asked = asked, made
        return made

    def __call__(self, numbers: Numbers, targets: Any, q0: Any) -> Floats | None:
        """q, then its report; None where it has to go the general way."""
        start, options = (self._neutral, numbers.from_seed) if q0 is None else (q0, numbers.from_q0)
        if self._raw and type(targets) is np.ndarray:
            return self._one(_in_line(targets), start, options)
        given = self._given(targets)
        return None if given is None else self._one(*given, start, options)

    def _given(self, targets: Any) -> list[Any] | None:
        """The target of each task, in the order of the native call."""
        takers = self._takers
        if targets is None:
            values: list[Any] = [None] * len(takers)
        elif type(targets) is dict:
            values = [targets.get(taker.task.name) for taker in takers]
            if len(targets) != sum(taker.task.name in targets for taker in takers):
                return None
        elif len(takers) == 1:
            values = [targets]
        elif type(targets) in (list, tuple, np.ndarray) and len(targets) == len(takers):
            values = [targets[taker.place] for taker in takers]
        else:
            return None
        try:
            given = [_target(*pair) for pair in zip(takers, values, strict=True)]
        except LinkworkError:
            return None
        return None if any(each is None for each in given) else given


def _takers(problem: Problem) -> list[_Taker]:
    tasks = [problem.tasks[k] for k in taking(problem)]
    order = sorted(tasks, key=lambda task: problem.order.index(task.name))
    found: list[_Taker] = []
    for task in tasks:
        own = task.target
        if own is not None and task.read is pose_numbers and own.ndim == 1:
            own = poses_of(own[None])[0]
        read = task.read not in (pose_numbers, point_numbers)
        found.append(_Taker(task, order.index(task), read, own))
    return found


def _target(taker: _Taker, value: Any) -> Any:
    """The numbers of a task's target, as they are given where they are an array that fits."""
    if value is None:
        return taker.own
    if taker.read:
        return taker.task.rows_of(value)
    return _in_line(value) if type(value) is np.ndarray else value


def _in_line(value: NDArray[Any]) -> NDArray[Any]:
    """A column of an array, say, as the native call takes it; a batch as it is."""
    if value.size > _ONE or value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(value)
