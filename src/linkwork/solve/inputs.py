"""From what people give, targets by name or in order, to the numbers of the compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_rows
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration, configuration_from
from linkwork.mechanism.position_limits import inside_limits
from linkwork.solve.limits.base import BoundLimit
from linkwork.solve.objectives import BoundObjective
from linkwork.solve.options import Options
from linkwork.solve.problem import Problem
from linkwork.solve.tasks.base import BoundTask

Floats = NDArray[np.float64]
Targets = ArrayLike | Sequence[ArrayLike | None] | Mapping[str, ArrayLike | None] | None
"""Of the one task, one for each task in order, or by name; for None the task's own counts."""
_HINT = (
    "start inside, for example at np.clip(q0, robot.limits.lower, robot.limits.upper), or let the "
    "joint move"
)
Asked = BoundTask | BoundObjective | BoundLimit
_CLOSER = 0.25
"""Loops are searched for to this share of their squared tolerance: rounding decides nothing."""


def rows_of(
    problem: Problem, targets: Targets, start: Floats
) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Parameters (N, p), start (N, nq) and the leading shape of targets and start (..., nq).

    Raises: ShapeError, InputError, UnknownNameError.
    """
    m = problem.mechanism
    given = _by_name(problem, targets)
    parts = [
        *(_numbers(task, task.n_target, task.target, given) for task in problem.tasks),
        start[..., list(problem.held)],
        start[..., list(problem.moved)][..., : _length(problem.layout.start)],
        *(_numbers(each, each.n_numbers, each.numbers, given) for each in problem.limits),
        *(_numbers(each, each.n_target, each.target, given) for each in problem.objectives),
    ]
    try:
        lead = np.broadcast_shapes(start.shape[:-1], *(part.shape[:-1] for part in parts))
    except ValueError:
        shapes = ", ".join(str(part.shape[:-1]) for part in parts)
        raise ShapeError(
            f"the leading shapes of targets and q0 do not go together: {shapes} and "
            f"{start.shape[:-1]}"
        ) from None
    count = int(np.prod(lead, dtype=np.int64))
    wide = [np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts]
    rows = [part.reshape(count, part.shape[-1]) for part in wide]
    whole = np.broadcast_to(start, (*lead, m.n_q)).reshape(count, m.n_q)
    return np.ascontiguousarray(np.hstack(rows)), np.ascontiguousarray(whole), lead


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def start_of(problem: Problem, q0: Configuration) -> Floats:
    """Where a search starts (..., nq), checked; what does not move is inside its limits.

    Raises: as `configuration`; InputError for a joint that rests more than 1e-6 outside.
    """
    start = configuration(q0, problem.mechanism)
    return inside_limits(
        problem.mechanism, start, problem.resting, "q0", whose="does not move and is at", hint=_HINT
    )


def configuration(q0: Configuration, m: Mechanism, name: str = "q0") -> Floats:
    """A start (..., nq), checked; ``name`` is what its argument is called.

    Positions by joint name are one start (nq,): what is not named is neutral.

    Raises: ShapeError; InputError naming the first number that is not finite; as
    `named_positions.configuration_from` for positions by name.
    """
    if isinstance(q0, Mapping):
        return configuration_from(m, q0)
    start = real_rows(q0, name, m.n_q)
    if not np.isfinite(start).all():
        bad = np.argwhere(~np.isfinite(start))[0]
        raise InputError(f"{name}[{', '.join(map(str, bad))}] is not a finite number")
    return start


def _by_name(problem: Problem, targets: Targets) -> dict[str, ArrayLike]:
    """What is given for each task, limit and objective."""
    takers: list[Asked] = [
        *(task for task in problem.tasks if task.n_target),
        *(limit for limit in problem.limits if limit.n_numbers),
        *(objective for objective in problem.objectives if objective.n_target),
    ]
    names = [taker.name for taker in takers]
    if targets is None:
        return {}
    if isinstance(targets, Mapping):
        given = cast("Mapping[Any, ArrayLike | None]", targets)
        for name in given:
            if name not in names:
                raise UnknownNameError("task with a target", str(name), names)
        return {str(name): value for name, value in given.items() if value is not None}
    takes = {task.name for task in problem.tasks if task.n_target}
    tasks = [name for name in problem.order if name in takes]
    if len(tasks) == 1:
        return {tasks[0]: cast("ArrayLike", targets)}
    if not tasks:
        raise InputError("none of the tasks takes a target: leave targets out")
    listed = _listed(targets)
    if listed is None or len(listed) != len(tasks):
        found = type(targets).__name__ if listed is None else f"{len(listed)} of them"
        raise InputError(
            f"targets must be one for each task ({', '.join(tasks)}), or a mapping of names; "
            f"not {found}"
        )
    pairs = zip(tasks, listed, strict=True)
    return {name: target for name, target in pairs if target is not None}


def _listed(targets: object) -> list[ArrayLike | None] | None:
    """What is given one after the other; None where nothing can be counted."""
    try:
        return list(cast("Sequence[ArrayLike | None]", targets))
    except TypeError:
        return None


def _numbers(
    asked: Asked, count: int, own: Floats | None, given: Mapping[str, ArrayLike]
) -> Floats:
    """The numbers (..., count) of one that is asked for."""
    if not count:
        return np.zeros(0)
    if asked.name in given:
        return asked.rows_of(given[asked.name])
    if own is None and isinstance(asked, BoundLimit):
        raise InputError(
            f"the limit '{asked.name}' needs the velocity of the last step: give v, or "
            f"{{'{asked.name}': v}} among the targets"
        )
    if own is None:
        raise InputError(
            f"'{asked.name}' has no target: give one with it, or to solve({{'{asked.name}': ...}})"
        )
    return own


def settings_of(problem: Problem, options: Options) -> Floats:
    """The numbers of one call (s,)."""
    layout = problem.layout
    settings = np.zeros(layout.n_settings)
    at = layout.thresholds[0][0]
    thresholds = options.thresholds(problem)
    settings[at : at + len(thresholds)] = thresholds
    for task, weight, slack in zip(problem.tasks, layout.weights, layout.slacks, strict=True):
        settings[slice(*weight)] = task.weight
        settings[slice(*slack)] = task.slack[: _length(slack)]
    if problem.joint_weights is not None:
        settings[slice(*layout.joint_weights)] = problem.joint_weights
    for limit, span in zip(problem.limits, layout.limit_settings, strict=True):
        settings[slice(*span)] = limit.settings
    for objective, span in zip(problem.objectives, layout.objective_weights, strict=True):
        settings[slice(*span)] = objective.weight
    return settings


def searched(problem: Problem, settings: Floats) -> Floats:
    """The settings of the search, which goes on a little further for what keeps its tolerance."""
    narrower = settings.copy()
    at = problem.layout.thresholds[0][0]
    for task in problem.tasks:
        if task.keeps_tolerance:
            narrower[at : at + len(task.groups)] *= _CLOSER
        at += len(task.groups)
    return narrower
