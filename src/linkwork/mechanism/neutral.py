"""The configuration that stands for none: zero, or the limit nearest to zero."""

from __future__ import annotations

import numpy as np

from linkwork.mechanism.model import Floats, JointType, Mechanism


def neutral(m: Mechanism) -> Floats:
    """Zero clamped to the limits (nq,); floating joints at the origin, unturned (1 0 0 0).

    Where a lower limit is above the upper one, it is zero.
    """
    q = np.where(m.lower <= m.upper, np.clip(0.0, m.lower, m.upper), 0.0)
    for joint_type, start in zip(m.joint_types, m.q_start, strict=False):
        if joint_type is JointType.FLOATING:
            q[start + 3] = 1.0
    return q
