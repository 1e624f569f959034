"""The compiled parts of inverse kinematics: the same from the cache as fresh."""

from __future__ import annotations

import numpy as np

import linkwork as lw
import linkwork.solve.code as module
from linkwork.algorithms.registry import evaluate
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import host, with_width
from linkwork.solve.code import pipeline_of
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.pose_texts import POSE_AXES, pose_texts, start_box
from linkwork.solve.problem import pose_problem
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
        pose_problem(m, "tool0"),
        pose_problem(m, "wrist_3_link"),
        pose_problem(m, "tool0", m.joint_names[:5]),
    ]
    keys = {module._key("search", p) for p in problems} | {module._key("check", problems[0])}
    assert len(keys) == 4


def test_texts_tell_the_inputs_of_each_part():
    problem = pose_problem(lw.load("ur5e").mechanism, "tool0")
    recipes = pose_texts(problem).recipes()
    inputs = {name: r.traced().signature.input_sizes for name, r in recipes.items()}
    assert inputs == {
        "prepare": (16, 6),
        "step": (6, 12, 3),
        "verify": (6, 6, 12),
        "place": (6,),
    }
    held = pose_texts(pose_problem(lw.load("ur5e").mechanism, "tool0", ["wrist_1_joint"]))
    assert set(held.recipes()) == {"prepare", "step", "verify"}


def test_a_pipeline_has_seeds_where_it_has_features():
    m = lw.load("ur5e").mechanism
    for joints, there in ((None, True), (m.joint_names[:5], False)):
        problem = pose_problem(m, "tool0", joints)
        texts, box = pose_texts(problem), start_box(problem)
        pipeline = pipeline_of(texts, box, POSE_AXES, compiler=Compiler())
        assert (pipeline.sizes.features > 0) == there
        assert pipeline.made.facts["instructions"] > 100
        assert pipeline.made.facts["one"] == (array_abi() is not None)
