"""Motions of joints: from point to point, through way points, from state to state."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork import extras, settings
from linkwork.checks import finite_number, real_array
from linkwork.compile.native_call import Array, Number, row_call
from linkwork.compile.numpy_abi import address
from linkwork.errors import InputError, ShapeError
from linkwork.trajectory import profiles
from linkwork.trajectory.piecewise import (
    Floats,
    Trajectory,
    from_polynomials,
    joined,
    limit_rows,
    names_of,
    shifted,
    then_still,
)
from linkwork.trajectory.profiles import Limits, Profile

Name = Literal["constant_acceleration", "trapezoid", "double_s", "cubic", "quintic"]
Synchronise = Literal["path", "time", "none"]


_REST = 0.0


def point_to_point(  # noqa: PLR0913  limits, by name
    start: ArrayLike,
    goal: ArrayLike,
    *,
    profile: Name = "double_s",
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    duration: float | None = None,
    synchronise: Synchronise = "path",
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The motion from rest at ``start`` (n,) to rest at ``goal`` (n,), as quick as limits allow.

    ``profile``: "double_s" (bounded jerk), "trapezoid" (of velocities), "constant_acceleration",
    "cubic" or "quintic" (one polynomial). Limits are one number or (n,), in rad or m and s;
    the accelerations of a trapezoid, of constant acceleration and of a cubic step, and take no
    limit of jerk. With a
    ``duration`` (s) the motion lasts that long: without limits in the profile's plain shape (equal
    phases), with them stretched, where that is long enough.

    ``synchronise``: "path", all joints begin and end together, on a straight line; "time", each has
    a profile of its own, stretched to the time of the slowest; "none", each arrives when it can,
    and waits.

    Raises: InputError, ShapeError.
    """
    q0, q1 = _points([start, goal], "start and goal")
    if synchronise not in ("path", "time", "none"):
        raise InputError(f"synchronise is 'path', 'time' or 'none', not {synchronise!r:.40}")
    bounds = _limits(len(q0), velocity, acceleration, jerk)
    if duration is not None:
        duration = finite_number(duration, "duration", above=0.0)
    limited = bool(np.isfinite(bounds).any())
    if not limited and duration is None:
        raise InputError("give limits of velocity, acceleration or jerk, or a duration")
    way = q1 - q0
    moves = np.flatnonzero(way)
    if not len(moves):
        profiles.shape(profile, Limits(1.0, 1.0))  # the name is known
        still = from_polynomials([0.0, 0.0], q0[None, None], joint_names)
        return then_still(still, duration or 0.0)
    shares = bounds[:, moves] / np.abs(way[moves])  # limits of a way of length 1
    if synchronise == "path":
        common = profiles.shape(profile, Limits(*shares.min(axis=1).tolist()))
        laws = [common] * len(moves)
    else:
        laws = [profiles.shape(profile, Limits(*each.tolist())) for each in shares.T]
    least = max(law.duration for law in laws)
    last = least if duration is None else duration
    if limited and last < least * (1.0 - 1e-12):
        raise InputError(
            f"duration {last:g} s is too short for these limits: {least:.9g} s at least"
        )
    if synchronise != "none" or not limited:
        laws = [profiles.stretched(law, last) for law in laws]
    made = _merged(laws, last, q0, way, moves)
    return from_polynomials(*made, joint_names)


def _merged(
    laws: Sequence[Profile], last: float, q0: Floats, way: Floats, moves: Any
) -> tuple[Floats, Floats]:
    """Times and coefficients of joints with profiles of their own; those that are done wait."""
    ends = [np.cumsum(law.durations) for law in laws]
    for each, law in zip(ends, laws, strict=True):
        if abs(law.duration - last) <= 1e-12 * last:
            each[-1] = last
    times = np.unique(np.concatenate([[0.0], *ends, [last]]))
    # instants that rounding alone tells apart are one
    times = times[np.concatenate([np.diff(times) > 1e-12 * last, [True]])]
    times[0] = 0.0
    spans = len(times) - 1
    c = np.zeros((spans, max(law.coefficients.shape[1] for law in laws), len(q0)))
    c[:, 0, :] = q0
    middle = 0.5 * (times[:-1] + times[1:])
    for joint, law, end in zip(moves.tolist(), laws, ends, strict=True):
        k = np.searchsorted(end, middle)
        inside = k < len(end)
        k = np.minimum(k, len(end) - 1)
        begin = np.where(k > 0, end[k - 1], 0.0)
        pieces = shifted(law.coefficients[k][:, :, None], times[:-1] - begin)[:, :, 0]
        pieces[~inside] = 0.0
        pieces[~inside, 0] = 1.0
        c[:, : pieces.shape[1], joint] += way[joint] * pieces
    return times, c


def through(  # noqa: PLR0913  limits, by name
    points: ArrayLike,
    *,
    times: ArrayLike | None = None,
    kind: Literal["cubic", "quintic", "stops"] = "cubic",
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    duration: float | None = None,
    start_velocity: ArrayLike = 0.0,
    end_velocity: ArrayLike = 0.0,
    profile: Name = "double_s",
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The motion through way points (m, n): a spline, or lines from one to the next with stops.

    ``kind``: "cubic" has continuous accelerations, "quintic" continuous jerks and their
    derivatives, with no acceleration at both ends; "stops" is a `point_to_point` to each of them,
    by ``profile``. ``times`` (m,), from 0, say when each is passed. Without them times grow with
    the square root of the distances, and all is stretched to be as quick as the limits allow, or
    to the ``duration``; that keeps limits, and is not the least time. ``times`` that exceed limits
    are refused. Velocities at the ends are 0, or one number or (n,) where ``times`` are given.

    Source: C. de Boor, A Practical Guide to Splines (2001), chapter IV, for the cubic.
    Raises: InputError, ShapeError.
    """
    q = real_array(points, "points")
    if q.ndim != 2 or len(q) < 2 or not q.shape[1]:
        raise ShapeError(f"points must have shape (m, n) with m from 2, not {q.shape}")
    _finite(q, "points")
    if kind not in ("cubic", "quintic", "stops"):
        raise InputError(f"kind is 'cubic', 'quintic' or 'stops', not {kind!r:.40}")
    given: dict[str, Any] = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    if kind == "stops" and times is not None:
        raise InputError("times are for splines; a motion with stops takes limits or a duration")
    m, n = q.shape
    ends = _rows({"start_velocity": start_velocity, "end_velocity": end_velocity}, n)
    if kind == "stops":
        if ends.any():
            raise InputError("a motion with stops begins and ends at rest: leave velocities out")
        names = names_of(joint_names, n)
        return replace(_with_stops(q, profile, given, duration), joint_names=names)
    if times is not None:
        if duration is not None:
            raise InputError("give times or a duration, not both")
        t = _instants(times, m)
    elif ends.any():
        raise InputError("velocities at the ends need times: without them all is stretched")
    else:
        q, t = _apart(q)
    if len(t) == 1:
        still = from_polynomials([0.0, 0.0], q[:1, None], joint_names)
        return then_still(still, duration or 0.0)
    spline = _cubic if kind == "cubic" else _quintic
    made = from_polynomials(t, spline(q, np.diff(t), *ends), joint_names)
    return _on_time(made, given) if times is not None else _in_time(made, given, duration)


def _on_time(made: Trajectory, given: dict[str, Any]) -> Trajectory:
    """The motion as it is, where it keeps the limits.

    Raises: InputError.
    """
    for name, use in made.uses(**given).items():
        if use.max() > 1.0 + 1e-9:
            k = int(use.argmax())
            which = f"'{made.joint_names[k]}'" if made.joint_names else f"position {k}"
            raise InputError(
                f"at these times {which} needs {use[k]:.4g} times its limit of {name}: give later "
                "ones, or leave times out"
            )
    return made


def _in_time(made: Trajectory, given: dict[str, Any], duration: float | None) -> Trajectory:
    """The same path as quick as limits allow, or in a duration that they allow.

    Raises: InputError.
    """
    if np.isfinite(_limits(made.n, *given.values())).any():
        made = made.within(**given)
        if duration is not None and duration < made.duration * (1.0 - 1e-12):
            raise _too_short(duration, made.duration)
    elif duration is None:
        raise InputError("give times, a duration, or limits of velocity, acceleration or jerk")
    return made if duration is None else made.lasting(duration)


def _too_short(duration: float, least: float) -> InputError:
    return InputError(
        f"duration {duration:g} s is too short for these limits: {least:.9g} s at least"
    )


def _instants(times: ArrayLike, m: int) -> Floats:
    t = real_array(times, "times")
    if t.shape != (m,):
        raise ShapeError(f"times must have shape ({m},), one for each point, not {t.shape}")
    _finite(t, "times")
    if t[0] != 0.0 or not (np.diff(t) > 0.0).all():
        raise InputError("times begin at 0 and grow")
    return t


def _with_stops(
    q: Floats, profile: Name, given: dict[str, Any], duration: float | None
) -> Trajectory:
    legs: list[Trajectory] = []
    limited = any(each is not None for each in given.values())
    if not limited and duration is None:
        raise InputError("give limits of velocity, acceleration or jerk, or a duration")
    for a, b in pairwise(q):
        if (a != b).any():
            if limited:
                legs.append(point_to_point(a, b, profile=profile, **given))
            else:  # the time of each leg grows with its square root, as with accelerations
                own = math.sqrt(float(np.abs(b - a).max()))
                legs.append(point_to_point(a, b, profile=profile, duration=own))
    if not legs:
        still = from_polynomials([0.0, 0.0], q[:1, None])
        return then_still(still, duration or 0.0)
    made = legs[0].then(*legs[1:])
    if limited and duration is None:
        return made  # each leg has been made as quick as limits allow
    if limited and duration is not None and duration < made.duration * (1.0 - 1e-12):
        raise _too_short(duration, made.duration)
    return made.lasting(made.duration if duration is None else duration)


def _apart(q: Floats) -> tuple[Floats, Floats]:
    """The points without those that stand where the one before does, and times for them."""
    steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
    kept = np.concatenate([[True], steps > 0.0])
    spans = np.sqrt(steps[steps > 0.0])
    return q[kept], np.concatenate([[0.0], np.cumsum(spans)])


def _cubic(q: Floats, h: Floats, v0: Floats, v1: Floats) -> Floats:
    """Coefficients (m - 1, 4, n) of the cubic spline with these velocities at its ends.

    Velocities at the knots follow from continuous accelerations, a tridiagonal system.
    """
    m = len(q)
    slopes = np.diff(q, axis=0) / h[:, None]
    v = np.zeros_like(q)
    v[0], v[-1] = v0, v1
    if m > 2:
        # v[k-1]/h[k-1] + 2 (1/h[k-1] + 1/h[k]) v[k] + v[k+1]/h[k]
        #   = 3 (slope[k-1]/h[k-1] + slope[k]/h[k]);  Thomas' elimination
        w = 1.0 / h
        diagonal = 2.0 * (w[:-1] + w[1:])
        right = 3.0 * (slopes[:-1] * w[:-1, None] + slopes[1:] * w[1:, None])
        right[0] -= w[0] * v0
        right[-1] -= w[-1] * v1
        for k in range(1, m - 2):
            factor = w[k] / diagonal[k - 1]
            diagonal[k] -= factor * w[k]
            right[k] -= factor * right[k - 1]
        v[m - 2] = right[-1] / diagonal[-1]
        for k in reversed(range(m - 3)):
            v[k + 1] = (right[k] - w[k + 1] * v[k + 2]) / diagonal[k]
    hh = h[:, None]
    second = (3.0 * slopes - 2.0 * v[:-1] - v[1:]) / hh
    third = (v[:-1] + v[1:] - 2.0 * slopes) / hh**2
    return np.stack([q[:-1], v[:-1], second, third], axis=1)


def _quintic(q: Floats, h: Floats, v0: Floats, v1: Floats) -> Floats:
    """Coefficients (m - 1, 6, n) of the quintic spline without acceleration at its ends.

    Velocities and accelerations at the knots follow from continuous third and fourth
    derivatives: blocks of 2 x 2, eliminated from the first to the last.
    """
    m, n = q.shape
    state = np.zeros((m, 2, n))  # velocity and acceleration
    state[0, 0], state[-1, 0] = v0, v1
    # third and fourth derivatives of a piece of length h at its two ends, by those of the knots
    i3, i4 = 1.0 / h**3, 1.0 / h**4
    slope = np.diff(q, axis=0)

    def left(k: int) -> tuple[Floats, Floats, Floats]:
        """At the begin of piece k: of its first knot, of its second, of its way."""
        a, t = h[k], np.array([i3[k], i4[k]])[:, None]
        first = np.array([[-36.0 * a, -9.0 * a * a], [192.0 * a, 36.0 * a * a]])
        second = np.array([[-24.0 * a, 3.0 * a * a], [168.0 * a, -24.0 * a * a]])
        return t * first, t * second, (t * np.array([[60.0], [-360.0]])) @ slope[k][None]

    def right(k: int) -> tuple[Floats, Floats, Floats]:
        """At the end of piece k."""
        a, t = h[k], np.array([i3[k], i4[k]])[:, None]
        first = np.array([[-24.0 * a, -3.0 * a * a], [-168.0 * a, -24.0 * a * a]])
        second = np.array([[-36.0 * a, 9.0 * a * a], [-192.0 * a, 36.0 * a * a]])
        return t * first, t * second, (t * np.array([[60.0], [360.0]])) @ slope[k][None]

    eliminated: list[tuple[Any, Any]] = []
    before: tuple[Any, Any] = np.zeros((2, 2)), state[0]  # state[k] = rest - gain state[k + 1]
    for k in range(1, m - 1):
        (a0, a1, ar), (b0, b1, br) = right(k - 1), left(k)
        gain, rest = before
        diagonal = a1 - b0 - a0 @ gain
        known = br - ar - a0 @ rest
        before = np.linalg.solve(diagonal, -b1), np.linalg.solve(diagonal, known)
        eliminated.append(before)
    for k in reversed(range(1, m - 1)):
        gain, rest = eliminated[k - 1]
        state[k] = rest - gain @ state[k + 1]
    hh = h[:, None]
    v, w = state[:-1], state[1:]
    p, dv, da = slope / hh, w[:, 0] - v[:, 0], w[:, 1] - v[:, 1]
    x = p - v[:, 0] - 0.5 * hh * v[:, 1]  # what velocity and acceleration leave of the way, by h
    y, z = dv - hh * v[:, 1], hh * da
    return np.stack(
        [
            q[:-1],
            v[:, 0],
            0.5 * v[:, 1],
            (10.0 * x - 4.0 * y + 0.5 * z) / hh**2,
            (-15.0 * x + 7.0 * y - z) / hh**3,
            (6.0 * x - 3.0 * y + 0.5 * z) / hh**4,
        ],
        axis=1,
    )


def state_to_state(  # noqa: PLR0913  states and limits, by name
    start: ArrayLike,
    goal: ArrayLike,
    *,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike,
    start_velocity: ArrayLike = _REST,
    start_acceleration: ArrayLike = _REST,
    goal_velocity: ArrayLike = _REST,
    goal_acceleration: ArrayLike = _REST,
    duration: float | None = None,
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The quickest motion between any two states under limits of velocity, acceleration and jerk.

    All of (n,) or one number; joints arrive together. Ends that break the limits are refused, and
    so are those whose accelerations lead beyond a limit of velocity. ``duration`` is the least time
    that it may take (s). From rest to rest each joint has the double S of its least time, or of the
    same limits with a lower velocity that takes the time of the slowest. Between other states it is
    computed by ruckig (extra ``ruckig``).

    Source: L. Biagiotti, C. Melchiorri, Trajectory Planning for Automatic Machines and Robots
    (2008), section 3.4, for the double S. L. Berscheid, T. Kröger, Jerk-limited real-time
    trajectory generation with arbitrary target states, RSS 2021.
    Raises: MissingExtraError; InputError where a state breaks a limit, or no motion is found;
    ShapeError.
    """
    resting = start_velocity is _REST and start_acceleration is _REST
    resting = resting and goal_velocity is _REST and goal_acceleration is _REST
    if resting and type(start) is np.ndarray and start.ndim == 1 and len(start):
        if duration is None:  # no more Python than this is between a call and what is compiled
            made = _room(len(start)).motion(
                start, goal, velocity, acceleration, jerk, 0.0, joint_names
            )
            if made is not None:
                return made
    q0, q1 = _points([start, goal], "start and goal")
    n = len(q0)
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    limits = [limit_rows(each, n, name) for name, each in given.items()]
    if duration is not None:
        duration = finite_number(duration, "duration", above=0.0)
    if resting:
        q0, q1, *limits = (np.ascontiguousarray(each) for each in (q0, q1, *limits))
        made = _room(n).motion(q0, q1, *limits[:3], duration or 0.0, joint_names)
        if made is not None:
            return made
    given = {
        "start_velocity": start_velocity,
        "start_acceleration": start_acceleration,
        "goal_velocity": goal_velocity,
        "goal_acceleration": goal_acceleration,
    }
    states = _rows(given, n)
    _check_states(states, limits)
    return _by_ruckig(q0, q1, states, limits, duration, joint_names)


def _check_states(states: Floats, limits: Sequence[Floats]) -> None:
    """Refuse ends (4, n) whose velocities or accelerations no motion within limits has."""
    velocity, acceleration, jerk = limits
    for what, v, a, sign in (
        ("start", states[0], states[1], 1.0),
        ("goal", states[2], states[3], -1.0),
    ):
        with np.errstate(over="ignore"):
            reached = v + sign * a * np.abs(a) / (2.0 * jerk)  # while the acceleration falls to 0
        told = "comes to" if what == "start" else "comes from"
        for name, own, size, most in (
            ("acceleration", a, a, acceleration),
            ("velocity", v, v, velocity),
            ("velocity", v, reached, velocity),
        ):
            if (beyond := np.abs(size) > most * (1.0 + 1e-9)).any():
                k = int(beyond.argmax())
                then = f", which {told} {size[k]:g} by its acceleration," if size is reached else ""
                raise InputError(
                    f"there is no such motion: {what}_{name} of position {k} is {own[k]:g}{then} "
                    f"and its limit {most[k]:g}"
                )


def _by_ruckig(  # what `state_to_state` was given
    start: Floats,
    goal: Floats,
    given: Floats,
    limits: Sequence[Floats],
    duration: float | None,
    joint_names: Sequence[str],
) -> Trajectory:
    """The motion between any two states.

    ``given`` (4, n): velocity and acceleration at the start, then at the goal.
    """
    what = "state_to_state with ends that move, or limits that are infinite, needs"
    with extras.needed(what, "ruckig", "ruckig"):
        import ruckig  # noqa: PLC0415  an extra
    n = len(start)
    states = np.concatenate([start[None], given[:2]])
    asked = ruckig.InputParameter(n)
    asked.current_position, asked.current_velocity, asked.current_acceleration = states.tolist()
    asked.target_position = goal.tolist()
    asked.target_velocity, asked.target_acceleration = given[2:].tolist()
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = (each.tolist() for each in limits)
    if duration is not None:
        asked.minimum_duration = duration
    found = ruckig.Trajectory(n)
    try:
        outcome = ruckig.Ruckig(n).calculate(asked, found)
    except (RuntimeError, ruckig.RuckigError) as error:
        why = str(error).strip().splitlines()[0]
        raise InputError(f"there is no such motion: {why}") from None
    if outcome not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise InputError(f"there is no such motion: ruckig says {outcome}")
    parts = [(own.brake, own, own.accel) for own in found.profiles[0]]
    rows = [[*brake.t, *own.t, *accel.t] for brake, own, accel in parts]
    rows += [[*brake.j, *own.j, *accel.j] for brake, own, accel in parts]
    spans = np.array(rows)[:n]
    code, phases = _phase_code(), spans.shape[1]
    times = np.empty(spans.size + 2)
    at, knots = address(spans), address(times)
    count = code.write_knots(n, phases, at, found.duration, knots)
    c = np.empty((max(count - 1, 1), 4, n))
    jerks_at = at + 8 * spans.size  # behind the spans
    code.write_cubics(n, phases, at, jerks_at, address(states), count, knots, address(c))
    return _of_phases(count, times, c, states[0], joint_names)


def _of_phases(
    count: int, times: Floats, c: Floats, start: Floats, joint_names: Sequence[str]
) -> Trajectory:
    """The motion of so many instants, in arrays that may be larger."""
    if count == 1:
        return from_polynomials([0.0, 0.0], start[None, None], joint_names)
    times, c = times[:count].copy(), c[: count - 1].copy()
    if joint_names:
        return joined(times, c, joint_names)
    times.setflags(write=False)
    c.setflags(write=False)
    return Trajectory(times=times, coefficients=c)


class _Room:
    """Memory of a thread for motions of n joints from rest to rest, and their native functions."""

    def __init__(self, n: int) -> None:
        code = _phase_code()
        phases = code.phases
        self._room = np.zeros(phases.WORK + (3 + 2 * phases.PHASES) * n)
        self._room[phases.N] = n
        self._least, self._strides = phases.LEAST, slice(phases.STRIDES, phases.WORK)
        most = phases.PHASES * n + 2
        self._times, self._cubics = np.empty(most), np.empty((most, 4, n))
        self._n, self._known = n, dict[tuple[bool, bool, bool], Any]()
        self._asked: Any = None

    def motion(  # what `state_to_state` was given
        self,
        start: Any,
        goal: Any,
        velocity: Any,
        acceleration: Any,
        jerk: Any,
        least: float,
        joint_names: Sequence[str],
    ) -> Trajectory | None:
        """The motion of arrays (n,) and limits that may be numbers; None where that is not so."""
        asked = type(velocity) is float, type(acceleration) is float, type(jerk) is float
        if asked != self._asked:
            self._asked = asked
            self._room[self._strides] = [0.0 if each else 1.0 for each in asked]
            self._call = self._known.get(asked) or self._function(asked)
        self._room[self._least] = least
        count = int(self._call(start, goal, velocity, acceleration, jerk))
        if count == 0:
            return None
        return _of_phases(count, self._times, self._cubics, start, joint_names)

    def _function(self, asked: tuple[bool, bool, bool]) -> Any:
        """The native function for arguments of which these are numbers."""
        array = Array((self._n,))
        takes: list[Any] = [array, array, *(Number() if each else array for each in asked)]
        self._known[asked] = made = row_call(
            (takes, Number()),
            settings.compiler(),
            self._otherwise,
            rows=_phase_code().address("rest_to_rest"),
            arrays=[address(self._room), address(self._times), address(self._cubics)],
        )
        return made

    def _otherwise(self, *given: Any) -> float:
        """The same where Python lets no native function read arrays; 0 for what is no such row."""
        rows = [np.array([each]) if type(each) is float else each for each in given]
        for row, size in zip(rows, [1, 1, *self._room[self._strides]], strict=True):
            if type(row) is not np.ndarray or row.dtype != np.float64 or row.ndim != 1:
                return 0.0
            if len(row) != (self._n if size else 1):
                return 0.0
        rows = [np.ascontiguousarray(row) for row in rows]
        found = np.zeros(1)
        at = [address(each) for each in (*rows, self._room, self._times, self._cubics, found)]
        _phase_code().rest_to_rest(0, 1, *at, 0)
        return float(found[0])


_rooms = threading.local()


def _room(n: int) -> _Room:
    try:
        return _rooms.known[n]
    except AttributeError:
        _rooms.known = {}
    except KeyError:
        pass
    made = _rooms.known[n] = _Room(n)
    return made


class _PhaseCode:
    """The compiled functions of `phases`."""

    def __init__(self) -> None:
        # the small language takes 20 ms, which not every motion needs
        from linkwork.compile.typed import library  # noqa: PLC0415
        from linkwork.trajectory import phases  # noqa: PLC0415

        listed = [phases.write_knots, phases.write_cubics, phases.rest_to_rest]
        self._code = library(listed, settings.compiler(), "phases")
        self.phases, whole, real = phases, ctypes.c_int64, ctypes.c_double
        knots = ctypes.CFUNCTYPE(whole, whole, whole, whole, real, whole)
        cubics = ctypes.CFUNCTYPE(whole, *[whole] * 8)
        rest = ctypes.CFUNCTYPE(whole, *[whole] * 12)
        self.write_knots = knots(self._code.address("write_knots"))
        self.write_cubics = cubics(self._code.address("write_cubics"))
        self.rest_to_rest = rest(self._code.address("rest_to_rest"))
        self.address = self._code.address


@cache
def _phase_code() -> _PhaseCode:
    return _PhaseCode()


# ---- what is given


def _points(given: Sequence[ArrayLike], what: str) -> list[Floats]:
    rows = [np.atleast_1d(real_array(each, what)) for each in given]
    if any(row.ndim != 1 or row.shape != rows[0].shape or not row.size for row in rows):
        shapes = " and ".join(str(row.shape) for row in rows)
        raise ShapeError(f"{what} must have the same shape (n,), not {shapes}")
    for row in rows:
        _finite(row, what)
    return rows


def _finite(values: Floats, what: str) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"{what} must be finite numbers")


def _rows(given: dict[str, ArrayLike], n: int) -> Floats:
    """Rows (k, n) of what is given by name: one number or (n,) each."""
    rows = np.empty((len(given), n))
    for row, (name, each) in zip(rows, given.items(), strict=True):
        values = real_array(each, name)
        if values.shape not in ((), (n,)):
            raise ShapeError(f"{name} must be one number or shape ({n},), not {values.shape}")
        row[:] = values
    if not np.isfinite(rows).all():
        for row, name in zip(rows, given, strict=True):
            _finite(row, name)
    return rows


def _limits(n: int, *given: ArrayLike | None) -> Floats:
    """Limits (3, n) of velocity, acceleration and jerk; infinite where none is given."""
    names = ("velocity", "acceleration", "jerk")
    return np.stack(
        [
            np.full(n, np.inf) if each is None else limit_rows(each, n, name)
            for each, name in zip(given, names, strict=True)
        ]
    )
