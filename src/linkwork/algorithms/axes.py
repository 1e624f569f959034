"""The axes of a moving frame, kept so that nothing is computed twice or for nothing.

A rotation matrix is carried as three vectors and a signed permutation. A placement that only
swaps or reverses axes, as nearly all do, then costs no operation: it changes the permutation. A
turn about z costs two new vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from linkwork.ops.protocol import Block, Ops

Scalar = Block
"""A float (a constant) or a scalar block."""

Rotation: TypeAlias = Any
"""A rotation (3, 3): rows of floats in lists (a constant), or a block."""


class Axes(NamedTuple):
    """Local axis j is ``sign[j] * columns[which[j]]``: vectors (3,) in the reference frame.

    Where only one component is asked for, the columns may be scalars: the axes' components along
    one direction, which are also that direction's components in the local frame.
    """

    columns: tuple[Block, Block, Block]
    which: tuple[int, int, int] = (0, 1, 2)
    sign: tuple[int, int, int] = (1, 1, 1)


def reference_axes(o: Ops) -> Axes:
    """The axes of the reference frame itself."""
    return Axes(
        (o.const([1.0, 0.0, 0.0]), o.const([0.0, 1.0, 0.0]), o.const([0.0, 0.0, 1.0])),
    )


def is_zero(value: Scalar) -> bool:
    """Whether a number is the constant 0; a block never is, whatever its value."""
    return is_constant(value, 0.0)


def is_all_zero(values: Iterable[Scalar]) -> bool:
    """Whether these numbers are all zero by structure."""
    return all(is_zero(x) for x in values)


def is_constant(value: Scalar, number: float) -> bool:
    """Whether a number is this constant: a Python float; NumPy's floats are blocks."""
    return type(value) is float and value == number


def times(a: Scalar, b: Scalar) -> Scalar:
    """The product; the constants 0 and 1 cost nothing."""
    if is_zero(a) or is_zero(b):
        return 0.0
    if is_constant(a, 1.0):
        return b
    return a if is_constant(b, 1.0) else a * b


def added(a: Scalar, b: Scalar) -> Scalar:
    """The sum; the constant 0 costs nothing."""
    if is_zero(a):
        return b
    return a if is_zero(b) else a + b


def total(values: Sequence[Scalar]) -> Scalar:
    """The sum of some numbers, the constants among them first."""
    at: Scalar = 0.0
    for value in sorted(values, key=lambda value: type(value) is not float):
        at = added(at, value)
    return at


def all_constant(values: Sequence[Scalar]) -> bool:
    """Whether all of these numbers are constants."""
    return all(type(value) is float for value in values)


def is_constant_rotation(R: Rotation) -> bool:
    """Whether a rotation is a constant: lists; all else is a block, whatever its value."""
    return type(R) is list


def transposed(o: Ops, R: Rotation) -> Rotation:
    """The rotation back."""
    if not is_constant_rotation(R):
        return o.transpose(R)
    return [[row[i] for row in R] for i in range(3)]


def applied(R: Rotation, local: Sequence[Scalar]) -> list[Scalar]:
    """The vector with these components, in the frame that R (3, 3) leads to."""
    if is_all_zero(local):
        return [0.0, 0.0, 0.0]
    rows = R if is_constant_rotation(R) else [[R[i, j] for j in range(3)] for i in range(3)]
    return [total(list(map(times, row, local))) for row in rows]


def signed_permutation(R: Rotation) -> tuple[list[int], list[int]] | None:
    """Where each column of R (3, 3) has its single ±1, and the signs.

    None for other entries, and for a block.
    """
    if not is_constant_rotation(R):
        return None
    index: list[int] = []
    sign: list[int] = []
    for j in range(3):
        entries = [(k, R[k][j]) for k in range(3) if R[k][j] != 0.0]
        if len(entries) != 1 or abs(entries[0][1]) != 1.0:
            return None
        index.append(entries[0][0])
        sign.append(1 if entries[0][1] > 0 else -1)
    return index, sign


def wanted_signs(R: Rotation, axes: Sequence[int] = (0, 1, 2)) -> tuple[int, int]:
    """The signs of x and y that give these axes of a frame placed at R (3, 3) no minus sign."""
    change = signed_permutation(R)
    wanted = [0, 0, 0]
    if change is not None:
        for j in axes:
            wanted[change[0][j]] = change[1][j]
    return wanted[0], wanted[1]


def swapped(axes: Axes, change: tuple[list[int], list[int]]) -> Axes:
    """The axes after a rotation that is a signed permutation: no operation at all."""
    index, sign = change
    i, j, k = index
    return Axes(
        axes.columns,
        (axes.which[i], axes.which[j], axes.which[k]),
        (sign[0] * axes.sign[i], sign[1] * axes.sign[j], sign[2] * axes.sign[k]),
    )


def placed(o: Ops, axes: Axes, R: Rotation) -> Axes:
    """The axes of a frame at the rotation R (3, 3) in these."""
    change = signed_permutation(R)
    if change is not None:
        return swapped(axes, change)
    if not is_constant_rotation(R):
        return rotated(o, axes, R)
    x, y, z = ([row[j] for row in R] for j in range(3))
    return Axes((_in_axes(o, axes, x), _in_axes(o, axes, y), _in_axes(o, axes, z)))


def rotated(o: Ops, axes: Axes, R: Block) -> Axes:
    """The axes of a frame at the rotation R (3, 3), a block, in these."""
    x, y, z = ([R[0, j], R[1, j], R[2, j]] for j in range(3))
    return Axes((_in_axes(o, axes, x), _in_axes(o, axes, y), _in_axes(o, axes, z)))


def turned(
    axes: Axes,
    cosine: Block,
    sine: Block,
    *,
    backwards: bool = False,
    wanted: tuple[int, int] = (1, 1),
) -> Axes:
    """The axes after a turn about their own z by the angle, or by minus the angle.

    ``wanted`` are the signs that x and y had better get, for what comes next; 0 stands for any.
    One of the two can always be had, because a difference can be taken either way round.
    """
    (x, y, _), (sx, sy, sz) = axes.which, axes.sign
    a, b = axes.columns[x], axes.columns[y]
    way = -1 if backwards else 1
    columns = list(axes.columns)
    columns[x], tx = _combined(cosine * a, sx, sine * b, way * sy, wanted[0])
    columns[y], ty = _combined(cosine * b, sy, sine * a, -way * sx, wanted[1])
    return Axes((columns[0], columns[1], columns[2]), axes.which, (tx, ty, sz))


def _combined(a: Block, a_sign: int, b: Block, b_sign: int, wanted: int) -> tuple[Block, int]:
    """A vector c and a sign with ``sign * c = a_sign * a + b_sign * b``, without a negation."""
    if a_sign == b_sign:
        return a + b, a_sign
    if wanted * a_sign >= 0:
        return a - b, a_sign
    return b - a, b_sign


def signed_axis(axes: Axes, j: int) -> tuple[Block, int]:
    """Local axis j as a vector and the sign that it is to be taken with."""
    return axes.columns[axes.which[j]], axes.sign[j]


def axis(axes: Axes, j: int) -> Block:
    """Local axis j as a vector (3,) in the reference frame."""
    column, sign = signed_axis(axes, j)
    return column if sign > 0 else -column


def matrix(o: Ops, axes: Axes) -> Block:
    """The rotation matrix (3, 3) whose columns are the axes."""
    return o.matrix([axis(axes, j) for j in range(3)])


def in_axes(axes: Axes, local: Sequence[Scalar]) -> Block | None:
    """The vector with these three components along the axes; None where all are exactly 0."""
    parts: list[Scalar] = [0.0, 0.0, 0.0]
    for j in range(3):
        parts[axes.which[j]] = local[j] if axes.sign[j] > 0 else -local[j]
    return along_columns(axes, parts)


def along_columns(axes: Axes, parts: Sequence[Scalar]) -> Block | None:
    """The sum of ``parts[k] * columns[k]``, left to right; None where all parts are exactly 0."""
    total: Block | None = None
    for part, column in zip(parts, axes.columns, strict=True):
        if is_zero(part):
            continue
        minus, plus = is_constant(part, -1.0), is_constant(part, 1.0)
        term = column if plus or minus else part * column
        if total is None:
            total = -term if minus else term
        else:
            total = total - term if minus else total + term
    return total


def _in_axes(o: Ops, axes: Axes, local: Sequence[Scalar]) -> Block:
    vector = in_axes(axes, local)
    return o.const([0.0, 0.0, 0.0]) if vector is None else vector
