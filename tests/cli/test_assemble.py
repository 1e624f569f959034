"""`linkwork assemble` says what `Robot.assemble` says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

ROBOT = lw.load("five_bar")
GIVEN = ("assemble", "five_bar", "left=0.2", "right=-0.1")
ROWS = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.0]])


def rows_of(result: Any) -> list[dict[str, Any]]:
    return json.loads(result.stdout)["results"]


def test_one_row(cli: Callable[..., Any]):
    result = cli(*GIVEN, "--json")
    (row,) = rows_of(result)
    expected = ROBOT.assemble([0.2, -0.1])
    np.testing.assert_array_equal(row["q"], expected.q)
    assert row["success"] and row["closure"] == np.abs(ROBOT.closure(row["q"])).max() <= 1e-12
    text = cli(*GIVEN).stdout
    assert "five_bar: assembled" in text and text.count("given") == 2 and "open by" in text


def test_joints_that_are_not_named_stay_where_near_has_them(cli: Callable[..., Any]):
    near = ROBOT.assemble([0.3, 0.2]).q
    args = ("--near", " ".join(map(repr, near.tolist())))
    (row,) = rows_of(cli("assemble", "five_bar", "left=0.25", *args, "--json"))
    expected = ROBOT.assemble({"left": 0.25}, near)
    np.testing.assert_array_equal(row["q"], expected.q)
    assert row["q"][ROBOT.joint_names.index("right")] == 0.2


def test_a_branch_is_followed_or_any_is_searched_for(cli: Callable[..., Any]):
    args = ("assemble", "four_bar", "crank=2.5", "--near", "0 0 0", "--json")
    for follow in (True, False):
        (row,) = rows_of(cli(*args, *(() if follow else ("--no-follow",))))
        expected = lw.load("four_bar").assemble([2.5], q0=np.zeros(3), follow=follow)
        np.testing.assert_array_equal(row["q"], expected.q)


def test_all_branches(cli: Callable[..., Any], tmp_path: Path):
    result = cli(*GIVEN, "--all", "--json", "--out", tmp_path / "all.npy")
    expected = ROBOT.assemblies([0.2, -0.1])
    np.testing.assert_array_equal([row["q"] for row in rows_of(result)], expected.q)
    np.testing.assert_array_equal(np.load(tmp_path / "all.npy"), expected.q)
    assert f"{len(expected.q)} of {len(expected.q)} assembled" in cli(*GIVEN, "--all").stdout


@pytest.mark.parametrize("kind", ["named.csv", "plain.csv", "rows.npy"])
def test_rows_of_a_file(cli: Callable[..., Any], tmp_path: Path, kind: str):
    file = tmp_path / kind
    if kind == "rows.npy":
        np.save(file, ROWS)
    else:
        order = ROWS[:, ::-1] if kind == "named.csv" else ROWS
        head = "right,left\n" if kind == "named.csv" else ""
        file.write_text(head + "\n".join(",".join(map(repr, row)) for row in order.tolist()))
    out = tmp_path / "out.csv"
    result = cli("assemble", "five_bar", "--file", file, "--json", "--out", out)
    expected = ROBOT.assemble(ROWS)
    np.testing.assert_array_equal([row["q"] for row in rows_of(result)], expected.q)
    assert out.read_text().splitlines()[0].startswith("left,left_elbow,right,right_elbow,success")
    assert cli("fk", "five_bar", "--frame", "left_end", "--q-file", out).exit_code == 0
    assert "3 of 3 assembled" in cli("assemble", "five_bar", "--file", file).stdout


def test_without_actuated_joints_the_named_ones_are(cli: Callable[..., Any], tmp_path: Path):
    lw.urdf.write(lw.urdf.read("four_bar"), tmp_path / "r.urdf")
    loop = "{frame_a: coupler_end, frame_b: rocker_end, kind: revolute}"
    (tmp_path / "r.loops.yaml").write_text(f"version: 1\nloops: [{loop}]\n")
    (row,) = rows_of(cli("assemble", tmp_path / "r.urdf", "rocker=0.1", "--json"))
    assert row["q"][2] == 0.1 and row["success"]
    (tmp_path / "rows.csv").write_text("rocker\n0.1\n")
    found = rows_of(cli("assemble", tmp_path / "r.urdf", "--file", tmp_path / "rows.csv", "--json"))
    np.testing.assert_allclose(found[0]["q"], row["q"], atol=1e-9)
    result = cli("assemble", tmp_path / "r.urdf")
    assert result.exit_code == 2 and "give them as NAME=VALUE" in result.stderr


def test_what_cannot_be_assembled_has_code_1_and_a_reason(cli: Callable[..., Any], tmp_path: Path):
    args = ("assemble", "five_bar", "left=1.5", "right=-1.5")
    assert not ROBOT.assemble([1.5, -1.5]).success
    for more in ((), ("--all",), ("--json",)):
        result = cli(*args, *more)
        assert result.exit_code == 1 and "not assembled: " in result.stderr
    np.save(tmp_path / "r.npy", np.array([[0.1, 0.1], [1.5, -1.5]]))
    result = cli("assemble", "five_bar", "--file", tmp_path / "r.npy")
    assert result.exit_code == 1 and "1 of 2 assembled" in result.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("panda",), "no loops or couplings"),
        (("five_bar", "lft=1"), "nearest: left"),
        (("five_bar", "left_elbow=1"), "'left_elbow' is not actuated"),
        (("five_bar", "left"), "takes name=value"),
        (("five_bar", "left=nan"), "is not a finite number"),
        (("five_bar", "left=1", "left=2"), "twice"),
        (("five_bar", "--near", "1 2"), "--near takes 4 numbers"),
        (("five_bar", "--no-follow"), "--no-follow says how --near is used"),
        (("five_bar", "--near", "0 0 0 0", "--tries", "3"), "add --no-follow"),
        (("five_bar", "--all", "--file", "x.npy"), "--file gives many"),
        (("five_bar", "left=1", "--file", "x.npy"), "not both"),
        (("five_bar", "--tries", "0"), "tries"),
        (("five_bar", "--steps", "x"), "steps"),
        (("five_bar", "--file", "nothing.csv"), "nothing.csv"),
    ],
)
def test_wrong_input_is_one_sentence(refused: Callable[..., str], args: Any, words: str):
    assert words in refused("assemble", *args)


def test_files_of_another_width(refused: Callable[..., str], tmp_path: Path):
    np.save(tmp_path / "r.npy", np.zeros((2, 3)))
    assert "have (n, 2): left, right" in refused(
        "assemble", "five_bar", "--file", tmp_path / "r.npy"
    )
    (tmp_path / "r.csv").write_text("left,up\n1,2\n")
    assert "'up'" in refused("assemble", "five_bar", "--file", tmp_path / "r.csv")
