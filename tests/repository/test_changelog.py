"""CHANGELOG.md has the form of Keep a Changelog, and says how to follow every change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
NEED_MIGRATION = ("Changed", "Deprecated", "Removed")
RELEASE = re.compile(r"\[(?:Unreleased|(\d+\.\d+\.\d+\S*))\](?: - (\d{4}-\d{2}-\d{2}))?")


def faults(text: str) -> list[str]:
    """What is wrong with the text of a changelog."""
    found = [] if text.startswith("# Changelog\n") else ["the title is not '# Changelog'"]
    releases = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    if not releases or not releases[0].startswith("[Unreleased]"):
        found.append("the first section is not [Unreleased]")
    for release in releases:
        title, _, body = release.partition("\n")
        match = RELEASE.fullmatch(title.strip())
        if not match or (match[1] and not match[2]):
            found.append(f"'{title}': a release is '[1.2.3] - 2026-01-31'")
        for part in re.split(r"^### ", body, flags=re.MULTILINE)[1:]:
            kind, _, lines = part.partition("\n")
            items = re.split(r"^- ", lines, flags=re.MULTILINE)[1:]
            if kind.strip() not in KINDS:
                found.append(f"{title}: '{kind}' is none of {', '.join(KINDS)}")
            if not items:
                found.append(f"{title}, {kind}: no item")
            if kind.strip() in NEED_MIGRATION:
                found += [
                    f"{title}, {kind}: no '*Migration:*' line under '{item.splitlines()[0]}'"
                    for item in items
                    if not re.search(r"^\s+\*Migration:\* \S", item, re.MULTILINE)
                ]
    return found


def test_the_changelog():
    assert not faults(CHANGELOG.read_text(encoding="utf-8"))


GOOD = """# Changelog

## [Unreleased]

### Added
- A thing.

### Changed
- `f` returns metres.
  *Migration:* divide by 1000 no longer.

## [0.1.0] - 2026-01-31

### Fixed
- A fault.
"""


def test_a_good_one_passes():
    assert not faults(GOOD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Changelog", "# Changes"),
        ("## [Unreleased]", "## [0.2.0] - 2026-02-01"),
        ("  *Migration:* divide by 1000 no longer.\n", ""),
        ("*Migration:* divide by 1000 no longer.", "*Migration:*"),
        ("### Fixed", "### Repaired"),
        (" - 2026-01-31", ""),
        ("- A fault.\n", ""),
    ],
)
def test_a_fault_is_seen(old: str, new: str):
    assert faults(GOOD.replace(old, new))
