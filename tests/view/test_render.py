"""Pictures and films without a display: the robot is where the camera says, files are whole."""

from __future__ import annotations

import sys
from io import BytesIO

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, MissingExtraError, ShapeError, UnknownNameError
from linkwork.models import MODELS
from linkwork.view.raster import rasterised
from linkwork.view.render import corner_normals
from seeds import rng

SIZE = (240, 180)


def image_of(path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is missing")
    return np.asarray(Image.open(path).convert("RGB"), float)


def drawn(robot, path, *args, **how):
    pytest.importorskip("PIL", reason="Pillow (pip install pillow) is missing")
    return robot.render(path, *args, **{"size": SIZE, **how})


# --- triangles ---


def test_samples_inside_a_triangle_are_its_own():
    random = rng("triangles")
    corners = random.uniform(-5.0, 45.0, (60, 3, 3))
    corners[..., 2] = random.uniform(0.1, 1.0, (60, 3))
    seen = rasterised(corners, (40, 30))
    best = np.zeros((30, 40))
    which = np.full((30, 40), -1)
    y, x = np.mgrid[:30, :40] + 0.5
    for k, t in enumerate(corners):  # by the sides of edges, in plain NumPy
        area = np.linalg.det(t[1:, :2] - t[0, :2])
        sides = []
        for a, b in ((1, 2), (2, 0), (0, 1)):
            across = (t[b, 0] - t[a, 0]) * (y - t[a, 1]) - (t[b, 1] - t[a, 1]) * (x - t[a, 0])
            sides.append(across / area)
        inside = np.all(np.array(sides) >= 0.0, axis=0)
        z = sum(w * c for w, c in zip(sides, t[:, 2], strict=True))
        nearer = inside & (z > best)
        best[nearer], which[nearer] = z[nearer], k
    np.testing.assert_allclose(seen.depth, best, atol=1e-6)
    assert (seen.triangle != which).mean() < 0.002  # but for rounding on an edge


def test_threads_give_the_same_bits():
    corners = rng("bits").uniform(0.1, 50.0, (200, 3, 3))
    one, three = (rasterised(corners, (64, 48), threads) for threads in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_outside_or_flat_is_not_seen():
    flat = np.array([[[1.0, 1, 1], [5, 5, 1], [9, 9, 1]]])
    outside = np.array(
        [[[-9.0, -9, 1], [-5, -9, 1], [-9, -1e12, 1]], [[99, 0, 1], [1e12, 0, 1], [99, 9, 1]]]
    )
    for corners in (flat, outside, np.zeros((0, 3, 3))):
        assert (rasterised(corners, (8, 8)).triangle == -1).all()


def test_normals_are_smooth_but_for_creases():
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(3, 1.0)
    normals = corner_normals(ball.vertices.astype(np.float32), ball.faces)
    ways = ball.vertices[ball.faces]
    assert np.einsum("kcd,kcd->kc", normals, ways).min() > 0.999
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    normals = corner_normals(box.vertices.astype(np.float32), box.faces)
    np.testing.assert_allclose(normals, np.repeat(box.face_normals[:, None], 3, axis=1), atol=1e-6)


# --- pictures ---


def test_the_robot_is_in_the_picture_and_in_the_middle(tmp_path):
    made = drawn(lw.load("panda"), tmp_path / "arm.png")
    shown = image_of(made.path)
    assert shown.shape == (180, 240, 3)
    assert made.size == SIZE and made.n_frames == 1 and made.messages == ()
    other = np.abs(shown - shown[0, 0]).max(axis=2) > 60.0
    rows, columns = np.nonzero(other)
    assert other.mean() > 0.03
    assert rows.min() > 2 and rows.max() < 178  # nothing is cut off
    assert columns.min() > 2 and columns.max() < 238


@pytest.mark.parametrize("view", ["auto", "front", "side", "top", "iso", (30.0, 40.0)])
def test_a_tool_is_where_the_camera_says(tmp_path, view):
    """The axes of the tool are seen, each in its colour, along the line that `pixels` says."""
    robot = lw.load("planar_3r")
    q = np.array([0.4, 0.6, -0.9])
    made = drawn(robot, tmp_path / "marked.png", q, view=view, kinds=(), frames="tool0")
    shown = image_of(made.path)
    T = robot.fk(q, "tool0")
    at = made.pixels(T[:3, 3])
    seen = 0
    for axis in range(3):
        others = np.delete(shown, axis, axis=2).max(axis=2)
        rows, columns = np.nonzero((shown[..., axis] > 1.5 * others) & (shown[..., axis] > 60.0))
        way = made.pixels(T[:3, 3] + 0.2 * T[:3, axis]) - at
        if len(rows) < 8 or np.linalg.norm(way) < 6.0:
            continue  # towards the viewer, or hidden
        seen += 1
        points = np.stack([columns + 0.5, rows + 0.5], axis=1) - at
        unit = way / np.linalg.norm(way)
        if axis == 2:  # joints are blue too
            points = points[np.abs(points @ [-unit[1], unit[0]]) < 12.0]
        middle = points.mean(axis=0)
        assert abs(middle @ [-unit[1], unit[0]]) < 1.5
        assert middle @ unit > 0.0
    assert seen
    # lengths across the view have one scale; straight lines stay straight
    look, here = made.camera, T[:3, 3]
    across, upward = made.pixels(here + 0.1 * look.right), made.pixels(here + 0.1 * look.up)
    np.testing.assert_allclose(upward - at, [0.0, at[0] - across[0]], atol=1e-9)
    np.testing.assert_allclose(across[1], at[1], atol=1e-9)
    three = made.pixels(here + np.array([[0.0], [0.3], [1.0]]) * [0.2, -0.1, 0.3])
    assert abs(np.linalg.det(three[1:] - three[0])) < 1e-8


def test_links_cover_what_lies_behind(tmp_path):
    """The picture is that of the nearer link, wherever the other one was described."""
    parts = {
        "near": ("1 0 0", "0.5 0 0"), "far": ("0 0 1", "-0.5 0 0"),
    }  # fmt: skip
    for order in (("near", "far"), ("far", "near")):
        links = "".join(
            f'<link name="{n}"><visual><origin xyz="{parts[n][1]}"/><geometry><box size="0.2 1 1"/>'
            f'</geometry><material name="{n}"><color rgba="{parts[n][0]} 1"/></material></visual>'
            "</link>"
            for n in order
        )
        ends = f'<parent link="{order[0]}"/><child link="{order[1]}"/>'
        joint = f'<joint name="j" type="fixed">{ends}</joint>'
        robot = lw.load(f'<robot name="two">{links}{joint}</robot>')
        shown = image_of(drawn(robot, tmp_path / "two.png", view="front").path)
        red, _, blue = shown[90, 120]
        assert red > 2.0 * blue


def test_a_robot_without_shapes_shows_its_skeleton_and_says_so(tmp_path):
    robot = lw.load(
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    made = drawn(robot, tmp_path / "bare.png")
    assert "skeleton" in made.messages[0] and "skeleton" in repr(made)
    shown = image_of(made.path)
    assert (np.abs(shown - shown[0, 0]).max(axis=2) > 60.0).sum() > 100


def test_obstacles_are_shown_where_they_are(tmp_path):
    robot, scene = lw.load("planar_2r"), lw.Scene()
    scene.add_sphere("ball", 0.2, (0.9, 0.9, 0.0))
    scene.add_box("box", (0.3, 0.3, 0.3), (-0.9, -0.9, 0.0), rgba=(0.1, 0.7, 0.2, 1.0))
    made = drawn(robot, tmp_path / "scene.png", scene=scene, view="top")
    shown = image_of(made.path)
    for name, centre in (("ball", (0.9, 0.9, 0.2)), ("box", (-0.9, -0.9, 0.15))):
        x, y = made.pixels(centre).astype(int)
        assert np.abs(shown[y, x] - shown[0, 0]).max() > 60.0, name
    red, green, _ = shown[y, x]
    assert green > 1.5 * red
    with pytest.raises(InputError, match=r"linkwork\.Scene"):
        robot.render(tmp_path / "wrong.png", scene=["ball"])


def test_a_missing_mesh_is_named_and_the_rest_is_shown(tmp_path):
    text = (
        '<robot name="half"><link name="a"><visual><geometry><box size="0.3 0.3 0.3"/></geometry>'
        '</visual></link><link name="b"><visual><geometry><mesh filename="gone.stl"/></geometry>'
        '</visual></link><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        "</robot>"
    )
    (tmp_path / "half.urdf").write_text(text)
    made = drawn(lw.load(tmp_path / "half.urdf"), tmp_path / "half.png")
    assert any("gone.stl" in message for message in made.messages)
    shown = image_of(made.path)
    assert (np.abs(shown - shown[0, 0]).max(axis=2) > 40.0).mean() > 0.05


def test_the_ground_has_a_shadow_and_a_picture_without_ground_shines_through(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is missing")
    robot = lw.load("quadruped")
    white = image_of(drawn(robot, tmp_path / "white.png", background="white").path)
    grey = (np.ptp(white, axis=2) < 4.0) & (white[..., 0] < 235.0) & (white[..., 0] > 130.0)
    assert grey.mean() > 0.02
    clear = drawn(robot, tmp_path / "clear.png", background=None)
    alpha = np.asarray(Image.open(clear.path))[..., 3]
    assert alpha[2, 2] == 0 and (alpha == 255).mean() > 0.03
    assert ((alpha > 30) & (alpha < 150)).mean() > 0.02  # the shadow
    coloured = image_of(drawn(robot, tmp_path / "c.png", background=(0.2, 0.4, 0.6)).path)
    np.testing.assert_allclose(coloured[2, 2], [51, 102, 153], atol=1.5)


def test_one_configuration_gives_the_same_bytes(tmp_path):
    robot = lw.load("four_bar")
    a, b = (drawn(robot, tmp_path / f"{k}.png").path.read_bytes() for k in "ab")
    assert a == b


# --- films ---


def test_a_gif_has_its_frames_and_its_time(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow (pip install pillow) is missing")
    robot = lw.load("planar_2r")
    way = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    made = drawn(robot, tmp_path / "two.gif", trajectory=way, times=[0.0, 0.3, 0.7], fps=12.5)
    film = Image.open(made.path)
    assert film.n_frames == made.n_frames == 10
    delays = [film.seek(k) or film.info["duration"] for k in range(film.n_frames)]
    assert sum(delays) == round(1000.0 * made.duration)
    assert abs(made.duration - 10 / 12.5) < 0.011
    film.seek(0)
    first = np.asarray(film.convert("RGB"), float)
    film.seek(9)
    assert np.abs(first - np.asarray(film.convert("RGB"), float)).max() > 100.0


def test_an_mp4_can_be_played(tmp_path):
    av = pytest.importorskip("av", reason="PyAV (pip install av) is missing")
    robot = lw.load("five_bar")
    way = robot.assemble([[0.2, 0.1], [0.6, 0.4]]).q
    made = drawn(robot, tmp_path / "five.mp4", trajectory=way, times=[0.0, 0.5], fps=20.0)
    with av.open(BytesIO(made.path.read_bytes())) as film:
        stream = film.streams.video[0]
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]
        assert stream.codec_context.name == "h264" and float(stream.average_rate) == 20.0
    assert len(pictures) == made.n_frames == 11
    assert pictures[0].shape == (180, 240, 3)
    assert made.duration == pytest.approx(11 / 20)
    last = drawn(robot, tmp_path / "last.png", robot.assemble([0.6, 0.4]).q)
    assert last.n_frames == 1


# --- what is refused, and what is missing ---


def test_wrong_requests_write_nothing(tmp_path):
    pytest.importorskip("PIL", reason="Pillow (pip install pillow) is missing")
    robot = lw.load("planar_2r")
    cases = [
        ("arm.jpg", {}, InputError, "png"),
        ("arm.png", {"q": [0.0]}, ShapeError, r"\(\.\.\., 2\)"),
        ("arm.png", {"q": [[0.0, 0.0]]}, ShapeError, "one picture"),
        ("arm.png", {"q": [0.0, np.nan]}, InputError, "joint2|finite"),
        ("arm.png", {"trajectory": [[0.0, 0.0]]}, InputError, r"\.gif or \.mp4"),
        ("arm.gif", {"background": None}, InputError, "transparent"),
        ("arm.gif", {"fps": 80.0}, InputError, "fps"),
        (
            "arm.gif",
            {"trajectory": [[0.0, 0.0], [1.0, 1.0]], "times": [0.0, 1e4]},
            InputError,
            "lower fps",
        ),
        ("arm.png", {"size": (10, 10)}, InputError, "width of size"),
        ("arm.png", {"size": 100}, InputError, "width, height"),
        ("arm.png", {"view": "below"}, UnknownNameError, "view"),
        ("arm.png", {"frames": "tool9"}, UnknownNameError, "tool0"),
        ("arm.png", {"background": "blueish"}, InputError, "#f4f6f8"),
        ("arm.png", {"background": (2.0, 0.0, 0.0)}, InputError, "0 to 1"),
        ("arm.png", {"kinds": ("visuals",)}, InputError, "visual"),
    ]
    for name, how, error, text in cases:
        with pytest.raises(error, match=text):
            robot.render(tmp_path / name, **{"size": SIZE, **how})
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(tmp_path, monkeypatch):
    robot = lw.load("planar_2r")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtraError, match=r"PyAV.*pip install 'linkwork\[render\]'"):
        robot.render(tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtraError, match=r"Pillow.*pip install 'linkwork\[render\]'"):
        robot.render(tmp_path / "a.png")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_bundled_robot_is_shown(tmp_path, name):
    shown = image_of(drawn(lw.load(name), tmp_path / "a.png").path)
    assert (np.abs(shown - shown[0, 0]).max(axis=2) > 50.0).mean() > 0.02
