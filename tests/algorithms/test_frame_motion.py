"""Velocity and acceleration of frames: Pinocchio, the Jacobian, closed forms, back ends."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.algorithms.frame_motion import world_motion
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, UnknownNameError
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
)
from seeds import rng
from symbols import evaluate


def compare(each: Beside, frame: str) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    model, data = each.model, each.data
    pin.forwardKinematics(*each.state)
    pin.updateFramePlacements(model, data)
    k = model.getFrameId(frame, pin.FrameType.BODY)
    for reference, axes in zip(
        REFERENCES, (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL, pin.WORLD), strict=True
    ):
        static = {"frame": frame, "reference": reference}
        got = evaluate("frame_velocity", each.m, each.q, each.v, **static)
        near(got, pin.getFrameVelocity(model, data, k, axes).vector)
        got = evaluate("frame_acceleration", each.m, each.q, each.v, each.dv, **static)
        of = pin.getFrameAcceleration
        if reference == "world-aligned":  # of the point, not of the field
            of = pin.getFrameClassicalAcceleration
        near(got, of(model, data, k, axes).vector)


def test_pinocchio():
    random = rng("frame motion pinocchio")
    for each in (*trees(random, 60), *real(random)):
        links = each.m.frame_names[: each.m.n_link_frames]
        for name in random.choice(links, 3):
            compare(each, str(name))


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_jacobian(every_joint: Mechanism, reference: str):
    m, random = every_joint, rng(f"frame motion {reference}")
    q, v, dv = random_configuration(random, m), *random.normal(size=(2, m.n_v))
    for frame in m.frame_names:
        static = {"frame": frame, "reference": reference}
        J = evaluate("jacobian", m, q, **static)
        near(evaluate("frame_velocity", m, q, v, **static), J @ v, 1e-13)
        expected = J @ dv + evaluate("jacobian_dot_v", m, q, v, **static)
        near(evaluate("frame_acceleration", m, q, v, dv, **static), expected, 1e-13)


def test_a_wheel():
    m = mechanism_from(chain_urdf(2))
    q, v, dv = np.array([0.3, 0.0]), np.array([2.0, 0.0]), np.array([5.0, 0.0])
    out, across = np.array([np.cos(0.3), np.sin(0.3), 0]), np.array([-np.sin(0.3), np.cos(0.3), 0])
    near(evaluate("frame_velocity", m, q, v, frame="link2"), [*(0.2 * across), 0, 0, 2.0], 1e-15)
    got = evaluate("frame_acceleration", m, q, v, dv, frame="link2")
    near(got, [*(0.5 * across - 0.4 * out), 0, 0, 5.0], 1e-15)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_back_ends_agree(every_joint: Mechanism, agree, reference: str):
    m, random = every_joint, rng("frame motion back ends")
    q = np.array([random_configuration(random, m) for _ in range(3)])
    v, dv = random.normal(size=(2, 3, m.n_v))
    agree("frame_velocity", m, q, v, frame="tool", reference=reference)
    agree("jacobian_dot_v", m, q, v, frame="tool", reference=reference)
    agree("frame_acceleration", m, q, v, dv, frame="tool", reference=reference)


def test_only_the_way_to_the_frame_is_computed():
    m = load("humanoid").mechanism
    first, last = m.frame_names[0], max(m.frame_names[: m.n_link_frames], key=lambda name: len(
        m.ancestry(int(m.frame_body[m.frame(name)]))
    ))  # fmt: skip
    fixed, moving = (
        trace("frame_velocity", m, frame=name).signature.instructions for name in (first, last)
    )
    assert fixed < 40 < moving < trace("jacobian", m, frame=last).signature.instructions * 1.2


def test_bad_arguments(every_joint: Mechanism):
    m = every_joint
    q, v = np.zeros(m.n_q), np.zeros(m.n_v)
    with pytest.raises(InputError, match="reference='x'"):
        evaluate("frame_velocity", m, q, v, frame="tool", reference="x")
    with pytest.raises(UnknownNameError, match="tool"):
        evaluate("frame_acceleration", m, q, v, v, frame="tolo")


@pytest.mark.parametrize("reference", REFERENCES)
def test_differences_of_the_jacobian_along_the_motion(aligned_tree, reference: str):
    random = rng("jacobian derivative")
    trees = [aligned_tree(random, 8) for _ in range(15)]
    trees += [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    h = 1e-3
    for m in trees:
        name = m.frame_names[int(random.integers(len(m.frame_names)))]
        q, v = random_configuration(random, m), random.normal(size=m.n_v)

        def twist(t: float, m=m, q=q, v=v, name=name):
            moved = evaluate("integrate", m, q, t * v)
            return evaluate("jacobian", m, moved, frame=name, reference=reference) @ v

        expected = (8 * (twist(h) - twist(-h)) - (twist(2 * h) - twist(-2 * h))) / (12 * h)
        got = evaluate("jacobian_dot_v", m, q, v, frame=name, reference=reference)
        scale = max(1.0, np.abs(expected).max()) ** 2
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("reference", REFERENCES)
def test_casadi_differentiation(every_joint: Mechanism, reference: str):
    random = rng("jacobian derivative casadi")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q, v, t = cs.SX.sym("q", m.n_q), cs.SX.sym("v", m.n_v), cs.SX.sym("t")
        moved = evaluate("integrate", m, q, t * v)
        for name in m.frame_names[-4:]:
            J = evaluate("jacobian", m, moved, frame=name, reference=reference)
            rate = cs.substitute(cs.jacobian(J @ v, t), t, 0)
            f = cs.Function("f", [q, v], [cs.densify(rate)])
            q0, v0 = random_configuration(random, m), random.normal(size=m.n_v)
            expected = np.array(f(q0, v0)).ravel()
            got = evaluate("jacobian_dot_v", m, q0, v0, frame=name, reference=reference)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)


def test_a_wheel_pulls_inwards():
    m = mechanism_from(chain_urdf(2))
    q, v = np.array([0.3, 0.0]), np.array([2.0, 0.0])
    inwards = -0.1 * 4.0 * np.array([np.cos(0.3), np.sin(0.3), 0])
    got = evaluate("jacobian_dot_v", m, q, v, frame="link2")
    np.testing.assert_allclose(got, [*inwards, 0, 0, 0], rtol=0, atol=1e-15)
    # in its own axes the twist of a wheel does not change, nor does the twist at its axis
    got = evaluate("jacobian_dot_v", m, q, v, frame="link2", reference="local")
    np.testing.assert_allclose(got, np.zeros(6), rtol=0, atol=1e-15)


def test_quadratic_in_v(every_joint: Mechanism):
    m, random = every_joint, rng("quadratic")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    once = evaluate("jacobian_dot_v", m, q, v, frame="tool")
    thrice = evaluate("jacobian_dot_v", m, q, -3 * v, frame="tool")
    np.testing.assert_allclose(thrice, 9 * once, rtol=1e-13, atol=1e-13)


def test_nothing_moves(agree):
    m = mechanism_from(chain_urdf(2, "fixed"))
    for reference in REFERENCES:
        empty = np.zeros((2, 0))
        got = agree("jacobian_dot_v", m, empty, empty, frame="link2", reference=reference)
        assert not got.any()


def test_since_a_body_that_carries_it(every_joint: Mechanism):
    m, random = every_joint, rng("motion since")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    for name in m.frame_names:
        at = world_motion(NUMPY, m, q, v, m.frame(name))
        near([*at.velocity, *at.omega], evaluate("frame_velocity", m, q, v, frame=name), 1e-12)
        rate = evaluate("jacobian_dot_v", m, q, v, frame=name)
        near([*at.acceleration, *at.alpha], rate, 1e-12)
    body = m.ancestry(int(m.frame_body[m.frame("tool")]))[2]
    at = world_motion(NUMPY, m, q, v, m.frame("tool"), since=body)
    T = evaluate("relative", m, q, base=m.body_names[body], frame="tool")
    place = m.frame_placement(m.frame(m.body_names[body]))
    R, p = np.array(place.R), np.array(place.p)
    near(np.array(at.R, float), R @ T[:3, :3], 1e-13)
    near(np.array(at.p, float), R @ T[:3, 3] + p, 1e-13)
