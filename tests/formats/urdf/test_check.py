"""One finite tree or an error that says why not: names, ends of joints, roots, cycles."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.check import plainly_of_a_body
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Document
from seeds import rng


def text(links: str, joints: str) -> str:
    """Links by name; joints as 'parent>child', named after their place."""
    parts = [f'<link name="{name}"/>' for name in links.split()]
    for number, joint in enumerate(joints.split()):
        parent, child = joint.split(">")
        parts.append(
            f'<joint name="j{number}" type="fixed"><parent link="{parent}"/>'
            f'<child link="{child}"/></joint>'
        )
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def errors(source: str) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(source)
    return list(caught.value.problems)


def test_messages_name_all_that_is_needed():
    (problem,) = errors(text("base arm hand tool", "base>arm hand>tool"))
    assert "'base' (line 2)" in problem.message
    assert "'hand' (line 4)" in problem.message
    (problem,) = errors(text("a b c d", "a>b c>d d>c"))
    assert problem.message in (
        "2 links form a cycle: c -> d -> c",
        "2 links form a cycle: d -> c -> d",
    )


def test_a_dangling_end_names_the_nearest_link():
    found = errors(text("base upper_arm", "base>uper_arm"))
    assert "nearest: upper_arm" in found[-1].hint


def test_the_same_joint_name_twice():
    source = text("a b c", "a>b b>c").replace("j1", "j0")
    (problem,) = errors(source)
    assert (problem.code, problem.line) == ("duplicate-joint", 6)
    assert "line 5" in problem.message


def test_a_link_and_a_joint_may_share_a_name():
    assert not read(text("a j0", "a>j0")).problems


def test_versions():
    robot = '<robot name="r" version="{}"><link name="a"/></robot>'
    assert not read(robot.format("1.0")).problems
    assert [p.code for p in read(robot.format("7")).problems] == ["version"]


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_in_any_order_are_fine_and_one_more_joint_is_not(seed: int):
    random = rng(f"tree {seed}")
    n = int(random.integers(2, 40))
    joints = [f"l{random.integers(k)}>l{k}" for k in range(1, n)]
    links = [f"l{k}" for k in random.permutation(n)]
    order = [joints[k] for k in random.permutation(n - 1)]
    document = read(text(" ".join(links), " ".join(order)))
    assert [link.name for link in document.robot.links] == links
    assert not document.problems
    a, b = random.integers(n, size=2)
    codes = {p.code for p in errors(text(" ".join(links), " ".join([*order, f"l{a}>l{b}"])))}
    assert codes & {"two-parents", "cycle", "same-link"}
    if len(order) > 1:
        codes = {p.code for p in errors(text(" ".join(links), " ".join(order[1:])))}
        assert codes == {"several-roots"}


# ---- Findings about inertias, materials and transmissions


def weigh(mass: str, inertia: str) -> list[str]:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = " ".join(f'{n}="{v}"' for n, v in zip(names, inertia.split(), strict=True))
    document = read(
        f'<robot name="r"><link name="a"><inertial><mass value="{mass}"/><inertia {values}/>'
        "</inertial></link></robot>"
    )
    return [problem.code for problem in document.problems]


CONTENTS = [
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


@pytest.mark.parametrize(("mass", "inertia", "codes"), CONTENTS)
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


# ---- Axes, limits and couplings of joints


TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joints_text(*joints: tuple[str, str]) -> str:
    """A chain of joints, each given by its type and what stands in it."""
    parts = ['<link name="l0"/>']
    for k, (kind, inside) in enumerate(joints):
        parts.append(
            f'<link name="l{k + 1}"/><joint name="j{k}" type="{kind}"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/>{inside}</joint>'
        )
    return '<robot name="r">' + "\n".join(parts) + "</robot>"


def findings(*joints: tuple[str, str]) -> list[str]:
    return [problem.code for problem in read(joints_text(*joints)).problems]


def joint_errors(*joints: tuple[str, str]) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(joints_text(*joints))
    return list(caught.value.problems)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("axis", ["0 0 0", "0 -0 0.0", "1e-200 0 0"])
def test_a_joint_that_moves_along_its_axis_needs_one(kind: str, axis: str):
    joint = (kind, f'<axis xyz="{axis}"/>{LIMIT if kind in ("revolute", "prismatic") else ""}')
    if kind in ("fixed", "floating"):
        assert findings(joint) == []
    else:
        (problem,) = joint_errors(joint)
        assert (problem.code, problem.name) == ("zero-axis", "j0")


def test_axes_of_other_lengths_are_findings():
    assert findings(("continuous", '<axis xyz="0 0 2"/>')) == ["axis-length"]
    assert findings(("continuous", '<axis xyz="1 1 0"/>')) == ["axis-length"]
    assert findings(("continuous", '<axis xyz="0.6 0 0.8000001"/>')) == []
    assert findings(("continuous", "")) == []
    assert read(joints_text(("continuous", '<axis xyz="0 0 2"/>'))).robot.joints[0].axis == (
        0,
        0,
        2,
    )


LIMITS = [
    ("revolute", "", ["missing-limits"]),
    ("prismatic", '<limit effort="1" velocity="1"/>', ["missing-limits"]),
    ("revolute", '<limit lower="0" effort="1" velocity="1"/>', ["missing-limits"]),
    ("revolute", LIMIT, []),
    ("revolute", '<limit lower="1" upper="0" effort="1" velocity="1"/>', ["reversed-limits"]),
    ("revolute", '<limit lower="0" upper="0" effort="1" velocity="1"/>', []),
    ("revolute", '<limit lower="-1e308" upper="1" effort="1" velocity="1"/>', ["huge-limits"]),
    ("revolute", '<limit lower="0" upper="1" effort="-1" velocity="1"/>', ["range"]),
    ("revolute", '<limit lower="0" upper="1"/>', ["missing-attribute"] * 2),
    ("continuous", '<limit effort="1" velocity="1"/>', []),
    ("continuous", LIMIT, ["unused-limits"]),
    ("fixed", LIMIT, []),
    ("planar", "", []),
    ("revolute", LIMIT + '<dynamics damping="-1"/>', ["range"]),
]


@pytest.mark.parametrize(("kind", "inside", "codes"), LIMITS)
def test_limits(kind: str, inside: str, codes: list[str]):
    assert findings((kind, inside)) == codes


def test_limits_are_none_where_the_file_has_none():
    joint = read(joints_text(("revolute", '<limit effort="1" velocity="2"/>'))).robot.joints[0]
    assert (joint.limit.lower, joint.limit.upper) == (None, None)
    assert (joint.limit.effort, joint.limit.velocity) == (1.0, 2.0)


FREE = ("continuous", "")


def mimic(leader: str, extra: str = "", kind: str = "continuous") -> tuple[str, str]:
    return (kind, f'<mimic joint="{leader}" {extra}/>')


BAD = [
    ([mimic("j0")], "mimic-self"),
    ([mimic("j1"), mimic("j0")], "mimic-cycle"),
    ([mimic("j1"), mimic("j2"), mimic("j0"), FREE], "mimic-cycle"),
    ([mimic("nobody")], "mimic-unknown"),
    ([mimic("j1"), ("fixed", "")], "mimic-leader"),
    ([mimic("j1"), ("floating", "")], "mimic-leader"),
    ([mimic("j1"), ("planar", "")], "mimic-leader"),
    ([FREE, mimic("j0", kind="planar")], "mimic-type"),
    ([FREE, mimic("j0", kind="floating")], "mimic-type"),
    ([FREE, mimic("j0", 'multiplier="nan"')], "not-finite"),
    ([FREE, mimic("j0", 'offset="inf"')], "not-finite"),
    ([FREE, mimic("j0", 'multiplier="1e200"')], "too-large"),
    ([FREE, mimic("j0", 'offset="1 2"')], "count"),
    ([FREE, mimic("")], "empty-name"),
    ([FREE, ("continuous", "<mimic/>")], "missing-attribute"),
]


@pytest.mark.parametrize(("joints", "code"), BAD)
def test_couplings_that_lead_nowhere(joints: list[tuple[str, str]], code: str):
    assert [problem.code for problem in joint_errors(*joints)] == [code]


def test_a_cycle_is_told_once_with_its_joints():
    (problem,) = joint_errors(mimic("j1"), mimic("j2"), mimic("j0"), mimic("j0"), mimic("j3"))
    assert problem.message.startswith("joints mimic each other in a cycle: ")
    assert sorted(problem.message.partition("cycle: ")[2].split(" -> ")[:3]) == ["j0", "j1", "j2"]


def test_chains_of_couplings_are_fine():
    document = read(
        joints_text(mimic("j1"), mimic("j3"), FREE, mimic("j2", 'multiplier="2" offset="-1"'))
    )
    assert not document.problems
    assert (document.robot.joints[3].mimic.multiplier, document.robot.joints[0].mimic.offset) == (
        2.0,
        0.0,
    )


IDLE = {
    "a good leader": [FREE, mimic("j0", kind="fixed")],
    "a fixed leader": [mimic("j1", kind="fixed"), ("fixed", "")],
    "a leader that floats": [mimic("j1", kind="fixed"), ("floating", "")],
    "nobody": [mimic("nobody", kind="fixed")],
    "itself": [mimic("j0", kind="fixed")],
}


@pytest.mark.parametrize("joints", IDLE.values(), ids=IDLE)
def test_what_a_fixed_joint_mimics_is_without_effect(joints: list[tuple[str, str]]):
    assert findings(*joints) == ["fixed-follower"]


def test_fixed_joints_that_mimic_each_other_form_no_cycle():
    pair = [mimic("j1", kind="fixed"), mimic("j0", kind="fixed")]
    assert findings(*pair) == ["fixed-follower"] * 2
    assert [p.code for p in joint_errors(mimic("j1"), mimic("j0", kind="fixed"))] == [
        "mimic-leader"
    ]
