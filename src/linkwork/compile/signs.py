"""Negations saved: each expression is held with the sign that costs least.

What is asked for as a - b may be held as b - a: the sums and products that use it take the other
sign at no cost, so that most negations of a graph vanish. Negation is exact: no value changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from linkwork.ops.graph import ExpressionGraph

_SUMS, _PRODUCTS = ("ADD", "SUB"), ("MUL", "DIV")
_TURNABLE = {*_SUMS, *_PRODUCTS}
_MOST_TURNED = 12
"""Expressions that are turned round for one negation."""
_LONGEST = 10_000
"""Expressions of graphs that are searched; in larger ones hardly any negation can go."""

Numbers = tuple[int, ...]


def with_few_negations(
    graph: ExpressionGraph, outputs: tuple[Numbers, ...], order: list[int]
) -> tuple[ExpressionGraph, tuple[Numbers, ...], list[int]]:
    """A graph of the same values with fewer negations, the numbers of its outputs, its order."""
    negated = [k for k in order if graph.operations[k] == "NEG"]
    if negated and len(order) <= _LONGEST:
        signs = _Signs(graph, order, outputs)
        if any([signs.save(k) for k in negated]):
            graph, outputs = signs.held()
            order = graph.needed(outputs)
    return graph, outputs, order


class _Signs:
    """The sign that each expression of a graph is held with."""

    def __init__(
        self, graph: ExpressionGraph, order: Sequence[int], outputs: tuple[Numbers, ...]
    ) -> None:
        self.graph, self.order, self.outputs = graph, order, outputs
        self.sign = [1] * len(graph)
        self.given = {k for numbers in outputs for k in numbers}
        self.users: dict[int, list[int]] = defaultdict(list)
        for k in order:
            for argument in graph.below(k):
                self.users[argument].append(k)

    def save(self, negation: int) -> bool:
        """Turn round what is negated and what has to follow; undone where it saves nothing."""
        before: dict[int, int] = {}
        turned: set[int] = set()
        costly = self.graph.arguments[negation]
        if self.graph.operations[costly[0]] not in _TURNABLE or not self._cost(negation):
            return False
        waiting = [costly[0]]
        while waiting and len(turned) < _MOST_TURNED:
            k = waiting.pop()
            if turned and self._cost(k) <= before[k]:
                continue
            choice = self._choice(k, turned)
            if choice is None:
                continue
            near = [choice, *self.users[choice]]
            for each in near:
                before.setdefault(each, self._cost(each))
            self.sign[choice] *= -1
            turned.add(choice)
            waiting += [each for each in near if self._cost(each) > before[each]]
        if sum(map(self._cost, before)) < sum(before.values()):
            return True
        for k in turned:
            self.sign[k] *= -1
        return False

    def _choice(self, k: int, turned: set[int]) -> int | None:
        """The expression to turn round so that ``k`` costs less: itself, or one that it takes."""
        able = [
            each
            for each in (k, *self.graph.below(k))
            if each not in turned and self.graph.operations[each] in _TURNABLE
        ]
        if able and able[0] == k:
            return k
        return min(able, key=lambda each: len(self.users[each]), default=None)

    def _cost(self, k: int) -> int:
        """The negations that an expression needs, as it is held, and what takes it."""
        sign, operation = self.sign, self.graph.operations[k]
        cost = int(sign[k] < 0 and k in self.given)
        below = self.graph.below(k)
        if operation in _TURNABLE:
            if any(self.graph.values[a] is not None for a in below):
                return cost  # a constant takes any sign
            own, (a, b) = sign[k], below
            if operation in _PRODUCTS:
                return cost + (own * sign[a] * sign[b] < 0)
            second = -sign[b] if operation == "SUB" else sign[b]
            return cost + (own * sign[a] < 0 and own * second < 0)
        if operation == "NEG":
            return cost + (sign[below[0]] > 0)
        return cost + sum(sign[a] < 0 for a in below)

    def held(  # noqa: C901  one branch for each kind of expression
        self,
    ) -> tuple[ExpressionGraph, tuple[Numbers, ...]]:
        """The graph of the expressions as they are held, and the numbers of the outputs."""
        graph, made, sign = self.graph, ExpressionGraph(), self.sign
        made.programs = graph.programs
        place = [0] * len(graph)

        def plain(k: int) -> int:
            return place[k] if sign[k] > 0 else made.node("NEG", place[k])

        def signed(k: int, wanted: int) -> tuple[int, int]:
            """An expression and a sign, which is that of constants already."""
            value = graph.values[k]
            return (place[k], wanted) if value is None else (made.constant(wanted * value), 1)

        def sum_of(a: tuple[int, int], b: tuple[int, int]) -> int:
            if a[1] == b[1]:
                found = made.node("ADD", a[0], b[0])
                return found if a[1] > 0 else made.node("NEG", found)
            return made.node("SUB", a[0], b[0]) if a[1] > 0 else made.node("SUB", b[0], a[0])

        def product_of(operation: str, a: int, b: int, wanted: int) -> int:
            first, wanted = signed(a, wanted)
            last, wanted = signed(b, wanted)
            found = made.node(operation, first, last)
            return found if wanted > 0 else made.node("NEG", found)

        for k in self.order:
            operation, arguments, own = graph.operations[k], graph.arguments[k], sign[k]
            if operation == "CONST":
                place[k] = made.constant(graph.values[k] or 0.0)
            elif operation == "INPUT":
                place[k] = made.input(*arguments)
            elif operation == "CALL":
                place[k] = made.node(operation, arguments[0], *map(plain, arguments[1:]))
            elif operation == "RESULT":
                place[k] = made.node(operation, place[arguments[0]], arguments[1])
            elif operation in _SUMS:
                a, b = arguments
                second = -sign[b] if operation == "SUB" else sign[b]
                place[k] = sum_of(signed(a, own * sign[a]), signed(b, own * second))
            elif operation in _PRODUCTS:
                a, b = arguments
                place[k] = product_of(operation, a, b, own * sign[a] * sign[b])
            elif operation == "NEG" and sign[arguments[0]] < 0:
                place[k] = place[arguments[0]]
            else:
                place[k] = made.node(operation, *map(plain, arguments))
        return made, tuple(tuple(map(plain, numbers)) for numbers in self.outputs)
