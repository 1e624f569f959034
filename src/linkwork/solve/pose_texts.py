"""One pose target as the texts of the pipeline: fit or not, where to start, what was reached."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.forward_kinematics import fk
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.code import Texts
from linkwork.solve.problem import PoseProblem
from linkwork.solve.seeds import Axis
from linkwork.solve.step import SETTINGS, configuration_of, error_at, n_parameters, step

Floats = NDArray[np.float64]

RIGID = 1.0e-6
"""How far each number of a target may be from that of a rigid pose."""

POSE_AXES = (*[Axis(6)] * 3, *[Axis(2, -1.0, 1.0)] * 3, Axis(4, -0.5, 3.5))
"""The cells of `pose_features`."""


def pose_texts(problem: PoseProblem) -> Texts:
    """The texts of a problem. Targets are poses (4, 4); the measures, and what they are compared
    with, are those of `thresholds`."""

    def prepare_(o: Ops, target: Block, q0: Block) -> dict[str, Block]:
        return prepare(o, problem, target, q0)

    def step_(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = step(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    def verify_(o: Ops, x: Block, q0: Block, parameters: Block) -> dict[str, Block]:
        return verify(o, problem, x, q0, parameters)

    def place_(o: Ops, x: Block) -> dict[str, Block]:
        return {"features": place(o, problem, x)}

    moved = ",".join(map(str, problem.coordinates))
    return Texts(
        key=("pose", problem.mechanism.digest, problem.frame, moved),
        targets=((4, 4),),
        n_q=problem.mechanism.n_q,
        n=len(problem.moved),
        n_parameters=n_parameters(problem),
        n_settings=len(SETTINGS),
        prepare=prepare_,
        step=step_,
        verify=verify_,
        place=place_ if has_seeds(problem) else None,
    )


def thresholds(settings: Sequence[float]) -> list[float]:
    """What the measures of `verify` may be at most, from the tolerances as the step takes them."""
    position, sine, cosine = settings
    return [position, sine, -cosine, 0.0]


def has_seeds(problem: PoseProblem) -> bool:
    """Whether the pose depends on what is moved alone, and all of that is bounded."""
    return not problem.held and not start_box(problem)[2].any()


def start_box(problem: PoseProblem) -> Floats:
    """Where tries begin: base, span and whether q0 is added (3, n).

    Inside the limits; of an angle that may turn more than once, the middle turn; anywhere on the
    circle for angles without limits; at q0 for lengths without them and for floating joints.
    """
    lower, upper, wraps = problem.lower, problem.upper, problem.wraps
    bounded = np.isfinite(lower) & np.isfinite(upper)
    base = np.where(bounded, lower, 0.0)
    span = np.where(bounded, upper, 0.0) - base
    wide = bounded & _whole_turns(problem) & (span > 2.0 * np.pi)
    base = np.where(wide, base + 0.5 * span - np.pi, np.where(wraps, -np.pi, base))
    span = np.where(wide | wraps, 2.0 * np.pi, span)
    kept = np.where(bounded | wraps, 0.0, 1.0)
    return np.ascontiguousarray(np.stack([base, span, kept]))


def _whole_turns(problem: PoseProblem) -> NDArray[np.bool_]:
    """Which of the moved positions are angles that a whole turn does not change (n,)."""
    m = problem.mechanism
    scaled = {int(c) for c, k in zip(m.coordinate, m.multiplier, strict=True) if abs(k) != 1.0}
    plain = [all(not m.q_start[c] <= k < m.q_start[c + 1] for c in scaled) for k in problem.moved]
    return problem.is_angle & np.array(plain)


def prepare(o: Ops, problem: PoseProblem, target: Block, q0: Block) -> dict[str, Block]:
    """x0 inside the limits, the step's parameters, how far the target is from fit, its features."""
    p = [target[4 * i + 3] for i in range(3)]
    R = [[target[4 * i + j] for j in range(3)] for i in range(3)]
    last = [o.absolute(target[12 + j] - (1.0 if j == 3 else 0.0)) for j in range(4)]
    x0: list[Block] = []
    for place, k in enumerate(problem.moved):
        value = q0[k]
        if math.isfinite(problem.upper[place]):
            value = o.minimum(value, float(problem.upper[place]))
        if math.isfinite(problem.lower[place]):
            value = o.maximum(value, float(problem.lower[place]))
        x0.append(value)
    held = [q0[k] for k in problem.held]
    return {
        "x0": o.vector(x0),
        "parameters": o.vector([*p, *R[0], *R[1], *R[2], *held]),
        "fault": o.vector([_most(o, [_far_from_rotation(o, R), *last]) - RIGID]),
        "features": o.vector(pose_features(o, p, R) if has_seeds(problem) else []),
    }


def _most(o: Ops, values: Sequence[Block]) -> Block:
    most = values[0]
    for value in values[1:]:
        most = o.maximum(most, value)
    return most


def _far_from_rotation(o: Ops, R: Sequence[Sequence[Block]]) -> Block:
    """The largest number of |R Rᵀ - 1|, and 1 more where R is not right-handed."""
    far: list[Block] = []
    for i in range(3):
        for j in range(i + 1):
            dot = R[i][0] * R[j][0] + R[i][1] * R[j][1] + R[i][2] * R[j][2]
            far.append(o.absolute(dot - 1.0 if i == j else dot))
    normal = o.cross(o.vector(list(R[0])), o.vector(list(R[1])))
    handed = o.dot(normal, o.vector(list(R[2])))
    return _most(o, far) + o.select(o.less(0.0, handed), 0.0, 1.0)


def pose_features(o: Ops, p: Sequence[Block], R: Sequence[Sequence[Block]]) -> list[Block]:
    """Position; three parts of the quaternion over the largest one, and which part that is."""
    a, b, c = R[0][0], R[1][1], R[2][2]
    squares = [1.0 + a + b + c, 1.0 + a - b - c, 1.0 - a + b - c, 1.0 - a - b + c]
    wx, wy, wz = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    xy, xz, yz = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    products = [[wx, wy, wz], [wx, xy, xz], [wy, xy, yz], [wz, xz, yz]]
    largest, chosen, which = squares[0], products[0], o.const(0.0)
    for k in range(1, 4):
        larger = o.less(largest, squares[k])
        chosen = [o.select(larger, n, m) for n, m in zip(products[k], chosen, strict=True)]
        which = o.select(larger, float(k), which)
        largest = o.select(larger, squares[k], largest)
    scale = 1.0 / largest
    return [*p, *[scale * n for n in chosen], which]


def place(o: Ops, problem: PoseProblem, x: Block) -> Block:
    """The features of the pose that x reaches; nothing is held."""
    q = configuration_of(o, problem, x, o.vector([0.0] * n_parameters(problem)))
    T = fk(o, problem.mechanism, q, frame=problem.frame)
    R = [[T[i, j] for j in range(3)] for i in range(3)]
    return o.vector(pose_features(o, [T[i, 3] for i in range(3)], R))


def verify(
    o: Ops, problem: PoseProblem, x: Block, q0: Block, parameters: Block
) -> dict[str, Block]:
    """q, with angles without limits on the turn nearest to q0, and its measures.

    They are the squared position error, the squared sine and minus the cosine of the rotation
    error, and how far q is outside the limits.
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
    moved = o.vector([q[k] for k in problem.moved])
    error = error_at(o, problem, configuration_of(o, problem, moved, parameters), parameters)
    measures = [error.position_squared, error.sine_squared, -error.cosine, _most(o, outside)]
    return {"q": o.vector(q), "measures": o.vector(measures)}
