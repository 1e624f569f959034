"""Compiled kernels inside JAX: right under every transformation, as JAX's own derivatives are."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.test_util import check_grads

import linkwork as lw
import linkwork.jax as lj
from dynamics_cases import random_inputs, solid, static_of
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.ik import Position
from linkwork.mechanism.parameters import values
from robots import every_joint_urdf, mechanism_from
from seeds import rng


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@functools.cache
def robot(kind):
    if kind in ("fixed", "floating"):
        return lw.Robot(mechanism_from(solid(every_joint_urdf()), base=kind))
    name, _, base = kind.partition(" ")
    return lw.load(name, base=base or "fixed")


def method_of(name, kind):
    static = static_of(name, robot(kind).mechanism, "hand")
    return functools.partial(getattr(lj.compiled(robot(kind)), name), **static), static


DAMPED = """<mujoco><worldbody><body><joint axis="0 1 0" damping=".3" stiffness="2"/>
<geom size=".1" pos=".2 0 0" mass="1"/></body></worldbody></mujoco>"""

CASES = [
    ("integrate", "planar_2r floating"),
    *[
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (("fk", "floating"), ("inverse_dynamics", "planar_3r"))
    ],
]
CLOSED_CASES = ("closure", "forward_dynamics")
"""A few that are of all kinds: derivatives of every function against differences are in
tests/compile, and values of every one in test_kinematics_and_dynamics.py."""


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_values_and_derivatives_are_those_of_the_text_under_jax(name, kind):
    m, g = robot(kind).mechanism, rng(f"jax {name} {kind}")
    x = random_inputs(name, m, g)
    assert_is_the_text(name, kind, x, [g.normal(size=len(a)) for a in x], 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED_CASES)
def test_those_of_closed_mechanisms_are_those_of_the_text_under_jax(name):
    r, g = robot("four_bar"), rng(f"jax {name} closed")
    q = np.asarray(r.assemble().q)
    rates = np.asarray(r.passive_rates(q))
    v, tau = rates @ g.normal(size=rates.shape[-1]), g.normal(size=r.n_v)
    x = [q, v, tau][: len(ALGORITHMS[name].inputs)]
    # the state changes as the loops let it: what is done beside that is a matter of definition
    changes = [v, r.forward_dynamics(q, v, tau), g.normal(size=r.n_v)][: len(x)]
    assert_is_the_text(name, "four_bar", x, changes, 1e-7)


def assert_is_the_text(name, kind, x, changes, within):
    method, static = method_of(name, kind)
    model = lj.robot(robot(kind))
    x, changes = tuple(map(jnp.asarray, x)), tuple(map(jnp.asarray, changes))
    with jax.disable_jit():  # operation by operation, which takes no time to compile
        text = functools.partial(getattr(lj, name), model, **static)
        expected, expected_change = jax.jvp(text, x, changes)
    found, change = jax.jvp(method, x, changes)
    scale = max(1.0, float(jnp.abs(expected).max(initial=0.0)))
    slope = max(1.0, float(jnp.abs(expected_change).max(initial=0.0)))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=within * scale)
    np.testing.assert_allclose(change, expected_change, atol=10.0 * within * slope)
    weight = rng(f"weight {name}").normal(size=found.shape)
    _, transposed = jax.vjp(method, *x)
    total = sum(float(w @ d) for w, d in zip(transposed(jnp.asarray(weight)), changes, strict=True))
    assert abs(total - float((weight * change).sum())) < 1e-8 * max(1.0, abs(total), slope)


def test_grad_jit_and_vmap():
    k, m = lj.compiled(robot("panda")), robot("panda").mechanism
    q = jnp.asarray(random_inputs("fk", m, rng("panda jax"), 4)[0])

    def cost(q):
        T = k.fk(q)
        return (T[..., :3, 3] ** 2).sum() + jnp.sin(T[..., 0, 1]).sum()

    check_grads(cost, (q,), order=1, modes=("fwd", "rev"), rtol=1e-4)
    one = jax.grad(cost)
    np.testing.assert_allclose(jax.vmap(one)(q), one(q), atol=1e-13)
    np.testing.assert_allclose(jax.jit(one)(q), one(q), atol=1e-13)


@pytest.mark.slow
def test_second_derivatives_in_every_way():
    k, q = lj.compiled(robot("scara")), jnp.asarray(rng("second").normal(size=(1, 4)))

    def cost(q):
        T = k.fk(q)
        return (T[..., :3, 3] ** 2).sum() + jnp.sin(T[..., 0, 1]).sum()

    check_grads(cost, (q,), order=2, modes=("fwd", "rev"), rtol=1e-4)
    H = jax.hessian(cost)(q[0])
    for outer, inner in ((jax.jacrev, jax.jacrev), (jax.jacfwd, jax.jacfwd)):
        np.testing.assert_allclose(outer(inner(cost))(q[0]), H, atol=1e-11)
    np.testing.assert_allclose(H, H.T, atol=1e-11)


def test_batches_at_any_axis_and_shapes_that_go_together():
    r, k = robot("panda"), lj.compiled(robot("panda"))
    g = rng("jax batches")
    q, v = g.normal(size=(3, 5, 7)), g.normal(size=7)
    expected = r.inverse_dynamics(q, v, np.zeros(7))
    found = k.inverse_dynamics(q, v, np.zeros(7))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    mapped = jax.vmap(k.inverse_dynamics, in_axes=(1, None, None), out_axes=1)
    np.testing.assert_allclose(mapped(q, v, np.zeros(7)), expected, atol=1e-12)
    assert k.fk(jnp.zeros((0, 7))).shape == (0, 4, 4)
    linear = jax.linearize(k.fk, jnp.asarray(q[0, 0]))[1]
    (back,) = jax.linear_transpose(linear, jnp.asarray(q[0, 0]))(jnp.ones((4, 4)))
    np.testing.assert_allclose(back, jax.vjp(k.fk, jnp.asarray(q[0, 0]))[1](jnp.ones((4, 4)))[0])


@pytest.mark.slow
def test_parameters_are_differentiable():
    r, k = robot("fixed"), lj.compiled(robot("fixed"))
    m = r.mechanism
    names = ["mass:lower", "xyz:flange", "gravity"]
    given = dict(zip(names, map(jnp.asarray, values(m, names)), strict=True))
    q, v, dv = map(jnp.asarray, random_inputs("inverse_dynamics", m, rng("jax parameters")))

    def cost(given):
        return (k.inverse_dynamics(q, v, dv, parameters=given) ** 2).sum()

    check_grads(cost, (given,), order=1, modes=("fwd", "rev"), rtol=1e-4)
    gravity = given["gravity"]
    by_keyword = k.inverse_dynamics(q, v, dv, gravity=gravity)
    np.testing.assert_allclose(by_keyword, r.inverse_dynamics(q, v, dv, gravity=gravity))
    same = k.inverse_dynamics(q, v, dv, losses=True, external={"hand": jnp.ones(6)})
    expected = r.inverse_dynamics(q, v, dv, losses=True, external={"hand": np.ones(6)})
    np.testing.assert_allclose(same, expected, atol=1e-11)
    with pytest.raises(InputError, match="does not depend on 'gravity'"):
        k.fk(q, "hand", parameters={"gravity": gravity})
    with pytest.raises(InputError, match="given by a keyword and in parameters"):
        k.inverse_dynamics(q, v, dv, gravity=gravity, parameters={"gravity": gravity})


def test_types_of_numbers():
    r, k = robot("panda"), lj.compiled(robot("panda"))
    q = rng("jax types").normal(size=(300, 7))
    single = jnp.asarray(q, jnp.float32)
    found = k.fk(single)
    assert found.dtype == jnp.float32
    exact = r.fk(np.asarray(single, np.float64))
    np.testing.assert_array_equal(found, exact.astype(np.float32))  # float64 inside
    assert k.fk(single.astype(jnp.bfloat16)).dtype == jnp.float32
    assert k.inverse_dynamics(single, q, q).dtype == jnp.float64
    assert k.fk(jnp.zeros(7, int)).dtype == jnp.float64
    with jax.enable_x64(False):
        assert k.fk(jnp.asarray(q)).dtype == jnp.float32
        assert jax.grad(lambda q: k.fk(q).sum())(jnp.asarray(q)).dtype == jnp.float32
    with pytest.raises(InputError, match="q must be real numbers, not an array of complex128"):
        k.fk(jnp.zeros(7) * 1j)


def test_rows_that_are_not_finite_are_nan_and_the_others_are_right():
    r, k = robot("panda"), lj.compiled(robot("panda"))
    q = rng("jax bad rows").normal(size=(1000, 7))
    q[[3, 500, 999], [2, 0, 6]] = np.nan, np.inf, np.nan
    for kind in (jnp.float64, jnp.float32):
        given = jnp.asarray(q, kind)
        found = np.asarray(k.inverse_dynamics(given, given, given))
        bad = np.isnan(found).all(axis=-1)
        assert np.flatnonzero(bad).tolist() == [3, 500, 999]
        given = np.asarray(given, np.float64)
        expected = r.inverse_dynamics(given, given, given, on_bad="nan")
        np.testing.assert_array_equal(found[~bad], expected[~bad].astype(found.dtype))


def test_errors_name_what_is_wrong():
    k = lj.compiled(robot("panda"))
    with pytest.raises(ShapeError, match=r"q must have shape \(\.\.\., 7\)"):
        jax.jit(k.fk)(jnp.zeros(6))
    with pytest.raises(ShapeError, match="leading shapes"):
        k.inverse_dynamics(jnp.zeros((2, 7)), jnp.zeros((3, 7)), jnp.zeros(7))
    with pytest.raises(UnknownNameError):
        k.fk(jnp.zeros(7), "nowhere")
    with pytest.raises(TypeError):
        k.fk(jnp.zeros(7), out=jnp.zeros((4, 4)))
    for call in (jax.jit(robot("panda").fk), jax.vmap(robot("panda").fk)):
        with pytest.raises(InputError, match=r"traced by JAX.*linkwork\.jax\.compiled\(robot\)"):
            call(jnp.zeros((2, 7)))


def test_one_armature_is_that_of_every_rotor():
    r = robot("planar_2r floating")
    k, q = lj.compiled(r), r.random(3, seed=0)
    np.testing.assert_allclose(k.mass_matrix(q, armature=0.3), r.mass_matrix(q, armature=0.3))
    slope = jax.grad(lambda x: jnp.trace(k.mass_matrix(q[0], armature=x)))(0.3)
    assert abs(slope - 2.0) < 1e-12  # a floating base has no rotor
    assert k.mass_matrix(jnp.asarray(q, jnp.float32), armature=0.3).dtype == jnp.float32


def test_the_robots_own_losses_take_the_type_of_what_is_given():
    r = lw.load(DAMPED)
    k, one = lj.compiled(r), jnp.ones(1, jnp.float32)
    found = k.inverse_dynamics(one, one, one, losses=np.bool_(True))
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, r.inverse_dynamics([1], [1], [1], losses=True), rtol=1e-6)


def test_keywords_of_dynamics_are_checked_as_by_robot():
    r = robot("planar_2r")
    calls = (r.inverse_dynamics, lj.compiled(r).inverse_dynamics)
    calls += (functools.partial(lj.inverse_dynamics, lj.robot(r)),)
    q = np.zeros(2)
    for call in calls:
        for external in ([1], "tool0"):
            with pytest.raises(InputError, match="external gives wrenches by frame"):
                call(q, q, q, external=external)
        with pytest.raises(InputError, match="no joint moves 'base_link'"):
            call(q, q, q, external={"base_link": np.zeros(6)})
        with pytest.raises(InputError, match="losses is True"):
            call(q, q, q, losses=1)


def near(m, g, share=0.6):
    """Configurations well inside of the limits."""
    lower, upper = np.maximum(m.lower, -3.0), np.minimum(m.upper, 3.0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return middle + share * half * g.uniform(-1, 1, (4, m.n_q))


def turned(T, twist):
    """Poses (n, 4, 4) after a small motion along and about the axes of the world."""
    from scipy.spatial.transform import Rotation  # noqa: PLC0415

    moved = T.copy()
    moved[:, :3, :3] = Rotation.from_rotvec(twist[3:]).as_matrix() @ T[:, :3, :3]
    moved[:, :3, 3] += twist[:3]
    return moved


EXACT = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5e", pytest.param("panda", marks=pytest.mark.slow)])
def test_answers_of_ik_move_as_solved_again(name):
    r, k = robot(name), lj.compiled(robot(name))
    m, g = r.mechanism, rng(f"jax ik {name}")
    q = near(m, g)
    J = r.jacobian(q)
    q = q[np.linalg.svd(J, compute_uv=False)[:, -1] > 0.1 * np.median(np.abs(J))]
    T, twist = r.fk(q), g.normal(size=6)
    h = 1e-5
    change = (turned(T, 1e-6 * twist) - turned(T, -1e-6 * twist)) / 2e-6

    def answer(T):
        return k.ik(T, q0=q, **EXACT).q

    at, dq = jax.jvp(answer, (jnp.asarray(T),), (jnp.asarray(change),))
    ahead, behind = (r.ik(turned(T, s * h * twist), q0=np.asarray(at), **EXACT) for s in (1, -1))
    assert ahead.success.all()
    assert behind.success.all()
    differences = (ahead.q - behind.q) / (2 * h)
    scale = np.abs(differences).max(axis=-1, keepdims=True)
    assert (np.abs(dq - differences) < 2e-4 * np.maximum(scale, 1.0)).all()
    gradient = jax.jit(jax.grad(lambda T: (answer(T) ** 2).sum()))(jnp.asarray(T))
    assert abs((gradient * change).sum() - (2 * at * dq).sum()) < 1e-8 * scale.max() ** 2
    with pytest.raises(UnsupportedFeatureError, match="first derivatives alone"):
        jax.hessian(lambda T: (answer(T) ** 2).sum())(jnp.asarray(T))


def test_answers_of_ik_stay_at_their_limits_and_held_joints_count():
    r, k = robot("panda"), lj.compiled(robot("panda"))
    m = r.mechanism
    q = near(m, rng("jax ik limits"))[:1]
    q[0, 3] = m.upper[3]
    p = r.fk(q)[:, :3, 3]
    task = Position(r.tip)

    def answer(p, q0):
        return k.ik(p, tasks=task, q0=q0, fixed=["joint1"] if "joint1" in m.joint_names else []).q

    by_target, by_start = jax.jacobian(answer, argnums=(0, 1))(jnp.asarray(p[0]), jnp.asarray(q[0]))
    assert (np.asarray(by_target)[3] == 0.0).all()
    J = r.jacobian(q[0])[:3]
    np.testing.assert_allclose(J @ np.asarray(by_target), np.eye(3), atol=1e-6)
    held = [k for k in range(7) if np.asarray(by_start)[k, k] == 1.0]
    for k_held in held:  # what moves makes up for it
        np.testing.assert_allclose(J @ np.asarray(by_start)[:, k_held], 0.0, atol=1e-6)


@pytest.mark.slow
def test_joints_that_weigh_less_move_less_under_vmap_too():
    r, k = robot("ur5e"), lj.compiled(robot("ur5e"))
    q = near(r.mechanism, rng("jax ik weights"), 0.4)
    p = jnp.asarray(r.fk(q)[:, :3, 3])
    task, J = Position(r.tip), r.jacobian(q)[:, :3]

    def slope(weights):
        return jax.vmap(
            jax.jacobian(lambda p, q: k.ik(p, tasks=task, q0=q, joint_weights=weights).q)
        )(p, jnp.asarray(q))

    plain, weighed = slope(None), slope({r.mechanism.joint_names[0]: 0.01})
    for found in (plain, weighed):
        np.testing.assert_allclose(J @ np.asarray(found), np.tile(np.eye(3), (4, 1, 1)), atol=1e-7)
    moves = [np.linalg.norm(found[:, 0]) for found in (plain, weighed)]
    assert moves[1] < 0.1 * moves[0]


@pytest.mark.parametrize("name", ["four_bar", pytest.param("five_bar", marks=pytest.mark.slow)])
def test_assembled_configurations_move_as_assembled_again(name):
    r, k = robot(name), lj.compiled(robot(name))
    actuated = 0.1 * np.arange(1, r.assembler().n_actuated + 1)
    start = r.assemble(actuated)
    assert start.success

    def answer(a):
        return k.assemble(a, start.q).q

    found = jax.jacobian(answer)(jnp.asarray(actuated))
    h = 1e-6
    for c, step in enumerate(np.eye(len(actuated)) * h):
        ahead, behind = (r.assemble(actuated + s * step, start.q).q for s in (1, -1))
        np.testing.assert_allclose(found[:, c], (ahead - behind) / (2 * h), atol=1e-6)


def test_failures_of_ik_have_no_derivative():
    k = lj.compiled(robot("ur5e"))
    T = np.tile(np.eye(4), (2, 1, 1))
    T[:, 0, 3] = 0.4, 40.0
    found = k.ik(jnp.asarray(T))
    assert found.success.tolist() == [True, False]
    slopes = jax.jit(jax.jacobian(lambda T: k.ik(T).q.sum(axis=-1)))(jnp.asarray(T))
    assert np.isfinite(slopes[0, 0]).all()
    assert np.isnan(slopes[1, 1]).all()


def test_exported_functions_are_those_of_the_layer_without_kernels():
    arm, shape = robot("planar_2r"), jax.ShapeDtypeStruct((2,), np.float64)
    exported = export.export(jax.jit(functools.partial(lj.fk, lj.robot(arm))))(shape)
    q = np.array([0.3, -0.4])
    np.testing.assert_allclose(exported.call(q), arm.fk(q), atol=1e-14)
    with pytest.raises(ValueError, match="custom calls"):
        export.export(jax.jit(lj.compiled(arm).fk))(shape)
