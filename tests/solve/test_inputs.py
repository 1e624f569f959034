"""Targets and starts by name and in order, in all shapes that go together, checked."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from ik_solving import rows_of
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.solve.inputs import Options, changed, configuration, searched, settings_of
from linkwork.solve.limits import AccelerationLimit
from linkwork.solve.objectives import Centred, NearPosture
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import JointCoupling, Pose, Position, Posture

ROBOT = lw.load("two_arm_torso")
M = ROBOT.mechanism
LEFT, RIGHT = "left_tool0", "right_tool0"
NEUTRAL = ROBOT.neutral()


def problem(*tasks, **how):
    return make_problem(M, list(tasks) or [Position(LEFT), Position(RIGHT)], **how)


def target_of(p, parameters, name):
    place = [t.name for t in p.tasks].index(name)
    return parameters[:, slice(*p.layout.targets[place])]


A, B = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])


@pytest.mark.parametrize(
    "targets", [[A, B], (A, B), np.array([A, B]), {RIGHT: B, LEFT: A}, [A.tolist(), B.tolist()]]
)
def test_in_order_or_by_name_is_the_same(targets):
    p = problem()
    parameters, start, lead = rows_of(p, targets, NEUTRAL)
    assert lead == ()
    assert parameters.shape == (1, p.layout.n_parameters)
    np.testing.assert_array_equal(target_of(p, parameters, LEFT), [A])
    np.testing.assert_array_equal(target_of(p, parameters, RIGHT), [B])
    np.testing.assert_array_equal(start, [NEUTRAL])


def test_the_order_is_that_of_the_tasks_as_given_not_of_their_priorities():
    p = problem(Position(LEFT, priority=1), Position(RIGHT))
    parameters, _, _ = rows_of(p, [A, B], NEUTRAL)
    np.testing.assert_array_equal(target_of(p, parameters, LEFT), [A])


def test_targets_of_the_tasks_stand_in_for_what_is_not_given():
    p = problem(Position(LEFT, A), Position(RIGHT, B))
    for targets in (None, {}, {LEFT: None}, [None, None], {RIGHT: B}, [A, None]):
        parameters, _, _ = rows_of(p, targets, NEUTRAL)
        np.testing.assert_array_equal(target_of(p, parameters, LEFT), [A])
        np.testing.assert_array_equal(target_of(p, parameters, RIGHT), [B])
    parameters, _, _ = rows_of(p, {LEFT: B}, NEUTRAL)
    np.testing.assert_array_equal(target_of(p, parameters, LEFT), [B])


def test_tasks_without_numbers_take_no_place_in_the_order():
    p = problem(Position(LEFT), JointCoupling(*M.joint_names[:2]), Position(RIGHT))
    parameters, _, _ = rows_of(p, [A, B], NEUTRAL)
    np.testing.assert_array_equal(target_of(p, parameters, RIGHT), [B])
    alone = problem(JointCoupling(*M.joint_names[:2]))
    assert rows_of(alone, None, NEUTRAL)[2] == ()
    with pytest.raises(InputError, match="none of the tasks takes a target"):
        rows_of(alone, A, NEUTRAL)


SHAPES = [
    ((), (), (), ()),
    ((5,), (), (), (5,)),
    ((), (5,), (), (5,)),
    ((), (), (5,), (5,)),
    ((2, 1), (3,), (), (2, 3)),
    ((4, 1, 1), (3, 1), (2,), (4, 3, 2)),
    ((0,), (), (), (0,)),
    ((3, 0), (1,), (), (3, 0)),
]


@pytest.mark.parametrize(("left", "right", "start", "lead"), SHAPES)
def test_leading_shapes_broadcast(left, right, start, lead):
    p = problem()
    a, b = (np.arange(float(np.prod(s) * 3)).reshape(*s, 3) for s in (left, right))
    q0 = np.arange(float(np.prod(start) * M.n_q)).reshape(*start, M.n_q)
    parameters, whole, found = rows_of(p, [a, b], q0)
    assert found == lead
    count = int(np.prod(lead))
    assert parameters.shape == (count, p.layout.n_parameters)
    assert parameters.flags.c_contiguous
    assert whole.flags.c_contiguous
    for name, given in ((LEFT, a), (RIGHT, b)):
        expected = np.broadcast_to(given, (*lead, 3)).reshape(count, 3)
        np.testing.assert_array_equal(target_of(p, parameters, name), expected)
    np.testing.assert_array_equal(whole, np.broadcast_to(q0, (*lead, M.n_q)).reshape(count, M.n_q))


def test_shapes_that_do_not_go_together_are_refused():
    with pytest.raises(ShapeError, match="leading shapes"):
        rows_of(problem(), [np.zeros((2, 3)), np.zeros((5, 3))], NEUTRAL)
    with pytest.raises(ShapeError, match="leading shapes"):
        rows_of(problem(), [np.zeros((2, 3)), A], np.zeros((3, M.n_q)))


def test_limits_and_objectives_take_numbers_by_name():
    tasks = [Pose(LEFT, np.eye(4))]
    p = make_problem(M, tasks, limits=[AccelerationLimit(0.1, 3.0)], objectives=[NearPosture()])
    v, q = np.linspace(0, 1, M.n_v), ROBOT.random(seed=2)
    parameters, _, _ = rows_of(p, {"acceleration": v, "posture": q}, NEUTRAL)
    np.testing.assert_array_equal(parameters[0, slice(*p.layout.limit_numbers[0])], v)
    np.testing.assert_array_equal(parameters[0, slice(*p.layout.objective_targets[0])], q)
    with pytest.raises(InputError, match="'acceleration' needs the velocity"):
        rows_of(p, None, NEUTRAL)


@pytest.mark.parametrize(
    ("targets", "error", "words"),
    [
        (None, InputError, f"'{LEFT}' has no target"),
        ({RIGHT: A}, InputError, f"'{LEFT}' has no target"),
        ({LEFT: A, "right": B}, UnknownNameError, RIGHT),
        ({LEFT: A, 3: B}, UnknownNameError, "named '3'"),
        ([A], InputError, f"one for each task \\({LEFT}, {RIGHT}\\).*not 1 of them"),
        ([A, B, A], InputError, "not 3 of them"),
        (3.0, InputError, "not float"),
        ([A, np.zeros(4)], ShapeError, f"task '{RIGHT}'.*shape"),
        ([A, [np.nan, 0, 0]], InputError, f"task '{RIGHT}'.*nan; it must be a finite"),
        ([A, np.array([[0, 0, 0], [0, np.inf, 0]])], InputError, r"\[1, 1\] is inf"),
        (["abc", "def"], InputError, "real numbers"),
        ([A, B * 1j], InputError, "real numbers"),
    ],
)
def test_wrong_targets_are_refused_by_name(targets, error, words):
    with pytest.raises(error, match=words):
        rows_of(problem(), targets, NEUTRAL)


def test_a_start_is_checked():
    with pytest.raises(ShapeError, match="q0 must have shape"):
        configuration(np.zeros(3), M)
    with pytest.raises(InputError, match=r"q0\[1, 4\] is nan"):
        configuration(np.where(np.arange(2 * M.n_q).reshape(2, -1) == M.n_q + 4, np.nan, 0.0), M)


def test_loops_are_searched_for_more_closely_than_they_are_judged():
    p = lw.load("five_bar").solver(tasks=Position("tool0", axes="xy")).problem
    settings = settings_of(p, Options())
    closer = searched(p, settings)
    count = [len(t.groups) for t in p.tasks]
    assert [t.name for t in p.tasks] == ["tool0", "closed"]
    at = p.layout.thresholds[0][0]
    loops = slice(at + count[0], at + sum(count))
    np.testing.assert_array_equal(closer[loops], 0.25 * settings[loops])
    closer[loops] = settings[loops]
    np.testing.assert_array_equal(closer, settings)


# --- options ---

ARM = lw.load("panda").mechanism


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("position_tolerance", 0.0),
        ("position_tolerance", np.nan),
        ("position_tolerance", True),
        ("rotation_tolerance", -1.0),
        ("rotation_tolerance", "1"),
        ("seconds", 0.0),
        ("seconds", math.inf),
        ("steps", 0),
        ("steps", 2**31),
        ("tries", 0),
        ("tries", 1.5),
        ("seed", -1),
        ("seed", "a"),
        ("seed", None),
        ("best_of", 0),
        ("best_of", True),
        ("choose", "best"),
        ("choose", 3),
        ("choose", ["nearest"]),
    ],
)
def test_wrong_options_are_refused(field, value):
    with pytest.raises(InputError, match=field):
        Options(**{field: value})


def test_changes_take_the_place_of_fields_and_none_leaves_them():
    start, nothing = Options(tries=5, seed=2), (None,) * 8
    assert changed(start, nothing) is start
    assert changed(start, (None, None, None, 7, None, None, None, None)) == Options(tries=7, seed=2)
    assert changed(None, nothing) == Options()
    with pytest.raises(InputError, match="must be Options, not dict"):
        changed({"tries": 3}, nothing)  # pyright: ignore - what is refused
    with pytest.raises(InputError, match="tries"):
        changed(Options(), (None, None, None, 0, None, None, None, None))


def test_more_is_tried_where_something_is_improved():
    plain = make_problem(ARM, Pose("tool0"))
    lower = make_problem(ARM, [Pose("tool0"), Position("link4", priority=1)])
    centred = make_problem(ARM, Pose("tool0"), objectives=[Centred()])
    options = Options()
    assert options.steps_for(plain) < options.steps_for(centred) == options.steps_for(lower)
    assert options.tries_for(lower) < options.tries_for(plain) == options.tries_for(centred)
    given = Options(steps=3, tries=4)
    assert {given.steps_for(p) for p in (plain, lower, centred)} == {3}
    assert {given.tries_for(p) for p in (plain, lower, centred)} == {4}


def test_a_try_that_closes_loops_is_longer():
    plain = make_problem(ARM, Pose("tool0"))
    closing = lw.load("five_bar").solver(tasks=Position("tool0", axes="xy")).problem
    assert Options().steps_for(plain) < Options().steps_for(closing)
    assert Options(steps=3).steps_for(closing) == 3


def test_tolerances_of_the_call_come_before_those_of_the_tasks():
    tasks = [Pose("tool0", tolerance=(1e-3, 0.1)), Posture(tolerance=0.2, priority=1)]
    problem = make_problem(ARM, tasks)

    def chord(a):
        return (2.0 * math.sin(a / 2.0)) ** 2

    assert Options().thresholds(problem) == pytest.approx([1e-6, chord(0.1), 0.04])
    both = Options(position_tolerance=1e-2, rotation_tolerance=0.5)
    assert both.thresholds(problem) == pytest.approx([1e-4, chord(0.5), 0.25])
    assert Options(rotation_tolerance=4.0).thresholds(problem)[1] == pytest.approx(4.0)


def test_a_miss_may_be_left_as_it_is():
    robot = lw.load("planar_3r")
    far, q0 = lw.pose([9.0, 1.0, 0.0]), robot.neutral() + 0.3
    near, plain = (
        robot.ik(far, "tool0", q0=q0, tries=1, options=Options(nearest_miss=flag))
        for flag in (True, False)
    )
    assert not near.success
    assert not plain.success
    errors = [result.errors["tool0"]["position"] for result in (near, plain)]
    assert errors[0] < errors[1]
    with pytest.raises(InputError, match="nearest_miss"):
        Options(nearest_miss="no")  # pyright: ignore - what is refused
