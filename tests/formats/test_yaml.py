"""YAML as PyYAML reads it, with lines; and what is refused."""

from __future__ import annotations

import math
import re
import time

import pytest
import yaml

from linkwork.errors import DescriptionError
from linkwork.formats.yaml import LONGEST_FILE, LONGEST_TEXT, parse
from seeds import rng

TEXTS = [
    "",
    "# nothing\n",
    "a: 1\nb: -2.5\nc: 1.0e-3\nd: true\ne: null\nf:\ng: text with spaces\n",
    "a: 'quoted: text # no comment'\nb: \"[x]\"  # a comment\n",
    "- 1\n- two\n-\n- [1, [2, three], {a: 4}]\n",
    "closed_loop: [['a_A', 'a_B'], ['b_A', 'b_B']]\ntype: ['6d', '3d']\nname_mot: []\n",
    "closed_loop: [['a', 'b'],   # first\n              ['c', 'd']]\nnext: 1\n",
    'closed_loop:\n  [\n    ["a", "b"],\n    ["c", "d"],\n  ]\n',
    "a:\n  b:\n    - x: 1\n      y: 2\n    - x: 3\n  c: {}\n",
    "a:\n- 1\n- 2\nb: 3\n",
    "- a: 1\n  b: [1.5, -2]\n- - nested\n  - list\n",
    "---\na: 1\n",
    "---\na: 1\n...\n",
    "{a: 1, 'b': [x, y], c: {d: 2.0}}\n",
    "a: x#y\nb: it's\nc: http\n",
    "'a b': 1\n\"c\": 2\n",
    "a: .5\nb: 5.\nc: +3\nd: -0\ne: 1.0e+3\n",
    "a: |\n  two\n  lines\nb: >\n  one\n  line\nc: plain\n  goes on\n",
    "a: \"tab\\t, e\\u0301, \\\"quoted\\\"\"\nb: 'it''s'\n",
    "a: 'true'\nb: \"1\"\nc: '~'\nd: \xe9\u4e2d\U0001f916\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_read_as_pyyaml_reads_it(text):
    expected = yaml.safe_load(text)
    found = parse(text).plain()
    assert found == expected and repr(found) == repr(expected)


@pytest.mark.parametrize("text", ["a: 1\n---\n", "---\na: 1\n---\n---\n", "---\n---\na: 1\n"])
def test_a_document_without_content_is_none(text):
    assert parse(text).plain() == {"a": 1}


def test_numbers_of_yaml_1_2_are_numbers():
    assert parse("[1e-3, 1E5, 2.5e3]").plain() == [1e-3, 1e5, 2.5e3]
    assert parse("9" * 25).plain() == float("9" * 25)
    low, nan = parse("[-.inf, .NaN]").plain()
    assert low == -math.inf and math.isnan(nan)


def test_every_value_has_its_line():
    node = parse("# first\na:\n  - x\n  - {b: 1,\n     c: 2}\nd: y\n")
    assert node.value["a"].value[0].line == 3
    assert node.value["a"].value[1].value["c"].line == 5
    assert node.value["d"].line == 6


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: 1\na: 2\n", 2, "a second time"),
        ("{a: 1, 'a': 2}\n", 1, "a second time"),
        ("a: 1\n  b: 2\n", 2, "cannot be read"),
        ("a: [1, 2\nb: 3\n", 2, "cannot be read"),
        ("a: 'x\n", 2, "cannot be read"),
        ("\ta: 1\n", 1, "cannot be read"),
        ("a: 1\nb: \x07\n", 2, "cannot be read"),
        ("a: &anchor 1\n", 1, "anchors and aliases.*'anchor'"),
        ("a: 1\nb: *anchor\n", 2, "anchors and aliases.*'anchor'"),
        ("a: !!python/object:os.system x\n", 1, "tags are not read"),
        ("a: !!str 1\n", 1, "tags are not read"),
        ("a: ! 1\n", 1, "tags are not read"),
        ("a: !local [1]\n", 1, "tags are not read"),
        ("%YAML 1.1\n---\na: 1\n", 1, "directives"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("a: 1\n---\n---\n0\n", 3, "a second document"),
        ("1: a\n", 1, "a key must be a text, not 1"),
        ("a: 1\n? [b, c]\n: 2\n", 2, "a key must be a text"),
        ("~: a\n", 1, "a key must be a text"),
        ("<<: {a: 1}\n", 1, "merge"),
        ("a: yes\n", 1, "bool to some readers"),
        ("a: Off\n", 1, "bool to some readers"),
        ("a: 2001-01-01\n", 1, "timestamp to some readers"),
        ("a: 1:30\n", 1, "int to some readers"),
        ("a: 0x10\n", 1, "int to some readers"),
        ("a: 010\n", 1, "octal to some readers"),
        ("a: 1_000\n", 1, "int to some readers"),
        ("a:\n" + " []" + "x" * (LONGEST_TEXT + 1), 2, "cannot be read"),
        ("a:\n- " + "x" * (LONGEST_TEXT + 1), 2, "a text has 10,001 characters"),
        ("a: " + "[" * 60 + "]" * 60, 1, "nested deeper"),
        ("- " * 60 + "x", 1, "nested deeper"),
        ("a: " + "[" * 100_000, 1, "nested deeper"),
        ("a: \ud800\n", 1, "characters that are none|special characters"),
    ],
)
def test_what_is_refused_has_its_line(text, line, why):
    with pytest.raises(DescriptionError, match=why) as caught:
        parse(text, "file.yaml")
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == ("file.yaml", line)


def test_a_bomb_of_aliases_and_a_text_without_end_are_refused_at_once():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{k}: &{k} [{','.join(['*' + chr(ord(k) - 1)] * 9)}]\n" for k in "bcdefghi"
    )
    start = time.perf_counter()
    for text in (bomb, "x" * (LONGEST_FILE + 1)):
        with pytest.raises(DescriptionError):
            parse(text)
    assert time.perf_counter() - start < 5.0  # a hang


class Core(yaml.SafeLoader):
    """PyYAML with the numbers of YAML 1.2, such as 1e-3."""


Core.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def test_damaged_text_is_read_as_pyyaml_reads_it_or_refused():
    g = rng("damaged yaml")
    for text in TEXTS:
        for _ in range(60):
            letters = list(text or "x")
            for _ in range(int(g.integers(1, 4))):
                place = int(g.integers(len(letters)))
                letters[place] = "[]{},:'\"#- \n\tax1&*!|>%@?"[int(g.integers(24))]
            damaged = "".join(letters)
            try:
                found = parse(damaged).plain()
            except DescriptionError:
                continue
            assert repr(found) == repr(yaml.load(damaged, Core)), damaged
