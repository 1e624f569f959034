"""Native implicit steps: Newton's iteration in the lanes, with elimination as loops.

Each lane iterates until it has its own solution and is left alone then, so no roll-out depends on
its neighbours. The elimination is written as loops, once for any size of mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from linkwork.compile.emit import I64, i64
from linkwork.simulation.holding_code import HoldingCode
from linkwork.simulation.implicit_texts import CLOSE, MOST
from linkwork.simulation.rollout_code import RolloutCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkwork.compile.graph import Graph


class ImplicitCode(RolloutCode):
    """The loop of the generalised-alpha method."""

    def __init__(
        self,
        module: Any,
        graphs: Mapping[str, Graph],
        n_q: int,
        local: Sequence[int],
        width: int,
        *,
        fused: bool,
    ) -> None:
        """``graphs`` by name: of `Implicit.newton`, `Implicit.finish`, and where there are forces
        of single joints, those of `Implicit.local`, of `Implicit.settling`."""
        self._local = local
        newton = graphs["newton"]
        n_state, self.n_x, _, n_constants, n_controls, self._n_local = newton.input_sizes
        n_v = (n_state - n_q - self.n_x) // 2
        sizes = (n_state, n_q, n_v, n_constants, n_controls)
        super().__init__(module, width, sizes, per_step=1, fused=fused)
        self._newton = self.function_of(newton, "newton")
        self._finish = self.function_of(graphs["finish"], "finish")
        self._settling = HoldingCode(graphs["settling"], self, "settle") if self._n_local else None

    def tiles(self) -> None:
        """The unknown, what is left of the equations, their matrix, and the state reached."""
        n, m = self.n_x, self._n_local
        self._x = self.room(n, "unknown")
        self._left = self.room(n + n * n + 4 * m, "left")
        self._next, self._step = self.room(self.n_state, "next"), self.room(1, "h")
        self._solved = self.b.alloca(I64, name="solved")
        self._change = self.room(1, "change")
        self._scale = self.room(1, "scale")
        self.put(self.h, self._step, i64(0))
        self._yields, self._forces = self.room(n * m, "yields"), self.room(m, "forces")
        if self._settling is not None:
            self._settling.tiles()
            self._forces, self._old = self._settling.forces, self.room(m, "old")

    def advance(self, step: Any) -> None:
        """Write one step."""
        b, n = self.b, self.n_x
        self.load_controls(step, 1)
        start = self.part(self.state, self.n_state - n)
        self.each(n, lambda k: self.put(self.get(start, k), self._x, k))
        self.each(self._n_local, lambda j: self.put(self.emitter.const(0.0), self._forces, j))
        b.store(b.load(self.dead), self._solved)
        self._iterate()
        b.store(b.xor(b.load(self._solved), i64((1 << self.width) - 1)), self.stuck)
        b.call(self._finish, [self.state, self._x, self._step, self._next])
        self.each(self.n_state, lambda k: self.put(self.get(self._next, k), self.state, k))

    def _iterate(self) -> None:
        b = self.b
        before, head, done = b.block, b.append_basic_block("newton"), b.append_basic_block("found")
        b.branch(head)
        b.position_at_end(head)
        count = b.phi(I64)
        count.add_incoming(i64(0), before)
        given = [self.state, self._x, self._step, self.constants, self.controls, self._forces]
        b.call(self._newton, [*given, self._left])
        self._eliminate()
        self._correct(self._settle())
        following = b.add(count, i64(1))
        all_solved = b.icmp_signed("==", b.load(self._solved), i64((1 << self.width) - 1))
        over = b.or_(all_solved, b.icmp_signed(">=", following, i64(MOST)))
        count.add_incoming(following, b.block)
        b.cbranch(over, done, head)
        b.position_at_end(done)

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
            self.each(self._n_local, lambda j: body(b.gep(self._yields, [at(j, i64(0))])))

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
        one, zero = self.emitter.const(1.0), self.emitter.const(0.0)
        self.each(self._n_local * self.n_x, lambda k: self.put(zero, self._yields, k))
        for j, k in enumerate(self._local):
            self.put(one, self._yields, i64(j * self.n_x + k))

    def _settle(self) -> Any:
        """Let the forces of single joints go with the change of the unknowns; a mask of the lanes
        in which they have no solution."""
        b, e, n, m = self.b, self.emitter, self.n_x, self._n_local
        if self._settling is None:
            return i64(0)
        self.each(m, lambda j: self.put(self.get(self._forces, j), self._old, j))
        given = [self.part(self._left, n + n * n), self._left, self._yields, self._step, self._old]
        left = self._settling.write(given, b.load(self._solved))

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
        most = e.mul(e.const(CLOSE), scale)
        close = b.fcmp_ordered("<=", self.get(self._change, zero), most)
        fresh = b.and_(self.mask_of(close), b.xor(unsettled, i64(-1)))
        b.store(b.or_(b.load(self._solved), fresh), self._solved)

    def _largest(self, tile: Any, value: Any) -> None:
        """Keep the larger one; what is no number stays."""
        known = self.get(tile, i64(0))
        keep = self.b.fcmp_unordered(">=", known, value)
        keep = self.b.and_(keep, self.b.fcmp_ordered("ord", value, value))
        self.put(self.b.select(keep, known, value), tile, i64(0))
