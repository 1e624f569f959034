"""What inverse kinematics can be asked for: the tasks, the limits, the objectives.

``robot.ik(tasks=[...])`` solves for them once, ``robot.solver(tasks=[...], limits=[...])`` keeps
what was compiled, ``robot.controller(tasks=[...], dt=...)`` makes one step at a time.
"""

from linkwork.solve.differential import Controller
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.base import Limit
from linkwork.solve.limits.coupled import CoupledLimit
from linkwork.solve.limits.position import PositionLimit
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.objectives import Centred, Manipulable, NearPosture, Objective
from linkwork.solve.options import Options
from linkwork.solve.result import IKResult
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.closed import Closed
from linkwork.solve.tasks.direction import Direction
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.manipulability import Manipulability
from linkwork.solve.tasks.on_line import OnLine
from linkwork.solve.tasks.on_plane import OnPlane
from linkwork.solve.tasks.orientation import Orientation
from linkwork.solve.tasks.pointing import Pointing
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.solve.tasks.posture import Posture
from linkwork.solve.tasks.relative_pose import RelativePose
from linkwork.solve.velocities import JointVelocities, joint_velocities

__all__ = [
    "AccelerationLimit",
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
