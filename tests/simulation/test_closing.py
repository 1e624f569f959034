"""Where simulations of closed mechanisms begin, and what is said of loops that are open."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.simulation.closing import Words, begun_closed, corrected
from linkwork.simulation.drive import Drive
from pendulums import LIBRARY, request, simulated

ROBOT = lw.load("four_bar")
M, NEUTRAL = ROBOT.mechanism, ROBOT.neutral()
SPEEDS = (ROBOT.passive_rates(NEUTRAL) @ [2.0]).ravel()


def test_what_is_not_assembled_is_refused_by_loop_and_gap():
    with pytest.raises(InputError, match=r"q0 is not assembled: 'hinge .*' by 0\.\d+ m"):
        simulated(M, NEUTRAL + np.array([0.1, 0.0, 0.0]))
    both = np.stack([NEUTRAL, NEUTRAL + np.array([0.0, 0.01, 0.0])])
    with pytest.raises(InputError, match=r"q0 of row \[1\] is not assembled.*assemble\(\.\.\.\)"):
        simulated(M, both)
    with pytest.raises(InputError, match=r"v0 opens the loop 'hinge' by .*passive_rates\(q0\)"):
        simulated(M, NEUTRAL, [1.0, 0.0, 0.0])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", ["rk4", "dopri5", "implicit"])
def test_what_is_nearly_assembled_is_closed_first(method: str):
    q0, v0 = NEUTRAL + np.array([3e-7, 0.0, 0.0]), SPEEDS + np.array([0.0, 1e-7, 0.0])
    found = simulated(M, q0, v0, 0.01, method=method)
    assert np.abs(ROBOT.closure(found.q)).max() < 1e-12
    np.testing.assert_allclose(found.q[0], NEUTRAL, atol=1e-6)
    assert np.abs(ROBOT.closure_jacobian(found.q[0]) @ found.v[0]).max() < 1e-9


def test_first_states_that_are_closed_stay():
    asked = request(M, NEUTRAL, SPEEDS)
    begun = begun_closed(asked, LIBRARY)
    np.testing.assert_allclose(begun.q0[0], NEUTRAL, atol=1e-8)
    np.testing.assert_allclose(begun.v0[0], SPEEDS, atol=1e-7)


def test_rows_are_corrected_until_they_are_closed():
    asked = request(M, np.stack([NEUTRAL] * 3), None, torque=[0.0, 0.0, 0.0])
    kernel = LIBRARY.kernel(asked.system.projection_recipe())
    drive = Drive(asked, LIBRARY)
    q = np.stack([NEUTRAL, NEUTRAL + np.array([1e-3, 0, 0]), [np.nan, 0.0, 0.0]])
    v = np.zeros((3, 3))
    found, _, closed = corrected(kernel, (q, v), (drive.constants, np.zeros((3, 0))))
    assert closed.tolist() == [True, True, False]
    assert np.abs(ROBOT.closure(found[:2])).max() < 1e-12
    assert np.isnan(q[2, 0])  # what is given stays
    np.testing.assert_array_equal(drive.closed(q, v, 0.0)[0][:2], found[:2])
    one = drive.closed(q[1:2], v[1:2], 0.0, only=slice(1, 2))
    np.testing.assert_array_equal(one[0], found[1:2])


def test_words():
    words = Words(M)
    system = request(M, NEUTRAL).system
    gap = LIBRARY.kernel(system.gaps_recipe())(NEUTRAL + np.array([0.01, 0, 0]), np.zeros(3))
    assert words.left_open(gap, "too long").startswith("the loops cannot be kept closed: 'hinge ")
    moving = LIBRARY.kernel(system.gaps_recipe())(NEUTRAL, np.array([1.0, 0.0, 0.0]))
    moving[: len(moving) - 1] = 0.0
    assert "the loop 'hinge' by" in words.left_open(moving, "too long")
