from __future__ import annotations

import numpy as np
import pytest

from linkwork.faces.pykdl import SetToZero, Twist, Vector, Wrench, dot
from seeds import rng

V, W = Vector(0.1, 0.2, 0.3), Vector(0.4, 0.5, 0.6)


@pytest.mark.row("S3-070")
def test_constructors_and_parts():
    assert list(Twist()) == [0.0] * 6
    t = Twist(V, W)
    assert list(t) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert list(Twist(vel=V, rot=W)) == list(t)
    other = Twist(t)
    other.vel[0] = 9.0
    t.rot = Vector(7, 8, 9)
    assert list(other) == [9.0, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert list(t.rot) == [7.0, 8.0, 9.0]
    for wrong in ((V,), (V, 1), (V, W, V), (Wrench(V, W),)):
        with pytest.raises(TypeError):
            Twist(*wrong)  # pyright: ignore
    with pytest.raises(TypeError, match="takes a Vector, not int"):
        t.vel = 1  # pyright: ignore


@pytest.mark.row("S3-072", "S3-082")
def test_reference_point():
    moved = Twist(V, W).RefPoint(Vector(1, 2, 3))
    assert np.allclose(list(moved), [0.4, -0.4, 0.6, 0.4, 0.5, 0.6], atol=1e-15)
    for v, w, p in rng("reference points").normal(size=(20, 3, 3)):
        moved = Twist(Vector(*v), Vector(*w)).RefPoint(Vector(*p))
        assert np.allclose(list(moved), [*(v + np.cross(w, p)), *w], atol=1e-15)
    with pytest.raises(TypeError, match=r"Twist\.RefPoint takes a Vector"):
        Twist().RefPoint(1)  # pyright: ignore


@pytest.mark.row("S3-074")
def test_reverse_sign_in_place():
    t = Twist(V, W)
    assert t.ReverseSign() is None
    assert list(t) == [-0.1, -0.2, -0.3, -0.4, -0.5, -0.6]


@pytest.mark.row("S3-075")
def test_zero_of_the_class_and_of_an_object():
    t = Twist(V, W)
    assert list(Twist.Zero()) == [0.0] * 6
    assert list(t.Zero()) == [0.0] * 6
    assert list(t) == [0.0] * 6
    t = Twist(V, W)
    SetToZero(t)
    assert list(t) == [0.0] * 6


@pytest.mark.row("S3-012")
def test_power():
    for six in rng("power").normal(size=(20, 2, 6)):
        t, w = Twist.FromArray(six[0]), Wrench.FromArray(six[1])
        assert dot(t, w) == pytest.approx(six[0] @ six[1], abs=1e-14)
        assert dot(w, t) == dot(t, w)
    for wrong in ((Twist(), Twist()), (Vector(), Twist()), (1, 2)):
        with pytest.raises(TypeError, match="dot takes two Vectors"):
            dot(*wrong)


def test_arrays_there_and_back():
    six = rng("arrays").normal(size=(5, 6))
    batch = Twist.FromArray(six)
    assert batch.shape == (5,)
    assert np.array_equal(batch.ToArray(), six)
    assert batch.RefPoint(V).At(3) == Twist.FromArray(six[3]).RefPoint(V)
    assert repr(batch) == "<Twist: a batch of shape (5,)>"
