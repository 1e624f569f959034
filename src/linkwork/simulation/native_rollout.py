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

from linkwork.compile.emit import F64, I64, POINTER, counted_loop, each_bit, i64
from linkwork.compile.tiles import TileCode
from linkwork.ops.protocol import Block, Ops
from linkwork.simulation import integrators, joint_forces, loops
from linkwork.simulation.integrators import IMPLICIT, WATCHED, Implicit, Method
from linkwork.simulation.joint_forces import bounds

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.rolled import Program
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

ARRAYS = ("state", "constants", "controls", "settings", "q", "v", "failed", "remains", "beside")
"""Arrays that it takes: (rows, n) the state, q and v first, in and out; constants; controls at each
instant from that of ``step`` on, or those of one part; h and the bound of speeds; (rows, kept, nq)
and (rows, kept, nv) the kept states; (rows,) the step in which a row failed, -1 before, and one
half more where the step had no solution, a quarter where it left a loop open, an eighth where it
was too long for what acts; (rows, nq + nv) what it was then; `TileCode.beside_size` numbers for one
call at a time."""

UNSOLVED, UNCLOSED, OVERLONG = 0.5, 0.25, 0.125
"""Marks added to the step in which a row failed."""

_UNRESOLVED = 0.1
"""The share of an acceleration at the start that has to be damped away for steps to be too long."""

_LARGEST = 1.0e300  # a number beyond is none, a limit beyond is none


def rollout_loop(
    module: Any,
    graphs: Mapping[str, Graph | Program],
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


class Iteration:
    """An iteration that is repeated until its last number is at most 1 in all lanes.

    ``improve`` writes one iteration into the tile ``found`` of so many numbers; all but the last
    are those of ``results``, tiles with their sizes. A lane that has come there is left alone, so
    no roll-out depends on its neighbours. It is made where the function begins.
    """

    def __init__(
        self,
        loop: TileCode,
        size: int,
        improve: Callable[[Any], None],
        results: Sequence[tuple[Any, int]],
        done: Any = None,
    ) -> None:
        self._loop, self._improve, self._results = loop, improve, results
        self._found, self._last = loop.room(size, "found"), i64(size - 1)
        self.done = loop.b.alloca(I64) if done is None else done

    def begin(self, alone: Any) -> None:
        """Keep the lanes in this mask as they are."""
        self._loop.b.store(alone, self.done)

    def once(self) -> None:
        """Write one iteration."""
        loop, b = self._loop, self._loop.b
        self._improve(self._found)
        kept, start = loop.bits_of(b.load(self.done)), 0
        for tile, count in self._results:
            new = loop.part(self._found, start)

            def take(k: Any, new: Any = new, tile: Any = tile) -> None:
                loop.put(b.select(kept, loop.get(tile, k), loop.get(new, k)), tile, k)

            loop.each(count, take)
            start += count
        left = loop.get(self._found, self._last)
        good = b.fcmp_ordered("<=", left, loop.emitter.const(1.0))
        loop.add_to(self.done, loop.mask_of(good))

    def write(self, most: int) -> Any:
        """Write so many iterations at most; the mask of lanes that are left without a solution."""
        self._loop.until(self.done, most, self.once)
        return self.left()

    def left(self) -> Any:
        """The mask of lanes that go on."""
        return self._loop.b.xor(self._loop.b.load(self.done), self._loop.every)


class RolloutLoop(TileCode):
    """Writes ``i64 rollout(counts..., arrays...)``, see `COUNTS` and `ARRAYS`.

    It returns how many rows go on iterating, of a part that iterates.
    """

    def __init__(
        self,
        module: Any,
        graphs: Mapping[str, Graph | Program],
        system: System,
        method: Method,
        target: Target,
    ) -> None:
        super().__init__(module, target.width, fused=target.fused)
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
            self._project = self.function_of(graphs["projection"], "project")

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
        self.beside = b.bitcast(self.args["beside"], self.pointer)
        self.state = self.room(self.n_state, "x")
        self.q, self.v = self.state, self.part(self.state, self.n_q)
        self.asked = self.handed(self.n_q + self.n_v, "asked")  # what a part asks about
        self.constants = self.room(self.system.n_constants, "p")
        self.controls = self.room(self.system.n_controls, "u")
        self.zero = self.room(self.n_v, "zero")
        self.held = self.handed(len(self.system.rubbing), "held")
        self.dead, self.wrong, self.unclosed, self.open = (
            b.alloca(I64, name=name) for name in ("dead", "wrong", "unclosed", "open")
        )
        self.stuck, self.overlong = self.mask("stuck"), self.mask("overlong")
        b.store(i64(0), self.open)
        self.bound = self.everywhere(b.load(b.gep(self.args["settings"], [i64(1)])))
        self.length = self.room(1, "length")
        self.put(self.everywhere(b.load(self.args["settings"])), self.length, i64(0))
        self.clear(self.zero, self.n_v)
        self.tiles()
        if self.friction is not None:
            self.friction.tiles()
        if self.system.closed:
            size = self.n_q + self.n_v
            given = [self.q, self.v, self.constants, self.controls]
            self._projection = Iteration(
                self,
                size + 1,
                lambda found: self.call(self._project, *given, found),
                [(self.state, size)],
            )
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
        self.call(self.stage, *given, rates)

    # one tile of rows

    def _tile(self, number: Any) -> None:
        b, args = self.b, self.args
        self.row = b.add(args["first"], b.mul(number, i64(self.width)))
        left = b.sub(args["last"], self.row)
        some = b.icmp_signed("<", left, i64(self.width))
        self.count = b.select(some, left, i64(self.width))
        b.store(i64(0), self.dead)
        counted_loop(b, i64(self.width), self._load_lane)
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
            self._projection.begin(b.or_(b.load(self.dead), b.load(self.stuck)))
            b.store(self._projection.write(loops.MOST), self.unclosed)
        self._judge(step)
        at_end = b.icmp_signed("==", after, args["steps"])
        on_beat = b.icmp_signed("==", b.srem(after, args["every"]), i64(0))
        with b.if_then(b.or_(at_end, on_beat)):
            place = b.sdiv(b.add(after, b.sub(args["every"], i64(1))), args["every"])
            counted_loop(b, self.count, lambda lane: self._keep(lane, place))

    def _judge(self, step: Any) -> None:
        """Note the lanes that have just failed: no solution, too fast, or no numbers any more."""
        b, e = self.b, self.emitter
        b.store(i64(0), self.wrong)
        limits = ((self.v, self.n_v, self.bound), (self.q, self.n_q, e.const(_LARGEST)))
        for tile, count, most in limits:

            def judge(k: Any, tile: Any = tile, most: Any = most) -> None:
                bad = b.fcmp_unordered(">", e.fabs(self.get(tile, k)), most)
                self.add_to(self.wrong, self.mask_of(bad))

            self.each(count, judge)
        marks = {
            UNSOLVED: b.load(self.stuck),
            UNCLOSED: b.load(self.unclosed),
            OVERLONG: b.load(self.overlong),
        }
        found = b.load(self.wrong)
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

            each_bit(b, fresh, note)

    def _keep(self, lane: Any, place: Any) -> None:
        b, args = self.b, self.args
        at = b.add(b.mul(b.add(self.row, lane), args["kept"]), place)
        for name, tile, size in (("q", self.q, self.n_q), ("v", self.v, self.n_v)):
            self.copy_out(tile, lane, b.gep(args[name], [b.mul(at, i64(size))]), size)


class StickingCode:
    """Writes the friction of a step: what holds through it, and what its end makes of that.

    W is what unit forces of friction accelerate, column by column, lam these forces.
    """

    def __init__(self, loop: RolloutLoop, graphs: Mapping[str, Graph | Program]) -> None:
        self._loop, self._n = loop, len(loop.system.rubbing)
        n, n_v = self._n, loop.n_v
        self._yields = loop.function_of(graphs["yields"], "yields")
        self._stick = loop.function_of(graphs["sticking"], "stick")

        def pushed(o: Ops, x: Block, W: Block, lam: Block, factor: Block) -> Block:
            """X + factor W lam."""
            for j in range(n):
                x = x + (factor * lam[j]) * o.part(W, j * n_v, (j + 1) * n_v)
            return x

        def free(o: Ops, v: Block, rates: Block, h: Block) -> Block:
            return v + h[0] * o.part(rates, n_v, 2 * n_v)

        def begun(o: Ops, rates: Block, W: Block, lam: Block) -> Block:
            dv = pushed(o, o.part(rates, n_v, 2 * n_v), W, lam, o.const(1.0))
            return o.concat([o.part(rates, 0, n_v), dv])

        def without(o: Ops, way: Block, W: Block, lam: Block, h: Block) -> Block:
            return pushed(o, o.part(way, n_v, 2 * n_v), W, lam, -h[0])

        def ended(
            o: Ops, way: Block, W: Block, before: Block, lam: Block, detours: Block, h: Block
        ) -> Block:
            more = lam - before
            missed = 0.5 * more + detours
            theta = pushed(o, o.part(way, 0, n_v), W, missed, h[0] * h[0])
            return o.concat([theta, pushed(o, o.part(way, n_v, 2 * n_v), W, more, h[0])])

        self._free_of = loop.expression("free", free, n_v, 2 * n_v, 1)
        self._begun_of = loop.expression("begun", begun, 2 * n_v, n_v * n, n)
        self._without = loop.expression("without", without, 2 * n_v, n_v * n, n, 1)
        self._ended = loop.expression("ended", ended, 2 * n_v, n_v * n, n, n, n, 1)

    def tiles(self) -> None:
        """Make room for the forces of friction, and what they do."""
        loop, n, n_v = self._loop, self._n, self._loop.n_v
        self._by, self._begun = loop.handed(n_v * n, "by"), loop.handed(n_v, "begun")
        self._forces = loop.handed(n, "friction")
        self._free, self._detours = loop.room(n_v, "free"), loop.room(n, "detours")
        self._before, self._next = loop.room(n, "before"), loop.room(2 * n_v, "rubbed")
        given = [self._free, self._begun, self._by, loop.length, self._forces]
        self._solve = Iteration(
            loop,
            2 * n + 1,
            lambda found: loop.call(self._stick, *given, found),
            [(self._forces, n), (self._detours, n)],
        )

    def predict(self, rates: Any) -> None:
        """The friction that the accelerations at the beginning ask for; it joins their rates."""
        loop, n_v = self._loop, self._loop.n_v
        loop.call(self._yields, loop.q, loop.constants, loop.controls, self._by)
        loop.copy(loop.v, self._begun, n_v)
        loop.call(self._free_of, loop.v, rates, loop.length, self._free)
        loop.clear(self._forces, self._n)
        self._settle()
        loop.copy(self._forces, loop.held, self._n)
        loop.call(self._begun_of, rates, self._by, loop.held, self._next)
        loop.copy(self._next, rates, 2 * n_v)

    def correct(self, way: Any) -> None:
        """The friction that the end of the step asks for: theta and v there change by what it is
        more."""
        loop, n = self._loop, self._n
        loop.call(self._without, way, self._by, self._forces, loop.length, self._free)
        loop.copy(self._forces, self._before, n)
        self._settle()
        given = [self._by, self._before, self._forces, self._detours, loop.length]
        loop.call(self._ended, way, *given, self._next)
        loop.copy(self._next, way, 2 * loop.n_v)

    def _settle(self) -> None:
        loop, b = self._loop, self._loop.b
        loop.clear(self._detours, self._n)
        self._solve.begin(b.or_(b.load(loop.dead), b.load(loop.stuck)))
        loop.add_to(loop.stuck, self._solve.write(joint_forces.MOST_SWEEPS))


class ExplicitLoop(RolloutLoop):
    """The loop of an explicit method: a part for each stage.

    The stage, and the ways to where stages look, are each written once, as functions on tiles; a
    way is theta and the velocities (2 nv,).
    """

    def __init__(self, module: Any, graphs: Mapping[str, Graph | Program], *how: Any) -> None:
        super().__init__(module, graphs, *how)
        self._bounds = bounds(self.system.mechanism, self.system.stopped)
        self._move = self.function_of(graphs["advance"], "move")
        watched = graphs.get("stiffness")
        self._watched = None if watched is None else self.function_of(watched, "stiffness")
        self._n_watched = 0 if watched is None else watched.output_sizes[0]
        self._ways: list[Any] = [None]
        for weights in (*self.method.a[1:], *([] if self.method.error else [self.method.b])):
            sizes = [2 * self.n_v] * len(weights)
            way = partial(self._way, weights)
            self._ways.append(self.expression("way", way, self.n_v, 1, *sizes))

    def _way(self, weights: Sequence[float], o: Ops, v: Block, h: Block, *rates: Block) -> Block:
        """h times the weighted rates; v goes on by theirs."""
        n = self.n_v
        total = weighted(o, weights, rates)
        if self.method.symplectic:
            after = v + h[0] * o.part(total, n, 2 * n)
            return o.concat([h[0] * after, after])
        return o.concat([h[0] * o.part(total, 0, n), v + h[0] * o.part(total, n, 2 * n)])

    def tiles(self) -> None:
        """The stages' rates, where they are evaluated, and the configuration that is reached."""
        self._theta = self.handed(2 * self.n_v, "way")
        self._speed = self.part(self._theta, self.n_v)
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
        if i:
            self.accelerate(self._theta, self._speed, rates[i])
            return
        self.clear(self.held, len(self.system.rubbing))
        self.accelerate(self.zero, self.v, rates[0])
        if self.friction is not None:
            self.friction.predict(rates[0])
        if self._watched is not None:
            due = self._due(step)
            with self.b.if_then(self.b.icmp_signed("!=", due, i64(0))):
                self._watch(self.part(rates[0], self.n_v), due)

    def _ahead(self, i: int) -> None:
        """Go to where a stage looks, or to the end."""
        self.call(self._ways[i], self.v, self.length, *self._rates[:i], self._theta)
        if self.asks and i < self.method.stages:
            self.call(self._move, self.q, self._theta, self.asked)
            self.copy(self._speed, self.part(self.asked, self.n_q), self.n_v)

    def _finish(self) -> None:
        self._ahead(self.method.stages)
        if self.friction is not None and not self.method.symplectic:
            self.friction.correct(self._theta)
        self.call(self._move, self.q, self._theta, self._next)
        self.copy(self._next, self.q, self.n_q)
        self.copy(self._speed, self.v, self.n_v)

    def _due(self, step: Any) -> Any:
        """A mask of the lanes that are looked at: every so many steps all, and those that come to a
        stop."""
        b, e = self.b, self.emitter
        often = b.icmp_signed("==", b.srem(step, i64(WATCHED)), i64(0))
        due = b.select(often, self.every, i64(0))
        for at_q, at_v, lower, upper in self._bounds:
            h = self.get(self.length, i64(0))
            ahead = e.fma(h, self.get(self.v, i64(at_v)), self.get(self.q, i64(at_q)))
            for sign, limit, none in (
                ("<", lower, lower < -_LARGEST),
                (">", upper, upper > _LARGEST),
            ):
                if not none:
                    beyond = b.fcmp_ordered(sign, ahead, e.const(limit))
                    due = b.or_(due, self.mask_of(beyond))
        return due

    def _watch(self, dv: Any, due: Any) -> None:
        """Note the lanes in which the step is too long for what drives and stops do."""
        b, e, h = self.b, self.emitter, self.get(self.length, i64(0))
        given = [self.q, self.v, dv, self.length, self.constants, self.controls]
        self.call(self._watched, *given, self._rates_of)
        damped = e.mul(h, self.get(self._rates_of, i64(0)))
        sprung = e.mul(e.mul(h, h), self.get(self._rates_of, i64(1)))
        fast = b.or_(
            b.fcmp_ordered(">", damped, e.const(self.method.damped)),
            b.fcmp_ordered(">", sprung, e.const(self.method.sprung)),
        )
        b.store(b.and_(self.mask_of(fast), due), self.overlong)


class TrialLoop(ExplicitLoop):
    """One step of a method that chooses its steps, each row with a length of its own.

    Its parts are the rates at its beginning, which are known from the step before as a rule; to go
    to where the first stage looks; and the stages. It leaves the state, and hands on the stages'
    rates, theta and velocities at its end, the configuration there and the error that is estimated.
    """

    def __init__(self, module: Any, graphs: Mapping[str, Graph | Program], *how: Any) -> None:
        super().__init__(module, graphs, *how)

        def wrong(o: Ops, h: Block, *rates: Block) -> Block:
            return h[0] * weighted(o, self.method.error, rates)

        sizes = [2 * self.n_v] * self.method.stages
        self._wrong_of = self.expression("wrong", wrong, 1, *sizes)

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
        self.call(self._wrong_of, self.length, *self._rates, self._wrong)
        self.call(self._move, self.q, self._theta, self._next)

    def _end(self, step: Any, after: Any) -> None:
        """Nothing: the caller judges."""


class ImplicitLoop(RolloutLoop):
    """The loop of generalised alpha: Newton's iteration in the lanes, with elimination as loops."""

    def __init__(self, module: Any, graphs: Mapping[str, Graph | Program], *how: Any) -> None:
        super().__init__(module, graphs, *how)
        alpha, n_v = Implicit(self.system), self.n_v
        self._local, self.n_x = alpha.local, n_v + alpha.n_held
        self.n_state = alpha.n_before
        self._newton = self.function_of(graphs["newton"], "newton")
        self._finish = self.function_of(graphs["finish"], "finish")
        n, m = self.n_x, len(self._local)

        def begun(o: Ops, rates: Block) -> Block:
            """(dv, f) at the first state: zeros where these are no finite numbers."""
            dv = [rates[n_v + k] for k in range(n_v)]
            there = [o.less(o.absolute(x), _LARGEST) for x in dv]
            kept = [o.select(good, x, 0.0) for good, x in zip(there, dv, strict=True)]
            return o.vector([*kept, *[0.0] * alpha.n_held])

        def resolved(o: Ops, dv: Block, damped: Block) -> Block:
            """dv, or where that would last for a part of a step only, what is damped of it."""
            size = off = o.const(0.0)
            for k in range(n_v):
                size = o.maximum(size, o.absolute(dv[k]))
                off = o.maximum(off, o.absolute(damped[k] - dv[k]))
            stiff = o.less(_UNRESOLVED * size, off)
            return o.vector([o.select(stiff, damped[k], dv[k]) for k in range(n_v)])

        def settled(o: Ops, change: Block, yields: Block, old: Block, forces: Block) -> Block:
            """The change (n,) of the unknowns where forces of single joints have changed."""
            for j in range(m):
                change = change + (old[j] - forces[j]) * o.part(yields, j * n, (j + 1) * n)
            return change

        def corrected(o: Ops, x: Block, change: Block, v: Block, h: Block) -> Block:
            """(n + 1,): the unknowns after the change, and 1 where that is next to nothing."""
            scale = o.const(0.0)
            for k in range(n_v):
                scale = o.maximum(scale, o.absolute(h[0] * x[k]) + o.absolute(v[k]))
            most = integrators.CLOSE * (1.0 + scale)
            close = o.less(o.absolute(h[0] * change[0]), most)
            for k in range(1, n_v):
                close = o.both(close, o.less(o.absolute(h[0] * change[k]), most))
            return o.concat([x - change, o.vector([o.select(close, 1.0, 2.0)])])

        self._begun = self.expression("begun", begun, 2 * n_v)
        self._resolved = self.expression("resolved", resolved, n, n)
        self._corrected = self.expression("corrected", corrected, n, n, n_v, 1)
        if m:
            self._settle = self.function_of(graphs["settling"], "settle")
            self._settled = self.expression("settled", settled, n, n * m, m, m)

    def tiles(self) -> None:
        """The unknown, what is left of the equations, their matrix, and the state reached."""
        n, m = self.n_x, len(self._local)
        self._x, self._forces = self.handed(n, "unknown"), self.handed(m, "forces")
        self._left = self.room(n + n * n + 4 * m, "left")
        self._next, self._change = self.room(self.n_state, "next"), self.room(n, "change")
        self._yields, self._old = self.room(n * m, "yields"), self.room(m, "old")
        self._detours = self.room(m, "detours")
        solved = self.mask("solved")
        self._solving = Iteration(self, n + 1, self._improve, [(self._x, n)], solved)
        drives = self.part(self._left, n + n * n)
        given = [drives, self._left, self._yields, self.length, self._old, self._forces]
        self._settling = Iteration(
            self,
            2 * m + 1,
            lambda found: self.call(self._settle, *given, found),
            [(self._forces, m), (self._detours, m)],
        )

    def begin(self) -> None:
        """The part of the accelerations dv at the first state that steps resolve, as a and dv.

        Stiff forces out of balance accelerate for a small part of the first step only, and dv would
        lead far beyond. With A(h) the matrix of Newton's iteration, A(0) that without the forces'
        slopes, A(h)⁻¹ A(0) dv is the acceleration of a linearly implicit step. Twice that less that
        of 2 h is dv up to the square of h, and of stiff forces no more than balances the velocity.
        Where the two are next to each other dv stays as it is.
        """
        n, n_v, e = self.n_x, self.n_v, self.emitter
        self.load_controls(self.args["step"], 0)
        rates, first = self.room(2 * n_v, "rates"), self.room(n, "first")
        self.clear(self.held, len(self.system.rubbing))
        self.accelerate(self.zero, self.v, rates)
        if self.friction is not None:
            self.b.store(i64(0), self.stuck)
            self.friction.predict(rates)
        self.call(self._begun, rates, first)
        span, pushes = self.room(1, "span"), self.room(n, "pushes")
        a, dv = (self.part(self.state, self.n_q + k * n_v) for k in (1, 2))
        for tile, size in ((a, n_v + n), (self._x, n), (self._forces, len(self._local))):
            self.clear(tile, size)

        def linearised(steps: float) -> None:
            self.put(e.mul(e.const(steps), self.get(self.length, i64(0))), span, i64(0))
            given = [self.state, self._x, span, self.constants, self.controls, self._forces]
            self.call(self._newton, *given, self._left)

        linearised(0.0)
        self._multiply(first, pushes)
        damped = self.room(n, "damped")
        self.clear(damped, n)
        for steps, share in ((1.0, 2.0), (2.0, -1.0)):
            linearised(steps)
            self.copy(pushes, self._left, n)
            self._eliminate()

            def add(k: Any, share: float = share) -> None:
                more = e.fma(e.const(share), self.get(self._left, k), self.get(damped, k))
                self.put(more, damped, k)

            self.each(n_v, add)
        self.call(self._resolved, first, damped, a)
        self.copy(a, dv, n_v)

    def _multiply(self, vector: Any, product: Any) -> None:
        """The product of Newton's matrix and a vector."""
        n, e, b = self.n_x, self.emitter, self.b
        matrix = self.part(self._left, n)

        def row(i: Any) -> None:
            self.put(e.const(0.0), product, i)

            def entry(j: Any) -> None:
                value = self.get(matrix, b.add(b.mul(i, i64(n)), j))
                self.put(e.fma(value, self.get(vector, j), self.get(product, i)), product, i)

            self.each(n, entry)

        self.each(n, row)

    def parts(self) -> list[Callable[[Any], None]]:
        """The start of a step, its iterations, each a part where forces are asked for, its end."""
        return [self._start, self._iterate, self._finish_step]

    def _start(self, step: Any) -> None:
        """From the accelerations at the beginning."""
        self.copy(self.part(self.state, self.n_state - self.n_x), self._x, self.n_x)
        self.clear(self._forces, len(self._local))
        self._solving.begin(self.b.load(self.dead))
        self._look()

    def _look(self) -> None:
        """Show the end that the unknowns lead to, at which forces are asked for."""
        if self.asks:
            self.call(self._finish, self.state, self._x, self.length, self._next)
            self.copy(self._next, self.asked, self.n_q + self.n_v)

    def _iterate(self, step: Any) -> None:
        self.load_controls(step, 1)
        if not self.asks:
            self._solving.write(integrators.MOST)
            return
        self._solving.once()
        self._look()
        going = self.b.ctpop(self._solving.left())
        self.b.store(self.b.add(self.b.load(self.open), going), self.open)

    def _finish_step(self, step: Any) -> None:
        self.b.store(self._solving.left(), self.stuck)
        self.load_controls(step, 1)
        self.call(self._finish, self.state, self._x, self.length, self._next)
        self.copy(self._next, self.state, self.n_state)

    def _improve(self, found: Any) -> None:
        """One iteration; it goes on in lanes where the forces of single joints have no solution."""
        b, e, n, m = self.b, self.emitter, self.n_x, len(self._local)
        given = [self.state, self._x, self.length, self.constants, self.controls, self._forces]
        self.call(self._newton, *given, self._left)
        self._eliminate()
        unsettled: Any = None
        change = self._left
        if m:
            self.copy(self._forces, self._old, m)
            self._settling.begin(b.load(self._solving.done))
            unsettled = self._settling.write(joint_forces.MOST_SWEEPS)
            given = [self._left, self._yields, self._old, self._forces]
            self.call(self._settled, *given, self._change)
            change = self._change
        self.call(self._corrected, self._x, change, self.v, self.length, found)
        if m:
            left = self.get(found, i64(n))
            again = b.select(self.bits_of(unsettled), e.const(2.0), left)
            self.put(again, found, i64(n))

    def _eliminate(self) -> None:
        """Gauss's elimination without exchanges: the mass matrix, which is positive definite,
        outweighs what a step adds to it; what it leaves of the loops' rows is positive definite
        too. The solutions take the place of the right sides: what is left, and unit forces on the
        joints that are solved for by themselves."""
        n, e, b = self.n_x, self.emitter, self.b
        matrix = self.part(self._left, n)
        self.clear(self._yields, len(self._local) * n)
        for j, k in enumerate(self._local):
            self.put(e.const(1.0), self._yields, i64(j * n + k))

        def at(i: Any, j: Any) -> Any:
            return b.add(b.mul(i, i64(n)), j)

        def each_right(body: Callable[[Any], None]) -> None:
            body(self._left)
            self.each(len(self._local), lambda j: body(b.gep(self._yields, [at(j, i64(0))])))

        def add_row(factor: Any, k: Any, i: Any) -> None:
            """Row i of the right sides, with factor times row k."""
            each_right(
                lambda right: self.put(
                    e.fma(factor, self.get(right, k), self.get(right, i)), right, i
                )
            )

        def pivot(k: Any) -> None:
            inverse = e.div(e.const(1.0), self.get(matrix, at(k, k)))
            self.put(inverse, matrix, at(k, k))

            def row(i: Any) -> None:
                factor = e.neg(e.mul(self.get(matrix, at(i, k)), inverse))

                def entry(j: Any) -> None:
                    value = e.fma(factor, self.get(matrix, at(k, j)), self.get(matrix, at(i, j)))
                    self.put(value, matrix, at(i, j))

                self.span(b.add(k, i64(1)), i64(n), entry)
                add_row(factor, k, i)

            self.span(b.add(k, i64(1)), i64(n), row)

        self.each(n, pivot)

        def back(number: Any) -> None:
            i = b.sub(i64(n - 1), number)
            self.span(
                b.add(i, i64(1)),
                i64(n),
                lambda j: add_row(e.neg(self.get(matrix, at(i, j))), j, i),
            )
            inverse = self.get(matrix, at(i, i))
            each_right(lambda right: self.put(e.mul(self.get(right, i), inverse), right, i))

        self.each(n, back)


def weighted(o: Ops, weights: Sequence[float], rates: Sequence[Block]) -> Block:
    """The weighted sum of rates."""
    total: Block = None
    for weight, rate in zip(weights, rates, strict=True):
        if weight:
            total = weight * rate if total is None else total + weight * rate
    return total
