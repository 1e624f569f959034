"""The centre of mass where it is asked for, from poses and masses of the links."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.pose import Pose
from robots import chain_urdf, every_joint_urdf


def centres(robot, q):
    return np.array([measures.center_of_mass(robot, each) for each in q])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "two_arm_torso"])
@pytest.mark.parametrize("axes", ["xyz", "xy"])
def test_it_is_brought_to_the_target(name, axes):
    robot = robot_of(name)
    targets = centres(robot, postures(robot, f"com {axes}"))
    q = solved(robot, CenterOfMass(axes=axes), targets)
    away = (centres(robot, q) - targets)[:, : len(axes)]
    assert np.linalg.norm(away, axis=1).max() <= 1.001e-5


@pytest.mark.slow
def test_above_a_foot_with_both_feet_where_they_are():
    robot = robot_of("humanoid", base="floating")
    q = postures(robot, "feet", 20)
    q[:, :3] *= 0.1
    left, right, com = robot.fk(q, "left_foot"), robot.fk(q, "right_foot"), centres(robot, q)
    tasks = [Pose("left_foot"), Pose("right_foot"), CenterOfMass(axes="xy")]
    start = robot.integrate(q, 0.1 * np.ones((20, robot.n_v)))
    found = solved(robot, tasks, [left, right, com], q0=start)
    assert np.linalg.norm((centres(robot, found) - com)[:, :2], axis=1).max() <= 1.001e-5
    assert measures.turn_between(robot.fk(found, "left_foot"), left).max() <= 1.001e-4


def test_joints_that_move_no_mass_do_not_matter():
    m = robot_of(every_joint_urdf()).mechanism
    bound = CenterOfMass().bind(m)
    massless = {"spin", "grip_a", "plane", "free", "socket"}  # nothing behind them has a mass
    assert {m.joint_names[c] for c in bound.coordinates} == set(m.joint_names) - massless
    assert JointType.FLOATING in m.joint_types


def test_without_masses_it_is_refused():
    with pytest.raises(InputError, match="CenterOfMass: the masses of 'chain' add up to 0 kg"):
        CenterOfMass().bind(robot_of(chain_urdf(3)).mechanism)
