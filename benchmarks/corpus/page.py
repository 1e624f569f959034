"""The page of results: one table, then every file that was not read rightly, with the reason."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.corpus.judge import VERDICTS

HEAD = """# Which descriptions load

Written by `python -m benchmarks.corpus --page docs/loading.md`. Every URDF file of the packages
below, each content once, is read by each library in its own environment; then every joint is moved,
and the pose of every link compared with a plain walk over the file that shares nothing with any of
them (`benchmarks/corpus/truth.py`).

*right*: loaded, all links there and in their places. *wrong*: loaded, and some link is missing or
elsewhere. *faulty*: the file breaks the rules of URDF (broken XML, no unique tree, numbers that
are none, a type of joint that does not exist), so refusing is right. What leaves the tree and its
poses alone, such as an `<inertial>` without mass, is no fault: such a file is valid.
urdfpy cannot be imported as pip installs it today; here it runs with networkx 2.8.8 and NumPy 1.23.
It and MuJoCo open every mesh while reading, so they are given copies with small spheres for meshes;
no other library opens any.
"""


def page(whole: dict[str, Any]) -> str:
    """Markdown."""
    packages = ", ".join(f"{name} ({count})" for name, count in whole["packages"].items())
    total = sum(whole["packages"].values())
    lines = [HEAD, f"{total} files: {packages}.\n"]
    lines += ["| library | " + " | ".join(VERDICTS) + " |", "|---" * (len(VERDICTS) + 1) + "|"]
    for library, found in whole["results"].items():
        counts = Counter(verdict for verdict, _ in found.values())
        lines.append(f"| {library} | " + " | ".join(str(counts[v]) for v in VERDICTS) + " |")
    meshes = whole["meshes"]
    lines.append(
        f"\nOf the {meshes['named']} valid files that name meshes, Linkwork finds every mesh of "
        f"{meshes['whole']}, without any setting.\n"
    )
    for library, found in whole["results"].items():
        lines += _details(library, found)
    if meshes["missing"]:
        lines.append("## Meshes that are not found\n")
        for name, (lost, of, why) in sorted(meshes["missing"].items()):
            lines.append(f"- `{name}`: {lost} of {of}; {_short(why)}")
    return "\n".join(lines) + "\n"


def _details(library: str, found: dict[str, Any]) -> list[str]:
    """Ours file by file; of the others what they read wrongly."""
    ours = library == "linkwork"
    shown = [v for v in VERDICTS if v != "right"] if ours else ["wrong", "crash", "hang"]
    lines: list[str] = []
    for verdict in shown:
        files = sorted(name for name, (v, _) in found.items() if v == verdict)
        if not files:
            continue
        lines.append(f"## {library}: {verdict} ({len(files)})\n")
        for name in files if ours else files[:12]:
            why = _short(found[name][1])
            lines.append(f"- `{name}`" + (f": {why}" if why else ""))
        if not ours and len(files) > 12:
            lines.append(f"- and {len(files) - 12} more")
        lines.append("")
    return lines


def _short(text: str) -> str:
    """One line of plain text for a list."""
    line = text.split("\n", 1)[0].replace("`", "'").replace("<", "\\<")
    return line if len(line) <= 160 else line[:157] + "..."
