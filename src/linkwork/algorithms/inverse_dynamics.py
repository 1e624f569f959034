"""Inverse dynamics: the joint forces that a motion takes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from linkwork.algorithms.actuation import actuated_forces, actuation, balanced
from linkwork.algorithms.axes import Scalar, added, is_zero
from linkwork.algorithms.body_masses import lightened
from linkwork.algorithms.closure import closure_rows
from linkwork.algorithms.closure_motion import acceleration_bias
from linkwork.algorithms.composites import composite_wrenches, inertial_wrench, momentum_matrix
from linkwork.algorithms.joint_passage import (
    Load,
    Passage,
    along_joint,
    columns_of,
    in_joint,
    passages,
)
from linkwork.algorithms.newton_euler import motions, with_inertia
from linkwork.algorithms.sweep import (
    Inertia,
    JointTransform,
    Motion,
    Output,
    Rates,
    Spatial,
    Sweep,
    power,
)
from linkwork.algorithms.sweep import (
    motions as sweep_motions,
)
from linkwork.algorithms.triples import times, total
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def inverse_dynamics(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> Block:
    """Joint forces that give these accelerations.

    Shapes: q (nq,), v (nv,), dv (nv,) to (nv,). Units: newton metre for turns, newton for slides. A
    floating base has the force, then the moment about the origin of its body, in the body's axes.
    Gravity is (0, 0, -9.80665) m/s² in the world; gravity, external wrenches, rotors (armature),
    damping and friction are parameters (`mechanism/parameters.py`).

    With loops or couplings: the forces of the actuated joints, zero at the others
    (`actuation.py`, which also says what ``free_motions`` is); least norm where more joints are
    driven than move by themselves, NaN at a singularity.

    Source: recursive Newton-Euler, J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line
    computational scheme for mechanical manipulators", ASME J. Dynamic Systems 102 (1980);
    R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 5.3.
    """
    forces = tree_forces(o, m, q, numbers(m, v), numbers(m, dv))
    if m.is_closed:
        forces = actuated_forces(actuation(o, m, closure_rows(o, m, q), free_motions), forces)
    return as_vector(o, forces)


def bias_forces(
    o: Ops, m: Mechanism, q: Block, v: Block, *, free_motions: int | None = None
) -> Block:
    """Joint forces that keep the velocity as it is: inverse dynamics at dv = 0.

    Shapes: q (nq,), v (nv,) to (nv,). Units and parameters as in `inverse_dynamics`. They
    hold against gravity, Coriolis and centrifugal forces. With loops or couplings: those of the
    actuated joints, with which the actuated speeds stay as they are.
    """
    rates, changes = numbers(m, v), still(m)
    if not m.is_closed:
        return as_vector(o, tree_forces(o, m, q, rates, changes))
    by = actuation(o, m, closure_rows(o, m, q), free_motions)
    bias = acceleration_bias(o, m, q, v)
    changes = balanced(by, changes, [-bias[k] for k in range(len(by.rows))]).x
    return as_vector(o, actuated_forces(by, tree_forces(o, m, q, rates, changes)))


def tree_forces(o: Ops, m: Mechanism, q: Block, v: list[Scalar], dv: list[Scalar]) -> list[Scalar]:
    """Inverse dynamics of the tree, rotors and losses included, whatever is held beside it."""
    forces = inverse_forces(m, passages(o, m, q), v, dv)
    return list(map(added, forces, map(added, rotor_forces(m, dv), losses(o, m, v))))


def still(m: Mechanism) -> list[Scalar]:
    """Numbers of v that are zero."""
    return [0.0] * m.n_v


def inverse_forces(
    m: Mechanism, ways: list[Passage], v: list[Scalar], dv: list[Scalar]
) -> list[Scalar]:
    """Inverse dynamics on numbers, but for rotors and losses; the constant 0 costs nothing."""
    masses, moving, load = lightened(m), motions(m, ways, v, dv), Load(m, ways)
    forces: list[Scalar] = [0.0] * m.n_v
    for body in range(m.n_bodies - 1, -1, -1):
        way = ways[body]
        wrench = with_inertia(load.of(body), masses[body], moving[body])
        columns, factor = columns_of(m, body)
        for k, force in zip(columns, along_joint(way, wrench), strict=True):
            forces[k] = added(forces[k], times(factor, force))
        load.hand_inwards(body, in_joint(way, wrench))
    return forces


def numbers(m: Mechanism, v: Block) -> list[Scalar]:
    """The elements of a vector (nv,)."""
    return [v[k] for k in range(m.n_v)]


def as_vector(o: Ops, values: Iterable[Scalar]) -> Block:
    """Numbers as a vector, which may be empty."""
    found = list(values)
    return o.vector(found) if found else o.const(np.zeros(0))


def inverse_dynamics_by_sweep(sweep: Sweep, v: Rates, dv: Rates) -> Output:
    """`inverse_dynamics` in passes, for long mechanisms; `newton_euler` takes fewer products."""
    return forces_by_sweep(sweep, v, dv)


def bias_forces_by_sweep(sweep: Sweep, v: Rates) -> Output:
    """`bias_forces` in passes, for long mechanisms."""
    return forces_by_sweep(sweep, v, None)


def forces_by_sweep(sweep: Sweep, v: Rates | None, dv: Rates | None) -> Output:
    """Inverse dynamics in passes; without ``v`` or ``dv`` they are zero."""
    moving = sweep_motions(sweep, v, dv, gravity=True)

    def wrench(_: JointTransform, own: Inertia, motion: Motion) -> Spatial:
        return inertial_wrench(own, momentum_matrix(own, motion.velocity), motion)

    found = sweep.output(sweep.m.n_v)

    def visit(step: JointTransform, whole: Spatial) -> None:
        for k, column in enumerate(step.columns()):
            found.add((step.start + k,), times(step.factor, power(column, whole)))

    own = sweep.each(wrench, sweep.inertias(), moving)
    sweep.each(visit, composite_wrenches(sweep, own))
    if dv is not None:
        sweep.velocities(sweep.m.joint_armature, lambda k, x: found.add((k,), times(x, dv[k])))
    return found


def rotor_forces(m: Mechanism, dv: list[Scalar]) -> list[Scalar]:
    """The forces that speed rotors up: armature times dv."""
    return [0.0 if is_zero(x) else times(m.joint_armature(k), x) for k, x in enumerate(dv)]


def losses(o: Ops, m: Mechanism, v: list[Scalar]) -> list[Scalar]:
    """The losses of a joint: damping times v, and friction times the sign of v."""
    return [added(times(m.joint_damping(k), x), _friction(o, m, k, x)) for k, x in enumerate(v)]


def _friction(o: Ops, m: Mechanism, k: int, rate: Scalar) -> Scalar:
    size = m.joint_friction(k)
    if is_zero(size) or is_zero(rate):
        return 0.0
    against = o.select(o.less(rate, 0.0), -size, 0.0)
    return total([o.select(o.less(0.0, rate), size, 0.0), against])
