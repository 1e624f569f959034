"""The configuration that stands for none: zero, or the limit nearest to zero."""

from __future__ import annotations

import numpy as np

from linkwork.mechanism.model import Floats, Mechanism


def neutral(m: Mechanism) -> Floats:
    """The configuration (nq,) of zeros, moved inside the limits where zero is outside them.

    Quaternions are 1 0 0 0. A joint whose lower limit is above its upper one stays at zero.
    """
    q = np.clip(np.zeros(m.n_q), m.lower, np.maximum(m.lower, m.upper))
    q[m.lower > m.upper] = 0.0
    q[quaternion_starts(m)] = 1.0
    return q


def quaternion_starts(m: Mechanism) -> list[int]:
    """The places in q where quaternions of floating and spherical joints begin."""
    turning = ((c, kind) for c, kind in enumerate(m.joint_types) if kind.has_quaternion)
    return [int(m.q_start[c]) + kind.n_lengths for c, kind in turning]
