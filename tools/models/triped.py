"""The TriPed: legs that two levers swing through rods; one leg alone, and three on one base."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at, towards
from shapes import Vector, ball, disc, rod, rotation

SOURCE = """
Dimensions: those of the TriPed robot in the documentation of TriP (TriPed-Robot/trip_kinematics,
  "Building a robot": constants of the leg and its closing equation). Gimbal at (0.265, 0, 0.014) m,
  turning about x, then y, then z. Balls of the leg at (0.015, +-0.029, -0.0965) from there, levers
  at (0.139807669, +-0.054999841, -0.051), 345 degrees about z turned back, their balls at
  (0.085, 0, -0.0245); rods 0.11 m. Knee at (1.64, 0, -0.037) from the gimbal, where zero is 3
  degrees from folded; shank 1.5 m. As there, the lever on the right (-y) is swing_left.
  A swing counts from where the leg is at zero: swing_right is 0.431614254 rad less than in TriP,
  swing_left as much more, so that at zero the loops are closed. Two rods hold two of the gimbal's
  three turns: one freedom{each} is passive.
Inertias: ours: uniform solids{base}: thigh 2.5 kg, shank 1 kg, levers 0.15, rods 0.05,
  rings of the gimbal 0.1 and each rod's cross 0.02 kg.
Limits: ours. The knee unfolds towards negative angles.
"""
GIMBAL: Vector = (0.265, 0.0, 0.014)
BALL: Vector = (0.015, 0.029, -0.0965)  # on the leg, the left one
LEVER: Vector = (0.139807669447128, 0.0549998406976098, -0.051)
TURNED = math.radians(-345.0)
LEVER_BALL: Vector = (0.085, 0.0, -0.0245)
ROD = 0.11
KNEE: Vector = (1.64, 0.0, -0.037)
FOLDED = math.radians(-3.0)
SHANK = 1.5
SMALL = 0.008


def triped_leg() -> tuple[Robot, Loops]:
    """One leg on a bracket."""
    about = """
triped_leg: a leg of the TriPed: two driven levers swing it by rods at a gimbal, a driven knee.
"""
    source = SOURCE.format(each="", base=" (bracket 1 kg)").lstrip("\n")
    robot = Robot("triped_leg", about + source)
    robot.link("base_link", *_bracket(0.0), mass=1.0)
    loops = Loops(("swing_left", "swing_right", "extend"))
    _leg(robot, loops, "", 0.0)
    return robot, loops


def triped() -> tuple[Robot, Loops]:
    """Three legs, each 120 degrees back from the one before."""
    about = """
triped: the TriPed: three legs around one base, each turned by -120 degrees from the one before.
"""
    source = SOURCE.format(each=" a leg", base=" (base 6 kg)").lstrip("\n")
    robot = Robot("triped", about + source)
    brackets = [solid for k in range(3) for solid in _bracket(-120.0 * k)]
    plate = disc("dark_grey", 0.17, 0.02, "z", (0, 0, -0.03))
    robot.link("base_link", plate, *brackets, mass=6.0)
    legs = [f"leg_{k}_" for k in range(3)]
    driven = [f"{leg}{name}" for leg in legs for name in ("swing_left", "swing_right", "extend")]
    loops = Loops(tuple(driven))
    for k, leg in enumerate(legs):
        _leg(robot, loops, leg, -120.0 * k)
    return robot, loops


def _turned(degrees: float, point: Vector) -> Vector:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (c * point[0] - s * point[1], s * point[0] + c * point[1], point[2])


def _bracket(degrees: float) -> list:
    """What carries a leg's gimbal, and the pins of its levers."""

    def bar(radius: float, start: Vector, end: Vector):
        return rod("dark_grey", radius, _turned(degrees, start), _turned(degrees, end))

    x, y, z = LEVER
    high = GIMBAL[2]
    return [
        bar(0.015, (0.1, 0.0, high), (0.25, 0.0, high)),
        bar(0.02, (0.1, 0.0, -0.035), (0.1, 0.0, high)),
        bar(0.012, (0.1, 0.0, -0.03), (x, y, -0.03)),
        bar(0.012, (0.1, 0.0, -0.03), (x, -y, -0.03)),
        bar(0.012, (x, y, z), (x, y, -0.025)),
        bar(0.012, (x, -y, z), (x, -y, -0.025)),
    ]


def _leg(robot: Robot, loops: Loops, leg: str, degrees: float) -> None:
    base = "base_link"
    if degrees:
        base = f"{leg}base"
        robot.frame(base, "base_link", Place(rpy=(0.0, 0.0, math.radians(degrees))))
    ring = Limit(effort=500.0, velocity=10.0, lower=-0.8, upper=0.8)
    robot.link(f"{leg}ring_x", disc("grey", 0.02, 0.04, "x"), mass=0.1)
    robot.link(f"{leg}ring_y", disc("grey", 0.016, 0.05, "y"), mass=0.1)
    x, y, z = BALL
    thigh = [
        rod("blue", 0.025, (0, 0, 0), KNEE),
        rod("blue", 0.01, (0, 0, 0), (x, 0, z)),
        rod("blue", SMALL, (x, -y, z), (x, y, z)),
        disc("grey", 0.04, 0.07, "y", KNEE),
    ]
    robot.link(f"{leg}thigh", *thigh, mass=2.5)
    shank = [rod("light_blue", 0.018, (0, 0, 0), (-SHANK, 0, 0))]
    shank.append(ball("black", 0.03, (-SHANK, 0, 0)))
    robot.link(f"{leg}shank", *shank, mass=1.0)
    place = Place(GIMBAL)
    robot.joint(f"{leg}gimbal_rx", "revolute", (base, f"{leg}ring_x"), place, axis="x", limit=ring)
    links = (f"{leg}ring_x", f"{leg}ring_y")
    robot.joint(f"{leg}gimbal_ry", "revolute", links, axis="y", limit=ring)
    robot.joint(f"{leg}gimbal_rz", "revolute", (f"{leg}ring_y", f"{leg}thigh"), limit=ring)
    bend = Limit(effort=200.0, velocity=10.0, lower=-2.8, upper=0.0)
    knee = Place(KNEE, (0.0, FOLDED, 0.0))
    links = (f"{leg}thigh", f"{leg}shank")
    robot.joint(f"{leg}extend", "revolute", links, knee, axis="y", limit=bend)
    robot.frame(f"{leg}foot", f"{leg}shank", at(x=-SHANK))
    for name, side in (("left", -1.0), ("right", 1.0)):
        _lever(robot, loops, (leg, base, name), side)


def _lever(robot: Robot, loops: Loops, names: tuple[str, str, str], side: float) -> None:
    """A lever, and the rod from its ball to the leg's; side is that of the balls, left is +1."""
    leg, base, name = names
    x, y, z = LEVER
    yaw = side * (TURNED + 2 * math.pi + _closing())
    lever, cross, bar = f"{leg}lever_{name}", f"{leg}cross_{name}", f"{leg}rod_{name}"
    arm = rod("orange", 0.01, (0, 0, 0), LEVER_BALL)
    robot.link(lever, disc("grey", 0.016, 0.02, "z"), arm, mass=0.15)
    swing = Limit(effort=200.0, velocity=10.0, lower=-0.5, upper=0.5)
    place = Place((x, side * y, z), (0.0, 0.0, yaw))
    robot.joint(f"{leg}swing_{name}", "revolute", (base, lever), place, limit=swing)
    on_leg = tuple(g + b for g, b in zip(GIMBAL, (BALL[0], side * BALL[1], BALL[2]), strict=True))
    turn = rotation((0.0, 0.0, yaw))
    seen = [p - c for p, c in zip(on_leg, (x, side * y, z), strict=True)]
    own = [sum(turn[k][i] * seen[k] for k in range(3)) for i in range(3)]
    way: Vector = tuple(p - c for p, c in zip(own, LEVER_BALL, strict=True))
    robot.link(cross, ball("grey", 0.012), mass=0.02)
    robot.link(bar, rod("steel", 0.006, (0, 0, 0), (0, 0, ROD)), mass=0.05)
    free = Limit(effort=100.0, velocity=20.0, lower=-1.4, upper=1.4)
    links = (lever, cross)
    robot.joint(f"{cross}_x", "revolute", links, towards(LEVER_BALL, way), axis="x", limit=free)
    robot.joint(f"{cross}_y", "revolute", (cross, bar), axis="y", limit=free)
    robot.frame(f"{bar}_end", bar, at(z=ROD))
    robot.frame(f"{leg}ball_{name}", f"{leg}thigh", Place((BALL[0], side * BALL[1], BALL[2])))
    loops.close(f"{leg}{name}", (f"{bar}_end", f"{leg}ball_{name}"), "position")


def _closing() -> float:
    """The swing of the left lever at which its rod reaches the leg at zero, the smaller one.

    In its plane the ball is on a circle, and so far from the leg's ball that the rod's length is
    the third side: the law of cosines.
    """
    x, y, z = (g + b - c for g, b, c in zip(GIMBAL, BALL, LEVER, strict=True))
    radius, far = LEVER_BALL[0], math.hypot(x, y)
    rest = ROD**2 - (z - LEVER_BALL[2]) ** 2
    between = math.acos((far**2 + radius**2 - rest) / (2 * far * radius))
    angle = math.atan2(y, x) + between - (TURNED + 2 * math.pi)
    return angle
