"""Pictures and films in files: what is in them and where, and what happens without a browser."""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.view import browser
from linkwork.view.page import PageRobot
from linkwork.view.server import PageServer

MARKED = """<robot name="marked">
<link name="base">
  <inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <visual><geometry><box size="0.2 0.2 0.04"/></geometry></visual></link>
<link name="arm">
  <visual><origin xyz="0 0 0.25"/><geometry><box size="0.04 0.04 0.5"/></geometry>
    <material name="blue"><color rgba="0.1 0.2 0.9 1"/></material></visual>
  <visual><origin xyz="0 0 0.5"/><geometry><sphere radius="0.05"/></geometry>
    <material name="red"><color rgba="0.9 0.05 0.05 1"/></material></visual>
</link>
<link name="tip"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-1.2" upper="1.2" effort="1" velocity="1"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>
  <origin xyz="0 0 0.5"/></joint>
{more}
</robot>"""
SIZE = (240, 180)


def robot(more: str = "") -> lw.Robot:
    return lw.load(MARKED.replace("{more}", more))


@pytest.fixture
def drawn() -> None:
    """Skips where no browser can draw."""
    try:
        browser.found()
    except lw.ProgramError:
        pytest.skip("chromium is not installed")


def pixels(image: Any) -> np.ndarray:
    return np.asarray(image.convert("RGB")).astype(int)


def red(image: np.ndarray) -> np.ndarray:
    """Where the middle of what is red is: x, y."""
    r, g, b = np.moveaxis(image, -1, 0)
    y, x = np.nonzero((r > 90) & (r > 2 * g) & (r > 2 * b))
    assert len(x) > 20, "there is nothing red"
    return np.array([x.mean() + 0.5, y.mean() + 0.5])


def own_browsers() -> list[str]:
    """Folders of browsers that are still there, and processes that use one."""
    left = [p.name for p in Path(tempfile.gettempdir()).glob("linkwork-browser-*")]
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"linkwork-browser-" in file.read_bytes():
                left.append(str(file))
        except OSError:
            continue
    return left


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # tmp_path: made before
    """Whatever a test does, no browser and no folder of one is left."""
    folder = Path(tempfile.mkdtemp(prefix="t"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    left = [name for name in own_browsers() if not name.startswith("/proc")]
    mine = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _uses(p, folder)]
    assert (left, mine, list(folder.iterdir())) == ([], [], [])
    folder.rmdir()


def _uses(cmdline: Path, folder: Path) -> bool:
    try:
        return os.fsencode(folder) in cmdline.read_bytes()
    except OSError:
        return False


# --- what is in them ------------------------------------------------------------------------------


def test_a_picture_shows_the_robot_where_its_camera_says(drawn, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    arm = robot()
    made = arm.render(tmp_path / "arm.png", [0.7], size=SIZE, view=(-60.0, 25.0), show=["visual"])
    assert (made.size, made.n_frames, made.duration, made.messages) == (SIZE, 1, 0.0, ())
    seen = image.open(made.path)
    assert seen.size == SIZE
    shown = pixels(seen)
    expected = made.pixels(arm.fk([0.7], "tip")[:3, 3])
    assert np.abs(red(shown) - expected).max() < 2.0
    behind = np.array([0xF4, 0xF6, 0xF8])
    assert np.abs(shown[0, 0] - behind).max() < 3
    apart = np.abs(shown - behind).max(axis=-1) > 30
    rows, columns = np.nonzero(apart)
    w, h = SIZE
    assert rows.min() > 0.02 * h and rows.max() < 0.98 * h
    assert columns.min() > 0.02 * w and columns.max() < 0.98 * w
    assert max(np.ptp(rows) / h, np.ptp(columns) / w) > 0.6  # large, and nothing cut off
    assert list(made._repr_mimebundle_()) == ["text/plain", "image/png"]


@pytest.mark.slow
def test_a_gif_has_the_frames_and_the_time_of_its_motion(drawn, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    arm = robot()
    rows = np.linspace(-1.0, 1.0, 5)[:, None]
    made = arm.render(tmp_path / "a.gif", trajectory=rows, duration=0.5, fps=8, size=(120, 90))
    assert (made.n_frames, made.duration) == (5, pytest.approx(0.62, abs=0.011))
    film = image.open(made.path)
    assert film.n_frames == 5 and film.info["loop"] == 0
    times, places = 0.0, []
    for k in range(5):
        film.seek(k)
        times += film.info["duration"] / 1000.0
        places.append(red(pixels(film)))
    assert times == pytest.approx(made.duration)
    expected = made.pixels([arm.fk(q, "tip")[:3, 3] for q in rows])
    assert np.abs(np.array(places) - expected).max() < 2.0
    assert "image/gif" in made._repr_mimebundle_()["text/html"]


def test_an_object_moves_in_a_film_and_stays_in_the_picture(drawn, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    arm, scene = robot(), lw.Scene()
    scene.add_sphere("ball", 0.1, (1.0, 0.0, 0.1), rgba=(0.05, 0.8, 0.1, 1.0))

    def way(t: float) -> np.ndarray:
        return lw.pose([1.0 - 2.0 * t, 0.0, 0.1])

    made = arm.render(
        tmp_path / "a.gif", trajectory=[[0.0], [0.2]], duration=1.0, fps=2, size=SIZE, scene=scene,
        objects={"ball": way}, view="side",
    )  # fmt: skip
    film = image.open(made.path)
    assert film.n_frames == 3
    for k in range(3):
        film.seek(k)
        r, g, b = np.moveaxis(pixels(film), -1, 0)
        _, x = np.nonzero((g > 60) & (g > 1.6 * r) & (g > 1.6 * b))
        expected = made.pixels(way(0.5 * k)[:3, 3])
        assert len(x) > 20 and abs(x.mean() + 0.5 - expected[0]) < 3.0, (k, expected)
    with pytest.raises(lw.InputError, match="objects move in a film"):
        arm.render(tmp_path / "b.png", scene=scene, objects={"ball": way})


@pytest.mark.slow
def test_a_temporary_folder_with_a_long_path_is_none_for_sockets(drawn, tmp_path, monkeypatch):
    far = tmp_path / "a_folder_with_a_long_name_as_some_systems_have_them"
    far.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(far))
    assert robot().render(tmp_path / "arm.png", size=(120, 90)).path.exists()
    assert list(far.iterdir()) == []


@pytest.mark.slow
def test_what_is_missing_is_named_and_the_rest_is_there(drawn, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    lost = """<link name="cover"><visual><geometry><mesh filename="gone.stl"/></geometry></visual>
    </link><joint name="on" type="fixed"><parent link="base"/><child link="cover"/></joint>"""
    (tmp_path / "lost.urdf").write_text(MARKED.replace("{more}", lost))
    made = lw.load(tmp_path / "lost.urdf").render(
        tmp_path / "lost.png", size=(120, 90), background=None
    )
    assert any("gone.stl" in said for said in made.messages) and "gone.stl" in repr(made)
    seen = image.open(made.path)
    alpha = np.asarray(seen)[..., 3]
    assert seen.mode == "RGBA" and alpha[0, 0] < 40 and alpha.max() == 255
    red(pixels(seen))


@pytest.mark.slow
def test_an_mp4_is_read_as_it_was_made(drawn, tmp_path):
    av = pytest.importorskip("av", reason="av is not installed")
    arm = robot()
    rows = [[-1.0], [1.0]]
    made = arm.render(tmp_path / "a.mp4", trajectory=rows, duration=0.9, fps=10, size=SIZE)
    assert (made.n_frames, made.duration) == (10, 1.0)
    with av.open(str(made.path)) as film:
        shown = [f.to_ndarray(format="rgb24").astype(int) for f in film.decode(video=0)]
    assert len(shown) == 10 and shown[0].shape == (*SIZE[::-1], 3)
    assert all(np.abs(a - b).max() > 60 for a, b in pairwise(shown))
    assert np.abs(shown[0][2, 2] - [0xF4, 0xF6, 0xF8]).max() < 6  # colours are kept
    assert "video/mp4" in made._repr_mimebundle_()["text/html"]


@pytest.mark.slow
def test_loops_ghosts_and_more_robots_are_drawn(drawn, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    arm, beside = robot(), np.eye(4)
    beside[0, 3] = 1.5
    alone = arm.render(tmp_path / "1.png", size=SIZE, view="side")
    two = arm.render(
        tmp_path / "2.png",
        size=SIZE,
        view="side",
        ghost=[1.0],
        robots=[PageRobot(robot(), T_world_robot=beside)],
    )
    shown = pixels(image.open(two.path))
    for x in (0.0, 1.5):
        u, v = two.pixels([x, 0.0, 0.5]).round().astype(int)
        r, g, b = shown[v, u]
        assert r > 2 * g and r > 2 * b
    assert two.camera.eye[1] < alone.camera.eye[1]  # farther away: more is to be seen
    film = lw.load("four_bar").render(tmp_path / "f.gif", duration=0.4, fps=10, size=(96, 72))
    assert film.n_frames == 4


def test_pictures_are_taken_from_those_who_were_asked_for_them():
    taken: list[tuple[int, int]] = []

    def take(number: int, picture: bytes) -> None:
        if number:
            raise lw.InputError("not that one")
        taken.append((number, len(picture)))

    def post(server: PageServer, number: str, token: str, n: int) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        try:
            where = f"/picture?number={number}&token={token}"
            connection.request("POST", where, headers={"Content-Length": str(n)})
            if n <= 3_000_000 and token:
                connection.send(bytes(n))
            return connection.getresponse().status
        finally:
            connection.close()

    most = 2_000_000
    server = PageServer(lambda _: "", lambda _: {}, port=0, picture=take, largest=most)
    deaf = PageServer(lambda _: "", lambda _: {}, port=0)
    try:
        assert post(server, "0", server.token, most) == 204 and taken == [(0, most)]
        assert post(server, "1", server.token, 8) == 400
        assert post(server, "x", server.token, 8) == 400
        assert post(server, "0", server.token, 4_000_000) == 413  # refused before it is read
        assert post(server, "0", "", most) == 413  # a stranger's is no longer than a state
        assert post(server, "0", "", 0) == 403
        assert post(deaf, "0", deaf.token, 8) == 404
    finally:
        server.close()
        deaf.close()
    assert len(taken) == 1


# --- where nothing can be drawn -------------------------------------------------------------------


def test_without_a_browser_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWORK_RENDER_BROWSER", str(tmp_path / "none"))
    with pytest.raises(lw.ProgramError, match=r"no program of this.*Chromium, Chrome or Edge"):
        robot().render(tmp_path / "arm.png")
    monkeypatch.delenv("LINKWORK_RENDER_BROWSER")
    if sys.platform == "linux":
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(lw.ProgramError, match=r"robot\.plot\(\)\.save\('arm\.png'\)"):
            robot().render(tmp_path / "arm.png")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A browser that is a script of ours."""
    if os.name != "posix":
        pytest.skip("scripts are started otherwise here")

    def made(text: str) -> None:
        script = tmp_path / "fake"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("LINKWORK_RENDER_BROWSER", str(script))

    return made


def test_a_browser_that_draws_nothing_is_ended(fake, tmp_path):
    fake("echo strange weather >&2; sleep 60 & wait")
    (tmp_path / "arm.png").write_bytes(b"old")
    with pytest.raises(lw.ProgramError, match=r"(?s)nothing for 0\.4 s.*0 of 1.*strange weather"):
        robot().render(tmp_path / "arm.png", patience=0.4)
    assert (tmp_path / "arm.png").read_bytes() == b"old"


def test_a_browser_that_ends_by_itself_is_told_at_once(fake, tmp_path):
    fake("echo no room for a window >&2; exit 7")
    with pytest.raises(lw.ProgramError, match=r"(?s)status 7.*no room for a window"):
        robot().render(tmp_path / "arm.png")
    assert not (tmp_path / "arm.png").exists()


@pytest.mark.parametrize(
    ("name", "how", "match"),
    [
        ("a.jpg", {}, r"a\.jpg: a picture is written to \.png"),
        ("a.png", {"trajectory": [[0.0], [1.0]]}, "one picture"),
        ("a.gif", {"q": [0.0], "trajectory": [[0.0], [1.0]]}, "leave out q"),
        ("a.gif", {"fps": 60}, "50 pictures a second"),
        ("a.mp4", {"size": (101, 100)}, "even both ways"),
        ("a.mp4", {"background": None}, "not transparent"),
        ("a.mp4", {"duration": 1e6}, "lower fps"),
        ("a.png", {"size": 3}, "width, height"),
        ("a.png", {"size": (8, 100)}, "width of size"),
        ("a.png", {"background": "blueish"}, "must be a colour"),
        ("a.png", {"background": (0, 0, 2)}, "from 0 to 1"),
        ("a.png", {"patience": 0}, "patience"),
        ("a.png", {"q": [0.0, 1.0]}, "q"),
        ("a.png", {"view": "behind"}, "no view named"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_started(
    name, how, match, monkeypatch, tmp_path
):
    monkeypatch.setenv("LINKWORK_RENDER_BROWSER", str(tmp_path / "none"))
    with pytest.raises((lw.InputError, lw.UnknownNameError), match=match):
        robot().render(tmp_path / name, **how)
    assert not list(tmp_path.iterdir())
