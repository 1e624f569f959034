"""`linkwork simulate`: what is printed and written, and what is said where it goes wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.exceptions import Exit

import linkwork as lw
from linkwork.cli import simulate as command
from linkwork.cli.arguments import SimulateArguments
from linkwork.errors import InputError, MissingExtraError
from linkwork.simulating import simulate
from linkwork.simulation.joint_forces import PD

ROBOT = lw.load("planar_2r")


def ran(capsys: pytest.CaptureFixture[str], **how: object) -> str:
    command.run(SimulateArguments(source="planar_2r", **how))  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_json_is_what_the_library_finds(capsys: pytest.CaptureFixture[str]):
    read = json.loads(ran(capsys, duration=0.05, q0=["0.1 0.2"], v0="1 2", json=True))
    expected = simulate(ROBOT, [0.1, 0.2], [1.0, 2.0], 0.05)
    np.testing.assert_array_equal(read["q"], expected.q)
    np.testing.assert_array_equal(read["v"], expected.v)
    np.testing.assert_array_equal(read["kinetic_energy"], expected.kinetic_energy)
    assert read["finished"] is True
    assert read["reason"] == "finished"
    assert read["failed_at"] is None
    assert read["q_names"] == list(ROBOT.joint_names)


def test_options_reach_the_simulation(capsys: pytest.CaptureFixture[str]):
    text = ran(
        capsys, duration=0.05, dt=0.01, method="implicit", kp="9", kd="1 2", target=["0.5 0.5"],
        torque="0.1 0.2", gravity="0 -1 0", armature="0.3", losses=True, json=True,
    )  # fmt: skip
    law = PD(9.0, [1.0, 2.0], q_target=[0.5, 0.5], feed_forward=[0.1, 0.2])
    expected = simulate(
        ROBOT, ROBOT.neutral(), None, 0.05, dt=0.01, method="implicit", torque=law,
        gravity=[0, -1, 0], armature=0.3, losses=True,
    )  # fmt: skip
    np.testing.assert_array_equal(json.loads(text)["q"], expected.q)


def test_text(capsys: pytest.CaptureFixture[str]):
    text = ran(capsys, duration=0.05)
    assert "0.05 s simulated, 51 states" in text
    for name in ROBOT.joint_names:
        assert name in text
    assert "fastest" in text
    assert "J at first" in text


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib", reason="matplotlib (pip install matplotlib) is missing")
    saved, plotted = tmp_path / "run.npz", tmp_path / "run.svg"
    ran(capsys, duration=0.05, save=str(saved), plot=str(plotted))
    with np.load(saved) as read:
        assert read["q"].shape == (51, 2)
    assert plotted.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (
            {"save": "run.txt"},
            "--save run.txt: the name of the file to write must end in .npz or .csv",
        ),
        (
            {"plot": "run.txt"},
            "--plot run.txt: the name of the file to write must end in .png, .svg or .pdf",
        ),
        ({"save": "none/run.npz"}, "there is no folder none"),
        ({"kd": "1"}, "give --kp too"),
        ({"target": ["0 0"]}, "give --kp too"),
        ({"v0": "1 x"}, "--v0: 'x' is not a finite number"),
        ({"duration": -1.0}, "duration must be"),
    ],
)
def test_refusals(how: dict[str, object], text: str):
    with pytest.raises(InputError, match=text.replace("(", r"\(")):
        command.run(SimulateArguments(source="planar_2r", **how))  # type: ignore[arg-type]


def test_a_plot_without_matplotlib_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[plot\]'"):
        command.run(SimulateArguments(source="planar_2r", plot="run.png"))


def test_divergence_is_exit_code_1_and_the_rest_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    saved = tmp_path / "run.csv"
    how = {"v0": "9000 -20000", "dt": 0.01, "q0": ["0.7 0.7"], "save": str(saved)}
    with pytest.raises(Exit) as ended:
        command.run(SimulateArguments(source="planar_2r", **how))  # type: ignore[arg-type]
    assert ended.value.exit_code == command.DIVERGED == 1
    assert "not finished: at t = " in capsys.readouterr().err
    assert saved.read_text().count("\n") == 102


def test_the_table_is_for_people(capsys: pytest.CaptureFixture[str]):
    result = simulate(ROBOT, [0.1, 0.2], None, 0.05)
    assert f"{result.q[-1, 0]:.4f}" in ran(capsys, duration=0.05, q0=["0.1 0.2"])
