"""Tasks: rows that shall become zero, and when they count as zero.

A task as people write it is frozen data. ``bind`` checks it against a mechanism and gives what the
solver works with. Structure (frames, axes, kinds) becomes part of the compiled code; targets,
weights, tolerances and slacks are numbers that go in at run time.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.residuals import Group, Residual, Unit
from linkwork.checks import finite_number, whole_number
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]

TOLERANCES: dict[Unit, float] = {"m": 1.0e-5, "rad": 1.0e-4, "1": 1.0e-6}
"""Tolerances where nothing else is said, by the unit of the rows."""

_LOWEST = 7  # priority: each one costs code


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTask:
    """A task of one mechanism: names are indices, arguments have been checked.

    Tasks with the same ``key`` have the same code. ``read(target, of)`` takes a target in any
    leading shape to numbers (..., n_target), and begins its messages with ``of``;
    ``residual(o, q, target)`` is the expression of the rows.
    """

    name: str
    key: str
    priority: int
    groups: tuple[Group, ...]
    n_target: int
    coordinates: tuple[int, ...]
    read: Callable[[ArrayLike, str], Floats]
    residual: Callable[[Ops, Block, Block], Residual]
    target: Floats | None
    weight: float
    tolerances: tuple[float, ...]
    slack: tuple[float, ...]
    target_shape: tuple[int, ...] = ()
    """(4, 4) or (3,) where compiled code takes, and checks, a target as it is given."""
    frames: tuple[str, ...] = ()  # whose reach matters; none: the whole mechanism's
    has_point: bool = False
    """Whether a target begins with the point that the origin of the first frame must come to."""
    counts_turns: tuple[int, ...] = ()
    """Indices in q of angles of which a whole turn more is not the same to this task."""
    keeps_tolerance: bool = False
    """Whether the tolerances in the options of a call are not for this task."""
    blocks: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    """Rows from, to, and the coordinates that these alone depend on; none: all on all."""
    straight: tuple[int, ...] = ()
    """Coordinates that bring their error to zero in one step, however long it is."""

    def rows_of(self, target: ArrayLike) -> Floats:
        """A target, in any leading shape, as numbers (..., n_target), a copy.

        Raises: ShapeError, InputError naming the task and the first row that is wrong.
        """
        return self.read(target, f"task '{self.name}'")

    @property
    def n_rows(self) -> int:
        """The number of rows of the error."""
        return self.groups[-1].stop

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The most that each group's measure may be."""
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

    def __post_init__(self) -> None:
        """Arrays and lists are copied, so that what the task asks for never changes."""
        for field in fields(self):
            value: Any = getattr(self, field.name)
            if isinstance(value, (np.ndarray, list)):
                value = copy.deepcopy(value)
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
                object.__setattr__(self, field.name, value)

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism.

        Raises: UnknownNameError for frames and joints; InputError, ShapeError for the rest.
        """


def no_target(_target: ArrayLike, of: str) -> Floats:
    """The numbers of a target that there is not.

    Raises: InputError.
    """
    raise InputError(f"{of}: it takes no target")


def bound(  # noqa: PLR0913  all but the task are named
    task: Task,
    *,
    name: str,
    key: str,
    groups: Sequence[Group],
    coordinates: Sequence[int],
    residual: Callable[[Ops, Block, Block], Residual],
    target: Any = None,
    n_target: int = 0,
    read: Callable[[ArrayLike, str], Floats] = no_target,
    tolerances: Sequence[float] | None = None,
    **rest: Any,
) -> BoundTask:
    """A task of one mechanism, its weight, tolerance, slack and own target checked.

    ``name`` and ``tolerances`` are defaults; what else is given are fields of `BoundTask`.

    Raises: InputError naming the task and the argument; what ``read`` raises for the target.
    """
    what = type(task).__name__
    if not isinstance(task.name, str):
        raise InputError(f"{what}.name must be text, not {task.name!r}")
    name = task.name or name
    own = None
    if n_target and target is not None:
        own = read(target, f"task '{name}'")
        own.setflags(write=False)
    usual = tolerances or [TOLERANCES[g.unit] for g in groups]
    given = usual if task.tolerance is None else task.tolerance
    allowed = _spread(given, len(groups), f"{what}.tolerance", "group of rows")
    slack = _spread(task.slack, groups[-1].stop, f"{what}.slack", "row")
    slack = tuple(finite_number(s, f"{what}.slack", least=0.0) for s in slack)
    return BoundTask(
        name=name,
        key=f"{key} slack={any(slack)}",
        priority=whole_number(task.priority, f"{what}.priority", least=0, most=_LOWEST),
        groups=tuple(groups),
        n_target=n_target,
        coordinates=tuple(coordinates),
        read=read,
        residual=residual,
        target=own,
        weight=finite_number(task.weight, f"{what}.weight", above=0.0),
        tolerances=tuple(finite_number(t, f"{what}.tolerance", above=0.0) for t in allowed),
        slack=slack,
        **rest,
    )


def has_slack(task: Task) -> bool:
    """Whether anything is allowed to a task, which then measures in true radians and metres."""
    slack = np.asarray(task.slack)
    return bool(np.any(slack)) if slack.dtype.kind in "fiub" else True  # else refused by `bound`


def _spread(value: Any, n: int, what: str, each: str) -> tuple[Any, ...]:
    """One number for all, or one for each."""
    if isinstance(value, str):
        raise InputError(f"{what} must be numbers, not {value!r}")
    try:
        values: tuple[Any, ...] = tuple(value)
    except TypeError:  # a single one
        return (value,) * n
    if len(values) != n:
        raise InputError(
            f"{what} must be one number or {n}, one for each {each}, not {len(values)}"
        )
    return values


def beyond_slack(o: Ops, residual: Residual, slack: Block, groups: Sequence[Group]) -> Residual:
    """A residual less its slack: errors inside the half widths ``slack`` (k,) are nothing.

    A row inside asks for nothing and holds nothing: its columns are zero as well.
    """
    n = groups[-1].stop
    inside = [o.less(o.absolute(residual.error[k]), slack[k]) for k in range(n)]
    error = with_slack(o, residual.error, slack, n)
    counts = [o.select(each, 0.0, 1.0) for each in inside]
    columns = [o.vector([counts[k] * c[k] for k in range(n)]) for c in residual.columns]
    parts = [o.part(error, g.start, g.stop) for g in groups]
    return Residual(error, columns, [o.dot(part, part) for part in parts])


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


def turns_freely(m: Mechanism, coordinate: int) -> bool:
    """Whether a coordinate's angle has no limits, and a whole turn of it changes no pose.

    It does where another joint follows by a ratio that is not whole, or slides.
    """
    last = int(m.q_start[coordinate + 1]) - 1
    if np.isfinite(m.lower[last]) or np.isfinite(m.upper[last]):
        return False
    followers = [b for b in m.followers() if int(m.coordinate[b]) == coordinate]
    return all(
        m.body_joint_types[b].turns and float(m.multiplier[b]).is_integer() for b in followers
    )
