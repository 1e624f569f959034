"""docs/functions.md is what the generator writes, and every public name stands in it once."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import linkwork
from linkwork.algorithms.registry import ALGORITHMS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "linkwork"
GENERATOR = ROOT / "tools" / "docs" / "function_index.py"


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


def test_the_committed_page_is_the_generated_one():
    line = [sys.executable, str(GENERATOR), "--check"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


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
    shown = set(re.findall(r"^│ ([a-z][a-z-]*)\s{2,}", done.stdout, re.MULTILINE))
    assert listed
    assert set(listed) == shown


def test_every_line_says_something():
    text = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    silent = [line for line in text.splitlines() if re.match(r"\| \[?`[^|]*\|\s*\|", line)]
    assert not silent, "\n".join(silent)
