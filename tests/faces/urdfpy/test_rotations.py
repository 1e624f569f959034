from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError, ShapeError
from linkwork.faces.urdfpy import (
    matrix_to_rpy,
    matrix_to_xyz_rpy,
    rpy_to_matrix,
    xyz_rpy_to_matrix,
)
from robots import about, origin
from seeds import rng


@pytest.mark.row("S2-020")
def test_a_matrix_is_turns_about_the_fixed_axes_x_y_z():
    for r, p, y in rng("rpy").uniform(-4, 4, (50, 3)):
        expected = about([0, 0, 1], y) @ about([0, 1, 0], p) @ about([1, 0, 0], r)
        made = rpy_to_matrix([r, p, y])
        assert made.dtype == np.float64
        assert np.abs(made - expected).max() < 2e-15


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("solution", [1, 2])
def test_both_sets_of_angles_give_the_matrix_back(solution: int):
    for coords in rng("back").uniform(-np.pi, np.pi, (200, 3)):
        R = rpy_to_matrix(coords)
        angles = matrix_to_rpy(R, solution=solution)
        assert np.abs(rpy_to_matrix(angles) - R).max() < 3e-15
        near = abs(angles[1]) <= np.pi / 2
        assert near == (solution == 1)


@pytest.mark.row("S2-021")
def test_the_first_solution_is_the_angles_it_came_from():
    random = rng("first")
    for _ in range(100):
        coords = random.uniform([-3, -1.5, -3], [3, 1.5, 3])
        assert np.allclose(matrix_to_rpy(rpy_to_matrix(coords)), coords, atol=1e-13)


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("sign", [1, -1])
def test_at_a_quarter_turn_the_yaw_is_zero(sign: int):
    for roll, yaw in rng("lock").uniform(-1.5, 1.5, (20, 2)):
        R = rpy_to_matrix([roll, sign * np.pi / 2, yaw])
        angles = matrix_to_rpy(R)
        assert angles[1] == sign * np.pi / 2
        assert angles[2] == 0.0
        assert np.isclose(angles[0], roll - sign * yaw, atol=1e-14)
        assert np.abs(rpy_to_matrix(angles) - R).max() < 1e-15


@pytest.mark.row("S2-021")
@pytest.mark.parametrize("solution", [1, 2])
def test_near_a_quarter_turn_no_digits_are_lost(solution: int):
    for off in 10.0 ** np.arange(-16, 0):
        for sign in (1, -1):
            R = rpy_to_matrix([0.4, sign * (np.pi / 2 - off), -1.1])
            back = rpy_to_matrix(matrix_to_rpy(R, solution))
            # asin would be 1e-8 off, a threshold of 1e-12 on the sine 1e-6
            assert np.abs(back - R).max() < 3e-12 if off < 1e-11 else 3e-15


@pytest.mark.row("S2-022")
def test_a_pose_of_six_numbers():
    for row in rng("pose").uniform(-3, 3, (20, 6)):
        made = xyz_rpy_to_matrix(row)
        assert np.abs(made - origin(row[:3], row[3:])).max() < 2e-15
        assert made.shape == (4, 4)


@pytest.mark.row("S2-023")
def test_six_numbers_of_a_pose():
    for row in rng("six").uniform(-1.4, 1.4, (20, 6)):
        assert np.allclose(matrix_to_xyz_rpy(xyz_rpy_to_matrix(row)), row, atol=1e-14)


@pytest.mark.row("S2-020", "S2-021", "S2-022", "S2-023")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad: float):
    R, T = np.eye(3), np.eye(4)
    R[1, 2] = T[0, 3] = bad
    for call, wrong in (
        (rpy_to_matrix, [bad, 0, 0]),
        (matrix_to_rpy, R),
        (xyz_rpy_to_matrix, [0, 0, bad, 0, 0, 0]),
        (matrix_to_xyz_rpy, T),
    ):
        with pytest.raises(InputError, match="must be finite"):
            call(wrong)


@pytest.mark.row("S2-020", "S2-021", "S2-022", "S2-023")
@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (rpy_to_matrix, [1, 2]),
        (matrix_to_rpy, np.eye(4)),
        (xyz_rpy_to_matrix, np.zeros(7)),
        (matrix_to_xyz_rpy, np.eye(3)),
    ],
)
def test_other_shapes_and_other_things_are_refused(call, wrong):
    with pytest.raises(ShapeError):
        call(wrong)
    with pytest.raises(InputError):
        call("abc")
