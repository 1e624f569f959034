"""Mobility, passive rates and singularities of an assembled mechanism.

The rates are those of `algorithms.passive_rates` in one call of compiled code, which gives one
number beside them, the doubt: above 1 where the loops are open, where the rates that are found do
not close them, as actuated joints hold each other, and at a singularity. In such rows singular
values decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms import configuration as configurations
from linkwork.algorithms.actuation import along, following
from linkwork.algorithms.closure import (
    closure_jacobian,
    closure_parts,
    opening_units,
    openings,
    valueless,
)
from linkwork.algorithms.independent_rows import RANK, in_lengths, least_value, rank_of
from linkwork.algorithms.jacobian import Reference, jacobian
from linkwork.algorithms.vector3 import Scalar, times, total
from linkwork.checks import plain
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import algorithm_recipe, expression_recipe
from linkwork.errors import InputError
from linkwork.json_values import as_json
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.closed.assembly import actuated_names
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import configuration
from linkwork.solve.tasks import Closed

Floats = NDArray[np.float64]

ASSEMBLED = 1.0e-6
"""Opening of a loop up to which its rates are told, in `closure.opening_units`."""
_SETTLED = 1.0e-8
"""Rates of the rows that motions may leave open, by actuated speeds of 1."""
_HELD = 1.0e-6
"""Rates that leave more of the closure's rate than this, beside its own size, are none."""
_SAMPLES = 8


Asked = tuple[str, Reference] | None
"""A frame whose velocity is asked for and its reference; None: the velocities of all joints."""


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
        self._calls: dict[Asked, Callable[[ArrayLike], Floats]] = {}
        self.known: Mobility | None = None  # at generic configurations, once it was asked for

    @cached_property
    def _actuated(self) -> list[int]:
        """The indices in v of the actuated joints.

        Raises: InputError where it is not said which these are.
        """
        m = self.mechanism
        return m.v_indices([m.joint(name) for name in actuated_names(m, None)])

    @cached_property
    def _passive(self) -> list[int]:
        """The indices in v of what loops and couplings move, but for the actuated joints."""
        m = self.mechanism
        moving = {c for part in self._parts for c in part.coordinates}
        driven = {m.joint(name) for name in m.actuated}
        return m.v_indices(sorted(moving - driven))

    @cached_property
    def _jacobian(self) -> Kernel:
        """The rows of `closure.closure_jacobian` (..., n_c, nv)."""
        with self._compiler.work(f"closure_jacobian for {self.mechanism.name}"):
            recipe = algorithm_recipe("closure_jacobian", self.mechanism)
            return build(recipe, compiler=self._compiler)

    @cached_property
    def _openings(self) -> Kernel:
        m = self.mechanism

        def expression(o: Ops, q: Block) -> dict[str, Block]:
            return {"openings": o.vector(openings(o, m, q))}

        with self._compiler.work(f"openings for {m.name}"):
            key = ("closed", "openings", m.digest)
            recipe = expression_recipe(key, "openings", {"q": m.n_q}, expression)
            return build(recipe, compiler=self._compiler)

    def openings(self, q: Configuration) -> Floats:
        """The distance or angle by which each loop and coupling is open at q (..., nq).

        In `closure.opening_units`.

        Raises: ShapeError; InputError for what is not finite, naming couplings without a value.
        """
        given = configuration(q, self.mechanism, "q")
        try:
            return self._openings(given)
        except InputError:
            for row in np.ndindex(given.shape[:-1]):
                if why := valueless(self.mechanism, given[row]):
                    raise InputError(f"row {list(row)}: {why}" if row else why) from None
            raise

    def assembled(self, q: Configuration) -> Floats:
        """Configurations (..., nq), checked to be assembled.

        Raises: as `openings`; InputError naming the row that is open most.
        """
        apart = self.openings(q)
        if apart.size and float(apart.max()) > ASSEMBLED:
            *lead, worst = map(int, np.unravel_index(int(apart.argmax()), apart.shape))
            row = f" of row {lead}" if lead else ""
            group = [group for part in self._parts for group in part.groups][worst]
            size = opening_units(self.mechanism)[worst] * float(apart.max())
            raise InputError(
                f"q{row} is not assembled: '{group.name}' is open by {size:.3g} {group.unit}; "
                "use assemble() first"
            )
        return configuration(q, self.mechanism, "q")

    def passive_rates(self, q: ArrayLike) -> Floats:
        """dv / d(actuated speeds) (..., nv, n_actuated) where the loops stay closed.

        Source: the implicit function theorem.
        Raises: InputError where q is not assembled, the actuated joints hold each other there, or
        it is not said which are actuated.
        """
        return self._velocities(q, None, lambda _q, rates: rates)

    def actuation_jacobian(
        self, q: ArrayLike, asked: tuple[str, Reference], jacobian: Callable[..., Floats]
    ) -> Floats:
        """From actuated speeds to a frame's velocity (..., 6, n_actuated).

        ``asked`` are frame and reference; ``jacobian(q, frame, reference=...)`` is that of the
        tree, for what singular values decide.

        Raises: as `passive_rates`; UnknownNameError, InputError as `jacobian`.
        """
        frame, reference = asked
        return self._velocities(
            q, asked, lambda q, rates: jacobian(q, frame, reference=reference) @ rates
        )

    def _velocities(
        self, q: ArrayLike, asked: Asked, of_rates: Callable[[Floats, Floats], Floats]
    ) -> Floats:
        """The quantity asked for by actuated speeds; ``of_rates(q, rates)`` where in doubt."""
        call = self._calls.get(asked)
        if call is None:
            call = self._calls.setdefault(asked, self.kernel(asked).bound())
        shape = (self.mechanism.n_v if asked is None else 6, len(self._actuated))
        try:
            rows = call(q)
        except InputError:  # of a q or a result that is not finite, or of another shape
            given = self.assembled(q)
            return of_rates(given, self._checked_rates(given))
        if rows.ndim == 1 and rows[-1] <= 1.0:
            return rows[:-1].reshape(shape)
        found = rows[..., :-1].reshape(*rows.shape[:-1], *shape)
        doubtful = rows[..., -1] > 1.0
        if doubtful.any():
            some = self.assembled(q)[doubtful]
            found[doubtful] = of_rates(some, self._checked_rates(some))
        return found

    def kernel(self, asked: Asked) -> Kernel:
        """The quantity asked for, by the actuated speeds, row by row, then the doubt.

        Above 1 it is not sure.

        Raises: UnknownNameError, InputError for a frame or reference that is none.
        """
        m, n = self.mechanism, len(self._actuated)
        free_motions = self.free_motions

        def squares(values: Sequence[Scalar], most: float) -> Scalar:
            return times(1.0 / (most * most), total([times(x, x) for x in values]))

        def velocities(o: Ops, q: Block) -> dict[str, Block]:
            found = following(o, m, q, free_motions=free_motions)
            columns = found.columns
            if asked is not None:
                J = jacobian(o, m, q, frame=asked[0], reference=asked[1])
                columns = along(m, J, asked[0], columns)
            height = m.n_v if asked is None else 6
            by_rows: list[Scalar] = [columns[k][i] for i in range(height) for k in range(n)]
            doubt = [
                squares(openings(o, m, q), ASSEMBLED),
                squares(found.left, _SETTLED),
                times(2.0, found.singular),
            ]
            return {"rates": o.vector([*by_rows, total(doubt)])}

        key = ("closed", "rates", *map(str, asked or ()), str(free_motions), m.digest)
        with self._compiler.work(f"velocities for {m.name}"):
            recipe = expression_recipe(key, "rates", {"q": m.n_q}, velocities)
            return build(recipe, compiler=self._compiler)

    def _checked_rates(self, q: Floats) -> Floats:
        """The rates by singular values, at what is assembled.

        Raises: InputError where the actuated joints hold each other.
        """
        found, held = self.rates_by_singular_values(q)
        if held.any():
            raise InputError(
                "the actuated joints cannot move independently there: they hold each other, "
                "or the configuration is singular (see singularities)"
            )
        return found

    def rates_by_singular_values(self, q: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The passive rates at assembled q (..., nq), and where they do not close the loops."""
        driven, passive = self._actuated, self._passive
        J = self._jacobian(q)
        found = np.zeros((*q.shape[:-1], self.mechanism.n_v, len(driven)))
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

    def singularities(self, q: ArrayLike, jacobian: Floats, length: float) -> Singularities:
        """For the Jacobian (..., 6, nv) of a frame; type 1 is NaN where no rates exist.

        Raises: InputError where q is not assembled.
        """
        given = self.assembled(q)
        rates, held = self.rates_by_singular_values(given)
        whole = jacobian @ rates
        whole[..., :3, :] /= length
        type_1 = smallest(whole, min(6, whole.shape[-1]))
        type_2 = smallest(self._jacobian(given)[..., self._passive], self._passive_rank)
        return Singularities(plain(np.where(held, np.nan, type_1)), plain(type_2))

    @cached_property
    def _passive_rank(self) -> int:
        """The rank of the Jacobian by the passive joints at generic configurations.

        Less than their number where some of them can always move by themselves.
        """
        m = self.mechanism
        rows = [in_lengths(m, self._jacobian(point))[:, self._passive] for point in self.generic]
        return max(map(rank_of, rows))

    @cached_property
    def free_motions(self) -> int:
        """The passive motions that stay free in general while the actuated joints stand still.

        Decided at neutral where it is assembled and as few are free there as can be, else at
        generic assembled configurations. Raises: InputError where none is found.
        """
        passive = self._passive
        at = neutral(self.mechanism)
        if max(map(float, openings(NUMPY, self.mechanism, at)), default=0.0) <= ASSEMBLED:
            whole = np.asarray(closure_jacobian(NUMPY, self.mechanism, at))
            J = in_lengths(self.mechanism, whole)[:, passive]
            if rank_of(J) == min(J.shape):
                return max(0, len(passive) - len(self.row_names))
        return len(passive) - self._passive_rank

    def mobility(self, q: Configuration | None = None) -> Mobility:
        """The mobility at q (nq,), or at generic assembled configurations.

        Raises: InputError where it cannot be assembled.
        """
        if q is None and self.known is not None:
            return self.known
        points = self.generic if q is None else self.assembled(q)[None]
        found = [
            self._mobility_at(in_lengths(self.mechanism, self._jacobian(point))) for point in points
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
            others = [k for k in range(m.n_v) if k not in set(self._actuated)]
            passive = rank_of(J[:, others])
            passive_freedoms = len(others) - passive
            independent = rank == passive
        names = tuple(self.row_names[k] for k in dependent_rows(J))
        return Mobility(m.n_v - rank, rank, len(J), names, passive_freedoms, independent)


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
