"""The result as people read it."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.simulation.result import EventRecord
from pendulums import pendulum, simulated

M = pendulum(2)


def test_words_about_one_and_about_many():
    one = simulated(M, [0.1, 0.2], None, 0.1)
    assert one.reason == one.reason_for() == "finished"
    assert repr(one) == ("Simulation('pendulum2': 1 roll-out of 0.1 s, 101 states, finished)")
    many = simulated(M, np.zeros((2, 3, 2)), None, 0.1)
    assert many.finished.shape == (2, 3)
    assert "6 roll-outs of 0.1 s, 101 states each, 6 finished" in repr(many)
    assert many.reason_for(1, 2) == "finished"
    assert many.q.shape == (2, 3, 101, 2)
    assert many.energy.shape == (2, 3, 101)


@pytest.mark.parametrize("t", [-0.1, 0.2, float("nan"), [0.05, 0.3]])
def test_instants_outside_are_refused(t):
    with pytest.raises(InputError, match=r"outside the simulated time, 0 to 0\.1 s"):
        simulated(M, [0.1, 0.2], None, 0.1).at(t)


def test_instants_of_the_wrong_kind():
    result = simulated(M, [0.1, 0.2], None, 0.1)
    with pytest.raises(InputError, match="t must be real numbers"):
        result.at("now")
    with pytest.raises(InputError, match=r"t must be a number or an array \(k,\)"):
        result.at([[0.1]])


def test_numbers_are_computed_once():
    result = simulated(M, [0.1, 0.2], None, 0.1)
    assert result.energy is result.energy
    assert result.torques is result.torques
    np.testing.assert_array_equal(result.torques, 0.0)


def test_an_event_record():
    record = EventRecord("hit", (), 0.5, np.zeros(1), np.ones(1))
    assert record.name == "hit"
    assert record.time == 0.5
