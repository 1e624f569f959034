"""Roots, branches and paths of random trees, against plain definitions; names and their clashes."""

from __future__ import annotations

import pytest

from linkwork.errors import InputError, UnknownNameError
from linkwork.formats.urdf.convert import listed
from linkwork.formats.urdf.edit import records as tree
from linkwork.formats.urdf.read import read
from robots import chain_urdf, random_tree
from seeds import rng


def test_random_trees():
    random = rng("trees")
    for n in (0, 1, 5, 30):
        robot = read(random_tree(random, n)).robot
        parent = {joint.child: joint.parent for joint in robot.joints}
        root = tree.root_of(robot)
        assert root not in parent

        def above(link: str, parent: dict[str, str] = parent) -> list[str]:
            found = [link]
            while found[-1] in parent:
                found.append(parent[found[-1]])
            return found

        for link in tree.link_names(robot):
            path = tree.path_to(robot, link)
            assert [j.child for j in path] == above(link)[-2::-1]
            below = {other for other in tree.link_names(robot) if link in above(other)}
            assert tree.below(robot, link) == below


def test_a_long_chain_needs_no_recursion():
    robot = read(chain_urdf(20_000)).robot
    assert len(tree.path_to(robot, "link20000")) == 20_000
    assert len(tree.below(robot, "link1")) == 20_000


def test_free_names():
    assert tree.free("a", {"b"}) == "a"
    assert tree.free("a", {"a", "a_2"}) == "a_3"


def test_listed_names():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdefg")) == "'a', 'b', 'c', 'd', 'e' and 2 more"


def test_changes_of_names():
    names = ["a", "b", "c"]
    assert tree.renaming("link", {"a": "b", "b": "a"}, names) == {"a": "b", "b": "a"}
    assert tree.renaming("link", {"a": "a"}, names) == {}
    with pytest.raises(UnknownNameError, match="no link named 'd'"):
        tree.renaming("link", {"d": "e"}, names)
    for changes, text in [
        ({"a": "b"}, "'b': another one has it"),
        ({"a": "x", "b": "x"}, "given to 'a' too"),
        ({"a": ""}, "give it a name"),
        ({"a": " "}, "give it a name"),
        ({"a": 3}, "give it a name"),
    ]:
        with pytest.raises(InputError, match=text):
            tree.renaming("link", changes, names)
