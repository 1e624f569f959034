"""Profiles from rest to rest, in closed form: how far along s a motion is at each instant.

A profile is for a way of length 1 and limits of s; every joint's motion follows from it. Each is a
row of durations and of polynomials in the time since its beginning, the constant first.

Source: L. Biagiotti, C. Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008),
chapters 2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from linkwork.errors import InputError
from linkwork.trajectory.piecewise import Floats


class Limits(NamedTuple):
    """Bounds of the derivatives of s, each above zero; infinity where there is none."""

    velocity: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf


class Profile(NamedTuple):
    """Durations (m,) and coefficients (m, order) of the polynomials of s from 0 to 1."""

    durations: Floats
    coefficients: Floats

    @property
    def duration(self) -> float:
        """The whole time, s."""
        return float(self.durations.sum())


def stretched(profile: Profile, duration: float) -> Profile:
    """The same profile in another time."""
    factor = duration / profile.duration
    powers = factor ** -np.arange(profile.coefficients.shape[1], dtype=float)
    return Profile(profile.durations * factor, profile.coefficients * powers)


def _of_jerks(durations: list[float], jerks: list[float]) -> Profile:
    """The profile from rest with these jerks one after another."""
    rows: list[list[float]] = []
    s = v = a = 0.0
    kept: list[float] = []
    for t, j in zip(durations, jerks, strict=True):
        if t <= 0.0:
            continue
        rows.append([s, v, a / 2.0, j / 6.0])
        kept.append(t)
        s += t * (v + t * (a / 2.0 + t * j / 6.0))
        v += t * (a + t * j / 2.0)
        a += t * j
    return Profile(np.array(kept), np.array(rows) / s)


def _of_accelerations(durations: list[float], accelerations: list[float]) -> Profile:
    """The profile from rest with these accelerations one after another."""
    rows: list[list[float]] = []
    s = v = 0.0
    kept: list[float] = []
    for t, a in zip(durations, accelerations, strict=True):
        if t <= 0.0:
            continue
        rows.append([s, v, a / 2.0])
        kept.append(t)
        s += t * (v + t * a / 2.0)
        v += t * a
    return Profile(np.array(kept), np.array(rows) / s)


def constant_acceleration(limits: Limits) -> Profile:
    """Half of the way speeding up, half slowing down: T = max(2 sqrt(1/a), 2/v)."""
    T = max(2.0 * math.sqrt(1.0 / limits.acceleration), 2.0 / limits.velocity)
    return _of_accelerations([T / 2.0, T / 2.0], [4.0 / T**2, -4.0 / T**2])


def trapezoid(limits: Limits) -> Profile:
    """Greatest acceleration up to the greatest velocity, that, and greatest deceleration.

    Ta = v/a and T = Ta + 1/v where the velocity is reached, at 1 >= v²/a; else the triangle. It is
    the quickest motion under these two limits.
    """
    v, a = limits.velocity, limits.acceleration
    if v * v >= a:  # the triangle; an infinite v too
        return constant_acceleration(Limits(acceleration=a))
    Ta = v / a
    return _of_accelerations([Ta, 1.0 / v - Ta, Ta], [a, 0.0, -a])


def double_s(limits: Limits) -> Profile:
    """The quickest motion under limits of velocity, acceleration and jerk: seven phases.

    Jerk j for Tj, none up to Ta - Tj, -j up to Ta; constant velocity for Tv; then the mirror.
    """
    v, a, j = limits
    if math.isinf(j):
        return trapezoid(limits)
    # speeding up to v: the greatest acceleration is reached where v j >= a²
    Tj = math.sqrt(v / j) if v * j < a * a else a / j
    Ta = Tj + v / (j * Tj)
    Tv = 1.0 / v - Ta
    if not Tv >= 0.0:  # the velocity is not reached
        Tv = 0.0
        if 1.0 >= 2.0 * a**3 / j**2:
            Tj = a / j
            Ta = Tj / 2.0 + math.sqrt(Tj * Tj / 4.0 + 1.0 / a)
        else:
            Tj = (1.0 / (2.0 * j)) ** (1.0 / 3.0)
            Ta = 2.0 * Tj
    flat = Ta - 2.0 * Tj
    times = [Tj, flat, Tj, Tv, Tj, flat, Tj]
    return _of_jerks(times, [j, 0.0, -j, 0.0, -j, 0.0, j])


def _polynomial(
    coefficients: list[float], peaks: tuple[float, float, float]
) -> Callable[[Limits], Profile]:
    """The profile of one polynomial of t/T, whose derivatives have these peaks at T = 1."""

    def profile(limits: Limits) -> Profile:
        bounds = zip(peaks, limits, strict=True)
        T = max((peak / bound) ** (1.0 / k) for k, (peak, bound) in enumerate(bounds, 1))
        one = Profile(np.array([1.0]), np.array([coefficients]))
        return stretched(one, T)

    return profile


# 3 x² - 2 x³, whose jerk is infinite where it begins and ends; 10 x³ - 15 x⁴ + 6 x⁵
cubic = _polynomial([0.0, 0.0, 3.0, -2.0], (1.5, 6.0, 12.0))
quintic = _polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0], (1.875, 10.0 / math.sqrt(3.0), 60.0))

PROFILES: Mapping[str, Callable[[Limits], Profile]] = {
    "constant_acceleration": constant_acceleration,
    "trapezoid": trapezoid,
    "double_s": double_s,
    "cubic": cubic,
    "quintic": quintic,
}
"""Profiles by name."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "constant_acceleration": ("acceleration", "velocity"),
    "trapezoid": ("acceleration",),
    "double_s": ("jerk", "acceleration"),
    "cubic": ("velocity", "acceleration"),
    "quintic": ("velocity", "acceleration", "jerk"),
}
"""The limits of which a profile needs at least one."""

STEPPING = ("constant_acceleration", "trapezoid", "cubic")
"""The profiles whose accelerations step, so that no limit of jerk can be kept."""

# shapes without limits: a third of the time each, and sevenths
_SHAPES: Mapping[str, Profile] = {
    "trapezoid": _of_accelerations([1.0, 1.0, 1.0], [1.0, 0.0, -1.0]),
    "double_s": _of_jerks([1.0] * 7, [1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]),
}


def shape(name: str, limits: Limits) -> Profile:
    """The profile of a name under limits; without any, in one second.

    Raises: InputError where the limits do not determine it.
    """
    if not isinstance(name, str) or name not in PROFILES:
        raise InputError(f"profile is one of {', '.join(PROFILES)}, not {name!r:.40}")
    if name in STEPPING and math.isfinite(limits.jerk):
        raise InputError(
            f"the accelerations of the profile {name} step: no jerk is bounded; leave out jerk, or "
            "take double_s or quintic"
        )
    if limits == Limits():
        plain = _SHAPES.get(name)
        one = plain if plain is not None else PROFILES[name](Limits(velocity=1.0))
        return stretched(one, 1.0)
    if not any(math.isfinite(getattr(limits, each)) for each in NEEDED[name]):
        needed = " or ".join(NEEDED[name])
        raise InputError(f"the profile {name} needs a limit of {needed}, or a duration")
    return PROFILES[name](limits)
