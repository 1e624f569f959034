"""Configurations: the group's laws, limits, and choosing at random."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.configuration import n_full, random
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.neutral import neutral
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import se3
from linkwork.spatial.poses import to_matrix
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng


def mechanisms(seed: str) -> list[Mechanism]:
    generator = rng(seed)
    found = [mechanism_from(random_tree(generator, 6), base="floating") for _ in range(10)]
    return [*found, mechanism_from(every_joint_urdf())]


def same(m: Mechanism, a: np.ndarray, b: np.ndarray, atol: float = 1e-13) -> None:
    """Two configurations are the same: numbers equal, quaternions up to their sign."""
    a = a.copy()
    for c, type in enumerate(m.joint_types):
        if type.has_quaternion:
            part = slice(m.q_start[c] + type.n_lengths, m.q_start[c + 1])
            a[part] *= np.sign(a[part] @ b[part])
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def test_difference_undoes_integrate():
    generator = rng("difference")
    for m in mechanisms("group"):
        for size in (1e-12, 1e-6, 1e-2, 1.0):
            q = random_configuration(generator, m)
            v = size * generator.uniform(-1, 1, m.n_v)
            back = evaluate("difference", m, q, evaluate("integrate", m, q, v))
            np.testing.assert_allclose(back, v, rtol=0, atol=2e-14 + 1e-13 * size)


def test_integrate_undoes_difference():
    generator = rng("integrate")
    for m in mechanisms("group"):
        for _ in range(10):
            a, b = random_configuration(generator, m), random_configuration(generator, m)
            same(m, evaluate("integrate", m, a, evaluate("difference", m, a, b)), b, 1e-12)


def test_one_way_is_one_subgroup():
    # moving for s and then for t along one velocity is moving for s + t
    generator = rng("subgroup")
    for m in mechanisms("group"):
        q, v = random_configuration(generator, m), generator.normal(size=m.n_v)
        here = evaluate("integrate", m, evaluate("integrate", m, q, 0.3 * v), 0.9 * v)
        same(m, here, evaluate("integrate", m, q, 1.2 * v))
        assert np.array_equal(evaluate("integrate", m, q, np.zeros(m.n_v)), q)
        np.testing.assert_allclose(evaluate("difference", m, q, q), 0, rtol=0, atol=1e-15)


def test_a_floating_joint_moves_by_the_exponential():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>', base="floating")
    generator = rng("exponential")
    for _ in range(20):
        q, v = random_configuration(generator, m), generator.normal(size=6)
        before = evaluate("fk", m, q, frame="a")
        after = evaluate("fk", m, evaluate("integrate", m, q, v), frame="a")
        step = to_matrix(NUMPY, se3.exp(NUMPY, v))
        np.testing.assert_allclose(after, before @ step, rtol=0, atol=1e-14)


def test_quaternions_keep_their_norm_and_need_not_have_it_1():
    m = mechanism_from('<robot name="r"><link name="a"/></robot>', base="floating")
    generator = rng("norm")
    q, v = random_configuration(generator, m), generator.normal(size=6)
    long = q.copy()
    long[3:] *= 2.5
    moved, moved_long = evaluate("integrate", m, q, v), evaluate("integrate", m, long, v)
    assert np.linalg.norm(moved[3:]) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(moved_long[3:], 2.5 * moved[3:], rtol=0, atol=1e-14)
    np.testing.assert_allclose(moved_long[:3], moved[:3], rtol=0, atol=1e-14)
    np.testing.assert_allclose(evaluate("difference", m, q, long), 0, rtol=0, atol=1e-14)
    negative = q * np.array([1, 1, 1, -1, -1, -1, -1])
    np.testing.assert_allclose(evaluate("difference", m, q, negative), 0, rtol=0, atol=1e-14)


def test_angles_are_not_wrapped():
    m = mechanism_from(every_joint_urdf())
    q = neutral(m)
    v = np.zeros(m.n_v)
    v[m.v_start[m.joint("spin")]] = 7.0
    moved = evaluate("integrate", m, q, v)
    assert moved[m.q_start[m.joint("spin")]] == 7.0
    assert evaluate("difference", m, q, moved)[m.v_start[m.joint("spin")]] == 7.0


def test_all_positions_followers_included(every_joint: Mechanism):
    m = every_joint
    q = random_configuration(rng("full"), m)
    got = evaluate("all_positions", m, q)
    assert got.shape == (n_full(m),)
    at, values = 0, {}
    for name, type in zip(m.body_joint_names, m.body_joint_types, strict=True):
        values[name] = got[at : at + type.n_q]
        at += type.n_q
    for c, name in enumerate(m.joint_names):
        assert np.array_equal(values[name], q[m.q_start[c] : m.q_start[c + 1]])
    turn, side = q[m.q_start[m.joint("turn")]], q[m.q_start[m.joint("side")]]
    assert values["copy"] == [-0.5 * turn + 0.3]
    assert values["copy2"] == [0.25 * turn]
    assert values["parallel"] == [side]


def one(type: JointType, lower: float | None, upper: float | None) -> Mechanism:
    joint = JointPart(name="j", type=type, parent="a", child="b", lower=lower, upper=upper)
    return assemble(Parts(name="one", links=[LinkPart("a"), LinkPart("b")], joints=[joint]))


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (-1, 1, 0), (0.2, 1, 0.2), (-2, -0.5, -0.5), (None, None, 0), (None, -3, -3), (4, None, 4),
        (1, -1, 0), (0, 0, 0),
    ],
)  # fmt: skip
def test_neutral_is_zero_inside_the_limits(lower, upper, expected):
    assert neutral(one(JointType.PRISMATIC, lower, upper)).tolist() == [expected]


def test_neutral_quaternions():
    assert neutral(one(JointType.FLOATING, None, None)).tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert neutral(mechanism_from('<robot name="r"><link name="a"/></robot>')).shape == (0,)


@pytest.mark.parametrize(
    ("type", "lower", "upper", "expected"),
    [
        (JointType.REVOLUTE, -0.5, 2, (-0.5, 2)),
        (JointType.REVOLUTE, None, None, (-np.pi, np.pi)),
        (JointType.CONTINUOUS, None, None, (-np.pi, np.pi)),
        (JointType.PRISMATIC, None, None, (-1, 1)),
        (JointType.PRISMATIC, -3, None, (-3, 1)),
        (JointType.PRISMATIC, 3, None, (3, 5)),
        (JointType.REVOLUTE, None, -4, (-4 - 2 * np.pi, -4)),
        (JointType.REVOLUTE, 0.3, 0.3, (0.3, 0.3)),
        (JointType.REVOLUTE, 0.0, -0.0, (0, 0)),
        (JointType.PRISMATIC, -1.7e308, 1.7e308, (-1.7e308, 1.7e308)),
    ],
)
def test_random_is_uniform_inside_the_limits(type, lower, upper, expected):
    q = random(one(type, lower, upper), rng("uniform"), 20_000)[:, 0]
    low, high = expected
    assert q.shape == (20_000,) and q.min() >= low and q.max() <= high
    if high > low:
        x = np.sort((q / 2 - low / 2) / (high / 2 - low / 2))
        # Kolmogorov-Smirnov: 1.95 / sqrt(n) is passed by one sample in a thousand
        assert np.abs(x - (np.arange(len(x)) + 0.5) / len(x)).max() < 1.95 / np.sqrt(len(x))


def test_random_planar_and_floating():
    q = random(one(JointType.PLANAR, None, None), rng("planar"), 5000)
    assert np.all(np.abs(q[:, :2]) <= 1) and 3 < np.abs(q[:, 2]).max() <= np.pi
    q = random(one(JointType.FLOATING, None, None), rng("floating"), 20_000)
    assert np.all(np.abs(q[:, :3]) <= 1)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1, rtol=0, atol=1e-15)
    second = q[:, 3:].T @ q[:, 3:] / len(q)  # uniform on the sphere: a quarter of the unit matrix
    np.testing.assert_allclose(second, np.eye(4) / 4, rtol=0, atol=0.01)


def test_random_is_repeatable_and_takes_no_rows():
    m = mechanism_from(every_joint_urdf())
    assert np.array_equal(
        random(m, np.random.default_rng(3), 4), random(m, np.random.default_rng(3), 4)
    )
    assert random(m, rng("none"), 0).shape == (0, m.n_q)


def test_reversed_limits_are_named():
    text = r"joint 'j': its lower limit \[1.0\] is above its upper limit \[-1.0\]"
    with pytest.raises(InputError, match=text):
        random(one(JointType.REVOLUTE, 1, -1), rng("reversed"), 1)
