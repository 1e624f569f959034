"""Every code that a finding may have: its levels, what it means, and how to mend it.

Each code is described in ``CODES`` of the module that tells it; here they are put under the
headings of docs/check.md, which lists them. A test compares them with what the code reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

_HEADINGS = (
    *("Files", "Structure", "Names and elements", "Numbers", "Joints", "Couplings", "Masses"),
    *(
        "Looks",
        "Transmissions",
        "Meshes",
        "Collisions",
        "Xacro",
        "Loops",
        "MJCF",
        "Denavit-Hartenberg tables",
    ),
    *("Converting to MJCF (`linkwork convert`)", "Saving robots (`lw.save`)"),
    *("Edits", "Records and mechanisms made in code"),
)
_HOMES = (
    *("formats.urdf.source", "formats.urdf.read", "formats.urdf.findings", "formats.structure"),
    *("formats.urdf.convert", "formats.urdf.check"),
    *("formats.urdf.materials", "formats.urdf.write"),
    *("formats.urdf.edit.names", "formats.urdf.edit.reroot"),
    *("mechanism.check_meshes", "mechanism.serialize", "formats.srdf", "collision.pairs"),
    *("formats.xacro", "formats.yaml", "formats.loops"),
    *("formats.mjcf.flatten", "formats.mjcf.read", "mechanism.from_mjcf"),
    *("formats.mjcf.write", "mechanism.to_mjcf", "formats.dh", "saving"),
)
CODES_OF_THE_COMMAND = """
# Files
missing-extra | error | An optional package is needed. | Install what it names.
# Collisions
contacts-unchecked | warning | There is no collision model of it. | See why.
# Loops
loops-open | warning | No position was found that closes the loops. | Mind frames.
"""


class Code(NamedTuple):
    """One row: ``levels`` are those that it is reported with, the worse first."""

    name: str
    levels: str
    meaning: str
    mend: str


def _rows(table: str) -> Iterator[tuple[str, Code]]:
    """The heading and the code of each row; a row may go on in indented lines."""
    heading = ""
    for line in table.replace("\n    ", " ").strip().split("\n"):
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        else:
            name, levels, meaning, mend = line.split(" | ")
            yield heading, Code(name, levels, meaning, mend)


def sections() -> dict[str, tuple[Code, ...]]:
    """The codes by the heading that they stand under."""
    tables = [import_module(f"linkwork.{home}").CODES for home in _HOMES]
    rows = [row for table in (*tables, CODES_OF_THE_COMMAND) for row in _rows(table)]
    return {title: tuple(code for at, code in rows if at == title) for title in _HEADINGS}


def codes() -> dict[str, Code]:
    """The codes by their names."""
    return {code.name: code for under in sections().values() for code in under}
