"""Loops of a record put beside a mechanism, and back."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError
from linkwork.formats.loops import CouplingRecord, LoopRecord, LoopsRecord
from linkwork.mechanism.edit import actuate, close, couple
from linkwork.mechanism.from_loops import loops_record, with_loops


@pytest.fixture(scope="module")
def arm():
    return lw.load("panda").mechanism


def test_a_record_is_what_the_edits_make(arm):
    record = LoopsRecord(
        (LoopRecord("tool0", "link2", "xy/z"), LoopRecord("tool0", "link1", "distance", 0.5, "r")),
        (CouplingRecord("joint1", ("joint2", "joint3"), (2.0, 1.0), 0.5),),
        ("joint7", "joint2"),
    )
    m = close(arm, "tool0", "link2", ("xy", "z"))
    m = close(m, "tool0", "link1", "distance", distance=0.5, name="r")
    m = couple(m, "joint1", ("joint2", "joint3"), rate=(2.0, 1.0), offset=0.5)
    m = actuate(m, ("joint7", "joint2"))
    assert with_loops(arm, record) == m


def test_there_and_back(arm):
    m = couple(close(arm, "tool0", "link2"), "joint1", "joint2", lambda x: np.sin(x) ** 2)
    m = actuate(m, "joint3")
    assert with_loops(arm, loops_record(m)) == m
    assert loops_record(arm) == LoopsRecord()


def test_every_wrong_entry_is_named(arm):
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
        with_loops(arm, record)
    messages = [problem.message for problem in caught.value.problems]
    words = ("no frame named 'nowhere'", "no kind of loop", "nobody", "sin cannot", "motor")
    assert len(messages) == len(words)
    for message, word in zip(messages, words, strict=True):
        assert word in message
    assert {problem.file for problem in caught.value.problems} == {"some.loops.yaml"}
