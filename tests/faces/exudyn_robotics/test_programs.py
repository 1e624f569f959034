"""Programs written for exudyn as they stand, with exudyn and without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fresh_python import program_as, python
from linkwork.faces.exudyn_robotics import stand_in
from seeds import rng

PUMA = """
from exudyn.utilities import *
from exudyn.robotics import *
from exudyn.robotics.models import ManipulatorPuma560, LinkDict2Robot
from exudyn.robotics.motion import Trajectory, ProfileConstantAcceleration, ProfilePTP

robot = LinkDict2Robot(ManipulatorPuma560(), Robot(tool=RobotTool(HT=HTtranslate([0, 0, 0.1]))))
ik = InverseKinematicsNumerical(robot=robot, useRenderer=False)
q0 = [0.2, 0.3, -0.4, 0.1, 0.6, 0.3]
T = robot.JointHT(q0)[-1] @ robot.GetToolHT()
T2 = HTtranslate([0.05, 0.02, -0.03]) @ T
positions = [q0]
for step in ik.InterpolateHTs(T, T2, rotStep=pi/32, minSteps=4):
    [q, success] = ik.Solve(step, q0=positions[-1])
    assert success
    positions += [q]
[q, success] = ik.SolveSafe(T2, q0=q0)
print(success, np.linalg.norm(positions[-1] - q) < 1e-6, len(positions))
far = HTtranslate([9, 0, 0]) @ T
print(ik.SolveSafe(far))

path = Trajectory(initialCoordinates=np.array(q0), initialTime=0)
for q in positions[1:]:
    path.Add(ProfileConstantAcceleration(q, 0.25))
path.Add(ProfilePTP(q0, syncAccTimes=False, maxVelocities=[1]*6, maxAccelerations=[2]*6))
[u, v, a] = path.Evaluate(0.125)
print(np.allclose(u, (np.array(q0) + positions[1])/2), path.GetTimes()[:3])
box = InertiaCuboid(density=1000, sideLengths=[0.1, 0.2, 0.3])
print(box.InertiaCOM().diagonal().round(6).tolist())
print(Robot.__module__)
"""
MEASURES = """
import exudyn.robotics as robotics
import exudyn.robotics.special as special
from exudyn.robotics.models import ManipulatorUR5, LinkDict2Robot
data = ManipulatorUR5()
robot = LinkDict2Robot(data)
q = [0.1, -1.2, 1.0, 0.3, 0.8, 0.2]
HT = robot.JointHT(q)
print(special.VelocityManipulability(robot, HT, 'all') > 0)
M = special.MassMatrix(robot, HT, special.JointJacobian(robot, HT, robot.LinkHT(q)))
print(M.shape, robotics.motion.Trajectory.__module__, robotics.models is not None)
"""
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
HIDDEN = """
import os, sys
import numpy as np, yaml
import linkwork as lw
lw.load("ur5e").ik(lw.pose([0.4, 0.2, 0.3]), "tool0")  # loads what lies beside exudyn
from linkwork.solve import nearest
sys.path[:] = [p for p in sys.path if not os.path.isdir(os.path.join(p, "exudyn"))]
from linkwork import faces
faces.install("exudyn.robotics")
"""
WITHOUT = (
    HIDDEN
    + """
import runpy
import exudyn.utilities
runpy.run_path(sys.argv[1])
try:
    from exudyn.utilities import ObjectGround
except ImportError as error:
    print(error)
"""
)
DRAWN = (
    HIDDEN
    + """
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
    except (ImportError, AttributeError) as error:
        print(error)
"""
)


def test_a_program_with_inverse_kinematics_and_a_path(tmp_path: Path):
    lines = program_as("exudyn.robotics", PUMA, tmp_path)
    assert lines == [
        "True True 5",
        "[None, False]",
        "True [0, 0.25, 0.5]",
        "[0.065, 0.05, 0.025]",
        "linkwork.faces.exudyn_robotics.robot",
    ]


def test_without_exudyn_our_own_helpers_stand_in(tmp_path: Path):
    for name, text in (("puma.py", PUMA), ("without.py", WITHOUT)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = python(tmp_path / "without.py", tmp_path / "puma.py").splitlines()
    assert lines[0] == "True True 5"
    assert lines[-2] == "linkwork.faces.exudyn_robotics.robot"
    assert lines[-1].startswith("'ObjectGround' is exudyn's, which is not installed: pip install")


def test_what_is_missing_is_no_attribute_for_those_who_look_around():
    assert not hasattr(stand_in, "ObjectGround")
    with pytest.raises(AttributeError, match="is exudyn's, which is not installed: pip install"):
        stand_in.ObjectGround  # noqa: B018
    with pytest.raises(ImportError, match="is exudyn's, which is not installed: pip install"):
        exec("from linkwork.faces.exudyn_robotics.stand_in import ObjectGround")


def test_a_program_that_measures_a_robot(tmp_path: Path):
    lines = program_as("exudyn.robotics", MEASURES, tmp_path)
    assert lines == ["True", "(6, 6) linkwork.faces.exudyn_robotics.motion True"]


def test_inertias_are_those_of_exudyn():
    theirs = pytest.importorskip("exudyn.utilities", reason="exudyn is not installed")
    g = rng("exudyn inertias")
    R = stand_in.HT2rotationMatrix(stand_in.HTrotateX(0.3) @ stand_in.HTrotateY(1.2))
    made = []
    for m in (stand_in, theirs):
        g = rng("exudyn inertias")
        box = m.InertiaCuboid(density=800, sideLengths=list(g.uniform(0.1, 0.4, 3)))
        moved = box.Translated(g.uniform(-1, 1, 3))
        given = m.RigidBodyInertia(2.0, np.diag([1.0, 2.0, 2.5]), [0.1, 0, 0.2], True)
        made.append([box, moved, box.Rotated(R), moved + given, given])
    for ours, other in zip(*made, strict=True):
        assert ours.Mass() == pytest.approx(other.Mass(), abs=1e-12)
        for name in ("COM", "Inertia", "InertiaCOM", "GetInertia6D"):
            np.testing.assert_allclose(getattr(ours, name)(), getattr(other, name)(), atol=1e-12)


@pytest.mark.row("S4-044")
def test_a_program_that_simulates_with_exudyn(tmp_path: Path):
    pytest.importorskip("exudyn", reason="exudyn is not installed")
    lines = program_as("exudyn.robotics", MODEL, tmp_path)
    assert lines[-1] == "True True linkwork.faces.exudyn_robotics.robot"


@pytest.mark.row("S4-044", "S4-049")
def test_without_exudyn_drawing_and_trees_stand_and_models_are_refused(tmp_path: Path):
    (tmp_path / "without.py").write_text(DRAWN, encoding="utf-8")
    parts, same, *said = python(tmp_path / "without.py").splitlines()
    assert parts == f"{['TriangleList'] * 3} linkwork.faces.exudyn_robotics.graphics"
    assert same == "True"
    assert len(said) == 2
    assert all(each.endswith("pip install 'linkwork[exudyn]'") for each in said)
    assert "SystemContainer" in said[1]
