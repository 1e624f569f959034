"""Loops and tasks that are kept along a path, and the ways of configurations back onto them.

Two ways, with the same calls. Where actuated joints, each for itself, say where a mechanism with
loops is, these joints *drive*: the others are followed on their branch of assembly, past no
singularity (`solve.closed.assembly`). Otherwise configurations are *projected*: from wherever one
is, Gauss-Newton steps of least norm (`solve.ik`) lead to where loops are closed and tasks done.

Source: M. Stilman, Global manipulation planning in robot joint space with task constraints, IEEE
Transactions on Robotics 26 (2010); the projection is that of its retraction.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.distances import RECORD
from linkwork.collision.motion import short_ways, turns_of
from linkwork.collision.rooms import NativeCheck, NativeNearest
from linkwork.compile.kernel import Kernel, Part, build, rows_of
from linkwork.compile.numpy_abi import address as _at
from linkwork.compile.numpy_abi import aligned
from linkwork.compile.recipe import algorithm_recipe, expression_recipe
from linkwork.compile.typed import library
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.position_limits import limited_angles
from linkwork.ops.protocol import Block, Ops
from linkwork.planning import kept_steps
from linkwork.planning.kept_steps import DRIVEN, FREE, LANES, PROJECTED
from linkwork.solve.inputs import Options
from linkwork.solve.result import UNITS
from linkwork.solve.tasks import BoundTask, Closed, beyond_slack, has_slack

if TYPE_CHECKING:
    from linkwork.compile.compiler import Compiler
    from linkwork.solve.closed.assembly import Assembly
    from linkwork.solve.ik import InverseKinematics
    from linkwork.solve.program import Listed

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

CLOSER = 1e-2  # the share of its tolerance to which a task is brought: the rest is for in between
_LOOPS = 1e6  # times 1e-12: how far open (m, rad) loops of a start or a goal may be
_TOGETHER = 1024  # configurations between two looks at Ctrl-C
_STEPS = 12  # of one projection


class Kept:
    """Configurations that stay inside the limits, and nothing else is asked of them.

    ``lengths`` (nv,) are 1 for angles and the mechanism's length for what slides. Threads may share
    it.
    """

    driven = False
    way = FREE

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        *,
        compiler: Compiler,
        tasks: Sequence[BoundTask] = (),
    ) -> None:
        self.mechanism, self.planned = mechanism, planned
        self.tasks, self._compiler = tuple(tasks), compiler
        self.unit = 1.0 / np.asarray(lengths, np.float64)
        self.given = self.others = self.given_v = self.others_v = np.zeros(0, np.int64)
        self._rooms: list[Room] = []
        self.steering = np.zeros(mechanism.n_v, bool)
        moving = set(planned.tolist())
        for c in range(len(mechanism.joint_types)):
            if int(mechanism.q_start[c]) in moving:
                self.steering[mechanism.v_slice(c)] = True
        self.endless = _endless(mechanism)
        self._turns = turns_of(mechanism)
        self.limited = limited_angles(mechanism, range(mechanism.n_q))

    def unwound(self, path: Floats) -> Floats:
        """A path (k, nq) without whole turns between its points, and signs of quaternions alike."""
        path, endless = path.copy(), self.endless[0]
        turns = np.round(np.diff(path[:, endless], axis=0) / (2.0 * np.pi))
        path[1:, endless] -= 2.0 * np.pi * np.cumsum(turns, axis=0)
        for at in self._turns[:, 0].tolist():
            own = path[:, at : at + 4]
            alike = np.where((own[1:] * own[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
            own[1:] *= np.cumprod(alike)[:, None]
        return path

    def straight(self, a: Floats, b: Floats, t: Floats) -> Floats:
        """The configurations at shares t (k,) of the straight motions from a to b (k, nq).

        They go the short way, as `CollisionModel.motion_collides` has them.
        """
        start, stop = short_ways(self._turns, a, b)
        change, endless = stop - start, self.endless[0]
        change[:, endless] -= 2.0 * np.pi * np.round(change[:, endless] / (2.0 * np.pi))
        q = start + t[:, None] * change
        for at in self._turns[:, 0].tolist():
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
        return q

    def gap(self, a: Floats, b: Floats) -> Floats:
        """The velocities (k, nv) that lead from a (k, nq) to b in a time of 1, the short way."""
        found = np.empty((len(a), self.mechanism.n_v))
        self._called("gap_rows", _rows(a), _rows(b), found)
        return found

    def size(self, v: Floats) -> Floats:
        """The size (k,) of velocities, in radians over all joints that steer."""
        return np.linalg.norm((v * self.unit)[:, self.steering], axis=1)

    def whole_size(self, v: Floats) -> Floats:
        """The size (k,) of velocities, in radians over all joints."""
        return np.linalg.norm(v * self.unit, axis=1)

    def onto(self, x: Floats, near: Floats) -> tuple[Floats, Flags]:
        """Configurations (k, nq) that keep what is kept, next to x and on the branch of ``near``.

        And flags: where it is False there is none.
        """
        found, ok = np.empty(x.shape), np.empty(len(x), np.int64)
        x, near = x.copy(), _rows(near)
        for k in range(0, len(x), _TOGETHER):
            some = slice(k, k + _TOGETHER)
            self._called("onto", x[some], near[some], found[some], ok[some])
        return found, ok.astype(bool)

    def room(self) -> Room:
        """The memory of one thread; see `give_back`."""
        try:
            return self._rooms.pop()
        except IndexError:
            return Room(self)

    def give_back(self, room: Room) -> None:
        """Let others use what `room` gave."""
        self._rooms.append(room)

    def solvers(self) -> tuple[list[Listed], Listed | None]:
        """Solvers of tasks, and one that follows branches, for one thread."""
        return [], None

    @cached_property
    def maps(self) -> list[Part]:
        """The compiled `integrate` and `difference` where joints turn about any axis; else none."""
        m = self.mechanism
        if not any(kind.has_quaternion for kind in m.joint_types):
            return []
        recipes = [algorithm_recipe(name, m) for name in ("integrate", "difference")]
        return [rows_of(recipe, self._compiler).vector_part() for recipe in recipes]

    def lend_rates(self, room: Room) -> None:
        """Give a room the compiled rates of what follows; nothing does here."""

    @cached_property
    def calls(self) -> dict[str, Any]:
        """The compiled steps by name."""
        code = library(kept_steps.KERNELS, self._compiler, "motions that keep something")
        kind, address = ctypes.c_int64, code.address
        found: dict[str, Any] = {
            name: ctypes.CFUNCTYPE(None, *[kind] * count)(address(name))
            for name, count in (("gap_rows", 5), ("onto", 6))
        }
        found["trace"] = ctypes.CFUNCTYPE(*[kind] * 4)(address("trace"))
        found["smooth"] = ctypes.CFUNCTYPE(*[kind] * 5)(address("smooth"))
        found["nearest"] = ctypes.CFUNCTYPE(None, *[kind] * 6)(address("nearest_nodes"))
        number = ctypes.c_double
        found["add"] = ctypes.CFUNCTYPE(None, *[kind] * 5, number, kind)(address("add_nodes"))
        return {**found, "code": code}

    def _called(self, name: str, a: Floats, b: Floats, *out: Any) -> None:
        """Call one of the compiled steps for rows."""
        room = self.room()
        self.calls[name](room.at, _at(a), _at(b), len(a), *map(_at, out))
        self.give_back(room)

    def between(self, a: Floats, b: Floats, t: Floats) -> tuple[Floats, Flags]:
        """The configurations at the shares t (k,) of the way from a to b (k, nq), and flags."""
        return self.onto(self.straight(a, b, t), a)

    def what_is_off(self, q: Floats, what: str) -> str:
        """The words for what is not kept at q (nq,); empty where all is."""
        if not self.tasks:
            return ""
        off = [
            f"'{name}' is {error:.3g}{unit} off, allowed is {most:.3g}"
            for (name, unit, most), error in zip(self.terms, self.errors(q[None])[0], strict=True)
            if error > most * (1.0 + 1e-6)
        ]
        told = f"{what} does not keep what is to be kept: {'; '.join(off)}"
        return told if off else ""

    @cached_property
    def terms(self) -> list[tuple[str, str, float]]:
        """The terms that are kept: of each group of rows the name, the unit and the tolerance."""
        found: list[tuple[str, str, float]] = []
        for task in self.tasks:
            loops = isinstance(task.task, Closed)
            for group, tolerance in zip(task.groups, task.tolerances, strict=True):
                most = _LOOPS * tolerance if loops else tolerance
                found.append((group.name if loops else task.name, UNITS[group.unit], most))
        return found

    def errors(self, q: Floats) -> Floats:
        """The errors (k, groups) at q (k, nq), beyond slack, in the order of `terms`."""
        kernel, numbers = self._measures
        squared = np.asarray(kernel(q, numbers))
        groups = [group for task in self.tasks for group in task.groups]
        every = [group.error(squared[:, j]) for j, group in enumerate(groups)]
        return np.stack(every, axis=1) if every else np.zeros((len(q), 0))

    def done(self, q: Floats) -> bool:
        """Whether all is kept at all of q (k, nq)."""
        most = np.array([most for _, _, most in self.terms])
        return not self.tasks or bool((self.errors(q) <= most).all())

    @cached_property
    def _measures(self) -> tuple[Any, Floats]:
        """The compiled squares of errors, and the targets and slacks that go in."""
        m, tasks = self.mechanism, self.tasks
        targets = [np.zeros(0) if t.target is None else np.ravel(t.target) for t in tasks]
        numbers = np.concatenate([np.ones(1), *targets, *(np.array(t.slack) for t in tasks)])
        slack_from = 1 + sum(map(len, targets))

        def measured(o: Ops, q: Block, numbers: Block) -> dict[str, Block]:
            place, slack, found = 1, slack_from, list[Block]()
            for task, target in zip(tasks, targets, strict=True):
                at = task.residual(o, q, o.part(numbers, place, place + len(target)))
                place += len(target)
                if has_slack(task.task):
                    own = o.part(numbers, slack, slack + len(task.slack))
                    at = beyond_slack(o, at, own, task.groups)
                slack += len(task.slack)
                found += at.squared
            return {"squared": o.vector(found)}

        key = ("planning", "kept", m.digest, *(task.key for task in tasks))
        sizes = {"q": m.n_q, "numbers": len(numbers)}
        recipe = expression_recipe(key, "kept", sizes, measured)
        return build(recipe, compiler=self._compiler), numbers

    def features(self, q: Floats) -> Floats:
        """Numbers (k, f) whose Euclidean distance tells which configurations are near."""
        plain, units, turning, quaternions = self._features
        angles = q[:, turning]
        found = [q[:, plain] * units, np.cos(angles), np.sin(angles)]
        for at in quaternions:  # products, whatever the sign: by a small angle that far apart
            wxyz = q[:, at : at + 4]
            products = np.sqrt(2.0) * wxyz[:, :, None] * wxyz[:, None]
            found.append(products.reshape(-1, 16))
        return np.concatenate(found, axis=1)

    @cached_property
    def _features(self) -> tuple[list[int], Floats, list[int], list[int]]:
        """The numbers of q that steer: those compared, and by what; angles; quaternions."""
        m, plain, units = self.mechanism, list[int](), list[float]()
        turning, quaternions = list[int](), list[int]()
        for c, kind in enumerate(m.joint_types):
            own, own_v = m.q_slice(c), m.v_slice(c)
            if not self.steering[own_v].any():
                continue
            if kind.has_quaternion:
                quaternions.append(own.start + kind.n_lengths)
            for k in range(kind.n_lengths if kind.has_quaternion else own.stop - own.start):
                if self.endless[0][own.start + k]:
                    turning.append(own.start + k)
                else:
                    plain.append(own.start + k)
                    units.append(float(self.unit[own_v.start + k]))
        return plain, np.array(units), turning, quaternions

    def drawn(self, u: Floats, low: Floats, high: Floats, near: Floats) -> Floats:
        """Configurations (k, nq) to grow towards: u (k, n) shares of the ranges of what is planned.

        Those that cannot be kept tell a direction all the same. ``near`` (nq,) has the rest.
        """
        q = np.tile(near, (len(u), 1))
        q[:, self.planned] = low + u * (high - low)
        places = {k: place for place, k in enumerate(self.planned.tolist())}
        for at in self._turns[:, 0].tolist():
            if at in places:
                first = places[at]
                q[:, at : at + 4] = _quaternions(u[:, first : first + 3])
        found, ok = self.onto(q, np.tile(near, (len(u), 1)))
        return np.where(ok[:, None], found, q)


class Driven(Kept):
    """Loops kept closed: the actuated joints drive, the others follow on their branch."""

    driven = True
    way = DRIVEN

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        assembly: Assembly,
        rates: Callable[[], Kernel],
        *,
        steering: Sequence[str],
        compiler: Compiler,
    ) -> None:
        """``steering``: names of what drives: actuated joints, and those that no loop has.

        ``rates``: what all joints do by the speeds of the actuated ones (nv, n_actuated), and a
        doubt, compiled when it is asked for.
        """
        closed = [Closed().bind(mechanism)]
        super().__init__(mechanism, planned, lengths, tasks=closed, compiler=compiler)
        m = mechanism
        self._assembly, self._rates = assembly, rates
        self.given = np.array(assembly.given)
        self.given_v = np.array(m.v_indices([m.joint(name) for name in assembly.actuated]))
        others = [name for name in steering if name not in assembly.actuated]
        self.others = np.array(m.q_indices([m.joint(name) for name in others]), np.int64)
        self.others_v = np.array(m.v_indices([m.joint(name) for name in others]), np.int64)
        self.steering = np.zeros(m.n_v, bool)
        self.steering[list(m.v_indices([m.joint(name) for name in steering]))] = True

    def solvers(self) -> tuple[list[Listed], Listed | None]:
        """See `Kept.solvers`."""
        return [], self._assembly.listed(LANES)

    def lend_rates(self, room: Room) -> None:
        """See `Kept.lend_rates`."""
        kernel = self._rates_of
        room.use(kernel.rows.scalar_part(), kernel.signature.output_sizes[0])

    @cached_property
    def _rates_of(self) -> Kernel:
        return self._rates()

    def drawn(self, u: Floats, low: Floats, high: Floats, near: Floats) -> Floats:
        """See `Kept.drawn`: of the joints that steer, the others are as they were."""
        q = np.tile(near, (len(u), 1))
        every = q.copy()
        every[:, self.planned] = low + u * (high - low)
        own = [*self.given, *self.others]
        q[:, own] = every[:, own]
        return q


class Projected(Kept):
    """Tasks, and loops where there are some, kept by projection.

    Where ``assembly`` is given, a projection must also be where its actuated joints lead on the
    branch that it comes from.
    """

    way = PROJECTED

    def __init__(
        self,
        mechanism: Mechanism,
        planned: Integers,
        lengths: Sequence[float],
        solver: InverseKinematics,
        tasks: Sequence[BoundTask],
        *,
        compiler: Compiler,
        assembly: Assembly | None,
    ) -> None:
        super().__init__(mechanism, planned, lengths, tasks=tasks, compiler=compiler)
        self._solver, self._assembly = solver, assembly
        self._options = Options(tries=1, steps=_STEPS, nearest_miss=False)
        if assembly is not None:
            self.given = np.array(assembly.given)

    def solvers(self) -> tuple[list[Listed], Listed | None]:
        """See `Kept.solvers`."""
        follower = None if self._assembly is None else self._assembly.listed(LANES)
        return self._solver.listed(self._options, LANES), follower


class Room:
    """The memory in which one thread brings configurations onto what is kept, and traces motions.

    ``at`` is the address of the record of what is kept, ``motions`` the record of motions.
    """

    def __init__(self, kept: Kept) -> None:
        m, maps = kept.mechanism, kept.maps
        solvers, follower = kept.solvers()
        halves = [(int(m.q_start[c]), 0.5 * m.angle_limit[c] * (1.0 - 1e-12)) for c in kept.limited]
        limited = np.array([[at, np.cos(half), np.sin(half)] for at, half in halves])
        endless = [flags.astype(np.int64) for flags in kept.endless]
        records = [_record_of(each) for each in solvers]
        following = None if follower is None else _record_of(follower)
        own = (
            *(aligned(max([1, *(part.scratch for part in maps)])), m.lower, m.upper, *endless),
            *(kept.unit, np.where(kept.steering, kept.unit, 0.0), limited),
            *(kept.given.astype(np.int64), kept.others.astype(np.int64)),
            np.array([_at(record) for record in records], np.int64),
            *(np.empty((LANES, m.n_q)), np.empty((LANES, m.n_v)), np.empty(LANES, np.int64)),
            *(kept.given_v.astype(np.int64), kept.others_v.astype(np.int64)),
        )
        at = [_at(array) for array in own]
        calls = [part.made.code.address("rows") for part in maps] or [0, 0]
        record = np.array(
            [
                *(m.n_q, m.n_v, calls[1], calls[0], *at[:8], len(limited), kept.way),
                *(at[8], len(kept.given), at[9], len(kept.others)),
                *(0 if following is None else _at(following), at[10], len(records), *at[11:]),
                *(0, 0, 0),
            ],
            np.int64,
        )
        self._record, self._kept = record, (own, records, following, solvers, follower)
        self.at = _at(record)
        self.motions, self.smoothing = Motions(m), Smoothing(m)

    def use(self, rates: Part, size: int) -> None:
        """Take the rates of what follows, so many numbers, from here on."""
        room = aligned(rates.scratch + 1), np.empty(size)
        self._rates = *room, rates
        self._record[kept_steps.RATES :] = rates.made.code.address("rows"), *map(_at, room)


class Motions:
    """Room for motions that are traced side by side; ``record`` is that of `kept_steps`."""

    def __init__(self, m: Mechanism) -> None:
        n_q, n_v = m.n_q, m.n_v
        self.ends = np.empty((2, LANES, n_q))
        self.scale, self.length = np.empty(LANES), np.empty(1)
        self.states = np.empty((3, LANES), np.int64)  # going, arrived, counts
        self.ways = np.empty((LANES, 1, n_q))
        work = [np.empty((LANES, n)) for n in (n_q, n_q, n_v, n_v, 1, n_q, n_q)]
        flags = np.empty((3, LANES), np.int64)
        self._kept = work, flags
        self.record = record = np.zeros(kept_steps.MOTIONS, np.int64)
        record[kept_steps.VERDICTS] = _at(flags[2])
        record[kept_steps.NOW : kept_steps.WAYS] = [
            *(_at(self.ends), _at(self.ends[1]), _at(self.scale), *map(_at, self.states))
        ]
        record[kept_steps.LENGTH] = _at(self.length)
        record[kept_steps.BEFORE :] = [*map(_at, work), _at(flags), _at(flags[1])]
        self.at = _at(record)

    def prepare(self, check: NativeCheck, step: float) -> None:
        """Say what is checked, and how long steps are."""
        record, self.length[:] = self.record, step
        record[kept_steps.CHECK], record[kept_steps.CHECKED] = check.function, check.arguments
        record[kept_steps.ROUND : kept_steps.CHECKS + 1] = 0

    def begin(self, start: Floats, goal: Floats, most: int) -> None:
        """Begin motions between ends (k, nq), of so many steps at most."""
        n, record = len(start), self.record
        if most > self.ways.shape[1]:
            self.ways = np.empty((LANES, most, start.shape[1]))
        self.ends[0, :n], self.ends[1, :n] = start, goal
        self.scale[:], self.states[0], self.states[1:] = 1.0, 1, 0
        record[kept_steps.N], record[kept_steps.MOST] = n, most
        record[kept_steps.WAYS], record[kept_steps.ROUND] = _at(self.ways), 0

    @property
    def steps(self) -> int:
        """The number of steps that were made."""
        return int(self.record[kept_steps.STEPS])

    @property
    def checks(self) -> int:
        """The number of configurations that were looked at."""
        return int(self.record[kept_steps.CHECKS])

    def found(self) -> tuple[list[Floats], Flags]:
        """The ways (k, nq) of all motions, and who arrived."""
        n, most = self.record[kept_steps.N], self.record[kept_steps.MOST]
        ways = self.ways.reshape(-1, self.ways.shape[2])
        counts = self.states[2, :n].tolist()
        found = [ways[k * most : k * most + count].copy() for k, count in enumerate(counts)]
        return found, self.states[1, :n].astype(bool)


class Smoothing:
    """Room for a path that is made smoother; ``record`` is that of `kept_steps`."""

    def __init__(self, m: Mechanism) -> None:
        self.record = np.zeros(kept_steps.SMOOTHED, np.int64)
        self.at, self.clearance = _at(self.record), np.zeros(1)
        pairs = kept_steps.PUSHING
        self._work = [np.empty(n) for n in (pairs * RECORD, pairs * m.n_v, m.n_v)]
        self.record[kept_steps.CLEARANCE :] = [_at(self.clearance), *map(_at, self._work)]

    def begin(self, path: Floats, n_v: int, near: NativeNearest | None) -> None:
        """Begin with a path (n, nq), which is changed; ``near``: what it is to stay away from."""
        self._moves = np.empty((2, len(path), n_v)), np.zeros(len(path), np.int64), path
        self.record[: kept_steps.CLEARANCE] = [
            *(_at(path), len(path), 0, _at(self._moves[1]), *map(_at, self._moves[0])),
            0 if near is None else _at(near.numbers),
        ]

    @property
    def turns(self) -> int:
        """The number of rounds that were made."""
        return int(self.record[kept_steps.TURNS])


def _record_of(solver: Listed) -> Integers:
    """The record of a solver; see `kept_steps`."""
    target = _at(solver.targets[0]) if solver.targets else 0
    places = (target, _at(solver.q0), _at(solver.q), _at(solver.report), solver.report.shape[1])
    return np.array([solver.function, solver.arrays, *places], np.int64)


def _rows(a: Floats) -> Floats:
    return np.ascontiguousarray(a, np.float64)


def _endless(m: Mechanism) -> tuple[Flags, Flags]:
    """Flags of q and of v: angles that turn without limits."""
    of_q, of_v = np.zeros(m.n_q, bool), np.zeros(m.n_v, bool)
    for c, kind in enumerate(m.joint_types):
        if kind.has_quaternion:
            continue
        own = m.q_slice(c)
        free = np.isinf(m.lower[own]) & np.isinf(m.upper[own])
        free &= np.arange(len(free)) >= kind.n_lengths
        of_q[own] = free
        of_v[m.v_slice(c)] = free
    return of_q, of_v


def _quaternions(u: Floats) -> Floats:
    """Rotations (k, 4), evenly spread, for three shares (k, 3): K. Shoemake, 1992."""
    a, b, c = u.T
    left, right = np.sqrt(1.0 - a), np.sqrt(a)
    b, c = 2.0 * np.pi * b, 2.0 * np.pi * c
    return np.stack(
        [right * np.cos(c), left * np.sin(b), left * np.cos(b), right * np.sin(c)], axis=1
    )


__all__ = ["CLOSER", "Driven", "Kept", "Projected"]
