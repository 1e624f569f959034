"""Formulas of one rotation or pose, compiled: what programs call a thousand times a second.

A compiled function takes float64 arrays in rows and Python's floats; with anything else, and where
a number or the result is not finite, it goes through the same formula in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork import settings
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.native_call import Array, Kind, Number, number_call
from linkwork.compile.recipe import expression_recipe
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import rotations, se3, so3
from linkwork.spatial.poses import Pose, to_matrix

Floats = NDArray[np.float64]

_POSE, _TURN, _VECTOR, _WXYZ = Array((4, 4)), Array((3, 3)), Array((3,)), Array((4,))
_ONE = Number()


class _Formula(NamedTuple):
    takes: Sequence[Kind]
    gives: Kind
    expression: Callable[..., Block]


def _matrix(o: Ops, rows: Block, n: int = 3) -> Block:
    """The upper left matrix (3, 3) of the rows of n numbers."""
    return o.transpose(o.matrix([o.part(rows, n * i, n * i + 3) for i in range(3)]))


def _about(o: Ops, axis: Block, angle: Block) -> Block:
    return rotations.from_axis_angle(o, (1.0 / o.sqrt(o.dot(axis, axis))) * axis, angle[0])


def _rpy(o: Ops, rows: Block) -> Block:
    """Roll, pitch, yaw with yaw 0 at the gimbal lock, where the core has roll 0."""
    R = _matrix(o, rows)
    rpy = rotations.to_rpy(o, R)
    locked = o.less(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0], rotations.TINY)
    roll = o.select(o.less(0.0, rpy[1]), -rpy[2], rpy[2])
    return o.vector([o.select(locked, roll, rpy[0]), rpy[1], o.select(locked, 0.0, rpy[2])])


def _between(o: Ops, first: Block, second: Block) -> Block:
    """The rotation vector from one pose to another, in the axes of the first."""
    return so3.log(o, o.transpose(_matrix(o, first, 4)) @ _matrix(o, second, 4))


def _gram(o: Ops, rows: Block) -> Block:
    """The six numbers of RᵀR - 1 on and above the diagonal, and the determinant."""
    a, b, c = (o.part(rows, 3 * i, 3 * i + 3) for i in range(3))
    own = [o.dot(each, each) - 1.0 for each in (a, b, c)]
    return o.vector([*own, o.dot(a, b), o.dot(a, c), o.dot(b, c), o.dot(a, o.cross(b, c))])


def _polished(o: Ops, rows: Block) -> Block:
    """A pose whose rotation is one to the last digits, where it nearly was one.

    R' = R (3 - RᵀR) / 2, one step of Newton for the nearest rotation. Without it what was rounded
    doubles where a frame is moved by what hangs on it: R appears there as R RᵀR.
    """
    R, p = _matrix(o, rows, 4), o.vector([rows[3], rows[7], rows[11]])
    off = [
        o.dot(o.column(R, i), o.column(R, j)) - float(i == j) for i in range(3) for j in range(3)
    ]
    largest = off[0]
    for each in off:
        largest = o.maximum(largest, o.absolute(each))
    gram = o.matrix([o.vector(off[3 * i : 3 * i + 3]) for i in range(3)])
    near = R - 0.5 * (R @ gram)
    small = o.less(largest, 1e-3)
    columns = [o.select(small, o.column(near, j), o.column(R, j)) for j in range(3)]
    return to_matrix(o, Pose(o.matrix(columns), p))


_FORMULAS = {
    "polished": _Formula((_POSE,), _POSE, _polished),
    "product": _Formula((_POSE, _POSE), _POSE, se3.composed),
    "inverse": _Formula((_POSE,), _POSE, se3.inverted),
    "pose": _Formula((_TURN, _VECTOR), _POSE, lambda o, R, p: se3.matrix_from_rows(o, p, R)),
    "on_line": _Formula((_POSE, _POSE, _ONE), _POSE, se3.on_line),
    "between": _Formula((_POSE, _POSE), _VECTOR, _between),
    "pose_quaternion": _Formula(
        (_POSE,), _WXYZ, lambda o, T: rotations.to_quaternion(o, _matrix(o, T, 4))
    ),
    "about": _Formula((_VECTOR, _ONE), _TURN, _about),
    "quaternion": _Formula((_TURN,), _WXYZ, lambda o, R: rotations.to_quaternion(o, _matrix(o, R))),
    "matrix": _Formula((_WXYZ,), _TURN, rotations.from_quaternion),
    "quaternion_product": _Formula((_WXYZ, _WXYZ), _WXYZ, rotations.multiply_quaternions),
    "rpy": _Formula((_TURN,), _VECTOR, _rpy),
    "from_rpy": _Formula((_VECTOR,), _TURN, rotations.from_rpy),
    "log": _Formula((_TURN,), _VECTOR, lambda o, R: so3.log(o, _matrix(o, R))),
    "exp": _Formula((_VECTOR,), _TURN, so3.exp),
    "gram": _Formula((_TURN,), Array((7,)), _gram),
}


@cache
def compiled(name: str) -> Callable[..., Floats]:
    """One of the formulas, made when it is first asked for.

    Raises, when called: InputError where a number or the result is not finite.
    """
    formula = _FORMULAS[name]
    counts = [_count(kind) for kind in formula.takes]

    def general(*values: Any) -> Floats:
        blocks = [np.asarray(value, np.float64).reshape(-1) for value in values]
        if all(np.isfinite(block).all() for block in blocks):
            with np.errstate(all="ignore"):
                made = np.asarray(formula.expression(NUMPY, *blocks), np.float64)
            if np.isfinite(made).all():
                return np.ascontiguousarray(made)
        given = ", ".join(str(block.tolist()) for block in blocks)
        raise InputError(f"{name} of {given} is not finite")

    sizes = {f"input{k}": count for k, count in enumerate(counts)}
    recipe = expression_recipe(
        ("skrobot", name),
        f"skrobot_{name}",
        sizes,
        lambda o, *a: {"made": formula.expression(o, *a)},
    )
    with COMPILING:
        return number_call(recipe, formula.gives, settings.compiler(), general, takes=formula.takes)


def _count(kind: Kind) -> int:
    return int(np.prod(kind.shape)) if isinstance(kind, Array) else 1
