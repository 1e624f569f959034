"""The loop around a graph: W rows are transposed into tiles, computed on, transposed back.

The native function is ``i64 rows(i64 first, i64 last, double* in_0, ..., double* out_0, ...)`` on
row-major arrays; it computes the rows from ``first`` to ``last`` - 1, a whole number of tiles, and
returns -1, or the first row of the first tile in which an input or a result is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I32, I64, POINTER, Emitter, i64
from linkwork.compile.graph import Graph, Node


def emit_nodes(
    emitter: Emitter,
    graph: Graph,
    load: Callable[[int, int], Any],
    store: Callable[[int, int, Any], None],
) -> None:
    """Write the graph's assignments.

    ``load(input, element)`` is asked at the first use, ``store(output, element, value)`` told as
    soon as a value is there: long lives in registers make large kernels slow to compile and to run.
    """
    wanted: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(graph.outputs):
        for element, position in output.items():
            wanted.setdefault(position, []).append((k, element))
    values: list[Any] = []
    for position, node in enumerate(graph.nodes):
        values.append(_emit_node(emitter, node, values, load))
        for k, element in wanted.get(position, ()):
            store(k, element, values[position])


def _emit_node(
    emitter: Emitter, node: Node, values: list[Any], load: Callable[[int, int], Any]
) -> Any:
    if node.kind == "input":
        return load(*node.args)
    if node.kind == "const":
        return emitter.const(node.value)
    args = [values[a] for a in node.args]
    if node.op is None:
        return getattr(emitter, node.kind)(*args)
    if node.op.emit is not None:
        return node.op.emit(emitter, *args)
    return emitter.lanes(node.op.libm, *args)


def counted_loop(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Write ``for k in range(count): body(k)``; a count of at least 1."""
    function = builder.function
    before = builder.block
    head = function.append_basic_block()
    after = function.append_basic_block()
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(I64)
    k.add_incoming(i64(0), before)
    body(k)
    following = builder.add(k, i64(1))
    k.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), head, after)
    builder.position_at_end(after)


def gather_rows(builder: Any, source: Any, tile: Any, n: int, width: int) -> None:
    """Transpose ``width`` rows of n numbers into a tile of n vectors."""
    if n == 0:
        return
    vector = tile.type.pointee

    def column(k: Any) -> None:
        if width == 1:
            value = builder.load(builder.gep(source, [k]))
        else:
            value = ir.Constant(vector, ir.Undefined)
            for lane in range(width):
                at = builder.gep(source, [builder.add(k, i64(lane * n))])
                value = builder.insert_element(value, builder.load(at), ir.Constant(I32, lane))
        builder.store(value, builder.gep(tile, [k]))

    counted_loop(builder, i64(n), column)


def scatter_rows(builder: Any, tile: Any, target: Any, n: int, width: int) -> None:
    """Transpose a tile of n vectors into ``width`` rows of n numbers."""
    if n == 0:
        return

    def column(k: Any) -> None:
        value = builder.load(builder.gep(tile, [k]))
        if width == 1:
            builder.store(value, builder.gep(target, [k]))
            return
        for lane in range(width):
            at = builder.gep(target, [builder.add(k, i64(lane * n))])
            builder.store(builder.extract_element(value, ir.Constant(I32, lane)), at)

    counted_loop(builder, i64(n), column)


class _FiniteTest:
    """Finds values that are not finite: only then is a sum of x 0 not 0."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._partial = [emitter.const(0.0)] * 4  # short chains: the test must not wait for itself
        self._turn = 0

    def add(self, value: Any) -> None:
        """Take one more value into the sum."""
        k = self._turn = (self._turn + 1) % 4
        self._partial[k] = self._emitter.fma(value, self._emitter.const(0.0), self._partial[k])

    def failed(self) -> Any:
        """A bit that is set where some value, in some lane, is not finite."""
        e = self._emitter
        total = e.add(e.add(*self._partial[:2]), e.add(*self._partial[2:]))
        return e.any_lane(e.builder.fcmp_unordered("uno", total, total))


def _split_outputs(graph: Graph) -> list[tuple[dict[int, float], dict[int, int]]]:
    """Per output: the elements that never change, and those that are computed."""
    split: list[tuple[dict[int, float], dict[int, int]]] = []
    for size, elements in zip(graph.output_sizes, graph.outputs, strict=True):
        fixed = {e: 0.0 for e in range(size) if e not in elements}
        computed: dict[int, int] = {}
        for e, position in elements.items():
            node = graph.nodes[position]
            if node.kind == "const":
                fixed[e] = node.value
            else:
                computed[e] = position
        split.append((fixed, computed))
    return split


def emit_rows(module: Any, graph: Graph, width: int, name: str, *, fused: bool) -> Any:
    """Write the native function ``name`` for a graph."""
    n_in, n_out = len(graph.input_sizes), len(graph.output_sizes)
    kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (n_in + n_out))
    function = ir.Function(module, kind, name)
    for argument in function.args[2:]:
        argument.add_attribute("noalias")
    first, last = function.args[:2]
    sources, targets = function.args[2 : 2 + n_in], function.args[2 + n_in :]
    vector: Any = ir.VectorType(F64, width) if width > 1 else F64

    entry = ir.IRBuilder(function.append_basic_block("entry"))
    tiles: list[Any] = []
    for size in (*graph.input_sizes, *graph.output_sizes):
        tile: Any = entry.alloca(vector, size=max(size, 1))
        tile.align = 64
        tiles.append(tile)
    split = _split_outputs(graph)
    constants = Emitter(entry, width, fused=fused)
    for tile, (fixed, _) in zip(tiles[n_in:], split, strict=True):
        for element, value in fixed.items():
            entry.store(constants.const(value), entry.gep(tile, [i64(element)]))

    head = function.append_basic_block("tile")
    done = function.append_basic_block("done")
    entry.cbranch(entry.icmp_signed("<", first, last), head, done)
    b = ir.IRBuilder(head)
    row = b.phi(I64)
    row.add_incoming(first, entry.block)
    for size, source, tile in zip(graph.input_sizes, sources, tiles[:n_in], strict=True):
        gather_rows(b, b.gep(source, [b.mul(row, i64(size))]), tile, size, width)
    emitter = Emitter(b, width, fused=fused)
    bad = _compute_tile(emitter, graph, tiles, split)
    for size, target, tile in zip(graph.output_sizes, targets, tiles[n_in:], strict=True):
        scatter_rows(b, tile, b.gep(target, [b.mul(row, i64(size))]), size, width)
    with b.if_then(bad, likely=False):
        b.ret(row)
    following = b.add(row, i64(width))
    row.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, last), head, done)
    ir.IRBuilder(done).ret(i64(-1))
    return function


def _compute_tile(
    emitter: Emitter,
    graph: Graph,
    tiles: list[Any],
    split: list[tuple[dict[int, float], dict[int, int]]],
) -> Any:
    """Write the body between the tiles; returns the bit "something was not finite"."""
    b = emitter.builder
    n_in = len(graph.input_sizes)
    test = _FiniteTest(emitter)

    def load(argument: int, element: int) -> Any:
        value = b.load(b.gep(tiles[argument], [i64(element)]))
        test.add(value)
        used.add((argument, element))
        return value

    def store(output: int, element: int, value: Any) -> None:
        if element in split[output][1]:
            b.store(value, b.gep(tiles[n_in + output], [i64(element)]))
            test.add(value)

    used: set[tuple[int, int]] = set()
    emit_nodes(emitter, graph, load, store)
    for argument, size in enumerate(graph.input_sizes):
        for element in range(size):
            if (argument, element) not in used:
                load(argument, element)
    return test.failed()
