"""Alignment, exactness and lumping, many at once against one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

from linkwork.errors import InputError
from linkwork.mechanism import rigid
from seeds import rng


def ladder(random):
    """Axes anywhere, and ever nearer to z and -z."""
    axes = [*random.normal(size=(50, 3)), *np.eye(3), *-np.eye(3)]
    for small in 10.0 ** -np.arange(1, 17):
        axes += [[small, 0, 1], [small, -small, -1], [0, small, -1], [1, small, 0], [1, 0, -small]]
    axes = np.array(axes)
    return axes / np.linalg.norm(axes, axis=1)[:, None]


def test_alignment_is_a_rotation_of_z_onto_the_axis():
    axes = ladder(rng("align"))
    R = rigid.align_z(axes)
    np.testing.assert_allclose(R[:, :, 2], axes, atol=3e-16)
    np.testing.assert_allclose(
        R @ np.swapaxes(R, 1, 2), np.eye(3)[None].repeat(len(R), 0), atol=2e-15
    )
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=2e-15)


def test_alignment_is_the_smallest_rotation():
    for axis, R in zip(
        ladder(rng("smallest")), rigid.align_z(ladder(rng("smallest"))), strict=True
    ):
        with mp.workdps(50):
            x, y, z = (mp.mpf(float(c)) for c in axis)
            sine = mp.sqrt(x * x + y * y)
            if not sine:
                continue
            norm = mp.sqrt(x * x + y * y + z * z)
            c, s, u, v = z / norm, sine / norm, -y / sine, x / sine
            expected = [
                [c + u * u * (1 - c), u * v * (1 - c), v * s],
                [u * v * (1 - c), c + v * v * (1 - c), -u * s],
                [-v * s, u * s, c],
            ]
            assert np.abs(R - np.array(expected, float)).max() < 1e-15


def test_alignment_along_the_axes_is_exact():
    for axis in (*np.eye(3), *-np.eye(3)):
        R = rigid.align_z(axis[None])[0]
        assert set(np.abs(R).ravel()) == {0.0, 1.0} and not np.signbit(R[R == 0]).any()
    assert rigid.align_z(np.array([[0, 0, -1.0]]))[0].tolist() == [
        [1, 0, 0],
        [0, -1, 0],
        [0, 0, -1],
    ]


def test_exact_takes_only_what_is_next_to_it():
    near = np.array([[[6.1e-17, -2e-16, 1 - 1.2e-16], [3e-16, -1 + 4e-16, 0.5], [-0.0, 1, -1]]])
    expected = [[[0, 0, 1], [3e-16, -1 + 4e-16, 0.5], [0, 1, -1]]]
    assert rigid.exact(near).tolist() == expected
    assert not np.signbit(rigid.exact(near)[0, 2, 0])


def test_check_finite_names_the_first():
    values = np.array([[0.0, 1.0], [np.inf, 0.0], [np.nan, 0.0]])
    with pytest.raises(InputError, match="link 'b': its weight must be finite"):
        rigid.check_finite("link", ["a", "b", "c"], "its weight", values)
    rigid.check_finite("link", [], "its weight", np.zeros((0, 3)))
