"""Tasks: rows that shall become zero, and when they count as zero.

A task as people write it is frozen data. ``bind`` checks it against a mechanism and gives what the
solver works with. Structure (frames, axes, kinds) becomes part of the compiled code; targets,
weights, tolerances and slacks are numbers that go in at run time. The kinds here are of a frame, of
joints, and of the whole mechanism.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.center_of_mass import com, com_jacobian
from linkwork.algorithms.closure import closure_parts, opening_units
from linkwork.algorithms.configuration import difference
from linkwork.algorithms.jacobian import jacobian
from linkwork.algorithms.residuals import (
    AXES_OF,
    TINY,
    Asked,
    AxesOf,
    Axis,
    Group,
    Moving,
    Residual,
    Rows,
    Unit,
    aligned,
    axes,
    axis_index,
    direction_groups,
    distance,
    frame_of_axes,
    held_by,
    joined,
    moving_frame,
    moving_point,
    pose_rows,
    position_rows,
    position_rows_in_tool,
    rotation_rows,
    three,
    unit,
)
from linkwork.checks import (
    finite_number,
    finite_rows,
    real_array,
    refuse_others,
    rigid_poses,
    rotation_matrices,
    whole_number,
)
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.dynamics_checks import check_masses_said
from linkwork.mechanism.edit import subchain
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import Configuration, configuration_from
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.objectives import manipulability
from linkwork.spatial import poses, se3

Floats = NDArray[np.float64]

TOLERANCES: dict[Unit, float] = {"m": 1.0e-5, "rad": 1.0e-4, "1": 1.0e-6}
"""Tolerances where nothing else is said, by the unit of the rows."""

_LOWEST = 7  # priority: each one costs code


class TargetKind(NamedTuple):
    """The numbers of a target.

    There are ``n``. ``read(target, name)`` makes them, in any leading shape, of what people give
    under that name. ``shape`` is that of a target which compiled code takes, and checks, as it is.
    """

    n: int
    read: Callable[[ArrayLike, str], Floats]
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTask:
    """A task of one mechanism: names are indices, arguments have been checked.

    Tasks with the same ``key`` have the same code. ``residual(o, q, target)`` is the expression of
    the rows.
    """

    task: Task
    name: str
    key: str
    priority: int
    groups: tuple[Group, ...]
    kind: TargetKind
    coordinates: tuple[int, ...]
    residual: Callable[[Ops, Block, Block], Residual]
    target: Floats | None
    weight: float
    tolerances: tuple[float, ...]
    slack: tuple[float, ...]
    frames: tuple[str, ...] = ()  # whose reach matters; none: the whole mechanism's
    has_point: bool = False
    """Whether a target begins with the point that the origin of the first frame must come to."""
    counts_turns: tuple[int, ...] = ()
    """Indices in q of angles of which a whole turn more is not the same to this task."""
    keeps_tolerance: bool = False
    """Whether the tolerances in the options of a call are not for this task."""
    blocks: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    """Rows from, to, and the coordinates that these alone depend on; none: all on all."""
    in_world: Callable[[Ops, Block, Block], Residual] | None = None
    """The residual by frames in the world, where ``residual`` takes a part of the mechanism."""
    straight: tuple[int, ...] = ()
    """Coordinates that bring their error to zero in one step, however long it is."""

    def rows_of(self, target: ArrayLike) -> Floats:
        """A target, in any leading shape, as numbers (..., n), a copy.

        Raises: ShapeError, InputError naming the task and the first row that is wrong.
        """
        return np.array(self.kind.read(target, f"task '{self.name}': target"))

    @property
    def n_rows(self) -> int:
        """The number of rows of the error."""
        return self.groups[-1].stop

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The most that each group's measure may be."""
        return tuple(g.threshold(t) for g, t in zip(self.groups, self.tolerances, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """One thing that is asked for. Where it has a ``target``, that may come later, with the call.

    ``weight`` is relative to the other tasks of the same ``priority``, of which 0 is the highest.
    ``tolerance`` is one number for every group of rows, or one for each. ``slack`` (a number, or
    one for each row) is a half width: an error inside it counts as zero. ``name`` is what targets
    and errors are found by.
    """

    weight: float = 1.0
    tolerance: float | Sequence[float] | None = None
    slack: float | Sequence[float] = 0.0
    priority: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        """Arrays and lists are copied, so that what the task asks for never changes."""
        for own in fields(self):
            value: Any = getattr(self, own.name)
            if isinstance(value, (np.ndarray, list)):
                value = copy.deepcopy(value)
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
                object.__setattr__(self, own.name, value)

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism.

        Raises: UnknownNameError for frames and joints; InputError, ShapeError for the rest.
        """


def _no_target(_target: ArrayLike, name: str) -> Floats:
    raise InputError(f"{name.removesuffix(': target')}: it takes no target")


NOTHING = TargetKind(0, _no_target)
"""The kind of a target that there is not."""


def bound(  # noqa: PLR0913  all but four are named
    task: Task,
    m: Mechanism,
    kind: TargetKind,
    residual: Callable[[Ops, Block, Block], Residual],
    *,
    key: str,
    groups: Sequence[Group],
    target: Any = None,
    name: str = "",
    frames: tuple[str, ...] = (),
    coordinates: Sequence[int] | None = None,
    tolerances: Sequence[float] | None = None,
    **rest: Any,
) -> BoundTask:
    """A task of one mechanism, its weight, tolerance, slack and own target checked.

    ``name``, where the task has none, is by default that of the first of ``frames``;
    ``coordinates`` are by default those that move any of these, ``tolerances`` those of the units,
    ``target`` is the field of that name.
    What else is given are fields of `BoundTask`.

    Raises: UnknownNameError for a frame; InputError naming the task and the argument; what the
    kind raises for the target.
    """
    what = type(task).__name__
    if not isinstance(task.name, str):
        raise InputError(f"{what}.name must be text, not {task.name!r}")
    moving = coordinates_of(m, *frames) if coordinates is None else coordinates
    name = task.name or name or frames[0]
    own = None
    given = getattr(task, "target", None) if target is None else target
    if kind.n and given is not None:
        own = np.array(kind.read(given, f"task '{name}': target"))
        own.setflags(write=False)
    usual = tolerances or [TOLERANCES[g.unit] for g in groups]
    allowed = usual if task.tolerance is None else task.tolerance
    allowed = _spread(allowed, len(groups), f"{what}.tolerance", "group of rows")
    slack = _spread(task.slack, groups[-1].stop, f"{what}.slack", "row")
    slack = tuple(finite_number(s, f"{what}.slack", least=0.0) for s in slack)
    return BoundTask(
        task=task,
        name=name,
        key=f"{key} slack={any(slack)}",
        priority=whole_number(task.priority, f"{what}.priority", least=0, most=_LOWEST),
        groups=tuple(groups),
        kind=kind,
        coordinates=tuple(moving),
        frames=frames,
        residual=residual,
        target=own,
        weight=finite_number(task.weight, f"{what}.weight", above=0.0),
        tolerances=tuple(finite_number(t, f"{what}.tolerance", above=0.0) for t in allowed),
        slack=slack,
        **rest,
    )


def _of_frame(
    task: Any,
    m: Mechanism,
    kind: TargetKind,
    rows: Callable[[Ops, Moving, Block], Residual],
    key: str,
    groups: Sequence[Group],
    *,
    has_point: bool = False,
) -> BoundTask:
    """A task of ``task.frame``; ``rows(o, frame, target)`` are those of its error as it moves."""

    def residual(o: Ops, q: Block, target: Block) -> Residual:
        return rows(o, moving_frame(o, m, q, task.frame), target)

    key, frames = f"{type(task).__name__} {task.frame!r} {key}", (task.frame,)
    return bound(
        task, m, kind, residual, key=key, groups=groups, frames=frames, has_point=has_point
    )


def has_slack(task: Task) -> bool:
    """Whether anything is allowed to a task, which then measures in true radians and metres."""
    slack = np.asarray(task.slack)
    return bool(np.any(slack)) if slack.dtype.kind in "fiub" else True  # else refused by `bound`


def _spread(value: Any, n: int, what: str, each: str) -> tuple[Any, ...]:
    """One number for all, or one for each."""
    if isinstance(value, str):
        raise InputError(f"{what} must be numbers, not {value!r}")
    try:
        values: tuple[Any, ...] = tuple(value)
    except TypeError:  # a single one
        return (value,) * n
    if len(values) != n:
        raise InputError(
            f"{what} must be one number or {n}, one for each {each}, not {len(values)}"
        )
    return values


def beyond_slack(o: Ops, residual: Residual, slack: Block, groups: Sequence[Group]) -> Residual:
    """A residual less its slack: errors inside the half widths ``slack`` (k,) are nothing.

    A row inside asks for nothing and holds nothing: its columns are zero as well.
    """
    n = groups[-1].stop
    inside = [o.less(o.absolute(residual.error[k]), slack[k]) for k in range(n)]
    beyond = [o.maximum(residual.error[k], -slack[k]) for k in range(n)]
    error = o.vector([residual.error[k] - o.minimum(b, slack[k]) for k, b in enumerate(beyond)])
    counts = [o.select(each, 0.0, 1.0) for each in inside]
    columns = [o.vector([counts[k] * c[k] for k in range(n)]) for c in residual.columns]
    parts = [o.part(error, g.start, g.stop) for g in groups]
    return Residual(error, columns, [o.dot(part, part) for part in parts])


def coordinates_of(m: Mechanism, *frames: str) -> tuple[int, ...]:
    """The coordinates that move any of these frames, in order."""
    found: set[int] = set()
    for name in frames:
        found.update(m.coordinates_moving(m.frame(name)))
    return tuple(sorted(found))


def turns_freely(m: Mechanism, coordinate: int) -> bool:
    """Whether a coordinate's angle has no limits, and a whole turn of it changes no pose.

    It does where another joint follows by a ratio that is not whole, or slides.
    """
    last = int(m.q_start[coordinate + 1]) - 1
    if np.isfinite(m.lower[last]) or np.isfinite(m.upper[last]):
        return False
    followers = [b for b in m.followers() if int(m.coordinate[b]) == coordinate]
    return all(
        m.body_joint_types[b].turns and float(m.multiplier[b]).is_integer() for b in followers
    )


# --- kinds of targets -----------------------------------------------------------------------------


def _poses(target: ArrayLike, name: str) -> Floats:
    """Poses (..., 4, 4) as positions, then rotations by rows (..., 12)."""
    T = rigid_poses(target, name)
    return np.concatenate([T[..., :3, 3], T[..., :3, :3].reshape(*T.shape[:-2], 9)], axis=-1)


def _rotations(target: ArrayLike, name: str) -> Floats:
    """Rotation matrices (..., 3, 3), or those of poses (..., 4, 4), by rows (..., 9)."""
    array = real_array(target, name)
    if array.shape[-2:] == (4, 4):
        array = rigid_poses(array, name)[..., :3, :3]
    elif array.shape[-2:] != (3, 3):
        raise ShapeError(f"{name} must have shape (..., 3, 3) or (..., 4, 4), not {array.shape}")
    return rotation_matrices(array, name).reshape(*array.shape[:-2], 9)


def _directions(target: ArrayLike, name: str) -> Floats:
    """Directions (..., 3) of any length but zero, made unit vectors."""
    rows = finite_rows(target, name, 3)
    largest = np.max(np.abs(rows), axis=-1, keepdims=True)
    refuse_others(largest[..., 0] > 0.0, name, "has the direction 0 0 0, which is none")
    rows = rows / largest  # so that squares neither overflow nor vanish
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _points_and_directions(target: ArrayLike, name: str) -> Floats:
    """A point and a direction (..., 6), the direction made a unit vector."""
    rows = finite_rows(target, name, 6)
    return np.concatenate([rows[..., :3], _directions(rows[..., 3:], name)], axis=-1)


def _held_poses(target: ArrayLike, name: str) -> Floats:
    """A pose and where the frame holds what is brought there (..., 2, 4, 4), as (..., 24)."""
    array = real_array(target, name)
    if array.shape[-3:] != (2, 4, 4):
        raise ShapeError(
            f"{name} must have shape (..., 2, 4, 4), T_world_tool and T_frame_tool, not "
            f"{array.shape}: the task is of what its frame holds"
        )
    return _poses(array, name).reshape(*array.shape[:-3], 24)


POSE = TargetKind(12, _poses, (4, 4))
HELD = TargetKind(24, _held_poses, (24,))
POINT = TargetKind(3, lambda target, name: finite_rows(target, name, 3), (3,))
ROTATION = TargetKind(9, _rotations)
DIRECTION = TargetKind(3, _directions)
LINE = TargetKind(6, _points_and_directions)


# --- tasks of a frame -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pose(Task):
    """A frame at a pose T_world_frame (4, 4), or at parts of it.

    ``position`` and ``rotation`` name the axes that count ("" for none), in ``axes_of`` the world,
    the target or the tool (the frame). Where a rotation counts about two axes, turns about the
    third are free; where about one, that component of the rotation vector is to vanish.
    ``mirror``: turned by pi about that axis of the tool is as good.

    ``held``: what is brought to the target is a tool that the frame holds, and a target (2, 4, 4)
    is its pose T_world_tool and where it is held, T_frame_tool. Both are numbers of a call, so that
    another tool needs no new code.
    """

    frame: str
    target: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)
    held: bool = field(default=False, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        asked = _asked_of_pose(self, AXES_OF)
        if not isinstance(self.held, bool):
            raise InputError(f"Pose.held must be True or False, not {self.held!r}")

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            return pose_rows(o, frame, _pose_of(o, target), asked)

        def held_rows(o: Ops, frame: Moving, target: Block) -> Residual:
            T_world_tool, T_frame_tool = (o.part(target, k, k + 12) for k in (0, 12))
            held = held_by(o, frame, _pose_of(o, T_frame_tool))
            return pose_rows(o, held, _pose_of(o, T_world_tool), asked)

        if self.held:
            return _of_frame(self, m, HELD, held_rows, f"{asked.key} held", asked.groups())
        whole = len(asked.where) == 3
        return _of_frame(self, m, POSE, rows, asked.key, asked.groups(), has_point=whole)


def _asked_of_pose(task: Any, allowed: Sequence[str]) -> Asked:
    """The rows that ``position``, ``rotation``, ``axes_of`` and ``mirror`` ask for, checked.

    Raises: InputError naming the task and the argument.
    """
    what = type(task).__name__
    where = axes(task.position, f"{what}.position", none=True)
    turns = axes(task.rotation, f"{what}.rotation", none=True)
    if not where and not turns:
        raise InputError(f"{what}: position and rotation are both empty, so nothing is asked for")
    mirror = axis_index(task.mirror, f"{what}.mirror")
    if mirror is not None and not turns:
        raise InputError(f"{what}.mirror is about rotations, and rotation is empty")
    of = frame_of_axes(task.axes_of, f"{what}.axes_of", allowed)
    return Asked(where, turns, of, mirror, has_slack(task))


def _pose_of(o: Ops, numbers: Block) -> tuple[Block, Block]:
    """The rotation (3, 3) and the position (3,) of twelve numbers."""
    return se3.rotation_of_rows(o, o.part(numbers, 3, 12)), o.part(numbers, 0, 3)


@dataclass(frozen=True, eq=False)
class Position(Task):
    """A point of a frame at a point (3,) of the world.

    ``point`` (m) is given in the frame; by default it is its origin. ``axes`` are those that
    count, in ``axes_of`` the world or the tool (the frame).
    """

    frame: str
    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        where = axes(self.axes, "Position.axes")
        of = frame_of_axes(self.axes_of, "Position.axes_of", ("world", "tool"))
        point = three(self.point, "Position.point")

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            at, linear = moving_point(o, frame, point)
            way = target - at
            if of == "world":
                return joined(o, [position_rows(o, way, linear, where)])
            moved = frame._replace(linear=linear)
            return joined(o, [position_rows_in_tool(o, way, moved, where)])

        groups = [Group("position", "m", 0, len(where))]
        whole = len(where) == 3 and not any(point)
        return _of_frame(self, m, POINT, rows, f"{where} {of} {point}", groups, has_point=whole)


@dataclass(frozen=True, eq=False)
class Orientation(Task):
    """A frame at an orientation R_world_frame (3, 3), or that of a pose (4, 4).

    ``axes`` are those that turns count about, in ``axes_of`` the world, the target or the tool (the
    frame): with two, turns about the third are free; with one, that component of the rotation
    vector is to vanish. ``mirror``: turned by pi about that axis of the tool is as good.
    """

    frame: str
    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: AxesOf = field(default="world", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        turns = axes(self.axes, "Orientation.axes")
        of = frame_of_axes(self.axes_of, "Orientation.axes_of", AXES_OF)
        mirror = axis_index(self.mirror, "Orientation.mirror")
        asked = Asked((), turns, of, mirror, has_slack(self))

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            R = se3.rotation_of_rows(o, target)
            return joined(o, [rotation_rows(o, frame.pose.R, R, frame.angular, asked)])

        return _of_frame(self, m, ROTATION, rows, asked.key, asked.groups())


@dataclass(frozen=True, eq=False)
class RelativePose(Task):
    """A frame at a pose T_other_frame (4, 4) in another frame, or at parts of it: two hands.

    ``position``, ``rotation`` and ``mirror`` as for a `Pose`; ``axes_of`` the other frame, the
    target or the tool (the frame). Only the joints between the two matter.
    """

    frame: str
    other: str
    target: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)
    axes_of: Literal["other", "target", "tool"] = field(default="other", kw_only=True)
    mirror: Axis | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        asked = _asked_of_pose(self, ("other", "target", "tool"))
        m.frame(self.frame)
        m.frame(self.other)
        coordinates, found = _between(m, self.other, self.frame)

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            return pose_rows(o, found(o, q), _pose_of(o, target), asked)

        def in_world(o: Ops, q: Block, target: Block) -> Residual:
            moving = _through_the_world(o, m, q, self.other, self.frame)
            return pose_rows(o, moving, _pose_of(o, target), asked)

        return bound(
            self,
            m,
            POSE,
            residual,
            key=f"relative pose {self.frame!r} {self.other!r} {asked.key}",
            groups=asked.groups(),
            coordinates=coordinates,
            frames=(self.frame, self.other),
            in_world=in_world,
        )


def _between(
    m: Mechanism, other: str, frame: str
) -> tuple[Sequence[int], Callable[[Ops, Block], Moving]]:
    """The coordinates between two frames, and the one as it moves in the other."""
    try:
        chain = subchain(m, other, frame)
    except UnsupportedFeatureError:  # planar or floating joints on the way towards the root
        through = coordinates_of(m, frame, other)
        return through, lambda o, q: _through_the_world(o, m, q, other, frame)
    names = [chain.joint_names[c] for c in chain.coordinates_moving(chain.frame(frame))]
    index = [m.joint(name) for name in chain.joint_names]

    def moving(o: Ops, q: Block) -> Moving:
        parts = [o.part(q, int(m.q_start[c]), int(m.q_start[c + 1])) for c in index]
        own = moving_frame(o, chain, o.concat(parts), frame)
        zero = o.const([0.0, 0.0, 0.0])
        linear, angular = [zero] * m.n_v, [zero] * m.n_v
        for place, c in enumerate(index):
            start = int(chain.v_start[place])
            for k in range(m.joint_types[c].n_v):
                linear[int(m.v_start[c]) + k] = own.linear[start + k]
                angular[int(m.v_start[c]) + k] = own.angular[start + k]
        return Moving(own.pose, linear, angular)

    return sorted(m.joint(name) for name in names), moving


def _through_the_world(o: Ops, m: Mechanism, q: Block, other: str, frame: str) -> Moving:
    """A frame as it moves in another, from both in the world: more work, and any joints."""
    tool, base = moving_frame(o, m, q, frame), moving_frame(o, m, q, other)
    back, arm = o.transpose(base.pose.R), tool.pose.p - base.pose.p
    linear: list[Block] = []
    angular: list[Block] = []
    for k in range(m.n_v):
        turning = base.angular[k]
        linear.append(back @ (tool.linear[k] - base.linear[k] - o.cross(turning, arm)))
        angular.append(back @ (tool.angular[k] - turning))
    return Moving(poses.Pose(back @ tool.pose.R, back @ arm), linear, angular)


@dataclass(frozen=True, eq=False)
class Direction(Task):
    """An axis of the frame lies along a direction (3,) of the world, of any length but zero.

    ``axis`` is given in the frame. The opposite direction is not the same. The error is the angle
    between the two; with ``slack``, a cone is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    axis: Sequence[float] = field(default=(0.0, 0.0, 1.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        axis, exact = unit(self.axis, "Direction.axis"), has_slack(self)

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            return joined(o, [aligned(o, frame, axis, target, frame.angular, exact=exact)])

        return _of_frame(self, m, DIRECTION, rows, f"{axis}", direction_groups(exact=exact))


@dataclass(frozen=True, eq=False)
class Pointing(Task):
    """The ray from a point of the frame along an axis of the frame goes through a point (3,).

    ``axis`` and ``point`` (m) are given in the frame, the target in the world. Pointing away from
    the target is not pointing at it, and standing in it is not either. The error is the angle
    between the ray and the way to the target; with ``slack``, a cone about the ray is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    axis: Sequence[float] = field(default=(0.0, 0.0, 1.0), kw_only=True)
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        axis, point = unit(self.axis, "Pointing.axis"), three(self.point, "Pointing.point")
        exact = has_slack(self)

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            at, linear = moving_point(o, frame, point)
            way = target - at
            scale = 1.0 / o.sqrt(o.dot(way, way) + TINY)
            to, pairs = scale * way, zip(frame.angular, linear, strict=True)
            # where the point moves by v, the way to the target turns by -(to x v) / length
            turning = [w + o.cross(scale * to, v) for w, v in pairs]
            return joined(o, [aligned(o, frame, axis, to, turning, exact=exact)])

        return _of_frame(self, m, POINT, rows, f"{axis} {point}", direction_groups(exact=exact))


@dataclass(frozen=True, eq=False)
class OnLine(Task):
    """A point of the frame lies on a line of the world, endless both ways.

    The target (6,) is a point of the line and a direction of any length but zero; ``point`` (m) is
    given in the frame. The error is the distance; with ``slack``, a cylinder is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        point, exact = three(self.point, "OnLine.point"), has_slack(self)

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            at, linear = moving_point(o, frame, point)
            through, along = o.part(target, 0, 3), o.part(target, 3, 6)
            way, *columns = (v - o.dot(v, along) * along for v in [through - at, *linear])
            if exact:
                return joined(o, [distance(o, way, columns)])
            return joined(o, [position_rows(o, way, columns, (0, 1, 2))])

        groups = [Group("distance", "m", 0, 1 if exact else 3)]
        return _of_frame(self, m, LINE, rows, f"{point}", groups)


@dataclass(frozen=True, eq=False)
class OnPlane(Task):
    """A point of the frame lies on a plane of the world.

    The target (6,) is a point of the plane and a normal of any length but zero; ``point`` (m) is
    given in the frame. The error is the distance, 1 row; with ``slack``, a slab is allowed.
    """

    frame: str
    target: ArrayLike | None = None
    point: Sequence[float] = field(default=(0.0, 0.0, 0.0), kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        point = three(self.point, "OnPlane.point")

        def rows(o: Ops, frame: Moving, target: Block) -> Residual:
            at, linear = moving_point(o, frame, point)
            through, normal = o.part(target, 0, 3), o.part(target, 3, 6)
            away = o.dot(normal, through - at)
            columns = [o.vector([o.dot(normal, v)]) for v in linear]
            return Residual(o.vector([away]), columns, [away * away])

        return _of_frame(self, m, LINE, rows, f"{point}", [Group("distance", "m", 0, 1)])


# --- tasks of joints ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """Joints at the positions of q (nq,), or those of ``joints`` at theirs, one after the other.

    Positions may be given by joint name; those that are not named are neutral.
    An angle without limits may come from either side, by the shorter way; floating and
    spherical joints go by the shorter way on the group. The errors are the
    lengths of all differences in radians, and of all in metres.
    """

    target: Configuration | None = None
    joints: str | Sequence[str] | None = field(default=None, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        chosen = _chosen(m, self.joints)
        places: list[int] = []  # in q
        quaternions: list[int] = []  # where they begin in a target
        angles: list[int] = []  # in v
        lengths: list[int] = []
        wraps: set[int] = set()
        for c in chosen:
            kind, start, stop = m.joint_types[c], int(m.v_start[c]), int(m.v_start[c + 1])
            middle = start + kind.n_lengths
            lengths += range(start, middle)
            angles += range(middle, stop)
            if kind.has_quaternion:
                quaternions.append(len(places) + kind.n_lengths)
            elif middle < stop and turns_freely(m, c):
                wraps.add(stop - 1)
            places += m.q_indices([c])

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            wanted: list[Block] = [q[k] for k in range(m.n_q)]
            for number, k in enumerate(places):
                wanted[k] = target[number]
            left = difference(o, m, q, o.vector(wanted))
            parts = [part for part in (angles, lengths) if part]
            return joined(o, [_straight(o, left, part, wraps) for part in parts])

        def read(target: Any, name: str) -> Floats:
            if isinstance(target, Mapping):
                target = configuration_from(m, target)[places]
            found = finite_rows(target, name, len(places))
            for start in quaternions:
                if not np.any(found[..., start : start + 4], axis=-1).all():
                    raise InputError(f"{name} has a quaternion 0 0 0 0, which is no rotation")
            return found

        n = len(angles)
        groups = [Group("angles", "rad", 0, n), Group("lengths", "m", n, n + len(lengths))]
        return bound(
            self,
            m,
            TargetKind(len(places), read),
            residual,
            name="posture",
            key=f"posture {chosen} {sorted(wraps)}",
            groups=[group for group in groups if group.stop > group.start],
            coordinates=sorted(chosen),
        )


def _straight(o: Ops, left: Block, part: Sequence[int], wraps: set[int]) -> Rows:
    """The differences with these indices of v; each velocity goes straight at its own.

    On a floating joint that is exact at the target, and a step by the whole difference gets there
    from anywhere.
    """
    values: list[Block] = []
    columns: list[Block] = [o.const([0.0] * len(part))] * len(left)
    for place, v in enumerate(part):
        value = left[v]
        if v in wraps:
            value = value - (2.0 * math.pi) * o.floor(value * (0.5 / math.pi) + 0.5)
        values.append(value)
        columns[v] = o.const([1.0 if k == place else 0.0 for k in range(len(part))])
    error = o.vector(values)
    return Rows(error, columns, o.dot(error, error))


def _chosen(m: Mechanism, joints: str | Sequence[str] | None) -> list[int]:
    """The coordinates that are asked for, in the order of the target."""
    if joints is None:
        chosen = list(range(len(m.joint_names)))
    else:
        chosen = [m.joint(name) for name in ([joints] if isinstance(joints, str) else joints)]
    if not chosen:
        raise InputError("Posture.joints is empty, so nothing is asked for")
    twice = [m.joint_names[c] for c in chosen if chosen.count(c) > 1]
    if twice:
        raise InputError(f"Posture.joints names '{twice[0]}' more than once")
    return chosen


@dataclass(frozen=True, eq=False)
class JointCoupling(Task):
    """One joint at ``ratio`` times the position of another, plus ``offset``; it has no target.

    Both are joints with one position, in radians or metres; a turn more is not the same.
    """

    joint: str
    other: str
    ratio: float = field(default=1.0, kw_only=True)
    offset: float = field(default=0.0, kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        first, second = m.joint(self.joint), m.joint(self.other)
        for c in (first, second):
            if m.joint_types[c].n_q != 1:
                raise InputError(
                    f"JointCoupling: '{m.joint_names[c]}' is a {m.joint_types[c].label} joint; "
                    "joints with one position can be coupled"
                )
        if first == second:
            raise InputError(f"JointCoupling: '{self.joint}' cannot be coupled to itself")
        ratio = finite_number(self.ratio, "JointCoupling.ratio")
        offset = finite_number(self.offset, "JointCoupling.offset")
        q_first, q_second = int(m.q_start[first]), int(m.q_start[second])
        v_first, v_second = int(m.v_start[first]), int(m.v_start[second])

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            error = ratio * q[q_second] + offset - q[q_first]
            columns: list[Block] = [o.const([0.0])] * m.n_v
            columns[v_first], columns[v_second] = o.const([1.0]), o.const([-ratio])
            return Residual(o.vector([error]), columns, [error * error])

        slides = m.joint_types[first] is JointType.PRISMATIC
        return bound(
            self,
            m,
            NOTHING,
            residual,
            name="coupling",
            key=f"coupling {self.joint!r} {self.other!r} {ratio!r} {offset!r}",
            groups=[Group("position" if slides else "angle", "m" if slides else "rad", 0, 1)],
            coordinates=sorted((first, second)),
            counts_turns=(q_first, q_second),
        )


# --- tasks of the whole mechanism -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """The centre of mass of all links at a point (3,) of the world.

    ``axes`` are those of the world that count: "xy" keeps it above a point.
    """

    target: ArrayLike | None = None
    axes: str | Sequence[bool] = field(default="xyz", kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        where = axes(self.axes, "CenterOfMass.axes")
        check_masses_said(m)
        if not m.mass.sum() > 0.0:
            raise InputError(
                f"CenterOfMass: the masses of '{m.name}' add up to {m.mass.sum():g} kg, so there "
                "is no centre of mass; give the links <inertial> elements with a mass above zero"
            )

        masses = m.mass.copy()
        for body in range(m.n_bodies - 1, 0, -1):
            masses[m.parent[body]] += masses[body]
        moving = {int(m.coordinate[b]) for b in range(m.n_bodies) if masses[b] != 0.0} - {-1}

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            J = com_jacobian(o, m, q)
            linear = [o.column(J, k) for k in range(m.n_v)]
            return joined(o, [position_rows(o, target - com(o, m, q), linear, where)])

        return bound(
            self,
            m,
            POINT,
            residual,
            name="com",
            key=f"centre of mass {where}",
            groups=[Group("position", "m", 0, len(where))],
            coordinates=sorted(moving),
        )


CLOSED_TOLERANCE = 1.0e-12
"""Opening of a loop that counts as closed, in `opening_units`: what rounding leaves."""


@dataclass(frozen=True, eq=False)
class Closed(Task):
    """Every loop of the mechanism closed, and every coupling kept; it has no target.

    The rows are those of `algorithms.closure`, a group or two for each loop. Its tolerance is its
    own: the options of a call do not change it.
    """

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        parts = closure_parts(m)
        if not parts:
            raise InputError(f"'{m.name}' has no loops or couplings, so nothing is to be closed")
        starts = np.cumsum([0, *(part.n_rows for part in parts)]).tolist()
        groups = [
            Group(g.name, g.unit, start + g.start, start + g.stop, chord=g.chord)
            for start, part in zip(starts, parts, strict=False)
            for g in part.groups
        ]

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = [part.residual(o, q) for part in parts]
            columns = [o.concat([each.columns[k] for each in found]) for k in range(m.n_v)]
            squared = [x for each in found for x in each.squared]
            return Residual(o.concat([each.error for each in found]), columns, squared)

        blocks = zip(starts[:-1], starts[1:], (part.coordinates for part in parts), strict=True)
        bent = {c for part in parts for c in part.coordinates if c not in part.straight}
        return bound(
            self,
            m,
            NOTHING,
            residual,
            name="closed",
            key="closed",
            groups=groups,
            coordinates=sorted({c for part in parts for c in part.coordinates}),
            tolerances=[CLOSED_TOLERANCE * unit for unit in opening_units(m)],
            keeps_tolerance=True,
            blocks=tuple(blocks),
            straight=tuple(sorted({c for part in parts for c in part.straight} - bent)),
            counts_turns=tuple(sorted({k for part in parts for k in part.counts_turns})),
        )


@dataclass(frozen=True, eq=False)
class Manipulability(Task):
    """The manipulability sqrt(det(J Jᵀ)) of a frame is at least ``at_least``.

    Above it the error is zero. J are the rows of the frame's Jacobian that ``position`` and
    ``rotation`` name, in axes of the world; where these are more than the numbers of v that move
    the frame, det(Jᵀ J) takes its place. All joints on the way to the frame count, also those
    that are not moved.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", International Journal of Robotics
    Research 4 (1985).
    """

    frame: str
    at_least: ArrayLike | None = None
    position: str | Sequence[bool] = field(default="xyz", kw_only=True)
    rotation: str | Sequence[bool] = field(default="xyz", kw_only=True)

    def bind(self, m: Mechanism) -> BoundTask:
        """The task for one mechanism (see `Task.bind`)."""
        index = m.frame(self.frame)
        where = axes(self.position, "Manipulability.position", none=True)
        turns = axes(self.rotation, "Manipulability.rotation", none=True)
        rows = (*where, *(3 + k for k in turns))
        coordinates = coordinates_of(m, self.frame)
        if not rows:
            raise InputError("Manipulability: position and rotation are both empty")
        moving = m.v_indices(coordinates)
        if not moving:
            raise InputError(f"Manipulability: no joint moves '{self.frame}'")
        samples = np.random.default_rng(0).uniform(-1.0, 1.0, (4, m.n_q))
        found = [jacobian(NUMPY, m, q, frame=self.frame)[list(rows)][:, moving] for q in samples]
        if all(np.linalg.matrix_rank(J, tol=1e-9) < min(J.shape) for J in found):
            raise InputError(
                f"Manipulability: what moves '{self.frame}' cannot move it in all {len(rows)} "
                "directions that are asked for, so its manipulability is always zero; name those "
                "that it can be moved in, such as position='xy', rotation='z'"
            )

        def residual(o: Ops, q: Block, target: Block) -> Residual:
            found = manipulability(o, m, q, index, coordinates=coordinates, rows=rows)
            value = o.sqrt(found.squared)
            lacks = o.less(value, target[0])
            error = o.select(lacks, target[0] - value, 0.0)
            columns = [o.vector([o.select(lacks, value * x, 0.0)]) for x in found.slope]
            return Residual(o.vector([error]), columns, [error * error])

        return bound(
            self,
            m,
            TargetKind(1, _least_values),
            residual,
            target=self.at_least,
            name="manipulability",
            key=f"manipulability {self.frame!r} {rows}",
            groups=[Group("manipulability", "1", 0, 1)],
            coordinates=coordinates,
            frames=(self.frame,),
        )


def _least_values(target: ArrayLike, name: str) -> Floats:
    """Least values (..., 1), or a single one, checked."""
    name = f"{name.removesuffix('target')}at_least"
    rows = finite_rows(np.atleast_1d(real_array(target, name)), name, 1)
    if not (rows > 0.0).all():
        raise InputError(f"{name} must be above 0: manipulability is never less")
    return rows
