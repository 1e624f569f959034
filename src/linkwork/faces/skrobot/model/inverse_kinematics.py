"""Inverse kinematics from the present pose: one end effector or several, by the core's solver.

A `Problem` is what was asked for in names of the core, with its compiled solvers; a robot keeps it
for the next call that asks for the same of other targets. Where functions of the caller, or steps
that a subclass has changed, have a say, the documented iteration of `ik_steps` runs in its place.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork import ik
from linkwork.errors import InputError, LinkworkError, UnknownNameError
from linkwork.faces.skrobot.coordinates.base import (
    CascadedCoords,
    Coordinates,
    carriers,
    inverse_matrix,
)
from linkwork.faces.skrobot.coordinates.math import normalize_mask
from linkwork.faces.skrobot.model.arguments import (
    Wanted,
    all_wanted,
    asked_axes,
    base_of,
    base_weight,
    check_lists,
    listed,
    listed_numbers,
    listed_or_none,
    nested,
)
from linkwork.faces.skrobot.model.core import Kept
from linkwork.faces.skrobot.model.ik_steps import StepsIK, joints_of
from linkwork.faces.skrobot.model.joint import FloatingJoint, Joint, PlanarJoint, leader_of
from linkwork.faces.skrobot.model.link import Link

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.core import CoreModel

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POSITION_THRESHOLD, ROTATION_THRESHOLD = 0.001, math.radians(1.0)
EXACT = 1.0e-9
"""The distance (m, rad) to its targets that a solution is refined to where it can be."""
_BELOW = 1.0e-5
"""The same where something else is made better as well, and the targets are left a little."""
_KEPT = 64
"""Problems that a robot keeps; where there are more, the oldest goes."""
FOLLOWING: ContextVar[tuple[Callable[[], Any], ...]] = ContextVar("following", default=())
"""The functions that follow each step in this thread, beside the hooks of a call."""
_BASES: dict[str, Any] = {"planar": PlanarJoint, "6dof": FloatingJoint}
_BY_STEPS = (
    "additional_jacobi", "additional_vel", "additional_check", "additional_nspace_list", "jacobi",
    "inverse_kinematics_hook", "null_space", "centroid_offset_func", "obstacles",
    "collision_avoidance_link_pair", "joint_args", "move_joints_hook",
)  # fmt: skip
"""Arguments that only the documented iteration can obey."""
_STEPS = (
    "calc_jacobian_from_link_list", "calc_jacobian_from_joint_list", "calc_inverse_jacobian",
    "calc_joint_angle_speed", "calc_nspace_from_joint_limit", "calc_weight_from_joint_limit",
    "calc_inverse_kinematics_weight_from_link_list", "calc_vel_from_pos", "calc_vel_from_rot",
    "calc_inverse_kinematics_nspace_from_link_list", "calc_joint_angle_speed_gain", "move_joints",
    "calc_jacobian_for_interlocking_joints", "calc_vel_for_interlocking_joints",
    "collision_avoidance_link_pair_from_link_list", "move_joints_avoidance",
    "ik_convergence_check", "inverse_kinematics_loop",
)  # fmt: skip
"""Steps of the documented iteration that a subclass may have changed."""
_FIRST = ik.Options(steps=50, tries=16, nearest_miss=False)
_NEAR = ik.Options(steps=50, tries=1, nearest_miss=False)
_PLAIN = frozenset((type(None), bool, int, float, str))
_NUMBERS = frozenset(
    ("target_coords", "stop", "revert_if_fail", "target_centroid_pos", "check_collision")
)
"""Arguments whose values make no other problem."""


_Steps = StepsIK if TYPE_CHECKING else object  # a robot has both


class NoBaseError(InputError, RuntimeError):
    """A part of a robot whose base is to move."""


@dataclass(eq=False)
class Problem:
    """A request to a model's core, its solvers, and the joints that they move."""

    core: CoreModel
    keep: Any  # what the ids in its key belong to
    lists: tuple[Any, Any]  # of links and of joints, as they were given
    frames: list[Any]
    wanted: list[Wanted]
    asked: list[tuple[str, int, bool]] = field(default_factory=list)
    """Tasks: name, the number of the target, whether it is of what the link holds."""
    joints: list[tuple[int, Any]] = field(default_factory=list)
    """Joints that move: where they are in q."""
    has_own_joints: bool = False
    """Whether the caller has joints of his own, which are to be set as he says."""
    exact: Any = None
    enough: Any = None
    stretched: Any = None
    """Solvers: to `EXACT`, to the thresholds, and none where nothing could be moved."""
    base: bool = False
    tables: list[tuple[Any, Any]] = field(default_factory=list)
    """Joints whose limits depend on others, and their tables."""
    coupled: bool = False
    pairs: list[tuple[Any, Any, float]] = field(default_factory=list)
    """Joints that move as one, and how far they are apart."""
    given_pairs: Any = ()
    centroid: tuple[str, float] | None = None
    """The centre of mass's task, and its threshold."""
    parents: list[Any] = field(default_factory=list)
    """The links that frames hang on directly, or None."""
    root: Any = None
    """The frame that the core's robot stands on; None where it is the world."""
    _root: tuple[bytes, Floats] | None = None
    _tools: list[tuple[bytes, Floats, Floats] | None] = field(default_factory=list)
    alone: bool = False
    """Whether there is but one task."""
    settled: bool = False
    """Whether the core's own test of a solution to `EXACT` says all that the thresholds ask."""

    def T_root_world(self) -> Floats:
        """The world in the frame that the core's robot stands on (4, 4)."""
        T = self.core.T_world_root() if self.root is None else self.root._world()
        now, known = T.tobytes(), self._root
        if known is None or known[0] != now:
            known = self._root = now, inverse_matrix(T)
        return known[1]

    def tool(self, k: int) -> tuple[bytes, Floats, Floats]:
        """The pose of a frame in its link of the core: to be compared, in numbers, its inverse."""
        frame = self.frames[k]
        parent, known = self.parents[k], self._tools[k]
        direct = parent is not None and frame.parent is parent
        pose = frame._local() if direct else self.core.frame(frame)[1]
        now = pose.tobytes()
        if known is None or known[0] != now:
            known = self._tools[k] = now, pose.take(_IN_ORDER), inverse_matrix(pose)
        return known

    def is_current(self, robot: SingleIK, base: Any) -> bool:
        """Whether the model, its tables and what moves as one are still what they were."""
        if self.core is not robot._core(base):
            return False
        if any(joint.joint_min_max_table is not table for joint, table in self.tables):
            return False
        pairs = robot.interlocking_joint_pairs
        if not pairs and not self.given_pairs:
            return True
        return list(pairs) == self.given_pairs and all(
            abs(first.joint_angle() - second.joint_angle() - apart) < 1.0e-9
            for first, second, apart in self.pairs
        )


class _Problems(Kept[Any, Problem]):
    """The problems that a robot keeps."""

    last: tuple[Any, Any, Any, Problem | None] = (None, None, None, None)
    """The frame, links and other arguments of the last call that gave plain ones, its problem."""


class SingleIK(_Steps):
    """The methods of a robot that solve inverse kinematics and move its joints to the solution."""

    _ik_problems: _Problems | None = None

    if TYPE_CHECKING:
        end_coords: Any
        root_link: Any
        head: Any
        head_end_coords: Any

        def angle_vector(self, av: Any = None, return_av: Any = None) -> Floats: ...  # noqa: D102
        def apply_joint_limit_table_constraints(self) -> Floats: ...  # noqa: D102  another's
        def _core(self, base: Any = None) -> CoreModel: ...

    def inverse_kinematics(
        self,
        target_coords: Any,
        move_target: Any = None,
        link_list: Any = None,
        joint_list: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Move joints so that frames come to their targets: the angle vector, or False.

        ``move_target`` (default: `end_coords`) is brought to ``target_coords``, by the joints of
        ``link_list`` or of ``joint_list``, by default all of the model that carry the frame. Lists
        of targets, frames and chains are several end effectors at once. The search begins at the
        present angles, then at others. It is a success where the norms of the differences of
        position and of rotation that count, in the frame's axes, are at most ``thre`` (m, default
        0.001) and ``rthre`` (rad, default one degree), one for all or one a target; solutions are
        exact to 1e-9 where they can be. Joints stay inside their limits and tables of limits.

        Keywords. ``position_mask``, ``rotation_mask``: axes that count; None and True are all,
        False none; or a list with one for each target. ``rotation_mirror``: an axis of the frame
        about which half a turn is as good. ``translation_axis``, ``rotation_axis``: older ones,
        that name the axes which do not count ("zm": mirror z). ``translation_tolerance`` (3), in
        axes of the target, and ``rotation_tolerance`` (3), in axes of the frame: errors within are
        nothing; None and 0 for none. ``revert_if_fail`` (True): where it fails, all stays as it
        was; with False the joints end as near as they come, and the answer is their angle vector.
        ``invariant_joint_list``: joints that stay.
        ``use_base``: "planar" or "6dof", the robot itself may move as well; ``base_weight``, one
        or one for each degree of freedom: how readily (1: like a joint). ``target_centroid_pos``,
        ``cog_translation_axis`` ("z"), ``centroid_thre`` (0.001 m): the centre of mass along these
        axes of the world; ``cog_null_space``: only as far as the targets leave room.
        ``additional_weight_list``: pairs of a link and how readily its joint moves.

        ``additional_jacobi`` and ``additional_vel``, ``additional_check``, ``null_space``,
        ``inverse_kinematics_hook``, ``centroid_offset_func``, weights that are functions, and steps
        that a subclass has changed are obeyed by the documented iteration: at most ``stop`` (50)
        times `inverse_kinematics_loop`, with the keywords that it and `move_joints_avoidance` take.
        Other keywords change nothing, which a warning says.

        Raises: ValueError for both kinds of lists, lists of different lengths, masks that leave
        nothing to do, no joint that could move, and an unknown ``use_base``; AttributeError where
        neither ``move_target`` is given nor the robot has `end_coords`.
        """
        if move_target is None:
            move_target = self.end_coords
        if following := FOLLOWING.get():
            own = listed_or_none(kwargs.get("inverse_kinematics_hook"))
            kwargs["inverse_kinematics_hook"] = [*own, *following]
        problems = self._ik_problems
        if problems is None:
            problems = self._ik_problems = _Problems()
        base = kwargs.get("use_base") or None
        links = tuple(link_list) if isinstance(link_list, list) else link_list
        plain = joint_list is None and all(type(v) in _PLAIN for v in kwargs.values())
        if plain and problems.last[:3] == (move_target, links, kwargs):
            key, known = None, problems.last[3]
        else:
            key = _key(move_target, link_list, joint_list, kwargs)
            known = problems.get(key)
        if known is None or not known.is_current(self, base):
            known = self._problem(target_coords, move_target, link_list, joint_list, kwargs)
            if known is None:
                return self._by_steps(target_coords, move_target, link_list, joint_list, kwargs)
            key = key or _key(move_target, link_list, joint_list, kwargs)
            problems.pop(key, None)
            problems[key] = known
            if len(problems) > _KEPT:
                problems.pop(next(iter(problems)))
        elif isinstance(target_coords, (list, tuple)) and len(target_coords) != len(known.frames):
            _refuse_lengths(target_coords, known.frames)
        if plain:
            problems.last = move_target, links, kwargs, known
        return self._by_solver(known, target_coords, kwargs)

    # ------------------------------------------------------------------------ what is asked

    def _asked_for(
        self, target_coords: Any, move_target: Any, link_list: Any, joint_list: Any, kwargs: Any
    ) -> tuple[list[Any], list[Any], list[list[Any]], list[Wanted]]:
        """Targets, frames, the chains of joints and what is wanted of each frame, checked.

        Raises: ValueError, see `inverse_kinematics`.
        """
        check_lists(link_list, joint_list)
        use_base = base_of(kwargs.get("use_base"))
        if use_base:
            self._base_link()
        targets, frames = listed(target_coords), listed(move_target)
        if len(targets) != len(frames):
            _refuse_lengths(targets, frames)
        for frame in frames:
            if not isinstance(frame, CascadedCoords):
                raise InputError(
                    f"move_target must be a frame that hangs on a link, such as end_coords, not "
                    f"{frame!r:.60}"
                )
        chains = self._chains(frames, link_list, joint_list)
        held = {id(joint) for joint in listed_or_none(kwargs.get("invariant_joint_list"))}
        chains = [[joint for joint in chain if id(joint) not in held] for chain in chains]
        if not any(chains) and not use_base:
            raise InputError(
                "inverse_kinematics has no actuated joints to solve: the joint_list/link_list is "
                "empty or every joint was made invariant."
            )
        return targets, frames, chains, _wanted(len(targets), kwargs)

    def _chains(self, frames: list[Any], link_list: Any, joint_list: Any) -> list[list[Any]]:
        """The joints for each frame.

        Raises: ValueError where there are as many chains as neither one nor the frames.
        """
        if joint_list is not None:
            chains = [
                [joint for joint in chain if joint is not None and joint.joint_dof]
                for chain in nested(joint_list)
            ]
        elif link_list is not None:
            chains = [joints_of(chain) for chain in nested(link_list)]
        else:
            own = {id(link) for link in self.link_list}
            return [
                joints_of([link for link in reversed(carriers(frame)) if id(link) in own])
                for frame in frames
            ]
        if len(chains) == 1:
            chains *= len(frames)
        if len(chains) != len(frames):
            raise InputError(
                f"list length differ: {len(chains)} chains of links or joints for {len(frames)} "
                "move targets"
            )
        return _paired(chains, frames)

    # -------------------------------------------------------------------------- the solver

    def _problem(
        self, target_coords: Any, move_target: Any, link_list: Any, joint_list: Any, kwargs: Any
    ) -> Problem | None:
        """The problem of the core; None where the documented iteration has to solve it.

        Raises: ValueError, see `inverse_kinematics`.
        """
        asked = self._asked_for(target_coords, move_target, link_list, joint_list, kwargs)
        _, frames, chains, wanted = asked
        if _changes_steps(type(self)):
            return None  # which may take keywords of their own
        _warn_of_unknown(kwargs)
        if any(kwargs.get(name) is not None for name in _BY_STEPS):
            return None
        weights: list[tuple[Any, Any]] = list(kwargs.get("additional_weight_list") or ())
        if any(callable(value) for _, value in weights) or kwargs.get("weight") is not None:
            return None
        core = self._core(kwargs.get("use_base") or None)
        try:
            moved = _moving(core, chains, weights, kwargs)
        except UnknownNameError:
            return None  # a joint that is not this model's
        keep = (frames, chains, weights, kwargs)
        problem = Problem(core, keep, (link_list, joint_list), frames, wanted)
        problem.root = core._root if core._root_is_outer else core._members[0].link
        problem.parents = [_link_of(core, frame) for frame in frames]
        problem._tools = [None] * len(frames)
        exact = _BELOW if kwargs.get("cog_null_space") else EXACT
        tasks = _tasks(problem, [core.frame(frame)[0] for frame in frames], exact)
        problem.base = bool(kwargs.get("use_base"))
        if not self._add_centroid(problem, tasks, kwargs):
            return None
        problem.tables = [
            (joint, joint.joint_min_max_table) for joint in moved.joints if joint.joint_dof == 1
        ]
        problem.given_pairs = list(self.interlocking_joint_pairs)
        for first, second in problem.given_pairs:
            coupled = moved.couple(first, second)
            if coupled is not None:
                tasks.append((coupled, coupled))
                problem.pairs.append((first, second, coupled.offset))
        limits = _tables(core, moved)
        problem.coupled = bool(limits)
        problem.joints = moved.places()
        problem.has_own_joints = any(
            type(joint).joint_angle is not Joint.joint_angle for joint in moved.joints
        )
        names = moved.names([task for task, _ in tasks])
        problem.alone = len(tasks) == len(problem.asked) == 1
        problem.settled = (
            not problem.coupled
            and problem.centroid is None
            and all(w.is_exact and min(w.thre, w.rthre) >= 10.0 * EXACT for w in wanted)
        )
        if names:
            rest: dict[str, Any] = {"limits": limits, "joint_weights": moved.weights(names)}
            problem.exact, problem.enough = (
                core.robot.solver(tasks=list(each), joints=names, **rest)
                for each in zip(*tasks, strict=True)
            )
            problem.stretched = core.robot.solver(
                tasks=[task for task, _ in tasks], joints=names, **rest
            )
        return problem

    def _add_centroid(self, problem: Problem, tasks: list[tuple[Any, Any]], kwargs: Any) -> bool:
        """Add the task of the centre of mass where it is asked for; whether the core can say it."""
        if kwargs.get("target_centroid_pos") is None:
            return True
        where = normalize_mask(kwargs.get("cog_translation_axis", "z")) != 0
        level = problem.core.T_world_root()[2, :2]
        upright = not level.any() and bool(where[0] == where[1])
        if not (where.all() or upright):
            return False  # axes of the world that the root is not turned like
        thre = float(kwargs.get("centroid_thre", POSITION_THRESHOLD))
        priority = 1 if kwargs.get("cog_null_space") else 0
        task, enough = (
            ik.CenterOfMass(axes=where.tolist(), tolerance=each, priority=priority, name="com")
            for each in (min(EXACT, 0.1 * thre), thre)
        )
        tasks.append((task, enough))
        problem.centroid = ("com", math.inf if priority else thre)
        return True

    def _by_solver(self, problem: Problem, target_coords: Any, kwargs: Any) -> Any:
        """Solve a problem from where the joints are, and move them there."""
        targets = [_matrix(target) for target in listed(target_coords)]
        revert = kwargs.get("revert_if_fail", True)
        done, before = True, None
        if problem.exact is not None:
            q0 = problem.core.q()
            given = self._targets(problem, targets, kwargs)
            result = _solved(problem.exact, given, q0, _FIRST)
            done = bool(result.success)
            if done and problem.settled:
                self._move_joints_to(problem, result.q)
                return self.angle_vector()
            if not done:
                result = self._less_exact(problem, given, q0, revert)
                done = bool(result.success)
            if not done and revert:
                return self._by_steps_if_said_less(problem, target_coords, kwargs)
            before = self._state((joint for _, joint in problem.joints), problem.base)
            self._move_joints_to(problem, result.q)
            if done and problem.centroid is not None:
                name, thre = problem.centroid
                done = bool(result.errors[name]["position"] <= thre)
        done = done and all(
            wanted.is_reached(frame._world(), target)
            for wanted, frame, target in zip(problem.wanted, problem.frames, targets, strict=True)
        )
        if done:
            if problem.coupled:
                self.apply_joint_limit_table_constraints()
            return self.angle_vector()
        if revert and before is not None:
            self._put_back(before, problem.base)
            return self._by_steps_if_said_less(problem, target_coords, kwargs)
        return False if revert else self.angle_vector()

    def _by_steps_if_said_less(self, problem: Problem, target_coords: Any, kwargs: Any) -> Any:
        """The answer by steps where the core's tasks say less than is asked; else False.

        Those are tolerances in axes of the target beside masks in axes of a frame that may turn:
        the same without tolerances is enough; then the documented iteration.
        """
        if all(wanted.is_exact for wanted in problem.wanted):
            return False
        link_list, joint_list = problem.lists
        stricter = {name: v for name, v in kwargs.items() if name != "translation_tolerance"}
        found = self.inverse_kinematics(
            target_coords, problem.frames, link_list, joint_list, **stricter
        )
        if found is not False:
            return found
        return self._by_steps(target_coords, problem.frames, link_list, joint_list, kwargs)

    def _less_exact(self, problem: Problem, given: Any, q0: Floats, revert: bool) -> Any:
        """A solution to the thresholds, as much nearer as it can be had; or the nearest miss."""
        options = ik.Options(nearest_miss=not revert)
        found = _solved(problem.enough, given, q0, options)
        if found.success:
            nearer = _solved(problem.stretched, given, found.q, _NEAR)
            if nearer.success:
                return nearer
        return found

    def _targets(self, problem: Problem, targets: list[Floats], kwargs: Any) -> Any:
        """The targets of the core's tasks, in the world of its robot."""
        T_root_world = problem.T_root_world()
        found = [
            _numbers(T_root_world.dot(targets[k]), problem.tool(k)[1])
            if held
            else T_root_world.dot(targets[k]).dot(problem.tool(k)[2])
            for _, k, held in problem.asked
        ]
        if problem.alone:
            return found[0]
        given = {name: array for (name, _, _), array in zip(problem.asked, found, strict=True)}
        if problem.centroid is not None:
            point = np.asarray(kwargs["target_centroid_pos"], dtype=float)
            given["com"] = T_root_world[:3, :3] @ point + T_root_world[:3, 3]
        return given

    def _state(self, joints: Iterable[Any], base: Any) -> Any:
        """The state to put back: positions of joints, and the robot's pose where its base moves."""
        return [(joint, joint.joint_angle()) for joint in joints], base and self._stand()

    def _put_back(self, before: Any, base: Any) -> None:
        positions, stand = before
        if base:
            self._stand(stand)
        for joint, position in positions:
            joint.joint_angle(position)

    def _stand(self, M: Floats | None = None) -> Floats:
        """The pose (4, 4) of the robot in the world, set where one is given."""
        frame: Any = self
        if M is not None:
            frame.newcoords(Coordinates(M[:3, 3], M[:3, :3]), relative_coords="world")
        return frame._world().copy()

    def _move_joints_to(self, problem: Problem, q: Floats) -> None:
        """Move the joints, and the robot where its base may move, to a configuration (nq,)."""
        if problem.base:
            problem.core.set_q(q)
            return
        if problem.coupled or problem.has_own_joints:
            for _ in range(3 if problem.coupled else 1):  # bounds depend on where others are
                for k, joint in problem.joints:
                    n = joint.joint_dof
                    joint.joint_angle(float(q[k]) if n == 1 else q[k : k + n])
            return
        values = q.tolist()
        for k, joint in problem.joints:  # inside their limits, as the core knows them
            n = joint.joint_dof
            joint._set(values[k] if n == 1 else q[k : k + n].copy())
            if joint._hooks:
                joint._call_hooks()

    # --------------------------------------------------------------------------- the iteration

    def _by_steps(
        self, target_coords: Any, move_target: Any, link_list: Any, joint_list: Any, kwargs: Any
    ) -> Any:
        """The documented iteration, from where the joints are.

        Raises: ValueError, see `inverse_kinematics`.
        """
        targets, frames, chains, wanted = self._asked_for(
            target_coords, move_target, link_list, joint_list, kwargs
        )
        more, speeds = (listed_or_none(kwargs.get(f"additional_{x}")) for x in ("jacobi", "vel"))
        if len(more) != len(speeds):
            raise InputError(
                f"list length differ: additional_jacobi {len(more)}, additional_vel {len(speeds)}"
            )
        matrices = [_matrix(target) for target in targets]
        options = {name: value for name, value in kwargs.items() if name not in _OF_CALL}
        options.setdefault("periodic_time", 0.5)
        check = kwargs.get("additional_check")
        use_base = base_of(kwargs.get("use_base"))
        moved = {id(joint): joint for chain in chains for joint in chain}.values()
        before = self._state(moved, use_base)
        links = [[joint.child_link for joint in chain] for chain in chains]
        self.reset_joint_angle_limit_weight(self._union(links))
        stop = int(kwargs.get("stop", 50))
        with self._base_joint(use_base) as base:
            if base is not None:
                links = [[base, *chain] for chain in links]
                weights = [(base, base_weight(use_base, kwargs.get("base_weight")))]
                options["additional_weight_list"] = [
                    *(kwargs.get("additional_weight_list") or ()), *weights
                ]  # fmt: skip
            for loop in range(stop):
                pairs = zip(wanted, frames, matrices, strict=True)
                ways, turns = zip(*(w.errors(f._world(), T) for w, f, T in pairs), strict=True)
                said = self.inverse_kinematics_loop(
                    list(ways),
                    list(turns),
                    frames,
                    links,
                    targets,
                    stop=stop,
                    loop=loop,
                    position_mask=[w.where for w in wanted],
                    rotation_mask=[w.turns for w in wanted],
                    rotation_mirror=[w.mirror for w in wanted],
                    thre=[w.thre for w in wanted],
                    rthre=[w.rthre for w in wanted],
                    **options,
                )
                if said == "ik-succeed":
                    break
            done = all(
                w.is_reached(f._world(), T)
                for w, f, T in zip(wanted, frames, matrices, strict=True)
            )
            done = done and (check is None or bool(check()))
            done = done and self._has_centroid(kwargs)
        if done:
            if any(joint.joint_min_max_table is not None for joint in moved):
                return self.apply_joint_limit_table_constraints()
            return self.angle_vector()
        if kwargs.get("revert_if_fail", True):
            self._put_back(before, use_base)
            return False
        return self.angle_vector()

    def _has_centroid(self, kwargs: Any) -> bool:
        """Whether the centre of mass is where it was asked to be."""
        target = kwargs.get("target_centroid_pos")
        if target is None or kwargs.get("cog_null_space"):
            return True
        left = self.calc_vel_for_cog(
            target,
            translation_axis=kwargs.get("cog_translation_axis", "z"),
            centroid_offset_func=kwargs.get("centroid_offset_func"),
        )
        return bool(np.linalg.norm(left) <= kwargs.get("centroid_thre", POSITION_THRESHOLD))

    def _base_link(self) -> Any:
        """The link that moves where the robot itself does.

        Raises: NoBaseError (a ValueError and a RuntimeError) for a part of a robot.
        """
        found = self.root_link
        if found is None:
            found = next((link for link in self.link_list if link.parent is None), None)
        if found is None:
            raise NoBaseError(
                "use_base moves a whole robot, and this one has no root_link: it is a part of "
                "another; ask the whole one, with link_list or joint_list of the part"
            )
        return found

    @contextmanager
    def _base_joint(self, use_base: str | None) -> Generator[Any]:
        """The root link with a joint that moves it, for as long as the block lasts; None: without.

        Where the root is then becomes where the robot stands.
        """
        if use_base is None:
            yield None
            return
        root = self._base_link()
        T_robot_root = inverse_matrix(self._stand()) @ root._world()
        local = root._local().copy()
        root.joint = _BASES[use_base](name="base", child_link=root)
        try:
            yield root
        finally:
            T_world_root = root._world().copy()
            root.delete_joint()
            root._set_local(local)
            self._stand(T_world_root @ inverse_matrix(T_robot_root))

    # ------------------------------------------------------------------------------ in short

    def inverse_kinematics_loop_for_look_at(
        self,
        move_target: Any,
        look_at: Any,
        link_list: Any,
        rotation_mask: Any = "xy",
        position_mask: Any = False,
        rthre: float = 0.001,
        **kwargs: Any,
    ) -> Any:
        """Turn a frame so that its z axis points at a point: the angle vector, or False.

        ``look_at`` is a point (3,) of the world, m, or a frame there. The frame's z is brought
        along the way from the frame to the point; as that moves the frame, it is done again until
        the point is met. The other arguments are those of `inverse_kinematics`.
        """
        point = np.array(
            look_at._world()[:3, 3] if isinstance(look_at, Coordinates) else look_at, dtype=float
        )
        if point.shape != (3,):
            raise InputError(f"look_at must be a point (3,) or a frame, not of shape {point.shape}")
        found, last = False, math.inf
        for _ in range(_LOOKS):
            frame = move_target._world()
            way = point - frame[:3, 3]
            off = math.atan2(
                float(np.linalg.norm(np.cross(frame[:3, 2], way))), float(frame[:3, 2] @ way)
            )
            if found is not False and (off < EXACT or off >= last):
                break
            last = math.inf if found is False else off
            target = Coordinates(point, frame[:3, :3])
            target.align_axis_to_direction(way, "z")
            answer = self.inverse_kinematics(
                target,
                move_target=move_target,
                link_list=link_list,
                rotation_mask=rotation_mask,
                position_mask=position_mask,
                rthre=rthre,
                **kwargs,
            )
            if answer is False:
                break
            found = answer
        return found

    def look_at(self, coords: Any, target: Any = None, link_list: Any = None) -> Any:
        """Turn the head (or ``target``, by ``link_list``) towards a frame or point; see above.

        Raises: AttributeError for a robot without `head_end_coords` and `head`.
        """
        if target is None:
            target = self.head_end_coords
        if link_list is None:
            link_list = self.head.link_list
        return self.inverse_kinematics_loop_for_look_at(target, coords, link_list)

    def look_at_hand(self, coords: Any) -> None:
        """Look at the hand of "rarm" or "larm", or at a frame or point."""
        if isinstance(coords, str):
            if coords not in ("rarm", "larm"):
                raise InputError(f"look_at_hand takes 'rarm', 'larm' or a frame, not {coords!r}")
            coords = getattr(self, coords).end_coords
        self.look_at(coords)

    def move_end_pos(self, pos: Any, wrt: Any = "local", *args: Any, **kwargs: Any) -> Any:
        """Move `end_coords` by ``pos`` (3,), m, by `inverse_kinematics`, which it answers as."""
        target = self.end_coords.copy_worldcoords().translate(pos, wrt)
        return self.inverse_kinematics(target, self.end_coords, *args, **kwargs)

    def move_end_rot(
        self, angle: float, axis: Any, wrt: Any = "local", *args: Any, **kwargs: Any
    ) -> Any:
        """Turn `end_coords` by ``angle`` (rad) by `inverse_kinematics`, which it answers as."""
        target = self.end_coords.copy_worldcoords().rotate(angle, axis, wrt)
        return self.inverse_kinematics(target, self.end_coords, *args, **kwargs)


_LOOKS = 30
"""Times that a frame is turned to a point, at most."""
_OF_CALL = frozenset(
    (
        "stop", "revert_if_fail", "position_mask", "rotation_mask", "rotation_mirror", "thre",
        "rthre", "translation_axis", "rotation_axis", "translation_tolerance", "rotation_tolerance",
        "use_base", "base_weight", "invariant_joint_list", "check_collision", "target_coords",
        "union_link_list",
    )
)  # fmt: skip
"""Arguments that the iteration's steps are not given, or are given otherwise."""


# ---- what is asked for


def _key(move_target: Any, link_list: Any, joint_list: Any, kwargs: Any) -> Any:
    """The key of a problem: all of it but the numbers of a call."""
    key: Any = (_ids(move_target), _ids(link_list), _ids(joint_list))
    if not kwargs:
        return key
    return (*key, *((k, v is None if k in _NUMBERS else _ids(v)) for k, v in kwargs.items()))


def _ids(value: Any) -> Any:
    """A value as a key: plain ones as they are, lists and arrays by their content, others by id."""
    kind = type(value)
    if value is None or kind in (str, bool, int, float):
        return kind, value
    if kind in (list, tuple):
        return tuple(map(_ids, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.shape, value.tobytes()
    return id(value)


def _matrix(target: Any) -> Floats:
    """The pose (4, 4) in the world of a frame, or of a matrix as it is.

    Raises: InputError for anything else.
    """
    if isinstance(target, Coordinates):
        return target._world().copy()  # it may move with the robot
    array = np.asarray(target, dtype=float) if isinstance(target, (np.ndarray, list)) else None
    if array is None or array.shape != (4, 4):
        raise InputError(f"target_coords must be Coordinates or a pose (4, 4), not {target!r:.60}")
    return array


def _numbers(T: Floats, tool: Floats) -> Floats:
    """A target (4, 4) and the numbers of a tool (12,) as the core's code takes them (24,)."""
    found = np.empty(24)
    found[:12], found[12:] = T.take(_IN_ORDER), tool
    return found


_IN_ORDER = np.array([3, 7, 11, 0, 1, 2, 4, 5, 6, 8, 9, 10])
"""The numbers of a pose (4, 4) as tasks have them: the position, then the rotation by rows."""


def _refuse_lengths(targets: Sequence[Any], frames: Sequence[Any]) -> None:
    raise InputError(
        f"list length differ: {len(targets)} target_coords for {len(frames)} move targets; give "
        "one for each"
    )


def _wanted(count: int, kwargs: Any) -> list[Wanted]:
    """The demand on each of ``count`` frames.

    Raises: ValueError for masks, mirrors, tolerances and thresholds.
    """
    found = all_wanted(
        count,
        asked_axes(
            count,
            kwargs.get("position_mask"),
            kwargs.get("rotation_mask"),
            kwargs.get("rotation_mirror"),
            kwargs,
        ),
        kwargs.get("translation_tolerance"),
        kwargs.get("rotation_tolerance"),
    )
    alone = kwargs.get("target_centroid_pos") is None
    if alone and not any(each.is_something for each in found):
        raise InputError(
            "position_mask and rotation_mask leave no axis of any target, so nothing is asked for"
        )
    thresholds = (
        _thresholds(kwargs.get(name), usual, count, name)
        for name, usual in (("thre", POSITION_THRESHOLD), ("rthre", ROTATION_THRESHOLD))
    )
    each = zip(found, *thresholds, strict=True)
    return [wanted._replace(thre=thre, rthre=rthre) for wanted, thre, rthre in each]


def _thresholds(given: Any, usual: float, count: int, what: str) -> list[float]:
    """A threshold for each target.

    Raises: InputError where their number differs, or one is not above 0.
    """
    found = [usual] * count if given is None else listed_numbers(given, count, what)
    if len(found) != count:
        raise InputError(f"{what} has {len(found)} thresholds for {count} targets")
    if not all(each > 0.0 for each in found):
        raise InputError(f"{what} must be above 0, not {given!r}")
    return found


def _paired(chains: list[list[Any]], frames: list[Any]) -> list[list[Any]]:
    """Chains in the order of the frames that they carry, where they were given in another."""
    carrying = [{id(each) for each in carriers(frame)} for frame in frames]

    def carries(chain: list[Any], k: int) -> bool:
        return any(id(joint.child_link) in carrying[k] for joint in chain)

    if all(carries(chain, k) for k, chain in enumerate(chains)):
        return chains
    left, found = list(chains), list[list[Any]]()
    for k in range(len(frames)):
        own = next((chain for chain in left if carries(chain, k)), None)
        if own is None:
            return chains
        left.remove(own)
        found.append(own)
    return found


@cache
def _keywords() -> frozenset[str]:
    """The keywords that `inverse_kinematics` takes, for itself and for the iteration's steps."""
    steps = [inspect.signature(getattr(StepsIK, name)).parameters for name in _STEPS]
    return frozenset((*_OF_CALL, *_BY_STEPS)).union(*steps) - {"self", "args", "kwargs"}


def _warn_of_unknown(kwargs: Iterable[str]) -> None:
    """Warn of keywords that change nothing, as there, where all are taken."""
    for name in kwargs:
        if name not in _keywords():
            error = UnknownNameError("keyword of inverse_kinematics", name, sorted(_keywords()))
            warnings.warn(f"{error}; it changes nothing", stacklevel=4)


@cache
def _changes_steps(cls: type) -> bool:
    """Whether a class has steps of its own."""
    return any(getattr(cls, name) is not getattr(StepsIK, name) for name in _STEPS)


# ---- tasks and joints of the core


def _tasks(problem: Problem, links: list[str], exact: float) -> list[tuple[Any, Any]]:
    """The tasks of each frame twice: to be done to ``exact``, and to the thresholds."""
    found: list[tuple[Any, Any]] = []
    for k, (wanted, link) in enumerate(zip(problem.wanted, links, strict=True)):
        held = not wanted.is_whole
        for name, fields in zip(("pose", "rotation"), wanted.fields("tool", EXACT), strict=False):
            limits = [
                limit
                for limit, part in ((wanted.thre, "position"), (wanted.rthre, "rotation"))
                if fields[part]
            ]
            named = f"{name}{k}"
            near = [min(exact, 0.1 * limit) for limit in limits]
            nearer, enough = (
                ik.Pose(link, tolerance=each, name=named, held=held, **fields)
                for each in (near, limits)
            )
            found.append((nearer, enough))
            problem.asked.append((named, k, held))
    return found


def _link_of(core: CoreModel, frame: Any) -> Any:
    """The link of the core that a frame hangs on directly; None where it is one, or none."""
    link = frame.parent
    try:
        own = isinstance(link, Link) and core.link_name(link) == core.frame(frame)[0]
    except UnknownNameError:
        own = False  # a link of another model on the way
    return link if own else None


class _Moved:
    """The joints of the core that move, and how readily."""

    def __init__(self, core: CoreModel, chains: list[list[Any]]) -> None:
        self.core = core
        self._joints: dict[int, Any] = {}  # by the first number of v
        self._weights: dict[str, Any] = {}
        self._base: list[str] = []
        for chain in chains:
            for joint in chain:
                self._joints[core.columns(joint).start] = leader_of(joint)

    def _names(self, joint: Any) -> list[str]:
        """The core's names of a joint's degrees of freedom."""
        m, columns = self.core.robot.mechanism, self.core.columns(joint)
        return [m.joint_names[m.coordinate_of_v(k)] for k in range(columns.start, columns.stop)]

    def hold(self, joint: Any) -> None:
        """Let a joint stay."""
        self._joints.pop(self.core.columns(joint).start, None)

    def weigh(self, joint: Any, value: Any) -> None:
        """Say how readily a joint moves: a number, or one for each degree of freedom."""
        names = self._names(joint)
        values = np.broadcast_to(np.asarray(value, dtype=float), (len(names),)).tolist()
        for name, each in zip(names, values, strict=True):
            self._weights[name] = self._weights.get(name, 1.0) * each

    def add_base(self, use_base: str, weight: Any) -> None:
        """Let the base move as readily as ``weight`` says."""
        c = self.core.robot.mechanism.coordinate_of_v(self.core.columns(None).start)
        self._base = [self.core.robot.mechanism.joint_names[c]]
        self._weights[self._base[0]] = base_weight(use_base, weight)

    def couple(self, first: Any, second: Any) -> Any:
        """The task that keeps two joints as far apart as they are; one that moves alone is held."""
        try:
            columns = [self.core.columns(joint).start for joint in (first, second)]
        except UnknownNameError:
            return None
        inside = [column in self._joints for column in columns]
        if not any(inside):
            return None
        if not all(inside):
            self.hold(first if inside[0] else second)
            return None
        one, two = (self._names(joint)[0] for joint in (first, second))
        offset = round(first.joint_angle() - second.joint_angle(), 12)
        return ik.JointCoupling(
            one, two, offset=offset, tolerance=EXACT, name=f"{one} and {two} as one"
        )

    def places(self) -> list[tuple[int, Any]]:
        """The joints, and where each begins in q."""
        return [(self.core.positions(j).start, j) for _, j in sorted(self._joints.items())]

    @property
    def joints(self) -> list[Any]:
        """The joints that move."""
        return list(self._joints.values())

    def names(self, tasks: Sequence[Any]) -> list[str]:
        """The core's names of what moves and matters to one of the tasks."""
        m = self.core.robot.mechanism
        matters = {m.joint_names[c] for task in tasks for c in task.bind(m).coordinates}
        found = [*self._base, *(name for joint in self.joints for name in self._names(joint))]
        return [name for name in found if name in matters and self._weights.get(name) != 0.0]

    def weights(self, names: Sequence[str]) -> dict[str, Any] | None:
        """The weights of these joints; None where all are moved as readily."""
        return {name: self._weights[name] for name in names if name in self._weights} or None


def _moving(
    core: CoreModel, chains: list[list[Any]], weights: list[tuple[Any, Any]], kwargs: Any
) -> _Moved:
    """The columns that move, and their weights.

    Raises: UnknownNameError for a joint that is not the model's; ValueError for weights.
    """
    moved = _Moved(core, chains)
    for joint in listed_or_none(kwargs.get("invariant_joint_list")):
        moved.hold(joint)
    for of, value in weights:
        moved.weigh(getattr(of, "joint", of), value)
    use_base = kwargs.get("use_base")
    if use_base:
        moved.add_base(use_base, kwargs.get("base_weight"))
    return moved


def _tables(core: CoreModel, moved: _Moved) -> list[ik.CoupledLimit]:
    """The limits of joints that depend on where others are."""
    found: list[ik.CoupledLimit] = []
    for joint in moved.joints:
        table, other = joint.joint_min_max_table, joint.joint_min_max_target
        if table is None or other is None or joint.joint_dof != 1 or other._leader is not None:
            continue
        m = core.robot.mechanism
        try:
            one, two = (
                m.joint_names[m.coordinate_of_v(core.columns(each).start)]
                for each in (joint, other)
            )
        except UnknownNameError:
            continue
        rows = np.column_stack([table.sample_angles, table.min_angles, table.max_angles])
        found.append(ik.CoupledLimit(one, two, rows))
    return found


def _solved(solver: Any, given: Any, q0: Floats, options: ik.Options) -> Any:
    """A solver's result; joints that rest outside their limits are taken to be at them."""
    try:
        return solver.solve(given, q0, options=options)
    except LinkworkError:
        m = solver.mechanism
        return solver.solve(given, np.clip(q0, m.lower, m.upper), options=options)
