"""Loops: the smallest correction that closes them, first states, and singular configurations."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import parallelograms, resized
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.integrators import RK4
from linkwork.simulation.loops import CLOSED, STEADY, OpenLoops, corrected, projected
from linkwork.simulation.time_loop import rollout_of
from pendulums import LIBRARY, request, simulated
from seeds import rng

NAMES = ("four_bar", "slider_crank", "five_bar", "stewart", "delta", "excavator")


def once_corrected(
    m: Mechanism, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    found = np.asarray(projected(NUMPY, m, NUMPY.const(q), NUMPY.const(v)))
    return found[: m.n_q], found[m.n_q : -1], float(found[-1])


def opened(name: str, by: float) -> tuple[lw.Robot, np.ndarray, np.ndarray]:
    robot, random = lw.load(name), rng(f"opened {name}")
    q = robot.integrate(robot.neutral(), by * random.standard_normal(robot.n_v))
    return robot, q, random.standard_normal(robot.n_v)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", NAMES)
def test_corrections_close_and_the_last_number_says_so(name: str):
    robot, q, v = opened(name, 1e-3)
    left = []
    for _ in range(3):
        q, v, found = once_corrected(robot.mechanism, q, v)
        left.append(found)
    assert left[0] > 1.0 >= left[2]
    assert np.abs(robot.closure(q)).max() < CLOSED
    opening = np.abs(robot.closure_jacobian(q) @ v).max()
    assert opening < STEADY * (1.0 + np.abs(v).max())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_smallest_change_by_the_masses(name: str):
    """dv is M⁻¹ Jᵀ times something: what keeps the loops closed is not touched."""
    robot, q, v = opened(name, 0.0)
    q1, v1, _ = once_corrected(robot.mechanism, q, v)
    J, M = robot.closure_jacobian(q1), robot.mass_matrix(q1)
    allowed = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-8) :]
    change = allowed @ M @ (v1 - v)
    np.testing.assert_allclose(change, 0.0, atol=1e-7 * np.abs(M).max())
    again = once_corrected(robot.mechanism, q1, v1)[1]
    np.testing.assert_allclose(again, v1, rtol=1e-9, atol=1e-9)


# where simulations begin, and what is said of loops that are open

ROBOT = lw.load("four_bar")
M, NEUTRAL = ROBOT.mechanism, ROBOT.neutral()
SPEEDS = (ROBOT.passive_rates(NEUTRAL) @ [2.0]).ravel()


def test_what_is_not_assembled_is_refused_by_loop_and_gap():
    with pytest.raises(InputError, match=r"q0 is not assembled: 'hinge .*' by 0\.\d+ m"):
        simulated(M, NEUTRAL + np.array([0.1, 0.0, 0.0]))
    both = np.stack([NEUTRAL, NEUTRAL + np.array([0.0, 0.01, 0.0])])
    with pytest.raises(InputError, match=r"q0 of row \[1\] is not assembled.*assemble\(\.\.\.\)"):
        simulated(M, both)
    with pytest.raises(InputError, match=r"v0 opens the loop 'hinge' by .*passive_rates\(q0\)"):
        simulated(M, NEUTRAL, [1.0, 0.0, 0.0])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "dopri5", "implicit"])
def test_what_is_nearly_assembled_is_closed_first(method: str):
    q0, v0 = NEUTRAL + np.array([3e-7, 0.0, 0.0]), SPEEDS + np.array([0.0, 1e-7, 0.0])
    found = simulated(M, q0, v0, 0.01, method=method)
    assert np.abs(ROBOT.closure(found.q)).max() < 1e-12
    np.testing.assert_allclose(found.q[0], NEUTRAL, atol=1e-6)
    assert np.abs(ROBOT.closure_jacobian(found.q[0]) @ found.v[0]).max() < 1e-9


def test_rows_are_corrected_until_they_are_closed():
    kernel = LIBRARY.kernel(request(M, NEUTRAL).system.recipe("projection"))
    q = np.stack([NEUTRAL, NEUTRAL + np.array([1e-3, 0, 0]), [np.nan, 0.0, 0.0]])
    none = np.zeros((3, 0))
    found, _, closed = corrected(kernel, (q, np.zeros((3, 3))), (none, none))
    assert closed.tolist() == [True, True, False]
    assert np.abs(ROBOT.closure(found[:2])).max() < 1e-12
    assert np.isnan(q[2, 0])  # what is given stays


def test_messages_name_the_loop_that_is_open_most_or_opens_fastest():
    kernel = LIBRARY.kernel(request(M, NEUTRAL).system.recipe("gaps"))
    gap, messages = kernel(NEUTRAL + np.array([0.01, 0, 0]), np.zeros(3)), OpenLoops(M)
    assert messages.left_open(gap, "long").startswith("the loops cannot be kept closed: 'hinge ")
    moving = kernel(NEUTRAL, np.array([1.0, 0.0, 0.0]))
    moving[: len(moving) - 1] = 0.0
    assert "the loop 'hinge' by" in messages.left_open(moving, "too long")


def test_steps_that_are_too_long_name_the_loops_through_the_joint():
    robot = lw.load("five_bar")
    q = robot.assemble().q
    found = simulated(robot.mechanism, q, None, 1.0, dt=0.05, torque=[500.0, 0.0, 0.0, 0.0])
    assert not found.finished
    assert "or the loop 'hinge' has come to a change point" in found.reason


def test_a_row_that_cannot_be_closed_is_noted_and_the_others_go_on():
    """The request is not checked here: its second row is far from any assembled configuration."""
    robot = lw.load("five_bar")
    q0 = np.stack([robot.neutral(), [0.0, 1.4, 0.0, 1.4], robot.neutral()])
    asked = request(robot.mechanism, q0, np.zeros((3, 4)), 0.02, gravity=[0.0, -9.80665, 0.0])
    track = rollout_of(asked.system, RK4, LIBRARY, single=False).run(asked)
    np.testing.assert_array_equal(track.q[0], track.q[2])
    assert np.isfinite(track.q[0]).all()
    if track.failed[1] >= 0.0:
        assert np.isnan(track.q[1, -1]).all()
    else:  # another branch is reached at once, and kept
        assert np.abs(robot.closure(track.q[1, 1:])).max() < 1e-11


# singular configurations


def start_of(robot, actuated: dict, speed: float):
    at = {name.replace("a", x): s * value for name, value in actuated.items()
          for x, s in (("a", 1.0), ("b", -1.0), ("c", 1.0))}  # fmt: skip
    q = robot.assemble(actuated, q0=[at[name] for name in robot.joint_names], follow=False).q
    return q, robot.passive_rates(q) @ np.full(len(actuated), speed)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_change_points_are_named(method: str):
    """The parallelogram's rods turn at 6 rad/s from 1 rad, and are a line at each half turn."""
    robot = parallelograms(0.0)
    found = simulated(
        robot.mechanism, *start_of(robot, {"a0": 1.0}, 6.0), 5.0, gravity=[0, 0, 0], method=method
    )
    when = (np.pi * np.arange(1, 10) - 1.0) / 6.0
    assert [p.name for p in found.singular_passages] == ["hinge0"] * 9
    np.testing.assert_allclose([p.time for p in found.singular_passages], when, atol=1.01e-3)
    assert (
        "loop 'hinge0' passes a singular configuration at t = 0.357 s and 8 times" in found.reason
    )


@pytest.mark.slow
def test_of_two_loops_the_one_that_is_singular_is_named():
    robot = parallelograms(0.1, 0.0)
    q, v = start_of(robot, {"a0": 1.0, "a1": 2.5}, 6.0)
    found = simulated(robot.mechanism, [q, q], [v, 0.0 * v], 0.2, gravity=[0, 0, 0])
    (passage,) = found.singular_passages
    assert (passage.name, passage.row) == ("hinge1", (0,))
    assert passage.time == pytest.approx((np.pi - 2.5) / 6.0, abs=1.01e-3)
    np.testing.assert_array_equal(passage.q, found.q[0, round(passage.time * 1000)])
    assert "1 of 2 pass singular configurations; the first, [0]: loop 'hinge1'" in found.reason


@pytest.mark.slow
def test_branches_that_nearly_meet_are_named_as_if_they_met():
    """1e-6 m off the parallelogram they are 1e-3 rad apart; 1e-2 m off, steps tell them apart."""
    near, apart = (
        simulated(r.mechanism, *start_of(r, {"a0": 1.0}, 6.0), 0.5, gravity=[0, 0, 0])
        for r in (parallelograms(1e-6), parallelograms(1e-2))
    )
    assert near.singular_passages[0].time == pytest.approx((np.pi - 1.0) / 6.0, abs=2e-3)
    assert apart.singular_passages == ()
    assert apart.reason == "finished"


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "five_bar", "slider_crank"])
def test_ordinary_motions_pass_nothing_singular(name: str):
    robot = lw.load(name)
    found = simulated(robot.mechanism, robot.neutral(), None, 2.0, gravity=[0.0, -9.80665, 0.0])
    assert found.finished
    assert found.singular_passages == ()
    assert found.energy_drift < 1e-4


@pytest.mark.parametrize("length", [1e-5, 1e3])
def test_size_does_not_matter(length: float):
    robot = parallelograms(0.0)
    start = start_of(robot, {"a0": 2.5}, 6.0)
    found = simulated(resized(robot, length, 1.0).mechanism, *start, 0.3, gravity=[0, 0, 0])
    (passage,) = found.singular_passages
    assert passage.time == pytest.approx((np.pi - 2.5) / 6.0, abs=1.01e-3)
