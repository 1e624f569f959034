"""The native loop over steps, many roll-outs at once: a roll-out in each lane.

    tile of rows -> [begin] -> step: parts of the method -> closed loops -> judged -> kept

Memory is in tiles, in which every number is a vector. What a step does is a list of parts, which
the methods write: `ExplicitLoop` one for each stage, `ImplicitLoop` a start, an iteration and an
end. Around them, in `RolloutLoop`, the rows are taken into tiles, every k-th state is stored, and a
roll-out that is not finite, or too fast, is noted with its step and left alone. When all lanes of a
tile are, the tile is done.

Where forces come from a function of the user, each call makes one part of one step: the forces at
the state that the part asks about are then among its controls. What the parts of a step hand on to
each other stands behind the state in its row, so both ways are the same code and give the same
bits. A method that chooses its steps (`TrialLoop`) has a length of step in each row, and its caller
judges what a step has come to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, Emitter, i64
from linkwork.compile.loops import counted_loop, emit_nodes
from linkwork.simulation import friction, integrators, loops
from linkwork.simulation.integrators import IMPLICIT, WATCHED, Implicit, Method
from linkwork.simulation.stops import bounds

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.target import Target
    from linkwork.simulation.equation_of_motion import System

COUNTS = (
    "first",  # rows first to last - 1
    "last",
    "step",  # steps from here
    "until",  # to before this one
    "steps",  # of the whole roll-out: the state after the last is kept
    "every",  # the state after every so many steps is kept
    "kept",  # room for so many states a row
    "constants_row",  # numbers from one row of the constants to the next: 0 where all share one
    "controls_row",
    "part",  # which parts of a step are made, where calls do not make them all: from here
    "last_part",  # to before this one
)
"""Whole numbers that the loop takes, in this order."""

ARRAYS = ("state", "constants", "controls", "settings", "q", "v", "failed", "remains")
"""Arrays that it takes: (rows, n) the state, q and v first, in and out; constants; controls at each
instant from that of ``step`` on, or those of one part; h and the bound of speeds; (rows, kept, nq)
and (rows, kept, nv) the kept states; (rows,) the step in which a row failed, -1 before, and one
half more where the step had no solution, a quarter where it left a loop open, an eighth where it
was too long for what acts; (rows, nq + nv) what it was then."""

UNSOLVED, UNCLOSED, OVERLONG = 0.5, 0.25, 0.125
"""Marks added to the step in which a row failed."""

_LARGEST = 1.0e300  # a number beyond is none, a limit beyond is none


def rollout_loop(
    module: Any,
    graphs: Mapping[str, Graph],
    system: System,
    method: Method,
    target: Target,
) -> RolloutLoop:
    """The loop of a method for a system, written into a module as "rollout".

    ``graphs`` are those of `recipes`, by name.
    """
    kind = ImplicitLoop if method is IMPLICIT else TrialLoop if method.error else ExplicitLoop
    loop = kind(module, graphs, system, method, target)
    loop.write()
    return loop


class TileCode:
    """Writes code on tiles: memory in which every number is a vector, and a row a lane."""

    def __init__(self, module: Any, target: Target) -> None:
        self.module, self.width, self.fused = module, target.width, target.fused
        vector: Any = ir.VectorType(F64, self.width) if self.width > 1 else F64
        self.vector = vector
        self.pointer: Any = vector.as_pointer()
        self.b: Any = None
        self.emitter: Any = None

    def at(self, builder: Any) -> None:
        """Go on writing with this builder."""
        self.b = builder
        self.emitter = Emitter(builder, self.width, fused=self.fused)

    def room(self, size: int, name: str) -> Any:
        """A tile of so many numbers on the stack."""
        tile = self.b.alloca(self.vector, size=max(size, 1), name=name)
        tile.align = 64
        return tile

    def lane(self, tile: Any, k: Any, lane: Any) -> Any:
        """The address of a number of one lane."""
        flat = self.b.bitcast(tile, POINTER)
        return self.b.gep(flat, [self.b.add(self.b.mul(k, i64(self.width)), lane)])

    def get(self, tile: Any, k: Any) -> Any:
        """A number of all lanes."""
        return self.b.load(self.b.gep(tile, [k]))

    def put(self, value: Any, tile: Any, k: Any) -> None:
        """Store a number of all lanes."""
        self.b.store(value, self.b.gep(tile, [k]))

    def each(self, count: int, body: Callable[[Any], None]) -> None:
        """``for k in range(count): body(k)``."""
        if count:
            counted_loop(self.b, i64(count), body)

    def each_bit(self, mask: Any, body: Callable[[Any], None]) -> None:
        """``body(lane)`` for each bit of a mask that is not 0, lowest first."""
        b = self.b
        before, head, after = b.block, b.append_basic_block(), None
        b.branch(head)
        b.position_at_end(head)
        left = b.phi(I64)
        left.add_incoming(mask, before)
        body(b.cttz(left, ir.Constant(ir.IntType(1), 1)))
        rest = b.and_(left, b.sub(left, i64(1)))
        left.add_incoming(rest, b.block)
        after = b.append_basic_block()
        b.cbranch(b.icmp_signed("!=", rest, i64(0)), head, after)
        b.position_at_end(after)

    def mask_of(self, bits: Any) -> Any:
        """A condition in each lane as the bits of a whole number."""
        if self.width == 1:
            return self.b.zext(bits, I64)
        return self.b.zext(self.b.bitcast(bits, ir.IntType(self.width)), I64)

    def function_of(self, graph: Graph, name: str) -> Any:
        """``void name(tile in..., tile out...)``: a graph on tiles, as a function of its own."""
        count = len(graph.input_sizes) + len(graph.output_sizes)
        kind = ir.FunctionType(ir.VoidType(), [self.pointer] * count)
        function: Any = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        for argument in function.args:
            argument.add_attribute("noalias")
        inputs = function.args[: len(graph.input_sizes)]
        outputs = function.args[len(graph.input_sizes) :]
        b: Any = ir.IRBuilder(function.append_basic_block("entry"))
        emitter = Emitter(b, self.width, fused=self.fused)
        for k, size in enumerate(graph.output_sizes):
            for element in set(range(size)) - set(graph.outputs[k]):
                b.store(emitter.const(0.0), b.gep(outputs[k], [i64(element)]))
        emit_nodes(
            emitter,
            graph,
            lambda k, element: b.load(b.gep(inputs[k], [i64(element)])),
            lambda k, element, value: b.store(value, b.gep(outputs[k], [i64(element)])),
        )
        b.ret_void()
        return function

    @property
    def every(self) -> Any:
        """The mask of all lanes."""
        return i64((1 << self.width) - 1)

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

    def add_to(self, mask: Any, lanes: Any) -> None:
        """Note more lanes in a mask."""
        self.b.store(self.b.or_(self.b.load(mask), lanes), mask)

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
        at = ir.IntType(32)
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.b.insert_element(nothing, value, at(0))
        mask = ir.Constant(ir.VectorType(at, self.width), [0] * self.width)
        return self.b.shuffle_vector(one, nothing, mask)

    def bits_of(self, mask: Any) -> Any:
        """The bits of a whole number as a condition in each lane."""
        bits = self.b.trunc(mask, ir.IntType(self.width))
        if self.width == 1:
            return bits
        return self.b.bitcast(bits, ir.VectorType(ir.IntType(1), self.width))

    def span(self, start: Any, stop: Any, body: Callable[[Any], None]) -> None:
        """``for k in range(start, stop): body(k)``, which may be empty."""
        with self.b.if_then(self.b.icmp_signed("<", start, stop)):
            counted_loop(self.b, self.b.sub(stop, start), lambda k: body(self.b.add(start, k)))

    def part(self, tile: Any, start: int) -> Any:
        """The tile from a number on."""
        return self.b.gep(tile, [i64(start)]) if start else tile

    def copy_in(self, source: Any, tile: Any, lane: Any, count: int) -> None:
        """Numbers of a row into a lane."""
        b = self.b
        self.each(count, lambda k: b.store(b.load(b.gep(source, [k])), self.lane(tile, k, lane)))

    def copy_out(self, tile: Any, lane: Any, target: Any, count: int) -> None:
        """The numbers of a lane into a row."""
        b = self.b
        self.each(count, lambda k: b.store(b.load(self.lane(tile, k, lane)), b.gep(target, [k])))


class Iteration:
    """A graph that is repeated until its last output is at most 1 in all lanes.

    A lane that has come there is left alone, so no roll-out depends on its neighbours.
    """

    def __init__(self, loop: TileCode, graph: Graph, name: str, most: int) -> None:
        self._loop, self._most = loop, most
        self._size = graph.output_sizes[0]
        self._function = loop.function_of(graph, name)

    def tiles(self) -> None:
        """Make room for what an iteration gives."""
        self._found = self._loop.room(self._size, "found")
        self._done = self._loop.b.alloca(I64)

    def write(self, given: Sequence[Any], results: Sequence[tuple[Any, int]], alone: Any) -> Any:
        """Write the iterations: the outputs go into the tiles ``results``, of so many numbers each.

        Lanes in the mask ``alone`` keep what they have. The result is a mask of those that are
        left without a solution.
        """
        loop, b = self._loop, self._loop.b
        b.store(alone, self._done)

        def iterate() -> None:
            b.call(self._function, [*given, self._found])
            kept, start = loop.bits_of(b.load(self._done)), 0
            for tile, count in results:
                new = loop.part(self._found, start)

                def take(k: Any, new: Any = new, tile: Any = tile) -> None:
                    loop.put(b.select(kept, loop.get(tile, k), loop.get(new, k)), tile, k)

                loop.each(count, take)
                start += count
            left = loop.get(self._found, i64(self._size - 1))
            good = b.fcmp_ordered("<=", left, loop.emitter.const(1.0))
            loop.add_to(self._done, loop.mask_of(good))

        loop.until(self._done, self._most, iterate)
        return b.xor(b.load(self._done), loop.every)


class RolloutLoop(TileCode):
    """Writes ``i64 rollout(counts..., arrays...)``, see `COUNTS` and `ARRAYS`.

    It returns how many rows go on iterating, of a part that iterates.
    """

    def __init__(
        self,
        module: Any,
        graphs: Mapping[str, Graph],
        system: System,
        method: Method,
        target: Target,
    ) -> None:
        super().__init__(module, target)
        self.method, self.system, self.asks = method, system, system.asks
        m = system.mechanism
        self.n_q, self.n_v, self.n_state = m.n_q, m.n_v, m.n_q + m.n_v
        self.apart = self.asks or bool(method.error)  # whether calls make some parts of a step
        self._part = 0  # that is being written
        self._handed: dict[str, tuple[Any, int]] = {}  # tiles that parts hand on, and their sizes
        self._masks: list[tuple[Any, Any]] = []  # masks that they hand on, with their tiles
        self.stage = self.function_of(graphs["stage"], "stage")
        self.friction = StickingCode(self, graphs) if system.rubbing else None
        self._projection: Iteration | None = None
        if system.closed:
            self._projection = Iteration(self, graphs["projection"], "project", loops.MOST)

    def tiles(self) -> None:
        """Make the tiles that a step needs, and what holds for all steps."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write what is made once, before the first step."""

    def parts(self) -> list[Callable[[Any], None]]:
        """The parts of a step, which each write themselves; lanes without a solution go into
        ``stuck``."""
        raise NotImplementedError

    def handed(self, size: int, name: str) -> Any:
        """A tile whose numbers are there in the next part of a step."""
        tile = self.room(size, name)
        if self.apart:
            self._handed[name] = tile, size
        return tile

    def mask(self, name: str) -> Any:
        """A mask that is there in the next part of a step."""
        mask = self.b.alloca(I64, name=name)
        if self.apart:
            self._masks.append((mask, self.handed(1, name)))
        return mask

    @property
    def places(self) -> dict[str, int]:
        """The place of each number of a row that parts hand on, by the name of the tile that it
        begins; and the length of a row, as "end"."""
        found, at = dict[str, int](), self.n_state
        for name, (_, size) in self._handed.items():
            found[name], at = at, at + size
        return {**found, "end": at}

    def write(self) -> None:
        """Write the function."""
        kind = ir.FunctionType(I64, [I64] * len(COUNTS) + [POINTER] * len(ARRAYS))
        function: Any = ir.Function(self.module, kind, "rollout")
        names = (*COUNTS, *ARRAYS)
        self.args: dict[str, Any] = dict(zip(names, function.args, strict=True))
        self.at(ir.IRBuilder(function.append_basic_block("entry")))
        b = self.b
        self.state = self.room(self.n_state, "x")
        self.q, self.v = self.state, self.part(self.state, self.n_q)
        self.asked = self.handed(self.n_q + self.n_v, "asked")  # what a part asks about
        self.constants = self.room(self.system.n_constants, "p")
        self.controls = self.room(self.system.n_controls, "u")
        self.zero = self.room(self.n_v, "zero")
        self.held = self.handed(len(self.system.rubbing), "held")
        self.dead, self.unclosed, self.open = (
            b.alloca(I64, name=name) for name in ("dead", "unclosed", "open")
        )
        self.stuck, self.overlong = self.mask("stuck"), self.mask("overlong")
        b.store(i64(0), self.open)
        self.bound = self.everywhere(b.load(b.gep(self.args["settings"], [i64(1)])))
        self.length = self.room(1, "length")
        self.put(self.everywhere(b.load(self.args["settings"])), self.length, i64(0))
        self.clear(self.zero, self.n_v)
        self.tiles()
        for code in (self.friction, self._projection):
            if code is not None:
                code.tiles()
        rows = b.sub(self.args["last"], self.args["first"])
        with b.if_then(b.icmp_signed(">", rows, i64(0))):
            tiles = b.sdiv(b.add(rows, i64(self.width - 1)), i64(self.width))
            counted_loop(b, tiles, self._tile)
        b.ret(b.load(self.open))

    def load_controls(self, step: Any, instant: int) -> None:
        """The controls of a part, at an instant of a step that is counted in `Method.per_step`."""
        if not self.system.n_controls:
            return
        b, args = self.b, self.args
        entry = b.sub(i64(self._part), args["part"])  # one for each part that is made
        if not self.apart:
            ago = b.mul(b.sub(step, args["step"]), i64(self.method.per_step))
            entry = b.add(ago, i64(instant))
        place = b.mul(entry, i64(self.system.n_controls))

        def load(lane: Any) -> None:
            beyond = b.icmp_signed(">=", lane, self.count)
            row = b.add(self.row, b.select(beyond, i64(0), lane))
            source = b.gep(args["controls"], [b.add(b.mul(row, args["controls_row"]), place)])
            self.copy_in(source, self.controls, lane, self.system.n_controls)

        counted_loop(b, i64(self.width), load)

    def accelerate(self, theta: Any, v: Any, rates: Any) -> None:
        """The rates of theta and v at the configuration that theta leads to."""
        given = [self.q, theta, v, self.constants, self.controls, self.held]
        self.b.call(self.stage, [*given, rates])

    def combine(
        self,
        target: Any,
        base: Any,
        rates: Sequence[tuple[float, Any]],
        place: tuple[Any, int, int],
    ) -> None:
        """target = base + h sum c rate; without a base: from zero.

        ``place``: h in all lanes, the first number of the rates that counts, and how many do.
        """
        h, start, count = place
        weighted = [(c, rate) for c, rate in rates if c != 0.0]
        e = self.emitter

        def one(k: Any) -> None:
            at = self.b.add(k, i64(start)) if start else k
            total: Any = None
            for c, rate in weighted:
                value = self.get(rate, at)
                known = total is not None
                total = e.fma(e.const(c), value, total) if known else e.mul(e.const(c), value)
            added = e.mul(h, total) if base is None else e.fma(h, total, self.get(base, k))
            self.put(added, target, k)

        self.each(count, one)

    # one tile of rows

    def _tile(self, number: Any) -> None:
        b, args = self.b, self.args
        self.row = b.add(args["first"], b.mul(number, i64(self.width)))
        left = b.sub(args["last"], self.row)
        some = b.icmp_signed("<", left, i64(self.width))
        self.count = b.select(some, left, i64(self.width))
        b.store(i64(0), self.dead)
        counted_loop(b, i64(self.width), self._load_lane)
        self.h = self.get(self.length, i64(0))
        for mask, tile in self._masks:
            there = b.fcmp_ordered(">", self.get(tile, i64(0)), self.emitter.const(0.5))
            b.store(self.mask_of(there), mask)
        with b.if_then(b.icmp_signed("<", args["step"], args["until"])):
            first = b.icmp_signed("==", b.add(args["step"], args["part"]), i64(0))
            with b.if_then(first):
                self.begin()
            self._steps()
        for mask, tile in self._masks:
            there = self.bits_of(b.load(mask))
            e = self.emitter
            self.put(b.select(there, e.const(1.0), e.const(0.0)), tile, i64(0))
        counted_loop(b, self.count, self._save_lane)

    def _row_parts(self) -> list[tuple[Any, int, int]]:
        """The parts of a row of the state: tile, place and size."""
        places = self.places
        handed = [(tile, places[name], size) for name, (tile, size) in self._handed.items()]
        return [(self.state, 0, self.n_state), *handed]

    def _load_lane(self, lane: Any) -> None:
        """A row into a lane; the lanes beyond the last row repeat it, and count as failed."""
        b, args = self.b, self.args
        beyond = b.icmp_signed(">=", lane, self.count)
        row = b.add(self.row, b.select(beyond, b.sub(self.count, i64(1)), lane))
        state = b.gep(args["state"], [b.mul(row, i64(self.places["end"]))])
        for tile, at, size in self._row_parts():
            self.copy_in(self.part(state, at), tile, lane, size)
        constants = b.gep(args["constants"], [b.mul(row, args["constants_row"])])
        self.copy_in(constants, self.constants, lane, self.system.n_constants)
        failed = b.load(b.gep(args["failed"], [row]))
        over = b.or_(beyond, b.fcmp_ordered(">=", failed, ir.Constant(F64, 0.0)))
        with b.if_then(over):
            self.add_to(self.dead, b.shl(i64(1), lane))

    def _save_lane(self, lane: Any) -> None:
        row = self.b.add(self.row, lane)
        state = self.b.gep(self.args["state"], [self.b.mul(row, i64(self.places["end"]))])
        for tile, at, size in self._row_parts():
            self.copy_out(tile, lane, self.part(state, at), size)

    # the steps of a tile

    def _steps(self) -> None:
        b, args = self.b, self.args
        before = b.block
        head, work, done = (b.append_basic_block(name) for name in ("step", "work", "done"))
        b.branch(head)
        b.position_at_end(head)
        step = b.phi(I64)
        step.add_incoming(args["step"], before)
        going = b.icmp_signed("<", step, args["until"])
        alive = b.icmp_signed("!=", b.load(self.dead), self.every)
        b.cbranch(b.and_(going, alive), work, done)
        b.position_at_end(work)
        parts = self.parts()
        for k, part in enumerate(parts):
            self._part = k
            with self._when_asked(k):
                if not k:
                    b.store(i64(0), self.stuck)
                    b.store(i64(0), self.overlong)
                part(step)
        after = b.add(step, i64(1))
        with self._when_asked(len(parts) - 1):
            self._end(step, after)
        step.add_incoming(after, b.block)
        b.branch(head)
        b.position_at_end(done)

    def _when_asked(self, part: int) -> Any:
        """A block for one part where calls do not make them all, else nothing."""
        if not self.apart:
            return nullcontext()
        begun = self.b.icmp_signed("<=", self.args["part"], i64(part))
        return self.b.if_then(
            self.b.and_(begun, self.b.icmp_signed("<", i64(part), self.args["last_part"]))
        )

    def _end(self, step: Any, after: Any) -> None:
        """Close the loops, judge the lanes and keep their states."""
        b, args = self.b, self.args
        b.store(i64(0), self.unclosed)
        if self._projection is not None:
            alone = b.or_(b.load(self.dead), b.load(self.stuck))
            given = [self.q, self.v, self.constants, self.controls]
            results = [(self.state, self.n_q + self.n_v)]
            b.store(self._projection.write(given, results, alone), self.unclosed)
        self._judge(step)
        at_end = b.icmp_signed("==", after, args["steps"])
        on_beat = b.icmp_signed("==", b.srem(after, args["every"]), i64(0))
        with b.if_then(b.or_(at_end, on_beat)):
            place = b.sdiv(b.add(after, b.sub(args["every"], i64(1))), args["every"])
            counted_loop(b, self.count, lambda lane: self._keep(lane, place))

    def _judge(self, step: Any) -> None:
        """Note the lanes that have just failed: no solution, too fast, or no numbers any more."""
        b, e = self.b, self.emitter
        wrong: Any = None
        limits = ((self.v, self.n_v, self.bound), (self.q, self.n_q, e.const(_LARGEST)))
        for tile, count, most in limits:
            for k in range(count):
                bad = b.fcmp_unordered(">", e.fabs(self.get(tile, i64(k))), most)
                wrong = bad if wrong is None else b.or_(wrong, bad)
        marks = {
            UNSOLVED: b.load(self.stuck),
            UNCLOSED: b.load(self.unclosed),
            OVERLONG: b.load(self.overlong),
        }
        found = self.mask_of(wrong)
        for mask in marks.values():
            found = b.or_(found, mask)
        fresh = b.and_(found, b.xor(b.load(self.dead), i64(-1)))
        with b.if_then(b.icmp_signed("!=", fresh, i64(0)), likely=False):
            self.add_to(self.dead, fresh)

            def note(lane: Any) -> None:
                row = b.add(self.row, lane)
                value = b.sitofp(step, F64)
                for part, mask in marks.items():
                    one = b.sitofp(b.and_(b.lshr(mask, lane), i64(1)), F64)
                    value = b.fadd(value, b.fmul(one, ir.Constant(F64, part)))
                b.store(value, b.gep(self.args["failed"], [row]))
                size = self.n_q + self.n_v
                target = b.gep(self.args["remains"], [b.mul(row, i64(size))])
                self.copy_out(self.state, lane, target, size)

            self.each_bit(fresh, note)

    def _keep(self, lane: Any, place: Any) -> None:
        b, args = self.b, self.args
        at = b.add(b.mul(b.add(self.row, lane), args["kept"]), place)
        for name, tile, size in (("q", self.q, self.n_q), ("v", self.v, self.n_v)):
            self.copy_out(tile, lane, b.gep(args[name], [b.mul(at, i64(size))]), size)


class StickingCode:
    """Writes the friction of a step: what holds through it, and what its end makes of that."""

    def __init__(self, loop: RolloutLoop, graphs: Mapping[str, Graph]) -> None:
        self._loop, self._n = loop, len(loop.system.rubbing)
        self._yields = loop.function_of(graphs["yields"], "yields")
        self._solve = Iteration(loop, graphs["sticking"], "stick", friction.MOST)

    def tiles(self) -> None:
        """Make room for the forces of friction, and what they do."""
        loop, n = self._loop, self._n
        self._solve.tiles()
        self._by, self._begun = loop.handed(loop.n_v * n, "by"), loop.handed(loop.n_v, "begun")
        self._forces = loop.handed(n, "friction")
        self._free, self._detours = loop.room(loop.n_v, "free"), loop.room(n, "detours")
        self._before = loop.room(n, "before")

    def predict(self, rates: Any) -> None:
        """The friction that the accelerations at the beginning ask for; it joins their rates."""
        loop, n_v = self._loop, self._loop.n_v
        loop.b.call(self._yields, [loop.q, loop.constants, loop.controls, self._by])
        loop.copy(loop.v, self._begun, n_v)
        loop.combine(self._free, loop.v, [(1.0, rates)], (loop.h, n_v, n_v))
        loop.clear(self._forces, self._n)
        self._settle()
        loop.copy(self._forces, loop.held, self._n)
        self._add(loop.held, loop.part(rates, n_v), None)

    def correct(self, theta: Any) -> None:
        """The friction that the end of the step asks for: velocities and the way change by what it
        is more."""
        loop, e, n = self._loop, self._loop.emitter, self._n
        forces, before, detours = self._forces, self._before, self._detours
        loop.copy(loop.v, self._free, loop.n_v)
        loop.each(n, lambda j: loop.put(e.neg(loop.get(forces, j)), detours, j))
        self._add(detours, self._free, loop.h)
        loop.copy(forces, before, n)
        self._settle()
        loop.each(n, lambda j: loop.put(e.sub(loop.get(forces, j), loop.get(before, j)), before, j))
        self._add(before, loop.v, loop.h)

        def half(j: Any) -> None:
            more = loop.get(detours, j)
            loop.put(e.fma(e.const(0.5), loop.get(before, j), more), before, j)

        loop.each(n, half)
        self._add(before, theta, e.mul(loop.h, loop.h))

    def _settle(self) -> None:
        loop, b = self._loop, self._loop.b
        noted = b.load(loop.stuck)
        given = [self._free, self._begun, self._by, loop.length, self._forces]
        results = [(self._forces, self._n), (self._detours, self._n)]
        loop.add_to(loop.stuck, self._solve.write(given, results, b.or_(b.load(loop.dead), noted)))

    def _add(self, forces: Any, target: Any, factor: Any) -> None:
        """target += factor W forces."""
        loop, e, b, n_v = self._loop, self._loop.emitter, self._loop.b, self._loop.n_v

        def one(j: Any) -> None:
            force = loop.get(forces, j)
            force = force if factor is None else e.mul(factor, force)
            column = b.mul(j, i64(n_v))

            def entry(k: Any) -> None:
                by = loop.get(self._by, b.add(column, k))
                loop.put(e.fma(force, by, loop.get(target, k)), target, k)

            loop.each(n_v, entry)

        loop.each(self._n, one)


class ExplicitLoop(RolloutLoop):
    """The loop of an explicit method: a part for each stage.

    The stage and the way along theta are each written once, as functions on tiles; a step calls
    them and adds up what they give.
    """

    def __init__(self, module: Any, graphs: Mapping[str, Graph], *how: Any) -> None:
        super().__init__(module, graphs, *how)
        self._bounds = bounds(self.system.mechanism, self.system.stopped)
        self._move = self.function_of(graphs["advance"], "move")
        watched = graphs.get("stiffness")
        self._watched = None if watched is None else self.function_of(watched, "stiffness")
        self._n_watched = 0 if watched is None else watched.output_sizes[0]

    def tiles(self) -> None:
        """The stages' rates, where they are evaluated, and the configuration that is reached."""
        self._theta, self._speed = self.handed(self.n_v, "theta"), self.handed(self.n_v, "speed")
        self._next = self.room(self.n_q, "next")
        self._rates = [self.handed(2 * self.n_v, f"k{i}") for i in range(self.method.stages)]
        self._rates_of = self.room(self._n_watched, "stiffness")

    def parts(self) -> list[Callable[[Any], None]]:
        """The stages."""
        return [partial(self._stage, i) for i in range(self.method.stages)]

    def _stage(self, i: int, step: Any) -> None:
        """Evaluate a stage, and go to where the next one looks, or to the end of the step."""
        self._evaluate(i, step)
        if i + 1 == self.method.stages:
            self._finish()
        else:
            self._ahead(i + 1)

    def _evaluate(self, i: int, step: Any) -> None:
        """The rates of a stage."""
        rates = self._rates
        self.load_controls(step, self.method.instants()[i])
        if i == 0:
            self.clear(self.held, len(self.system.rubbing))
            self.accelerate(self.zero, self.v, rates[0])
            if self.friction is not None:
                self.friction.predict(rates[0])
            if self._watched is not None:
                due = self._due(step)
                with self.b.if_then(self.b.icmp_signed("!=", due, i64(0))):
                    self._watch(self.part(rates[0], self.n_v), due)
        else:
            self.accelerate(self._theta, self._speed, rates[i])

    def _ahead(self, i: int) -> None:
        """Go to where a stage looks."""
        pairs = list(zip(self.method.a[i], self._rates, strict=False))
        self.combine(self._theta, None, pairs, (self.h, 0, self.n_v))
        self.combine(self._speed, self.v, pairs, (self.h, self.n_v, self.n_v))
        if self.asks:
            self.b.call(self._move, [self.q, self._theta, self.asked])
            self.copy(self._speed, self.part(self.asked, self.n_q), self.n_v)

    def _finish(self) -> None:
        n_v = self.n_v
        pairs = list(zip(self.method.b, self._rates, strict=True))
        if self.method.symplectic:
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
            self.combine(self._theta, None, [(1.0, self.v)], (self.h, 0, n_v))
        else:
            self.combine(self._theta, None, pairs, (self.h, 0, n_v))
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
            if self.friction is not None:
                self.friction.correct(self._theta)
        self.b.call(self._move, [self.q, self._theta, self._next])
        self.copy(self._next, self.q, self.n_q)

    def _due(self, step: Any) -> Any:
        """A mask of the lanes that are looked at: every so many steps all, and those that come to a
        stop."""
        b, e = self.b, self.emitter
        often = b.icmp_signed("==", b.srem(step, i64(WATCHED)), i64(0))
        due = b.select(often, self.every, i64(0))
        for at_q, at_v, lower, upper in self._bounds:
            ahead = e.fma(self.h, self.get(self.v, i64(at_v)), self.get(self.q, i64(at_q)))
            far = (lower < -_LARGEST, upper > _LARGEST)
            for sign, limit, none in (("<", lower, far[0]), (">", upper, far[1])):
                if not none:
                    beyond = b.fcmp_ordered(sign, ahead, e.const(limit))
                    due = b.or_(due, self.mask_of(beyond))
        return due

    def _watch(self, dv: Any, due: Any) -> None:
        """Note the lanes in which the step is too long for what drives and stops do."""
        b, e, method = self.b, self.emitter, self.method
        given = [self.q, self.v, dv, self.length, self.constants, self.controls]
        b.call(self._watched, [*given, self._rates_of])
        damped = e.mul(self.h, self.get(self._rates_of, i64(0)))
        sprung = e.mul(e.mul(self.h, self.h), self.get(self._rates_of, i64(1)))
        fast = b.or_(
            b.fcmp_ordered(">", damped, e.const(method.damped)),
            b.fcmp_ordered(">", sprung, e.const(method.sprung)),
        )
        b.store(b.and_(self.mask_of(fast), due), self.overlong)


class TrialLoop(ExplicitLoop):
    """One step of a method that chooses its steps, each row with a length of its own.

    Its parts are the rates at its beginning, which are known from the step before as a rule; to go
    to where the first stage looks; and the stages. It leaves the state, and hands on the stages'
    rates, theta and velocities at its end, the configuration there and the error that is estimated.
    """

    def tiles(self) -> None:
        """The length of the step, and where it leads, besides."""
        self.length = self.handed(1, "length")
        super().tiles()
        self._wrong = self.handed(2 * self.n_v, "wrong")
        self._next = self.handed(self.n_q, "next")

    def parts(self) -> list[Callable[[Any], None]]:
        """The rates at the beginning, the way to the first stage, and the stages."""
        return [partial(self._evaluate, 0), lambda step: self._ahead(1), *super().parts()[1:]]

    def _finish(self) -> None:
        pairs = list(zip(self.method.error, self._rates, strict=True))
        self.combine(self._wrong, None, pairs, (self.h, 0, 2 * self.n_v))
        self.b.call(self._move, [self.q, self._theta, self._next])

    def _end(self, step: Any, after: Any) -> None:
        """Nothing: the caller judges."""


class ImplicitLoop(RolloutLoop):
    """The loop of generalised alpha: Newton's iteration in the lanes, with elimination as loops.

    Each lane iterates until it has its own solution and is left alone then, so no roll-out depends
    on its neighbours.
    """

    def __init__(self, module: Any, graphs: Mapping[str, Graph], *how: Any) -> None:
        super().__init__(module, graphs, *how)
        alpha = Implicit(self.system)
        self._local, self.n_x = alpha.local, self.n_v + alpha.n_held
        self.n_state = alpha.n_before
        self._newton = self.function_of(graphs["newton"], "newton")
        self._finish = self.function_of(graphs["finish"], "finish")
        self._settling: Iteration | None = None
        if self._local:
            self._settling = Iteration(self, graphs["settling"], "settle", friction.MOST)

    def tiles(self) -> None:
        """The unknown, what is left of the equations, their matrix, and the state reached."""
        n, m = self.n_x, len(self._local)
        self._x, self._forces = self.handed(n, "unknown"), self.handed(m, "forces")
        self._solved = self.mask("solved")
        self._left = self.room(n + n * n + 4 * m, "left")
        self._next = self.room(self.n_state, "next")
        self._change, self._scale = self.room(1, "change"), self.room(1, "scale")
        self._yields, self._old = self.room(n * m, "yields"), self.room(m, "old")
        self._detours = self.room(m, "detours")
        if self._settling is not None:
            self._settling.tiles()

    def begin(self) -> None:
        """The accelerations at the first state; zeros where they are no finite numbers."""
        b, e, n_v = self.b, self.emitter, self.n_v
        self.load_controls(self.args["step"], 0)
        rates = self.room(2 * n_v, "first")
        self.clear(self.held, len(self.system.rubbing))
        self.accelerate(self.zero, self.v, rates)
        if self.friction is not None:
            b.store(i64(0), self.stuck)
            self.friction.predict(rates)
        own = self.part(self.state, self.n_q + n_v)
        self.clear(own, self.n_state - self.n_q - n_v)

        def one(k: Any) -> None:
            dv = self.get(rates, b.add(k, i64(n_v)))
            there = b.fcmp_ordered("<=", e.fabs(dv), e.const(_LARGEST))
            dv = b.select(there, dv, e.const(0.0))
            self.put(dv, own, k)
            self.put(dv, own, b.add(k, i64(n_v)))

        self.each(n_v, one)

    def parts(self) -> list[Callable[[Any], None]]:
        """The start of a step, its iterations, each a part where forces are asked for, its end."""
        return [self._start, self._iterate, self._finish_step]

    def _start(self, step: Any) -> None:
        """From the accelerations at the beginning."""
        self.copy(self.part(self.state, self.n_state - self.n_x), self._x, self.n_x)
        self.clear(self._forces, len(self._local))
        self.b.store(self.b.load(self.dead), self._solved)
        self._look()

    def _look(self) -> None:
        """Show the end that the unknowns lead to, at which forces are asked for."""
        if self.asks:
            self._reach()
            self.copy(self._next, self.asked, self.n_q + self.n_v)

    def _reach(self) -> None:
        self.b.call(self._finish, [self.state, self._x, self.length, self._next])

    def _iterate(self, step: Any) -> None:
        self.load_controls(step, 1)
        if not self.asks:
            self.until(self._solved, integrators.MOST, self._improve)
            return
        self._improve()
        self._look()
        open_ = self.b.ctpop(self.b.xor(self.b.load(self._solved), self.every))
        self.b.store(self.b.add(self.b.load(self.open), open_), self.open)

    def _improve(self) -> None:
        """One iteration."""
        given = [self.state, self._x, self.length, self.constants, self.controls, self._forces]
        self.b.call(self._newton, [*given, self._left])
        self._eliminate()
        self._correct(self._settle())

    def _finish_step(self, step: Any) -> None:
        self.b.store(self.b.xor(self.b.load(self._solved), self.every), self.stuck)
        self.load_controls(step, 1)
        self._reach()
        self.copy(self._next, self.state, self.n_state)

    def _eliminate(self) -> None:
        """Gauss's elimination without exchanges: the mass matrix, which is positive definite,
        outweighs what a step adds to it; what it leaves of the loops' rows is positive definite
        too. The solutions take the place of the right sides: what is left, and unit forces on the
        joints that are solved for by themselves."""
        n, e, b = self.n_x, self.emitter, self.b
        matrix = self.part(self._left, n)
        self._begin_units()

        def at(i: Any, j: Any) -> Any:
            return b.add(b.mul(i, i64(n)), j)

        def each_right(body: Callable[[Any], None]) -> None:
            body(self._left)
            self.each(len(self._local), lambda j: body(b.gep(self._yields, [at(j, i64(0))])))

        def pivot(k: Any) -> None:
            inverse = e.div(e.const(1.0), self.get(matrix, at(k, k)))
            self.put(inverse, matrix, at(k, k))

            def row(i: Any) -> None:
                factor = e.neg(e.mul(self.get(matrix, at(i, k)), inverse))

                def entry(j: Any) -> None:
                    value = e.fma(factor, self.get(matrix, at(k, j)), self.get(matrix, at(i, j)))
                    self.put(value, matrix, at(i, j))

                self.span(b.add(k, i64(1)), i64(n), entry)
                each_right(
                    lambda right: self.put(
                        e.fma(factor, self.get(right, k), self.get(right, i)), right, i
                    )
                )

            self.span(b.add(k, i64(1)), i64(n), row)

        self.each(n, pivot)

        def back(number: Any) -> None:
            i = b.sub(i64(n - 1), number)

            def taken(j: Any) -> None:
                factor = e.neg(self.get(matrix, at(i, j)))
                each_right(
                    lambda right: self.put(
                        e.fma(factor, self.get(right, j), self.get(right, i)), right, i
                    )
                )

            self.span(b.add(i, i64(1)), i64(n), taken)
            each_right(
                lambda right: self.put(
                    e.mul(self.get(right, i), self.get(matrix, at(i, i))), right, i
                )
            )

        self.each(n, back)

    def _begin_units(self) -> None:
        """Unit forces, one after another."""
        one = self.emitter.const(1.0)
        self.clear(self._yields, len(self._local) * self.n_x)
        for j, k in enumerate(self._local):
            self.put(one, self._yields, i64(j * self.n_x + k))

    def _settle(self) -> Any:
        """Let the forces of single joints go with the change of the unknowns; a mask of the lanes
        in which they have no solution."""
        b, e, n, m = self.b, self.emitter, self.n_x, len(self._local)
        if self._settling is None:
            return i64(0)
        self.copy(self._forces, self._old, m)
        drives = self.part(self._left, n + n * n)
        given = [drives, self._left, self._yields, self.length, self._old, self._forces]
        results = [(self._forces, m), (self._detours, m)]
        left = self._settling.write(given, results, b.load(self._solved))

        def one(j: Any) -> None:
            less = e.sub(self.get(self._old, j), self.get(self._forces, j))
            column = b.gep(self._yields, [b.mul(j, i64(n))])

            def entry(k: Any) -> None:
                value = e.fma(less, self.get(column, k), self.get(self._left, k))
                self.put(value, self._left, k)

            self.each(n, entry)

        self.each(m, one)
        return left

    def _correct(self, unsettled: Any) -> None:
        """Take the change in the lanes that are not solved, and see which are now."""
        b, e = self.b, self.emitter
        zero = i64(0)
        self.put(e.const(0.0), self._change, zero)
        self.put(e.const(0.0), self._scale, zero)
        solved = self.bits_of(b.load(self._solved))

        def take(k: Any) -> None:
            x = self.get(self._x, k)
            self.put(b.select(solved, x, e.sub(x, self.get(self._left, k))), self._x, k)

        def one(k: Any) -> None:
            change = e.mul(self.h, self.get(self._left, k))
            x = self.get(self._x, k)
            take(k)
            self._largest(self._change, e.fabs(change))
            speed = e.add(e.fabs(e.mul(self.h, x)), e.fabs(self.get(self.v, k)))
            self._largest(self._scale, speed)

        self.each(self.n_v, one)
        self.span(i64(self.n_v), i64(self.n_x), take)
        scale = e.add(e.const(1.0), self.get(self._scale, zero))
        most = e.mul(e.const(integrators.CLOSE), scale)
        close = b.fcmp_ordered("<=", self.get(self._change, zero), most)
        fresh = b.and_(self.mask_of(close), b.xor(unsettled, i64(-1)))
        self.add_to(self._solved, fresh)

    def _largest(self, tile: Any, value: Any) -> None:
        """Keep the larger one; what is no number stays."""
        known = self.get(tile, i64(0))
        keep = self.b.fcmp_unordered(">=", known, value)
        keep = self.b.and_(keep, self.b.fcmp_ordered("ord", value, value))
        self.put(self.b.select(keep, known, value), tile, i64(0))
