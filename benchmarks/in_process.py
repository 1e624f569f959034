"""Cases whose sides all run in this process, on the same numbers, in turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.context import Context
from benchmarks.lines import Line, compile_loop, measure
from benchmarks.results import Measurement


@dataclass
class Timed:
    """A line with its inputs; ``check`` gives what its answers are wrong by, and says more."""

    peer: str
    line: Line
    items: Sequence[Any]
    per_item: int = 1
    check: Callable[[list[Any]], tuple[float, str]] | None = None


@dataclass
class Case:
    """What is asked of one mechanism; answers may be wrong by ``allowed``."""

    context: Context
    case: str
    name: str
    operation: str
    allowed: float
    lines: list[Timed] = field(default_factory=list)

    def add(self, peer: str, line: Line, items: Sequence[Any], **more: Any) -> None:
        """One side's way."""
        self.lines.append(Timed(peer, line, items, **more))

    def run(self) -> None:
        """Check all lines, then time them in turns."""
        self.context.say(f"{self.name}: {self.operation}")
        ready: list[tuple[Timed, Measurement, Any]] = []
        for each in self.lines:
            entry = Measurement(
                self.case, self.name, self.operation, 1, each.peer, each.line.label,
                each.line.role, notes=list(each.line.notes),
            )  # fmt: skip
            self.context.report.measurements.append(entry)
            loop = compile_loop(each.line)
            if self._agrees(each, loop, entry):
                ready.append((each, entry, loop))
        for _ in range(self.context.rounds):
            for each, entry, loop in ready:
                per_pass = each.per_item * len(each.items)
                found = measure(loop, each.items, per_pass=per_pass, seconds=self.context.seconds)
                entry.add(found)

    def _agrees(self, each: Timed, loop: Any, entry: Measurement) -> bool:
        if each.check is None:
            return True
        wrong, said = each.check([loop([item]) for item in each.items])
        entry.agreement = f"{wrong:.1e}"
        if said:
            entry.notes.append(said)
        if wrong <= self.allowed:
            return True
        entry.disagrees = True
        if each.peer == self.context.ours:
            self.context.report.problem(f"{self.name} {self.operation}: off by {wrong:.1e}")
        return False
