"""Escapes of what a terminal would obey."""

from __future__ import annotations

from linkwork.legible import legible


def test_legible_leaves_scripts_of_all_kinds_alone():
    for text in ("arm_1", "Größe", "\u5de6\u624b", "\u05e9\u05dc\u05d5\u05dd", "a b"):
        assert legible(text) == text
    assert legible("a\nb") == r"a\nb" and legible("a\nb", lines=True) == "a\nb"
