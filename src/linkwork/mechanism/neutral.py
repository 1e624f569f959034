"""The configuration that stands for none: zero, or the limit nearest to zero."""

from __future__ import annotations

import numpy as np

from linkwork.mechanism.model import Floats, JointType, Mechanism


def neutral(m: Mechanism) -> Floats:
    """Zero clamped to the limits (nq,); floating joints at the origin, unturned (1 0 0 0)."""
    q = np.clip(np.zeros(m.n_q), m.lower, np.maximum(m.lower, m.upper))
    for joint_type, start in zip(m.joint_types, m.q_start, strict=False):
        if joint_type is JointType.FLOATING:
            q[start + 3] = 1.0
    return q
