"""The loop around a graph: a tile of W rows is transposed into vectors, computed on, stored back.

One lane of a vector is one row. The rows of the last tile that are missing are copies of the last
row; such a tile is read from a pad and written to one, so the body is written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, Emitter, counted_loop, i64
from linkwork.compile.finite import FiniteTest, exact, to_be_tested
from linkwork.compile.graph import Graph, Node
from linkwork.compile.stores import Stores
from linkwork.compile.transpose import columns_of, cover, prefetch, read_block

LONGEST_WHOLE, LONGEST_PART = 4_500, 3_000
"""Assignments that are written into one function, and of a part of a graph that has more: values
that parts pass through memory cost a graph that is cut in two up to half of its speed."""

_STACK = 8192
"""float64 numbers that tiles and pads may take of the stack: 64 KB."""

STACK_OF_ONE = 16_384
"""The same for a single row whose caller may give scratch: with it, there is no fast call."""

_WIDE_INPUT, _TILES_AHEAD = 16, 2
"""Rows of so many numbers are prefetched so many tiles ahead; shorter ones gain nothing by it."""

_MANY = 64
"""The number of unused elements of an input from which a loop finds those that are not finite.

It reads one after the other, which needs no prefetching."""


@dataclass(frozen=True)
class RowsCode:
    """A native function over rows, and how many float64 numbers of scratch its caller provides."""

    function: Any
    scratch: int


@dataclass(frozen=True)
class _Parts:
    """A long graph cut into parts, which pass values through memory."""

    bounds: list[tuple[int, int]]  # the assignments of each part
    slots: dict[int, int]  # where the values stand that a later part, or a result, needs
    length: int  # of the memory, in values


def cut(graph: Graph) -> _Parts | None:
    """The parts that a graph is cut into; None where it is short enough for one function.

    The time that LLVM takes for a function grows faster than its length.
    """
    n = len(graph.nodes)
    if n <= LONGEST_WHOLE:
        return None
    n_parts = -(-n // LONGEST_PART)
    edges = [n * k // n_parts for k in range(n_parts + 1)]
    part = [k for k in range(n_parts) for _ in range(edges[k + 1] - edges[k])]
    last = _last_uses(graph, part, n_parts)
    slots: dict[int, int] = {}
    free: list[int] = []
    leaving: list[list[int]] = [[] for _ in range(n_parts + 1)]
    length = 0
    for k, node in enumerate(graph.nodes):
        if k and part[k] > part[k - 1]:
            free += leaving[part[k - 1]]
        if node.kind == "const" or (node.kind != "input" and last[k] == part[k]):
            continue
        if node.kind == "input" or not free:  # inputs stand there before the first part
            slots[k], length = length, length + 1
        else:
            slots[k] = free.pop()
        leaving[last[k]].append(slots[k])
    return _Parts(list(pairwise(edges)), slots, length)


def _last_uses(graph: Graph, part: list[int], n_parts: int) -> list[int]:
    """The part that needs each value last; one more than there are where it is a result."""
    last = part.copy()
    for k, node in enumerate(graph.nodes):
        if node.kind != "input":
            for argument in node.args:
                last[argument] = part[k]
    for output in graph.outputs:
        for position in output.values():
            last[position] = n_parts
    return last


def emit_nodes(
    emitter: Emitter,
    graph: Graph,
    load: Callable[[int, int], Any],
    store: Callable[[int, int, Any], None],
    *,
    after: Callable[[int], None] | None = None,
    memory: Callable[[int], Any] | None = None,
) -> None:
    """Write the graph's assignments.

    ``load(input, element)`` is asked at the first use, ``store(output, element, value)`` told as
    soon as a value is there: long lives in registers make large kernels slow to compile and to run.
    ``after`` is told the position of each assignment once it is written. ``memory(n)`` gives room
    for n values, which a graph that is cut into parts needs; by default it is on the stack.
    """
    parts = cut(graph)
    room: Any = None
    if parts is not None:
        room = (memory or partial(_on_stack, emitter))(parts.length)
        _emit_parts(emitter, graph, parts, load, room)
    wanted: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(graph.outputs):
        for element, position in output.items():
            wanted.setdefault(position, []).append((k, element))
    values: dict[int, Any] = {}
    for position, node in enumerate(graph.nodes):
        if parts is None or (position in wanted and node.kind == "const"):
            values[position] = _emit_node(emitter, node, values, load)
        elif position in wanted:
            values[position] = _value_at(emitter, room, parts.slots[position])
        for k, element in wanted.get(position, ()):
            store(k, element, values[position])
        if after is not None:
            after(position)


def _on_stack(emitter: Emitter, length: int) -> Any:
    b = emitter.builder
    kind: Any = ir.VectorType(F64, emitter.width) if emitter.width > 1 else F64
    with b.goto_entry_block():
        room = b.alloca(kind, size=length)
    room.align = 64
    return room


def _value_at(emitter: Emitter, room: Any, slot: int) -> Any:
    b = emitter.builder
    return b.load(b.gep(room, [i64(slot)]))


def _emit_parts(
    emitter: Emitter, graph: Graph, parts: _Parts, load: Callable[[int, int], Any], room: Any
) -> None:
    """Put the inputs into memory, then write and call one function for each part."""
    b = emitter.builder
    for position, node in enumerate(graph.nodes):
        if node.kind == "input":
            b.store(load(*node.args), b.gep(room, [i64(parts.slots[position])]))
    module = b.function.module
    kind = ir.FunctionType(ir.VoidType(), [room.type])
    for first, last in parts.bounds:
        part = ir.Function(module, kind, module.get_unique_name(f"{b.function.name}_part"))
        part.linkage = "internal"
        part.attributes.add("noinline")
        own = Emitter(ir.IRBuilder(part.append_basic_block()), emitter.width, fused=emitter.fused)
        values = _Values(own, graph, parts.slots, part.args[0])
        for position in range(first, last):
            node = graph.nodes[position]
            if node.kind in ("input", "const"):
                continue
            values[position] = _emit_node(own, node, values, load)
            if position in parts.slots:
                place = own.builder.gep(part.args[0], [i64(parts.slots[position])])
                own.builder.store(values[position], place)
        own.builder.ret_void()
        b.call(part, [room])


class _Values(dict[int, Any]):
    """The values of one part: constants and what is in memory come at their first use."""

    def __init__(self, emitter: Emitter, graph: Graph, slots: dict[int, int], room: Any) -> None:
        super().__init__()
        self._emitter, self._nodes, self._slots, self._room = emitter, graph.nodes, slots, room

    def __missing__(self, position: int) -> Any:
        node = self._nodes[position]
        if node.kind == "const":
            value = self._emitter.const(node.value)
        else:
            value = _value_at(self._emitter, self._room, self._slots[position])
        self[position] = value
        return value


def _emit_node(
    emitter: Emitter, node: Node, values: Mapping[int, Any], load: Callable[[int, int], Any]
) -> Any:
    if node.kind == "input":
        return load(*node.args)
    if node.op is None:
        return emitter.const(node.value)
    return node.op.emit(emitter, *[values[a] for a in node.args])


@dataclass
class Frame:
    """The arrays of a native function and, at widths above 1, its tiles and pads."""

    width: int
    n_in: int
    sizes: tuple[int, ...]  # columns of the inputs, then of the outputs
    arrays: Sequence[Any]
    tiles: list[Any]  # at least one for each input
    pads: list[Any]  # one for each array
    memory: Any  # for the parts of a long graph


def emit_rows(module: Any, graph: Graph, width: int, name: str, *, fused: bool) -> RowsCode:
    """Write ``i64 name(i64 first, i64 last, double* in..., double* out..., double* scratch)``.

    It computes the rows from ``first`` to ``last`` - 1 of row-major arrays and returns -1, or the
    first row of the first tile in which an input or a result is not finite. ``scratch`` is as long
    as the result says, aligned to 64 bytes; it may be null where that is 0.
    """
    parts = cut(graph)
    length = 0 if parts is None else parts.length
    room = Room(graph.input_sizes, graph.output_sizes, width, length, graph.input_sizes)

    def compute(b: Any, frame: Frame, places: list[Any]) -> Any:
        return _compute_tile(Emitter(b, width, fused=fused), graph, frame, places)

    return emit_tiles(module, name, room, compute)


@dataclass(frozen=True)
class Room:
    """The columns of inputs and outputs, and the memory that a tile takes."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    width: int
    length: int  # values, besides tiles and pads
    tiles: tuple[int, ...]  # values of each tile, at widths above 1

    in_scratch: bool = False  # whether also a single row may ask its caller for memory

    @property
    def sizes(self) -> tuple[int, ...]:
        """The columns of all arrays."""
        return (*self.inputs, *self.outputs)


def emit_tiles(
    module: Any, name: str, room: Room, compute: Callable[[Any, Frame, list[Any]], Any]
) -> RowsCode:
    """The function of `emit_rows`; ``compute(builder, frame, places)`` writes one tile.

    ``places`` are where the rows of the tile begin in each array; the result is a bit, "something
    may not be finite".
    """
    width, sizes, n_in = room.width, room.sizes, len(room.inputs)
    kind = ir.FunctionType(I64, [I64, I64] + [POINTER] * (len(sizes) + 1))
    function = ir.Function(module, kind, name)
    for argument in function.args[2:]:
        argument.add_attribute("noalias")
    first, last, *arrays, scratch = function.args

    entry = ir.IRBuilder(function.append_basic_block("entry"))
    tiles, pads, memory, needed = _memory(entry, room, scratch)
    frame = Frame(width, n_in, sizes, arrays, tiles, pads, memory)
    head = function.append_basic_block("tile")
    done = function.append_basic_block("done")
    entry.cbranch(entry.icmp_signed("<", first, last), head, done)
    b = ir.IRBuilder(head)
    row = b.phi(I64)
    row.add_incoming(first, entry.block)
    following = b.add(row, i64(width))
    places = [_row(b, a, row, size) for a, size in zip(arrays, sizes, strict=True)]
    left: Any = None
    if width > 1:
        left = b.sub(last, row)
        places = _padded(b, frame, places, left)
    failed = compute(b, frame, places)
    with b.if_then(failed, likely=False):
        with b.if_then(exact(b, places, [width * size for size in sizes])):
            b.ret(row)
    if width > 1:
        _unpad(b, frame, row, left)
    row.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, last), head, done)
    ir.IRBuilder(done).ret(i64(-1))
    return RowsCode(function, needed)


def _row(b: Any, array: Any, row: Any, size: int) -> Any:
    """Where a row begins."""
    return b.gep(array, [b.mul(row, i64(size))])


def _memory(entry: Any, room: Room, scratch: Any) -> tuple[list[Any], list[Any], Any, int]:
    """Tiles, pads and other memory: on the stack or, where they are large, in the scratch.

    A single row needs neither tiles nor pads.
    """
    width = room.width
    vector: Any = ir.VectorType(F64, width) if width > 1 else F64
    counts = [width * size for size in (*room.tiles, *room.sizes, room.length)]
    if width == 1:
        counts[:-1] = [0] * (len(counts) - 1)
    most = _STACK if width > 1 else STACK_OF_ONE if room.in_scratch else math.inf
    needed = sum(counts) if sum(counts) > most else 0
    places: list[Any] = []
    for k, count in enumerate(counts):
        if needed:
            places.append(entry.gep(scratch, [i64(sum(counts[:k]))]))
        elif count:
            place: Any = entry.alloca(F64, size=count)
            place.align = 64
            places.append(place)
        else:
            places.append(ir.Constant(POINTER, None))
    *places, memory = [entry.bitcast(p, vector.as_pointer()) for p in places]
    n_tiles = len(room.tiles)
    pads = [entry.bitcast(p, POINTER) for p in places[n_tiles:]]
    return places[:n_tiles], pads, memory, needed


def copy(b: Any, source: Any, target: Any, count: Any) -> None:
    """Write a copy of so many numbers, at least one."""
    counted_loop(b, count, lambda k: b.store(b.load(b.gep(source, [k])), b.gep(target, [k])))


def _padded(b: Any, frame: Frame, places: list[Any], left: Any) -> list[Any]:
    """Where the rows of the tile are: in the arrays, or in the pads where some are missing."""
    before = b.block
    with b.if_then(b.icmp_signed("<", left, i64(frame.width)), likely=False):
        for size, place, pad in zip(frame.sizes[: frame.n_in], places, frame.pads, strict=False):
            if not size:
                continue
            copy(b, place, pad, b.mul(left, i64(size)))
            last = _row(b, place, b.sub(left, i64(1)), size)
            counted_loop(
                b,
                b.sub(i64(frame.width), left),
                lambda k, last=last, pad=pad, size=size: copy(
                    b, last, _row(b, pad, b.add(left, k), size), i64(size)
                ),
            )
        there = b.block
    chosen: list[Any] = []
    for place, pad in zip(places, frame.pads, strict=True):
        phi = b.phi(POINTER)
        phi.add_incoming(place, before)
        phi.add_incoming(pad, there)
        chosen.append(phi)
    return chosen


def _unpad(b: Any, frame: Frame, row: Any, left: Any) -> None:
    """Copy the rows that there are from the pads of the outputs."""
    with b.if_then(b.icmp_signed("<", left, i64(frame.width)), likely=False):
        outputs = slice(frame.n_in, None)
        for size, array, pad in zip(
            frame.sizes[outputs], frame.arrays[outputs], frame.pads[outputs], strict=True
        ):
            if size:
                copy(b, pad, _row(b, array, row, size), b.mul(left, i64(size)))


def _compute_tile(emitter: Emitter, graph: Graph, frame: Frame, places: list[Any]) -> Any:
    """Write the body of the loop; returns the bit "something may not be finite"."""
    b = emitter.builder
    test = FiniteTest(emitter)
    tested, elements = to_be_tested(graph)
    inputs = _Inputs(b, graph, frame, places, test)
    inputs.begin(elements)
    stores = Stores(emitter, graph, places[frame.n_in :])
    for value in stores.constants_not_finite():
        test.add(emitter.const(value))

    def store(output: int, element: int, value: Any) -> None:
        position = graph.outputs[output][element]
        if position in tested:
            tested.remove(position)
            test.add(value)
        stores.put(output, element, value)

    emit_nodes(
        emitter, graph, inputs.load, store, after=stores.after, memory=lambda _: frame.memory
    )
    stores.finish()
    return test.failed()


class _Inputs:
    """Writes the loads of one tile, and the test of what no result shows to be finite."""

    def __init__(
        self, b: Any, graph: Graph, frame: Frame, places: list[Any], test: FiniteTest
    ) -> None:
        self._b, self._frame, self._places, self._test = b, frame, places, test
        self._used: list[set[int]] = [set() for _ in graph.input_sizes]
        for node in graph.nodes:
            if node.kind == "input":
                self._used[node.args[0]].add(node.args[1])

    def begin(self, elements: list[set[int]]) -> None:
        """Transpose what is used into the tiles; ``elements`` of each input are tested."""
        width = self._frame.width
        for k, size in enumerate(self._frame.sizes[: self._frame.n_in]):
            tested = elements[k]
            if len(tested - self._used[k]) > _MANY:
                self._test.add_all(self._places[k], width * size)
                tested = set[int]()
            elif width > 1 and size >= _WIDE_INPUT:
                count = width * size
                for write in prefetch(
                    self._b, self._places[k], _TILES_AHEAD * count, count, write=False
                ):
                    write()
            stored: set[int] = set()
            for start, n in cover(0, size, width):
                columns = set(range(start, start + n)) - stored
                self._block(k, start, n, columns, tested & columns)
                stored |= columns

    def _block(self, k: int, start: int, n: int, columns: set[int], untested: set[int]) -> None:
        """One block; of neighbours that overlap, only the ``columns`` that are new."""
        b, width = self._b, self._frame.width
        used = self._used[k] & columns
        if not used and not untested:
            return
        pieces = read_block(b, self._places[k], self._frame.sizes[k], start, n, width)
        if untested - used:  # the columns need not be separated for the test
            for piece in pieces:
                self._test.add(piece)
            untested = set()
        values = columns_of(b, pieces, width)
        for c in sorted(used):
            if c in untested:
                self._test.add(values[c - start])
            if width > 1:
                b.store(values[c - start], b.gep(self._frame.tiles[k], [i64(c)]))

    def load(self, argument: int, element: int) -> Any:
        """The value of one element."""
        at = self._frame.tiles if self._frame.width > 1 else self._places
        return self._b.load(self._b.gep(at[argument], [i64(element)]))
