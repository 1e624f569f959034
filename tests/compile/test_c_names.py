"""Names for C: valid, not taken, each used once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.compile.c_names import RESERVED, Names, identifier, is_identifier


@given(st.text(max_size=100))
def test_any_text_becomes_an_identifier(text):
    assert is_identifier(identifier(text))


@given(st.text(alphabet="ab_1 é/", max_size=8))
def test_an_identifier_stays_as_it_is(text):
    name = identifier(text)
    assert identifier(name).rstrip("_") == name.rstrip("_")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("q", "q"), ("panda arm", "panda_arm"), ("xyz:joint-1", "xyz_joint_1"), ("2R", "x2R"),
        ("", "x"), ("__a__b__", "a_b"), ("sin", "sin_v"), ("sinf", "sinf_v"), ("class", "class_v"),
        ("I", "I"), ("EOF", "eof"), ("日本", "x"), ("lambda", "lambda_v"), ("y0", "y0_v"),
        ("a" * 100, "a" * 63),
    ],
)  # fmt: skip
def test_examples(text, name):
    assert identifier(text) == name


@pytest.mark.parametrize("name", sorted(RESERVED)[::17])
def test_words_of_the_languages_are_changed(name):
    assert identifier(name) not in RESERVED
    assert not is_identifier(name)


@given(st.lists(st.text(alphabet="aq_0:2 ", max_size=4), max_size=20))
def test_names_are_each_used_once(texts):
    names = Names()
    names.take("a")
    given_out = [names.new(text) for text in texts]
    assert len({*given_out, "a"}) == len(texts) + 1
    prefix = names.prefix("a")
    assert not any(re.fullmatch(rf"{prefix}\d+", name) for name in given_out)
    assert all(is_identifier(name) for name in given_out)
