"""Inverse kinematics: a batch of reachable targets, verified by another side."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context, run_rounds
from benchmarks.marks import IK_ONE_MEDIAN_NS, IK_ONE_P99_NS, IK_POSE_SHARE
from benchmarks.matching import verify_solutions
from benchmarks.results import Measurement
from benchmarks.session import Worker, WorkerError
from benchmarks.stats import ratio, summarize
from benchmarks.tasks import Task

POSE_ROWS = 16_000
ONE_TARGETS = 1_000
Floats = NDArray[np.float64]


def run(context: Context, task: Task, targets: int) -> None:
    """Solve ``targets`` poses of random configurations, and the first of them one by one."""
    context.say(f"{task.robot.name}: inverse kinematics, {targets} targets")
    with ExitStack() as stack:
        # whose forward kinematics makes the targets and judges the answers: not ours if possible
        judge = _judge(context)
        verifier = context.start(stack, judge, task)
        if verifier is None:
            return
        poses = _poses(context, verifier, context.configurations(task, targets))
        path = context.save("targets", poses)
        timed: list[tuple[Worker, int, Measurement]] = []
        solvers: list[Measurement] = []
        for peer in context.offering("ik"):
            worker = context.start(stack, peer, task)
            if worker is None:
                continue
            try:
                answer = worker.ask("prepare_ik", targets=path, one=False)
                for index, line in enumerate(answer["lines"]):
                    entry = Measurement(
                        "ik", task.robot.name, "batch", targets, peer, line["label"], line["role"]
                    )
                    context.report.measurements.append(entry)
                    solvers.append(entry)
                    _verify(context, task, worker, index, verifier, poses, entry)
                    timed.append((worker, index, entry))
            except WorkerError as error:
                context.report.problem(f"{task.robot.name} ik: {error}")
        if solvers:
            pose = _pose_line(context, stack, task)
            run_rounds(context, [*timed, *pose])
            if pose:
                _share(solvers, pose[0][2], context.ours)
        if solvers:
            _one_by_one(context, task, verifier, poses[:ONE_TARGETS])


def _judge(context: Context) -> str:
    """The side that judges: Pinocchio, else another one that is not ours, else ours."""
    able = context.offering("pose")
    others = [peer for peer in able if peer != context.ours]
    others.sort(key=lambda peer: peer != "pinocchio")
    return next(iter([*others, *able]))


def _poses(context: Context, worker: Worker, q: Floats) -> Floats:
    path, out = context.save("verify", q), context.folder / "poses.npy"
    worker.ask("prepare", operation="pose", q=path, batch=False)
    worker.ask("result", index=0, out=str(out), which=list(range(len(q))))
    poses: Floats = np.load(out)
    return poses


def _verify(
    context: Context, task: Task, worker: Worker, index: int, verifier: Worker, poses: Floats,
    entry: Measurement,
) -> None:  # fmt: skip
    out = context.folder / "answers.npz"
    answer = worker.ask("solve", index=index, out=str(out))
    with np.load(out) as saved:
        q, claimed = saved["q"], saved["success"].astype(bool)
    lower = np.array([joint.lower for joint in task.joints])
    upper = np.array([joint.upper for joint in task.joints])
    reached = _poses(context, verifier, np.where(np.isfinite(q), q, 0.0))
    true = verify_solutions(poses, reached, q, lower, upper)
    counts: dict[str, Any] = {
        "verified": int(np.sum(true & claimed)),
        "false": int(np.sum(claimed & ~true)),
        "unclaimed": int(np.sum(true & ~claimed)),
        "verified_by": verifier.seat.peer,
        "iterations": answer["iterations"],
    }
    entry.extra.update(counts)
    share = 100.0 * counts["verified"] / len(q)
    entry.notes.append(
        f"{counts['verified']} of {len(q)} ({share:.2f} %) verified by {counts['verified_by']}, "
        f"{counts['false']} false, {answer['iterations']:.1f} steps"
    )
    if counts["false"]:
        context.report.problem(
            f"{entry.robot} ik: {entry.label} claims {counts['false']} answers that are not true"
        )


def _pose_line(
    context: Context, stack: ExitStack, task: Task
) -> list[tuple[Worker, int, Measurement]]:
    """Our batch pose, measured in the same rounds: what the solving rate is a share of."""
    if context.ours not in context.seats:
        return []
    worker = context.start(stack, context.ours, task)
    if worker is None:
        return []
    q = context.save("q", context.configurations(task, POSE_ROWS))
    try:
        lines = worker.ask("prepare", operation="pose", q=q, batch=True)["lines"]
        worker.ask("result", index=0, out=str(context.folder / "result.npy"), which=[0])
    except WorkerError as error:
        context.report.problem(f"{task.robot.name} ik: pose rate: {error}")
        return []
    entry = Measurement(
        "ik", task.robot.name, "pose rate", POSE_ROWS, context.ours, lines[0]["label"], "context"
    )
    context.report.measurements.append(entry)
    return [(worker, 0, entry)]


def _share(solvers: list[Measurement], pose: Measurement, ours: str) -> None:
    for entry in solvers:
        if not (entry.measured and pose.measured):
            continue
        share = ratio(entry.cpu, pose.cpu)
        entry.extra["pose_rate_share"] = share.median
        mark = ""
        if entry.peer == ours:
            said = "met" if share.median <= IK_POSE_SHARE else "MISSED"
            mark = f" (mark 1/{IK_POSE_SHARE:.0f} {said})"
        entry.notes.append(f"1/{share.median:.0f} of our pose rate{mark}")


def _one_by_one(context: Context, task: Task, verifier: Worker, poses: Floats) -> None:
    """One target a call: the median and the 99th percentile of wall time."""
    path = context.save("targets", poses)
    entries: list[tuple[Worker, int, Measurement, list[float]]] = []
    with ExitStack() as stack:
        for peer in context.offering("ik"):
            worker = context.start(stack, peer, task)
            if worker is None:
                continue
            try:
                lines = worker.ask("prepare_ik", targets=path, one=True)["lines"]
                for index, line in enumerate(lines):
                    entry = Measurement(
                        "ik", task.robot.name, "one target", 1, peer, line["label"], line["role"]
                    )
                    context.report.measurements.append(entry)
                    _verify(context, task, worker, index, verifier, poses, entry)
                    entries.append((worker, index, entry, []))
            except WorkerError as error:
                context.report.problem(f"{task.robot.name} ik: {error}")
        for _ in range(context.rounds):
            for worker, index, entry, slow in entries:
                try:
                    found = worker.ask("each", index=index)
                except WorkerError as error:
                    context.report.problem(f"{task.robot.name} ik: {error}")
                    continue
                entry.wall.append(found["p50"])
                slow.append(found["p99"])
    for _, _, entry, slow in entries:
        if slow:
            _note_slow(entry, summarize(slow).median, context.ours)


def _note_slow(entry: Measurement, p99: float, ours: str) -> None:
    entry.extra["p99_ns"] = p99
    mark = ""
    if entry.peer == ours:
        met = summarize(entry.wall).median <= IK_ONE_MEDIAN_NS and p99 <= IK_ONE_P99_NS
        mark = f" (mark 10 / 50 us {'met' if met else 'MISSED'})"
    entry.notes.append(f"p99 {p99 / 1e3:.1f} us{mark}")
