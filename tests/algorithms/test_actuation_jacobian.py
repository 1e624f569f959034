"""The Jacobian of the actuation: the frame's Jacobian times the passive rates."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism import parameters
from linkwork.models import MODELS

CLOSED = [name for name in MODELS if MODELS[name].closed]


def at_neutral(robot) -> np.ndarray:
    return robot.solver(tasks=[lw.ik.Closed()]).solve(None, robot.neutral()).q


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("reference", REFERENCES)
def test_it_is_the_product(name: str, reference):
    robot, tip = lw.load(name), MODELS[name].tip
    q = at_neutral(robot)
    found = robot.function("actuation_jacobian", tip, reference=reference)(q)
    expected = robot.jacobian(q, tip, reference=reference) @ robot.passive_rates(q)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    base = robot.function("actuation_jacobian", robot.frame_names[0], reference=reference)(q)
    assert base.shape == found.shape and not base.any()


def test_back_ends_agree(agree):
    robot = lw.load("excavator")
    q = np.stack([at_neutral(robot)] * 2)
    agree("actuation_jacobian", robot.mechanism, q, frame=MODELS["excavator"].tip)


def test_parameters_move_the_loop_and_the_frame():
    robot, tip = lw.load("five_bar"), MODELS["five_bar"].tip
    name = f"xyz:{tip}"
    q, m = at_neutral(robot), robot.mechanism
    given = np.asarray(parameters.values(m, [name])[0])
    f = robot.function("actuation_jacobian", tip, parameters=[name])
    np.testing.assert_allclose(f(q, given), robot.actuation_jacobian(q, tip), atol=1e-12)
    far = f(q, given + np.array([0.0, 0.2, 0.0]))
    moved = np.eye(4)
    moved[1, 3] = 0.2
    other = robot.with_frame("far", tip, moved).actuation_jacobian(q, "far")
    np.testing.assert_allclose(far, other, atol=1e-12)


def test_names_that_are_none():
    robot = lw.load("five_bar")
    q = at_neutral(robot)
    with pytest.raises(UnknownNameError):
        robot.actuation_jacobian(q, "nothing")
    with pytest.raises(InputError):
        robot.actuation_jacobian(q, reference="elsewhere")
    with pytest.raises(UnknownNameError):
        robot.actuation_jacobian(q, ["left_end"])
