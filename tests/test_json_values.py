"""Results as JSON, and texts of strangers made legible."""

from __future__ import annotations

import json

import numpy as np

from linkwork.json_values import as_json
from linkwork.legible import legible


def test_arrays_and_numbers_become_pythons_own():
    given = {
        "q": np.arange(4.0).reshape(2, 2),
        "n": np.int64(3),
        "fine": np.bool_(True),
        1: (2, "a"),
    }
    told = as_json(given)
    assert told == {"q": [[0.0, 1.0], [2.0, 3.0]], "n": 3, "fine": True, "1": [2, "a"]}
    assert type(told["n"]) is int
    assert type(told["fine"]) is bool
    assert json.loads(json.dumps(told)) == told


def test_what_json_has_no_number_for_is_none():
    given = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), "c": [float("-inf"), None]}
    assert as_json(given) == {"a": [1.0, None], "b": None, "c": [None, None]}


def test_legible_leaves_scripts_of_all_kinds_alone():
    for text in ("arm_1", "Größe", "\u5de6\u624b", "\u05e9\u05dc\u05d5\u05dd", "a b"):
        assert legible(text) == text
    assert legible("a\nb") == r"a\nb" and legible("a\nb", lines=True) == "a\nb"
