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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, Emitter, counted_loop, each_bit, i64
from linkwork.compile.graph import Graph
from linkwork.compile.loops import STACK_OF_ONE, RowsCode, emit_nodes
from linkwork.compile.rolled import Program
from linkwork.compile.rolled_rows import emit_passes
from linkwork.compile.threads import row_cost_ns

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
    """When a try is given up: its score has not fallen by ``share`` of it for so many ``steps``."""

    steps: int
    share: float


@dataclass
class _Lanes:
    """What the pieces of the native function share."""

    b: Any
    width: int
    n: int
    n_parameters: int
    n_state: int
    args: dict[str, Any]
    memory: dict[str, Any]

    def f64(self, tile: str) -> Any:
        return self.b.bitcast(self.memory[tile], POINTER)

    def word(self, name: str) -> Any:
        return self.b.load(self.memory[name])

    def set_word(self, name: str, value: Any) -> None:
        self.b.store(value, self.memory[name])

    def lane_word(self, name: str, lane: Any) -> Any:
        return self.b.gep(self.memory[name], [lane])

    def element(self, tile: Any, k: Any, lane: Any) -> Any:
        return self.b.gep(tile, [self.b.add(self.b.mul(k, i64(self.width)), lane)])

    def row(self, name: str, j: Any, length: int) -> Any:
        return self.b.gep(self.args[name], [self.b.mul(j, i64(length))])

    def copy_in(self, source: Any, tile: Any, lane: Any, count: int) -> None:
        def one(k: Any) -> None:
            self.b.store(self.b.load(self.b.gep(source, [k])), self.element(tile, k, lane))

        if count:
            counted_loop(self.b, i64(count), one)


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
    n, n_parameters, n_settings = code.input_sizes
    n_state = code.output_sizes[1]
    kind = ir.FunctionType(I64, [I64] * len(NUMBERS) + [POINTER] * len(ARRAYS))
    function = ir.Function(module, kind, name)
    names: tuple[str, ...] = (*NUMBERS, *ARRAYS)
    args: dict[str, Any] = dict(zip(names, function.args, strict=True))
    b = ir.IRBuilder(function.append_basic_block("entry"))
    vector = ir.VectorType(F64, width)
    memory: dict[str, Any] = {}
    sizes = {"a": n, "b": n, "p": n_parameters, "s": n_settings, "state": n_state}
    sizes |= {"count": 1, "limit": 1, "mark": 1, "marked": 1}
    for tile, size in sizes.items():
        memory[tile] = b.alloca(vector, size=max(size, 1), name=tile)
        memory[tile].align = 64
    for words in ("problem", "try", "slot", "again", "next_try", "best_try"):
        memory[words] = b.alloca(I64, size=width, name=words)
    for word in ("next", "last", "live", "idle", "total", "key", "most", "chosen"):
        memory[word] = b.alloca(I64, name=word)
    scratch = 0
    if isinstance(code, Program):
        scratch = code.room * width if code.room * width > STACK_OF_ONE else 0
        memory["room"] = b.bitcast(args["scratch"], vector.as_pointer())
        if not scratch:
            room: Any = b.alloca(vector, size=max(code.room, 1))
            room.align = 64
            memory["room"] = room
    lanes = _Lanes(b, width, n, n_parameters, n_state, args, memory)
    _prepare(lanes, n_settings, fused=fused)
    _iterate(lanes, code, stall, fused=fused)
    left = b.sub(args["last"], lanes.word("next"))
    partly = b.icmp_signed(">", left, i64(0))
    b.ret(b.select(partly, b.sub(i64(0), left), lanes.word("total")))
    return RowsCode(function, scratch)


def _prepare(s: _Lanes, n_settings: int, *, fused: bool) -> None:
    """Clear the tiles, spread the settings over the lanes and give each lane its first work."""
    b = s.b
    emitter = Emitter(b, s.width, fused=fused)
    for tile, size in (("a", s.n), ("b", s.n), ("p", s.n_parameters)):
        if size:
            zero, at = emitter.const(0.0), s.memory[tile]
            counted_loop(b, i64(size), lambda k, at=at, zero=zero: b.store(zero, b.gep(at, [k])))
    settings = s.f64("s")
    for k in range(n_settings):
        value = b.load(b.gep(s.args["settings"], [i64(k)]))
        counted_loop(
            b,
            i64(s.width),
            lambda lane, k=k, value=value: b.store(value, s.element(settings, i64(k), lane)),
        )
    most_steps = b.sitofp(s.args["max_steps"], F64)
    counted_loop(b, i64(s.width), lambda lane: b.store(most_steps, b.gep(s.f64("limit"), [lane])))
    s.set_word("next", s.args["first"])
    s.set_word("last", s.args["last"])
    for word in ("live", "total"):
        s.set_word(word, i64(0))
    s.set_word("idle", i64((1 << s.width) - 1))

    def empty(lane: Any) -> None:
        b.store(i64(-1), s.lane_word("problem", lane))
        b.store(i64(-1), s.lane_word("again", lane))
        b.store(ir.Constant(F64, _IDLE), b.gep(s.f64("count"), [lane]))
        _unmark(s, lane)

    counted_loop(b, i64(s.width), empty)


def _unmark(s: _Lanes, lane: Any) -> None:
    """Forget the scores of the try before."""
    s.b.store(ir.Constant(F64, float("inf")), s.b.gep(s.f64("mark"), [lane]))
    s.b.store(ir.Constant(F64, 0.0), s.b.gep(s.f64("marked"), [lane]))


def _iterate(s: _Lanes, code: Graph | Program, stall: Stall | None, *, fused: bool) -> None:
    """Write the loop: one step in all lanes, then whatever lanes have finished."""
    b, function = s.b, s.b.function
    head, work = function.append_basic_block("step"), function.append_basic_block("work")
    done = function.append_basic_block("done")
    before = b.block
    b.branch(head)
    b.position_at_end(head)
    pointer = s.memory["a"].type
    current, following = b.phi(pointer), b.phi(pointer)
    current.add_incoming(s.memory["a"], before)
    following.add_incoming(s.memory["b"], before)
    old = b.bitcast(current, POINTER)
    with b.if_then(b.icmp_signed("!=", s.word("idle"), i64(0)), likely=False):
        each_bit(b, s.word("idle"), lambda lane: _take(s, old, lane))
        s.set_word("idle", i64(0))
    b.cbranch(b.icmp_signed(">", s.word("live"), i64(0)), work, done)
    b.position_at_end(work)
    emitter = Emitter(b, s.width, fused=fused)
    tiles = (current, s.memory["p"], s.memory["s"])
    if isinstance(code, Program):
        emit_passes(emitter, code, tiles, (following, s.memory["state"]), s.memory["room"])
        state = [b.load(b.gep(s.memory["state"], [i64(k)])) for k in range(s.n_state)]
    else:
        state = _step(s, emitter, code, tiles, following)
    count = b.fadd(b.load(s.memory["count"]), emitter.const(1.0))
    b.store(count, s.memory["count"])
    limit = b.load(s.memory["limit"])
    zero = emitter.const(0.0)
    solved = b.and_(b.fcmp_ordered("<=", state[0], zero), b.fcmp_ordered(">", count, zero))
    for going in state[2:]:
        solved = b.and_(solved, b.fcmp_unordered("<=", going, zero))
    finished = b.or_(solved, b.fcmp_ordered(">=", count, limit))
    if stall is not None:
        finished = b.or_(finished, _stalled(s, emitter, stall, state[1], count))
    s.set_word("total", b.add(s.word("total"), s.word("live")))
    used = b.icmp_signed(">=", s.word("total"), s.args["budget"])
    with b.if_then(used, likely=False):
        s.set_word("last", s.word("next"))
    with b.if_then(emitter.any_lane(finished), likely=False):
        for k, value in enumerate(state):
            b.store(value, b.gep(s.memory["state"], [i64(k)]))
        mask = b.zext(b.bitcast(finished, ir.IntType(s.width)), I64)
        each_bit(b, mask, lambda lane: _finish(s, old, lane))
    current.add_incoming(following, b.block)
    following.add_incoming(current, b.block)
    b.branch(head)
    b.position_at_end(done)


def _step(
    s: _Lanes, emitter: Emitter, graph: Graph, tiles: Sequence[Any], following: Any
) -> list[Any]:
    """Write a step as it is written out; the numbers of the state."""
    b = s.b
    state = [emitter.const(0.0)] * s.n_state

    def load(argument: int, element: int) -> Any:
        return b.load(b.gep(tiles[argument], [i64(element)]))

    def store(output: int, element: int, value: Any) -> None:
        if output == 0:
            b.store(value, b.gep(following, [i64(element)]))
        else:
            state[element] = value

    for k in range(s.n):
        if k not in graph.outputs[0]:
            store(0, k, emitter.const(0.0))
    emit_nodes(emitter, graph, load, store)
    return state


def _stalled(s: _Lanes, emitter: Emitter, stall: Stall, score: Any, count: Any) -> Any:
    """In which lanes the score has not fallen for so many steps; the last that it did is kept."""
    b = s.b
    mark, marked = b.load(s.memory["mark"]), b.load(s.memory["marked"])
    fell = b.fcmp_ordered("<", score, b.fmul(mark, emitter.const(1.0 - stall.share)))
    marked = b.select(fell, count, marked)
    b.store(b.select(fell, score, mark), s.memory["mark"])
    b.store(marked, s.memory["marked"])
    return b.fcmp_ordered(">=", b.fsub(count, marked), emitter.const(float(stall.steps)))


def _finish(s: _Lanes, tile: Any, lane: Any) -> None:
    """End the try of a lane, if it has not been stopped: keep its x where it is the best."""
    b = s.b
    taken = b.icmp_signed(">=", b.load(s.lane_word("problem", lane)), i64(0))
    with b.if_then(taken):
        _keep(s, tile, lane)


def _keep(s: _Lanes, tile: Any, lane: Any) -> None:
    b = s.b
    problem = b.load(s.lane_word("problem", lane))
    attempt = b.load(s.lane_word("try", lane))
    state = s.f64("state")
    gap = b.load(s.element(state, i64(0), lane))
    score = b.load(s.element(state, i64(1), lane))
    solved = b.fcmp_ordered("<=", gap, ir.Constant(F64, 0.0))
    report = s.row("report", problem, len(REPORT))
    entry = [b.load(b.gep(report, [i64(k)])) for k in range(len(REPORT))]
    number = b.sitofp(attempt, F64)
    open_still = b.fcmp_ordered("==", entry[0], ir.Constant(F64, 0.0))
    lower = b.fcmp_ordered("<", score, entry[1])
    tie = b.and_(b.fcmp_ordered("==", score, entry[1]), b.fcmp_ordered("<", number, entry[3]))
    earlier = b.or_(open_still, b.fcmp_ordered("<", number, entry[3]))
    better = b.select(solved, earlier, b.and_(open_still, b.or_(lower, tie)))
    with b.if_then(better):
        target = s.row("x", problem, s.n)
        counted_loop(
            b,
            i64(s.n),
            lambda k: b.store(b.load(s.element(tile, k, lane)), b.gep(target, [k])),
        )
        steps = b.load(b.gep(s.f64("count"), [lane]))
        for k, value in enumerate((b.uitofp(solved, F64), score, steps, number)):
            b.store(value, b.gep(report, [i64(k)]))
    b.store(b.select(solved, i64(-1), problem), s.lane_word("again", lane))
    _stop(s, lane)
    with b.if_then(solved):
        slot = b.load(s.lane_word("slot", lane))
        b.store(attempt, s.lane_word("best_try", slot))
        with b.if_then(b.icmp_signed(">=", s.word("next"), s.word("last"))):
            counted_loop(b, i64(s.width), lambda other: _stop_if_late(s, other, slot, attempt))


def _stop(s: _Lanes, lane: Any) -> None:
    """Leave a lane without work, to be given some before the next step."""
    b = s.b
    b.store(i64(-1), s.lane_word("problem", lane))
    b.store(ir.Constant(F64, _IDLE), b.gep(s.f64("count"), [lane]))
    s.set_word("live", b.sub(s.word("live"), i64(1)))
    s.set_word("idle", b.or_(s.word("idle"), b.shl(i64(1), lane)))


def _stop_if_late(s: _Lanes, lane: Any, slot: Any, attempt: Any) -> None:
    """Stop a lane that helps with a problem whose try can no longer win."""
    b = s.b
    taken = b.icmp_signed(">=", b.load(s.lane_word("problem", lane)), i64(0))
    same = b.icmp_signed("==", b.load(s.lane_word("slot", lane)), slot)
    late = b.icmp_signed(">", b.load(s.lane_word("try", lane)), attempt)
    with b.if_then(b.and_(taken, b.and_(same, late))):
        b.store(i64(-1), s.lane_word("again", lane))
        _stop(s, lane)


def _take(s: _Lanes, tile: Any, lane: Any) -> None:
    """Give an idle lane the next try of its problem, or a new problem, or another lane's tries.

    A problem has the slot of the lane that took it first: there its next try is counted, and the
    try that it may not go beyond. Slots are not used anew once lanes help.
    """
    b = s.b
    function = b.function
    retry, fresh, new, help_, start, done = (function.append_basic_block() for _ in range(6))
    again = b.load(s.lane_word("again", lane))
    slot = b.load(s.lane_word("slot", lane))
    b.cbranch(b.icmp_signed(">=", again, i64(0)), retry, fresh)
    b.position_at_end(retry)
    number = b.load(s.lane_word("next_try", slot))
    left = b.icmp_signed("<", number, b.load(s.lane_word("best_try", slot)))
    b.cbranch(left, start, fresh)
    b.position_at_end(fresh)
    following = s.word("next")
    b.cbranch(b.icmp_signed("<", following, s.word("last")), new, help_)
    b.position_at_end(new)
    s.set_word("next", b.add(following, i64(1)))
    b.store(_most_tries(s, following), s.lane_word("best_try", lane))
    b.branch(start)
    b.position_at_end(help_)
    s.set_word("most", i64(0))
    s.set_word("chosen", i64(-1))
    counted_loop(b, i64(s.width), lambda other: _consider(s, other))
    chosen = s.word("chosen")
    found = b.icmp_signed(">=", chosen, i64(0))
    place = b.select(found, chosen, i64(0))
    helped, helped_slot = b.load(s.lane_word("problem", place)), b.load(s.lane_word("slot", place))
    helped_try = s.word("most")
    b.cbranch(found, start, done)
    helping = b.block
    b.position_at_end(start)
    values = (
        (again, following, helped), (slot, lane, helped_slot),
        (number, s.args["first_try"], helped_try),
    )  # fmt: skip
    merged: list[Any] = []
    for row in values:
        phi = b.phi(I64)
        for value, block in zip(row, (retry, new, helping), strict=True):
            phi.add_incoming(value, block)
        merged.append(phi)
    problem, slot, attempt = merged
    b.store(slot, s.lane_word("slot", lane))
    b.store(b.add(attempt, i64(1)), s.lane_word("next_try", slot))
    _enter(s, tile, lane, problem, attempt)
    b.branch(done)
    b.position_at_end(done)


def _most_tries(s: _Lanes, problem: Any) -> Any:
    """What the call allows, or less where the report says so beforehand."""
    b, most = s.b, s.args["max_tries"]
    said = b.load(b.gep(s.row("report", problem, len(REPORT)), [i64(REPORT.index("steps"))]))
    own = b.fptosi(b.fneg(said), I64)
    fewer = b.and_(b.icmp_signed(">", own, i64(0)), b.icmp_signed("<", own, most))
    return b.select(fewer, own, most)


def _consider(s: _Lanes, lane: Any) -> None:
    """Choose this lane's problem to help with if no other has had more tries."""
    b = s.b
    taken = b.icmp_signed(">=", b.load(s.lane_word("problem", lane)), i64(0))
    with b.if_then(taken):
        slot = b.load(s.lane_word("slot", lane))
        number = b.load(s.lane_word("next_try", slot))
        left = b.icmp_signed("<", number, b.load(s.lane_word("best_try", slot)))
        with b.if_then(b.and_(left, b.icmp_signed(">", number, s.word("most")))):
            s.set_word("most", number)
            s.set_word("chosen", lane)


def _enter(s: _Lanes, tile: Any, lane: Any, problem: Any, attempt: Any) -> None:
    b = s.b
    s.set_word("live", b.add(s.word("live"), i64(1)))
    b.store(problem, s.lane_word("problem", lane))
    source = s.row("parameters", problem, s.n_parameters)
    s.copy_in(source, s.f64("p"), lane, s.n_parameters)
    _start(s, tile, lane, problem, attempt)


def _start(s: _Lanes, tile: Any, lane: Any, problem: Any, attempt: Any) -> None:
    """Begin a try: the first at x0, the others at a random point, one of them at a seed."""
    b = s.b
    b.store(attempt, s.lane_word("try", lane))
    b.store(ir.Constant(F64, 0.0), b.gep(s.f64("count"), [lane]))
    _unmark(s, lane)
    function = b.function
    asked, seeded, plain, done = (function.append_basic_block() for _ in range(4))
    b.cbranch(b.icmp_signed("==", attempt, s.args["seed_try"]), asked, plain)
    b.position_at_end(asked)
    row = b.fptosi(b.load(b.gep(s.args["rows"], [problem])), I64)
    table = b.bitcast(s.args["seeds"], I16.as_pointer())
    seed = b.gep(table, [b.mul(b.select(b.icmp_signed("<", row, i64(0)), i64(0), row), i64(s.n))])
    there = b.icmp_unsigned("!=", b.load(seed), ir.Constant(I16, NO_SEED))
    b.cbranch(b.and_(there, b.icmp_signed(">=", row, i64(0))), seeded, plain)
    b.position_at_end(seeded)
    _point(s, tile, lane, problem, lambda k: _seed_number(b, seed, k))
    b.branch(done)
    b.position_at_end(plain)
    with b.if_else(b.icmp_signed("==", attempt, i64(0))) as (first, later):
        with first:
            s.copy_in(s.row("x0", problem, s.n), tile, lane, s.n)
        with later:
            key = _key(s, problem, attempt)
            _point(s, tile, lane, problem, lambda k: unit_interval(b, absorb(b, key, k)))
    b.branch(done)
    b.position_at_end(done)


def _seed_number(b: Any, seed: Any, k: Any) -> Any:
    number = b.uitofp(b.load(b.gep(seed, [k])), F64)
    half, step = ir.Constant(F64, 0.5), ir.Constant(F64, 1.0 / SEED_STEPS)
    return b.fmul(b.fadd(number, half), step)


def _key(s: _Lanes, problem: Any, attempt: Any) -> Any:
    """What the random numbers of a try depend on: no state, the same in every order."""
    b = s.b
    key = s.memory["key"]
    b.store(absorb(b, s.args["seed"], attempt), key)
    source = s.row("parameters", problem, s.n_parameters)

    def take(k: Any) -> None:
        bits = b.bitcast(b.load(b.gep(source, [k])), I64)
        b.store(absorb(b, b.load(key), bits), key)

    if s.n_parameters:
        counted_loop(b, i64(s.n_parameters), take)
    return b.load(key)


def _point(s: _Lanes, tile: Any, lane: Any, problem: Any, share: Callable[[Any], Any]) -> None:
    """x = base + u span + kept x0, with ``share`` giving the u of a coordinate."""
    b = s.b
    starts, origin = s.args["starts"], s.row("x0", problem, s.n)

    def coordinate(k: Any) -> None:
        u = share(k)
        base = b.load(b.gep(starts, [k]))
        span = b.load(b.gep(starts, [b.add(k, i64(s.n))]))
        kept = b.load(b.gep(starts, [b.add(k, i64(2 * s.n))]))
        x0 = b.load(b.gep(origin, [k]))
        value = b.fadd(b.fadd(base, b.fmul(u, span)), b.fmul(kept, x0))
        b.store(value, s.element(tile, k, lane))

    counted_loop(b, i64(s.n), coordinate)


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
