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
from linkwork.solve.objectives import Centred, Manipulable, NearPosture, Objective
from linkwork.spatial import so3
from linkwork.spatial.rotations import from_quaternion
from robots import every_joint_urdf, mechanism_from
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
