"""Objectives: their descent is their cost's gradient turned round, and does not overshoot."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.configuration import integrate, random
from linkwork.algorithms.jacobian import jacobian
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import JointType
from linkwork.mechanism.neutral import neutral
from linkwork.models import MODELS
from linkwork.ops.numpy import NUMPY
from linkwork.solve.objectives import Centred, Manipulable, NearPosture, Objective, manipulability
from linkwork.spatial import so3
from linkwork.spatial.rotations import from_quaternion
from robots import every_joint_urdf, mechanism_from, random_tree
from seeds import rng


def posture_cost(m, q, target):
    total = 0.0
    for c, kind in enumerate(m.joint_types):
        part = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        way = target[part] - q[part]
        if kind.has_quaternion:
            R, goal = (from_quaternion(NUMPY, x[part][-4:]) for x in (q, target))
            way = np.concatenate([way[:-4], so3.log(NUMPY, R.T @ goal)])
        elif np.isinf(m.lower[part][-1]) and kind is not JointType.PRISMATIC:
            way[-1] = math.remainder(way[-1], 2.0 * math.pi)
        total += 0.5 * float(way @ way)
    return total


def centred_cost(m, q, target):
    bounded = np.isfinite(m.lower) & np.isfinite(m.upper)
    lower, upper = m.lower[bounded], m.upper[bounded]
    middle, span = 0.5 * (lower + upper), upper - lower
    return 0.5 * float((((q[bounded] - middle) / span) ** 2).sum())


def manipulable_cost(frame):
    def cost(m, q, target):
        J = jacobian(NUMPY, m, q, frame=frame)
        J = J[:, np.abs(J).max(axis=0) > 0.0]
        return -float(np.log(np.linalg.svd(J, compute_uv=False)).sum())

    return cost


def every():
    return mechanism_from(every_joint_urdf())


CASES = {
    "posture": (every, lambda m: NearPosture(), posture_cost),
    "posture of an arm": (
        lambda: lw.load("panda").mechanism,
        lambda m: NearPosture(),
        posture_cost,
    ),
    "centred": (every, lambda m: Centred(), centred_cost),
    "centred arm": (lambda: lw.load("mobile_arm").mechanism, lambda m: Centred(), centred_cost),
}
for _name in ("panda", "ur5e", "planar_3r", "scara", "mobile_arm"):
    _tip = MODELS[_name].tip
    CASES[f"manipulable {_name}"] = (
        lambda name=_name: lw.load(name).mechanism,
        lambda m, tip=_tip: Manipulable(tip),
        manipulable_cost(_tip),
    )


def lengths(m):
    """Which velocities are lengths."""
    found = np.zeros(m.n_v, dtype=bool)
    for c, kind in enumerate(m.joint_types):
        start = int(m.v_start[c])
        found[start : start + kind.n_lengths] = True
    return found


def test_every_objective_is_here():
    ours = {k for k in Objective.__subclasses__() if k.__module__.startswith("linkwork.")}
    assert ours == {type(make(m())) for m, make, _ in CASES.values()}


@pytest.mark.parametrize("case", CASES)
def test_the_descent_is_the_gradient_turned_round_and_scaled(case):
    make_mechanism, make, cost = CASES[case]
    m = make_mechanism()
    bound = make(m).bind(m)
    r = rng(case)
    for q, target in zip(random(m, r, 5), random(m, r, 5), strict=True):
        way = np.array([float(x) for x in bound.descent(NUMPY, q, target)])
        slope = np.zeros(m.n_v)
        for k in range(m.n_v):
            step = 1e-6 * np.eye(m.n_v)[k]
            ends = [cost(m, integrate(NUMPY, m, q, s * step), target) for s in (1, -1)]
            slope[k] = (ends[0] - ends[1]) / 2e-6
        for part in (lengths(m), ~lengths(m)):
            if not part.any() or np.abs(slope[part]).max() < 1e-9:
                continue
            scale = -(way[part] @ slope[part]) / (slope[part] @ slope[part])
            assert scale > 0.0
            assert way[part] == pytest.approx(-scale * slope[part], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_a_full_step_goes_down_and_does_not_overshoot(case):
    make_mechanism, make, cost = CASES[case]
    m = make_mechanism()
    bound = make(m).bind(m)
    r = rng(f"steps {case}")
    for q, target in zip(random(m, r, 20), random(m, r, 20), strict=True):
        way = np.array([float(x) for x in bound.descent(NUMPY, q, target)])
        after = integrate(NUMPY, m, q, way)
        before, then = cost(m, q, target), cost(m, after, target)
        assert then <= before + 1e-9
        if case.startswith("manipulable") or case == "posture":
            continue  # not quadratic; a body that turns does not go straight
        # beyond a step that overshoots, the way back would be downhill
        again = np.array([float(x) for x in bound.descent(NUMPY, after, target)])
        assert way @ again >= -1e-9


def test_a_posture_is_given_with_the_objective_or_with_the_call():
    m = lw.load("panda").mechanism
    np.testing.assert_array_equal(NearPosture().bind(m).target, neutral(m))
    q = np.linspace(-0.5, 0.5, m.n_q)
    bound = NearPosture(q, joints=["joint2"]).bind(m)
    way = bound.descent(NUMPY, np.zeros(m.n_q), bound.target)
    assert [float(x) for x in way] == [0.0, q[1], *[0.0] * (m.n_q - 2)]
    assert bound.rows_of(np.zeros((3, m.n_q))).shape == (3, m.n_q)
    with pytest.raises(ShapeError, match="posture"):
        NearPosture(q[:-1]).bind(m)
    with pytest.raises(InputError, match="posture"):
        bound.rows_of(np.full(m.n_q, np.nan))


def test_objectives_alone_make_no_joint_move():
    m = lw.load("two_arm_torso").mechanism
    for objective in (NearPosture(), Centred()):
        assert objective.bind(m).coordinates == ()
    named = [m.joint_names[0], m.joint_names[2]]
    assert Centred(named).bind(m).coordinates == (0, 2)


def test_what_cannot_be_meant_is_refused():
    m = lw.load("ur5e").mechanism
    with pytest.raises(UnknownNameError):
        Centred(["elbo"]).bind(m)
    with pytest.raises(UnknownNameError):
        Manipulable("tool").bind(m)
    with pytest.raises(InputError, match="no joint moves"):
        Manipulable(m.frame_names[0]).bind(m)
    for weight in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="weight"):
            NearPosture(weight=weight).bind(m)
    with pytest.raises(InputError, match="none of these"):
        Centred(["spin"]).bind(mechanism_from(every_joint_urdf()))
    two = lw.load("two_arm_torso").mechanism
    tip = MODELS["two_arm_torso"].tip
    idle = next(
        n for c, n in enumerate(two.joint_names) if c not in two.coordinates_moving(two.frame(tip))
    )
    with pytest.raises(InputError, match=idle):
        Manipulable(tip, joints=[idle]).bind(two)


# --- manipulability and its slope ---


def log_of(m, frame, q, columns, rows):
    J = jacobian(NUMPY, m, q, frame=m.frame_names[frame])
    singular = np.linalg.svd(J[np.ix_(rows, columns)], compute_uv=False)
    return np.log(np.maximum(singular, 1e-300)).sum()


def numbers(m, coordinates):
    return [k for c in coordinates for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]


def check(m, frame, coordinates, rows, q):
    found = manipulability(NUMPY, m, q, frame, coordinates=coordinates, rows=rows)
    columns = numbers(m, coordinates)
    value = log_of(m, frame, q, columns, rows)
    if value < -5.0:
        return  # next to singular, where differences say nothing
    assert 0.5 * np.log(found.squared) == pytest.approx(value, abs=1e-6)
    for k in range(m.n_v):
        step = 1e-5 * np.eye(m.n_v)[k]
        ends = [log_of(m, frame, integrate(NUMPY, m, q, s * step), columns, rows) for s in (1, -1)]
        expected = (ends[0] - ends[1]) / 2e-5 if k in columns else 0.0
        assert found.slope[k] == pytest.approx(expected, abs=1e-5 + 1e-5 * abs(expected))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", list(MODELS))
def test_bundled_robots(name):
    m = lw.load(name).mechanism
    frame = m.frame(MODELS[name].tip)
    for q in random(m, rng(name), 4):
        check(m, frame, m.coordinates_moving(frame), range(6), q)


@pytest.mark.parametrize("frame", ["ball", "lens", "finger_c", "finger_b"])
def test_every_type_of_joint_and_coupled_ones(frame):
    m = mechanism_from(every_joint_urdf())
    index = m.frame(frame)
    for q in random(m, rng(frame), 6):
        check(m, index, m.coordinates_moving(index), range(6), q)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_some_joints_and_some_rows(seed):
    r = rng(f"tree {seed}")
    m = mechanism_from(random_tree(r, 9))
    frame = max(range(m.n_link_frames), key=lambda k: len(m.coordinates_moving(k)))
    moving = m.coordinates_moving(frame)
    some = sorted(r.choice(moving, size=max(1, len(moving) - 1), replace=False).tolist())
    for q in random(m, r, 3):
        check(m, frame, moving, range(6), q)
        check(m, frame, some, (0, 1, 2), q)
        check(m, frame, some, (1, 3, 5), q)


def test_the_slope_is_finite_where_the_measure_is_zero():
    m = lw.load("planar_2r").mechanism
    frame = m.frame(MODELS["planar_2r"].tip)
    found = manipulability(NUMPY, m, np.zeros(2), frame, coordinates=[0, 1])
    assert np.isfinite(found.slope).all()
    none = manipulability(NUMPY, m, np.zeros(2), m.frame(m.frame_names[0]), coordinates=[])
    assert none.slope == [0.0, 0.0]
