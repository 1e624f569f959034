"""All that is done with descriptions, as texts: `python document_work.py FOLDER [LOCALE ...]`.

Printed as JSON, name to text, so that processes with other settings can be compared. With locales
the first that is installed and has a decimal comma is set; "None" is printed where none is.
"""

from __future__ import annotations

import json
import locale
import sys
import warnings
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import linkwork as lw
from document_mutations import SAMPLE
from linkwork.cli.app import app
from linkwork.errors import LinkworkError
from linkwork.faces import urdfpy
from linkwork.formats import tree_text
from linkwork.formats.urdf.records import Document, Joint
from save_scenarios import contents, make_source

FAULTY = (
    SAMPLE.replace('"1.57', '"1,57')
    .replace('name="tool"/>', 'name="tool"/><link name="hand"/>')
    .replace('type="fixed"', 'type="Fixed"')
    .replace('child link="table"', 'child link="tabel"')
)


def edits(document: Document) -> dict[str, Document]:
    """One document of every edit."""
    other = lw.urdf.prefix(document, "other/")
    names = {"arm": "α", "hand": "<&>", "tool": "arm"}
    return {
        "same": document,
        "prefix": other,
        "rename": lw.urdf.rename(document, links=names, materials={"grey": "GREY"}),
        "merge": lw.urdf.merge(document, other, Joint("m", "fixed", "arm", "other/base")),
        "subtree": lw.urdf.subtree(document, "hand", mimic="free"),
        "remove": lw.urdf.remove(document, joint="plane"),
        "keep": lw.urdf.reroot(document, "tool"),
        "move": lw.urdf.reroot(document, "tool", frames="move"),
    }


def refusals(document: Document) -> dict[str, str]:
    """What errors say."""
    calls = {
        "nobody": lambda: lw.urdf.rename(document, links={"nobody": "x", "none": "y"}),
        "clash": lambda: lw.urdf.merge(document, document, Joint("m", "fixed", "arm", "base")),
        "leader": lambda: lw.urdf.subtree(document, "arm"),
        "faulty": lambda: lw.urdf.read(FAULTY),
    }
    said: dict[str, str] = {}
    for name, call in calls.items():
        try:
            call()
        except LinkworkError as error:
            said[f"error {name}"] = str(error)
    return said


def commands(folder: Path) -> dict[str, str]:
    """What the command line prints and writes."""
    (folder / "sample.urdf").write_text(SAMPLE, encoding="utf-8")
    (folder / "faulty.urdf").write_text(FAULTY, encoding="utf-8")
    sample, faulty = str(folder / "sample.urdf"), str(folder / "faulty.urdf")
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"})
    said: dict[str, str] = {}
    for words in (
        ["check", sample, "--no-meshes"],
        ["check", faulty],
        ["check", faulty, "--json"],
        ["diff", sample, "ur5e"],
        ["convert", sample, str(folder / "out.urdf"), "--meshes", "keep", "--force"],
        ["convert", sample, str(folder / "out.svg"), "--force"],
    ):
        result = runner.invoke(app, words)
        key = " ".join(words).replace(str(folder), "")
        said[key] = f"{result.exit_code} {result.output}".replace(str(folder), "")
    for name in ("out.urdf", "out.svg"):
        said[name] = (folder / name).read_text(encoding="utf-8")
    return said


def saved(folder: Path) -> dict[str, str]:
    """Files that are written with their meshes, by us and by the face."""
    source = make_source(folder / "source", "näme", 1)
    lw.urdf.write(lw.urdf.read(source), folder / "ours" / "robot.urdf", meshes="copy")
    urdfpy.URDF.load(str(source)).save(str(folder / "theirs" / "robot.urdf"))
    found = contents(folder / "ours") | {
        f"theirs/{name}": data for name, data in contents(folder / "theirs").items()
    }
    return {name: data.decode() for name, data in found.items()}


def work(folder: Path) -> dict[str, str]:
    """Everything."""
    document = lw.urdf.read(SAMPLE)
    said = refusals(document)
    for name, made in edits(document).items():
        said[name] = lw.urdf.to_text(made.robot)
        said[f"{name} problems"] = "\n".join(map(str, made.problems))
        said[f"{name} diff"] = str(lw.urdf.diff(document, made))
        for picture in (tree_text.svg, tree_text.mermaid, tree_text.dot):
            said[f"{name} {picture.__name__}"] = picture(made.robot)
    (folder / "ours").mkdir()
    (folder / "theirs").mkdir()
    return {**said, **saved(folder), **commands(folder)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    done: Any = None
    for name in sys.argv[2:] or [None]:
        try:
            locale.setlocale(locale.LC_ALL, *filter(None, [name]))
        except locale.Error:
            continue
        if name is None or locale.localeconv()["decimal_point"] == ",":
            done = work(Path(sys.argv[1]))
            break
    sys.stdout.buffer.write(json.dumps(done).encode())
