"""Loops as MuJoCo's equalities: MuJoCo and our reader see the same closure; what is lost."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.loops import Expression, traced
from linkwork.mechanism.to_mjcf import Mjcf, to_mjcf
from linkwork.mechanism.to_mjcf_loops import polynomial
from linkwork.ops.numpy import NumpyOps
from seeds import rng

mujoco: Any = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

CLOSED = ("four_bar", "slider_crank", "five_bar", "excavator", "delta", "stewart")

LEVER = (
    '<link name="{0}"><inertial><origin xyz=".1 0 0"/><mass value="1"/><inertia ixx=".01" '
    'iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
HINGE = (
    '<joint name="{0}" type="{3}"><origin xyz=".3 .1 .2" rpy=".1 .2 .3"/><parent link="{1}"/>'
    '<child link="{2}"/><axis xyz="0 1 0"/><limit effort="{4}" velocity="1" lower="-2" upper="2"/>'
    "</joint>"
)


def chain(names: str = "abcd", kinds: str = "rrr") -> lw.Robot:
    """Levers that hang on each other by joints j0, j1, ..."""
    kind = {"r": "revolute", "f": "fixed", "p": "prismatic"}
    parts = [LEVER.format(name) for name in names]
    for k, (above, below) in enumerate(itertools.pairwise(names)):
        parts.append(HINGE.format(f"j{k}", above, below, kind[kinds[k]], 5 * k))
    return lw.load(f"<robot name='r'>{''.join(parts)}</robot>")


def converted(robot: lw.Robot) -> Mjcf:
    assert robot.document is not None
    return to_mjcf(robot.document, None, find=Path, mechanism=robot.mechanism)


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
    made = converted(robot)
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


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", ["pose", "revolute", "position", "distance", "xyz/yz"])
def test_each_kind_is_open_by_as_much(kind: str):
    distance = {"distance": 0.7} if kind == "distance" else {}
    robot = chain().with_loop("a", "d", kind, name="loop", **distance)
    back = lw.load(converted(robot).text)
    q = robot.random(1, seed=rng(f"open {kind}"))[0]
    there = positions_there(robot, back, q)
    ours, theirs = robot.closure(q), back.closure(there)
    if kind in ("revolute", "xyz/yz"):  # two points of the axis: their middle is the origin
        theirs = 0.5 * (theirs[:3] + theirs[3:])
        ours = ours[:3]
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
    assert np.abs(ours).max() > 1e-2


def test_a_hinge_is_held_by_two_points_of_its_axis():
    robot = chain().with_loop("a", "d", "revolute", name="loop")
    back = lw.load(converted(robot).text)
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
    robot = chain().with_coupling("j2", leaders, function)
    made = converted(robot)
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
    robot = chain().with_loop("a", "d", "universal", name="u").with_loop("a", "d", "xy/z", name="x")
    robot = robot.with_loop("a", "c", "prismatic", name="p").with_loop(
        "a", "d", "position", name="ball"
    )
    robot = robot.with_coupling("j2", "j0", np.sin).with_actuated(["j0", "j1"])
    made = converted(robot)
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
    model = mujoco.MjModel.from_xml_string(converted(chain().with_actuated(["j1", "j2"])).text)
    assert [model.actuator(k).name for k in range(model.nu)] == ["j1", "j2"]
    assert model.actuator_ctrlrange.tolist() == [[-5, 5], [-10, 10]]
    data = mujoco.MjData(model)
    data.ctrl[:] = [3.0, -4.0]
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator.tolist() == [0.0, 3.0, -4.0]


def test_a_floating_joint_has_no_motor():
    robot = lw.load("delta").with_actuated("platform")
    (warning,) = [p.message for p in converted(robot).findings if p.level == "warning"]
    assert "several velocities" in warning and "'platform'" in warning


def test_frames_of_bodies_that_mujoco_fuses():
    robot = chain("abcde", "rfrf").with_loop("c", "e", "pose", name="weld")
    robot = robot.with_loop("a", "e", "position", name="ball")
    own = "<mujoco><compiler fusestatic='true'/></mujoco>"
    text = text_of(robot).replace("</robot>", f"{own}</robot>")
    fused = lw.load(text).with_loop("c", "e", "pose", name="weld")
    fused = fused.with_loop("a", "e", "position", name="ball")
    fused = fused.with_frame("tip", "e", np.diag([1.0, -1.0, -1.0, 1.0]))
    fused = fused.with_loop("a", "tip", "revolute", name="hinge")
    robot = robot.with_frame("tip", "e", np.diag([1.0, -1.0, -1.0, 1.0]))
    robot = robot.with_loop("a", "tip", "revolute", name="hinge")
    back, plain = lw.load(converted(fused).text), lw.load(converted(robot).text)
    assert len(back.mechanism.link_parent) < len(plain.mechanism.link_parent)
    for q in robot.random(3, seed=rng("fused")):
        assert np.abs(plain.closure(q)).max() > 1e-2
        np.testing.assert_allclose(back.closure(q), plain.closure(q), atol=1e-5)
        np.testing.assert_allclose(plain.closure(q)[:9], robot.closure(q)[:9], atol=1e-5)


def test_a_rod_counts_from_where_followers_are_in_mujoco():
    mimic = '<mimic joint="j0" multiplier="2" offset="0.4"/></joint>'
    text = text_of(chain())
    head, _, tail = text.rpartition("</joint>")
    robot = lw.load(f"{head}{mimic}{tail}").with_loop(
        "a", "d", "distance", name="rod", distance=0.6
    )
    model = mujoco.MjModel.from_xml_string(converted(robot).text)
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
    "function",
    [
        lambda a, b: np.sin(a),
        lambda a, b: a / b,
        lambda a, b: np.sqrt(a * a) + b,
        lambda a, b: np.arctan2(a, 1.0),
    ],
)
def test_others_are_none(function: Any):
    assert polynomial(traced(function, 2)) is None


def test_what_has_no_value_is_none():
    root = Expression(1, (("constant", (-1.0,)), ("sqrt", (0.0,))))
    by_zero = Expression(1, (("input", (0.0,)), ("subtract", (0.0, 0.0)), ("divide", (0.0, 1.0))))
    large = Expression(1, (("constant", (1e200,)), ("multiply", (0.0, 0.0))))
    assert polynomial(root) is polynomial(by_zero) is polynomial(large) is None


def test_what_would_have_too_many_terms_is_none():
    assert polynomial(traced(lambda *x: sum(x) ** 40, 6)) is None
