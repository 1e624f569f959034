"""The compiled parts of inverse kinematics: the same from the cache as fresh."""

from __future__ import annotations

import numpy as np

import linkwork as lw
import linkwork.solve.code as module
from linkwork.algorithms.registry import evaluate
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import host, with_width
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.tasks.position import Position
from seeds import rng


def solved(compiler):
    m = lw.load("ur5e").mechanism
    solver = InverseKinematics(m, "tool0", compiler=compiler)
    q = rng("solver code").uniform(m.lower, m.upper, (20, m.n_q))
    T = np.array([evaluate("fk", m, row, frame="tool0") for row in q])
    return solver, solver.solve(T)


def test_kept_code_gives_the_bits_of_fresh_code_without_tracing(tmp_path, monkeypatch):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    fresh_solver, fresh = solved(compiler)
    assert fresh.success.all()
    assert not fresh_solver.search.made.from_cache

    def fail(recipe):
        raise AssertionError("traced although the cache has it")

    monkeypatch.setattr(Recipe, "traced", fail)
    kept_solver, kept = solved(compiler)
    assert kept_solver.search.made.from_cache
    assert kept_solver.search.n_step_instructions == fresh_solver.search.n_step_instructions > 100
    assert kept.q.tobytes() == fresh.q.tobytes()
    assert kept.position_error.tobytes() == fresh.position_error.tobytes()


def test_every_width_gives_the_same_answers():
    _, expected = solved(Compiler(host()))
    for width in (2, 4):
        _, found = solved(Compiler(with_width(host(), width)))
        assert found.q.tobytes() == expected.q.tobytes()


def test_problems_have_keys_of_their_own():
    m = lw.load("ur5e").mechanism
    problems = [
        make_problem(m, Pose("tool0")),
        make_problem(m, Pose("wrist_3_link")),
        make_problem(m, Pose("tool0"), joints=m.joint_names[:5]),
        make_problem(m, [Pose("tool0"), Position("forearm_link", priority=1)]),
    ]
    keys = {module._key("search", p) for p in problems} | {module._key("check", problems[0])}
    assert len(keys) == 5
