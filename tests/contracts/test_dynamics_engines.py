"""Dynamics field by field against Pinocchio, MuJoCo and exudyn: real robots, and made-up ones.

Every engine has each joint as its own; what coupled joints do goes to their leaders by virtual
power (`dynamics_engines`). Numbers agree within 1e-9 of the largest of their array.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynamics_cases import case, case_texts, condition, near, rows, states
from dynamics_engines import Exudyn, MuJoCo, Pinocchio, pinocchio
from linkwork.formats.urdf.read import read
from linkwork.mechanism.dynamics_checks import check_inertias, check_movable
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType, Mechanism
from robots import example_robot_urdfs
from seeds import rng

pytestmark = pytest.mark.sweep(2, by="name")

WITHIN = 1e-9
STATES = 50
FIXED = (
    "panda", "ur5_robot", "ur10_robot", "kinova", "xarm7", "z1", "talos_left_arm", "baxter",
    "tiago_no_hand", "tiago_pro", "pr2", "allegro_left_hand",
)  # fmt: skip
FLOATING = (
    "a1", "go1", "solo12", "bolt", "hyq_no_sensors", "laikago", "simple_humanoid",
    "g1_29dof_rev_1_0", "talos_full_v2",
)  # fmt: skip
UNREAL = ("romeo_small",)  # some of its inertias are those of no real body


def installed(name: str, pip: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} (pip install {pip}) is not installed")


@functools.cache
def paths() -> dict[str, Path]:
    return {path.stem: path for path in example_robot_urdfs()}


@functools.cache
def robot(name: str) -> Mechanism:
    base = "floating" if name in FLOATING else "fixed"
    m = from_urdf(read(paths()[name]), base=base)
    m = replace(m, inertias_accepted=True) if name in UNREAL else m
    check_inertias(m)
    check_movable(m)
    return m


def beside_pinocchio(name: str, m: Mechanism) -> Pinocchio:
    pin = pinocchio()
    if name in case_texts():
        text, base = case_texts()[name]
        return Pinocchio.of_document(read(text), base)
    if m.body_joint_types[0] is JointType.FLOATING:
        root = pin.JointModelFreeFlyer()
        return Pinocchio(m, pin.buildModelFromUrdf(str(paths()[name]), root, m.body_joint_names[0]))
    return Pinocchio(m, pin.buildModelFromUrdf(str(paths()[name])))


def mechanism(name: str) -> Mechanism:
    return case(name) if name in case_texts() else robot(name)


REAL = (*FIXED, *FLOATING, *UNREAL)
# by mechanism, so that what is traced of one serves all tests
ALL = pytest.mark.parametrize("name", (*REAL, *case_texts()), scope="module")


def sample(name: str) -> tuple[Mechanism, np.ndarray, np.ndarray, np.ndarray, Any]:
    m, random = mechanism(name), rng(f"engines {name}")
    return m, *states(m, random, STATES), random


def compare(m: Mechanism, engine: Any, q: np.ndarray, v: np.ndarray, dv: np.ndarray) -> None:
    """Mass matrix, bias, and with them inverse and forward dynamics."""
    both = [engine.mass_and_bias(*each) for each in zip(q, v, strict=True)]
    M, bias = (np.array(part) for part in zip(*both, strict=True))
    near(rows("mass_matrix", m, q), M, WITHIN)
    near(rows("bias_forces", m, q, v), bias, WITHIN)
    tau = np.einsum("nij,nj->ni", M, dv) + bias
    near(rows("inverse_dynamics", m, q, v, dv), tau, WITHIN)
    energy = np.einsum("ni,nij,nj->n", v, M, v) / 2
    near(rows("kinetic_energy", m, q, v), energy, WITHIN)
    within = max(WITHIN, 1e-15 * condition(M))
    near(rows("forward_dynamics", m, q, v, tau), dv, within)
    near(rows("inverse_mass_matrix", m, q), np.linalg.inv(M), within)


def symmetric(upper: np.ndarray) -> np.ndarray:
    """Pinocchio fills upper triangles."""
    return np.triu(upper) + np.triu(upper, 1).T


def coupled(m: Mechanism) -> bool:
    return any(m.followers()) or m.n_v < sum(kind.n_v for kind in m.body_joint_types)


# ------------------------------------------------------------------------------------- Pinocchio


@ALL
def test_pinocchio(name: str):
    m, q, v, dv, random = sample(name)
    compare(m, engine := beside_pinocchio(name, m), q, v, dv)
    links = [m.frame_names[k] for k in range(m.n_link_frames) if m.frame_body[k] > 0]
    wrenches = {link: random.normal(size=6) * 10 for link in random.choice(links, 2)}
    given = {f"wrench:{link}": w for link, w in wrenches.items()}
    expected = [engine.inverse(*each, wrenches) for each in zip(q, v, dv, strict=True)]
    tau = rows("inverse_dynamics", m, q, v, dv, parameters=given)
    near(tau, np.array(expected), WITHIN)
    got = rows("forward_dynamics", m, q, v, tau / 2, parameters=given)
    expected = [engine.inverse(*each, wrenches) for each in zip(q, v, got, strict=True)]
    near(tau / 2, np.array(expected), WITHIN)
    if not coupled(m) and name in REAL:  # elsewhere its accelerations lose too many digits
        expected = [engine.forward(*each, wrenches) for each in zip(q, v, tau / 2, strict=True)]
        near(got, np.array(expected), WITHIN)


@ALL
def test_momentum_and_centre_against_pinocchio(name: str):
    """Pinocchio leaves out what a fixed base carries; that part of the mass stands still."""
    m, q, v, dv, _ = sample(name)
    engine = beside_pinocchio(name, m)
    pin, model, data = engine.pin, engine.model, engine.data
    total, fixed = m.mass.sum(), model.inertias[0]
    moving = pin.computeTotalMass(model)
    momentum, matrix, velocity, acceleration = [], [], [], []
    for each in zip(q, v, dv, strict=True):
        theirs, rates, G, dG_v = engine.state(*each[:2])
        pin.ccrba(model, data, theirs, rates)
        h, A = data.hg.vector.copy(), data.Ag @ G
        pin.centerOfMass(model, data, theirs, rates, G @ each[2] + dG_v)
        centre = (fixed.mass * fixed.lever + moving * data.com[0]) / total
        arm = data.com[0] - centre
        h[3:] += np.cross(arm, h[:3])
        A[3:] += np.cross(arm, A[:3], axisb=0, axisc=0)
        momentum.append(h)
        matrix.append(A)
        velocity.append(moving / total * data.vcom[0])
        acceleration.append(moving / total * data.acom[0])
    near(rows("centroidal_momentum", m, q, v), np.array(momentum), WITHIN)
    near(rows("centroidal_matrix", m, q), np.array(matrix), WITHIN)
    near(rows("com_velocity", m, q, v), np.array(velocity), WITHIN)
    near(rows("com_acceleration", m, q, v, dv), np.array(acceleration), WITHIN)


@ALL
def test_frames_against_pinocchio(name: str):
    m, q, v, dv, random = sample(name)
    engine = beside_pinocchio(name, m)
    pin, model, data = engine.pin, engine.model, engine.data
    link = str(random.choice(m.frame_names[: m.n_link_frames]))
    frame = model.getFrameId(link)
    axes = {"local": pin.LOCAL, "world": pin.WORLD, "world-aligned": pin.LOCAL_WORLD_ALIGNED}
    velocities: dict[str, list] = {key: [] for key in axes}
    accelerations: dict[str, list] = {key: [] for key in axes}
    for each in zip(q, v, dv, strict=True):
        theirs, rates, G, dG_v = engine.state(*each[:2])
        pin.forwardKinematics(model, data, theirs, rates, G @ each[2] + dG_v)
        for key, reference in axes.items():
            classical = key == "world-aligned"  # the derivative of the point's velocity
            of = pin.getFrameClassicalAcceleration if classical else pin.getFrameAcceleration
            velocities[key].append(pin.getFrameVelocity(model, data, frame, reference).vector)
            accelerations[key].append(of(model, data, frame, reference).vector)
    for key in axes:
        static = {"frame": link, "reference": key}
        near(rows("frame_velocity", m, q, v, **static), np.array(velocities[key]), WITHIN)
        got = rows("frame_acceleration", m, q, v, dv, **static)
        near(got, np.array(accelerations[key]), WITHIN)


@pytest.mark.sweep(2, by="name")
@pytest.mark.parametrize("name", REAL, scope="module")
def test_derivatives_against_pinocchio(name: str):
    m, q, v, dv, _ = sample(name)
    engine = beside_pinocchio(name, m)
    pin, model, data = engine.pin, engine.model, engine.data
    expected, inverse = [], []
    tau = rows("inverse_dynamics", m, q, v, dv)
    for each in zip(q, v, dv, strict=True):
        theirs, rates, G, _ = engine.state(*each[:2])  # G is constant without planar joints
        found = pin.computeRNEADerivatives(model, data, theirs, rates, G @ each[2])
        by_q, by_v = (G.T @ part @ G for part in found[:2])
        expected.append([by_q, by_v, G.T @ symmetric(found[2]) @ G])
        M_inverse = np.linalg.inv(expected[-1][2])
        inverse.append([-M_inverse @ by_q, -M_inverse @ by_v, M_inverse])
    near(rows("inverse_dynamics_derivatives", m, q, v, dv), np.array(expected), WITHIN)
    within = max(WITHIN, 1e-15 * condition(np.array(expected)[:, 2]))
    near(rows("forward_dynamics_derivatives", m, q, v, tau), np.array(inverse), within)


# ------------------------------------------------------------------------- MuJoCo and exudyn


@ALL
def test_mujoco(name: str):
    m, q, v, dv, _ = sample(name)
    try:
        engine = MuJoCo(installed("mujoco", "mujoco"), m)
    except ValueError as error:
        pytest.skip(f"MuJoCo refuses {name}: {str(error)[:100]}")
    compare(m, engine, q, v, dv)
    if not coupled(m) and name in REAL:
        tau = rows("inverse_dynamics", m, q, v, dv) / 2
        expected = [engine.forward(*each) for each in zip(q, v, tau, strict=True)]
        near(rows("forward_dynamics", m, q, v, tau), np.array(expected), WITHIN)


def without_floating() -> list[str]:
    """exudyn's kinematic trees have no floating or spherical joints."""
    cases = ((name, case(name).body_joint_types) for name in case_texts())
    return [name for name, types in cases if not any(type.has_quaternion for type in types)]


@pytest.mark.parametrize("name", (*REAL, *without_floating()), scope="module")
def test_exudyn(name: str):
    exudyn = installed("exudyn", "exudyn")
    m = mechanism(name)
    if name in FLOATING:
        m = from_urdf(read(paths()[name]))
    compare(m, Exudyn(exudyn, m), *states(m, rng(f"exudyn {name}"), STATES))


def test_there_are_twenty_real_robots():
    assert len(REAL) >= 20 and len(set(REAL)) == len(REAL)
    assert set(REAL) <= set(paths())
