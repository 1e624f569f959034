"""Inertias: lumping keeps momentum and energy, single bodies keep their bits."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ladders import random_rotation
from linkwork.errors import ShapeError
from linkwork.spatial.inertias import (
    Inertia,
    Part,
    is_physical,
    lump,
    principal_moments,
    rotate,
    shift,
)
from seeds import rng

EPS = np.finfo(np.float64).eps


def cloud(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Point masses: masses (n,) and positions (n, 3)."""
    return generator.uniform(0.1, 2, n), generator.normal(size=(n, 3))


def of_points(mass: np.ndarray, points: np.ndarray) -> Inertia:
    """The inertia of point masses by its definition."""
    com = mass @ points / mass.sum()
    d = points - com
    about = [m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(mass, d, strict=True)]
    return Inertia(mass.sum(), com, sum(about))


def close(a: Inertia, b: Inertia) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=200 * EPS)


def test_lumping_clouds_of_points_is_the_cloud_of_all_points():
    generator = rng("clouds")
    parts, masses, points = [], [], []
    for n in (4, 6, 5):
        mass, local = cloud(generator, n)
        R, p = random_rotation(generator), generator.normal(size=3)
        parts.append(Part(of_points(mass, local), R, p))
        masses.append(mass)
        points.append(local @ R.T + p)
    whole = of_points(np.concatenate(masses), np.concatenate(points))
    close(lump(parts), whole)
    # in any order, and in steps
    close(lump(parts[::-1]), whole)
    close(lump([Part(lump(parts[:2]), np.eye(3), np.zeros(3)), parts[2]]), whole)


def test_a_single_part_at_the_identity_keeps_its_bits():
    generator = rng("single")
    nothing = Inertia(0.0, np.ones(3), np.zeros((3, 3)))
    for _ in range(50):
        # a centre that is not itself a quotient by the mass, which would undo its own rounding
        body = of_points(*cloud(generator, 5))._replace(com=generator.normal(size=3))
        here = Part(body, np.eye(3), np.zeros(3))
        elsewhere = Part(nothing, random_rotation(generator), generator.normal(size=3))
        for parts in ([here], [here, elsewhere], [elsewhere, here]):
            mass, com, I_com = lump(parts)
            assert mass == body.mass
            assert np.array_equal(com, body.com) and np.array_equal(I_com, body.I_com)


def test_without_mass_there_is_no_centre_and_inertias_are_summed():
    inertia = np.diag([1.0, 2.0, 2.5])
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    parts = [
        Part(Inertia(0.0, np.ones(3), inertia), np.eye(3), np.ones(3)),
        Part(Inertia(0.0, np.zeros(3), inertia), quarter, np.zeros(3)),
    ]
    mass, com, I_com = lump(parts)
    assert mass == 0.0 and np.array_equal(com, np.zeros(3))
    assert np.array_equal(I_com, np.diag([3.0, 3.0, 5.0]))
    close(lump([]), Inertia(0.0, np.zeros(3), np.zeros((3, 3))))


def test_the_result_shares_no_memory_with_the_parts():
    body = of_points(*cloud(rng("memory"), 4))
    whole = lump([Part(body, np.eye(3), np.zeros(3))])
    assert not np.shares_memory(whole.com, body.com)
    assert not np.shares_memory(whole.I_com, body.I_com)


def test_rotating_keeps_moments_and_is_symmetric():
    generator = rng("rotate")
    body, R = of_points(*cloud(generator, 5)), random_rotation(generator)
    turned = rotate(body.I_com, R)
    assert np.array_equal(turned, turned.T)
    np.testing.assert_allclose(R.T @ turned @ R, body.I_com, atol=100 * EPS)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(turned), np.linalg.eigvalsh(body.I_com), atol=100 * EPS
    )


def test_shift_there_and_back():
    body = of_points(*cloud(rng("shift"), 5))
    offset = np.array([0.3, -1.0, 2.0])
    moved = shift(body.I_com, body.mass, offset)
    # a point mass at this distance adds m d² about every axis across it
    assert np.trace(moved - body.I_com) == pytest.approx(2 * body.mass * offset @ offset)
    np.testing.assert_allclose(shift(moved, -body.mass, offset), body.I_com, atol=100 * EPS)


# what can be a body


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e6])
def test_bodies_are_physical(scale: float):
    generator = rng("physical")
    for n in (1, 2, 3, 10):  # a point, a rod (one moment is zero), a plate (equality), a body
        mass, points = cloud(generator, n)
        body = of_points(mass * scale, points)
        assert is_physical(body.mass, body.I_com) is None
    assert is_physical(0.0, np.zeros((3, 3))) is None
    assert is_physical(scale, np.zeros((3, 3))) is None


@pytest.mark.parametrize(
    ("mass", "inertia", "reason"),
    [
        (-1.0, np.eye(3), "the mass -1 kg is negative"),
        (np.nan, np.eye(3), "finite"),
        (1.0, np.diag([1, np.inf, 1]), "finite"),
        (0.0, np.eye(3), "not zero although the mass is"),
        (1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "not symmetric"),
        (1.0, np.diag([1, 1, -0.1]), "negative: -0.1 kg m²"),
        (1.0, [[1, 2, 0], [2, 1, 0], [0, 0, 1]], "negative: -1 kg m²"),
        (1.0, np.diag([1, 1, 2.1]), r"2.1 kg m² exceeds the sum of the others, 1 \+ 1"),
        (1.0, 1e-12 * np.diag([1, 1, 2.1]), "triangle inequality"),
    ],
)
def test_what_is_no_body_is_told(mass, inertia, reason: str):
    said = is_physical(mass, np.array(inertia))
    assert said is not None and re.search(reason, said), said


def test_the_triangle_inequality_is_judged_in_principal_axes():
    R = random_rotation(rng("principal"))
    assert "triangle" in (is_physical(1.0, rotate(np.diag([1, 1, 2.1]), R)) or "")
    assert is_physical(1.0, rotate(np.diag([1, 1, 1.9]), R)) is None


def test_printed_numbers_are_within_the_tolerance_and_it_can_be_changed():
    plate = np.diag([0.333333, 0.333333, 0.666667])
    # printed to six digits, the sum misses the largest by 1e-6: 1.5e-6 of it
    assert "triangle" in (is_physical(1.0, plate) or "")
    assert is_physical(1.0, plate, tolerance=2e-6) is None


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: is_physical(1.0, np.ones(6)), r"an inertia has the shape \(3, 3\).*\(6,\)"),
        (lambda: shift(np.eye(3), 1.0, np.ones(2)), r"an offset has the shape \(3,\)"),
        (lambda: rotate(np.eye(3), np.eye(2)), r"a rotation has the shape \(3, 3\)"),
        (
            lambda: lump([Part(Inertia(1.0, np.zeros(2), np.eye(3)), np.eye(3), np.zeros(3))]),
            "a centre of mass",
        ),
        (
            lambda: lump([Part(Inertia(1.0, np.zeros(3), np.eye(3)), np.eye(3), np.zeros(2))]),
            "a position",
        ),
    ],
)
def test_wrong_shapes_are_refused(call, text: str):
    with pytest.raises(ShapeError, match=text):
        call()


def test_principal_moments_and_their_excess_many_at_once():
    g = rng("principal moments")
    moments = np.sort(g.uniform(0.1, 2.0, (40, 3)), axis=1)
    turns = np.array([np.linalg.qr(g.normal(size=(3, 3)))[0] for _ in range(40)])
    found, excess = principal_moments(turns @ (moments[:, :, None] * np.swapaxes(turns, 1, 2)))
    np.testing.assert_allclose(found, moments, atol=1e-14)
    np.testing.assert_allclose(excess, moments @ [-1.0, -1.0, 1.0], atol=1e-14)
    assert (excess > 0).any()
    assert (excess < 0).any()
