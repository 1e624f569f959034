"""`linkwork show`: a page that is served until Ctrl-C, and files by their endings."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.live import Viewer
from pages import data_of

Q = "0.3 -0.2 0.1"


@pytest.fixture(name="page")
def _page(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command that serves a page, and give what the page shows; it is not waited for."""
    shown: list[Any] = []

    def read(viewer: Viewer, **_: Any) -> None:
        with urlopen(viewer.url) as answer:
            shown.append(data_of(answer.read().decode()))
        raise KeyboardInterrupt

    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    monkeypatch.setattr(Viewer, "wait", read)

    def call(*args: object) -> Any:
        result = cli(*args)
        assert result.exit_code == 0, result.output
        assert "is shown at http://127.0.0.1:" in result.stderr
        assert "Ctrl-C ends it" in result.stderr
        return shown.pop()

    return call


def test_the_page_shows_what_is_asked_for(page: Callable[..., Any]):
    data = page("show", "planar_3r", "--port", 0, "--q", Q, "--ghost", "joint2=0.5")
    (robot,) = data["robots"]
    assert robot["q"] == [0.3, -0.2, 0.1]
    assert robot["ghost"] == [0.0, 0.5, 0.0]
    assert data["options"]["units"] == "deg"
    assert data["options"]["show"] is None
    data = page(
        "show", "planar_3r", "--port", 0, "--deg", "--q", "joint1=90", "--rad", "--collision"
    )
    assert data["robots"][0]["q"] == [np.pi / 2, 0.0, 0.0]
    assert data["options"]["units"] == "rad"
    assert "collision" in data["options"]["show"]
    assert "visual" not in data["options"]["show"]


def test_robots_stand_beside_each_other(page: Callable[..., Any]):
    data = page("show", "planar_3r", "planar_2r", "planar_2r", "--port", 0)
    assert [robot["name"] for robot in data["robots"]] == ["planar_3r", "planar_2r", "planar_2r"]
    y = [robot["T_world_robot"][7] for robot in data["robots"]]
    assert y[0] == 0.0
    assert y[0] < y[1] - 0.3
    assert y[1] < y[2] - 0.3


def test_options_of_the_robot_count(page: Callable[..., Any]):
    data = page("show", "planar_3r", "--lock", "joint2=0.4", "--port", 0)
    assert [joint["name"] for joint in data["robots"][0]["joints"]] == ["joint1", "joint3"]


@pytest.mark.slow
def test_the_examples_in_the_help_work(
    page: Callable[..., Any], cli: Callable[..., Any], tmp_path: Path, monkeypatch: Any
):
    monkeypatch.chdir(tmp_path)
    lines = cli("show", "--help").stdout.partition("Examples:")[2].splitlines()
    examples = [shlex.split(line)[1:] for line in lines if line.strip().startswith("linkwork")]
    assert len(examples) > 2
    for words in examples:
        if "--out" in words:
            done = cli(*words)
            assert done.exit_code == 0
            assert f"written: {words[words.index('--out') + 1]}" in done.stderr
        else:
            assert page(*words)["robots"][0]["name"] == words[1]
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".html"}


def test_a_scene_stands_around(page: Callable[..., Any], cli: Callable[..., Any], tmp_path: Path):
    scene = lw.Scene()
    scene.add_sphere("ball", 0.1, [0.5, 0.0, 0.2])
    scene.to_yaml(tmp_path / "scene.yaml")
    data = page("show", "planar_2r", "--scene", tmp_path / "scene.yaml", "--port", 0)
    assert [each["name"] for each in data["scene"]["objects"]] == ["ball"]


# --- motions


def motion_files(folder: Path) -> dict[str, Path]:
    robot = lw.load("planar_3r")
    run = lw.simulate(robot, [0.1, 0.2, 0.3], duration=0.1)
    way = lw.trajectory.point_to_point(
        [0.1, 0.2, 0.3], [1.0, 1.0, 1.0], duration=0.1, joint_names=robot.joint_names
    )
    batch = lw.simulate(robot, [[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]], duration=0.1)
    files = {name: folder / name for name in ("run.npz", "run.csv", "way.npz", "way.csv")}
    for name, each in (("run", run), ("way", way)):
        each.save(files[f"{name}.npz"])
        each.save(files[f"{name}.csv"])
    for name in ("batch.npz", "batch.csv"):
        files[name] = folder / name
        batch.save(files[name])
    files["rows.npy"], files["rows.csv"] = folder / "rows.npy", folder / "rows.csv"
    np.save(files["rows.npy"], [[0.1, 0.2, 0.3], [1.0, 1.0, 1.0]])
    files["rows.csv"].write_text("joint3,joint1,joint2\n0.3,0.1,0.2\n1,1,1\n")
    return files


def test_motions_of_files_are_played(page: Callable[..., Any], tmp_path: Path):
    for name, file in motion_files(tmp_path).items():
        data = page("show", "planar_3r", "--trajectory", file, "--port", 0)
        played = data["trajectory"]
        np.testing.assert_allclose(played["q"][0], [0.1, 0.2, 0.3], atol=1e-12, err_msg=name)
        assert played["times"][0] == 0.0
        lasts = 3.0 if name.startswith("rows") else 0.1
        assert played["times"][-1] == pytest.approx(lasts, abs=2e-3), name
        assert data["robots"][0]["q"] == pytest.approx([0.1, 0.2, 0.3])


def test_a_duration_changes_the_pace(page: Callable[..., Any], tmp_path: Path):
    file = motion_files(tmp_path)["run.csv"]
    data = page("show", "planar_3r", "--trajectory", file, "--duration", 5, "--port", 0)
    assert data["trajectory"]["times"][-1] == pytest.approx(5.0)


def test_simulate_and_ik_show_what_they_found(page: Callable[..., Any]):
    data = page("simulate", "planar_3r", "--duration", 0.1, "--show")
    assert data["trajectory"]["times"][-1] == pytest.approx(0.1)
    data = page("ik", "planar_3r", "--target", "0.9 0.4 0", "--show", "--q0", "joint1=0.1")
    robot = lw.load("planar_3r")
    (shown,) = data["robots"]
    np.testing.assert_allclose(robot.fk(shown["q"])[:2, 3], [0.9, 0.4], atol=1e-4)
    assert shown["ghost"] == [0.1, 0.0, 0.0]


# --- files


def test_a_page_in_a_file(cli: Callable[..., Any], tmp_path: Path):
    out = tmp_path / "arm.html"
    result = cli("show", "planar_3r", "planar_2r", "--q", Q, "--rad", "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    data = data_of(out.read_text(encoding="utf-8"))
    assert data["live"] is None
    assert data["options"]["units"] == "rad"
    assert data["robots"][0]["q"] == [0.3, -0.2, 0.1]
    assert len(data["robots"]) == 2


@pytest.mark.parametrize(
    ("name", "start"), [("arm.svg", b"<svg"), ("arm.png", b"\x89PNG"), ("arm.glb", b"glTF")]
)
def test_drawings_and_models(cli: Callable[..., Any], tmp_path: Path, name: str, start: bytes):
    out = tmp_path / name
    result = cli("show", "planar_3r", "--q", Q, "--out", out)
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(start)


@pytest.mark.slow
def test_films_and_shaded_pictures(cli: Callable[..., Any], tmp_path: Path):
    pytest.importorskip("PIL", reason="pillow is not installed")
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    film, picture = tmp_path / "sweep.gif", tmp_path / "arm.png"
    result = cli("show", "planar_2r", "--duration", 0.3, "--out", film)
    assert result.exit_code == 0, result.output
    assert film.read_bytes().startswith(b"GIF8")
    result = cli("show", "planar_2r", "--q", "0.3 0.4", "--render", "--out", picture)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--out", "arm.doc"], r"must end in \.svg, \.png, \.html, \.glb, \.gif or \.mp4"),
        (["--out", "nowhere/arm.svg"], "no folder"),
        (["--q", Q, "--trajectory", "a.npz"], "not both"),
        (["--duration", 2], "give --trajectory too"),
        (["--render"], "--render is for --out with a .png"),
        (["panda", "--out", "arm.svg"], "shows one robot: leave out panda"),
        (["--ghost", Q, "--out", "arm.glb"], "no ghost"),
        (["--scene", "a.yaml", "--out", "arm.svg"], "no scene"),
        (["--port", 1, "--out", "arm.svg"], "leave out them or --out"),
        (["--trajectory", "missing.npz"], "cannot be read"),
        (["--trajectory", "missing.csv"], "cannot be read"),
        (["--trajectory", "way.txt"], "must end in"),
        (["--q", "1 2"], "--q takes 3 numbers"),
        (["--host", "no.such.name.invalid"], "no address of this machine"),
        (["--port", 99999], "65535"),
    ],
)
def test_wrong_options_are_refused(
    refused: Callable[..., str], args: list[object], text: str, tmp_path: Path, monkeypatch: Any
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    assert re.search(text, refused("show", "planar_3r", *args))
    assert not list(tmp_path.iterdir())


def test_files_that_hold_no_motion_are_refused(refused: Callable[..., str], tmp_path: Path):
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    np.save(tmp_path / "b.npy", np.zeros((4, 2)))
    (tmp_path / "c.csv").write_text("t,joint1\n0,0\n")
    (tmp_path / "d.csv").write_text("t,joint1,joint2,joint3\n0,0,0,0\n0,1,1,1\n")
    for name, text in (
        ("a.npz", "no arrays 'times' and 'q'"),
        ("b.npy", r"\(4, 2\)"),
        ("c.csv", "no column joint2, joint3"),
        ("d.csv", "increase"),
    ):
        assert re.search(text, refused("show", "planar_3r", "--trajectory", tmp_path / name))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_is_its_usual_end(process: Callable[..., Any]):
    started = process("show", "planar_3r", "--no-browser", "--port", 0)
    try:
        first, second = started.stderr.readline(), started.stderr.readline()
        url = re.search(r"http://\S+", first)[0]
        assert "Ctrl-C" in second
        with urlopen(url) as answer:
            assert answer.status == 200
        started.send_signal(signal.SIGINT)
        assert started.wait(20) == 0
        assert "Traceback" not in started.stderr.read()
    finally:
        started.kill()
        started.communicate()
