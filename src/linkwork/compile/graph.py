"""A traced function as a list of single assignments, with multiply-adds paired.

The pairing of products with sums
into fused multiply-adds is done here, on the graph, and nowhere else: LLVM is never allowed to
contract on its own, so that the code for one lane and the code for eight round alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from linkwork.compile.optable import OP_TABLE, PAIRED, Op
from linkwork.errors import UnsupportedFeatureError
from linkwork.ops.graph import ZERO, ExpressionGraph

if TYPE_CHECKING:
    from linkwork.compile.tracing import Traced

Kind = Literal["input", "const", "op"]


@dataclass(slots=True)  # not frozen: there are many, and freezing doubles what making one costs
class Node:
    """One assignment; its position in the list is its name."""

    kind: Kind
    args: tuple[int, ...] = ()  # positions of earlier nodes; for an input (argument, element)
    op: Op | None = None
    value: float = 0.0


@dataclass(frozen=True)
class Graph:
    """Assignments in order, and which of them each output element takes."""

    nodes: list[Node]
    input_sizes: tuple[int, ...]
    output_sizes: tuple[int, ...]
    outputs: list[dict[int, int]]  # per output: element -> node; absent elements are zero

    @property
    def n_assignments(self) -> int:
        """The number of assignments."""
        return len(self.nodes)


def graph_of(traced: Traced, *, fuse: bool) -> Graph:
    """The assignments of a traced function, products paired with sums where ``fuse`` says so.

    Raises: UnsupportedFeatureError for an operation that is not in the op table.
    """
    sizes = traced.signature.input_sizes, traced.signature.output_sizes
    try:
        return assignments(traced.graph, traced.order, traced.outputs, sizes, fuse=fuse)
    except UnsupportedFeatureError as e:
        raise UnsupportedFeatureError(f"function {traced.name!r}: {e}") from None


def assignments(
    graph: ExpressionGraph,
    order: Sequence[int],
    outputs: Sequence[Sequence[int]],
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
    *,
    fuse: bool,
) -> Graph:
    """The assignments of expressions in this order; ``sizes`` are those of inputs and outputs.

    Raises: UnsupportedFeatureError as `graph_of`.
    """
    nodes, found = _assignments(graph, order, outputs)
    if fuse:
        nodes, found = _pair(nodes, found)
        nodes, found = _without_unused(nodes, found)
    return Graph(nodes, *sizes, found)


def _assignments(
    graph: ExpressionGraph, order: Sequence[int], outputs: Sequence[Sequence[int]]
) -> tuple[list[Node], list[dict[int, int]]]:
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for k in order:
        operation, arguments = graph.operations[k], graph.arguments[k]
        place[k] = len(nodes)
        if operation == "INPUT":
            nodes.append(Node("input", arguments))
        elif operation == "CONST":
            nodes.append(Node("const", value=graph.values[k] or 0.0))
        else:
            op = OP_TABLE.get(operation)
            if op is None:
                raise UnsupportedFeatureError(
                    f"operation {operation} cannot be compiled: "
                    "it is not in the op table (linkwork/compile/optable.py)"
                )
            nodes.append(Node("op", tuple([place[a] for a in arguments]), op))
    return nodes, [
        {element: place[k] for element, k in enumerate(numbers) if k != ZERO} for numbers in outputs
    ]


def _uses(nodes: list[Node], outputs: list[dict[int, int]]) -> list[int]:
    uses = [0] * len(nodes)
    for node in nodes:
        if node.kind != "input":
            for arg in node.args:
                uses[arg] += 1
    for output in outputs:
        for position in output.values():
            uses[position] += 1
    return uses


def _factors(node: Node) -> tuple[int, int] | None:
    """The two factors of a product, or None."""
    if node.op is not None and node.op.name == "MUL":
        return node.args[0], node.args[1]
    return None


def _pair(
    nodes: list[Node], outputs: list[dict[int, int]]
) -> tuple[list[Node], list[dict[int, int]]]:
    """Fuse each product that is used once, by a sum or a difference, into that sum."""
    uses = _uses(nodes, outputs)
    paired = list(nodes)
    for k, node in enumerate(nodes):
        if node.op is None or node.op.name not in ("ADD", "SUB"):
            continue
        a, b = node.args
        subtract = node.op.name == "SUB"
        left = _factors(nodes[a]) if uses[a] == 1 else None
        right = _factors(nodes[b]) if uses[b] == 1 else None
        if right is not None and (left is None or b >= a):
            paired[k] = Node("op", (*right, a), PAIRED["FNMA" if subtract else "FMA"])
        elif left is not None:
            paired[k] = Node("op", (*left, b), PAIRED["FMS" if subtract else "FMA"])
    return paired, outputs


def _without_unused(
    nodes: list[Node], outputs: list[dict[int, int]]
) -> tuple[list[Node], list[dict[int, int]]]:
    """Drop what no output needs, the products that went into multiply-adds among it."""
    needed = [False] * len(nodes)
    for output in outputs:
        for position in output.values():
            needed[position] = True
    for k in range(len(nodes) - 1, -1, -1):
        if needed[k] and nodes[k].kind != "input":
            for arg in nodes[k].args:
                needed[arg] = True
    place: dict[int, int] = {}
    kept: list[Node] = []
    for k, node in enumerate(nodes):
        if not needed[k]:
            continue
        place[k] = len(kept)
        if node.kind != "input":
            node.args = tuple([place[a] for a in node.args])
        kept.append(node)
    return kept, [{e: place[p] for e, p in output.items()} for output in outputs]
