"""Problems collected while a description is read and checked."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.urdf.convert import show

MOST = 10_000
"""How many errors, and how many findings, of one file are listed."""


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
        self._hints = 20  # comparing names is slow: only for the first few

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
    ) -> None:
        """Keep one problem; past `MOST` it is only counted."""
        if code in self._accepted and level == "error":
            level = "warning"
        problems = self._errors if level == "error" else self._findings
        if len(problems) >= MOST:
            self._left_out += 1
            return
        problems.append(
            Finding(level, code, message, self.file, line, show(element), show(name), hint)
        )

    def nearest(self, name: str, known: Collection[str]) -> str:
        """A hint with the known names nearest to one that is not known."""
        if not known or len(known) > 2000 or len(name) > 100 or not self._hints:
            return f"there are {len(known)}"
        self._hints -= 1
        near = difflib.get_close_matches(name, known, n=3)
        return "nearest: " + ", ".join(map(show, near)) if near else f"there are {len(known)}"

    def sorted(self) -> tuple[Finding, ...]:
        """All of them by line, and last how many more there are."""
        everything = sorted(self._errors + self._findings, key=lambda problem: problem.line)
        if self._left_out:
            last = everything[-1].line
            text = f"{self._left_out} more problems are not listed"
            everything.append(Finding("note", "more", text, self.file, last))
        return tuple(everything)

    def error(self) -> DescriptionError:
        """The exception that carries every error; findings are left out of it."""
        errors = sorted(self._errors, key=lambda problem: problem.line)
        if self._left_out:
            text = f"{self._left_out} more problems are not listed"
            errors.append(Finding("error", "more", text, self.file, errors[-1].line))
        return DescriptionError(errors)
