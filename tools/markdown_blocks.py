"""The fenced blocks of a Markdown file, with the comments that stand above them.

A comment such as ``<!-- no-run: needs a browser -->`` or ``<!-- ci: test -->`` marks the block that
follows it. Only the standard library is used, so that this also runs before anything is installed:

    python tools/markdown_blocks.py README.md test     prints the block marked ``<!-- ci: test -->``
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

_COMMENT = re.compile(r"^\s*<!--\s*([a-z-]+)\s*:\s*(.*?)\s*-->\s*$")
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w+-]*)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: where its first line of code stands, its language, text and marks."""

    path: Path
    line: int
    language: str
    code: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """File and line, as an editor takes them."""
        return f"{self.path}:{self.line}"


def blocks_of(path: Path) -> list[Block]:
    """Every fenced block of a Markdown file, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    blocks: list[Block] = []
    marks: dict[str, str] = {}
    at = 0
    while at < len(lines):
        comment, fence = _COMMENT.match(lines[at]), _FENCE.match(lines[at])
        at += 1
        if comment:
            marks[comment[1]] = comment[2]
        elif fence:
            start = at
            while at < len(lines) and not _closes(lines[at], fence[2]):
                at += 1
            if at == len(lines):
                raise ValueError(f"{path}:{start}: this fence is never closed")
            code = textwrap.dedent("\n".join(lines[start:at]))
            blocks.append(Block(path, start + 1, fence[3], code, marks))
            marks = {}
            at += 1
        elif lines[at - 1].strip():
            marks = {}
    return blocks


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and set(text) == {fence[0]}


def marked(path: Path, name: str) -> str:
    """The code of the one block marked ``<!-- ci: name -->``.

    Raises: ValueError where there is none, or more than one.
    """
    found = [block.code for block in blocks_of(path) if block.marks.get("ci") == name]
    if len(found) != 1:
        raise ValueError(f"{path}: {len(found)} blocks are marked 'ci: {name}', one is wanted")
    return found[0].strip()


if __name__ == "__main__":
    print(marked(Path(sys.argv[1]), sys.argv[2]))
