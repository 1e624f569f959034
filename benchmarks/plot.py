"""The ratios as a picture, where matplotlib is installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from benchmarks.results import Report, ratios


def save(report: Report, path: Path) -> str:
    """Write a bar chart of the ratios; gives an empty text, or why there is none."""
    try:
        matplotlib_figure: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        return "no plot: matplotlib is not installed (pip install matplotlib)"
    bars: list[tuple[str, float, float, float]] = []
    for entry in report.measurements:
        if entry.side_line:
            continue
        for role, value in ratios(entry, report.measurements).items():
            what = f"{entry.robot}, {entry.case} {entry.operation} {entry.rows}"
            name = f"{what}: {entry.label} ÷ {role}"
            bars.append((name, value.median, value.low, value.high))
    if not bars:
        return "no plot: there is no ratio to show"
    figure = matplotlib_figure.Figure(figsize=(11, 1.2 + 0.28 * len(bars)))
    axes = figure.add_subplot()
    names, middle, low, high = zip(*bars[::-1], strict=True)
    reach = [
        [m - x for m, x in zip(middle, low, strict=True)],
        [x - m for m, x in zip(middle, high, strict=True)],
    ]
    axes.barh(range(len(bars)), middle, xerr=reach, height=0.7)
    axes.set_yticks(range(len(bars)), names, fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("their time ÷ ours (median of rounds, quartiles)")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    return ""
