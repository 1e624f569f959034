"""Reading a file, importing, and the first call of a process."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.context import MUST_RUN, Context, run_rounds
from benchmarks.peers import create_peer
from benchmarks.results import Measurement
from benchmarks.session import Worker, WorkerError, time_import
from benchmarks.tasks import Task


def load(context: Context, task: Task) -> None:
    """Read a file, again and again in one process.

    First the original file, whose meshes nobody has to open, then the prepared one, without any
    shapes: sides that cannot leave meshes alone read that one only.
    """
    for what, path in (("urdf", task.original), ("urdf without shapes", task.prepared)):
        context.say(f"{task.robot.name}: load {what}")
        timed: list[tuple[Worker, int, Measurement]] = []
        with ExitStack() as stack:
            for peer in context.offering("load"):
                if what == "urdf" and not create_peer(peer).needs_no_meshes:
                    continue
                worker = context.start(stack, peer, task)
                if worker is not None:
                    timed += _load_lines(context, worker, task, what, str(path))
            run_rounds(context, timed)


def _load_lines(
    context: Context, worker: Worker, task: Task, what: str, path: str
) -> list[tuple[Worker, int, Measurement]]:
    peer, name = worker.seat.peer, task.robot.name
    try:
        answer = worker.ask("prepare_load", path=path)
        for index in range(len(answer["lines"])):
            worker.ask("time", index=index, seconds=0.0)  # the first read warms the caches
    except WorkerError as error:
        if peer in MUST_RUN:
            context.report.problem(f"{name} load {what}: {error}")
        else:
            reason = str(error).replace(path, Path(path).name)
            context.report.leave_out(peer, f"load {name}, {what}", reason)
        return []
    timed: list[tuple[Worker, int, Measurement]] = []
    for index, line in enumerate(answer["lines"]):
        entry = Measurement("load", name, what, 1, peer, line["label"], line["role"])
        context.report.measurements.append(entry)
        timed.append((worker, index, entry))
    return timed


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


CACHED = ("nothing cached", "cached on disk", "cached on disk, heavy imports done before")


def first_call(context: Context, task: Task, operation: str) -> None:
    """The first call in a fresh process: nothing cached on disk, and with what that one left.

    Beside the call itself, the processor time of the whole process up to its result: start of
    Python, imports, reading the file, compiling.
    """
    context.say(f"{task.robot.name}: first call of {operation}")
    q = context.save("q", context.configurations(task, 1))
    entries: dict[tuple[str, str], tuple[Measurement, Measurement]] = {}
    for _ in range(context.rounds):
        for name in context.offering(operation):
            peer = create_peer(name)
            if not peer.compiles:
                continue
            with tempfile.TemporaryDirectory(dir=context.folder) as cache:
                for state in CACHED if peer.cache_variable else ("no cache",):
                    added = {peer.cache_variable: cache} if peer.cache_variable else {}
                    before = peer.heavy_imports if state == CACHED[-1] else ()
                    answer = _first_call(context, task, name, added, operation, q, before)
                    if not answer:
                        break
                    key = name, state
                    if key not in entries:
                        label = f"{answer['label']}, {state}"
                        entries[key] = _first_entries(task, operation, name, label, state)
                    call, start = entries[key]
                    call.add(answer)
                    start.cpu.append(answer["process"])
    for which in (0, 1):
        context.report.measurements += [pair[which] for pair in entries.values()]


def _first_entries(
    task: Task, operation: str, peer: str, label: str, state: str
) -> tuple[Measurement, Measurement]:
    robot = task.robot.name
    return (
        Measurement("compile", robot, operation, 1, peer, label, state),
        Measurement("start", robot, operation, 1, peer, label, state),
    )


def _first_call(
    context: Context, task: Task, peer: str, environment: dict[str, str], operation: str, q: str,
    before: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    with ExitStack() as stack:
        worker = context.start(stack, peer, task, environment=environment)
        if worker is None:
            return {}
        try:
            return worker.ask("first_call", operation=operation, q=q, before=list(before))
        except WorkerError as error:
            context.report.problem(f"{task.robot.name} first call of {operation}: {error}")
            return {}
