"""First derivatives of inverse dynamics with respect to position, velocity and acceleration."""

from __future__ import annotations

from linkwork.algorithms.closed_derivatives import closed_inverse_derivatives
from linkwork.algorithms.steps import steps_of
from linkwork.algorithms.tree_derivatives import derivatives
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops


def inverse_dynamics_derivatives(
    o: Ops, m: Mechanism, q: Block, v: Block, dv: Block, *, free_motions: int | None = None
) -> list[Block]:
    """Derivatives of inverse dynamics: d tau / dq, d tau / dv, d tau / d(dv).

    Shapes: q (nq,), v (nv,), dv (nv,) to 3 of (nv, nv): rows are joint forces, columns are those
    of v, also for q (its tangent). The third is the mass matrix, rotors included. An external
    wrench keeps its direction in the world while the joints move. Friction's derivative is 0. With
    loops or couplings: of the actuated joints' forces (`closed_derivatives.py`).

    Sources: J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics
    algorithms", Robotics: Science and Systems (2018); S. Singh, R. P. Russell, P. M. Wensing,
    "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", IEEE
    Robotics and Automation Letters 7 (2022): here in the axes of the bodies.
    """
    if m.is_closed:
        return closed_inverse_derivatives(o, m, q, v, dv, free_motions=free_motions)
    return [matrix.block(o) for matrix in derivatives(m, steps_of(o, m, q), v, dv)]
