"""What holds compiled code: no pickles, and no second one by copying."""

from __future__ import annotations

import copy
import pickle

import pytest

import linkwork as lw


def test_compiled_code_stays_in_its_process_and_is_not_doubled():
    arm, bars = lw.load("planar_2r"), lw.load("four_bar")
    for compiled in (
        arm.function("fk"),
        arm.kernel("fk"),
        arm.solver(),
        arm.controller(dt=0.01),
        bars.assembler(),
    ):
        with pytest.raises(TypeError, match=r"cannot be pickled: .* pickle the robot"):
            pickle.dumps(compiled)
        assert copy.copy(compiled) is compiled
        assert copy.deepcopy([compiled])[0] is compiled
