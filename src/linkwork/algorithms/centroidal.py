"""Centroidal momentum: that of the whole mechanism, about its centre of mass."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import added
from linkwork.algorithms.center_of_mass import com
from linkwork.algorithms.composites import composite_inertias, own_inertias
from linkwork.algorithms.step_motion import both, motions_of
from linkwork.algorithms.steps import Spatial, Step, columns, steps_of
from linkwork.algorithms.triples import Rows, Triple, applied, cross, minus, plus, times, zeros
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
    steps, centre = steps_of(o, m, q), com(o, m, q)
    own = own_inertias(m, steps)
    on = [
        body.of(motion.velocity) for body, motion in zip(own, motions_of(m, steps, v), strict=True)
    ]
    whole = Spatial(zeros(), zeros())
    for k in range(len(steps) - 1, -1, -1):
        step = steps[k]
        out = step.wrench_out(on[k])
        if step.parent >= 0:
            on[step.parent] = both(on[step.parent], out)
        else:
            whole = both(whole, out)
    arm = [centre[0], centre[1], centre[2]]
    return o.vector([*whole.linear, *minus(whole.angular, cross(arm, whole.linear))])


def centroidal_matrix(o: Ops, m: Mechanism, q: Block) -> Block:
    """The matrix A of `centroidal_momentum`, which is A v.

    Shapes: q (nq,) to (6, nv). Columns as in `jacobian`.

    Source: as `centroidal_momentum`. Raises: InputError as there.
    """
    steps, centre = steps_of(o, m, q), com(o, m, q)
    behind = composite_inertias(steps, own_inertias(m, steps))
    poses = _poses(steps)
    entries: list[Triple] = [[0.0] * 6 for _ in range(m.n_v)]
    for step, (R, p), body in zip(steps, poses, behind, strict=True):
        arm = minus(p, [centre[0], centre[1], centre[2]])
        for k, column in enumerate(columns(step)):
            momentum = body.of(column)
            linear = applied(R, momentum.linear)
            angular = plus(applied(R, momentum.angular), cross(arm, linear))
            at = step.start + k
            more = [times(step.factor, x) for x in (*linear, *angular)]
            entries[at] = list(map(added, entries[at], more))
    if m.n_v == 0:
        return o.const(np.zeros((6, 0)))
    return o.matrix([o.vector(column) for column in entries])


def _poses(steps: list[Step]) -> list[tuple[Rows, Triple]]:
    """Rotation and origin of the steps' frames in the world."""
    found: list[tuple[Rows, Triple]] = []
    for step in steps:
        if step.parent < 0:
            found.append((step.R, step.r))
            continue
        R, p = found[step.parent]
        # the rows are the world's axes in those of the step
        found.append(([step.into(row) for row in R], plus(p, applied(R, step.r))))
    return found
