"""Every kind of argument that is, or pretends to be, an array; for call_fuzz.py."""

from __future__ import annotations

import array
import pickle
import tempfile
import threading

import numpy as np

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
