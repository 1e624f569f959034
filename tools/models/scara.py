"""A four-axis SCARA with the dimensions of the Adept One."""

from __future__ import annotations

import math

from robot import Limit, Robot, modified_dh
from shapes import box, disc, rod

HEADER = """
scara: a four-axis SCARA, shoulder and elbow about the vertical, a quill that slides and turns.
Dimensions: the Adept One as tabulated in R. J. Schilling, Fundamentals of Robotics (1990),
  chapter 2: d = 0.877, 0, q3, 0.2; a = 0.425, 0.375, 0, 0; alpha = pi, 0, 0, 0 (standard
  Denavit-Hartenberg). So z points down from the elbow on, and a positive q3 lowers the tool.
Inertias: ours. Masses are estimates; each link is the uniform solid it is drawn as.
Limits: ours, of the size that such machines have (stroke 0.195 m).
"""
HEIGHT, INNER, OUTER, TOOL = 0.877, 0.425, 0.375, 0.2


def scara() -> Robot:
    """Base column, inner arm, outer arm, quill (slides), spindle (turns)."""
    robot = Robot("scara", HEADER)
    robot.link(
        "base_link",
        box("dark_grey", (0.38, 0.34, 0.03), (-0.04, 0, 0.015)),
        box("light_grey", (0.26, 0.24, 0.7), (-0.06, 0, 0.38)),
        disc("light_grey", 0.12, 0.8, "z", (0, 0, 0.41)),
        mass=120.0,
    )
    robot.link(
        "inner_arm",
        disc("orange", 0.115, 0.134, "z", (0, 0, 0)),
        box("orange", (INNER, 0.16, 0.11), (INNER / 2, 0, 0.012)),
        disc("orange", 0.09, 0.11, "z", (INNER, 0, 0.012)),
        mass=22.0,
    )
    robot.link(
        "outer_arm",  # below the inner one: its z points down
        disc("grey", 0.085, 0.12, "z", (0, 0, 0.104)),
        box("light_grey", (OUTER, 0.14, 0.09), (OUTER / 2, 0, 0.12)),
        disc("light_grey", 0.075, 0.15, "z", (OUTER, 0, 0.09)),
        mass=14.0,
    )
    quill = Limit(effort=400.0, velocity=0.5, lower=0.0, upper=0.195)
    robot.link("quill", rod("steel", 0.018, (0, 0, -0.2), (0, 0, 0.175)), mass=2.0)
    robot.link(
        "spindle",
        disc("dark_grey", 0.03, 0.05, "z", (0, 0, -0.025)),
        box("red", (0.02, 0.008, 0.03), (0.034, 0, -0.025)),
        mass=0.5,
    )
    links = ("base_link", "inner_arm", "outer_arm", "quill", "spindle")
    places = (
        modified_dh(0.0, 0.0, HEIGHT),
        modified_dh(INNER, math.pi, 0.0),
        modified_dh(OUTER, 0.0, 0.0),
        modified_dh(0.0, 0.0, TOOL),
    )
    limits = (
        Limit(300.0, 9.4, -2.6, 2.6),
        Limit(120.0, 12.0, -2.5, 2.5),
        quill,
        Limit(10.0, 30.0, -4.8, 4.8),
    )
    for k, (place, limit) in enumerate(zip(places, limits, strict=True)):
        kind = "prismatic" if limit is quill else "revolute"
        robot.joint(f"joint{k + 1}", kind, links[k : k + 2], place, limit=limit)
    robot.frame("tool0", "spindle")
    return robot
