"""Native projections: after each step, correction after correction until the loops are closed.

A lane that is closed is left alone, so no roll-out depends on its neighbours. One that does not
close is noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork.compile.emit import I64, i64
from linkwork.simulation.projection import MOST

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.simulation.rollout_code import RolloutCode


class ProjectionCode:
    """Writes the projection of the state's q and v into the loop over steps."""

    def __init__(self, graph: Graph, code: RolloutCode) -> None:
        """``graph``: of `System.projection`."""
        self._code = code
        self._function = code.function_of(graph, "project")

    def tiles(self) -> None:
        """Make room for what a correction gives."""
        code = self._code
        self._found = code.room(code.n_q + code.n_v + 1, "closer")
        self._closed = code.b.alloca(I64, name="closed")

    def write(self) -> None:
        """Write the corrections of one step; lanes that stay open go into ``unclosed``."""
        code, b = self._code, self._code.b
        every = i64((1 << code.width) - 1)
        b.store(b.or_(b.load(code.dead), b.load(code.stuck)), self._closed)
        before, head, done = b.block, b.append_basic_block("close"), b.append_basic_block("closed")
        b.branch(head)
        b.position_at_end(head)
        count = b.phi(I64)
        count.add_incoming(i64(0), before)
        b.call(self._function, [code.q, code.v, code.constants, code.controls, self._found])
        self._take()
        following = b.add(count, i64(1))
        all_closed = b.icmp_signed("==", b.load(self._closed), every)
        over = b.or_(all_closed, b.icmp_signed(">=", following, i64(MOST)))
        count.add_incoming(following, b.block)
        b.cbranch(over, done, head)
        b.position_at_end(done)
        b.store(b.xor(b.load(self._closed), every), code.unclosed)

    def _take(self) -> None:
        """Take the correction in the lanes that are open, and see which are closed now."""
        code, b = self._code, self._code.b
        left_alone = code.bits_of(b.load(self._closed))

        def one(k: Any) -> None:
            value = b.select(left_alone, code.get(code.state, k), code.get(self._found, k))
            code.put(value, code.state, k)

        size = code.n_q + code.n_v
        code.each(size, one)
        left = code.get(self._found, i64(size))
        good = b.fcmp_ordered("<=", left, code.emitter.const(1.0))
        b.store(b.or_(b.load(self._closed), code.mask_of(good)), self._closed)
