"""Findings on a description: those of every check, and those on what URDF does not define."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.urdf.convert import listed, show
from linkwork.formats.urdf.schema import TAGS

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Files
more | error, note | More than 10,000 problems; so many are not listed. | Mend some.
# Names and elements
unknown-element | warning, note | URDF has no such element here; kept, not used. A warning where it
    looks like a slip. | Mind the spelling, or leave it to the program that it is for.
unknown-attribute | warning, note | URDF has no such attribute here; kept, not used. A warning where
    it looks like a slip. | Mind the spelling, or remove it.
"""


MOST = 10_000
"""The most errors, and the most findings, that are listed of one file."""

EXTENSIONS = frozenset({"gazebo", "ros2_control", "sensor", "drake", "mujoco"})
"""Elements that URDF leaves to others, by agreement: nothing to remark on."""


class Findings:
    """Everything found wrong or odd in one file, with that file's name.

    Errors whose codes are in ``accepted`` are kept as warnings: the reader asked for has no use for
    what they are about.
    """

    def __init__(self, file: str | None, accepted: Collection[str] = ()) -> None:
        self.file = show(file, 4096) if file else ""
        self._accepted = frozenset(accepted)
        self._errors: list[Finding] = []
        self._findings: list[Finding] = []
        self._left_out = 0
        # comparing names is slow: only for the first few
        self._hints, self._guesses = 20, 100

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return bool(self._errors)

    def add(
        self,
        level: Level,
        code: str,
        message: str,
        *,
        line: int,
        element: str = "",
        name: str = "",
        hint: str = "",
        file: str = "",
    ) -> None:
        """Keep one problem; past `MOST` it is only counted. ``file`` is another one than ours."""
        if code in self._accepted and level == "error":
            level = "warning"
        problems = self._errors if level == "error" else self._findings
        if len(problems) >= MOST:
            self._left_out += 1
            return
        problems.append(
            Finding(level, code, message, file or self.file, line, show(element), show(name), hint)
        )

    def about(
        self,
        level: Level,
        element: str,
        record: Any,
        code: str,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
    ) -> None:
        """Keep one problem of a record that has a name and a line; ``line`` is another one."""
        file, at = getattr(record, "file", None) or "", record.line if line is None else line
        name = record.name
        self.add(level, code, message, line=at, element=element, name=name, hint=hint, file=file)

    def mark(self) -> tuple[int, int, int, int]:
        """The number of findings so far, for `rewind`."""
        return len(self._errors), len(self._findings), self._left_out, self._hints

    def rewind(self, mark: tuple[int, int, int, int]) -> None:
        """Forget what came after a `mark`."""
        errors, findings, self._left_out, self._hints = mark
        del self._errors[errors:], self._findings[findings:]

    def nearest(self, name: str, known: Collection[str]) -> str:
        """A hint with the known names nearest to one that is not known."""
        if not known or len(known) > 2000 or len(name) > 100 or not self._hints:
            return f"there are {len(known)}"
        self._hints -= 1
        near = difflib.get_close_matches(name, known, n=3)
        return "nearest: " + ", ".join(map(show, near)) if near else f"there are {len(known)}"

    def sorted(self) -> tuple[Finding, ...]:
        """All of them by line, and last how many more there are."""
        return tuple(self._by_line(self._errors + self._findings, "note"))

    def error(self) -> DescriptionError:
        """The exception that carries every error; findings are left out of it."""
        return DescriptionError(self._by_line(self._errors, "error"))

    def _by_line(self, findings: list[Finding], level: Level) -> list[Finding]:
        found = sorted(findings, key=lambda finding: finding.line)
        if self._left_out:
            text = f"{self._left_out} more problems are not listed"
            found.append(Finding(level, "more", text, self.file, found[-1].line))
        return found

    # what a file has and the format has not: kept and not used, perhaps a slip

    def unknown_element(
        self, within: str, known: Sequence[str], label: str, *, line: int, name: str
    ) -> None:
        """A finding for an unknown element: worse where it looks like a known one."""
        if label in EXTENSIONS:
            return
        level: Level = "warning" if label in TAGS else "note"
        allowed = ", ".join(f"<{tag}>" for tag in known) or "no elements"
        hint = f"kept, not used; <{within}> takes {allowed}"
        if near := self._slip_of(label, known):
            level, hint = "warning", f"did you mean <{near}>?"
        message = f"URDF has no such element in <{within}>"
        self.add(level, "unknown-element", message, line=line, element=label, name=name, hint=hint)

    def unknown_attributes(
        self, within: str, known: Iterable[str], labels: Sequence[str], *, line: int, name: str
    ) -> None:
        """A finding for the unknown attributes of one element."""
        level: Level = "note"
        hint, known = "", tuple(known)
        for label in labels[:10]:
            if label not in known and (near := self._slip_of(label, known)):
                level, hint = "warning", f"did you mean '{near}'?"
        message = f"URDF has no attribute {listed(labels, longest=40)} here; kept, not used"
        code = "unknown-attribute"
        self.add(level, code, message, line=line, element=within, name=name, hint=hint)

    def _slip_of(self, label: str, known: Iterable[str]) -> str:
        """A known name that this one may be a slip of, or nothing."""
        self._guesses -= 1
        return _nearest(label[:40], tuple(known)) if self._guesses >= 0 else ""


@lru_cache(maxsize=1024)
def _nearest(label: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(label, known, n=1, cutoff=0.75)
    return near[0] if near else ""
