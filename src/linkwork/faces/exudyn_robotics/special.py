"""Jacobians, mass matrix and manipulabilities by the names of ``exudyn.robotics.special``.

Source: B. Siciliano, L. Sciavicco, L. Villani, G. Oriolo, Robotics (2009), sections 3.9
(ellipsoids) and 7.1 (mass matrix).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError
from linkwork.faces.exudyn_robotics.robot import Robot
from linkwork.faces.exudyn_robotics.transformations import as_HT

Floats = NDArray[np.float64]

__all__ = [
    "CalculateAllMeasures",
    "DynamicManipulability",
    "ForceManipulability",
    "JointJacobian",
    "MassMatrix",
    "StiffnessManipulability",
    "VelocityManipulability",
]


def JointJacobian(robot: Robot, HTJoint: Sequence[Any], HTLink: Sequence[Any]) -> list[Floats]:
    """The Jacobians (2, 3, n) of each link: of its rotation, and of its centre of mass.

    Both along the axes of the link; the arguments are of `Robot.JointHT` and `Robot.LinkHT`.
    """
    found: list[Floats] = []
    for k, com in enumerate(robot.COMHT(HTJoint)):
        J, R = robot.Jacobian(HTJoint, com[:3, 3], "all", k), as_HT(HTLink[k])[:3, :3]
        found.append(np.array([R.T @ J[3:], R.T @ J[:3]]))
    return found


def MassMatrix(robot: Robot, HT: Sequence[Any], jointJacobian: Sequence[ArrayLike]) -> Floats:
    """The mass matrix (n, n) from Jacobians of `JointJacobian`: Σ mᵢ Jvᵢᵀ Jvᵢ + Jωᵢᵀ Iᵢ Jωᵢ.

    ``HT`` is not needed.
    """
    M = np.zeros((len(jointJacobian), len(jointJacobian)))
    for link, both in zip(robot.links, jointJacobian, strict=False):
        turning, moving = np.asarray(both, np.float64)
        M += link.mass * moving.T @ moving + turning.T @ link.inertia @ turning
    return M


def VelocityManipulability(robot: Robot, HT: Sequence[Any], mode: str) -> float:
    """Yoshikawa's measure √det(J Jᵀ) of velocities; ``mode`` as of `Robot.Jacobian`."""
    J = robot.Jacobian(HT, mode=mode)
    singular = np.linalg.svd(J)[1]
    return float(np.prod(singular)) if len(singular) == len(J) else 0.0


def ForceManipulability(
    robot: Robot, HT: Sequence[Any], mode: str, singularWeight: float = 100
) -> float:
    """The measure 1/√det(J Jᵀ) of forces; ``singularWeight`` where the robot is singular."""
    velocity = VelocityManipulability(robot, HT, mode)
    return float(singularWeight) if _singular(robot, HT, mode) else 1.0 / velocity


def StiffnessManipulability(
    robot: Robot,
    JointStiffness: ArrayLike,
    HT: Sequence[Any],
    mode: str,
    singularWeight: float = 1000,
) -> list[Any]:
    """The least eigenvalue of the stiffness (J K⁻¹ Jᵀ)⁻¹ at the end of the chain, and that matrix.

    ``singularWeight`` is not used, as in the original.
    Raises: InputError (a ValueError) where the robot is singular: the stiffness has no bound there.
    """
    J = _regular(robot, HT, mode)
    stiffness = np.linalg.inv(J @ np.linalg.inv(np.asarray(JointStiffness, np.float64)) @ J.T)
    return [float(np.linalg.svd(stiffness)[1][-1]), stiffness]


def DynamicManipulability(
    robot: Robot,
    HT: Sequence[Any],
    MassMatrix: ArrayLike,
    Tmax: ArrayLike,
    mode: str,
    singularWeight: float = 1000,
) -> list[Any]:
    """The least eigenvalue of (J M⁻¹ Tmax² M⁻ᵀ Jᵀ)⁻¹, the ellipsoid of accelerations, and it.

    Raises: InputError (a ValueError) where the robot is singular.
    """
    J = _regular(robot, HT, mode)
    A = J @ np.linalg.inv(np.asarray(MassMatrix, np.float64)) @ np.asarray(Tmax, np.float64)
    ellipsoid = np.linalg.inv(A @ A.T)
    return [float(np.linalg.svd(ellipsoid)[1][-1]), ellipsoid]


def CalculateAllMeasures(
    robot: Robot,
    robotDic: Mapping[str, Any],
    q: ArrayLike,
    mode: str,
    flag: Sequence[int] = (0, 0, 0, 0),
) -> list[Any]:
    """The measures of velocity, force, stiffness with its matrix, and dynamics with its matrix.

    Those whose ``flag`` is not set are empty lists. ``robotDic`` as of `linkwork.faces.
    exudyn_robotics.models` has ``jointStiffnessMatrix`` and ``joinTorqueMaxMatrix``.
    """
    HT = robot.JointHT(q)
    found: list[Any] = [[], [], [], [], [], []]
    if flag[0]:
        found[0] = VelocityManipulability(robot, HT, mode)
    if flag[1]:
        found[1] = ForceManipulability(robot, HT, mode)
    if flag[2]:
        found[2:4] = StiffnessManipulability(robot, robotDic["jointStiffnessMatrix"], HT, mode)
    if flag[3]:
        M = MassMatrix(robot, HT, JointJacobian(robot, HT, robot.LinkHT(q)))
        found[4:] = DynamicManipulability(robot, HT, M, robotDic["joinTorqueMaxMatrix"], mode)
    return found


def _singular(robot: Robot, HT: Sequence[Any], mode: str) -> bool:
    J = robot.Jacobian(HT, mode=mode)
    return int(np.linalg.matrix_rank(J)) < len(J)


def _regular(robot: Robot, HT: Sequence[Any], mode: str) -> Floats:
    if _singular(robot, HT, mode):
        raise InputError(f"the robot is singular here: its Jacobian ({mode}) has not full rank")
    return robot.Jacobian(HT, mode=mode)
