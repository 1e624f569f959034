"""Where motions of a mechanism with loops pass singular configurations, told from kept states.

At a singular configuration rows of the closure that hold the mechanism elsewhere follow from the
others: branches of assembly meet there (change points), or the closure holds less. Which way the
motion goes on, the mechanism does not say, and next to it accelerations are without bound.

The volume that the closure's rows span goes to zero there, in proportion to the way that is left.
So it falls to less than a half from one state to the next just where it would be zero before the
state after that, however far apart states are: what then follows is not resolved by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.axes import added, total
from linkwork.algorithms.closure import closure_parts, closure_rows, row_scales
from linkwork.algorithms.tree_factor import Entries, factor
from linkwork.algorithms.triples import times
from linkwork.compile.recipe import Recipe, algorithm_recipe, text_recipe
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

if TYPE_CHECKING:
    from linkwork.simulation.library import Library

Floats = NDArray[np.float64]

SHARE = 1.0e-8
"""Of the mean square of a row: what is added to each, so that redundant rows span something. Rank
is told by it."""

NEAR = 0.1
"""Of the largest volume of a roll-out: below it a configuration may be nearly singular."""

FARTHEST = 0.3
"""Of radians or lengths of the loops: states farther apart than that tell nothing."""


def spanned(o: Ops, m: Mechanism, q: Block) -> Block:
    """(1,): the volume that the rows of the closure's Jacobian span, beside their mean size.

    Redundant rows count as a constant factor. Rows are as `row_scales` has them, slides in the
    length of the longest loop.
    """
    units = _units(m)
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


def _units(m: Mechanism) -> list[float]:
    """What each number of v is multiplied by: a length for what slides."""
    length = 1.0 / min(row_scales(m), default=1.0)
    found: list[float] = []
    for kind in m.joint_types:
        found += [length] * kind.n_lengths + [1.0] * (kind.n_v - kind.n_lengths)
    return found


def spanned_recipe(m: Mechanism) -> Recipe:
    """`spanned` of (q,)."""
    return text_recipe(
        ("simulation", m.digest, "spanned"),
        "spanned",
        {"q": m.n_q},
        lambda o, q: {"spanned": spanned(o, m, q)},
    )


def passages(
    m: Mechanism, library: Library, times_: Floats, q: Floats, v: Floats
) -> list[tuple[int, int, int]]:
    """Each passage of a singular configuration: row, the state nearest to it, the one farthest.

    Shapes: times (n,), q (rows, n, nq), v (rows, n, nv); states that are not there are NaN.
    """
    there: Any = np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    usable = np.where(there[..., None], q, q[:, :1])
    volume = library.kernel(spanned_recipe(m))(usable)[..., 0]
    volume = np.where(there, volume, np.nan)
    if volume.shape[1] < 2:
        return []
    first, second = volume[:, :-1], volume[:, 1:]
    way = (np.abs(v) / np.array(_units(m))).max(axis=-1) * np.gradient(times_)
    with np.errstate(invalid="ignore"):
        least, most = np.minimum(first, second), np.maximum(first, second)
        close = np.maximum(way[:, :-1], way[:, 1:]) <= FARTHEST
        largest: Any = np.fmax.reduce(volume, axis=1)
        near = least < NEAR * largest[:, None]
        fallen = near & close & (least < 0.5 * most)
    found: list[tuple[int, int, int]] = []
    for row in np.flatnonzero(fallen.any(axis=1)).tolist():
        pairs = np.flatnonzero(fallen[row])
        for group in np.split(pairs, np.flatnonzero(np.diff(pairs) > 2) + 1):
            states = np.arange(group[0], group[-1] + 2)
            nearest = int(states[np.argmin(volume[row, states])])
            found.append((row, nearest, int(np.nanargmax(volume[row]))))
    return found


def loop_of(m: Mechanism, library: Library, q: Floats, elsewhere: Floats) -> str:
    """The loop whose rows lose rank at q (nq,), next to another configuration of full rank."""
    scales = np.array(row_scales(m))[:, None] * np.array(_units(m))
    J: Any = library.kernel(algorithm_recipe("closure_jacobian", m))(np.stack([elsewhere, q]))
    sizes = np.linalg.svd(J[0] * scales, compute_uv=False)
    rank = int(np.count_nonzero(sizes > np.sqrt(SHARE) * sizes[0]))
    lost = np.linalg.svd(J[1] * scales)[0][:, max(rank, 1) - 1] ** 2
    parts = closure_parts(m)
    ends = np.cumsum([part.n_rows for part in parts])
    shares = [float(lost[e - p.n_rows : e].sum()) for p, e in zip(parts, ends, strict=True)]
    return parts[int(np.argmax(shares))].name
