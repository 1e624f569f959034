"""Loops kept closed: the projection after each step, what is said of loops that are open, and where
motions pass singular configurations.

What a step has opened is closed again, positions first, then velocities. The correction is the
smallest one that the masses allow: dq = -M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ c, with J the independent rows
(`algorithms/independent_rows.py`). Of the velocities it takes away what opens the loops and nothing
else, so a correction of a velocity by e changes the kinetic energy by the square of e, and that of
an integration's error by almost nothing.

Source: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., IV.4 (projection
methods).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.algorithms.closed_dynamics import held
from linkwork.algorithms.closed_dynamics import moved as answered
from linkwork.algorithms.closure import (
    ClosurePart,
    closure_parts,
    closure_rows,
    openings,
    row_scales,
)
from linkwork.algorithms.independent_rows import independent, stiffness
from linkwork.algorithms.mass_matrix import mass_matrix
from linkwork.algorithms.sweep import Sweep
from linkwork.algorithms.tree_factor import Entries, factor
from linkwork.algorithms.vector3 import added, as_vector, times, total
from linkwork.compile.recipe import algorithm_recipe, expression_recipe
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation.tangent import Flags, finite_rows, moved

if TYPE_CHECKING:
    from linkwork.compile.kernel import Kernel
    from linkwork.simulation.time_loop import Library

CLOSED = 1.0e-12
"""Opening of a loop that a step may leave, in `closure.opening_units`."""

STEADY = 1.0e-10
"""Speed (m/s, rad/s), beside one and the speeds, at which a loop may open after a step."""

MOST = 10
"""Corrections of a step, at most; one is the rule."""


def projected(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """(nq + nv + 1,): q and v after one correction, and how much of what is allowed is left.

    The last number is at most 1 where the loops are closed within `CLOSED` and do not open faster
    than `STEADY` times one and the largest speed.
    """
    parts = closure_parts(m)
    error, rows = _seen(o, m, parts, q)
    masses = mass_matrix.passes(Sweep(o, m, q)).lower()
    by = held(o, masses, m.n_v, independent(o, m, rows), stiffness(m))

    def correction(opening: list[Block]) -> Block:
        return as_vector(o, answered(by, {}, opening).dv)  # -M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ times the opening

    q = moved(o, m, q, correction([-x for x in error]))
    _, rows = _seen(o, m, parts, q)
    for _ in range(2):  # the second takes what the first has by rows of the old q, and by mu
        v = v + correction(_opening(rows, v))
    left = _largest(o, openings(o, m, q)) * (1.0 / CLOSED)
    opening = _largest(o, _opening(rows, v))
    fastest = _largest(o, [v[k] for k in range(m.n_v)])
    return o.concat([q, v, o.vector([o.maximum(left, opening / (STEADY * (1.0 + fastest)))])])


def gaps(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """Gaps of the loops for messages: each group's `Residual.squared`, then how fast loops open."""
    squared: list[Block] = []
    opening: list[Block] = []
    for part in closure_parts(m):
        squared += part.residual(o, q).squared
        opening.append(_largest(o, _opening(_seen(o, m, [part], q)[1], v)))
    return o.vector([*squared, *opening])


def _seen(
    o: Ops, m: Mechanism, parts: Sequence[ClosurePart], q: Block
) -> tuple[list[Block], list[dict[int, Block]]]:
    """Minus the closure, and the rows of its Jacobian, by the number of v."""
    error: list[Block] = []
    rows: list[dict[int, Block]] = []
    for part in parts:
        found = part.residual(o, q)
        moving = m.v_indices(part.coordinates)
        for i in range(part.n_rows):
            error.append(found.error[i])
            rows.append({k: found.columns[k][i] for k in moving})
    return error, rows


def _opening(rows: Sequence[dict[int, Block]], v: Block) -> list[Block]:
    """The rate of each row at these velocities."""
    return [sum((value * v[k] for k, value in row.items()), 0.0) for row in rows]


def _largest(o: Ops, values: Sequence[Block]) -> Block:
    most: Block = o.const(0.0)
    for value in values:
        most = o.maximum(most, o.absolute(value))
    return most


def corrected(
    kernel: Kernel, state: tuple[Floats, Floats], entering: tuple[Floats, Floats], threads: int = 1
) -> tuple[Floats, Floats, Flags]:
    """q and v (rows, ...) with the loops closed, and in which rows they are.

    ``kernel`` is that of `System.projection`, ``entering`` the constants and controls (rows, n).
    Rows are corrected until they are closed, then left alone.
    """
    q, v = state[0].copy(), state[1].copy()
    closed = np.zeros(q.shape[0], np.bool_)
    going = finite_rows(q) & finite_rows(v)
    for _ in range(MOST):
        open_ = np.flatnonzero(going & ~closed)
        if not open_.size:
            break
        given = (a[open_] if a.shape[0] > 1 else a for a in entering)
        found = kernel(q[open_], v[open_], *given, threads=threads, on_bad="nan")
        q[open_], v[open_] = found[:, : q.shape[1]], found[:, q.shape[1] : -1]
        with np.errstate(invalid="ignore"):
            closed[open_] = found[:, -1] <= 1.0
        going = finite_rows(q) & finite_rows(v)
    return q, v, closed


# messages about loops that are open

ASSEMBLED = 1.0e-6
"""Opening (m, rad) of a loop that is allowed where a simulation begins, and speed of opening there
(m/s, rad/s, beside one and the speeds); what is open less is closed first."""

_UNITS = {"m": "m", "rad": "rad", "1": ""}


class OpenLoops:
    """Messages about loops that are open, from the numbers of `gaps`."""

    def __init__(self, m: Mechanism) -> None:
        self._parts = closure_parts(m)
        self._groups = [group for part in self._parts for group in part.groups]

    def worst(self, gap: Floats) -> tuple[float, str]:
        """By how much the group that is open most is open, and that in words."""
        errors = [float(g.error(gap[k])) for k, g in enumerate(self._groups)]
        size, group = max(zip(errors, self._groups, strict=True), key=lambda each: each[0])
        return size, f"'{group.name}' by {size:.3g} {_UNITS[group.unit]}".rstrip()

    def fastest(self, gap: Floats) -> tuple[float, str]:
        """The speed of the loop that opens fastest, and that in words."""
        opening = gap[len(self._groups) :]
        k = int(np.argmax(opening))
        size = float(opening[k])
        return size, f"'{self._parts[k].name}' by {size:.3g} m/s or rad/s"

    def left_open(self, gap: Floats, too_long: str) -> str:
        """The message on a step that left a loop open; ``too_long`` is the advice on steps."""
        size, open_ = self.worst(gap)
        what = f"{open_} is open" if size > CLOSED else f"the loop {self.fastest(gap)[1]} opens"
        return (
            f"the loops cannot be kept closed: {what}; {too_long}, or it has come to a singular "
            "configuration, where other joints must be driven (robot.mobility(q) tells)"
        )

    def check(self, gap: Floats, v: Floats, row: str) -> None:
        """Refuse a first state that is not assembled.

        Raises: InputError.
        """
        (size, open_), (speed, opens) = self.worst(gap), self.fastest(gap)
        if not size <= ASSEMBLED:
            raise InputError(
                f"q0{row} is not assembled: {open_} is open; robot.assemble(...) gives "
                "configurations that are"
            )
        if not speed <= ASSEMBLED * (1.0 + float(np.abs(v).max())):
            raise InputError(
                f"v0{row} opens the loop {opens}; robot.passive_rates(q0) @ speeds gives the "
                "velocities that belong to speeds of the actuated joints"
            )


# singular configurations
#
# There rows of the closure that hold the mechanism elsewhere follow from the others: branches of
# assembly meet (change points), or the closure holds less. Which way the motion goes on, the
# mechanism does not say, and next to it accelerations are without bound.
#
# The volume that the closure's rows span goes to zero there, in proportion to the way that is left.
# So it falls to less than a half from one state to the next just where it would be zero before the
# state after that, however far apart states are: what then follows is not resolved by them.

SHARE = 1.0e-8
"""A share of the mean square of a row, added to each so that redundant rows span something. Rank
is told by it."""

NEAR = 0.1
"""A share of the largest volume of a roll-out: below it a configuration may be nearly singular."""

FARTHEST = 0.3
"""Radians, or lengths of the loops: states farther apart than that tell nothing."""


def spanned(o: Ops, m: Mechanism, q: Block) -> Block:
    """(1,): the volume that the rows of the closure's Jacobian span, beside their mean size.

    Redundant rows count as a constant factor. Rows are as `row_scales` has them, slides in the
    length of the longest loop.
    """
    units = _lengths(m)
    rows = [
        {k: times(scale * units[k], x) for k, x in row.items()}
        for row, scale in zip(closure_rows(o, m, q), row_scales(m), strict=True)
    ]
    entries: Entries = {}
    for i, row in enumerate(rows):
        for j in range(i + 1):
            shared = [times(x, rows[j][k]) for k, x in row.items() if k in rows[j]]
            if shared:
                entries[i, j] = total(shared)
    squares = total([entries.get((i, i), 0.0) for i in range(len(rows))])
    size = added(times(1.0 / len(rows), squares), 1.0e-300)
    small = times(SHARE, size)
    entries.update({(i, i): added(entries.get((i, i), 0.0), small) for i in range(len(rows))})
    volume: Block = o.const(1.0)
    for inverse in factor(entries, len(rows)).inverse:
        volume = volume * o.sqrt(o.maximum(-1.0 / (inverse * size), 0.1 * SHARE))
    return o.vector([volume])


def _lengths(m: Mechanism) -> list[float]:
    """A unit for each number of v: a length for what slides."""
    length = 1.0 / min(row_scales(m), default=1.0)
    return [length if kind == "length" else 1.0 for kind in m.kinds_of_v]


def singular_passages(
    m: Mechanism, library: Library, times_: Floats, q: Floats, v: Floats
) -> list[tuple[int, int, str]]:
    """Each passage of a singular configuration: row, the state nearest to it, the loop's name.

    Shapes: times (n,), q (rows, n, nq), v (rows, n, nv); states that are not there are NaN.
    """
    there: Any = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    usable = np.where(there[..., None], q, q[:, :1])
    recipe = expression_recipe(
        ("simulation", m.digest, "spanned"),
        "spanned",
        {"q": m.n_q},
        lambda o, q: {"spanned": spanned(o, m, q)},
    )
    volume = library.kernel(recipe)(usable)[..., 0]
    volume = np.where(there, volume, np.nan)
    if volume.shape[1] < 2:
        return []
    first, second = volume[:, :-1], volume[:, 1:]
    way = (np.abs(v) / np.array(_lengths(m))).max(axis=-1) * np.gradient(times_)
    with np.errstate(invalid="ignore"):
        least, most = np.minimum(first, second), np.maximum(first, second)
        close = np.maximum(way[:, :-1], way[:, 1:]) <= FARTHEST
        largest: Any = np.fmax.reduce(volume, axis=1)
        near = least < NEAR * largest[:, None]
        fallen = near & close & (least < 0.5 * most)
    found: list[tuple[int, int, str]] = []
    for row in np.flatnonzero(fallen.any(axis=1)).tolist():
        pairs = np.flatnonzero(fallen[row])
        for group in np.split(pairs, np.flatnonzero(np.diff(pairs) > 2) + 1):
            states = np.arange(group[0], group[-1] + 2)
            nearest = int(states[np.argmin(volume[row, states])])
            elsewhere = q[row, int(np.nanargmax(volume[row]))]
            found.append((row, nearest, _loop_of(m, library, q[row, nearest], elsewhere)))
    return found


def _loop_of(m: Mechanism, library: Library, q: Floats, elsewhere: Floats) -> str:
    """The loop whose rows lose rank at q (nq,), next to another configuration of full rank."""
    scales = np.array(row_scales(m))[:, None] * np.array(_lengths(m))
    J: Any = library.kernel(algorithm_recipe("closure_jacobian", m))(np.stack([elsewhere, q]))
    sizes = np.linalg.svd(J[0] * scales, compute_uv=False)
    rank = int(np.count_nonzero(sizes > np.sqrt(SHARE) * sizes[0]))
    lost = np.linalg.svd(J[1] * scales)[0][:, max(rank, 1) - 1] ** 2
    parts = closure_parts(m)
    ends = np.cumsum([part.n_rows for part in parts])
    shares = [float(lost[e - p.n_rows : e].sum()) for p, e in zip(parts, ends, strict=True)]
    return parts[int(np.argmax(shares))].name
