"""Planners: paths of a robot's joints from a start to a goal that touch nothing, verified."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import (
    broadcast_rows,
    finite_number,
    finite_rows,
    leading_shape,
    real_rows,
    whole_number,
)
from linkwork.collision.model import CollisionModel
from linkwork.collision.motion import MORE, short_ways, turns_of
from linkwork.collision.rooms import NativeMotions
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.threads import in_parallel
from linkwork.compile.typed import library
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import labels
from linkwork.mechanism.position_limits import angle_beyond, limited_angles
from linkwork.planning.kept import Kept
from linkwork.planning.kept_search import Judge, KeptSearch, Tracer, shortened, smoothed
from linkwork.planning.search import FULL, GOALS, GOING, HELD, KERNELS, MISSED, ODD, Effort, Search
from linkwork.spatial.rotations import angle_of_quaternion

Floats = NDArray[np.float64]
Progress = Callable[[int, int], object]

_LIMIT_SLACK = 1e-9  # rad or m: so far outside its limits a joint counts as within
_FINER = 1 / 3  # how much finer motions are looked at after a path did not hold
_FINEST = 1e-4  # no finer than this part of the usual spacing
_COMPARED = 2000  # nodes of a search that failed, by which its nearest to the goal is told
_KEPT = 8  # kinds of bounds for which searches are kept
_OTHERS = 104_729  # how far apart the seeds are of searches for one problem
_LEAST_STEP = 1 / 50  # of the spacing: no finer where something is kept
_KEPT_SHORTCUTS = 4  # times as many where something is kept: they are tried side by side
_TOUCH = 1e-5  # m: what motions that are looked at without gaps must keep
_COMFORT = 5e-3  # m: so far kept paths stay away where they can, so that motions have room
_CLEAR_TRIES = 5  # paths that are looked for where one does not keep its clearance
_CLEAR = 2e-3  # rad or m: how far configurations lie apart at which clearances are looked at
_MORE = 1.1  # how many times the clearance paths are pushed away: corners lose some of it
_WIDEST = 1e3  # rad or m: limits farther apart do not say where to look
_SHORT_WAY = 4  # calls of a search before joints without limits may go the other way round
_MANY_ENDLESS = 6  # joints without limits of which all ways round are looked at
_MOST_SAMPLES = 1e8
_BRANCHES = "; they may be on two branches of assembly, with a singularity between"


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """A path from a start to a goal, or why there is none.

    ``q`` (n, nq): the points of the path, between which joints move straight, the start first; of a
    search that failed, the way to where the two trees came nearest, and (0, nq) where none began.
    The whole path was looked at without gaps. ``steps`` of the search and ``checks`` of
    configurations are counted, ``seconds`` are what it took.

    Where loops or tasks are ``kept``, joints move between the points as these demand, next to
    straight: ``bow`` (rad, m; Euclidean) is how far from straight at most, measured at three places
    between each two. ``kept_clearance`` (m) is the distance from the scene that was asked for, and
    is kept.
    """

    success: bool
    reason: str
    q: Floats
    steps: int
    checks: int
    seconds: float
    model: CollisionModel = field(repr=False)
    scene: Any = field(repr=False)
    bow: float = 0.0
    kept: Kept | None = field(default=None, repr=False)
    kept_clearance: float = 0.0

    def __bool__(self) -> bool:
        """Whether there is a path."""
        return self.success

    def __repr__(self) -> str:
        if not self.success:
            return f"Plan(failed: {self.reason})"
        return f"Plan({len(self.q)} points, length {self.length:.4g})"

    @property
    def proven(self) -> bool:
        """Whether there is a path; each is looked at without gaps before it is called one."""
        return self.success

    @cached_property
    def length(self) -> float:
        """The length of the path: the sum of the distances of its points, in the units of q."""
        return float(np.linalg.norm(np.diff(self.q, axis=0), axis=1).sum())

    def sample(self, spacing: float = 0.05) -> Floats:
        """Configurations (k, nq) along the path, its points among them, so far apart at most.

        Loops are closed in each of them, and tasks that are kept are done.
        """
        spacing = finite_number(spacing, "spacing", above=0.0)
        if self.length / spacing > _MOST_SAMPLES:
            many = self.length / spacing
            raise InputError(f"spacing = {spacing:g} would be {many:.3g} configurations")
        if len(self.q) < 2:
            return self.q.copy()
        if self.kept is not None:
            return _sampled(self.kept, self.q, spacing)
        found = [self.q[:1]]
        for a, b in zip(self.q[:-1], self.q[1:], strict=True):
            n = max(1, int(np.ceil(np.linalg.norm(b - a) / spacing)))
            found.append(a + np.arange(1, n + 1)[:, None] / n * (b - a))
        return np.concatenate(found)

    def clearance(self, spacing: float = 0.05) -> Floats:
        """The clearance (k,) in m at the configurations of `sample`: see `CollisionModel`."""
        return self.model.clearance(self.sample(spacing), self.scene).distance

    def errors(self, spacing: float = 0.01) -> dict[str, float]:
        """The largest error (m, rad) along the path of each loop and task that is kept, by name.

        It is that at the configurations of `sample`, beyond the slack of tasks.
        """
        if self.kept is None or not self.kept.tasks:
            return {}
        worst = self.kept.errors(self.sample(spacing)).max(axis=0)
        found: dict[str, float] = {}
        for (name, _, _), error in zip(self.kept.terms, worst.tolist(), strict=True):
            found[name] = max(error, found.get(name, 0.0))
        return found


def _sampled(kept: Kept, q: Floats, spacing: float) -> Floats:
    """Configurations along a path on which something is kept."""
    sizes = np.linalg.norm(kept.gap(q[:-1], q[1:]), axis=1)
    counts = np.maximum(1, np.ceil(sizes / spacing).astype(np.int64))
    piece = np.repeat(np.arange(len(sizes)), counts)
    place = np.arange(len(piece)) - np.repeat(np.cumsum(counts) - counts, counts)
    found, inside = q[piece], np.flatnonzero(place)
    own = piece[inside]
    found[inside], ok = kept.between(q[own], q[own + 1], place[inside] / counts[own])
    assert ok.all()  # noqa: S101  the path was looked at
    return np.concatenate([found, q[-1:]])


class Planner(ProcessBound):
    """Plans for one choice of joints, made by `Robot.planner`; threads may share it."""

    def __init__(
        self,
        mechanism: Mechanism,
        model: CollisionModel,
        compiler: Compiler,
        joints: Sequence[str],
        *,
        clock: Callable[[], float],
        effort: Effort | None = None,
        threads: int = 1,
        kept: Kept | None = None,
    ) -> None:
        """``joints``: those that move, the others stay; ``effort``: how searches go about.

        ``kept``: what is kept along the way, of loops, tasks, or joints that turn about any axis.
        """
        self.mechanism, self.model, self.joints = mechanism, model, tuple(joints)
        self.kept = kept
        self.effort = Effort() if effort is None else effort
        self._compiler, self._threads, self.clock = compiler, threads, clock
        m, planned = mechanism, list[int]()
        for name in self.joints:
            own = m.q_slice(m.joint(name))
            planned += range(own.start, own.stop)
        if not planned:
            raise InputError("no joint is to move; name some with joints=[...]")
        self.planned = np.array(planned)
        self._idle: dict[tuple[bytes, bytes], list[Search]] = {}

    def __repr__(self) -> str:
        return f"Planner({self.mechanism.name!r}: {', '.join(self.joints)})"

    @cached_property
    def _code(self) -> Any:
        return library(KERNELS, self._compiler, "path planning")

    def plan(
        self,
        start: Floats,
        goals: Floats,
        scene: Any = None,
        *,
        seed: int = 0,
        seconds: float = 10.0,
        clearance: float = 0.0,
        halt: threading.Event | None = None,
        began: float | None = None,
    ) -> Plan:
        """A path from a start (nq,) to one of the goals (k, nq).

        Joints that do not move have the start's positions in the goals too. The same ``seed`` gives
        the same path, where the time does not run out. ``clearance`` (m) is what the whole path
        keeps, start and goal too: without it there is none. ``halt``, once set, ends the search.
        ``seconds`` count from when it ``began`` by `clock`, by default now.

        Raises: ShapeError; InputError for numbers that are not finite and for goals in which
        another joint has moved.
        """
        began = self.clock() if began is None else began
        clearance = finite_number(clearance, "clearance", least=0.0) if clearance else 0.0
        if type(seconds) is not float or not 0.0 < seconds < np.inf:
            seconds = finite_number(seconds, "seconds", above=0.0)
        seed = whole_number(seed, "seed", least=0)
        if clearance == 0.0 and self._are_plain(start, goals):
            quick = Attempt(self, start, scene, began, seconds)
            plan = quick.searched(self.turned(start, goals), seed, halt, bounds=self._bounds)
            if plan is not None:
                return plan
        start, goals = self.checked(start, goals)
        attempt = Attempt(self, start, scene, began, seconds)
        why = self.what_is_wrong(start, scene, "the start")
        if why:
            return attempt.failed(why)
        goals = self.turned(start, goals)
        found = [(goal, self.what_is_wrong(goal, scene, "the goal")) for goal in goals]
        usable = np.array([goal for goal, why in found if not why])
        if not len(usable):
            others = f" (and {len(found) - 1} other goals are no better)" if len(found) > 1 else ""
            return attempt.failed(found[0][1] + others)
        if clearance == 0.0:
            return attempt.any_path(usable, seed, 0.0, halt)
        near = [attempt.too_near(goal, clearance, "the goal") for goal in usable]
        why = attempt.too_near(start, clearance, "the start")
        usable = usable[[not told for told in near]]
        if why or not len(usable):
            return attempt.failed(why or near[0])
        return attempt.clear_path(usable, seed, clearance, halt)

    def _are_plain(self, start: Any, goals: Any) -> bool:
        """Whether ends are arrays at which compiled code can look by itself."""
        if type(start) is not np.ndarray or type(goals) is not np.ndarray or not self._is_plain:
            return False
        if start.dtype != np.float64 or goals.dtype != np.float64 or goals.ndim != 2:
            return False
        return start.shape == goals.shape[1:] == (self.mechanism.n_q,) and 0 < len(goals) <= GOALS

    @cached_property
    def _is_plain(self) -> bool:
        """Whether q has no quaternions, and nothing is kept."""
        return self.kept is None and self.mechanism.n_q == self.mechanism.n_v

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Bounds (nq,) of q: the limits of what moves, and those within which paths are proven."""
        low, high = self.model.slide_bounds()
        low, high = low + _LIMIT_SLACK, high - _LIMIT_SLACK
        low[self.planned] = np.maximum(low[self.planned], self._limits[0])
        high[self.planned] = np.minimum(high[self.planned], self._limits[1])
        return low, high

    def plan_all(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        scenes: Any = None,
        *,
        seed: int = 0,
        seconds: float = 10.0,
        clearance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Plan]:
        """The plans of many problems, shared between threads; they do not depend on how many.

        ``starts`` and ``goals`` (n, nq) or (nq,) for all; ``scenes``: one for all, or a list of n.
        ``seconds`` are for each. ``progress(done, n)`` is called as they end.

        Raises: as `plan`.
        """
        n_q = self.mechanism.n_q
        first, last = real_rows(starts, "starts", n_q), real_rows(goals, "goals", n_q)
        lead = leading_shape({"starts": first, "goals": last})
        if len(lead) > 1:
            raise ShapeError(
                f"starts and goals have shapes (n, {n_q}) or ({n_q},), not {lead} rows"
            )
        count = lead[0] if lead else 1
        first, last = broadcast_rows(first, (count,)), broadcast_rows(last, (count,))
        listed = list(scenes) if isinstance(scenes, (list, tuple)) else [scenes] * len(first)
        if len(listed) != len(first):
            raise ShapeError(f"{len(listed)} scenes are given for {len(first)} problems")
        halt, telling, done = threading.Event(), threading.Lock(), 0

        def work(k: int) -> Plan:
            nonlocal done
            how: Any = {"seed": seed, "seconds": seconds, "clearance": clearance, "halt": halt}
            found = self.plan(first[k], last[k][None], listed[k], **how)
            with telling:
                done += 1
                if progress is not None:
                    progress(done, len(first))
            return found

        threads = self._threads if threads is None else threads
        # problems in one scene come one after another, whose tables are then made once
        met: dict[int, int] = {}
        order = sorted(range(len(first)), key=lambda k: met.setdefault(id(listed[k]), k))
        found = in_parallel(work, order, threads, halt=halt)
        return [plan for _, plan in sorted(zip(order, found, strict=True), key=lambda p: p[0])]

    @contextmanager
    def search(self, bounds: tuple[Floats, Floats]) -> Generator[Search]:
        """The memory of a search for these least and greatest values of the joints that move."""
        search, idle = self.idle_search(bounds)
        try:
            yield search
        finally:
            idle.append(search)

    def idle_search(self, bounds: tuple[Floats, Floats]) -> tuple[Search, list[Search]]:
        """The memory of `search`, which nobody uses, and the list to which it comes back."""
        key = (bounds[0].tobytes(), bounds[1].tobytes())
        idle = self._idle.setdefault(key, [])
        if len(self._idle) > _KEPT:
            self._idle = {key: idle}
        try:
            return idle.pop(), idle
        except IndexError:
            planned = self.planned.tolist()
            return Search(self._code, self.mechanism.n_q, planned, bounds), idle

    def whole(self, points: Floats, base: Floats) -> Floats:
        """Configurations (k, nq) of points (k, n) of the joints that move."""
        q = np.empty((len(points), len(base)))
        q[:] = base
        q[:, self.planned] = points
        return q

    def holds(self, q: Floats, scene: Any) -> NDArray[np.bool_]:
        """Flags of motions between configurations (k, nq) that are free, without gaps."""
        return ~self.model.path_touches(q, scene)

    def short_that_holds(
        self,
        search: Search,
        raw: Floats,
        base: Floats,
        scene: Any,
        spacing: float,
        *,
        tried: bool = False,
    ) -> Floats | None:
        """The path ``raw`` (k, n) made short, such that it holds; None where it does not itself.

        Shortcuts are looked at in the spacing, where that was not ``tried``; where what they lead
        to does not hold, each of them is proven before it is taken.
        """
        if not tried:
            search.reload(raw)
            q = self.whole(search.shortened(spacing), base)
            if self.holds(q, scene).all():
                return q
        q = self.whole(raw, base)
        if not self.holds(q, scene).all():
            return None
        if search.proves:
            search.reload(raw)
            short = self.whole(search.shortened(spacing, proven=True), base)
            if self.holds(short, scene).all():
                return short
        return q

    def refused(self, start: Floats, scene: Any, reason: str, *, began: float) -> Plan:
        """The plan of a problem that has no goal."""
        return Attempt(self, start, scene, began, 1.0).failed(reason)

    def checked(self, start: ArrayLike, goals: ArrayLike) -> tuple[Floats, Floats]:
        """A start (nq,) and goals (k, nq) that may be planned for; raises as `plan`."""
        n_q, m = self.mechanism.n_q, self.mechanism
        names = labels(m, velocities=False)
        first = finite_rows(start, "start", n_q, names)
        last = finite_rows(goals, "goal", n_q, names)
        if first.ndim != 1 or last.ndim != 2 or not len(last):
            raise ShapeError(
                f"a path has a start ({n_q},) and goals (k, {n_q}), not {first.shape} and "
                f"{last.shape}; plan_all takes many problems"
            )
        rest, turns = self.resting, turns_of(m)
        still = turns[np.isin(turns[:, 0], rest)]  # the same rotation has two quaternions
        _, last = short_ways(still, np.broadcast_to(first, last.shape), last)
        moved = np.abs(last[:, rest] - first[rest]).max(axis=0, initial=0.0) if rest.size else rest
        if rest.size and moved.max() > _LIMIT_SLACK:
            name = names[int(rest[moved.argmax()])]
            raise InputError(
                f"'{name}' does not move, but is {moved.max():.3g} away from the start in the "
                f"goal; joints that move are {', '.join(self.joints)}, and joints= names others"
            )
        return first, last

    def turned(self, start: Floats, goals: Floats) -> Floats:
        """The goals by whole turns nearer to the start, of joints that turn without limits."""
        endless = self.planned[self._endless]
        if not len(endless):
            return goals
        change = goals[:, endless] - start[endless]
        goals = goals.copy()
        goals[:, endless] -= 2.0 * np.pi * np.round(change / (2.0 * np.pi))
        return goals

    def ways_round(self, start: Floats, goals: Floats) -> Floats:
        """The goals (k, nq) to which joints that turn without limits go the other way round.

        The shortest ways first, no more than a search takes beside the goals.
        """
        endless = self.planned[self._endless]
        found: list[tuple[float, Floats]] = []
        for goal in goals:
            change = goal[endless] - start[endless]
            other = np.where(change > 0.0, -2.0 * np.pi, 2.0 * np.pi)
            for others in product((False, True), repeat=min(len(endless), _MANY_ENDLESS)):
                turns = np.zeros(len(endless))
                turns[: len(others)] = np.where(others, other[: len(others)], 0.0)
                if any(others):
                    way = goal.copy()
                    way[endless] += turns
                    found.append((float(np.linalg.norm(change + turns)), way))
        found.sort(key=lambda each: each[0])
        most = max(GOALS - len(goals), 0)
        return np.array([way for _, way in found[:most]]).reshape(-1, len(start))

    def nearer(self, start: Floats, goals: Floats) -> Floats:
        """The goals by whole turns nearer to the start, where limits leave room for more than one.

        Poses are the same; whoever asks for a configuration is given just that, and not this.
        """
        low, high = self._limits
        wide = self._angles & (high - low > 2.0 * np.pi) & ~self._endless
        own = self.planned[wide]
        at, away = goals[:, own], goals[:, own] - start[own]
        turns = -2.0 * np.pi * np.round(away / (2.0 * np.pi))
        fits = (at + turns >= low[wide]) & (at + turns <= high[wide])
        goals = goals.copy()
        goals[:, own] = np.where(fits, at + turns, at)
        return goals

    @cached_property
    def free(self) -> Kept:
        """The limits alone, kept."""
        m = self.mechanism
        return Kept(m, self.planned, np.ones(m.n_v).tolist(), compiler=self._compiler)

    @cached_property
    def resting(self) -> NDArray[np.int64]:
        """The numbers of q that do not move."""
        return np.setdiff1d(np.arange(self.mechanism.n_q), self.planned)

    @cached_property
    def has_endless(self) -> bool:
        """Whether a joint that moves turns without limits."""
        return bool(self._endless.any())

    @cached_property
    def _endless(self) -> NDArray[np.bool_]:
        """Flags of the planned numbers that are angles without limits."""
        low, high = self._limits
        return self._angles & np.isinf(low) & np.isinf(high)

    @cached_property
    def _angles(self) -> NDArray[np.bool_]:
        """Flags of the planned numbers that are angles."""
        kinds = self.mechanism.kinds_of_q
        return np.array([kinds[k] == "angle" for k in self.planned.tolist()], bool)

    @cached_property
    def _limits(self) -> tuple[Floats, Floats]:
        """The limits of the planned numbers of q."""
        return self.mechanism.lower[self.planned], self.mechanism.upper[self.planned]

    @cached_property
    def is_bounded(self) -> bool:
        """Whether all of these say where samples are to be drawn."""
        return not self._wide.any()

    @cached_property
    def _wide(self) -> NDArray[np.bool_]:
        """Flags of the planned numbers that have no limits, or such as only files need."""
        low, high = self._limits
        return ~(high - low <= _WIDEST)

    def bounds(self, start: Floats, goals: Floats, scene: Any) -> tuple[Floats, Floats]:
        """The bounds of samples: the limits, else a range around the start and the goals.

        What slides without limits has room on all sides for the way, and to go around the scene.
        """
        low, high = self._limits
        if self.is_bounded:
            return low, high
        ends = np.concatenate([start[None], goals])[:, self.planned]
        way = np.ptp(ends, axis=0)
        slides = self._wide & ~self._angles
        room = np.where(slides, way[slides].max(initial=0.0) + self.model.extent_of(scene), way)
        around = np.where(self._endless, np.pi, 2.0 * room + 1.0)
        low = np.where(self._wide, np.maximum(low, ends.min(axis=0) - around), low)
        high = np.where(self._wide, np.minimum(high, ends.max(axis=0) + around), high)
        return low, high

    def what_is_wrong(self, q: Floats, scene: Any, what: str) -> str:
        """The reason why no path begins or ends here; empty where one may."""
        (low, high), at = self._limits, q[self.planned]
        if not ((at >= low - _LIMIT_SLACK) & (at <= high + _LIMIT_SLACK)).all():
            m, beyond = self.mechanism, np.maximum(low - at, at - high)
            k = int(self.planned[beyond.argmax()])
            name = labels(m, velocities=False)[k]
            return (
                f"{what} is outside the limits: '{name}' is at {q[k]:.6g}, "
                f"allowed is {m.lower[k]:.6g} to {m.upper[k]:.6g}"
            )
        for c in limited_angles(self.mechanism, self.planned.tolist()):
            if float(angle_beyond(self.mechanism, q, c)) > _LIMIT_SLACK:
                m = self.mechanism
                wxyz = q[int(m.q_start[c]) :][:4]
                return (
                    f"{what} is outside the limits: '{m.joint_names[c]}' turns by "
                    f"{float(angle_of_quaternion(wxyz)):.6g} rad, allowed is {m.angle_limit[c]:.6g}"
                )
        if self.kept is not None and (off := self.kept.what_is_off(q, what)):
            return off
        if not self.model.collides(q[None], scene)[0]:  # as a batch: nobody asks this scene again
            return ""
        found = self.model.clearance(q, scene)
        a, b = found.names
        depth = max(-1e3 * float(found.distance), 0.0)
        return f"{what} touches: '{a}' and '{b}', {depth:.3g} mm deep"


class Attempt:
    """One problem that is being planned."""

    def __init__(
        self, planner: Planner, start: Floats, scene: Any, began: float, seconds: float
    ) -> None:
        self.planner, self.start, self.scene = planner, start, scene
        self.began, self.until, self.allowed = began, began + seconds, seconds
        self.steps = self.checks = 0
        self.patience = math.inf  # calls of a search that goes the short way round

    def made(self, q: Floats, *, bow: float = 0.0) -> Plan:
        """The plan of a path (n, nq) that holds."""
        return self._plan("", q, bow=bow)

    def failed(self, reason: str, q: Floats | None = None) -> Plan:
        """The plan of a problem without a path, and how far the search came."""
        empty = np.empty((0, self.planner.mechanism.n_q))
        return self._plan(reason, empty if q is None else q)

    def _plan(self, reason: str, q: Floats, *, bow: float = 0.0) -> Plan:
        return Plan(
            success=not reason,
            reason=reason,
            q=q,
            steps=self.steps,
            checks=self.checks,
            seconds=self.planner.clock() - self.began,
            model=self.planner.model,
            scene=self.scene,
            bow=bow,
            kept=self.planner.kept,
        )

    def _tracer(self, kept: Kept, step: float, halt: threading.Event | None) -> Tracer:
        return Tracer(kept, self.planner.model, self.scene, step, lambda: self.is_over(halt))

    def any_path(
        self, goals: Floats, seed: int, clearance: float, halt: threading.Event | None
    ) -> Plan:
        """The plan of a path that keeps a clearance where it can."""
        planner = self.planner
        if planner.kept is not None:
            return self.kept(planner.kept, goals, seed, clearance, halt)
        plan = self.searched(goals, seed, halt, bounds=None)
        assert plan is not None  # noqa: S101  its ends are known
        return self.with_clearance(plan, clearance, halt) if clearance > 0.0 else plan

    def clear_path(
        self, goals: Floats, seed: int, clearance: float, halt: threading.Event | None
    ) -> Plan:
        """The plan of a path that keeps a clearance: the first of some that does."""
        k = 0
        while True:
            wish = (_MORE + k) * clearance  # pushed by things on both sides a path may fall short
            plan = self.any_path(goals, seed + k * _OTHERS, wish, halt)
            k += 1
            if not plan:
                return plan
            if self.keeps(plan, clearance):
                return replace(plan, kept_clearance=clearance)
            if k == _CLEAR_TRIES or self.is_over(halt):
                return self.failed(self.brought_near(plan, clearance), plan.q)

    def is_over(self, halt: threading.Event | None) -> bool:
        """Whether the time has run out, or the caller was interrupted."""
        return self.planner.clock() > self.until or (halt is not None and halt.is_set())

    def too_near(self, q: Floats, clearance: float, what: str) -> str:
        """The reason why an end does not keep a clearance; empty where it does."""
        found = self.planner.model.of_scene.clearance(q, self.scene)
        if not found.distance < clearance or found.names is None:
            return ""
        a, b = found.names
        return (
            f"{what} does not keep the clearance of {1e3 * clearance:g} mm: '{a}' and '{b}' are "
            f"{1e3 * float(found.distance):.3g} mm apart"
        )

    def keeps(self, plan: Plan, clearance: float) -> bool:
        """Whether a path keeps a clearance, looked at without gaps.

        Where something is kept and the bow decides, at configurations 0.002 (rad, m) apart.
        """
        off = 0.0 if plan.kept is None else 2.0 * Judge.BOW
        if not self.comes_within(plan, clearance + MORE + off):
            return True
        if plan.kept is None or (clearance > off and self.comes_within(plan, clearance - off)):
            return False
        found = self.planner.model.of_scene.clearance(plan.sample(_CLEAR), self.scene)
        return float(found.distance.min()) >= clearance

    def comes_within(self, plan: Plan, margin: float) -> bool:
        """Whether the straight motions between the points of a path come so near to the scene."""
        found = self.planner.model.of_scene.path_touches(plan.q, self.scene, margin=margin)
        return bool(found.any())

    def brought_near(self, plan: Plan, clearance: float) -> str:
        """The reason why a path does not keep a clearance."""
        found = self.planner.model.of_scene.clearance(plan.sample(_CLEAR), self.scene)
        k = int(found.distance.argmin())
        a, b = found.names[k]
        return (
            f"no path was found that keeps a clearance of {1e3 * clearance:g} mm: the one found "
            f"last brings '{a}' and '{b}' within {1e3 * float(found.distance[k]):.3g} mm"
        )

    def kept(
        self,
        kept: Kept,
        goals: Floats,
        seed: int,
        clearance: float,
        halt: threading.Event | None,
    ) -> Plan:
        """Search for a path that keeps what is kept; where it does not hold, again in finer steps.

        The smoothest form that holds is taken.
        """
        planner, finer = self.planner, 1.0
        effort = planner.effort
        bounds = planner.bounds(self.start, goals, self.scene)
        while finer > _LEAST_STEP:
            tracer = self._tracer(kept, effort.spacing * finer, halt)
            search = KeptSearch(tracer, self.start, goals, bounds, effort=effort, seed=seed)
            raw = search.path()
            if raw is None:
                self._count_of(tracer)
                full = not tracer.late()
                what = f"{effort.nodes} nodes" if full else f"{self.allowed:g} seconds"
                gap, way = search.nearest()
                return self.failed(
                    f"no path was found in {what} ({self.steps} steps); the trees of start and "
                    f"goal came within {gap:.3g} of each other{_BRANCHES if kept.driven else ''}",
                    way,
                )
            raw = kept.unwound(raw)
            short = shortened(tracer, raw, effort.shortcuts * _KEPT_SHORTCUTS)
            found = self._best_that_holds(tracer, (raw, short), clearance)
            if found is not None:
                return found
            self._count_of(tracer)
            finer *= _FINER
        return self.failed(self._too_close(goals))

    def _best_that_holds(
        self, tracer: Tracer, paths: tuple[Floats, Floats], clearance: float
    ) -> Plan | None:
        """The plan of the smoothest form of a path, as it was found and made short, that holds."""
        raw, short = paths
        for form in ("clear", "smooth", "short", "raw"):
            path = raw if form == "raw" else short
            if form in ("clear", "smooth"):
                wish = max(clearance, _COMFORT) if form == "clear" else 0.0
                path = smoothed(tracer, short, wish)
            judge = Judge(tracer)
            found = judge.holds(tracer.kept.unwound(path))
            if found is not None:
                self._count_of(tracer)
                return self.made(found, bow=judge.bow)
        return None

    def _turns_away(self, goals: Floats) -> str:
        """The words for goals that stand in another turn of a joint than they need to."""
        planner = self.planner
        away = np.abs(planner.nearer(self.start, goals) - goals).min(axis=0)
        if not (away > 1.0).any():
            return ""
        names = labels(planner.mechanism, velocities=False)
        told = ", ".join(f"'{names[k]}'" for k in np.flatnonzero(away > 1.0))
        return (
            f". The goal has another turn of {told} than the same pose nearer to the start; from "
            "turn to turn a joint may not come, and plans to poses choose the nearer one"
        )

    def _too_close(self, goals: Floats) -> str:
        """The words for paths that do not hold: an end may be next to touching."""
        for what, q in (("the start", self.start), ("the goal", goals[0])):
            found = self.planner.model.clearance(q, self.scene)
            if found.distance < _TOUCH and found.names is not None:
                a, b = found.names
                return (
                    f"{what} is next to touching: '{a}' and '{b}' are "
                    f"{1e3 * float(found.distance):.3g} mm apart, and motions that come nearer "
                    f"than {1e3 * _TOUCH:g} mm count as touching"
                )
        return "every path that was found passes something more closely than can be told apart"

    def with_clearance(self, plan: Plan, clearance: float, halt: threading.Event | None) -> Plan:
        """The plan with its path farther away from what is near, where that can be."""
        planner = self.planner
        if not plan or len(plan.q) < 2 or np.array_equal(plan.q[0], plan.q[-1]):
            return plan
        free = planner.free
        tracer = self._tracer(free, planner.effort.spacing, halt)
        path = free.unwound(smoothed(tracer, plan.q.copy(), clearance))
        self._count_of(tracer)
        before = planner.model.clearance(plan.sample(), self.scene).distance.min()
        after = planner.model.clearance(path, self.scene).distance.min()
        if after <= before or not planner.holds(path, self.scene).all():
            return plan
        return self.made(path)

    def _count_of(self, tracer: Tracer) -> None:
        self.steps += tracer.steps
        self.checks += tracer.checks

    def searched(
        self,
        goals: Floats,
        seed: int,
        halt: threading.Event | None,
        *,
        bounds: tuple[Floats, Floats] | None,
    ) -> Plan | None:
        """Search, make the path shorter, look whether it holds; else search by what is proven.

        Where motions cannot be proven one by one, finer searches follow. Where joints without
        limits do not soon come to a goal the short way round, the other ways are goals too.
        ``bounds`` (nq,) of the ends, at which is looked first: None where these are not in order.
        """
        if self.planner.has_endless:
            self.patience = _SHORT_WAY
        plan = self._with_memory(goals, seed, halt, bounds)
        if self.patience > 0:
            return plan
        self.patience = math.inf
        goals = np.concatenate([goals, self.planner.ways_round(self.start, goals)])
        return self._with_memory(goals, seed, halt, None)

    def _with_memory(
        self,
        goals: Floats,
        seed: int,
        halt: threading.Event | None,
        bounds: tuple[Floats, Floats] | None,
    ) -> Plan | None:
        """The plan of a search in memory that is given back."""
        planner, model = self.planner, self.planner.model
        motions = model.native_motions(self.scene)
        search, idle = planner.idle_search(planner.bounds(self.start, goals, self.scene))
        try:
            return self._searched(search, motions, goals, seed, halt, bounds)
        finally:
            idle.append(search)
            model.give_back(motions)

    def _searched(
        self,
        search: Search,
        motions: NativeMotions,
        goals: Floats,
        seed: int,
        halt: threading.Event | None,
        bounds: tuple[Floats, Floats] | None,
    ) -> Plan | None:
        planner, effort, start = self.planner, self.planner.effort, self.start
        finer, proven, direct = 1.0, False, True
        while finer > _FINEST:
            how: Any = {"seed": seed, "bounds": bounds, "direct": direct}
            how |= {"finer": finer, "proven": proven}
            state = search.solve(motions, start, goals, effort, **how)
            while state == GOING and self.patience > 0 and not self.is_over(halt):
                state = search.go_on()
                self.patience -= 1
            if state == ODD:
                return None
            self.count(search)
            if state == GOING and self.patience <= 0:
                return None
            if state == HELD:
                return self.made(search.found())
            if state in (GOING, FULL):
                what = "nodes" if state == FULL else "seconds"
                most = effort.nodes if state == FULL else f"{self.allowed:g}"
                gap, way = self._nearest(search)
                return self.failed(
                    f"no path was found in {most} {what} ({self.steps} steps); the trees of start "
                    f"and goal came within {gap:.3g} of each other{self._turns_away(goals)}",
                    way,
                )
            raw, before = search.path(), search.checks
            found = planner.short_that_holds(
                search, raw, start, self.scene, effort.spacing * finer, tried=state == MISSED
            )
            self.checks += search.checks - before
            if found is not None:
                return self.made(found)
            # what passes something by a hair is free at all spacings: other samples, another path
            seed, direct, bounds = seed + _OTHERS, direct and len(raw) > 2, None
            if search.proves and not proven:
                proven = True
            else:
                finer *= _FINER
        return self.failed(self._too_close(goals))

    def count(self, search: Search) -> None:
        """Add what a search has done."""
        self.steps += search.steps
        self.checks += search.checks

    def _nearest(self, search: Search) -> tuple[float, Floats]:
        """The distance that the two trees came to, and the way to there from the start."""
        gap, node = search.come_nearest(_COMPARED)
        own, parents = search.nodes(0)
        way = [node]
        while parents[way[-1]] >= 0:
            way.append(int(parents[way[-1]]))
        return gap, self.planner.whole(own[way[::-1]], self.start)
