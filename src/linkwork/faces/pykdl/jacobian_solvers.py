"""Rows S3-123 and S3-124: Jacobians and their derivatives, by the core's kernels."""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.pykdl.jacobian import Jacobian
from linkwork.faces.pykdl.joint_arrays import JntArray, JntArrayVel
from linkwork.faces.pykdl.scalars import Floats, wrong
from linkwork.faces.pykdl.solver import (
    E_NOERROR,
    E_NOT_UP_TO_DATE,
    E_OUT_OF_RANGE,
    E_SIZE_MISMATCH,
    OtherWayError,
    SolverI,
    check,
)
from linkwork.faces.pykdl.twist import Twist

_REFERENCES: tuple[Literal["world-aligned", "local", "world"], ...] = (
    "world-aligned",
    "local",
    "world",
)


class _WithLocks(SolverI):
    """A solver that may leave joints out."""

    def _update(self) -> None:
        super()._update()
        self._free = np.ones(self._joints, bool)
        self._locked = False

    def setLockedJoints(self, locked_joints: Sequence[bool]) -> int:
        """Leave out the joints that are True; -4 for a list of another length.

        The columns of the others then stand side by side at the left, and zeros behind them. After
        the chain has grown and been taken anew, no joint is left out.
        """
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        if len(locked_joints) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        self._free = ~np.array(list(locked_joints), bool)
        self._locked = not self._free.all()
        return self._set(E_NOERROR)

    def _packed(self, columns: Floats) -> Floats:
        if not self._locked:
            return columns
        packed = np.zeros_like(columns)
        packed[:, : int(self._free.sum())] = columns[:, self._free]
        return packed


class ChainJntToJacSolver(_WithLocks):
    """Jacobians of a chain."""

    def JntToJac(self, q_in: JntArray, jac: Jacobian, seg_nr: int = -1) -> int:
        """Set a Jacobian to that behind ``seg_nr`` segments; below 0: of the tip.

        Its reference point is the origin of that frame, its axes are those of the base, linear rows
        stand first. Columns of joints that come later are 0. Gives 0; -3 where the chain has grown,
        -4 for an argument of another size, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for positions that are not finite.
        """
        if not (isinstance(q_in, JntArray) and isinstance(jac, Jacobian)):
            raise wrong("JntToJac", "a JntArray and a Jacobian", q_in, jac)
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        if len(q_in) != self._joints or jac._a.shape[1] != self._joints:
            return self._set(E_SIZE_MISMATCH)
        count = self._count(seg_nr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        jac._a = self._packed(self._core.behind(count, "jacobian")(q_in._a))
        return self._set(E_NOERROR)


class ChainJntToJacDotSolver(_WithLocks):
    """Derivatives of Jacobians by time, in one of three representations.

    ``HYBRID`` (0, the first): as `ChainJntToJacSolver` has it; ``BODYFIXED`` (1): in the axes of
    the frame itself; ``INERTIAL`` (2): with the origin of the base for its reference point.
    """

    HYBRID = 0
    BODYFIXED = 1
    INERTIAL = 2
    E_JAC_DOT_FAILED = -100
    E_JACSOLVER_FAILED = -101
    E_FKSOLVERPOS_FAILED = -102
    texts: ClassVar[dict[int, str]] = {
        -100: "Jac Dot Failed",
        -101: "Jac Solver Failed",
        -102: "FK Position Solver Failed",
    }

    def __init__(self, chain: Any) -> None:
        super().__init__(chain)
        self._representation = self.HYBRID

    def setRepresentation(self, representation: int) -> None:
        """Take HYBRID, BODYFIXED or INERTIAL from now on.

        Raises: InputError for anything else.
        """
        if representation not in (0, 1, 2):
            text = "HYBRID (0), BODYFIXED (1) or INERTIAL (2)"
            raise InputError(f"a representation is {text}, not {representation!r:.40}")
        self._representation = int(representation)

    def setHybridRepresentation(self) -> None:
        """Take HYBRID from now on."""
        self._representation = self.HYBRID

    def setBodyFixedRepresentation(self) -> None:
        """Take BODYFIXED from now on."""
        self._representation = self.BODYFIXED

    def setInertialRepresentation(self) -> None:
        """Take INERTIAL from now on."""
        self._representation = self.INERTIAL

    def JntToJacDot(
        self, q_in: JntArrayVel, jdot: Any = None, seg_nr: int = -1, *, jac_dot_q_dot: Any = None
    ) -> int:
        """Set a Jacobian to the derivative, or a Twist to the derivative times the velocities.

        Of the Jacobian behind ``seg_nr`` segments; below 0: of the tip's. ``jac_dot_q_dot`` is
        another name of the Twist. Joints that are left out stand still. Gives 0; -3 where the chain
        has grown, -4 for an argument of another size, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        if jdot is None:
            jdot = jac_dot_q_dot
        kind = jdot.__class__
        if q_in.__class__ is not JntArrayVel or (kind is not Jacobian and kind is not Twist):
            check("JntToJacDot", q_in, JntArrayVel, jdot, (Jacobian, Twist))
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        q, v = q_in.q._a, q_in.qdot._a
        whole = isinstance(jdot, Jacobian)
        wide = whole and jdot._a.shape[1] != self._joints
        if len(q) != self._joints or len(v) != self._joints or wide:
            return self._set(E_SIZE_MISMATCH)
        count = self._count(seg_nr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        reference = _REFERENCES[self._representation]
        moving = np.where(self._free, v, 0.0) if self._locked else v
        if whole:
            function = self._core.behind(count, "jacobian_dot", reference=reference)
            jdot._a = self._packed(function(q, moving))
            return self._set(E_NOERROR)
        try:
            linear, angular = self._core.call("twist_call", count, reference)(q, moving)
        except OtherWayError:
            function = self._core.behind(count, "jacobian_dot_v", reference=reference)
            six = tuple(function(q, moving).tolist())
            linear, angular = six[:3], six[3:]
        jdot._a._v, jdot._b._v = linear, angular
        return self._set(E_NOERROR)
