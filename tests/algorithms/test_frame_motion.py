"""Velocity and acceleration of frames: Pinocchio, the Jacobian, closed forms, back ends."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_pinocchio import Beside, near, real, trees
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, UnknownNameError
from linkwork.loading import load
from linkwork.mechanism.model import Mechanism
from robots import chain_urdf, mechanism_from, random_configuration
from seeds import rng


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
