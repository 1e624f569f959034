from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.ik.question import LIMIT, POSE, STRICT, Question, from_dict, inside, true_answers

from seeds import rng

HANDS = Question("two arms", ("left", "right"))
LOWER, UPPER = np.array([-1.0, -np.inf]), np.array([1.0, 1.0])


def turned(angle: float) -> np.ndarray:
    """A pose turned about x."""
    T = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    T[1:3, 1:3] = [[c, -s], [s, c]]
    return T


def test_a_solution_counts_only_near_the_target_and_inside_the_limits() -> None:
    want = np.tile(np.eye(4), (7, 1, 1))
    have, q = want.copy(), np.zeros((7, 2))
    have[1, 0, 3] = 1.01e-4  # too far
    have[2] = turned(1.01e-3)
    q[3, 1] = 1.1  # outside
    q[4, 0] = np.nan
    have[5, 0, 3] = 0.99e-4
    q[6, 1] = 1.0 + 5e-8  # a limit kept in single precision
    found = true_answers(POSE, want, have, q, LOWER, UPPER)
    assert found.tolist() == [True, False, False, False, False, True, True]


def test_ours_is_held_to_its_limits_to_the_last_digits() -> None:
    q = np.array([[0.0, 1.0], [0.0, 1.0 + 5e-8], [0.0, 1.1]])
    assert inside(q, LOWER, UPPER, STRICT).tolist() == [True, False, False]
    assert inside(q, LOWER, UPPER, LIMIT).tolist() == [True, True, False]


def test_a_position_may_be_turned_any_way() -> None:
    want, have = np.eye(4)[None], turned(2.0)[None]
    q = np.zeros((1, 2))
    assert true_answers(Question("position", turned=False), want, have, q, LOWER, UPPER).all()
    assert not true_answers(POSE, want, have, q, LOWER, UPPER).any()
    have[0, 2, 3] = 2e-4
    assert not true_answers(
        Question("position", turned=False), want, have, q, LOWER, UPPER
    ).any()  # fmt: skip


@pytest.mark.parametrize("wrong", [0, 1])
def test_every_one_of_several_frames_counts(wrong: int) -> None:
    want = np.tile(np.eye(4), (2, 2, 1, 1))
    have = want.copy()
    have[1, wrong, 1, 3] = 1e-3
    found = true_answers(HANDS, want, have, np.zeros((2, 2)), LOWER, UPPER)
    assert found.tolist() == [True, False]


def test_the_centre_of_mass_has_a_place_and_no_rotation() -> None:
    question = Question("standing", ("foot",), com=True)
    want = np.tile(np.eye(4), (3, 2, 1, 1))
    have = want.copy()
    have[0, 1] = turned(1.0)
    have[1, 0] = turned(1.0)
    have[2, 1, 0, 3] = 1e-3
    found = true_answers(question, want, have, np.zeros((3, 2)), LOWER, UPPER)
    assert found.tolist() == [True, False, False]


def test_a_question_survives_the_way_to_a_worker() -> None:
    for question in (POSE, HANDS, Question("c", ("a",), turned=False, com=True, under="posture")):
        assert from_dict(json.loads(json.dumps(question.as_dict()))) == question
    assert POSE.plain and not HANDS.plain and HANDS.several
    assert not Question("pose", under="posture").plain
    assert Question("c", ("a",), com=True).several and not Question("a", ("a",)).several


def test_random_errors_are_judged_as_numpy_says() -> None:
    g = rng("judge")
    away = g.uniform(0.5e-4, 1.5e-4, 200)
    want = np.tile(np.eye(4), (200, 1, 1))
    have = want.copy()
    way = g.normal(size=(200, 3))
    have[:, :3, 3] = away[:, None] * way / np.linalg.norm(way, axis=1, keepdims=True)
    found = true_answers(POSE, want, have, np.zeros((200, 2)), LOWER, UPPER)
    assert np.array_equal(found, away < 1e-4)
