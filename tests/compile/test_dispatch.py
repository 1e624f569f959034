"""The built-in function that stands for a method with names."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import pickle
import pydoc
import sys
import threading
import weakref

import numpy as np
import pytest

from linkwork.compile import dispatch
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError, ShapeError
from prototype_robot import FRAMES, MODES, Prototype, dispatch_code, expected
from seeds import rng

pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as the fast call needs"
)
X, Y = np.array([0.5, 2.0, -3.0]), np.array([1.5, 0.25])
ALL = dict.fromkeys(itertools.product((None, *FRAMES), (None, *MODES)))


@pytest.fixture
def robot():
    return Prototype()


def other(text: str) -> str:
    """An equal text that is another object."""
    return "".join(list(text))


def test_it_looks_like_the_method(robot):
    assert type(robot.mix).__name__ == "builtin_function_or_method"
    assert robot.mix.__name__ == "mix"
    assert robot.mix.__doc__ == inspect.getdoc(Prototype.mix)
    found = inspect.signature(robot.mix).parameters
    plain = inspect.signature(Prototype(fast=False).mix).parameters
    assert list(found) == list(plain)
    assert [p.kind for p in found.values()] == [p.kind for p in plain.values()]
    assert found["mode"].default == "plain"
    assert found["frame"].default is None
    assert found["limits"].default is ...
    assert "mix(x, y, frame=None" in pydoc.plain(pydoc.render_doc(robot.mix))


def test_the_first_call_goes_through_the_method_and_the_others_do_not(robot):
    for frame, mode in ALL:
        args = (X, Y) if frame is None else (X, Y, frame)
        keywords = {} if mode is None else {"mode": mode}
        for times in range(1, 4):
            before = robot.twin.calls
            assert np.array_equal(robot.mix(*args, **keywords), expected(X, Y, frame, mode))
            assert robot.twin.calls - before == (times == 1)


def test_equal_texts_are_the_same_name(robot):
    robot.mix(X, Y, FRAMES[3], mode=MODES[1])
    copies = other(FRAMES[3]), other(MODES[1])
    assert copies[0] is not FRAMES[3]
    assert np.array_equal(robot.mix(X, Y, copies[0], mode=copies[1]), expected(X, Y, *copies))
    assert robot.twin.calls == 1


def test_names_by_keyword_in_any_order(robot):
    robot.mix(X, Y, FRAMES[3], mode=MODES[1])
    out = np.zeros(2)
    want = expected(X, Y, FRAMES[3], MODES[1])
    given = {"frame": FRAMES[3], "mode": MODES[1], "out": out}
    for names in itertools.permutations(given):
        out[:] = 0.0
        assert robot.mix(X, Y, **{name: given[name] for name in names}) is out
        assert np.array_equal(out, want)
    assert np.array_equal(robot.mix(X, Y, mode=MODES[1], frame=FRAMES[3]), want)
    assert robot.mix(X, Y, FRAMES[3], out=out, mode=MODES[1]) is out
    assert robot.twin.calls == 1


def test_out_alone(robot):
    out = np.zeros(2)
    for _ in range(3):
        out[:] = 0.0
        assert robot.mix(X, Y, out=out) is out
        assert np.array_equal(out, expected(X, Y))
        assert robot.mix(X, Y, FRAMES[2], out=out) is out
        assert np.array_equal(out, expected(X, Y, FRAMES[2]))
    assert robot.twin.calls == 2


def test_batches_lists_and_whatever_the_bound_function_takes(robot):
    g = rng("batches")
    x, y = g.normal(size=(5, 4, 3)), g.normal(size=(5, 4, 2))
    for _ in range(2):
        assert np.array_equal(robot.mix(x, y, FRAMES[1]), expected(x, y, FRAMES[1]))
        assert np.array_equal(robot.mix(X.tolist(), Y, FRAMES[1]), expected(X, Y, FRAMES[1]))
    assert robot.twin.calls == 1


class Text(str):
    """Equal to nothing, and of another hash."""

    __slots__ = ()

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 7


def test_other_names_go_to_the_method_every_time(robot):
    robot.mix(X, Y, FRAMES[1])
    for frame in (None, Text(FRAMES[1])):
        for times in (1, 2):
            before = robot.twin.calls
            want = expected(X, Y, None if frame is None else FRAMES[1])
            try:
                assert np.array_equal(robot.mix(X, Y, frame), want)
            except InputError:
                assert isinstance(frame, Text)
            assert robot.twin.calls == before + 1, times


def test_wrong_calls_raise_what_the_method_raises(robot):
    plain = Prototype(fast=False)
    calls = [
        ((), {}), ((X,), {}), ((X, Y, FRAMES[1], "plain"), {}), ((X, Y, "nothing"), {}),
        ((X, Y, FRAMES[1]), {"frame": FRAMES[1]}), ((X, Y), {"nothing": 1}),
        ((X, Y), {"mode": "nothing"}), ((X, Y, b"frame 1"), {}), ((X, Y, 3), {}),
        ((X, Y, FRAMES[1]), {"mode": 3}), ((Y, X), {}), ((X, X, FRAMES[1]), {}),
        ((X, Y), {"x": X}), ((X * np.nan, Y, FRAMES[1]), {}), ((X, Y, [FRAMES[1]]), {}),
        ((X, Y), {"out": 3}), ((X, Y, FRAMES[1]), {"out": np.zeros(3)}),
    ]  # fmt: skip
    for warm in (False, True):
        for args, keywords in calls:
            with pytest.raises(Exception) as found:
                robot.mix(*args, **keywords)
            with pytest.raises(Exception) as wanted:
                plain.mix(*args, **keywords)
            assert type(found.value) is type(wanted.value), (warm, args, keywords)
            assert str(found.value) == str(wanted.value)
        for frame, mode in ALL:
            given = {"frame": frame, "mode": mode}
            robot.mix(X, Y, **{name: text for name, text in given.items() if text is not None})
    with pytest.raises(ShapeError):
        robot.mix(Y, Y, FRAMES[1])


def test_arrays_by_keyword(robot):
    for _ in range(2):
        assert np.array_equal(robot.mix(x=X, y=Y), expected(X, Y))
        assert np.array_equal(robot.mix(X, y=Y, frame=FRAMES[1]), expected(X, Y, FRAMES[1]))
    assert robot.twin.calls == 4


def test_other_arguments_go_to_the_method(robot):
    for _ in range(2):
        assert np.array_equal(robot.mix(X, Y, FRAMES[1], threads=2), expected(X, Y, FRAMES[1]))
    assert robot.twin.calls == 2


@pytest.mark.parametrize("capacity", [0, 1, 3, 5])
def test_more_names_than_there_is_room_for(capacity, monkeypatch):
    monkeypatch.setattr(Prototype, "capacity", capacity)
    robot = Prototype()
    for _ in range(3):
        for frame in FRAMES:
            assert np.array_equal(robot.mix(X, Y, frame), expected(X, Y, frame))
    assert robot.twin.calls == 3 * len(FRAMES) - 2 * capacity


def test_an_equal_hash_is_not_an_equal_name(robot):
    robot.mix(X, Y, FRAMES[2])
    general = robot.mix.__self__[0]
    wrong = dispatch._entry_point(robot.twin.bound(FRAMES[2], None))
    general._write(hash(FRAMES[5]), ("another text", None), *wrong)
    general._write(hash(FRAMES[6]), (None, FRAMES[6]), *wrong)
    general._write(hash(FRAMES[7]), (FRAMES[7], FRAMES[7]), *wrong)
    for frame in FRAMES[5:8]:
        for _ in range(2):
            assert np.array_equal(robot.mix(X, Y, frame), expected(X, Y, frame))
    assert robot.twin.calls == 4


def test_functions_that_are_not_native():
    class Receiver:
        def scale(self, x, by=None):
            return x * (2 if by is None else len(by))

    made = dispatch.dispatcher(
        dispatch_code(), Receiver.scale, Receiver(),
        lambda by: None if by == "none" else (lambda x: x * (20 if by is None else 10 * len(by))),
        arrays=1, choices=("by",),
    )  # fmt: skip
    assert [made(1) for _ in range(3)] == [2, 20, 20]
    assert [made(1, "abc") for _ in range(3)] == [3, 30, 30]
    assert [made(1, by="none") for _ in range(3)] == [4, 4, 4]
    none = dispatch.dispatcher(
        dispatch_code(), Receiver.scale, Receiver(), lambda: len, arrays=1
    )  # fmt: skip
    assert [none("abc") for _ in range(2)] == ["abcabc", 3]
    assert [none("abc", by="abc") for _ in range(2)] == ["abc" * 3] * 2
    with pytest.raises(ValueError, match="at most"):
        dispatch.dispatcher(dispatch_code(), Receiver.scale, None, len, arrays=8)


def test_calls_inside_calls(robot):
    class Wild:
        def __init__(self, depth):
            self.depth = depth

        def __array__(self, dtype=None, copy=None):
            frame = FRAMES[self.depth % len(FRAMES)]
            robot.mix(Wild(self.depth - 1) if self.depth else X, Y, frame)
            return X.copy()

    for _ in range(2):
        assert np.array_equal(robot.mix(Wild(30), Y, FRAMES[1]), expected(X, Y, FRAMES[1]))

    class Endless:
        def __array__(self, dtype=None, copy=None):
            return robot.mix(Endless(), Y, FRAMES[1])

    with pytest.raises((RecursionError, InputError)):
        robot.mix(Endless(), Y, FRAMES[1])
    assert np.array_equal(robot.mix(X, Y, FRAMES[1]), expected(X, Y, FRAMES[1]))


# lives


def test_the_method_outlives_its_robot():
    robot = Prototype()
    robot.mix(X, Y, FRAMES[1])
    mix, watch = robot.mix, weakref.ref(robot)
    gc.collect()
    gc.disable()
    try:
        del robot
        assert watch() is None
    finally:
        gc.enable()
    assert np.array_equal(mix(X, Y, FRAMES[1]), expected(X, Y, FRAMES[1]))
    assert np.array_equal(mix(X, Y, FRAMES[4]), expected(X, Y, FRAMES[4]))


def test_nothing_is_left_of_a_robot():
    def live():
        robot = Prototype()
        for frame in FRAMES[:3]:
            robot.mix(X, Y, frame)
        return weakref.ref(robot), weakref.ref(robot.twin), weakref.ref(robot.mix)

    gc.collect()
    gc.disable()
    try:
        assert [watch() for watch in live()] == [None] * 3
    finally:
        gc.enable()


def test_a_robot_in_a_cycle_is_collected():
    for _ in range(10):
        robot = Prototype()
        robot.mix(X, Y, FRAMES[1])
        robot.twin.me, robot.twin.mix_of_me = robot, robot.mix
        watch = weakref.ref(robot)
        del robot
        gc.collect()
        assert watch() is None


def test_copies_and_pickles(robot):
    robot.mix(X, Y, FRAMES[1])
    for made in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert made.mix is not robot.mix
        assert np.array_equal(made.mix(X, Y, FRAMES[1]), expected(X, Y, FRAMES[1]))
    method = pickle.loads(pickle.dumps(robot.mix))
    assert np.array_equal(method(X, Y, FRAMES[1]), expected(X, Y, FRAMES[1]))
    assert copy.deepcopy(robot.mix) is robot.mix


def test_an_overridden_method_stays():
    class Mine(Prototype):
        def mix(self, x, y, frame=None, **rest):
            return "mine"

    assert Mine().mix(X, Y, FRAMES[1]) == "mine"


def test_counts_stay_flat(robot):
    out = np.zeros(2)
    names = [FRAMES[1], other(FRAMES[1]), MODES[1]]
    watched = [X, Y, out, *names, robot.mix, robot.twin, np.dtype(float)]
    calls = [
        lambda: robot.mix(X, Y, names[0]),
        lambda: robot.mix(X, Y, names[1]),
        lambda: robot.mix(X, Y, frame=names[0], mode=names[2]),
        lambda: robot.mix(X, Y, names[0], out=out),
        lambda: robot.mix(X, Y),
    ]
    for call in calls:
        call()
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(20_000):
        for call in calls:
            call()
    assert [sys.getrefcount(thing) for thing in watched] == before
    assert robot.twin.calls == 3


def test_threads_at_the_shortest_interval(robot):
    g = rng("threads")
    plans = [g.permutation(list(range(len(FRAMES))) * 40).tolist() for _ in range(8)]
    wrong: list[object] = []

    def work(plan):
        for k in plan:
            frame = other(FRAMES[k]) if k % 2 else FRAMES[k]
            if not np.array_equal(robot.mix(X, Y, frame), expected(X, Y, frame)):
                wrong.append(k)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("frame", [None, "frame 3", "märz", "框", "\U0001f916", "", "a\0b"])
def test_names_of_every_kind_of_text(frame):
    class Receiver:
        def name(self, x, frame=None):
            return ("plain", frame)

    made = dispatch.dispatcher(
        dispatch_code(), Receiver.name, Receiver(), lambda f: lambda x: ("fast", f),
        arrays=1, choices=("frame",),
    )  # fmt: skip
    args = (1,) if frame is None else (1, frame)
    assert made(*args) == ("plain", frame)
    assert made(*args) == ("fast", frame)
    assert made(1, *[other(a) for a in args[1:]]) == ("fast", frame)
    assert made(1, "something else") == ("plain", "something else")
