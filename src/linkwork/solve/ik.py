"""Inverse kinematics: poses in, configurations that were verified out."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.arrays import real_array, real_rows
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel
from linkwork.compile.lanes import REPORT
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.threads import in_parallel
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.solve.code import Search, check_kernel, search_code
from linkwork.solve.explain import FailureWords
from linkwork.solve.problem import PoseProblem, pose_problem
from linkwork.solve.result import IKResult
from linkwork.solve.step import tolerance_settings

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

CHUNK = 1024
"""Targets between two returns to Python; the answers do not depend on it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How exactly, and how hard, to try.

    ``steps`` of one try, then a restart at a random configuration, up to ``tries``. ``seed`` picks
    the random numbers: a target's answer depends on the seed, its own values and q0 only.
    """

    position_tolerance: float = 1.0e-5  # m
    rotation_tolerance: float = 1.0e-4  # rad
    steps: int = 16
    tries: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("position_tolerance", "rotation_tolerance"):
            value: Any = getattr(self, name)
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} must be a positive finite number, not {value!r}")
        for name, least in (("steps", 1), ("tries", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or not least <= value < 2**31:
                raise InputError(f"{name} must be a whole number from {least}, not {value!r}")


class InverseKinematics:
    """A compiled solver that brings one frame of a mechanism to given poses.

    It moves the joints between the base and the frame, or those named in ``joints``; all others
    stay at q0. Every answer lies inside the limits. It holds no state between calls.

    Source: damped least squares with damping in proportion to the error (Sugihara, 2011), random
    restarts (Beeson and Ames, "TRAC-IK", Humanoids 2015), iterated in vector lanes.
    Raises: UnknownNameError, InputError (see `pose_problem`).
    """

    def __init__(
        self,
        mechanism: Mechanism,
        frame: str,
        joints: Sequence[str] | None = None,
        *,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.problem: PoseProblem = pose_problem(mechanism, frame, joints)
        self._lock = threading.Lock()
        self._neutral = neutral(mechanism)
        self._starts = _starts(self.problem)
        compiler = compiler or Compiler()
        with COMPILING:
            self.search: Search = search_code(self.problem, compiler)
            self._check: Kernel = check_kernel(self.problem, compiler)

    def solve(
        self,
        targets: ArrayLike,
        q0: ArrayLike | None = None,
        *,
        options: Options | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        **changes: float,
    ) -> IKResult:
        """Configurations that bring the frame to ``targets`` (..., 4, 4), poses in the world.

        ``q0`` (..., nq) is where the search starts and where joints that are not moved stay;
        default: neutral. ``changes`` are fields of ``options``. ``progress(done, total)`` is called
        between chunks. The result has the leading shape of targets and q0 together.

        Raises: ShapeError, InputError for targets that are not finite rigid poses, or q0 that is
        not finite.
        """
        options = with_changes(options, **changes)
        poses, start, lead = self._inputs(targets, q0)
        parameters = np.ascontiguousarray(
            np.hstack(
                [poses[:, :3, 3], poses[:, :3, :3].reshape(-1, 9), start[:, self.problem.held]]
            )
        )
        x, report = self._search(parameters, start, options, (threads, progress))
        q = start.copy()
        q[:, self.problem.moved] = self._unwrapped(x, start)
        return self._verified(q, parameters, report, (lead, options))

    def _inputs(
        self, targets: ArrayLike, q0: ArrayLike | None
    ) -> tuple[Floats, Floats, tuple[int, ...]]:
        poses = rigid_poses(targets)
        start = self._neutral if q0 is None else _configuration(q0, self.mechanism)
        try:
            lead = np.broadcast_shapes(poses.shape[:-2], start.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"the leading shapes of targets {poses.shape} and q0 {start.shape} do not go "
                "together"
            ) from None
        n_q = self.mechanism.n_q
        flat = np.broadcast_to(poses, (*lead, 4, 4)).reshape(-1, 4, 4)
        return flat, np.broadcast_to(start, (*lead, n_q)).reshape(-1, n_q), lead

    def _search(
        self,
        parameters: Floats,
        start: Floats,
        options: Options,
        how: tuple[int, Progress | None],
    ) -> tuple[Floats, Floats]:
        threads, progress = how
        total = parameters.shape[0]
        moved = list(self.problem.moved)
        # advanced indexing may give columns in memory order: native code needs rows
        x0 = np.ascontiguousarray(np.clip(start[:, moved], self.problem.lower, self.problem.upper))
        x = x0.copy()
        report = np.zeros((total, len(REPORT)))
        report[:, 1] = np.inf
        report[:, 3] = np.inf
        settings = np.array(
            tolerance_settings(options.position_tolerance, options.rotation_tolerance)
        )
        arrays = (x0, parameters, settings, self._starts, x, report)
        pointers = [a.ctypes.data for a in arrays]
        done = 0

        def chunk(first: int) -> None:
            nonlocal done
            last = min(first + CHUNK, total)
            self.search.run(
                first, last, options.steps, options.tries, options.seed, total == 1, *pointers
            )
            if progress is not None:
                with self._lock:
                    done += last - first
                    progress(done, total)

        in_parallel(chunk, range(0, total, CHUNK), threads)
        return x, report

    def _unwrapped(self, x: Floats, start: Floats) -> Floats:
        """Angles without limits on the turn that is nearest to where the search began."""
        wraps = self.problem.wraps
        if not wraps.any():
            return x
        away = start[:, self.problem.moved] - x
        turns = np.where(wraps, np.round(away / (2.0 * np.pi)), 0.0)
        return x + 2.0 * np.pi * turns

    def _verified(
        self,
        q: Floats,
        parameters: Floats,
        report: Floats,
        context: tuple[tuple[int, ...], Options],
    ) -> IKResult:
        """Judge every answer by a fresh forward kinematics and its distance from the limits."""
        lead, options = context
        measured = self._check(q, parameters)
        position = np.sqrt(measured[:, 0])
        rotation = np.arctan2(np.sqrt(measured[:, 1]), measured[:, 2])
        moved = q[:, self.problem.moved]
        inside = ((moved >= self.problem.lower) & (moved <= self.problem.upper)).all(axis=1)
        success = (
            inside
            & (position <= options.position_tolerance)
            & (rotation <= options.rotation_tolerance)
        )
        tries = np.where(np.isfinite(report[:, 3]), report[:, 3], 0.0)

        return IKResult(
            q=q.reshape(*lead, q.shape[1]),
            success=success.reshape(lead),
            position_error=position.reshape(lead),
            rotation_error=rotation.reshape(lead),
            iterations=report[:, 2].astype(np.int64).reshape(lead),
            restarts=tries.astype(np.int64).reshape(lead),
            explain=FailureWords(self.problem, parameters, q, position, rotation, options.tries),
        )


def rigid_poses(targets: ArrayLike) -> Floats:
    """Targets as float64 poses (..., 4, 4), checked.

    Raises: ShapeError; InputError naming the first row that is not finite or not rigid (rotation
    orthogonal and right-handed, last row 0 0 0 1, each within 1e-6).
    """
    poses = real_array(targets, "targets")
    if poses.shape[-2:] != (4, 4):
        raise ShapeError(f"targets must have shape (..., 4, 4), not {poses.shape}")
    R = poses[..., :3, :3]
    gram = R @ np.swapaxes(R, -1, -2) - np.eye(3)
    with np.errstate(invalid="ignore"):
        fine = (
            (np.abs(gram).max(axis=(-1, -2)) <= 1e-6)
            & (np.linalg.det(R) > 0.0)
            & (np.abs(poses[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1) <= 1e-6)
            & np.isfinite(poses[..., :3, 3]).all(axis=-1)
        )
    if not np.all(fine):
        row = np.argwhere(~fine)[0]
        where = f" [{', '.join(map(str, row))}]" if row.size else ""
        raise InputError(
            f"target{where} is not a rigid pose: the upper left 3x3 must be a rotation matrix, the "
            "right column finite, the last row 0 0 0 1"
        )
    return poses


def _configuration(q0: ArrayLike, m: Mechanism) -> Floats:
    start = real_rows(q0, "q0", m.n_q)
    if not np.isfinite(start).all():
        bad = np.argwhere(~np.isfinite(start))[0]
        raise InputError(f"q0[{', '.join(map(str, bad))}] is not a finite number")
    return start


def _starts(problem: PoseProblem) -> Floats:
    """Where tries begin: base, span and whether q0 is added (3, n).

    Inside the limits; anywhere on the circle for angles without them; at q0 for lengths without
    them and for floating joints.
    """
    lower, upper, wraps = problem.lower, problem.upper, problem.wraps
    bounded = np.isfinite(lower) & np.isfinite(upper)
    base = np.where(bounded, lower, 0.0)
    span = np.where(bounded, upper, 0.0) - base
    base, span = np.where(wraps, -np.pi, base), np.where(wraps, 2.0 * np.pi, span)
    kept = np.where(bounded | wraps, 0.0, 1.0)
    return np.ascontiguousarray(np.stack([base, span, kept]))


def with_changes(options: Options | None, **changes: Any) -> Options:
    """Options with those changes that are not None."""
    given = {key: value for key, value in changes.items() if value is not None}
    return replace(options or Options(), **given)
