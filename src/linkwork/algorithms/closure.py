"""The closure of a mechanism: rows that are zero where its loops are closed and couplings hold.

Every loop is looked at from the body that the way between its two frames comes nearest to the root
at: what carries that body does not matter. Rows of position are metres, of rotation radians near
zero. The task `Closed` is made of these parts, and so are `closure` and `closure_jacobian`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.frame_motion import WorldMotion, world_motion
from linkwork.algorithms.residuals import (
    Asked,
    Group,
    Moving,
    Residual,
    Rows,
    Unit,
    alignment,
    axes,
    distance,
    joined,
    moving_frame,
    rotation_rows,
    rotation_vector,
)
from linkwork.algorithms.sweep import FramePose
from linkwork.algorithms.vector3 import Scalar, Vector3, added, cross, is_zero, times, transposed
from linkwork.mechanism.loops import Coupling, Loop
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.dual import Dual, Duals
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.poses import Pose

_ROUNDING = 3.6e-15
"""The share that rounding may leave of what a coupling compares: 16 spacings of numbers."""

Row: TypeAlias = dict[int, Scalar]
"""A row of the closure's Jacobian: entries by number of v, without those that are never any."""


@dataclass(frozen=True, eq=False)
class ClosurePart:
    """The rows of one loop or of one coupling."""

    name: str
    groups: tuple[Group, ...]
    row_names: tuple[str, ...]
    coordinates: tuple[int, ...]
    residual: Callable[[Ops, Block], Residual]
    """As of a task: the error is minus the closure, the columns are those of its Jacobian."""
    counts_turns: tuple[int, ...] = ()
    straight: tuple[int, ...] = ()
    """The coordinates by which the error of a coupling goes to zero in one step, however long."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.row_names)


def closure_parts(
    m: Mechanism, *, in_frame_a: bool = False, closed: bool = False
) -> list[ClosurePart]:
    """The parts of a mechanism's closure, loops first.

    ``in_frame_a``: all rows of loops are in axes of frame a, as their names say. Else those of
    which all three are held may be in any axes, which is less work. ``closed``: columns are asked
    for where the loops are closed alone, so a rod has its length.
    """
    parts = [_loop_part(m, loop, in_frame_a=in_frame_a, closed=closed) for loop in m.loops]
    return parts + [_coupling_part(m, each) for each in m.couplings]


def closure(o: Ops, m: Mechanism, q: Block) -> Block:
    """The errors of closed loops and couplings: frame b from a, in axes of a.

    Shapes: q (nq,) to (n_c,), metres and radians near zero. Rows of loops as `Loop.row_names` has
    them, then one for each coupling.
    """
    parts = closure_parts(m, in_frame_a=True)
    return o.concat([-part.residual(o, q).error for part in parts])


def closure_jacobian(o: Ops, m: Mechanism, q: Block) -> Block:
    """The derivative of `closure` by v, exact where the mechanism is assembled.

    Shapes: q (nq,) to (n_c, nv).
    """
    found = [part.residual(o, q).columns for part in closure_parts(m, in_frame_a=True)]
    return o.matrix([o.concat([columns[k] for columns in found]) for k in range(m.n_v)])


def closure_rows(o: Ops, m: Mechanism, q: Block, *, in_frame_a: bool = False) -> list[Row]:
    """The Jacobian row by row: entries by number of v, without those that structure leaves out.

    Where loops are closed; in axes of frame a, wherever they are.
    """
    parts = closure_parts(m, in_frame_a=in_frame_a, closed=not in_frame_a)
    return [row for part in parts for row in part_rows(o, m, part, q)]


def part_rows(o: Ops, m: Mechanism, part: ClosurePart, q: Block) -> list[Row]:
    """The rows of one part of a closure."""
    columns = part.residual(o, q).columns
    moved = m.v_indices(part.coordinates)
    return [{k: columns[k][i] for k in moved} for i in range(part.n_rows)]


def transposed_product(rows: Sequence[Row], forces: Sequence[Scalar], n: int) -> list[Scalar]:
    """Jᵀ f (n,) of the rows of J."""
    found: list[Scalar] = [0.0] * n
    for row, force in zip(rows, forces, strict=True):
        for k, x in row.items():
            found[k] = added(found[k], times(x, force))
    return found


def n_rows(m: Mechanism) -> int:
    """The number of rows of a mechanism's closure."""
    return sum(len(loop.row_names) for loop in m.loops) + len(m.couplings)


def row_scales(m: Mechanism) -> list[float]:
    """One over the unit that each row of the closure is compared in (n_c,).

    Rows of position are in lengths of their loop, those of rotation in radians; a coupling of a
    slide is in the length of the longest loop.
    """
    lengths = [loop_length(m, loop) for loop in m.loops]
    scales: list[float] = []
    for loop, length in zip(m.loops, lengths, strict=True):
        along = len(loop.held.position) + int(loop.held.length)
        scales += [1.0 / length] * along + [1.0] * (len(loop.row_names) - along)
    for each in m.couplings:
        slides = m.joint_types[m.joint(each.joint)] is JointType.PRISMATIC
        scales.append(1.0 / max(lengths, default=1.0) if slides else 1.0)
    return scales


def openings(o: Ops, m: Mechanism, q: Block) -> list[Block]:
    """The distance or angle that each group of rows is open by, in `opening_units`.

    Zero only where it is closed: half a turn from closed is half a turn, whatever the rows say.
    """
    squares = [x for part in closure_parts(m) for x in part.residual(o, q).squared]
    return [
        o.sqrt(squared) * (1.0 / unit)
        for squared, unit in zip(squares, opening_units(m), strict=True)
    ]


def opening_units(m: Mechanism) -> list[float]:
    """The distance (m) or angle (rad) that each group of rows counts its opening in.

    Metres and radians, but the length of a loop that is shorter than 1 m, and a hundredth of one
    that is longer than 100 m: what rounding leaves grows with the loop.
    """
    lengths = [loop_length(m, loop) for loop in m.loops]
    units = [min(length, max(1.0, 0.01 * length)) for length in lengths] + [1.0] * len(m.couplings)
    return [
        unit if group.unit == "m" else 1.0
        for part, unit in zip(closure_parts(m), units, strict=True)
        for group in part.groups
    ]


def loop_length(m: Mechanism, loop: Loop) -> float:
    """The length of a loop (m): all that lies between its joints, one after the other, and its rod.

    1 m where nothing lies between them.
    """
    common = meeting_body(m, loop)
    starts: list[np.ndarray] = []
    length = loop.distance
    for name in (loop.frame_a, loop.frame_b):
        frame = m.frame(name)
        way = [k for k in m.ancestry(int(m.frame_body[frame])) if k > common]
        offsets = [*(m.p_parent_joint[k] for k in way), m.p_body_frame[frame]]
        starts.append(offsets[0])
        length += sum(float(np.linalg.norm(p)) for p in offsets[1:])
    length += float(np.linalg.norm(starts[0] - starts[1]))
    return length or 1.0


class Ends(NamedTuple):
    """The two frames of a loop, as they move on the body where their ways meet."""

    a: Moving
    b: Moving

    def way(self) -> Block:
        """From frame b to frame a (3,)."""
        return self.a.pose.p - self.b.pose.p

    def angular(self) -> list[Block]:
        """Of b relative to a."""
        return [b - a for a, b in zip(self.a.angular, self.b.angular, strict=True)]

    def linear(self) -> list[Block]:
        """Of b's origin less a's."""
        return [b - a for a, b in zip(self.a.linear, self.b.linear, strict=True)]


def _loop_part(m: Mechanism, loop: Loop, *, in_frame_a: bool, closed: bool) -> ClosurePart:
    common = meeting_body(m, loop)
    coordinates = {c for name in (loop.frame_a, loop.frame_b) for c in _between(m, common, name)}

    def residual(o: Ops, q: Block) -> Residual:
        a, b = (moving_frame(o, m, q, name, common) for name in (loop.frame_a, loop.frame_b))
        ends = Ends(a, b)
        return joined(o, loop_rows(o, loop, ends, in_frame_a=in_frame_a, closed=closed))

    return ClosurePart(
        name=loop.name,
        groups=tuple(_groups(loop)),
        row_names=loop.row_names,
        coordinates=tuple(sorted(coordinates)),
        residual=residual,
    )


def meeting_body(m: Mechanism, loop: Loop) -> int:
    """The last body that carries both frames of a loop."""
    bodies = [int(m.frame_body[m.frame(name)]) for name in (loop.frame_a, loop.frame_b)]
    first, second = (m.ancestry(body) for body in bodies)
    return max(set(first) & set(second))


def _between(m: Mechanism, body: int, frame: str) -> list[int]:
    """The coordinates that move a frame on a body that carries it."""
    way = m.ancestry(int(m.frame_body[m.frame(frame)]))
    return [int(m.coordinate[k]) for k in way if k > body and int(m.coordinate[k]) >= 0]


def _groups(loop: Loop) -> list[Group]:
    held = loop.held
    if held.length:
        return [Group(f"{loop.name} distance", "m", 0, 1)]
    n = len(held.position)
    turns = len(held.rotation) + int(held.across)
    groups: list[Group] = []
    if n:
        groups.append(Group(f"{loop.name} position", "m", 0, n))
    if turns:
        chord = len(held.rotation) > 1
        groups.append(Group(f"{loop.name} rotation", "rad", n, n + turns, chord=chord))
    return groups


def loop_rows(
    o: Ops, loop: Loop, ends: Ends, *, in_frame_a: bool, closed: bool = False
) -> list[Rows]:
    """The rows of a loop: linear in the columns of its ends, however many these are.

    ``closed``: columns as they are where the loop is closed.
    """
    held = loop.held
    if held.length and closed:
        along = (-1.0 / loop.distance) * ends.way()
        columns = [o.vector([o.dot(along, v)]) for v in ends.linear()]
        return [Rows(o.const([0.0]), columns, o.const(0.0))]
    if held.length:
        apart = distance(o, ends.way(), ends.linear())
        error = loop.distance - apart.error[0]
        columns = [-column for column in apart.columns]
        return [Rows(o.vector([error]), columns, error * error)]
    rows: list[Rows] = []
    if held.position:
        where = axes(held.position, "position")
        rows.append(_position_rows(o, ends, where, in_frame_a=in_frame_a))
    if held.rotation:
        turns = axes(held.rotation, "rotation")
        rows.append(_rotation_rows(o, ends, turns, in_frame_a=in_frame_a))
    if held.across:
        rows.append(_across(o, ends))
    return rows


def _position_rows(o: Ops, ends: Ends, where: Sequence[int], *, in_frame_a: bool) -> Rows:
    """The way from b to a: all of it, or its components in axes of a."""
    way, linear = ends.way(), ends.linear()
    if len(where) == 3 and not in_frame_a:
        return Rows(way, linear, o.dot(way, way))
    axes_of_a = [o.column(ends.a.pose.R, k) for k in where]
    turning = [v + o.cross(w, way) for v, w in zip(linear, ends.a.angular, strict=True)]
    error = o.vector([o.dot(axis, way) for axis in axes_of_a])
    columns = [o.vector([o.dot(axis, v) for axis in axes_of_a]) for v in turning]
    return Rows(error, columns, o.dot(error, error))


def _rotation_rows(o: Ops, ends: Ends, turns: Sequence[int], *, in_frame_a: bool) -> Rows:
    """The turn from b to a, or its components in axes of a."""
    R_a, R_b, angular = ends.a.pose.R, ends.b.pose.R, ends.angular()
    asked = Asked((), tuple(turns), "target", None, exact=False)
    if len(turns) == 1:
        return rotation_vector(o, R_b, [R_a], angular, asked)
    if len(turns) == 2:
        free = 3 - turns[0] - turns[1]
        across = [o.column(R_a, k) for k in turns]
        return alignment(o, [(o.column(R_b, free), o.column(R_a, free))], angular, across)
    found = rotation_rows(o, R_b, R_a, angular, asked)
    if not in_frame_a:
        return found
    back = o.transpose(R_a)
    return Rows(back @ found.error, [back @ w for w in found.columns], found.squared)


def _across(o: Ops, ends: Ends) -> Rows:
    """The z axis of a across the x axis of b: the sine of what is missing."""
    z, x = o.column(ends.a.pose.R, 2), o.column(ends.b.pose.R, 0)
    lever = o.cross(x, z)
    error = -o.dot(z, x)
    return Rows(
        o.vector([error]), [o.vector([o.dot(lever, w)]) for w in ends.angular()], error * error
    )


def _coupling_part(m: Mechanism, each: Coupling) -> ClosurePart:
    names = (each.joint, *each.leaders)
    own, *leading = (m.joint(name) for name in names)
    kind = m.joint_types[own]
    unit: Unit = "m" if kind is JointType.PRISMATIC else "rad"

    def residual(o: Ops, q: Block) -> Residual:
        found = coupling_residual(o, each, [q[int(m.q_start[c])] for c in (own, *leading)])
        columns: list[Block] = [o.const([0.0])] * m.n_v
        for c, column in zip((own, *leading), found.columns, strict=True):
            columns[int(m.v_start[c])] = column
        return found._replace(columns=columns)

    coordinates = tuple(sorted({own, *leading}))
    return ClosurePart(
        name=each.name,
        groups=(Group(each.name, unit, 0, 1),),
        row_names=("position" if unit == "m" else "angle",),
        coordinates=coordinates,
        residual=residual,
        counts_turns=tuple(int(m.q_start[c]) for c in coordinates),
        straight=coordinates if each.function.is_affine else (own,),
    )


def coupling_residual(o: Ops, each: Coupling, positions: Sequence[Block]) -> Residual:
    """Row of a coupling, its columns those of its joint, then of its leaders.

    Its measure is without what rounding may leave of positions many turns from zero.
    """
    value, slopes = each.function.value_and_slopes(o, positions[1:])
    error = value - positions[0]
    columns = [o.const([1.0]), *(o.vector([-slope]) for slope in slopes)]
    compared = o.absolute(positions[0])
    for slope, position in zip(slopes, positions[1:], strict=True):
        compared = compared + o.absolute(slope * position)
    beyond = o.absolute(error) - _ROUNDING * compared
    open_ = 0.5 * (beyond + o.absolute(beyond))  # not the maximum with 0, which hides NaN
    return Residual(o.vector([error]), columns, [open_ * open_])


def valueless(m: Mechanism, q: NDArray[np.float64]) -> str:
    """The couplings without a value or slope at q (nq,), and where their leaders are; or nothing.

    A division by zero, the root of a negative number; of zero it has no slope.
    """
    found: list[str] = []
    for each in m.couplings:
        at = [float(q[m.q_slice(m.joint(name)).start]) for name in each.leaders]
        with np.errstate(all="ignore"):
            value, slopes = each.function.value_and_slopes(NUMPY, [NUMPY.const(x) for x in at])
        what = "slope" if np.isfinite(value) else "value"
        if not np.isfinite([value, *slopes]).all():
            pairs = zip(each.leaders, at, strict=True)
            where = ", ".join(f"{name} = {x:.6g}" for name, x in pairs)
            found.append(f"the {each.name} has no {what} at {where}")
    return "; ".join(found)


# ---------------------------------------------------------------------------------------- motion
#
# The rows of a loop are linear in the columns of its two ends (`loop_rows`), so one column, the
# velocity itself, gives the rate; with that velocity's own derivative beside it (`ops/dual.py`) the
# same expression gives dJ/dt v, for a fraction of what the derivative of the whole Jacobian takes.

_TIME = 0
"""The one direction along which things change here."""


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
            _moving(o, world_motion(o, m, q, v, m.frame(name), common))
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
        _accelerating(d, world_motion(o, m, q, v, m.frame(name), common))
        for name in (loop.frame_a, loop.frame_b)
    )
    closed = not in_frame_a
    rows = loop_rows(d, loop, Ends(a, b), in_frame_a=in_frame_a, closed=closed)
    rate = joined(d, rows).columns[0]
    return d.change(rate, _TIME)


def _moving(o: Ops, at: WorldMotion) -> Moving:
    """A frame whose one column is its velocity."""
    pose = FramePose(at.R, at.p).blocks(o)
    return Moving(pose, [o.vector(at.velocity)], [o.vector(at.omega)])


def _accelerating(d: Duals, at: WorldMotion) -> Moving:
    """The same, with what its motion changes."""
    o, still = d.ops, _moving(d.ops, at)
    columns = transposed(at.R)

    def dual(value: Block, change: Vector3) -> Dual:
        return d.block(value, {} if all(map(is_zero, change)) else {_TIME: o.vector(change)})

    turning = [cross(at.omega, column) for column in columns]
    changes = {} if all(map(is_zero, at.omega)) else {_TIME: o.matrix(list(map(o.vector, turning)))}
    pose = Pose(d.block(still.pose.R, changes), dual(still.pose.p, at.velocity))
    linear = dual(still.linear[0], at.acceleration)
    return Moving(pose, [linear], [dual(still.angular[0], at.alpha)])


def _coupling_bias(o: Ops, m: Mechanism, each: Coupling, q: Block, v: Block) -> Block:
    d, starts = Duals(o), _starts(m, each)
    inputs = [d.block(q[i], {_TIME: v[k]}) for i, k in starts]
    columns = coupling_residual(d, each, inputs).columns
    return d.change(_along(columns, [v[k] for _, k in starts]), _TIME)


def _starts(m: Mechanism, each: Coupling) -> list[tuple[int, int]]:
    """The places in q and in v of a coupling's joints, its own first."""
    joints = [m.joint(name) for name in (each.joint, *each.leaders)]
    return [(int(m.q_start[c]), int(m.v_start[c])) for c in joints]


def _along(columns: list[Block], rates: list[Block]) -> Block:
    total = columns[0] * rates[0]
    for column, rate in zip(columns[1:], rates[1:], strict=True):
        total = total + column * rate
    return total
