"""The pool of threads: order, errors, forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from linkwork.compile.threads import in_parallel


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
    assert subprocess.run([sys.executable, "-c", FORK], timeout=60, check=False).returncode == 0
