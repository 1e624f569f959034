"""Forward dynamics: the accelerations that joint forces give."""

from __future__ import annotations

from linkwork.algorithms.articulated_recursion import articulated_accelerations
from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.closed_dynamics import accelerated
from linkwork.algorithms.inverse_dynamics import as_vector, inverse_forces, numbers
from linkwork.algorithms.joint_losses import losses
from linkwork.algorithms.joint_passage import Passage, passages
from linkwork.algorithms.mass_matrix import mass_entries
from linkwork.algorithms.tree_factor import factor, solved
from linkwork.algorithms.triples import minus
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
