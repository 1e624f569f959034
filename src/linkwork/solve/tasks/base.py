"""What a task is: rows that shall become zero, and when they count as zero.

A task as people write it is frozen data. ``bind`` checks it against a mechanism and gives what the
solver works with. Structure (frames, axes, kinds) becomes part of the compiled code; targets,
weights, tolerances and slacks are numbers that go in at run time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]
Unit = Literal["m", "rad", "1"]

TOLERANCES: dict[Unit, float] = {"m": 1.0e-5, "rad": 1.0e-4, "1": 1.0e-6}
"""What counts as zero where nothing else is said, by the unit of the rows."""


class Residual(NamedTuple):
    """What is still to go, and how the velocities change it.

    ``error`` (k,) is zero where the task is done: the target less what is. ``columns`` are the nv
    columns (k,) of its derivative by v, with the sign turned, to first order in the error.
    ``squared`` has a scalar for each group, which is compared with the group's threshold and is
    zero only where the group is done, never at an antipode.
    """

    error: Block
    columns: list[Block]
    squared: list[Block]


@dataclass(frozen=True)
class Group:
    """Rows of one kind: ``start`` to ``stop`` - 1, in metres, radians or plain numbers."""

    name: str
    unit: Unit
    start: int
    stop: int

    def threshold(self, tolerance: float) -> float:
        """The number that the group's `Residual.squared` must not exceed.

        Rotations are compared by their chord 2 sin(a / 2): it grows up to half a turn.
        """
        if self.unit == "rad":
            return (2.0 * math.sin(0.5 * min(tolerance, math.pi))) ** 2
        return tolerance * tolerance

    def error(self, squared: Floats) -> Floats:
        """The error in the group's unit from its `Residual.squared`."""
        length = np.sqrt(np.maximum(squared, 0.0))
        if self.unit == "rad":
            return 2.0 * np.arcsin(np.minimum(0.5 * length, 1.0))
        return length


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTask:
    """A task of one mechanism: names are indices, arguments have been checked.

    Tasks with the same ``key`` have the same code. ``rows_of`` takes a target in any leading shape
    to numbers (..., n_target); ``residual(o, q, target)`` is the text that is traced.
    """

    name: str
    key: str
    priority: int
    groups: tuple[Group, ...]
    n_target: int
    frames: tuple[str, ...]  # whose reach matters; none: the whole mechanism's
    coordinates: tuple[int, ...]
    rows_of: Callable[[ArrayLike], Floats]
    residual: Callable[[Ops, Block, Block], Residual]
    target: Floats | None
    weight: float
    tolerances: tuple[float, ...]
    slack: tuple[float, ...]
    reaches: Callable[[Floats], Floats] | None = None
    """The point (3,) in the world that the first of ``frames`` must come to, from a target's
    numbers; None where there is no such point."""

    @property
    def n_rows(self) -> int:
        """How many rows the error has."""
        return self.groups[-1].stop

    @property
    def thresholds(self) -> tuple[float, ...]:
        """What each group's measure is compared with."""
        return tuple(g.threshold(t) for g, t in zip(self.groups, self.tolerances, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """One thing that is asked for.

    ``weight`` is relative to the other tasks of the same ``priority``, of which 0 is the highest.
    ``tolerance`` is one number for every group of rows, or one for each. ``slack`` (a number, or
    one for each row) is a half width: an error inside it counts as zero. ``name`` is what targets
    and errors are found by.
    """

    weight: float = 1.0
    tolerance: float | Sequence[float] | None = None
    slack: float | Sequence[float] = 0.0
    priority: int = 0
    name: str = ""

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism.

        Raises: UnknownNameError for frames and joints; InputError, ShapeError for the rest.
        """


@dataclass(frozen=True)
class Numbers:
    """The checked weight, tolerances and slack of a task."""

    weight: float
    tolerances: tuple[float, ...]
    slack: tuple[float, ...] = field(default=())


def checked_numbers(task: Task, groups: Sequence[Group]) -> Numbers:
    """The weight, a tolerance for each group and a slack for each row.

    Raises: InputError naming the task and the argument.
    """
    what = type(task).__name__
    weight = _number(task.weight, f"{what}.weight", least=0.0, open_end=True)
    given = task.tolerance
    if given is None:
        tolerances = tuple(TOLERANCES[g.unit] for g in groups)
    else:
        tolerances = _spread(given, len(groups), f"{what}.tolerance", "group of rows")
        for value in tolerances:
            _number(value, f"{what}.tolerance", least=0.0, open_end=True)
    slack = _spread(task.slack, groups[-1].stop, f"{what}.slack", "row")
    for value in slack:
        _number(value, f"{what}.slack", least=0.0)
    if isinstance(task.priority, bool) or not isinstance(task.priority, (int, np.integer)):
        raise InputError(f"{what}.priority must be a whole number, not {task.priority!r}")
    if not 0 <= task.priority < 8:
        raise InputError(f"{what}.priority must be 0 (the highest) to 7, not {task.priority}")
    return Numbers(weight, tolerances, slack)


def _spread(value: float | Sequence[float], n: int, what: str, each: str) -> tuple[float, ...]:
    """One number for all, or one for each."""
    if isinstance(value, (int, float, np.integer, np.floating)):
        return (float(value),) * n
    values = tuple(float(x) for x in value)
    if len(values) != n:
        raise InputError(
            f"{what} must be one number or {n}, one for each {each}, not {len(values)}"
        )
    return values


def _number(value: float, what: str, *, least: float, open_end: bool = False) -> float:
    """A finite number from ``least``; above it where the end is open."""
    number = float(value)
    if not math.isfinite(number) or number < least or (open_end and number == least):
        more = "above" if open_end else "from"
        raise InputError(f"{what} must be a finite number {more} {least:g}, not {value!r}")
    return number


def with_slack(o: Ops, error: Block, slack: Block, n: int) -> Block:
    """The error (n,) less what is allowed: zero inside the half widths ``slack`` (n,)."""
    return o.vector(
        [error[k] - o.minimum(o.maximum(error[k], -slack[k]), slack[k]) for k in range(n)]
    )


def coordinates_of(m: Mechanism, *frames: str) -> tuple[int, ...]:
    """The coordinates that move any of these frames, in order."""
    found: set[int] = set()
    for name in frames:
        found.update(m.coordinates_moving(m.frame(name)))
    return tuple(sorted(found))
