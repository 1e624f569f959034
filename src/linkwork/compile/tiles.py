"""Code on tiles: memory in which every number is a vector, and a row of an array a lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I32, I64, POINTER, Emitter, counted_loop, i64
from linkwork.compile.graph import Graph, graph_of
from linkwork.compile.loops import Ports, emit_nodes
from linkwork.compile.rolled import Program
from linkwork.compile.rolled_rows import emit_passes

_LARGEST_ON_STACK = 1_000
"""Numbers of a tile on the stack, at most."""
_LONGEST_UNROLLED = 2_000
"""Operations of an expression that is written out; of a longer one loops are made."""


class TileCode:
    """Writes code on tiles, for a vector of all lanes at once or for one lane."""

    def __init__(self, module: Any, width: int, *, fused: bool) -> None:
        self.module, self.width, self.fused = module, width, fused
        vector: Any = ir.VectorType(F64, self.width) if self.width > 1 else F64
        self.vector = vector
        self.pointer: Any = vector.as_pointer()
        self.b: Any = None
        self.emitter: Any = None
        self.beside: Any = None  # memory for what is too large for the stack, by vectors
        self._used = 0  # vectors of it: first those of whichever function is called

    @property
    def beside_size(self) -> int:
        """The float64 numbers of the memory ``beside``, aligned to 64 bytes."""
        return self.width * self._used

    def at(self, builder: Any) -> None:
        """Go on writing with this builder."""
        self.b = builder
        self.emitter = Emitter(builder, self.width, fused=self.fused)

    # numbers of all lanes

    def room(self, size: int, name: str) -> Any:
        """A tile of so many numbers: on the stack, or ``beside`` it where they are many."""
        if size > _LARGEST_ON_STACK and self.beside is not None:
            self._used += size
            return self.b.gep(self.beside, [i64(self._used - size)])
        tile = self.b.alloca(self.vector, size=max(size, 1), name=name)
        tile.align = 64
        return tile

    def part(self, tile: Any, start: int) -> Any:
        """The tile from a number on."""
        return self.b.gep(tile, [i64(start)]) if start else tile

    def get(self, tile: Any, k: Any) -> Any:
        """A number of all lanes."""
        return self.b.load(self.b.gep(tile, [k]))

    def put(self, value: Any, tile: Any, k: Any) -> None:
        """Store a number of all lanes."""
        self.b.store(value, self.b.gep(tile, [k]))

    def copy(self, source: Any, target: Any, count: int) -> None:
        """So many numbers from one tile to another."""
        self.each(count, lambda k: self.put(self.get(source, k), target, k))

    def clear(self, tile: Any, count: int) -> None:
        """Zeros in a tile."""
        self.each(count, lambda k: self.put(self.emitter.const(0.0), tile, k))

    def everywhere(self, value: Any) -> Any:
        """One number in all lanes."""
        if self.width == 1:
            return value
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.b.insert_element(nothing, value, I32(0))
        mask = ir.Constant(ir.VectorType(I32, self.width), [0] * self.width)
        return self.b.shuffle_vector(one, nothing, mask)

    # numbers of one lane

    def lane(self, tile: Any, k: Any, lane: Any) -> Any:
        """The address of a number of one lane."""
        flat = self.b.bitcast(tile, POINTER)
        return self.b.gep(flat, [self.b.add(self.b.mul(k, i64(self.width)), lane)])

    def copy_in(self, source: Any, tile: Any, lane: Any, count: int) -> None:
        """Numbers of a row into a lane."""
        b = self.b
        self.each(count, lambda k: b.store(b.load(b.gep(source, [k])), self.lane(tile, k, lane)))

    def copy_out(self, tile: Any, lane: Any, target: Any, count: int) -> None:
        """The numbers of a lane into a row."""
        b = self.b
        self.each(count, lambda k: b.store(b.load(self.lane(tile, k, lane)), b.gep(target, [k])))

    # masks: a bit for each lane

    @property
    def every(self) -> Any:
        """The mask of all lanes."""
        return i64((1 << self.width) - 1)

    def mask_of(self, bits: Any) -> Any:
        """A condition in each lane as the bits of a whole number."""
        if self.width == 1:
            return self.b.zext(bits, I64)
        return self.b.zext(self.b.bitcast(bits, ir.IntType(self.width)), I64)

    def bits_of(self, mask: Any) -> Any:
        """The bits of a whole number as a condition in each lane."""
        bits = self.b.trunc(mask, ir.IntType(self.width))
        if self.width == 1:
            return bits
        return self.b.bitcast(bits, ir.VectorType(ir.IntType(1), self.width))

    def add_to(self, mask: Any, lanes: Any) -> None:
        """Note more lanes in a mask."""
        self.b.store(self.b.or_(self.b.load(mask), lanes), mask)

    # loops and functions

    def call(self, function: Any, *tiles: Any) -> None:
        """Call a function that `function_of` has written."""
        self.b.call(function, [*tiles, self.beside])

    def each(self, count: int, body: Callable[[Any], None]) -> None:
        """``for k in range(count): body(k)``."""
        if count:
            counted_loop(self.b, i64(count), body)

    def span(self, start: Any, stop: Any, body: Callable[[Any], None]) -> None:
        """``for k in range(start, stop): body(k)``, which may be empty."""
        with self.b.if_then(self.b.icmp_signed("<", start, stop)):
            counted_loop(self.b, self.b.sub(stop, start), lambda k: body(self.b.add(start, k)))

    def until(self, done: Any, most: int, body: Callable[[], None]) -> None:
        """``body()``, and again until the mask ``done`` has every lane, ``most`` times at most."""
        b = self.b
        before, head, after = b.block, b.append_basic_block(), b.append_basic_block()
        b.branch(head)
        b.position_at_end(head)
        count = b.phi(I64)
        count.add_incoming(i64(0), before)
        body()
        following = b.add(count, i64(1))
        all_done = b.icmp_signed("==", b.load(done), self.every)
        over = b.or_(all_done, b.icmp_signed(">=", following, i64(most)))
        count.add_incoming(following, b.block)
        b.cbranch(over, after, head)
        b.position_at_end(after)

    def function_of(self, graph: Graph | Program, name: str) -> Any:
        """``void name(tile in..., tile out..., beside)``: a function of its own, for `call`.

        What loops find is ``beside``, before all tiles: those are made after the functions.
        """
        count = len(graph.input_sizes) + len(graph.output_sizes) + 1
        kind = ir.FunctionType(ir.VoidType(), [self.pointer] * count)
        function: Any = ir.Function(self.module, kind, self.module.get_unique_name(name))
        function.linkage = "internal"
        function.attributes.add("noinline")
        for argument in function.args:
            argument.add_attribute("noalias")
        *tiles, beside = function.args
        inputs, outputs = tiles[: len(graph.input_sizes)], tiles[len(graph.input_sizes) :]
        b: Any = ir.IRBuilder(function.append_basic_block("entry"))
        emitter = Emitter(b, self.width, fused=self.fused)
        if isinstance(graph, Program):
            self._used = max(self._used, graph.room)
            emit_passes(emitter, graph, inputs, outputs, beside)
            b.ret_void()
            return function
        ports = Ports(graph, b, tiles)
        ports.clear(emitter.const(0.0))
        emit_nodes(emitter, ports)
        b.ret_void()
        return function

    def expression(self, name: str, function: Callable[..., Any], *sizes: int) -> Any:
        """`function_of` an expression ``function(o, *vectors)`` of so many numbers each.

        Its output may not be one of its inputs.
        """
        # not for cached code
        from linkwork.compile.graph_loops import loops_of  # noqa: PLC0415
        from linkwork.compile.tracing import trace_function  # noqa: PLC0415

        given = {f"x{k}": size for k, size in enumerate(sizes)}
        traced = trace_function("", given, lambda o, *a: {"y": function(o, *a)})
        if len(traced.order) > _LONGEST_UNROLLED:
            return self.function_of(loops_of(traced).program, name)
        return self.function_of(graph_of(traced, fuse=self.fused), name)
