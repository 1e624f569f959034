"""Descriptions as MJCF: the same mechanism in MuJoCo, and what is lost told."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import models
from linkwork.errors import DescriptionError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document, Matrix3
from linkwork.locating import locate
from linkwork.mechanism.loops import Expression, traced
from linkwork.mechanism.to_mjcf import (
    LEAST_INERTIA,
    Mjcf,
    nearest_possible_inertia,
    polynomial,
)
from linkwork.mechanism.to_mjcf import to_mjcf as written
from linkwork.ops.numpy import NumpyOps
from seeds import rng

mujoco: Any = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
trimesh: Any = pytest.importorskip("trimesh", reason="trimesh is not installed")

# planar and floating joints have other names in MuJoCo
PLAIN = [name for name in models.MODELS if name not in ("mobile_arm",)]


def to_mjcf(source: Document, folder: Path | None, *, copy: bool = False) -> Mjcf:
    return written(source, folder, find=lambda n: locate(n, source.robot.file), copy=copy)


def link(name: str, inner: str = "", mass: float = 1.0, inertia: float = 0.1) -> str:
    kept = " ".join(f'i{a}="{inertia}"' for a in ("xx", "yy", "zz"))
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {kept} ixy="0" ixz="0" '
        f'iyz="0"/></inertial>{inner}</link>'
    )


def shape(mesh: str, kind: str = "visual", more: str = "") -> str:
    return f'<{kind}><geometry><mesh filename="{mesh}" {more}/></geometry></{kind}>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    limit = '<limit lower="-1" upper="1" effort="3" velocity="2"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/>{limit}{more}</joint>'
    )


def document(tmp_path: Path, *pieces: str) -> Document:
    file = tmp_path / "robot.urdf"
    file.write_text(f"<robot name='r'>{''.join(pieces)}</robot>")
    return read(file)


def saved(made: Mjcf, folder: Path) -> Any:
    """The model that MuJoCo loads from the disk."""
    for name, data in made.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "m.xml").write_text(made.text)
    return mujoco.MjModel.from_xml_path(str(folder / "m.xml"))


def split(robot: lw.Robot, q: Any) -> list[Any]:
    """The positions of each joint, followers included."""
    positions = robot.all_positions(q)
    if len(positions) == len(robot.all_joint_names):
        return list(positions[:, None])
    return np.split(q, robot.mechanism.q_start[1:-1])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", PLAIN)
def test_poses_and_masses_are_those_of_the_urdf(tmp_path: Path, name: str):
    source = read(models.path(name))
    model = saved(to_mjcf(source, tmp_path), tmp_path)
    robot, data = lw.load(name), mujoco.MjData(model)
    for q in robot.random(5, seed=rng(f"mjcf {name}")):
        full = dict(zip(robot.all_joint_names, split(robot, q), strict=True))
        poses = dict(zip(robot.frame_names, robot.fk_all(q), strict=True))
        for joint_name, value in full.items():
            if len(value) == 7:  # a floating joint that nothing carries is free in the world
                pose = poses[f"{joint_name}/joint"]
                quat = np.zeros(4)
                mujoco.mju_mat2Quat(quat, np.ascontiguousarray(pose[:3, :3]).ravel())
                data.joint(joint_name).qpos = [*pose[:3, 3], *quat]
            else:
                data.joint(joint_name).qpos[0] = value[0]
        mujoco.mj_kinematics(model, data)
        for frame in (link.name for link in source.robot.links):
            T = poses[frame]
            body = data.body(frame)
            np.testing.assert_allclose(body.xpos, T[:3, 3], atol=2e-5)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), T[:3, :3], atol=2e-5)
    mass = sum(link.inertial.mass for link in source.robot.links if link.inertial)
    assert model.body_mass.sum() == pytest.approx(mass, rel=1e-5)


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("end", ["stl", "ascii.stl", "obj", "ply", "glb", "dae"])
def test_meshes_of_every_format_reach_mujoco(tmp_path: Path, end: str, copy: bool):
    if end == "dae":
        pytest.importorskip("collada", reason="pycollada is not installed")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    box.apply_translation((0.5, 0, 0))
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "odd names").mkdir(parents=True)
    target.mkdir()
    kind = "stl_ascii" if end == "ascii.stl" else end.rpartition(".")[2]
    box.export(source / "odd names" / f"böx 1.{end}", file_type=kind)
    name = f"odd names/böx 1.{end}"
    shapes = shape(name) + shape(name, more='scale="2 1 1"')
    made = to_mjcf(document(source, link("l", shapes)), target, copy=copy)
    model = saved(made, target)
    as_it_is = end in ("stl", "obj")
    assert len(made.files) == (0 if as_it_is and not copy else 1)
    assert ("../source/odd names" in made.text) == (as_it_is and not copy)
    assert ("mjcf-mesh" in {problem.code for problem in made.findings}) != as_it_is
    assert model.nmesh == 2
    # MuJoCo turns meshes into their own axes: only the sizes can be compared
    sizes = sorted(sorted(np.ptp(_points(model, k), axis=0).tolist()) for k in range(2))
    np.testing.assert_allclose(sizes, [[1, 2, 3], [2, 2, 3]], atol=1e-5)


def _points(model: Any, k: int) -> Any:
    start, count = model.mesh_vertadr[k], model.mesh_vertnum[k]
    return model.mesh_vert[start : start + count]


def test_two_meshes_of_one_name_stay_two(tmp_path: Path):
    for folder, side in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        trimesh.creation.box((side, side, side)).export(tmp_path / folder / "m.stl")
    shapes = shape("a/m.stl") + shape("b/m.stl", "collision")
    model = saved(to_mjcf(document(tmp_path, link("l", shapes)), tmp_path, copy=True), tmp_path)
    sizes = {round(float(np.ptp(_points(model, k), axis=0)[0]), 5) for k in range(model.nmesh)}
    assert sizes == {1.0, 2.0}


def test_a_missing_mesh_is_a_warning(tmp_path: Path):
    made = to_mjcf(document(tmp_path, link("l", shape("none.stl"))), tmp_path)
    (warning,) = [problem for problem in made.findings if problem.level == "warning"]
    assert (warning.code, warning.name) == ("mesh-missing", "none.stl")
    assert saved(made, tmp_path).ngeom == 0


def test_a_flat_mesh_is_a_shell(tmp_path: Path):
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    trimesh.Trimesh(corners, [[0, 1, 2], [1, 3, 2]]).export(tmp_path / "flat.stl")
    made = to_mjcf(document(tmp_path, link("l", shape("flat.stl"))), tmp_path)
    assert saved(made, tmp_path).nmesh == 1
    assert "mujoco-shell" in {problem.code for problem in made.findings}


def test_what_is_lost_is_told(tmp_path: Path):
    pieces = [
        link("a", '<visual><geometry><sphere radius="1"/></geometry><material name="m">'
             '<texture filename="t.png"/></material></visual>'),
        link("b"),
        link("c"),
        '<link name="d"><collision><geometry><box size="1 1 1"/></geometry></collision></link>',
        joint("j", "a", "b", more='<safety_controller k_velocity="1"/><calibration rising="0"/>'),
        joint("k", "b", "c", more='<mimic joint="j"/>'),
        joint("f", "c", "d", "planar"),
        joint("g", "d", "e", "floating"),
        link("e"),
        '<transmission name="t"><type>x</type><joint name="j"/></transmission><gazebo/>',
    ]  # fmt: skip
    told = " ".join(p.message for p in to_mjcf(document(tmp_path, *pieces), tmp_path).findings)
    for words in (
        "transmissions are left out: 't'",
        "safety controllers are left out: 'j'",
        "calibrations are left out: 'j'",
        "limits of velocity are left out: 'j', 'k'",
        "equality constraints, which a simulation holds softly: 'k'",
        "become several joints, with other names: 'g', 'f'",
        "textures are left out: 't.png'",
        "does not define are left out: '<gazebo>'",
        "MuJoCo makes of their collision shapes: 'd'",
        "six digits",
    ):
        assert words in told


@pytest.mark.parametrize(("upper", "angle"), [("0.7", 0.7), ("0", np.inf), ("4", np.inf)])
def test_spherical_joints_keep_their_angle(upper: str, angle: float, tmp_path: Path):
    ball = joint("ball", "b", "c", "spherical", '<dynamics damping="0.2" friction="0.1"/>')
    ball = ball.replace('lower="-1" upper="1"', f'upper="{upper}"')
    given = document(tmp_path, link("a"), link("b"), link("c"), joint("j", "a", "b"), ball)
    robot = lw.load(given)
    again = lw.load(to_mjcf(given, tmp_path).text)
    for kept in (robot, again):
        assert kept.joint_names == ("j", "ball") and kept.limits.angle[1] == angle
        np.testing.assert_array_equal(kept.mechanism.damping, [0, 0.2, 0.2, 0.2])
    q = robot.random(5, seed=rng("ball"))
    np.testing.assert_allclose(again.fk(q, "c"), robot.fk(q, "c"), rtol=0, atol=1e-6)
    if np.isfinite(angle):
        np.testing.assert_allclose(again.mass_matrix(q), robot.mass_matrix(q), rtol=0, atol=1e-6)


def test_the_own_element_of_mujoco_is_kept(tmp_path: Path):
    own = (
        '<mujoco><compiler fusestatic="true" meshdir="/nowhere"/><option timestep="0.01"/></mujoco>'
    )
    pieces = [link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("f", "b", "c", "fixed")]
    fused = saved(to_mjcf(document(tmp_path, own, *pieces), tmp_path), tmp_path)
    assert (fused.opt.timestep, fused.nbody) == (0.01, 2)
    assert saved(to_mjcf(document(tmp_path, *pieces), tmp_path), tmp_path).nbody == 4


def test_gravity_is_written(tmp_path: Path):
    """The robot's own falls as fast in MuJoCo, and where it is read again."""
    made = document(tmp_path, link("a"), link("b"), joint("j", "a", "b"))
    assert saved(to_mjcf(made, tmp_path), tmp_path).opt.gravity.tolist() == [0.0, 0.0, -9.80665]
    robot = lw.load(tmp_path / "robot.urdf")
    assert lw.load(lw.to_text(robot, "mjcf")).mechanism.gravity() == robot.mechanism.gravity()
    own = '<mujoco><option gravity="0 0 -1.62"/></mujoco>'
    moon = to_mjcf(document(tmp_path, own, link("a")), tmp_path)
    assert saved(moon, tmp_path).opt.gravity.tolist() == [0.0, 0.0, -1.62]


def test_masses_that_mujoco_refuses(tmp_path: Path):
    pieces = [link("a", inertia=-1), link("b"), link("c", inertia=0), joint("j", "a", "b")]
    made = to_mjcf(document(tmp_path, *pieces, joint("f", "b", "c", "fixed")), tmp_path)
    told = " ".join(problem.message for problem in made.findings)
    assert "never move lose a mass and inertia that no body has: 'a'" in told
    assert "masses without inertia get 1e-09 kg m2, as MuJoCo needs: 'c'" in told
    assert saved(made, tmp_path).body_mass.tolist() == [0, 0, 1, 1]


def test_an_inertia_that_no_body_has_is_replaced_with_a_warning(tmp_path: Path):
    long = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{}" ixy="0" ixz="0" iyz="0"/>'
    pieces = [f'<link name="{name}">{long.format(izz)}</inertial></link>' for name, izz in
              (("a", 9), ("b", 2), ("c", 9), ("d", 2.00001))]  # fmt: skip
    joints = [joint(f"j{k}", "a", child) for k, child in enumerate("bcd")]
    made = to_mjcf(document(tmp_path, *pieces, *joints), tmp_path)
    (warning,) = [problem for problem in made.findings if problem.level == "warning"]
    assert warning.code == "mjcf-inertia"
    assert "takes: 'a', 'c'" in warning.message
    inertia = saved(made, tmp_path).body("c").inertia
    np.testing.assert_allclose(inertia, [20 / 3, 10 / 3, 10 / 3], rtol=1e-4)


@pytest.mark.parametrize(
    ("inside", "hint"), [("", "<inertial>"), ('<inertial><mass value="-1"/></inertial>', "mass")]
)
def test_errors_have_a_line_and_a_hint(tmp_path: Path, inside: str, hint: str):
    moving = f"\n\n<link name='b'>{inside}</link>\n"
    with pytest.raises(DescriptionError) as caught:
        to_mjcf(document(tmp_path, link("a"), moving, joint("j", "a", "b")), tmp_path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.name) == (3, "b")
    assert hint in problem.hint


def test_names_twice_are_no_obstacle(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    ball = '<visual name="v"><geometry><sphere radius="1"/></geometry></visual>'
    made = to_mjcf(document(tmp_path, link("a", ball + ball)), tmp_path)
    assert saved(made, tmp_path).ngeom == 2
    told = capfd.readouterr()
    assert told.out == ""
    # MuJoCo before 4 prints its warning about the name by itself
    assert told.err == "" or "duplicate name 'v'" in told.err


def test_a_text_without_a_file(tmp_path: Path):
    source = document(tmp_path, link("a"))
    loose = replace(source, robot=replace(source.robot, file=None))
    assert to_mjcf(loose, None).text == to_mjcf(source, tmp_path).text


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ('<box size="0 1 1"/>', "box"),
        ('<sphere radius="0"/>', "sphere"),
        ('<cylinder radius="1" length="0"/>', "cylinder"),
        ('<capsule radius="0" length="1"/>', "capsule"),
    ],
)
def test_shapes_without_size_are_left_out_by_name(shape, kind):
    text = (
        '<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry></visual>'
        f"\n<collision><geometry>{shape}</geometry></collision></link></robot>"
    )
    made = to_mjcf(lw.urdf.read(text), None)
    (problem,) = [p for p in made.findings if p.code == "mjcf-size"]
    assert (problem.level, problem.element, problem.name, problem.line) == ("warning", kind, "a", 2)
    assert lw.load(made.text).frame_names


HEAVY = [
    shape("k.stl", "collision", 'scale="1 -2 1"'),
    shape("thin.stl", "collision") + shape("k.stl", "collision", 'scale="3 1 1"'),
    "<inertial><mass/></inertial>" + shape("k.stl", "collision"),
    '<inertial><mass value="2"/><inertia ixx="1"/></inertial>' + shape("k.stl", "collision"),
    shape("thin.stl", "collision"),
]


@pytest.mark.parametrize("content", HEAVY)
def test_what_is_written_elsewhere_is_read_again(tmp_path: Path, content: str):
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "k.stl")
    trimesh.creation.box((0.4, 0.4, 1e-5)).export(tmp_path / "thin.stl")
    always = "<mujoco><compiler inertiafromgeom='true'/></mujoco>" if "thin" in content else ""
    moving = f'<link name="b">{content}</link>'
    source = document(tmp_path, link("a"), moving, joint("j", "a", "b"), always)
    folder = tmp_path / "far" / "away"
    folder.mkdir(parents=True)
    model = saved(to_mjcf(source, folder), folder)
    robot = lw.load(folder / "m.xml")
    m, b = robot.mechanism, robot.link_names.index("b")
    assert m.link_mass[b] == model.body("b").mass[0] > 0.0
    moments = np.linalg.eigvalsh(m.link_I_com[b])
    np.testing.assert_allclose(moments, np.sort(model.body("b").inertia), rtol=1e-12)
    np.testing.assert_allclose(robot.fk([0.4], "b"), lw.load(source).fk([0.4], "b"), atol=2e-6)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ('lower="0" upper="0"', True),
        ('lower="-1"', True),
        ('lower="-1" upper="1"', False),
        ("", False),
    ],
)
def test_limits_that_mujoco_cannot_hold_are_told(tmp_path: Path, limits: str, told: bool):
    moving = joint("j", "world", "b").replace('lower="-1" upper="1"', limits)
    made = to_mjcf(document(tmp_path, link("world"), link("b"), moving), tmp_path)
    words = " ".join(problem.message for problem in made.findings)
    assert ("limits on one side, and without room between them, are left out: 'j'" in words) == told
    assert "the world of an MJCF has no mass: that of the link is left out: 'world'" in words
    again, robot = lw.load(made.text).mechanism, lw.load(tmp_path / "robot.urdf").mechanism
    assert told != (again.lower == robot.lower and again.upper == robot.upper)


def chain(tmp_path: Path, n: int) -> Document:
    links = [link(f"l{k}") for k in range(n + 1)]
    return document(tmp_path, *links, *(joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(n)))


@pytest.mark.slow
def test_a_chain_as_deep_as_an_mjcf_may_be_is_read_again(tmp_path: Path):
    made = to_mjcf(chain(tmp_path, 494), tmp_path)
    assert len(lw.load(made.text).joint_names) == saved(made, tmp_path).njnt == 494


@pytest.mark.parametrize("n", [495, 3000])
def test_a_deeper_chain_is_refused_by_name(tmp_path: Path, n: int):
    with pytest.raises(DescriptionError, match="'l495': it hangs on more than 494 joints") as seen:
        to_mjcf(chain(tmp_path, n), tmp_path)
    assert [problem.code for problem in seen.value.problems] == ["too-deep"]


# floating joints

LEVER = (
    '<link name="{0}"><inertial><origin xyz=".1 0 0"/><mass value="1"/><inertia ixx=".01" '
    'iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
HINGE = (
    '<joint name="{0}" type="{3}"><origin xyz=".3 .1 .2" rpy=".1 .2 .3"/><parent link="{1}"/>'
    '<child link="{2}"/><axis xyz="0 1 0"/><limit effort="{4}" velocity="1" lower="-2" upper="2"/>'
    "</joint>"
)


def robot(kind: str) -> lw.Robot:
    """A body c that floats, with d on it, on b, which is on the ground by a joint of this kind."""
    parts = [LEVER.format(name) for name in "abcd"]
    for each in (("j", "a", "b", kind), ("f", "b", "c", "floating"), ("k", "c", "d", "continuous")):
        parts.append(HINGE.format(*each, 0))
    return lw.load(f"<robot name='r'>{''.join(parts)}</robot>")


def converted(source: lw.Robot) -> Mjcf:
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
    assert not any("several joints" in problem.message for problem in made.findings)
    assert any("count from the world's origin there" in p.message for p in made.findings)
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
    assert any("become several joints, with other names: 'f'" in p.message for p in made.findings)
    model = mujoco.MjModel.from_xml_string(made.text)
    assert model.njnt == 6
    for q in source.random(3, seed=rng("slides")):
        own = {f"f_T{axis}": q[1 + k] for k, axis in enumerate("XYZ")}
        data = qpos_of(model, {"j": q[0], **own, "f_RB": q[4:8], "k": q[8]})
        np.testing.assert_allclose(data.body("d").xpos, source.fk(q, "d")[:3, 3], atol=1e-5)


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_damping_and_friction_of_a_floating_joint_stay(kind: str):
    text = lw.to_text(robot(kind)).replace(
        'type="floating">', 'type="floating"><dynamics damping="2" friction="0.5"/>'
    )
    source = lw.load(text)
    assert 2.0 in source.mechanism.damping
    model = mujoco.MjModel.from_xml_string(converted(source).text)
    assert (model.dof_damping == 2.0).sum() == (model.dof_frictionloss == 0.5).sum() == 6


# inertias


def turned(moments: Any, generator: np.random.Generator) -> Matrix3:
    """An inertia with these moments about some axes, symmetric to the last bit."""
    axes, _ = np.linalg.qr(generator.normal(size=(3, 3)))
    m = (axes * np.asarray(moments, np.float64)) @ axes.T
    (a, b, c), (_, d, e), (_, _, f) = (0.5 * (m + m.T)).tolist()
    return ((a, b, c), (b, d, e), (c, e, f))


def moments_of(inertia: Matrix3) -> Any:
    return np.linalg.eigvalsh(np.array(inertia))


@pytest.mark.parametrize("scale", [1e-12, 1e-9, 1.0, 1e300])
def test_an_inertia_that_a_body_has_stays_to_the_last_bit(scale: float):
    generator = rng(f"bodies {scale}")
    for _ in range(20):
        squares = generator.uniform(0.1, 1, 3)  # the sums of squares of coordinates
        given = turned((squares.sum() - squares) * scale, generator)
        assert nearest_possible_inertia(given) == (given, 0.0)


def test_another_one_becomes_the_nearest():
    generator = rng("nearest")
    for _ in range(20):
        a, b = np.sort(generator.uniform(0.1, 1, 2))
        given = turned((a, b, (a + b) * generator.uniform(1.01, 3)), generator)
        nearest, distance = nearest_possible_inertia(given)
        low, middle, high = moments_of(nearest)
        assert low + middle == pytest.approx(high, rel=1e-4)
        assert low + middle > high
        change = np.linalg.norm(np.array(nearest) - np.array(given))
        assert distance * moments_of(given)[2] == pytest.approx(change)
        for _ in range(50):  # no possible inertia near it is nearer
            other = moments_of(nearest) + generator.normal(size=3) * 0.02 * high
            low, middle, high = np.sort(other)
            if low > 0 and low + middle >= high * 1.0001:
                assert np.linalg.norm(other - moments_of(given)) > 0.99 * change


@pytest.mark.parametrize(
    "moments", [(0, 0, 1), (-1, 1, 1), (0, 1, 1), (0, 0, -1), (-1, -1, -1), (1e-20,) * 3]
)
def test_moments_that_are_not_positive_become_small_ones(moments: tuple[float, ...]):
    nearest, distance = nearest_possible_inertia(turned(moments, rng(f"moments {moments}")))
    low, middle, high = moments_of(nearest)
    assert low >= 0.5 * LEAST_INERTIA
    assert low + middle >= high
    assert distance > 0
    if moments == (-1, 1, 1):
        np.testing.assert_allclose([low, middle, high], [0, 1, 1], atol=2e-5)


def test_flat_plates_survive_six_digits():
    generator = rng("plates")
    for _ in range(2000):
        a, b = generator.uniform(0.1, 1, 2) * 10.0 ** generator.integers(-6, 3)
        nearest, distance = nearest_possible_inertia(
            ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, a + b))
        )
        assert distance < 1e-5
        low, middle, high = sorted(float(f"{v:.6g}") for v in moments_of(nearest))
        assert low + middle >= high


# closed mechanisms

CLOSED = ("four_bar", "slider_crank", "five_bar", "excavator", "delta", "stewart")


def levers(names: str = "abcd", kinds: str = "rrr") -> lw.Robot:
    """Levers that hang on each other by joints j0, j1, ..."""
    kind = {"r": "revolute", "f": "fixed", "p": "prismatic"}
    parts = [LEVER.format(name) for name in names]
    for k, (above, below) in enumerate(itertools.pairwise(names)):
        parts.append(HINGE.format(f"j{k}", above, below, kind[kinds[k]], 5 * k))
    return lw.load(f"<robot name='r'>{''.join(parts)}</robot>")


def closed_mjcf(robot: lw.Robot) -> Mjcf:
    assert robot.document is not None
    return written(robot.document, None, find=Path, mechanism=robot.mechanism)


def text_of(robot: lw.Robot) -> str:
    assert robot.document is not None
    return lw.urdf.to_text(robot.document.robot)


def positions_there(robot: lw.Robot, back: lw.Robot, q: Any) -> Any:
    """q of what was read back: the same joints in another order, floating ones in the world."""
    there = np.zeros(back.mechanism.n_q)
    m, n = robot.mechanism, back.mechanism
    for c, name in enumerate(n.joint_names):
        own = m.joint(name)
        value = q[m.q_start[own] : m.q_start[own + 1]]
        if len(value) == 7:
            T = robot.fk(q, m.body_names[m.body_joint_names.index(name)])
            quat = np.zeros(4)
            mujoco.mju_mat2Quat(quat, np.ascontiguousarray(T[:3, :3]).ravel())
            value = [*T[:3, 3], *quat]
        there[n.q_start[c] : n.q_start[c + 1]] = value
    return there


def equality_rows(model: Any, q: Any, names: Any) -> Any:
    """MuJoCo's own residuals of the equalities; names give q in the order of `names`."""
    data = mujoco.MjData(model)
    start = 0
    for name in names:
        size = len(data.joint(name).qpos)
        data.joint(name).qpos = q[start : start + size]
        start += size
    mujoco.mj_forward(model, data)
    return data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", CLOSED)
def test_bundled_mechanisms_close_as_before(name: str):
    robot = lw.load(name)
    made = closed_mjcf(robot)
    assert not [problem for problem in made.findings if problem.level == "warning"]
    back, model = lw.load(made.text), mujoco.MjModel.from_xml_string(made.text)
    assert back.actuated == robot.actuated
    assert set(back.joint_names) == set(robot.joint_names) and not back.findings
    one, two = robot.mobility(), back.mobility()
    assert (one.degrees_of_freedom, one.rank) == (two.degrees_of_freedom, two.rank)
    assert (one.passive_freedoms, one.independent) == (two.passive_freedoms, two.independent)
    near = robot.assemble(np.zeros(len(robot.actuated))).q
    given = rng(f"mjcf loops {name}").uniform(-0.1, 0.1, (10, len(robot.actuated)))
    found = robot.assemble(given, q0=np.tile(near, (10, 1)))
    assert found.success.all()
    for q in found.q:
        there = positions_there(robot, back, q)
        assert np.abs(back.closure(there)).max() < 1e-5
        rows = equality_rows(model, there, back.joint_names)
        assert rows.size == len(back.closure(there)) and np.abs(rows).max() < 1e-5
        off = there + rng("off").uniform(0.01, 0.02, back.mechanism.n_q)
        assert np.abs(back.closure(off)).max() > 1e-3


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", ["pose", "revolute", "position", "distance", "xyz/yz"])
def test_each_kind_is_open_by_as_much(kind: str):
    distance = {"distance": 0.7} if kind == "distance" else {}
    robot = levers().with_loop("a", "d", kind, name="loop", **distance)
    back = lw.load(closed_mjcf(robot).text)
    q = robot.random(1, seed=rng(f"open {kind}"))[0]
    there = positions_there(robot, back, q)
    ours, theirs = robot.closure(q), back.closure(there)
    if kind in ("revolute", "xyz/yz"):  # two points of the axis: their middle is the origin
        theirs = 0.5 * (theirs[:3] + theirs[3:])
        ours = ours[:3]
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
    assert np.abs(ours).max() > 1e-2


def test_a_hinge_is_held_by_two_points_of_its_axis():
    robot = levers().with_loop("a", "d", "revolute", name="loop")
    back = lw.load(closed_mjcf(robot).text)
    assert [loop.name for loop in back.loops] == ["loop/1", "loop/2"]
    q = robot.neutral()
    for frame in ("a", "b"):
        one, two = (back.fk(q, f"loop/{k}/{frame}")[:3, 3] for k in "12")
        T = robot.fk(q, {"a": "a", "b": "d"}[frame])
        np.testing.assert_allclose(0.5 * (one + two), T[:3, 3], atol=1e-5)
        np.testing.assert_allclose(np.cross(one - two, T[:3, 2]), 0.0, atol=1e-5)
        assert np.linalg.norm(one - two) > 0.05


@pytest.mark.parametrize(
    ("leaders", "function"),
    [
        (["j0"], lambda a: 0.3 - 2 * a),
        (["j0"], lambda a: 0.1 + a - a**2 / 2 + a**3 * 0.2 - 0.7 * a**4),
        (["j0"], lambda a: 0 * a + 0.25),
        (["j0", "j1"], lambda a, b: 0.2 + 3 * a - 0.5 * b),
        (["j0", "j1"], lambda a, b: (a + b) * 2.0 - b * 2.0 + a * a),
    ],
)
def test_couplings_are_the_same_function(leaders: list[str], function: Any):
    robot = levers().with_coupling("j2", leaders, function)
    made = closed_mjcf(robot)
    back, model = lw.load(made.text), mujoco.MjModel.from_xml_string(made.text)
    for q in robot.random(5, seed=rng("couple")):
        gap = q[2] - function(*q[: len(leaders)])
        (row,) = equality_rows(model, q, robot.joint_names)
        assert abs(row) == pytest.approx(abs(gap), rel=1e-5, abs=1e-6)
        (own,) = back.closure(q)
        if back.couplings:
            assert abs(own) == pytest.approx(abs(gap), rel=1e-5, abs=1e-6)
        else:  # one that holds a joint at a constant comes back as a loop about its axis
            assert abs(abs(own) - abs(gap)) < 1e-5 or abs(own) > 1.0


def test_what_mujoco_cannot_hold_is_left_out_by_name():
    robot = (
        levers().with_loop("a", "d", "universal", name="u").with_loop("a", "d", "xy/z", name="x")
    )
    robot = robot.with_loop("a", "c", "prismatic", name="p").with_loop(
        "a", "d", "position", name="ball"
    )
    robot = robot.with_coupling("j2", "j0", np.sin).with_actuated(["j0", "j1"])
    made = closed_mjcf(robot)
    warnings = [p.message for p in made.findings if p.level == "warning"]
    assert len(warnings) == 4
    for kind, name in (("universal", "u"), ("xy/z", "x"), ("prismatic", "p")):
        assert any(f"'{kind}' are left out" in text and f": '{name}'" in text for text in warnings)
    assert any("not polynomials" in text and "'coupling of j2'" in text for text in warnings)
    (held,) = [p.message for p in made.findings if "softly" in p.message]
    assert held.endswith(": 'ball'")
    back = lw.load(made.text)
    assert [loop.name for loop in back.loops] == ["ball"] and not back.couplings
    assert back.actuated == ("j0", "j1")


def test_motors_push_with_their_effort():
    model = mujoco.MjModel.from_xml_string(closed_mjcf(levers().with_actuated(["j1", "j2"])).text)
    assert [model.actuator(k).name for k in range(model.nu)] == ["j1", "j2"]
    assert model.actuator_ctrlrange.tolist() == [[-5, 5], [-10, 10]]
    data = mujoco.MjData(model)
    data.ctrl[:] = [3.0, -4.0]
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator.tolist() == [0.0, 3.0, -4.0]


def test_a_floating_joint_has_no_motor():
    robot = lw.load("delta").with_actuated("platform")
    (warning,) = [p.message for p in closed_mjcf(robot).findings if p.level == "warning"]
    assert "several velocities" in warning and "'platform'" in warning


def test_frames_of_bodies_that_mujoco_fuses():
    robot = levers("abcde", "rfrf").with_loop("c", "e", "pose", name="weld")
    robot = robot.with_loop("a", "e", "position", name="ball")
    own = "<mujoco><compiler fusestatic='true'/></mujoco>"
    text = text_of(robot).replace("</robot>", f"{own}</robot>")
    fused = lw.load(text).with_loop("c", "e", "pose", name="weld")
    fused = fused.with_loop("a", "e", "position", name="ball")
    fused = fused.with_frame("tip", "e", np.diag([1.0, -1.0, -1.0, 1.0]))
    fused = fused.with_loop("a", "tip", "revolute", name="hinge")
    robot = robot.with_frame("tip", "e", np.diag([1.0, -1.0, -1.0, 1.0]))
    robot = robot.with_loop("a", "tip", "revolute", name="hinge")
    back, plain = lw.load(closed_mjcf(fused).text), lw.load(closed_mjcf(robot).text)
    assert len(back.mechanism.link_parent) < len(plain.mechanism.link_parent)
    for q in robot.random(3, seed=rng("fused")):
        assert np.abs(plain.closure(q)).max() > 1e-2
        np.testing.assert_allclose(back.closure(q), plain.closure(q), atol=1e-5)
        np.testing.assert_allclose(plain.closure(q)[:9], robot.closure(q)[:9], atol=1e-5)


def test_a_rod_counts_from_where_followers_are_in_mujoco():
    mimic = '<mimic joint="j0" multiplier="2" offset="0.4"/></joint>'
    text = text_of(levers())
    head, _, tail = text.rpartition("</joint>")
    robot = lw.load(f"{head}{mimic}{tail}").with_loop(
        "a", "d", "distance", name="rod", distance=0.6
    )
    model = mujoco.MjModel.from_xml_string(closed_mjcf(robot).text)
    for q in robot.random(3, seed=rng("rod")):
        rows = equality_rows(model, robot.all_positions(q), robot.all_joint_names)
        np.testing.assert_allclose(sorted(np.abs(rows))[-1], abs(robot.closure(q)[0]), atol=1e-5)


# polynomials


def value(terms: Any, x: Any) -> float:
    return sum(f * np.prod([a**k for a, k in zip(x, powers, strict=True)])
               for powers, f in terms.items())  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: 1.5,
        lambda a, b: 2.0 * a - b / 4.0 + 1.0,
        lambda a, b: (a + b) * (a - b) * 0.5 - a**3,
        lambda a, b: -((1.0 - a * b) ** 4) / 3.0,
        lambda a, b: a * np.sqrt(2.0) + np.arctan2(1.0, 2.0) * b,
    ],
)
def test_values_are_those_of_the_expression(function: Any):
    expression = traced(function, 2)
    terms = polynomial(expression)
    assert terms is not None
    for x in rng("polynomial").normal(size=(5, 2)):
        assert value(terms, x) == pytest.approx(function(*x), rel=1e-12, abs=1e-12)


def test_terms_that_cancel_are_gone():
    assert polynomial(traced(lambda a: a**9 + 2 * a - a**9, 1)) == {(1,): 2.0}
    assert polynomial(traced(lambda a: a - a, 1)) == {}


def test_functions_of_numbers_are_numbers():
    """What locking a joint leaves."""
    locked = traced(lambda a, b: np.sin(a) * b + np.cos(a), 2).with_input(0, 0.3)
    terms = polynomial(locked)
    assert terms == {(1,): pytest.approx(np.sin(0.3)), (0,): pytest.approx(np.cos(0.3))}
    assert locked.value(NumpyOps(), [0.5]) == pytest.approx(value(terms, [0.5]))


@pytest.mark.parametrize(
    "expression",
    [
        traced(lambda a, b: np.sin(a), 2),
        traced(lambda a, b: a / b, 2),
        traced(lambda a, b: np.sqrt(a * a) + b, 2),
        traced(lambda a, b: np.arctan2(a, 1.0), 2),
        traced(lambda *x: sum(x) ** 40, 6),  # too many terms
        # what has no value
        Expression(1, (("constant", (-1.0,)), ("sqrt", (0.0,)))),
        Expression(1, (("input", (0.0,)), ("subtract", (0.0, 0.0)), ("divide", (0.0, 1.0)))),
        Expression(1, (("constant", (1e200,)), ("multiply", (0.0, 0.0)))),
    ],
)
def test_others_are_none(expression: Expression):
    assert polynomial(expression) is None


def test_reading_and_writing_in_threads_leave_the_receiver_of_warnings_alone():
    before = mujoco.get_mju_user_warning()
    source = lw.load("planar_3r")
    text = lw.to_text(source, "mjcf")
    work = [lambda: lw.to_text(source, "mjcf"), lambda: lw.load(text).n_q] * 30
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda call: call(), work))
    assert done == [text, source.n_q] * 30
    assert mujoco.get_mju_user_warning() == before


@pytest.mark.parametrize("name", ["quadruped", "humanoid", "stewart"])
def test_a_floating_base_is_a_free_joint(name):
    robot = lw.load(name, base="floating")
    text = lw.to_text(robot, "mjcf")
    model = mujoco.MjModel.from_xml_string(text)
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    assert model.joint(0).name == robot.joint_names[0]
    again = lw.load(text)
    assert (again.n_q, again.n_v) == (robot.n_q, robot.n_v)
    assert np.isclose(again.mass, robot.mass)
    if name != "stewart":  # its platform floats too, and becomes several joints
        q = robot.random(5, seed=1)
        q[:, :3] = rng("floating base").normal(size=(5, 3))
        found, wanted = again.fk_all(q), robot.fk_all(q)
        for link in robot.link_names:
            of_both = again.frame_names.index(link), robot.frame_names.index(link)
            assert np.allclose(found[:, of_both[0]], wanted[:, of_both[1]], atol=2e-5)


def test_the_world_does_not_float():
    text = f"<robot name='r'>{link('world')}{link('a')}{joint('j', 'world', 'a')}</robot>"
    lw.to_text(lw.load(text), "mjcf")
    with pytest.raises(lw.UnsupportedFeatureError, match="'r' floats and has a link 'world'"):
        lw.to_text(lw.load(text, base="floating"), "mjcf")
