"""`linkwork collide` says what the collision model says; here that is one of balls, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from linkwork.formats import srdf as srdf_format

BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
URDF = f"""<robot name="arm">
  <link name="base">{BALL}</link><link name="l1">{BALL}</link><link name="l2">{BALL}</link>
  <link name="l3">{BALL}</link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="j2" type="revolute"><parent link="l1"/><child link="l2"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="j3" type="revolute"><parent link="l2"/><child link="l3"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
</robot>"""
SRDF = '<robot name="arm"><disable_collisions link1="base" link2="l2" reason="Mine"/></robot>'
SCENE = "objects:\n  - {name: post, sphere: 0.1, xyz: [0, 1, 0]}\n"


def alone(shape: str) -> str:
    """A robot of which one link has a shape."""
    joint = '<parent link="a"/><child link="b"/>'
    return (
        f'<robot name="alone"><link name="a">{shape}</link><link name="b"/>'
        f'<joint name="turn" type="continuous">{joint}</joint></robot>'
    )


@pytest.fixture(name="urdf", autouse=True)
def _urdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    return file


# folded, l3 lies on l1 and on the base; straight, the nearest pairs are 0.8 m apart
FOLDED, STRAIGHT = "0 3 0", "0 0 0"


def test_what_touches(cli: Callable[..., Any], urdf: Path):
    result = cli("collide", urdf, "--q", FOLDED)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "arm: 2 pairs touch"
    assert lines[1] == "at j1=0 j2=3 j3=0"
    chord = 2 * 0.5 * np.cos(1.5)
    assert sum(f"{1e3 * (0.2 - chord):.3f} deep" in line for line in lines) == 2
    assert "2 of 6 pairs of links are checked; --pairs lists them" in lines


def test_the_nearest_where_nothing_touches(cli: Callable[..., Any], urdf: Path):
    result = cli("collide", urdf, "--q", STRAIGHT)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "arm: free"
    assert sum("800.000 apart" in line for line in lines) == 1
    assert cli("collide", urdf).stdout == result.stdout  # neutral


def test_json(cli: Callable[..., Any], urdf: Path):
    result = cli("collide", urdf, "--q", FOLDED, "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["pairs"] == {"checked": 2, "ignored": 4}
    (one,) = told["results"]
    assert one["touches"]
    assert one["distance"] == -one["touching"][0]["depth"] < 0
    assert one["pair"] == one["touching"][0]["pair"]
    assert {tuple(each["pair"]) for each in one["touching"]} == {("base", "l3"), ("l1", "l3")}
    assert "distances" not in one
    free = json.loads(cli("collide", urdf, "--json", "--clearance", "--pairs").stdout)
    (one,) = free["results"]
    assert (one["touches"], one["touching"]) == (False, [])
    assert [each["distance"] for each in one["distances"]] == pytest.approx([0.8, 0.8])
    assert free["pairs"]["pairs"][0] == {
        **{"link_a": "base", "link_b": "l1", "checked": False, "reason": "adjacent"},
    }


def test_degrees(cli: Callable[..., Any], urdf: Path):
    args = ("collide", urdf, "--deg", "--q", "0 171.88733853924697 0", "--json")
    (one,) = json.loads(cli(*args).stdout)["results"]
    assert one["q"] == pytest.approx([0, 3, 0])


def test_pairs_and_distances_as_tables(cli: Callable[..., Any], urdf: Path):
    text = cli("collide", urdf, "--pairs", "--clearance").stdout
    assert "2 of 6 pairs of links are checked\n" in text
    assert "adjacent" in text
    assert "touch in" in text
    assert "random states, not proven" in text
    assert text.count("apart") == 2


@pytest.mark.slow
def test_what_pieces_add_to_a_mesh_is_told(cli: Callable[..., Any]):
    trimesh.creation.annulus(0.3, 0.5, 0.1).export("ring.stl")
    mesh = BALL.replace('<sphere radius="0.1"/>', '<mesh filename="ring.stl"/>')
    Path("one.urdf").write_text(alone(mesh))
    assert "'a': " in cli("collide", "one.urdf", "--pairs").stdout


def test_a_scene(cli: Callable[..., Any], urdf: Path):
    Path("scene.yaml").write_text(SCENE)
    result = cli("collide", urdf, "--q", "1.5707963 0 0", "--scene", "scene.yaml", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["scene"] == "scene.yaml"
    assert told["results"][0]["pair"] == ["l3", "post"]
    assert told["results"][0]["distance"] == pytest.approx(-0.2)


def test_srdf_is_read_and_written(cli: Callable[..., Any], urdf: Path):
    Path("own.srdf").write_text(SRDF)
    args = ("--srdf", "own.srdf", "--save-srdf", "new.srdf", "--allow", ".")
    result = cli("collide", urdf, *args, "--json", "--pairs")
    pairs = json.loads(result.stdout)["pairs"]["pairs"]
    assert [pair["reason"] for pair in pairs][1] == "SRDF: Mine"
    written = srdf_format.read("new.srdf")
    said = {tuple(sorted(p.key)): p.reason for p in written.disabled}
    assert said["base", "l2"] == "Mine"
    assert said["base", "l1"] == "Adjacent"


def test_findings_are_told(cli: Callable[..., Any], urdf: Path):
    Path("own.srdf").write_text(SRDF.replace("l2", "l22").replace('"arm"', '"leg"'))
    result = cli("collide", urdf, "--srdf", "own.srdf", "--json")
    assert "own.srdf:1: warning" in result.stderr
    assert "nearest: l2" in result.stderr
    assert "'leg', not for 'arm'" in result.stderr
    json.loads(result.stdout)


def test_many_configurations(cli: Callable[..., Any], urdf: Path):
    q = np.zeros((30, 3))
    q[10:15, 1] = 3.0
    np.save("q.npy", q)
    result = cli("collide", urdf, "--q-file", "q.npy", "--out", "d.npy")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "arm: 5 of 30 configurations touch"
    assert [line.split()[0] for line in lines[3:8]] == ["10", "11", "12", "13", "14"]
    depth = 2 * 0.5 * np.cos(1.5) - 0.2
    assert lines[3].split()[-1] == f"{1e3 * depth:.3f}"
    d = np.load("d.npy")
    np.testing.assert_allclose(d, np.where(q[:, 1] == 3.0, depth, 0.8), atol=1e-12)
    told = json.loads(cli("collide", urdf, "--q-file", "q.npy", "--json").stdout)
    assert told["touching"] == 5
    assert [row["touches"] for row in told["results"]] == (d < 0).tolist()
    assert "distance" not in told["results"][0]
    args = ("--q-file", "q.npy", "--clearance", "--out", "d.csv")
    shown = cli("collide", urdf, *args)
    assert "20 of 30 rows are shown" in shown.stderr
    told = json.loads(cli("collide", urdf, *args, "--json").stdout)
    assert [row["distance"] for row in told["results"]] == pytest.approx(d.tolist())
    table = Path("d.csv").read_text().splitlines()
    assert table[0] == "touches,distance,a,b"
    assert [line.split(",")[0] for line in table[1:]] == [str(int(x < 0)) for x in d]
    assert [line.split(",")[2:] for line in table[1:]] == [row["pair"] for row in told["results"]]


def test_files_of_free_configurations(cli: Callable[..., Any], urdf: Path):
    Path("q.csv").write_text("j1,j2,j3\n0,0,0\n0.1,0,0\n")
    result = cli("collide", urdf, "--q-file", "q.csv", "--out", "d.csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("arm: 0 of 2 configurations touch\n2 of 6 pairs")
    assert len(Path("d.csv").read_text().splitlines()) == 3


def test_nothing_to_check_is_said(cli: Callable[..., Any]):
    Path("one.urdf").write_text(alone(BALL))
    result = cli("collide", "one.urdf")
    assert result.exit_code == 0
    assert "no pair of links is checked and there is no scene" in result.stderr
    assert "0 of 0 pairs" in result.stdout
    (one,) = json.loads(cli("collide", "one.urdf", "--json").stdout)["results"]
    assert (one["pair"], one["distance"]) == (None, None)
    assert cli("collide", "one.urdf", "--out", "d.csv").exit_code == 0
    assert Path("d.csv").read_text().splitlines()[1] == "0,inf,,"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--q", "1 2"], "takes 3 numbers"),
        (["--q", "0 0 0", "--q-file", "q.npy"], "give --q or --q-file"),
        (["--srdf", "none.srdf"], "no such file"),
        (["--scene", "none.yaml"], "no such file"),
        (["--save-srdf", "x.xml"], "must end in .srdf"),
        (["--out", "x.txt"], "must end in .csv or .npy"),
    ],
)
def test_wrong_input(refused: Callable[..., str], urdf: Path, args: list[str], said: str):
    assert said in refused("collide", urdf, *args)
