"""Findings on a description: those of every check, and those on what URDF does not define."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.schema import JOINT, LINK

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

    def mark(self) -> tuple[int, int, int, int]:
        """How much there is now, for `rewind`."""
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


# Elements that URDF leaves to others, by agreement: nothing to remark on.
_EXTENSIONS = frozenset({"gazebo", "ros2_control", "sensor", "drake", "mujoco"})
MISPLACED = frozenset({LINK.tag, JOINT.tag})
"""Elements that the tree is made of: to pass over one would change the robot, so it is refused."""

_GUESSES = 100  # unknown names for which a near one is looked for; it takes a while


class UnknownParts:
    """Findings on what one file has and the format has not: kept and not used, perhaps a slip."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.guesses = _GUESSES

    def element(
        self,
        within: str,
        known: Sequence[str],
        label: str,
        *,
        tags: frozenset[str],
        line: int,
        name: str,
    ) -> None:
        """A finding for an unknown element: worse where it looks like a known one of ``tags``."""
        if label in _EXTENSIONS:
            return
        level: Level = "note"
        allowed = ", ".join(f"<{tag}>" for tag in known) or "no elements"
        hint = f"kept, not used; <{within}> takes {allowed}"
        near = self._near(label, known)
        if near:
            level, hint = "warning", f"did you mean <{near}>?"
        elif label in tags:
            level = "warning"
        message = f"URDF has no such element in <{within}>"
        self.findings.add(
            level, "unknown-element", message, line=line, element=label, name=name, hint=hint
        )

    def attributes(
        self, within: str, known: Iterable[str], labels: Sequence[str], *, line: int, name: str
    ) -> None:
        """A finding for the unknown attributes of one element."""
        level: Level = "note"
        hint = ""
        known = tuple(known)
        for label in labels[:10]:
            near = self._near(label, known) if label not in known else ""
            if near:
                level, hint = "warning", f"did you mean '{near}'?"
        listed = ", ".join(f"'{show(label, 40)}'" for label in labels[:5])
        more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
        message = f"URDF has no attribute {listed}{more} here; kept, not used"
        self.findings.add(
            level, "unknown-attribute", message, line=line, element=within, name=name, hint=hint
        )

    def _near(self, label: str, known: Iterable[str]) -> str:
        self.guesses -= 1
        return _nearest(label[:40], tuple(known)) if self.guesses >= 0 else ""


@lru_cache(maxsize=1024)
def _nearest(label: str, known: tuple[str, ...]) -> str:
    """A known name that this one may be a slip of, or nothing."""
    near = difflib.get_close_matches(label, known, n=1, cutoff=0.75)
    return near[0] if near else ""
