from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kdl_small import arm
from linkwork.faces.pykdl import (
    Chain,
    Frame,
    Joint,
    RigidBodyInertia,
    Rotation,
    Segment,
    Tree,
    Vector,
)


def segment(name: str, joint: Joint) -> Segment:
    tip = Frame(Rotation.RotX(0.2), Vector(1, 0.2, 0.3))
    return Segment(name, joint, tip, RigidBodyInertia(float(ord(name[0]))))


def tree() -> Tree:
    made = Tree("base")
    made.addSegment(segment("a", Joint("ja", Joint.RotZ, 2.0)), "base")
    axis = Joint("jb", Vector(1, 2, 3), Vector(1, 1, 1), Joint.RotAxis)
    made.addSegment(segment("b", axis), "a")
    made.addSegment(segment("c", Joint("jc", Joint.TransX)), "a")
    made.addSegment(segment("e", Joint("je")), "c")
    return made


def names(chain: Chain) -> list[str]:
    return [chain.getSegment(k).getName() for k in range(chain.getNrOfSegments())]


@pytest.mark.row("S3-114")
def test_chains_out_of_a_tree():
    made = tree()
    assert (made.getNrOfJoints(), made.getNrOfSegments()) == (3, 4)
    assert names(made.getChain("base", "b")) == ["a", "b"]
    assert names(made.getChain("b", "e")) == ["a", "c", "e"]
    assert names(made.getChain("b", "base")) == ["a", "base"]
    assert names(made.getChain("a", "a")) == []


@pytest.mark.row("S3-114")
def test_the_way_back_is_the_inverse():
    made = tree()
    there, back = made.getChain("base", "b"), made.getChain("b", "base")
    first = there.getSegment(0).pose(0.4) * there.getSegment(1).pose(0.7)
    second = back.getSegment(0).pose(0.7) * back.getSegment(1).pose(0.4)
    assert first * second == Frame()
    assert back.getSegment(0).getInertia().getMass() == ord("a")
    assert back.getSegment(1).getInertia().getMass() == 0.0


@pytest.mark.row("S3-114")
def test_what_does_not_fit_is_not_added():
    made = tree()
    assert made.addSegment(segment("a", Joint()), "base") is False
    assert made.addSegment(segment("f", Joint()), "nowhere") is False
    assert made.addSegment(segment("f", Joint()), "e") is True
    assert made.addChain(arm(), "f") is True
    assert made.addChain(arm(), "base") is False
    assert made.getNrOfSegments() == 7


@pytest.mark.row("S3-114")
def test_trees_on_trees():
    made = Tree("u")
    assert made.addTree(tree(), "u") is True
    assert names(made.getChain("u", "e")) == ["a", "c", "e"]
    assert names(made.getChain("u", "b")) == ["a", "b"]
    assert made.addTree(tree(), "u") is False


def test_as_shown_there():
    assert repr(Tree()) == "root(q_nr: 0)\n \t\n"
    inner = "c(q_nr: 2)\n \te(q_nr: 0)\n \t\n\t\n\t\n\t\n"
    assert repr(tree()) == f"base(q_nr: 0)\n \ta(q_nr: 0)\n \tb(q_nr: 1)\n \t\n\t{inner}"


def test_copies():
    for other in (Tree(tree()), copy.deepcopy(tree()), pickle.loads(pickle.dumps(tree()))):
        assert repr(other) == repr(tree())


def test_an_unknown_segment():
    made = tree()
    for ends in (("base", "x"), ("x", "e"), ("x", "y")):
        chain = made.getChain(*ends)
        assert (chain.getNrOfSegments(), chain.getNrOfJoints()) == (0, 0)
        assert chain.getSegment(0) is None
        assert repr(chain) == "[]"


def test_a_chain_that_was_given_out_changes_nothing_in_the_tree():
    made = tree()
    chain = made.getChain("base", "b")
    chain.addSegment(segment("x", Joint("jx", Joint.RotX)))
    assert names(made.getChain("base", "b")) == ["a", "b"]


def test_a_tree_that_grows_gives_its_new_chains():
    made = tree()
    assert names(made.getChain("base", "x")) == []
    made.addSegment(segment("x", Joint("jx", Joint.RotX)), "e")
    assert names(made.getChain("base", "x")) == ["a", "c", "e", "x"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Tree().getChain("root", 3),  # pyright: ignore[reportArgumentType]
        lambda: Tree().getChain(["root"], "root"),  # pyright: ignore[reportArgumentType]
        lambda: Tree(3),
        lambda: Tree().addSegment(3, "root"),
        lambda: Tree().addChain(3, "root"),
        lambda: Tree().addTree(3, "root"),
    ],
)
def test_wrong_arguments(call: Any):
    with pytest.raises(TypeError, match="takes"):
        call()


def test_nothing_may_be_added_anywhere():
    made = tree()
    assert made.addChain(Chain(), "nowhere") is made.addTree(Tree("x"), "nowhere") is True
    assert repr(made) == repr(tree())
