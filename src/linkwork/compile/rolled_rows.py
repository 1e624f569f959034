"""The loops of a `Program` in LLVM: tables beside the code, one vector a number in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.compile.emit import F64, I32, I64, POINTER, Emitter, i64
from linkwork.compile.graph import Graph
from linkwork.compile.loops import (
    LONG,
    FiniteTest,
    Frame,
    Room,
    RowsCode,
    columns_of,
    counted_loop,
    emit_nodes,
    emit_tiles,
    exact,
    read_block,
    write_block,
)
from linkwork.compile.rolled import Address, Body, Columns, Index, Loop, Program

_I8 = ir.IntType(8)


def emit_program(module: Any, program: Program, width: int, name: str, *, fused: bool) -> RowsCode:
    """As `loops.emit_rows`, of a program."""
    sizes = program.input_sizes, program.output_sizes
    length = sum(each.size for each in program.memories if each.kind == "state")
    tiles = (*sizes[0], *sizes[1])
    room = Room(*sizes, width, length, tiles, in_scratch=True)

    def compute(b: Any, frame: Frame, places: list[Any]) -> Any:
        return _Tile(b, program, frame, places, fused=fused).write()

    return emit_tiles(module, name, room, compute)


class _Tile:
    """Writes the computation of one tile."""

    def __init__(
        self, b: Any, program: Program, frame: Frame, places: list[Any], *, fused: bool
    ) -> None:
        self.b, self.program, self.frame, self.places = b, program, frame, places
        self.width, self.fused = frame.width, fused
        self._at_column: Any = None
        self._arrays = self._lay_out()
        self._tables = {
            name: _constant(b.module, column, I32) for name, column in program.tables.items()
        }

    def _lay_out(self) -> list[Any]:
        """The beginning of each memory."""
        one_row = self.places if self.width == 1 else self.frame.tiles
        inputs = iter(one_row[: self.frame.n_in])
        outputs = iter(one_row[self.frame.n_in :])
        found: list[Any] = []
        used = 0
        for each in self.program.memories:
            if each.kind == "input":
                found.append(next(inputs))
            elif each.kind == "output":
                found.append(next(outputs))
            elif each.kind == "table":
                values = np.zeros((0,)) if each.values is None else each.values
                found.append(_constant(self.b.module, values, F64))
            else:
                found.append(self.b.gep(self.frame.memory, [i64(used)]))
                used += each.size
        return found

    def write(self) -> Any:
        """Inputs into vectors, the loops, results out of vectors; the bit of what is not finite."""
        n_in, sizes = self.frame.n_in, self.frame.sizes
        if self.width > 1:
            for place, tile, size in zip(self.places, self.frame.tiles, sizes[:n_in], strict=False):
                self._each_block(size, partial(self._take_in, place, tile, size))
        cleared = [k for k, each in enumerate(self.program.memories) if each.zero]
        zero = Emitter(self.b, self.width, fused=self.fused).const(0.0)
        for k in cleared:
            self._times(
                self.program.memories[k].size,
                lambda at, k=k: self.b.store(zero, self.b.gep(self._arrays[k], [at])),
            )
        for each in self.program.loops:
            if isinstance(each, Columns):
                self._times(each.n, lambda at, loops=each.loops: self._column(at, loops))
            else:
                self._loop(each)
        if self.width > 1:
            for place, tile, size in zip(
                self.places[n_in:], self.frame.tiles[n_in:], sizes[n_in:], strict=True
            ):
                self._each_block(size, partial(self._give_out, place, tile, size))
        return self._not_finite()

    def _times(self, count: int, body: Callable[[Any], None]) -> None:
        if count:
            counted_loop(self.b, i64(count), body)

    def _each_block(self, size: int, move: Callable[[Any, int], None]) -> None:
        """``move(first, k)`` for blocks of as many columns as lanes, and for what is left."""
        whole, left = divmod(size, self.width)
        self._times(whole, lambda k: move(self.b.mul(k, i64(self.width)), self.width))
        for column in range(size - left, size):
            move(i64(column), 1)

    def _take_in(self, place: Any, tile: Any, size: int, first: Any, k: int) -> None:
        b = self.b
        pieces = read_block(b, b.gep(place, [first]), size, 0, k, self.width)
        for c, column in enumerate(columns_of(b, pieces, self.width)):
            b.store(column, b.gep(tile, [b.add(first, i64(c))]))

    def _give_out(self, place: Any, tile: Any, size: int, first: Any, k: int) -> None:
        b = self.b
        columns = [b.load(b.gep(tile, [b.add(first, i64(c))])) for c in range(k)]
        write_block(b, columns, b.gep(place, [first]), size, 0)

    def _not_finite(self) -> Any:
        test = FiniteTest(Emitter(self.b, self.width, fused=self.fused))
        short: list[tuple[Any, int]] = []
        for place, size in zip(self.places, self.frame.sizes, strict=True):
            if size * self.width >= LONG:
                test.add_all(place, size * self.width)
            else:
                short.append((place, size * self.width))
        bad = exact(self.b, [place for place, _ in short], [count for _, count in short])
        return self.b.or_(test.failed(), bad)

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
        addresses, values = list(body.loads), dict[int, Any]()
        known: dict[Index, Any] = {}

        def load(which: int, element: int) -> Any:
            del element
            return self._load(emitter, addresses[which], cursors, known)

        def store(output: int, element: int, value: Any) -> None:
            del output
            values[element] = value

        emit_nodes(emitter, graph, load, store)
        for element, (address, _, adds) in enumerate(body.stores):
            value = values.get(element)
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
