"""The process that one side runs in: ``python worker.py PEER``.

It reads one JSON object a line from standard input and answers one a line. Arrays go through .npy
files. Whatever a library prints goes to standard error, so it cannot break an answer.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

import numpy as np

from benchmarks.lines import Line, Loop, compile_loop, measure, measure_each
from benchmarks.peers import create_peer

Answer = dict[str, Any]


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

    def prepare_ik(self, targets: str, one: bool) -> Answer:
        """Make the lines that solve targets: all in one call, or one a call."""
        self.q = np.load(targets)
        self.rows = [T.copy() for T in self.q]
        return self._keep(self.peer.ik_one_lines() if one else self.peer.ik_lines())

    def _keep(self, lines: list[Line]) -> Answer:
        self.lines = lines
        self.loops = [compile_loop(line) for line in lines]
        shown = [{"label": x.label, "role": x.role, "by_row": x.by_row} for x in lines]
        return {"lines": shown}

    def result(self, index: int, out: str, which: list[int]) -> Answer:
        """Run a line on these rows of the batch and save what it gives, columns in our order."""
        line, loop = self.lines[index], self.loops[index]
        if line.by_row:
            rows = [self.q[k].copy() for k in which]
            values = np.array([line.read(loop([row]), row) for row in rows])
        else:
            values = np.array(line.read(loop([self.q]), self.q))[which]
        if self.operation == "jacobian":
            values = values[..., self.peer.columns(self.names)]
        np.save(out, values)
        return {}

    def time(self, index: int, seconds: float) -> Answer:
        """Measure a line: processor and wall time per evaluation."""
        line, loop = self.lines[index], self.loops[index]
        items = self.rows if line.by_row else [self.q]
        per_pass = len(items) if line.by_row else len(self.q)
        return measure(loop, items, per_pass=per_pass, seconds=seconds)

    def each(self, index: int) -> Answer:
        """Measure every call of a line by itself."""
        loop = self.loops[index]
        for row in self.rows[:20]:
            loop([row])
        return dict(measure_each(loop, self.rows))

    def solve(self, index: int, out: str) -> Answer:
        """Run an inverse kinematics line and save its answers in the driver's joint order."""
        line, loop = self.lines[index], self.loops[index]
        items = self.rows if line.by_row else [self.q]
        answers = [self.peer.ik_read(loop([item])) for item in items]
        q = np.vstack([answer.q for answer in answers])
        success = np.concatenate([np.atleast_1d(answer.success) for answer in answers])
        np.savez(out, q=q[:, self.peer.columns(self.names)], success=success)
        return {"iterations": float(np.mean([answer.iterations for answer in answers]))}

    def first_call(self, operation: str, q: str) -> Answer:
        """The first call of an operation in this process: what compiling costs."""
        row = self.peer.configure(np.load(q), self.names)[0].copy()
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        lines = self.peer.lines(operation)
        if not lines:
            return {}
        loop = compile_loop(lines[0])
        loop([row])
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        process = time.process_time_ns()
        return {"cpu": cpu, "wall": wall, "process": process, "label": lines[0].label}


COMMANDS = {
    name: getattr(Server, name)
    for name in (
        "hello", "load", "load_original", "prepare", "prepare_load", "prepare_ik",
        "result", "time", "each", "solve", "first_call",
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
