"""Paths along which something is kept: two trees of kept configurations, and the path made better.

A motion is traced by short steps towards its end, each brought back onto what is kept; it goes on
as long as it comes nearer, nothing touches, and no step is sideways or leaps. Many motions are
traced side by side (`kept_steps`), so that the lanes of compiled solvers and checks are full. Two
trees grow so from start and goals until they meet.

What was found is made shorter by traced motions between its points, then smoother: points go to the
middle of their neighbours and back onto what is kept; where a clearance is wished for, away from
what is near too. At last the path is looked at piece by piece: `Judge`.

Sources: D. Berenson, S. Srinivasa and J. Kuffner, Task Space Regions, IJRR 30 (2011): constrained
bi-directional RRT. J. Kuffner and S. LaValle, RRT-Connect, ICRA 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.model import CollisionModel
from linkwork.compile.numpy_abi import address as _at
from linkwork.planning.connect import ALWAYS
from linkwork.planning.kept import Floats, Kept, Room
from linkwork.planning.kept_steps import AT_REST, GOING_ON, LACKING, LANES, LEAP, THERE
from linkwork.planning.search import GOLDEN, Effort, Nodes, paces

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FARTHEST = 400  # steps of a motion towards the other tree
_ROOM = 1 << 12  # nodes, at first
_ROUNDS = 5  # steps of motions, or rounds, between two looks at the clock
_CUTS, _IN_VAIN = 16, 4  # rounds of shortcuts, and how many of them may gain nothing
_SPREADS, _SMOOTHINGS = 4, 20  # times that points are spread evenly, and rounds after each


class Tracer:
    """Motions that keep what is kept, in one scene."""

    def __init__(
        self,
        kept: Kept,
        model: CollisionModel,
        scene: Any,
        step: float,
        late: Callable[[], bool],
    ) -> None:
        self.kept, self.model, self.scene = kept, model, scene
        self.step, self.late = step, late
        self.steps = self.checks = 0

    def traced(self, start: Floats, goal: Floats, most: int) -> tuple[list[Floats], Flags]:
        """The ways (k, nq) from each start towards its goal, without the start; who arrived."""
        ways, arrived = list[Floats](), list[Flags]()
        with self._room() as room:
            for first in range(0, len(start), LANES):
                some = slice(first, first + LANES)
                room.motions.begin(start[some], goal[some], most)
                trace = partial(self.kept.calls["trace"], room.at, room.motions.at, _ROUNDS)
                while trace() and not self.late():
                    pass
                own, there = room.motions.found()
                ways += own
                arrived.append(there)
        return ways, np.concatenate(arrived)

    def smooth(self, path: Floats, clearance: float) -> bool:
        """Make a path (k, nq) smoother by some rounds, in place; whether it was so before."""
        kept, near = self.kept, None
        with self._room() as room:
            if clearance > 0.0:
                near = self.model.native_nearest(self.scene)
            work, state = room.smoothing, GOING_ON
            work.begin(path, kept.mechanism.n_v, near)
            work.clearance[:] = clearance
            while state != AT_REST and work.turns < _SMOOTHINGS and not self.late():
                state = kept.calls["smooth"](room.at, room.motions.at, work.at, _ROUNDS)
                if state == LACKING:
                    kept.lend_rates(room)
            if near is not None:
                self.model.give_back(near)
        return state == AT_REST and work.turns == 1

    @contextmanager
    def _room(self) -> Generator[Room]:
        """The room of a thread, whose motions are checked in the scene, and counted."""
        room, native = self.kept.room(), self.model.native_motions(self.scene)
        room.motions.prepare(native.check, self.step)
        yield room
        self.steps += room.motions.steps
        self.checks += room.motions.checks
        self.model.give_back(native)
        self.kept.give_back(room)

    def motions(self, path: Floats) -> Floats:
        """The sizes (k - 1,) of the pieces of a path (k, nq)."""
        return self.kept.size(self.kept.gap(path[:-1], path[1:]))


class Tree:
    """Kept configurations, each with the one before it."""

    def __init__(self, kept: Kept, roots: Floats) -> None:
        self.kept, self.q = kept, np.empty((_ROOM, roots.shape[1]))
        n = kept.features(roots).shape[1]
        self._nodes, self._narrow = Nodes(n, _ROOM), np.empty(17 * n, np.float32)
        self.add([root[None] for root in roots], np.full(len(roots), -1))

    @property
    def count(self) -> int:
        """The number of configurations."""
        return self._nodes.count

    def add(self, ways: Sequence[Floats], parents: Integers) -> Integers:
        """Add the configurations of ways, each one after the other: the last node of each."""
        counts = np.array([len(way) for way in ways])
        some, stops = counts > 0, self.count + np.cumsum(counts)
        q = np.concatenate(ways)
        while not self._nodes.has_room(len(q)):
            self._nodes = Nodes(self._features(q).shape[1], 4 * self._nodes.room, self._nodes)
            self.q = np.concatenate([self.q, np.empty((3 * len(self.q), q.shape[1]))])
        before = np.arange(self.count - 1, self.count + len(q) - 1)
        before[(stops - counts)[some] - self.count] = parents[some]
        self.q[self.count : self.count + len(q)] = q
        x = self._features(q)
        given = self._nodes.at, x.shape[1], _at(x), _at(before), len(q), ALWAYS, _at(self._narrow)
        self.kept.calls["add"](*given)
        return np.where(some, stops - 1, parents)

    def nearest(self, q: Floats) -> tuple[Integers, Floats]:
        """The nearest of its configurations to each of q (k, nq), and how far it is."""
        x, found = self._features(q), np.empty(len(q), np.int64)
        given = self._nodes.at, x.shape[1], _at(x), len(q), _at(self._narrow), _at(found)
        self.kept.calls["nearest"](*given)
        return found, np.linalg.norm(self._nodes.arrays[0][found] - x, axis=1)

    def _features(self, q: Floats) -> Floats:
        return np.ascontiguousarray(self.kept.features(q))

    def way(self, node: int) -> Floats:
        """The way (k, nq) from a root to a node."""
        found: list[int] = []
        while node >= 0:
            found.append(node)
            node = int(self._nodes.arrays[1][node])
        return self.q[found[::-1]].copy()


class KeptSearch:
    """A search for one path, from a start to one of some goals."""

    def __init__(
        self,
        tracer: Tracer,
        start: Floats,
        goals: Floats,
        bounds: tuple[Floats, Floats],
        *,
        effort: Effort,
        seed: int,
    ) -> None:
        """``bounds``: least and greatest values of the numbers of q that move."""
        self.tracer, self.effort, self.start = tracer, effort, start
        self.low, self.high = bounds
        n = len(self.low)
        self._pace = paces(n)
        self._phase = (0.5 + seed * GOLDEN * np.arange(1.0, n + 1)) % 1.0
        self._drawn = 0
        self.trees = [Tree(tracer.kept, start[None]), Tree(tracer.kept, goals)]

    def path(self) -> Floats | None:
        """A path (k, nq), or None where the time, or the nodes, came to an end."""
        tracer, trees = self.tracer, self.trees
        goals = trees[1].q[: trees[1].count].copy()
        ways, arrived = tracer.traced(np.tile(self.start, (len(goals), 1)), goals, _FARTHEST)
        found = self._joined(0, np.zeros(len(goals), np.int64), ways, arrived, range(len(goals)))
        most = max(1, int(np.ceil(self.effort.range / tracer.step)))
        while found is None and not tracer.late() and self._room():
            side = int(trees[0].count > trees[1].count)
            own, other = trees[side], trees[1 - side]
            targets = self._targets()
            nearest, _ = own.nearest(targets)
            ways, _ = tracer.traced(own.q[nearest], targets, most)
            ends = own.add(ways, nearest)[[len(way) > 0 for way in ways]]
            if not len(ends):
                continue
            wanted = own.q[ends]
            nearest, _ = other.nearest(wanted)
            ways, arrived = tracer.traced(other.q[nearest], wanted, _FARTHEST)
            found = self._joined(1 - side, nearest, ways, arrived, ends)
        return found

    def _room(self) -> bool:
        return max(tree.count for tree in self.trees) < self.effort.nodes

    def _targets(self) -> Floats:
        k = self._drawn + np.arange(1, LANES + 1)
        self._drawn += LANES
        u = (self._phase + k[:, None] * self._pace) % 1.0
        return self.tracer.kept.drawn(u, self.low, self.high, self.start)

    def _joined(
        self, side: int, origins: Integers, ways: list[Floats], arrived: Flags, ends: Any
    ) -> Floats | None:
        """Add ways of a tree; the shortest path through one that arrived at a node of the other."""
        own, other = self.trees[side], self.trees[1 - side]
        best: Floats | None = None
        shortest, last = np.inf, own.add(ways, origins)
        for k in np.flatnonzero(arrived):
            there, ours = other.way(int(ends[k]))[::-1], own.way(int(last[k]))
            if len(ways[k]):  # both have the node where they meet; turns may differ
                there = there[1:]
            found = np.concatenate([ours, there])
            found = found if side == 0 else found[::-1]
            length = float(self.tracer.motions(found).sum())
            if length < shortest:
                best, shortest = found, length
        return best

    def nearest(self) -> tuple[float, Floats]:
        """The distance that the trees came to each other, and the way to there from the start."""
        own, other = self.trees
        every = -(-own.count // 2000)
        _, apart = other.nearest(own.q[: own.count : every])
        k = int(apart.argmin())
        return float(apart[k]), own.way(k * every)


def shortened(tracer: Tracer, path: Floats, tries: int) -> Floats:
    """A path (k, nq) made shorter by traced motions between two of its points, many at a time."""
    phase, vain = np.array([0.5, 0.5]), 0
    pace = np.array([0.7548776662466927, 0.5698402909980532])
    rounds = min(_CUTS, -(-tries // LANES))
    for _ in range(rounds):
        arc = np.concatenate([[0.0], np.cumsum(tracer.motions(path))])
        if len(path) < 3 or vain >= _IN_VAIN or tracer.late():
            break
        k = np.arange(1, LANES + 1)[:, None]
        ends = np.sort((phase + k * pace) % 1.0, axis=1) * arc[-1]
        phase = (phase + LANES * pace) % 1.0
        places = np.clip(np.searchsorted(arc, ends), 0, len(path) - 1)
        places[0] = [0, len(path) - 1]
        places = np.unique(places[places[:, 1] > places[:, 0] + 1], axis=0)
        lengths = arc[places[:, 1]] - arc[places[:, 0]]
        straight = tracer.kept.size(tracer.kept.gap(path[places[:, 0]], path[places[:, 1]]))
        worth = straight < 0.99 * lengths
        places, lengths = places[worth], lengths[worth]
        if not len(places):
            vain += 1
            continue
        ways, arrived = tracer.traced(path[places[:, 0]], path[places[:, 1]], _FARTHEST)
        gains = np.zeros(len(places))
        for j in np.flatnonzero(arrived):
            whole = np.concatenate([path[places[j, :1]], ways[j]])
            gains[j] = lengths[j] - float(tracer.motions(whole).sum())
        taken = list[tuple[int, int, Floats]]()
        for j in np.argsort(-gains, kind="stable"):
            first, last = places[j].tolist()
            if gains[j] <= 1e-3 * arc[-1]:
                break
            if all(last <= a or first >= b for a, b, _ in taken):
                taken.append((first, last, ways[j]))
        for first, last, way in sorted(taken, key=lambda each: -each[0]):
            path = np.concatenate([path[: first + 1], way[:-1], path[last:]])
        vain = 0 if taken else vain + 1
    return path


def spread(tracer: Tracer, path: Floats) -> Floats | None:
    """A path (k, nq) whose points lie evenly, a step apart; None where it is not kept between."""
    arc = np.concatenate([[0.0], np.cumsum(tracer.motions(path))])
    n = max(1, int(np.ceil(arc[-1] / tracer.step)))
    s = np.linspace(0.0, arc[-1], n + 1)[1:-1]
    k = np.clip(np.searchsorted(arc, s, side="right") - 1, 0, len(path) - 2)
    t = (s - arc[k]) / np.maximum(arc[k + 1] - arc[k], 1e-300)
    q, ok = tracer.kept.between(path[k], path[k + 1], t)
    return np.concatenate([path[:1], q, path[-1:]]) if ok.all() else None


def smoothed(tracer: Tracer, path: Floats, clearance: float = 0.0) -> Floats:
    """A path (k, nq) with its corners rounded, and kept so far (m) from what is near if it can."""
    for _ in range(_SPREADS):
        even = spread(tracer, path)
        if even is None or len(even) < 3:
            return path
        path = even
        if tracer.smooth(path, clearance) or tracer.late():
            break
    return path


class Judge:
    """The judge of a whole path: it is kept and touches nothing, between its points too.

    Between two points the path is the straight motion brought onto what is kept. The most that it
    leaves the straight motion by, the bow, is measured at three places of each piece; pieces are
    cut until no point of the robot is farther off than half a millimetre by that. The straight
    pieces are looked at without gaps, and what comes nearer to them than twice the bow touches.
    """

    BOW = 5e-4
    """m: how far a point of the robot may be from where the straight motion has it."""

    CUTS = 14
    """The most halvings of a piece."""

    TOLERANCE = 1e-5

    def __init__(self, tracer: Tracer) -> None:
        self.tracer, self.bow = tracer, 0.0

    def holds(self, path: Floats) -> Floats | None:
        """The path with as many points as it needs; None where it does not hold."""
        more = np.zeros(max(len(path) - 1, 0), bool)
        seen = np.full((4, len(more)), np.nan)  # bows, what points are off, sizes; whether free
        for _ in range(self.CUTS):
            if len(path) < 2:
                break
            if more.any():
                path, seen = self._halved(path, seen, more)
            new = np.flatnonzero(np.isnan(seen[0]))
            found = self._bows(path[new], path[new + 1])
            if found is None or self.tracer.late():
                return None
            seen[:3, new], seen[3, new] = found, False
            bows, off, sizes, free = seen
            more = (off > self.BOW) | (sizes > 1.0001 * LEAP * self.tracer.step)
            if more.any():
                continue
            self.bow = float(bows.max(initial=0.0))
            left = np.flatnonzero(free == 0.0)
            free[left] = ~self._touching(path[left], path[left + 1], off[left])
            more = free == 0.0
            if not more.any():
                return path
            if (off[more] < 1e-2 * self.BOW).any():
                return None
        return path if len(path) < 2 else None

    def _halved(self, path: Floats, seen: Floats, which: Flags) -> tuple[Floats, Floats]:
        """The path with some pieces halved, and what was seen of its pieces: of these nothing."""
        places = np.flatnonzero(which)
        half = np.full(len(places), 0.5)
        middle, _ = self.tracer.kept.between(path[places], path[places + 1], half)
        seen = np.where(which, np.nan, seen)
        return np.insert(path, places + 1, middle, axis=0), np.insert(seen, places, np.nan, axis=1)

    def _bows(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats] | None:
        """The bow in q of pieces from a to b, how far (m) points of the robot are off, the size.

        None where a piece is not kept, or does not lead to its end.
        """
        kept = self.tracer.kept
        gap = kept.gap(a, b)
        bows, off = np.zeros(len(a)), np.zeros(len(a))
        sizes = kept.whole_size(gap)
        for t in (0.25, 0.5, 0.75, 1.0):
            straight = kept.straight(a, b, np.full(len(a), t))
            q, ok = kept.onto(straight, a)
            if not ok.all():
                return None
            bow = np.abs(kept.gap(straight, q))
            if t == 1.0:
                if (bow.max(axis=1) > THERE).any():
                    return None
                break
            along = np.linalg.norm(bow * kept.unit, axis=1)
            if (along > 0.5 * sizes + THERE).any():
                return None
            bows = np.maximum(bows, np.linalg.norm(bow, axis=1))
            angles = kept.unit == 1.0
            shift = 2.0 * self.tracer.model.reach * bow[:, angles].sum(axis=1)
            off = np.maximum(off, shift + bow[:, ~angles].sum(axis=1))
        return bows, off, sizes

    def _touching(self, a: Floats, b: Floats, off: Floats) -> Flags:
        """Flags of pieces from a to b along which something touches.

        ``off`` (m) of each piece is what points of the robot are off the straight motion by.
        """
        tracer = self.tracer
        touching = np.zeros(len(off), bool)
        level = np.ceil(np.log2(np.maximum(off, 1e-7) / self.BOW) / 2.0)  # by fours
        for each in np.unique(level):
            own = np.flatnonzero(level == each)
            most = self.TOLERANCE + 2.0 * float(off[own].max())
            found = tracer.model.motion_collides(
                a[own], b[own], tracer.scene, tolerance=most, threads=1
            )
            touching[own] = found.touches
        return touching


__all__ = ["Judge", "KeptSearch", "Tracer", "shortened", "smoothed"]
