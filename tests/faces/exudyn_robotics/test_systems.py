"""Models in a system of exudyn: simulated, and beside each other, the original's and our own."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from exudyn_robots import random_robot
from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics.transformations import HTrotateX, HTtranslate

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
    settings.solution.file.write = False
    settings.timeIntegration.verboseMode = 0
    settings.show.computationTime = False
    mbs.SolveDynamic(settings)


def tree_positions(robot: Any, duration: float, steps: int) -> np.ndarray:
    """Joint positions at the end, by a kinematic tree, which starts at the reference."""
    mbs = system()
    made = robot.CreateKinematicTree(mbs)
    run(mbs, duration, steps)
    q = mbs.GetNodeOutput(made["nodeGeneric"], exudyn.OutputVariableType.Coordinates)
    return np.atleast_1d(q) + robot.referenceConfiguration  # exudyn's coordinates begin there


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
    done = lw.simulate(
        robot.core(),
        q0,
        duration=duration,
        torque=lw.PD(kp, kd, q_target=0.0 * q0),
        gravity=robot.gravity,
    )
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


def pendulum(module: Any, count: int) -> Any:
    """Rods that hang on each other, as in the documentation: all joints about z."""
    robot = module.Robot(gravity=[0, -9.81, 0], referenceConfiguration=[0.3] * count)
    inertia = np.diag([1e-4, 0.02, 0.02])
    for k in range(count):
        pre = HTtranslate([0.5 * (k > 0), 0, 0])
        robot.AddLink(module.RobotLink(1.0, [0.25, 0, 0], inertia, preHT=pre))
    return robot


def serial(module: Any) -> Any:
    """An arm of standard parameters, with PD control: the documentation's serial robot in short."""
    robot = module.Robot(gravity=[0, 0, -9.81], referenceConfiguration=[0.2, -0.5, 0.8])
    for row in ([0, 0.3, 0, np.pi / 2], [0, 0, 0.4, 0], [0, 0.1, 0.1, -np.pi / 2]):
        robot.AddLink(
            module.RobotLink(
                2.0, [-0.1, 0.02, 0.03], np.diag([0.05, 0.06, 0.07]),
                localHT=np.array(module.StdDH2HT(row)), PDcontrol=(100.0, 5.0),
            )
        )  # fmt: skip
    return robot


@pytest.mark.row("S4-044", "S4-045", "S4-046")
@pytest.mark.parametrize("build", [lambda m: pendulum(m, 2), serial], ids=["pendulum", "serial"])
def test_documented_robots_move_as_the_original_and_as_ours(build: Any):
    theirs, ours = build(original), build(face)
    expected = tree_positions(theirs, 0.5, 1000)
    assert tree_positions(ours, 0.5, 1000) == pytest.approx(expected, abs=1e-12)
    assert simulated(ours, 0.5) == pytest.approx(expected, abs=1e-4)
    bodies = tip_of_bodies(theirs, 0.5, 1000)
    assert tip_of_bodies(ours, 0.5, 1000) == pytest.approx(bodies, abs=1e-9)


@pytest.mark.row("S4-045")
def test_numbers_are_in_the_original_s_dictionary():
    found = []
    for module in (original, face):
        mbs = system()
        found.append(serial(module).CreateRedundantCoordinateMBS(mbs, on_ground(mbs, np.eye(4))))
    theirs, ours = found
    assert ours.keys() == theirs.keys()
    for name in ("nodeList", "bodyList", "jointList", "springDamperList"):
        assert [int(k) for k in ours[name]] == [int(k) for k in theirs[name]]
    for name in ("unitTorque0List", "unitTorque1List"):
        assert np.array_equal(ours[name], theirs[name])
    assert all(len(numbers) == 3 for name, numbers in ours.items() if name != "baseObject")
    assert ours["baseObject"] == -1


@pytest.mark.row("S4-045")
@pytest.mark.parametrize(
    "node", ["RotationEulerParameters", "RotationRxyz", "RotationRotationVector"]
)
def test_types_of_nodes_give_the_same_motion(node: str):
    robot = serial(face)
    kind = getattr(exudyn.NodeType, node)
    found = tip_of_bodies(robot, 0.1, 200, rigidBodyNodeType=kind)
    expected = np.array([T[:3, 3] for T in robot.LinkHT(tree_positions(robot, 0.1, 200))])
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.row("S4-044", "S4-045")
def test_user_functions_work():
    """A spring's function on bodies and a force's function on the tree hold the arm alike."""

    def torque(mbs: Any, t: float, number: int, angle: float, rate: float, *gains: float) -> float:
        return 30.0 * angle + rate

    def force(mbs: Any, t: float, number: int, q: Any, v: Any) -> Any:
        return (-30.0 * np.array(q) - np.array(v)).tolist()

    robot = serial(face)
    options = {"jointSpringDamperUserFunctionList": [torque] * 3, "createJointTorqueLoads": False}
    bodies = tip_of_bodies(robot, 0.1, 200, **options)
    for link in robot.links:
        link.SetPDcontrol(30.0, 1.0)
    expected = np.array([T[:3, 3] for T in robot.LinkHT(simulated(robot, 0.1))])
    assert bodies == pytest.approx(expected, abs=1e-4)
    q = simulated(robot, 0.1)
    for link in robot.links:
        link.SetPDcontrol(0.0, 0.0)
    mbs = system()
    made = robot.CreateKinematicTree(mbs, name="arm", forceUserFunction=force)
    assert made["baseObject"] is None
    assert mbs.GetObject(made["objectKinematicTree"])["name"] == "arm"
    run(mbs, 0.1, 200)
    found = mbs.GetNodeOutput(made["nodeGeneric"], exudyn.OutputVariableType.Coordinates)
    assert found + robot.referenceConfiguration == pytest.approx(q, abs=1e-4)


@pytest.mark.row("S4-045")
def test_user_functions_of_loads_are_deprecated_and_work():
    def load(mbs: Any, t: float, unit: Any) -> Any:
        return (2.0 * np.array(unit)).tolist()

    robot, mbs = pendulum(face, 1), system()
    with pytest.warns(DeprecationWarning, match="jointSpringDamperUserFunctionList"):
        made = robot.CreateRedundantCoordinateMBS(
            mbs, on_ground(mbs, np.eye(4)), jointLoadUserFunctionList=[load]
        )
    run(mbs, 0.1, 200)
    T = mbs.GetNodeOutput(made["nodeList"][0], exudyn.OutputVariableType.RotationMatrix)
    q0 = robot.referenceConfiguration
    done = lw.simulate(robot.core(), q0, duration=0.1, torque=[2.0], gravity=robot.gravity)
    assert np.arctan2(T[3], T[0]) == pytest.approx(done.q[-1][0], abs=1e-5)


@pytest.mark.row("S4-045")
def test_a_turned_base_may_stand_on_a_body():
    """The marker may be off the base; what is given as its rotation takes the base's place."""
    robot = serial(face)
    robot.base.HT = HTtranslate([0.1, 0.2, 0.3]) @ HTrotateX(0.4)
    expected = np.array([T[:3, 3] for T in robot.LinkHT(tree_positions(robot, 0.1, 200))])
    for rotation in (None, HTrotateX(0.4)[:3, :3].tolist()):
        mbs = system()
        marker = on_ground(mbs, HTtranslate([0.5, 0, 0]))
        made = robot.CreateRedundantCoordinateMBS(mbs, marker, rotationMarkerBase=rotation)
        run(mbs, 0.1, 200)
        kind = exudyn.OutputVariableType.Position
        found = np.array([mbs.GetNodeOutput(node, kind) for node in made["nodeList"]])
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.row("S4-045")
def test_what_cannot_be_built_leaves_the_system_as_it_is():
    robot, mbs = serial(face), system()
    marker = on_ground(mbs, np.eye(4))
    count = mbs.systemData.NumberOfObjects()
    robot.links[2].jointType = "Px"
    with pytest.raises(ValueError, match="joint 2 slides"):
        robot.CreateRedundantCoordinateMBS(mbs, marker)
    robot.links[2].jointType = "Rx"
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        robot.CreateRedundantCoordinateMBS(mbs, marker, rotationMarkerBase=[1, 2])
    bare = pendulum(face, 2)
    with pytest.raises(ValueError, match="PDcontrol"):
        bare.CreateRedundantCoordinateMBS(
            mbs, marker, jointSpringDamperUserFunctionList=[0], createJointTorqueLoads=False
        )
    assert mbs.systemData.NumberOfObjects() == count


@pytest.mark.row("S4-044", "S4-045", "S4-021", "S4-023")
def test_what_is_drawn_is_taken():
    robot = serial(face)
    brick = face.graphics.Brick(size=[0.1, 0.1, 0.1])
    robot.base.visualization = face.VRobotBase(graphicsData=[brick])
    robot.tool.visualization = face.VRobotTool(graphicsData=[brick])
    robot.links[0].visualization.showMBSjoint = False
    mbs = system()
    assert int(robot.CreateKinematicTree(mbs)["baseObject"]) == 0
    mbs = system()
    made = robot.CreateRedundantCoordinateMBS(mbs, on_ground(mbs, np.eye(4)))
    assert int(made["baseObject"]) == 1
    shown = [mbs.GetObject(joint)["Vshow"] for joint in made["jointList"]]
    assert shown == [False, True, True]
