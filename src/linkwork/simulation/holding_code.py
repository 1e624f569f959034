"""Native solutions for forces that are held: iteration after iteration until all lanes have theirs.

A lane that has its solution is left alone, so no roll-out depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.compile.emit import I64, i64
from linkwork.simulation.holding import MOST

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.simulation.rollout_code import RolloutCode


class HoldingCode:
    """Writes what solves for the forces of some joints into a step."""

    def __init__(self, graph: Graph, code: RolloutCode, name: str) -> None:
        """``graph``: of a text that ends in `holding.improved`; its last input are the forces."""
        self._code = code
        self.n = graph.input_sizes[-1]
        self._function = code.function_of(graph, name)

    def tiles(self) -> None:
        """Make room for the forces and what an iteration gives."""
        code = self._code
        self.forces, self.detours = code.room(self.n, "forces"), code.room(self.n, "detours")
        self._found = code.room(2 * self.n + 1, "settling")
        self._done = code.b.alloca(I64, name="settled")

    def write(self, given: Sequence[Any], alone: Any) -> Any:
        """Write the iterations, from the forces that stand there; ``given`` are the other inputs.

        Lanes in the mask ``alone`` keep what they have. The result is a mask of those that are
        left without a solution.
        """
        code, b, n = self._code, self._code.b, self.n
        every = i64((1 << code.width) - 1)
        b.store(alone, self._done)
        before, head, done = b.block, b.append_basic_block("settle"), b.append_basic_block("held")
        b.branch(head)
        b.position_at_end(head)
        count = b.phi(I64)
        count.add_incoming(i64(0), before)
        b.call(self._function, [*given, self.forces, self._found])
        left_alone = code.bits_of(b.load(self._done))
        for start, tile in ((0, self.forces), (n, self.detours)):
            new = code.part(self._found, start)

            def take(k: Any, new: Any = new, tile: Any = tile) -> None:
                code.put(b.select(left_alone, code.get(tile, k), code.get(new, k)), tile, k)

            code.each(n, take)
        left = code.get(self._found, i64(2 * n))
        good = b.fcmp_ordered("<=", left, code.emitter.const(1.0))
        b.store(b.or_(b.load(self._done), code.mask_of(good)), self._done)
        following = b.add(count, i64(1))
        all_done = b.icmp_signed("==", b.load(self._done), every)
        over = b.or_(all_done, b.icmp_signed(">=", following, i64(MOST)))
        count.add_incoming(following, b.block)
        b.cbranch(over, done, head)
        b.position_at_end(done)
        return b.xor(b.load(self._done), every)
