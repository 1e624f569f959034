"""Signed distances of convex pieces: certificates, properties, closed forms, then coal."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from linkwork.collision.narrow import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HULL,
    POINT,
    SEGMENT,
    closest,
    touches,
)
from linkwork.compile.compiler import Compiler
from linkwork.compile.typed import F64, I64, PtrF64, library, offset, typed
from seeds import random_pose, random_rotation, rng

coal: Any = pytest.importorskip("coal")

KINDS = {
    "ball": POINT,
    "capsule": SEGMENT,
    "box": BOX,
    "cylinder": CYLINDER,
    "ellipsoid": ELLIPSOID,
    "hull": HULL,
    "half-space": HALF_SPACE,
}
PAIRS = [p for p in combinations_with_replacement(KINDS, 2) if p != ("half-space", "half-space")]
FLAT_SIDED = {"ball", "capsule", "box", "hull", "half-space"}
UNIT = np.eye(4)


@typed
def many_distances(
    rows: PtrF64, poses: PtrF64, vertices: PtrF64, n: I64, bound: F64, out: PtrF64
) -> None:
    for k in range(n):
        a = offset(rows, 48 * k)
        T = offset(poses, 24 * k)
        o = offset(out, 10 * k)
        o[9] = closest(a, T, offset(a, 24), offset(T, 12), vertices, bound, o)


@typed
def many_touches(
    rows: PtrF64, poses: PtrF64, vertices: PtrF64, n: I64, margin: F64, out: PtrF64
) -> None:
    for k in range(n):
        a = offset(rows, 48 * k)
        T = offset(poses, 24 * k)
        out[k] = 1.0 if touches(a, T, offset(a, 24), offset(T, 12), vertices, margin) else 0.0


@dataclass
class Answers:
    p_a: Any
    p_b: Any
    normal: Any
    distance: Any


@dataclass
class Batch:
    """Pairs of pieces: rows (n, 2, 24), poses of their bodies (n, 2, 4, 4), hull vertices."""

    rows: Any
    poses: Any
    table: Any
    points: list[list[Any]]

    def moved(self, shift: Any) -> Batch:
        """With B moved by these vectors (n, 3)."""
        poses = self.poses.copy()
        poses[:, 1, :3, 3] += shift
        return Batch(self.rows, poses, self.table, self.points)

    def where(self, mask: Any) -> Batch:
        points = [p for p, kept in zip(self.points, mask, strict=True) if kept]
        return Batch(self.rows[mask], self.poses[mask], self.table, points)

    def placed(self, k: int, side: int) -> Any:
        """T_world_piece."""
        T = np.eye(4)
        T[:3] = self.rows[k, side, 8:20].reshape(3, 4)
        return self.poses[k, side] @ T


@dataclass
class Compiled:
    distances: Callable[..., Answers]
    touches: Callable[[Batch, float], Any]


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    code = library([many_distances, many_touches], Compiler(), "distances of pieces")
    p, d = ctypes.c_void_p, ctypes.c_double
    kind = ctypes.CFUNCTYPE(None, p, p, p, ctypes.c_int64, d, p)

    def call(name: str, batch: Batch, number: float, width: int) -> Any:
        rows, poses = batch.rows.copy(), np.ascontiguousarray(batch.poses[:, :, :3])
        out = np.zeros((len(rows), width))
        where = [x.ctypes.data for x in (rows, poses, batch.table)]
        kind(code.address(name))(*where, len(rows), number, out.ctypes.data)
        return out

    def distances(batch: Batch, bound: float = np.inf) -> Answers:
        out = call("many_distances", batch, bound, 10)
        return Answers(out[:, :3], out[:, 3:6], out[:, 6:9], out[:, 9])

    return Compiled(distances, lambda batch, m: call("many_touches", batch, m, 1)[:, 0] == 1)


# --- made-up pieces -------------------------------------------------------------------------------


def pose(random: Any, reach: float) -> Any:
    return random_pose(random, random.uniform(-reach, reach, size=3))


def row(kind: int, sizes: Any = (0, 0, 0), radius: float = 0, T: Any = UNIT) -> Any:
    a = np.zeros(24)
    a[0], a[1], a[2:5], a[8:20] = kind, radius, sizes, T[:3].ravel()
    a[20:23], a[23] = T[:3, 3], np.linalg.norm(sizes) + radius
    return a


def hull_row(points: Any, parts: list[Any], T: Any = UNIT) -> Any:
    """A hull, whose vertices are added to the parts of the table."""
    a = row(HULL, T=T)
    n = -(-len(points) // 8) * 8
    a[5], a[6] = sum(map(len, parts)), n
    a[23] = np.linalg.norm(points, axis=1).max()
    padded = np.concatenate([points, np.repeat(points[:1], n - len(points), axis=0)])
    parts.append(padded.T.ravel())
    return a


def piece(kind: str, random: Any, scale: float, parts: list[Any]) -> tuple[Any, Any]:
    T = pose(random, 0.2 * scale)
    x, y, _ = s = scale * random.uniform(0.1, 0.6, size=3)
    if kind == "hull":
        points = random.normal(size=(random.integers(5, 105), 3))
        points *= s / np.linalg.norm(points, axis=1)[:, None]
        return hull_row(points, parts, T), points
    sizes = {"capsule": (0, y, 0), "cylinder": (x, y, 0), "box": s, "ellipsoid": s}
    radius = {"ball": x, "capsule": x / 2}
    return row(KINDS[kind], sizes.get(kind, (0, 0, 0)), radius.get(kind, 0), T), None


def batch_of(pair: tuple[str, str], n: int, random: Any, *, scale: float = 1, reach: float = 0.7):
    parts = [np.zeros(24)]
    rows, poses, points = np.zeros((n, 2, 24)), np.zeros((n, 2, 4, 4)), []
    for k in range(n):
        made = [piece(kind, random, scale, parts) for kind in pair]
        rows[k] = [a for a, _ in made]
        poses[k] = [pose(random, reach * scale) for _ in pair]
        points.append([p for _, p in made])
    return Batch(rows, poses, np.concatenate(parts), points)


def pair_of(a: Any, b: Any, T: Any = UNIT, table: Any = None) -> Batch:
    poses = np.array([[UNIT, T]])
    return Batch(np.array([[a, b]]), poses, np.zeros(24) if table is None else table, [[None] * 2])


def shifted(x: float, y: float, z: float, R: Any = UNIT[:3, :3]) -> Any:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, (x, y, z)
    return T


# --- what is true of shapes, by themselves --------------------------------------------------------


def highest(a: Any, points: Any, T: Any, n: Any) -> Any:
    """The greatest n·x over a placed piece, for directions n (..., 3)."""
    local = n @ T[:3, :3]
    if a[0] == HULL:
        high = (local @ points.T).max(axis=-1)
    elif a[0] == CYLINDER:
        high = a[2] * np.hypot(local[..., 0], local[..., 1]) + a[3] * abs(local[..., 2])
    elif a[0] == ELLIPSOID:
        high = np.linalg.norm(local * a[2:5], axis=-1)
    elif a[0] == HALF_SPACE:
        along = np.linalg.norm(local[..., :2], axis=-1) < 1e-9
        high = np.where(along & (local[..., 2] > 0), 0.0, np.inf)
    else:
        sizes = a[2:5] if a[0] == BOX else np.array([0, 0, a[3]])
        high = abs(local) @ sizes
    return high + n @ T[:3, 3] + a[1]


def parted_by(batch: Batch, k: int, n: Any) -> Any:
    """The gap between the shadows of the two pieces on directions n: no more than the distance."""
    (a, b), (p, q) = batch.rows[k], batch.points[k]
    return -highest(b, q, batch.placed(k, 1), -n) - highest(a, p, batch.placed(k, 0), n)


def off_surface(a: Any, points: Any, T: Any, x: Any) -> float:
    """How far a point is from a piece's surface, to first order; below 0 inside."""
    x = (x - T[:3, 3]) @ T[:3, :3]
    if a[0] == HULL:
        planes = ConvexHull(points).equations
        return float((planes[:, :3] @ x + planes[:, 3]).max())
    if a[0] == CYLINDER:
        return max(np.hypot(x[0], x[1]) - a[2], abs(x[2]) - a[3])
    if a[0] == ELLIPSOID:
        return (np.linalg.norm(x / a[2:5]) - 1) * a[2:5].min()
    if a[0] == HALF_SPACE:
        return x[2]
    if a[0] == BOX:
        return float((abs(x) - a[2:5]).max())
    x[2] -= np.clip(x[2], -a[3], a[3])
    return float(np.linalg.norm(x)) - a[1]


# --- properties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_a_distance_is_proven_from_both_sides(pair: tuple[str, str], compiled: Compiled) -> None:
    """The normal parts the pieces by the distance; the points lie on them and as far apart."""
    batch = batch_of(pair, 60, rng(f"both_sides {pair}"))
    found = compiled.distances(batch)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1, rtol=1e-12)
    across = np.einsum("ki,ki->k", found.normal, found.p_b - found.p_a)
    np.testing.assert_allclose(across, found.distance, atol=1e-10)
    for k, d in enumerate(found.distance):
        assert abs(parted_by(batch, k, found.normal[k]) - d) < 1e-9
        for side, p in enumerate((found.p_a[k], found.p_b[k])):
            T = batch.placed(k, side)
            assert abs(off_surface(batch.rows[k, side], batch.points[k][side], T, p)) < 1e-5


@pytest.mark.parametrize("pair", PAIRS)
def test_a_depth_is_the_least(pair: tuple[str, str], compiled: Compiled) -> None:
    """No direction of many, nor any near the best of them, parts the pieces by less."""
    random = rng(f"least {pair}")
    batch = batch_of(pair, 40, random, reach=0.25)
    found = compiled.distances(batch)
    assert (found.distance < 0).any()
    if "half-space" in pair:  # it has one direction
        return
    for k in np.flatnonzero(found.distance < 0):
        n = random.normal(size=(300, 3))
        width = 1.0
        for _ in range(12):
            n /= np.linalg.norm(n, axis=1)[:, None]
            gaps = parted_by(batch, k, n)
            assert gaps.max() < found.distance[k] + 1e-9
            width /= 3
            n = n[gaps.argmax()] + width * random.normal(size=(100, 3))


@pytest.mark.parametrize("pair", PAIRS)
def test_moved_along_the_normal_they_touch(pair: tuple[str, str], compiled: Compiled) -> None:
    batch = batch_of(pair, 100, rng(f"moved {pair}"), reach=0.4)
    found = compiled.distances(batch)
    moved = compiled.distances(batch.moved(-found.distance[:, None] * found.normal))
    assert abs(moved.distance).max() < 1e-9


GAPS = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0.0, -1e-10, -1e-8, -1e-6, -1e-4, -1e-2]


def errors_of_gaps(pair: tuple[str, str], n: int, compiled: Compiled) -> tuple[float, float]:
    """The greatest errors, apart and overlapping, after moves that leave known distances.

    Drawn apart along the normal, or let sink less deep.
    """
    batch = batch_of(pair, n, rng(f"gaps {pair}"), reach=0.4)
    found = compiled.distances(batch)
    apart, deep = 0.0, 0.0
    for gap in GAPS:
        goes = found.distance > 0 if gap >= 0 else found.distance < gap
        way = (gap - found.distance)[:, None] * found.normal
        moved = compiled.distances(batch.moved(way).where(goes)).distance
        error = abs(moved - gap).max(initial=0)
        apart, deep = (max(apart, error), deep) if gap >= 0 else (apart, max(deep, error))
    return apart, deep


@pytest.mark.parametrize("pair", PAIRS)
def test_gaps_of_every_size(pair: tuple[str, str], compiled: Compiled) -> None:
    assert max(errors_of_gaps(pair, 150, compiled)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_gaps_at_length(pair: tuple[str, str], compiled: Compiled) -> None:
    apart, deep = errors_of_gaps(pair, 2500, compiled)
    assert apart < 3e-7
    assert deep < 3e-6


@pytest.mark.parametrize("pair", PAIRS)
def test_invariances(pair: tuple[str, str], compiled: Compiled) -> None:
    """A and B change places; the scene turns; the scene lies 1,000 km away; it is small or big."""
    random = rng(f"invariances {pair}")
    batch = batch_of(pair, 100, random)
    d = compiled.distances(batch).distance
    points = [p[::-1] for p in batch.points]
    turned = Batch(batch.rows[:, ::-1], batch.poses[:, ::-1], batch.table, points)
    np.testing.assert_allclose(compiled.distances(turned).distance, d, atol=1e-9)
    T = pose(random, 10)
    whole = Batch(batch.rows, T @ batch.poses, batch.table, batch.points)
    np.testing.assert_allclose(compiled.distances(whole).distance, d, atol=1e-9)
    near, far = batch.poses.copy(), batch.poses.copy()
    near[..., :3, 3] = np.round(near[..., :3, 3] * 2**24) / 2**24
    far[..., :3, 3] = near[..., :3, 3] + [2.0**20, -(2.0**20), 2.0**19]
    d = compiled.distances(Batch(batch.rows, near, batch.table, batch.points)).distance
    away = compiled.distances(Batch(batch.rows, far, batch.table, batch.points)).distance
    np.testing.assert_array_equal(away, d)
    for scale in (2.0**-20, 2.0**14):
        rows, poses = batch.rows.copy(), near.copy()
        rows[..., [1, 2, 3, 4, 11, 15, 19, 20, 21, 22, 23]] *= scale
        poses[..., :3, 3] *= scale
        resized = Batch(rows, poses, batch.table * scale, batch.points)
        np.testing.assert_allclose(compiled.distances(resized).distance / scale, d, atol=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_gradient_is_the_normal(pair: tuple[str, str], compiled: Compiled) -> None:
    batch = batch_of(pair, 100, rng(f"gradient {pair}"))
    found = compiled.distances(batch)
    apart = found.distance > 1e-3
    batch, normal, h = batch.where(apart), found.normal[apart], 1e-5
    for i in range(3):
        plus, minus = (compiled.distances(batch.moved(s * np.eye(3)[i])) for s in (h, -h))
        slope = (plus.distance - minus.distance) / (2 * h)
        # distances of convex pieces have no kinks, but bends: a difference sees over a few
        assert np.quantile(abs(slope - normal[:, i]), 0.95) < 1e-5
        assert abs(slope - normal[:, i]).max() < 1e-2


@pytest.mark.parametrize("pair", PAIRS)
def test_touches_and_bounds(pair: tuple[str, str], compiled: Compiled) -> None:
    batch = batch_of(pair, 200, rng(f"touches {pair}"), reach=0.5)
    d = compiled.distances(batch).distance
    for margin in (-0.05, 0.0, 0.1):
        clear = abs(d - margin) > 1e-8
        np.testing.assert_array_equal(compiled.touches(batch, margin)[clear], (d <= margin)[clear])
        bounded = compiled.distances(batch, margin)
        near = d <= margin
        np.testing.assert_allclose(bounded.distance[near], d[near], atol=1e-9)
        assert (bounded.distance[~near] > margin).all()
        assert (bounded.distance <= d + 1e-9).all()
        if "half-space" not in pair:  # whose bound is the distance
            for k in np.flatnonzero(~near):
                parted = parted_by(batch, k, bounded.normal[k])
                assert parted >= bounded.distance[k] - 1e-9


@pytest.mark.parametrize("pair", PAIRS)
def test_python_says_the_same(pair: tuple[str, str], compiled: Compiled) -> None:
    batch = batch_of(pair, 4, rng(f"python {pair}"), reach=0.4)
    expected = compiled.distances(batch)
    for k in range(4):
        out = np.zeros(9)
        (a, b), (S, T) = batch.rows[k], batch.poses[k, :, :3].reshape(2, 12)
        with np.errstate(invalid="ignore"):
            d = closest(a, S, b, T, batch.table, np.inf, out)
            touching = touches(a, S, b, T, batch.table, 0.0)
        assert abs(d - expected.distance[k]) < 1e-9
        assert touching == (d <= 0)


# --- closed forms ---------------------------------------------------------------------------------


def test_balls_capsules_and_boxes_by_hand(compiled: Compiled) -> None:
    ball, capsule = row(POINT, radius=0.5), row(SEGMENT, (0, 1, 0), 0.5)
    box, post = row(BOX, (1, 2, 3)), row(CYLINDER, (1, 2, 0))
    quarter = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    floor = row(HALF_SPACE)
    cases = [
        (ball, ball, shifted(3, 4, 0), 4, (0.6, 0.8, 0)),
        (ball, ball, shifted(0, 0, 0.25), -0.75, (0, 0, 1)),
        (capsule, ball, shifted(0, 3, 0.5), 2, (0, 1, 0)),
        (capsule, ball, shifted(0, 0, 3), 1, (0, 0, 1)),
        (capsule, capsule, shifted(2, 0, 1.5), 1, (1, 0, 0)),
        (capsule, capsule, shifted(2, 0, 0, quarter), 1, (1, 0, 0)),
        (capsule, capsule, shifted(0.25, 0, 0, quarter), -0.75, (1, 0, 0)),
        (box, box, shifted(2.5, 0.3, 0.1), 0.5, (1, 0, 0)),
        (box, box, shifted(1.5, 0.3, 0.1), -0.5, (1, 0, 0)),
        (box, box, shifted(5, 8, 6), 5, (0.6, 0.8, 0)),
        (box, ball, shifted(4, 6, 3), 4.5, (0.6, 0.8, 0)),
        (box, ball, shifted(0.5, 0, 0), -1, (1, 0, 0)),
        (post, ball, shifted(4, 0, 6), 4.5, (0.6, 0, 0.8)),
        (post, post, shifted(0, 0, 3.5), -0.5, (0, 0, 1)),
        (post, post, shifted(1.5, 0, 0), -0.5, (1, 0, 0)),
        (floor, box, shifted(7, 8, 9), 6, (0, 0, 1)),
        (floor, capsule, shifted(0, 0, 1), -0.5, (0, 0, 1)),
    ]
    for a, b, T, d, normal in cases:
        found = compiled.distances(pair_of(a, b, T))
        assert found.distance[0] == pytest.approx(d, abs=1e-9)
        np.testing.assert_allclose(found.normal[0], normal, atol=2e-5)


def test_a_ball_round_a_point_asks_how_far_it_is(compiled: Compiled) -> None:
    """Inside and outside of a box, against the formula."""
    random = rng("point_box")
    for _ in range(100):
        h, x = random.uniform(0.5, 2, size=3), random.uniform(-3, 3, size=3)
        q = abs(x) - h
        expected = np.linalg.norm(np.maximum(q, 0)) + min(q.max(), 0)
        R = random_rotation(random)
        T = shifted(*(-R @ x), R)
        found = compiled.distances(pair_of(row(POINT), row(BOX, h), T))
        other = compiled.distances(pair_of(row(BOX, h), row(POINT), np.linalg.inv(T)))
        assert found.distance[0] == pytest.approx(expected, abs=1e-12)
        assert other.distance[0] == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(T[:3, :3].T @ found.normal[0], -other.normal[0], atol=1e-12)


# --- hard ones ------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 0.0, -1e-12, -1e-9, -1e-6, -1e-3])
def test_parallel_boxes_that_nearly_touch(gap: float, compiled: Compiled) -> None:
    box = row(BOX, (1, 1, 1))
    for y in (0.0, 0.3, 2.0):
        found = compiled.distances(pair_of(box, box, shifted(2 + gap, y, y)))
        assert abs(found.distance[0] - gap) < 1e-15 + (y == 2) * abs(gap)
        if y < 2:
            np.testing.assert_array_equal(abs(found.normal[0]), [1, 0, 0])


@pytest.mark.parametrize("kind", ["box", "cylinder", "ellipsoid", "hull", "ball", "capsule"])
def test_one_inside_its_equal(kind: str, compiled: Compiled) -> None:
    """Twice the least half width, wherever the normal then points."""
    parts = [np.zeros(24)]
    cube = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], float)
    a = {
        "box": row(BOX, (1, 2, 3)),
        "cylinder": row(CYLINDER, (1, 2, 0)),
        "ellipsoid": row(ELLIPSOID, (1, 2, 3)),
        "ball": row(POINT, radius=1),
        "capsule": row(SEGMENT, (0, 1, 0), 1),
        "hull": hull_row(cube, parts),
    }[kind]
    found = compiled.distances(pair_of(a, a, table=np.concatenate(parts)))
    assert found.distance[0] == pytest.approx(-2, abs=1e-9)


def test_flat_and_empty_ones(compiled: Compiled) -> None:
    parts = [np.zeros(24)]
    square = hull_row(np.array([[x, y, 0.0] for x in (-1, 1) for y in (-1, 1)]), parts)
    needle = hull_row(np.array([[-1.0, 0, 0], [1, 0, 0]]), parts)
    dot = hull_row(np.zeros((1, 3)), parts)
    flat_box, empty = row(BOX, (1, 1, 0)), row(CYLINDER)
    table = np.concatenate(parts)
    thin = [
        square,
        needle,
        dot,
        flat_box,
        empty,
        row(BOX),
        row(ELLIPSOID),
        row(ELLIPSOID, (1, 1, 0)),
    ]
    for a in thin:
        for b in thin:
            for T, expected in ((UNIT, 0.0), (shifted(0, 0, 1e-3), 1e-3), (shifted(5, 0, 0), None)):
                found = compiled.distances(pair_of(a, b, T, table))
                assert np.isfinite(found.normal).all()
                if expected is not None:
                    assert found.distance[0] == pytest.approx(expected, abs=1e-12)
                else:
                    assert 3 - 1e-12 <= found.distance[0] <= 5 + 1e-12
    inside = compiled.distances(pair_of(dot, row(BOX, (1, 2, 3)), table=table))
    assert inside.distance[0] == pytest.approx(-1, abs=1e-12)


def test_nothing_is_said_of_half_spaces_that_meet(compiled: Compiled) -> None:
    floor = row(HALF_SPACE)
    upside_down = np.diag([1.0, -1, -1])
    assert compiled.distances(pair_of(floor, floor, shifted(0, 0, 1))).distance[0] < -1e200
    found = compiled.distances(pair_of(floor, floor, shifted(5, 6, 1, upside_down)))
    assert found.distance[0] == pytest.approx(1)


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_no_number_ends_and_touches(pair: tuple[str, str], compiled: Compiled) -> None:
    random = rng(f"no_number {pair}")
    batch = batch_of(pair, 50, random)
    gone = Batch(batch.rows, np.full_like(batch.poses, np.nan), batch.table, batch.points)
    assert compiled.touches(gone, 0.0).all()
    assert not (compiled.distances(gone).distance > 0).any()
    wild = [np.nan, np.inf, -np.inf, 1e300, 0.0]
    for _ in range(10):
        rows, poses, table = batch.rows.copy(), batch.poses.copy(), batch.table.copy()
        sizes = rows[..., 1:5]
        sizes[random.random(sizes.shape) < 0.2] = random.choice(wild)
        poses[random.random(poses.shape) < 0.05] = random.choice(wild)
        table[random.random(table.shape) < 0.02] = random.choice(wild)
        broken = Batch(rows, poses, table, batch.points)
        compiled.distances(broken)
        compiled.touches(broken, 0.0)


# --- an independent engine ------------------------------------------------------------------------


def coal_shape(a: Any, points: Any) -> Any:
    if a[0] == HULL:
        given = coal.StdVec_Vec3s()
        for p in points:
            given.append(p)
        return coal.Convex.convexHull(given, False, "")
    return {
        POINT: lambda: coal.Sphere(a[1]),
        SEGMENT: lambda: coal.Capsule(a[1], 2 * a[3]),
        BOX: lambda: coal.Box(2 * a[2:5]),
        CYLINDER: lambda: coal.Cylinder(a[2], 2 * a[3]),
        ELLIPSOID: lambda: coal.Ellipsoid(*a[2:5]),
        HALF_SPACE: lambda: coal.Halfspace(np.array([0.0, 0, 1]), 0.0),
    }[a[0]]()


def coal_distances(batch: Batch) -> Any:
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    found = np.zeros(len(batch.rows))
    for k in range(len(found)):
        given = []
        for side in (0, 1):
            T = batch.placed(k, side)
            shape = coal_shape(batch.rows[k, side], batch.points[k][side])
            given += [shape, coal.Transform3s(T[:3, :3], T[:3, 3])]
        found[k] = coal.distance(*given, request, coal.DistanceResult())
    return found


def agrees_with_coal(pair: tuple[str, str], n: int, compiled: Compiled) -> None:
    """To the last digits where coal has them: not with cylinders and ellipsoids, where it stops
    early, and now and then gives up on a depth.
    """
    batch = batch_of(pair, n, rng(f"coal {pair}"))
    d, theirs = compiled.distances(batch).distance, coal_distances(batch)
    error = abs(d - theirs)
    if FLAT_SIDED.issuperset(pair):
        assert error.max() < 1e-9
    else:
        assert np.quantile(error[d > 0], 0.99) < 1e-4
        assert np.quantile(error[d > 0], 0.9) < 1e-6
        if (d <= 0).any():
            assert np.median(error[d <= 0]) < 1e-4


@pytest.mark.parametrize("pair", PAIRS)
def test_coal(pair: tuple[str, str], compiled: Compiled) -> None:
    agrees_with_coal(pair, 60, compiled)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_coal_at_length(pair: tuple[str, str], compiled: Compiled) -> None:
    agrees_with_coal(pair, 1500, compiled)
