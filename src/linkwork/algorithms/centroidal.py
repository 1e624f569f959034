"""Centroidal momentum: that of the whole mechanism, about its centre of mass."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.center_of_mass import com, moment_in_world, total_mass
from linkwork.algorithms.composites import composite_inertias
from linkwork.algorithms.sweep import (
    NO_MOTION,
    FramePose,
    Inertia,
    JointTransform,
    Motion,
    Output,
    Rates,
    Spatial,
    States,
    Sweep,
    both,
    motions,
    poses,
)
from linkwork.algorithms.triples import Triple, applied, cross, minus, plus, scaled, times
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def centroidal_momentum(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """Linear and angular momentum of the whole mechanism about its centre of mass, world axes.

    Shapes: q (nq,), v (nv,) to (6,), linear part first. Units: kg m/s, kg m²/s. The centre of mass
    is that of `com`, to which the root link counts, also of a fixed base.

    Source: D. E. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", Autonomous
    Robots 35 (2013).
    Raises: InputError where the masses do not add up to more than zero.
    """
    sweep, centre = Sweep(o, m, q), com(o, m, q)
    own = sweep.each(
        lambda step, body, motion: body.of(motion.velocity), sweep.inertias(), motions(sweep, v)
    )
    whole = NO_MOTION
    for k in range(len(sweep.transforms) - 1, -1, -1):
        step = sweep.transforms[k]
        out = step.wrench_out(own[k])
        if step.parent >= 0:
            own[step.parent] = both(own[step.parent], out)
        else:
            whole = both(whole, out)
    arm = [centre[0], centre[1], centre[2]]
    return o.vector([*whole.linear, *minus(whole.angular, cross(arm, whole.linear))])


def centroidal_matrix(o: Ops, m: Mechanism, q: Block) -> Block:
    """The matrix A of `centroidal_momentum`, which is A v.

    Shapes: q (nq,) to (6, nv). Columns as in `jacobian`.

    Source: as `centroidal_momentum`. Raises: InputError as there.
    """
    sweep, centre = Sweep(o, m, q), com(o, m, q)
    at = [centre[0], centre[1], centre[2]]
    found = sweep.output(6, m.n_v)

    def visit(step: JointTransform, pose: FramePose, body: Inertia) -> None:
        for k, column in enumerate(step.columns()):
            for i, x in enumerate(_about(at, pose, body.of(column))):
                found.add((i, step.start + k), times(step.factor, x))

    sweep.each(visit, poses(sweep), composite_inertias(sweep, sweep.inertias()))
    return found.block(o)


def centroidal_momentum_by_sweep(sweep: Sweep, v: Rates) -> Output:
    """`centroidal_momentum` in passes, for long mechanisms."""
    centre, every = _centre(sweep), poses(sweep)
    found = sweep.output(6)

    def visit(_: JointTransform, pose: FramePose, own: Inertia, motion: Motion) -> None:
        for i, x in enumerate(_about(sweep.last(centre), pose, own.of(motion.velocity))):
            found.add((i,), x)

    sweep.each(visit, every, sweep.inertias(), motions(sweep, v))
    return found


def centroidal_matrix_by_sweep(sweep: Sweep) -> Output:
    """`centroidal_matrix` in passes, for long mechanisms."""
    centre, every = _centre(sweep), poses(sweep)
    found = sweep.output(6, sweep.m.n_v)

    def visit(step: JointTransform, pose: FramePose, body: Inertia) -> None:
        for k, column in enumerate(step.columns()):
            for i, x in enumerate(_about(sweep.last(centre), pose, body.of(column))):
                found.add((i, step.start + k), times(step.factor, x))

    sweep.each(visit, every, composite_inertias(sweep, sweep.inertias()))
    return found


def _centre(sweep: Sweep) -> States:
    """The centre of mass, as a total over the bodies."""
    share = 1.0 / total_mass(sweep.m)
    return sweep.total(
        lambda step, pose, own: scaled(share, moment_in_world(pose, own)),
        poses(sweep),
        sweep.inertias(points=True, placed=True),
    )


def _about(centre: Triple, pose: FramePose, momentum: Spatial) -> list[Scalar]:
    """A momentum in a frame, about a point and along the axes of the world."""
    linear = applied(pose.R, momentum.linear)
    arm = minus(pose.p, centre)
    return [*linear, *plus(applied(pose.R, momentum.angular), cross(arm, linear))]
