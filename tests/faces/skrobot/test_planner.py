"""Paths past obstacles: ``skrobot.planner``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.faces.skrobot import planner
from linkwork.faces.skrobot.model import Box, Link
from linkwork.faces.skrobot.models import Fetch
from linkwork.faces.skrobot.planner import (
    SweptSphereSdfCollisionChecker,
    box_to_spheres,
    sqp_plan_trajectory,
)
from linkwork.faces.skrobot.planner.utils import get_robot_config, set_robot_config
from linkwork.faces.skrobot.sdf import SphereSDF, UnionSDF

MOVED = ("elbow_flex_link", "forearm_roll_link", "wrist_flex_link", "wrist_roll_link")
START = np.array([0.8, 0.3, 0.0, 0.6, 0.0, 0.6, 0.0])
GOAL = START * [-1, 1, 1, 1, 1, 1, 1]


@pytest.fixture
def robot() -> Any:
    return Fetch()


@pytest.fixture
def box() -> Box:
    return Box([0.2, 0.2, 0.6], pos=[0.8, 0.0, 0.7], with_sdf=True)


def checker_of(robot: Any, sdf: Any) -> SweptSphereSdfCollisionChecker:
    checker = SweptSphereSdfCollisionChecker(sdf, robot)
    checker.add_collision_links([robot.links[name] for name in MOVED])
    return checker


def deepest(robot: Any, rows: Any, box: Box, with_base: bool = False) -> float:
    """The least signed distance of the meshes' corners to a box, on the way through rows."""
    least = np.inf
    for first, last in itertools.pairwise(rows):
        for s in np.linspace(0.0, 1.0, 30):
            av = first + s * (last - first)
            set_robot_config(robot, robot.rarm.joint_list[-7:], av, with_base)
            for name in MOVED:
                link = robot.links[name]
                points = link.transform_vector(np.asarray(link.collision_mesh.vertices))
                least = min(least, float(box.sdf(points).min()))
    return least


def test_a_way_around_a_box(robot: Any, box: Box):
    joints = robot.rarm.joint_list[-7:]
    before = robot.angle_vector()
    rows = sqp_plan_trajectory(checker_of(robot, box.sdf), START, GOAL, joints, 12)
    assert rows.shape == (12, 7)
    assert np.allclose(rows[[0, -1]], [START, GOAL])
    assert np.array_equal(robot.angle_vector(), before)
    assert deepest(robot, [START, GOAL], box) < 0.0
    assert deepest(robot, rows, box) > 0.0


@pytest.mark.slow
def test_any_function_may_say_what_is_there(robot: Any, box: Box):
    joints = robot.rarm.joint_list[-7:]
    checker = checker_of(robot, lambda points: box.sdf(points))  # noqa: PLW0108  as programs do
    rows = sqp_plan_trajectory(checker, START, GOAL, joints, 15, safety_margin=0.0)
    assert deepest(robot, rows, box) > 0.0
    nothing = checker_of(robot, lambda points: np.full(len(points), 9.0))
    with pytest.raises(UnsupportedFeatureError, match="no surface"):
        sqp_plan_trajectory(nothing, START, GOAL, joints, 12)


def test_a_base_that_moves(robot: Any, box: Box):
    joints = robot.rarm.joint_list[-7:]
    robot.newcoords(robot.copy_worldcoords().translate([0.1, 0.2, 0.0]).rotate(0.3, "z"))
    stands = get_robot_config(robot, joints, with_base=True)
    assert np.allclose(stands[-3:], [0.1, 0.2, 0.3])
    ends = np.append(START, [0.0, 0.0, 0.2]), np.append(GOAL, [0.1, -0.1, -0.3])
    rows = sqp_plan_trajectory(checker_of(robot, box.sdf), *ends, joints, 14, with_base=True)
    assert rows.shape == (14, 10)
    assert np.allclose(rows[[0, -1]], ends, atol=1e-9)
    assert np.array_equal(get_robot_config(robot, joints, with_base=True), stands)
    assert deepest(robot, rows, box, with_base=True) > 0.0


def test_what_is_refused(robot: Any, box: Box):
    joints = robot.rarm.joint_list[-7:]
    checker = checker_of(robot, box.sdf)
    with pytest.raises(ShapeError, match="7 angles"):
        sqp_plan_trajectory(checker, START[:3], GOAL, joints, 5)
    with pytest.raises(InputError, match="corners"):
        sqp_plan_trajectory(checker, START, GOAL, joints, 2)
    inside = checker_of(robot, SphereSDF(3.0))
    with pytest.raises(InputError, match="no way"):
        sqp_plan_trajectory(inside, START, GOAL, joints, 5)
    with pytest.raises(InputError, match="no link"):
        SweptSphereSdfCollisionChecker(box.sdf, robot).collision_check()
    with pytest.raises(InputError, match="no collision mesh"):
        checker.add_collision_link(Link(name="bare"))
    with pytest.raises(InputError, match="function"):
        SweptSphereSdfCollisionChecker(3, robot)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UnsupportedFeatureError, match="solve_ik"):
        planner.solve_ik()
    with pytest.raises(UnsupportedFeatureError, match="with_jacobian"):
        checker.compute_batch_sd_vals(joints, [START], with_jacobian=True)
    with pytest.raises(ShapeError, match="7 numbers"):
        set_robot_config(robot, joints, START[:2])


def test_balls_cover_the_links_and_tell_how_far_they_are(robot: Any, box: Box):
    joints = robot.rarm.joint_list[-7:]
    checker = checker_of(robot, UnionSDF([box.sdf, SphereSDF(0.1)]))
    set_robot_config(robot, joints, START)
    assert not checker.collision_check()
    free = checker.update_color()
    assert free.shape == (checker.n_feature,) == (len(checker.coll_radius_list),)
    assert free.min() > 0.0
    for name in MOVED:
        link = robot.links[name]
        points = link.transform_vector(np.asarray(link.collision_mesh.vertices))
        centres = np.array([ball.worldpos() for ball in checker.coll_sphere_list])
        away = np.linalg.norm(points[:, None] - centres, axis=2) - checker.coll_radius_list
        assert away.min(axis=1).max() < 1e-6
    robot.angle_vector(robot.angle_vector())
    values, none = checker.compute_batch_sd_vals(joints, np.array([START, GOAL]))
    assert values.shape == (2 * checker.n_feature,)
    assert none.shape == ()
    assert np.allclose(values[: checker.n_feature], free)
    halfway = START * [0, 1, 1, 1, 1, 1, 1]
    set_robot_config(robot, joints, halfway)
    assert checker.collision_check()
    assert checker.update_color().min() < 0.0
    shown: list[Any] = []

    class Viewer:
        add, delete = shown.append, shown.remove

    checker.add_coll_spheres_to_viewer(Viewer)
    assert len(shown) == checker.n_feature
    checker.delete_coll_spheres_from_viewer(Viewer)
    assert not shown


def test_balls_of_a_box():
    balls = box_to_spheres([1, 0, 0], [1, 2, 1], n_per_axis=(2, 3, 1))  # numbers of the original
    assert [ball["type"] for ball in balls] == ["sphere"] * 6
    assert np.allclose(balls[0]["center"], [0.75, -2 / 3, 0.0])
    assert np.allclose([ball["radius"] for ball in balls], 0.6508541)
    turned = box_to_spheres([1, 0, 0], [1, 2, 1], rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(turned[0]["center"], [1.5, -0.25, -0.25])
    assert turned[0]["radius"] == pytest.approx(0.6123724)
    with pytest.raises(InputError, match="n_per_axis"):
        box_to_spheres([0, 0, 0], [1, 1, 1], n_per_axis=0)
