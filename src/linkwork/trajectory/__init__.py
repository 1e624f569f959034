"""Trajectories: motions in time, by profiles, splines, and lines and arcs of a frame.

import linkwork as lw

move = lw.trajectory.point_to_point(q0, q1, velocity=1.0, acceleration=2.0, jerk=20.0)
move(0.3), move.velocity(0.3), move.sample(dt=0.01)
"""

from linkwork.trajectory.along_path import time_optimal, time_optimal_all
from linkwork.trajectory.cartesian import arc, follow, line
from linkwork.trajectory.joints import point_to_point, state_to_state, through
from linkwork.trajectory.piecewise import Samples, Trajectory, from_polynomials, load
from linkwork.trajectory.planned import along

__all__ = [
    "Samples",
    "Trajectory",
    "along",
    "arc",
    "follow",
    "from_polynomials",
    "line",
    "load",
    "point_to_point",
    "state_to_state",
    "through",
    "time_optimal",
    "time_optimal_all",
]
