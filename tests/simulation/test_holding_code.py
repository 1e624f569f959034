"""Native solutions for forces that are held, against those of NumPy; no lane looks at another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.simulation.actuators import PD
from linkwork.simulation.drive import Drive
from linkwork.simulation.implicit import run_implicit, stepped
from linkwork.simulation.rollout import rollout_of
from linkwork.simulation.steppers import FIXED
from linkwork.simulation.stepping import run_steps
from pendulums import LIBRARY, pendulum, request

M = replace(pendulum(2), friction=np.array([15.0, 6.0]))
Q0 = np.linspace(-1.5, 1.5, 11)[:, None] * [1.0, -0.7]
V0 = np.linspace(3.0, 0.0, 11)[:, None] * [1.0, 2.0]


@pytest.mark.parametrize("method", ["rk4", "euler", "implicit"])
def test_native_steps_are_those_of_numpy(method: str):
    law = PD(8.0, 2.0, q_target=[0.1, 0.0], effort_limit=[9.0, 4.0])
    asked = request(M, Q0, V0, duration=0.3, dt=5e-3, torque=law, losses=True)
    if method == "implicit":
        fast, slow = run_implicit(asked, LIBRARY), stepped(asked, LIBRARY)
    else:
        native = rollout_of(asked.system, FIXED[method], LIBRARY, single=False)
        assert native is not None
        fast, slow = native.run(asked), run_steps(Drive(asked, LIBRARY), FIXED[method])
    assert (fast.failed < 0.0).all()
    np.testing.assert_allclose(fast.q, slow.q, atol=1e-9)
    np.testing.assert_allclose(fast.v, slow.v, atol=1e-8)
    assert (np.abs(fast.v[:, -1]) < 1e-12).any()  # some stand


def test_no_row_depends_on_its_neighbours():
    how = {"duration": 0.1, "dt": 5e-3, "losses": True}
    asked = request(M, Q0, V0, **how)
    made = rollout_of(asked.system, FIXED["rk4"], LIBRARY, single=False)
    assert made is not None
    together = made.run(asked)
    for row in (0, 5, 10):
        alone = made.run(request(M, Q0[row : row + 1], V0[row : row + 1], **how))
        np.testing.assert_array_equal(together.q[row], alone.q[0])
