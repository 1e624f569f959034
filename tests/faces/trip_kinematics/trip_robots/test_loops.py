"""Closed loops by the core's inverse kinematics, against closed forms."""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt

import pytest

from linkwork.faces.trip_kinematics.mistakes import NoSolution
from linkwork.faces.trip_kinematics.trip_robots.loops import Loops, Tree
from linkwork.mechanism.model import JointType


def slider_crank() -> Loops:
    """A crank of 1 m and a rod of 2 m, whose end slides along x."""
    tree = Tree()
    tree.joint("crank", JointType.CONTINUOUS, "ground")
    tree.joint("rod", JointType.CONTINUOUS, "crank", p=(1.0, 0.0, 0.0))
    tree.frame("end", "rod", (2.0, 0.0, 0.0))
    tree.joint("slide", JointType.PRISMATIC, "ground", axis=(1.0, 0.0, 0.0))
    return Loops(tree, [("end", "slide")], "xy")


def test_the_slider_crank():
    loops = slider_crank()
    for angle in (0.3, 1.0, 2.0, -2.5):
        found = loops.close({"crank": angle}, {"slide": 2.5, "rod": -angle})
        cosine, sine = cos(angle), sin(angle)
        assert found["slide"] == pytest.approx(cosine + sqrt(4 - sine**2), abs=1e-11)
        assert found["crank"] == angle
        back = loops.close({"slide": found["slide"]}, {"crank": angle, "rod": -angle})
        assert back["crank"] == pytest.approx(angle, abs=1e-9)


def test_the_start_decides_between_two_assemblies():
    loops, away = slider_crank(), acos((1 + 2.5**2 - 4) / (2 * 2.5))
    for side in (1.0, -1.0):
        start = {"crank": side * 0.5, "rod": -side}
        assert loops.close({"slide": 2.5}, start)["crank"] == pytest.approx(side * away, abs=1e-9)


def test_what_cannot_be_assembled():
    with pytest.raises(NoSolution, match=r"cannot be assembled at slide = 3\.5"):
        slider_crank().close({"slide": 3.5}, {"crank": pi / 4})
