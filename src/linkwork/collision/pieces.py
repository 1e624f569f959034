"""Convex pieces that collision shapes are made of, and the table of numbers that kernels read.

A piece is a sphere, capsule, box, cylinder, ellipsoid, convex hull or half-space with its pose in
the body's frame. Hulls are computed by SciPy (qhull), of the extra ``meshes``; robots made of
solids alone need no more than NumPy. `linkwork.collision.mesh_pieces` makes pieces of meshes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import extras
from linkwork.checks import finite_number, finite_rows
from linkwork.compile.numpy_abi import aligned
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.formats.urdf.records import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.shapes import Ellipsoid, HalfSpace, Shape, Triangles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINT: Final = 0
SEGMENT: Final = 1
BOX: Final = 2
CYLINDER: Final = 3
ELLIPSOID: Final = 4
HULL: Final = 5
HALF_SPACE: Final = 6
KIND_NAMES: Final = ("sphere", "capsule", "box", "cylinder", "ellipsoid", "hull", "half-space")

PIECE: Final = 24
"""Numbers of a piece in its table."""

_LANES = 8
_FLAT = 1e-10
"""Points whose thickness is below this part of their extent lie in a plane, a line or a point."""

_ENCLOSING_ROUNDS = 100
_BLOCK = 50_000
_FEW = 256


GRID = 4
N_PLANES = 48
OUTER = 4 * N_PLANES + 8
"""Cells along each edge of the cube of directions, for hulls of many vertices."""

FEW_VERTICES = 24
"""Vertices of a hull of which all are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """A convex solid in a body: all points within ``radius`` of its core, lengths in metre.

    ``sizes`` (3,) are half edges of a box, radius, half length and 0 of a cylinder, half axes of an
    ellipsoid, 0, half length and 0 of a capsule. Axes are z. A hull has ``vertices`` (n, 3) and
    ``faces`` (k, 3), normals outward; a flat one has faces of one side, one of fewer than three
    vertices none. ``lookup``, for kernels, of a hull of many vertices, and ``sphere`` (4,), around
    the piece in the body's frame, are those of `prepared`.
    """

    kind: int
    radius: float
    sizes: Floats
    vertices: Floats | None
    faces: Ints | None
    T_body_piece: Floats
    lookup: Floats | None = None
    sphere: Floats | None = None

    @property
    def kind_name(self) -> str:
        """The name of the kind, as messages say it."""
        return KIND_NAMES[self.kind]


def solid_piece(shape: Shape, T_body_piece: Floats) -> Piece:
    """The piece of a shape that is convex by itself; `Triangles` must be without faces.

    Raises: InputError for sizes below 0 or not finite; UnsupportedFeatureError for meshes.
    """
    if isinstance(shape, Triangles) and not len(shape.faces):
        return hull_piece(shape.vertices, T_body_piece)
    if isinstance(shape, HalfSpace):
        return _piece(HALF_SPACE, 0.0, (0, 0, 0), T_body_piece)
    if isinstance(shape, Sphere):
        return _piece(POINT, _size(shape.radius, "a sphere's radius"), (0, 0, 0), T_body_piece)
    if isinstance(shape, (Box, Ellipsoid)):
        if isinstance(shape, Box):
            kind, sizes = BOX, [_size(edge, "a box's edge") / 2 for edge in shape.size]
        else:
            kind, sizes = (
                ELLIPSOID,
                [_size(half, "an ellipsoid's half axis") for half in shape.radii],
            )
        return _piece(kind, 0.0, sizes, T_body_piece)
    if isinstance(shape, (Cylinder, Capsule)):
        name = type(shape).__name__.lower()
        radius = _size(shape.radius, f"a {name}'s radius")
        half = _size(shape.length, f"a {name}'s length") / 2
        if isinstance(shape, Cylinder):
            return _piece(CYLINDER, 0.0, (radius, half, 0), T_body_piece)
        return _piece(SEGMENT if half > 0 else POINT, radius, (0, half, 0), T_body_piece)
    raise UnsupportedFeatureError(
        f"a {type(shape).__name__} is no convex solid by itself; read the mesh and take its pieces"
    )


def hull_piece(points: ArrayLike, T_body_piece: Floats) -> Piece:
    """The piece that is the convex hull of points (n, 3) m; flat sets, segments and points too.

    Raises: as `hull_of`.
    """
    vertices, faces = hull_of(points)
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return replace(_piece(HULL, 0.0, (0, 0, 0), T_body_piece), vertices=vertices, faces=faces)


def _piece(kind: int, radius: float, sizes: Sequence[float], T: Floats) -> Piece:
    half_axes = np.array(sizes, np.float64)
    half_axes.setflags(write=False)
    pose = np.array(T, np.float64)
    pose.setflags(write=False)
    return Piece(kind, radius, half_axes, None, None, pose)


def _size(value: Any, name: str) -> float:
    return finite_number(value, name, least=0.0)


# --- hulls ----------------------------------------------------------------------------------------


def hull_of(points: ArrayLike) -> tuple[Floats, Ints]:
    """The convex hull of points (n, 3): its vertices, and its faces with normals outward.

    Points in a plane make a flat polygon with triangles on one side, points in a line the two
    ends, one point itself; the latter two have no faces.

    Raises: InputError for no points and numbers that are not finite; MissingExtraError without
    SciPy.
    """
    given = finite_rows(points, "points of a hull", 3).reshape(-1, 3)
    if not len(given):
        raise InputError("a hull of no points; a mesh needs at least one vertex")
    unique = np.unique(given, axis=0)
    centred = unique - unique.mean(axis=0)
    extent = float(np.abs(centred).max())
    _, spread, axes = np.linalg.svd(centred / (extent or 1.0), full_matrices=False)
    thick = int((spread > _FLAT * spread[0]).sum()) if extent > 0 else 0
    if thick == 3:
        solid = _solid_hull(unique)
        if solid is not None:
            return solid
    if thick >= 2:
        return _flat_hull(unique, centred @ axes[:2].T)
    along = centred @ axes[0]
    ends = sorted({int(along.argmin()), int(along.argmax())})
    return unique[ends], np.zeros((0, 3), np.int64)


def _solid_hull(points: Floats) -> tuple[Floats, Ints] | None:
    """The hull of points that are not flat, or None where qhull finds them so."""
    spatial = _scipy_spatial()
    try:
        hull = spatial.ConvexHull(points)
    except spatial.QhullError:
        return None
    faces = _renumbered(hull.simplices, hull.vertices)
    vertices = points[hull.vertices]
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = np.einsum("nj,nj->n", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def _flat_hull(points: Floats, flat: Floats) -> tuple[Floats, Ints]:
    """The polygon around points, whose places in their plane are ``flat`` (n, 2)."""
    spatial = _scipy_spatial()
    ring = spatial.ConvexHull(flat).vertices
    fan = np.arange(1, len(ring) - 1)
    return points[ring], np.column_stack([0 * fan, fan, fan + 1]).astype(np.int64)


def _renumbered(faces: Any, kept: Any) -> Ints:
    number = np.zeros(int(np.max(kept)) + 1, np.int64)
    number[kept] = np.arange(len(kept))
    return number[faces]


def _scipy_spatial() -> Any:
    with extras.needed("collision shapes made of meshes need", "scipy", "meshes"):
        from scipy import spatial  # noqa: PLC0415  only who makes hulls needs it
    return spatial


def hull_planes(vertices: Floats, faces: Ints) -> Floats:
    """The planes (n, 4) of a hull's faces: outward unit normals and offsets, equal ones once.

    A point x lies in the hull where normal x <= offset for all. A flat hull has none.
    """
    if not len(faces):
        return np.zeros((0, 4))
    centre = vertices.mean(axis=0)
    local = vertices - centre
    extent = float(np.abs(local).max())
    a, b, c = (local[faces[:, k]] for k in range(3))
    normals = np.cross((b - a) / extent, (c - a) / extent)
    length = np.linalg.norm(normals, axis=1)
    sound = length > 1e-12  # what is thinner is rounding, and its neighbours stand for it
    normals = normals[sound] / length[sound, None]
    _, first = np.unique(normals.round(9), axis=0, return_index=True)
    normals = normals[np.sort(first)]
    offsets = -rooms(np.column_stack([local, np.zeros(len(local))]), normals)
    if not len(normals) or offsets.min() <= 1e-12 * extent:
        return np.zeros((0, 4))
    return np.column_stack([normals, offsets + normals @ centre])


def rooms(planes: Floats, points: Floats) -> Floats:
    """The depths of points (n, 3) in all of the half-spaces (m, 4), at least; below 0 outside.

    In blocks that stay near the processor, and for which no threads are started.
    """
    normals, offsets = planes[:, :3].T, planes[:, 3]
    found = np.empty(len(points))
    step = max(1, _BLOCK // max(1, len(planes)))
    for first in range(0, len(points), step):
        room = offsets - points[first : first + step] @ normals
        found[first : first + step] = room.min(axis=1)
    return found


def simplified(vertices: Floats, most: int) -> tuple[Floats, Ints, Floats]:
    """A hull of at most ``most`` of a hull's vertices, and one of the same faces that holds it.

    The vertices that stand out most are kept; scaled about the middle of all until it holds them,
    their hull is the outer one. Gives the inner vertices (k, 3), the faces of both and the outer
    vertices. Faces are none where that cannot be: of a flat hull.

    Raises: InputError for fewer than 4 vertices.
    """
    if most < 4:
        raise InputError(f"a hull is simplified to {most} vertices; at least 4 are needed")
    centre = vertices.mean(axis=0)
    local = vertices - centre
    _, axes = np.linalg.eigh(local.T @ local)
    along = local @ axes
    kept = np.unique([along.argmax(axis=0), along.argmin(axis=0)])[:most]
    none = np.zeros((0, 3), np.int64)
    while True:
        chosen, faces = hull_of(local[kept])
        planes = hull_planes(chosen, faces)
        if not len(planes) or planes[:, 3].min() <= 0:  # flat, or its middle is outside
            return vertices[kept], none, vertices[kept]
        if len(kept) == most:
            break
        over = local @ planes[:, :3].T - planes[:, 3]
        farthest = np.unique(over.argmax(axis=0))
        farthest = farthest[~np.isin(farthest, kept)]
        if not len(farthest):  # it holds them all
            break
        stands_out = over[farthest].max(axis=1)
        kept = np.concatenate([kept, farthest[(-stands_out).argsort()][: most - len(kept)]])
    scale = float((local @ planes[:, :3].T / planes[:, 3]).max()) * (1 + 1e-12)
    return chosen + centre, faces, chosen * max(scale, 1.0) + centre


# --- the table ------------------------------------------------------------------------------------


def table(pieces: Sequence[Piece], bodies: Sequence[int] | None = None) -> tuple[Floats, Floats]:
    """The rows (n, 24) of pieces and the flat table of their vertices, as kernels read them.

    A row: kind, radius, sizes (3), first vertex, number of vertices, body (-1 where ``bodies`` is
    not given), the 3x4 matrix of ``T_body_piece`` by rows, and a sphere in the body's frame that
    holds the piece (x, y, z, r; r is infinite of a half-space). Vertices of a hull stand as all x,
    all y, all z in the piece's frame, repeated to a multiple of 8. Where the first size is not 0,
    the piece's ``lookup`` follows them, else `one_list`.
    """
    pieces = prepared(pieces)
    rows = np.zeros((len(pieces), PIECE))
    flat: list[Floats] = []
    place = 0
    for row, piece in zip(rows, pieces, strict=True):
        row[:5] = piece.kind, piece.radius, *piece.sizes
        if piece.vertices is not None:
            count = -(-len(piece.vertices) // _LANES) * _LANES
            row[5:7] = place, count
            flat.append(np.resize(piece.vertices, (count, 3)).T.ravel())
            if piece.lookup is not None:
                row[2] = GRID
            flat.append(one_list(count) if piece.lookup is None else piece.lookup)
            place += flat[-2].size + flat[-1].size
        row[8:20] = piece.T_body_piece[:3].ravel()
        row[20:] = piece.sphere
    rows[:, 7] = -1 if bodies is None else bodies
    return rows, laid_out(flat)


def one_list(count: int) -> Floats:
    """The numbers behind the vertices of a hull without a ``lookup``: one list, of all of them."""
    return np.array([0.0, count, *[0.0] * (_LANES - 2)])


def laid_out(parts: Sequence[Floats]) -> Floats:
    """Arrays one after the other, from a multiple of 64 bytes on, so that lanes are one line."""
    room = aligned(sum(part.size for part in parts))
    return np.concatenate([np.zeros(0), *parts], out=room)


def prepared(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with all that `table` asks for: it takes long for hulls, so models keep it."""
    found = list(pieces)
    bare = [k for k, piece in enumerate(pieces) if piece.sphere is None]
    for k, sphere in zip(bare, bounding_spheres([pieces[k] for k in bare]), strict=True):
        found[k] = replace(pieces[k], lookup=_lookup(pieces[k]), sphere=sphere)
    return found


def _lookup(piece: Piece) -> Floats | None:
    """The results of `outer_planes` and `by_direction` for a hull of many vertices."""
    if piece.vertices is None:
        return None
    count = -(-len(piece.vertices) // _LANES) * _LANES
    if count <= FEW_VERTICES:
        return None
    planes = outer_planes(piece.vertices, piece.faces)
    return np.concatenate([planes, by_direction(piece.vertices, 3 * count + OUTER)])


def outer_planes(vertices: Floats, faces: NDArray[Any] | None) -> Floats:
    """A polytope of few planes and a box, both around a hull (`OUTER` numbers).

    The x, y, z of `N_PLANES` normals, and how far the hull reaches along each; then the middle and
    the half lengths of the box. Normals are those of large faces, far apart from each other.
    """
    k = np.arange(256) + 0.5
    z, turn = 1 - k / 128, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    normals = np.column_stack([r * np.cos(turn), r * np.sin(turn), z])  # all around, alike
    weights = np.full(256, 1 / 256)
    if faces is not None:
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        area = np.linalg.norm(across, axis=1)
        whole = area > 1e-12 * area.sum()
        normals = np.concatenate([across[whole] / area[whole, None], normals])
        weights = np.concatenate([area[whole] / area[whole].sum(), weights])
    kept, apart = [int(weights.argmax())], np.full(len(normals), 2.0)
    while len(kept) < N_PLANES:
        apart = np.minimum(apart, 1 - normals @ normals[kept[-1]])
        kept.append(int((apart * weights).argmax()))
    found = normals[kept]
    heights = (found @ vertices.T).max(axis=1)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    box = [*(low + high) / 2, *(high - low) / 2, 0.0, 0.0]
    return np.concatenate([found.T.ravel(), heights, box])


def by_direction(vertices: Floats, place: int) -> Floats:
    """The vertices that can be farthest, by direction: a table of 6 x GRID x GRID cells of a cube.

    For each cell the first place of a list of vertices and their number, a multiple of 8, and then
    the lists, each as all x, all y, all z. Places count from where the hull's vertices begin, so
    many numbers before. The cells of the faces +x, -x, +y, ... lie side by side in the two axes
    that follow. A vertex is left out where another one is farther at all four corners of the cell,
    and so at every direction between.
    """
    edges = np.linspace(-1.0, 1.0, GRID + 1)
    ends = np.column_stack([edges[:-1] - 1e-9, edges[1:] + 1e-9])
    head = np.zeros((6 * GRID * GRID, 2))
    lists: list[Floats] = []
    place += head.size
    for face in range(6):
        axis, sign = face // 2, 1.0 - 2.0 * (face % 2)
        at_u = np.multiply.outer(ends, vertices[:, (axis + 1) % 3])[:, None, :, None]
        at_v = np.multiply.outer(ends, vertices[:, (axis + 2) % 3])[None, :, None, :]
        corners = sign * vertices[:, axis] + (at_u + at_v)  # at four corners of each cell
        heights = corners.reshape(GRID * GRID, 4, -1)
        best = heights.sum(axis=1).argmax(axis=1)
        highest = np.take_along_axis(heights, best[:, None, None], axis=2)
        rivals = np.any(heights > highest, axis=1)
        for k, far in enumerate(best.tolist()):
            kept = np.flatnonzero(rivals[k])
            if len(kept) >= _LANES:  # fewer fill the lanes in any case
                kept = kept[_unbeaten(heights[k][:, kept])]
            kept = np.append(kept, far)
            count = -(-len(kept) // _LANES) * _LANES
            head[face * GRID * GRID + k] = place, count
            lists.append(vertices[np.resize(kept, count)].T.ravel())
            place += 3 * count
    return np.concatenate([head.ravel(), *lists])


def _unbeaten(h: Floats) -> Ints:
    """The columns of h (4, n) that no other one is as high as in all rows, and higher in one."""
    kept = (-h.sum(axis=0)).argsort(kind="stable")
    for k in range(_FEW if len(kept) > _FEW else 0):  # of many, the highest leave few
        if k < len(kept):
            one, others = h[:, kept[k], None], h[:, kept]
            kept = kept[~(np.all(one >= others, axis=0) & np.any(one > others, axis=0))]
    kept = np.sort(kept)
    left = h[:, kept]
    over = np.all(left[:, None] >= left[:, :, None], axis=0)
    return kept[~np.any(over & ~over.T, axis=1)]


def bounding_spheres(pieces: Sequence[Piece]) -> Floats:
    """Spheres (n, 4) that hold each piece, in the body's frame: x, y, z and radius (m)."""
    spheres = np.zeros((len(pieces), 4))
    for sphere, piece in zip(spheres, pieces, strict=True):
        a, b, c = piece.sizes
        T, core = piece.T_body_piece, 0.0
        centre = T[:3, 3]
        if piece.vertices is not None:
            continue
        if piece.kind == HALF_SPACE:
            core = np.inf
        elif piece.kind == ELLIPSOID:
            core = max(a, b, c)
        else:
            core = float(np.sqrt(a * a + b * b + c * c))
        sphere[:3], sphere[3] = centre, rounded_up(core + piece.radius, float(np.abs(centre).max()))
    alike: dict[int, list[int]] = {}
    for k, piece in enumerate(pieces):
        if piece.vertices is not None:
            alike.setdefault(len(piece.vertices).bit_length(), []).append(k)
    for n_bits, places in alike.items():
        balls = np.zeros((len(places), 1 << n_bits, 4))
        for own, k in zip(balls, places, strict=True):
            R, p = pieces[k].T_body_piece[:3, :3], pieces[k].T_body_piece[:3, 3]
            own[:, :3] = np.resize(pieces[k].vertices @ R.T + p, (1 << n_bits, 3))
        spheres[places] = enclosing_spheres(balls)
    return spheres


def enclosing_spheres(balls: Floats) -> Floats:
    """Small spheres (m, 4) around groups of balls (m, k, 4); a group repeats balls to fill up.

    Centres move to the farthest ball by steps that fade; radii then hold every ball.

    Source: M. Bădoiu and K. Clarkson, "Smaller core-sets for balls", SODA 2003.
    """
    places, radii = balls[:, :, :3], balls[:, :, 3]
    centre = (places.min(axis=1) + places.max(axis=1)) / 2
    best, best_radius = centre, _reach(places, radii, centre)[0]
    for k in range(_ENCLOSING_ROUNDS):
        reach, far = _reach(places, radii, centre)
        better = reach < best_radius
        best = np.where(better[:, None], centre, best)
        best_radius = np.where(better, reach, best_radius)
        toward = np.take_along_axis(places, far[:, None, None], axis=1)[:, 0] - centre
        length = np.linalg.norm(toward, axis=1)
        grip = np.take_along_axis(radii, far[:, None], axis=1)[:, 0] + length
        step = np.where(length > 0, grip / (k + 2) / np.where(length > 0, length, 1), 0)
        centre = centre + np.minimum(step, 1)[:, None] * toward
    size = np.abs(best).max(axis=1, initial=0.0)
    return np.column_stack([best, rounded_up(best_radius, size)])


def _reach(places: Floats, radii: Floats, centre: Floats) -> tuple[Floats, Ints]:
    reach = np.linalg.norm(places - centre[:, None], axis=2) + radii
    far = reach.argmax(axis=1)
    return np.take_along_axis(reach, far[:, None], axis=1)[:, 0], far


def rounded_up(length: Any, size: Any) -> Any:
    """A length a little larger than rounding makes any distance at this size."""
    return length + 4e-15 * (length + size)
