"""The textbook arms: two or three bars that turn about z and move in the x-y plane."""

from __future__ import annotations

import math

from robot import Limit, Robot, at
from shapes import ball, box, decoration, disc

LENGTHS = (1.0, 0.8, 0.5)
MASS_PER_METRE = 2.0
WIDTH, THICKNESS = 0.08, 0.05
HEADER = """
{name}: an arm of {count} bars in the x-y plane, all joints about z (across gravity).
Dimensions: ours, round numbers: bars of {lengths} m, {width} m wide, {thickness} m thick.
Inertias: each bar is a uniform box of 2 kg a metre; the joint discs weigh nothing. Base 5 kg.
Limits: ours.
"""


def planar_2r() -> Robot:
    """Two bars."""
    return _arm("planar_2r", LENGTHS[:2])


def planar_3r() -> Robot:
    """Three bars: redundant for position, enough for position and heading."""
    return _arm("planar_3r", LENGTHS)


def _arm(name: str, lengths: tuple[float, ...]) -> Robot:
    words = ", ".join(str(length) for length in lengths[:-1]) + f" and {lengths[-1]}"
    robot = Robot(
        name,
        HEADER.format(
            name=name, count=len(lengths), lengths=words, width=WIDTH, thickness=THICKNESS
        ),
    )
    robot.link("base_link", disc("dark_grey", 0.12, 0.1, "z", (0.0, 0.0, -0.08)), mass=5.0)
    parent, place = "base_link", at()
    for k, length in enumerate(lengths, start=1):
        bar = box(
            ("blue", "orange", "green")[k - 1], (length, WIDTH, THICKNESS), (length / 2, 0, 0)
        )
        parts = [bar, decoration(disc("grey", 0.055, 0.07, "z"))]
        if k == len(lengths):
            parts.append(decoration(ball("red", 0.03, (length, 0, 0))))
        link = f"link{k}"
        robot.link(link, *parts, mass=MASS_PER_METRE * length)
        bound = math.pi if k == 1 else 2.8
        limit = Limit(effort=100.0 / 2 ** (k - 1), velocity=math.pi, lower=-bound, upper=bound)
        robot.joint(f"joint{k}", "revolute", (parent, link), place, limit=limit)
        parent, place = link, at(x=length)
    robot.frame("tool0", parent, place)
    return robot
