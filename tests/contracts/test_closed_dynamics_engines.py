"""Dynamics with loops against Pinocchio, against MuJoCo, and against one-freedom equations.

Pinocchio has points and poses that coincide; MuJoCo's own mass matrix, bias and Jacobians of its
equality constraints are solved by NumPy. Accelerations agree within 1e-9 of the largest.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import N, bundled, closing, null_space
from dynamics_cases import near
from dynamics_engines import MuJoCo, Pinocchio, pinocchio
from seeds import rng

WITHIN = 1e-9
POINTS = ("four_bar", "slider_crank", "five_bar", "stewart", "excavator")
"""Mechanisms that points which coincide close: planar ones have no more to be held."""


@cache
def states(name: str) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """A robot, q, v that keeps it assembled, and forces of all joints."""
    random = rng(f"engines {name}")
    if name in ("pose", "position"):
        robot: Any = lw.load("humanoid")
        at = robot.random(seed=random)
        robot = closing(robot, at, ("left_hand", "right_hand"), name)
        q = np.tile(at, (N, 1))
    else:
        robot, q = bundled(name, random)
    J = robot.closure_jacobian(q)
    ways = [null_space(each) for each in J]
    v = np.array([way @ random.normal(size=way.shape[1]) for way in ways])
    return robot, q, v, random.normal(size=v.shape)


def placed(robot: Any, frame: str) -> tuple[str, np.ndarray]:
    """The link that carries a frame, and where it is in the link."""
    m, q = robot.mechanism, robot.neutral()
    link = m.body_names[int(m.frame_body[m.frame(frame)])]
    return link, np.linalg.solve(robot.fk(q, link), robot.fk(q, frame))


@pytest.mark.parametrize(
    "name", [*(pytest.param(n, marks=pytest.mark.slow) for n in (*POINTS, "position")), "pose"]
)
def test_pinocchio(name: str):
    pin = pinocchio()
    robot, q, v, tau = states(name)
    m, pair = robot.mechanism, Pinocchio.of_document(robot.document)
    model = pair.model
    kind = pin.ContactType.CONTACT_6D if name == "pose" else pin.ContactType.CONTACT_3D
    models = pin.StdVec_RigidConstraintModel()
    for loop in m.loops:
        ends = []
        for frame in (loop.frame_a, loop.frame_b):
            link, T = placed(robot, frame)
            own = model.frames[model.getFrameId(link)]
            ends += [own.parentJoint, own.placement * pin.SE3(T)]
        models.append(pin.RigidConstraintModel(kind, model, *ends, pin.ReferenceFrame.LOCAL))
    datas = pin.StdVec_RigidConstraintData()
    for each in models:
        datas.append(each.createData())
    pin.initConstraintDynamics(model, pair.data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-8, 20)
    found = []
    for row in range(len(q)):
        G = pair.tangent(q[row])
        given = pair.configuration(q[row]), G @ v[row], np.linalg.solve(G.T, tau[row])
        dv = pin.constraintDynamics(model, pair.data, *given, models, datas, settings)
        found.append(np.linalg.solve(G, dv))
    near(robot.forward_dynamics(q, v, tau), np.array(found), WITHIN)


@pytest.mark.parametrize(
    "name", [*(pytest.param(n, marks=pytest.mark.slow) for n in (*POINTS, "position")), "pose"]
)
def test_mujoco(name: str):
    mujoco: Any = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is missing")
    robot, q, v, tau = states(name)
    m, engine = robot.mechanism, MuJoCo(mujoco, robot.mechanism)

    def jacobian(at: np.ndarray) -> np.ndarray:
        engine.mass_and_bias(at, np.zeros(m.n_v))
        G, _, _ = engine.placed(at, np.zeros(m.n_v))
        found = []
        for loop in m.loops:
            sides = []
            for frame in (loop.frame_a, loop.frame_b):
                body = engine.model.body(f"b{int(m.frame_body[m.frame(frame)])}").id
                linear, angular = np.zeros((2, 3, engine.model.nv))
                point = robot.fk(at, frame)[:3, 3]
                mujoco.mj_jac(engine.model, engine.data, linear, angular, point, body)
                sides.append(np.vstack([linear, angular]) if loop.kind == "pose" else linear)
            found.append(sides[1] - sides[0])
        return np.vstack(found) @ G

    dv = []
    for row in range(len(q)):
        M, bias = engine.mass_and_bias(q[row], v[row])
        ways = [robot.integrate(q[row], k * 1e-3 * v[row]) for k in (1, -1, 2, -2)]
        rates = [jacobian(at) @ v[row] for at in ways]
        gamma = (8 * (rates[0] - rates[1]) - (rates[2] - rates[3])) / 12e-3
        J = jacobian(q[row])
        free, closing_ = null_space(J), -np.linalg.pinv(J, rcond=1e-9) @ gamma
        push = free.T @ (tau[row] - bias - M @ closing_)
        dv.append(closing_ + free @ np.linalg.solve(free.T @ M @ free, push))
    near(robot.forward_dynamics(q, v, tau), np.array(dv), WITHIN)


# ------------------------------------------------------------------------- one degree of freedom


def slider_crank(t: complex) -> tuple[complex, ...]:
    """Of crank, rod and slider: x and y of the rod's and x of the slider's centre, rod's angle."""
    r, length = 0.05, 0.13
    sine = -r / length * np.sin(t)
    cosine = np.sqrt(1 - sine * sine)
    x, y = r * np.cos(t) + 0.5 * length * cosine, r * np.sin(t) + 0.5 * length * sine
    return x, y, r * np.cos(t) + length * cosine, np.arctan(sine / cosine)


def four_bar(t: complex) -> tuple[complex, ...]:
    """Of crank, coupler and rocker: x and y of the coupler's centre, its and the rocker's angle."""
    a, b, c, ground = 0.06, 0.3, 0.18, 0.3
    x, y = a * np.cos(t), a * np.sin(t)
    wide, high = ground - x, -y
    squared = wide * wide + high * high
    along = (squared + b * b - c * c) / (2 * squared)
    across = np.sqrt(b * b / squared - along * along)
    end_x, end_y = x + along * wide - across * high, y + along * high + across * wide
    tilt, lean = np.arctan((end_y - y) / (end_x - x)), np.arctan((ground - end_x) / end_y)
    return 0.5 * (x + end_x), 0.5 * (y + end_y), tilt, lean


H = 1e-30


def inertia(name: str, t: float, h: float = 1e-4) -> tuple[float, float]:
    """The inertia that the crank feels, and its derivative by the crank's angle.

    Rates by complex steps; the equation is Lagrange's with the kinetic energy I(t) (dt)² / 2.
    """
    m = states(name)[0].mechanism
    masses, about = m.mass[1:], m.I_com[1:, 2, 2]
    arms = np.linalg.norm(m.p_body_com[1:], axis=1)
    carried = about + masses * arms**2  # about the hinge, of what turns about one

    def at(t: float) -> float:
        centre = (slider_crank if name == "slider_crank" else four_bar)(t + 1j * H)
        x, y, third, turn = (complex(value).imag / H for value in centre)
        own = carried[0] + masses[1] * (x * x + y * y)
        if name == "slider_crank":
            return own + about[1] * turn**2 + masses[2] * third**2
        return own + about[1] * third**2 + carried[2] * turn**2

    slope = (8 * (at(t + h) - at(t - h)) - (at(t + 2 * h) - at(t - 2 * h))) / (12 * h)
    return at(t), slope


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_one_degree_of_freedom(name: str):
    robot, q, v, _ = states(name)
    at = robot.mechanism.v_start[robot.mechanism.joint("crank")]
    tau = np.zeros_like(v)
    tau[:, at] = 0.02
    dv = robot.forward_dynamics(q, v, tau)
    back = robot.inverse_dynamics(q, v, dv)
    for row in range(len(q)):
        feels, slope = inertia(name, float(q[row, at]))
        rate = v[row, at]
        expected = (tau[row, at] - 0.5 * slope * rate**2) / feels
        assert dv[row, at] == pytest.approx(expected, rel=1e-8)
        assert back[row, at] == pytest.approx(tau[row, at], rel=1e-8)
