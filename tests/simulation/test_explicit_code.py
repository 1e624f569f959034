"""Native explicit steps against the same methods in NumPy, and their orders."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.simulation.drive import Drive
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import FIXED
from linkwork.simulation.stepping import run_steps
from pendulums import LIBRARY, brick, free_tree, orders, pendulum, request, simulated
from seeds import rng


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["rk4", "euler"])
@pytest.mark.parametrize("m", [pendulum(2), free_tree(4)], ids=["pendulum", "tree"])
def test_native_steps_are_those_of_numpy(name: str, m):
    random = rng("native against numpy")
    q0 = np.zeros((3, m.n_q))
    q0[:, 3:4] = 1.0 if m.n_q > m.n_v else q0[:, 3:4]
    v0 = random.standard_normal((3, m.n_v))
    asked = request(m, q0, v0, duration=0.05, dt=0.01)
    native = rollout_of(asked.system, FIXED[name], LIBRARY, single=False)
    assert native is not None
    fast, slow = native.run(asked), run_steps(Drive(asked, LIBRARY), FIXED[name])
    np.testing.assert_allclose(fast.q, slow.q, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fast.v, slow.v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("euler", 1)])
@pytest.mark.parametrize(
    ("m", "v0"),
    [(pendulum(2), [1.0, -2.0]), (brick(), [0.1, 0.2, 0.3, 4.0, 0.1, -3.0])],
    ids=["pendulum", "brick"],
)
def test_order_of_convergence(name: str, order: int, m, v0: list[float]):
    q0 = np.eye(1, m.n_q, 3)[0] if m.n_q > m.n_v else np.array([0.4, 0.9])
    exact = simulated(m, q0, v0, 0.4, dt=1e-4, record=0)
    errors = []
    for dt in (0.02, 0.01, 0.005):
        found = simulated(m, q0, v0, 0.4, method=name, dt=dt, record=0)
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    assert orders(errors)[-1] == pytest.approx(order, abs=0.15)
