"""When the results of a tile are stored: each block as soon as it is complete.

What never changes is stored without being computed, spread over the computation, so that memory and
arithmetic work at once; prefetches for writing the next tile are spread in the same way. Rows too
long for that are taken in panels of columns, which stay in the cache while they are filled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwork.compile.emit import Emitter
from linkwork.compile.graph import Graph
from linkwork.compile.transpose import cover, prefetch, write_block, write_constants

_RUN = 8
"""Constants stored at once, at any width: a processor with shorter vectors takes several stores."""

_LONGEST = 512
"""Rows with more columns are taken in panels: 8 rows are then 32 KB, most of the nearest cache."""

_PANEL = 64
"""Columns of a panel."""

_AHEAD, _TILES_AHEAD = 1024, 3
"""How far ahead of the stores lines are prefetched: numbers, and tiles."""


@dataclass
class _Block:
    """Columns of a result that are transposed together."""

    output: int
    start: int
    columns: int
    missing: int  # how many of them are still to be computed


@dataclass
class _Panel:
    """Some columns of a result: blocks that are computed, and runs that never change."""

    output: int
    start: int
    stop: int
    blocks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    runs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    end: int = -1  # the assignment with which the last block is complete


class Stores:
    """Writes the stores of one tile, whose results begin at ``places``."""

    def __init__(self, emitter: Emitter, graph: Graph, places: Sequence[Any]) -> None:
        self._b, self._width = emitter.builder, emitter.width
        self._sizes, self._places = graph.output_sizes, places
        self._fixed: list[dict[int, float]] = []
        self._computed: list[dict[int, int]] = []
        for size, elements in zip(graph.output_sizes, graph.outputs, strict=True):
            fixed = {e: 0.0 for e in range(size) if e not in elements}
            for e, position in elements.items():
                if graph.nodes[position].kind == "const":
                    fixed[e] = graph.nodes[position].value
            self._fixed.append(fixed)
            self._computed.append({e: p for e, p in elements.items() if e not in fixed})
        self._values = [{e: emitter.const(v) for e, v in f.items()} for f in self._fixed]
        self._waiting: dict[tuple[int, int], list[_Block]] = {}
        self._due: dict[int, list[Callable[[], None]]] = {}
        panels = [p for k, size in enumerate(self._sizes) for p in self._panels(k, size)]
        self._schedule(panels, max(len(graph.nodes) - 1, 0))

    def constants_not_finite(self) -> list[float]:
        """Results that never change and are not finite."""
        return [v for fixed in self._fixed for v in fixed.values() if not math.isfinite(v)]

    def put(self, output: int, element: int, value: Any) -> None:
        """Take a value; store the blocks that are complete with it."""
        if element in self._fixed[output]:
            return
        values = self._values[output]
        values[element] = value
        for block in self._waiting[output, element]:
            block.missing -= 1
            if not block.missing:
                columns = [values[block.start + c] for c in range(block.columns)]
                stride = self._sizes[output]
                write_block(self._b, columns, self._places[output], stride, block.start)

    def after(self, position: int) -> None:
        """Write what is due after an assignment."""
        for action in self._due.pop(position, ()):
            action()

    def finish(self) -> None:
        """Write what a graph without assignments leaves."""
        for position in sorted(self._due):
            self.after(position)

    def _panels(self, output: int, size: int) -> list[_Panel]:
        """The columns of a result, by panels."""
        step = size if size <= _LONGEST else _PANEL
        computed = self._computed[output]
        panels: list[_Panel] = []
        for start in range(0, size, max(step, 1)):
            panel = _Panel(output, start, min(start + step, size))
            for block in cover(panel.start, panel.stop, self._width):
                self._halve(panel, *block)
            for at, k in panel.blocks:
                columns = [c for c in range(at, at + k) if c in computed]
                panel.end = max(panel.end, *[computed[c] for c in columns])
                block = _Block(output, at, k, len(columns))
                for c in columns:
                    self._waiting.setdefault((output, c), []).append(block)
            inside = {c for at, k in panel.blocks for c in range(at, at + k)}
            run = panel.start
            for c in range(panel.start, panel.stop + 1):
                if c == panel.stop or c in inside:
                    panel.runs += cover(run, c, _RUN)
                    run = c + 1
            panels.append(panel)
        return panels

    def _halve(self, panel: _Panel, start: int, k: int) -> None:
        """Keep a block, or only the half of it in which something is computed."""
        computed = self._computed[panel.output]
        half = k // 2
        halves = [
            (h, any(c in computed for c in range(h, h + half))) for h in (start, start + half)
        ]
        if k > 2 and not all(some for _, some in halves):
            for h, some in halves:
                if some:
                    self._halve(panel, h, half)
        elif any(c in computed for c in range(start, start + k)):
            panel.blocks.append((start, k))

    def _schedule(self, panels: list[_Panel], last: int) -> None:
        """Spread constants over the time in which their panel is computed."""
        begin = 0
        for panel in sorted(panels, key=lambda panel: panel.end):
            span = (begin, panel.end) if panel.blocks else (0, last)
            self._spread(*span, self._constants(panel))
            begin = max(begin, panel.end)
            if self._width > 1 and panel.stop - panel.start == self._sizes[panel.output]:
                self._spread(0, last, self._prefetches(panel.output))

    def _spread(self, begin: int, end: int, actions: list[Callable[[], None]]) -> None:
        for j, action in enumerate(actions, start=1):
            at = begin + j * (end - begin) // (len(actions) + 1)
            self._due.setdefault(at, []).append(action)

    def _constants(self, panel: _Panel) -> list[Callable[[], None]]:
        b, place, stride = self._b, self._places[panel.output], self._sizes[panel.output]
        fixed = self._fixed[panel.output]

        def one(row: int, start: int, k: int) -> Callable[[], None]:
            values = [fixed[c] for c in range(start, start + k)]
            return lambda: write_constants(b, values, place, row * stride + start)

        return [one(row, *run) for row in range(self._width) for run in panel.runs]

    def _prefetches(self, output: int) -> list[Callable[[], None]]:
        """Prefetches of the lines that a coming tile will write: the next one of long rows."""
        count = self._sizes[output] * self._width
        ahead = max(1, min(_TILES_AHEAD, _AHEAD // max(count, 1)))
        return prefetch(self._b, self._places[output], ahead * count, count, write=True)
