"""Passive rates on every back end, and against differences of assembled configurations."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.models import MODELS
from seeds import rng

CLOSED = [name for name in MODELS if MODELS[name].closed]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["four_bar", "five_bar", "excavator"])
def test_back_ends_agree(name: str, agree):
    robot = lw.load(name)
    near = robot.assembler().solve(robot.neutral()[_driven(robot)], near=robot.neutral()).q
    agree("passive_rates", robot.mechanism, np.stack([near] * 2))


def _driven(robot) -> list[int]:
    m = robot.mechanism
    return [int(m.q_start[m.joint(name)]) for name in robot.actuated]


@pytest.mark.parametrize("name", CLOSED)
def test_differences(name: str):
    robot = lw.load(name)
    g, h, middle = rng(f"passive rates {name}"), 1e-4, robot.neutral()
    at = middle[_driven(robot)]
    inwards = np.where(at + 0.02 > robot.limits.upper[_driven(robot)], -1.0, 1.0)
    at = at + 0.01 * g.uniform(0.5, 1.0, len(at)) * inwards
    start = robot.assemble(at, near=middle).q
    rates = robot.passive_rates(start)
    for k, step in enumerate(h * np.eye(len(at))):
        ends = [robot.assemble(at + sign * step, near=start) for sign in (-1, 1)]
        assert all(end.success for end in ends)
        moved = evaluate("difference", robot.mechanism, *(end.q for end in ends)) / (2 * h)
        np.testing.assert_allclose(rates[:, k], moved, atol=2e-5)


def test_a_length_as_a_parameter():
    robot = lw.load("five_bar")
    plain = robot.function("passive_rates")
    q = robot.assemble([0.1, 0.2]).q
    np.testing.assert_allclose(plain(q), robot.passive_rates(q), atol=1e-13)
    assert "double" in robot.kernel("passive_rates").c_source()
    with pytest.raises(InputError, match="actuate"):
        robot.with_actuated([]).function("passive_rates")
    with pytest.raises(InputError, match="no loops or couplings"):
        lw.load("panda").function("passive_rates")
