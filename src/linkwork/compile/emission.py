"""The module of one version of a function: the rows, and the fast call beside the scalar ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.compile.loops import emit_rows
from linkwork.compile.native_call import emit_fast_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.rolled import Program
from linkwork.compile.rolled_rows import emit_program
from linkwork.compile.signature import Signature
from linkwork.compile.target import Target, new_module

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph


def write_module(
    signature: Signature, graph: Graph | Program, target: Target, sizes: tuple[int, int]
) -> tuple[Any, int]:
    """The module with the function ``rows``, and how much scratch it needs (float64 numbers).

    ``sizes``: the lanes of a vector, and the most rows that a fast call computes at once.
    """
    width, batch_rows = sizes
    module = new_module(signature.name, target)
    if isinstance(graph, Program):
        rows = emit_program(module, graph, width, "rows", fused=target.fused)
    else:
        rows = emit_rows(module, graph, width, "rows", fused=target.fused)
    abi = array_abi()
    one = width == 1 and len(signature.output_shapes) == 1
    if one and abi is not None and rows.scratch == 0:
        emit_fast_call(
            module,
            rows.function,
            graph.input_sizes,
            signature.output_shapes[0],
            abi,
            batch_rows=batch_rows,
        )
    return module, rows.scratch
