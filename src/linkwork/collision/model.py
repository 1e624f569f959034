"""The collision model of a robot: what of it can touch, and the questions that people ask of it."""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.configuration import ranges
from linkwork.checks import finite_number, leading_shape, real_rows, whole_number
from linkwork.collision import distances, motion, spheres
from linkwork.collision.apart import Apart, apart_tables, packed
from linkwork.collision.attached import attach, check_attached, parts_of
from linkwork.collision.cover import Cover, joined
from linkwork.collision.frames import Frames
from linkwork.collision.obstacles import obstacles_of
from linkwork.collision.pairs import Pair, PairTable
from linkwork.collision.pieces import Piece, table
from linkwork.collision.reaches import Reaches, motion_bounds
from linkwork.collision.rooms import ExactRoom, NativeCheck, NativeMotions, NativeNearest, Room
from linkwork.collision.tables import (
    RobotTables,
    SceneTables,
    robot_tables,
    scene_tables,
    write_boxes,
)
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.machine_code import MachineCode
from linkwork.compile.native_call import Array, Truth, row_call
from linkwork.compile.native_method import NativeMethod, make_native
from linkwork.compile.numpy_abi import address as _at
from linkwork.compile.threads import chunk_rows, in_parallel, thread_count, threads_for
from linkwork.compile.typed import WIDTH32, library
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.spatial.poses import pose_matrix

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Names: TypeAlias = "tuple[str, str]"

_CHECK_NS, _EXACT_NS = 100.0, 5000.0
"""Estimates of the time for one configuration, for how rows are shared between threads."""

_SAMPLES_AT_ONCE = 1_000_000
"""Configurations of motions with a resolution that are held at once, about."""

_LARGEST_TURN, _LARGEST_SHIFT = 4 * np.pi, 20.0
"""The turns (rad) and shifts (m) of joints, where no limit says less, that float32 decides on:
configurations beyond are decided on the pieces alone."""

_SMALLEST_QUATERNION = 1e-3
"""Quaternions whose largest number is smaller, or larger than `_LARGEST_TURN`, are scaled: float32
does not know their squares, or counts them as beyond."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CollisionParts:
    """The parts of a model: plain values, which the cache keeps.

    A body is a link, or an object that is held, and has the pose of the frame in ``frames``.
    ``pieces`` and ``covers`` are of each body; ``notes`` say what people should know of them.
    """

    bodies: tuple[str, ...]
    frames: tuple[str, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    covers: tuple[Cover, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def cover(self) -> Cover:
        """The cover of all bodies."""
        return joined(self.covers, [len(own) for own in self.pieces])

    def with_body(
        self, name: str, frame: str, pieces: Sequence[Piece], cover: Cover
    ) -> CollisionParts:
        """The parts with one more body."""
        return replace(
            self,
            bodies=(*self.bodies, name),
            frames=(*self.frames, frame),
            pieces=(*self.pieces, tuple(pieces)),
            covers=(*self.covers, cover),
        )

    def without_body(self, name: str) -> CollisionParts:
        """The parts without a body."""
        gone = self.bodies.index(name)
        left = {
            field: tuple(v for k, v in enumerate(getattr(self, field)) if k != gone)
            for field in ("bodies", "frames", "pieces", "covers")
        }
        return replace(self, **left)


@dataclass(frozen=True, eq=False, slots=True)
class Clearance:
    """The distance of the robot from touching, and the points.

    ``distance`` (...,): of the nearest pair (m), below 0 how deep it touches; inf where there is no
    pair. ``names``: that pair, links or objects; of a batch, a list of them, row by row. ``points``
    (..., 2, 3) are the nearest points of both and ``normal`` (..., 3) leads from the first to the
    second, in the world.
    """

    distance: Floats
    names: Any
    points: Floats
    normal: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Distances:
    """The distances of pairs of links, and of links and objects, for each configuration.

    ``distance`` (..., n) in m, below 0 how deep they touch, inf beyond what was asked for.
    ``pairs``: the names of the n pairs. ``points`` (..., n, 2, 3) and ``normal`` (..., n, 3) as in
    `Clearance`. ``gradient`` (..., n, nv): of the distance, in the tangent of q; None where it was
    not asked for.
    """

    distance: Floats
    pairs: tuple[Names, ...]
    points: Floats
    normal: Floats
    gradient: Floats | None


@dataclass(frozen=True, eq=False, slots=True)
class Nearest:
    """The nearest pairs of each configuration, the nearest first.

    As `Distances`, but that ``bodies`` (..., n, 2) says which pair each is, by the numbers of
    ``names``; -1 and a distance inf where there are fewer.
    """

    distance: Floats
    bodies: Integers
    names: tuple[str, ...]
    points: Floats
    normal: Floats
    gradient: Floats | None


@dataclass(frozen=True, eq=False, slots=True)
class MotionCheck:
    """Whether motions touch, and where first.

    ``touches`` (...,); ``t`` (...,): up to where, from 0 to 1, a motion is free, 1 where it is all;
    ``names``: the pair that touches there, None where none does; of a batch, a list, row by row.
    """

    touches: Booleans
    t: Floats
    names: Any

    def __bool__(self) -> bool:
        """Whether the one motion touches.

        Raises: InputError for many: ask for that of all, or of any.
        """
        if self.touches.ndim:
            raise InputError(
                f"the truth of {self.touches.size} motions is not one: ask for touches.all() or "
                "touches.any()"
            )
        return bool(self.touches)


_OFTEN = 3
"""Questions about one configuration in a scene as it is, from which on native code answers."""


@dataclass(eq=False, slots=True)
class _Known:
    """The knowledge of a scene: its tables as of a number of edits.

    Of a scene that is often asked about in single configurations, there is a native function for
    them: ``asked`` counts down to it, ``block`` are its arguments, in the arrays of ``room``.
    """

    scene: Any
    edits: int
    tables: SceneTables
    asked: int = _OFTEN
    block: Integers | None = None
    room: Room | None = None


def kernels(compiler: Compiler) -> MachineCode:
    """All that models compile, but the poses: one library, since most of it is shared."""
    listed = [
        spheres.check_rows,
        spheres.look_between,
        spheres.settle_rows,
        spheres.check_one,
        distances.distances_rows,
        distances.nearest_rows,
        motion.motion_rows,
        write_boxes,
    ]
    return library(listed, compiler, "collision checks and distances")


class _Asked:
    """The question that native code answers for one configuration."""

    __slots__ = ("_collides",)
    """The functions of `compile.native_method`, by their scenes."""

    if TYPE_CHECKING:
        _whether: Callable[..., Booleans]

    def collides(self, q: ArrayLike, scene: Any = None, *, threads: int | None = None) -> Booleans:
        """Whether the robot touches itself or the scene at q (..., nq): booleans (...,).

        Decided on the convex pieces of its shapes, whatever the balls of the cover are. Two things
        that just touch are a hit. What neither moves nor can be moved is not looked at: a base on
        a table.

        Raises: ShapeError; InputError for numbers that are not finite.
        """
        return self._whether(q, scene, threads)


_NATIVE: list[Any] = []
"""The things that the native methods of all models need, once they are made."""
_MAKING = threading.Lock()


def _make_native_method(compiler: Compiler) -> None:
    """Let native code answer `collides`, before anybody keeps the method of a model."""
    with _MAKING:
        if not _NATIVE:
            names = [NativeMethod("collides", 1, [("scene", None)], 1)]
            _NATIVE.append(make_native(_Asked, names, compiler))


class CollisionModel(_Asked, ProcessBound):
    """A robot's convex pieces, the balls around them and its pairs of links: see `Robot.collision`.

    It never changes: what changes it returns another. ``pairs`` is the table of link pairs.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        parts: CollisionParts,
        pairs: PairTable,
        compiler: Compiler,
        threads: int = 1,
        apart: tuple[Apart, ...] = (),
    ) -> None:
        """``threads``: how many a call may take where it does not say; ``apart``: see `apart`."""
        _make_native_method(compiler)
        self.mechanism, self.parts, self.pairs, self.apart = mechanism, parts, pairs, apart
        self._compiler, self._threads = compiler, threads
        self._scenes: list[_Known] = []
        self._rooms: list[Room] = []  # in which nobody works
        self._lock = threading.Lock()  # while what is known of scenes changes
        self._collides: dict[Any, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        n, pieces = len(self.parts.bodies), sum(map(len, self.parts.pieces))
        checked = f"{len(self.pairs.checked)} of {len(self.pairs)} pairs checked"
        return (
            f"CollisionModel({self.mechanism.name!r}: {n} links, {pieces} pieces, "
            f"{len(self.parts.cover.spheres)} balls, {checked})"
        )

    @property
    def links(self) -> tuple[str, ...]:
        """The links that have shapes."""
        return self.parts.bodies

    @property
    def margin(self) -> float:
        """The distance (m) that pairs keep which are left out because they never touch."""
        return self.pairs.margin

    @property
    def overhang(self) -> dict[str, float]:
        """The most that the balls of each link reach out of its pieces (m)."""
        return dict(zip(self.parts.bodies, map(float, self.parts.cover.overhang), strict=True))

    @property
    def carriers(self) -> dict[str, tuple[str, float]]:
        """The frame that carries each link or held object, and how far that reaches from it (m)."""
        balls = self.parts.cover.body_spheres
        reach = np.linalg.norm(balls[:, :3], axis=1) + balls[:, 3]
        return dict(
            zip(self.parts.bodies, zip(self.parts.frames, reach.tolist(), strict=True), strict=True)
        )

    # what changes

    def with_pairs(
        self,
        pairs: PairTable | None = None,
        *,
        check: Any = (),
        ignore: Any = (),
    ) -> CollisionModel:
        """The model with another table of pairs, or with pairs that are checked or left out.

        ``check`` and ``ignore``: pairs (a, b) of links, or links for all their pairs.

        Raises: UnknownNameError; InputError for pairs of one body, and a table of other links.
        """
        changed = self.pairs if pairs is None else pairs
        if not isinstance(changed, PairTable) or changed.links != self.pairs.links:
            raise InputError(
                "pairs must be a table of this model's links, as its own pairs or what these give; "
                "check= and ignore= take pairs by name"
            )
        changed = replace(changed, held=self.pairs.held)
        changed = changed.with_checked(check).with_ignored(ignore)
        made = self._changed(self.parts, changed)
        made._frames = self._frames
        return made

    @cached_property
    def of_scene(self) -> CollisionModel:
        """The model that looks at the scene alone, not at pairs of links."""
        return self.with_pairs(ignore=self.links)

    def with_attached(
        self,
        name: str,
        shape: Any,
        frame: str,
        pose: ArrayLike | None = None,
        *,
        allowed: Collection[str] = (),
        overhang: float = 0.01,
    ) -> CollisionModel:
        """The model whose robot holds an object: a shape, or an object of a scene.

        It moves with ``frame``, at ``pose`` there: (4, 4), or a position (3,). It is checked
        against all links but those on the frame's own body and the ``allowed`` ones, and against
        the scene.

        Raises: UnknownNameError; InputError; UnsupportedFeatureError for half-spaces, height fields
        and points.
        """
        held = attach(name, shape, frame, pose, allowed=allowed)
        m, parts = self.mechanism, self.parts
        check_attached([held], m.frame_names, (*m.frame_names[: m.n_link_frames], *parts.bodies))
        own = int(m.frame_body[m.frame(frame)])
        carrier = next(
            (k for k, on in enumerate(parts.frames) if m.frame_body[m.frame(on)] == own), None
        )
        on = frame if carrier is None else parts.frames[carrier]
        T_on_frame = np.linalg.solve(_in_body(m, on), _in_body(m, frame))
        pieces, covering = parts_of(held.shape, overhang, T_on_frame @ held.T_frame_object)
        added = [
            Pair(link, name, False, "same body")
            if m.frame_body[m.frame(on)] == own
            else Pair(link, name, link not in held.allowed, "you" if link in held.allowed else "")
            for link, on in zip(parts.bodies, parts.frames, strict=True)
        ]
        table_ = replace(
            self.pairs,
            pairs=(*self.pairs.pairs, *added),
            links=(*self.pairs.links, name),
            held=(*self.pairs.held, name),
        )
        grown = parts.with_body(name, on, pieces, covering)
        model = self._changed(grown, table_)
        if carrier is not None:  # it is where a link is, whose pose is known
            model._frames = self._frames.carrying(carrier)
        return model

    def without_attached(self, name: str) -> CollisionModel:
        """The model whose robot no longer holds an object.

        Raises: UnknownNameError.
        """
        parts = self.parts
        if name not in self.pairs.held:
            raise UnknownNameError("held object", name, self.pairs.held)
        pairs = replace(
            self.pairs,
            pairs=tuple(p for p in self.pairs.pairs if name not in (p.link_a, p.link_b)),
            links=tuple(link for link in self.pairs.links if link != name),
            held=tuple(each for each in self.pairs.held if each != name),
        )
        return self._changed(parts.without_body(name), pairs)

    def _changed(self, parts: CollisionParts, pairs: PairTable) -> CollisionModel:
        return CollisionModel(
            self.mechanism, parts, pairs, self._compiler, self._threads, self.apart
        )

    def with_tables(self) -> CollisionModel:
        """The model with tables of how far links are apart that are often near; see `apart`."""
        parts, within = self.parts, ranges(self.mechanism)
        balls = parts.cover.body_spheres
        # a held object may give way to another of the same name
        held = np.array([body in self.pairs.held for body in parts.bodies])
        pairs = self._pair_rows[~held[self._pair_rows].any(axis=1)]
        bounds = motion_bounds(self.mechanism, parts.frames, balls, pairs=pairs, span=within)
        found = apart_tables(
            self.mechanism,
            parts.bodies,
            parts.pieces,
            pairs,
            bounds.pairs,
            overhang=parts.cover.overhang,
            most=self._most,
            distances=self.body_distances,
        )
        made = self._changed(parts, self.pairs)
        made._frames, made.apart = self._frames, found
        return made

    # tables and code

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self.mechanism, self.parts.frames, self._compiler)

    @cached_property
    def _pair_rows(self) -> NDArray[np.int64]:
        place = {name: k for k, name in enumerate(self.parts.bodies)}
        found = [(place[p.link_a], place[p.link_b]) for p in self.pairs if p.checked]
        return np.array(found, np.int64).reshape(-1, 2)

    @cached_property
    def _moves(self) -> list[bool]:
        m = self.mechanism
        bodies = [int(m.frame_body[m.frame(name)]) for name in self.parts.frames]
        return [any(m.coordinate[b] >= 0 for b in m.ancestry(body)) for body in bodies]

    @cached_property
    def _robot(self) -> RobotTables:
        pieces = [piece for own in self.parts.pieces for piece in own]
        body_of = [k for k, own in enumerate(self.parts.pieces) for _ in own]
        rows, vertices = table(pieces, body_of)
        m, largest = self.mechanism, float(self._most.max(initial=2 * np.pi))
        times, offset = np.abs(m.multiplier), np.abs(m.offset)
        largest = max(largest, float((times * largest + offset).max(initial=0.0)))
        return robot_tables(
            self.parts.cover,
            rows,
            vertices,
            self._pair_rows,
            self._moves,
            n_q=m.n_q,
            error=self._frames.float32_bound(self.reach, largest=largest),
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
        # beyond its limits a joint costs hardly any rounding, and programs go there: open fingers
        bound = 2.0 * np.maximum(np.abs(m.lower), np.abs(m.upper)) + 0.1
        return np.where(np.isfinite(bound), np.minimum(bound, most), most)

    @cached_property
    def reach(self) -> float:
        """A bound on the distance of the robot's points from the world's origin (m).

        Floating and sliding joints without limits are counted with 20 m.
        """
        m, farthest = self.mechanism, 0.0
        for k, name in enumerate(self.parts.frames):
            frame = m.frame(name)
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
    def _apart(self) -> tuple[Integers, Floats]:
        return packed(self.apart, self.parts.bodies, self._pair_rows)

    @cached_property
    def _balls(self) -> NDArray[np.float32]:
        return self._robot.rounded_balls()

    @cached_property
    def _code(self) -> Any:
        return kernels(self._compiler)

    @cached_property
    def _check(self) -> Any:
        return _native(self._code, "check_rows", 4)

    @cached_property
    def _nearest_rows(self) -> Any:
        return _native(self._code, "nearest_rows", 10, {4: ctypes.c_double})

    @cached_property
    def _distances_rows(self) -> Any:
        return _native(self._code, "distances_rows", 8, {5: ctypes.c_double})

    @cached_property
    def _motion_rows(self) -> Any:
        return _native(self._code, "motion_rows", 10, {4: ctypes.c_double})

    @cached_property
    def _write_boxes(self) -> Any:
        return _native(self._code, "write_boxes", 7, {4: ctypes.c_double})

    def _scene(self, scene: Any) -> SceneTables:
        """The tables of a scene, made again where something of it has changed."""
        return self._known(scene).tables

    def _known(self, scene: Any) -> _Known:
        try:
            edits = 0 if scene is None else int(scene.edits[0])
        except AttributeError:
            raise InputError(f"scene must be a Scene or None, not {scene!r:.60}") from None
        for known in self._scenes:
            if known.scene is scene and known.edits == edits:
                return known
        with self._lock:
            return self._learnt(scene, edits)

    def _learnt(self, scene: Any, edits: int) -> _Known:
        """The knowledge of a scene, up to date, among the eight that are remembered."""
        objects = () if scene is None else tuple(scene)
        contacts = frozenset() if scene is None else scene.allowed
        known = next((known for known in self._scenes if known.scene is scene), None)
        found = obstacles_of(objects, None if known is None else known.tables.obstacles)
        allowed = self._allowed(contacts, found)
        how: Any = {"reach": self.reach, "allowed": allowed}
        tables = scene_tables(found, self._robot, self._bodies, self._write_boxes, **how)
        if known is None:
            known = _Known(scene, edits, tables)
            for old in self._scenes[:-7]:
                self._collides.pop(old.scene, None)
            self._scenes = [*self._scenes[-7:], known]
        else:
            known.tables, known.asked = tables, _OFTEN
            known.edits = edits
        return known

    def _allowed(self, contacts: Any, found: Any) -> Integers:
        """The bodies and rows of contacts that a scene allows; aggregates come after rows."""
        if not contacts:
            return np.zeros((0, 2), np.int64)
        objects = {name: k for k, name in enumerate(found.names)}
        bodies = {name: k for k, name in enumerate(self.parts.bodies)}
        aggregates = found.aggregates.objects
        rows: list[tuple[int, int]] = []
        for name, other in contacts:
            if other in bodies and name in objects:
                k = objects[name]
                of_object = [*np.flatnonzero(found.object_of_row == k)]
                if k in aggregates:
                    of_object.append(len(found.rows) + aggregates.index(k))
                rows += [(bodies[other], int(row)) for row in of_object]
        return np.array(rows, np.int64).reshape(-1, 2)

    @cached_property
    def _bodies(self) -> distances.Bodies:
        robot = self._robot
        return distances.Bodies(
            robot.ranges,
            robot.pieces,
            np.ascontiguousarray(self.parts.cover.body_spheres),
            self._pair_rows,
            np.flatnonzero(self._moves),
            self._frames.column_of,
            self.mechanism.n_q,
            self._turns,
        )

    @cached_property
    def _turns(self) -> Integers:
        """The joints with quaternions, as `motion.turns_of` has them."""
        return motion.turns_of(self.mechanism)

    def _rows(self, q: ArrayLike, what: str = "q") -> tuple[Floats, tuple[int, ...]]:
        """Configurations as rows (n, nq) that are finite, and their leading shape."""
        given = real_rows(q, what, self.mechanism.n_q)
        rows = np.ascontiguousarray(_as_rows(given))
        if 0 in np.isfinite(rows).tobytes():  # faster than all() of one row
            self._refuse(rows, int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0]), what)
        return self._of_usual_length(rows, what), given.shape[:-1]

    @cached_property
    def _quaternion_starts(self) -> Integers:
        """The first numbers of quaternions in q."""
        return np.ascontiguousarray(self._turns[:, 0])

    def _of_usual_length(self, rows: Floats, what: str = "q") -> Floats:
        """Rows whose quaternions have lengths with which float32 decides."""
        for first in self._quaternion_starts.tolist():
            at = slice(first, first + 4)
            size = np.abs(rows[:, at]).max(axis=1, initial=0.0)
            large = (size > _LARGEST_TURN) & np.isfinite(size)
            odd = np.flatnonzero((size < _SMALLEST_QUATERNION) | large)
            if len(odd):
                if not size[odd].all():
                    row = int(odd[size[odd] == 0][0])
                    where = f"{what}[{row}]" if len(rows) > 1 else what
                    joint = self.mechanism.joint_of_q(first)
                    raise InputError(f"{where}: joint '{joint}' has a quaternion of length zero")
                rows = rows.copy()
                rows[odd, at] /= size[odd, None]
        return rows

    def _refuse(self, rows: Floats, row: int, what: str = "q") -> None:
        bad = int(np.flatnonzero(~np.isfinite(rows[row]))[0])
        joint = self.mechanism.joint_of_q(bad)
        at = f"{what}[{row}]" if len(rows) > 1 else what
        raise InputError(f"{at}: joint '{joint}' is {rows[row, bad]}, which is not finite")

    # questions

    def _whether(self, q: ArrayLike, scene: Any, threads: int | None) -> Booleans:
        """The answer of `collides`."""
        given = real_rows(q, "q", self.mechanism.n_q)
        rows = _as_rows(np.ascontiguousarray(given))
        rows = self._of_usual_length(rows)
        known, n = self._known(scene), len(rows)
        threads = self._threads if threads is None else thread_count(threads)
        tables = known.tables
        if n == 1:
            room = self._room(tables)
            self._checked(room, rows, 0, 1, room.verdicts)
            self._rooms.append(room)
            hit = bool(room.verdicts[0])
            if given.ndim > 1:
                return np.full(given.shape[:-1], hit)
            self._expect_more(known)
            return cast("Booleans", np.bool_(hit))
        verdicts = np.zeros(-(-n // WIDTH32), np.int64)
        size = chunk_rows(_CHECK_NS, threads_for(n, _CHECK_NS, threads))

        def work(first: int) -> None:
            room = self._room(tables)
            self._checked(room, rows, first, min(size, n - first), verdicts[first // WIDTH32 :])
            self._rooms.append(room)

        in_parallel(work, range(0, n, size), threads)
        bits = np.unpackbits(verdicts.view(np.uint8).reshape(-1, 8)[:, :2], bitorder="little")
        return bits[:n].astype(bool).reshape(given.shape[:-1])

    def extent_of(self, scene: Any) -> float:
        """The greatest distance of points of a scene's objects along an axis (m)."""
        return self._scene(scene).obstacles.extent

    @contextmanager
    def native_in(self, scene: Any = None) -> Generator[NativeMotions]:
        """The check and proof in a scene as it is now, for one thread of a compiled program."""
        native = self.native_motions(scene)
        try:
            yield native
        finally:
            self.give_back(native)

    def native_motions(self, scene: Any = None) -> NativeMotions:
        """The check and proof in a scene as it is now, for one thread; see `give_back`."""
        tables = self._known(scene).tables
        room = self._room(tables)
        proven = self._proves_motions
        if proven and room.reaches is not self._usual_reaches:
            room.move_by(self._usual_reaches)
        if room.native is None:
            check = NativeCheck(*self._halves, room.address)
            rows = self._code.address("motion_rows") if proven else 0
            room.native = NativeMotions(check, rows, _at(room.world) if proven else 0, room)
        return room.native

    def native_nearest(self, scene: Any = None) -> NativeNearest:
        """The nearest pairs in a scene as it is now, for one thread; see `give_back`."""
        tables = self._scene(scene)
        room = self._exact_room(tables)
        numbers = np.array([self._code.address("nearest_rows"), room.address], np.int64)
        return NativeNearest(numbers, room, tables.rooms)

    def give_back(self, native: NativeMotions | NativeNearest) -> None:
        """Let others use what `native_motions` or `native_nearest` gave."""
        if isinstance(native, NativeNearest):
            native.rooms.append(native.room)
        else:
            self._rooms.append(native.room)

    @cached_property
    def _proves_motions(self) -> bool:
        """Whether the bounds of motions are the same for all of them."""
        return not len(self._turns) and bool(np.isfinite(self._slide_span).all())

    @cached_property
    def _halves(self) -> tuple[int, int, int]:
        """The addresses of the check and of its two halves."""
        look, settle = self._code.address("look_between"), self._code.address("settle_rows")
        return self._code.address("check_rows"), look, settle

    def _expect_more(self, known: _Known) -> None:
        """Let native code answer for one configuration in this scene, from the third one on."""
        with self._lock:
            known.asked -= 1
            if known.asked > 0 or not any(each is known for each in self._scenes):
                return
            if known.block is not None and known.block[spheres.KNOWN_EDITS] == known.edits:
                return  # it does: this call was made in another way
            scene, tables, edits = known.scene, known.tables, known.edits
            room, starts = self._new_room(), self._quaternion_starts
            room.look_at(tables)
            counted = np.zeros(1, np.int64) if scene is None else scene.edits
            made = np.concatenate([room.block, np.zeros(spheres.LISTED, np.int64)])
            made = np.ascontiguousarray(made[: spheres.LISTED])
            made[spheres.VERDICT], made[spheres.EDITS] = _at(room.verdicts), _at(counted)
            made[spheres.QUATERNIONS], made[spheres.N_QUATERNIONS] = _at(starts), len(starts)
            made[spheres.KNOWN_EDITS] = edits
            if known.block is None:
                known.block = made
                call = _Again(weakref.ref(self), scene, (known, counted))
                self._collides[scene] = row_call(
                    (Array((self.mechanism.n_q,)), Truth()),
                    self._compiler,
                    call,
                    rows=self._code.address("check_one"),
                    arrays=[_at(made)],
                )
            else:
                known.block[spheres.KNOWN_EDITS] = -1  # nobody works with half of it
                made[spheres.KNOWN_EDITS] = -1
                known.block[:] = made
                known.block[spheres.KNOWN_EDITS] = edits
            known.room = room

    def _room(self, tables: SceneTables) -> Room:
        """A room that looks at a scene, and that nobody else works in."""
        try:
            room = self._rooms.pop()
        except IndexError:
            room = self._new_room()
        if room.scene is not tables:
            room.look_at(tables)
        return room

    def _new_room(self) -> Room:
        frames = self._frames
        code = [frames.address(name) for name in ("frames32", "frames64", "twists1")]
        return Room(
            self._robot,
            self._most,
            self._balls,
            self._apart,
            (code[0], code[1], code[2]),
            self.mechanism.n_q,
            frames.n_twists,
        )

    def _checked(self, room: Room, rows: Floats, first: int, n: int, verdicts: Integers) -> None:
        """Write the verdicts of n rows, sixteen in a number."""
        n_q = self.mechanism.n_q
        self._check(_at(rows) + 8 * n_q * first, n, _at(verdicts), room.address)
        if room.bad[0]:
            row = first + int(room.bad[0]) - 1
            room.bad[0] = 0
            self._refuse(rows, row)

    def clearance(
        self, q: ArrayLike, scene: Any = None, *, threads: int | None = None
    ) -> Clearance:
        """The clearance of the robot from itself and the scene at q (..., nq), and its place.

        Raises: ShapeError, InputError.
        """
        found = self.nearest(q, 1, scene, gradients=False, threads=threads)
        bodies = found.bodies[..., 0, :]
        flat = [
            (found.names[a], found.names[b]) if a >= 0 else None
            for a, b in bodies.reshape(-1, 2).tolist()
        ]
        return Clearance(
            found.distance[..., 0],
            flat if bodies.ndim > 1 else flat[0],
            found.points[..., 0, :, :],
            found.normal[..., 0, :],
        )

    def nearest(
        self,
        q: ArrayLike,
        n: int,
        scene: Any = None,
        *,
        within: float = np.inf,
        gradients: bool = True,
        gradients_at: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Nearest:
        """The n nearest pairs at q (..., nq), of those ``within`` so many metres.

        A pair is two links, a link and a piece of an object, or a link and a cloud of points
        or a height field. With ``gradients_at``, configurations as many as q, gradients are those
        there, of the points that are nearest at q and the normal there, carried along with the two
        and with the second.

        Raises: as `clearance`; ShapeError where ``gradients_at`` has another shape than q.
        """
        rows, shape = self._rows(q)
        others, like = (None, shape) if gradients_at is None else self._rows(gradients_at)
        if like != shape:
            raise ShapeError(f"gradients_at has leading shape {like}, q has {shape}")
        n = whole_number(n, "n")
        within = within if within == np.inf else finite_number(within, "within")
        scene_ = self._scene(scene)
        call, n_q, n_v = self._nearest_rows, self.mechanism.n_q, self.mechanism.n_v
        records, which = np.empty((*shape, n, distances.RECORD)), np.empty((*shape, n, 2), np.int64)
        slopes = np.empty((*shape, n, n_v)) if gradients else None
        given, made, things = _at(rows), _at(records), _at(which)
        turned, turn = (0, 0) if slopes is None else (_at(slopes), 8 * n_v)
        there, step = (0, 0) if others is None else (_at(others), 8 * n_q)

        def work(part: slice) -> None:
            room, first = self._exact_room(scene_), part.start
            call(
                *(given + 8 * n_q * first, part.stop - first, room.address, n, within),
                *(room.order(n), made + 8 * distances.RECORD * n * first),
                *(things + 16 * n * first, turned + turn * n * first, there + step * first),
            )
            scene_.rooms.append(room)

        self._shared(work, len(rows), threads)
        return Nearest(
            records[..., 0],
            self._things(which, scene_),
            self._names(scene_),
            records[..., 1:7].reshape(*shape, n, 2, 3),
            records[..., 7:],
            slopes,
        )

    def distances(
        self,
        q: ArrayLike,
        scene: Any = None,
        *,
        within: float = np.inf,
        gradients: bool = False,
        threads: int | None = None,
    ) -> Distances:
        """The distance of each checked pair of links at q (..., nq), and of each link and object.

        Raises: as `clearance`.
        """
        within = within if within == np.inf else finite_number(within, "within")
        scene_ = self._scene(scene)
        wanted, pairs = self._wanted(scene_)
        records, slopes = self._distances(
            q, wanted, scene_, within=within, gradients=gradients, threads=threads
        )
        points = records[..., 1:7].reshape(*records.shape[:-1], 2, 3)
        return Distances(records[..., 0], pairs, points, records[..., 7:], slopes)

    def body_distances(self, q: ArrayLike, pairs: Integers, within: float = np.inf) -> Floats:
        """The distances (..., n) of pairs (n, 2) of bodies, by their numbers, checked or not."""
        wanted = np.zeros((len(pairs), 4), np.int64)
        wanted[:, :2] = pairs
        return self._distances(q, wanted, self._scene(None), within=within)[0][..., 0]

    def _wanted(self, scene: SceneTables) -> tuple[Integers, tuple[Names, ...]]:
        """The pairs that `distances` is about: rows for the kernel, and names."""
        if "wanted" not in scene.made:
            scene.made["wanted"] = self._listed(scene)
        return scene.made["wanted"]

    def _listed(self, scene: SceneTables) -> tuple[Integers, tuple[Names, ...]]:
        bodies, found = self.parts.bodies, scene.obstacles
        wanted = [[a, b, 0, 0] for a, b in self._pair_rows.tolist()]
        names = [(bodies[a], bodies[b]) for a, b, *_ in wanted]
        allowed, aggregates = {(int(a), int(r)) for a, r in scene.allowed}, found.aggregates.objects
        for a in np.flatnonzero(self._moves).tolist():
            for k, name in enumerate(found.names):
                first, stop = int(found.first_row[k]), int(found.first_row[k + 1])
                if stop > first:
                    row, thing = first, [a, -1, first, stop - first]
                else:
                    aggregate = aggregates.index(k)
                    row, thing = len(found.rows) + aggregate, [a, -2, aggregate, 0]
                if (a, row) not in allowed:
                    wanted.append(thing)
                    names.append((bodies[a], name))
        return np.array(wanted, np.int64).reshape(-1, 4), tuple(names)

    def _distances(
        self,
        q: ArrayLike,
        wanted: Integers,
        scene: SceneTables,
        *,
        within: float,
        gradients: bool = False,
        threads: int | None = None,
    ) -> tuple[Floats, Floats | None]:
        """The records (..., n, 10) of pairs, and the gradients (..., n, nv) that are asked for."""
        rows, shape = self._rows(q)
        n, n_q, n_v, call = (
            len(wanted),
            self.mechanism.n_q,
            self.mechanism.n_v,
            self._distances_rows,
        )
        records = np.empty((*shape, n, distances.RECORD))
        slopes = np.empty((*shape, n, n_v)) if gradients else None
        given, asked, made = _at(rows), _at(wanted), _at(records)
        turned, turn = (0, 0) if slopes is None else (_at(slopes), 8 * n_v)

        def work(part: slice) -> None:
            room, first = self._exact_room(scene), part.start
            call(
                *(given + 8 * n_q * first, part.stop - first, room.address, asked, n, within),
                *(made + 8 * distances.RECORD * n * first, turned + turn * n * first),
            )
            scene.rooms.append(room)

        self._shared(work, len(rows), threads)
        return records, slopes

    def _exact_room(self, scene: SceneTables) -> ExactRoom:
        """A room to compute distances in a scene in, where nobody else does."""
        try:
            return scene.rooms.pop()
        except IndexError:
            code = self._frames.address("frames1"), self._frames.address("twists1")
            return ExactRoom(scene.exact, code, self._frames.n_twists)

    def _names(self, scene: SceneTables) -> tuple[str, ...]:
        """The names of bodies and objects."""
        if "names" not in scene.made:
            scene.made["names"] = (*self.parts.bodies, *scene.obstacles.names)
        return scene.made["names"]

    def _shared(self, work: Any, n: int, threads: int | None) -> None:
        """Do the work of n rows in parts, on some threads."""
        threads = self._threads if threads is None else thread_count(threads)
        if n == 1:
            work(slice(0, 1))
            return
        size = chunk_rows(_EXACT_NS, threads_for(n, _EXACT_NS, threads))
        parts = [slice(first, min(first + size, n)) for first in range(0, n, size)]
        in_parallel(work, parts, threads)

    def _things(self, which: Integers, scene: SceneTables) -> Integers:
        """Bodies and objects by the numbers of names, from bodies and rows."""
        if "numbers" not in scene.made:
            n_b, around = len(self.parts.bodies), scene.obstacles
            objects = [*around.object_of_row.tolist(), *around.aggregates.objects]
            numbers = [*range(n_b), *(n_b + k for k in objects), -1]  # the last one: of nothing
            scene.made["numbers"] = np.array(numbers, np.int64)
        return scene.made["numbers"][which]

    def motion_collides(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        scene: Any = None,
        *,
        resolution: float | None = None,
        tolerance: float = 1e-5,
        threads: int | None = None,
    ) -> MotionCheck:
        """Whether straight motions from q0 (..., nq) to q1 (..., nq) touch, and where first.

        Without a ``resolution`` the whole motion is looked at: what it calls free is free
        everywhere on the way and keeps ``tolerance`` (m) less 0.01 mm, and what is said to touch
        has come within it. With one, configurations are looked at that are at most so far apart
        (rad, m) in each joint; ``t`` is then the last free one before the first that touches.

        Positions go from q0 to q1 as numbers do; quaternions too, scaled to length 1 on the way,
        so that floating and spherical joints turn the short way about one axis.

        Raises: ShapeError, InputError.
        """
        n_q = self.mechanism.n_q
        first, second = real_rows(q0, "q0", n_q), real_rows(q1, "q1", n_q)
        lead = (*leading_shape({"q0": first, "q1": second}), n_q)
        given, shape = self._rows(np.broadcast_to(first, lead), "q0")
        second = self._rows(np.broadcast_to(second, lead), "q1")[0]
        starts, stops = motion.short_ways(self._turns, given, second)
        velocities = motion.velocities_of(self.mechanism, starts, stops)
        if resolution is not None:
            step = finite_number(resolution, "resolution", above=0.0)
            return self._sampled(starts, stops, shape, scene, step, threads)
        tolerance = finite_number(tolerance, "tolerance", above=0.0)
        scene_ = self._scene(scene)
        n = len(starts)
        times, records, which = np.empty(n), np.empty((n, distances.RECORD)), np.empty((n, 2), int)

        def work(part: slice) -> None:
            self._moved(
                (starts[part], stops[part], velocities[part]),
                scene_,
                tolerance,
                (times[part], records[part], which[part]),
            )

        self._shared(work, n, threads)
        found = self._things(which, scene_)
        names = self._names(scene_)
        told = [(names[a], names[b]) if a >= 0 else None for a, b in found.tolist()]
        hit = which[:, 0] >= 0
        return MotionCheck(
            hit.reshape(shape),
            np.where(hit, times, 1.0).reshape(shape),
            told if shape else told[0],
        )

    def _moved(
        self,
        motions: tuple[Floats, Floats, Floats],
        scene: SceneTables,
        tolerance: float,
        found: tuple[Floats, Floats, Integers],
    ) -> None:
        """Write when motions (starts, stops, velocities) first touch, how, and what (n, 2)."""
        room = self._room(scene)
        for rows, reaches in self._by_reaches(*motions[:2]):
            own = [each[rows] for each in motions]  # views of all rows, copies of some
            told = [each[rows] for each in found]
            if room.reaches is not reaches:
                room.move_by(reaches)
            self._motion_rows(
                *(*map(_at, own), len(own[0]), tolerance, _at(room.world)),
                *(*map(_at, told), _at(room.counts)),
            )
            for each, part in zip(found, told, strict=True):
                each[rows] = part
        self._rooms.append(room)

    def path_touches(self, q: Floats, scene: Any = None, *, margin: float = 1e-5) -> Booleans:
        """Whether the straight motions from each row of q (k, nq) to the next touch, without gaps.

        That is whether two things come within a ``margin`` (m), of which 0.01 mm less is kept. For
        programs that have checked q: as `motion_collides` of arrays that are finite.
        """
        scene_ = self._scene(scene)
        n = len(q) - 1
        starts, stops = motion.short_ways(self._turns, q[:-1], q[1:])
        plain = self.mechanism.n_q == self.mechanism.n_v
        v = stops - starts if plain else motion.velocities_of(self.mechanism, starts, stops)
        times, records, which = np.empty(n), np.empty((n, distances.RECORD)), np.empty((n, 2), int)
        self._moved((starts, stops, v), scene_, margin, (times, records, which))
        return which[:, 0] >= 0

    def _by_reaches(self, starts: Floats, stops: Floats) -> list[tuple[slice | Integers, Reaches]]:
        """The rows of motions, and the bounds on how fast distances change during these.

        The bounds of a row depend on it alone, whatever is beside it: on which joints slide beyond
        their usual range, and on the next power of two to how far these do.
        """
        if not len(self._slides):
            return [(slice(None), self._usual_reaches)]
        ends, (least, most) = np.stack([starts, stops])[..., self._slides], self._slide_span
        usual = np.isfinite(most - least) & ((ends >= least) & (ends <= most)).all(axis=0)
        if usual.all():
            return [(slice(None), self._usual_reaches)]
        farthest = np.where(usual, 0.0, np.abs(ends).max(axis=0)).max(axis=1)
        kinds = np.column_stack([np.minimum(np.frexp(farthest)[1], 1023), usual])
        every, kind_of = np.unique(kinds, axis=0, return_inverse=True)
        found: list[tuple[slice | Integers, Reaches]] = []
        for k, kind in enumerate(every):
            rows = slice(None) if len(every) == 1 else np.flatnonzero(kind_of.ravel() == k)
            far, as_usual = np.ldexp(1.0, int(kind[0])), kind[1:].astype(bool)
            key = kind.tobytes()
            if key not in self._far_reaches:
                low, high = np.where(as_usual, least, -far), np.where(as_usual, most, far)
                self._far_reaches[key] = self._bounds_within(low, high)
            found.append((rows, self._far_reaches[key]))
        return found

    @cached_property
    def _far_reaches(self) -> dict[bytes, Reaches]:
        """The bounds of motions in which joints slide farther than usual, by how far."""
        return {}

    @cached_property
    def _usual_reaches(self) -> Reaches:
        return self._bounds_within(*self._slide_span)

    def slide_bounds(self) -> tuple[Floats, Floats]:
        """Bounds (nq,) of q within which `native_motions` are proven; no matter for angles."""
        low, high = (np.full(self.mechanism.n_q, each) for each in (-np.inf, np.inf))
        low[self._slides], high[self._slides] = self._slide_span
        return low, high

    @cached_property
    def _slide_span(self) -> tuple[Floats, Floats]:
        """The usual range of sliding joints: their limits, and as much again on either side."""
        lower, upper = self.mechanism.lower[self._slides], self.mechanism.upper[self._slides]
        return 2.0 * lower - upper, 2.0 * upper - lower

    @cached_property
    def _slides(self) -> Integers:
        """The numbers of q that are lengths: how far joints slide is all that bounds depend on."""
        m = self.mechanism
        own = [m.q_start[c] + np.arange(kind.n_lengths) for c, kind in enumerate(m.joint_types)]
        return np.concatenate([np.zeros(0, np.int64), *own])

    def speed_bound(self, rates: Floats, low: Floats, high: Floats) -> float:
        """A bound on the speed (m/s) of every point of the robot where q has these rates (nq,).

        It holds for all configurations from ``low`` to ``high`` (nq,); q has no quaternions.
        """
        bounds = self._bounds_within(low[self._slides], high[self._slides])
        speeds = bounds.chains[:, 0] * np.abs(rates)[bounds.chains[:, 2].astype(np.int64)]
        return max(
            (float(speeds[first : first + n].sum()) for first, n in bounds.places.tolist()),
            default=0.0,
        )

    def _bounds_within(self, low: Floats, high: Floats) -> Reaches:
        least, most = np.zeros(self.mechanism.n_q), np.zeros(self.mechanism.n_q)
        least[self._slides], most[self._slides] = low, high
        return motion_bounds(
            self.mechanism,
            self.parts.frames,
            self.parts.cover.body_spheres,
            pairs=self._pair_rows,
            span=(least, most),
        )

    def _sampled(
        self,
        starts: Floats,
        stops: Floats,
        shape: tuple[int, ...],
        scene: Any,
        resolution: float,
        threads: int | None,
    ) -> MotionCheck:
        touches, t = np.zeros(len(starts), bool), np.ones(len(starts))
        told: list[Names | None] = [None] * len(starts)
        ends = np.cumsum(motion.sample_counts(starts, stops, resolution, self._turns))
        groups = np.flatnonzero(np.diff(ends // _SAMPLES_AT_ONCE, prepend=-1, append=-1))
        for begin, end in pairwise(groups.tolist()):
            part = slice(begin, end)
            rows, first = motion.between(starts[part], stops[part], resolution, self._turns)
            hit = self.collides(rows, scene, threads=threads)
            for k in range(begin, end):
                own = slice(first[k - begin], first[k - begin + 1])
                at, count = int(hit[own].argmax()), len(hit[own])
                if hit[own][at]:
                    touches[k], t[k] = True, max(at - 1, 0) / max(count - 1, 1)
                    told[k] = self.clearance(rows[own][at], scene).names
        return MotionCheck(touches.reshape(shape), t.reshape(shape), told if shape else told[0])


class _Again:
    """The general way of a native function: the model is asked, which knows what it is about."""

    __slots__ = ("__name__", "_held", "_model", "_scene")

    def __init__(self, model: Any, scene: Any, held: Any) -> None:
        """``model``: a weak reference, since the model holds the function."""
        self._model, self._scene, self._held = model, scene, held
        self.__name__ = "collides"

    def __call__(self, q: Any) -> Any:
        return self._model()._whether(q, self._scene, None)


def _as_rows(q: Floats) -> Floats:
    """Configurations (..., nq) as rows (n, nq), of robots without joints too."""
    return q.reshape(math.prod(q.shape[:-1]), q.shape[-1])


def _native(code: Any, name: str, n: int, others: dict[int, Any] | None = None) -> Any:
    """A compiled function of n whole numbers and addresses, and ``others`` by their places."""
    kinds = [(others or {}).get(k, ctypes.c_int64) for k in range(n)]
    return ctypes.CFUNCTYPE(None, *kinds)(code.address(name))


def _in_body(m: Mechanism, name: str) -> Floats:
    """The pose (4, 4) of a frame in its body."""
    frame = m.frame(name)
    return pose_matrix(m.R_body_frame[frame], m.p_body_frame[frame])
