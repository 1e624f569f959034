"""Kernels: the same function for one configuration and for any number, and clear refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.compile.cache import Cache, Entry
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import CompiledRows, build
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import host
from linkwork.errors import InputError, ShapeError
from seeds import rng
from traced_functions import mixed, reference, traced

CHUNK = 8192  # rows, about as many as go to native code at once


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


def test_every_leading_shape_and_broadcasting(compiled):
    x, y = arrays(24)
    flat = compiled(x, y)
    assert np.array_equal(
        compiled(x.reshape(2, 3, 4, 3), y.reshape(2, 3, 4, 2)).reshape(flat.shape), flat
    )
    assert np.array_equal(compiled(x, y[0]), compiled(x, np.repeat(y[:1], 24, 0)))
    assert compiled(x[:0], y[:0]).shape == (0, 2, 3)
    assert compiled(x[0], y[0]).shape == (2, 3)
    with pytest.raises(ShapeError, match="leading shapes"):
        compiled(x[:3], y[:2])


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_width_gives_the_same_bits(compiled, width):
    x, y = arrays(101)
    expected = np.array([compiled(a, b) for a, b in zip(x, y, strict=True)])
    other = build(compiled.recipe.traced(), compiler=Compiler(replace(host(), width=width)))
    assert other._rows.width == width
    assert np.array_equal(other(x, y), expected)


def test_every_number_of_threads_gives_the_same_bits(compiled):
    x, y = arrays(3 * CHUNK + 5)
    serial = compiled(x, y, threads=1)
    for threads in (2, 4):
        assert np.array_equal(compiled(x, y, threads=threads), serial)


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


def test_row_indices_have_the_callers_shape(compiled):
    x, y = arrays(24)
    x[15, 0] = np.nan
    with pytest.raises(InputError, match=r"in row \[2, 3\]"):
        compiled(x.reshape(4, 6, 3), y.reshape(4, 6, 2))


def test_a_result_that_is_not_finite_is_refused(compiled):
    x, y = arrays(9)
    x[4, 2], y[4, 0] = 1e200, 1e200
    with pytest.raises(InputError, match=r"row \[4\] has no finite result"):
        compiled(x, y)


def test_bad_rows_can_be_marked_and_leave_the_others_alone(compiled):
    x, y = arrays(2 * CHUNK + 77)
    good = compiled(x, y)
    rows = [0, 9, 4095, CHUNK, 2 * CHUNK + 76]
    x[rows, 1] = np.nan
    marked = compiled(x, y, on_bad="nan", threads=2)
    assert np.isnan(marked[rows]).all()
    assert np.array_equal(np.delete(marked, rows, 0), np.delete(good, rows, 0))
    with pytest.raises(InputError, match="on_bad"):
        compiled(x, y, on_bad="ignore")


def test_out_is_written_and_returned(compiled):
    x, y = arrays(20)
    expected = compiled(x, y)
    out = np.full((20, 2, 3), 7.0)
    assert compiled(x, y, out=out) is out
    assert np.array_equal(out, expected)
    strided = np.zeros((40, 2, 3))[::2]
    assert np.array_equal(compiled(x, y, out=strided), expected)
    for wrong in (np.zeros((19, 2, 3)), np.zeros((20, 2, 3), np.float32), [[1.0]]):
        with pytest.raises(ShapeError, match="out must be"):
            compiled(x, y, out=wrong)
    frozen = np.zeros((20, 2, 3))
    frozen.flags.writeable = False
    with pytest.raises(InputError, match="read-only"):
        compiled(x, y, out=frozen)
    shared = np.zeros(200)
    with pytest.raises(InputError, match="shares memory"):
        compiled(shared[:60].reshape(20, 3), y, out=shared[40:160].reshape(20, 2, 3))


def test_inputs_of_other_kinds_are_converted_or_refused(compiled):
    x, y = arrays(6)
    expected = compiled(x, y)
    for same in (
        np.asfortranarray(x), x.astype(">f8"), np.repeat(x, 2, 0)[::2], x.tolist(),
    ):  # fmt: skip
        assert np.array_equal(compiled(same, y), expected)
    assert compiled(x.astype(np.float32), y).shape == expected.shape
    assert compiled([1, 2, 3], [1, 2]).shape == (2, 3)
    for wrong in (x.astype(complex), np.array(["a", "b", "c"]), None, "abc", [[1, 2, "x"]]):
        with pytest.raises(InputError, match="x must"):
            compiled(wrong, y)
    with pytest.raises(ShapeError, match=r"\(\.\.\., 3\)"):
        compiled(x[:, :2], y)
    with pytest.raises(ShapeError, match="takes 2 arrays"):
        compiled(x)


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
