"""An algorithm run on symbols: the graph that is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwork.algorithms.registry import find
from linkwork.compile.recipe import Shape, Signature
from linkwork.compile.signs import with_few_negations
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import ZERO, ExpressionGraph, GraphOps


@dataclass(frozen=True)
class Traced:
    """A graph, which of its expressions come out, and the names and shapes of what goes in and out.

    Every input is a vector; ``outputs`` numbers the expressions of each output in row-major order,
    and ``order`` those that they are made of, arguments first.
    """

    signature: Signature
    graph: ExpressionGraph
    outputs: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.signature.name


def row_major(o: GraphOps, block: Any) -> tuple[tuple[int, ...], Shape]:
    """A block, or a list of equal-shaped ones, as expressions in row-major order, and its shape.

    A scalar and a single column are vectors.
    """
    if isinstance(block, (list, tuple)):
        parts = [row_major(o, part) for part in block]
        shapes = {shape for _, shape in parts}
        if len(shapes) != 1:
            raise ValueError(f"an output list needs blocks of one shape, not {sorted(shapes)}")
        return tuple(k for numbers, _ in parts for k in numbers), (len(parts), *shapes.pop())
    own = o.const(block)
    shape = own.shape if len(own.shape) == 2 and own.shape[1] != 1 else (len(own.numbers),)
    return tuple(own.numbers), shape


def trace_function(
    name: str,
    inputs: Mapping[str, int],
    function: Callable[..., Mapping[str, Any]],
    *,
    loops: Callable[..., Any] | None = None,
) -> Traced:
    """Run ``function(o, *vectors)`` on a vector of symbols per input; collect its results by name.

    ``o`` is the back end of the symbols, with these ``loops``, and ``inputs`` gives each vector's
    length.
    """
    o = GraphOps(loops=loops)
    symbols = [o.input(k, size) for k, size in enumerate(inputs.values())]
    flat = {key: row_major(o, block) for key, block in function(o, *symbols).items()}
    outputs = tuple(numbers for numbers, _ in flat.values())
    graph, outputs, order = with_few_negations(o.graph, outputs, o.graph.needed(outputs))
    signature = Signature(
        name=name,
        input_names=tuple(inputs),
        input_shapes=tuple((size,) for size in inputs.values()),
        output_names=tuple(flat),
        output_shapes=tuple(shape for _, shape in flat.values()),
        instructions=len(order) + sum(k != ZERO for numbers in outputs for k in numbers),
    )
    return Traced(signature, graph, outputs, tuple(order))


def trace(
    algorithm: str, mechanism: Mechanism, parameters: str | Sequence[str] = (), **static: Any
) -> Traced:
    """Trace a registered algorithm for one mechanism, with its static arguments bound.

    ``parameters`` names numbers of the mechanism (`mechanism.parameters`) that become inputs after
    the algorithm's own.

    Raises: UnknownNameError for an algorithm that is not registered or a parameter that does not
    exist; InputError for parameters without effect.
    """
    entry = find(algorithm)
    sizes, n_own = entry.sizes(mechanism, parameters), len(entry.inputs)

    def run(o: GraphOps, *blocks: Any) -> dict[str, Any]:
        given = dict(zip(list(sizes)[n_own:], blocks[n_own:], strict=True))
        return {algorithm: entry.run(o, mechanism, blocks[:n_own], given, **static)}

    traced = trace_function(algorithm, sizes, run)
    # one column is a vector here, and may be a matrix to the algorithm
    shapes = (entry.output(mechanism),)
    return replace(traced, signature=replace(traced.signature, output_shapes=shapes))
