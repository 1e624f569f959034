"""Rows that shall become zero: what tasks of inverse kinematics and closures are written in.

Both the frame and what it is to reach may move: ``linear`` and ``angular`` are the columns of the
frame's velocity relative to its target, in the axes that everything is given in: the world's, or
those of the frame that a relative pose is measured in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.forward_kinematics import fk
from linkwork.algorithms.jacobian import frame_twists, jacobian
from linkwork.algorithms.sweep import Output, Sweep, looped
from linkwork.algorithms.vector3 import plus, scaled, zeros
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial import so3
from linkwork.spatial.poses import Pose, from_matrix
from linkwork.spatial.rotations import vee

Floats = NDArray[np.float64]
Unit = Literal["m", "rad", "1"]
AxesOf = Literal["world", "target", "tool"]
Axis = Literal["x", "y", "z"]
NAMES: tuple[Axis, ...] = ("x", "y", "z")
AXES_OF: tuple[AxesOf, ...] = ("world", "target", "tool")

TINY = 1.0e-24
"""Beside squares of lengths and sines, so that none of them is divided by zero."""

_BEND = 1.5
"""Between 1 and infinity: how much faster than its sine a large angle grows in the residual."""


class Residual(NamedTuple):
    """A residual, and its derivative by the velocities.

    ``error`` (k,) is zero where the task is done: the target less what is. ``columns`` are the nv
    columns (k,) of its derivative by v, with the sign turned, to first order in the error.
    ``squared`` has a scalar for each group, which is compared with the group's threshold and is
    zero only where the group is done, never at an antipode.
    """

    error: Block
    columns: list[Block]
    squared: list[Block]


@dataclass(frozen=True)
class Group:
    """Rows of one kind: ``start`` to ``stop`` - 1, in metres, radians or plain numbers.

    Where ``chord`` holds, the measure is that of an angle a by its chord 2 sin(a / 2), which grows
    up to half a turn.
    """

    name: str
    unit: Unit
    start: int
    stop: int
    chord: bool = False

    def threshold(self, tolerance: float) -> float:
        """The number that the group's `Residual.squared` must not exceed."""
        if self.chord:
            return (2.0 * math.sin(0.5 * min(tolerance, math.pi))) ** 2
        return tolerance * tolerance

    def error(self, squared: Floats) -> Floats:
        """The error in the group's unit from its `Residual.squared`."""
        length = np.sqrt(np.maximum(squared, 0.0))
        if self.chord:
            return 2.0 * np.arcsin(np.minimum(0.5 * length, 1.0))
        return length


# ------------------------------------------------------------------------------ what is asked for


def axes(given: str | Sequence[bool], what: str, *, none: bool = False) -> tuple[int, ...]:
    """The indices of the axes that count, ascending; none only where ``none`` allows it.

    Raises: InputError naming the argument.
    """
    found = _indices(given)
    if found is None or not (found or none):
        least = "" if none else " and not empty"
        raise InputError(
            f"{what} must name axes, such as 'xyz' or 'xy' (three truth values do too){least}; "
            f"not {given!r}"
        )
    return found


def _indices(given: Any) -> tuple[int, ...] | None:
    """The axes of a text such as "xy" or of three truth values; None for anything else."""
    if isinstance(given, str):
        if set(given) <= set(NAMES) and len(set(given)) == len(given):
            return tuple(k for k, name in enumerate(NAMES) if name in given)
        return None
    try:
        flags: list[Any] = [x.item() if isinstance(x, np.generic) else x for x in given]
    except TypeError:
        return None
    if len(flags) != 3 or not all(isinstance(f, (bool, int)) and f in (0, 1) for f in flags):
        return None
    return tuple(k for k, flag in enumerate(flags) if flag)


def axis_index(given: str | None, what: str) -> int | None:
    """The index of one axis, or None.

    Raises: InputError naming the argument.
    """
    if given is None:
        return None
    if not isinstance(given, str) or given not in NAMES:
        raise InputError(f"{what} must be 'x', 'y' or 'z', or None; not {given!r}")
    return NAMES.index(given)


def frame_of_axes(given: str, what: str, allowed: Sequence[str] = AXES_OF) -> str:
    """Whose axes are meant.

    Raises: InputError naming the argument.
    """
    if not isinstance(given, str) or given not in allowed:
        names = ", ".join(f"'{name}'" for name in allowed)
        raise InputError(f"{what} must be one of {names}, not {given!r}")
    return given


def picked(o: Ops, v: Block, indices: Sequence[int]) -> Block:
    """These elements of a vector (3,)."""
    if len(indices) == 3:
        return v
    return o.vector([v[k] for k in indices])


def three(given: Sequence[float], what: str) -> tuple[float, float, float]:
    """Three finite numbers, as they become part of a task's code.

    Raises: InputError naming the argument.
    """
    try:
        values = [float(x) for x in given if not isinstance(x, str)]
    except (TypeError, ValueError):
        values = []
    if len(values) != 3 or not all(math.isfinite(x) for x in values):
        raise InputError(f"{what} must be three finite numbers, not {given!r}")
    # minus zero is zero: the same point has the same code
    return values[0] + 0.0, values[1] + 0.0, values[2] + 0.0


def unit(given: Sequence[float], what: str) -> tuple[float, float, float]:
    """A direction of any length but zero as a unit vector.

    Raises: InputError naming the argument.
    """
    vector = three(given, what)
    largest = max(abs(x) for x in vector)
    if largest == 0.0:
        raise InputError(f"{what} must be a direction: three numbers that are not all zero")
    x, y, z = (value / largest for value in vector)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


# --------------------------------------------------------------------------------- moving frames


class Moving(NamedTuple):
    """A frame in the world: its pose, and nv columns (3,) of its velocity, world axes."""

    pose: Pose
    linear: list[Block]  # of the frame's origin
    angular: list[Block]


def moving_frame(o: Ops, m: Mechanism, q: Block, frame: str, since: int = -1) -> Moving:
    """The frame at q; ``since`` is a body that carries it and stands for the world."""
    index = m.frame(frame)
    way = [body for body in m.ancestry(int(m.frame_body[index])) if body > since]
    found = looped(o, _pose_and_jacobian, m, (q,), way, frame=frame)
    if found is not None:
        T, J = from_matrix(o, found[0]), found[1]
        moving = set(m.v_indices({int(m.coordinate[body]) for body in way} - {-1}))
        still = o.const([0.0] * 6)
        columns = [o.column(J, k) if k in moving else still for k in range(m.n_v)]
        pairs = [(o.part(column, 0, 3), o.part(column, 3, 6)) for column in columns]
        return Moving(T, [linear for linear, _ in pairs], [angular for _, angular in pairs])
    pose, twists = frame_twists(o, m, q, index, since)
    linear, angular = ([zeros() for _ in range(m.n_v)] for _ in range(2))
    for k, factor, twist in twists:
        linear[k] = plus(linear[k], scaled(factor, twist.linear))
        angular[k] = plus(angular[k], scaled(factor, twist.angular))
    return Moving(pose.blocks(o), list(map(o.vector, linear)), list(map(o.vector, angular)))


def _pose_and_jacobian(sweep: Sweep, *, frame: str) -> list[Output]:
    return [fk.passes(sweep, frame=frame), jacobian.passes(sweep, frame=frame)]


def moving_point(o: Ops, frame: Moving, point: Sequence[float]) -> tuple[Block, list[Block]]:
    """A point (m) given in the frame: where it is, and the columns of its velocity."""
    if not any(point):
        return frame.pose.p, frame.linear
    arm = frame.pose.R @ o.const([float(x) for x in point])
    pairs = zip(frame.linear, frame.angular, strict=True)
    return frame.pose.p + arm, [v + o.cross(w, arm) for v, w in pairs]


def held_by(o: Ops, frame: Moving, held: tuple[Block, Block]) -> Moving:
    """A frame that another one holds at a rotation (3, 3) and a position (3,) in it."""
    R, p = held
    arm = frame.pose.R @ p
    pairs = zip(frame.linear, frame.angular, strict=True)
    linear = [v + o.cross(w, arm) for v, w in pairs]
    return Moving(Pose(frame.pose.R @ R, frame.pose.p + arm), linear, frame.angular)


def across_from(axis: Sequence[float]) -> list[tuple[float, float, float]]:
    """Two unit vectors across a unit vector and each other; those of the frame where they are."""
    x, y, z = axis
    zeros = [k for k in range(3) if axis[k] == 0.0]
    if len(zeros) == 2:
        return [(float(k == 0), float(k == 1), float(k == 2)) for k in zeros]
    # the shortest component keeps the first of them long
    k = min(range(3), key=lambda k: abs(axis[k]))
    u = unit([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)][k], "across")
    return [u, (y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0])]


def moving_axis(o: Ops, frame: Moving, axis: Sequence[float]) -> Block:
    """A unit vector given in the frame, in axes of the world."""
    named = [k for k in range(3) if axis[k] != 0.0]
    if len(named) == 1 and axis[named[0]] == 1.0:
        return o.column(frame.pose.R, named[0])
    return frame.pose.R @ o.const([float(x) for x in axis])


# -------------------------------------------------------------------------------------- rotations


def bend(cosine: Block) -> Block:
    """(1 + c) / (cos(a) + c), by which the sine of an angle a is made to grow up to near pi."""
    return (1.0 + _BEND) / (cosine + _BEND)


def rotation_error(o: Ops, current: Block, target: Block) -> tuple[Block, Block]:
    """The rotation (3,) that takes ``current`` (3, 3) to ``target``, and the squared chord.

    The rotation is n sin(a) (1 + c) / (cos(a) + c) for a turn by a about n, in axes of the world:
    to second order the rotation vector n a near the target, without its logarithm's branches, and
    growing with the angle up to near pi. The chord is 2 sin(a / 2).
    """
    m = target @ o.transpose(current)
    cosine = 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    # by differences of elements, which lose nothing where the angle is small
    columns = [o.column(target, j) - o.column(current, j) for j in range(3)]
    squares = [o.dot(c, c) for c in columns]
    return bend(cosine) * vee(o, m), 0.5 * (squares[0] + squares[1] + squares[2])


def direction_error(o: Ops, current: Block, target: Block) -> tuple[Block, Block]:
    """The rotation (3,) that takes a unit vector (3,) to another, and the squared chord.

    It lies across both, and is made of the angle between them as in `rotation_error`. At the
    antipode it vanishes, and the chord is 2, the largest that there is.
    """
    apart = target - current
    turn = bend(o.dot(current, target)) * o.cross(current, target)
    return turn, o.dot(apart, apart)


# ------------------------------------------------------------------------------------------- rows


class Rows(NamedTuple):
    """A part of a residual: error (k,), columns of (k,), and its squared measure."""

    error: Block
    columns: list[Block]
    squared: Block


class Asked(NamedTuple):
    """The parts of a pose that count, and the axes that they are in.

    ``exact``: the rotation's error is to be compared with slacks, in true radians.
    """

    where: tuple[int, ...]
    turns: tuple[int, ...]
    of: str  # "target", "tool", or the axes that the pose is given in
    mirror: int | None
    exact: bool

    @property
    def in_given_axes(self) -> bool:
        """Whether the axes are those that the pose is given in."""
        return self.of not in ("target", "tool")

    @property
    def by_angle(self) -> bool:
        """Whether the rotation's error is in radians, and not measured by its chord."""
        return self.exact or len(self.turns) == 1

    @property
    def key(self) -> str:
        """All of it as text."""
        return f"{self.where} {self.turns} {self.of} {self.mirror}"

    def groups(self) -> list[Group]:
        """The rows of position, then those of rotation."""
        found: list[Group] = []
        if self.where:
            found.append(Group("position", "m", 0, len(self.where)))
        if self.turns:
            start = len(self.where)
            stop = start + len(self.turns)
            found.append(Group("rotation", "rad", start, stop, chord=not self.by_angle))
        return found


def joined(o: Ops, parts: Sequence[Rows]) -> Residual:
    """Parts one below the other, each a group."""
    if len(parts) == 1:
        return Residual(parts[0].error, parts[0].columns, [parts[0].squared])
    columns = [o.concat(list(each)) for each in zip(*(p.columns for p in parts), strict=True)]
    return Residual(o.concat([p.error for p in parts]), columns, [p.squared for p in parts])


def pose_rows(o: Ops, current: Moving, target: tuple[Block, Block], asked: Asked) -> Residual:
    """The rows of a frame at ``target``: a rotation (3, 3) and a position (3,), as far as asked."""
    R, p = target
    parts: list[Rows] = []
    if asked.where:
        way = p - current.pose.p
        if asked.in_given_axes:
            parts.append(position_rows(o, way, current.linear, asked.where))
        elif asked.of == "tool":
            parts.append(position_rows_in_tool(o, way, current, asked.where))
        else:
            turned = o.transpose(R)
            columns = [turned @ v for v in current.linear]
            parts.append(position_rows(o, turned @ way, columns, asked.where))
    if asked.turns:
        parts.append(rotation_rows(o, current.pose.R, R, current.angular, asked))
    return joined(o, parts)


def position_rows(o: Ops, way: Block, linear: Sequence[Block], indices: Sequence[int]) -> Rows:
    """The chosen components of the way (3,) that is left."""
    error = picked(o, way, indices)
    return Rows(error, [picked(o, v, indices) for v in linear], o.dot(error, error))


def position_rows_in_tool(o: Ops, way: Block, current: Moving, indices: Sequence[int]) -> Rows:
    """The chosen components, in the axes of the frame, of the way (3,) that is left.

    The axes turn with the frame, and the way's components with them: v + w x way is what changes.
    """
    back = o.transpose(current.pose.R)
    pairs = zip(current.linear, current.angular, strict=True)
    columns = [back @ (v + o.cross(w, way)) for v, w in pairs]
    return position_rows(o, back @ way, columns, indices)


def rotation_rows(
    o: Ops, current: Block, target: Block, angular: Sequence[Block], asked: Asked
) -> Rows:
    """The chosen components of the turn from ``current`` (3, 3) to ``target``.

    All three, or two (which leave turns about the third free), go by sines and cosines; one, and
    whatever is compared with a slack, by the rotation vector. With a mirror, of the target and the
    target turned by pi about that axis, the one counts that is nearer in what is asked for.
    """
    if len(asked.turns) == 3 and not asked.exact:
        if asked.mirror is not None:
            target = nearer_mirrored(o, current, target, asked.mirror)
        turn, squared = rotation_error(o, current, target)
        return Rows(turn, list(angular), squared)
    targets = [target] if asked.mirror is None else [target, mirrored(o, target, asked.mirror)]
    if asked.by_angle:
        return rotation_vector(o, current, targets, angular, asked)
    first, second = asked.turns[0], asked.turns[1]
    free = 3 - first - second
    if asked.in_given_axes:
        # turns about the given axis f are free: the frame's direction that is to lie along f is
        # the one that lies along it at the target
        f, *across = (o.const([float(k == i) for k in range(3)]) for i in (free, first, second))
        pairs = [(current @ o.row(R, free), f) for R in targets]
        return alignment(o, pairs, angular, across)
    tip, *across = (o.column(current, i) for i in (free, first, second))
    if asked.mirror == free:  # a turn about what is free changes nothing
        targets = targets[:1]
    return alignment(o, [(tip, o.column(R, free)) for R in targets], angular, across)


def mirrored(o: Ops, target: Block, axis: int) -> Block:
    """The target (3, 3) turned by pi about its own axis."""
    columns = [o.column(target, k) for k in range(3)]
    return o.matrix([c if k == axis else -c for k, c in enumerate(columns)])


def nearer_mirrored(o: Ops, current: Block, target: Block, axis: int) -> Block:
    """The target (3, 3) or the mirrored one, whichever is the smaller turn away."""
    others = [k for k in range(3) if k != axis]
    along = [o.dot(o.column(current, k), o.column(target, k)) for k in others]
    sign = o.select(o.less(along[0] + along[1], 0.0), -1.0, 1.0)
    columns = [o.column(target, k) for k in range(3)]
    return o.matrix([c if k == axis else sign * c for k, c in enumerate(columns)])


def nearest(o: Ops, candidates: Sequence[tuple[Block, ...]], apart: Sequence[Block]) -> list[Block]:
    """The candidate, of one or more blocks, that is least ``apart``; the first of equals."""
    best, least = list(candidates[0]), apart[0]
    for candidate, distance in zip(candidates[1:], apart[1:], strict=True):
        nearer = o.less(distance, least)
        best = [o.select(nearer, a, b) for a, b in zip(candidate, best, strict=True)]
        least = o.minimum(distance, least)
    return best


def alignment(
    o: Ops,
    pairs: Sequence[tuple[Block, Block]],
    angular: Sequence[Block],
    across: Sequence[Block],
) -> Rows:
    """The turn that takes a unit vector (3,) of the frame to another, of the pair that is nearest.

    It lies across both vectors, so 2 rows hold all of it: its components along two unit vectors
    ``across`` one of the two.
    """
    apart = [-o.dot(a, b) for a, b in pairs] if len(pairs) > 1 else [0.0]
    current, target = nearest(o, pairs, apart)
    turn, squared = direction_error(o, current, target)
    columns = [o.vector([o.dot(u, w) for u in across]) for w in angular]
    return Rows(o.vector([o.dot(u, turn) for u in across]), columns, squared)


def rotation_vector(
    o: Ops, current: Block, targets: Sequence[Block], angular: Sequence[Block], asked: Asked
) -> Rows:
    """The chosen components of the rotation vector from ``current`` (3, 3) to a target.

    In the axes that all is given in, or in those of the frame (which are those of the target as
    well: the vector is the axis of the turn). Of several targets that counts whose components are
    least. Its derivative is exact at any angle below half a turn.

    Source: T. D. Barfoot, State Estimation for Robotics (2017), section 7.1.5.
    """
    back = o.transpose(current)
    given = asked.in_given_axes
    turns = [so3.log(o, R @ back if given else back @ R) for R in targets]
    errors = [picked(o, turn, asked.turns) for turn in turns]
    squares = [o.dot(error, error) for error in errors]
    turn, error, squared = nearest(o, list(zip(turns, errors, squares, strict=True)), squares)
    if given:
        change = so3.right_jacobian_inverse(o, turn)
    else:
        change = so3.left_jacobian_inverse(o, turn) @ back
    return Rows(error, [picked(o, change @ w, asked.turns) for w in angular], squared)


def direction_groups(*, exact: bool) -> list[Group]:
    """The group of rows that `aligned` gives."""
    return [Group("rotation", "rad", 0, 1 if exact else 2, chord=not exact)]


def aligned(
    o: Ops,
    frame: Moving,
    axis: Sequence[float],
    target: Block,
    turning: Sequence[Block],
    *,
    exact: bool,
) -> Rows:
    """An axis of the frame along a unit vector (3,); ``turning`` are columns of the relative turn.

    ``exact``: the error is to be compared with a slack, and is the angle itself.
    """
    current = moving_axis(o, frame, axis)
    if exact:
        return angle_between(o, current, target, turning)
    across = [moving_axis(o, frame, u) for u in across_from(axis)]
    return alignment(o, [(current, target)], turning, across)


def angle_between(o: Ops, current: Block, target: Block, columns: Sequence[Block]) -> Rows:
    """The angle from a unit vector (3,) to another, 1 row; ``columns`` are those of the turn left.

    At zero and at half a turn, where it has no derivative, the columns are zero.
    """
    across = o.cross(current, target)
    sine = o.sqrt(o.dot(across, across) + TINY)
    angle = o.atan2(sine, o.dot(current, target))
    found = [o.vector([o.dot(across, c) / sine]) for c in columns]
    return Rows(o.vector([angle]), found, angle * angle)


def distance(o: Ops, way: Block, linear: Sequence[Block]) -> Rows:
    """The length of the way (3,) that is left, 1 row; its columns are zero where it is zero."""
    length = o.sqrt(o.dot(way, way) + TINY)
    along = (1.0 / length) * way
    columns = [o.vector([o.dot(along, v)]) for v in linear]
    return Rows(o.vector([length]), columns, length * length)
