"""The methods that `linkwork.jax.compiled` and `linkwork.torch.compiled` share.

Each turns its arguments into arrays by the name of the input, and asks for the compiled function;
the methods themselves stand in `array_methods.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork import settings
from linkwork.algorithms.registry import ALGORITHMS, Algorithm
from linkwork.array_methods import ArrayMethods
from linkwork.compile.differentiable import Differentiable
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.parameters import check_acting, losses_of
from linkwork.programs import named

if TYPE_CHECKING:
    from linkwork.robot import Robot
    from linkwork.solve.sensitivity import Sensitivity

Floats = NDArray[np.float64]


class Solved(NamedTuple):
    """Answers q (..., nq), and whether each is one (...). Of a failure q has no derivative: NaN."""

    q: Any
    success: Any


class Solver:
    """A solver and the derivatives of its answers, arrays of NumPy in and out.

    ``solve`` takes arrays by name, and gives something with q and success. ``derive`` takes q,
    success and the arrays, and gives the derivatives of q: one (n, nq, size) for each input.
    """

    def __init__(
        self,
        title: str,
        inputs: Mapping[str, tuple[int, ...]],
        n_q: int,
        solve: Callable[..., Any],
        derive: Callable[..., Sequence[Floats]],
    ) -> None:
        """``inputs``: the shape of each input for one answer, by name."""
        self.title, self.inputs, self.n_q = title, dict(inputs), n_q
        self._solve, self._derive = solve, derive

    def lead(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The leading shape of inputs of these shapes.

        Raises: ShapeError.
        """
        leads: list[tuple[int, ...]] = []
        for (name, own), shape in zip(self.inputs.items(), shapes, strict=True):
            cut = len(shape) - len(own)
            if cut < 0 or tuple(shape[cut:]) != own:
                wanted = ", ".join(("...", *map(str, own)))
                raise ShapeError(f"{name} must have shape ({wanted}), not {tuple(shape)}")
            leads.append(tuple(shape[:cut]))
        try:
            return np.broadcast_shapes(*leads)
        except ValueError:
            raise ShapeError(f"the leading shapes do not go together: {leads}") from None

    def answers(self, *arrays: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """q (..., nq) and success (...)."""
        lead, tables = self._tables(arrays)
        if not math.prod(lead):
            return np.zeros((*lead, self.n_q)), np.zeros(lead, np.bool_)
        found = self._solve(**dict(zip(self.inputs, tables, strict=True)))
        return found.q.reshape(*lead, self.n_q), np.asarray(found.success).reshape(lead)

    def derivatives(self, q: Any, success: Any, *arrays: Any) -> list[Floats]:
        """The derivatives of q by each input, flat: (..., nq, size)."""
        lead, tables = self._tables(arrays)
        n = math.prod(lead)
        rows = np.ascontiguousarray(np.asarray(q, np.float64).reshape(n, self.n_q))
        found = self._derive(rows, np.asarray(success).reshape(n), tables)
        sizes = [math.prod(shape) for shape in self.inputs.values()]
        return [
            each.reshape(*lead, self.n_q, size) for each, size in zip(found, sizes, strict=True)
        ]

    def _tables(self, arrays: Sequence[Any]) -> tuple[tuple[int, ...], list[Floats]]:
        """The leading shape, and each input with it in one axis."""
        plain = [np.asarray(a, np.float64) for a in arrays]
        lead = self.lead([a.shape for a in plain])
        tables = [
            np.ascontiguousarray(np.broadcast_to(a, (*lead, *own))).reshape(math.prod(lead), *own)
            for a, own in zip(plain, self.inputs.values(), strict=True)
        ]
        return lead, tables


class CompiledMethods(ArrayMethods):
    """`ArrayMethods` for any leading shape, differentiable by every array that is given.

    So they are by numbers of the mechanism: ``parameters`` maps their names (docs/parameters.md) to
    arrays.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._sensitivities: dict[Any, Sensitivity] = {}

    def __repr__(self) -> str:
        return f"{type(self).__module__}({self.robot!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.robot,)

    def _run(
        self,
        function: Differentiable,
        given: Mapping[str, Any],
        own: Mapping[str, Floats],
        shape: tuple[int, ...],
    ) -> Any:
        """The result, of this shape after the leading one, of arrays by name.

        The robot's own numbers come after those that are given, and take their type.
        """
        raise NotImplementedError

    def _own(self, external: Any, losses: bool, friction: bool) -> dict[str, Floats]:
        """The robot's own numbers that ``losses`` stands for, once the keywords are checked."""
        return own_numbers(self.robot, external, losses, friction)

    def _armature(self, given: Any) -> Any:
        """The armature (..., nv) of what is given; one number is that of each rotor."""
        raise NotImplementedError

    def _solved(self, solver: Solver, given: Mapping[str, Any]) -> Solved:
        """The answers of a solver for arrays by name."""
        raise NotImplementedError

    def ik(
        self,
        targets: Any,
        frame: str | None = None,
        *,
        tasks: Any = None,
        q0: Any = None,
        joints: str | Sequence[str] | None = None,
        fixed: str | Sequence[str] = (),
        limits: Any = (),
        joint_weights: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Solved:
        """Configurations that bring a frame to poses (..., 4, 4), or do tasks; as `Robot.ik`.

        ``targets``: that of the frame or of the one task, or a mapping of tasks' names. Answers are
        differentiable once, by targets and q0: what moves follows the targets by the least change,
        in the units of the solver's steps, and what stands at a limit stays there. q0 counts for
        the joints that stay at it. ``options`` are those of `Robot.ik`, but for ``objectives``,
        ``choose`` and ``progress``.

        Raises: as `Robot.ik`; UnsupportedFeatureError for tasks whose answers have no derivative.
        """
        asked: dict[str, Any] = {"fixed": fixed, "limits": limits, "joint_weights": joint_weights}
        solver = self.robot.solver(frame, joints, tasks=tasks, **asked)
        for name in ("objectives", "choose", "progress"):
            if options.get(name) is not None:
                raise InputError(f"ik has no '{name}' here: Robot.ik takes it, without derivatives")
        problem = solver.problem
        given = self._targets(problem, targets)
        shapes = {each.name: each.shape for each in problem.inputs}
        names = list(given)
        arrays = {
            each.name: given[each.name] if each.name in given else _own(each)
            for each in problem.inputs
        }
        if q0 is not None:
            shapes["q0"], arrays["q0"] = (problem.mechanism.n_q,), q0
        how: dict[str, Any] = {"threads": settings.most_threads(), **options}

        def solve(q0: Floats | None = None, **rows: Floats) -> Any:
            return solver.solve({name: rows[name] for name in names}, q0, **how)

        def derive(q: Floats, success: NDArray[np.bool_], rows: list[Floats]) -> list[Floats]:
            found, by_q0 = sensitivity(q, success, q, rows[: len(problem.inputs)])
            return [*found, by_q0][: len(rows)]

        sensitivity = self._sensitivity(problem)
        title = f"ik of '{self.robot.mechanism.name}'"
        return self._solved(Solver(title, shapes, problem.mechanism.n_q, solve, derive), arrays)

    def assemble(self, actuated: Any, q0: Any = None, **options: Any) -> Solved:
        """Assembled configurations for positions (..., n_actuated) of the actuated joints.

        They are in the order of `Robot.actuated`; ``options`` are those of `Robot.assemble`.
        Differentiable once, by the actuated positions, and by q0 for what is in no loop.

        Raises: as `Robot.assemble`.
        """
        assembly = self.robot.assembler()
        m = self.robot.mechanism
        places = assembly.given
        shapes = {"actuated": (len(places),)}
        arrays = {"actuated": actuated}
        if q0 is not None:
            shapes["q0"], arrays["q0"] = (m.n_q,), q0

        def solve(actuated: Floats, q0: Floats | None = None) -> Any:
            return self.robot.assemble(actuated, q0, **options)

        def derive(q: Floats, success: NDArray[np.bool_], rows: list[Floats]) -> list[Floats]:
            _, by_q = sensitivity(q, success, q, [])
            by_q0 = by_q.copy()
            by_q0[:, :, list(places)] = 0.0
            return [by_q[:, :, list(places)], by_q0][: len(rows)]

        sensitivity = self._sensitivity(assembly.problem)
        return self._solved(Solver(f"assembly of '{m.name}'", shapes, m.n_q, solve, derive), arrays)

    def _targets(self, problem: Any, targets: Any) -> dict[str, Any]:
        """The targets by the names of the tasks."""
        names = [each.name for each in problem.inputs]
        if isinstance(targets, Mapping):
            for name in targets:
                if name not in names:
                    raise UnknownNameError("task with a target", str(name), names)
            return dict(targets)
        if len(names) != 1:
            raise InputError(f"targets must be a mapping of the tasks' names: {', '.join(names)}")
        return {names[0]: targets}

    def _sensitivity(self, problem: Any) -> Sensitivity:
        from linkwork.solve.inputs import Options, settings_of  # noqa: PLC0415  not all need it
        from linkwork.solve.sensitivity import Sensitivity  # noqa: PLC0415

        key = (*problem.key, repr(settings_of(problem, Options()).tolist()))
        found = self._sensitivities.get(key)
        if found is None:
            made = Sensitivity(problem, settings.compiler(), most_threads=settings.most_threads())
            found = self._sensitivities.setdefault(key, made)
        return found

    def compute(self, algorithm: str, **bound: Any) -> Any:
        """The result of a method for its arguments by name."""
        entry, m = ALGORITHMS[algorithm], self.robot.mechanism
        given = {name: bound[name] for name, _ in entry.inputs}
        static = {key: bound[key] for key in entry.static if key != "frame"}
        more, own = self._parameters(entry, bound)
        names = named(entry.name, bound.get("frame"), static)
        function = self._function(entry.name, names, (*more, *own))
        found = self._run(function, given | more, own, entry.output(m))
        return found if entry.result is None else entry.result(m, found)

    def _function(
        self, algorithm: str, names: tuple[str | None, ...], parameters: tuple[str, ...]
    ) -> Differentiable:
        """The compiled function of an algorithm with its fixed arguments."""
        programs = self.robot._programs  # pyright: ignore[reportPrivateUsage]  one cache for all
        return programs.differentiable(algorithm, names, parameters)

    def _parameters(
        self, entry: Algorithm, bound: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Floats]]:
        """The numbers of the mechanism that are given, by name, and those that losses stand for."""
        found: dict[str, Any] = {}
        external = bound.get("external")
        on = dict.fromkeys(external) if isinstance(external, Mapping) else external
        own = self._own(on, bound.get("losses", False), entry.friction)
        if bound.get("gravity") is not None:
            found["gravity"] = bound["gravity"]
        if (armature := bound.get("armature")) is not None:
            found["armature"] = self._armature(armature)
        for frame, wrench in (external or {}).items():
            found[f"wrench:{frame}"] = wrench
        parameters = bound["parameters"]
        if parameters is None:
            return found, own
        if not isinstance(parameters, Mapping):
            raise InputError(
                "parameters maps names to arrays, such as {'mass:link5': [1.2]}, not "
                f"{type(parameters).__name__}"
            )
        twice = [name for name in parameters if name in found or name in own]
        if twice:
            raise InputError(f"'{twice[0]}' is given by a keyword and in parameters; give it once")
        return found | dict(parameters), own


def own_numbers(robot: Robot, external: Any, losses: bool, friction: bool) -> dict[str, Floats]:
    """The robot's numbers that ``losses`` stands for, once the keywords of dynamics are checked.

    Raises: InputError, UnknownNameError.
    """
    check_acting(robot.mechanism, external, losses)
    return losses_of(robot.mechanism, friction=friction) if losses else {}


def _own(each: Any) -> Floats:
    """The target that a task has of itself.

    Raises: InputError where it has none.
    """
    if each.own is None:
        raise InputError(f"'{each.name}' has no target: give one with it, or among the targets")
    return each.array(each.own)
