"""Roadmaps: a net of free configurations and motions, for many paths in one scene.

Configurations are drawn, those that touch left out, and each joined with its nearest. A query joins
start and goal with the net and takes the shortest way through it. Motions are looked at when a way
first leads over them, since most never matter, and what is found of them is kept.

Source: R. Bohlin and L. Kavraki, Path planning using lazy PRM, ICRA 2000.
"""

from __future__ import annotations

import os
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import npz
from linkwork.checks import finite_number, finite_rows, whole_number
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.named_positions import labels
from linkwork.mechanism.neutral import neutral
from linkwork.planning.planner import Attempt, Plan, Planner
from linkwork.planning.search import GOLDEN, Search, paces

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_UNKNOWN, _FREE, _TOUCHES = 0, 1, 2
_KIND = "linkwork roadmap 1"
_ARRAYS = ("joints", "base", "drawn", "points", "edges", "known", "neighbours")


class Roadmap:
    """A net of configurations ``q`` (n, nq) and motions ``edges`` (m, 2) between them.

    It is made for the start's positions of the joints that do not move, and for a scene as it is:
    where this changes, call `renew`, which looks at all of it again. A roadmap may be used by one
    thread at a time.
    """

    def __init__(
        self,
        planner: Planner,
        scene: Any = None,
        *,
        nodes: int = 2000,
        neighbours: int = 12,
        base: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        """``nodes`` are drawn, of which those that touch nothing stay.

        ``base`` (nq,) has what does not move, by default neutral.

        Raises: InputError where a joint that moves has no limits; ShapeError;
        UnsupportedFeatureError where loops or tasks are kept, or joints turn about any axis.
        """
        _check_planner(planner)
        self.planner, self.scene = planner, scene
        nodes, self.neighbours = (
            whole_number(nodes, "nodes", least=1),
            whole_number(neighbours, "neighbours", least=1),
        )
        m = planner.mechanism
        self.base = _one(neutral(m) if base is None else base, "base", planner).copy()
        seed = whole_number(seed, "seed", least=0)
        low, high = m.lower[planner.planned], m.upper[planner.planned]
        if not planner.is_bounded:
            raise InputError(
                "a roadmap draws within limits, and a joint that moves has none; plan() takes it"
            )
        drawn = (0.5 + seed * GOLDEN + np.arange(1, nodes + 1)[:, None] * paces(len(low))) % 1.0
        self._drawn = low + drawn * (high - low)
        self._take(self._drawn)

    def _take(self, points: Floats) -> None:
        """Make the net of those of the points (k, n) that touch nothing."""
        planner = self.planner
        q = planner.whole(points, self.base)
        free = ~planner.model.collides(q, self.scene)
        self._points, self.q = points[free], q[free]
        self.edges = _nearest_pairs(self._points, self.neighbours)
        self._known = np.full(len(self.edges), _UNKNOWN, np.int8)
        self._length = np.linalg.norm(
            self._points[self.edges[:, 1]] - self._points[self.edges[:, 0]], axis=1
        )

    def __repr__(self) -> str:
        looked = int((self._known != _UNKNOWN).sum())
        return (
            f"Roadmap({len(self.q)} configurations, {len(self.edges)} motions, {looked} looked at)"
        )

    def renew(self) -> None:
        """Look at the net again after the scene has changed; what touched may be free now."""
        self._take(self._drawn)

    def plan(self, start: ArrayLike, goal: ArrayLike, *, seconds: float = 10.0) -> Plan:
        """A path from a start (nq,) to a goal (nq,) through the net, made shorter and verified.

        Raises: as `Planner.plan`; InputError where a joint that does not move is elsewhere.
        """
        began, planner = self.planner.clock(), self.planner
        first, goals = planner.checked(start, _one(goal, "goal", planner)[None])
        rest = planner.resting
        away = np.abs(first[rest] - self.base[rest])
        if away.max(initial=0.0) > 1e-9:
            k = int(rest[away.argmax()])
            raise InputError(
                f"'{labels(planner.mechanism, velocities=False)[k]}' does not move, and is at "
                f"{first[k]:.6g}, elsewhere than in the roadmap, which has it at "
                f"{self.base[k]:.6g}: make one with base=start"
            )
        seconds = finite_number(seconds, "seconds", above=0.0)
        attempt = Attempt(planner, first, self.scene, began, seconds)
        for what, q in (("the start", first), ("the goal", goals[0])):
            why = planner.what_is_wrong(q, self.scene, what)
            if why:
                return attempt.failed(why)
        low = self.base[planner.planned]
        with (
            planner.search((low, low)) as search,  # it draws nothing
            planner.model.native_in(self.scene) as motions,
        ):
            search.prepare(motions, self.base, planner.effort, spacing=planner.effort.spacing)
            ends = np.stack([first, goals[0]])[:, planner.planned]
            found, looked = self._through(search, ends, attempt.until)
        attempt.steps = looked
        if found is None and attempt.is_over(None):
            return attempt.failed(f"no path was found in {seconds:g} seconds")
        if found is None:
            return attempt.failed(
                "the roadmap does not join start and goal; more nodes, or plan(), may find a way"
            )
        return attempt.made(found)

    def _through(self, search: Search, ends: Floats, until: float) -> tuple[Floats | None, int]:
        """The shortest way (k, nq) from one end (n,) to the other that holds."""
        planner, n, looked = self.planner, len(self._points), 0
        points = np.concatenate([self._points, ends])
        own = _nearest(points[:n], ends, self.neighbours)
        joined = [[int(a), n + k] for k, near in enumerate(own) for a in near]
        edges = np.concatenate([self.edges, np.array([*joined, [n, n + 1]], np.int64)])
        added = points[edges[len(self.edges) :]]
        length = np.concatenate([self._length, np.linalg.norm(added[:, 1] - added[:, 0], axis=1)])
        known = np.concatenate([self._known, np.zeros(len(added), np.int8)])
        net = _Net(points, edges, length)
        while planner.clock() < until:
            steps = net.shortest(n, n + 1, known != _TOUCHES)
            if steps is None:
                break
            new = np.array([k for k in steps if known[k] == _UNKNOWN], np.int64)
            if len(new):
                looked += len(new)
                known[new] = np.where(search.free(points, edges[new]), _FREE, _TOUCHES)
                self._known = known[: len(self.edges)].copy()
                continue
            raw = points[net.along(n, steps)]
            found = planner.short_that_holds(
                search, raw, self.base, self.scene, planner.effort.spacing
            )
            if found is not None:
                return found, looked
            free = planner.holds(planner.whole(raw, self.base), self.scene)
            known[np.array(steps)[~free]] = _TOUCHES
            self._known = known[: len(self.edges)].copy()
        return None, looked

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the net to a .npz file; robot and scene are not in it."""
        arrays: dict[str, ArrayLike] = {
            "kind": _KIND,
            "joints": np.array(self.planner.joints),
            "base": self.base,
            "drawn": self._drawn,
            "points": self._points,
            "edges": self.edges,
            "known": self._known,
            "neighbours": self.neighbours,
        }
        npz.write(file, arrays)

    @classmethod
    def load(cls, file: str | os.PathLike[str], planner: Planner, scene: Any = None) -> Roadmap:
        """The net of a file that `save` wrote, for the same robot, joints and scene.

        Raises: InputError where the file is none, or is for other joints or limits.
        """
        _check_planner(planner)
        data, name = npz.read(file, "is no roadmap"), os.fspath(file)
        kind = str(data.get("kind", ""))
        if kind != _KIND:
            told = f"it is a '{kind}'" if kind else "it says not of what kind it is"
            raise InputError(f"{name} is no roadmap of this version, '{_KIND}': {told}")
        missing = [each for each in _ARRAYS if each not in data]
        if missing:
            raise InputError(f"{name} is no roadmap: there is no '{missing[0]}' in it")
        joints = tuple(map(str, data["joints"].reshape(-1).tolist()))
        if joints != planner.joints:
            raise InputError(
                f"{name} is a roadmap of {', '.join(joints)}; the planner moves "
                f"{', '.join(planner.joints)}"
            )
        m = planner.mechanism
        low, high = m.lower[planner.planned], m.upper[planner.planned]
        try:
            drawn, points = (finite_rows(data[key], key, len(low)) for key in ("drawn", "points"))
            base = finite_rows(data["base"], "base", data["base"].size)
            edges, known = data["edges"], data["known"]
            neighbours = whole_number(data["neighbours"][()], "neighbours", least=1)
            _check_net(drawn, points, edges, known)
        except InputError as error:
            raise InputError(f"{name} is no roadmap: {error}") from None
        if base.shape != (m.n_q,) or ((drawn < low - 1e-9) | (drawn > high + 1e-9)).any():
            raise InputError(f"{name} is a roadmap of another robot than {m.name}, or other limits")
        made = cls.__new__(cls)
        made.planner, made.scene = planner, scene
        made.base, made.neighbours = base, neighbours
        made._drawn, made._points = drawn, points
        made.edges, made._known = edges, known
        made.q = planner.whole(made._points, made.base)
        ends = made._points[made.edges]
        made._length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        return made


def _check_net(drawn: Floats, points: Floats, edges: NDArray[Any], known: NDArray[Any]) -> None:
    """Refuse arrays of a file that make no net.

    Raises: InputError, ShapeError.
    """
    if (drawn.ndim, points.ndim, known.ndim) != (2, 2, 1) or edges.shape != (len(known), 2):
        shapes = ", ".join(str(each.shape) for each in (drawn, points, edges, known))
        raise ShapeError(f"drawn, points, edges and known are of shapes {shapes}")
    for what, array, least, most in (
        ("edges", edges, 0, len(points) - 1),
        ("known", known, _UNKNOWN, _TOUCHES),
    ):
        if array.dtype.kind != "i" or not ((array >= least) & (array <= most)).all():
            raise InputError(f"{what} must be whole numbers from {least} to {most}")


def _one(q: ArrayLike, what: str, planner: Planner) -> Floats:
    """One configuration (nq,).

    Raises: InputError, ShapeError.
    """
    m = planner.mechanism
    found = finite_rows(q, what, m.n_q, labels(m, velocities=False))
    if found.ndim != 1:
        raise ShapeError(f"{what} must have shape ({m.n_q},), not {found.shape}")
    return found


def _check_planner(planner: Planner) -> None:
    """Refuse what is no planner of straight motions."""
    if not isinstance(planner, Planner):
        raise InputError(f"a roadmap is made by a Planner, as planner() gives, not {planner!r:.40}")
    if planner.kept is not None:
        raise UnsupportedFeatureError(
            "a roadmap has straight motions of angles and lengths, along which neither loops nor "
            "tasks are kept; plan() keeps them, and turns joints about any axis"
        )


class _Net:
    """Motions between points (k, n), by both ends (m, 2), and how long they are."""

    def __init__(self, points: Floats, edges: Integers, length: Floats) -> None:
        self.points, self.edges, self.length = points, edges.tolist(), length.tolist()
        self.at: list[list[tuple[int, int]]] = [[] for _ in points]
        for k, (a, b) in enumerate(self.edges):
            self.at[a].append((b, k))
            self.at[b].append((a, k))

    def shortest(self, start: int, goal: int, usable: NDArray[np.bool_]) -> list[int] | None:
        """The motions of the shortest way, by A*; None where there is none."""
        ahead = np.linalg.norm(self.points - self.points[goal], axis=1).tolist()
        allowed, reach, came = usable.tolist(), {start: 0.0}, dict[int, tuple[int, int]]()
        queue, done = [(ahead[start], start)], set[int]()
        while queue:
            _, node = heappop(queue)
            if node == goal:
                steps: list[int] = []
                while node != start:
                    node, k = came[node]
                    steps.append(k)
                return steps[::-1]
            if node in done:
                continue
            done.add(node)
            for other, k in self.at[node]:
                if allowed[k]:
                    far = reach[node] + self.length[k]
                    if far < reach.get(other, np.inf):
                        reach[other], came[other] = far, (node, k)
                        heappush(queue, (far + ahead[other], other))
        return None

    def along(self, start: int, steps: list[int]) -> list[int]:
        """The points that motions one after the other lead over."""
        found = [start]
        for k in steps:
            a, b = self.edges[k]
            found.append(b if a == found[-1] else a)
        return found


def _nearest(points: Floats, others: Floats, count: int) -> Integers:
    """The numbers (k, count) of the nearest points of each of the others."""
    count = min(count, len(points))
    found = np.empty((len(others), count), np.int64)
    for k, x in enumerate(others):
        apart = ((points - x) ** 2).sum(axis=1)
        found[k] = np.argpartition(apart, count - 1)[:count] if count else 0
    return found


def _nearest_pairs(points: Floats, neighbours: int) -> Integers:
    """Each point and its nearest others, every pair once: numbers (m, 2)."""
    near = _nearest(points, points, neighbours + 1)
    pairs = np.stack([np.repeat(np.arange(len(points)), near.shape[1]), near.reshape(-1)], axis=1)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0).reshape(-1, 2)
