"""Selection among solutions: their turns, which are distinct, and what makes one the best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import build
from linkwork.compile.recipe import algorithm_recipe
from linkwork.errors import InputError, ShapeError
from linkwork.solve.inputs import Choose
from linkwork.solve.problem import Problem

Floats = NDArray[np.float64]


def cheapest(cost: Floats, success: NDArray[np.bool_], misses: Floats) -> NDArray[np.int64]:
    """The places (N,) of the cheapest success of (N, K) solutions, else of the nearest miss."""
    any_solved = np.any(success, axis=1, keepdims=True)
    ranked = np.where(any_solved, np.where(success, cost, np.inf), misses)
    return ranked.argmin(axis=1)


def nearest_turns(problem: Problem, q: Floats, start: Floats) -> Floats:
    """The same configurations with every angle on the turn that is nearest to ``start``.

    Shapes: (n, nq) all. Limits are kept: a joint that has more than a turn may choose. A quaternion
    takes the sign that is nearer.
    """
    moved = list(problem.moved)
    x = q[:, moved]
    turn = 2.0 * np.pi
    with np.errstate(invalid="ignore"):
        least, most = np.ceil((problem.lower - x) / turn), np.floor((problem.upper - x) / turn)
    count = np.clip(np.round((start[:, moved] - x) / turn), least, most)
    count = np.where(problem.same_turns & (least <= most), count, 0.0)
    turned = q.copy()
    nearer = np.clip(x + turn * count, problem.lower, problem.upper)
    turned[:, moved] = np.where(count == 0.0, x, nearer)
    for _, at, _ in problem.quaternions:
        part = moved[at : at + 4]
        away = np.einsum("ni,ni->n", turned[:, part], start[:, part]) < 0.0
        turned[np.ix_(away, part)] *= -1.0
    return turned


def distinct(problem: Problem, q: Floats, apart: float) -> NDArray[np.int64]:
    """The first of each group of rows of q (n, nq) that lie within ``apart`` of each other.

    By the largest difference of a joint; whole turns are no difference where `nearest_turns` may
    choose them, lengths count by the mechanism's, and quaternions by twice their difference.
    """
    moved = list(problem.moved)
    turns = problem.same_turns
    scale = np.where(problem.is_angle, 1.0, 1.0 / problem.length)
    quaternions = [at for _, at, _ in problem.quaternions]
    for first in quaternions:
        scale[first : first + 4] = 2.0
    x = q[:, moved]
    kept: list[int] = []
    for k, row in enumerate(x):
        away = x[kept] - row
        whole = np.where(turns, np.round(away / (2.0 * np.pi)), 0.0)
        away = np.abs(away - 2.0 * np.pi * whole)
        for first in quaternions:  # one and its negative are one rotation
            part = slice(first, first + 4)
            away[:, part] = np.minimum(away[:, part], np.abs(x[kept][:, part] + row[part]))
        away *= scale
        if not kept or away.max(axis=1).min() > apart:
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def nearest_first(problem: Problem, q: Floats, start: Floats, apart: float) -> NDArray[np.int64]:
    """The `distinct` rows of q (n, nq), the nearest to ``start`` (nq,) first."""
    order = np.argsort(distance(problem, q, start), kind="stable")
    return order[distinct(problem, q[order], apart)]


Cost = Callable[[Floats, Floats], Floats]
"""(q (n, nq), q0 (n, nq)) -> (n,), the least is the best."""


def cost_of(problem: Problem, choose: Choose, compiler: Compiler) -> Cost:
    """The cost that a choice stands for.

    "centred": the largest distance from the middle of the limits, as a share of half the range;
    "manipulable": less the product of the singular values of the frame's Jacobian.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4 (1985).
    Raises: InputError where "manipulable" has no frame to look at.
    """

    def by_function(q: Floats, _: Floats) -> Floats:
        given = real_array(choose(q), "what choose gives") if callable(choose) else q
        if given.shape != q.shape[:1]:
            raise ShapeError(
                f"choose must give one number for each of {len(q)} rows, not shape {given.shape}"
            )
        return np.where(np.isnan(given), np.inf, given)

    def off_centre(q: Floats, _: Floats) -> Floats:
        lower, upper = problem.lower, problem.upper
        bounded = np.isfinite(lower) & np.isfinite(upper) & (upper > lower)
        lower, upper = lower[bounded], upper[bounded]
        away = q[:, list(problem.moved)][:, bounded] - 0.5 * (upper + lower)
        return np.abs(away / (0.5 * (upper - lower))).max(axis=1, initial=0.0)

    if callable(choose):
        return by_function
    if choose == "nearest":
        return lambda q, q0: distance(problem, q, q0)
    if choose == "centred":
        return off_centre
    frames = [task.frames[0] for task in problem.tasks if task.frames]
    if not frames:
        raise InputError("choose='manipulable' needs a task of a frame; none of these has one")
    recipe = algorithm_recipe("jacobian", problem.mechanism, frame=frames[0])
    jacobian, columns = build(recipe, compiler=compiler), list(problem.moved_v)
    return lambda q, _: -np.prod(np.linalg.svd(jacobian(q)[:, :, columns], compute_uv=False), -1)


def distance(problem: Problem, q: Floats, q0: Floats) -> Floats:
    """The length of the way from q0 (n,) in radians, for q, q0 (n, nq).

    A slide counts by the mechanism's length, a rotation by the chord between its quaternions,
    which must be on the same side. The length of q0's quaternions does not count.
    """
    sizes = {"length": 1.0 / problem.length, "angle": 1.0, "quaternion": 2.0}
    moved = list(problem.moved)
    scale = np.array([sizes[kind] for kind in problem.mechanism.kinds_of_q])[moved]
    start = q0[:, moved]
    for _, at, _ in problem.quaternions:
        part = slice(at, at + 4)
        start[:, part] /= np.linalg.norm(start[:, part], axis=1, keepdims=True)
    away = (q[:, moved] - start) * scale
    return np.sqrt(np.einsum("ni,ni->n", away, away))
