"""Solvers over compiled kernels: inverse kinematics."""

from linkwork.solve.ik import InverseKinematics as InverseKinematics
from linkwork.solve.ik import Options as Options
from linkwork.solve.result import IKResult as IKResult
