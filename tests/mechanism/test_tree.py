"""Faults of names and references, passes and pointer doubling."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from linkwork.errors import DescriptionError
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.mechanism.tree import fold_to_anchors, resolve
from seeds import rng


def parts(links, joints):
    """Parts from names: joints as (name, parent, child)."""
    return Parts(
        "tree",
        [LinkPart(name) for name in links],
        [
            JointPart(name=name, type=JointType.REVOLUTE, parent=parent, child=child)
            for name, parent, child in joints
        ],
    )


def codes(given):
    with pytest.raises(DescriptionError) as caught:
        assemble(given)
    return [problem.code for problem in caught.value.problems], str(caught.value)


@pytest.mark.parametrize(
    ("links", "joints", "code", "text"),
    [
        ("", [], "no-link", "there is no link"),
        ("aab", [("j", "a", "b")], "duplicate-name", "'a': the name is used more than once"),
        ("abc", [("j", "a", "b"), ("j", "b", "c")], "duplicate-name", "<joint> 'j'"),
        ("abc", [("j", "a", "c"), ("k", "b", "c")], "two-parents", "child of j, k"),
        ("abc", [("j", "a", "b")], "several-roots", "'a, c': several links have no parent"),
        ("abc", [("j", "b", "c"), ("k", "c", "b")], "cycle", "a cycle: j < k"),
        ("ab", [("j", "a", "b"), ("k", "b", "a")], "cycle", "a cycle"),
        ("a", [("j", "a", "a")], "cycle", "a cycle: j"),
        (["left", "b"], [("j", "lefd", "b")], "unknown-link", "nearest: left"),
        ("ab", [("j", "a", None)], "missing-link", "'j': it has no child"),
        ("ab", [("j", None, "b")], "missing-link", "'j': it has no parent"),
    ],
)
def test_faults(links, joints, code, text):
    found, message = codes(parts(links, joints))
    assert code in found and text in message


def test_all_faults_at_once():
    found, _ = codes(
        parts("aabcd", [("j", "a", "b"), ("j", "x", "c"), ("k", "a", "b"), ("l", "b", "y")])
    )
    expected = {"duplicate-name", "unknown-link", "two-parents", "several-roots"}
    assert set(found) == expected and found.count("unknown-link") == 2


def test_a_cycle_of_many_is_named_briefly():
    names = [f"l{k}" for k in range(1000)]
    ring = [(f"j{k}", names[k], names[(k + 1) % 1000]) for k in range(1000)]
    found, message = codes(parts([*names, "root"], ring))
    assert found == ["cycle"] and "and 992 more" in message


def test_a_cycle_with_a_tail():
    joints = [("j", "b", "c"), ("k", "c", "b"), ("t", "c", "d"), ("r", "a", "e")]
    _, message = codes(parts("abcde", joints))
    assert "'t'" not in message.split("cycle")[0]


def test_order_follows_the_file_once_the_parent_is_placed():
    tree = resolve(
        parts("abcde", [("de", "d", "e"), ("cd", "c", "d"), ("ab", "a", "b"), ("ac", "a", "c")])
    )
    assert tree.order.tolist() == [2, 3, 1, 0]
    assert tree.root == 0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 200])
def test_folding_is_the_product_along_the_way(n):
    random = rng(f"folding {n}")
    target = np.array([int(random.integers(k + 1)) for k in range(n)])
    R = np.array([robots.about(np.eye(3)[k % 3], x) for k, x in enumerate(random.normal(size=n))])
    p = random.normal(size=(n, 3))
    expected: list[tuple[int, np.ndarray, np.ndarray]] = []
    for k in range(n):
        if target[k] == k:
            expected.append((k, R[k], p[k]))
        else:
            anchor, R_above, p_above = expected[target[k]]
            expected.append((anchor, R_above @ R[k], p_above + R_above @ p[k]))
    anchors = fold_to_anchors(target, R, p)
    assert anchors.tolist() == [anchor for anchor, _, _ in expected]
    np.testing.assert_allclose(R, [turn for _, turn, _ in expected], atol=1e-13)
    np.testing.assert_allclose(p, [shift for _, _, shift in expected], atol=1e-12)
