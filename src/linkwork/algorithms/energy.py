"""The energy of motion."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.sweep import Inertia, Output, Rates, Spatial, Sweep, motions
from linkwork.algorithms.triples import Triple, cross, dot, negated, times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def kinetic_energy(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """Kinetic energy of the whole mechanism: v·M v / 2, with M its mass matrix.

    Shapes: q (nq,), v (nv,) to a scalar. Units: joule. Rotors (armature) count where they are a
    parameter. `potential_energy` is the other part.
    """
    return kinetic_energy_by_sweep(Sweep(o, m, q), v).block(o)


def kinetic_energy_by_sweep(sweep: Sweep, v: Rates) -> Output:
    """The kinetic energy, body by body."""
    energy = sweep.output()
    sweep.each(
        lambda step, own, motion: energy.add((), _energy(own, motion.velocity)),
        sweep.inertias(),
        motions(sweep, v),
    )
    sweep.velocities(
        sweep.m.joint_armature,
        lambda k, x: energy.add((), times(times(0.5, x), times(v[k], v[k]))),
    )
    return energy


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
