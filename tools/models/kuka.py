"""A KUKA LBR iiwa 14 with a WSG 50 gripper, by the names that scikit-robot's programs know."""

from __future__ import annotations

from robot import Limit, Robot, at
from shapes import Solid, ball, box, disc

HEADER = """
kuka: an LBR iiwa 14 R820-like arm with a two-finger gripper, drawn with simple solids.
Dimensions and limits: KUKA, "LBR iiwa 7 R800, LBR iiwa 14 R820: specification": 0.36 m to the
  shoulder, 0.42 m to the elbow, 0.4 m to the wrist, 0.126 m to the flange; axes 1, 3 and 5 turn by
  170 degrees, 2, 4 and 6 by 120, 7 by 175. Each joint's frame lies where its axis leaves the link
  before. Names are those of the model in scikit-robot.
Masses: 23 kg for links 1 to 7 as specified, shared out by us; inertias are ours, those of the
  uniform solids drawn. The gripper is ours, of the size of a Schunk WSG 50 (110 mm stroke, 1.2 kg).
"""
PREFIX = "lbr_iiwa_with_wsg50__"
RISES = (0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081)
AXES = ("z", "y", "z", "-y", "z", "y", "z")
RANGES = (2.96706, 2.0944, 2.96706, 2.0944, 2.96706, 2.0944, 3.05433)
SPEEDS = (1.4835, 1.4835, 1.7453, 1.309, 2.2689, 2.3562, 2.3562)
EFFORTS = (320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0)
MASSES = (4.1, 4.1, 3.5, 3.4, 2.8, 3.0, 2.1)


def kuka() -> Robot:
    """At zero the arm points straight up."""
    robot = Robot("lbr_iiwa_with_wsg50", HEADER)
    base = [
        disc("grey", 0.09, 0.06, "z", (0, 0, 0.03)),
        disc("white", 0.075, 0.1, "z", (0, 0, 0.1)),
    ]
    robot.link(f"{PREFIX}lbr_iiwa_link_0", *base, mass=5.0)
    for k, solids in enumerate(_solids()):
        link, parent = (f"{PREFIX}lbr_iiwa_link_{i}" for i in (k + 1, k))
        robot.link(link, *solids, mass=MASSES[k])
        limit = Limit(EFFORTS[k], SPEEDS[k], -RANGES[k], RANGES[k])
        place = at(0, 0, RISES[k])
        robot.joint(f"{PREFIX}J{k}", "revolute", (parent, link), place, axis=AXES[k], limit=limit)
    hand = f"{PREFIX}base_link"
    body = [disc("dark_grey", 0.032, 0.02, "z", (0, 0, 0.01))]
    body.append(box("dark_grey", (0.146, 0.05, 0.07), (0, 0, 0.055)))
    robot.link(hand, *body, mass=1.0)
    robot.joint(
        f"{PREFIX}gripper_to_arm", "fixed", (f"{PREFIX}lbr_iiwa_link_7", hand), at(0, 0, 0.044)
    )
    for side, way in (("left", -1), ("right", 1)):
        finger, tip = f"{PREFIX}{side}_finger", f"{PREFIX}{side}_finger_tip"
        robot.link(finger, box("steel", (0.016, 0.02, 0.08), (way * 0.02, 0, 0.04)), mass=0.06)
        limit = Limit(80.0, 1.0, -0.5, 0.5)
        links = (hand, finger)
        name = f"{PREFIX}base_{side}_finger_joint"
        robot.joint(name, "revolute", links, at(0, 0, 0.09), axis="y", limit=limit)
        robot.link(tip, box("black", (0.014, 0.02, 0.05), (way * 0.02, 0, 0.02)), mass=0.04)
        name = f"{PREFIX}{side}_base_tip_joint"
        robot.joint(name, "revolute", (finger, tip), at(0, 0, 0.08), axis="y", limit=limit)
    return robot


def _solids() -> list[list[Solid]]:
    """Tubes along z and elbows across, in white and orange."""
    return [
        [disc("white", 0.068, 0.13, "z", (0, 0, 0.06)), ball("white", 0.07, (0, 0, 0.15))],
        [disc("orange", 0.066, 0.13, "y"), disc("white", 0.06, 0.15, "z", (0, 0, 0.1))],
        [disc("white", 0.06, 0.13, "z", (0, 0, 0.06)), ball("white", 0.062, (0, 0, 0.15))],
        [disc("orange", 0.06, 0.12, "y"), disc("white", 0.055, 0.13, "z", (0, 0, 0.09))],
        [disc("white", 0.055, 0.13, "z", (0, 0, 0.06)), ball("white", 0.055, (0, 0, 0.15))],
        [disc("orange", 0.052, 0.11, "y"), disc("white", 0.045, 0.04, "z", (0, 0, 0.04))],
        [disc("white", 0.045, 0.05, "z", (0, 0, 0.015))],
    ]
