"""Promises across processes: fork, spawn, pickle, hash seeds, locales, memory, wild arguments.

P21 and so on are the numbers of the properties in the list of reliability properties.
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from fork_scenarios import answers
from linkwork.compile.numpy_abi import array_abi
from linkwork.mechanism.serialize import from_json, to_json
from linkwork.models import path
from robots import chain_urdf

SOURCE = str(Path(lw.__file__).parents[1])
HAS_FORK = hasattr(os, "fork")
forks = pytest.mark.skipif(not HAS_FORK, reason="this system has no fork")


def python(code: str | Path, **environment: str) -> str:
    """What a fresh interpreter prints of a text or a file; its errors are shown where it fails."""
    how = [str(code)] if isinstance(code, Path) else ["-c", textwrap.dedent(code)]
    where = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", *how],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": where, **environment},
    )  # fmt: skip
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-4000:]}"
    return done.stdout.strip()


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


def test_a_process_ends_by_itself_after_threaded_work():
    code = (
        "import linkwork as lw; r = lw.load('ur5e');"
        "r.fk(r.random(50_000, seed=1), threads=4); f = r.function('fk', 'tool0'); print('end')"
    )
    assert python(code) == "end"


# P22: pickle, deepcopy, JSON


@pytest.mark.parametrize("name", ["ur5e", "mobile_arm", "quadruped"])
def test_p22_robots_travel(name):
    r = lw.load(name, base="floating")
    frame = r.frame_names[-1]
    q = r.random(5, seed=1)
    expected = r.fk(q, frame).tobytes()
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


# P30 and P31: locales and hash seeds


@pytest.mark.slow
def test_p31_the_same_bits_for_any_hash_seed():
    code = (
        "import hashlib, linkwork as lw;"
        "from linkwork.models import path;"
        "h = hashlib.sha256();"
        "robots = [(lw.load(n), f) for n, f in (('ur5e', 'tool0'), ('mobile_arm', 'tool0'))];"
        "[h.update(x.tobytes()) for r, f in robots for q in [r.random(30, seed=1)]"
        " for x in (r.fk_all(q), r.jacobian(q, f), r.com(q), r.ik(r.fk(q, f), f).q)];"
        "print(h.hexdigest(), *(r.mechanism.digest for r, _ in robots))"
    )
    found = {python(code, PYTHONHASHSEED=seed) for seed in ("0", "1", "4294967295")}
    assert len(found) == 1
    found |= {python(code, PYTHONHASHSEED="7", LINKWORK_THREADS="3", OMP_NUM_THREADS="2")}
    assert len(found) == 1


def test_p30_locales_do_not_change_numbers():
    # Where no such locale is installed, at least a broken setting must not matter.
    code = """
        import locale, linkwork as lw
        for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", ""):
            try:
                locale.setlocale(locale.LC_ALL, name)
                break
            except locale.Error:
                pass
        r = lw.load("ur5e")
        T = lw.load('<robot name="x"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
                    '<parent link="a"/><child link="b"/><origin xyz="0.5 1.25 -2.5e-1"/></joint>'
                    '</robot>').fk([])
        print(r.mechanism.digest, r.fk([0.1] * 6).tobytes().hex(), T[:3, 3].tolist())
    """
    places = [{}, {"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}]
    found = {python(code, **place) for place in places}
    assert len(found) == 1
    assert found.pop().endswith("[0.5, 1.25, -0.25]")


# the fast call is given everything but what it expects

FUZZ = """if True:
    import collections, ctypes, decimal, fractions, sys, warnings
    import numpy as np
    import linkwork as lw
    warnings.simplefilter("ignore")
    r = lw.load("ur5e")
    q = r.random(seed=1)

    class Sub(np.ndarray): pass
    class Lying(np.ndarray):
        shape = (6,); dtype = np.dtype(float); ndim = 1; flags = np.zeros(6).flags
    class Raising:
        def __array__(self, *a, **k): raise lw.InputError("no array")
    class Giving:
        def __array__(self, *a, **k): return q
    class Interface:
        __array_interface__ = {"shape": (6,), "typestr": "<f8", "version": 3,
                               "data": (q.ctypes.data, False)}
    class Long(list):
        def __len__(self): return 6
    class Odd:
        def __len__(self): return 6
        def __getitem__(self, k): return [1.0] * 6 if k < 6 else {}[k]
    class Index:
        def __index__(self): return 1
    record = np.zeros(6, [("a", "f8"), ("b", "f4")]); record["a"] = q
    packed = np.zeros(6, np.dtype([("b", "u1"), ("a", "f8")])); packed["a"] = q
    locked = q.copy(); locked.flags.writeable = False
    moved = np.frombuffer(b"abc" + q.tobytes(), np.float64, 6, 3)
    named = np.dtype("f8", metadata={"x": 1})
    wide = np.zeros((6, 3)); wide[:, 1] = q
    strided = np.lib.stride_tricks.as_strided
    T = r.fk(q)
    THINGS = [
        q, q.copy(), locked, moved, q[::-1][::-1], q[::-1], wide[:, 1], np.repeat(q, 2)[::2],
        q.astype(named), q.astype(">f8"), q.view(">f8"), q.astype(np.float32),
        q.astype(np.float16), q.astype(np.longdouble),
        q.astype(int), q.astype(np.uint64), q.astype(np.int8), q.astype(bool), q.astype(complex),
        q.astype(object), q.astype("U"), q.astype("S"), q.view("M8[s]"), q.view("m8[ns]"),
        q.view("V8"), q.view(np.uint8), record, record["a"], packed, packed["a"],
        q.view(Sub), q.view(Lying), np.zeros(5).view(Lying), np.zeros(0).view(Lying),
        np.matrix(q), np.matrix(q).T, np.ma.masked_array(q), np.ma.array(q, mask=[1, 0] * 3),
        np.rec.fromarrays([q]), q[None], q[:, None], q.reshape(2, 3),
        q.reshape(1, 1, 6), np.zeros((0, 6)), np.zeros((6, 0)), np.zeros(0), np.zeros(()),
        np.float64(1), np.broadcast_to(q, (3, 6)), np.broadcast_to(1.0, (6,)),
        strided(q, (6,), (0,)), strided(q, (4, 6), (0, 8)), np.asfortranarray(np.tile(q, (3, 1))),
        np.zeros(5), np.zeros(7), np.full(6, np.nan), np.full(6, np.inf), np.full(6, 1e308),
        np.full(6, -0.0), np.full(6, 5e-324), np.arange(10.0)[2:8],
        q.tolist(), tuple(q), collections.deque(q), range(6), iter(q), (x for x in q), set(q),
        dict(enumerate(q)), [list(q)] * 3, [q] * 2, Long(), [1, [2]], [None] * 6, ["1"] * 6,
        [decimal.Decimal(1)] * 6, [fractions.Fraction(1)] * 6, [10**400] * 6, [True] * 6,
        None, True, 0, 1.5, 1j, 10**400, "", "123456", b"123456", bytearray(48), memoryview(q),
        memoryview(q.tobytes()), (ctypes.c_double * 6)(*q), object(), object, print, r, lw, T,
        Ellipsis, NotImplemented, slice(6), Raising(), Giving(), Interface(), Index(),
        Odd(),
    ]
    fast = r.function("fk")
    general = r.kernel("fk")  # the kernel, which takes what the fast call does not
    family = (lw.LinkworkError, TypeError, ValueError)

    def outcome(call, *a, **k):
        try:
            result = call(*a, **k)
        except family as error:
            return type(error).__name__, str(error)
        assert type(result) is np.ndarray and result.dtype == np.float64, type(result)
        return result.shape, result.tobytes()

    for number, thing in enumerate(THINGS):
        found = outcome(fast, thing)
        if not hasattr(thing, "__next__"):  # used up by one call
            expected = outcome(general, thing)
            assert found == expected, (number, thing, found, expected)
        if isinstance(found[0], str):
            assert found[0] in ("InputError", "ShapeError"), (number, thing, found)
        for arguments in ((thing, thing), (q, thing), (thing,) * 9):
            assert isinstance(outcome(fast, *arguments)[0], str), (number, thing)
        for keywords in ({"out": thing}, {"threads": thing}, {"on_bad": thing}, {"q": thing}):
            outcome(fast, q, **keywords)
            assert outcome(fast, q) == outcome(general, q), (number, keywords)
    two, plain = r.function("integrate"), r.kernel("integrate")
    for number, thing in enumerate(THINGS):
        if hasattr(thing, "__next__"):
            continue
        for arguments in ((q, thing), (thing, q), (thing, thing), (thing,), ()):
            assert outcome(two, *arguments) == outcome(plain, *arguments), (number, arguments)
    assert outcome(fast) == outcome(general)
    print(len(THINGS), "things")
"""


@pytest.mark.skipif(array_abi() is None, reason="there is no fast call on this Python")
def test_the_fast_call_survives_every_kind_of_argument():
    count, word = python(FUZZ).split()
    assert word == "things"
    assert int(count) >= 60
