"""Plots of what a robot does, each of which gives its axes back.

Positions and torques along a motion, velocity and force ellipsoids, the condition of a Jacobian,
what a frame reaches. Matplotlib (extra ``plot``) is loaded by the first call.
"""

from linkwork.plots.jacobians import condition, ellipsoids
from linkwork.plots.motions import positions, torques
from linkwork.plots.reach import ReachMap, reach_map, reachability, workspace

__all__ = [
    "ReachMap",
    "condition",
    "ellipsoids",
    "positions",
    "reach_map",
    "reachability",
    "torques",
    "workspace",
]
