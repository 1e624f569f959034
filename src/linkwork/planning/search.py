"""The memory of a search for one path at a time, and the calls of what is compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, whole_number
from linkwork.collision import distances
from linkwork.collision.rooms import NativeMotions
from linkwork.compile.numpy_abi import address as _at
from linkwork.compile.typed import WIDTH32
from linkwork.planning import connect, whole
from linkwork.planning.connect import FULL, GOING
from linkwork.planning.whole import HELD, MISSED, ODD

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KERNELS = (
    connect.write_path,
    connect.shorter,
    connect.motions_free,
    connect.come_nearest,
    whole.solve,
    whole.go_on,
)

GOLDEN = 0.6180339887498949

STEPS = 500  # of a search between two looks at the clock
GOALS = WIDTH32 - 1  # whose ends are looked at side by side with the start, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The parameters of a search, in the units of q (rad, m).

    ``range``: the longest step of a tree. ``spacing``: how far configurations of a motion that are
    looked at lie apart at most. ``near``, ``least_near``: how near samples must be to a node from
    which a step has failed, at first and at least; ``tuning`` is how much that changes each time.
    ``shortcuts``: how many are tried; those that gain less than ``least_gain`` of a stretch are
    left. ``nodes``: how many nodes a tree may have. ``careful``: in so many steps at first what the
    balls of the cover leave open counts as touching, but beside start and goal: such paths are
    sooner found and proven. Only then do the shapes decide.
    """

    range: float = 1.5
    spacing: float = 0.0625
    near: float = 4.0
    least_near: float = 1.0
    tuning: float = 1e-4
    shortcuts: int = 40
    least_gain: float = 0.01
    nodes: int = 1 << 22
    careful: int = 500

    def __post_init__(self) -> None:
        """Refuse what is no effort.

        Raises: InputError.
        """
        for name in ("range", "spacing", "near", "least_near"):
            finite_number(getattr(self, name), name, above=0.0)
        for name in ("tuning", "least_gain"):
            finite_number(getattr(self, name), name, least=0.0)
        for name, least in (("shortcuts", 0), ("nodes", 2), ("careful", 0)):
            whole_number(getattr(self, name), name, least=least)


def paces(n: int) -> Floats:
    """The steps of the quasi-random sequence in n dimensions: g^-1 ... g^-n, g^(n+1) = g + 1."""
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (n + 1))
    return g ** -np.arange(1.0, n + 1)


class Search:
    """The memory in which one thread searches, for problems one after the other.

    ``planned``: which numbers of q move; ``bounds``: least and greatest values of these. ``code``
    holds KERNELS.
    """

    def __init__(
        self, code: Any, n_q: int, planned: Sequence[int], bounds: tuple[Floats, Floats]
    ) -> None:
        n = len(planned)
        self.n, self.planned = n, np.array(planned, np.int64)
        self.count = 0
        self._code, self._most = code, 256
        low, span = np.array(bounds[0]), bounds[1] - bounds[0]
        self._rows, self._verdict = np.zeros((WIDTH32, n_q)), np.zeros(1, np.int64)
        self._motion = np.zeros((2, n_q))
        self._numbers, self._phase = np.zeros(connect.NUMBER), np.zeros(n)
        self._ends, self._path = np.zeros(2, np.int64), np.empty((self._most, n))
        self._found = np.empty((self._most, n_q))
        self._bounds_of: tuple[Floats, Floats] | None = None
        self._nodes = 0
        narrow, points = np.empty(17 * n, np.float32), np.empty((3, n))
        self._pointers = np.zeros(2, np.int64)
        own = (low, span, paces(n), narrow, points, np.empty(self._most))
        self._kept = own
        self._record = np.zeros(connect.RECORD, np.int64)
        self._record[:] = [
            *(n, n_q, 0, 0, _at(self.planned), _at(self._numbers), _at(low), _at(span)),
            *(_at(own[2]), _at(self._phase), _at(self._rows), _at(self._verdict), _at(narrow)),
            *(_at(points), _at(points[1]), _at(points[2]), _at(self._pointers), 0, 0),
            *(_at(self._ends), _at(self._path), _at(own[5]), self._most, 0, 0, 0),
            *(_at(self._motion), 0, 0, 0, 0, *self._proof(), 0),
        ]
        self._at = _at(self._record)
        self._trees: list[Nodes] = []
        self._make_room(1 << 12)
        kind = ctypes.c_int64
        self._write = ctypes.CFUNCTYPE(kind, kind)(code.address("write_path"))
        self._nearest = ctypes.CFUNCTYPE(ctypes.c_double, kind, kind)(code.address("come_nearest"))
        self._motions = ctypes.CFUNCTYPE(None, *[kind] * 5)(code.address("motions_free"))
        self._shorter = ctypes.CFUNCTYPE(kind, kind, kind, kind)(code.address("shorter"))
        self._solve = ctypes.CFUNCTYPE(kind, kind, kind)(code.address("solve"))
        self._go_on = ctypes.CFUNCTYPE(kind, kind, kind)(code.address("go_on"))
        self._make_job(n_q)

    @property
    def steps(self) -> int:
        """The number of steps that the trees have tried."""
        return int(self._record[connect.STEPS])

    @property
    def checks(self) -> int:
        """The number of configurations that were looked at."""
        return WIDTH32 * int(self._record[connect.BLOCKS])

    def _proof(self) -> tuple[int, int, int]:
        """The addresses of what proofs of motions write: see `connect.PROOF`."""
        self._proven = np.empty(1 + distances.RECORD), np.zeros(4, np.int64)
        numbers, counts = self._proven
        return _at(numbers), _at(counts), _at(counts[2:])

    def _make_job(self, n_q: int) -> None:
        """Make the record of a problem."""
        job = np.zeros(whole.JOB, np.int64)
        self._start, self._bounds = np.empty(n_q), np.empty((2, n_q))
        self._goals, self._points = np.empty((0, n_q)), np.empty((0, self.n))
        rest = np.setdiff1d(np.arange(n_q), self.planned)
        job[[whole.LOWER, whole.UPPER]] = _at(self._bounds[0]), _at(self._bounds[1])
        job[[whole.RESTING, whole.N_RESTING]] = _at(rest), len(rest)
        job[whole.MOST_STEPS], job[whole.FOUND] = STEPS, _at(self._found)
        job[whole.START] = _at(self._start)
        self._job, self._job_at = job, _at(job)
        self._effort: Effort | None = None
        self._rest = rest

    def solve(  # noqa: PLR0913  all but three are named
        self,
        motions: NativeMotions,
        start: Floats,
        goals: Floats,
        effort: Effort,
        *,
        seed: int,
        bounds: tuple[Floats, Floats] | None,
        finer: float = 1.0,
        proven: bool = False,
        direct: bool = True,
    ) -> int:
        """A problem from its start to a path, or some steps of that; see `whole.solve`.

        ``bounds`` (nq,) of ``start`` (nq,) and ``goals`` (k, nq), or None where these are known to
        be free. Motions are looked at in the spacing times ``finer``, and ``proven`` too.
        """
        job = self._job
        self._use(effort)
        self._check_by(motions)
        self._numbers[:] = self._effort_numbers
        self._numbers[connect.SPACING] *= finer
        self._record[connect.PROVES] = proven
        if seed == 0:
            self._phase.fill(0.5)
        else:
            self._phase[:] = (0.5 + seed * GOLDEN * np.arange(1.0, self.n + 1)) % 1.0
        self._record[connect.STEPS] = self._record[connect.BLOCKS] = 0
        self._record[connect.REFUSED], self._record[connect.PATIENCE] = 0, connect.MOST_PATIENCE
        count = len(goals)
        if count > len(self._goals):
            room = max(count, GOALS)
            self._goals = np.empty((room, len(start)))
            self._points = np.empty((room + 1, self.n))
            job[whole.GOALS], job[whole.POINTS] = _at(self._goals), _at(self._points)
            while count >= self._trees[0].room:
                self._make_room(4 * self._trees[0].room)
        self._start[:], self._goals[:count] = start, goals
        job[whole.N_GOALS], job[whole.KNOWN] = count, bounds is None
        if bounds is not None and bounds is not self._bounds_of:
            self._bounds[:], self._bounds_of = bounds, bounds
        job[whole.DIRECT], job[whole.CAREFUL] = direct, effort.careful
        return self._with_room(self._solve(self._at, self._job_at))

    def go_on(self) -> int:
        """Go on with a problem whose state is GOING."""
        return self._with_room(self._go_on(self._at, self._job_at))

    def _with_room(self, state: int) -> int:
        """GOING instead of FULL, unless at the most nodes."""
        if state == FULL and self._trees[0].room < self._nodes:
            self._make_room(4 * self._trees[0].room)
            return GOING
        return state

    def found(self) -> Floats:
        """The configurations (k, nq) of the path that was found and holds."""
        return self._found[: self._job[whole.COUNT]].copy()

    def _check_by(self, motions: NativeMotions) -> None:
        record, check = self._record, motions.check
        record[connect.CHECK], record[connect.LISTED] = check.function, check.arguments
        record[connect.LOOK], record[connect.SETTLE] = check.look, check.settle
        record[connect.MOTIONS], record[connect.WORLD] = motions.motions, motions.world

    @property
    def proves(self) -> bool:
        """Whether motions can be proven: see `NativeMotions`."""
        return bool(self._record[connect.MOTIONS])

    def prepare(
        self, motions: NativeMotions, base: Floats, effort: Effort, *, spacing: float
    ) -> None:
        """Say how motions are looked at from now on; ``base`` (nq,) has what does not move."""
        self._rows[:] = self._motion[0] = base
        self._check_by(motions)
        self._use(effort)
        self._numbers[:] = self._effort_numbers
        self._numbers[connect.SPACING] = spacing
        self._record[connect.EXACT] = 1

    def _use(self, e: Effort) -> None:
        """Take the parameters of searches."""
        if e is self._effort:
            return
        self._effort = e
        self._effort_numbers = np.array(
            [e.range, e.spacing, e.near, e.least_near, e.tuning, 0.5, 0.5, e.least_gain]
        )
        self._tries, self._nodes = e.shortcuts, e.nodes
        self._job[whole.TRIES] = e.shortcuts

    def free(self, points: Floats, ends: Integers) -> NDArray[np.bool_]:
        """Whether motions between points (k, n), by the numbers (m, 2) of their ends, are free."""
        points, ends = np.ascontiguousarray(points), np.ascontiguousarray(ends, np.int64)
        found = np.zeros(len(ends), np.int64)
        self._motions(self._at, _at(points), _at(ends), len(ends), _at(found))
        return found.astype(bool)

    def path(self) -> Floats:
        """The points (k, n) of the path that was found."""
        while (count := self._write(self._at)) < 0:
            self._make_path(4 * self._most)
        self.count = count
        return self._path[:count].copy()

    def reload(self, points: Floats) -> None:
        """Take these points (k, n) for the path."""
        self.count = len(points)
        if self.count > self._most:
            self._make_path(self.count)
        self._path[: self.count] = points

    def _make_path(self, most: int) -> None:
        """Make room for a path of so many points."""
        self._most = most
        self._path, lengths = np.empty((most, self.n)), np.empty(most)
        self._found = np.empty((most, self._rows.shape[1]))
        self._job[whole.FOUND] = _at(self._found)
        self._kept = (*self._kept[:-1], lengths)
        self._record[[connect.PATH, connect.LENGTHS, connect.MOST]] = [
            *(_at(self._path), _at(lengths), most)
        ]

    def shortened(self, spacing: float, *, proven: bool = False) -> Floats:
        """The points (k, n) of the path after it was made shorter, looked at in this spacing.

        Each shortcut is ``proven`` too, where that is asked.
        """
        self._numbers[connect.SPACING], self._record[connect.PROVES] = spacing, proven
        self.count = self._shorter(self._at, self.count, self._tries)
        self._record[connect.PROVES] = 0
        return self._path[: self.count].copy()

    def come_nearest(self, most: int) -> tuple[float, int]:
        """The least distance of the two trees, and the node of the start's where it is.

        Of this one at most so many nodes are looked at, evenly.
        """
        every = -(-self._trees[0].count // most)
        return self._nearest(self._at, every), int(self._ends[0])

    def nodes(self, side: int) -> tuple[Floats, Integers]:
        """The points of a tree, from the start (0) or the goal (1), and their parents."""
        tree = self._trees[side]
        count = tree.count
        return tree.arrays[0][:count], tree.arrays[1][:count]

    def _make_room(self, room: int) -> None:
        before = self._trees or [None, None]
        self._trees = [Nodes(self.n, room, tree) for tree in before]
        self._pointers[:] = [_at(tree.record) for tree in self._trees]


class Nodes:
    """The arrays of a tree; see `linkwork.planning.nodes`."""

    def __init__(self, n: int, room: int, before: Nodes | None = None) -> None:
        # a leaf is cut when it is full, and a cut may leave one node on a side: with this many
        # leaves there is one for every other node
        leaves = WIDTH32 * (-(-room // (2 * WIDTH32)) + 1)
        self.room = room
        self.arrays = (
            *(np.empty((room, n)), np.empty(room, np.int64), np.empty(room)),
            *(np.empty((leaves, 2 * n), np.float32), np.empty((leaves, n * WIDTH32), np.float32)),
            *(np.empty((leaves, WIDTH32), np.int64), np.empty(leaves, np.int64)),
            np.empty(leaves, np.float32),
        )
        counts = [0, 0] if before is None else [before.record[0], before.record[2]]
        self.record = np.array([counts[0], room, counts[1], *map(_at, self.arrays)], np.int64)
        for new, old in zip(self.arrays, before.arrays if before else (), strict=False):
            new[: len(old)] = old
        self.at = _at(self.record)

    @property
    def count(self) -> int:
        """The number of nodes."""
        return int(self.record[0])

    def has_room(self, more: int) -> bool:
        """Whether so many nodes more fit; see `nodes.is_full`."""
        fits = self.count + more <= self.room
        return fits and 2 * (int(self.record[2]) + more) < self.room


__all__ = ["FULL", "GOALS", "GOING", "HELD", "KERNELS", "MISSED", "ODD", "Effort", "Search"]
