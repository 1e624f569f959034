"""A robot's way through time, of whatever says it: instants, and a configuration at each.

The page in the browser, films and glTF files all show a `Motion`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.configuration import ranges
from linkwork.checks import finite_number, finite_rows, real_array, rigid_pose
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration, filled, label_places, labels
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.simulation.result import Simulation, row_index
from linkwork.solve.inputs import configuration
from linkwork.trajectory.piecewise import Samples, Trajectory

if TYPE_CHECKING:
    from linkwork.robot import Robot
    from linkwork.scene import Scene

Floats = NDArray[np.float64]
MovingObjects: TypeAlias = "Mapping[str, Callable[[float], ArrayLike]]"
"""Objects of a scene that move: by name T_world_object (4, 4) as a function of the time in s."""

RATE = 60.0
"""States a second, at most: as many as a screen shows."""
DURATION = 3.0
"""Seconds that configurations take without times of their own."""
MOST_STATES = 20_000
"""A longer motion has fewer states a second."""

_TURN = 2.4
"""Seconds that a joint takes to go to both its limits and back."""
_LONGEST_SWEEP = 24.0
_SWEEP_RATE = 30.0
_SHORT_OF_THE_END = 0.98
"""The share of the way to where a branch of assembly ends that a sweep goes: loops are singular
at the end itself."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Configurations q (n, nq) at instants ``times`` (n,), in s, of which the first is 0.

    ``loop`` says whether it is to be seen again and again.
    """

    times: Floats
    q: Floats
    loop: bool = False

    @property
    def duration(self) -> float:
        """The last instant, s."""
        return float(self.times[-1])

    def at(self, robot: Robot, t: ArrayLike) -> Floats:
        """Configurations (..., nq) at instants (...), s, between the two that are nearest.

        Before the beginning and after the end it stands still. Floating and spherical joints turn
        evenly; loops are as near to closed as the states lie near to each other.
        """
        instants = real_array(t, "t")
        if len(self.times) == 1:
            return np.broadcast_to(self.q[0], (*instants.shape, self.q.shape[1])).copy()
        k = np.clip(np.searchsorted(self.times, instants, side="right") - 1, 0, len(self.q) - 2)
        share = (instants - self.times[k]) / (self.times[k + 1] - self.times[k])
        share = np.clip(share, 0.0, 1.0)[..., None]
        before, after = self.q[k], self.q[k + 1]
        if not quaternion_starts(robot.mechanism):
            return (1.0 - share) * before + share * after
        return robot.integrate(before, share * robot.difference(before, after))

    def thinned(self, rate: float) -> Motion:
        """The same motion with about ``rate`` states a second at most, the first and last kept."""
        steps = np.floor(self.times * rate * (1.0 + 1.0e-9))
        kept = np.append(True, np.diff(steps) > 0.0)
        kept[-1] = True
        return replace(self, times=self.times[kept], q=self.q[kept])


def motion(
    robot: Robot,
    trajectory: Any = None,
    *,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
    loop: bool | None = None,
) -> Motion:
    """The motion that a trajectory is, with 60 states a second at most.

    ``trajectory``: a `linkwork.trajectory.Trajectory` or its samples, a `Motion`, a `Simulation`
    (``row`` picks a roll-out of a batch, by default the first), configurations (n, nq), positions
    (n,) by joint name (what is not named stays neutral; of a robot with loops the others follow),
    a `Plan`, whose path has no times, or None: every joint from limit to limit.

    ``times`` (n,) in s say when configurations are passed, or ``duration`` how long they take, by
    default 3 s; of what has times of its own, ``duration`` changes the pace. ``loop``: whether it
    is to be seen again and again, by default where it ends as it begins.

    Raises: InputError for something else, or numbers that are not finite; ShapeError,
    UnknownNameError.
    """
    if trajectory is None:
        if times is not None:
            raise InputError("times belong to a trajectory, and there is none: give `duration`")
        made = sweep(robot, duration=duration)
        return made if loop is None else replace(made, loop=loop)
    states = states_of(robot, trajectory, row)
    own, rows = states.times, states.q
    if loop is None and isinstance(trajectory, Motion):
        loop = trajectory.loop
    if loop is None:
        loop = len(rows) > 2 and bool(np.allclose(rows[0], rows[-1], rtol=0.0, atol=1.0e-6))
    whole = Motion(_instants(len(rows), own, times, duration), rows, loop)
    return whole.thinned(_rate(whole.duration))


def motion_if_given(
    robot: Robot,
    trajectory: Any = None,
    *,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
) -> Motion | None:
    """The motion of `motion`, None where there is no trajectory.

    Raises: InputError for times, a duration or a row without a trajectory; as `motion`.
    """
    if trajectory is not None:
        return motion(robot, trajectory, times=times, duration=duration, row=row)
    if times is not None or duration is not None or row is not None:
        raise InputError("times, duration and row are those of a trajectory, and there is none")
    return None


def _rate(duration: float) -> float:
    """The states a second that a motion is shown by: fewer where it takes very long."""
    return min(RATE, MOST_STATES / max(duration, 1.0e-9))


def even_instants(duration: float) -> Floats:
    """Instants (n,) from 0 to the end of a motion, s, as many a second as are shown."""
    n = max(1, math.ceil(duration * _rate(duration) - 1.0e-9))
    return np.linspace(0.0, duration, n + 1)


def displacements(objects: MovingObjects, scene: Scene | None, times: Floats) -> dict[str, Floats]:
    """Displacements (n, 4, 4) of objects from where they stand in a scene, at instants (n,).

    A point of an object at p in the scene is at ``displacement @ p`` then, in the world.

    Raises: InputError where there is no scene, and for what is no function or gives no pose;
    UnknownNameError for what is no object of the scene.
    """
    if not isinstance(objects, Mapping):
        raise InputError(f"objects are functions of the time by name, not {objects!r:.60}")
    if scene is None:
        raise InputError("objects are those of a scene that move, and there is no scene")
    found: dict[str, Floats] = {}
    for name, pose_at in objects.items():
        home = np.linalg.inv(scene.get(name).T_world_object)
        if not callable(pose_at):
            raise InputError(
                f"objects['{name:.60}'] must be a function of the time in s that gives a pose "
                f"(4, 4), not of type {type(pose_at).__name__}"
            )
        what = f"objects['{name:.60}']"
        found[name] = np.array(
            [rigid_pose(pose_at(t), f"{what}({t:g})") @ home for t in times.tolist()]
        )
    return found


def _instants(
    n: int, own: Floats | None, times: ArrayLike | None, duration: float | None
) -> Floats:
    """The instants (n,) of n states, from 0: their own, or those that are given.

    Raises: InputError, ShapeError.
    """
    if times is not None and (own is not None or duration is not None):
        other = "a duration" if own is None else "times of its own"
        raise InputError(f"the trajectory has {other}: leave out times")
    if times is not None:
        own = finite_rows(np.asarray(times), "times", n)
        if own.ndim != 1:
            raise ShapeError(f"times must have shape ({n},), as many as states: {own.shape}")
    elif own is None:
        own = np.linspace(0.0, 1.0, n)
        duration = DURATION if duration is None else duration
    instants = own - own[0]
    if np.any(np.diff(instants) <= 0.0):
        raise InputError("times must increase from each state to the next")
    if duration is None or n < 2:
        return instants
    return instants * (finite_number(duration, "duration", above=0.0) / instants[-1])


def sweep(robot: Robot, q: ArrayLike | None = None, *, duration: float | None = None) -> Motion:
    """The joints of a robot on their way from q (nq,) to both limits and back, one after another.

    ``q`` is by default neutral, with its loops closed. Joints that have as many others below them
    go together: those of both arms, or all four legs. Where there is no limit they turn by half a
    turn to each side, or slide by 1 m. Floating, planar and spherical joints stay where they are.
    Of a mechanism with loops each actuated joint goes as far as the loops let it, and the others
    follow.

    Raises: InputError where loops cannot be closed, or a lower limit is above the upper one.
    """
    m = robot.mechanism
    if m.is_closed:
        start, ways = _ways_of_loops(robot, q)
    else:
        start = robot.neutral() if q is None else finite_rows(np.asarray(q), "q", m.n_q).copy()
        ways = _ways_of_tree(m)
    if not ways:
        return Motion(np.array([0.0]), start[None])
    if duration is None:
        seconds = min(_TURN * len(ways), _LONGEST_SWEEP)
    else:
        seconds = finite_number(duration, "duration", above=0.0)
    n = max(8, round(seconds * _SWEEP_RATE / len(ways)))
    there = np.sin(2.0 * np.pi * np.arange(1, n + 1) / n)  # to 1, to -1, and back to 0
    smooth = np.where(there >= 0.0, 1.0, -1.0) * (1.0 - np.cos(np.pi * there)) / 2.0
    rows = np.concatenate([start[None], *[_along(robot, start, way, smooth) for way in ways]])
    return Motion(np.linspace(0.0, seconds, len(rows)), rows, loop=True)


def configuration_to_show(robot: Robot, q: Configuration | None = None) -> Floats:
    """The configuration (nq,) that is meant: as given, or neutral with its loops closed.

    Where no configuration closes them it is neutral.

    Raises: ShapeError, InputError, UnknownNameError for what is no configuration.
    """
    if q is not None:
        found = configuration(q, robot.mechanism, "q")
        if found.ndim != 1:
            raise ShapeError(f"q is one configuration ({robot.n_q},), not {found.shape}")
        return found.copy()
    if not robot.mechanism.is_closed:
        return robot.neutral()
    found = robot.assemble(q0=robot.neutral())
    return np.asarray(found.q) if found.success else robot.neutral()


# what is between the limits


@dataclass(frozen=True)
class _Way:
    """Joints that go together: their places in q, and the ends of their ways."""

    places: tuple[int, ...]
    lower: Floats
    upper: Floats


def _ways_of_tree(m: Mechanism) -> list[_Way]:
    """The joints that turn or slide, by the number of joints between them and the base."""
    depths = np.zeros(m.n_bodies, int)
    for body in range(1, m.n_bodies):
        moving = body not in m.followers() and m.body_joint_types[body].n_q == 1
        depths[body] = depths[int(m.parent[body])] + moving
    together: dict[int, list[int]] = {}
    for name, kind in zip(m.joint_names, m.joint_types, strict=True):
        if kind.n_q == 1:
            body = m.body_joint_names.index(name)
            place = m.q_slice(m.joint(name)).start
            together.setdefault(int(depths[body]), []).append(place)
    lower, upper = ranges(m)
    return [
        _Way(tuple(places), lower[places], upper[places]) for _, places in sorted(together.items())
    ]


def _ways_of_loops(robot: Robot, q: ArrayLike | None) -> tuple[Floats, list[_Way]]:
    """An assembled configuration, and how far each driven joint can go from it."""
    m = robot.mechanism
    start = _assembled(robot, q)
    driven = [n for n in driven_joints(robot, start) if m.joint_types[m.joint(n)].n_q == 1]
    if not driven:
        return start, []
    places = [m.q_slice(m.joint(name)).start for name in driven]
    lower, upper = (ends[places] for ends in ranges(m))
    targets = np.tile(start[places], (2 * len(places), 1))
    for k in range(len(places)):
        targets[2 * k, k], targets[2 * k + 1, k] = lower[k], upper[k]
    reached = _followed(robot, driven, targets, start)[:, places]
    ways: list[_Way] = []
    for k, place in enumerate(places):
        ends = start[place] + _SHORT_OF_THE_END * (reached[2 * k : 2 * k + 2, k] - start[place])
        ways.append(_Way((place,), ends[:1], ends[1:]))
    return start, ways


def _along(robot: Robot, start: Floats, way: _Way, shares: Floats) -> Floats:
    """Configurations (n, nq) at shares (n,) of a way: 1 is its upper end, -1 its lower one."""
    places = list(way.places)
    up, down = np.maximum(shares, 0.0)[:, None], np.maximum(-shares, 0.0)[:, None]
    at = start[places]
    rows = np.tile(start, (len(shares), 1))
    rows[:, places] = at + up * (way.upper - at) + down * (way.lower - at)
    m = robot.mechanism
    if not m.is_closed:
        return rows
    driven = driven_joints(robot, start)
    wanted = [k for name in driven for k in range(*m.q_slice(m.joint(name)).indices(m.n_q))]
    return _followed(robot, driven, rows[:, wanted], start)


# loops


def _assembled(robot: Robot, q: ArrayLike | None) -> Floats:
    """The assembled configuration that is nearest to one.

    Raises: InputError where there is none.
    """
    found = robot.assemble(q0=robot.neutral() if q is None else q)
    if not found.success:
        raise InputError(f"the loops of '{robot.name}' cannot be closed: {found.reason}")
    return np.asarray(found.q)


def driven_joints(robot: Robot, q: Floats) -> tuple[str, ...]:
    """The joints that put a mechanism with loops where it is, at an assembled q (nq,).

    They are the actuated ones, or where none are said to be, the first from the base whose
    positions can be chosen freely.
    """
    m = robot.mechanism
    if m.actuated:
        return m.actuated
    J = robot.closure_jacobian(q)
    following = J[:, :0]
    free: list[str] = []
    for c in reversed(range(len(m.joint_names))):
        wider = np.concatenate([following, J[:, m.v_slice(c)]], axis=1)
        held = np.linalg.matrix_rank(wider, tol=1.0e-8) - np.linalg.matrix_rank(following, 1.0e-8)
        if held == 0 and m.joint_types[c].n_q == 1:
            free.append(m.joint_names[c])
        else:
            following = wider
    return tuple(reversed(free))


def _followed(robot: Robot, driven: Sequence[str], rows: Floats, start: Floats) -> Floats:
    """Assembled configurations (n, nq) with the driven joints at rows, each straight from start.

    Where the way ends before, they are those at its end.
    """
    solver = robot.assembler(None if tuple(driven) == robot.actuated else driven)
    return np.asarray(solver.solve(rows, start).q)


# states of whatever is given


def along_plan(given: Any) -> Any:
    """Configurations (n, nq) along a `Plan`; anything else as it is.

    Raises: InputError for a plan without a path.
    """
    # told by its attributes: the planner, which is slow to import, is there where a plan is
    if not (hasattr(given, "proven") and hasattr(given, "sample")):
        return given
    rows = given.sample()
    if not len(rows):
        raise InputError(f"the plan has no path: {given.reason}")
    return rows


class States(NamedTuple):
    """A motion as arrays: times (n,), None for a path; q (n, nq); v and dv (n, nv) where known."""

    times: Floats | None
    q: Floats
    v: Floats | None = None
    dv: Floats | None = None

    @property
    def across(self) -> Floats:
        """Numbers of the horizontal axis: times, or those of configurations."""
        return np.arange(len(self.q), dtype=float) if self.times is None else self.times

    @property
    def across_label(self) -> str:
        """The label of the horizontal axis."""
        return "configuration" if self.times is None else "time (s)"


def states_of(
    robot: Robot,
    given: Any,
    row: int | tuple[int, ...] | None = None,
    *,
    samples: int | None = None,
) -> States:
    """The states of this robot in whatever says a motion: see `motion`.

    A trajectory of some joints leaves the others where they are neutral; of a robot with loops they
    follow. It is looked at where its polynomials begin, and at ``samples`` instants besides, by
    default as many as are shown.

    Raises: InputError, ShapeError, UnknownNameError.
    """
    if isinstance(given, Simulation):
        return _of_simulation(robot, given, row)
    if row is not None:
        raise InputError("row picks a roll-out of a simulation, and this is none: leave it out")
    if isinstance(given, Trajectory):
        return _of_trajectory(robot, given, samples)
    if isinstance(given, Samples):
        q = _rows(robot, given.q)
        rates = () if quaternion_starts(robot.mechanism) else (given.v, given.a)
        return States(given.t, q, *rates)
    if isinstance(given, Motion):
        return States(given.times, _rows(robot, given.q))
    if isinstance(given, Mapping):
        return States(None, _by_name(robot, given))
    return States(None, _rows(robot, along_plan(given)))


def _of_simulation(robot: Robot, given: Simulation, row: int | tuple[int, ...] | None) -> States:
    here, there = (labels(of, velocities=False) for of in (robot.mechanism, given.mechanism))
    if here != there:
        raise InputError(
            f"the simulation is one of '{given.mechanism.name}', whose positions are others than "
            f"those of '{robot.name}'"
        )
    at = row_index(given, row)
    q = given.q[at]
    n = int(np.count_nonzero(np.isfinite(q).all(axis=1).cumprod()))  # it may have been stopped
    return States(given.times[:n], q[:n], given.v[at][:n])


def _of_trajectory(robot: Robot, given: Trajectory, samples: int | None) -> States:
    """States at the beginnings of the polynomials, and so many between that it is smooth."""
    n = samples or max(2, 1 + round(given.duration * _rate(given.duration)))
    even = np.linspace(0.0, given.duration, n)
    t = even if len(given.times) > MOST_STATES else np.union1d(even, given.times)
    m, names = robot.mechanism, given.joint_names
    every = labels(m, velocities=False)
    if not names:
        _rows(robot, given.start)  # by its length
        names = tuple(every)
    if not set(names) <= set(every) or (m.is_closed and len(names) < len(every)):
        values = given(t)
        return States(t, _by_name(robot, {name: values[:, k] for k, name in enumerate(names)}))
    at = label_places(m, names)
    q = filled(m.n_q, at, given(t), robot.neutral())
    if quaternion_starts(m):  # whose derivatives are no velocities
        return States(t, q)
    rates = (given.velocity(t), given.acceleration(t))
    return States(t, q, *(filled(m.n_v, at, rate, 0.0) for rate in rates))


def _rows(robot: Robot, given: Any) -> Floats:
    names = labels(robot.mechanism, velocities=False)
    rows = real_array(given, "trajectory")
    if rows.ndim == 1 and rows.size == robot.n_q:
        rows = rows[None]
    if rows.ndim != 2 or rows.shape[1] != robot.n_q or not len(rows):
        raise ShapeError(
            f"a trajectory of '{robot.name}' has the shape (n, {robot.n_q}), not {rows.shape}"
        )
    return finite_rows(rows, "trajectory", robot.n_q, names)


def _by_name(robot: Robot, given: Mapping[Any, Any]) -> Floats:
    """Configurations (n, nq) of positions by joint name, as many for each."""
    m = robot.mechanism
    columns: dict[str, Floats] = {}
    for name, values in given.items():
        column = real_array(values, f"the positions of joint '{name}'")
        if not column.ndim or not len(column):
            raise ShapeError(f"the positions of joint '{name}' are a list, one for each state")
        columns[name] = column
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"'{name}': {n}" for name, n in lengths.items()) or "there are none"
        raise ShapeError(f"every joint needs as many positions as the others: {listed}")
    states = [
        {name: c[k] for name, c in columns.items()} for k in range(next(iter(lengths.values())))
    ]
    if not m.is_closed:
        return np.array([robot.configuration(state) for state in states])
    q = _assembled(robot, None)
    driven = robot if m.actuated else robot.with_actuated(tuple(columns))
    rows: list[Floats] = []
    for k, state in enumerate(states):
        found = driven.assemble(state, q0=q)
        if not found.success:
            raise InputError(f"trajectory, state {k}: {found.reason}")
        q = np.asarray(found.q)
        rows.append(q)
    return np.array(rows)
