"""Tasks in words: every kind, every argument, and what is said where one is wrong."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.ik import KINDS, target_task, task_of
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, UnknownNameError

ik = lw.ik
HOME = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
TURNED = lw.pose([1.0, 2.0, 3.0], rpy=[0.1, 0.2, 0.3])

ALIKE = {
    "pose tool0 1 2 3 0.1 0.2 0.3": ik.Pose("tool0", TURNED),
    "pose tool0 1 2 3 0 1 0 0": ik.Pose("tool0", lw.pose([1, 2, 3], wxyz=[0, 1, 0, 0])),
    "pose tool0 1 2 3 0.1 0.2 0.3 position=xy rotation=z axes-of=tool mirror=z": ik.Pose(
        "tool0", TURNED, position="xy", rotation="z", axes_of="tool", mirror="z"
    ),
    "position tool0 1, 2, -3": ik.Position("tool0", [1, 2, -3]),
    "position tool0 1 2 3 axes=xz point=0,0,0.1 slack=0,0.01,0": ik.Position(
        "tool0", [1, 2, 3], axes="xz", point=[0, 0, 0.1], slack=[0, 0.01, 0]
    ),
    "orientation tool0 0.1 0.2 0.3": ik.Orientation("tool0", TURNED[:3, :3]),
    "orientation tool0 0 1 0 0 axes=xy": ik.Orientation(
        "tool0", np.diag([1.0, -1.0, -1.0]), axes="xy"
    ),
    "pointing 'my camera' 1 2 3 axis=1,0,0": ik.Pointing("my camera", [1, 2, 3], axis=[1, 0, 0]),
    "direction tool0 0 0 -1 priority=2 weight=0.5": ik.Direction(
        "tool0", [0, 0, -1], priority=2, weight=0.5
    ),
    "line tool0 1 2 3 0 0 1": ik.OnLine("tool0", [1, 2, 3, 0, 0, 1]),
    "plane tool0 1 2 3 0 0 1 tolerance=1e-3": ik.OnPlane(
        "tool0", [1, 2, 3, 0, 0, 1], tolerance=1e-3
    ),
    "relative a b 1 2 3 0.1 0.2 0.3": ik.RelativePose("a", "b", TURNED),
    "com 0 0 1 axes=xy name=balance": ik.CenterOfMass([0, 0, 1], axes="xy", name="balance"),
    "posture": ik.Posture(HOME),
    "posture 1 2 3 4 5 6": ik.Posture([1, 2, 3, 4, 5, 6]),
    "posture joints=elbow_joint,wrist_1_joint 1 2": ik.Posture(
        [1, 2], joints=["elbow_joint", "wrist_1_joint"]
    ),
    "coupling a b ratio=-0.5 offset=0.1": ik.JointCoupling("a", "b", ratio=-0.5, offset=0.1),
    "manipulability tool0 0.05": ik.Manipulability("tool0", 0.05),
}


@pytest.mark.parametrize("text", ALIKE)
def test_words_and_the_task_they_mean(text: str):
    found, expected = task_of(text, HOME), ALIKE[text]
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        given = getattr(found, name)
        if isinstance(value, (str, bool)) or value is None:
            assert given == value, name
        elif isinstance(value, list) and isinstance(value[0], str):
            assert given == value
        else:
            np.testing.assert_allclose(given, value, atol=1e-15, err_msg=name)


def test_every_kind_is_tried_and_every_task_has_one():
    assert {text.split()[0] for text in ALIKE} == set(KINDS)
    tasks = {
        each
        for each in vars(ik).values()
        if inspect.isclass(each) and issubclass(each, ik.Task) and each not in (ik.Task, ik.Closed)
    }
    # a mechanism with loops has the task Closed by itself, and others have nothing to close
    assert {kind.make for kind in KINDS.values()} == tasks - {ik.Closed}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", InputError, "--task is empty"),
        ("  ", InputError, "--task is empty"),
        ("poze tool0 1 2 3", UnknownNameError, "nearest: pose"),
        ("position", InputError, "takes: position FRAME, 3 numbers"),
        ("relative a", InputError, "takes: relative FRAME OTHER, 6 or 7 numbers"),
        ("position tool0 1 2", InputError, "takes 3 numbers, not 2"),
        ("pose tool0 1 2 3", InputError, "takes 6 or 7 numbers, not 3"),
        ("com", InputError, "takes 3 numbers, not 0"),
        ("coupling a b 3", InputError, "takes 0 numbers, not 1"),
        ("position tool0 1 2 x", InputError, "'x' is not a finite number"),
        ("position tool0 1 2 nan", InputError, "'nan' is not a finite number"),
        ("position tool0 1 2 3 axs=xy", UnknownNameError, "nearest: axes"),
        ("position tool0 1 2 3 target=1", UnknownNameError, "'target'"),
        ("position tool0 1 2 3 weight=1 weight=2", InputError, "weight twice"),
        ("position tool0 1 2 3 weight=much", InputError, "'much' is not a finite number"),
        ("position tool0 1 2 3 priority=0.5", InputError, "a whole number from 0"),
        ("position 'tool0 1 2 3", InputError, "no closing quotation"),
        ("pose tool0 1 2 3 0 0 0 0", InputError, "quaternion"),
    ],
)
def test_what_is_wrong(text: str, kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        task_of(text, HOME)


def test_a_target_is_a_position_or_a_pose():
    found = target_task("tool0", "1 2 3", Angles())
    assert isinstance(found, ik.Position)
    np.testing.assert_array_equal(found.target, [1.0, 2.0, 3.0])
    for text in ("1 2 3 0.1 0.2 0.3", "1,2,3,0,1,0,0"):
        assert isinstance(target_task("tool0", text, Angles()), ik.Pose)
    with pytest.raises(InputError, match="--target takes 3 numbers"):
        target_task("tool0", "1 2 3 4", Angles())
