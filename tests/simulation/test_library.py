"""Compiled code is kept while it is used, and let go when there is too much."""

from __future__ import annotations

from linkwork.compile.compiler import Compiler
from linkwork.simulation.library import Library
from linkwork.simulation.system import moving_recipe
from pendulums import pendulum


def test_what_was_used_last_is_kept():
    library, made = Library(Compiler(), most=2), []

    def get(name: str) -> str:
        return library.get((name,), lambda: made.append(name) or name)

    assert [get(x) for x in "abab"] == list("abab")
    assert made == ["a", "b"]
    get("a")
    get("c")  # b goes
    get("a")
    get("b")
    assert made == ["a", "b", "c", "b"]


def test_kernels_are_made_once():
    library, recipe = Library(Compiler()), moving_recipe(pendulum(1))
    assert library.kernel(recipe) is library.kernel(moving_recipe(pendulum(1)))
    assert library.kernel(recipe)([1.0], [0.5]).tolist() == [1.5]
