"""The times as pictures, where matplotlib is installed: one for each kind of case.

A panel for each robot and operation; a bar for each side, its fastest line that hands over numbers,
on a logarithmic axis, with the time and the ratio to ours written beside it. A hollow mark on a bar
says how much faster that side is when its result stays inside the library.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import Measurement, Report
from benchmarks.stats import summarize
from benchmarks.table import duration, factor

KINDS = ("single", "batch", "load")
INSIDE = {"computed", "object", "own"}  # roles of lines that leave their result in the library
TITLES = {
    "pose": "pose of one frame",
    "all_poses": "poses of all frames",
    "jacobian": "Jacobian",
    "inverse_dynamics": "inverse dynamics",
    "mass_matrix": "mass matrix",
    "forward_dynamics": "forward dynamics",
    "urdf": "reading the URDF",
    "urdf without shapes": "reading it without shapes",
}
OURS_NAMES = {
    "bound": "Linkwork: bound function",
    "method": "Linkwork: Robot method",
    "out": "Linkwork: out=",
    "new": "Linkwork: new array",
    "fresh": "Linkwork: fresh memory",
    "load": "Linkwork",
}
OURS, THEIRS, MARK = "#1b6ca8", "#b9bec4", "#3a3a3a"


_ACROSS = 3
"""Panels side by side, at most."""


@dataclass(frozen=True)
class Bar:
    """One side in one panel: times in ns an evaluation."""

    name: str
    time: float
    ours: bool = False
    inside: float | None = None  # its fastest line that leaves the result inside
    only_inside: bool = False  # there is no other line


def median(entry: Measurement) -> float:
    """The median time of an entry in ns."""
    return summarize(entry.times()).median


def bars(entries: Sequence[Measurement], ours: str = "linkwork") -> list[Bar]:
    """The bars of one panel, fastest first: each of our lines, one line for each other side."""
    found: list[Bar] = []
    timed = [entry for entry in entries if entry.measured and not entry.side_line]
    for entry in timed:
        if entry.peer == ours:
            found.append(Bar(OURS_NAMES.get(entry.role, entry.label), median(entry), ours=True))
    for peer in dict.fromkeys(entry.peer for entry in timed if entry.peer != ours):
        mine = [entry for entry in timed if entry.peer == peer]
        outside = [median(entry) for entry in mine if entry.role not in INSIDE]
        inside = [median(entry) for entry in mine if entry.role in INSIDE]
        if not outside:
            found.append(Bar(peer, min(inside), only_inside=True))
            continue
        best = min(outside)
        faster = min(inside) if inside and min(inside) < 0.97 * best else None
        found.append(Bar(peer, best, inside=faster))
    return sorted(found, key=lambda bar: bar.time)


def fill_time(entries: Sequence[Measurement]) -> float | None:
    """How long filling the same output takes, where that was measured."""
    found = [median(entry) for entry in entries if entry.role == "memory" and entry.measured]
    return found[0] if found else None


def save(report: Report, path: Path) -> str:
    """Write a picture for each kind of case that was measured; an empty text, or why there is none.

    With more than one kind the pictures are named ``<stem>-single.svg``, ``<stem>-batch.svg``, ...
    """
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install matplotlib)"
    kinds = [kind for kind in KINDS if _groups(report, kind)]
    if not kinds:
        return "no plot: there is nothing to show"
    # words stay words in an .svg, and the same run gives the same file
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "linkwork"})
    metadata = {"Date": None} if path.suffix == ".svg" else None
    for kind in kinds:
        target = path if len(kinds) == 1 else path.with_stem(f"{path.stem}-{kind}")
        _figure(figures, report, kind).savefig(target, dpi=110, metadata=metadata)
    return ""


def _groups(report: Report, kind: str) -> dict[tuple[str, int], dict[str, list[Measurement]]]:
    """Entries by robot and rows, then by operation."""
    found: dict[tuple[str, int], dict[str, list[Measurement]]] = {}
    for entry in report.measurements:
        if entry.case == kind and entry.measured:
            row = found.setdefault((entry.robot, entry.rows), {})
            row.setdefault(entry.operation, []).append(entry)
    return found


def _parted(items: list[Any], most: int) -> list[list[Any]]:
    return [items[k : k + most] for k in range(0, len(items), most)]


def _of_batch(kind: str, rows: int) -> str:
    return f", {rows:,} rows" if kind == "batch" else ""


def _figure(figures: Any, report: Report, kind: str) -> Any:
    rows = [
        [(f"{robot}: {TITLES.get(name, name)}{_of_batch(kind, n)}", own) for name, own in some]
        for (robot, n), by_operation in _groups(report, kind).items()
        for some in _parted(list(by_operation.items()), _ACROSS)
    ]
    counts = [max(len(bars(entries)) for _, entries in row) for row in rows]
    heights, across = [0.95 + 0.25 * count for count in counts], max(map(len, rows))
    figure = figures.Figure(figsize=(5.9 * across, sum(heights) + 0.5), layout="constrained")
    axes = figure.subplots(len(rows), across, squeeze=False, gridspec_kw={"height_ratios": heights})
    for panels, row in zip(axes, rows, strict=True):
        for panel in panels[len(row) :]:
            panel.set_axis_off()
        for panel, (title, entries) in zip(panels, row, strict=False):
            panel.set_title(title, fontsize=10)
            _panel(panel, entries)
    processor = report.machine.get("processor", "")
    what = {"single": "one configuration a call", "batch": "batches, one thread"}.get(kind, kind)
    date = report.machine.get("date", "")
    figure.suptitle(
        f"{what}: time per evaluation, logarithmic ({processor}, {date})\n"
        "n×: how many times our fastest line it takes    "
        "◇: the same side, its result left in its own objects    "
        "hatched: only that",
        fontsize=10,
    )
    return figure


def _panel(panel: Any, entries: Sequence[Measurement]) -> None:
    shown = bars(entries)
    reference = min((bar.time for bar in shown if bar.ours), default=None)
    places = range(len(shown))
    low, high = min(bar.inside or bar.time for bar in shown), max(bar.time for bar in shown)
    fill = fill_time(entries)
    low = min(low, fill or low)
    panel.set_xscale("log")
    # room on the right for the text beside the longest bar
    panel.set_xlim(low / 1.8, high * (high / low) ** 0.45 * 3.0)
    panel.barh(
        places,
        [bar.time for bar in shown],
        height=0.72,
        color=[OURS if bar.ours else THEIRS for bar in shown],
        hatch=["////" if bar.only_inside else "" for bar in shown],
        edgecolor="white",
    )
    for place, bar in zip(places, shown, strict=True):
        text = duration(bar.time)
        if reference and not bar.ours:
            text += f"   {factor(bar.time / reference)}×"
        panel.text(bar.time * 1.08, place, text, va="center", fontsize=8, color=MARK)
        if bar.inside is not None:
            panel.plot([bar.inside], [place], marker="D", mfc="white", mec=MARK, ms=4, ls="")
    if fill is not None:
        panel.axvline(fill, color=MARK, linewidth=0.9, linestyle=":")
        panel.text(fill, len(shown) - 0.45, " filling the output", fontsize=7, color=MARK, va="top")
    panel.set_yticks(list(places), [bar.name for bar in shown], fontsize=8)
    for label, bar in zip(panel.get_yticklabels(), shown, strict=True):
        label.set_fontweight("bold" if bar.ours else "normal")
    panel.invert_yaxis()
    panel.tick_params(axis="x", labelsize=7)
    panel.grid(axis="x", linewidth=0.4, alpha=0.5)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    panel.xaxis.set_major_formatter(lambda value, place: duration(value))
    panel.xaxis.set_minor_formatter(lambda value, place: "")
