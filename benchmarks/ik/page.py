"""The tables of a run: ours chain by chain against the marks, then the sides beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.marks import IK_ONE_MEDIAN_NS, IK_ONE_P99_NS, IK_POSE_SHARE
from benchmarks.report import markdown
from benchmarks.results import Measurement, Report
from benchmarks.stats import summarize
from benchmarks.table import duration, factor, rate


def page(reports: Sequence[Report]) -> str:
    """Markdown: what was measured where, and the tables."""
    parts: list[str] = []
    for report in reports:
        chosen = report.settings
        parts.append(
            f"{report.machine['processor']}, one core; {chosen['targets']:,} targets a chain, "
            f"seed {chosen['seed']}; {report.machine['date']}.\n"
        )
        parts.append(ours(report))
        parts.append(sides(report))
        parts += [f"- missed: {text}" for text in missed(report)]
        parts += [f"- PROBLEM: {text}" for text in report.problems]
    return "\n".join(part for part in parts if part) + "\n"


def ours(report: Report) -> str:
    """One row a chain: verified, false, rate, share of the pose rate, one target."""
    rows: list[list[str]] = []
    for entry in report.measurements:
        if entry.peer != "linkwork" or entry.role != "ik" or not entry.measured:
            continue
        one = _one(report, entry)
        share = entry.extra.get("pose_rate_share", float("nan"))
        rows.append(
            [
                entry.robot, _what(entry), _verified(entry), str(entry.extra["false"]),
                rate(summarize(entry.cpu).median), f"1/{share:.0f}", *one,
            ]
        )  # fmt: skip
    head = [
        "chain", "target", "verified", "false", "solved a second", "of the pose rate",
        "one target, median", "p99", "in 5 ms",
    ]  # fmt: skip
    met = (
        f"Marks: 100.00 %, no false answer, 1/{IK_POSE_SHARE:.0f} of the pose rate, one target "
        f"{IK_ONE_MEDIAN_NS / 1e3:.0f} us and {IK_ONE_P99_NS / 1e3:.0f} us. Processor time.\n"
    )
    return f"{met}\n{markdown(head, rows, left=2)}" if rows else ""


def sides(report: Report) -> str:
    """Every side's lines, with how many times ours they take; nothing where there is only ours."""
    found = [e for e in report.measurements if e.measured and not e.side_line]
    if {e.peer for e in found} == {"linkwork"}:
        return ""
    rows: list[list[str]] = []
    for entry in found:
        base = _ours_beside(entry, found)
        ratio = "" if base is None else factor(_time(entry) / _time(base))
        p99 = entry.extra.get("p99_ns")
        rows.append(
            [
                entry.robot, entry.operation, entry.peer, entry.label, _verified(entry),
                str(entry.extra["false"]), duration(_time(entry)),
                "" if p99 is None else duration(p99), ratio,
            ]
        )  # fmt: skip
    head = [
        "chain", "target", "side", "line", "verified", "false", "time a target", "p99", "÷ ours",
    ]  # fmt: skip
    return f"\n{markdown(head, rows, left=4)}"


def missed(report: Report) -> list[str]:
    """The rows of ours that were not solved: chain, seed, row and the configuration behind it."""
    said: list[str] = []
    for entry in report.measurements:
        rows: list[dict[str, Any]] = entry.extra.get("missed", [])
        if rows and entry.role == "ik":
            listed = ", ".join(str(each["row"]) for each in rows)
            lost = entry.extra["answers"] - entry.extra["verified"]
            said.append(
                f"{entry.robot}, {_what(entry)}, seed {report.settings['seed']}, "
                f"{entry.rows} targets: {lost} rows: {listed}"
                + (", ..." if lost > len(rows) else "")
            )
    return said


def _what(entry: Measurement) -> str:
    kind, comma, _ = entry.operation.rpartition(", ")
    return kind if comma else "pose"


def _verified(entry: Measurement) -> str:
    share = 100.0 * entry.extra["verified"] / entry.extra["answers"]
    lost = entry.extra["answers"] - entry.extra["verified"]
    text = f"{min(share, 99.99) if lost else share:.2f} %"
    few = entry.extra["answers"] < entry.rows
    return text + (f" of {entry.extra['answers']:,}" if few and entry.rows > 1 else "")


def _time(entry: Measurement) -> float:
    return summarize(entry.times()).median


def _one(report: Report, batch: Measurement) -> list[str]:
    """Of one target by the solver that is kept: median, p99, and what 5 ms of wall time give."""
    cells = ["", "", ""]
    for entry in report.measurements:
        same = (entry.robot, entry.peer, _what(entry)) == (batch.robot, batch.peer, _what(batch))
        if same and entry.role == "solver" and entry.measured:
            cells[:2] = [duration(_time(entry)), duration(entry.extra["p99_ns"])]
        if same and entry.role == "5 ms" and entry.measured:
            slowest = summarize(entry.extra["wall_max"]).median
            cells[2] = f"{_verified(entry)} (slowest {duration(slowest)})"
    return cells


def _ours_beside(entry: Measurement, found: Sequence[Measurement]) -> Measurement | None:
    for other in found:
        if other.group == entry.group and other.peer == "linkwork":
            return None if entry.peer == "linkwork" else other
    return None
