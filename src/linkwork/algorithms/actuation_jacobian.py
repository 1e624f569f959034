"""From the speeds of the actuated joints of a mechanism with loops to a frame's velocity."""

from __future__ import annotations

from linkwork.algorithms.axes import Scalar, added
from linkwork.algorithms.jacobian import Reference, jacobian
from linkwork.algorithms.passive_rates import as_matrix, following
from linkwork.algorithms.triples import times
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def actuation_jacobian(
    o: Ops,
    m: Mechanism,
    q: Block,
    *,
    frame: str,
    reference: Reference = "world-aligned",
    free_motions: int | None = None,
) -> Block:
    """Jacobian of one frame by the actuated joints: its twist is J times their speeds.

    Shapes: q (nq,) that is assembled to (6, n_actuated), linear rows first, columns in the order
    of `actuated`. Units and references as in `jacobian`; what holds of it as in `passive_rates`.

    Source: the implicit function theorem (see `passive_rates.py`).
    Raises: UnknownNameError, InputError as `jacobian`.
    """
    J = jacobian(o, m, q, frame=frame, reference=reference)
    return as_matrix(
        o, along(m, J, frame, following(o, m, q, free_motions=free_motions).columns), 6
    )


def along(m: Mechanism, J: Block, frame: str, columns: list[list[Scalar]]) -> list[list[Scalar]]:
    """J (6, nv) of a frame times columns (nv,), of what moves it alone."""
    bodies = m.ancestry(int(m.frame_body[m.frame(frame)]))
    moved = {c for body in bodies if (c := int(m.coordinate[body])) >= 0}
    numbers = [k for c in sorted(moved) for k in range(int(m.v_start[c]), int(m.v_start[c + 1]))]
    found: list[list[Scalar]] = []
    for column in columns:
        twist: list[Scalar] = [0.0] * 6
        for k in numbers:
            twist = [added(x, times(J[i, k], column[k])) for i, x in enumerate(twist)]
        found.append(twist)
    return found
