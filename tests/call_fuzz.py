"""A process that throws every kind of argument at compiled functions; test_call_fuzz.py starts it.

``python call_fuzz.py SECONDS SEED [general]``: with ``general`` the layout is declared unknown, so
that plain Python does all the work. Prints what it did; any wrong answer or count ends it.
"""

from __future__ import annotations

import array
import copy
import gc
import itertools
import pickle
import sys
import tempfile
import threading
import time

import numpy as np

from linkwork.compile import numpy_abi

if "general" in sys.argv[3:]:
    numpy_abi.array_abi = lambda: None  # before anything else takes it from there

import linkwork as lw

# ----------------------------------------------- every kind of argument that is, or plays, an array

ROUGH = (np.float32, np.float16, np.longdouble, np.int8, np.int64, np.uint64, bool, complex, object)
OTHER = (np.complex64, "U3", "S3", "M8[s]", "m8[s]", "V8", [("a", float), ("b", int)], ">f8", "<f8")
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


class Sub(np.ndarray):
    """A subclass."""


class Finalized(np.ndarray):
    """A subclass that runs code of its own when a view is made."""

    def __array_finalize__(self, other):
        self.seen = other


class Evil:
    """An object that does something else while it is converted."""

    call = threading.local()  # its `victims` are the arguments of this thread's call

    def __init__(self, deed, value):
        self.deed, self.value = deed, value

    def __array__(self, dtype=None, copy=None):
        if self.deed == "raise":
            raise RuntimeError("no array today")
        if self.deed == "exit":
            raise MemoryError
        if self.deed == "self":
            return self
        if self.deed == "text":
            return "text"
        if self.deed == "shape":
            return np.zeros((*self.value.shape, 2))
        victims, self.call.victims = self.call.victims, []
        for victim in victims:
            try:
                self._harm(victim)
            except (ValueError, TypeError, AttributeError, RuntimeError):
                pass
        return np.array(self.value)

    def _harm(self, victim):
        if self.deed == "resize":
            victim.resize(0)
        elif self.deed == "reshape":
            victim.shape = (-1, 1)
        elif self.deed == "swap":
            victim.shape = victim.shape[::-1]
        elif self.deed == "dtype":
            victim.dtype = np.float32
        elif self.deed == "freeze":
            victim.flags.writeable = False
        elif self.deed == "nan":
            victim[...] = np.nan


DEEDS = (
    "raise", "exit", "self", "text", "shape", "resize", "reshape", "swap", "dtype", "freeze",
    "nan", "none",
)  # fmt: skip


class Sequence:
    """A sequence that breaks off, or lies about its length."""

    def __init__(self, length, last):
        self.length, self.last = length, last

    def __len__(self):
        return self.length

    def __getitem__(self, k):
        if k >= self.last:
            raise IndexError if self.last % 2 else ZeroDivisionError
        return float(k)


class Interface:
    """The older protocol, over memory that is really there."""

    def __init__(self, value):
        self.__array_interface__ = value.__array_interface__
        self.value = value


def good(g, shape):
    """What the fast way takes."""
    return g.normal(size=shape)


def layout(g, shape):
    """Float64 in every order of memory."""
    a = good(g, shape)
    kind = g.integers(10)
    if kind == 0:
        wide = np.zeros((*shape[:-1], 2 * shape[-1]))
        wide[..., ::2] = a
        return wide[..., ::2]
    if kind == 1:
        return a[..., ::-1]
    if kind == 2:
        return np.broadcast_to(a[..., :1], shape)
    if kind == 3:
        return np.asfortranarray(a)
    if kind == 4:
        return np.frombuffer(b"x" + a.tobytes(), np.float64, a.size, 1).reshape(shape)
    if kind == 5:
        a.flags.writeable = False
        return a
    if kind == 6:
        return pickle.loads(pickle.dumps(a))
    if kind == 7:
        return a.astype(np.dtype(float, metadata={"unit": "rad"}))
    if kind == 8:
        return a[None][:, ...][0] if a.ndim else a
    b = np.zeros(a.size + 3)
    b.resize(shape, refcheck=False)
    return b


def other_type(g, shape):
    """Other types of elements."""
    kinds = (*ROUGH, *OTHER)
    kind = kinds[g.integers(len(kinds))]
    try:
        return good(g, shape).astype(kind)
    except (TypeError, ValueError):
        return np.zeros(shape, kind)


def subclass(g, shape):
    """Arrays of other classes."""
    a, kind = good(g, shape), g.integers(7)
    if kind == 0:
        return a.view(Sub)
    if kind == 1:
        return a.view(Finalized)
    if kind == 2:
        return np.ma.masked_array(a, mask=g.random(shape) < 0.5 * g.integers(2))
    if kind == 3:
        return np.asmatrix(a) if a.ndim <= 2 else a.view(Sub)
    if kind == 4:
        return np.rec.array(a)
    if kind == 5:
        with tempfile.TemporaryFile() as file:
            mapped = np.memmap(file, float, "w+", shape=shape or (1,))
        mapped[...] = a
        return mapped
    return np.char.array(a.astype("U5")) if a.size else a.view(Sub)


def size(g, length, lead):
    """Sizes and numbers of axes that do not fit, or are next to it."""
    kind = g.integers(9)
    shapes = [
        (*lead, length + 1), (*lead, max(length - 1, 0)), (0,), (), (0, length), (3, 0, length),
        (1,) * (MOST_AXES - 1) + (length,), (length, *lead),
        (1,) * int(g.integers(1, 20)) + (length,),
    ]  # fmt: skip
    return good(g, shapes[kind])


def values(g, shape):
    """Numbers that are none, or too large."""
    a = good(g, shape)
    if a.size:
        a.flat[g.integers(a.size)] = (np.nan, np.inf, -np.inf, 1e308, -0.0, 5e-324)[g.integers(6)]
    return a


def no_array(g, length, shape):
    """What is no array at all."""
    a = good(g, shape)
    things = [
        a.tolist(), tuple(a.tolist()) if a.ndim else 3.0, None, "text", b"bytes", 3, 3.5, 1j, {},
        set(), object(), range(length), [[1.0], [2.0, 3.0]], [None] * length, ["a"] * length,
        iter([1.0] * length), memoryview(np.ascontiguousarray(a)), array.array("d", [0.5] * length),
        Sequence(length, length), Sequence(length, 2), Sequence(length, 3), Interface(a),
        np.float64(3), np.ndarray, len, [np.zeros(2), np.zeros(3)], bytearray(8 * length), True,
        [10**400] * length, [float("nan")] * length, type, Ellipsis, slice(3), np.nan,
    ]  # fmt: skip
    k = int(g.integers(len(things)))
    return things[k], k in (15, 18, 19, 20)  # these give something else the second time


def argument(g, length, lead):
    """An argument, and whether a second call with it may come out otherwise."""
    shape = (*lead, length)
    kind = g.integers(8)
    if kind == 0:
        return good(g, shape), False
    if kind == 1:
        return layout(g, shape), False
    if kind == 2:
        return other_type(g, shape), False
    if kind == 3:
        return subclass(g, shape), False
    if kind == 4:
        return size(g, length, lead), False
    if kind == 5:
        return values(g, shape), False
    if kind == 6:
        return no_array(g, length, shape)
    return Evil(DEEDS[g.integers(len(DEEDS))], good(g, shape)), True


def keywords(g, subject, lead, args):
    """Keywords: none, right ones, wrong ones."""
    named = {}
    if g.random() < 0.5:
        return named
    if g.random() < 0.6:
        named["out"] = out(g, subject, lead, args)
    if subject.frames and g.random() < 0.4:
        named["frame"] = subject.frames[g.integers(len(subject.frames))]
    if subject.frames and g.random() < 0.2:
        named["reference"] = ("local", "world", "world-aligned", "", 3)[g.integers(5)]
    if g.random() < 0.1:
        named["threads"] = (1, 2, None, 0, "x")[g.integers(5)]
    if g.random() < 0.1:
        named["on_bad"] = ("raise", "nan", 3)[g.integers(3)]
    if g.random() < 0.05:
        named["nothing"] = 1
    if g.random() < 0.2:
        named = {"".join(list(key)): value for key, value in named.items()}
    return named


def out(g, subject, lead, args):
    """A place for the result: the right one, a wrong one, or one of the arguments."""
    try:
        shape = np.shape(subject.plain(*[good(g, (*lead, n)) for n in subject.lengths]))
    except Exception:
        shape = (*lead, 4, 4)
    kind = g.integers(8)
    if kind < 3:
        return np.zeros(shape)
    if kind == 3:
        return layout(g, shape if shape else (1,))
    if kind == 4:
        return other_type(g, shape)
    if kind == 5:
        memory = np.zeros(int(np.prod(shape)) + 20)
        for k, a in enumerate(args):
            if type(a) is np.ndarray and a.dtype == float and a.ndim and a.size <= 20:
                memory[: a.size] = a.ravel()
                args[k] = memory[: a.size].reshape(a.shape)
                break
        start = int(g.integers(0, 21))
        return memory[start : start + int(np.prod(shape))].reshape(shape)
    if kind == 6:
        return np.zeros((*shape, 1))
    return (None, "out", 3, [0.0])[g.integers(4)]


# ------------------------------------------------------------------------------------ the calls

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
