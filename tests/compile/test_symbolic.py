"""CasADi functions: the same numbers as the traces, right derivatives, use in a problem."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import random_inputs, solid, static_of
from graph_values import of_traced
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.symbolic import matrix_of, on_symbols, symbolic
from linkwork.compile.tracing import trace
from linkwork.errors import UnknownNameError
from linkwork.mechanism.edit import actuate, close
from linkwork.mechanism.parameters import values
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import poses, so3
from robots import every_joint_urdf, mechanism_from, random_configuration
from seeds import rng

FRAME = "hand"


@pytest.fixture(scope="module")
def mechanism():
    return mechanism_from(solid(every_joint_urdf()), base="floating")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_agrees_with_the_trace(mechanism, name):
    # which the compiled code agrees with: tests/reference/test_compiled.py
    if ALGORITHMS[name].needs_loops:
        mechanism = actuate(
            close(mechanism, "camera", "finger_c", "distance", distance=0.1), "elbow"
        )
    static = static_of(name, mechanism, FRAME)
    function = symbolic(name, mechanism, **static)
    given = random_inputs(name, mechanism, rng(f"symbolic {name}"), 10)
    everywhere = of_traced(trace(name, mechanism, **static), *given)
    for row, expected in zip(zip(*given, strict=True), everywhere, strict=True):
        found = np.array(function(*row))
        columns = expected.shape[-1] if expected.ndim > 1 else 1
        assert found.shape == (expected.size // columns, columns)
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        within = 1e-9 if check_movable in ALGORITHMS[name].needs else 1e-13  # divided by masses
        np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=within * scale)


def test_names_and_shapes(mechanism):
    fk = symbolic("fk", mechanism, frame=FRAME)
    assert (fk.name(), fk.name_in(), fk.name_out()) == ("fk", ["q"], ["fk"])
    assert fk.size_in(0) == (mechanism.n_q, 1)
    assert fk.size_out(0) == (4, 4)
    n = len(mechanism.frame_names)
    assert symbolic("fk_all", mechanism).size_out(0) == (4 * n, 4)
    assert symbolic("jacobian", mechanism, frame=FRAME).size_out(0) == (6, mechanism.n_v)
    assert symbolic("integrate", mechanism).name_in() == ["q", "v"]
    assert symbolic("integrate", mechanism).size_out(0) == (mechanism.n_q, 1)


def test_the_blocks_of_all_poses_are_the_frames(mechanism):
    q = random_configuration(rng("blocks"), mechanism)
    stacked = symbolic("fk_all", mechanism)(q)
    for k, name in enumerate(mechanism.frame_names):
        one = symbolic("fk", mechanism, frame=name)(q)
        found = np.array(stacked[4 * k : 4 * k + 4, :])
        np.testing.assert_allclose(found, np.array(one), atol=1e-14, err_msg=name)


def test_zeros_that_always_hold_are_structural(mechanism):
    fk = symbolic("fk", mechanism, frame=FRAME)
    assert fk.sparsity_out(0).nnz() == 13


@pytest.mark.parametrize("name", ["fk", "jacobian", "com", "difference"])
def test_derivatives_are_those_of_finite_differences(mechanism, name):
    static = static_of(name, mechanism, FRAME)
    function = symbolic(name, mechanism, **static)
    g = rng(f"derivative {name}")
    given = random_inputs(name, mechanism, g)
    symbols = [cs.SX.sym(f"x{k}", a.size) for k, a in enumerate(given)]
    flat = cs.vec(function(*symbols))
    derivative = cs.Function("d", symbols, [cs.jacobian(flat, symbols[0])])
    found = np.array(derivative(*given))
    step = 1e-6
    for k in range(given[0].size):
        moved = []
        for sign in (1.0, -1.0):
            q = given[0].copy()
            q[k] += sign * step
            moved.append(np.array(cs.vec(function(q, *given[1:]))).ravel())
        numeric = (moved[0] - moved[1]) / (2 * step)
        np.testing.assert_allclose(found[:, k], numeric, atol=2e-7, rtol=1e-6)


def test_it_goes_into_mx_expressions(mechanism):
    com = symbolic("com", mechanism)
    q = cs.MX.sym("q", mechanism.n_q)
    speed = cs.Function("speed", [q], [cs.jacobian(com(q), q)])
    at = random_configuration(rng("mx"), mechanism)
    x = cs.SX.sym("x", mechanism.n_q)
    expected = cs.Function("e", [x], [cs.jacobian(com(x), x)])(at)
    np.testing.assert_allclose(np.array(speed(at)), np.array(expected), atol=1e-13)


def test_parameters_are_inputs_behind_its_own(mechanism):
    names = ["xyz:slide", "rpy:wrist"]
    fk = symbolic("fk", mechanism, names, frame=FRAME)
    assert fk.name_in() == ["q", "xyz_slide", "rpy_wrist"]
    q = random_configuration(rng("parameters"), mechanism)
    given = values(mechanism, names)
    plain = symbolic("fk", mechanism, frame=FRAME)
    np.testing.assert_allclose(np.array(fk(q, *given)), np.array(plain(q)), atol=1e-13)
    moved = fk(q, given[0] + 0.1, given[1])
    assert np.abs(np.array(moved - plain(q))).max() > 0.05


def test_a_nonlinear_problem_is_solved_with_it():
    robot = lw.load("planar_2r")
    frame = robot.frame_names[robot.mechanism.n_link_frames - 1]
    fk = symbolic("fk", robot.mechanism, frame=frame)
    goal = robot.fk(np.array([0.4, 0.9]), frame)[:2, 3]
    q = cs.SX.sym("q", robot.n_q)
    error = cs.sumsqr(fk(q)[:2, 3] - goal)
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    solver = cs.nlpsol("reach", "ipopt", {"x": q, "f": error}, options)
    found = np.array(solver(x0=[0.1, 0.3])["x"]).ravel()
    np.testing.assert_allclose(robot.fk(found, frame)[:2, 3], goal, atol=1e-5)


def test_unknown_names(mechanism):
    with pytest.raises(UnknownNameError, match="algorithm"):
        symbolic("fkk", mechanism)
    with pytest.raises(UnknownNameError, match="frame"):
        symbolic("fk", mechanism, frame="hnad")


def test_row_major_columns_become_matrices():
    column = cs.SX(cs.DM(range(24)))
    assert np.array(cs.DM(matrix_of(column, (4, 6)))).tolist() == (
        np.arange(24.0).reshape(4, 6).tolist()
    )
    assert np.array(cs.DM(matrix_of(column, (2, 3, 4)))).tolist() == (
        np.arange(24.0).reshape(6, 4).tolist()
    )
    assert matrix_of(column, (24,)).shape == (24, 1)
    assert matrix_of(cs.SX(0, 1), (6, 0)).shape == (6, 0)


def test_a_function_over_the_operations_on_symbols():
    def function(o, w, p, scale):
        pose = poses.Pose(so3.exp(o, w), scale * p)
        return [poses.to_matrix(o, pose), o.dot(w, p), o.concat([w, p])]

    w, p = cs.SX.sym("w", 3), cs.vertcat(cs.SX.sym("x"), 2.0, 0.0)
    made = on_symbols(function, w, p, 2.0)
    assert [block.shape for block in made] == [(4, 4), (1, 1), (6, 1)]
    assert made[0][3, 0].nnz() == 0 and float(made[0][1, 3]) == 4.0  # constants stay constant
    f = cs.Function("f", [w, cs.vertcat(*cs.symvar(p))], made)
    at = np.array([0.3, -0.2, 0.5])
    for found, expected in zip(
        f(at, 7.0), function(NUMPY, at, np.array([7.0, 2, 0]), 2.0), strict=True
    ):
        np.testing.assert_allclose(np.array(found).squeeze(), expected, atol=1e-15)
