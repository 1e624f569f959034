"""Reading a file, importing, and the first call of a process."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import Any

from benchmarks.context import Context, run_rounds
from benchmarks.peers import create_peer
from benchmarks.results import Measurement
from benchmarks.session import Worker, WorkerError, time_import
from benchmarks.tasks import Task


def load(context: Context, task: Task) -> None:
    """Read the original file, again and again in one process."""
    context.say(f"{task.robot.name}: load")
    timed: list[tuple[Worker, int, Measurement]] = []
    with ExitStack() as stack:
        for peer in context.seats:
            worker = context.start(stack, peer, task)
            if worker is None:
                continue
            try:
                answer = worker.ask("prepare_load", path=str(task.original))
                for index in range(len(answer["lines"])):
                    worker.ask("time", index=index, seconds=0.0)  # the first read warms the caches
            except WorkerError as error:
                context.report.problem(f"{task.robot.name} load: {error}")
                continue
            for index, line in enumerate(answer["lines"]):
                name = task.robot.name
                entry = Measurement("load", name, "urdf", 1, peer, line["label"], line["role"])
                context.report.measurements.append(entry)
                timed.append((worker, index, entry))
        run_rounds(context, timed)


def imports(context: Context) -> None:
    """Import in fresh processes, beyond NumPy."""
    context.say("import")
    entries: dict[tuple[str, str], Measurement] = {}
    for peer in context.seats:
        side = create_peer(peer)
        for target in (side.module, *side.imports):
            label = f"import {target.replace(':', ', then .')}"
            role = target if peer == context.ours else "import"
            entry = Measurement("import", "-", "module", 1, peer, label, role)
            entries[peer, target] = entry
            context.report.measurements.append(entry)
    for number in range(context.rounds + 1):
        for (peer, target), entry in list(entries.items()):
            try:
                answer = time_import(context.seats[peer], target)
            except WorkerError as error:
                context.report.problem(str(error))
                del entries[peer, target]
                continue
            if number:  # the first one reads the files from disk and writes byte code
                entry.add(answer)


def first_call(context: Context, task: Task, operation: str) -> None:
    """The first call in a fresh process: nothing cached on disk, and with what that one left.

    Beside the call itself, the processor time of the whole process up to its result: start of
    Python, imports, reading the file, compiling.
    """
    context.say(f"{task.robot.name}: first call of {operation}")
    q = context.save("q", context.configurations(task, 1))
    entries: dict[tuple[str, str], tuple[Measurement, Measurement]] = {}
    for _ in range(context.rounds):
        for peer in context.seats:
            variable = create_peer(peer).cache_variable
            with tempfile.TemporaryDirectory(dir=context.folder) as cache:
                for state in ("nothing cached", "cached on disk") if variable else ("no cache",):
                    added = {variable: cache} if variable else {}
                    answer = _first_call(context, task, peer, added, operation, q)
                    if not answer:
                        break
                    if (peer, state) not in entries:
                        label = f"{answer['label']}, {state}"
                        entries[peer, state] = (
                            Measurement(
                                "compile", task.robot.name, operation, 1, peer, label, state
                            ),
                            Measurement("start", task.robot.name, operation, 1, peer, label, state),
                        )
                    call, start = entries[peer, state]
                    call.add(answer)
                    start.cpu.append(answer["process"])
    for which in (0, 1):
        context.report.measurements += [pair[which] for pair in entries.values()]


def _first_call(
    context: Context, task: Task, peer: str, environment: dict[str, str], operation: str, q: str
) -> dict[str, Any]:
    with ExitStack() as stack:
        worker = context.start(stack, peer, task, environment=environment)
        if worker is None:
            return {}
        try:
            return worker.ask("first_call", operation=operation, q=q)
        except WorkerError as error:
            context.report.problem(f"{task.robot.name} first call of {operation}: {error}")
            return {}
