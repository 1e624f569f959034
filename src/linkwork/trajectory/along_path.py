"""The least time along a path under limits of velocity, acceleration and joint forces."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import finite_number, real_array, whole_number
from linkwork.compile.threads import in_parallel
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.parameters import dynamics_inputs
from linkwork.robot import Robot
from linkwork.trajectory.piecewise import (
    Floats,
    Trajectory,
    from_polynomials,
    limit_rows,
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

_ROUNDS = 12
_EACH = 3  # intervals of a piece, at least
_KEPT = 1_000_000  # numbers that a thread keeps room for
_PLACES = (0.0, 2.0, 1.0, 2.0 / 3.0, 0.5)  # 2 / k: what x grows by is u times the way
_FARTHEST = 1e100  # squares of ways are numbers
_AHEAD = 4  # paths that a thread takes at a time


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
    velocities, accelerations and forces exceed them by less than a millionth.

    With a ``jerk`` limit, which only motions from rest to rest take, the law of time is averaged
    over a window and then slowed until all limits hold. That is the least time on a straight line
    whose limits of velocity and acceleration are both reached; otherwise it is longer than need be,
    where jerk alone rules by a fifth. Straight lines with stops are `through` with kind="stops".

    Source: H. Pham, Q.-C. Pham, IEEE Transactions on Robotics 34 (2018); see
    `linkwork.trajectory.smoothing` for jerks.
    Raises: InputError where a limit is zero, where the limits cannot be kept (with joint and
    place), and for numbers that are not finite; ShapeError; UnsupportedFeatureError.
    """
    keywords = dict(external=external, gravity=gravity, losses=losses, armature=armature)
    ends = start_speed, end_speed
    names = tuple(joint_names)
    q = _points(points, "points")
    limits = _limits(q.shape[1], robot, (velocity, acceleration, torque, jerk), ends, names)
    way = _Way(deviation, intervals)
    return _Solver(robot, limits, way, keywords).motion(q)


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
    listed = [_points(each, f"points[{k}]") for k, each in enumerate(points)]
    if not listed:
        return []
    n = listed[0].shape[1]
    for k, each in enumerate(listed):
        if each.shape[1] != n:
            raise ShapeError(f"points[{k}] has {each.shape[1]} positions, and points[0] has {n}")
    ends = start_speed, end_speed
    limits = _limits(n, robot, (velocity, acceleration, torque, jerk), ends, tuple(joint_names))
    solver = _Solver(robot, limits, _Way(deviation, intervals), keywords)

    def work(first: int) -> list[Trajectory]:
        room = _room()
        found: list[Trajectory] = []
        for k in range(first, min(first + _AHEAD, len(listed))):
            try:
                found.append(solver.motion(listed[k], room))
            except InputError as error:
                raise InputError(f"points[{k}]: {error}") from None
        return found

    if robot is not None:
        work(0)  # what the first call compiles
    count = settings.most_threads() if threads is None else threads
    return [
        each for part in in_parallel(work, range(0, len(listed), _AHEAD), count) for each in part
    ]


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
    joint_names: tuple[str, ...],
) -> _Limits:
    velocity, acceleration, torque, jerk = given
    if robot is not None:
        _check_robot(robot, n)
        velocity = robot.limits.velocity if velocity is None else velocity
        torque = robot.limits.effort if torque is None else torque
        if robot.loops:
            passive = [name not in robot.actuated for name in robot.joint_names]
            torque = np.where(passive, np.inf, torque)
        if not joint_names and robot.n_q == len(robot.joint_names):
            joint_names = robot.joint_names
    elif torque is not None:
        raise InputError("torque limits need the robot: give robot=")
    if joint_names and len(joint_names) != n:
        raise ShapeError(f"{len(joint_names)} names for {n} positions")
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


def _check_robot(robot: Robot, n: int) -> None:
    m = robot.mechanism
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

    def intervals(self, points: int) -> int:
        """The number of intervals that a path through some points has at least."""
        return max(100, 6 * (points - 1)) if self.given is None else self.given


class _Room:
    """Memory that one path after another is computed in."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self.at: dict[str, int] = {}  # where they are

    def floats(self, name: str, size: int) -> Floats:
        """At least so many numbers."""
        return self._of(name, size, np.float64)

    def whole(self, name: str, size: int) -> NDArray[np.int64]:
        """At least so many whole numbers."""
        return self._of(name, size, np.int64)

    def size(self) -> int:
        """The count of numbers that it has room for."""
        return sum(len(each) for each in self._known.values())

    def _of(self, name: str, size: int, kind: Any) -> Any:
        known = self._known.get(name)
        if known is None or len(known) < size:
            known = self._known[name] = np.empty(size + size // 4, kind)
            self.at[name] = _at(known)
        return known


_rooms = threading.local()


def _room() -> _Room:
    """The memory of this thread, kept from call to call unless it is large."""
    room: _Room | None = getattr(_rooms, "room", None)
    if room is None or room.size() > _KEPT:
        room = _rooms.room = _Room()
    return room


@dataclass
class _Path:
    """A path on its grid, in a room: see `linkwork.trajectory.paths`."""

    n_pieces: int
    n_intervals: int
    n_states: int
    room: _Room
    breaks: Floats = field(repr=False)
    pieces: Floats = field(repr=False)
    length: float = 0.0


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
        language = _kernels().reachability
        self.wide = wide = -(-n // language.WIDTH) * language.WIDTH
        self.smooth = bool(np.isfinite(limits.jerk).any())
        accelerated = bool(np.isfinite(limits.acceleration).any())
        kinds = [limits.acceleration] * accelerated + [limits.torque] * self.forced
        self.width = width = wide * len(kinds)
        self.form = np.array([n, wide * accelerated, wide * self.forced, self.lossy], np.int64)
        self.bounds = bounds = np.zeros(language.WIDTH + wide + 3 * width)
        bounds[: len(_PLACES)] = _PLACES
        bounds[language.WIDTH : language.WIDTH + n] = limits.velocity**-2.0
        below, rows, inverse = bounds[language.WIDTH + wide :].reshape(3, width)
        rows.fill(language.HUGE)
        for k, kind in enumerate(kinds):
            np.minimum(kind, language.HUGE, out=rows[k * wide : k * wide + n])
        np.negative(rows, out=below)
        np.divide(1.0, rows, out=inverse, where=rows < language.HUGE)
        self.at = _at(self.form), _at(bounds)
        self.lowest = np.full(2 * wide, -np.inf)  # of positions, and of them turned round
        if robot is not None:
            self.lowest[:n] = robot.mechanism.lower
            self.lowest[wide : wide + n] = -robot.mechanism.upper

    def motion(self, q: Floats, room: _Room | None = None) -> Trajectory:
        """The quickest motion through way points (m, n)."""
        room = room or _room()
        if self.robot is not None and self.robot.loops:
            path = self._closed_path(self.robot, q, room)
        else:
            path = self._path(q, room)
        if path is None:
            return from_polynomials([0.0, 0.0], q[:1, None], self.limits.joint_names)
        x, u = self._solved(path)
        if self.smooth:
            return self._smooth(q, path, x, u)
        return self._trajectory(path)

    def _path(self, q: Floats, room: _Room) -> _Path | None:
        """The path and its grid; None where all points are the same."""
        m, n = q.shape
        way, k = self.way, _kernels()
        most, at = 3 * m, room.at
        breaks = room.floats("breaks", most + 1)
        pieces = room.floats("pieces", most * 4 * n + k.paths.WIDTH)
        room.whole("stops", most)
        room.floats("spline", 2 * m * n + m)
        rest = at["breaks"], at["pieces"], at["stops"], at["spline"]
        if way.deviation is None:
            n_pieces = k.spline_pieces(_at(q), m, n, int(way.bent), *rest)
        else:
            n_pieces = k.blended_pieces(_at(q), m, n, way.deviation, *rest)
        if n_pieces == 0:
            return None
        each = _EACH if n_pieces > 1 else 1
        least = way.intervals(m)
        most = n_pieces * (each + 1 + 2 * k.paths.HALVED) + least + 2
        for name in ("piece_of", "first", "halts"):
            room.whole(name, most)
        for name in ("starts", "steps"):
            room.floats(name, most)
        n_intervals = k.cut(
            *(at["breaks"], at["stops"], n_pieces, least, each, at["piece_of"], at["first"]),
            *(at["halts"], at["starts"], at["steps"]),
        )
        n_states = int(room.whole("first", 0)[n_intervals])
        beyond = k.paths.WIDTH
        for name in ("q", "slopes", "bends"):
            room.floats(name, n_states * n + beyond)
        room.floats("span", 2 * (n + beyond))
        k.write_states(
            *(at["pieces"], n, n_intervals, at["piece_of"], at["first"], at["starts"]),
            *(at["steps"], at["q"], at["slopes"], at["bends"], at["span"]),
        )
        return _Path(n_pieces, n_intervals, n_states, room, breaks, pieces, float(breaks[n_pieces]))

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
            path = _Solver(None, self.limits, _Way(None, self.way.given, bent=True), {})._path(
                dense, room
            )
            if path is None:
                return None
            states = room.floats("q", 0)[: path.n_states * self.n].reshape(-1, self.n)
            if np.asarray(robot.is_assembled(states)).all():
                return path
        raise InputError("between the points the loops do not stay closed: give more points")

    def _sampled(self, points: Floats, room: _Room, parts: int) -> Floats | None:
        """Positions (k, n) along a path, parts of each of its pieces; None of no length."""
        n = points.shape[1]
        free = np.full(n, np.inf)
        limits = _Limits(free, free, free, free, (0.0, 0.0), ())
        path = _Solver(None, limits, self.way, {})._path(points, room)
        if path is None:
            return None
        halts = room.whole("halts", 0)[1 : path.n_intervals]
        if halts.any():
            raise UnsupportedFeatureError(
                "a mechanism with loops does not stop in corners: give a deviation above 0, and no "
                "lines that turn back"
            )
        breaks = path.breaks[: path.n_pieces + 1]
        pieces = path.pieces[: path.n_pieces * 4 * n].reshape(path.n_pieces, 4, n)
        x = np.diff(breaks)[:, None] * np.linspace(0.0, 1.0, parts, endpoint=False)
        x = x[:, :, None]
        c0, c1, c2, c3 = (pieces[:, None, k] for k in range(4))
        inside = (c0 + x * (c1 + x * (c2 + x * c3))).reshape(-1, n)
        return np.concatenate([inside, points[-1:]])

    def _solved(self, path: _Path) -> tuple[Floats, Floats]:
        """x and u on the grid."""
        room, n, states, limits = path.room, self.n, path.n_states, self.limits
        q, slopes, bends = (
            room.floats(name, 0)[: states * n].reshape(states, n)
            for name in ("q", "slopes", "bends")
        )
        forces = damping = friction = q
        language = _kernels().reachability
        if self.robot is not None:
            self._check_positions(self.robot, path, q)
        if self.forced and self.robot is not None:
            numbers = room.floats("forces", 3 * q.size + language.WIDTH)
            numbers[3 * q.size : 3 * q.size + language.WIDTH] = 0.0
            forces = numbers[: 3 * q.size].reshape(states, 3, n)
            more = [np.ascontiguousarray(np.broadcast_to(a, (states, a.size))) for a in self.more]
            if self.kernel.rows([q, slopes, bends, *more], [forces]) >= 0:
                self.kernel(q, slopes, bends, *self.more)  # says what is not finite
            if self.lossy:
                damping, friction = self._losses(self.robot, q, slopes)
        size = path.n_intervals
        room.floats("solve", language.room_of(self.width, size, states))
        room.whole("dirty", size)
        room.whole("tight", size)
        x, u = room.floats("x", size + 1)[: size + 1], room.floats("u", size)[:size]
        worst, place = room.floats("worst", 3), room.whole("place", 1)
        ends = [
            (speed / float(np.linalg.norm(slope))) ** 2 if speed else 0.0
            for speed, slope in zip(limits.ends, slopes[:: states - 1], strict=True)
        ]
        at = room.at
        outcome = _kernels().least_time(
            *(self.at[0], size, states, at["first"], at["halts"], at["steps"]),
            *(at["slopes"], at["bends"], _at(forces), _at(damping), _at(friction)),
            *(self.at[1], *ends, _ROUNDS, at["solve"]),
            *(at["dirty"], at["tight"], at["x"], at["u"], at["worst"], at["place"]),
        )
        if outcome != language.DONE:
            self._refuse(outcome, int(place[0]), path, forces)
        if worst[1] > 1e-6 and any(ends):
            raise InputError(
                "with these speeds at the ends limits are kept to "
                f"{worst[0]:.1e} only, and slowing all of it would change them: give more intervals"
            )
        return x, u

    def _check_positions(self, robot: Robot, path: _Path, q: Floats) -> None:
        """Refuse a path that leaves the limits of positions, in which its points are."""
        if (path.room.floats("span", 0)[: 2 * self.wide] >= self.lowest).all():
            return
        lower, upper = robot.limits.lower, robot.limits.upper
        outside = np.maximum(lower - q, q - upper)
        state, joint = np.unravel_index(int(outside.argmax()), outside.shape)
        if outside[state, joint] <= 1e-9:
            return
        first = path.room.whole("first", 0)[: path.n_intervals]
        where = self._share(path, int(np.searchsorted(first, int(state), "right")) - 1)
        raise InputError(
            f"{self.limits.name(int(joint))} is at {q[state, joint]:.6g} at {where:.1%} of the "
            f"path, beyond its limits {lower[joint]:g} to {upper[joint]:g}: splines swing over; "
            "give more points, or a deviation"
        )

    def _losses(self, robot: Robot, q: Floats, slopes: Floats) -> tuple[Floats, Floats]:
        """The forces that damping and friction take at v = q' (states, n) each."""
        zero = np.zeros_like(q)
        one, two = (
            robot.inverse_dynamics(q, speed, zero, losses=True, threads=1)
            - robot.inverse_dynamics(q, speed, zero, threads=1)
            for speed in (slopes, 2.0 * slopes)
        )
        beyond = np.zeros((_kernels().reachability.WIDTH, self.n))  # what lanes read on into
        return np.concatenate([two - one, beyond]), np.concatenate([2.0 * one - two, beyond])

    def _refuse(self, outcome: int, place: int, path: _Path, forces: Floats) -> NoReturn:
        """Say why there is no motion: the last of ``forces`` (states, 3, n) stand still."""
        limits = self.limits
        if self.forced:
            held = forces[:, 2]
            over = np.abs(held) - limits.torque
            if (over >= 0.0).any():
                at = np.unravel_index(int(np.argmax(over / limits.torque)), over.shape)
                state, joint = int(at[0]), int(at[1])
                first = path.room.whole("first", 0)[: path.n_intervals]
                i = int(np.searchsorted(first, state, "right")) - 1
                raise InputError(
                    f"{limits.name(joint)} needs {abs(held[state, joint]):.6g} to stand still at "
                    f"{self._share(path, i):.1%} of the path, and its torque limit is "
                    f"{limits.torque[joint]:g}: no motion along this path is held"
                )
        if outcome == _kernels().reachability.NO_START:
            raise InputError(
                f"start_speed = {limits.ends[0]:g} cannot be kept: from it the path is left, or "
                "its end passed, under these limits"
            )
        if place == path.n_intervals:
            raise InputError(f"end_speed = {limits.ends[1]:g} is above what the velocities allow")
        where = self._share(path, min(place, path.n_intervals - 1))
        raise InputError(
            f"at {where:.1%} of the path no speed keeps all limits; the motion cannot pass there"
        )

    def _share(self, path: _Path, interval: int) -> float:
        """The place where an interval begins, as a share of the path."""
        piece = int(path.room.whole("piece_of", 0)[interval])
        return float(path.breaks[piece] + path.room.floats("starts", 0)[interval]) / path.length

    def _trajectory(self, path: _Path) -> Trajectory:
        """The motion that was found last in the path's room."""
        size = path.n_intervals
        times, numbers = np.empty(size + 1), np.empty(size * 7 * self.n + _kernels().paths.WIDTH)
        at = path.room.at
        _kernels().write_motion(
            *(at["pieces"], self.n, size, at["piece_of"], at["starts"], at["steps"]),
            *(at["x"], at["u"], _at(times), _at(numbers)),
        )
        coefficients = numbers[: size * 7 * self.n].reshape(size, 7, self.n)
        for array in (times, coefficients):
            array.setflags(write=False)
        names = self.limits.joint_names
        return Trajectory(times=times, coefficients=coefficients, joint_names=names)

    # ---- bounded jerk

    def _smooth(self, q: Floats, path: _Path, x: Floats, u: Floats) -> Trajectory:
        """The motion with its jerks bounded: the best of some laws with lower accelerations."""
        quickest: Trajectory | None = None
        for share in _SHARES if np.isfinite(self.limits.acceleration).any() else _SHARES[:1]:
            if share < 1.0:
                limits = replace(self.limits, acceleration=share * self.limits.acceleration)
                slower = _Solver(self.robot, limits, self.way, self.keywords)
                x, u = slower._solved(path)
            made = self._averaged(path, x, u)
            if quickest is None or made.duration < quickest.duration:
                quickest = made
            elif made.duration > 1.05 * quickest.duration:
                break
        assert quickest is not None  # noqa: S101  _SHARES is not empty
        return quickest

    def _averaged(self, path: _Path, x: Floats, u: Floats) -> Trajectory:
        """Each part between two halts averaged over the window that is best for it."""
        size, room = path.n_intervals, path.room
        piece, halts = (room.whole(name, 0) for name in ("piece_of", "halts"))
        s = np.append(path.breaks[piece[:size]] + room.floats("starts", 0)[:size], path.length)
        v = np.sqrt(x)
        t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(s) / (v[:-1] + v[1:]))])
        bounds = [0, *(np.flatnonzero(halts[1:size]) + 1).tolist(), size]
        parts: list[Trajectory] = []
        for first, last in pairwise(bounds):
            own = slice(first, last + 1)
            law = Law(t[own] - t[first], s[own], v[own], u[first:last])
            span = int(piece[first]), int(piece[last - 1])
            parts.append(self._best_window(path, law, span))
        return parts[0] if len(parts) == 1 else parts[0].then(*parts[1:])

    def _best_window(self, path: _Path, law: Law, span: tuple[int, int]) -> Trajectory:
        """The quickest motion of a law over windows; ``span``: its first and last piece."""
        breaks = path.breaks[: path.n_pieces + 1]

        def tried(window: float, parts: int) -> tuple[float, Cubics, Any]:
            made = split_at(averaged(law, window), breaks)
            middle = made.c[:, 0] + 0.5 * np.diff(np.append(made.c[:, 0], law.s[-1]))
            piece = np.clip(np.searchsorted(breaks, middle, "right") - 1, *span)
            return self._slowed_by(path, made, piece, parts), made, piece

        last = float(law.t[-1])
        windows = last * np.geomspace(0.01, 1.5, 16)
        lasting = [(last + w) * tried(w, 3)[0] for w in windows.tolist()]
        best = int(np.argmin(lasting))
        window = float(windows[best])
        gap = float(windows[min(best + 1, len(windows) - 1)]) - window
        for _ in range(9):
            gap *= 0.4
            near = [window - gap, window, window + gap]
            window = min(near, key=lambda w: (last + w) * tried(w, 3)[0])
        factor, made, piece = tried(window, 9)
        pieces = path.pieces[: path.n_pieces * 4 * self.n].reshape(path.n_pieces, 4, self.n)
        c = composed(made, pieces, piece, breaks[piece])
        motion = from_polynomials(made.t, c, self.limits.joint_names).stretched(factor)
        while True:  # what damping takes falls less than the rest
            stretched = Cubics(made.t * factor, made.c * factor ** -np.arange(4.0))
            more = self._slowed_by(path, stretched, piece, 9)
            if more <= 1.0 + 1e-8:
                return motion
            factor, motion = factor * more, motion.stretched(more)

    def _slowed_by(self, path: _Path, law: Cubics, piece: Any, parts: int) -> float:
        """The factor of time by which a motion has to be slowed for its limits to hold."""
        pieces = path.pieces[: path.n_pieces * 4 * self.n].reshape(path.n_pieces, 4, self.n)
        own = np.repeat(pieces[piece], parts, axis=0)
        s, s1, s2, s3 = (each[:, None] for each in derivatives(law, parts))
        x = s - np.repeat(path.breaks[piece], parts)[:, None]
        q1 = own[:, 1] + x * (2.0 * own[:, 2] + 3.0 * x * own[:, 3])
        q2, q3 = 2.0 * own[:, 2] + 6.0 * x * own[:, 3], 6.0 * own[:, 3]
        v = q1 * s1
        a = q2 * s1**2 + q1 * s2
        j = q3 * s1**3 + 3.0 * q2 * s1 * s2 + q1 * s3
        limits = self.limits
        found = 1.0
        for values, limit, power in ((v, limits.velocity, 1.0), (a, limits.acceleration, 2.0),
                                     (j, limits.jerk, 3.0)):  # fmt: skip
            most = np.maximum(tops(values, parts), tops(-values, parts))
            found = max(found, float((most / limit).max()) ** (1.0 / power))
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
                found = max(found, float(np.sqrt(1.0 + np.maximum(moving / room, 0.0)).max()))
        return found


_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3)
"""Shares of the accelerations that laws with bounded jerks are looked for with."""


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
    """The compiled functions of `paths` and `reachability`, by name."""

    def __init__(self) -> None:
        # the small language takes 20 ms, which not every motion needs
        from linkwork.compile.typed import library  # noqa: PLC0415
        from linkwork.trajectory import paths, reachability  # noqa: PLC0415

        self.paths, self.reachability = paths, reachability
        listed = {
            paths.spline_pieces: (8, ()),
            paths.blended_pieces: (8, (3,)),
            paths.cut: (10, ()),
            paths.write_states: (11, ()),
            paths.write_motion: (10, ()),
            reachability.least_time: (22, (12, 13)),
        }
        self._code = library(list(listed), settings.compiler(), "time-optimal motions")
        for function, (count, numbers) in listed.items():
            kinds = [ctypes.c_double if k in numbers else ctypes.c_int64 for k in range(count)]
            made = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(self._code.address(function.__name__))
            setattr(self, function.__name__, made)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@cache
def _kernels() -> _Kernels:
    return _Kernels()


def _at(array: Any) -> int:
    return array.__array_interface__["data"][0]
