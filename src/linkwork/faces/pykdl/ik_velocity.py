"""Rows S3-125 to S3-128: velocities of joints that give a twist of the tip.

The Jacobian is the core's. What is done with it is arithmetic with its singular values, which NumPy
finds: each solver has its own rule for the small ones.
"""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.checks import real_array
from linkwork.faces.pykdl.chain import Chain
from linkwork.faces.pykdl.joint_arrays import JntArray
from linkwork.faces.pykdl.scalars import Floats, number, wrong
from linkwork.faces.pykdl.solver import (
    E_NOERROR,
    E_NOT_UP_TO_DATE,
    E_SIZE_MISMATCH,
    OtherWayError,
    SolverI,
    check,
)
from linkwork.faces.pykdl.twist import Twist

_SINGULAR = "Converged put pseudo inverse of jacobian is singular."
_TINY = 1e-5
_SAFE = 1e-3
"""Least singular value over the norm: above it orthogonalization loses three digits at most."""


class ChainIkSolverVel(SolverI):
    """What solvers for velocities of joints have."""

    def CartToJnt(self, q_in: JntArray, v_in: Twist, qdot_out: JntArray) -> int:
        """Set ``qdot_out`` to velocities that give the tip a twist (at the tip, axes of the base).

        Gives 0; 100 where the chain is singular and the solver says so, -3 where it has grown, -4
        for an argument of another size.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite.
        """
        if not (
            isinstance(q_in, JntArray)
            and isinstance(v_in, Twist)
            and isinstance(qdot_out, JntArray)
        ):
            raise wrong("CartToJnt", "a JntArray, a Twist and a JntArray", q_in, v_in, qdot_out)
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        if len(q_in) != self._joints or len(qdot_out) != self._joints or not self._ready():
            return self._set(E_SIZE_MISMATCH)
        return self._set(self._answered(q_in._a, v_in, qdot_out))

    def _answered(self, q: Floats, twist: Twist, out: JntArray) -> int:
        """The code, once the velocities are in ``out``."""
        jacobian = self._core.behind(self._segments, "jacobian")(q)
        code, out._a = self._solved(jacobian, np.array(twist._numbers()), q)
        return code

    def _regular(self, q: Floats, twist: Twist, eps: float) -> Floats | None:
        """Velocities where the Jacobian has full rank by far; None where singular values decide."""
        return self._safe("velocities_call", eps, q, twist._a._v, twist._b._v)

    def _safe(self, call: Any, eps: float, *given: Any) -> Floats | None:
        try:
            found, bound, share = self._core.call(call, self._segments)(*given)
        except OtherWayError:
            return None
        return found if bound > eps and share > _SAFE else None

    def _ready(self) -> bool:
        """Whether all that is needed was given."""
        return True

    def _solved(self, J: Floats, twist: Floats, q: Floats) -> tuple[int, Floats]:
        raise NotImplementedError

    def _inverted(self, J: Floats, eps: float) -> tuple[int, Floats, Floats]:
        """How many singular values are below eps, and the pseudo-inverse without them."""
        u, s, vt = np.linalg.svd(J, full_matrices=False)
        small = s < eps
        inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, s))
        return int(small.sum()), (vt.T * inverse) @ u.T, s


class ChainIkSolverVel_pinv(ChainIkSolverVel):
    """By the pseudo-inverse: of all that come nearest to the twist the smallest velocities.

    Singular values below ``eps`` count as 0; of a chain with 6 joints or more that gives 100.
    ``maxiter`` bounded the original's search for singular values, and bounds nothing here.
    """

    E_CONVERGE_PINV_SINGULAR = 100
    texts: ClassVar[dict[int, str]] = {100: _SINGULAR}

    def __init__(self, chain: Chain, eps: float = _TINY, maxiter: int = 150) -> None:
        super().__init__(chain)
        self._eps, self._maxiter = number(eps, "eps"), maxiter

    def _answered(self, q: Floats, twist: Twist, out: JntArray) -> int:
        found = self._regular(q, twist, self._eps)
        if found is None:
            return super()._answered(q, twist, out)
        out._a = found
        return E_NOERROR

    def _solved(self, J: Floats, twist: Floats, q: Floats) -> tuple[int, Floats]:
        small, inverse, _ = self._inverted(J, self._eps)
        singular = small > 0 and self._joints >= 6
        return (self.E_CONVERGE_PINV_SINGULAR if singular else E_NOERROR), inverse @ twist


class ChainIkSolverVel_pinv_givens(ChainIkSolverVel):
    """The same velocities as `ChainIkSolverVel_pinv`, from the first call on; it always gives 0."""

    def _answered(self, q: Floats, twist: Twist, out: JntArray) -> int:
        found = self._regular(q, twist, _TINY)
        if found is None:
            return super()._answered(q, twist, out)
        out._a = found
        return E_NOERROR

    def _solved(self, J: Floats, twist: Floats, q: Floats) -> tuple[int, Floats]:
        return E_NOERROR, self._inverted(J, _TINY)[1] @ twist


class ChainIkSolverVel_pinv_nso(ChainIkSolverVel):
    """The pseudo-inverse, and what it leaves free goes towards positions: `setOptPos`.

    With weights w and d the way to these positions, the least of the weighted squares of d is
    approached by ``alpha`` times a Newton step along their gradient, projected onto the motions
    that leave the tip where it is. Until weights and positions are set, calls give -4.

    Source: A. Liégeois, IEEE Trans. Systems, Man, Cybernetics 7 (1977): gradient projection.
    """

    def __init__(
        self, chain: Chain, eps: float = _TINY, maxiter: int = 150, alpha: float = 0.25
    ) -> None:
        super().__init__(chain)
        self._eps, self._maxiter = number(eps, "eps"), maxiter
        self._alpha = number(alpha, "alpha")
        self._goal, self._weights = JntArray(), JntArray()

    def setWeights(self, weights: JntArray) -> int:
        """How much each joint counts; -4 for another size."""
        return self._take("_weights", weights)

    def setOptPos(self, opt_pos: JntArray) -> int:
        """The positions to go towards; -4 for another size."""
        return self._take("_goal", opt_pos)

    def setAlpha(self, alpha: float) -> int:
        """How much of the way is gone in a second."""
        self._alpha = number(alpha, "alpha")
        return self._set(E_NOERROR)

    def getWeights(self) -> JntArray:
        """A copy of the weights; without elements until they are set."""
        return JntArray(self._weights)

    def getOptPos(self) -> JntArray:
        """A copy of the positions; without elements until they are set."""
        return JntArray(self._goal)

    def getAlpha(self) -> float:
        """How much of the way is gone in a second."""
        return self._alpha

    def _take(self, name: str, value: JntArray) -> int:
        check(f"ChainIkSolverVel_pinv_nso.set{name}", value, JntArray)
        if len(value) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        setattr(self, name, JntArray(value))
        return self._set(E_NOERROR)

    def _ready(self) -> bool:
        return len(self._goal) == len(self._weights) == self._joints

    def _answered(self, q: Floats, twist: Twist, out: JntArray) -> int:
        rest = (self._goal._a, self._weights._a, self._alpha)
        found = self._safe("towards_call", self._eps, q, twist._a._v, twist._b._v, *rest)
        if found is None:
            return super()._answered(q, twist, out)
        out._a = found
        return E_NOERROR

    def _solved(self, J: Floats, twist: Floats, q: Floats) -> tuple[int, Floats]:
        _, inverse, _ = self._inverted(J, self._eps)
        way = self._goal._a - q
        slope = self._weights._a * way
        steepness = float(slope @ slope)
        if steepness == 0.0:
            return E_NOERROR, inverse @ twist
        wanted = self._alpha * float(slope @ way) / steepness * slope
        return E_NOERROR, wanted + inverse @ (twist - J @ wanted)


class ChainIkSolverVel_wdls(ChainIkSolverVel):
    """By weighted, damped least squares.

    Where the least singular value lies below ``eps``, those below it are damped by ``lambda``, and
    the more, the smaller the least is; the call then gives 100. With ``lambda`` 0, as it is at
    first, they count as 0. Weights: (n, n) of the joints and (6, 6) of the twist, by default 1.

    Source: A. Maciejewski and C. Klein, J. Robotic Systems 5 (1988).
    """

    E_CONVERGE_PINV_SINGULAR = 100
    texts: ClassVar[dict[int, str]] = {100: _SINGULAR}

    def __init__(self, chain: Chain, eps: float = _TINY, maxiter: int = 150) -> None:
        self._of_joints: Floats | None = None
        self._known: Floats | None = None
        self._q = np.zeros(0)
        self._of_twist: Floats | None = None
        super().__init__(chain)
        self._eps, self._maxiter, self._lambda = number(eps, "eps"), maxiter, 0.0
        self._scaled, self._small = 0.0, 0

    def setWeightJS(self, Mq: ArrayLike) -> int:
        """The weights of joints (n, n): a larger one moves more. -4 for another shape."""
        taken = real_array(Mq, "the weights of joints")
        if taken.shape != (self._joints, self._joints):
            return self._set(E_SIZE_MISMATCH)
        self._of_joints = np.array(taken)
        return self._set(E_NOERROR)

    def setWeightTS(self, Mx: ArrayLike) -> int:
        """The weights of the twist (6, 6): a larger one counts more. -4 for another shape."""
        taken = real_array(Mx, "the weights of the twist")
        if taken.shape != (6, 6):
            return self._set(E_SIZE_MISMATCH)
        self._of_twist = np.array(taken)
        return self._set(E_NOERROR)

    def setLambda(self, lambda_in: float) -> None:
        """The damping."""
        self._lambda = number(lambda_in, "lambda")

    def setEps(self, eps_in: float) -> None:
        """Below which singular values are damped."""
        self._eps = number(eps_in, "eps")

    def setMaxIter(self, maxiter_in: int) -> None:
        """Kept; it bounded the original's search for singular values."""
        self._maxiter = maxiter_in

    def getLambda(self) -> float:
        """The damping."""
        return self._lambda

    def getLambdaScaled(self) -> float:
        """The damping that the last call used."""
        return self._scaled

    def getEps(self) -> float:
        """Below which singular values are damped."""
        return self._eps

    def getNrZeroSigmas(self) -> int:
        """How many of as many singular values as there are joints lay below eps."""
        return self._small

    def getSigmaMin(self) -> float:
        """The least singular value in the last call; of more than 6 joints the sixth."""
        k = min(6, len(self._sigma)) - 1
        return float(self._sigma[k]) if k >= 0 else 0.0

    def getSigma(self, Sout: Any) -> int:
        """Put the singular values of the last call into an array (n,); -4 for another shape."""
        if not isinstance(Sout, np.ndarray) or Sout.shape != self._sigma.shape:
            return self._set(E_SIZE_MISMATCH)
        Sout[:] = self._sigma
        return self._set(E_NOERROR)

    def getSVDResult(self) -> int:
        """0: the singular values were found."""
        return E_NOERROR

    def _update(self) -> None:
        super()._update()
        if self._of_joints is not None and len(self._of_joints) != self._joints:
            self._of_joints = None
        self._known = np.zeros(self._joints)

    @property
    def _sigma(self) -> Floats:
        """The singular values of the last call, found when they are asked for."""
        if self._known is None:
            J = self._core.behind(self._segments, "jacobian")(self._q)
            found = np.linalg.svd(J, compute_uv=False)
            self._known = np.zeros(self._joints)
            self._known[: len(found)] = found
        return self._known

    def _answered(self, q: Floats, twist: Twist, out: JntArray) -> int:
        if self._of_joints is None and self._of_twist is None:
            found = self._regular(q, twist, self._eps)
            if found is not None:
                out._a, self._known, self._q = found, None, q.copy()
                self._scaled = 0.0
                self._small = max(0, self._joints - 6) if self._eps > 0.0 else 0
                return E_NOERROR
        return super()._answered(q, twist, out)

    def _solved(self, J: Floats, twist: Floats, q: Floats) -> tuple[int, Floats]:
        a, wanted = J, twist
        if self._of_twist is not None:
            a, wanted = self._of_twist @ a, self._of_twist @ twist
        if self._of_joints is not None:
            a = a @ self._of_joints
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        self._known = np.zeros(self._joints)
        self._known[: len(s)] = s
        least = self.getSigmaMin()
        small = s < self._eps
        self._small = int((self._sigma < self._eps).sum())
        ratio = least / self._eps if least < self._eps else 1.0
        self._scaled = sqrt(1.0 - ratio * ratio) * self._lambda
        damped = s / (s * s + self._scaled**2) if self._scaled else np.zeros_like(s)
        inverse = np.where(small, damped, 1.0 / np.where(small, 1.0, s))
        found = vt.T @ (inverse * (u.T @ wanted))
        if self._of_joints is not None:
            found = self._of_joints @ found
        return (self.E_CONVERGE_PINV_SINGULAR if small.any() else E_NOERROR), found
