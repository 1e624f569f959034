"""Rows S3-129, S3-132 and S3-133: positions of joints that bring the tip to a frame.

All three solvers of the original are here one, the core's: compiled, begun where the original
begins, restarted elsewhere where that search ends short of the frame, and verified.
"""
# Results are put into the values' own slots.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from linkwork import ik
from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl.chain import Chain, Content
from linkwork.faces.pykdl.core import Bounds, core_of
from linkwork.faces.pykdl.forward_solvers import ChainFkSolverPos
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.functions import diff
from linkwork.faces.pykdl.ik_velocity import ChainIkSolverVel
from linkwork.faces.pykdl.joint_arrays import JntArray
from linkwork.faces.pykdl.scalars import number, wrong
from linkwork.faces.pykdl.solver import (
    E_MAX_ITERATIONS_EXCEEDED,
    E_NOERROR,
    E_NOT_UP_TO_DATE,
    E_SIZE_MISMATCH,
    SolverI,
    check,
)
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.options import Options

_MARGIN = 0.7  # so that an error of position and one of rotation stay within eps together
_LEAST = 1e-10  # metres and radians: what the arithmetic itself allows, with room
_ENDLESS = 1e6
_WEIGHTS = (1.0, 1.0, 1.0, 0.01, 0.01, 0.01)
_STEPS, _TRIES = 30, 100
_WHOLE = (True,) * 6
_MOST_SOLVERS = 64


class _Wanted(NamedTuple):
    """The numbers that a solver depends on, besides the segments."""

    bounds: Bounds | None
    counts: tuple[bool, ...]  # of three lengths and three angles
    position: float  # m
    rotation: float  # rad


class _Search(NamedTuple):
    """The core's solver, and how it is asked."""

    solver: InverseKinematics
    options: Options


@lru_cache(maxsize=_MOST_SOLVERS)
def _search(content: Content, wanted: _Wanted) -> _Search:
    """The search for positions of a chain: for the same numbers, mostly the same one."""
    core = core_of(content, wanted.bounds)
    tip, counts = str(len(content.segments)), wanted.counts
    task = ik.Pose(tip, position=counts[:3], rotation=counts[3:])
    options = Options(
        position_tolerance=max(wanted.position, _LEAST),
        rotation_tolerance=max(wanted.rotation, _LEAST),
        steps=_STEPS,
        tries=_TRIES,
    )
    return _Search(core.robot.solver(tasks=task), options)


class ChainIkSolverPos(SolverI):
    """What solvers for positions have."""

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
        if not self._current():
            return self._set(E_NOT_UP_TO_DATE)
        if len(q_init) != self._joints or len(q_out) != self._joints or not self._ready():
            return self._set(E_SIZE_MISMATCH)
        if self._joints == 0:
            return self._set(self._of_standing(p_in))
        if self._search is None:
            self._search = _search(self._content, self._wanted())
        solver, options = self._search
        found = solver.solve(p_in.ToArray(), q_init._a, options=options)
        q_out._a = np.array(found.q)
        return self._set(E_NOERROR if found.success else E_MAX_ITERATIONS_EXCEEDED)

    def _update(self) -> None:
        super()._update()
        self._search = None

    def _ready(self) -> bool:
        """Whether what was given fits the chain."""
        return True

    def _of_standing(self, p_in: Frame) -> int:
        """The code for a chain that nothing moves: whether its tip is at the frame."""
        wanted = self._wanted()
        here = Frame.FromArray(self._core.behind(self._segments, "fk")(np.zeros(0)))
        away = np.where(wanted.counts, diff(here, p_in).ToArray(), 0.0)
        near = np.linalg.norm(away[:3]) <= wanted.position
        turned = np.linalg.norm(away[3:]) > wanted.rotation
        return E_NOERROR if near and not turned else E_MAX_ITERATIONS_EXCEEDED

    def _wanted(self) -> _Wanted:
        """What is searched for."""
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
        return _Wanted(None, _WHOLE, self._eps, self._eps)


class ChainIkSolverPos_NR_JL(ChainIkSolverPos):
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
        check(type(self).__name__, fksolver, ChainFkSolverPos, iksolver, ChainIkSolverVel)
        self._limits = JntArray(q_min), JntArray(q_max)
        super().__init__(chain)
        self._maxiter, self._eps = maxiter, number(eps, "eps")

    def _ready(self) -> bool:
        return all(len(limit) == self._joints for limit in self._limits)

    def _wanted(self) -> _Wanted:
        pairs = zip(*[limit._a.tolist() for limit in self._limits], strict=True)
        bounds = tuple(
            [
                (lower if lower > -_ENDLESS else None, upper if upper < _ENDLESS else None)
                for lower, upper in pairs
            ]
        )
        return _Wanted(bounds, _WHOLE, self._eps, self._eps)


def _weights_of(given: Any) -> list[float]:
    """Six weights, none below 0, not all 0.

    Raises: ShapeError, InputError.
    """
    taken = real_array(given, "L")
    if taken.size != 6:
        raise ShapeError(f"L has six weights, of lengths and of angles, not {taken.shape}")
    weights = taken.ravel().tolist()
    if not all(0.0 <= weight < np.inf for weight in weights) or not any(weights):
        raise InputError(f"weights are finite and 0 or more, one at least above 0, not {weights}")
    return weights
