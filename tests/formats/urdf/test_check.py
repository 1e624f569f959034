"""One finite tree or an error that says why not: names, ends of joints, roots, cycles."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.read import read
from seeds import rng


def text(links: str, joints: str) -> str:
    """Links by name; joints as 'parent>child', named after their place."""
    parts = [f'<link name="{name}"/>' for name in links.split()]
    for number, joint in enumerate(joints.split()):
        parent, child = joint.split(">")
        parts.append(
            f'<joint name="j{number}" type="fixed"><parent link="{parent}"/>'
            f'<child link="{child}"/></joint>'
        )
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def errors(source: str) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(source)
    return list(caught.value.problems)


CASES = [
    ("a", "a>a", {"same-link"}),
    ("a b", "a>b b>a", {"cycle"}),
    ("a b c d", "a>b c>d d>c", {"cycle"}),
    ("a b c", "a>b b>c c>b", {"two-parents"}),
    ("a b c", "a>c b>c", {"two-parents", "several-roots"}),
    ("a b", "a>b a>b", {"two-parents"}),
    ("a b c", "a>b", {"several-roots"}),
    ("a b", "", {"several-roots"}),
    ("a b c d", "a>b c>d", {"several-roots"}),
    ("a b", "a>b a>x", {"unknown-link"}),
    ("a b", "x>b", {"unknown-link"}),
    ("a a", "", {"duplicate-link"}),
    ("a b a", "a>b", {"duplicate-link"}),
    ("", "", {"no-link"}),
    ("", "a>b", {"no-link", "unknown-link"}),
]


@pytest.mark.parametrize(("links", "joints", "codes"), CASES)
def test_what_is_no_tree(links: str, joints: str, codes: set[str]):
    found = errors(text(links, joints))
    assert {problem.code for problem in found} == codes
    assert all(problem.line > 0 for problem in found)


def test_messages_name_all_that_is_needed():
    (problem,) = errors(text("base arm hand tool", "base>arm hand>tool"))
    assert "'base' (line 2)" in problem.message
    assert "'hand' (line 4)" in problem.message
    (problem,) = errors(text("a b c d", "a>b c>d d>c"))
    assert problem.message in (
        "2 links form a cycle: c -> d -> c",
        "2 links form a cycle: d -> c -> d",
    )


def test_a_dangling_end_names_the_nearest_link():
    found = errors(text("base upper_arm", "base>uper_arm"))
    assert "nearest: upper_arm" in found[-1].hint


def test_the_same_joint_name_twice():
    source = text("a b c", "a>b b>c").replace("j1", "j0")
    (problem,) = errors(source)
    assert (problem.code, problem.line) == ("duplicate-joint", 6)
    assert "line 5" in problem.message


def test_a_link_and_a_joint_may_share_a_name():
    assert not read(text("a j0", "a>j0")).problems


@pytest.mark.parametrize("name", ["", " ", "&#10;"])
def test_empty_names(name: str):
    for wrong in (text("a b", "a>b").replace('"b"', f'"{name}"'), f'<robot name="{name}"/>'):
        assert "empty-name" in {problem.code for problem in errors(wrong)}


def test_versions():
    robot = '<robot name="r" version="{}"><link name="a"/></robot>'
    assert not read(robot.format("1.0")).problems
    assert [p.code for p in read(robot.format("7")).problems] == ["version"]


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_in_any_order_are_fine_and_one_more_joint_is_not(seed: int):
    random = rng(f"tree {seed}")
    n = int(random.integers(2, 40))
    joints = [f"l{random.integers(k)}>l{k}" for k in range(1, n)]
    links = [f"l{k}" for k in random.permutation(n)]
    order = [joints[k] for k in random.permutation(n - 1)]
    document = read(text(" ".join(links), " ".join(order)))
    assert [link.name for link in document.robot.links] == links
    assert not document.problems
    a, b = random.integers(n, size=2)
    codes = {p.code for p in errors(text(" ".join(links), " ".join([*order, f"l{a}>l{b}"])))}
    assert codes & {"two-parents", "cycle", "same-link"}
    if len(order) > 1:
        codes = {p.code for p in errors(text(" ".join(links), " ".join(order[1:])))}
        assert codes == {"several-roots"}
