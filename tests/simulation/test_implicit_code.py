"""Native Newton steps against those of NumPy: any size, stops and control laws among them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.simulation.actuators import PD
from linkwork.simulation.drive import Drive
from linkwork.simulation.implicit import begun, stepped
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import IMPLICIT
from pendulums import LIBRARY, free_tree, pendulum, request, slider_urdf
from robots import mechanism_from


def both(asked) -> tuple[np.ndarray, np.ndarray]:
    native = rollout_of(asked.system, IMPLICIT, LIBRARY, single=False)
    assert native is not None
    dv = begun(Drive(asked, LIBRARY))[0]
    fast = native.run(asked, more=np.hstack([dv, dv]))
    slow = stepped(asked, LIBRARY)
    assert (slow.failed < 0.0).all()
    np.testing.assert_array_equal(fast.failed, slow.failed)
    return fast.q, slow.q


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "m",
    [pendulum(1), pendulum(5), free_tree(4), pendulum(14)],
    ids=["one", "five", "tree", "fourteen"],
)
def test_native_steps_are_those_of_numpy(m):
    q0 = np.zeros((3, m.n_q))
    if m.n_q > m.n_v:
        q0[:, 3] = 1.0
    v0 = np.linspace(-1.0, 1.0, 3)[:, None] * np.ones(m.n_v)
    fast, slow = both(request(m, q0, v0, duration=0.02))
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-11)


def test_with_stops_and_control():
    m = mechanism_from(slider_urdf())
    law = PD(lambda t: 200.0 + t, 5.0, q_target=[1.0], effort_limit=300.0)
    asked = request(m, [[0.45], [-0.2]], duration=0.2, stops=True, torque=law, losses=True)
    fast, slow = both(asked)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-10)
    assert fast[0].max() > 0.5


def test_no_row_depends_on_its_neighbours():
    m = pendulum(3)
    q0 = np.random.default_rng(0).uniform(-1, 1, (13, 3))
    v0 = np.linspace(0.0, 20.0, 13)[:, None] * [1.0, -1.0, 1.0]  # more iterations for some
    asked = request(m, q0, v0, duration=0.2, dt=0.01)
    made = rollout_of(asked.system, IMPLICIT, LIBRARY, single=False)
    assert made is not None
    all_ = made.run(asked, more=np.zeros((13, 6)))
    for row in range(13):
        rows = slice(row, row + 1)
        alone = request(m, q0[rows], v0[rows], duration=0.2, dt=0.01)
        one = made.run(alone, more=np.zeros((1, 6)))
        np.testing.assert_array_equal(all_.q[row], one.q[0])
