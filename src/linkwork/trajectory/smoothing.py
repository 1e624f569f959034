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
    """Laws s(t) as cubics, one law after another.

    How long each lasts (m,), its coefficients (m, 4), and the number of its law (m,).
    """

    h: Floats
    c: Floats
    law: Whole

    @property
    def ends(self) -> Floats:
        """s at the end of each (m,)."""
        return _value(self.c, self.h)


def averaged(law: Law, windows: Floats) -> Cubics:
    """The averages of a law over windows of time (s)."""
    last = law.t[-1] + windows
    both = [np.broadcast_to(law.t, (len(windows), len(law.t))), law.t + windows[:, None]]
    knots = np.sort(np.concatenate(both, axis=1), axis=1)
    kept = np.diff(knots, append=np.inf) > 1e-12 * last[:, None]
    counts = kept.sum(axis=1)
    knots, number, ends = knots[kept], np.repeat(np.arange(len(windows)), counts), counts.cumsum()
    knots[ends - counts], knots[ends - 1] = 0.0, last
    h = np.diff(law.t)
    integral = np.concatenate(
        [[0.0], np.cumsum(h * (law.s[:-1] + h * (law.v[:-1] / 2.0 + h * law.a / 6.0)))]
    )
    inside = np.delete(np.arange(len(knots)), ends - 1)
    begin, number = knots[inside], number[inside]
    length, window = knots[inside + 1] - begin, windows[number]
    middle = begin + 0.5 * length
    now = _taylor(law, integral, begin, middle)
    then = _taylor(law, integral, begin - window, middle - window)
    c = (now - then) / window[:, None] / np.array([1.0, 1.0, 2.0, 6.0])
    return Cubics(length, c, number)


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


def split_at(laws: Cubics, places: Floats) -> Cubics:
    """The same laws with cubics that begin where they pass places between their ends, too."""
    s = laws.ends
    firsts = np.flatnonzero(np.diff(laws.law, prepend=-1))
    inside, k = [], []
    for first, end in zip(firsts, np.append(firsts[1:], len(s)), strict=True):
        own = places[(places > laws.c[first, 0]) & (places < s[end - 1])]
        inside.append(own)
        at = np.searchsorted(np.append(laws.c[first:end, 0], s[end - 1]), own, side="right") - 1
        k.append(first + np.clip(at, 0, end - first - 1))
    x, row = _passed(laws, np.concatenate(k), np.concatenate(inside))
    row, x = np.append(np.arange(len(s)), row), np.append(np.zeros(len(s)), x)
    order = np.lexsort((x, row))
    row, x = row[order], x[order]
    c = laws.c[row]
    until = np.where(np.append(row[1:], -1) == row, np.append(x[1:], 0.0), laws.h[row])
    moved = np.stack(
        [
            _value(c, x),
            c[:, 1] + x * (2.0 * c[:, 2] + 3.0 * x * c[:, 3]),
            c[:, 2] + 3.0 * x * c[:, 3],
            c[:, 3],
        ],
        axis=1,
    )
    return Cubics(until - x, moved, laws.law[row])


def _passed(laws: Cubics, k: Whole, places: Floats) -> tuple[Floats, Whole]:
    """Times inside of cubics k at which they pass places, and the cubics; ends are left out."""
    if not len(k):
        return places, k
    c, h = laws.c[k], laws.h[k]
    low, high = np.zeros(len(k)), h
    for _ in range(60):
        half = 0.5 * (low + high)
        below = _value(c, half) < places
        low, high = np.where(below, half, low), np.where(below, high, half)
    new = (low > 1e-9 * h) & (low < (1.0 - 1e-9) * h)
    return low[new], k[new]


def _value(c: Floats, x: Floats) -> Floats:
    return c[:, 0] + x * (c[:, 1] + x * (c[:, 2] + x * c[:, 3]))


def derivatives(laws: Cubics, parts: int) -> tuple[Floats, Floats, Floats, Floats]:
    """s, s', s'', s''' (m parts,) at even instants of each cubic, both its ends among them."""
    x = laws.h[:, None] * np.linspace(0.0, 1.0, parts)
    c0, c1, c2, c3 = (laws.c[:, k, None] for k in range(4))
    return (
        (c0 + x * (c1 + x * (c2 + x * c3))).ravel(),
        (c1 + x * (2.0 * c2 + 3.0 * x * c3)).ravel(),
        (2.0 * c2 + 6.0 * x * c3).ravel(),
        np.broadcast_to(6.0 * c3, x.shape).ravel(),
    )


def composed(laws: Cubics, pieces: Floats, piece: Whole, begin: Floats) -> Floats:
    """Coefficients (m, 10, n) of q(s(t)): pieces (., 4, n) of a path, the one of each cubic (m,).

    ``begin`` (m,): where these pieces begin on the path.
    """
    own = pieces[piece]
    x = (laws.c[:, 0] - begin)[:, None]
    q1 = own[:, 1] + x * (2.0 * own[:, 2] + 3.0 * x * own[:, 3])
    q2 = own[:, 2] + 3.0 * x * own[:, 3]
    q0 = own[:, 0] + x * (own[:, 1] + x * (own[:, 2] + x * own[:, 3]))
    one = laws.c.copy()
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
