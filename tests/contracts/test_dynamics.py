"""What must hold of dynamics, whatever the mechanism: every joint type, branches, couplings."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from dynamics_cases import (
    case,
    case_texts,
    condition,
    differences,
    everything,
    graph,
    near,
    rows,
    states,
)
from linkwork.conventions import GRAVITY
from linkwork.mechanism.model import Mechanism
from robots import body_poses, total_inertia
from seeds import rng

pytestmark = pytest.mark.sweep(2, by="name")

ROWS = 3
# by mechanism, so that what is traced of one serves all tests
EVERY = pytest.mark.parametrize("name", case_texts(), scope="module")


def repeated(array: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Each row as often as it takes to go with the rows of another array."""
    return np.repeat(array, len(like) // len(array), axis=0)


# -------------------------------------------------------------------------- forces and motions


@EVERY
@pytest.mark.parametrize("with_all", [False, True])
def test_inverse_and_forward_undo_one_another(name: str, with_all: bool):
    m, random = case(name), rng(f"undo {name}")
    q, v, dv = states(m, random, ROWS)
    more = everything(m, random) if with_all else {}
    tau = rows("inverse_dynamics", m, q, v, dv, parameters=more)
    within = 1e-15 * condition(rows("mass_matrix", m, q))
    near(rows("forward_dynamics", m, q, v, tau, parameters=more), dv, within)


@EVERY
@pytest.mark.parametrize("with_all", [False, True])
def test_forces_are_mass_times_acceleration_and_bias(name: str, with_all: bool):
    m, random = case(name), rng(f"parts {name}")
    q, v, dv = states(m, random, ROWS)
    more = everything(m, random) if with_all else {}
    armature = {key: more[key] for key in more if key == "armature"}
    bias = {key: more[key] for key in more if key != "armature"}
    M = rows("mass_matrix", m, q, parameters=armature)
    rest = rows("bias_forces", m, q, v, parameters=bias)
    expected = np.einsum("nij,nj->ni", M, dv) + rest
    near(rows("inverse_dynamics", m, q, v, dv, parameters=more), expected, 1e-12)


@EVERY
def test_at_rest_there_is_gravity_alone(name: str):
    m, random = case(name), rng(f"rest {name}")
    q, v, _ = states(m, random, ROWS)
    g = {"gravity": random.normal(size=3)}
    for parameters in ({}, g):
        expected = rows("gravity_forces", m, q, parameters=parameters)
        near(rows("bias_forces", m, q, 0 * v, parameters=parameters), expected, 1e-12)
    nothing = rows("bias_forces", m, q, 0 * v, parameters={"gravity": np.zeros(3)})
    near(nothing, np.zeros_like(v), 1e-12)


@EVERY
def test_the_mass_matrix(name: str):
    m, random = case(name), rng(f"mass {name}")
    q, _, _ = states(m, random, ROWS)
    M = rows("mass_matrix", m, q)
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
    assert (np.linalg.eigvalsh(M) > 0).all()
    product = M @ rows("inverse_mass_matrix", m, q)
    near(product, np.broadcast_to(np.eye(m.n_v), M.shape), 1e-15 * condition(M))
    a = random.uniform(0.1, 1, m.n_v)
    with_rotors = rows("mass_matrix", m, q, parameters={"armature": a})
    near(with_rotors, M + np.diag(a), 1e-13)


@EVERY
def test_kinetic_energy_is_that_of_the_bodies(name: str):
    # each body's speed by differences of its pose: no algorithm but `integrate`
    m, random = case(name), rng(f"kinetic {name}")
    q, v, _ = states(m, random, ROWS)
    expected = np.array([body_energy(m, *each) for each in zip(q, v, strict=True)])
    M = rows("mass_matrix", m, q)
    near(np.einsum("ni,nij,nj->n", v, M, v) / 2, expected, 1e-9)
    near(rows("kinetic_energy", m, q, v), expected, 1e-9)
    near(rows("kinetic_energy", m, q, v), np.einsum("ni,nij,nj->n", v, M, v) / 2, 1e-12)


def body_energy(m: Mechanism, q: np.ndarray, v: np.ndarray, h: float = 1e-3) -> float:
    at = [body_poses(m, rows("integrate", m, q[None], k * h * v[None])[0]) for k in (1, -1, 2, -2)]
    here, energy = body_poses(m, q), 0.0
    for b, T in enumerate(here):
        dT = (8 * (at[0][b] - at[1][b]) - (at[2][b] - at[3][b])) / (12 * h)
        W = T[:3, :3].T @ dT[:3, :3]
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        u = dT[:3, :3] @ m.p_body_com[b] + dT[:3, 3]
        energy += (m.mass[b] * u @ u + w @ m.I_com[b] @ w) / 2
    return energy


@EVERY
def test_power_is_the_change_of_energy(name: str):
    m, random = case(name), rng(f"power {name}")
    q, v, dv = states(m, random, ROWS)
    h, total = 1e-3, []
    for k in (1, -1, 2, -2):  # along a motion of these velocities and accelerations
        t = k * h
        moved = rows("integrate", m, q, t * v + t * t / 2 * dv)
        speed = v + t * dv
        total.append(rows("kinetic_energy", m, moved, speed) + rows("potential_energy", m, moved))
    change = (8 * (total[0] - total[1]) - (total[2] - total[3])) / (12 * h)
    tau = rows("inverse_dynamics", m, q, v, dv)
    near(np.einsum("ni,ni->n", tau, v), change, 1e-7)


@EVERY
def test_external_wrenches_act_through_the_jacobian(name: str):
    m, random = case(name), rng(f"wrench {name}")
    q, v, dv = states(m, random, ROWS)
    plain = rows("inverse_dynamics", m, q, v, dv)
    moving = [k for k, b in enumerate(m.frame_body) if b > 0 or m.body_joint_types[0].n_v]
    for k in random.choice(moving, 2):
        frame, w = m.frame_names[k], random.normal(size=(ROWS, 6))
        J = rows("jacobian", m, q, frame=frame, reference="world-aligned")
        got = rows("inverse_dynamics", m, q, v, dv, parameters={f"wrench:{frame}": w})
        near(got, plain - np.einsum("nij,ni->nj", J, w), 1e-12)


@EVERY
def test_losses_resist_the_velocities(name: str):
    m, random = case(name), rng(f"losses {name}")
    q, v, dv = states(m, random, ROWS)
    v[0, ::2] = 0.0
    losses = {key: random.uniform(0, 1, m.n_v) for key in ("damping", "friction")}
    got = rows("inverse_dynamics", m, q, v, dv, parameters=losses)
    expected = losses["damping"] * v + losses["friction"] * np.sign(v)
    near(got - rows("inverse_dynamics", m, q, v, dv), expected, 1e-11)
    got = rows("bias_forces", m, q, v, parameters=losses)
    near(got - rows("bias_forces", m, q, v), expected, 1e-11)


@EVERY
def test_the_coriolis_matrix(name: str):
    m, random = case(name), rng(f"coriolis {name}")
    q, v, _ = states(m, random, ROWS)
    C = rows("coriolis_matrix", m, q, v)
    bias = np.einsum("nij,nj->ni", C, v) + rows("gravity_forces", m, q)
    near(bias, rows("bias_forces", m, q, v), 1e-12)
    slope = differences(lambda moved: rows("mass_matrix", m, moved), q, m)
    rate = np.einsum("nijk,nk->nij", slope, v)
    skew = rate - 2 * C
    near(skew, -np.swapaxes(skew, 1, 2), 1e-8)


@EVERY
def test_the_regressor(name: str):
    m, random = case(name), rng(f"regressor {name}")
    q, v, dv = states(m, random, ROWS)
    p = np.concatenate([ten_numbers(m, b) for b in range(m.n_bodies)])
    for g in ({}, {"gravity": random.normal(size=3)}):
        Y = rows("regressor", m, q, v, dv, parameters=g)
        near(Y @ p, rows("inverse_dynamics", m, q, v, dv, parameters=g), 1e-12)


def ten_numbers(m: Mechanism, body: int) -> np.ndarray:
    """m, m c and the inertia about the origin, of a body in the frame of its own link."""
    k = m.frame(m.body_names[body])
    R, p = m.R_body_frame[k], m.p_body_frame[k]
    c, mass = R.T @ (m.p_body_com[body] - p), m.mass[body]
    about = R.T @ m.I_com[body] @ R + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, about[np.triu_indices(3)]])


# ----------------------------------------------------------------------------------- derivatives

DERIVATIVES = {
    "inverse_dynamics_derivatives": "inverse_dynamics",
    "forward_dynamics_derivatives": "forward_dynamics",
}


@EVERY
@pytest.mark.parametrize("derivatives", DERIVATIVES)
@pytest.mark.parametrize("with_all", [False, True])
def test_derivatives(name: str, derivatives: str, with_all: bool):
    """Against differences along `integrate`, and against the derivative of the graph."""
    m, random, of = case(name), rng(f"{derivatives} {name}"), DERIVATIVES[derivatives]
    q, v, u = states(m, random, 2)
    more = everything(m, random) if with_all else {}
    if of == "inverse_dynamics":
        more.pop("friction", None)  # it depends on signs alone
    got = rows(derivatives, m, q, v, u, parameters=more)

    def value(moved: np.ndarray) -> np.ndarray:
        return rows(of, m, moved, repeated(v, moved), repeated(u, moved), parameters=more)

    near(got[:, 0], differences(value, q, m), 1e-7)
    if of == "forward_dynamics" and m.n_v > 12:
        return  # its graph takes seconds to differentiate
    function = graph(of, m, tuple(more))
    symbols = [cs.SX.sym(f"x{k}", function.size1_in(k)) for k in range(function.n_in())]
    result = function(*symbols)
    slope = cs.Function("d", symbols, [cs.densify(cs.jacobian(result, s)) for s in symbols[1:3]])
    for row in range(len(q)):
        by_v, by_u = slope(q[row], v[row], u[row], *more.values())
        near(got[row, 1], np.array(by_v).reshape(m.n_v, m.n_v), 1e-9)
        near(got[row, 2], np.array(by_u).reshape(m.n_v, m.n_v), 1e-9)


@EVERY
def test_derivatives_by_q_are_those_of_the_graph(name: str):
    m, random = case(name), rng(f"graph {name}")
    q, v, dv = states(m, random, 2)
    function, moved = graph("inverse_dynamics", m), graph("integrate", m)
    symbols = [cs.SX.sym(f"x{k}", size) for k, size in enumerate((m.n_q, m.n_v, m.n_v))]
    step = cs.SX.sym("step", m.n_v)
    near_q = cs.jacobian(moved(symbols[0], step), step)
    near_q = cs.substitute(near_q, step, 1e-9 * cs.DM.ones(m.n_v))  # 0 / 0 where a turn is none
    slope = cs.jacobian(function(*symbols), symbols[0]) @ near_q
    exact = cs.Function("d", symbols, [cs.densify(slope)])
    got = rows("inverse_dynamics_derivatives", m, q, v, dv)[:, 0]
    for row in range(len(q)):
        expected = np.array(exact(q[row], v[row], dv[row])).reshape(m.n_v, m.n_v)
        near(got[row], expected, 1e-7)


# ---------------------------------------------------------------------- momentum, centre, frames


@EVERY
def test_centroidal_momentum(name: str):
    m, random = case(name), rng(f"momentum {name}")
    q, v, _ = states(m, random, ROWS)
    momentum = rows("centroidal_momentum", m, q, v)
    A = rows("centroidal_matrix", m, q)
    near(np.einsum("nij,nj->ni", A, v), momentum, 1e-12)
    near(momentum[:, :3], m.mass.sum() * rows("com_velocity", m, q, v), 1e-12)
    expected = [body_momentum(m, row, speed) for row, speed in zip(q, v, strict=True)]
    near(momentum[:, 3:], np.array(expected), 1e-9)


def body_momentum(m: Mechanism, q: np.ndarray, v: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """The angular momentum about the centre of mass, by differences of poses."""
    at = [body_poses(m, rows("integrate", m, q[None], k * h * v[None])[0]) for k in (1, -1, 2, -2)]
    _, centre, _ = total_inertia(m, q)
    angular = np.zeros(3)
    for b, T in enumerate(body_poses(m, q)):
        dT = (8 * (at[0][b] - at[1][b]) - (at[2][b] - at[3][b])) / (12 * h)
        W = T[:3, :3].T @ dT[:3, :3]
        w = np.array([W[2, 1], W[0, 2], W[1, 0]])
        u = dT[:3, :3] @ m.p_body_com[b] + dT[:3, 3]
        arm = T[:3, :3] @ m.p_body_com[b] + T[:3, 3] - centre
        angular += m.mass[b] * np.cross(arm, u) + T[:3, :3] @ m.I_com[b] @ w
    return angular


@EVERY
def test_the_centre_of_mass_obeys_newton(name: str):
    m, random = case(name), rng(f"centre {name}")
    q, v, dv = states(m, random, ROWS)
    J = rows("com_jacobian", m, q)
    near(rows("com_velocity", m, q, v), np.einsum("nij,nj->ni", J, v), 1e-12)
    got = rows("com_acceleration", m, q, v, dv)
    h = 1e-3
    speeds = []
    for t in (h, -h, 2 * h, -2 * h):
        moved = rows("integrate", m, q, t * v + t * t / 2 * dv)
        speeds.append(rows("com_velocity", m, moved, v + t * dv))
    slope = (8 * (speeds[0] - speeds[1]) - (speeds[2] - speeds[3])) / (12 * h)
    near(got, slope, 1e-8)
    if m.body_joint_types[0].n_v:  # what is free is moved by gravity and the base's force alone
        tau = rows("inverse_dynamics", m, q, v, dv)
        R = rows("fk", m, q, frame=m.body_names[0])[:, :3, :3]
        force = np.einsum("nij,nj->ni", R, tau[:, :3])
        near(m.mass.sum() * (got - GRAVITY), force, 1e-11)


@EVERY
def test_frames(name: str):
    m, random = case(name), rng(f"frames {name}")
    q, v, dv = states(m, random, ROWS)
    for reference in ("world-aligned", "local", "world"):
        frame = m.frame_names[int(random.integers(len(m.frame_names)))]
        static = {"frame": frame, "reference": reference}
        J = rows("jacobian", m, q, **static)
        near(rows("frame_velocity", m, q, v, **static), np.einsum("nij,nj->ni", J, v), 1e-12)
        expected = np.einsum("nij,nj->ni", J, dv) + rows("jacobian_dot_v", m, q, v, **static)
        near(rows("frame_acceleration", m, q, v, dv, **static), expected, 1e-12)
        change = rows("jacobian_dot", m, q, v, **static)
        whole = np.einsum("nij,nj->ni", J, dv) + np.einsum("nij,nj->ni", change, v)
        near(whole, expected, 1e-12)


# ------------------------------------------------------------------------------------- couplings


def test_a_coupled_joint_weighs_on_its_leader():
    """A mechanism with couplings is the one without them, its velocities tied."""
    coupled = [
        name
        for name in case_texts()
        if case(name).n_v < sum(kind.n_v for kind in case(name).body_joint_types)
    ]
    assert len(coupled) >= 3
    for name in coupled:
        text, base = case_texts()[name]
        m, free = case(name), uncoupled(text, base)
        G, shift = tie(m, free)
        q, v, dv = states(m, rng(f"tied {name}"), ROWS)
        Q = np.array([positions(m, free, row, shift) for row in q])
        M = rows("mass_matrix", free, Q)
        near(rows("mass_matrix", m, q), G.T @ M @ G, 1e-12)
        tau = rows("inverse_dynamics", free, Q, v @ G.T, dv @ G.T)
        near(rows("inverse_dynamics", m, q, v, dv), tau @ G, 1e-12)


def uncoupled(text: str, base: str) -> Mechanism:
    import re  # noqa: PLC0415

    from robots import mechanism_from  # noqa: PLC0415

    return mechanism_from(re.sub(r"<mimic [^>]*/>", "", text), base)


def tie(m: Mechanism, free: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """The matrix that makes the free one's v of the tied one's, and shifts of its q."""
    G, shift = np.zeros((free.n_v, m.n_v)), np.zeros(free.n_q)
    for b, joint in enumerate(m.body_joint_names):
        c, n = int(m.coordinate[b]), m.body_joint_types[b].n_v
        if c >= 0:
            k = free.joint(joint)
            at, own = int(free.v_start[k]), int(m.v_start[c])
            G[at : at + n, own : own + n] = m.multiplier[b] * np.eye(n)
            shift[free.q_start[k]] = m.offset[b]
    return G, shift


def positions(m: Mechanism, free: Mechanism, q: np.ndarray, shift: np.ndarray) -> np.ndarray:
    result = shift.copy()
    for b, joint in enumerate(m.body_joint_names):
        c = int(m.coordinate[b])
        if c >= 0:
            k = free.joint(joint)
            own = m.multiplier[b] * q[m.q_start[c] : m.q_start[c + 1]]
            result[free.q_start[k] : free.q_start[k + 1]] += own
    return result
