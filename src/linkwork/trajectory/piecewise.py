"""Trajectories: positions over time, as polynomials one after another."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import npz
from linkwork.atomic import write_bytes
from linkwork.checks import finite_number, real_array, whole_number
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import labels

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]

_LIMITS = ("velocity", "acceleration", "jerk")
_LOOKS = 25
"""The number of places of a polynomial at which joint forces are looked at."""


class Samples(NamedTuple):
    """States of a trajectory: instants t (n,) in s; q, v, a (n, nq) in rad or m, and per s, s²."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Trajectory:
    """Positions q (n,) as a function of time, from 0 to `duration` seconds.

    Between ``times[k]`` and ``times[k + 1]`` position i is the polynomial whose coefficients are
    ``coefficients[k, :, i]``, of t - times[k], the constant first: times (m + 1,), coefficients
    (m, order, n). Before the beginning and after the end it stands still. Calls take an instant or
    any shape (...) of them, and give (..., n).

    Every operation returns a new one. It is a function of time as `linkwork.PD` takes it.
    """

    times: Floats
    coefficients: Floats
    joint_names: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """The time from the beginning to the end, s."""
        return float(self.times[-1])

    @property
    def n(self) -> int:
        """The number of positions."""
        return int(self.coefficients.shape[2])

    @property
    def start(self) -> Floats:
        """Positions (n,) at the beginning."""
        return self(0.0)

    @property
    def end(self) -> Floats:
        """Positions (n,) at the end."""
        return self(self.duration)

    def __call__(self, t: ArrayLike) -> Floats:
        """Positions (..., n) at instants (...), s.

        Raises: InputError for instants that are no finite numbers.
        """
        return self._at(t, 0)

    def velocity(self, t: ArrayLike) -> Floats:
        """Velocities (..., n) at instants (...), rad/s or m/s; at a step those after it.

        Raises: as a call.
        """
        return self._at(t, 1)

    def acceleration(self, t: ArrayLike) -> Floats:
        """Accelerations (..., n) at instants (...), rad/s² or m/s²; at a step those after it.

        Raises: as a call.
        """
        return self._at(t, 2)

    def jerk(self, t: ArrayLike) -> Floats:
        """Jerks (..., n) at instants (...), rad/s³ or m/s³; at a step those after it.

        Raises: as a call.
        """
        return self._at(t, 3)

    @cached_property
    def _derivatives(self) -> list[list[Floats]]:
        """The coefficients (m, n) of positions, velocities, accelerations, jerks, by power."""
        every = (derivative(self.coefficients, order) for order in range(4))
        return [list(np.moveaxis(powers, 1, 0)) for powers in every]

    def _at(self, t: ArrayLike, order: int) -> Floats:
        last = len(self.times) - 2
        outside: Any = None
        if isinstance(t, float) and 0.0 <= t <= self.duration:  # by controllers, at each step
            k: Any = min(int(self.times.searchsorted(t, side="right")) - 1, last)
            x: Any = t - float(self.times[k])
        else:
            instants = real_array(t, "t")
            if not np.isfinite(instants).all():
                raise InputError("t must be finite numbers of seconds")
            within = np.clip(instants, 0.0, self.duration)
            k = np.minimum(np.searchsorted(self.times, within, side="right") - 1, last)
            x, outside = (within - self.times[k])[..., None], within != instants
        *lower, highest = self._derivatives[order]
        values = np.array(highest[k])
        for powers in reversed(lower):
            values = values * x + powers[k]
        if order and outside is not None:
            values[outside] = 0.0
        return values

    # ---- samples

    def sample(self, dt: float | None = None, *, n: int | None = None) -> Samples:
        """States every ``dt`` seconds, the end included, or n of them evenly from start to end.

        Raises: InputError, also where not exactly one of the two is given.
        """
        if (dt is None) == (n is None):
            raise InputError("give either dt, the seconds between two states, or n, their number")
        if n is not None:
            t = np.linspace(0.0, self.duration, whole_number(n, "n", least=2))
        else:
            step = finite_number(dt, "dt", above=0.0)
            if self.duration / step > 1e8:
                raise InputError(f"dt = {step:g} would be {self.duration / step:.3g} states")
            t = np.arange(0.0, self.duration, step)
            t = np.append(t[self.duration - t > 1e-9 * step], self.duration)
        return Samples(t, self(t), self.velocity(t), self.acceleration(t))

    # ---- limits

    def extremes(self, order: int = 0) -> tuple[Floats, Floats]:
        """The lowest and the highest values (n,), (n,) of the derivative of an order.

        Positions for 0, velocities for 1, accelerations for 2, jerks for 3. They are those of the
        polynomials, not of samples: at roots of their derivatives.

        Raises: InputError for another order.
        """
        order = whole_number(order, "order", least=0, most=8)
        powers = derivative(self.coefficients, order)
        spans = np.diff(self.times)
        m, size, n = powers.shape
        rows = np.moveaxis(powers, 1, 2).reshape(m * n, size)
        length = np.repeat(spans, n)
        points = np.concatenate(
            [np.zeros((m * n, 1)), length[:, None], _turning_points(rows, length)], axis=1
        )
        values = np.zeros_like(points)
        for c in reversed(range(size)):
            values = values * points + rows[:, c, None]
        values = values.reshape(m, n, -1)
        return values.min(axis=(0, 2)), values.max(axis=(0, 2))

    def uses(
        self,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        robot: Robot | None = None,
        **dynamics: Any,
    ) -> dict[str, Floats]:
        """The largest share (n,) of each limit that is used at any time; 1 is all of it.

        Limits are one number or (n,), from above zero. Where the derivative below a limit steps,
        at a knot or at one of the ends, from or to rest, the share is infinite.

        ``torque`` is of the joint forces of a ``robot`` (N m, N), whose effort limits it is where
        only the robot is given; ``dynamics`` are the keywords of `Robot.inverse_dynamics`. Forces
        are looked at 25 times on each polynomial, and on curves through these in between.

        Raises: InputError, ShapeError; as `Robot.inverse_dynamics`.
        """
        limits = (velocity, acceleration, jerk)
        found: dict[str, Floats] = {}
        for order, (name, given) in enumerate(zip(_LIMITS, limits, strict=True), 1):
            if given is not None:
                lowest, highest = self.extremes(order)
                share = np.maximum(-lowest, highest) / limit_rows(given, self.n, name)
                found[name] = np.where(self._steps(order - 1), np.inf, share)
        if robot is not None:
            mechanism_of(robot)
            limit = robot.limits.effort if torque is None else torque
            forces = self._forces(robot, dynamics)
            most = np.maximum(tops(forces, _LOOKS), tops(-forces, _LOOKS)).max(axis=0)
            found["torque"] = most / limit_rows(limit, self.n, "torque")
        elif torque is not None or dynamics:
            raise InputError("torques are a robot's: give robot=")
        return found

    def _forces(self, robot: Robot, dynamics: dict[str, Any]) -> Floats:
        """Joint forces (polynomials x `_LOOKS`, n), at even instants of each polynomial."""
        if robot.n_v != self.n or robot.n_q != self.n:
            raise ShapeError(
                f"{robot.name} has {robot.n_v} joint forces, and {self.n} positions move"
            )
        own = labels(robot.mechanism, velocities=False)
        for k, name in enumerate(self.joint_names):
            if name in own and name != own[k]:
                raise InputError(
                    f"position {k} is '{name}' here and '{own[k]}' in {robot.name}: joints must be "
                    "in the robot's order"
                )
        x = np.diff(self.times)[:, None] * np.linspace(0.0, 1.0, _LOOKS)
        states: list[Floats] = []
        for order in range(3):
            powers = derivative(self.coefficients, order)
            values = np.zeros((*x.shape, self.n))
            for k in reversed(range(powers.shape[1])):
                values = values * x[:, :, None] + powers[:, k, None]
            states.append(values.reshape(-1, self.n))
        return robot.inverse_dynamics(*states, **dynamics)

    def _steps(self, order: int) -> NDArray[np.bool_]:
        """Whether a derivative steps (n,): at a knot, or at the ends, beyond which all is still."""
        powers = derivative(self.coefficients, order)
        ends = shifted(powers, np.diff(self.times))[:, 0]
        begins = powers[:, 0]
        steps = np.abs(begins[1:] - ends[:-1]).max(axis=0, initial=0.0)
        size = np.maximum(*np.abs(self.extremes(order)))
        if order:
            steps = np.maximum(steps, np.maximum(np.abs(begins[0]), np.abs(ends[-1])))
        shortest = max(float(np.diff(self.times).min()), 1e-300)
        below = derivative(self.coefficients, max(order - 1, 0))[:, 0]
        rounding = np.abs(below).max(axis=0, initial=0.0) / (shortest if order else 1.0)
        return steps > 1e-7 * size + 1e-12 * rounding

    # ---- others made of it

    def stretched(self, factor: float) -> Trajectory:
        """The same path in ``factor`` times the time: velocities, accelerations and jerks are
        those of this one divided by factor, factor², factor³.

        Raises: InputError for a factor that is not above zero.
        """
        factor = finite_number(factor, "factor", above=0.0)
        powers = factor ** -np.arange(self.coefficients.shape[1], dtype=float)
        return replace(
            self, times=self.times * factor, coefficients=self.coefficients * powers[:, None]
        )

    def lasting(self, duration: float) -> Trajectory:
        """The same path in this time (s); see `stretched`.

        Raises: InputError.
        """
        duration = finite_number(duration, "duration", above=0.0)
        if self.duration == 0.0:
            return then_still(self, duration)
        made = self.stretched(duration / self.duration)
        times = made.times.copy()
        times[-1] = duration
        return replace(made, times=times)

    def within(
        self,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
    ) -> Trajectory:
        """The same path as quick as these limits allow where all of it is stretched alike.

        Raises: InputError where no limit is given, or one cannot be kept in any time; ShapeError.
        """
        given = self.uses(velocity=velocity, acceleration=acceleration, jerk=jerk)
        if not given:
            raise InputError("give at least one of velocity, acceleration and jerk")
        power = {name: k for k, name in enumerate(_LIMITS, 1)}
        factor = max(float(use.max()) ** (1.0 / power[name]) for name, use in given.items())
        if not np.isfinite(factor):
            stepping = [name for name, use in given.items() if np.isinf(use).any()]
            raise InputError(
                f"no time makes {stepping[0]} finite: what it is the rate of steps; leave that "
                "limit out, or take a smoother motion (double_s, quintic)"
            )
        return self.stretched(factor) if factor > 0.0 else self

    def reversed(self) -> Trajectory:
        """The same path from its end to its start."""
        spans = np.diff(self.times)[::-1]
        flipped = shifted(self.coefficients, np.diff(self.times))[::-1].copy()
        flipped[:, 1::2] *= -1.0
        times = np.concatenate([[0.0], np.cumsum(spans)])
        times[-1] = self.duration
        return replace(self, times=times, coefficients=flipped)

    def then(self, *others: Trajectory) -> Trajectory:
        """This one and others after it, each from where the one before ends.

        Raises: InputError where one begins more than 1e-9 from there; ShapeError.
        """
        made = self
        for other in others:
            if not isinstance(other, Trajectory):
                raise InputError(f"what follows must be a Trajectory, not {other!r:.40}")
            if other.n != made.n:
                raise ShapeError(f"a trajectory of {other.n} positions goes on one of {made.n}")
            if made.joint_names and other.joint_names and made.joint_names != other.joint_names:
                raise InputError(
                    f"a trajectory of {', '.join(other.joint_names)} does not go on one of "
                    f"{', '.join(made.joint_names)}: joints and their order must be the same"
                )
            gap = np.abs(other.start - made.end)
            if gap.max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(made.end).max(initial=0.0))):
                k = int(gap.argmax())
                name = made.joint_names[k] if made.joint_names else f"position {k}"
                raise InputError(
                    f"{name} ends at {made.end[k]:.9g}, and the next trajectory begins at "
                    f"{other.start[k]:.9g}: the one begins where the other ends"
                )
            size = max(made.coefficients.shape[1], other.coefficients.shape[1])
            both = np.concatenate(
                [padded(made.coefficients, size), padded(other.coefficients, size)]
            )
            times = np.concatenate([made.times, made.duration + other.times[1:]])
            names = made.joint_names or other.joint_names
            made = replace(made, times=times, coefficients=both, joint_names=names)
        return made

    # ---- files and pictures

    def save(self, path: str | os.PathLike[str], *, dt: float = 0.01) -> None:
        """Write to a .csv file, a state every ``dt`` seconds, or to a .npz, exactly.

        Columns of the CSV: t, q of each joint, v of each, a of each. A .npz has ``times``,
        ``coefficients`` and ``joint_names``, as `load` reads them. The file is written whole or
        not at all.

        Raises: InputError for another ending, or where the file cannot be written.
        """
        try:
            name = os.fspath(path)
        except TypeError:
            raise InputError(f"a trajectory is written to a path, not {path!r:.40}") from None
        if name.lower().endswith(".npz"):
            names = np.array(self.joint_names, dtype=np.str_)
            arrays = {"times": self.times, "coefficients": self.coefficients}
            npz.write(path, {**arrays, "joint_names": names})
            return
        if not name.lower().endswith(".csv"):
            raise InputError(f"{name}: a trajectory is written to .csv or .npz")
        s = self.sample(dt)
        joints = self.joint_names or tuple(map(str, range(self.n)))
        head = ["t", *(f"{kind}_{joint}" for kind in "qva" for joint in joints)]
        text = StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(np.column_stack(s).tolist())
        write_bytes(path, text.getvalue().encode())

    def to_ros(self, dt: float | None = None, *, n: int | None = None) -> dict[str, Any]:
        """The fields of a ROS message ``trajectory_msgs/JointTrajectory``, as plain Python.

        States every ``dt`` seconds, or n of them: as `sample`. Times are from the start.

        Raises: as `sample`; InputError for a trajectory without names of joints.
        """
        if not self.joint_names:
            raise InputError("a message names its joints: give joint_names where it is made")
        states = self.sample(dt, n=n)
        points: list[dict[str, Any]] = []
        for t, *rows in zip(*states, strict=True):
            nanoseconds = round(float(t) * 1e9)
            when = {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
            q, v, a = (row.tolist() for row in rows)
            points.append(
                {"positions": q, "velocities": v, "accelerations": a, "effort": [],
                 "time_from_start": when}
            )  # fmt: skip
        header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
        return {"header": header, "joint_names": list(self.joint_names), "points": points}

    def plot(self, joints: str | Sequence[str] | None = None, *, figure: Any = None) -> Any:
        """A matplotlib figure of positions, velocities, accelerations and jerks over time.

        Raises: MissingExtraError without matplotlib; InputError for joints that are not there.
        """
        from linkwork.simulation.pictures import (  # noqa: PLC0415  an extra
            draw_lines,
            legend_beside,
            new_figure,
        )

        names = self.joint_names or tuple(f"position {k}" for k in range(self.n))
        wanted: Any = joints if joints is None or np.ndim(joints) else (joints,)
        chosen = list(range(self.n)) if wanted is None else [_index(each, names) for each in wanted]
        figure = new_figure((8.0, 8.0)) if figure is None else figure
        axes = figure.subplots(4, 1, sharex=True)
        t = np.unique(np.concatenate([np.linspace(0.0, self.duration, 1000), self.times]))
        labels = ("position", "velocity", "acceleration", "jerk")
        for order, (axis, label) in enumerate(zip(axes, labels, strict=True)):
            values = self._at(t, order)
            lines = values[:, chosen], [names[k] for k in chosen], range(len(chosen))
            draw_lines(axis, t, *lines)
            axis.set_ylabel(label)
            axis.grid(visible=True, alpha=0.3)
        axes[-1].set_xlabel("time (s)")
        if len(chosen) <= 14:
            legend_beside(axes[0])
        return figure

    def _repr_html_(self) -> str:
        from linkwork.view.reprs import trajectory_html  # noqa: PLC0415  for notebooks

        return trajectory_html(self)

    def __repr__(self) -> str:
        pieces = len(self.times) - 1
        return f"Trajectory({self.n} positions, {self.duration:.6g} s, {pieces} polynomials)"


def load(path: str | os.PathLike[str]) -> Trajectory:
    """The trajectory of a .npz file that `Trajectory.save` wrote.

    Raises: InputError for a file that is none.
    """
    found = npz.read(path, "holds no trajectory")
    if missing := [name for name in ("times", "coefficients", "joint_names") if name not in found]:
        raise InputError(f"{os.fspath(path)} holds no trajectory: there is no '{missing[0]}' in it")
    names = found["joint_names"].reshape(-1).astype(np.str_).tolist()
    return from_polynomials(found["times"], found["coefficients"], names)


def from_polynomials(
    times: ArrayLike, coefficients: ArrayLike, joint_names: Sequence[str] = ()
) -> Trajectory:
    """The trajectory of polynomials: times (m + 1,) from 0, coefficients (m, order, n).

    As `Trajectory` has them.

    Raises: ShapeError; InputError for times that do not grow, and for what is not finite.
    """
    t, c = np.array(real_array(times, "times")), np.array(real_array(coefficients, "coefficients"))
    return joined(t, c, joint_names)


def joined(t: Floats, c: Floats, joint_names: Sequence[str]) -> Trajectory:
    """The trajectory of polynomials in arrays that nobody else has.

    Raises: as `from_polynomials`.
    """
    if t.ndim != 1 or c.ndim != 3 or len(t) != len(c) + 1 or not c.size:
        raise ShapeError(
            f"times (m + 1,) and coefficients (m, order, n) do not fit: {t.shape} and {c.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(c).all()):
        raise InputError("times and coefficients must be finite numbers")
    if t[0] != 0.0 or (np.diff(t) < 0.0).any():
        raise InputError("times begin at 0 and grow")
    names = names_of(joint_names, c.shape[2])
    for array in (t, c):
        array.setflags(write=False)
    return Trajectory(times=t, coefficients=c, joint_names=names)


def names_of(joint_names: Sequence[str], n: int) -> tuple[str, ...]:
    """Names of n positions, all of them or none; one text is one name.

    Raises: ShapeError for another number of them; InputError for what are no different texts.
    """
    try:
        names = (joint_names,) if isinstance(joint_names, str) else tuple(joint_names)
    except TypeError:
        raise InputError(f"joint_names must be names, not {joint_names!r:.40}") from None
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"joint_names must be names, not {names!r:.40}")
    if names and len(names) != n:
        raise ShapeError(
            f"{len(names)} names for {n} positions: each number of q has one; those of a joint "
            "with several are told as base/x, base/y, base/theta"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"joint_names has '{twice}' more than once")
    return names


def mechanism_of(robot: Any) -> Mechanism:
    """The mechanism of a robot.

    Raises: InputError for what is none.
    """
    found = getattr(robot, "mechanism", None)
    if not isinstance(found, Mechanism):
        raise InputError(f"robot must be a Robot, as linkwork.load gives, not {robot!r:.40}")
    return found


def then_still(made: Trajectory, seconds: float) -> Trajectory:
    """A trajectory, and then ``seconds`` at its end."""
    if seconds <= 0.0:
        return made
    rest = np.zeros((1, made.coefficients.shape[1], made.n))
    rest[0, 0] = made.end
    both = np.concatenate([made.coefficients, rest])
    times = np.append(made.times, made.duration + seconds)
    if made.duration == 0.0:
        return replace(made, times=np.array([0.0, seconds]), coefficients=rest)
    return replace(made, times=times, coefficients=both)


# ---- polynomials: coefficients (m, order, n), the constant first


def derivative(c: Floats, order: int) -> Floats:
    """Coefficients of the derivative of an order, at least one of them."""
    for _ in range(order):
        if c.shape[1] == 1:
            return np.zeros_like(c)
        c = c[:, 1:] * np.arange(1.0, c.shape[1])[:, None]
    return c


def shifted(c: Floats, by: Floats) -> Floats:
    """Coefficients in powers of x - by, (m,) one for each: p(x + by) in powers of x."""
    made = c.copy()
    size = c.shape[1]
    for k in range(size - 1):  # Horner's scheme, once for each power
        for i in reversed(range(k, size - 1)):
            made[:, i] += by[:, None] * made[:, i + 1]
    return made


def padded(c: Floats, size: int) -> Floats:
    """Coefficients with zeros up to an order."""
    if c.shape[1] == size:
        return c
    return np.concatenate([c, np.zeros((len(c), size - c.shape[1], c.shape[2]))], axis=1)


def _turning_points(rows: Floats, length: Floats) -> Floats:
    """The roots (r, ...) in [0, length] of derivatives of polynomials (r, order); 0 for none."""
    slopes = rows[:, 1:] * np.arange(1.0, rows.shape[1])
    degree = slopes.shape[1] - 1
    found = np.zeros((len(rows), max(degree, 1)))
    # in units of the interval, so that small leading coefficients can be told from none
    scaled = slopes * length[:, None] ** np.arange(degree + 1)
    size = np.abs(scaled).max(axis=1, initial=0.0)
    matters = np.abs(scaled) > 1e-13 * size[:, None]
    for d in range(1, degree + 1):
        here = matters[:, d] & ~matters[:, d + 1 :].any(axis=1) & (size > 0.0)
        if here.any():
            c = scaled[here, : d + 1]
            companion = np.zeros((len(c), d, d))
            companion[:, np.arange(1, d), np.arange(d - 1)] = 1.0
            companion[:, :, d - 1] = -c[:, :d] / c[:, d, None]
            roots = np.linalg.eigvals(companion)
            real = np.where(
                np.abs(roots.imag) <= 1e-6 * (1.0 + np.abs(roots.real)), roots.real, 0.0
            )
            found[here, :d] = np.clip(real, 0.0, 1.0) * length[here, None]
    return found


def tops(values: Floats, parts: int) -> Floats:
    """The highest (m, n) of even samples (m parts, n) and of parabolas through each three.

    Cubics through four, where there are so many, give samples in the middle first.
    """
    y = values.reshape(-1, parts, values.shape[-1])
    for _ in range(2 if parts > 3 else 0):
        finer = np.empty((len(y), 2 * y.shape[1] - 1, y.shape[2]))
        finer[:, ::2] = y
        middle = finer[:, 1::2]
        middle[:, 1:-1] = 0.5625 * (y[:, 1:-2] + y[:, 2:-1]) - 0.0625 * (y[:, :-3] + y[:, 3:])
        for here, four in ((0, y[:, :4]), (-1, y[:, :-5:-1])):
            middle[:, here] = np.einsum("k,mkn->mn", [0.3125, 0.9375, -0.3125, 0.0625], four)
        y = finer
    before, here, after = y[:, :-2], y[:, 1:-1], y[:, 2:]
    bend = (here - before) + (here - after)
    slope = after - before
    between = (np.abs(slope) <= 2.0 * bend) & (bend > 0.0)
    top = here + slope**2 / (8.0 * np.where(between, bend, 1.0))
    return np.maximum(y.max(axis=1), np.where(between, top, -np.inf).max(axis=1))


def limit_rows(given: ArrayLike, n: int, name: str) -> Floats:
    """Limits (n,) above zero, of one number or (n,); infinity is none.

    Raises: InputError, ShapeError.
    """
    limits = real_array(given, name)
    if limits.shape not in ((), (n,)):
        raise ShapeError(f"{name} must be one number or shape ({n},), not {limits.shape}")
    if not (limits > 0.0).all():
        raise InputError(
            f"{name} must be above zero, not {limits.min() if limits.size else limits}"
        )
    return limits if limits.ndim else np.broadcast_to(limits, (n,))


def _index(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise InputError(f"there is no joint '{name}'; there are {', '.join(names)}")
    return list(names).index(name)
