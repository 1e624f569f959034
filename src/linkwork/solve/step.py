"""One step of inverse kinematics, as text for the tracer."""

from __future__ import annotations

import math

from linkwork.algorithms.configuration import integrate
from linkwork.algorithms.forward_kinematics import fk
from linkwork.algorithms.jacobian import jacobian
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.linear import solve_positive_definite
from linkwork.solve.pose_error import PoseError, pose_error
from linkwork.solve.problem import PoseProblem
from linkwork.spatial.poses import Pose, from_matrix

SETTINGS = ("position_squared", "sine_squared", "least_cosine")
"""The tolerances as the step compares them (see `tolerance_settings`)."""

_ROTATION_LENGTH = 0.22
"""A radian of rotation error weighs as much as this share of the mechanism's length."""
_DAMPING = 0.1
"""Damping in proportion to the squared error: Sugihara, "Solvability-unconcerned inverse kinematics
by the Levenberg-Marquardt method", IEEE Transactions on Robotics 27 (2011)."""
_LEAST_DAMPING = 1.0e-11
_MOST_DAMPING_ERROR = 20.0
"""From this squared error on the damping stays: far targets are walked to, not crept to."""
_LONGEST_STEP = 1.2
"""Radians, over all joints: beyond this the linearisation is not worth following."""


def n_parameters(problem: PoseProblem) -> int:
    """The target's position (3) and rotation (9, by rows), then what is held."""
    return 12 + len(problem.held)


def configuration_of(o: Ops, problem: PoseProblem, x: Block, parameters: Block) -> Block:
    """All of q from what moves and what is held; positions that do not matter are zero."""
    q: list[Block] = [o.const(0.0)] * problem.mechanism.n_q
    for place, k in enumerate(problem.moved):
        q[k] = x[place]
    for place, k in enumerate(problem.held):
        q[k] = parameters[12 + place]
    return o.vector(q)


def target_of(o: Ops, parameters: Block) -> Pose:
    """The target pose from the parameters."""
    rows = [o.part(parameters, 3 + 3 * i, 6 + 3 * i) for i in range(3)]
    return Pose(o.transpose(o.matrix(rows)), o.part(parameters, 0, 3))


def error_at(o: Ops, problem: PoseProblem, q: Block, parameters: Block) -> PoseError:
    """The pose error of a configuration."""
    current = from_matrix(o, fk(o, problem.mechanism, q, frame=problem.frame))
    return pose_error(o, current, target_of(o, parameters))


def step(
    o: Ops, problem: PoseProblem, x: Block, parameters: Block, settings: Block
) -> tuple[Block, Block]:
    """One damped least-squares step: x' and the state (gap, score) of the x that came.

    Joints that stand at a limit and are pushed against it are left out of the step; the rest is
    limited in length, then clamped to the limits, so every x' lies inside them.

    Source: the damping of Sugihara (2011); the dual form (6 x 6) of Levenberg and Marquardt.
    """
    q = configuration_of(o, problem, x, parameters)
    error = error_at(o, problem, q, parameters)
    weight = 1.0 / (_ROTATION_LENGTH * problem.length)
    e = o.concat([weight * error.position, error.rotation])
    whole = jacobian(o, problem.mechanism, q, frame=problem.frame)
    scales = _scales(problem)
    columns: list[Block] = []
    for place, k in enumerate(problem.moved_v):
        column = o.column(whole, k)
        scaled = o.concat([weight * o.part(column, 0, 3), o.part(column, 3, 6)])
        scale = scales[place]
        columns.append(scaled if scale is None else scale * scaled)
    columns = _only_free(o, problem, x, columns, e)
    gram = _damped_gram(o, columns, o.dot(e, e))
    y = solve_positive_definite(o, gram, e, 6)
    dx = [o.dot(column, y) for column in columns]
    shrink = _shrink(o, [d for d, s in zip(dx, scales, strict=True) if s is None])
    moves = [d * (shrink if s is None else shrink * s) for d, s in zip(dx, scales, strict=True)]
    return _moved(o, problem, x, moves), o.vector(_state(o, error, settings, weight))


def _scales(problem: PoseProblem) -> list[float | None]:
    """How far each slide goes where an angle goes one radian (m); None for the angles."""
    m = problem.mechanism
    scales: list[float | None] = [None] * m.n_v
    for c, kind in enumerate(m.joint_types):
        start = int(m.v_start[c])
        for k in range({"prismatic": 1, "planar": 2, "floating": 3}.get(kind.label, 0)):
            scales[start + k] = problem.length
    return [scales[k] for k in problem.moved_v]


def _shrink(o: Ops, turns: list[Block]) -> Block:
    """The factor that limits the turns of a step; slides are linear and need no limit."""
    if not turns:
        return o.const(1.0)
    squared = sum((d * d for d in turns[1:]), turns[0] * turns[0])
    return o.minimum(1.0, _LONGEST_STEP / o.sqrt(squared + 1e-24))


def _only_free(
    o: Ops, problem: PoseProblem, x: Block, columns: list[Block], e: Block
) -> list[Block]:
    """The columns, zero for each joint that stands at a limit and is pushed beyond it."""
    if len(problem.moved) != len(problem.moved_v):
        return columns  # a floating joint: no limits, and its numbers do not match its speeds
    free: list[Block] = []
    for place, column in enumerate(columns):
        lower, upper = float(problem.lower[place]), float(problem.upper[place])
        push = o.dot(column, e)
        stuck = None
        if math.isfinite(lower):
            stuck = o.both(o.negate(o.less(lower, x[place])), o.less(push, 0.0))
        if math.isfinite(upper):
            above = o.both(o.negate(o.less(x[place], upper)), o.less(0.0, push))
            stuck = above if stuck is None else o.either(stuck, above)
        if stuck is None:
            free.append(column)
        else:
            free.append(o.select(stuck, 0.0, 1.0) * column)
    return free


def _damped_gram(o: Ops, columns: list[Block], squared_error: Block) -> Block:
    """J Jᵀ plus the damping, of which only the lower triangle is read."""
    damping = _DAMPING * o.minimum(squared_error, _MOST_DAMPING_ERROR) + _LEAST_DAMPING
    zero = o.const(0.0)
    entries: list[list[Block]] = [[zero] * 6 for _ in range(6)]
    for i in range(6):
        for j in range(i + 1):
            terms = [column[i] * column[j] for column in columns]
            total = sum(terms[1:], terms[0])
            entries[i][j] = total + damping if i == j else total
    return o.matrix([o.vector([entries[i][j] for i in range(6)]) for j in range(6)])


def _moved(o: Ops, problem: PoseProblem, x: Block, moves: list[Block]) -> Block:
    """x after the step: on the group, angles without limits in [-pi, pi), the rest clamped."""
    m = problem.mechanism
    v: list[Block] = [o.const(0.0)] * m.n_v
    for k, move in zip(problem.moved_v, moves, strict=True):
        v[k] = move
    q: list[Block] = [o.const(0.0)] * m.n_q
    for place, k in enumerate(problem.moved):
        q[k] = x[place]
    after = integrate(o, m, o.vector(q), o.vector(v))
    result: list[Block] = []
    for place, k in enumerate(problem.moved):
        value = after[k]
        if problem.wraps[place]:
            value = value - (2.0 * math.pi) * o.floor(value * (0.5 / math.pi) + 0.5)
        if math.isfinite(problem.upper[place]):
            value = o.minimum(value, float(problem.upper[place]))
        if math.isfinite(problem.lower[place]):
            value = o.maximum(value, float(problem.lower[place]))
        result.append(value)
    return o.vector(result)


def _state(o: Ops, error: PoseError, settings: Block, weight: float) -> list[Block]:
    """(gap, score): solved where gap <= 0; the score compares failures."""
    behind = o.select(o.less(error.cosine, settings[2]), 4.0, 0.0)
    rotation_gap = error.sine_squared + behind - settings[1]
    gap = o.maximum(error.position_squared - settings[0], rotation_gap)
    score = weight * weight * error.position_squared + 2.0 * (1.0 - error.cosine)
    return [gap, score]


def tolerance_settings(position: float, rotation: float) -> list[float]:
    """The tolerances (m, rad) as squares, sines and cosines.

    Up to a right angle, the sine must be small and the cosine positive; a larger tolerance is a
    bound on the cosine alone.
    """
    if rotation < 0.5 * math.pi:
        return [position**2, math.sin(rotation) ** 2, 0.0]
    return [position**2, 1.0, math.cos(min(rotation, math.pi)) - 1e-12]
