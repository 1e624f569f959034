"""Matrices by hand, of numbers and of symbols."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import pytest

from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics import Utility
from seeds import rng
from trip_samples import homogeneous, quaternion, rx, ry, rz


@pytest.mark.row("S1-066")
def test_matrices_of_numbers():
    np.testing.assert_array_equal(Utility.identity_transformation(), np.eye(4))
    np.testing.assert_array_equal(
        Utility.hom_translation_matrix(1, t_z=-3), homogeneous(p=(1, 0, -3))
    )
    for a in rng("turns").uniform(-4, 4, 5).tolist():
        for function, wanted in (
            (Utility.x_axis_rotation_matrix, rx),
            (Utility.y_axis_rotation_matrix, ry),
            (Utility.z_axis_rotation_matrix, rz),
        ):
            found = function(a)
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, wanted(a), atol=1e-15)
            np.testing.assert_allclose(
                Utility.hom_rotation(found), homogeneous(wanted(a)), atol=1e-15
            )


@pytest.mark.row("S1-066")
def test_quaternions_and_parts_of_matrices():
    q = np.array([0.5, -0.1, 0.7, 0.2])
    q /= np.linalg.norm(q)
    R = Utility.quat_rotation_matrix(*q)
    np.testing.assert_allclose(R, quaternion(*q), atol=1e-15)
    np.testing.assert_array_equal(Utility.quat_rotation_matrix(0, 0, 0, 0), np.eye(3))
    T = homogeneous(R, (1, 2, 3))
    np.testing.assert_array_equal(Utility.get_rotation(T), R)
    np.testing.assert_array_equal(Utility.get_translation(T), [1, 2, 3])


@pytest.mark.row("S1-066")
def test_symbols():
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    T = (
        Utility.hom_rotation(Utility.y_axis_rotation_matrix(a))
        @ Utility.hom_translation_matrix(t_x=b)
        @ Utility.hom_rotation(Utility.quat_rotation_matrix(a, 0, 0, b))
    )
    assert T.dtype == object
    p, R = Utility.get_translation(T), Utility.get_rotation(T)
    assert (p.shape, R.shape) == ((3,), (3, 3))
    square = p.T @ p
    assert isinstance(square, casadi.SX)
    f = casadi.Function("f", [a, b], [square, casadi.vertcat(*p.tolist()), R[0, 0]])
    found = f(0.6, 0.8)
    wanted = (
        homogeneous(ry(0.6)) @ homogeneous(p=(0.8, 0, 0)) @ homogeneous(quaternion(0.6, 0, 0, 0.8))
    )
    assert float(found[0]) == pytest.approx(0.64)
    np.testing.assert_allclose(np.array(found[1]).ravel(), wanted[:3, 3], atol=1e-15)
    assert float(found[2]) == pytest.approx(wanted[0, 0], abs=1e-15)
    whole = casadi.SX(4, 4)
    assert Utility.get_translation(whole).shape == (3, 1)
    assert Utility.get_rotation(whole).shape == (3, 3)


@pytest.mark.row("S1-066")
@pytest.mark.parametrize(
    "call",
    [
        lambda: Utility.hom_rotation(np.eye(4)),
        lambda: Utility.get_rotation(np.eye(3)),
        lambda: Utility.get_translation([1, 2, 3]),
        lambda: Utility.x_axis_rotation_matrix(np.nan),
        lambda: Utility.hom_translation_matrix([1, 2]),
    ],
)
def test_what_is_refused(call: Any):
    with pytest.raises(ValueError):
        call()


@pytest.mark.row("S1-067")
def test_rotations_from_and_to():
    scipy = pytest.importorskip(
        "scipy.spatial.transform", reason="SciPy (pip install scipy) is not installed"
    )
    for x in rng("rotations").normal(size=(20, 4)):
        q = x / np.linalg.norm(x)
        wanted = scipy.Rotation.from_quat(np.roll(q, -1))
        turned = Utility.Rotation.from_quat(q)
        np.testing.assert_allclose(turned.as_matrix(), wanted.as_matrix(), atol=1e-15)
        np.testing.assert_allclose(
            Utility.Rotation.from_quat(np.roll(q, -1), scalar_first=False).as_matrix(),
            wanted.as_matrix(),
            atol=1e-15,
        )
        np.testing.assert_allclose(turned.as_quat(), q, atol=1e-15)
        np.testing.assert_allclose(turned.as_quat(scalar_first=False), np.roll(q, -1), atol=1e-15)
        angles = wanted.as_euler("xyz")
        for found in (
            Utility.Rotation.from_euler("xyz", angles),
            Utility.Rotation.from_euler("xyz", np.degrees(angles), degrees=True),
            Utility.Rotation.from_matrix(wanted.as_matrix()),
        ):
            np.testing.assert_allclose(found.as_matrix(), wanted.as_matrix(), atol=1e-14)


@pytest.mark.row("S1-067")
def test_quaternions_have_the_sign_that_scipy_gives_them():
    scipy = pytest.importorskip(
        "scipy.spatial.transform", reason="SciPy (pip install scipy) is not installed"
    )
    r = rng("signs")
    signs = set()
    quarter_turns = np.array(np.meshgrid(*[np.arange(-2, 3) * np.pi / 2] * 3)).reshape(3, -1).T
    for angles in [*r.uniform(-7, 7, (60, 3)), *quarter_turns]:
        for degrees in (False, True):
            given = np.degrees(angles) if degrees else angles
            wanted = scipy.Rotation.from_euler("xyz", given, degrees=degrees)
            made = Utility.Rotation.from_euler("xyz", given, degrees=degrees)
            np.testing.assert_allclose(made.as_quat(), np.roll(wanted.as_quat(), 1), atol=1e-14)
        signs.add(bool(made.as_quat()[0] < 0))
    for matrix in scipy.Rotation.from_quat(r.normal(size=(100, 4))).as_matrix():
        wanted = scipy.Rotation.from_matrix(matrix).as_quat()
        made = Utility.Rotation.from_matrix(matrix).as_quat(scalar_first=False)
        np.testing.assert_allclose(made, wanted, atol=1e-12)
        signs.add(bool(made[3] < 0))
    assert signs == {False, True}
    for axis in np.vstack([np.eye(3), r.normal(size=(20, 3))]):  # half turns
        matrix = 2 * np.outer(axis, axis) / (axis @ axis) - np.eye(3)
        made = Utility.Rotation.from_matrix(matrix).as_quat(scalar_first=False)
        assert made[np.argmax(np.abs(made))] > 0
    np.testing.assert_array_equal(Utility.Rotation([0, 0, 0, -2]).as_quat(), [-1, 0, 0, 0])
    np.testing.assert_allclose(
        Utility.Rotation([1, 2, 3, 4]).as_quat(), np.array([4, 1, 2, 3]) / np.sqrt(30), atol=1e-15
    )


@pytest.mark.row("S1-066", "S1-067")
def test_the_names_stand_on_the_package_too():
    assert all(getattr(trip_kinematics, n) is getattr(Utility, n) for n in Utility.__all__)


@pytest.mark.row("S1-067")
def test_rotations_that_are_none():
    with pytest.raises(AssertionError, match="'xyz'"):
        Utility.Rotation.from_euler("zyx", [0, 0, 0])
    for call in (
        lambda: Utility.Rotation.from_euler("xyz", [0, 0]),
        lambda: Utility.Rotation.from_euler("xyz", [0, 0, np.inf]),
        lambda: Utility.Rotation.from_quat([1, 0, 0]),
        lambda: Utility.Rotation.from_quat([0, 0, 0, 0]),
        lambda: Utility.Rotation.from_matrix(2 * np.eye(3)),
        lambda: Utility.Rotation.from_matrix(-np.eye(3)),
        lambda: Utility.Rotation.from_matrix(np.eye(4)),
    ):
        with pytest.raises(ValueError):
            call()
    assert "from_quat" in repr(Utility.Rotation.from_quat([1, 0, 0, 0]))
