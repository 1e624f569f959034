"""Write the codes of ``linkwork check`` into docs/check.md, from where each is told.

python tools/docs/check_page.py           writes the page
python tools/docs/check_page.py --check   exits with 1 where the page is out of date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # the table of this checkout, whatever is installed
PAGE = ROOT / "docs" / "check.md"
START, END = "<!-- codes -->\n", "<!-- end of codes -->\n"


def tables() -> str:
    """One table for each section."""
    from linkwork.cli.check_codes import sections  # noqa: PLC0415 -- after the path is set

    parts = [START]
    for title, rows in sections().items():
        parts.append(f"\n### {title}\n\n| code | level | what it means | how to mend it |\n")
        parts.append("|---|---|---|---|\n")
        parts += [f"| `{r.name}` | {r.levels} | {r.meaning} | {r.mend} |\n" for r in rows]
    return "".join([*parts, "\n", END])


def written(page: str) -> str:
    """The page with the tables of now."""
    before, _, rest = page.partition(START)
    return before + tables() + rest.partition(END)[2]


def main() -> int:
    """Write or compare the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    old = PAGE.read_text(encoding="utf-8")
    new = written(old)
    if check and old != new:
        sys.stderr.write(f"{PAGE.name} is out of date: run python tools/docs/check_page.py\n")
        return 1
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
