"""Inverse kinematics: solved, inside limits, verified by an independent engine, never a lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError
from linkwork.models import MODELS
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import Options
from linkwork.solve.tasks import CenterOfMass, Pointing, Position
from robots import example_robot_urdf
from seeds import rng

CHAINS = {
    "panda": ("panda_link0", "panda_link8"),
    "ur5_robot": ("base_link", "tool0"),
    "pr2": ("base_link", "r_gripper_tool_frame"),
    "talos_full_v2": ("base_link", "gripper_left_base_link"),
    "g1_29dof_with_hand_rev_1_0": ("pelvis", "left_wrist_yaw_link"),
}


def judged(robot, frame, result, targets):
    """Errors and limits by plain NumPy from poses, not by the solver's word."""
    reached = robot.fk(result.q, frame)
    position = np.linalg.norm(reached[..., :3, 3] - targets[..., :3, 3], axis=-1)
    turn = np.swapaxes(reached[..., :3, :3], -1, -2) @ targets[..., :3, :3]
    chord = np.linalg.norm(turn - np.eye(3), axis=(-1, -2)) / np.sqrt(2.0)
    inside = ((result.q >= robot.limits.lower) & (result.q <= robot.limits.upper)).all(-1)
    return position, 2.0 * np.arcsin(np.clip(chord / 2.0, 0.0, 1.0)), inside


@pytest.mark.sweep(1)
@pytest.mark.parametrize("file", sorted(CHAINS))
def test_real_arms_all_solved_and_pinocchio_agrees(file):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    path = example_robot_urdf(file)
    base, tip = CHAINS[file]
    robot = lw.load(path)
    chain = robot.subchain(base, tip)
    targets = chain.fk(chain.random(3000, seed=rng(file)), tip)
    result = chain.ik(targets, tip)
    assert result.success.all()
    model = pin.buildModelFromUrdf(str(path))
    data, start = model.createData(), pin.neutral(model)
    frame, root = model.getFrameId(tip), model.getFrameId(base)
    for q, target in zip(result.q[:400], targets, strict=False):
        full = start.copy()
        for name, value in zip(chain.joint_names, q, strict=True):
            joint = model.joints[model.getJointId(name)]
            numbers = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            full[joint.idx_q : joint.idx_q + joint.nq] = numbers
        pin.framesForwardKinematics(model, data, full)
        gap = (data.oMf[root].inverse() * data.oMf[frame]).homogeneous
        assert np.linalg.norm(gap[:3, 3] - target[:3, 3]) <= 1.001e-5
        assert np.linalg.norm(pin.log3(gap[:3, :3].T @ target[:3, :3])) <= 1.001e-4
    assert ((result.q >= chain.limits.lower) & (result.q <= chain.limits.upper)).all()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", sorted(name for name in MODELS if not MODELS[name].closed))
def test_bundled_models_at_tight_tolerances(name):
    robot, tip = lw.load(name), MODELS[name].tip
    targets = robot.fk(robot.random(300, seed=rng(name)), tip)
    result = robot.ik(targets, tip, position_tolerance=1e-8, rotation_tolerance=1e-8)
    position, rotation, inside = judged(robot, tip, result, targets)
    assert result.success.mean() >= 0.99
    solved = result.success
    assert position[solved].max() <= 1.1e-8
    assert rotation[solved].max() <= 1.2e-8
    assert inside[solved].all()
    np.testing.assert_allclose(result.position_error, position, atol=1e-12)
    np.testing.assert_allclose(result.rotation_error, rotation, atol=2e-8)


def test_success_is_what_the_errors_say_for_any_tolerance():
    robot = lw.load("ur5e")
    targets = robot.fk(robot.random(200, seed=1))
    targets[::2, :3, 3] *= 3.0  # half of them out of reach
    for position, rotation in ((1e-3, 1e-2), (0.5, 1e-3), (1e-3, 3.0), (10.0, np.pi)):
        result = robot.ik(
            targets, tries=3, position_tolerance=position, rotation_tolerance=rotation
        )
        p, r, inside = judged(robot, "tool0", result, targets)
        tight = (p <= position * 1.0001) & (r <= rotation * 1.0001 + 1e-7) & inside
        loose = (p <= position * 0.9999) & (r <= rotation * 0.9999 - 1e-7) & inside
        assert (result.success <= tight).all()
        assert (loose <= result.success).all()


def test_one_target_is_a_row_of_a_batch_bit_for_bit():
    robot, tip = lw.load("panda"), MODELS["panda"].tip
    targets = robot.fk(robot.random(60, seed=2), tip)
    batch = robot.ik(targets, tip)
    assert batch.restarts.max() > 0
    for k in range(60):
        one = robot.ik(targets[k], tip)
        assert one.success is bool(batch.success[k])
        assert np.array_equal(one.q, batch.q[k])
        assert one.restarts == batch.restarts[k]
        assert one.iterations == batch.iterations[k]


def test_the_seed_matters_only_after_the_first_try():
    robot = lw.load("panda")
    tip = MODELS["panda"].tip
    targets = robot.fk(robot.random(300, seed=4), tip)
    a, b = robot.ik(targets, tip, seed=0), robot.ik(targets, tip, seed=1)
    first = (a.restarts == 0) & (b.restarts == 0)
    assert np.array_equal(a.q[first], b.q[first])
    assert not np.array_equal(a.q, b.q)
    assert a.success.all()
    assert b.success.all()


def test_a_solved_start_is_left_alone():
    robot = lw.load("ur5e")
    q = robot.random(50, seed=5)
    result = robot.ik(robot.fk(q), q0=q)
    assert np.array_equal(result.q, q)
    assert (result.iterations == 1).all()
    assert (result.restarts == 0).all()


def test_joints_that_are_not_named_stay():
    robot = lw.load("panda")
    tip = MODELS["panda"].tip
    q = robot.random(200, seed=6)
    moved = list(robot.joint_names[1:7])
    start = robot.random(200, seed=7)
    start[:, 0] = q[:, 0]
    result = robot.ik(robot.fk(q, tip), tip, q0=start, joints=moved)
    still = [k for k, name in enumerate(robot.joint_names) if name not in moved]
    assert np.array_equal(result.q[:, still], start[:, still])
    assert result.success.mean() > 0.95


def test_joints_off_the_path_stay_at_q0():
    robot = lw.load("two_arm_torso")
    tip = MODELS["two_arm_torso"].tip
    q0 = robot.random(seed=8)
    result = robot.ik(robot.fk(robot.random(20, seed=9), tip), tip, q0=q0)
    moved = {
        robot.joint_names[c] for c in robot.mechanism.coordinates_moving(robot.mechanism.frame(tip))
    }
    off = [k for k, name in enumerate(robot.joint_names) if name not in moved]
    assert off
    assert np.array_equal(result.q[:, off], np.tile(q0[off], (20, 1)))
    assert result.success.all()


def test_a_floating_base_reaches_anything_with_unit_quaternions():
    robot = lw.load("quadruped", base="floating")
    foot = next(name for name in robot.frame_names if name.endswith("foot"))
    targets = robot.fk(robot.random(100, seed=10), foot)
    targets[:, :3, 3] += 5.0
    result = robot.ik(targets, foot)
    assert result.success.all()
    np.testing.assert_allclose(np.linalg.norm(result.q[:, 3:7], axis=1), 1.0, atol=1e-12)


def test_angles_without_limits_stay_on_the_turn_of_q0():
    text = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="continuous"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><origin xyz="0.3 0.02 0.1" rpy="{0.7 * k} 1.1 0.2"/>'
        f'<axis xyz="0 {k % 2} {1 - k % 2}"/></joint>'
        for k in range(6)
    )
    robot = lw.load(f'<robot name="c">{text}<link name="l6"/></robot>')
    q0 = np.array([20.0, -31.0, 7.0, 100.0, 0.1, -7.0])
    targets = robot.fk(robot.random(100, seed=11))
    result = robot.ik(targets, q0=q0)
    assert result.success.all()
    assert (np.abs(result.q - q0) <= np.pi + 1e-9).all()


def test_shapes_broadcast_and_empty_batches():
    robot = lw.load("ur5e")
    q = robot.random(6, seed=13)
    targets = robot.fk(q).reshape(2, 3, 4, 4)
    assert robot.ik(targets).q.shape == (2, 3, 6)
    assert robot.ik(targets, q0=q.reshape(2, 3, 6)).success.shape == (2, 3)
    assert robot.ik(targets[0, 0], q0=q).q.shape == (6, 6)
    assert robot.ik(np.zeros((0, 4, 4))).q.shape == (0, 6)
    with pytest.raises(ShapeError, match="leading shapes"):
        robot.ik(targets, q0=q[:5])


def test_a_solver_can_be_kept():
    robot = lw.load("scara")
    solver = robot.solver(MODELS["scara"].tip)
    assert solver is robot.solver(MODELS["scara"].tip)
    assert isinstance(solver, InverseKinematics)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("task", [Position("tool0"), CenterOfMass(), Pointing("tool0")])
def test_one_point_is_a_row_of_a_batch_and_is_checked(task):
    robot = lw.load("panda")
    solver = robot.solver(tasks=task)
    q = robot.random(40, seed=16)
    points = robot.com(q) if isinstance(task, CenterOfMass) else robot.fk(q, "tool0")[:, :3, 3]
    batch = solver.solve(points)
    for k in range(40):
        one = solver.solve(points[k].copy())
        assert one.q.tobytes() == batch.q[k].tobytes()
        assert one.errors.keys() == batch.errors.keys()
    for bad in ([np.nan, 0.0, 0.0], [0.0, np.inf, 0.0]):
        with pytest.raises(InputError, match=r"target\[[01]\] is (nan|inf)"):
            solver.solve(np.array(bad))
    with pytest.raises(InputError, match="so large"):
        solver.solve(np.array([1e308, 1e308, 0.0]))
    with pytest.raises(ShapeError):
        solver.solve(np.zeros(2))
    if not isinstance(task, Pointing):
        assert not solver.solve(np.array([90.0, 0.0, 0.0])).success


def test_options_that_come_again_give_the_same_bits():
    solver, targets = panda_again()
    options = Options(position_tolerance=1e-9, rotation_tolerance=1e-8, steps=20, seed=3)
    q0 = np.zeros(solver.mechanism.n_q)
    for target in targets:
        first = solver.solve(target, q0, options=replace(options))  # each time other options
        again = [solver.solve(target, q0, options=options) for _ in range(3)]
        free = [solver.solve(target, options=options) for _ in range(2)]
        for found in again:
            assert np.array_equal(found.q, first.q)
            assert found.success == first.success
            assert found.position_error == first.position_error
        assert np.array_equal(free[0].q, solver.solve(target, options=replace(options)).q)
        assert np.array_equal(free[1].q, free[0].q)
        default = solver.solve(target, q0)
        assert np.array_equal(default.q, solver.solve(target, q0, options=Options()).q)


def panda_again() -> tuple[InverseKinematics, np.ndarray]:
    """A solver of its own, and three targets: the last is out of reach."""
    robot = lw.load("panda")
    targets = robot.fk(robot.random(3, seed=5))
    targets[2, :3, 3] += 5.0
    return InverseKinematics(robot.mechanism, robot.tip), targets
