"""The table of ratios."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.marks import judge
from benchmarks.results import Measurement, Report, ratios
from benchmarks.stats import summarize

COLUMNS: tuple[str, ...] = tuple(
    "robot|what|rows|side|line|processor|wall|per second|± %|÷ ours|mark|notes".split("|")
)
RIGHT = {"rows", "processor", "wall", "per second", "± %", "÷ ours"}


def duration(ns: float) -> str:
    """A time with three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def rate(ns: float) -> str:
    """Evaluations a second."""
    value = 1e9 / ns
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def factor(value: float) -> str:
    """A ratio with three digits, two from ten thousand on, and no exponent."""
    if not 1e-3 <= value < 1e9:
        return f"{value:.2g}"
    if value < 1000:
        return f"{value:.3g}"
    step = 10 ** max(len(str(int(value))) - (3 if value < 1e4 else 2), 0)
    return f"{round(value / step) * step:,}"


def cells(entry: Measurement, report: Report) -> list[str]:
    """The texts of one line of the table, in the order of `COLUMNS`."""
    head = [
        entry.robot,
        f"{entry.case} {entry.operation}",
        str(entry.rows),
        entry.peer,
        entry.label,
    ]
    notes = "; ".join(entry.notes)
    if entry.disagrees:
        return [*head, "-", "-", "-", "-", "-", "", f"DISAGREES: {entry.agreement}; not timed"]
    if not entry.measured:
        return [*head, "-", "-", "-", "-", "-", "", notes or "not measured"]
    found = ratios(entry, report.measurements)
    middle = summarize(entry.times())
    shown = " · ".join(f"{factor(value.median)} {role}" for role, value in found.items())
    return [
        *head,
        duration(summarize(entry.cpu).median) if entry.cpu else "-",
        duration(summarize(entry.wall).median) if entry.wall else "-",
        rate(middle.median),
        f"{100 * middle.spread:.1f}",
        shown or "ours",
        judge(entry, found, bool(report.machine.get("avx512"))),
        notes,
    ]


def plain(report: Report) -> str:
    """The table as aligned text."""
    body = [cells(entry, report) for entry in report.measurements]
    used = [k for k in range(len(COLUMNS)) if any(row[k] for row in body)]
    rows = [list(COLUMNS), *body]
    width = {k: max(len(row[k]) for row in rows) for k in used}

    def text(row: Sequence[str]) -> str:
        return "  ".join(
            row[k].rjust(width[k]) if COLUMNS[k] in RIGHT else row[k].ljust(width[k]) for k in used
        ).rstrip()

    lines = [text(rows[0]), "-" * len(text(rows[0]))]
    before: object = None
    for entry, row in zip(report.measurements, body, strict=True):
        if before is not None and entry.group != before:
            lines.append("")
        before = entry.group
        lines.append(text(row))
    return "\n".join(lines)


def left_out(report: Report) -> list[str]:
    """One line for each side, or thing of a side, that was not measured."""
    return [f"LEFT OUT: {item.peer}, {item.what}: {item.reason}" for item in report.left_out]


def show(report: Report) -> None:
    """Print the table, then what went wrong."""
    print(plain(report) if report.measurements else "nothing was measured")
    for text in (*left_out(report), *(f"PROBLEM: {text}" for text in report.problems)):
        print(text)
