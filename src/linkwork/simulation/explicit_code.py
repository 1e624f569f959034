"""Native steps of the explicit methods: stages, and sums of their rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.compile.emit import i64
from linkwork.simulation.rollout_code import RolloutCode
from linkwork.simulation.steppers import Method

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph


class ExplicitCode(RolloutCode):
    """The loop of one explicit method.

    The stage and the way along theta are each written once, as functions on tiles; a step calls
    them and adds up what they give.
    """

    def __init__(
        self, module: Any, graphs: tuple[Graph, Graph], method: Method, width: int, *, fused: bool
    ) -> None:
        """``graphs``: of `System.stage` and of `tangent.moved`."""
        stage, move = graphs
        n_q, n_v, _, n_constants, n_controls = stage.input_sizes
        sizes = (n_q + n_v, n_q, n_v, n_constants, n_controls)
        super().__init__(module, width, sizes, per_step=method.per_step, fused=fused)
        self.method = method
        self._stage = self.function_of(stage, "stage")
        self._move = self.function_of(move, "move")

    def tiles(self) -> None:
        """The stages' rates, where they are evaluated, and the configuration that is reached."""
        self._theta, self._speed = self.room(self.n_v, "theta"), self.room(self.n_v, "speed")
        self._zero, self._next = self.room(self.n_v, "zero"), self.room(self.n_q, "next")
        self._rates = [self.room(2 * self.n_v, f"k{i}") for i in range(self.method.stages)]
        self.each(self.n_v, lambda k: self.put(self.emitter.const(0.0), self._zero, k))

    def advance(self, step: Any) -> None:
        """Write one step."""
        method, n_v, rates = self.method, self.n_v, self._rates
        for i, row in enumerate(method.a):
            theta, speed = self._zero, self.v
            if i:
                theta, speed = self._theta, self._speed
                pairs = list(zip(row, rates, strict=False))
                self.combine(theta, None, pairs, (self.h, 0, n_v))
                self.combine(speed, self.v, pairs, (self.h, n_v, n_v))
            self.load_controls(step, method.instants()[i])
            given = [self.q, theta, speed, self.constants, self.controls]
            self.b.call(self._stage, [*given, rates[i]])
        pairs = list(zip(method.b, rates, strict=True))
        if method.symplectic:
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
            self.combine(self._theta, None, [(1.0, self.v)], (self.h, 0, n_v))
        else:
            self.combine(self._theta, None, pairs, (self.h, 0, n_v))
            self.combine(self.v, self.v, pairs, (self.h, n_v, n_v))
        self.b.call(self._move, [self.q, self._theta, self._next])
        self.each(self.n_q, lambda k: self.put(self.get(self._next, k), self.q, k))

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
