"""MJCF as we read it against MuJoCo itself, and URDF as both read it.

Random MJCF texts over everything that is read; every body, joint, limit, mass and site is compared
by MuJoCo's own numbers. Tolerances are 1e-12, times the largest coordinate or inertia.
"""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats.mjcf.read import read
from linkwork.formats.mjcf.records import MjcfModel
from linkwork.formats.urdf.read import read as read_urdf
from linkwork.mechanism.from_mjcf import from_mjcf
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.serialize import from_json, to_json
from mjcf_samples import FOUR_BAR, RandomMjcf, mujoco_state, with_tiny_meshes
from robots import example_robot_urdfs, model_poses
from seeds import rng

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

TOLERANCE = 1e-12
REAL = (
    "panda.urdf",
    "ur5_robot.urdf",
    "talos_full_v2.urdf",
    "iiwa14.urdf",
    "solo12.urdf",
    "go2.urdf",
)


def original(text: str) -> Any:
    """The model that MuJoCo compiles from the text itself, all its bodies kept."""
    spec = mujoco.MjSpec.from_string(with_tiny_meshes(text).replace('fusestatic="true"', ""))
    return spec.compile()


def random_positions(
    m: Mechanism, model: MjcfModel, mj: Any, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """One configuration in our order, and in MuJoCo's."""
    joints = {joint.name: joint for joint in model.joints}
    q, qpos = np.zeros(m.n_q), mj.qpos0.copy()
    for c, name in enumerate(m.joint_names):
        own = slice(*m.q_start[c : c + 2].tolist())
        value = generator.normal(size=own.stop - own.start)
        if len(value) in (4, 7):
            value[-4:] /= np.linalg.norm(value[-4:])
        start = joints[name].start
        q[own], qpos[start : start + len(value)] = value, value
    return q, qpos


def rotated_inertia(mj: Any, body: int) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, mj.body_iquat[body])
    R = R.reshape(3, 3)
    return R @ np.diag(mj.body_inertia[body]) @ R.T


def assert_same_poses(m: Mechanism, model: MjcfModel, mj: Any, q: Any, qpos: Any) -> None:
    data = mujoco_state(mujoco, mj, qpos)
    poses = model_poses(m, q)
    scale = max(1.0, float(np.abs(data.xpos).max()))
    expected = [
        *((body.name, data.xpos[k], data.xmat[k]) for k, body in enumerate(model.bodies)),
        *zip(site_frames(m, mj), data.site_xpos, data.site_xmat, strict=True),
    ]
    for name, p, R in expected:
        np.testing.assert_allclose(poses[name][:3, 3], p, rtol=0, atol=TOLERANCE * scale)
        np.testing.assert_allclose(poses[name][:3, :3], R.reshape(3, 3), rtol=0, atol=TOLERANCE)


def site_frames(m: Mechanism, mj: Any) -> tuple[str, ...]:
    """The frames that were added, which are the sites in MuJoCo's order."""
    added = m.frame_names[m.n_link_frames + m.n_joint_frames :]
    assert len(added) == mj.nsite
    return added


def assert_same_masses(m: Mechanism, model: MjcfModel, mj: Any) -> None:
    index = {name: k for k, name in enumerate(m.frame_names[: m.n_link_frames])}
    named = {body.name: k for k, body in enumerate(model.bodies)}
    for name, link in index.items():
        body = named.get(name, 0)
        mass = float(mj.body_mass[body]) if body else 0.0  # links between, and the world: none
        assert m.link_mass[link] == pytest.approx(mass, rel=TOLERANCE, abs=0)
        if body:
            tensor = rotated_inertia(mj, body)
            np.testing.assert_allclose(m.link_com[link], mj.body_ipos[body], rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(
                m.link_I_com[link], tensor, rtol=0, atol=TOLERANCE * np.abs(tensor).max()
            )


def assert_same_joints(m: Mechanism, model: MjcfModel, mj: Any) -> None:
    index = {joint.name: k for k, joint in enumerate(model.joints)}
    assert set(m.joint_names) == set(index)
    for c, name in enumerate(m.joint_names):
        k, at = index[name], int(m.q_start[c])
        if m.joint_types[c] is JointType.FLOATING:
            assert mj.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE
            continue
        low, high = mj.jnt_range[k] if mj.jnt_limited[k] else (-np.inf, np.inf)
        ball = mj.jnt_type[k] == mujoco.mjtJoint.mjJNT_BALL
        assert (m.joint_types[c] is JointType.SPHERICAL) == ball
        assert m.angle_limit[c] == (high if ball else np.inf)
        assert (m.lower[at], m.upper[at]) == ((-np.inf, np.inf) if ball else (low, high))
        dof, own = mj.jnt_dofadr[k], int(m.v_start[c])
        assert m.damping[own] == mj.dof_damping[dof]
        assert m.friction[own] == mj.dof_frictionloss[dof]
        if not ball:
            assert m.stiffness[own] == mj.jnt_stiffness[k]
            assert m.spring_position[own] == mj.qpos_spring[mj.jnt_qposadr[k]]
        assert m.effort_limit[own] == (5.0 if mj.jnt_actfrclimited[k] else np.inf)
        unlimited = not mj.jnt_limited[k]
        hinge = mj.jnt_type[k] == mujoco.mjtJoint.mjJNT_HINGE
        assert (m.joint_types[c] is JointType.CONTINUOUS) == (hinge and unlimited)
        assert (m.joint_types[c] is JointType.PRISMATIC) == (not hinge and not ball)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("number", range(40))
def test_random_trees_are_mujocos(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    generator = rng(f"mjcf {number}")
    text = RandomMjcf(generator).text()
    mj = original(text)
    model = read(text)
    m = from_mjcf(model)
    assert len(model.bodies) == mj.nbody
    assert_same_masses(m, model, mj)
    assert_same_joints(m, model, mj)
    np.testing.assert_array_equal(m.default_gravity, mj.opt.gravity)
    for _ in range(2):
        assert_same_poses(m, model, mj, *random_positions(m, model, mj, generator))
    assert not list(tmp_path.iterdir())  # MuJoCo wrote no log


@pytest.mark.parametrize("number", range(10))
def test_shapes_stand_where_mujoco_has_them(number: int):
    generator = rng(f"geoms {number}")
    text = RandomMjcf(generator).text()
    mj = original(text)
    geoms = read(text).geoms
    assert len(geoms) == mj.ngeom
    for k, geom in enumerate(geoms):
        if geom.mesh is None:
            np.testing.assert_array_equal(geom.pos, mj.geom_pos[k])
            np.testing.assert_array_equal(geom.quat, mj.geom_quat[k])
            np.testing.assert_array_equal(geom.size, mj.geom_size[k])
        else:  # MuJoCo has turned its points; the file's own frame is what we keep
            own = mj.geom_dataid[k]
            q, p = np.zeros(4), np.zeros(3)
            pose = (np.array(geom.pos), np.array(geom.quat), mj.mesh_pos[own], mj.mesh_quat[own])
            mujoco.mju_mulPose(p, q, *pose)
            np.testing.assert_allclose(p, mj.geom_pos[k], rtol=0, atol=1e-12)
            assert abs(q @ mj.geom_quat[k]) == pytest.approx(1, abs=1e-12)


def urdf_pairs() -> list[Path]:
    return [path for path in example_robot_urdfs() if path.name in REAL]


@pytest.mark.parametrize("path", urdf_pairs(), ids=lambda path: path.name)
def test_a_urdf_is_the_same_robot_to_both(path: Path):
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)
    # MuJoCo fuses what is fixed, unless told otherwise, and wants names to be short paths
    text = text.replace(
        "</robot>", '<mujoco><compiler fusestatic="false" strippath="true"/></mujoco></robot>'
    )
    try:
        mj = mujoco.MjSpec.from_string(text).compile()
    except ValueError as error:
        pytest.skip(f"MuJoCo does not read {path.name}: {str(error)[:120]}")
    m = from_urdf(read_urdf(path))
    generator = rng(path.name)
    q, qpos = np.zeros(m.n_q), mj.qpos0.copy()
    for c, name in enumerate(m.joint_names):
        value = generator.normal()
        q[m.q_start[c]] = value
        qpos[mj.jnt_qposadr[mj.joint(name).id]] = value
    for body, c in enumerate(m.coordinate):
        if c >= 0 and m.body_joint_names[body] != m.joint_names[c]:  # MuJoCo couples by force only
            follower = mj.jnt_qposadr[mj.joint(m.body_joint_names[body]).id]
            qpos[follower] = m.multiplier[body] * q[m.q_start[c]] + m.offset[body]
    data, poses = mujoco_state(mujoco, mj, qpos), model_poses(m, q)
    compared = 0
    for k in range(1, mj.nbody):
        name = mj.body(k).name
        if name in poses:
            compared += 1
            np.testing.assert_allclose(poses[name][:3, 3], data.xpos[k], rtol=0, atol=1e-12)
            R = data.xmat[k].reshape(3, 3)
            np.testing.assert_allclose(poses[name][:3, :3], R, rtol=0, atol=1e-12)
    assert compared > 5


ARMATURE = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
<body name="ball" pos="0 0 1"><joint name="free" type="free" armature="0.4"/>
 <inertial pos=".1 0 0" mass="2" diaginertia=".1 .2 .25"/></body>
<body name="u"><joint name="a" axis="0 1 0" armature=".3" range="-2 2"/>
 <geom type="capsule" size=".05" fromto="0 0 0 0 0 .4"/>
 <body name="l" pos="0 0 .4"><joint name="b" type="slide" axis="0 1 0" armature="0.05"/>
  <joint name="c" ref=".5" axis="1 0 0" armature=".07" damping=".2"/>
  <geom type="capsule" size=".04" fromto="0 0 0 0 0 .3"/></body></body>
</worldbody><actuator><motor joint="a"/></actuator>
<keyframe><key name="home" qpos="0 0 1 2 0 0 0 .1 .2 .3" qvel="0 0 0 0 0 0 1 0 0" ctrl="3"/>
 <key qpos="1 2 3 .1 .2 .3 .4 1 .1 -.3" time="3"/><key name="start"/></keyframe></mujoco>"""


def test_armature_counts_as_in_mujoco():
    robot, random = lw.load(ARMATURE), rng("armature")
    mj = mujoco.MjModel.from_xml_string(ARMATURE)
    mj.opt.gravity = robot.mechanism.gravity()
    mj.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mj.dof_damping[:] = 0.0
    data, bare = mujoco.MjData(mj), mj.dof_armature.copy()
    np.testing.assert_array_equal(robot.mechanism.armature, bare)
    for q in robot.named_configurations.values():
        R = robot.fk(q, "ball")[:3, :3]
        G = np.eye(mj.nv)  # our velocities of the ball lie along its own axes
        G[:3, :3] = R
        v, tau = random.normal(size=(2, robot.n_v))
        v[:6] = 0.0
        data.qpos[:], data.qvel[:] = q, G @ v
        data.qfrc_applied[:] = G @ tau
        mujoco.mj_forward(mj, data)
        M = np.column_stack([_times(mj, data, column) for column in np.eye(mj.nv)])
        np.testing.assert_allclose(robot.mass_matrix(q), G.T @ M @ G, rtol=0, atol=1e-13)
        close = {"rtol": 1e-9, "atol": 1e-9}
        found = robot.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(G @ found, data.qacc, **close)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, found), tau, **close)
        inverse = robot.inverse_mass_matrix(q)
        np.testing.assert_allclose(inverse @ robot.mass_matrix(q), np.eye(mj.nv), **close)
        energy = robot.kinetic_energy(q, v)
        assert energy == pytest.approx(0.5 * v @ robot.mass_matrix(q) @ v, rel=1e-12)
        # what is given takes the place of what is described
        links = robot.mass_matrix(q, armature=0.0)
        np.testing.assert_allclose(robot.mass_matrix(q) - links, np.diag(bare), atol=1e-13)
        more = robot.mass_matrix(q, armature=bare + 1.0) - robot.mass_matrix(q)
        np.testing.assert_allclose(more, np.eye(mj.nv), atol=1e-13)


def _times(mj: Any, data: Any, column: np.ndarray) -> np.ndarray:
    product = np.zeros(mj.nv)
    mujoco.mj_mulM(mj, data, product, column)
    return product


def test_a_simulation_counts_the_armature():
    robot = lw.load(
        "<mujoco><worldbody><body><joint name='j' axis='0 0 1' armature='2'/>"
        "<geom type='sphere' size='.1' mass='1'/></body></worldbody></mujoco>"
    )
    moved = {
        a: lw.simulate(robot, [0.0], duration=1.0, torque=[5.0], armature=a) for a in (None, 0)
    }
    own = float(robot.mass_matrix([0.0], armature=0)[0, 0])
    for armature, inertia in ((None, own + 2.0), (0, own)):
        assert moved[armature].q[-1, 0] == pytest.approx(2.5 / inertia, rel=1e-6)


def test_keyframes_are_named_configurations():
    robot = lw.load(ARMATURE)
    mj = mujoco.MjModel.from_xml_string(ARMATURE)
    named = robot.named_configurations
    assert list(named) == ["home", "key1", "start"]
    for k, q in enumerate(named.values()):
        np.testing.assert_array_equal(q, mj.key_qpos[k])  # its joints come in this order
        assert q.shape == (robot.n_q,)
        assert not q.flags.writeable
    with pytest.raises(TypeError):
        named["home"] = np.zeros(10)  # pyright: ignore[reportIndexIssue] -- refused, which is the test
    assert not any(p.code in ("no-keyframe", "no-armature") for p in robot.findings)
    assert not dict(lw.load("panda").named_configurations)


def test_keyframes_and_armature_survive_edits_and_storage():
    robot = lw.load(ARMATURE)
    home = robot.named_configurations["home"]
    copies = [
        pickle.loads(pickle.dumps(robot)),
        lw.Robot(from_json(to_json(robot.mechanism))),
        robot.with_frame("tool", "l", np.eye(4)),
        robot.with_actuated("a"),
    ]
    for same in copies:
        np.testing.assert_array_equal(same.named_configurations["home"], home)
        np.testing.assert_array_equal(same.mechanism.armature, robot.mechanism.armature)
    locked = robot.with_locked("b", at=0.4)
    np.testing.assert_array_equal(locked.named_configurations["home"], np.delete(home, 8))
    np.testing.assert_array_equal(locked.mechanism.armature, [0.4] * 6 + [0.3, 0.07])
    chain = robot.subchain("world", "l")
    np.testing.assert_array_equal(chain.named_configurations["home"], home[7:])
    np.testing.assert_array_equal(chain.mechanism.armature, [0.3, 0.05, 0.07])


def test_keyframes_of_another_length_are_what_mujoco_makes_of_them():
    given = ' qpos="1 2 3 .1 .2 .3 .4 1 .1 -.3"'
    short = ARMATURE.replace(given, ' qpos="1 2"')
    key = mujoco.MjModel.from_xml_string(short).key_qpos[1]
    np.testing.assert_array_equal(lw.load(short).named_configurations["key1"], key)
    with pytest.raises(
        lw.DescriptionError, match="invalid qpos size, expected 10, got 12"
    ) as caught:
        lw.load(ARMATURE.replace(given, f' qpos="{"1 " * 12}"'))
    (problem,) = caught.value.problems
    lines = ARMATURE.split("\n")
    assert given in lines[problem.line - 1]  # the second key has no name


def sprung(n: int) -> str:
    """A chain of hinges, slides and balls with springs, dampers and a gravity of its own."""
    text, end = "", ""
    for k in range(n):
        kind = "slide" if k % 5 == 4 else "ball" if k % 4 == 2 else "hinge"
        spring = f'stiffness="{1 + k % 3}" springref="{0.1 * k % 1 - 0.3}" ref="{0.05 * (k % 4)}"'
        text += (
            f'<body name="b{k}" pos="0 .1 .2" euler=".2 .1 {0.3 * k}"><joint name="j{k}" '
            f'type="{kind}" axis="{k % 2} 1 .3" damping="{0.1 * (k % 3)}" '
            f'{"" if kind == "ball" else spring}/><geom size=".1" mass="1"/>'
        )
        end += "</body>"
    return (
        '<mujoco><compiler angle="radian"/><option gravity="1 2 -3" timestep="0.001" '
        f'integrator="RK4"><flag contact="disable"/></option><worldbody>{text}{end}</worldbody>'
        "</mujoco>"
    )


@pytest.mark.parametrize("n", [6, pytest.param(36, marks=pytest.mark.slow)])
def test_springs_and_gravity_count_as_in_mujoco(n: int):
    text = sprung(n)
    robot, random = lw.load(text), rng(f"springs {n}")
    assert not robot.findings
    mj = mujoco.MjModel.from_xml_string(text)
    data, q = mujoco.MjData(mj), np.zeros(robot.n_q)
    for c, kind in enumerate(robot.mechanism.joint_types):
        own = robot.mechanism.q_slice(c)
        q[own] = random.normal(size=kind.n_q)
        q[own] *= 1.0 / np.linalg.norm(q[own]) if kind is JointType.SPHERICAL else 0.5
    v, tau = random.normal(size=(2, robot.n_v))
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(mj, data)
    assert np.abs(data.qfrc_spring).max() > 0.5
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(robot.bias_forces(q, v), data.qfrc_bias, **close)
    bias = robot.bias_forces(q, v, losses=True)
    np.testing.assert_allclose(bias, data.qfrc_bias - data.qfrc_passive, **close)
    found = robot.forward_dynamics(q, v, tau, losses=True)
    scale = np.abs(data.qacc).max()
    np.testing.assert_allclose(found, data.qacc, rtol=0, atol=1e-10 * scale)
    dv, step = random.normal(size=robot.n_v), 1e-6
    by_q, _, _ = robot.inverse_dynamics_derivatives(q, v, dv, losses=True)
    for k, way in enumerate(step * np.eye(robot.n_v)):
        ends = (robot.integrate(q, way), robot.integrate(q, -way))
        one, two = (robot.inverse_dynamics(end, v, dv, losses=True) for end in ends)
        np.testing.assert_allclose(by_q[:, k], (one - two) / (2.0 * step), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_roll_out_with_springs_is_mujocos(method: Any):
    text = sprung(4)
    robot = lw.load(text)
    mj = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(mj)
    data.qpos[:] = q = robot.neutral()
    for _ in range(500):
        mujoco.mj_step(mj, data)
    run = lw.simulate(robot, q, duration=0.5, losses=True, method=method)
    np.testing.assert_allclose(run.q[-1], data.qpos, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.v[-1], data.qvel, rtol=0, atol=1e-6)
    other = lw.simulate(robot, q, duration=0.5, losses=True, gravity=[0.0, 0.0, -9.81])
    assert np.abs(other.q[-1] - run.q[-1]).max() > 1e-2


def test_springs_of_a_linkage_keep_its_energy():
    text = FOUR_BAR.format('<connect site1="end" site2="top"/>')
    for joint, spring in (("crank", 'stiffness=".4" springref="40"'), ("rocker", 'stiffness=".2"')):
        text = text.replace(f'<joint name="{joint}"', f'<joint name="{joint}" {spring}')
    robot = lw.load(text)
    m, q = robot.mechanism, robot.assemble({"crank": 0.9}).q
    run = lw.simulate(robot, q, duration=0.5, losses=True)
    stored = 0.5 * ((run.q - m.spring_position) ** 2 @ m.stiffness)
    assert np.ptp(stored) > 1e-3
    assert np.ptp(run.energy + stored) < 1e-9


def test_springs_and_gravity_survive_edits_and_storage():
    robot = lw.load(sprung(4))
    m = robot.mechanism
    copies = [
        pickle.loads(pickle.dumps(robot)),
        lw.Robot(from_json(to_json(m))),
        robot.with_frame("tool", "b1", np.eye(4)),
    ]
    for same in copies:
        for name in ("stiffness", "spring_position", "default_gravity"):
            np.testing.assert_array_equal(getattr(same.mechanism, name), getattr(m, name))
    locked = robot.with_locked("j1", at=0.1).mechanism
    np.testing.assert_array_equal(locked.stiffness, np.delete(m.stiffness, 1))
    np.testing.assert_array_equal(locked.gravity(), [1.0, 2.0, -3.0])
