"""The actuated joints of mechanisms with loops: forces, and motions that follow."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_dynamics_cases import closed_case, null_space
from linkwork.algorithms.actuation import (
    Following,
    actuated_forces,
    actuated_numbers,
    actuation,
    balanced,
    following,
)
from linkwork.algorithms.closure import closure_rows, loop_length, row_scales
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism import parameters
from linkwork.mechanism.model import Mechanism
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from seeds import rng


def at(case, free_motions=None):
    rows = closure_rows(NUMPY, case.m, case.q[0])
    return rows, actuation(NUMPY, case.m, rows, free_motions)


NAMES = ("four_bar", "delta", "excavator", "revolute, fixed", "couplings")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", NAMES)
def test_both_sides_are_solved(name: str):
    case, random = closed_case(name), rng(f"driven {name}")
    rows, by = at(case)
    assert by.actuated == actuated_numbers(case.m) == case.columns
    J = np.array([[row.get(k, 0.0) for k in range(case.m.n_v)] for row in rows], float)
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    x, f = J.T @ random.normal(size=len(J)), random.normal(size=len(J))
    found = balanced(by, list(S @ x + J.T @ f), list(J @ x))
    got_x, got_f = np.array(found.x, float), np.array(found.forces, float)
    np.testing.assert_allclose(S @ got_x + J.T @ got_f, S @ x + J.T @ f, atol=1e-12)
    np.testing.assert_allclose(J @ got_x, J @ x, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_actuated_forces_work_as_those_of_all(name: str):
    case, random = closed_case(name), rng(f"virtual work {name}")
    by, N = at(case)[1], null_space(case.J[0])
    S = np.diag([float(k in by.actuated) for k in range(case.m.n_v)])
    given = S @ random.normal(size=case.m.n_v) + case.J[0].T @ random.normal(size=len(case.J[0]))
    found = np.array(actuated_forces(by, list(given)), float)
    np.testing.assert_allclose(N.T @ found, N.T @ given, atol=1e-12)
    assert np.array_equal(found, S @ found)


@pytest.mark.parametrize("name", ["universal, floating", "prismatic, fixed"])
def test_what_moves_freely_does_not_count(name: str):
    """Forces along motions that nothing drives change nothing, however large they are."""
    case, random = closed_case(name), rng(f"moves freely {name}")
    by = at(case)[1]
    S = np.eye(case.m.n_v)[:, case.columns]
    free = null_space(np.vstack([S.T, case.J[0]]))
    assert free.shape[1] > 0
    known = S @ random.normal(size=S.shape[1]) + case.J[0].T @ random.normal(size=len(case.J[0]))
    more = known + free @ random.normal(size=free.shape[1])
    found, with_more = (np.array(actuated_forces(by, list(x)), float) for x in (known, more))
    np.testing.assert_allclose(with_more, found, atol=1e-10 * np.abs(found).max())


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "stewart", "universal, floating", "two loops"])
def test_the_number_of_free_motions_leaves_out_what_is_not_needed(name: str):
    case, random = closed_case(name), rng(f"free motions {name}")
    S, J = np.eye(case.m.n_v)[:, case.columns], case.J[0]
    n = null_space(np.vstack([S.T, J])).shape[1]
    given = S @ random.normal(size=S.shape[1]) + J.T @ random.normal(size=len(J))
    beside = sum(not J[:, k].any() for k in range(case.m.n_v) if k not in case.columns)
    by, known = at(case)[1], at(case, n - beside)[1]
    np.testing.assert_allclose(
        np.array(actuated_forces(known, list(given)), float),
        np.array(actuated_forces(by, list(given)), float),
        atol=1e-11,
    )
    assert not known.singular
    if n - beside:
        refused = at(case, n - beside - 1)[1]
        assert refused.singular and np.isnan(actuated_forces(refused, list(given))[case.columns[0]])


def test_rows_are_compared_in_lengths_of_their_loops():
    m = closed_case("four_bar").m
    length = loop_length(m, m.loops[0])
    assert 0.3 < length < 3.0
    assert row_scales(m) == [1 / length] * 3 + [1.0] * 2


CLOSED = [name for name in MODELS if MODELS[name].closed]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "five_bar", "excavator"])
def test_back_ends_agree(name: str, agree):
    robot = lw.load(name)
    near = robot.assembler().solve(robot.neutral()[_driven(robot)], q0=robot.neutral()).q
    agree("passive_rates", robot.mechanism, np.stack([near] * 2))


def _driven(robot) -> list[int]:
    m = robot.mechanism
    return [int(m.q_start[m.joint(name)]) for name in robot.actuated]


@pytest.mark.parametrize("name", CLOSED)
def test_differences(name: str):
    robot = lw.load(name)
    g, h, middle = rng(f"passive rates {name}"), 1e-4, robot.neutral()
    at = middle[_driven(robot)]
    inwards = np.where(at + 0.02 > robot.limits.upper[_driven(robot)], -1.0, 1.0)
    at = at + 0.01 * g.uniform(0.5, 1.0, len(at)) * inwards
    start = robot.assemble(at, q0=middle).q
    rates = robot.passive_rates(start)
    for k, step in enumerate(h * np.eye(len(at))):
        ends = [robot.assemble(at + sign * step, q0=start) for sign in (-1, 1)]
        assert all(end.success for end in ends)
        moved = evaluate("difference", robot.mechanism, *(end.q for end in ends)) / (2 * h)
        np.testing.assert_allclose(rates[:, k], moved, atol=2e-5)


def test_a_length_as_a_parameter():
    robot = lw.load("five_bar")
    plain = robot.function("passive_rates")
    q = robot.assemble([0.1, 0.2]).q
    np.testing.assert_allclose(plain(q), robot.passive_rates(q), atol=1e-13)
    assert "double" in robot.kernel("passive_rates").c_source()
    with pytest.raises(InputError, match="actuate"):
        robot.with_actuated([]).function("passive_rates")
    with pytest.raises(InputError, match="no loops or couplings"):
        lw.load("panda").function("passive_rates")


def expected(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """By singular values: (nv, n_actuated)."""
    J = np.asarray(evaluate("closure_jacobian", m, q))
    driven = actuated_numbers(m)
    passive = [k for k in range(m.n_v) if k not in driven and J[:, k].any()]
    rates = np.zeros((m.n_v, len(driven)))
    rates[driven, range(len(driven))] = 1.0
    rates[passive] = -np.linalg.pinv(J[:, passive], rcond=1e-8) @ J[:, driven]
    return rates


def states(robot, n: int, share: float) -> np.ndarray:
    """Random configurations that are assembled."""
    m, g = robot.mechanism, rng(f"least rates {robot.name} {share}")
    at = [m.q_start[m.joint(name)] for name in m.actuated]
    lower, upper = (np.clip(x, -np.pi, np.pi)[at] for x in robot.limits[:2])
    half = 0.5 * share * (upper - lower)
    given = 0.5 * (lower + upper) + half * g.uniform(-1, 1, (n, len(at)))
    found = robot.assemble(given, q0=robot.neutral())
    assert found.success.mean() > 0.5
    return found.q[found.success]


def rates_of(found: Following) -> np.ndarray:
    return np.array(found.columns, dtype=float).T


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_bundled_mechanisms(name: str, share: float):
    robot = lw.load(name)
    for q in states(robot, 10, share):
        found, wanted = following(NUMPY, robot.mechanism, q), expected(robot.mechanism, q)
        np.testing.assert_allclose(rates_of(found), wanted, atol=1e-10 * np.abs(wanted).max())
        assert np.abs(found.left).max(initial=0.0) < 1e-9


@pytest.mark.parametrize(
    ("name", "driven"), [("stewart", 5), ("stewart", 2), ("five_bar", 1), ("delta", 2)]
)
def test_where_joints_are_free_the_least_motion(name: str, driven: int):
    whole = lw.load(name)
    m = whole.with_actuated(whole.actuated[:driven]).mechanism
    for q in states(whole, 10, 0.6):
        wanted = expected(m, q)
        np.testing.assert_allclose(
            rates_of(following(NUMPY, m, q)), wanted, atol=1e-10 * np.abs(wanted).max()
        )


def test_in_the_order_of_the_actuated_joints():
    robot = lw.load("five_bar")
    turned = robot.with_actuated(robot.actuated[::-1])
    q = states(robot, 1, 0.3)[0]
    both = [rates_of(following(NUMPY, r.mechanism, q)) for r in (robot, turned)]
    np.testing.assert_allclose(both[1], both[0][:, ::-1], atol=1e-13)


def test_joints_that_hold_each_other_leave_the_loop_open():
    robot = lw.load("four_bar")
    q = robot.assemble([0.3]).q
    found = following(NUMPY, robot.with_actuated(["crank", "rocker"]).mechanism, q)
    assert np.abs(found.left).max() > 0.1
    every = robot.with_actuated([*robot.joint_names]).mechanism  # none is passive
    found = following(NUMPY, every, q)
    np.testing.assert_array_equal(rates_of(found), np.eye(3))
    assert np.abs(found.left).max() > 0.1


def test_next_to_a_singularity():
    robot = lw.load("slider_crank")
    m = robot.with_actuated(
        "slider"
    ).mechanism  # the slider can hardly say which way the crank turns
    for crank in (0.5, 1e-3, 1e-5, 1e-7):
        q = robot.assemble([crank]).q
        found, by_crank = following(NUMPY, m, q, free_motions=0), robot.passive_rates(q)[:, 0]
        assert not found.singular and np.abs(found.left).max() < 1e-9
        np.testing.assert_allclose(rates_of(found)[:, 0], by_crank / by_crank[-1], rtol=1e-9)
    assert following(NUMPY, m, robot.assemble([0.0]).q, free_motions=0).singular


CLOSED_of_jacobian = [name for name in MODELS if MODELS[name].closed]


def at_neutral(robot) -> np.ndarray:
    return robot.solver(tasks=[lw.ik.Closed()]).solve(None, robot.neutral()).q


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", CLOSED_of_jacobian)
@pytest.mark.parametrize("reference", REFERENCES)
def test_it_is_the_product(name: str, reference):
    robot, tip = lw.load(name), MODELS[name].tip
    q = at_neutral(robot)
    found = robot.function("actuation_jacobian", tip, reference=reference)(q)
    expected = robot.jacobian(q, tip, reference=reference) @ robot.passive_rates(q)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    base = robot.function("actuation_jacobian", robot.frame_names[0], reference=reference)(q)
    assert base.shape == found.shape and not base.any()


def test_back_ends_agree_of_jacobian(agree):
    robot = lw.load("excavator")
    q = np.stack([at_neutral(robot)] * 2)
    agree("actuation_jacobian", robot.mechanism, q, frame=MODELS["excavator"].tip)


def test_parameters_move_the_loop_and_the_frame():
    robot, tip = lw.load("five_bar"), MODELS["five_bar"].tip
    name = f"xyz:{tip}"
    q, m = at_neutral(robot), robot.mechanism
    given = np.asarray(parameters.values(m, [name])[0])
    f = robot.function("actuation_jacobian", tip, parameters=[name])
    np.testing.assert_allclose(f(q, given), robot.actuation_jacobian(q, tip), atol=1e-12)
    far = f(q, given + np.array([0.0, 0.2, 0.0]))
    moved = np.eye(4)
    moved[1, 3] = 0.2
    other = robot.with_frame("far", tip, moved).actuation_jacobian(q, "far")
    np.testing.assert_allclose(far, other, atol=1e-12)


def test_names_that_are_none():
    robot = lw.load("five_bar")
    q = at_neutral(robot)
    with pytest.raises(UnknownNameError):
        robot.actuation_jacobian(q, "nothing")
    with pytest.raises(InputError):
        robot.actuation_jacobian(q, reference="elsewhere")
    with pytest.raises(UnknownNameError):
        robot.actuation_jacobian(q, ["left_end"])
