"""A function that is traced when it has to be, and the name that it is known by until then."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from linkwork.algorithms.registry import find
from linkwork.algorithms.sweep import FRAME_POSES, bodies_of
from linkwork.compile.machine_code import COMPILING
from linkwork.mechanism import parameters as named
from linkwork.mechanism.model import Mechanism

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.rolled import Loops, Program, Rolled
    from linkwork.compile.tracing import Traced


class Recipe:
    """A function's trace, not yet made, and a key that says which function it is.

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
        roll: Callable[[], Rolled | None] | None = None,
    ) -> None:
        """``name`` and ``about`` are for people; the latter says what the function is of: the
        robot, the frame. ``causes`` says of inputs (n,) by name why there is no finite result, ""
        where it does not know. ``roll`` gives the same function as loops, which is what is compiled
        then, or None."""
        self.key = tuple(key)
        self.name, self.about = name, dict(about or {})
        self.causes = causes
        self._trace = trace
        self._traced: Traced | None = None
        self._roll = roll
        self._rolled: Rolled | None = None

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

    def rolled(self) -> Rolled | None:
        """The function as loops; None where it is compiled as it is traced."""
        if self._rolled is None and self._roll is not None:
            with COMPILING:
                self._rolled = self._rolled or self._roll()
        return self._rolled

    def signature(self) -> Signature:
        """The names and shapes of what goes in and out."""
        rolled = self.rolled()
        return self.traced().signature if rolled is None else rolled.signature

    def code(self, *, fused: bool) -> Graph | Program:
        """The code to be compiled: loops, or else single assignments."""
        rolled = self.rolled()
        return self.graph(fused=fused) if rolled is None else rolled.program

    def graph(self, *, fused: bool) -> Graph:
        """The traced function as single assignments."""
        from linkwork.compile.graph import graph_of  # noqa: PLC0415  not for cached code

        with COMPILING:
            return graph_of(self.traced(), fuse=fused)


def recipe_of(traced: Traced) -> Recipe:
    """The recipe of what is traced already."""
    return Recipe((), lambda: traced, name=traced.signature.name)


def expression_recipe(
    key: Sequence[str],
    name: str,
    sizes: Mapping[str, int],
    expressions: Callable[..., Mapping[str, Any]],
    *,
    loops: Loops | None = None,
) -> Recipe:
    """The recipe of ``expressions(o, *blocks) -> {output: block}``, written in operations ``o``.

    ``sizes`` gives the length of each input. What it asks of a long mechanism becomes loops, and
    then all of it does; so it is with others that share its ``loops``, once they are traced.
    """

    def trace() -> Traced:
        from linkwork.compile import rolled, tracing  # noqa: PLC0415  not for cached code

        return tracing.trace_function(name, sizes, expressions, loops=loops or rolled.Loops())

    def roll() -> Rolled | None:
        from linkwork.compile.graph_loops import loops_of  # noqa: PLC0415  not for cached code

        traced = recipe.traced()
        in_loops = bool(traced.graph.programs) or (loops is not None and loops.used)
        return loops_of(traced) if in_loops else None

    recipe = Recipe(key, trace, name=name, roll=roll)
    return recipe


LONGEST_UNROLLED = 100
"""Joints of mechanisms that are written out joint by joint; those of longer ones become loops.

Loops compile in a time that does not depend on the joints. They take two to four times the time of
what is written out, which knows the numbers of a joint that are 0 or 1. So a humanoid with hands is
written out; a chain is not from 51 joints on, by `MOST_PAIRS`: of 60 joints in a row that compiles
in 0.5 to 4 s, loops in 0.1 to 0.2 s.
"""

MOST_PAIRS = 1_300
"""Pairs of a joint and one that carries it, or itself, of mechanisms that are written out."""


def algorithm_recipe(
    algorithm: str,
    mechanism: Mechanism,
    parameters: Sequence[str] = (),
    *,
    loops: bool | None = None,
    **static: Any,
) -> Recipe:
    """The recipe of a registered algorithm for one mechanism.

    ``loops``: whether it is compiled as loops over the joints, which not all algorithms and
    mechanisms can be; by default where the mechanism is long.
    """
    rolls = loops is not False and find(algorithm).goes_in_passes(mechanism, static)
    if rolls and loops is None:
        rolls = is_long(mechanism, bodies_of(mechanism, static))
    if rolls and parameters:
        rolls = not any(each.quantity in FRAME_POSES for each in named.find(mechanism, parameters))

    def roll() -> Rolled:
        from linkwork.compile import rolled  # noqa: PLC0415  not for cached code

        return rolled.roll(algorithm, mechanism, parameters, **static)

    def trace() -> Traced:
        from linkwork.compile import tracing  # noqa: PLC0415  not for cached code

        return tracing.trace(algorithm, mechanism, parameters, **static)

    fixed = [f"{name}={static[name]!r}" for name in sorted(static)]
    inputs = [f"parameter {name}" for name in parameters]
    about = {"robot": mechanism.name, **{key: str(value) for key, value in static.items()}}
    key = ("algorithm", algorithm, mechanism.digest, *fixed, *inputs, *["loops"] * rolls)
    causes = functools.partial(_no_result, mechanism) if mechanism.is_closed else None
    return Recipe(
        key, trace, name=algorithm, about=about, causes=causes, roll=roll if rolls else None
    )


def _no_result(m: Mechanism, inputs: Mapping[str, Any]) -> str:
    """A sentence on couplings without a value, or on loops that lose rank; "" where none do."""
    from linkwork.algorithms.closure import valueless  # noqa: PLC0415  rarely needed
    from linkwork.algorithms.independent_rows import change_point  # noqa: PLC0415

    q = inputs.get("q")
    return "" if q is None else valueless(m, q) or change_point(m, q)


def is_long(m: Mechanism, bodies: Sequence[int] | None = None) -> bool:
    """Whether a mechanism, or the way to these of its bodies, is compiled as loops."""
    members = range(m.n_bodies) if bodies is None else bodies
    if len(members) > LONGEST_UNROLLED:
        return True
    carriers: dict[int, int] = {-1: 0}
    for body in members:
        carriers[body] = carriers.get(int(m.parent[body]), 0) + 1
    return sum(carriers.values()) > MOST_PAIRS


# --- what is known of a function without its graph ---

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Signature:
    """Names and row-major shapes of the inputs and outputs, and how many operations there are.

    Every input is a vector. ``instructions`` counts operations, loads and stores of the graph.
    """

    name: str
    input_names: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_names: tuple[str, ...]
    output_shapes: tuple[Shape, ...]
    instructions: int

    @property
    def input_sizes(self) -> tuple[int, ...]:
        """The sizes of the inputs."""
        return tuple(size(shape) for shape in self.input_shapes)

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """The size of each output."""
        return tuple(size(shape) for shape in self.output_shapes)

    def to_facts(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> Signature:
        """The signature that `to_facts` made these of.

        Raises: KeyError, TypeError or ValueError for anything else.
        """
        return Signature(
            name=str(facts["name"]),
            input_names=tuple(str(name) for name in facts["input_names"]),
            input_shapes=_shapes(facts["input_shapes"]),
            output_names=tuple(str(name) for name in facts["output_names"]),
            output_shapes=_shapes(facts["output_shapes"]),
            instructions=int(facts["instructions"]),
        )


def _shapes(listed: Any) -> tuple[Shape, ...]:
    return tuple(tuple(int(n) for n in shape) for shape in listed)


def size(shape: Shape) -> int:
    """The size of an array of this shape."""
    return math.prod(shape)
