"""Leftovers and the mirror of tests: what the style sheet says, looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "linkwork"

LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
# The project's text speaks only about itself: no folder of one person's machine.
MACHINE_PATH = re.compile(r"(?<![\w.~/$}-])/(?:root|home/\w+|work|Users/\w+)/\w")
TEXT = ("*.py", "*.md", "*.toml", "*.yaml", "*.yml", "*.sh")


def project_files() -> Iterator[Path]:
    """The text files of the project that are written for readers, tests left out."""
    for folder in ("src", "docs", "examples", "benchmarks", "tools", ".ci"):
        for pattern in (*TEXT, "run"):
            for path in sorted((ROOT / folder).rglob(pattern)):
                # A folder with a dot below these is a tool's own, an environment for instance.
                parts = path.relative_to(ROOT / folder).parts
                if path.is_file() and not any(part.startswith(".") for part in parts):
                    yield path
    for pattern in TEXT:
        yield from sorted(ROOT.glob(pattern))


def test_nothing_is_left_over():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in project_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if LEFTOVERS.search(line) or MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_pattern_of_machine_paths():
    assert MACHINE_PATH.search("see /home/" + "me/robots")
    assert MACHINE_PATH.search('open("/ro' + 'ot/x")')
    assert not MACHINE_PATH.search("https://example.org/work/x and src/work/x and /workspace/x")


def test_every_mirrored_test_file_has_its_module():
    # tests/<package>/test_<module>.py where <package> is one of src: a module moved or renamed
    # takes its tests along. A package may have further test files, named for what they compare.
    packages = {p.name for p in SOURCE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    folders = {p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and any(p.glob("*.py"))}
    others = {"repository", "benchmarks", "contracts", "reference", "reliability"}
    # `tests` is on the path: a folder with the name of a library would be imported in its place
    assert not {"jax", "torch"} & folders
    folders = {name.removesuffix("_layer") for name in folders}
    assert folders <= packages | others, f"tests of no package: {folders - packages - others}"
