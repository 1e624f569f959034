"""A result of inverse kinematics as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from linkwork.solve.tasks import Unit

if TYPE_CHECKING:
    from linkwork.solve.result import IKResult

_UNITS: dict[Unit, str] = {"m": "m", "rad": "rad", "1": ""}
_PERCENTILES = (50, 99, 100)


def show(result: IKResult, console: Console | None = None) -> None:
    """Print a summary and a table of errors and tolerances; by default on standard output."""
    screen = console or Console(markup=False, emoji=False, highlight=False)
    for line in heading(result):
        screen.print(line, soft_wrap=True)
    if 0 not in result.shape:
        screen.print(table(result))


def heading(result: IKResult) -> list[str]:
    """One or two lines: how many are solved, in how many steps, and why one is not."""
    success = result.success
    took = "" if np.isnan(result.seconds) else f", {1e3 * result.seconds:.3g} ms"
    if result.shape == ():
        word = "solved" if success else "not solved; the nearest that was found"
        steps, tries = result.iterations, result.restarts
        lines = [f"{word} (steps {steps}, restarts {tries}{took})"]
    else:
        solved = int(np.count_nonzero(success))
        lines = [f"{solved} of {success.size} solved"]
        if success.size:
            steps, tries = _spread(result.iterations), _spread(result.restarts)
            lines[0] += f" (steps {steps}, restarts {tries}{took})"
    if result.reason != "solved":
        lines.append(result.reason)
    return lines


def _spread(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    return f"{np.median(counts):.3g} by median, {int(counts.max())} at most"


def table(result: IKResult) -> Table:
    """Each group of each task: its error, or how that is spread, its tolerance, whether it is done.

    Of a batch, the share that is done.
    """
    single = result.shape == ()
    lower = any(column.priority for column in result.terms.columns)
    spread = ["error"] if single else ["median", *[f"{p} %" for p in _PERCENTILES[1:-1]], "largest"]
    names = ["task", "group", *(["priority"] if lower else []), *spread, "tolerance", "unit", "ok"]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for name in names:
        words = name in ("task", "group", "unit", "ok")
        least = len(name) if name == "task" else None
        side: Literal["left", "right"] = "left" if words else "right"
        made.add_column(name, justify=side, no_wrap=name != "task", min_width=least)
    pairs = zip(result.terms.columns, result.terms.tolerances, strict=True)
    for k, ((task, group, priority), tolerance) in enumerate(pairs):
        error = result.errors[task][group.name]
        share = float(np.mean(result.measures[..., k] <= result.terms.thresholds[k]))
        shown = [float(error)] if single else np.percentile(error, _PERCENTILES).tolist()
        ok = ("yes" if share else "no") if single else f"{100.0 * share:.6g} %"
        made.add_row(
            task,
            group.name,
            *([str(priority)] if lower else []),
            *[f"{value:.1e}" for value in shown],
            f"{tolerance:.3g}",
            _UNITS[group.unit],
            ok,
        )
    return made
