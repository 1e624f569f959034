"""What looks like a slip: units of origins, names, looks, references, transmissions."""

from __future__ import annotations

from math import degrees, pi

import pytest

from linkwork import models
from linkwork.errors import Finding
from linkwork.formats.urdf.check import check_closely
from linkwork.formats.urdf.findings import MOST, Findings
from linkwork.formats.urdf.read import examine, read
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
