"""Numbers of a pose: how far a matrix is from one, and where in a table of poses it belongs."""

from __future__ import annotations

from collections.abc import Sequence

from linkwork.ops.protocol import Block, Ops
from linkwork.solve.seeds import Axis

POSE_AXES = (*[Axis(6)] * 3, *[Axis(2, -1.0, 1.0)] * 3, Axis(4, -0.5, 3.5))
"""The cells of `pose_features`."""


def far_from_rigid(o: Ops, R: Sequence[Sequence[Block]], last: Sequence[Block]) -> Block:
    """The largest number of |R Rᵀ - 1| and of the last row less 0 0 0 1.

    It is 1 more where R is not right-handed.
    """
    far: list[Block] = []
    for i in range(3):
        for j in range(i + 1):
            dot = R[i][0] * R[j][0] + R[i][1] * R[j][1] + R[i][2] * R[j][2]
            far.append(o.absolute(dot - 1.0 if i == j else dot))
    normal = o.cross(o.vector(list(R[0])), o.vector(list(R[1])))
    handed = o.dot(normal, o.vector(list(R[2])))
    far += [o.absolute(last[j] - (1.0 if j == 3 else 0.0)) for j in range(4)]
    most = far[0]
    for value in far[1:]:
        most = o.maximum(most, value)
    return most + o.select(o.less(0.0, handed), 0.0, 1.0)


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
