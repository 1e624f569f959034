"""Rows S3-120 to S3-124, S3-130 and S3-131: solvers of chains, by the core's compiled functions.

Poses, velocities, Jacobians, their derivatives, forces and mass matrices.
"""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.joint_arrays import (
    Jacobian,
    JntArray,
    JntArrayVel,
    JntSpaceInertiaMatrix,
)
from linkwork.faces.pykdl.rates import FrameVel
from linkwork.faces.pykdl.values import Floats, index, wrong
from linkwork.faces.pykdl.vectors import Twist, Vector, Wrench

E_DEGRADED = 1
E_NOERROR = 0
E_NO_CONVERGE = -1
E_UNDEFINED = -2
E_NOT_UP_TO_DATE = -3
E_SIZE_MISMATCH = -4
E_MAX_ITERATIONS_EXCEEDED = -5
E_OUT_OF_RANGE = -6
E_NOT_IMPLEMENTED = -7
E_SVD_FAILED = -8

_TEXTS = {
    E_NOERROR: "No error",
    E_NO_CONVERGE: "Failed to converge",
    E_UNDEFINED: "Undefined value",
    E_DEGRADED: "Converged but degraded solution",
    E_NOT_UP_TO_DATE: "Internal data structures not up to date with Chain",
    E_SIZE_MISMATCH: "The size of the input does not match the internal state",
    E_MAX_ITERATIONS_EXCEEDED: "The maximum number of iterations is exceeded",
    E_OUT_OF_RANGE: "The requested index is out of range",
    E_NOT_IMPLEMENTED: "The requested function is not yet implemented",
    E_SVD_FAILED: "SVD failed",
}


class SolverI:
    """The base of all solvers: the code of the last call, its text, and an update.

    A call gives 0 where all is well, a code below 0 where it could not do what was asked, and one
    above 0 where the result is of less worth. A solver is made for a chain as it is; once that has
    grown, calls give -3 until `updateInternalDataStructures`.

    Raises, in all calls: WrongTypeError (a TypeError); InputError for numbers that are not finite.
    """

    texts: ClassVar[dict[int, str]] = {}
    """Codes of this kind of solver only."""

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise wrong(type(self).__name__, "a Chain first", chain)
        self._chain = chain
        self._error = E_NOERROR
        self.updateInternalDataStructures()

    def getError(self) -> int:
        """The code of the last call."""
        return self._error

    def strError(self, error: int) -> str:
        """The meaning of a code, in words."""
        return self.texts.get(error) or _TEXTS.get(error) or "UNKNOWN ERROR"

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now."""
        content = self._content = self._chain._content
        self._core = content.core
        self._joints = content.joints
        self._segments = len(content.segments)
        self._calls: dict[Any, Any] = self._core.kept.setdefault(type(self), {})

    def _needed(self) -> tuple[JntArray, ...]:
        """The arrays that it has been given before a call, which must fit too."""
        return ()

    def _set(self, code: int) -> int:
        self._error = code
        return code

    def _fits(self, *arrays: Any) -> int:
        """0 where the chain is as it was and arrays have its number of joints, else the code."""
        if self._chain._content is not self._content:
            return E_NOT_UP_TO_DATE
        n = self._joints
        for array in arrays:
            if len(array._a) != n:
                return E_SIZE_MISMATCH
        return E_NOERROR

    def _counted(self, segment_nr: int, *arrays: Any) -> tuple[int, int]:
        """The result of `_fits`, or the code for too many segments; and how many are meant."""
        code = self._fits(*arrays)
        if segment_nr.__class__ is int and segment_nr < 0:
            return code, self._segments
        count = index(segment_nr, 2**31, "chain: a number of segments")
        return (E_OUT_OF_RANGE if code == E_NOERROR and count > self._segments else code), count


def check(call: str, *pairs: Any) -> None:
    """Check that arguments have their types: values, and a type or several of each, in turn.

    Raises: WrongTypeError.
    """
    for k in range(0, len(pairs), 2):
        if not isinstance(pairs[k], pairs[k + 1]):
            kinds = [kind if isinstance(kind, tuple) else (kind,) for kind in pairs[1::2]]
            takes = [" or ".join([one.__name__ for one in each]) for each in kinds]
            raise wrong(call, ", ".join(takes), *pairs[::2])


# poses and velocities


class ChainFkSolverPos(SolverI):
    """The base of solvers for poses."""

    def JntToCart(self, q_in: JntArray, p_out: Any, segmentNr: int = -1) -> int:
        """Set a Frame to the pose behind ``segmentNr`` segments, in the base; below 0: of the tip.

        Or a list of Frames to the poses behind 1, 2, ... segments, as many as ``segmentNr``. Gives
        0; -4 for a q of another size or a list of another length, -6 for too many segments.
        """
        known = q_in.__class__ is JntArray and p_out.__class__ is Frame
        if known and segmentNr.__class__ is int and self._chain._content is self._content:
            call = self._calls.get(segmentNr)
            if call is not None and len(q_in._a) == self._joints:
                p_out._a._m, p_out._b._v = call(q_in._a)
                self._error = E_NOERROR
                return E_NOERROR
        one = isinstance(p_out, Frame)
        frames = cast("list[Any]", p_out if isinstance(p_out, (list, tuple)) else [p_out])
        if not isinstance(q_in, JntArray) or not all([isinstance(f, Frame) for f in frames]):
            raise wrong("JntToCart", "a JntArray and a Frame, or a list of Frames", q_in, p_out)
        if self._chain._content is not self._content:
            self.updateInternalDataStructures()  # as the original, which keeps nothing
        code, count = self._counted(segmentNr, q_in)
        if code == E_NOERROR and one:
            call = self._calls[segmentNr] = self._core.call("pose", count)
            p_out._a._m, p_out._b._v = call(q_in._a)
        elif code == E_NOERROR and len(frames) != count:
            code = E_SIZE_MISMATCH
        elif code == E_NOERROR:
            poses, order = self._core.function("fk_all")(q_in._a), self._core.order
            for k, frame in enumerate(frames):
                frame._put(Frame.FromArray(poses[order[k + 1]]))
        return self._set(code)


class ChainFkSolverPos_recursive(ChainFkSolverPos):
    """Poses along a chain."""


class ChainFkSolverVel(SolverI):
    """The base of solvers for velocities."""

    def JntToCart(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int = -1) -> int:
        """Set a FrameVel to pose and velocity behind ``segmentNr`` segments; below 0: of the tip.

        The velocity is that of the frame's origin, in the axes of the base. Gives 0; -4 for an
        argument of another size, -6 for too many segments.
        """
        if q_in.__class__ is not JntArrayVel or p_out.__class__ is not FrameVel:
            check("JntToCart", q_in, JntArrayVel, p_out, FrameVel)
        q, v = q_in._q, q_in._qdot
        call = self._calls.get(segmentNr) if segmentNr.__class__ is int else None
        if call is None or self._fits(q, v) != E_NOERROR:
            if self._chain._content is not self._content:
                self.updateInternalDataStructures()
            code, count = self._counted(segmentNr, q, v)
            if code != E_NOERROR:
                return self._set(code)
            call = self._calls[segmentNr] = self._core.call("motion", count)
        frame, twist = p_out._a, p_out._b
        frame._a._m, frame._b._v, twist._a._v, twist._b._v = call(q._a, v._a)
        self._error = E_NOERROR
        return E_NOERROR


class ChainFkSolverVel_recursive(ChainFkSolverVel):
    """Poses and velocities along a chain."""


# Jacobians


class _WithLocks(SolverI):
    """A solver that may leave joints out."""

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now, with all its joints."""
        super().updateInternalDataStructures()
        self._free = np.ones(self._joints, bool)
        self._locked = False

    def setLockedJoints(self, locked_joints: Sequence[bool]) -> int:
        """Leave out the joints that are True; -4 for a list of another length.

        The columns of the others then stand side by side at the left, and zeros behind them. After
        the chain has grown and been taken anew, no joint is left out.
        """
        code = self._fits()
        if code == E_NOERROR and len(locked_joints) != self._joints:
            code = E_SIZE_MISMATCH
        if code == E_NOERROR:
            self._free = ~np.array(list(locked_joints), bool)
            self._locked = not self._free.all()
        return self._set(code)

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
        """
        if q_in.__class__ is not JntArray or jac.__class__ is not Jacobian:
            check("JntToJac", q_in, JntArray, jac, Jacobian)
        code, count = self._counted(seg_nr, q_in)
        if jac._a.shape[1] != self._joints and code == E_NOERROR:
            code = E_SIZE_MISMATCH
        if code == E_NOERROR:
            jac._a = self._packed(self._core.function("jacobian", count)(q_in._a))
        return self._set(code)


_REFERENCES: tuple[Literal["world-aligned", "local", "world"], ...] = (
    "world-aligned",
    "local",
    "world",
)


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
        self.setRepresentation(self.HYBRID)

    def setBodyFixedRepresentation(self) -> None:
        """Take BODYFIXED from now on."""
        self.setRepresentation(self.BODYFIXED)

    def setInertialRepresentation(self) -> None:
        """Take INERTIAL from now on."""
        self.setRepresentation(self.INERTIAL)

    def JntToJacDot(
        self, q_in: JntArrayVel, jdot: Any = None, seg_nr: int = -1, *, jac_dot_q_dot: Any = None
    ) -> int:
        """Set a Jacobian to the derivative, or a Twist to the derivative times the velocities.

        Of the Jacobian behind ``seg_nr`` segments; below 0: of the tip's. ``jac_dot_q_dot`` is
        another name of the Twist. Joints that are left out stand still. Gives 0; -3 where the chain
        has grown, -4 for an argument of another size, -6 for too many segments.
        """
        if jdot is None:
            jdot = jac_dot_q_dot
        if q_in.__class__ is not JntArrayVel or jdot.__class__ not in (Jacobian, Twist):
            check("JntToJacDot", q_in, JntArrayVel, jdot, (Jacobian, Twist))
        whole = isinstance(jdot, Jacobian)
        q, v = q_in._q, q_in._qdot
        code, count = self._counted(seg_nr, q, v)
        if whole and jdot._a.shape[1] != self._joints and code == E_NOERROR:
            code = E_SIZE_MISMATCH
        if code != E_NOERROR:
            return self._set(code)
        reference = ("reference", _REFERENCES[self._representation])
        moving = np.where(self._free, v._a, 0.0) if self._locked else v._a
        if whole:
            jdot._a = self._packed(
                self._core.function("jacobian_dot", count, reference)(q._a, moving)
            )
        else:
            call = self._calls.get((count, reference))
            if call is None:
                call = self._core.call("jacobian_dot_v", count, reference[1])
                self._calls[count, reference] = call
            jdot._a._v, jdot._b._v = call(q._a, moving)
        return self._set(E_NOERROR)


# forces and inertias


class ChainIdSolver(SolverI):
    """The base of solvers for inverse dynamics; ``grav`` is the free-fall acceleration.

    It is given in the axes of the base, m/s².
    """

    def __init__(self, chain: Chain, grav: Vector) -> None:
        super().__init__(chain)
        check(type(self).__name__, chain, Chain, grav, Vector)
        self._gravity = grav.ToArray()

    def CartToJnt(
        self, q: JntArray, q_dot: JntArray, q_dotdot: JntArray, f_ext: Any, torques: JntArray
    ) -> int:
        """Set ``torques`` to the forces of the joints that give these accelerations (N m, N).

        ``f_ext``: for each segment the wrench that acts on it, about the origin of its own frame
        and in its axes. Rotors count. Gives 0; -3 where the chain has grown, -4 for an argument of
        another size.
        """
        if (
            not q.__class__
            is q_dot.__class__
            is q_dotdot.__class__
            is torques.__class__
            is JntArray
        ):
            four = (q, q_dot, q_dotdot, torques)
            if not all([isinstance(one, JntArray) for one in four]):
                text = "three JntArrays, a list of Wrenches and a JntArray"
                raise wrong("CartToJnt", text, *four)
        code = self._fits(q, q_dot, q_dotdot, torques)
        if code == E_NOERROR and len(f_ext) != self._segments:
            code = E_SIZE_MISMATCH
        if code != E_NOERROR:
            return self._set(code)
        loads: list[Any] = []
        for wrench in f_ext:
            if wrench.__class__ is not Wrench and not isinstance(wrench, Wrench):
                raise wrong("CartToJnt", "a list of Wrenches, one for each segment", wrench)
            loads += wrench._a._v, wrench._b._v
        forces = self._calls.get("forces")
        if forces is None:
            forces = self._calls["forces"] = self._core.call("forces")
        torques._a = forces(
            q._a, q_dot._a, q_dotdot._a, self._gravity, *loads[2 * self._core.standing :]
        )
        return self._set(E_NOERROR)


class ChainIdSolver_RNE(ChainIdSolver):
    """Inverse dynamics; ``grav`` is the free-fall acceleration in the axes of the base, m/s²."""


_GRAVITY = ("parameters", ("gravity",))
_NONE = np.zeros(3)


class ChainDynParam(SolverI):
    """The parts of the equation of motion; ``grav`` as for `ChainIdSolver_RNE`.

    Each call gives 0; -3 where the chain has grown, -4 for an argument of another size.
    """

    def __init__(self, chain: Chain, grav: Vector) -> None:
        super().__init__(chain)
        check("ChainDynParam", chain, Chain, grav, Vector)
        self._gravity = grav.ToArray()

    def JntToGravity(self, q: JntArray, gravity: JntArray) -> int:
        """Set ``gravity`` to the forces of the joints that hold the chain still."""
        if not q.__class__ is gravity.__class__ is JntArray:
            check("JntToGravity", q, JntArray, gravity, JntArray)
        code = self._fits(q, gravity)
        if code == E_NOERROR:
            gravity._a = self._core.function("gravity_forces", None, _GRAVITY)(q._a, self._gravity)
        return self._set(code)

    def JntToCoriolis(self, q: JntArray, q_dot: JntArray, coriolis: JntArray) -> int:
        """Set ``coriolis`` to the forces that keep the velocities as they are, without gravity."""
        if not q.__class__ is q_dot.__class__ is coriolis.__class__ is JntArray:
            check("JntToCoriolis", q, JntArray, q_dot, JntArray, coriolis, JntArray)
        code = self._fits(q, q_dot, coriolis)
        if code == E_NOERROR:
            forces = self._core.function("bias_forces", None, _GRAVITY)
            coriolis._a = forces(q._a, q_dot._a, _NONE)
        return self._set(code)

    def JntToMass(self, q: JntArray, H: JntSpaceInertiaMatrix) -> int:
        """Set ``H`` to the mass matrix; rotors count."""
        if q.__class__ is not JntArray or H.__class__ is not JntSpaceInertiaMatrix:
            check("JntToMass", q, JntArray, H, JntSpaceInertiaMatrix)
        code = self._fits(q, H)
        if code == E_NOERROR:
            found = self._core.function("mass_matrix")(q._a)
            H._a = found + np.diag(self._core.rotors) if self._core.has_rotors else found
        return self._set(code)
