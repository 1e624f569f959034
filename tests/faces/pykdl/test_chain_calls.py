"""Compiled calls on a chain against the robot that they are made of."""

from __future__ import annotations

import numpy as np
import pytest

from kdl_chains import chain
from linkwork.compile.numpy_abi import array_abi
from linkwork.faces import pykdl
from linkwork.faces.pykdl.chain_calls import (
    forces_call,
    pose_call,
    towards_call,
    twist_call,
    velocities_call,
    velocity_call,
)
from linkwork.faces.pykdl.core import Core
from linkwork.faces.pykdl.solver import OtherWayError, otherwise
from seeds import rng

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
    for count in range(len(core.order)):
        q, v = random.normal(size=(2, robot.n_q))
        turn, place = pose_call(core, count)(q)
        T = robot.fk(q, str(count))
        near(turn, T[:3, :3].ravel())
        near(place, T[:3, 3])
        parts = velocity_call(core, count)(q, v)
        twist = robot.jacobian(q, str(count)) @ v
        near(np.concatenate(parts), [*T[:3, :3].ravel(), *T[:3, 3], *twist])
        for reference in ("world-aligned", "local", "world"):
            got = twist_call(core, count, reference)(q, v)
            near(np.concatenate(got), robot.jacobian_dot_v(q, v, str(count), reference=reference))


@pytest.mark.sweep(1)
def test_forces(core: Core):
    random, robot = rng("chain forces"), core.robot
    n, loaded = robot.n_q, len(core.wrenches)
    q, v, dv = random.normal(size=(3, n))
    gravity, wrenches = random.normal(size=3), random.normal(size=(loaded, 2, 3))
    parts = [tuple(x) for pair in wrenches.tolist() for x in pair]
    got = forces_call(core)(q, v, dv, gravity, *parts)
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
    got, bound, share = velocities_call(core, end)(q, tuple(linear.tolist()), angular)
    near(got, np.linalg.pinv(J) @ twist, 1e-9)
    least = np.linalg.svd(J, compute_uv=False)[-1]
    assert 0 < bound <= least * (1 + 1e-9)
    assert share < bound
    free = 0.3 * (weights * (goal - q)) @ (goal - q) / ((weights * (goal - q)) ** 2).sum()
    free = free * weights * (goal - q)
    got, _, _ = towards_call(core, end)(q, linear, angular, goal, weights, 0.3)
    near(got, free + np.linalg.pinv(J) @ (twist - J @ free), 1e-9)
    at_rest, _, _ = towards_call(core, end)(q, linear, angular, q, weights, 0.3)
    near(at_rest, np.linalg.pinv(J) @ twist, 1e-9)


def test_what_it_does_not_take_goes_the_other_way(core: Core):
    call = pose_call(core, 1)
    for q in (np.zeros(core.robot.n_q + 1), np.full(core.robot.n_q, np.nan), [0.0], None):
        with pytest.raises(OtherWayError):
            call(q)


def test_chains_that_are_too_long_or_stand_still_go_the_other_way():
    still = Core([pykdl.Segment()])
    long = Core([pykdl.Segment(pykdl.Joint(pykdl.Joint.RotZ))] * 13)
    for made in (velocities_call, towards_call):
        assert made(still, 1) is otherwise
        assert made(long, 13) is otherwise
