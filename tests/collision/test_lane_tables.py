"""Tables in float32: a sphere that touches a piece is always found, and one well away never."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.collision.lane_tables import LANES, SLACK, LaneTable, lane_tables
from linkwork.collision.obstacles import obstacles_of
from seeds import rng

KINDS = ("box", "hull", "capsule", "sphere", "cylinder", "plane")
F = np.float32


def turned(random: np.random.Generator, spread: float) -> np.ndarray:
    return lw.pose(random.uniform(-spread, spread, 3), rpy=random.uniform(-3, 3, 3))


def scene_of(random: np.random.Generator, size: float, count: int = 10) -> lw.Scene:
    """Obstacles of every kind, within ``size``, from large ones to small ones."""
    scene = lw.Scene()
    hull = trimesh.creation.icosphere(1).vertices
    for k in range(count):
        s = size * 10 ** random.uniform(-3, 0)
        scene.add_box(f"box {k}", s * random.uniform(0.1, 1, 3), turned(random, size))
        scene.add_sphere(f"sphere {k}", s, turned(random, size))
        scene.add_capsule(f"capsule {k}", 0.1 * s, s, turned(random, size))
        scene.add_cylinder(f"cylinder {k}", s, 2 * s, turned(random, size))
        scene.add_ellipsoid(f"egg {k}", s * random.uniform(0.1, 1, 3), turned(random, size))
        scene.add_half_space(f"floor {k}", turned(random, size))
        ball = trimesh.convex.convex_hull(hull * s * random.uniform(0.1, 1, 3))
        scene.add_mesh(f"mesh {k}", ball, turned(random, size))
    return scene


def found_by(name: str, table: LaneTable, c: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The tests of the module's text in float32: spheres (n,) against all entries (n, m)."""
    e = table.aos[None]
    c, r = c.astype(F)[:, None], r.astype(F)[:, None]

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]

    if name in ("box", "hull"):
        total = F(0)
        for k in range(3):
            axis = e[..., 5 * k : 5 * k + 5]
            out = np.maximum(np.abs(dot(axis, c) - axis[..., 3]) - axis[..., 4], F(0))
            total = total + out * out
        met = total <= r * r
    elif name == "capsule":
        v = e[..., 3:6]
        t = np.clip(e[..., 7] * dot(v, c - e[..., :3]), F(0), F(1))
        d = c - e[..., :3] - t[..., None] * v
        met = dot(d, d) <= (r + e[..., 6]) ** 2
    elif name == "sphere":
        d = c - e[..., :3]
        met = dot(d, d) <= (r + e[..., 3]) ** 2
    elif name == "cylinder":
        d = c - e[..., 3:6]
        t = dot(e[..., :3], d)
        p = d - t[..., None] * e[..., :3]
        along = np.maximum(np.abs(t) - e[..., 7], F(0))
        across = np.maximum(np.sqrt(dot(p, p)) - e[..., 6], F(0))
        met = along * along + across * across <= r * r
    else:
        met = dot(e, c) - e[..., 3] <= r
    assert met.dtype == bool
    return met


def distance(row: np.ndarray, box: np.ndarray, c: np.ndarray) -> np.ndarray:
    """How far centres (n, 3) are from the piece, or for a hull from the box around it, float64."""
    T = row[8:20].reshape(3, 4)
    x = (c - T[:, 3]) @ T[:, :3]
    kind, sizes = int(row[0]), row[2:5]
    if kind in (0, 1):
        x = x - np.clip(x * [0, 0, 1], -sizes[1], sizes[1]) * [0, 0, 1]
        return np.linalg.norm(x, axis=1) - row[1]
    if kind == 3:
        out = np.stack([np.hypot(x[:, 0], x[:, 1]) - sizes[0], np.abs(x[:, 2]) - sizes[1]], 1)
        return np.linalg.norm(np.maximum(out, 0), axis=1)
    if kind == 6:
        return x[:, 2]
    axes = box[:9].reshape(3, 3)
    return np.linalg.norm(np.maximum(np.abs((c - box[9:12]) @ axes.T) - box[12:], 0), axis=1)


@pytest.mark.parametrize("size", [0.01, 1.0, 300.0])
def test_spheres_that_touch_are_found_and_others_not(size: float) -> None:
    random = rng(f"test_spheres_that_touch_are_found_and_others_not {size}")
    obstacles = obstacles_of(scene_of(random, size))
    tables = lane_tables(obstacles, np.sqrt(3) * 2 * size)
    assert sorted(tables) == sorted(KINDS)
    assert sum(table.count for table in tables.values()) == len(obstacles.rows)
    centres = random.uniform(-2 * size, 2 * size, (300, 3)).astype(F)
    for name, table in tables.items():
        assert table.count in (10, 20)
        for k in range(table.count):
            row = table.rows[k]
            exact = distance(obstacles.rows[row], obstacles.boxes[row], centres.astype(float))
            outside = exact > 1e-3 * size
            c, exact = centres[outside], exact[outside]
            r = np.nextafter(exact.astype(F), F(np.inf))  # touches, if only just
            assert found_by(name, table, c, r)[:, k].all(), name
            reach = np.sqrt(3) * 2 * size + np.abs(obstacles.rows[row, 8:20]).max() * 3
            apart = exact - 4 * SLACK * reach
            assert not found_by(name, table, c, np.maximum(apart, 0).astype(F))[apart > 0, k].any()


def test_boxes_around_hulls_hold_them() -> None:
    random = rng("test_boxes_around_hulls_hold_them")
    scene = scene_of(random, 1.0)
    obstacles = obstacles_of(scene)
    table = lane_tables(obstacles, 4.0)["hull"]
    for k in range(table.count):
        each = obstacles.objects[obstacles.object_of_row[table.rows[k]]]
        T = each.T_world_object
        points = scene.geometry(each.name).vertices @ T[:3, :3].T + T[:3, 3]
        assert found_by("hull", table, points, np.zeros(len(points)))[:, k].all()


def test_both_forms_are_the_same_and_aligned() -> None:
    obstacles = obstacles_of(scene_of(rng("test_both_forms_are_the_same_and_aligned"), 1.0, 3))
    for table in lane_tables(obstacles, 2.0).values():
        m, numbers = table.aos.shape
        assert m % LANES == 0 and table.soa.shape == (m // LANES, numbers, LANES)
        for k in range(m):
            np.testing.assert_array_equal(table.soa[k // LANES, :, k % LANES], table.aos[k])
        assert table.soa.ctypes.data % 64 == 0 and table.aos.ctypes.data % 64 == 0
        assert table.soa.dtype == table.aos.dtype == F
        assert (table.rows[: table.count] >= 0).all() and (table.rows[table.count :] == -1).all()


def test_what_fills_up_touches_nothing() -> None:
    obstacles = obstacles_of(scene_of(rng("test_what_fills_up_touches_nothing"), 1.0, 1))
    centres = np.array([[0, 0, 0], [1e6, -1e6, 1e6], [1e9, 0, 0]])
    for name, table in lane_tables(obstacles, 1e9).items():
        found = found_by(name, table, centres, np.array([0, 1e6, 1e9]))
        assert not found[:, table.count :].any() and np.isfinite(table.aos).all()


def test_no_obstacles_and_points_alone() -> None:
    scene = lw.Scene()
    scene.add_points("p", [[0, 0, 0]])
    for table in lane_tables(obstacles_of(scene), 1.0).values():
        assert table.count == 0 and table.soa.size == 0 and table.rows.size == 0


def test_what_float32_cannot_hold_is_touched_by_everything() -> None:
    scene = lw.Scene()
    scene.add_box("huge", [1e200, 1, 1])
    scene.add_sphere("far", 1, [1e30, 0, 0])
    scene.add_half_space("deep", [0, 0, -1e40])
    scene.add_sphere("near", 1e-3)
    tables = lane_tables(obstacles_of(scene), 1.0)
    assert tables["hull"].count == 3 and tables["sphere"].count == 1
    assert found_by("hull", tables["hull"], np.ones((1, 3)), np.zeros(1))[0, :3].all()
    for table in tables.values():
        assert np.isfinite(table.aos).all()


@pytest.mark.parametrize("reach", [-1.0, np.nan, 1e20])
def test_a_reach_that_is_none_is_refused(reach: float) -> None:
    with pytest.raises(lw.InputError, match="reach must be a finite number"):
        lane_tables(obstacles_of(lw.Scene()), reach)
