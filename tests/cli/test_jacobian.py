"""`linkwork jacobian` says what `Robot.jacobian` says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.jacobian import ROWS

ROBOT = lw.load("planar_3r")
Q = [0.3, -0.4, 0.5]


@pytest.mark.parametrize("reference", ["world-aligned", "local", "world"])
def test_json(cli: Callable[..., Any], reference: str):
    result = cli("jacobian", "planar_3r", "--q", "0.3 -0.4 0.5", "--json", "--reference", reference)
    assert (result.exit_code, result.stderr) == (0, "")
    read = json.loads(result.stdout)
    assert read["rows"] == list(ROWS)
    assert read["columns"] == list(ROBOT.joint_names)
    assert read["reference"] == reference
    expected = ROBOT.jacobian(Q, "tool0", reference=reference)  # pyright: ignore
    np.testing.assert_array_equal(read["results"][0]["jacobian"], expected)


def numbers_in(text: str, names: list[str]) -> np.ndarray:
    rows = [line.split() for line in text.splitlines()]
    return np.array([[float(v) for v in r[1:]] for r in rows if r and r[0] in names])


def test_text_has_the_same_numbers(cli: Callable[..., Any]):
    text = cli("jacobian", "planar_3r", "--q", "0.3 -0.4 0.5").stdout
    shown = numbers_in(text, list(ROWS))
    np.testing.assert_allclose(shown, ROBOT.jacobian(Q, "tool0"), atol=5.1e-7)


def test_many_joints_are_shown_transposed(cli: Callable[..., Any]):
    robot = lw.load("quadruped", base="floating")
    text = cli("jacobian", "quadruped", "--floating", "--frame", "fl_foot").stdout
    assert "transposed" in text
    names = ["floating_base/vx", "floating_base/wz", *robot.joint_names[1:]]
    shown = numbers_in(text, names)
    expected = robot.jacobian(robot.neutral(), "fl_foot").T[[0, 5, *range(6, robot.n_v)]]
    np.testing.assert_allclose(shown, expected, atol=5.1e-7)


def test_files(cli: Callable[..., Any], tmp_path: Path):
    q = ROBOT.random(5, seed=1)
    J = ROBOT.jacobian(q, "tool0")
    file, npy, text = tmp_path / "q.npy", tmp_path / "J.npy", tmp_path / "J.csv"
    np.save(file, q)
    result = cli("jacobian", "planar_3r", "--q-file", file, "--out", npy)
    np.testing.assert_array_equal(np.load(npy), J)
    assert "3 of 5 rows are shown" in result.stderr
    cli("jacobian", "planar_3r", "--q-file", file, "--out", text)
    lines = list(csv.reader(text.open()))
    assert lines[0] == ["row", "velocity", *ROBOT.joint_names]
    assert [line[:2] for line in lines[1:7]] == [["0", name] for name in ROWS]
    values = np.array([[float(v) for v in line[2:]] for line in lines[1:]])
    np.testing.assert_array_equal(values.reshape(J.shape), J)
    cli("jacobian", "planar_3r", "--q", "0.3 -0.4 0.5", "--out", text)
    lines = list(csv.reader(text.open()))
    assert lines[0] == ["velocity", *ROBOT.joint_names]
    values = np.array([[float(v) for v in line[1:]] for line in lines[1:]])
    np.testing.assert_array_equal(values, ROBOT.jacobian(Q, "tool0"))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["planar_3r", "--reference", "body"], "no reference named 'body'"),
        (["planar_3r", "--out", "x.mat"], "must end in .csv or .npy"),
    ],
)
def test_wrong_input(refused: Callable[..., str], args: list[str], said: str):
    assert said in refused("jacobian", *args)
