"""Kinematics of platforms on four mecanum wheels, by the names of ``exudyn.robotics.mobile``.

Wheels in order: front left, front right, rear left, rear right; each has the speed
(vx ∓ vy ∓ (lx + ly) ω)/R, with ``wheeltype`` 1 (vx ± vy ∓ (lx - ly) ω)/R.
Source: H. Taheri, B. Qiao, N. Ghaeminezhad, Int. J. Computer Applications 113 (2015).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.faces.exudyn_robotics.utilities import refused

Floats = NDArray[np.float64]

_FORWARD = {0: np.array([-1.0, 1.0, 1.0, -1.0]), 1: np.array([1.0, -1.0, -1.0, 1.0])}
_SIDES = np.array([-1.0, 1.0, -1.0, 1.0])


class MobileKinematics:
    """Speeds of four wheels (rad/s) for velocities of a platform (vx, vy in m/s, ω in rad/s).

    ``R`` is the wheels' radius, ``lx`` and ``ly`` the distances of their axes from the centre, m.

    Raises: UnsupportedFeatureError for ``flagAdjusted`` and for other wheels than mecanum.
    """

    def __init__(
        self,
        R: float,
        lx: float,
        ly: float,
        flagAdjusted: bool = False,
        lcx: float = 0,
        lcy: float = 0,
        wheeltype: int = 0,
    ) -> None:
        if flagAdjusted:
            raise UnsupportedFeatureError("MobileKinematics: flagAdjusted is not part of this face")
        self.Jacobian = _jacobian(R, lx, ly, wheeltype)
        self.JacobianPInv = np.linalg.pinv(self.Jacobian)

    def GetWheelVelocities(self, vDes: ArrayLike) -> Floats:
        """The wheels' speeds (4,) for a velocity (vx, vy, ω)."""
        return self.Jacobian @ np.asarray(vDes, np.float64)

    def GetCartesianVelocities(self, w: ArrayLike) -> Floats:
        """The velocity (vx, vy, ω) that is nearest to the wheels' speeds (4,)."""
        return self.JacobianPInv @ np.asarray(w, np.float64)


def MecanumXYphi2WheelVelocities(
    xVel: float, yVel: float, angVel: float, R: float, Lx: float, Ly: float, wheeltype: int
) -> Floats:
    """The wheels' speeds (4,) for a velocity; Lx, Ly (m) are the distances between their axes."""
    return MobileKinematics(R, Lx / 2, Ly / 2, wheeltype=wheeltype).GetWheelVelocities(
        [xVel, yVel, angVel]
    )


def MecanumWheelVelocity2XYphi(
    w: ArrayLike, R: float, Lx: float, Ly: float, wheeltype: int
) -> Floats:
    """The velocity (vx, vy, ω) of wheels' speeds (4,); Lx, Ly as above."""
    return MobileKinematics(R, Lx / 2, Ly / 2, wheeltype=wheeltype).GetCartesianVelocities(w)


def _jacobian(R: float, lx: float, ly: float, wheeltype: int) -> Floats:
    if wheeltype not in _FORWARD:
        raise UnsupportedFeatureError(f"wheeltype is 0 or 1 (mecanum), not {wheeltype!r:.40}")
    if not R > 0.0:
        raise InputError(f"R must be above zero, not {R}")
    arm = lx + ly if wheeltype == 0 else lx - ly
    return np.column_stack([np.ones(4), _FORWARD[wheeltype], arm * _SIDES]) / R


FunDiffPoly = refused("mobile.FunDiffPoly", "numpy.polynomial has derivatives of polynomials")
FunDDiffPoly = refused("mobile.FunDDiffPoly", "numpy.polynomial has derivatives of polynomials")
Generatrix2Polynomial = refused("mobile.Generatrix2Polynomial", "it shapes rollers for contact")
GeneratrixRoll = refused("mobile.GeneratrixRoll", "it shapes rollers for contact")
MobileRobot2MBS = refused("mobile.MobileRobot2MBS", "it builds wheels and contact for exudyn")
