"""An inverse kinematics problem: tasks, limits and objectives, what moves, where numbers stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.position_limits import bounded_places, limited_angles
from linkwork.solve.least_squares import Elimination, RowBlock, sparse_elimination
from linkwork.solve.limits import BoundLimit, Limit
from linkwork.solve.objectives import BoundObjective, Objective
from linkwork.solve.tasks import BoundTask, Task

Floats = NDArray[np.float64]


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
        targets=rows.take_all([t.kind.n for t in problem.tasks]),
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


class Ball(NamedTuple):
    """A spherical joint that moves: where it begins in x and among the columns, and its limit."""

    place: int
    column: int
    limit: float  # rad, infinite where it may turn any way


class Input(NamedTuple):
    """One array that compiled code takes for each row: whose numbers it has, and where they go.

    Poses go in as matrices (4, 4), their ``span`` are 12 parameters. Where it is ``raw``, code
    takes what people give as it is and checks it; else it is read first.
    """

    name: str
    span: Span
    shape: tuple[int, ...]
    raw: bool
    own: Floats | None  # the numbers (..., n) where none are given
    of: BoundTask | BoundLimit | BoundObjective

    @property
    def is_pose(self) -> bool:
        """Whether it is a matrix (4, 4)."""
        return self.shape == (4, 4)

    def array(self, numbers: Floats) -> Floats:
        """Numbers (..., n) as code takes them (..., *shape)."""
        if not self.is_pose:
            return numbers
        T = np.zeros((*numbers.shape[:-1], 4, 4))
        T[..., :3, 3], T[..., 3, 3] = numbers[..., :3], 1.0
        T[..., :3, :3] = numbers[..., 3:].reshape(*numbers.shape[:-1], 3, 3)
        return T


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Tasks, limits and objectives of one mechanism, and the coordinates that may move.

    ``moved`` are indices into q, ``moved_v`` into v; ``held`` are those positions that anything
    asked for also depends on, but that stay as they are given.
    """

    mechanism: Mechanism
    tasks: tuple[BoundTask, ...]  # by priority, then as given
    order: tuple[str, ...]  # the names of the tasks as they were given
    limits: tuple[BoundLimit, ...]
    objectives: tuple[BoundObjective, ...]
    coordinates: tuple[int, ...]
    moved: tuple[int, ...]
    moved_v: tuple[int, ...]
    held: tuple[int, ...]
    joint_weights: tuple[float, ...] | None  # of moved_v
    length: float  # m, what the frames can reach from their first joint, at least roughly
    asked: dict[str, Any]  # the arguments of `make_problem`, from which a copy is made

    def __reduce__(self) -> tuple[Callable[..., Problem], tuple[dict[str, Any]]]:
        return _remade, (self.asked,)

    @cached_property
    def layout(self) -> Layout:
        """The places of the numbers of `parameters` and `settings`."""
        return layout_of(self)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The arrays that compiled code takes beside q0: targets, and numbers of limits."""
        layout = self.layout
        found = [
            Input(t.name, span, t.kind.shape or (t.kind.n,), bool(t.kind.shape), t.target, t)
            for t, span in zip(self.tasks, layout.targets, strict=True)
        ]
        found += [
            Input(each.name, span, (each.n_numbers,), False, each.numbers, each)
            for each, span in zip(self.limits, layout.limit_numbers, strict=True)
        ]
        found += [
            Input(each.name, span, (each.n_target,), False, each.target, each)
            for each, span in zip(self.objectives, layout.objective_targets, strict=True)
        ]
        return tuple(each for each in found if each.span[1] > each.span[0])

    def elimination(self, members: Sequence[int]) -> Elimination | None:
        """The way to solve for the rows of these tasks; None where no task is sparse."""
        if not any(self.tasks[k].blocks for k in members):
            return None
        return sparse_elimination(self.row_blocks(members), len(self.moved_v))

    def row_blocks(self, members: Sequence[int]) -> list[RowBlock]:
        """The rows of these tasks, one below the other, and the columns that they depend on."""
        place = {v: k for k, v in enumerate(self.moved_v)}
        found: list[RowBlock] = []
        first = 0
        for k in members:
            task = self.tasks[k]
            for start, stop, own in task.blocks or ((0, task.n_rows, task.coordinates),):
                moved = (place[v] for v in expanded(self.mechanism.v_start, own) if v in place)
                found.append(RowBlock(first + start, first + stop, frozenset(moved)))
            first += task.n_rows
        return found

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The structure that code depends on: problems with the same key share it."""
        return (
            self.mechanism.digest,
            *(f"task {t.priority} {t.key}" for t in self.tasks),
            *(f"limit {limit.key}" for limit in self.limits),
            *(f"objective {objective.key}" for objective in self.objectives),
            "moved " + ",".join(map(str, self.coordinates)),
            f"joint weights {self.joint_weights is not None}",
        )

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The places of the tasks in `tasks`, for each priority that there is."""
        priorities = sorted({t.priority for t in self.tasks})
        return tuple(
            tuple(k for k, t in enumerate(self.tasks) if t.priority == p) for p in priorities
        )

    @property
    def priority0_tasks(self) -> tuple[int, ...]:
        """The places of the tasks that decide on success: those of priority 0."""
        return tuple(k for k, t in enumerate(self.tasks) if t.priority == 0)

    @property
    def has_secondary_goals(self) -> bool:
        """Whether there is anything to make better once the tasks of priority 0 are done."""
        return len(self.priority0_tasks) < len(self.tasks) or bool(self.objectives)

    @cached_property
    def resting(self) -> tuple[int, ...]:
        """The indices in q of what does not move though a limit bounds it."""
        moved = set(self.moved)
        still = [k for k in range(self.mechanism.n_q) if k not in moved]
        turning = limited_angles(self.mechanism, still)
        around = expanded(self.mechanism.q_start, turning)
        return tuple(sorted({*bounded_places(self.mechanism, still), *around}))

    @cached_property
    def lower(self) -> Floats:
        """Lower limits of what moves, from the description (n,)."""
        return self.mechanism.lower[list(self.moved)]

    @cached_property
    def upper(self) -> Floats:
        """Upper limits of what moves, from the description (n,)."""
        return self.mechanism.upper[list(self.moved)]

    @cached_property
    def is_angle(self) -> NDArray[np.bool_]:
        """Flags (n,) of the moved positions that are angles."""
        flags = np.zeros(self.mechanism.n_q, dtype=bool)
        for c, kind in enumerate(self.mechanism.joint_types):
            stop = int(self.mechanism.q_start[c + 1])
            if kind.turns or kind is JointType.PLANAR:
                flags[stop - 1] = True
        return flags[list(self.moved)]

    @cached_property
    def bounded(self) -> frozenset[int]:
        """The indices in q that a limit other than the description's bounds."""
        return frozenset(k for limit in self.limits for k in limit.positions)

    @cached_property
    def balls(self) -> tuple[Ball, ...]:
        """The spherical joints that move, with the angles that the description and limits leave."""
        m = self.mechanism
        found: list[Ball] = []
        for c in self.coordinates:
            if m.joint_types[c] is not JointType.SPHERICAL:
                continue
            margin = max((limit.margins.get(c, 0.0) for limit in self.limits), default=0.0)
            place, column = int(m.q_start[c]), int(m.v_start[c])
            limit = float(m.angle_limit[c]) - margin
            found.append(Ball(self.moved.index(place), self.moved_v.index(column), limit))
        return tuple(found)

    @cached_property
    def same_turns(self) -> NDArray[np.bool_]:
        """Flags (n,) of the moved positions that are angles which may be a whole turn more or less.

        Not so where a joint follows by less than whole turns, where a task counts them, or where a
        limit other than the description's may.
        """
        m = self.mechanism
        counted = {k for task in self.tasks for k in task.counts_turns} | self.bounded
        for body in m.followers():
            whole = float(m.multiplier[body]).is_integer() and m.body_joint_types[body].turns
            if not whole:
                counted.add(int(m.q_start[int(m.coordinate[body]) + 1]) - 1)
        return self.is_angle & np.array([k not in counted for k in self.moved], dtype=bool)

    @cached_property
    def straight(self) -> frozenset[int]:
        """The numbers of v of coordinates whose steps may be of any length."""
        found = {c for task in self.tasks for c in task.straight}
        found -= {c for t in self.tasks for c in t.coordinates if c not in t.straight}
        found -= {c for goal in self.objectives for c in goal.coordinates}
        return frozenset(expanded(self.mechanism.v_start, sorted(found)))

    @cached_property
    def carrying(self) -> frozenset[int]:
        """The numbers of v of slides without limits, which carry all else to where it is needed."""
        m = self.mechanism
        found: set[int] = set()
        for c in self.coordinates:
            kind, q, v = m.joint_types[c], int(m.q_start[c]), int(m.v_start[c])
            free = np.isinf(m.lower[q : q + kind.n_q]) & np.isinf(m.upper[q : q + kind.n_q])
            found |= {v + k for k in range(kind.n_lengths) if free[k]}
        return frozenset(found)

    @cached_property
    def wraps(self) -> NDArray[np.bool_]:
        """Flags (n,) of the moved positions that are angles without any limit, on any turn."""
        return self.same_turns & np.isinf(self.lower) & np.isinf(self.upper)

    @cached_property
    def floats(self) -> bool:
        """Whether a joint moves whose positions are more than its velocities."""
        return len(self.moved) != len(self.moved_v)


def make_problem(
    m: Mechanism,
    tasks: Task | Sequence[Task],
    *,
    joints: str | Sequence[str] | None = None,
    fixed: str | Sequence[str] = (),
    limits: Limit | Iterable[Limit] = (),
    objectives: Objective | Iterable[Objective] = (),
    joint_weights: Mapping[str, float] | None = None,
) -> Problem:
    """The problem of doing ``tasks`` by ``joints``, by default all that any of them depends on.

    Joints in ``fixed`` do not move, and neither do those of weight 0.

    Raises: UnknownNameError for a frame or joint; InputError where there is nothing to do or to
    move, for a joint that moves nothing, reversed limits and weights that are not positive.
    """
    given_tasks = listed(tasks, Task, "tasks", "Pose('tool0')")
    given_limits = listed(limits, Limit, "limits", "PositionLimit(0.05)")
    given_objectives = listed(objectives, Objective, "objectives", "Centred()")
    if not given_tasks:
        raise InputError("there is no task: give at least one, such as Pose('tool0')")
    bound = _named([task.bind(m) for task in given_tasks])
    goals = tuple(objective.bind(m) for objective in given_objectives)
    bounds = tuple(limit.bind(m) for limit in given_limits)
    moving = sorted({c for each in (*bound, *goals) for c in each.coordinates})
    if not moving:
        names = ", ".join(f"'{task.name}'" for task in bound)
        raise InputError(f"no joint moves {names}: fixed to the base")
    weights = _weights_by_name(joint_weights)
    still = _checked_weights(m, weights) | {m.joint(name) for name in _names(fixed)}
    chosen = _chosen(m, moving, joints, still)
    moved, moved_v = expanded(m.q_start, chosen), expanded(m.v_start, chosen)
    read = sorted({*moving, *(c for limit in bounds for c in limit.coordinates)})
    frozen = [k for k in expanded(m.q_start, read) if k not in set(moved)]
    ordered = sorted(bound, key=lambda task: task.priority)
    if ordered[0].priority != 0:
        raise InputError("at least one task must have priority 0, the highest: it decides")
    return Problem(
        mechanism=m,
        tasks=tuple(ordered),
        order=tuple(task.name for task in bound),
        limits=bounds,
        objectives=goals,
        coordinates=tuple(chosen),
        moved=tuple(moved),
        moved_v=tuple(moved_v),
        held=tuple(frozen),
        joint_weights=_weights_of(m, chosen, weights) if weights else None,
        length=longest_way(m, ordered),
        asked={
            "m": m,
            "tasks": tuple(given_tasks),
            "joints": joints,
            "fixed": fixed,
            "limits": tuple(given_limits),
            "objectives": tuple(given_objectives),
            "joint_weights": weights or None,
        },
    )


def _remade(asked: dict[str, Any]) -> Problem:
    """The problem of these arguments, for pickle: it cannot hold functions."""
    return make_problem(**asked)


_Asked = TypeVar("_Asked", Task, Limit, Objective)


def listed(given: Any, kind: type[_Asked], name: str, example: str) -> list[_Asked]:
    """One task, limit or objective, or several, as a list.

    Raises: InputError for what is none; ``name`` and ``example`` say what is meant.
    """
    if isinstance(given, kind):
        return [given]
    wanted = f"{name} must be one or several, such as {example}"
    try:
        several: list[Any] = list(given)
    except TypeError:
        raise InputError(f"{wanted}, not {given!r:.60}") from None
    for each in several:
        if not isinstance(each, kind):
            raise InputError(f"{wanted}; {each!r:.60} is none")
    return several


def _named(tasks: list[BoundTask]) -> list[BoundTask]:
    """The tasks under names that differ: of two alike, the second gets ``_2``."""
    seen: dict[str, int] = {}
    result: list[BoundTask] = []
    for task in tasks:
        count = seen[task.name] = seen.get(task.name, 0) + 1
        result.append(task if count == 1 else replace(task, name=f"{task.name}_{count}"))
    return result


def _weights_by_name(weights: Any) -> dict[str, float]:
    if weights is not None and not isinstance(weights, Mapping):
        raise InputError(
            f"joint_weights must be a mapping of names of joints to weights, such as "
            f"{{'base': 0.1}}, not {weights!r}"
        )
    return dict(cast("Mapping[str, float]", weights or {}))


def _checked_weights(m: Mechanism, weights: Mapping[str, float]) -> set[int]:
    """The coordinates of weight 0, which are frozen."""
    frozen: set[int] = set()
    for name, value in weights.items():
        c = m.joint(name)
        if finite_number(value, f"joint_weights['{name}'] (0: frozen)", least=0.0) == 0.0:
            frozen.add(c)
    return frozen


def _weights_of(
    m: Mechanism, chosen: Sequence[int], weights: Mapping[str, float]
) -> tuple[float, ...]:
    by_coordinate = {m.joint(name): float(value) for name, value in weights.items()}
    return tuple(by_coordinate.get(c, 1.0) for c in chosen for _ in range(m.joint_types[c].n_v))


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _chosen(
    m: Mechanism, moving: list[int], joints: str | Sequence[str] | None, frozen: set[int]
) -> list[int]:
    """The coordinates that move: those named, else all that matter, less the frozen ones."""
    allowed = ", ".join(m.joint_names[c] for c in moving)
    if joints is None:
        chosen = [c for c in moving if c not in frozen]
    else:
        names = _names(joints)
        if not names:
            raise InputError(f"joints is empty: nothing would move; these matter: {allowed}")
        chosen = sorted({m.joint(name) for name in names} - frozen)
        idle = [m.joint_names[c] for c in chosen if c not in moving]
        if idle:
            raise InputError(
                f"{', '.join(idle)} moves nothing that is asked for; these do: {allowed}"
            )
    if not chosen:
        raise InputError(
            f"all joints are fixed, or frozen by weights of 0: nothing would move; these matter: "
            f"{allowed}"
        )
    for c in chosen:
        part = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        if np.any(m.lower[part] > m.upper[part]):
            raise InputError(
                f"joint '{m.joint_names[c]}' has its lower limit above its upper one: "
                f"{m.lower[part]} > {m.upper[part]}; mend the description"
            )
    return chosen


def expanded(starts: NDArray[np.int64], coordinates: Sequence[int]) -> list[int]:
    """The indices in q, or in v, of some coordinates, by where those of each start."""
    return [k for c in coordinates for k in range(int(starts[c]), int(starts[c + 1]))]


def longest_way(m: Mechanism, tasks: Sequence[BoundTask]) -> float:
    """The longest way from a first joint to a frame of the tasks, in metres; 1 where there is none.

    Tasks without frames, such as the centre of mass, count with all links.
    """
    frames = sorted({frame for task in tasks for frame in task.frames})
    named = [m.frame(name) for name in frames] or list(range(m.n_link_frames))
    longest = max(way(m, m.frame_names[frame]) for frame in named)
    return longest if longest > 0.0 else 1.0


def way(m: Mechanism, frame: str) -> float:
    """The lengths between the joints from the first that moves to the frame, added up.

    Bounded slides count with their larger end.
    """
    index = m.frame(frame)
    path = m.ancestry(int(m.frame_body[index]))
    path = [b for b in path if m.body_joint_types[b] is not JointType.FIXED]
    total = float(np.linalg.norm(m.p_body_frame[index]))
    for place, b in enumerate(path):
        if place > 0:
            total += float(np.linalg.norm(m.p_parent_joint[b]))
        if m.body_joint_types[b] is JointType.PRISMATIC:
            start = int(m.q_start[int(m.coordinate[b])])
            ends = m.multiplier[b] * np.array([m.lower[start], m.upper[start]]) + m.offset[b]
            total += float(np.max(np.abs(ends[np.isfinite(ends)]), initial=0.0))
    return total


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


def priority0_part(problem: Problem) -> Problem:
    """The tasks of priority 0 alone, with the joints that they, or coupled limits, depend on."""
    tasks = [problem.tasks[k] for k in problem.priority0_tasks]
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
