"""Forces that joints have of their own: the inertia of rotors, damping, Coulomb friction.

None of them counts unless it is a parameter (`mechanism/parameters.py`).
"""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.triples import times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Ops


def rotor_forces(m: Mechanism, dv: list[Scalar]) -> list[Scalar]:
    """What it takes to speed rotors up: armature times dv."""
    return [0.0 if is_zero(x) else times(m.joint_armature(k), x) for k, x in enumerate(dv)]


def losses(o: Ops, m: Mechanism, v: list[Scalar]) -> list[Scalar]:
    """What damping and friction take: damping times v, and friction times the sign of v."""
    return [added(times(m.joint_damping(k), x), _friction(o, m, k, x)) for k, x in enumerate(v)]


def _friction(o: Ops, m: Mechanism, k: int, rate: Scalar) -> Scalar:
    size = m.joint_friction(k)
    if is_zero(size) or is_zero(rate):
        return 0.0
    against = o.select(o.less(rate, 0.0), -size, 0.0)
    return total([o.select(o.less(0.0, rate), size, 0.0), against])
