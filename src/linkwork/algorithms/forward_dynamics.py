"""Forward dynamics: the accelerations that joint forces give."""

from __future__ import annotations

from typing import NamedTuple

from linkwork.algorithms.articulated_bodies import Resistance, give_way, of_body, resistance_out
from linkwork.algorithms.articulated_recursion import articulated_accelerations
from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import BodyMass
from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.closure import is_closed
from linkwork.algorithms.composites import inertial_wrench, momentum_matrix
from linkwork.algorithms.inverse_dynamics import as_vector, inverse_forces, numbers
from linkwork.algorithms.joint_losses import losses
from linkwork.algorithms.joint_passage import Passage, passages
from linkwork.algorithms.mass_matrix import mass_entries
from linkwork.algorithms.sweep import (
    NO_MOTION,
    Inertia,
    JointTransform,
    Motion,
    Output,
    Rates,
    Spatial,
    Sweep,
    motions,
)
from linkwork.algorithms.tree_factor import factor, solved
from linkwork.algorithms.triples import less, minus, negated, times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def forward_dynamics(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> Block:
    """Accelerations under these joint forces: what `inverse_dynamics` undoes.

    Shapes: q (nq,), v (nv,), tau (nv,) to dv (nv,). Units: rad/s² for turns, m/s² for slides.
    Parameters as in `inverse_dynamics`. With coupled joints it goes by the mass matrix. With loops
    or couplings (at q and v that are assembled) the accelerations keep them closed; tau acts on
    every joint, so it is zero at those that are not driven (`closed_dynamics.py`).

    Source: articulated bodies, R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
    """
    if is_closed(m):
        return as_vector(o, accelerated(o, m, q, v, tau).dv)
    ways, rates = passages(o, m, q), numbers(m, v)
    push = minus(numbers(m, tau), losses(o, m, rates))
    by = _by_mass_matrix if is_coupled(m) else articulated_accelerations
    return as_vector(o, by(m, ways, rates, push))


def is_coupled(m: Mechanism) -> bool:
    """Whether some coordinate moves several bodies, so that no body gives way by itself."""
    moved = [c for c in m.coordinate.tolist() if c >= 0]
    return len(set(moved)) < len(moved)


def _by_mass_matrix(
    m: Mechanism, ways: list[Passage], v: list[Scalar], push: list[Scalar]
) -> list[Scalar]:
    bias = inverse_forces(m, ways, v, [0.0] * m.n_v)
    return solved(factor(mass_entries(m, ways), m.n_v), minus(push, bias))


class _Given(NamedTuple):
    """One velocity of a joint, given way: its acceleration is ``push - share . before``."""

    share: list[Scalar]  # the column of A over D
    push: Scalar


class _Articulated(NamedTuple):
    """The resistance of a body with all that hangs on it, and the wrench that it takes besides."""

    resistance: Resistance
    wrench: Spatial


def forward_dynamics_by_sweep(sweep: Sweep, v: Rates, tau: Rates) -> Output:
    """`forward_dynamics` in passes, for long mechanisms; `articulated_bodies` takes fewer products.

    Accelerations are counted from those that bodies have at dv = 0.
    """
    found = sweep.output(sweep.m.n_v)

    def start(_: JointTransform, own: Inertia, motion: Motion) -> _Articulated:
        wrench = inertial_wrench(own, momentum_matrix(own, motion.velocity), motion)
        (xx, xy, xz), (_xy, yy, yz), (_xz, _yz, zz) = own.second
        second = [xx, xy, xz, yy, yz, zz]
        return _Articulated(of_body(BodyMass(own.mass, own.first, second)), wrench)

    def inwards(step: JointTransform, whole: _Articulated) -> tuple[list[_Given], _Articulated]:
        left, wrench = whole.resistance, [*whole.wrench.linear, *whole.wrench.angular]
        given: list[_Given] = []
        for k, (axis, turns) in reversed(list(enumerate(step.free))):
            at = axis + 3 * turns
            armature = sweep.armature(step, k)
            force = times(1.0 / step.factor, tau[step.start + k])
            way = give_way(left, at, times(1.0 / times(step.factor, step.factor), armature))
            change = negated(times(less(force, wrench[at]), way.inverse))
            wrench = [added(x, times(change, y)) for x, y in zip(wrench, way.column, strict=True)]
            left = way.left
            given.append(_Given(way.share, change))
        out = step.wrench_out(Spatial(wrench[:3], wrench[3:]))
        return given, _Articulated(resistance_out(step.R, step.r, left), out)

    def outwards(step: JointTransform, before: Spatial, given: list[_Given]) -> Spatial:
        linear, angular = step.twist_into(before)
        now = [*linear, *angular]
        for k, (axis, turns) in enumerate(step.free):
            share, push = given[len(given) - 1 - k]
            change = total([push, *map(times, share, now)])
            found.add((step.start + k,), times(1.0 / step.factor, change))
            at = axis + 3 * turns
            now[at] = added(now[at], change)
        return Spatial(now[:3], now[3:])

    own = sweep.each(start, sweep.inertias(), motions(sweep, v, gravity=True))
    sweep.outwards(NO_MOTION, outwards, sweep.inwards(own, inwards))
    return found
