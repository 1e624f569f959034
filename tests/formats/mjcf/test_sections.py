"""Each element has one fate."""

from __future__ import annotations

from linkwork.formats.mjcf.flatten import (
    LEFT_OUT,
    LEFT_OUT_OF,
    OF_DEFAULTS,
    REFUSED,
    SILENT,
    TAKEN,
    TARGETS,
    TEXTS,
)

KINEMATIC = {
    "worldbody",
    "body",
    "frame",
    "replicate",
    "joint",
    "freejoint",
    "inertial",
    "geom",
} | {
    "site",
    "default",
    "compiler",
    "asset",
    "mesh",
    "material",
    "model",
    "attach",
    "include",
}


def test_no_element_of_kinematics_or_masses_is_left_out():
    assert not KINEMATIC & (set(LEFT_OUT) | SILENT | OF_DEFAULTS | set(REFUSED))


def test_an_element_is_left_out_for_one_reason():
    assert not set(LEFT_OUT) & SILENT
    assert not set(REFUSED) & (set(LEFT_OUT) | SILENT)


def test_what_changes_the_motion_is_a_warning():
    assert {tag for tag, (level, _) in LEFT_OUT.items() if level == "warning"} == {
        "deformable",
    }
    assert {tag for tag, (level, _) in LEFT_OUT_OF.items() if level == "warning"} == {"equality"}


def test_every_section_says_what_becomes_of_its_other_elements():
    assert set(LEFT_OUT_OF) == {*TAKEN, "actuator"} - {"fixed", "spatial"}
    assert not set(LEFT_OUT_OF) & (set(LEFT_OUT) | SILENT)
    assert set(TARGETS) <= TEXTS
    names = {n for kinds in TAKEN.values() for kept in kinds.values() for n in kept}
    assert names - TEXTS == {
        "anchor",
        "relpose",
        "torquescale",
        "polycoef",
        "coef",
        "divisor",
        "qpos",
    }
