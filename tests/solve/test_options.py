"""What can be said of a search, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.solve.inputs import Options, changed
from linkwork.solve.objectives import Centred
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Pose, Position, Posture

ARM = lw.load("panda").mechanism


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("position_tolerance", 0.0),
        ("position_tolerance", np.nan),
        ("position_tolerance", True),
        ("rotation_tolerance", -1.0),
        ("rotation_tolerance", "1"),
        ("seconds", 0.0),
        ("seconds", math.inf),
        ("steps", 0),
        ("steps", 2**31),
        ("tries", 0),
        ("tries", 1.5),
        ("seed", -1),
        ("seed", "a"),
        ("seed", None),
        ("best_of", 0),
        ("best_of", True),
        ("choose", "best"),
        ("choose", 3),
        ("choose", ["nearest"]),
    ],
)
def test_wrong_options_are_refused(field, value):
    with pytest.raises(InputError, match=field):
        Options(**{field: value})


def test_changes_take_the_place_of_fields_and_none_leaves_them():
    start, nothing = Options(tries=5, seed=2), (None,) * 8
    assert changed(start, nothing) is start
    assert changed(start, (None, None, None, 7, None, None, None, None)) == Options(tries=7, seed=2)
    assert changed(None, nothing) == Options()
    with pytest.raises(InputError, match="must be Options, not dict"):
        changed({"tries": 3}, nothing)  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="tries"):
        changed(Options(), (None, None, None, 0, None, None, None, None))


def test_more_is_tried_where_something_is_improved():
    plain = make_problem(ARM, Pose("tool0"))
    lower = make_problem(ARM, [Pose("tool0"), Position("link4", priority=1)])
    centred = make_problem(ARM, Pose("tool0"), objectives=[Centred()])
    options = Options()
    assert options.steps_for(plain) < options.steps_for(centred) == options.steps_for(lower)
    assert options.tries_for(lower) < options.tries_for(plain) == options.tries_for(centred)
    given = Options(steps=3, tries=4)
    assert {given.steps_for(p) for p in (plain, lower, centred)} == {3}
    assert {given.tries_for(p) for p in (plain, lower, centred)} == {4}


def test_a_try_that_closes_loops_is_longer():
    plain = make_problem(ARM, Pose("tool0"))
    closing = lw.load("five_bar").solver(tasks=Position("tool0", axes="xy")).problem
    assert Options().steps_for(plain) < Options().steps_for(closing)
    assert Options(steps=3).steps_for(closing) == 3


def test_tolerances_of_the_call_come_before_those_of_the_tasks():
    tasks = [Pose("tool0", tolerance=(1e-3, 0.1)), Posture(tolerance=0.2, priority=1)]
    problem = make_problem(ARM, tasks)

    def chord(a):
        return (2.0 * math.sin(a / 2.0)) ** 2

    assert Options().thresholds(problem) == pytest.approx([1e-6, chord(0.1), 0.04])
    both = Options(position_tolerance=1e-2, rotation_tolerance=0.5)
    assert both.thresholds(problem) == pytest.approx([1e-4, chord(0.5), 0.25])
    assert Options(rotation_tolerance=4.0).thresholds(problem)[1] == pytest.approx(4.0)
