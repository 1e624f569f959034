"""Convex pieces of meshes, and how far they differ from the mesh.

A convex mesh is its hull. Another one is split into the hulls of its connected parts or, where
asked for, decomposed by CoACD (the extra ``collision``); pieces then hold the whole surface of the
mesh, and what they hold beyond it is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from linkwork import extras
from linkwork.checks import finite_rows
from linkwork.collision.cells import bisected, edge_lengths
from linkwork.collision.pieces import (
    Floats,
    Ints,
    Piece,
    hull_piece,
    hull_planes,
    rooms,
    solid_piece,
)
from linkwork.errors import InputError
from linkwork.mechanism.shapes import Triangles

Decompose = Literal["components", "coacd", "hull"]

_PLANES = 24
"""Planes of a hull that each face of a mesh is held against."""

_FARTHEST = 1e70
"""Metres that a mesh may be large, at most: hulls reckon with the fourth power of it."""

_CUBES = 60_000
"""Cubes of the grid that tells outside from inside."""


@dataclass(frozen=True, eq=False, slots=True)
class MeshPieces:
    """The convex pieces of a mesh.

    ``outside`` (m) is a bound on how far a point of a piece may lie from the mesh, outside of it,
    and ``missing`` (m) on how deep a point of its surface may lie outside of all pieces: 0, as
    pieces are hulls of it. ``made_by`` is "convex" (the mesh is its hull), "hull", "components" or
    "coacd".
    """

    pieces: tuple[Piece, ...]
    outside: float
    missing: float
    made_by: str


def convex_pieces(
    vertices: ArrayLike,
    faces: ArrayLike = (),
    *,
    T_body_mesh: Floats | None = None,
    decompose: Decompose = "components",
    tolerance: float = 1e-3,
) -> MeshPieces:
    """The convex pieces of a mesh of vertices (n, 3) m and faces (k, 3); without faces, the hull.

    The hull is the one piece of a mesh that it overhangs by at most ``tolerance`` (m), and of each
    with ``decompose="hull"``. "components" takes the hull of each connected part, "coacd"
    decomposes what still overhangs, in seconds to minutes. Which way faces are turned does not
    matter.

    Raises: InputError for a mesh without vertices, numbers that are not finite or beyond 1e70, and
    faces whose vertices do not exist; MissingExtraError where SciPy, or CoACD when asked for, is
    not installed.
    """
    _check(decompose)
    T = np.eye(4) if T_body_mesh is None else T_body_mesh
    points, triangles = _mesh(vertices, faces)
    whole = hull_piece(points, T)
    bulge = _bulge(points, triangles, whole) if len(triangles) else 0.0
    if bulge <= tolerance:
        return MeshPieces((whole,), bulge, 0.0, "convex")
    if len(points) == 1:
        return MeshPieces((whole,), 0.0, 0.0, "convex")
    surface = _Surface(points, triangles)
    outside = min(bulge, surface.overhang([whole]))
    if decompose == "hull" or outside <= tolerance:
        return MeshPieces((whole,), outside, 0.0, "hull")
    parts = _components(points, triangles)
    own = [np.unique(part, return_inverse=True) for part in parts]
    hulls = [hull_piece(points[used], T) for used, _ in own]
    pieces = _without_held(hulls)
    made_by = "components" if len(parts) > 1 else "hull"
    if len(parts) > 1:  # no hull reaches farther out of the mesh than out of its own part
        bulge = max(
            _bulge(points[used], number.reshape(-1, 3), hull)
            for (used, number), hull in zip(own, hulls, strict=True)
        )
        outside = bulge if bulge <= tolerance else min(bulge, surface.overhang(pieces))
    if decompose == "coacd" and outside > tolerance:
        split = [_decomposed(points, part, T, tolerance) for part in parts]
        pieces = _without_held([piece for found in split for piece in found])
        outside, made_by = surface.overhang(pieces), "coacd"
    return MeshPieces(tuple(pieces), outside, 0.0, made_by)


def _check(decompose: Any) -> None:
    if decompose not in get_args(Decompose):
        known = ", ".join(map(repr, get_args(Decompose)))
        raise InputError(f"decompose is one of {known}, not {decompose!r:.60}")


def _mesh(vertices: ArrayLike, faces: ArrayLike) -> tuple[Floats, Ints]:
    """The vertices and faces of a mesh, equal vertices once, those without a face left out."""
    points = finite_rows(vertices, "vertices of a mesh", 3).reshape(-1, 3)
    triangles = np.asarray(faces)
    if not len(points):
        raise InputError("a mesh without vertices has no collision shape; leave the shape out")
    if not np.abs(points).max() <= _FARTHEST:
        raise InputError(
            f"a vertex of a mesh is {np.abs(points).max():g} m away, and at most {_FARTHEST:g} m "
            "can be reckoned with"
        )
    if not triangles.size:
        return np.unique(points, axis=0), np.zeros((0, 3), np.int64)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise InputError(f"faces of shape (k, 3), whole numbers, are needed, not {triangles.shape}")
    if triangles.min() < 0 or triangles.max() >= len(points):
        worst = triangles.min() if triangles.min() < 0 else triangles.max()
        raise InputError(f"a face has vertex {worst}, and there are {len(points)}")
    used = points[triangles.ravel()]
    unique, number = np.unique(used, axis=0, return_inverse=True)
    return unique, number.reshape(-1, 3).astype(np.int64)


def _bulge(points: Floats, triangles: Ints, hull: Piece) -> float:
    """A bound on the overhang of the hull of a closed mesh, by its faces; infinite where unknown.

    Each face is at most a depth d under one plane of the hull: one of those that a ray from the
    centre through its middle meets first. What lies deeper than d is then on
    one side of the mesh, inside by the winding number of the centre. From any other point of the
    hull the way to the centre, whose depth is D and which is R away at most, has the depth d after
    R d / D, so it has met the mesh.
    """
    planes = hull_planes(*_hull_arrays(hull))
    corners = points[triangles]
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    closed = (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    centre = points.mean(axis=0)
    if not len(planes) or not closed or abs(_winding(corners, centre)) < 0.5:
        return np.inf
    heights = planes[:, 3] - planes[:, :3] @ centre
    under, deepest = 0.0, float(heights.min())
    met = _first_met(planes[:, :3] / heights[:, None])
    step = max(1, 2_000_000 // min(len(planes), _PLANES))
    for start in range(0, len(triangles), step):
        own = corners[start : start + step]
        part = planes[met(own.mean(axis=1) - centre)]  # (k, planes, 4)
        depth = part[:, None, :, 3] - np.einsum("kcx,kpx->kcp", own, part[:, :, :3])
        under = max(under, float(depth.max(axis=1).min(axis=1).max()))
    reach = np.linalg.norm(points - centre, axis=1).max()
    return float(under * reach / deepest)


def _first_met(duals: Floats) -> Callable[[Floats], Ints]:
    """A function of rays (k, 3) from the origin: the planes (k, `_PLANES`) that each meets first.

    A plane n x = h meets the ray along u at h / (n u): the first ones have the largest products of
    u and their ``duals`` n / h, which a tree finds as the nearest where all are made equally long.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415  hulls have SciPy loaded

    squares = np.square(duals).sum(axis=1)
    longest = float(np.sqrt(squares.max()))
    more = np.sqrt(np.maximum(longest**2 - squares, 0.0))
    tree: Any = KDTree(np.column_stack([duals, more]))

    def met(rays: Floats) -> Ints:
        length = np.linalg.norm(rays, axis=1, keepdims=True)
        ends = rays * (longest / np.where(length > 0.0, length, 1.0))
        found = tree.query(np.column_stack([ends, np.zeros(len(ends))]), min(len(duals), _PLANES))
        return found[1].reshape(len(rays), -1)

    return met


def _winding(corners: Floats, point: Floats) -> float:
    """The number of times that triangles (k, 3, 3) go around a point: 1 or -1 in a closed mesh.

    Source: A. Van Oosterom and J. Strackee, "The solid angle of a plane triangle", IEEE
    Transactions on Biomedical Engineering 30, 1983.
    """
    a, b, c = (corners[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    ab, bc, ca = ((x * y).sum(axis=1) for x, y in ((a, b), (b, c), (c, a)))
    volume = (a * np.cross(b, c)).sum(axis=1)
    angles = np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
    return float(angles.sum() / (2 * np.pi))


def _components(points: Floats, triangles: Ints) -> list[Ints]:
    """The faces of each connected part of a mesh."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415  hulls have SciPy loaded
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    first, second = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    shape = (len(points), len(points))
    links = coo_matrix((np.ones(len(first), bool), (first, second)), shape)
    count, part = connected_components(links, directed=False)
    return [triangles[part[triangles[:, 0]] == k] for k in range(count)]


def _without_held(pieces: list[Piece]) -> list[Piece]:
    """The pieces that lie in no other one, larger ones first."""
    if len(pieces) == 1:
        return pieces
    clouds = [piece.vertices for piece in pieces if piece.vertices is not None]
    sizes = np.array([np.ptp(cloud, axis=0).prod() for cloud in clouds])
    kept: list[Piece] = []
    halves: list[Floats] = []
    for k in (-sizes).argsort(kind="stable"):
        cloud, piece = clouds[k], pieces[k]
        if any(rooms(own, cloud).min() >= -1e-12 for own in halves):
            continue
        kept.append(piece)
        if piece.faces is not None and len(own := hull_planes(cloud, piece.faces)):
            halves.append(own)
    return kept


# --- decomposition --------------------------------------------------------------------------------


def _decomposed(points: Floats, triangles: Ints, T: Floats, tolerance: float) -> list[Piece]:
    """The hulls that CoACD finds of one connected part, made to hold all of its surface.

    CoACD repairs a mesh before it cuts it, and so loses a little: each triangle that no piece holds
    is added to the piece that it stands out of least, cut small where that is much.
    """
    with extras.needed("decompose='coacd' needs", "coacd", "collision"):
        import coacd  # noqa: PLC0415  only who decomposes needs it
    used, number = np.unique(triangles, return_inverse=True)
    own = points[used]
    if len(own) < 4 or not len(hull_planes(*_hull_arrays(hull_piece(own, T)))):
        return [hull_piece(own, T)]
    coacd.set_log_level("error")
    mesh = coacd.Mesh(own, number.reshape(-1, 3).astype(np.int32))
    threshold = max(float(tolerance), 1e-6)
    found = coacd.run_coacd(mesh, threshold=threshold, real_metric=True, seed=0)
    clouds = [np.asarray(part[0], np.float64) for part in found if len(part[0])]
    return _holding(clouds or [own], points[triangles], T)


def _holding(clouds: list[Floats], corners: Floats, T: Floats) -> list[Piece]:
    """The hulls of clouds (n, 3), grown so that each of the triangles (k, 3, 3) lies in one."""
    size = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
    cells = corners[:, [0, 0, 1, 2]]
    planes = [hull_planes(*_hull_arrays(hull_piece(cloud, T))) for cloud in clouds]
    added: list[list[Floats]] = [[] for _ in clouds]
    while len(cells):
        beyond = np.stack([_beyond(own, cells) for own in planes])  # (pieces, cells)
        best, least = beyond.argmin(axis=0), beyond.min(axis=0)
        cells, best, least = cells[least > 0], best[least > 0], least[least > 0]
        large = edge_lengths(cells).max(axis=1, initial=0.0) > np.maximum(2 * least, 0.01 * size)
        for cell, k in zip(cells[~large], best[~large], strict=True):
            added[k].append(cell)
        cells = bisected(cells[large])
    grown = [np.concatenate([cloud, *more]) for cloud, more in zip(clouds, added, strict=True)]
    return [hull_piece(cloud, T) for cloud in grown]


def _beyond(planes: Floats, cells: Floats) -> Floats:
    """The overhang of cells (n, 4, 3), each, beyond the planes of a hull; infinite for none."""
    if not len(planes):
        return np.full(len(cells), np.inf)
    return -rooms(planes, cells.reshape(-1, 3)).reshape(-1, 4).min(axis=1)


def _hull_arrays(piece: Piece) -> tuple[Floats, Ints]:
    if piece.vertices is None or piece.faces is None:
        raise ValueError("a hull has vertices and faces")
    return piece.vertices, piece.faces


# --- how far pieces reach out of the mesh ---------------------------------------------------------


class _Surface:
    """The surface of a mesh in a grid of cubes, and how far points lie outside of it.

    What is reached from afar through cubes that the surface does not touch is outside. So meshes
    may be turned inside out or have small holes, and what nothing larger than a cube of the grid
    can enter is inside.
    """

    def __init__(self, points: Floats, triangles: Ints) -> None:
        from scipy import ndimage  # noqa: PLC0415  hulls have SciPy loaded

        span = np.ptp(points, axis=0)
        volume = float(np.maximum(span, 0.02 * span.max()).prod())
        self.edge = (volume / _CUBES) ** (1 / 3)
        # Samples are half as far apart as cubes, so no surface passes between the centres of two
        # neighbours without a sample in one of them.
        samples = _sampled(points[triangles], self.edge / 2)
        self.low = points.min(axis=0) - 2.5 * self.edge
        shape = np.ceil((points.max(axis=0) - self.low) / self.edge).astype(int) + 3
        touched = np.zeros(shape, bool)
        touched[self._cubes(samples)] = True
        labelled: Any = ndimage.label(~touched)
        label = labelled[0]
        away: Any = ndimage.distance_transform_edt(~touched, sampling=self.edge)
        self.away = np.where(touched | (label == label[0, 0, 0]), away, 0.0)
        """From the centre of each cube outside to that of one which the surface touches (m)."""

    def _cubes(self, points: Floats) -> tuple[Ints, ...]:
        return tuple(((points - self.low) / self.edge).astype(np.int64).T)

    def overhang(self, pieces: list[Piece]) -> float:
        """A bound (m) on how far points of pieces lie outside of the mesh.

        A point is half a diagonal from the centre of its cube at most, and so is the surface in the
        cube that it touches: the bound is at least a diagonal.
        """
        found = 0.0
        for piece in pieces:
            vertices, faces = _hull_arrays(piece)
            planes = hull_planes(vertices, faces)
            if not len(planes):
                corners = vertices[faces] if len(faces) else vertices[[0, 0, -1]][None]
                on = self.away[self._cubes(_sampled(corners, self.edge / 2))]
                found = max(found, float(on.max()))
                continue
            farther = np.argwhere(self.away > found)
            # of most cubes, the faces that look most along the axes tell already
            ends = np.concatenate([planes[:, :3].argmax(axis=0), planes[:, :3].argmin(axis=0)])
            apart = planes[ends, :3] @ (self.low + (farther + 0.5) * self.edge).T
            farther = farther[(planes[ends, 3:] - apart).min(axis=0) >= -self.edge]
            order = self.away[tuple(farther.T)].argsort(kind="stable")[::-1]
            for start in range(0, len(order), 4096):
                cubes = farther[order[start : start + 4096]]
                centres = self.low + (cubes + 0.5) * self.edge
                near = cubes[rooms(planes, centres) >= -self.edge]  # more than half a diagonal
                if len(near):
                    found = float(self.away[tuple(near.T)].max())
                    break
        return found + self.edge * np.sqrt(3)


def _sampled(corners: Floats, spacing: float) -> Floats:
    """Points of triangles (k, 3, 3), less than 0.75 ``spacing`` from each of their points.

    They lie in rows along the longest side, ``spacing`` apart at most. Slivers have few rows.
    """
    sides = np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2)
    first = sides.argmax(axis=1)
    corners = corners[np.arange(len(first))[:, None], (first[:, None] + [0, 1, 2]) % 3]
    length = sides.max(axis=1)
    edges = corners[:, 1:] - corners[:, :1]
    doubled = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    height = doubled / np.where(length > 0, length, 1.0)
    cuts = np.maximum(np.ceil(length / spacing), 1)
    rows = np.exp2(np.ceil(np.log2(np.maximum(2 * height / spacing, 1))))  # few different ones
    points: list[Floats] = []
    alike = np.column_stack([cuts, np.minimum(rows, cuts)]).astype(np.int64)
    kinds, number = np.unique(alike, axis=0, return_inverse=True)
    for k, (n, m) in enumerate(kinds.tolist()):
        points.append((_rows(n, m) @ corners[number.ravel() == k]).reshape(-1, 3))
    return np.concatenate(points)


def _rows(n: int, m: int) -> Floats:
    """Weights (k, 3) of a triangle's corners, for points in rows 0 to m; row 0 has n parts."""
    parts = -(-n * np.arange(m, -1, -1) // m)
    up = np.repeat(np.arange(m + 1) / m, parts + 1)
    first = np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)
    share = (np.arange(len(up)) - first) / np.repeat(np.maximum(parts, 1), parts + 1)
    along = share * (1 - up)
    return np.column_stack([1 - up - along, along, up])


def pieces_of_shape(
    shape: Any, T_body_shape: Floats, decompose: Decompose = "components"
) -> tuple[list[Piece], float]:
    """The convex pieces of one shape in a body, and how far they reach out of it (m).

    Raises: as `convex_pieces` and `pieces.solid_piece`.
    """
    if isinstance(shape, Triangles) and len(shape.faces):
        made = convex_pieces(
            shape.vertices, shape.faces, T_body_mesh=T_body_shape, decompose=decompose
        )
        return list(made.pieces), made.outside
    _check(decompose)
    return [solid_piece(shape, T_body_shape)], 0.0
