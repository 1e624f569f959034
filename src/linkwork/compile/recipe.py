"""A function that is traced when it has to be, and the name that it is known by until then."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwork.compile.machine_code import COMPILING
from linkwork.mechanism.model import Mechanism

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.tracing import Traced


class Recipe:
    """How to trace a function, and a key that says which function it is.

    Two recipes of one key must give the same graph, given the same sources of this library. An
    empty key is for what only its graph can tell apart: nothing of it is kept between processes.
    """

    def __init__(
        self,
        key: Sequence[str],
        trace: Callable[[], Traced],
        *,
        name: str = "a function",
        about: Mapping[str, str] | None = None,
        causes: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        """``name`` and ``about`` are for people; the latter says what the function is of: the
        robot, the frame. ``causes`` says of inputs (n,) by name why there is no finite result, ""
        where it does not know."""
        self.key = tuple(key)
        self.name, self.about = name, dict(about or {})
        self.causes = causes
        self._trace = trace
        self._traced: Traced | None = None

    @property
    def title(self) -> str:
        """The name, and the robot where it is known: "fk for panda"."""
        robot = self.about.get("robot")
        return self.name if robot is None else f"{self.name} for {robot}"

    def traced(self) -> Traced:
        """The traced function; traced at the first call, kept afterwards."""
        if self._traced is None:
            with COMPILING:
                if self._traced is None:
                    self._traced = self._trace()
        return self._traced

    def graph(self, *, fused: bool) -> Graph:
        """The traced function as single assignments."""
        from linkwork.compile.graph import graph_of  # noqa: PLC0415  not for cached code

        with COMPILING:
            return graph_of(self.traced(), fuse=fused)


def recipe_of(traced: Traced) -> Recipe:
    """The recipe of what is traced already."""
    return Recipe((), lambda: traced, name=traced.signature.name)


def text_recipe(
    key: Sequence[str], name: str, sizes: Mapping[str, int], text: Callable[..., Mapping[str, Any]]
) -> Recipe:
    """The recipe of ``text(o, *blocks) -> {output: block}``, written in the operations ``o``.

    ``sizes`` gives the length of each input.
    """

    def trace() -> Traced:
        from linkwork.compile.tracing import trace_function  # noqa: PLC0415  not for cached code

        return trace_function(name, sizes, text)

    return Recipe(key, trace, name=name)


def algorithm_recipe(
    algorithm: str, mechanism: Mechanism, parameters: Sequence[str] = (), **static: Any
) -> Recipe:
    """The recipe of a registered algorithm for one mechanism."""

    def trace() -> Traced:
        from linkwork.compile import tracing  # noqa: PLC0415  not for cached code

        return tracing.trace(algorithm, mechanism, parameters, **static)

    fixed = [f"{name}={static[name]!r}" for name in sorted(static)]
    named = [f"parameter {name}" for name in parameters]
    about = {"robot": mechanism.name, **{key: str(value) for key, value in static.items()}}
    key = ("algorithm", algorithm, mechanism.digest, *fixed, *named)
    causes = functools.partial(_no_result, mechanism) if mechanism.is_closed else None
    return Recipe(key, trace, name=algorithm, about=about, causes=causes)


def _no_result(m: Mechanism, inputs: Mapping[str, Any]) -> str:
    """A sentence on couplings without a value, or on loops that lose rank; "" where none do."""
    from linkwork.algorithms.closure import valueless  # noqa: PLC0415  rarely needed
    from linkwork.algorithms.independent_rows import change_point  # noqa: PLC0415

    q = inputs.get("q")
    return "" if q is None else valueless(m, q) or change_point(m, q)
