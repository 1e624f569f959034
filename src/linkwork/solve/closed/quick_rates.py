"""Rates of an assembled mechanism in one call of compiled code, which says where it is in doubt.

The code gives the rates and one number: above 1 where the loops are open, where the rates that are
found do not close them, as actuated joints hold each other, and at a singularity. All else is
exact; what is in doubt is left to singular values (`rates.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.actuation import actuated_numbers
from linkwork.algorithms.actuation_jacobian import along
from linkwork.algorithms.axes import Scalar
from linkwork.algorithms.closure import openings
from linkwork.algorithms.jacobian import Reference, jacobian
from linkwork.algorithms.passive_rates import following
from linkwork.algorithms.triples import times, total
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import build
from linkwork.compile.recipe import text_recipe
from linkwork.errors import InputError
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]

ASSEMBLED = 1.0e-6
"""How far a loop may be open where its rates are asked for, in `closure.opening_units`."""
_SETTLED = 1.0e-8
"""Rates of the rows that motions may leave open, by actuated speeds of 1."""


class Asked(NamedTuple):
    """A frame whose velocity is asked for, and in which axes."""

    frame: str
    reference: Reference


class Found(NamedTuple):
    """Rates (..., n, n_actuated), and which of the rows are in doubt; None: none are."""

    rates: Floats
    doubtful: NDArray[np.bool_] | None


class QuickRates:
    """dv by the actuated speeds (nv, n_actuated), or a frame's velocity by them."""

    def __init__(
        self, m: Mechanism, asked: Asked | None, free_motions: int, compiler: Compiler
    ) -> None:
        """Raises: UnknownNameError, InputError for a frame or reference that is none."""
        self._shape = (m.n_v if asked is None else 6, len(actuated_numbers(m)))

        def text(o: Ops, q: Block) -> dict[str, Block]:
            return {"rates": _rates_and_doubt(o, m, q, asked, free_motions)}

        key = ("closed", "rates", *map(str, asked or ()), str(free_motions), m.digest)
        recipe = text_recipe(key, "rates", {"q": m.n_q}, text)
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
    o: Ops, m: Mechanism, q: Block, asked: Asked | None, free_motions: int
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
