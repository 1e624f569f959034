"""Forward dynamics: the accelerations that joint forces give."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from linkwork.algorithms.articulated_bodies import (
    Resistance,
    articulated_accelerations,
    give_way,
    of_body,
    resistance_out,
)
from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.body_masses import BodyMass
from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.composites import inertial_wrench, momentum_matrix
from linkwork.algorithms.inverse_dynamics import as_vector, inverse_forces, losses, numbers
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
    States,
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
    if m.is_closed:
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


class _GivenWay(NamedTuple):
    """One velocity of a joint that has given way; see `articulated_bodies.GivenWay`."""

    column: list[Scalar]
    share: list[Scalar]
    inverse: Scalar


def forward_dynamics_by_sweep(sweep: Sweep, v: Rates, tau: Rates) -> Output:
    """`forward_dynamics` in passes, for long mechanisms; `articulated_bodies` takes fewer products.

    Accelerations are counted from those that bodies have at dv = 0.
    """
    found = sweep.output(sweep.m.n_v)
    accelerate(sweep, articulated_by_sweep(sweep), v, tau, found)
    return found


def accelerate(sweep: Sweep, ways: States, v: Rates, tau: Rates, found: Output) -> None:
    """Fill in the accelerations (nv,); ``ways`` of `articulated_by_sweep`."""

    def wrench(_: JointTransform, own: Inertia, motion: Motion) -> Spatial:
        return inertial_wrench(own, momentum_matrix(own, motion.velocity), motion)

    own = sweep.each(wrench, sweep.inertias(), motions(sweep, v, gravity=True))
    solve_articulated(
        sweep,
        ways,
        own,
        lambda step, k: tau[step.start + k],
        lambda step, k, value: found.add((step.start + k,), value),
    )


def unit_forces(sweep: Sweep) -> Output:
    """The unit matrix (nv, nv), to be read by passes."""
    units = sweep.scratch(sweep.m.n_v, sweep.m.n_v)
    sweep.velocities(lambda k: 1.0, lambda k, one: units.put((k, k), one))
    return units


def articulated_by_sweep(sweep: Sweep) -> States:
    """For each joint how its velocities give way, the last first: a list of `_GivenWay`."""

    def start(_: JointTransform, own: Inertia) -> Resistance:
        (xx, xy, xz), (_xy, yy, yz), (_xz, _yz, zz) = own.second
        return of_body(BodyMass(own.mass, own.first, [xx, xy, xz, yy, yz, zz]))

    def visit(step: JointTransform, whole: Resistance) -> tuple[list[_GivenWay], Resistance]:
        given: list[_GivenWay] = []
        for k, (axis, turns) in reversed(list(enumerate(step.free))):
            # the joint's own coordinate gives way: a multiplier scales its force and its rotor
            rotor = times(sweep.armature(step, k), 1.0 / times(step.factor, step.factor))
            way = give_way(whole, axis + 3 * turns, rotor)
            whole = way.left
            given.append(_GivenWay(way.column, way.share, way.inverse))
        return given, resistance_out(step.R, step.r, whole)

    return sweep.inwards(sweep.each(start, sweep.inertias()), visit)


def solve_articulated(
    sweep: Sweep,
    ways: States,
    wrenches: States,
    push: Callable[[JointTransform, int], Scalar],
    found: Callable[[JointTransform, int, Scalar], None],
) -> None:
    """Accelerations under joint forces ``push`` and against wrenches; ``found`` is told each."""

    def inwards(
        step: JointTransform, whole: Spatial, given: list[_GivenWay]
    ) -> tuple[list[Scalar], Spatial]:
        wrench, changes = [*whole.linear, *whole.angular], list[Scalar]()
        for way, (k, (axis, turns)) in zip(
            given, reversed(list(enumerate(step.free))), strict=True
        ):
            left = less(times(1.0 / step.factor, push(step, k)), wrench[axis + 3 * turns])
            change = negated(times(left, way.inverse))
            wrench = [added(x, times(change, y)) for x, y in zip(wrench, way.column, strict=True)]
            changes.append(change)
        return changes, step.wrench_out(Spatial(wrench[:3], wrench[3:]))

    def outwards(
        step: JointTransform, before: Spatial, given: list[_GivenWay], changes: list[Scalar]
    ) -> Spatial:
        linear, angular = step.twist_into(before)
        now, n = [*linear, *angular], len(given)
        for k, (axis, turns) in enumerate(step.free):
            terms = list(map(times, given[n - 1 - k].share, now))
            change = total([changes[n - 1 - k], *terms])
            found(step, k, times(1.0 / step.factor, change))
            now[axis + 3 * turns] = added(now[axis + 3 * turns], change)
        return Spatial(now[:3], now[3:])

    sweep.outwards(NO_MOTION, outwards, ways, sweep.inwards(wrenches, inwards, ways))
