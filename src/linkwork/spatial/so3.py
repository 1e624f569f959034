"""Rotation vectors: exp, log and the Jacobians of exp, exact at zero and at half a turn.

A rotation vector w (3,) is the axis times the angle in radians; ``[w]`` is `skew(w)`. The left
Jacobian says how exp changes, seen from the outer axes: exp(w + δ) ≈ exp(J_l δ) exp(w); the right
one, seen from the inner axes: exp(w + δ) ≈ exp(w) exp(J_r δ), and J_r(w) = J_l(-w).

All of them consist of scalar functions of the squared angle t = θ², written with half angles, which
lose no digits. Each closed form is 0/0 at t = 0 and loses digits near it, so below a switch of its
own a power series takes over, long enough to be exact in float64. Both sides are always computed.
The clamps around a switch keep the arguments of the unused side finite, and they lie a tenth beyond
the switch, so that no derivative is ever taken at a corner.

Source: T. D. Barfoot, State Estimation for Robotics (2017), section 7.1; the series are those of
sin and cos, divided; the Bernoulli numbers enter through x cot x (NIST Digital Library of
Mathematical Functions, 4.19.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import NamedTuple

from linkwork.ops.protocol import Block, Condition, Ops
from linkwork.spatial.rotations import rodrigues, to_quaternion

SWITCH_HALF = 1.0  # of t, for sin and cos of the half angle
SWITCH_C = 1.0
SWITCH_SLOPE = 4.0  # of t, for the derivatives of B and C, which cancel twice
SWITCH_D = 1.0
SWITCH_D_SLOPE = 2.0
SWITCH_LOG = 1.0 / 64.0  # of the squared sine of the half angle

_SINC = [(-1) ** k / factorial(2 * k + 1) for k in range(9)]
_COS = [(-1) ** k / factorial(2 * k) for k in range(9)]
_C = [(-1) ** k / factorial(2 * k + 3) for k in range(10)]
_B_SLOPE = [-2 * (k + 1) * (-1) ** k / factorial(2 * k + 4) for k in range(13)]
_C_SLOPE = [-2 * (k + 1) * (-1) ** k / factorial(2 * k + 5) for k in range(13)]
_BERNOULLI = [  # |B_2n| / (2n)! for n = 1, 2, ...
    0.08333333333333333,
    0.001388888888888889,
    3.306878306878307e-05,
    8.267195767195768e-07,
    2.08767569878681e-08,
    5.284190138687493e-10,
    1.3382536530684679e-11,
    3.3896802963225827e-13,
    8.586062056277845e-15,
    2.174868698558062e-16,
    5.5090028283602295e-18,
    1.3954464685812522e-19,
    3.534707039629467e-21,
    8.953517427037546e-23,
    2.267952452337683e-24,
    5.744790668872202e-26,
]
_D = _BERNOULLI[:12]
_D_SLOPE = [2 * k * b for k, b in enumerate(_BERNOULLI)][1:]
_ASIN = [factorial(2 * k) / (4**k * factorial(k) ** 2 * (2 * k + 1)) for k in range(10)]


def series(o: Ops, t: Block, coefficients: Sequence[float]) -> Block:
    """The polynomial c0 + c1 t + c2 t² + ... by Horner's rule."""
    result = o.const(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = result * t + c
    return result


class Sides(NamedTuple):
    """The side of a switch that t lies on, and an argument for computing each side."""

    small: Condition
    near: Block
    far: Block


def sides(o: Ops, t: Block, switch: float) -> Sides:
    """Split t at a switch: `near` is at most 1.1 and `far` at least 0.9 of it."""
    return Sides(o.less(t, switch), o.minimum(t, 1.1 * switch), o.maximum(t, 0.9 * switch))


class HalfAngle(NamedTuple):
    """t = θ², cos(θ/2) and sin(θ/2) / (θ/2): everything else follows without loss."""

    t: Block
    cos: Block
    sinc: Block


def half_angle(o: Ops, t: Block) -> HalfAngle:
    """Cosine and sinc of the half angle from the squared angle (), for any angle."""
    small, near, far = sides(o, t, SWITCH_HALF)
    half = 0.5 * o.sqrt(far)
    near = 0.25 * near
    return HalfAngle(
        t,
        o.select(small, series(o, near, _COS), o.cos(half)),
        o.select(small, series(o, near, _SINC), o.sin(half) / half),
    )


def coefficient_a(half: HalfAngle) -> Block:
    """A = sin θ / θ."""
    return half.cos * half.sinc


def coefficient_b(half: HalfAngle) -> Block:
    """B = (1 - cos θ) / θ²."""
    return 0.5 * half.sinc * half.sinc


def coefficient_c(o: Ops, half: HalfAngle) -> Block:
    """C = (θ - sin θ) / θ³."""
    small, near, far = sides(o, half.t, SWITCH_C)
    return o.select(small, series(o, near, _C), (1.0 - coefficient_a(half)) / far)


def slope_b(o: Ops, half: HalfAngle) -> Block:
    """(dB/dθ) / θ."""
    small, near, far = sides(o, half.t, SWITCH_SLOPE)
    closed = (coefficient_a(half) - 2.0 * coefficient_b(half)) / far
    return o.select(small, series(o, near, _B_SLOPE), closed)


def slope_c(o: Ops, half: HalfAngle) -> Block:
    """(dC/dθ) / θ."""
    small, near, far = sides(o, half.t, SWITCH_SLOPE)
    closed = (coefficient_b(half) - 3.0 * coefficient_c(o, half)) / far
    return o.select(small, series(o, near, _C_SLOPE), closed)


def coefficient_d(o: Ops, half: HalfAngle) -> Block:
    """D = (1 - (θ/2) cot(θ/2)) / θ², for angles below a full turn, where it is infinite."""
    small, near, far = sides(o, half.t, SWITCH_D)
    return o.select(small, series(o, near, _D), (1.0 - half.cos / half.sinc) / far)


def slope_d(o: Ops, half: HalfAngle) -> Block:
    """(dD/dθ) / θ, for angles below a full turn."""
    small, near, far = sides(o, half.t, SWITCH_D_SLOPE)
    closed = (1.0 / (half.sinc * half.sinc) + half.cos / half.sinc - 2.0) / (far * far)
    return o.select(small, series(o, near, _D_SLOPE), closed)


def angle_over_half_sine(o: Ops, sine2: Block, cosine: Block) -> Block:
    """θ / sin(θ/2) from sin²(θ/2) and cos(θ/2) >= 0: 2 at zero, pi at a half turn."""
    small, near, far = sides(o, sine2, SWITCH_LOG)
    sine = o.sqrt(far)
    return 2.0 * o.select(small, series(o, near, _ASIN), o.atan2(sine, cosine) / sine)


def exp(o: Ops, w: Block) -> Block:
    """The rotation (3, 3) of a rotation vector (3,): 1 + A [w] + B [w]²."""
    half = half_angle(o, o.dot(w, w))
    return rodrigues(o, w, coefficient_a(half), coefficient_b(half))


def quaternion_exp(o: Ops, w: Block) -> Block:
    """The unit quaternion (4,) ``wxyz`` of a rotation vector (3,); w < 0 beyond half a turn."""
    half = half_angle(o, o.dot(w, w))
    s = 0.5 * half.sinc
    return o.vector([half.cos, s * w[0], s * w[1], s * w[2]])


def quaternion_log(o: Ops, wxyz: Block) -> Block:
    """The rotation vector (3,), at most half a turn, of a unit quaternion (4,) ``wxyz``."""
    sign = o.select(o.less(wxyz[0], 0.0), -1.0, 1.0)
    v = o.part(wxyz, 1, 4)
    scale = sign * angle_over_half_sine(o, o.dot(v, v), sign * wxyz[0])
    return o.vector([scale * v[k] for k in range(3)])


def log(o: Ops, R: Block) -> Block:
    """The rotation vector (3,), at most half a turn, of a rotation (3, 3).

    At exactly half a turn both signs are right, and one of them is given.
    """
    return quaternion_log(o, to_quaternion(o, R))


def left_jacobian(o: Ops, w: Block) -> Block:
    """J_l (3, 3) = 1 + B [w] + C [w]²."""
    half = half_angle(o, o.dot(w, w))
    return rodrigues(o, w, coefficient_b(half), coefficient_c(o, half))


def left_jacobian_inverse(o: Ops, w: Block) -> Block:
    """J_l⁻¹ (3, 3) = 1 - [w]/2 + D [w]², for angles below a full turn, where J_l has no inverse."""
    half = half_angle(o, o.dot(w, w))
    return rodrigues(o, w, o.const(-0.5), coefficient_d(o, half))


def right_jacobian(o: Ops, w: Block) -> Block:
    """J_r (3, 3) = J_l(-w) = 1 - B [w] + C [w]²."""
    half = half_angle(o, o.dot(w, w))
    return rodrigues(o, w, -coefficient_b(half), coefficient_c(o, half))


def right_jacobian_inverse(o: Ops, w: Block) -> Block:
    """J_r⁻¹ (3, 3) = J_l⁻¹(-w) = 1 + [w]/2 + D [w]², for angles below a full turn."""
    half = half_angle(o, o.dot(w, w))
    return rodrigues(o, w, o.const(0.5), coefficient_d(o, half))
