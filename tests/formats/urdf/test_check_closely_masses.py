"""Joints that move nothing with mass, against a plain search of each joint's links."""

from __future__ import annotations

import pytest

from linkwork.errors import Finding
from linkwork.formats.urdf.check import check_closely
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import ZERO, Inertial, Joint, Link, Mimic, Robot
from seeds import rng

MOMENT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def link(name: str, mass: float | None = None) -> Link:
    return Link(name, None if mass is None else Inertial(ZERO, ZERO, mass, MOMENT))


def joint(name: str, ends: str, kind: str = "revolute", mimic: str = "") -> Joint:
    parent, child = ends.split(">")
    return Joint(name, kind, parent, child, mimic=Mimic(mimic) if mimic else None)


def found(*records: Link | Joint) -> list[Finding]:
    links = tuple(record for record in records if isinstance(record, Link))
    joints = tuple(record for record in records if isinstance(record, Joint))
    problems = Findings(None)
    check_closely(Robot("r", links, joints), problems)
    return [p for p in problems.sorted() if p.code in ("massless", "no-masses")]


def names(*records: Link | Joint) -> list[str]:
    assert all(problem.code == "massless" for problem in found(*records))
    return sorted(problem.name for problem in found(*records))


BASE = link("base", 1.0)


def test_a_light_end_is_told_once_where_it_begins():
    chain = (joint("a", "base>x"), joint("b", "x>y"), joint("c", "y>z"))
    links = (link("x"), link("y"), link("z"))
    assert names(BASE, *links, *chain) == ["a"]
    assert names(BASE, link("x", 1.0), link("y"), link("z"), *chain) == ["b"]
    assert names(BASE, link("x"), link("y"), link("z", 1.0), *chain) == []


def test_what_is_fixed_to_a_link_counts():
    assert (
        names(BASE, link("x"), link("t", 1.0), joint("a", "base>x"), joint("f", "x>t", "fixed"))
        == []
    )
    assert names(BASE, link("x"), link("t"), joint("a", "base>x"), joint("f", "x>t", "fixed")) == [
        "a"
    ]
    assert names(BASE, link("t"), joint("f", "base>t", "fixed")) == []


def test_a_mass_of_zero_or_below_is_none():
    for mass in (0.0, -1.0):
        assert names(BASE, link("x", mass), joint("a", "base>x")) == ["a"]


def test_followers_count_for_their_leader():
    lead, follow = joint("l", "base>x"), joint("f", "base>y", mimic="l")
    assert names(BASE, link("x"), link("y", 1.0), lead, follow) == []
    assert names(BASE, link("x"), link("y"), lead, follow) == ["l"]
    assert names(BASE, link("x", 1.0), link("y"), lead, follow) == []
    chained = joint("g", "base>z", mimic="f")
    assert names(BASE, link("x"), link("y"), link("z", 1.0), lead, follow, chained) == []


def test_a_robot_without_any_mass_is_told_once():
    (problem,) = found(link("base"), link("x"), link("y"), joint("a", "base>x"), joint("b", "x>y"))
    assert (problem.code, problem.level) == ("no-masses", "note")
    assert found(link("base"), link("t"), joint("f", "base>t", "fixed")) == []
    assert found(link("base")) == []


def test_what_is_no_tree_is_passed_over():
    loop = (joint("a", "x>y"), joint("b", "y>x"))
    assert found(BASE, link("x"), link("y"), *loop) == []
    assert found(BASE, link("x"), joint("a", "base>x"), joint("b", "base>x")) == []
    assert found(BASE, joint("a", "base>nobody")) == []
    assert found(BASE, link("x"), link("x"), joint("a", "base>x")) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_against_a_plain_search(seed: int):
    random = rng(f"masses {seed}")
    n = int(random.integers(2, 25))
    links = [link(f"l{k}", 1.0 if random.random() < 0.3 else None) for k in range(n)]
    joints: list[Joint] = []
    for k in range(1, n):
        kind = str(random.choice(["fixed", "revolute", "prismatic", "floating"]))
        joints.append(joint(f"j{k}", f"l{random.integers(k)}>l{k}", kind))
    leaders = [j for j in joints if j.type in ("revolute", "prismatic")]
    for k, follower in enumerate(joints):
        if follower.type == "revolute" and random.random() < 0.3 and follower is not leaders[0]:
            ends = f"{follower.parent}>{follower.child}"
            joints[k] = joint(follower.name, ends, "revolute", leaders[0].name)

    def below(name: str) -> set[str]:
        return {name}.union(*(below(j.child) for j in joints if j.parent == name))

    heavy = {x.name for x in links if x.inertial}
    light = set()
    for j in joints:
        moved = below(j.child)
        for other in joints:
            if other.mimic is not None and other.mimic.joint == j.name:
                moved |= below(other.child)
        if j.type != "fixed" and j.mimic is None and not moved & heavy:
            light.add(j.name)
    under = {x for j in joints if j.name in light for x in below(j.child)}
    expected = sorted(j.name for j in joints if j.name in light and j.parent not in under)
    order = [joints[k] for k in random.permutation(n - 1)]
    if heavy:
        assert names(*links, *order) == expected


def test_a_long_chain():
    n = 30_000
    links = [link("l0", 1.0), *[link(f"l{k}") for k in range(1, n)]]
    joints = [joint(f"j{k}", f"l{k - 1}>l{k}") for k in range(1, n)]
    assert names(*links, *joints) == ["j1"]
