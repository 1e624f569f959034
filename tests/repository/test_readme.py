"""The README's two commands can be taken from it, as .ci/run does, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)


def block(page: Path, name: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "tools" / "markdown_blocks.py"), str(page), name]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def test_the_two_commands():
    first, test = block(ROOT / "README.md", "first"), block(ROOT / "README.md", "test")
    assert first.stdout.splitlines()[0].startswith("python -m pip install .")
    assert "linkwork demo" in first.stdout
    assert "pip install -e" in test.stdout
    assert "python -m pytest" in test.stdout


def test_a_command_that_is_missing_or_doubled_is_refused(tmp_path: Path):
    page = tmp_path / "page.md"
    marked = "<!-- ci: test -->\n```bash\ntrue\n```\n"
    page.write_text(marked)
    assert block(page, "test").stdout == "true\n"
    assert block(page, "other").returncode != 0
    page.write_text(marked + marked)
    assert block(page, "test").returncode != 0


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^(```+).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links(page: Path) -> set[tuple[str, str]]:
    """The links of a page to other files and to headings: (file, heading), either may be empty."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", prose(page))
    return {(file, heading) for file, heading in found if not re.match(r"[a-z]+:", file)}


def headings(page: Path) -> set[str]:
    """The names that a page's headings have in links: lower case, dashes for spaces."""
    titles = re.findall(r"(?m)^#+ (.+)$", prose(page))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_exist(page: Path):
    missing = []
    for file, heading in sorted(links(page)):
        target = page.parent / file if file else page
        if not target.exists() or (heading and heading not in headings(target)):
            missing.append(f"{file}#{heading}" if heading else file)
    assert not missing, missing


def test_the_readme_links_every_page():
    linked = {file for file, _ in links(ROOT / "README.md")}
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert not pages - linked, sorted(pages - linked)
