"""Coulomb friction of the joints, without the jump at rest.

A force that jumps where a joint comes to rest leaves an adaptive step without an end. So up to a
small speed the force grows in proportion to the speed there. Fixed steps hold friction instead
(`holding.py`).
"""

from __future__ import annotations

from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

CREEP = 1.0e-3
"""The speed (rad/s, m/s) from which friction acts in full; a joint that sticks creeps below it."""


def acts(m: Mechanism) -> bool:
    """Whether the description has any friction."""
    return bool(m.friction.any())


def friction(o: Ops, m: Mechanism, v: Block) -> Block:
    """The forces (nv,) of friction: against v, at most as large as the description says."""
    forces: list[Block] = []
    for k, most in enumerate(m.friction.tolist()):
        share = o.maximum(o.minimum(v[k] * (1.0 / CREEP), 1.0), -1.0) if most else 0.0
        forces.append(-most * share)
    return o.vector(forces)
