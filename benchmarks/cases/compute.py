"""Poses, Jacobians and dynamics: one configuration a call, and batches."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from benchmarks.context import CHECK_ROWS, SINGLE_INPUTS, Context, run_rounds
from benchmarks.matching import TOLERANCE, Agreement, compare, compare_frames
from benchmarks.peers import create_peer
from benchmarks.results import Measurement
from benchmarks.session import Worker, WorkerError
from benchmarks.tasks import DYNAMICS, Task

OPERATIONS = ("pose", "all_poses", "jacobian")


class Reference:
    """The first side's first result, and how others compare with it."""

    def __init__(self, task: Task, operation: str) -> None:
        self.task, self.operation = task, operation
        self.values: Any = None
        self.frames: list[str] = []

    def agreement(
        self, values: Any, frames: list[str], *, tolerance: float = TOLERANCE, some: bool = False
    ) -> Agreement:
        if self.values is None:
            self.values, self.frames = values, frames
        if self.operation == "all_poses":
            links = self.task.links
            return compare_frames(
                self.values, self.frames, values, frames, links, tolerance=tolerance, some=some
            )
        if self.operation in DYNAMICS:  # forces and accelerations have no size of their own
            tolerance *= max(1.0, float(np.abs(self.values).max(initial=0)))
        return compare(self.values, values, tolerance)


def check(
    context: Context,
    worker: Worker,
    index: int,
    which: list[int],
    reference: Reference,
) -> Agreement:
    """Run a line and compare it with the reference; the first one checked becomes it."""
    path = context.folder / "result.npy"
    worker.ask("result", index=index, out=str(path), which=which)
    peer = create_peer(worker.seat.peer)
    tolerance, _ = peer.looser.get(reference.operation, (TOLERANCE, ""))
    return reference.agreement(
        np.load(path), worker.frames, tolerance=tolerance, some=peer.moving_links_only
    )


def rows_to_check(count: int) -> list[int]:
    """Rows spread over a batch, the first and the last among them."""
    spread = np.linspace(0, count - 1, min(CHECK_ROWS, count))
    return [int(k) for k in np.unique(spread.astype(int))]


def run(context: Context, task: Task, operation: str, rows: int) -> None:
    """Check and measure one operation on one robot; ``rows`` 1 means single calls."""
    batch = rows > 1
    case = "batch" if batch else "single"
    count = rows if batch else SINGLE_INPUTS
    too_big = _too_big(context, task, operation, count) if batch else ""
    if too_big:
        context.report.measurements.append(
            Measurement(case, task.robot.name, operation, rows, "-", "-", notes=[too_big])
        )
        return
    context.say(f"{task.robot.name}: {case} {operation}, {count} inputs")
    q = context.save("q", context.inputs(task, operation, count))
    reference = Reference(task, operation)
    which = rows_to_check(count)
    timed: list[tuple[Worker, int, Measurement]] = []
    with ExitStack() as stack:
        for peer in context.offering(operation):
            worker = context.start(stack, peer, task)
            if worker is None:
                continue
            try:
                answer = worker.ask(
                    "prepare", operation=operation, q=q, batch=batch, loop_rows=context.loop_rows
                )
            except WorkerError as error:
                context.report.problem(f"{task.robot.name} {operation}: {error}")
                continue
            for index, line in enumerate(answer["lines"]):
                entry = Measurement(
                    case, task.robot.name, operation, rows, peer, line["label"], line["role"]
                )
                entry.notes += line["notes"]
                context.report.measurements.append(entry)
                if entry.side_line or _agrees(context, worker, index, which, reference, entry):
                    timed.append((worker, index, entry))
        if not batch:
            _check_original(context, stack, task, q, which, reference)
        run_rounds(context, timed)
    for _, _, entry in timed:
        run_through = entry.extra.get("rows_timed")
        if run_through and run_through < count:
            entry.notes.append(f"first {run_through} rows timed")


def _agrees(
    context: Context,
    worker: Worker,
    index: int,
    which: list[int],
    reference: Reference,
    entry: Measurement,
) -> bool:
    first = reference.values is None
    try:
        found = check(context, worker, index, which, reference)
    except WorkerError as error:
        entry.notes.append("failed")
        context.report.problem(f"{entry.robot} {entry.operation}: {error}")
        return False
    entry.agreement = "reference" if first and found.ok else str(found)
    peer = create_peer(entry.peer)
    if reference.operation == "all_poses":
        only = " (moving links only)" if peer.moving_links_only else ""
        entry.notes.append(f"{len(worker.frames)} frames{only}")
    if reference.operation in peer.looser:
        tolerance, reason = peer.looser[reference.operation]
        entry.notes.append(f"compared at {tolerance:g}: {reason}")
    if not found.ok:
        entry.disagrees = True
        context.report.problem(f"{entry.robot} {entry.operation}: {entry.label}: {found}")
    return found.ok


def _check_original(
    context: Context, stack: ExitStack, task: Task, q: str, which: list[int], reference: Reference
) -> None:
    """Our side on the original file, cut by `lock` and `subchain`, must give the same numbers."""
    if context.ours not in context.seats or reference.values is None:
        return
    worker = context.start(stack, context.ours, task)
    if worker is None:
        return
    robot = task.robot
    what = f"{robot.name} {reference.operation}: original file with lock and subchain"
    try:
        answer = worker.ask(
            "load_original", names=task.joint_names, path=str(task.original), base=robot.base,
            tip=robot.tip, locked=list(robot.locked), whole=robot.whole,
        )  # fmt: skip
        worker.frames = list(answer["frames"])
        worker.ask("prepare", operation=reference.operation, q=q, batch=False)
        found = check(context, worker, 0, which, reference)
    except WorkerError as error:
        context.report.problem(f"{what}: {error}")
        return
    if not found.ok:
        context.report.problem(f"{what}: {found}")


def _too_big(context: Context, task: Task, operation: str, count: int) -> str:
    size = {
        "pose": 16,
        "jacobian": 6 * len(task.joints),
        "inverse_dynamics": len(task.joints),
        "forward_dynamics": len(task.joints),
        "mass_matrix": len(task.joints) ** 2,
        "all_poses": 16 * 2 * len(task.links),  # links and joints
    }[operation]
    gib = 8.0 * size * count / 2**30
    if gib <= context.memory:
        return ""
    return f"the output takes {gib:.2g} GiB, over --memory {context.memory:g}"
