"""Trees of links in Plücker coordinates (6x6 matrices, angular part first), by exudyn's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.faces.exudyn_robotics.links import JOINTS
from linkwork.faces.exudyn_robotics.transformations import HT, Skew, Skew2Vec
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.robot import Robot as CoreRobot

if TYPE_CHECKING:
    from linkwork.faces.exudyn_robotics.robot import Robot

Floats = NDArray[np.float64]


class KinematicTree66:
    """A tree of links: joints, transformations and inertias as 6x6 matrices.

    ``listOfJointTypes`` are Rx to Pz as in `RobotLink`. ``listOfTransformations`` X take motion
    vectors from the parent's axes to the joint's; ``listOfInertias`` are about the joint, in its
    axes. A parent of -1 is the ground; without ``listOfParents`` it is a chain. The equations of
    motion are M q_tt + f = torques.

    Raises: InputError, ShapeError (ValueErrors) for lists that do not fit together, a parent that
    is not before its link, another type of joint, and a matrix that is no rigid body's.
    """

    def __init__(
        self,
        listOfJointTypes: Sequence[str],
        listOfTransformations: Sequence[ArrayLike],
        listOfInertias: Sequence[ArrayLike],
        listOfParents: ArrayLike = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
    ) -> None:
        n = len(listOfJointTypes)
        self.jointTypes = list(listOfJointTypes)
        self.transformations = [np.array(X, np.float64) for X in listOfTransformations]
        self.inertias = [np.array(inertia, np.float64) for inertia in listOfInertias]
        given = np.array(listOfParents, int)
        self.parents = given if given.size else np.arange(-1, n - 1)
        self.gravity = np.array(gravity, np.float64)
        counts = len(self.transformations), len(self.inertias), len(self.parents)
        if set(counts) != {n}:
            raise ShapeError(
                f"{n} joint types need {n} transformations, inertias and parents, not {counts}"
            )
        if any(np.shape(X) != (6, 6) for X in (*self.transformations, *self.inertias)):
            raise ShapeError("transformations and inertias are matrices (6, 6)")
        for k, parent in enumerate(self.parents):
            if not -1 <= parent < k:
                raise InputError(f"the parent of link {k} is {parent}; it is -1 or below {k}")
        self._core = CoreRobot(assemble(self._parts())).accept_inertias()

    def Size(self) -> int:
        """The number of links."""
        return len(self.jointTypes)

    def XL(self, i: int) -> Floats:
        """The transformation (6, 6) before joint i; IndexError where there is none."""
        return self.transformations[i]

    def ComputeMassMatrixAndForceTerms(
        self, q: ArrayLike, q_t: ArrayLike, externalForces: Sequence[ArrayLike] = ()
    ) -> list[Floats]:
        """The mass matrix M (n, n) and the force terms f (n,), Coriolis and gravity.

        ``externalForces`` are wrenches (6,), moment first, about the world's origin in its axes,
        one for each link; they are added to f, as forces that the links exert.

        Raises: ShapeError (a ValueError) for fewer positions, velocities or forces than links.
        """
        position, velocity = self._numbers("q", q), self._numbers("q_t", q_t)
        wrenches = None
        if len(externalForces):
            self._check_wrenches(externalForces)
            wrenches = {
                f"link{k}": -_moved(np.asarray(w, np.float64), T[:3, 3])
                for k, (w, T) in enumerate(
                    zip(externalForces, self._core.fk_all(position)[1:], strict=False)
                )
            }
        f = self._core.bias_forces(position, velocity, gravity=self.gravity, external=wrenches)
        return [self._core.mass_matrix(position), f]

    def ForwardDynamicsCRB(
        self, q: ArrayLike = (), q_t: ArrayLike = (), torques: ArrayLike = (), forces: Any = ()
    ) -> Floats:
        """Accelerations (n,) for forces of the joints, none without ``torques``.

        Raises: ShapeError (a ValueError) for fewer numbers than links; UnsupportedFeatureError,
        also a ValueError, for ``forces``.
        """
        if len(forces):
            raise ForcesError("forces are for ComputeMassMatrixAndForceTerms(externalForces=)")
        tau = (
            self._numbers("torques", torques)
            if len(np.atleast_1d(torques))
            else np.zeros(self.Size())
        )
        position, velocity = self._numbers("q", q), self._numbers("q_t", q_t)
        return self._core.forward_dynamics(position, velocity, tau, gravity=self.gravity)

    def AddExternalForces(
        self,
        Xup: Sequence[ArrayLike],
        fvp: list[Floats],
        externalForces: Sequence[ArrayLike] = (),
    ) -> list[Floats]:
        """Forces (6,) of links in their axes, with external ones about the world's origin added.

        ``Xup`` take motion vectors from the parent of each link to it. ``fvp`` is changed, and
        given back.

        Raises: ShapeError (a ValueError) for fewer external forces than links.
        """
        if len(externalForces):
            self._check_wrenches(externalForces)
            above: list[Floats] = []
            for k, parent in enumerate(self.parents):
                X = np.asarray(Xup[k], np.float64)
                above.append(X if parent < 0 else X @ above[parent])
                fvp[k] = fvp[k] + _inverse(above[k]).T @ np.asarray(externalForces[k], np.float64)
        return fvp

    def _numbers(self, name: str, given: ArrayLike) -> Floats:
        found, n = np.asarray(given, np.float64), self.Size()
        if found.ndim != 1 or len(found) < n:
            raise ShapeError(f"{name} has {n} numbers, one for each link, not shape {found.shape}")
        return found[:n]

    def _check_wrenches(self, wrenches: Sequence[ArrayLike]) -> None:
        n = self.Size()
        if len(wrenches) < n or any(np.shape(w) != (6,) for w in wrenches[:n]):
            raise ShapeError(f"externalForces are {n} arrays (6,), one for each link")

    def _parts(self) -> Parts:
        links, joints = [LinkPart("world")], list[JointPart]()
        for k, (kind, X, inertia) in enumerate(
            zip(self.jointTypes, self.transformations, self.inertias, strict=True)
        ):
            if kind not in JOINTS:
                raise InputError(f"joint {k}: its type is one of {', '.join(JOINTS)}, not {kind!r}")
            axis, turns = JOINTS[kind]
            E, parent = X[:3, :3], self.parents[k]
            place = HT(E.T, Skew2Vec(-E.T @ X[3:, :3]))
            if not np.allclose(_motion66(place), X, rtol=1e-9, atol=1e-9):
                raise InputError(f"transformation {k} is none of motion vectors, angular first")
            links.append(LinkPart(f"link{k}", *_inertial(k, inertia)))
            joints.append(
                JointPart(
                    name=f"joint{k}",
                    type=JointType.CONTINUOUS if turns else JointType.PRISMATIC,
                    parent=f"link{parent}" if parent >= 0 else "world",
                    child=f"link{k}",
                    R=place[:3, :3],
                    p=place[:3, 3],
                    axis=np.eye(3)[axis],
                )
            )
        return Parts(name="tree", links=links, joints=joints)


class ForcesError(UnsupportedFeatureError, ValueError):
    """An argument of the original that it takes, and refuses."""


def tree_of(robot: Robot) -> KinematicTree66:
    """The tree of a robot: the base's transformation is part of those of the first links.

    Raises: UnsupportedFeatureError, also a ValueError, where a localHT is not the identity.
    """
    transformations: list[Floats] = []
    for k, link in enumerate(robot.links):
        if not np.array_equal(link.localHT, np.eye(4)):
            raise ForcesError(f"GetKinematicTree66: the localHT of link {k} is not the identity")
        place = link.preHT if link.parent >= 0 else robot.base.HT @ link.preHT
        transformations.append(_motion66(place))
    return KinematicTree66(
        [link.jointType for link in robot.links],
        transformations,
        [_inertia66(link.mass, link.COM, link.inertia) for link in robot.links],
        [link.parent for link in robot.links],
        robot.gravity,
    )


def _motion66(place: Floats) -> Floats:
    """The transformation (6, 6) of motion vectors to axes at a place (4, 4)."""
    E = place[:3, :3].T
    return np.block([[E, np.zeros((3, 3))], [-E @ Skew(place[:3, 3]), E]])


def _inertia66(mass: float, com: Floats, I_com: Floats) -> Floats:
    """The inertia (6, 6) about the origin, moments first."""
    c = Skew(com)
    return np.block([[I_com + mass * c @ c.T, mass * c], [mass * c.T, mass * np.eye(3)]])


def _inertial(k: int, inertia: Floats) -> tuple[float, Floats, Floats]:
    """The mass, the centre of mass and the inertia about it of an inertia (6, 6)."""
    mass = float(inertia[3, 3])
    com = Skew2Vec(inertia[:3, 3:]) / mass if mass else np.zeros(3)
    I_com = inertia[:3, :3] - mass * Skew(com) @ Skew(com).T
    if not np.allclose(_inertia66(mass, com, I_com), inertia, rtol=1e-9, atol=1e-12):
        raise InputError(f"the inertia of link {k} is not that of a rigid body")
    return mass, com, I_com


def _moved(wrench: Floats, point: Floats) -> Floats:
    """Force and moment about a point, of a moment and a force about the world's origin."""
    return np.concatenate([wrench[3:], wrench[:3] - np.cross(point, wrench[3:])])


def _inverse(X: Floats) -> Floats:
    """The inverse of a transformation (6, 6) of motion vectors: both blocks transposed."""
    return np.block([[X[:3, :3].T, np.zeros((3, 3))], [X[3:, :3].T, X[3:, 3:].T]])
