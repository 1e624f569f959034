"""Findings about inertias, materials and transmissions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.urdf.check import plainly_of_a_body
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document
from seeds import rng


def weigh(mass: str, inertia: str) -> list[str]:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = " ".join(f'{n}="{v}"' for n, v in zip(names, inertia.split(), strict=True))
    document = read(
        f'<robot name="r"><link name="a"><inertial><mass value="{mass}"/><inertia {values}/>'
        "</inertial></link></robot>"
    )
    return [problem.code for problem in document.problems]


CASES = [
    ("1", "1 0 0 1 0 1", []),
    ("0", "0 0 0 0 0 0", []),
    ("-1", "1 0 0 1 0 1", ["mass"]),
    ("0", "1 0 0 1 0 1", ["mass"]),
    ("1", "0 0 0 0 0 0", ["inertia"]),
    ("1", "1 0 0 1 0 0", ["inertia"]),
    ("1", "1 0 0 1 0 -1", ["inertia"]),
    ("1", "1 2 0 1 0 1", ["inertia"]),
    ("1", "1 0 0 1 0 3", ["triangle"]),
    ("1", "1 0 0 1 0 2", []),  # a flat plate, on the edge
    ("1", "1e100 0 0 1e100 0 1e100", []),
    ("1", "1e-300 0 0 1e-300 0 1e-300", []),
]


@pytest.mark.parametrize(("mass", "inertia", "codes"), CASES)
def test_inertias(mass: str, inertia: str, codes: list[str]):
    assert weigh(mass, inertia) == codes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("inertia", "moments"),
    [
        ("1e100 1e100 1e100 1e100 1e100 9e99", "2.97e+100"),
        ("1e100 9e99 9e99 1e100 9e99 1e100", "1e+99, 1e+99, 2.8e+100"),
        ("1e-320 9e-321 9e-321 1e-320 9e-321 1e-320", "2.8e-320"),
    ],
)
def test_moments_of_any_size_are_told(inertia: str, moments: str):
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = " ".join(f'{n}="{v}"' for n, v in zip(names, inertia.split(), strict=True))
    text = f'<inertial><mass value="1"/><inertia {values}/></inertial>'
    (problem,) = read(f'<robot name="r"><link name="a">{text}</link></robot>').problems
    assert moments in problem.message


@pytest.mark.parametrize("value", ["1.7e308", "1.1e100"])
def test_masses_and_inertias_that_overflow_have_their_line(value: str):
    inertia = f'<inertia ixx="{value}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    body = f'<inertial>\n<mass value="{value}"/>{inertia}</inertial>'
    with pytest.raises(DescriptionError) as raised:
        read(f'<robot name="r"><link name="a">{body}</link></robot>')
    assert [(p.code, p.line) for p in raised.value.problems] == [("too-large", 2)] * 2


@pytest.mark.parametrize("seed", range(10))
def test_the_inertia_of_points_is_never_remarked_on_and_a_spoilt_one_is(seed: int):
    random = rng(f"inertia {seed}")
    points = random.normal(size=(6, 3))
    moments = np.eye(3) * (points**2).sum() - points.T @ points
    indices = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert weigh("6", " ".join(repr(float(moments[i])) for i in indices)) == []
    values, axes = np.linalg.eigh(moments)
    values[2] = 1.01 * (values[0] + values[1])
    spoilt = axes @ np.diag(values) @ axes.T
    assert weigh("6", " ".join(repr(float(spoilt[i])) for i in indices)) == ["triangle"]


def test_the_finding_names_the_link_and_line():
    document = read(
        '<robot name="r"><link name="a"/><link name="b">\n<inertial><mass value="-2"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
    )
    (problem,) = document.problems
    assert (problem.name, problem.line, problem.level) == ("b", 2, "warning")


def paint(top: str, own: str) -> Document:
    return read(
        f'<robot name="r">{top}<link name="a"><visual><geometry><box size="1 1 1"/></geometry>'
        f"{own}</visual></link></robot>"
    )


def material(name: str, rgba: str = "") -> str:
    color = f'<color rgba="{rgba}"/>' if rgba else ""
    return f'<material name="{name}">{color}</material>'


RED, BLUE = "1 0 0 1", "0 0 1 1"
MATERIALS = [
    (material("m", RED), material("m"), []),
    ("", material("m", RED), []),
    ("", material("m"), ["material-undefined"]),
    (material("m", RED), material("n"), ["material-unused", "material-undefined"]),
    (material("m", RED), material("m", BLUE), ["material-differs"]),
    (material("m", RED), material("m", RED), []),
    (material("m", RED) + material("m", BLUE), material("m"), ["material-differs"]),
    (material("m"), material("m"), ["material-undefined"] * 2),
    (material("", RED), "", ["material-name"]),
    (material("m", RED), "", ["material-unused"]),
    ("", material("", RED), []),
]


@pytest.mark.parametrize(("top", "own", "codes"), MATERIALS)
def test_materials(top: str, own: str, codes: list[str]):
    assert sorted(problem.code for problem in paint(top, own).problems) == sorted(codes)


TRANSMISSIONS = [
    ('<type>t</type><joint name="j"/><actuator name="m"/>', []),
    ('<joint name="j"/><actuator name="m"/>', ["transmission-type"]),
    ("<type>t</type>", ["transmission-parts"] * 2),
    ('<type>t</type><joint name="k"/><actuator name="m"/>', ["transmission-joint"]),
]


@pytest.mark.parametrize(("inside", "codes"), TRANSMISSIONS)
def test_transmissions(inside: str, codes: list[str]):
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        f'<parent link="a"/><child link="b"/></joint><transmission name="t">{inside}'
        "</transmission></robot>"
    )
    document = read(text)
    assert [problem.code for problem in document.problems] == codes
    twice = text.replace("</robot>", '<transmission name="t" type="t"/></robot>')
    assert "duplicate-transmission" in [problem.code for problem in read(twice).problems]


@pytest.mark.parametrize("seed", range(10))
def test_what_is_plainly_of_a_body_is_so_by_its_principal_moments(seed: int):
    # near the edge, where one moment is nearly the sum of the others, and at all sizes
    random = rng(f"edge {seed}")
    told: set[bool] = set()
    for _ in range(100):
        a, b = random.uniform(0.01, 1, 2)
        beyond = random.choice([0, 1e-16, 1e-13, 1e-9, 1e-5, 1e-3, 0.1]) * random.choice([-1, 1])
        moments = np.array([a, b, (a + b) * (1 + beyond)])
        excess = 2 * moments.max() / moments.sum() - 1
        moments *= 10.0 ** random.uniform(-90, 90)
        axes, _ = np.linalg.qr(random.normal(size=(3, 3)))
        matrix = axes @ np.diag(moments) @ axes.T
        matrix = (matrix + matrix.T) / 2
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = matrix.tolist()
        plain = plainly_of_a_body(((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)))
        told.add(plain)
        if plain:
            assert excess <= 1e-13, "one moment is above the others' sum"
        else:
            assert excess > -1e-5, "a plain inertia is left to the principal moments"
    assert told == {True, False}


def test_what_has_no_usable_size_is_not_plain():
    for size in (0.0, -1.0, 1e-320, 1.7e308, float("inf"), float("nan")):
        assert not plainly_of_a_body(((size, 0.0, 0.0), (0.0, size, 0.0), (0.0, 0.0, size)))
    assert plainly_of_a_body(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
