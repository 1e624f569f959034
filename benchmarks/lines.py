"""A line: one statement that is timed, exactly as a user would write it.

The statement is compiled into a loop over inputs with its names as local variables, so that no
wrapper function adds its 50 ns to either side. It stands in a worker process; the driver sees
labels and numbers only.
"""

from __future__ import annotations

import gc
import math
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Loop = Callable[[Sequence[Any]], Any]
FEWEST = 30
"""Calls that are timed however slow they are."""


@dataclass(frozen=True)
class Line:
    """One way of computing one thing.

    ``statement`` sees the input as ``q`` and leaves its result in ``r``; ``names`` are what it
    uses. With ``by_row`` the input is one configuration, otherwise the whole batch.
    ``read(r, q)`` turns the result into an array for the check of agreement. ``role`` groups lines
    of one kind: "bound", "method", "out", "new", "loop", "computed", "arrays", "memory", ...
    ``given`` turns an input into the side's own kind of array before the clock starts; a label says
    so, since a caller with NumPy arrays pays for it.
    """

    label: str
    statement: str
    names: Mapping[str, Any] = field(default_factory=dict)
    role: str = ""
    by_row: bool = True
    read: Callable[[Any, Any], Any] = lambda r, q: np.array(r, dtype=np.float64)
    given: Callable[[Any], Any] | None = None
    notes: tuple[str, ...] = ()  # what a reader of the table must know

    def take(self, item: Any) -> Any:
        """The input as the statement sees it."""
        return item if self.given is None else self.given(item)


def split_state(n: int) -> Callable[[Any], list[Any]]:
    """For `Line.given`: configurations, velocities and what comes third, from one row of them all.

    ``n`` joints have n velocities; how many numbers a configuration has is the side's own business.
    """

    def split(row: Any) -> list[Any]:
        width = row.shape[-1]
        parts = np.split(row, [width - 2 * n, width - n], axis=-1)
        return [np.ascontiguousarray(part) for part in parts]

    return split


def compile_loop(line: Line) -> Loop:
    """A function of a list of inputs that runs the statement on each and gives the last result."""
    reserved = {"q", "r", "items"} & set(line.names)
    if reserved:
        raise ValueError(f"line '{line.label}' may not use the names {sorted(reserved)}")
    given = "".join(f", {name}={name}" for name in line.names)
    body = textwrap.indent(textwrap.dedent(line.statement).strip(), " " * 8)
    source = f"def loop(items{given}):\n    r = None\n    for q in items:\n{body}\n    return r\n"
    scope: dict[str, Any] = dict(line.names)
    exec(compile(source, f"<line {line.label}>", "exec"), scope)
    loop: Loop = scope["loop"]
    return loop


def measure(loop: Loop, items: Sequence[Any], *, per_pass: int, seconds: float) -> dict[str, Any]:
    """Run passes for about ``seconds``; median processor and wall time per evaluation in ns.

    Processor time is the whole process's, so that hidden threads of a library count.
    """
    cpu: list[float] = []
    wall: list[float] = []
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + seconds
        while True:
            w0, c0 = time.perf_counter_ns(), time.process_time_ns()
            loop(items)
            c1, w1 = time.process_time_ns(), time.perf_counter_ns()
            cpu.append((c1 - c0) / per_pass)
            wall.append((w1 - w0) / per_pass)
            if time.perf_counter() >= end:
                break
    finally:
        if enabled:
            gc.enable()
    return {"cpu": float(np.median(cpu)), "wall": float(np.median(wall)), "passes": len(cpu)}


def measure_each(
    loop: Loop,
    items: Sequence[Any],
    *,
    seconds: float = math.inf,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, float]:
    """Time of each call by itself (ns): median, 95th and 99th percentile, the longest, how many.

    Wall time, or another clock's: that of the process costs a part of what it measures, which is
    not taken off. After ``seconds`` the rest is left, but never with fewer than `FEWEST` calls.
    """
    each = np.zeros(len(items))
    end = time.perf_counter() + seconds
    done = 0
    gc.collect()
    gc.disable()
    try:
        for k, item in enumerate(items):
            one = (item,)
            t = clock()
            loop(one)
            each[k] = clock() - t
            done = k + 1
            if done >= FEWEST and time.perf_counter() > end:
                break
    finally:
        gc.enable()
    p50, p95, p99 = (float(x) for x in np.percentile(each[:done], [50, 95, 99]))
    return {"p50": p50, "p95": p95, "p99": p99, "max": float(each.max()), "calls": float(done)}
