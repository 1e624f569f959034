"""Loops that measure the core: they run, and their figures are those of a processor."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from linkwork.compile.graph import Graph
from linkwork.compile.target import host, named, with_width
from linkwork.compile.throughput import aligned, best, chains, rates, traffic_seconds
from linkwork.errors import InputError


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


@pytest.mark.parametrize("width", [1, 2, 4])
def test_every_width_is_measured(width):
    if width > host().width:
        pytest.skip("this processor has no such vectors")
    assert rates(with_width(host(), width), time.perf_counter).product > 1e7


def test_levels_have_registers_of_their_own():
    assert chains(host()) in (14, 30)
    try:
        assert chains(named("x86-64-v2")) == 14
    except InputError:
        pytest.skip("not an x86-64 processor")


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


def test_aligned_zeros():
    for count in (0, 1, 7, 100):
        a = aligned(count)
        assert a.shape == (count,)
        assert a.ctypes.data % 64 == 0 or count == 0
        assert not np.any(a)
