"""The least time along a path under limits of velocity, acceleration and joint forces."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import finite_number, real_array, whole_number
from linkwork.compile.numpy_abi import address, aligned
from linkwork.compile.threads import in_parallel, thread_count
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.named_positions import labels
from linkwork.mechanism.parameters import dynamics_inputs
from linkwork.robot import Robot
from linkwork.trajectory.piecewise import (
    Floats,
    Trajectory,
    from_polynomials,
    limit_rows,
    mechanism_of,
    names_of,
    tops,
)
from linkwork.trajectory.smoothing import (
    Cubics,
    Law,
    averaged,
    composed,
    derivatives,
    split_at,
)

_KEPT = 2_000_000  # numbers that a thread keeps room for
_PLACES = (0.0, 2.0, 1.0, 2.0 / 3.0, 0.5)  # 2 / k: what x grows by is u times the way
_FARTHEST = 1e100  # squares of ways are numbers
_TOGETHER = 2_000_000  # numbers in one piece of memory for motions: it is in large pages
_BEYOND = 1e-9  # rad or m: how far splines may swing over limits of positions


def time_optimal(  # noqa: PLR0913  limits and what acts on the robot, by name
    points: ArrayLike,
    *,
    robot: Robot | None = None,
    deviation: float | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    intervals: int | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The quickest motion along the path through way points (m, n) under all limits at once.

    The path is the cubic spline through the points; with a ``deviation``, straight lines between
    them with rounded corners, nowhere farther from the lines than that (rad or m, Euclidean). With
    0, and where it turns back, the motion stands still in corners. Points that repeat the one
    before are left out.

    ``velocity`` and ``acceleration`` are one number or (n,), in rad or m and s; ``torque`` the
    forces of the joints of a ``robot`` (N m, N), by its inverse dynamics with ``external``
    wrenches, ``gravity``, ``losses`` and ``armature`` as everywhere. With a robot, velocity and
    torque are its own limits where they are not given; infinity is none. Speeds at the ends are
    along the path, |dq/dt|.

    Of a mechanism with loops the points are assembled configurations. The path is that of its
    actuated joints, whose torques count; the others follow on a spline that keeps loops closed
    within 1e-6.

    Time is least for accelerations along the path that are constant on each of the
    ``intervals`` (about so many, at least three between two points; 6 for each point and at least
    100 where it is not said): with more of them the motion is a little quicker, and what is left to
    gain halves with each doubling. Limits hold between their ends too:
    velocities, accelerations and forces exceed them by less than a millionth; where that is not
    reached and a slower motion would not do (speeds at the ends, forces above their limits at
    rest), the motion is refused.

    With a ``jerk`` limit, which only motions from rest to rest take, the law of time is averaged
    over a window and then slowed until all limits hold. That is the least time on a straight line
    whose limits of velocity and acceleration are both reached; otherwise it is longer than need be,
    where jerk alone rules by a fifth. Where it is quicker the motion halts on its way: at points
    beside each other, in sharp corners. Straight lines with stops are `through` with kind="stops".

    Source: H. Pham, Q.-C. Pham, IEEE Transactions on Robotics 34 (2018); see
    `linkwork.trajectory.smoothing` for jerks.
    Raises: InputError where a limit is zero, where the limits cannot be kept (with joint and
    place), and for numbers that are not finite; ShapeError; UnsupportedFeatureError.
    """
    keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
    ends = start_speed, end_speed
    q = _points(points, "points")
    limits = _limits(q.shape[1], robot, (velocity, acceleration, torque, jerk), ends, joint_names)
    _check_keywords(robot, keywords)
    way = _Way(deviation, intervals)
    return _Solver(robot, limits, way, keywords).motions(_Paths([q], way), 0, 1)[0]


def time_optimal_all(  # noqa: PLR0913  as `time_optimal`
    points: Sequence[ArrayLike] | Floats,
    *,
    robot: Robot | None = None,
    deviation: float | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    intervals: int | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
    losses: bool = False,
    armature: ArrayLike | None = None,
    joint_names: Sequence[str] = (),
    threads: int | None = None,
) -> list[Trajectory]:
    """`time_optimal` of each of many paths (k, m, n), or k arrays (m, n), side by side on threads.

    Raises: as `time_optimal`, with the number of the path.
    """
    keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
    try:
        listed = [real_array(each, f"points[{k}]") for k, each in enumerate(points)]
    except TypeError:
        raise InputError(f"points must be several paths (m, n), not {points!r:.40}") from None
    if not listed:
        return []
    n = listed[0].shape[-1] if listed[0].ndim else 0
    for k, each in enumerate(listed):
        if each.ndim != 2 or not each.size or each.shape[1] != n:
            _points(each, f"points[{k}]")
            raise ShapeError(f"points[{k}] has {each.shape[1]} positions, and points[0] has {n}")
    ends = start_speed, end_speed
    limits = _limits(n, robot, (velocity, acceleration, torque, jerk), ends, joint_names)
    _check_keywords(robot, keywords)
    way = _Way(deviation, intervals)
    paths = _Paths(listed, way, named=True)
    if not np.abs(paths.points).max() < _FARTHEST:
        for k, each in enumerate(listed):
            _points(each, f"points[{k}]")
    solver, halt = _Solver(robot, limits, way, keywords), threading.Event()

    def work(group: tuple[int, int]) -> list[Trajectory]:
        return solver.motions(paths, *group, halt)

    count = thread_count(settings.most_threads() if threads is None else threads)
    groups = paths.groups(4 * count)
    return [each for part in in_parallel(work, groups, count, halt=halt) for each in part]


@dataclass(frozen=True)
class _Limits:
    """Limits (n,), infinite where there is none, and speeds at both ends."""

    velocity: Floats
    acceleration: Floats
    torque: Floats
    jerk: Floats
    ends: tuple[float, float]
    joint_names: tuple[str, ...]

    def name(self, joint: int) -> str:
        return f"joint '{self.joint_names[joint]}'" if self.joint_names else f"position {joint}"


def _limits(
    n: int,
    robot: Robot | None,
    given: tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None, ArrayLike | None],
    ends: tuple[float, float],
    joint_names: Sequence[str],
) -> _Limits:
    velocity, acceleration, torque, jerk = given
    joint_names = names_of(joint_names, n)
    if robot is not None:
        _check_robot(robot, n)
        velocity = robot.limits.velocity if velocity is None else velocity
        torque = robot.limits.effort if torque is None else torque
        if robot.loops:
            passive = [name not in robot.actuated for name in robot.joint_names]
            torque = np.where(passive, np.inf, torque)
        joint_names = joint_names or tuple(labels(robot.mechanism, velocities=False))
    elif torque is not None:
        raise InputError("torque limits need the robot: give robot=")
    named = {"velocity": velocity, "acceleration": acceleration, "torque": torque, "jerk": jerk}
    free = np.full(n, np.inf)
    rows = {
        name: free if each is None else _limit_row(each, n, name, joint_names)
        for name, each in named.items()
    }
    made = _Limits(
        rows["velocity"],
        rows["acceleration"],
        rows["torque"],
        rows["jerk"],
        (
            finite_number(ends[0], "start_speed", least=0.0),
            finite_number(ends[1], "end_speed", least=0.0),
        ),
        joint_names,
    )
    if np.isfinite(made.jerk).any() and any(made.ends):
        raise UnsupportedFeatureError(
            "a jerk limit is kept from rest to rest: leave out start_speed and end_speed, or jerk"
        )
    _check_bounded(made, robot)
    return made


def _limit_row(given: ArrayLike, n: int, name: str, joint_names: tuple[str, ...]) -> Floats:
    """The row of `limit_rows`; where a limit is none, its joint is named."""
    try:
        return limit_rows(given, n, name)
    except InputError:
        row = real_array(given, name)
        if not joint_names or row.shape != (n,):
            raise
        bad = int(np.flatnonzero(~(row > 0.0))[0])
        raise InputError(
            f"{name} of joint '{joint_names[bad]}' must be above zero, not {row[bad]:g}"
        ) from None


def _check_bounded(made: _Limits, robot: Robot | None) -> None:
    """Refuse a joint that no limit keeps from starting at any speed."""
    free = np.isinf(made.acceleration) & np.isinf(made.torque)
    if robot is not None and robot.loops:
        free &= [name in robot.actuated for name in robot.joint_names]
    if free.any():
        which = made.name(int(np.flatnonzero(free)[0]))
        raise InputError(
            f"{which} has no limit of acceleration or torque, so that it could start at any speed: "
            "give acceleration=, or a robot with effort limits"
        )


def _check_keywords(robot: Robot | None, keywords: Mapping[str, Any]) -> None:
    """Refuse what says something of a robot's dynamics where there is none."""
    told = [name for name, each in keywords.items() if each is not None and each is not False]
    if robot is None and told:
        raise InputError(f"{told[0]} is of a robot's dynamics: give robot=")


def _check_robot(robot: Robot, n: int) -> None:
    m = mechanism_of(robot)
    for name, kind in zip(m.joint_names, m.joint_types, strict=True):
        if kind.has_quaternion:
            raise UnsupportedFeatureError(
                f"joint '{name}' is {kind.label}: its quaternion is no polynomial; lock it, "
                "or take a robot on a fixed base"
            )
    if n != robot.n_q:
        raise ShapeError(f"points must have shape (m, {robot.n_q}) for {robot.name}, not (m, {n})")


class _Way:
    """The making of a path of points; ``bent``: curved at its ends, as the points have it."""

    def __init__(
        self, deviation: float | None, intervals: int | None, *, bent: bool = False
    ) -> None:
        self.bent = bent
        self.deviation = (
            None if deviation is None else finite_number(deviation, "deviation", least=0.0)
        )
        self.given = intervals
        if intervals is not None:
            self.given = whole_number(intervals, "intervals", least=1, most=100_000)

    def intervals(self, points: Any) -> Any:
        """The numbers of intervals that paths through some points have at least."""
        return np.maximum(100, 6 * (points - 1)) if self.given is None else self.given

    def most_pieces(self, points: Any) -> Any:
        """The most pieces that paths through some points have."""
        return np.maximum(points - 1, 1) * (1 if self.deviation is None else 3)

    def most_intervals(self, points: Any) -> Any:
        """The most intervals that they are cut into; a corner that halts has two pieces less."""
        k = _kernels()
        each = self.most_pieces(points) * (k.motions.EACH + 1)
        return each + self.intervals(points) + 2 * k.paths.HALVED + 2


class _Paths:
    """The points of many paths, one after another, and the records of `motions`."""

    def __init__(self, listed: Sequence[Floats], way: _Way, *, named: bool = False) -> None:
        m = np.array([len(each) for each in listed])
        self.way, self.named = way, named
        self.points = np.concatenate(listed)
        self.n = self.points.shape[1]
        self.most = way.most_intervals(m)
        self.numbers = self.most * (7 * self.n + 1) + 1
        """The most numbers that the motion along each is."""
        self.records = np.zeros((len(m), _kernels().motions.PATH), np.int64)
        self.records[:, 0] = np.cumsum(m) - m
        self.records[:, 1] = m
        self.records[:, 2] = way.intervals(m)

    def of(self, k: int) -> Floats:
        """The points (m, n) of a path."""
        first, m = self.records[k, :2].tolist()
        return self.points[first : first + m]

    def groups(self, parts: int) -> list[tuple[int, int]]:
        """Firsts and lasts of groups of about one size: as many as parts, or several times that."""
        ends = np.cumsum(self.numbers)
        count = parts * -(-int(ends[-1]) // (parts * _TOGETHER))
        group = (ends - 1) * count // ends[-1]
        firsts = np.flatnonzero(np.diff(group, prepend=-1)).tolist()
        return list(pairwise([*firsts, len(ends)]))

    def about(self, k: int, error: InputError) -> InputError:
        """An error that a path has, with its number where there are many."""
        return InputError(f"points[{k}]: {error}") if self.named else error


class _Room:
    """Memory that one path after another is computed in."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self.at: dict[str, int] = {}  # where they are

    def floats(self, name: str, size: int) -> Floats:
        """At least so many numbers, from a line of the cache on."""
        return self._of(name, size, aligned)

    def whole(self, name: str, size: int) -> NDArray[np.int64]:
        """At least so many whole numbers."""
        return self._of(name, size, partial(np.empty, dtype=np.int64))

    def size(self) -> int:
        """The count of numbers that it has room for."""
        return sum(len(each) for each in self._known.values())

    def _of(self, name: str, size: int, made: Callable[[int], Any]) -> Any:
        known = self._known.get(name)
        if known is None or len(known) < size:
            known = self._known[name] = made(size + size // 4)
            self.at[name] = address(known)
        return known


_rooms = threading.local()


def _room() -> _Room:
    """The memory of this thread, kept from call to call unless it is large."""
    room: _Room | None = getattr(_rooms, "room", None)
    if room is None or room.size() > _KEPT:
        room = _rooms.room = _Room()
    return room


class _Path:
    """The path on its grid that is in a room: see `linkwork.trajectory.paths`."""

    def __init__(self, room: _Room, paths: _Paths) -> None:
        self.room, self.paths, self.n = room, paths, paths.n
        self.n_pieces, self.n_intervals, self.n_states = room.whole("sizes", 0)[:3].tolist()
        self.breaks = room.floats("breaks", 0)[: self.n_pieces + 1]
        self.pieces = room.floats("pieces", 0)[: self.n_pieces * 4 * self.n].reshape(-1, 4, self.n)
        self.starts = room.floats("starts", 0)[: self.n_intervals]
        self.piece_of, self.first, self.halts = (
            room.whole(name, 0)[: self.n_intervals] for name in ("piece_of", "first", "halts")
        )
        self.stops = room.whole("stops", 0)[: self.n_pieces]
        self.length = float(self.breaks[-1])

    def law(self, span: tuple[int, int]) -> Law:
        """The law of time of the motion that was found last, from one halt to another.

        ``span``: its first and last piece.
        """
        own = slice(*np.searchsorted(self.piece_of, [span[0], span[1] + 1]).tolist())
        s = np.append(self.breaks[self.piece_of[own]] + self.starts[own], self.breaks[span[1] + 1])
        x, u = self.motion
        v = np.sqrt(x[own.start : own.stop + 1])
        t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(s) / (v[:-1] + v[1:]))])
        return Law(t, s, v, u[own].copy())

    def over(self, laws: Cubics, span: tuple[int, int]) -> tuple[Cubics, NDArray[np.int64]]:
        """Laws cut where they pass from piece to piece, and the piece of each cubic (m,)."""
        made = split_at(laws, self.breaks[span[0] : span[1] + 2])
        middle = 0.5 * (made.c[:, 0] + made.ends)
        return made, np.clip(np.searchsorted(self.breaks, middle, "right") - 1, *span)

    def states(self, name: str) -> Floats:
        """q, slopes and bends, or damping and friction, of its states (n_states, n)."""
        return self.room.floats(name, 0)[: self.n_states * self.n].reshape(-1, self.n)

    @property
    def motion(self) -> tuple[Floats, Floats]:
        """x and u of the motion that was found last."""
        size = self.n_intervals
        return self.room.floats("x", 0)[: size + 1], self.room.floats("u", 0)[:size]

    def interval(self, state: int) -> int:
        """The interval that a state is in."""
        return int(np.searchsorted(self.first, state, "right")) - 1

    def share(self, interval: int) -> float:
        """The place where an interval begins, as a share of the path."""
        return float(self.breaks[self.piece_of[interval]] + self.starts[interval]) / self.length


class _Solver:
    """One kind of question, asked of many paths."""

    def __init__(
        self, robot: Robot | None, limits: _Limits, way: _Way, keywords: dict[str, Any]
    ) -> None:
        self.robot, self.limits, self.way, self.keywords = robot, limits, way, keywords
        n = len(limits.velocity)
        self.n = n
        self.forced = robot is not None and bool(np.isfinite(limits.torque).any())
        self.lossy = self.forced and bool(keywords["losses"])
        self.smooth = bool(np.isfinite(limits.jerk).any())
        self.more: list[Floats] = []
        kernel = self.scratch = 0
        if robot is not None and self.forced:
            others = {name: each for name, each in keywords.items() if name != "losses"}
            given = dynamics_inputs(robot.mechanism, **others)
            self.kernel = robot.kernel("path_forces", parameters=given.names)
            self.more = [
                real_array(a, name) for name, a in zip(given.names, given.values, strict=True)
            ]
            shapes = self.kernel.signature.input_shapes[3:]
            for name, each, shape in zip(given.names, self.more, shapes, strict=True):
                if each.shape != shape:
                    raise ShapeError(f"{name} must have shape {shape}, not {each.shape}")
            part = self.kernel.rows.vector_part()
            kernel, self.scratch = part.listed, part.scratch
        language = _kernels().reachability
        wide = -(-n // language.WIDTH) * language.WIDTH
        accelerated = bool(np.isfinite(limits.acceleration).any())
        kinds = [limits.acceleration] * accelerated + [limits.torque] * self.forced
        self.width = width = wide * len(kinds)
        bounds = np.zeros(language.WIDTH + wide + 3 * width)
        bounds[: len(_PLACES)] = _PLACES
        bounds[language.WIDTH : language.WIDTH + n] = limits.velocity**-2.0
        below, rows, inverse = bounds[language.WIDTH + wide :].reshape(3, width)
        rows.fill(language.HUGE)
        for k, kind in enumerate(kinds):
            np.minimum(kind, language.HUGE, out=rows[k * wide : k * wide + n])
        np.negative(rows, out=below)
        np.divide(1.0, rows, out=inverse, where=rows < language.HUGE)
        lowest = np.full(2 * wide, -np.inf)  # of positions, and of them turned round
        if robot is not None:
            lowest[:n] = robot.mechanism.lower - _BEYOND
            lowest[wide : wide + n] = -robot.mechanism.upper - _BEYOND
        self.numbers = bounds, lowest, np.array([way.deviation or 0.0, *limits.ends])
        form = n, wide * accelerated, wide * self.forced, self.lossy
        ways = way.bent, way.deviation is not None
        self.question = np.array([*form, *ways, kernel, *map(address, self.numbers)], np.int64)

    def motions(
        self, paths: _Paths, first: int, last: int, halt: threading.Event | None = None
    ) -> list[Trajectory]:
        """The quickest motions along some paths; fewer once ``halt`` is set."""
        room, stages = _room(), _kernels().motions
        closed = self.robot is not None and bool(self.robot.loops)
        if not (closed or self.smooth or self.lossy):
            every = stages.LAID | stages.FOUND | stages.WRITTEN
            return self._written(every, room, paths, first, last)
        made: list[Trajectory] = []
        for k in range(first, last):
            if halt is not None and halt.is_set():
                break
            try:
                made.append(self._motion(_Paths([paths.of(k)], self.way), room))
            except InputError as error:
                raise paths.about(k, error) from None
        return made

    def _motion(self, paths: _Paths, room: _Room) -> Trajectory:
        """The motion along one path that is looked at between its stages."""
        stages = _kernels().motions
        if self.robot is not None and self.robot.loops:
            path = self._closed_path(self.robot, paths.points, room)
        else:
            path = self._laid(paths, room)
        if path is None:
            return self._still(paths.points)
        if self.lossy and self.robot is not None:
            self._write_losses(self.robot, path)
        self._run(stages.FOUND, room, path.paths, 0, 1)
        if self.smooth:
            return self._smooth(path)
        return self._written(stages.WRITTEN, room, path.paths, 0, 1)[0]

    def _written(
        self, stages: int, room: _Room, paths: _Paths, first: int, last: int
    ) -> list[Trajectory]:
        """The motions along some paths, taken through the last of their stages."""
        n, names = self.n, self.limits.joint_names
        out = np.empty(int(paths.numbers[first:last].sum()) + _kernels().paths.WIDTH)
        self._run(stages, room, paths, first, last, out)
        sizes = paths.records[first:last, 3].tolist()
        out.resize(sum(size * (7 * n + 1) + 1 for size in sizes if size), refcheck=False)
        out.setflags(write=False)
        made: list[Trajectory] = []
        at = 0
        for k, size in enumerate(sizes, first):
            if size == 0:
                made.append(self._still(paths.of(k)))
                continue
            begin = at + size + 1
            end = begin + size * 7 * n
            coefficients = out[begin:end].reshape(size, 7, n)
            made.append(
                Trajectory(times=out[at:begin], coefficients=coefficients, joint_names=names)
            )
            at = end
        return made

    def _still(self, q: Floats) -> Trajectory:
        return from_polynomials([0.0, 0.0], q[:1, None], self.limits.joint_names)

    def _laid(self, paths: _Paths, room: _Room) -> _Path | None:
        """One path and its grid; None where all points are the same."""
        self._run(_kernels().motions.LAID, room, paths, 0, 1)
        return _Path(room, paths) if room.whole("sizes", 0)[0] else None

    def _run(
        self,
        stages: int,
        room: _Room,
        paths: _Paths,
        first: int,
        last: int,
        out: Floats | None = None,
    ) -> None:
        """Take some paths through stages: see `linkwork.trajectory.motions`."""
        table = self._table(room, paths, first, last)
        k = _kernels().run(
            *(address(self.question), address(table), address(paths.records), first, last),
            *(address(paths.points), stages, 0 if out is None else address(out)),
        )
        if k < last:
            try:
                self._refuse(_Path(room, paths))
            except InputError as error:
                raise paths.about(k, error) from None

    def _table(self, room: _Room, paths: _Paths, first: int, last: int) -> NDArray[np.int64]:
        """The addresses of memory in which each of some paths has room."""
        k, n = _kernels(), self.n
        beyond = k.paths.WIDTH
        m, most = (int(each[first:last].max()) for each in (paths.records[:, 1], paths.most))
        pieces = int(paths.way.most_pieces(m))
        if self.smooth:  # which halts where it likes
            most += 2 * k.paths.HALVED * pieces
        states = 4 * most + pieces
        numbers = states * n + beyond
        floats = {
            **{"breaks": pieces + 1, "pieces": 4 * pieces * n + beyond, "spline": (2 * n + 1) * m},
            **{"starts": most, "steps": most, "x": most + 1, "u": most, "worst": 3},
            **{"q": numbers, "slopes": numbers, "bends": numbers, "span": 2 * (n + beyond)},
            "forces": 3 * numbers if self.forced else 0,
            "damping": numbers if self.lossy else 0,
            "friction": numbers if self.lossy else 0,
            "solve": k.reachability.room_of(self.width, most, states),
        }
        for name in k.motions.FLOATS:
            room.floats(name, floats[name])
        for name in k.motions.WHOLE:
            room.whole(name, most + 1)
        room.floats("scratch", self.scratch)
        more = [f"more {i}" for i in range(len(self.more))]
        for name, each in zip(more, self.more, strict=True):
            size = states * each.size
            room.floats(name, size)[:size].reshape(states, -1)[:] = each
        own = [room.at[name] for name in ("q", "slopes", "bends", *more, "forces", "scratch")]
        room.whole("arrays", len(own))[: len(own)] = own
        return np.array([room.at[name] for name in (*k.motions.FLOATS, *k.motions.WHOLE)], np.int64)

    def _write_losses(self, robot: Robot, path: _Path) -> None:
        """Write the forces that damping, and friction and springs take at v = q'.

        Springs stand with friction, as neither depends on how fast the path is gone.
        """
        self._table(path.room, path.paths, 0, 1)  # has room for them
        q, slopes = path.states("q"), path.states("slopes")
        zero = np.zeros_like(q)
        one, two = (
            robot.inverse_dynamics(q, speed, zero, losses=True, threads=1)
            - robot.inverse_dynamics(q, speed, zero, threads=1)
            for speed in (slopes, 2.0 * slopes)
        )
        beyond = np.zeros(_kernels().reachability.WIDTH)  # what lanes read on into
        for name, each in (("damping", two - one), ("friction", 2.0 * one - two)):
            path.room.floats(name, 0)[: each.size + len(beyond)] = np.append(each, beyond)

    def _closed_path(self, robot: Robot, q: Floats, room: _Room) -> _Path | None:
        """The spline through many assembled configurations on the path of the actuated joints."""
        if not np.asarray(robot.is_assembled(q)).all():
            k = int(np.flatnonzero(~np.asarray(robot.is_assembled(q)))[0])
            raise InputError(f"points[{k}] does not close the loops of {robot.name}; see assemble")
        m = robot.mechanism
        own = [int(m.q_start[m.joint(name)]) for name in robot.actuated]
        if not own:
            raise UnsupportedFeatureError(
                f"{robot.name} does not say which joints are actuated: see with_actuated"
            )
        for parts in (8, 16, 32):
            actuated = self._sampled(np.ascontiguousarray(q[:, own]), room, parts)
            if actuated is None:
                return None
            dense = np.empty((len(actuated), q.shape[1]))
            dense[0] = q[0]
            for k in range(1, len(actuated)):
                found = robot.assemble(actuated[k], q0=dense[k - 1])
                if not found.success:
                    share = k / (len(actuated) - 1)
                    raise InputError(f"at {share:.1%} of the path {found.reason}")
                dense[k] = found.q
            way = _Way(None, self.way.given, bent=True)
            path = _Solver(None, self.limits, way, {})._laid(_Paths([dense], way), room)
            if path is None:
                return None
            if np.asarray(robot.is_assembled(path.states("q"))).all():
                return path
        raise InputError("between the points the loops do not stay closed: give more points")

    def _sampled(self, points: Floats, room: _Room, parts: int) -> Floats | None:
        """Positions (k, n) along a path, parts of each of its pieces; None of no length."""
        n = points.shape[1]
        free = np.full(n, np.inf)
        limits = _Limits(free, free, free, free, (0.0, 0.0), ())
        path = _Solver(None, limits, self.way, {})._laid(_Paths([points], self.way), room)
        if path is None:
            return None
        if path.halts[1:].any():
            raise UnsupportedFeatureError(
                "a mechanism with loops does not stop in corners: give a deviation above 0, and no "
                "lines that turn back"
            )
        pieces = path.pieces
        x = np.diff(path.breaks)[:, None] * np.linspace(0.0, 1.0, parts, endpoint=False)
        x = x[:, :, None]
        c0, c1, c2, c3 = (pieces[:, None, k] for k in range(4))
        inside = (c0 + x * (c1 + x * (c2 + x * c3))).reshape(-1, n)
        return np.concatenate([inside, points[-1:]])

    def _refuse(self, path: _Path) -> NoReturn:
        """Say why there is no motion along a path."""
        limits, room, k = self.limits, path.room, _kernels()
        outcome, place = int(room.whole("sizes", 0)[3]), int(room.whole("place", 0)[0])
        if outcome == k.motions.OUTSIDE and self.robot is not None:
            self._refuse_positions(self.robot, path)
        if outcome == k.motions.NOT_FINITE:
            self.kernel(*map(path.states, ("q", "slopes", "bends")), *self.more)  # says what
            raise InputError("the joint forces along the path are too large for float64")
        if outcome == k.reachability.NOT_KEPT:
            raise InputError(
                f"limits are kept to {room.floats('worst', 0)[0]:.1e} only, and slowing all of the "
                "motion would not mend it (it changes speeds at the ends, and forces that hold the "
                "robot do not fall): give more intervals"
            )
        if self.forced:
            forces = room.floats("forces", 0)[: 3 * path.n_states * self.n]
            held = forces.reshape(-1, 3, self.n)[:, 2]
            share = np.abs(held) / limits.torque
            if (share >= 1.0).any():
                at = np.unravel_index(int(np.argmax(share)), share.shape)
                state, joint = int(at[0]), int(at[1])
                raise InputError(
                    f"{limits.name(joint)} needs {abs(held[state, joint]):.6g} to stand still at "
                    f"{path.share(path.interval(state)):.1%} of the path, and its torque limit is "
                    f"{limits.torque[joint]:g}: no motion along this path is held"
                )
        if outcome == k.reachability.NO_START:
            raise InputError(
                f"start_speed = {limits.ends[0]:g} cannot be kept: from it the path is left, or "
                "its end passed, under these limits"
            )
        if place == path.n_intervals:
            raise InputError(f"end_speed = {limits.ends[1]:g} is above what the velocities allow")
        where = path.share(min(place, path.n_intervals - 1))
        raise InputError(
            f"at {where:.1%} of the path no speed keeps all limits; the motion cannot pass there"
        )

    def _refuse_positions(self, robot: Robot, path: _Path) -> NoReturn:
        """Say where a path leaves the limits of positions, in which its points are."""
        q, lower, upper = path.states("q"), robot.limits.lower, robot.limits.upper
        outside = np.maximum(lower - q, q - upper)
        state, joint = map(int, np.unravel_index(int(outside.argmax()), outside.shape))
        raise InputError(
            f"{self.limits.name(joint)} is at {q[state, joint]:.6g} at "
            f"{path.share(path.interval(state)):.1%} of the path, beyond its limits "
            f"{lower[joint]:g} to {upper[joint]:g}: splines swing over; give more points, or a "
            "deviation"
        )

    # ---- bounded jerk

    def _smooth(self, path: _Path) -> Trajectory:
        """The motion with its jerks bounded: in parts between halts, each by the best law.

        What slows a part slows all of it, so it halts around the pieces that are in its way where
        this is quicker: around way points that are close to each other, and sharp corners.
        """
        known: dict[_Span, _Part] = {}
        tried: dict[_Span, int] = {}
        halts = path.stops.copy()
        self._find_parts(path, known)
        while True:
            asked: dict[_Span, list[int]] = {}
            for span in _spans(halts):
                left = known[span].tries(path.breaks, span[0])[tried.get(span, 0) :]
                if left:
                    asked[span] = left[0]
            if not asked:
                break
            path.stops[:] = halts
            for at in asked.values():
                path.stops[at] = 1
            self._run(_kernels().motions.CUT, path.room, path.paths, 0, 1)
            path = _Path(path.room, path.paths)
            if self.lossy and self.robot is not None:
                self._write_losses(self.robot, path)
            self._find_parts(path, known)
            for span, at in asked.items():
                tried[span] = tried.get(span, 0) + 1
                parts = [each for each in _spans(path.stops) if span[0] <= each[0] <= span[1]]
                if sum(known[each].duration for each in parts) < _WORTH * known[span].duration:
                    halts[at] = 1
        parts = [known[span].motion(path, self.limits.joint_names) for span in _spans(halts)]
        return parts[0] if len(parts) == 1 else parts[0].then(*parts[1:])

    def _find_parts(self, path: _Path, known: dict[_Span, _Part]) -> None:
        """Add the parts of a path that are not known: each the quickest of some laws.

        The laws are those with lower accelerations, each averaged over the window that suits it.
        """
        spans = [span for span in _spans(path.stops) if span not in known]
        best: dict[_Span, tuple[float, tuple[Law, float, float]]] = {}
        pieces: dict[_Span, Floats] = {}
        for share in _SHARES if np.isfinite(self.limits.acceleration).any() else _SHARES[:1]:
            if not spans:
                break
            limits = replace(self.limits, acceleration=share * self.limits.acceleration)
            solver = self if share == 1.0 else _Solver(self.robot, limits, self.way, self.keywords)
            solver._run(_kernels().motions.FOUND, path.room, path.paths, 0, 1)
            for span in spans.copy():
                law = path.law(span)
                windows = float(law.t[-1]) * _WINDOWS
                lasting = self._lasting(path, law, span, windows)
                pieces.setdefault(span, lasting.min(axis=0))
                whole = lasting.max(axis=1)
                k = int(whole.argmin())
                if span not in best or whole[k] < best[span][0]:
                    gap = float(windows[min(k + 1, len(windows) - 1)] - windows[k])
                    best[span] = float(whole[k]), (law, float(windows[k]), gap)
                elif whole[k] > 1.05 * best[span][0]:
                    spans.remove(span)
        for span, (_, (law, window, gap)) in best.items():
            made, piece = self._best_window(path, law, span, window, gap)
            known[span] = _Part(made, piece, pieces[span])

    def _lasting(self, path: _Path, law: Law, span: _Span, windows: Floats) -> Floats:
        """The times of a law averaged over windows, slowed by what it exceeds on each piece."""
        slowed = np.ones((len(windows), span[1] - span[0] + 1))
        parts = 1 + 6 * len(law.t) * self.n * len(windows) // _TOGETHER
        for few in np.array_split(np.arange(len(windows)), min(parts, len(windows))):
            laws, piece = path.over(averaged(law, windows[few]), span)
            at = few[laws.law], piece - span[0]
            np.maximum.at(slowed, at, self._slowed_by(path, laws, piece, 3))
        return (law.t[-1] + windows)[:, None] * slowed

    def _best_window(
        self, path: _Path, law: Law, span: _Span, window: float, gap: float
    ) -> tuple[Cubics, NDArray[np.int64]]:
        """The quickest motion of a law over windows no farther than a gap from one."""
        for _ in range(3):
            windows = window + gap * np.linspace(-1.0, 1.0, 9)
            lasting = self._lasting(path, law, span, windows).max(axis=1)
            window = float(windows[lasting.argmin()])
            gap /= 8.0
        made, piece = path.over(averaged(law, np.array([window])), span)
        more = np.inf
        while more > 1.0 + 1e-8:  # what damping takes falls less than the rest
            more = float(self._slowed_by(path, made, piece, 17).max())
            made = replace(made, h=made.h * more, c=made.c * more ** -np.arange(4.0))
        return made, piece

    def _slowed_by(self, path: _Path, laws: Cubics, piece: Any, parts: int) -> Floats:
        """The factors of time (m,) that each cubic of laws asks for, for its limits to hold."""
        own = np.repeat(path.pieces[piece], parts, axis=0)
        s, s1, s2, s3 = (each[:, None] for each in derivatives(laws, parts))
        x = s - np.repeat(path.breaks[piece], parts)[:, None]
        q1 = own[:, 1] + x * (2.0 * own[:, 2] + 3.0 * x * own[:, 3])
        q2, q3 = 2.0 * own[:, 2] + 6.0 * x * own[:, 3], 6.0 * own[:, 3]
        v = q1 * s1
        a = q2 * s1**2 + q1 * s2
        j = q3 * s1**3 + 3.0 * q2 * s1 * s2 + q1 * s3
        limits = self.limits
        found = np.ones(len(piece))
        for values, limit, power in ((v, limits.velocity, 1.0), (a, limits.acceleration, 2.0),
                                     (j, limits.jerk, 3.0)):  # fmt: skip
            most = np.maximum(tops(values, parts), tops(-values, parts))
            found = np.maximum(found, (most / limit).max(axis=1) ** (1.0 / power))
        if self.forced and self.robot is not None:
            q = own[:, 0] + x * (own[:, 1] + x * (own[:, 2] + x * own[:, 3]))
            tau = self.robot.inverse_dynamics(q, v, a, **self.keywords)
            zero = np.zeros_like(q)
            keywords = {name: each for name, each in self.keywords.items() if name != "losses"}
            held = self.robot.inverse_dynamics(q, zero, zero, **keywords)
            limit = np.minimum(limits.torque, 1e300)  # differences of it are numbers
            for sign in (1.0, -1.0):
                moving = tops(sign * tau, parts) - limit
                room = np.maximum(limit - (sign * held).reshape(-1, parts, self.n).max(1), 1e-9)
                slowed = np.sqrt(1.0 + np.maximum(moving / room, 0.0).max(axis=1))
                found = np.maximum(found, slowed)
        return found


_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3)
"""Shares of the accelerations that laws with bounded jerks are looked for with."""
_WINDOWS = np.geomspace(0.01, 1.5, 16)
"""Windows that laws are averaged over first, as shares of their time."""
_WORTH = 0.95
"""The share of its time that a part may last at most with halts that it would not need."""
_LITTLE = 1.2
"""Pieces that slow a part by no more than this factor are not in its way."""

_Span = tuple[int, int]
"""A part of a path between two halts: its first and last piece."""


def _spans(stops: NDArray[np.int64], first: int = 0) -> list[_Span]:
    """The parts of pieces from ``first`` on; ``stops``: 1 where a motion halts behind a piece."""
    ends = [*np.flatnonzero(stops[:-1]).tolist(), len(stops) - 1]
    return [(first + a + 1, first + b) for a, b in pairwise([-1, *ends])]


@dataclass(frozen=True)
class _Part:
    """A motion from rest to rest along a part of a path: its law, and the piece of each cubic.

    ``pieces``: the time that it would take with each piece of the part alone in its way.
    """

    laws: Cubics
    piece: NDArray[np.int64]
    pieces: Floats

    @property
    def duration(self) -> float:
        return float(self.laws.h.sum())

    def motion(self, path: _Path, joint_names: Sequence[str]) -> Trajectory:
        times = np.append(0.0, self.laws.h.cumsum())
        c = composed(self.laws, path.pieces, self.piece, path.breaks[self.piece])
        return from_polynomials(times, c, joint_names)

    def tries(self, breaks: Floats, first: int) -> list[list[int]]:
        """Sets of pieces behind which a motion may halt, so that fewer slow it.

        ``first``: the first piece of the part. Around each run of the pieces that slow it most, and
        in the middle of each.
        """
        low, top = float(self.pieces.min()), float(self.pieces.max())
        slow = self.pieces >= max(np.sqrt(low * top), _LITTLE * low)
        runs = first + np.flatnonzero(np.diff(slow, prepend=False, append=False)).reshape(-1, 2)
        inside = np.arange(first + 1, first + len(self.pieces))  # breaks
        middle = 0.5 * (breaks[runs[:, 0]] + breaks[runs[:, 1]])
        nearest = np.abs(breaks[inside] - middle[:, None]).argmin(axis=1) if len(inside) else []
        listed = (np.intersect1d(each, inside) - 1 for each in (runs, inside[nearest]))
        return [each.tolist() for each in listed if len(each)]


def _points(points: ArrayLike, name: str) -> Floats:
    q = real_array(points, name)
    if q.ndim != 2 or not q.size:
        raise ShapeError(f"{name} must have shape (m, n), not {q.shape}")
    if not np.isfinite(q).all():
        row, column = np.argwhere(~np.isfinite(q))[0].tolist()
        raise InputError(f"{name}[{row}, {column}] is {q[row, column]}, which is not finite")
    if not np.abs(q).max() < _FARTHEST:
        raise InputError(f"{name} must be below {_FARTHEST:g} in size, not {np.abs(q).max():g}")
    return np.ascontiguousarray(q)


class _Kernels:
    """The modules in the small language, and `motions` compiled."""

    def __init__(self) -> None:
        # the small language takes 20 ms, which not every motion needs
        from linkwork.compile.typed import library  # noqa: PLC0415
        from linkwork.trajectory import motions, paths, reachability  # noqa: PLC0415

        self.motions, self.paths, self.reachability = motions, paths, reachability
        self._code = library([motions.motions], settings.compiler(), "time-optimal motions")
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)
        self.run = kind(self._code.address("motions"))


@cache
def _kernels() -> _Kernels:
    return _Kernels()
