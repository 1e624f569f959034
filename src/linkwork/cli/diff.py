"""``linkwork diff``: what is different between two descriptions, whatever their text looks like."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from linkwork.cli import output
from linkwork.cli.arguments import DiffArguments
from linkwork.errors import InputError
from linkwork.formats.urdf.diff import Difference, diff
from linkwork.loading import read

DIFFERENT = 1
"""The exit code where both files could be read and are not the same."""

STYLES = {"added": "green", "removed": "red", "changed": "yellow"}


def run(given: DiffArguments) -> None:
    """Compare, print, and exit with 1 where there is a difference."""
    if not math.isfinite(given.tolerance) or given.tolerance < 0:
        raise InputError(f"--tolerance is a number from 0 on, not {given.tolerance:g}")
    before, after = read(given.before), read(given.after)
    found = diff(before, after, tolerance=given.tolerance)
    if given.json:
        output.print_json(_as_json(given, found))
    else:
        _show(output.console(), found)
    if found:
        raise typer.Exit(DIFFERENT)


def _show(screen: Console, found: Difference) -> None:
    for change in found:
        screen.print(Text(str(change), STYLES[change.kind]), soft_wrap=True)
    if not found:
        screen.print("no differences")
        return
    counts = [
        (sum(c.kind == kind for c in found), kind) for kind in ("added", "removed", "changed")
    ]
    screen.print(output.heading(", ".join(f"{n} {kind}" for n, kind in counts if n)))


def _as_json(given: DiffArguments, found: Difference) -> dict[str, Any]:
    return {
        "before": given.before,
        "after": given.after,
        "same": not found,
        "changes": [
            {
                "kind": change.kind,
                "path": change.path,
                "before": _plain(change.before),
                "after": _plain(change.after),
            }
            for change in found
        ],
    }


def _plain(value: Any) -> Any:
    """A record as its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
