"""Viewers: what the page is told, how long they are active, and pictures."""

from __future__ import annotations

import http.client
import io
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.faces.skrobot import viewers
from linkwork.faces.skrobot.coordinates import make_coords
from linkwork.faces.skrobot.model import (
    Axis,
    Box,
    Cylinder,
    LinearJoint,
    LineString,
    Link,
    PlanarJoint,
    PointCloudLink,
    RobotModel,
    RotationalJoint,
    Sphere,
)
from linkwork.faces.skrobot.models import Kuka
from linkwork.faces.skrobot.viewers import TrimeshSceneViewer
from linkwork.view import browser
from skrobot_robots import joined

KINDS = ("TrimeshSceneViewer", "PyrenderViewer", "ViserViewer", "MitsubaViewer")


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(name="viewer")
def _viewer() -> Iterator[TrimeshSceneViewer]:
    made = TrimeshSceneViewer(resolution=(320, 240), update_interval=0.1)
    yield made
    made.close()


def page_of(viewer: Any) -> Any:
    """The data of the page as it is now."""
    with urlopen(viewer.url) as answer:
        text = answer.read().decode()
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


class Page:
    """A page that is open, without a browser."""

    def __init__(self, viewer: Any) -> None:
        found = urlsplit(viewer.url)
        self.address, self.query = (found.hostname, found.port), f"?{found.query}"
        self.connection = http.client.HTTPConnection(*self.address, timeout=10)
        self.connection.request("GET", f"/events{self.query}&since=0&page=p")
        self.stream = self.connection.getresponse()

    def say(self, **state: Any) -> int:
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        body = json.dumps({"page": "p", **state})
        head = {"Content-Type": "application/json"}
        connection.request("POST", f"/state{self.query}", body, head)
        return connection.getresponse().status

    def close(self) -> None:
        self.stream.close()
        self.connection.close()


def arm() -> RobotModel:
    """A hand-made robot: a joint that turns, one that slides, a base that hangs on a planar one."""
    links = [Box([0.2, 0.2, 0.1], name=name) for name in ("floor", "base", "upper", "tip")]
    joints = []
    kinds = (PlanarJoint, RotationalJoint, LinearJoint)
    for kind, parent, child in zip(kinds, links[:-1], links[1:], strict=True):
        child.translate([0, 0, 0.2])
        joints.append(joined(kind, parent, child, f"to_{child.name}"))
    return RobotModel(link_list=links, joint_list=joints)


def poses_in(viewer: TrimeshSceneViewer, number: int) -> dict[str, Any]:
    """Poses of the links of a shown robot, by the names that they have there."""
    shown = viewer.page.robots[number]
    names = {"floor", "base", "upper", "tip"} & set(shown.robot.frame_names)
    return {name: shown.robot.fk(shown.q, name) for name in names}


def test_a_robot_is_shown_where_it_is_and_follows(viewer: TrimeshSceneViewer):
    robot = arm()
    viewer.add(robot)
    viewer.show()
    robot.translate([1, 2, 0])
    for joint, angle in zip(robot.joint_list[1:], (0.5, 0.2), strict=True):
        joint.joint_angle(angle)
    robot.joint_list[0].joint_angle([0.3, 0.1, 0.4])
    viewer.redraw()
    for link in robot.link_list:
        np.testing.assert_allclose(
            poses_in(viewer, 0)[link.name], link.worldcoords().T(), atol=1e-9
        )


def test_links_are_shown_where_they_are_and_follow(viewer: TrimeshSceneViewer):
    robot = Kuka()
    box = Box([0.1, 0.2, 0.3], name="box", face_colors=[255, 0, 0, 51])
    axis = Axis.from_cascoords(robot.rarm.end_coords, name="axis")
    points = PointCloudLink(np.eye(3), name="points")
    line = LineString(np.eye(3), name="line")
    for each in (robot, box, axis, points, line):
        viewer.add(each)
    viewer.show()
    scene = viewer.page.scene
    assert scene.get("box").rgba == (1.0, 0.0, 0.0, 0.2)
    assert {"box", "axis", "axis 1", "axis 2", "axis 3", "points", "line"} == set(scene.names)
    box.translate([0, 0, 1])
    robot.reset_manip_pose()
    viewer.redraw()
    scene = viewer.page.scene
    np.testing.assert_allclose(scene.get("box").T_world_object[:3, 3], [0, 0, 1])
    end = robot.rarm.end_coords.worldcoords().T()
    np.testing.assert_allclose(scene.get("axis").T_world_object, end, atol=1e-12)
    viewer.delete(box)
    viewer.delete(Sphere(1))  # was not there
    assert "box" not in viewer.page.scene
    assert len(page_of(viewer)["scene"]["objects"]) == len(viewer.page.scene)


def test_what_is_shown_may_come_and_go_later(viewer: TrimeshSceneViewer):
    viewer.add(Box([1, 1, 1]))
    viewer.show()
    assert [each["name"] for each in page_of(viewer)["robots"]] == ["scene"]
    kuka, own = Kuka(), arm()
    viewer.add(kuka)
    viewer.add(kuka)
    viewer.add(own)
    assert [each["name"] for each in page_of(viewer)["robots"]] == [kuka.name, "robot"]
    kuka.link_list[2].set_color([0, 0, 255])
    viewer.redraw()
    assert len(page_of(viewer)["robots"]) == 2
    viewer.delete(kuka)
    viewer.delete(own)
    assert [each["name"] for each in page_of(viewer)["robots"]] == ["scene"]
    with pytest.raises(TypeError, match="Link or CascadedLink"):
        viewer.add(make_coords())


def test_the_user_of_a_page_moves_the_robot(viewer: TrimeshSceneViewer):
    robot = Kuka()
    viewer.add(robot)
    viewer.show()
    q = viewer.page.q
    at = viewer.page.robots[0].robot.joint_names.index("lbr_iiwa_with_wsg50__J1")
    q[7 + at - 1 if len(q) > 11 else at] = 0.4
    page = Page(viewer)
    assert page.say(robot=0, q=q.tolist()) in (200, 204)
    for _ in range(100):
        viewer.redraw()  # which does not move it back
        if robot.angle_vector()[1] == pytest.approx(0.4):
            break
        time.sleep(0.02)
    assert robot.angle_vector()[1] == pytest.approx(0.4)
    page.close()


@pytest.mark.parametrize("kind", KINDS)
def test_loops_end_where_nobody_sees_the_page(kind: str):
    viewer = getattr(viewers, kind)()
    robot = Kuka()
    viewer.add(robot)
    viewer.show()
    assert viewer.has_exit
    while viewer.is_active:  # as programs do
        robot.angle_vector(robot.angle_vector() + 0.01)
        viewer.redraw()
    viewer.pause(30.0)
    viewer.wait_until_close()
    viewer.close()
    viewer.redraw()
    assert not viewer.is_active


def test_loops_go_on_while_a_page_is_open(viewer: TrimeshSceneViewer):
    robot = Kuka()
    viewer.add(robot)
    viewer.show()
    page = Page(viewer)
    for _ in range(100):
        if viewer.is_active:
            break
        time.sleep(0.02)
    assert viewer.is_active
    assert not viewer.has_exit
    began = time.monotonic()
    viewer.pause(0.1)
    assert time.monotonic() - began >= 0.1
    page.close()
    viewer.close()
    viewer.wait_until_close()
    assert viewer.has_exit


def test_over_ssh_the_page_is_waited_for(
    viewer: TrimeshSceneViewer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    viewer.add(Kuka())
    viewer.show()
    assert viewer.is_active


def test_a_desktop_opens_a_browser(monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or True)
    monkeypatch.setenv("LINKWORK_BROWSER", "1")
    for viewer, how in (
        (TrimeshSceneViewer(), {}),
        (viewers.ViserViewer(), {"open_browser": True}),
    ):
        viewer.add(Box([1, 1, 1]))
        viewer.show(**how)
        assert opened == [viewer.url]
        assert viewer.is_active
        viewer.close()
        opened.clear()
    quiet = viewers.ViserViewer()
    quiet.show(open_browser=False)
    assert not opened
    quiet.close()


def test_a_notebook_shows_the_page_in_its_cell():
    viewer = viewers.JupyterNotebookViewer(height=300)
    viewer.add(Kuka())
    assert viewer.show()._repr_html_().startswith("<iframe")
    assert viewer.is_active
    assert "<iframe" in viewer.to_html()
    assert '"' not in viewer.to_html(escape_quotes=True)
    viewer.update()
    viewer.close()


def test_viewers_by_name():
    for name, kind in zip(("trimesh", "pyrender", "viser", "mitsuba"), KINDS, strict=True):
        made = viewers.create_viewer(name, resolution=(10, 10), update_interval=1, title="x")
        assert type(made) is getattr(viewers, kind)
    assert isinstance(viewers.create_viewer("notebook"), viewers.JupyterNotebookViewer)
    with pytest.raises(ValueError, match="'gl'"):
        viewers.create_viewer("gl")
    nothing = viewers.DummyViewer(1, resolution=2)
    for name in ("add", "delete", "redraw", "show", "close", "set_camera", "pause"):
        assert getattr(nothing, name)() is None
    nothing.save_image("nowhere/at/all.png")
    assert (nothing.is_active, nothing.has_exit) == (False, True)


def test_axes_of_joints_move_with_them():
    viewer = viewers.PyrenderViewer()
    robot = Kuka()
    joint = robot.rarm.joint_list[1]
    viewer.add(robot)
    viewer.show()
    viewer.add_joint_axis(joint, axis_length=0.4)
    (name,) = [n for n in viewer.page.scene.names if n.startswith("cylinder")]
    T = viewer.page.scene.get(name).T_world_object
    np.testing.assert_allclose(T[:3, 2], joint.world_axis, atol=1e-9)
    viewer.delete_joint_axis(joint)
    assert len(viewer.page.scene) == 0
    viewer.close()


@pytest.mark.slow
def test_pictures(viewer: TrimeshSceneViewer, tmp_path: Path):
    image = pytest.importorskip("PIL.Image")
    try:
        browser.found()
    except Exception as error:
        pytest.skip(str(error))
    viewer.add(Cylinder(0.1, 0.6, face_colors=[255, 0, 0, 255]))
    viewer.set_camera(angles=[np.pi / 3, 0, 0])
    viewer.save_image(tmp_path / "a.png")
    picture = image.open(tmp_path / "a.png").convert("RGB")
    assert picture.size == (320, 240)
    assert 0.02 < red(picture).mean() < 0.7
    # from above it is a disc, from the side, whichever way that is asked for, an upright rectangle
    above, side, again = {"angles": [0, 0, 0]}, {"angles": [np.pi / 2, 0, 0]}, {}
    again["coords_or_transform"] = make_coords().rotate(np.pi / 2, "x")
    shapes = []
    for camera in (above, side, again):  # each a browser of its own
        viewer.set_camera(resolution=(240, 240), distance=3.0, **camera)
        written = io.BytesIO()
        viewer.save_image(written)
        seen = red(image.open(io.BytesIO(written.getvalue())).convert("RGB"))
        shapes.append((seen.any(axis=0).sum(), seen.any(axis=1).sum()))
    (w, h), (w1, h1), again_seen = shapes
    assert w / h == pytest.approx(1.0, abs=0.15)
    assert w1 / h1 < 0.6
    assert again_seen == (w1, h1)


def red(picture: Any) -> Any:
    """Which pixels are red."""
    pixels = np.asarray(picture, int)
    return (pixels[..., 0] > 90) & (pixels[..., 1] < 60)


def test_what_a_link_looks_like_in_many_colors():
    from linkwork.faces.skrobot.viewers.drawn import parts_of  # noqa: PLC0415  of this test alone

    box = Box([1, 1, 1])
    colors = np.full((12, 4), 255)
    colors[:, 0] = np.arange(12) * 20
    box.visual_mesh.visual.face_colors = colors
    assert sum(len(mesh.faces) for mesh, _ in parts_of(box)) == 12
    ball = Sphere(1)
    many = np.random.default_rng(0).integers(0, 255, (1280, 4))
    ball.visual_mesh.visual.face_colors = many
    parts = list(parts_of(ball))
    assert len(parts) <= 12
    assert sum(len(mesh.faces) for mesh, _ in parts) == 1280
    box.set_color([0, 255, 0])
    assert [rgba for _, rgba in parts_of(box)] == [(0.0, 1.0, 0.0, 1.0)]
    assert list(parts_of(Link())) == []


def test_a_robot_of_nothing_is_refused_in_the_face_not_in_the_page(viewer: TrimeshSceneViewer):
    with pytest.raises((InputError, TypeError)):
        viewer.add(None)
