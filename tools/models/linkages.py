"""Linkages in the plane: bars that turn about z in the x-y plane and close in loops."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at
from shapes import box, decoration, disc

MASS_PER_METRE = 2.0
WIDTH, THICKNESS = 0.02, 0.01
PIN = 0.012  # radius of a pin; pins are as high as two bars, so that bars meet at them
HINGE = "revolute"


def _bar(robot: Robot, name: str, length: float, colour: str) -> None:
    """A bar along x with a pin at its beginning."""
    bar = box(colour, (length, WIDTH, THICKNESS), (length / 2, 0, 0))
    pin = decoration(disc("grey", PIN, 3 * THICKNESS, "z"))
    robot.link(name, bar, pin, mass=MASS_PER_METRE * length)


def _base(robot: Robot, *pins: float) -> None:
    """Discs below the pins that are fixed, and what joins them."""
    low = -1.5 * THICKNESS
    first, last = min(pins), max(pins)
    plate = box(
        "dark_grey", (last - first + 3 * PIN, 3 * PIN, THICKNESS), ((first + last) / 2, 0, low)
    )
    robot.link("base_link", plate, mass=2.0)


def _turning(effort: float = 10.0) -> Limit:
    return Limit(effort=effort, velocity=10.0)


def four_bar() -> tuple[Robot, Loops]:
    """A crank and a rocker."""
    crank, coupler, rocker, ground = 0.06, 0.3, 0.18, 0.3
    robot = Robot(
        "four_bar",
        """
four_bar: a crank and a rocker in the x-y plane, all joints about z (across gravity).
Dimensions: ours: crank 0.06 m, coupler 0.3 m, rocker 0.18 m, ground 0.3 m (Grashof: the crank
  turns round). At zero the crank lies along x and the loop is closed: a triangle of 3, 4 and 5.
Inertias: each bar is a uniform box of 2 kg a metre; the pins weigh nothing. Base 2 kg.
Limits: ours.
""",
    )
    _base(robot, 0.0, ground)
    _bar(robot, "crank_link", crank, "blue")
    _bar(robot, "coupler_link", coupler, "orange")
    _bar(robot, "rocker_link", rocker, "green")
    robot.joint("crank", "continuous", ("base_link", "crank_link"), limit=_turning())
    place = Place((crank, 0.0, 0.0), (0.0, 0.0, math.atan2(3.0, 4.0)))
    robot.joint("coupler", "continuous", ("crank_link", "coupler_link"), place, limit=_turning())
    place = Place((ground, 0.0, 0.0), (0.0, 0.0, math.pi / 2))
    robot.joint("rocker", "continuous", ("base_link", "rocker_link"), place, limit=_turning())
    robot.frame("coupler_end", "coupler_link", at(x=coupler))
    robot.frame("rocker_end", "rocker_link", at(x=rocker))
    loops = Loops(("crank",))
    loops.close("hinge", ("coupler_end", "rocker_end"), HINGE)
    return robot, loops


def slider_crank() -> tuple[Robot, Loops]:
    """A crank, a rod and a slider in line with the crank's pin."""
    crank, rod = 0.05, 0.13
    robot = Robot(
        "slider_crank",
        """
slider_crank: a crank, a rod and a slider that moves along x in line with the crank's pin.
Dimensions: ours: crank 0.05 m, rod 0.13 m. At zero the crank lies along x, the slider is at its
  farthest point, and the loop is closed.
Inertias: each bar is a uniform box of 2 kg a metre, the slider one of 0.3 kg. Base 2 kg.
Limits: ours; the slider's allow a whole turn of the crank.
""",
    )
    _base(robot, 0.0, crank + rod)
    _bar(robot, "crank_link", crank, "blue")
    _bar(robot, "rod_link", rod, "orange")
    robot.link("slider_link", box("green", (0.04, 0.03, 2 * THICKNESS)), mass=0.3)
    robot.joint("crank", "continuous", ("base_link", "crank_link"), limit=_turning())
    robot.joint("rod", "continuous", ("crank_link", "rod_link"), at(x=crank), limit=_turning())
    limit = Limit(effort=100.0, velocity=2.0, lower=-0.11, upper=0.01)
    place = at(x=crank + rod)
    robot.joint("slider", "prismatic", ("base_link", "slider_link"), place, axis="x", limit=limit)
    robot.frame("rod_end", "rod_link", at(x=rod))
    loops = Loops(("crank",))
    loops.close("hinge", ("rod_end", "slider_link"), HINGE)
    return robot, loops


def five_bar() -> tuple[Robot, Loops]:
    """Two driven bars and two that meet at the tool."""
    near, far, half = 0.2, 0.25, 0.15
    robot = Robot(
        "five_bar",
        """
five_bar: two driven bars on the base and two that meet at the tool, in the x-y plane.
Dimensions: ours: driven bars 0.2 m, the others 0.25 m, pins of the base 0.3 m apart. At zero the
  driven bars lie along y and the loop is closed: two triangles of 3, 4 and 5.
Inertias: each bar is a uniform box of 2 kg a metre; the pins weigh nothing. Base 2 kg.
Limits: ours.
""",
    )
    _base(robot, -half, half)
    turned = math.atan2(3.0, 4.0)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        _bar(robot, f"{side}_near", near, "blue")
        _bar(robot, f"{side}_far", far, "orange")
        limit = Limit(effort=10.0, velocity=10.0, lower=-1.5, upper=1.5)
        place = Place((sign * half, 0.0, 0.0), (0.0, 0.0, math.pi / 2))
        robot.joint(f"{side}", "revolute", ("base_link", f"{side}_near"), place, limit=limit)
        place = Place((near, 0.0, 0.0), (0.0, 0.0, sign * turned))
        robot.joint(
            f"{side}_elbow", "continuous", (f"{side}_near", f"{side}_far"), place, limit=_turning()
        )
        robot.frame(f"{side}_end", f"{side}_far", at(x=far))
    robot.frame("tool0", "left_far", at(x=far))
    loops = Loops(("left", "right"))
    loops.close("hinge", ("left_end", "right_end"), HINGE)
    return robot, loops
