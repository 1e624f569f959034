"""Joints, segments, chains and trees, and what computes with chains."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from kdl_chains import chain
from kdl_small import arm, array
from linkwork.errors import InputError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    Chain,
    ChainFkSolverPos_recursive,
    ChainIdSolver_RNE,
    ChainIkSolverVel_pinv,
    Frame,
    JntArray,
    Joint,
    RigidBodyInertia,
    Rotation,
    Segment,
    Tree,
    Twist,
    Vector,
    Wrench,
    addDelta,
)
from linkwork.faces.pykdl.core import MOST_CORES

# joint


@pytest.mark.row("S3-111")
def test_types_about_the_own_axes():
    for k, axis in enumerate("XYZ"):
        turn, slide = Joint(getattr(Joint, f"Rot{axis}")), Joint(getattr(Joint, f"Trans{axis}"))
        expected = Frame(getattr(Rotation, f"Rot{axis}")(0.3))
        assert turn.pose(0.3) == expected
        assert slide.pose(0.3).p[k] == 0.3
        assert turn.twist(2.0)[3 + k] == slide.twist(2.0)[k] == 2.0
        assert turn.getTypeName() == f"Rot{axis}"


@pytest.mark.row("S3-111")
def test_an_axis_through_a_point():
    joint = Joint("a", Vector(1, 2, 3), Vector(0, 2, 0), Joint.RotAxis)
    assert joint.JointAxis() == Vector(0, 1, 0)
    assert joint.JointOrigin() == Vector(1, 2, 3)
    assert joint.pose(0.3) == Frame(Rotation.RotY(0.3), Vector(1, 2, 3))
    slide = Joint(Vector(1, 2, 3), Vector(0, 2, 0), Joint.TransAxis)
    assert slide.pose(0.3) == Frame(Vector(1, 2.3, 3))
    assert slide.getName() == "NoName"
    assert slide.twist(1.5) == Twist(Vector(0, 1.5, 0), Vector())


@pytest.mark.row("S3-111")
def test_scale_and_offset():
    joint = Joint("z", Joint.RotZ, 2.0, 0.5)
    assert joint.pose(0.3) == Frame(Rotation.RotZ(1.1))
    assert joint.twist(2.0).rot == Vector(0, 0, 4)


@pytest.mark.row("S3-111")
def test_fixed_and_shown():
    assert Joint().getType() is Joint.Fixed
    assert Joint().pose(3.0) == Frame()
    assert repr(Joint("n")).startswith("n:[Fixed, axis: [           0,")
    assert str(Joint.RotX) == "JointType.RotX"
    assert Joint.RotX == 1 and Joint.JointType.Fixed == 8


@pytest.mark.parametrize("given", [(Joint.RotAxis,), ("x", Vector(), Vector(0, 0, 1), Joint.RotZ)])
def test_types_that_do_not_fit(given: tuple[object, ...]):
    with pytest.raises(RuntimeError, match="axis"):
        Joint(*given)


@pytest.mark.parametrize("axis", [(0, 0, 0), (math.nan, 0, 0), (math.inf, 0, 0)])
def test_an_axis_without_direction(axis: tuple[float, float, float]):
    with pytest.raises(InputError, match="not zero"):
        Joint(Vector(), Vector(*axis), Joint.RotAxis)


# segment


TIP = Frame(Rotation.RotX(0.3), Vector(4, 5, 6))


@pytest.mark.row("S3-112")
def test_the_joint_moves_the_tip():
    joint = Joint("j", Vector(1, 2, 3), Vector(0, 1, 0), Joint.RotAxis)
    segment = Segment("s", joint, TIP)
    assert segment.pose(0.0) == segment.getFrameToTip() == TIP
    turn = Frame(Rotation.RotY(0.3), Vector(1, 2, 3)) * Frame(Vector(-1, -2, -3))
    assert segment.pose(0.3) == turn * TIP
    near = addDelta(segment.pose(0.3), segment.twist(0.3, 2.0), 1e-7)
    away = (segment.pose(0.3 + 2e-7).p - near.p).Norm()
    assert away < 1e-12
    assert segment.getJoint().getName() == "j"
    assert segment.getName() == "s"


@pytest.mark.row("S3-112")
def test_an_offset_does_not_move_a_segment():
    segment = Segment(Joint(Joint.RotZ, 2.0, 0.5), TIP)
    assert segment.pose(0.0) == TIP
    assert segment.pose(0.2) == Frame(Rotation.RotZ(0.4)) * TIP


@pytest.mark.row("S3-112")
def test_the_inertia_is_a_copy():
    segment = Segment("s", Joint(Joint.RotX), TIP, RigidBodyInertia(2.0))
    other = Segment(segment)
    segment.setInertia(RigidBodyInertia(5.0))
    assert segment.getInertia().getMass() == 5.0
    assert other.getInertia().getMass() == 2.0
    segment.getFrameToTip().p.x(99.0)
    assert segment.getFrameToTip() == TIP


def test_turned_round_it_leads_back():
    joint = Joint("j", Vector(1, 2, 3), Vector(1, 1, 0), Joint.RotAxis, 2.0, 0.4)
    segment = Segment("s", joint, TIP)
    back = segment.reversed("before", RigidBodyInertia())
    assert back.pose(0.7) * segment.pose(0.7) == Frame()
    assert back.getName() == "before"


# chain


@pytest.mark.row("S3-113")
def test_segments_and_joints_are_counted():
    chain = arm(fixed=True)
    assert (chain.getNrOfJoints(), chain.getNrOfSegments()) == (2, 3)
    assert chain.getSegment(2).getName() == "tool"
    chain.addChain(arm())
    assert (chain.getNrOfJoints(), chain.getNrOfSegments()) == (4, 5)
    assert repr(Chain()) == "[]"
    assert repr(chain).startswith("[upper:[upper joint:[RotZ, axis: [")


@pytest.mark.row("S3-113")
def test_a_chain_has_its_own_segments():
    chain = arm()
    other = Chain(chain)
    chain.getSegment(0).setInertia(RigidBodyInertia(99.0))
    assert chain.getSegment(0).getInertia().getMass() == 2.0
    other.addChain(chain)
    assert chain.getNrOfSegments() == 2
    chain.addChain(chain)
    assert chain.getNrOfSegments() == 4


def test_copies_share_what_computes_until_one_grows():
    chain = arm()
    core = chain.core
    other = copy.deepcopy(chain)
    assert other.core is core
    other.addChain(chain)
    assert other.core is not core
    assert repr(pickle.loads(pickle.dumps(chain))) == repr(chain)


@pytest.mark.parametrize("k", [2, -1])
def test_no_such_segment(k: int):
    with pytest.raises(IndexError, match="0 to 1"):
        arm().getSegment(k)


# tree


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


def test_nothing_may_be_added_anywhere():
    made = tree()
    assert made.addChain(Chain(), "nowhere") is made.addTree(Tree("x"), "nowhere") is True
    assert repr(made) == repr(tree())


@pytest.mark.parametrize(
    "made",
    [
        Joint("a", Vector(1, 2, 3), Vector(0, 2, 0), Joint.RotAxis, 2.0),
        Segment("s", Joint("j", Joint.RotX), TIP, RigidBodyInertia(2.0)),
        arm(),
        tree(),
    ],
    ids=lambda made: type(made).__name__,
)
def test_copies(made: Any):
    for other in (
        type(made)(made), copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))
    ):  # fmt: skip
        assert other is not made
        assert repr(other) == repr(made)
    if isinstance(made, Segment):
        assert copy.copy(made).getInertia() == made.getInertia()


WRONG: list[tuple[Any, tuple[Any, ...]]] = [
    *[(Joint, x) for x in ((3,), ("x", 3), (Vector(),), (Joint.RotX, [1.0]), (1, 2, 3))],
    *[(Segment, x) for x in ((3,), ("s", 3), ("s", Joint(), 1), (TIP,))],
    *[(call, (3,)) for call in (Chain, Chain().addSegment, Chain().addChain, Tree)],
    *[(Tree().getChain, x) for x in (("root", 3), (["root"], "root"))],
    *[(call, (3, "root")) for call in (Tree().addSegment, Tree().addChain, Tree().addTree)],
]


@pytest.mark.parametrize(("call", "given"), WRONG)
def test_wrong_arguments(call: Any, given: tuple[Any, ...]):
    with pytest.raises(TypeError, match=r"takes|scale is"):
        call(*given)


# what computes


def test_poses_are_those_of_the_segments():
    made, found = chain(pykdl, "core", 6, scaled=True), Frame()
    q = array(*np.linspace(-1.0, 1.5, made.getNrOfJoints()))
    solver, rest, pose = ChainFkSolverPos_recursive(made), list(q), Frame()
    for k, segment in enumerate(made.segments):
        moves = segment.getJoint().getType() is not Joint.Fixed
        pose = pose * segment.pose(rest.pop(0) if moves else 0.0)
        assert solver.JntToCart(q, found, k + 1) == 0
        assert np.abs(found.ToArray() - pose.ToArray()).max() < 1e-14


def test_names_may_be_the_same():
    made = Chain()
    for _ in range(3):
        made.addSegment(Segment("same", Joint("same", Joint.RotZ), Frame(Vector(1, 0, 0))))
    assert made.core.robot.n_q == 3


def test_wrenches_count_where_something_moves():
    made, still, forces = Chain(), array(0, 0), [JntArray(2), JntArray(2)]
    made.addSegment(Segment("foot", Joint(), Frame()))
    made.addChain(arm())
    push, none = Wrench(Vector(0, 7, 0), Vector()), Wrench()
    solver = ChainIdSolver_RNE(made, Vector())
    for wrenches, out in (([push, none, push], forces[0]), ([none, none, push], forces[1])):
        assert solver.CartToJnt(still, still, still, wrenches, out) == 0
    assert forces[0] == forces[1] != JntArray(2)


# made anew


def rod(length: float, mass: float = 1.0, name: str = "rod", **joint: Any) -> Chain:
    made = Chain()
    tip, body = Frame(Vector(length, 0, 0)), RigidBodyInertia(mass)
    made.addSegment(Segment(name, Joint(name, Joint.RotZ, **joint), tip, body))
    return made


def test_chains_of_the_same_numbers_share_what_computes():
    core = rod(0.25).core
    assert rod(0.25).core is core
    assert rod(0.25, name="other").core is core


@pytest.mark.parametrize(
    "other",
    [
        lambda: rod(0.25 + 1e-16 * 0.25 * 4),
        lambda: rod(-0.25),
        lambda: rod(0.25, 2.0),
        lambda: rod(0.25, scale=2.0),
        lambda: rod(0.25, inertia=2.0),
        arm,
    ],
)
def test_chains_of_other_numbers_do_not(other: Callable[[], Chain]):
    assert other().core is not rod(0.25).core


def test_a_segment_that_was_changed_counts_with_its_change():
    segment = rod(0.25).getSegment(0)
    core = rod(0.25).core
    segment.setInertia(RigidBodyInertia(3.0))
    made = Chain()
    made.addSegment(segment)
    assert made.core is not core
    assert made.core is rod(0.25, 3.0).core


def test_what_is_kept_is_bounded():
    kept = [weakref.ref(rod(1.0 + k).core) for k in range(2 * MOST_CORES)]
    gc.collect()
    assert sum(core() is not None for core in kept) <= MOST_CORES


def test_a_chain_that_is_there_keeps_what_computes():
    made = rod(0.5)
    core = made.core
    for k in range(2 * MOST_CORES):
        rod(2.0 + k).core  # noqa: B018  that makes it
    assert made.core is core


def test_threads_make_solvers_anew():
    lengths = [1.0, 2.0, 3.0, 4.0]

    def reach(k: int) -> float:
        frame = Frame()
        solver = ChainFkSolverPos_recursive(rod(lengths[k % 4]))
        assert solver.JntToCart(array(0.0), frame) == 0
        return frame.p.x()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(reach, range(400))) == lengths * 100


def test_batches_are_no_segments():
    tips = Frame(Vector(np.ones(3), np.zeros(3), np.zeros(3)))
    made = Chain()
    made.addSegment(Segment("tips", Joint(Joint.RotZ), tips))
    with pytest.raises(TypeError, match="single values"):
        made.core  # noqa: B018  that asks for it


@pytest.mark.parametrize("length", [1, 13])
def test_velocities_of_chains_that_are_short_or_too_long_for_compiled_code(length: int):
    made = Chain()
    for k in range(length):
        joint = Joint(Joint.RotY if k % 2 else Joint.RotZ)
        made.addSegment(Segment(joint, Frame(Vector(0.1, 0.2, 0.3))))
    q, twist = JntArray(length), Twist(Vector(1, 2, 3), Vector(0.1, 0.2, 0.3))
    out = JntArray(length)
    assert ChainIkSolverVel_pinv(made).CartToJnt(q, twist, out) in (0, 100)
    J = made.core.robot.jacobian(np.zeros(length), str(length))
    wanted = np.linalg.pinv(J, rcond=1e-6) @ twist.ToArray()
    assert out.ToArray() == pytest.approx(wanted, rel=1e-9, abs=1e-9)
