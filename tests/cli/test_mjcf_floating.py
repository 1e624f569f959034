"""Floating joints for MuJoCo: free where nothing carries them, else slides and a ball."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.mjcf_floating import Moved, freed
from linkwork.cli.mjcf_target import Made, to_mjcf
from seeds import rng

mujoco: Any = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")


def robot(kind: str) -> lw.Robot:
    """A body c that floats, with d on it, on b, which is on the ground by a joint of this kind."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in "abcd")
    joints = "".join(
        f'<joint name="{name}" type="{type}"><origin xyz=".3 .1 .2" rpy=".1 .2 .3"/>'
        f'<parent link="{above}"/><child link="{below}"/><axis xyz="0 1 0"/></joint>'
        for name, above, below, type in (
            ("j", "a", "b", kind),
            ("f", "b", "c", "floating"),
            ("k", "c", "d", "continuous"),
        )
    )
    return lw.load(f"<robot name='r'>{links}{joints}</robot>")


def converted(source: lw.Robot) -> Made:
    assert source.document is not None
    return to_mjcf(source.document, None)


def qpos_of(model: Any, values: dict[str, Any]) -> Any:
    data = mujoco.MjData(model)
    for name, value in values.items():
        data.joint(name).qpos = value
    mujoco.mj_kinematics(model, data)
    return data


def test_one_that_nothing_carries_is_free_in_the_world():
    source = robot("fixed")
    made = converted(source)
    assert not any("several joints" in problem.message for problem in made.problems)
    model = mujoco.MjModel.from_xml_string(made.text)
    assert model.joint("f").type[0] == mujoco.mjtJoint.mjJNT_FREE and model.njnt == 2
    for q in source.random(3, seed=rng("free")):
        T = source.fk(q, "c")
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(T[:3, :3]).ravel())
        data = qpos_of(model, {"f": [*T[:3, 3], *quat], "k": q[7:]})
        np.testing.assert_allclose(data.body("d").xpos, source.fk(q, "d")[:3, 3], atol=1e-5)
    data = qpos_of(model, {})  # at qpos0 it is where the description has it
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(data.body("d").xpos, source.fk(q, "d")[:3, 3], atol=1e-5)
    np.testing.assert_allclose(
        data.body("d").xmat.reshape(3, 3), source.fk(q, "d")[:3, :3], atol=1e-5
    )


def test_one_on_a_moving_body_is_three_slides_and_a_ball():
    source = robot("continuous")
    made = converted(source)
    assert any("become several joints, with other names: 'f'" in p.message for p in made.problems)
    model = mujoco.MjModel.from_xml_string(made.text)
    assert model.njnt == 6
    for q in source.random(3, seed=rng("slides")):
        own = {f"f_T{axis}": q[1 + k] for k, axis in enumerate("XYZ")}
        data = qpos_of(model, {"j": q[0], **own, "f_RB": q[4:8], "k": q[8]})
        np.testing.assert_allclose(data.body("d").xpos, source.fk(q, "d")[:3, 3], atol=1e-5)


def test_only_the_joints_of_the_body_itself_are_replaced():
    text = (
        '<m><worldbody><body name="a"><body name="c" pos="9 9 9" euler="1 1 1"><joint name="f_TX"/>'
        '<joint name="f_TY"/><joint name="f_TZ"/><joint name="f_RB"/><geom/><body name="d">'
        '<joint name="f_TX2"/></body></body></body></worldbody></m>'
    )
    root = ElementTree.fromstring(text)
    freed(root, [Moved("c", "f", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 0.0))])
    world = root[0]
    assert [body.get("name") for body in world] == ["a", "c"] and not list(world[0])
    assert world[1].attrib == {"name": "c", "pos": "1 2 3", "quat": "1 0 0 0"}
    assert [(e.tag, e.get("name"), e.get("type")) for e in world[1]] == [
        ("joint", "f", "free"), ("geom", None, None), ("body", "d", None)
    ]  # fmt: skip
