"""Assembling by name in one native call: the answers of `Assembly.solve`, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import ShapeError
from linkwork.solve.closed import named
from linkwork.solve.closed.assembly import Assembly
from linkwork.solve.closed.named import Part
from seeds import rng


@pytest.fixture(scope="module")
def five() -> Assembly:
    return lw.load("five_bar").assembler()


def call_of(five: Assembly) -> Any:
    given = [Part(None, five.actuated, tuple(range(five.n_actuated)))]
    names = five.mechanism.joint_names
    places = tuple(names.index(name) for name in five.passive)
    return five.named(given, [Part("passive", five.passive, places)], lw.load("five_bar").neutral())


@pytest.mark.skipif(array_abi() is None, reason="the layout of objects is not known here")
def test_the_same_bits(five: Assembly):
    call, near = call_of(five), lw.load("five_bar").neutral()
    names = five.mechanism.joint_names
    for row in rng("named").uniform(-0.3, 0.3, (100, 2)):
        wanted = five.solve(row, near).q
        found = call(dict(zip(five.actuated, row.tolist(), strict=True)))["passive"]
        assert [found[n] for n in five.passive] == [wanted[names.index(n)] for n in five.passive]


def test_nothing_where_it_is_not_assembled(five: Assembly):
    call = call_of(five)
    far = dict.fromkeys(five.actuated, 100.0)
    for state in (far, dict.fromkeys(five.actuated, float("nan")), {}, None, [0.0, 0.0]):
        assert call(state) is None
    assert call(dict.fromkeys(five.actuated, 0)) is None  # whole numbers go the general way


def test_without_the_layout_of_objects(five: Assembly, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(named, "array_abi", lambda: None)
    assert call_of(five)(dict.fromkeys(five.actuated, 0.1)) is None


def test_where_searches_begin(five: Assembly):
    with pytest.raises(ShapeError):
        five.named([], [], np.zeros(7))
