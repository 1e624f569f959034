from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.pykdl import SetToZero, Twist, Vector, Wrench
from seeds import rng

V, W = Vector(0.1, 0.2, 0.3), Vector(0.4, 0.5, 0.6)


@pytest.mark.row("S3-071")
def test_constructors_and_parts():
    assert list(Wrench()) == [0.0] * 6
    w = Wrench(V, W)
    assert list(w) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert list(Wrench(force=V, torque=W)) == list(w)
    other = Wrench(w)
    other.force[0] = 9.0
    w.torque = Vector(7, 8, 9)
    assert list(other) == [9.0, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert list(w.torque) == [7.0, 8.0, 9.0]
    for wrong in ((V,), (V, 1), (Twist(V, W),)):
        with pytest.raises(TypeError, match="Wrench takes nothing"):
            Wrench(*wrong)  # pyright: ignore


@pytest.mark.row("S3-073")
def test_reference_point():
    for f, t, p in rng("reference points").normal(size=(20, 3, 3)):
        moved = Wrench(Vector(*f), Vector(*t)).RefPoint(Vector(*p))
        assert np.allclose(list(moved), [*f, *(t + np.cross(f, p))], atol=1e-15)
    with pytest.raises(TypeError, match=r"Wrench\.RefPoint takes a Vector"):
        Wrench().RefPoint(1)  # pyright: ignore


@pytest.mark.row("S3-075")
def test_zero_of_the_class_and_of_an_object():
    w = Wrench(V, W)
    assert list(Wrench.Zero()) == [0.0] * 6
    assert list(w.Zero()) == list(w) == [0.0] * 6
    w = Wrench(V, W)
    SetToZero(w)
    assert list(w) == [0.0] * 6


def test_arrays_there_and_back():
    six = rng("arrays").normal(size=(5, 6))
    assert np.array_equal(Wrench.FromArray(six).ToArray(), six)
    assert list(Wrench.FromArray(six[0])) == six[0].tolist()
