"""Keeping loops closed: what a step has opened is closed again, positions first, then velocities.

The correction is the smallest one that the masses allow: dq = -M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ c, with J the
independent rows (`algorithms/independent_rows.py`). Of the velocities it takes away what opens the
loops and nothing else, so a correction of a velocity by e changes the kinetic energy by the square
of e, and that of an integration's error by almost nothing.

Source: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., IV.4 (projection
methods).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwork.algorithms.closed_dynamics import held
from linkwork.algorithms.closed_dynamics import moved as answered
from linkwork.algorithms.closure import ClosurePart, closure_parts, openings
from linkwork.algorithms.independent_rows import independent, stiffness
from linkwork.algorithms.inverse_dynamics import as_vector
from linkwork.algorithms.joint_passage import passages
from linkwork.algorithms.mass_matrix import mass_entries
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation.tangent import moved

CLOSED = 1.0e-12
"""How far a loop may stay open after a step, in `closure.opening_units`."""

STEADY = 1.0e-10
"""How fast (m/s, rad/s), beside one and the speeds, a loop may open after a step."""

MOST = 10
"""Corrections of a step, at most; one is the rule."""


def projected(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """(nq + nv + 1,): q and v after one correction, and how much of what is allowed is left.

    The last number is at most 1 where the loops are closed within `CLOSED` and do not open faster
    than `STEADY` times one and the largest speed.
    """
    parts = closure_parts(m)
    seen = _seen(o, m, parts, q)
    weighed = _Weighed(o, m, q, seen.rows)
    q = moved(o, m, q, weighed.correction(seen.error))
    seen = _seen(o, m, parts, q)
    for _ in range(2):  # the second takes what the first has by rows of the old q, and by mu
        v = v + weighed.correction(_opening(seen.rows, v, sign=-1.0))
    left = _largest(o, openings(o, m, q)) * (1.0 / CLOSED)
    opening = _largest(o, _opening(seen.rows, v, sign=1.0))
    fastest = _largest(o, [v[k] for k in range(m.n_v)])
    return o.concat([q, v, o.vector([o.maximum(left, opening / (STEADY * (1.0 + fastest)))])])


def gaps(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """What people are told: each group's `Residual.squared`, then how fast each loop opens."""
    squared: list[Block] = []
    opening: list[Block] = []
    for part in closure_parts(m):
        squared += part.residual(o, q).squared
        opening.append(_largest(o, _opening(_seen(o, m, [part], q).rows, v, sign=1.0)))
    return o.vector([*squared, *opening])


class _Seen(NamedTuple):
    """A closure at a configuration."""

    error: list[Block]  # minus the closure
    rows: list[dict[int, Block]]  # of its Jacobian, by the number of v


def _seen(o: Ops, m: Mechanism, parts: Sequence[ClosurePart], q: Block) -> _Seen:
    error: list[Block] = []
    rows: list[dict[int, Block]] = []
    for part in parts:
        found = part.residual(o, q)
        moving = [
            k for c in part.coordinates for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))
        ]
        for i in range(part.n_rows):
            error.append(found.error[i])
            rows.append({k: found.columns[k][i] for k in moving})
    return _Seen(error, rows)


def _opening(rows: Sequence[dict[int, Block]], v: Block, sign: float) -> list[Block]:
    """How fast each row changes at these velocities, times ``sign``."""
    return [sign * sum(value * v[k] for k, value in row.items()) for row in rows]


def _largest(o: Ops, values: Sequence[Block]) -> Block:
    most: Block = o.const(0.0)
    for value in values:
        most = o.maximum(most, o.absolute(value))
    return most


class _Weighed:
    """The masses and the rows at one configuration, factored."""

    def __init__(self, o: Ops, m: Mechanism, q: Block, rows: list[dict[int, Block]]) -> None:
        self._o = o
        masses = mass_entries(m, passages(o, m, q))
        self._by = held(o, masses, m.n_v, independent(o, m, rows), stiffness(m))

    def correction(self, error: list[Block]) -> Block:
        """(nv,): M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ times the error."""
        opening = [-x for x in error]
        return as_vector(self._o, answered(self._by, {}, opening).dv)
