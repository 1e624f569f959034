"""A digging arm: turntable, boom and stick, the last two moved by hydraulic cylinders."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at
from shapes import Vector, box, disc, rod

HINGE = "xyz/xz"  # all but turns about y
TURN = Limit(effort=1.0e5, velocity=2.0, lower=-2.0, upper=2.0)


def excavator() -> tuple[Robot, Loops]:
    """Two triangles, each with a cylinder as one side."""
    robot = Robot(
        "excavator",
        """
excavator: a turntable, a boom and a stick; cylinders move boom and stick. All but the turntable
  moves in one plane; y is across it.
Dimensions: ours. Boom: cylinder from (0.3, -0.4) to (1.5, 0.5) m in x and z from its pin, 1.5 m
  long at zero. Stick: pin at 3 m of the boom; cylinder from (1.8, 0.9) on the boom to 0.4 m above
  the pin, 1.3 m long at zero; 1.6 m from the pin to the tip. At zero the loops are closed, the
  boom lies level and the stick hangs down.
Inertias: uniform solids: house 2000 kg, boom 400, stick 200, each cylinder 40 and its rod 25 kg.
Limits: ours: strokes of 0.7 m and of 0.6 m.
""",
    )
    robot.link("base_link", disc("dark_grey", 0.8, 0.4, "z", (0, 0, -1.0)), mass=1000.0)
    house = box("grey", (1.6, 1.4, 0.8), (-0.3, 0, -0.4))
    robot.link("house", house, disc("grey", 0.1, 1.4, "y"), mass=2000.0)
    swing = Limit(effort=1.0e5, velocity=1.0, lower=-math.pi, upper=math.pi)
    robot.joint("swing", "revolute", ("base_link", "house"), limit=swing)
    boom = [
        rod("orange", 0.12, (0, 0, 0), (1.5, 0, 0.5)),
        rod("orange", 0.12, (1.5, 0, 0.5), (3.0, 0, 0)),
        rod("orange", 0.05, (1.5, 0, 0.5), (1.8, 0, 0.9)),
    ]
    robot.link("boom_link", *boom, mass=400.0)
    robot.joint("boom", "revolute", ("house", "boom_link"), axis="y", limit=TURN)
    stick = rod("yellow", 0.1, (0, 0, 0.4), (0, 0, -1.6))
    robot.link("stick_link", stick, mass=200.0)
    robot.joint("stick", "revolute", ("boom_link", "stick_link"), at(x=3.0), axis="y", limit=TURN)
    robot.frame("boom_eye", "boom_link", at(x=1.5, z=0.5))
    robot.frame("stick_eye", "stick_link", at(z=0.4))
    robot.frame("tool0", "stick_link", at(z=-1.6))
    loops = Loops(("swing", "boom_slide", "stick_slide"))
    _cylinder(robot, loops, "boom", "house", (0.3, 0.0, -0.4), (1.2, 0.9), (-0.25, 0.45))
    _cylinder(robot, loops, "stick", "boom_link", (1.8, 0.0, 0.9), (1.2, -0.5), (-0.15, 0.45))
    return robot, loops


def _cylinder(robot, loops, name: str, on: str, foot: Vector, way, stroke) -> None:
    """A cylinder from a foot, and its rod, which ends at the eye of what it moves."""
    length = math.hypot(*way)
    tube, inner = f"{name}_cylinder", f"{name}_rod"
    robot.link(tube, rod("grey", 0.06, (0, 0, 0), (0.6 * length, 0, 0)), mass=40.0)
    robot.link(inner, rod("steel", 0.03, (-0.5 * length, 0, 0), (0, 0, 0)), mass=25.0)
    place = Place(foot, (0.0, -math.atan2(way[1], way[0]), 0.0))
    robot.joint(tube, "revolute", (on, tube), place, axis="y", limit=TURN)
    limit = Limit(effort=2.0e5, velocity=0.5, lower=stroke[0], upper=stroke[1])
    links = (tube, inner)
    robot.joint(f"{name}_slide", "prismatic", links, at(x=length), axis="x", limit=limit)
    loops.close(f"{name}_loop", (f"{name}_eye", inner), HINGE)
