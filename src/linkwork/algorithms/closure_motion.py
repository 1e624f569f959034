"""How closures move: their rates and accelerations while velocities stay, and what holds them.

The rows of a loop are linear in the columns of its two ends (`closure.loop_rows`), so one column,
the velocity itself, gives the rate; with that velocity's own derivative beside it (`ops/dual.py`)
the same text gives dJ/dt v, for a fraction of what the derivative of the whole Jacobian takes.
"""

from __future__ import annotations

from linkwork.algorithms.axes import matrix
from linkwork.algorithms.closure import Ends, coupling_residual, loop_rows, meeting_body
from linkwork.algorithms.jacobian_derivative import FrameState, frame_state
from linkwork.algorithms.residuals.frames import Moving
from linkwork.algorithms.residuals.rows import joined
from linkwork.mechanism.loops import Coupling, Loop
from linkwork.mechanism.model import Mechanism
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose

_TIME = 0  # the one direction along which things change here


def closure_bias(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """The part of the closure's acceleration that comes from velocity alone: dJ/dt v.

    Shapes: q (nq,), v (nv,) to (n_c,), rows as in `closure`. Units: m/s², rad/s². Where a mechanism
    is assembled and v keeps it so, J dv + this is zero.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), section 8.2.
    """
    return _biases(o, m, q, v, in_frame_a=True)


def _biases(o: Ops, m: Mechanism, q: Block, v: Block, *, in_frame_a: bool) -> Block:
    parts = [_loop_bias(o, m, loop, q, v, in_frame_a=in_frame_a) for loop in m.loops]
    return o.concat(parts + [_coupling_bias(o, m, each, q, v) for each in m.couplings])


def acceleration_bias(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """The same, of rows that may be in any axes where all three are held (`closure_parts`)."""
    return _biases(o, m, q, v, in_frame_a=False)


def _loop_bias(o: Ops, m: Mechanism, loop: Loop, q: Block, v: Block, *, in_frame_a: bool) -> Block:
    d, common = Duals(o), meeting_body(m, loop)
    a, b = (
        _moving(d, frame_state(o, m, q, v, m.frame(name), common))
        for name in (loop.frame_a, loop.frame_b)
    )
    rate = joined(d, loop_rows(d, loop, Ends(a, b), in_frame_a=in_frame_a)).columns[0]
    return d.change(rate, _TIME)


def _moving(d: Duals, state: FrameState) -> Moving:
    """A frame whose one column is its velocity, and what that changes."""
    o = d.ops
    R = matrix(o, state.axes)
    turning: Block = None
    if state.omega is not None:
        turning = o.matrix([o.cross(state.omega, o.column(R, j)) for j in range(3)])
    zero = o.const([0.0, 0.0, 0.0])
    pose = Pose(_dual(d, R, turning), _dual(d, _or(state.p, zero), state.velocity))
    linear = _dual(d, _or(state.velocity, zero), state.acceleration)
    return Moving(pose, [linear], [_dual(d, _or(state.omega, zero), state.alpha)])


def _dual(d: Duals, value: Block, change: Block | None) -> Dual:
    return d.block(value, {} if change is None else {_TIME: change})


def _or(value: Block | None, zero: Block) -> Block:
    return zero if value is None else value


def _coupling_bias(o: Ops, m: Mechanism, each: Coupling, q: Block, v: Block) -> Block:
    d = Duals(o)
    names = (each.joint, *each.leaders)
    starts = [(int(m.q_start[c]), int(m.v_start[c])) for c in map(m.joint, names)]
    inputs = [d.block(q[i], {_TIME: v[k]}) for i, k in starts]
    columns = coupling_residual(d, each, inputs).columns
    rate = columns[0] * v[starts[0][1]]
    for column, (_, k) in zip(columns[1:], starts[1:], strict=True):
        rate = rate + column * v[k]
    return d.change(rate, _TIME)
