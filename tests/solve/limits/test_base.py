"""What a limit is made of."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solve.limits.base import ACCELERATION, POSITION, VELOCITY, Limit, no_numbers
from linkwork.solve.limits.velocity import VelocityLimit


def test_position_comes_before_velocity_and_that_before_acceleration():
    assert POSITION < VELOCITY < ACCELERATION


def test_a_limit_must_say_how_it_is_bound():
    with pytest.raises(TypeError, match="bind"):
        type("Unfinished", (Limit,), {})()
    with pytest.raises(TypeError, match="bind"):
        Limit()


def test_the_key_holds_the_structure_and_not_the_numbers():
    m = lw.load("ur5e").mechanism
    first, second = VelocityLimit(0.1).bind(m), VelocityLimit(0.2, 3.0).bind(m)
    assert first.key == second.key
    assert first.settings != second.settings
    assert VelocityLimit(0.1, {m.joint_names[2]: 1.0}).bind(m).key != first.key


def test_no_numbers_are_read_where_none_are_taken():
    assert no_numbers(np.ones(3)).shape == (0,)
