"""Methods of robots: what the registry says of them, and the functions behind them."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.numpy_abi import array_abi

NATIVE = pytest.mark.skipif(array_abi() is None, reason="objects are laid out otherwise here")
USUAL = {"out": None, "threads": None, "on_bad": "raise"}


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_has_a_method_with_the_same_three_keywords(name):
    method, entry = getattr(lw.Robot, name), ALGORITHMS[name]
    parameters = inspect.signature(method).parameters
    assert list(parameters)[1 : 1 + len(entry.inputs)] == [key for key, _ in entry.inputs]
    defaults = {key: parameters[key].default for key in USUAL if key in parameters}
    assert defaults == {key: USUAL[key] for key in defaults}
    if entry.has_method:
        assert set(defaults) == set(USUAL) - ({"out"} if entry.result else set())
        assert set(entry.keywords) < set(parameters)
        assert inspect.getdoc(method).endswith(".")


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.is_method])
def test_a_method_is_the_function_with_names_among_its_arguments(name):
    entry = ALGORITHMS[name]
    r = lw.load("four_bar" if entry.needs_loops else "planar_2r")
    q, v = r.random(5, seed=2), np.linspace(-1, 1, 5 * r.n_v).reshape(5, -1)
    given = {"q": q, "q0": q, "q1": r.random(5, seed=3), "v": v, "dv": 2 * v, "tau": 3 * v}
    arrays, row = zip(*[(given[key], given[key][3]) for key, _ in entry.inputs], strict=True)
    frames = {"base": r.frame_names[1], "frame": r.frame_names[-1]}
    names = {key: frames[key] for key in entry.static if key in frames}
    function = r.function(name, **names)
    for _ in range(3):
        method = getattr(r, name)  # native from the second time on
        many, one = method(*arrays, **names), method(*row, **names)
        assert many.tobytes() == function(*arrays).tobytes()
        assert one.tobytes() == function(*row).tobytes() == many[3].tobytes()
        out = np.zeros_like(one)
        assert method(*row, **names, out=out) is out and out.tobytes() == one.tobytes()
        assert method(*arrays, **names, threads=2, on_bad="nan").tobytes() == many.tobytes()
    if "frame" in names and "base" not in names:
        tip = "".join(list(names["frame"]))  # not interned
        assert method(*row, tip).tobytes() == one.tobytes()
    if "reference" in entry.static:
        local = method(*row, **names, reference="local")
        assert local.tobytes() == r.function(name, **names, reference="local")(*row).tobytes()


def plain(value: Any) -> Any:
    """Values with the types of what holds them, to be compared."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return type(value).__name__, [plain(each) for each in value]
    return type(value).__name__, np.shape(value), np.asarray(value).tolist()


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [n for n in ALGORITHMS if not ALGORITHMS[n].is_method])
def test_a_method_of_another_form_gives_the_same_at_every_call(name):
    r, entry = lw.load("five_bar"), ALGORITHMS[name]
    q = r.assemble([0.2, -0.1]).q
    v = r.passive_rates(q) @ [0.3, 0.1]
    row = [q if kind == "q" else v for _, kind in entry.inputs]
    frame = {"frame": r.frame_names[1]} if "frame" in entry.static else {}
    for arrays in (row, [np.stack([x, x]) for x in row]):
        found = [plain(getattr(r, name)(*arrays, **frame)) for _ in range(4)]
        assert found[1:] == found[:-1]


def test_what_methods_refuse():
    r = lw.load("ur5e")
    q = r.random(seed=1)
    for _ in range(2):
        with pytest.raises(lw.UnknownNameError, match="nothing"):
            r.fk(q, "nothing")
        for wrong in (["tool0"], q, {}):
            with pytest.raises(lw.InputError, match="a frame is meant by its name, not by"):
                r.fk(q, wrong)
        with pytest.raises(lw.InputError, match="shoulder_lift_joint"):
            r.fk(np.where(np.arange(6) == 1, np.nan, q))
        with pytest.raises(TypeError, match="nonsense"):
            r.fk(q, nonsense=1)
        for arguments, names in (((q, "tool0"), {"frame": "tool0"}), ((), {}), ((q, "a", "b"), {})):
            with pytest.raises(TypeError, match="fk"):
                r.fk(*arguments, **names)
        with pytest.raises(TypeError, match="'frame'"):
            r.relative(q, "tool0")
        with pytest.raises(lw.InputError, match="on_bad is 'raise' or 'nan'"):
            r.fk(q, on_bad="zero")
        with pytest.raises(lw.InputError, match="threads must be a whole number"):
            r.fk(q[None], threads=0)
        r.fk(q, "tool0")


def test_old_names_work_and_say_the_new_ones():
    r = lw.load("ur5e")
    q, joint = r.random(seed=1), r.joint_names[0]
    for old, new, given in (
        ("lock", "with_locked", (joint, 0.1)),
        ("couple", "with_coupling", (joint, r.joint_names[1])),
        ("actuate", "with_actuated", (joint,)),
        ("close", "with_loop", ("tool0", "base_link", "position")),
    ):
        with pytest.warns(DeprecationWarning, match=f"Robot.{old} is now called {new}") as told:
            made = getattr(r, old)(*given)
        assert told[0].filename == __file__
        assert made.mechanism == getattr(r, new)(*given).mechanism
    for old, new, given in (
        ("full", "all_positions", (q,)), ("inertial_numbers", "inertial_parameters", ()),
    ):  # fmt: skip
        with pytest.warns(DeprecationWarning, match=new):
            assert np.array_equal(getattr(r, old)(*given), getattr(r, new)(*given))
    with pytest.warns(DeprecationWarning, match="all_positions"):
        assert np.array_equal(r.function("full")(q), r.all_positions(q))
    with pytest.warns(DeprecationWarning, match="all_joint_names"):
        assert getattr(r, "full_" + "joint_names") == r.all_joint_names


@NATIVE
def test_calls_need_no_python_once_they_are_repeated():
    r = lw.load("ur5e")
    q, v = r.random(seed=1), np.ones(6)
    calls = [
        lambda: r.fk(q), lambda: r.fk(q, "tool0"), lambda: r.fk(q, frame="tool0", out=T),
        lambda: r.relative(q, "base_link", "tool0"), lambda: r.com(q), lambda: r.mass_matrix(q),
        lambda: r.jacobian(q, "tool0", reference="local"), lambda: r.inverse_dynamics(q, v, v),
    ]  # fmt: skip
    T = r.fk(q)
    entered: list[str] = []
    for call in calls:
        call()
        sys.setprofile(lambda frame, event, _: event == "call" and entered.append(frame.f_code))
        try:
            call()
        finally:
            sys.setprofile(None)
    assert entered == [call.__code__ for call in calls]


@NATIVE
def test_what_is_native_says_of_itself_what_the_method_says():
    r = lw.load("ur5e")
    r.jacobian(r.neutral(), "tool0")
    shown = str(inspect.signature(r.jacobian))
    usual = "out=None, threads=None, on_bad='raise'"
    assert shown == f"(q, frame=None, *, reference='world-aligned', {usual})"
    assert inspect.getdoc(lw.Robot.jacobian).startswith("Jacobian of a frame (..., 6, nv), linear")
    assert (lw.Robot.jacobian.__name__, callable(lw.Robot.jacobian)) == ("jacobian", True)
    again = pickle.loads(pickle.dumps(r.jacobian))
    assert again(r.neutral(), "tool0").tobytes() == r.jacobian(r.neutral(), "tool0").tobytes()
    with pytest.raises(TypeError, match="fk"):
        lw.Robot.fk(r.mechanism, r.neutral())


@NATIVE
def test_native_calls_lose_and_keep_no_reference():
    r = lw.load("ur5e")
    q, T, tip = r.random(seed=1), np.zeros((4, 4)), "".join(["tool", "0"])

    def calls():
        r.fk(q, tip)
        r.fk(q, frame=tip, out=T)
        r.jacobian(q, tip, reference="local")
        for wrong in ([tip], "nothing"):
            with pytest.raises(lw.LinkworkError):
                r.fk(q, wrong)

    held = (q, T, tip, r, r.function("fk", tip), None)
    calls()
    before = [sys.getrefcount(each) for each in held[:-1]]
    for _ in range(50):
        calls()
    assert [sys.getrefcount(each) for each in held[:-1]] == before


def test_an_overridden_method_is_left_alone():
    class Mine(lw.Robot):
        def fk(self, q, frame=None, **options):
            """Poses, twice as far."""
            return 2.0 * super().fk(q, frame, **options)

    mechanism = lw.load("ur5e").mechanism
    r, plain = Mine(mechanism), lw.Robot(mechanism)
    q = r.random(seed=3)
    for _ in range(3):
        assert np.array_equal(r.fk(q, "tool0"), 2.0 * plain.fk(q, "tool0"))


def test_a_method_that_is_replaced_gives_way(monkeypatch):
    r = lw.load("ur5e")
    q = r.random(seed=3)
    T = r.fk(q, "tool0")
    monkeypatch.setattr(lw.Robot, "fk", lambda self, q, frame=None: "of the class")
    assert r.fk(q, "tool0") == "of the class"
    monkeypatch.setattr(r, "fk", lambda q, frame=None: "of the robot", raising=False)
    assert r.fk(q, "tool0") == "of the robot"
    monkeypatch.undo()
    assert np.array_equal(r.fk(q, "tool0"), T)


def test_copies_start_anew_and_nothing_is_kept_alive():
    r = lw.load("ur5e")
    q = r.random(seed=4)
    T = r.fk(q, "tool0")
    for other in (copy.copy(r), copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
        assert other.fk(q, "tool0").tobytes() == T.tobytes()
    function, gone = r.function("fk", "tool0"), weakref.ref(r)
    gc.disable()
    try:
        del r
        assert gone() is None  # no cycle: it goes at once
    finally:
        gc.enable()
    assert function(q).tobytes() == T.tobytes()
