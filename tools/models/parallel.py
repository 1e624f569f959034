"""Parallel robots: a platform that legs or rods hold."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at
from shapes import ball, disc, rod

FREE = Limit(effort=1000.0, velocity=10.0)


def _around(radius: float, degrees: float, z: float = 0.0) -> tuple[float, float, float]:
    angle = math.radians(degrees)
    return radius * math.cos(angle), radius * math.sin(angle), z


def stewart() -> tuple[Robot, Loops]:
    """Six legs: a universal joint, a slide, a ball."""
    low, high, height, apart = 0.5, 0.3, 0.6, 10.0
    robot = Robot(
        "stewart",
        """
stewart: a platform on six legs (6-UPS): universal joints on the base, driven slides, balls.
Dimensions: ours: base points at 0.5 m, platform points at 0.3 m from the axis, in pairs 20 degrees
  apart, the platform 0.6 m above the base. At zero the loops are closed; x, y and z of the platform
  are then 0, and the slides are at their middle.
Inertias: platform a disc of 5 kg, each leg a tube of 1 kg and a rod of 0.5 kg.
Limits: ours.
""",
    )
    robot.link("base_link", disc("dark_grey", low + 0.04, 0.02, "z"), mass=20.0)
    robot.link("platform", disc("blue", high + 0.03, 0.02, "z"), mass=5.0)
    robot.joint("platform", "floating", ("base_link", "platform"), at(z=height), limit=FREE)
    loops = Loops(tuple(f"slide{k + 1}" for k in range(6)))
    for k in range(6):
        side = apart if k % 2 else -apart
        foot = _around(low, 120.0 * (k // 2) + side)
        own = 120.0 * ((k + 1) // 2) + (-60.0 + apart if k % 2 == 0 else -60.0 - apart)
        head = _around(high, own)
        way = (head[0] - foot[0], head[1] - foot[1], height)
        length = math.sqrt(sum(c * c for c in way))
        place = Place(
            foot, (0.0, math.atan2(math.hypot(way[0], way[1]), way[2]), math.atan2(way[1], way[0]))
        )
        n = k + 1
        robot.link(f"cross{n}", ball("grey", 0.02), mass=0.1)
        robot.link(f"tube{n}", rod("grey", 0.02, (0, 0, 0), (0, 0, 0.5 * length)), mass=1.0)
        robot.link(f"rod{n}", rod("steel", 0.012, (0, 0, -0.6 * length), (0, 0, 0)), mass=0.5)
        turn = Limit(effort=100.0, velocity=10.0, lower=-1.5, upper=1.5)
        links = ("base_link", f"cross{n}")
        robot.joint(f"cross{n}_x", "revolute", links, place, axis="x", limit=turn)
        links = (f"cross{n}", f"tube{n}")
        robot.joint(f"cross{n}_y", "revolute", links, axis="y", limit=turn)
        slide = Limit(effort=1000.0, velocity=1.0, lower=-0.2, upper=0.2)
        links = (f"tube{n}", f"rod{n}")
        robot.joint(f"slide{n}", "prismatic", links, at(z=length), limit=slide)
        robot.frame(f"anchor{n}", "platform", Place(head))
        loops.close(f"ball{n}", (f"anchor{n}", f"rod{n}"), "position")
    robot.frame("tool0", "platform", at())
    return robot, loops


def delta() -> tuple[Robot, Loops]:
    """Three driven arms and three pairs of rods."""
    base, arm, bar, plate, half = 0.1, 0.2, 0.4, 0.06, 0.04
    height = 0.32  # with base + arm - plate = 0.24 and bar = 0.4: a triangle of 3, 4 and 5
    robot = Robot(
        "delta",
        """
delta: three driven arms and three pairs of rods that keep the platform level (Clavel's robot).
Dimensions: ours: pins of the arms at 0.1 m from the axis, arms 0.2 m, rods 0.4 m and 0.08 m apart,
  ends of the rods on the platform at 0.06 m from the axis. At zero the arms are level, the loops
  are closed, and x, y and z of the platform are 0, 0.32 m below the base. A positive angle lowers
  an arm.
Inertias: each arm a tube of 0.4 kg, platform 0.3 kg. The rods are loops that hold a distance: they
  are no links and weigh nothing.
Limits: ours.
""",
    )
    robot.link("base_link", disc("dark_grey", base + 0.02, 0.03, "z"), mass=5.0)
    robot.link("platform", disc("blue", plate, 0.01, "z"), mass=0.3)
    robot.joint("platform", "floating", ("base_link", "platform"), at(z=-height), limit=FREE)
    loops = Loops(("arm1", "arm2", "arm3"))
    for n, degrees in enumerate((0.0, 120.0, 240.0), start=1):
        turn = (0.0, 0.0, math.radians(degrees))
        elbow = rod("steel", 0.008, (arm, -half, 0), (arm, half, 0))
        robot.link(f"arm{n}_link", rod("orange", 0.015, (0, 0, 0), (arm, 0, 0)), elbow, mass=0.4)
        limit = Limit(effort=20.0, velocity=10.0, lower=-1.2, upper=1.5)
        place = Place(_around(base, degrees), turn)
        links = ("base_link", f"arm{n}_link")
        robot.joint(f"arm{n}", "revolute", links, place, axis="y", limit=limit)
        robot.frame(f"side{n}", "platform", Place(_around(plate, degrees), turn))
        for which, sign in (("a", -1.0), ("b", 1.0)):
            robot.frame(f"elbow{n}{which}", f"arm{n}_link", at(x=arm, y=sign * half))
            robot.frame(f"side{n}{which}", f"side{n}", at(y=sign * half))
            frames = (f"elbow{n}{which}", f"side{n}{which}")
            loops.close(f"rod{n}{which}", frames, "distance", bar)
    robot.frame("tool0", "platform", at())
    return robot, loops
