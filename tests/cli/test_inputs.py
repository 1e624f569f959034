"""From what is typed to robots, configurations and poses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import inputs
from linkwork.cli.arguments import RobotArguments
from linkwork.errors import InputError, ShapeError, UnknownNameError
from seeds import rng

PANDA, MOBILE = lw.load("panda"), lw.load("mobile_arm")


def opened(source: str, frame: str | None = None, **more: Any) -> lw.Robot:
    return inputs.open_robot(RobotArguments(source=source, **more), frame)


def test_a_robot_as_it_is_locked_floating_or_cut():
    assert opened("panda").mechanism == PANDA.mechanism
    assert opened("panda", floating=True).mechanism == lw.load("panda", base="floating").mechanism
    locked = opened("mobile_arm", lock=["arm_1=0.5", "base=1,2,3"])
    expected = MOBILE.with_locked(["arm_1", "base"], {"arm_1": 0.5, "base": [1, 2, 3]})
    assert locked.mechanism == expected.mechanism
    chain = opened("panda", "link6", base_frame="link2", lock=["joint4=-1"])
    assert chain.tip == "link6"
    assert chain.mechanism == PANDA.with_locked("joint4", [-1]).subchain("link2", "link6").mechanism
    assert opened("panda", base_frame="link2").tip == "tool0"


def test_a_robot_that_is_refused():
    with pytest.raises(InputError, match="no floating base"):
        opened("panda", floating=True, base_frame="link2")
    with pytest.raises(UnknownNameError, match="nearest: joint7"):
        opened("panda", lock=["joint9=1"])
    for bad, said in (
        (["joint1"], "--lock takes name=value, not 'joint1'"),
        (["=1"], "--lock takes name=value"),
        (["joint1="], "--lock joint1: '' is not a finite number"),
        (["joint1=x"], "--lock joint1: 'x' is not a finite number"),
        (["joint1=1", "joint1=2"], "--lock names 'joint1' twice"),
    ):
        with pytest.raises(InputError, match=said):
            opened("panda", lock=bad)


def test_labels():
    assert inputs.position_labels(PANDA.mechanism) == list(PANDA.joint_names)
    assert inputs.position_labels(MOBILE.mechanism)[:4] == [
        "base/x",
        "base/y",
        "base/theta",
        "front_left_wheel_joint",
    ]
    floating = lw.load("planar_2r", base="floating").mechanism
    assert len(inputs.position_labels(floating)) == floating.n_q
    assert len(inputs.velocity_labels(floating)) == floating.n_v
    assert inputs.velocity_labels(floating)[3].endswith("/wx")


@pytest.mark.parametrize(
    "entries",
    [
        ["0.1 -0.2 0 -1 1e-1 .5 0"],
        ["0.1,-0.2,0,-1,0.1,0.5,0"],
        [" 0.1, -0.2 , 0\t-1  0.1 0.5 0 "],
        ["0.1 -0.2 0", "-1 0.1 0.5 0"],
        ["joint1=0.1 joint2=-0.2 joint3=0 joint4=-1 joint5=0.1 joint6=0.5"],
        ["joint6=0.5, joint1=0.1, joint2=-0.2", "joint4 = -1", "joint5=0.1", "joint3=0"],
    ],
)
def test_ways_to_write_a_configuration(entries: list[str]):
    q = inputs.configuration(PANDA, entries, "--q")
    np.testing.assert_array_equal(q, [0.1, -0.2, 0, -1, 0.1, 0.5, 0])


def test_positions_by_name():
    np.testing.assert_array_equal(inputs.configuration(PANDA, None, "--q"), PANDA.neutral())
    q = inputs.configuration(MOBILE, ["base=1,2,0.5 arm_2=0.3"], "--q")
    np.testing.assert_array_equal(q, MOBILE.configuration({"base": [1.0, 2.0, 0.5], "arm_2": 0.3}))
    spaced = lw.load(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="the joint" '
        'type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    assert inputs.configuration(spaced, ["the joint = 0.25"], "--q") == 0.25


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["0 0 0"], "--q takes 7 numbers for 'panda' .joint1, .*joint7., not 3"),
        ([""], "--q: '' is not a finite number"),
        (["0 0 0 0 0 0 x"], "--q: 'x' is not a finite number"),
        (["0 0 0 0 0 0 nan"], "--q: 'nan' is not a finite number"),
        (["1,,2"], "--q: '' is not a finite number"),
        (["joint1=1 2 joint2=3"], "--q takes name=value, not '2'"),
        (["joint1=1", "0.2"], "--q takes name=value, not '0.2'"),
        (["joint1=1 joint1=1"], "--q names 'joint1' twice"),
        (["joint8=1"], "no joint named 'joint8'"),
        (["joint1=1,2"], "'joint1' takes 1 number"),
    ],
)
def test_a_configuration_that_is_refused(entries: list[str], said: str):
    with pytest.raises((InputError, UnknownNameError), match=said):
        inputs.configuration(PANDA, entries, "--q")


def test_configurations_from_files(tmp_path: Path):
    q = PANDA.random(5, seed=1)
    np.save(tmp_path / "many.npy", q)
    np.save(tmp_path / "one.npy", q[0])
    bare, named = tmp_path / "bare.csv", tmp_path / "named.csv"
    bare.write_text("\n".join(",".join(repr(v) for v in row) for row in q.tolist()))
    order = [3, 0, 6, 1, 2, 5, 4]
    header = [PANDA.joint_names[k] for k in order]
    lines = [",".join(repr(v) for v in [*row, 1.0]) for row in q[:, order].tolist()]
    named.write_text("\n".join([",".join([*header, "success"]), *lines]))
    for name, expected in (("many.npy", q), ("one.npy", q[:1]), ("bare.csv", q), ("named.csv", q)):
        read = inputs.configurations(PANDA, None, str(tmp_path / name))
        np.testing.assert_array_equal(read, expected)
    assert inputs.configurations(PANDA, ["0 0 0 0 0 0 0"], None).shape == (7,)
    with pytest.raises(InputError, match="give --q or --q-file, not both"):
        inputs.configurations(PANDA, ["joint1=1"], str(bare))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2\n", "has 2 columns; 'panda' takes 7"),
        ("joint1,joint2\n1,2\n", "no column joint3, joint4, joint5, joint6, joint7"),
        ("joint1,joint8\n1,2\n", "no column named 'joint8'; nearest: joint"),
        ("joint1,joint1\n1,2\n", "there are 2 columns 'joint1'"),
    ],
)
def test_a_file_of_configurations_that_is_refused(tmp_path: Path, text: str, said: str):
    file = tmp_path / "q.csv"
    file.write_text(text)
    with pytest.raises((InputError, ShapeError), match=said):
        inputs.configurations(PANDA, None, str(file))


def test_an_array_of_another_shape_is_refused(tmp_path: Path):
    for shape in ((3, 6), (2, 3, 7), (6,)):
        np.save(tmp_path / "q.npy", np.zeros(shape))
        with pytest.raises(ShapeError, match="joint positions of 'panda'"):
            inputs.configurations(PANDA, None, str(tmp_path / "q.npy"))


def test_a_pose_from_options():
    xyz = "0.1 -0.2 0.3"
    np.testing.assert_array_equal(inputs.pose_of(xyz, None, None), lw.pose([0.1, -0.2, 0.3]))
    np.testing.assert_array_equal(
        inputs.pose_of(xyz, "1,2,3", None), lw.pose([0.1, -0.2, 0.3], rpy=[1, 2, 3])
    )
    np.testing.assert_array_equal(
        inputs.pose_of(xyz, None, "0 2 0 0"), lw.pose([0.1, -0.2, 0.3], wxyz=[0, 1, 0, 0])
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("0 0", None, None), "--xyz takes 3 numbers in quotes, not 2"),
        (("0 0 0", "1", None), "--rpy takes 3"),
        (("0 0 0", None, "1 0 0"), "--wxyz takes 4"),
        (("0 0 0", None, "0 0 0 0"), "must not be four zeros"),
        (("0 0 0", "0 0 0", "1 0 0 0"), "--rpy or --wxyz, not both"),
        (("0 0 inf", None, None), "'inf' is not a finite number"),
    ],
)
def test_a_pose_that_is_refused(args: tuple[str, str | None, str | None], said: str):
    with pytest.raises(InputError, match=said):
        inputs.pose_of(*args)


def test_poses_from_files(tmp_path: Path):
    T = PANDA.fk(PANDA.random(4, seed=2), "tool0")
    xyz, rpy = lw.xyz_rpy(T)
    wxyz = lw.xyz_wxyz(T)[1]
    six, seven = np.hstack([xyz, rpy]), np.hstack([xyz, wxyz * 3.0])
    arrays = {"T": T, "six": six, "seven": seven, "T1": T[0], "six1": six[0], "seven1": seven[0]}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        read = inputs.poses_from(str(tmp_path / f"{name}.npy"))
        np.testing.assert_allclose(read, T[:1] if name.endswith("1") else T, atol=1e-14)
    turned = np.hstack([rpy, xyz])
    for header, array in (
        ("", six),
        ("", seven),
        ("x,y,z,roll,pitch,yaw\n", six),
        ("x,y,z,qw,qx,qy,qz\n", seven),
        ("roll,pitch,yaw,x,y,z\n", turned),
    ):
        lines = "\n".join(",".join(repr(v) for v in row) for row in array.tolist())
        (tmp_path / "p.csv").write_text(header + lines)
        np.testing.assert_allclose(inputs.poses_from(str(tmp_path / "p.csv")), T, atol=1e-14)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,3\n", "has the shape .1, 3."),
        ("x,y,z\n1,2,3\n", "no columns for the rotation"),
        ("x,y,roll,pitch,yaw\n1,2,3,4,5\n", "no column z"),
        ("x,y,z,roll,pitch,yaw,qw\n1,2,3,4,5,6,7\n", "no column named 'roll'"),
        ("x,y,z,roll,pitch,yawn\n1,2,3,4,5,6\n", "no column named 'yawn'; nearest: yaw"),
        ("1,2,3,0,0,0,0\n", "p.csv: .*row .0."),
    ],
)
def test_poses_that_are_refused(tmp_path: Path, text: str, said: str):
    file = tmp_path / "p.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        inputs.poses_from(str(file))


def test_an_array_that_is_no_poses(tmp_path: Path):
    for shape in ((5,), (2, 5), (2, 3, 4, 4), (2, 2, 6), (3, 3)):
        np.save(tmp_path / "p.npy", rng("poses").normal(size=shape))
        with pytest.raises(ShapeError, match="poses are"):
            inputs.poses_from(str(tmp_path / "p.npy"))


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("fk", "panda", "--frame", "tool9"), "--frame"),
        (("jacobian", "panda", "--frame", "tool9"), "--frame"),
        (("ik", "panda", "--frame", "tool9", "--xyz", "0.4 0 0.5"), "--frame"),
        (("info", "panda", "--from", "tool9"), "--from"),
        (("ik", "panda", "--from", "tool9", "--xyz", "0.4 0 0.5"), "--from"),
    ],
)
def test_an_unknown_frame_is_told_with_its_option(
    cli: Callable[..., Any], command: tuple[str, ...], option: str
):
    result = cli(*command)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"linkwork: {option}: no frame named 'tool9'; nearest: ")
    assert "tool0" in result.stderr
