"""Everything that Linkwork raises, and the records that its messages are made of.

Each error also inherits the built-in that fits, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from linkwork.legible import legible

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a description, and where.

    ``level`` "error" means that no unique finite tree follows; "warning" and "note" are findings:
    the description can be used, and whatever needs the faulty value raises when it is asked. What
    was made in code has no file and no line.
    """

    level: Level
    code: str
    message: str
    file: str = ""
    line: int = 0
    element: str = ""
    name: str = ""
    hint: str = ""

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        where = f"{self.file or '<string>'}{line}: " if self.file or line else ""
        what = f"<{self.element}> " if self.element else ""
        whom = f"'{legible(self.name)}': " if self.name else ""
        how = f" ({self.hint})" if self.hint else ""
        return legible(f"{where}{self.level}: {what}{whom}{self.message}{how}", lines=True)


class LinkworkError(Exception):
    """The base of every error of this library; its text is legible on a terminal."""

    def __str__(self) -> str:
        return legible(super().__str__(), lines=True)


class DescriptionError(LinkworkError, ValueError):
    """A description that no unique finite mechanism follows from, with every problem found."""

    def __init__(self, problems: Iterable[Finding]) -> None:
        self.problems: tuple[Finding, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def __reduce__(self) -> tuple[type[DescriptionError], tuple[tuple[Finding, ...]]]:
        return (type(self), (self.problems,))


class MissingFileError(DescriptionError, FileNotFoundError):
    """A description whose file does not exist; ``filename`` is its name."""

    def __init__(self, problems: Iterable[Finding]) -> None:
        super().__init__(problems)
        self.errno, self.strerror = errno.ENOENT, os.strerror(errno.ENOENT)
        self.filename = self.problems[0].file


class InputError(LinkworkError, ValueError):
    """A value that the call cannot take: not finite, out of range, or against another one."""


class ShapeError(InputError):
    """An array of the wrong shape; the text says which was expected and which came."""


class UnsupportedFeatureError(LinkworkError, NotImplementedError):
    """Something that Linkwork does not do, refused by name rather than done wrongly."""


class MissingExtraError(LinkworkError, ImportError):
    """An optional dependency that is not installed; the text gives the command that installs it."""


class ProgramError(LinkworkError, RuntimeError):
    """Another program of this machine, such as a browser, that is missing or has failed."""


class UnknownNameError(LinkworkError, KeyError):
    """A name that does not exist, with the nearest ones that do."""

    def __init__(self, kind: str, name: str, valid: Sequence[str]) -> None:
        self.kind, self.name, self.valid = kind, name, tuple(valid)
        shown = str(name) if len(str(name)) <= 80 else f"{str(name)[:77]}..."
        near = difflib.get_close_matches(shown, self.valid, n=5, cutoff=0.4)
        if near:
            hint = "nearest: " + ", ".join(map(legible, near))
        elif len(self.valid) <= 12:
            hint = "there are: " + (", ".join(map(legible, self.valid)) or "none")
        else:
            first = ", ".join(map(legible, self.valid[:8]))
            hint = f"there are {len(self.valid)}: {first}, ..."
        self.text = f"no {kind} named '{legible(shown)}'; {hint}"
        super().__init__(self.text)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, tuple[str, ...]]]:
        return (UnknownNameError, (self.kind, self.name, self.valid))
