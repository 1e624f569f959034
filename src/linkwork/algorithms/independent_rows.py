"""Independent rows of a closure, as many as it has: rank, decided once for a mechanism.

Rows of a loop often follow from one another, by structure (planar loops) or by lengths and angles
alone (a Bennett linkage). How many are independent at generic assembled configurations is found
once, in numbers (`row_groups`); a state that an integration or rounding has opened a little does
not change it. At each state an orthogonal basis Q of the range of the rows is found, of so many
vectors, each from the column that has most left beside those before it. The rows Qᵀ J say all that
J says, and forces f = Q g are the smallest of those that do the same.

Where less than `CHANGE` of a vector is left, the rows have lost rank: a change point, at which ways
of assembly meet and accelerations are not determined. All is NaN there.

Sources: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), section 5.4 (rank by
pivoting columns); P. Businger and G. H. Golub, "Linear least squares solutions by Householder
transformations", Numerische Mathematik 7 (1965).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.closure import (
    Row,
    closure_parts,
    loop_length,
    n_rows,
    opening_units,
    part_rows,
    row_scales,
)
from linkwork.algorithms.configuration import integrate, random
from linkwork.algorithms.orthogonal_factors import (
    Orthogonal,
    Sparse,
    across,
    dot,
    plus_scaled,
    squared,
)
from linkwork.algorithms.vector3 import Scalar, added, negated, times
from linkwork.mechanism import dynamics_checks
from linkwork.mechanism.dynamics_checks import Motions, generic_mass_matrix
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Condition, Ops

RANK = 1.0e-8
"""Singular values below this share of the largest count as none at generic configurations."""
CHANGE = 1.0e-5
"""The share of the rows' size below which what is left is none: ten times the root of what
assembled loops are open by, to which positions are known at a singular configuration."""
_VOID = 1.0e-12
"""A row or column that is smaller wherever one looks is zero by structure."""
_CLOSED = 1.0e-12
_SAMPLES, _MOST_STARTS, _AT_ONCE, _MOST_STEPS = 3, 24, 4, 60
_FALLEN, _STALLED = 0.98, 10
"""A search is given up that is open by more than this share of before for so many steps."""
_LONGEST = 0.5
_INVOLVED = 1.0e-3
_TIED = 1.0e-6
"""The share of a dependency that rounding alone does not have."""
_SINGULAR, _LIGHT = 1.0e-10, 1.0e-6
"""Eigenvalues of M, and of J M⁻¹ Jᵀ, with ones on the diagonal: below these M is too small."""
_SHORT = 100
"""Numbers of v up to which a mass matrix always tells whether forces determine all motions."""


class RowGroup(NamedTuple):
    """Rows of a closure, the numbers of v that they depend on, and their rank."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    rank: int


class Scales(NamedTuple):
    """Factors that make rows and columns of a closure's Jacobian comparable."""

    rows: Sequence[float]
    columns: Sequence[float]


class IndependentRows(NamedTuple):
    """Rows (rank, nv) that say what all rows of a closure say."""

    rows: list[Row]
    bases: list[list[Sparse]]
    """An orthonormal basis for each group of rows, by the numbers of the closure's n_c rows."""
    scales: list[float]
    """The factor of each of these rows that makes it comparable with others."""
    n_c: int
    valid: Scalar
    """1, or NaN at a change point."""

    def of(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Values (rank,) of these rows from values (n_c,) of the closure's rows."""
        given = dict(enumerate(values))
        return [dot(q, given) for basis in self.bases for q in basis]

    def forces(self, g: Sequence[Scalar]) -> list[Scalar]:
        """The multipliers (n_c,) of the closure's rows, by those of these rows: the least."""
        found: Sparse = {}
        vectors = (q for basis in self.bases for q in basis)
        for force, q in zip(g, vectors, strict=True):
            found = plus_scaled(found, q, force)
        return [found.get(i, 0.0) for i in range(self.n_c)]

    def projection(self, scales: Sequence[float]) -> list[list[Scalar]]:
        """The projection (n_c, n_c) on the range of the closure's rows times their scales."""
        found: list[list[Scalar]] = [[0.0] * self.n_c for _ in range(self.n_c)]
        for q in (q for basis in self.bases for q in basis):
            alone = len(q) == 1
            own = {i: 1.0 if alone else x * (1.0 / scales[i]) for i, x in q.items()}
            for i, x in own.items():
                for j, y in own.items():
                    found[i][j] = added(found[i][j], times(x, y))
        return found


def independent_rows(
    o: Ops, rows: Sequence[Row], scales: Scales, groups: Sequence[RowGroup]
) -> IndependentRows:
    """The independent ones of some rows in these groups."""
    found = IndependentRows([], [], [], len(rows), 1.0)
    for group in groups:
        own = {i: {k: rows[i][k] for k in group.columns if k in rows[i]} for i in group.rows}
        if group.rank == len(group.rows):
            found.rows.extend(own.values())
            found.bases.append([{i: 1.0} for i in group.rows])
            found.scales.extend(scales.rows[i] for i in group.rows)
            continue
        columns = [
            {
                i: times(scales.rows[i] * scales.columns[k], row[k])
                for i, row in own.items()
                if k in row
            }
            for k in group.columns
        ]
        largest, share = _largest_columns(o, columns, group.rank)
        kept = o.less(o.const(CHANGE * CHANGE), share)
        found = found._replace(
            valid=times(found.valid, o.select(kept, o.const(1.0), o.const(math.nan)))
        )
        basis = [{i: times(scales.rows[i], x) for i, x in q.items()} for q in largest]
        found.bases.append(basis)
        found.scales.extend([1.0] * len(basis))
        for q in basis:
            combined: Row = {}
            for i, x in q.items():
                combined = plus_scaled(combined, own[i], x)
            found.rows.append(combined)
    return found


def _largest_columns(o: Ops, columns: Sequence[Sparse], rank: int) -> tuple[list[Sparse], Scalar]:
    """An orthonormal basis (rank) of the columns, from those that have most left one by one.

    And what is left of the last, as a share of the first, both squared.
    """
    basis, left, lengths = Orthogonal([], []), list(columns), list[Scalar]()
    for _ in range(rank):
        best, length, others = left[0], squared(left[0]), list[Sparse]()
        for column in left[1:]:
            own = squared(column)
            longer = o.less(length, own)
            length = o.select(longer, own, length)
            shorter, best = _chosen(o, longer, best, column), _chosen(o, longer, column, best)
            others.append(shorter)
        best = across(basis, best)  # once more: for the rounding of what was taken before
        lengths.append(squared(best))
        inverse = 1.0 / o.sqrt(lengths[-1])
        q = {i: x * inverse for i, x in best.items()}
        basis.vectors.append(q)
        basis.inverses.append(1.0)
        left = [plus_scaled(column, q, negated(dot(q, column))) for column in others]
    return basis.vectors, lengths[-1] / lengths[0]


def _chosen(o: Ops, condition: Condition, a: Sparse, b: Sparse) -> Sparse:
    """``a`` where a condition holds, else ``b``."""
    zero = o.const(0.0)
    return {i: o.select(condition, a.get(i, zero), b.get(i, zero)) for i in {**b, **a}}


def independent(
    o: Ops, m: Mechanism, rows: Sequence[Row], *, in_frame_a: bool = False
) -> IndependentRows:
    """The independent ones of a mechanism's rows, as `closure_rows` gives them at a state."""
    scales = Scales(row_scales(m), column_scales(m).tolist())
    return independent_rows(o, rows, scales, row_groups(m, in_frame_a=in_frame_a))


def row_groups(m: Mechanism, *, in_frame_a: bool = False) -> tuple[RowGroup, ...]:
    """The rows of a closure in groups, each with its rank at generic assembled configurations.

    The rows of each loop or coupling are one group, with those of others where they depend on each
    other beyond that. Rows that are zero everywhere are in none. Where parameters of the mechanism
    are inputs, the values of the description count. ``in_frame_a`` as in `closure_rows`.
    """
    return _groups(_plain(m), in_frame_a)


def _plain(m: Mechanism) -> Mechanism:
    """The mechanism with its own numbers, where parameters stand for some."""
    if type(m) is Mechanism:
        return m
    return Mechanism(**{field.name: getattr(m, field.name) for field in fields(Mechanism)})


class _Island(NamedTuple):
    """Loops and couplings that move one another: no coordinate of theirs moves others."""

    parts: tuple[int, ...]
    """Their places among the parts of the closure."""
    rows: tuple[tuple[int, ...], ...]
    """The rows of each, by their numbers among all."""
    coordinates: tuple[int, ...]

    @property
    def every_row(self) -> list[int]:
        """The numbers of all its rows."""
        return [i for rows in self.rows for i in rows]


def _islands(m: Mechanism) -> list[_Island]:
    """The loops and couplings of a mechanism, apart where they have no coordinate in common."""
    parts = closure_parts(m)
    moved = [set(part.coordinates) for part in parts]
    ends = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
    rows = [tuple(range(a, b)) for a, b in pairwise(ends)]
    shared = np.array([[bool(a & b) for b in moved] for a in moved]).reshape(len(parts), -1)
    return [
        _Island(
            tuple(own),
            tuple(rows[k] for k in own),
            tuple(sorted(set[int]().union(*(moved[k] for k in own)))),
        )
        for own in _together(shared)
    ]


@lru_cache(maxsize=128)
def _groups(m: Mechanism, in_frame_a: bool) -> tuple[RowGroup, ...]:
    units = _units(m).both
    anywhere = [_dense_rows(m, q, in_frame_a=in_frame_a) for q in _starts(m, 3)]
    size = np.max([np.abs(J * units) for J in anywhere], axis=0)
    void = size.max(axis=1, initial=0.0) <= _VOID
    groups: list[RowGroup] = []
    for island in _islands(m):
        live = [[i for i in rows if not void[i]] for rows in island.rows]
        for rows, rank in _ranks(m, island, [rows for rows in live if rows], in_frame_a):
            columns = np.flatnonzero((size[rows] > _VOID).any(axis=0))
            groups.append(RowGroup(tuple(rows), tuple(columns.tolist()), rank))
    return tuple(sorted(groups))


def _ranks(
    m: Mechanism, island: _Island, parts: list[list[int]], in_frame_a: bool
) -> list[tuple[list[int], int]]:
    """The groups of rows that an island has, and their ranks; those of rank 0 are left out."""
    every = [i for rows in parts for i in rows]
    samples: list[Floats] = []
    for q in _generic(m, island) or list(_starts(m, 3)):
        samples.append(in_lengths(m, _dense_rows(m, q, island, in_frame_a=in_frame_a)))
        if rank_of(samples[-1][every]) == len(every):
            return [(rows, len(rows)) for rows in parts]
    wholes = [rank_of(J[every]) for J in samples]
    generic = [J for J, rank in zip(samples, wholes, strict=True) if rank == max(wholes)]
    tied = np.any([_tied([J[rows] for rows in parts]) for J in generic], axis=0)
    groups = [sorted(i for k in own for i in parts[k]) for own in _together(tied)]
    ranks = [max(rank_of(J[rows]) for J in samples) for rows in groups]
    if max(wholes) < sum(ranks):
        groups, ranks = [every], [max(wholes)]
    return [(rows, rank) for rows, rank in zip(groups, ranks, strict=True) if rank]


def _tied(parts: Sequence[Floats]) -> NDArray[np.bool_]:
    """Flags of each two matrices (n, nv) that depend on each other by their rows.

    Bases of their rows, one below the other, are multiplied from the left by a basis of what gives
    zero. The projection on that basis is apart for those that do not depend on each other.
    """
    bases = [np.linalg.svd(J)[2][: rank_of(J)] for J in parts]
    U, values, _ = np.linalg.svd(np.concatenate(bases))
    zero = U[:, int(np.count_nonzero(values > least_value(values))) :]
    ends = np.cumsum([0, *map(len, bases)])
    pieces = [zero[a:b] for a, b in pairwise(ends.tolist())]
    share = [[np.abs(a @ b.T).max(initial=0.0) for b in pieces] for a in pieces]
    return np.array(share) > _TIED


def _together(tied: NDArray[np.bool_]) -> list[list[int]]:
    """The numbers that are tied to each other, directly or by others."""
    found: list[set[int]] = []
    for k in range(len(tied)):
        own = {k, *np.flatnonzero(tied[k]).tolist()}
        for other in [each for each in found if each & own]:
            found.remove(other)
            own |= other
        found.append(own)
    return sorted(map(sorted, found))


def _generic(m: Mechanism, island: _Island) -> list[Floats]:
    """Configurations (nq,) at which an island is assembled, near neutral if they can be."""
    closed = (q for k in range(0, _MOST_STARTS, _AT_ONCE) for q in _closed(m, island, k))
    return list(islice(closed, _SAMPLES))


def left_motions(m: Mechanism) -> Motions | None:
    """Motions that loops and couplings leave where they are assembled; None if they cannot be."""
    m = _plain(m)
    q, groups = neutral(m), row_groups(m)
    for island in _islands(m):
        own = set(island.every_row)
        rank = sum(group.rank for group in groups if own.issuperset(group.rows))
        regular = (at for at in _generic(m, island) if _is_regular(m, at, island, rank))
        at = next(regular, None)
        if at is None:
            return None
        for c in island.coordinates:
            q[m.q_slice(c)] = at[m.q_slice(c)]
    units = _units(m).columns
    V = np.linalg.svd(_compared(m, q))[2]
    return Motions(q, V[rank_of_rows(m) :].T * units[:, None], units)


def _is_regular(m: Mechanism, q: Floats, island: _Island, rank: int) -> bool:
    """Whether the rows of an island have their rank at q (nq,)."""
    values = np.linalg.svd(_compared(m, q, island), compute_uv=False)
    return rank == 0 or values[rank - 1] > CHANGE * values[0]


def check_movable(m: Mechanism, given: Sequence[str] = (), armature: Floats | None = None) -> None:
    """Check that forces determine the acceleration of every motion that loops leave.

    Raises: as `dynamics_checks.check_movable`.
    """
    if m.n_v <= _SHORT or m.is_closed or not _is_solid(m):
        motions = left_motions(m) if m.is_closed else None
        dynamics_checks.check_movable(m, given, armature, motions)


def _is_solid(m: Mechanism) -> bool:
    """Whether every coordinate moves a body, and all that move resist all motions.

    Then forces determine all accelerations: of the joints in motion one is nearest to the base;
    what carries its body stands still, so the body moves, and has kinetic energy.
    """
    moving = np.array([type is not JointType.FIXED for type in m.body_joint_types])
    own = m.coordinate[np.abs(m.multiplier) > _LIGHT]
    principal = np.linalg.eigvalsh(m.I_com[moving])
    return bool(
        np.isin(np.arange(len(m.joint_names)), own).all()
        and (m.mass[moving] > 0.0).all()
        and (principal[:, 0] > _LIGHT * principal[:, 2]).all()
    )


def stiffness(m: Mechanism) -> float:
    """The factor k of M + k Jᵀ J, the mass matrix with the rows' squares (kg m²); mostly 0.

    Accelerations are those without it, as J dv is given. It makes the matrix positive where only
    the loops do, and solves well where some bodies weigh next to nothing beside others.
    """
    return _stiffness(_plain(m))


@lru_cache(maxsize=128)
def _stiffness(m: Mechanism) -> float:
    motions, rank = left_motions(m), rank_of_rows(m)
    if motions is None or not rank:
        return 0.0
    units = _units(m).columns
    inertia = generic_mass_matrix(m, q=motions.q)[0] + np.diag(m.armature)
    M = inertia * np.outer(units, units)
    own = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    if own.min(initial=np.inf) > 0.0:
        values = np.linalg.eigvalsh(M / np.outer(own, own))
        if values[0] > _SINGULAR:
            half = np.linalg.solve(np.linalg.cholesky(M), _compared(m, motions.q).T)
            sizes = np.linalg.norm(half, axis=0)
            values = np.linalg.svd(half[:, sizes > 0.0] / sizes[sizes > 0.0], compute_uv=False)
            if values[rank - 1] ** 2 > _LIGHT:
                return 0.0
    return float(own.max()) ** 2


def change_points(m: Mechanism, q: Floats, within: float = CHANGE) -> list[str]:
    """The loops and couplings whose rows lose rank at q (nq,), which is assembled.

    Ways of assembly meet there. ``within``: the share of the rows' size that counts for nothing.
    """
    J = _compared(m, q)
    if not np.isfinite(J).all():
        return []  # a coupling without a value there, which is another reason
    names = np.repeat([p.name for p in closure_parts(m)], [p.n_rows for p in closure_parts(m)])
    groups = row_groups(m)
    found: list[str] = []
    for group in groups:
        if _rank_there(J[list(group.rows)], within) < group.rank:
            found += names[list(group.rows)].tolist()
    if not found and _rank_there(J, within) < rank_of_rows(m):
        weights = np.abs(np.linalg.svd(J)[0][:, rank_of_rows(m) - 1])
        found = names[weights > _INVOLVED].tolist()
    return list(dict.fromkeys(found))


def change_point(m: Mechanism, q: Floats) -> str:
    """A sentence on q (nq,) where it is a change point; "" where it is none."""
    names = change_points(m, q)
    if not names:
        return ""
    return (
        f"q is a change point of {', '.join(map(repr, names))}, where the loops lose rank and ways "
        "of assembly meet: how the mechanism goes on is not determined there"
    )


def rank_of_rows(m: Mechanism) -> int:
    """The number of independent rows of a closure."""
    return sum(group.rank for group in row_groups(m))


def _compared(m: Mechanism, q: Floats, island: _Island | None = None) -> Floats:
    """The rows of a closure (n_c, nv) in their units."""
    return _dense_rows(m, q, island) * _units(m).both


class _Units(NamedTuple):
    """Factors of the rows (n_c,) and columns (nv,) of a closure, which make them comparable."""

    rows: Floats
    columns: Floats
    openings: list[float]
    """See `opening_units`."""

    @property
    def both(self) -> Floats:
        """The factors of the entries of the Jacobian (n_c, nv)."""
        return np.outer(self.rows, self.columns)


@lru_cache(maxsize=128)
def _units(m: Mechanism) -> _Units:
    return _Units(np.array(row_scales(m)), column_scales(m), opening_units(m))


def _dense_rows(
    m: Mechanism, q: Floats, island: _Island | None = None, *, in_frame_a: bool = False
) -> Floats:
    """The rows of a closure (n_c, nv) in numbers; not finite where a coupling has no value.

    ``island``: all others are zero.
    """
    J, start = np.zeros((n_rows(m), m.n_v)), 0
    for k, part in enumerate(closure_parts(m, in_frame_a=in_frame_a, closed=not in_frame_a)):
        if island is None or k in island.parts:
            with np.errstate(all="ignore"):
                rows = part_rows(NUMPY, m, part, q)
            for i, row in enumerate(rows):
                J[start + i, list(row)] = list(row.values())
        start += part.n_rows
    return J


def _rank_there(J: Floats, within: float) -> int:
    sizes = np.linalg.norm(J, axis=1, keepdims=True)
    values = np.linalg.svd(J / np.maximum(sizes, 1.0), compute_uv=False)
    return int(np.count_nonzero(values > within * values.max(initial=0.0)))


def _starts(m: Mechanism, n: int) -> Iterator[Floats]:
    """Configurations (nq,): neutral, near it, and anywhere."""
    draw, at = np.random.default_rng(0), neutral(m)
    yield at
    for k in range(1, n):
        if k < n // 2:
            yield _moved(m, at, 0.3 * draw.normal(size=m.n_v))
        else:
            yield random(m, draw, 1)[0]


@lru_cache(maxsize=512)
def _closed(m: Mechanism, island: _Island, first: int) -> list[Floats]:
    """An island assembled from some of the starts by Gauss-Newton steps: (nq,) where it can be."""
    own = _opening(m, island)
    found: dict[int, Floats] = {}
    q = np.array(list(islice(_starts(m, _MOST_STARTS), first, first + _AT_ONCE)))
    left = np.arange(len(q))
    least, stalled = np.full(len(q), np.inf), np.zeros(len(q), np.int64)
    with np.errstate(all="ignore"):
        for _ in range(_MOST_STEPS):
            open_, error, J = own.at(q[left])
            closed = open_ <= _CLOSED
            found.update((k, q[k]) for k in left[closed].tolist())
            stalled[left] = np.where(open_ < _FALLEN * least[left], 0, stalled[left] + 1)
            least[left] = np.minimum(least[left], open_)
            going = ~closed & (stalled[left] < _STALLED)
            going &= np.isfinite(J).all(axis=(1, 2)) & np.isfinite(error).all(axis=1)
            left = left[going]
            if not len(left):
                break
            step = (np.linalg.pinv(J[going], rcond=RANK) @ error[going][..., None])[..., 0]
            step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / _LONGEST)
            q[left] = own.moved(q[left], step)
    return [found[k] for k in sorted(found)]


class _Opening:
    """The closure of an island, its error and its Jacobian, of several configurations at once.

    Traced once, as this runs some hundred times.
    """

    def __init__(self, m: Mechanism, island: _Island) -> None:
        o, units = GraphOps(), _units(m)
        q, dv = o.input(0, m.n_q), [o.const(0.0)] * m.n_v
        columns = m.v_indices(island.coordinates)
        for place, k in enumerate(columns):
            dv[k] = o.input(1, len(columns))[place] * float(units.columns[k])
        opening = iter(units.openings)
        every = [
            (part, [next(opening) for _ in part.groups])
            for part in closure_parts(m, in_frame_a=True)
        ]
        parts = [every[k] for k in island.parts]
        residuals = [part.residual(o, q) for part, _ in parts]
        both = units.both[np.ix_(island.every_row, columns)]
        found = [
            o.vector([x for each in residuals for x in each.squared]),
            o.concat([each.error for each in residuals]),
            *[o.concat([each.columns[k] for each in residuals]) for k in columns],
            integrate(o, m, q, o.vector(dv)),
        ]
        self._graph = o.graph
        self._outputs = [each.numbers for each in found]
        self._orders = [o.graph.needed(part) for part in (self._outputs[:-1], self._outputs[-1:])]
        self._units = np.array([unit for _, own in parts for unit in own])
        self._scales, self._both = units.rows[island.every_row], both

    def at(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """The largest opening (n,), in units of each; error (n, rows) and J (n, rows, columns)."""
        squared, error, *columns = self._found(0, self._outputs[:-1], [q.T])
        J = np.empty((len(q), *self._both.shape))
        for k, column in enumerate(columns):
            J[:, :, k] = column
        open_ = np.sqrt(squared) / self._units
        return open_.max(axis=1, initial=0.0), error * self._scales, J * self._both

    def moved(self, q: Floats, step: Floats) -> Floats:
        """Configurations (n, nq) after steps (n, columns) in units of each column."""
        return self._found(1, self._outputs[-1:], [q.T, step.T])[0]

    def _found(self, which: int, outputs: list[list[int]], inputs: list[Floats]) -> list[Floats]:
        wanted = [k for numbers in outputs for k in numbers]
        values = np.empty((len(wanted), inputs[0].shape[1]))
        for at, value in enumerate(self._graph.evaluated(self._orders[which], wanted, inputs)):
            values[at] = value
        ends = np.cumsum([len(numbers) for numbers in outputs])[:-1]
        return [part.T for part in np.split(values, ends)]


@lru_cache(maxsize=128)
def _opening(m: Mechanism, island: _Island) -> _Opening:
    return _Opening(m, island)


def _moved(m: Mechanism, q: Floats, step: Floats) -> Floats:
    return np.asarray(integrate(NUMPY, m, q, step * _units(m).columns), np.float64)


def in_lengths(m: Mechanism, J: Floats) -> Floats:
    """A closure's Jacobian (..., n_c, nv) as ranks are told by: alike at any size.

    Rows of position in lengths of their loop, columns of length 1 where they are more than zero.
    """
    units = _units(_plain(m))
    scaled = J * units.rows[:, None]
    lengths = np.linalg.norm(scaled, axis=-2, keepdims=True)
    none = lengths * units.columns <= _VOID
    return scaled / np.where(none, 1.0, lengths)


def column_scales(m: Mechanism) -> Floats:
    """The unit that each number of v is compared in (nv,): 1 rad, or the longest loop's length."""
    length = max((loop_length(m, loop) for loop in m.loops), default=1.0)
    return np.array([length if kind == "length" else 1.0 for kind in m.kinds_of_v])


def rank_of(J: Floats) -> int:
    """The rank of a matrix by its singular values."""
    values = np.linalg.svd(J, compute_uv=False)
    return int(np.count_nonzero(values > least_value(values)))


def least_value(values: NDArray[np.floating[Any]]) -> float:
    """The least singular value that counts."""
    return RANK * max(1.0, float(values.max(initial=0.0)))
