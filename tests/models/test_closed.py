"""The bundled models with loops, against closed forms.

Every closed form is made of lengths and angles that are read off the description; a state that has
none must be refused, and no other.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.models import MODELS
from seeds import rng

CLOSED = sorted(name for name in MODELS if MODELS[name].closed)
EACH = [pytest.param(name, marks=[pytest.mark.slow] * (name == "stewart")) for name in CLOSED]
N = 10_000
CRANK, COUPLER, ROCKER, GROUND = 0.06, 0.3, 0.18, 0.3


@cache
def robot(name: str):
    return lw.load(name)


def states(name: str, n: int = N, share: float = 1.0) -> np.ndarray:
    """Random positions of the actuated joints, within their limits."""
    r = robot(name)
    at = [r.joint_names.index(joint) for joint in r.actuated]
    at = [int(r.mechanism.q_start[c]) for c in at]
    lower, upper = (np.clip(x[at], -np.pi, np.pi) for x in r.limits[:2])
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return middle + share * half * rng(f"states of {name}").uniform(-1, 1, (n, len(at)))


def joint(name: str, q: np.ndarray, of: str) -> np.ndarray:
    m = robot(name).mechanism
    return q[..., m.q_start[m.joint(of)]]


def meeting(a, b, near, far):
    """Where circles of radius ``near`` about a and ``far`` about b meet: (2, n, 2), NaN if not."""
    way = b - a
    d = np.linalg.norm(way, axis=-1)
    x = (d**2 + near**2 - far**2) / (2 * d)
    with np.errstate(invalid="ignore"):
        h = np.sqrt(near**2 - x**2)
    along = way / d[:, None]
    across = np.stack([-along[:, 1], along[:, 0]], axis=-1)
    foot = a + x[:, None] * along
    return np.stack([foot + h[:, None] * across, foot - h[:, None] * across]), h


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", EACH)
def test_every_answer_is_closed_and_every_other_state_refused(name):
    r = robot(name)
    result = r.assemble(states(name), threads=1)
    q = result.q[result.success]
    assert len(q) > 0.5 * N
    poses = dict(zip(r.frame_names, np.moveaxis(r.fk_all(q), 1, 0), strict=True))
    for loop in r.loops:
        a, b = poses[loop.frame_a], poses[loop.frame_b]
        apart = np.linalg.norm((b - a)[:, :3, 3], axis=1)
        assert np.abs(apart - loop.distance).max() < 1e-12, loop.name
        if "rotation x" in loop.row_names:  # turns about one axis are free
            free = "xyz".index(next(x for x in "zyx" if f"rotation {x}" not in loop.row_names))
            assert np.abs((b - a)[:, :3, free]).max() < 1e-12
    inside = (q >= r.limits.lower) & (q <= r.limits.upper)
    assert inside.all()
    at = [int(r.mechanism.q_start[r.joint_names.index(j)]) for j in r.actuated]
    np.testing.assert_array_equal(result.q[:, at], states(name))
    assert np.abs(r.closure(q)).max() < 1e-12
    failed = np.flatnonzero(~result.success)
    if len(failed):
        assert "cannot be assembled" in result.reason_for(int(failed[0]))


def test_four_bar_by_freudenstein():
    crank = states("four_bar")
    result = robot("four_bar").assemble(crank)
    assert result.success.all()  # a crank that turns round
    in_, out = crank[:, 0], joint("four_bar", result.q, "rocker") + np.pi / 2
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    left = k1 * np.cos(out) - k2 * np.cos(in_) + k3 - np.cos(in_ - out)
    # the angles of the description have nine digits
    assert np.abs(left).max() < 1e-8
    tip = robot("four_bar").fk(result.q, "rocker_end")[:, :2, 3]
    a = CRANK * np.stack([np.cos(in_), np.sin(in_)], axis=-1)
    both, _ = meeting(a, np.tile([GROUND, 0.0], (N, 1)), COUPLER, ROCKER)
    assert np.linalg.norm(tip - both, axis=-1).min(axis=0).max() < 1e-10


def test_four_bar_has_two_branches():
    r = robot("four_bar")
    for crank in states("four_bar", 20):
        found = r.assemblies(crank)
        tips = r.fk(found.q, "rocker_end")[:, :2, 3]
        a = CRANK * np.array([[np.cos(crank[0]), np.sin(crank[0])]])
        both, _ = meeting(a, np.array([[GROUND, 0.0]]), COUPLER, ROCKER)
        assert len(tips) == 2
        apart = np.linalg.norm(tips[:, None] - both[None, :, 0], axis=-1)
        assert apart.min(axis=1).max() < 1e-10 and apart.min(axis=0).max() < 1e-10


def test_slider_crank():
    crank = states("slider_crank")
    result = robot("slider_crank").assemble(crank)
    assert result.success.all()
    a, b = 0.05, 0.13
    x = a * np.cos(crank[:, 0]) + np.sqrt(b**2 - (a * np.sin(crank[:, 0])) ** 2)
    np.testing.assert_allclose(joint("slider_crank", result.q, "slider"), x - a - b, atol=1e-10)


def test_five_bar_both_ways():
    r = robot("five_bar")
    near, far, half = 0.2, 0.25, 0.15
    given = states("five_bar")
    result = r.assemble(given)
    angle = given + np.pi / 2
    elbows = [
        np.stack([side * half + near * np.cos(a), near * np.sin(a)], axis=-1)
        for side, a in ((-1, angle[:, 0]), (1, angle[:, 1]))
    ]
    both, height = meeting(*elbows, far, far)
    # exactly those whose elbows are near enough
    np.testing.assert_array_equal(result.success, np.isfinite(height))
    assert 0.7 < result.success.mean() < 0.9
    tool = r.fk(result.q, "tool0")[:, :2, 3]
    clear = np.flatnonzero(result.success & (height > 0.03))
    apart = np.linalg.norm(tool - both, axis=-1).min(axis=0)
    assert apart[clear].max() < 1e-10
    # the way back, by inverse kinematics that keeps the loop closed
    points = r.fk(result.q[clear[:500]], "tool0")[:, :3, 3]
    back = r.ik(tasks=lw.ik.Position("tool0", axes="xy"), targets=points)
    assert back.success.all() and np.abs(r.closure(back.q)).max() < 1e-12
    left = np.array([-half, 0.0]) - points[:, :2]
    reach = (left**2).sum(axis=1) + near**2 - far**2
    own = joint("five_bar", back.q, "left") + np.pi / 2
    cosine = -(left[:, 0] * np.cos(own) + left[:, 1] * np.sin(own)) / np.linalg.norm(left, axis=1)
    expected = reach / (2 * near * np.linalg.norm(left, axis=1))
    assert np.abs(cosine - expected).max() < 2e-4  # the tolerance of a position is 1e-5 m


def test_excavator_by_its_triangles():
    r = robot("excavator")
    given = states("excavator")
    result = r.assemble(given)
    assert result.success.all()

    def angle(a, b, c):
        """Between sides a and b, opposite c."""
        return np.arccos((a**2 + b**2 - c**2) / (2 * a * b))

    a, b = np.hypot(0.3, 0.4), np.hypot(1.5, 0.5)
    boom = angle(a, b, 1.5) - angle(a, b, 1.5 + given[:, 1])
    np.testing.assert_allclose(joint("excavator", result.q, "boom"), boom, atol=1e-10)
    stick = angle(1.5, 0.4, 1.3 + given[:, 2]) - angle(1.5, 0.4, 1.3)
    np.testing.assert_allclose(joint("excavator", result.q, "stick"), stick, atol=1e-10)
    tip = r.fk(result.q[:1000], "tool0")[:, :3, 3]
    back = r.ik(tasks=lw.ik.Position("tool0"), targets=tip)
    assert back.success.all() and np.abs(r.closure(back.q)).max() < 1e-12
    strokes = back.q[:, [r.joint_names.index(j) for j in r.actuated]]
    at = [r.joint_names.index(j) for j in r.actuated]
    assert ((strokes >= r.limits.lower[at]) & (strokes <= r.limits.upper[at])).all()


@cache
def stewart_points():
    """The balls on the base and on the platform, and the legs at zero, as the files say."""
    r = robot("stewart")
    zero = r.neutral()
    low = np.array([r.fk(zero, f"cross{k}")[:3, 3] for k in range(1, 7)])
    place = r.fk(zero, "platform")
    high = np.array([r.fk(zero, f"anchor{k}")[:3, 3] - place[:3, 3] for k in range(1, 7)])
    ends = np.array([r.fk(zero, f"rod{k}")[:3, 3] for k in range(1, 7)])
    return low, high, np.linalg.norm(ends - low, axis=1)


@pytest.mark.slow
def test_stewart_platform_both_ways():
    r = robot("stewart")
    low, high, length = stewart_points()
    g = rng("stewart poses")
    q = np.tile(r.neutral(), (2000, 1))
    start = int(r.mechanism.q_start[r.mechanism.joint("platform")])
    turn = np.concatenate([np.ones((2000, 1)), 0.06 * g.uniform(-1, 1, (2000, 3))], axis=1)
    q[:, start : start + 3] = 0.06 * g.uniform(-1, 1, (2000, 3))
    q[:, start + 3 : start + 7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    T = r.fk(q, "platform")
    balls = T[:, None, :3, 3] + np.einsum("nij,kj->nki", T[:, :3, :3], high)
    slides = np.linalg.norm(balls - low, axis=-1) - length
    assert np.abs(slides).max() < 0.2
    inverse = r.ik(T, "platform", position_tolerance=1e-11, rotation_tolerance=1e-11)
    assert inverse.success.all()
    at = [int(r.mechanism.q_start[r.mechanism.joint(j)]) for j in r.actuated]
    np.testing.assert_allclose(inverse.q[:, at], slides, atol=1e-10)
    forward = r.assemble(slides, q0=r.neutral())
    assert forward.success.all()
    np.testing.assert_allclose(r.fk(forward.q, "platform"), T, atol=1e-10)


def test_delta_both_ways():
    r = robot("delta")
    base, arm, bar, plate = 0.1, 0.2, 0.4, 0.06
    given = states("delta", share=0.7)  # beyond, the rods can also hold a tilted platform
    result = r.assemble(given, q0=r.neutral())
    turns = np.radians([0.0, 120.0, 240.0])
    out = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    reach = base - plate + arm * np.cos(given)
    centres = reach[..., None] * out - (arm * np.sin(given))[..., None] * np.array([0.0, 0.0, 1.0])
    # three spheres of one radius: the foot of the centres' circle, then along its axis
    u, v = centres[:, 1] - centres[:, 0], centres[:, 2] - centres[:, 0]
    w = np.cross(u, v)
    area = (w**2).sum(axis=1, keepdims=True)
    uu, vv = (u**2).sum(axis=1, keepdims=True), (v**2).sum(axis=1, keepdims=True)
    foot = (np.cross(w, u) * vv + np.cross(v, w) * uu) / (2 * area)
    rest = bar**2 - (foot**2).sum(axis=1)
    np.testing.assert_array_equal(result.success, rest >= 0)
    down = -np.sign(w[:, 2:]) * w / np.sqrt(area)
    at = centres[:, 0] + foot + np.sqrt(rest)[:, None] * down
    T = r.fk(result.q, "platform")
    np.testing.assert_allclose(T[:, :3, 3], at, atol=1e-10)
    np.testing.assert_allclose(T[:, :3, :3], np.tile(np.eye(3), (N, 1, 1)), atol=1e-8)
    # and back: each arm by itself
    back = r.ik(T[:500], "platform", position_tolerance=1e-11, rotation_tolerance=1e-11)
    assert back.success.all()
    found = np.stack([joint("delta", back.q, name) for name in r.actuated], axis=-1)
    p = np.einsum("ki,ni->nk", out, T[:500, :3, 3])
    z = T[:500, 2, 3][:, None]
    side2 = (T[:500, :3, 3] ** 2).sum(axis=1)[:, None] - p**2 - z**2
    a, b = 2 * arm * (base - plate - p), 2 * arm * z
    c = bar**2 - side2 - (base - plate - p) ** 2 - z**2 - arm**2
    np.testing.assert_allclose(a * np.cos(found) + b * np.sin(found), c, atol=1e-10)


IN_PLANE = frozenset({"position z", "rotation x", "rotation y"})
ACROSS = frozenset({"position y", "rotation x", "rotation z"})
REDUNDANT = {
    **dict.fromkeys(("four_bar", "slider_crank", "five_bar"), IN_PLANE),
    **dict.fromkeys(("excavator", "linkage_leg"), ACROSS),
    "gripper": {"position x", "rotation y", "rotation z"},
}
PASSIVE = {"triped_leg": 1, "triped": 3}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
def test_mobility_is_the_catalogues(name):
    found, r = robot(name).mobility(), robot(name)
    passive = PASSIVE.get(name, 0)
    assert found.degrees_of_freedom == MODELS[name].degrees_of_freedom == len(r.actuated) + passive
    assert found.passive_freedoms == passive and found.independent
    # a hinge of a planar loop has three rows too many, and each loop names its own
    expected = {f"{x.name}: {row}" for x in r.loops for row in REDUNDANT.get(name, ())}
    assert set(found.redundant) == expected


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", EACH)
def test_rates_are_the_derivative_of_assembling(name):
    r, tip = robot(name), MODELS[name].tip
    given = states(name, 20, 0.5)
    result = r.assemble(given)
    q = result.q[result.success]
    given = given[result.success]
    rates, J = r.passive_rates(q), r.actuation_jacobian(q, tip)
    h = 1e-5
    for k in range(given.shape[1]):
        step = h * np.eye(given.shape[1])[k]
        ends = [r.assemble(given + s * step, q0=q) for s in (-1, 1)]
        assert all(end.success.all() for end in ends)
        v = r.difference(ends[0].q, ends[1].q) / (2 * h)
        np.testing.assert_allclose(rates[:, :, k], v, atol=2e-5)
        speed = (r.fk(ends[1].q, tip) - r.fk(ends[0].q, tip))[:, :3, 3] / (2 * h)
        np.testing.assert_allclose(J[:, :3, k], speed, atol=2e-5)
