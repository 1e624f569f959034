"""Every code that the sources report stands in the table and on the page, with its levels."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from linkwork.cli.check_codes import CODES, SECTIONS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "linkwork"
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
LEVELS = ("error", "warning", "note")
# What makes a problem, or hands a code to what does: by the name that it is called by.
MAKERS = {
    "add",
    "error",
    "note",
    "refuse",
    "tell",
    "warn",
    "BadText",
    "Complaint",
    "Problem",
    "_add",
    "_error",
    "_joint_error",
    "_note",
    "_odd_transmission",
    "_suspect",
    "_warn",
}
# Codes that the sources hold in a table rather than in a call.
IN_TABLES = re.compile(r"(mesh|texture)-(missing|outside|suffix|name)|zero-(effort|velocity)")


# Records made in code are judged by these; no file brings them about.
WRITERS = {"write.py", "validate.py", "sheets.py", "strays.py"}
OF_WRITERS = {re.escape(code) for code in ("type", "character", "white-space")}


def places() -> list[Path]:
    files = [*SOURCE.glob("formats/urdf/*.py"), *SOURCE.glob("mechanism/check_*.py")]
    return [*(f for f in files if f.name not in WRITERS), SOURCE / "cli" / "check.py"]


def reported(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Codes as patterns, with the levels that the same call names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            # a set's add takes one value, that of problems three at least
            if name in MAKERS and (name != "add" or len(node.args) >= 3):
                yield from _of_call(node)
        elif isinstance(node, ast.Assign):
            yield from _of_assignment(node)


def _of_call(node: ast.Call) -> Iterator[tuple[str, set[str]]]:
    texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    levels = {text for text in texts if text in LEVELS}
    for arg in node.args[:4]:
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
            if arg.value not in LEVELS and CODE.fullmatch(arg.value):
                yield re.escape(arg.value), levels
                return
        elif isinstance(arg, ast.JoinedStr) and len(arg.values) == 2:
            head = arg.values[0]
            if isinstance(head, ast.Constant) and re.fullmatch(r"[a-z]+-", str(head.value)):
                yield f"{head.value}[a-z-]+", levels
                return


def _of_assignment(node: ast.Assign) -> Iterator[tuple[str, set[str]]]:
    """``code, message = "mimic-self", ...`` and ``code = "x"``."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        target, value = target.elts[0], value.elts[0]
    named = isinstance(target, ast.Name) and target.id == "code"
    for part in ast.walk(value) if named else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
            if CODE.fullmatch(part.value):
                yield re.escape(part.value), set()


def found() -> dict[str, set[str]]:
    """Code, or a pattern of codes, to the levels that it is reported with."""
    levels: dict[str, set[str]] = defaultdict(set)
    for path in places():
        for pattern, named in reported(ast.parse(path.read_text(encoding="utf-8"))):
            if pattern not in OF_WRITERS:
                levels[pattern] |= named
    return levels


def test_every_code_of_the_sources_is_in_the_table():
    missing = [p for p in found() if not any(re.fullmatch(p, code) for code in CODES)]
    assert not missing


def test_every_row_of_the_table_is_reported_somewhere():
    patterns = list(found())
    # what other parts of the library report, or a table of the sources
    elsewhere = {"name-left", "xacro", "unsupported", "missing-extra"}
    stale = [
        code
        for code in CODES
        if code not in elsewhere
        and not IN_TABLES.fullmatch(code)
        and not any(re.fullmatch(pattern, code) for pattern in patterns)
    ]
    assert not stale
    text = "".join(path.read_text(encoding="utf-8") for path in places())
    assert all(f'"{code}"' in text for code in CODES if IN_TABLES.fullmatch(code))


def test_levels_are_those_of_the_sources():
    exact = {re.escape(code): code for code in CODES}
    for pattern, named in found().items():
        code = exact.get(pattern)
        if code is not None:
            assert named <= set(CODES[code].levels.split(", ")), code


@pytest.mark.parametrize(
    "text",
    [
        'problems.add("error", "brand-new", "x", line=1)',
        'self._note("warning", "brand-new", message)',
        'BadText("brand-new", "x")',
        'code, message = "brand-new", ""',
        '_warn(problems, link, "brand-new", "x")',
    ],
)
def test_the_search_sees_a_code(text: str):
    assert "brand\\-new" in dict(reported(ast.parse(text)))


def test_rows_are_whole():
    rows = [row for rows in SECTIONS.values() for row in rows]
    assert len(rows) == len(CODES)  # no code twice
    for row in rows:
        assert CODE.fullmatch(row.code)
        levels = row.levels.split(", ")
        assert levels == sorted(set(levels), key=LEVELS.index)
        for text in (row.meaning, row.mend):
            assert text.endswith((".", "?"))
            assert "|" not in text


def test_the_page_is_the_generated_one():
    generator = ROOT / "tools" / "docs" / "check_page.py"
    done = subprocess.run(
        [sys.executable, str(generator), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    codes = page.partition("## Codes")[2]
    assert re.findall(r"^\| `([a-z-]+)` \|", codes, re.MULTILINE) == list(CODES)
