"""Rotations, their angles, and batches of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
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
    addDelta,
    diff,
)
from seeds import rng

# rotation


def array(r: Rotation) -> np.ndarray:
    return np.array([[r[i, j] for j in range(3)] for i in range(3)])


def random_turns(label: str, count: int = 30) -> np.ndarray:
    return rng(label).uniform(-3, 3, (count, 3))


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


@pytest.mark.row("S3-020", "S3-038")
def test_none_and_identity():
    assert np.array_equal(array(Rotation()), np.eye(3))
    made = Rotation.Identity()
    made.DoRotX(1.0)
    assert np.array_equal(array(Rotation.Identity()), np.eye(3))


@pytest.mark.row("S3-040")
@pytest.mark.parametrize("axis", [Vector(), Vector(0, 0, 1e-7)])
def test_an_axis_without_direction_is_x_with_a_warning(axis: Vector):
    with pytest.warns(ZeroAxisWarning, match="x axis"):
        assert Rotation.Rot(axis, 0.7) == Rotation.RotX(0.7)


@pytest.mark.row("S3-041", "S3-044")
def test_angles_that_are_not_finite_or_no_numbers():
    for name in ("RotX", "RotY", "RotZ"):
        assert np.isnan(array(getattr(Rotation, name)(math.inf))).sum() == 4
        with pytest.raises(TypeError, match="an angle is a number"):
            getattr(Rotation, name)("a")
    assert np.isnan(Rotation.RPY(0.0, math.inf, 0.0)[0, 0])


# batches, and other libraries


def done(turn: Rotation, name: str, angle: Any) -> Rotation:
    getattr(turn, name)(angle)
    return turn


@pytest.mark.filterwarnings("ignore::linkwork.faces.pykdl.ZeroAxisWarning")
@pytest.mark.parametrize(
    "make",
    [
        Rotation.RPY,
        Rotation.EulerZYX,
        Rotation.EulerZYZ,
        lambda a, b, c: Rotation.RPY(a, 0.0, 0.1),
        lambda a, b, c: Rotation.RotX(a) * Rotation.RotY(b) * Rotation.RotZ(c),
        *[lambda a, b, c, k=k: done(Rotation.RPY(a, b, c), f"DoRot{k}", b) for k in "XYZ"],
        lambda a, b, c: Rotation.Rot(Vector(a, b, c), 0.3),
        lambda a, b, c: Rotation.Rot(Vector(0, 0, 2), a),
        lambda a, b, c: addDelta(Rotation(), Vector(a, b, c)),
        lambda a, b, c: Rotation.Quaternion(a, b, c, 0.5),
    ],
)
def test_each_row_is_made_as_one_rotation_is(make: Callable[[Any, Any, Any], Rotation]):
    rows = random_turns("batch", 20)
    rows[4] = 0.0
    batch = make(*rows.T)
    assert batch.shape == (20,)
    for k, row in enumerate(rows.tolist()):
        assert np.abs(batch.At(k).ToArray() - array(make(*row))).max() < 1e-15


def test_axes_of_nothing_in_a_batch():
    with pytest.warns(ZeroAxisWarning):
        Rotation.Rot(Vector.FromArray(np.zeros((3, 3))), 0.3)


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
    given = transform.Rotation.from_rotvec(rng("scipy").normal(size=(7, 3)))
    many = Rotation.FromScipy(given)
    assert many.shape == (7,)
    np.testing.assert_allclose(many.ToScipy().as_matrix(), given.as_matrix(), atol=1e-14)
    assert np.allclose((many * Vector(1, 2, 3)).ToArray(), given.apply([1, 2, 3]), atol=1e-14)
    with pytest.raises(TypeError, match="scipy"):
        Rotation.FromScipy(3)


# angles


HALF = math.pi / 2


def near(a: object, b: object, off: float = 1e-7) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=off))


def exact_turn(axis: list[float], angle: float) -> tuple[float, ...]:
    """Rodrigues' formula in 50 digits, rounded at the end; the axis is normalized there."""
    with mpmath.workdps(50):
        x, y, z = (mpmath.mpf(a) for a in axis)
        n = mpmath.sqrt(x * x + y * y + z * z)
        K = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]) / n
        t = mpmath.mpf(angle)
        R = mpmath.eye(3) + mpmath.sin(t) * K + (1 - mpmath.cos(t)) * K * K
        return tuple(float(R[i, j]) for i in range(3) for j in range(3))


@pytest.mark.row("S3-025", "S3-026")
def test_roll_pitch_yaw_give_the_rotation_back():
    for a, b, c in rng("rpy").uniform(-4, 4, (300, 3)):
        r = Rotation.RPY(a, b, c)
        roll, pitch, yaw = r.GetRPY()
        assert -HALF <= pitch <= HALF
        assert Rotation.RPY(roll, pitch, yaw).ToArray() == pytest.approx(r.ToArray(), abs=4e-15)
        assert r.GetEulerZYX() == (yaw, pitch, roll)
    assert near(Rotation.RPY(0.1, 0.2, 0.3).GetRPY(), (0.1, 0.2, 0.3), 1e-15)


@pytest.mark.row("S3-086")
def test_golden_euler_zyx():
    assert near(Rotation.EulerZYX(0.1, HALF, 0.3).GetEulerZYX(), (-0.2, HALF, 0))
    assert near(Rotation.EulerZYX(0.1, -HALF, 0.3).GetEulerZYX(), (0.4, -HALF, 0))
    far = Rotation.EulerZYX(0.1, 2, 0.3).GetEulerZYX()
    assert near(far, (-3.0415927, 1.1415927, -2.8415927))
    assert Rotation.EulerZYX(0.1, HALF, 0.3).GetRPY()[0] == 0.0


@pytest.mark.row("S3-027")
def test_euler_zyz_give_the_rotation_back():
    for a, b, c in rng("zyz").uniform(-4, 4, (300, 3)):
        r = Rotation.EulerZYZ(a, b, c)
        first, middle, last = r.GetEulerZYZ()
        assert 0 <= middle <= math.pi
        back = Rotation.EulerZYZ(first, middle, last)
        assert back.ToArray() == pytest.approx(r.ToArray(), abs=4e-15)


@pytest.mark.row("S3-087")
def test_golden_euler_zyz():
    assert near(Rotation.EulerZYZ(0.1, 0, 0.3).GetEulerZYZ(), (0.4, 0, 0))
    assert near(Rotation.EulerZYZ(0.1, math.pi, 0.3).GetEulerZYZ(), (-0.2, math.pi, 0))
    assert near(Rotation.EulerZYZ(0.1, -0.2, 0.3).GetEulerZYZ(), (-3.0415927, 0.2, -2.8415927))


@pytest.mark.row("S3-029", "S3-030")
@pytest.mark.parametrize(
    "angle",
    [0.0, 1e-300, 1e-17, 1e-9, 4e-7, 6e-7, 1e-4, 0.5, HALF, 2.0, 2.2, 3.0]
    + [math.pi - off for off in (1e-3, 1e-6, 1e-8, 1e-12)],
)
def test_axis_and_angle_are_exact(angle: float):
    for axis in [*rng("log").normal(size=(40, 3)).tolist(), [1, 0, 0], [0, 0, -1]]:
        r = Rotation(*exact_turn(axis, angle))
        got, unit = r.GetRotAngle()
        v = r.GetRot()
        expected = np.array(axis) / np.linalg.norm(axis)
        if angle == 0.0:
            assert (got, list(unit), list(v)) == (0.0, [0, 0, 1], [0, 0, 0])
            continue
        assert got == pytest.approx(angle, rel=1e-15, abs=1e-15 if angle > 1 else 0)
        # near pi the nine rounded numbers themselves tell the axis to some 1e-16
        assert near(list(unit), expected, 1e-15)
        assert near(list(v), expected * angle, 4e-15)


@pytest.mark.row("S3-030")
def test_at_a_half_turn_the_largest_component_is_positive():
    random = rng("half turns")
    axes = random.normal(size=(200, 3))
    for axis in axes / np.linalg.norm(axes, axis=1, keepdims=True):
        angle, unit = Rotation.Rot(Vector(*axis), math.pi).GetRotAngle()
        largest = np.argmax(np.abs(axis))
        assert angle == pytest.approx(math.pi, abs=1e-15)
        assert near(list(unit), axis * np.sign(axis[largest]), 1e-14)
    assert list(Rotation.Rot(Vector(0, 0, -1), math.pi).GetRotAngle()[1]) == [0, 0, 1]
    # of two equal ones the later counts
    assert near(
        list(Rotation.Rot(Vector(1, -1, 0), math.pi).GetRotAngle()[1]), [-(0.5**0.5), 0.5**0.5, 0]
    )


@pytest.mark.row("S3-088")
def test_golden_half_turn():
    v = Rotation.Rot(Vector(1, 1, -1), math.pi).GetRot()
    assert near(list(v), (-1.8138, -1.8138, 1.8138), 1e-5)


@pytest.mark.row("S3-030")
def test_with_eps_small_and_half_turns_are_rounded():
    assert Rotation.RotX(4e-7).GetRotAngle(1e-6)[0] == 0.0
    assert list(Rotation.RotX(4e-7).GetRotAngle(1e-6)[1]) == [0, 0, 1]
    assert Rotation.RotX(6e-7).GetRotAngle(1e-6)[0] == pytest.approx(6e-7)
    angle, axis = Rotation.RotX(math.pi - 4e-7).GetRotAngle(1e-6)
    assert angle == math.pi
    assert near(list(axis), [1, 0, 0])
    with pytest.raises(TypeError):
        Rotation().GetRotAngle("a")  # pyright: ignore
    with pytest.raises(ValueError, match="batch"):
        Rotation.RotX(np.ones(2)).GetRotAngle(0.1)  # pyright: ignore


def turned_by(*vector: Any) -> Rotation:
    """A turn about a vector by its length."""
    return addDelta(Rotation(), Vector(*vector))


def test_vectors_to_rotations_and_back():
    for v in rng("exp").uniform(-1.7, 1.7, (100, 3)).tolist():
        assert near(list(diff(Rotation(), turned_by(*v))), v, 2e-15)
    assert np.array_equal(array(turned_by(0, 0, 0)), np.eye(3))
    for tiny in (1e-9, 1e-160, 1e-300):
        assert turned_by(0, tiny, 0).GetRot()[1] == pytest.approx(tiny)


def test_quaternions_with_odd_numbers():
    assert np.isnan(array(Rotation.Quaternion(math.inf, 0.0, 0.0, 1.0))).all()
    expected = Rotation.RotZ(HALF)
    assert near(array(Rotation.Quaternion(0.0, 0.0, 3e300, 3e300)), array(expected))


# batches


SPECIAL = [0.0, math.pi / 2, -math.pi / 2, math.pi, -math.pi, 1e-9, math.pi - 1e-8, 1e-13]


def rotations() -> list[Rotation]:
    """Random ones, and all with special angles: every branch is taken by some row."""
    some = [Rotation.RPY(*row) for row in rng("batches").uniform(-4, 4, (100, 3)).tolist()]
    some += [Rotation.RPY(a, b, 0.3) for a in SPECIAL for b in SPECIAL]
    some += [Rotation.EulerZYZ(a, b, 0.0) for a in SPECIAL for b in SPECIAL]
    return [*some, *[Rotation.Rot(Vector(*axis), math.pi) for axis in np.eye(3)[:, ::-1]]]


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.GetRPY(),
        lambda r: r.GetEulerZYX(),
        lambda r: r.GetEulerZYZ(),
        lambda r: r.GetQuaternion(),
        lambda r: tuple(r.GetRot()),
        lambda r: (r.GetRotAngle()[0], *r.GetRotAngle()[1]),
    ],
)
def test_each_row_is_what_one_rotation_gives(call: Callable[[Rotation], Any]):
    given = rotations()
    columns = call(Rotation.Stack(given))
    for k, r in enumerate(given):
        row, alone = [float(column[k]) for column in columns], call(r)
        assert np.allclose(row, alone, rtol=0, atol=2e-15), (k, row, alone)


def test_a_batch_has_any_shape():
    batch = Rotation.RPY(np.zeros((2, 3)), np.ones((2, 3)), 0.2)
    assert batch.shape == (2, 3)
    assert batch.GetRPY()[1].shape == (2, 3)  # pyright: ignore
    assert batch.ToArray().shape == (2, 3, 3, 3)
    assert batch.At((1, 2)).shape == ()
    assert batch.At(0).shape == (3,)


def test_lengths_do_not_overflow():
    x = np.array([3e200])
    assert Vector(x, 0.0, 4 * x / 3).Norm() == pytest.approx(5e200)


def test_arrays_become_batches_without_a_copy():
    import linkwork as lw  # noqa: PLC0415  loads what compiles

    robot = lw.load("ur5e")
    poses = robot.fk(robot.random(20, seed=0))
    frames = Frame.FromArray(poses)
    assert frames.shape == (20,)
    assert np.shares_memory(frames.M[1, 2], poses) and np.shares_memory(frames.p[1], poses)
    before = poses.copy()
    frames.p += Vector(1, 2, 3)
    frames.M.DoRotZ(0.3)
    assert np.array_equal(poses, before)  # a batch never writes into what it looks at
    assert np.array_equal(Frame.FromArray(poses).ToArray(), poses)
    for kind, width in ((Vector, 3), (Twist, 6), (Wrench, 6)):
        numbers = rng(f"no copy {width}").normal(size=(4, 5, width))
        made = kind.FromArray(numbers)
        assert made.shape == (4, 5)
        assert all(np.shares_memory(part, numbers) for part in made)
        assert np.array_equal(made.ToArray(), numbers)
        assert np.array_equal(np.asarray(made), numbers)
