"""Write docs/parity.md, how far each face goes, from the parity.toml of each face.

python tools/docs/parity_page.py           writes the page
python tools/docs/parity_page.py --check   exits with 1 where the page is out of date
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # the faces of this checkout, whatever is installed

import parity  # noqa: E402 - the path above comes first

from linkwork.faces.table import FACES, FaceEntry  # noqa: E402

PAGE = ROOT / "docs" / "parity.md"
HEAD = """# How far the faces go

A face gives the names of an older library over Linkwork ([faces.md](faces.md)). Here is what it
promises, against the documentation of the original, row by row. Written by
`tools/docs/parity_page.py` from the `parity.toml` of each face: change those, and run it again.
Every row that is not missing has tests, which carry its mark. Below them stands what is missing of
all the original's public names, documented or not; a test compares the lists.

- **same**: as the original documents it.
- **better**: there, and different on purpose; the row says how.
- **missing**: not there, or there and raises; the row says why.
"""
SAME_AS = "As documented by the original:"


def page(faces: Sequence[tuple[FaceEntry, parity.Parity]]) -> str:
    """The whole page as Markdown."""
    parts = [HEAD, _summary(faces)]
    parts += [_section(entry, record) for entry, record in faces]
    return "\n".join(parts)


def _summary(faces: Sequence[tuple[FaceEntry, parity.Parity]]) -> str:
    lines = ["| face | same | better | missing |", "|---|---:|---:|---:|"]
    for entry, record in faces:
        counts = Counter(row.state for row in record.rows)
        shown = " | ".join(str(counts[state]) for state in parity.STATES)
        lines.append(f"| [{entry.name}](#{entry.name.lower()}) | {shown} |")
    return "\n".join(lines) + "\n"


def _section(entry: FaceEntry, record: parity.Parity) -> str:
    modules = ", ".join(f"`{name}`" for name in entry.modules)
    text = (
        f"## {entry.name}\n\nModules: {modules}. Compared with version {record.version}: "
        f"<{record.documentation}>.\n"
    )
    different = [row for row in record.rows if row.state != "same"]
    if different:
        lines = ["| row | name | state | difference |", "|---|---|---|---|"]
        lines += [
            f"| {row.id} | {_shown(row)} | {row.state} | {_cell(row.difference)} |"
            for row in different
        ]
        text += "\n" + "\n".join(lines) + "\n"
    same = [f"- {_shown(row)} ({row.id})" for row in record.rows if row.state == "same"]
    if same:
        text += "\n" + "\n".join([SAME_AS, "", *same]) + "\n"
    return text + _names(record)


def _names(record: parity.Parity) -> str:
    """What there is of the original's public names, and why the rest is not."""
    if not record.names:
        return ""
    absent = [name for name in record.names if record.reason_missing(name) is not None]
    there = len(record.names) - len(absent)
    text = f"Of {len(record.names)} public names of the original, {there} are there"
    if not absent:
        return f"\n{text}.\n"
    lines = ["| not there | why |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(why)} |" for name, why in record.missing.items()]
    return f"\n{text}; these are not:\n\n" + "\n".join(lines) + "\n"


def _shown(row: parity.Row) -> str:
    return f"`{row.name}`" if row.is_name else _cell(row.name)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Write or check the page; the exit code."""
    parser = argparse.ArgumentParser(description="write docs/parity.md from the parity.toml files")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    check = parser.parse_args().check
    wanted = page([(entry, parity.read(entry.name)) for entry in FACES])
    if not check:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    print("docs/parity.md is out of date: run python tools/docs/parity_page.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
