"""Example robots by the names of ``exudyn.robotics.models``: dictionaries, and robots of them.

Values are those of exudyn 1.13.6, so that programs keep their numbers. They come from:

- Puma 560: P. I. Corke, B. Armstrong-Hélouvry, A search for consensus among model parameters
  reported for the PUMA 560 robot, ICRA 1994; joint stiffnesses and torques of exudyn.
- UR5: Universal Robots, DH parameters for calculations of kinematics and dynamics (kinematics,
  masses, centres of mass); inertias of exudyn.
- Panda: Franka Emika's control interface documentation (modified parameters, limits); C. Gaz et
  al., Dynamic identification of the Franka Emika Panda robot, IEEE RA-L 4 (2019) (inertias).
- The simple arms with three and four joints are exudyn's own.

Where they differ from what is published: the third and fourth rows of Panda's ``stdDH`` have
0.088 m for 0.0825 m, and joint 2 turns the other way there; `LinkDict2Robot` takes its ``modDHKK``,
which are Franka's. ``modDHKK`` of the UR5 and of the simple arms are no tables of these robots.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.exudyn_robotics.links import RobotBase, RobotLink, RobotTool, VRobotLink
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import (
    HT,
    HT0,
    HTtranslateZ,
    InverseHT,
    ModDHKK2HT,
    StdDH2HT,
    as_HT,
)

Model = dict[str, Any]
Floats = NDArray[np.float64]

__all__ = [
    "LinkDict2Robot",
    "LinkDictModDHKK2Robot",
    "Manipulator3RSimple",
    "Manipulator4Rsimple",
    "ManipulatorPANDA",
    "ManipulatorPuma560",
    "ManipulatorUR5",
]

_Q = math.pi / 2.0
_PI = math.pi
_COLORS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0))


def LinkDict2Robot(robotLinkDict: Mapping[str, Any], robotClass: Robot | None = None) -> Robot:
    """The robot of a dictionary such as those below, each link with its PD control and a colour.

    ``dhMode`` says which parameters count: "stdDH", or "modDHKK", which the original refuses. The
    links are added to ``robotClass`` where it is given, which keeps its gravity, base and tool.

    Raises: InputError (a ValueError) for another ``dhMode``.
    """
    mode = robotLinkDict.get("dhMode", "stdDH")
    robot = _robot(robotLinkDict, robotClass)
    for k, link in enumerate(robotLinkDict["links"]):
        if mode == "stdDH":
            pre, local = HT0(), StdDH2HT(link["stdDH"])
        elif mode == "modDHKK":
            pre, local = ModDHKK2HT(link["modDHKK"])
        else:
            raise InputError(f"dhMode is stdDH or modDHKK, not {mode!r:.40}")
        gains = [robotLinkDict.get(name) for name in ("Pcontrol", "Dcontrol")]
        P, D = (None if each is None else each[k] for each in gains)
        color = [float(x) for x in (*_COLORS[k % len(_COLORS)], 1)]
        robot.AddLink(
            RobotLink(
                link["mass"],
                link["COM"],
                link["inertia"],
                localHT=local,
                preHT=pre,
                PDcontrol=(P, D),
                visualization=VRobotLink(linkColor=color),
            )
        )
    return robot


def LinkDictModDHKK2Robot(
    robotLinkDict: Mapping[str, Any], robotClass: Robot | None = None
) -> Robot:
    """The robot of a dictionary by its modified parameters, without PD control.

    Deprecated in the original. Centres of mass and inertias of a dictionary whose ``dhMode`` is
    "stdDH" are in the frames of its standard parameters, and are moved to the modified ones.
    """
    warnings.warn(
        "LinkDictModDHKK2Robot is deprecated; LinkDict2Robot takes dhMode 'modDHKK'",
        DeprecationWarning,
        stacklevel=2,
    )
    robot = _robot(robotLinkDict, robotClass)
    moved = robotLinkDict.get("dhMode", "stdDH") == "stdDH"
    for link in robotLinkDict["links"]:
        pre, post = ModDHKK2HT(link["modDHKK"])
        T = InverseHT(post) @ StdDH2HT(link["stdDH"]) if moved else HT0()
        R, com = T[:3, :3], T[:3, :3] @ np.asarray(link["COM"]) + T[:3, 3]
        inertia = R @ np.asarray(link["inertia"]) @ R.T
        robot.AddLink(RobotLink(link["mass"], com, inertia, localHT=post, preHT=pre))
    return robot


def _robot(model: Mapping[str, Any], given: Robot | None) -> Robot:
    if given is not None:
        return given
    base, tool = (as_HT(model[name]["HT"]) if name in model else None for name in ("base", "tool"))
    return Robot(
        gravity=model.get("gravity", [0.0, 0.0, -9.81]),
        base=RobotBase(HT=base),
        tool=RobotTool(HT=tool),
        referenceConfiguration=model.get("referenceConfiguration", []),
    )


def _link(
    stdDH: Sequence[float],
    modDHKK: Sequence[float],
    mass: float,
    COM: Sequence[float],
    inertia: Sequence[float],
    limits: tuple[float, float],
    stiffness: float,
    torque: float,
) -> dict[str, Any]:
    """A link; its inertia as ixx iyy izz, or ixx ixy ixz iyy iyz izz."""
    full = [inertia[0], 0.0, 0.0, inertia[1], 0.0, inertia[2]] if len(inertia) == 3 else inertia
    return {
        "stdDH": list(stdDH),
        "modDHKK": list(modDHKK),
        "mass": mass,
        "inertia": np.array(full)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]],
        "jointStiffness": stiffness,
        "jointTorqueMax": torque,
        "jointLimits": list(limits),
        "COM": list(COM),
    }


_P6 = [40000, 40000, 40000, 100, 100, 10]
_D6 = [4e2, 4e2, 1e2, 1e0, 1e0, 1e-1]


def _model(
    links: Sequence[dict[str, Any]],
    Pcontrol: Sequence[float] = tuple(_P6),
    Dcontrol: Sequence[float] = tuple(_D6),
    tool: Floats | None = None,
    dhMode: str = "stdDH",
) -> Model:
    return {
        "links": list(links),
        "jointType": [1] * len(links),
        "jointStiffnessMatrix": np.diag([each["jointStiffness"] for each in links]),
        "joinTorqueMaxMatrix": np.diag([each["jointTorqueMax"] for each in links]),
        "base": {"HT": HT0()},
        "tool": {"HT": HT0() if tool is None else tool},
        "gravity": [0, 0, -9.81],
        "referenceConfiguration": [0] * len(links),
        "dhMode": dhMode,
        "Pcontrol": np.array(Pcontrol),
        "Dcontrol": np.array(Dcontrol),
    }


_TURN = (-_PI, _PI)


def Manipulator3RSimple() -> Model:
    """An arm with three joints, links of 0.5 m."""
    return _model(
        [
            _link(
                [0, 0.5, 0, _Q], [0, 0, 0, 0], 3, [0, -0.4, 0], [0.1, 0.2, 0.3], _TURN, 70000, 50
            ),
            _link(
                [0, 0, 0.5, 0], [-_Q, 0, 0, 0], 2, [-0.4, 0, 0], [0.5, 0.6, 0.7], _TURN, 60000, 90
            ),
            _link(
                [0, 0, 0.5, 0], [0, 0.5, 0, 0], 1, [-0.4, 0, 0], [0.8, 0.9, 0.1], _TURN, 20000, 50
            ),
        ],
        [1000, 1000, 100],
        [10, 10, 10],
        HTtranslateZ(0.5),
    )


def Manipulator4Rsimple() -> Model:
    """A flat arm: three links of 0.25 m, as the original has them, and gains of four."""
    first, second, third = (each["inertia"][np.triu_indices(3)] for each in _panda()[:3])
    return _model(
        [
            _link([0, 0, 0, 0], [0, 0, 0, 0], 4, [0, 0, 0], first, _TURN, 70000, 50),
            _link([0, 0, 0.25, 0], [-_Q, 0, 0, 0], 1, [0.125, 0, 0], second, _TURN, 70000, 50),
            _link([0, 0, 0.25, 0], [0, 0.25, 0, 0], 1, [0.125, 0, 0], third, _TURN, 70000, 50),
        ],
        [1000, 1000, 100, 100],
        [10, 10, 10, 10],
        HT([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.zeros(3)),
    )


def ManipulatorPuma560() -> Model:
    """The Puma 560."""
    return _model(
        [
            _link([0, 0, 0, _Q], [0, 0, 0, 0], 20, [0, 0, 0], [0, 0.35, 0], _TURN, 68000, 56),
            _link([0, 0, 0.4318, 0], [_Q, 0, 0, 0], 17.4, [-0.3638, 0.006, 0.2275],
                  [0.13, 0.524, 0.539], (-2.9671, 2.8798), 66500, 97),
            _link([0, 0.15005, 0.0203, -_Q], [0, 0.4318, 0, 0.15005], 4.8,
                  [-0.0203, -0.0141, 0.07], [0.066, 0.086, 0.0125], (-2.79253, 2.61799), 11650, 52),
            _link([0, 0.4318, 0, _Q], [-_Q, 0.0203, 0, 0.4318], 0.82, [0, 0.019, 0],
                  [0.0018, 0.0013, 0.0018], _TURN, 2150, 10),
            _link([0, 0, 0, -_Q], [_Q, 0, 0, 0], 0.34, [0, 0, 0], [0.0003, 0.0004, 0.0003],
                  (-0.17453, 1.74533), 1130, 10),
            _link([0, 0, 0, 0], [-_Q, 0, 0, 0], 0.09, [0, 0, 0.032], [0.00015, 0.00015, 0.00004],
                  _TURN, 1680, 10),
        ]
    )  # fmt: skip


def ManipulatorUR5() -> Model:
    """Universal Robots' UR5."""
    zero, twice = [0, 0, 0, 0], (-2.0 * _PI, 2.0 * _PI)
    return _model(
        [
            _link([0, 0.089459, 0, _Q], zero, 3.7, [0, -0.02561, 0.00193],
                  [0.0084, 0.0064, 0.0084], twice, 1000, 150),
            _link([0, 0, -0.425, 0], zero, 8.393, [0.2125, 0, 0.11336],
                  [0.0078, 0.0021, 0.0021], twice, 1000, 150),
            _link([0, 0, -0.39225, 0], zero, 2.33, [0.15, 0, 0.0265],
                  [0.0016, 0.0462, 0.0462], twice, 1000, 150),
            _link([0, 0.10915, 0, _Q], zero, 1.219, [0, -0.0018, 0.01634],
                  [0.0016, 0.0016, 0.0009], twice, 1000, 28),
            _link([0, 0.09465, 0, -_Q], zero, 1.219, [0, -0.0018, 0.01634],
                  [0.0016, 0.0016, 0.0009], twice, 1000, 28),
            _link([0, 0.0823, 0, 0], zero, 0.1897, [0, 0, -0.001159],
                  [0.0001, 0.0001, 0.0001], twice, 1000, 28),
        ]
    )  # fmt: skip


def ManipulatorPANDA() -> Model:
    """Franka Emika's Panda, with its hand as the tool."""
    return _model(
        _panda(), [40000, 40000, 40000, 100, 100, 100, 10], [4e2, 4e2, 1e2, 1e0, 1e0, 1e0, 1e-1],
        HTtranslateZ(0.11), "modDHKK",
    )  # fmt: skip


def _panda() -> list[dict[str, Any]]:
    arm, forearm = (-2.8973, 2.8973), 0.088
    return [
        _link([0, 0.333, 0, _Q], [0, 0, 0, 0.333], 4.970684, [0.003875, 0.002081, 0],
              [0.70337, -0.000139, 0.006772, 0.70661, 0.0192169, 0.009117], arm, 1, 87),
        _link([0, 0, 0, -_Q], [-_Q, 0, 0, 0], 0.646926, [-0.003141, -0.02872, 0.003495],
              [0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995],
              (-1.7628, 1.7628), 1, 87),
        _link([0, 0.316, forearm, _Q], [_Q, 0, 0, 0.316], 3.228604, [0.027518, 0.039252, -0.066502],
              [0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083], arm, 1, 87),
        _link([0, 0, -forearm, -_Q], [_Q, 0.0825, 0, 0], 3.587895, [-0.05317, 0.104419, 0.027454],
              [0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323],
              (-3.0718, -0.0698), 1, 87),
        _link([0, 0.384, 0, _Q], [-_Q, -0.0825, 0, 0.384], 1.225946,
              [-0.011953, 0.041065, -0.038437],
              [0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627], arm, 1, 12),
        _link([0, 0, forearm, _Q], [_Q, 0, 0, 0], 1.666555, [0.060149, -0.014117, -0.010517],
              [0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433],
              (-0.0175, 3.7525), 1, 12),
        _link([0, 0.107, 0, 0], [_Q, forearm, 0, 0.107], 0.735522, [0.010517, -0.004252, 0.061597],
              [0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815], arm, 1, 12),
    ]  # fmt: skip
