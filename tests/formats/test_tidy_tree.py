"""The layout of trees: in order, without overlap, centred, equal for equal subtrees, and linear."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from linkwork.formats.tidy_tree import positions
from seeds import rng


def random_tree(n: int, label: str) -> tuple[list[int], list[float]]:
    """Parents before children, with numbers in the order of a walk from the left."""
    generator = rng(label)
    reach = int(generator.integers(1, n + 1))
    raw = [-1, *(int(generator.integers(max(0, k - reach), k)) for k in range(1, n))]
    children: list[list[int]] = [[] for _ in raw]
    for node in range(1, n):
        children[raw[node]].append(node)
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += children[node][::-1]
    new = {node: k for k, node in enumerate(order)}
    widths = generator.uniform(1, 9, n).tolist()
    return [new.get(raw[node], -1) for node in order], widths


def depths(parents: list[int]) -> list[int]:
    found = [0]
    for parent in parents[1:]:
        found.append(found[parent] + 1)
    return found


@pytest.mark.parametrize("k", range(40))
def test_layers_are_in_order_without_overlap_and_parents_are_centred(k: int):
    parents, widths = random_tree(3 + 5 * k, f"tidy {k}")
    x, depth = positions(parents, widths), depths(parents)
    for layer in range(max(depth) + 1):
        nodes = [n for n, d in enumerate(depth) if d == layer]  # in the order of the walk
        for left, right in pairwise(nodes):
            assert x[right] - x[left] >= (widths[left] + widths[right]) / 2 - 1e-9
    for node in range(len(parents)):
        below = [x[c] for c, parent in enumerate(parents) if parent == node]
        if below:
            assert x[node] == pytest.approx((below[0] + below[-1]) / 2, abs=1e-9)
    assert x[0] == 0.0


@pytest.mark.parametrize("k", range(10))
def test_equal_subtrees_look_equal(k: int):
    parents, widths = random_tree(4 + 3 * k, f"equal {k}")
    n = len(parents)
    twice = [-1, *(p + 1 for p in parents), *(p + 1 + n for p in parents)]
    twice[1] = twice[n + 1] = 0
    x = np.array(positions(twice, [1.0, *widths, *widths]))
    np.testing.assert_allclose(x[1 : n + 1] - x[1], x[n + 1 :] - x[n + 1], atol=1e-9)
    np.testing.assert_allclose(x[1 : n + 1] - x[1], positions(parents, widths), atol=1e-9)


def test_neighbours_touch_where_nothing_else_keeps_them_apart():
    assert positions([-1, 0, 0, 0], [1, 2, 4, 6]) == [0, -4, -1, 4]
    # the leaf between two deep subtrees stands in the middle, not at one of them
    wide = positions([-1, 0, 1, 1, 1, 0, 0, 6, 6, 6], [1.0] * 10)
    assert wide[5] == pytest.approx((wide[1] + wide[6]) / 2)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("shape", ["chain", "star", "comb", "random"])
def test_large_trees(shape: str):
    n = 100_000
    parents = {
        "chain": lambda: list(range(-1, n - 1)),
        "star": lambda: [-1] + [0] * (n - 1),
        "comb": lambda: [-1, *(k - 1 if k % 2 else max(k - 2, 0) for k in range(1, n))],
        "random": lambda: random_tree(n, "large")[0],
    }[shape]()
    x = positions(parents, [1.0] * n)
    assert np.isfinite(x).all()
