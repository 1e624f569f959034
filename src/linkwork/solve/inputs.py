"""Inputs of compiled code, made of targets by name or in order, starts and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number, finite_rows, real_array, whole_number
from linkwork.errors import InputError, LinkworkError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration, configuration_from
from linkwork.mechanism.position_limits import inside_limits
from linkwork.solve.limits import BoundLimit
from linkwork.solve.problem import Input, Problem

Floats = NDArray[np.float64]
Choose = Literal["nearest", "centred", "manipulable"] | Callable[[Floats], Floats]
CHOICES = ("nearest", "centred", "manipulable")

_STEPS = 16
_STEPS_TO_CLOSE = 24
"""Steps of a try where loops are closed to rounding: a stretched linkage is slow."""
_STEPS_TO_IMPROVE = 60
"""Steps of a try where lower priorities or objectives are made better as well."""
_TRIES = 1000
_TRIES_TO_IMPROVE = 50
"""Tries where a lower priority may be out of reach, and every one would be made for it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Exactness and effort of a search.

    ``position_tolerance`` (m) and ``rotation_tolerance`` (rad) take the place of those of the
    tasks. ``steps`` of one try (default: 16, 24 where loops are closed, or 60 where something is
    improved beyond the tasks of priority 0), then a restart at a random configuration, up to
    ``tries`` (default: 1000, or 50 where there are lower priorities). ``seed`` picks the random
    numbers: a target's answer depends on the seed, its own values and q0 only. ``seconds`` for each
    target, added up over those asked for at once, ends the search early, after a first round of 8
    tries at most. What is found by then has the bits that it has without a time; which targets are
    solved by then may differ from call to call. Compiling, which comes before the first search of a
    kind, is not bounded by it: `Robot.solver` does it ahead.

    ``best_of`` searches from so many starts, q0 and random ones that depend on the seed alone, and
    gives the solution that ``choose`` says: "nearest" to q0, the most "centred" between limits, the
    most "manipulable", or the least of a function (n, nq) -> (n,).
    """

    position_tolerance: float | None = None
    rotation_tolerance: float | None = None
    steps: int | None = None
    tries: int | None = None
    seed: int = 0
    seconds: float | None = None
    best_of: int = 1
    choose: Choose = "nearest"
    nearest_miss: bool = True

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "rotation_tolerance", "seconds"):
            if getattr(self, name) is not None:
                finite_number(getattr(self, name), name, above=0.0)
        named = isinstance(self.choose, str) and self.choose in CHOICES
        if not (callable(self.choose) or named):
            known = ", ".join(f"'{name}'" for name in CHOICES)
            raise InputError(f"choose must be one of {known}, or a function; not {self.choose!r}")
        if not isinstance(self.nearest_miss, bool):
            raise InputError(f"nearest_miss must be True or False, not {self.nearest_miss!r}")
        for name, least in (("steps", 1), ("tries", 1), ("seed", 0), ("best_of", 1)):
            value = getattr(self, name)
            if name not in ("steps", "tries") or value is not None:
                whole_number(value, name, least=least)

    def steps_for(self, problem: Problem) -> int:
        """The steps of one try."""
        if self.steps is not None:
            return int(self.steps)
        if problem.has_secondary_goals:
            return _STEPS_TO_IMPROVE
        closes = any(task.keeps_tolerance for task in problem.tasks)
        return _STEPS_TO_CLOSE if closes else _STEPS

    def tries_for(self, problem: Problem) -> int:
        """The tries of one target."""
        if self.tries is not None:
            return int(self.tries)
        return _TRIES_TO_IMPROVE if len(problem.levels) > 1 else _TRIES

    def thresholds(self, problem: Problem) -> list[float]:
        """The most that the measure of each group of each task may be."""
        given = {"m": self.position_tolerance, "rad": self.rotation_tolerance}
        found: list[float] = []
        for task in problem.tasks:
            for group, own in zip(task.groups, task.tolerances, strict=True):
                tolerance = None if task.keeps_tolerance else given.get(group.unit)
                found.append(group.threshold(own if tolerance is None else tolerance))
        return found


_DEFAULT = Options()
_NAMES = tuple(field.name for field in fields(Options) if field.name != "nearest_miss")


def changed(options: Options | None, changes: Sequence[Any]) -> Options:
    """Options with those changes that are not None; ``changes`` are in the order of the fields.

    Those up to ``choose``, which are keywords of a call as well.

    Raises: InputError as `Options` does.
    """
    found = _DEFAULT if options is None else options
    if not isinstance(found, Options):
        raise InputError(f"options must be Options, not {type(options).__name__}")
    given = {name: value for name, value in zip(_NAMES, changes, strict=True) if value is not None}
    return replace(found, **given) if given else found


# --- options ---

Targets = ArrayLike | Sequence[ArrayLike | None] | Mapping[str, ArrayLike | None] | None
"""A target of the one task, one for each task in order, or by name; None: the task's own."""
_HINT = (
    "start inside, for example at np.clip(q0, robot.limits.lower, robot.limits.upper), or let the "
    "joint move"
)
_CLOSER = 0.25
"""Loops are searched for to this share of their squared tolerance: rounding decides nothing."""
_ONE = 16
"""Numbers of the largest target that native code takes as it is: a pose."""


class Rows(NamedTuple):
    """Targets and starts of a call, one below the other."""

    arrays: list[Floats]  # of each input (N, *shape)
    start: Floats  # (N, nq), or (1, nq) for all
    lead: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(np.prod(self.lead, dtype=np.int64))

    @property
    def starts(self) -> Floats:
        """A start for each row (N, nq)."""
        whole = np.broadcast_to(self.start, (self.n, self.start.shape[1]))
        return np.ascontiguousarray(whole)

    def take(self, places: NDArray[np.int64]) -> Rows:
        """Some of the rows."""
        start = self.start if len(self.start) == 1 else self.start[places]
        return Rows([a[places] for a in self.arrays], start, (len(places),))

    def repeated(self, count: int, starts: Floats) -> Rows:
        """Each row so many times, from other starts (N count, nq)."""
        return Rows([np.repeat(a, count, axis=0) for a in self.arrays], starts, (len(starts),))


class Inputs:
    """The inputs of a problem, and what people may give for them."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.all = problem.inputs
        self._own = [None if each.own is None else each.array(each.own) for each in self.all]
        takes = {task.name for task in problem.tasks if task.kind.n}
        self._order = [name for name in problem.order if name in takes]
        self._names = {each.name for each in self.all}
        self._alone = len(self.all) == len(self._order) == 1 and self.all[0].raw
        self._alone = self._alone and self._own[0] is None
        self._axes = len(self.all[0].shape) if self._alone else 0

    def native(self, targets: Any) -> Sequence[Any] | None:
        """The arrays for one row as native code takes and checks them; None where it may not."""
        if self._alone and type(targets) is np.ndarray and targets.ndim == self._axes:
            return (_in_line(targets),)
        order = self._order
        given: Any = {}
        if type(targets) is dict:
            given = targets
            if not given.keys() <= self._names:
                return None
        elif targets is not None and len(order) == 1:
            given = {order[0]: targets}
        elif isinstance(targets, (list, tuple, np.ndarray)) and len(targets) == len(order):
            given = dict(zip(order, cast("Sequence[Any]", targets), strict=True))
        elif targets is not None:
            return None
        found: list[Any] = []
        try:
            for each, own in zip(self.all, self._own, strict=True):
                value = given.get(each.name)
                taken = own if value is None else _taken(each, value)
                if taken is None:
                    return None
                found.append(taken)
        except LinkworkError:
            return None  # said on the general way
        return found

    def rows(self, targets: Targets, start: Floats, *, checked: bool = False) -> Rows:
        """The rows of targets and starts (..., nq).

        Poses and points are taken as they are and left to compiled code to check, or are
        ``checked`` here.

        Raises: ShapeError, InputError, UnknownNameError.
        """
        given = self.by_name(targets)
        parts = [
            self._array(each, own, given, checked=checked)
            for each, own in zip(self.all, self._own, strict=True)
        ]
        leads = [a.shape[: a.ndim - len(e.shape)] for a, e in zip(parts, self.all, strict=True)]
        try:
            lead = np.broadcast_shapes(start.shape[:-1], *leads)
        except ValueError:
            shapes = ", ".join(map(str, leads))
            raise ShapeError(
                f"the leading shapes of targets and q0 do not go together: {shapes} and "
                f"{start.shape[:-1]}"
            ) from None
        arrays = [_flat(a, lead, e.shape) for a, e in zip(parts, self.all, strict=True)]
        whole = start[None] if start.ndim == 1 else _flat(start, lead, start.shape[-1:])
        return Rows(arrays, np.ascontiguousarray(whole), lead)

    def by_name(self, targets: Targets) -> dict[str, ArrayLike]:
        """The values for each task, limit and objective that is given any."""
        if targets is None:
            return {}
        if isinstance(targets, Mapping):
            given = cast("Mapping[Any, ArrayLike | None]", targets)
            for name in given:
                if name not in self._names:
                    names = [each.name for each in self.all]
                    raise UnknownNameError("task with a target", str(name), names)
            return {str(name): value for name, value in given.items() if value is not None}
        order = self._order
        if len(order) == 1:
            return {order[0]: cast("ArrayLike", targets)}
        if not order:
            raise InputError("none of the tasks takes a target: leave targets out")
        try:
            listed = list(cast("Sequence[ArrayLike | None]", targets))
        except TypeError:
            listed = None  # nothing can be counted
        if listed is None or len(listed) != len(order):
            found = type(targets).__name__ if listed is None else f"{len(listed)} of them"
            raise InputError(
                f"targets must be one for each task ({', '.join(order)}), or a mapping of names; "
                f"not {found}"
            )
        pairs = zip(order, listed, strict=True)
        return {name: target for name, target in pairs if target is not None}

    def _array(
        self, each: Input, own: Floats | None, given: Mapping[str, ArrayLike], *, checked: bool
    ) -> Floats:
        """The array (..., *shape) of one input."""
        if each.name in given:
            value = given[each.name]
            if each.raw and not checked and isinstance(value, np.ndarray):
                array = real_array(value, f"task '{each.name}': targets")
                if array.shape[array.ndim - len(each.shape) :] == each.shape:
                    return array
            return each.array(each.of.rows_of(value))
        if own is not None:
            return own
        if isinstance(each.of, BoundLimit):
            raise InputError(
                f"the limit '{each.name}' needs the velocity of the last step: give v, or "
                f"{{'{each.name}': v}} among the targets"
            )
        raise InputError(
            f"'{each.name}' has no target: give one with it, or to solve({{'{each.name}': ...}})"
        )


def _flat(a: Floats, lead: tuple[int, ...], shape: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(np.broadcast_to(a, (*lead, *shape)).reshape(-1, *shape))


def _taken(each: Input, value: Any) -> Any:
    """A target as it is given where native code checks it, else as it is read."""
    given = value.shape if type(value) is np.ndarray else each.shape
    if not each.raw or given[len(given) - len(each.shape) :] != each.shape:
        return each.of.rows_of(value)
    return _in_line(value) if type(value) is np.ndarray else value


def _in_line(value: NDArray[Any]) -> NDArray[Any]:
    """A column of an array, say, as the native call takes it; a batch as it is."""
    if value.size > _ONE or value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(value)


def start_of(problem: Problem, q0: Configuration) -> Floats:
    """The start of a search (..., nq), checked; what does not move is inside its limits.

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
    return finite_rows(q0, name, m.n_q)


def settings_of(problem: Problem, options: Options) -> Floats:
    """The numbers of one call (s,)."""
    layout = problem.layout
    settings = np.zeros(layout.n_settings)
    at = layout.thresholds[0][0]
    thresholds = options.thresholds(problem)
    settings[at : at + len(thresholds)] = thresholds
    for task, weight, slack in zip(problem.tasks, layout.weights, layout.slacks, strict=True):
        settings[slice(*weight)] = task.weight
        settings[slice(*slack)] = task.slack[: slack[1] - slack[0]]
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
