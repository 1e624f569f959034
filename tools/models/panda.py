"""A seven-joint arm with the Franka Emika Panda's kinematics."""

from __future__ import annotations

from robot import Limit, Robot, matrix, modified_dh
from shapes import HALF, Inertia, ball, box, disc, rod

HEADER = """
panda: a seven-joint Panda-like arm, drawn with simple solids.
Dimensions and limits: Franka Emika, "Denavit-Hartenberg parameters" and "Limits for Panda" of
  the Franka Control Interface documentation (modified Denavit-Hartenberg: d1 = 0.333,
  d3 = 0.316, d5 = 0.384, a4 = 0.0825, a5 = -0.0825, a7 = 0.088, flange 0.107). tool0 is the flange.
Inertias: C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic
  identification of the Franka Emika Panda robot with retrieval of feasible parameters using
  penalty-based optimization", IEEE RA-L 2019: links 1 to 7, as identified, about the centre of
  mass. They reproduce the measured torques rather than the look of each link. The base's mass
  (2 kg) and inertia are ours, those of the solids drawn.
"""
D1, D3, D5, A4, A7, FLANGE = 0.333, 0.316, 0.384, 0.0825, 0.088, 0.107


def panda() -> Robot:
    """Link k carries frame k of the maker's table."""
    robot = Robot("panda", HEADER)
    robot.link(
        "link0",
        box("white", (0.2, 0.17, 0.05), (-0.04, 0, 0.025)),
        disc("white", 0.075, 0.12, "z", (0, 0, 0.08)),
        mass=2.0,
    )
    for k, (solids, inertia) in enumerate(zip(_solids(), _inertias(), strict=True), start=1):
        robot.link(f"link{k}", *solids, inertia=inertia)
    places = (
        modified_dh(0.0, 0.0, D1),
        modified_dh(0.0, -HALF, 0.0),
        modified_dh(0.0, HALF, D3),
        modified_dh(A4, HALF, 0.0),
        modified_dh(-A4, -HALF, D5),
        modified_dh(0.0, HALF, 0.0),
        modified_dh(A7, HALF, 0.0),
    )
    lower = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
    upper = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
    for k, place in enumerate(places):
        effort, velocity = (87.0, 2.175) if k < 4 else (12.0, 2.61)
        limit = Limit(effort, velocity, lower[k], upper[k])
        robot.joint(f"joint{k + 1}", "revolute", (f"link{k}", f"link{k + 1}"), place, limit=limit)
    robot.frame("tool0", "link7", modified_dh(0.0, 0.0, FLANGE))
    return robot


def _solids():
    """Tubes and elbows along the table's axes."""
    yield [
        disc("white", 0.062, 0.2, "z", (0, 0, -0.095)),
        disc("white", 0.062, 0.16, "y"),
    ]
    yield [
        disc("light_grey", 0.06, 0.172, "z"),
        rod("white", 0.06, (0, 0, 0), (0, -0.19, 0)),
    ]
    yield [
        disc("white", 0.06, 0.13, "z", (0, 0, -0.065)),
        rod("white", 0.052, (0, 0, -0.02), (A4, 0, 0)),
        disc("white", 0.058, 0.14, "y", (A4, 0, 0)),
    ]
    yield [
        disc("light_grey", 0.056, 0.152, "z"),
        rod("white", 0.05, (0, 0, 0), (-A4, 0.05, 0)),
        rod("white", 0.056, (-A4, 0.02, 0), (-A4, 0.13, 0)),
    ]
    yield [
        disc("white", 0.056, 0.13, "z", (0, 0, -0.19)),
        rod("white", 0.045, (0, 0.03, -0.2), (0, 0.055, -0.02)),
        disc("white", 0.048, 0.15, "y", (0, 0.005, 0)),
    ]
    yield [
        disc("light_grey", 0.046, 0.162, "z", (0, 0, 0)),
        rod("white", 0.044, (0, 0, 0), (A7, 0, 0)),
        disc("white", 0.046, 0.1, "y", (A7, 0.0, 0)),
    ]
    yield [
        disc("white", 0.044, 0.05, "z", (0, 0, 0.07)),
        disc("dark_grey", 0.032, 0.012, "z", (0, 0, 0.101)),
        ball("blue", 0.008, (0.046, 0, 0.07)),
    ]


def _inertias():
    """Table of the paper: mass, centre of mass, ixx, ixy, ixz, iyy, iyz, izz."""
    rows = (
        (4.970684, (0.003875, 0.002081, -0.175)),
        (0.646926, (-0.003141, -0.02872, 0.003495)),
        (3.228604, (0.027518, 0.039252, -0.066502)),
        (3.587895, (-0.05317, 0.104419, 0.027454)),
        (1.225946, (-0.011953, 0.041065, -0.038437)),
        (1.666555, (0.060149, -0.014117, -0.010517)),
        (0.735522, (0.010517, -0.004252, 0.061597)),
    )
    tensors = (
        (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117),
        (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995),
        (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083),
        (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323),
        (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627),
        (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433),
        (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815),
    )
    for (mass, com), tensor in zip(rows, tensors, strict=True):
        yield Inertia(mass, com, matrix(*tensor))
