"""`linkwork check` says whether what closes a mechanism fits it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linkwork as lw
from linkwork import models
from mjcf_samples import FOUR_BAR, closed


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", [n for n, model in models.MODELS.items() if model.closed])
def test_bundled_models_are_closed(cli: Callable[..., Any], name: str):
    assert "freedom" in cli("check", name, "--no-meshes", "--level", "error").stdout


def put(folder: Path, text: str) -> Path:
    lw.urdf.write(lw.urdf.read("four_bar"), folder / "r.urdf")
    (folder / "r.loops.yaml").write_text(text)
    return folder / "r.urdf"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 1\nactuated: [crnak]\n", 2, "nearest: crank"),
        ("version: 1\nloops:\n- {frame_a: coupler_end, frame_b: nowhere}\n", 3, "nowhere"),
        ("version: 1\nloops: &a []\n", 2, "anchors"),
        ("version: 3\n", 1, "version must be 1"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(
    cli: Callable[..., Any], tmp_path: Path, text: str, line: int, words: str
):
    result = cli("check", put(tmp_path, text))
    assert result.exit_code == 1
    assert f"r.loops.yaml:{line}: error:" in result.stdout and words in result.stdout


def test_loops_that_cannot_be_closed_are_a_warning(cli: Callable[..., Any], tmp_path: Path):
    text = "version: 1\nloops: [{frame_a: coupler_end, frame_b: base_link, kind: distance, %s}]\n"
    path = put(tmp_path, text % "distance: 40.0")
    result = cli("check", path, "--json")
    assert [p["code"] for p in json.loads(result.stdout)["files"][0]["problems"]] == ["loops-open"]
    assert cli("check", path, "--strict").exit_code == 1


def test_what_closes_it_is_told(cli: Callable[..., Any]):
    text = cli("check", "four_bar").stdout
    assert "four_bar: 1 loop, actuated: crank; 1 degree of freedom" in text
    assert json.loads(cli("check", "panda", "--json").stdout)["files"][0]["loops"] == ""


def test_an_mjcf_with_equalities(cli: Callable[..., Any], tmp_path: Path):
    pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")
    path = tmp_path / "m.xml"
    path.write_text(FOUR_BAR.format('<connect name="pin" site1="end" site2="top"/>'))
    assert "1 loop, actuated: crank; 1 degree of freedom" in cli("check", path).stdout
    path.write_text(
        closed('<weld site1="s1" site2="s2" name="x"/><weld body1="rocker" body2="tip"/>')
    )
    told = cli("check", path).stdout
    assert "(loops-open)" in told and "(rigid-equality)" in told
