"""The Unimation PUMA 560 in the frames of Armstrong, Khatib and Burdick."""

from __future__ import annotations

from robot import Limit, Robot, matrix, modified_dh
from shapes import HALF, Inertia, box, disc, rod, uniform

HEADER = """
puma560: the Unimation PUMA 560, a six-joint arm with a spherical wrist.
Dimensions: B. Armstrong, O. Khatib, J. Burdick, "The explicit dynamic model and inertial
  parameters of the PUMA 560 arm", ICRA 1986 (modified Denavit-Hartenberg: a2 = 0.4318,
  a3 = -0.0203, d2 = 0.2435, d3 = -0.0934, d4 = 0.4331). The shoulder lies 26.45 inches
  (0.67183 m) above the mounting face. At zero the upper arm points along x, the forearm up.
Inertias: the same paper's masses, centres of mass and moments for links 2 to 6, as also
  discussed in P. Corke, B. Armstrong-Helouvry, "A search for consensus among model parameters
  reported for the PUMA 560 robot", ICRA 1994. Two things are ours:
  - of link 1 only the moment about the joint (0.35) is published; its mass (13 kg) is
    an estimate, its tensor that of the solids drawn, scaled until the published moment holds.
  - transcriptions of the table give izz of link 3 as 0.086 or as 0.066 (P. Corke, Robotics
    Toolbox, puma560akb). 0.086 breaks the triangle inequality against 0.066 and 0.0125, so 0.066
    stands here.
  The base (20 kg) is an estimate. Rotor inertias are not included.
Limits: angles as commonly tabulated (K. Fu, R. Gonzalez, C. Lee, Robotics, 1987); efforts
  have the size of the maximum torques of the 1986 paper; speeds are ours.
"""
HEIGHT = 0.67183
D2, A2, D3, A3, D4 = 0.2435, 0.4318, -0.0934, -0.0203, 0.4331
DEGREE = HALF / 90


def puma560() -> Robot:
    """Links 1 to 6 carry the frames of the paper."""
    robot = Robot("puma560", HEADER)
    robot.link(
        "base_link",
        disc("dark_grey", 0.16, 0.04, "z", (0, 0, 0.02)),
        disc("light_grey", 0.09, 0.53, "z", (0, 0, 0.3)),
        mass=20.0,
    )
    for k, (solids, inertia) in enumerate(zip(_solids(), _inertias(), strict=True), start=1):
        robot.link(f"link{k}", *solids, inertia=inertia)
    places = (
        modified_dh(0.0, 0.0, HEIGHT),
        modified_dh(0.0, -HALF, D2),
        modified_dh(A2, 0.0, D3),
        modified_dh(A3, HALF, D4),
        modified_dh(0.0, -HALF, 0.0),
        modified_dh(0.0, HALF, 0.0),
    )
    degrees = ((-160, 160), (-225, 45), (-45, 225), (-110, 170), (-100, 100), (-266, 266))
    efforts = (97.0, 186.0, 89.0, 24.0, 20.0, 21.0)
    speeds = (2.0, 2.0, 2.0, 4.0, 4.0, 4.0)
    parent = "base_link"
    for k, place in enumerate(places):
        low, high = degrees[k]
        limit = Limit(efforts[k], speeds[k], low * DEGREE, high * DEGREE)
        robot.joint(f"joint{k + 1}", "revolute", (parent, f"link{k + 1}"), place, limit=limit)
        parent = f"link{k + 1}"
    robot.frame("tool0", parent)
    return robot


def _solids():
    """What each link is drawn as; z of link 2 is the shoulder's axis, along the base's y."""
    yield [
        disc("light_grey", 0.09, 0.11, "z", (0, 0, -0.055)),
        rod("light_grey", 0.09, (0, -0.13, 0.0), (0, 0.165, 0.0)),
    ]
    yield [
        disc("white", 0.1, 0.155, "z", (0, 0, 0)),
        box("white", (0.34, 0.17, 0.115), (-0.03, 0, 0)),
        box("white", (0.3, 0.13, 0.1), (0.28, 0, 0)),
        disc("white", 0.065, 0.1, "z", (A2, 0, 0)),
    ]
    yield [
        disc("light_grey", 0.065, 0.085, "z", (0, 0, 0)),
        box("light_grey", (0.115, 0.2, 0.085), (-0.01, -0.06, 0)),
        box("light_grey", (0.085, 0.23, 0.08), (A3, -0.25, 0)),
    ]
    yield [
        disc("dark_grey", 0.035, 0.08, "z", (0, 0, -0.065)),
        box("grey", (0.06, 0.015, 0.07), (0, 0.035, 0)),
        box("grey", (0.06, 0.015, 0.07), (0, -0.035, 0)),
    ]
    yield [disc("dark_grey", 0.026, 0.054, "z", (0, 0, 0))]
    yield [disc("steel", 0.024, 0.056, "z", (0, 0, 0.028))]


def _inertias():
    """The published numbers, about the centre of mass in the axes of the paper's frames."""
    first = uniform(next(_solids()), 13.0)
    x, y, _ = first.com
    scale = (0.35 - first.mass * (x * x + y * y)) / first.tensor[2][2]
    tensor = tuple(tuple(scale * entry for entry in row) for row in first.tensor)
    yield Inertia(first.mass, first.com, tensor)
    yield Inertia(17.40, (0.068, 0.006, -0.016), matrix(0.130, 0, 0, 0.524, 0, 0.539))
    yield Inertia(4.80, (0, -0.070, 0.014), matrix(0.066, 0, 0, 0.0125, 0, 0.066))
    yield Inertia(0.82, (0, 0, -0.019), matrix(0.0018, 0, 0, 0.0018, 0, 0.0013))
    yield Inertia(0.34, (0, 0, 0), matrix(0.0003, 0, 0, 0.0003, 0, 0.0004))
    yield Inertia(0.09, (0, 0, 0.032), matrix(0.00015, 0, 0, 0.00015, 0, 0.00004))
