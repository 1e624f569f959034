"""Every code that the sources report stands in the table and on the page, with its levels."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from linkwork.cli.check_codes import CODES, SECTIONS
from problem_codes import CODE, LEVELS, Found, found, of_texts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", name="by_code")
def _by_code() -> dict[str, list[Found]]:
    """Where each code of the sources stands."""
    places: dict[str, list[Found]] = defaultdict(list)
    for one in found():
        places[one.code].append(one)
    return dict(places)


def test_every_code_of_the_sources_is_in_the_table(by_code: dict[str, list[Found]]):
    missing = {code: places for code, places in by_code.items() if code not in CODES}
    assert not missing


def test_every_row_of_the_table_is_reported_somewhere(by_code: dict[str, list[Found]]):
    stale = [code for code in CODES if code not in by_code]
    assert not stale


def test_levels_are_those_of_the_sources(by_code: dict[str, list[Found]]):
    for code, places in by_code.items():
        # a face makes errors of what its original refuses
        own = [one for one in places if not one.place.startswith("faces/")]
        told = set().union(*(one.levels for one in own))
        listed = set(CODES[code].levels.split(", "))
        assert told <= listed, own
        if own and all(one.levels for one in own):
            assert told == listed, own


MAKER = """
from linkwork.errors import Finding

def warn(problems, code: str, message):
    problems.append(Finding("warning", code, message))

class Refused(Exception):
    def __init__(self, message: str, code: str) -> None:
        pass

class Files:
    def refuse(self, code: str) -> None:
        pass
"""


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ('Finding("error", "brand-new", "x")', {"error"}),
        ('Finding(level, "old" if x else "brand-new", "x")', set[str]()),
        ('Finding("note", code="brand-new", message="x")', {"note"}),
        ('warn(problems, "brand-new", "x")', {"warning"}),
        ('raise Refused("x", "brand-new")', set[str]()),
        ('Files().refuse("brand-new", 1)', set[str]()),
        ('tell = files.refuse\ntell("brand-new", 1)', set[str]()),
        ('tell = files.refuse if x else print\ntell("brand-new", 1)', set[str]()),
        ('code, message = "brand-new", ""', set[str]()),
        ('code = "brand-new"', set[str]()),
        ('for what, code in (("x", "old"), ("y", "brand-new")):\n    pass', set[str]()),
    ],
)
def test_the_search_sees_a_code(text: str, levels: set[str]):
    errors = "class Finding:\n    level: str\n    code: str\n    message: str"
    seen = found(of_texts({"a.py": f"{MAKER}\n{text}", "errors.py": errors}))
    assert levels in [one.levels for one in seen if one.code == "brand-new"]


def test_the_search_stumbles_on_a_text_that_it_does_not_know():
    text = "class P:\n    code: str\nP(f'no-{what}', 1)"
    assert [one.code for one in found(of_texts({"a.py": text}))] == ["f'no-{what}'"]


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
