"""Rates, mobility and singularities of closed mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import with_every_kind
from linkwork.algorithms.closure import closure_parts
from linkwork.algorithms.independent_rows import rank_of
from linkwork.errors import InputError, ShapeError
from linkwork.models import MODELS
from linkwork.solve.closed.rates import Rates, dependent_rows, smallest
from seeds import rng

BAR = """
<link name="{0}"/><joint name="{5}_{0}" type="{4}"><parent link="{1}"/><child link="{0}"/>
<origin xyz="{2}"/><axis xyz="{3}"/></joint>
"""


def built(*bars, frames=()):
    """A robot of bars: (name, parent, xyz, axis), which turn; ``frames`` (name, parent, xyz)."""
    text = "<robot name='built'><link name='base'/>"
    for bar in bars:
        text += BAR.format(*bar, "continuous", "to")
    for frame in frames:
        text += BAR.format(*frame, "0 0 1", "fixed", "at")
    return lw.load(text + "</robot>")


def parallelogram():
    z = "0 0 1"
    robot = built(
        ("a", "base", "0 0 0", z),
        ("b", "base", "1 0 0", z),
        ("c", "a", "0 0.5 0", z),
        frames=[("end_b", "b", "0 0.5 0"), ("end_c", "c", "1 0 0")],
    )
    return robot.with_loop("end_c", "end_b", "revolute", name="hinge").with_actuated("to_a")


def welded():
    """A parallelogram of four hinges."""
    z = "0 0 1"
    robot = built(
        ("a", "base", "0 0 0", z),
        ("b", "base", "1 0 0", z),
        ("c", "a", "0 0.5 0", z),
        ("d", "b", "0 0.5 0", z),
        frames=[("end_c", "c", "1 0 0")],
    )
    return robot.with_loop("end_c", "d", "pose").with_actuated("to_a")


def test_parallelogram():
    robot = parallelogram()
    found = robot.mobility()
    assert (found.degrees_of_freedom, found.rank, found.rows) == (1, 2, 5)
    assert found.redundant == ("hinge: position z", "hinge: rotation x", "hinge: rotation y")
    assert found.passive_freedoms == 0 and found.independent
    q = robot.assemble([0.3]).q
    np.testing.assert_allclose(q, [0.3, 0.3, -0.3], atol=1e-12)
    np.testing.assert_allclose(robot.passive_rates(q), [[1.0], [1.0], [-1.0]], atol=1e-10)
    # flat, where it may fold over: both branches meet
    flat = robot.assemble([np.pi / 2]).q
    assert robot.singularities(flat, "end_c").type_2 < 1e-5
    assert robot.singularities(q, "end_c").type_2 > 0.1


@pytest.mark.slow
def test_closed_by_a_weld_all_is_redundant_but_three():
    robot = welded()
    found = robot.mobility()
    assert (found.degrees_of_freedom, found.rank, len(found.redundant)) == (1, 3, 3)
    result = robot.assemble(rng("welded").uniform(-1, 1, (50, 1)))
    assert result.success.all()


@pytest.mark.slow
def test_sarrus_linkage():
    # two chains of three hinges in planes across each other: the platform slides straight up,
    # though Gruebler's formula says that nothing moves
    bars = []
    for name, axis, out in (("p", "0 1 0", "{} 0 {}"), ("r", "1 0 0", "0 {} {}")):
        bars.append((f"{name}1", "base", out.format(1, 0), axis))
        bars.append((f"{name}2", f"{name}1", out.format(0.5, 0.4), axis))
        bars.append((f"{name}3", f"{name}2", out.format(-0.5, 0.4), axis))
    robot = built(*bars, frames=[("top_p", "p3", "-1 0 0"), ("top_r", "r3", "0 -1 0")])
    robot = robot.with_loop("top_p", "top_r", "pose", name="top").with_actuated("to_p1")
    found = robot.mobility()
    assert (found.degrees_of_freedom, found.rank) == (1, 5)
    assert len(found.redundant) == 1
    result = robot.assemble(np.linspace(-0.3, 0.3, 30)[:, None], q0=robot.neutral())
    assert result.success.all()
    T = robot.fk(result.q, "top_p")
    assert np.ptp(T[:, 2, 3]) > 0.1
    np.testing.assert_allclose(T[:, :2, 3], 0.0, atol=1e-10)
    np.testing.assert_allclose(T[:, :3, :3], np.tile(np.eye(3), (30, 1, 1)), atol=1e-10)


@pytest.mark.slow
def test_passive_freedoms_are_counted():
    robot = lw.load("stewart")
    ball = robot.with_coupling("cross1_x", "cross2_x")
    assert ball.mobility().degrees_of_freedom == 5
    assert not ball.mobility().independent  # six drives for five freedoms
    idle = lw.load("five_bar").with_actuated("left").mobility()
    assert (idle.degrees_of_freedom, idle.passive_freedoms) == (2, 1)
    unsaid = lw.load("five_bar").with_actuated([]).mobility()
    assert unsaid.passive_freedoms is None and unsaid.independent is None


def test_drives_that_hold_each_other():
    robot = lw.load("four_bar").with_actuated(["crank", "rocker"])
    q = robot.assemble({"crank": 0.3, "rocker": 0.1}).q
    robot = lw.load("four_bar")
    q = robot.assemble([0.3]).q
    with pytest.raises(InputError, match="cannot move independently"):
        robot.with_actuated(["crank", "rocker"]).passive_rates(q)
    assert np.isnan(robot.with_actuated(["crank", "rocker"]).singularities(q, "rocker_end").type_1)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "name", ["slider_crank", "five_bar", "gripper", "delta", "double_wishbone"]
)
def test_compiled_rates_are_those_of_singular_values(name):
    robot = lw.load(name)
    m, g = robot.mechanism, rng(f"rates {name}")
    at = [m.q_start[m.joint(joint)] for joint in robot.actuated]
    lower, upper = (np.clip(x, -np.pi, np.pi)[at] for x in robot.limits[:2])
    given = g.uniform(lower, upper, (500, len(at)))
    found = robot.assemble(given, q0=robot.neutral())
    q = found.q[found.success]
    expected, held = Rates(m).rates_by_singular_values(q)
    assert len(q) > 300 and not held.any()
    scale = np.maximum(1.0, np.abs(expected).max(axis=(1, 2), keepdims=True))
    rates = robot.passive_rates(q)
    assert (np.abs(rates - expected) / scale).max() < 1e-10
    J = robot.jacobian(q, MODELS[name].tip)
    found = robot.actuation_jacobian(q, MODELS[name].tip)
    assert (np.abs(found - J @ expected) / scale).max() < 1e-10


def test_singularities_of_a_slider_crank():
    robot = lw.load("slider_crank")
    dead = robot.assemble([0.0]).q
    assert robot.singularities(dead, "slider_link").type_1 < 1e-10
    assert robot.singularities(dead, "slider_link").type_2 > 1e-3
    driven = robot.with_actuated("slider")
    found = driven.singularities(dead, "slider_link")
    assert found.type_2 < 1e-10  # the slider can no longer say which way the crank turns
    batch = robot.assemble(np.linspace(0.1, 3.0, 7)[:, None]).q
    assert robot.singularities(batch, "slider_link").type_1.shape == (7,)


def test_what_cannot_be_assembled_at_all_has_no_mobility():
    robot = lw.load("four_bar")
    robot = robot.with_loop("base_link", "coupler_end", "distance", distance=5.0)
    with pytest.raises(InputError, match="cannot be assembled"):
        robot.mobility()
    with pytest.raises(InputError, match="has no loops"):
        lw.load("panda").mobility()


def test_closure_rows_and_names():
    m = with_every_kind().mechanism
    rates = Rates(m)
    assert len(rates.row_names) == sum(part.n_rows for part in closure_parts(m))
    assert rates.row_names[0] == "pose: position x"


def test_at_a_singular_assembly_as_many_rows_are_redundant_as_the_rank_leaves():
    robot = welded()
    for off in (0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3):
        q = robot.assemble([np.pi / 2 + off]).q  # folded: all hinges on one line
        found = robot.mobility(q)
        assert len(found.redundant) == found.rows - found.rank
        assert found.degrees_of_freedom == robot.mechanism.n_v - found.rank


def test_couplings_without_a_value_are_named():
    robot = lw.load("planar_3r").with_coupling("joint3", "joint1", np.sqrt)
    for call in (robot.closure, robot.closure_jacobian, robot.mobility):
        with pytest.raises(InputError, match=r"coupling of joint3 has no value at joint1 = -0\.5"):
            call([-0.5, 0.0, 0.0])
    with pytest.raises(InputError, match=r"row \[1\].*: the coupling of joint3 has no value"):
        robot.closure([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    with pytest.raises(InputError, match="must be a finite number"):
        robot.closure([np.nan, 0.0, 0.0])


def test_ranks():
    g = rng("ranks")
    J = g.normal(size=(6, 3)) @ g.normal(size=(3, 8))
    assert rank_of(J) == 3 and dependent_rows(J) == [3, 4, 5]
    for off in (1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5):  # near singular there are as many as counted
        near = np.vstack([J, J[2] + off * g.normal(size=8)])
        assert len(dependent_rows(near)) == len(near) - rank_of(near)
    assert dependent_rows(np.zeros((2, 4))) == [0, 1] and rank_of(np.zeros((0, 3))) == 0
    assert smallest(np.ones((5, 2, 3)), 3).tolist() == [0.0] * 5
    assert smallest(np.zeros((5, 2, 0)), 0).tolist() == [np.inf] * 5


CLOSED = [name for name in MODELS if MODELS[name].closed]


def solved(robot, n: int) -> np.ndarray:
    m = robot.mechanism
    at = [m.q_start[m.joint(name)] for name in m.actuated]
    middle = robot.neutral()[at]
    inwards = np.where(middle + 0.02 > robot.limits.upper[at], -1.0, 1.0)
    given = middle + np.linspace(0.0, 0.02, n)[:, None] * inwards
    found = robot.assemble(given, q0=robot.neutral())
    assert found.success.all()
    return found.q


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["five_bar", "gripper", "delta", "triped_leg"])  # one of a kind
def test_ordinary_configurations_need_no_singular_values(name: str, monkeypatch):
    robot, tip = lw.load(name), MODELS[name].tip
    q = solved(robot, 20)[3:]
    calls = robot.passive_rates, lambda q: robot.actuation_jacobian(q, tip, reference="local")
    for call in calls:
        call(q)  # compiled before
    monkeypatch.setattr(np.linalg, "pinv", None)
    for call, height in zip(calls, (robot.n_v, 6), strict=True):
        whole = call(q)
        assert whole.shape == (17, height, len(robot.actuated))
        np.testing.assert_array_equal(call(q[4]), whole[4])


def test_singular_values_decide_what_is_in_doubt():
    robot = lw.load("slider_crank")
    q = robot.assemble([[0.3], [1e-5], [0.5]]).q
    driven, tip = robot.with_actuated("slider"), MODELS["slider_crank"].tip
    careful, held = Rates(driven.mechanism).rates_by_singular_values(q)
    assert np.abs(careful).max() > 1e4 and not held.any()
    scale = np.abs(careful).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(driven.passive_rates(q) / scale, careful / scale, atol=1e-10)
    for row, own in zip(q, careful, strict=True):
        np.testing.assert_allclose(driven.passive_rates(row), own, atol=1e-10 * np.abs(own).max())
        J = driven.actuation_jacobian(row, tip)
        np.testing.assert_allclose(J, driven.jacobian(row, tip) @ own, atol=1e-10 * np.abs(J).max())
    whole = driven.actuation_jacobian(q, tip)
    assert whole.shape == (3, 6, 1)
    np.testing.assert_allclose(whole[1], driven.actuation_jacobian(q[1], tip), rtol=1e-10)


def test_words():
    robot = lw.load("five_bar")
    q, tip = solved(robot, 3), MODELS["five_bar"].tip
    two = np.stack([q[0], np.ones(robot.n_q)])
    for call in (robot.passive_rates, lambda q: robot.actuation_jacobian(q, tip)):
        with pytest.raises(InputError, match=r"q of row \[1\] is not assembled: 'hinge"):
            call(two)
        with pytest.raises(InputError, match="q is not assembled"):
            call(two[1])
        with pytest.raises(InputError, match=r"q\[1, 2\] is nan"):
            call(np.where(np.arange(8).reshape(2, 4) == 6, np.nan, two))
        with pytest.raises(ShapeError):
            call(np.zeros(9))
        assert call(q[:0]).shape[0] == 0
        np.testing.assert_array_equal(call(q[1].tolist()), call(q[1]))
    with pytest.raises(InputError, match="does not say which joints are actuated"):
        robot.with_actuated([]).passive_rates(q[0])
    held = lw.load("four_bar")
    at = held.assemble([0.3]).q
    with pytest.raises(InputError, match="cannot move independently"):
        held.with_actuated(["crank", "rocker"]).actuation_jacobian(at, "rocker_end")
