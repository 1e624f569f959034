"""The page of words names only what exists, and what it says is there can be called so."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.algorithms.registry import ALGORITHMS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "words.md"
ROWS = re.findall(r"(?m)^\| (.+?) \| (.+) \|$", PAGE.read_text(encoding="utf-8"))
WORDS = [row for row in ROWS if row[0] not in ("the word", "---")]
NAMES = sorted(set(re.findall(r"\b(?:robot|lw|linkwork)(?:\.\w+)+", " ".join(r[1] for r in WORDS))))


def test_there_are_enough_words_and_none_twice():
    words = [word for row in WORDS for word in row[0].split(", ")]
    assert len(WORDS) > 80
    assert len(set(words)) == len(words)


def exists(name: str) -> bool:
    """Whether a dotted name leads somewhere: an attribute of Robot, or a part of the package."""
    first, *rest = name.split(".")
    if first == "robot":
        # the arrays of a mechanism are fields, without a value on the class
        return rest[0] == "mechanism" or hasattr(lw.Robot, rest[0])
    thing, path = lw, "linkwork"
    for part in rest:
        path += f".{part}"
        if not hasattr(thing, part):
            try:
                importlib.import_module(path)
            except ImportError:
                return False
        thing = getattr(thing, part)
    return True


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name: str):
    if name.startswith("linkwork.torch"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if name not in ("robot.urdf", "robot.xacro", "robot.xml"):  # files
        assert exists(name), name


def test_the_check_sees_what_does_not_exist():
    for name in ("lw.ik.Nothing", "linkwork.nothing.at_all", "robot.nothing"):
        assert not exists(name)


def test_every_algorithm_by_its_name():
    text = PAGE.read_text(encoding="utf-8")
    called = re.findall(r"robot\.(?:function|kernel|symbolic)\(\"(\w+)\"", text)
    assert called
    assert set(called) <= set(ALGORITHMS)
