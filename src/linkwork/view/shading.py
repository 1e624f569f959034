"""Solids as areas of even colour: what is seen of them, in an order in which each covers what lies
behind it, and the lines along their edges.

The drawing is sampled on a grid: at each sample the faces are sorted by their nearness. From this
follow which faces are seen, which of two lies in front, and which cut through each other; those are
divided. Neighbouring faces of one shade are one area.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.view.camera import Camera
from linkwork.view.primitives import Mark, Path, hull

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_FACES = 40_000
"""Faces towards the viewer beyond which corners nearer than a pixel or more become one."""
MOST_AREAS = 4_000
"""Areas beyond which there are fewer shades."""
_SHADES = (16, 10, 6, 4, 2)
_FINE, _MOST_SAMPLES = 1.25, 2.5e6  # samples a pixel, each way; and in all
_LIGHT = np.array([-0.36, 0.58, 0.73]) / np.linalg.norm([-0.36, 0.58, 0.73])
"""The direction to the light: along the drawing to the right, upward, towards the viewer."""
_CREASE = np.cos(np.radians(38.0))
_SHORTEST = 7.0  # pixels of an edge, with those that it goes on with
_MANY, _ROUGH = 300, 0.2
"""Of a mesh with more inner edges, of which this share is sharp, none is the edge of a form."""
_MOST_CUTS = 16  # planes that one triangle is divided by
_TOUCHING = 0.2  # pixels of nearness below which two faces are not in front of each other


class Solid(NamedTuple):
    """A mesh in the world: ``vertices`` (n, 3) in m, ``faces`` (k, 3), a colour from 0 to 1."""

    vertices: Floats
    faces: NDArray[np.uint32]
    rgb: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class _Faces:
    """Triangles towards the viewer, and the edges between all that there were.

    Shapes: corners (k, 3, 3): x and y in the drawing, and nearness, pixels; normals (k, 3) along
    right, up, toward; part (k,). The ``edges`` (e, 2, 3) are those where what is seen ends or
    bends, of ``edge_part`` (e,).
    """

    corners: Floats
    normals: Floats
    part: Ints
    edges: Floats
    edge_part: Ints


def shaded(solids: Sequence[Solid], camera: Camera, size: tuple[float, float]) -> list[Mark]:
    """Areas of solids in the shades of a light, the farthest first, and their edges over them."""
    faces = _front_faces(solids, camera)
    if not len(faces.corners):
        return []
    grid = _Grid(faces, size)
    colours = np.array([solid.rgb for solid in solids])
    corners, part, normals, pairs = _divided(faces, grid)
    vertices, triangles = _welded(corners, part, 0.02)
    level, labels = _shades_and_areas(triangles, part, normals, pairs)
    loops = _outlines(vertices, triangles, labels)
    shade = _toned(colours[part], level)
    order = _order(labels, pairs, corners[:, :, 2].mean(axis=1), shade)
    marks: list[Mark] = []
    for colour, own in groupby((k for k in order if k in loops), key=lambda k: shade[k]):
        outlines = tuple(line for label in own for line in loops[label])
        marks.append(Path(outlines, fill=colour, closed=True, seam=1.1))
    lines = _chained(grid.seen(faces.edges, faces.edge_part))
    ink = [_ink(rgb) for rgb in colours]
    by_colour: dict[str, list[Floats]] = defaultdict(list)
    for k, line in lines:
        length = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        if length > _SHORTEST:  # what is shorter is a rough mesh rather than a form
            by_colour[ink[k]].append(line)
    marks += [Path(tuple(each), colour, 0.8) for colour, each in by_colour.items()]
    return marks


def _shades_and_areas(
    triangles: Ints, part: Ints, normals: Floats, pairs: _Pairs
) -> tuple[Floats, Ints]:
    """Lightness of each triangle, from 0 to 1, and the label of its area, in not too many areas."""
    light = 0.5 + 0.5 * (normals @ _LIGHT)
    level, labels = light, np.arange(len(triangles))
    for shades in _SHADES:
        steps = np.rint(light * (shades - 1)).astype(np.int64)
        level = steps / (shades - 1.0)
        labels = _consistent(_areas(triangles, part * shades + steps), pairs)
        if len(np.unique(labels)) <= MOST_AREAS:
            break
    return level, labels


def shadow(solids: Sequence[Solid], camera: Camera, height: float, colour: str) -> list[Mark]:
    """The shadows (convex, one of each solid) on the ground at a height (m), under a high light."""
    found: list[Floats] = []
    for solid in solids:
        flat = np.array(solid.vertices, np.float64)
        flat[:, 2] = height
        if len(outline := hull(_outermost(camera.pixels(flat)))) > 2:
            found.append(outline)
    return [Path(tuple(found), fill=colour, closed=True)] if found else []


def _outermost(points: Floats) -> Floats:
    """Of many points (n, 2) the first and the last of each half pixel's row."""
    if len(points) < 500:
        return points
    order = np.lexsort((points[:, 0], np.rint(2.0 * points[:, 1])))
    row = np.rint(2.0 * points[order, 1])
    begins = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
    ends = np.append(begins[1:], len(row)) - 1
    return points[order[np.concatenate([begins, ends])]]


def silhouettes(solids: Sequence[Solid], camera: Camera, colour: str, outline: str) -> list[Mark]:
    """Solids as areas of one colour without light, and their outlines."""
    faces = _front_faces(solids, camera)
    if not len(faces.corners):
        return []
    vertices, triangles = _welded(faces.corners, faces.part, 0.02)
    loops = _outlines(vertices, triangles, _areas(triangles, faces.part))
    lines = tuple(line for each in loops.values() for line in each)
    return [Path(lines, outline, 0.8, colour, closed=True)]


# --- colours --------------------------------------------------------------------------------------


def _toned(rgb: Floats, light: Floats) -> list[str]:
    """Colours (k, 3) in shares of light (k,) as #rrggbb."""
    base = 0.09 + 0.86 * rgb  # neither as black nor as white as the background may be
    lit = base * (0.46 + 0.54 * light[:, None]) + 0.1 * np.maximum(light[:, None] - 0.6, 0.0)
    numbers = np.rint(255.0 * np.clip(lit, 0.0, 1.0)).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in numbers.tolist()]


def _ink(rgb: Floats) -> str:
    """The colour of the edges of a solid: darker than it, of the dark ones lighter."""
    grey = float(rgb @ [0.3, 0.59, 0.11])
    mixed = 0.42 * rgb + 0.08 if grey > 0.32 else rgb + 0.3
    r, g, b = np.rint(255.0 * np.clip(mixed, 0.0, 1.0)).astype(int).tolist()
    return f"#{r:02x}{g:02x}{b:02x}"


# --- faces towards the viewer ---------------------------------------------------------------------


def _front_faces(solids: Sequence[Solid], camera: Camera) -> _Faces:
    """The faces of solids that are turned to the viewer; of open ones all, seen from both sides."""
    corners, part = list[Floats](), list[Ints]()
    for k, solid in enumerate(solids):
        if not len(solid.faces):
            continue
        v = np.asarray(solid.vertices, np.float64)
        flat = camera.pixels(v)
        placed = np.column_stack([flat, camera.nearness(v)])
        corners.append(placed[solid.faces.astype(np.int64)])
        part.append(np.full(len(solid.faces), k))
    if not corners:
        none = np.zeros((0, 3, 3))
        return _Faces(none, none[:, 0], np.zeros(0, int), none[:, :2], np.zeros(0, int))
    soup, parts = np.concatenate(corners), np.concatenate(part)
    normals, sizes = _normals(soup)
    cell = 0.02
    while True:
        vertices, triangles = _welded(soup, parts, cell)
        a, b, c = triangles.T
        kept = (a != b) & (b != c) & (c != a) & (sizes > 0.0)
        if kept.sum() <= 2 * MOST_FACES:
            break
        cell = max(0.5, 1.5 * cell)
    kept &= _once(np.sort(triangles, axis=1))
    triangles, parts, normals = triangles[kept], parts[kept], normals[kept]
    soup = vertices[triangles]
    face, other, is_closed = _neighbours(triangles, parts, len(solids))
    volume = np.bincount(
        parts, np.einsum("ki,ki->k", soup[:, 0], np.cross(soup[:, 1], soup[:, 2])), len(solids)
    )  # with y downward its sign is the other one
    inside_out = is_closed & (volume > 0.0)
    normals = np.where(inside_out[parts][:, None], -normals, normals)
    turned = ~is_closed[parts] & (normals[:, 2] < 0.0)
    normals = np.where(turned[:, None], -normals, normals)
    front = normals[:, 2] > 1e-4
    edges, edge_part = _edges(soup, parts, normals, front, face, other)
    wound = _clockwise(soup)
    soup = np.where((wound > 0.0)[:, None, None], soup[:, ::-1], soup)
    return _Faces(soup[front], normals[front], parts[front], edges, edge_part)


def _once(rows: Ints) -> NDArray[np.bool_]:
    """Whether rows (k, 3) are the first that are so: some meshes have each face twice."""
    n = int(rows.max(initial=0)) + 1
    order = np.lexsort((rows[:, 2], rows[:, 0] * n + rows[:, 1]))
    ordered = rows[order]
    found = np.ones(len(rows), bool)
    found[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return found


def _normals(soup: Floats) -> tuple[Floats, Floats]:
    """Unit normals along right, up, toward, and lengths of the vectors that they were made of."""
    a, b, c = (soup[:, k] * [1.0, -1.0, 1.0] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    return normal / np.maximum(length, 1e-30)[:, None], length


def _clockwise(soup: Floats) -> Floats:
    """Twice the area in the drawing, above zero for one way around."""
    a, b, c = (soup[:, k, :2] for k in range(3))
    u, v = b - a, c - a
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]


def _welded(soup: Floats, part: Ints, cell: float) -> tuple[Floats, Ints]:
    """Vertices (n, 3) and triangles (k, 3): corners of a part in one cell (pixels) are one."""
    points = soup.reshape(-1, 3)
    steps = np.rint((points - points.min(axis=0)) / cell).astype(np.uint64)
    key = np.repeat(part.astype(np.uint64), 3) * np.uint64(0x9E3779B97F4A7C15)
    for column, factor in enumerate((0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)):
        key = (key ^ steps[:, column]) * np.uint64(factor)
        key ^= key >> np.uint64(29)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return points[first], inverse.reshape(-1, 3).astype(np.int64)


def _directed(triangles: Ints) -> tuple[Ints, Ints]:
    """Beginnings and ends of the edges of triangles, (3 k,) in their order."""
    return triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()


def _neighbours(triangles: Ints, part: Ints, n_parts: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """For each edge (e,) two of its places in the list of all, -1 for none; and the closed parts.

    A part is closed where each edge has two faces, which go along it in opposite ways.
    """
    start, end = _directed(triangles)
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * (int(high.max(initial=0)) + 1) + high
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    counts = np.diff(np.append(begins, len(key)))
    first = order[begins]
    second = np.where(counts >= 2, order[np.minimum(begins + 1, len(order) - 1)], -1)
    opposite = (counts == 2) & (start[first] != start[second])
    bad = part[first[~opposite] // 3]
    closed = np.bincount(bad, minlength=n_parts) == 0
    return first, second, closed


def _edges(
    soup: Floats,
    part: Ints,
    normals: Floats,
    front: NDArray[np.bool_],
    first: Ints,
    second: Ints,
) -> tuple[Floats, Ints]:
    """The edges (e, 2, 3) at which what is seen of a solid ends or bends sharply."""
    f, g = first // 3, second // 3
    alone = second < 0
    here, there = front[f], front[g] & ~alone
    inner = here & there
    bend = inner & (np.einsum("ki,ki->k", normals[f], normals[g]) < _CREASE)
    many, bent = (
        np.bincount(part[f[some]], minlength=int(part.max(initial=0)) + 1) for some in (inner, bend)
    )
    rough = (many > _MANY) & (bent > _ROUGH * many)
    drawn = (here != there) | (bend & ~rough[part[f]])
    chosen = first[drawn]
    face, corner = chosen // 3, chosen % 3
    ends = np.stack([soup[face, corner], soup[face, (corner + 1) % 3]], axis=1)
    return ends, part[face]


# --- samples --------------------------------------------------------------------------------------


class _Samples(NamedTuple):
    """Places where faces are sampled: which sample of the grid, nearness there, which face."""

    place: Ints
    near: Floats
    face: Ints

    def visible(self, n: int) -> NDArray[np.bool_]:
        """Whether each of n faces is the nearest one anywhere.

        What is thinner than the grid is left out: the seams of its neighbours cover it.
        """
        found = np.zeros(n, bool)
        first = np.concatenate([[True], self.place[1:] != self.place[:-1]])[: len(self.place)]
        found[self.face[first]] = True
        return found


class _Grid:
    """The faces sorted by nearness at each sample of the drawing."""

    def __init__(self, faces: _Faces, size: tuple[float, float]) -> None:
        self.fine = min(_FINE, float(np.sqrt(_MOST_SAMPLES / (size[0] * size[1]))))
        self.w, self.h = (int(np.ceil(self.fine * x)) for x in size)
        self.samples = self.sampled(faces.corners, faces.part)
        place, near, _ = self.samples
        self.nearest = np.full(self.w * self.h, -np.inf)
        self.nearest[place[::-1]] = near[::-1]  # of one place the first, the nearest, stays

    def sampled(self, corners: Floats, part: Ints) -> _Samples:
        """The samples of triangles (k, 3, 3), ordered by place and from near to far."""
        corners = corners * [self.fine, self.fine, 1.0]
        x, y = corners[:, :, 0], corners[:, :, 1]
        top = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, self.h).astype(int)
        bottom = np.clip(np.ceil(y.max(axis=1) - 0.5), 0, self.h).astype(int)
        face, row = _spread(top, bottom)
        middle = row + 0.5
        left, right = np.full(len(face), np.inf), np.full(len(face), -np.inf)
        for a, b in ((0, 1), (1, 2), (2, 0)):
            ya, yb = y[face, a], y[face, b]
            crosses = (ya <= middle) != (yb <= middle)
            share = (middle - ya) / np.where(crosses, yb - ya, 1.0)
            at = x[face, a] + share * (x[face, b] - x[face, a])
            left = np.where(crosses, np.minimum(left, at), left)
            right = np.where(crosses, np.maximum(right, at), right)
        some = right > left
        left, right = np.where(some, left, 0.0), np.where(some, right, 0.0)
        begin = np.clip(np.ceil(left - 0.5), 0, self.w).astype(int)
        end = np.clip(np.ceil(right - 0.5), 0, self.w).astype(int)
        span, column = _spread(begin, end)
        face, row = face[span], row[span]
        slope, start = _planes(corners)
        near = (
            start[face]
            + slope[face, 0] * (column + 0.5)
            + slope[face, 1] * (row + 0.5)
            + 1e-3 * part[face]  # of what touches, that of the later part is seen
        )
        place = row * self.w + column
        if not len(place):
            return _Samples(place, near, face)
        low, high = float(near.min()), float(near.max())
        order = np.argsort(place + 0.999 * (high - near) / (high - low + 1.0))
        return _Samples(place[order], near[order], face[order])

    def seen(self, edges: Floats, part: Ints) -> list[tuple[int, Floats]]:
        """The stretches (2, 2) of edges that nothing hides, and the part of each."""
        if not len(edges):
            return []
        a, b = edges[:, 0], edges[:, 1]
        length = np.linalg.norm((b - a)[:, :2], axis=1)
        count = np.ceil(length / 2.5).astype(int)
        edge, k = _spread(np.zeros(len(edges), int), count)
        share = (k + 0.5) / count[edge]
        at = a[edge] + share[:, None] * (b - a)[edge]
        deepest = np.full(len(edge), np.inf)
        for dx in (-1.0, 0.0, 1.0):
            for dy in (-1.0, 0.0, 1.0):
                x = np.clip((at[:, 0] * self.fine + dx).astype(int), 0, self.w - 1)
                y = np.clip((at[:, 1] * self.fine + dy).astype(int), 0, self.h - 1)
                deepest = np.minimum(deepest, self.nearest[y * self.w + x])
        free = at[:, 2] >= deepest - 0.2
        begins = free & ~np.concatenate([[False], free[:-1] & (edge[1:] == edge[:-1])])
        ends = free & ~np.concatenate([free[1:] & (edge[1:] == edge[:-1]), [False]])
        first, last = np.flatnonzero(begins), np.flatnonzero(ends)
        of = edge[first]
        from_, to = k[first] / count[of], (k[last] + 1) / count[of]
        way = (b - a)[of, :2]
        starts, stops = a[of, :2] + from_[:, None] * way, a[of, :2] + to[:, None] * way
        lines = np.stack([starts, stops], axis=1)
        return list(zip(part[of].tolist(), lines, strict=True))


def _spread(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """For each k the whole numbers from begin[k] up to end[k]: the k's, and the numbers."""
    counts = np.maximum(end - begin, 0)
    of = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return of, np.arange(len(of)) - starts[of] + begin[of]


def _planes(corners: Floats) -> tuple[Floats, Floats]:
    """Nearness over the drawing: how it grows with x and y (k, 2), and what it is at 0, 0 (k,)."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = np.where(np.abs(area) > 1e-12, area, np.inf)
    gx = (u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1]) / area
    gy = (v[:, 2] * u[:, 0] - u[:, 2] * v[:, 0]) / area
    return np.stack([gx, gy], axis=1), a[:, 2] - gx * a[:, 0] - gy * a[:, 1]


# --- order ----------------------------------------------------------------------------------------


class _Pairs(NamedTuple):
    """Faces of which one lies in front of the other, at so many samples."""

    front: Ints
    behind: Ints
    samples: Ints

    def both_ways(self, labels: Ints, *, least: int) -> tuple[Ints, Ints]:
        """The labels that lie in front of each other, each pair once."""
        found = self.of(labels)
        n = int(labels.max(initial=0)) + 1
        code, back = found.front * n + found.behind, found.behind * n + found.front
        order = np.argsort(code)
        place = np.minimum(np.searchsorted(code[order], back), max(len(code) - 1, 0))
        counts = np.zeros(len(code), np.int64)
        if len(code):
            match = code[order][place] == back
            counts = np.where(match, found.samples[order][place], 0)
        bad = (np.minimum(found.samples, counts) >= least) & (found.front < found.behind)
        return found.front[bad], found.behind[bad]

    def of(self, labels: Ints) -> _Pairs:
        """The same of areas, by the label of each face."""
        a, b = labels[self.front], labels[self.behind]
        n = int(labels.max(initial=0)) + 1
        apart = a != b
        code, inverse = np.unique(a[apart] * n + b[apart], return_inverse=True)
        count = np.bincount(inverse, self.samples[apart], len(code)).astype(np.int64)
        return _Pairs(code // n, code % n, count)


def _pairs(samples: _Samples, visible: NDArray[np.bool_]) -> _Pairs:
    """The pairs of visible faces of which one lies in front of the other."""
    shown = visible[samples.face]
    place, near, face = (a[shown] for a in samples)
    over = (place[1:] == place[:-1]) & (near[:-1] - near[1:] > _TOUCHING)
    n = len(visible)
    both = (face[:-1][over] * n + face[1:][over]).astype(np.int64)
    code, count = np.unique(both, return_counts=True)
    return _Pairs(code // n, code % n, count)


def _divided(faces: _Faces, grid: _Grid) -> tuple[Floats, Ints, Floats, _Pairs]:
    """Visible faces; of two that cut through each other the smaller one is divided.

    Corners, parts and normals of the faces, and which lie in front of which.
    """
    corners, part = faces.corners, faces.part
    seen = grid.samples.visible(len(corners))
    pairs = _pairs(grid.samples, seen)
    cuts = _cuts(corners, pairs)
    slope, start = _planes(corners)
    pieces, source = list[Floats](), list[int]()
    for small, others in cuts.items():
        found = [corners[small]]
        for large in others[:_MOST_CUTS]:
            gx, gy = slope[large]
            found = [p for piece in found for p in _cut(piece, gx, gy, float(start[large]))]
        for piece in found:
            pieces += [piece[[0, k, k + 1]] for k in range(1, len(piece) - 1)]
            source += [small] * (len(piece) - 2)
    kept = seen.copy()
    kept[list(cuts)] = False
    index = np.concatenate([np.flatnonzero(kept), np.array(source, np.int64)])
    corners = np.concatenate([corners[kept], np.array(pieces).reshape(-1, 3, 3)])
    samples = grid.sampled(corners, part[index])
    visible = samples.visible(len(corners))
    pairs = _pairs(samples, visible)
    place = np.full(len(visible), -1)
    place[visible] = np.arange(int(visible.sum()))
    pairs = _Pairs(place[pairs.front], place[pairs.behind], pairs.samples)
    index = index[visible]
    return corners[visible], part[index], faces.normals[index], pairs


def _cuts(corners: Floats, pairs: _Pairs) -> dict[int, list[int]]:
    """For triangles that cut through others, the smaller of two, the planes to divide it by."""
    slope, start = _planes(corners)

    def crosses(a: Ints, b: Ints) -> NDArray[np.bool_]:
        xy = corners[a][:, :, :2]
        above = corners[a][:, :, 2] - start[b][:, None] - np.einsum("kci,ki->kc", xy, slope[b])
        return (above.min(axis=1) < -_TOUCHING) & (above.max(axis=1) > _TOUCHING)

    a, b = np.minimum(pairs.front, pairs.behind), np.maximum(pairs.front, pairs.behind)
    n = len(corners)
    code = np.unique(a * n + b)
    a, b = code // n, code % n
    both = crosses(a, b) & crosses(b, a)
    area = np.abs(_clockwise(corners))
    found: dict[int, list[int]] = defaultdict(list)
    for one, other in zip(a[both].tolist(), b[both].tolist(), strict=True):
        small, large = (one, other) if area[one] <= area[other] else (other, one)
        found[small].append(large)
    return found


def _cut(piece: Floats, gx: float, gy: float, start: float) -> list[Floats]:
    """A convex piece (n, 3) on both sides of the plane nearness = start + gx x + gy y."""
    above = piece[:, 2] - (start + gx * piece[:, 0] + gy * piece[:, 1])
    if (above >= -_TOUCHING).all() or (above <= _TOUCHING).all():
        return [piece]
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    for k, (here, point) in enumerate(zip(above.tolist(), piece, strict=True)):
        after, following = float(above[(k + 1) % len(piece)]), piece[(k + 1) % len(piece)]
        if here >= 0.0:
            sides[0].append(point)
        if here <= 0.0:
            sides[1].append(point)
        if here * after < 0.0:
            crossing = point + here / (here - after) * (following - point)
            sides[0].append(crossing)
            sides[1].append(crossing)
    return [np.array(side) for side in sides if len(side) > 2]


def _areas(triangles: Ints, colour: Ints) -> Ints:
    """A label for each triangle: that of the first of those of its colour that it hangs with."""
    start, end = _directed(triangles)
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * (int(high.max(initial=0)) + 1) + high
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    a, b = order[:-1][same] // 3, order[1:][same] // 3
    alike = colour[a] == colour[b]
    a, b = a[alike], b[alike]
    labels = np.arange(len(triangles))
    while True:
        least = np.minimum(labels[a], labels[b])
        before = labels.copy()
        np.minimum.at(labels, before[a], least)
        np.minimum.at(labels, before[b], least)
        while (labels[labels] != labels).any():
            labels = labels[labels]
        if (labels == before).all():
            return labels


def _consistent(labels: Ints, pairs: _Pairs) -> Ints:
    """Labels by which no two areas lie in front of each other: such are taken apart."""
    a, b = pairs.both_ways(labels, least=3)
    apart = np.zeros(len(labels), bool)
    apart[a] = apart[b] = True
    found = labels.copy()
    single = np.flatnonzero(apart[labels])
    found[single] = single
    return found


def _order(labels: Ints, pairs: _Pairs, near: Floats, colour: Sequence[str]) -> list[int]:
    """The areas such that each comes after those behind it; where that is a ring, by nearness."""
    own = np.unique(labels)
    sums = np.bincount(labels, near, len(labels))
    middle = (sums / np.maximum(np.bincount(labels, minlength=len(labels)), 1)).tolist()
    found = pairs.of(labels)
    weight: dict[tuple[int, int], int] = {}
    for a, b, count in zip(
        found.front.tolist(), found.behind.tolist(), found.samples.tolist(), strict=True
    ):
        weight[a, b] = count
    covers: dict[int, list[int]] = defaultdict(list)  # what lies directly in front
    waits: dict[int, int] = dict.fromkeys(own.tolist(), 0)
    for (a, b), count in weight.items():
        back = weight.get((b, a), 0)
        if count > back or (count == back and a < b):
            covers[b].append(a)
            waits[a] += 1
    ready = _Ready(middle, colour)
    for k in (k for k, n in waits.items() if not n):
        ready.push(k)
    rest = sorted(waits, key=lambda k: middle[k], reverse=True)
    done, order = set[int](), list[int]()
    while len(order) < len(waits):
        k = ready.pop()
        while k is None:  # a ring: the farthest begins
            k = rest.pop()
            k = None if k in done else k
        if k in done:
            continue
        done.add(k)
        order.append(k)
        for a in covers[k]:
            waits[a] -= 1
            if not waits[a] and a not in done:
                ready.push(a)
    return order


class _Ready:
    """Areas that may be drawn next: as many of one colour in turn as can be, then the farthest."""

    def __init__(self, near: Sequence[float], colour: Sequence[str]) -> None:
        self.near, self.colour = near, colour
        self.heaps: dict[str, list[tuple[float, int]]] = defaultdict(list)
        self.last = ""

    def push(self, k: int) -> None:
        heapq.heappush(self.heaps[self.colour[k]], (self.near[k], k))

    def pop(self) -> int | None:
        """The next area, None where there is none."""
        if not self.heaps.get(self.last):
            self.heaps = defaultdict(list, {name: h for name, h in self.heaps.items() if h})
            if not self.heaps:
                return None
            self.last = min(self.heaps, key=lambda name: self.heaps[name][0])
        return heapq.heappop(self.heaps[self.last])[1]


# --- outlines -------------------------------------------------------------------------------------


def _outlines(vertices: Floats, triangles: Ints, labels: Ints) -> dict[int, tuple[Floats, ...]]:
    """The closed lines (n, 2) around each area, by its label."""
    first, second = _directed(triangles)
    low, high = np.minimum(first, second), np.maximum(first, second)
    n = len(vertices)
    key, inverse = np.unique((np.repeat(labels, 3) * n + low) * n + high, return_inverse=True)
    # what is gone along both ways as often is inside; so each line comes back to its beginning
    ways = np.bincount(inverse, np.where(first == low, 1, -1), len(key)).astype(np.int64)
    key, ways = np.repeat(key, np.abs(ways)), np.repeat(ways, np.abs(ways))
    label: list[int] = (key // n // n).tolist()
    low, high = key // n % n, key % n
    start: list[int] = np.where(ways > 0, low, high).tolist()
    end: list[int] = np.where(ways > 0, high, low).tolist()
    flat = vertices[:, :2]
    found: dict[int, tuple[Floats, ...]] = {}
    begins = [k for k in range(len(label)) if not k or label[k] != label[k - 1]]
    for k, last in pairwise([*begins, len(label)]):
        lines = [_smooth(flat[ring]) for ring in _rings(start[k:last], end[k:last])]
        lines = [line for line in lines if len(line) > 2]
        if lines:
            found[label[k]] = tuple(lines)
    return found


def _rings(start: list[int], end: list[int]) -> list[list[int]]:
    """Edges joined to rings of vertices."""
    after: dict[int, list[int]] = defaultdict(list)
    for a, b in zip(start, end, strict=True):
        after[a].append(b)
    rings: list[list[int]] = []
    for first in start:
        while after[first]:
            ring, here = [first], after[first].pop()
            while here != first and after[here]:
                ring.append(here)
                here = after[here].pop()
            rings.append(ring)
    return rings


def _smooth(ring: Floats) -> Floats:
    """A closed line without the points that lie on a straight between their neighbours."""
    for _ in range(3):
        if len(ring) < 4:
            return ring
        before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
        chord = np.linalg.norm(before + after, axis=1)
        off = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        straight = off < 0.1 * np.maximum(chord, 1e-9)
        straight[1:] &= ~straight[:-1]  # never two neighbours at once
        straight[0] &= not straight[-1]
        if not straight.any():
            return ring
        ring = ring[~straight]
    return ring


def _chained(pieces: Sequence[tuple[int, Floats]]) -> list[tuple[int, Floats]]:
    """Stretches (2, 2) of the same part joined to lines (n, 2) where their ends meet."""
    at: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    keys: list[tuple[tuple[int, int, int], tuple[int, int, int]]] = []
    for k, (part, line) in enumerate(pieces):
        (ax, ay), (bx, by) = np.rint(10.0 * line).astype(int).tolist()
        keys.append(((part, ax, ay), (part, bx, by)))
        for key in keys[-1]:
            at[key].append(k)
    used = [False] * len(pieces)
    found: list[tuple[int, Floats]] = []
    for k, (part, _) in enumerate(pieces):
        if used[k] or keys[k][0] == keys[k][1]:
            continue
        used[k] = True
        line = list(keys[k])
        for forward in (True, False):
            if not forward:
                line.reverse()
            while True:
                following = [e for e in at[line[-1]] if not used[e]]
                if len(following) != 1:
                    break
                used[following[0]] = True
                a, b = keys[following[0]]
                line.append(b if a == line[-1] else a)
        found.append((part, np.array([[x, y] for _, x, y in line]) / 10.0))
    return found
