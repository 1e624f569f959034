"""The nodes of search trees: the nearest one against all of them, in Python and compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkwork import settings
from linkwork.compile.typed import I64, WIDTH32, PtrF32, PtrI64, library, typed
from linkwork.planning import nodes
from linkwork.planning.nodes import nearest_node
from seeds import rng

Floats = NDArray[np.float64]


@typed
def node_nearest_to(tree: PtrI64, n: I64, x: PtrF32) -> I64:
    """The node of `nodes.nearest_node` alone."""
    node, _ = nearest_node(tree, n, x)
    return node


class Tree:
    """A tree whose functions run compiled."""

    def __init__(self, code: Any, n: int, room: int) -> None:
        leaves = room // 2 + WIDTH32
        self.n = n
        self.arrays = (
            *(np.empty((room, n)), np.empty(room, np.int64), np.empty(room)),
            *(np.empty(2 * n * leaves, np.float32), np.empty(n * WIDTH32 * leaves, np.float32)),
            *(np.empty(leaves * WIDTH32, np.int64), np.empty(leaves, np.int64)),
            np.empty(leaves, np.float32),
        )
        places = [a.ctypes.data for a in self.arrays]
        self.record = np.array([0, room, 0, *places], np.int64)
        self.room = np.empty(17 * n, np.float32)
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        self.add_node = ctypes.CFUNCTYPE(
            i64, pointer, i64, pointer, i64, i64, ctypes.c_double, pointer
        )(code.address("add_node"))
        self.leaf_bounds = ctypes.CFUNCTYPE(i64, pointer, i64, pointer)(code.address("leaf_bounds"))

        self.find = ctypes.CFUNCTYPE(i64, pointer, i64, pointer)(code.address("node_nearest_to"))

    def nearest(self, x: NDArray[np.float32]) -> int:
        return self.find(self.record.ctypes.data, self.n, x.ctypes.data)

    def add(self, x: Floats) -> int:
        narrow = x.astype(np.float32)
        leaf = 0
        if self.record[nodes.COUNT]:
            leaf = self.leaf_bounds(self.record.ctypes.data, self.n, narrow.ctypes.data)
        return self.add_node(
            *(self.record.ctypes.data, self.n, x.ctypes.data, -1, leaf, 1.0, self.room.ctypes.data)
        )

    @property
    def points(self) -> Floats:
        return self.arrays[0][: self.record[nodes.COUNT]]


@pytest.fixture(scope="module")
def code() -> Iterator[Any]:
    kernels = [nodes.add_node, nodes.leaf_bounds, node_nearest_to]
    kernels += [nodes.add_nodes, nodes.nearest_nodes]
    yield library(kernels, settings.compiler(), "nodes of trees")


CASES = {
    "uniform": lambda r, n: r.uniform(-3, 3, (400, n)),
    "a line": lambda r, n: np.linspace(-2, 2, 300)[:, None] * r.normal(size=n),
    "one place": lambda r, n: np.tile(r.normal(size=n), (70, 1)),
    "two places": lambda r, n: np.tile(r.normal(size=(2, n)), (60, 1)),
    "clusters": lambda r, n: (
        np.repeat(r.normal(size=(20, n)) * 3, 15, 0) + r.normal(size=(300, n)) * 1e-3
    ),
    "huge": lambda r, n: r.uniform(-1e6, 1e6, (200, n)),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("n", [1, 7, 14])
def test_leaves_hold_every_node_once_and_boxes_hold_their_nodes(
    code: Any, kind: str, n: int
) -> None:
    points = np.ascontiguousarray(CASES[kind](rng(f"{kind} {n}"), n))
    tree = Tree(code, n, 1024)
    for x in points:
        tree.add(x)
    leaves = int(tree.record[nodes.N_LEAVES])
    _, _, _, boxes, in_lanes, ids, fill, _ = tree.arrays
    assert np.array_equal(tree.points, points)
    found = []
    for leaf in range(leaves):
        own = ids[leaf * WIDTH32 : leaf * WIDTH32 + fill[leaf]]
        found += own.tolist()
        lanes = in_lanes[leaf * n * WIDTH32 : (leaf + 1) * n * WIDTH32].reshape(n, WIDTH32)
        assert np.array_equal(lanes[:, : fill[leaf]].T, points[own].astype(np.float32))
        block = boxes[2 * n * WIDTH32 * (leaf // WIDTH32) :][: 2 * n * WIDTH32]
        low, high = block.reshape(n, 2, WIDTH32)[:, :, leaf % WIDTH32].T
        assert np.array_equal(low, points[own].astype(np.float32).min(axis=0))
        assert np.array_equal(high, points[own].astype(np.float32).max(axis=0))
    assert sorted(found) == list(range(len(points)))
    assert 2 * leaves < len(points) + WIDTH32


@pytest.mark.parametrize("kind", CASES)
def test_the_nearest_node_is_the_nearest_of_all(code: Any, kind: str) -> None:
    random = rng(f"nearest {kind}")
    points = np.ascontiguousarray(CASES[kind](random, 6))
    tree = Tree(code, 6, 1024)
    for x in points:
        tree.add(x)
    scale = np.abs(points).max()
    for x in random.uniform(-scale, scale, (60, 6)):
        found = tree.nearest(x.astype(np.float32))
        distances = np.linalg.norm(points - x, axis=1)
        assert distances[found] <= distances.min() * (1 + 1e-5) + 1e-6 * scale


def test_many_points_are_added_and_looked_up_at_once(code: Any) -> None:
    random = rng("rows of nodes")
    points, asked = random.uniform(-3, 3, (300, 7)), random.uniform(-3, 3, (50, 7))
    one, many = Tree(code, 7, 1024), Tree(code, 7, 1024)
    for x in points:
        one.add(x)
    parents, found = np.arange(-1, 299), np.empty(50, np.int64)
    at, room = many.record.ctypes.data, many.room.ctypes.data
    i64 = ctypes.c_int64
    add = ctypes.CFUNCTYPE(None, *[i64] * 5, ctypes.c_double, i64)(code.address("add_nodes"))
    add(at, 7, points.ctypes.data, parents.ctypes.data, len(points), 1.0, room)
    find = ctypes.CFUNCTYPE(None, *[i64] * 6)(code.address("nearest_nodes"))
    find(at, 7, asked.ctypes.data, len(asked), room, found.ctypes.data)
    assert np.array_equal(many.points, points)
    assert np.array_equal(many.arrays[1][: len(points)], parents)
    assert found.tolist() == [one.nearest(x.astype(np.float32)) for x in asked]
