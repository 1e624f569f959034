"""Names of axes, and what is no such name."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.algorithms.residuals.axes import axes, axis_index, frame_of_axes, picked
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("xyz", (0, 1, 2)),
        ("zx", (0, 2)),
        ("y", (1,)),
        ((True, False, True), (0, 2)),
        ([0, 1, 0], (1,)),
        (np.array([False, True, True]), (1, 2)),
        (np.array([1, 0, 0]), (0,)),
    ],
)
def test_axes_by_letters_or_by_truth_values(given, expected):
    assert axes(given, "Task.axes") == expected


@pytest.mark.parametrize(
    "given",
    ["", "xx", "a", "X", "xyzx", (), (1, 1), (2, 0, 0), (0.5, 0, 0), (0, 0, 0), None, 7, ["x"] * 3],
)
def test_anything_else_is_refused_by_the_name_of_the_argument(given):
    with pytest.raises(InputError, match=r"Task\.axes must name axes"):
        axes(given, "Task.axes")


def test_none_only_where_it_is_allowed():
    assert axes("", "Task.axes", none=True) == ()
    assert axes((0, 0, 0), "Task.axes", none=True) == ()
    with pytest.raises(InputError, match="and not empty"):
        axes("", "Task.axes")


def test_one_axis_or_none():
    assert [axis_index(name, "Task.mirror") for name in ("x", "y", "z", None)] == [0, 1, 2, None]
    for wrong in ("xy", "", 0, ["x"]):
        with pytest.raises(InputError, match=r"Task\.mirror must be 'x', 'y' or 'z', or None"):
            axis_index(wrong, "Task.mirror")


def test_whose_axes():
    assert frame_of_axes("tool", "Task.axes_of") == "tool"
    with pytest.raises(InputError, match="one of 'other', 'tool', not 'world'"):
        frame_of_axes("world", "Task.axes_of", ("other", "tool"))


def test_picked_elements():
    v = np.array([1.0, 2.0, 3.0])
    assert picked(NUMPY, v, (0, 2)).tolist() == [1.0, 3.0]
    assert picked(NUMPY, v, (0, 1, 2)) is v
