"""Rows S3-120 to S3-124, S3-130 and S3-131: solvers of chains, by the core's compiled functions.

Poses, velocities, Jacobians, their derivatives, forces and mass matrices. A call first tries the
compiled call of the core as it is; where that has not been made or does not take the arguments,
they are checked, and the general function says what is wrong with them.
"""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.formulas import OtherWayError
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
_NOT_READY = (KeyError, AttributeError, TypeError, OtherWayError)
"""No call of this kind yet, arguments of other types, or numbers that the call does not take."""


class SolverI:
    """The base of all solvers: the code of the last call, its text, and an update.

    A call gives 0 where all is well, a code below 0 where it could not do what was asked, and one
    above 0 where the result is of less worth. A solver is made for a chain as it is; once that has
    grown, calls give -3 until `updateInternalDataStructures`.
    """

    texts: ClassVar[dict[int, str]] = {}
    """Codes of this kind of solver only."""

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise wrong(type(self).__name__, "a Chain first", chain)
        self._chain = chain
        self._error = E_NOERROR
        self._update()

    def getError(self) -> int:
        """The code of the last call."""
        return self._error

    def strError(self, error: int) -> str:
        """The meaning of a code, in words."""
        return self.texts.get(error) or _TEXTS.get(error) or "UNKNOWN ERROR"

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now."""
        self._update()

    def _update(self) -> None:
        content = self._content = self._chain._content
        self._core = content.core
        self._joints = content.joints
        self._segments = len(content.segments)

    def _current(self) -> bool:
        return self._chain._content is self._content

    def _set(self, code: int) -> int:
        self._error = code
        return code

    def _fits(self, *arrays: Any) -> int:
        """0 where the chain is as it was and arrays have its number of joints, else the code."""
        if self._chain._content is not self._content:
            return E_NOT_UP_TO_DATE
        for array in arrays:
            if len(array._a) != self._joints:
                return E_SIZE_MISMATCH
        return E_NOERROR

    def _count(self, segment_nr: int) -> int:
        """The number of segments that is meant; all of them below 0. -1 for too many."""
        if segment_nr.__class__ is int and segment_nr < 0:
            return self._segments
        count = index(segment_nr, 2**31, "chain: a number of segments")
        return count if count <= self._segments else -1


def check(call: str, *pairs: Any) -> None:
    """Check that arguments have their types: values, and a type or several of each, in turn.

    Raises: WrongTypeError.
    """
    values, kinds = pairs[::2], pairs[1::2]
    for value, kind in zip(values, kinds, strict=True):
        if not isinstance(value, kind):
            takes = [
                " or ".join([one.__name__ for one in (k if isinstance(k, tuple) else (k,))])
                for k in kinds
            ]
            raise wrong(call, ", ".join(takes), *values)


# poses and velocities


class ChainFkSolverPos(SolverI):
    """The base of solvers for poses."""

    def JntToCart(self, q_in: JntArray, p_out: Any, segmentNr: int = -1) -> int:
        """Set a Frame to the pose behind ``segmentNr`` segments, in the base; below 0: of the tip.

        Or a list of Frames to the poses behind 1, 2, ... segments, as many as ``segmentNr``. Gives
        0; -4 for a q of another size or a list of another length, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for positions that are not finite.
        """
        raise NotImplementedError


class ChainFkSolverPos_recursive(ChainFkSolverPos):
    """Poses along a chain."""

    def JntToCart(self, q_in: JntArray, p_out: Any, segmentNr: int = -1) -> int:
        """See `ChainFkSolverPos.JntToCart`."""
        known = p_out.__class__ is Frame and segmentNr.__class__ is int
        if known and self._chain._content is self._content:
            try:
                p_out._a._m, p_out._b._v = self._core.poses[segmentNr](q_in._a)
            except _NOT_READY:
                pass
            else:
                self._error = E_NOERROR
                return E_NOERROR
        return self._checked(q_in, p_out, segmentNr)

    def _checked(self, q_in: JntArray, p_out: Any, segmentNr: int) -> int:
        if not isinstance(q_in, JntArray):
            raise wrong("JntToCart", "a JntArray and a Frame, or a list of Frames", q_in, p_out)
        if not self._current():
            self._update()  # as the original, which keeps nothing
        if len(q_in) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        count = self._count(segmentNr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        if not isinstance(p_out, Frame):
            return self._set(self._all(q_in, p_out, count))
        call = self._core.poses[segmentNr] = self._core.call("pose", count)
        try:
            p_out._a._m, p_out._b._v = call(q_in._a)
        except OtherWayError:
            p_out._put(Frame.FromArray(self._core.behind(count, "fk")(q_in._a)))
        return self._set(E_NOERROR)

    def _all(self, q: JntArray, out: Any, count: int) -> int:
        frames = cast("list[Any]", out if isinstance(out, (list, tuple)) else [out])
        if not all(isinstance(frame, Frame) for frame in frames):
            raise wrong("JntToCart", "a JntArray and a Frame, or a list of Frames", q, out)
        if len(frames) != count:
            return E_SIZE_MISMATCH
        poses, order = self._core.whole("fk_all")(q._a), self._core.order
        for k, frame in enumerate(frames):
            frame._put(Frame.FromArray(poses[order[k + 1]]))
        return E_NOERROR


class ChainFkSolverVel(SolverI):
    """The base of solvers for velocities."""

    def JntToCart(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int = -1) -> int:
        """Set a FrameVel to pose and velocity behind ``segmentNr`` segments; below 0: of the tip.

        The velocity is that of the frame's origin, in the axes of the base. Gives 0; -4 for an
        argument of another size, -6 for too many segments.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        raise NotImplementedError


class ChainFkSolverVel_recursive(ChainFkSolverVel):
    """Poses and velocities along a chain."""

    def JntToCart(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int = -1) -> int:
        """See `ChainFkSolverVel.JntToCart`."""
        known = p_out.__class__ is FrameVel and segmentNr.__class__ is int
        if known and self._chain._content is self._content:
            at, rate = p_out._a, p_out._b
            try:
                at._a._m, at._b._v, rate._a._v, rate._b._v = self._core.motions[segmentNr](
                    q_in._q._a, q_in._qdot._a
                )
            except _NOT_READY:
                pass
            else:
                self._error = E_NOERROR
                return E_NOERROR
        return self._checked(q_in, p_out, segmentNr)

    def _checked(self, q_in: JntArrayVel, p_out: FrameVel, segmentNr: int) -> int:
        check("JntToCart", q_in, JntArrayVel, p_out, FrameVel)
        if not self._current():
            self._update()
        code = self._fits(q_in.q, q_in.qdot)
        if code != E_NOERROR:
            return self._set(code)
        count = self._count(segmentNr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        q, v, core = q_in.q._a, q_in.qdot._a, self._core
        call = core.motions[segmentNr] = core.call("motion", count)
        at, rate = p_out._a, p_out._b
        try:
            at._a._m, at._b._v, rate._a._v, rate._b._v = call(q, v)
        except OtherWayError:
            at._put(Frame.FromArray(core.behind(count, "fk")(q)))
            rate._put(Twist.FromArray(core.behind(count, "frame_velocity")(q, v)))
        return self._set(E_NOERROR)


# Jacobians


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
        code = self._fits(q_in)
        if code == E_NOERROR and jac._a.shape[1] != self._joints:
            code = E_SIZE_MISMATCH
        if code != E_NOERROR:
            return self._set(code)
        count = self._count(seg_nr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        jac._a = self._packed(self._core.behind(count, "jacobian")(q_in._a))
        return self._set(E_NOERROR)


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

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        if jdot is None:
            jdot = jac_dot_q_dot
        whole = isinstance(jdot, Jacobian)
        if not (whole or isinstance(jdot, Twist)) or not isinstance(q_in, JntArrayVel):
            check("JntToJacDot", q_in, JntArrayVel, jdot, (Jacobian, Twist))
        code = self._fits(q_in._q, q_in._qdot)
        if code == E_NOERROR and whole and jdot._a.shape[1] != self._joints:
            code = E_SIZE_MISMATCH
        if code != E_NOERROR:
            return self._set(code)
        count = self._count(seg_nr)
        if count < 0:
            return self._set(E_OUT_OF_RANGE)
        reference = _REFERENCES[self._representation]
        q, v = q_in._q._a, q_in._qdot._a
        moving = np.where(self._free, v, 0.0) if self._locked else v
        if whole:
            function = self._core.behind(count, "jacobian_dot", reference=reference)
            jdot._a = self._packed(function(q, moving))
            return self._set(E_NOERROR)
        try:
            call = self._core.call("jacobian_dot_v", count, reference)
            jdot._a._v, jdot._b._v = call(q, moving)
        except OtherWayError:
            function = self._core.behind(count, "jacobian_dot_v", reference=reference)
            jdot._put(Twist.FromArray(function(q, moving)))
        return self._set(E_NOERROR)


# forces and inertias

_GRAVITY = ("gravity",)
_NOTHING = np.zeros(3)


class ChainIdSolver(SolverI):
    """The base of solvers for inverse dynamics."""

    def CartToJnt(
        self, q: JntArray, q_dot: JntArray, q_dotdot: JntArray, f_ext: Any, torques: JntArray
    ) -> int:
        """Set ``torques`` to the forces of the joints that give these accelerations (N m, N).

        ``f_ext``: for each segment the wrench that acts on it, about the origin of its own frame
        and in its axes. Rotors count. Gives 0; -3 where the chain has grown, -4 for an argument of
        another size.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        raise NotImplementedError


class ChainIdSolver_RNE(ChainIdSolver):
    """Inverse dynamics; ``grav`` is the free-fall acceleration in the axes of the base, m/s²."""

    def __init__(self, chain: Chain, grav: Vector) -> None:
        super().__init__(chain)
        check("ChainIdSolver_RNE", chain, Chain, grav, Vector)
        self._gravity = grav.ToArray()

    def CartToJnt(
        self, q: JntArray, q_dot: JntArray, q_dotdot: JntArray, f_ext: Any, torques: JntArray
    ) -> int:
        """See `ChainIdSolver.CartToJnt`."""
        core = self._core
        try:
            fits = len(torques._a) == self._joints and len(f_ext) == self._segments
            if fits and torques.__class__ is JntArray and self._chain._content is self._content:
                acting = f_ext[core.standing :] if core.standing else f_ext
                loads = [x for w in acting if w.__class__ is Wrench for x in (w._a._v, w._b._v)]
                torques._a = core.forces(q._a, q_dot._a, q_dotdot._a, self._gravity, *loads)
                self._error = E_NOERROR
                return E_NOERROR
        except _NOT_READY:
            pass
        return self._checked((q, q_dot, q_dotdot), f_ext, torques)

    def _checked(self, motion: tuple[JntArray, ...], f_ext: Any, torques: JntArray) -> int:
        four = (*motion, torques)
        if not all(isinstance(one, JntArray) for one in four):
            raise wrong("CartToJnt", "three JntArrays, a list of Wrenches and a JntArray", *four)
        code = self._fits(*four)
        if code == E_NOERROR and len(f_ext) != self._segments:
            code = E_SIZE_MISMATCH
        if code != E_NOERROR:
            return self._set(code)
        for wrench in f_ext:
            if not isinstance(wrench, Wrench):
                raise wrong("CartToJnt", "a list of Wrenches, one for each segment", wrench)
        call = self._core.forces = self._core.call("forces")
        q, v, dv = [one._a for one in motion]
        loads = [x for w in f_ext[self._core.standing :] for x in (w._a._v, w._b._v)]
        try:
            torques._a = call(q, v, dv, self._gravity, *loads)
        except OtherWayError:
            torques._a = self._loaded(q, v, dv, f_ext)
        return self._set(E_NOERROR)

    def _loaded(self, q: Floats, v: Floats, dv: Floats, f_ext: Sequence[Wrench]) -> Floats:
        """The general way, which says what is wrong."""
        core = self._core
        wrenches = np.array([wrench._numbers() for wrench in f_ext])
        turns = core.whole("fk_all")(q)[core.order[1:], :3, :3]
        turned = (wrenches.reshape(-1, 2, 3) @ turns.swapaxes(1, 2)).reshape(-1, 6)
        function = core.whole("inverse_dynamics", (*_GRAVITY, *core.wrenches))
        return function(q, v, dv, self._gravity, *turned[core.standing :]) + core.rotors * dv


class ChainDynParam(SolverI):
    """The parts of the equation of motion; ``grav`` as for `ChainIdSolver_RNE`.

    Each call gives 0; -3 where the chain has grown, -4 for an argument of another size. Raises:
    WrongTypeError (a TypeError); InputError for numbers that are not finite.
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
            gravity._a = self._core.whole("gravity_forces", _GRAVITY)(q._a, self._gravity)
        return self._set(code)

    def JntToCoriolis(self, q: JntArray, q_dot: JntArray, coriolis: JntArray) -> int:
        """Set ``coriolis`` to the forces that keep the velocities as they are, without gravity."""
        if not q.__class__ is q_dot.__class__ is coriolis.__class__ is JntArray:
            check("JntToCoriolis", q, JntArray, q_dot, JntArray, coriolis, JntArray)
        code = self._fits(q, q_dot, coriolis)
        if code == E_NOERROR:
            coriolis._a = self._core.whole("bias_forces", _GRAVITY)(q._a, q_dot._a, _NOTHING)
        return self._set(code)

    def JntToMass(self, q: JntArray, H: JntSpaceInertiaMatrix) -> int:
        """Set ``H`` to the mass matrix; rotors count."""
        if not (q.__class__ is JntArray and H.__class__ is JntSpaceInertiaMatrix):
            check("JntToMass", q, JntArray, H, JntSpaceInertiaMatrix)
        code = self._fits(q, H)
        if code == E_NOERROR:
            found = self._core.whole("mass_matrix")(q._a)
            H._a = found + np.diag(self._core.rotors) if self._core.has_rotors else found
        return self._set(code)
