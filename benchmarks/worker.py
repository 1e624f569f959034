"""The process that one side runs in: ``python worker.py PEER``.

It reads one JSON object a line from standard input and answers one a line. Arrays go through .npy
files. Whatever a library prints goes to standard error, so it cannot break an answer.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import numpy as np

from benchmarks.ik.question import from_dict
from benchmarks.lines import FEWEST, Line, Loop, compile_loop, measure, measure_each
from benchmarks.peers import create_peer
from benchmarks.peers.base import Solutions
from benchmarks.tasks import DYNAMICS

Answer = dict[str, Any]
FEWEST_ROWS = FEWEST


class Server:
    """One peer, one robot, and the lines prepared last."""

    def __init__(self, peer: str) -> None:
        self.peer = create_peer(peer)
        self.names: list[str] = []
        self.operation = ""
        self.lines: list[Line] = []
        self.loops: list[Loop] = []
        self.q = np.zeros((0, 0))
        self.rows: list[Any] = []
        self.taken: dict[int, list[Any]] = {}  # inputs of a line as its statement sees them

    def hello(self) -> Answer:
        """What this process is."""
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return {
            "peer": self.peer.name,
            "version": self.peer.version(),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "cores": cores,
        }

    def check(self) -> Answer:
        """Import the library: a side that cannot be imported is left out with its reason."""
        return {"module": str(getattr(self.peer.library, "__name__", ""))}

    def load(self, path: str, tip: str, names: list[str]) -> Answer:
        """Load the prepared file; ``names`` is the driver's order of joints."""
        self.names = names
        self.peer.load(path, tip)
        self.peer.columns(names)  # raises where the joints are not the same
        return {"joints": list(self.peer.joint_names), "frames": list(self.peer.frame_names)}

    def load_original(self, names: list[str], **fields: Any) -> Answer:
        """Load the original file and cut it by the library's own means."""
        self.names = names
        load: Any = getattr(self.peer, "load_original", None)
        if load is None:
            raise ValueError(f"{self.peer.name} has no load_original")
        load(**fields)
        self.peer.columns(names)
        return {"joints": list(self.peer.joint_names), "frames": list(self.peer.frame_names)}

    def prepare(self, operation: str, q: str, batch: bool, loop_rows: int = 16000) -> Answer:
        """Make the lines of an operation; loops in Python run over ``loop_rows`` of a batch."""
        self.operation = operation
        self.q = self.peer.configure(np.load(q), self.names)
        lines = self.peer.batch(operation, self.q) if batch else self.peer.lines(operation)
        self.rows = [row.copy() for row in self.q[: loop_rows if batch else None]]
        return self._keep(lines)

    def prepare_load(self, path: str) -> Answer:
        """Make the lines that read a description."""
        self.rows = [path]
        return self._keep(self.peer.load_lines())

    def prepare_ik(self, targets: str, one: bool, question: dict[str, Any] | None = None) -> Answer:
        """Make the lines that solve targets: all in one call, or one a call.

        A slow side takes the first `Peer.ik_most` of a batch.
        """
        if question is not None:
            self.peer.question = from_dict(question)
        self.q = np.load(targets)
        self.rows = [T.copy() for T in self.q]
        lines = self.peer.ik_one_lines() if one else self.peer.ik_lines()
        if self.peer.ik_most and not one:
            self.q = self.q[: self.peer.ik_most]
        return self._keep(lines)

    def reach(self, q: str, out: str, question: dict[str, Any]) -> Answer:
        """What configurations reach: the targets that they are answers to."""
        self.peer.question = from_dict(question)
        np.save(out, self.peer.reach(self.peer.configure(np.load(q), self.names)))
        return {}

    def _keep(self, lines: list[Line]) -> Answer:
        self.lines, self.taken = lines, {}
        self.loops = [compile_loop(line) for line in lines]
        shown = [
            {"label": x.label, "role": x.role, "by_row": x.by_row, "notes": list(x.notes)}
            for x in lines
        ]
        return {"lines": shown}

    def result(self, index: int, out: str, which: list[int]) -> Answer:
        """Run a line on these rows of the batch and save what it gives, columns in our order."""
        line, loop = self.lines[index], self.loops[index]
        if line.by_row:
            rows = [self.q[k].copy() for k in which]
            values = np.array([line.read(loop([line.take(row)]), row) for row in rows])
        else:
            values = np.array(line.read(loop([line.take(self.q)]), self.q))[which]
        if self.operation in ("jacobian", *DYNAMICS):
            values = values[..., self.peer.columns(self.names)]
        if self.operation == "mass_matrix":
            values = values[:, self.peer.columns(self.names)]
        np.save(out, values)
        return {}

    def time(self, index: int, seconds: float) -> Answer:
        """Measure a line: processor and wall time per evaluation."""
        line, loop = self.lines[index], self.loops[index]
        if index not in self.taken:
            self.taken[index] = self._inputs(line, loop, seconds)
        items = self.taken[index]
        if not line.by_row:
            loop(items)  # a pass alone would be measured with the memory that others left cold
        per_pass = len(items) if line.by_row else len(self.q)
        found = measure(loop, items, per_pass=per_pass, seconds=seconds)
        return {**found, "rows": per_pass}

    def _inputs(self, line: Line, loop: Loop, seconds: float) -> list[Any]:
        """What a line runs through: the whole batch, or as many rows as fit into the time.

        A slow side gets fewer of the rows, at least `FEWEST_ROWS`; its time per row does not depend
        on their number, and nobody has to wait for 16,000 calls of a millisecond each.
        """
        if not line.by_row:
            return [line.take(self.q)]
        rows = [line.take(row) for row in self.rows[:FEWEST_ROWS]]
        loop(rows[:2])  # what a library does once, on its first call, is no part of the rate
        start = time.perf_counter()
        loop(rows)
        each = (time.perf_counter() - start) / max(len(rows), 1)
        count = min(len(self.rows), max(FEWEST_ROWS, int(seconds / max(each, 1e-9))))
        return rows + [line.take(row) for row in self.rows[FEWEST_ROWS:count]]

    def each(self, index: int, seconds: float = math.inf) -> Answer:
        """Measure every call of a line by itself: wall time, then processor time."""
        line, loop = self.lines[index], self.loops[index]
        items = [line.take(row) for row in self.rows]
        loop(items[:20])
        wall = measure_each(loop, items, seconds=seconds)
        cpu = measure_each(loop, items, seconds=seconds, clock=time.process_time_ns)
        return {**wall, "cpu_p50": cpu["p50"], "cpu_p99": cpu["p99"]}

    def solve(self, index: int, out: str, seconds: float = math.inf) -> Answer:
        """Run an inverse kinematics line and save its answers in the driver's joint order.

        A loop ends after ``seconds``, but never with fewer than `FEWEST_ROWS` answers.
        """
        line, loop = self.lines[index], self.loops[index]
        items = self.rows if line.by_row else [self.q]
        answers: list[Solutions] = []
        end = time.perf_counter() + seconds
        for item in items:
            if len(answers) >= FEWEST_ROWS and time.perf_counter() > end:
                break
            answers.append(self.peer.ik_read(loop([line.take(item)])))
        q = np.vstack([answer.q for answer in answers])
        success = np.concatenate([np.atleast_1d(answer.success) for answer in answers])
        np.savez(out, q=q[:, self.peer.columns(self.names)], success=success)
        return {"iterations": float(np.mean([answer.iterations for answer in answers]))}

    def first_call(self, operation: str, q: str, before: Sequence[str] = ()) -> Answer:
        """The first call of an operation in this process: what compiling costs.

        The modules of ``before`` are imported before the clock starts.
        """
        for module in before:
            importlib.import_module(module)
        row = self.peer.configure(np.load(q), self.names)[0].copy()
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        lines = self.peer.lines(operation)
        if not lines:
            return {}
        loop = compile_loop(lines[0])
        loop([lines[0].take(row)])
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        process = time.process_time_ns()
        return {"cpu": cpu, "wall": wall, "process": process, "label": lines[0].label}


COMMANDS = {
    name: getattr(Server, name)
    for name in (
        "hello", "check", "load", "load_original", "prepare", "prepare_load", "prepare_ik",
        "result", "time", "each", "solve", "reach", "first_call",
    )
}  # fmt: skip


def serve(peer: str) -> None:
    """Answer commands until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server = Server(peer)
    for text in sys.stdin:
        fields = json.loads(text)
        command = fields.pop("command")
        try:
            answer = COMMANDS[command](server, **fields)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
