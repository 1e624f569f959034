"""Drawings: what stands where, in both products, and what a designer and a stranger would break."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from fresh_python import python
from linkwork import models
from linkwork.errors import InputError, MissingExtraError, ShapeError, UnknownNameError
from linkwork.view.camera import VIEWS, camera
from linkwork.view.drawing import MOST_GHOSTS, Drawing, drawing
from linkwork.view.primitives import Circle, Text, hull, text_width
from linkwork.view.primitives import Path as Line
from linkwork.view.shading import Solid, shaded
from robots import every_joint_urdf, model_poses, random_configuration, random_tree
from seeds import rng

NAMES = tuple(models.MODELS)


@cache
def bundled(name: str) -> lw.Robot:
    return lw.load(name)


@cache
def neutral_drawing(name: str, shapes: bool) -> Drawing:
    return drawing(bundled(name), shapes=shapes, size=(400, 320))


def tree_of(drawn: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawn.svg)


def marks_of(drawn: Drawing, layer: str) -> list[Any]:
    return [mark for each in drawn.layers if each.name == layer for mark in each.marks]


def boxes(drawn: Drawing, layer: str = "labels") -> list[tuple[np.ndarray, np.ndarray]]:
    return [tuple(m.points()) for m in marks_of(drawn, layer) if isinstance(m, Text)]


def middle(points: np.ndarray) -> np.ndarray:
    return 0.5 * (points.min(axis=0) + points.max(axis=0))


# --------------------------------------------------------------------------- both kinds, all models


@pytest.mark.sweep(4, by="name")
@pytest.mark.parametrize("shapes", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_xml_and_all_of_it_lies_inside(name: str, shapes: bool):
    drawn = neutral_drawing(name, shapes)
    root = tree_of(drawn)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 400 320"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == bundled(name).name
    assert len(drawn.svg) < 100_000
    assert drawn.messages == ()
    for layer in drawn.layers:
        for mark in layer.marks:
            points = mark.points()
            assert np.isfinite(points).all()
            assert (points >= 0.0).all(), (layer.name, mark)
            assert (points <= [400.0, 320.0]).all(), (layer.name, mark)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_lies_inside_whatever_is_asked_for(name: str):
    robot, draw = bundled(name), rng(f"inside {name}")
    for shapes in (True, False):
        size = tuple(draw.uniform(150, 600, 2).tolist())
        drawn = drawing(
            robot,
            random_configuration(draw, robot.mechanism),
            shapes=shapes,
            view=(float(draw.uniform(-180, 180)), float(draw.choice([-90, -20, 0, 35, 90]))),
            size=size,
            labels=bool(draw.integers(2)),
            frames=bool(draw.integers(2)),
            com=True,
            title="A title that is as long as titles of figures are, and somewhat longer",
        )
        for layer in drawn.layers:
            for mark in layer.marks:
                points = mark.points()
                assert (points >= -2.0).all(), (layer.name, mark)
                assert (points <= np.array(size) + 2.0).all(), (layer.name, mark)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_symbols_of_joints_are_where_joints_are(name: str):
    robot, draw = bundled(name), rng(f"joints of {name}")
    q = random_configuration(draw, robot.mechanism)
    view = (float(draw.uniform(-180, 180)), float(draw.uniform(-90, 90)))
    check_joints(robot, q, view)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("k", range(8))
def test_symbols_of_joints_of_any_kind(k: int):
    draw = rng(f"random trees {k}")
    robot = lw.load(every_joint_urdf() if not k else random_tree(draw, 9))
    view = (float(draw.uniform(-180, 180)), float(draw.uniform(-90, 90)))
    check_joints(robot, random_configuration(draw, robot.mechanism), view)


def check_joints(robot: lw.Robot, q: np.ndarray, view: tuple[float, float]) -> None:
    m = robot.mechanism
    drawn = drawing(robot, q, shapes=False, view=view)
    poses = model_poses(m, q)
    found = symbols(drawn)
    for body, kind in enumerate(m.body_joint_types):
        if not kind.n_q:
            continue
        link = m.frame(m.body_names[body])
        T = poses[m.body_names[body]]
        at = T[:3, 3] - T[:3, :3] @ m.R_body_frame[link].T @ m.p_body_frame[link]
        points = found[f"{m.body_joint_names[body]} ({kind.label})"]
        np.testing.assert_allclose(middle(points), drawn.pixels(at), atol=0.6)
        assert np.ptp(points, axis=0).max() < 40.0


def symbols(drawn: Drawing) -> dict[str, np.ndarray]:
    """The points (n, 2) of the symbols of joints and loops, by what they say."""
    found: dict[str, list[np.ndarray]] = {}
    for mark in marks_of(drawn, "robot"):
        if mark.of:
            found.setdefault(mark.of, []).append(mark.points())
    return {of: np.concatenate(points) for of, points in found.items()}


@pytest.mark.parametrize("name", ["delta", "five_bar", "stewart"])
def test_loops_have_rings_and_rods(name: str):
    robot = bundled(name)
    drawn, q = neutral_drawing(name, False), robot.neutral()
    poses = model_poses(robot.mechanism, q)
    for loop in robot.loops:
        marks = [m for m in marks_of(drawn, "robot") if m.of == f"{loop.name} ({loop.kind})"]
        ends = drawn.pixels([poses[loop.frame_a][:3, 3], poses[loop.frame_b][:3, 3]])
        assert any(isinstance(m, Circle) and np.allclose(m.center, ends[0]) for m in marks)
        rods = [m for m in marks if isinstance(m, Line) and not m.dash]
        assert bool(rods) == (loop.kind == "distance")
        assert all(np.allclose(rod.lines[0], ends) for rod in rods)
    without = drawing(robot, q, shapes=False, loops=False)
    assert f"{robot.loops[0].name} ({robot.loops[0].kind})" not in symbols(without)


def test_an_open_loop_is_dashed():
    robot = bundled("four_bar")
    drawn = drawing(robot, {"crank": 0.9}, shapes=False)
    assert any(isinstance(m, Line) and m.dash for m in marks_of(drawn, "robot"))


# --------------------------------------------------------------------------------------- the camera


@pytest.mark.parametrize(
    ("view", "right", "up"),
    [
        ("front", [0, 1, 0], [0, 0, 1]),
        ("side", [1, 0, 0], [0, 0, 1]),
        ("top", [1, 0, 0], [0, 1, 0]),
    ],
)
def test_named_views(view: str, right: list[float], up: list[float]):
    drawn = drawing(bundled("ur5e"), view=view, shapes=False)
    origin, x, y = drawn.pixels(np.array([[0, 0, 0], right, up], float))
    scale = drawn.camera.scale
    np.testing.assert_allclose(x - origin, [scale, 0.0], atol=1e-9 * scale)
    np.testing.assert_allclose(y - origin, [0.0, -scale], atol=1e-9 * scale)


def test_a_planar_mechanism_is_seen_across_its_plane():
    for name, normal in (("four_bar", [0, 0, 1]), ("planar_3r", [0, 0, 1]), ("gripper", [1, 0, 0])):
        assert abs(neutral_drawing(name, False).camera.toward @ normal) > 0.999, name
    for name in ("panda", "delta", "quadruped"):
        assert 0.2 < neutral_drawing(name, False).camera.toward[2] < 0.6, name


def test_a_camera_is_orthonormal_and_its_depth_is_along_the_view():
    draw = rng("cameras")
    for view in [*VIEWS, *draw.uniform([-200, -90], [200, 90], (20, 2)).tolist()]:
        look = camera(view, [], np.zeros((1, 3)))
        axes = np.array([look.right, look.up, look.toward])
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) > 0.0
        assert look.right[2] == pytest.approx(0.0, abs=1e-12)  # z is never leaning


def test_the_scale_bar_is_as_long_as_it_says():
    for name in ("four_bar", "ur5e", "triped"):
        drawn = neutral_drawing(name, False)
        bar = next(m for m in marks_of(drawn, "frame") if isinstance(m, Line))
        text = next(m.text for m in marks_of(drawn, "frame") if isinstance(m, Text))
        number, unit = text.split()
        length = float(number) * {"m": 1.0, "mm": 1e-3}[unit]
        assert np.ptp(bar.points()[:, 0]) == pytest.approx(length * drawn.camera.scale)


# ---------------------------------------------------------------------------------- hidden surfaces


def random_boxes(draw: np.random.Generator, n: int) -> list[Solid]:
    """Boxes anywhere, through one another, each in its own hue."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.uint32)
    found = []
    for k in range(n):
        R = np.linalg.qr(draw.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        vertices = (corners * draw.uniform(0.1, 0.5, 3)) @ R.T + draw.normal(size=3) * 0.35
        hue = np.eye(3)[k % 3]
        found.append(Solid(vertices, faces, tuple(hue.tolist())))
    return found


def test_each_area_covers_what_lies_behind_it():
    draw = rng("hidden surfaces")
    for _ in range(3):
        solids = random_boxes(draw, 6)
        points = np.concatenate([solid.vertices for solid in solids])
        look = camera("iso", [], points).fitted(points, (20, 20, 280, 280), least=0.1)
        areas = [m for m in shaded(solids, look, (300, 300)) if m.seam]
        places = draw.uniform(20, 280, (250, 2))
        seen = np.array([hue_at(areas, place) for place in places])
        wanted = np.array([nearest_solid(solids, look, place) for place in places])
        assert np.count_nonzero(wanted >= 0) > 50
        assert np.mean(seen == wanted) > 0.985  # but at the edges


def test_areas_of_rough_meshes_are_whole():
    draw = rng("rough meshes")
    for _ in range(3):
        vertices = draw.normal(size=(10, 3)) * [1.0, 1.0, 0.0]  # of one shade: one area
        faces = np.array([draw.permutation(10)[:3] for _ in range(24)], np.uint32)
        faces = np.concatenate([faces, faces[:4, ::-1]])  # some twice, and seen from behind
        solids = [Solid(vertices, faces, (0.8, 0.2, 0.2))]
        look = camera("top", [], vertices).fitted(vertices, (20, 20, 280, 280), least=0.1)
        areas = [m for m in shaded(solids, look, (300, 300)) if m.seam]
        places = draw.uniform(20, 280, (250, 2))
        seen = np.array([hue_at(areas, place) for place in places])
        wanted = np.array([nearest_solid(solids, look, place) for place in places])
        assert len(areas) == 1
        assert np.mean(seen == wanted) > 0.985


def hue_at(areas: list[Line], place: np.ndarray) -> int:
    """Which of red, green and blue the last area at a place has most of; -1 where there is none."""
    for area in reversed(areas):
        if sum(winding(line, place) for line in area.lines):
            channels = [int(area.fill[k : k + 2], 16) for k in (1, 3, 5)]
            return int(np.argmax(channels))
    return -1


def winding(line: np.ndarray, place: np.ndarray) -> int:
    """How often a closed line goes around a place."""
    a, b = line - place, np.roll(line, -1, axis=0) - place
    side = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    up = (a[:, 1] <= 0) & (b[:, 1] > 0) & (side > 0)
    down = (a[:, 1] > 0) & (b[:, 1] <= 0) & (side < 0)
    return int(up.sum()) - int(down.sum())


def nearest_solid(solids: list[Solid], look: Any, place: np.ndarray) -> int:
    """The hue of what a ray through a place meets first, by every triangle there is."""
    best, found = -np.inf, -1
    for k, solid in enumerate(solids):
        flat, near = look.pixels(solid.vertices), look.nearness(solid.vertices)
        a, b, c = (flat[solid.faces[:, j].astype(int)] for j in range(3))
        za, zb, zc = (near[solid.faces[:, j].astype(int)] for j in range(3))
        u, v, w = b - a, c - a, place - a
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        s = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
        t = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
        inside = (s >= 0) & (t >= 0) & (s + t <= 1)
        z = (za + s * (zb - za) + t * (zc - za))[inside]
        if z.size and z.max() > best:
            best, found = float(z.max()), k % 3
    return found


def test_edges_lie_on_what_they_belong_to():
    draw = rng("edges")
    solids = random_boxes(draw, 3)
    points = np.concatenate([solid.vertices for solid in solids])
    look = camera("iso", [], points).fitted(points, (20, 20, 280, 280), least=0.1)
    edges = [m for m in shaded(solids, look, (300, 300)) if not m.seam]
    outlines = [hull(look.pixels(solid.vertices)) for solid in solids]
    for point in np.concatenate([edge.points() for edge in edges]):
        away = [distance_outside(outline, point) for outline in outlines]
        assert min(away) < 0.2


def distance_outside(outline: np.ndarray, point: np.ndarray) -> float:
    """How far a point is outside of a convex outline, at most."""
    ahead = np.roll(outline, -1, axis=0) - outline
    normal = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return float(np.max(np.einsum("ki,ki->k", normal, point - outline)))


# ----------------------------------------------------------------- ghosts, paths, frames and masses


@pytest.mark.parametrize("shapes", [True, False])
def test_several_configurations_are_ghosts(shapes: bool):
    robot, draw = bundled("ur5e"), rng("ghosts")
    rows = random_rows(robot, draw, 4)
    drawn = drawing(robot, rows, shapes=shapes)
    ghosts = [layer.opacity for layer in drawn.layers if layer.name == "ghost"]
    assert len(ghosts) == 3
    assert ghosts == sorted(ghosts)
    assert max(ghosts) < 0.6
    many = drawing(robot, random_rows(robot, draw, 40), shapes=False)
    assert sum(layer.name == "ghost" for layer in many.layers) == MOST_GHOSTS
    assert not any(mark.of for mark in marks_of(many, "ghost"))


def random_rows(robot: lw.Robot, draw: np.random.Generator, n: int) -> np.ndarray:
    return np.array([random_configuration(draw, robot.mechanism) for _ in range(n)])


def test_a_path_has_ghosts_and_the_curve_of_the_tip():
    robot = bundled("ur5e")
    start, goal = robot.neutral(), np.array([1.0, -1.0, 0.5, 0.2, -0.4, 0.3])
    rows = np.linspace(start, goal, 30)
    drawn = drawing(robot, path=rows, shapes=False)
    assert sum(layer.name == "ghost" for layer in drawn.layers) == 5
    curve = [m for m in marks_of(drawn, "path") if isinstance(m, Line)]
    points = np.concatenate([part.points() for part in curve])
    for q, end in ((start, points[0]), (goal, points[-1])):
        tip = model_poses(robot.mechanism, q)["tool0"][:3, 3]
        np.testing.assert_allclose(end, drawn.pixels(tip), atol=1e-6)
    assert [m.opacity for m in curve] == sorted(m.opacity for m in curve)
    move = lw.trajectory.point_to_point(start, goal, duration=1.0)
    same = drawing(robot, path=move, shapes=False)
    np.testing.assert_allclose(same.camera.toward, drawn.camera.toward)
    assert marks_of(same, "path")
    other = drawing(robot, start, path=rows, shapes=False)  # in full where q says
    at = model_poses(robot.mechanism, start)["wrist_3_link"][:3, 3]
    shown = middle(symbols(other)["wrist_3_joint (revolute)"])
    np.testing.assert_allclose(shown, other.pixels(at), atol=0.6)


def test_frames_and_the_centre_of_mass():
    robot = bundled("panda")
    plain = drawing(robot, shapes=False)
    assert not marks_of(plain, "marks")
    drawn = drawing(robot, shapes=False, frames=["tool0", "link3"], com=True)
    assert {m.text for m in marks_of(drawn, "labels") if isinstance(m, Text)} >= {"tool0", "link3"}
    mass = [m for m in marks_of(drawn, "marks") if m.of == "centre of mass"]
    m, poses = robot.mechanism, model_poses(robot.mechanism, robot.neutral())
    com = sum(
        m.link_mass[k] * (poses[m.frame_names[k]] @ [*m.link_com[k], 1.0])[:3]
        for k in range(m.n_link_frames)
    ) / sum(m.link_mass)
    np.testing.assert_allclose(mass[0].center, drawn.pixels(com), atol=1e-6)
    every = drawing(robot, shapes=False, frames=True)
    assert len(marks_of(every, "marks")) >= 4 * m.n_link_frames


def test_the_ground_is_where_it_is_asked_for():
    robot = bundled("ur5e")
    assert marks_of(drawing(robot, shapes=False), "ground")
    assert marks_of(drawing(robot), "ground")
    assert not marks_of(drawing(robot, ground=False), "ground")
    assert not marks_of(drawing(robot, shapes=False, ground=False), "ground")
    assert not marks_of(drawing(robot, view="side"), "ground")  # a shadow has no area there
    flying = lw.load("quadruped", base="floating")
    assert not marks_of(drawing(flying, shapes=False), "ground")
    assert marks_of(drawing(flying, shapes=False, ground=True), "ground")


# ------------------------------------------------------------------------------------------- labels


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_labels_do_not_overlap(name: str):
    robot, draw = bundled(name), rng(f"labels of {name}")
    q = random_configuration(draw, robot.mechanism)
    drawn = drawing(robot, q, shapes=False, labels=True, size=(640, 480))
    joints = set(robot.all_joint_names)
    named = {m.text for m in marks_of(drawn, "labels") if isinstance(m, Text)}
    left_out = set(re.findall(r"[\w/]+", " ".join(drawn.messages)))
    assert named <= joints
    assert joints <= named | left_out
    for (low, high), (other_low, other_high) in combinations(boxes(drawn), 2):
        assert (high <= other_low).any() or (other_high <= low).any()


def test_names_are_those_asked_for():
    panda, quadruped = bundled("panda"), bundled("quadruped")

    def named(robot: lw.Robot, **how: Any) -> set[str]:
        drawn = drawing(robot, **how)
        return {m.text for m in marks_of(drawn, "labels") if isinstance(m, Text)}

    assert named(panda, shapes=False) == set(panda.joint_names)
    assert named(panda) == set()
    assert named(quadruped, shapes=False) == set()
    assert named(panda, labels=["joint2", "tool0"]) == {"joint2", "tool0"}
    assert named(panda, shapes=False, labels=False) == set()


def test_no_room_is_said():
    drawn = drawing(bundled("humanoid"), labels=True, shapes=False, size=(120, 120))
    assert "no room for the names" in drawn.messages[-1]


def test_widths_of_texts_are_not_short():
    fonts = pytest.importorskip("matplotlib.font_manager", reason="matplotlib is missing")
    paths = pytest.importorskip("matplotlib.textpath", reason="matplotlib is missing")
    font = fonts.FontProperties(family="DejaVu Sans")
    for text in ("shoulder_pan_joint", "wrist_3", "left_jaw_turn", "l", "MOVING_WAGON", "leg_0"):
        real = paths.TextPath((0, 0), text, size=100, prop=font).get_extents().width
        assert text_width(text, 100.0) > 0.93 * real


# ------------------------------------------------------------------------------- names of strangers

STRANGE = '</title><script>alert("1")</script>&amp; \'"'


def strange_robot() -> lw.Robot:
    name = STRANGE.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return lw.load(
        f'<robot name="{name}"><link name="a"/><link name="{name}"/>'
        f'<joint name="{name}" type="continuous"><parent link="a"/><child link="{name}"/>'
        '<origin xyz="1 0 0"/></joint></robot>'
    )


def test_names_are_escaped():
    robot = strange_robot()
    drawn = drawing(robot, labels=True, title=STRANGE)
    root = tree_of(drawn)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count(STRANGE) == 2
    assert root.findtext("{http://www.w3.org/2000/svg}title") == STRANGE
    for shown in (drawn.svg, drawn._repr_html_(), robot._repr_html_()):
        assert "<script" not in shown


def test_control_characters_are_no_xml():
    robot = bundled("planar_2r")
    assert tree_of(drawing(robot, shapes=False, title="a\x00b\x1bc\ud800")) is not None


# ---------------------------------------------------------------------- what is missing, and misuse


def test_a_robot_without_shapes_shows_its_skeleton_and_says_so():
    robot = lw.load(every_joint_urdf(spherical=False))
    drawn = drawing(robot)
    assert "skeleton" in drawn.messages[-1]
    assert any(isinstance(m, Text) and "skeleton" in m.text for m in marks_of(drawn, "frame"))
    assert drawing(robot, shapes=False).messages == ()
    single = drawing(lw.load('<robot name="dot"><link name="a"/></robot>'))
    assert tree_of(single) is not None


def test_a_missing_mesh_is_named_and_the_rest_is_drawn(tmp_path: Path):
    text = (
        '<robot name="half"><link name="a"><visual><geometry><mesh filename="gone.stl"/></geometry>'
        '</visual><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    )
    (tmp_path / "half.urdf").write_text(text)
    drawn = drawing(lw.load(tmp_path / "half.urdf"))
    assert marks_of(drawn, "robot")
    assert any("gone.stl" in message for message in drawn.messages)
    assert "gone.stl" in drawn.svg


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ({"view": "behind"}, UnknownNameError, "no view named 'behind'"),
        ({"view": (1.0, 2.0, 3.0)}, InputError, "view is"),
        ({"view": (0.0, 91.0)}, InputError, "elevation"),
        ({"shapes": "all"}, InputError, "shapes is True, False"),
        ({"shapes": 1}, InputError, "shapes is True, False"),
        ({"size": (10, 10)}, InputError, "size of a drawing"),
        ({"size": 300}, InputError, "size is"),
        ({"frames": "tol0"}, UnknownNameError, "tool0"),
        ({"labels": ["join1"]}, UnknownNameError, "joint1"),
        ({"q": [1.0]}, ShapeError, "q"),
        ({"q": np.full(7, np.nan)}, InputError, "q"),
        ({"q": np.zeros((2, 2, 7))}, ShapeError, "n, nq"),
        ({"q": np.zeros((0, 7))}, ShapeError, "(n, nq), not (0, 7)"),
        ({"path": np.zeros((0, 7))}, ShapeError, "(n, nq), not (0, 7)"),
        ({"path": np.zeros((3, 6))}, ShapeError, "path"),
    ],
)
def test_misuse_is_told(how: dict[str, Any], error: type[Exception], text: str):
    with pytest.raises(error, match=re.escape(text)):
        drawing(bundled("panda"), **how)


# ----------------------------------------------------------------------------------------- products


def test_it_is_saved_whole_or_not_at_all(tmp_path: Path):
    drawn = neutral_drawing("planar_2r", False)
    drawn.save(tmp_path / "arm.svg")
    assert (tmp_path / "arm.svg").read_text(encoding="utf-8") == drawn.svg
    with pytest.raises(InputError, match=r"arm\.jpg: a drawing is written as \.svg or \.png"):
        drawn.save(tmp_path / "arm.jpg")
    with pytest.raises(InputError, match="cannot be written"):
        drawn.save(tmp_path / "none" / "arm.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["arm.svg"]


def test_a_png_without_matplotlib_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[plot\]"):
        neutral_drawing("planar_2r", False).save(tmp_path / "arm.png")
    assert not list(tmp_path.iterdir())


def read_png(path: Path) -> np.ndarray:
    image = pytest.importorskip("matplotlib.image", reason="matplotlib is missing")
    return np.asarray(image.imread(path))


def test_a_png_has_the_marks_in_their_colours(tmp_path: Path):
    pytest.importorskip("matplotlib", reason="matplotlib (pip install matplotlib) is missing")
    drawn = neutral_drawing("ur5e", False)
    drawn.save(tmp_path / "arm.png", scale=2.0)
    pixels = read_png(tmp_path / "arm.png")
    assert pixels.shape == (640, 800, 4)
    assert pixels[0, 0, 3] == 0.0  # transparent
    links = [
        m for m in marks_of(drawn, "robot") if isinstance(m, Line) and m.width > 3 and not m.of
    ]
    hits = 0
    for mark in links:
        x, y = np.rint(2.0 * mark.lines[0].mean(axis=0)).astype(int)
        wanted = [int(mark.stroke[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        hits += bool(np.abs(pixels[y, x, :3] - wanted).max() < 0.02)
    assert hits > 0.3 * len(links)  # others lie under symbols
    drawn.save(tmp_path / "white.png", scale=1.0, background="white")
    assert read_png(tmp_path / "white.png")[0, 0].tolist() == [1.0, 1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="background must be a colour like '#f4f6f8', not 'whit'"):
        drawn.save(tmp_path / "none.png", background="whit")
    assert not (tmp_path / "none.png").exists()
    with pytest.raises(lw.ShapeError, match=r"points must have shape \(..., 3\), not \(2,\)"):
        drawn.pixels([0.0, 1.0])


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not there to draw the SVG")
@pytest.mark.parametrize(("name", "shapes"), [("ur5e", False), ("mobile_arm", True)])
def test_a_browser_draws_the_same_as_matplotlib(name: str, shapes: bool, tmp_path: Path):
    robot = bundled(name)
    rows = np.linspace(robot.neutral(), robot.neutral() + 0.4, 3)
    drawn = drawing(robot, rows, shapes=shapes, labels=False, size=(400, 320))
    drawn.save(tmp_path / "own.png", scale=1.0, background="white")
    page = f'<body style="margin:0;background:white">{drawn.svg}</body>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    subprocess.run(
        [
            str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}", "--window-size=600,600",
            "--disable-background-networking", f"--screenshot={tmp_path / 'browser.png'}",
            (tmp_path / "page.html").as_uri(),
        ],
        check=True, timeout=120, capture_output=True,
    )  # fmt: skip
    own, other = (blurred(read_png(tmp_path / f"{n}.png")) for n in ("own", "browser"))
    away = np.abs(own[:250, :400] - other[:250, :400]).max(axis=2)  # no texts: fonts differ
    assert np.mean(away > 0.12) < 0.005
    assert np.mean(own[:250, :400] < 0.9) > 0.02


def blurred(pixels: np.ndarray) -> np.ndarray:
    """The mean of each pixel and its neighbours."""
    rgb = pixels[..., :3].astype(float)
    return sum(np.roll(rgb, (dy, dx), axis=(0, 1)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)) / 9.0


# ---------------------------------------------------------------------------------------- notebooks


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_every_robot(name: str):
    robot = bundled(name)
    shown = robot._repr_html_()
    assert shown.count("<svg") == 1
    assert len(shown) < 120_000
    ElementTree.fromstring(shown)
    assert all(joint in shown for joint in robot.joint_names)
    assert repr(neutral_drawing(name, False)).startswith(f"Drawing('{name}', 400 x 320, ")


def test_a_notebook_shows_results_runs_and_motions():
    robot = bundled("planar_3r")
    target = robot.fk([0.3, 0.4, 0.5], "tool0")
    solved, many = robot.ik(target, "tool0"), robot.ik(np.stack([target] * 3), "tool0")
    far = robot.ik(np.array([[1.0, 0, 0, 9], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), "tool0")
    run = lw.simulate(robot, robot.neutral(), duration=0.1)
    batch = lw.simulate(robot, np.zeros((2, 3)), duration=0.02)
    move = lw.trajectory.point_to_point([0.0, 1.0, 2.0], [1.0, 1.0, 0.0], duration=2.0)
    every = robot.ik_all(target, "tool0")
    for result in (solved, many, far, run, batch, move, every):
        shown = result._repr_html_()
        ElementTree.fromstring(shown)
        assert shown.count("<svg") == 1, result
    assert "out of reach" in far._repr_html_()
    assert "3 of 3" in many._repr_html_()
    assert "linkwork" not in far._repr_html_()
    assert repr(robot.solver("tool0")) == "InverseKinematics('planar_3r': pose 'tool0'; 3 joints)"
    assert repr(robot.controller("tool0", dt=0.01)) == (
        "Controller('planar_3r': pose 'tool0'; 3 joints; limits velocity; a step each 0.01 s)"
    )
    arm = lw.load("panda")
    kept = arm.solver(tasks=[lw.ik.CenterOfMass()], limits=lw.ik.Clearance())
    assert repr(kept) == (
        "InverseKinematics('panda': center of mass 'com'; 7 joints; limits clearance)"
    )


def test_a_run_that_failed_at_once_is_shown():
    robot = bundled("planar_2r")
    run = lw.simulate(robot, [0.0, 0.0], [1e100, 0.0], duration=0.01)
    assert not run.finished
    ElementTree.fromstring(run._repr_html_())


@pytest.mark.slow
def test_notebooks_need_no_matplotlib():
    code = """
        import sys
        sys.modules["matplotlib"] = None
        import linkwork as lw
        robot = lw.load("planar_2r")
        assert "linkwork.view" not in sys.modules
        robot._repr_html_()
        lw.simulate(robot, robot.neutral(), duration=0.01)._repr_html_()
        print(robot.plot())
    """
    assert python(code).startswith("Drawing('planar_2r', 640 x 480")
