"""What `info`, `ik` and `convert` tell about loops is what the library says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import closed


def coupled() -> lw.Robot:
    return lw.load("panda").with_coupling("joint2", "joint1", np.sin)


@pytest.mark.parametrize(
    ("robot", "text"),
    [
        (
            lw.load("four_bar"),
            "1 loop, actuated: crank; 1 degree of freedom, 3 of 5 rows redundant",
        ),
        (coupled(), "1 coupling; 6 degrees of freedom"),
        (lw.load("panda").with_actuated("joint1"), "actuated: joint1"),
    ],
)
def test_a_summary(robot: lw.Robot, text: str):
    assert closed.summary(robot) == text


def test_a_mechanism_that_cannot_be_closed_says_so():
    robot = lw.load("panda").with_loop("tool0", "link0", "distance", distance=50.0)
    assert closed.mobility_of(robot)[0] is None
    assert "cannot be assembled" in closed.summary(robot)
    assert closed.records(robot)["mobility"] is None


def test_records_of_couplings():
    (found,) = closed.records(coupled())["couplings"]
    assert (found["joint"], found["leaders"]) == ("joint2", ["joint1"])
    assert found["operations"] == [["input", 0.0], ["sin", 0.0]]


def test_info_shows_loops_and_their_freedom(cli: Callable[..., Any]):
    text = cli("info", "five_bar").stdout
    assert "2 degrees of freedom, 4 numbers in q" in text
    assert "loops: 1 loop, actuated: left, right; 2 degrees of freedom" in text
    assert "stay" not in text
    robot, found = lw.load("five_bar"), json.loads(cli("info", "five_bar", "--json").stdout)
    assert found["degrees_of_freedom"] == robot.mobility().degrees_of_freedom == 2
    assert found["mobility"]["rows"] == robot.mobility().rows
    assert found["loops"][0]["name"] == robot.loops[0].name
    assert found["actuated"] == list(robot.actuated)
    assert cli("info", "four_bar").stdout.count("1 degree of freedom") == 2
    assert "loops" not in cli("info", "panda").stdout


def test_info_tells_of_freedoms_that_stay(cli: Callable[..., Any], tmp_path: Path):
    lw.urdf.write(lw.urdf.read("five_bar"), tmp_path / "r.urdf")
    text = "version: 1\nloops: [{frame_a: left_end, frame_b: right_end, kind: position}]\n"
    (tmp_path / "r.loops.yaml").write_text(text + "actuated: [left]\n")
    assert "1 degree of freedom stays when" in cli("info", tmp_path / "r.urdf").stdout


def test_ik_says_how_far_loops_are_open(cli: Callable[..., Any]):
    robot = lw.load("excavator")
    frame = robot.frame_names[robot.mechanism.n_link_frames - 1]
    x, y, z = robot.fk(robot.neutral(), frame)[:3, 3]
    args = ("ik", "excavator", "--frame", frame, "--target", f"{x} {y} {z}")
    result = cli(*args)
    assert result.exit_code == 0 and "loops open by" in result.stdout
    (row,) = json.loads(cli(*args, "--json").stdout)["results"]
    assert row["closure"] == np.abs(robot.closure(row["q"])).max() <= 1e-12
    target = ("ik", "panda", "--xyz", "0.4 0.1 0.5", "--rpy", "3 0 0")
    assert "open by" not in cli(*target).stdout
    assert "closure" not in json.loads(cli(*target, "--json").stdout)["results"][0]


@pytest.mark.parametrize("name", ["four_bar", "excavator", "stewart"])
def test_convert_takes_loops_along(cli: Callable[..., Any], tmp_path: Path, name: str):
    result = cli("convert", name, tmp_path / "mine.urdf")
    assert result.exit_code == 0 and "mine.loops.yaml" in result.stderr
    again, robot = lw.load(tmp_path / "mine.urdf"), lw.load(name)
    assert again.loops == robot.loops and again.actuated == robot.actuated
    on_screen = cli("convert", name, "-", "--to", "urdf")
    assert "is not in the URDF" in on_screen.stderr


def test_convert_says_which_loops_an_mjcf_cannot_have(cli: Callable[..., Any], tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    lw.urdf.write(lw.urdf.read("five_bar"), tmp_path / "r.urdf")
    text = "version: 1\nloops: [{name: x, frame_a: left_end, frame_b: right_end, kind: planar}]\n"
    (tmp_path / "r.loops.yaml").write_text(text)
    result = cli("convert", tmp_path / "r.urdf", tmp_path / "mine.xml")
    assert result.exit_code == 0
    assert (
        "warning: loops of the kind 'planar' are left out, as MuJoCo has none: 'x'" in result.stderr
    )
    assert cli("convert", tmp_path / "r.urdf", tmp_path / "not.xml", "--strict").exit_code == 2
    assert not (tmp_path / "not.xml").exists()
