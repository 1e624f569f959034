"""Types and shapes of single fields."""

from __future__ import annotations

import json

import numpy as np
import pytest

import robots
from linkwork.mechanism.consistency import FieldError
from linkwork.mechanism.json_fields import decode
from linkwork.mechanism.serialize import to_json


def values():
    given = json.loads(to_json(robots.mechanism_from(robots.chain_urdf(2, "continuous"))))
    del given["format"], given["version"]
    return given


def test_all_fields_come_back():
    found = decode(values())
    assert found["body_names"] == ("link0", "link1", "link2")
    assert found["R_parent_joint"].shape == (3, 3, 3) and found["parent"].dtype == np.int64
    assert found["lower"].tolist() == [-np.inf, -np.inf]


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
    with pytest.raises(FieldError, match=text):
        decode(given)


def test_a_finding_of_an_unknown_level():
    given = values()
    assert not given["findings"] or given["findings"][0]["level"] != "fatal"
    finding = {"level": "fatal", "code": "", "message": "", "file": "", "line": 0}
    given["findings"] = [{**finding, "element": "", "name": "", "hint": ""}]
    with pytest.raises(FieldError, match="the level is one of error, warning, note"):
        decode(given)
