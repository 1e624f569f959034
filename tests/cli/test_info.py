"""What is told about a robot is what the library says."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import models

FAULTY = """<robot name="odd">
<link name="a"/>
<link name="b"><inertial><mass value="1.5"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>
</robot>"""


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", list(models.MODELS))
@pytest.mark.parametrize("more", [[], ["--floating"]])
def test_json_agrees_with_the_library(cli: Callable[..., Any], name: str, more: list[str]):
    robot = lw.load(name, base="floating" if more else "fixed")
    m = robot.mechanism
    read = json.loads(cli("info", name, "--json", *more).stdout)
    free = robot.mobility().degrees_of_freedom if robot.loops else m.n_v
    assert (read["robot"], read["n_q"], read["degrees_of_freedom"]) == (name, m.n_q, free)
    assert [joint["name"] for joint in read["joints"]] == list(robot.joint_names)
    for key, array in zip(("lower", "upper", "velocity", "effort"), robot.limits, strict=False):
        flat = [v for joint in read["joints"] for v in joint[key]]
        assert flat == [v if np.isfinite(v) else None for v in array.tolist()]
    assert [joint["name"] for joint in read["coupled"]] == [
        m.body_joint_names[b] for b in m.followers()
    ]
    assert read["frames"] == list(robot.frame_names)
    assert read["mass"] == pytest.approx(sum(v or 0.0 for v in read["masses"].values()), rel=1e-12)
    assert len(read["q_names"]) == m.n_q
    assert read["findings"] == []


def test_text(cli: Callable[..., Any]):
    text = cli("info", "panda").stdout
    assert "7 degrees of freedom, 7 numbers in q, 8 bodies, 17 frames, 0 findings" in text
    assert "link1  joint1 (revolute, axis 0 0 1, -2.8973 to 2.8973)" in text
    assert "kg in total" in text
    assert "17 frames: 9 links, 8 joints" in text
    assert "no findings" in text
    assert "coupled to" not in text
    row = next(line for line in text.splitlines() if line.startswith("joint4"))
    assert row.split() == ["joint4", "revolute", "3", "-3.0718", "-0.0698", "2.175", "87"]
    assert "tool0_joint\n" not in text
    assert "  tool0_joint\n" in cli("info", "panda", "--frames").stdout


def test_couplings_and_joints_with_several_numbers(cli: Callable[..., Any]):
    text = cli("info", "mobile_arm", "--lock", "arm_1=0.5").stdout
    assert "coupled to" in text
    assert "(revolute, axis 0 0 1, locked)" in text
    row = next(line for line in text.splitlines() if line.startswith("base "))
    assert row.split()[:4] == ["base", "planar", "0-2", "-"]
    row = next(line for line in text.splitlines() if line.startswith("finger_follower "))
    assert row.split() == ["finger_follower", "prismatic", "finger"]


def test_findings_are_listed_with_their_lines(cli: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "odd.urdf"
    file.write_text(FAULTY)
    findings = lw.load(file).findings
    assert findings
    text = " ".join(cli("info", file).stdout.split())
    for finding in findings:
        assert f"{finding.level} {finding.line} '{finding.name}': {finding.message}" in text
    read = json.loads(cli("info", file, "--json").stdout)
    assert sorted(f["line"] for f in read["findings"]) == sorted(f.line for f in findings)
    assert read["masses"] == {"a": None, "b": 1.5}
    assert read["joints"][0]["lower"] == [None]
    assert "unlimited to unlimited" in text


def test_a_chain(cli: Callable[..., Any]):
    args = ("info", "two_arm_torso", "--from", "torso_link", "--frame", "left_tool0")
    chain = lw.load("two_arm_torso").subchain("torso_link", "left_tool0")
    read = json.loads(cli(*args, "--json").stdout)
    assert [joint["name"] for joint in read["joints"]] == list(chain.joint_names)
    assert read["base"] == "torso_link"
    assert read["masses"] == dict(
        zip(chain.mechanism.body_names, chain.mechanism.mass.tolist(), strict=True)
    )
    assert "the chain from torso_link to left_tool0" in cli(*args).stdout


def test_names_are_not_read_as_markup(cli: Callable[..., Any], tmp_path: Path):
    file = tmp_path / "r.urdf"
    file.write_text('<robot name="[red]r"><link name="[bold]a[/bold] :cat:"/></robot>')
    text = cli("info", file).stdout
    assert "[red]r" in text
    assert text.count("[bold]a[/bold] :cat:") == 2


def test_a_frame_needs_a_base(refused: Callable[..., str]):
    assert "give both or neither" in refused("info", "panda", "--frame", "tool0")
    assert "no frame named 'nope'" in refused("info", "panda", "--from", "nope")


def test_a_deep_chain_is_told_in_lines_of_bounded_length(cli, tmp_path):
    n = 300
    links = "".join(f'<link name="l{k}"/>' for k in range(n))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(n - 1)
    )
    (tmp_path / "deep.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    told = cli("info", tmp_path / "deep.urdf").stdout
    assert max(map(len, told.splitlines())) < 350
    for k in range(1, n):
        (line,) = [line for line in told.splitlines() if f" j{k - 1} (" in line]
        assert f" l{k} " in line
        assert k <= 60 or line.endswith(f"on l{k - 1}")


# the list of bundled models


def test_every_model_is_listed(cli: Callable[..., Any]):
    result = cli("models")
    assert result.exit_code == 0
    for model in models.MODELS.values():
        line = next(x for x in result.stdout.splitlines() if x.startswith(f"{model.name} "))
        assert line.split()[1:3] == [str(model.degrees_of_freedom), model.tip]


def test_models_as_json(cli: Callable[..., Any]):
    read = json.loads(cli("models", "--json").stdout)
    assert read == {"models": [dataclasses.asdict(m) for m in models.MODELS.values()]}
