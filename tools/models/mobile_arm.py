"""A wheeled base that moves in the plane, with a six-joint arm and a gripper; our own design."""

from __future__ import annotations

from gripper import add_gripper
from robot import Limit, Place, Robot, at
from shapes import HALF, ball, box, disc, rod

HEADER = """
mobile_arm: a base that drives in any direction, a six-joint arm on it, and a parallel gripper.
Dimensions: our own design. The base's planar joint (x, y, heading) stands for the motion over the
  floor; the four wheels are joints of their own that nothing couples to it.
Inertias: ours. Masses are estimates; each link is the uniform solid it is drawn as.
Limits: ours. The planar joint has no range; its effort and velocity hold for x, y and heading.
"""
UPPER, FORE, WRIST, HAND = 0.4, 0.36, 0.1, 0.03


def mobile_arm() -> Robot:
    """Planar base, wheels, then the arm: upright upper arm, forearm ahead, at zero."""
    robot = Robot("mobile_arm", HEADER)
    robot.link("floor")
    robot.link(
        "base_link",
        box("dark_grey", (0.7, 0.44, 0.16), (0, 0, 0.15)),
        box("orange", (0.66, 0.4, 0.06), (0, 0, 0.26)),
        disc("black", 0.05, 0.06, "z", (0.24, 0, 0.31)),
        box("black", (0.04, 0.3, 0.05), (0.345, 0, 0.15)),
        disc("grey", 0.09, 0.05, "z", (-0.12, 0, 0.315)),
        mass=60.0,
    )
    drive = Limit(effort=200.0, velocity=1.5)
    robot.joint("base", "planar", ("floor", "base_link"), limit=drive)
    _add_wheels(robot)
    _add_arm(robot)
    add_gripper(robot, "hand", "tool0", mount=at(z=HAND))
    return robot


def _add_wheels(robot: Robot) -> None:
    for name, x, y in (
        ("front_left", 0.24, 0.27),
        ("front_right", 0.24, -0.27),
        ("rear_left", -0.24, 0.27),
        ("rear_right", -0.24, -0.27),
    ):
        side = 1 if y > 0 else -1
        robot.link(
            f"{name}_wheel",
            disc("black", 0.1, 0.07, "y"),
            disc("steel", 0.05, 0.076, "y"),
            rod("steel", 0.018, (0, 0, 0), (0, -side * 0.06, 0)),
            ball("yellow", 0.012, (0.07, side * 0.036, 0)),
            mass=2.0,
        )
        robot.joint(
            f"{name}_wheel_joint",
            "continuous",
            ("base_link", f"{name}_wheel"),
            at(x, y, 0.1),
            axis="y",
            limit=Limit(effort=20.0, velocity=15.0),
        )


def _add_arm(robot: Robot) -> None:
    robot.link(
        "shoulder",
        disc("grey", 0.075, 0.09, "z", (0, 0, 0.045)),
        disc("orange", 0.07, 0.16, "y", (0, 0, 0.12)),
        mass=4.0,
    )
    robot.link(
        "upper_arm",
        rod("light_grey", 0.055, (0, 0, 0), (0, 0, UPPER)),
        disc("orange", 0.058, 0.14, "y", (0, 0, UPPER)),
        mass=6.0,
    )
    robot.link(
        "forearm_base",
        ball("light_grey", 0.062),
        rod("light_grey", 0.048, (0, 0, 0), (FORE / 2, 0, 0)),
        mass=2.5,
    )
    robot.link(
        "forearm",
        rod("grey", 0.044, (0, 0, 0), (FORE / 2, 0, 0)),
        disc("orange", 0.046, 0.1, "y", (FORE / 2, 0, 0)),
        mass=2.0,
    )
    robot.link(
        "wrist",
        ball("light_grey", 0.048),
        rod("light_grey", 0.04, (0, 0, 0), (WRIST, 0, 0)),
        mass=1.2,
    )
    robot.link("hand", disc("grey", 0.04, HAND, "z", (0, 0, HAND / 2)), mass=0.3)
    steps = (
        ("arm_1", "base_link", "shoulder", at(-0.12, 0, 0.34), "z", Limit(120.0, 2.0, -3.0, 3.0)),
        ("arm_2", "shoulder", "upper_arm", at(z=0.12), "y", Limit(120.0, 2.0, -2.0, 2.0)),
        ("arm_3", "upper_arm", "forearm_base", at(z=UPPER), "y", Limit(80.0, 2.0, -1.5, 2.6)),
        ("arm_4", "forearm_base", "forearm", at(x=FORE / 2), "x", Limit(30.0, 3.0, -3.0, 3.0)),
        ("arm_5", "forearm", "wrist", at(x=FORE / 2), "y", Limit(20.0, 3.0, -2.0, 2.0)),
        (
            "arm_6",
            "wrist",
            "hand",
            Place((WRIST, 0, 0), (0, HALF, 0)),
            "z",
            Limit(10.0, 3.0, -3.0, 3.0),
        ),
    )
    for name, parent, child, place, axis, limit in steps:
        robot.joint(name, "revolute", (parent, child), place, axis=axis, limit=limit)
