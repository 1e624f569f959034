"""Velocities of joints that give a twist: the pseudo-inverse, damped, weighted and projected.

A Jacobian J (m, n) and a twist V (m,) need not have one v with J v = V. The least v among those
that come nearest to V is J⁺ V; next to a singularity it grows without bound, and is damped there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number, finite_rows, plain, real_array
from linkwork.errors import ShapeError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointVelocities:
    """Velocities of joints that come nearest to a twist, and what they were computed from.

    Shapes: ``v`` (..., n); ``singular_values`` (..., min(m, n)) of the weighted Jacobian, falling;
    ``rank`` (...), how many of them are not small; ``damping`` (...), what the small ones were
    damped by. For one Jacobian the last two are Python's own int and float.
    """

    v: Floats
    singular_values: Floats
    rank: Any
    damping: Any


def joint_velocities(
    jacobian: ArrayLike,
    twist: ArrayLike,
    *,
    smallest: float = 1.0e-5,
    damping: float = 0.0,
    joint_weights: ArrayLike | None = None,
    twist_weights: ArrayLike | None = None,
    preferred: ArrayLike | None = None,
) -> JointVelocities:
    """Velocities v (..., n) of joints that come nearest to a twist (..., m), the least of these.

    With ``joint_weights`` W (n, n) and ``twist_weights`` X (m, m), or their diagonals (n,) and
    (m,), v = W (X J W)⁺ X V: joints of a larger weight move more, rows of a larger weight count
    more. Singular values s below ``smallest`` count as 0 where ``damping`` is 0; else 1/s becomes
    s / (s² + d²) for these, with d² = (1 - (least s / smallest)²) damping², so that v is continuous
    where a singularity is passed. ``preferred`` (..., n) is what the joints would like to do: of it
    remains what leaves the twist as it is, v = p + W (X J W)⁺ X (V - J p).

    Shapes: jacobian (..., m, n). Leading shapes are broadcast.
    Source: A. Maciejewski and C. Klein, "Numerical filtering for the operation of robotic
    manipulators through kinematically singular configurations", J. Robotic Systems 5 (1988), with
    the damping of S. Chiaverini, IEEE Trans. Robotics and Automation 13 (1997); A. Liégeois, IEEE
    Trans. Systems, Man and Cybernetics 7 (1977), for the projection.
    Raises: ShapeError; InputError for what is not finite, and for negative numbers of the options.
    """
    shape = real_array(jacobian, "jacobian").shape
    if len(shape) < 2:
        raise ShapeError(f"jacobian must have shape (..., m, n), not {shape}")
    m, n = shape[-2:]
    J = finite_rows(jacobian, "jacobian", n)
    V = finite_rows(twist, "twist", m)
    smallest = finite_number(smallest, "smallest", least=0.0)
    damping = finite_number(damping, "damping", least=0.0)
    W, X = _weights(joint_weights, n, "joint_weights"), _weights(twist_weights, m, "twist_weights")
    p = None if preferred is None else finite_rows(preferred, "preferred", n)
    weighted = J if X is None else X @ J
    weighted = weighted if W is None else weighted @ W
    left, s, right = np.linalg.svd(weighted, full_matrices=False)
    small = s < smallest
    least = (
        s[..., -1:] / smallest if s.shape[-1] and smallest > 0.0 else np.ones((*s.shape[:-1], 1))
    )
    d = damping * np.sqrt(1.0 - np.minimum(least, 1.0) ** 2)
    damped = s / np.where(d > 0.0, s * s + d * d, np.inf)
    inverse = np.where(small, damped, 1.0 / np.where(small, 1.0, s))
    try:
        rest = V if p is None else V - np.einsum("...ij,...j->...i", J, p)
        rest = rest if X is None else rest @ X.T
        v = np.einsum(
            "...ki,...k->...i", right, inverse * np.einsum("...ik,...i->...k", left, rest)
        )
        v = v if W is None else v @ W.T
        v = v if p is None else v + p
    except ValueError:
        raise ShapeError(
            f"the leading shapes of jacobian {J.shape[:-2]}, twist {V.shape[:-1]} and preferred do "
            "not go together"
        ) from None
    rank = s.shape[-1] - np.count_nonzero(small, axis=-1)
    return JointVelocities(v, s, plain(np.asarray(rank)), plain(d[..., 0]))


def _weights(given: ArrayLike | None, n: int, name: str) -> Floats | None:
    """Weights as a matrix (n, n); None for ones."""
    if given is None:
        return None
    weights = real_array(given, name)
    if weights.shape not in ((n,), (n, n)):
        raise ShapeError(f"{name} must have shape ({n},) or ({n}, {n}), not {weights.shape}")
    weights = finite_rows(weights, name, n)
    return np.diag(weights) if weights.ndim == 1 else weights
