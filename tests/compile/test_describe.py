"""Descriptions: counts by hand, bounds that are bounds, and a table that says how."""

from __future__ import annotations

import itertools
import json
import math
import time

import casadi as cs
import numpy as np
import pytest
from llvmlite import ir

import linkwork as lw
from linkwork.compile.describe import (
    Subject,
    best,
    count_instructions,
    count_operations,
    describe,
    rates,
    traffic_seconds,
)
from linkwork.compile.emit import F64
from linkwork.compile.graph import Graph, graph_of
from linkwork.compile.kernel import build
from linkwork.compile.machine_code import object_code, text_bytes
from linkwork.compile.target import host, new_module, with_width
from linkwork.compile.tracing import trace
from linkwork.errors import InputError
from seeds import rng
from traced_functions import traced


def graph(function, sizes=None, *, fuse=None):
    t = traced("f", sizes or {"x": 4}, function)
    return graph_of(t, fuse=host().fused if fuse is None else fuse)


def counts(function, width=None, sizes=None, *, fused=True):
    target = host() if width is None else with_width(host(), width)
    plain = type(target)(target.width, fused, target.cpu, target.features, target.triple)
    return count_instructions(graph(function, sizes, fuse=fused), plain)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_instructions_counted_by_hand(width):
    assert counts(lambda x: x[0] * x[1] + x[2], width) == {"fma": 1}
    assert counts(lambda x: x[0] * x[1] + x[2], width, fused=False) == {"product": 1, "sum": 1}
    assert counts(lambda x: cs.sqrt(x[0] / x[1]) - x[2], width) == {
        "division": 1, "root": 1, "sum": 1,
    }  # fmt: skip
    assert counts(lambda x: -x[0], width) == {}
    assert counts(lambda x: cs.fmax(x[0], x[1]), width) == {"other": 1}


@pytest.mark.parametrize("width", [1, 8])
def test_sine_and_cosine_of_one_angle_share_their_reduction(width):
    both = counts(lambda x: cs.vertcat(cs.sin(x[0]), cs.cos(x[0])), width)
    two = counts(lambda x: cs.vertcat(cs.sin(x[0]), cs.cos(x[1])), width)
    flops = {name: 2 * c.get("fma", 0) + c.get("product", 0) + c.get("sum", 0)
             for name, c in (("both", both), ("two", two))}  # fmt: skip
    assert 20 <= flops["both"] < flops["two"] <= 120
    assert "call" not in both  # the way for huge angles is rarely taken


def test_operations_by_kind():
    found = count_operations(
        graph(lambda x: cs.sin(x[0]) + cs.cos(x[0]) * cs.sin(x[1]) * x[2] + x[3] / x[2], fuse=False)
    )
    assert found == {"add": 2, "mul": 2, "sincos": 2, "div": 1}
    assert list(found)[-1] == "div"  # the most frequent come first


def subject(name="fk", robot="ur5e", **given):
    loaded = lw.load(robot)
    frame = loaded.frame_names[loaded.mechanism.n_link_frames - 1]
    t = trace(name, loaded.mechanism, frame=frame)
    kernel = build(t)
    graph = graph_of(t, fuse=host().fused)
    return Subject(graph, t.signature, host(), kernel, kernel.bound(), **given)


@pytest.fixture(scope="module")
def description():
    return describe(subject(compile_seconds=0.125, cached=False), clock=time.perf_counter)


def test_figures_of_a_pose(description):
    d = description
    assert (d.name, d.lanes, d.bytes_read, d.bytes_written) == ("fk", host().width, 48, 128)
    assert d.operations["sincos"] <= 6
    assert 150 < d.flops < 600
    assert d.tile_bytes == (48 + 128) * host().width
    assert d.rows == 100_000
    assert d.bound_ns == max(d.arithmetic_bound_ns, d.memory_bound_ns) > 0
    assert d.share == pytest.approx(d.bound_ns / d.batch_ns)
    assert d.gflops == pytest.approx(d.flops / d.batch_ns)
    # a bound that is beaten is no bound; the margin is for other work on the machine
    assert 0 < d.share < 2
    assert d.gflops < 2 * d.peak_gflops
    assert d.single_ns > 20


def test_it_is_a_dictionary_for_json(description):
    text = json.loads(json.dumps(description.to_dict()))
    assert text["bound_by"] == description.bound_by
    assert text["operations"] == description.operations
    assert text["compile_seconds"] == 0.125
    assert math.isclose(text["share"], description.share)


def test_it_is_a_table_that_says_how(description):
    text = str(description)
    lines = text.splitlines()
    assert lines[0].startswith("fk on ")
    for wanted in ("operations", "flops", "memory bound", "arithmetic bound", "share of the bound",
                   "single call", "compile time"):  # fmt: skip
        assert any(line.strip().startswith(wanted) for line in lines), wanted
    assert "measured" in text
    assert "0.125 s" in text
    assert "machine code" not in text  # not known, so not shown


def test_what_came_from_the_cache_says_so():
    small = subject("jacobian", compile_seconds=None, cached=True, scratch=100)
    d = describe(small, clock=time.perf_counter, rows=64)
    assert d.rows == 64
    assert "read from the cache" in str(d)
    assert "800 bytes of scratch" in str(d)


def test_rows_and_samples():
    s = subject()
    seen = []
    watched = Subject(
        s.graph, s.signature, s.target, lambda *a, **k: seen.append(a) or s.batch(*a, **k), s.single
    )
    samples = rng("samples").normal(size=(3, 6))
    describe(watched, clock=time.perf_counter, samples=[samples], rows=8)
    assert np.array_equal(seen[0][0], samples[[0, 1, 2, 0, 1, 2, 0, 1]])
    for wrong in (0, -1, 2.5, True, "many"):
        with pytest.raises(InputError, match="rows must be a whole number"):
            describe(s, clock=time.perf_counter, rows=wrong)


def test_the_bytes_of_machine_code():
    sizes = []
    for n in (1, 200):
        module = new_module("size", host())

        function = ir.Function(module, ir.FunctionType(F64, [F64]), "f")
        b = ir.IRBuilder(function.append_basic_block())
        value = function.args[0]
        for _ in range(n):
            value = b.fmul(value, function.args[0])
        b.ret(value)
        sizes.append(text_bytes(object_code(module, host(), simplify=False)))
    assert 4 <= sizes[0] < 100
    assert 700 <= sizes[1] - sizes[0] <= 3000


# --- Loops that measure the core: they run, and their figures are those of a processor ---


@pytest.fixture(scope="module")
def measured():
    return rates(host(), time.perf_counter)


def test_rates_are_those_of_a_processor(measured):
    for rate in vars(measured).values():
        assert 1e7 < rate < 1e11
    # a divider is never quicker than the adders; wide limits, since others use this machine too
    assert measured.division < 2 * measured.product
    assert measured.root < 2 * measured.product


def test_they_are_measured_once(measured):
    assert rates(host(), time.perf_counter) is measured


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("n_in", "n_out"), [(0, 3), (7, 16), (9, 0), (30, 200)])
@pytest.mark.parametrize("rows", [1, 100, 1003])
def test_traffic_grows_with_what_is_moved(n_in, n_out, rows):
    graph = Graph([], (n_in,), (n_out,), [{}])
    seconds = traffic_seconds(graph, rows, host(), time.perf_counter)
    assert 0.0 < seconds < 1.0
    moved = 8 * (n_in + n_out) * rows
    assert moved / seconds < 4e12  # bytes a second: no cache gives more


def test_the_shortest_run_counts():
    ticks = itertools.accumulate([0, 5, 1, 3, 1, 4, 1, 9])
    assert best(lambda: None, lambda: float(next(ticks)), seconds=0.0) == 3.0
    ran = []
    best(lambda: ran.append(1), time.perf_counter, seconds=0.0, least=7)
    assert len(ran) == 7


def test_a_clock_that_stands_still_ends():
    assert best(lambda: None, lambda: 0.0, seconds=1.0) == 0.0
