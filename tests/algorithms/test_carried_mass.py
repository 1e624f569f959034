"""What joints carry: constants from which the centre of mass and gravity's forces follow."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.axes import reference_axes
from linkwork.algorithms.carried_mass import Carried, carried, own_masses, terms
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.numpy import NUMPY
from robots import (
    every_joint_urdf,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
)
from seeds import rng


def test_masses_behind_each_joint(every_joint: Mechanism):
    m = every_joint
    for body, mass in enumerate(carried(m).masses):
        behind = [b for b in range(m.n_bodies) if body in m.ancestry(b)]
        assert type(mass) is float
        np.testing.assert_allclose(mass, m.mass[behind].sum(), rtol=1e-14)


def test_a_joint_keeps_only_what_it_moves(every_joint: Mechanism):
    m = every_joint
    for type, moment in zip(m.body_joint_types[1:], carried(m).moments[1:], strict=True):
        if type is JointType.PRISMATIC:
            assert moment == [0.0, 0.0, 0.0]
        elif not type.has_quaternion:
            assert moment[2] == 0.0


def test_the_terms_add_up_to_mass_times_centre():
    random = rng("carried")
    robots = [mechanism_from(random_tree(random, 8)) for _ in range(15)]
    robots += [mechanism_from(every_joint_urdf(), base="floating")]
    for m in robots:
        q = random_configuration(random, m)
        behind = carried(m)
        found = terms(NUMPY, m, q, behind, reference_axes(NUMPY))
        vectors = [v for term in found for v in (term.slide, term.moment) if v is not None]
        if m.mass.sum() > 0:
            mass, centre, _ = total_inertia(m, q)
            scale = max(1.0, np.abs(mass * centre).max())
            np.testing.assert_allclose(sum(vectors), mass * centre, rtol=0, atol=1e-13 * scale)


def test_any_unit(every_joint: Mechanism):
    m = every_joint
    masses, moments = own_masses(m)
    assert masses == m.mass.tolist()
    half = Carried([0.5 * x for x in masses], [[0.5 * x for x in row] for row in moments])
    whole, got = carried(m), carried(m, half)
    np.testing.assert_allclose(got.moments, 0.5 * np.array(whole.moments), rtol=1e-15, atol=0)
    np.testing.assert_allclose(got.masses, 0.5 * np.array(whole.masses), rtol=1e-15, atol=0)
    assert own_masses(m) == (masses, moments)  # nothing was changed in place
