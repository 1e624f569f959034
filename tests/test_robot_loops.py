"""The robot's methods for loops: edits, files, inverse kinematics that stays assembled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.models import MODELS, path
from seeds import rng


def test_edits_return_new_robots():
    robot = lw.load("planar_3r")
    closed = robot.with_loop("tool0", "base_link", "xy", name="tip").with_coupling(
        "joint3", "joint2"
    )
    closed = closed.with_actuated("joint1")
    assert robot.loops == () and not robot.mechanism.is_closed
    assert closed.loops[0].name == "tip" and closed.couplings[0].joint == "joint3"
    assert closed.actuated == ("joint1",)
    assert pickle.loads(pickle.dumps(closed)).mechanism == closed.mechanism


def test_loops_beside_a_file_are_found(tmp_path):
    description = tmp_path / "linkage.urdf"
    description.write_text(path("four_bar").read_text())
    assert lw.load(description).loops == ()
    other = tmp_path / "other.yaml"
    other.write_text("version: 1\nloops: [{frame_a: coupler_end, frame_b: rocker_end, kind: xy}]\n")
    assert lw.load(description, loops=other).loops[0].kind == "xy/"
    own = tmp_path / "linkage.loops.yaml"
    own.write_text(path("four_bar").with_name("four_bar.loops.yaml").read_text())
    assert lw.load(description).mechanism == lw.load("four_bar").mechanism
    assert lw.load(description, loops=False).loops == ()
    assert lw.load(lw.urdf.read(description)).loops == lw.load("four_bar").loops
    own.write_text("version: 1\nactuated: [motor]\n")
    with pytest.raises(DescriptionError, match="no joint named 'motor'"):
        lw.load(description)


def test_loops_are_saved_beside_the_description(tmp_path):
    robot = lw.load("four_bar").with_loop("crank_link", "rocker_end", "distance", distance=0.2)
    robot = robot.with_coupling("rocker", "crank", lambda x: np.sin(x) / 3)
    saved = lw.urdf.write(robot, tmp_path / "mine.urdf")
    assert saved.loops == tmp_path / "mine.loops.yaml"
    assert lw.load(saved.path).mechanism == robot.mechanism
    plain = lw.urdf.write(lw.load("four_bar", loops=False), tmp_path / "mine.urdf")
    assert plain.loops is None and lw.load(plain.path).loops == ()
    fresh = lw.urdf.write(lw.load("panda"), tmp_path / "arm.urdf")
    assert fresh.loops is None and not (tmp_path / "arm.loops.yaml").exists()


def test_text_has_no_file_beside_it():
    assert lw.load(path("four_bar").read_text()).loops == ()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["excavator", "stewart", "delta"])
def test_inverse_kinematics_keeps_the_loops_closed(name):
    robot = lw.load(name)
    drives = rng(f"ik of {name}").uniform(-0.1, 0.1, (100, len(robot.actuated)))
    q = robot.assemble(drives).q
    points = robot.fk(q, "tool0")[:, :3, 3]
    task = lw.ik.Position("tool0")
    result = robot.ik(tasks=task, targets=points)
    assert result.success.all() and np.abs(robot.closure(result.q)).max() < 1e-12
    assert set(result.errors) == {"tool0", "closed"}
    loose = robot.ik(tasks=task, targets=points, position_tolerance=0.05)
    assert loose.success.all() and np.abs(robot.closure(loose.q)).max() < 1e-12


def test_passive_joints_move_along_with_those_that_are_named():
    robot = lw.load("excavator")
    q0 = robot.assemble([0.3, 0.0, 0.0]).q
    goal = robot.fk(robot.assemble([0.3, 0.1, 0.2], q0=q0).q, "tool0")[:3, 3]
    task = lw.ik.Position("tool0")
    drives = ["boom_slide", "stick_slide"]
    result = robot.ik(tasks=task, targets=goal, q0=q0, joints=drives)
    assert result.success and result.q[robot.joint_names.index("swing")] == 0.3
    assert np.abs(robot.closure(result.q)).max() < 1e-12


def test_a_target_that_no_assembled_state_reaches_is_no_answer():
    robot = lw.load("excavator")
    up = robot.fk(robot.configuration({"boom": -1.8, "stick": 1.0}), "tool0")[:3, 3]
    result = robot.ik(tasks=lw.ik.Position("tool0"), targets=up, tries=20)
    free = lw.load("excavator", loops=False)
    tree = free.ik(tasks=lw.ik.Position("tool0"), targets=up)
    assert tree.success and not result.success


def test_a_controller_keeps_the_loops_closed():
    robot = lw.load("five_bar")
    q = robot.assemble([0.0, 0.0]).q
    target = robot.fk(robot.assemble([0.2, -0.1], q0=q).q, "tool0")[:3, 3]
    control = robot.controller(tasks=lw.ik.Position("tool0", axes="xy"), dt=0.01)
    for _ in range(200):
        q = control.step(q, target)
    assert np.abs(robot.closure(q)).max() < 1e-6
    assert np.linalg.norm(robot.fk(q, "tool0")[:2, 3] - target[:2]) < 1e-4


def test_names_are_checked():
    robot = lw.load("four_bar")
    with pytest.raises(UnknownNameError, match="nearest: coupler_end"):
        robot.with_loop("coupler_edn", "base_link")
    with pytest.raises(InputError, match="takes a target"):
        robot.ik([1.0, 2.0, 3.0], tasks=[])


def test_threads_and_forks_share_what_is_compiled():
    robot = lw.load("four_bar")
    assert robot.assembler() is robot.assembler()
    assert robot.assembler(["crank"]) is robot.assembler("crank")


def test_accelerations_by_inertial_numbers_with_loops():
    # masses of all bodies a thousandth larger: gravity moves them as before, forces move them less
    robot = lw.load("excavator")
    q, v = robot.neutral(), np.zeros(robot.n_v)
    tau = np.ones(robot.n_v)
    slope = robot.forward_dynamics_regressor(q, v, tau) @ robot.inertial_parameters()
    falls = robot.forward_dynamics(q, v, 0 * tau)
    np.testing.assert_allclose(slope, falls - robot.forward_dynamics(q, v, tau), atol=1e-8)


def test_dynamics_by_the_robot():
    robot = lw.load("four_bar")
    q, v = np.tile(robot.neutral(), (2, 1)), np.zeros((2, 3))
    tau = np.array([[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])
    wrenches = robot.loop_wrenches(q, v, tau)
    assert list(wrenches) == ["hinge"] and wrenches["hinge"].shape == (2, 6)
    assert robot.closure_bias(q, v).shape == robot.loop_forces(q, v, tau).shape == (2, 5)
    np.testing.assert_allclose(wrenches["hinge"][:, :2], robot.loop_forces(q, v, tau)[:, :2])
    back = robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau))
    np.testing.assert_allclose(back, tau, atol=1e-12)
    with pytest.raises(InputError, match="no loops or couplings"):
        lw.load("planar_3r").closure_bias(np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match=r"use robot\.with_actuated"):
        lw.load("four_bar", loops=False).with_loop("coupler_end", "rocker_end").gravity_forces(q)
    with pytest.raises(InputError, match=r"there is nothing that they do \(see with_loop\)"):
        lw.load("planar_3r").with_coupling("joint1", "joint2").loop_wrenches(v, v, v)
    with pytest.raises(InputError, match=r"q\[0\] \(joint 'crank'\) is nan"):
        robot.forward_dynamics(np.full(3, np.nan), v[0], tau[0])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "delta"])
def test_without_positions_every_joint_is_free(name):
    robot = lw.load(name)
    start = robot.assemble(np.zeros(len(robot.actuated))).q
    assert np.allclose(robot.assemble(q0=start).q, start, atol=1e-9)
    off = start + rng(f"free {name}").normal(0, 0.03, robot.n_q)
    found = robot.assemble(q0=off)
    assert found.success and robot.is_assembled(found.q, tolerance=1e-11)
    held = robot.assemble(off[[robot.joint_names.index(j) for j in robot.actuated]], q0=start)
    assert np.linalg.norm(found.q - off) < np.linalg.norm(held.q - off)  # no joint was held
    assert robot.assemble().success


@pytest.mark.sweep(1, by="name")
@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].closed])
def test_without_positions_it_is_the_nearest_assembled_configuration(name):
    robot, g = lw.load(name), rng(f"nearest {name}")
    if robot.n_q != robot.n_v:
        pytest.skip("SciPy knows no quaternions")
    m = robot.mechanism
    length = robot.solver(tasks=lw.ik.Closed()).problem.length
    unit = np.array([1.0 / length if kind.n_lengths else 1.0 for kind in m.joint_types])
    lower, upper = robot.limits.lower, robot.limits.upper
    start = robot.assemble().q
    for _ in range(3):
        q0 = np.clip(start + g.normal(0.0, 0.1, robot.n_q) / unit, lower, upper)
        found = robot.assemble(q0=q0)
        assert found.success
        U, s, _ = np.linalg.svd(robot.closure_jacobian(found.q))
        rows = U[:, : int(np.count_nonzero(s > 1e-6 * s[0]))].T  # SLSQP takes no redundant ones
        result = minimize(
            lambda q, q0=q0: np.square((q - q0) * unit).sum(),
            found.q,
            method="SLSQP",
            bounds=list(zip(lower, upper, strict=True)),
            constraints={"type": "eq", "fun": lambda q, rows=rows: rows @ robot.closure(q)},
            options={"ftol": 1e-14, "maxiter": 200},
        )
        away = np.linalg.norm((found.q - q0) * unit)
        assert away <= np.sqrt(result.fun) + 1e-5
        np.testing.assert_allclose(found.q * unit, result.x * unit, atol=2e-3)


def test_the_old_name_of_the_start_is_told():
    robot = lw.load("four_bar")
    q = robot.neutral()
    for call in (robot.assemble, robot.assemblies):
        with pytest.warns(DeprecationWarning, match="near=\\) is now called q0=") as told:
            assert np.array_equal(call([0.1], near=q).q, call([0.1], q0=q).q)
        assert told[0].filename == __file__
        with pytest.raises(TypeError, match="not both"):
            call([0.1], q, near=q)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_path_forces_of_a_loop_are_those_of_its_actuated_joints(name):
    robot = lw.load(name)
    random = rng(f"path forces {name}")
    q = robot.assemble().q
    v, dv = random.normal(size=(2, robot.n_v))
    rows = robot.path_forces(q, v, dv, gravity=[0.0, -9.8, 0.0])
    change, speed = random.normal(size=2)
    motion = v * speed, v * change + dv * speed**2
    tau = robot.inverse_dynamics(q, *motion, gravity=[0.0, -9.8, 0.0])
    np.testing.assert_allclose(np.array([change, speed**2, 1.0]) @ rows, tau, atol=1e-12)
    passive = [k for k, joint in enumerate(robot.joint_names) if joint not in robot.actuated]
    assert not rows[:, passive].any()
