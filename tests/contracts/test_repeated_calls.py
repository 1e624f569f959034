"""Every compiled method of a robot answers alike at its first call and at its fourth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import ALGORITHMS
from static_arguments import static_of

ROBOTS = {"tree": "panda", "loops": "five_bar"}


def plain(value: Any) -> Any:
    """Values with the types of what holds them, to be compared."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return type(value).__name__, [plain(each) for each in value]
    return type(value).__name__, np.shape(value), np.asarray(value).tolist()


@pytest.mark.sweep(6, by="name")
@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("name", [name for name in ALGORITHMS if hasattr(lw.Robot, name)])
def test_four_calls_give_the_same(name: str, kind: str):
    robot, entry = lw.load(ROBOTS[kind]), ALGORITHMS[name]
    if entry.needs_loops and kind == "tree":
        pytest.skip("it is of loops alone")
    q = robot.assemble([0.2, -0.1]).q if kind == "loops" else robot.random(seed=1)
    v = robot.passive_rates(q) @ [0.3, 0.1] if kind == "loops" else 0.1 * np.ones(robot.n_v)
    inputs = [q if of == "q" else v for _, of in entry.inputs]
    frame = static_of(name, robot.mechanism, robot.frame_names[1])
    for arrays in (inputs, [np.stack([x, x]) for x in inputs]):
        found = [plain(getattr(robot, name)(*arrays, **frame)) for _ in range(4)]
        assert found[1:] == found[:-1]
