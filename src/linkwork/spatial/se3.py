"""Exponential coordinates of poses: exp, log, the Jacobians of exp, and the adjoint.

A twist (6,) is (v, w): the linear part first. With T = exp(v, w) a screw motion of unit time:
exp(x + δ) ≈ exp(J_l δ) exp(x) = exp(x) exp(J_r δ), and J_r(x) = J_l(-x).

Source: exp and log as in T. D. Barfoot, State Estimation for Robotics (2017), section 7.1. The
coupling blocks of the Jacobians follow from dual numbers: the twist is the rotation vector w + ε v
with ε² = 0, so the block is the derivative of the 3 x 3 Jacobian at w in the direction v, which
needs two coefficients more and no triple products.
"""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import rotations, so3
from linkwork.spatial.poses import Pose, compose, from_matrix, inverse, to_matrix
from linkwork.spatial.rotations import rodrigues, skew


def exp(o: Ops, twist: Block) -> Pose:
    """The pose of a twist (6,): R = exp(w), p = J_l(w) v."""
    v, w = o.part(twist, 0, 3), o.part(twist, 3, 6)
    half = so3.half_angle(o, o.dot(w, w))
    a, b = so3.coefficient_a(half), so3.coefficient_b(half)
    across = o.cross(w, v)
    p = v + b * across + so3.coefficient_c(o, half) * o.cross(w, across)
    return Pose(rodrigues(o, w, a, b), p)


def log(o: Ops, pose: Pose) -> Block:
    """The twist (6,) of a pose, turning at most half a turn: w = log(R), v = J_l⁻¹(w) p."""
    w = so3.log(o, pose.R)
    half = so3.half_angle(o, o.dot(w, w))
    across = o.cross(w, pose.p)
    v = pose.p - 0.5 * across + so3.coefficient_d(o, half) * o.cross(w, across)
    return o.concat([v, w])


def left_jacobian(o: Ops, twist: Block) -> Block:
    """J_l (6, 6) = [[J, Q], [0, J]] with the J_l of so3 and Q its derivative at w along v."""
    v, w = o.part(twist, 0, 3), o.part(twist, 3, 6)
    half = so3.half_angle(o, o.dot(w, w))
    b, b_slope = so3.coefficient_b(half), so3.slope_b(o, half)
    c_, c_slope = so3.coefficient_c(o, half), so3.slope_c(o, half)
    along = o.dot(w, v)
    coupling = skew(o, b * v + (along * b_slope) * w) + _symmetric_product(
        o, w, c_ * v + (0.5 * along * c_slope) * w
    )
    return _block_upper(o, rodrigues(o, w, b, c_), coupling)


def left_jacobian_inverse(o: Ops, twist: Block) -> Block:
    """J_l⁻¹ (6, 6) = [[J⁻¹, Q], [0, J⁻¹]], for angles below a full turn."""
    v, w = o.part(twist, 0, 3), o.part(twist, 3, 6)
    half = so3.half_angle(o, o.dot(w, w))
    d, d_slope = so3.coefficient_d(o, half), so3.slope_d(o, half)
    u = d * v + (0.5 * o.dot(w, v) * d_slope) * w
    coupling = skew(o, -0.5 * v) + _symmetric_product(o, w, u)
    return _block_upper(o, rodrigues(o, w, o.const(-0.5), d), coupling)


def right_jacobian(o: Ops, twist: Block) -> Block:
    """J_r (6, 6) = J_l(-x)."""
    return left_jacobian(o, -twist)


def right_jacobian_inverse(o: Ops, twist: Block) -> Block:
    """J_r⁻¹ (6, 6) = J_l⁻¹(-x), for angles below a full turn."""
    return left_jacobian_inverse(o, -twist)


def adjoint(o: Ops, pose: Pose) -> Block:
    """The matrix (6, 6) that takes twists in b to twists in a: [[R, [p] R], [0, R]]."""
    return _block_upper(o, pose.R, skew(o, pose.p) @ pose.R)


def _symmetric_product(o: Ops, w: Block, u: Block) -> Block:
    """[w][u] + [u][w] = w uᵀ + u wᵀ - 2 (w·u) 1."""
    both = o.outer(w, u)
    twice = 2.0 * o.dot(w, u)
    zero = 0.0
    diagonal = o.matrix(
        [
            o.vector([twice, zero, zero]),
            o.vector([zero, twice, zero]),
            o.vector([zero, zero, twice]),
        ]
    )
    return both + o.transpose(both) - diagonal


def _block_upper(o: Ops, diagonal: Block, corner: Block) -> Block:
    """[[diagonal, corner], [0, diagonal]]."""
    nothing = o.const([0.0, 0.0, 0.0])
    left = [o.concat([o.column(diagonal, j), nothing]) for j in range(3)]
    right = [o.concat([o.column(corner, j), o.column(diagonal, j)]) for j in range(3)]
    return o.matrix(left + right)


# --- poses and rotations as the numbers that people write, row by row ---


def matrix_from_rpy(o: Ops, xyz: Block, rpy: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by roll, pitch, yaw (3,) about x, y, z (URDF)."""
    return to_matrix(o, Pose(rotations.from_rpy(o, rpy), xyz))


def matrix_from_quaternion(o: Ops, xyz: Block, wxyz: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by a quaternion (4,) of any length but zero."""
    return to_matrix(o, Pose(rotations.from_quaternion(o, wxyz), xyz))


def rpy_from_rows(o: Ops, rows: Block) -> Block:
    """Roll, pitch, yaw (3,) of a rotation's nine numbers."""
    return rotations.to_rpy(o, rotation_of_rows(o, rows))


def quaternion_from_rows(o: Ops, rows: Block) -> Block:
    """The unit quaternion (4,), w not negative, of a rotation's nine numbers."""
    return rotations.to_quaternion(o, rotation_of_rows(o, rows))


def rotation_of_rows(o: Ops, rows: Block) -> Block:
    """The rotation (3, 3) that nine numbers are the rows of."""
    return o.transpose(o.matrix([o.part(rows, 3 * i, 3 * i + 3) for i in range(3)]))


def matrix_from_rows(o: Ops, xyz: Block, rows: Block) -> Block:
    """The pose (4, 4) at a position (3,), turned by a rotation's nine numbers."""
    return to_matrix(o, Pose(rotation_of_rows(o, rows), xyz))


def composed(o: Ops, first: Block, second: Block) -> Block:
    """The product (4, 4) of two poses of sixteen numbers."""
    return to_matrix(o, compose(o, _pose(o, first), _pose(o, second)))


def inverted(o: Ops, rows: Block) -> Block:
    """The inverse (4, 4) of a pose of sixteen numbers."""
    return to_matrix(o, inverse(o, _pose(o, rows)))


def on_screw(o: Ops, first: Block, second: Block, s: Block) -> Block:
    """The pose (4, 4) at s (1,) of the screw motion from one pose to another."""
    start = _pose(o, first)
    twist = log(o, compose(o, inverse(o, start), _pose(o, second)))
    return to_matrix(o, compose(o, start, exp(o, s[0] * twist)))


def on_line(o: Ops, first: Block, second: Block, s: Block) -> Block:
    """The pose (4, 4) at s (1,): the origin on a line, the rotation at a constant rate."""
    start, end = _pose(o, first), _pose(o, second)
    turn = so3.exp(o, s[0] * so3.log(o, o.transpose(start.R) @ end.R))
    return to_matrix(o, Pose(start.R @ turn, start.p + s[0] * (end.p - start.p)))


def _pose(o: Ops, rows: Block) -> Pose:
    """The pose of sixteen numbers, row by row; the last row is not looked at."""
    return from_matrix(o, o.transpose(o.matrix([o.part(rows, 4 * i, 4 * i + 4) for i in range(4)])))
