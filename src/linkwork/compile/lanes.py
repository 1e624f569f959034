"""Problems iterated in lanes: each lane holds one problem, and is refilled when it is done.

The step is a graph ``(x, parameters, settings) -> (x', state)`` with ``state`` = (gap, score) or
(gap, score, going): the *given* x is a solution where gap <= 0, and the lowest score is the best of
the failures. A try goes on from a solution while going > 0. A try that has used its steps starts
again from a random point, keyed by (seed, parameters, try), so the answer to a problem depends on
nothing but the problem: not on its neighbours, its row or the threads.

One try may start at a *seed*, a point of a table, where the problem names a row of it.

A try may end before its steps are used: where its best score has stopped falling it stands in a
minimum that is no solution (see `Stall`). That depends on its own scores alone, so bits stay.

Every lane has a problem of its own while there are enough. When the queue is empty, lanes that have
nothing to do help: they take later tries of problems that are still open, before it is known that
the earlier ones fail. The lowest-numbered try that succeeds wins, whoever ends first, so an answer
has the same bits alone, where all lanes race for it, and in any batch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, counted_loop, each_bit, i64
from linkwork.compile.graph import Graph
from linkwork.compile.loops import STACK_OF_ONE, Ports, RowsCode, emit_nodes
from linkwork.compile.rolled import Program
from linkwork.compile.rolled_rows import emit_passes
from linkwork.compile.threads import row_cost_ns
from linkwork.compile.tiles import TileCode

I16 = ir.IntType(16)

REPORT = ("solved", "score", "steps", "tries")
"""The columns of the report: 1 or 0, the score, steps of the try that is returned, its number."""

_IDLE = -1.0e300  # the step count of a lane without a problem

SEED_STEPS = 65_536
"""A number of a seed is (k + 1/2) / 65536 of the span from its base, with k of 16 bits."""

NO_SEED = 65_535
"""The first number of a row of the table that holds no seed."""


@dataclass(frozen=True)
class Stall:
    """The rule by which a try is given up: no fall by ``share`` of its score in ``steps`` steps."""

    steps: int
    share: float


# the arguments of the native function
ARRAYS = ("x0", "parameters", "settings", "starts", "rows", "seeds", "x", "report", "scratch")
NUMBERS = ("first", "last", "max_steps", "first_try", "max_tries", "seed", "seed_try", "budget")

_MOST_LANES = 8
_SLICE_NS = 60_000_000.0


def steps_in_a_slice(instructions: int, width: int) -> int:
    """The steps, counted by lane, that are made in about 0.06 s: how long no Ctrl-C is heard.

    An estimate from the graph alone, so that no clock is read; no bit of a result depends on it.
    """
    return max(1, int(_SLICE_NS / row_cost_ns(instructions, 0, width)))


def tries_in_a_slice(budget: int, steps: int) -> int:
    """The tries of so many steps each that the rows of all lanes make after a budget is used.

    They take half as long as the budget, or less.
    """
    return max(1, budget // (2 * _MOST_LANES * steps))


def emit_lanes(
    module: Any,
    code: Graph | Program,
    width: int,
    name: str,
    *,
    fused: bool,
    stall: Stall | None = None,
) -> RowsCode:
    """Write ``i64 name(numbers..., arrays...)``, of `NUMBERS` and `ARRAYS`.

    Arrays: x0 (N, n), parameters (N, p), settings (s,), starts (3, n): base, span and whether
    x0 is added; rows (N,), as float64, are rows of ``seeds``, a table of 16-bit numbers (R, n),
    where try ``seed_try`` starts: a row below 0, or one that is empty, is as a try without a seed.
    ``seed_try`` -1 uses neither, and both may be null then. x (N, n) and report (N, 4) are written.
    Tries go from ``first_try`` to ``max_tries``: what x and report hold of earlier ones stays where
    it is better, so that tries in several calls give the bits of one. A row whose steps in the
    report are -k < 0 beforehand has k tries at most. ``stall``: when a try is given up; None where
    its steps alone decide. Once ``budget`` steps are made, counted by lane, no further row is
    begun. ``scratch`` is as long as the result says, aligned to 64 bytes; it may be null where that
    is 0. Returns the number of steps made, or minus that of the rows, the last ones, that are left.
    """
    lanes = _Lanes(module, code, (width, fused), name, stall)
    return RowsCode(lanes.function, lanes.scratch)


class _Lanes(TileCode):
    """The writing of the native function."""

    def __init__(
        self,
        module: Any,
        code: Graph | Program,
        how: tuple[int, bool],
        name: str,
        stall: Stall | None,
    ) -> None:
        super().__init__(module, how[0], fused=how[1])
        self.n, self.n_parameters, n_settings = code.input_sizes
        kind = ir.FunctionType(I64, [I64] * len(NUMBERS) + [POINTER] * len(ARRAYS))
        self.function: Any = ir.Function(module, kind, name)
        self.args: dict[str, Any] = dict(zip((*NUMBERS, *ARRAYS), self.function.args, strict=True))
        self.at(ir.IRBuilder(self.function.append_basic_block("entry")))
        sizes = {"a": self.n, "b": self.n, "p": self.n_parameters, "s": n_settings}
        sizes |= {"state": code.output_sizes[1], "count": 1, "limit": 1, "mark": 1, "marked": 1}
        self.memory = {tile: self.room(size, tile) for tile, size in sizes.items()}
        for words in ("problem", "try", "slot", "again", "next_try", "best_try"):
            self.memory[words] = self.b.alloca(I64, size=self.width, name=words)
        for word in ("next", "last", "live", "idle", "total", "key", "most", "chosen"):
            self.memory[word] = self.b.alloca(I64, name=word)
        self._prepare(n_settings)
        self.scratch = 0
        if isinstance(code, Program):
            size = code.room * self.width
            self.scratch = size if size > STACK_OF_ONE else 0
            scratch = self.b.bitcast(self.args["scratch"], self.pointer)
            self.memory["room"] = scratch if self.scratch else self.room(code.room, "room")
        self._iterate(code, stall)
        left = self.b.sub(self.args["last"], self.word("next"))
        partly = self.b.icmp_signed(">", left, i64(0))
        self.b.ret(self.b.select(partly, self.b.sub(i64(0), left), self.word("total")))

    def number(self, tile: str, lane: Any, k: int = 0) -> Any:
        """The address of the k-th number of a lane."""
        return self.lane(self.memory[tile], i64(k), lane)

    def word(self, name: str) -> Any:
        """A whole number."""
        return self.b.load(self.memory[name])

    def set_word(self, name: str, value: Any) -> None:
        """Store a whole number."""
        self.b.store(value, self.memory[name])

    def lane_word(self, name: str, lane: Any) -> Any:
        """The address of a whole number of a lane."""
        return self.b.gep(self.memory[name], [lane])

    def row(self, name: str, j: Any, length: int) -> Any:
        """A row of an array."""
        return self.b.gep(self.args[name], [self.b.mul(j, i64(length))])

    def every_lane(self, body: Callable[[Any], None]) -> None:
        """``body(lane)`` for each lane."""
        counted_loop(self.b, i64(self.width), body)

    def _prepare(self, n_settings: int) -> None:
        """Clear the tiles, spread the settings over the lanes and give each lane its first work."""
        b = self.b
        for tile, size in (("a", self.n), ("b", self.n), ("p", self.n_parameters)):
            self.clear(self.memory[tile], size)
        for k in range(n_settings):
            value = self.everywhere(b.load(b.gep(self.args["settings"], [i64(k)])))
            self.put(value, self.memory["s"], i64(k))
        most_steps = self.everywhere(b.sitofp(self.args["max_steps"], F64))
        self.put(most_steps, self.memory["limit"], i64(0))
        for word, value in (
            ("next", self.args["first"]),
            ("last", self.args["last"]),
            ("live", i64(0)),
            ("total", i64(0)),
            ("idle", self.every),
        ):
            self.set_word(word, value)

        def empty(lane: Any) -> None:
            b.store(i64(-1), self.lane_word("problem", lane))
            b.store(i64(-1), self.lane_word("again", lane))
            b.store(ir.Constant(F64, _IDLE), self.number("count", lane))
            self._unmark(lane)

        self.every_lane(empty)

    def _unmark(self, lane: Any) -> None:
        """Forget the scores of the try before."""
        self.b.store(ir.Constant(F64, float("inf")), self.number("mark", lane))
        self.b.store(ir.Constant(F64, 0.0), self.number("marked", lane))

    def _iterate(self, code: Graph | Program, stall: Stall | None) -> None:
        """Write the loop: one step in all lanes, then whatever lanes have finished."""
        b, emitter, before = self.b, self.emitter, self.b.block
        head, work, done = (b.append_basic_block(name) for name in ("step", "work", "done"))
        b.branch(head)
        b.position_at_end(head)
        pointer = self.memory["a"].type
        current, following = b.phi(pointer), b.phi(pointer)
        current.add_incoming(self.memory["a"], before)
        following.add_incoming(self.memory["b"], before)
        with b.if_then(b.icmp_signed("!=", self.word("idle"), i64(0)), likely=False):
            each_bit(b, self.word("idle"), lambda lane: self._take(current, lane))
            self.set_word("idle", i64(0))
        b.cbranch(b.icmp_signed(">", self.word("live"), i64(0)), work, done)
        b.position_at_end(work)
        tiles = (current, self.memory["p"], self.memory["s"])
        outputs = (following, self.memory["state"])
        if isinstance(code, Program):
            emit_passes(emitter, code, tiles, outputs, self.memory["room"])
        else:
            ports = Ports(code, b, (*tiles, *outputs))
            ports.clear(emitter.const(0.0))
            emit_nodes(emitter, ports)
        n_state = code.output_sizes[1]
        state = [self.get(self.memory["state"], i64(k)) for k in range(n_state)]
        count = b.fadd(b.load(self.memory["count"]), emitter.const(1.0))
        b.store(count, self.memory["count"])
        limit = b.load(self.memory["limit"])
        zero = emitter.const(0.0)
        solved = b.and_(b.fcmp_ordered("<=", state[0], zero), b.fcmp_ordered(">", count, zero))
        for going in state[2:]:
            solved = b.and_(solved, b.fcmp_unordered("<=", going, zero))
        finished = b.or_(solved, b.fcmp_ordered(">=", count, limit))
        if stall is not None:
            finished = b.or_(finished, self._stalled(stall, state[1], count))
        self.set_word("total", b.add(self.word("total"), self.word("live")))
        used = b.icmp_signed(">=", self.word("total"), self.args["budget"])
        with b.if_then(used, likely=False):
            self.set_word("last", self.word("next"))
        with b.if_then(emitter.any_lane(finished), likely=False):
            for k, value in enumerate(state):
                b.store(value, b.gep(self.memory["state"], [i64(k)]))
            each_bit(b, self.mask_of(finished), lambda lane: self._finish(current, lane))
        current.add_incoming(following, b.block)
        following.add_incoming(current, b.block)
        b.branch(head)
        b.position_at_end(done)

    def _stalled(self, stall: Stall, score: Any, count: Any) -> Any:
        """Lanes whose score has not fallen for so many steps; the last one that it did is kept."""
        b, emitter = self.b, self.emitter
        mark, marked = b.load(self.memory["mark"]), b.load(self.memory["marked"])
        fell = b.fcmp_ordered("<", score, b.fmul(mark, emitter.const(1.0 - stall.share)))
        marked = b.select(fell, count, marked)
        b.store(b.select(fell, score, mark), self.memory["mark"])
        b.store(marked, self.memory["marked"])
        return b.fcmp_ordered(">=", b.fsub(count, marked), emitter.const(float(stall.steps)))

    def _finish(self, tile: Any, lane: Any) -> None:
        """End the try of a lane, if it has not been stopped: keep its x where it is the best."""
        b = self.b
        taken = b.icmp_signed(">=", b.load(self.lane_word("problem", lane)), i64(0))
        with b.if_then(taken):
            self._keep(tile, lane)

    def _keep(self, tile: Any, lane: Any) -> None:
        b = self.b
        problem = b.load(self.lane_word("problem", lane))
        attempt = b.load(self.lane_word("try", lane))
        gap, score = (b.load(self.number("state", lane, k)) for k in range(2))
        solved = b.fcmp_ordered("<=", gap, ir.Constant(F64, 0.0))
        report = self.row("report", problem, len(REPORT))
        entry = [b.load(b.gep(report, [i64(k)])) for k in range(len(REPORT))]
        number = b.sitofp(attempt, F64)
        open_still = b.fcmp_ordered("==", entry[0], ir.Constant(F64, 0.0))
        lower = b.fcmp_ordered("<", score, entry[1])
        tie = b.and_(b.fcmp_ordered("==", score, entry[1]), b.fcmp_ordered("<", number, entry[3]))
        earlier = b.or_(open_still, b.fcmp_ordered("<", number, entry[3]))
        better = b.select(solved, earlier, b.and_(open_still, b.or_(lower, tie)))
        with b.if_then(better):
            self.copy_out(tile, lane, self.row("x", problem, self.n), self.n)
            steps = b.load(self.number("count", lane))
            for k, value in enumerate((b.uitofp(solved, F64), score, steps, number)):
                b.store(value, b.gep(report, [i64(k)]))
        b.store(b.select(solved, i64(-1), problem), self.lane_word("again", lane))
        self._stop(lane)
        with b.if_then(solved):
            slot = b.load(self.lane_word("slot", lane))
            b.store(attempt, self.lane_word("best_try", slot))
            with b.if_then(b.icmp_signed(">=", self.word("next"), self.word("last"))):
                self.every_lane(lambda other: self._stop_if_late(other, slot, attempt))

    def _stop(self, lane: Any) -> None:
        """Leave a lane without work, to be given some before the next step."""
        b = self.b
        b.store(i64(-1), self.lane_word("problem", lane))
        b.store(ir.Constant(F64, _IDLE), self.number("count", lane))
        self.set_word("live", b.sub(self.word("live"), i64(1)))
        self.set_word("idle", b.or_(self.word("idle"), b.shl(i64(1), lane)))

    def _stop_if_late(self, lane: Any, slot: Any, attempt: Any) -> None:
        """Stop a lane that helps with a problem whose try can no longer win."""
        b = self.b
        taken = b.icmp_signed(">=", b.load(self.lane_word("problem", lane)), i64(0))
        same = b.icmp_signed("==", b.load(self.lane_word("slot", lane)), slot)
        late = b.icmp_signed(">", b.load(self.lane_word("try", lane)), attempt)
        with b.if_then(b.and_(taken, b.and_(same, late))):
            b.store(i64(-1), self.lane_word("again", lane))
            self._stop(lane)

    def _take(self, tile: Any, lane: Any) -> None:
        """Give an idle lane the next try of its problem, or a new problem, or another lane's tries.

        A problem has the slot of the lane that took it first: there its next try is counted, and
        the try that it may not go beyond. Slots are not used anew once lanes help.
        """
        b = self.b
        function = b.function
        retry, fresh, new, help_, start, done = (function.append_basic_block() for _ in range(6))
        again = b.load(self.lane_word("again", lane))
        slot = b.load(self.lane_word("slot", lane))
        b.cbranch(b.icmp_signed(">=", again, i64(0)), retry, fresh)
        b.position_at_end(retry)
        number = b.load(self.lane_word("next_try", slot))
        left = b.icmp_signed("<", number, b.load(self.lane_word("best_try", slot)))
        b.cbranch(left, start, fresh)
        b.position_at_end(fresh)
        following = self.word("next")
        b.cbranch(b.icmp_signed("<", following, self.word("last")), new, help_)
        b.position_at_end(new)
        self.set_word("next", b.add(following, i64(1)))
        b.store(self._most_tries(following), self.lane_word("best_try", lane))
        b.branch(start)
        b.position_at_end(help_)
        self.set_word("most", i64(0))
        self.set_word("chosen", i64(-1))
        self.every_lane(self._consider)
        chosen = self.word("chosen")
        found = b.icmp_signed(">=", chosen, i64(0))
        place = b.select(found, chosen, i64(0))
        helped, helped_slot = (
            b.load(self.lane_word("problem", place)),
            b.load(self.lane_word("slot", place)),
        )
        helped_try = self.word("most")
        b.cbranch(found, start, done)
        helping = b.block
        b.position_at_end(start)
        values = (
            (again, following, helped), (slot, lane, helped_slot),
            (number, self.args["first_try"], helped_try),
        )  # fmt: skip
        merged: list[Any] = []
        for row in values:
            phi = b.phi(I64)
            for value, block in zip(row, (retry, new, helping), strict=True):
                phi.add_incoming(value, block)
            merged.append(phi)
        problem, slot, attempt = merged
        b.store(slot, self.lane_word("slot", lane))
        b.store(b.add(attempt, i64(1)), self.lane_word("next_try", slot))
        self._enter(tile, lane, problem, attempt)
        b.branch(done)
        b.position_at_end(done)

    def _most_tries(self, problem: Any) -> Any:
        """The bound that the call allows, or less where the report says so beforehand."""
        b, most = self.b, self.args["max_tries"]
        said = b.load(b.gep(self.row("report", problem, len(REPORT)), [i64(REPORT.index("steps"))]))
        own = b.fptosi(b.fneg(said), I64)
        fewer = b.and_(b.icmp_signed(">", own, i64(0)), b.icmp_signed("<", own, most))
        return b.select(fewer, own, most)

    def _consider(self, lane: Any) -> None:
        """Choose this lane's problem to help with if no other has had more tries."""
        b = self.b
        taken = b.icmp_signed(">=", b.load(self.lane_word("problem", lane)), i64(0))
        with b.if_then(taken):
            slot = b.load(self.lane_word("slot", lane))
            number = b.load(self.lane_word("next_try", slot))
            left = b.icmp_signed("<", number, b.load(self.lane_word("best_try", slot)))
            with b.if_then(b.and_(left, b.icmp_signed(">", number, self.word("most")))):
                self.set_word("most", number)
                self.set_word("chosen", lane)

    def _enter(self, tile: Any, lane: Any, problem: Any, attempt: Any) -> None:
        b = self.b
        self.set_word("live", b.add(self.word("live"), i64(1)))
        b.store(problem, self.lane_word("problem", lane))
        source = self.row("parameters", problem, self.n_parameters)
        self.copy_in(source, self.memory["p"], lane, self.n_parameters)
        self._start(tile, lane, problem, attempt)

    def _start(self, tile: Any, lane: Any, problem: Any, attempt: Any) -> None:
        """Begin a try: the first at x0, the others at a random point, one of them at a seed."""
        b = self.b
        b.store(attempt, self.lane_word("try", lane))
        b.store(ir.Constant(F64, 0.0), self.number("count", lane))
        self._unmark(lane)
        function = b.function
        asked, seeded, plain, done = (function.append_basic_block() for _ in range(4))
        b.cbranch(b.icmp_signed("==", attempt, self.args["seed_try"]), asked, plain)
        b.position_at_end(asked)
        row = b.fptosi(b.load(b.gep(self.args["rows"], [problem])), I64)
        table = b.bitcast(self.args["seeds"], I16.as_pointer())
        seed = b.gep(
            table, [b.mul(b.select(b.icmp_signed("<", row, i64(0)), i64(0), row), i64(self.n))]
        )
        there = b.icmp_unsigned("!=", b.load(seed), ir.Constant(I16, NO_SEED))
        b.cbranch(b.and_(there, b.icmp_signed(">=", row, i64(0))), seeded, plain)
        b.position_at_end(seeded)

        def seeded_share(k: Any) -> Any:
            number = b.fadd(b.uitofp(b.load(b.gep(seed, [k])), F64), ir.Constant(F64, 0.5))
            return b.fmul(number, ir.Constant(F64, 1.0 / SEED_STEPS))

        self._point(tile, lane, problem, seeded_share)
        b.branch(done)
        b.position_at_end(plain)
        with b.if_else(b.icmp_signed("==", attempt, i64(0))) as (first, later):
            with first:
                self.copy_in(self.row("x0", problem, self.n), tile, lane, self.n)
            with later:
                key = self._key(problem, attempt)
                self._point(tile, lane, problem, lambda k: unit_interval(b, absorb(b, key, k)))
        b.branch(done)
        b.position_at_end(done)

    def _key(self, problem: Any, attempt: Any) -> Any:
        """The key of the random numbers of a try: no state, the same in every order."""
        b = self.b
        key = self.memory["key"]
        b.store(absorb(b, self.args["seed"], attempt), key)
        source = self.row("parameters", problem, self.n_parameters)

        def take(k: Any) -> None:
            bits = b.bitcast(b.load(b.gep(source, [k])), I64)
            b.store(absorb(b, b.load(key), bits), key)

        if self.n_parameters:
            counted_loop(b, i64(self.n_parameters), take)
        return b.load(key)

    def _point(self, tile: Any, lane: Any, problem: Any, share: Callable[[Any], Any]) -> None:
        """x = base + u span + kept x0, with ``share`` giving the u of a coordinate."""
        b = self.b
        starts, origin = self.args["starts"], self.row("x0", problem, self.n)

        def coordinate(k: Any) -> None:
            u = share(k)
            base = b.load(b.gep(starts, [k]))
            span = b.load(b.gep(starts, [b.add(k, i64(self.n))]))
            kept = b.load(b.gep(starts, [b.add(k, i64(2 * self.n))]))
            x0 = b.load(b.gep(origin, [k]))
            value = b.fadd(b.fadd(base, b.fmul(u, span)), b.fmul(kept, x0))
            b.store(value, self.lane(tile, k, lane))

        counted_loop(b, i64(self.n), coordinate)


# --- random numbers from a counter: the same key gives the same number, on any thread ---

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def absorb(b: Any, key: Any, bits: Any) -> Any:
    """A new key from a key and 64 more bits: the finaliser of SplitMix64.

    Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA
    2014.
    """

    def word(value: int) -> Any:
        return i64(value - (1 << 64) if value >> 63 else value)

    x = b.add(b.xor(key, bits), word(_GOLDEN))
    for shift, factor in _MIX:
        x = b.mul(b.xor(x, b.lshr(x, i64(shift))), word(factor))
    return b.xor(x, b.lshr(x, i64(31)))


def unit_interval(b: Any, bits: Any) -> Any:
    """A float64 in [0, 1) from 64 bits."""
    return b.fmul(b.uitofp(b.lshr(bits, i64(11)), F64), ir.Constant(F64, 2.0**-53))
