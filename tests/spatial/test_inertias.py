"""Inertias: lumping is the sum over all points, single bodies keep their bits."""

from __future__ import annotations

import re

import numpy as np
import pytest

from linkwork.errors import ShapeError
from linkwork.spatial.inertias import is_physical, lump, principal_moments, turned
from seeds import random_rotation, rng

EPS = np.finfo(np.float64).eps


def cloud(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Point masses: masses (n,) and positions (n, 3)."""
    return generator.uniform(0.1, 2, n), generator.normal(size=(n, 3))


def of_points(mass: np.ndarray, points: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The inertia of point masses by its definition."""
    com = mass @ points / mass.sum()
    d = points - com
    about = [m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(mass, d, strict=True)]
    return mass.sum(), com, sum(about)


def lumped(owner, n, bodies):
    """What `lump` makes of links (mass, com, inertia), body by body."""
    mass, com, inertia = (np.array(x) for x in zip(*bodies, strict=True))
    return list(zip(*lump(np.array(owner), n, mass=mass, com=com, inertia=inertia), strict=True))


def test_lumping_clouds_of_points_is_the_cloud_of_all_points():
    generator = rng("clouds")
    clouds = [cloud(generator, n) for n in (4, 6, 5, 3)]
    owner = [0, 2, 0, 0]
    bodies = [of_points(*each) for each in clouds]
    found = lumped(owner, 3, bodies)
    of_first = [each for each, k in zip(clouds, owner, strict=True) if k == 0]
    whole = of_points(*(np.concatenate(parts) for parts in zip(*of_first, strict=True)))
    for got, expected in ((found[0], whole), (found[2], bodies[1])):
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=200 * EPS)
    assert all(not np.any(x) for x in lumped([1], 2, bodies[:1])[0][::2])  # a body without links


def test_a_single_link_keeps_its_bits_beside_massless_ones():
    generator = rng("single")
    for _ in range(50):
        # a centre that is not itself a quotient by the mass, which would undo its own rounding
        mass, _, about = of_points(*cloud(generator, 5))
        body = (mass, generator.normal(size=3), about)
        nothing = (0.0, generator.normal(size=3), np.zeros((3, 3)))
        for bodies in ([body], [body, nothing], [nothing, body, nothing]):
            ((m, com, I_com),) = lumped([0] * len(bodies), 1, bodies)
            assert m == mass
            assert np.array_equal(com, body[1]) and np.array_equal(I_com, about)


def test_without_mass_inertias_are_summed():
    inertia = np.diag([1.0, 2.0, 2.5])
    found = lumped([0, 0], 1, [(0.0, np.ones(3), inertia), (0.0, np.zeros(3), inertia)])
    assert found[0][0] == 0.0 and np.array_equal(found[0][2], 2 * inertia)


def test_turning_keeps_moments_and_is_symmetric():
    generator = rng("rotate")
    _, _, I_com = of_points(*cloud(generator, 5))
    R = random_rotation(generator)
    found = turned(R, I_com)
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(R.T @ found @ R, I_com, atol=100 * EPS)
    both = turned(np.stack([R, np.eye(3)]), np.stack([I_com, I_com]))
    np.testing.assert_array_equal(both, [found, I_com])


# what can be a body


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e6])
def test_bodies_are_physical(scale: float):
    generator = rng("physical")
    for n in (1, 2, 3, 10):  # a point, a rod (one moment is zero), a plate (equality), a body
        mass, points = cloud(generator, n)
        total, _, about = of_points(mass * scale, points)
        assert is_physical(total, about) is None
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
    assert "triangle" in (is_physical(1.0, turned(R, np.diag([1, 1, 2.1]))) or "")
    assert is_physical(1.0, turned(R, np.diag([1, 1, 1.9]))) is None


def test_printed_numbers_are_within_the_tolerance_and_it_can_be_changed():
    plate = np.diag([0.333333, 0.333333, 0.666667])
    # printed to six digits, the sum misses the largest by 1e-6: 1.5e-6 of it
    assert "triangle" in (is_physical(1.0, plate) or "")
    assert is_physical(1.0, plate, tolerance=2e-6) is None


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError, match=r"an inertia has the shape \(3, 3\).*\(6,\)"):
        is_physical(1.0, np.ones(6))


def test_principal_moments_and_their_excess_many_at_once():
    g = rng("principal moments")
    moments = np.sort(g.uniform(0.1, 2.0, (40, 3)), axis=1)
    turns = np.array([np.linalg.qr(g.normal(size=(3, 3)))[0] for _ in range(40)])
    found, excess = principal_moments(turns @ (moments[:, :, None] * np.swapaxes(turns, 1, 2)))
    np.testing.assert_allclose(found, moments, atol=1e-14)
    np.testing.assert_allclose(excess, moments @ [-1.0, -1.0, 1.0], atol=1e-14)
    assert (excess > 0).any()
    assert (excess < 0).any()
