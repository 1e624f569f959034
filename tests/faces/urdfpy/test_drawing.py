from __future__ import annotations

import threading
import time
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest

from linkwork.faces.urdfpy import URDF
from linkwork.faces.urdfpy.drawing import frames
from pages import page_of


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_BROWSER", "0")


@pytest.mark.row("S2-008", "S2-201")
@pytest.mark.parametrize("use_collision", [False, True])
def test_show_opens_a_page_with_every_mesh_in_its_place(shapes: URDF, use_collision: bool):
    with shapes.show({"turn": 0.4}, use_collision=use_collision) as viewer:
        data = page_of(viewer)
        (robot,) = data["robots"]
        kind = "collision" if use_collision else "visual"
        assert kind in data["options"]["show"]
        assert robot["name"] == shapes.name
        (shown,) = viewer.robots
        assert shown.q.tolist() == robot["q"] == [0.4]
        T = shown.robot.fk_all(shown.q)
    parts = [part for part in robot["parts"] if part["kind"] == kind]
    found = [(T[p["link"]] @ [*p["T"][3::4], 1.0])[:3] for p in parts]
    assert len(found) == len(getattr(shapes.links[0], f"{kind}s")) + len(
        getattr(shapes.links[1], f"{kind}s")
    )
    if not use_collision:
        poses = shapes.visual_trimesh_fk([0.4]).values()
        for pose in poses:
            assert min(np.abs(pose[:3, 3] - place).max() for place in found) < 1e-9
    with pytest.raises(KeyError):
        shapes.show({"knee": 1.0})


@pytest.mark.row("S2-201")
def test_what_a_program_has_changed_is_shown(shapes: URDF):
    visual = next(v for link in shapes.links for v in link.visuals)
    visual.origin = np.array([[1.0, 0, 0, 3], [0, 1, 0, 4], [0, 0, 1, 5], [0, 0, 0, 1]])
    with shapes.show() as viewer:
        (robot,) = page_of(viewer)["robots"]
    places = [p["T"][3::4] for p in robot["parts"] if p["kind"] == "visual"]
    assert [3.0, 4.0, 5.0] in places


@pytest.mark.row("S2-008", "S2-202")
def test_animate_plays_the_way_forth_and_back(ur5: URDF):
    way = {"elbow_joint": [0.0, 1.0]}
    with ur5.animate(way, loop_time=0.5) as viewer:
        data = page_of(viewer)
    (robot,) = data["robots"]
    at = next(j["q"][0] for j in robot["joints"] if j["name"] == "elbow_joint")
    played = data["trajectory"]
    assert played["loop"]
    assert (played["times"][0], played["times"][-1]) == (0.0, 0.5)
    expected = [cfg["elbow_joint"] for cfg in frames(ur5, way, 0.5)]
    np.testing.assert_allclose(np.array(played["q"])[:, at], expected, atol=1e-9)
    with ur5.animate({"elbow_joint": [0.5]}) as viewer:  # nothing moves: shown
        data = page_of(viewer)
    assert data["trajectory"] is None
    assert data["robots"][0]["q"][at] == 0.5


@pytest.mark.row("S2-201")
def test_with_a_browser_it_returns_when_the_page_is_closed(
    shapes: URDF, monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []

    def browse(url: str) -> bool:
        opened.append(url)

        def read() -> None:
            with urlopen(url.replace("/?", "/events?")):
                time.sleep(0.2)

        threading.Thread(target=read, daemon=True).start()
        return True

    monkeypatch.setenv("LINKWORK_BROWSER", "1")
    monkeypatch.setattr("webbrowser.open", browse)
    assert shapes.show() is None
    assert len(opened) == 1
    with pytest.raises(URLError):  # it is served no more
        urlopen(opened[0])


@pytest.mark.row("S2-202")
def test_arguments_are_checked_first(ur5: URDF):
    for wrong in ({"elbow_joint": [1, 2], "wrist_1_joint": [1, 2, 3]}, {"elbow_joint": [1, "x"]}):
        with pytest.raises(ValueError, match="position"):
            ur5.animate(wrong)
    for wrong in ([1, 2], 3, {"elbow_joint": 3.0}, {3: [1, 2]}):
        with pytest.raises(TypeError):
            ur5.animate(wrong)
    with pytest.raises(KeyError):
        ur5.animate({"knee": [1, 2]})
    for wrong, error in ((0, ValueError), (np.nan, ValueError), ("x", TypeError)):
        with pytest.raises(error):
            ur5.animate(loop_time=wrong)


def test_rows_of_positions_are_a_trajectory(ur5: URDF):
    rows = np.linspace(0.0, 1.0, 3)[:, None] * np.arange(1.0, 7.0)
    by_name = {joint: rows[:, k] for k, joint in enumerate(ur5.actuated_joint_names)}
    assert repr([*map(named, frames(ur5, rows))]) == repr([*map(named, frames(ur5, by_name))])
    with pytest.raises(ValueError, match=r"\(n, 6\), not \(3, 5\)"):
        ur5.animate(rows[:, :5])


def named(cfg: dict[Any, Any]) -> dict[str, float]:
    return {getattr(joint, "name", joint): float(value) for joint, value in cfg.items()}


@pytest.mark.row("S2-202")
def test_the_frames_go_forth_and_back_in_loop_time(ur5: URDF):
    made = frames(ur5, {"elbow_joint": [0.0, 1.0, 4.0]}, loop_time=2.0)
    assert len(made) == 60
    values = np.array([cfg["elbow_joint"] for cfg in made])
    assert values[0] == values[-1] == 0.0
    assert values.max() == 4.0  # the end of the trajectory is shown
    assert np.allclose(values, values[::-1])
    steps = np.diff(values[:30])
    assert (steps > 0).all()
    assert np.isclose(steps[0] * 3, steps[-1])  # equal times, unequal ways
    for loop_time, count in ((0.01, 3), (0.1, 3), (0.5, 15), (3.0, 90)):
        turned = [cfg["elbow_joint"] for cfg in frames(ur5, {"elbow_joint": [1, 5]}, loop_time)]
        assert len(turned) == count
        assert (turned[0], max(turned), turned[-1]) == (1.0, 5.0, 1.0)


@pytest.mark.row("S2-202")
def test_without_a_trajectory_joints_go_from_limit_to_limit(ur5: URDF, shapes: URDF):
    made = frames(shapes)
    values = [cfg[shapes.joints[0]] for cfg in made]
    assert len(made) == 90
    assert min(values) == -1.0
    assert max(values) == 1.5
    assert set(frames(ur5)[0]) == set(ur5.actuated_joints)
    shapes.joints[0].joint_type = "continuous"
    shapes.joints[0].limit = None
    assert frames(shapes) == [{}]
    assert frames(ur5, {"elbow_joint": [0.5]}) == [{"elbow_joint": 0.5}]
