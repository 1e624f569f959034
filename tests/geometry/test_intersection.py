"""Whether the surfaces of two meshes cut each other."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from linkwork import poses
from linkwork.geometry.intersection import meshes_intersect
from seeds import rng


@pytest.mark.parametrize(
    ("shift", "meets"),
    [(0.0, True), (0.5, True), (1.0, True), (1.0 + 1e-9, False), (3.0, False)],
)
def test_two_cubes(shift: float, meets: bool):
    cube = trimesh.creation.box((1.0, 1.0, 1.0))
    for axis in np.eye(3):
        assert meshes_intersect(cube, cube, poses.pose(shift * axis)) is meets


def test_what_crosses_without_a_corner_inside():
    flat = trimesh.creation.box((4.0, 1.0, 1.0))
    deep = trimesh.creation.box((1.0, 4.0, 1.0))
    for height, meets in ((0.0, True), (0.999, True), (1.0, True), (1.0001, False)):
        assert meshes_intersect(flat, deep, poses.pose([0.0, 0.0, height])) is meets
    needle = trimesh.creation.box((0.01, 0.01, 9.0))
    assert meshes_intersect(flat, needle)
    assert meshes_intersect(needle, flat)


def test_what_lies_within_does_not_meet():
    large, small = (trimesh.creation.icosphere(radius=r) for r in (1.0, 0.5))
    assert not meshes_intersect(large, small)
    assert meshes_intersect(large, small, poses.pose([0.7, 0.0, 0.0]))


def test_triangles_without_an_area_and_empty_meshes():
    cube = trimesh.creation.box((1.0, 1.0, 1.0))
    faces = np.concatenate([cube.faces, [[0, 0, 1], [2, 2, 2]]])
    flat = trimesh.Trimesh(cube.vertices, faces, process=False)
    assert meshes_intersect(flat, cube, poses.pose([0.9, 0.0, 0.0]))
    assert not meshes_intersect(flat, cube, poses.pose([1.1, 0.0, 0.0]))
    empty = trimesh.Trimesh(np.zeros((0, 3)), np.zeros((0, 3), int), process=False)
    assert not meshes_intersect(empty, cube)
    assert not meshes_intersect(cube, empty)


@pytest.mark.slow
def test_random_poses_beside_another_engine():
    pytest.importorskip("fcl", reason="python-fcl is not installed")
    g = rng("meshes that cut each other")
    ring, ball = trimesh.creation.torus(0.4, 0.1), trimesh.creation.icosphere(radius=0.3)
    both: set[bool] = set()
    for one, other in ((ring, ring), (ring, ball), (ball, ball)):
        manager = trimesh.collision.CollisionManager()
        manager.add_object("one", one)
        manager.add_object("other", other)
        for _ in range(200):
            T = poses.pose(g.uniform(-0.7, 0.7, 3), wxyz=g.normal(size=4))
            manager.set_transform("other", T)
            found = meshes_intersect(one, other, T)
            assert found == manager.in_collision_internal()
            both.add(found)
    assert both == {True, False}
