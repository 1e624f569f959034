"""Tasks of the whole mechanism: centre of mass, loops, manipulability."""

from __future__ import annotations

import numpy as np
import pytest

import ik_measures as measures
import linkwork as lw
from closed_robots import with_every_kind
from ik_solving import postures, robot_of, solved
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType
from linkwork.ops.numpy import NUMPY
from linkwork.solve.options import Options
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import (
    CLOSED_TOLERANCE,
    CenterOfMass,
    Closed,
    Manipulability,
    Pose,
    Position,
)
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


def test_it_has_the_rows_of_every_loop_and_coupling():
    m = with_every_kind().mechanism
    bound = Closed().bind(m)
    assert bound.n_rows == sum(len(loop.row_names) for loop in m.loops) + 2
    assert bound.blocks[-1][1] == bound.n_rows and len(bound.blocks) == len(m.loops) + 2
    assert bound.kind.n == 0 and set(bound.tolerances) == {CLOSED_TOLERANCE}
    assert Closed(tolerance=1e-6).bind(m).tolerances[0] == 1e-6


def test_each_block_depends_on_its_coordinates_alone():
    robot = with_every_kind()
    m, q = robot.mechanism, robot.at + 0.1
    bound = Closed().bind(m)
    columns = np.array(bound.residual(NUMPY, q, np.zeros(0)).columns).T
    for start, stop, coordinates in bound.blocks:
        own = {v for c in coordinates for v in range(m.v_start[c], m.v_start[c + 1])}
        others = [v for v in range(m.n_v) if v not in own]
        assert not columns[start:stop, others].any()
        assert columns[start:stop, sorted(own)].any()


def test_options_do_not_change_its_tolerance():
    m = lw.load("five_bar").mechanism
    problem = make_problem(m, [Closed(), lw.ik.Position("tool0")])
    loose = Options(position_tolerance=0.1, rotation_tolerance=0.1).thresholds(problem)
    assert loose == pytest.approx([1e-24, 1e-24, 0.01])


def test_a_tree_has_nothing_to_close():
    with pytest.raises(InputError, match="'panda' has no loops"):
        Closed().bind(lw.load("panda").mechanism)
    with pytest.raises(InputError, match="takes no target"):
        Closed().bind(lw.load("five_bar").mechanism).rows_of([1.0])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_it_is_kept_above_the_least_while_the_tool_gets_there(name):
    robot = robot_of(name)
    q = postures(robot, "least", 600)
    w = np.array([measures.manipulability(robot, each, "tool0") for each in q])
    q = q[np.argsort(w)[-200:]]
    least = 0.9 * np.sort(w)[-200:]
    p = robot.fk(q, "tool0")[:, :3, 3]
    tasks = [Position("tool0"), Manipulability("tool0")]
    found = solved(robot, tasks, [p, least[:, None]])
    assert np.linalg.norm(robot.fk(found, "tool0")[:, :3, 3] - p, axis=1).max() <= 1.001e-5
    reached = np.array([measures.manipulability(robot, each, "tool0") for each in found])
    assert (reached >= least - 1.1e-6).all()
    assert (reached > least + 1e-3).any()  # more is as good


def test_a_singular_arm_has_finite_numbers():
    robot = robot_of("ur5e")
    bound = Manipulability("tool0").bind(robot.mechanism)
    for q in (np.zeros(6), np.array([0.0, -1.57, 0.0, 0.0, 0.0, 0.0])):
        found = bound.residual(NUMPY, q, np.array([0.01]))
        assert found.error[0] == pytest.approx(0.01, abs=1e-5)
        assert np.isfinite(np.array(found.columns)).all()


def test_what_can_never_be_above_zero_is_refused():
    with pytest.raises(InputError, match="always zero; name those"):
        Manipulability("link3", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    Manipulability("link3", position="xy", rotation="").bind(robot_of(chain_urdf(3)).mechanism)
    m = robot_of("panda").mechanism
    with pytest.raises(InputError, match="no joint moves 'link0'"):
        Manipulability("link0").bind(m)
    with pytest.raises(InputError, match="both empty"):
        Manipulability("tool0", position="", rotation="").bind(m)
    with pytest.raises(InputError, match="at_least must be above 0"):
        Manipulability("tool0", 0.0).bind(m)
