"""Spheres around and inside of bodies: outer ones that cover by construction, in three levels.

A ball whose centre has the depth d in a body reaches out of it by r - d, so a centre may carry the
radius d + overhang. Balls are chosen greedily for sampled points, then fewer are sought: a few
neighbours are taken out and what they held is covered anew. What makes it a cover is the last
step: the body is cut into cells until each lies in one ball, and where a cell lies in none a ball
is added for it. Each ball then shrinks to its cells.

Thin pieces, in which no point is deep, need no choice: the box around one is cut into equal boxes,
as few as lie in a ball each. A centre that is outside of the piece is moved into it, from plane to
plane, and each such move leads nearer to every point of the piece.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, whole_number
from linkwork.collision.cells import (
    Solid,
    bisected,
    depths,
    edge_lengths,
    lengths,
    middles,
    near,
    solid_of,
    thinned,
)
from linkwork.collision.pieces import (
    HALF_SPACE,
    POINT,
    SEGMENT,
    Floats,
    Ints,
    Piece,
    enclosing_spheres,
    rooms,
)
from linkwork.errors import InputError

Bools = NDArray[np.bool_]

_SLACK = 0.1
"""The part of the overhang that is kept for what lies between the sampled points."""
_SPACING = 0.7
"""The distance of sampled points, in radii of the disc of a face that a ball holds there."""
_TURN = 0.1
"""One less the cosine between faces that count as two."""
_BLOCK = 1_000
"""Sampled points that are looked at together."""
_CROWD = 10_000
"""Points that lack a ball at last, of which so many are not all asked at once."""
_FEW = 12
"""Thin pieces that fewer balls hold are not cut: a ball may hold several of them."""
_ROUNDS = 4
_GROUP = 4
_STARTS = 8
_INNER = 4
_INNER_POINTS = 1_000
"""About how many points inner balls are chosen among, all solids of a body together."""
_PRODUCT = 200_000
"""Multiplications of a product of matrices for which BLAS starts no threads: they cost more than
they gain where one side has five columns."""
_MOVES = 40
"""Planes that a point is moved to, at most."""
_MOST = 1_000
"""About how many balls a body may have, beyond which its overhang is raised."""


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
    for number, pieces in enumerate(bodies):
        if not pieces:
            raise InputError(f"body {number} has no pieces to cover; leave it out")
    own = [_in_levels(_body_cover(pieces, e), size) for pieces in bodies]
    return joined(own, [len(pieces) for pieces in bodies])


def joined(covers: Sequence[Cover], n_pieces: Sequence[int]) -> Cover:
    """The cover of the bodies of several covers, each of which has so many pieces."""
    lengths = [
        (len(c.part_spheres), len(c.spheres), len(c.part_pieces), len(c.inner)) for c in covers
    ]
    before = np.cumsum([(0, 0, 0, 0), *lengths], axis=0)
    first_piece = np.cumsum([0, *n_pieces])

    def moved(name: str, place: int) -> Ints:
        shifted = [np.add(getattr(c, name), (before[k, place], 0)) for k, c in enumerate(covers)]
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


def moved(covering: Cover, T: Floats) -> Cover:
    """The cover of the same bodies, all moved by a pose T (4, 4), which has no half-space.

    Outer spheres grow, and inner ones shrink, by what T is not rigid by and by rounding.
    """
    stretch = np.linalg.svd(T[:3, :3], compute_uv=False)
    most = float(np.abs(covering.body_spheres).max(initial=0.0) + np.abs(T[:3, 3]).max())
    rounding = 1.0e-14 * most

    def placed(spheres: Floats, factor: float, more: float) -> Floats:
        centres = spheres[:, :3] @ T[:3, :3].T + T[:3, 3]
        return np.column_stack([centres, np.maximum(factor * spheres[:, 3] + more, 0.0)])

    wider = float(max(stretch[0], 1.0))
    return replace(
        covering,
        body_spheres=placed(covering.body_spheres, wider, 3.0 * rounding),
        part_spheres=placed(covering.part_spheres, wider, 2.0 * rounding),
        spheres=placed(covering.spheres, wider, rounding),
        inner=placed(covering.inner, float(min(stretch[-1], 1.0)), -rounding),
        overhang=wider * covering.overhang + (wider - 1.0) * most + rounding,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _BodyCover:
    """The spheres (n, 4) of a body, what pieces each covers (n, pieces), and inner spheres."""

    spheres: Floats
    pieces: Bools
    inner: Floats
    overhang: float


def _body_cover(pieces: Sequence[Piece], overhang: float) -> _BodyCover:
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
    inner.append(_inner(solids, _INNER))
    e = _affordable(solids, overhang)
    cut = [_cut(solid, e) for solid in solids]
    thick = [k for k, own in enumerate(cut) if own is None]
    found = [(b, np.ones((len(b), 1), bool), [k]) for k, b in enumerate(cut) if b is not None]
    rest = _chosen([solids[k] for k in thick], e) if thick else None
    for balls, used, group in [*found, *([(*rest, thick)] if rest else [])]:
        own = [solids[k] for k in group]
        more = np.zeros((len(balls), len(pieces)), bool)
        more[:, [numbers[k] for k in group]] = used
        fixed, held = np.concatenate([fixed, balls]), np.concatenate([held, more])
        worst = max(worst, float((balls[:, 3] - _depth(own, balls[:, :3])).max()))
    return _BodyCover(fixed, held, _largest(inner), worst)


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

    e = max(overhang, 2 * half / _MOST)
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


def _cut(solid: Solid, e: float) -> Floats | None:
    """Balls (n, 4) that hold a thin solid and reach out by ``e`` at most; None of one that is not.

    The box around it is cut into equal boxes. What their middles are deep in the solid may be added
    to the overhang: all that a thin box has, half of it, or nothing at the rim of a disc.
    """
    corners = solid.cells.reshape(-1, 3)
    if rooms(solid.planes, corners.mean(axis=0)[None])[0] > e:
        return None  # it is thicker than what is cut at all
    axes = _axes(solid.planes[:, :3], corners)
    along = corners @ axes
    low, size = along.min(axis=0), np.ptp(along, axis=0)
    turns = (
        2 * np.pi * np.arange(64) / 64
    )  # where faces meet at a sharp rim, they alone lead slowly
    rim = np.outer(np.cos(turns), axes[:, 0]) + np.outer(np.sin(turns), axes[:, 1])
    for part in (1.0, 0.5, 0.0):
        if size[2] > (0.5 + 1.5 * part) * e:
            return None
        r = (e if part == 1 else 0.97 * e) * (1 - 1e-9) + part * size[2] / 2 - 2 * solid.excess
        counts = _fewest(size, r)
        if counts is None:
            continue
        if counts[0] * counts[1] < _FEW:
            return None
        steps = [(np.arange(n) + 0.5) / n for n in (*counts, 1)]
        grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
        centres = _moved_in((low + grid * size) @ axes.T, corners, (rim, solid.planes[:, :3]), r)
        inside = _pulled_in(solid, centres)
        radii = r + np.linalg.norm(inside - centres, axis=1)
        if (radii - _depth([solid], inside)).max() <= e:
            return np.column_stack([inside, radii + 1e-12 * (r + np.abs(corners).max())])
    return None


def _pulled_in(solid: Solid, points: Floats) -> Floats:
    """Points (n, 3), those outside of a solid moved toward its middle until they are in it."""
    normals, offsets = solid.planes[:, :3], solid.planes[:, 3]
    middle = solid.cells.reshape(-1, 3).mean(axis=0)
    out = points @ normals.T - offsets
    out[out <= 1e-12 * np.abs(points).max(initial=0.0)] = 0.0
    room = np.maximum(offsets - normals @ middle, 0.0)
    share = np.where(out > 0, out / np.where(out > 0, out + room, 1.0), 0.0).max(axis=1)
    return points + share[:, None] * (middle - points)


def _axes(normals: Floats, corners: Floats) -> Floats:
    """The axes (3, 3), as columns, of a small box around corners, along the faces' normals.

    The last is across the thinnest side.
    """
    across = normals[np.ptp(corners @ normals.T, axis=0).argmin()]
    flat = normals - np.outer(normals @ across, across)
    flat = np.concatenate(
        [flat[np.linalg.norm(flat, axis=1) > 1e-3], np.linalg.svd(across[None])[2]]
    )
    flat = flat[np.abs(flat @ across) < 1e-9]
    flat /= np.linalg.norm(flat, axis=1)[:, None]
    areas = np.ptp(corners @ flat.T, axis=0) * np.ptp(corners @ np.cross(across, flat).T, axis=0)
    first = flat[areas.argmin()]
    return np.stack([first, np.cross(across, first), across], axis=1).astype(np.float64)


def _fewest(size: Floats, r: float) -> tuple[int, int] | None:
    """Into how many parts two sides of a box are cut, that a ball holds each; the fewest."""
    best: tuple[int, int] | None = None
    room = 4 * r * r - size[2] ** 2
    for n in range(1, _MOST + 1):
        left = room - (size[0] / n) ** 2
        if left <= 0:
            continue
        m = int(np.ceil(size[1] / np.sqrt(left))) or 1
        if best is None or n * m < best[0] * best[1]:
            best = n, m
        if n > best[0] * best[1]:
            break
    return best


def _moved_in(points: Floats, corners: Floats, directions: tuple[Floats, ...], r: float) -> Floats:
    """Points (n, 3) moved into the hull of corners, or almost, and no farther from any point of it.

    The planes that they are moved to touch the hull, first those across the first ``directions``.
    Points that are more than ``r`` away from all of the hull are left out.
    """
    for normals in directions:
        offsets = (corners @ normals.T).max(axis=0)
        points = points[(points @ normals.T - offsets).max(axis=1) <= r]
        for _ in range(_MOVES):
            out = points @ normals.T - offsets
            worst = out.argmax(axis=1)
            points = points - np.maximum(out.max(axis=1), 0)[:, None] * normals[worst]
    return points


def _chosen(solids: list[Solid], e: float) -> tuple[Floats, Bools]:
    """Balls (n, 4) that hold solids, few, chosen for points, and which of the solids each holds."""
    balls = np.zeros((0, 4))
    slack = np.array([0, 0, 0, _SLACK * e])
    targets = _targets(solids, e)
    blocks: list[_Block] = []
    for numbers in _blocks(targets):
        block = _Block(solids, e * (1 - _SLACK))
        lacking = targets[numbers]
        block.add(lacking[~_inside(balls, lacking).any(axis=1)], exchange=True)
        balls = np.concatenate([balls, block.balls()])
        blocks.append(block)
    for turn in range(_ROUNDS + 1):
        least = _SLACK * e * 2 ** max(0, 3 - turn)
        found = [_held(balls + slack, solid.cells, least) for solid in solids]
        lacking = np.concatenate([gaps for gaps, _ in found])
        if not len(lacking):
            break
        while len(lacking):
            few = lacking
            if turn < _ROUNDS or len(lacking) > _CROWD:
                few = lacking[thinned(lacking, np.full(len(lacking), 4 * least))]
            of = np.repeat(np.arange(len(blocks)), [len(block.chosen) for block in blocks])
            nearest = of[_apart(few, balls).argmin(axis=1)]
            for k in np.unique(nearest):
                blocks[k].add(few[nearest == k], exchange=turn < _ROUNDS)
            balls = np.concatenate([block.balls() for block in blocks])
            if turn < _ROUNDS:
                break
            lacking = lacking[~_inside(balls, lacking).any(axis=1)]
    else:
        found = [_held(balls + slack, solid.cells, _SLACK * e) for solid in solids]
        lost = [solid for solid, (gaps, _) in zip(solids, found, strict=True) if len(gaps)]
        if lost:  # a ball around all of it: too large, as the overhang says, but it covers
            corners = [np.pad(solid.cells.reshape(-1, 3), ((0, 0), (0, 1))) for solid in lost]
            balls = np.concatenate([balls, _around(corners)])
            found = [_held(balls + slack, solid.cells, _SLACK * e) for solid in solids]
    far = np.column_stack([reach for _, reach in found])
    used, reach = far >= 0, far.max(axis=1)
    kept = used.any(axis=1)
    return np.column_stack([balls[:, :3], reach * (1 + 1e-12) + 1e-15])[kept], used[kept]


class _Block:
    """Points close together, balls that may hold them, and those that are chosen."""

    def __init__(self, solids: list[Solid], e: float) -> None:
        self.solids, self.e = solids, e
        self.targets, self.pool = np.zeros((0, 3)), np.zeros((0, 4))
        self.holds = np.zeros((0, 0), bool)
        self.chosen: list[int] = []

    def balls(self) -> Floats:
        """The chosen balls."""
        return self.pool[self.chosen]

    def add(self, lacking: Floats, exchange: bool) -> None:
        """Choose balls for more points; ``exchange`` others for fewer."""
        more = _candidates(self.solids, lacking, self.e)
        alone = lacking[~_inside(more, lacking).any(axis=1)]
        own = np.column_stack([alone, _depth(self.solids, alone) + self.e])
        before = len(self.chosen)
        more = np.concatenate([more, own])
        holds = np.column_stack([self.holds, _inside(more, self.targets)])
        self.pool = np.concatenate([self.pool, more])
        self.targets = np.concatenate([self.targets, lacking])
        self.holds = np.concatenate([holds, _inside(self.pool, lacking)])
        free = ~self.holds[:, self.chosen].any(axis=1)
        self.chosen += _greedy(self.holds[free])
        if exchange:
            self.chosen = _exchanged(self.pool, self.holds, self.chosen, before)


def _affordable(solids: list[Solid], overhang: float) -> float:
    """The overhang asked for, or a larger one that about `_MOST` balls are enough for."""
    corners = np.concatenate([solid.cells.reshape(-1, 3) for solid in solids])
    size = float(np.ptp(corners, axis=0).max())
    e = max(overhang, 4 * max(solid.excess for solid in solids), 1e-9 * np.abs(corners).max())
    if len(solids) * 3 * size * size / (e * e) + size / e <= _MOST:
        return float(e)
    coarse = [_coarse(solid, size / 30) for solid in solids]
    area = np.concatenate([_areas(cells) for cells, _ in coarse])
    room = np.concatenate([depth for _, depth in coarse])
    while (area / (e * e + 2 * e * room)).sum() + size / e > _MOST:
        e *= 1.2
    return float(e)


def _depth(solids: list[Solid], points: Floats) -> Floats:
    """Depths (n,) of points, below 0 outside; rounding does not make a flat piece empty."""
    found = depths(solids, points)
    rounding = 1e-12 * float(np.abs(points).max(initial=0.0))
    return np.where(np.abs(found) <= rounding, 0.0, found)


def _disc(room: Floats, e: float) -> Floats:
    """The radius of the disc on a face that a ball of this depth holds."""
    return np.sqrt(e * e + 2 * e * np.maximum(room, 0))


def _surface(cells: Floats, spacing: Floats) -> Floats:
    """Triangles (n, 4, 3) cut until the edges of each are no longer than its ``spacing``."""
    done: list[Floats] = []
    while len(cells):
        long = edge_lengths(cells).max(axis=1) > spacing
        done.append(cells[~long])
        cells, spacing = bisected(cells[long]), np.tile(spacing[long], 2)
    return np.concatenate([*done, np.zeros((0, 4, 3))])


def _coarse(solid: Solid, e: float) -> tuple[Floats, Floats]:
    """Triangles of the surface, few to a ball, and the depth of the middle below each."""
    cells = solid.cells[:, [0, 1, 2, 2]]
    cells = _surface(cells, np.full(len(cells), 4 * e))
    return cells, _middles(solid, cells[:, :3].mean(axis=1))[1]


def _areas(triangles: Floats) -> Floats:
    a, b, c = (triangles[:, k] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _targets(solids: list[Solid], e: float) -> Floats:
    """Points of the surface and a few below it, close together where balls are small."""
    found: list[Floats] = []
    for k, solid in enumerate(solids):
        cells, room = _coarse(solid, e)
        cells = _surface(cells, _SPACING * _disc(np.maximum(room, e), e))
        points = np.concatenate([cells[:, :3].reshape(-1, 3), cells[:, :3].mean(axis=1)])
        points = points[thinned(points, np.full(len(points), 0.1 * e))]
        middles, room, _ = _middles(solid, points)
        kept = thinned(points, _SPACING * _disc(np.maximum(room, e), e))
        points, middles = points[kept], middles[kept]
        inside = np.concatenate([(points + middles) / 2, middles])
        inside = inside[thinned(inside, _disc(depths([solid], inside), e))]
        points = np.concatenate([points, inside])
        others = solids[:k] + solids[k + 1 :]
        if others:
            points = points[depths(others, points) < e]
        found.append(points)
    return np.concatenate(found)


def _middles(solid: Solid, points: Floats) -> tuple[Floats, Floats, Floats]:
    """For each point a middle between two faces, its depth, and a middle between three.

    The way goes away from the nearest face until another is as near, and then away from both.
    """
    normals, offsets = solid.sides[:, :3], solid.sides[:, 3]
    cosines = normals @ normals.T
    first, second = np.zeros_like(points), np.zeros_like(points)
    depth = np.zeros(len(points))
    step = max(1, _PRODUCT // (3 * len(normals)))
    for start in range(0, len(points), step):
        part = points[start : start + step]
        away = offsets - part @ normals.T
        near = away.argmin(axis=1)
        along = cosines[near]
        way, other = _met(away, near, 1 - along)
        middle = part - way[:, None] * normals[near]
        away += way[:, None] * along
        both = normals[near] + normals[other]
        length = np.linalg.norm(both, axis=1)
        length[length < 0.3] = np.inf  # faces that stand opposite: the middle is no edge's
        growth = (along + cosines[other]) / length[:, None]
        way, _ = _met(away, near, growth[np.arange(len(part)), near][:, None] - growth)
        first[start : start + step] = middle
        depth[start : start + step] = away.min(axis=1)
        second[start : start + step] = middle - (way / length)[:, None] * both
    return first, depth, second


def _met(away: Floats, near: Ints, closing: Floats) -> tuple[Floats, Ints]:
    """The way until another face is as near as the ``near`` one, and that face."""
    rows = np.arange(len(away))
    ahead = np.maximum(away - away[rows, near, None], 0)
    ways = np.where(closing > _TURN, ahead / np.maximum(closing, _TURN), np.inf)
    other = ways.argmin(axis=1)
    found = ways[rows, other]
    return np.where(np.isfinite(found), found, 0.0), other


def _candidates(solids: list[Solid], points: Floats, e: float) -> Floats:
    """Balls that may hold points, and stand out by ``e``: about the points' middles, and theirs."""
    found = [points]
    for solid in solids:
        own = points[near(solid, points, e)] if len(solids) > 1 else points
        first, _, second = _middles(solid, own)
        found += [first, second, (own + first) / 2]
    centres = np.concatenate(found)
    room = _depth(solids, centres)
    centres, room = centres[room >= 0], room[room >= 0]
    kept = thinned(centres, 0.3 * (room + e))
    return np.column_stack([centres, room + e])[kept]


def _blocks(points: Floats) -> list[Ints]:
    """Numbers of neighbouring points, cut across the longest side."""
    found: list[Ints] = []
    stack = [np.arange(len(points))]
    while stack:
        numbers = stack.pop()
        if len(numbers) <= _BLOCK:
            found.append(numbers)
            continue
        axis = int(np.ptp(points[numbers], axis=0).argmax())
        order = numbers[points[numbers, axis].argsort(kind="stable")]
        stack += [order[: len(order) // 2], order[len(order) // 2 :]]
    return found


def _exchanged(pool: Floats, holds: Bools, chosen: list[int], before: int) -> list[int]:
    """Fewer columns that hold every row: few at a time, neighbours of a new one, chosen anew."""
    count = holds[:, chosen].sum(axis=1)
    for start in chosen[before:]:
        if start not in chosen:
            continue
        apart = np.linalg.norm(pool[chosen, :3] - pool[start, :3], axis=1)
        group = [chosen[k] for k in np.argsort(apart, kind="stable")[:_GROUP]]
        rows = count == holds[:, group].sum(axis=1)
        rows &= count > 0
        part = holds[rows]
        gains = part.sum(axis=0)
        most = gains.argsort(kind="stable")[: -_STARTS - 1 : -1]
        if gains[most[: len(group) - 1]].sum() < len(part):
            continue
        columns = np.flatnonzero(gains)
        part = part[:, columns]
        best = group if len(part) else []
        for first in np.searchsorted(columns, most[gains[most] > 0]):
            rest = _greedy(part[~part[:, first]], len(group) - 2)
            if len(rest) + 1 < len(best) and part[:, [first, *rest]].any(axis=1).all():
                best = [int(columns[k]) for k in (first, *rest)]
        if best is not group:
            count += holds[:, best].sum(axis=1) - holds[:, group].sum(axis=1)
            chosen = [k for k in chosen if k not in group] + best
    return chosen


def _held(balls: Floats, cells: Floats, least: float) -> tuple[Floats, Floats]:
    """Middles (n, 3) of small cells that no ball holds; and how far each ball's cells reach.

    That is -1 for a ball that has none. Cells are cut until one ball holds all four corners, or
    all of them lie less than ``least`` (m) from their middle.
    """
    reach = np.full(len(balls), -1.0)
    gaps: list[Floats] = []
    stack = [(cells, np.arange(len(balls)))]
    while stack:
        cells, numbers = stack.pop()
        corners = cells.reshape(-1, 12)  # whole rows: over an axis of 3 they would take long
        low = corners.min(axis=0).reshape(4, 3).min(axis=0)
        high = corners.max(axis=0).reshape(4, 3).max(axis=0)
        nearest = np.clip(balls[numbers, :3], low, high)
        apart = lengths(balls[numbers, :3] - nearest)
        numbers = numbers[apart <= balls[numbers, 3]]
        if len(cells) > 100 and len(cells) * len(numbers) > 20_000:
            order = middles(cells)[:, int((high - low).argmax())].argsort(kind="stable")
            cut = len(order) // 2
            stack += [(cells[order[:cut]], numbers), (cells[order[cut:]], numbers)]
            continue
        owner = _holder(balls[numbers], cells)
        ours = owner >= 0
        mine = numbers[owner[ours]]
        far = _largest_of(lengths(cells[ours] - balls[mine, None, :3]))
        np.maximum.at(reach, mine, far)
        rest = cells[~ours]
        centres = middles(rest)
        small = _largest_of(lengths(rest - centres[:, None])) < least
        gaps.append(centres[small])
        if not small.all():
            stack.append((bisected(rest[~small]), numbers))
    return np.concatenate(gaps), reach


def _largest_of(four: Floats) -> Floats:
    """The largest number of each row of (n, 4)."""
    return np.maximum(np.maximum(four[:, 0], four[:, 1]), np.maximum(four[:, 2], four[:, 3]))


def _inner(solids: list[Solid], most: int) -> Floats:
    """At most so many balls for each solid that lie inside, those that hold most first."""
    found: list[Floats] = []
    count = min(100, max(_INNER_POINTS // len(solids), 2 * most))
    for solid in solids:
        points = np.concatenate([solid.cells[:, :3].mean(axis=1), solid.cells.mean(axis=1)])
        points = points[:: max(1, len(points) // count)]
        first, _, second = _middles(solid, points)
        found += [solid.cells[:1, 3], first, second, points]
    points = np.concatenate(found)
    room = depths(solids, points)
    points, room = points[room > 0], room[room > 0]
    balls = np.column_stack([points, room])
    return balls[_greedy(_inside(balls, points), most * len(solids))]


def _apart(points: Floats, balls: Floats) -> Floats:
    """Distances (n, m), about, of points (n, 3) from balls (m, 4); below 0 inside."""
    centre = balls[:, :3].mean(axis=0)
    x, c = points - centre, balls[:, :3] - centre
    squares = (x * x).sum(axis=1)[:, None] + (c * c).sum(axis=1) - 2 * _product(x, c.T)
    return np.sqrt(np.maximum(squares, 0.0)) - balls[:, 3]


def _inside(balls: Floats, points: Floats) -> Bools:
    """Whether points (n, 3) lie in balls (m, 4), in float32: (n, m)."""
    centre = balls[:, :3].mean(axis=0) if len(balls) else np.zeros(3)
    x, c = points - centre, balls[:, :3] - centre
    largest = max(float(np.abs(each).max(initial=0.0)) for each in (x, c, balls[:, 3]))
    scale = 2.0 ** -int(np.frexp(largest)[1])  # a power of two changes no digit, and squares fit
    x, c, r = x * scale, c * scale, balls[:, 3] * scale
    left = np.column_stack([x, (x * x).sum(axis=1), np.ones(len(x))]).astype(np.float32)
    rest = (c * c).sum(axis=1) - r**2
    right = np.column_stack([-2 * c, np.ones(len(c)), rest]).astype(np.float32)
    return _product(left, right.T) <= 0


def _product(left: Any, right: Any) -> Any:
    """The product of thin matrices."""
    n = len(left) * right.size
    if n <= _PRODUCT:
        return left @ right
    step = max(1, len(left) * _PRODUCT // n)
    return np.concatenate([left[k : k + step] @ right for k in range(0, len(left), step)])


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
    step = max(1, _PRODUCT // (4 * 5 * len(balls)))
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
    table = holds.astype(np.float32)  # sums of float32 are quick, and counts are exact in it
    left = np.ones(len(table), np.float32)
    gains = table.sum(axis=0)
    chosen: list[int] = []
    while most is None or len(chosen) < most:
        best = int(gains.argmax()) if len(gains) else 0
        if not len(gains) or gains[best] < 0.5:
            break
        chosen.append(best)
        new = np.flatnonzero(left * table[:, best])
        gains = gains - table[new].sum(axis=0)
        left[new] = 0
    return chosen


# --- levels ---------------------------------------------------------------------------------------


def _in_levels(body: _BodyCover, part_size: int) -> Cover:
    """The cover of one body, whose spheres are put into groups."""
    groups = _grouped(body.spheres, np.arange(len(body.spheres)), part_size)
    parts = [body.spheres[group] for group in groups]
    pieces = [np.flatnonzero(body.pieces[group].any(axis=0)) for group in groups]
    spheres = np.concatenate(parts)
    return Cover(
        body_spheres=_around([spheres]),
        body_parts=_ranges([groups]),
        part_spheres=_around(parts),
        part_ranges=_ranges(parts),
        spheres=spheres,
        part_piece_ranges=_ranges(pieces),
        part_pieces=np.concatenate(pieces),
        inner=body.inner,
        body_inner=_ranges([body.inner]),
        overhang=np.array([body.overhang]),
    )


def _ranges(lists: Sequence[Sized]) -> Ints:
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
