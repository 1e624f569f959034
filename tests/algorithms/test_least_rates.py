"""Least rates against the pseudo-inverse, with redundant rows and freedoms that nothing drives."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.actuation import actuated_numbers
from linkwork.algorithms.least_rates import Following, following
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import Mechanism
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from seeds import rng

CLOSED = [name for name in MODELS if MODELS[name].closed]


def expected(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """By singular values: (nv, n_actuated)."""
    J = np.asarray(evaluate("closure_jacobian", m, q))
    driven = actuated_numbers(m)
    passive = [k for k in range(m.n_v) if k not in driven and J[:, k].any()]
    rates = np.zeros((m.n_v, len(driven)))
    rates[driven, range(len(driven))] = 1.0
    rates[passive] = -np.linalg.pinv(J[:, passive], rcond=1e-8) @ J[:, driven]
    return rates


def states(robot, n: int, share: float) -> np.ndarray:
    """Random configurations that are assembled."""
    m, g = robot.mechanism, rng(f"least rates {robot.name} {share}")
    at = [m.q_start[m.joint(name)] for name in m.actuated]
    lower, upper = (np.clip(x, -np.pi, np.pi)[at] for x in robot.limits[:2])
    half = 0.5 * share * (upper - lower)
    given = 0.5 * (lower + upper) + half * g.uniform(-1, 1, (n, len(at)))
    found = robot.assemble(given, near=robot.neutral())
    assert found.success.mean() > 0.5
    return found.q[found.success]


def rates_of(found: Following) -> np.ndarray:
    return np.array(found.columns, dtype=float).T


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_bundled_mechanisms(name: str, share: float):
    robot = lw.load(name)
    for q in states(robot, 10, share):
        found, wanted = following(NUMPY, robot.mechanism, q), expected(robot.mechanism, q)
        np.testing.assert_allclose(rates_of(found), wanted, atol=1e-10 * np.abs(wanted).max())
        assert np.abs(found.left).max(initial=0.0) < 1e-9


@pytest.mark.parametrize(
    ("name", "driven"), [("stewart", 5), ("stewart", 2), ("five_bar", 1), ("delta", 2)]
)
def test_where_joints_are_free_the_least_motion(name: str, driven: int):
    whole = lw.load(name)
    m = whole.with_actuated(whole.actuated[:driven]).mechanism
    for q in states(whole, 10, 0.6):
        wanted = expected(m, q)
        np.testing.assert_allclose(
            rates_of(following(NUMPY, m, q)), wanted, atol=1e-10 * np.abs(wanted).max()
        )


def test_in_the_order_of_the_actuated_joints():
    robot = lw.load("five_bar")
    turned = robot.with_actuated(robot.actuated[::-1])
    q = states(robot, 1, 0.3)[0]
    both = [rates_of(following(NUMPY, r.mechanism, q)) for r in (robot, turned)]
    np.testing.assert_allclose(both[1], both[0][:, ::-1], atol=1e-13)


def test_joints_that_hold_each_other_leave_the_loop_open():
    robot = lw.load("four_bar")
    q = robot.assemble([0.3]).q
    found = following(NUMPY, robot.with_actuated(["crank", "rocker"]).mechanism, q)
    assert np.abs(found.left).max() > 0.1
    every = robot.with_actuated([*robot.joint_names]).mechanism  # none is passive
    found = following(NUMPY, every, q)
    np.testing.assert_array_equal(rates_of(found), np.eye(3))
    assert np.abs(found.left).max() > 0.1


def test_next_to_a_singularity():
    robot = lw.load("slider_crank")
    m = robot.with_actuated(
        "slider"
    ).mechanism  # the slider can hardly say which way the crank turns
    for crank in (0.5, 1e-3, 1e-5, 1e-7):
        q = robot.assemble([crank]).q
        found, by_crank = following(NUMPY, m, q, free_motions=0), robot.passive_rates(q)[:, 0]
        assert not found.singular and np.abs(found.left).max() < 1e-9
        np.testing.assert_allclose(rates_of(found)[:, 0], by_crank / by_crank[-1], rtol=1e-9)
    assert following(NUMPY, m, robot.assemble([0.0]).q, free_motions=0).singular
