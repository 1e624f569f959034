"""Points of frames at points of the world."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.solve.tasks.position import Position
from seeds import rng

TIP = (0.02, -0.01, 0.15)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "scara"])
@pytest.mark.parametrize(("axes", "of"), [("xyz", "world"), ("xyz", "tool"), ("xz", "tool")])
def test_points_are_reached(name, axes, of):
    robot = robot_of(name)
    p = measures.point_of(robot.fk(postures(robot, f"{axes} {of}"), "tool0"), TIP)
    q = solved(robot, Position("tool0", axes=axes, axes_of=of, point=TIP), p)
    way = p - measures.point_of(robot.fk(q, "tool0"), TIP)
    if of == "tool":
        way = np.einsum("nji,nj->ni", robot.fk(q, "tool0")[:, :3, :3], way)
    kept = ["xyz".index(a) for a in axes]
    assert np.linalg.norm(way[:, kept], axis=1).max() <= 1.001e-5


def test_what_is_free_is_left_free():
    robot = robot_of("ur5e")
    p = robot.fk(postures(robot, "free"), "tool0")[:, :3, 3]
    q = solved(robot, Position("tool0", axes="z"), p)
    reached = robot.fk(q, "tool0")[:, :3, 3]
    assert np.abs(reached[:, 2] - p[:, 2]).max() <= 1.001e-5
    assert np.median(np.linalg.norm(reached - p, axis=1)) > 0.1


def test_slack_is_a_box():
    robot = robot_of("panda")
    p = robot.fk(postures(robot, "box"), "tool0")[:, :3, 3]
    slack = np.array([0.1, 0.0, 0.02])
    q = solved(robot, Position("tool0", slack=tuple(slack)), p)
    away = np.abs(robot.fk(q, "tool0")[:, :3, 3] - p)
    assert (away <= slack + 1.001e-5).all()
    assert np.median(away[:, 0]) > 0.01


def test_a_tool_s_own_point_is_the_point_of_a_shifted_frame():
    robot = robot_of("panda")
    q = postures(robot, "shifted", 20)
    bound = Position("tool0", point=TIP).bind(robot.mechanism)
    assert bound.reaches is None  # it is not the frame's origin that must get there
    assert Position("tool0").bind(robot.mechanism).reaches is not None
    g = rng("shifted").normal(size=3)
    assert bound.rows_of(g).tolist() == g.tolist()
    assert measures.point_of(robot.fk(q, "tool0"), TIP).shape == (20, 3)
