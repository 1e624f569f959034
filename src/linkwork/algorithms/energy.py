"""The energy of motion."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.composites import Inertia, own_inertias
from linkwork.algorithms.step_motion import motions_of
from linkwork.algorithms.steps import Spatial, steps_of
from linkwork.algorithms.triples import Triple, cross, dot, negated, times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def kinetic_energy(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """Kinetic energy of the whole mechanism: v·M v / 2, with M its mass matrix.

    Shapes: q (nq,), v (nv,) to a scalar. Units: joule. Rotors (armature) count where they are a
    parameter. `potential_energy` is the other part.
    """
    steps = steps_of(o, m, q)
    parts = [
        _energy(own, motion.velocity)
        for own, motion in zip(own_inertias(m, steps), motions_of(m, steps, v), strict=True)
    ]
    rotors = [times(times(0.5, m.joint_armature(k)), times(v[k], v[k])) for k in range(m.n_v)]
    return o.vector([total([*parts, *rotors])])[0]


def _energy(own: Inertia, velocity: Spatial) -> Scalar:
    """That of one body: m u·u / 2 + u·(w x h) + w·J w / 2."""
    u, w = velocity
    slide = times(times(0.5, own.mass), dot(u, u))
    return total([_turning(own, w), dot(u, cross(w, own.first)), slide])


def _turning(own: Inertia, w: Triple) -> Scalar:
    """``w·J w / 2`` with J = tr second - second, each product of w once."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = own.second
    x, y, z = w
    half = [times(0.5, added(yy, zz)), times(0.5, added(xx, zz)), times(0.5, added(xx, yy))]
    first = total([times(half[0], x), times(negated(xy), y), times(negated(xz), z)])
    second = added(times(half[1], y), times(negated(yz), z))
    return dot(w, [first, second, times(half[2], z)])
