"""Mobility, passive rates and singularities of an assembled mechanism.

The rates are those of `algorithms.passive_rates` in one call of compiled code, which gives one
number beside them: above 1 where the loops are open, where the rates that are found do not close
them, as actuated joints hold each other, and at a singularity. Such rows are left to singular
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms import configuration as configurations
from linkwork.algorithms.actuation import actuated_numbers, along, following
from linkwork.algorithms.closure import (
    closure,
    closure_jacobian,
    closure_parts,
    opening_units,
    openings,
)
from linkwork.algorithms.independent_rows import RANK, in_lengths, least_value, rank_of
from linkwork.algorithms.jacobian import Reference, jacobian
from linkwork.algorithms.vector3 import Scalar, times, total
from linkwork.checks import plain
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import text_recipe
from linkwork.errors import InputError
from linkwork.json_values import as_json
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.closed.assembly import actuated_names
from linkwork.solve.closed.messages import name_valueless
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import configuration
from linkwork.solve.problem import expanded
from linkwork.solve.tasks.whole import Closed

Floats = NDArray[np.float64]

ASSEMBLED = 1.0e-6
"""Opening of a loop up to which its rates are told, in `closure.opening_units`."""
_SETTLED = 1.0e-8
"""Rates of the rows that motions may leave open, by actuated speeds of 1."""
_HELD = 1.0e-6
"""Rates that leave more of the closure's rate than this, beside its own size, are none."""
_SAMPLES = 8


class FrameAsked(NamedTuple):
    """A frame whose velocity is asked for, and in which axes."""

    frame: str
    reference: Reference


class Found(NamedTuple):
    """Rates (..., n, n_actuated), and which of the rows are in doubt; None: none are."""

    rates: Floats
    doubtful: NDArray[np.bool_] | None


class CompiledRates:
    """dv by the actuated speeds (nv, n_actuated), or a frame's velocity by them."""

    def __init__(
        self, m: Mechanism, asked: FrameAsked | None, free_motions: int, compiler: Compiler
    ) -> None:
        """Raises: UnknownNameError, InputError for a frame or reference that is none."""
        self._shape = (m.n_v if asked is None else 6, len(actuated_numbers(m)))

        def rates(o: Ops, q: Block) -> dict[str, Block]:
            return {"rates": _rates_and_doubt(o, m, q, asked, free_motions)}

        key = ("closed", "rates", *map(str, asked or ()), str(free_motions), m.digest)
        recipe = text_recipe(key, "rates", {"q": m.n_q}, rates)
        with compiler.work(f"velocities for {m.name}"):
            self._call = build(recipe, compiler=compiler).bound()

    def __call__(self, q: ArrayLike) -> Found | None:
        """At q (..., nq); None where some q or result is not finite or of the wrong shape."""
        try:
            rows = self._call(q)
        except InputError:
            return None
        if rows.ndim == 1:
            found = rows[:-1].reshape(self._shape)
            return Found(found, None if rows[-1] <= 1.0 else np.ones((), bool))
        doubtful = rows[..., -1] > 1.0
        found = rows[..., :-1].reshape(*rows.shape[:-1], *self._shape)
        return Found(found, doubtful if doubtful.any() else None)


def _rates_and_doubt(
    o: Ops, m: Mechanism, q: Block, asked: FrameAsked | None, free_motions: int
) -> Block:
    found = following(o, m, q, free_motions=free_motions)
    columns = found.columns
    if asked is not None:
        J = jacobian(o, m, q, frame=asked.frame, reference=asked.reference)
        columns = along(m, J, asked.frame, columns)
    n = m.n_v if asked is None else 6
    by_rows: list[Scalar] = [column[i] for i in range(n) for column in columns]
    doubt = [
        _squares(openings(o, m, q), ASSEMBLED),
        _squares(found.left, _SETTLED),
        times(2.0, found.singular),
    ]
    return o.vector([*by_rows, total(doubt)])


def _squares(values: list[Scalar], most: float) -> Scalar:
    return times(1.0 / (most * most), total([times(x, x) for x in values]))


@dataclass(frozen=True)
class Mobility:
    """Mobility of a mechanism, at generic configurations or at one.

    ``rank`` is that of the closure's Jacobian, ``degrees_of_freedom`` what it leaves of v.
    ``redundant`` names rows that follow from those before them. ``passive_freedoms`` are left when
    the actuated joints stand still; ``independent`` says whether these can move each for itself;
    both are None where no joints are said to be actuated.
    """

    degrees_of_freedom: int
    rank: int
    rows: int
    redundant: tuple[str, ...]
    passive_freedoms: int | None
    independent: bool | None

    def to_dict(self) -> dict[str, Any]:
        """All of it by name as JSON takes it."""
        return as_json(vars(self))


@dataclass(frozen=True, eq=False)
class Singularities:
    """Nearness of a configuration to singularities: smallest singular values, zero there.

    ``type_1``: of the map from actuated speeds to the frame's velocity (metres as shares of the
    mechanism's length): the frame loses a direction. ``type_2``: of the closure's Jacobian by the
    passive joints: they can move though the actuated ones stand still.

    Source: Gosselin and Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE
    Transactions on Robotics and Automation 6 (1990).
    """

    type_1: Any
    """(...), or a float at one configuration; NaN where the actuated joints hold each other."""
    type_2: Any
    """(...), or a float at one configuration."""

    def to_dict(self) -> dict[str, Any]:
        """Both by name as JSON takes them; None where there is no value, or an infinite one."""
        return as_json(vars(self))


class Rates:
    """The closure of a mechanism as compiled functions, and what follows from its Jacobian."""

    def __init__(self, m: Mechanism, compiler: Compiler | None = None) -> None:
        self.mechanism = m
        self._compiler = compiler or Compiler()
        self._parts = closure_parts(m, in_frame_a=True)
        if not self._parts:
            raise InputError(f"'{m.name}' has no loops or couplings")
        self.row_names = tuple(
            f"{part.name}: {row}" for part in self._parts for row in part.row_names
        )
        self._opening_units = tuple(
            (group.name, group.unit, unit)
            for group, unit in zip(
                [group for part in closure_parts(m) for group in part.groups],
                opening_units(m),
                strict=True,
            )
        )
        moving = {c for part in self._parts for c in part.coordinates}
        self._ranks: dict[tuple[int, ...], int] = {}
        self._quick: dict[tuple[str, Reference] | None, CompiledRates] = {}
        self._looped = expanded(m.v_start, sorted(moving))
        self.known: Mobility | None = None  # at generic configurations, once it was asked for

    def closure(self, q: ArrayLike) -> Floats:
        """The rows of `closure.closure` at q (..., nq): (..., n_c).

        Raises: ShapeError; InputError for what is not finite, naming couplings without a value.
        """
        return self._held(self._closure, q)

    def jacobian(self, q: ArrayLike) -> Floats:
        """The rows of `closure.closure_jacobian` at q (..., nq): (..., n_c, nv).

        Raises: as `closure`.
        """
        return self._held(self._jacobian, q)

    def _held(self, kernel: Kernel, q: ArrayLike) -> Floats:
        try:
            return kernel(q)
        except InputError:
            name_valueless(self.mechanism, q)
            raise

    @cached_property
    def _closure(self) -> Kernel:
        return self._kernel("closure", lambda o, q: closure(o, self.mechanism, q))

    @cached_property
    def _openings(self) -> Kernel:
        return self._kernel("openings", lambda o, q: o.vector(openings(o, self.mechanism, q)))

    @cached_property
    def _jacobian(self) -> Kernel:
        return self._kernel("jacobian", lambda o, q: closure_jacobian(o, self.mechanism, q))

    def _kernel(self, name: str, expression: Callable[[Ops, Block], Block]) -> Kernel:
        key = ("closed", name, self.mechanism.digest)
        sizes = {"q": self.mechanism.n_q}
        recipe = text_recipe(key, name, sizes, lambda o, q: {name: expression(o, q)})
        with self._compiler.work(f"{name} for {self.mechanism.name}"):
            return build(recipe, compiler=self._compiler)

    def assembled(self, q: Configuration) -> Floats:
        """Configurations (..., nq), checked to be assembled.

        Raises: ShapeError, InputError naming the row that is open most.
        """
        given = configuration(q, self.mechanism, "q")
        apart = self._held(self._openings, given)
        if apart.size and float(apart.max()) > ASSEMBLED:
            *lead, worst = map(int, np.unravel_index(int(apart.argmax()), apart.shape))
            row = f" of row {lead}" if lead else ""
            name, unit, size = self._opening_units[worst]
            raise InputError(
                f"q{row} is not assembled: '{name}' is open by {size * float(apart.max()):.3g} "
                f"{unit}; use assemble() first"
            )
        return given

    def openings(self, q: Configuration) -> Floats:
        """The distance or angle by which each loop and coupling is open at q (..., nq).

        In `closure.opening_units`. Raises: as `closure`.
        """
        return self._held(self._openings, configuration(q, self.mechanism, "q"))

    def passive_rates(self, q: ArrayLike) -> Floats:
        """dv / d(actuated speeds) (..., nv, n_actuated) where the loops stay closed.

        Source: the implicit function theorem.
        Raises: InputError where q is not assembled, the actuated joints hold each other there, or
        it is not said which are actuated.
        """
        found = self._quickly(None, q)
        if found is None:
            return self._carefully(self.assembled(q))
        if found.doubtful is not None:
            doubtful = found.doubtful
            found.rates[doubtful] = self._carefully(self.assembled(q)[doubtful])
        return found.rates

    def actuation_jacobian(
        self, q: ArrayLike, asked: tuple[str, Reference], jacobian: Callable[..., Floats]
    ) -> Floats:
        """From actuated speeds to a frame's velocity (..., 6, n_actuated).

        ``asked`` are frame and reference; ``jacobian(q, frame, reference=...)`` is that of the
        tree, for what singular values decide.

        Raises: as `passive_rates`; UnknownNameError, InputError as `jacobian`.
        """
        found = self._quickly(asked, q)
        if found is None or found.doubtful is not None:
            given = self.assembled(q)
            some = given if found is None else given[found.doubtful]
            careful = jacobian(some, asked[0], reference=asked[1]) @ self._carefully(some)
            if found is None:
                return careful
            found.rates[found.doubtful] = careful
        return found.rates

    def _quickly(self, asked: tuple[str, Reference] | None, q: ArrayLike) -> Found | None:
        quick = self._quick.get(asked)
        if quick is None:
            actuated_names(self.mechanism, None)
            named = None if asked is None else FrameAsked(*asked)
            made = CompiledRates(self.mechanism, named, self.free_motions, self._compiler)
            quick = self._quick.setdefault(asked, made)
        return quick(q)

    def _carefully(self, q: Floats) -> Floats:
        """The rates by singular values, at what is assembled."""
        found, held = self._rates(q, self.mechanism.actuated)
        if held.any():
            raise InputError(
                "the actuated joints cannot move independently there: they hold each other, "
                "or the configuration is singular (see singularities)"
            )
        return found

    def _rates(self, q: Floats, actuated: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """The rates, and at which configurations they do not close the loops."""
        m = self.mechanism
        driven = _columns(m, actuated)
        passive = [k for k in self._looped if k not in set(driven)]
        J = self.jacobian(q)
        found = np.zeros((*q.shape[:-1], m.n_v, len(driven)))
        found[..., driven, range(len(driven))] = 1.0
        J_a = J[..., driven]
        left = J_a
        if passive:
            J_p = J[..., passive]
            rates = -np.linalg.pinv(J_p, rcond=RANK) @ J_a
            found[..., passive, :] = rates
            left = J_a + J_p @ rates
        size = np.maximum(1.0, np.abs(J_a).max(axis=(-2, -1), initial=0.0))
        return found, np.abs(left).max(axis=(-2, -1), initial=0.0) > _HELD * size

    def singularities(
        self, q: ArrayLike, actuated: Sequence[str], jacobian: Floats, length: float
    ) -> Singularities:
        """For the Jacobian (..., 6, nv) of a frame; type 1 is NaN where no rates exist.

        Raises: InputError where q is not assembled.
        """
        given = self.assembled(q)
        driven = set(_columns(self.mechanism, actuated))
        passive = [k for k in self._looped if k not in driven]
        rates, held = self._rates(given, actuated)
        whole = jacobian @ rates
        whole[..., :3, :] /= length
        type_1 = smallest(whole, min(6, whole.shape[-1]))
        type_2 = smallest(self.jacobian(given)[..., passive], self._passive_rank(passive))
        return Singularities(plain(np.where(held, np.nan, type_1)), plain(type_2))

    def _passive_rank(self, passive: Sequence[int]) -> int:
        """The rank of the Jacobian by the passive joints at generic configurations.

        Less than their number where some of them can always move by themselves.
        """
        known = self._ranks.get(tuple(passive))
        if known is None:
            ranks = [
                rank_of(in_lengths(self.mechanism, self.jacobian(point))[:, list(passive)])
                for point in self.generic
            ]
            known = self._ranks.setdefault(tuple(passive), max(ranks))
        return known

    @cached_property
    def free_motions(self) -> int:
        """The passive motions that stay free in general while the actuated joints stand still.

        Decided at neutral where it is assembled and as few are free there as can be, else at
        generic assembled configurations. Raises: InputError where none is found.
        """
        driven = set(_columns(self.mechanism, self.mechanism.actuated))
        passive = [k for k in self._looped if k not in driven]
        at = neutral(self.mechanism)
        if max(map(float, openings(NUMPY, self.mechanism, at)), default=0.0) <= ASSEMBLED:
            whole = np.asarray(closure_jacobian(NUMPY, self.mechanism, at))
            J = in_lengths(self.mechanism, whole)[:, passive]
            if rank_of(J) == min(J.shape):
                return max(0, len(passive) - len(self.row_names))
        return len(passive) - self._passive_rank(passive)

    def mobility(self, q: Configuration | None = None) -> Mobility:
        """The mobility at q (nq,), or at generic assembled configurations.

        Raises: InputError where it cannot be assembled.
        """
        if q is None and self.known is not None:
            return self.known
        points = self.generic if q is None else self.assembled(q)[None]
        found = [
            self._mobility_at(in_lengths(self.mechanism, self.jacobian(point))) for point in points
        ]
        most = max(found, key=lambda each: each.rank)
        if q is None:
            self.known = most
        return most

    @cached_property
    def generic(self) -> Floats:
        """Some assembled configurations, searched for from random ones (n, nq).

        Raises: InputError where none is found.
        """
        m = self.mechanism
        start = configurations.random(m, np.random.default_rng(0), _SAMPLES)
        solver = InverseKinematics(m, Closed(), compiler=self._compiler)
        result = solver.solve(None, start, steps=60, tries=30)
        if not result.success.any():
            raise InputError(f"'{m.name}' cannot be assembled: {result.reason_for(0)}")
        return result.q[result.success]

    def _mobility_at(self, J: Floats) -> Mobility:
        m = self.mechanism
        rank = rank_of(J)
        passive_freedoms = independent = None
        if m.actuated:
            driven = _columns(m, m.actuated)
            others = [k for k in range(m.n_v) if k not in set(driven)]
            passive = rank_of(J[:, others])
            passive_freedoms = len(others) - passive
            independent = rank == passive
        names = tuple(self.row_names[k] for k in dependent_rows(J))
        return Mobility(m.n_v - rank, rank, len(J), names, passive_freedoms, independent)


def _columns(m: Mechanism, joints: Sequence[str]) -> list[int]:
    return [v for name in joints for v in expanded(m.v_start, [m.joint(name)])]


def dependent_rows(J: Floats) -> list[int]:
    """The rows that add nothing to the rank of those before them: rows less rank of them.

    A row more makes no singular value smaller, and each at most as large as the one before it was:
    so every row adds one or nothing to how many there are above the same number.
    """
    least = least_value(np.linalg.svd(J, compute_uv=False))
    found: list[int] = []
    rank = 0
    for k in range(len(J)):
        values = np.linalg.svd(J[: k + 1], compute_uv=False)
        more = int(np.count_nonzero(values > least))
        if more == rank:
            found.append(k)
        rank = more
    return found


def smallest(a: Floats, count: int) -> Floats:
    """The last of ``count`` singular values of matrices (..., m, n); zero where there are fewer."""
    if not count or min(a.shape[-2:]) < count:
        return np.full(a.shape[:-2], np.inf if not count else 0.0)
    values: Floats = np.asarray(np.linalg.svd(a, compute_uv=False), np.float64)
    return values[..., count - 1]
