"""Same input, same bits: whatever the threads, the batch, the process, the hash seed, the cache.

P19 and so on are the numbers of the properties in the list of reliability properties; what is
promised bit for bit is listed in docs/bits.md.
"""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import linkwork as lw
from fresh_python import python
from linkwork.compile.target import LEVELS
from portable_kernels import level, within_few_ulp_of_the_scale
from seeds import rng

CHUNK = 8192  # rows, about as many as go to native code at once
ROBOTS = (("ur5e", "tool0"), ("mobile_arm", "tool0"))


# P19: threads


def in_four_threads(work):
    """The results of four threads that start at once and are switched every ten microseconds."""
    results, errors, barrier = [None] * 4, [], threading.Barrier(4)

    def body(k):
        try:
            barrier.wait(60)
            results[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        sys.setswitchinterval(interval)
    assert not any(thread.is_alive() for thread in threads)
    assert not errors
    return results


def test_p19_four_threads_share_one_function_and_one_robot():
    r = lw.load("ur5e")
    q = r.random(240, seed=2)
    expected = [r.fk(row).tobytes() for row in q]
    function, out = r.function("fk"), [np.empty((4, 4)) for _ in range(4)]

    def work(k):
        wrong = 0
        for j in np.roll(np.arange(240), 60 * k):
            found = (function(q[j]), function(q[j], out=out[k]), r.fk(q[j]), r.fk(q[j : j + 1])[0])
            wrong += sum(T.tobytes() != expected[j] for T in found)
        return wrong

    assert in_four_threads(work) == [0] * 4


def test_p19_four_threads_compile_different_things_of_one_robot_at_once():
    q = lw.load("ur5e").random(7, seed=3)
    calls = (
        lambda r: r.fk_all(q), lambda r: r.jacobian(q, "tool0", reference="local"),
        lambda r: r.com(q), lambda r: r.ik(r.fk(q)).q,
    )  # fmt: skip
    expected = [call(lw.load("ur5e")).tobytes() for call in calls]
    for turn in range(3):
        shared = lw.load("ur5e")
        found = in_four_threads(lambda k, r=shared, t=turn: calls[(k + t) % 4](r).tobytes())
        assert found == [expected[(k + turn) % 4] for k in range(4)]


# P20: batches


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["fk", "jacobian", "com", "fk_all"])
def test_p20_rows_do_not_depend_on_threads_chunks_or_neighbours(name):
    r = lw.load("mobile_arm")
    function = r.function(name, "tool0") if name in ("fk", "jacobian") else r.function(name)
    q = r.random(3 * CHUNK + 5, seed=4)
    expected = function(q, threads=1)
    for threads in (2, 3, 4):
        assert function(q, threads=threads).tobytes() == expected.tobytes()
    g = rng(f"p20 {name}")
    for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, CHUNK - 1, CHUNK, CHUNK + 1):
        start = int(g.integers(0, len(q) - n))
        assert function(q[start : start + n]).tobytes() == expected[start : start + n].tobytes(), n
    some = g.permutation(len(q))[:999]
    assert function(q[some]).tobytes() == expected[some].tobytes()
    assert function(q[::-7]).tobytes() == expected[::-7].tobytes()
    assert function(q[:60].reshape(3, 4, 5, -1)).tobytes() == expected[:60].tobytes()
    for k in some[:50]:
        assert function(q[k]).tobytes() == expected[k].tobytes()
    repeated = function(np.broadcast_to(q[some[0]], (100, r.n_q)))
    assert repeated.tobytes() == expected[some[0]].tobytes() * 100


def test_p20_bad_rows_leave_the_bits_of_the_good_ones():
    r = lw.load("ur5e")
    q = r.random(CHUNK + 100, seed=5)
    expected = r.fk(q)
    bad = rng("bad rows").permutation(len(q))[:40]
    spoilt = q.copy()
    spoilt[bad, 2] = np.nan
    found = r.function("fk")(spoilt, on_bad="nan")
    good = np.setdiff1d(np.arange(len(q)), bad)
    assert found[good].tobytes() == expected[good].tobytes()
    assert np.isnan(found[bad]).all()


def test_p20_inverse_kinematics_does_not_depend_on_the_company():
    r = lw.load("ur5e")
    T = r.fk(r.random(3000, seed=6))
    expected = r.ik(T, threads=1)
    for threads in (2, 3, 4):
        assert r.ik(T, threads=threads).q.tobytes() == expected.q.tobytes()
    for rows in (slice(7, 8), slice(5, 18), slice(None, None, -100), slice(1023, 1026)):
        assert r.ik(T[rows]).q.tobytes() == expected.q[rows].tobytes()
    assert r.ik(T[1024]).q.tobytes() == expected.q[1024].tobytes()
    for _ in range(3):  # a call remembers nothing of the one before
        assert r.ik(T[:40]).q.tobytes() == expected.q[:40].tobytes()


# P31: processes, hash seeds, instruction sets

FRESH = {"LINKWORK_CACHE": "off"}
BITS = f"""
    import hashlib, linkwork as lw
    results = hashlib.sha256()
    for name, frame in {ROBOTS!r}:
        r = lw.load(name)
        q = r.random(30, seed=1)
        T = r.fk(q, frame)
        for x in (T, r.jacobian(q[0], frame), r.com(q), r.ik(T[:5], frame).q):
            results.update(x.tobytes())
        results.update(r.mechanism.digest.encode())
    print(results.hexdigest())
"""
CODE = """
    import hashlib, linkwork as lw
    from portable_kernels import emitted
    from linkwork.compile.machine_code import object_code
    from linkwork.compile.target import host
    code = hashlib.sha256(lw.load("ur5e").fk([0.1] * 6).tobytes())
    for name in ("fk_all", "search"):
        module, _ = emitted(name, host())
        code.update(str(module).encode())
        code.update(object_code(module, host(), simplify=True))
    print(code.hexdigest())
"""


@pytest.mark.slow
def test_p31_the_same_bits_and_the_same_object_code_for_any_hash_seed():
    found = {python(CODE, PYTHONHASHSEED=seed, **FRESH) for seed in ("0", "1", "4294967295")}
    assert len(found) == 1
    found = {python(BITS, PYTHONHASHSEED="0", **FRESH)}
    found |= {python(BITS, PYTHONHASHSEED="1", LINKWORK_THREADS="3", OMP_NUM_THREADS="2", **FRESH)}
    assert len(found) == 1


@pytest.mark.slow
def test_instruction_sets_agree_within_four_ulp_of_the_scale(tmp_path):
    show = """
        import sys, numpy as np, linkwork as lw
        r = lw.load("mobile_arm")
        q = r.random(500, seed=1)
        T, J = r.fk(q, "tool0", threads=2), r.jacobian(q, "tool0")
        one = np.array([r.fk(row, "tool0") for row in q[:20]])
        assert one.tobytes() == T[:20].tobytes()
        np.save(sys.argv[1], np.hstack([T.reshape(500, -1), J.reshape(500, -1)]))
    """
    found = {}
    for name in LEVELS:
        level(name)
        place = tmp_path / f"{name}.npy"
        python(show.replace("sys.argv[1]", repr(str(place))), LINKWORK_TARGET=name, **FRESH)
        found[name] = np.load(place)
    for name in LEVELS:
        assert within_few_ulp_of_the_scale(found[name], found["x86-64-v3"]), name
    assert found["x86-64-v4"].tobytes() == found["x86-64-v3"].tobytes()
    assert found["x86-64-v2"].tobytes() != found["x86-64-v3"].tobytes(), "no target was chosen"
