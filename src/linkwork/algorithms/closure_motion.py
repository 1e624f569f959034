"""How closures move: their rates and accelerations while velocities stay, and what holds them.

The rows of a loop are linear in the columns of its two ends (`closure.loop_rows`), so one column,
the velocity itself, gives the rate; with that velocity's own derivative beside it (`ops/dual.py`)
the same text gives dJ/dt v, for a fraction of what the derivative of the whole Jacobian takes.
"""

from __future__ import annotations

from linkwork.algorithms.axes import matrix
from linkwork.algorithms.closure import Ends, coupling_residual, loop_rows, meeting_body
from linkwork.algorithms.frame_state import FrameState, frame_state
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
    """The same, of the rows of `closure_rows`, where the mechanism is assembled and stays so."""
    return _biases(o, m, q, v, in_frame_a=False)


def closure_rates(o: Ops, m: Mechanism, q: Block, v: Block) -> Block:
    """J v (n_c,) of the rows of `closure_rows`."""
    found: list[Block] = []
    for loop in m.loops:
        common = meeting_body(m, loop)
        a, b = (
            _moving(o, frame_state(o, m, q, v, m.frame(name), common))
            for name in (loop.frame_a, loop.frame_b)
        )
        rows = loop_rows(o, loop, Ends(a, b), in_frame_a=False, closed=True)
        found.append(joined(o, rows).columns[0])
    for each in m.couplings:
        starts = _starts(m, each)
        columns = coupling_residual(o, each, [q[i] for i, _ in starts]).columns
        found.append(_along(columns, [v[k] for _, k in starts]))
    return o.concat(found)


def _loop_bias(o: Ops, m: Mechanism, loop: Loop, q: Block, v: Block, *, in_frame_a: bool) -> Block:
    d, common = Duals(o), meeting_body(m, loop)
    a, b = (
        _accelerating(d, frame_state(o, m, q, v, m.frame(name), common))
        for name in (loop.frame_a, loop.frame_b)
    )
    closed = not in_frame_a
    rows = loop_rows(d, loop, Ends(a, b), in_frame_a=in_frame_a, closed=closed)
    rate = joined(d, rows).columns[0]
    return d.change(rate, _TIME)


def _moving(o: Ops, state: FrameState) -> Moving:
    """A frame whose one column is its velocity."""
    zero = o.const([0.0, 0.0, 0.0])
    pose = Pose(matrix(o, state.axes), _or(state.p, zero))
    return Moving(pose, [_or(state.velocity, zero)], [_or(state.omega, zero)])


def _accelerating(d: Duals, state: FrameState) -> Moving:
    """The same, with what its motion changes."""
    at = _moving(d.ops, state)
    turning: Block = None
    if state.omega is not None:
        columns = [d.ops.column(at.pose.R, j) for j in range(3)]
        turning = d.ops.matrix([d.ops.cross(state.omega, column) for column in columns])
    pose = Pose(_dual(d, at.pose.R, turning), _dual(d, at.pose.p, state.velocity))
    linear = _dual(d, at.linear[0], state.acceleration)
    return Moving(pose, [linear], [_dual(d, at.angular[0], state.alpha)])


def _dual(d: Duals, value: Block, change: Block | None) -> Dual:
    return d.block(value, {} if change is None else {_TIME: change})


def _or(value: Block | None, zero: Block) -> Block:
    return zero if value is None else value


def _coupling_bias(o: Ops, m: Mechanism, each: Coupling, q: Block, v: Block) -> Block:
    d, starts = Duals(o), _starts(m, each)
    inputs = [d.block(q[i], {_TIME: v[k]}) for i, k in starts]
    columns = coupling_residual(d, each, inputs).columns
    return d.change(_along(columns, [v[k] for _, k in starts]), _TIME)


def _starts(m: Mechanism, each: Coupling) -> list[tuple[int, int]]:
    """Where the joints of a coupling stand in q and in v, its own first."""
    joints = [m.joint(name) for name in (each.joint, *each.leaders)]
    return [(int(m.q_start[c]), int(m.v_start[c])) for c in joints]


def _along(columns: list[Block], rates: list[Block]) -> Block:
    total = columns[0] * rates[0]
    for column, rate in zip(columns[1:], rates[1:], strict=True):
        total = total + column * rate
    return total
