"""Native steps of the explicit methods: stages, and sums of their rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.compile.emit import i64
from linkwork.simulation.holding_code import HoldingCode
from linkwork.simulation.rollout_code import RolloutCode
from linkwork.simulation.steppers import WATCHED, Method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from linkwork.compile.graph import Graph


_FAR = 1.0e300  # a limit beyond is none


class ExplicitCode(RolloutCode):
    """The loop of one explicit method.

    The stage and the way along theta are each written once, as functions on tiles; a step calls
    them and adds up what they give.
    """

    def __init__(
        self,
        module: Any,
        graphs: Mapping[str, Graph],
        method: Method,
        bounds: Sequence[tuple[int, int, float, float]],
        width: int,
        *,
        fused: bool,
    ) -> None:
        """``graphs`` by name: of `System.stage`, of `tangent.moved` ("advance"), where friction is
        held of `System.yields` and `holding.rubbing`, and of `System.stiffness`. ``bounds`` are
        `stops.bounds`."""
        self._bounds = bounds
        stage = graphs["stage"]
        n_q, n_v, _, n_constants, n_controls, *held = stage.input_sizes
        self._n_held = sum(held)
        sizes = (n_q + n_v, n_q, n_v, n_constants, n_controls)
        super().__init__(module, width, sizes, per_step=method.per_step, fused=fused)
        self.method = method
        self._stage = self.function_of(stage, "stage")
        self._move = self.function_of(graphs["advance"], "move")
        self._rubbing = _Rubbing(self, graphs) if self._n_held else None
        watched = graphs.get("stiffness")
        self._watched = None if watched is None else self.function_of(watched, "stiffness")
        self._n_watched = 0 if watched is None else watched.output_sizes[0]

    def tiles(self) -> None:
        """The stages' rates, where they are evaluated, and the configuration that is reached."""
        self._theta, self._speed = self.room(self.n_v, "theta"), self.room(self.n_v, "speed")
        self._zero, self._next = self.room(self.n_v, "zero"), self.room(self.n_q, "next")
        self._rates = [self.room(2 * self.n_v, f"k{i}") for i in range(self.method.stages)]
        self.each(self.n_v, lambda k: self.put(self.emitter.const(0.0), self._zero, k))
        if self._n_held or self._n_watched:
            self._held = self.room(self._n_held, "held")
            self._rates_of = self.room(self._n_watched, "stiffness")
            self.length = self.room(1, "length")
            self.put(self.h, self.length, i64(0))
        if self._rubbing is not None:
            self._rubbing.tiles()

    def advance(self, step: Any) -> None:
        """Write one step."""
        method, n_v, rates, rubbing = self.method, self.n_v, self._rates, self._rubbing
        self.each(self._n_held, lambda k: self.put(self.emitter.const(0.0), self._held, k))
        for i, row in enumerate(method.a):
            theta, speed = self._zero, self.v
            if i:
                theta, speed = self._theta, self._speed
                pairs = list(zip(row, rates, strict=False))
                self.combine(theta, None, pairs, (self.h, 0, n_v))
                self.combine(speed, self.v, pairs, (self.h, n_v, n_v))
            self.load_controls(step, method.instants()[i])
            given = [self.q, theta, speed, self.constants, self.controls]
            held = [self._held] if self._n_held else []
            self.b.call(self._stage, [*given, *held, rates[i]])
            if rubbing is not None and not i:
                rubbing.predict(rates[0], self._held)
            if self._watched is not None and not i:
                due = self._due(step)
                with self.b.if_then(self.b.icmp_signed("!=", due, i64(0))):
                    self._watch(self.part(rates[0], n_v), due)
        pairs = list(zip(method.b, rates, strict=True))
        if method.symplectic:
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
            self.combine(self._theta, None, [(1.0, self.v)], (self.h, 0, n_v))
        else:
            self.combine(self._theta, None, pairs, (self.h, 0, n_v))
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
            if rubbing is not None:
                rubbing.correct(self._theta)
        self.b.call(self._move, [self.q, self._theta, self._next])
        self.each(self.n_q, lambda k: self.put(self.get(self._next, k), self.q, k))

    def _due(self, step: Any) -> Any:
        """A mask of the lanes that are looked at: every so many steps all, and those that come to a
        stop."""
        b, e = self.b, self.emitter
        often = b.icmp_signed("==", b.srem(step, i64(WATCHED)), i64(0))
        due = b.select(often, i64((1 << self.width) - 1), i64(0))
        for at_q, at_v, lower, upper in self._bounds:
            ahead = e.fma(self.h, self.get(self.v, i64(at_v)), self.get(self.q, i64(at_q)))
            for sign, limit, far in (("<", lower, lower < -_FAR), (">", upper, upper > _FAR)):
                if not far:
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

    def combine(
        self,
        target: Any,
        base: Any,
        rates: list[tuple[float, Any]],
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


class _Rubbing:
    """Writes the friction of a step: what holds through it, and what its end makes of that."""

    def __init__(self, code: ExplicitCode, graphs: Mapping[str, Graph]) -> None:
        self._code = code
        self._yields = code.function_of(graphs["yields"], "yields")
        self._solve = HoldingCode(graphs["rubbing"], code, "rub")
        self._n = self._solve.n

    def tiles(self) -> None:
        code = self._code
        self._solve.tiles()
        self._by = code.room(code.n_v * self._n, "by")
        self._free, self._begun = code.room(code.n_v, "free"), code.room(code.n_v, "begun")

    def predict(self, rates: Any, held: Any) -> None:
        """The friction that the accelerations at the beginning ask for; it joins their rates."""
        code, n_v, zero = self._code, self._code.n_v, self._code.emitter.const(0.0)
        code.b.call(self._yields, [code.q, code.constants, code.controls, self._by])
        code.each(n_v, lambda k: code.put(code.get(code.v, k), self._begun, k))
        code.combine(self._free, code.v, [(1.0, rates)], (code.h, n_v, n_v))
        code.each(self._n, lambda j: code.put(zero, self._solve.forces, j))
        self._settle()
        code.each(self._n, lambda j: code.put(code.get(self._solve.forces, j), held, j))
        self._add(held, code.part(rates, n_v), None)

    def correct(self, theta: Any) -> None:
        """The friction that the end of the step asks for: velocities and the way change by what it
        is more."""
        code, e, n = self._code, self._code.emitter, self._n
        forces = self._solve.forces

        def copy(k: Any) -> None:
            code.put(code.get(code.v, k), self._free, k)

        code.each(code.n_v, copy)
        code.each(n, lambda j: code.put(e.neg(code.get(forces, j)), self._solve.detours, j))
        self._add(self._solve.detours, self._free, code.h)
        held = code.room(n, "before")
        code.each(n, lambda j: code.put(code.get(forces, j), held, j))
        self._settle()

        def less(j: Any) -> None:
            code.put(e.sub(code.get(forces, j), code.get(held, j)), held, j)

        code.each(n, less)
        self._add(held, code.v, code.h)

        def half(j: Any) -> None:
            more = code.get(self._solve.detours, j)
            code.put(e.fma(e.const(0.5), code.get(held, j), more), held, j)

        code.each(n, half)
        self._add(held, theta, e.mul(code.h, code.h))

    def _settle(self) -> None:
        code, b = self._code, self._code.b
        noted = b.load(code.stuck)
        given = [self._free, self._begun, self._by, code.length]
        left = self._solve.write(given, b.or_(b.load(code.dead), noted))
        b.store(b.or_(noted, left), code.stuck)

    def _add(self, forces: Any, target: Any, factor: Any) -> None:
        """target += factor W forces."""
        code, e, b, n_v = self._code, self._code.emitter, self._code.b, self._code.n_v

        def one(j: Any) -> None:
            force = code.get(forces, j)
            force = force if factor is None else e.mul(factor, force)
            column = b.mul(j, i64(n_v))

            def entry(k: Any) -> None:
                by = code.get(self._by, b.add(column, k))
                code.put(e.fma(force, by, code.get(target, k)), target, k)

            code.each(n_v, entry)

        code.each(self._n, one)
