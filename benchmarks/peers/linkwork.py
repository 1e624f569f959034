"""Linkwork itself."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import mmap
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.ik.question import Question
from benchmarks.lines import Line, split_state
from benchmarks.peers.base import Floats, Peer, Solutions, part
from benchmarks.tasks import DYNAMICS


def fresh_array(shape: tuple[int, ...]) -> Floats:
    """An array in memory that the system has just given: private, in large pages where it can.

    That is what `numpy.empty` asks for too, but up to 32 MB it gets the last array's memory again.
    """
    size = 8 * math.prod(shape)
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows: such memory is private anyway
        return np.frombuffer(mmap.mmap(-1, size), dtype=np.float64).reshape(shape)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.float64).reshape(shape)


def _memory_bounds(out: Floats, fresh: Callable[[], Floats]) -> list[Line]:
    """How fast an array can be filled: one that exists, a new one, and one in fresh memory."""
    names = {"np": np, "out": out, "row": np.ones(out.shape[1:]), "fresh": fresh}
    statements = {
        "memory": ("out.fill(1.0)", "out.fill(1.0)"),
        "memory copy": ("np.copyto(out, row)", "np.copyto(out, row)"),
        "memory new": ("np.empty, filled", "r = np.empty(out.shape); r.fill(1.0)"),
        "memory fresh": ("fresh memory, filled", "r = fresh(); r.fill(1.0)"),
    }
    return [
        Line(f"memory bound: {what}", statement, names, role, by_row=False)
        for role, (what, statement) in statements.items()
    ]


class PEER(Peer):
    """The bound function (`robot.function`) and the method of `Robot`, always both."""

    name = "linkwork"
    module = "linkwork"
    imports = ("linkwork:load",)  # `import linkwork` alone imports next to nothing
    # the library itself is installed from this tree, in editable form (see environments.py)
    requirement = ("linkwork", "numpy==2.4.6", "casadi==3.8.2", "llvmlite==0.50.0", "lxml==6.1.3")

    environment = MappingProxyType({"LINKWORK_THREADS": "1", "LINKWORK_CACHE": "off"})
    cache_variable = "LINKWORK_CACHE"
    compiles = True
    heavy_imports = ("llvmlite.binding",)

    def version(self) -> str:
        """The installed version, or the tree that is on the path."""
        try:
            return super().version()
        except importlib.metadata.PackageNotFoundError:
            return f"tree {Path(str(self.library.__file__)).parent}"

    def load(self, path: str, tip: str) -> None:
        """Load the prepared file."""
        self.robot: Any = self.library.load(path)
        self.tip = tip
        self.joint_names: Sequence[str] = list(self.robot.joint_names)
        self.frame_names: Sequence[str] = list(self.robot.frame_names)

    def load_original(
        self, path: str, base: str, tip: str, locked: Sequence[str], whole: bool
    ) -> None:
        """The same robot through `lock` and `subchain` of the original file, as a user gets it."""
        robot: Any = self.library.load(path)
        if locked:  # a follower is locked with its leader, and has no place in q
            robot = robot.with_locked([name for name in locked if name in robot.joint_names])
        if not whole:
            robot = robot.subchain(base, tip)
        self.robot, self.tip = robot, tip
        self.joint_names = list(robot.joint_names)
        self.frame_names = list(robot.frame_names)

    def _both(self, function: str, method: str, *arguments: str) -> list[Line]:
        bound = self.robot.function(function, *arguments)
        given = "".join(f", {argument!r}" for argument in arguments)
        return [
            Line(f'function("{function}")', "r = f(q)", {"f": bound}, "bound"),
            Line(
                f"Robot.{method}", f"r = robot.{method}(q{given})", {"robot": self.robot}, "method"
            ),
        ]

    def pose(self) -> list[Line]:
        """`fk`."""
        return self._both("fk", "fk", self.tip)

    def all_poses(self) -> list[Line]:
        """`fk_all`."""
        return self._both("fk_all", "fk_all")

    def jacobian(self) -> list[Line]:
        """`jacobian`, axes of the base."""
        return self._both("jacobian", "jacobian", self.tip)

    def _dynamics(self, name: str) -> list[Line]:
        bound = self.robot.function(name)
        given = split_state(len(self.joint_names))
        return [
            Line(
                f'function("{name}")',
                "q, v, a = q; r = f(q, v, a)",
                {"f": bound},
                "bound",
                given=given,
            ),
            Line(
                f"Robot.{name}",
                f"q, v, a = q; r = robot.{name}(q, v, a)",
                {"robot": self.robot},
                "method",
                given=given,
            ),
        ]

    def inverse_dynamics(self) -> list[Line]:
        """`inverse_dynamics`, gravity as it is by default."""
        return self._dynamics("inverse_dynamics")

    def forward_dynamics(self) -> list[Line]:
        """`forward_dynamics`."""
        return self._dynamics("forward_dynamics")

    def mass_matrix(self) -> list[Line]:
        """`mass_matrix`."""
        return self._both("mass_matrix", "mass_matrix")

    def batch(self, operation: str, q: Floats) -> list[Line]:
        """Into an array that exists, a new one, fresh memory; and how fast each can be filled."""
        method = {"pose": "fk", "all_poses": "fk_all"}.get(operation, operation)
        n = len(self.joint_names)
        asked = {"pose": "q, tip", "jacobian": "q, tip"}.get(operation, "q")
        state = DYNAMICS.get(operation, 1) == 3
        shape = {
            "pose": (4, 4),
            "all_poses": (len(self.frame_names), 4, 4),
            "jacobian": (6, n),
            "mass_matrix": (n, n),
        }.get(operation, (n,))
        out = np.zeros((len(q), *shape))

        def fresh() -> Floats:
            return fresh_array(out.shape)

        names = {"robot": self.robot, "tip": self.tip, "out": out, "fresh": fresh}
        lines = [
            Line(
                f"Robot.{method}{shown}",
                f"r = robot.{method}({'*q' if state else asked}{given}, threads=1)",
                names,
                role,
                by_row=False,
                given=split_state(n) if state else None,
            )
            for shown, given, role in (
                ("(out=)", ", out=out", "out"),
                ("", "", "new"),
                ("(out=fresh memory)", ", out=fresh()", "fresh"),
            )
        ]
        return [*lines, *_memory_bounds(out, fresh)]

    def load_lines(self) -> list[Line]:
        """Full records, every check, meshes not opened."""
        return [Line("load", "r = lw.load(q)", {"lw": self.library}, "load")]

    def answers(self, question: Question) -> bool:
        """Anything: tasks are combined."""
        return True

    def _tasks(self) -> list[Any]:
        """The question as tasks, their targets given with each call."""
        ik: Any = part("linkwork.ik")
        question = self.question
        kind = ik.Pose if question.turned else ik.Position
        tasks = [kind(frame) for frame in question.frames or [self.tip]]
        if question.under == "posture":
            tasks.append(ik.Posture(self.robot.neutral(), priority=1))
        return [*tasks, ik.CenterOfMass()] if question.com else tasks

    def _solver(self) -> dict[str, Any]:
        ik: Any = part("linkwork.ik")
        objectives = [ik.Centred()] if self.question.under == "centred" else []
        return {"solver": self.robot.solver(tasks=self._tasks(), objectives=objectives)}

    def _targets(self, T: Floats) -> Any:
        """Targets as the tasks take them, made before the clock starts: one array for each task."""
        question, points = self.question, T[..., :3, 3].copy()
        if question.under == "posture":  # the posture's own target is given with it
            return {self.tip: T if question.turned else points}
        if not question.several:
            return T if question.turned else points
        frames = T.shape[-3] - question.com
        each = [T[..., k, :, :].copy() for k in range(frames)]
        return [*each, points[..., -1, :].copy()] if question.com else each

    def ik_lines(self) -> list[Line]:
        """The whole batch on one thread."""
        if self.question.plain:
            names = {"robot": self.robot, "tip": self.tip}
            return [Line("Robot.ik", "r = robot.ik(q, tip, threads=1)", names, "ik", by_row=False)]
        solver = self._solver()
        return [
            Line("solver.solve", "r = solver.solve(q)", solver, "ik", False, given=self._targets)
        ]

    def ik_one_lines(self) -> list[Line]:
        """One target a call: the solver that is kept, and for a pose the method."""
        if not self.question.plain:
            solver = self._solver()
            statement = "r = solver.solve(q)"
            return [
                Line("solver.solve, one target", statement, solver, "solver", given=self._targets)
            ]
        names = {"robot": self.robot, "tip": self.tip}
        solver = {"solver": self.robot.solver(self.tip)}
        return [
            Line("solver.solve, one target", "r = solver.solve(q)", solver, "solver"),
            Line(
                "solver.solve, at most 5 ms", "r = solver.solve(q, seconds=0.005)", solver, "5 ms"
            ),
            Line("Robot.ik, one target", "r = robot.ik(q, tip, threads=1)", names, "method"),
        ]

    def ik_read(self, r: Any) -> Solutions:
        """The result's own fields."""
        q = np.atleast_2d(np.array(r.q, dtype=np.float64))
        success = np.atleast_1d(np.array(r.success, dtype=bool))
        return Solutions(q, success, float(np.mean(r.iterations)))
