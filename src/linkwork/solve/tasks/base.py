"""What a task is: rows that shall become zero, and when they count as zero.

A task as people write it is frozen data. ``bind`` checks it against a mechanism and gives what the
solver works with. Structure (frames, axes, kinds) becomes part of the compiled code; targets,
weights, tolerances and slacks are numbers that go in at run time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

_LOWEST = 7  # priority: each one costs code


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
    """Rows of one kind: ``start`` to ``stop`` - 1, in metres, radians or plain numbers.

    Where ``chord`` holds, the measure is that of an angle a by its chord 2 sin(a / 2), which grows
    up to half a turn.
    """

    name: str
    unit: Unit
    start: int
    stop: int
    chord: bool = False

    def threshold(self, tolerance: float) -> float:
        """The number that the group's `Residual.squared` must not exceed."""
        if self.chord:
            return (2.0 * math.sin(0.5 * min(tolerance, math.pi))) ** 2
        return tolerance * tolerance

    def error(self, squared: Floats) -> Floats:
        """The error in the group's unit from its `Residual.squared`."""
        length = np.sqrt(np.maximum(squared, 0.0))
        if self.chord:
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
    """One thing that is asked for. Where it has a ``target``, that may come later, with the call.

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


@dataclass(frozen=True, kw_only=True)
class Structure:
    """What a kind of task says of itself: see `BoundTask`. ``name`` is a default."""

    name: str
    key: str
    groups: Sequence[Group]
    coordinates: Sequence[int]
    frames: Sequence[str] = ()
    n_target: int
    rows_of: Callable[[ArrayLike], Floats]
    residual: Callable[[Ops, Block, Block], Residual]
    reaches: Callable[[Floats], Floats] | None = None


def bound(task: Task, of: Structure) -> BoundTask:
    """A task with its numbers checked: weight, tolerance, slack and its own target.

    Raises: InputError naming the task and the argument; what ``rows_of`` raises for the target.
    """
    what = type(task).__name__
    groups = tuple(of.groups)
    own: ArrayLike | None = getattr(task, "target", None)
    if not isinstance(task.priority, int) or not 0 <= task.priority <= _LOWEST:
        raise InputError(
            f"{what}.priority must be a whole number from 0 (the highest) to {_LOWEST}, "
            f"not {task.priority!r}"
        )
    weight = _number(task.weight, f"{what}.weight", above_zero=True)
    given = [TOLERANCES[g.unit] for g in groups] if task.tolerance is None else task.tolerance
    tolerances = _spread(given, len(groups), f"{what}.tolerance", "group of rows")
    slack = _spread(task.slack, groups[-1].stop, f"{what}.slack", "row")
    return BoundTask(
        name=task.name or of.name,
        key=f"{of.key} slack={any(slack)}",
        priority=int(task.priority),
        groups=groups,
        n_target=of.n_target,
        frames=tuple(of.frames),
        coordinates=tuple(of.coordinates),
        rows_of=of.rows_of,
        residual=of.residual,
        target=of.rows_of(own) if of.n_target and own is not None else None,
        weight=weight,
        tolerances=tuple(_number(t, f"{what}.tolerance", above_zero=True) for t in tolerances),
        slack=tuple(_number(s, f"{what}.slack", above_zero=False) for s in slack),
        reaches=of.reaches,
    )


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


def _number(value: float, what: str, *, above_zero: bool) -> float:
    """A finite number that is not negative, nor zero where it must be above."""
    number = float(value)
    if not math.isfinite(number) or number < 0.0 or (above_zero and number == 0.0):
        more = "above 0" if above_zero else "from 0"
        raise InputError(f"{what} must be a finite number {more}, not {value!r}")
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
