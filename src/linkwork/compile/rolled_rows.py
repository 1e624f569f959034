"""The loops of a `Program` in LLVM: tables beside the code, one vector a number in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import ir

from linkwork.compile.emit import F64, I32, I64, POINTER, Emitter, i64
from linkwork.compile.graph import Graph
from linkwork.compile.loops import (
    LONG,
    FiniteTest,
    Frame,
    Ports,
    Room,
    RowsCode,
    columns_of,
    counted_loop,
    emit_nodes,
    emit_rows,
    emit_tiles,
    exact,
    read_block,
    write_block,
)
from linkwork.compile.rolled import Address, Body, Call, Columns, Index, Loop, Program, Solve

_I8 = ir.IntType(8)

_WRITTEN: WeakKeyDictionary[Any, dict[tuple[Program, int], Any]] = WeakKeyDictionary()
"""The functions of called programs in each module, by their lanes."""


def emit_code(
    module: Any, code: Graph | Program, width: int, name: str, *, fused: bool
) -> RowsCode:
    """The rows of a graph or a program; see `loops.emit_rows`."""
    if isinstance(code, Program):
        return emit_program(module, code, width, name, fused=fused)
    return emit_rows(module, code, width, name, fused=fused)


def emit_program(module: Any, program: Program, width: int, name: str, *, fused: bool) -> RowsCode:
    """As `loops.emit_rows`, of a program."""
    sizes = program.input_sizes, program.output_sizes
    room = Room(*sizes, width, program.room, (*sizes[0], *sizes[1]), in_scratch=True)

    def compute(b: Any, frame: Frame, places: list[Any]) -> Any:
        return _compute_tile(Emitter(b, width, fused=fused), program, frame, places)

    return emit_tiles(module, name, room, compute)


def emit_passes(
    emitter: Emitter, program: Program, inputs: Sequence[Any], outputs: Sequence[Any], memory: Any
) -> None:
    """Write the loops of a program on vectors in memory, a lane each; ``memory``: `Program.room`.

    ``inputs`` and ``outputs`` are where each of them begins.
    """
    _Passes(emitter, program, (inputs, outputs), memory).write()


def _compute_tile(emitter: Emitter, program: Program, frame: Frame, places: list[Any]) -> Any:
    """Inputs into vectors, the loops, results out of vectors; the bit of what is not finite."""
    b, width, n_in, sizes = emitter.builder, frame.width, frame.n_in, frame.sizes
    tiles = places if width == 1 else frame.tiles

    def each_block(size: int, move: Callable[[Any, int], None]) -> None:
        """``move(first, k)`` for blocks of as many columns as lanes, and for what is left."""
        whole, left = divmod(size, width)
        _times(b, whole, lambda k: move(b.mul(k, i64(width)), width))
        for column in range(size - left, size):
            move(i64(column), 1)

    def take_in(place: Any, tile: Any, size: int, first: Any, k: int) -> None:
        pieces = read_block(b, b.gep(place, [first]), size, 0, k, width)
        for c, column in enumerate(columns_of(b, pieces, width)):
            b.store(column, b.gep(tile, [b.add(first, i64(c))]))

    def give_out(place: Any, tile: Any, size: int, first: Any, k: int) -> None:
        columns = [b.load(b.gep(tile, [b.add(first, i64(c))])) for c in range(k)]
        write_block(b, columns, b.gep(place, [first]), size, 0)

    every = list(zip(places, tiles, sizes, strict=True))
    if width > 1:
        for place, tile, size in every[:n_in]:
            each_block(size, partial(take_in, place, tile, size))
    emit_passes(emitter, program, tiles[:n_in], tiles[n_in:], frame.memory)
    if width > 1:
        for place, tile, size in every[n_in:]:
            each_block(size, partial(give_out, place, tile, size))
    return _not_finite(emitter, places, sizes)


def _not_finite(emitter: Emitter, places: Sequence[Any], sizes: Sequence[int]) -> Any:
    test, width = FiniteTest(emitter), emitter.width
    short: list[tuple[Any, int]] = []
    for place, size in zip(places, sizes, strict=True):
        if size * width >= LONG:
            test.add_all(place, size * width)
        else:
            short.append((place, size * width))
    bad = exact(emitter.builder, [place for place, _ in short], [count for _, count in short])
    return emitter.builder.or_(test.failed(), bad)


def _times(b: Any, count: int, body: Callable[[Any], None]) -> None:
    if count:
        counted_loop(b, i64(count), body)


class _BodyPorts(Ports):
    """The inputs of a loop's body, each at an address of its own, and its results, kept."""

    def __init__(self, graph: Graph, load: Callable[[int], Any]) -> None:
        super().__init__(graph)
        self._load, self.stored = load, dict[int, Any]()

    def load(self, argument: int, element: int) -> Any:
        del element
        return self._load(argument)

    def store(self, output: int, element: int, value: Any) -> None:
        del output
        self.stored[element] = value


class _Passes:
    """Writes the loops of one program."""

    def __init__(
        self,
        emitter: Emitter,
        program: Program,
        given: tuple[Sequence[Any], Sequence[Any]],
        memory: Any,
    ) -> None:
        self.b, self.program, self.memory = emitter.builder, program, memory
        self.width, self.fused = emitter.width, emitter.fused
        self._at_column: Any = None
        self._used = 0
        self._arrays = self._lay_out(*map(iter, given))
        self._tables = {
            name: _constant(self.b.module, column, I32) for name, column in program.tables.items()
        }

    def _lay_out(self, inputs: Iterator[Any], outputs: Iterator[Any]) -> list[Any]:
        """The beginning of each memory."""
        found: list[Any] = []
        for each in self.program.memories:
            if each.kind == "input":
                found.append(next(inputs))
            elif each.kind == "output":
                found.append(next(outputs))
            elif each.kind == "table":
                values = np.zeros((0,)) if each.values is None else each.values
                found.append(_constant(self.b.module, values, F64))
            else:
                found.append(self.b.gep(self.memory, [i64(self._used)]))
                self._used += each.size
        return found

    def write(self) -> None:
        """Clear what is zero to begin with, then run the loops."""
        zero = Emitter(self.b, self.width, fused=self.fused).const(0.0)
        for array, each in zip(self._arrays, self.program.memories, strict=True):
            if each.zero:
                self._times(
                    each.size, lambda at, array=array: self.b.store(zero, self.b.gep(array, [at]))
                )
        for each in self.program.loops:
            if isinstance(each, Columns):
                self._times(each.n, lambda at, loops=each.loops: self._column(at, loops))
            elif isinstance(each, Call):
                self._call(each)
            elif isinstance(each, Solve):
                self._solve(each)
            else:
                self._loop(each)

    def _times(self, count: int, body: Callable[[Any], None]) -> None:
        _times(self.b, count, body)

    def _solve(self, solve: Solve) -> None:
        """L D Lᵀ and both substitutions, in loops.

        Source: Golub and Van Loan, Matrix Computations, 4th ed., section 4.1.
        """
        b, n = self.b, solve.n
        e = Emitter(b, self.width, fused=self.fused)
        matrix, vector = self._arrays[solve.matrix], self._arrays[solve.vector]

        def entry(i: Any, j: Any) -> Any:
            return b.gep(matrix, [b.add(b.mul(i, i64(n)), j)])

        def number(i: Any) -> Any:
            return b.gep(vector, [i])

        def invert(k: Any) -> Any:
            inverse = e.div(e.const(1.0), b.load(entry(k, k)))
            b.store(inverse, entry(k, k))
            return inverse

        def eliminate(k: Any) -> None:
            inverse, following = invert(k), b.add(k, i64(1))

            def row(t: Any) -> None:
                i = b.add(following, t)
                factor = e.mul(b.load(entry(i, k)), inverse)
                value = e.fnma(factor, b.load(number(k)), b.load(number(i)))
                b.store(value, number(i))

                def column(u: Any) -> None:
                    j = b.add(following, u)
                    value = e.fnma(factor, b.load(entry(j, k)), b.load(entry(i, j)))
                    b.store(value, entry(i, j))

                counted_loop(b, b.add(t, i64(1)), column)

            counted_loop(b, b.sub(i64(n - 1), k), row)

        def substitute(t: Any) -> None:
            i = b.sub(i64(n - 2), t)
            inverse = b.load(entry(i, i))
            b.store(e.mul(b.load(number(i)), inverse), number(i))

            def term(u: Any) -> None:
                j = b.add(b.add(i, i64(1)), u)
                factor = e.mul(b.load(entry(j, i)), inverse)
                value = e.fnma(factor, b.load(number(j)), b.load(number(i)))
                b.store(value, number(i))

            counted_loop(b, b.add(t, i64(1)), term)

        if n:
            self._times(n - 1, eliminate)
            b.store(e.mul(b.load(number(i64(n - 1))), invert(i64(n - 1))), number(i64(n - 1)))
            self._times(n - 1, substitute)

    def _call(self, call: Call) -> None:
        """A call of another program, which is a function of its own, written once."""
        b, program, module = self.b, call.program, self.b.module
        given = [self._arrays[k] for k in (*call.inputs, *call.outputs)]
        rest = b.gep(self.memory, [i64(self._used)])
        written = _WRITTEN.setdefault(module, {})
        function = written.get((program, self.width))
        if function is None:
            kind = ir.FunctionType(ir.VoidType(), [x.type for x in (*given, rest)])
            function = ir.Function(module, kind, module.get_unique_name("program"))
            written[program, self.width] = function
            function.linkage = "internal"
            function.attributes.add("noinline")
            own = Emitter(ir.IRBuilder(function.append_basic_block()), self.width, fused=self.fused)
            *arrays, memory = function.args
            n = len(call.inputs)
            emit_passes(own, program, arrays[:n], arrays[n:], memory)
            own.builder.ret_void()
        b.call(function, [*given, rest])

    # the loops

    def _column(self, at: Any, loops: Sequence[Loop]) -> None:
        self._at_column = at
        for loop in loops:
            self._loop(loop)

    def _loop(self, loop: Loop) -> None:
        def once(k: Any) -> None:
            at = (
                self.b.sub(i64(loop.last - 1), k)
                if loop.backwards
                else self.b.add(k, i64(loop.first))
            )
            kind = self._kind(at, loop)
            self._choose(kind, loop.bodies, {"own": at})
            if loop.above is not None:
                self._climb(loop, kind, at)

        self._times(loop.last - loop.first, once)

    def _kind(self, at: Any, loop: Loop) -> Any:
        """The kind of a joint, where there are several."""
        several = len(loop.bodies) > 1
        return self._whole(Index("", loop.kinds), {"": at}) if several else None

    def _climb(self, loop: Loop, kind: Any, own: Any) -> None:
        """The loop over the joints that carry one."""
        b, above = self.b, loop.above or {}
        before = b.block
        head, inside, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        at = b.phi(I64)
        at.add_incoming(own, before)
        parent = self._whole(Index("", "parent"), {"": at})
        b.cbranch(b.icmp_signed("!=", parent, i64(0)), inside, after)
        b.position_at_end(inside)
        n = max(k for k, _ in above) + 1
        both = None
        if kind is not None:
            other = self._whole(Index("", "kind"), {"": parent})
            both = b.add(b.mul(kind, i64(n)), other)
        bodies = {k * n + j: body for (k, j), body in above.items()}
        self._choose(both, bodies, {"own": own, "at": at, "above": parent})
        at.add_incoming(parent, b.block)
        b.branch(head)
        b.position_at_end(after)

    def _choose(self, kind: Any, bodies: Mapping[int, Body], cursors: Mapping[str, Any]) -> None:
        """The body of a kind."""
        b = self.b
        if kind is None:
            (body,) = bodies.values()
            self._body(body, cursors)
            return
        after = b.append_basic_block()
        start = b.block
        blocks: list[tuple[int, Any]] = []
        for key, body in bodies.items():
            block = b.append_basic_block()
            blocks.append((key, block))
            b.position_at_end(block)
            self._body(body, cursors)
            b.branch(after)
        b.position_at_end(start)
        choice = b.switch(kind, blocks[0][1])
        for key, block in blocks[1:]:
            choice.add_case(i64(key), block)
        b.position_at_end(after)

    def _body(self, body: Body, cursors: Mapping[str, Any]) -> None:
        """Assignments, then the stores: so all loads see what was there before."""
        graph: Graph = body.graph(fuse=True)
        emitter = Emitter(self.b, self.width, fused=self.fused)
        addresses, known = list(body.loads), dict[Index, Any]()
        ports = _BodyPorts(
            graph, lambda which: self._load(emitter, addresses[which], cursors, known)
        )
        emit_nodes(emitter, ports, whole=True)
        for element, (address, _, adds) in enumerate(body.stores):
            value = ports.stored.get(element)
            if adds and value is None:
                continue
            place = self._place(address, cursors, known)
            if value is None:
                value = emitter.const(0.0)
            elif adds:
                value = emitter.add(self.b.load(place), value)
            self.b.store(value, place)

    def _load(self, emitter: Emitter, address: Address, cursors: Any, known: Any) -> Any:
        b = self.b
        value = b.load(self._place(address, cursors, known))
        if self.program.memories[address.memory].kind != "table" or self.width == 1:
            return value
        vector: Any = ir.Constant(emitter.type, ir.Undefined)
        vector = b.insert_element(vector, value, ir.Constant(I32, 0))
        mask: Any = ir.Constant(ir.VectorType(I32, self.width), [0] * self.width)
        return b.shuffle_vector(vector, vector, mask)

    def _place(self, address: Address, cursors: Mapping[str, Any], known: dict[Index, Any]) -> Any:
        b, record = self.b, self.program.memories[address.memory].record
        at: Any = i64(address.offset)
        for index, stride in address.terms:
            if index not in known:
                known[index] = self._whole(index, cursors)
            at = b.add(at, b.mul(known[index], i64(record if stride is None else stride)))
        return b.gep(self._arrays[address.memory], [at])

    def _whole(self, index: Index, cursors: Mapping[str, Any]) -> Any:
        """The value of an index."""
        b = self.b
        at = self._at_column if index.cursor == "column" else cursors[index.cursor]
        if index.table:
            at = b.sext(b.load(b.gep(self._tables[index.table], [at])), I64)
        return b.add(at, i64(index.offset)) if index.offset else at


def _constant(module: Any, values: Any, kind: Any) -> Any:
    """Numbers beside the code, as bytes: they are quicker to write down so."""
    data = bytearray(np.ascontiguousarray(values).tobytes()) or bytearray(8)
    array = ir.ArrayType(_I8, len(data))
    place: Any = ir.GlobalVariable(module, array, module.get_unique_name("numbers"))
    place.initializer = ir.Constant(array, data)
    place.linkage, place.global_constant, place.align = "internal", True, 64
    return place.bitcast(kind.as_pointer()) if kind != POINTER else place
