"""Rows S3-125 to S3-129, S3-132 and S3-133: velocities and positions of joints for the tip.

Velocities come from the core's least norm and pseudo-inverse. All three solvers for positions are
here one, the core's: compiled, begun where the original begins, restarted elsewhere where that
search ends short of the frame, and verified.
"""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork import ik
from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl.chain import Chain, Content
from linkwork.faces.pykdl.core import core_of
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.joint_arrays import JntArray
from linkwork.faces.pykdl.rates import diff
from linkwork.faces.pykdl.solvers import (
    E_MAX_ITERATIONS_EXCEEDED,
    E_NOERROR,
    E_SIZE_MISMATCH,
    ChainFkSolverPos,
    SolverI,
    check,
)
from linkwork.faces.pykdl.values import Floats, number, wrong
from linkwork.faces.pykdl.vectors import Twist
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import Options
from linkwork.solve.limits import RangeLimit
from linkwork.solve.velocities import JointVelocities, nearest_velocities

_SINGULAR_TEXT = {100: "Converged put pseudo inverse of jacobian is singular."}
_TINY = 1e-5
_SAFE = 1e-3
"""Least singular value over the norm: above it orthogonalization loses three digits at most."""


class ChainIkSolverVel(SolverI):
    """The base of solvers for velocities of joints.

    Where the Jacobian has full rank by far, a compiled call of the core gives them; where singular
    values decide, `linkwork.solve.velocities` does.
    """

    least_joints: ClassVar[float] = np.inf
    """Chains of so many joints are said to be singular."""

    def __init__(self, chain: Chain, eps: float = _TINY, maxiter: int = 150) -> None:
        super().__init__(chain)
        self._eps, self._maxiter = number(eps, "eps"), maxiter

    def CartToJnt(self, q_in: JntArray, v_in: Twist, qdot_out: JntArray) -> int:
        """Set ``qdot_out`` to velocities that give the tip a twist (at the tip, axes of the base).

        Gives 0; 100 where the chain is singular and the solver says so, -3 where it has grown, -4
        for an argument of another size.
        """
        if not q_in.__class__ is qdot_out.__class__ is JntArray or v_in.__class__ is not Twist:
            check("CartToJnt", q_in, JntArray, v_in, Twist, qdot_out, JntArray)
        code = self._fits(q_in, qdot_out, *self._needed())
        if code != E_NOERROR:
            return self._set(code)
        found = self._regular(q_in._a, v_in)
        if found is not None:
            qdot_out._a = found
            return self._set(E_NOERROR)
        solved = self._solved(q_in._a, v_in.ToArray())
        qdot_out._a = solved.v
        singular = solved.rank < min(6, self._joints) and self._joints >= self.least_joints
        return self._set(100 if singular else E_NOERROR)

    def _regular(self, q: Floats, twist: Twist, *towards: Any) -> Floats | None:
        """Velocities where the Jacobian has full rank by far; None where singular values decide."""
        call = self._calls.get("velocity")
        if call is None:
            call = self._core.velocities(self._segments, bool(towards))
            self._calls["velocity"] = call
        found, bound, share = call(q, twist._a._v, twist._b._v, *towards)
        return found if bound > self._eps and share > _SAFE else None

    def _solved(
        self,
        q: Floats,
        twist: Floats,
        *,
        damping: float = 0.0,
        weights: tuple[Floats | None, Floats | None] = (None, None),
        preferred: Floats | None = None,
    ) -> JointVelocities:
        J = self._core.function("jacobian", self._segments)(q)
        return nearest_velocities(J, twist, self._eps, damping, weights, preferred)


class ChainIkSolverVel_pinv(ChainIkSolverVel):
    """By the pseudo-inverse: of all that come nearest to the twist the smallest velocities.

    Singular values below ``eps`` count as 0; of a chain with 6 joints or more that gives 100.
    ``maxiter`` bounded the original's search for singular values, and bounds nothing here.
    """

    E_CONVERGE_PINV_SINGULAR = 100
    texts: ClassVar[dict[int, str]] = _SINGULAR_TEXT
    least_joints: ClassVar[float] = 6


class ChainIkSolverVel_pinv_givens(ChainIkSolverVel):
    """The same velocities as `ChainIkSolverVel_pinv`, from the first call on; it always gives 0."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)


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
        super().__init__(chain, eps, maxiter)
        self._alpha = number(alpha, "alpha")
        self._goal, self._weights = JntArray(), JntArray()

    def setWeights(self, weights: JntArray) -> int:
        """The weight of each joint; -4 for another size."""
        return self._take("_weights", weights)

    def setOptPos(self, opt_pos: JntArray) -> int:
        """The positions to go towards; -4 for another size."""
        return self._take("_goal", opt_pos)

    def setAlpha(self, alpha: float) -> int:
        """The share of the way that is gone in a second."""
        self._alpha = number(alpha, "alpha")
        return self._set(E_NOERROR)

    def getWeights(self) -> JntArray:
        """A copy of the weights; without elements until they are set."""
        return JntArray(self._weights)

    def getOptPos(self) -> JntArray:
        """A copy of the positions; without elements until they are set."""
        return JntArray(self._goal)

    def getAlpha(self) -> float:
        """The share of the way that is gone in a second."""
        return self._alpha

    def _take(self, name: str, value: JntArray) -> int:
        check(f"ChainIkSolverVel_pinv_nso.set{name}", value, JntArray)
        if len(value) != self._joints:
            return self._set(E_SIZE_MISMATCH)
        setattr(self, name, JntArray(value))
        return self._set(E_NOERROR)

    def _needed(self) -> tuple[JntArray, ...]:
        return self._goal, self._weights

    def _regular(self, q: Floats, twist: Twist, *towards: Any) -> Floats | None:
        return super()._regular(q, twist, self._goal._a, self._weights._a, self._alpha)

    def _solved(self, q: Floats, twist: Floats, **choices: Any) -> JointVelocities:
        way = self._goal._a - q
        slope = self._weights._a * way
        steepness = float(slope @ slope)
        if steepness == 0.0:
            return super()._solved(q, twist)
        preferred = self._alpha * float(slope @ way) / steepness * slope
        return super()._solved(q, twist, preferred=preferred)


class ChainIkSolverVel_wdls(ChainIkSolverVel):
    """By weighted, damped least squares.

    Where the least singular value lies below ``eps``, those below it are damped by ``lambda``, and
    the more, the smaller the least is; the call then gives 100. With ``lambda`` 0, as it is at
    first, they count as 0. Weights: (n, n) of the joints and (6, 6) of the twist, by default 1.

    Source: A. Maciejewski and C. Klein, J. Robotic Systems 5 (1988).
    """

    E_CONVERGE_PINV_SINGULAR = 100
    texts: ClassVar[dict[int, str]] = _SINGULAR_TEXT
    least_joints: ClassVar[float] = 0

    def __init__(self, chain: Chain, eps: float = _TINY, maxiter: int = 150) -> None:
        self._of_joints: Floats | None = None
        self._known: Floats | None = None
        self._q = np.zeros(0)
        self._of_twist: Floats | None = None
        super().__init__(chain, eps, maxiter)
        self._lambda, self._scaled, self._small = 0.0, 0.0, 0

    def setWeightJS(self, Mq: ArrayLike) -> int:
        """The weights of joints (n, n): a larger one moves more. -4 for another shape."""
        return self._weigh("_of_joints", real_array(Mq, "the weights of joints"), self._joints)

    def setWeightTS(self, Mx: ArrayLike) -> int:
        """The weights of the twist (6, 6): a larger one counts more. -4 for another shape."""
        return self._weigh("_of_twist", real_array(Mx, "the weights of the twist"), 6)

    def _weigh(self, name: str, taken: Floats, n: int) -> int:
        if taken.shape != (n, n):
            return self._set(E_SIZE_MISMATCH)
        setattr(self, name, np.array(taken))
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
        """The number of singular values, of as many as there are joints, that lay below eps."""
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

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now; weights of another number of joints are forgotten."""
        super().updateInternalDataStructures()
        if self._of_joints is not None and len(self._of_joints) != self._joints:
            self._of_joints = None
        self._known = np.zeros(self._joints)

    @property
    def _sigma(self) -> Floats:
        """The singular values of the last call, found when they are asked for."""
        if self._known is None:
            J = self._core.function("jacobian", self._segments)(self._q)
            self._known = self._filled(np.linalg.svd(J, compute_uv=False))
        return self._known

    def _filled(self, values: Any) -> Floats:
        return np.concatenate([values, np.zeros(self._joints - len(values))])

    def _regular(self, q: Floats, twist: Twist, *towards: Any) -> Floats | None:
        if self._of_joints is not None or self._of_twist is not None:
            return None
        found = super()._regular(q, twist)
        if found is not None:
            self._known, self._q, self._scaled = None, q.copy(), 0.0
            self._small = max(0, self._joints - 6) if self._eps > 0.0 else 0
        return found

    def _solved(self, q: Floats, twist: Floats, **choices: Any) -> JointVelocities:
        weights = self._of_joints, self._of_twist
        found = super()._solved(q, twist, damping=self._lambda, weights=weights)
        self._known = self._filled(found.singular_values)
        self._small = int((self._known < self._eps).sum())
        self._scaled = found.damping
        return found


# positions

_MARGIN = 0.7  # so that an error of position and one of rotation stay within eps together
_LEAST = 1e-10  # metres and radians: what the arithmetic itself allows, with room
_ENDLESS = 1e6
_WEIGHTS = (1.0, 1.0, 1.0, 0.01, 0.01, 0.01)
_STEPS, _TRIES = 30, 100
_WHOLE = (True,) * 6
_MOST_SOLVERS = 64


class _Wanted(NamedTuple):
    """The numbers that a solver depends on, besides the segments."""

    bounds: tuple[tuple[float, ...], tuple[float, ...]] | None
    counts: tuple[bool, ...]  # of three lengths and three angles
    position: float  # m
    rotation: float  # rad


_Search = tuple[InverseKinematics, Options]
"""The core's solver, and how it is asked."""


@lru_cache(maxsize=_MOST_SOLVERS)
def _search(content: Content, wanted: _Wanted) -> _Search:
    """The search for positions of a chain: for the same numbers, mostly the same one."""
    tip, counts = str(len(content.segments)), wanted.counts
    task = ik.Pose(tip, position=counts[:3], rotation=counts[3:])
    options = Options(
        position_tolerance=max(wanted.position, _LEAST),
        rotation_tolerance=max(wanted.rotation, _LEAST),
        steps=_STEPS,
        tries=_TRIES,
    )
    limits = [] if wanted.bounds is None else [RangeLimit(*map(np.array, wanted.bounds))]
    return core_of(content).robot.solver(tasks=task, limits=limits), options


class ChainIkSolverPos(SolverI):
    """The base of solvers for positions."""

    def __init__(self, chain: Chain) -> None:
        self._search: _Search | None = None
        super().__init__(chain)

    def CartToJnt(self, q_init: JntArray, p_in: Frame, q_out: JntArray) -> int:
        """Set ``q_out`` to positions that bring the tip to a frame of the base.

        The search begins at ``q_init``. Gives 0; -5 where the frame was not reached, with the
        nearest positions found, -3 where the chain has grown, -4 for an argument of another size.

        Raises: WrongTypeError (a TypeError); InputError for numbers that are not finite, and for a
        rotation that is none.
        """
        check("CartToJnt", q_init, JntArray, p_in, Frame, q_out, JntArray)
        code = self._fits(q_init, q_out, *self._needed())
        if code != E_NOERROR:
            return self._set(code)
        if self._joints == 0:
            return self._set(self._of_standing(p_in))
        solver, options = self._search = self._search or _search(self._content, self._wanted())
        found = solver.solve(p_in.ToArray(), q_init._a, options=options)
        q_out._a = np.array(found.q)
        return self._set(E_NOERROR if found.success else E_MAX_ITERATIONS_EXCEEDED)

    def updateInternalDataStructures(self) -> None:
        """Take the chain as it is now."""
        super().updateInternalDataStructures()
        self._search = None

    def _of_standing(self, p_in: Frame) -> int:
        """The code for a chain that nothing moves: whether its tip is at the frame."""
        wanted = self._wanted()
        here = Frame.FromArray(self._core.function("fk", self._segments)(np.zeros(0)))
        away = np.where(wanted.counts, diff(here, p_in).ToArray(), 0.0)
        near = np.linalg.norm(away[:3]) <= wanted.position
        turned = np.linalg.norm(away[3:]) > wanted.rotation
        return E_NOERROR if near and not turned else E_MAX_ITERATIONS_EXCEEDED

    def _wanted(self) -> _Wanted:
        """The search's numbers."""
        raise NotImplementedError


class ChainIkSolverPos_LMA(ChainIkSolverPos):
    """Positions without limits; the error is weighted by ``L``, three lengths and three angles.

    Its length is then at most ``eps``; by default angles count a hundredth, and an angle is still
    brought below ``eps`` rad. What has the weight 0 does not count: with L = (1, 1, 1, 0, 0, 0) the
    tip may turn. ``maxiter`` and ``eps_joints`` bounded the original's search, and are kept.

    Raises: WrongTypeError (a TypeError); ShapeError, InputError for other weights.
    """

    E_GRADIENT_JOINTS_TOO_SMALL = -100
    E_INCREMENT_JOINTS_TOO_SMALL = -101
    texts: ClassVar[dict[int, str]] = {
        -100: "The gradient of E towards the joints is to small",
        -101: "The joint position increments are to small",
    }

    def __init__(self, chain: Chain, *given: Any, **named: Any) -> None:
        weights: Any = named.pop("L", None)
        rest = list(given)
        if rest and not isinstance(rest[0], (int, float)):
            weights = rest.pop(0)
        limits = {"eps": 1e-5, "maxiter": 500, "eps_joints": 1e-15}
        limits |= dict(zip(limits, rest, strict=False)) | named
        if len(limits) > 3 or len(rest) > 3:
            raise wrong("ChainIkSolverPos_LMA", "a Chain, L, eps, maxiter, eps_joints", *given)
        self._weights = _weights_of(_WEIGHTS if weights is None else weights)
        super().__init__(chain)
        eps = number(limits["eps"], "eps") * _MARGIN
        length, angle = (max(1.0, *self._weights[k : k + 3]) for k in (0, 3))
        self._eps = eps / length, eps / angle

    def _wanted(self) -> _Wanted:
        return _Wanted(None, tuple([weight > 0.0 for weight in self._weights]), *self._eps)


class ChainIkSolverPos_NR(ChainIkSolverPos):
    """Positions without limits, each part of the error below ``eps`` (m, rad).

    ``fksolver`` and ``iksolver`` are taken for their types only: the core's solver needs neither.
    ``maxiter`` bounded the original's search, and is kept.

    Raises: WrongTypeError (a TypeError).
    """

    texts: ClassVar[dict[int, str]] = {
        -100: "Child IK solver failed",
        -101: "Child FK solver failed",
    }
    _bounds: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __init__(
        self,
        chain: Chain,
        fksolver: ChainFkSolverPos,
        iksolver: ChainIkSolverVel,
        maxiter: int = 100,
        eps: float = 1e-6,
    ) -> None:
        super().__init__(chain)
        check(type(self).__name__, fksolver, ChainFkSolverPos, iksolver, ChainIkSolverVel)
        self._maxiter, self._eps = maxiter, number(eps, "eps")

    def _wanted(self) -> _Wanted:
        return _Wanted(self._bounds, _WHOLE, self._eps, self._eps)


class ChainIkSolverPos_NR_JL(ChainIkSolverPos_NR):
    """As `ChainIkSolverPos_NR`, between ``q_min`` and ``q_max``; beyond 1e6 there is no limit.

    Raises: WrongTypeError (a TypeError); InputError, when first called, for limits that no position
    lies between.
    """

    texts: ClassVar[dict[int, str]] = {
        -100: "Internal inverse velocity solver failed.",
        -101: "Internal forward position solver failed.",
    }

    def __init__(
        self,
        chain: Chain,
        q_min: JntArray,
        q_max: JntArray,
        fksolver: ChainFkSolverPos,
        iksolver: ChainIkSolverVel,
        maxiter: int = 100,
        eps: float = 1e-6,
    ) -> None:
        check(type(self).__name__, q_min, JntArray, q_max, JntArray)
        self._limits = JntArray(q_min), JntArray(q_max)
        super().__init__(chain, fksolver, iksolver, maxiter, eps)
        self._bounds = (
            tuple([x if x > -_ENDLESS else -np.inf for x in q_min._a.tolist()]),
            tuple([x if x < _ENDLESS else np.inf for x in q_max._a.tolist()]),
        )

    def _needed(self) -> tuple[JntArray, ...]:
        return self._limits


def _weights_of(given: Any) -> list[float]:
    """Six weights, none below 0, not all 0."""
    taken = real_array(given, "L")
    if taken.size != 6:
        raise ShapeError(f"L has six weights, of lengths and of angles, not {taken.shape}")
    weights = taken.ravel().tolist()
    if not all(0.0 <= weight < np.inf for weight in weights) or not any(weights):
        raise InputError(f"weights are finite and 0 or more, one at least above 0, not {weights}")
    return weights
