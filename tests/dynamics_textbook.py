"""Dynamics as textbooks have it, slow and plain: a second opinion for tests.

Spatial vectors have the angular part first, as in R. Featherstone, Rigid Body Dynamics Algorithms
(2008). Nothing of the library is used but the arrays of a mechanism.
"""

from __future__ import annotations

import casadi as cs
import numpy as np

from linkwork.conventions import GRAVITY
from linkwork.mechanism.model import JointType, Mechanism
from robots import mechanism_from, random_configuration, random_tree


def skew(v: np.ndarray) -> np.ndarray:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def motion_transform(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Coordinates of a motion in a frame placed at R, p, from those in the reference."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[3:, :3] = -R.T @ skew(p)
    return X


def cross_motion(v: np.ndarray) -> np.ndarray:
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = skew(v[:3])
    X[3:, :3] = skew(v[3:])
    return X


def spatial_inertia(m: Mechanism, body: int) -> np.ndarray:
    mass, C = m.mass[body], skew(m.p_body_com[body])
    top = np.hstack([m.I_com[body] + mass * C @ C.T, mass * C])
    return np.vstack([top, np.hstack([mass * C.T, mass * np.eye(3)])])


def own_numbers(m: Mechanism, body: int, values: np.ndarray, start: np.ndarray) -> np.ndarray:
    c = m.coordinate[body]
    return values[start[c] : start[c + 1]] if c >= 0 else np.zeros(0)


def joint(m: Mechanism, body: int, q: np.ndarray, v: np.ndarray):
    """Rotation and place of the body in its joint frame, columns S in the body, and dS/dt v."""
    kind, factor = m.body_joint_types[body], m.multiplier[body]
    position = factor * own_numbers(m, body, q, m.q_start) + m.offset[body]
    rate = factor * own_numbers(m, body, v, m.v_start)
    R, p, S = np.eye(3), np.zeros(3), np.zeros((6, kind.n_v))
    change = np.zeros(6)
    if kind.turns or kind is JointType.PLANAR:
        c, s = np.cos(position[-1]), np.sin(position[-1])
        R[:2, :2] = [[c, -s], [s, c]]
        S[2, -1] = 1
    if kind is JointType.PRISMATIC:
        p[2], S[5, 0] = position[0], 1
    if kind is JointType.PLANAR:
        p[:2] = position[:2]
        S[3:, :2] = R.T[:, :2]
        change[3:] = -rate[2] * skew(np.array([0, 0, 1.0])) @ R.T @ [rate[0], rate[1], 0]
    if kind.has_quaternion:
        n = kind.n_lengths
        w, x, y, z = position[n:] / np.linalg.norm(position[n:])
        K = skew(np.array([x, y, z]))
        R = np.eye(3) + 2 * w * K + 2 * K @ K
        p[:n] = position[:n]
        S[3 : 3 + n, :n], S[:3, n:] = np.eye(n), np.eye(3)
    return R, p, factor * S, change


def _ways(m: Mechanism, q: np.ndarray, v: np.ndarray):
    for body in range(m.n_bodies):
        R, p, S, change = joint(m, body, q, v)
        at = m.R_parent_joint[body]
        yield motion_transform(at @ R, m.p_parent_joint[body] + at @ p), S, change


def columns(m: Mechanism, body: int) -> slice:
    c = m.coordinate[body]
    return slice(m.v_start[c], m.v_start[c + 1]) if c >= 0 else slice(0, 0)


def inverse_dynamics(
    m: Mechanism, q: np.ndarray, v: np.ndarray, dv: np.ndarray, gravity=GRAVITY
) -> np.ndarray:
    """Featherstone's table 5.1."""
    ways = list(_ways(m, q, v))
    speed, push, wrench = [], [], []
    for body, (X, S, change) in enumerate(ways):
        parent, own = m.parent[body], columns(m, body)
        before = speed[parent] if parent >= 0 else np.zeros(6)
        start = push[parent] if parent >= 0 else np.concatenate([np.zeros(3), -np.array(gravity)])
        relative = S @ v[own]
        now = X @ before + relative
        speed.append(now)
        push.append(X @ start + S @ dv[own] + change + cross_motion(now) @ relative)
        inertia = spatial_inertia(m, body)
        wrench.append(inertia @ push[body] - cross_motion(now).T @ inertia @ now)
    tau = np.zeros(m.n_v)
    for body in range(m.n_bodies - 1, -1, -1):
        X, S, _ = ways[body]
        tau[columns(m, body)] += S.T @ wrench[body]
        if m.parent[body] >= 0:
            wrench[m.parent[body]] += X.T @ wrench[body]
    return tau


def body_jacobians(m: Mechanism, q: np.ndarray) -> list[np.ndarray]:
    """For each body the matrix (6, nv) from v to its motion, in its own axes."""
    found: list[np.ndarray] = []
    for body, (X, S, _) in enumerate(_ways(m, q, np.zeros(m.n_v))):
        parent = m.parent[body]
        J = X @ found[parent] if parent >= 0 else np.zeros((6, m.n_v))
        J[:, columns(m, body)] += S
        found.append(J)
    return found


def mass_matrix(m: Mechanism, q: np.ndarray) -> np.ndarray:
    """The sum over the bodies of Jᵀ I J."""
    jacobians = body_jacobians(m, q)
    parts = [J.T @ spatial_inertia(m, body) @ J for body, J in enumerate(jacobians)]
    return np.sum(parts, axis=0)


def lagrange(m: Mechanism) -> cs.Function:
    """Joint forces (q, v, dv) -> tau from the energies alone; for joints with v = dq/dt.

    The kinetic energy is the trace of dT/dt P dT/dtᵀ / 2 with second moments P (4, 4) of each body.
    """
    q, v, dv = (cs.SX.sym(name, m.n_v) for name in ("q", "v", "dv"))
    poses: list[cs.SX] = []
    kinetic, potential = 0, 0
    for body, kind in enumerate(m.body_joint_types):
        own = m.multiplier[body] * q[columns(m, body)] + m.offset[body]
        T, at = cs.SX.eye(4), np.eye(4)
        at[:3, :3], at[:3, 3] = m.R_parent_joint[body], m.p_parent_joint[body]
        if kind.turns or kind is JointType.PLANAR:
            c, s = cs.cos(own[-1]), cs.sin(own[-1])
            T[0, 0], T[0, 1], T[1, 0], T[1, 1] = c, -s, s, c
        if kind is JointType.PLANAR:
            T[0, 3], T[1, 3] = own[0], own[1]
        if kind is JointType.PRISMATIC:
            T[2, 3] = own[0]
        before = poses[m.parent[body]] if m.parent[body] >= 0 else cs.SX.eye(4)
        poses.append(before @ cs.SX(at) @ T)
        mass, c = m.mass[body], m.p_body_com[body]
        about_com = np.trace(m.I_com[body]) / 2 * np.eye(3) - m.I_com[body]
        second = np.zeros((4, 4))
        second[:3, :3] = about_com + mass * np.outer(c, c)
        second[:3, 3] = second[3, :3] = mass * c
        second[3, 3] = mass
        rate = cs.reshape(cs.jtimes(cs.vec(poses[body]), q, v), 4, 4)
        kinetic += cs.trace(rate @ second @ rate.T) / 2
        centre = poses[body] @ cs.vertcat(*c, 1)
        potential += -mass * cs.dot(cs.DM(GRAVITY), centre[:3])
    momentum = cs.gradient(kinetic, v)
    tau = cs.jtimes(momentum, q, v) + cs.jtimes(momentum, v, dv)
    tau += cs.gradient(potential - kinetic, q)
    return cs.Function("lagrange", [q, v, dv], [tau])


def state(random: np.random.Generator, m: Mechanism):
    """A configuration, a velocity, an acceleration."""
    return random_configuration(random, m), random.normal(size=m.n_v), random.normal(size=m.n_v)


def sound_trees(random: np.random.Generator, n: int, **options) -> list[Mechanism]:
    """Random trees whose mass matrix is regular to nine digits, on fixed and on floating bases."""
    found: list[Mechanism] = []
    while len(found) < n:
        base = "floating" if len(found) % 3 == 0 else "fixed"
        text = random_tree(random, int(random.integers(1, 10)), **options)
        m = mechanism_from(text, base=base)
        values = np.linalg.eigvalsh(mass_matrix(m, random_configuration(random, m)))
        if m.n_v and values[0] > 1e-6 * values[-1]:
            found.append(m)
    return found
