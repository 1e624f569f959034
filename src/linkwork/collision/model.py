"""The collision model of a robot: what of it can touch, and the questions that people ask of it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_rows
from linkwork.collision import spheres
from linkwork.collision.cover import Cover
from linkwork.collision.frames import Frames
from linkwork.collision.obstacles import obstacles_of
from linkwork.collision.pairs import PairTable
from linkwork.collision.pieces import Piece, table
from linkwork.collision.tables import RobotTables, SceneTables, robot_tables, scene_tables
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.threads import chunk_rows, in_parallel, threads_for
from linkwork.compile.typed import WIDTH, WIDTH32, library
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_ROW_NS = 100.0
"""An estimate of the time for one configuration, for how rows are shared between threads."""

_LARGEST_TURN, _LARGEST_SHIFT = 4 * np.pi, 20.0
"""Where no limit says less, how far joints turn (rad) and shift (m) in what float32 decides:
configurations beyond are decided on the pieces alone."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CollisionParts:
    """What a model is made of: plain values, which the cache keeps.

    ``pieces[k]`` belongs to the link ``bodies[body_of[k]]``; the cover is of the pieces in this
    order.
    """

    bodies: tuple[str, ...]
    pieces: tuple[Piece, ...]
    body_of: tuple[int, ...]
    cover: Cover
    notes: tuple[str, ...] = ()


class CollisionModel(ProcessBound):
    """What of a robot can touch itself and a scene; made by `Robot.collision`.

    It never changes: what changes it returns another. ``pairs`` is the table of link pairs.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        parts: CollisionParts,
        pairs: PairTable,
        compiler: Compiler,
        threads: int = 1,
    ) -> None:
        """``threads``: how many a call may take where it does not say."""
        self.mechanism, self.parts, self.pairs = mechanism, parts, pairs
        self._compiler, self._threads = compiler, threads
        self._scenes: list[tuple[Any, tuple[Any, ...], SceneTables]] = []

    def __repr__(self) -> str:
        n, checked = len(self.parts.bodies), sum(pair.checked for pair in self.pairs)
        return (
            f"CollisionModel({self.mechanism.name!r}: {n} links, {len(self.parts.pieces)} pieces, "
            f"{len(self.parts.cover.spheres)} balls, {checked} of {len(self.pairs)} pairs checked)"
        )

    @property
    def links(self) -> tuple[str, ...]:
        """The links that have shapes."""
        return self.parts.bodies

    # tables and code

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self.mechanism, self.parts.bodies, self._compiler)

    @cached_property
    def _pair_rows(self) -> NDArray[np.int64]:
        place = {name: k for k, name in enumerate(self.parts.bodies)}
        found = [(place[p.link_a], place[p.link_b]) for p in self.pairs if p.checked]
        return np.array(found, np.int64).reshape(-1, 2)

    @cached_property
    def _moves(self) -> list[bool]:
        m = self.mechanism
        return [bool(m.ancestry(int(m.frame_body[m.frame(b)]))) for b in self.parts.bodies]

    @cached_property
    def _robot(self) -> RobotTables:
        rows, vertices = table(self.parts.pieces, self.parts.body_of)
        return robot_tables(
            self.parts.cover, rows, vertices, self._pair_rows, self._moves, self.mechanism.n_q
        )

    @cached_property
    def _most(self) -> Floats:
        """The greatest size of each number of q that float32 decides on."""
        m = self.mechanism
        most = np.empty(m.n_q)
        for c, kind in enumerate(m.joint_types):
            span = m.q_slice(c)
            turn = np.where(np.arange(span.stop - span.start) < kind.n_lengths, _LARGEST_SHIFT, 0)
            turn[turn == 0] = _LARGEST_TURN
            most[span] = turn
        bound = np.maximum(np.abs(m.lower), np.abs(m.upper))
        return np.where(np.isfinite(bound), np.maximum(np.minimum(bound, most), 1e-3) * 1.01, most)

    @cached_property
    def reach(self) -> float:
        """How far at most any point of the robot comes from the world's origin (m).

        Floating and sliding joints without limits are counted with 20 m.
        """
        m, farthest = self.mechanism, 0.0
        for k, body in enumerate(self.parts.bodies):
            frame = m.frame(body)
            length = float(np.linalg.norm(m.p_body_frame[frame]))
            for b in m.ancestry(int(m.frame_body[frame])):
                length += float(np.linalg.norm(m.p_parent_joint[b]))
                c = int(m.coordinate[b])
                if c >= 0:
                    span, n = m.q_slice(c), m.joint_types[c].n_lengths
                    shift = float(np.linalg.norm(self._most[span.start : span.start + n]))
                    length += abs(float(m.multiplier[b])) * shift + abs(float(m.offset[b]))
            ball = self.parts.cover.body_spheres[k]
            farthest = max(farthest, length + float(np.linalg.norm(ball[:3]) + ball[3]))
        return farthest

    @cached_property
    def _balls(self) -> NDArray[np.float32]:
        largest = float(self._most.max(initial=2 * np.pi))
        return self._robot.rounded_balls(self._frames.float32_bound(self.reach, largest=largest))

    @cached_property
    def _code(self) -> Any:
        return library([spheres.check_rows], self._compiler, "collision checks")

    @cached_property
    def _check(self) -> Any:
        kinds = [ctypes.c_int64] * 25
        return ctypes.CFUNCTYPE(None, *kinds)(self._code.address("check_rows"))

    def _scene(self, scene: Any) -> SceneTables:
        """The tables of a scene, made again where something of it has changed."""
        objects = () if scene is None else tuple(scene)
        for known, contents, tables in self._scenes:
            if known is scene and contents == objects:
                return tables
        found = obstacles_of(objects)
        allowed = np.zeros((0, 2), np.int64)
        tables = scene_tables(found, self._robot, reach=self.reach, allowed=allowed)
        self._scenes = [
            *(s for s in self._scenes[-7:] if s[0] is not scene),
            (scene, objects, tables),
        ]
        return tables

    # questions

    def collides(self, q: ArrayLike, scene: Any = None, *, threads: int | None = None) -> Booleans:
        """Whether the robot touches itself or the scene at q (..., nq): booleans (...,).

        Decided on the convex pieces of its shapes, whatever the balls of the cover are. Two things
        that just touch are a hit. What neither moves nor can be moved is not looked at: a base on
        a table.

        Raises: ShapeError; InputError for numbers that are not finite.
        """
        rows = real_rows(q, "q", self.mechanism.n_q)
        shape = rows.shape[:-1]
        rows = np.ascontiguousarray(rows.reshape(-1, self.mechanism.n_q))
        tables = self._scene(scene)
        verdicts = np.zeros(-(-len(rows) // WIDTH32), np.int64)
        threads = self._threads if threads is None else threads
        size = chunk_rows(_ROW_NS, threads_for(len(rows), _ROW_NS, threads))
        firsts = range(0, len(rows), size)
        in_parallel(
            lambda first: self._check_rows(rows, first, size, tables, verdicts), firsts, threads
        )
        bits = np.unpackbits(verdicts.view(np.uint8).reshape(-1, 8)[:, :2], bitorder="little")
        return bits[: len(rows)].astype(bool).reshape(shape)

    def _check_rows(
        self, rows: Floats, first: int, size: int, scene: SceneTables, verdicts: Any
    ) -> None:
        robot, frames, n_b = self._robot, self._frames, len(self.parts.bodies)
        n_q, part = self.mechanism.n_q, rows[first : first + size]
        narrow = np.empty(WIDTH32 * (n_q + 15 * n_b) + robot.room, np.float32)
        wide = np.empty(WIDTH * (n_q + 24 * n_b))
        todo, counts = np.empty(spheres.FULL + 1, np.int64), np.zeros(4, np.int64)
        clouds, most = scene.obstacles.clouds, scene.most_found
        found = np.empty(most, np.int64)
        arrays = (
            *(robot.ints, self._balls, robot.ranges, robot.pieces),
            *(scene.ints, scene.shapes, scene.rows, scene.vertices),
            *(scene.obstacles.tree.index, scene.obstacles.tree.numbers),
            *(clouds.index, clouds.numbers, robot.balls, narrow, wide, todo, found),
        )
        self._check(
            part.ctypes.data,
            len(part),
            self._most.ctypes.data,
            frames.address("frames32"),
            frames.address("frames64"),
            *(array.ctypes.data for array in arrays),
            most,
            verdicts[first // WIDTH32 :].ctypes.data,
            counts.ctypes.data,
        )
        if counts[3]:
            row = first + int(counts[3]) - 1
            bad = int(np.flatnonzero(~np.isfinite(rows[row]))[0])
            joint = self.mechanism.joint_of_q(bad)
            raise InputError(f"q[{row}]: joint '{joint}' is {rows[row, bad]}, which is not finite")
