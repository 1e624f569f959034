"""Inverse kinematics: its tasks, limits, objectives, problems, options, solvers and results.

``robot.ik(tasks=[...])`` solves for them once, ``robot.solver(tasks=[...], limits=[...])`` keeps
what was compiled, ``robot.controller(tasks=[...], dt=...)`` makes one step at a time.
"""

from linkwork.solve.clearance import Clearance
from linkwork.solve.controller import Controller
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import Options
from linkwork.solve.limits import (
    AccelerationLimit,
    CoupledLimit,
    Limit,
    PositionLimit,
    RangeLimit,
    VelocityLimit,
)
from linkwork.solve.objectives import Centred, Manipulable, NearPosture, Objective
from linkwork.solve.problem import Problem
from linkwork.solve.result import AllSolutions, IKResult
from linkwork.solve.tasks import (
    CenterOfMass,
    Closed,
    Direction,
    JointCoupling,
    Manipulability,
    OnLine,
    OnPlane,
    Orientation,
    Pointing,
    Pose,
    Position,
    Posture,
    RelativePose,
    Task,
)
from linkwork.solve.velocities import JointVelocities, joint_velocities

__all__ = [
    "AccelerationLimit",
    "AllSolutions",
    "CenterOfMass",
    "Centred",
    "Clearance",
    "Closed",
    "Controller",
    "CoupledLimit",
    "Direction",
    "IKResult",
    "InverseKinematics",
    "JointCoupling",
    "JointVelocities",
    "Limit",
    "Manipulability",
    "Manipulable",
    "NearPosture",
    "Objective",
    "OnLine",
    "OnPlane",
    "Options",
    "Orientation",
    "Pointing",
    "Pose",
    "Position",
    "PositionLimit",
    "Posture",
    "Problem",
    "RangeLimit",
    "RelativePose",
    "Task",
    "VelocityLimit",
    "joint_velocities",
]
