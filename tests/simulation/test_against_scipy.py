"""Random small mechanisms, open and closed, against SciPy's stiff solvers.

SciPy integrates `Robot.forward_dynamics` with the forces written down a second time, part after
part between the instants at which they jump. `ACTING` has what acts; each entry gives the arguments
of `lw.simulate` and the same force as a function of (t, q, v).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from seeds import rng

integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")

DURATION, STEP = 0.5, 2.5e-4
DOWN = np.array([0.0, -9.80665, 0.0])


@dataclass
class Acting:
    """What acts on a robot: as arguments, as a force (nv,), and when it jumps."""

    options: dict[str, Any]
    force: Callable[[float, np.ndarray, np.ndarray], Any] = lambda t, q, v: 0.0
    gravity: Callable[[float], Any] = lambda t: DOWN
    breakpoints: list[float] = field(default_factory=list)


def damping(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Dampers of the description, from almost none to overdamped."""
    return Acting({"losses": True}, lambda t, q, v: -robot.mechanism.damping * v)


def control(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Springs and dampers at the actuated joints, to a target that swings."""
    driven = np.isin(robot.joint_names, robot.actuated or robot.joint_names)
    kp, kd = 10.0 ** random.uniform(0, 2) * driven, 10.0 ** random.uniform(-2, 0) * driven

    def target(t):
        return q0 + 0.3 * np.sin(5.0 * t) * driven

    law = lw.PD(kp, kd, q_target=target)
    return Acting({"torque": law}, lambda t, q, v: kp * (target(t) - q) - kd * v)


def stiff_control(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Dampers that slow each joint within 50 us, a fifth of a step."""
    driven = np.isin(robot.joint_names, robot.actuated or robot.joint_names)
    kd = 2e4 * driven * np.diagonal(robot.mass_matrix(q0))
    kp = 10.0 * kd
    return Acting(
        {"torque": lw.PD(kp, kd, q_target=q0 + 0.2)},
        lambda t, q, v: kp * (q0 + 0.2 - q) - kd * v,
    )


def pulse(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """1 ms of another gravity, at any time."""
    begin = random.uniform(0.0, DURATION - 1e-3)
    end, more = begin + 1e-3, random.uniform(-500.0, 500.0, 3)

    def gravity(t):
        return DOWN + more * (begin <= t < end)

    return Acting({"gravity": gravity}, gravity=gravity, breakpoints=[begin, end])


ACTING = {
    # what acts, methods and how near they must come (rad, rad/s, m, m/s beside 1 and the speeds)
    "damping": (damping, {"rk4": 1e-6, "dopri5": 1e-6, "implicit": 1e-3}),
    "control": (control, {"rk4": 1e-6, "dopri5": 1e-6, "implicit": 1e-3}),
    "stiff control": (stiff_control, {"implicit": 1e-3}),
    "pulse": (pulse, {"dopri5": 1e-6}),
}


def random_arm(label: str) -> Any:
    """Three bodies one after the other, on hinges and slides with skew axes, with dampers."""
    random = rng(label)
    text = '<robot name="arm"><link name="l0"/>'
    for k in range(1, 4):
        kind = "prismatic" if random.random() < 0.3 else "revolute"
        mass, size = 10.0 ** random.uniform(-1, 1), random.uniform(0.05, 0.1, 3)
        xyz, rpy, axis, com = (" ".join(map(str, random.uniform(-0.5, 0.5, 3))) for _ in range(4))
        ixx, iyy, izz = mass * size
        text += (
            f'<link name="l{k}"><inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia '
            f'ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            '<limit lower="-9" upper="9" velocity="9" effort="9"/>'
            f'<dynamics damping="{10.0 ** random.uniform(-2, 1)}"/></joint>'
        )
    return lw.load(text + "</robot>")


def start_of(robot: Any, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if robot.loops:
        q = robot.neutral()
        return q, robot.passive_rates(q) @ random.uniform(-0.5, 0.5, len(robot.actuated))
    return random.uniform(-1.0, 1.0, robot.n_q), random.uniform(-1.0, 1.0, robot.n_v)


def expected(robot: Any, start: tuple[np.ndarray, np.ndarray], acting: Acting) -> np.ndarray:
    """The last state by SciPy's Radau, which stiffness does not matter to."""
    n = robot.n_q

    def slope(t: float, y: np.ndarray, last: float) -> np.ndarray:
        q, v, at = y[:n], y[n:], min(t, last)
        tau = acting.force(at, q, v) * np.ones(n)
        return np.r_[v, robot.forward_dynamics(q, v, tau, gravity=acting.gravity(at))]

    y, edges = np.concatenate(start), [0.0, *acting.breakpoints, DURATION]
    for begin, end in pairwise(edges):
        last = np.nextafter(end, begin)  # of this part
        found = integrate.solve_ivp(
            slope, (begin, end), y, "Radau", args=(last,), rtol=1e-9, atol=1e-10
        )
        assert found.success
        y = found.y[:, -1]
    return y


NAMES = ["arm 0", "four_bar"]
MORE = ["arm 1", "arm 2", "arm 3", "slider_crank", "five_bar"]


@pytest.mark.parametrize("kind", ACTING)
@pytest.mark.parametrize(
    "name", [*NAMES, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)]
)
def test_what_acts_moves_mechanisms_as_in_scipy(name: str, kind: str):
    robot = random_arm(name) if name.startswith("arm") else lw.load(name)
    make, methods = ACTING[kind]
    random = rng(f"{name} {kind}")
    start = start_of(robot, random)
    acting = make(robot, start[0], random)
    wanted = expected(robot, start, acting)
    scale = 1.0 + np.abs(wanted).max()
    for method, close in methods.items():
        more = {"breakpoints": acting.breakpoints} if method == "dopri5" else {}
        found = lw.simulate(
            robot, *start, DURATION, method=method, record=0, dt=STEP,
            **{"gravity": DOWN, **acting.options, **more},
        )  # fmt: skip
        assert found.finished, found.reason
        last = np.r_[found.q[-1], found.v[-1]]
        np.testing.assert_allclose(last, wanted, rtol=0.0, atol=close * scale, err_msg=method)
