"""What inverse kinematics can be asked for: the tasks, the limits, the objectives.

``robot.ik(tasks=[...])`` solves for them once, ``robot.solver(tasks=[...], limits=[...])`` keeps
what was compiled, ``robot.controller(tasks=[...], dt=...)`` makes one step at a time.
"""

from linkwork.solve.options import Options
from linkwork.solve.result import IKResult
from linkwork.solve.tasks.base import Task
from linkwork.solve.tasks.pose import Pose

__all__ = ["IKResult", "Options", "Pose", "Task"]
