"""Rows S3-130 and S3-131: forces and inertias of chains, by the core's kernels."""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.jacobian import JntSpaceInertiaMatrix
from linkwork.faces.pykdl.joint_arrays import JntArray
from linkwork.faces.pykdl.scalars import Floats, wrong
from linkwork.faces.pykdl.solver import (
    E_NOERROR,
    E_NOT_UP_TO_DATE,
    E_SIZE_MISMATCH,
    OtherWayError,
    SolverI,
    check,
)
from linkwork.faces.pykdl.vector import Vector
from linkwork.faces.pykdl.wrench import Wrench

_GRAVITY = ("gravity",)
_NOTHING = np.zeros(3)


class ChainIdSolver(SolverI):
    """What solvers for inverse dynamics have."""

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
        except (AttributeError, TypeError, OtherWayError):
            pass
        return self._checked((q, q_dot, q_dotdot), f_ext, torques)

    def _checked(self, motion: tuple[JntArray, ...], f_ext: Any, torques: JntArray) -> int:
        four = (*motion, torques)
        if not all(isinstance(one, JntArray) for one in four):
            raise wrong("CartToJnt", "three JntArrays, a list of Wrenches and a JntArray", *four)
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        if any(len(one) != self._joints for one in four) or len(f_ext) != self._segments:
            return self._set(E_SIZE_MISMATCH)
        for wrench in f_ext:
            if not isinstance(wrench, Wrench):
                raise wrong("CartToJnt", "a list of Wrenches, one for each segment", wrench)
        call = self._core.forces = self._core.call("forces_call")
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
        code = self._fits(q)
        if code == E_NOERROR and H.rows() != self._joints:
            code = E_SIZE_MISMATCH
        if code == E_NOERROR:
            found = self._core.whole("mass_matrix")(q._a)
            H._a = found + np.diag(self._core.rotors) if self._core.has_rotors else found
        return self._set(code)

    def _fits(self, *arrays: JntArray) -> int:
        if not self._current():
            return E_NOT_UP_TO_DATE
        for one in arrays:
            if len(one._a) != self._joints:
                return E_SIZE_MISMATCH
        return E_NOERROR
