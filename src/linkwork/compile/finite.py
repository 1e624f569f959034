"""Finding inputs and results that are not finite, at little cost and without missing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I1, I32, Emitter, counted_loop, i64
from linkwork.compile.graph import Graph
from linkwork.compile.optable import PAIRED

_SPREADING = frozenset({"ADD", "SUB", "MUL", "NEG", "SIN", "COS", *PAIRED})
"""Operations whose result is not finite whenever an argument is not."""


def to_be_tested(graph: Graph) -> tuple[set[int], list[set[int]]]:
    """The positions of results, and the elements of each input, that have to be looked at.

    Where a value goes into another one through operations that spread infinities and NaN, and
    that other one is looked at, the value itself need not be.
    """
    results = {p for output in graph.outputs for p in output.values()}
    shown = [False] * len(graph.nodes)  # whether what is looked at tells if the value is finite
    tested: set[int] = set()
    elements = [set(range(size)) for size in graph.input_sizes]
    for position in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[position]
        if position in results and not shown[position] and node.kind not in ("input", "const"):
            tested.add(position)
            shown[position] = True
        if not shown[position]:
            continue
        if node.kind == "input":
            elements[node.args[0]].discard(node.args[1])
        elif node.op is not None and node.op.name in _SPREADING:
            for argument in node.args:
                shown[argument] = True
    return tested, elements


LONG = 8
"""Numbers that a loop takes at once where rows are computed one by one."""


class FiniteTest:
    """Sums values: a sum that is finite shows that they all are; one that is not calls for `exact`.

    Plain sums keep the multipliers free, and may overflow without harm.
    """

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._sums: list[Any] = [None] * 4  # short chains: the test must not wait for itself
        self._turn = 0

    def add(self, value: Any) -> None:
        """Take one more value into a sum."""
        k = self._turn = (self._turn + 1) % len(self._sums)
        known = self._sums[k]
        self._sums[k] = value if known is None else self._emitter.add(known, value)

    def add_all(self, place: Any, count: int) -> None:
        """Take this many numbers that lie at a place, by a loop; at least `LONG` of them."""
        b, width = self._emitter.builder, self._emitter.width
        lanes = width if width > 1 else LONG
        kind: Any = ir.VectorType(F64, lanes)

        def run(k: Any) -> Any:
            at, last = b.mul(k, i64(lanes)), i64(count - lanes)
            start = b.select(b.icmp_signed("<", at, last), at, last)  # the last run may overlap
            return b.load(b.bitcast(b.gep(place, [start]), kind.as_pointer()), align=8)

        turns, zeros = i64(-(-count // lanes)), ir.Constant(kind, [0.0] * lanes)
        (total,) = counted_loop(b, turns, lambda k, known: [b.fadd(known, run(k))], [zeros])
        parts = [total]
        if width == 1:
            parts = [b.extract_element(total, ir.Constant(I32, lane)) for lane in range(lanes)]
        for part in parts:
            self.add(part)

    def failed(self) -> Any:
        """A bit that is set where some value, or the sum of some, is not finite."""
        e = self._emitter
        sums = [s for s in self._sums if s is not None]
        if not sums:
            return ir.Constant(I1, 0)
        total = sums[0]
        for other in sums[1:]:
            total = e.add(total, other)
        nothing = e.sub(total, total)
        return e.any_lane(e.builder.fcmp_unordered("uno", nothing, nothing))


def exact(b: Any, places: Sequence[Any], counts: Sequence[int]) -> Any:
    """A bit that is set where one of so many numbers at these places is not finite."""
    bad: Any = ir.Constant(I1, 0)
    zero = ir.Constant(F64, 0.0)
    for place, count in zip(places, counts, strict=True):
        if not count:
            continue

        def add(k: Any, known: Any, place: Any = place) -> list[Any]:
            return [b.fadd(known, b.fmul(b.load(b.gep(place, [k])), zero))]  # 0, or NaN

        (total,) = counted_loop(b, i64(count), add, [zero])
        bad = b.or_(bad, b.fcmp_unordered("uno", total, total))
    return bad
