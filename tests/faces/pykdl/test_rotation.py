from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import (
    Frame,
    Rotation,
    Twist,
    Vector,
    Wrench,
    ZeroAxisWarning,
    ZeroQuaternionWarning,
)
from robots import about
from seeds import rng

X, Y, Z = [1, 0, 0], [0, 1, 0], [0, 0, 1]


def array(r: Rotation) -> np.ndarray:
    return np.array([[r[i, j] for j in range(3)] for i in range(3)])


def random_turns(label: str, count: int = 30) -> np.ndarray:
    return rng(label).uniform(-3, 3, (count, 3))


@pytest.mark.row("S3-020")
def test_without_arguments_it_is_none():
    assert np.array_equal(array(Rotation()), np.eye(3))


@pytest.mark.row("S3-021")
def test_nine_numbers_are_row_by_row():
    r = Rotation(1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert array(r).tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    named = Rotation(xx=1, yx=2, zx=3, xy=4, yy=5, zy=6, xz=7, yz=8, zz=9)
    assert np.array_equal(array(named), array(r))
    for wrong in ((1,), (1, 2, 3), tuple("123456789"), (1, 2, 3, 4, 5, 6, 7, 8)):
        with pytest.raises(TypeError, match="Rotation"):
            Rotation(*wrong)


@pytest.mark.row("S3-021")
def test_matrices_are_checked_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Rotation, "check", True)
    with pytest.raises(InputError, match="no rotation"):
        Rotation(1, 2, 3, 4, 5, 6, 7, 8, 9)
    with pytest.raises(InputError):
        Rotation(1, 0, 0, 0, 1, 0, 0, 0, -1)
    with pytest.raises(InputError):
        Rotation.FromArray(np.ones((2, 3, 3)))
    with pytest.raises(InputError):
        Frame.FromArray(np.diag([2.0, 1, 1, 1]))
    r = Rotation.RPY(0.1, 0.2, 0.3)
    assert Rotation(*array(r).ravel()) == r


@pytest.mark.row("S3-022")
def test_three_vectors_are_columns():
    x, y, z = Vector(1, 2, 3), Vector(4, 5, 6), Vector(7, 8, 9)
    assert array(Rotation(x, y, z)).tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]
    assert array(Rotation.FromRows(x, y, z)).tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert Rotation(x=x, y=y, z=z) == Rotation(x, y, z)
    with pytest.raises(TypeError):
        Rotation(x=x, y=y, w=z)


@pytest.mark.row("S3-023")
def test_elements_have_two_indices():
    r = Rotation()
    r[0, 2] = 5
    assert r[0, 2] == 5.0
    assert r[2, 0] == 0.0
    for outside in ((3, 0), (0, 3), (-1, 0)):
        with pytest.raises(IndexError, match="indices 0 to 2"):
            r[outside]
    for strange in (0, (0,), (0, 0, 0), ("a", 0), (0, 1.0)):
        with pytest.raises(TypeError):
            r[strange]  # pyright: ignore
    with pytest.raises(TypeError):
        list(r)  # pyright: ignore


@pytest.mark.row("S3-024")
@pytest.mark.parametrize(("name", "axis"), [("X", X), ("Y", Y), ("Z", Z)])
def test_turned_in_place_about_its_own_axis(name: str, axis: list[int]):
    for a, b, c in random_turns("do"):
        r = Rotation.RPY(a, b, 0.4)
        expected = array(r) @ about(axis, c)
        assert getattr(r, f"DoRot{name}")(c) is None
        assert np.abs(array(r) - expected).max() < 2e-15


@pytest.mark.row("S3-028", "S3-039")
def test_quaternions_there_and_back():
    random = rng("quaternions")
    some = random.normal(size=(50, 4))
    for q in some / np.linalg.norm(some, axis=1, keepdims=True):
        r = Rotation.Quaternion(*q)
        back = np.array(r.GetQuaternion())
        assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-15
        assert abs(np.linalg.norm(back) - 1) < 1e-15
        x, y, z, w = back
        assert w > 0 or max(x, y, z) > 0
    assert array(Rotation.Quaternion(0, 0, 0, 2)).tolist() == np.eye(3).tolist()
    assert np.allclose(array(Rotation.Quaternion(2e-180, 0, 0, 0)), np.diag([1, -1, -1]))


@pytest.mark.row("S3-039")
@pytest.mark.parametrize("zero", [0, 0.0, np.float32(0.0), -0.0])
def test_a_quaternion_of_nothing_is_no_rotation(zero: Any):
    with pytest.warns(ZeroQuaternionWarning, match="identity") as caught:
        found = Rotation.Quaternion(zero, zero, zero, zero)
    assert array(found).tolist() == np.eye(3).tolist()
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.row("S3-039")
def test_quaternions_of_nothing_in_a_batch():
    x, w = np.array([0.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0])
    with pytest.warns(ZeroQuaternionWarning):
        found = Rotation.Quaternion(x, 0.0 * x, 0.0 * x, w)
    expected = [np.eye(3), np.diag([1.0, -1.0, -1.0]), np.eye(3)]
    assert np.array_equal(found.ToArray(), expected)


@pytest.mark.row("S3-031")
def test_inverse_of_it_and_by_it():
    r = Rotation.RPY(0.1, 0.2, 0.3)
    assert r.Inverse() * r == Rotation()
    v, w = Vector(1, 2, 3), Vector(4, 5, 6)
    assert r.Inverse(v) == r.Inverse() * v
    assert r.Inverse(Twist(v, w)) == r.Inverse() * Twist(v, w)
    assert r.Inverse(Wrench(v, w)) == r.Inverse() * Wrench(v, w)
    with pytest.raises(TypeError, match="takes nothing, a Vector"):
        r.Inverse(3)  # pyright: ignore


@pytest.mark.row("S3-032")
def test_inverted_in_place():
    r = Rotation.RPY(0.1, 0.2, 0.3)
    expected = array(r).T
    assert r.SetInverse() is None
    assert np.array_equal(array(r), expected)


@pytest.mark.row("S3-034")
@pytest.mark.parametrize(("k", "name"), [(0, "UnitX"), (1, "UnitY"), (2, "UnitZ")])
def test_columns_are_got_and_set(k: int, name: str):
    r = Rotation(1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert list(getattr(r, name)()) == array(r)[:, k].tolist()
    getattr(r, name)(Vector(-1, -2, -3))
    assert array(r)[:, k].tolist() == [-1, -2, -3]
    assert array(r)[1, (k + 1) % 3] == 4 + (k + 1) % 3
    with pytest.raises(TypeError):
        getattr(r, name)(1)


@pytest.mark.row("S3-035")
def test_vectors_are_rotated():
    for a, b, c in random_turns("vectors"):
        r = Rotation.RPY(a, b, c)
        turned = r * Vector(a, b, 2)
        assert np.allclose(list(turned), array(r) @ [a, b, 2], atol=1e-15)
        assert turned.Norm() == pytest.approx(Vector(a, b, 2).Norm(), abs=1e-14)


@pytest.mark.row("S3-036")
@pytest.mark.parametrize("kind", [Twist, Wrench])
def test_both_parts_of_twists_and_wrenches_are_rotated(kind: type):
    r, v, w = Rotation.RPY(0.1, 0.2, 0.3), Vector(1, 2, 3), Vector(4, 5, 6)
    turned = r * kind(v, w)
    assert isinstance(turned, kind)
    assert list(turned) == [*(r * v), *(r * w)]


@pytest.mark.row("S3-037")
def test_rotations_are_composed():
    for a, b, c in random_turns("composed"):
        p, q = Rotation.RPY(a, b, c), Rotation.RPY(c, a, b)
        assert np.abs(array(p * q) - array(p) @ array(q)).max() < 1e-15
    for wrong in (lambda: Rotation() * 3, lambda: 3 * Rotation(), lambda: Rotation() * Frame()):
        with pytest.raises(TypeError, match="not defined"):
            wrong()


@pytest.mark.row("S3-038")
def test_identity():
    made = Rotation.Identity()
    assert np.array_equal(array(made), np.eye(3))
    made.DoRotX(1.0)
    assert np.array_equal(array(Rotation.Identity()), np.eye(3))


@pytest.mark.row("S3-040")
def test_about_any_axis():
    for axis in rng("axes").normal(size=(30, 3)):
        made = array(Rotation.Rot(Vector(*axis), 0.7))
        assert np.abs(made - about(axis / np.linalg.norm(axis), 0.7)).max() < 1e-15


@pytest.mark.row("S3-040")
@pytest.mark.parametrize("axis", [Vector(), Vector(0, 0, 1e-7)])
def test_an_axis_without_direction_is_x_with_a_warning(axis: Vector):
    with pytest.warns(ZeroAxisWarning, match="x axis"):
        assert Rotation.Rot(axis, 0.7) == Rotation.RotX(0.7)


@pytest.mark.row("S3-033")
def test_rot2_does_not_normalize():
    assert Rotation.Rot2(Vector(0, 0, 1), 0.7) == Rotation.RotZ(0.7)
    assert Rotation.Rot2(Vector(0, 0, 0), 0.7)[0, 0] == math.cos(0.7)


@pytest.mark.row("S3-041")
@pytest.mark.parametrize(("name", "axis"), [("RotX", X), ("RotY", Y), ("RotZ", Z)])
def test_about_an_axis(name: str, axis: list[int]):
    for angle in (0.3, -2.0, 0, 7):
        assert np.abs(array(getattr(Rotation, name)(angle)) - about(axis, angle)).max() < 2e-15
    assert np.isnan(array(getattr(Rotation, name)(math.inf))).sum() == 4
    with pytest.raises(TypeError, match="an angle is a number"):
        getattr(Rotation, name)("a")


@pytest.mark.row("S3-042")
def test_euler_zyx():
    for a, b, c in random_turns("zyx"):
        expected = about(Z, a) @ about(Y, b) @ about(X, c)
        assert np.abs(array(Rotation.EulerZYX(a, b, c)) - expected).max() < 2e-15


@pytest.mark.row("S3-043")
def test_euler_zyz():
    for a, b, c in random_turns("zyz"):
        expected = about(Z, a) @ about(Y, b) @ about(Z, c)
        assert np.abs(array(Rotation.EulerZYZ(a, b, c)) - expected).max() < 2e-15


@pytest.mark.row("S3-044")
def test_roll_pitch_yaw():
    for a, b, c in random_turns("rpy"):
        expected = about(Z, c) @ about(Y, b) @ about(X, a)
        assert np.abs(array(Rotation.RPY(a, b, c)) - expected).max() < 2e-15
    assert np.isnan(Rotation.RPY(0.0, math.inf, 0.0)[0, 0])


@pytest.mark.row("S3-045")
def test_equal_within_a_millionth():
    r = Rotation.RotX(0.3)
    assert r == Rotation.RotX(0.3 + 9e-7)
    assert r != Rotation.RotX(0.3 + 2e-6)
    assert r != Vector()
    with pytest.raises(TypeError, match="unhashable"):
        hash(r)


# batches, and other libraries


def test_a_batch_of_angles_is_a_batch_of_rotations():
    a, b, c = random_turns("batch", 9).T
    for name in ("RPY", "EulerZYX", "EulerZYZ"):
        batch = getattr(Rotation, name)(a, b, c)
        assert batch.shape == (9,)
        for k in range(9):
            one = getattr(Rotation, name)(float(a[k]), float(b[k]), float(c[k]))
            assert np.abs(batch.At(k).ToArray() - array(one)).max() < 1e-15
    for name in ("RotX", "RotY", "RotZ"):
        batch = getattr(Rotation, name)(a)
        assert np.abs(batch.At(3).ToArray() - array(getattr(Rotation, name)(a[3]))).max() < 1e-15
        turned = Rotation.RPY(a, b, c)
        getattr(turned, f"Do{name}")(b)
        one = Rotation.RPY(a[3], b[3], c[3])
        getattr(one, f"Do{name}")(b[3])
        assert turned.At(3) == one
    assert Rotation.RPY(a, 0.0, 0.1).shape == (9,)
    axis = Vector(a, b, c)
    assert Rotation.Rot(axis, 0.3).At(2) == Rotation.Rot(axis.At(2), 0.3)
    assert Rotation.Rot(Vector(0, 0, 2), a).At(2) == Rotation.RotZ(a[2])
    with pytest.warns(ZeroAxisWarning):
        Rotation.Rot(Vector(a * 0, b * 0, c * 0), 0.3)


def test_products_of_batches():
    a, b, c = random_turns("products", 5).T
    many, one = Rotation.RPY(a, b, c), Rotation.RPY(0.1, 0.2, 0.3)
    assert np.abs((many * one).ToArray() - many.ToArray() @ array(one)).max() < 1e-15
    assert np.abs((one * many).ToArray() - array(one) @ many.ToArray()).max() < 1e-15
    assert (one * Vector(a, b, c)).At(1) == one * Vector(a[1], b[1], c[1])
    assert (many * many.Inverse() == Rotation()).all()
    many.UnitX(Vector(1, 0, 0))
    assert many.ToArray()[:, :, 0].tolist() == [[1, 0, 0]] * 5
    assert repr(many) == "<Rotation: a batch of shape (5,)>"


def test_arrays_there_and_back():
    r = Rotation.RPY(0.1, 0.2, 0.3)
    assert Rotation.FromArray(r.ToArray()) == r
    assert np.array_equal(np.asarray(r), array(r))
    with pytest.raises(ShapeError, match=r"\(\.\.\., 3, 3\)"):
        Rotation.FromArray(np.eye(4))
    with pytest.raises(InputError):
        Rotation.FromArray([["a"] * 3] * 3)


def test_scipy_there_and_back():
    transform = pytest.importorskip("scipy.spatial.transform", reason="SciPy is not installed")
    r = Rotation.RPY(0.1, 0.2, 0.3)
    theirs = r.ToScipy()
    assert isinstance(theirs, transform.Rotation)
    assert np.allclose(theirs.as_quat(), r.GetQuaternion(), atol=1e-15)
    assert Rotation.FromScipy(theirs) == r
    many = Rotation.FromScipy(transform.Rotation.from_rotvec([[0, 0, 0.1], [0, 0.2, 0]]))
    assert many.shape == (2,)
    with pytest.raises(TypeError, match="scipy"):
        Rotation.FromScipy(3)
