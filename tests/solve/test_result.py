"""The result object: shapes, words, brevity; it is cheap and does not change."""

from __future__ import annotations

import pickle
import timeit

import numpy as np
import pytest

import linkwork as lw
from linkwork.solve.result import Column, IKResult, Terms
from linkwork.solve.tasks.base import Group

COLUMNS = (
    Column("hand", Group("position", "m", 0, 3), 0),
    Column("hand", Group("rotation", "rad", 3, 6, chord=True), 0),
    Column("elbow", Group("position", "m", 0, 3), 1),
)


def because(q, measures, numbers):
    return f"because of {int(numbers[0])}"


def result(success, measures=(0.0, 0.0, 0.0)):
    success = np.asarray(success)
    shape = success.shape
    report = np.zeros((*shape, 7))
    report[..., 0], report[..., 1:4] = success, measures
    report[..., 5:] = 4, 2
    terms = Terms(COLUMNS, np.array([1e-10, 4e-8, 1e-10]), because)
    numbers = np.arange(float(success.size)).reshape(-1, 1)
    return IKResult(np.zeros((*shape, 3)), report, terms, numbers, 0.25)


def test_one_target():
    assert result(True).reason == "solved"
    assert result(False).reason == "because of 0"
    assert result(False).reason_for() == "because of 0"
    one = result(True)
    kinds = [type(x) for x in (one.success, one.iterations, one.restarts, one.position_error)]
    assert kinds == [bool, int, int, float]
    assert (one.iterations, one.restarts, one.seconds, one.cost) == (4, 2, 0.25, None)


def test_a_batch_counts_failures_and_explains_the_first():
    r = result([[True, True], [True, False], [False, True]])
    assert r.reason == "2 of 6 not solved; the first, [1, 1]: because of 3"
    assert r.reason_for(0, 0) == "solved"
    assert r.reason_for(2, 0) == "because of 4"
    assert r.reason_for(-1, 0) == "because of 4"
    with pytest.raises(IndexError):
        r.reason_for(3, 0)


def test_errors_by_task_and_group_and_the_largest_that_decide():
    chord = (2.0 * np.sin(0.15)) ** 2
    r = result([True, False], (9e-4, chord, 0.25))
    np.testing.assert_allclose(r.errors["hand"]["position"], 0.03)
    np.testing.assert_allclose(r.errors["hand"]["rotation"], 0.3)
    np.testing.assert_allclose(r.errors["elbow"]["position"], 0.5)
    np.testing.assert_allclose(r.position_error, [0.03, 0.03])  # the elbow's does not decide
    np.testing.assert_allclose(r.rotation_error, [0.3, 0.3])
    np.testing.assert_allclose(r.terms.tolerances, [1e-5, 2e-4, 1e-5], rtol=1e-6)


def test_the_printed_form_stays_short():
    assert len(repr(result(np.ones(100_000, bool)))) < 300
    assert "solved 1 of 1" in repr(result(True))
    assert "solved 0 of 0" in repr(result(np.ones(0, bool)))


@pytest.mark.parametrize("name", ["q", "success", "seconds", "other"])
def test_a_result_does_not_change(name):
    r = result(True)
    with pytest.raises(AttributeError, match="does not change"):
        setattr(r, name, 1)
    with pytest.raises(AttributeError, match="does not change"):
        delattr(r, name)


def test_a_result_survives_pickling_with_its_words():
    robot = lw.load("planar_2r")
    r = robot.ik(robot.fk(robot.random(4, seed=0)) * [[1.0], [1.0], [1.0], [1.0]], tries=2)
    far = robot.ik(lw.pose((9.0, 0.0, 0.0)), tries=2)
    for each in (r, far):
        again = pickle.loads(pickle.dumps(each))
        assert again.q.tobytes() == each.q.tobytes()
        assert again.reason == each.reason
        assert np.array_equal(again.success, each.success)
        assert repr(again) == repr(each)
    assert "out of reach" in pickle.loads(pickle.dumps(far)).reason


def test_making_one_computes_nothing():
    """Some hundred nanoseconds; the limit only tells them from arrays that are computed."""
    r = result(True)
    q, report, numbers = r.q, r.report, np.zeros((1, 1))
    best = min(timeit.repeat(lambda: IKResult(q, report, r.terms, numbers), number=1000, repeat=5))
    assert best / 1000 < 5e-6
    assert set(vars(IKResult(q, report, r.terms, numbers))) == {
        "q", "report", "_terms", "_numbers", "seconds", "cost", "_of_none", "free_directions",
    }  # fmt: skip
