"""The bundled models as mechanisms: poses against published tables and closed forms, symmetry."""

from __future__ import annotations

from functools import cache
from math import cos, pi, sin

import numpy as np
import pytest

from linkwork.algorithms.configuration import random
from linkwork.algorithms.forward_kinematics import fk_all
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.models import path
from linkwork.ops.numpy import NUMPY
from seeds import rng

TIGHT = {"rtol": 0, "atol": 1e-12}
MIRROR = np.diag([1.0, -1.0, 1.0, 1.0])


@cache
def document(name: str):
    return read(path(name))


@cache
def mechanism(name: str):
    return from_urdf(document(name))


def poses(name: str, q) -> dict[str, np.ndarray]:
    """Every frame's pose at one configuration."""
    m = mechanism(name)
    found = fk_all(NUMPY, m, np.asarray(q, np.float64))
    return dict(zip(m.frame_names, map(np.asarray, found), strict=True))


def masses(name: str) -> dict[str, float]:
    return {link.name: link.inertial.mass for link in document(name).robot.links if link.inertial}


def about_x(angle: float, x: float = 0.0) -> np.ndarray:
    c, s = cos(angle), sin(angle)
    return np.array([[1, 0, 0, x], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def about_z(angle: float, z: float = 0.0) -> np.ndarray:
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, z], [0, 0, 0, 1.0]])


def configurations(name: str, n: int = 5) -> np.ndarray:
    m = mechanism(name)
    return np.vstack([np.zeros(m.n_q), random(m, rng(f"models {name}"), n)])


@pytest.mark.parametrize(
    ("name", "lengths"), [("planar_2r", (1.0, 0.8)), ("planar_3r", (1.0, 0.8, 0.5))]
)
def test_planar_arms_against_sums_of_sines(name: str, lengths: tuple[float, ...]):
    for q in configurations(name):
        heading = np.cumsum(q)
        T = poses(name, q)["tool0"]
        np.testing.assert_allclose(T[0, 3], lengths @ np.cos(heading), **TIGHT)
        np.testing.assert_allclose(T[1, 3], lengths @ np.sin(heading), **TIGHT)
        np.testing.assert_allclose(T[:3, :3], about_z(heading[-1])[:3, :3], **TIGHT)


@pytest.mark.parametrize(("name", "lengths"), [("planar_2r", (1.0, 0.8))])
def test_planar_bars_have_the_moments_of_bars(name: str, lengths: tuple[float, ...]):
    for length, link in zip(lengths, document(name).robot.links[1:], strict=False):
        mass, inertial = 2 * length, link.inertial
        assert inertial.mass == pytest.approx(mass, abs=1e-12)
        assert inertial.xyz == pytest.approx((length / 2, 0, 0), abs=1e-12)
        across = mass / 12 * (length**2 + 0.08**2)
        assert inertial.inertia[2][2] == pytest.approx(across, rel=1e-5)


def test_scara_against_the_textbook_table():
    # Schilling 1990: standard Denavit-Hartenberg rows (theta, d, a, alpha)
    for q in configurations("scara"):
        rows = ((q[0], 0.877, 0.425, pi), (q[1], 0, 0.375, 0), (0, q[2], 0, 0), (q[3], 0.2, 0, 0))
        T = np.eye(4)
        for theta, d, a, alpha in rows:
            T = T @ about_z(theta, d) @ about_x(alpha, a)
        np.testing.assert_allclose(poses("scara", q)["tool0"], T, **TIGHT)
        x = 0.425 * cos(q[0]) + 0.375 * cos(q[0] - q[1])
        np.testing.assert_allclose(T[[0, 2], 3], [x, 0.677 - q[2]], **TIGHT)


PUMA = (  # Armstrong, Khatib, Burdick 1986: (alpha, a) before, d of each joint
    (0, 0, 0),
    (-pi / 2, 0, 0.2435),
    (0, 0.4318, -0.0934),
    (pi / 2, -0.0203, 0.4331),
    (-pi / 2, 0, 0),
    (pi / 2, 0, 0),
)
PANDA = (  # Franka Emika
    (0, 0, 0.333),
    (-pi / 2, 0, 0),
    (pi / 2, 0, 0.316),
    (pi / 2, 0.0825, 0),
    (-pi / 2, -0.0825, 0.384),
    (pi / 2, 0, 0),
    (pi / 2, 0.088, 0),
)


@pytest.mark.parametrize(
    ("name", "table", "base", "flange"),
    [("puma560", PUMA, 0.67183, 0.0), ("panda", PANDA, 0.0, 0.107)],
)
def test_modified_denavit_hartenberg(name: str, table, base: float, flange: float):
    for q in configurations(name):
        found = poses(name, q)
        T = about_z(0.0, base)
        for k, ((alpha, a, d), theta) in enumerate(zip(table, q, strict=True), start=1):
            T = T @ about_x(alpha, a) @ about_z(theta, d)
            np.testing.assert_allclose(found[f"link{k}"], T, **TIGHT)
        np.testing.assert_allclose(found["tool0"], T @ about_z(0.0, flange), **TIGHT)


UR5E = (  # Universal Robots: d, a, alpha; mass; centre of mass in the row's frame
    (0.1625, 0, pi / 2, 3.761, (0, -0.02561, 0.00193)),
    (0, -0.425, 0, 8.058, (0.2125, 0, 0.11336)),
    (0, -0.3922, 0, 2.846, (0.15, 0.0, 0.0265)),
    (0.1333, 0, pi / 2, 1.37, (0, -0.0018, 0.01634)),
    (0.0997, 0, -pi / 2, 1.3, (0, 0.0018, 0.01634)),
    (0.0996, 0, 0, 0.365, (0, 0, -0.001159)),
)


def test_ur5e_against_the_makers_table():
    links = [link for link in document("ur5e").robot.links if link.inertial][1:]
    for q in configurations("ur5e"):
        found = poses("ur5e", q)
        T = np.eye(4)
        for (d, a, alpha, mass, com), theta, link in zip(UR5E, q, links, strict=True):
            T = T @ about_z(theta, d) @ about_x(alpha, a)
            here = found[link.name] @ (*link.inertial.xyz, 1.0)
            np.testing.assert_allclose(here, T @ (*com, 1.0), **TIGHT)
            assert link.inertial.mass == mass
        np.testing.assert_allclose(found["tool0"], T, **TIGHT)


def test_total_masses():
    # the UR5e's data sheet; the sums of the tables in the papers
    assert sum(masses("ur5e").values()) == pytest.approx(20.6, abs=1e-9)
    puma, panda = masses("puma560"), masses("panda")
    assert sum(puma[f"link{k}"] for k in range(2, 7)) == pytest.approx(23.45, abs=1e-9)
    assert sum(panda[f"link{k}"] for k in range(1, 8)) == pytest.approx(16.062132, abs=1e-9)
    legs = 4 * (0.54 + 0.634 + 0.064)
    assert sum(masses("quadruped").values()) == pytest.approx(3.3 + legs, abs=1e-9)


def test_humanoid_masses_are_winters_fractions():
    mass = masses("humanoid")

    def share(*names: str) -> float:
        return sum(mass[f"{name}"] for name in names) / 60

    assert share(*mass) == pytest.approx(1, abs=1e-9)
    assert share("pelvis") == pytest.approx(0.142)
    assert share("abdomen") == pytest.approx(0.139)
    assert share("chest") == pytest.approx(0.216)
    assert share("neck", "head") == pytest.approx(0.081)
    thigh = [f"left_hip_{axis}_link" for axis in ("yaw", "roll", "pitch")]
    assert share(*thigh) == pytest.approx(0.1)
    assert share("left_knee_link") == pytest.approx(0.0465)
    assert share("left_ankle_pitch_link", "left_ankle_roll_link") == pytest.approx(0.0145)
    upper = [f"left_shoulder_{axis}_link" for axis in ("pitch", "roll", "yaw")]
    assert share(*upper) == pytest.approx(0.028)
    assert share("left_elbow_link", "left_wrist_yaw_link") == pytest.approx(0.016)
    assert share("left_wrist_pitch_link", "left_wrist_roll_link") == pytest.approx(0.006)


def test_humanoid_has_the_proportions():
    found = {name: T[:3, 3] for name, T in poses("humanoid", np.zeros(30)).items()}
    height = 1.70
    ground = found["left_foot"][2]
    for frame, part in (
        ("pelvis", 0.530),
        ("left_knee_link", 0.285),
        ("left_ankle_roll_link", 0.039),
        ("left_shoulder_roll_link", 0.818),
        ("left_elbow_link", 0.818 - 0.186),
        ("left_wrist_roll_link", 0.818 - 0.186 - 0.146),
        ("left_hand", 0.818 - 0.186 - 0.146 - 0.108),
    ):
        assert found[frame][2] - ground == pytest.approx(part * height, abs=1e-8), frame


@pytest.mark.parametrize(
    ("name", "feet"),
    [
        ("quadruped", ("fl_foot", "fr_foot", "rl_foot", "rr_foot")),
        ("humanoid", ("left_foot", "right_foot")),
    ],
)
def test_feet_are_level_at_zero(name: str, feet: tuple[str, ...]):
    found = poses(name, np.zeros(mechanism(name).n_q))
    heights = [found[foot][2, 3] for foot in feet]
    assert np.ptp(heights) < 1e-12
    for foot in feet:
        np.testing.assert_allclose(found[foot][:3, :3], np.eye(3), **TIGHT)


def other_side(name: str) -> str:
    """The twin of a left or right name; a name in the middle is its own."""
    for left, right in (("left_", "right_"), ("fl_", "fr_"), ("rl_", "rr_")):
        for one, two in ((left, right), (right, left)):
            if name.startswith(one):
                return two + name.removeprefix(one)
    return name


SYMMETRIC = pytest.mark.parametrize("name", ["two_arm_torso", "quadruped", "humanoid"])


@SYMMETRIC
def test_the_same_values_on_both_sides_give_mirrored_limbs(name: str):
    m = mechanism(name)
    turns_the_trunk = {"torso", "waist_yaw", "neck_yaw"}
    for q in configurations(name):
        for joint in m.joint_names:
            k = m.q_start[m.joint(joint)]
            q[k] = 0.0 if joint in turns_the_trunk else q[m.q_start[m.joint(other_side(joint))]]
        found = poses(name, q)
        pairs = [(frame, other_side(frame)) for frame in found if other_side(frame) != frame]
        assert pairs
        for left, right in pairs:
            np.testing.assert_allclose(
                found[right], MIRROR @ found[left] @ MIRROR, err_msg=left, **TIGHT
            )


@SYMMETRIC
def test_both_sides_weigh_and_move_the_same(name: str):
    robot = document(name).robot
    links = {link.name: link for link in robot.links}
    flip = MIRROR[:3, :3]
    for link in robot.links:
        if link.inertial is None:
            continue
        left, right = link.inertial, links[other_side(link.name)].inertial
        assert left.mass == right.mass
        np.testing.assert_allclose(right.xyz, flip @ left.xyz, **TIGHT)
        mirrored = flip @ np.array(left.inertia) @ flip
        np.testing.assert_allclose(right.inertia, mirrored, **TIGHT)
    joints = {joint.name: joint for joint in robot.joints}
    for joint in robot.joints:
        assert joint.limit == joints[other_side(joint.name)].limit
