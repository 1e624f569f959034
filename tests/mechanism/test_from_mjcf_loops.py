"""Equalities of MJCF as loops and couplings, against MuJoCo's own residuals and their slopes."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from mjcf_samples import FOUR_BAR, closed
from seeds import rng

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


def codes(robot):
    return [(f.level, f.code, f.line > 0) for f in robot.findings if f.code != "no-gravity"]


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
