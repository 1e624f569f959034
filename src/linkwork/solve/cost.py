"""What solutions are compared by: near to a start, far from limits, able to move any way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import algorithm_recipe
from linkwork.errors import InputError, ShapeError
from linkwork.solve.options import Choose
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]
Cost = Callable[[Floats, Floats], Floats]
"""(q (n, nq), q0 (n, nq)) -> (n,), the least is the best."""


def cost_of(problem: Problem, choose: Choose, compiler: Compiler) -> Cost:
    """The cost that a choice stands for.

    Raises: InputError where "manipulable" has no frame to look at.
    """
    if callable(choose):
        return lambda q, _: _own(choose, q)
    if choose == "nearest":
        return lambda q, q0: distance(problem, q, q0)
    if choose == "centred":
        return lambda q, _: _off_centre(problem, q)
    frames = [task.frames[0] for task in problem.tasks if task.frames]
    if not frames:
        raise InputError("choose='manipulable' needs a task of a frame; none of these has one")
    jacobian = build(
        algorithm_recipe("jacobian", problem.mechanism, frame=frames[0]), compiler=compiler
    )
    return lambda q, _: -_manipulability(problem, jacobian, q)


def _own(choose: Callable[[Floats], Floats], q: Floats) -> Floats:
    given = real_array(choose(q), "what choose gives")
    if given.shape != q.shape[:1]:
        raise ShapeError(
            f"choose must give one number for each of {len(q)} rows, not shape {given.shape}"
        )
    return np.where(np.isnan(given), np.inf, given)


def distance(problem: Problem, q: Floats, q0: Floats) -> Floats:
    """The length of the way from q0 (n,) in radians, for q, q0 (n, nq).

    A slide counts by the mechanism's length, a rotation by the chord between its quaternions,
    which must be on the same side.
    """
    scale = np.ones(problem.mechanism.n_q)
    for c, kind in enumerate(problem.mechanism.joint_types):
        start = int(problem.mechanism.q_start[c])
        scale[start : start + kind.n_lengths] = 1.0 / problem.length
        if kind.has_quaternion:
            scale[start + kind.n_lengths : start + kind.n_q] = 2.0
    away = ((q - q0) * scale)[:, list(problem.moved)]
    return np.sqrt(np.einsum("ni,ni->n", away, away))


def _off_centre(problem: Problem, q: Floats) -> Floats:
    """The largest distance from the middle of the limits, as a share of half the range."""
    lower, upper = problem.lower, problem.upper
    bounded = np.isfinite(lower) & np.isfinite(upper) & (upper > lower)
    if not bounded.any():
        return np.zeros(len(q))
    x = q[:, list(problem.moved)][:, bounded]
    lower, upper = lower[bounded], upper[bounded]
    middle, half = 0.5 * (upper + lower), 0.5 * (upper - lower)
    return np.abs((x - middle) / half).max(axis=1)


def _manipulability(problem: Problem, jacobian: Kernel, q: Floats) -> Floats:
    """The volume of the velocity ellipsoid: the product of the singular values.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4 (1985).
    """
    J = jacobian(q)[:, :, list(problem.moved_v)]
    return np.prod(np.linalg.svd(J, compute_uv=False), axis=-1)
