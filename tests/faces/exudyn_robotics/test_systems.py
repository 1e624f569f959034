"""Models in a system of exudyn: simulated, and beside each other, the original's and our own."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from exudyn_robots import random_robot
from linkwork.errors import InputError
from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics.transformations import HTrotateX, HTtranslate
from seeds import rng

exudyn = pytest.importorskip("exudyn", reason="exudyn is not installed")
items: Any = importlib.import_module("exudyn.itemInterface")
original: ModuleType = importlib.import_module("exudyn.robotics")


def system() -> Any:
    return exudyn.SystemContainer().AddSystem()


def on_ground(mbs: Any, place: np.ndarray) -> Any:
    ground = mbs.AddObject(items.ObjectGround(referencePosition=place[:3, 3].tolist()))
    return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[0, 0, 0]))


def run(mbs: Any, duration: float, steps: int) -> None:
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    settings.timeIntegration.newton.relativeTolerance = 1e-10
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.verboseMode = 0
    settings.displayComputationTime = False
    mbs.SolveDynamic(settings)


def tree_positions(robot: Any, duration: float, steps: int) -> np.ndarray:
    """Joint positions at the end, by a kinematic tree, which starts at the reference."""
    mbs = system()
    made = robot.CreateKinematicTree(mbs)
    run(mbs, duration, steps)
    q = mbs.GetNodeOutput(made["nodeGeneric"], exudyn.OutputVariableType.Coordinates)
    return np.atleast_1d(q)[: robot.NumberOfLinks()]


def tip_of_bodies(robot: Any, duration: float, steps: int, **options: Any) -> np.ndarray:
    """The position of each link's frame at the end, by bodies with joints."""
    mbs = system()
    marker = on_ground(mbs, np.array(robot.GetBaseHT()))
    made = robot.CreateRedundantCoordinateMBS(mbs, marker, **options)
    run(mbs, duration, steps)
    kind = exudyn.OutputVariableType.Position
    return np.array([mbs.GetNodeOutput(node, kind) for node in made["nodeList"]])


def simulated(robot: Any, duration: float) -> np.ndarray:
    """Joint positions at the end, by `lw.simulate` of the same robot and its gains."""
    q0 = np.array(robot.referenceConfiguration)
    gains = [k.GetPDcontrol() if k.HasPDcontrol() else (0.0, 0.0) for k in robot.links]
    kp, kd = (np.array(g, np.float64) for g in zip(*gains, strict=True))
    body = robot.core()

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -kp * q - kd * v

    done = lw.simulate(
        body, duration, q0=q0, v0=np.zeros(len(q0)), control=control, gravity=robot.gravity,
        step=duration / 4000,
    )  # fmt: skip
    return done.q[-1]


@pytest.mark.row("S4-044", "S4-046")
@pytest.mark.parametrize("tree", [False, True])
def test_both_models_and_our_simulation_agree(tree: bool):
    """Also where the base is turned, with joints about and along all axes, and with springs."""
    robot = random_robot(face, f"models {tree}", 4, tree=tree, gains=True)
    by_tree = tree_positions(robot, 0.5, 2000)
    ours = simulated(robot, 0.5)
    assert by_tree == pytest.approx(ours, abs=2e-5)
    bodies = tip_of_bodies(robot, 0.5, 2000, createJointTorqueLoads=False)
    expected = np.array([T[:3, 3] for T in robot.LinkHT(ours)])
    assert bodies == pytest.approx(expected, abs=5e-5)
