"""Mechanisms with loops over time: energy, closure, order, batches, and a motion that is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
import linkwork.models
from closed_mechanisms import equal_pendulum, parallelogram, swung
from linkwork.simulation.inputs import Event, for_actuated
from linkwork.simulation.joint_forces import PD, Stops
from pendulums import orders, simulated

G = 9.80665
DOWN = [0.0, -G, 0.0]  # of the planar models, which lie across gravity
METHODS = ("rk4", "euler", "dopri5", "implicit")


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "kp", "gravity", "share"),
    [
        ("four_bar", 0.0, DOWN, 1e-7),
        ("five_bar", 0.0, DOWN, 1e-4),
        ("slider_crank", 0.0, DOWN, 1e-8),
        ("excavator", 0.0, None, 1e-9),
        pytest.param("stewart", 200.0, None, 1e-8, marks=pytest.mark.slow),
        pytest.param("delta", 40.0, None, 1e-4, marks=pytest.mark.slow),
    ],
)
def test_energy_and_closure_over_ten_seconds(name, kp, gravity, share):
    """Without drive, or on springs: RK4 at 1 ms; the loops stay closed far below 1e-9."""
    robot = lw.load(name)
    q0 = robot.neutral()
    found = simulated(robot.mechanism, q0, None, 10.0, gravity=gravity, torque=PD(kp), record=20)
    assert found.finished, found.reason
    assert np.abs(robot.closure(found.q)).max() < 1e-11
    way = robot.difference(q0, found.q)
    spring = 0.5 * (for_actuated(robot.mechanism, kp, "kp") * way**2).sum(axis=-1)
    energy = found.energy + spring
    assert np.abs(energy - energy[0]).max() < share * max(found.kinetic_energy.max(), spring.max())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["position", "point"])
def test_a_parallelogram_is_a_pendulum(kind: str):
    """Its rods turn alike: (2 I + M r²) a'' = -(m r + M r) g sin a."""
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")
    inertia, moment = equal_pendulum()

    def slope(_t, y):
        return [y[1], -moment * G * np.sin(y[0]) / inertia]

    exact = integrate.solve_ivp(slope, (0, 3), [0.9, 0.0], "DOP853", rtol=1e-12, atol=1e-12)
    expected = exact.y[:, -1]
    m = parallelogram(kind)
    close = {"rk4": 1e-9, "euler": 2e-2, "dopri5": 1e-8, "implicit": 1e-4}
    for method in METHODS:
        found = simulated(m, swung(0.9), None, 3.0, method=method, record=0, tolerance=1e-11)
        np.testing.assert_allclose(found.q[-1], swung(expected[0]), atol=close[method])
        np.testing.assert_allclose(found.v[-1], swung(expected[1]), atol=10 * close[method])


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler", 1), ("implicit", 2)])
def test_the_order_is_kept(method: str, order: int):
    robot = lw.load("four_bar")
    q0 = robot.assemble([0.8], q0=robot.neutral()).q
    how = {"gravity": DOWN, "record": 0}
    exact = simulated(robot.mechanism, q0, None, 0.5, dt=2e-4, **how).q[-1]
    steps = (2e-2, 1e-2, 5e-3) if order > 1 else (2e-3, 1e-3, 5e-4)
    errors = [
        np.abs(simulated(robot.mechanism, q0, None, 0.5, method=method, dt=h, **how).q[-1] - exact)
        for h in steps
    ]
    found = orders([e.max() for e in errors])
    assert (np.abs(found - order) < 0.3).all() or (found > order).all(), found


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", METHODS)
def test_loops_stay_closed_whatever_acts(method: str):
    """Control, stops, losses, rotors and wrenches, between the kept states too."""
    robot = lw.load("five_bar")
    law = PD(kp=30.0, kd=0.5, q_target={"left": 0.4}, effort_limit=3.0)
    found = simulated(
        robot.mechanism, robot.neutral(), None, 1.0, torque=law, method=method, losses=True,
        gravity=DOWN, armature={"left": 0.01, "right": 0.01}, stops=Stops(joints="left"),
        external={"left_end": [1.0, 0.5, 0, 0, 0, 0]}, record=50, dt=1e-3,
    )  # fmt: skip
    assert found.finished, found.reason
    assert np.abs(robot.closure(found.q)).max() < 1e-11
    assert np.abs(found.torques[:, [1, 3]]).max() == 0.0
    q, v = found.at(np.linspace(0.0, 1.0, 333))
    assert np.abs(robot.closure(q)).max() < 1e-11
    opening = np.einsum("kij,kj->ki", robot.closure_jacobian(q), v)
    assert np.abs(opening).max() < 1e-8


def test_events_are_found_on_the_loops():
    robot = lw.load("four_bar")
    seen = []

    def height(_t, q, _v):
        seen.append(q)
        return q[2] - robot.neutral()[2] - 0.1

    found = simulated(
        robot.mechanism, robot.neutral(), None, 1.0, gravity=DOWN, method="dopri5", dt=0.05,
        events=[Event(height, terminal=True, name="there")],
    )  # fmt: skip
    (record,) = found.events
    assert record.q[2] == pytest.approx(robot.neutral()[2] + 0.1, abs=1e-12)
    assert found.reason.startswith("stopped by 'there'")
    assert np.abs(robot.closure(np.array(seen))).max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "euler", "implicit"])
def test_rows_of_a_batch_are_bits_of_single_ones(method: str):
    robot = lw.load("five_bar")
    actuated = np.linspace(-0.2, 0.3, 11)[:, None] * [1.0, -0.7]
    q0 = robot.assemble(actuated, q0=robot.neutral()).q
    how = {"gravity": DOWN, "method": method, "dt": 5e-3, "record": 5}
    many = simulated(robot.mechanism, q0, None, 0.2, **how)
    assert many.finished.all()
    for row in (0, 4, 10):
        alone = simulated(robot.mechanism, q0[row], None, 0.2, **how)
        np.testing.assert_array_equal(alone.q, many.q[row])
        np.testing.assert_array_equal(alone.v, many.v[row])
    threaded = simulated(robot.mechanism, q0[::-1], None, 0.2, threads=2, **how)
    np.testing.assert_array_equal(threaded.q[::-1], many.q)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_steps_that_lose_the_loops_say_so(method: str):
    """The delta falls until its arms are stretched; steps of 0.2 s are too long for a four-bar."""
    robot = lw.load("delta")
    found = simulated(
        robot.mechanism, robot.neutral(), None, 5.0, gravity=[0.3, -G, -2.0], method=method,
        dt=5e-3, record=10,
    )  # fmt: skip
    if found.finished:  # it may get past
        return
    assert "loop" in found.reason or "no solution" in found.reason or "moves at" in found.reason
    kept = np.isfinite(found.q).all(axis=1)
    assert np.abs(robot.closure(found.q[kept])).max() < 1e-11
    assert np.isnan(found.q[-1]).all()


MODELS = Path(linkwork.models.__file__).parent


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("limit", "dt"), [(2.0, 1e-3), (2.0, 5e-3), (1e3, 5e-3)])
def test_every_joint_of_a_loop_sticks_in_long_steps(limit: float, dt: float):
    """More joints stand still than there are freedoms: no friction closes what a step has opened.

    RK4 in steps of 0.1 ms tells where it comes to rest.
    """
    text = (MODELS / "five_bar.urdf").read_text(encoding="utf-8")
    text = text.replace("</joint>", '<dynamics damping="0.05" friction="0.02"/></joint>')
    bars = lw.load(text, loops=MODELS / "five_bar.loops.yaml")
    q0 = bars.assemble([0.2, -0.1]).q
    law = PD(30.0, 0.5, q_target={"left": 0.6}, effort_limit=limit)
    how = {"torque": law, "losses": True, "gravity": DOWN, "record": 0}
    exact = simulated(bars.mechanism, q0, None, 1.0, dt=1e-4, **how)
    found = simulated(bars.mechanism, q0, None, 1.0, dt=dt, method="implicit", **how)
    assert found.finished, found.reason
    assert np.abs(found.v[-1]).max() < 1e-12
    np.testing.assert_allclose(found.q[-1], exact.q[-1], atol=1e-3)
