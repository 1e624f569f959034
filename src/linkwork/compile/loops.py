"""The loop around a graph: a tile of W rows is transposed into vectors, computed on, stored back.

One lane of a vector is one row. The rows of the last tile that are missing are copies of the last
row; such a tile is read from a pad and written to one, so the body is written once.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I1, I32, I64, POINTER, Emitter, counted_loop, i64
from linkwork.compile.graph import Graph, Node
from linkwork.compile.optable import PAIRED

LONGEST_WHOLE, LONGEST_PART = 4_500, 700
"""Instructions of a graph that are written into one function, and of a part of a longer one."""

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
    slots: dict[int, int]  # where the values stand that a later part needs
    length: int  # of the memory, in values


class Ports:
    """The places that a graph's inputs are loaded from and its results stored at, as pointers.

    A long graph is cut into functions, each of which is given the ``pointers``: those of the
    inputs, then those of the outputs, to one value of the emitter's type for each number.
    """

    def __init__(
        self, graph: Graph, b: Any = None, pointers: Sequence[Any] = (), align: int | None = None
    ) -> None:
        self.graph, self.b, self.pointers = graph, b, list(pointers)
        self._align = align
        self.test: FiniteTest | None = None
        self.values: Mapping[int, Any] = {}  # by position, in the function that is being written

    def load(self, argument: int, element: int) -> Any:
        """The value of an input, asked for at its first use."""
        b = self.b
        return b.load(b.gep(self.pointers[argument], [i64(element)]), align=self._align)

    def store(self, output: int, element: int, value: Any) -> None:
        """Take a result as soon as it is there.

        Long lives in registers make large kernels slow to compile and to run.
        """
        b, at = self.b, len(self.graph.input_sizes) + output
        b.store(value, b.gep(self.pointers[at], [i64(element)]), align=self._align)

    def after(self, position: int) -> None:
        """Write what is due after an assignment."""

    def clear(self, zero: Any) -> None:
        """Store the results that are zero whatever the inputs are."""
        graph = self.graph
        for output, (size, known) in enumerate(zip(graph.output_sizes, graph.outputs, strict=True)):
            for element in range(size):
                if element not in known:
                    self.store(output, element, zero)

    @property
    def needed_until(self) -> Mapping[int, int]:
        """The assignments after which a value is asked for once more, by its position."""
        return {}

    @property
    def work(self) -> Mapping[int, int]:
        """The instructions that follow an assignment, besides its own."""
        return Counter(p for output in self.graph.outputs for p in output.values())

    @cached_property
    def parts(self) -> _Parts | None:
        """The parts that the graph is cut into; None where it is short enough for one function.

        The time that LLVM takes for a function grows faster than its length.
        """
        graph, work = self.graph, self.work
        ends = list(accumulate(1 + work.get(k, 0) for k in range(len(graph.nodes))))
        if not ends or ends[-1] <= LONGEST_WHOLE:
            return None
        n_parts = -(-ends[-1] // LONGEST_PART)
        edges = [bisect_right(ends, ends[-1] * k // n_parts) for k in range(n_parts)]
        edges = sorted({*edges, len(ends)})
        part = [k for k, (first, last) in enumerate(pairwise(edges)) for _ in range(first, last)]
        last = part.copy()  # the part that needs each value last
        for k, node in enumerate(graph.nodes):
            if node.kind != "input":
                for argument in node.args:
                    last[argument] = part[k]
        for k, later in self.needed_until.items():
            last[k] = max(last[k], part[later])
        slots: dict[int, int] = {}
        free: list[int] = []
        leaving: list[list[int]] = [[] for _ in edges]
        length = 0
        for k, node in enumerate(graph.nodes):
            if k and part[k] > part[k - 1]:
                free += leaving[part[k - 1]]
            if node.kind != "op" or last[k] == part[k]:
                continue
            if free:
                slots[k] = free.pop()
            else:
                slots[k], length = length, length + 1
            leaving[last[k]].append(slots[k])
        return _Parts(list(pairwise(edges)), slots, length)


def emit_nodes(emitter: Emitter, ports: Ports, *, room: Any = None, whole: bool = False) -> None:
    """Write the assignments of a graph, into one function or into parts that it calls.

    ``room`` is memory for as many values as the parts need, by default on the stack. ``whole`` is
    for ports that cannot be reached from another function.
    """
    graph, parts = ports.graph, None if whole else ports.parts
    wanted: dict[int, list[tuple[int, int]]] = {}
    for k, output in enumerate(graph.outputs):
        for element, position in output.items():
            wanted.setdefault(position, []).append((k, element))
    ports.values = values = _Values(emitter, ports, parts)

    def write(first: int, last: int) -> None:
        for position in range(first, last):
            node = graph.nodes[position]
            if parts is None or node.kind == "op":
                values[position] = _emit_node(emitter, node, values, ports.load)
                values.keep(position)
            for k, element in wanted.get(position, ()):
                ports.store(k, element, values[position])
            ports.after(position)

    if parts is None:
        write(0, len(graph.nodes))
        return
    memory = _on_stack(emitter, parts.length) if room is None else room
    for bounds in parts.bounds:
        with _part(emitter, ports, memory) as there:
            values.enter(there)
            write(*bounds)


@contextmanager
def _part(emitter: Emitter, ports: Ports, memory: Any) -> Generator[Any]:
    """A function that is written inside of this block, and then called; its memory.

    It returns the sum of what is tested in it.
    """
    b, test, pointers = emitter.builder, ports.test or FiniteTest(emitter), ports.pointers
    kind = ir.FunctionType(emitter.type, [memory.type, *[pointer.type for pointer in pointers]])
    name = b.module.get_unique_name(f"{b.function.name}_part")
    part: Any = ir.Function(b.module, kind, name)
    part.linkage = "internal"
    part.attributes.add("noinline")
    for argument in part.args:
        argument.add_attribute("noalias")
    there, *ports.pointers = part.args
    with b.goto_block(part.append_basic_block()), test.apart():
        yield there
        b.ret(test.total())
    ports.pointers = pointers
    test.add(b.call(part, [memory, *pointers]))


def _on_stack(emitter: Emitter, length: int) -> Any:
    b = emitter.builder
    with b.goto_entry_block():
        room = b.alloca(emitter.type, size=max(length, 1))
    room.align = 64
    return room


class _Values(dict[int, Any]):
    """The values of one function: in a part, what is not of it comes at its first use."""

    def __init__(self, emitter: Emitter, ports: Ports, parts: _Parts | None) -> None:
        super().__init__()
        self._emitter, self._ports, self._room = emitter, ports, None
        self._slots = {} if parts is None else parts.slots

    def enter(self, room: Any) -> None:
        """Begin another part, which finds values of those before it in ``room``."""
        self.clear()
        self._room = room

    def keep(self, position: int) -> None:
        """Put a value that a later part needs into memory."""
        if position in self._slots:
            self._emitter.builder.store(self[position], self._place(position))

    def _place(self, position: int) -> Any:
        return self._emitter.builder.gep(self._room, [i64(self._slots[position])])

    def __missing__(self, position: int) -> Any:
        node = self._ports.graph.nodes[position]
        if node.kind == "op":
            self[position] = self._emitter.builder.load(self._place(position))
        else:
            self[position] = _emit_node(self._emitter, node, self, self._ports.load)
        return self[position]


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
    ports = _RowPorts(graph, width)
    length = 0 if ports.parts is None else ports.parts.length
    room = Room(graph.input_sizes, graph.output_sizes, width, length, graph.input_sizes)

    def compute(b: Any, frame: Frame, places: list[Any]) -> Any:
        return _compute_tile(Emitter(b, width, fused=fused), ports, frame, places)

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


def emit_listed(module: Any, rows: Any) -> None:
    """The function "listed": as ``rows``, of a list of the addresses of its arrays and scratch."""
    kind = ir.FunctionType(I64, [I64, I64, POINTER.as_pointer()])
    function = ir.Function(module, kind, "listed")
    first, last, arrays = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    given = [b.load(b.gep(arrays, [i64(k)])) for k in range(len(rows.args) - 2)]
    b.ret(b.call(rows, [first, last, *given], attrs=("noinline",)))


def _row(b: Any, array: Any, row: Any, size: int) -> Any:
    """The address at which a row begins."""
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
    """The places of the tile's rows: in the arrays, or in the pads where some are missing."""
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


def _compute_tile(emitter: Emitter, ports: _RowPorts, frame: Frame, places: list[Any]) -> Any:
    """Write the body of the loop; returns the bit "something may not be finite"."""
    graph, test = ports.graph, FiniteTest(emitter)
    tested, elements = to_be_tested(graph)
    _read(emitter.builder, graph, frame, places, test, elements)
    test.add_each(emitter.const(value) for value in ports.constants_not_finite())
    inputs = frame.tiles if frame.width > 1 else places[: frame.n_in]
    ports.begin(emitter, [*inputs[: frame.n_in], *places[frame.n_in :]], test, tested)
    emit_nodes(emitter, ports, room=frame.memory)
    ports.finish()
    return test.failed()


def _used(graph: Graph) -> list[set[int]]:
    """The elements of each input that something is computed from."""
    used: list[set[int]] = [set() for _ in graph.input_sizes]
    for node in graph.nodes:
        if node.kind == "input":
            used[node.args[0]].add(node.args[1])
    return used


def _read(
    b: Any,
    graph: Graph,
    frame: Frame,
    places: list[Any],
    test: FiniteTest,
    elements: list[set[int]],
) -> None:
    """Transpose what is used into the tiles; ``elements`` of each input are tested."""
    width, used = frame.width, _used(graph)
    for k, size in enumerate(frame.sizes[: frame.n_in]):
        tested = elements[k]
        if len(tested - used[k]) > _MANY:
            test.add_all(places[k], width * size)
            tested = set[int]()
        elif width > 1 and size >= _WIDE_INPUT:
            count = width * size
            for at in range(_TILES_AHEAD * count, (_TILES_AHEAD + 1) * count, _LINE):
                prefetch(b, places[k], at, write=False)
        stored: set[int] = set()
        for start, n in cover(0, size, width):
            columns = set(range(start, start + n)) - stored  # of blocks that overlap, the new ones
            stored |= columns
            loaded, untested = used[k] & columns, tested & columns
            if not loaded and not untested:
                continue
            pieces = read_block(b, places[k], size, start, n, width)
            if untested - loaded:  # the columns need not be separated for the test
                test.add_each(pieces)
                untested = set[int]()
            values = columns_of(b, pieces, width)
            test.add_each(values[c - start] for c in sorted(untested))
            for c in sorted(loaded) if width > 1 else ():
                b.store(values[c - start], b.gep(frame.tiles[k], [i64(c)]))


# --- inputs and results that are not finite: found at little cost, without missing one ---

_SPREADING = frozenset({"ADD", "SUB", "MUL", "NEG", "SIN", "COS", *PAIRED})
"""Operations whose result is not finite whenever an argument is not."""


def to_be_tested(graph: Graph) -> tuple[set[int], list[set[int]]]:
    """The positions of results, and the elements of each input, that have to be looked at.

    Where a value goes into another one through operations that spread infinities and NaN, and
    that other one is looked at, the value itself need not be.
    """
    results = {p for output in graph.outputs for p in output.values()}
    shown = [False] * len(graph.nodes)  # whether what is looked at tells if the value is finite
    tested: set[int] = set()
    elements = [set(range(size)) for size in graph.input_sizes]
    for position in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[position]
        if position in results and not shown[position] and node.kind not in ("input", "const"):
            tested.add(position)
            shown[position] = True
        if not shown[position]:
            continue
        if node.kind == "input":
            elements[node.args[0]].discard(node.args[1])
        elif node.op is not None and node.op.name in _SPREADING:
            for argument in node.args:
                shown[argument] = True
    return tested, elements


LONG = 8
"""Numbers that a loop takes at once where rows are computed one by one."""


class FiniteTest:
    """Sums values: a sum that is finite shows that they all are; one that is not calls for `exact`.

    Plain sums keep the multipliers free, and may overflow without harm.
    """

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._sums: list[Any] = [None] * 4  # short chains: the test must not wait for itself
        self._turn = 0

    def add(self, value: Any) -> None:
        """Take one more value into a sum."""
        k = self._turn = (self._turn + 1) % len(self._sums)
        known = self._sums[k]
        self._sums[k] = value if known is None else self._emitter.add(known, value)

    def add_each(self, values: Iterable[Any]) -> None:
        """Take several values into sums."""
        for value in values:
            self.add(value)

    def add_all(self, place: Any, count: int) -> None:
        """Take this many numbers that lie at a place, by a loop; at least `LONG` of them."""
        b, width = self._emitter.builder, self._emitter.width
        lanes = width if width > 1 else LONG
        kind: Any = ir.VectorType(F64, lanes)

        def run(k: Any) -> Any:
            at, last = b.mul(k, i64(lanes)), i64(count - lanes)
            start = b.select(b.icmp_signed("<", at, last), at, last)  # the last run may overlap
            return b.load(b.bitcast(b.gep(place, [start]), kind.as_pointer()), align=8)

        turns, zeros = i64(-(-count // lanes)), ir.Constant(kind, [0.0] * lanes)
        (total,) = counted_loop(b, turns, lambda k, known: [b.fadd(known, run(k))], [zeros])
        parts = [total]
        if width == 1:
            parts = [b.extract_element(total, ir.Constant(I32, lane)) for lane in range(lanes)]
        self.add_each(parts)

    def failed(self) -> Any:
        """A bit that is set where some value, or the sum of some, is not finite."""
        e = self._emitter
        if not any(self._sums):
            return ir.Constant(I1, 0)
        total = self.total()
        nothing = e.sub(total, total)
        return e.any_lane(e.builder.fcmp_unordered("uno", nothing, nothing))

    @contextmanager
    def apart(self) -> Generator[None]:
        """Sums of what is taken inside of this block alone, which writes another function."""
        held, self._sums = self._sums, [None] * len(self._sums)
        yield
        self._sums = held

    def total(self) -> Any:
        """The sum of all that was taken; 0 of nothing."""
        sums = [s for s in self._sums if s is not None]
        total = sums[0] if sums else self._emitter.const(0.0)
        for other in sums[1:]:
            total = self._emitter.add(total, other)
        return total


def exact(b: Any, places: Sequence[Any], counts: Sequence[int]) -> Any:
    """A bit that is set where one of so many numbers at these places is not finite."""
    bad: Any = ir.Constant(I1, 0)
    zero = ir.Constant(F64, 0.0)
    for place, count in zip(places, counts, strict=True):
        if not count:
            continue

        def add(k: Any, known: Any, place: Any = place) -> list[Any]:
            return [b.fadd(known, b.fmul(b.load(b.gep(place, [k])), zero))]  # 0, or NaN

        (total,) = counted_loop(b, i64(count), add, [zero])
        bad = b.or_(bad, b.fcmp_unordered("uno", total, total))
    return bad


# --- stores: each block of results as soon as it is complete ---
#
# What never changes is stored without being computed, spread over the computation, so that memory
# and arithmetic work at once; prefetches for writing the next tile are spread in the same way. Rows
# too long for that are taken in panels of columns, which stay in the cache while they are filled.

_RUN = 8
"""Constants stored at once, at any width: a processor with shorter vectors takes several stores."""

_LONGEST = 512
"""Rows with more columns are taken in panels: 8 rows are then 32 KB, most of the nearest cache."""

_PANEL = 64
"""Columns of a panel."""

_AHEAD, _STORES_AHEAD = 1024, 3
"""The distance by which lines are prefetched ahead of the stores: numbers, and tiles."""


@dataclass
class _Block:
    """Columns of a result that are transposed together."""

    output: int
    start: int
    columns: int
    missing: int  # how many of them are still to be computed


@dataclass
class _Panel:
    """Some columns of a result: blocks that are computed, and runs that never change."""

    output: int
    start: int
    stop: int
    blocks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    runs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    end: int = -1  # the assignment with which the last block is complete


class _RowPorts(Ports):
    """The inputs of one tile, and its results, whose rows are written block by block."""

    def __init__(self, graph: Graph, width: int) -> None:
        super().__init__(graph)
        self._width, self._sizes = width, graph.output_sizes
        self._fixed: list[dict[int, float]] = []
        self._computed: list[dict[int, int]] = []
        for size, elements in zip(graph.output_sizes, graph.outputs, strict=True):
            fixed = {e: 0.0 for e in range(size) if e not in elements}
            for e, position in elements.items():
                if graph.nodes[position].kind == "const":
                    fixed[e] = graph.nodes[position].value
            self._fixed.append(fixed)
            self._computed.append({e: p for e, p in elements.items() if e not in fixed})
        self._waiting: dict[tuple[int, int], list[_Block]] = {}
        self._due: dict[int, list[Callable[[], None]]] = {}
        panels = [p for k, size in enumerate(self._sizes) for p in self._panels(k, size)]
        self._schedule(panels, max(len(graph.nodes) - 1, 0))

    @cached_property
    def _blocks(self) -> list[tuple[int, list[int]]]:
        """The assignment that completes each block, and those of its columns."""
        found: list[tuple[int, list[int]]] = []
        for block in {id(b): b for blocks in self._waiting.values() for b in blocks}.values():
            computed = self._computed[block.output]
            span = range(block.start, block.start + block.columns)
            positions = [computed[c] for c in span if c in computed]
            found.append((max(positions), positions))
        return found

    @property
    def needed_until(self) -> Mapping[int, int]:
        until: dict[int, int] = {}
        for end, positions in self._blocks:
            for position in positions:
                until[position] = max(until.get(position, 0), end)
        return until

    @property
    def work(self) -> Mapping[int, int]:
        work: Counter[int] = Counter()
        for end, positions in self._blocks:
            work[end] += len(positions) if self._width == 1 else 2 * len(positions) + self._width
        return work

    def begin(
        self, emitter: Emitter, pointers: Sequence[Any], test: FiniteTest, tested: set[int]
    ) -> None:
        """Have what follows written by this emitter; the results ``tested`` are looked at."""
        self.b, self.pointers = emitter.builder, list(pointers)
        self.test, self._tested = test, tested
        self._constants = [{e: emitter.const(v) for e, v in f.items()} for f in self._fixed]

    def constants_not_finite(self) -> list[float]:
        """Results that never change and are not finite."""
        return [v for fixed in self._fixed for v in fixed.values() if not math.isfinite(v)]

    def store(self, output: int, element: int, value: Any) -> None:
        """Take a result; store the blocks that are complete with it."""
        places = self.graph.outputs[output]
        if self.test is not None and places[element] in self._tested:
            self._tested.remove(places[element])
            self.test.add(value)
        for block in self._waiting.get((output, element), ()):
            block.missing -= 1
            if not block.missing:
                constants = self._constants[output]
                columns = [
                    constants[c] if c in constants else self.values[places[c]]
                    for c in range(block.start, block.start + block.columns)
                ]
                write_block(self.b, columns, self._place(output), self._sizes[output], block.start)

    def _place(self, output: int) -> Any:
        return self.pointers[len(self.graph.input_sizes) + output]

    def after(self, position: int) -> None:
        """Write what is due after an assignment."""
        for action in self._due.pop(position, ()):
            action()

    def finish(self) -> None:
        """Write what a graph without assignments leaves."""
        for position in sorted(self._due):
            self.after(position)

    def _panels(self, output: int, size: int) -> list[_Panel]:
        """The columns of a result, by panels."""
        step = size if size <= _LONGEST else _PANEL
        computed = self._computed[output]
        panels: list[_Panel] = []
        for start in range(0, size, max(step, 1)):
            panel = _Panel(output, start, min(start + step, size))
            for block in cover(panel.start, panel.stop, self._width):
                self._halve(panel, *block)
            for at, k in panel.blocks:
                columns = [c for c in range(at, at + k) if c in computed]
                panel.end = max(panel.end, *[computed[c] for c in columns])
                block = _Block(output, at, k, len(columns))
                for c in columns:
                    self._waiting.setdefault((output, c), []).append(block)
            inside = {c for at, k in panel.blocks for c in range(at, at + k)}
            run = panel.start
            for c in range(panel.start, panel.stop + 1):
                if c == panel.stop or c in inside:
                    panel.runs += cover(run, c, _RUN)
                    run = c + 1
            panels.append(panel)
        return panels

    def _halve(self, panel: _Panel, start: int, k: int) -> None:
        """Keep a block, or only the half of it in which something is computed."""
        computed = self._computed[panel.output]
        half = k // 2
        halves = [
            (h, any(c in computed for c in range(h, h + half))) for h in (start, start + half)
        ]
        if k > 2 and not all(some for _, some in halves):
            for h, some in halves:
                if some:
                    self._halve(panel, h, half)
        elif any(c in computed for c in range(start, start + k)):
            panel.blocks.append((start, k))

    def _schedule(self, panels: list[_Panel], last: int) -> None:
        """Spread constants over the time in which their panel is computed."""
        begin = 0
        for panel in sorted(panels, key=lambda panel: panel.end):
            span = (begin, panel.end) if panel.blocks else (0, last)
            self._spread(*span, self._runs(panel))
            begin = max(begin, panel.end)
            if self._width > 1 and panel.stop - panel.start == self._sizes[panel.output]:
                self._spread(0, last, self._prefetches(panel.output))

    def _spread(self, begin: int, end: int, actions: list[Callable[[], None]]) -> None:
        for j, action in enumerate(actions, start=1):
            at = begin + j * (end - begin) // (len(actions) + 1)
            self._due.setdefault(at, []).append(action)

    def _runs(self, panel: _Panel) -> list[Callable[[], None]]:
        """Stores of what never changes."""
        output, stride = panel.output, self._sizes[panel.output]
        fixed = self._fixed[output]

        def one(row: int, start: int, k: int) -> Callable[[], None]:
            values = [fixed[c] for c in range(start, start + k)]
            return lambda: write_constants(
                self.b, values, self._place(output), row * stride + start
            )

        return [one(row, *run) for row in range(self._width) for run in panel.runs]

    def _prefetches(self, output: int) -> list[Callable[[], None]]:
        """Prefetches of the lines that a coming tile will write: the next one of long rows."""
        count = self._sizes[output] * self._width
        ahead = max(1, min(_STORES_AHEAD, _AHEAD // max(count, 1)))

        def one(at: int) -> Callable[[], None]:
            return lambda: prefetch(self.b, self._place(output), at, write=True)

        return [one(at) for at in range(ahead * count, (ahead + 1) * count, _LINE)]


# --- register-block transposes: rows of memory to vectors with one row a lane, and back ---
#
# A block is k neighbouring columns of ``width`` rows, k a power of two up to the width. Where the
# columns are no multiple of the width the last block overlaps the one before it: nothing outside
# the rows is ever read or written. At width 1 a block is one number and nothing is transposed.

_LINE = 8  # numbers in a line of the cache
_ALIGN = 8  # bytes: rows of float64 are aligned to one number, no more


def cover(start: int, stop: int, width: int) -> list[tuple[int, int]]:
    """Blocks (first column, columns) that together are the columns from ``start`` to ``stop`` - 1.

    Each has a power of two of columns, up to ``width``; only the last ones overlap others.
    """
    blocks: list[tuple[int, int]] = []
    at = start
    while at < stop:
        left = stop - at
        k = min(width, 1 << (left - 1).bit_length())
        if k > left:
            if k <= stop - start:
                at = stop - k
            else:
                k //= 2
        blocks.append((at, k))
        at += k
    return blocks


def read_block(b: Any, rows: Any, stride: int, column: int, k: int, width: int) -> list[Any]:
    """All numbers of a block in k vectors, as `columns_of` takes them.

    ``rows`` points to the first row, of ``stride`` numbers as all of them.
    """

    def piece(row: int) -> Any:
        return b.load(_place(b, rows, row * stride + column, k), align=_ALIGN)

    if width == 1:
        return [piece(0)]
    if k == 1:
        vector: Any = ir.Constant(ir.VectorType(F64, width), ir.Undefined)
        for row in range(width):
            vector = b.insert_element(vector, piece(row), ir.Constant(I32, row))
        return [vector]
    each = width // k
    return [
        _joined(b, [piece(2 * (pair * each + j) + odd) for j in range(each)])
        for pair in range(k // 2)
        for odd in (0, 1)
    ]


def columns_of(b: Any, pieces: Sequence[Any], width: int) -> list[Any]:
    """The columns of a block, one row a lane: the transpose of what `read_block` gives.

    Vector 2i holds pieces of even rows, vector 2i + 1 those of the rows after them. Numbers are
    unpacked in pairs first, then pairs are separated: on x86 each step is one instruction.
    """
    if len(pieces) == 1:
        return list(pieces)
    low: list[Any] = []
    high: list[Any] = []
    for x, y in zip(pieces[::2], pieces[1::2], strict=True):
        even, odd = _unpacked(b, x, y, width)
        low.append(even)
        high.append(odd)
    columns: list[Any] = [None] * len(pieces)
    columns[::2] = _separated(b, low, width)
    columns[1::2] = _separated(b, high, width)
    return columns


def write_block(b: Any, columns: Sequence[Any], rows: Any, stride: int, column: int) -> None:
    """Store k neighbouring columns, one row a lane, into rows."""
    k = len(columns)
    width = getattr(columns[0].type, "count", 1)
    if width == 1:
        pieces = list(columns)
    elif k == 1:
        pieces = [b.extract_element(columns[0], ir.Constant(I32, row)) for row in range(width)]
    elif k == width:
        pieces = columns_of(b, columns, width)
    else:
        pieces = _narrow_rows(b, columns, width)
    for row, piece in enumerate(pieces):
        b.store(piece, _place(b, rows, row * stride + column, k), align=_ALIGN)


def write_constants(b: Any, values: Sequence[float], rows: Any, at: int) -> None:
    """Store neighbouring numbers that are known now, ``at`` numbers after the first of the rows."""
    k = len(values)
    kind: Any = ir.VectorType(F64, k) if k > 1 else F64
    value = ir.Constant(kind, list(values) if k > 1 else values[0])
    b.store(value, _place(b, rows, at, k), align=_ALIGN)


def prefetch(b: Any, rows: Any, at: int, *, write: bool) -> None:
    """Have the line loaded that lies ``at`` numbers after the first of the rows."""
    byte = ir.IntType(8).as_pointer()
    name = "llvm.prefetch.p0"
    kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
    function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
    how = [ir.Constant(I32, n) for n in (int(write), 3, 1)]  # to be kept in the cache, data
    b.call(function, [b.bitcast(b.gep(rows, [i64(at)]), byte), *how])


def _place(b: Any, rows: Any, at: int, k: int) -> Any:
    """A pointer to k numbers."""
    place = b.gep(rows, [i64(at)])
    return place if k == 1 else b.bitcast(place, ir.VectorType(F64, k).as_pointer())


def _shuffled(b: Any, x: Any, y: Any, picks: Sequence[int]) -> Any:
    """The lanes ``picks`` of x followed by y."""
    mask = ir.Constant(ir.VectorType(I32, len(picks)), [ir.Constant(I32, p) for p in picks])
    return b.shuffle_vector(x, y, mask)


def _unpacked(b: Any, x: Any, y: Any, width: int) -> tuple[Any, Any]:
    """(x0 y0 x2 y2 ...) and (x1 y1 x3 y3 ...)."""
    even = [p for k in range(0, width, 2) for p in (k, width + k)]
    return _shuffled(b, x, y, even), _shuffled(b, x, y, [p + 1 for p in even])


def _separated(b: Any, parts: list[Any], width: int) -> list[Any]:
    """From vectors of pairs of lanes: all first pairs, all second pairs, and so on."""
    if len(parts) == 1:
        return parts
    even = [p for k in range(0, 2 * width, 4) for p in (k, k + 1)]
    odd = [p + 2 for p in even]
    two = list(zip(parts[::2], parts[1::2], strict=True))
    found: list[Any] = [None] * len(parts)
    found[::2] = _separated(b, [_shuffled(b, x, y, even) for x, y in two], width)
    found[1::2] = _separated(b, [_shuffled(b, x, y, odd) for x, y in two], width)
    return found


def _joined(b: Any, parts: list[Any]) -> Any:
    """Vectors one after the other in a longer one."""
    while len(parts) > 1:
        n = 2 * parts[0].type.count
        two = zip(parts[::2], parts[1::2], strict=True)
        parts = [_shuffled(b, x, y, range(n)) for x, y in two]
    return parts[0]


def _narrow_rows(b: Any, columns: Sequence[Any], width: int) -> list[Any]:
    """The rows of 2 columns, or of 4 columns with 8 lanes."""
    k = len(columns)
    each = width // k
    unpacked = [_unpacked(b, x, y, width) for x, y in zip(columns[::2], columns[1::2], strict=True)]
    rows: list[Any] = [None] * width
    for odd in (0, 1):
        vectors = [pair[odd] for pair in unpacked]
        if k == 4:
            picks = [p + q for p in range(0, width, 2) for q in (0, 1, width, width + 1)]
            halves = picks[:width], picks[width:]
            vectors = [_shuffled(b, vectors[0], vectors[1], half) for half in halves]
        for v, vector in enumerate(vectors):
            for j in range(each):
                piece = _shuffled(b, vector, vector, range(j * k, j * k + k))
                rows[2 * (v * each + j) + odd] = piece
    return rows
