"""`linkwork plan`: what is printed and written, and what is said where there is no path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.exceptions import Exit

import linkwork as lw
from linkwork.cli import plan as command
from linkwork.cli.arguments import PlanArguments
from linkwork.errors import InputError, UnsupportedFeatureError

PANDA = lw.load("panda")
START = "-1 0.3 0 -1.8 0 2.1 0.8"


@pytest.fixture
def wall(tmp_path: Path) -> tuple[str, lw.Scene]:
    """A wall as a file, and as a scene."""
    scene = lw.Scene()
    scene.add_box("wall", (0.6, 0.02, 0.8), (0.6, 0.0, 0.4))
    path = tmp_path / "wall.yaml"
    scene.to_yaml(path)
    return str(path), scene


def ran(capsys: pytest.CaptureFixture[str], **how: object) -> str:
    command.run(PlanArguments(source="panda", **how))  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_json_is_what_the_library_finds(
    capsys: pytest.CaptureFixture[str], wall: tuple[str, lw.Scene]
):
    read = json.loads(
        ran(capsys, start=[START], goal=["joint1=1"], scene=wall[0], path_only=True, json=True)
    )
    start = np.array([float(x) for x in START.split()])
    found = PANDA.plan(start, {"joint1": 1.0}, scene=wall[1])
    np.testing.assert_array_equal(read["path"], found.q)
    assert read["success"] is True
    assert read["proven"] is True
    assert read["length"] == found.length
    assert read["joint_names"] == list(PANDA.joint_names)


@pytest.mark.slow
def test_what_is_kept(capsys: pytest.CaptureFixture[str], wall: tuple[str, lw.Scene]):
    how = {"start": [START], "goal": ["joint1=1"], "scene": wall[0], "path_only": True}
    for keep in ({"upright": "tool0"}, {"keep": ["line tool0 0.4 0 0.5 0 0 1 slack=2"]}):
        read = json.loads(ran(capsys, json=True, **how, **keep))
        assert read["success"], read["reason"]
    read = json.loads(ran(capsys, json=True, upright="tool0", clearance=0.02, **how))
    z = PANDA.fk(np.array(read["path"]), "tool0")[:, :3, 2]
    assert np.abs(z[:, 2] - z[0, 2]).max() < 1e-4


def test_degrees_and_a_motion(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    saved = tmp_path / "move.npz"
    text = ran(
        capsys,
        start=["joint4=-100"],
        goal=["joint1=30"],
        deg=True,
        acceleration="5",
        save=str(saved),
    )
    assert "-100.0000" in text
    assert "looked at without gaps" in text
    motion = lw.trajectory.load(saved)
    assert np.isclose(motion(motion.duration)[0], np.deg2rad(30))
    assert np.isclose(motion(0.0)[3], np.deg2rad(-100))
    assert motion.uses(acceleration=5.0)["acceleration"].max() <= 1 + 1e-6


def test_a_pose_is_a_goal(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    saved = tmp_path / "path.csv"
    ran(capsys, start=[START], xyz="0.4 0.2 0.5", rpy="3.14 0 0", path_only=True, save=str(saved))
    q = np.loadtxt(saved, delimiter=",", skiprows=1)
    expected = lw.pose([0.4, 0.2, 0.5], rpy=[3.14, 0, 0])
    assert np.allclose(PANDA.fk(q[-1], PANDA.tip), expected, atol=1e-6)


def test_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    pytest.importorskip("matplotlib", reason="matplotlib (pip install matplotlib) is missing")
    ran(capsys, start=[START], goal=["joint1=1"], plot=str(tmp_path / "move.svg"))
    assert (tmp_path / "move.svg").read_bytes().startswith(b"<?xml")


def test_no_path_is_exit_code_one(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(Exit) as stopped:
        ran(capsys, start=[START], goal=["joint4=1"])
    assert stopped.value.exit_code == 1
    assert "the goal is outside the limits: 'joint4' is at 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({}, "where to"),
        ({"goal": ["joint1=1"], "xyz": "0 0 1"}, "not both"),
        ({"frame": "tool0"}, "--frame needs --xyz"),
        ({"goal": ["joint1=1"], "save": "path.txt"}, ".csv or .npz"),
        ({"goal": ["joint1=1"], "path_only": True, "plot": "path.png"}, "--path-only leaves out"),
        ({"goal": ["joint1=1"], "path_only": True, "show": True}, "--show is of the motion"),
        ({"goal": ["joint1=1"], "path_only": True, "velocity": "1"}, "--velocity is of the motion"),
    ],
)
def test_what_is_refused(how: dict[str, object], text: str):
    with pytest.raises(InputError, match=text.replace(".", r"\.")):
        command.run(PlanArguments(source="panda", **how))  # type: ignore[arg-type]


def test_joints_without_motions_have_their_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "ball.urdf"
    file.write_text(
        '<robot name="ball"><link name="base"/><link name="arm"><collision><geometry>'
        '<sphere radius="0.1"/></geometry></collision></link><joint name="shoulder" '
        'type="spherical"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    how: dict[str, Any] = {"source": str(file), "start": ["1 0 0 0"], "goal": ["0.8 0.6 0 0"]}
    command.run(PlanArguments(**how, json=True))
    said = capsys.readouterr()
    read = json.loads(said.out)
    assert read["success"] and read["duration"] is None
    assert "the path alone: joint 'shoulder' is spherical" in said.err
    with pytest.raises(UnsupportedFeatureError, match="quaternion"):
        command.run(PlanArguments(**how, plot=str(tmp_path / "motion.png")))


@pytest.mark.slow
def test_a_base_that_drives_has_a_motion(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "drive.csv"
    command.run(PlanArguments(source="mobile_arm", goal=["base=1 0.5 0.3"], save=str(file)))
    assert "mobile_arm: a path of" in capsys.readouterr().out
    header, *rows = file.read_text().splitlines()
    assert header.startswith("t,q_base/x,q_base/y,q_base/theta,")
    np.testing.assert_allclose([float(x) for x in rows[-1].split(",")[1:4]], [1.0, 0.5, 0.3])


def test_what_follows_loops_is_not_ignored() -> None:
    with pytest.raises(InputError, match="follows the loops"):
        command.run(PlanArguments(source="four_bar", goal=["coupler=0.5"]))
