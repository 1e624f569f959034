"""From what is typed to robots, configurations and poses."""

from __future__ import annotations

import json
import re
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


# files of numbers


def csv_of(folder: Path, text: str | bytes) -> str:
    path = folder / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def message(name: str) -> str:
    with pytest.raises(InputError) as caught:
        inputs.read_numbers(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), (" -2.5e-3 ", -0.0025), ("+.5", 0.5), ("0", 0.0), ("1e400", None), ("", None)]
    + [(bad, None) for bad in ("x", "nan", "inf", "-Infinity", "1_0", "0x1", "1,5", "١", "1 2")],
)
def test_number(text: str, value: float | None):
    assert inputs.number_of(text) == value


def test_csv_with_and_without_a_header(tmp_path: Path):
    with_header = inputs.read_numbers(csv_of(tmp_path, "a, b\r\n1,2\r\n\r\n3,4e-1\r\n"))
    assert isinstance(with_header, inputs.Table)
    assert with_header.header == ("a", "b")
    np.testing.assert_array_equal(with_header.values, [[1, 2], [3, 0.4]])
    bare = inputs.read_numbers(csv_of(tmp_path, b"\xef\xbb\xbf1,2\n3,4"))
    assert isinstance(bare, inputs.Table)
    assert bare.header is None
    np.testing.assert_array_equal(bare.values, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n1,oops\n", "x.csv:3: cell 2 is not a finite number: 'oops'"),
        ("1,2\n\n1,nan\n", "x.csv:3: cell 2 is not a finite number: 'nan'"),
        ("1,oops\n1,2\n", "x.csv:1: cell 2 is not a finite number: 'oops'"),
        ("1,2\n1,\n", "x.csv:2: cell 2 is not a finite number: ''"),
        ("1,2\n1,2,3\n", "x.csv:2: this line has 3 cells, the first has 2"),
        ("a,b\n1\n", "x.csv:2: this line has 1 cells, the first has 2"),
        ("", "holds no rows of numbers"),
        ("a,b\n", "holds no rows of numbers"),
        ("1;2;3\n", "holds no rows of numbers; cells are parted by commas"),
        (b"\xff\xfe1,2", "is not a .csv file in UTF-8"),
        ('1,"2\n', "is not a .csv file in UTF-8"),
        (b"1,2\n" + b"1" * 200_000 + b",2\n", "is not a .csv file"),
    ],
)
def test_a_csv_that_is_refused(tmp_path: Path, text: str | bytes, said: str):
    assert said in message(csv_of(tmp_path, text))


def test_npy(tmp_path: Path):
    for array in (rng("npy").normal(size=(3, 2)), np.arange(4), np.float32([[1.5]]), np.array(2.0)):
        path = tmp_path / "x.npy"
        np.save(path, array)
        read = inputs.read_numbers(str(path))
        assert isinstance(read, np.ndarray)
        assert read.dtype == np.float64
        np.testing.assert_array_equal(read, np.atleast_1d(array) if array.ndim == 0 else array)


def test_an_npy_that_is_refused(tmp_path: Path):
    path = tmp_path / "x.npy"
    for array, said in (
        (np.array([1.0, np.nan]), "the value at [1] is not a finite number"),
        (np.array(["a"]), "not numbers"),
        (np.array([1j]), "not numbers"),
        (np.array([True]), "not numbers"),
        (np.zeros((0, 7)), "an empty array"),
    ):
        np.save(path, array)
        assert said in message(str(path))
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    assert "is not a .npy array of numbers" in message(str(path))
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    path.write_bytes((tmp_path / "x.npz").read_bytes())
    assert "is not a .npy array of numbers" in message(str(path))
    np.save(path, np.zeros((100, 7)))
    path.write_bytes(path.read_bytes()[:-1])
    assert "is not a .npy array of numbers" in message(str(path))
    path.write_bytes(b"")
    assert "is not a .npy array of numbers" in message(str(path))


def test_other_names_and_missing_files(tmp_path: Path):
    assert "must end in .csv or .npy" in message("poses.txt")
    assert "cannot be read" in message(str(tmp_path / "none.npy"))
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read" in message(str(tmp_path / "folder.csv"))


# degrees: what is typed and printed, and what stays in radians


@pytest.mark.parametrize("name", ["panda", "scara", "mobile_arm"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_only_angles_change_and_they_come_back(name: str, base: str):
    robot = lw.load(name, base=base)
    m, q = robot.mechanism, robot.random(4, seed=rng("degrees"))
    angles, turning = inputs.Angles(degrees=True), inputs.position_angles(m.joint_types)
    shown = angles.shown(q, turning)
    np.testing.assert_allclose(angles.typed(shown, turning), q, rtol=1e-15, atol=0)
    for c, kind in enumerate(m.joint_types):
        own = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        turning = [k for k in range(own.start, own.stop) if kind.turns]
        turning += [own.start + 2] if kind is lw.JointType.PLANAR else []
        expected = q.copy()
        expected[:, turning] = np.rad2deg(q[:, turning])
        assert np.array_equal(shown[:, own], expected[:, own])
    assert np.array_equal(inputs.Angles().shown(q, turning), q)
    v = angles.shown(np.ones(m.n_v), inputs.velocity_angles(m.joint_types))
    names = inputs.velocity_labels(m)
    for name, value in zip(names, v, strict=True):
        kind = m.joint_types[m.joint(name.rpartition("/")[0] or name)]
        turns = kind.turns or name.endswith(("/wx", "/wy", "/wz", "/theta"))
        assert value == (np.rad2deg(1.0) if turns else 1.0), name


def test_names_take_the_kind_of_their_joint():
    m = lw.load("mobile_arm").mechanism
    given = {"base": [1.0, 2.0, 180.0], "arm_1": 90.0, "finger": 0.01, "nothing": 5.0}
    found = inputs.Angles(degrees=True).typed_by_name(m, given)
    assert found == {
        "base": [1.0, 2.0, np.pi], "arm_1": np.pi / 2, "finger": 0.01, "nothing": 5.0
    }  # fmt: skip
    assert inputs.Angles().typed_by_name(m, given) == given


def positions(line: str) -> list[float]:
    return [float(x) for x in re.findall(r"=(\S+)", line)]


def test_degrees_in_and_out_and_said(cli: Callable[..., Any]):
    plain = cli("fk", "planar_2r", "--q", f"{np.pi / 6} {np.pi / 3}", "--json").stdout
    for how in (["--q", "30 60"], ["--q", "joint1=30", "--q", "joint2=60"]):
        in_degrees = json.loads(cli("fk", "planar_2r", "--deg", *how, "--json").stdout)
        wanted = json.loads(plain)["results"][0]
        assert np.allclose(in_degrees["results"][0]["q"], wanted["q"], rtol=1e-15)
        assert np.allclose(
            in_degrees["results"][0]["poses"][0]["matrix"], wanted["poses"][0]["matrix"]
        )
    text = cli("fk", "planar_2r", "--deg", "--q", "30 60").stdout
    assert "at joint1=30 joint2=60 (deg)" in text
    assert re.search(r"rpy \(deg\) +0\.0+ +-?0\.0+ +90\.0+", text)
    assert "(deg)" not in cli("fk", "planar_2r", "--q", "30 60").stdout
    held = cli("fk", "planar_2r", "--deg", "--lock", "joint1=30", "--q", "60").stdout
    assert re.search(r"rpy \(deg\) +0\.0+ +-?0\.0+ +90\.0+", held)
    jacobian = cli("jacobian", "planar_2r", "--deg", "--q", "30 60").stdout
    assert "at joint1=30 joint2=60 (deg)" in jacobian


def test_inverse_kinematics_in_degrees(cli: Callable[..., Any], tmp_path: Path):
    at = ["--xyz", "0.4 0.1 0.5"]
    shown = cli("ik", "panda", "--deg", *at, "--rpy", "180 0 0").stdout
    same = cli("ik", "panda", *at, "--rpy", f"{np.pi} 0 0", "--json").stdout
    q = json.loads(same)["results"][0]["q"]
    assert "position (deg, m)" in shown
    told = [float(x) for x in re.findall(r"(?m)^joint\d +(\S+)", shown)]
    np.testing.assert_allclose(told, np.rad2deg(q), atol=1e-3)
    target = cli("ik", "panda", "--deg", "--target", "0.4 0.1 0.5 180 0 0").stdout
    assert target.splitlines()[0] == "panda: tool0 solved"
    file = tmp_path / "q.csv"
    cli("ik", "panda", "--deg", *at, "--rpy", "180 0 0", "--out", file)
    back = cli("fk", "panda", "--q-file", file, "--json").stdout  # files are in radians
    np.testing.assert_allclose(json.loads(back)["results"][0]["q"], q, atol=1e-6)


def test_every_command_with_joint_angles_takes_and_prints_degrees(cli: Callable[..., Any]):
    """One run in radians and one in degrees of each, whose numbers are the same angles."""

    info, limit = cli("info", "panda", "--deg").stdout, lw.load("panda").limits.lower[0]
    assert "(deg, m, N, Nm, s)" in info
    assert f"{np.rad2deg(limit):.6g} to {-np.rad2deg(limit):.6g}" in info
    told = json.loads(cli("info", "panda", "--deg", "--json").stdout)
    assert told["joints"][0]["lower"] == [limit]
    crank = float(np.deg2rad(20.0))
    in_degrees = cli("assemble", "four_bar", "--deg", "crank=20").stdout
    assert "position (deg, m)" in in_degrees and re.search(r"crank +20\.0+ ", in_degrees)
    told = json.loads(cli("assemble", "four_bar", "--deg", "crank=20", "--json").stdout)
    same = json.loads(cli("assemble", "four_bar", f"crank={crank!r}", "--json").stdout)
    np.testing.assert_allclose(told["results"][0]["q"], same["results"][0]["q"], atol=1e-14)
    near = ("--near", " ".join(map(repr, np.rad2deg(same["results"][0]["q"]).tolist())))
    told = json.loads(cli("assemble", "four_bar", "--deg", *near, "--json").stdout)
    np.testing.assert_allclose(told["results"][0]["q"], same["results"][0]["q"], atol=1e-12)
    begin = ("simulate", "planar_2r", "--duration", "0.01", "--q0")
    shown = cli(*begin, "30 60", "--v0", "0 90", "--deg").stdout
    assert "joint (deg, m)" in shown and re.search(r"joint1 +30\.0+ ", shown)
    one = json.loads(cli(*begin, "30 60", "--v0", "0 90", "--deg", "--json").stdout)
    q, v = np.deg2rad([30.0, 60.0]), np.deg2rad([0.0, 90.0])
    typed = (*begin, " ".join(map(repr, q.tolist())), "--v0", " ".join(map(repr, v.tolist())))
    np.testing.assert_allclose(one["q"], json.loads(cli(*typed, "--json").stdout)["q"], atol=1e-15)
