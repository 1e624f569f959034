"""The memory in which one thread checks configurations and proves motions, in one scene at a time.

Tables of robots and scenes are read by all; what is written, and the records of addresses that
compiled code reads, are a room's. A room is used again: for another scene its records are changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.collision import distances, motion, spheres, swept
from linkwork.collision.reaches import Reaches
from linkwork.collision.tables import RobotTables, SceneTables
from linkwork.collision.tree import Tree
from linkwork.compile.numpy_abi import address
from linkwork.compile.typed import WIDTH, WIDTH32

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

INTERVALS = 4096
"""The intervals that a motion is cut into, at most (see `swept`)."""

_NO_TREE = Tree(np.zeros(1, np.int64), np.zeros(1))
"""In the place of the tree of a scene of few rows, of which all are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class NativeCheck:
    """The check of configurations, for compiled programs that make them themselves.

    ``function`` is the address of ``check(q, n, verdicts, arguments)`` (see
    `linkwork.collision.spheres.check_rows`), which one thread at a time calls with
    ``arguments``; ``look`` and ``settle`` are those of its two halves, of sixteen configurations
    (`look_between`, `settle_rows`).
    """

    function: int
    look: int
    settle: int
    arguments: int


@dataclass(frozen=True, eq=False, slots=True)
class NativeMotions:
    """The check of a scene, and the proof of motions between configurations in it, by addresses.

    ``motions``: where `motion.motion_rows` lies, and ``world`` the record that it reads; 0 where
    motions are not proven so: with joints that turn about any axis or slide without end. Joints
    slide within `CollisionModel.slide_bounds`. ``room`` is to be given back.
    """

    check: NativeCheck
    motions: int
    world: int
    room: Room


@dataclass(frozen=True, eq=False, slots=True)
class NativeNearest:
    """The nearest pairs in a scene, with gradients, by addresses, for one thread.

    ``numbers``: the addresses of `distances.nearest_rows` and of its world. ``room`` is to be given
    back to ``rooms``.
    """

    numbers: Integers
    room: ExactRoom
    rooms: list[ExactRoom]


class Room:
    """The memory of one thread; ``block`` is the record of checks, ``world`` that of motions."""

    def __init__(
        self,
        robot: RobotTables,
        most: Floats,
        balls: NDArray[np.float32],
        apart: tuple[Integers, Floats],
        code: tuple[int, int, int],
        n_q: int,
        n_twists: int,
    ) -> None:
        """``most`` (nq,): see `spheres.check_rows`; ``balls``: those of the robot in float32.

        ``apart``: see `apart.packed`. ``code``: the addresses of poses in lanes of float32 and of
        float64, and of poses and twists of one configuration.
        """
        self._n_bodies = n_bodies = len(robot.ranges)
        radii, growth = robot.radii, np.empty(n_bodies, np.float32)
        swollen, intervals = balls.copy(), np.empty(3 * INTERVALS)
        narrow = np.empty(WIDTH32 * (n_q + 16 * n_bodies) + robot.room, np.float32)
        wide, todo = np.empty(WIDTH * (n_q + 24 * n_bodies)), np.empty(spheres.FULL + 1, np.int64)
        twists = np.empty(6 * n_twists + 8)
        self.bad, self.verdicts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self.counts = np.zeros(2, np.int64)
        self._kept = (
            *(robot, most, balls, apart, radii, growth, swollen, intervals),
            *(narrow, wide, todo, twists),
        )
        self.block = block = np.zeros(spheres.VERDICT, np.int64)
        block[: spheres.SCENE] = [
            *(address(most), *code[:2], address(robot.ints), address(balls)),
            *(address(robot.ranges), address(robot.pieces), address(robot.balls)),
        ]
        block[spheres.NARROW : spheres.FOUND] = address(narrow), address(wide), address(todo)
        block[spheres.BAD :] = address(self.bad), address(apart[0]), address(apart[1])
        self.address = address(block)
        self._swept = record = np.zeros(swept.MARKS + 1, np.int64)
        record[: swept.MARKS] = [
            *(self.address, address(radii), address(radii[1]), radii.shape[1]),
            *(address(swollen), address(growth), address(intervals), INTERVALS),
        ]
        self.world = np.zeros(motion.WORLD, np.int64)
        self.world[motion.TWISTING], self.world[motion.TWISTS] = code[2], address(twists)
        self.world[motion.INTERVALS] = address(record)
        self.reaches: Reaches | None = None
        self.scene: SceneTables | None = None
        self.native: NativeMotions | None = None
        self._found = np.empty(0, np.int64)
        self._marks = self._work = np.empty(0)

    def look_at(self, scene: SceneTables) -> None:
        """Change the records to those of a scene."""
        around = scene.obstacles
        tree = around.tree if len(around.rows) > spheres.MANY else _NO_TREE
        n_found, n_work = scene.most_found, motion.motion_room(scene.exact) + 64
        n_marks = 2 * self._n_bodies + len(scene.rows) + around.aggregates.count + 2 * WIDTH
        if n_found > len(self._found):
            self._found = np.empty(n_found, np.int64)
        if n_work > len(self._work):
            self._work = np.empty(n_work)
        if n_marks > len(self._marks):
            self._marks = np.zeros(n_marks)
        block, world = self.block, self.world
        block[spheres.SCENE : spheres.NARROW] = [
            *(address(scene.ints), address(scene.shapes), address(scene.rows)),
            *(address(scene.vertices), address(tree.index), address(tree.numbers)),
            *(address(around.aggregates.index), address(around.aggregates.numbers)),
        ]
        block[spheres.FOUND], block[spheres.MOST_FOUND] = address(self._found), n_found
        self._swept[swept.MARKS] = address(self._marks)
        world[motion.TABLES : motion.REACHES] = scene.exact.addresses
        world[motion.ROOM] = address(self._work)
        self.scene, self.native = scene, None

    def move_by(self, reaches: Reaches) -> None:
        """Change the record of motions to these bounds."""
        self.world[motion.REACHES : motion.INTERVALS] = reaches.addresses
        self.reaches = reaches


class ExactRoom:
    """The memory in which one thread computes distances in one scene.

    ``address`` is that of the record that kernels read (`distances.WORLD`).
    """

    def __init__(self, tables: distances.Tables, code: tuple[int, int], n_twists: int) -> None:
        """``code``: the addresses of poses, and of poses and twists, of one configuration."""
        work, twists = np.empty(tables.room + 64), np.empty(6 * n_twists + 8)
        record = np.array([*tables.addresses, *code, address(work), address(twists)], np.int64)
        self.address = address(record)
        self._kept = tables, work, twists, record
        self._order = np.empty(0, np.int64)

    def order(self, n: int) -> int:
        """The address of room for n whole numbers."""
        if n > len(self._order):
            self._order = np.empty(n, np.int64)
        return address(self._order)
