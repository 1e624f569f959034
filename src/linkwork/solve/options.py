"""How exactly, and how hard, inverse kinematics tries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]
Choose = Literal["nearest", "centred", "manipulable"] | Callable[[Floats], Floats]
CHOICES = ("nearest", "centred", "manipulable")

_STEPS = 16
_STEPS_TO_CLOSE = 24
"""Of one try where loops are closed to rounding: a stretched linkage halves its error in a step."""
_STEPS_TO_IMPROVE = 60
"""Of one try where lower priorities or objectives are made better as well."""
_TRIES = 1000
_TRIES_TO_IMPROVE = 50
"""Where a lower priority may be out of reach, and every try would be made for it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How exactly, and how hard, to try.

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

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "rotation_tolerance", "seconds"):
            value: Any = getattr(self, name)
            if value is None:
                continue
            number = isinstance(value, (int, float, np.integer, np.floating))
            if isinstance(value, bool) or not (number and math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} must be a positive finite number, not {value!r}")
        named = isinstance(self.choose, str) and self.choose in CHOICES
        if not (callable(self.choose) or named):
            known = ", ".join(f"'{name}'" for name in CHOICES)
            raise InputError(f"choose must be one of {known}, or a function; not {self.choose!r}")
        for name, least in (("steps", 1), ("tries", 1), ("seed", 0), ("best_of", 1)):
            value = getattr(self, name)
            if name not in ("steps", "tries") or value is not None:
                whole_number(value, name, least)

    def steps_for(self, problem: Problem) -> int:
        """The steps of one try."""
        if self.steps is not None:
            return int(self.steps)
        if problem.improves:
            return _STEPS_TO_IMPROVE
        closes = any(task.keeps_tolerance for task in problem.tasks)
        return _STEPS_TO_CLOSE if closes else _STEPS

    def tries_for(self, problem: Problem) -> int:
        """The tries of one target."""
        if self.tries is not None:
            return int(self.tries)
        return _TRIES_TO_IMPROVE if len(problem.levels) > 1 else _TRIES

    def thresholds(self, problem: Problem) -> list[float]:
        """What the measure of each group of each task is compared with."""
        given = {"m": self.position_tolerance, "rad": self.rotation_tolerance}
        found: list[float] = []
        for task in problem.tasks:
            for group, own in zip(task.groups, task.tolerances, strict=True):
                tolerance = None if task.keeps_tolerance else given.get(group.unit)
                found.append(group.threshold(own if tolerance is None else tolerance))
        return found


def whole_number(value: Any, name: str, least: int = 1) -> int:
    """A whole number from ``least`` that fits into 31 bits, checked."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (whole and least <= value < 2**31):
        raise InputError(
            f"{name} must be a whole number from {least} to {2**31 - 1}, not {value!r}"
        )
    return int(value)


_DEFAULT = Options()
_NAMES = tuple(field.name for field in fields(Options))


def changed(options: Options | None, changes: Sequence[Any]) -> Options:
    """Options with those changes that are not None; ``changes`` are in the order of the fields.

    Raises: InputError as `Options` does.
    """
    found = _DEFAULT if options is None else options
    if not isinstance(found, Options):
        raise InputError(f"options must be Options, not {type(options).__name__}")
    given = {name: value for name, value in zip(_NAMES, changes, strict=True) if value is not None}
    return replace(found, **given) if given else found
