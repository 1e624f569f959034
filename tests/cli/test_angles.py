"""Degrees at the terminal: what is typed and printed, and what stays in radians."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.angles import Angles
from seeds import rng


@pytest.mark.parametrize("name", ["panda", "scara", "mobile_arm"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_only_angles_change_and_they_come_back(name: str, base: str):
    robot = lw.load(name, base=base)
    m, q = robot.mechanism, robot.random(4, seed=rng("degrees"))
    angles = Angles(degrees=True)
    shown = angles.shown_positions(m, q)
    np.testing.assert_allclose(angles.typed_positions(m, shown), q, rtol=1e-15, atol=0)
    for c, kind in enumerate(m.joint_types):
        own = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        turning = [k for k in range(own.start, own.stop) if kind.turns]
        turning += [own.start + 2] if kind is lw.JointType.PLANAR else []
        expected = q.copy()
        expected[:, turning] = np.rad2deg(q[:, turning])
        assert np.array_equal(shown[:, own], expected[:, own])
    assert np.array_equal(Angles().shown_positions(m, q), q)


def test_names_take_the_kind_of_their_joint():
    m = lw.load("mobile_arm").mechanism
    given = {"base": [1.0, 2.0, 180.0], "arm_1": 90.0, "finger": 0.01, "nothing": 5.0}
    found = Angles(degrees=True).typed_by_name(m, given)
    assert found == {
        "base": [1.0, 2.0, np.pi], "arm_1": np.pi / 2, "finger": 0.01, "nothing": 5.0
    }  # fmt: skip
    assert Angles().typed_by_name(m, given) == given


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
