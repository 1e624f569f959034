"""Mechanisms from MJCF: poses, sites and keyframes, and what equalities and actuators become."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.formats.mjcf.records import Body, Joint, MjcfModel, Site
from linkwork.mechanism.from_mjcf import (
    from_mjcf,
    mesh_opener,
    parts_from_mjcf,
    rotation_from_wxyz,
)
from linkwork.mechanism.model import JointType
from mjcf_samples import FOUR_BAR, closed
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


@pytest.mark.parametrize(
    ("joints", "links", "types"),
    [
        ([joint("x", "slide"), joint("y", "slide"), joint("z")], ["b/x", "b/y", "b"], "PPC"),
        ([joint("j", pos=(1.0, 0.0, 0.0))], ["b/j", "b"], "CF"),  # a turn away from the body
        ([joint("j", "slide", pos=(5.0, 0.0, 0.0))], ["b"], "P"),  # a slide is the same anywhere
    ],
)
def test_links_between_are_named_for_body_and_joint_and_weigh_nothing(
    joints: list[Joint], links: list[str], types: str
):
    parts = parts_from_mjcf(model([body("b")], joints))
    assert [link.name for link in parts.links] == ["world", *links]
    assert [link.mass for link in parts.links] == [0] * len(links) + [1]
    assert [(j.parent, j.child) for j in parts.joints] == [*itertools.pairwise(["world", *links])]
    assert "".join(j.type.name[0] for j in parts.joints) == types
    assert [j.name for j in parts.joints] == [*(j.name for j in joints), "b_fixed"][: len(links)]


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


mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

ANCHOR = '<connect name="c" body1="crank" body2="tip" anchor=".1 .2 .3"/>'
CLOSURES = [
    ANCHOR,
    '<connect body1="crank" anchor=".1 .2 0"/>',
    '<connect site1="s1" site2="s2"/>',
    '<weld body1="crank" body2="tip"/>',
    '<weld body1="tip" body2="crank" anchor=".1 .2 .3" relpose=".1 .2 .3 1 .1 .2 .3"/>',
    '<weld site1="s1" site2="s2"/>',
    '<weld body1="tip"/>',
]
COUPLINGS = [
    '<joint joint1="h" joint2="g" polycoef=".1 1 -2 3 4"/>',
    '<joint joint1="h" joint2="g"/>',
    '<joint joint1="slide" joint2="g" polycoef="0 0 2"/>',
    '<joint joint1="g" joint2="slide" polycoef="0 -3 0 0 0"/>',
    '<tendon tendon1="both" tendon2="one" polycoef=".1 1 2 -3 4"/>',
    '<tendon tendon1="both" tendon2="other" polycoef=".1 .5 0 0 0"/>',
    '<tendon tendon1="both" polycoef=".1 7 7 7 7"/>',
]


def both(text):
    """Our robot, MuJoCo's model and its data for a configuration of ours."""
    robot = lw.load(text)
    model = mujoco.MjSpec.from_string(text).compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    starts = [model.joint(name).qposadr[0] for name in robot.joint_names]

    def state(q):
        data = mujoco.MjData(model)
        data.qpos[starts] = q
        mujoco.mj_forward(model, data)
        return data

    return robot, model, state


def jacobian_of(model, data, robot):
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(
            J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
    else:
        J = data.efc_J.reshape(data.nefc, model.nv).copy()
    return J[:, [model.joint(name).dofadr[0] for name in robot.joint_names]]


def random_states(robot, n=10):
    return rng("states").uniform(-0.7, 0.7, (n, robot.n_q))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("text", CLOSURES)
def test_the_gaps_of_loops_are_mujocos(text):
    robot, _, state = both(closed(text))
    loop = robot.loops[0]
    for q in random_states(robot):
        ours, data = robot.closure(q), state(q)
        theirs = data.efc_pos
        R = robot.fk(q, loop.frame_a)[:3, :3]
        np.testing.assert_allclose(-R @ ours[:3], theirs[:3], atol=1e-13)
        if loop.kind == "pose":  # theirs is the vector of the quaternion of b to a, in axes of b
            X = R.T @ robot.fk(q, loop.frame_b)[:3, :3]
            axis = np.array([X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]])
            half = np.sqrt(1.0 + np.trace(X)) / 2.0  # cosine of half the angle
            np.testing.assert_allclose(-theirs[3:], axis / (4.0 * half), atol=1e-13)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("text", CLOSURES)
def test_the_motions_that_loops_leave_free_are_mujocos(text):
    robot, model, state = both(closed(text))
    if text.startswith("<weld"):
        found = [np.zeros(robot.n_q)] if "relpose" not in text and "site" not in text else []
        found = [q + robot.configuration({"g": 0.2, "slide": -0.1}) for q in found]
    else:
        wanted = {"h2": 0.1, "g2": -0.1} if len(robot.joint_names) > 3 else {}
        found = [robot.assemble(wanted, q0=q).q for q in random_states(robot, 5)]
        found = [q for q in found if np.abs(robot.closure(q)).max() < 1e-10]
    for q in found:
        data = state(q)
        ours, theirs = robot.closure_jacobian(q), jacobian_of(model, data, robot)
        np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-9)
        np.testing.assert_allclose(spans(ours), spans(theirs), atol=1e-7)


def spans(J):
    """The projection on the space of rows."""
    _, s, V = np.linalg.svd(J)
    V = V[: len(s)][s > 1e-9 * max(s[0], 1e-9)]
    return V.T @ V


@pytest.mark.sweep(2)
@pytest.mark.parametrize("text", COUPLINGS)
def test_couplings_and_their_slopes_are_mujocos(text):
    robot, model, state = both(closed(text))
    factor = None
    for q in random_states(robot):
        data = state(q)
        ours, theirs = robot.closure(q), data.efc_pos
        assert ours.shape == theirs.shape == (1,)
        factor = theirs[0] / ours[0] if factor is None else factor
        np.testing.assert_allclose(ours * factor, theirs, atol=1e-12)
        J = jacobian_of(model, data, robot)
        np.testing.assert_allclose(robot.closure_jacobian(q) * factor, J, atol=1e-12)
    assert abs(abs(factor) - 1.0) < 1e-12 or "both" in text  # a tendon's first factor is divided by


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("joint", "ref"), [("g", 0.2), ("slide", -0.1)])
def test_a_joint_that_is_held_alone(joint, ref):
    robot, model, state = both(
        closed(f'<joint name="hold" joint1="{joint}" polycoef=".3 0 0 0 0"/>')
    )
    assert robot.loops[0].name == "hold" and robot.n_q == 5
    for q in random_states(robot):
        at = q.copy()
        at[robot.joint_names.index(joint)] = ref + 0.3
        assert np.abs(robot.closure(at)).max() < 1e-15 > abs(state(at).efc_pos[0])
        J = jacobian_of(model, state(at), robot)
        np.testing.assert_allclose(np.abs(robot.closure_jacobian(at)), np.abs(J), atol=1e-14)
    assert robot.mobility().degrees_of_freedom == 4


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "equality",
    [
        '<connect name="pin" body1="coupler" body2="rocker" anchor=".3 0 .1"/>',
        '<connect name="pin" site1="end" site2="top"/>',
        '<connect name="pin" body1="rocker" body2="coupler" anchor="0 0 .2"/>',
    ],
)
def test_a_four_bar_in_each_form(equality):
    robot, _, state = both(FOUR_BAR.format(equality))
    assert (robot.actuated, robot.loops[0].name, robot.loops[0].kind) == (
        ("crank",), "pin", "position",
    )  # fmt: skip
    assert robot.mobility().degrees_of_freedom == 1
    angles = np.linspace(-0.8, 0.8, 50)[:, None]
    found = robot.assemble(angles, q0=np.zeros((50, 3)))
    assert found.success.all() and np.abs(robot.closure(found.q)).max() < 1e-12
    for q in found.q:
        assert np.abs(state(q).efc_pos).max() < 1e-12


@pytest.mark.parametrize(
    ("equality", "code", "words"),
    [
        (
            '<connect name="x" body1="crank" body2="tip" anchor="0 0 0" active="false"/>',
            "inactive",
            "x",
        ),
        ('<weld name="x" body1="rocker" body2="tip"/>', "rigid-equality", "'rocker' and 'tip'"),
        (
            '<tendon name="x" tendon1="both" tendon2="other" polycoef="0 1 1 0 0"/>',
            "no-equality",
            "x",
        ),
        ('<tendon tendon1="lost" tendon2="one"/>', "no-equality", "'lost'"),
        ('<flex flex="f"/>', "no-equality", "of this kind"),
    ],
)
def test_what_is_not_taken_is_said(equality, code, words):
    robot = lw.load(closed(equality))
    assert not robot.loops and not robot.couplings
    finding = next(f for f in robot.findings if f.code == code)
    assert words in f"{finding.name} {finding.message}" and finding.line


def test_activity_by_default_and_names_that_are_taken():
    default = '<default><equality active="false"/><default class="on"><equality active="true"/>'
    text = closed(ANCHOR + ANCHOR.replace("/>", ' class="on"/>').replace('"c"', '"s1"'),
                  default=f"{default}</default></default>")  # fmt: skip
    robot = lw.load(text)
    assert [(loop.name, loop.frame_a, loop.frame_b) for loop in robot.loops] == [
        ("s1", "s1/a", "s1/b")
    ]
    two = ANCHOR.replace('name="c" ', "") * 2
    assert [loop.name for loop in lw.load(closed(two)).loops] == ["crank-tip", "crank-tip_2"]


def test_a_body_that_steers_holds_nothing():
    text = closed('<weld body1="crank" body2="hand"/>').replace(
        "</worldbody>", '<body name="hand" mocap="true"/></worldbody>'
    )
    robot = lw.load(text)
    assert not robot.loops and "mocap-equality" in {f.code for f in robot.findings}


def test_actuators_say_what_is_driven():
    more = (
        '<actuator><motor joint="g"/><position joint="g" kp="3"/><muscle joint="h"/>'
        '<general tendon="one"/><motor tendon="both"/><adhesion body="tip" ctrlrange="0 1"/>'
        '<motor site="s1"/><motor jointinparent="slide"/><motor tendon="lost"/></actuator>'
    )
    robot = lw.load(closed("", more=more))
    assert robot.actuated == ("g", "h", "slide")
    said = [f.message for f in robot.findings if f.code == "no-actuator"]
    assert any("2 joints together" in text for text in said)
    assert any("on no joint" in text and "1 more" in text for text in said)
    assert any("'lost'" in text for text in said)
    coupled = lw.load(closed('<joint joint1="h2" joint2="h"/>', more=more))
    assert coupled.actuated == ("g", "h", "slide")  # the tendon drives the leader alone


def test_attached_models_bring_their_equalities(tmp_path):
    (tmp_path / "leg.xml").write_text(
        FOUR_BAR.format('<connect name="pin" site1="end" site2="top"/>')
    )
    (tmp_path / "two.xml").write_text(
        '<mujoco><asset><model name="leg" file="leg.xml"/></asset><worldbody>'
        '<body name="l"><attach model="leg" body="crank" prefix="l_"/></body>'
        '<body name="r" pos="1 0 0"><freejoint/><geom size=".1"/>'
        '<attach model="leg" prefix="r_"/></body></worldbody></mujoco>'
    )
    robot = lw.load(tmp_path / "two.xml")
    assert [loop.name for loop in robot.loops] == ["r_pin"]
    assert "r_crank" in robot.actuated
