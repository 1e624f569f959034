"""Bounded jerk for a motion along a path: its law of time averaged over a moving window.

Of a law s(t) whose accelerations step, the average over the last T seconds,

    r(t) = (S(t) - S(t - T)) / T,   S the integral of s,

has continuous accelerations, jerks s''' = (s''(t) - s''(t - T)) / T, and lasts T longer. Of a
trapezoid of velocities it is the double S. It passes each place of the path a little later or
sooner than s does, where limits are others: what is exceeded then, all of the motion is slowed by.

Source: moving averages as trajectory filters: L. Biagiotti, C. Melchiorri, FIR filters for online
trajectory planning with time- and frequency-domain specifications, Control Engineering Practice 20
(2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.trajectory.piecewise import Floats

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Law:
    """s(t) from rest to rest: instants, s, ds/dt (m + 1,), and d²s/dt² (m,) between them."""

    t: Floats
    s: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True)
class Cubics:
    """s(t) as cubics: instants (m + 1,) and coefficients (m, 4) of t minus the instant before."""

    t: Floats
    c: Floats


def averaged(law: Law, window: float) -> Cubics:
    """The average of a law over a window of time (s)."""
    knots = np.unique(np.concatenate([law.t, law.t + window]))
    last = law.t[-1] + window
    knots = knots[np.concatenate([np.diff(knots) > 1e-12 * last, [True]])]
    knots[0], knots[-1] = 0.0, last
    h = np.diff(law.t)
    integral = np.concatenate(
        [[0.0], np.cumsum(h * (law.s[:-1] + h * (law.v[:-1] / 2.0 + h * law.a / 6.0)))]
    )
    middle = 0.5 * (knots[:-1] + knots[1:])
    now = _taylor(law, integral, knots[:-1], middle)
    then = _taylor(law, integral, knots[:-1] - window, middle - window)
    return Cubics(knots, (now - then) / window / np.array([1.0, 1.0, 2.0, 6.0]))


def _taylor(law: Law, integral: Floats, t: Floats, side: Floats) -> Floats:
    """S, s, s', s'' (m, 4) at instants, on the side of each on which ``side`` is."""
    k = np.clip(np.searchsorted(law.t, side, side="right") - 1, 0, len(law.a) - 1)
    x = t - law.t[k]
    s, v, a = law.s[k], law.v[k], law.a[k]
    found = np.stack(
        [
            integral[k] + x * (s + x * (v / 2.0 + x * a / 6.0)),
            s + x * (v + x * a / 2.0),
            v + x * a,
            a,
        ],
        axis=1,
    )
    before, after = side < law.t[0], side > law.t[-1]
    found[before] = 0.0
    found[before, 0], found[before, 1] = law.s[0] * (t[before] - law.t[0]), law.s[0]
    found[after] = 0.0
    found[after, 0] = integral[-1] + law.s[-1] * (t[after] - law.t[-1])
    found[after, 1] = law.s[-1]
    return found


def split_at(law: Cubics, places: Floats) -> Cubics:
    """The same law with instants where it passes places between its ends, too."""
    ends = np.append(law.c[:, 0], _value(law.c[-1:], law.t[-1:] - law.t[-2:-1]))
    inside = places[(places > ends[0]) & (places < ends[-1])]
    k = np.clip(np.searchsorted(ends, inside, side="right") - 1, 0, len(law.c) - 1)
    low, high = np.zeros(len(inside)), law.t[k + 1] - law.t[k]
    for _ in range(60):
        half = 0.5 * (low + high)
        below = _value(law.c[k], half) < inside
        low, high = np.where(below, half, low), np.where(below, high, half)
    shortest = 1e-9 * (law.t[k + 1] - law.t[k])
    new = (low > shortest) & (low < law.t[k + 1] - law.t[k] - shortest)
    begin = np.concatenate([law.t[:-1], law.t[k[new]] + low[new]])
    row, x = np.concatenate([np.arange(len(law.c)), k[new]]), np.zeros(len(begin))
    x[len(law.c) :] = low[new]
    order = np.argsort(begin, kind="stable")
    c, x = law.c[row[order]], x[order]
    moved = np.stack(
        [
            _value(c, x),
            c[:, 1] + x * (2.0 * c[:, 2] + 3.0 * x * c[:, 3]),
            c[:, 2] + 3.0 * x * c[:, 3],
            c[:, 3],
        ],
        axis=1,
    )
    return Cubics(np.append(begin[order], law.t[-1]), moved)


def _value(c: Floats, x: Floats) -> Floats:
    return c[:, 0] + x * (c[:, 1] + x * (c[:, 2] + x * c[:, 3]))


def derivatives(law: Cubics, parts: int) -> tuple[Floats, Floats, Floats, Floats]:
    """s, s', s'', s''' (m parts,) at even instants of each cubic, both its ends among them."""
    x = np.diff(law.t)[:, None] * np.linspace(0.0, 1.0, parts)
    c0, c1, c2, c3 = (law.c[:, k, None] for k in range(4))
    return (
        (c0 + x * (c1 + x * (c2 + x * c3))).ravel(),
        (c1 + x * (2.0 * c2 + 3.0 * x * c3)).ravel(),
        (2.0 * c2 + 6.0 * x * c3).ravel(),
        np.broadcast_to(6.0 * c3, x.shape).ravel(),
    )


def composed(law: Cubics, pieces: Floats, piece: Whole, begin: Floats) -> Floats:
    """Coefficients (m, 10, n) of q(s(t)): pieces (., 4, n) of a path, the one of each cubic (m,).

    ``begin`` (m,): where these pieces begin on the path.
    """
    own = pieces[piece]
    x = (law.c[:, 0] - begin)[:, None]
    q1 = own[:, 1] + x * (2.0 * own[:, 2] + 3.0 * x * own[:, 3])
    q2 = own[:, 2] + 3.0 * x * own[:, 3]
    q0 = own[:, 0] + x * (own[:, 1] + x * (own[:, 2] + x * own[:, 3]))
    one = law.c.copy()
    one[:, 0] = 0.0
    two = _product(one, one)
    three = _product(two, one)
    out = np.zeros((len(own), 10, own.shape[2]))
    out[:, 0] = q0
    for factor, power in ((q1, one), (q2, two), (own[:, 3], three)):
        out[:, : power.shape[1]] += power[:, :, None] * factor[:, None]
    return out


def _product(a: Floats, b: Floats) -> Floats:
    """Products of polynomials, row by row."""
    out = np.zeros((len(a), a.shape[1] + b.shape[1] - 1))
    for k in range(b.shape[1]):
        out[:, k : k + a.shape[1]] += a * b[:, k, None]
    return out
