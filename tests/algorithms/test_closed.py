"""Loops and couplings: closure, motions that follow, forces that hold, and rows that are redundant.

What must hold of dynamics with loops whatever the mechanism stands in tests/contracts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import (
    FREE,
    bennett,
    bennett_angle,
    closed_case,
    closing,
    null_space,
    parallelogram,
    swung,
    with_every_kind,
)
from dynamics_cases import near, solid
from linkwork.algorithms.actuation import (
    actuated_forces,
    actuated_numbers,
    actuation,
    following,
)
from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.closure import (
    closure_parts,
    closure_rows,
    loop_length,
    meeting_body,
    row_scales,
)
from linkwork.algorithms.independent_rows import (
    change_points,
    check_movable,
    column_scales,
    row_groups,
)
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import evaluate
from linkwork.conventions import GRAVITY
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism import parameters
from linkwork.mechanism.edit import close
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from robots import chain_urdf, mechanism_from
from seeds import rng

CLOSED = [name for name in MODELS if MODELS[name].closed]


def driven(robot) -> list[int]:
    """The positions in q of the actuated joints."""
    m = robot.mechanism
    return [int(m.q_start[m.joint(name)]) for name in robot.actuated]


# ------------------------------------------------------------------------------------------ closure


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_closure_is_zero_where_it_is_assembled_and_its_jacobian_the_derivative(base: str):
    robot = with_every_kind(base)
    m, q, h = robot.mechanism, robot.at, 1e-6
    assert np.abs(evaluate("closure", m, q)).max() < 1e-14
    J = evaluate("closure_jacobian", m, q)
    for k, step in enumerate(h * np.eye(m.n_v)):
        ends = (evaluate("integrate", m, q, x) for x in (-step, step))
        low, high = (evaluate("closure", m, end) for end in ends)
        np.testing.assert_allclose(J[:, k], (high - low) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("name", ["excavator", "pose, floating", "couplings", "everything"])
def test_biases_off_the_loops_are_the_changes_of_the_jacobian(name: str):
    case, h = closed_case(name), 1e-6
    m, v = case.m, case.every[0]
    q = evaluate("integrate", m, case.q[0], 0.1 * v)  # not assembled
    ends = [evaluate("integrate", m, q, step * v) for step in (h, -h)]
    up, down = (evaluate("closure_jacobian", m, end) for end in ends)
    expected = (up - down) @ v / (2 * h)
    np.testing.assert_allclose(evaluate("closure_bias", m, q, v), expected, atol=1e-7)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", FREE)
def test_rows_are_those_of_frame_b_in_frame_a(kind: str):
    robot = lw.load("two_arm_torso")
    q = robot.random(seed=rng("rows"))
    robot = closing(robot, q, ("left_tool0", "right_tool0"), kind)
    m, loop = robot.mechanism, robot.loops[0]
    at = robot.integrate(q, 1e-3 * rng("rows near").normal(size=robot.n_v))
    T = evaluate("relative", m, at, base=loop.frame_a, frame=loop.frame_b)
    found = dict(zip(loop.row_names, evaluate("closure", m, at), strict=True))
    for k, axis in enumerate("xyz"):
        if f"position {axis}" in found:
            assert found[f"position {axis}"] == pytest.approx(T[k, 3], abs=1e-12)
    if "distance" in found:
        assert found["distance"] == pytest.approx(np.linalg.norm(T[:3, 3]) - loop.distance)
    if "rotation across" in found:
        assert found["rotation across"] == pytest.approx(T[2, 0], abs=1e-12)
    turns = [name for name in found if name in ("rotation x", "rotation y", "rotation z")]
    if len(turns) == 3:
        vector = 0.5 * np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]])
        np.testing.assert_allclose([found[name] for name in turns], vector, rtol=1e-4, atol=1e-9)
    if len(turns) == 2:
        free = next(k for k in range(3) if f"rotation {'xyz'[k]}" not in found)
        across = np.cross(np.eye(3)[free], T[:3, free])
        for name in turns:
            assert found[name] == pytest.approx(across["xyz".index(name[-1])], rel=1e-4, abs=1e-9)


def test_what_carries_a_loop_does_not_matter():
    m = close(lw.load("humanoid", base="floating").mechanism, "left_hand", "left_foot")
    names = {m.joint_names[c] for c in closure_parts(m)[0].coordinates}
    assert not any(name.startswith("right") for name in names)
    assert m.joint_names[0] not in names  # the floating base
    two = close(lw.load("two_arm_torso").mechanism, "left_tool0", "right_tool0")
    names = {two.joint_names[c] for c in closure_parts(two)[0].coordinates}
    assert len(names) == 14 and meeting_body(two, two.loops[0]) > 0
    assert all(name.startswith(("left_", "right_")) for name in names)


def test_rows_in_axes_of_either_frame_close_together_and_hold_alike():
    robot = with_every_kind()
    q = robot.integrate(robot.at, 0.2 * np.ones(robot.n_v))
    both = (closure_parts(robot.mechanism, in_frame_a=in_frame_a) for in_frame_a in (False, True))
    for own, named in zip(*both, strict=True):
        a, b = own.residual(NUMPY, q), named.residual(NUMPY, q)
        np.testing.assert_allclose(a.squared, b.squared, rtol=1e-9)
        assert own.row_names == named.row_names and own.groups == named.groups
    case = closed_case("position, fixed")
    state = case.q[0], case.v[0], case.every[0]
    plain, named = (accelerated(NUMPY, case.m, *state, in_frame_a=axes) for axes in (False, True))
    np.testing.assert_allclose(plain.dv, named.dv, atol=1e-9)
    sizes = [np.linalg.norm(each.forces) for each in (plain, named)]
    assert abs(sizes[0] - sizes[1]) < 1e-7 * sizes[0]


def test_rows_are_compared_in_lengths_of_their_loops():
    m = closed_case("four_bar").m
    length = loop_length(m, m.loops[0])
    assert 0.3 < length < 3.0
    assert row_scales(m) == [1 / length] * 3 + [1.0] * 2


# -------------------------------------------------------------------------------- actuated joints


@pytest.mark.parametrize(
    "name", ["four_bar", "delta", "couplings", "universal, floating", "prismatic, fixed"]
)
def test_actuated_forces_work_as_those_of_all_and_what_moves_freely_does_not_count(name: str):
    """Forces along motions that nothing drives change nothing, however large they are."""
    case, random = closed_case(name), rng(f"virtual work {name}")
    by, J = actuation(NUMPY, case.m, closure_rows(NUMPY, case.m, case.q[0])), case.J[0]
    assert by.actuated == actuated_numbers(case.m) == case.columns
    S = np.eye(case.m.n_v)[:, case.columns]
    given = S @ random.normal(size=S.shape[1]) + J.T @ random.normal(size=len(J))
    found = np.array(actuated_forces(by, list(given)), float)
    N = null_space(J)
    np.testing.assert_allclose(N.T @ found, N.T @ given, atol=1e-12)
    assert np.array_equal(found, S @ S.T @ found)
    free = null_space(np.vstack([S.T, J]))
    assert (free.shape[1] > 0) == (name not in ("four_bar", "delta"))
    more = given + free @ random.normal(size=free.shape[1])
    with_more = np.array(actuated_forces(by, list(more)), float)
    np.testing.assert_allclose(with_more, found, atol=1e-10 * np.abs(found).max())


@pytest.mark.parametrize(
    "name", ["four_bar", "two loops", pytest.param("stewart", marks=pytest.mark.slow)]
)
def test_the_number_of_free_motions_leaves_out_what_is_not_needed(name: str):
    case, random = closed_case(name), rng(f"free motions {name}")
    rows, J = closure_rows(NUMPY, case.m, case.q[0]), case.J[0]
    S = np.eye(case.m.n_v)[:, case.columns]
    n = null_space(np.vstack([S.T, J])).shape[1]
    n -= sum(not J[:, k].any() for k in range(case.m.n_v) if k not in case.columns)
    given = list(S @ random.normal(size=S.shape[1]) + J.T @ random.normal(size=len(J)))
    by, known = actuation(NUMPY, case.m, rows), actuation(NUMPY, case.m, rows, n)
    both = [np.array(actuated_forces(each, given), float) for each in (known, by)]
    np.testing.assert_allclose(*both, atol=1e-11)
    assert not known.singular
    if n:
        refused = actuation(NUMPY, case.m, rows, n - 1)
        assert refused.singular and np.isnan(actuated_forces(refused, given)[case.columns[0]])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
def test_passive_rates_are_what_assemblies_change_by(name: str):
    robot = lw.load(name)
    g, h, middle = rng(f"passive rates {name}"), 1e-4, robot.neutral()
    at = middle[driven(robot)]
    inwards = np.where(at + 0.02 > robot.limits.upper[driven(robot)], -1.0, 1.0)
    at = at + 0.01 * g.uniform(0.5, 1.0, len(at)) * inwards
    start = robot.assemble(at, q0=middle).q
    rates = evaluate("passive_rates", robot.mechanism, start)
    for k, step in enumerate(h * np.eye(len(at))):
        ends = [robot.assemble(at + sign * step, q0=start) for sign in (-1, 1)]
        assert all(end.success for end in ends)
        moved = evaluate("difference", robot.mechanism, *(end.q for end in ends)) / (2 * h)
        np.testing.assert_allclose(rates[:, k], moved, atol=2e-5)


def expected_rates(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """Passive rates (nv, n_actuated) of least norm, by singular values."""
    J = np.asarray(evaluate("closure_jacobian", m, q))
    actuated = actuated_numbers(m)
    passive = [k for k in range(m.n_v) if k not in actuated and J[:, k].any()]
    rates = np.zeros((m.n_v, len(actuated)))
    rates[actuated, range(len(actuated))] = 1.0
    rates[passive] = -np.linalg.pinv(J[:, passive], rcond=1e-8) @ J[:, actuated]
    return rates


def assembled(robot, n: int, share: float) -> np.ndarray:
    """Random assembled configurations within a share of the ranges of the actuated joints."""
    g = rng(f"least rates {robot.name} {share}")
    lower, upper = (np.clip(x, -np.pi, np.pi)[driven(robot)] for x in robot.limits[:2])
    half = 0.5 * share * (upper - lower)
    given = 0.5 * (lower + upper) + half * g.uniform(-1, 1, (n, len(lower)))
    found = robot.assemble(given, q0=robot.neutral())
    assert found.success.mean() > 0.5
    return found.q[found.success]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_passive_rates_of_bundled_mechanisms(name: str, share: float):
    robot = lw.load(name)
    for q in assembled(robot, 10, share):
        found, wanted = following(NUMPY, robot.mechanism, q), expected_rates(robot.mechanism, q)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(np.array(found.columns).T, wanted, atol=1e-10 * scale)
        assert np.abs(found.left).max(initial=0.0) < 1e-9


@pytest.mark.parametrize(
    ("name", "n"),
    [pytest.param("stewart", 2, marks=pytest.mark.slow), ("five_bar", 1), ("delta", 2)],
)
def test_where_joints_are_free_passive_rates_are_the_least_motion(name: str, n: int):
    whole = lw.load(name)
    m = whole.with_actuated(whole.actuated[:n]).mechanism
    for q in assembled(whole, 10, 0.6):
        near(evaluate("passive_rates", m, q), expected_rates(m, q), 1e-10)


def test_passive_rates_are_in_the_order_of_the_actuated_joints():
    robot = lw.load("five_bar")
    turned = robot.with_actuated(robot.actuated[::-1])
    q = assembled(robot, 1, 0.3)[0]
    both = [evaluate("passive_rates", r.mechanism, q) for r in (robot, turned)]
    np.testing.assert_allclose(both[1], both[0][:, ::-1], atol=1e-13)
    function = robot.function("passive_rates")
    np.testing.assert_allclose(function(q), robot.passive_rates(q), atol=1e-13)
    with pytest.raises(InputError, match="actuate"):
        robot.with_actuated([]).function("passive_rates")
    with pytest.raises(InputError, match="no loops or couplings"):
        lw.load("panda").function("passive_rates")


def test_joints_that_hold_each_other_leave_the_loop_open():
    robot = lw.load("four_bar")
    q = robot.assemble([0.3]).q
    found = following(NUMPY, robot.with_actuated(["crank", "rocker"]).mechanism, q)
    assert np.abs(found.left).max() > 0.1
    every = robot.with_actuated([*robot.joint_names]).mechanism  # none is passive
    found = following(NUMPY, every, q)
    np.testing.assert_array_equal(found.columns, np.eye(3))
    assert np.abs(found.left).max() > 0.1


def test_passive_rates_next_to_a_singularity():
    robot = lw.load("slider_crank")
    m = robot.with_actuated("slider").mechanism  # it can hardly say which way the crank turns
    for crank in (0.5, 1e-3, 1e-5, 1e-7):
        q = robot.assemble([crank]).q
        found, by_crank = following(NUMPY, m, q, free_motions=0), robot.passive_rates(q)[:, 0]
        assert not found.singular and np.abs(found.left).max() < 1e-9
        np.testing.assert_allclose(found.columns[0], by_crank / by_crank[-1], rtol=1e-9)
    assert following(NUMPY, m, robot.assemble([0.0]).q, free_motions=0).singular


EVERY_REFERENCE = [(name, r) for name in CLOSED for r in REFERENCES if name == "five_bar"]
EVERY_REFERENCE += [(name, "local") for name in ("gripper", "delta", "triped_leg")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "reference"), EVERY_REFERENCE)
def test_the_actuation_jacobian_is_a_product(name: str, reference):
    robot, tip = lw.load(name), MODELS[name].tip
    q = robot.assemble().q
    found = robot.function("actuation_jacobian", tip, reference=reference)(q)
    expected = robot.jacobian(q, tip, reference=reference) @ robot.passive_rates(q)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    base = robot.function("actuation_jacobian", robot.frame_names[0], reference=reference)(q)
    assert base.shape == found.shape and not base.any()


def test_parameters_of_the_actuation_jacobian_and_what_it_refuses():
    robot, tip = lw.load("five_bar"), MODELS["five_bar"].tip
    name, q = f"xyz:{tip}", robot.assemble().q
    given = np.asarray(parameters.values(robot.mechanism, [name])[0])
    f = robot.function("actuation_jacobian", tip, parameters=[name])
    np.testing.assert_allclose(f(q, given), robot.actuation_jacobian(q, tip), atol=1e-12)
    far = f(q, given + np.array([0.0, 0.2, 0.0]))
    moved = np.eye(4)
    moved[1, 3] = 0.2
    other = robot.with_frame("far", tip, moved).actuation_jacobian(q, "far")
    np.testing.assert_allclose(far, other, atol=1e-12)
    for wrong in ("nothing", ["left_end"]):
        with pytest.raises(UnknownNameError):
            robot.actuation_jacobian(q, wrong)
    with pytest.raises(InputError):
        robot.actuation_jacobian(q, reference="elsewhere")


# ------------------------------------------------------------------------------- forces of loops


HANGING = """<robot name="hanging"><link name="world"/><link name="arm"><inertial>
<origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="world"/>
<child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("kind", ["position", "distance"])
def test_a_beam_on_a_support_gives_it_half_its_weight(kind: str):
    above = lw.pose([1.0, 0, 0.3 if kind == "distance" else 0.0])
    robot = lw.load(HANGING).with_frame("tip", "arm", lw.pose([1.0, 0, 0]))
    robot = robot.with_frame("hook", "world", above)
    distance = 0.3 if kind == "distance" else 0.0
    robot = robot.with_loop("hook", "tip", kind, name="support", distance=distance)
    zero = np.zeros(1)
    half = 0.5 * 2.0 * -GRAVITY[2]
    wrench = robot.loop_wrenches(zero, zero, zero)["support"]
    np.testing.assert_allclose(wrench, [0.0, 0.0, half, 0.0, 0.0, 0.0], atol=1e-9)
    f = robot.loop_forces(zero, zero, zero)
    # the rod is pulled: it would be longer, so what holds it is negative
    np.testing.assert_allclose(f, [-half] if kind == "distance" else [0, 0, half], atol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(zero, zero, zero), 0.0, atol=1e-12)


# -------------------------------------------------- rows that are redundant: Bennett, change points

SIZES = (1e-6, 1.0, 1e4)


def test_rows_that_are_redundant_or_zero_by_structure():
    for size in SIZES:
        assert [group.rank for group in row_groups(bennett(size).mechanism)] == [2]
    assert [(g.rows, g.rank) for g in row_groups(parallelogram())] == [((0, 2), 2)]
    stewart = lw.load("stewart").mechanism
    assert [(len(g.rows), g.rank) for g in row_groups(stewart)] == [(3, 3)] * 6


def test_columns_are_compared_in_lengths_only_where_a_joint_slides():
    robot = bennett(10.0)
    for type, slides in (
        (JointType.SPHERICAL, [0, 0, 0]),
        (JointType.PRISMATIC, [1]),
        (JointType.PLANAR, [1, 1, 0]),
        (JointType.FLOATING, [1, 1, 1, 0, 0, 0]),
    ):
        m = replace(robot.mechanism, joint_types=(type, *robot.mechanism.joint_types[1:]))
        unlike = (column_scales(m) != 1.0).astype(int)
        assert unlike.tolist() == [*slides, 0, 0], type


@pytest.mark.sweep(1)
@pytest.mark.parametrize("size", SIZES)
def test_a_bennett_linkage_moves_as_its_closed_form_and_by_the_least_forces(size: float):
    robot: Any = bennett(size)
    tree = lw.Robot(replace(robot.mechanism, loops=(), couplings=(), actuated=()))
    scales = np.array(row_scales(robot.mechanism))
    for angle in (0.3, 1.5, 2.5):
        q = robot.assemble([angle]).q
        np.testing.assert_allclose(q, [angle, bennett_angle(angle), -angle], atol=1e-11)
        rates = robot.passive_rates(q)[:, 0]
        v, tau, g = 2.0 * rates, size * size * np.array([0.3, 0.0, -0.2]), [0.0, 3.0 * size, 0.0]
        dv = robot.forward_dynamics(q, v, tau, gravity=g)
        f = robot.loop_forces(q, v, tau, gravity=g)
        # virtual work: along the only motion, and the power balance
        M, h = tree.mass_matrix(q), tree.bias_forces(q, v, gravity=g)
        left = M @ dv + h - tau
        assert abs(rates @ left) < 1e-11 * np.abs(left).max()
        # the least forces that do it, in lengths of the loop
        J = robot.closure_jacobian(q) * scales[:, None]
        least = scales * (np.linalg.pinv(J.T, rcond=1e-9) @ left)
        atol = 1e-9 * np.abs(least / scales).max()
        np.testing.assert_allclose(f / scales, least / scales, atol=atol)


def test_at_a_change_point_all_is_refused_by_the_loop_and_assembling_says_so():
    robot = lw.Robot(parallelogram())
    flat, still = swung(np.pi / 2), np.zeros(3)
    assert change_points(robot.mechanism, flat) == ["hinge"]
    assert not change_points(robot.mechanism, swung(np.pi / 2 - 1e-3))
    for call in (
        lambda: robot.forward_dynamics(flat, still, still),
        lambda: robot.loop_forces(flat, still, still),
        lambda: robot.gravity_forces(flat),
        lambda: lw.simulate(robot, flat, still, 0.1),
    ):
        with pytest.raises(InputError, match="change point of 'hinge'"):
            call()
    there = robot.assemble([np.pi / 2])
    assert there.success and "change point of 'hinge'" in there.reason
    assert robot.assemble([1.0]).reason == "solved"
    ends = robot.assemble([2.0], q0=swung(1.0))
    assert not ends.success and "next to a change point of 'hinge'" in ends.reason


def test_long_trees_of_solid_bodies_are_movable():
    m = mechanism_from(solid(chain_urdf(150)))
    check_movable(m)
    light = solid(chain_urdf(150)).replace(
        solid('<link name="link150"/>'), '<link name="link150"/>'
    )
    with pytest.raises(InputError, match="joint150"):
        check_movable(mechanism_from(light))
    # a coordinate that moves nothing: its joint follows with the factor 0
    still = replace(m, multiplier=np.where(np.arange(m.n_bodies) == 140, 0.0, m.multiplier))
    with pytest.raises(InputError, match="joint140"):
        check_movable(still)
