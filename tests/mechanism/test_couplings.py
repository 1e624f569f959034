"""Mimic chains and what followers' limits mean for their leader."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from linkwork.errors import DescriptionError, InputError
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.couplings import final_leaders
from linkwork.mechanism.model import JointType
from seeds import rng


def joint(name, leader=None, multiplier=1.0, offset=0.0, *, kind=JointType.REVOLUTE, limits=None):
    lower, upper = limits or (None, None)
    mimic = Mimic(leader, multiplier, offset) if leader else None
    return JointPart(
        name=name,
        type=kind,
        parent="root",
        child=f"{name} link",
        lower=lower,
        upper=upper,
        mimic=mimic,
    )


def robot(*joints):
    links = [LinkPart("root"), *(LinkPart(str(j.child)) for j in joints)]
    return assemble(Parts("coupled", links, list(joints)))


@pytest.mark.parametrize("number", range(20))
def test_chains_to_the_last_digits(number):
    random = rng(f"chain {number}")
    n = int(random.integers(2, 8))
    numbers = random.uniform(-1.2, 1.2, (n, 2))
    joints = [joint("j0")] + [
        joint(f"j{k}", f"j{k - 1}", *map(float, numbers[k])) for k in range(1, n)
    ]
    m = robot(*(joints[k] for k in random.permutation(n)))
    assert m.joint_names == ("j0",)
    factor, shift = Fraction(1), Fraction(0)
    for k in range(1, n):
        step, offset = Fraction(float(numbers[k, 0])), Fraction(float(numbers[k, 1]))
        factor, shift = step * factor, step * shift + offset
        b = m.body_joint_names.index(f"j{k}")
        assert abs(m.multiplier[b] - factor) <= 1e-15
        assert abs(m.offset[b] - shift) <= 1e-15


def test_a_long_chain_of_followers():
    n = 5000
    joints = [joint("j0"), *(joint(f"j{k}", f"j{k - 1}", 1.0, 0.5) for k in range(1, n))]
    m = robot(*joints[::-1])
    assert m.offset[m.body_joint_names.index(f"j{n - 1}")] == 0.5 * (n - 1)
    assert (m.coordinate[1:] == 0).all() and len(list(m.followers())) == n - 1


@pytest.mark.parametrize(
    ("multiplier", "offset", "limits", "expected"),
    [
        (2.0, 0.5, (-0.5, 1.5), (-0.5, 0.5)),
        (-2.0, 0.5, (-0.5, 1.5), (-0.5, 0.5)),
        (-1.0, 0.0, (-0.25, 9.0), (-1.0, 0.25)),
        (1.0, 0.0, (-9.0, 9.0), (-1.0, 1.0)),
        (1.0, 0.0, (None, 0.5), (-1.0, 0.5)),
        (-1.0, 0.0, (None, 0.5), (-0.5, 1.0)),
        (0.0, 0.3, (0.0, 0.3), (-1.0, 1.0)),
    ],
)
def test_a_follower_narrows_its_leader(multiplier, offset, limits, expected):
    m = robot(
        joint("lead", limits=(-1.0, 1.0)), joint("f", "lead", multiplier, offset, limits=limits)
    )
    assert (m.lower[0], m.upper[0]) == expected
    assert not m.findings


def test_followers_of_followers_narrow_the_last_leader():
    m = robot(
        joint("b", "a", 2.0, limits=(-1.0, 1.0)),
        joint("c", "b", 2.0, 0.1, limits=(-0.7, 0.9)),
        joint("a", kind=JointType.CONTINUOUS),
    )
    np.testing.assert_allclose((m.lower[0], m.upper[0]), (-0.2, 0.2), atol=1e-16)


@pytest.mark.parametrize(
    ("multiplier", "offset", "limits"),
    [
        (1.0, 0.0, (2.0, 3.0)),
        (0.0, 0.5, (-0.1, 0.1)),
        (1.0, 0.0, (0.5, -0.5)),
        # what is left is one position, within rounding: the leader would be frozen
        (-1.0, 1.0, (2.0, 3.0)),
        (1.0, 0.0, (1.0, 2.0)),
        (1.0, 0.0, (0.3, 0.3)),
        (-3.0, 0.1, (3.1 - 1e-13, 9.0)),
    ],
)
def test_limits_that_cannot_be_met_are_a_finding(multiplier, offset, limits):
    m = robot(
        joint("lead", limits=(-1.0, 1.0)), joint("f", "lead", multiplier, offset, limits=limits)
    )
    assert (m.lower[0], m.upper[0]) == (-1.0, 1.0)
    assert [(f.code, f.level, f.name) for f in m.findings] == [("follower-limits", "warning", "f")]
    text = str(m.findings[0])
    assert ("cannot be met" in text or "nothing but" in text) and "'lead'" in text


def test_a_gripper_whose_fingers_are_both_limited_from_zero_opens():
    """Turned the other way by its multiplier, the follower leaves its leader only zero."""
    m = robot(joint("lead", limits=(0.0, 0.548)), joint("f", "lead", -1.0, limits=(0.0, 0.548)))
    assert (m.lower[0], m.upper[0]) == (0.0, 0.548)
    (finding,) = m.findings
    assert (finding.code, finding.name) == ("follower-limits", "f")
    assert "leave 'lead', whose limits are [0, 0.548], nothing but 0" in str(finding)


def test_a_leader_without_limits_is_not_frozen_either():
    m = robot(joint("lead"), joint("f", "lead", 2.0, 0.5, limits=(0.0, 0.0)))
    assert np.isinf(m.lower).all() and np.isinf(m.upper).all()
    assert [f.code for f in m.findings] == ["follower-limits"]


def test_a_leader_that_has_one_position_anyway_meets_its_follower():
    m = robot(joint("lead", limits=(0.5, 0.5)), joint("f", "lead", limits=(0.0, 0.5)))
    assert (m.lower[0], m.upper[0]) == (0.5, 0.5) and not m.findings


def test_a_leader_whose_own_limits_are_reversed_is_left_alone():
    m = robot(joint("lead", limits=(1.0, -1.0)), joint("f", "lead", limits=(-0.5, 0.5)))
    assert (m.lower[0], m.upper[0]) == (1.0, -1.0)
    assert [f.code for f in m.findings] == ["follower-limits"]


def followed(lead, *followers):
    """A robot of one leader and followers: (multiplier, what else the joint has)."""
    joints = [joint("lead"), *(joint(f"f{k}", "lead", m) for k, (m, _) in enumerate(followers))]
    more = [lead, *(each for _, each in followers)]
    joints = [replace(j, **each) for j, each in zip(joints, more, strict=True)]
    links = [LinkPart("root"), *(LinkPart(str(j.child)) for j in joints)]
    return assemble(Parts("c", links, joints))


@pytest.mark.parametrize("number", range(5))
def test_what_stands_against_followers_stands_against_their_leader(number):
    """Whatever the rate, power lost is that of every joint's own, and no joint is too fast."""
    random = rng(f"resistance {number}")
    rates = [1.0, *map(float, random.uniform(-3, 3, 4)), 0.0]
    names = ("velocity", "damping", "friction", "armature")
    own = [dict(zip(names, map(float, random.uniform(0.1, 2, 4)), strict=True)) for _ in rates]
    m = followed(own[0], *zip(rates[1:], own[1:], strict=True))
    v = float(random.normal())
    speeds = [rate * v for rate in rates]
    pairs = list(zip(speeds, own, strict=True))
    np.testing.assert_allclose(m.damping[0] * v * v, sum(o["damping"] * w * w for w, o in pairs))
    np.testing.assert_allclose(m.armature[0] * v * v, sum(o["armature"] * w * w for w, o in pairs))
    np.testing.assert_allclose(
        m.friction[0] * abs(v), sum(o["friction"] * abs(w) for w, o in pairs)
    )
    fastest = float(m.velocity_limit[0])
    shares = [abs(rate) * fastest / o["velocity"] for rate, o in zip(rates, own, strict=True)]
    assert max(shares) == pytest.approx(1.0)
    assert not m.findings


def test_followers_of_followers_are_carried_by_the_whole_rate():
    joints = [joint("a"), joint("b", "a", 2.0), replace(joint("c", "b", -3.0), velocity=12.0)]
    links = [LinkPart("root"), *(LinkPart(str(j.child)) for j in joints)]
    assert assemble(Parts("c", links, joints)).velocity_limit.tolist() == [2.0]


@pytest.mark.parametrize("velocity", [0.0, -1.0])
def test_a_follower_that_may_not_move_does_not_hold_its_leader(velocity):
    m = followed({"velocity": 2.0}, (0.5, {"velocity": velocity}))
    assert m.velocity_limit.tolist() == [2.0]
    assert [(f.code, f.level, f.name) for f in m.findings] == [("follower-limits", "warning", "f0")]


def test_effort_limits_of_followers_do_not_count():
    assert np.isinf(followed({}, (2.0, {"effort": 1.0})).effort_limit).all()


@pytest.mark.parametrize(
    ("joints", "code", "text"),
    [
        ([joint("a", "b"), joint("b", "a")], "mimic-cycle", "cycle: a -> b -> a"),
        ([joint("a", "a")], "mimic-self", "mimics itself"),
        ([joint("leader"), joint("f", "leadr")], "mimic-unknown", "nearest: leader"),
        ([joint("a", kind=JointType.FIXED), joint("f", "a")], "mimic-leader", "no single position"),
    ],
)
def test_faulty_couplings(joints, code, text):
    with pytest.raises(DescriptionError, match=text) as caught:
        robot(*joints)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_a_tail_of_a_cycle_is_not_a_second_cycle():
    with pytest.raises(DescriptionError) as caught:
        robot(joint("t", "a"), joint("a", "b"), joint("b", "a"), joint("u", "t"))
    assert len(caught.value.problems) == 1


def test_numbers_of_couplings_are_finite():
    with pytest.raises(InputError, match=r"joint 'f': multiplier and offset .* must be finite"):
        robot(joint("a"), joint("f", "a", float("inf")))


@pytest.mark.parametrize("kinds", [("PLANAR", "REVOLUTE"), ("REVOLUTE", "FLOATING")])
def test_only_single_positions_can_be_coupled(kinds):
    first, second = (JointType[kind] for kind in kinds)
    with pytest.raises(DescriptionError, match="<joint> 'f': ") as caught:
        robot(joint("a", kind=first), joint("f", "a", kind=second))
    assert caught.value.problems[0].code in ("mimic-leader", "mimic-type")


def test_a_fixed_joint_ignores_its_coupling():
    given = Parts("p", [LinkPart("x")], [joint("a"), joint("f", "a", kind=JointType.FIXED)])
    assert final_leaders(given) == {}
