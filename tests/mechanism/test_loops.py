"""Loops, couplings and actuated joints: what they hold, how they are named, what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.edit import actuate, close, couple
from linkwork.mechanism.loops import KINDS, Coupling, Loop, coupling, gap_between, kind_of
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import so3


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
        ({"kind": "distance", "distance": math.nan}, "must be from 0"),
        ({"kind": "distance", "distance": True}, "must be from 0"),
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
