"""A process that throws every kind of argument at compiled functions; test_call_fuzz.py starts it.

``python call_fuzz.py SECONDS SEED [general]``: with ``general`` the layout is declared unknown, so
that plain Python does all the work. Prints what it did; any wrong answer or count ends it.
"""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import sys
import threading
import time

import numpy as np

from linkwork.compile import numpy_abi

if "general" in sys.argv[3:]:
    numpy_abi.array_abi = lambda: None  # before anything else takes it from there

import linkwork as lw
from fuzz_arguments import Evil, argument, good, keywords

HAS_ABI = numpy_abi.array_abi() is not None
MODEL = "ur5e"
FRAMES = 3  # each is compiled
REFERENCES = ("world-aligned", "local", "world")


class Subject:
    """A callable under test, and the plain Python that says what is right."""

    def __init__(self, name, call, plain, lengths, frames=()):
        self.name, self.call, self.plain = name, call, plain
        self.lengths, self.frames = lengths, frames


class Plain:
    """Methods of a robot that call its kernels themselves."""

    def __init__(self, robot):
        self.kernel = robot.kernel

    def fk(self, q, frame=None, *, out=None, threads=None, on_bad="raise"):
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return self.kernel("fk", frame)(q, **call)

    def jacobian(
        self, q, frame=None, *, reference=REFERENCES[0], out=None, threads=None, on_bad="raise"
    ):
        call = {"out": out, "threads": threads, "on_bad": on_bad}
        return self.kernel("jacobian", frame, reference=reference)(q, **call)

    for method in (fk, jacobian):  # errors name the function
        method.__qualname__ = f"RobotMethods.{method.__name__}"


def subjects(robot):
    """All that is called."""
    plain, frames = Plain(robot), robot.frame_names[-FRAMES:]
    n_q, n_v = robot.n_q, robot.n_v
    for algorithm, lengths, named in (
        ("fk", (n_q,), True), ("jacobian", (n_q,), True), ("com", (n_q,), False),
        ("integrate", (n_q, n_v), False), ("jacobian_dot_v", (n_q, n_v), True),
    ):  # fmt: skip
        frame = frames[-1] if named else None
        bound, kernel = robot.function(algorithm, frame), robot.kernel(algorithm, frame)
        yield Subject(f"function {algorithm}", bound, kernel, lengths)
    for name in ("fk", "jacobian"):
        yield Subject(f"method {name}", getattr(robot, name), getattr(plain, name), (n_q,), frames)


def outcome(call, args, named):
    """The result's bits and shape, or the error's kind and text."""
    try:
        result = call(*args, **named)
    except Exception as error:
        return type(error).__name__, str(error)
    assert type(result) is np.ndarray, type(result)
    assert result.dtype == np.float64
    if named.get("out") is not None:
        assert result is named["out"]
    return result.shape, result.tobytes()


def one_call(g, subject):
    """One random call: as the plain kernel does, where that is determined; never a crash."""
    args, wild = [], False
    lead = tuple(g.integers(1, 5, size=g.integers(0, 4)).tolist())
    usual = g.random() < 0.3
    for length in subject.lengths:
        value, is_wild = (good(g, (*lead, length)), False) if usual else argument(g, length, lead)
        args.append(value)
        wild |= is_wild
    if g.random() < 0.1:
        args = args[: g.integers(0, len(args) + 1)]
    if g.random() < 0.1:
        args += [good(g, (3,)), None, "text"][: g.integers(1, 4)]
    elif subject.frames and g.random() < 0.7:
        frame = subject.frames[g.integers(len(subject.frames))]
        odd = [None, "nothing", 3, b"x", frame.upper(), [frame], np.str_(frame)]
        choice = g.integers(25)
        args.append(odd[choice] if choice < len(odd) else "".join(list(frame)))
    named = keywords(g, subject, lead, args)
    Evil.call.victims = [a for a in args if isinstance(a, np.ndarray)]
    kept = copy.deepcopy(named["out"]) if isinstance(named.get("out"), np.ndarray) else None
    if wild:
        outcome(subject.call, args, named)
        return
    found = outcome(subject.call, args, named)
    if kept is not None and named["out"].flags.writeable:
        named["out"][...] = kept
    wanted = outcome(subject.plain, args, named)
    if found != wanted:
        given = [getattr(a, "shape", a) for a in args]
        raise AssertionError(f"{subject.name}{given}{named}: {found} is not {wanted}")


def calls(g, all_subjects, seconds):
    """Random calls for so long."""
    end, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        for subject in all_subjects:
            one_call(g, subject)
            n += 1
    return n


def resident():
    """The process's memory in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def warm_up(g, all_subjects):
    """Everything is compiled before the clock starts."""
    for subject in all_subjects:
        for lead in ((), (5,)):
            args = [good(g, (*lead, n)) for n in subject.lengths]
            for frame in subject.frames or [None]:
                named = {} if frame is None else {"frame": frame}
                for call in (subject.call, subject.plain):
                    call(*args, **named)
                    if "jacobian" in subject.name and frame is not None:
                        for reference in REFERENCES:
                            call(*args, reference=reference, **named)


def counts(g, all_subjects, times):
    """Reference counts and memory stay where they are, whatever the way that calls take."""
    for subject in all_subjects:
        arrays = [good(g, (n,)) for n in subject.lengths]
        batch = [good(g, (3, n)) for n in subject.lengths]
        bad = [np.full(n, np.nan) for n in subject.lengths]
        foreign = pickle.loads(pickle.dumps(arrays))
        names = ["".join(list(subject.frames[0]))] if subject.frames else []
        out = np.array(subject.call(*arrays, *names))
        plans = [
            (arrays, {}, times), (arrays, {"out": out}, times // 10), (foreign, {}, times // 10),
            (batch, {}, times // 10), (bad, {}, times // 1000),
            ([a.tolist() for a in arrays], {}, times // 1000),
        ]  # fmt: skip
        for native, (given, named, n) in zip((1, 1, 1, 0, 0, 0), plans, strict=True):
            args = [*given, *names]
            watched = [*args, *named.values(), subject.call, np.ndarray, out]
            if native and HAS_ABI:  # NumPy's own np.zeros may keep a count of the type of elements
                watched.append(np.dtype(float))
            repeat(subject.call, args, named, 100)
            gc.collect()
            before, memory = [sys.getrefcount(x) for x in watched], resident()
            repeat(subject.call, args, named, n)
            gc.collect()
            after, grown = [sys.getrefcount(x) for x in watched], resident() - memory
            assert before == after, (subject.name, before, after)
            assert grown < 4e6, (subject.name, grown)


def repeat(call, args, named, times):
    """The same call again and again."""
    for _ in itertools.repeat(None, times):
        try:
            call(*args, **named)
        except lw.LinkworkError:
            pass


def threads(seed, all_subjects, seconds):
    """Many threads that change places every 10 microseconds, on arrays that some of them write."""
    shared = [good(np.random.default_rng(seed), (n,)) for n in all_subjects[0].lengths]
    failures = []

    def work(k):
        g = np.random.default_rng([seed, k])
        try:
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                subject = all_subjects[g.integers(len(all_subjects))]
                one_call(g, subject)
                shared[0][...] = g.normal(size=shared[0].shape)
                if len(subject.lengths) == 1:
                    subject.call(shared[0], *subject.frames[:1])
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    running = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    sys.setswitchinterval(interval)
    if failures:
        raise failures[0]


def main(seconds, seed):
    """All of it."""
    print(f"seed {seed}, Python {sys.version.split()[0]}, NumPy {np.__version__}, {HAS_ABI=}")
    g = np.random.default_rng(seed)
    all_subjects = list(subjects(lw.load(MODEL)))
    warm_up(g, all_subjects)
    print(calls(g, all_subjects, 0.6 * seconds), "calls")
    counts(g, all_subjects, int(seconds * 1e5) if HAS_ABI else 2000)
    threads(seed, all_subjects, 0.1 * seconds)
    print("done")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
