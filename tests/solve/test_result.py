"""Results: what they tell, why targets were missed, and as a table."""

from __future__ import annotations

import contextlib
import io
import pickle
import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.solve.limits import CoupledLimit, VelocityLimit
from linkwork.solve.result import Column, IKResult, Terms
from linkwork.solve.tasks import CenterOfMass, Group, Manipulability, Pose, Position, Posture

COLUMNS = (
    Column("hand", Group("position", "m", 0, 3), 0),
    Column("hand", Group("rotation", "rad", 3, 6, chord=True), 0),
    Column("elbow", Group("position", "m", 0, 3), 1),
)


def because(q, measures, numbers):
    return f"because of {int(numbers[0])}"


def result(success, measures=(0.0, 0.0, 0.0)):
    success = np.asarray(success)
    shape = success.shape
    report = np.zeros((*shape, 7))
    report[..., 0], report[..., 1:4] = success, measures
    report[..., 5:] = 4, 2
    terms = Terms(COLUMNS, np.array([1e-10, 4e-8, 1e-10]), because)
    numbers = np.arange(float(success.size)).reshape(-1, 1)
    return IKResult(np.zeros((*shape, 3)), report, terms, numbers, 0.25)


def test_one_target():
    assert result(True).reason == "solved"
    assert result(False).reason == "because of 0"
    assert result(False).reason_for() == "because of 0"
    one = result(True)
    kinds = [type(x) for x in (one.success, one.iterations, one.restarts, one.position_error)]
    assert kinds == [bool, int, int, float]
    assert (one.iterations, one.restarts, one.seconds, one.cost) == (4, 2, 0.25, None)


def test_a_batch_counts_failures_and_explains_the_first():
    r = result([[True, True], [True, False], [False, True]])
    assert r.reason == "2 of 6 not solved; the first, [1, 1]: because of 3"
    assert r.reason_for(0, 0) == "solved"
    assert r.reason_for(2, 0) == "because of 4"
    assert r.reason_for(-1, 0) == "because of 4"
    with pytest.raises(IndexError):
        r.reason_for(3, 0)


def test_errors_by_task_and_group_and_the_largest_that_decide():
    chord = (2.0 * np.sin(0.15)) ** 2
    r = result([True, False], (9e-4, chord, 0.25))
    np.testing.assert_allclose(r.errors["hand"]["position"], 0.03)
    np.testing.assert_allclose(r.errors["hand"]["rotation"], 0.3)
    np.testing.assert_allclose(r.errors["elbow"]["position"], 0.5)
    np.testing.assert_allclose(r.position_error, [0.03, 0.03])  # the elbow's does not decide
    np.testing.assert_allclose(r.rotation_error, [0.3, 0.3])
    np.testing.assert_allclose(r.terms.tolerances, [1e-5, 2e-4, 1e-5], rtol=1e-6)


def test_the_printed_form_stays_short():
    assert len(repr(result(np.ones(100_000, bool)))) < 300
    assert "solved 1 of 1" in repr(result(True))
    assert "solved 0 of 0" in repr(result(np.ones(0, bool)))


@pytest.mark.parametrize("name", ["q", "success", "seconds", "other"])
def test_a_result_does_not_change(name):
    r = result(True)
    with pytest.raises(AttributeError, match="does not change"):
        setattr(r, name, 1)
    with pytest.raises(AttributeError, match="does not change"):
        delattr(r, name)


def test_a_result_survives_pickling_with_its_words():
    robot = lw.load("planar_2r")
    r = robot.ik(robot.fk(robot.random(4, seed=0)) * [[1.0], [1.0], [1.0], [1.0]], tries=2)
    far = robot.ik(lw.pose((9.0, 0.0, 0.0)), tries=2)
    for each in (r, far):
        again = pickle.loads(pickle.dumps(each))
        assert again.q.tobytes() == each.q.tobytes()
        assert again.reason == each.reason
        assert np.array_equal(again.success, each.success)
        assert repr(again) == repr(each)
    assert "out of reach" in pickle.loads(pickle.dumps(far)).reason


def failed(robot, tasks, *, limits=(), **how):
    solver = robot.solver(tasks=tasks, limits=limits)
    result = solver.solve(**{"tries": 3, **how})
    assert not result.success
    return result


def test_out_of_reach_is_said_with_a_distance_that_is_a_lower_bound():
    robot = lw.load("ur5e")
    result = robot.ik(lw.pose((3.0, 0.0, 0.2)), "tool0", tries=20)
    assert not result.success
    beyond = float(re.search(r"at least ([\d.]+) m out of reach", result.reason)[1])
    assert 1.0 < beyond <= result.position_error
    assert f"{float(result.position_error):.3g} m" in result.reason


@pytest.mark.parametrize("kind", ["slack", "tolerance", "option", "both"])
def test_out_of_reach_leaves_out_what_slack_and_tolerance_allow(kind):
    robot = lw.load("ur5e")
    point, options = np.array([5.0, 0.0, 0.2]), {"tries": 3}
    how = {"slack": (4.2, 0.3, 0.3)} if kind in ("slack", "both") else {}
    if kind == "both":  # 4.22 m by slack, 0.1 m by tolerance, and 4.0 m are missing at least
        how["tolerance"] = 0.1
    if kind == "tolerance":
        how["tolerance"] = 3.97
    if kind == "option":
        options["position_tolerance"] = 3.97
    result = robot.ik(tasks=lw.ik.Position("tool0", point, **how), **options)
    assert result.success or "out of reach" not in result.reason
    far = robot.ik(tasks=lw.ik.Position("tool0", 2.0 * point, **how), **options)
    beyond = float(re.search(r"at least ([\d.]+) m out of reach", far.reason)[1])
    assert 4.0 < beyond <= max(far.position_error, 5.0)
    near = robot.fk(far.q, "tool0")[:3, 3]
    allowed = np.linalg.norm(how.get("slack", 0.0))
    allowed += options.get("position_tolerance", how.get("tolerance", 1e-5))
    assert beyond <= np.linalg.norm(near - 2.0 * point) - allowed + 1e-3


def test_a_slide_without_limits_has_no_reach():
    result = lw.load("mobile_arm").ik(lw.pose((0.0, 0.0, 9.0)), "tool0", tries=5)
    assert not result.success
    assert "out of reach" not in result.reason


def test_joints_at_their_limits_are_named():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="hinge" type="revolute">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="0.5" effort="1" velocity="1"/></joint></robot>"""
    robot = lw.load(text)
    result = robot.ik(lw.pose(rpy=(0.0, 0.0, 0.8)), "b", tries=30)
    assert not result.success
    assert "hinge (upper)" in result.reason
    assert result.q == pytest.approx([0.5])
    assert float(result.rotation_error) == pytest.approx(0.3)


def test_several_tasks_are_told_apart_by_name():
    robot = lw.load("two_arm_torso")
    near = robot.fk(robot.random(seed=1), "right_tool0")
    tasks = [Pose("left_tool0", lw.pose((9.0, 0.0, 0.0))), Pose("right_tool0", near)]
    reason = failed(robot, tasks).reason
    assert re.search(r"the target of 'left_tool0' is at least [\d.]+ m out of reach", reason)
    assert re.search(r" m and [\d.e-]+ rad away \('left_tool0'\)", reason)
    assert "('right_tool0')" in reason
    assert "target of 'right_tool0'" not in reason


@pytest.mark.slow
def test_errors_have_the_units_of_their_tasks():
    robot = lw.load("panda")
    lower = robot.limits.lower - 0.3
    assert re.search(r"ends [\d.]+ rad away", failed(robot, Posture(lower)).reason)
    assert "joint1 (lower)" in failed(robot, Posture(lower)).reason
    reason = failed(robot, Manipulability("tool0", at_least=50.0)).reason
    assert re.search(r"ends [\d.]+ away", reason)
    reason = failed(robot, CenterOfMass(np.array([0.0, 0.0, 9.0]))).reason
    assert re.search(r"ends [\d.]+ m away", reason)


def test_priorities_that_do_not_decide_are_not_told():
    robot = lw.load("panda")
    far = np.array([9.0, 0.0, 0.0])
    tasks = [Position("tool0", far), Position("link4", -far, priority=1)]
    assert "link4" not in failed(robot, tasks).reason


def test_velocity_limits_that_bound_the_move_are_named():
    robot = lw.load("ur5e")
    q = robot.random(seed=2)
    target = robot.fk(q + 0.3)
    limit = VelocityLimit(0.001, v_max=1.0)
    reason = failed(robot, Pose("tool0", target), limits=[limit], q0=q).reason
    assert "held back by the limit 'velocity': " in reason
    assert "elbow_joint" in reason
    assert "at a limit there" not in reason


def test_coupled_limits_that_bound_the_move_are_named():
    robot = lw.load("planar_2r")
    a, b = robot.joint_names
    table = [[-3.0, -0.2, 0.2], [3.0, -0.2, 0.2]]
    reason = failed(
        robot, Posture(np.array([0.5, 1.5])), limits=[CoupledLimit(b, a, np.array(table))]
    ).reason
    assert f"held back by the limit '{b} by {a}': {b}" in reason


@pytest.mark.slow
def test_a_frame_that_nothing_moves_has_a_reason_too():
    robot = lw.load("ur5e")
    tasks = [Pose("tool0", robot.fk(robot.random(seed=3))), Position("base_link", np.ones(3))]
    reason = failed(robot, tasks).reason
    assert "1.73 m away ('base_link')" in reason


def text_of(result):
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        result.show()
    return screen.getvalue()


def rows(text, task):
    return [line.split() for line in text.splitlines() if line.startswith(task)]


def test_one_target_shows_each_group_with_its_error_tolerance_and_unit():
    robot = lw.load("ur5e")
    result = robot.ik(robot.fk(robot.random(seed=1)))
    text = text_of(result)
    assert text.startswith(f"solved (steps {int(result.iterations)}, restarts")
    (position, rotation) = rows(text, "tool0")
    expected = f"{float(result.position_error):.1e}"
    assert position == ["tool0", "position", expected, "1e-05", "m", "yes"]
    assert rotation[1:2] + rotation[3:] == ["rotation", "0.0001", "rad", "yes"]


def test_a_failure_shows_why_and_which_group_is_not_done():
    robot = lw.load("ur5e")
    result = robot.ik(lw.pose((3.0, 0.0, 0.2)), tries=2)
    text = text_of(result)
    assert result.reason in text.replace("\n", " ")
    assert rows(text, "tool0")[0][-1] == "no"


def test_a_batch_shows_percentiles_and_shares():
    robot = lw.load("ur5e")
    targets = robot.fk(robot.random(40, seed=2))
    targets[:10, :3, 3] += 5.0
    result = robot.ik(targets, tries=2, position_tolerance=1e-4)
    text = text_of(result)
    assert text.startswith(f"{int(result.success.sum())} of 40 solved")
    assert "the first, [0]" in text
    (position, _) = rows(text, "tool0")
    spread = [f"{x:.1e}" for x in np.percentile(result.position_error, [50, 99, 100])]
    assert position[2:5] == spread
    share = np.mean(result.position_error <= 1e-4)
    assert position[-2:] == [f"{100 * share:.6g}", "%"]


def test_lower_priorities_have_a_column():
    robot = lw.load("panda")
    tip = robot.fk(robot.random(seed=3), "tool0")
    tasks = [Pose("tool0", tip), Position("link4", np.array([9.0, 0, 0]), priority=1)]
    text = text_of(robot.ik(tasks=tasks, tries=1))
    assert "priority" in text
    assert rows(text, "link4")[0][2] == "1"
    assert rows(text, "link4")[0][-1] == "no"


def test_nothing_is_shown_as_nothing(capsys):
    result = lw.load("ur5e").ik(np.zeros((0, 4, 4)))
    assert text_of(result) == "0 of 0 solved\n"
    result.show()
    assert capsys.readouterr().out == "0 of 0 solved\n"
