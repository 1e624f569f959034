"""What must hold of dynamics with loops: every kind of loop, redundant rows, passive freedoms."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from closed_mechanisms import (
    CASES,
    FEW,
    Closed,
    answerable,
    closed_case,
    least_driven,
    solved,
)
from dynamics_cases import differences, everything, graph, near, rows
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import JointType
from seeds import rng

pytestmark = pytest.mark.sweep(2, by="name")

EVERY = pytest.mark.parametrize("name", CASES, scope="module")
SOME = pytest.mark.parametrize("name", FEW, scope="module")


def applied(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", A, x)


def forward(case: Closed, tau: np.ndarray) -> np.ndarray:
    return rows("forward_dynamics", case.m, case.q, case.v, tau)


@EVERY
def test_the_bias_is_what_the_jacobian_changes_by(name: str):
    case, h = closed_case(name), 1e-3
    found = rows("closure_bias", case.m, case.q, case.v)

    def rate(k: int) -> np.ndarray:
        at = rows("integrate", case.m, case.q, k * h * case.v)
        return applied(rows("closure_jacobian", case.m, at), case.v)

    near(found, (8 * (rate(1) - rate(-1)) - (rate(2) - rate(-2))) / (12 * h), 1e-8)


@EVERY
def test_accelerations_and_forces_solve_the_equations(name: str):
    case = closed_case(name)
    m, q, v, tau = case.m, case.q, case.v, case.every
    dv, bias = forward(case, tau), rows("closure_bias", m, q, v)
    near(applied(case.J, dv), -bias, 1e-8)
    f = rows("loop_forces", m, q, v, tau)
    held = applied(np.swapaxes(case.J, 1, 2), f)
    expected, pull = solved(case, tau, bias)
    near(dv, expected, 1e-8)
    near(held, pull, 1e-7)
    M, h = (rows(x, case.tree, *a) for x, a in (("mass_matrix", (q,)), ("bias_forces", (q, v))))
    near(applied(M, dv) + h - tau, held, 1e-7)


@EVERY
def test_wrenches_of_loops_are_their_forces(name: str):
    case = closed_case(name)
    if not case.m.loops:
        pytest.skip("it has couplings alone")
    m, q = case.m, case.q
    wrenches = rows("loop_wrenches", m, q, case.v, case.every)
    f = rows("loop_forces", m, q, case.v, case.every)
    couplings = applied(np.swapaxes(case.J, 1, 2)[..., f.shape[1] - len(m.couplings) :],
                        f[:, f.shape[1] - len(m.couplings) :])  # fmt: skip
    total = couplings
    for k, loop in enumerate(m.loops):
        a, b = (rows("fk", m, q, frame=x) for x in (loop.frame_a, loop.frame_b))
        J_a, J_b = (rows("jacobian", m, q, frame=x) for x in (loop.frame_a, loop.frame_b))
        for at in range(len(q)):
            R = a[at, :3, :3]
            force, moment = R @ wrenches[at, k, :3], R @ wrenches[at, k, 3:]
            arm = b[at, :3, 3] - a[at, :3, 3]
            total[at] += J_b[at].T @ np.concatenate([force, moment])
            total[at] -= J_a[at].T @ np.concatenate([force, moment + np.cross(arm, force)])
    near(total, applied(np.swapaxes(case.J, 1, 2), f), 1e-8)


@EVERY
def test_power_is_what_energy_changes_by(name: str):
    case = closed_case(name)
    m, tau = case.m, case.every
    dv = forward(case, tau)
    h = min(1e-3, 1e-2 / float(np.abs(dv).max()))

    def energy(k: int) -> np.ndarray:
        t = k * h
        q = rows("integrate", m, case.q, t * case.v + 0.5 * t * t * dv)
        v = case.v + t * dv
        return rows("kinetic_energy", m, q, v) + rows("potential_energy", m, q)

    change = (8 * (energy(1) - energy(-1)) - (energy(2) - energy(-2))) / (12 * h)
    near(change, np.einsum("ni,ni->n", tau, case.v), 1e-6)


@EVERY
@pytest.mark.parametrize("with_all", [False, True])
def test_inverse_and_forward_undo_one_another(name: str, with_all: bool):
    case, random = closed_case(name), rng(f"closed undo {name}")
    m, q, v = case.m, case.q, case.v
    more = everything(m, random) if with_all else {}
    dv = rows("forward_dynamics", m, q, v, case.tau, parameters=more)
    tau = rows("inverse_dynamics", m, q, v, dv, parameters=more)
    tree = rows("inverse_dynamics", case.tree, q, v, dv, parameters=more)
    near(tau, least_driven(case, tree), 1e-8)
    near(rows("forward_dynamics", m, q, v, tau, parameters=more), dv, 1e-7)
    passive = [k for k in range(m.n_v) if k not in case.columns]
    assert np.all(tau[:, passive] == 0.0)


@EVERY
def test_biases_hold_what_is_driven(name: str):
    case = closed_case(name)
    m, q, v = case.m, case.q, case.v
    gravity = rows("gravity_forces", m, q)
    if not dv_is_free(case):  # what moves freely is held by nothing
        weights = rows("gravity_forces", case.tree, q)
        near(gravity, least_driven(case, answerable(case, weights)), 1e-8)
        return
    near(gravity, rows("bias_forces", m, q, 0 * v), 1e-8)
    near(gravity, rows("inverse_dynamics", m, q, 0 * v, 0 * v), 1e-8)
    bias = rows("closure_bias", m, q, v)
    passive = [k for k in range(m.n_v) if k not in case.columns]
    dv = np.zeros_like(v)
    dv[:, passive] = -applied(np.linalg.pinv(case.J[:, :, passive], rcond=1e-8), bias)
    if np.abs(applied(case.J, dv) + bias).max() > 1e-8:
        pytest.skip("its actuated joints hold each other")
    near(rows("bias_forces", m, q, v), rows("inverse_dynamics", m, q, v, dv), 1e-8)


@EVERY
def test_forces_of_any_accelerations_are_the_nearest(name: str):
    """Also where they are none that the driven joints can give."""
    case = closed_case(name)
    m, q, v, dv = case.m, case.q, case.v, case.every
    tree = rows("inverse_dynamics", case.tree, q, v, dv)
    found = rows("inverse_dynamics", m, q, v, dv)
    near(found, least_driven(case, answerable(case, tree)), 1e-8)


@pytest.mark.sweep(2, by="name")
@SOME
@pytest.mark.parametrize("with_all", [False, True])
def test_derivatives_of_accelerations(name: str, with_all: bool):
    case, random = closed_case(name), rng(f"closed derivatives {name}")
    m, v, tau = case.m, case.v[:1], case.every[:1]
    q = case.q[:1]
    more = everything(m, random) if with_all else {}
    by_q, by_v, by_tau = rows("forward_dynamics_derivatives", m, q, v, tau, parameters=more)[0]

    def at(x: np.ndarray, y: np.ndarray = v, z: np.ndarray = tau) -> np.ndarray:
        y, z = (np.broadcast_to(a, (len(x), m.n_v)) for a in (y, z))
        return rows("forward_dynamics", m, x, y, z, parameters=more)

    # where rows are redundant only ways that stay assembled have derivatives
    ways = case.free(0) if redundant(case) else np.eye(m.n_v)
    near(by_q @ ways, differences(at, q, m)[0] @ ways, 1e-7)
    steps = 1e-3 * np.array([k * np.eye(m.n_v) for k in (1, -1)])
    moved = [at(np.repeat(q, m.n_v, 0), v + step) for step in steps]
    near(by_v, (moved[0] - moved[1]).T / 2e-3, 1e-7)
    pushed = at(np.repeat(q, m.n_v, 0), v, tau + 1e3 * steps[0]) - at(q)
    near(by_tau, pushed.T, 1e-7)
    near(by_tau, by_tau.T, 1e-12)


@pytest.mark.sweep(2, by="name")
@SOME
@pytest.mark.parametrize("with_all", [False, True])
def test_derivatives_of_forces(name: str, with_all: bool):
    case, random = closed_case(name), rng(f"closed derivatives {name}")
    m, q, v = case.m, case.q[:1], case.v[:1]
    more = everything(m, random) if with_all else {}
    dv = rows("forward_dynamics", m, q, v, case.tau[:1], parameters=more)
    less = {key: x for key, x in more.items() if key != "friction"}
    by_q, by_v, by_dv = rows("inverse_dynamics_derivatives", m, q, v, dv, parameters=less)[0]

    def at(x: np.ndarray, y: np.ndarray = v, z: np.ndarray = dv) -> np.ndarray:
        y, z = (np.broadcast_to(a, (len(x), m.n_v)) for a in (y, z))
        return rows("inverse_dynamics", m, x, y, z, parameters=less)

    if not dv_is_free(case):  # changes are then none that driven joints can give
        return
    ways = case.free(0) if redundant(case) else np.eye(m.n_v)
    near(by_q @ ways, differences(at, q, m)[0] @ ways, 1e-6)
    steps = 1e-3 * np.array([k * np.eye(m.n_v) for k in (1, -1)])
    moved = [at(np.repeat(q, m.n_v, 0), v + step) for step in steps]
    near(by_v, (moved[0] - moved[1]).T / 2e-3, 1e-7)
    near(by_dv, (at(np.repeat(q, m.n_v, 0), v, dv + 1e3 * steps[0]) - at(q)).T, 1e-7)


def redundant(case: Closed) -> bool:
    return np.linalg.matrix_rank(case.J[0], tol=1e-8) < case.J.shape[1]


def dv_is_free(case: Closed) -> bool:
    """Whether driven joints answer for all that can move."""
    N = case.free(0)
    return np.linalg.matrix_rank(N[case.columns], tol=1e-6) == N.shape[1]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["position, fixed", "xy/z, fixed", "couplings", "skew"])
def test_derivatives_are_those_of_the_graph(name: str):
    case = closed_case(name)
    m = case.m
    assert not redundant(case) and all(t is not JointType.FLOATING for t in m.joint_types)
    for algorithm, third in (("forward_dynamics", case.every), ("inverse_dynamics", case.tau)):
        f = graph(algorithm, m)
        q, v, x = (cs.SX.sym("x", n) for n in (m.n_q, m.n_v, m.n_v))
        J = cs.Function("J", [q, v, x], [cs.jacobian(f(q, v, x), a) for a in (q, v, x)])
        given = case.q[:1], case.v[:1], third[:1]
        if algorithm == "inverse_dynamics":
            if not dv_is_free(case):
                continue
            given = (*given[:2], forward(case, case.tau)[:1])
        found = rows(f"{algorithm}_derivatives", m, *given)[0]
        for got, expected in zip(found, J(*[a[0] for a in given]), strict=True):
            near(got, np.array(expected), 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "delta", "universal, floating", "couplings"])
def test_back_ends_agree(name: str):
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    jax.config.update("jax_enable_x64", True)
    case = closed_case(name)
    m, q, v, x = case.m, case.q[0], case.v[0], case.every[0]
    calls = {"closure_bias": (q, v), "forward_dynamics": (q, v, x), "loop_forces": (q, v, x),
             "inverse_dynamics": (q, v, forward(case, case.tau)[0]), "gravity_forces": (q,),
             "loop_wrenches": (q, v, x), "bias_forces": (q, v)}  # fmt: skip
    if not m.loops:
        del calls["loop_wrenches"]
    for algorithm, given in calls.items():
        expected = rows(algorithm, m, *[a[None] for a in given])[0]
        near(evaluate(algorithm, m, *given), expected, 1e-7)
        if name in ("four_bar", "couplings"):
            arrays = [jax.numpy.asarray(a) for a in given]
            near(np.asarray(evaluate(algorithm, m, *arrays)), expected, 1e-7)


def test_nothing_moves_where_loops_fix_everything():
    fixed, q = closed_case("four_bar").robot, closed_case("four_bar").q[0]
    for name in fixed.joint_names:
        at = float(q[fixed.mechanism.q_start[fixed.mechanism.joint(name)]])
        fixed = fixed.with_coupling(
            name, next(n for n in fixed.joint_names if n != name), rate=0.0, offset=at
        )
    assert fixed.mobility(q).degrees_of_freedom == 0
    zero = np.zeros(fixed.n_v)
    dv = fixed.forward_dynamics(q, zero, rng("fixed").normal(size=fixed.n_v))
    np.testing.assert_allclose(dv, zero, atol=1e-8)
    np.testing.assert_allclose(fixed.inverse_dynamics(q, zero, zero), zero, atol=1e-8)
