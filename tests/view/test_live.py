"""Robots in a page that is tied to Python: what is set here, what a page says, and its end."""

from __future__ import annotations

import html
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.view.live import Viewer, animate, view
from linkwork.view.page import PageRobot
from pages import data_of, page_of, until

ROBOT = lw.load("planar_3r")
HOME = ROBOT.neutral()
BOX: Any = lw.Scene().add_box("box", (1.0, 1.0, 1.0))  # an object, not a scene


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_BROWSER", "0")


@pytest.fixture(name="viewer")
def _viewer() -> Iterator[Viewer]:
    with view(ROBOT, port=0) as made:
        yield made


class Page:
    """A page that listens and speaks, without a browser."""

    def __init__(self, viewer: Viewer, name: str = "page"):
        found = urlsplit(viewer.url)
        self.query, self.name = f"?{found.query}", name
        self.address = (found.hostname, found.port)
        self.live = page_of(viewer)["live"]
        self.events = http.client.HTTPConnection(*self.address, timeout=10)
        self.events.request("GET", f"/events{self.query}&since={self.live['since']}&page={name}")
        self.stream = self.events.getresponse()
        assert self.stream.status == 200

    def next(self) -> Any:
        for line in iter(self.stream.readline, b""):
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def say(self, **state: Any) -> tuple[int, str]:
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        body = json.dumps({"page": self.name, **state})
        head = {"Content-Type": "application/json"}
        connection.request("POST", f"/state{self.query}", body, head)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def close(self) -> None:
        self.stream.close()
        self.events.close()


# --- what is set here is seen there


def test_what_is_set_goes_to_the_pages(viewer: Viewer):
    page = Page(viewer)
    viewer.q = HOME + 0.1
    assert page.next() == {"type": "q", "robot": 0, "q": (HOME + 0.1).tolist()}
    viewer.q = {"joint2": 0.5}
    assert page.next()["q"] == [0.0, 0.5, 0.0]
    np.testing.assert_array_equal(viewer.q, [0.0, 0.5, 0.0])
    viewer.ghost = HOME
    assert page.next() == {"type": "ghost", "robot": 0, "q": HOME.tolist()}
    viewer.ghost = None
    assert page.next()["q"] is None
    assert viewer.ghost is None
    page.close()


def test_a_page_that_is_opened_later_shows_what_there_is(viewer: Viewer):
    viewer.q = [0.1, 0.2, 0.3]
    viewer.ghost = [0.3, 0.2, 0.1]
    viewer.play([HOME, HOME + 1.0], duration=2.0)
    data = page_of(viewer)
    assert data["robots"][0]["q"] == [0.1, 0.2, 0.3]
    assert data["robots"][0]["ghost"] == [0.3, 0.2, 0.1]
    assert data["trajectory"]["times"] == [0.0, 2.0]
    assert data["live"]["token"] in viewer.url


def test_q_is_a_copy(viewer: Viewer):
    viewer.q[0] = 7.0
    given = np.zeros(3)
    viewer.q = given
    given[0] = 7.0
    assert viewer.q.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("q", "kind", "text"),
    [
        ([0.0, 0.0], ShapeError, r"\(\.\.\., 3\)"),
        ([0.0, np.nan, 0.0], InputError, "joint2"),
        (np.zeros((2, 3)), ShapeError, "one configuration"),
        ({"elbow": 1.0}, UnknownNameError, "no joint named 'elbow'"),
        ("home", InputError, "real numbers"),
    ],
)
def test_what_is_no_configuration_changes_nothing(
    viewer: Viewer, q: Any, kind: type[Exception], text: str
):
    with pytest.raises(kind, match=text):
        viewer.q = q
    with pytest.raises(kind):
        viewer.ghost = q
    with pytest.raises(kind):
        view(ROBOT, q, port=0)
    np.testing.assert_array_equal(viewer.q, HOME)


@pytest.mark.parametrize(
    "how",
    [{"units": "turns"}, {"show": ["everything"]}, {"height": 3}, {"presets": {"up": [1.0]}},
     {"host": "no.such.name.invalid"}, {"scene": BOX}, {"scene": [BOX]}, {"robots": [ROBOT]},
     {"robots": PageRobot(ROBOT)}],
)  # fmt: skip
def test_wrong_options_open_nothing(how: dict[str, Any]):
    before = threading.active_count()
    with pytest.raises((InputError, TypeError)):
        view(ROBOT, **how)
    assert threading.active_count() == before


def test_what_is_no_scene_robot_or_function_changes_nothing(viewer: Viewer):
    bad: Any = 3
    with pytest.raises(InputError, match="scene must be a Scene or None, not SceneObject"):
        viewer.scene = BOX
    with pytest.raises(InputError, match=r"a Robot is needed, as linkwork\.load gives it, not 3"):
        viewer.add(bad)
    with pytest.raises(InputError, match="takes a function of the robot, not 3"):
        viewer.on_change(bad)
    assert viewer.scene is None
    viewer.add(ROBOT)
    assert [each.robot for each in viewer.robots] == [ROBOT, ROBOT]
    for port in (-1, 70_000, 80.5):
        with pytest.raises(InputError, match="port must be a whole number from 0 to 65535"):
            view(ROBOT, port=port)  # type: ignore[arg-type]


def test_a_trajectory_is_played_at_once(viewer: Viewer):
    page = Page(viewer)
    viewer.play({"joint1": [0.0, 1.0, 0.0]}, duration=3.0)
    played = page.next()
    assert (played["type"], played["robot"], played["loop"]) == ("trajectory", 0, True)
    assert played["times"] == [0.0, 1.5, 3.0]
    assert played["q"] == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    with pytest.raises(InputError, match="robot"):
        viewer.play(robot=1)
    page.close()


def test_animate_begins_at_the_beginning():
    way = lw.trajectory.point_to_point(HOME + 0.2, HOME + 1.0, duration=1.0)
    with animate(ROBOT, way, port=0, units="rad") as viewer:
        data = page_of(viewer)
    np.testing.assert_allclose(data["robots"][0]["q"], HOME + 0.2)
    np.testing.assert_allclose(data["trajectory"]["q"][-1], HOME + 1.0)
    assert data["options"]["units"] == "rad"
    with ROBOT.animate(port=0) as viewer:  # from limit to limit
        assert page_of(viewer)["trajectory"]["loop"]


def test_a_simulation_is_shown_with_the_shapes_of_its_robot():
    robot = lw.load("planar_2r")
    run = lw.simulate(robot, [[0.1, 0.2], [0.3, 0.4]], duration=0.1)
    with run.animate(row=1, port=0) as viewer:
        data = page_of(viewer)
    assert data["robots"][0]["parts"]
    assert data["trajectory"]["q"][0] == [0.3, 0.4]
    assert data["trajectory"]["times"][-1] == pytest.approx(0.1)


def test_a_scene_goes_to_the_pages_and_moves(viewer: Viewer):
    page = Page(viewer)
    scene = lw.Scene()
    scene.add_box("table", [1.0, 1.0, 0.1], [0.5, 0.0, 0.2])
    viewer.scene = scene
    told = page.next()
    (table,) = told["scene"]["objects"]
    assert (told["type"], table["name"], table["T"][3::4]) == ("scene", "table", [0.5, 0.0, 0.2])
    scene.move("table", [0.6, 0.0, 0.2])
    viewer.scene = scene
    assert page.next()["scene"]["objects"][0]["T"][3] == 0.6
    assert page_of(viewer)["scene"]["objects"][0]["T"][3] == 0.6
    viewer.scene = None
    assert page.next()["scene"] is None
    page.close()


def test_objects_move_until_their_scene_is_set_anew():
    scene = lw.Scene()
    scene.add_sphere("ball", 0.05, (0.5, 0.0, 0.0))
    how: dict[str, Any] = {"duration": 1.0, "objects": {"ball": lambda t: lw.pose([0.5, t, 0.0])}}
    rows = np.stack([HOME, HOME])
    with ROBOT.animate(rows, scene=scene, port=0, **how) as viewer:
        moved = page_of(viewer)["trajectory"]["objects"]["ball"]
        assert len(moved) == 61 and moved[-1][7] == pytest.approx(1.0)
        viewer.scene = scene
        assert page_of(viewer)["trajectory"]["objects"] == {}
        with pytest.raises(lw.UnknownNameError, match="nearest: ball"):
            viewer.play(rows, objects={"bowl": lambda t: np.eye(4)})


@pytest.mark.slow
def test_what_touches_is_told_of_objects_where_they_are_seen():
    scene, tip = lw.Scene(), ROBOT.fk(HOME, "tool0")[:3, 3]
    scene.add_sphere("ball", 0.03, np.add(tip, [0.0, 1.0, 0.0]))
    rows = np.stack([HOME, HOME])
    way = {"ball": lambda t: lw.pose(np.add(tip, [0.0, 1.0 - t, 0.0]))}
    how: dict[str, Any] = {"scene": scene, "collision": True, "duration": 2.0, "objects": way}
    with ROBOT.animate(rows, port=0, **how) as viewer:
        until(lambda: page_of(viewer)["touches"] is not None)
        assert page_of(viewer)["touches"]["pairs"] == []
        page = Page(viewer)
        for instant, touched in ((1.0, ["ball"]), (0.2, []), (1.01, ["ball"]), (None, [])):
            page.say(robot=0, q=HOME.tolist(), instant=instant)
            told = next(said for said in iter(page.next, None) if said["type"] == "touches")
            assert sorted({b for _, b, _ in told["pairs"]}) == touched
        assert page.say(robot=0, q=HOME.tolist(), instant="late")[0] == 400
        assert np.allclose(scene.get("ball").T_world_object[:3, 3], np.add(tip, [0.0, 1.0, 0.0]))
        page.close()


@pytest.mark.slow
def test_what_touches_is_told_wherever_the_robot_is():
    scene, tip = lw.Scene(), ROBOT.fk(HOME, "tool0")[:3, 3]
    scene.add_sphere("ball", 0.03, tip)
    model = ROBOT.collision()
    with view(ROBOT, scene=scene, collision=model, port=0) as viewer:
        until(lambda: page_of(viewer)["touches"] is not None)
        found = page_of(viewer)["touches"]
        near = model.clearance(HOME, scene)
        assert found["robot"] == 0 and found["count"] == len(found["pairs"]) >= 1
        assert found["pairs"][0] == [*near.names, -float(near.distance)]
        page = Page(viewer)
        away = np.add(HOME, [1.0, 0.0, 0.0])
        assert not model.collides(away, scene)
        viewer.q = away
        assert page.next()["type"] == "q"
        told = {"type": "touches", "robot": 0, "pairs": [], "count": 0}
        assert page.next() == told
        page.say(robot=0, q=HOME.tolist())  # the user puts it back
        assert page.next() == {"type": "touches", **found}
        scene.remove("ball")
        viewer.scene = scene
        assert page.next()["type"] == "scene"
        assert page.next() == told
        page.close()
    with view(ROBOT, scene=scene, port=0) as viewer:
        assert page_of(viewer)["touches"] is None
    with pytest.raises(InputError, match="collision is True or a model"):
        view(ROBOT, collision="yes", port=0)  # type: ignore[arg-type]


def test_what_cannot_be_shown_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Any):
    visual = '<visual><geometry><mesh filename="m{}.stl"/></geometry></visual>'
    links = "".join(visual.format(k) for k in range(5))
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{links}</link></robot>')
    with view(lw.load(tmp_path / "r.urdf"), port=0) as viewer:
        told = viewer.messages
        assert all(any(f"m{k}.stl" in text for text in told) for k in range(5))
        assert any("its skeleton is shown" in text for text in told)
        more = len(told) - 3
        told = capsys.readouterr().err
        assert "m0.stl" in told
        assert f"and {more} more, which the page lists" in told


# --- several robots


def test_several_robots_each_have_their_place():
    other, T = lw.load("planar_2r"), lw.pose([0.0, 1.0, 0.0])
    with view(ROBOT, robots=[PageRobot(other, T_world_robot=T)], port=0) as viewer:
        page = Page(viewer)
        data = page_of(viewer)
        assert [robot["name"] for robot in data["robots"]] == ["planar_3r", "planar_2r"]
        np.testing.assert_allclose(np.reshape(data["robots"][1]["T_world_robot"], (3, 4)), T[:3])
        viewer.robots[1].q = [0.4, 0.5]
        assert page.next() == {"type": "q", "robot": 1, "q": [0.4, 0.5]}
        added = viewer.add(other, lw.pose([0.0, 2.0, 0.0]), [0.1, 0.1])
        assert page.next() == {"type": "replace"}
        assert viewer.robots[2] is added
        added.q = [0.2, 0.2]
        assert page.next()["robot"] == 2
        data = page_of(viewer)
        assert [robot["q"] for robot in data["robots"]] == [HOME.tolist(), [0.4, 0.5], [0.2, 0.2]]
        page.close()


# --- what a page says


def test_what_the_user_moves_is_known_here_and_in_the_other_pages(viewer: Viewer):
    one, other = Page(viewer, "one"), Page(viewer, "other")
    assert one.say(robot=0, q=[0.1, 0.2, 0.3]) == (204, "")
    np.testing.assert_array_equal(viewer.q, [0.1, 0.2, 0.3])
    assert other.next() == {"type": "q", "robot": 0, "q": [0.1, 0.2, 0.3], "page": "one"}
    viewer.q = HOME
    assert "page" not in one.next()  # its own did not come back
    one.close()
    other.close()


@pytest.mark.parametrize(
    "state",
    [
        {"q": [0.0, 0.0, 0.0]},
        {"robot": 1, "q": [0.0, 0.0, 0.0]},
        {"robot": -1, "q": [0.0, 0.0, 0.0]},
        {"robot": True, "q": [0.0, 0.0, 0.0]},
        {"robot": "0", "q": [0.0, 0.0, 0.0]},
        {"robot": 0},
        {"robot": 0, "q": None},
        {"robot": 0, "q": [0.0, 0.0]},
        {"robot": 0, "q": [[0.0, 0.0, 0.0]]},
        {"robot": 0, "q": [0.0, "x", 0.0]},
        {"robot": 0, "q": [0.0, float("nan"), 0.0]},
        {"robot": 0, "q": {"joint1": 0.0}},
    ],
)
def test_a_state_that_is_none_is_refused(viewer: Viewer, state: dict[str, Any]):
    page = Page(viewer)
    status, text = page.say(**state)
    assert status == 400
    assert text
    np.testing.assert_array_equal(viewer.q, HOME)
    page.close()


def test_quaternions_of_a_page_have_length_one():
    robot = lw.load("planar_2r", base="floating")
    q = robot.neutral()
    with view(robot, port=0) as viewer:
        page = Page(viewer)
        assert page.say(robot=0, q=q.tolist())[0] == 204
        q[3] = 2.0
        status, text = page.say(robot=0, q=q.tolist())
        assert status == 400
        assert "quaternion" in text
        page.close()


def test_callbacks_hear_of_moves_in_a_thread_of_their_own(viewer: Viewer):
    heard: list[Any] = []
    viewer.on_change(lambda shown: heard.append((threading.current_thread().name, shown.q)))
    page = Page(viewer)
    viewer.q = [0.5, 0.5, 0.5]  # set here: nobody is told
    page.say(robot=0, q=[0.1, 0.2, 0.3])
    until(lambda: heard)
    (thread, q), *more = heard
    assert not more
    assert q.tolist() == [0.1, 0.2, 0.3]
    assert thread != threading.current_thread().name
    page.close()


def test_a_slow_callback_hears_the_newest(viewer: Viewer):
    heard: list[float] = []
    go_on = threading.Event()

    def slow(shown: Any) -> None:
        heard.append(float(shown.q[0]))
        go_on.wait(5.0)

    viewer.on_change(slow)
    page = Page(viewer)
    for k in range(10):
        page.say(robot=0, q=[k / 10, 0.0, 0.0])
    go_on.set()
    until(lambda: heard[-1:] == [0.9])  # nothing may have been heard yet
    assert len(heard) <= 3
    page.close()


def test_a_callback_that_fails_is_told_of_and_does_not_end_it(
    viewer: Viewer, capsys: pytest.CaptureFixture[str]
):
    heard: list[Any] = []

    def broken(shown: Any) -> None:
        heard.append(shown)
        raise RuntimeError("the lamp is broken")

    viewer.on_change(broken)
    page = Page(viewer)
    page.say(robot=0, q=[0.1, 0.0, 0.0])
    until(lambda: len(heard) == 1)
    page.say(robot=0, q=[0.2, 0.0, 0.0])
    until(lambda: len(heard) == 2)
    until(lambda: "the lamp is broken" in capsys.readouterr().err)
    page.close()


# --- its address, and its end


def test_the_address_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    with view(ROBOT, port=0) as viewer:
        told = capsys.readouterr().err.splitlines()
        assert told[0] == f"linkwork: planar_3r is shown at {viewer.url}"
        assert f"ssh -L {urlsplit(viewer.url).port}:127.0.0.1:" in told[1]
        assert viewer.url in repr(viewer)
        assert "0 pages open" in repr(viewer)
        with view(ROBOT, port=urlsplit(viewer.url).port) as other:
            assert re.search(r"port \d+ is taken: port \d+ is used", capsys.readouterr().err)
            assert page_of(other)["live"]["token"] != page_of(viewer)["live"]["token"]
    with view(ROBOT, port=0, host="0.0.0.0"):
        told = capsys.readouterr().err
        assert f"can see and move the robot at http://{socket.gethostname()}:" in told


def test_a_browser_is_opened_where_it_is_seen(monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)) or True)
    monkeypatch.setenv("LINKWORK_BROWSER", "1")
    with view(ROBOT, port=0) as viewer:
        assert opened == [viewer.url]
        assert viewer.browser
    with view(ROBOT, port=0, open=False) as viewer:
        assert not viewer.browser
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    with view(ROBOT, port=0, open=True):
        pass
    assert len(opened) == 2


def test_closing_leaves_nothing_behind():
    before = set(threading.enumerate())
    with view(ROBOT, port=0) as viewer:
        viewer.on_change(print)
        page = Page(viewer)
    assert page.next() == {"type": "close"}
    assert page.next() is None
    assert set(threading.enumerate()) == before
    assert viewer.closed
    assert repr(viewer) == "Viewer(planar_3r: closed)"
    viewer.q = HOME + 0.1  # heard by nobody
    viewer.close()
    viewer.wait()
    page.close()


def test_waiting_ends_when_another_thread_closes(viewer: Viewer):
    threading.Timer(0.1, viewer.close).start()
    viewer.wait()
    assert viewer.closed


ENDS_AT_ONCE = """
import subprocess, sys, threading, webbrowser
import linkwork as lw

READ = '''
import sys, time
from urllib.request import urlopen
time.sleep(0.3)  # a browser takes its time
with urlopen(sys.argv[1]) as page:
    print(len(page.read()) > 100_000)
'''

def browse(url):
    subprocess.Popen([sys.executable, "-c", READ, url])
    return True

webbrowser.open = browse
before = threading.active_count()
robot = lw.load("planar_3r")
assert threading.active_count() == before
robot.view(open=True, port=0)
"""


@pytest.mark.slow
def test_a_program_that_ends_lets_the_browser_have_the_page():
    done = subprocess.run(
        [sys.executable, "-c", ENDS_AT_ONCE],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"
    assert "Traceback" not in done.stderr


def test_moving_a_robot_is_cheap():
    robot = lw.load("humanoid")
    rows = robot.random(60, seed=1)
    with view(robot, port=0) as viewer:
        page = Page(viewer)
        start = time.process_time()
        for q in rows:
            viewer.q = q
            time.sleep(1.0 / 120.0)
        spent = time.process_time() - start  # of all threads
        page.close()
    assert spent / len(rows) < 0.003


# --- notebooks


def test_a_notebook_holds_a_page_that_is_tied_to_python(viewer: Viewer):
    shown = viewer._repr_html_()
    source = html.unescape(re.search(r'<iframe srcdoc="([^"]*)"', shown)[1])
    live = data_of(source)["live"]
    assert live["url"] == f"http://127.0.0.1:{urlsplit(viewer.url).port}"
    head = {"Content-Type": "application/json", "Origin": "http://localhost:8888"}
    connection = http.client.HTTPConnection(*live["url"][7:].split(":"), timeout=10)
    body = json.dumps({"robot": 0, "q": [0.1, 0.2, 0.3]})
    connection.request("POST", f"/state?token={live['token']}", body, head)
    assert connection.getresponse().status == 204
    connection.close()
    assert viewer.q.tolist() == [0.1, 0.2, 0.3]
    assert f"height:{600}px" in shown
    viewer.close()
    assert data_of(html.unescape(viewer._repr_html_()))["live"] is None


def test_ipython_shows_the_page_where_a_cell_ends(viewer: Viewer):
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(viewer)
    assert shown["text/html"].startswith("<iframe")
    assert viewer.url in shown["text/plain"]


CELLS = """
import linkwork as lw
viewer = lw.load("planar_2r").view(port=0)
viewer
----
from urllib.request import urlopen
viewer.q = [0.3, 0.4]
len(urlopen(viewer.url).read()) > 100_000
----
viewer.close()
viewer
"""


@pytest.mark.slow
def test_a_real_notebook_shows_the_page_in_its_cells():
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS.split("----")]
    # a notebook says itself where it is shown: no browser is opened, and no address is told
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    first, second, third = (cell.outputs for cell in book.cells)
    assert [output.output_type for output in first] == ["execute_result"]
    assert data_of(html.unescape(first[0].data["text/html"]))["live"]["token"]
    assert second[0].data["text/plain"] == "True"
    assert data_of(html.unescape(third[0].data["text/html"]))["live"] is None


def test_a_robot_may_be_taken_away_again(viewer: Viewer):
    first, second, third = viewer.robots[0], viewer.add(ROBOT), viewer.add(lw.load("scara"))
    page = Page(viewer)
    viewer.play(robot=2)
    viewer.remove(second)
    assert viewer.robots == (first, third)
    made = page_of(viewer)
    assert [each["name"] for each in made["robots"]] == ["planar_3r", "scara"]
    assert made["trajectory"]["robot"] == 1
    third.q = [0.1, 0.2, 0.05, 0.3]
    second.q = HOME + 0.5  # in no page any more
    told = page.next()
    while told["type"] != "q":
        told = page.next()
    assert (told["robot"], told["q"]) == (1, [0.1, 0.2, 0.05, 0.3])
    viewer.remove(third)
    assert page_of(viewer)["trajectory"] is None
    assert viewer.open_pages == 1
    for gone in (third, first):
        with pytest.raises(InputError):
            viewer.remove(gone)
