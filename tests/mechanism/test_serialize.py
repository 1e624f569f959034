"""JSON there and back, to the last bit; text that is not one is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwork as lw
import robots
from linkwork.errors import DescriptionError
from linkwork.mechanism.edit import actuate, close, couple, lock, subchain, with_frame
from linkwork.mechanism.serialize import from_json, to_json
from seeds import rng


def assert_round_trip(m):
    text = to_json(m)
    again = from_json(text)
    assert again == m and to_json(again) == text
    assert from_json(text.encode()) == m
    assert not again.R_parent_joint.flags.writeable


@pytest.mark.parametrize("number", range(20))
def test_round_trips_of_random_trees(number):
    base = "floating" if number % 2 else "fixed"
    assert_round_trip(
        robots.mechanism_from(robots.random_tree(rng(f"json {number}"), 12), base=base)
    )


def test_round_trips_of_edited_ones():
    m = robots.mechanism_from(robots.every_joint_urdf())
    assert_round_trip(m)
    assert_round_trip(lock(m, ["elbow", "free"]))
    assert_round_trip(subchain(m, "finger_c", "hand"))
    assert_round_trip(subchain(m, "hand", "base"))
    assert_round_trip(with_frame(m, "tool", "hand", np.eye(4)))


def test_round_trips_of_what_stands_beside_the_tree():
    m = robots.mechanism_from(robots.every_joint_urdf())
    frames = m.frame_names[-1], m.frame_names[0]
    m = close(close(m, *frames, "xy/z"), *frames, "distance", distance=0.1 + 0.2)
    names = [n for n, kind in zip(m.joint_names, m.joint_types, strict=True) if kind.n_q == 1]
    m = couple(m, names[0], names[1:3], lambda a, b: np.sin(a) * b**1.5 + 1e-3 / 3)
    m = actuate(m, names[1:])
    assert_round_trip(m)
    plain = json.loads(to_json(m))
    assert plain["loops"][1]["distance"] == 0.1 + 0.2
    for field, value in (
        ("loops", [{**plain["loops"][0], "frame_a": "nowhere"}]),
        ("loops", [{**plain["loops"][0], "kind": "glue"}]),
        ("loops", plain["loops"] * 2),
        ("loops", [{"name": "x"}]),
        ("actuated", ["nobody"]),
        ("couplings", [{**plain["couplings"][0], "leaders": []}]),
        ("couplings", [{**plain["couplings"][0], "joint": "nobody"}]),
    ):
        with pytest.raises(DescriptionError):
            from_json(json.dumps({**plain, field: value}))


def test_version_3_knew_no_loops():
    m = robots.mechanism_from(robots.chain_urdf(2))
    values = json.loads(to_json(m))
    values["version"] = 3
    for name in (
        "loops",
        "couplings",
        "actuated",
        "armature",
        "named_configurations",
        "unknown_inertials",
        "angle_limit",
    ):
        del values[name]
    assert from_json(json.dumps(values)) == m


def test_version_4_knew_no_armature():
    values = json.loads(to_json(lw.load("five_bar").mechanism))
    values["version"] = 4
    for name in ("armature", "named_configurations", "unknown_inertials", "angle_limit"):
        del values[name]
    assert from_json(json.dumps(values)) == lw.load("five_bar").mechanism
    with pytest.raises(DescriptionError, match="armature is not a known field of version 4"):
        from_json(json.dumps({**values, "armature": []}))


def test_findings_and_odd_names():
    text = robots.chain_urdf(1, "continuous").replace("link1", "Gelenk ß &amp; 手")
    m = robots.mechanism_from(text)
    assert m.findings
    assert_round_trip(m)
    assert to_json(m).isascii()


def test_it_is_plain_json():
    m = robots.mechanism_from(robots.every_joint_urdf())
    values = json.loads(to_json(m), parse_constant=pytest.fail)
    assert (values["format"], values["version"]) == ("linkwork-mechanism", 6)
    assert "-inf" in values["lower"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[]", "format must be"),
        ("{}", "format must be"),
        ("[" * 100_000, "is nested too deeply|is not JSON"),
        ('{"format": "linkwork-mechanism"}', "version must be 6, not None"),
        ('{"format": "linkwork-mechanism", "version": 1}', "version must be 6, not 1"),
        ('{"format": "linkwork-mechanism", "version": true}', "version must be 6, not True"),
        ('{"format": "linkwork-mechanism", "version": 3}', "is missing"),
        ('{"format": "linkwork-mechanism", "version": 3, "loops": []}', "loops is not a known"),
        ('{"format": "linkwork-mechanism", "version": 5}', "is missing"),
        ('{"format": 1, "format": 1}', "a name occurs twice"),
        ('{"format": NaN}', "NaN is no JSON number"),
        (b"\xff\xfe\xff", "is not JSON"),
    ],
)
def test_text_that_is_none(text, message):
    with pytest.raises(DescriptionError, match=message):
        from_json(text)


def test_every_field_is_needed():
    values = json.loads(to_json(robots.mechanism_from(robots.chain_urdf(2))))
    for name in values:
        with pytest.raises(DescriptionError, match=name):
            from_json(json.dumps({key: value for key, value in values.items() if key != name}))
    with pytest.raises(DescriptionError, match="extra is not a known field"):
        from_json(json.dumps({**values, "extra": 1}))


@pytest.mark.slow
def test_any_changed_value_is_read_as_such_or_refused():
    random = rng("damage")
    values = json.loads(to_json(robots.mechanism_from(robots.every_joint_urdf())))
    odd = [None, True, "x", [], {}, -1, 10**400, 0.5, [[1]], "inf", 3]
    names = [name for name in values if name not in ("format", "version")]
    for _ in range(600):
        damaged = json.loads(json.dumps(values))
        holder, key = damaged, names[int(random.integers(len(names)))]
        while isinstance(holder[key], list) and holder[key] and random.random() < 0.8:
            holder, key = holder[key], int(random.integers(len(holder[key])))
        holder[key] = odd[int(random.integers(len(odd)))]
        try:
            m = from_json(json.dumps(damaged))
        except DescriptionError:
            continue
        again = json.loads(to_json(m))
        assert again == damaged


def test_what_assemble_would_not_have_made():
    values = json.loads(to_json(robots.mechanism_from(robots.chain_urdf(2))))
    values["I_com"][1][0][1] = 0.5
    with pytest.raises(DescriptionError, match=r"not as a mechanism is kept .*: I_com"):
        from_json(json.dumps(values))
