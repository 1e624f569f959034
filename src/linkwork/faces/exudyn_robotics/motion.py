"""Time laws by the names of ``exudyn.robotics.motion``: profiles in a row, over `lw.trajectory`.

Source: L. Biagiotti, C. Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008),
chapters 3 and 5 (trapezoids, their synchronisation).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number, finite_rows
from linkwork.errors import InputError, ShapeError
from linkwork.trajectory import from_polynomials
from linkwork.trajectory.profiles import Limits, trapezoid

Floats = NDArray[np.float64]

__all__ = [
    "BasicProfile",
    "BasicProfileLinearAcceleration",
    "ProfileConstantAcceleration",
    "ProfileLinearAccelerationsList",
    "ProfilePTP",
    "Trajectory",
]


class _Motion:
    """A motion of coordinates (n,) between two times (s), at rest before and after it."""

    def __init__(self, initialTime: float, coordinateSets: Sequence[ArrayLike]) -> None:
        self.initialTime = initialTime
        self.finalTime = initialTime
        self.coordinateSets = [np.array(each, np.float64) for each in coordinateSets]
        self._move(np.zeros(1), np.zeros((0, 1)), np.zeros((0, 1)))

    def _move(self, times: Floats, first: Floats, last: Floats) -> None:
        """Keep the motion whose accelerations go straight from ``first`` to ``last`` (m, n).

        Coordinates, velocities and accelerations are polynomials beside each other: (m, 4, 3 n).
        """
        s, none = self.coordinateSets[0], np.zeros_like(self.coordinateSets[0])
        v, rows = none, list[Any]()
        for h, a, b in zip(np.diff(times), first, last, strict=True):
            slope = (b - a) / h
            after = [[a / 2.0, slope / 2.0, none], [slope / 6.0, none, none]]
            rows.append([[s, v, a], [v, a, slope], *after])
            s = s + h * (v + h * (a / 2.0 + h * slope / 6.0))
            v = v + h * (a + b) / 2.0
        rows = rows or [[[s, none, none]]]
        c = np.array(rows).reshape(len(rows), -1, 3 * len(s))
        self._states = from_polynomials(times if len(times) > 1 else [0.0, 0.0], c)

    def GetInitialCoordinates(self) -> Floats:
        """The coordinates (n,) at the beginning."""
        return self.coordinateSets[0]

    def GetFinalCoordinates(self) -> Floats:
        """The coordinates (n,) at the end."""
        return self.coordinateSets[-1]

    def Evaluate(self, time: float) -> list[Floats]:
        """Coordinates, velocities and accelerations [(n,), (n,), (n,)] at a time (s).

        Where accelerations step, those after it; at the end, those before it.
        """
        if not self.initialTime <= time <= self.finalTime:
            rest = self.coordinateSets[0 if time < self.initialTime else -1]
            return [rest.copy(), np.zeros_like(rest), np.zeros_like(rest)]
        return list(self._states(time - self.initialTime).reshape(3, -1))

    def EvaluateCoordinate(self, time: float, coordinate: int) -> list[float]:
        """One coordinate, its velocity and its acceleration at a time (s)."""
        return [each[coordinate] for each in self.Evaluate(time)]

    def __repr__(self) -> str:
        return str({name: value for name, value in vars(self).items() if name[0] != "_"})


class BasicProfile(_Motion):
    """Each coordinate speeds up, goes evenly, and slows down, from the first set to the last.

    ``accelerationTimes`` (n,) are how long they speed up, with ``maxAccelerations`` (n,).
    """

    def __init__(
        self,
        coordinateSets: Sequence[ArrayLike],
        initialTime: float,
        finalTime: float,
        accelerationTimes: ArrayLike,
        maxVelocities: ArrayLike,
        maxAccelerations: ArrayLike,
    ) -> None:
        super().__init__(initialTime, coordinateSets)
        self.finalTime = finalTime
        self.accelerationTimes = np.array(accelerationTimes, np.float64)
        self.maxVelocities = np.array(maxVelocities, np.float64)
        self.maxAccelerations = np.array(maxAccelerations, np.float64)
        self.distances = self.coordinateSets[-1] - self.coordinateSets[0]
        duration, up = finalTime - initialTime, self.accelerationTimes
        if duration > 0.0:
            times = np.unique(np.concatenate([[0.0, duration], up, duration - up]))
            middle = 0.5 * (times[:-1] + times[1:])[:, None]
            direction = np.where(middle < up, 1.0, np.where(middle < duration - up, 0.0, -1.0))
            a = direction * np.sign(self.distances) * self.maxAccelerations
            self._move(times, a, a)


class BasicProfileLinearAcceleration(_Motion):
    """Accelerations that go straight from one of a list to the next, from rest.

    ``accelerationList`` has pairs [time (s), accelerations (n,)]; its times begin at 0.
    """

    def __init__(
        self, initialCoordinates: ArrayLike, initialTime: float, accelerationList: Sequence[Any]
    ) -> None:
        super().__init__(initialTime, [initialCoordinates])
        self.accelerationList = accelerationList
        self.Initialize()

    def Initialize(self) -> None:
        """Compute the motion of ``accelerationList``."""
        times = np.array([each[0] for each in self.accelerationList], np.float64)
        a = np.array([each[1] for each in self.accelerationList], np.float64)
        start = self.coordinateSets[0]
        if a.shape != (len(times), len(start)):
            raise ShapeError(f"accelerationList has {a.shape[1:]} accelerations for {len(start)}")
        if (np.diff(times) <= 0.0).any():
            raise InputError(f"the times of accelerationList must grow, not {times.tolist()}")
        self._move(times, a[:-1], a[1:])
        self.finalTime = self.initialTime + float(times[-1])
        states = self._states(times).reshape(len(times), 3, -1)
        self.coordinateSets = list(states[:, 0])
        self.coordinateSets_t = list(states[:, 1])
        self.distances = self.coordinateSets[-1] - start


class ProfileConstantAcceleration:
    """The motion to ``finalCoordinates`` (n,) in ``duration`` seconds: half of it speeding up.

    Raises: InputError (a ValueError) for a duration below zero.
    """

    def __init__(self, finalCoordinates: ArrayLike, duration: float) -> None:
        self.duration = finite_number(duration, "duration", least=0.0)
        self.finalCoordinates = _row(finalCoordinates, "finalCoordinates")

    def GetBasicProfile(
        self,
        initialTime: float,
        initialCoordinates: ArrayLike,
        globalMaxVelocities: ArrayLike,
        globalMaxAccelerations: ArrayLike,
    ) -> BasicProfile:
        """The motion from a time and coordinates (n,). Limits have no effect, with a warning."""
        if np.size(globalMaxVelocities) or np.size(globalMaxAccelerations):
            warnings.warn(
                "the trajectory's maxVelocities and maxAccelerations do not hold for "
                "ProfileConstantAcceleration: its duration is given",
                stacklevel=3,
            )
        start, end = _ends(initialCoordinates, self.finalCoordinates)
        T, way = self.duration, np.abs(end - start)
        rate = 1.0 / T if T else 0.0
        return BasicProfile(
            [start, end], initialTime, initialTime + T, np.full(len(end), T / 2.0),
            2.0 * way * rate, 4.0 * way * rate * rate,
        )  # fmt: skip


class ProfilePTP:
    """The quickest motion to ``finalCoordinates`` (n,) under limits, all coordinates in one time.

    With ``syncAccTimes`` they speed up for the same time, which is a straight line in their space;
    without it each speeds up with its ``maxAccelerations``, to such a velocity that it arrives
    with the slowest. ``maxVelocities`` and ``maxAccelerations`` (n,) hold beside the trajectory's.
    """

    def __init__(
        self,
        finalCoordinates: ArrayLike,
        syncAccTimes: bool = True,
        maxVelocities: ArrayLike = (),
        maxAccelerations: ArrayLike = (),
    ) -> None:
        self.finalCoordinates = _row(finalCoordinates, "finalCoordinates")
        self.maxVelocities = np.array(maxVelocities, np.float64)
        self.maxAccelerations = np.array(maxAccelerations, np.float64)
        self.syncAccTimes = syncAccTimes

    def GetBasicProfile(
        self,
        initialTime: float,
        initialCoordinates: ArrayLike,
        globalMaxVelocities: ArrayLike,
        globalMaxAccelerations: ArrayLike,
    ) -> BasicProfile:
        """The motion from a time and from coordinates (n,), under the lower of both limits.

        Raises: InputError (a ValueError) for limits that neither gives, or are not above zero.
        """
        start, end = _ends(initialCoordinates, self.finalCoordinates)
        n, way = len(end), np.abs(end - start)
        v = _lower(self.maxVelocities, globalMaxVelocities, n, "maxVelocities")
        a = _lower(self.maxAccelerations, globalMaxAccelerations, n, "maxAccelerations")
        moves = way > 0.0
        alone = np.array([*map(_seconds, v[moves] / way[moves], a[moves] / way[moves])]).reshape(
            -1, 2
        )
        up, duration = np.zeros(n), float(alone[:, 1].max(initial=0.0))
        if self.syncAccTimes and moves.any():
            velocity, acceleration = (float((x[moves] / way[moves]).min()) for x in (v, a))
            shared, duration = _seconds(velocity, acceleration)
            up[:] = shared
            # way = a up (T - up), so that the acceleration follows from the times
            a = way / (shared * (duration - shared))
        elif moves.any():
            # way = a up (T - up): the shorter of the two times; that of the slowest is known
            d = way[moves] / a[moves]
            root = np.sqrt(np.maximum(duration * duration - 4.0 * d, 0.0))
            slow = alone[:, 1] == duration
            up[moves] = np.where(slow, alone[:, 0], 2.0 * d / (duration + root))
        return BasicProfile([start, end], initialTime, initialTime + duration, up, a * up, a)


class ProfileLinearAccelerationsList:
    """Accelerations that go straight from one of a list to the next, from rest.

    ``accelerationList`` has pairs [time (s), accelerations (n,)], two or more; the first time is 0.

    Raises: InputError (a ValueError).
    """

    def __init__(self, accelerationList: Sequence[Any]) -> None:
        if len(accelerationList) < 2:
            raise InputError("accelerationList has at least two pairs [time, accelerations]")
        if accelerationList[0][0] != 0:
            raise InputError(f"accelerationList begins at time 0, not {accelerationList[0][0]}")
        self.accelerationList = accelerationList

    def GetBasicProfile(
        self,
        initialTime: float,
        initialCoordinates: ArrayLike,
        globalMaxVelocities: ArrayLike,
        globalMaxAccelerations: ArrayLike,
    ) -> BasicProfileLinearAcceleration:
        """The motion from a time and coordinates (n,); limits have no effect."""
        return BasicProfileLinearAcceleration(
            initialCoordinates, initialTime, self.accelerationList
        )


class Trajectory:
    """Profiles one after another, from ``initialCoordinates`` (n,) at ``initialTime`` (s).

    ``maxVelocities`` and ``maxAccelerations`` (n,) hold for every `ProfilePTP`.
    """

    def __init__(
        self,
        initialCoordinates: ArrayLike,
        initialTime: float = 0,
        maxVelocities: ArrayLike = (),
        maxAccelerations: ArrayLike = (),
    ) -> None:
        self.initialTime = initialTime
        self.initialCoordinates = np.atleast_1d(_row(initialCoordinates, "initialCoordinates"))
        self.globalMaxVelocities = np.array(maxVelocities, np.float64)
        self.globalMaxAccelerations = np.array(maxAccelerations, np.float64)
        self.profiles: list[_Motion] = []

    def GetFinalCoordinates(self) -> Floats:
        """The coordinates (n,) at the end of the last profile."""
        return self.profiles[-1].GetFinalCoordinates() if self.profiles else self.initialCoordinates

    def Add(
        self,
        profile: ProfileConstantAcceleration | ProfilePTP | ProfileLinearAccelerationsList,
    ) -> None:
        """Go on with a profile, from where the last one ends.

        Raises: InputError, ShapeError (ValueErrors) for what does not fit.
        """
        self.profiles.append(
            profile.GetBasicProfile(
                self.GetTimes()[-1],
                self.GetFinalCoordinates(),
                self.globalMaxVelocities,
                self.globalMaxAccelerations,
            )
        )

    def GetTimes(self) -> list[float]:
        """The time (s) of the beginning, and of the end of each profile."""
        return [self.initialTime, *(each.finalTime for each in self.profiles)]

    def Initialize(self) -> None:
        """Nothing: a trajectory is ready at once, and the original has this call."""

    def Evaluate(self, t: float) -> list[Floats]:
        """Coordinates, velocities and accelerations [(n,), (n,), (n,)] at a time (s).

        Before the beginning and after the end all is at rest.

        Raises: InputError for a time that is no finite number.
        """
        t = finite_number(t, "time")
        if t > self.initialTime:
            for each in self.profiles:
                if t <= each.finalTime:
                    return each.Evaluate(t)
        rest = self.GetFinalCoordinates() if t > self.initialTime else self.initialCoordinates
        return [rest.copy(), np.zeros_like(rest), np.zeros_like(rest)]

    def EvaluateCoordinate(self, t: float, coordinate: int) -> list[float]:
        """One coordinate, its velocity and its acceleration at a time (s)."""
        return [each[coordinate] for each in self.Evaluate(t)]

    def __repr__(self) -> str:
        return str(self.profiles)


def _seconds(velocity: float, acceleration: float) -> tuple[float, float]:
    """The seconds that a way of 1 takes: speeding up, and as a whole."""
    found = trapezoid(Limits(float(velocity), float(acceleration)))
    return float(found.durations[0]), found.duration


def _row(given: ArrayLike, what: str) -> Floats:
    values = np.atleast_1d(np.asarray(given, np.float64))
    return finite_rows(values, what, values.shape[-1]).copy()


def _ends(first: ArrayLike, last: Floats) -> tuple[Floats, Floats]:
    start = np.asarray(first, np.float64)
    if start.shape != last.shape:
        raise ShapeError(f"a profile to {last.shape} coordinates follows on {start.shape}")
    return start, last


def _lower(own: Floats, shared: ArrayLike, n: int, what: str) -> Floats:
    """The lower of two limits (n,), of which one may be empty."""
    given = [np.broadcast_to(each, n) for each in (own, np.asarray(shared)) if np.size(each)]
    if not given:
        raise InputError(f"ProfilePTP needs {what}, or its Trajectory does")
    found = np.min(given, axis=0)
    if not (found > 0.0).all():
        raise InputError(f"{what} must be above zero, not {found.tolist()}")
    return found.astype(np.float64)
