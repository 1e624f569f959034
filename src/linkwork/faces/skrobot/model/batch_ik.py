"""Inverse kinematics of many targets in one call (rows S0-160 to S0-176).

Every target is searched for by the core's solver, which restarts until the target is reached; what
this file does is to read targets, masks and joints as the original does, and to give answers in its
form. Both backends are this one.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork import settings
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.skrobot.coordinates.base import Coordinates, carriers, inverse_matrix
from linkwork.faces.skrobot.errors import WrongTypeError
from linkwork.faces.skrobot.model.arguments import (
    OLDER,
    Wanted,
    all_wanted,
    asked_axes,
    base_of,
    check_backend,
    check_lists,
)
from linkwork.faces.skrobot.model.arguments import base_weight as weight_of_base
from linkwork.faces.skrobot.model.ik_steps import joints_of
from linkwork.faces.skrobot.model.joint import Joint, leader_of, leaders_of

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.core import CoreModel
    from linkwork.solve.ik import InverseKinematics
    from linkwork.solve.result import IKResult

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_EXACT_POSITION, _EXACT_ROTATION = 1.0e-5, 1.0e-4
"""Tolerances (m, rad) of the first search: answers are as exact as is free."""
_STEPS = 16
"""Iterations of one try of the core, after which it starts elsewhere."""
_NEAR = 10.0
"""A miss by more thresholds than so many: it is not searched for with the thresholds alone."""
_UNIT = 1.0e-3
"""The distance from 1 that the norm of a quaternion may have."""


class NoJointError(InputError):
    """A problem in which no joint may move."""


class BatchIKAttempts(NamedTuple):
    """Every attempt of a batch: A of them for each of N targets.

    ``angle_vectors`` (N, A, n), ``errors`` (N, A), position (m) plus rotation (rad), ``success``
    (N, A), and ``base_poses``, N lists of A frames, or None.
    """

    angle_vectors: Floats
    errors: Floats
    success: Bools
    base_poses: list[list[Coordinates]] | None
    n_attempts: int


class BatchIKResult(tuple[Any, ...]):
    """The answers of a batch: a tuple, and the same by name.

    It unpacks as ``solutions, success_flags``; with several attempts as ``solutions,
    success_flags, attempt_counts``; with ``use_base`` as ``solutions, base_poses, success_flags,
    attempt_counts``. ``attempt_counts`` says how many starts were needed.
    """

    solutions: list[Floats]
    success_flags: list[bool]
    base_poses: list[Coordinates] | None
    attempts: BatchIKAttempts | None
    attempt_counts: list[int]

    def __new__(
        cls,
        solutions: list[Floats],
        success_flags: list[bool],
        attempt_counts: list[int],
        base_poses: list[Coordinates] | None = None,
        attempts: BatchIKAttempts | None = None,
    ) -> BatchIKResult:
        """The tuple in its documented form."""
        parts: list[Any] = [solutions, success_flags, attempt_counts]
        if base_poses is not None:
            parts.insert(1, base_poses)
        elif attempts is not None and attempts.n_attempts == 1:
            parts.pop()
        made = super().__new__(cls, parts)
        made.solutions, made.success_flags, made.base_poses = solutions, success_flags, base_poses
        made.attempts, made.attempt_counts = attempts, attempt_counts
        return made


class BatchIK:
    """The part of `CascadedLink` that solves batches of targets."""

    def batch_inverse_kinematics(  # noqa: PLR0913, PLR0917  as the original
        self: Any,
        target_coords: Any,
        move_target: Any = None,
        link_list: Any = None,
        position_mask: Any = None,
        rotation_mask: Any = None,
        rotation_mirror: Any = None,
        stop: int = 100,
        thre: float = 0.001,
        rthre: float = math.radians(1.0),
        initial_angles: Any = "current",
        alpha: float = 1.0,
        attempts_per_pose: int = 1,
        random_initial_range: float = 0.7,
        translation_tolerance: Any = None,
        rotation_tolerance: Any = None,
        backend: str | None = None,
        use_base: Any = False,
        base_weight: Any = None,
        joint_list: Any = None,
        invariant_joint_list: Any = None,
        select_closest_to_initial: bool = True,
        joint_weights: Any = None,
        retry_seed: str | None = None,
        rng: Any = 0,
        **kwargs: Any,
    ) -> BatchIKResult:
        """Angle vectors that bring ``move_target`` to poses in the world; the robot does not move.

        ``target_coords``: frames, or an array (N, 6) of x y z roll pitch yaw, or (N, 7) of
        x y z qx qy qz qw. The joints from the root to ``move_target`` move, or those of
        ``joint_list`` or ``link_list``, but for ``invariant_joint_list``; the others keep their
        angles. Masks name the axes that count, of the world for positions and of ``move_target``
        for rotations; None: all. A target is solved within ``thre`` (m) and ``rthre`` (rad).
        With lists for ``move_target``, ``target_coords`` and the chains, several frames are brought
        to their targets at once, weighted by ``task_weights``; ``joint_limit_avoidance`` then keeps
        joints away from the ends of their ranges.

        ``initial_angles`` are "current", None or "random", or an array (N, number of joints that
        move). Further attempts start at random configurations, ``random_initial_range`` of the
        ranges wide, about the middle of the ranges or, with ``retry_seed="current"``, about the
        first start; ``rng`` is their seed or a generator. Of several solutions the one nearest to
        the first start is given, or with ``select_closest_to_initial=False`` the most exact one.
        ``stop`` bounds the iterations of an attempt before it starts elsewhere.

        Raises: InputError, ShapeError (both a ValueError), WrongTypeError (a TypeError).
        """
        _check_choices(backend, alpha, retry_seed)
        base = base_of(use_base)
        tasks = _tasks_of(self, target_coords, move_target, kwargs)
        legacy = {name: kwargs.pop(name) for name in OLDER if name in kwargs}
        weights, avoid = _kwargs_of_several(kwargs, tasks)
        n = len(tasks.frames)
        asked = asked_axes(n, position_mask, rotation_mask, rotation_mirror, legacy)
        wanted = all_wanted(n, asked, translation_tolerance, rotation_tolerance)
        core = self._core(base)
        places = [core.frame(frame) for frame in tasks.frames]
        moved = _moved_joints(self, tasks, link_list, joint_list, invariant_joint_list)
        if not moved.free and base is None:
            raise NoJointError(
                "batch_inverse_kinematics: no joint may move: the list is empty, or every joint of "
                "it is in invariant_joint_list"
            )
        problem = _Problem(
            core=core,
            places=places,
            tasks=tasks,
            wanted=wanted,
            weights=weights,
            avoid=avoid,
            moved=moved,
            joint_weights=_joint_weights(joint_weights, moved.chain),
            base=_base(base, base_weight),
        )
        starts = _starts(
            problem, (initial_angles, attempts_per_pose, random_initial_range, retry_seed), rng
        )
        random = initial_angles is None or (
            isinstance(initial_angles, str) and initial_angles == "random"
        )
        return _result(
            self,
            problem,
            _solve(problem, starts, stop, thre, rthre),
            starts,
            select=bool(select_closest_to_initial),
            random=random,
        )


# --- what is asked for ----------------------------------------------------------------------------


class _Tasks(NamedTuple):
    """Frames that are to be moved, and the poses (N, 4, 4) in the world for each."""

    frames: list[Any]
    targets: list[Floats]
    several: bool


class _Moved(NamedTuple):
    """The joints of the chains in their order, and those of them that are free to move."""

    chain: list[Any]
    free: list[Any]


class _Base(NamedTuple):
    """The freedom of the root ("planar" or "6dof"), and its weights."""

    kind: str | None
    weight: float | tuple[float, ...]


@dataclass(frozen=True)
class _Problem:
    """A request, read and checked; ``places`` are the frames' links and poses in them."""

    core: CoreModel
    places: list[tuple[str, Floats]]
    tasks: _Tasks
    wanted: list[Wanted]
    weights: Floats
    avoid: float
    moved: _Moved
    joint_weights: dict[int, float]
    base: _Base

    @property
    def n(self) -> int:
        """The number of targets."""
        return len(self.tasks.targets[0])

    @property
    def active(self) -> list[int]:
        """The tasks that ask for something."""
        return [k for k, w in enumerate(self.wanted) if w.is_something and self.weights[k] > 0.0]


_OF_SEVERAL = ("task_weights", "joint_limit_avoidance")


def _check_choices(backend: Any, alpha: Any, retry_seed: Any) -> None:
    """Raises: InputError for what is none of the choices."""
    check_backend(backend)
    if not 0.0 < float(alpha) <= 1.0:
        raise InputError(f"alpha is a step size, 0 < alpha <= 1, not {alpha!r:.40}")
    if retry_seed not in (None, "current", "random"):
        raise InputError(f"retry_seed is 'current' or 'random', not {retry_seed!r:.40}")


def _tasks_of(robot: Any, targets: Any, move_target: Any, kwargs: Mapping[str, Any]) -> _Tasks:
    """The frames and their targets.

    Raises: InputError, ShapeError; WrongTypeError for keywords of several frames with one.
    """
    if isinstance(move_target, (list, tuple)):
        frames = list(move_target)
        if not isinstance(targets, (list, tuple)) or len(targets) != len(frames):
            given = len(targets) if isinstance(targets, (list, tuple)) else type(targets).__name__
            raise InputError(
                f"target_coords must be a list of {len(frames)}, one batch for each frame of "
                f"move_target, not {given}"
            )
        poses = [_poses(each) for each in targets]
        counts = [len(each) for each in poses]
        if len(set(counts)) > 1:
            raise InputError(
                f"the batches of target_coords are of different sizes: {counts}; each frame needs "
                "one target of every row"
            )
        if not frames:
            raise InputError("move_target is an empty list: give at least one frame")
        return _Tasks(frames, poses, True)
    for name in _OF_SEVERAL:
        if kwargs.get(name) is not None:
            raise WrongTypeError(
                f"{name} is for several end effectors: give lists for move_target and target_coords"
            )
    frame = robot.end_coords if move_target is None else move_target
    if move_target is None and isinstance(frame, (list, tuple)):
        if len(frame) != 1:
            raise InputError(
                f"'{robot.name}' has {len(frame)} ends: give move_target, or lists for both"
            )
        frame = frame[0]  # robots with one arm list their ends
    return _Tasks([frame], [_poses(targets)], False)


def _poses(targets: Any) -> Floats:
    """Poses (N, 4, 4) of frames, or of rows of 6 or 7 numbers.

    Raises: ShapeError, InputError.
    """
    if isinstance(targets, (list, tuple)):
        kinds = set(map(type, targets))
        frames = [issubclass(kind, Coordinates) for kind in kinds]
        if all(frames):
            plain = kinds == {Coordinates}
            worlds = [each._M for each in targets] if plain else [each._world() for each in targets]
            return np.frombuffer(b"".join(worlds)).reshape(-1, 4, 4)  # quicker than np.array
        if any(frames):
            raise InputError("target_coords mixes frames and numbers: give frames, or an array")
    elif not isinstance(targets, np.ndarray):
        raise InputError(
            "target_coords is an array (N, 6) or (N, 7) or a list of frames, not "
            f"{type(targets).__name__}; for one frame write [frame]"
        )
    try:
        rows = np.asarray(targets, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "target_coords is an array (N, 6) or (N, 7) of numbers or a list of frames"
        ) from None
    if rows.ndim != 2:
        raise ShapeError(f"target_coords must have shape (N, 6) or (N, 7), not {rows.shape}")
    if rows.shape[1] == 6:
        return lw.pose(rows[:, :3], rpy=rows[:, 3:])
    if rows.shape[1] != 7:
        raise ShapeError(
            f"target_coords must have shape (N, 6), x y z roll pitch yaw, or (N, 7), "
            f"x y z qx qy qz qw, not {rows.shape}"
        )
    norms = np.linalg.norm(rows[:, 3:], axis=1)
    wrong = np.flatnonzero(~(np.abs(norms - 1.0) <= _UNIT))
    if wrong.size:
        raise InputError(
            f"target_coords[{wrong[0]}]: quaternion q's norm is not 1 but {norms[wrong[0]]:g}"
        )
    return lw.pose(rows[:, :3], wxyz=rows[:, [6, 3, 4, 5]])


def _kwargs_of_several(kwargs: dict[str, Any], tasks: _Tasks) -> tuple[Floats, float]:
    """The weights of the tasks (k,), and how much joints are kept from the ends of their ranges.

    Raises: InputError; WrongTypeError for keywords that are unknown.
    """
    n = len(tasks.frames)
    given, avoid = (kwargs.pop(name, None) for name in _OF_SEVERAL)
    if kwargs:
        raise WrongTypeError(
            f"batch_inverse_kinematics() got an unexpected keyword argument {next(iter(kwargs))!r}"
        )
    weights = np.ones(n) if given is None else np.asarray(given, np.float64)
    if weights.shape != (n,):
        raise ShapeError(f"task_weights must have shape ({n},), got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise InputError("task_weights must be non-negative")
    if not weights.any():
        raise InputError("task_weights are all zero, so nothing is asked for")
    gain = 0.0 if avoid is None else float(avoid)
    if not (math.isfinite(gain) and gain >= 0.0):
        raise InputError(f"joint_limit_avoidance is a gain of at least 0, not {avoid!r:.40}")
    return weights, gain


# --- joints ---------------------------------------------------------------------------------------


def _moved_joints(robot: Any, tasks: _Tasks, links: Any, joints: Any, invariant: Any) -> _Moved:
    """The joints of the chains.

    Raises: InputError.
    """
    check_lists(links, joints)
    if joints is not None:
        found = _flat(joints, tasks, "joint_list")
    elif links is not None:
        found = [link.joint for link in _flat(links, tasks, "link_list")]
    else:
        found = [joint for frame in tasks.frames for joint in _joints_to(robot, frame)]
    named = {joint.name: joint for joint in robot.joint_list}
    chain: dict[int, Any] = {}
    for given in found:
        joint = named.get(given) if isinstance(given, str) else given
        if isinstance(given, str) and joint is None:
            raise UnknownNameError("joint", given, list(named))
        if joint is not None and joint.joint_dof > 0:
            chain.setdefault(id(joint), joint)
    listed = list(chain.values())
    stay = [named.get(each, each) for each in invariant or ()]
    held = {id(leader_of(each)) for each in stay if isinstance(each, Joint)}
    return _Moved(listed, [joint for joint in listed if id(leader_of(joint)) not in held])


def _flat(given: Iterable[Any], tasks: _Tasks, what: str) -> list[Any]:
    """The entries of a chain, or of the chains of several frames."""
    listed = list(given)
    nested = [isinstance(each, (list, tuple)) for each in listed]
    if not any(nested):
        return listed
    if not all(nested):
        raise InputError(f"{what} mixes lists with entries: give one chain, or one for each frame")
    if len(listed) != len(tasks.frames):
        raise InputError(
            f"{what} has {len(listed)} chains for {len(tasks.frames)} frames of move_target"
        )
    return [entry for chain in listed for entry in chain]


def _joints_to(robot: Any, frame: Any) -> list[Any]:
    """The joints of the model from its root to a frame."""
    inside = {id(joint) for joint in robot.joint_list}
    return [joint for joint in joints_of(carriers(frame)[::-1]) if id(joint) in inside]


def _joint_weights(given: Any, chain: Sequence[Any]) -> dict[int, float]:
    """The weights of joints by the joint's id; 1 where nothing is said.

    Raises: InputError.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        by_name = {joint.name: joint for joint in chain}
        pairs: list[tuple[Any, Any]] = []
        for key, value in given.items():
            joint = by_name.get(key) if isinstance(key, str) else key
            if joint is None or not any(joint is each for each in chain):
                raise InputError(
                    f"joint_weights names {getattr(key, 'name', key)!r}, which is none of the "
                    f"joints that move: {', '.join(by_name)}"
                )
            pairs.append((joint, value))
    else:
        listed = list(given)
        if len(listed) != len(chain):
            raise InputError(
                f"joint_weights must have one entry per moved joint ({len(chain)}), "
                f"got {len(listed)}"
            )
        pairs = list(zip(chain, listed, strict=True))
    found = {id(joint): float(value) for joint, value in pairs}
    if not all(math.isfinite(value) and value > 0.0 for value in found.values()):
        raise InputError("joint_weights must be strictly positive")
    return found


def _base(kind: str | None, weight: Any) -> _Base:
    """The root's freedom, and its weights."""
    if kind is not None:
        return _Base(kind, weight_of_base(kind, weight))
    if weight is not None:
        warnings.warn("base_weight is ignored when use_base is False", RuntimeWarning, stacklevel=3)
    return _Base(None, 1.0)


# --- starts ---------------------------------------------------------------------------------------


def _starts(problem: _Problem, how: tuple[Any, Any, Any, str | None], rng: Any) -> Floats:
    """The starts of the attempts: q (N, A, nq), or (1, 1, nq) where all start alike.

    Raises: InputError, ShapeError.
    """
    given, attempts, width, about = how
    attempts = int(attempts)
    if attempts < 1:
        raise InputError(f"attempts_per_pose is at least 1, not {attempts}")
    width = float(width)
    if not width >= 0.0:
        raise InputError(f"random_initial_range is a share of the ranges, not {width}")
    core, n = problem.core, problem.n
    now = core.q()
    is_current = isinstance(given, str) and given == "current"
    if is_current and attempts == 1:
        return now[None, None]
    starts = np.broadcast_to(now, (n, attempts, now.size)).copy()
    columns, lower, upper = _ranges(problem)
    middle, half = 0.5 * (lower + upper), 0.5 * min(width, 1.0) * (upper - lower)
    shape = (n, attempts, len(columns))
    draws = np.random.default_rng(rng).uniform(-1.0, 1.0, shape) * half
    first = given
    if is_current:
        pass
    elif given is None or (isinstance(given, str) and given == "random"):
        starts[..., columns] = middle + draws
        first = None
    elif isinstance(given, (np.ndarray, list, tuple)):
        _write_angles(problem, starts, np.asarray(given, np.float64))
    else:
        raise InputError(
            "initial_angles must be None, 'random', 'current', or an array (N, number of joints), "
            f"not {given!r:.60}"
        )
    if attempts > 1 and first is not None:
        centre = starts[:, 1:, columns] if about == "current" else middle
        starts[:, 1:, columns] = centre + draws[:, 1:]
    starts[..., columns] = np.clip(starts[..., columns], lower, upper)
    return starts


def _ranges(problem: _Problem) -> tuple[list[int], Floats, Floats]:
    """The numbers of q that move, without the base, and their ranges; infinite ones are a turn."""
    core = problem.core
    own = {k for joint in problem.moved.free for k in _span(core.positions(joint))}
    columns = sorted(own)
    limits = core.robot.limits
    lower, upper = limits.lower[columns], limits.upper[columns]
    now = core.q()[columns]
    turn = 2.0 * math.pi
    low = np.where(np.isfinite(upper), upper - turn, now - math.pi)
    low = np.where(np.isfinite(lower), lower, low)
    return columns, low, np.where(np.isfinite(upper), upper, low + turn)


def _span(place: slice) -> range:
    return range(place.start, place.stop)


def _write_angles(problem: _Problem, starts: Floats, angles: Floats) -> None:
    """Put given angles of the chain's joints, or of the whole angle vector, into the starts.

    Raises: ShapeError, InputError.
    """
    core, n = problem.core, problem.n
    forms = [
        problem.moved.chain,
        problem.moved.free,
        [joint for joint in problem.moved.chain if joint._leader is None],
        core._model.joint_list,
    ]
    for joints in forms:
        if angles.shape == (n, sum(joint.joint_dof for joint in joints)):
            break
    else:
        width = sum(joint.joint_dof for joint in problem.moved.chain)
        raise ShapeError(f"initial_angles must have shape ({n}, {width}), got {angles.shape}")
    if not np.isfinite(angles).all():
        raise InputError("initial_angles must be finite")
    at = 0
    for joint in joints:
        if joint._leader is None:
            place = core.positions(joint)
            starts[..., place] = angles[:, None, at : at + joint.joint_dof]
        at += joint.joint_dof


# --- the search -----------------------------------------------------------------------------------


class _Solver(NamedTuple):
    """The core's solver, and which target each of its tasks has.

    ``places`` are the active frames of its tasks. Of frames that are brought to whole poses the
    link that carries them is brought there instead: ``offsets`` are their poses (4, 4) in it.
    """

    core: Any
    solver: InverseKinematics
    names: list[str]
    places: list[int]
    links: list[str]
    offsets: list[Floats | None]

    @property
    def reach(self) -> float:
        """The largest distance (m) of a frame from the origin of the link that is searched for."""
        return max((_length(T) for T in self.offsets if T is not None), default=0.0)


class _Found(NamedTuple):
    """Answers q (n, nq), whether they are solutions, their errors (m, rad) and the starts made."""

    q: Floats
    success: Bools
    position: Floats
    rotation: Floats
    tries: NDArray[np.int64]


def _length(T: Floats) -> float:
    return float(np.linalg.norm(T[:3, 3]))


def _solver(problem: _Problem) -> _Solver:
    """The solver of a problem, kept with the core for the next call that asks for the same."""
    core = problem.core
    free = [core._parts_of[id(leader_of(joint))] for joint in problem.moved.free]
    joints = tuple(dict.fromkeys(name for names in free for name in names))
    weights: dict[str, Any] = {
        name: problem.joint_weights[id(joint)]
        for joint in problem.moved.free
        if id(joint) in problem.joint_weights
        for name in core._parts_of[id(leader_of(joint))]
    }
    if problem.base.kind is not None:
        joints += (core._base_joint,)
        weights[core._base_joint] = problem.base.weight
    key = (
        tuple((link, T.tobytes()) for link, T in problem.places),
        tuple(each.key for each in problem.wanted),
        problem.weights.tobytes(),
        problem.avoid,
        joints,
        tuple(weights.items()),
    )
    known = core.__dict__.setdefault("_batch_solvers", {})
    if key not in known:
        known[key] = _made(problem, joints, weights)
    return known[key]


def _made(
    problem: _Problem,
    joints: tuple[str, ...],
    weights: Mapping[str, Any],
) -> _Solver:
    robot = problem.core.robot
    tasks: list[lw.ik.Pose] = []
    owners: list[int] = []
    links: list[str] = []
    offsets: list[Floats | None] = []
    for k in problem.active:
        (link, T), wanted = problem.places[k], problem.wanted[k]
        frame, offset = link, None if np.array_equal(T, _HERE) else T
        if not wanted.is_whole and offset is not None:
            frame, offset = f"target {k} of the batch", None
            robot = robot.with_frame(frame, link, T)
        weight, names = float(problem.weights[k]), (f"target {k}", f"target {k}, rotation")
        made = [
            lw.ik.Pose(frame, weight=weight, name=name, **fields)
            for name, fields in zip(names, wanted.fields("world"), strict=False)
        ]
        tasks += made
        owners += [k] * len(made)
        links += [link] * len(made)
        offsets += [offset] * len(made)
    m = robot.mechanism
    moving = {c for task in tasks for c in m.coordinates_moving(m.frame(task.frame))}
    joints = tuple(name for name in joints if m.joint(name) in moving)
    solver = robot.solver(
        tasks=tasks,
        joints=joints,
        objectives=lw.ik.Centred(weight=problem.avoid) if problem.avoid else (),
        joint_weights={name: w for name, w in weights.items() if name in joints} or None,
    )
    return _Solver(robot, solver, [task.name for task in tasks], owners, links, offsets)


_HERE = np.eye(4)


def _solve(problem: _Problem, starts: Floats, stop: Any, thre: Any, rthre: Any) -> _Found:
    """Search for all rows; first as exactly as is free, then what missed by the thresholds.

    ``starts`` are those of `_starts`; the rows of the answers are N times A.
    """
    attempts, width = starts.shape[1:]
    rows, n = starts.reshape(-1, width), problem.n * attempts
    if not problem.active or not n:
        zero, still = np.zeros(n), np.broadcast_to(rows, (n, width)).copy()
        return _Found(still, zero == 0.0, zero, zero, np.ones(n, np.int64))
    most = _Errors(_threshold(thre, "thre"), _threshold(rthre, "rthre"))
    found = _solver(problem)
    T_world_root = problem.core.T_world_root()
    targets: dict[str, Floats] = {}
    asked: list[Floats] = []
    for name, k, offset in zip(found.names, found.places, found.offsets, strict=True):
        wanted = problem.tasks.targets[k]
        if not np.array_equal(T_world_root, _HERE):
            wanted = inverse_matrix(T_world_root) @ wanted
        wanted = np.repeat(wanted, attempts, axis=0) if attempts > 1 else wanted
        asked.append(wanted)
        targets[name] = wanted if offset is None else wanted @ inverse_matrix(offset)
    limits = found.core.limits
    q0 = np.clip(rows[0] if len(rows) == 1 else rows, limits.lower, limits.upper)
    steps = max(1, min(int(stop), _STEPS))
    exact = most.at_the_link(found.reach, _EXACT_POSITION, _EXACT_ROTATION)
    first = _searched(found, targets, asked, q0, exact, most, steps)
    missed = np.flatnonzero(~first.success)
    missed = missed[most.nearly(first.position[missed], first.rotation[missed])]
    if missed.size:
        some = {name: T[missed] for name, T in targets.items()}
        own = [T[missed] for T in asked]
        loose = most.at_the_link(found.reach, most.position, most.rotation)
        again = _searched(found, some, own, q0 if q0.ndim == 1 else q0[missed], loose, most, steps)
        better = again.success | (
            again.position + again.rotation < first.position[missed] + first.rotation[missed]
        )
        for old, new in zip(first, again, strict=True):
            old[missed[better]] = new[better]
    return first


class _Errors(NamedTuple):
    """The errors that a frame may have: m and rad."""

    position: float
    rotation: float

    def at_the_link(self, reach: float, position: float, rotation: float) -> _Errors:
        """Tolerances for a link, at most these, that keep a frame so far from it within mine."""
        rotation = min(rotation, self.rotation)
        if reach > 0.0:
            rotation = min(rotation, 0.5 * self.position / reach)
        return _Errors(min(position, self.position - rotation * reach), rotation)

    def nearly(self, position: Floats, rotation: Floats) -> Bools:
        """Flags of errors so small that a search for mine alone may succeed."""
        turned = _NEAR * self.rotation
        return (position <= _NEAR * self.position + turned) & (rotation <= 2.0 * turned + position)


def _threshold(value: Any, what: str) -> float:
    """One threshold; of several, the least.

    Raises: InputError.
    """
    numbers = np.asarray(value, np.float64)
    if not (numbers.size and np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise InputError(f"{what} is a threshold above 0, not {value!r:.40}")
    return float(numbers.min())


def _searched(
    found: _Solver,
    targets: Mapping[str, Floats],
    asked: Sequence[Floats],
    q0: Floats,
    within: _Errors,
    most: _Errors,
    steps: int,
) -> _Found:
    """One search, judged at the frames by the thresholds ``most``."""
    given: Any = next(iter(targets.values())) if len(targets) == 1 else dict(targets)
    result = found.solver.solve(
        given,
        q0,
        position_tolerance=within.position,
        rotation_tolerance=within.rotation,
        steps=None if steps == _STEPS else steps,
        threads=settings.most_threads(),
    )
    position, rotation = _measured(found, asked, result)
    success = result.success | ((position <= most.position) & (rotation <= most.rotation))
    return _Found(result.q, success, position, rotation, result.restarts + 1)


def _measured(found: _Solver, asked: Sequence[Floats], result: IKResult) -> tuple[Floats, Floats]:
    """The largest errors of the frames (n,), m and rad; of solutions those of the links."""
    position, rotation = result.position_error, result.rotation_error
    missed = np.flatnonzero(~result.success)
    if missed.size and any(offset is not None for offset in found.offsets):
        worst = np.zeros(missed.size)
        for name, link, offset, T in zip(
            found.names, found.links, found.offsets, asked, strict=True
        ):
            if offset is None:
                own = np.asarray(result.errors[name].get("position", 0.0))
                worst = np.maximum(worst, np.broadcast_to(own, (len(asked[0]),))[missed])
            else:
                reached = found.core.fk(result.q[missed], link) @ offset
                away = np.linalg.norm(reached[:, :3, 3] - T[missed, :3, 3], axis=1)
                worst = np.maximum(worst, away)
        position = position.copy()
        position[missed] = worst
    return position, rotation


# --- what is given back ---------------------------------------------------------------------------


def _result(
    robot: Any, problem: _Problem, found: _Found, starts: Floats, *, select: bool, random: bool
) -> BatchIKResult:
    """The answers in the original's form; of several attempts the one that is chosen."""
    n, attempts = problem.n, starts.shape[1]
    angles = _angle_vectors(problem, robot, found.q)
    poses = None if problem.base.kind is None else _base_poses(problem, robot, found.q)
    success = found.success.reshape(n, attempts)
    errors = (found.position + found.rotation).reshape(n, attempts)
    chosen: Any = slice(None)
    if attempts > 1:
        if select and not random:
            q = found.q.reshape(n, attempts, -1)
            way = np.linalg.norm(q - starts[:, :1], axis=2)
        else:
            way = errors
        best = np.where(success.any(axis=1), np.where(success, way, np.inf).argmin(axis=1),
                        errors.argmin(axis=1))  # fmt: skip
        chosen = np.arange(n) * attempts + best
    whole = BatchIKAttempts(
        angles.reshape(n, attempts, angles.shape[1]),
        errors,
        success,
        None
        if poses is None
        else [poses[k : k + attempts] for k in range(0, len(poses), attempts)],
        attempts,
    )
    return BatchIKResult(
        list(angles[chosen]),
        found.success[chosen].tolist(),
        found.tries.reshape(n, attempts).sum(axis=1).tolist(),
        None if poses is None else list(np.array(poses, object)[chosen]),
        whole,
    )


def _angle_vectors(problem: _Problem, robot: Any, q: Floats) -> Floats:
    """Angle vectors (n, k) of configurations (n, nq); joints that do not move keep their angles."""
    core = problem.core
    free = {id(leader_of(joint)) for joint in problem.moved.free}
    moving: list[int] = []
    places: list[int] = []
    following: list[tuple[int, float, float]] = []
    at = 0
    for joint in robot.joint_list:
        if id(leader_of(joint)) in free:
            moving += range(at, at + joint.joint_dof)
            places += _span(core.positions(joint))
            for _, rate, shift in list(leaders_of(joint))[-1:]:
                following.append((at, rate, shift))
        at += joint.joint_dof
    angles = np.empty((len(q), at))
    angles[:] = robot.angle_vector()
    angles[:, moving] = q[:, places]
    for k, rate, shift in following:
        angles[:, k] = rate * angles[:, k] + shift
    return angles


def _base_poses(problem: _Problem, robot: Any, q: Floats) -> list[Coordinates]:
    """The pose of the robot's base for each answer."""
    core = problem.core
    T_world_root = core.T_world_root()
    moved = T_world_root @ core.robot.fk(q, core.root_name) @ inverse_matrix(T_world_root)
    poses = moved @ robot._world()
    return [Coordinates(T[:3, 3], T[:3, :3], check_validity=False) for T in poses]
