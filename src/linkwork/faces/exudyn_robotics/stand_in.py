"""Names of ``exudyn.utilities`` and ``exudyn.rigidBodyUtilities`` that robots need.

They stand there where exudyn is not installed. Where it is, programs get exudyn's own.
"""

# ruff: noqa: F403, F405  the names are those of the module of transformations
from __future__ import annotations

import copy
from collections.abc import Sequence
from math import pi
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import LinkworkError, MissingExtraError, ShapeError
from linkwork.faces.exudyn_robotics import transformations
from linkwork.faces.exudyn_robotics.transformations import *
from linkwork.faces.refusals import is_imported

Floats = NDArray[np.float64]

__all__ = ["InertiaCuboid", "RigidBodyInertia", "copy", "np", "pi"]
__all__ += transformations.__all__


class RigidBodyInertia:
    """Mass (kg), centre of mass (3,) and inertia (3, 3) of a body (m, kg m²).

    ``inertiaTensor`` is about the origin, or given about the centre of mass with
    ``inertiaTensorAtCOM``.
    """

    def __init__(
        self,
        mass: float = 0,
        inertiaTensor: ArrayLike = ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
        com: ArrayLike = (0, 0, 0),
        inertiaTensorAtCOM: bool = False,
    ) -> None:
        self.mass = mass
        self.com, self.inertiaTensor = np.array(com, float), np.array(inertiaTensor, float)
        if self.com.shape != (3,) or self.inertiaTensor.shape != (3, 3):
            raise ShapeError(
                f"com is (3,) and inertiaTensor (3, 3), not {self.com.shape} and "
                f"{self.inertiaTensor.shape}"
            )
        if inertiaTensorAtCOM:
            self.inertiaTensor += self._of_point()

    def _of_point(self) -> Floats:
        """The inertia of the mass at its centre about the origin: -m [c]²."""
        return -self.mass * Skew(self.com) @ Skew(self.com)

    def Mass(self) -> float:
        """The mass, kg."""
        return self.mass

    def COM(self) -> Floats:
        """The centre of mass (3,), m."""
        return self.com

    def Inertia(self) -> Floats:
        """The inertia (3, 3) about the origin, kg m²."""
        return self.inertiaTensor

    def InertiaCOM(self) -> Floats:
        """The inertia (3, 3) about the centre of mass, kg m²."""
        return self.inertiaTensor - self._of_point()

    def GetInertia6D(self) -> list[float]:
        """The inertia about the origin as [xx, yy, zz, yz, xz, xy]."""
        I = self.inertiaTensor  # noqa: E741
        return [I[0, 0], I[1, 1], I[2, 2], I[1, 2], I[0, 2], I[0, 1]]

    def Translated(self, vec: ArrayLike) -> RigidBodyInertia:
        """The body moved by a vector (3,)."""
        moved = self.com + np.asarray(vec, float)
        return RigidBodyInertia(self.mass, self.InertiaCOM(), moved, inertiaTensorAtCOM=True)

    def Rotated(self, rot: ArrayLike) -> RigidBodyInertia:
        """The body turned about the origin by a rotation (3, 3)."""
        R = np.asarray(rot, float)
        return RigidBodyInertia(self.mass, R @ self.inertiaTensor @ R.T, R @ self.com)

    def __add__(self, other: RigidBodyInertia) -> RigidBodyInertia:
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else self.com
        return RigidBodyInertia(mass, self.inertiaTensor + other.inertiaTensor, com)

    def __repr__(self) -> str:
        return (
            f"mass = {self.mass}\nCOM = {self.com}\n"
            f"inertiaTensorAtOrigin = \n{self.inertiaTensor}\n"
            f"inertiaTensorAtCOM = \n{self.InertiaCOM()}"
        )


def InertiaCuboid(density: float, sideLengths: Sequence[float]) -> RigidBodyInertia:
    """The inertia of a cuboid about its centre: m/12 (b² + c²), ...; density in kg/m³."""
    a, b, c = (float(x) ** 2 for x in sideLengths)
    mass = density * float(np.prod(sideLengths))
    return RigidBodyInertia(mass, mass / 12.0 * np.diag([b + c, a + c, a + b]))


class MissingNameError(LinkworkError, AttributeError):
    """A name of exudyn that is asked for as an attribute, where exudyn is not installed."""


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kind = MissingExtraError if is_imported() else MissingNameError
    raise kind(f"'{name}' is exudyn's, which is not installed: pip install 'linkwork[exudyn]'")
