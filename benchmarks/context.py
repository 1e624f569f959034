"""What all cases share: the settings of a run, its workers and its random inputs."""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import create_peer
from benchmarks.results import Measurement, Report
from benchmarks.session import Seat, Worker, WorkerError
from benchmarks.tasks import DYNAMICS, Task

SINGLE_INPUTS = 1000
CHECK_ROWS = 64
MUST_RUN = ("linkwork", "pinocchio")


@dataclass
class Context:
    """One run of the benchmarks."""

    seats: dict[str, Seat]
    folder: Path
    seed: int
    rounds: int
    seconds: float
    report: Report
    say: Callable[[str], None]
    memory: float = 1.0  # GiB that an output may take
    loop_rows: int = 16_000
    quiet: bool = True
    ik_seconds: float = 60.0  # that a loop over targets may take to be judged
    patience: float = 600.0  # seconds after which a side that does not answer is ended
    ours: str = "linkwork"
    _drawn: dict[tuple[str, int], NDArray[np.float64]] = field(default_factory=dict)

    def configurations(self, task: Task, count: int) -> NDArray[np.float64]:
        """Random configurations (count, joints) inside the limits; without a limit, half a turn."""
        key = (task.robot.name, count)
        if key not in self._drawn:
            limits = [
                (max(j.lower, -math.pi), min(j.upper, math.pi)) if j.type == "continuous"
                or not math.isfinite(j.upper - j.lower) else (j.lower, j.upper)
                for j in task.joints
            ]  # fmt: skip
            label = [self.seed, count, *task.robot.name.encode()]
            rng = np.random.default_rng(label)
            lower, upper = np.array(limits).T
            middle, half = 0.5 * (lower + upper), 0.5 * task.robot.spread * (upper - lower)
            if task.robot.spread != 1.0:
                lower, upper = middle - half, middle + half
            self._drawn[key] = rng.uniform(lower, upper, (count, len(limits)))
        return self._drawn[key]

    def inputs(self, task: Task, operation: str, count: int) -> NDArray[np.float64]:
        """What an operation takes, in rows: configurations, then velocities and a third vector."""
        q = self.configurations(task, count)
        more = DYNAMICS.get(operation, 1) - 1
        label = [self.seed, count, more, *task.robot.name.encode()]
        rows = np.random.default_rng(label).uniform(-1, 1, (count, more * q.shape[1]))
        return np.hstack([q, rows])

    def save(self, name: str, array: NDArray[Any]) -> str:
        """Put an array where the workers find it."""
        path = self.folder / f"{name}.npy"
        np.save(path, array)
        return str(path)

    def start(
        self,
        stack: ExitStack,
        peer: str,
        task: Task,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> Worker | None:
        """A worker with the task loaded, or None where that fails.

        It is a problem where ours or the one that the marks speak of fails; that another side
        refuses a robot is a result, and the table gives its reason.
        """
        seat = self.seats[peer]
        if environment:
            seat = Seat(seat.peer, seat.python, seat.core, {**seat.environment, **environment})
        worker = stack.enter_context(Worker(seat, timeout=self.patience, quiet=self.quiet))
        try:
            self.report.versions.setdefault(peer, worker.ask("hello"))
            self._load(worker, task)
        except WorkerError as error:
            if peer in MUST_RUN:
                self.report.problem(f"{task.robot.name}: {error}")
            else:
                self.report.leave_out(peer, task.robot.name, str(error))
            return None
        return worker

    def offering(self, operation: str) -> list[str]:
        """The sides that have an operation; the table says why the others do not."""
        found: list[str] = []
        for name in self.seats:
            peer = create_peer(name)
            if peer.offers(operation):
                found.append(name)
            elif operation in peer.lacks:
                self.report.leave_out(name, operation, peer.lacks[operation])
        return found

    @staticmethod
    def _load(worker: Worker, task: Task) -> None:
        answer = worker.ask(
            "load", path=str(task.prepared), tip=task.robot.tip, names=task.joint_names
        )
        worker.frames = list(answer["frames"])


def run_rounds(context: Context, timed: list[tuple[Worker, int, Measurement]]) -> None:
    """Measure lines in turn: every side once in a round, side after side, round after round."""
    order: list[Worker] = []
    for worker, _, _ in timed:
        if worker not in order:
            order.append(worker)
    failed: set[int] = set()
    for number in range(context.rounds):
        for worker in order:
            for k, (owner, index, entry) in enumerate(timed):
                if owner is not worker or k in failed:
                    continue
                try:
                    answer = worker.ask("time", index=index, seconds=context.seconds)
                    entry.add(answer)
                    entry.extra.setdefault("rows_timed", answer.get("rows"))
                except WorkerError as error:
                    failed.add(k)
                    entry.cpu, entry.wall = [], []
                    entry.notes.append(f"failed in round {number + 1}")
                    context.report.problem(f"{entry.robot} {entry.operation}: {error}")


def machine() -> dict[str, Any]:
    """The processor and whether it has AVX-512; Linux tells, other systems give less."""
    model, flags = platform.processor() or platform.machine(), ""
    try:
        for text in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = text.partition(":")
            if key.strip() == "model name":
                model = value.strip()
            elif key.strip() == "flags":
                flags = value
                break
    except OSError:
        pass
    return {
        "processor": model,
        "avx512": "avx512f" in flags.split(),
        "avx2": "avx2" in flags.split(),
        "cores": os.cpu_count(),
        "date": datetime.date.today().isoformat(),
        "system": platform.platform(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else [],
    }


def pick_core(wanted: int | None) -> int | None:
    """The core that all workers share: the one asked for, or the last that we may use."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    if wanted is None:
        return allowed[-1]
    if wanted not in allowed:
        raise ValueError(f"core {wanted} is not one of {allowed}")
    return wanted
