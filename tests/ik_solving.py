"""Solving tasks of inverse kinematics for many targets, for the tests of each kind of task."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.expressions import parameters_of
from linkwork.solve.inputs import Inputs
from linkwork.solve.tasks import Task
from seeds import rng

N = 200


def robot_of(name: str, **options: Any) -> Any:
    """A bundled robot."""
    return lw.load(name, **options)


def postures(robot: Any, label: str, n: int = N) -> np.ndarray:
    """Random configurations (n, nq), which targets are made of: so they can be reached."""
    return robot.random(n, seed=rng(f"{robot.mechanism.name} {label}"))


def solved(robot: Any, tasks: Task | list[Task], targets: Any, **how: Any) -> np.ndarray:
    """The answers (n, nq), all of which are successes inside the limits of the description."""
    m = robot.mechanism
    result = robot.solver(tasks=tasks, joints=how.pop("joints", None)).solve(targets, **how)
    assert result.success.all(), result.reason
    moved = result.q
    assert ((moved >= m.lower) & (moved <= m.upper)).all()
    return result.q


def rows_of(problem, targets, start):
    """The parameters (N, p) of targets, the starts (N, nq) and the leading shape."""
    rows = Inputs(problem).rows(targets, start, checked=True)
    starts = rows.starts
    numbers = [
        parameters_of(NUMPY, problem, [a[k].ravel() for a in rows.arrays], starts[k])[0]
        for k in range(rows.n)
    ]
    return np.array(numbers).reshape(rows.n, problem.layout.n_parameters), starts, rows.lead
