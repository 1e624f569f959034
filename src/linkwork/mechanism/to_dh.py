"""The Denavit-Hartenberg table of a serial chain, by the common normals of its joints' axes."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from linkwork.errors import UnsupportedFeatureError
from linkwork.formats.dh import Convention, DHRow, DHTable, check_convention, matrix_of
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.spatial.inertias import turned
from linkwork.spatial.poses import pose_matrix

_KINDS: dict[JointType, Literal["revolute", "prismatic"]] = {
    JointType.REVOLUTE: "revolute",
    JointType.CONTINUOUS: "revolute",
    JointType.PRISMATIC: "prismatic",
}
_PARALLEL = 1e-12
"""Sine of the angle, and length (m), up to which axes count as parallel or as crossing: what is
left of rounding where they are."""


def to_dh(m: Mechanism, tip: str, *, convention: Convention = "standard") -> DHTable:
    """The table with the poses of a frame ``tip`` for every q, and with the links' inertias.

    Any chain of joints that turn or slide has one. The z axes lie along the joints, each x axis
    along the common normal of two; where axes are parallel, or cross, and a parameter is free, it
    is chosen to be zero. ``base`` takes what is before the first joint, ``tool`` what is behind the
    last. Armature, and the mass of what does not move, have no place in a table.

    Source: J. J. Craig, Introduction to Robotics (1986), sections 3.4 and 3.5.
    Raises: UnknownNameError; UnsupportedFeatureError for branches, loops, coupled joints, a
    floating base and joints with several positions, naming the link or the joint; InputError.
    """
    check_convention(convention)
    frame = m.frame(tip)
    bodies = _chain(m, int(m.frame_body[frame]))
    fixed = [pose_matrix(m.R_parent_joint[b], m.p_parent_joint[b]) for b in bodies]
    end = pose_matrix(m.R_body_frame[frame], m.p_body_frame[frame])
    standard = convention == "standard"
    # each constant pose between two joints is a screw along z, one along x, and one along z
    screws = [_screws(T, late=standard) for T in (*fixed, end)]
    rows: list[DHRow] = []
    if standard:
        base = fixed[0]
        screws[0] = _Screws(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        base = _along_z(screws[0].theta_0, screws[0].d_0)
    for k, body in enumerate(bodies):
        own, following = screws[k], screws[k + 1]
        theta, d = own.theta_1 + following.theta_0, own.d_1 + following.d_0
        x = following if standard else own
        # where the row's frame lies in the body's, which moves with the joint
        T_body_link = _along_z(following.theta_0, following.d_0)
        if standard:
            T_body_link = T_body_link @ _along_x(x.alpha, x.a)
        parameters = {"theta": _angle(theta), "d": d, "a": x.a, "alpha": x.alpha}
        rows.append(_row(m, body, parameters, T_body_link))
    last = screws[-1]
    tool = _along_z(last.theta_1, last.d_1)
    if not standard:
        tool = _along_x(last.alpha, last.a) @ tool
    return DHTable(
        rows=tuple(rows),
        convention=convention,
        base=matrix_of(base),
        tool=matrix_of(tool),
        name=m.name,
    )


def _chain(m: Mechanism, last: int) -> list[int]:
    """The bodies that move, from the first joint to the last."""

    def refuse(why: str) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(f"'{m.name}' has no Denavit-Hartenberg table: {why}")

    if m.is_closed:
        raise refuse("it has loops or couplings, and a table is a chain")
    chain = m.ancestry(last)
    others = sorted(set(range(m.n_bodies)) - set(chain))
    if others:
        name = m.body_joint_names[others[0]]
        raise refuse(f"joint '{name}' lies beside the chain; take robot.subchain(base, tip) of it")
    moving = [b for b in chain if m.body_joint_types[b] is not JointType.FIXED]
    followers = set(m.followers())
    for body in moving:
        name, kind = m.body_joint_names[body], m.body_joint_types[body]
        if kind not in _KINDS:
            raise refuse(f"joint '{name}' is {kind.label}; joints of a table turn or slide")
        if body in followers:
            raise refuse(f"joint '{name}' follows another one; robot.with_locked holds it still")
    if not moving:
        raise refuse("no joint moves")
    return moving


class _Screws(NamedTuple):
    """A pose as Rz(theta_0) Tz(d_0) Tx(a) Rx(alpha) Rz(theta_1) Tz(d_1)."""

    theta_0: float
    d_0: float
    a: float
    alpha: float
    theta_1: float
    d_1: float


def _screws(T: Floats, *, late: bool) -> _Screws:
    """The screws of a pose (4, 4); ``late``: what is free is left to the first, not to the last.

    x lies along the common normal of the two z axes, at which of its two directions the one that
    turns less is taken.
    """
    p, z = T[:3, 3], T[:3, 2]
    sine = math.hypot(z[0], z[1])
    if sine > _PARALLEL:  # x = z0 × z1 / |z0 × z1|
        normal = np.array([-z[1], z[0], 0.0]) / sine
    else:
        z = np.array([0.0, 0.0, math.copysign(1.0, z[2])])
        away = math.hypot(p[0], p[1])
        if away > _PARALLEL:
            normal = np.array([p[0], p[1], 0.0]) / away
        else:  # one axis: the whole turn is one number
            normal = np.array([T[0, 0], T[1, 0], 0.0]) if late else np.array([1.0, 0.0, 0.0])
    choices = [_along(T, z, sign * normal, late=late) for sign in (1.0, -1.0)]
    return min(choices, key=lambda s: abs(s.theta_1 if late else s.theta_0))


def _along(T: Floats, z: Floats, x: Floats, *, late: bool) -> _Screws:
    """The screws of a pose whose axes are z0 = (0, 0, 1) and z, for a common normal x."""
    p = T[:3, 3]
    theta_0 = math.atan2(x[1], x[0])
    y = np.array([-x[1], x[0], 0.0])
    sine, cosine = -float(y @ z), float(z[2])  # z = cos α z0 - sin α y0
    alpha = math.atan2(sine, cosine)
    a = float(p @ x)
    if abs(sine) > _PARALLEL:  # p = d0 z0 + a x + d1 z
        d_1 = -float(p @ y) / sine
        d_0 = float(p[2]) - d_1 * cosine
    else:
        alpha = 0.0 if cosine > 0.0 else math.pi
        d_0, d_1 = (float(p[2]), 0.0) if late else (0.0, float(p[2]) * cosine)
    # Rz(theta_1) = Rx(-alpha) Rz(-theta_0) R
    rest = (_along_z(theta_0, 0.0) @ _along_x(alpha, 0.0))[:3, :3].T @ T[:3, :3]
    theta_1 = math.atan2(rest[1, 0], rest[0, 0])
    clean = [0.0 if abs(value) < _PARALLEL else value for value in (theta_0, d_0, a, theta_1, d_1)]
    return _Screws(clean[0], clean[1], clean[2], alpha, clean[3], clean[4])


def _angle(theta: float) -> float:
    """An angle in (-pi, pi]."""
    wrapped = math.remainder(theta, 2.0 * math.pi)
    if abs(wrapped) < _PARALLEL:
        return 0.0
    return math.pi if wrapped == -math.pi else wrapped


def _along_z(theta: float, d: float) -> Floats:
    """Rz(theta) Tz(d)."""
    c, s = math.cos(theta), math.sin(theta)
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, d], [0.0, 0.0, 0.0, 1.0]])


def _along_x(alpha: float, a: float) -> Floats:
    """Rx(alpha) Tx(a)."""
    c, s = math.cos(alpha), math.sin(alpha)
    return np.array([[1.0, 0.0, 0.0, a], [0.0, c, -s, 0.0], [0.0, s, c, 0.0], [0.0, 0.0, 0.0, 1.0]])


def _row(m: Mechanism, body: int, parameters: dict[str, Any], T_body_link: Floats) -> DHRow:
    """A row with the joint's limits, and the body's inertia in the frame of the row."""
    c = int(m.coordinate[body])
    q, v = m.q_indices([c])[0], m.v_indices([c])[0]
    R = T_body_link[:3, :3]
    mass = float(m.mass[body])
    com = R.T @ (m.p_body_com[body] - T_body_link[:3, 3])
    inertia = turned(R.T, m.I_com[body])
    upper = np.triu_indices(3)
    has_mass = mass > 0.0 or bool(m.I_com[body].any())
    return DHRow(
        **parameters,
        type=_KINDS[m.body_joint_types[body]],
        joint=m.body_joint_names[body],
        link=_link_at(m, body, T_body_link),
        lower=_bound(m.lower[q]),
        upper=_bound(m.upper[q]),
        velocity=_bound(m.velocity_limit[v]),
        effort=_bound(m.effort_limit[v]),
        damping=float(m.damping[v]),
        friction=float(m.friction[v]),
        mass=mass if has_mass else None,
        com=tuple(com.tolist()) if has_mass else (0.0, 0.0, 0.0),  # pyright: ignore[reportArgumentType]
        inertia=tuple(inertia[upper].tolist()) if has_mass else None,  # pyright: ignore[reportArgumentType]
    )


def _link_at(m: Mechanism, body: int, T_body_link: Floats) -> str:
    """The link whose frame is the row's, or else the one that the joint carries."""
    for k in np.flatnonzero(m.frame_body[: m.n_link_frames] == body).tolist():
        T = pose_matrix(m.R_body_frame[k], m.p_body_frame[k])
        if np.allclose(T, T_body_link, rtol=0.0, atol=1e-9):
            return m.frame_names[k]
    return m.body_names[body]


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
