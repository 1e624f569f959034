"""The native loop over steps: many roll-outs at once, a roll-out in each lane.

What a step does is written by the methods (`explicit_code`, `implicit_code`); around it, here, the
rows are taken into tiles, every k-th state is stored, and a roll-out that is not finite, or too
fast, is noted with its step and left alone. When all lanes of a tile are, the tile is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from linkwork.compile.emit import F64, I64, POINTER, i64
from linkwork.compile.loops import counted_loop
from linkwork.simulation.projection_code import ProjectionCode
from linkwork.simulation.tile_code import TileCode

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph

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
)
"""Whole numbers that the loop takes, in this order."""

ARRAYS = ("state", "constants", "controls", "settings", "q", "v", "failed", "remains")
"""Arrays that it takes: (rows, n) the state, q and v first, in and out; constants; controls at each
instant from that of ``step`` on; h and the bound of speeds; (rows, kept, nq) and (rows, kept, nv)
the kept states; (rows,) the step in which a row failed, -1 before, and one half more where the step
had no solution, a quarter where it left a loop open, an eighth where it was too long for what acts;
(rows, nq + nv) what it was then."""

_LARGEST = 1.0e300


class RolloutCode(TileCode):
    """Writes ``i64 rollout(counts..., arrays...)``, see `COUNTS` and `ARRAYS`; it returns the steps
    made, counted over the rows."""

    def __init__(
        self,
        module: Any,
        width: int,
        sizes: tuple[int, int, int, int, int],
        *,
        per_step: int,
        fused: bool,
    ) -> None:
        """``sizes``: of the state, of q, of v, of the constants and of the controls."""
        super().__init__(module, width, fused=fused)
        self.n_state, self.n_q, self.n_v, self.n_constants, self.n_controls = sizes
        self.per_step = per_step
        self._projection: ProjectionCode | None = None

    def closes(self, graph: Graph) -> None:
        """Let the loops of a mechanism be closed after each step: the graph of the projection."""
        self._projection = ProjectionCode(graph, self)

    def tiles(self) -> None:
        """Make the tiles that a step needs, and what holds for all steps."""

    def advance(self, step: Any) -> None:
        """Write one step of the tile ``state``; what has no solution goes into ``stuck``."""
        raise NotImplementedError

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
        self.constants = self.room(self.n_constants, "p")
        self.controls = self.room(self.n_controls, "u")
        self.dead, self.stuck, self.unclosed, self.overlong, self.made = (
            b.alloca(I64, name=name) for name in ("dead", "stuck", "unclosed", "overlong", "made")
        )
        b.store(i64(0), self.made)
        self.h = self.everywhere(b.load(self.args["settings"]))
        self.bound = self.everywhere(b.load(b.gep(self.args["settings"], [i64(1)])))
        self.tiles()
        if self._projection is not None:
            self._projection.tiles()
        rows = b.sub(self.args["last"], self.args["first"])
        with b.if_then(b.icmp_signed(">", rows, i64(0))):
            tiles = b.sdiv(b.add(rows, i64(self.width - 1)), i64(self.width))
            counted_loop(b, tiles, self._tile)
        b.ret(b.load(self.made))

    def load_controls(self, step: Any, instant: int) -> None:
        """The controls at an instant of a step, counted in the parts that it is divided into."""
        if not self.n_controls:
            return
        b, args = self.b, self.args
        ago = b.mul(b.sub(step, args["step"]), i64(self.per_step))
        place = b.mul(b.add(ago, i64(instant)), i64(self.n_controls))

        def load(lane: Any) -> None:
            beyond = b.icmp_signed(">=", lane, self.count)
            row = b.add(self.row, b.select(beyond, i64(0), lane))
            source = b.gep(args["controls"], [b.add(b.mul(row, args["controls_row"]), place)])
            self.copy_in(source, self.controls, lane, self.n_controls)

        counted_loop(b, i64(self.width), load)

    # one tile of rows

    def _tile(self, number: Any) -> None:
        b, args = self.b, self.args
        self.row = b.add(args["first"], b.mul(number, i64(self.width)))
        left = b.sub(args["last"], self.row)
        some = b.icmp_signed("<", left, i64(self.width))
        self.count = b.select(some, left, i64(self.width))
        b.store(i64(0), self.dead)
        counted_loop(b, i64(self.width), self._load_lane)
        with b.if_then(b.icmp_signed("<", args["step"], args["until"])):
            self._steps()
        counted_loop(b, self.count, self._save_lane)

    def _load_lane(self, lane: Any) -> None:
        """A row into a lane; the lanes beyond the last row repeat it, and count as failed."""
        b, args = self.b, self.args
        beyond = b.icmp_signed(">=", lane, self.count)
        row = b.add(self.row, b.select(beyond, b.sub(self.count, i64(1)), lane))
        state = b.gep(args["state"], [b.mul(row, i64(self.n_state))])
        self.copy_in(state, self.state, lane, self.n_state)
        constants = b.gep(args["constants"], [b.mul(row, args["constants_row"])])
        self.copy_in(constants, self.constants, lane, self.n_constants)
        failed = b.load(b.gep(args["failed"], [row]))
        over = b.or_(beyond, b.fcmp_ordered(">=", failed, ir.Constant(F64, 0.0)))
        with b.if_then(over):
            b.store(b.or_(b.load(self.dead), b.shl(i64(1), lane)), self.dead)

    def _save_lane(self, lane: Any) -> None:
        row = self.b.add(self.row, lane)
        state = self.b.gep(self.args["state"], [self.b.mul(row, i64(self.n_state))])
        self.copy_out(self.state, lane, state, self.n_state)

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
        alive = b.icmp_signed("!=", b.load(self.dead), i64((1 << self.width) - 1))
        b.cbranch(b.and_(going, alive), work, done)
        b.position_at_end(work)
        b.store(i64(0), self.stuck)
        b.store(i64(0), self.unclosed)
        b.store(i64(0), self.overlong)
        self.advance(step)
        if self._projection is not None:
            self._projection.write()
        after = b.add(step, i64(1))
        b.store(b.add(b.load(self.made), self.count), self.made)
        self._judge(step)
        at_end = b.icmp_signed("==", after, args["steps"])
        on_beat = b.icmp_signed("==", b.srem(after, args["every"]), i64(0))
        with b.if_then(b.or_(at_end, on_beat)):
            place = b.sdiv(b.add(after, b.sub(args["every"], i64(1))), args["every"])
            counted_loop(b, self.count, lambda lane: self._keep(lane, place))
        step.add_incoming(after, b.block)
        b.branch(head)
        b.position_at_end(done)

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
            0.5: b.load(self.stuck),
            0.25: b.load(self.unclosed),
            0.125: b.load(self.overlong),
        }
        found = self.mask_of(wrong)
        for mask in marks.values():
            found = b.or_(found, mask)
        fresh = b.and_(found, b.xor(b.load(self.dead), i64(-1)))
        with b.if_then(b.icmp_signed("!=", fresh, i64(0)), likely=False):
            b.store(b.or_(b.load(self.dead), fresh), self.dead)

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
