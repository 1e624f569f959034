"""A page of results from the JSON of a run: ``python -m benchmarks.report results.json PAGE.md``.

Several files are of several runs on one machine, with different cases. Ratios come first: how many
times our time another side takes. The pictures of the same run are referred to by their names where
they lie beside the page.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.marks import judge
from benchmarks.plot import INSIDE, KINDS, median
from benchmarks.results import Measurement, Report, from_dict, joined, ratios
from benchmarks.stats import summarize
from benchmarks.table import duration, factor, rate

Group = tuple[str, str, int]  # robot, operation, rows
TITLES = {
    "pose": "pose",
    "all_poses": "all poses",
    "jacobian": "Jacobian",
    "inverse_dynamics": "inverse dynamics",
    "mass_matrix": "mass matrix",
    "forward_dynamics": "forward dynamics",
}
HEAD = """\
# Benchmarks: Linkwork beside the field

Written by `python -m benchmarks.report`; do not edit. Sides take turns; each table is of one run.
What is measured, how, and which traps are minded: [benchmarks/README.md](../benchmarks/README.md).
To reproduce it:

```
python -m benchmarks all --json results.json --plot docs/benchmarks.svg
python -m benchmarks.report results.json docs/benchmarks.md
```
"""


def page(report: Report, pictures: Sequence[str] = ()) -> str:
    """The whole page."""
    parts = [HEAD, _circumstances(report), _marks(report)]
    for title, text, case in (
        ("One configuration a call", _SINGLE, "single"),
        ("Batches, one thread", _BATCH, "batch"),
        ("Reading a URDF", _LOAD, "load"),
    ):
        body = _comparison(report, case)
        if not body:
            continue
        shown = [f"![{title}]({name})\n" for name in pictures if f"-{case}." in name]
        parts.append("\n".join([f"## {title}\n", text, *shown, body]))
    parts += [
        _lines(report, "import", "Import, beyond NumPy"),
        _compile(report),
        _ik(report),
        _closed(report),
        _collision(report),
        _trajectories(report),
    ]
    parts += [_left_out(report), _versions(report)]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


_SINGLE = """\
Their time over that of our bound function (`robot.function(...)`), and their time. Each side is
shown with its fastest line that hands over numbers; where a faster one leaves its result in the
library's own objects, its ratio stands behind the slash. Processor time, medians.
"""
_BATCH = """\
Their time over ours into an array that exists (`out=`), and their rate. Loops in Python where a
library has no call for a batch.
"""
_LOAD = """\
Their time over ours, and their time. "Without shapes" is the file without visual and collision
elements; sides that cannot leave meshes alone read that one only.
"""


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table of Markdown, the first ``left`` columns to the left, the others to the right."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _circumstances(report: Report) -> str:
    machine, settings = report.machine, report.settings
    spreads = [summarize(e.times()).spread for e in report.measurements if e.measured]
    noise = statistics.median(spreads) if spreads else 0.0
    system = str(machine.get("system")).partition("-")[0]
    wide = "AVX-512" if machine.get("avx512") else "AVX2" if machine.get("avx2") else "no AVX2"
    return (
        f"{machine.get('date', 'no date')}; {machine.get('processor')} ({wide}, "
        f"{machine.get('cores')} cores, one of them used), {system}; seed "
        f"{settings.get('seed')}, {settings.get('rounds')} rounds of {settings.get('seconds')} s "
        f"a line. Rounds of a line differ by ± {100 * noise:.0f} % (the median of all lines).\n"
    )


def _marks(report: Report) -> str:
    rows: list[list[str]] = []
    for entry in report.measurements:
        if not entry.measured:
            continue
        found = ratios(entry, report.measurements)
        said = judge(entry, found, bool(report.machine.get("avx512")))
        if not said:
            continue
        what = f"{entry.robot}, {entry.case} {TITLES.get(entry.operation, entry.operation)}"
        if entry.rows > 1:
            what += f", {entry.rows:,} rows"
        have = " · ".join(f"{factor(value.median)} {role}" for role, value in found.items())
        rows.append([what, f"{entry.peer}: {entry.label}", have or duration(median(entry)), said])
    for entry in report.measurements:
        rows += [
            [f"{entry.robot}, ik {entry.operation}", entry.label, note, _met(note)]
            for note in entry.notes
            if "(mark" in note
        ]
    if not rows:
        return ""
    head = ["what", "against", "their time ÷ ours, or the time", "mark"]
    table = markdown(head, rows, left=4)
    return f"## The marks that the project set itself\n\n{table}"


def _met(note: str) -> str:
    return "MISSED" if "MISSED" in note else "met"


def _best(entries: Sequence[Measurement]) -> tuple[Measurement | None, Measurement | None]:
    """The fastest line that hands over numbers, and a faster one that does not (or nothing)."""
    outside = [entry for entry in entries if entry.role not in INSIDE]
    inside = [entry for entry in entries if entry.role in INSIDE]
    best = min(outside, key=median, default=None)
    faster = min(inside, key=median, default=None)
    if best and faster and median(faster) > 0.97 * median(best):
        faster = None
    return best, faster


def _comparison(report: Report, case: str) -> str:
    """One table: a row for each side, a column for each robot and operation."""
    timed = [e for e in report.measurements if e.case == case and e.measured]
    groups = list(dict.fromkeys((e.robot, e.operation, e.rows) for e in timed))
    if case == "batch":  # many columns: one table for each number of rows
        counts = sorted({rows for _, _, rows in groups})
        return "\n".join(
            f"### {count:,} rows\n\n"
            + _table(timed, [group for group in groups if group[2] == count], rate)
            for count in counts
        )
    return _table(timed, groups, duration) if groups else ""


def _table(
    timed: Sequence[Measurement], groups: Sequence[Group], show: Callable[[float], str]
) -> str:
    def of(peer: str, group: Group) -> list[Measurement]:
        return [e for e in timed if e.peer == peer and (e.robot, e.operation, e.rows) == group]

    peers = list(dict.fromkeys(e.peer for e in timed if not e.side_line))
    ours = peers[0]
    rows: list[list[str]] = []
    roles = dict.fromkeys(e.role for e in timed if e.peer == ours)
    for role in roles:
        cells = [
            next((show(median(e)) for e in of(ours, group) if e.role == role), "")
            for group in groups
        ]
        shown = f"*{role}*" if role.startswith("memory") else f"**{ours}, {role}**"
        if any(cells):
            rows.append([shown, *cells])
    others: list[tuple[float, list[str]]] = []
    for peer in peers[1:]:
        cells, seen = [], []
        for group in groups:
            reference = next((e for e in of(ours, group) if not e.side_line), None)
            cells.append(_cell(of(peer, group), reference, show, seen))
        others.append((min(seen, default=float("inf")), [peer, *cells]))
    rows += [row for _, row in sorted(others, key=lambda pair: pair[0])]
    head = ["", *(f"{robot}: {TITLES.get(operation, operation)}" for robot, operation, _ in groups)]
    return markdown(head, rows)


def _cell(
    entries: Sequence[Measurement],
    reference: Measurement | None,
    show: Callable[[float], str],
    seen: list[float],
) -> str:
    best, faster = _best(entries)
    main = best or faster
    if main is None:
        return ""
    if reference is None:
        return show(median(main))

    def times(entry: Measurement) -> str:
        value = ratios(entry, [reference, entry])
        found = next(iter(value.values())).median
        seen.append(found)
        return factor(found)

    text = f"**{times(main)}**"
    if best and faster:
        text += f" / {times(faster)}"
    mark = "" if best else " inside"
    return f"{text} ({show(median(main))}{mark})"


def _lines(report: Report, case: str, title: str) -> str:
    timed = [e for e in report.measurements if e.case == case and e.measured]
    rows = [[e.peer, e.label, duration(median(e))] for e in sorted(timed, key=median)]
    return f"## {title}\n\n{markdown(['', 'what', 'processor time'], rows, left=2)}" if rows else ""


def _compile(report: Report) -> str:
    timed = [e for e in report.measurements if e.case == "compile" and e.measured]
    starts = {
        (e.robot, e.operation, e.peer, e.role): e
        for e in report.measurements
        if e.case == "start" and e.measured
    }
    rows: list[list[str]] = []
    for e in timed:
        start = starts.get((e.robot, e.operation, e.peer, e.role))
        what = f"{e.robot}: {TITLES.get(e.operation, e.operation)}"
        whole = duration(median(start)) if start else ""
        rows.append([what, e.peer, e.role, duration(median(e)), whole])
    if not rows:
        return ""
    head = ["", "side", "state", "first call", "whole process up to it"]
    text = "In a fresh process: imports that happen at the first call count. Processor time.\n"
    return f"## The first call\n\n{text}\n{markdown(head, rows, left=3)}"


def _ik(report: Report) -> str:
    rows = [
        [e.robot, e.label, duration(median(e)), rate(median(e)), "; ".join(e.notes)]
        for e in report.measurements
        if e.case == "ik" and e.measured and not e.side_line
    ]
    head = ["", "line", "time a target", "targets a second", "verified"]
    body = markdown(head, rows) if rows else _IK_ELSEWHERE
    return f"## Inverse kinematics\n\n{body}"


_IK_ELSEWHERE = """\
Has a protocol of its own (`python -m benchmarks.ik`); its tables are on
[inverse_kinematics.md](inverse_kinematics.md#how-good-it-is).
"""


def _closed(report: Report) -> str:
    """Mechanisms with loops."""
    text = (
        "Every answer is checked: loops closed within 1e-9, at the positions or the frame given. "
        "Single calls\nstart at neutral, within the middle 30 % of the ranges; time is per answer. "
        "SciPy is given our compiled\nequations; CasADi has them as its own graph.\n"
    )
    return _in_process(report, "closed", "Mechanisms with loops", text)


def _collision(report: Report) -> str:
    """What touches."""
    text = (
        "Panda against 20 boxes and cylinders, and itself; all sides have the same convex shapes "
        "and pairs. Notes say\nhow many states touch, and of how many of 1,000 a side says "
        "otherwise than coal's signed distances do.\n"
    )
    return _in_process(report, "collision", "Collision", text)


def _trajectories(report: Report) -> str:
    """Least-time motions."""
    text = (
        "Panda through way points, under velocity, acceleration and torque limits. Notes say how "
        "long a motion\ntakes, and how far it exceeds its limits where it is looked at finely.\n"
    )
    return _in_process(report, "trajectories", "Trajectories", text)


def _in_process(report: Report, case: str, title: str, text: str) -> str:
    """All sides of these cases run in one process, so ratios stand in every line."""
    rows: list[list[str]] = []
    for e in report.measurements:
        if e.case != case or not e.measured:
            continue
        found = ratios(e, report.measurements)
        beside = " · ".join(f"{factor(value.median)} {role}" for role, value in found.items())
        what = [e.robot, e.operation, e.peer, e.label]
        rows.append([*what, duration(median(e)), beside, "; ".join(e.notes)])
    if not rows:
        return ""
    head = ["", "what", "side", "line", "time", "÷ ours", "notes"]
    return f"## {title}\n\n{text}\n{markdown(head, rows, left=4)}"


def _left_out(report: Report) -> str:
    said = [f"- {item.peer}, {item.what}: {item.reason}" for item in report.left_out]
    for entry in report.measurements:
        if entry.disagrees:
            what = f"{entry.robot} {entry.operation}, {entry.label}"
            said.append(f"- {entry.peer}, {what}: not timed, it disagrees: {entry.agreement}")
        elif not entry.measured and entry.notes:
            what = f"{entry.robot} {entry.operation}, {entry.rows:,} rows"
            said.append(f"- {what}: {'; '.join(entry.notes)}")
    said += [f"- PROBLEM: {text}" for text in report.problems]
    return "\n".join(["## Not measured, and why\n", *dict.fromkeys(said)]) if said else ""


def _versions(report: Report) -> str:
    rows = [
        [name, str(found["version"]), str(found["numpy"]), str(found["python"])]
        for name, found in report.versions.items()
    ]
    return f"## Versions\n\n{markdown(['', 'version', 'NumPy', 'Python'], rows)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page."""
    made = argparse.ArgumentParser(prog="benchmarks.report", description=__doc__)
    made.add_argument("results", type=Path, nargs="+", help="the JSON of a run, or of several")
    made.add_argument("page", type=Path, help="the page to write")
    options = made.parse_args(arguments)
    read = [json.loads(path.read_text(encoding="utf-8")) for path in options.results]
    report = joined([from_dict(each) for each in read])
    stem, folder = options.page.stem, options.page.parent
    names = [f"{stem}-{kind}.svg" for kind in KINDS]
    pictures = [name for name in names if (folder / name).is_file()]
    options.page.write_text(page(report, pictures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
