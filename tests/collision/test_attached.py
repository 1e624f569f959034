"""Held objects: what they are made of, and what is refused."""

from __future__ import annotations

import pickle
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision.attached import attach, check_attached
from linkwork.formats.urdf.records import Box, Sphere
from linkwork.mechanism.shapes import HalfSpace
from seeds import random_pose, rng


def test_an_object_of_a_scene_is_held_and_given_back() -> None:
    scene = lw.Scene()
    part = scene.add_box("part", [1, 2, 3], [5, 0, 0])
    held = attach("part", part, "hand", [0, 0, 0.1], allowed=["finger", "hand", "finger"])
    assert held.shape is part.shape and held.allowed == ("finger", "hand")
    np.testing.assert_array_equal(held.T_frame_object[:3, 3], [0, 0, 0.1])
    with pytest.raises(ValueError, match="read-only"):
        held.T_frame_object[0, 0] = 2
    T_world_hand = lw.pose([1, 2, 3], rpy=[0.1, 0.2, 0.3])
    scene.remove("part")
    scene.add_shape("part", held.shape, held.released(T_world_hand))
    found = scene.get("part").T_world_object
    np.testing.assert_allclose(found, T_world_hand @ held.T_frame_object, atol=1e-15)


def test_a_shape_is_held_in_the_frame_itself() -> None:
    held = attach("ball", Sphere(0.1), "hand")
    np.testing.assert_array_equal(held.T_frame_object, np.eye(4))
    assert held.allowed == ()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: attach("", Sphere(1), "hand"), lw.InputError, "name of a held object must be"),
        (lambda: attach("a", Sphere(1), 3), lw.InputError, "frame must be a text, not 3"),  # type: ignore[arg-type]
        (lambda: attach("a", "box", "hand"), lw.InputError, "has the shape Box, Sphere.*not str"),
        (lambda: attach("a", HalfSpace(), "hand"), lw.UnsupportedFeatureError, "a half-space"),
        (lambda: attach("a", Sphere(1), "hand", np.eye(3)), lw.InputError, r"shape \(4, 4\)"),
        (lambda: attach("a", Sphere(1), "hand", 2 * np.eye(4)), lw.InputError, "not a rigid pose"),
        (lambda: attach("a", Sphere(1), "hand", allowed="hand"), lw.InputError, "names of links"),
        (lambda: attach("a", Sphere(1), "hand", allowed=3), lw.InputError, "names of links"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_be_held_is_refused(make, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_points_and_height_fields_cannot_be_held() -> None:
    scene = lw.Scene()
    ground = scene.add_height_field("g", np.zeros((3, 3)), (1.0, 1.0))
    with pytest.raises(lw.UnsupportedFeatureError, match="'g' is a height field"):
        attach("g", ground, "hand")
    cloud = scene.add_points("p", [[0, 0, 0]])
    with pytest.raises(lw.UnsupportedFeatureError, match="'p' is a cloud of points"):
        attach("p", cloud, "hand")


def test_names_are_looked_up_in_the_robot() -> None:
    frames, links = ("base", "hand", "tool"), ("base", "hand")
    good = attach("part", Box((1, 1, 1)), "tool", allowed=["hand", "other"])
    other = attach("other", Box((1, 1, 1)), "hand")
    check_attached([good, other], frames, links)
    with pytest.raises(lw.UnknownNameError, match="no link or held object named 'other'"):
        check_attached([good], frames, links)
    with pytest.raises(lw.UnknownNameError, match="no frame named 'tol'; nearest: tool"):
        check_attached([attach("part", Sphere(1), "tol")], frames, links)
    for name in ("hand", "other"):
        with pytest.raises(lw.InputError, match=f"'{name}' is the name of a link or another"):
            check_attached([other, attach(name, Sphere(1), "hand")], frames, links)


def test_models_of_a_robot_that_holds_something_have_it() -> None:
    robot = lw.load("panda")
    q = robot.configuration({"joint2": 0.4, "joint4": -1.9, "joint6": 2.2})
    part = Sphere(0.06)
    carrier = robot.with_attached("part", part, "tool0", (0.0, 0.0, 0.22), allowed=["link7"])
    by_model = robot.collision().with_attached(
        "part", part, "tool0", (0.0, 0.0, 0.22), allowed=["link7"]
    )
    rows = robot.random(2000, seed=3)
    np.testing.assert_array_equal(carrier.collision().collides(rows), by_model.collides(rows))
    assert carrier.collision(overhang=0.05).links == by_model.links
    assert robot.collision().links == by_model.links[:-1]
    # the flange is free of the post, what it holds is not
    scene = lw.Scene()
    scene.add_box("post", (0.02, 0.02, 0.02), (robot.fk(q, "tool0") @ [0, 0, 0.25, 1])[:3])
    T, clear = robot.fk(q, "tool0"), lw.ik.Clearance(scene=scene)
    assert robot.ik(T, "tool0", limits=clear).success
    touching = carrier.ik(T, "tool0", limits=clear)
    assert not touching.success and touching.reason.startswith("touches: part and post")


@pytest.mark.slow
def test_a_thing_that_is_taken_up_again_elsewhere_is_where_it_is_held() -> None:
    g, robot = rng("taken up again"), lw.load("panda")
    hull, edges = g.uniform(-0.06, 0.06, (12, 3)), np.array([0.1, 0.2, 0.05])
    box = 0.5 * edges * np.array(list(product((-1, 1), repeat=3)))
    q, scene = robot.random(3000, seed=5), lw.Scene()
    scene.add_box("post", (0.2, 0.2, 1.2), (0.5, 0.1, 0.6))

    def solid(corners: np.ndarray) -> Any:
        faces = np.array(list(combinations(range(len(corners)), 3)))
        return lw.Scene().add_mesh("mesh", (corners, faces))

    for shape, corners in ((Box(tuple(edges)), box), (solid(hull), hull)):
        for _ in range(2):
            T = random_pose(g)
            T[:3, 3] *= 0.1
            held = robot.with_attached("thing", shape, "tool0", T).collision()
            moved = solid(corners @ T[:3, :3].T + T[:3, 3])
            other = robot.with_attached("thing", moved, "tool0").collision()
            np.testing.assert_array_equal(held.collides(q, scene), other.collides(q, scene))
            found, same = (model.nearest(q[:300], 3, scene) for model in (held, other))
            np.testing.assert_allclose(found.distance, same.distance, atol=1e-9)


def test_what_a_robot_holds_stays_through_edits_and_pickles() -> None:
    ball = Sphere(0.03)
    robot = lw.load("panda").with_attached("ball", ball, "tool0")
    two = robot.with_attached("other", ball, "link3", (0, 0, 0.4), allowed=["ball"])
    edited = two.with_frame("tip", "tool0", np.eye(4)).with_locked(["joint1"])
    for each in (two, edited, pickle.loads(pickle.dumps(two))):
        assert [held.name for held in each.attached] == ["ball", "other"]
        assert each.collision().links[-2:] == ("ball", "other")
        assert each.collision().pairs.reason("ball", "other") == "you"
    assert [held.name for held in two.without_attached("ball").attached] == ["other"]


def test_an_srdf_says_nothing_of_held_objects(tmp_path: Path) -> None:
    model = lw.load("panda").collision()
    model.pairs.to_srdf(tmp_path / "bare.srdf")
    holding = model.with_attached("cup", Sphere(0.05), "tool0", [0, 0, 0.1])
    holding.with_pairs(ignore=("cup", "link2")).pairs.to_srdf(tmp_path / "holding.srdf")
    assert (tmp_path / "holding.srdf").read_text() == (tmp_path / "bare.srdf").read_text()
    assert holding.pairs.held == ("cup",)
    assert holding.without_attached("cup").pairs.held == ()


def test_an_object_may_have_the_name_of_a_frame_that_is_no_link() -> None:
    body = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/>'
        '<origin xyz="0.3 0 0"/></joint>'
        for a, b in ("ab", "bc")
    )
    text = f'<link name="a">{body}</link><link name="b"/><link name="c">{body}</link>{joints}'
    robot = lw.load(f'<robot name="r">{text}</robot>').with_frame("grip", "b", np.eye(4))
    held = robot.collision().with_attached("grip", Sphere(0.1), "grip")
    assert held.links == ("a", "c", "grip")
    assert held.with_tables().without_attached("grip").links == ("a", "c")


@pytest.mark.slow
def test_a_chain_holds_what_its_frames_hold() -> None:
    ball = Sphere(0.03)
    robot = lw.load("panda").with_attached("ball", ball, "tool0", (0, 0, 0.1), allowed=["link7"])
    robot = robot.with_attached("low", ball, "link1", (0, 0.3, 0), allowed=["ball"])
    upper = robot.subchain("link3", "tool0")
    assert [held.name for held in upper.attached] == ["ball"]
    assert upper.collision().links[-1] == "ball"
    assert robot.subchain("link0", "link5").collision().links[-1] == "low"
    scene = lw.Scene()
    tip = upper.fk(upper.neutral(), "tool0") @ [0, 0, 0.1, 1]
    scene.add_sphere("there", 0.02, tip[:3])
    assert upper.collision().clearance(upper.neutral(), scene).names == ("ball", "there")


def test_what_a_robot_cannot_hold_is_refused() -> None:
    robot = lw.load("panda").with_attached("ball", Sphere(0.03), "tool0")
    with pytest.raises(lw.InputError, match="'ball' is the name of a link or another held object"):
        robot.with_attached("ball", Sphere(0.03), "tool0")
    with pytest.raises(lw.UnknownNameError, match="hand"):
        robot.with_attached("part", Sphere(0.03), "hand")
    with pytest.raises(lw.UnknownNameError, match="ball"):
        robot.without_attached("bal")
