"""The driver's end of a worker process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).resolve().parent
ONE_THREAD = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    )
} | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


class WorkerError(RuntimeError):
    """A worker could not do what it was asked; the text is its own."""


@dataclass(frozen=True)
class Seat:
    """Where a peer runs: its interpreter, the core, and what its environment adds."""

    peer: str
    python: str
    core: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def full_environment(self) -> dict[str, str]:
        """The process environment: ours, one thread everywhere, and what the peer adds."""
        return {**os.environ, **ONE_THREAD, **self.environment}

    def command(self, *arguments: str) -> list[str]:
        """The interpreter with these arguments, bound to the core if there is one."""
        if self.core is None:
            return [self.python, *arguments]
        bind = (
            "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); "
            "os.execv(sys.argv[2], sys.argv[2:])"
        )
        # the binding is done by a small process that then becomes the worker: no preexec_fn
        return [sys.executable, "-c", bind, str(self.core), self.python, *arguments]


class Worker:
    """A running worker process."""

    frames: list[str]  # what `all_poses` gives, told by the answer to "load"

    def __init__(self, seat: Seat, *, timeout: float = 600.0, quiet: bool = True) -> None:
        self.seat, self.timeout = seat, timeout
        self._process = subprocess.Popen(
            seat.command(str(HERE / "worker.py"), seat.peer),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env=seat.full_environment(),
            text=True,
            encoding="utf-8",
        )

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its answer.

        Raises: WorkerError with the worker's message, or when it died or took too long.
        """
        send, receive = self._process.stdin, self._process.stdout
        if send is None or receive is None:
            raise WorkerError(f"{self.seat.peer}: the worker has no pipes")
        late = threading.Timer(self.timeout, self._process.kill)
        late.start()
        try:
            send.write(json.dumps({"command": command, **fields}) + "\n")
            send.flush()
            text = receive.readline()
        except BrokenPipeError:
            text = ""
        finally:
            late.cancel()
        if not text:
            code = self._process.wait()
            raise WorkerError(
                f"{self.seat.peer}: the worker ended with code {code} in '{command}' "
                f"(limit {self.timeout:.0f} s); run with --verbose to see what it printed"
            )
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            if os.environ.get("BENCHMARKS_TRACE"):
                sys.stderr.write(str(answer["trace"]))
            raise WorkerError(f"{self.seat.peer}: {answer['error']}")
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it may have died with a command unread
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def time_import(seat: Seat, module: str) -> dict[str, float]:
    """Time one import in a fresh process of the peer.

    Raises: WorkerError where the import fails.
    """
    done = subprocess.run(
        seat.command(str(HERE / "import_time.py"), module),
        env=seat.full_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise WorkerError(f"{seat.peer}: import {module} failed: {last[0]}")
    answer: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer
