"""The table of a result: what is in it, for one target, for many, for none."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

import linkwork as lw
from linkwork.solve.show import show
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position


def text_of(result):
    stream = io.StringIO()
    show(result, Console(file=stream, width=100, markup=False))
    return stream.getvalue()


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
