"""Forward dynamics: the accelerations that joint forces give, and the inverse of the mass matrix.

An articulated body is what a body resists with all that hangs on it, its joints free to give way. A
wrench that changes the acceleration a of such a body is ``A a``, A symmetric (6, 6), linear numbers
before angular ones. A joint that gives way takes a rank out of A; joints with several velocities
give way one velocity after the other.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.inverse_dynamics import (
    add_forces,
    add_losses,
    against_world,
    body_motions,
    with_inertia,
)
from linkwork.algorithms.joint_transforms import (
    NO_MOTION,
    Inertia,
    JointTransform,
    Rates,
    Spatial,
)
from linkwork.algorithms.mass_matrix import add_masses, mass_matrix
from linkwork.algorithms.sweep import Output, States, Sweep
from linkwork.algorithms.tree_factor import Entries, factor, inverted
from linkwork.algorithms.vector3 import (
    Rows,
    Scalar,
    Vector3,
    added,
    as_vector,
    is_zero,
    less,
    negated,
    plus,
    plus_cross,
    scaled,
    symmetric,
    times,
    total,
    transposed,
)
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
    return forward_dynamics_in_passes(Sweep(o, m, q), v, tau).block(o)


def is_coupled(m: Mechanism) -> bool:
    """Whether some coordinate moves several bodies, so that no body gives way by itself."""
    moved = [c for c in m.coordinate.tolist() if c >= 0]
    return len(set(moved)) < len(moved)


def forward_dynamics_in_passes(sweep: Sweep, v: Rates, tau: Rates) -> Output:
    """`forward_dynamics` of the tree by articulated bodies, or by the mass matrix."""
    found, n = sweep.output(sweep.m.n_v), sweep.m.n_v
    if is_coupled(sweep.m):
        bias, masses = sweep.scratch(n), sweep.scratch(n, n)
        add_forces(sweep, v, None, bias)
        add_masses(sweep, masses)
        sweep.velocities(lambda k: 1.0, lambda k, _: found.put((k,), less(tau[k], bias[k])))
        sweep.solve(masses, found)
        return found
    accelerate(sweep, articulated_bodies(sweep), v, tau, found)
    return found


def accelerate(sweep: Sweep, ways: States, v: Rates, tau: Rates, found: Output) -> None:
    """Fill in the accelerations (nv,); ``ways`` of `articulated_bodies`.

    They are counted from those that bodies have at dv = 0. No two may share a coordinate.
    """
    losses = sweep.scratch(sweep.m.n_v)
    add_losses(sweep, v, losses)
    solve_articulated(
        sweep,
        ways,
        lambda step, k: less(tau[step.start + k], losses[step.start + k]),
        lambda step, k, value: found.add((step.start + k,), value),
        against_world(sweep),
        (sweep.inertias(), body_motions(sweep, v)),
    )


def inverse_mass_matrix(o: Ops, m: Mechanism, q: Block) -> Block:
    """The inverse of the mass matrix: how accelerations change with joint forces.

    Shapes: q (nq,) to (nv, nv). Units: those of `mass_matrix`, inverted. Rotors (armature) are a
    parameter. In passes (`inverse_mass_matrix_in_passes`) it takes two to three times the products.

    Source: factors of the mass matrix with the tree's sparsity (`tree_factor.py`).
    """
    masses = mass_matrix.passes(Sweep(o, m, q)).lower()
    return symmetric_matrix(o, inverted(factor(masses, m.n_v)), m.n_v)


def symmetric_matrix(o: Ops, entries: Entries, n: int) -> Block:
    """A symmetric matrix (n, n) of its entries: each computed once and stored twice."""
    if n == 0:
        return o.const(np.zeros((0, 0)))
    columns = [[entries.get((max(i, j), min(i, j)), 0.0) for i in range(n)] for j in range(n)]
    return o.matrix([o.vector(column) for column in columns])


def inverse_mass_matrix_in_passes(sweep: Sweep) -> Output:
    """`inverse_mass_matrix` for long mechanisms: the accelerations that unit forces give."""
    n, ways = sweep.m.n_v, articulated_bodies(sweep)
    found, units = sweep.output(n, n), unit_forces(sweep)

    def column(j: int) -> None:
        solve_articulated(
            sweep,
            ways,
            lambda step, k: units[step.start + k, j],
            lambda step, k, value: found.add((step.start + k, j), value),
        )

    sweep.columns(column)
    return found


def unit_forces(sweep: Sweep) -> Output:
    """The unit matrix (nv, nv), to be read by passes."""
    units = sweep.scratch(sweep.m.n_v, sweep.m.n_v)
    sweep.velocities(lambda k: 1.0, lambda k, one: units.put((k, k), one))
    return units


# ----------------------------------------------------------------------------- articulated bodies


class Resistance(NamedTuple):
    """The matrix A in three blocks: force = M a + H alpha, moment = Hᵀ a + I alpha."""

    M: Rows
    H: Rows
    I: Rows  # noqa: E741  the symbol of the literature

    def rows(self) -> Rows:
        """A, row by row."""
        return [
            *(m + h for m, h in zip(self.M, self.H, strict=True)),
            *(h + i for h, i in zip(transposed(self.H), self.I, strict=True)),
        ]

    def out(self, step: JointTransform) -> Resistance:
        """The same in the frame before a transform."""
        M, H, inertia = step.symmetric_out(self.M), step.matrix_out(self.H), self.I
        return _moved(Resistance(M, H, step.symmetric_out(inertia)), step.r)


def _of_body(own: Inertia) -> Resistance:
    """A rigid body by itself."""
    (xx, xy, xz), (_xy, yy, yz), (_xz, _yz, zz) = own.second
    inertia = [added(yy, zz), negated(xy), negated(xz), added(xx, zz), negated(yz), added(xx, yy)]
    x, y, z = own.first
    H = [[0.0, z, negated(y)], [negated(z), 0.0, x], [y, negated(x), 0.0]]
    m = own.mass
    return Resistance([[m, 0.0, 0.0], [0.0, m, 0.0], [0.0, 0.0, m]], H, symmetric(inertia))


def _moved(own: Resistance, p: Vector3) -> Resistance:
    """About a point from which this one is at p."""
    H = [plus_cross(row, p, other) for row, other in zip(own.H, own.M, strict=True)]
    before, after = transposed(own.H), transposed(H)
    inertia: Rows = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        inertia[i][i] = plus_cross(own.I[i], p, plus(before[i], after[i]))[i]
        for j in range(i + 1, 3):
            more = plus_cross(own.I[j], p, after[j])[i]
            inertia[i][j] = inertia[j][i] = plus_cross([more] * 3, p, before[i])[j]
    return Resistance(own.M, H, inertia)


class GivenWay(NamedTuple):
    """One velocity of a joint that gives way, and how its acceleration follows.

    Where no rotor is on the joint, its own ``share`` is the constant -1: nothing is left of A along
    it, and what it accelerated by before does not matter.
    """

    column: list[Scalar]  # of A, before
    share: list[Scalar]  # the column over minus D
    inverse: Scalar  # minus one over D: with this sign the reciprocal is shared

    def is_bare(self, axis: int) -> bool:
        """Whether no rotor is on the joint."""
        own = self.share[axis]
        return type(own) is float and own == -1.0


def _give_way(whole: Resistance, axis: int, armature: Scalar) -> tuple[Resistance, GivenWay]:
    """Let the joint give way along one axis (0 to 2 slide, 3 to 5 turn): what is left of A."""
    before, bare = whole.rows(), is_zero(armature)
    column = before[axis]
    inverse = -1.0 / added(column[axis], armature)
    share = scaled(inverse, column)
    rows: Rows = [[0.0] * 6 for _ in range(6)]
    for i in range(6):
        for j in range(i, 6):
            if not (bare and axis in (i, j)):
                rows[i][j] = rows[j][i] = added(before[i][j], times(column[i], share[j]))
    if bare:
        share[axis] = -1.0
    left = Resistance(
        [row[:3] for row in rows[:3]], [row[3:] for row in rows[:3]], [row[3:] for row in rows[3:]]
    )
    return left, GivenWay(column, share, inverse)


def articulated_bodies(sweep: Sweep) -> States:
    """For each joint how its velocities give way, the last first: a list of `GivenWay`."""

    def visit(step: JointTransform, whole: Resistance) -> tuple[list[GivenWay], Resistance]:
        given: list[GivenWay] = []
        for k, (axis, turns) in reversed(list(enumerate(step.free))):
            # the joint's own coordinate gives way: a multiplier scales its force and its rotor
            rotor = times(sweep.armature(step, k), 1.0 / times(step.factor, step.factor))
            whole, way = _give_way(whole, axis + 3 * turns, rotor)
            given.append(way)
        return given, whole.out(step)

    return sweep.inwards(sweep.each(lambda step, own: _of_body(own), sweep.inertias()), visit)


def solve_articulated(
    sweep: Sweep,
    ways: States,
    push: Callable[[JointTransform, int], Scalar],
    found: Callable[[JointTransform, int, Scalar], None],
    wrenches: States = None,
    bodies: tuple[States, ...] = (),
) -> None:
    """Accelerations under joint forces ``push``; ``found`` is told each.

    ``wrenches``: those that the joints hold besides; ``bodies``: inertias and `BodyMotion` of
    bodies that are in motion.
    """

    def inwards(
        step: JointTransform, behind: Spatial, given: list[GivenWay], *body: Any
    ) -> tuple[list[Scalar], Spatial]:
        whole = with_inertia(behind, *body) if body else behind
        wrench, changes = [*whole.linear, *whole.angular], list[Scalar]()
        for way, (k, (axis, turns)) in zip(
            given, reversed(list(enumerate(step.free))), strict=True
        ):
            at = axis + 3 * turns
            force = times(1.0 / step.factor, push(step, k))
            change = negated(times(less(force, wrench[at]), way.inverse))
            wrench = [added(x, times(change, y)) for x, y in zip(wrench, way.column, strict=True)]
            if way.is_bare(at):
                wrench[at] = force
            changes.append(change)
        return changes, step.wrench_out(Spatial(wrench[:3], wrench[3:]))

    def outwards(
        step: JointTransform, before: Spatial, given: list[GivenWay], changes: list[Scalar]
    ) -> Spatial:
        linear, angular = step.twist_into(before)
        now, n = [*linear, *angular], len(given)
        for k, (axis, turns) in enumerate(step.free):
            at, way = axis + 3 * turns, given[n - 1 - k]
            was, terms = now[at], list(map(times, way.share, now))
            if way.is_bare(at):
                terms[at] = 0.0
                now[at] = total([changes[n - 1 - k], *terms])
                change = less(now[at], was)
            else:
                change = total([changes[n - 1 - k], *terms])
                now[at] = added(was, change)
            found(step, k, times(1.0 / step.factor, change))
        return Spatial(now[:3], now[3:])

    held = sweep.each(lambda step: NO_MOTION) if wrenches is None else wrenches
    sweep.outwards(lambda: NO_MOTION, outwards, ways, sweep.inwards(held, inwards, ways, *bodies))
