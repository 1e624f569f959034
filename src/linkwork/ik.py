"""What inverse kinematics can be asked for: the tasks, the limits, the objectives.

``robot.ik(tasks=[...])`` solves for them once, ``robot.solver(tasks=[...], limits=[...])`` keeps
what was compiled, ``robot.controller(tasks=[...], dt=...)`` makes one step at a time.
"""

from linkwork.solve.controller import Controller
from linkwork.solve.limits import (
    AccelerationLimit,
    CoupledLimit,
    Limit,
    PositionLimit,
    VelocityLimit,
)
from linkwork.solve.objectives import Centred, Manipulable, NearPosture, Objective
from linkwork.solve.options import Options
from linkwork.solve.result import AllSolutions, IKResult
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.frames import (
    Direction,
    OnLine,
    OnPlane,
    Orientation,
    Pointing,
    Pose,
    Position,
    RelativePose,
)
from linkwork.solve.tasks.joints import JointCoupling, Posture
from linkwork.solve.tasks.whole import CenterOfMass, Closed, Manipulability
from linkwork.solve.velocities import JointVelocities, joint_velocities

__all__ = [
    "AccelerationLimit",
    "AllSolutions",
    "CenterOfMass",
    "Centred",
    "Closed",
    "Controller",
    "CoupledLimit",
    "Direction",
    "IKResult",
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
    "RelativePose",
    "Task",
    "VelocityLimit",
    "joint_velocities",
]
