"""The code of a problem: one for each structure, and seeds wherever a whole pose decides."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork import ik
from linkwork.compile.compiler import Compiler
from linkwork.solve.compiled import Known, compiled
from linkwork.solve.inputs import rows_of
from linkwork.solve.problem import make_problem
from linkwork.solve.seeds import NO_SEED
from linkwork.solve.tasks.pose import Pose

PANDA, BODY = lw.load("panda"), lw.load("humanoid")


def problem(robot=PANDA, tasks=None, **how):
    return make_problem(robot.mechanism, tasks or Pose("tool0"), **how)


def test_parts_share_what_is_compiled_for_them_alone():
    known: Known = {}
    both = compiled(problem(BODY, [Pose("left_foot"), Pose("right_foot")]), Compiler(), known)
    assert both.pipeline is None
    alone = compiled(problem(BODY, Pose("left_foot")), Compiler(), known)
    assert alone.pipeline is not None
    assert alone.searches[0] is both.searches[0]
    assert compiled(problem(BODY, Pose("left_foot")), Compiler(), known) is alone


def test_seeds_are_where_one_whole_pose_decides():
    known: Known = {}
    for how, seeded in (
        ({}, True),
        ({"objectives": [ik.Centred()]}, True),
        ({"tasks": [Pose("tool0"), ik.Posture(priority=1)]}, True),
        ({"tasks": Pose("tool0", rotation="xy")}, False),
        ({"tasks": ik.Position("tool0")}, False),
        ({"limits": [ik.PositionLimit(0.1)]}, False),
    ):
        search = compiled(problem(**how), Compiler(), known).searches[0]
        assert (search.rows is not None) is seeded, how
        assert (search.seeds is not None) is seeded, how


def test_the_cell_of_a_target_has_a_seed_near_it():
    asked = problem(objectives=[ik.Centred()])
    search = compiled(asked, Compiler(), {}).searches[0]
    T = PANDA.fk(PANDA.random(500, seed=1), "tool0")
    numbers, _, _ = rows_of(asked, T, PANDA.neutral())
    assert search.rows is not None
    assert search.seeds is not None
    rows = search.rows(numbers)
    assert np.array_equal(rows, np.floor(rows))
    assert ((rows >= 0) & (rows < len(search.seeds))).all()
    table = search.seeds[rows.astype(np.int64)]
    filled = table[:, 0] != NO_SEED
    assert filled.mean() > 0.8
    lower, upper = PANDA.limits.lower[:7], PANDA.limits.upper[:7]
    q = PANDA.neutral() + np.zeros((500, 1))
    q[:, :7] = lower + (table + 0.5) / 65536.0 * (upper - lower)
    near = np.linalg.norm(PANDA.fk(q, "tool0")[:, :3, 3] - T[:, :3, 3], axis=1)[filled]
    far = np.linalg.norm(PANDA.fk(q[::-1], "tool0")[:, :3, 3] - T[:, :3, 3], axis=1)
    assert np.median(near) < 0.3 * np.median(far)


def test_the_same_is_found_on_every_way():
    T = PANDA.fk(PANDA.random(300, seed=2), "tool0")
    solver = PANDA.solver("tool0")
    at_once = solver.solve(T)
    timed = solver.solve(T, seconds=1.0)
    assert timed.q.tobytes() == at_once.q.tobytes()
    assert timed.restarts.tolist() == at_once.restarts.tolist()
