"""What looks like a slip: units of origins, names, looks, references, transmissions."""

from __future__ import annotations

from math import degrees, inf, pi
from pathlib import Path

import numpy as np
import pytest

from linkwork import models
from linkwork.errors import Finding
from linkwork.formats.structure import Mimic as Coupling
from linkwork.formats.urdf.check import check_closely, final_couplings
from linkwork.formats.urdf.findings import MOST, Findings
from linkwork.formats.urdf.read import examine, read
from linkwork.formats.urdf.records import ZERO, Inertial, Joint, Limit, Link, Mimic, Robot, Safety
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from seeds import rng

BALL = '<geometry><sphere radius="1"/></geometry>'
MASS = (
    '<inertial>{}<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)


def found(text: str) -> list[Finding]:
    """What `check_closely` alone says."""
    robot = read(text).robot
    problems = Findings(None)
    check_closely(robot, problems)
    return list(problems.sorted())


def codes(text: str) -> list[str]:
    return [problem.code for problem in found(text)]


def two(joint: str = "", top: str = "", link: str = "") -> str:
    """Two links with mass and a joint between them."""
    return (
        f'<robot name="r">{top}<link name="a">{MASS.format("")}</link>\n'
        f'<link name="b">{link or MASS.format("")}</link>\n<joint name="j" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{joint}</joint></robot>'
    )


def placed(origin: str) -> dict[str, str]:
    """An origin at each place that may have one, by the element that it is reported at."""
    return {
        "joint": two(origin),
        "inertial": two(link=MASS.format(origin)),
        "visual": two(link=f"{MASS.format('')}<visual>{origin}{BALL}</visual>"),
        "collision": two(link=f"{MASS.format('')}<collision>{origin}{BALL}</collision>"),
    }


def test_the_bundled_models_give_no_suspicion():
    for name in models.MODELS:
        problems = Findings(None)
        check_closely(read(models.path(name)).robot, problems)
        assert problems.sorted() == ()


# angles and positions


@pytest.mark.parametrize("seed", range(5))
def test_angles_in_radians_pass_and_the_same_in_degrees_do_not(seed: int):
    random = rng(f"angles {seed}")
    angles = random.uniform(0.15, 2 * pi, 3) * random.choice([-1, 1], 3)
    angles = [round(float(a), 9) + 1e-10 for a in angles]  # random ones, so not next to pi / 2
    for element, text in placed(f'<origin rpy="{angles[0]} {angles[1]} {angles[2]}"/>').items():
        assert codes(text) == [], (element, angles)
    turned = " ".join(repr(degrees(a)) for a in angles)
    for element, text in placed(f'<origin rpy="{turned}"/>').items():
        (problem,) = found(text)
        assert (problem.code, problem.level, problem.element) == (
            "degree-angles",
            "warning",
            element,
        )


@pytest.mark.parametrize("seed", range(5))
def test_positions_in_metres_pass_and_the_same_in_millimetres_do_not(seed: int):
    position = rng(f"positions {seed}").uniform(0.1, 5, 3)
    for scale, expected in ((1, []), (1000, ["far-origin"])):
        xyz = " ".join(repr(float(x)) for x in position * scale)
        for text in placed(f'<origin xyz="{xyz}"/>').values():
            assert codes(text) == expected


@pytest.mark.parametrize("quarters", [-4, -3, -2, -1, 1, 2, 3, 4])
def test_right_angles_with_few_digits_are_told_once_for_the_file(quarters: int):
    angle = quarters * pi / 2
    for digits in (2, 3):
        text = round(angle, digits)
        if abs(text - angle) < 5e-5:
            continue
        source = two(
            f'<origin rpy="{text} 0 {text}"/>', link=MASS.format(f'<origin rpy="0 {text} 0"/>')
        )
        (problem,) = found(source)
        assert (problem.code, problem.level) == ("rounded-angles", "note")
        assert problem.message.startswith("3 angles are")
        assert repr(angle) in problem.hint
        assert problem.line == 2  # of the first one, in the second link
    for digits in (5, 6, 9, 15):
        assert codes(two(f'<origin rpy="0 {round(angle, digits)} 0"/>')) == []


def test_cut_digits_count_as_rounded_ones_and_measured_angles_do_not():
    for angle in (3.141, 3.1415, 1.5707, -1.5707, 4.712):
        assert codes(two(f'<origin rpy="{angle} 0 0"/>')) == ["rounded-angles"]
    for angle in (3.14036612, 1.5693127, 1.5689):
        assert codes(two(f'<origin rpy="{angle} 0 0"/>')) == []


def test_angles_that_are_no_right_ones_pass():
    for angle in (0.0, 0.001, 0.5, 1.0, 1.5, 1.6, 3.0, 3.2, 0.785, 2.356, 1.55, 1.59):
        assert codes(two(f'<origin rpy="{angle} 0 0"/>')) == []


# names


@pytest.mark.parametrize("name", ["a/b", "a b", "a::b", "/a", "__a__", "a\u00a0b"])
def test_names_that_other_programs_read_differently(name: str):
    for element, old in (("link", '"b"'), ("joint", '"j"')):
        (problem,) = found(two().replace(old, f'"{name}"'))
        assert (problem.code, problem.level, problem.element) == ("reserved-name", "note", element)


@pytest.mark.parametrize("name", ["b_1", "_b", "b-c", "b.c", "a:b", "ä", "__b"])
def test_names_that_are_fine(name: str):
    assert codes(two().replace('"b"', f'"{name}"')) == []


# looks


def test_what_cannot_be_seen():
    clear, red = '<color rgba="1 0 0 0"/>', '<color rgba="1 0 0 1"/>'
    shape = '<visual><geometry><sphere radius="1"/></geometry>{}</visual>'
    body = MASS.format("")
    own = f'<material name="m">{clear}</material>'
    named = '<material name="m"/>'
    assert codes(two(link=body + shape.format(own))) == ["invisible"]
    assert codes(two(top=own, link=body + shape.format(named))) == ["invisible"]
    assert codes(two(link=body + shape.format(own.replace(clear, red)))) == []
    assert codes(two(top=own.replace(clear, red), link=body + shape.format(named))) == []
    assert codes(two(top=own)) == []


# Gazebo


@pytest.mark.parametrize("name", ["a", "b", "j"])
@pytest.mark.parametrize(
    "form", ['<gazebo reference="{}"/>', "<gazebo a='1' reference = '{}'>x</gazebo>"]
)
def test_gazebo_elements_of_what_exists(name: str, form: str):
    assert codes(two(top=form.format(name))) == []
    (problem,) = found(two(top="\n\n" + form.format("arm")))
    assert (problem.code, problem.line) == ("gazebo-reference", 3)
    assert "'arm'" in problem.message


def test_gazebo_elements_without_a_reference_and_other_elements():
    assert codes(two(top="<gazebo/><gazebo><plugin/></gazebo>")) == []
    assert codes(two(top='<sensor reference="x"/>')) == []
    assert codes(two(top='<gazebo reference="a&amp;b"/>')) == []  # not compared: escaped


# transmissions


def transmission(inside: str) -> str:
    return f'<transmission name="t"><type>x</type>{inside}</transmission>'


def test_transmissions():
    drive = transmission('<joint name="j"/><actuator name="m">{}</actuator>')
    for text in ("1", "-50.5", " 2e2 "):
        assert (
            codes(two(top=drive.format(f"<mechanicalReduction>{text}</mechanicalReduction>"))) == []
        )
    for text in ("0", "x", "nan", "inf", "1 2"):
        source = two(top=drive.format(f"<mechanicalReduction>{text}</mechanicalReduction>"))
        assert codes(source) == ["transmission-reduction"]
    fixed = two(top=drive.format("")).replace("continuous", "fixed")
    assert codes(fixed) == ["transmission-fixed"]


# bounds


def test_no_suspicion_is_an_error_and_a_report_is_bounded():
    links = "".join(f'<link name="l {k}"/>' for k in range(MOST + 50))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l 0"/><child link="l {k}"/></joint>'
        for k in range(1, MOST + 50)
    )
    problems = examine(f'<robot name="r">{links}{joints}</robot>').problems
    assert len(problems) == MOST + 1
    assert {problem.level for problem in problems} == {"note"}
    assert problems[-1].message == "50 more problems are not listed"


# ---- Limits in other units, empty ranges, soft limits, and what followers leave of a range


def joint(name: str = "j", kind: str = "revolute", **fields: object) -> Joint:
    return Joint(name, kind, "a", "b", **fields)


def limited(lower: float | None, upper: float | None, kind: str = "revolute") -> Joint:
    return joint(kind=kind, limit=Limit(lower, upper, 1.0, 1.0))


def joint_findings(*joints: Joint) -> list[Finding]:
    problems = Findings(None)
    check_closely(Robot("r", joints=joints), problems)
    return [problem for problem in problems.sorted() if problem.code != "no-masses"]


def joint_codes(*joints: Joint) -> list[str]:
    return [problem.code for problem in joint_findings(*joints)]


# units


@pytest.mark.parametrize("seed", range(10))
def test_limits_in_radians_pass_and_in_whole_degrees_do_not(seed: int):
    random = rng(f"limits {seed}")
    upper = float(random.integers(30, 361))
    lower = -float(random.integers(0, 361))
    if upper == 100 or (lower == -100 and upper <= 100):
        upper = 120.0
    assert joint_codes(limited(float(np.radians(lower)), float(np.radians(upper)))) == []
    (problem,) = joint_findings(limited(lower, upper))
    assert (problem.code, problem.level) == ("degree-limits", "warning")


@pytest.mark.parametrize("bound", [2 * pi, 4 * pi, 9.42, 10.0, 20.0, 100.0, 1000.0, 1e16, 33.7])
def test_limits_of_wheels_and_place_holders_pass(bound: float):
    assert joint_codes(limited(-bound, bound)) == []
    assert joint_codes(limited(None, bound)) == []


def test_only_revolute_joints_have_degrees_and_only_sliders_millimetres():
    assert joint_codes(limited(-180, 180)) == ["degree-limits"]
    assert joint_codes(limited(None, 90)) == ["degree-limits"]
    assert joint_codes(limited(-180, 180, "prismatic")) == ["millimetre-limits"]
    assert joint_codes(limited(0, 450.5, "prismatic")) == ["millimetre-limits"]
    assert joint_codes(limited(-180, 180, "continuous")) == []
    for bound in (0.45, 20.0, 100.0, 1000.0):
        assert joint_codes(limited(-bound, bound, "prismatic")) == []
    assert degrees(pi) == 180


# other limits


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_range_of_zero_width(kind: str):
    (problem,) = joint_findings(limited(0.5, 0.5, kind))
    assert (problem.code, problem.level) == ("zero-range", "note")
    assert joint_codes(limited(0.5, 0.6, kind)) == []
    assert joint_codes(limited(0.5, None, kind)) == []


def test_efforts_and_velocities_of_zero():
    assert joint_codes(joint(limit=Limit(0, 1, 0, 0))) == [
        "zero-effort",
        "zero-velocity",
    ]
    assert joint_codes(joint(kind="continuous", limit=Limit(None, None, 0, 2))) == ["zero-effort"]
    assert joint_codes(joint(limit=Limit(0, 1, None, None))) == []  # reported at every load
    assert joint_codes(joint(kind="fixed", limit=Limit(0, 0, 0, 0))) == []
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    assert joint_codes(lead, joint(limit=Limit(0, 1, 0, 0), mimic=Mimic("l"))) == []


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
    assert joint_codes(joint(limit=Limit(-1, 1, 1, 1), safety=safety)) == expected
    assert joint_codes(joint(kind="fixed", limit=Limit(-1, 1, 1, 1), safety=safety)) == []
    reversed_already = joint(limit=Limit(1, -1, 1, 1), safety=Safety(1.0, 1.0, -0.5, 0.5))
    assert joint_codes(reversed_already) == []


def test_an_axis_that_is_not_written():
    for kind in ("revolute", "continuous", "prismatic", "planar"):
        limit = Limit(0, 1, 1, 1)
        silent = joint(kind=kind, limit=limit, layout=("parent", "child"))
        said = joint(kind=kind, limit=limit, layout=("parent", "child", "axis"))
        assert joint_codes(silent) == ["no-axis"]
        assert joint_codes(said) == []
        assert joint_codes(joint(kind=kind, limit=limit)) == []  # made in code
    for kind in ("fixed", "floating"):
        assert joint_codes(joint(kind=kind, layout=("parent", "child"))) == []


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
    assert joint_codes(lead, idle) == []


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
    problems = joint_findings(lead, follow)
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
    (problem,) = joint_findings(lead, follow)
    assert (problem.code, problem.level, problem.name) == ("follower-limits", "warning", "f")
    assert "leave 'l' nothing but 0" in problem.message


def test_a_leader_that_is_left_little_is_a_warning():
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    follow = joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l", -1.0, 0.001))
    (problem,) = joint_findings(lead, follow)
    assert (problem.code, problem.level, problem.name) == ("narrowed-leader", "warning", "f")
    assert "only [0, 0.001]" in problem.message


def test_followers_that_are_not_judged():
    lead = joint("l", kind="continuous")
    assert joint_codes(lead, joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l"))) == []
    bound = joint("l", limit=Limit(0, 1, 1, 1))
    assert joint_codes(bound, joint("f", kind="continuous", mimic=Mimic("l", 9.0))) == []
    assert joint_codes(bound, joint("f", limit=Limit(None, inf, 1, 1), mimic=Mimic("l", 9.0))) == []
    assert joint_codes(bound, joint("f", limit=Limit(1, 0, 1, 1), mimic=Mimic("l"))) == []


def test_a_multiplier_of_zero():
    lead = joint("l", limit=Limit(0, 1, 1, 1))
    (problem,) = joint_findings(
        lead, joint("f", limit=Limit(0, 1, 1, 1), mimic=Mimic("l", 0.0, 0.5))
    )
    assert (problem.code, problem.level) == ("mimic-zero", "warning")


def test_long_chains_take_no_time_and_no_recursion():
    n = 8_000
    joints = [joint(f"j{k}", mimic=Mimic(f"j{k + 1}")) for k in range(n)]
    couplings = final_couplings(Robot("r", joints=(*joints, joint(f"j{n}"))))
    assert len(couplings) == n
    assert couplings["j0"] == Coupling(f"j{n}", 1.0, 0.0)


# ---- Joints that move nothing with mass, against a plain search of each joint's links


MOMENT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def link(name: str, mass: float | None = None) -> Link:
    return Link(name, None if mass is None else Inertial(ZERO, ZERO, mass, MOMENT))


def moving(name: str, ends: str, kind: str = "revolute", mimic: str = "") -> Joint:
    parent, child = ends.split(">")
    return Joint(name, kind, parent, child, mimic=Mimic(mimic) if mimic else None)


def mass_findings(*records: Link | Joint) -> list[Finding]:
    links = tuple(record for record in records if isinstance(record, Link))
    joints = tuple(record for record in records if isinstance(record, Joint))
    problems = Findings(None)
    check_closely(Robot("r", links, joints), problems)
    return [p for p in problems.sorted() if p.code in ("massless", "no-masses")]


def names(*records: Link | Joint) -> list[str]:
    assert all(problem.code == "massless" for problem in mass_findings(*records))
    return sorted(problem.name for problem in mass_findings(*records))


BASE = link("base", 1.0)


def test_a_light_end_is_told_once_where_it_begins():
    chain = (
        moving("a", "base>x"),
        moving("b", "x>y"),
        moving("c", "y>z"),
    )
    links = (link("x"), link("y"), link("z"))
    assert names(BASE, *links, *chain) == ["a"]
    assert names(BASE, link("x", 1.0), link("y"), link("z"), *chain) == ["b"]
    assert names(BASE, link("x"), link("y"), link("z", 1.0), *chain) == []


def test_what_is_fixed_to_a_link_counts():
    assert (
        names(
            BASE,
            link("x"),
            link("t", 1.0),
            moving("a", "base>x"),
            moving("f", "x>t", "fixed"),
        )
        == []
    )
    assert names(
        BASE,
        link("x"),
        link("t"),
        moving("a", "base>x"),
        moving("f", "x>t", "fixed"),
    ) == ["a"]
    assert names(BASE, link("t"), moving("f", "base>t", "fixed")) == []


def test_a_mass_of_zero_or_below_is_none():
    for mass in (0.0, -1.0):
        assert names(BASE, link("x", mass), moving("a", "base>x")) == ["a"]


def test_followers_count_for_their_leader():
    lead, follow = (
        moving("l", "base>x"),
        moving("f", "base>y", mimic="l"),
    )
    assert names(BASE, link("x"), link("y", 1.0), lead, follow) == []
    assert names(BASE, link("x"), link("y"), lead, follow) == ["l"]
    assert names(BASE, link("x", 1.0), link("y"), lead, follow) == []
    chained = moving("g", "base>z", mimic="f")
    assert names(BASE, link("x"), link("y"), link("z", 1.0), lead, follow, chained) == []


def test_a_robot_without_any_mass_is_told_once():
    (problem,) = mass_findings(
        link("base"),
        link("x"),
        link("y"),
        moving("a", "base>x"),
        moving("b", "x>y"),
    )
    assert (problem.code, problem.level) == ("no-masses", "note")
    assert mass_findings(link("base"), link("t"), moving("f", "base>t", "fixed")) == []
    assert mass_findings(link("base")) == []


def test_what_is_no_tree_is_passed_over():
    loop = (moving("a", "x>y"), moving("b", "y>x"))
    assert mass_findings(BASE, link("x"), link("y"), *loop) == []
    assert (
        mass_findings(
            BASE,
            link("x"),
            moving("a", "base>x"),
            moving("b", "base>x"),
        )
        == []
    )
    assert mass_findings(BASE, moving("a", "base>nobody")) == []
    assert mass_findings(BASE, link("x"), link("x"), moving("a", "base>x")) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_against_a_plain_search(seed: int):
    random = rng(f"masses {seed}")
    n = int(random.integers(2, 25))
    links = [link(f"l{k}", 1.0 if random.random() < 0.3 else None) for k in range(n)]
    joints: list[Joint] = []
    for k in range(1, n):
        kind = str(random.choice(["fixed", "revolute", "prismatic", "floating"]))
        joints.append(moving(f"j{k}", f"l{random.integers(k)}>l{k}", kind))
    leaders = [j for j in joints if j.type in ("revolute", "prismatic")]
    for k, follower in enumerate(joints):
        if follower.type == "revolute" and random.random() < 0.3 and follower is not leaders[0]:
            ends = f"{follower.parent}>{follower.child}"
            joints[k] = moving(follower.name, ends, "revolute", leaders[0].name)

    def below(name: str) -> set[str]:
        return {name}.union(*(below(j.child) for j in joints if j.parent == name))

    heavy = {x.name for x in links if x.inertial}
    light = set()
    for j in joints:
        moved = below(j.child)
        for other in joints:
            if other.mimic is not None and other.mimic.joint == j.name:
                moved |= below(other.child)
        if j.type != "fixed" and j.mimic is None and not moved & heavy:
            light.add(j.name)
    under = {x for j in joints if j.name in light for x in below(j.child)}
    expected = sorted(j.name for j in joints if j.name in light and j.parent not in under)
    order = [joints[k] for k in random.permutation(n - 1)]
    if heavy:
        assert names(*links, *order) == expected


def test_a_long_chain():
    n = 8_000
    links = [link("l0", 1.0), *[link(f"l{k}") for k in range(1, n)]]
    joints = [moving(f"j{k}", f"l{k - 1}>l{k}") for k in range(1, n)]
    assert names(*links, *joints) == ["j1"]


# ---- Errors and findings in one list: nothing raised, nothing that `read` says left out


def test_errors_and_findings_come_together():
    text = (
        '<robot name="r"><link name="a"/>\n<link name="b"/>\n<link name="b c"/>\n'
        '<joint name="j" type="revolute"><parent link="a"/><child link="nobody"/>'
        '<axis xyz="0 0 2"/><limit lower="-90" upper="90" effort="1" velocity="1"/></joint>'
        '<material name="m"/></robot>'
    )
    codes = {problem.code for problem in examine(text).problems}
    assert codes >= {
        "unknown-link",  # an error of the structure
        "axis-length",  # a finding of every load
        "material-undefined",
        "degree-limits",  # a suspicion
        "reserved-name",
    }
    assert examine(text).whole


def test_values_that_cannot_be_read_raise_no_suspicion():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit lower="x" upper="-180" effort="0" velocity="1"/></joint></robot>'
    )
    examined = examine(text)
    assert not examined.whole
    assert examined.robot is not None
    codes = {problem.code for problem in examined.problems}
    assert "number" in codes
    assert not codes & {"degree-limits", "zero-effort", "no-masses", "no-axis"}


def test_sources_that_are_not_read_at_all(tmp_path: Path):
    for source, code in (
        (tmp_path / "none.urdf", "no-file"),
        (tmp_path, "not-a-file"),
        (b"\x1f\x8bxx", "compressed"),
        (b"", "xml"),
        (b"<robot", "xml"),
        (b"<sdf/>", "root"),
        (b"<!DOCTYPE robot><robot/>", "doctype"),
    ):
        examined = examine(source)
        assert examined.robot is None
        assert not examined.whole
        assert examined.failed
        assert code in [problem.code for problem in examined.problems]


def test_the_file_is_that_of_the_path_or_of_the_argument(tmp_path: Path):
    path = tmp_path / "a.urdf"
    path.write_text('<robot name="r"><link name="a b"/></robot>')
    examined = examine(path)
    assert examined.robot is not None
    assert examined.robot.file == str(path)
    assert [problem.file for problem in examined.problems] == [str(path)]
    other = examine(path.read_text(), file="b.urdf")
    assert other.robot is not None
    assert (other.robot.file, other.problems[0].file) == ("b.urdf", "b.urdf")
