"""The native loop: the same bits at every width, in any pieces, whoever the neighbours are, and
whether forces are given or asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.compiler import Compiler
from linkwork.compile.target import WIDTHS, host, with_width
from linkwork.simulation.integrators import EULER, IMPLICIT, RK4
from linkwork.simulation.joint_forces import PD
from linkwork.simulation.result import Track
from linkwork.simulation.time_loop import CALL_NS, Library, Rollout, rollout_of
from pendulums import free_tree, pendulum, pendulum_urdf, request, simulated
from seeds import rng

M = free_tree(3)
RUBBING = (
    pendulum_urdf(2)
    .replace(
        '<axis xyz="0 1 0"/>',
        '<axis xyz="0 1 0"/><limit lower="-0.5" upper="0.5" effort="9" velocity="9"/>'
        '<dynamics damping="0.1" friction="0.4"/>',
    )
    .replace("continuous", "revolute")
)
LIBRARIES = {width: Library(Compiler(with_width(host(), width))) for width in WIDTHS}


def rollout(width: int, method=RK4, m=M, **how) -> tuple[Rollout, object]:
    random = rng("native loop")
    q0 = np.zeros((11, m.n_q))
    q0[:, m.n_q - m.n_v :] = random.uniform(-1, 1, (11, m.n_v))
    if m.n_q > m.n_v:
        q0[:, 3:7] = random.standard_normal((11, 4))
    v0 = random.standard_normal((11, m.n_v))
    asked = request(m, q0, v0, duration=0.05, **how)
    return rollout_of(asked.system, method, LIBRARIES[width], single=width == 1), asked


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", [RK4, EULER, IMPLICIT], ids=lambda m: m.name)
def test_widths_give_the_same_bits(method):
    found: list[Track] = []
    for width in WIDTHS:
        made, asked = rollout(width, method)
        assert made.width == width
        found.append(made.run(asked))
    for track in found[1:]:
        np.testing.assert_array_equal(track.q, found[0].q)
        np.testing.assert_array_equal(track.v, found[0].v)
    assert np.isfinite(found[0].q).all()


@pytest.mark.parametrize(("rows", "steps"), [(1, 1), (1, 7), (8, 3)])
def test_calls_may_be_cut_anywhere(rows: float, steps: float):
    """A loop that says it takes long is called for fewer rows and steps at once."""
    made, asked = rollout(8 if host().width == 8 else 2, record=3)
    whole = made.run(asked)
    slow = replace(made, stage_size=int(CALL_NS / (0.5 * 4 * rows * steps)))
    at_once, many = slow.calls(11, asked.grid.steps, 1)
    assert at_once < 11 or many < asked.grid.steps
    cut = slow.run(asked, threads=2)
    np.testing.assert_array_equal(cut.q, whole.q)
    np.testing.assert_array_equal(cut.v, whole.v)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_roll_out_that_fails_is_noted_and_left_alone(width: int):
    m = pendulum(2)
    v0 = np.zeros((11, 2))
    v0[4], v0[9] = [20.0, -45.0], [0.0, 60.0]
    q0 = np.full((11, 2), [0.5, 2.0])
    asked = request(m, q0, v0, duration=0.2, max_speed=50.0)
    made = rollout_of(asked.system, RK4, LIBRARIES[width], single=width == 1)
    track = made.run(asked)
    good = np.setdiff1d(np.arange(11), np.flatnonzero(track.failed >= 0))
    assert track.failed[9] == 0.0
    assert track.failed[4] > 0.0
    assert np.abs(track.remains[[4, 9], 2:]).max(axis=1).min() > 50.0
    assert np.isnan(track.remains[good]).all()
    alone = request(m, q0[:9], duration=0.2)
    kept = made.run(alone)
    np.testing.assert_array_equal(track.q[good], kept.q)
    step = int(track.failed[4])
    assert np.isfinite(track.q[4, : step + 1]).all()
    assert np.isnan(track.q[4, step + 1 :]).all()


def test_constants_and_controls_of_each_row():
    m = pendulum(2)
    gains = np.linspace(1, 5, 11)[:, None] * np.ones(2)
    law = PD(gains, 0.1, q_target=lambda t: np.linspace(0, t, 11)[:, None] * np.ones(2))
    width = host().width
    made, asked = rollout(width, m=m, torque=law)
    track = made.run(asked)
    for row in (0, 4, 10):
        one = request(
            m, asked.q0[row], asked.v0[row], duration=0.05,
            torque=PD(gains[row], 0.1, q_target=lambda t, r=row: np.full(2, t * r / 10)),
        )  # fmt: skip
        single = rollout_of(one.system, RK4, LIBRARIES[width], single=True)
        np.testing.assert_allclose(single.run(one).q[0], track.q[row], atol=1e-15)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", [RK4, EULER, IMPLICIT], ids=lambda m: m.name)
@pytest.mark.parametrize("rows", [1, 11])
def test_forces_that_are_asked_for_give_the_bits_of_those_that_are_given(method, rows: int):
    """The same compiled step: constant forces, with friction that holds and stops among them."""
    robot = lw.load(RUBBING)
    m, random = robot.mechanism, rng("asked and given")
    q0, v0 = random.uniform(0.4, 0.5, (rows, 2)), random.uniform(1.0, 2.0, (rows, 2))
    how = {"duration": 0.1, "dt": 2e-3, "method": method.name, "losses": True, "stops": True}
    given = simulated(m, q0, v0, torque=[3.0, -0.5], **how)
    asked = simulated(m, q0, v0, torque=lambda t, q, v: np.array([3.0, -0.5]) + 0.0 * q, **how)
    assert given.finished.all()
    assert (np.abs(given.q) > 0.5).any()  # beyond a limit
    np.testing.assert_array_equal(asked.q, given.q)
    np.testing.assert_array_equal(asked.v, given.v)
    np.testing.assert_array_equal(asked.torques, given.torques)


@pytest.mark.parametrize("called", [False, True], ids=["given", "asked"])
def test_a_step_without_a_solution_ends_its_roll_out(called: bool):
    """Steps of 0.5 s are too long for a double pendulum at 40 rad/s, not for one at rest."""
    torque = (lambda t, q, v: 0.0 * v) if called else None
    v0 = [[0.0, 0.0], [40.0, -90.0]]
    found = simulated(
        pendulum(2), np.zeros((2, 2)), v0, 2.0, dt=0.5, method="implicit", torque=torque
    )
    assert found.finished.tolist() == [True, False]
    assert "no solution that 20 iterations find" in found.reason_for(1)
    assert found.failed_at[1] == pytest.approx(found.ended_at[1] + 0.5)
    assert np.isnan(found.q[1, -1]).all()
