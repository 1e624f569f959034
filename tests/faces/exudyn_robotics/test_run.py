"""Programs that build and draw models, as they stand: with exudyn, and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """
import exudyn as exu
import numpy as np
from exudyn.utilities import *
import exudyn.graphics as graphics
from exudyn.robotics import Robot, RobotBase, RobotLink, VRobotLink, VRobotBase

SC = exu.SystemContainer()
mbs = SC.AddSystem()
rod = InertiaCuboid(density=1000, sideLengths=[1, 0.1, 0.1]).Translated([0.5, 0, 0])
robot = Robot(gravity=[0, -9.81, 0], base=RobotBase(visualization=VRobotBase(
    graphicsData=[graphics.Brick(size=[0.2, 0.2, 0.2], color=graphics.color.grey)])))
for k in range(2):
    look = VRobotLink(linkColor=graphics.color.red)
    link = RobotLink(mass=rod.Mass(), COM=rod.COM(), inertia=rod.InertiaCOM(),
                     preHT=HTtranslate([k, 0, 0]), visualization=look)
    robot.AddLink(link)
made = robot.CreateKinematicTree(mbs, name='pendulum')
tree, kind = made['objectKinematicTree'], exu.OutputVariableType.Position
sensor = mbs.AddSensor(SensorKinematicTree(objectNumber=tree, linkNumber=1,
    localPosition=[1, 0, 0], storeInternal=True, outputVariableType=kind))
mbs.Assemble()
settings = exu.SimulationSettings()
settings.timeIntegration.numberOfSteps = 500
settings.timeIntegration.endTime = 0.5
settings.solution.file.write = False
mbs.SolveDynamic(settings)
tip = mbs.GetSensorValues(sensor)
print(abs(np.linalg.norm(tip) - 2) < 0.2, tip[1] < -0.5, Robot.__module__)
"""
WITHOUT = """
import os, sys
import numpy as np, yaml
import linkwork as lw
lw.load("ur5e").ik(lw.pose([0.4, 0.2, 0.3]), "tool0")  # loads what lies beside exudyn
from linkwork.solve import nearest
sys.path[:] = [p for p in sys.path if not os.path.isdir(os.path.join(p, "exudyn"))]
from linkwork import faces
faces.install("exudyn.robotics")
import exudyn.graphics as graphics
from exudyn.kinematicTree import KinematicTree66
from exudyn.robotics import Robot, RobotLink, VRobotLink

robot = Robot()
robot.AddLink(RobotLink(1, [0, 0, 0], np.eye(3)))
parts = robot.GetLinkGraphicsData(0, [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], VRobotLink())
print([part["type"] for part in parts], graphics.__name__)
print(isinstance(robot.GetKinematicTree66(), KinematicTree66))
import exudyn as exu
for call in (lambda: robot.CreateKinematicTree(None), lambda: exu.SystemContainer()):
    try:
        call()
    except ImportError as error:
        print(error)
"""


def run(*arguments: str) -> list[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.row("S4-044")
def test_a_program_that_simulates_with_exudyn(tmp_path: Path):
    pytest.importorskip("exudyn", reason="exudyn is not installed")
    (tmp_path / "pendulum.py").write_text(MODEL, encoding="utf-8")
    lines = run("-m", "linkwork", "run", "--as", "exudyn.robotics", str(tmp_path / "pendulum.py"))
    assert lines[-1] == "True True linkwork.faces.exudyn_robotics.robot"


@pytest.mark.row("S4-044", "S4-049")
def test_without_exudyn_drawing_and_trees_stand_and_models_are_refused(tmp_path: Path):
    (tmp_path / "without.py").write_text(WITHOUT, encoding="utf-8")
    parts, same, *said = run(str(tmp_path / "without.py"))
    assert parts == f"{['TriangleList'] * 3} linkwork.faces.exudyn_robotics.graphics"
    assert same == "True"
    assert len(said) == 2
    assert all(each.endswith("pip install 'linkwork[exudyn]'") for each in said)
    assert "SystemContainer" in said[1]
