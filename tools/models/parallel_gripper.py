"""A gripper whose jaws stay parallel: each is carried by a parallelogram, gears drive both."""

from __future__ import annotations

import math

from loops import Loops
from robot import Limit, Place, Robot, at
from shapes import Vector, box, disc, rod

LENGTH = 0.075  # of the four arms
OUT = (0.28, 0.96)  # how the arms lie at zero: inwards and along z, sides of a triangle 7, 24, 25
CRANK: Vector = (0.0, 0.05, 0.055)  # pin of the left crank; the right one's is its mirror image
APART: Vector = (0.0, -0.022, 0.014)  # from the crank's pins to the link's
HINGE = "xyz/yz"  # all but turns about x
PAD = 0.008  # thickness of a pad
FACE = CRANK[1] - LENGTH * OUT[0]  # how far the pad's face is inwards of the crank's end


def gripper() -> tuple[Robot, Loops]:
    """Hand out along z, jaws closing along y."""
    robot = Robot(
        "gripper",
        """
gripper: two jaws on parallelograms, which stay parallel; gears turn both cranks by one motor.
Dimensions: ours: arms 0.075 m; a crank's pin at (0, 0.05, 0.055) m on the palm, the link's pin
  0.022 m inwards and 0.014 m outwards of it. At zero the jaws touch and the loops are closed; at
  an angle t of the cranks each jaw is 0.075 (sin(t - s) + sin(s)) m from the middle, sin(s) = 0.28.
Inertias: uniform solids: palm 0.6 kg, crank 0.05, link 0.03, jaw 0.06 kg.
Limits: ours.
""",
    )
    palm = [
        disc("dark_grey", 0.04, 0.012, "z", (0, 0, 0.006)),
        box("dark_grey", (0.04, 0.12, 0.045), (0, 0, 0.0345)),
        box("dark_grey", (0.02, 0.064, 0.02), (0, 0, 0.066)),
    ]
    robot.link("base_link", *palm, mass=0.6)
    loops = Loops(("left_crank",))
    for name, side in (("left", 1.0), ("right", -1.0)):
        _jaw(robot, loops, name, side)
    robot.frame("tool0", "base_link", at(z=CRANK[2] + LENGTH * OUT[1] + 0.045))
    loops.couple("right_crank", "left_crank", 1.0)
    return robot, loops


def _jaw(robot: Robot, loops: Loops, name: str, side: float) -> None:
    """A crank and a link of the same length, and the jaw that both carry.

    Arms lie along z of their own frames. A positive angle opens; sides mirror each other.
    """
    crank, link, jaw = f"{name}_crank", f"{name}_link", f"{name}_jaw"
    lean = math.atan2(OUT[0], OUT[1])
    opening, closing = ("-x", "x") if side > 0 else ("x", "-x")
    pin = disc("grey", 0.007, 0.03, "x")
    arm = rod("steel", 0.006, (0, 0, 0), (0, 0, LENGTH))
    robot.link(f"{crank}_arm", pin, arm, mass=0.05)
    robot.link(f"{link}_arm", disc("grey", 0.005, 0.026, "x"), arm, mass=0.03)
    to_link: Vector = (0.0, side * APART[1], APART[2])
    inside = -side * FACE
    solids = [
        rod("grey", 0.007, (0, 0, 0), to_link),
        box("grey", (0.02, 0.012, 0.05), (0, inside + side * (PAD + 0.006), 0.03)),
        box("black", (0.02, PAD, 0.045), (0, inside + side * PAD / 2, 0.0375)),
    ]
    robot.link(jaw, *solids, mass=0.06)
    turn = Limit(effort=20.0, velocity=5.0, lower=0.0, upper=0.9)
    free = Limit(effort=20.0, velocity=5.0, lower=-0.05, upper=0.95)
    place = Place((0.0, side * CRANK[1], CRANK[2]), (side * lean, 0.0, 0.0))
    links = ("base_link", f"{crank}_arm")
    robot.joint(crank, "revolute", links, place, axis=opening, limit=turn)
    place = Place((0.0, 0.0, LENGTH), (-side * lean, 0.0, 0.0))
    robot.joint(jaw + "_turn", "revolute", (f"{crank}_arm", jaw), place, axis=closing, limit=free)
    pins = (0.0, side * (CRANK[1] + APART[1]), CRANK[2] + APART[2])
    place = Place(pins, (side * lean, 0.0, 0.0))
    links = ("base_link", f"{link}_arm")
    robot.joint(link, "revolute", links, place, axis=opening, limit=free)
    robot.frame(f"{link}_end", f"{link}_arm", at(z=LENGTH))
    robot.frame(f"{jaw}_pin", jaw, Place(to_link))
    robot.frame(f"{name}_tip", jaw, at(y=inside, z=0.045))
    loops.close(f"{name}_hinge", (f"{link}_end", f"{jaw}_pin"), HINGE)
