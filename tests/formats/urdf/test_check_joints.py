"""Axes, limits and couplings of joints."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.urdf.read import read

TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def text(*joints: tuple[str, str]) -> str:
    """A chain of joints, each given by its type and what stands in it."""
    parts = ['<link name="l0"/>']
    for k, (kind, inside) in enumerate(joints):
        parts.append(
            f'<link name="l{k + 1}"/><joint name="j{k}" type="{kind}"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/>{inside}</joint>'
        )
    return '<robot name="r">' + "\n".join(parts) + "</robot>"


def findings(*joints: tuple[str, str]) -> list[str]:
    return [problem.code for problem in read(text(*joints)).problems]


def errors(*joints: tuple[str, str]) -> list[Finding]:
    with pytest.raises(DescriptionError) as caught:
        read(text(*joints))
    return list(caught.value.problems)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("axis", ["0 0 0", "0 -0 0.0", "1e-200 0 0"])
def test_a_joint_that_moves_along_its_axis_needs_one(kind: str, axis: str):
    joint = (kind, f'<axis xyz="{axis}"/>{LIMIT if kind in ("revolute", "prismatic") else ""}')
    if kind in ("fixed", "floating"):
        assert findings(joint) == []
    else:
        (problem,) = errors(joint)
        assert (problem.code, problem.name) == ("zero-axis", "j0")


def test_axes_of_other_lengths_are_findings():
    assert findings(("continuous", '<axis xyz="0 0 2"/>')) == ["axis-length"]
    assert findings(("continuous", '<axis xyz="1 1 0"/>')) == ["axis-length"]
    assert findings(("continuous", '<axis xyz="0.6 0 0.8000001"/>')) == []
    assert findings(("continuous", "")) == []
    assert read(text(("continuous", '<axis xyz="0 0 2"/>'))).robot.joints[0].axis == (0, 0, 2)


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
    joint = read(text(("revolute", '<limit effort="1" velocity="2"/>'))).robot.joints[0]
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
    assert [problem.code for problem in errors(*joints)] == [code]


def test_a_cycle_is_told_once_with_its_joints():
    (problem,) = errors(mimic("j1"), mimic("j2"), mimic("j0"), mimic("j0"), mimic("j3"))
    assert problem.message.startswith("joints mimic each other in a cycle: ")
    assert sorted(problem.message.partition("cycle: ")[2].split(" -> ")[:3]) == ["j0", "j1", "j2"]


def test_chains_of_couplings_are_fine():
    document = read(text(mimic("j1"), mimic("j3"), FREE, mimic("j2", 'multiplier="2" offset="-1"')))
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
    assert [p.code for p in errors(mimic("j1"), mimic("j0", kind="fixed"))] == ["mimic-leader"]
