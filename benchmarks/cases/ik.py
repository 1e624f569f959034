"""Inverse kinematics: a batch of reachable targets, verified by another side."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context, run_rounds
from benchmarks.ik.question import POSE, STRICT, Question, inside, true_answers
from benchmarks.marks import IK_ONE_MEDIAN_NS, IK_ONE_P99_NS, IK_POSE_SHARE
from benchmarks.peers import create_peer
from benchmarks.results import Measurement
from benchmarks.session import Worker, WorkerError
from benchmarks.stats import ratio, summarize
from benchmarks.tasks import Task

POSE_ROWS = 16_000
ONE_TARGETS = 1_000
FAILURES_KEPT = 20
Floats = NDArray[np.float64]


@dataclass
class Asked:
    """One question to all sides: the robot, the judge, and the targets with what made them."""

    context: Context
    task: Task
    question: Question
    judge: Worker
    made_by: Floats  # (n, joints)
    targets: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.targets = self.reached(self.made_by)

    def reached(self, q: Floats) -> Floats:
        """What the judge says that configurations reach."""
        path, out = self.context.save("verify", q), self.context.folder / "reached.npy"
        if self.question.plain:  # any side that knows a pose can judge these
            self.judge.ask("prepare", operation="pose", q=path, batch=False)
            self.judge.ask("result", index=0, out=str(out), which=list(range(len(q))))
        else:
            self.judge.ask("reach", q=path, out=str(out), question=self.question.as_dict())
        poses: Floats = np.load(out)
        return poses

    def sides(self) -> list[str]:
        """The sides whose solver can be asked; the others are listed with that as the reason."""
        able: list[str] = []
        for name in self.context.offering("ik"):
            if create_peer(name).answers(self.question):
                able.append(name)
            else:
                self.context.report.leave_out(
                    name, f"ik {self.question.name}", "its solver does not take this"
                )
        return able


def run(
    context: Context,
    task: Task,
    targets: int,
    *,
    question: Question = POSE,
    one: int = ONE_TARGETS,
) -> None:
    """Solve ``targets`` reachable targets, and the first ``one`` of them one by one."""
    what = "inverse kinematics" if question.plain else f"inverse kinematics ({question.name})"
    context.say(f"{task.robot.name}: {what}, {targets} targets")
    with ExitStack() as stack:
        # whose forward kinematics makes the targets and judges the answers: not ours if possible
        verifier = context.start(stack, _judge(context, question), task)
        if verifier is None:
            return
        asked = Asked(context, task, question, verifier, context.configurations(task, targets))
        solvers = _batch(asked, stack)
        if solvers and one:
            _one_by_one(asked, one)


def _judge(context: Context, question: Question) -> str:
    """The side that judges: Pinocchio, else another one that is not ours, else ours."""
    if not question.plain:
        if "pinocchio" not in context.seats:
            raise ValueError(f"'{question.name}' is judged by Pinocchio: --peers must name it")
        return "pinocchio"
    able = context.offering("pose")
    others = [peer for peer in able if peer != context.ours]
    others.sort(key=lambda peer: peer != "pinocchio")
    return next(iter([*others, *able]))


def _operation(question: Question, base: str) -> str:
    return base if question.plain else f"{question.name}, {base}"


def _batch(asked: Asked, stack: ExitStack) -> list[Measurement]:
    context, task = asked.context, asked.task
    path = context.save("targets", asked.targets)
    timed: list[tuple[Worker, int, Measurement]] = []
    solvers: list[Measurement] = []
    for peer in asked.sides():
        worker = context.start(stack, peer, task)
        if worker is None:
            continue
        try:
            answer = worker.ask(
                "prepare_ik", targets=path, one=False, question=asked.question.as_dict()
            )
            for index, line in enumerate(answer["lines"]):
                entry = Measurement(
                    "ik", task.robot.name, _operation(asked.question, "batch"),
                    len(asked.targets), peer, line["label"], line["role"],
                )  # fmt: skip
                entry.notes += line["notes"]
                context.report.measurements.append(entry)
                verify(asked, worker, index, entry)
                solvers.append(entry)
                timed.append((worker, index, entry))
        except WorkerError as error:
            _failed(context, task, peer, error)
    if solvers:
        pose = _pose_line(context, stack, task)
        run_rounds(context, [*timed, *pose])
        if pose:
            _share(solvers, pose[0][2], context.ours)
    return solvers


def _failed(context: Context, task: Task, peer: str, error: WorkerError) -> None:
    """Ours must not fail; what another side refuses is a result."""
    if peer == context.ours:
        context.report.problem(f"{task.robot.name} ik: {error}")
    else:
        context.report.leave_out(peer, f"ik of {task.robot.name}", str(error))


def verify(asked: Asked, worker: Worker, index: int, entry: Measurement) -> None:
    context, task = asked.context, asked.task
    out = context.folder / "answers.npz"
    answer = worker.ask("solve", index=index, out=str(out), seconds=context.ik_seconds)
    with np.load(out) as saved:
        q, claimed = saved["q"], saved["success"].astype(bool)
    n = len(q)  # a slow side answers the first ones only
    lower = np.array([joint.lower for joint in task.joints])
    upper = np.array([joint.upper for joint in task.joints])
    reached = asked.reached(np.where(np.isfinite(q), q, 0.0))
    true = true_answers(asked.question, asked.targets[:n], reached, q, lower, upper)
    if entry.peer == context.ours:  # of the others, limits in single precision are let pass
        strict = inside(q, lower, upper, STRICT)
        entry.extra["outside"] = int(np.sum(claimed & ~strict))
        true &= strict
    judge = asked.judge.seat.peer
    counts: dict[str, Any] = {
        "answers": n,
        "verified": int(np.sum(true & claimed)),
        "false": int(np.sum(claimed & ~true)),
        "unclaimed": int(np.sum(true & ~claimed)),
        "verified_by": judge,
        "iterations": answer["iterations"],
    }
    entry.extra.update(counts)
    missed = np.flatnonzero(~(true & claimed))
    if entry.peer == context.ours and missed.size:
        entry.extra["missed"] = [
            {"row": int(k), "claimed": bool(claimed[k]), "made by": asked.made_by[k].tolist()}
            for k in missed[:FAILURES_KEPT]
        ]
    share = 100.0 * counts["verified"] / n
    entry.notes.append(
        f"{counts['verified']} of {n} ({share:.2f} %) verified by {judge}, "
        f"{counts['false']} false, {answer['iterations']:.1f} steps"
    )
    if counts["false"] and entry.peer == context.ours:
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


def _one_by_one(asked: Asked, count: int) -> None:
    """One target a call: the median and the 99th percentile of processor time, and of wall time."""
    context, task = asked.context, asked.task
    path = context.save("targets", asked.targets[:count])
    entries: list[tuple[Worker, int, Measurement, list[float]]] = []
    with ExitStack() as stack:
        for peer in asked.sides():
            worker = context.start(stack, peer, task)
            if worker is None:
                continue
            try:
                lines = worker.ask(
                    "prepare_ik", targets=path, one=True, question=asked.question.as_dict()
                )["lines"]
                for index, line in enumerate(lines):
                    entry = Measurement(
                        "ik", task.robot.name, _operation(asked.question, "one target"), 1, peer,
                        line["label"], line["role"],
                    )  # fmt: skip
                    entry.notes += line["notes"]
                    context.report.measurements.append(entry)
                    verify(asked, worker, index, entry)
                    entries.append((worker, index, entry, []))
            except WorkerError as error:
                _failed(context, task, peer, error)
        for _ in range(context.rounds):
            for worker, index, entry, slow in entries:
                try:
                    found = worker.ask("each", index=index, seconds=10.0 * context.seconds)
                except WorkerError as error:
                    _failed(context, task, entry.peer, error)
                    continue
                entry.wall.append(found["p50"])
                entry.cpu.append(found["cpu_p50"])
                entry.extra.setdefault("wall_p99", []).append(found["p99"])
                entry.extra.setdefault("wall_max", []).append(found["max"])
                entry.extra["calls"] = found["calls"]
                slow.append(found["cpu_p99"])
    for _, _, entry, slow in entries:
        if slow:
            _note_slow(entry, summarize(slow).median, context.ours)


def _note_slow(entry: Measurement, p99: float, ours: str) -> None:
    entry.extra["p99_ns"] = p99
    mark = ""
    if entry.peer == ours:
        met = summarize(entry.cpu).median <= IK_ONE_MEDIAN_NS and p99 <= IK_ONE_P99_NS
        mark = f" (mark 10 / 50 us {'met' if met else 'MISSED'})"
    entry.notes.append(f"p99 {p99 / 1e3:.1f} us{mark}")
