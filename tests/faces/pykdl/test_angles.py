from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from linkwork.faces.pykdl import Rotation, Vector, angles
from seeds import rng

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


def test_vectors_to_rotations_and_back():
    for v in rng("exp").uniform(-1.7, 1.7, (100, 3)).tolist():
        assert near(angles.to_vector(angles.from_vector(tuple(v))), v, 2e-15)
    assert angles.from_vector((0.0, 0.0, 0.0)) == angles.IDENTITY
    for tiny in (1e-9, 1e-160, 1e-300):
        assert angles.to_vector(angles.from_vector((0.0, tiny, 0.0)))[1] == pytest.approx(tiny)


def test_quaternions_with_odd_numbers():
    assert all(map(math.isnan, angles.from_quaternion(math.inf, 0.0, 0.0, 1.0)))
    assert near(angles.from_quaternion(0.0, 0.0, 3e300, 3e300), angles.from_vector((0, 0, HALF)))
