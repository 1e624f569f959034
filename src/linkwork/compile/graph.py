"""A traced function as a list of single assignments, with multiply-adds paired.

CasADi reuses its work slots; here every value is assigned once. The pairing of products with sums
into fused multiply-adds is done here, on the graph, and nowhere else: LLVM is never allowed to
contract on its own, so that the code for one lane and the code for eight round alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from linkwork.compile.optable import Op

if TYPE_CHECKING:
    import casadi as cs

Kind = Literal["input", "const", "op", "fma", "fms", "fnma"]


@dataclass(frozen=True, slots=True)
class Node:
    """One assignment; its position in the list is its name.

    fma: a b + c, fms: a b - c, fnma: c - a b.
    """

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


def graph_of(function: cs.Function, *, fuse: bool) -> Graph:
    """Read a CasADi SX function whose inputs and outputs are columns.

    Functions that it calls are read in their place.

    Raises: UnsupportedFeatureError for an operation that is not in the op table, and for what is
    not an SX function.
    """
    from linkwork.compile.sx_reading import single_assignments  # noqa: PLC0415  imports CasADi

    nodes, outputs = single_assignments(function)
    if fuse:
        nodes, outputs = _pair(nodes, outputs)
    nodes, outputs = _without_unused(nodes, outputs)
    return Graph(
        nodes=nodes,
        input_sizes=tuple(int(function.numel_in(k)) for k in range(function.n_in())),
        output_sizes=tuple(int(function.numel_out(k)) for k in range(function.n_out())),
        outputs=outputs,
    )


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
    if node.kind == "op" and node.op is not None:
        if node.op.name == "MUL":
            return node.args[0], node.args[1]
        if node.op.name == "SQ":
            return node.args[0], node.args[0]
    return None


def _pair(
    nodes: list[Node], outputs: list[dict[int, int]]
) -> tuple[list[Node], list[dict[int, int]]]:
    """Fuse each product that is used once, by a sum or a difference, into that sum."""
    uses = _uses(nodes, outputs)
    paired = list(nodes)
    for k, node in enumerate(nodes):
        if node.kind != "op" or node.op is None or node.op.name not in ("ADD", "SUB"):
            continue
        a, b = node.args
        subtract = node.op.name == "SUB"
        left = _factors(nodes[a]) if uses[a] == 1 else None
        right = _factors(nodes[b]) if uses[b] == 1 else None
        if right is not None and (left is None or b >= a):
            paired[k] = Node("fnma" if subtract else "fma", (*right, a))
        elif left is not None:
            paired[k] = Node("fms" if subtract else "fma", (*left, b))
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
        args = node.args if node.kind == "input" else tuple(place[a] for a in node.args)
        kept.append(Node(node.kind, args, node.op, node.value))
    return kept, [{e: place[p] for e, p in output.items()} for output in outputs]
