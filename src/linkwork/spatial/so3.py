"""Rotation vectors: exp, log and the Jacobians of exp, exact at zero and at half a turn.

A rotation vector w (3,) is the axis times the angle in radians; ``[w]`` is `skew(w)`. The left
Jacobian says how exp changes, seen from the outer axes: exp(w + δ) ≈ exp(J_l δ) exp(w); the right
one, seen from the inner axes: exp(w + δ) ≈ exp(w) exp(J_r δ), and J_r(w) = J_l(-w).

Source: T. D. Barfoot, State Estimation for Robotics (2017), section 7.1; the coefficients are
written with half angles, which lose no digits (`coefficients.py`).
"""

from __future__ import annotations

from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import coefficients as c
from linkwork.spatial.rotations import rodrigues, to_quaternion


def exp(o: Ops, w: Block) -> Block:
    """The rotation (3, 3) of a rotation vector (3,): 1 + A [w] + B [w]²."""
    half = c.half_angle(o, o.dot(w, w))
    return rodrigues(o, w, c.coefficient_a(half), c.coefficient_b(half))


def quaternion_exp(o: Ops, w: Block) -> Block:
    """The unit quaternion (4,) ``wxyz`` of a rotation vector (3,); w < 0 beyond half a turn."""
    half = c.half_angle(o, o.dot(w, w))
    s = 0.5 * half.sinc
    return o.vector([half.cos, s * w[0], s * w[1], s * w[2]])


def quaternion_log(o: Ops, wxyz: Block) -> Block:
    """The rotation vector (3,), at most half a turn, of a unit quaternion (4,) ``wxyz``."""
    sign = o.select(o.less(wxyz[0], 0.0), -1.0, 1.0)
    v = o.part(wxyz, 1, 4)
    scale = sign * c.angle_over_half_sine(o, o.dot(v, v), sign * wxyz[0])
    return o.vector([scale * v[k] for k in range(3)])


def log(o: Ops, R: Block) -> Block:
    """The rotation vector (3,), at most half a turn, of a rotation (3, 3).

    At exactly half a turn both signs are right, and one of them is given.
    """
    return quaternion_log(o, to_quaternion(o, R))


def left_jacobian(o: Ops, w: Block) -> Block:
    """J_l (3, 3) = 1 + B [w] + C [w]²."""
    half = c.half_angle(o, o.dot(w, w))
    return rodrigues(o, w, c.coefficient_b(half), c.coefficient_c(o, half))


def left_jacobian_inverse(o: Ops, w: Block) -> Block:
    """J_l⁻¹ (3, 3) = 1 - [w]/2 + D [w]², for angles below a full turn, where J_l has no inverse."""
    half = c.half_angle(o, o.dot(w, w))
    return rodrigues(o, w, o.const(-0.5), c.coefficient_d(o, half))


def right_jacobian(o: Ops, w: Block) -> Block:
    """J_r (3, 3) = J_l(-w) = 1 - B [w] + C [w]²."""
    half = c.half_angle(o, o.dot(w, w))
    return rodrigues(o, w, -c.coefficient_b(half), c.coefficient_c(o, half))


def right_jacobian_inverse(o: Ops, w: Block) -> Block:
    """J_r⁻¹ (3, 3) = J_l⁻¹(-w) = 1 + [w]/2 + D [w]², for angles below a full turn."""
    half = c.half_angle(o, o.dot(w, w))
    return rodrigues(o, w, o.const(0.5), c.coefficient_d(o, half))
