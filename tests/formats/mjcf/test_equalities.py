"""Equalities and actuators as records; their meaning is compared where mechanisms are made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.mjcf.read import read
from linkwork.formats.mjcf.records import Coupling, Place
from mjcf_samples import closed

mujoco: Any = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

LINE = closed("@").split("@")[0].count("\n") + 1


def test_loops_are_anchors_on_two_bodies():
    text = (
        '<connect name="c" body1="crank" body2="tip" anchor=".1 .2 .3"/>'
        '<weld body1="tip" anchor=".1 0 0" relpose="1 2 3 1 0 0 0"/><weld site1="s1" site2="s2"/>'
        '<weld body1="tip" torquescale="0"/>'
    )
    model = read(closed(text))
    connect, weld, sites, point = model.closures
    assert (connect.name, connect.kind, connect.a.pos) == ("c", "connect", (0.1, 0.2, 0.3))
    assert [model.bodies[a.body].name for a in (connect.a, connect.b)] == ["crank", "tip"]
    assert (weld.kind, weld.a.pos, weld.b.pos) == ("weld", (1, 2, 3), (0.1, 0, 0))
    assert weld.name == "" and weld.b.body == 0
    assert [model.sites[a.site].name for a in (sites.a, sites.b)] == ["s1", "s2"]
    assert point.kind == "connect"
    assert {closure.place.line for closure in model.closures} == {LINE}


def test_couplings_are_sums_and_a_polynomial():
    text = (
        '<joint joint1="h" joint2="g" polycoef="0 1 2 3 4"/><joint name="x" joint1="g"/>'
        '<tendon tendon1="both" tendon2="one"/>'
    )
    first, alone, tendon = read(closed(text)).couplings
    assert replace(first, place=Place()) == Coupling("", ((0, 1.0),), ((2, 1.0),), (0, 1, 2, 3, 4))
    assert (alone.name, alone.terms, alone.other) == ("x", ((2, 1.0),), ())
    assert tendon.terms == ((0, 2.0), (1, -1.0)) and tendon.other == ((2, 1.0),)


def test_a_joint_without_a_factor_is_in_no_tendon():
    text = closed('<tendon tendon1="both"/>').replace('coef="2"', 'coef="0"')
    assert read(text).couplings[0].terms == ((1, -1.0),)


def test_actuators_are_the_joints_that_they_drive():
    more = '<actuator><motor joint="g"/>\n<motor tendon="both"/></actuator>'
    drives = read(closed("", more=more)).drives
    assert [drive.joints for drive in drives] == [(2,), (0, 1)]
    assert drives[1].place.line == drives[0].place.line + 1


def test_without_any_there_are_none():
    model = read("<mujoco><worldbody/></mujoco>")
    assert model.closures == model.couplings == model.drives == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<connect body1="nobody" anchor="0 0 0"/>', "nobody"),
        ('<joint joint1="h" joint2="lost"/>', "lost"),
        ('<joint joint1="h" polycoef="nan"/>', "not finite"),
        ('<weld site1="s1" body2="tip"/>', "MuJoCo"),
        ('<connect body1="crank" body2="tip"/>', "MuJoCo"),
        ('<tendon tendon1="both" tendon2="one" active="maybe"/>', "MuJoCo"),
    ],
)
def test_what_is_wrong_has_its_line(text, why):
    with pytest.raises(DescriptionError, match=why) as caught:
        read(closed(text))
    assert {problem.line for problem in caught.value.problems} == {LINE}


TENDON = '<tendon><spatial name="rod">{}</spatial></tendon>'
SITES = '<site site="s1"/><site site="s2"/>'


def test_a_tendon_between_two_sites_that_is_held_is_a_rod():
    more = TENDON.format(SITES) + '<actuator><motor tendon="rod"/></actuator>'
    model = read(closed('<tendon name="e" tendon1="rod" polycoef=".25 7 0 0 0"/>', more=more))
    (rod,) = model.closures
    assert (rod.name, rod.kind, rod.place.line) == ("e", "rod", LINE)
    assert [model.sites[a.site].name for a in (rod.a, rod.b)] == ["s1", "s2"]
    own = mujoco.MjModel.from_xml_string(closed("", more=TENDON.format(SITES)))
    assert rod.distance == own.tendon_length0[own.tendon("rod").id] + 0.25
    assert not model.drives and {p.code for p in model.problems} == {"no-actuator"}


@pytest.mark.parametrize(
    ("equality", "along", "codes"),
    [
        ("", SITES, {"no-tendon"}),
        ('<tendon tendon1="rod" tendon2="both"/>', SITES, {"no-tendon", "no-equality"}),
        ('<tendon tendon1="rod"/>', SITES + SITES, {"no-tendon", "no-equality"}),
        (
            '<tendon tendon1="rod"/>',
            '<site site="s1"/><geom geom="lost"/><site site="s2"/>',
            {"no-tendon", "no-equality"},
        ),
        (
            '<tendon tendon1="rod"/>',
            f'{SITES}<pulley divisor="2"/>{SITES}',
            {"no-tendon", "no-equality"},
        ),
        ('<tendon tendon1="rod" polycoef="-9 0 0 0 0"/>', SITES, {"no-equality"}),
        (
            '<tendon tendon1="rod"/><tendon tendon1="both" tendon2="rod"/>',
            SITES,
            {"no-equality"},
        ),
    ],
)
def test_other_tendons_along_sites_are_left_out_with_a_word(equality, along, codes):
    model = read(closed(equality, more=TENDON.format(along)))
    assert {problem.code for problem in model.problems} == codes
    assert len(model.closures) == equality.startswith('<tendon tendon1="rod"/><')
    assert not model.couplings
