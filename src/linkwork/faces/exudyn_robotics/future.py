"""Names of ``exudyn.robotics.future``: refused by name. They fail in exudyn 1.13.6 as well."""

from __future__ import annotations

from linkwork.faces.exudyn_robotics.utilities import refused

_ALL = "Robot.core().ik_all(T, frame) has all solutions of an arm"

ComputeIK3R = refused("future.ComputeIK3R", _ALL)
ComputeIKPuma560 = refused("future.ComputeIKPuma560", _ALL)
ComputeIKUR = refused("future.ComputeIKUR", _ALL)
MakeCorkeRobot = refused("future.MakeCorkeRobot", "lw.from_dh makes robots of tables")
