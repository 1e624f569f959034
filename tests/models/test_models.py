"""The bundled models as descriptions: readable, physical, complete, as the catalogue says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwork.models
from linkwork.errors import UnknownNameError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.models import MODELS, path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "linkwork" / "models"
GENERATOR = ROOT / "tools" / "models"
every_model = pytest.mark.parametrize("name", list(MODELS))


def test_the_catalogue_and_the_folder_agree():
    assert sorted(MODELS) == sorted(file.stem for file in FOLDER.glob("*.urdf"))
    assert all(model.name == name for name, model in MODELS.items())
    assert len(MODELS) == 21
    closed = sorted(name for name, model in MODELS.items() if model.closed)
    assert closed == sorted(f.name.split(".")[0] for f in FOLDER.glob("*.loops.yaml"))


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no bundled model named 'puma'; nearest: puma560"):
        path("puma")
    with pytest.raises(KeyError):
        path("")


def test_the_catalogue_imports_nothing_heavy():
    tree = ast.parse(Path(linkwork.models.__file__).read_text(encoding="utf-8"))
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not any(isinstance(n, ast.Import) for n in ast.walk(tree))
    assert imported == {"__future__", "dataclasses", "pathlib", "linkwork.errors"}


def test_the_files_are_what_the_generator_writes(tmp_path: Path):
    if not GENERATOR.is_dir():
        pytest.skip("tools/models is not part of this source distribution")
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, str(GENERATOR / "generate.py"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=60, env=environment)
    ours = {*FOLDER.glob("*.urdf"), *FOLDER.glob("*.yaml")}
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in ours}
    for file in ours:
        written = (tmp_path / file.name).read_text(encoding="utf-8")
        assert file.read_text(encoding="utf-8") == written, (
            f"{file.name} differs: run python tools/models/generate.py"
        )


@every_model
def test_no_finding(name: str):
    document = read(path(name))
    assert document.problems == ()
    assert document.robot.name == name
    for base in ("fixed", "floating"):
        assert from_urdf(document, base=base).findings == ()


@every_model
def test_degrees_of_freedom_and_tip(name: str):
    document = read(path(name))
    fixed, floating = (from_urdf(document, base=base) for base in ("fixed", "floating"))
    if not MODELS[name].closed:  # of the others see test_closed
        assert fixed.n_v == MODELS[name].degrees_of_freedom
    assert floating.n_v == fixed.n_v + 6
    tip = fixed.frame(MODELS[name].tip)
    assert fixed.coordinates_moving(tip)


@every_model
def test_inertias_are_physical(name: str):
    for link in read(path(name)).robot.links:
        if link.inertial is None:
            assert not link.visuals, f"{link.name} is drawn but weighs nothing"
            continue
        assert link.inertial.mass > 0
        moments = np.linalg.eigvalsh(np.array(link.inertial.inertia))
        assert moments[0] > 0, link.name
        assert moments[0] + moments[1] > moments[2], link.name


@every_model
def test_every_joint_has_limits(name: str):
    for joint in read(path(name)).robot.joints:
        if joint.type == "fixed":
            continue
        limit = joint.limit
        assert limit is not None and limit.effort and limit.velocity, joint.name
        if joint.type in ("revolute", "prismatic"):
            assert limit.lower is not None and limit.upper is not None, joint.name
            assert limit.lower < limit.upper, joint.name


@every_model
def test_materials_are_coloured_and_used_and_shapes_simple(name: str):
    robot = read(path(name)).robot
    used = set()
    for link in robot.links:
        assert bool(link.visuals) == bool(link.collisions), link.name
        for visual in link.visuals:
            assert visual.material is not None
            used.add(visual.material.name)
        for shape in (*link.visuals, *link.collisions):
            assert type(shape.geometry).__name__ in ("Box", "Cylinder", "Sphere")
    assert used == {material.name for material in robot.materials}
    assert all(material.rgba is not None for material in robot.materials)


@every_model
def test_the_file_begins_with_its_sources(name: str):
    text = path(name).read_text(encoding="utf-8")
    head = re.match(r"<\?xml[^>]*\?>\n<!--\n(.*?)-->\n<robot ", text, re.DOTALL)
    assert head is not None
    for word in (f"  {name}: ", "  Dimensions", "  Inertias: ", "  Licence: Apache-2.0"):
        assert word in head[1]


def test_couplings_and_joint_types_are_covered():
    robots = [read(path(name)).robot for name in MODELS]
    types = {joint.type for robot in robots for joint in robot.joints}
    assert types == {"fixed", "revolute", "continuous", "prismatic", "planar", "floating"}
    with_followers = {r.name for r in robots if any(j.mimic is not None for j in r.joints)}
    assert with_followers == {"two_arm_torso", "mobile_arm"}


def test_the_page_has_the_catalogue():
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{m.name}` | {m.summary} | {m.degrees_of_freedom} | `{m.tip}` | {m.source} |"
        for m in MODELS.values()
    ]


def test_the_wheel_contains_the_files():
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    files = {f.distribution_path for f in wheel.WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {f"linkwork/models/{name}.urdf" for name in MODELS} <= files
    closed = (name for name, model in MODELS.items() if model.closed)
    assert {f"linkwork/models/{name}.loops.yaml" for name in closed} <= files
