"""The gripper, the leg with a linkage, the car's corner and the TriPed against closed forms.

Lengths and angles are written down here as the heads of the descriptions say them, to the nine
digits (`nine`) that the files have.
"""

from __future__ import annotations

from functools import cache
from math import radians

import numpy as np
import pytest

import linkwork as lw
from linkwork.faces.trip_kinematics.trip_robots import triped_leg as face
from seeds import rng

N = 3_000


@cache
def robot(name: str):
    return lw.load(name)


def nine(value):
    """As a file has it."""
    return np.round(value, 9)


def index(name: str, joint: str) -> int:
    m = robot(name).mechanism
    return int(m.q_start[m.joint(joint)])


def driven(name: str, n: int = N) -> np.ndarray:
    """Random positions of the actuated joints, within their limits."""
    r = robot(name)
    at = [index(name, joint) for joint in r.actuated]
    lower, upper = (np.clip(x[at], -np.pi, np.pi) for x in r.limits[:2])
    return rng(f"drives of {name}").uniform(lower, upper, (n, len(at)))


def test_gripper_by_its_parallelograms():
    r, given = robot("gripper"), driven("gripper")
    result = r.assemble(given)
    assert result.success.all()
    lean = given[:, 0] - nine(np.arcsin(0.28))
    apart, far = 0.075 * (np.sin(lean) + 0.28), 0.075 * (np.cos(lean) - 0.96)
    zero = r.fk(r.neutral(), "tool0")[2, 3]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        T = r.fk(result.q, f"{side}_tip")
        # closed within 1e-12 m, between pins that are 26 mm apart
        np.testing.assert_allclose(T[:, :3, :3], np.tile(np.eye(3), (N, 1, 1)), rtol=0, atol=5e-11)
        np.testing.assert_allclose(T[:, 1, 3], sign * apart, rtol=0, atol=1e-10)
        np.testing.assert_allclose(T[:, 2, 3], zero + far, rtol=0, atol=1e-10)


def test_linkage_leg_by_its_four_bar():
    r, given = robot("linkage_leg"), driven("linkage_leg")
    result = r.assemble(given)
    crank, thigh, bent = 0.036, 0.2, 2 * np.arctan2(3.0, 4.0)
    rod = nine(np.hypot(crank - 0.03, thigh))
    own = nine(0.03 * np.cos(bent)), nine(0.03 * np.sin(bent))  # back and up, on the shank
    lug, at = np.hypot(*own), np.arctan2(own[1], own[0])
    # from the knee to the crank's pin, back and along the thigh: the circles of rod and lug
    back, up = crank * np.cos(given[:, 2]), thigh + crank * np.sin(given[:, 2])
    far = np.hypot(back, up)
    with np.errstate(invalid="ignore"):
        away = np.arccos((far**2 + lug**2 - rod**2) / (2 * far * lug))
    knee = np.arctan2(up, back) - away - at + nine(bent)
    limits = [x[index("linkage_leg", "knee")] for x in r.limits[:2]]
    fine = np.isfinite(away) & (knee >= limits[0]) & (knee <= limits[1])
    np.testing.assert_array_equal(result.success, fine)
    assert fine.all()  # the crank's range is one that the knee allows
    found = result.q[:, index("linkage_leg", "knee")]
    np.testing.assert_allclose(found, knee, rtol=0, atol=1e-10)


def test_double_wishbone_by_the_triangle_of_its_coil_over():
    r, given = robot("double_wishbone"), driven("double_wishbone")
    result = r.assemble(given)
    assert result.success.all()
    pin, top, eye = np.array([0.36, 0.19]), np.array([0.5, 0.68]), np.array([0.58, 0.21])
    a, b = np.linalg.norm(top - pin), np.linalg.norm(eye - pin)

    def between(length):
        return np.arccos((a**2 + b**2 - length**2) / (2 * a * b))

    zero = np.linalg.norm(top - eye)
    expected = between(zero) - between(nine(zero) + given[:, 0])
    found = result.q[:, index("double_wishbone", "lower_arm")]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    # bars that have balls at both ends keep their lengths
    places = {
        "steer_ball": (0.0, 0.72, 0.17),
        "upright_top": (-0.03, 0.68, 0.49),
        "tie_x": (0.14, 0.38, 0.24),
        "tie_end": (0.13, 0.7, 0.22),
    }
    for one, other in (("steer_ball", "upright_top"), ("tie_x", "tie_end")):
        frames = {"tie_x": "tie_cross"}
        ends = [r.fk(result.q, frames.get(name, name))[:, :3, 3] for name in (one, other)]
        length = np.linalg.norm(np.subtract(places[one], places[other]))
        assert np.abs(np.linalg.norm(ends[0] - ends[1], axis=1) - length).max() < 1e-9


def test_a_wheel_steers_to_the_side_of_its_rack_and_rises_with_its_coil_over():
    r = robot("double_wishbone")
    left, up = (r.assemble(state).q for state in ([0.0, 0.05, 0.0], [-0.05, 0.0, 0.0]))
    assert r.fk(left, "upright")[1, 0] > 0.3  # the arm is ahead of the wheel: it turns left
    assert 0.06 < r.fk(up, "wheel_link")[2, 3] - 0.31 < 0.12


# The constants of TriP's documentation of the leg; a swing of ours and of its is AT apart.
RADIUS, AT = 0.11, 0.4316142538669444
GIMBAL, BALL = np.array([0.265, 0.0, 0.014]), np.array([0.015, 0.029, -0.0965])
LEVER = np.array([nine(0.139807669447128), nine(0.0549998406976098), -0.051])
YAW = nine(AT + radians(15.0))  # 345 degrees turned back
LEVER_BALL = np.array([0.085, 0.0, -0.0245])
SIDES = (("swing_left", -1.0), ("swing_right", 1.0))
TURNS = ("gimbal_rx", "gimbal_ry", "gimbal_rz")


def turned(axis: str, angle) -> np.ndarray:
    """Rotations about x, y or z (n, 3, 3)."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.tile(np.eye(3), (len(angle), 1, 1))
    R[:, i, i] = R[:, j, j] = np.cos(angle)
    R[:, i, j], R[:, j, i] = -np.sin(angle), np.sin(angle)
    return R


def leg_ball(gimbal: np.ndarray, side: float) -> np.ndarray:
    R = turned("x", gimbal[:, 0]) @ turned("y", gimbal[:, 1]) @ turned("z", gimbal[:, 2])
    return GIMBAL + R @ (BALL * [1.0, side, 1.0])


def lever_ball(swing: np.ndarray, side: float) -> np.ndarray:
    about = swing + side * YAW
    return LEVER * [1.0, side, 1.0] + turned("z", about) @ LEVER_BALL


def levers(gimbal: np.ndarray) -> np.ndarray:
    """The swings (n, 2) that hold the gimbal, by the law of cosines; NaN where there are none."""
    found = []
    for _, side in SIDES:
        way = leg_ball(gimbal, side) - LEVER * [1.0, side, 1.0]
        far, radius = np.hypot(way[:, 0], way[:, 1]), LEVER_BALL[0]
        rest = RADIUS**2 - (way[:, 2] - LEVER_BALL[2]) ** 2
        with np.errstate(invalid="ignore"):
            between = np.arccos((far**2 + radius**2 - rest) / (2 * far * radius))
        angle = np.arctan2(way[:, 1], way[:, 0]) + side * between
        angle = angle - side * YAW
        found.append((angle + np.pi) % (2 * np.pi) - np.pi)
    return np.stack(found, axis=-1)


def test_triped_from_the_gimbal_to_the_swings():
    r = robot("triped_leg")
    gimbal = rng("gimbals").uniform([-0.5, -0.6, -0.4], [0.5, 0.7, 0.4], (N, 3))
    expected = levers(gimbal)
    result = r.assembler(TURNS).solve(gimbal, q0=r.neutral())
    with np.errstate(invalid="ignore"):
        fine = (np.abs(expected) <= 0.5).all(axis=1)
    assert 0.3 < fine.mean() < 0.9
    assert not result.success[~fine].any()  # none but where the levers reach
    # a rod's cross turns by less than 1.4
    found = result.q[:, [index("triped_leg", name) for name, _ in SIDES]]
    lost = fine & ~result.success
    assert not lost.any()
    np.testing.assert_allclose(found[fine], expected[fine], rtol=0, atol=1e-10)
    for column, (_, side) in enumerate(SIDES):
        way = leg_ball(gimbal, side) - lever_ball(found[:, column], side)
        assert np.abs(np.linalg.norm(way, axis=1) - RADIUS)[fine].max() < 1e-11


def test_triped_from_the_swings_to_the_gimbal():
    r, given = robot("triped_leg"), driven("triped_leg")
    result = r.assemble(given)
    gimbal = result.q[:, [index("triped_leg", name) for name in TURNS]]
    for column, (_, side) in enumerate(SIDES):
        way = leg_ball(gimbal, side) - lever_ball(given[:, column], side)
        apart = np.abs(np.linalg.norm(way, axis=1) - RADIUS)
        assert apart[result.success].max() < 1e-11
    # what is refused is out of reach: no gimbal within its limits brings both rods to length
    refused = given[~result.success]
    assert 0 < len(refused) < 0.01 * N
    steps = np.linspace(-0.8, 0.8, 41)
    box = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    lengths = [
        np.linalg.norm(leg_ball(box, side)[:, None] - lever_ball(refused[:, k], side)[None], axis=2)
        for k, (_, side) in enumerate(SIDES)
    ]
    # wherever the gimbal is, the longer of the two ways is longer than a rod
    assert (np.maximum(*lengths).min(axis=0) > RADIUS).all()


@pytest.mark.slow
def test_triped_is_the_leg_of_the_face():
    r, given = robot("triped_leg"), driven("triped_leg", 20)
    result = r.assemble(0.5 * given, q0=r.neutral())
    for q, (left, right, _) in zip(result.q, 0.5 * given, strict=True):
        state = {"swing_left": left - AT, "swing_right": right + AT}
        gimbal = [float(q[index("triped_leg", name)]) for name in TURNS]
        assert abs(face.closing_equation(gimbal, list(state.values()))) < 1e-16
        extend = {"extend_joint": {"ry": float(q[index("triped_leg", "extend")])}}
        own = face.triped_leg
        own.set_virtual_state(
            {"gimbal_joint": dict(zip(("rx", "ry", "rz"), gimbal, strict=True)), **extend}
        )
        T = lw.faces.trip_kinematics.forward_kinematics(own, "A_LL_Joint_FCS")
        np.testing.assert_allclose(np.asarray(T, float), r.fk(q, "foot"), rtol=0, atol=2e-9)


@pytest.mark.slow
@pytest.mark.parametrize("moved", range(3))
def test_triped_has_three_legs_and_each_moves_alone(moved):
    leg, whole = robot("triped_leg"), robot("triped")
    given = driven("triped_leg", 100)
    alone = leg.assemble(given, q0=leg.neutral())
    start = whole.assemble(np.zeros(9)).q
    drives = np.zeros((100, 9))
    drives[:, 3 * moved : 3 * moved + 3] = given
    together = whole.assemble(drives, q0=start)
    np.testing.assert_array_equal(together.success, alone.success)
    for k in range(3):
        back = np.eye(4)
        back[:3, :3] = turned("z", np.array([-radians(120.0) * k]))[0]
        found = whole.fk(together.q, f"leg_{k}_foot")
        expected = back @ leg.fk(alone.q, "foot")
        if k != moved:
            expected = np.tile(whole.fk(start, f"leg_{k}_foot"), (100, 1, 1))
        fine = together.success
        # nine digits of an angle over 3 m
        np.testing.assert_allclose(found[fine], expected[fine], rtol=0, atol=2e-8)


@pytest.mark.parametrize("name", ["gripper", "linkage_leg", "double_wishbone"])
def test_assembled_at_zero(name):
    r = robot(name)
    assert np.abs(r.closure(r.neutral())).max() < 1e-9
    assert r.assemble(r.neutral()[[index(name, j) for j in r.actuated]]).success
