"""``linkwork diff``: what is different between two descriptions, whatever their text looks like."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from click.exceptions import Exit

from linkwork.cli import output
from linkwork.cli.arguments import DiffArguments
from linkwork.errors import InputError
from linkwork.formats.urdf.diff import diff
from linkwork.loading import read
from linkwork.terminal import Screen
from linkwork.terminal_text import Text

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
        changes = [
            {
                "kind": change.kind,
                "path": change.path,
                "before": _plain(change.before),
                "after": _plain(change.after),
            }
            for change in found
        ]
        named = {"before": given.before, "after": given.after}
        output.print_json({**named, "same": not found, "changes": changes})
    else:
        screen = Screen()
        for change in found:
            screen.print(Text((str(change), STYLES[change.kind])))
        counts = [(sum(change.kind == kind for change in found), kind) for kind in STYLES]
        listed = ", ".join(f"{n} {kind}" for n, kind in counts if n)
        screen.print(output.heading(listed) if found else "no differences")
    if found:
        raise Exit(DIFFERENT)


def _plain(value: Any) -> Any:
    """A record as its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
