"""A class under whose name there is a module as well."""

from __future__ import annotations

import pytest

from linkwork.faces import trip_kinematics
from linkwork.faces.trip_kinematics import KinematicGroup, Robot, Transformation


@pytest.mark.row("S1-001", "S1-020", "S1-040")
def test_names_of_the_module_are_found_by_the_class():
    assert trip_kinematics.Robot.Robot is Robot
    assert trip_kinematics.Robot.forward_kinematics is trip_kinematics.forward_kinematics
    assert trip_kinematics.KinematicGroup.KinematicGroup is KinematicGroup
    assert trip_kinematics.KinematicGroup.Transformation is Transformation
    assert trip_kinematics.KinematicGroup.OpenKinematicGroup.__name__ == "OpenKinematicGroup"
    assert trip_kinematics.Transformation.Transformation is Transformation


def test_objects_do_not_have_them():
    t = Transformation("t", {})
    assert not hasattr(t, "array_find")
    assert not hasattr(Transformation, "cast")
    with pytest.raises(AttributeError, match="'Robot' has no attribute 'np'"):
        Robot.np  # noqa: B018  the look-up is what raises


def test_both_ways_of_importing_give_the_class():
    from linkwork.faces.trip_kinematics.Robot import Robot as by_module  # noqa: PLC0415

    assert by_module is Robot
