"""A frame that can be moved readily in all directions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.jacobian import jacobian
from linkwork.algorithms.path import path_down, sums_to_end
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.linear import factors, solve_factored
from linkwork.solve.targets import finite_rows
from linkwork.solve.tasks.axes import axes
from linkwork.solve.tasks.base import (
    BoundTask,
    Group,
    Residual,
    Structure,
    Task,
    bound,
    coordinates_of,
)

Floats = NDArray[np.float64]

_TINY = 1.0e-14
"""Added to the diagonal of J Jᵀ, so that it has an inverse in singular configurations."""


@dataclass(frozen=True, eq=False)
class Manipulability(Task):
    """The manipulability sqrt(det(J Jᵀ)) of a frame is at least ``at_least``.

    Above it the error is zero. J are the rows of the frame's Jacobian that ``position`` and
    ``rotation`` name, in axes of the world; a mechanism with fewer joints needs fewer rows. All
    joints on the way to the frame count, also those that are not moved.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985).
    """

    frame: str
    at_least: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        m.frame(self.frame)
        where = axes(self.position, "Manipulability.position", none=True)
        turns = axes(self.rotation, "Manipulability.rotation", none=True)
        rows = (*where, *(3 + k for k in turns))
        coordinates = coordinates_of(m, self.frame)
        if not rows:
            raise InputError("Manipulability: position and rotation are both empty")
        _check_it_can_be_above_zero(m, self.frame, rows)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = manipulability(o, m, q, frame=self.frame, rows=rows)
            missing = target[0] - found.value
            lacks = o.less(0.0, missing)
            error = o.select(lacks, missing, 0.0)
            columns = [o.vector([o.select(lacks, slope, 0.0)]) for slope in found.slopes]
            return Residual(o.vector([error]), columns, [error * error])

        return bound(
            self,
            Structure(
                name="manipulability",
                key=f"manipulability {self.frame!r} {rows}",
                groups=[Group("manipulability", "1", 0, 1)],
                coordinates=coordinates,
                frames=(self.frame,),
                n_target=1,
                read=_numbers,
                residual=residual,
            ),
            self.at_least,
        )


class Measure(NamedTuple):
    """The manipulability, and its derivative by each number of v (nv)."""

    value: Block
    slopes: list[Block]


class _Motion(NamedTuple):
    """One number of v at work: the velocity (3,) that it gives the frame's origin, and its turn.

    ``place`` is where it stands in the chain; the six of a floating joint stand at one place, as
    they all go with the body that turns.
    """

    linear: Block
    angular: Block
    v_index: int
    factor: float  # the multiplier of a coupled joint
    place: int


def manipulability(
    o: Ops, m: Mechanism, q: Block, *, frame: str, rows: Sequence[int] = (0, 1, 2, 3, 4, 5)
) -> Measure:
    """w = sqrt(det(J Jᵀ)) over some rows of a frame's Jacobian (world axes), and its gradient.

    dw/dq_i = w tr((J Jᵀ)⁻¹ dJ/dq_i Jᵀ) = w sum_j y_j · dJ_j/dq_i, where y_j = (a_j, b_j) are the
    columns of (J Jᵀ)⁻¹ J. For i up to j in the chain dJ_j/dq_i = (ω_i x v_j, ω_i x ω_j), beyond j
    it is (ω_j x v_i, 0). So both sums can be taken once for all i:
    dw/dq_i = w (ω_i · sum_{j >= i} (v_j x a_j + ω_j x b_j) + v_i · sum_{j < i} a_j x ω_j).

    Source: H. Bruyninckx and J. De Schutter, "Symbolic differentiation of the velocity mapping for
    a serial kinematic chain", Mechanism and Machine Theory 31 (1996), for dJ/dq.
    """
    motions = _motions(o, m, q, frame)
    columns: dict[int, list[Block]] = {}
    for each in motions:
        whole = o.concat([each.linear, each.angular])
        part = [each.factor * whole[r] for r in rows]
        before = columns.get(each.v_index)
        columns[each.v_index] = part if before is None else list(map(operator.add, before, part))
    n = len(rows)
    products = [
        [_dot([(c[i], c[j]) for c in columns.values()]) for j in range(i + 1)] for i in range(n)
    ]
    for i in range(n):
        products[i][i] = products[i][i] + _TINY
    inverse = factors(products)
    determinant = 1.0 / inverse.inverse_d[0]
    for each in inverse.inverse_d[1:]:
        determinant = determinant / each
    value = o.sqrt(determinant)
    y: dict[int, list[Block]] = {}
    for index, column in columns.items():
        solved = solve_factored(o, inverse, o.vector(column))
        y[index] = [solved[rows.index(r)] if r in rows else 0.0 for r in range(6)]
    slopes: list[Block] = [o.const(0.0)] * m.n_v
    for each, slope in zip(motions, _slopes(o, motions, y), strict=True):
        slopes[each.v_index] = slopes[each.v_index] + (each.factor * value) * slope
    return Measure(value, slopes)


def _dot(pairs: Sequence[tuple[Block, Block]]) -> Block:
    terms = [a * b for a, b in pairs]
    return sum(terms[1:], terms[0])


def _motions(o: Ops, m: Mechanism, q: Block, frame: str) -> list[_Motion]:
    """What moves the frame, in order from the world."""
    index = m.frame(frame)
    path = path_down(o, m, q, index)
    arms = sums_to_end(path.segments)
    places: list[int] = []
    for body in m.ancestry(int(m.frame_body[index])):
        kind, first = m.body_joint_types[body], len(places)
        together = kind is JointType.FLOATING
        places += [first if together else first + k for k in range(kind.n_v)]
    zero = o.const([0.0, 0.0, 0.0])
    found: list[_Motion] = []
    for each, place in zip(path.motions, places, strict=True):
        axis = each.axis if each.sign > 0 else -each.axis
        arm = arms[each.anchor + each.along]
        linear, angular = axis, zero
        if each.turns:
            linear, angular = zero if arm is None else o.cross(axis, arm), axis
        found.append(_Motion(linear, angular, each.v_index, each.factor, place))
    return found


def _slopes(o: Ops, motions: Sequence[_Motion], y: dict[int, list[Block]]) -> list[Block]:
    """The derivative of log w by each motion: see `manipulability`."""
    behind: dict[int, Block] = {}  # by place, then summed from the end
    before: dict[int, Block] = {}  # by place, then summed from the start
    for each in motions:
        a, b = ([each.factor * x for x in y[each.v_index][k : k + 3]] for k in (0, 3))
        a, b = o.vector(a), o.vector(b)
        turned = o.cross(each.linear, a) + o.cross(each.angular, b)
        behind[each.place] = _sum(behind.get(each.place), turned)
        before[each.place] = _sum(before.get(each.place), o.cross(a, each.angular))
    places = sorted(behind)
    for place, after in zip(places[-2::-1], places[:0:-1], strict=True):
        behind[place] = behind[place] + behind[after]
    total: Block = o.const([0.0, 0.0, 0.0])
    for place in places:
        own = before[place]
        before[place] = total
        total = total + own
    return [
        o.dot(each.angular, behind[each.place]) + o.dot(each.linear, before[each.place])
        for each in motions
    ]


def _sum(a: Block | None, b: Block) -> Block:
    return b if a is None else a + b


def _check_it_can_be_above_zero(m: Mechanism, frame: str, rows: Sequence[int]) -> None:
    """Refuse rows that the frame's joints cannot all move, wherever they stand."""
    chosen = list(rows)
    for q in np.random.default_rng(0).uniform(-1.0, 1.0, (4, m.n_q)):
        J = jacobian(NUMPY, m, q, frame=frame)[chosen]
        if np.linalg.matrix_rank(J, tol=1e-9) == len(chosen):
            return
    count = len(coordinates_of(m, frame))
    raise InputError(
        f"Manipulability: the {count} joints that move '{frame}' cannot move it in all "
        f"{len(chosen)} directions that are asked for, so its manipulability is always zero; "
        "name fewer, such as position='xy', rotation='z'"
    )


def _numbers(target: ArrayLike, of: str) -> Floats:
    """Least values (..., 1), or a single one, checked."""
    array = np.asarray(target)
    rows = finite_rows(array.reshape(1) if array.ndim == 0 else array, 1, of)
    if not (rows > 0.0).all():
        raise InputError(f"{of}: at_least must be above 0: manipulability is never less")
    return rows
