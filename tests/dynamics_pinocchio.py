"""Mechanisms beside Pinocchio's models of them, and states of both.

Pinocchio's velocities are a constant matrix times ours where no joint is planar, so all that is
linear in them goes over by that matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from linkwork.algorithms.configuration import random
from linkwork.conventions import GRAVITY
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import Mechanism
from robots import example_robot_urdfs, random_configuration, random_tree

NOT_PLANAR = ("fixed", "revolute", "continuous", "prismatic", "floating", "spherical")
REAL = (
    ("panda.urdf", "fixed"),
    ("talos_full_v2.urdf", "fixed"),
    ("talos_reduced.urdf", "floating"),
)


class Beside(NamedTuple):
    """One state of a mechanism, and of Pinocchio's model of it."""

    m: Mechanism
    q: np.ndarray
    v: np.ndarray
    dv: np.ndarray
    model: Any
    data: Any
    positions: np.ndarray  # Pinocchio's q
    G: np.ndarray  # Pinocchio's v is G times ours

    @property
    def state(self) -> tuple[Any, ...]:
        """Model, data, q, v, dv for Pinocchio's functions."""
        return self.model, self.data, self.positions, self.G @ self.v, self.G @ self.dv


def trees(random: np.random.Generator, n: int, *, mimic: float = 0.25) -> Iterator[Beside]:
    """Random trees of up to ten joints with every type but planar; every third one floats."""
    for k in range(n):
        text = random_tree(random, int(random.integers(2, 10)), NOT_PLANAR, mimic=mimic)
        found = beside(random, read(text), "floating" if k % 3 == 0 else "fixed")
        if found.m.n_v:
            yield found


def real(random: np.random.Generator) -> Iterator[Beside]:
    """Panda, and Talos on a fixed and on a floating base."""
    for name, base in REAL:
        (path,) = [path for path in example_robot_urdfs() if path.name == name]
        yield beside(random, read(Path(path)), base)


def beside(generator: np.random.Generator, document: Document, base: str) -> Beside:
    """A mechanism at a random state, beside Pinocchio's model."""
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair, pinocchio_model  # noqa: PLC0415  needs Pinocchio

    m = from_urdf(document, base=base)
    model = pinocchio_model(document, base, m.body_joint_names[0])
    model.gravity.linear = np.array(GRAVITY)
    pair = Pair(m, model, model.createData())
    real = all(np.isfinite(m.lower)) and base == "fixed"
    q = random(m, generator, 1)[0] if real else random_configuration(generator, m)
    v, dv = generator.normal(size=m.n_v), generator.normal(size=m.n_v)
    return Beside(m, q, v, dv, model, pair.data, pair.configuration(q), pair.tangent(q))


def near(got: Any, expected: Any, within: float = 1e-10) -> None:
    """Alike within this share of the largest number, or of 1."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=within * scale)
