"""Limits in other units, empty ranges, soft limits, and what followers leave of a range."""

from __future__ import annotations

from math import degrees, inf, pi

import numpy as np
import pytest

from linkwork.errors import Finding
from linkwork.formats.structure import Mimic as Coupling
from linkwork.formats.urdf.check_closely import check_closely, final_couplings
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Joint, Limit, Mimic, Robot, Safety
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from seeds import rng


def joint(name: str = "j", kind: str = "revolute", **fields: object) -> Joint:
    return Joint(name, kind, "a", "b", **fields)


def limited(lower: float | None, upper: float | None, kind: str = "revolute") -> Joint:
    return joint(kind=kind, limit=Limit(lower, upper, 1.0, 1.0))


def found(*joints: Joint) -> list[Finding]:
    problems = Findings(None)
    check_closely(Robot("r", joints=joints), problems)
    return [problem for problem in problems.sorted() if problem.code != "no-masses"]


def codes(*joints: Joint) -> list[str]:
    return [problem.code for problem in found(*joints)]


# units


@pytest.mark.parametrize("seed", range(10))
def test_limits_in_radians_pass_and_in_whole_degrees_do_not(seed: int):
    random = rng(f"limits {seed}")
    upper = float(random.integers(30, 361))
    lower = -float(random.integers(0, 361))
    if upper == 100 or (lower == -100 and upper <= 100):
        upper = 120.0
    assert codes(limited(float(np.radians(lower)), float(np.radians(upper)))) == []
    (problem,) = found(limited(lower, upper))
    assert (problem.code, problem.level) == ("degree-limits", "warning")


@pytest.mark.parametrize("bound", [2 * pi, 4 * pi, 9.42, 10.0, 20.0, 100.0, 1000.0, 1e16, 33.7])
def test_limits_of_wheels_and_place_holders_pass(bound: float):
    assert codes(limited(-bound, bound)) == []
    assert codes(limited(None, bound)) == []


def test_only_revolute_joints_have_degrees_and_only_sliders_millimetres():
    assert codes(limited(-180, 180)) == ["degree-limits"]
    assert codes(limited(None, 90)) == ["degree-limits"]
    assert codes(limited(-180, 180, "prismatic")) == ["millimetre-limits"]
    assert codes(limited(0, 450.5, "prismatic")) == ["millimetre-limits"]
    assert codes(limited(-180, 180, "continuous")) == []
    for bound in (0.45, 20.0, 100.0, 1000.0):
        assert codes(limited(-bound, bound, "prismatic")) == []
    assert degrees(pi) == 180


# other limits


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_range_of_zero_width(kind: str):
    (problem,) = found(limited(0.5, 0.5, kind))
    assert (problem.code, problem.level) == ("zero-range", "note")
    assert codes(limited(0.5, 0.6, kind)) == []
    assert codes(limited(0.5, None, kind)) == []


def test_efforts_and_velocities_of_zero():
    assert codes(joint(limit=Limit(0, 1, 0, 0))) == ["zero-effort", "zero-velocity"]
    assert codes(joint(kind="continuous", limit=Limit(None, None, 0, 2))) == ["zero-effort"]
    assert codes(joint(limit=Limit(0, 1, None, None))) == []  # reported at every load
    assert codes(joint(kind="fixed", limit=Limit(0, 0, 0, 0))) == []
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    assert codes(lead, joint(limit=Limit(0, 1, 0, 0), mimic=Mimic("l"))) == []


@pytest.mark.parametrize(
    ("soft", "expected"),
    [
        ((-0.5, 0.5), []),
        ((-1.0, 1.0), []),
        ((None, None), []),
        ((-1.5, 0.5), ["soft-limits"]),
        ((-0.5, 1.5), ["soft-limits"]),
        ((None, 1.5), ["soft-limits"]),
        ((0.5, -0.5), ["soft-limits"]),
    ],
)
def test_soft_limits(soft: tuple[float | None, float | None], expected: list[str]):
    safety = Safety(1.0, 1.0, *soft)
    assert codes(joint(limit=Limit(-1, 1, 1, 1), safety=safety)) == expected
    assert codes(joint(kind="fixed", limit=Limit(-1, 1, 1, 1), safety=safety)) == []
    reversed_already = joint(limit=Limit(1, -1, 1, 1), safety=Safety(1.0, 1.0, -0.5, 0.5))
    assert codes(reversed_already) == []


def test_an_axis_that_is_not_written():
    for kind in ("revolute", "continuous", "prismatic", "planar"):
        limit = Limit(0, 1, 1, 1)
        silent = joint(kind=kind, limit=limit, layout=("parent", "child"))
        said = joint(kind=kind, limit=limit, layout=("parent", "child", "axis"))
        assert codes(silent) == ["no-axis"]
        assert codes(said) == []
        assert codes(joint(kind=kind, limit=limit)) == []  # made in code
    for kind in ("fixed", "floating"):
        assert codes(joint(kind=kind, layout=("parent", "child"))) == []


# couplings


def random_joints(label: str) -> list[Joint]:
    """Leaders and followers with chains, in any order, each with limits of its own."""
    random = rng(label)
    n = int(random.integers(2, 12))
    joints: list[Joint] = []
    for k in range(n):
        lower, upper = sorted(random.uniform(-2, 2, 2))
        limit = Limit(float(lower), float(upper), 1.0, 1.0)
        mimic = None
        if k and random.random() < 0.7:
            sign = float(random.choice([-1, 1]))
            leader = f"j{random.integers(k)}"
            mimic = Mimic(leader, sign * float(random.uniform(0.2, 2)), float(random.normal()) / 4)
        joints.append(joint(f"j{k}", limit=limit, mimic=mimic))
    return [joints[k] for k in random.permutation(n)]


@pytest.mark.parametrize("seed", range(20))
def test_couplings_are_those_of_their_chains(seed: int):
    joints = random_joints(f"couplings {seed}")
    ours = final_couplings(Robot("r", joints=tuple(joints)))
    by_name = {j.name: j for j in joints}
    for name, (leader, multiplier, offset) in ours.items():

        def position(of: str) -> float:
            mimic = by_name[of].mimic
            return 0.7 if mimic is None else mimic.multiplier * position(mimic.joint) + mimic.offset

        assert position(name) == pytest.approx(multiplier * 0.7 + offset, abs=1e-12)
        assert by_name[leader].mimic is None


def test_a_fixed_joint_follows_nothing():
    lead = limited(-1.0, 1.0)
    idle = joint("f", "fixed", limit=Limit(0.0, 0.0, 1.0, 1.0), mimic=Mimic("j"))
    assert final_couplings(Robot("r", joints=(lead, idle))) == {}
    assert codes(lead, idle) == []


def test_chains_without_an_end_have_no_coupling():
    circle = [joint(f"j{k}", mimic=Mimic(f"j{(k + 1) % 3}")) for k in range(3)]
    dangling = [joint("a", mimic=Mimic("b")), joint("b", mimic=Mimic("nobody"))]
    itself = joint("s", mimic=Mimic("s"))
    on_circle = joint("c", mimic=Mimic("j0"))
    good = [joint("f", mimic=Mimic("l", 2.0, 1.0)), joint("l")]
    joints = (*circle, *dangling, itself, on_circle, *good)
    assert final_couplings(Robot("r", joints=joints)) == {"f": Coupling("l", 2.0, 1.0)}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_left_of_a_leaders_range_is_what_a_search_finds(seed: int):
    random = rng(f"narrow {seed}")
    low, high = sorted(float(x) for x in random.uniform(-2, 2, 2))
    lower, upper = sorted(float(x) for x in random.uniform(-2, 2, 2))
    multiplier, offset = (
        float(random.choice([-1, 1]) * random.uniform(0.3, 2)),
        float(random.normal()),
    )
    lead = joint("l", limit=Limit(low, high, 1, 1))
    follow = joint("f", limit=Limit(lower, upper, 1, 1), mimic=Mimic("l", multiplier, offset))
    tried = np.linspace(low, high, 20_001)
    met = (multiplier * tried + offset >= lower) & (multiplier * tried + offset <= upper)
    problems = found(lead, follow)
    share = met.mean()
    if 0.98 < share < 0.995 or 0 < share < 0.02:
        return  # next to a threshold
    if share == 0:
        assert [p.code for p in problems] == ["follower-limits"]
    elif share > 0.99:
        assert problems == []
    else:
        (problem,) = problems
        assert (problem.code, problem.level) == ("narrowed-leader", "note")
        left, right = float(tried[met].min()) + 0.0, float(tried[met].max()) + 0.0
        shown = problem.message.partition("[")[2].strip("]").split(", ")
        assert [float(x) for x in shown] == pytest.approx([left, right], abs=1e-3)
    # the mechanism comes to the same end
    limits = {"l": (low, high), "f": (lower, upper)}
    mimics = {"f": Coupling("l", multiplier, offset)}
    parts = [
        JointPart(
            name=name,
            type=JointType.REVOLUTE,
            parent="a",
            child=f"{name} link",
            lower=limits[name][0],
            upper=limits[name][1],
            mimic=mimics.get(name),
        )
        for name in limits
    ]
    links = [LinkPart(name) for name in ("a", "l link", "f link")]
    assert bool(assemble(Parts("r", links, parts)).findings) == (share == 0)


def test_a_leader_that_is_left_one_position_is_a_warning():
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    follow = joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l", -1.0))
    (problem,) = found(lead, follow)
    assert (problem.code, problem.level, problem.name) == ("follower-limits", "warning", "f")
    assert "leave 'l' nothing but 0" in problem.message


def test_a_leader_that_is_left_little_is_a_warning():
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    follow = joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l", -1.0, 0.001))
    (problem,) = found(lead, follow)
    assert (problem.code, problem.level, problem.name) == ("narrowed-leader", "warning", "f")
    assert "only [0, 0.001]" in problem.message


def test_followers_that_are_not_judged():
    lead = joint("l", kind="continuous")
    assert codes(lead, joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l"))) == []
    bound = joint("l", limit=Limit(0, 1, 1, 1))
    assert codes(bound, joint("f", kind="continuous", mimic=Mimic("l", 9.0))) == []
    assert codes(bound, joint("f", limit=Limit(None, inf, 1, 1), mimic=Mimic("l", 9.0))) == []
    assert codes(bound, joint("f", limit=Limit(1, 0, 1, 1), mimic=Mimic("l"))) == []


def test_a_multiplier_of_zero():
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    (problem,) = found(lead, joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l", 0.0, 0.5)))
    assert (problem.code, problem.level) == ("mimic-zero", "warning")


def test_long_chains_take_no_time_and_no_recursion():
    n = 30_000
    joints = [joint(f"j{k}", mimic=Mimic(f"j{k + 1}")) for k in range(n)]
    couplings = final_couplings(Robot("r", joints=(*joints, joint(f"j{n}"))))
    assert len(couplings) == n
    assert couplings["j0"] == Coupling(f"j{n}", 1.0, 0.0)
