"""Faults of names and references, passes and pointer doubling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from linkwork.errors import DescriptionError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
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
        ("aab", [("j", "a", "b")], "duplicate-link", "'a': the name is taken: another link has it"),
        ("abc", [("j", "a", "b"), ("j", "b", "c")], "duplicate-joint", "<joint> 'j'"),
        ("abc", [("j", "a", "c"), ("k", "b", "c")], "two-parents", "hangs on joint 'j'"),
        (
            "abc",
            [("j", "a", "b")],
            "several-roots",
            "2 links have no parent",
        ),
        ("abc", [("j", "b", "c"), ("k", "c", "b")], "cycle", "2 links form a cycle: b -> c -> b"),
        ("ab", [("j", "a", "b"), ("k", "b", "a")], "cycle", "form a cycle"),
        ("a", [("j", "a", "a")], "same-link", "parent and child are the same link 'a'"),
        (["", ""], [("j", "", "")], "empty-name", "the name is empty"),
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
    expected = {"duplicate-link", "duplicate-joint", "unknown-link", "two-parents", "several-roots"}
    assert set(found) == expected and found.count("unknown-link") == 2


def test_a_cycle_of_many_is_named_briefly():
    names = [f"l{k}" for k in range(1000)]
    ring = [(f"j{k}", names[k], names[(k + 1) % 1000]) for k in range(1000)]
    found, message = codes(parts([*names, "root"], ring))
    assert found == ["cycle"] and "1000 links form a cycle" in message and len(message) < 150


def test_a_cycle_with_a_tail():
    joints = [("j", "b", "c"), ("k", "c", "b"), ("t", "c", "d"), ("r", "a", "e")]
    _, message = codes(parts("abcde", joints))
    assert "'t'" not in message.split("cycle")[0]


def random_joints(label):
    """A few joints between a few links, mostly a tree and often not quite."""
    random = rng(label)
    n = int(random.integers(2, 6))
    joints = [[f"j{k}", f"l{random.integers(k)}", f"l{k}", ""] for k in range(1, n)]
    for joint in joints:
        if random.random() < 0.2:
            joint[int(random.integers(1, 3))] = f"l{random.integers(n + 1)}"
        if random.random() < 0.1:
            joint[0] = "j1"
        if random.random() < 0.3:
            joint[3] = f"j{random.integers(n + 1)}"
    return [f"l{k}" for k in range(n)], [tuple(joint) for joint in joints]


@pytest.mark.parametrize("seed", range(60))
def test_a_file_and_parts_made_in_code_are_judged_alike(seed):
    links, joints = random_joints(f"structure {seed}")
    made = parts(links, [joint[:3] for joint in joints])
    made.joints = [
        replace(part, mimic=Mimic(joint[3]) if joint[3] else None)
        for part, joint in zip(made.joints, joints, strict=True)
    ]
    text = "".join(f'<link name="{name}"/>' for name in links)
    for name, parent, child, leader in joints:
        text += f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
        text += f'<child link="{child}"/><axis xyz="0 0 1"/>'
        text += (f'<mimic joint="{leader}"/>' if leader else "") + "</joint>"

    def codes_of(call):
        try:
            call()
        except DescriptionError as error:
            assert error.problems
            return sorted(problem.code for problem in error.problems)
        return []

    assert codes_of(lambda: assemble(made)) == codes_of(
        lambda: read(f'<robot name="r">{text}</robot>')
    )


def test_faults_of_parts_know_where_they_were_described():
    given = parts("ab", [("j", "a", "c")])
    given.joints = [replace(given.joints[0], line=7, file="arm.xml")]
    _, message = codes(given)
    assert "arm.xml:7: error: <joint> 'j': the child link 'c' does not exist" in message


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
