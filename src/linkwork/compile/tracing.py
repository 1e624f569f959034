"""An algorithm run on CasADi symbols: the graph that is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as cs

from linkwork.algorithms.registry import find
from linkwork.compile.signature import Shape, Signature
from linkwork.mechanism.model import Mechanism
from linkwork.ops.casadi import CASADI

_LARGEST_SHARED = 100_000
"""In graphs with more instructions common subexpressions are left: finding them takes seconds."""


@dataclass(frozen=True)
class Traced:
    """A graph, and the names and shapes of what goes in and comes out.

    Every input and output of ``function`` is one column, outputs in row-major order.
    """

    signature: Signature
    function: cs.Function

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.signature.name


def row_major(block: Any) -> tuple[cs.SX, Shape]:
    """A block, or a list of equal-shaped ones, as one column in row-major order, and its shape."""
    if isinstance(block, (list, tuple)):
        parts = [row_major(part) for part in block]
        shapes = {shape for _, shape in parts}
        if len(shapes) != 1:
            raise ValueError(f"an output list needs blocks of one shape, not {sorted(shapes)}")
        return cs.vertcat(*[part for part, _ in parts]), (len(parts), *shapes.pop())
    sx = cs.SX(block)
    n_rows, n_columns = sx.shape
    if n_columns == 1:
        return sx, ((n_rows,) if n_rows != 1 else (1,))
    return cs.reshape(sx.T, n_rows * n_columns, 1), (n_rows, n_columns)


def trace_function(
    name: str,
    inputs: Mapping[str, int],
    function: Callable[..., Mapping[str, Any]],
) -> Traced:
    """Run ``function`` on one symbol vector per input and collect what it returns by name.

    ``inputs`` gives each vector's length. Subexpressions that occur twice are shared.
    """
    symbols = [cs.SX.sym(key, size) for key, size in inputs.items()]
    named = function(*symbols)
    flat = [row_major(block) for block in named.values()]
    blocks = [block for block, _ in flat]
    function = cs.Function(name, symbols, blocks)
    if function.n_instructions() <= _LARGEST_SHARED:
        function = cs.Function(name, symbols, _share(blocks))
    signature = Signature(
        name=name,
        input_names=tuple(inputs),
        input_shapes=tuple((size,) for size in inputs.values()),
        output_names=tuple(named),
        output_shapes=tuple(shape for _, shape in flat),
        instructions=int(function.n_instructions()),
    )
    return Traced(signature, function)


def _share(blocks: Sequence[cs.SX]) -> list[cs.SX]:
    """Common subexpressions of several outputs, eliminated over all of them at once."""
    sizes = [block.shape[0] for block in blocks]
    bounds = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    joined = cs.cse(cs.vertcat(*blocks))
    return [joined[bounds[k] : bounds[k + 1]] for k in range(len(blocks))]


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

    def run(*blocks: Any) -> dict[str, Any]:
        given = dict(zip(list(sizes)[n_own:], blocks[n_own:], strict=True))
        return {algorithm: entry.run(CASADI, mechanism, blocks[:n_own], given, **static)}

    traced = trace_function(algorithm, sizes, run)
    # one column is a vector to CasADi, and may be a matrix to the algorithm
    shapes = (entry.output(mechanism),)
    return Traced(replace(traced.signature, output_shapes=shapes), traced.function)
