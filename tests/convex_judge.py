"""A judge of convex solids that has nothing in common with the library's: proofs, many at a time.

Two convex solids are apart where a plane parts them, and touch where a point of both is known. Each
answer here is such a proof, computed from the vertices themselves: a direction along which the
least of one is beyond the most of the other, or weights of vertices whose points coincide. Where
they are looked for (Gilbert, Johnson and Keerthi's descent, over thousands of states at once in
NumPy) does not matter to what they prove. The poses of links are the caller's, of another engine.

Source: E. Gilbert, D. Johnson, S. Keerthi, "A fast procedure for computing the distance between
complex objects in three-dimensional space", IEEE Journal of Robotics and Automation 4, 1988.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

Floats = Any

TOLERANCE = 1e-6
"""Metres by which what is called free may overlap, and what is called a hit be apart."""
_ROUNDS = 100
_ENTRIES = 20_000_000
FREE, HIT, OPEN = 0, 1, 2


class Convex:
    """All points within ``radius`` of the hull of points, or of an ellipse or a disc's roller."""

    def __init__(self, T: Floats, *, vertices: Floats = None, sizes: Any = None, kind: str = "",
                 radius: float = 0.0) -> None:  # fmt: skip
        self.R, self.p, self.radius = T[:3, :3], T[:3, 3], radius
        self.kind, self.sizes = kind, sizes
        if vertices is not None:
            self.vertices = np.asarray(vertices, float) @ self.R.T + self.p
            low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
            self.centre = (low + high) / 2
            self.reach = float(np.linalg.norm(self.vertices - self.centre, axis=1).max()) + radius
        else:
            self.vertices, self.centre = None, self.p
            a, b, c = sizes
            self.reach = float(np.hypot(a, b) if kind == "cylinder" else max(a, b, c))

    def support(self, d: Floats) -> Floats:
        """The points (n, 3) that are farthest along directions (n, 3), without the radius."""
        if self.vertices is not None:
            found = np.empty(len(d), np.int64)
            step = max(1, _ENTRIES // len(self.vertices))
            for k in range(0, len(d), step):
                found[k : k + step] = (d[k : k + step] @ self.vertices.T).argmax(axis=1)
            return self.vertices[found]
        local = d @ self.R
        if self.kind == "cylinder":
            r, half, _ = self.sizes
            across = np.maximum(np.hypot(local[:, 0], local[:, 1]), 1e-300)[:, None]
            ends = np.where(local[:, 2:] >= 0, half, -half)
            at = np.concatenate([r * local[:, :2] / across, ends], axis=1)
        else:  # an ellipsoid
            scaled = local * self.sizes
            length = np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-300)
            at = self.sizes * scaled / length
        return at @ self.R.T + self.p


def convex_of(piece: Any) -> Convex:
    """A piece of a collision model, read as data."""
    kind, sizes, T, r = piece.kind_name, piece.sizes, piece.T_body_piece, piece.radius
    if kind in ("cylinder", "ellipsoid"):
        return Convex(T, sizes=sizes, kind=kind)
    if kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return Convex(T, vertices=signs * sizes)
    if kind == "hull":
        return Convex(T, vertices=piece.vertices)
    if kind in ("sphere", "capsule"):
        ends = {0.0, float(sizes[1]), -float(sizes[1])} if kind == "capsule" else {0.0}
        return Convex(T, vertices=[[0, 0, z] for z in sorted(ends)], radius=r)
    raise ValueError(f"no judge of a {kind}")


def _least(Y: Floats) -> tuple[Floats, Floats]:
    """The point (n, 3) nearest to the origin of simplices (n, 4, 3), and its weights (n, 4).

    Every face that has the last corner is tried: where the foot of the origin lies in it, it is a
    point of the simplex, and the nearest of these is the nearest of all.
    """
    n = len(Y)
    best, weights = Y[:, 3].copy(), np.zeros((n, 4))
    weights[:, 3] = 1
    least = np.einsum("ni,ni->n", best, best)

    def take(corners: tuple[int, ...], parts: Floats) -> None:
        whole = np.concatenate([parts, 1 - parts.sum(axis=1, keepdims=True)], axis=1)
        point = np.einsum("nk,nki->ni", whole, Y[:, corners])
        square = np.einsum("ni,ni->n", point, point)
        good = np.isfinite(square) & (whole >= 0).all(axis=1) & (square < least)
        best[good], least[good] = point[good], square[good]
        weights[good] = 0
        rows = np.flatnonzero(good)
        for column, corner in enumerate(corners):
            weights[rows, corner] = whole[rows, column]

    last = Y[:, 3]
    e = Y[:, :3] - last[:, None]
    G, g = np.einsum("nki,nli->nkl", e, e), -np.einsum("nki,ni->nk", e, last)
    with np.errstate(all="ignore"):
        for k in range(3):
            take((k, 3), (g[:, k] / G[:, k, k])[:, None])
        for k, j in combinations(range(3), 2):
            det = G[:, k, k] * G[:, j, j] - G[:, k, j] ** 2
            u = (g[:, k] * G[:, j, j] - g[:, j] * G[:, k, j]) / det
            v = (g[:, j] * G[:, k, k] - g[:, k] * G[:, k, j]) / det
            take((k, j, 3), np.stack([u, v], axis=1))
        across = np.cross(e[:, [1, 2, 0]], e[:, [2, 0, 1]])
        det = np.einsum("ni,ni->n", e[:, 0], across[:, 0])
        take((0, 1, 2, 3), -np.einsum("nki,ni->nk", across, last) / det[:, None])
    return best, weights


def judged(a: Convex, b: Convex, R: Floats, p: Floats, *, claim: int) -> Floats:
    """`FREE`, `HIT` or `OPEN` (n,) of a, and b moved by R (n, 3, 3) and p (n, 3).

    The ``claim``, `FREE` or `HIT`, is what is to be proven: what is as near to both as the
    tolerance is given it.
    """
    n, radius = len(R), a.radius + b.radius
    touching = radius + TOLERANCE if claim == HIT else max(radius - TOLERANCE, 1e-12)
    parted = TOLERANCE if claim == HIT else -TOLERANCE
    answer = np.full(n, OPEN)

    def difference(d: Floats, rows: Floats) -> Floats:
        """The points of b - a that are farthest along d."""
        own = np.einsum("nij,ni->nj", R[rows], d)
        moved = np.einsum("nij,nj->ni", R[rows], b.support(own)) + p[rows]
        return moved - a.support(-d)

    rows = np.arange(n)
    start = np.einsum("nij,j->ni", R, b.centre) + p - a.centre
    start[np.linalg.norm(start, axis=1) < 1e-12] = (1.0, 0.0, 0.0)
    v = difference(-start, rows)
    Y = np.repeat(v[:, None], 4, axis=1)
    for _ in range(_ROUNDS):
        length = np.linalg.norm(v, axis=1)
        hit = length <= touching
        answer[rows[hit]] = HIT
        rows, Y, v, length = rows[~hit], Y[~hit], v[~hit], length[~hit]
        if not len(rows):
            break
        way = v / length[:, None]
        w = difference(-way, rows)
        gap = np.einsum("ni,ni->n", w, way) - radius  # no point of b - a is nearer along the way
        free = gap >= parted
        answer[rows[free]] = FREE
        rows, Y, v, w = rows[~free], Y[~free], v[~free], w[~free]
        if not len(rows):
            break
        # the new corner takes the place of one without weight; it stands last
        Y = np.concatenate([Y[:, :3], w[:, None]], axis=1)
        v, weights = _least(Y)
        order = np.argsort(-weights, axis=1, kind="stable")
        Y = np.take_along_axis(Y, order[:, :, None], axis=1)
        spare = np.take_along_axis(weights, order, axis=1) == 0
        Y = np.where(spare[:, :, None], Y[:, :1], Y)
    return answer
