"""`linkwork ik`: answers that reach, files both ways, and what is said where one does not."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.ik import KINDS, target_task, task_of
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, UnknownNameError

ROBOT = lw.load("ur5e")
XYZ, WXYZ = "0.3 0.2 0.4", "0 1 0 0"
TARGET = lw.pose([0.3, 0.2, 0.4], wxyz=[0, 1, 0, 0])
FAR = lw.pose([30.0, 0.0, 0.0])


def test_json_is_what_the_library_finds(cli: Callable[..., Any]):
    result = cli("ik", "ur5e", "--xyz", XYZ, "--wxyz", WXYZ, "--seed", 3, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    read = json.loads(result.stdout)
    expected = ROBOT.ik(TARGET, "tool0", seed=3)
    assert (read["targets"], read["solved"]) == (1, 1)
    (answer,) = read["results"]
    np.testing.assert_array_equal(answer["q"], expected.q)
    assert answer["position_error"] == expected.position_error
    assert answer["rotation_error"] == expected.rotation_error
    assert answer["reason"] == "solved"
    np.testing.assert_allclose(ROBOT.fk(answer["q"], "tool0"), TARGET, atol=2e-4)


def test_text(cli: Callable[..., Any]):
    result = cli("ik", "ur5e", "--xyz", XYZ, "--wxyz", WXYZ)
    assert result.exit_code == 0
    expected = ROBOT.ik(TARGET, "tool0")
    rows = {x.split()[0]: x.split() for x in result.stdout.splitlines() if "_joint" in x}
    assert list(rows) == list(ROBOT.joint_names)
    shown = [float(row[1]) for row in rows.values()]
    np.testing.assert_allclose(shown, expected.q, atol=5.1e-7)
    assert "pose of tool0 solved" in result.stdout


def test_the_options_reach_the_solver(cli: Callable[..., Any]):
    args = ("ik", "ur5e", "--xyz", XYZ, "--wxyz", WXYZ, "--json")
    start = {"shoulder_pan_joint": 2.0, "elbow_joint": 1.0}
    more = ("--q0", "shoulder_pan_joint=2 elbow_joint=1", "--position-tolerance", 1e-9)
    more = (*more, "--rotation-tolerance", 1e-9, "--steps", 40, "--tries", 50, "--threads", 1)
    read = json.loads(cli(*args, *more).stdout)
    expected = ROBOT.ik(
        TARGET,
        "tool0",
        q0=ROBOT.configuration(start),
        position_tolerance=1e-9,
        rotation_tolerance=1e-9,
        steps=40,
        tries=50,
    )
    np.testing.assert_array_equal(read["results"][0]["q"], expected.q)
    assert read["results"][0]["position_error"] <= 1e-9


def test_the_seed_picks_the_restarts(cli: Callable[..., Any], tmp_path: Path):
    T = ROBOT.fk(ROBOT.random(500, seed=7), "tool0")
    expected = ROBOT.ik(T, "tool0", seed=11).q
    assert (expected != ROBOT.ik(T, "tool0").q).any()
    poses, out = tmp_path / "T.npy", tmp_path / "q.npy"
    np.save(poses, T)
    cli("ik", "ur5e", "--poses", poses, "--seed", 11, "--out", out)
    np.testing.assert_array_equal(np.load(out), expected)


def test_only_some_joints_move(cli: Callable[..., Any]):
    robot = lw.load("mobile_arm")
    joints = "arm_1, arm_2,arm_3,arm_4,arm_5,arm_6"
    q = robot.random(seed=4)
    q[:7] = robot.neutral()[:7]
    T = robot.fk(q, "tool0")
    xyz, wxyz = (" ".join(map(repr, v.tolist())) for v in lw.xyz_wxyz(T))
    args = ("ik", "mobile_arm", "--frame", "tool0", "--xyz", xyz, "--wxyz", wxyz, "--json")
    read = json.loads(cli(*args, "--joints", joints).stdout)
    answer = np.array(read["results"][0]["q"])
    assert read["solved"] == 1
    np.testing.assert_array_equal(answer[:7], robot.neutral()[:7])


def test_a_chain(cli: Callable[..., Any]):
    chain = lw.load("two_arm_torso").subchain("torso_link", "left_tool0")
    T = chain.fk(chain.random(seed=5))
    xyz, wxyz = (" ".join(map(repr, v.tolist())) for v in lw.xyz_wxyz(T))
    args = ("--from", "torso_link", "--frame", "left_tool0", "--xyz", xyz, "--wxyz", wxyz)
    read = json.loads(cli("ik", "two_arm_torso", *args, "--json").stdout)
    np.testing.assert_allclose(chain.fk(read["results"][0]["q"]), T, atol=2e-4)


def test_files_in_and_out(cli: Callable[..., Any], tmp_path: Path):
    T = ROBOT.fk(ROBOT.random(25, seed=6), "tool0")
    poses, csv, npy = tmp_path / "T.npy", tmp_path / "q.csv", tmp_path / "q.npy"
    np.save(poses, T)
    result = cli("ik", "ur5e", "--poses", poses, "--out", npy)
    assert result.exit_code == 0
    assert "25 of 25 poses of tool0 solved" in result.stdout
    assert "20 of 25 rows are shown" in result.stderr
    expected = ROBOT.ik(T, "tool0")
    np.testing.assert_array_equal(np.load(npy), expected.q)
    cli("ik", "ur5e", "--poses", poses, "--out", csv)
    values = np.genfromtxt(csv, delimiter=",", names=True)
    columns = [*ROBOT.joint_names, "success", "position_error", "rotation_error"]
    assert list(values.dtype.names or ()) == columns
    table = np.array(values.tolist())
    np.testing.assert_array_equal(table[:, :6], expected.q)
    np.testing.assert_array_equal(table[:, 6], 1.0)
    np.testing.assert_array_equal(table[:, 7], expected.position_error)
    reached = tmp_path / "reached.csv"
    assert cli("fk", "ur5e", "--q-file", csv, "--out", reached).exit_code == 0
    assert cli("ik", "ur5e", "--poses", reached, "--json").exit_code == 0


def test_some_that_cannot_be_reached(cli: Callable[..., Any], tmp_path: Path):
    poses, out = tmp_path / "T.npy", tmp_path / "q.csv"
    np.save(poses, np.stack([TARGET, FAR, FAR]))
    result = cli("ik", "ur5e", "--poses", poses, "--tries", 5, "--out", out)
    assert result.exit_code == 1
    assert "1 of 3 poses" in result.stdout
    assert result.stderr.startswith("linkwork: 2 of 3 not solved; the first, [1]: ")
    assert "out of reach" in result.stderr
    assert result.stderr.count("\n") == 1
    assert [line.split(",")[6] for line in out.read_text().splitlines()] == ["success", *"100"]
    result = cli("ik", "ur5e", "--poses", poses, "--tries", 5, "--json")
    read = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [answer["success"] for answer in read["results"]] == [True, False, False]
    assert "out of reach" in read["results"][2]["reason"]
    result = cli("ik", "ur5e", "--xyz", "30 0 0", "--tries", 5)
    assert result.exit_code == 1
    assert "not solved; the nearest that was found" in result.stdout
    assert result.stderr.startswith("linkwork: not solved: the target is at least")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "say where to"),
        (["--rpy", "0 0 0"], "say where to"),
        (["--xyz", "1 2"], "--xyz takes 3 numbers"),
        (["--xyz", "1 2 3", "--rpy", "0 0 0", "--wxyz", "1 0 0 0"], "not both"),
        (["--xyz", "1 2 3", "--poses", "x.csv"], "give --poses, or --xyz"),
        (["--poses", "x.csv"], "x.csv cannot be read"),
        (["--xyz", "1 2 3", "--frame", "x"], "no frame named 'x'"),
        (["--xyz", "1 2 3", "--joints", "elbow"], "no joint named 'elbow'"),
        (["--xyz", "1 2 3", "--q0", "1"], "--q0 takes 6 numbers"),
        (["--xyz", "1 2 3", "--tries", "0"], "tries must be"),
        (["--xyz", "1 2 3", "--steps", "99999999999"], "steps must be"),
        (["--xyz", "1 2 3", "--position-tolerance", "0"], "--position-tolerance must be"),
        (["--xyz", "1 2 3", "--rotation-tolerance", "nan"], "--rotation-tolerance must be"),
        (["--xyz", "1 2 3", "--out", "none/q.csv"], "there is no folder"),
        (["--xyz", "1 2 3", "--frame", "base_link"], "base_link"),
        (["--frame", "tool0"], "say where to"),
        (["--frame", "tool0", "--task", "posture"], "say where to"),
        (["--wxyz", "1 0 0 0", "--task", "posture"], "say where to"),
        (["--frame", "tool0", "--frame", "wrist_1_link", "--xyz", "1 2 3"], "say where to"),
        (["--target", "1 2"], "--target takes 3 numbers"),
        (["--target", "1 2 3", "--target", "1 2 3"], "as many --target as --frame"),
        (["--target", "1 2 3", "--xyz", "1 2 3"], "give --target, or --poses or --xyz"),
        (["--target", "1 2 3", "--rpy", "1 2 3"], "give --target, or --poses or --xyz"),
        (["--target", "1 2 3", "--frame", "x"], "no frame named 'x'"),
        (["--task", "position x 1 2 3"], "no frame named 'x'"),
        (["--task", "reach x 1 2 3"], "no kind of task named 'reach'"),
        (["--target", "1 2 3", "--limits-margin", "9"], "--limits-margin leaves no position"),
        (
            ["--target", "1 2 3", "--limits-margin", "-1"],
            "--limits-margin of joint 'shoulder_pan_joint' must be from 0",
        ),
        (
            ["--target", "1 2 3", "--best", "nearst"],
            "--best must be one of 'nearest', 'centred', 'manipulable'; not",
        ),
        (["--target", "1 2 3", "--best", "nearest", "--best-of", "0"], "--best-of must be"),
        (["--target", "1 2 3", "--best", "nearest", "--all"], "give --all or --best"),
        (["--poses", "x.csv", "--all"], "--all takes one target"),
        (["--target", "1 2 3", "--errors", "--json"], "give --errors or --json"),
    ],
)
def test_wrong_input(refused: Callable[..., str], args: list[str], said: str):
    assert said in refused("ik", "ur5e", *args)


def test_a_bad_cell_is_named_by_file_and_line(refused: Callable[..., str], tmp_path: Path):
    file = tmp_path / "p.csv"
    file.write_text("x,y,z,roll,pitch,yaw\n0,0,0,0,0,0\n0,0,zero,0,0,0\n")
    assert f"{file}:3: cell 3 is not a finite number: 'zero'" in refused(
        "ik", "ur5e", "--poses", file
    )
    poses = tmp_path / "p.npy"
    np.save(poses, np.stack([TARGET, 2.0 * TARGET]))
    assert "target [1] is not a rigid pose" in refused("ik", "ur5e", "--poses", poses)


def test_several_frames_and_targets(cli: Callable[..., Any]):
    twin = lw.load("two_arm_torso")
    q = twin.random(seed=3)
    frames = ("left_tool0", "right_tool0")
    poses = [twin.fk(q, frame) for frame in frames]
    args: list[object] = ["ik", "two_arm_torso", "--json"]
    for frame, T in zip(frames, poses, strict=True):
        xyz, wxyz = lw.xyz_wxyz(T)
        args += ["--frame", frame, "--target", " ".join(map(repr, [*xyz.tolist(), *wxyz.tolist()]))]
    read = json.loads(cli(*args).stdout)
    assert (read["frame"], read["tasks"], read["solved"]) == (None, list(frames), 1)
    (answer,) = read["results"]
    for frame, T in zip(frames, poses, strict=True):
        np.testing.assert_allclose(twin.fk(answer["q"], frame), T, atol=2e-4)
        assert list(answer["errors"][frame]) == ["position", "rotation"]
    worst = max(answer["errors"][frame]["position"] for frame in frames)
    assert answer["position_error"] == worst


def test_three_numbers_are_a_position_alone(cli: Callable[..., Any]):
    read = json.loads(cli("ik", "ur5e", "--target", XYZ, "--json").stdout)
    assert (read["frame"], read["tasks"]) == ("tool0", ["tool0"])
    (answer,) = read["results"]
    assert list(answer["errors"]["tool0"]) == ["position"]
    np.testing.assert_allclose(ROBOT.fk(answer["q"], "tool0")[:3, 3], TARGET[:3, 3], atol=2e-5)


def test_tasks_beside_a_target(cli: Callable[..., Any]):
    more = ("--target", XYZ, "--task", "direction tool0 0 0 -1", "--task", "posture priority=1")
    read = json.loads(cli("ik", "ur5e", *more, "--q0", "elbow_joint=1.5", "--json").stdout)
    assert read["tasks"] == ["tool0", "tool0_2", "posture"]
    (answer,) = read["results"]
    home = ROBOT.configuration({"elbow_joint": 1.5})
    expected = ROBOT.ik(
        tasks=[
            lw.ik.Position("tool0", TARGET[:3, 3]),
            lw.ik.Direction("tool0", [0.0, 0.0, -1.0]),
            lw.ik.Posture(home, priority=1),
        ],
        q0=home,
    )
    np.testing.assert_array_equal(answer["q"], expected.q)
    np.testing.assert_allclose(ROBOT.fk(answer["q"], "tool0")[:3, 2], [0, 0, -1], atol=2e-4)
    shown = cli("ik", "ur5e", *more, "--q0", "elbow_joint=1.5").stdout
    assert "tool0, tool0_2, posture solved" in shown
    assert "tolerance" in shown


@pytest.mark.slow
def test_tasks_beside_many_poses(cli: Callable[..., Any], tmp_path: Path):
    T = ROBOT.fk(ROBOT.random(5, seed=6), "tool0")
    poses = tmp_path / "T.npy"
    np.save(poses, T)
    result = cli("ik", "ur5e", "--poses", poses, "--task", "posture priority=1", "--json")
    read = json.loads(result.stdout)
    assert (read["targets"], read["solved"]) == (5, 5)
    np.testing.assert_allclose(
        ROBOT.fk([answer["q"] for answer in read["results"]], "tool0"), T, atol=2e-4
    )
    shown = cli("ik", "ur5e", "--poses", poses, "--task", "posture priority=1").stdout
    assert "5 of 5 targets of tool0, posture solved" in shown


def test_a_task_in_a_chain(cli: Callable[..., Any]):
    chain = lw.load("two_arm_torso").subchain("torso_link", "left_tool0")
    p = chain.fk(chain.random(seed=5))[:3, 3]
    args = ("--from", "torso_link", "--frame", "left_tool0", "--json")
    task = "position left_tool0 " + " ".join(map(repr, p.tolist()))
    read = json.loads(cli("ik", "two_arm_torso", *args, "--task", task).stdout)
    np.testing.assert_allclose(chain.fk(read["results"][0]["q"])[:3, 3], p, atol=2e-5)


def test_all_solutions(cli: Callable[..., Any], tmp_path: Path):
    args = ("ik", "ur5e", "--xyz", XYZ, "--wxyz", WXYZ, "--all")
    expected = ROBOT.ik_all(TARGET, "tool0").q
    assert len(expected) >= 4
    out = tmp_path / "q.npy"
    shown = cli(*args, "--out", out)
    assert shown.exit_code == 0
    assert f"{len(expected)} solutions for pose of tool0" in shown.stdout
    np.testing.assert_array_equal(np.load(out), expected)
    read = json.loads(cli(*args, "--json").stdout)
    assert (read["targets"], read["solved"]) == (1, len(expected))
    assert all(answer["success"] for answer in read["results"])
    none = cli("ik", "ur5e", "--xyz", "30 0 0", "--tries", 5, "--all")
    assert none.exit_code == 1
    assert "out of reach" in none.stderr


@pytest.mark.parametrize("name", ["nearest", "centred", "manipulable"])
def test_the_best_of_many(cli: Callable[..., Any], name: str):
    args = ("--xyz", XYZ, "--wxyz", WXYZ, "--best", name, "--best-of", 12)
    expected = ROBOT.ik(TARGET, "tool0", best_of=12, choose=name)
    (answer,) = json.loads(cli("ik", "ur5e", *args, "--json").stdout)["results"]
    np.testing.assert_array_equal(answer["q"], expected.q)
    assert answer["cost"] == expected.cost
    assert f"{name} of 12" in cli("ik", "ur5e", *args).stdout


def test_a_margin(cli: Callable[..., Any]):
    robot = lw.load("panda")
    T = robot.fk(robot.random(seed=7), "tool0")
    xyz, wxyz = (" ".join(map(repr, v.tolist())) for v in lw.xyz_wxyz(T))
    args = ("ik", "panda", "--xyz", xyz, "--wxyz", wxyz, "--json")
    (answer,) = json.loads(cli(*args, "--limits-margin", 0.2).stdout)["results"]
    q = np.array(answer["q"])
    assert answer["success"]
    assert (q >= robot.limits.lower + 0.2).all()
    assert (q <= robot.limits.upper - 0.2).all()


def test_show(cli: Callable[..., Any], tmp_path: Path):
    shown = cli("ik", "ur5e", "--xyz", XYZ, "--wxyz", WXYZ, "--errors").stdout
    (line,) = [line.split() for line in shown.splitlines() if re.match(r"tool0 +rotation", line)]
    assert line[-2:] == ["rad", "yes"]
    assert float(line[3]) == 1e-4
    poses = tmp_path / "T.npy"
    np.save(poses, np.stack([TARGET, FAR]))
    shown = cli("ik", "ur5e", "--poses", poses, "--tries", 5, "--errors")
    assert shown.exit_code == 1
    assert "50 %" in shown.stdout


# tasks in words: every kind, every argument, and what is said where one is wrong

ik = lw.ik
HOME = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
TURNED = lw.pose([1.0, 2.0, 3.0], rpy=[0.1, 0.2, 0.3])

ALIKE = {
    "pose tool0 1 2 3 0.1 0.2 0.3": ik.Pose("tool0", TURNED),
    "pose tool0 1 2 3 0 1 0 0": ik.Pose("tool0", lw.pose([1, 2, 3], wxyz=[0, 1, 0, 0])),
    "pose tool0 1 2 3 0.1 0.2 0.3 position=xy rotation=z axes-of=tool mirror=z": ik.Pose(
        "tool0", TURNED, position="xy", rotation="z", axes_of="tool", mirror="z"
    ),
    "position tool0 1, 2, -3": ik.Position("tool0", [1, 2, -3]),
    "position tool0 1 2 3 axes=xz point=0,0,0.1 slack=0,0.01,0": ik.Position(
        "tool0", [1, 2, 3], axes="xz", point=[0, 0, 0.1], slack=[0, 0.01, 0]
    ),
    "orientation tool0 0.1 0.2 0.3": ik.Orientation("tool0", TURNED[:3, :3]),
    "orientation tool0 0 1 0 0 axes=xy": ik.Orientation(
        "tool0", np.diag([1.0, -1.0, -1.0]), axes="xy"
    ),
    "pointing 'my camera' 1 2 3 axis=1,0,0": ik.Pointing("my camera", [1, 2, 3], axis=[1, 0, 0]),
    "direction tool0 0 0 -1 priority=2 weight=0.5": ik.Direction(
        "tool0", [0, 0, -1], priority=2, weight=0.5
    ),
    "line tool0 1 2 3 0 0 1": ik.OnLine("tool0", [1, 2, 3, 0, 0, 1]),
    "plane tool0 1 2 3 0 0 1 tolerance=1e-3": ik.OnPlane(
        "tool0", [1, 2, 3, 0, 0, 1], tolerance=1e-3
    ),
    "relative a b 1 2 3 0.1 0.2 0.3": ik.RelativePose("a", "b", TURNED),
    "com 0 0 1 axes=xy name=balance": ik.CenterOfMass([0, 0, 1], axes="xy", name="balance"),
    "posture": ik.Posture(HOME),
    "posture 1 2 3 4 5 6": ik.Posture([1, 2, 3, 4, 5, 6]),
    "posture joints=elbow_joint,wrist_1_joint 1 2": ik.Posture(
        [1, 2], joints=["elbow_joint", "wrist_1_joint"]
    ),
    "coupling a b ratio=-0.5 offset=0.1": ik.JointCoupling("a", "b", ratio=-0.5, offset=0.1),
    "manipulability tool0 0.05": ik.Manipulability("tool0", 0.05),
}


@pytest.mark.parametrize("text", ALIKE)
def test_words_and_the_task_they_mean(text: str):
    found, expected = task_of(text, HOME), ALIKE[text]
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        given = getattr(found, name)
        if isinstance(value, (str, bool)) or value is None:
            assert given == value, name
        elif isinstance(value, list) and isinstance(value[0], str):
            assert given == value
        else:
            np.testing.assert_allclose(given, value, atol=1e-15, err_msg=name)


def test_every_kind_is_tried_and_every_task_has_one():
    assert {text.split()[0] for text in ALIKE} == set(KINDS)
    tasks = {
        each
        for each in vars(ik).values()
        if inspect.isclass(each) and issubclass(each, ik.Task) and each not in (ik.Task, ik.Closed)
    }
    # a mechanism with loops has the task Closed by itself, and others have nothing to close
    assert {kind.make for kind in KINDS.values()} == tasks - {ik.Closed}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", InputError, "--task is empty"),
        ("  ", InputError, "--task is empty"),
        ("poze tool0 1 2 3", UnknownNameError, "nearest: pose"),
        ("position", InputError, "takes: position FRAME, 3 numbers"),
        ("relative a", InputError, "takes: relative FRAME OTHER, 6 or 7 numbers"),
        ("position tool0 1 2", InputError, "takes 3 numbers, not 2"),
        ("pose tool0 1 2 3", InputError, "takes 6 or 7 numbers, not 3"),
        ("com", InputError, "takes 3 numbers, not 0"),
        ("coupling a b 3", InputError, "takes 0 numbers, not 1"),
        ("position tool0 1 2 x", InputError, "'x' is not a finite number"),
        ("position tool0 1 2 nan", InputError, "'nan' is not a finite number"),
        ("position tool0 1 2 3 axs=xy", UnknownNameError, "nearest: axes"),
        ("position tool0 1 2 3 target=1", UnknownNameError, "'target'"),
        ("position tool0 1 2 3 weight=1 weight=2", InputError, "weight twice"),
        ("position tool0 1 2 3 weight=much", InputError, "'much' is not a finite number"),
        ("position tool0 1 2 3 priority=0.5", InputError, "a whole number from 0"),
        ("position 'tool0 1 2 3", InputError, "no closing quotation"),
        ("pose tool0 1 2 3 0 0 0 0", InputError, "quaternion"),
    ],
)
def test_what_is_wrong(text: str, kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        task_of(text, HOME)


def test_a_target_is_a_position_or_a_pose():
    found = target_task("tool0", "1 2 3", Angles())
    assert isinstance(found, ik.Position)
    np.testing.assert_array_equal(found.target, [1.0, 2.0, 3.0])
    for text in ("1 2 3 0.1 0.2 0.3", "1,2,3,0,1,0,0"):
        assert isinstance(target_task("tool0", text, Angles()), ik.Pose)
    with pytest.raises(InputError, match="--target takes 3 numbers"):
        target_task("tool0", "1 2 3 4", Angles())
