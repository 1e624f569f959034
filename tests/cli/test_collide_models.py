"""`linkwork collide` and `check --contacts` on bundled models, by their own collision models."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.arguments import CollideArguments

Q = "0 0.4 0 -1.9 0 2.2 0.7"
POST = "objects:\n  - {name: post, cylinder: {radius: 0.05, length: 1.2}, xyz: [0.45, 0, 0.6]}\n"
TEXT = "(noname)+\n* post\n1\ncylinder\n0.05 1.2\n0.45 0 0.6\n0 0 0 1\n0 0 0 0\n.\n"
MESSAGE = """name: tried
world:
  collision_objects:
    - id: post
      header: {frame_id: world}
      primitives:
        - {type: cylinder, dimensions: [1.2, 0.05]}
      primitive_poses:
        - {position: [0.45, 0, 0.6], orientation: [0, 0, 0, 1]}
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("line", CollideArguments.examples)
def test_examples_of_the_help(cli: Callable[..., Any], line: str):
    result = cli(*shlex.split(line)[1:])
    assert (result.exit_code, result.stderr) == (0, "")


def distance_of(cli: Callable[..., Any], scene: str) -> float:
    told = cli("collide", "panda", "--q", Q, "--scene", scene, "--json")
    assert told.exit_code == 1, told.stderr
    (one,) = json.loads(told.stdout)["results"]
    assert one["pair"] == ["link5", "post"]
    return one["distance"]


@pytest.mark.slow
def test_a_scene_in_each_form(cli: Callable[..., Any]):
    model = lw.load("panda").collision()
    wanted = model.clearance(np.array(Q.split(), float), lw.Scene.from_yaml(POST)).distance
    for name, text in (("a.yaml", POST), ("b.scene", TEXT), ("c.yaml", MESSAGE)):
        Path(name).write_text(text)
        assert distance_of(cli, name) == pytest.approx(float(wanted), abs=1e-12), name
    Path("d.yaml").write_text("objects: [{name: post}]\n")
    assert "needs one shape" in cli("collide", "panda", "--scene", "d.yaml").stderr


@pytest.mark.slow
def test_what_touches_a_cloud_is_told(cli: Callable[..., Any]):
    robot = lw.load("panda")
    q = np.array([Q.split()], float)
    scene = lw.Scene()
    scene.add_points("scan", robot.fk(q, "tool0")[:, :3, 3], radius=0.02)
    scene.to_yaml("scan.yaml")
    result = cli("collide", "panda", "--q", Q, "--scene", "scan.yaml")
    assert result.exit_code == 1
    assert result.stdout.startswith("panda: 1 pair touches")
    assert re.search(r"link7 +scan +\d.* deep", result.stdout)
    np.save("q.npy", np.concatenate([q, robot.neutral()[None]]))
    args = ("--q-file", "q.npy", "--scene", "scan.yaml", "--out", "d.csv")
    assert "1 of 2 configurations touch" in cli("collide", "panda", *args).stdout
    rows = Path("d.csv").read_text().splitlines()[1:]
    assert [row[0] for row in rows] == ["1", "0"]


@pytest.mark.slow
def test_pairs_are_written_and_read_again(cli: Callable[..., Any]):
    cli("collide", "panda", "--save-srdf", "panda.srdf")
    args = ("--srdf", "panda.srdf", "--json", "--pairs")
    told = json.loads(cli("collide", "panda", *args).stdout)["pairs"]["pairs"]
    checked = {(p["link_a"], p["link_b"]) for p in told if p["checked"]}
    assert checked == {(p.link_a, p.link_b) for p in lw.load("panda").collision().pairs.checked}
    assert {p["reason"] for p in told if not p["checked"]} == {"SRDF: Adjacent", "SRDF: Never"}


@pytest.mark.slow
def test_edited_robots(cli: Callable[..., Any]):
    for more in (("--lock", "joint1=0.3"), ("--from", "link3"), ("--floating",)):
        result = cli("collide", "panda", *more)
        assert (result.exit_code, result.stderr) == (0, ""), more


@pytest.mark.slow
def test_contacts_of_bundled_models(cli: Callable[..., Any]):
    assert "no problems" in cli("check", "--contacts", "panda", "ur5e").stdout
    told = cli("check", "--contacts", "humanoid").stdout
    assert "'pelvis': no joint joins it to 'left_hip_roll_link', and they always touch" in told
