"""Loops, couplings with their functions, and actuated joints: what they hold, what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.loops import CouplingRecord, LoopRecord, LoopsRecord
from linkwork.mechanism.edit import actuate, close, couple, loops_record, with_loops
from linkwork.mechanism.loops import (
    KINDS,
    Coupling,
    Expression,
    Loop,
    affine,
    checked,
    coupling,
    gap_between,
    kind_of,
    traced,
)
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3
from seeds import rng


@pytest.fixture(scope="module")
def arm():
    return lw.load("planar_3r").mechanism


def test_every_kind_says_how_many_rows_it_holds():
    freedoms = {"pose": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "planar": 3}
    freedoms |= {"position": 3, "universal": 2, "distance": 5}
    assert set(freedoms) == set(KINDS)
    for kind, free in freedoms.items():
        loop = Loop("l", "a", "b", kind, 1.0 if kind == "distance" else 0.0)
        assert len(loop.row_names) == 6 - free, kind


@pytest.mark.parametrize(
    ("given", "kind"),
    [("xy", "xy/"), ("yx/z", "xy/z"), (("xz", "z"), "xz/z"), (["", "zy"], "/yz"), ("pose", "pose")],
)
def test_kinds_by_axes(given, kind):
    assert kind_of(given) == kind == Loop("l", "a", "b", given).kind


@pytest.mark.parametrize("given", ["", "/", "xx", "x/y/z", 3, None, ("x", 1), ("x", "y", "z")])
def test_axes_that_are_none(given):
    with pytest.raises(InputError, match="the kind of a loop is one of"):
        kind_of(given)


def test_a_kind_that_is_misspelt_gets_the_nearest():
    with pytest.raises(UnknownNameError, match="nearest: revolute"):
        kind_of("revolut")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kind": "distance"}, "give distance above 0"),
        ({"kind": "pose", "distance": 1.0}, "belongs to the kind 'distance'"),
        ({"kind": "distance", "distance": math.nan}, "must be a finite number from 0"),
        ({"kind": "distance", "distance": True}, "must be a finite number from 0"),
        ({"name": ""}, "must be a name"),
        ({"frame_a": 3}, "must be a name"),
    ],
)
def test_loops_that_are_none(how, message):
    with pytest.raises(InputError, match=message):
        Loop(**{"name": "l", "frame_a": "a", "frame_b": "b", **how})


def test_gaps():
    p = np.array([0.1, -0.2, 0.3])
    R = so3.exp(NUMPY, np.array([0.0, 0.0, 0.5]))
    gap = {kind: gap_between(Loop("l", "a", "b", kind), R, p) for kind in ("pose", "xy", "z/xy")}
    assert gap["xy"] == 0.2 and gap["z/xy"] == 0.3 and gap["pose"] == pytest.approx(np.sin(0.5))
    assert gap_between(Loop("l", "a", "b", "distance", 0.5), R, p) == pytest.approx(
        0.5 - np.sqrt(0.14)
    )
    assert gap_between(Loop("l", "a", "b", "/z"), R, p) == pytest.approx(np.sin(0.5))
    assert gap_between(Loop("l", "a", "b", "/x"), R, p) == 0.0
    tilted = so3.exp(NUMPY, np.array([0.0, 0.2, 0.0]))
    assert gap_between(Loop("l", "a", "b", "universal"), tilted, 0 * p) == pytest.approx(
        np.sin(0.2)
    )


def test_closing(arm):
    frames = "tool0", arm.frame_names[0]
    m = close(close(arm, *frames, "xy"), *frames, "distance", distance=0.5)
    assert [loop.name for loop in m.loops] == [f"tool0-{frames[1]}", f"tool0-{frames[1]}_2"]
    assert m.is_closed and not arm.is_closed and arm.loops == ()
    assert m.digest != arm.digest and pickle.loads(pickle.dumps(m)) == m
    with pytest.raises(InputError, match="two of the loop 'a'"):
        close(close(arm, *frames, name="a"), *frames, name="a")
    with pytest.raises(UnknownNameError, match="no frame named 'tool'; nearest: tool0"):
        close(arm, "tool", frames[1])
    with pytest.raises(InputError, match="are on one body"):
        close(arm, "tool0", "tool0")


def test_coupling(arm):
    a, b, c = arm.joint_names
    m = couple(arm, a, (b, c), rate=(2.0, 1.0), offset=0.5)
    assert float(m.couplings[0].function.value(NUMPY, [1.0, 3.0])) == 5.5
    assert couple(arm, a, b, lambda x: 2 * x).digest == couple(arm, a, b, rate=2.0).digest
    assert m.is_closed
    with pytest.raises(UnknownNameError, match="no joint"):
        couple(arm, a, "nobody")
    for leaders, how, message in (
        (a, {}, "to itself"),
        ((), {}, "at least one"),
        ((b, b), {}, "twice"),
        ((b, c), {"rate": (1.0, 2.0, 3.0)}, "2 leaders, 3 rates"),
    ):
        with pytest.raises(InputError, match=message):
            coupling(a, leaders, **how)
    wide = lw.load("mobile_arm").mechanism
    planar = next(n for n, k in zip(wide.joint_names, wide.joint_types, strict=True) if k.n_q == 3)
    with pytest.raises(InputError, match="has 3 positions"):
        couple(wide, wide.joint_names[-1], planar)
    with pytest.raises(InputError, match="takes 1 leaders"):
        coupling(a, (b, c), m.couplings[0].function.with_input(0, 1.0))
    assert isinstance(m.couplings[0], Coupling)


def test_actuated(arm):
    m = actuate(arm, arm.joint_names[2:0:-1])
    assert m.actuated == arm.joint_names[2:0:-1] and not m.is_closed
    assert actuate(m, arm.joint_names[0]).actuated == arm.joint_names[:1]
    with pytest.raises(InputError, match="two of the actuated joint"):
        actuate(arm, [arm.joint_names[0]] * 2)
    with pytest.raises(UnknownNameError, match="no joint"):
        actuate(arm, "tool0")


FUNCTIONS = {
    "affine": (lambda a, b: 3 * a - b / 4 + 1, 2),
    "powers": (lambda a, b: a**3 - 2 / b**2 + (a * a + 1) ** 0.5 + (b + 3) ** -1.5 + a**0, 2),
    "turns": (lambda a, b: np.sin(a) * np.cos(b) + np.tan(0.3 * a), 2),
    "inverse": (
        lambda a, b: np.arcsin(0.3 * a) + np.arccos(0.2 * b) + np.arctan(a) + np.arctan2(a, b),
        2,
    ),
    "lengths": (lambda a, b: np.hypot(a, b + 2) - np.sqrt(4 + a) + np.square(b), 2),
    "degrees": (lambda a: np.rad2deg(np.deg2rad(a)) + np.radians(-(+a)), 1),
    "one of three": (lambda a, b, c: 2.0 - b, 3),
    "constant": (lambda a: 2.5, 1),
    "numpy's numbers": (lambda a: np.float64(2.0) * a + np.multiply(a, np.int64(3)), 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_slopes_are_the_functions(name):
    function, n = FUNCTIONS[name]
    expression = traced(function, n)
    for x in rng(f"expression {name}").uniform(-1.5, 1.5, (20, n)):
        value, slopes = expression.value_and_slopes(NUMPY, list(x))
        assert float(value) == pytest.approx(float(function(*x)), abs=1e-14)
        assert float(expression.value(NUMPY, list(x))) == float(value)
        for k, slope in enumerate(slopes):
            step = 1e-6 * np.eye(n)[k]
            expected = (function(*(x + step)) - function(*(x - step))) / 2e-6
            assert float(slope) == pytest.approx(float(expected), rel=1e-6, abs=1e-7)
        o = GraphOps()
        graph, _ = expression.value_and_slopes(o, [o.const(v) for v in x])
        assert o.graph.values[graph.numbers[0]] == pytest.approx(float(value), abs=1e-14)


def test_it_is_its_operations():
    a, b = (traced(lambda x, y: np.sin(x) * y + 1.0, 2) for _ in range(2))
    assert a == b and hash(a) == hash(b) and pickle.loads(pickle.dumps(a)) == a
    assert a != traced(lambda x, y: np.sin(y) * x + 1.0, 2)
    assert repr(a) == repr(b)
    assert checked(a.n_inputs, a.nodes) == a


def test_what_is_not_needed_is_left_out():
    def wasteful(x):
        np.sin(x) * 7
        return x + 1

    assert len(traced(wasteful, 1).nodes) == 3
    assert len(traced(lambda x: np.sin(x) * np.sin(x), 1).nodes) == 3  # computed once


def test_an_input_becomes_a_constant():
    whole = traced(lambda a, b, c: a - 2 * b * c, 3)
    part = whole.with_input(1, 0.5)
    assert part.n_inputs == 2
    assert float(part.value(NUMPY, [1.0, 3.0])) == float(whole.value(NUMPY, [1.0, 0.5, 3.0]))


def test_rates():
    assert float(affine([2.0, -1.0], 0.25).value(NUMPY, [1.0, 3.0])) == -0.75
    assert float(affine([2.0]).value(NUMPY, [1.5])) == 3.0
    with pytest.raises(InputError, match="finite"):
        affine([math.nan])


def _branches(x):
    return x if x > 0 else -x


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: "no", InputError, "must give one number, not 'no'"),
        (lambda x: [x, x], InputError, "one number"),
        (_branches, InputError, "branch"),
        (lambda x: x if x else 0.0, InputError, "branch .* by if"),
        (lambda x: 1.0 if x == 0 else x, InputError, "branch .* by =="),
        (lambda x: x if x != 0.5 else 1.0, InputError, "branch .* by !="),
        (lambda x: 1.0 if x in (0.0, 1.0) else x, InputError, "branch .* by == or in"),
        (lambda x: 1.0 if x in {0.0, 1.0} else x, InputError, "branch .* by a set"),
        (lambda x: {0.0: 1.0}.get(x, x), InputError, "branch .* by a set or a dict"),
        (lambda x: 1.0 if np.float64(0.5) == x else x, UnsupportedFeatureError, "numpy.equal"),
        (lambda x: 1.0 if 0 == x else x, InputError, "branch"),
        (lambda x: x if x >= 1 else -x, InputError, "branch .* by >="),
        (math.sin, InputError, r"np.sin, not math.sin"),
        (np.exp, UnsupportedFeatureError, r"not numpy.exp"),
        (lambda x: np.maximum(x, 0), UnsupportedFeatureError, r"not numpy.maximum"),
        (lambda x: x**0.3, UnsupportedFeatureError, "whole powers and halves"),
        (lambda x: x**x, UnsupportedFeatureError, "constant powers"),
        (lambda x: x + "1", InputError, "works on numbers"),
        (lambda x: 2 * x[0], InputError, r"one for each leader \(1\): .* no parts to index"),
        (sum, InputError, r"one for each leader \(1\): .* no parts to index"),
        (lambda x: x if len(x) == 1 else 0.0, InputError, "has no length"),
        (lambda x: x * math.inf, InputError, "the constant inf"),
        (lambda x: np.sin(x, out=np.zeros(1)), UnsupportedFeatureError, "may use"),
    ],
)
def test_functions_that_cannot_be_kept(function, error, message):
    with pytest.raises(error, match=message):
        traced(function, 1)


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [("input", (1.0,))],
        [("input", (0.5,))],
        [("sin", (0.0,))],
        [("input", (0.0,)), ("add", (0.0,))],
        [("input", (0.0,)), ("glue", (0.0,))],
        [("constant", (math.inf,))],
        [("input", (0.0,)), ("sin", (-1.0,))],
    ],
)
def test_nodes_that_are_none(nodes):
    with pytest.raises(InputError):
        checked(1, nodes)
    assert isinstance(checked(1, [("input", (0.0,))]), Expression)


@pytest.fixture(scope="module")
def panda():
    return lw.load("panda").mechanism


def test_a_record_is_what_the_edits_make(panda):
    record = LoopsRecord(
        (LoopRecord("tool0", "link2", "xy/z"), LoopRecord("tool0", "link1", "distance", 0.5, "r")),
        (CouplingRecord("joint1", ("joint2", "joint3"), (2.0, 1.0), 0.5),),
        ("joint7", "joint2"),
    )
    m = close(panda, "tool0", "link2", ("xy", "z"))
    m = close(m, "tool0", "link1", "distance", distance=0.5, name="r")
    m = couple(m, "joint1", ("joint2", "joint3"), rate=(2.0, 1.0), offset=0.5)
    m = actuate(m, ("joint7", "joint2"))
    assert with_loops(panda, record) == m


def test_there_and_back(panda):
    m = couple(close(panda, "tool0", "link2"), "joint1", "joint2", lambda x: np.sin(x) ** 2)
    m = actuate(m, "joint3")
    assert with_loops(panda, loops_record(m)) == m
    assert loops_record(panda) == LoopsRecord()


def test_every_wrong_entry_is_named(panda):
    record = LoopsRecord(
        (LoopRecord("nowhere", "link2"), LoopRecord("tool0", "link1", "glue")),
        (
            CouplingRecord("joint1", ("nobody",), (1.0,)),
            CouplingRecord("joint1", ("joint2",), (), 0.0, (("sin", (3.0,)),)),
        ),
        ("motor",),
        "some.loops.yaml",
    )
    with pytest.raises(DescriptionError) as caught:
        with_loops(panda, record)
    messages = [problem.message for problem in caught.value.problems]
    words = ("no frame named 'nowhere'", "no kind of loop", "nobody", "sin cannot", "motor")
    assert len(messages) == len(words)
    for message, word in zip(messages, words, strict=True):
        assert word in message
    assert {problem.file for problem in caught.value.problems} == {"some.loops.yaml"}
