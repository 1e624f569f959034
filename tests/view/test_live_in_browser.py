"""A page that is tied to Python, in a real browser: it follows, it answers, it works on alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from browser import Browser
from linkwork.view.live import Viewer, view

pytestmark = pytest.mark.slow

ROBOT = lw.load("five_bar")

SLIDE = """
const slider = document.querySelectorAll("#panel input[type=range]")[arguments[0]];
slider.value = String(Number(slider.value) + arguments[1]);
slider.dispatchEvent(new Event("input", { bubbles: true }));
"""
Q = "return Array.from(linkwork.app.robots[arguments[0]].q)"


@pytest.fixture(name="viewer")
def _viewer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Viewer]:
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    with view(ROBOT, port=0) as made:
        yield made


def opened(browser: Browser, viewer: Viewer) -> None:
    browser.open(viewer.url)
    browser.settle()
    until(lambda: "1 page open" in repr(viewer))


def until(what: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.02)


def test_it_loads_without_a_word_and_asks_its_server_alone(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    assert browser.run("return linkwork.errors") == []
    assert browser.messages() == []
    start = viewer.url.split("?")[0]
    assert all(url.startswith(start) for url in browser.requests())


def test_what_python_sets_is_seen(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    before = browser.picture()
    q = ROBOT.assemble(viewer.q[[0, 2]] + 0.3, q0=viewer.q).q
    viewer.q = q
    until(lambda: np.allclose(browser.run(Q, 0), q))
    browser.settle()
    assert np.abs(browser.picture().astype(int) - before).max() > 50


def test_what_touches_is_said_and_painted(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    robot, scene = lw.load("panda"), lw.Scene()
    scene.add_cylinder("post", radius=0.05, length=1.2, pose=(0.45, 0.0, 0.6))
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    red = """
    const app = linkwork.app, own = app.robots[0];
    const on = (mesh) => mesh.material.emissive.r > 0.5;
    const name = (mesh) => own.data.links[mesh.userData.link];
    return [...new Set(own.view.meshes.visual.filter(on).map(name)),
      ...app.sceneMeshes.filter(on).map((m) => m.userData.sceneName)].sort()"""
    said = "return linkwork.app.touches.textContent"
    with view(robot, q, scene=scene, collision=True, port=0) as viewer:
        opened(browser, viewer)
        until(lambda: browser.run(said).startswith("link5 touches post, 84.5 mm deep"))
        assert browser.run(red) == ["link5", "link6", "post"]
        viewer.q = robot.neutral()
        until(lambda: browser.run(said) == "")
        assert browser.run(red) == [] and browser.run("return linkwork.app.touches.hidden")
        browser.run(SLIDE, 1, 60.0)
        until(lambda: "post" in browser.run(said))
        viewer.close()
        until(lambda: browser.run(said) == "")  # nobody looks any more
    assert browser.run("return linkwork.errors") == []


def test_objects_that_move_touch_where_they_are_seen(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    scene, q = lw.Scene(), ROBOT.assemble().q
    at = ROBOT.fk(q, "tool0")[:3, 3]
    scene.add_sphere("ball", 0.02, np.add(at, [0.0, 0.0, 1.0]))
    way = {"ball": lambda t: lw.pose(np.add(at, [0.0, 0.0, 1.0 - t]))}
    how: dict[str, Any] = {"scene": scene, "collision": True, "objects": way, "duration": 1.0}
    with ROBOT.animate([q, q], port=0, **how) as viewer:
        opened(browser, viewer)
        browser.run("linkwork.app.motion.go(1.0)")
        browser.wait("linkwork.app.touches.textContent.includes('touches ball')")
        browser.run("linkwork.app.motion.go(0.2)")
        browser.wait("linkwork.app.touches.hidden")


def test_what_is_held_is_seen_and_painted_by_itself(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LINKWORK_BROWSER", "0")
    robot, scene = lw.load("panda"), lw.Scene()
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    rod = lw.Scene().add_box("rod", (0.02, 0.02, 0.2))
    scene.add_sphere("ball", 0.03, robot.fk(q, "tool0") @ lw.pose([0.0, 0.0, 0.22]))
    holding = robot.with_attached("rod", rod, "tool0", (0.0, 0.0, 0.11), allowed=["link7"])
    red = """
    const app = linkwork.app, own = app.robots[0];
    const on = (mesh) => mesh.material.emissive.r > 0.5;
    const name = (mesh) => mesh.userData.held ?? own.data.links[mesh.userData.link];
    return [...new Set(own.view.meshes.visual.filter(on).map(name))].sort()"""
    said = "return linkwork.app.touches.textContent"
    with view(holding, q, scene=scene, collision=True, port=0) as viewer:
        opened(browser, viewer)
        until(lambda: browser.run(said).startswith("rod touches ball"))
        assert browser.run(red) == ["rod"]
        named = """
        const { tools, robots: [robot] } = linkwork.app, { stage } = tools;
        const rod = robot.view.meshes.visual.find((mesh) => mesh.userData.held === "rod");
        const middle = new THREE.Box3().setFromObject(rod).getCenter(new THREE.Vector3());
        const seen = stage.onScreen(middle);
        return tools.pick({ clientX: seen.x, clientY: seen.y }).name"""
        assert browser.run(named) == "rod"
    assert browser.run("return linkwork.errors") == []


def test_a_slider_moves_the_robot_here_with_its_loop_closed(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    before = viewer.q
    browser.run(SLIDE, 0, 5.0)
    until(lambda: not np.allclose(viewer.q, before, atol=1e-3))
    until(lambda: np.allclose(viewer.q, browser.run(Q, 0)))
    assert ROBOT.is_assembled(viewer.q)


def test_a_motion_is_played_and_followed(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    viewer.play(duration=4.0)
    browser.wait("linkwork.app.motion.playing")
    first = viewer.q
    until(lambda: np.abs(viewer.q - first).max() > 0.05)
    viewer.q = first  # what is set here stops it
    browser.wait("!linkwork.app.motion.playing")
    until(lambda: np.allclose(browser.run(Q, 0), first))


def test_a_robot_that_is_added_comes_to_stand_in_the_open_page(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    added = viewer.add(lw.load("planar_2r"), lw.pose([0.0, 1.0, 0.0]))
    browser.wait("window.linkwork && linkwork.ready && linkwork.app.robots.length === 2")
    added.q = [0.3, 0.4]
    until(lambda: browser.run(Q, 1) == [0.3, 0.4])
    assert browser.run("return linkwork.errors") == []


def test_when_python_has_gone_the_page_works_on(browser: Browser, viewer: Viewer):
    opened(browser, viewer)
    viewer.close()
    browser.wait("document.body.textContent.includes('Python has ended')")
    before = browser.run(Q, 0)
    browser.run(SLIDE, 0, 5.0)
    assert not np.allclose(browser.run(Q, 0), before)
    assert browser.run("return linkwork.errors") == []


@pytest.fixture(name="notebook")
def _notebook() -> Iterator[Callable[[str], str]]:
    """Gives the address of a page with a cell's output, on another port, as notebooks have."""
    cell = ""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(f"<!doctype html><body>{cell}</body>".encode())

        def log_message(self, *_: Any) -> None:
            pass

    def of(shown: str) -> str:
        nonlocal cell
        cell = shown
        return f"http://localhost:{server.server_port}/"

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield of
    server.shutdown()
    thread.join()
    server.server_close()


def test_in_a_notebook_the_page_is_tied_and_works_on(
    browser: Browser, viewer: Viewer, notebook: Callable[[str], str]
):
    browser.driver.get(notebook(viewer._repr_html_()))
    inner = "document.querySelector('iframe').contentWindow.linkwork"
    browser.wait(f"{inner} && {inner}.ready")
    until(lambda: "1 page open" in repr(viewer))
    before = viewer.q
    frame = browser.driver.find_element("css selector", "iframe")
    browser.driver.switch_to.frame(frame)
    try:
        browser.run(SLIDE, 0, 5.0)
        until(lambda: not np.allclose(viewer.q, before, atol=1e-3))
        viewer.q = before
        until(lambda: np.allclose(browser.run(Q, 0), before))
        viewer.close()
        browser.wait("document.body.textContent.includes('Python has ended')")
        browser.run(SLIDE, 0, 5.0)
        assert not np.allclose(browser.run(Q, 0), before)
    finally:
        browser.driver.switch_to.default_content()
