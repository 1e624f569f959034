"""Parts of a problem that share no moved joint: each is searched for by itself.

Where one of two legs has to start again, what was found for the other stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from linkwork.solve.layout import Span
from linkwork.solve.limits.base import BoundLimit
from linkwork.solve.problem import Problem, expanded, longest_way
from linkwork.solve.tasks.base import BoundTask

Places = NDArray[np.int64]


def parts_of(problem: Problem) -> tuple[Problem, ...]:
    """The problems that this one falls into; the problem itself where it is one.

    Tasks that depend on the same moved joint belong together, and so do joints that a coupled limit
    ties. A problem with objectives, or with a part that only lower priorities ask for, stays whole.
    """
    if problem.objectives:
        return (problem,)
    groups = _groups(problem)
    if len(groups) == 1:
        return (problem,)
    parts = tuple(_part(problem, members, place) for place, members in enumerate(groups))
    decided = all(part.tasks and part.tasks[0].priority == 0 for part in parts)
    return parts if decided else (problem,)


def numbers_of(whole: Problem, part: Problem) -> tuple[Places, Places]:
    """Where the parameters and the settings of a part stand among those of the whole."""
    tasks = [whole.tasks.index(task) for task in part.tasks]
    limits = [whole.limits.index(limit) for limit in part.limits]
    ours, theirs = part.layout, whole.layout
    parameters = [
        *_joined(theirs.targets[k] for k in tasks),
        *_picked(theirs.held, whole.held, part.held),
        *(_picked(theirs.start, whole.moved, part.moved) if _size(ours.start) else ()),
        *_joined(theirs.limit_numbers[k] for k in limits),
    ]
    weighted = [k for k, span in zip(tasks, ours.weights, strict=True) if _size(span)]
    settings = [
        *_joined(theirs.thresholds[k] for k in tasks),
        *_joined(theirs.weights[k] for k in weighted),
        *_joined(theirs.slacks[k] for k in tasks),
        *(
            _picked(theirs.joint_weights, whole.moved_v, part.moved_v)
            if _size(ours.joint_weights)
            else ()
        ),
        *_joined(theirs.limit_settings[k] for k in limits),
    ]
    return np.array(parameters, dtype=np.int64), np.array(settings, dtype=np.int64)


def _size(span: Span) -> int:
    return span[1] - span[0]


def _joined(spans: Iterable[Span]) -> Iterator[int]:
    for span in spans:
        yield from range(*span)


def _picked(span: Span, names: Sequence[int], wanted: Sequence[int]) -> Iterator[int]:
    """The places, in a span with a number for each name, of those that are wanted."""
    for name in wanted:
        yield span[0] + names.index(name)


def _groups(problem: Problem) -> list[set[int]]:
    """The moved coordinates, those that belong together in one set, in order of the lowest."""
    chosen = set(problem.coordinates)
    ties = [chosen.intersection(task.coordinates) for task in problem.tasks]
    ties += [chosen.intersection(limit.coordinates) for limit in problem.limits if limit.coupled]
    groups: list[set[int]] = [{c} for c in problem.coordinates]
    for tie in ties:
        together = [group for group in groups if group & tie]
        if len(together) > 1:
            groups = [group for group in groups if not group & tie]
            groups.append(set[int]().union(*together))
    return sorted(groups, key=min)


def _part(problem: Problem, members: set[int], place: int) -> Problem:
    """The part that moves ``members``; what depends on no moved joint belongs to the first."""
    chosen = set(problem.coordinates)

    def ours(coordinates: Iterable[int]) -> bool:
        moved = chosen.intersection(coordinates)
        return bool(moved & members) or (place == 0 and not moved)

    tasks = [task for task in problem.tasks if ours(task.coordinates)]
    limits = [limit for limit in problem.limits if not limit.coupled or ours(limit.coordinates)]
    return _restricted(problem, tasks, limits, members)


def deciding_part(problem: Problem) -> Problem:
    """The tasks of priority 0 alone, with the joints that they, or coupled limits, depend on."""
    tasks = [problem.tasks[k] for k in problem.deciding]
    coupled = [limit for limit in problem.limits if limit.coupled]
    needed = {c for each in (*tasks, *coupled) for c in each.coordinates}
    members = needed.intersection(problem.coordinates) or set(problem.coordinates)
    return _restricted(replace(problem, objectives=()), tasks, problem.limits, members)


def _restricted(
    problem: Problem, tasks: Sequence[BoundTask], limits: Sequence[BoundLimit], members: set[int]
) -> Problem:
    """The problem of some of its tasks and limits, moving some of its coordinates."""
    m = problem.mechanism
    coordinates = sorted(members)
    moved, moved_v = expanded(m.q_start, coordinates), expanded(m.v_start, coordinates)
    read = {c for each in (*tasks, *limits) for c in each.coordinates}
    held = [k for k in expanded(m.q_start, sorted(read)) if k not in set(moved)]
    weights = None
    if problem.joint_weights is not None:
        by_index = dict(zip(problem.moved_v, problem.joint_weights, strict=True))
        weights = tuple(by_index[k] for k in moved_v)
    order = tuple(name for name in problem.order if name in {task.name for task in tasks})
    given = dict(zip(problem.order, problem.asked["tasks"], strict=True))
    bound = zip(problem.asked["limits"], problem.limits, strict=True)
    return replace(
        problem,
        tasks=tuple(tasks),
        order=order,
        limits=tuple(limits),
        coordinates=tuple(coordinates),
        moved=tuple(moved),
        moved_v=tuple(moved_v),
        held=tuple(held),
        joint_weights=weights,
        length=longest_way(m, tasks),
        asked={
            **problem.asked,
            "tasks": tuple(replace(given[name], name=name) for name in order),
            "joints": tuple(m.joint_names[c] for c in coordinates),
            "limits": tuple(each for each, limit in bound if limit in limits),
            "objectives": (),
        },
    )
