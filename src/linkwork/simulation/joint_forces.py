"""Forces of single joints: actuators, stops at the limits, and Coulomb friction.

Friction and bounded drives jump or have a kink, and are solved for at the end of a step.
Coulomb friction of a joint may be anything up to its size while the joint stands, and a drive with
a bounded effort has a kink where it saturates. Methods that evaluate such forces chatter about
them. Here they are unknowns: with s the joints' velocities at the end of a step without them, and S
what a force that acts through the step adds to these, the forces lam and the velocities

    w = s + S lam,    -lam_i in F_i(w_i)

belong together, F_i the joint's own monotone law. S is positive definite (semidefinite with loops),
so w is unique. This is the velocity-level time stepping of Moreau and Jean, joint by joint.

Friction over a step in which its joint comes to rest is the mean of what acts until then and of
what acts after: for constant forces on one joint that is exact, and friction works against the
motion in each part of the step.

An iteration is a sweep of Gauss and Seidel, which lowers a convex function and so always converges,
and a step of Newton from where the sweep leads, whole or to the next bound, where that leaves less.
One or two iterations are the rule.

Source: M. Jean, "The non-smooth contact dynamics method", Computer Methods in Applied Mechanics and
Engineering 177 (1999); P. Alart, A. Curnier, "A mixed formulation for frictional contact problems
prone to Newton like solution methods", the same journal 92 (1991).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.configuration import difference
from linkwork.checks import finite_number
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.protocol import Block, Ops

Given: TypeAlias = Mapping[str, Block]
"""Blocks that enter an expression besides q and v, by name."""


@dataclass(frozen=True, eq=False)
class PD:
    """Proportional-derivative control of the joints, with a force fed forward.

    tau = feed_forward + kp (q_target - q) + kd (v_target - v), bounded by ``effort_limit`` where
    that is given. Each of them is a number, an array (..., nv), {joint: number}, or a function of
    time that gives one of these; joints that are not named have zero. Where a mechanism says which
    joints are actuated, one number is for these alone, and an array may have their numbers alone;
    where none does, one number is for all joints but floating ones.
    ``q_target`` is (..., nq), of the actuated joints, or by name, by default where the simulation
    begins. Where it is a trajectory (`linkwork.trajectory`), its velocities are ``v_target`` unless
    that is given; where it is one of some joints, by their names, the others' targets are where the
    simulation begins. A floating joint's error is the twist in its own axes that leads to the
    target (`Robot.difference`), a spherical joint's the rotation vector.
    """

    kp: Any
    kd: Any = 0.0
    q_target: Any = None
    v_target: Any = None
    feed_forward: Any = None
    effort_limit: Any = None

    def fields(self) -> dict[str, Any]:
        """The fields that are given, by name."""
        named = {name: getattr(self, name) for name in PD_FIELDS}
        velocities = getattr(self.q_target, "velocity", None)
        if named["v_target"] is None and callable(velocities):
            named["v_target"] = velocities
        return {name: value for name, value in named.items() if value is not None}


PD_FIELDS = ("kp", "kd", "q_target", "v_target", "feed_forward", "effort_limit")

Floats = NDArray[Any]


def drive_forces(
    o: Ops, m: Mechanism, q: Block, v: Block, given: Given, *, without: Sequence[int] = ()
) -> Block | None:
    """The forces (nv,) of the actuators, but for those ``without``; None where there are none."""
    if "torque" in given:
        return given["torque"]
    if "kp" not in given:
        return None
    pushed = unbounded_drives(o, m, q, v, given)
    if "effort_limit" not in given:
        return pushed
    most = given["effort_limit"]
    return o.vector(
        [
            0.0 if k in without else o.maximum(o.minimum(pushed[k], most[k]), -1.0 * most[k])
            for k in range(m.n_v)
        ]
    )


def unbounded_drives(o: Ops, m: Mechanism, q: Block, v: Block, given: Given) -> Block:
    """The forces (nv,) of proportional-derivative control before they are bounded."""
    way = difference(o, m, q, given["q_target"])
    speed = given["v_target"] - v if "v_target" in given else -v
    kp, kd = given["kp"], given["kd"]
    pushed = o.vector([kp[k] * way[k] + kd[k] * speed[k] for k in range(m.n_v)])
    return pushed + given["feed_forward"] if "feed_forward" in given else pushed


# --- stops: joint limits as springs and dampers, which push back and never pull ---


@dataclass(frozen=True, eq=False)
class Stops:
    """Compliant stops at the joint limits.

    Beyond its limit a joint is pushed back with ``stiffness`` times how far it is beyond (N m/rad,
    N/m) and ``damping`` times its speed (N m s/rad, N s/m); the two together never pull it on. The
    damping sets in over the first ``width`` (rad, m), so that no force jumps. Stiffness and damping
    are numbers, or arrays (..., n) over the joints that are meant: those named in ``joints``, by
    default every joint that has a limit. Where they are not given, a joint with the inertia that it
    has at q0, the others free, swings back critically damped in ``time`` (s): some ten steps. A
    spherical joint is turned back about the axis that it is turned by; of its three inertias the
    least counts.
    """

    stiffness: Any = None
    damping: Any = None
    joints: str | Sequence[str] | None = None
    time: float = 0.01
    width: float = 1.0e-3

    def __post_init__(self) -> None:
        for name in ("time", "width"):
            finite_number(getattr(self, name), f"Stops: {name}", above=0.0)


def limited(m: Mechanism, joints: str | Sequence[str] | None) -> tuple[int, ...]:
    """The coordinates with stops.

    Raises: UnknownNameError; InputError for a joint that has no limit, or where none has.
    """
    one = [c for c in range(len(m.joint_types)) if np.isfinite(_limits(m, c)).any()]
    if joints is None:
        if not one:
            raise InputError(f"'{m.name}' has no joint with a limit, so there is nothing to stop")
        return tuple(one)
    named = [joints] if isinstance(joints, str) else list(joints)
    wanted = [m.joint(name) for name in named]
    for c in wanted:
        if c not in one:
            kind = m.joint_types[c].label
            able = m.joint_types[c].n_q == 1 or m.joint_types[c] is JointType.SPHERICAL
            what = "has no limit" if able else f"is {kind}"
            raise InputError(f"joint '{m.joint_names[c]}' {what}, so no stop can hold it")
    return tuple(sorted(set(wanted)))


def stop_forces(
    o: Ops, m: Mechanism, q: Block, v: Block, stopped: Sequence[int], given: Mapping[str, Block]
) -> Block:
    """The forces (nv,) of the stops of these coordinates."""
    forces: list[Block] = [0.0] * m.n_v
    thin = given["stop_width"][0]  # one over the width
    for k, c in enumerate(stopped):
        at, outward, position, speed = _along(o, m, q, v, c)
        spring, damper = given["stop_stiffness"][k], given["stop_damping"][k]
        force: Block = o.const(0.0)
        for limit, side in zip(_limits(m, c), (-1.0, 1.0), strict=True):
            if not np.isfinite(limit):
                continue
            depth = side * (position - float(limit))  # how far beyond
            share = o.minimum(thin * depth, 1.0)
            inward = damper * (side * speed)
            pressure = spring * depth + share * inward
            active = o.both(o.less(0.0, depth), o.less(0.0, pressure))
            force = force - side * o.select(active, pressure, 0.0)
        forces[at : at + len(outward)] = [force * n for n in outward]
    return o.vector(forces)


def _along(
    o: Ops, m: Mechanism, q: Block, v: Block, c: int
) -> tuple[int, list[Block], Block, Block]:
    """The start of a joint's velocities, their share in its position, position and speed.

    The position of a spherical joint is the angle that it is turned by.
    """
    at, first = int(m.v_start[c]), int(m.q_start[c])
    if m.joint_types[c] is not JointType.SPHERICAL:
        return at, [1.0], q[first], v[at]
    w, u = q[first], o.part(q, first + 1, first + 4)
    length = o.sqrt(o.dot(u, u) + _LEAST * _LEAST)
    sign = o.select(o.less(w, 0.0), -1.0, 1.0)
    n = [sign * u[k] / length for k in range(3)]
    speed = sum((n[k] * v[at + k] for k in range(3)), o.const(0.0))
    return at, n, 2.0 * o.atan2(length, o.absolute(w)), speed


_LEAST = 1.0e-12
"""The angle (rad) below which a rotation is none: no limit is near and no axis counts."""


def bounds(m: Mechanism, stopped: Sequence[int]) -> list[tuple[int, int, float, float]]:
    """Place of each stopped coordinate in q and in v, and its limits.

    A spherical joint counts as beyond them always: no one number of it tells.
    """
    beyond = (np.inf, -np.inf)
    return [
        (
            int(m.q_start[c]),
            int(m.v_start[c]),
            *(beyond if m.joint_types[c] is JointType.SPHERICAL else _limits(m, c)),
        )
        for c in stopped
    ]


def _limits(m: Mechanism, c: int) -> tuple[float, float]:
    at = int(m.q_start[c])
    if m.joint_types[c] is JointType.SPHERICAL:
        return -np.inf, float(m.angle_limit[c])
    return float(m.lower[at]), float(m.upper[at])


# --- friction, and drives of a bounded effort ---

MOST_SWEEPS = 60
"""Iterations, at most."""

_NOTHING = 1.0e-300
"""Keeps quotients finite whose value does not count."""


_CLOSE, _CLOSE_IN_LOOPS = 1.0e-12, 1.0e-6
"""Velocity that may be left, beside the largest of the velocities that enter. What a step opens of
loops no friction can close, so more joints of one loop than it has freedoms stand still only up to
that; it is closed after the step."""

_REGULAR = 1.0e-12
"""A share of what a joint yields, which keeps an iteration regular in loops, where several friction
forces are one; it is nothing where the iteration ends."""

_EQUAL = 1.0 + 1.0e-6
"""Up to a bound forces also go where nothing is won: in loops they may have to."""


class Answer(NamedTuple):
    """The answer of a joint's law where the other joints' forces are known."""

    force: Block
    low: Block  # between which forces the joint stands
    high: Block
    slope: Block  # its derivative along the velocity that the others give, times the joint's yield
    detour: Block  # see `Rubbing`


Law = Callable[[Ops, Block, Block], Answer]
"""A joint's force from the end velocity that all others give, and what a force adds to it."""


@dataclass(frozen=True)
class Rubbing:
    """Coulomb friction of a joint over a step of h that it begins at the velocity ``start``.

    The detour is what the mean force misses of the way: positions move by h² times what a force of
    this size accelerates.
    """

    most: float
    start: Block

    def __call__(self, o: Ops, rest: Block, by: Block) -> Answer:
        """The mean friction of the step."""
        backward = o.less(self.start, 0.0)
        sign = o.select(backward, -1.0, 1.0)
        speed, ahead, stop = o.absolute(self.start), sign * rest, by * self.most
        slides = o.less(stop, ahead)
        turns = o.less(ahead, speed - stop)
        # the share of the step until it stands; where it slides on, any finite number
        span = o.maximum(o.maximum(speed - ahead + stop, speed), _NOTHING)
        share = speed / span
        back = stop * (1.0 - 2.0 * share)
        own = o.select(slides, -stop, o.select(turns, back, -ahead))
        slope = o.select(slides, 0.0, o.select(turns, -2.0 * share * stop / span, -1.0))
        reached = o.select(turns, ahead + back, 0.0)
        missed = speed * (1.0 - share) + reached * share
        detour = o.select(slides, 0.0, -0.5 * sign * missed)
        beyond = self.most - speed / by
        low, high = o.select(backward, -beyond, -self.most), o.select(backward, self.most, beyond)
        return Answer(sign * own / by, low, high, slope, detour / by)


@dataclass(frozen=True)
class Driving:
    """A drive of a bounded effort, and friction, at the end of a step.

    The drive pushes with ``push`` less ``gain`` times the velocity, up to ``limit``.
    """

    most: float
    push: Block
    gain: Block
    limit: Block

    def __call__(self, o: Ops, rest: Block, by: Block) -> Answer:
        """Drive and friction together."""
        bound = self.limit + self.most
        forward, forward_slope = self._driven(o, rest, by, self.most)
        if not self.most:
            return Answer(forward, -bound, bound, forward_slope, o.const(0.0))
        backward, backward_slope = self._driven(o, rest, by, -self.most)
        on, off = o.less(0.0, rest + by * forward), o.less(rest + by * backward, 0.0)
        force = o.select(on, forward, o.select(off, backward, -rest / by))
        slope = o.select(on, forward_slope, o.select(off, backward_slope, -1.0))
        return Answer(force, -bound, bound, slope, o.const(0.0))

    def _driven(self, o: Ops, rest: Block, by: Block, against: float) -> tuple[Block, Block]:
        stiff = 1.0 + by * self.gain
        free = (self.push - self.gain * (rest - by * against)) / stiff
        bounded = o.maximum(o.minimum(free, self.limit), -1.0 * self.limit)
        inside = o.less(o.absolute(free), self.limit)
        return bounded - against, o.select(inside, -by * self.gain / stiff, 0.0)


def improved(
    o: Ops,
    laws: Sequence[Law],
    rest: Sequence[Block],
    S: Sequence[Sequence[Block]],
    forces: Block,
    *,
    loops: bool = False,
) -> Block:
    """(2 n + 1,): better forces, their detours, and how much of what is allowed is left.

    ``rest`` are the end velocities without forces, ``S`` (n rows of n) what forces add to them. The
    last number is at most 1 where forces and velocities belong together, with ``loops`` but for
    what these are opened by.
    """
    n = len(laws)
    by = [o.maximum(S[i][i], _NOTHING) for i in range(n)]
    lam = [forces[i] for i in range(n)]

    def others(i: int, lam: Sequence[Block]) -> Block:
        return sum((S[i][j] * lam[j] for j in range(n) if j != i), rest[i])

    def at(lam: Sequence[Block]) -> _Point:
        return _Point(o, laws, [others(i, lam) for i in range(n)], by, list(lam))

    for i in range(n):
        lam[i] = laws[i](o, others(i, lam), by[i]).force
    best = swept = at(lam)
    change = _newton(swept, S)
    short = _room(o, swept, change)
    for share, most in ((short, _EQUAL), (o.const(1.0), 1.0)):
        reached = [own + share * x for own, x in zip(lam, change, strict=True)]
        best = best.or_better(at(reached), most)
    scale, close = o.const(0.0), _CLOSE_IN_LOOPS if loops else _CLOSE
    for i in range(n):
        scale = o.maximum(scale, o.maximum(o.absolute(rest[i]), o.absolute(by[i] * lam[i])))
    return o.vector([*best.forces, *best.detours, best.left / (close * scale + _NOTHING)])


class _Point:
    """Forces, what the laws say to them, and how far that is off (in velocity)."""

    def __init__(
        self, o: Ops, laws: Sequence[Law], rest: list[Block], by: list[Block], forces: list[Block]
    ) -> None:
        self.o, self.forces, self.by = o, forces, by
        self.answers = [law(o, x, s) for law, x, s in zip(laws, rest, by, strict=True)]
        self.detours = [answer.detour for answer in self.answers]
        self.left: Block = o.const(0.0)
        for answer, force, s in zip(self.answers, forces, by, strict=True):
            self.left = o.maximum(self.left, o.absolute(s * (answer.force - force)))

    def or_better(self, other: _Point, most: float) -> _Point:
        """The other one where ``most`` times as much is left or less; its answers do not count."""
        o, found = self.o, copy(self)
        better = o.less(other.left, most * self.left)

        def chosen(a: list[Block], b: list[Block]) -> list[Block]:
            return [o.select(better, x, y) for x, y in zip(a, b, strict=True)]

        found.forces = chosen(other.forces, self.forces)
        found.detours = chosen(other.detours, self.detours)
        found.left = o.select(better, other.left, self.left)
        return found


def _room(o: Ops, at: _Point, change: Sequence[Block]) -> Block:
    """The share of a change that keeps the forces of joints at rest within their bounds."""
    share: Block = o.const(1.0)
    for answer, force, more in zip(at.answers, at.forces, change, strict=True):
        size = o.absolute(more)
        room = o.select(o.less(more, 0.0), force - answer.low, answer.high - force)
        room = o.maximum(room, 0.0)
        stands = o.both(o.less(answer.slope, -0.999), o.less(room, size))
        share = o.minimum(share, o.select(stands, room / o.maximum(size, _NOTHING), 1.0))
    return share


def _newton(at: _Point, S: Sequence[Sequence[Block]]) -> list[Block]:
    """The change of the forces to where the laws' tangents meet.

    The rows are those of S and of its diagonal, mixed: all pivots are positive.
    """
    n = len(at.forces)
    rows: list[list[Block]] = []
    for i, answer in enumerate(at.answers):
        own = at.by[i] * (1.0 + _REGULAR)
        right = at.by[i] * (answer.force - at.forces[i])
        rows.append([*(own if i == j else -answer.slope * S[i][j] for j in range(n)), right])
    for k in range(n):
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k + 1, n + 1):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    change: list[Block] = [0.0] * n
    for i in reversed(range(n)):
        known = sum((rows[i][j] * change[j] for j in range(i + 1, n)), 0.0)
        change[i] = (rows[i][n] - known) / rows[i][i]
    return change


CREEP = 1.0e-3
"""The speed (rad/s, m/s) from which friction acts in full; a joint that sticks creeps below it."""


def smoothed_friction(o: Ops, m: Mechanism, v: Block) -> Block:
    """Coulomb friction (nv,) without the jump at rest: in proportion to speeds below `CREEP`.

    A force that jumps where a joint comes to rest leaves an adaptive step without an end.
    """
    forces: list[Block] = []
    for k, most in enumerate(m.friction.tolist()):
        share = o.maximum(o.minimum(v[k] * (1.0 / CREEP), 1.0), -1.0) if most else 0.0
        forces.append(-most * share)
    return o.vector(forces)
