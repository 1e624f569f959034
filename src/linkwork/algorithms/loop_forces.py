"""What loops do to the bodies that they hold: multipliers of their rows, and wrenches."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.closure import Ends, loop_rows, meeting_body
from linkwork.algorithms.residuals.frames import Moving, moving_frame
from linkwork.algorithms.residuals.rows import joined
from linkwork.mechanism.loops import Loop
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def loop_forces(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> Block:
    """Multipliers of the closure's rows under these joint forces: what keeps the loops closed.

    Shapes: q (nq,), v (nv,), tau (nv,) to (n_c,), rows as in `closure`: N along axes that are held,
    N m about them. They act on frame b, along the axes of frame a, and as the reaction on frame a;
    a coupling's acts on its leaders and against its own joint. Where rows are redundant the least
    are given, each measured by the root of what it moves. Parameters as in `forward_dynamics`.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), sections 8.4 and 8.5.
    """
    found = accelerated(o, m, q, v, tau, in_frame_a=True).forces
    return o.vector(found) if found else o.const(np.zeros(0))


def loop_wrenches(o: Ops, m: Mechanism, q: Block, v: Block, tau: Block) -> list[Block]:
    """The wrench of each loop on its frame b: force, then moment about b's origin, in axes of a.

    Shapes: q (nq,), v (nv,), tau (nv,) to one (6,) for each loop, in their order; N and N m. Frame
    a's body has the opposite force along the same line, and the opposite moment.
    """
    forces = accelerated(o, m, q, v, tau, in_frame_a=True).forces
    found: list[Block] = []
    for loop in m.loops:
        own, forces = forces[: len(loop.row_names)], forces[len(loop.row_names) :]
        columns = _of_moving_b(o, m, loop, q)
        found.append(o.vector([o.dot(column, o.vector(own)) for column in columns]))
    return found


def _of_moving_b(o: Ops, m: Mechanism, loop: Loop, q: Block) -> list[Block]:
    """What the loop's rows have of frame b's velocity, linear then angular, along axes of a."""
    common = meeting_body(m, loop)
    a, b = (moving_frame(o, m, q, name, common).pose for name in (loop.frame_a, loop.frame_b))
    zeros = [o.const([0.0, 0.0, 0.0])] * 6
    along = [o.column(a.R, k) for k in range(3)]
    ends = Ends(Moving(a, zeros, zeros), Moving(b, along + zeros[:3], zeros[:3] + along))
    return joined(o, loop_rows(o, loop, ends, in_frame_a=True)).columns
