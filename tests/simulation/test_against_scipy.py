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


def saturation(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Drives that ask for more than their efforts at first, and for less as they arrive."""
    driven = np.isin(robot.joint_names, robot.actuated or robot.joint_names)
    inertia = driven * np.diagonal(robot.mass_matrix(q0))
    kp, kd, most = 900.0 * inertia, 60.0 * inertia, 40.0 * inertia + 1e-9
    target = q0 + 0.2 * driven
    law = lw.PD(kp, kd, q_target=target, effort_limit=most)
    return Acting({"torque": law}, lambda t, q, v: np.clip(kp * (target - q) - kd * v, -most, most))


def held_by_stops(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Stops on both sides of the start, which damp over their first millimetre or milliradian."""
    moving = robot.actuated or robot.joint_names
    rows = [robot.joint_names.index(name) for name in moving]
    inertia = np.diagonal(robot.mass_matrix(q0))[rows]
    stiffness, damping, width = 4e4 * inertia, 200.0 * inertia, 1e-3
    lower, upper = (getattr(robot.limits, side)[rows] for side in ("lower", "upper"))

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        found = np.zeros(robot.n_v)
        for limit, side in ((lower, -1.0), (upper, 1.0)):
            depth = np.maximum(side * (q[rows] - limit), 0.0)
            inward = np.minimum(depth / width, 1.0) * damping * side * v[rows]
            found[rows] -= side * np.maximum(stiffness * depth + inward, 0.0) * (depth > 0.0)
        return found

    stops = lw.Stops(stiffness, damping, list(moving), width=width)
    return Acting({"stops": stops}, push)


CREEP = 1e-7
"""The speed (rad/s, m/s) below which SciPy's friction is proportional to it."""


def friction(robot: Any, q0: np.ndarray, random: np.random.Generator) -> Acting:
    """Dampers and dry friction, by which some joints stand still for a while."""
    m = robot.mechanism
    return Acting(
        {"losses": True},
        lambda t, q, v: -m.damping * v - m.friction * np.clip(v / CREEP, -1.0, 1.0),
    )


ACTING = {
    # what acts, methods and how near they must come (rad, rad/s, m, m/s beside 1 and the speeds)
    "damping": (damping, {"rk4": 1e-6, "dopri5": 1e-6, "implicit": 1e-3}),
    "control": (control, {"rk4": 1e-6, "dopri5": 1e-6, "implicit": 1e-3}),
    "stiff control": (stiff_control, {"implicit": 1e-3}),
    "pulse": (pulse, {"dopri5": 1e-6}),
    "saturation": (saturation, {"rk4": 1e-4, "dopri5": 1e-5, "implicit": 1e-3}),
    "stops": (held_by_stops, {"rk4": 1e-3, "dopri5": 1e-5, "implicit": 5e-3}),
    "friction": (friction, {"rk4": 1e-3, "implicit": 2e-3}),
}


def random_arm(label: str, *, limit: float = 9.0, dry: bool = False) -> Any:
    """Three bodies one after the other, on hinges and slides with skew axes, with dampers."""
    random, rubbing = rng(label), rng(f"{label} friction")
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
            f'<limit lower="{-limit}" upper="{limit}" velocity="9" effort="9"/>'
            f'<dynamics damping="{10.0 ** random.uniform(-2, 1)}" '
            f'friction="{dry * 10.0 ** rubbing.uniform(-1, 1)}"/></joint>'
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


NAMES = ["arm 0", "arm 1", "slider_crank", "five_bar"]
"""One slide at the base, two behind a hinge; loops with a slide, and with two freedoms."""
OF_ARMS = ("stops", "friction")
"""What the bundled mechanisms have not in their descriptions."""

DEFAULT = [("arm 0", kind) for kind in ACTING if kind != "stops"]
CASES = [
    pytest.param(name, kind, marks=() if (name, kind) in DEFAULT else pytest.mark.slow)
    for name in NAMES
    for kind in ACTING
    if name.startswith("arm") or kind not in OF_ARMS
]


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_acts_moves_mechanisms_as_in_scipy(name: str, kind: str):
    if name.startswith("arm"):
        robot = random_arm(name, limit=1.05 if kind == "stops" else 9.0, dry=kind == "friction")
    else:
        robot = lw.load(name)
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


def test_the_wrist_of_the_page_that_weighs_next_to_nothing():
    """docs/simulation.md: bounded drives in steps that do not resolve what the wrist takes."""
    arm, most = lw.load("ur5e"), lw.load("ur5e").limits.effort
    target = np.array([1.0, -1.2, 1.0, -0.8, 1.0, 0.5])

    def slope(t, y):
        q, v = y[:6], y[6:]
        tau = np.clip(400.0 * (target - q) - 40.0 * v, -most, most)
        return np.concatenate([v, arm.forward_dynamics(q, v, tau)])

    law = lw.PD(400.0, 40.0, q_target=target, effort_limit=most)
    found = lw.simulate(arm, np.zeros(6), duration=1.0, torque=law, method="implicit")
    exact = integrate.solve_ivp(
        slope, (0, 1), np.zeros(12), "LSODA", rtol=1e-9, atol=1e-11, t_eval=found.times
    )
    away = np.abs(found.q - exact.y[:6].T).max(axis=1)
    assert away.max() < 2.7e-3
    assert away[-1] < 4e-7
