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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_to_files_that_exist(page: Path):
    text = re.sub(r"^(```+).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = {t for t in targets if not re.match(r"[a-z]+:", t)}
    missing = sorted(t for t in local if not (page.parent / t).exists())
    assert not missing, missing
