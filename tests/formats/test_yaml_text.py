"""The part of YAML that is read: as PyYAML reads it, and nothing else."""

from __future__ import annotations

import pytest

from linkwork.errors import DescriptionError
from linkwork.formats.yaml_text import parse

TEXTS = [
    "",
    "# nothing\n",
    "a: 1\nb: -2.5\nc: 1.0e-3\nd: true\ne: null\nf:\ng: text with spaces\n",
    "a: 'quoted: text # no comment'\nb: \"[x]\"  # a comment\n",
    "- 1\n- two\n-\n- [1, [2, three], {a: 4}]\n",
    "closed_loop: [['a_A', 'a_B'], ['b_A', 'b_B']]\ntype: ['6d', '3d']\nname_mot: []\n",
    "closed_loop: [['a', 'b'],   # first\n              ['c', 'd']]\nnext: 1\n",
    "a:\n  b:\n    - x: 1\n      y: 2\n    - x: 3\n  c: {}\n",
    "a:\n- 1\n- 2\nb: 3\n",
    "- a: 1\n  b: [1.5, -2]\n- - nested\n  - list\n",
    "---\na: 1\n",
    "{a: 1, 'b': [x, y], c: {d: 2.0}}\n",
    "a: x#y\nb: it's\nc: http\n",
    "'a b': 1\n\"c\": 2\n",
    "a: .5\nb: 5.\nc: +3\nd: -0\ne: 1.0e+3\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_read_as_pyyaml_reads_it(text):
    yaml = pytest.importorskip("yaml", reason="PyYAML (pip install pyyaml) is not installed")
    expected = yaml.safe_load(text)
    found = parse(text)
    assert found == expected and repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a: 1\na: 2\n", 2, "a second time"),
        ("a: 1\n  b: 2\n", 2, "indented more"),
        ("a:\n    b: 1\n  c: 2\n", 3, "is indented more"),
        ("  a: 1\nb: 2\n", 2, "is indented like nothing above it"),
        ("a: [1, 2\nb: 3\n", 1, "never closed"),
        ("a: [1 2}\n", 1, "wants"),
        ("a: &anchor 1\n", 1, "is not read"),
        ("a: *anchor\n", 1, "is not read"),
        ("a: !!python/object:os.system x\n", 1, "is not read"),
        ("a: |\n  text\n", 1, "is not read"),
        ("a: 'x\\n'\n", 1, "backslashes"),
        ("a: 'x\n", 1, "quotes"),
        ("\ta: 1\n", 1, "tabulator"),
        ("a: 1\nb\n", 2, "no 'key: value'"),
        ("a: [1] 2\n", 1, "goes on after its end"),
        ("{a: 1, a: 2}\n", 1, "a key twice"),
        ("{a 1}\n", 1, "no ':'"),
        ("a: [" * 60, 1, "never closed"),
        ("a: " + "[" * 60 + "]" * 60, 1, "nested too deeply"),
        ("- " * 60 + "x", 1, "nested too deeply"),
    ],
)
def test_what_is_outside_is_refused_with_its_line(text, line, why):
    with pytest.raises(DescriptionError, match=why) as caught:
        parse(text, "file.yaml")
    assert caught.value.problems[0].line == line
    assert caught.value.problems[0].file == "file.yaml"


def test_damaged_text_is_read_or_refused():
    from seeds import rng  # noqa: PLC0415  beside its use

    g = rng("damaged yaml")
    for text in TEXTS:
        for _ in range(100):
            letters = list(text or "x")
            for _ in range(int(g.integers(1, 4))):
                place = int(g.integers(len(letters)))
                letters[place] = "[]{},:'\"#- \n\tax1"[int(g.integers(16))]
            try:
                parse("".join(letters))
            except DescriptionError:
                continue
