"""Both versions of a function: made when needed, kept, found again, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.compile.cache import Cache, Entry
from linkwork.compile.compiled_rows import CompiledRows
from linkwork.compile.compiler import Compiler
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import host, with_width
from seeds import rng
from traced_functions import mixed, reference, traced

TRACED = traced("mixed", {"x": 3, "y": 2}, mixed)
KEY = ("mixed", "of the tests")


def arrays(n):
    g = rng("compiled rows")
    return [g.normal(size=(n, 3)), g.normal(size=(n, 2))]


def computed(rows, n):
    out = np.full((n, 6), 7.0)
    assert rows(arrays(n), [out]) == -1
    return out


def fail():
    raise AssertionError("traced although the cache has it")


@pytest.mark.sweep(9)
@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 100])
def test_any_number_of_rows_at_any_width(width, n):
    compiler = Compiler(with_width(host(), width))
    rows = CompiledRows(Recipe((), lambda: TRACED), compiler, TRACED.signature)
    found = computed(rows, n)
    np.testing.assert_allclose(
        found.reshape(n, 2, 3), reference(TRACED, *arrays(n)), rtol=1e-13, atol=1e-13
    )
    single = np.vstack([computed_row(rows, a, b) for a, b in zip(*arrays(n), strict=True)])
    assert np.array_equal(found, single)


def computed_row(rows, x, y):
    out = np.zeros((1, 6))
    assert rows([x[None], y[None]], [out]) == -1
    return out


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
