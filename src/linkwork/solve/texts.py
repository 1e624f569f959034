"""A problem as the texts of the pipeline: where to start, one step, what was reached, and seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.forward_kinematics import fk
from linkwork.conventions import RIGID_TOLERANCE
from linkwork.mechanism.position_limits import limited_angles
from linkwork.ops.protocol import Block, Ops
from linkwork.solve import cones
from linkwork.solve.best import starts_of
from linkwork.solve.code import Texts
from linkwork.solve.explain import ROUNDING
from linkwork.solve.moves import violation
from linkwork.solve.pose_features import far_from_rigid, pose_features
from linkwork.solve.problem import Problem
from linkwork.solve.step import configuration_of, seen_at, step
from linkwork.solve.tasks.pose import Pose, pose_numbers

Floats = NDArray[np.float64]

_LARGEST = 1.0e300
"""Numbers of targets that add up to more are refused."""


def problem_texts(problem: Problem) -> Texts:
    """The texts of a problem.

    The target of each task goes in by itself, poses as matrices (4, 4), all checked on the way, and
    so is that what rests is inside its limits.
    Where limits take numbers too, and where no task takes any, the rows of numbers go in as
    `inputs.rows_of` makes them.
    """
    n_parameters = problem.layout.n_parameters
    needs_settings = any(any(task.slack) for task in problem.tasks) or bool(problem.limits)

    def prepare(o: Ops, *given: Block) -> dict[str, Block]:
        *targets, q0 = given
        if taking(problem):
            parameters, fault = _of_targets(o, problem, targets, q0)
        else:
            parameters, fault = targets[0], far(o, targets[0], n_parameters)
        return {
            "x0": o.vector(inside(o, problem, q0)),
            "parameters": parameters,
            "fault": o.vector([fault]),
            "features": o.vector(target_features(o, parameters) if has_seeds(problem) else []),
        }

    def step_(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = step(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    def verify_(
        o: Ops, x: Block, q0: Block, parameters: Block, settings: Block
    ) -> dict[str, Block]:
        given = settings if needs_settings else o.vector([0.0] * problem.layout.n_settings)
        return verify(o, problem, x, q0, parameters, given)

    def place(o: Ops, x: Block) -> dict[str, Block]:
        q = configuration_of(o, problem, x, o.vector([0.0] * n_parameters))
        T = fk(o, problem.mechanism, q, frame=problem.tasks[0].frames[0])
        R = [[T[i, j] for j in range(3)] for i in range(3)]
        return {"features": o.vector(pose_features(o, [T[i, 3] for i in range(3)], R))}

    return Texts(
        key=problem.key,
        targets=_shapes(problem) or ((n_parameters,),),
        n_q=problem.mechanism.n_q,
        n=len(problem.moved),
        n_parameters=n_parameters,
        n_settings=problem.layout.n_settings,
        verify_needs_settings=needs_settings,
        prepare=prepare,
        step=step_,
        verify=verify_,
        place=place if has_seeds(problem) else None,
    )


def taking(problem: Problem) -> tuple[int, ...]:
    """The tasks that take a target, where a row is these and the positions that are held.

    None where limits take numbers as well.
    """
    tasks = problem.tasks
    numbers = sum(task.n_target for task in tasks) + len(problem.held)
    plain = problem.layout.n_parameters == numbers
    return tuple(k for k, task in enumerate(tasks) if task.n_target) if plain else ()


def takes_pose(problem: Problem) -> bool:
    """Whether the only target is a pose."""
    found = taking(problem)
    return len(found) == 1 and problem.tasks[found[0]].read is pose_numbers


def poses_of(numbers: Floats) -> Floats:
    """Poses (N, 4, 4) of their numbers (N, 12)."""
    poses = np.zeros((len(numbers), 4, 4))
    poses[:, :3, 3], poses[:, 3, 3] = numbers[:, :3], 1.0
    poses[:, :3, :3] = numbers[:, 3:].reshape(-1, 3, 3)
    return poses


def targets_of(problem: Problem, parameters: Floats) -> list[Floats]:
    """The targets of rows of parameters (N, p), as the texts take them."""
    found: list[Floats] = []
    for k in taking(problem):
        own = parameters[:, slice(*problem.layout.targets[k])]
        matrix = problem.tasks[k].read is pose_numbers
        found.append(poses_of(own) if matrix else np.ascontiguousarray(own))
    return found or [parameters]


def _shapes(problem: Problem) -> tuple[tuple[int, ...], ...]:
    tasks = [problem.tasks[k] for k in taking(problem)]
    return tuple((4, 4) if task.read is pose_numbers else (task.n_target,) for task in tasks)


def _one_pose(problem: Problem) -> bool:
    return len(problem.tasks) == 1 and isinstance(problem.asked["tasks"][0], Pose)


def has_seeds(problem: Problem) -> bool:
    """Whether it asks for one whole pose that depends on what is moved alone, all of it bounded."""
    if not _one_pose(problem) or problem.held or problem.limits:
        return False
    whole = problem.tasks[0].n_rows == 6 and not any(problem.tasks[0].slack)
    return whole and not starts_of(problem).kept.any()


def thresholds(problem: Problem, settings: Floats) -> Floats:
    """What the measures of `verify` may be at most: lower priorities decide nothing."""
    at = problem.layout.thresholds[0][0]
    most: list[float] = []
    for k, task in enumerate(problem.tasks):
        own = settings[at : at + len(task.groups)]
        most += own.tolist() if k in problem.deciding else [math.inf] * len(task.groups)
        at += len(task.groups)
    return np.array([*most, ROUNDING])


def inside(o: Ops, problem: Problem, q0: Block) -> list[Block]:
    """What moves of q0, inside the limits of the description."""
    x0: list[Block] = []
    for at, k in enumerate(problem.moved):
        value = q0[k]
        if math.isfinite(problem.upper[at]):
            value = o.minimum(value, float(problem.upper[at]))
        if math.isfinite(problem.lower[at]):
            value = o.maximum(value, float(problem.lower[at]))
        x0.append(value)
    return x0


def _of_targets(
    o: Ops, problem: Problem, targets: Sequence[Block], q0: Block
) -> tuple[Block, Block]:
    """The parameters of targets, poses given by rows (16,), and whether all are fit."""
    numbers: list[Block] = []
    faults: list[Block] = []
    for k, target in zip(taking(problem), targets, strict=True):
        count = problem.tasks[k].n_target
        if problem.tasks[k].read is not pose_numbers:
            numbers += [target[i] for i in range(count)]
            faults.append(far(o, target, count))
            continue
        R = [[target[4 * i + j] for j in range(3)] for i in range(3)]
        numbers += [target[4 * i + 3] for i in range(3)] + [x for row in R for x in row]
        faults.append(far_from_rigid(o, R, [target[12 + j] for j in range(4)]) - RIGID_TOLERANCE)
    numbers += [q0[k] for k in problem.held]
    if problem.resting:
        faults.append(_outside(o, problem, q0))
    return o.vector(numbers), faults[0] if len(faults) == 1 else _any_fault(o, faults)


def _outside(o: Ops, problem: Problem, q0: Block) -> Block:
    """Above zero where what rests lies outside its limits."""
    beyond: list[Block] = []
    for k in problem.resting:
        lower, upper = float(problem.mechanism.lower[k]), float(problem.mechanism.upper[k])
        beyond += [q0[k] - upper] if math.isfinite(upper) else []
        beyond += [lower - q0[k]] if math.isfinite(lower) else []
    m = problem.mechanism
    for c in limited_angles(m, problem.resting):
        wxyz = [q0[int(m.q_start[c]) + k] for k in range(4)]
        beyond.append(cones.beyond(o, wxyz, float(m.angle_limit[c])))
    return _most(o, beyond)


def _any_fault(o: Ops, faults: Sequence[Block]) -> Block:
    """Above zero where any is, and not a number where any is none."""
    beyond = [o.select(o.less(fault, 0.0), 0.0, fault) for fault in faults]
    return sum(beyond[1:], beyond[0])


def far(o: Ops, numbers: Block, count: int) -> Block:
    """Above zero where a number is infinite, and not a number where one is none."""
    return sum((o.absolute(numbers[k]) for k in range(count)), o.const(-_LARGEST))


def target_features(o: Ops, parameters: Block) -> list[Block]:
    """Where in the table of seeds a problem of one pose belongs, from its parameters."""
    rows = [[parameters[3 + 3 * i + j] for j in range(3)] for i in range(3)]
    return pose_features(o, [parameters[k] for k in range(3)], rows)


def verify(
    o: Ops, problem: Problem, x: Block, q0: Block, parameters: Block, settings: Block
) -> dict[str, Block]:
    """q, with angles without limits on the turn nearest to q0, and its measures.

    They are the squared measure of every group of every task, then how far q is outside of limits:
    more than `ROUNDING` for any position that is outside of the description's.
    """
    q = [q0[k] for k in range(problem.mechanism.n_q)]
    outside: list[Block] = [o.const(0.0)]
    for at, k in enumerate(problem.moved):
        value = x[at]
        if problem.wraps[at]:
            value = value + (2.0 * math.pi) * o.floor((q0[k] - value) * (0.5 / math.pi) + 0.5)
        if math.isfinite(problem.upper[at]):
            outside.append(value - float(problem.upper[at]))
        if math.isfinite(problem.lower[at]):
            outside.append(float(problem.lower[at]) - value)
        q[k] = value
    moved = [q[k] for k in problem.moved]
    whole = configuration_of(o, problem, o.vector(moved), parameters)
    seen = seen_at(o, problem, whole, parameters, settings)
    measures = [squared for each in seen for squared in each.residual.squared]
    beyond = _most(o, outside)
    beyond = o.select(o.less(0.0, beyond), beyond + 2.0 * ROUNDING, 0.0)
    worst = o.maximum(beyond, violation(o, problem, moved, (parameters, settings)))
    return {"q": o.vector(q), "measures": o.vector([*measures, worst])}


def _most(o: Ops, values: Sequence[Block]) -> Block:
    most = values[0]
    for value in values[1:]:
        most = o.maximum(most, value)
    return most
