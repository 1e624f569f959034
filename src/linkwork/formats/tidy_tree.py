"""Positions for the nodes of a tree: tidy, narrow, in linear time and without recursion.

Nodes of one depth stand in a layer, in order and without overlap; a parent stands in the middle
above its children; equal subtrees look equal.

Source: C. Buchheim, M. Jünger, S. Leipert, "Improving Walker's Algorithm to Run in Linear Time",
Graph Drawing 2002, LNCS 2528; the distance of two neighbours is half the sum of their widths.
"""

from __future__ import annotations

from collections.abc import Sequence


def positions(parents: Sequence[int], widths: Sequence[float]) -> list[float]:
    """The middle of each node across its layer; the root is at 0.

    ``parents[k]`` is the parent of node k, less than k, and -1 for node 0. Children stand in the
    order of their numbers.
    """
    layout = _Layout(parents, widths)
    for node in layout.bottom_up():
        layout.place(node)
    return layout.absolute()


class _Layout:
    """The working values of the algorithm, by node, with the names of the paper."""

    def __init__(self, parents: Sequence[int], widths: Sequence[float]) -> None:
        n = len(parents)
        self.parents, self.widths = parents, widths
        self.children: list[list[int]] = [[] for _ in range(n)]
        self.number = [0] * n  # among its siblings
        for node in range(1, n):
            siblings = self.children[parents[node]]
            self.number[node] = len(siblings)
            siblings.append(node)
        self.prelim, self.modifier = [0.0] * n, [0.0] * n
        self.shift, self.change = [0.0] * n, [0.0] * n
        self.thread: list[int | None] = [None] * n
        self.ancestor = list(range(n))
        self.default = [children[0] if children else -1 for children in self.children]

    def bottom_up(self) -> list[int]:
        """All nodes, children before parents and siblings in order."""
        order: list[int] = []
        waiting = [0]
        while waiting:  # parents first and siblings from the right, turned round
            node = waiting.pop()
            order.append(node)
            waiting += self.children[node]
        return order[::-1]

    def place(self, node: int) -> None:
        """Place a node whose subtree is done beside the siblings at its left."""
        children, left = self.children[node], self._left(node)
        middle = 0.0
        if children:
            self._execute_shifts(children)
            middle = (self.prelim[children[0]] + self.prelim[children[-1]]) / 2
        if left is None:
            self.prelim[node] = middle
        else:
            self.prelim[node] = self.prelim[left] + self._distance(left, node)
            self.modifier[node] = self.prelim[node] - middle
        if node:
            self._apportion(node)

    def absolute(self) -> list[float]:
        """Positions from those relative to the parents. Parents come before children."""
        sums, found = [0.0] * len(self.parents), [0.0] * len(self.parents)
        start = self.prelim[0]
        for node, parent in enumerate(self.parents):
            above = sums[parent] if node else -start
            found[node] = self.prelim[node] + above
            sums[node] = self.modifier[node] + above
        return found

    def _left(self, node: int) -> int | None:
        number = self.number[node]
        return self.children[self.parents[node]][number - 1] if number else None

    def _distance(self, left: int, right: int) -> float:
        return (self.widths[left] + self.widths[right]) / 2

    def _next_left(self, node: int) -> int | None:
        return self.children[node][0] if self.children[node] else self.thread[node]

    def _next_right(self, node: int) -> int | None:
        return self.children[node][-1] if self.children[node] else self.thread[node]

    def _apportion(self, node: int) -> None:
        """Move the subtree of a node to the right until it clears all subtrees at its left."""
        parent, sibling = self.parents[node], self._left(node)
        if sibling is None:
            return
        # inner and outer contours of the right (+) and of the left (-) side, with their shifts
        inner_right = outer_right = node
        inner_left, outer_left = sibling, self.children[parent][0]
        sum_ir = sum_or = self.modifier[node]
        sum_il, sum_ol = self.modifier[inner_left], self.modifier[outer_left]
        next_il, next_ir = self._next_right(inner_left), self._next_left(inner_right)
        while next_il is not None and next_ir is not None:
            inner_left, inner_right = next_il, next_ir
            outer_left = self._certain(self._next_left(outer_left))
            outer_right = self._certain(self._next_right(outer_right))
            self.ancestor[outer_right] = node
            gap = self._distance(inner_left, inner_right)
            move = self.prelim[inner_left] + sum_il - self.prelim[inner_right] - sum_ir + gap
            if move > 0:
                self._move(self._greatest(inner_left, node), node, move)
                sum_ir += move
                sum_or += move
            sum_il += self.modifier[inner_left]
            sum_ir += self.modifier[inner_right]
            sum_ol += self.modifier[outer_left]
            sum_or += self.modifier[outer_right]
            next_il, next_ir = self._next_right(inner_left), self._next_left(inner_right)
        if next_il is not None and self._next_right(outer_right) is None:
            self.thread[outer_right] = next_il
            self.modifier[outer_right] += sum_il - sum_or
        if next_ir is not None and self._next_left(outer_left) is None:
            self.thread[outer_left] = next_ir
            self.modifier[outer_left] += sum_ir - sum_ol
            self.default[parent] = node

    @staticmethod
    def _certain(node: int | None) -> int:
        """A node on an outer contour, which is as deep as the inner one beside it."""
        if node is None:
            raise ValueError("the outer contour of a subtree ends above its inner one")
        return node

    def _greatest(self, inner_left: int, node: int) -> int:
        """The sibling at the left that the conflict is with."""
        ancestor = self.ancestor[inner_left]
        parent = self.parents[node]
        return ancestor if self.parents[ancestor] == parent else self.default[parent]

    def _move(self, left: int, right: int, by: float) -> None:
        between = self.number[right] - self.number[left]
        self.change[right] -= by / between
        self.shift[right] += by
        self.change[left] += by / between
        self.prelim[right] += by
        self.modifier[right] += by

    def _execute_shifts(self, children: list[int]) -> None:
        shift = change = 0.0
        for child in reversed(children):
            self.prelim[child] += shift
            self.modifier[child] += shift
            change += self.change[child]
            shift += self.shift[child] + change
