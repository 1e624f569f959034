"""What is read of an MJCF and its includes, with its limits, and what leads back to the files."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork.errors import Finding, Level
from linkwork.formats.mjcf.records import Place
from linkwork.formats.urdf.convert import show

DEEPEST = 498
"""How deep elements may be nested: as deep as MuJoCo's own parser takes them."""

MOST_BODIES, MOST_ELEMENTS, MOST_FILES = 10_000, 50_000, 256
"""How many bodies, elements and files one MJCF may have, repetitions counted.

MuJoCo's compiler takes a time that grows with the square of both: about ten seconds here.
"""

MOST_ATTRIBUTES, LONGEST, LONGEST_LIST = 256, 65_536, 4 << 20
"""How many attributes an element may have, and how many characters one of them."""

MOST_NESTED = 32


class Stop(Exception):
    """Reading ends here: the problem is in the list."""


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A mesh file: the name that was written, where MuJoCo would look for it, and who names it."""

    name: str
    files: tuple[str, ...]
    place: Place


@dataclass(slots=True)
class Flat:
    """What was read: the text for MuJoCo and everything that leads back to the files.

    `texts` are those of ``<model>`` files, by the names that the text has for them; `meshes` the
    mesh files likewise. `origin[k]` is where line k + 1 came from, in all the texts.
    """

    file: str = ""
    text: str = ""
    texts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    origin: list[Place] = field(default_factory=list[Place])
    tags: list[str] = field(default_factory=list[str])
    meshes: dict[str, MeshFile] = field(default_factory=dict[str, MeshFile])
    plugin_meshes: set[str] = field(default_factory=set[str])
    name: str = ""
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    errors: list[Finding] = field(default_factory=list[Finding])
    files: list[str] = field(default_factory=list[str])

    def place(self, line: int) -> Place:
        """Where a line of the texts came from."""
        return self.origin[line - 1] if 0 < line <= len(self.origin) else Place()

    def refuse(
        self, code: str, message: str, place: Place, *, element: str = "", hint: str = ""
    ) -> None:
        """Keep an error; after a hundred nothing more is read.

        Raises: Stop.
        """
        problem = Finding("error", code, message, place.file, place.line, show(element), hint=hint)
        self.errors.append(problem)
        if len(self.errors) >= 100:
            raise Stop

    def found(self, level: Level, code: str, message: str, *, place: Place, element: str) -> None:
        """Keep a finding at its first place, and count the others."""
        self.counts[code] = self.counts.get(code, 0) + 1
        if code not in self.findings:
            problem = Finding(level, code, message, place.file, place.line, element)
            self.findings[code] = problem
