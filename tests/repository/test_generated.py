"""Pages and files that generators write are up to date, and complete.

docs/functions.md has every public name once, docs/parity.md every row of the faces.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import parity
import parity_page
import pytest

import linkwork
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.faces.table import FACES, FaceEntry

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "linkwork"


def rows() -> dict[str, list[str]]:
    """The names of each section, in the order of the page."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in (ROOT / "docs" / "functions.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
            sections[title] = []
        elif match := re.match(r"\| \[?`([^`(]+)", line):
            sections[title].append(match[1].strip())
    return sections


def definitions(path: Path) -> list[ast.FunctionDef | ast.ClassDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


@pytest.mark.parametrize("name", ["function_index", "gallery", "parity_page", "robot_methods"])
def test_what_is_committed_is_what_the_generator_writes(name: str):
    """In a process of its own: an index of names depends on what has been imported."""
    line = [sys.executable, str(ROOT / "tools" / "docs" / f"{name}.py"), "--check"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# ------------------------------------------------------------------------------ docs/functions.md


def test_each_name_stands_in_one_section():
    counted = Counter(name for names in rows().values() for name in names)
    assert counted
    assert [name for name, count in counted.items() if count > 1] == []


def test_the_package_is_complete():
    assert set(rows()["Package"]) == {name for name in linkwork.__all__ if name[0] != "_"}


def test_spatial_is_complete():
    wanted = {
        f"{path.stem}.{node.name}"
        for path in (SOURCE / "spatial").glob("*.py")
        if path.name not in ("__init__.py", "coefficients.py")
        for node in definitions(path)
    }
    assert wanted <= set(rows()["Rotations, poses and twists"])


def test_robot_is_complete():
    robot = next(n for n in definitions(SOURCE / "robot.py") if n.name == "Robot")
    names = {n.name for n in robot.body if isinstance(n, ast.FunctionDef)}
    wanted = {f"Robot.{name}" for name in names if not name.startswith("_")}
    assert wanted <= set(rows()["Robot"])


def test_inverse_kinematics_is_complete():
    assert set(rows()["Inverse kinematics"]) == {f"ik.{n}" for n in linkwork.ik.__all__}


def test_documents_and_faces_are_complete():
    documents = {f"urdf.{name}" for name in linkwork.urdf.__all__} - {"urdf.records"}
    assert set(rows()["URDF documents"]) == documents
    assert set(rows()["Faces"]) == {f"faces.{name}" for name in linkwork.faces.__all__}
    found = definitions(SOURCE / "appearance.py")
    meshes = next(n for n in found if n.name == "RobotMeshes")
    names = {n.name for n in meshes.body if isinstance(n, ast.FunctionDef)}
    assert {f"Robot.{name}" for name in names if name[0] != "_"} <= set(rows()["Robot"])


def test_the_registry_is_complete():
    assert set(rows()["Algorithms"]) == set(ALGORITHMS)


def test_the_command_line_is_complete():
    listed = [name.split()[1] for name in rows()["Command line"]]
    done = subprocess.run(
        [sys.executable, "-c", "from linkwork.cli import main; main()", "--help"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    commands = done.stdout.split("Commands:")[1].split("Examples:")[0]
    shown = set(re.findall(r"^  ([a-z][a-z-]*)\s{2,}", commands, re.MULTILINE))
    assert listed
    assert set(listed) == shown


def test_every_line_says_something():
    text = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    silent = [line for line in text.splitlines() if re.match(r"\| \[?`[^|]*\|\s*\|", line)]
    assert not silent, "\n".join(silent)


# --------------------------------------------------------------------------------- docs/parity.md


@pytest.mark.parametrize("entry", FACES, ids=lambda entry: entry.name)
def test_every_row_stands_in_the_page_once(entry: FaceEntry):
    text = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\S+) \| .* \| (?:better|missing) \|", text, re.MULTILINE)
    listed += re.findall(r"^- .* \((\S+)\)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {row.id for row in parity.read(entry.name).rows} <= set(listed)


def test_a_made_up_page():
    entry = FaceEntry("old", {"Old.lib": "x", "Old.lib.utils": "x"})
    rows = (
        parity.Row("A-1", "f", "same"),
        parity.Row("A-2", "an example | in words", "better", "a | b\nc"),
        parity.Row("A-3", "g", "missing", "later"),
    )
    record = parity.Parity("old", "1.2", "https://example.org", rows)
    text = parity_page.page([(entry, record)])
    assert "| [old](#old) | 1 | 1 | 1 |" in text
    assert "## old\n\nModules: `Old.lib`, `Old.lib.utils`. Compared with version 1.2" in text
    assert "| A-2 | an example \\| in words | better | a \\| b c |" in text
    assert "| A-3 | `g` | missing | later |" in text
    assert text.endswith("\n- `f` (A-1)\n")
    alone = parity.Parity("old", "1.2", "https://example.org", rows[:1])
    assert "| row |" not in parity_page.page([(entry, alone)])


def test_public_names_in_a_made_up_page():
    entry = FaceEntry("old", {"old": "x"})
    names = tuple(parity.OriginalName("old", name) for name in ("a", "b", "c"))
    all_there = parity.Parity("old", "1.2", "https://example.org", (), names)
    assert parity_page.page([(entry, all_there)]).endswith(
        "Of 3 public names of the original, 3 are there.\n"
    )
    record = parity.Parity("old", "1.2", "https://example.org", (), names, {"old.b": "x | y"})
    text = parity_page.page([(entry, record)])
    assert "Of 3 public names of the original, 2 are there; these are not:" in text
    assert text.endswith("| `old.b` | x \\| y |\n")
