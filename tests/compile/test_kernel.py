"""Kernels: the same function for one configuration and for any number, and clear refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.compile.cache import Cache, Entry
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import CompiledRows, Kernel, build, rows_of
from linkwork.compile.recipe import Recipe, recipe_of
from linkwork.compile.target import host
from linkwork.errors import InputError
from seeds import rng
from traced_functions import mixed, reference, traced


@pytest.fixture(scope="module")
def compiled():
    return build(traced("mixed", {"x": 3, "y": 2}, mixed), labels={"x": ["a", "b", "c"]})


def arrays(n, label="kernel"):
    g = rng(label)
    return g.normal(size=(n, 3)), g.normal(size=(n, 2))


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 200])
def test_agrees_with_casadi(compiled, n):
    x, y = arrays(n)
    np.testing.assert_allclose(
        compiled(x, y), reference(compiled.recipe.traced(), x, y), rtol=1e-13, atol=1e-13
    )


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_width_gives_the_same_bits(compiled, width):
    x, y = arrays(101)
    expected = np.array([compiled(a, b) for a, b in zip(x, y, strict=True)])
    compiler = Compiler(replace(host(), width=width))
    recipe = recipe_of(compiled.recipe.traced())
    rows = rows_of(recipe, compiler)
    other = Kernel(recipe, rows, compiler)
    assert rows.width == width
    assert np.array_equal(other(x, y), expected)


def test_without_fused_multiply_adds_it_agrees_to_rounding(compiled):
    x, y = arrays(64)
    plain = build(compiled.recipe.traced(), compiler=Compiler(replace(host(), fused=False)))
    np.testing.assert_allclose(plain(x, y), compiled(x, y), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 5, 8, 40])
def test_a_number_that_is_not_finite_is_named(compiled, bad, row):
    x, y = arrays(41)
    x[row, 2] = bad
    with pytest.raises(InputError, match=rf"x\[2\] \(c\) in row \[{row}\] is"):
        compiled(x, y)
    with pytest.raises(InputError, match=r"x\[2\] \(c\) is"):
        compiled(x[row], y[row])
    x, y = arrays(41)
    y[row, 0] = bad
    with pytest.raises(InputError, match=rf"y\[0\] in row \[{row}\] is"):
        compiled(x, y)


# --- both versions of a function: made when needed, kept, found again ---

TRACED = traced("mixed", {"x": 3, "y": 2}, mixed)
KEY = ("mixed", "of the tests")


def computed(rows, n):
    out = np.full((n, 6), 7.0)
    assert rows(list(arrays(n)), [out]) == -1
    return out


def fail():
    raise AssertionError("traced although the cache has it")


def test_what_is_kept_is_not_traced_again(tmp_path):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    fresh = CompiledRows(Recipe(KEY, lambda: TRACED), compiler, TRACED.signature)
    assert CompiledRows.stored(Recipe(KEY, fail), compiler) is None
    batch, one = computed(fresh, 20), computed(fresh, 1)
    stored = CompiledRows.stored(Recipe(KEY, fail), compiler)
    assert stored is not None
    assert stored.signature == TRACED.signature
    assert np.array_equal(computed(stored, 20), batch)
    assert np.array_equal(computed(stored, 1), one)
    assert stored.cost()["cached"]
    assert stored.cost()["code_bytes"] == fresh.cost()["code_bytes"] > 500
    assert not fresh.cost()["cached"]


def test_the_batch_version_alone_is_enough_to_start(tmp_path):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    batch = computed(CompiledRows(Recipe(KEY, lambda: TRACED), compiler, TRACED.signature), 20)
    stored = CompiledRows.stored(Recipe(KEY, fail), compiler)
    assert stored is not None
    assert np.array_equal(computed(stored, 20), batch)
    with pytest.raises(AssertionError, match="traced although"):
        stored.scalar_part()


@pytest.mark.parametrize("facts", [{}, {"scratch": 0}, {"signature": [], "scratch": "x"}])
def test_facts_of_another_kind_are_as_if_they_were_not_there(tmp_path, facts):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    fresh = CompiledRows(Recipe(KEY, lambda: TRACED), compiler, TRACED.signature)
    computed(fresh, 20)
    (name,) = [path.stem for path in (tmp_path / "c").glob("*.kernel")]
    entry = compiler.cache.read(name)
    assert entry is not None
    compiler.cache.write(name, Entry(facts, entry.object_code))
    assert CompiledRows.stored(Recipe(KEY, fail), compiler) is None
