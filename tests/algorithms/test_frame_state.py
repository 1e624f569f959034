"""How a frame moves while v stays, against the frame's pose, velocity and acceleration."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import matrix
from linkwork.algorithms.frame_state import frame_state
from linkwork.algorithms.registry import evaluate
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import random_configuration
from seeds import rng


def test_a_frame_from_the_world(every_joint: Mechanism):
    m, random = every_joint, rng("frame state")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    for name in m.frame_names:
        state = frame_state(NUMPY, m, q, v, m.frame(name))
        T = evaluate("fk", m, q, frame=name)
        np.testing.assert_allclose(matrix(NUMPY, state.axes), T[:3, :3], atol=1e-13)
        zero = np.zeros(3)
        got = [zero if x is None else x for x in state[1:]]
        np.testing.assert_allclose(got[0], T[:3, 3], atol=1e-13)
        twist = evaluate("frame_velocity", m, q, v, frame=name)
        np.testing.assert_allclose(np.concatenate(got[1:3]), twist, atol=1e-12)
        rate = evaluate("jacobian_dot_v", m, q, v, frame=name)
        np.testing.assert_allclose(np.concatenate(got[3:]), rate, atol=1e-12)


def test_since_a_body_that_carries_it(every_joint: Mechanism):
    m, random = every_joint, rng("frame state since")
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    body = m.ancestry(int(m.frame_body[m.frame("tool")]))[2]
    state = frame_state(NUMPY, m, q, v, m.frame("tool"), since=body)
    T = evaluate("relative", m, q, base=m.body_names[body], frame="tool")
    place = m.frame_placement(m.frame(m.body_names[body]))
    R, p = np.array(place.R), np.array(place.p)
    np.testing.assert_allclose(matrix(NUMPY, state.axes), R @ T[:3, :3], atol=1e-13)
    np.testing.assert_allclose(state.p, R @ T[:3, 3] + p, atol=1e-13)
