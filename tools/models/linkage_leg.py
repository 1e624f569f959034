"""A quadruped's leg whose knee is driven from the hip, through a four-bar linkage."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at
from shapes import ball, box, disc, rod

THIGH, SHANK = 0.2, 0.2
CRANK, LUG = 0.036, 0.03
BENT = math.atan2(3.0, 4.0)
HINGE = "xyz/xz"  # all but turns about y
ASIDE = 0.03  # the linkage runs beside the thigh


def linkage_leg() -> tuple[Robot, Loops]:
    """Abduction, hip and crank; the crank's pin is the hip's, the motor sits on the thigh."""
    robot = Robot(
        "linkage_leg",
        """
linkage_leg: a left leg of a quadruped: abduction, hip, and a knee that a crank at the hip bends
  through a rod.
Dimensions: ours: abduction link 0.08 m, thigh 0.2, shank 0.2 m; crank 0.036 m at the hip, lug
  0.03 m at the knee, both across the thigh at zero, on its outer side; the rod is as long as it
  takes. At zero the loop is closed and the foot is 0.32 m below the hip: thigh and shank are turned
  by the angle of a triangle of 3, 4 and 5, one back, one forward.
Inertias: uniform solids: body 2 kg, abduction 0.6, thigh 1.0, crank 0.05, rod 0.06, shank 0.15 kg.
Limits: ours.
""",
    )
    motor = disc("dark_grey", 0.045, 0.06, "x", (-0.05, 0, 0))
    robot.link("base_link", box("white", (0.3, 0.12, 0.08), (-0.02, -0.06, 0.0)), motor, mass=2.0)
    hip = [
        disc("grey", 0.035, 0.05, "x", (0, 0, 0)),
        rod("grey", 0.02, (0, 0, 0), (0, 0.05, 0)),
        disc("dark_grey", 0.045, 0.03, "y", (0, 0.05, 0)),
    ]
    robot.link("abductor", *hip, mass=0.6)
    limit = Limit(effort=30.0, velocity=20.0, lower=-0.8, upper=0.8)
    robot.joint("abduction", "revolute", ("base_link", "abductor"), axis="x", limit=limit)
    thigh = [
        disc("dark_grey", 0.045, 0.03, "y"),
        box("light_grey", (0.035, 0.02, THIGH), (0, 0, -THIGH / 2)),
        disc("grey", 0.02, 0.03, "y", (0, 0, -THIGH)),
    ]
    robot.link("thigh", *thigh, mass=1.0)
    limit = Limit(effort=30.0, velocity=20.0, lower=-1.5, upper=1.5)
    place = Place((0.0, 0.08, 0.0), (0.0, BENT, 0.0))
    robot.joint("hip", "revolute", ("abductor", "thigh"), place, axis="y", limit=limit)
    shank = [
        rod("steel", 0.01, (0, 0, 0), (0, 0, -SHANK)),
        ball("black", 0.018, (0, 0, -SHANK)),
        disc("steel", 0.014, 0.05, "y", (0, 0.005, 0)),
        rod("orange", 0.007, (0, ASIDE, 0), _across(LUG)),
        rod("steel", 0.008, (0, 0, 0), (0, ASIDE, 0)),
    ]
    robot.link("shank", *shank, mass=0.15)
    limit = Limit(effort=40.0, velocity=20.0, lower=-1.2, upper=1.2)
    place = Place((0.0, 0.0, -THIGH), (0.0, -2 * BENT, 0.0))
    robot.joint("knee", "revolute", ("thigh", "shank"), place, axis="y", limit=limit)
    robot.frame("foot", "shank", at(z=-SHANK))
    return robot, _linkage(robot)


def _across(length: float) -> tuple[float, float, float]:
    """A point of the shank that lies across the thigh from the knee, at zero."""
    return (-length * math.cos(2 * BENT), ASIDE, length * math.sin(2 * BENT))


def _linkage(robot: Robot) -> Loops:
    """The crank, the rod, and what they close with."""
    crank = [
        disc("orange", 0.02, 0.03, "y", (0, 0.02, 0)),
        rod("orange", 0.008, (0, ASIDE, 0), (-CRANK, ASIDE, 0)),
    ]
    robot.link("crank_link", *crank, mass=0.05)
    limit = Limit(effort=30.0, velocity=20.0, lower=-0.8, upper=0.85)
    robot.joint("crank", "revolute", ("thigh", "crank_link"), axis="y", limit=limit)
    fall = CRANK - LUG
    length = math.hypot(fall, THIGH)
    robot.link("rod_link", rod("steel", 0.005, (0, 0, 0), (0, 0, -length)), mass=0.06)
    limit = Limit(effort=30.0, velocity=20.0, lower=-1.2, upper=1.2)
    place = Place((-CRANK, ASIDE, 0.0), (0.0, -math.atan2(fall, THIGH), 0.0))
    robot.joint("rod", "revolute", ("crank_link", "rod_link"), place, axis="y", limit=limit)
    robot.frame("rod_end", "rod_link", at(z=-length))
    robot.frame("lug", "shank", Place(_across(LUG)))
    loops = Loops(("abduction", "hip", "crank"))
    loops.close("knee_linkage", ("rod_end", "lug"), HINGE)
    return loops
