"""The page in a real browser: seen, moved and measured there, against the robot in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from browser import Browser
from linkwork.view.page import SHOWN, PageRobot
from seeds import rng

REFERENCES = Path(__file__).with_name("references")

# Where the tip of an arrow of the handle is on the screen: 0, 1, 2 for x, y, z
ARROW = """
const { tools, stage } = linkwork.app, k = arguments[0];
const far = stage.camera.position.distanceTo(tools.target.position);
const unit = far * Math.tan(stage.camera.fov * Math.PI / 360) * 2 * 0.85 / 7;
const tip = tools.target.position.clone();
tip.setComponent(k, tip.getComponent(k) + 0.75 * unit * arguments[1]);
const seen = stage.onScreen(tip);
return [seen.x, seen.y];
"""
FRAME_ON_SCREEN = """
const { stage, robot } = linkwork.app;
const seen = stage.onScreen(robot.view.framePoint(robot.data.frames.indexOf(arguments[0])));
return [seen.x, seen.y];
"""


def choose_motion(browser: Browser, value: str) -> None:
    """Choose a motion from the page's list, as a click does."""
    browser.run(
        "const list = linkwork.app.motion.source; list.value = arguments[0];"
        "list.dispatchEvent(new Event('change'))",
        value,
    )


def opened(browser: Browser, robot: lw.Robot, folder: Path, **how: Any) -> None:
    path = folder / "page.html"
    robot.export_html(path, **how)
    browser.open(path)
    browser.settle()
    assert browser.run("return linkwork.errors") == []


def pose(browser: Browser, frame: str) -> NDArray[np.float64]:
    numbers = browser.run("return linkwork.robots[0].framePose(arguments[0])", frame)
    return np.vstack([np.reshape(numbers, (3, 4)), [0, 0, 0, 1]])


def q_of(browser: Browser) -> NDArray[np.float64]:
    return np.array(browser.run("return linkwork.robots[0].q"))


def stage_pixels(browser: Browser) -> NDArray[np.int64]:
    """The pixels of the view, without panel and bars."""
    return browser.picture()[60:520, 20:560].astype(np.int64)


def test_a_robot_is_seen_moved_and_asks_for_nothing(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_3r")
    opened(browser, robot, tmp_path)
    with_robot = stage_pixels(browser)
    browser.run("linkwork.app.toggle('visual')")
    browser.settle()
    changed = np.abs(with_robot - stage_pixels(browser)).sum(axis=2) > 30
    assert 0.005 < changed.mean() < 0.5
    browser.run("linkwork.app.toggle('visual')")
    # a slider is moved as a user does: by the keyboard
    slider = browser.driver.find_element("css selector", f"[aria-label={robot.joint_names[0]}]")
    slider.send_keys(*["\ue014"] * 5)
    browser.settle()
    q = q_of(browser)
    assert q[0] > 0
    np.testing.assert_array_equal(q[1:], robot.neutral()[1:])
    np.testing.assert_allclose(pose(browser, robot.tip), robot.fk(q), atol=1e-9)
    assert browser.messages() == []
    assert browser.requests() == []
    frames = browser.run("return linkwork.app.stage.framesDrawn")
    browser.settle()
    assert browser.run("return linkwork.app.stage.framesDrawn") == frames


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "humanoid", "five_bar", "stewart", "mobile_arm"])
def test_frames_are_where_python_has_them(name: str, browser: Browser, tmp_path: Path):
    robot = lw.load(name)
    opened(browser, robot, tmp_path)
    random = rng(f"browser {name}")
    for _ in range(3):
        q = robot.integrate(robot.neutral(), random.uniform(-0.6, 0.6, robot.n_v))
        browser.run("linkwork.robots[0].setQ(arguments[0])", q.tolist())
        poses = browser.run(
            "const [robot] = linkwork.robots;"
            "return linkwork.app.robot.data.frames.map((name) => robot.framePose(name))"
        )
        wanted = robot.fk_all(q)[:, :3]
        np.testing.assert_allclose(np.reshape(poses, (-1, 3, 4)), wanted, atol=1e-9)


@pytest.mark.slow
def test_a_loop_stays_closed_while_its_crank_turns(browser: Browser, tmp_path: Path):
    robot = lw.load("four_bar")
    opened(browser, robot, tmp_path)
    crank = robot.actuated[0]
    index = robot.joint_names.index(crank)
    start = q_of(browser)[index]
    for angle in np.linspace(0.0, 2 * np.pi, 73)[1:]:
        browser.run(
            "linkwork.app.setIgnoreLimits(true);"
            "linkwork.app.setJoint(linkwork.app.robot.data.joints.findIndex("
            "(joint) => joint.name === arguments[0]), [arguments[1]])",
            crank, start + angle,
        )  # fmt: skip
        q = q_of(browser)
        assert q[index] == pytest.approx(start + angle, abs=1e-9)
        assert np.abs(robot.closure(q)).max() < 1e-6


@pytest.mark.slow
def test_the_handle_is_dragged_with_the_mouse(browser: Browser, tmp_path: Path):
    robot = lw.load("panda")
    q0 = np.array([0.2, 0.1, 0.1, -1.8, 0.2, 1.9, 0.5])
    opened(browser, robot, tmp_path, q=q0)
    browser.run("linkwork.app.tools.grab('tool0')")
    browser.settle()
    before = pose(browser, "tool0")
    x, y = browser.run(ARROW, 2, 1)
    browser.drag((x, y), (x, y - 40))
    assert browser.run("return linkwork.app.sentence.textContent") == "tool0: reached"
    q, after = q_of(browser), pose(browser, "tool0")
    assert np.abs(q - q0).max() > 0.02
    assert after[2, 3] - before[2, 3] > 0.02
    np.testing.assert_allclose(after[:2, 3], before[:2, 3], atol=2e-4)
    np.testing.assert_allclose(after[:3, :3], before[:3, :3], atol=2e-3)
    np.testing.assert_allclose(after, robot.fk(q, "tool0"), atol=1e-6)
    assert browser.messages() == []
    browser.drag((x, y - 40), (x, 20), steps=20)
    browser.drag((x, 20), (x, 0), steps=2)
    said = browser.run("return linkwork.app.sentence.textContent")
    assert "tool0: " in said


@pytest.mark.slow
def test_out_of_reach_is_said_in_millimetres(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_2r")
    opened(browser, robot, tmp_path, q=[0.4, 0.8])
    reach = np.linalg.norm(robot.fk([0.0, 0.0])[:3, 3])
    browser.run(
        "const { stage, tools } = linkwork.app, { camera, orbit } = stage;"
        "camera.position.sub(orbit.target).multiplyScalar(2.5).add(orbit.target); orbit.update();"
        "tools.grab(arguments[0])",
        robot.tip,
    )
    browser.settle()
    x, y = browser.run(ARROW, 0, 1)
    origin = np.array(browser.run(FRAME_ON_SCREEN, robot.tip))
    way = np.array([x, y]) - origin
    end = np.array([x, y]) + 1.6 * way
    for _ in range(2):
        browser.drag((x, y), tuple(end), steps=10)
        x, y = browser.run(ARROW, 0, 1)
        end = np.array([x, y]) + 1.6 * way
    said = browser.run("return linkwork.app.sentence.textContent")
    assert "out of reach by" in said and "mm" in said
    p = robot.fk(q_of(browser))[:3, 3]
    assert np.linalg.norm(p) == pytest.approx(reach, rel=2e-3)


@pytest.mark.slow
def test_a_link_is_pulled_and_named(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_3r")
    opened(browser, robot, tmp_path, q=[0.3, 0.5, 0.5])
    joint = robot.joint_names[1]
    link = browser.run("return linkwork.app.robot.data.links[2]")
    a = np.array(browser.run(FRAME_ON_SCREEN, link))
    b = np.array(
        browser.run(FRAME_ON_SCREEN, browser.run("return linkwork.app.robot.data.links[3]"))
    )
    middle = 0.5 * (a + b)
    browser.mouse("mouseMoved", *middle)
    browser.settle()
    assert joint in browser.run("return linkwork.app.tools.label.textContent")
    assert browser.run(
        "return document.querySelector('.joint.hot')?.dataset.joint"
    ) == joint  # fmt: skip
    browser.drag(tuple(middle), (middle[0] - 25, middle[1] - 25))
    q = q_of(browser)
    assert abs(q[1] - 0.5) > 0.02
    np.testing.assert_array_equal(q[[0, 2]], [0.3, 0.5])


@pytest.mark.slow
def test_two_points_are_measured(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_2r")
    opened(browser, robot, tmp_path, q=[0.3, 0.9])
    browser.run("linkwork.app.tools.measure(true)")
    for frame in browser.run("return linkwork.app.robot.data.links.slice(1, 3)"):
        browser.click(*browser.run(FRAME_ON_SCREEN, frame))
    measured = browser.run("return linkwork.app.tools.measured")
    assert measured["distance"] == pytest.approx(np.linalg.norm(measured["d"]))
    p = [robot.fk([0.3, 0.9], name)[:3, 3] for name in robot.link_names[1:3]]
    # what is clicked is the surface above the joint
    assert measured["distance"] == pytest.approx(np.linalg.norm(p[1] - p[0]), rel=0.15)
    assert "mm" in browser.run("return linkwork.app.sentence.textContent")


@pytest.mark.slow
def test_a_trajectory_plays_to_where_it_ends(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_2r")
    rows = np.linspace([0.0, 0.0], [1.0, -0.5], 11)
    opened(browser, robot, tmp_path, trajectory=rows)
    browser.run("linkwork.app.motion.go(1.5)")
    np.testing.assert_allclose(q_of(browser), [0.5, -0.25], atol=1e-9)
    browser.run("linkwork.app.motion.speed = 4; linkwork.app.motion.play()")
    browser.wait("!linkwork.app.motion.playing")
    np.testing.assert_allclose(q_of(browser), [1.0, -0.5], atol=1e-9)
    browser.settle()


@pytest.mark.slow
def test_an_object_of_the_scene_moves_with_a_trajectory(browser: Browser, tmp_path: Path):
    robot, scene = lw.load("planar_2r"), lw.Scene()
    scene.add_box("part", (0.1, 0.2, 0.3), lw.pose([0.5, 1.0, 0.2], rpy=[0.0, 0.0, 0.4]))
    scene.add_sphere("ball", 0.1, (0.5, -1.0, 0.2))

    def way(t: float) -> NDArray[np.float64]:
        return lw.pose([0.5 - 0.2 * t, 1.0, 0.2 + 0.1 * t], rpy=[0.0, 0.0, 0.4 + 0.5 * t])

    place = """const { sceneMeshes } = linkwork.app;
    const mesh = sceneMeshes.find((m) => m.userData.sceneName === arguments[0]);
    mesh.updateMatrixWorld();
    return mesh.matrixWorld.clone().transpose().elements"""
    rows = np.linspace([0.0, 0.0], [1.0, -0.5], 3)
    opened(browser, robot, tmp_path, trajectory=rows, scene=scene, objects={"part": way})
    for t in (0.0, 1.5, 3.0, 0.61):
        browser.run("linkwork.app.motion.go(arguments[0])", t)
        D = np.reshape(browser.run(place, "part"), (4, 4))
        np.testing.assert_allclose(D @ way(0.0), way(t), atol=2e-4)  # linear between its instants
        np.testing.assert_array_equal(np.reshape(browser.run(place, "ball"), (4, 4)), np.eye(4))
    choose_motion(browser, "all")
    browser.run("linkwork.app.motion.go(0.5)")
    np.testing.assert_array_equal(np.reshape(browser.run(place, "part"), (4, 4)), np.eye(4))
    assert browser.run("return linkwork.errors") == []


@pytest.mark.slow
def test_a_sweep_of_a_closed_robot_stays_closed(browser: Browser, tmp_path: Path):
    robot = lw.load("five_bar")
    opened(browser, robot, tmp_path)
    choose_motion(browser, "all")
    rows = np.array(browser.run("return linkwork.app.motion.motion.q"))
    assert np.abs(robot.closure(rows)).max() < 1e-6
    swept = np.ptp(rows, axis=0)
    for name in robot.actuated:
        assert swept[robot.joint_names.index(name)] > 1.0


@pytest.mark.slow
def test_the_configuration_as_python(browser: Browser, tmp_path: Path):
    robot = lw.load("panda")
    q = np.array([0.2, 0.1, 0.1, -1.8, 0.2, 1.9, 0.5])
    opened(browser, robot, tmp_path, q=q)
    names: dict[str, Any] = {"np": np}
    exec(browser.run("return linkwork.app.code('array')"), names)
    np.testing.assert_allclose(names["q"], q, atol=1e-6)
    exec(browser.run("return linkwork.app.code('names')"), names)
    np.testing.assert_allclose(robot.configuration(names["q"]), q, atol=1e-6)


@pytest.mark.slow
def test_several_robots_and_what_is_seen_of_them(browser: Browser, tmp_path: Path):
    panda, scara = lw.load("panda"), lw.load("scara")
    T = np.eye(4)
    T[0, 3] = 0.9
    beside = PageRobot(scara, T_world_robot=T)
    scene = lw.Scene()
    scene.add_box("table", [0.6, 0.6, 0.3], [0.5, 0.6, 0.15], rgba=[0.7, 0.5, 0.3])
    scene.add_half_space("floor")
    opened(browser, panda, tmp_path, robots=[beside], ghost=panda.neutral(), scene=scene)
    assert browser.run("return linkwork.robots.map((robot) => robot.name)") == ["panda", "scara"]
    for name in (*SHOWN, *SHOWN):  # each to the other state, and back
        browser.run("linkwork.app.toggle(arguments[0])", name)
        browser.settle()
    browser.run("linkwork.app.choose(1)")
    browser.settle()
    labels = browser.run(
        "return [...document.querySelectorAll('.joint')].map((j) => j.dataset.joint)"
    )
    assert labels == list(scara.all_joint_names)
    assert browser.messages() == []
    assert browser.run("return linkwork.errors") == []


@pytest.mark.slow
def test_a_robot_without_shapes_shows_its_skeleton(browser: Browser, tmp_path: Path):
    robot = lw.load(
        """<robot name="bare"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="one" type="revolute"><parent link="a"/><child link="b"/>
        <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
        <joint name="two" type="prismatic"><parent link="b"/><child link="c"/>
        <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
        <limit lower="0" upper="0.2" effort="1" velocity="1"/></joint></robot>"""
    )
    opened(browser, robot, tmp_path)
    seen = stage_pixels(browser)
    browser.run("linkwork.app.toggle('skeleton')")
    browser.settle()
    changed = np.abs(seen - stage_pixels(browser)).sum(axis=2) > 30
    assert changed.mean() > 0.003
    text = browser.run("return document.getElementById('panel').textContent")
    assert "its skeleton is shown" in text


@pytest.mark.slow
def test_strange_names_are_text(browser: Browser, tmp_path: Path):
    name = "&lt;img src=x onerror=linkwork.errors.push(1)&gt;"
    robot = lw.load(
        f"""<robot name="{name}"><link name="base"/><link name="{name}"/>
        <joint name="{name}j" type="continuous"><parent link="base"/><child link="{name}"/>
        </joint></robot>"""
    )
    opened(browser, robot, tmp_path)
    assert browser.run("return document.querySelectorAll('#panel img, #panel script').length") == 0
    assert robot.name in browser.run("return document.getElementById('panel').textContent")
    assert browser.messages() == []


@pytest.mark.slow
def test_a_view_that_was_lost_comes_back(browser: Browser, tmp_path: Path):
    robot = lw.load("planar_2r")
    opened(browser, robot, tmp_path)
    before = stage_pixels(browser)
    browser.run(
        "window.lose = linkwork.app.stage.renderer.getContext().getExtension('WEBGL_lose_context');"
        "lose.loseContext()"
    )
    browser.wait("linkwork.app.stage.lost")
    browser.run("setTimeout(() => lose.restoreContext(), 50)")
    browser.wait("!linkwork.app.stage.lost")
    browser.settle()
    assert np.abs(before - stage_pixels(browser)).mean() < 1.0


VIEWS = {
    "panda": ("light", (900, 600), False),
    "five_bar": ("dark", (900, 600), False),
    "stewart": ("light", (900, 600), False),
    "humanoid": ("light", (390, 780), True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_it_looks_as_it_did(name: str, browser: Browser, tmp_path: Path):
    """Pictures that were looked at, compared small: what moves or vanishes shows, noise does not.

    LINKWORK_TEST_SEED has no say here. To take new ones, delete the old and run this test.
    """
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    scheme, size, phone = VIEWS[name]
    q = [0.4, 0.3, 0.0, -1.7, 0.0, 2.0, 0.8] if name == "panda" else None
    try:
        browser.prefer(scheme)
        browser.resize(size, phone=phone)
        opened(browser, lw.load(name), tmp_path, q=q)
        seen = image.fromarray(browser.picture()).resize((size[0] // 3, size[1] // 3))
    finally:
        browser.prefer("light")
        browser.resize((900, 600))
    path = REFERENCES / f"{name}.png"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        seen.quantize(256, kmeans=3).save(path, optimize=True)
        pytest.fail(f"there was no {path.name}: look at the one that was made")
    wanted = image.open(path).convert("RGB").resize(seen.size)
    small = (48, 48 * size[1] // size[0])
    difference = [np.asarray(each.resize(small), np.float64) for each in (seen, wanted)]
    assert np.abs(difference[0] - difference[1]).mean() < 4.0
    assert np.abs(difference[0] - difference[1]).max() < 70.0
