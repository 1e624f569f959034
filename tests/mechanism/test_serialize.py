"""JSON there and back, to the last bit; text that is not one is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
import robots
from linkwork.errors import DescriptionError
from linkwork.mechanism.edit import actuate, close, couple, lock, subchain, with_frame
from linkwork.mechanism.model import JointType
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


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_older_versions_are_read(version):
    m = lw.load("five_bar" if version > 3 else "planar_2r").mechanism
    values = json.loads(to_json(m)) | {"version": version}
    later = ["stiffness", "spring_position", "default_gravity"]
    if version < 6:
        later += ["angle_limit"]
    if version < 5:
        later += ["armature", "named_configurations", "unknown_inertials"]
    if version < 4:
        later += ["loops", "couplings", "actuated"]
    old = {name: value for name, value in values.items() if name not in later}
    assert from_json(json.dumps(old)) == m
    for name in later:
        message = f"{name} is not a known field of version {version}"
        with pytest.raises(DescriptionError, match=message):
            from_json(json.dumps({**old, name: []}))


def test_findings_and_odd_names():
    text = robots.chain_urdf(1, "continuous").replace("link1", "Gelenk ß &amp; 手")
    m = robots.mechanism_from(text)
    assert m.findings
    assert_round_trip(m)
    assert to_json(m).isascii()


def test_it_is_plain_json():
    m = robots.mechanism_from(robots.every_joint_urdf())
    values = json.loads(to_json(m), parse_constant=pytest.fail)
    assert (values["format"], values["version"]) == ("linkwork-mechanism", 7)
    assert "-inf" in values["lower"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[]", "format must be"),
        ("{}", "format must be"),
        ("[" * 100_000, "is nested too deeply|is not JSON"),
        ('{"format": "linkwork-mechanism"}', "version must be 7, not None"),
        ('{"format": "linkwork-mechanism", "version": 1}', "version must be 7, not 1"),
        ('{"format": "linkwork-mechanism", "version": true}', "version must be 7, not True"),
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


MOVING = (JointType.REVOLUTE,) * 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"parent": np.array([0, 0, 1])}, "parent must be -1 for body 0"),
        ({"parent": np.array([-1, 0, 2])}, "must name a body that comes before"),
        ({"parent": np.array([-1, 0, -1])}, "must name a body that comes before"),
        ({"body_joint_types": (JointType.PLANAR, *MOVING)}, "must begin with fixed or floating"),
        ({"body_joint_types": (JointType.FIXED,) * 3}, "fixed joints for body 0 only"),
        ({"body_joint_types": (JointType.FLOATING, *MOVING)}, "coordinate of body 0"),
        ({"body_names": ("a", "b", "a")}, "body_names has 'a' more than once"),
        ({"body_joint_names": ("", "a", "a")}, "body_joint_names has 'a' more than once"),
        ({"joint_names": ("a", "a")}, "joint_names has 'a' more than once"),
        ({"frame_names": ("a",) * 5}, "frame_names has 'a' more than once"),
        ({"coordinate": np.array([0, 0, 1])}, "coordinate of body 0 must be 0"),
        ({"coordinate": np.array([-1, 0, 2])}, "must be indices of joint_names"),
        ({"coordinate": np.array([-1, -1, 1])}, "must be indices of joint_names"),
        ({"q_start": np.array([0, 1, 3])}, "q_start must be the running sum"),
        ({"v_start": np.array([1, 2, 3])}, "v_start must be the running sum"),
        ({"frame_body": np.array([0, 1, 2, 1, 3])}, "frame_body must be indices of bodies"),
        ({"n_joint_frames": 4}, "n_link_frames and n_joint_frames"),
        ({"n_joint_frames": -1}, "n_link_frames and n_joint_frames"),
        ({"body_names": ("link0", "link1", "b")}, "must have the links that body_names lists"),
        ({"frame_link": np.array([0, 1, 2, 1, 3])}, "frame_link must be indices of the frames"),
        ({"frame_link": np.array([0, 1, 2, 2, 1])}, "frame_link must be links on the bodies"),
        ({"link_parent": np.array([-1, 0, 3])}, "link_parent must be -1 or indices"),
        ({"link_parent": np.array([-1, 2, 1])}, "link_parent must not form a cycle"),
        ({"link_parent": np.array([2, 0, 1])}, "link_parent must not form a cycle"),
        ({"R_parent_joint": np.stack([2 * np.eye(3)] * 3)}, "R_parent_joint must be rotations"),
        ({"R_parent_joint": np.stack([-np.eye(3)] * 3)}, "R_parent_joint must be rotations"),
        ({"R_body_frame": np.stack([0 * np.eye(3)] * 5)}, "R_body_frame must be rotations"),
    ],
)
def test_contradictions(change, text):
    with pytest.raises(DescriptionError, match=text):
        from_json(to_json(replace(robots.mechanism_from(robots.chain_urdf(2)), **change)))


def values():
    return json.loads(to_json(robots.mechanism_from(robots.chain_urdf(2, "continuous"))))


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("name", 1, "name must be text, not 1"),
        ("body_names", "abc", "body_names must be a list"),
        ("body_names", ["a", 1, "c"], "body_names must be text"),
        ("body_joint_names", ["", "a"], "must have 3 entries, not 2"),
        ("joint_types", ["continuous", "ball"], "'ball' is none of fixed, revolute"),
        ("joint_types", ["continuous"], "joint_types must have 2 entries"),
        ("parent", [-1, 0], "parent must have 3 entries"),
        ("parent", [-1, 0, 0.5], "parent must be a whole number, not 0.5"),
        ("parent", [-1, 0, True], "parent must be a whole number, not True"),
        ("parent", [-1, 0, 10**30], "parent must be a whole number"),
        ("mass", [1, 2], r"mass must have the shape \(3,\)"),
        ("mass", [1, 2, "inf"], "mass must be finite numbers, not 'inf'"),
        ("mass", [1, 2, 10**400], "mass must be finite numbers"),
        ("mass", [1, 2, False], "mass must be finite numbers, not False"),
        ("p_body_com", [[0, 0, 0]] * 2, r"p_body_com must have the shape \(3, 3\)"),
        ("p_body_com", [[0, 0, 0]] * 2 + [[0, 0]], "must have the shape"),
        ("I_com", [0, 0, 0], "I_com must be a list, not 0"),
        ("lower", [0, "infinite"], "lower must be finite numbers"),
        ("n_link_frames", 1.0, "n_link_frames must be a whole number"),
        ("inertias_accepted", 1, "inertias_accepted must be true or false, not 1"),
        ("findings", [1], "findings must be objects"),
        ("findings", [{"level": "error"}], "findings must have exactly level, code"),
    ],
)
def test_fields_of_another_kind(field, value, text):
    given = values()
    given[field] = value
    with pytest.raises(DescriptionError, match=text):
        from_json(json.dumps(given))


def test_a_finding_of_an_unknown_level():
    given = values()
    assert not given["findings"] or given["findings"][0]["level"] != "fatal"
    finding = {"level": "fatal", "code": "", "message": "", "file": "", "line": 0}
    given["findings"] = [{**finding, "element": "", "name": "", "hint": ""}]
    with pytest.raises(DescriptionError, match="the level is one of error, warning, note"):
        from_json(json.dumps(given))
