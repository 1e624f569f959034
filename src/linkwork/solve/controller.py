"""Controllers: differential inverse kinematics for a control loop, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.kernel import Kernel, build
from linkwork.errors import InputError, LinkworkError
from linkwork.mechanism.model import Mechanism
from linkwork.solve.clear_steps import ClearSteps
from linkwork.solve.clearance import split
from linkwork.solve.control_step import Output, closing_tasks, step_recipe
from linkwork.solve.inputs import Inputs, Options, Targets, configuration, settings_of
from linkwork.solve.limits import AccelerationLimit, Limit, VelocityLimit, per_joint
from linkwork.solve.objectives import Objective
from linkwork.solve.problem import Problem, listed, make_problem
from linkwork.solve.tasks import Pose, Task

Floats = NDArray[np.float64]

_CLOSED = 1.0e-9
"""Distance or angle (m, rad) by which a loop may be open after a step."""
_SHORTER = 5
"""The number of times that a step which cannot be closed is made four times shorter."""


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
        joint_weights: Mapping[str, float | Sequence[float]] | None = None,
        gain: float = 1.0,
        damping: float = 1.0,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism, self.dt = mechanism, finite_number(dt, "dt", above=0.0)
        self._gain = gain = finite_number(gain, "gain", above=0.0, most=1.0)
        damping = finite_number(damping, "damping", least=0.0)
        bounds = listed(limits, Limit, "limits", "PositionLimit(0.05)")
        for each in bounds:
            if isinstance(each, (VelocityLimit, AccelerationLimit)) and each.dt != dt:
                name = type(each).__name__
                raise InputError(f"{name}.dt is {each.dt!r}, but the controller's dt is {dt!r}")
        bounds, clear = split(bounds)
        if not any(isinstance(each, VelocityLimit) for each in bounds):
            bounds.append(VelocityLimit(self.dt))
        self.problem: Problem = make_problem(
            mechanism,
            Pose(tasks) if isinstance(tasks, str) else tasks,
            joints=joints,
            limits=bounds,
            objectives=objectives,
            joint_weights=joint_weights,
            others=() if clear is None or joints is None else clear.coordinates(mechanism),
        )
        self._closes = bool(closing_tasks(self.problem))
        self._inputs = Inputs(self.problem)
        extra = np.array([self.dt, gain, damping])
        self._settings = np.concatenate([settings_of(self.problem, Options()), extra])
        self._accelerations = [each.name for each in self.problem.limits if each.n_numbers]
        self._compiler = compiler or Compiler()
        self._calls: dict[Output, Callable[..., Floats]] = {}
        self._kernels: dict[Output, Kernel] = {}
        self._a_max = np.full(mechanism.n_v, np.inf)
        for each in bounds:
            if isinstance(each, AccelerationLimit):
                own = per_joint(mechanism, each.a_max, "AccelerationLimit.a_max")
                self._a_max = np.minimum(self._a_max, own)
        self._clear = None if clear is None else ClearSteps(self.problem, clear, self._compiler)
        if self._clear is None:
            self._call("q")

    def __repr__(self) -> str:
        """A line on what is controlled."""
        told = self.problem.summary(clear=self._clear is not None)
        return f"Controller({told}; a step each {self.dt:g} s)"

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
        if v is not None:
            targets = {**self._inputs.by_name(targets), **dict.fromkeys(self._accelerations, v)}
        if self._clear is not None:
            return self._run_clear(self._clear, output, q, targets)
        call = self._calls.get(output) or self._call(output)
        given = self._inputs.native(targets)
        flat: list[Floats] = []
        for a, each in zip(given or (), self._inputs.all, strict=False):
            if type(a) is np.ndarray and a.shape == each.shape:
                flat.append(a.reshape(-1))
        if given is not None and len(flat) == len(given):
            try:
                found = call(q, *flat, self._settings)
                if not self._closes:
                    return found
                if found.ndim == 1 and found[-2] <= _CLOSED:
                    return found[:-2]
            except LinkworkError:
                pass  # the general way says what is wrong in the words of who asked
        start = configuration(q, self.mechanism, "q")
        rows = self._inputs.rows(targets, start, checked=True)
        arrays = [a.reshape(rows.n, -1) for a in rows.arrays]
        whole = rows.starts
        result = self._kernels[output](whole, *arrays, self._settings)
        if self._closes:
            result = _kept_closed(output, whole, result, self._shorter(output, whole, arrays))
        return result.reshape(*rows.lead, result.shape[-1])

    def _run_clear(
        self, steps: ClearSteps, output: Output, q: ArrayLike, targets: Targets
    ) -> Floats:
        rows = self._inputs.rows(targets, configuration(q, self.mechanism, "q"), checked=True)
        given, starts = [a.reshape(rows.n, -1) for a in rows.arrays], rows.starts
        x = steps.kept_clear(starts, given, self._settings, self._gain, self.dt, self._a_max)
        result = steps.taken(output, starts, given, x, self._settings)
        if self._closes:

            def shorter(share: float, places: NDArray[np.int64]) -> Floats:
                own = [each[places] for each in given]
                return steps.taken(output, starts[places], own, share * x[places], self._settings)

            result = _kept_closed(output, starts, result, shorter)
        return result.reshape(*rows.lead, result.shape[-1])

    def _shorter(
        self, output: Output, q: Floats, given: list[Floats]
    ) -> Callable[[float, NDArray[np.int64]], Floats]:
        """Some of the steps with a share of the gain."""
        settings, gain = self._settings.copy(), self.problem.layout.n_settings + 1

        def shorter(share: float, places: NDArray[np.int64]) -> Floats:
            settings[gain] = share * self._settings[gain]
            return self._kernels[output](q[places], *(each[places] for each in given), settings)

        return shorter

    def _call(self, output: Output) -> Callable[..., Floats]:
        with self._compiler.work(f"a controller for {self.mechanism.name}"):
            if output not in self._calls:
                recipe = step_recipe(self.problem, output)
                kernel = build(recipe, compiler=self._compiler)
                self._kernels[output] = kernel
                self._calls[output] = kernel.bound()
        return self._calls[output]


def _kept_closed(
    output: Output,
    q: Floats,
    found: Floats,
    shorter: Callable[[float, NDArray[np.int64]], Floats],
) -> Floats:
    """Steps (N, n) from those found (N, n + 2), shorter ones where a step is not closed.

    ``shorter(share, places)`` makes some of them by a share of their length.

    Raises: InputError.
    """
    for k in range(_SHORTER):
        left = np.flatnonzero(~(found[:, -2] <= _CLOSED))
        if not left.size:
            break
        found[left] = shorter(0.25 ** (k + 1), left)
    left = np.flatnonzero(~(found[:, -2] <= _CLOSED))
    for row in left:
        if not found[row, -1] <= _CLOSED:
            raise InputError(
                f"row {row}: the loops of q are open by {found[row, -1]:.3g} (m, rad), and a "
                f"step within the limits leaves {found[row, -2]:.3g}: assemble q first"
            )
        found[row, :-2] = q[row] if output == "q" else 0.0
    return np.ascontiguousarray(found[:, :-2])
