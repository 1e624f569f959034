"""The model is a value: it cannot be changed, and equal ones are equal."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise

import numpy as np
import pytest

import linkwork as lw
import robots
from linkwork.errors import UnknownNameError
from linkwork.mechanism.model import JointType, Mechanism
from seeds import rng


def arrays(m):
    return {
        f.name: getattr(m, f.name) for f in fields(m) if isinstance(getattr(m, f.name), np.ndarray)
    }


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.parametrize("used", [False, True])
def test_copies_are_equal_and_read_only(again, used):
    m = robots.mechanism_from(robots.every_joint_urdf())
    if used:
        m.frame("hand"), m.joint("elbow"), m.digest
    other = again(m)
    assert isinstance(other, Mechanism) and other == m and hash(other) == hash(m)
    for array in arrays(other).values():
        assert not array.flags.writeable
    assert other.frame("hand") == m.frame("hand")


def test_nothing_can_be_changed():
    m = robots.mechanism_from(robots.every_joint_urdf())
    with pytest.raises(FrozenInstanceError):
        m.name = "other"
    for array in arrays(m).values():
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_every_field_counts():
    m = robots.mechanism_from(robots.every_joint_urdf())
    assert m == robots.mechanism_from(robots.every_joint_urdf())
    for name, array in arrays(m).items():
        other = array.copy()
        other.flat[-1] = other.flat[-1] + 1 if np.isfinite(other.flat[-1]) else 1
        assert replace(m, **{name: other}) != m, name
    assert replace(m, inertias_accepted=True) != m
    for name in ("name", "body_names", "joint_names", "frame_names", "findings"):
        other = "x" if name == "name" else (*getattr(m, name), "x")
        assert replace(m, **{name: other}) != m, name
    assert replace(m, mass=m.mass[None].copy()) != m
    assert m != "every_joint" and m in {robots.mechanism_from(robots.every_joint_urdf())}


def test_names_do_not_run_into_each_other():
    m = robots.mechanism_from(robots.chain_urdf(1))
    assert replace(m, body_names=("ab", "c")) != replace(m, body_names=("a", "bc"))


def test_the_numbers_of_each_joint():
    m = robots.mechanism_from(robots.every_joint_urdf())
    for starts, part, joined, coordinate, joint in (
        (m.q_start, m.q_slice, m.q_indices, m.coordinate_of_q, m.joint_of_q),
        (m.v_start, m.v_slice, m.v_indices, m.coordinate_of_v, m.joint_of_v),
    ):
        coordinates = range(len(m.joint_names))
        assert joined(coordinates) == list(range(starts[-1]))
        assert joined([1, 0]) == [*range(starts[1], starts[2]), *range(starts[0], starts[1])]
        for c in coordinates:
            assert part(c) == slice(starts[c], starts[c + 1])
            for k in joined([c]):
                assert coordinate(k) == c and joint(k) == m.joint_names[c]


def test_sizes():
    m = robots.mechanism_from(robots.every_joint_urdf())
    assert (m.n_q, m.n_v, m.n_bodies) == (19, 17, 11)
    assert JointType.CONTINUOUS.turns and not JointType.PLANAR.turns
    assert [t.label for t in JointType if t.has_quaternion] == ["floating", "spherical"]
    assert {t.label: t.n_lengths for t in JointType if t.n_lengths} == {
        "prismatic": 1,
        "planar": 2,
        "floating": 3,
    }


def test_unknown_names():
    m = robots.mechanism_from(robots.chain_urdf(2))
    with pytest.raises(UnknownNameError, match="no frame named 'lnk1'; nearest: link1"):
        m.frame("lnk1")
    with pytest.raises(UnknownNameError, match="no joint named"):
        m.joint(["joint1"])


def test_ancestry_and_moving_coordinates():
    random = rng("ancestry")
    m = robots.mechanism_from(robots.random_tree(random, 20, robots.SINGLE_TYPES))
    q = robots.random_configuration(random, m)
    before = robots.model_poses(m, q)
    for c in range(len(m.joint_names)):
        moved = q.copy()
        moved[m.q_start[c]] += 0.5
        after = robots.model_poses(m, moved)
        for k, name in enumerate(m.frame_names):
            if c not in m.coordinates_moving(k):
                assert (before[name] == after[name]).all()
    for b in range(m.n_bodies):
        path = m.ancestry(b)
        assert path[0] == 0 and path[-1] == b
        assert all(m.parent[y] == x for x, y in pairwise(path))


def test_what_dynamics_asks_for():
    m = robots.mechanism_from(robots.every_joint_urdf(), base="floating")
    for b in range(m.n_bodies):
        c, mass = m.p_body_com[b], m.mass[b]
        about = m.I_com[b] + mass * (c @ c * np.eye(3) - np.outer(c, c))
        got = m.body_inertia(b)
        assert all(type(x) is float for x in got)
        np.testing.assert_allclose(got, about[np.triu_indices(3)], rtol=0, atol=1e-15)
        assert m.wrenches(b) == []
    for k in range(m.n_v):  # the description's losses do not count unless they are inputs
        for value in (m.joint_armature(k), m.joint_damping(k), m.joint_friction(k)):
            assert type(value) is float and value == 0
    assert m.damping.any() and m.friction.any()


def test_it_is_shown_in_one_line():
    m = robots.mechanism_from(robots.every_joint_urdf())
    n, bodies = len(m.joint_names), m.n_bodies
    assert repr(m) == f"Mechanism('{m.name}', {bodies} bodies, {n} coordinates)"
    closed = lw.load("five_bar").mechanism
    assert repr(closed) == "Mechanism('five_bar', 5 bodies, 4 coordinates, 1 loop)"
