"""The example robots, and what is computed of robots in `special` and `mobile`: beside exudyn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.faces.exudyn_robotics import future, mobile, models, special, utilities
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import HTtranslate
from seeds import rng

MODELS = (
    "Manipulator3RSimple", "Manipulator4Rsimple", "ManipulatorPANDA", "ManipulatorPuma560",
    "ManipulatorUR5",
)  # fmt: skip


def original(name: str) -> Any:
    return pytest.importorskip(f"exudyn.robotics.{name}", reason="exudyn is not installed")


@pytest.mark.parametrize("name", MODELS)
def test_dictionaries_have_the_values_of_exudyn(name: str):
    ours, theirs = getattr(models, name)(), getattr(original("models"), name)()
    assert list(ours) == list(theirs)
    for key in ours.keys() - {"links", "base", "tool", "dhMode"}:
        np.testing.assert_array_equal(ours[key], theirs[key], err_msg=key)
    assert ours["dhMode"] == theirs["dhMode"]
    for key in ("base", "tool"):
        np.testing.assert_allclose(ours[key]["HT"], np.array(theirs[key]["HT"]), atol=1e-15)
    for mine, other in zip(ours["links"], theirs["links"], strict=True):
        assert mine.keys() == other.keys()
        for key in mine:
            np.testing.assert_allclose(mine[key], other[key], rtol=1e-15, atol=0, err_msg=key)


@pytest.mark.parametrize("name", ["Manipulator3RSimple", "ManipulatorPuma560", "ManipulatorUR5"])
@pytest.mark.parametrize("make", ["LinkDict2Robot", "LinkDictModDHKK2Robot"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_robots_of_dictionaries_are_those_of_exudyn(name: str, make: str):
    given = original("models")
    rob = pytest.importorskip("exudyn.robotics")
    theirs = getattr(given, make)(getattr(given, name)(), rob.Robot())
    ours = getattr(models, make)(getattr(models, name)(), Robot())
    assert ours.NumberOfLinks() == theirs.NumberOfLinks()
    for mine, other in zip(ours.links, theirs.links, strict=True):
        for key in ("COM", "inertia", "localHT", "preHT"):
            np.testing.assert_allclose(
                getattr(mine, key), np.array(getattr(other, key)), atol=1e-15, err_msg=key
            )
        assert mine.HasPDcontrol() == other.HasPDcontrol()
        if mine.HasPDcontrol():
            assert mine.GetPDcontrol() == other.GetPDcontrol()
        assert mine.visualization.linkColor == other.visualization.linkColor
    q = rng(f"{name} {make}").uniform(-2, 2, ours.NumberOfLinks())
    np.testing.assert_allclose(
        ours.JointHT(q), [np.array(T) for T in theirs.JointHT(q)], atol=1e-12
    )


def test_a_dictionary_brings_gravity_base_and_tool_and_a_robot_keeps_its_own():
    given = models.ManipulatorPuma560() | {
        "gravity": [0, 0, 1],
        "tool": {"HT": HTtranslate([1, 2, 3])},
    }
    made = models.LinkDict2Robot(given)
    np.testing.assert_array_equal(made.gravity, [0, 0, 1])
    np.testing.assert_array_equal(made.GetToolHT()[:3, 3], [1, 2, 3])
    robot = Robot(gravity=[1, 0, 0])
    assert models.LinkDict2Robot(given, robot) is robot
    np.testing.assert_array_equal(robot.gravity, [1, 0, 0])
    with pytest.raises(ValueError, match="dhMode is stdDH or modDHKK, not 'x'"):
        models.LinkDict2Robot(given | {"dhMode": "x"})
    with pytest.warns(DeprecationWarning, match="LinkDict2Robot takes dhMode"):
        models.LinkDictModDHKK2Robot(given)


def test_panda_is_frankas():
    """The modified parameters give the pose of the bundled model's flange."""
    robot, panda = models.LinkDict2Robot(models.ManipulatorPANDA()), lw.load("panda")
    for q in panda.random(20, seed=1):
        np.testing.assert_allclose(
            robot.LinkHT(q)[-1][:3, 3], panda.fk(q, "tool0")[:3, 3], atol=1e-9
        )


@pytest.fixture(name="puma", scope="module")
def _puma() -> Robot:
    return models.LinkDict2Robot(models.ManipulatorPuma560())


def test_measures_are_those_of_exudyn(puma: Robot):
    theirs, made = original("special"), original("models")
    data, other = models.ManipulatorPuma560(), made.LinkDict2Robot(made.ManipulatorPuma560())
    g = rng("exudyn special")
    for q in g.uniform(-2, 2, (10, 6)):
        q[4] = 0.3 + abs(q[4])  # away from the singular wrist, where digits are lost
        HT, HT2 = puma.JointHT(q), other.JointHT(q)
        J = special.JointJacobian(puma, HT, puma.LinkHT(q))
        J2 = theirs.JointJacobian(other, HT2, other.LinkHT(q))
        np.testing.assert_allclose(J, J2, atol=1e-12)
        M = special.MassMatrix(puma, HT, J)
        np.testing.assert_allclose(M, theirs.MassMatrix(other, HT2, J2), atol=1e-12)
        np.testing.assert_allclose(M, puma.core().accept_inertias().mass_matrix(q), atol=1e-12)
        K, most = data["jointStiffnessMatrix"], data["joinTorqueMaxMatrix"]
        for mode in ("all", "trans", "rot"):
            arguments: dict[str, tuple[Any, ...]] = {
                "VelocityManipulability": (HT, mode),
                "ForceManipulability": (HT, mode),
                "StiffnessManipulability": (K, HT, mode),
                "DynamicManipulability": (HT, M, most, mode),
            }
            for name, given in arguments.items():
                mine = getattr(special, name)(puma, *given)
                wanted = getattr(theirs, name)(other, *(HT2 if x is HT else x for x in given))
                if isinstance(wanted, list):
                    np.testing.assert_allclose(mine[0], wanted[0], rtol=1e-3)
                    mine, wanted = mine[1], wanted[1]
                scale = np.abs(wanted).max()
                np.testing.assert_allclose(mine, wanted, rtol=1e-6, atol=1e-7 * scale)
            for flag in ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]):
                found = special.CalculateAllMeasures(puma, data, q, mode, flag)
                there = theirs.CalculateAllMeasures(other, data, q, mode, flag)
                assert [np.shape(x) for x in found] == [np.shape(x) for x in there]


def test_singular_configurations(puma: Robot):
    HT, K = puma.JointHT(np.zeros(6)), np.eye(6)
    assert special.VelocityManipulability(puma, HT, "all") < 1e-12
    assert special.ForceManipulability(puma, HT, "all") == 100
    assert special.ForceManipulability(puma, HT, "all", 7) == 7
    with pytest.raises(ValueError, match="singular here"):
        special.StiffnessManipulability(puma, K, HT, "all")
    with pytest.raises(ValueError, match="singular here"):
        special.DynamicManipulability(puma, HT, K, K, "rot")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_wheels_are_those_of_exudyn():
    theirs = original("mobile")
    for wheels in (0, 1):
        ours, other = (
            m.MobileKinematics(0.1, 0.3, 0.2, wheeltype=wheels) for m in (mobile, theirs)
        )
        np.testing.assert_allclose(
            ours.GetWheelVelocities([1, 2, 3]), other.GetWheelVelocities([1, 2, 3])
        )
        w = [1.0, 2.0, 3.0, 5.0]
        np.testing.assert_allclose(ours.GetCartesianVelocities(w), other.GetCartesianVelocities(w))
    np.testing.assert_allclose(
        mobile.MecanumXYphi2WheelVelocities(1, 2, 3, 0.1, 0.3, 0.2, 0),
        theirs.MecanumXYphi2WheelVelocities(1, 2, 3, 0.1, 0.3, 0.2, 0),
    )


def test_wheels_there_and_back():
    for wheels in (0, 1):
        w = mobile.MecanumXYphi2WheelVelocities(1, 2, 3, 0.1, 0.3, 0.2, wheels)
        back = mobile.MecanumWheelVelocity2XYphi(w, 0.1, 0.3, 0.2, wheels)
        np.testing.assert_allclose(back, [1, 2, 3], atol=1e-12)
    with pytest.raises(lw.UnsupportedFeatureError, match="wheeltype is 0 or 1"):
        mobile.MobileKinematics(0.1, 0.3, 0.2, wheeltype=2)
    with pytest.raises(lw.UnsupportedFeatureError, match="flagAdjusted"):
        mobile.MobileKinematics(0.1, 0.3, 0.2, True)
    with pytest.raises(ValueError, match="R must be above zero"):
        mobile.MobileKinematics(0.0, 0.3, 0.2)


@pytest.mark.parametrize(
    ("module", "name"),
    [(utilities, "LoadURDFrobot"), (utilities, "AddLidar"), (future, "ComputeIKUR"),
     (future, "MakeCorkeRobot"), (mobile, "MobileRobot2MBS")],
)  # fmt: skip
def test_names_that_are_refused_say_so(module: Any, name: str):
    with pytest.raises(
        lw.UnsupportedFeatureError, match=rf"exudyn\.robotics\.\w+\.{name} is not part"
    ):
        getattr(module, name)("anything", of=1)
