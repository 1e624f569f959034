"""The page as a text: what it carries, what it refuses, and that it asks nothing of anybody."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.view.model import view_model
from linkwork.view.page import SHOWN, PageRobot, page_data, page_text, quantised, scene_data
from seeds import rng

ROOT = Path(__file__).resolve().parents[2]
PAGE = resources.files("linkwork.view") / "page"
BUDGET = 620_000
"""Bytes of a page beside the data of its robots."""

EVIL = "</script><script>alert(1)</script><!--"
ONE_LINK = """<robot name="{name}">
  <link name="base"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
  <link name="{name}"/>
  <joint name="{name}" type="revolute"><parent link="base"/><child link="{name}"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def data_of(robot: lw.Robot, **how: Any) -> dict[str, Any]:
    return page_data([PageRobot(robot)], **how)


def data_in(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def decoded(entry: dict[str, Any], binary: bytes) -> tuple[np.ndarray, np.ndarray]:
    start, n = entry["data"][0], entry["n_vertices"]
    numbers = np.frombuffer(binary, "<u2", 3 * n, start).reshape(-1, 3)
    faces = np.frombuffer(
        binary, f"<u{entry['bits'] // 8}", 3 * entry["n_faces"], start + 6 * n
    ).reshape(-1, 3)
    return np.array(entry["lower"]) + np.array(entry["step"]) * numbers, faces


# numbers


def test_quantised_points_lie_within_half_a_step():
    points = rng("quantised").normal(size=(500, 3)) * [1.0, 20.0, 0.003] + [0.0, 5.0, 100.0]
    lower, step, numbers = quantised(points)
    assert np.all(np.abs(lower + step * numbers - points) <= 0.5001 * step)
    np.testing.assert_allclose(step, np.ptp(points, axis=0) / 65535, rtol=1e-12)


def test_quantised_points_of_no_extent_stay_where_they_are():
    lower, step, numbers = quantised(np.full((4, 3), 0.25))
    np.testing.assert_array_equal(lower + step * numbers, np.full((4, 3), 0.25))
    assert quantised(np.zeros((0, 2)))[2].shape == (0, 2)


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_shapes_come_back(name: str):
    robot = lw.load(name)
    data = data_of(robot)
    binary = base64.b64decode(data["binary"])
    shown = data["robots"][0]
    model = view_model(robot)
    assert len(shown["parts"]) == len(model.parts)
    for part, original in zip(shown["parts"], model.parts, strict=True):
        entry = shown["geometries"][part["geometry"]]
        points, faces = decoded(entry, binary)
        geometry = model.geometries[original.geometry]
        corners = geometry.vertices[geometry.faces]
        kept = points[faces]
        # what is left out are triangles that are lines or points within a step
        assert len(corners) * 0.9 <= len(kept) <= len(corners)
        np.testing.assert_allclose(kept.min((0, 1)), corners.min((0, 1)), atol=1e-4)
        np.testing.assert_allclose(kept.max((0, 1)), corners.max((0, 1)), atol=1e-4)
        if len(kept) == len(corners):
            error = np.abs(kept - corners).reshape(-1, 3).max(axis=0)
            assert np.all(error <= 0.51 * np.array(entry["step"]) + 1e-7)
        np.testing.assert_allclose(part["T"], original.T_link_part[:3].reshape(-1), atol=1e-12)


def test_equal_geometries_are_written_once():
    shown = data_of(lw.load("quadruped"))["robots"][0]
    used = {part["geometry"] for part in shown["parts"]}
    assert used == set(range(len(shown["geometries"])))
    assert len(used) < len(shown["parts"]) / 3


def test_joints_of_the_data():
    shown = data_of(lw.load("five_bar"))["robots"][0]
    joints = {joint["name"]: joint for joint in shown["joints"]}
    assert joints["left"]["actuated"]
    assert not joints["left_elbow"]["actuated"]
    assert joints["left_elbow"]["lower"] == [None]
    assert shown["loops"][0]["name"] == "hinge"
    for joint in shown["joints"]:
        assert shown["link_joint"][joint["link"]] == shown["joints"].index(joint)
    json.dumps(shown, allow_nan=False)


def test_coupled_joints_name_their_leaders():
    text = ONE_LINK.format(name="arm").replace(
        "</robot>",
        '<link name="f"/><joint name="follower" type="revolute"><parent link="arm"/>'
        '<child link="f"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
        '<mimic joint="arm" multiplier="-2" offset="0.5"/></joint></robot>',
    )
    arm, follower = data_of(lw.load(text))["robots"][0]["joints"]
    assert (arm["coupled"], arm["q"]) == (False, [0, 1])
    assert (follower["coupled"], follower["q"], follower["leaders"]) == (True, None, ["arm"])
    assert (follower["lower"], follower["upper"]) == ([-1.5], [2.5])


def test_a_scene_is_carried_along():
    scene = lw.Scene()
    scene.add_box("table", [1.0, 0.6, 0.1], [0.5, 0.0, -0.05], rgba=[0.7, 0.5, 0.3])
    scene.add_box("shelf", [1.0, 0.6, 0.1], [0.5, 0.0, 0.6])
    data = data_of(lw.load("planar_2r"), scene=scene)
    table, shelf = data["scene"]["objects"]
    assert (table["name"], shelf["name"]) == ("table", "shelf")
    assert table["rgba"] == [0.7, 0.5, 0.3, 1.0] and shelf["rgba"] is None
    np.testing.assert_allclose(np.reshape(shelf["T"], (3, 4))[:, 3], [0.5, 0.0, 0.6])
    assert table["geometry"] == shelf["geometry"] == 0
    (entry,) = data["scene"]["geometries"]
    points, _ = decoded(entry, base64.b64decode(data["binary"]))
    np.testing.assert_allclose(np.ptp(points, axis=0), [1.0, 0.6, 0.1], atol=1e-6)
    alone = scene_data(scene)
    assert alone["scene"]["objects"] == data["scene"]["objects"]
    assert scene_data(None) == {"scene": None, "binary": ""}


# text


def test_names_of_files_cannot_leave_their_place():
    robot = lw.load(ONE_LINK.format(name=html.escape(EVIL)))
    text = page_text(data_of(robot, title=EVIL))
    assert robot.name == EVIL
    assert data_in(text)["robots"][0]["name"] == EVIL
    assert "<script>alert" not in text
    assert len(re.findall("<script", text)) == 3
    assert len(re.findall("</script", text)) == 3
    assert html.escape(EVIL) in text  # the title


def test_braces_in_a_title_are_text():
    data = data_of(lw.load("planar_2r"), title="{{data}} {{scripts}} \\1")
    assert "<title>{{data}} {{scripts}} \\1</title>" in page_text(data)


def test_only_these_texts_may_run_and_nothing_is_fetched():
    text = page_text(data_of(lw.load("planar_2r")))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert "unsafe" not in policy[1]
    scripts = re.findall(r"<script(?: type=\"module\")?>(.*?)</script>", text, re.DOTALL)
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules["script-src"]
    assert len(rules["script-src"].split()) == len(scripts) == 2
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
    assert "@import" not in text and "url(" not in text


def test_a_live_page_may_talk_to_its_server_alone():
    live = {"url": "http://127.0.0.1:8790", "token": "t", "since": 3}
    text = page_text(data_of(lw.load("planar_2r")), live=live)
    assert "connect-src &#x27;self&#x27; http://127.0.0.1:8790" in text
    assert data_in(text)["live"] == live


def test_it_is_small():
    data = data_of(lw.load("planar_2r"))
    empty = {**data, "robots": [], "binary": ""}
    assert len(page_text(empty).encode()) < BUDGET


def test_our_modules_take_nothing_but_each_other():
    for file in (each for each in PAGE.iterdir() if each.name.endswith(".js")):
        text = file.read_text(encoding="utf-8")
        if file.name == "three.min.js":
            continue
        assert set(re.findall(r'(?m)^import .* from "(.*)";', text)) <= {
            f"./{each.name}" for each in PAGE.iterdir()
        }
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text
        assert not re.search(r"\bfetch\(", text) or file.name in ("live.js", "record.js")


# what goes wrong


def test_wrong_choices_are_told(tmp_path: Path):
    robot = lw.load("planar_2r")
    with pytest.raises(InputError, match="units must be 'deg' or 'rad'"):
        robot.export_html(tmp_path / "a.html", units="degrees")
    with pytest.raises(InputError, match="show has 'bones': what can be shown is visual"):
        robot.export_html(tmp_path / "a.html", show=["bones"])
    with pytest.raises(InputError, match="at least one robot"):
        page_data([])
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_whole(tmp_path: Path):
    robot = lw.load("planar_2r")
    path = tmp_path / "arm.html"
    robot.export_html(path, q=[0.1, 0.2], trajectory=np.linspace([0, 0], [1, 1], 5), show=SHOWN)
    data = data_in(path.read_text(encoding="utf-8"))
    assert data["robots"][0]["q"] == [0.1, 0.2]
    assert len(data["trajectory"]["times"]) == 5
    assert data["options"]["show"] == list(SHOWN)


def test_a_motion_has_times_a_duration_and_a_roll_out(tmp_path: Path):
    robot, path = lw.load("planar_2r"), tmp_path / "arm.html"

    def written(trajectory: Any, **how: Any) -> dict[str, Any]:
        robot.export_html(path, trajectory=trajectory, **how)
        robot.export_glb(tmp_path / "arm.glb", trajectory=trajectory, **how)
        return data_in(path.read_text(encoding="utf-8"))["trajectory"]

    rows = np.linspace([0, 0], [1, 1], 5)
    assert written(rows, duration=2.0)["times"] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert written(rows, times=[0.0, 0.1, 0.3, 0.6, 1.0])["times"] == [0.0, 0.1, 0.3, 0.6, 1.0]
    batch = lw.simulate(robot, [[0.0, 0.0], [0.5, 0.1]], duration=0.1)
    assert written(batch)["q"][0] == [0.0, 0.0]
    assert written(batch, row=1)["q"][0] == [0.5, 0.1]
    for how in ({"duration": 1.0}, {"times": [0.0, 1.0]}, {"row": 1}):
        for file, write in (("b.html", robot.export_html), ("b.glb", robot.export_glb)):
            with pytest.raises(InputError, match="those of a trajectory, and there is none"):
                write(tmp_path / file, **how)
            assert not (tmp_path / file).exists()


def ball_scene() -> lw.Scene:
    scene = lw.Scene()
    scene.add_sphere("ball", 0.1, lw.pose([1.0, 0.0, 0.5], rpy=[0.3, 0.0, 0.0]))
    return scene


def test_objects_of_the_scene_move_with_a_motion(tmp_path: Path):
    robot, path, scene = lw.load("planar_2r"), tmp_path / "arm.html", ball_scene()

    def way(t: float) -> np.ndarray:
        return lw.pose([1.0 + t, 0.0, 0.5], rpy=[0.3 + 0.2 * t, 0.0, 0.0])

    robot.export_html(
        path, trajectory=[[0.0, 0.0], [1.0, 1.0]], duration=2.0, scene=scene, objects={"ball": way}
    )
    found = data_in(path.read_text(encoding="utf-8"))["trajectory"]["objects"]
    assert list(found) == ["ball"] and len(found["ball"]) == 121
    for share in (0.0, 0.25, 1.0):
        D = np.vstack([np.reshape(found["ball"][round(120 * share)], (3, 4)), [0, 0, 0, 1]])
        np.testing.assert_allclose(D @ way(0.0), way(2.0 * share), atol=2e-6)


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ({"objects": {"ball": np.eye(4)}}, InputError, "'ball'.* must be a function of the time"),
        ({"objects": {"bal": lw.pose}}, lw.UnknownNameError, "nearest: ball"),
        ({"objects": {"ball": lambda t: 2.0 * np.eye(4)}}, InputError, r"'ball'\](\(0\))"),
        ({"objects": {"ball": lambda t: np.eye(4)}, "scene": None}, InputError, "is no scene"),
        ({"objects": "ball"}, InputError, "functions of the time by name"),
        ({"objects": {"ball": lambda t: np.eye(4)}, "trajectory": None}, InputError, "is none"),
    ],
    ids=["pose", "name", "rigid", "scene", "text", "trajectory"],
)
def test_objects_that_cannot_move_are_refused(
    tmp_path: Path, how: dict[str, Any], error: type[Exception], text: str
):
    asked = {"trajectory": [[0.0, 0.0], [1.0, 1.0]], "scene": ball_scene()} | how
    with pytest.raises(error, match=text):
        lw.load("planar_2r").export_html(tmp_path / "arm.html", **asked)
    assert not list(tmp_path.iterdir())


# three.js


def test_three_is_the_file_that_was_built():
    data = (PAGE / "three.min.js").read_bytes()
    digest, name = (PAGE / "three.min.js.sha256").read_text(encoding="ascii").split()
    assert name == "three.min.js"
    assert hashlib.sha256(data).hexdigest() == digest
    head = data[:2000].decode()
    versions = json.loads((ROOT / "tools" / "page" / "package.json").read_text(encoding="utf-8"))
    assert f"three.js {versions['devDependencies']['three']}" in head
    assert "The MIT License" in head and "three.js authors" in head
    assert b"</script" not in data.lower() and b"<!--" not in data


@pytest.mark.slow
def test_three_can_be_built_again(tmp_path: Path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm is not installed")
    tools = tmp_path / "page"
    shutil.copytree(ROOT / "tools" / "page", tools, ignore=shutil.ignore_patterns("node_modules"))
    had = ROOT / "tools" / "page" / "node_modules"
    if had.is_dir():
        shutil.copytree(had, tools / "node_modules", symlinks=True)
    else:
        got = subprocess.run(
            [npm, "ci", "--no-audit", "--no-fund"], cwd=tools, capture_output=True, check=False
        )
        if got.returncode:
            pytest.skip("npm cannot fetch three and esbuild here")
    subprocess.run([node, "build.mjs", str(tmp_path / "out")], cwd=tools, check=True)
    for name in ("three.min.js", "three.min.js.sha256"):
        assert (tmp_path / "out" / name).read_bytes() == (PAGE / name).read_bytes()
