"""Forces that jump or are bounded: friction that holds, drives that saturate, stops among them.

Judges are closed forms, an integration by SciPy from one event to the next, and its stiff solvers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.configuration import difference
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.joint_forces import (
    CREEP,
    MOST_SWEEPS,
    Driving,
    Rubbing,
    drive_forces,
    improved,
    smoothed_friction,
)
from pendulums import pendulum_urdf, simulated
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

G = 9.80665
MODELS = Path(lw.__file__).parent / "models"
FIXED = ["rk4", "euler", "implicit"]


def rubbing(n: int, *friction: float) -> lw.Robot:
    """A chain of pendulums of 1 kg and 1 m with friction (N m) in their joints."""
    text = pendulum_urdf(n)
    for most in friction:
        loss = f'<axis xyz="0 1 0"/><dynamics damping="0" friction="{most}"/>'
        text = text.replace('<axis xyz="0 1 0"/></joint>', f"{loss}</joint>", 1)
    return lw.load(text)


SLED = """<robot name="sled"><link name="base"/><link name="block"><inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="block"/>
  <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="100" velocity="10"/>
  <dynamics damping="0" friction="4"/></joint></robot>"""


# what is solved in a step


@pytest.mark.parametrize("rank", ["full", "short"])
def test_forces_and_velocities_belong_together(rank: str):
    """Random problems: each joint slides under full friction or stands under less."""
    random, most = rng(f"friction of {rank} rank"), 0
    for _ in range(100):
        n = int(random.integers(1, 8))
        k = n if rank == "full" else int(random.integers(1, n + 1))
        A = random.standard_normal((n, k)) * (10.0 ** random.uniform(-2, 2, n))[:, None]
        S = A @ A.T + (1e-3 * np.diag(np.diag(A @ A.T)) if rank == "full" else 0.0)
        sizes = 10.0 ** random.uniform(-1, 1, n) / np.sqrt(np.diag(S))
        start = A @ random.standard_normal(k) * random.choice([0.0, 1e-18, 0.1, 1.0])
        rest = start + A @ random.standard_normal(k) * 10.0 ** random.uniform(-2, 1)
        laws = [Rubbing(f, v) for f, v in zip(sizes, start, strict=True)]
        forces, left, count = np.zeros(n), np.inf, 0
        while left > 1.0 and count < MOST_SWEEPS:
            found = improved(NUMPY, laws, list(rest), [list(row) for row in S], forces)
            forces, left, count = found[:n], float(found[-1]), count + 1
        assert left <= 1.0
        most = max(most, count)
        ends, small = rest + S @ forces, 1e-9 * np.abs(rest).max()
        assert (np.abs(forces) <= sizes * (1 + 1e-9)).all()
        onward = (np.sign(start) * ends > small) & (np.abs(start) > 0.0)
        np.testing.assert_allclose(forces[onward], -(sizes * np.sign(start))[onward], rtol=1e-9)
        begun = (start == 0.0) & (np.abs(ends) > small)
        np.testing.assert_allclose(forces[begun], -(sizes * np.sign(ends))[begun], rtol=1e-9)
    assert most <= 20


def test_a_drive_with_friction_is_the_root_of_its_law():
    random = rng("driving")
    for _ in range(50):
        friction, gain, limit, by = 10.0 ** random.uniform(-1, 2, 4)
        push, rest = 100.0 * random.standard_normal(2)
        law = Driving(friction, push, gain, limit)
        force = law(NUMPY, np.float64(rest), np.float64(by)).force
        speed = rest + by * force
        driven = np.clip(push - gain * speed, -limit, limit)
        if abs(speed) > 1e-9 * abs(rest):
            assert force == pytest.approx(driven - friction * np.sign(speed), rel=1e-6, abs=1e-6)
        else:
            assert abs(force - driven) <= friction * (1 + 1e-9)


# friction


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("called", [False, True], ids=["native", "called"])
def test_a_pendulum_that_sticks_stands_still(method: str, called: bool):
    """Gravity takes 9.78 N m at 1.5 rad, friction holds up to 15."""
    torque = (lambda t, q, v: 0.0 * v) if called else None
    found = lw.simulate(
        rubbing(1, 15.0), [1.5], duration=0.2, losses=True, method=method, torque=torque
    )
    assert found.finished
    assert np.abs(found.v).max() < 1e-12
    assert np.abs(found.q - 1.5).max() < 1e-12


@pytest.mark.parametrize("method", FIXED)
def test_a_pendulum_that_slips_is_as_fast_as_it_must(method: str):
    """Energy: v²/2 = g (cos q - cos q0) - f (q0 - q), of 1 kg and 1 m."""
    robot, q0 = rubbing(1, 4.0), 1.5
    found = lw.simulate(robot, [q0], duration=0.5, losses=True, method=method)
    work = G * (np.cos(found.q) - np.cos(q0)) - 4.0 * (q0 - found.q)
    bound = {"rk4": 1e-10, "euler": 2e-2, "implicit": 1e-5}[method]
    np.testing.assert_allclose(0.5 * found.v**2, work, atol=bound)
    assert found.q[-1, 0] < 1.0


def test_a_sled_stops_and_turns_as_the_closed_forms_say():
    """Where forces are constant, RK4 is exact, also over the steps in which the sled stops."""
    robot, v0 = lw.load(SLED), 1.0003  # it stops within a step
    stopped = lw.simulate(robot, [0.0], [v0], duration=0.6, losses=True)
    assert stopped.q[-1, 0] == pytest.approx(0.25 * v0**2, abs=1e-12)
    assert abs(stopped.v[-1, 0]) < 1e-15
    turned = lw.simulate(robot, [0.0], [v0], duration=0.6, losses=True, torque=[-6.0])
    until = v0 / 5.0  # it brakes with 5 m/s², and comes back with 1
    assert turned.q[-1, 0] == pytest.approx(0.5 * v0 * until - 0.5 * (0.6 - until) ** 2, abs=1e-12)
    assert turned.v[-1, 0] == pytest.approx(until - 0.6, abs=1e-12)
    for method, bound in (("euler", 2e-3), ("implicit", 2e-3)):
        other = lw.simulate(
            robot, [0.0], [v0], duration=0.6, losses=True, torque=[-6.0], method=method
        )
        np.testing.assert_allclose(other.q[-1], turned.q[-1], atol=bound)


@pytest.mark.parametrize("method", FIXED)
def test_friction_never_adds_energy(method: str):
    """No step has more energy than the one before, but for what the method itself drifts."""
    robot, random = rubbing(3, 3.0, 1.0, 0.5), rng("energy and friction")
    q0, v0 = random.uniform(-2, 2, (5, 3)), random.uniform(-3, 3, (5, 3))
    found = lw.simulate(robot, q0, v0, duration=1.0, losses=True, method=method)
    assert found.finished.all()
    drift = {"rk4": 1e-9, "euler": 1e-3, "implicit": 1e-5}[method]
    assert np.diff(found.energy, axis=-1).max() < drift
    assert (found.energy[:, 0] - found.energy[:, -1]).min() > 1.0


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", FIXED)
def test_friction_holds_in_loops(method: str, tmp_path: Path):
    """A four-bar with friction in three joints, of which one would do: it runs out, and stands."""
    text = (MODELS / "four_bar.urdf").read_text()
    for most in (0.5, 0.3, 0.2):
        loss = f'type="continuous" ><dynamics damping="0" friction="{most}"/>'
        text = text.replace('type="continuous">', loss, 1)
    (tmp_path / "four_bar.urdf").write_text(text)
    (tmp_path / "four_bar.loops.yaml").write_text((MODELS / "four_bar.loops.yaml").read_text())
    robot = lw.load(tmp_path / "four_bar.urdf")
    assert robot.mechanism.friction.tolist() == [0.5, 0.3, 0.2]
    q0 = robot.assemble({robot.joint_names[0]: 0.7}, q0=robot.neutral()).q
    still = lw.simulate(robot, q0, duration=0.05, losses=True, method=method)
    assert still.finished
    assert np.abs(still.v).max() < 1e-12
    v0 = robot.passive_rates(q0) @ [8.0]
    found = lw.simulate(robot, q0, v0, duration=0.3, losses=True, method=method)
    assert found.finished, found.reason
    assert np.abs(found.v[-1]).max() < 1e-12
    assert np.diff(found.energy).max() < 1e-6


def test_smoothed_friction_has_its_size_and_direction():
    M = mechanism_from(every_joint_urdf())
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(
            smoothed_friction(NUMPY, M, np.full(M.n_v, sign)), -sign * M.friction, rtol=1e-14
        )
    half = smoothed_friction(NUMPY, M, np.full(M.n_v, 0.5 * CREEP))
    np.testing.assert_allclose(half, -0.5 * M.friction, rtol=1e-14)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "euler", "implicit", "dopri5"])
def test_a_sled_comes_to_rest_and_stays(method: str):
    m = mechanism_from(SLED)
    how = {"losses": True, "method": method, "tolerance": 1e-6}
    moving = simulated(m, [0.0], [1.0], 1.0, **how)  # it brakes with 2 m/s²: 0.25 m in 0.5 s
    assert moving.finished
    assert moving.q[250, 0] == pytest.approx(0.25 - 0.25**2, abs=1e-3)
    assert moving.q[-1, 0] == pytest.approx(0.25, abs=2e-3)
    assert abs(moving.v[-1, 0]) < 5e-3
    pushed = simulated(m, [0.0], None, 1.0, torque=[3.0], **how)
    assert abs(pushed.q[-1, 0]) < 1.1e-3  # it creeps, at most a millimetre a second
    pulled = simulated(m, [0.0], None, 1.0, torque=[6.0], **how)
    assert pulled.q[-1, 0] == pytest.approx(0.5, abs=4e-3)


# drives that saturate


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5e", "panda", "puma560"])
def test_stiff_drives_with_bounds_and_stops_come_to_their_targets(name: str):
    robot = lw.load(name)
    limits = robot.limits
    effort = np.where(np.isfinite(limits.effort) & (limits.effort > 0.0), limits.effort, 50.0)
    low, high = np.maximum(limits.lower, -2.0), np.minimum(limits.upper, 2.0)
    random = rng(f"targets of {name}")
    q0, target = (random.uniform(low, high, (20, low.size)) for _ in range(2))
    target[:, 1] = high[1] + 0.05  # where the stop is in the way, or beyond what is bounded to 2
    law = lw.PD(
        400.0, 40.0, q_target=target, effort_limit=effort, feed_forward=robot.gravity_forces(target)
    )
    found = lw.simulate(
        robot, q0, duration=1.5, torque=law, method="implicit", stops=True, record=0
    )
    assert found.finished.all(), found.reason
    others = [k for k in range(low.size) if k != 1]
    assert np.abs(found.v[:, -1]).max() < 0.5
    assert np.abs(found.q[:, -1] - target)[:, others].max() < 0.1


def test_stops_that_are_too_stiff_for_a_step_are_named():
    robot = lw.load(SLED)
    stops = lw.Stops(1.0e9, 1.0e5)
    hit = lw.simulate(robot, [8.99], [1.0], duration=0.2, stops=stops)
    assert not hit.finished
    assert "the steps are too long for the drive or the stop of joint 'slide'" in hit.reason
    held = lw.simulate(robot, [8.99], [1.0], duration=0.2, stops=stops, method="implicit")
    assert held.finished


# --- Stops push back and never pull; their force has no jump ---

M = mechanism_from(every_joint_urdf())


def test_the_law_and_its_bounds():
    random, n = rng("law"), M.n_v
    q, v, target = (
        random_configuration(random, M),
        random.standard_normal(n),
        random.standard_normal(n),
    )
    g = {
        "kp": random.uniform(10, 20, n),
        "kd": random.uniform(1, 2, n),
        "q_target": random_configuration(random, M),
        "v_target": target,
        "feed_forward": random.standard_normal(n),
    }
    error = difference(NUMPY, M, q, g["q_target"])
    expected = g["feed_forward"] + g["kp"] * error + g["kd"] * (target - v)
    np.testing.assert_allclose(drive_forces(NUMPY, M, q, v, g), expected, rtol=1e-12)
    bounded = drive_forces(NUMPY, M, q, v, {**g, "effort_limit": np.full(n, 2.0)})
    np.testing.assert_allclose(bounded, np.clip(expected, -2.0, 2.0))
    assert (np.abs(expected) > 2.0).any()
    assert drive_forces(NUMPY, M, q, v, {}) is None
