"""The pool of threads: order, errors, forks."""

from __future__ import annotations

import os
import threading
import time

import pytest

from fresh_python import python
from linkwork.compile.threads import chunk_rows, in_parallel, row_cost_ns, threads_for


@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_come_in_the_order_of_the_items(count):
    assert in_parallel(lambda k: k * k, range(100), count) == [k * k for k in range(100)]
    assert in_parallel(lambda k: k, [], count) == []


def test_it_runs_on_several_threads_and_one_thread_is_the_callers():
    barrier = threading.Barrier(2, timeout=20)
    assert len(in_parallel(lambda _: barrier.wait(), range(2), 2)) == 2
    names = set(in_parallel(lambda _: threading.current_thread().name, range(5), 1))
    assert names == {threading.current_thread().name}


@pytest.mark.parametrize("count", [1, 3])
def test_an_error_reaches_the_caller(count):
    def work(k):
        if k == 7:
            raise ValueError("seven")
        return k

    with pytest.raises(ValueError, match="seven"):
        in_parallel(work, range(20), count)
    assert in_parallel(lambda k: k, range(3), count) == [0, 1, 2]


def test_after_an_error_nothing_is_still_running():
    started, running = threading.Event(), []

    def work(k):
        if k == 0:
            started.wait(20)
            raise KeyboardInterrupt
        running.append(k)
        started.set()
        time.sleep(0.2)
        running.remove(k)

    with pytest.raises(KeyboardInterrupt):
        in_parallel(work, range(2), 2)
    assert running == []


def test_the_error_of_the_first_item_is_raised_whichever_comes_first():
    late = threading.Event()

    def work(k):
        if k == 0:
            late.wait(20)
            raise ValueError("first")
        late.set()
        raise ValueError("second")

    for _ in range(20):
        late.clear()
        with pytest.raises(ValueError, match="first"):
            in_parallel(work, range(6), 2)


def test_after_an_error_no_further_item_is_begun():
    begun = []

    def work(k):
        begun.append(k)
        raise ValueError

    with pytest.raises(ValueError):
        in_parallel(work, range(1000), 2)
    assert len(begun) <= 3


def test_callers_on_several_threads_do_not_wait_for_each_other():
    def outer(k):
        return sum(in_parallel(lambda j: j, range(10), 3)) + k

    assert in_parallel(outer, range(8), 3) == [45 + k for k in range(8)]


def test_small_batches_take_one_thread_and_long_ones_all():
    assert threads_for(0, 10.0, 8) == 1
    assert threads_for(1000, 10.0, 8) == 1
    assert threads_for(39_999, 10.0, 8) == 1
    assert threads_for(40_000, 10.0, 8) == 2
    assert threads_for(10**6, 10.0, 8) == 8
    assert threads_for(1000, 1000.0, 2) == 2
    assert threads_for(10**9, 10.0, 1) == 1


@pytest.mark.parametrize("cost", [0.0, 0.1, 7.0, 60.0, 700.0, 1e5, 1e9])
def test_chunks_are_whole_tiles_of_some_time(cost):
    rows = chunk_rows(cost, 2)
    assert rows % 64 == 0
    assert 64 <= rows <= 65_536
    if 64 < rows < 65_536:
        assert 60_000 < rows * cost <= 125_000


def test_one_thread_alone_has_longer_chunks():
    assert chunk_rows(7.0, 1) == 65_536
    assert chunk_rows(100.0, 1) == 16 * chunk_rows(100.0, 2) + 16 * 32
    assert chunk_rows(1e9, 1) == 64


def test_costs_grow_with_what_is_done():
    assert row_cost_ns(200, 16, 8) > row_cost_ns(100, 16, 8)
    assert row_cost_ns(100, 400, 8) > row_cost_ns(100, 16, 8)
    assert row_cost_ns(100, 16, 4) > row_cost_ns(100, 16, 8)


FORK = """
import os
from linkwork.compile import threads
from linkwork.compile.threads import in_parallel
assert in_parallel(lambda k: k, range(8), 2) == list(range(8))
child = os.fork()
if child == 0:
    fine = not threads._pools and in_parallel(lambda k: -k, range(8), 2)[3] == -3
    os._exit(0 if fine else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_fork_makes_its_own_pool():
    python(FORK)
