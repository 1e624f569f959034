"""Spherical joints from files to simulations: what tests of single algorithms do not see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.serialize import from_json, to_json
from seeds import rng

_BOX = (
    '<inertial><origin xyz="0 0 0.15"/><mass value="1.5"/><inertia ixx="0.02" ixy="0" ixz="0" '
    'iyy="0.02" iyz="0" izz="0.005"/></inertial>'
)
LIMIT = '<limit upper="1.2" effort="50" velocity="3"/>'


def arm_urdf(limit: str = LIMIT) -> str:
    """An arm of seven degrees of freedom with a spherical shoulder."""
    hinge = '<limit lower="-2.2" upper="2.2" effort="20" velocity="3"/>'
    joints = [
        ("shoulder", "spherical", "0 0 0.4", limit),
        ("elbow", "revolute", "0 0 0.3", f'<axis xyz="0 1 0"/>{hinge}'),
        ("roll", "revolute", "0 0 0.25", f'<axis xyz="0 0 1"/>{hinge}'),
        ("pitch", "revolute", "0 0 0.05", f'<axis xyz="0 1 0"/>{hinge}'),
        ("yaw", "revolute", "0 0 0.1", f'<axis xyz="1 0 0"/>{hinge}'),
    ]
    names = ("base", "upper", "fore", "wrist", "palm", "hand")
    links = "".join(f'<link name="{name}">{_BOX}</link>' for name in names)
    chain = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{names[k]}"/>'
        f'<child link="{names[k + 1]}"/><origin xyz="{at}"/>{rest}</joint>'
        for k, (name, kind, at, rest) in enumerate(joints)
    )
    return f'<robot name="ball_arm">{links}{chain}</robot>'


def arm(limit: str = LIMIT) -> lw.Robot:
    return lw.load(arm_urdf(limit))


def angles(q: np.ndarray) -> np.ndarray:
    """How far the shoulder is turned in q (..., nq)."""
    return 2 * np.arctan2(np.linalg.norm(q[..., 1:4], axis=-1), np.abs(q[..., 0]))


def pendulum(**attributes: str) -> str:
    """A rod that hangs on a ball joint."""
    more = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return (
        '<mujoco><compiler angle="radian"/><worldbody><body name="rod">'
        f'<joint name="hip" type="ball" {more}/><inertial pos="0 0 -.5" mass="2" '
        'diaginertia=".05 .04 .01"/></body></worldbody></mujoco>'
    )


SWING = np.array([np.cos(0.4), np.sin(0.4), 0.0, 0.0]), np.array([0.3, 1.2, 2.0])


TURNED = np.array([np.cos(0.5), np.sin(0.5), 0, 0, 0, 0, 0, 0])


# configurations


def test_random_rotations_are_uniform_up_to_the_limit():
    q = arm().random(20_000, seed=rng("uniform"))
    np.testing.assert_allclose(np.linalg.norm(q[:, :4], axis=1), 1.0, rtol=0, atol=1e-15)
    a = angles(q)
    assert a.max() <= 1.2
    share = np.sort(a - np.sin(a)) / (1.2 - np.sin(1.2))  # uniform from 0 to 1
    assert np.abs(share - np.linspace(0, 1, len(share))).max() < 0.02
    axis = q[:, 1:4] / np.linalg.norm(q[:, 1:4], axis=1, keepdims=True)
    assert np.abs(axis.mean(axis=0)).max() < 0.02


def test_positions_are_checked_by_name():
    robot = arm()
    far = [np.cos(0.7), np.sin(0.7), 0.0, 0.0]
    with pytest.raises(lw.errors.InputError, match=r"'shoulder' .* 1\.4 rad .*angle, 1\.2"):
        robot.with_locked("shoulder", at=far)
    rounded = [np.cos(0.6 + 1e-8), np.sin(0.6 + 1e-8), 0.0, 0.0]
    held = robot.with_locked("shoulder", at=rounded)
    assert held.n_q == 4 and "shoulder" not in held.joint_names
    with pytest.raises(lw.errors.InputError, match=r"q0: joint 'shoulder' does not move"):
        q0 = np.array([*far, 0, 0, 0, 0])
        robot.ik(np.eye(4), "hand", q0=q0, joints=["elbow", "roll", "pitch", "yaw"])


def test_it_follows_nothing():
    text = arm_urdf().replace(LIMIT, LIMIT + '<mimic joint="elbow"/>')
    with pytest.raises(lw.errors.DescriptionError, match="spherical joint cannot follow"):
        lw.load(text)


@pytest.mark.parametrize("limit", ['<limit upper="0"/>', "<limit upper='-1'/>", "", "<limit/>"])
def test_without_an_angle_it_turns_any_way(limit: str):
    robot = arm(limit)
    assert np.isinf(robot.limits.angle).all()
    assert ("unused-limits" in [f.code for f in robot.findings]) == ("upper" in limit)


# inverse kinematics


@pytest.mark.parametrize("limit", [LIMIT, LIMIT.replace("1.2", "0.3"), ""])
def test_every_reachable_target_is_solved_inside_the_angle(limit: str):
    robot = arm(limit)
    targets = robot.fk(robot.random(1000, seed=rng("targets")), "hand")
    found = robot.ik(targets, "hand")
    assert found.success.all()
    assert (angles(found.q) <= robot.limits.angle[0]).all()
    np.testing.assert_allclose(np.linalg.norm(found.q[:, :4], axis=1), 1.0, rtol=0, atol=1e-14)
    left = np.linalg.inv(targets) @ robot.fk(found.q, "hand")
    assert np.abs(left[:, :3, 3]).max() <= 1e-5


def test_a_target_beyond_the_angle_ends_at_it():
    robot = arm(LIMIT.replace("1.2", "0.3"))
    found = robot.ik(lw.pose([0.0, 0.0, -0.3], R=np.eye(3)), "hand", tries=4)
    assert not found.success
    assert angles(found.q) <= 0.3
    assert "shoulder (angle)" in robot.ik(robot.fk(TURNED, "upper"), "upper", tries=4).reason


def test_a_margin_narrows_the_angle():
    robot = arm()
    solver = lw.ik.InverseKinematics(
        robot.mechanism, "hand", limits=lw.ik.PositionLimit({"shoulder": 0.4})
    )
    q = robot.random(200, seed=rng("margin"))
    inside = angles(q) < 0.8
    found = solver.solve(robot.fk(q[inside], "hand"))
    assert found.success.all() and (angles(found.q) <= 0.8).all()
    with pytest.raises(lw.errors.InputError, match="leaves no position of joint 'shoulder'"):
        lw.ik.InverseKinematics(robot.mechanism, "hand", limits=lw.ik.PositionLimit(1.3))


@pytest.mark.slow
def test_a_controller_keeps_the_angle():
    robot = arm(LIMIT.replace("1.2", "0.4"))
    controller = lw.ik.Controller(robot.mechanism, "hand", dt=0.02)
    q = robot.neutral()
    target = robot.fk(robot.random(seed=rng("controller")), "hand")
    for _ in range(150):
        v = controller.velocity(q, target)
        after = controller.step(q, target)
        np.testing.assert_allclose(robot.integrate(q, v * 0.02), after, rtol=0, atol=1e-12)
        q = after
        assert angles(q) <= 0.4
    np.testing.assert_allclose(robot.fk(q, "hand"), target, rtol=0, atol=1e-3)


def test_loops_close_over_spherical_joints():
    """A rod with a ball at either end, one of them the tree's and one the loop's."""
    robot = arm("").with_frame("grip", "hand", lw.pose([0.0, 0.0, 0.1], R=np.eye(3)))
    anchor = robot.fk(robot.random(seed=rng("loop")), "grip")
    closed = robot.with_frame("anchor", "base", anchor).with_loop("grip", "anchor", "position")
    q = closed.assemble({"elbow": 0.4}).q
    assert closed.is_assembled(q)
    v = np.zeros(closed.n_v)
    found = closed.forward_dynamics(q, v, np.zeros(closed.n_v))
    assert np.isfinite(found).all()


# simulations


@pytest.mark.parametrize(("method", "drift"), [("rk4", 1e-8), ("dopri5", 1e-5)])
def test_a_free_pendulum_keeps_energy_momentum_and_length(method: str, drift: float):
    robot = lw.load(pendulum())
    run = lw.simulate(robot, *SWING, duration=10.0, dt=0.002, method=method)
    assert run.finished
    assert np.abs(run.energy - run.energy[0]).max() < drift
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), 1.0, rtol=0, atol=1e-14)
    q, v = run.q[::500], run.v[::500]
    moments = np.einsum("nij,nj->ni", robot.mass_matrix(q), v)  # about the hip, in the rod's axes
    upright = np.einsum("nj,nj->n", robot.fk(q, "rod")[:, 2, :3], moments)
    np.testing.assert_allclose(upright, upright[0], rtol=0, atol=drift)


def test_a_free_pendulum_swings_as_mujocos():
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    text = pendulum(damping="0.2", armature="0.03")
    robot = lw.load(text)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity, model.opt.timestep = robot.mechanism.gravity(), 0.001
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = SWING
    for _ in range(2000):
        mujoco.mj_step(model, data)
    run = lw.simulate(robot, *SWING, duration=2.0, dt=0.001, losses=True)
    np.testing.assert_allclose(run.q[-1], data.qpos, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.v[-1], data.qvel, rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_stops_hold_the_angle(method: str):
    robot = lw.load(pendulum(range="0 1", damping="0.3"))
    given = {"duration": 1.0, "dt": 0.001, "method": method}
    free = lw.simulate(robot, *SWING, **given)
    assert free.limit_excess[0] > 0.1 and "angle of 1 rad" in free.reason
    held = lw.simulate(robot, *SWING, **given, stops=True)
    assert held.finished and held.limit_excess[0] < 0.3 * free.limit_excess[0]
    stiff = lw.Stops(stiffness=2e4, damping=100.0)
    assert lw.simulate(robot, *SWING, **given, stops=stiff).limit_excess[0] < 0.01


def test_control_turns_it_to_its_target():
    robot = lw.load(pendulum())
    target = robot.random(seed=rng("control"))
    hold = lw.PD(kp=80.0, kd=12.0, q_target=target, feed_forward=robot.gravity_forces(target))
    for method in ("rk4", "implicit"):
        run = lw.simulate(robot, *SWING, duration=4.0, dt=0.002, torque=hold, method=method)
        assert np.abs(robot.difference(run.q[-1], target)).max() < 1e-4


# files


def test_it_is_written_and_read_again(tmp_path: Path):
    robot = arm(LIMIT + '<dynamics damping="0.3" friction="0.1"/>')
    assert robot.document is not None
    again = lw.load(lw.urdf.to_text(robot.document.robot))
    assert again.mechanism == robot.mechanism
    assert from_json(to_json(robot.mechanism)) == robot.mechanism


def test_mechanisms_of_version_5_had_none():
    import json  # noqa: PLC0415

    m = lw.load("ur5e").mechanism
    values = json.loads(to_json(m))
    values["version"] = 5
    for later in ("angle_limit", "stiffness", "spring_position", "default_gravity"):
        del values[later]
    assert from_json(json.dumps(values)) == m


def test_ball_is_told_to_be_spherical():
    with pytest.raises(lw.errors.DescriptionError, match="did you mean 'spherical'"):
        lw.load(arm_urdf().replace('"spherical"', '"ball"'))


def test_keyframes_have_its_quaternion():
    text = pendulum().replace(
        "</mujoco>", '<keyframe><key name="up" qpos="0 1 0 0"/></keyframe></mujoco>'
    )
    robot = lw.load(text)
    assert robot.named_configurations["up"].tolist() == [0, 1, 0, 0]


# older libraries


def test_faces_say_what_they_do_with_it(tmp_path: Path):
    from linkwork.faces import trip_kinematics, urdfpy  # noqa: PLC0415
    from linkwork.faces.pykdl import kdl_parser  # noqa: PLC0415

    path = tmp_path / "arm.urdf"
    path.write_text(arm_urdf(), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'shoulder' is one of .* not 'spherical'"):
        urdfpy.URDF.load(str(path))
    with pytest.raises(lw.errors.UnsupportedFeatureError, match="'shoulder' is spherical"):
        kdl_parser.treeFromFile(path)
    with pytest.warns(UserWarning, match="'shoulder' is spherical: it is taken as fixed"):
        trip_kinematics.from_urdf(path)
