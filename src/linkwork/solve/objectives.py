"""Objectives: costs that are made small in the null space of the tasks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.jacobian import UnitTwist, frame_twists
from linkwork.checks import finite_number, finite_rows
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import Configuration, configuration_from
from linkwork.mechanism.neutral import neutral
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.least_squares import factors, solve_factored
from linkwork.spatial import so3
from linkwork.spatial.rotations import from_quaternion

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundObjective:
    """An objective of one mechanism. The same ``key`` means the same code.

    ``descent(o, q, target)`` gives nv numbers: the way that a step goes where nothing else is
    asked for, in the tangent of q; a step of its full length does not overshoot. It is the cost's
    gradient, turned round and scaled; lengths and angles may be scaled differently.
    """

    name: str
    key: str
    coordinates: tuple[int, ...]
    weight: float
    descent: Callable[[Ops, Block, Block], list[Block]]
    n_target: int = 0
    rows_of: Callable[[ArrayLike], Floats] = lambda _given: np.zeros(0)  # -> (..., n_target)
    target: Floats | None = None
    source: Objective | None = None  # of which it was made


class Objective(ABC):
    """Something to be made small where the tasks leave freedom.

    Objectives do not make joints move: they are for those that the tasks, or ``joints``, move.
    """

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundObjective:
        """The objective for one mechanism.

        Raises: UnknownNameError for joints; InputError, ShapeError for the rest.
        """


@dataclass(frozen=True, eq=False)
class NearPosture(Objective):
    """Near to a configuration: cost |q - q_target|² / 2 over the joints, m² and rad² added up.

    ``q`` (nq,), or positions by joint name, is neutral by default, and may be given for each call
    under the name "posture". ``joints`` names those that count; by default all that move. Angles
    without limits go the shorter way; a floating joint counts with its distance and the angle that
    it is turned by, a spherical one with that angle.
    """

    q: Configuration | None = None
    joints: str | Sequence[str] | None = field(default=None, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)

    def bind(self, m: Mechanism) -> BoundObjective:
        """The objective for one mechanism (see `Objective.bind`)."""
        coordinates, named = _chosen(m, self.joints)

        def rows_of(q: Any) -> Floats:
            whole = configuration_from(m, q) if isinstance(q, Mapping) else q
            return np.array(finite_rows(whole, "objective 'posture': q", m.n_q))

        def descent(o: Ops, q: Block, target: Block) -> list[Block]:
            way: list[Block] = [o.const(0.0)] * m.n_v
            for c in coordinates:
                start = int(m.v_start[c])
                for k, part in enumerate(_way(o, m, c, q, target)):
                    way[start + k] = part
            return way

        return BoundObjective(
            name="posture",
            key=f"near posture {coordinates}",
            n_target=m.n_q,
            coordinates=named,
            rows_of=rows_of,
            target=rows_of(neutral(m) if self.q is None else self.q),
            weight=finite_number(self.weight, "NearPosture.weight", least=0.0, most=1.0),
            descent=descent,
        )


@dataclass(frozen=True, eq=False)
class Centred(Objective):
    """Far from the limits: cost Σ ((q - middle) / range)² / 2 over positions with two limits.

    ``joints`` names those that count; by default all that move.

    Source: A. Liegeois, "Automatic supervisory control of the configuration and behavior of
    multibody mechanisms", IEEE Transactions on Systems, Man and Cybernetics 7 (1977).
    """

    joints: str | Sequence[str] | None = None
    weight: float = field(default=1.0, kw_only=True)

    def bind(self, m: Mechanism) -> BoundObjective:
        """The objective for one mechanism (see `Objective.bind`)."""
        coordinates, named = _chosen(m, self.joints)
        pairs: list[tuple[int, int, bool]] = []  # index in q, in v, and whether a length
        for c in coordinates:
            for i in range(m.joint_types[c].n_q):
                k = int(m.q_start[c]) + i
                if np.isfinite([m.lower[k], m.upper[k]]).all() and m.lower[k] < m.upper[k]:
                    pairs.append((k, int(m.v_start[c]) + i, i < m.joint_types[c].n_lengths))
        if self.joints is not None and not pairs:
            raise InputError("Centred.joints: none of these joints has a lower and an upper limit")
        # the joint of the least range goes all its way in a step: none goes farther
        least = {slides: math.inf for slides in (False, True)}
        for k, _, slides in pairs:
            least[slides] = min(least[slides], float(m.upper[k] - m.lower[k]))

        def descent(o: Ops, q: Block, _target: Block) -> list[Block]:
            way: list[Block] = [o.const(0.0)] * m.n_v
            for k, index, slides in pairs:
                lower, upper = float(m.lower[k]), float(m.upper[k])
                share = (least[slides] / (upper - lower)) ** 2
                way[index] = share * ((0.5 * lower + 0.5 * upper) - q[k])
            return way

        return BoundObjective(
            name="centred",
            key=f"centred {coordinates}",
            coordinates=named,
            weight=finite_number(self.weight, "Centred.weight", least=0.0, most=1.0),
            descent=descent,
        )


@dataclass(frozen=True, eq=False)
class Manipulable(Objective):
    """Far from singular: cost -log w with w = sqrt(det(J Jᵀ)) of the frame.

    ``joints`` names those whose columns J has; by default all that move the frame. With fewer than
    six, w is sqrt(det(Jᵀ J)), in metres and radians.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985).
    """

    frame: str
    joints: str | Sequence[str] | None = field(default=None, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)

    def bind(self, m: Mechanism) -> BoundObjective:
        """The objective for one mechanism (see `Objective.bind`)."""
        frame = m.frame(self.frame)
        moving = m.coordinates_moving(frame)
        coordinates = moving if self.joints is None else list(_chosen(m, self.joints)[1])
        idle = [m.joint_names[c] for c in coordinates if c not in moving]
        if idle or not coordinates:
            raise InputError(
                f"Manipulable: {', '.join(idle) or 'no joint'} moves "
                f"{'not ' if idle else ''}frame '{self.frame}'"
            )

        def descent(o: Ops, q: Block, _target: Block) -> list[Block]:
            slope = manipulability(o, m, q, frame, coordinates=coordinates).slope
            # the curvature of -log w grows as the square of its slope
            total = sum((s * s for s in slope[1:]), slope[0] * slope[0])
            return [s / (_CURVATURE + total) for s in slope]

        return BoundObjective(
            name="manipulability",
            key=f"manipulable {self.frame!r} {coordinates}",
            coordinates=(),
            weight=finite_number(self.weight, "Manipulable.weight", least=0.0, most=1.0),
            descent=descent,
        )


_CURVATURE = 1.0
"""The curvature of -log w where its slope is zero: that of log sin, near a singularity."""


def _chosen(
    m: Mechanism, joints: str | Sequence[str] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The coordinates that count, and those of them that were named."""
    if joints is None:
        return tuple(range(len(m.joint_names))), ()
    named = tuple(sorted({m.joint(n) for n in ([joints] if isinstance(joints, str) else joints)}))
    return named, named


def _way(o: Ops, m: Mechanism, c: int, q: Block, target: Block) -> list[Block]:
    """The way of one joint to the target, in its velocities."""
    kind, start = m.joint_types[c], int(m.q_start[c])
    if kind.has_quaternion:
        n = start + kind.n_lengths
        back = o.transpose(from_quaternion(o, o.part(q, n, n + 4)))
        turn = so3.log(o, back @ from_quaternion(o, o.part(target, n, n + 4)))
        if kind is JointType.SPHERICAL:
            return [turn[k] for k in range(3)]
        far = back @ (o.part(target, start, n) - o.part(q, start, n))
        return [part[k] for part in (far, turn) for k in range(3)]
    way: list[Block] = [target[start + k] - q[start + k] for k in range(kind.n_q)]
    last = start + kind.n_q - 1
    endless = np.isinf(m.lower[last]) and np.isinf(m.upper[last])
    if endless and (kind.turns or kind is JointType.PLANAR):
        way[-1] = way[-1] - (2.0 * math.pi) * o.floor(way[-1] * (0.5 / math.pi) + 0.5)
    return way


# --- manipulability of a frame: Yoshikawa's measure, and its slope ---

_ROUNDING = 1.0e-12
"""Added to the diagonal, in m² and rad²: keeps the slope finite where the measure is zero."""


class Manipulability(NamedTuple):
    """The squared measure, and the derivative of its logarithm, halved, by each number of v."""

    squared: Block
    slope: list[Block]  # of log w; zero for what does not count


class _Column(NamedTuple):
    """The twist of the frame by one motion, in axes of the world."""

    linear: Block
    angular: Block


def manipulability(
    o: Ops,
    m: Mechanism,
    q: Block,
    frame: int,
    *,
    coordinates: Sequence[int],
    rows: Sequence[int] = range(6),
) -> Manipulability:
    """w² = det(J Jᵀ) of the frame's Jacobian J, and the slope of log w.

    J has the columns of the given coordinates, and of its six rows (linear, then angular, world
    axes) the given ones. Where columns are fewer, det(Jᵀ J) takes its place. Units: metre, radian
    (where rows are not more than columns they do not change the slope).

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985); d log w / dq = trace(J⁺ dJ/dq), with the derivatives of a column being cross
    products with columns.
    """
    counted = set(m.v_indices(coordinates))
    _, motions = frame_twists(o, m, q, frame)
    columns = [_Column(*map(o.vector, each.twist)) for each in motions]
    jacobian: dict[int, Block] = {}
    for each, column in zip(motions, columns, strict=True):
        if each.v_index in counted:
            term = each.factor * o.concat([column.linear, column.angular])
            before = jacobian.get(each.v_index)
            jacobian[each.v_index] = term if before is None else before + term
    if not jacobian:
        return Manipulability(o.const(0.0), [o.const(0.0)] * m.n_v)
    picked = [o.vector([column[i] for i in rows]) for column in jacobian.values()]
    squared, duals = _inverted(o, picked, len(rows))
    zero = o.const([0.0] * 6)
    weight_of: dict[int, Block] = {}
    for k, dual in zip(jacobian, duals, strict=True):
        six: list[Block] = [o.const(0.0)] * 6
        for place, i in enumerate(rows):
            six[i] = dual[place]
        weight_of[k] = o.vector(six)
    slope: list[Block] = [o.const(0.0)] * m.n_v
    weights = [each.factor * weight_of.get(each.v_index, zero) for each in motions]
    for each, change in zip(motions, _changes(o, m, motions, columns, weights), strict=True):
        if each.v_index in counted:
            slope[each.v_index] = slope[each.v_index] + each.factor * change
    return Manipulability(squared, slope)


def _inverted(o: Ops, columns: list[Block], rows: int) -> tuple[Block, list[Block]]:
    """The determinant of the smaller of J Jᵀ and Jᵀ J, and the columns of (J⁺)ᵀ."""
    n = len(columns)
    if n >= rows:
        products = [
            [[c[i] * c[j] for c in columns] for j in range(i + 1)] for i in range(rows)
        ]  # fmt: skip
        lower: list[list[Block]] = [[sum(each[1:], each[0]) for each in row] for row in products]
    else:
        lower = [[o.dot(columns[i], columns[j]) for j in range(i + 1)] for i in range(n)]
    for i, row in enumerate(lower):
        row[i] = row[i] + _ROUNDING
    found = factors(lower)
    determinant: Block = o.const(1.0)
    for inverse in found.inverse_d:
        determinant = determinant / inverse
    if n >= rows:
        return determinant, [solve_factored(o, found, column) for column in columns]
    duals: list[Block] = []
    for i in range(n):
        unit = o.vector([1.0 if k == i else 0.0 for k in range(n)])
        share = solve_factored(o, found, unit)
        terms = [share[k] * columns[k] for k in range(n)]
        duals.append(sum(terms[1:], terms[0]))
    return determinant, duals


def _changes(
    o: Ops,
    m: Mechanism,
    motions: Sequence[UnitTwist],
    columns: Sequence[_Column],
    weights: Sequence[Block],
) -> list[Block]:
    """For each motion k, the sum over i of weight i times the derivative of column i by k.

    Motions after k are turned with it: (w_k x v_i, w_k x w_i). Those before it only see the frame
    move: (w_i x v_k, 0). All motions of a floating joint are in the axes of its body, so they turn
    with it as those after it do. Sums over all that come after, and all before, serve every k.
    """
    nothing = o.const([0.0, 0.0, 0.0])
    groups = _groups(m, motions)
    before: list[Block] = []
    total = nothing
    for group in groups:
        before.append(total)
        for i in group:
            total = total + o.cross(o.part(weights[i], 0, 3), columns[i].angular)
    after: list[Block] = []
    total = nothing
    for group in reversed(groups):
        for i in group:
            linear, angular = o.part(weights[i], 0, 3), o.part(weights[i], 3, 6)
            turned = o.cross(columns[i].linear, linear) + o.cross(columns[i].angular, angular)
            total = total + turned
        after.append(total)
    return [
        o.dot(columns[k].angular, later) + o.dot(columns[k].linear, earlier)
        for group, later, earlier in zip(groups, reversed(after), before, strict=True)
        for k in group
    ]


def _groups(m: Mechanism, motions: Sequence[UnitTwist]) -> list[list[int]]:
    """The places of the motions from root to tip; those of one with a quaternion together."""
    groups: list[list[int]] = []
    last = -1
    for k, motion in enumerate(motions):
        c = m.coordinate_of_v(motion.v_index)
        if m.joint_types[c].has_quaternion and c == last:
            groups[-1].append(k)
        else:
            groups.append([k])
        last = c
    return groups
