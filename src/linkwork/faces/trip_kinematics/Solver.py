"""Inverse kinematics: states that bring an end effector to a target.

All three solvers of the original are here one, that of the core: compiled, restarted from other
states where a search ends short of the target, and verified.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import ik
from linkwork.checks import real_array
from linkwork.errors import InputError, LinkworkError, ShapeError, UnsupportedFeatureError
from linkwork.faces.trip_kinematics.core import Core, Sphere
from linkwork.faces.trip_kinematics.mappings import merged
from linkwork.faces.trip_kinematics.Robot import Robot
from linkwork.faces.trip_kinematics.Transformation import QUATERNION, TRANSLATION, zeros
from linkwork.faces.trip_kinematics.values import (
    NoSolution,
    TipError,
    UnknownKeyError,
    Values,
    WrongTypeError,
    listed,
    mapping_of,
    number,
)
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.result import IKResult

__all__ = ["CCDSolver", "NewtonSolver", "NoSolution", "Robot", "SimpleInvKinSolver"]

Floats = NDArray[np.float64]

_EXACT: Mapping[str, Any] = {"position_tolerance": 1.0e-10, "rotation_tolerance": 1.0e-10}
_STARTS = 200
"""Searches for other virtual states where a mapping takes none of those found so far."""
_NEAR = "near"
_FAR = 1.0e6


class SimpleInvKinSolver:
    """Finds states of a robot that bring an end effector to targets.

    ``orientation``: to a whole pose and not to a position. ``update_robot``: `solve_actuated`
    leaves the state that it finds on the robot itself, otherwise on a copy. A target out of reach
    gives the nearest state, and ``last_result.success`` is False; with ``strict`` it raises.
    Where mappings of groups on the way are derived, their loops are closed in all that is found:
    every virtual state has an actuated one.

    Raises: UnknownKeyError (a KeyError) for the end effector; UnsupportedFeatureError where a part
    of a quaternion is free to move and another part is not.
    """

    def __init__(
        self,
        robot: Robot,
        endeffector: str,
        orientation: bool = False,
        update_robot: bool = False,
        *,
        strict: bool = False,
    ) -> None:
        if not isinstance(robot, Robot):
            raise WrongTypeError(f"a solver takes a Robot, not {type(robot).__name__}")
        self._frame = robot.core.frame(endeffector)
        self._core: Core = robot.closed_core(self._frame)
        self._slots = self._core.on_the_way(self._frame)
        self.robot = robot if update_robot else copy.deepcopy(robot)
        self.endeffector, self.orientation = endeffector, bool(orientation)
        self.strict = bool(strict)
        self.last_result: IKResult | None = None
        members = {slot.member for slot in self._slots}
        spheres = [sphere for sphere in self._core.spheres if sphere.member in members]
        self._held = [task for sphere in spheres for task in _held(sphere, self._core)]
        main = ik.Pose(self._frame) if self.orientation else ik.Position(self._frame)
        tasks = [main, *self._held]
        self._solver = self._core.robot.solver(tasks=tasks) if self._slots else None
        self._name = self._solver.problem.tasks[0].name if self._solver else ""
        self._near: InverseKinematics | None = None

    def solve_virtual(
        self, target: ArrayLike, initial_tip: Mapping[str, Mapping[str, float]] | None = None
    ) -> dict[str, Values]:
        """The virtual state of the joints up to the end effector that brings it to the target.

        ``target``: a position (3,) or a pose (4, 4), whose rotation counts with ``orientation``.
        The search begins at ``initial_tip``, a virtual state, by default at zero. Loops of derived
        mappings are closed at the tip first, from the actuated state of `robot`, so that the answer
        is on the tip's branch of assembly.

        Raises: ShapeError, InputError; TipError (a RuntimeError) and UnknownKeyError for the tip;
        NoSolution with ``strict``.
        """
        q = self._solved(self._target(target), self._start(initial_tip))
        return self._state(q)

    def solve_actuated(
        self,
        target: ArrayLike,
        initial_tip: Mapping[str, Mapping[str, float]] | None = None,
        mapping_argument: Mapping[str, Any] | None = None,
    ) -> Values:
        """The actuated state that brings the end effector to the target.

        The virtual state of `solve_virtual`, taken through the mappings. Where a mapping refuses it
        or gives what is not finite, other virtual states of the target are tried, the nearest to
        the tip first. ``mapping_argument``: arguments for virtual_to_actuated by group.

        Raises: as `solve_virtual`; NoSolution (a RuntimeError) where the mappings take none of the
        states, and then the robot stays as it was.
        """
        goal, start = self._target(target), self._start(initial_tip)
        names = mapping_of({} if mapping_argument is None else mapping_argument, "mapping_argument")
        groups = self.robot.get_groups() if names else {}
        before = {name: groups[name].mappings[1].passed for name in names if name in groups}
        self.robot.pass_group_arg_v_to_a(names)
        try:
            first = self._solved(goal, start)
            error: Exception | None = None
            for q in self._candidates(first, goal, start):
                try:
                    self.robot.take_from(self._state(q), self._core.actuated_states(q))
                except (ArithmeticError, ValueError, RuntimeError, LinkworkError) as caught:
                    error = error or caught
                    continue
                return self.robot.get_actuated_state()
        except BaseException:
            self.robot.pass_group_arg_v_to_a(before)
            raise
        self.robot.pass_group_arg_v_to_a(before)
        raise NoSolution(
            f"no virtual state that brings '{self.endeffector}' to the target has an actuated one; "
            f"of the nearest: {error}"
        ) from error

    # how

    def _candidates(self, first: Floats, goal: Floats, start: Floats) -> Iterator[Floats]:
        yield first
        if self._solver is not None and self.last_result is not None and self.last_result.success:
            yield from self._solver.all_solutions(
                {self._name: goal}, start, starts=_STARTS, **_EXACT
            ).q

    def _solved(self, goal: Floats, start: Floats) -> Floats:
        """q at the target, or nearest to it."""
        if self._solver is None:
            raise InputError(f"nothing moves between the ground and '{self.endeffector}'")
        result = self._solver.solve({self._name: goal}, start, **_EXACT)
        self.last_result = result
        if bool(result.success):
            return result.q
        if self.strict:
            raise NoSolution(f"'{self.endeffector}' does not reach the target: {result.reason}")
        return self._nearest(goal, result.q)

    def _nearest(self, goal: Floats, q: Floats) -> Floats:
        """The state nearest to a target out of reach: the core's, with its loops closed."""
        if self.orientation or not self._core.robot.loops:
            return q
        if self._near is None:
            anywhere = ik.Position(self._frame, np.zeros(3), name="anywhere", slack=(_FAR,) * 3)
            near = ik.Position(self._frame, name=_NEAR, priority=1)
            self._near = self._core.robot.solver(tasks=[anywhere, near, *self._held])
        for start in (q, self._core.rest):
            result = self._near.solve({_NEAR: goal}, start)
            if bool(result.success):
                return result.q
        raise NoSolution(f"no state of '{self.endeffector}' is found that is assembled")

    def _target(self, target: Any) -> Floats:
        """The target as the core's task takes it."""
        given = real_array(target, "target")
        if given.shape == (4, 4):
            return given if self.orientation else given[:3, 3]
        if self.orientation:
            raise ShapeError(f"with orientation the target is a pose (4, 4), not {given.shape}")
        if given.size != 3:
            raise ShapeError(f"a target is a position (3,) or a pose (4, 4), not {given.shape}")
        return given.reshape(3)

    def _start(self, tip: Any) -> Floats:
        """The joint values that the search begins at."""
        members = self.robot.members
        values = {name: member.values for name, member in members.items()}
        keys = {slot.member: members[slot.member].states for slot in self._slots}
        given = self._tip(tip, keys)
        for name, own in keys.items():
            values[name].update(given.get(name, zeros(own)))
        q = self._core.configuration(values)
        if not isinstance(q, np.ndarray):
            raise InputError("a value of the robot is a symbol: a search takes numbers")
        if tip is None or not self._core.actuated:
            return q
        groups = self.robot.get_groups()
        actuated = {name: groups[name].get_actuated_state() or {} for name in self._core.actuated}
        return self._core.closed(q, members, actuated)

    def _tip(self, tip: Any, keys: Mapping[str, Sequence[str]]) -> dict[str, Values]:
        if tip is None:
            return {}
        given = {
            name: mapping_of(own, f"the initial tip of '{name}'")
            for name, own in mapping_of(tip, "the initial tip").items()
        }
        wanted = sum(len(own) for own in keys.values())
        there = {name: own for name, own in given.items() if name in keys}
        others = [name for name in given if name not in self.robot.get_virtual_state()]
        count = sum(len(own) for own in (there if not others else given).values())
        if count != wanted:
            text = f"the initial tip has {count} values, the chain to '{self.endeffector}' {wanted}"
            raise TipError(f"{text}: it needs those of {listed(keys)}")
        found: dict[str, Values] = {}
        for name, own in keys.items():
            if name not in given:
                raise UnknownKeyError("joint in the initial tip", name, list(given))
            found[name] = merged(zeros(own), given[name], f"key of the initial tip of '{name}'")
        return found

    def _state(self, q: Floats) -> dict[str, Values]:
        """The values of the joints up to the end effector."""
        found: dict[str, Values] = {}
        for slot in self._slots:
            found.setdefault(slot.member, {})[slot.key] = float(q[slot.place])
        return found


class _WithOptions(SimpleInvKinSolver):
    """A solver of the original that took options; they are checked and bound the search."""

    defaults: ClassVar[Mapping[str, float]] = {}

    def __init__(
        self,
        robot: Robot,
        endeffector: str,
        orientation: bool = False,
        update_robot: bool = False,
        options: Mapping[str, float] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        given = mapping_of({} if options is None else options, "options")
        for key in given:
            if key not in self.defaults:
                raise UnknownKeyError("option", key, list(self.defaults))
            if not number(given[key], f"option '{key}'") > 0:
                raise InputError(f"option '{key}' must be above 0, not {given[key]}")
        self.options = {**self.defaults, **given}
        super().__init__(robot, endeffector, orientation, update_robot, strict=strict)


class CCDSolver(_WithOptions):
    """The core's solver under the name of cyclic coordinate descent.

    ``options``: "stepsize", "max_iterations", "precision". They were those of the original's search
    and are kept for programs that give them; answers are exact to 1e-10 whatever they say.
    """

    defaults: ClassVar[Mapping[str, float]] = {
        "stepsize": 0.2,
        "max_iterations": 100000,
        "precision": 1.0e-6,
    }


class NewtonSolver(_WithOptions):
    """The core's solver under the name of Newton's method; ``options`` as for `CCDSolver`."""

    defaults: ClassVar[Mapping[str, float]] = {
        "stepsize": 0.05,
        "max_iterations": 1000,
        "precision": 0.01,
    }


def _held(sphere: Sphere, core: Core) -> list[ik.Task]:
    """The constraints that keep the values of a floating joint that are no state."""
    parts = [key for key in sphere.constant if key in QUATERNION]
    if parts:
        raise UnsupportedFeatureError(
            f"inverse kinematics needs all of a quaternion or nothing of it to move; of "
            f"'{sphere.member}' {listed(parts)} are constant"
        )
    axes = "".join(key[1] for key in TRANSLATION if key in sphere.constant)
    if not axes:
        return []
    place = np.eye(4)
    place[:3, 3] = core.rest[sphere.start : sphere.start + 3]
    return [
        ik.RelativePose(
            sphere.member,
            sphere.parent,
            place,
            position=axes,
            rotation="",
            name=f"{sphere.member} held",
        )
    ]
