"""Transformations and Denavit-Hartenberg parameters, beside the original's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwork.faces import exudyn_robotics as face
from linkwork.faces.exudyn_robotics import transformations as t
from seeds import rng

FORMS = (list, tuple, np.array)


@pytest.mark.row("S4-001")
def test_standard_parameters_are_four_motions():
    theta, d, a, alpha = rng("standard DH").normal(size=4)
    steps = [t.HTrotateZ(theta), t.HTtranslateZ(d), t.HTtranslateX(a), t.HTrotateX(alpha)]
    expected = np.linalg.multi_dot(steps)
    for form in FORMS:
        assert face.StdDH2HT(form([theta, d, a, alpha])) == pytest.approx(expected, abs=1e-15)
    for wrong in ([1, 2, 3], [1, 2, 3, 4, 5]):
        with pytest.raises(ValueError, match="four numbers"):
            face.StdDH2HT(wrong)
    for wrong in ("x", 1j):
        with pytest.raises(ValueError, match="DHparameters"):
            face.StdDH2HT([0.0, wrong, 0.0, 0.0])


@pytest.mark.row("S4-002")
def test_modified_parameters_are_two_pairs():
    alpha, d, theta, r = rng("modified DH").normal(size=4)
    found = face.ModDHKK2HT([alpha, d, theta, r])
    assert isinstance(found, list)
    assert found[0] == pytest.approx(t.HTrotateX(alpha) @ t.HTtranslateX(d), abs=1e-15)
    assert found[1] == pytest.approx(t.HTrotateZ(theta) @ t.HTtranslateZ(r), abs=1e-15)
    with pytest.raises(ValueError, match="four numbers"):
        face.ModDHKK2HT([1, 2, 3])


ANGLES: list[Any] = [
    3.5,
    -math.pi,
    math.pi,
    4,
    np.float64(4),
    [3.5, -3.5],
    np.array([[9.0, -2]]),
    [],
]


@pytest.mark.row("S4-003")
@pytest.mark.parametrize("angle", ANGLES, ids=str)
def test_angles_are_projected(angle: Any):
    found = face.projectAngleToPMPi(angle)
    assert np.shape(found) == np.shape(angle)
    assert np.all((found > np.float64(-math.pi)) & (np.asarray(found) <= math.pi))
    assert np.exp(1j * np.asarray(found)) == pytest.approx(np.exp(1j * np.asarray(angle)))


@pytest.mark.row("S4-003")
def test_the_lower_end_is_the_upper_one():
    assert face.projectAngleToPMPi(-math.pi) == math.pi


@pytest.mark.row("S4-001", "S4-002", "S4-003")
def test_as_the_original():
    original = pytest.importorskip("exudyn.robotics", reason="exudyn is not installed")
    random = rng("DH beside the original")
    for _ in range(20):
        p = random.normal(size=4)
        assert np.array(original.StdDH2HT(p)) == pytest.approx(face.StdDH2HT(p), abs=1e-14)
        for theirs, ours in zip(original.ModDHKK2HT(p), face.ModDHKK2HT(p), strict=True):
            assert np.array(theirs) == pytest.approx(ours, abs=1e-14)
    for angle in ANGLES:
        theirs, ours = original.projectAngleToPMPi(angle), face.projectAngleToPMPi(angle)
        assert np.array_equal(theirs, ours)
        assert isinstance(ours, np.ndarray) == isinstance(theirs, np.ndarray)


def test_small_helpers():
    T = t.HT(t.HT2rotationMatrix(t.HTrotateY(0.3)), [1, 2, 3])
    assert t.HT2translation(T) == pytest.approx([1, 2, 3])
    assert t.InverseHT(T) @ T == pytest.approx(t.HT0())
    assert t.HTtranslate([1, 2, 3]) == pytest.approx(
        t.HTtranslateX(1) @ t.HTtranslateY(2) @ t.HTtranslateZ(3)
    )
    assert t.Skew([1, 2, 3]) @ [3, 1, 2] == pytest.approx(np.cross([1, 2, 3], [3, 1, 2]))
    assert t.Skew2Vec(t.Skew([1, 2, 3])) == pytest.approx([1, 2, 3])
    with pytest.raises(ValueError, match=r"\(4, 4\)"):
        t.HT2translation(np.eye(3))
