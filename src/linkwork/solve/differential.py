"""Differential inverse kinematics: one step for a control loop, inside all limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.process_bound import ProcessBound
from linkwork.errors import InputError, LinkworkError
from linkwork.mechanism.model import Mechanism
from linkwork.solve.control_step import (
    CLOSED,
    Output,
    as_taken,
    closing_tasks,
    inputs_of,
    step_recipe,
)
from linkwork.solve.inputs import Targets, configuration, rows_of, settings_of
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.base import Limit
from linkwork.solve.limits.values import time_step
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.objectives import Objective
from linkwork.solve.options import Options
from linkwork.solve.problem import Problem, listed, make_problem
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.pose import Pose

Floats = NDArray[np.float64]

_SHORTER = 5
"""How often a step that cannot be closed is made four times shorter."""


class Controller(ProcessBound):
    """Differential inverse kinematics: from a configuration to the next one, ``dt`` later.

    A step removes the share ``gain`` of the tasks' errors, or as much of that as the limits leave:
    then all of the step of a priority is made shorter, after joints at their bounds have been made
    up for by the others (only where next to nothing would be left is it bent). Lower priorities and
    ``objectives`` do what they can in the null space. Positions and velocities stay within
    their limits exactly, from the first step on: a joint outside its position limits is put inside
    at once. Without a `VelocityLimit` among ``limits`` the description's velocity limits hold, but
    those of floating joints.

    Loops come before every task and limit: each step ends with all of them closed within 1e-9 (m,
    rad), corrected on the manifold inside the limits. Where a step cannot be closed it is made
    shorter, and in the end stays at q, which is to be assembled.

    ``damping``, times the length of the error in radians, damps steps next to singularities and
    of mechanisms with too few joints; 1 lets targets out of reach be approached without shaking.
    It holds no state between calls, and may be used by threads at once.

    Source: saturation in the null space, Flacco, De Luca and Khatib, IEEE T-RO 31 (2015).
    Raises: UnknownNameError, InputError (see `make_problem`); InputError for dt, gain and damping;
    UnsupportedFeatureError for a `VelocityLimit` that names a floating joint.
    """

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        mechanism: Mechanism,
        tasks: str | Task | Sequence[Task],
        *,
        dt: float,
        limits: Limit | Iterable[Limit] = (),
        objectives: Objective | Iterable[Objective] = (),
        joints: str | Sequence[str] | None = None,
        joint_weights: Mapping[str, float] | None = None,
        gain: float = 1.0,
        damping: float = 1.0,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism, self.dt = mechanism, time_step(dt, "dt")
        if not (math.isfinite(gain) and 0.0 < gain <= 1.0):
            raise InputError(f"gain must be above 0 and at most 1, not {gain!r}")
        if not (math.isfinite(damping) and damping >= 0.0):
            raise InputError(f"damping must be a finite number from 0, not {damping!r}")
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            limits=_with_velocity(limits, self.dt),
            objectives=objectives,
            joint_weights=joint_weights,
        )
        self._closes = bool(closing_tasks(self.problem))
        self._inputs = inputs_of(self.problem)
        self._place = {each.name: k for k, each in enumerate(self._inputs)}
        extra = np.array([self.dt, gain, damping])
        self._settings = np.concatenate([settings_of(self.problem, Options()), extra])
        self._own: list[Floats | None] = [as_taken(each, each.own) for each in self._inputs]
        takes = {task.name for task in self.problem.tasks if task.n_target}
        self._order = [name for name in self.problem.order if name in takes]
        self._accelerations = [each for each in self.problem.limits if each.n_numbers]
        self._compiler = compiler or Compiler()
        self._calls: dict[Output, Callable[..., Floats]] = {}
        self._kernels: dict[Output, Kernel] = {}
        self._call("q")

    def step(self, q: ArrayLike, targets: Targets = None, *, v: ArrayLike | None = None) -> Floats:
        """The configuration (..., nq) after one step from q (..., nq), its loops closed.

        ``targets``: as `InverseKinematics.solve` takes them. ``v`` (..., nv) is the velocity of
        the last step, for an `AccelerationLimit`. Joints that are not moved keep their positions.

        Raises: ShapeError, InputError for what is not finite, of the wrong shape or no rigid pose,
        and for a q whose loops are so far open that one step does not close them; UnknownNameError
        for a name that is none of the tasks'.
        """
        return self._run("q", q, targets, v)

    def velocity(
        self, q: ArrayLike, targets: Targets = None, *, v: ArrayLike | None = None
    ) -> Floats:
        """The velocity (..., nv) that leads in ``dt`` to what `step` gives: same arguments."""
        return self._run("v", q, targets, v)

    def _run(self, output: Output, q: ArrayLike, targets: Targets, v: ArrayLike | None) -> Floats:
        call = self._calls.get(output) or self._call(output)
        named = self._named(targets, v)
        given = self._handed_over(named)
        if given is not None:
            try:
                found = call(q, *given, self._settings)
                if not self._closes:
                    return found
                if found.ndim == 1 and found[-2] <= CLOSED:
                    return found[:-2]
            except LinkworkError:
                pass  # the general way says what is wrong in the words of who asked
        return self._run_generally(output, q, named)

    def _named(self, targets: Targets, v: ArrayLike | None) -> dict[str, Any]:
        """What is given, by name."""
        named: dict[str, Any] = {}
        if type(targets) is np.ndarray and len(self._order) == 1:
            named = {self._order[0]: targets}
        elif targets is None:
            pass
        elif isinstance(targets, Mapping):
            named = dict(targets)
        elif len(self._order) == 1:
            named = {self._order[0]: targets}
        else:
            listed = list(cast("Sequence[ArrayLike]", targets))
            if len(listed) != len(self._order):
                raise InputError(
                    f"targets must be one for each task ({', '.join(self._order)}), or a mapping "
                    f"of names; there are {len(listed)}"
                )
            named = dict(zip(self._order, listed, strict=True))
        if v is not None:
            named.update((each.name, v) for each in self._accelerations)
        return named

    def _handed_over(self, named: Mapping[str, Any]) -> list[Floats] | None:
        """The kernel's arrays where all of them can be taken as they are."""
        given = list(self._own)
        for name, value in named.items():
            place = self._place.get(name)
            if place is None or type(value) is not np.ndarray:
                return None
            shape = self._inputs[place].shape
            if not shape or value.shape != shape:
                return None
            given[place] = value.reshape(-1)
        whole = [each for each in given if each is not None]
        return whole if len(whole) == len(given) else None

    def _run_generally(self, output: Output, q: ArrayLike, named: Mapping[str, Any]) -> Floats:
        start = configuration(q, self.mechanism, "q")
        parameters, whole, lead = rows_of(self.problem, named, start)
        arrays = [as_taken(each, parameters[:, slice(*each.span)]) for each in self._inputs]
        given = cast("list[Floats]", arrays)
        result = self._kernels[output](whole, *given, self._settings)
        if self._closes:
            result = self._kept_closed(output, whole, given, result)
        return result.reshape(*lead, result.shape[-1])

    def _kept_closed(self, output: Output, q: Floats, given: list[Floats], found: Floats) -> Floats:
        """What was found (N, n + 2) with shorter steps (N, n) where a step is not closed.

        Raises: InputError.
        """
        settings, gain = self._settings.copy(), self.problem.layout.n_settings + 1
        for _ in range(_SHORTER):
            left = np.flatnonzero(~(found[:, -2] <= CLOSED))
            if not left.size:
                break
            settings[gain] *= 0.25
            found[left] = self._kernels[output](q[left], *(each[left] for each in given), settings)
        left = np.flatnonzero(~(found[:, -2] <= CLOSED))
        for row in left:
            if not found[row, -1] <= CLOSED:
                raise InputError(
                    f"row {row}: the loops of q are open by {found[row, -1]:.3g} (m, rad), and a "
                    f"step within the limits leaves {found[row, -2]:.3g}: assemble q first"
                )
            found[row, :-2] = q[row] if output == "q" else 0.0
        return np.ascontiguousarray(found[:, :-2])

    def _call(self, output: Output) -> Callable[..., Floats]:
        with self._compiler.work(f"a controller for {self.mechanism.name}"):
            if output not in self._calls:
                recipe = step_recipe(self.problem, self._inputs, output)
                kernel = build(recipe, compiler=self._compiler)
                self._kernels[output] = kernel
                self._calls[output] = kernel.bound()
        return self._calls[output]


def _with_velocity(limits: Limit | Iterable[Limit], dt: float) -> list[Limit]:
    """The limits, with the description's velocity limits where there are no others."""
    given = listed(limits, Limit, "limits", "PositionLimit(0.05)")
    for each in given:
        if isinstance(each, (VelocityLimit, AccelerationLimit)) and each.dt != dt:
            raise InputError(
                f"{type(each).__name__}.dt is {each.dt!r}, but the controller's dt is {dt!r}"
            )
    if not any(isinstance(each, VelocityLimit) for each in given):
        given.append(VelocityLimit(dt))
    return given
