"""The compiled functions of one mechanism, made when they are first asked for and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork import settings
from linkwork.algorithms.registry import find
from linkwork.checks import shown
from linkwork.compile.differentiable import Differentiable
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.recipe import algorithm_recipe
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.parameters import OF_VELOCITIES

if TYPE_CHECKING:
    from linkwork.solve.closed.rates import Rates

Function = Callable[..., NDArray[np.float64]]


class Programs:
    """The compiled functions of a mechanism, by algorithm, static arguments and parameters.

    ``tip`` gives the frame that is meant where none is named. What holds these objects is not held
    by them, so that code goes with the last robot that uses it.
    """

    def __init__(self, mechanism: Mechanism, tip: Callable[[], str]) -> None:
        self.mechanism, self.tip = mechanism, tip
        self._kernels: dict[Any, Kernel] = {}
        self._differentiable: dict[Any, Differentiable] = {}
        self.functions: dict[str, Any] = {}
        """Functions without parameters by algorithm and static arguments, a dict in a dict."""
        self._with_parameters: dict[tuple[str, ...], dict[str, Any]] = {(): self.functions}

    def kernel(self, algorithm: str, static: Sequence[Any], parameters: tuple[str, ...]) -> Kernel:
        """The kernel of an algorithm with its static arguments in order; None is the default.

        Raises: UnknownNameError, InputError.
        """
        key = (algorithm, *static, parameters)
        found = self._kernels.get(key)
        if found is not None:
            return found
        fixed = self.fixed(algorithm, static, parameters)
        with COMPILING:
            kernel = build(
                algorithm_recipe(algorithm, self.mechanism, parameters, **fixed),
                compiler=settings.compiler(),
                labels=self._labels,
                most_threads=settings.most_threads(),
            )
            return self._kernels.setdefault(key, kernel)

    def function(
        self, algorithm: str, static: Sequence[Any], parameters: tuple[str, ...] = ()
    ) -> Function:
        """The function that calls a kernel with the least overhead.

        Raises: as `kernel`.
        """
        *above, last = (algorithm, *static)
        kept = self._with_parameters.setdefault(parameters, {})
        for key in above:
            kept = kept.setdefault(key, {})
        found = kept.get(last)
        if found is None:
            with settings.compiler().work(f"{algorithm} for {self.mechanism.name}"):
                kernel = self.kernel(algorithm, static, parameters)
                found = kept.setdefault(last, kernel.bound())
        return found

    def differentiable(
        self, algorithm: str, static: Sequence[Any], parameters: tuple[str, ...] = ()
    ) -> Differentiable:
        """The compiled function that knows its derivatives, with the arguments of `kernel`.

        Raises: as `kernel`.
        """
        key = (algorithm, *static, parameters)
        found = self._differentiable.get(key)
        if found is None:
            fixed = self.fixed(algorithm, static, parameters)
            made = Differentiable(
                algorithm_recipe(algorithm, self.mechanism, parameters, **fixed),
                settings.compiler(),
                most_threads=settings.most_threads(),
            )
            found = self._differentiable.setdefault(key, made)
        return found

    def fixed(
        self, algorithm: str, static: Sequence[Any], parameters: tuple[str, ...]
    ) -> dict[str, Any]:
        """The arguments that are fixed when an algorithm is traced; what it needs is checked.

        Raises: UnknownNameError, InputError.
        """
        entry = find(algorithm)
        entry.check(self.mechanism, parameters)
        given: dict[str, Any] = {}
        if entry.counts_free_motions and self.mechanism.is_closed:
            given["free_motions"] = self.rates.free_motions
        for key, value in zip(entry.static, static, strict=True):
            if key == "frame":
                given[key] = self.frame(value)
            elif value is not None:
                given[key] = value
            elif key == "base":
                raise InputError(f"'{algorithm}' needs base=, the frame that poses are given in")
        return given

    def frame(self, name: str | None) -> str:
        """The name of a frame that exists; `tip` for None.

        Raises: UnknownNameError.
        """
        if name is None:
            return self.tip()
        self.mechanism.frame(name)
        return name

    @cached_property
    def rates(self) -> Rates:
        """The rates of the loops; compiled when asked for."""
        from linkwork.solve.closed.rates import Rates  # noqa: PLC0415  not all need it

        return Rates(self.mechanism, settings.compiler())

    @cached_property
    def _labels(self) -> dict[str, list[str]]:
        """The names in messages of the numbers of each input, and of the rows of frames."""
        m = self.mechanism
        q = [f"joint '{m.joint_of_q(k)}'" for k in range(m.n_q)]
        v = [f"joint '{m.joint_of_v(k)}'" for k in range(m.n_v)]
        frames = [f"frame '{name}'" for name in m.frame_names]
        of_v = {key: v for key in ("v", "dv", "tau", *OF_VELOCITIES)}
        return {"q": q, "q0": q, "q1": q, "fk_all": frames, **of_v}


def named(algorithm: str, frame: str | None, static: Mapping[str, Any]) -> tuple[str | None, ...]:
    """The static arguments of an algorithm in its own order, None where one is not given.

    Raises: UnknownNameError; InputError for an argument that it does not have.
    """
    entry = find(algorithm)
    for key in (*static, *(["frame"] if frame is not None else [])):
        if key not in entry.static:
            allowed = ", ".join(entry.static) or "none"
            raise InputError(f"'{algorithm}' has no argument '{key}'; it has: {allowed}")
    given = {"reference": "world-aligned", "frame": frame, **static}
    names = tuple(given.get(key) for key in entry.static)
    try:
        hash(names)
    except TypeError as error:
        raise name_error(error, *names) from None
    return names


def name_error(error: TypeError, *names: Any) -> Exception:
    """The error of a lookup that failed: what is no name, or the error itself where all are."""
    wrong = [shown(name) for name in names if not isinstance(name, str | None)]
    return InputError(f"a frame is meant by its name, not by {wrong[0]}") if wrong else error
