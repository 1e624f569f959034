"""Promises across processes: fork, spawn, pickle, memory.

P21 and so on are the numbers of the properties in the list of reliability properties.
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from fork_scenarios import answers
from fresh_python import python
from linkwork.compile.numpy_abi import array_abi
from linkwork.mechanism.serialize import from_json, to_json
from linkwork.models import path
from robots import chain_urdf

HAS_FORK = hasattr(os, "fork")
forks = pytest.mark.skipif(not HAS_FORK, reason="this system has no fork")


# P21: fork and spawn


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "method", [pytest.param("fork", marks=forks), "spawn", pytest.param("forkserver", marks=forks)]
)
def test_p21_worker_processes_give_the_same_bits(method, tmp_path):
    # In a process of its own: the workers are forked from one without the test runner's threads.
    code = f"""
        import multiprocessing, numpy as np, linkwork as lw
        def poses(r_and_q):
            r, q = r_and_q
            return r.fk(q).tobytes() + r.ik(r.fk(q[:3]), threads=2).q.tobytes()
        if __name__ == "__main__":
            r = lw.load("ur5e")
            q = r.random(20_000, seed=3)
            r.fk(q, threads=3)
            expected = poses((r, q))
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                found = pool.map_async(poses, [(r, q)] * 4).get(60)
            print(all(f == expected for f in found))
    """
    script = tmp_path / "script.py"  # spawned workers import the file
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    assert python(script) == "True"


SCENARIOS = Path(__file__).parents[1] / "fork_scenarios.py"


@pytest.mark.sweep(1)
@forks
@pytest.mark.parametrize(
    "scenario",
    [
        "a_child_of_fork_computes_what_its_parent_does",
        "a_fork_while_another_thread_compiles_does_not_hang_the_child",
        "forks_at_any_moment_of_compiling",
        "a_fork_while_a_compilation_is_told_of_waits_for_it",
    ],
)
def test_p21_forks(scenario):
    code = f"""
        import runpy, sys
        sys.argv = ['', {scenario!r}]
        runpy.run_path({str(SCENARIOS)!r}, run_name='__main__')
    """
    # A line about what takes long to compile is told by a thread.
    assert python(code, LINKWORK_PROGRESS="1") == "fine"


@pytest.mark.slow
def test_a_process_ends_by_itself_after_threaded_work():
    code = (
        "import linkwork as lw; r = lw.load('ur5e');"
        "r.fk(r.random(50_000, seed=1), threads=4); f = r.function('fk', 'tool0'); print('end')"
    )
    assert python(code) == "end"


# P22: pickle, deepcopy, JSON


@pytest.mark.sweep(1, by="name")
@pytest.mark.parametrize("name", ["ur5e", "mobile_arm", "quadruped"])
@pytest.mark.parametrize("used", [False, True])
def test_p22_robots_travel(name, used):
    r = lw.load(name, base="floating")
    frame = r.frame_names[-1]
    q = r.random(5, seed=1)
    expected = r.fk(q, frame).tobytes()
    if used:  # compiled functions are there, and must not be in the way
        r.function("jacobian", frame)(q[0]), r.ik(r.fk(q, frame), frame)
    for other in (copy.copy(r), copy.deepcopy(r)):
        assert other.mechanism.digest == r.mechanism.digest
        assert other.fk(q, frame).tobytes() == expected
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(r, protocol))
        assert other.mechanism == r.mechanism
        assert other.fk(q, frame).tobytes() == expected
    m = from_json(to_json(r.mechanism))
    assert m == r.mechanism
    assert lw.Robot(m).fk(q, frame).tobytes() == expected
    for change in (
        lambda: r.with_locked(r.joint_names[1]),
        lambda: r.with_frame("x", frame, np.eye(4)),
    ):
        assert pickle.loads(pickle.dumps(change())).mechanism == change().mechanism


def test_p22_depth_does_not_count():
    r = lw.load(chain_urdf(1500))
    for other in (
        copy.deepcopy(r),
        pickle.loads(pickle.dumps(r)),
        lw.Robot(from_json(to_json(r.mechanism))),
    ):
        assert other.mechanism == r.mechanism


@pytest.mark.slow
def test_p22_a_pickle_of_another_process_is_the_same_robot(tmp_path):
    r = lw.load("ur5e")
    place = tmp_path / "robot.pickle"
    code = (
        "import pickle, linkwork as lw; r = lw.load('ur5e'); r.ik(r.fk([0] * 6));"
        f"open({str(place)!r}, 'wb').write(pickle.dumps(r)); print(r.mechanism.digest)"
    )
    assert python(code) == r.mechanism.digest
    other = pickle.loads(place.read_bytes())
    assert other.mechanism == r.mechanism
    assert answers(other) == answers(r)


def test_p22_results_of_inverse_kinematics_travel():
    r = lw.load("planar_3r")
    T = r.fk(r.random(5, seed=1))
    T[2, 0, 3] += 50.0
    result = r.ik(T, tries=2)
    for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert other.q.tobytes() == result.q.tobytes()
        assert other.success.tolist() == result.success.tolist()
        assert other.reason == result.reason


# P23: memory


@pytest.mark.slow
def test_p23_loading_keeps_no_memory():
    text = path("ur5e").read_text(encoding="utf-8")
    for _ in range(20):
        lw.load(text)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            lw.load(text)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (after - before) / 200 <= 1000


RESIDENT = """
    import gc, sys
    import linkwork as lw
    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_p23_loading_keeps_no_resident_memory():
    code = (
        RESIDENT
        + """
    from linkwork.models import path
    text = path("ur5e").read_text(encoding="utf-8")
    for _ in range(200): lw.load(text)
    before = resident()
    for _ in range(400): lw.load(text)
    print((resident() - before) / 400)
    """
    )
    assert float(python(code)) <= 1000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_compiled_robots_give_their_memory_back():
    # Tracing and compiling leave some 10 kB, code from the cache hardly anything.
    code = (
        RESIDENT
        + """
    def use():
        r = lw.load("planar_3r")
        r.function("fk")(r.neutral()); r.jacobian(r.random(9, seed=1))
    for _ in range(30): use()  # the heap takes its size at first
    before = resident()
    for _ in range(40): use()
    print((resident() - before) / 40)
    """
    )
    assert float(python(code)) <= 25_000


@pytest.mark.slow
@pytest.mark.skipif(array_abi() is None, reason="there is no fast call on this Python")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_the_fast_call_keeps_no_references_and_no_memory():
    code = (
        RESIDENT
        + """
    r = lw.load("ur5e")
    q, v, out = r.random(seed=1), r.random(seed=2), r.fk(r.neutral())
    fk, step = r.function("fk"), r.function("integrate")
    bad = q.copy(); bad[3] = float("nan")
    def work(n):
        for _ in range(n):
            fk(q); step(q, v)
        for k in range(n // 10):
            try: fk(bad)  # a result that is made and thrown away
            except lw.InputError: pass
            if k % 10 == 0:
                fk(q, out=out); r.fk(q); fk(q.tolist())
                for wrong in (None, q[:5]):
                    try: fk(wrong)
                    except lw.InputError: pass
    # not of the float64 dtype: NumPy 2.4's own np.empty counts one up on every call
    count = lambda: [sys.getrefcount(x) for x in (q, v, bad, out, fk, step, r, fk.__self__[0])]
    work(20_000)
    first, before = count(), resident()
    work(200_000)
    second, after = count(), resident()
    print(max(abs(a - b) for a, b in zip(first, second)), after - before)
    """
    )
    difference, growth = map(int, python(code).split())
    assert difference == 0
    assert growth < 2_000_000
