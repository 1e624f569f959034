"""Mechanisms from MJCF records: joints, links between, references, names; no MuJoCo is needed.

The poses are compared with what MuJoCo's documentation says of a body with joints, written out
here; tests/reference/test_mujoco.py compares them with MuJoCo itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwork.errors import Finding, InputError
from linkwork.formats.mjcf.records import Body, Joint, MjcfModel, Site
from linkwork.mechanism.from_mjcf import (
    from_mjcf,
    mesh_opener,
    parts_from_mjcf,
    rotation_from_wxyz,
)
from linkwork.mechanism.model import JointType
from robots import about, model_poses
from seeds import rng

NONE = (0.0, 0.0, 0.0)
SAME = (1.0, 0.0, 0.0, 0.0)
WORLD = Body(
    name="world",
    parent=-1,
    pos=NONE,
    quat=SAME,
    mass=0.0,
    com=NONE,
    inertia=NONE,
    inertia_quat=SAME,
)


def body(name: str, parent: int = 0, **values: Any) -> Body:
    given = {
        "pos": NONE,
        "quat": SAME,
        "mass": 1.0,
        "com": NONE,
        "inertia": (1.0, 1.0, 1.0),
        "inertia_quat": SAME,
    }
    return Body(name=name, parent=parent, **(given | values))


def joint(name: str, type: Any = "hinge", on: int = 1, **values: Any) -> Joint:
    given = {"pos": NONE, "axis": (0.0, 0.0, 1.0), "start": 0}
    return Joint(name=name, type=type, body=on, **(given | values))


def model(
    bodies: list[Body], joints: list[Joint] | None = None, sites: list[Site] | None = None
) -> MjcfModel:
    return MjcfModel(
        name="m",
        file="m.xml",
        bodies=(WORLD, *bodies),
        joints=tuple(joints or ()),
        sites=tuple(sites or ()),
        geoms=(),
    )


def translation(p: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = p
    return T


def expected_pose(b: Body, joints: list[Joint], q: np.ndarray) -> np.ndarray:
    """The body's frame in its parent's, moved by each joint in turn."""
    T = translation(b.pos)
    T[:3, :3] = rotation_from_wxyz(b.quat)
    for j, value in zip(joints, q, strict=True):
        moved = value - j.ref
        if j.type == "slide":
            T = T @ translation(np.array(j.axis) * moved)
        else:
            anchor = np.array(j.pos)
            turn = np.eye(4)
            turn[:3, :3] = about(np.array(j.axis), moved)
            T = T @ translation(anchor) @ turn @ translation(-anchor)
    return T


def unit(generator: np.random.Generator, n: int) -> tuple[float, ...]:
    v = generator.normal(size=n)
    return tuple(float(x) for x in v / np.linalg.norm(v))


@pytest.mark.parametrize("number", range(20))
def test_a_body_is_moved_by_its_joints_in_turn(number: int):
    generator = rng(f"turns {number}")
    b = body("b", pos=unit(generator, 3), quat=unit(generator, 4))
    joints = [
        joint(
            f"j{k}",
            generator.choice(["hinge", "slide"]),
            axis=unit(generator, 3),
            pos=unit(generator, 3) if generator.random() < 0.7 else NONE,
            ref=float(generator.choice([0.0, generator.normal()])),
        )
        for k in range(generator.integers(0, 4))
    ]
    m = from_mjcf(model([b], joints))
    assert m.joint_names == tuple(j.name for j in joints)
    q = generator.normal(size=len(joints))
    np.testing.assert_allclose(
        model_poses(m, q)["b"], expected_pose(b, joints, q), rtol=0, atol=1e-13
    )


def test_at_its_reference_a_body_is_where_it_is_described():
    b = body("b", pos=(1.0, 2.0, 3.0))
    m = from_mjcf(model([b], [joint("j", ref=0.7, pos=(0.5, 0.0, 0.0))]))
    np.testing.assert_allclose(model_poses(m, np.array([0.7]))["b"][:3, 3], b.pos, atol=1e-15)


def test_links_between_are_named_for_body_and_joint_and_weigh_nothing():
    parts = parts_from_mjcf(
        model([body("b")], [joint("x", "slide"), joint("y", "slide"), joint("z")])
    )
    assert [link.name for link in parts.links] == ["world", "b/x", "b/y", "b"]
    assert [link.mass for link in parts.links] == [0, 0, 0, 1]
    assert [(j.parent, j.child) for j in parts.joints] == [
        ("world", "b/x"),
        ("b/x", "b/y"),
        ("b/y", "b"),
    ]


def test_a_joint_away_from_the_body_adds_one_link():
    parts = parts_from_mjcf(model([body("b")], [joint("j", pos=(1.0, 0.0, 0.0))]))
    assert [link.name for link in parts.links] == ["world", "b/j", "b"]
    assert [(j.name, j.type) for j in parts.joints] == [
        ("j", JointType.CONTINUOUS),
        ("b_fixed", JointType.FIXED),
    ]
    assert len(parts_from_mjcf(model([body("b")], [joint("j", "slide", pos=NONE)])).links) == 2


def test_a_slide_moves_the_same_way_wherever_it_stands():
    far = joint("j", "slide", pos=(5.0, 0.0, 0.0))
    assert [link.name for link in parts_from_mjcf(model([body("b")], [far])).links] == [
        "world",
        "b",
    ]


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "expected"),
    [
        ("hinge", None, None, JointType.CONTINUOUS),
        ("hinge", -1.0, 2.0, JointType.REVOLUTE),
        ("slide", None, None, JointType.PRISMATIC),
        ("slide", -1.0, 2.0, JointType.PRISMATIC),
    ],
)
def test_types_and_limits(kind: str, lower: Any, upper: Any, expected: JointType):
    j = joint("j", kind, lower=lower, upper=upper, damping=2.0, friction=3.0, effort=4.0)
    m = from_mjcf(model([body("b")], [j]))
    assert m.joint_types == (expected,)
    assert m.lower[0] == (-np.inf if lower is None else lower)
    assert m.upper[0] == (np.inf if upper is None else upper)
    assert (m.damping[0], m.friction[0], m.effort_limit[0]) == (2.0, 3.0, 4.0)
    assert not m.findings


def test_a_free_joint_says_the_pose_in_the_world():
    b = body("b", pos=(1.0, 2.0, 3.0), quat=(0.0, 1.0, 0.0, 0.0))
    m = from_mjcf(model([b], [joint("free", "free")]))
    assert m.joint_types == (JointType.FLOATING,)
    half = np.sqrt(0.5)
    T = model_poses(m, np.array([4.0, 5.0, 6.0, half, 0.0, 0.0, half]))["b"]
    np.testing.assert_array_equal(T[:3, 3], (4, 5, 6))
    np.testing.assert_allclose(T[:3, 0], (0, 1, 0), atol=1e-15)


def test_several_bodies_may_be_free():
    bodies = [body("a"), body("b"), body("c", 2, pos=(0.0, 0.0, 1.0))]
    m = from_mjcf(model(bodies, [joint("fa", "free", 1), joint("fb", "free", 2), joint("j", on=3)]))
    assert m.joint_names == ("fa", "fb", "j")
    assert m.n_q == 15


def test_a_ball_joint_turns_about_its_anchor():
    b = body("b", pos=(1.0, 2.0, 3.0))
    given = {"pos": (0.5, 0.0, 0.0), "upper": 0.7, "damping": 2.0, "friction": 3.0, "armature": 4.0}
    m = from_mjcf(model([b], [joint("hip", "ball", **given)]))
    assert (m.joint_types, m.n_q, m.n_v) == ((JointType.SPHERICAL,), 4, 3)
    assert m.angle_limit.tolist() == [0.7] and np.isinf(m.upper).all()
    for values, each in ((m.damping, 2.0), (m.friction, 3.0), (m.armature, 4.0)):
        assert values.tolist() == [each] * 3
    half = np.sqrt(0.5)
    T = model_poses(m, np.array([half, 0.0, 0.0, half]))["b"]
    np.testing.assert_allclose(T[:3, 3], (1.5, 1.5, 3.0), atol=1e-15)
    np.testing.assert_allclose(T[:3, 0], (0, 1, 0), atol=1e-15)


def test_inertias_are_turned_into_the_axes_of_the_body():
    generator = rng("inertia")
    quat = unit(generator, 4)
    b = body("b", mass=3.0, com=(1.0, 2.0, 3.0), inertia=(3.0, 4.0, 5.0), inertia_quat=quat)
    m = from_mjcf(model([b], [joint("j")]))
    R = rotation_from_wxyz(quat)
    np.testing.assert_allclose(m.link_I_com[1], R @ np.diag((3.0, 4.0, 5.0)) @ R.T, atol=1e-14)
    np.testing.assert_array_equal(m.link_com[1], b.com)
    assert m.link_mass[1] == 3.0


def test_sites_are_frames_on_their_bodies():
    site = Site(name="tip", body=1, pos=(0.0, 0.0, 1.0), quat=SAME)
    m = from_mjcf(model([body("b", pos=(1.0, 0.0, 0.0))], [joint("j")], [site]))
    assert m.frame_names == ("world", "b", "j", "tip")
    np.testing.assert_array_equal(model_poses(m, np.zeros(1))["tip"][:3, 3], (1, 0, 1))


def test_names_that_clash_are_told_apart():
    sites = [Site(name=n, body=1, pos=NONE, quat=SAME) for n in ("b", "j", "b/joint")]
    bodies = [body("b"), body("c", 1), body("b/j", 1)]
    joints = [joint("b"), joint("j", axis=(1.0, 0.0, 0.0)), joint("c_fixed", on=3)]
    m = from_mjcf(model(bodies, joints, sites))
    assert len(set(m.frame_names)) == len(m.frame_names)
    assert set(m.frame_names) >= {"b", "b/joint", "b/site", "j", "j/site", "b/joint/site"}
    assert m.joint_names == ("b", "j", "c_fixed")
    assert "c_fixed_" in m.frame_names
    assert "b/b" in m.frame_names


@pytest.mark.parametrize("base", ["floating", "free"])
def test_another_base_is_refused(base: Any):
    with pytest.raises(InputError, match="MJCF"):
        from_mjcf(model([body("b")]), base=base)


def test_findings_are_kept():
    found = MjcfModel(
        name="m",
        file=None,
        bodies=(WORLD,),
        joints=(),
        sites=(),
        geoms=(),
        problems=(Finding("note", "code", "said"),),
    )
    assert from_mjcf(found).findings == found.problems


@pytest.mark.parametrize("number", range(10))
def test_quaternions_of_any_length_turn_alike(number: int):
    generator = rng(f"quaternion {number}")
    axis, angle = np.array(unit(generator, 3)), float(generator.uniform(-3, 3))
    q = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis]) * generator.uniform(0.1, 9)
    R = rotation_from_wxyz((float(q[0]), float(q[1]), float(q[2]), float(q[3])))
    np.testing.assert_allclose(R, about(axis, angle), rtol=0, atol=1e-15)


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    for name in ("top/robot/main.xml", "top/robot/k.obj", "top/meshes/k.obj", "k.obj"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}")
    return tmp_path / "top/robot/main.xml"


@pytest.mark.parametrize("name", ["k.obj", "../meshes/k.obj"])
def test_meshes_near_the_description_are_opened(robot: Path, name: str):
    place = os.path.join(robot.parent, name)
    assert mesh_opener()(place, str(robot)).startswith(b"# top")


@pytest.mark.parametrize("name", ["../../k.obj", "/etc/passwd", "no.obj", "main.xml", "~/k.obj"])
def test_other_files_are_not(robot: Path, name: str):
    with pytest.raises(InputError):
        mesh_opener()(os.path.join(robot.parent, name), str(robot))


def test_allowed_folders_are_opened(robot: Path, tmp_path: Path):
    opened = mesh_opener(allow=[tmp_path])(str(tmp_path / "k.obj"), str(robot))
    assert opened == b"# k.obj"


def test_a_mesh_that_claims_too_much_is_refused(robot: Path):
    bomb = robot.parent / "bomb.stl"
    bomb.write_bytes(b"\0" * 80 + (4_000_000_000).to_bytes(4, "little") + b"\0" * 50)
    with pytest.raises(InputError, match="bomb"):
        mesh_opener()(str(bomb), str(robot))
