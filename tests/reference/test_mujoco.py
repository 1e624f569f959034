"""MJCF as we read it against MuJoCo itself, and URDF as both read it.

Random MJCF texts over everything that is read; every body, joint, limit, mass and site is compared
by MuJoCo's own numbers. Tolerances are 1e-12, times the largest coordinate or inertia.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.formats.mjcf.read import read
from linkwork.formats.mjcf.records import MjcfModel
from linkwork.formats.urdf.read import read as read_urdf
from linkwork.mechanism.from_mjcf import from_mjcf
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from mjcf_samples import RandomMjcf, mujoco_state, with_tiny_meshes
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
        if len(value) == 7:
            value[3:] /= np.linalg.norm(value[3:])
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
        assert (m.lower[at], m.upper[at]) == (low, high)
        dof, own = mj.jnt_dofadr[k], int(m.v_start[c])
        assert m.damping[own] == mj.dof_damping[dof]
        assert m.friction[own] == mj.dof_frictionloss[dof]
        assert m.effort_limit[own] == (5.0 if mj.jnt_actfrclimited[k] else np.inf)
        unlimited = not mj.jnt_limited[k]
        hinge = mj.jnt_type[k] == mujoco.mjtJoint.mjJNT_HINGE
        assert (m.joint_types[c] is JointType.CONTINUOUS) == (hinge and unlimited)
        assert (m.joint_types[c] is JointType.PRISMATIC) == (not hinge)


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
