"""The demo: what it measures, that it would notice a wrong answer, and that it is quick."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import demo
from linkwork.solve.result import IKResult


def test_what_it_prints(cli: Callable[..., Any]):
    result = cli("demo", "--robot", "planar_3r", "--targets", 300)
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "robot planar_3r, frame tool0" in text
    assert "targets 300 random poses within reach" in text
    assert "solved 300 (100 %)" in text
    assert "false successes 0, by a second forward kinematics" in text
    assert re.search(r"targets per second [\d,]+ solved", text)
    assert re.search(r"poses per second [\d,]+ evaluated", text)


@pytest.mark.slow
def test_what_it_says_to_try_next_works(cli: Callable[..., Any], capsys: Any):
    text = cli("demo", "--robot", "scara", "--targets", 10).stdout
    commands, python = text[text.index("Try next") :].split("or in Python")
    lines = [line.split()[1:] for line in commands.splitlines() if "linkwork " in line]
    assert len(lines) >= 3
    for line in lines:
        assert cli(*line).exit_code == 0
    exec("\n".join(line.strip() for line in python.splitlines()), {})
    assert "solved 1000 of 1000" in capsys.readouterr().out


def test_the_comparison_is_that_of_the_angle():
    for angle in (0.0, 1e-9, 1e-4, 1e-2):
        turned = lw.pose([3e-5, 0, 4e-5], wxyz=[np.cos(angle / 2), 0, np.sin(angle / 2), 0])
        position, rotation = demo.compare(turned[None], np.eye(4)[None])
        assert position[0] == pytest.approx(5e-5, rel=1e-12)
        assert rotation[0] == pytest.approx(angle, rel=1e-5, abs=1e-12)


def test_a_false_success_is_noticed():
    robot = lw.load("ur5e")
    targets = robot.fk(robot.random(200, seed=0), "tool0")
    result = robot.ik(targets, "tool0")
    assert result.success.all()

    def count(q: np.ndarray) -> int:
        changed = IKResult(q, result.report, result.terms, np.zeros((0, 0)))
        return demo.count_false(robot, changed, demo.compare(robot.fk(q, "tool0"), targets))

    assert count(result.q) == 0
    # the last joint's axis goes through the tool: it changes the rotation alone
    for k, change in ((3, 2e-3), (7, -2e-3), (5, 1e-3), (11, 4 * np.pi)):
        q = result.q.copy()
        q[k, k % 6] += change
        assert count(q) == 1
    failed = result.report.copy()
    failed[:, 0] = 0.0
    none = IKResult(result.q, failed, result.terms, np.zeros((0, 0)))
    assert demo.count_false(robot, none, (np.ones(200), np.zeros(200))) == 0


def test_a_false_success_is_not_passed_over(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(demo, "count_false", lambda *_: 1)
    result = cli("demo", "--robot", "planar_2r", "--targets", 10)
    assert result.exit_code == 1
    assert "answers that were called solved are not" in result.stderr


def test_an_unknown_robot(refused: Callable[..., str]):
    assert "no bundled model named 'pand'; nearest: panda" in refused("demo", "--robot", "pand")


@pytest.mark.slow
def test_the_whole_demo_takes_less_than_ten_seconds(process: Callable[..., Any]):
    start = time.perf_counter()
    with process("demo") as running:
        out, err = running.communicate(timeout=60)
    seconds = time.perf_counter() - start
    assert (running.returncode, err) == (0, "")
    assert "solved 10,000 (100 %)" in " ".join(out.split())
    assert seconds < 10.0
