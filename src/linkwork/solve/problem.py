"""An inverse kinematics problem: tasks, limits and objectives, what moves, where numbers stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number
from linkwork.errors import InputError
from linkwork.legible import legible
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.position_limits import bounded_places, limited_angles
from linkwork.solve.least_squares import Elimination, RowBlock, sparse_elimination
from linkwork.solve.limits import BoundLimit, Limit
from linkwork.solve.objectives import BoundObjective, Objective
from linkwork.solve.tasks import BoundTask, Task

Floats = NDArray[np.float64]


Weight = float | tuple[float, ...]
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

    def take(self, *sizes: int) -> tuple[Span, ...]:
        """Spans of so many numbers."""
        stops = [self.total + sum(sizes[: k + 1]) for k in range(len(sizes))]
        self.total += sum(sizes)
        return tuple((stop - size, stop) for stop, size in zip(stops, sizes, strict=True))


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

    ``moved`` are indices into q, ``moved_v`` into v.
    """

    mechanism: Mechanism
    tasks: tuple[BoundTask, ...]  # by priority, then as given
    order: tuple[str, ...]  # the names of the tasks as they were given
    limits: tuple[BoundLimit, ...]
    objectives: tuple[BoundObjective, ...]
    coordinates: tuple[int, ...]
    weights: Mapping[int, Weight] | None  # of coordinates; 1 for what is not named

    def summary(self, *, clear: bool) -> str:
        """The problem in one line: tasks, joints that move, limits, objectives.

        ``clear``: whether a `Clearance` is kept beside its limits.
        """
        kinds = {task.name: type(task.task).__name__ for task in self.tasks}
        names = {name: re.sub("(?<=.)(?=[A-Z])", " ", kind).lower() for name, kind in kinds.items()}
        told = [", ".join(f"{names[name]} '{name}'" for name in self.order[:3])]
        if len(self.order) > 3:
            told[0] += f" and {len(self.order) - 3} more"
        told.append(f"{len(self.coordinates)} joint{'s' if len(self.coordinates) != 1 else ''}")
        limits = [limit.name for limit in self.limits] + (["clearance"] if clear else [])
        objectives = [objective.name for objective in self.objectives]
        for kind, members in (("limits", limits), ("objectives", objectives)):
            if members:
                told.append(f"{kind} {', '.join(members)}")
        return legible(f"'{self.mechanism.name}': {'; '.join(told)}")

    def __reduce__(self) -> tuple[Callable[[], Problem], tuple[()]]:
        """The arguments of `make_problem`, for pickle: it cannot hold functions."""
        names, bound = self.mechanism.joint_names, {task.name: task for task in self.tasks}
        weights = None if self.weights is None else {names[c]: w for c, w in self.weights.items()}
        asked: dict[str, Any] = {
            "m": self.mechanism,
            "tasks": [replace(bound[name].task, name=name) for name in self.order],
            "joints": [names[c] for c in self.coordinates],
            "others": self.coordinates,
            "limits": [limit.source for limit in self.limits],
            "objectives": [objective.source for objective in self.objectives],
            "joint_weights": weights,
        }
        return partial(make_problem, **asked), ()

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """The indices in q of what moves."""
        return tuple(self.mechanism.q_indices(self.coordinates))

    @cached_property
    def moved_v(self) -> tuple[int, ...]:
        """The indices in v of what moves."""
        return tuple(self.mechanism.v_indices(self.coordinates))

    @cached_property
    def held(self) -> tuple[int, ...]:
        """The indices in q of what anything asked for also depends on, but that stays."""
        asked = (*self.tasks, *self.objectives, *self.limits)
        read = sorted({c for each in asked for c in each.coordinates})
        return tuple(k for k in self.mechanism.q_indices(read) if k not in set(self.moved))

    @cached_property
    def length(self) -> float:
        """The length (m) that the frames can reach from their first joint, at least roughly.

        The longest way from a first joint to a frame of the tasks; 1 m where there is none. Tasks
        without frames, such as the centre of mass, count with all links.
        """
        m = self.mechanism
        frames = {frame for task in self.tasks for frame in task.frames}
        named = frames or m.frame_names[: m.n_link_frames]
        return max(way(m, frame) for frame in named) or 1.0

    @cached_property
    def joint_weights(self) -> tuple[float, ...] | None:
        """The weight of each number of v that moves; None where all weigh the same."""
        if self.weights is None:
            return None
        m, found = self.mechanism, []
        for k in self.moved_v:
            c = m.coordinate_of_v(k)
            own = self.weights.get(c, 1.0)
            found.append(own[k - int(m.v_start[c])] if isinstance(own, tuple) else own)
        return tuple(found)

    @cached_property
    def layout(self) -> Layout:
        """The places of the numbers of `parameters` and `settings`."""
        rows, call = _Counter(), _Counter()
        needs_start = any(limit.needs_start for limit in self.limits)
        shared = {k for level in self.levels if len(level) > 1 for k in level}
        return Layout(
            targets=rows.take(*[t.kind.n for t in self.tasks]),
            held=rows.take(len(self.held))[0],
            start=rows.take(len(self.moved) if needs_start else 0)[0],
            limit_numbers=rows.take(*[limit.n_numbers for limit in self.limits]),
            objective_targets=rows.take(*[each.n_target for each in self.objectives]),
            n_parameters=rows.total,
            thresholds=call.take(*[len(t.groups) for t in self.tasks]),
            weights=call.take(*[int(k in shared) for k in range(len(self.tasks))]),
            slacks=call.take(*[t.n_rows if any(t.slack) else 0 for t in self.tasks]),
            joint_weights=call.take(0 if self.weights is None else len(self.moved_v))[0],
            limit_settings=call.take(*[len(limit.settings) for limit in self.limits]),
            objective_weights=call.take(*[1] * len(self.objectives)),
            n_settings=call.total,
        )

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
                moved = (place[v] for v in self.mechanism.v_indices(own) if v in place)
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
            f"joint weights {self.weights is not None}",
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
        around = self.mechanism.q_indices(turning)
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
        kinds = self.mechanism.kinds_of_q
        return np.array([kinds[k] == "angle" for k in self.moved], dtype=bool)

    @cached_property
    def bounded(self) -> frozenset[int]:
        """The indices in q that a limit other than the description's bounds."""
        return frozenset(k for limit in self.limits for k in limit.positions)

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int, int], ...]:
        """The quaternions of moved joints: the coordinate, where it begins in x and in the columns.

        The column is that of the first of its three turns.
        """
        m = self.mechanism
        kinds = [(c, m.joint_types[c]) for c in self.coordinates]
        return tuple(
            (
                c,
                self.moved.index(m.q_start[c]) + kind.n_lengths,
                self.moved_v.index(m.v_start[c]) + kind.n_lengths,
            )
            for c, kind in kinds
            if kind.has_quaternion
        )

    @cached_property
    def balls(self) -> tuple[Ball, ...]:
        """The spherical joints that move, with the angles that the description and limits leave."""
        m = self.mechanism
        found: list[Ball] = []
        for c, place, column in self.quaternions:
            if m.joint_types[c] is JointType.SPHERICAL:
                margin = max((limit.margins.get(c, 0.0) for limit in self.limits), default=0.0)
                found.append(Ball(place, column, float(m.angle_limit[c]) - margin))
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
        return frozenset(self.mechanism.v_indices(sorted(found)))

    @cached_property
    def places(self) -> tuple[int | None, ...]:
        """The place in x of each moved velocity; None for those on a group."""
        found: list[int | None] = []
        for c in self.coordinates:
            kind, place = self.mechanism.joint_types[c], self.moved.index(self.mechanism.q_start[c])
            found += [None if kind.has_quaternion else place + k for k in range(kind.n_v)]
        return tuple(found)

    @cached_property
    def slides(self) -> frozenset[int]:
        """The numbers of v that are lengths (m)."""
        kinds = enumerate(self.mechanism.kinds_of_v)
        return frozenset(k for k, kind in kinds if kind == "length")

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        """For each number of v 1 where it is an angle's, and where it is a slide's a length (m)."""
        return tuple(self.length if k in self.slides else 1.0 for k in range(self.mechanism.n_v))

    @cached_property
    def carrying(self) -> frozenset[int]:
        """The numbers of v of slides without limits, which carry all else to where it is needed."""
        m = self.mechanism
        found: set[int] = set()
        for k in self.slides.intersection(self.moved_v):
            c = m.coordinate_of_v(k)
            place = int(m.q_start[c]) + k - int(m.v_start[c])
            if np.isinf([m.lower[place], m.upper[place]]).all():
                found.add(k)
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
    joint_weights: Mapping[str, float | Sequence[float]] | None = None,
    others: Iterable[int] = (),
) -> Problem:
    """The problem of doing ``tasks`` by ``joints``, by default all that any of them depends on.

    Joints in ``fixed`` do not move, and neither do those of weight 0. A joint with several numbers
    of v may have a weight above 0 for each. ``others`` are coordinates that something else depends
    on: ``joints`` may name them.

    Raises: UnknownNameError for a frame or joint; InputError where there is nothing to do or to
    move, for a joint that moves nothing, reversed limits and weights that are not positive.
    """
    given_tasks = listed(tasks, Task, "tasks", "Pose('tool0')")
    given_limits = listed(limits, Limit, "limits", "PositionLimit(0.05)")
    given_objectives = listed(objectives, Objective, "objectives", "Centred()")
    if not given_tasks:
        raise InputError("there is no task: give at least one, such as Pose('tool0')")
    bound = _named([task.bind(m) for task in given_tasks])
    goals = tuple(replace(each.bind(m), source=each) for each in given_objectives)
    bounds = tuple(replace(each.bind(m), source=each) for each in given_limits)
    moving = sorted({c for each in (*bound, *goals) for c in each.coordinates})
    if not moving:
        names = ", ".join(f"'{task.name}'" for task in bound)
        pairs = any(len(task.frames) > 1 for task in bound)
        why = "both frames are fixed to each other" if pairs else "fixed to the base"
        raise InputError(f"no joint moves {names}: {why}")
    if joint_weights is not None and not isinstance(joint_weights, Mapping):
        raise InputError(
            f"joint_weights must be a mapping of names of joints to weights, such as "
            f"{{'base': 0.1}}, not {joint_weights!r}"
        )
    weights = {m.joint(name): _weight(m, name, w) for name, w in (joint_weights or {}).items()}
    still = {c for c, weight in weights.items() if weight == 0.0}
    frozen = still | {m.joint(name) for name in _names(fixed)}
    chosen = _chosen(m, moving, sorted({*moving, *others}), joints, frozen)
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
        weights=weights or None,
    )


def _weight(m: Mechanism, name: str, value: Any) -> Weight:
    """The weight of a joint, or one for each of its numbers of v.

    Raises: UnknownNameError; InputError naming the joint.
    """
    what = f"joint_weights['{name}']"
    if not isinstance(value, (list, tuple, np.ndarray)):
        return finite_number(value, f"{what} (0: frozen)", least=0.0)
    values = tuple(finite_number(x, what, above=0.0) for x in cast("Sequence[Any]", value))
    n_v = m.joint_types[m.joint(name)].n_v
    if len(values) != n_v:
        raise InputError(f"{what} must be one number or {n_v}, not {len(values)}")
    return values


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


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _chosen(
    m: Mechanism,
    moving: list[int],
    known: list[int],
    joints: str | Sequence[str] | None,
    frozen: set[int],
) -> list[int]:
    """The coordinates that move: those named, of ``known``, else ``moving``, less the frozen."""
    allowed = ", ".join(m.joint_names[c] for c in known)
    if joints is None:
        chosen = [c for c in moving if c not in frozen]
    else:
        names = _names(joints)
        if not names:
            raise InputError(f"joints is empty: nothing would move; these matter: {allowed}")
        chosen = sorted({m.joint(name) for name in names} - frozen)
        idle = [m.joint_names[c] for c in chosen if c not in known]
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
        part = m.q_slice(c)
        if np.any(m.lower[part] > m.upper[part]):
            raise InputError(
                f"joint '{m.joint_names[c]}' has its lower limit above its upper one: "
                f"{m.lower[part]} > {m.upper[part]}; mend the description"
            )
    return chosen


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
    chosen = set(problem.coordinates)
    ties = [chosen.intersection(task.coordinates) for task in problem.tasks]
    ties += [chosen.intersection(limit.coordinates) for limit in problem.limits if limit.coupled]
    groups: list[set[int]] = [{c} for c in problem.coordinates]
    for tie in ties:
        together = [group for group in groups if group & tie]
        if len(together) > 1:
            groups = [group for group in groups if not group & tie]
            groups.append(set[int]().union(*together))
    if len(groups) == 1:
        return (problem,)
    parts: list[Problem] = []
    for members in sorted(groups, key=min):

        def ours(each: BoundTask | BoundLimit, members: set[int] = members) -> bool:
            moved = chosen.intersection(each.coordinates)  # none: it belongs to the first part
            return bool(moved & members) or (not parts and not moved)

        tasks = [task for task in problem.tasks if ours(task)]
        limits = [limit for limit in problem.limits if not limit.coupled or ours(limit)]
        parts.append(_restricted(problem, tasks, limits, members))
    decided = all(part.tasks and part.tasks[0].priority == 0 for part in parts)
    return tuple(parts) if decided else (problem,)


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
    names = {task.name for task in tasks}
    return replace(
        problem,
        tasks=tuple(tasks),
        order=tuple(name for name in problem.order if name in names),
        limits=tuple(limits),
        coordinates=tuple(sorted(members)),
    )
