"""Reading a file, importing, and the first call of a process."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack

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
    entries: dict[str, Measurement] = {}
    for peer in context.seats:
        label = f"import {create_peer(peer).module}"
        entries[peer] = Measurement("import", "-", "module", 1, peer, label, "import")
        context.report.measurements.append(entries[peer])
    for number in range(context.rounds + 1):
        for peer, entry in list(entries.items()):
            try:
                answer = time_import(context.seats[peer], create_peer(peer).module)
            except WorkerError as error:
                context.report.problem(str(error))
                del entries[peer]
                continue
            if number:  # the first one reads the files from disk and writes byte code
                entry.add(answer)


def first_call(context: Context, task: Task, operation: str) -> None:
    """The first call in a fresh process: nothing cached on disk, and with what that one left."""
    context.say(f"{task.robot.name}: first call of {operation}")
    q = context.save("q", context.configurations(task, 1))
    entries: dict[tuple[str, str], Measurement] = {}
    for _ in range(context.rounds):
        for peer in context.seats:
            with tempfile.TemporaryDirectory(dir=context.folder) as cache:
                variable = create_peer(peer).cache_variable
                states = ("nothing cached", "cached on disk") if variable else ("no cache",)
                environment = {variable: cache} if variable else {}
                for state in states:
                    answer = _first_call(context, task, peer, environment, operation, q)
                    if not answer:
                        break
                    key = (peer, state)
                    if key not in entries:
                        entries[key] = Measurement(
                            "compile", task.robot.name, operation, 1, peer,
                            f"{answer['label']}: first call, {state}", state,
                        )  # fmt: skip
                        context.report.measurements.append(entries[key])
                    entries[key].add(answer)


def _first_call(
    context: Context, task: Task, peer: str, environment: dict[str, str], operation: str, q: str
) -> dict[str, float]:
    with ExitStack() as stack:
        worker = context.start(stack, peer, task, environment=environment)
        if worker is None:
            return {}
        try:
            return worker.ask("first_call", operation=operation, q=q)
        except WorkerError as error:
            context.report.problem(f"{task.robot.name} first call of {operation}: {error}")
            return {}
