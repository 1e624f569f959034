"""The robot behind a chain, and its compiled calls."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from kdl_chains import chain
from kdl_small import arm, array
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    Chain,
    ChainFkSolverPos_recursive,
    ChainIkSolverVel_pinv,
    Frame,
    JntArray,
    Joint,
    RigidBodyInertia,
    Segment,
    Twist,
    Vector,
)
from linkwork.faces.pykdl.core import MOST_CORES, Core
from seeds import rng

# core


def test_poses_are_those_of_the_segments():
    made = chain(pykdl, "core", 6, scaled=True)
    q = np.linspace(-1.0, 1.5, made.getNrOfJoints())
    rest, pose = q.tolist(), Frame()
    for k, segment in enumerate(made.segments):
        moves = segment.getJoint().getType() is not Joint.Fixed
        pose = pose * segment.pose(rest.pop(0) if moves else 0.0)
        found = made.core.function("fk", k + 1)(q)
        assert np.abs(found - pose.ToArray()).max() < 1e-14


def test_order_says_where_frames_are():
    core = arm(fixed=True).core
    poses = core.function("fk_all")(np.zeros(2))
    assert poses[core.order, 0, 3].tolist() == [0.0, 1.0, 1.5, 1.5]


def test_names_may_be_the_same():
    made = Chain()
    for _ in range(3):
        made.addSegment(Segment("same", Joint("same", Joint.RotZ), Frame(Vector(1, 0, 0))))
    assert made.core.robot.n_q == 3


def test_wrenches_count_where_something_moves():
    made = Chain()
    made.addSegment(Segment("foot", Joint(), Frame()))
    made.addChain(arm())
    assert made.core.standing == 1
    assert made.core.wrenches == ("wrench:2", "wrench:3")
    assert Core([]).wrenches == ()


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


# chain calls


pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python is one that compiled code does not know"
)


@pytest.fixture(name="core", scope="module", params=[False, True], ids=["plain", "scaled"])
def _core(request: pytest.FixtureRequest) -> Core:
    return Core(chain(pykdl, "calls", 9, scaled=request.param).segments)


def near(a: object, b: object, most: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(a), b, rtol=0, atol=most * max(1.0, np.abs(b).max()))


@pytest.mark.slow
def test_poses_and_velocities(core: Core):
    random, robot = rng("chain calls"), core.robot
    for count in (0, len(core.order) // 2, len(core.order) - 1):
        q, v = random.normal(size=(2, robot.n_q))
        turn, place = core.call("pose", count)(q)
        T = robot.fk(q, str(count))
        near(turn, T[:3, :3].ravel())
        near(place, T[:3, 3])
        parts = core.call("motion", count)(q, v)
        twist = robot.jacobian(q, str(count)) @ v
        near(np.concatenate(parts), [*T[:3, :3].ravel(), *T[:3, 3], *twist])
        for reference in ("world-aligned", "local", "world"):
            got = core.call("jacobian_dot_v", count, reference)(q, v)
            near(np.concatenate(got), robot.jacobian_dot_v(q, v, str(count), reference=reference))


@pytest.mark.sweep(1)
def test_forces(core: Core):
    random, robot = rng("chain forces"), core.robot
    n, loaded = robot.n_q, len(core.wrenches)
    q, v, dv = random.normal(size=(3, n))
    gravity, wrenches = random.normal(size=3), random.normal(size=(loaded, 2, 3))
    parts = [tuple(x) for pair in wrenches.tolist() for x in pair]
    got = core.call("forces")(q, v, dv, gravity, *parts)
    poses = robot.fk_all(q)[core.order[core.standing + 1 :]]
    world = np.einsum("kij,kpj->kpi", poses[:, :3, :3], wrenches).reshape(-1, 6)
    function = robot.function("inverse_dynamics", parameters=("gravity", *core.wrenches))
    near(got, function(q, v, dv, gravity, *world) + core.rotors * dv)


@pytest.mark.sweep(1)
def test_velocities(core: Core):
    random, robot, end = rng("chain velocities"), core.robot, len(core.order) - 1
    q, goal, weights = random.normal(size=(3, robot.n_q))
    linear, angular = random.normal(size=(2, 3))
    J, twist = robot.jacobian(q, str(end)), np.concatenate([linear, angular])
    got, bound, share = core.velocities(end, False)(q, tuple(linear.tolist()), angular)
    near(got, np.linalg.pinv(J) @ twist, 1e-9)
    least = np.linalg.svd(J, compute_uv=False)[-1]
    assert 0 < bound <= least * (1 + 1e-9)
    assert share < bound
    free = 0.3 * (weights * (goal - q)) @ (goal - q) / ((weights * (goal - q)) ** 2).sum()
    free = free * weights * (goal - q)
    got, _, _ = core.velocities(end, True)(q, linear, angular, goal, weights, 0.3)
    near(got, free + np.linalg.pinv(J) @ (twist - J @ free), 1e-9)
    at_rest, _, _ = core.velocities(end, True)(q, linear, angular, q, weights, 0.3)
    near(at_rest, np.linalg.pinv(J) @ twist, 1e-9)


def test_the_general_function_says_what_is_wrong(core: Core):
    call, n = core.call("pose", 1), core.robot.n_q
    for q, said in ((np.zeros(n + 1), "shape"), (np.full(n, np.nan), "finite|nan"), (None, "q")):
        with pytest.raises(InputError, match=said):
            call(q)
    near(call([0.0] * n)[0], call(np.zeros(n))[0])


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
    near(out.ToArray(), np.linalg.pinv(J, rcond=1e-6) @ twist.ToArray(), 1e-9)
