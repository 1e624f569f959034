"""Every number of a problem has one place, and no place is left over."""

from __future__ import annotations

import pytest

import linkwork as lw
from linkwork.solve.layout import Layout
from linkwork.solve.limits.acceleration import AccelerationLimit
from linkwork.solve.limits.coupled import CoupledLimit
from linkwork.solve.limits.position import PositionLimit
from linkwork.solve.limits.velocity import VelocityLimit
from linkwork.solve.objectives import Centred, NearPosture
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.center_of_mass import CenterOfMass
from linkwork.solve.tasks.joint_coupling import JointCoupling
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from linkwork.solve.tasks.posture import Posture

ARM = lw.load("two_arm_torso").mechanism
A, B = ARM.joint_names[:2]
PROBLEMS = {
    "one": {"tasks": Pose("left_tool0")},
    "two": {"tasks": [Pose("left_tool0"), Pose("right_tool0", slack=0.1)]},
    "levels": {
        "tasks": [
            Posture(priority=2),
            Pose("left_tool0"),
            CenterOfMass(axes="xy", priority=1),
            Position("right_tool0", priority=1, slack=(0.1, 0.0, 0.0)),
            JointCoupling(A, B),
        ],
        "limits": [
            PositionLimit(0.01),
            VelocityLimit(0.1),
            AccelerationLimit(0.1, 3.0),
            CoupledLimit(A, B, [[0.0, -1.0, 1.0]]),
        ],
        "objectives": [Centred(), NearPosture()],
        "joint_weights": {A: 0.1},
        "joints": ARM.joint_names[:5],
    },
}


def spans(layout: Layout) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """All spans of the parameters, and all of the settings."""
    of_rows = [
        *layout.targets,
        layout.held,
        layout.start,
        *layout.limit_numbers,
        *layout.objective_targets,
    ]
    of_call = [
        *layout.thresholds,
        *layout.weights,
        *layout.slacks,
        layout.joint_weights,
        *layout.limit_settings,
        *layout.objective_weights,
    ]
    return of_rows, of_call


@pytest.mark.parametrize("name", PROBLEMS)
def test_spans_are_disjoint_and_complete(name):
    layout = make_problem(ARM, **PROBLEMS[name]).layout
    of_rows, of_call = spans(layout)
    for found, total in ((of_rows, layout.n_parameters), (of_call, layout.n_settings)):
        assert sorted(k for span in found for k in range(*span)) == list(range(total))


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_span_has_the_length_of_its_numbers(name):
    problem = make_problem(ARM, **PROBLEMS[name])
    layout = problem.layout
    sizes = [b - a for a, b in layout.targets]
    assert sizes == [task.n_target for task in problem.tasks]
    assert [b - a for a, b in layout.thresholds] == [len(task.groups) for task in problem.tasks]
    assert layout.held[1] - layout.held[0] == len(problem.held)
    assert [b - a for a, b in layout.limit_settings] == [len(x.settings) for x in problem.limits]


def test_weights_have_places_only_where_there_is_something_to_weigh():
    def weighed(*tasks):
        return [b - a for a, b in make_problem(ARM, list(tasks)).layout.weights]

    left, right = Pose("left_tool0"), Pose("right_tool0")
    assert weighed(left) == [0]
    assert weighed(left, right) == [1, 1]
    assert weighed(left, right, CenterOfMass(priority=1)) == [1, 1, 0]


def test_thresholds_stand_first_so_that_measures_can_be_compared_with_them():
    for how in PROBLEMS.values():
        assert make_problem(ARM, **how).layout.thresholds[0][0] == 0


def test_where_the_move_began_is_kept_only_where_a_limit_asks():
    assert make_problem(ARM, Pose("left_tool0")).layout.start == (12, 12)
    fast = make_problem(ARM, Pose("left_tool0"), limits=[VelocityLimit(0.1)])
    assert fast.layout.start[1] - fast.layout.start[0] == len(fast.moved)
