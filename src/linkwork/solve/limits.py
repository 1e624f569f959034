"""Limits: bounds of positions, from where a move began and where the other joints are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import finite_number, finite_rows, real_array
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.model import Floats, Mechanism
from linkwork.ops.protocol import Block, Ops

Interval = tuple[Block | None, Block | None]
"""The lowest and the highest value; None where there is none."""

POSITION, VELOCITY, ACCELERATION = 0, 1, 2
"""Ranks: where limits exclude each other, the one of the lowest rank is kept."""


class Where(NamedTuple):
    """The state that bounds are computed from.

    The present ``q`` (nq,); ``start`` (nq,), where the move began, inside the limits of position;
    ``room``, by index in q, the positions that these limits allow.
    """

    q: Block
    start: Block
    room: Mapping[int, Interval]


BoundsOf = Callable[[Ops, Where, Block, Block], Mapping[int, Interval]]
"""(o, where, settings, numbers) -> bounds of positions, by their index in q."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundLimit:
    """A limit of one mechanism: names are indices, arguments have been checked.

    Limits with the same ``key`` have the same code. ``bounds`` is the expression: from
    where things are, the ``settings`` of a call and the ``numbers`` of a row. Bounds that are
    ``coupled`` depend on q: they are those of the q that a step arrives at. What has rank
    `POSITION` and is not coupled depends on its settings alone.
    """

    name: str
    key: str
    rank: int
    positions: tuple[int, ...]  # the indices in q that it bounds
    settings: tuple[float, ...]
    bounds: BoundsOf
    coordinates: tuple[int, ...] = ()  # the mechanism's coordinates that it reads
    coupled: bool = False
    needs_start: bool = False
    n_numbers: int = 0
    rows_of: Callable[[ArrayLike], Floats] = lambda _given: np.zeros(0)  # -> (..., n_numbers)
    numbers: Floats | None = None  # where none is given
    # of coordinates whose angle is limited, how far (rad) they stay from that; part of the key
    margins: Mapping[int, float] = field(default_factory=dict[int, float])
    source: Limit | None = None  # of which it was made


class Limit(ABC):
    """One thing that is not to be left."""

    @abstractmethod
    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism.

        Raises: UnknownNameError for joints; InputError, ShapeError for the rest.
        """


PerJoint = float | Mapping[str, float | Sequence[float]] | ArrayLike
"""One number for all joints, numbers by the names of joints, or an array of one for each."""


def per_joint(
    m: Mechanism,
    given: PerJoint,
    what: str,
    *,
    of_q: bool = False,
    otherwise: float = np.inf,
    least: float = 0.0,
) -> Floats:
    """A number from ``least`` (or infinity) for each number of v, or ``of_q``.

    ``otherwise`` is for joints that a mapping does not name.

    Raises: UnknownNameError, ShapeError, InputError for numbers below ``least`` and NaN.
    """
    n = m.n_q if of_q else m.n_v
    if isinstance(given, Mapping):
        values = np.full(n, otherwise)
        for name, value in cast("Mapping[Any, Any]", given).items():
            c = m.joint(name)
            part = values[m.q_slice(c) if of_q else m.v_slice(c)]
            numbers = real_array(value, f"{what}['{name}']")
            if numbers.shape not in ((), (1,), part.shape):
                raise ShapeError(
                    f"{what}['{name}'] must be one number or {part.size}, not {numbers.shape}"
                )
            part[:] = numbers
    else:
        numbers = real_array(given, what)
        if numbers.shape not in ((), (n,)):
            raise ShapeError(
                f"{what} must be one number, a mapping of joint names or an array ({n},), "
                f"not {numbers.shape}"
            )
        values = np.array(np.broadcast_to(numbers, (n,)))
    bad = np.flatnonzero(~(values >= least))
    if bad.size:
        joint = (m.joint_of_q if of_q else m.joint_of_v)(int(bad[0]))
        allowed = "a number" if least == -np.inf else f"from {least:g}"
        raise InputError(f"{what} of joint '{joint}' must be {allowed}, not {values[bad[0]]}")
    return values


def position_of_velocity(m: Mechanism, index: int, what: str) -> int:
    """The index in q of the position whose rate has this index in v.

    Raises: UnsupportedFeatureError for a floating or spherical joint, naming it.
    """
    c = m.coordinate_of_v(index)
    if m.joint_types[c].has_quaternion:
        kind = m.joint_types[c].label
        raise UnsupportedFeatureError(
            f"{what}: joint '{m.joint_names[c]}' is {kind}, and only joints whose velocities are "
            "the rates of their positions can be limited; leave it out: give the others by name"
        )
    return int(m.q_start[c]) + index - int(m.v_start[c])


def single_position(m: Mechanism, name: str, what: str) -> tuple[int, int]:
    """The coordinate of a joint that has one position, and its index in q.

    Raises: UnknownNameError; InputError for a coupled joint; UnsupportedFeatureError for a joint
    with several positions.
    """
    for body in m.followers():
        if m.body_joint_names[body] == name and name not in m.joint_names:
            leader = m.joint_names[int(m.coordinate[body])]
            raise InputError(f"{what}: joint '{name}' follows '{leader}': name that one")
    c = m.joint(name)
    if m.joint_types[c].n_q != 1:
        raise UnsupportedFeatureError(
            f"{what}: joint '{name}' is {m.joint_types[c].label} and has {m.joint_types[c].n_q} "
            "positions; only joints with one can be coupled"
        )
    return c, int(m.q_start[c])


@dataclass(frozen=True, eq=False)
class PositionLimit(Limit):
    """Positions keep at least ``margin`` (rad or m) from the description's limits.

    The description's limits always hold; this narrows them, for all joints or for those named.
    """

    margin: PerJoint = 0.0

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        margin = per_joint(m, self.margin, "PositionLimit.margin", of_q=True, otherwise=0.0)
        if not np.isfinite(margin).all():
            raise InputError("PositionLimit.margin must be finite: no position would be left")
        lower, upper = m.lower + margin, m.upper - margin
        for k in np.flatnonzero((lower > upper) & (margin > 0.0)).tolist():
            raise InputError(
                f"PositionLimit.margin leaves no position of joint '{m.joint_of_q(k)}': its limits "
                f"are {m.lower[k]:g} and {m.upper[k]:g}, the margin is {margin[k]:g}"
            )
        margins: dict[int, float] = {}
        for c in np.flatnonzero(np.isfinite(m.angle_limit)).tolist():
            own, most = float(margin[int(m.q_start[c])]), float(m.angle_limit[c])
            if own >= most:
                raise InputError(
                    f"PositionLimit.margin leaves no position of joint '{m.joint_names[c]}': it "
                    f"turns up to {most:g} rad, the margin is {own:g}"
                )
            if own > 0.0:
                margins[c] = own
        lower[margin <= 0.0], upper[margin <= 0.0] = -np.inf, np.inf
        return _between("position", lower, upper, margins)


@dataclass(frozen=True, eq=False)
class RangeLimit(Limit):
    """Positions stay from ``lower`` to ``upper`` (rad or m), besides the description's limits.

    Each is one number, an array (nq,), or a mapping of joint names, which leaves the others as
    they are; infinite ones are no bounds. Solvers whose ranges differ in numbers share their code.

    Raises (`bind`): InputError where nothing lies between them; UnsupportedFeatureError where a
    floating or spherical joint is to be limited.
    """

    lower: PerJoint = -np.inf
    upper: PerJoint = np.inf

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        ends = [
            per_joint(m, given, f"RangeLimit.{name}", of_q=True, otherwise=none, least=-np.inf)
            for name, given, none in (
                ("lower", self.lower, -np.inf),
                ("upper", self.upper, np.inf),
            )
        ]
        inside = np.maximum(ends[0], m.lower) <= np.minimum(ends[1], m.upper)
        for k in np.flatnonzero(~inside).tolist():
            raise InputError(
                f"RangeLimit leaves no position of joint '{m.joint_of_q(k)}': it is from "
                f"{ends[0][k]:g} to {ends[1][k]:g}, the joint's limits are {m.lower[k]:g} and "
                f"{m.upper[k]:g}"
            )
        limit = _between("range", ends[0], ends[1])
        for k in limit.positions:
            position_of_velocity(m, int(m.v_start[m.joint(m.joint_of_q(k))]), "RangeLimit")
        return limit


def _between(
    name: str, lower: Floats, upper: Floats, margins: Mapping[int, float] | None = None
) -> BoundLimit:
    """The limit of positions (nq,) between others, which are settings; infinite ones are none."""
    below, above = (np.flatnonzero(np.isfinite(ends)).tolist() for ends in (lower, upper))

    def bounds(_o: Ops, _where: Where, settings: Block, _numbers: Block) -> Mapping[int, Interval]:
        found: dict[int, Interval] = {k: (settings[i], None) for i, k in enumerate(below)}
        for i, k in enumerate(above, start=len(below)):
            found[k] = (found.get(k, (None, None))[0], settings[i])
        return found

    return BoundLimit(
        name=name,
        key=f"{name} {below} {above} {margins or {}}",
        rank=POSITION,
        positions=tuple(sorted({*below, *above})),
        settings=(*lower[below].tolist(), *upper[above].tolist()),
        bounds=bounds,
        margins=margins or {},
    )


ROUNDING = 2.0**-51
"""Bounds are moved inward by this share of the numbers that they come from, so that rounding
leaves no position, and no quotient of a difference by dt, beyond them."""


@dataclass(frozen=True, eq=False)
class VelocityLimit(Limit):
    """Every position stays within v_max dt of where the move began.

    ``dt`` in seconds; ``v_max`` in rad/s or m/s: one number, an array (nv,), or a mapping of joint
    names, which leaves the others free; by default the description's velocity limits, of joints
    that are neither floating nor spherical. A start outside the limits of position is moved
    inside first: position comes before velocity.

    Raises (`bind`): UnsupportedFeatureError where ``v_max`` limits one of these.
    """

    dt: float
    v_max: PerJoint | None = None

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        dt = finite_number(self.dt, "VelocityLimit.dt", above=0.0)
        if self.v_max is None:  # of the description; no interval of positions bounds a group
            v_max = m.velocity_limit.copy()
            for c, kind in enumerate(m.joint_types):
                if kind.has_quaternion:
                    v_max[m.v_slice(c)] = np.inf
        else:
            v_max = per_joint(m, self.v_max, "VelocityLimit.v_max")
        with np.errstate(over="ignore"):  # farther than any number is no limit
            far = v_max * dt * (1.0 - ROUNDING)
        limited = np.flatnonzero(np.isfinite(far)).tolist()
        positions = [position_of_velocity(m, k, "VelocityLimit") for k in limited]

        def bounds(
            o: Ops, where: Where, settings: Block, _numbers: Block
        ) -> Mapping[int, Interval]:
            found: dict[int, Interval] = {}
            for i, k in enumerate(positions):
                begin, reach = where.start[k], settings[i]
                reach = o.maximum(0.0, reach - ROUNDING * (o.absolute(begin) + reach))
                found[k] = (begin - reach, begin + reach)
            return found

        return BoundLimit(
            name="velocity",
            key=f"velocity {positions}",
            rank=VELOCITY,
            positions=tuple(positions),
            needs_start=True,
            settings=tuple(far[limited].tolist()),
            bounds=bounds,
        )


_BRAKES = 0.999
"""The share of the acceleration that stopping is planned with; the rest takes up rounding."""


@dataclass(frozen=True, eq=False)
class AccelerationLimit(Limit):
    """Every velocity stays within a_max dt of the last one, and can be brought to rest in time.

    Positions stay within (v - a_max dt) dt and (v + a_max dt) dt of where the move began, and are
    such that braking by a_max, step by step, ends before the limits of position: v² <= 2 a d,
    made exact for steps of ``dt``. So the next step always has an answer, if this one had.

    ``dt`` in seconds; ``a_max`` in rad/s² or m/s²: one number, an array (nv,), or a mapping of
    joint names, which leaves the others free. ``v`` (nv,) is the velocity of the last step, or is
    given for each call under the name "acceleration".

    Limits may exclude each other where the last velocity already was too high: position is kept
    first, then velocity, then acceleration; of the acceleration limit, its size before stopping in
    time: a joint that cannot stop in time brakes as hard as it may, and ends at its limit at once.

    Source of the condition: A. Del Prete, "Joint position and velocity bounds in discrete-time
    acceleration/torque control of robot manipulators", IEEE Robotics and Automation Letters 3
    (2018); its closed form for steps is derived at `_way_to_stop`.

    Raises (`bind`): UnsupportedFeatureError where a floating or spherical joint is to be
    limited.
    """

    dt: float
    a_max: PerJoint
    v: ArrayLike | None = None

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        dt = finite_number(self.dt, "AccelerationLimit.dt", above=0.0)
        what = "AccelerationLimit.a_max"
        a_max = per_joint(m, self.a_max, what)
        if np.any(a_max == 0.0):
            joint = m.joint_of_v(int(np.flatnonzero(a_max == 0.0)[0]))
            raise InputError(f"{what} of joint '{joint}' must be above 0")
        with np.errstate(over="ignore"):
            change = a_max * dt * dt * (1.0 - ROUNDING)
        limited = np.flatnonzero(np.isfinite(change)).tolist()
        positions = [position_of_velocity(m, k, "AccelerationLimit") for k in limited]

        def rows_of(v: ArrayLike) -> Floats:
            return np.array(finite_rows(v, "limit 'acceleration': v", m.n_v))

        def bounds(o: Ops, where: Where, settings: Block, numbers: Block) -> Mapping[int, Interval]:
            found: dict[int, Interval] = {}
            for i, (k, index) in enumerate(zip(positions, limited, strict=True)):
                begin, last, most = where.start[k], settings[0] * numbers[index], settings[1 + i]
                blur = ROUNDING * (o.absolute(begin) + o.absolute(last) + most)
                change = o.maximum(0.0, most - blur)
                lower, upper = begin + (last - change), begin + (last + change)
                lowest, highest = where.room.get(k, (None, None))
                below, above = lower, upper  # from where it can stop
                if lowest is not None:
                    below = begin - _way_to_stop(o, begin - lowest, most)
                if highest is not None:
                    above = begin + _way_to_stop(o, highest - begin, most)
                found[k] = (
                    o.minimum(o.maximum(lower, below), upper),
                    o.maximum(o.minimum(upper, above), lower),
                )
            return found

        return BoundLimit(
            name="acceleration",
            key=f"acceleration {positions}",
            rank=ACCELERATION,
            positions=tuple(positions),
            needs_start=True,
            settings=(dt, *change[limited].tolist()),
            n_numbers=m.n_v,
            rows_of=rows_of,
            numbers=None if self.v is None else rows_of(self.v),
            bounds=bounds,
        )


def _way_to_stop(o: Ops, room: Block, most: Block) -> Block:
    """The longest first step from which one can stop within ``room``, each shorter by ``most``.

    With u = step / most and r = room / most: the steps u, u - 1, ... down to 0 add up to
    (n + 1) u - n (n + 1) / 2 with n = floor(u), so u = r / (n + 1) + n / 2, where n is the largest
    whole number with n (n + 1) / 2 <= r. Both sides meet where n changes: rounding does no harm.
    """
    most = _BRAKES * most
    ratio = o.maximum(0.0, room) / most
    n = o.floor(0.5 * (o.sqrt(1.0 + 8.0 * ratio) - 1.0))
    return most * (ratio / (n + 1.0) + 0.5 * n)


@dataclass(frozen=True, eq=False)
class CoupledLimit(Limit):
    """The limits of ``joint`` depend on the position of ``other``.

    ``table`` (k, 3) has the other's position, ascending, and the joint's lower and upper limit
    there: linear in between, constant before the first row and after the last. Where the limits of
    the other depend on this joint too, give a second limit the other way round.

    Raises (`bind`): UnknownNameError; ShapeError, InputError for the table and coupled joints;
    UnsupportedFeatureError for planar, floating and spherical joints.
    """

    joint: str
    other: str
    table: ArrayLike

    def bind(self, m: Mechanism) -> BoundLimit:
        """The limit for one mechanism (see `Limit.bind`)."""
        c_joint, k_joint = single_position(m, self.joint, "CoupledLimit.joint")
        c_other, k_other = single_position(m, self.other, "CoupledLimit.other")
        if c_joint == c_other:
            raise InputError(f"CoupledLimit: joint '{self.joint}' cannot depend on itself")
        table = np.array(finite_rows(self.table, "CoupledLimit.table", 3))
        if table.ndim != 2 or not len(table):
            raise ShapeError(f"CoupledLimit.table must have shape (k, 3), not {table.shape}")
        if np.any(np.diff(table[:, 0]) <= 0.0):
            raise InputError("CoupledLimit.table: the other's positions must ascend by the row")
        if crossed := np.flatnonzero(table[:, 1] > table[:, 2]).tolist():
            raise InputError(
                f"CoupledLimit.table: row {crossed[0]} has its lower limit above its upper"
            )
        n = len(table)
        with np.errstate(over="ignore"):
            slopes = np.diff(table[:, 1:], axis=0) / np.diff(table[:, :1], axis=0)
        if not np.isfinite(slopes).all():
            raise InputError("CoupledLimit.table is too steep: two rows are too near to each other")

        def bounds(
            o: Ops, where: Where, settings: Block, _numbers: Block
        ) -> Mapping[int, Interval]:
            lower, upper = settings[n], settings[n + 1]
            for i in range(n - 1):
                at, after = settings[i], settings[i + 1]
                done = o.minimum(o.maximum(where.q[k_other], at), after) - at
                lower = lower + settings[n + 2 + 2 * i] * done
                upper = upper + settings[n + 3 + 2 * i] * done
            return {k_joint: (lower, upper)}

        return BoundLimit(
            name=f"{self.joint} by {self.other}",
            key=f"coupled {k_joint} {k_other} {n}",
            rank=POSITION,
            positions=(k_joint,),
            coordinates=(c_joint, c_other),
            coupled=True,
            settings=(*table[:, 0].tolist(), *table[0, 1:].tolist(), *slopes.ravel().tolist()),
            bounds=bounds,
        )
