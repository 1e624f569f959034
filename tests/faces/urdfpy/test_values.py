from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwork.errors import LinkworkError
from linkwork.faces import urdfpy
from linkwork.faces.urdfpy import Box, Joint, JointMimic, Link
from linkwork.faces.urdfpy.values import EPOCH, ForeignError, WrongTypeError


def test_errors_are_linkwork_s_and_the_built_in_ones():
    with pytest.raises(TypeError) as caught:
        Link("l", 3, None, None)
    assert isinstance(caught.value, LinkworkError)
    assert isinstance(caught.value, WrongTypeError)


def test_a_link_of_another_robot_is_told_from_a_name_that_does_not_exist():
    error = ForeignError("link", "a", ["a", "b"])
    assert isinstance(error, KeyError)
    said = "the link 'a' is no link of this robot; take the one of its name: robot.link_map['a']"
    assert str(error) == error.args[0] == said
    assert "none has its name" in str(ForeignError("joint", "c", ["a", "b"]))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.valid) == (ForeignError, said, ("a", "b"))


def test_equality_is_identity():
    one, two = Box([1, 1, 1]), Box([1, 1, 1])
    assert one != two
    assert len({one, two}) == 2
    assert one == one


def test_every_attribute_has_a_docstring():
    for name in urdfpy.__all__:
        kind = getattr(urdfpy, name)
        if isinstance(kind, type):
            for attribute, value in vars(kind).items():
                if not attribute.startswith("_") and hasattr(value, "__set__"):
                    assert value.__doc__, (name, attribute)


def test_the_epoch_moves_only_with_what_poses_depend_on():
    box, mimic = Box([1, 1, 1]), JointMimic("a")
    joint = Joint("j", "continuous", "a", "b", mimic=mimic)
    for change, moves in [
        (lambda: setattr(box, "size", [2, 2, 2]), False),
        (lambda: box.size, False),
        (lambda: setattr(joint, "axis", [0, 0, 1]), True),
        (lambda: joint.axis, True),  # handed out for the first time
        (lambda: joint.axis, False),
        (lambda: setattr(mimic, "offset", 1.0), True),
    ]:
        before = EPOCH.now
        change()
        assert (EPOCH.now > before) == moves


def test_what_is_given_is_copied():
    size = np.ones(3)
    box = Box(size)
    size[:] = 7
    assert box.size.tolist() == [1, 1, 1]
