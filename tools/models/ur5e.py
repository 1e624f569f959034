"""The Universal Robots UR5e from the maker's table."""

from __future__ import annotations

from math import pi

from robot import Limit, Robot, modified_dh
from shapes import HALF, disc, rod

HEADER = """
ur5e: the Universal Robots UR5e, a six-joint arm.
Dimensions, masses and centres of mass: Universal Robots, "DH Parameters for calculations of
  kinematics and dynamics" (standard Denavit-Hartenberg: a = 0, -0.425, -0.3922, 0, 0, 0;
  d = 0.1625, 0, 0, 0.1333, 0.0997, 0.0996; alpha = pi/2, 0, 0, pi/2, -pi/2, 0). base_link is
  the table's base frame (what the controller calls Base), tool0 its frame 6.
Inertias: the table gives none for this arm. Ours are those of the uniform solids drawn, taken
  about the published centre of mass. The base weighs what the data sheet's 20.6 kg leave over.
Limits: data sheet (+-360 degrees, 180 degrees a second); the elbow is held to +-180 degrees,
  as is usual in planning. Efforts: the maker's maximum joint torques.
"""
D1, A2, A3, D4, D5, D6 = 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
ARM_LINKS = ("shoulder_link", "upper_arm_link", "forearm_link")
LINKS = (*ARM_LINKS, "wrist_1_link", "wrist_2_link", "wrist_3_link")
MASSES = (3.761, 8.058, 2.846, 1.37, 1.3, 0.365)
TOTAL = 20.6
# the table's centres of mass in its frames; row k's frame is (a, alpha) beyond link k's
CENTRES = (
    (0.0, -0.02561, 0.00193),
    (0.2125, 0.0, 0.11336),
    (0.15, 0.0, 0.0265),
    (0.0, -0.0018, 0.01634),
    (0.0, 0.0018, 0.01634),
    (0.0, 0.0, -0.001159),
)
UPPER, FORE = 0.137, 0.007  # where the two tubes lie along the elbow's axis


def ur5e() -> Robot:
    """Each link's frame stands on its joint's axis, d beyond the one before."""
    robot = Robot("ur5e", HEADER)
    robot.link(
        "base_link",
        disc("grey", 0.075, 0.04, "z", (0, 0, 0.02)),
        disc("light_grey", 0.062, 0.06, "z", (0, 0, 0.07)),
        mass=round(TOTAL - sum(MASSES), 6),
    )
    a = (0.0, A2, A3, 0.0, 0.0, 0.0)
    alpha = (HALF, 0.0, 0.0, HALF, -HALF, 0.0)
    d = (D1, 0.0, 0.0, D4, D5, D6)
    efforts = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)
    parent, before = "base_link", (0.0, 0.0)
    for k, (link, solids) in enumerate(zip(LINKS, _solids(), strict=True)):
        x, y, z = CENTRES[k]
        cosine, sine = round(abs(alpha[k]) < 1), round(alpha[k] / HALF)
        com = (a[k] + x, cosine * y - sine * z, sine * y + cosine * z)
        robot.link(link, *solids, mass=MASSES[k], com=com)
        reach = pi if JOINTS[k] == "elbow" else 2 * pi
        robot.joint(
            f"{JOINTS[k]}_joint",
            "revolute",
            (parent, link),
            modified_dh(*before, d[k]),
            limit=Limit(efforts[k], pi, -reach, reach),
        )
        parent, before = link, (a[k], alpha[k])
    robot.frame("tool0", parent)
    return robot


def _solids():
    """Tubes between the joints; a blue cap closes each joint."""
    yield [
        disc("light_grey", 0.06, 0.075, "z", (0, 0, -0.025)),
        rod("light_grey", 0.06, (0, 0.066, 0), (0, -0.07, 0)),
        disc("light_blue", 0.058, 0.012, "y", (0, 0.072, 0)),
    ]
    yield [
        rod("light_grey", 0.06, (0, 0, 0.07), (0, 0, 0.196)),
        disc("light_blue", 0.058, 0.012, "z", (0, 0, 0.202)),
        rod("light_grey", 0.052, (0, 0, UPPER), (A2, 0, UPPER)),
        rod("light_grey", 0.056, (A2, 0, 0.068), (A2, 0, 0.19)),
        disc("light_blue", 0.054, 0.012, "z", (A2, 0, 0.196)),
    ]
    yield [
        rod("light_grey", 0.056, (0, 0, -0.05), (0, 0, 0.068)),
        disc("light_blue", 0.054, 0.012, "z", (0, 0, -0.056)),
        rod("light_grey", 0.043, (0, 0, FORE), (A3, 0, FORE)),
        rod("light_grey", 0.044, (A3, 0, -0.042), (A3, 0, 0.083)),
        disc("light_blue", 0.042, 0.012, "z", (A3, 0, -0.048)),
    ]
    yield [
        rod("light_grey", 0.044, (0, 0, -0.05), (0, 0, 0.044)),
        disc("light_blue", 0.042, 0.012, "z", (0, 0, 0.05)),
        rod("light_grey", 0.044, (0, 0, 0), (0, -0.05, 0)),
    ]
    yield [
        rod("light_grey", 0.044, (0, 0, -0.0497), (0, 0, 0.044)),
        disc("light_blue", 0.042, 0.012, "z", (0, 0, 0.05)),
        rod("light_grey", 0.044, (0, 0, 0), (0, 0.052, 0)),
    ]
    yield [
        disc("grey", 0.038, 0.0476, "z", (0, 0, -0.0238)),
    ]
