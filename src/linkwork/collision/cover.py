"""Spheres around and inside of bodies: outer ones that cover by construction, in three levels.

A ball whose centre has the depth d in a body reaches out of it by r - d, so a centre may carry the
radius d + overhang. Balls are chosen greedily for sampled points, then fewer are sought: a few
neighbours are taken out and what they held is covered anew. What makes it a cover is the last
step: the body is cut into cells until each lies in one ball, and where a cell lies in none a ball
is added for it. Each ball then shrinks to its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, whole_number
from linkwork.collision.cells import Solid, bisected, depths, edge_lengths, solid_of
from linkwork.collision.pieces import (
    HALF_SPACE,
    POINT,
    SEGMENT,
    Floats,
    Ints,
    Piece,
    enclosing_spheres,
)
from linkwork.errors import InputError

Bools = NDArray[np.bool_]

_SLACK = 0.06
"""The part of the overhang that is kept for what lies between the sampled points."""
_TARGETS = 3_000
_CANDIDATES = 1_500
_TRIES = (2, 1, 1, 1)
"""Times a ball is taken out with its neighbours, in each pass of a search."""
_INNER = 4
_MOST_ACROSS = 64.0
"""Sizes of a body in overhangs, beyond which its overhang is raised."""


@dataclass(frozen=True, eq=False, slots=True)
class Cover:
    """Spheres of bodies in three levels, each in its body's frame: x, y, z, radius (m).

    Body k lies in the union of the spheres of its parts; a part's sphere holds its spheres, a
    body's sphere those too. Ranges are rows of first and count. ``part_pieces`` are the numbers of
    the pieces that the spheres of a part cover, piece 0 being the first of the first body: where
    only that part is near, they alone are to be looked at. ``inner`` spheres lie in their body,
    the largest first. ``overhang`` (bodies,) is the farthest that a sphere reaches out of its
    body; where that is more than was asked for, the body is too large for so fine a cover. A body
    with a half-space has a part with an infinite sphere.
    """

    body_spheres: Floats
    body_parts: Ints
    part_spheres: Floats
    part_ranges: Ints
    spheres: Floats
    part_piece_ranges: Ints
    part_pieces: Ints
    inner: Floats
    body_inner: Ints
    overhang: Floats


def cover(
    bodies: Sequence[Sequence[Piece]], *, overhang: float = 0.02, part_size: int = 6
) -> Cover:
    """The cover of bodies, each given by its pieces, that reaches out by ``overhang`` (m) at most.

    A part has at most ``part_size`` spheres.

    Raises: InputError for a body without pieces, and an overhang that is not above 0.
    """
    e = finite_number(overhang, "overhang", above=0.0)
    size = whole_number(part_size, "part_size")
    tables = _Tables()
    first = 0
    for number, pieces in enumerate(bodies):
        if not pieces:
            raise InputError(f"body {number} has no pieces to cover; leave it out")
        tables.add(_body_cover(pieces, e), first, size)
        first += len(pieces)
    return tables.made()


def joined(covers: Sequence[Cover], n_pieces: Sequence[int]) -> Cover:
    """The cover of the bodies of several covers, each of which has so many pieces."""
    lengths = [
        (len(c.part_spheres), len(c.spheres), len(c.part_pieces), len(c.inner)) for c in covers
    ]
    before = np.cumsum([(0, 0, 0, 0), *lengths], axis=0)
    first_piece = np.cumsum([0, *n_pieces])

    def moved(name: str, place: int) -> Ints:
        shifted = [getattr(c, name) + [before[k, place], 0] for k, c in enumerate(covers)]
        return np.concatenate([np.zeros((0, 2), np.int64), *shifted])

    def stacked(name: str, shape: tuple[int, ...]) -> Any:
        return np.concatenate([np.zeros(shape), *(getattr(c, name) for c in covers)])

    pieces = [c.part_pieces + first_piece[k] for k, c in enumerate(covers)]
    return Cover(
        body_spheres=stacked("body_spheres", (0, 4)),
        body_parts=moved("body_parts", 0),
        part_spheres=stacked("part_spheres", (0, 4)),
        part_ranges=moved("part_ranges", 1),
        spheres=stacked("spheres", (0, 4)),
        part_piece_ranges=moved("part_piece_ranges", 2),
        part_pieces=np.concatenate([np.zeros(0, np.int64), *pieces]),
        inner=stacked("inner", (0, 4)),
        body_inner=moved("body_inner", 3),
        overhang=stacked("overhang", (0,)),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _BodyCover:
    """The spheres (n, 4) of a body, what pieces each covers (n, pieces), and inner spheres."""

    spheres: Floats
    pieces: Bools
    inner: Floats
    overhang: float


def _body_cover(pieces: Sequence[Piece], overhang: float) -> _BodyCover:
    rng = np.random.default_rng(0)  # the same cover for the same pieces
    rows: list[Floats] = []
    owners: list[int] = []
    inner: list[Floats] = []
    worst = 0.0
    solids: list[Solid] = []
    numbers: list[int] = []
    for k, piece in enumerate(pieces):
        if piece.kind in (POINT, SEGMENT):
            row, out = _capsule_row(piece, overhang)
            inner.append(_capsule_inner(piece))
        elif piece.kind == HALF_SPACE:
            row, out = np.array([[0.0, 0, 0, np.inf]]), np.inf
        else:
            solids.append(solid_of(piece, overhang / 20))
            numbers.append(k)
            continue
        rows.append(row)
        owners += [k] * len(row)
        worst = max(worst, out)
    fixed = np.concatenate(rows) if rows else np.zeros((0, 4))
    held = np.zeros((len(fixed), len(pieces)), bool)
    held[np.arange(len(fixed)), owners] = True
    if not solids:
        return _BodyCover(fixed, held, _largest(inner), worst)
    search = _Search(solids, overhang, rng)
    balls, used, out = search.cover(fixed[np.isfinite(fixed[:, 3])])
    count = int(np.isfinite(fixed[:, 3]).sum())
    own = np.zeros((len(balls), len(pieces)), bool)
    own[:, numbers] = used
    held[np.isfinite(fixed[:, 3])] |= own[:count]
    inner.append(search.inner(_INNER))
    return _BodyCover(
        np.concatenate([fixed, balls[count:]]),
        np.concatenate([held, own[count:]]),
        _largest(inner),
        max(worst, out),
    )


def _largest(inner: list[Floats]) -> Floats:
    found = np.concatenate([*inner, np.zeros((0, 4))])
    return found[np.argsort(-found[:, 3], kind="stable")]


# --- spheres and capsules -------------------------------------------------------------------------


def _capsule_row(piece: Piece, overhang: float) -> tuple[Floats, float]:
    """The fewest equal balls on the axis that hold a capsule, and by how much they reach out.

    With the overhang e each ball holds 2 s of the tube, s² = e² + 2 R e, and the end balls stand e
    before the ends: n balls hold the length 2 e + 2 s (n - 1).
    """
    R, half = piece.radius, float(piece.sizes[1])
    if half == 0:
        return np.append(piece.T_body_piece[:3, 3], R)[None], 0.0

    def held(n: int, e: float) -> float:
        return 2 * e + 2 * np.sqrt(e * e + 2 * R * e) * (n - 1)

    e = max(overhang, 2 * half / _MOST_ACROSS)
    n = 1
    while held(n, e) < 2 * half:
        n += 1
    low, high = 0.0, e
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if held(n, middle) >= 2 * half else (middle, high)
    e = min(high * (1 + 1e-9), max(high, e))
    z = np.linspace(-half + e, half - e, n) if n > 1 else np.zeros(1)
    centres = z[:, None] * piece.T_body_piece[:3, 2] + piece.T_body_piece[:3, 3]
    return np.column_stack([centres, np.full(n, (R + e) * (1 + 1e-12))]), e


def _capsule_inner(piece: Piece) -> Floats:
    half = float(piece.sizes[1])
    z = np.linspace(-half, half, 3) if half > 0 else np.zeros(1)
    centres = z[:, None] * piece.T_body_piece[:3, 2] + piece.T_body_piece[:3, 3]
    return np.column_stack([centres, np.full(len(z), piece.radius)])


# --- solids ---------------------------------------------------------------------------------------


class _Search:
    """The search for few balls that cover solids."""

    def __init__(self, solids: list[Solid], overhang: float, rng: np.random.Generator) -> None:
        self.solids, self.rng = solids, rng
        self.cells = np.concatenate([solid.cells for solid in solids])
        self.of_cell = np.repeat(np.arange(len(solids)), [len(solid.cells) for solid in solids])
        corners = self.cells.reshape(-1, 3)
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)
        size = float((self.high - self.low).max())
        excess = max(solid.excess for solid in solids)
        self.overhang = max(overhang, size / _MOST_ACROSS, 4 * excess)
        self.least = self.overhang * (1 - _SLACK)
        # balls are more, the larger the body is in overhangs
        self.finer = float(np.clip((size / (25 * self.overhang)) ** 1.5, 1.0, 3.0))
        self.rounding = 1e-12 * float(np.abs(corners).max() + size)

    def cover(self, fixed: Floats) -> tuple[Floats, Bools, float]:
        """Balls that hold all cells, fixed ones first; which solids each holds; the overhang."""
        targets = self.targets()
        if len(fixed):
            targets = targets[~_inside(fixed, targets).any(axis=1)]
        balls = np.concatenate([fixed, self.search(targets, fixed)])
        balls, cells, of_cell, owner = self.completed(balls)
        used = np.zeros((len(balls), len(self.solids)), bool)
        used[owner, of_cell] = True
        reach = np.zeros(len(balls))
        far = np.linalg.norm(cells - balls[owner, None, :3], axis=2).max(axis=1)
        np.maximum.at(reach, owner, far)
        radii = np.minimum(balls[:, 3], reach * (1 + 1e-12) + 1e-15)
        radii[: len(fixed)] = fixed[:, 3]
        kept = used.any(axis=1)
        kept[: len(fixed)] = True
        balls = np.column_stack([balls[:, :3], radii])
        own = balls[len(fixed) :][kept[len(fixed) :]]
        out = own[:, 3] - self.depth(own[:, :3])
        return balls[kept], used[kept], float(out.max(initial=0.0))

    def depth(self, points: Floats) -> Floats:
        """Depths (n,) of points, below 0 outside; rounding does not make a flat piece empty."""
        found = depths(self.solids, points)
        return np.where(np.abs(found) <= self.rounding, 0.0, found)

    def refined(self, part: float) -> Floats:
        """Cells cut until their edges are a part of the balls that may be near."""
        cells, done = self.cells, list[Floats]()
        while len(cells):
            room = np.maximum(depths(self.solids, cells.mean(axis=1)), 0.0)
            long = edge_lengths(cells).max(axis=1) > part * (self.overhang + room)
            done.append(cells[~long])
            cells = bisected(cells[long])
            if sum(map(len, done)) + len(cells) > 8 * _TARGETS * self.finer:
                return np.concatenate([*done, cells])
        return np.concatenate(done)

    def targets(self) -> Floats:
        """Points of the solids, close together where balls are small."""
        part, most = 0.8, _TARGETS * self.finer
        while True:
            cells = self.refined(part)
            points = _unique(np.concatenate([cells.reshape(-1, 3), cells.mean(axis=1)]))
            if len(points) <= most or part > 3:
                return points
            part *= max(1.1, (len(points) / most) ** 0.4)

    def candidates(self) -> Floats:
        """Balls about points inside, each as large as the overhang allows."""
        most = int(_CANDIDATES * self.finer)
        span = np.maximum(self.high - self.low, 1e-9 + self.overhang / 4)
        edge = float((span.prod() / (2 * most)) ** (1 / 3))
        axes = [np.arange(a + edge / 2, b, edge) for a, b in zip(self.low, self.high, strict=True)]
        axes = [
            axis if len(axis) else np.array([(a + b) / 2])
            for axis, a, b in zip(axes, self.low, self.high, strict=True)
        ]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        grid = grid + self.rng.uniform(-0.3, 0.3, grid.shape) * edge
        cells = self.cells
        while len(cells) < 200:
            cells = bisected(cells)
        middles = cells.mean(axis=1)
        if len(middles) > most:
            middles = middles[self.rng.permutation(len(middles))[:most]]
        return self.balls(np.concatenate([grid, middles]))

    def balls(self, points: Floats) -> Floats:
        """The balls about those of the points that lie inside."""
        room = self.depth(points)
        inside = room >= 0
        return np.column_stack([points[inside], room[inside] + self.least])

    def search(self, targets: Floats, fixed: Floats) -> Floats:
        """Few balls that hold the targets, and nearly all between, as far as candidates do."""
        candidates = self.candidates()
        slack = np.array([0, 0, 0, self.overhang - self.least])
        balls, lacking = np.zeros((0, 4)), targets
        for tries in _TRIES:
            more = candidates[_greedy(_inside(candidates, lacking))]
            balls = self.improved(np.concatenate([balls, more]), candidates, targets, tries)
            gaps = self.gaps(np.concatenate([fixed, balls + slack]))
            if not len(gaps):
                break
            lacking = gaps
            targets = np.concatenate([targets, gaps])
        return balls + slack

    def gaps(self, balls: Floats) -> Floats:
        """Points of small cells that no ball holds."""
        cells, small = self.cells, list[Floats]()
        while len(cells):
            cells = cells[_holder(balls, cells) < 0]
            fine = edge_lengths(cells).max(axis=1, initial=0.0) < 0.25 * self.overhang
            small.append(cells[fine].reshape(-1, 3))
            cells = bisected(cells[~fine])
        found = np.concatenate(small)
        return _unique(found) if len(found) else found

    def improved(self, balls: Floats, candidates: Floats, targets: Floats, tries: int) -> Floats:
        """Fewer balls: some neighbours are taken out, and what they held is covered anew."""
        for _ in range(tries * len(balls)):
            if len(balls) < 2:
                break
            centre = balls[self.rng.integers(len(balls)), :3]
            away = np.linalg.norm(balls[:, :3] - centre, axis=1)
            order = np.argsort(away, kind="stable")
            out, rest = balls[order[:5]], balls[order[5:]]
            near = targets[_inside(out, targets).any(axis=1)]
            beside = rest[_touching(rest, out)]
            if len(beside):
                near = near[~_inside(beside, near).any(axis=1)]
            if not len(near):
                balls = rest
                continue
            width = float(out[:, 3].max())
            low, high = near.min(axis=0) - width / 4, near.max(axis=0) + width / 4
            ins = ((candidates[:, :3] >= low) & (candidates[:, :3] <= high)).all(axis=1)
            known = candidates[ins]
            if len(known) > 300:
                known = known[self.rng.permutation(len(known))[:300]]
            tried = np.concatenate([out[:, :3].repeat(12, axis=0), known[:60, :3]])
            moved = self.balls(tried + self.rng.normal(0, width / 6, tried.shape))
            pool = np.concatenate([out, known, moved])
            holds = _inside(pool, near)
            picked = _greedy(holds)
            if len(picked) <= len(out) and holds[:, picked].any(axis=1).all():
                balls = np.concatenate([rest, pool[picked]])
        return balls

    def completed(self, balls: Floats) -> tuple[Floats, Floats, Ints, Ints]:
        """The balls with those added that lack, cells that fill the solids, each cell's solid and
        the ball that holds it."""
        cells, of_cell = self.cells, self.of_cell
        done: list[tuple[Floats, Ints, Ints]] = []
        while len(cells):
            owner = _holder(balls, cells)
            found = owner >= 0
            done.append((cells[found], of_cell[found], owner[found]))
            cells, of_cell = cells[~found], of_cell[~found]
            small = edge_lengths(cells).max(axis=1, initial=0.0) < 0.05 * self.overhang
            if small.any():
                balls = np.concatenate([balls, self.missing(cells[small])])
            cells = np.concatenate([cells[small], bisected(cells[~small])])
            of_cell = np.concatenate([of_cell[small], np.tile(of_cell[~small], 2)])
        joined = tuple(np.concatenate(column) for column in zip(*done, strict=True))
        return balls, joined[0], joined[1], joined[2]

    def missing(self, cells: Floats) -> Floats:
        """Balls for small cells that none holds."""
        middles = cells.mean(axis=1)
        added: list[Floats] = []
        centre = (self.low + self.high) / 2
        own = _fixed_points(self.solids)
        while len(cells):
            place = middles[0]
            near = place + self.rng.normal(0, self.overhang, (200, 3))
            pulled = place + np.linspace(0, 1, 40)[:, None] * (
                own[np.linalg.norm(own - place, axis=1).argmin()] - place
            )
            points = np.concatenate([place[None], near, pulled, centre[None]])
            room = self.depth(points)
            pool = np.column_stack([points, room + self.overhang])[room >= 0]
            holds = (_inside(pool, cells.reshape(-1, 3)).reshape(len(cells), 4, -1)).all(axis=1)
            useful = holds[0]
            if not useful.any():
                raise InputError("a piece is too thin for its size to be covered")
            best = int(np.where(useful, holds.sum(axis=0), -1).argmax())
            added.append(pool[best])
            keep = ~holds[:, best]
            cells, middles = cells[keep], middles[keep]
        return np.array(added)

    def inner(self, most: int) -> Floats:
        """At most so many balls for each solid that lie inside, those that hold most first."""
        points = self.candidates()[:, :3]
        room = depths(self.solids, points)
        points, room = points[room > 0], room[room > 0]
        if not len(points):
            return np.zeros((0, 4))
        balls = np.column_stack([points, room])
        holds = _inside(balls, points)
        return balls[_greedy(holds, most * len(self.solids))]


def _fixed_points(solids: list[Solid]) -> Floats:
    return np.concatenate([solid.cells[:, 3].mean(axis=0)[None] for solid in solids])


def _unique(points: Floats) -> Floats:
    """The points (n, 3), those nearer to each other than a millionth of their extent once."""
    low, span = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    x, y, z = ((points - low) * (1e6 / span)).round().astype(np.int64).T
    return points[np.unique((x << 42) | (y << 21) | z, return_index=True)[1]]


def _inside(balls: Floats, points: Floats) -> Bools:
    """Whether points (n, 3) lie in balls (m, 4), in float32: (n, m)."""
    centre = balls[:, :3].mean(axis=0) if len(balls) else np.zeros(3)
    x, c = points - centre, balls[:, :3] - centre
    left = np.column_stack([x, (x * x).sum(axis=1), np.ones(len(x))]).astype(np.float32)
    rest = (c * c).sum(axis=1) - balls[:, 3] ** 2
    right = np.column_stack([-2 * c, np.ones(len(c)), rest]).astype(np.float32)
    return left @ right.T <= 0


def _touching(balls: Floats, others: Floats) -> Bools:
    """Which of the balls (m, 4) touch one of the others."""
    apart = np.linalg.norm(balls[:, None, :3] - others[:, :3], axis=2)
    return (apart <= balls[:, None, 3] + others[:, 3]).any(axis=1)


def _holder(balls: Floats, cells: Floats) -> Ints:
    """The ball that holds each of the cells (n, 4, 3) with most room, or -1."""
    owner = np.full(len(cells), -1)
    if not len(balls) or not len(cells):
        return owner
    centre = balls[:, :3].mean(axis=0)
    c = balls[:, :3] - centre
    size = float(np.abs(cells - centre).max() + np.abs(c).max() + balls[:, 3].max())
    square = balls[:, 3] ** 2 - (c * c).sum(axis=1) - 1e-14 * size * size  # for rounding
    weights = np.concatenate([2 * c.T, -np.ones((1, len(c))), square[None]])
    step = max(1, 250_000 // len(balls))
    for start in range(0, len(cells), step):
        x = (cells[start : start + step] - centre).transpose(1, 0, 2).reshape(-1, 3)
        room = np.column_stack([x, (x * x).sum(axis=1), np.ones(len(x))]) @ weights
        room = room.reshape(4, -1, len(balls))
        least = np.minimum(np.minimum(room[0], room[1]), np.minimum(room[2], room[3]))
        best = least.argmax(axis=1)
        fits = least[np.arange(len(best)), best] >= 0
        owner[start : start + step] = np.where(fits, best, -1)
    return owner


def _greedy(holds: Bools, most: int | None = None) -> list[int]:
    """Columns that together hold every row that one can hold, the most useful first."""
    table = holds.astype(np.float32)  # products of float32 are quick, and counts are exact in it
    left = np.ones(len(table), np.float32)
    gains = left @ table
    chosen: list[int] = []
    while most is None or len(chosen) < most:
        best = int(gains.argmax()) if len(gains) else 0
        if not len(gains) or gains[best] < 0.5:
            break
        chosen.append(best)
        new = np.flatnonzero(left * table[:, best])
        gains = gains - np.ones(len(new), np.float32) @ table[new]
        left[new] = 0
    return chosen


# --- levels ---------------------------------------------------------------------------------------


class _Tables:
    """The tables of a cover, filled body by body."""

    def __init__(self) -> None:
        self.spheres: list[Floats] = []
        self.parts: list[tuple[int, int]] = []
        self.part_pieces: list[Ints] = []
        self.bodies: list[tuple[int, int]] = []
        self.inner: list[Floats] = []
        self.overhang: list[float] = []
        self.place = 0

    def add(self, body: _BodyCover, first_piece: int, part_size: int) -> None:
        """Add a body, whose pieces are numbered from ``first_piece``."""
        groups = _grouped(body.spheres, np.arange(len(body.spheres)), part_size)
        self.bodies.append((len(self.parts), len(groups)))
        for group in groups:
            self.spheres.append(body.spheres[group])
            self.parts.append((self.place, len(group)))
            self.place += len(group)
            self.part_pieces.append(first_piece + np.flatnonzero(body.pieces[group].any(axis=0)))
        self.inner.append(body.inner)
        self.overhang.append(body.overhang)

    def made(self) -> Cover:
        """The cover of what was added."""
        own = [np.concatenate(self.spheres[a : a + n]) for a, n in self.bodies]
        return Cover(
            body_spheres=_around(own),
            body_parts=np.array(self.bodies, np.int64).reshape(-1, 2),
            part_spheres=_around(self.spheres),
            part_ranges=np.array(self.parts, np.int64).reshape(-1, 2),
            spheres=np.concatenate([*self.spheres, np.zeros((0, 4))]),
            part_piece_ranges=_ranges(self.part_pieces),
            part_pieces=np.concatenate([*self.part_pieces, np.zeros(0, np.int64)]),
            inner=np.concatenate([*self.inner, np.zeros((0, 4))]),
            body_inner=_ranges(self.inner),
            overhang=np.array(self.overhang, np.float64),
        )


def _ranges(lists: Sequence[NDArray[Any]]) -> Ints:
    counts = np.array([len(each) for each in lists], np.int64)
    return np.column_stack([np.cumsum(counts) - counts, counts])


def _grouped(spheres: Floats, numbers: Ints, most: int) -> list[Ints]:
    """Groups of neighbours, filled up: cut across the longest axis until each is small enough."""
    endless = ~np.isfinite(spheres[numbers, 3])
    if endless.any() and len(numbers) > 1:
        rest = _grouped(spheres, numbers[~endless], most) if not endless.all() else []
        return [*(numbers[k : k + 1] for k in np.flatnonzero(endless)), *rest]
    parts = -(-len(numbers) // most)
    if parts <= 1:
        return [numbers]
    centred = spheres[numbers, :3] - spheres[numbers, :3].mean(axis=0)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    order = numbers[np.argsort(centred @ axis, kind="stable")]
    cut = round(len(numbers) * (parts // 2) / parts)
    return _grouped(spheres, order[:cut], most) + _grouped(spheres, order[cut:], most)


def _around(groups: list[Floats]) -> Floats:
    """A sphere (n, 4) around each group of spheres; infinite around an infinite one."""
    if not groups:
        return np.zeros((0, 4))
    longest = max(map(len, groups))
    filled = np.stack([np.resize(group, (longest, 4)) for group in groups])
    endless = ~np.isfinite(filled[:, :, 3]).all(axis=1)
    filled[endless] = (0.0, 0.0, 0.0, 1.0)
    found = enclosing_spheres(filled)
    found[endless] = (0.0, 0.0, 0.0, np.inf)
    return found
