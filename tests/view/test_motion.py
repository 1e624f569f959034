"""Motions: what a trajectory of any kind becomes, and the sweep from limit to limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.view.motion import Motion, motion, sweep

ARM = lw.load("panda")


def inside(robot: lw.Robot, q: np.ndarray) -> bool:
    slack = 1e-9
    return bool((q >= robot.limits.lower - slack).all() and (q <= robot.limits.upper + slack).all())


# --- sweeps


@pytest.mark.parametrize("name", ["planar_2r", "panda", "humanoid", "mobile_arm"])
def test_a_sweep_goes_to_both_limits_of_every_joint_and_back(name: str):
    robot = lw.load(name)
    made = motion(robot)
    assert made.loop
    assert made.times[0] == 0.0
    assert (np.diff(made.times) > 0.0).all()
    np.testing.assert_array_equal(made.q[0], robot.neutral())
    np.testing.assert_allclose(made.q[-1], robot.neutral(), atol=1e-9)
    assert inside(robot, made.q)
    m = robot.mechanism
    single = [k for k, kind in enumerate(m.joint_types) if kind.n_q == 1]
    at = [m.q_slice(k).start for k in single]
    limited = [k for k in at if np.isfinite(m.lower[k])]
    reach = robot.limits.upper - robot.limits.lower
    np.testing.assert_allclose(np.ptp(made.q[:, limited], axis=0), reach[limited], rtol=1e-3)
    others = sorted(set(range(robot.n_q)) - set(at))
    assert (np.ptp(made.q[:, others], axis=0) == 0.0).all()


def test_joints_of_equal_legs_move_together():
    robot = lw.load("quadruped")
    q = motion(robot).q.reshape(-1, 4, 3)
    moving = np.abs(np.diff(q, axis=0)) > 1e-6
    assert (moving == moving[:, :1]).all()
    assert (moving.sum(axis=2) <= 1).all()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "excavator", "gripper", "stewart"])
def test_a_sweep_keeps_loops_closed(name: str):
    robot = lw.load(name)
    made = motion(robot)
    assert robot.is_assembled(made.q, tolerance=1e-9).all()
    assert inside(robot, made.q)
    m = robot.mechanism
    driven = [m.q_slice(m.joint(joint)).start for joint in robot.actuated]
    assert (np.ptp(made.q[:, driven], axis=0) > 1e-2).all()
    assert np.abs(np.diff(made.q, axis=0)).max() < 0.6  # it leaps nowhere


@pytest.mark.slow
def test_a_sweep_of_loops_needs_no_word_on_what_is_actuated():
    said = lw.load("five_bar")
    robot = lw.Robot(said.mechanism, said.document)
    unsaid = robot.with_actuated(())
    assert not unsaid.actuated
    made = motion(unsaid)
    assert unsaid.is_assembled(made.q, tolerance=1e-9).all()
    assert np.ptp(made.q, axis=0).min() > 0.1


def test_a_sweep_begins_where_it_is_told_to():
    q = ARM.random(seed=5)
    made = sweep(ARM, q, duration=2.0)
    np.testing.assert_array_equal(made.q[0], q)
    assert made.duration == 2.0


def test_what_has_no_joints_stands_still():
    robot = lw.load('<robot name="r"><link name="a"/></robot>')
    made = motion(robot)
    assert made.q.shape == (1, 0)
    assert made.duration == 0.0
    assert made.at(robot, [0.0, 1.0]).shape == (2, 0)


# --- trajectories


def test_a_trajectory_is_sampled_as_often_as_a_screen_shows():
    move = lw.trajectory.point_to_point(
        ARM.neutral(), ARM.random(seed=1), velocity=1.0, profile="cubic"
    )
    made = motion(ARM, move)
    assert made.duration == pytest.approx(move.duration)
    np.testing.assert_allclose(made.q, move(made.times), atol=1e-12)
    assert np.diff(made.times).max() <= 1.01 / 30.0
    assert len(made.times) <= 61 * move.duration + 2
    assert not made.loop


def test_a_trajectory_of_some_joints_goes_by_their_names():
    names = ("joint4", "joint2")
    move = lw.trajectory.point_to_point([-1.0, 0.2], [-2.0, 0.5], velocity=1.0, profile="cubic")
    named = lw.trajectory.from_polynomials(move.times, move.coefficients, names)
    made = motion(ARM, named)
    np.testing.assert_allclose(made.q[-1, [3, 1]], [-2.0, 0.5])
    np.testing.assert_array_equal(made.q[:, 0], 0.0)


def test_a_trajectory_of_all_joints_goes_by_their_names():
    ends = ARM.random(2, seed=3)
    names = ARM.joint_names[::-1]
    move = lw.trajectory.point_to_point(
        ends[0, ::-1], ends[1, ::-1], velocity=1.0, profile="cubic", joint_names=names
    )
    np.testing.assert_allclose(motion(ARM, move).q[[0, -1]], ends)


@pytest.mark.slow
def test_drawings_take_what_says_a_motion():
    names = ("joint4", "joint2")
    move = lw.trajectory.point_to_point(
        [-1.0, 0.2], [-2.0, 0.5], velocity=1.0, profile="cubic", joint_names=names
    )
    states = motion(ARM, move)
    whole = lw.trajectory.through(states.q[[0, -1]], velocity=1.0).sample(n=9)
    by_name = {name: states.q[:, k] for name, k in zip(names, (3, 1), strict=True)}
    for path in (states, by_name):
        assert ARM.plot(path=path).svg == ARM.plot(path=states.q).svg
    assert ARM.plot(path=whole).svg == ARM.plot(path=whole.q).svg
    t = np.linspace(0.0, move.duration, 240)
    rows = np.tile(ARM.neutral(), (240, 1))
    rows[:, [3, 1]] = move(t)
    assert ARM.plot(path=move).svg == ARM.plot(path=rows).svg


def test_a_trajectory_of_other_joints_is_refused():
    q = np.zeros((2, 7))
    q[1] = 0.1
    names = [f"other{k}" for k in range(7)]
    move = lw.trajectory.point_to_point(*q, velocity=1.0, profile="cubic", joint_names=names)
    with pytest.raises(UnknownNameError, match="other0"):
        motion(ARM, move)


def test_samples_have_their_own_times():
    move = lw.trajectory.point_to_point(
        ARM.neutral(), ARM.random(seed=1), velocity=1.0, profile="cubic"
    )
    samples = move.sample(n=5)
    made = motion(ARM, samples)
    np.testing.assert_array_equal(made.q, samples.q)
    np.testing.assert_allclose(made.times, samples.t)


def test_a_simulation_shows_the_roll_out_that_is_asked_for():
    robot = lw.load("planar_2r")
    q0 = np.array([[0.1, 0.2], [1.0, -0.5]])
    run = lw.simulate(robot, q0, duration=0.5)
    made = motion(robot, run, row=1)
    np.testing.assert_array_equal(made.q[0], q0[1])
    np.testing.assert_array_equal(made.q[-1], run.q[1, -1])
    assert made.duration == pytest.approx(0.5)
    assert len(made.times) <= 32  # of 501 states
    np.testing.assert_array_equal(motion(robot, run).q[0], q0[0])
    with pytest.raises(InputError, match="no roll-out 2"):
        motion(robot, run, row=2)
    with pytest.raises(InputError, match="is one of 'planar_2r'"):
        motion(ARM, run)


def test_a_simulation_that_was_stopped_is_shown_up_to_there():
    robot = lw.load("planar_2r")
    stop = lw.simulate(robot, [0.1, 0.2], torque=[50.0, 0.0], max_speed=5.0)
    assert not stop.finished
    made = motion(robot, stop)
    assert np.isfinite(made.q).all()
    assert 0.0 < made.duration < 1.0


def test_rows_take_times_or_a_duration():
    q = ARM.random(4, seed=2)
    assert motion(ARM, q).duration == 3.0
    assert motion(ARM, q, duration=6.0).times.tolist() == [0.0, 2.0, 4.0, 6.0]
    made = motion(ARM, q, times=[1.0, 2.0, 4.0, 5.0])
    assert made.times.tolist() == [0.0, 1.0, 3.0, 4.0]
    np.testing.assert_array_equal(made.q, q)
    assert motion(ARM, q[0]).q.shape == (1, 7)  # one configuration stands still
    assert motion(ARM, [*q, q[0]]).loop
    assert not motion(ARM, [*q, q[0]], loop=False).loop


def test_positions_by_name_leave_the_others_neutral():
    made = motion(ARM, {"joint1": [0.0, 1.0], "joint4": [-1.0, -2.0]}, duration=1.0)
    expected = np.tile(ARM.neutral(), (2, 1))
    expected[:, 0], expected[:, 3] = [0.0, 1.0], [-1.0, -2.0]
    np.testing.assert_array_equal(made.q, expected)


def test_positions_by_name_take_loops_along():
    robot = lw.load("four_bar")
    start = robot.assemble().q
    crank = start[0] + np.linspace(0.0, 0.6, 5)
    made = motion(robot, {"crank": crank})
    np.testing.assert_allclose(made.q[:, 0], crank, atol=1e-9)
    assert robot.is_assembled(made.q, tolerance=1e-9).all()


def test_long_recordings_are_thinned_and_keep_their_ends():
    q = np.linspace(0.0, 0.5, 10_001)[:, None] * np.ones(7)
    made = motion(ARM, q, times=np.linspace(0.0, 10.0, 10_001))
    assert 590 <= len(made.q) <= 610
    np.testing.assert_array_equal(made.q[[0, -1]], q[[0, -1]])
    np.testing.assert_allclose(made.q[:, 0], made.times * 0.05, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "more", "kind", "text"),
    [
        (np.zeros((3, 6)), {}, ShapeError, r"the shape \(n, 7\), not \(3, 6\)"),
        (np.zeros((0, 7)), {}, ShapeError, "not "),
        (np.full((2, 7), np.nan), {}, InputError, "joint1"),
        ("r.npz", {}, InputError, "real numbers"),
        ({"elbow": [0.0, 1.0]}, {}, UnknownNameError, "no joint named 'elbow'"),
        ({"joint1": [0.0, 1.0], "joint2": [0.0]}, {}, ShapeError, "'joint1': 2, 'joint2': 1"),
        ({}, {}, ShapeError, "there are none"),
        ({"joint1": 0.5}, {}, ShapeError, "are a list"),
        (np.zeros((2, 7)), {"times": [0.0, 0.0]}, InputError, "increase"),
        (np.zeros((2, 7)), {"times": [0.0]}, ShapeError, "times"),
        (np.zeros((2, 7)), {"times": [0.0, 1.0], "duration": 1.0}, InputError, "leave out times"),
        (np.zeros((2, 7)), {"duration": 0.0}, InputError, "duration"),
        (np.zeros((2, 7)), {"row": 0}, InputError, "row picks a roll-out"),
        (None, {"times": [0.0, 1.0]}, InputError, "give `duration`"),
    ],
)
def test_what_is_no_trajectory_is_refused(
    given: Any, more: dict[str, Any], kind: type[Exception], text: str
):
    with pytest.raises(kind, match=text):
        motion(ARM, given, **more)


# --- between the states


def test_between_two_states_it_goes_evenly():
    q = ARM.random(3, seed=4)
    made = Motion(np.array([0.0, 1.0, 3.0]), q)
    np.testing.assert_allclose(made.at(ARM, 2.0), 0.5 * (q[1] + q[2]))
    np.testing.assert_array_equal(made.at(ARM, [-1.0, 0.0, 1.0, 3.0, 9.0]), q[[0, 0, 1, 2, 2]])


def test_a_floating_base_turns_evenly():
    robot = lw.load("quadruped", base="floating")
    q = np.tile(robot.neutral(), (2, 1))
    q[1, :7] = [0.4, 0.0, 0.0, np.cos(0.6), 0.0, 0.0, np.sin(0.6)]  # 1.2 rad about z
    made = Motion(np.array([0.0, 2.0]), q)
    middle = made.at(robot, 1.0)
    np.testing.assert_allclose(middle[3:7], [np.cos(0.3), 0.0, 0.0, np.sin(0.3)], atol=1e-12)


# --- plans


def test_a_plan_is_shown_as_its_path():
    start = ARM.configuration({"joint4": -1.5, "joint6": 1.5})
    plan = ARM.plan(start, {"joint1": 1.0})
    made = motion(ARM, plan, duration=2.0)
    np.testing.assert_array_equal(made.q[[0, -1]], plan.q[[0, -1]])
    assert made.duration == 2.0
    assert ARM.plot(path=plan).svg == ARM.plot(path=plan.sample()).svg
    axes = lw.plots.positions(ARM, plan, joints="joint1", units="rad")
    np.testing.assert_array_equal(axes[0].get_lines()[0].get_ydata(), plan.sample()[:, 0])
    touching = lw.Scene()
    touching.add_sphere("ball", 0.2, ARM.fk(start, "tool0"))
    none = ARM.plan(start, {"joint1": 1.0}, scene=touching)
    with pytest.raises(InputError, match="the plan has no path: the start touches"):
        motion(ARM, none)
