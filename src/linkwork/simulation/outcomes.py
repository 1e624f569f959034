"""How each roll-out went, in words, from what a run left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.position_limits import angle_beyond
from linkwork.simulation.closing import Words
from linkwork.simulation.drive import joint_of_q, joint_of_v
from linkwork.simulation.library import Library
from linkwork.simulation.singular_passages import loop_of, passages
from linkwork.simulation.system import System

Floats = NDArray[np.float64]

LIMIT_TOLERANCE = 1.0e-9
"""So far (m, rad) beyond a limit is at it."""

ENERGY_SHARE = 0.01
"""Of the largest kinetic energy: a drift of the energy beyond it is told."""

_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Sentences about the ends of roll-outs, made when they are asked for.

    Shapes: failed_at (rows,) s, NaN where none did; remains (rows, nq + nv), the state that a
    failing step led to. ``causes`` are ends that are known already, by row; ``unclosed`` the rows
    that ended with a loop open; ``bound`` the speed above which a roll-out is stopped; ``method``
    that of integration.
    """

    system: System
    failed_at: Floats
    remains: Floats
    causes: Mapping[int, str]
    unclosed: frozenset[int]
    bound: float
    method: str
    library: Library

    @property
    def too_long(self) -> str:
        """What to do about steps that are too long for a motion."""
        how = {
            "dopri5": "a smaller tolerance, or max_step",
            "implicit": "a smaller dt",
            "rk4": "a smaller dt, or method='implicit' for stiff forces",
            "euler": "a smaller dt, method='rk4', or method='implicit' for stiff forces",
        }
        return f"the steps are too long for this motion (take {how[self.method]})"

    def __call__(self, row: int) -> str:
        """How it went for one roll-out, counted flat."""
        if np.isnan(self.failed_at[row]):
            return self.causes.get(row, "finished")
        when = f"at t = {self.failed_at[row]:.6g} s"
        if row in self.causes:
            return f"{when} {self.causes[row]}"
        remains = self.remains[row]
        n_q = self.system.mechanism.n_q
        q, v = remains[:n_q], remains[n_q:]
        if row in self.unclosed and np.isfinite(remains).all():
            gap = self.library.kernel(self.system.gaps_recipe())(q, v)
            return f"{when} {Words(self.system.mechanism).left_open(gap, self.too_long)}"
        return f"{when} {self._diverged(q, v)}"

    def beyond_limits(self, times: Floats, q: Floats) -> str:
        """Which joints of one roll-out pass their limits, when and by how much; "" where none does.

        Shapes: times (n,), q (n, nq); states that are not there are NaN.
        """
        m = self.system.mechanism
        beyond = limit_excess(m, q[None])[0]
        found: list[str] = []
        for k in np.flatnonzero(beyond > 0.0).tolist():
            c = _coordinate(m.q_start, k)
            if np.isfinite(m.angle_limit[c]):
                first = times[int(np.argmax(angle_beyond(m, q, c) > LIMIT_TOLERANCE))]
                found.append(
                    f"joint '{m.joint_names[c]}' turns beyond the limit of its angle of "
                    f"{m.angle_limit[c]:.6g} rad at t = {first:.6g} s, by up to {beyond[k]:.3g} rad"
                )
                continue
            limits = (("upper", m.upper[k], q[:, k]), ("lower", -m.lower[k], -q[:, k]))
            side, limit, positions = max(limits, key=lambda x: np.nanmax(x[2]) - x[1])
            first = times[int(np.argmax(positions > limit + LIMIT_TOLERANCE))]
            unit = "m" if m.joint_types[c] is JointType.PRISMATIC else "rad"
            found.append(
                f"joint '{joint_of_q(m, k)}' passes its {side} limit of "
                f"{limit if side == 'upper' else -limit:.6g} {unit} at t = {first:.6g} s, by up to "
                f"{beyond[k]:.3g} {unit}"
            )
        if len(found) > _MOST_NAMED:
            found[_MOST_NAMED:] = [f"and {len(found) - _MOST_NAMED} more"]
        if found and not self.system.stopped:
            found[-1] += " (stops=True lets limits push back)"
        return "; ".join(found)

    def singular(self, times: Floats, q: Floats, v: Floats) -> list[tuple[int, int, str]]:
        """Row, kept state and loop of each passage of a singular configuration.

        Shapes: times (n,), q (rows, n, nq), v (rows, n, nv); states that are not there are NaN.
        """
        if not self.system.closed:
            return []
        m = self.system.mechanism
        return [
            (row, state, loop_of(m, self.library, q[row, state], q[row, away]))
            for row, state, away in passages(m, self.library, times, q, v)
        ]

    def _diverged(self, q: Floats, v: Floats) -> str:
        m = self.system.mechanism
        for values, joint in ((v, joint_of_v), (q, joint_of_q)):
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                name = joint(m, int(bad[0]))
                at_loops = ", or the loops have come to a change point" if m.is_closed else ""
                return (
                    f"joint '{name}' is no finite number any more: {self.too_long}, or nothing "
                    f"bounds it{at_loops}"
                )
        worst = int(np.argmax(np.abs(v)))
        speed = f"{abs(v[worst]):.3g} {_unit_of_speed(m, worst)}"
        return (
            f"joint '{joint_of_v(m, worst)}' moves at {speed}, above max_speed = {self.bound:.3g}: "
            f"{self.too_long}, or nothing bounds it"
        )


def limit_excess(m: Mechanism, q: Floats) -> Floats:
    """How far positions (..., n, nq) pass the joints' limits at most (..., nq), m and rad.

    Zero inside the limits, and where it is rounding; NaN does not count. How far a spherical joint
    turns beyond its angle stands at the first of its numbers.
    """
    above = np.fmax.reduce(q, axis=-2) - m.upper
    below = m.lower - np.fmin.reduce(q, axis=-2)
    most = np.fmax(above, below)
    for c in np.flatnonzero(np.isfinite(m.angle_limit)).tolist():
        most[..., int(m.q_start[c])] = np.fmax.reduce(angle_beyond(m, q, c), axis=-1)
    return np.where(most > LIMIT_TOLERANCE, most, 0.0)


def _coordinate(starts: NDArray[np.int64], k: int) -> int:
    return int(np.searchsorted(starts, k, side="right")) - 1


def _unit_of_speed(m: Mechanism, k: int) -> str:
    c = _coordinate(m.v_start, k)
    type, within = m.joint_types[c], k - int(m.v_start[c])
    return "rad/s" if within >= type.n_lengths else "m/s"
