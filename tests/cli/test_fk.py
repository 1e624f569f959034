"""`linkwork fk` says what `Robot.fk` says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

ROBOT = lw.load("ur5e")
Q = "0.1 -1.2 1.3 0.4 -0.5 0.6"
POSE = ROBOT.fk([float(v) for v in Q.split()], "tool0")


def poses_of(text: str) -> list[dict[str, Any]]:
    return [pose for result in json.loads(text)["results"] for pose in result["poses"]]


def test_json(cli: Callable[..., Any]):
    result = cli("fk", "ur5e", "--q", Q, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    (pose,) = poses_of(result.stdout)
    assert pose["frame"] == "tool0"
    np.testing.assert_array_equal(pose["matrix"], POSE)
    xyz, rpy = lw.xyz_rpy(POSE)
    for key, value in (("xyz", xyz), ("rpy", rpy), ("wxyz", lw.xyz_wxyz(POSE)[1])):
        np.testing.assert_array_equal(pose[key], value)


def test_text_has_the_same_numbers(cli: Callable[..., Any]):
    lines = cli("fk", "ur5e", "--q", Q).stdout.splitlines()
    start = lines.index("matrix") + 1
    matrix = [[float(v) for v in line.split()] for line in lines[start : start + 4]]
    np.testing.assert_allclose(matrix, POSE, atol=5.1e-7)
    xyz = next(line for line in lines if line.startswith("xyz (m)"))
    np.testing.assert_allclose([float(v) for v in xyz.split()[2:]], POSE[:3, 3], atol=5.1e-7)
    assert " ".join(lines[1:3]).startswith("at shoulder_pan_joint=0.1 shoulder_lift_joint=-1.2")


def test_without_positions_it_is_neutral(cli: Callable[..., Any]):
    (pose,) = poses_of(cli("fk", "panda", "--frame", "link5", "--json").stdout)
    panda = lw.load("panda")
    np.testing.assert_array_equal(pose["matrix"], panda.fk(panda.neutral(), "link5"))


def test_all_frames(cli: Callable[..., Any], tmp_path: Path):
    T = ROBOT.fk_all(ROBOT.neutral())
    csv, npy = tmp_path / "all.csv", tmp_path / "all.npy"
    poses = poses_of(cli("fk", "ur5e", "--all", "--json", "--out", npy).stdout)
    assert [pose["frame"] for pose in poses] == list(ROBOT.frame_names)
    np.testing.assert_array_equal([pose["matrix"] for pose in poses], T)
    np.testing.assert_array_equal(np.load(npy), T)
    text = cli("fk", "ur5e", "--all", "--out", csv).stdout
    assert all(f"\n{frame} " in text for frame in ROBOT.frame_names)
    lines = csv.read_text().splitlines()
    assert lines[0] == "row,frame,x,y,z,qw,qx,qy,qz"
    assert [line.split(",")[1] for line in lines[1:]] == list(ROBOT.frame_names)


def test_a_chain_and_a_locked_joint(cli: Callable[..., Any]):
    args = ("--from", "forearm_link", "--lock", "wrist_1_joint=0.3", "--q", "wrist_2_joint=-0.4")
    (pose,) = poses_of(cli("fk", "ur5e", *args, "--json").stdout)
    chain = ROBOT.with_locked(["wrist_1_joint"], [0.3]).subchain("forearm_link", "tool0")
    expected = chain.fk(chain.configuration({"wrist_2_joint": -0.4}))
    np.testing.assert_allclose(pose["matrix"], expected, atol=1e-15)
    assert "in frame forearm_link" in cli("fk", "ur5e", *args).stdout


def test_a_floating_base(cli: Callable[..., Any]):
    args = ("--floating", "--q", "floating_base=1,2,3,0,1,0,0", "--frame", "base_link", "--json")
    (pose,) = poses_of(cli("fk", "ur5e", *args).stdout)
    np.testing.assert_array_equal(pose["xyz"], [1, 2, 3])
    np.testing.assert_array_equal(pose["wxyz"], [0, 1, 0, 0])


def test_many_configurations_and_files(cli: Callable[..., Any], tmp_path: Path):
    q = ROBOT.random(30, seed=3)
    T = ROBOT.fk(q, "tool0")
    file, npy, csv = tmp_path / "q.npy", tmp_path / "T.npy", tmp_path / "T.csv"
    np.save(file, q)
    result = cli("fk", "ur5e", "--q-file", file, "--out", npy)
    np.testing.assert_array_equal(np.load(npy), T)
    assert "20 of 30 rows are shown" in result.stderr
    assert "\n19  " in result.stdout
    assert "\n20  " not in result.stdout
    read = poses_of(cli("fk", "ur5e", "--q-file", file, "--out", csv, "--json").stdout)
    np.testing.assert_array_equal([pose["matrix"] for pose in read], T)
    values = np.genfromtxt(csv, delimiter=",", names=True)
    assert values.dtype.names == ("x", "y", "z", "qw", "qx", "qy", "qz")
    columns = np.array(values.tolist())
    np.testing.assert_allclose(lw.pose(columns[:, :3], wxyz=columns[:, 3:]), T, atol=1e-15)


def test_one_row_stays_a_batch(cli: Callable[..., Any], tmp_path: Path):
    q, out = tmp_path / "q.csv", tmp_path / "T.npy"
    q.write_text(",".join(ROBOT.joint_names) + "\n" + ",".join(Q.split()) + "\n")
    cli("fk", "ur5e", "--q-file", q, "--out", out)
    np.testing.assert_array_equal(np.load(out), POSE[None])
    cli("fk", "ur5e", "--q", Q, "--out", out)
    np.testing.assert_array_equal(np.load(out), POSE)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["ur5e", "--q", "elbow=1"], "no joint named 'elbow'; nearest: elbow_joint"),
        (["ur5e", "--q-file", "none.csv"], "none.csv cannot be read"),
        (["ur5e", "--all", "--frame", "tool0"], "give --frame or --all"),
        (["ur5e", "--from", "nope"], "no frame named 'nope'"),
        (["two_arm_torso"], "'two_arm_torso' has 7 links at an end: name the frame"),
    ],
)
def test_wrong_input(refused: Callable[..., str], args: list[str], said: str):
    assert said in refused("fk", *args)
