"""From targets to answers in one call: the bits of one target are those of a batch."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.lanes import REPORT
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import host, with_width
from linkwork.mechanism.neutral import neutral
from linkwork.solve import pipeline as module
from linkwork.solve.best import starts_of
from linkwork.solve.code import pipeline_of, search_code
from linkwork.solve.inputs import settings_of
from linkwork.solve.options import Options
from linkwork.solve.pipeline import OPTIONS, Refused, Sizes, aligned
from linkwork.solve.pose_features import POSE_AXES
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.pose import Pose
from linkwork.solve.texts import problem_texts, thresholds
from seeds import rng

ROBOT = lw.load("ur5e")
PROBLEM = make_problem(ROBOT.mechanism, Pose("tool0"))
Q0 = neutral(ROBOT.mechanism)
SETTINGS = settings_of(PROBLEM, Options())


def start_box(problem):
    return np.ascontiguousarray(np.stack(starts_of(problem)))


def built(compiler=None, problem=PROBLEM):
    texts, box = problem_texts(problem), start_box(problem)
    return pipeline_of(texts, box, POSE_AXES, compiler=compiler or Compiler())


def options(pipeline, **changes):
    numbers = {"steps": 16, "tries": 1000, "seed": 0, "seed_try": 0, "checked": 0} | changes
    return pipeline.options(numbers, SETTINGS, thresholds(PROBLEM, SETTINGS))


def targets(n, label):
    g = rng(label)
    return ROBOT.fk(g.uniform(-3.0, 3.0, (n, 6)), "tool0")


@pytest.fixture(scope="module")
def pipeline():
    return built()


def test_answers_reach_their_targets(pipeline):
    T = targets(500, "pipeline")
    q, report = pipeline.run([T], Q0[None], options(pipeline))
    assert (report[:, 0] == 1.0).all()
    away = ROBOT.fk(q, "tool0") - T
    assert np.abs(away[:, :3, 3]).max() < 1e-5
    assert np.abs(away[:, :3, :3]).max() < 1e-4
    np.testing.assert_allclose(report[:, 1], (away[:, :3, 3] ** 2).sum(axis=1), atol=1e-16)
    lower, upper = PROBLEM.lower, PROBLEM.upper
    assert (q >= lower).all()
    assert (q <= upper).all()


@pytest.mark.parametrize("seed_try", [-1, 0, 1])
def test_one_target_has_the_bits_of_a_batch(pipeline, seed_try):
    T, q0 = targets(120, "one"), rng("one q0").uniform(-3.0, 3.0, (120, 6))
    given = options(pipeline, seed_try=seed_try)
    q, report = pipeline.run([T], q0, given)
    assert (report[:, -1] > 1).any(), "some should need restarts"
    for k in range(120):
        alone = pipeline.run([T[k : k + 1]], q0[k : k + 1], given)
        assert np.array_equal(alone[0][0], q[k])
        assert np.array_equal(alone[1][0], report[k])
        if array_abi() is not None:
            row = pipeline.one(T[k].copy(), q0[k].copy(), given)
            assert np.array_equal(row, [*q[k], *report[k]])


def test_without_seeds_it_is_the_search(pipeline):
    T, q0 = targets(200, "search"), rng("search q0").uniform(-3.0, 3.0, (200, 6))
    q, report = pipeline.run([T], q0, options(pipeline, seed_try=-1))
    search = search_code(PROBLEM, Compiler())
    parameters = np.hstack([T[:, :3, 3], T[:, :3, :3].reshape(-1, 9)])
    x, found = q0.copy(), np.tile([0.0, np.inf, 0.0, np.inf], (200, 1))
    given = [a.ctypes.data for a in (q0, parameters, SETTINGS, start_box(PROBLEM))]
    search.run(
        0, 200, 16, 0, 1000, 0, -1, 10**12, *given, None, None, x.ctypes.data, found.ctypes.data
    )
    assert np.array_equal(q, x)
    assert np.array_equal(report[:, 0], found[:, REPORT.index("solved")])
    assert np.array_equal(report[:, -2], found[:, REPORT.index("steps")])
    assert np.array_equal(report[:, -1], found[:, REPORT.index("tries")])


def test_seeds_save_restarts(pipeline):
    T = targets(2000, "seeds")
    _, plain = pipeline.run([T], Q0[None], options(pipeline, seed_try=-1))
    _, seeded = pipeline.run([T], Q0[None], options(pipeline))
    assert seeded[:, -1].mean() < 0.8 * plain[:, -1].mean()
    assert seeded[:, -2].mean() < 0.8 * plain[:, -2].mean()


def test_a_given_start_comes_before_the_seed(pipeline):
    g = rng("near")
    q = g.uniform(-2.5, 2.5, (300, 6))
    T = ROBOT.fk(q, "tool0")
    near = q + g.uniform(-0.02, 0.02, q.shape)
    found, report = pipeline.run([T], near, options(pipeline, seed_try=1))
    stayed = report[:, -1] == 0
    assert stayed.mean() > 0.9
    assert np.abs(found - q)[stayed].max() < 1.0


def test_chunks_and_threads_change_nothing(pipeline, monkeypatch):
    T, q0 = targets(300, "chunks"), rng("chunks q0").uniform(-3.0, 3.0, (300, 6))
    expected = pipeline.run([T], q0, options(pipeline))
    usual = options(pipeline)[OPTIONS.index("budget")]
    for chunk, threads, budget in ((7, 1, usual), (64, 3, 1), (4096, 4, usual), (4096, 1, 2000)):
        monkeypatch.setattr(module, "CHUNK", chunk)
        told = []
        q, report = pipeline.run(
            [T],
            q0,
            options(pipeline, budget=budget),
            threads=threads,
            progress=lambda *a, t=told: t.append(a),
        )
        assert np.array_equal(q, expected[0])
        assert np.array_equal(report, expected[1])
        assert told[-1] == (300, 300)
        assert [a for a, _ in told] == sorted(a for a, _ in told)


def test_every_width_gives_the_same_bits(pipeline):
    T = targets(50, "widths")
    expected = pipeline.run([T], Q0[None], options(pipeline))
    for width in (2, 4):
        other = built(Compiler(with_width(host(), width)))
        q, report = other.run([T], Q0[None], options(other))
        assert np.array_equal(q, expected[0])
        assert np.array_equal(report, expected[1])
        if array_abi() is not None:
            row = other.one(T[3].copy(), Q0, options(other))
            assert np.array_equal(row, [*q[3], *report[3]])


def test_kept_code_is_not_traced(pipeline, tmp_path, monkeypatch):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    assert not built(compiler).made.from_cache

    def fail(recipe):
        raise AssertionError("traced although the cache has it")

    monkeypatch.setattr(Recipe, "traced", fail)
    kept = built(compiler)
    assert kept.made.from_cache
    assert kept.sizes == pipeline.sizes
    T = targets(20, "kept")
    assert np.array_equal(
        kept.run([T], Q0[None], options(kept))[0],
        pipeline.run([T], Q0[None], options(pipeline))[0],
    )


def unfit():
    """Poses that are none, each with what is wrong."""
    T = np.eye(4)
    T[:3, 3] = (0.3, 0.2, 0.4)
    scaled, mirrored, last, nan, infinite = (T.copy() for _ in range(5))
    scaled[:3, :3] *= 1.0 + 2e-6
    mirrored[0, 0] = -1.0
    last[3, 3] = 1.001
    nan[1, 3] = np.nan
    infinite[2, 2] = np.inf
    return [scaled, mirrored, last, nan, infinite]


@pytest.mark.parametrize("k", range(5))
def test_what_is_no_pose_is_refused(pipeline, k):
    bad = unfit()[k]
    T = targets(40, "unfit")
    T[27] = bad
    with pytest.raises(Refused) as caught:
        pipeline.run([T], Q0[None], options(pipeline))
    assert caught.value.unfit
    assert 27 - 8 < caught.value.row <= 27
    with pytest.raises(Refused):
        pipeline.run([bad[None]], Q0[None], options(pipeline))
    assert pipeline.one(bad, Q0, options(pipeline)) is None


def test_a_start_that_is_not_finite_is_refused(pipeline):
    T = targets(3, "start")
    q0 = np.zeros((3, 6))
    q0[1, 2] = np.nan
    with pytest.raises(Refused):
        pipeline.run([T], q0, options(pipeline))
    assert pipeline.one(T[0].copy(), q0[1].copy(), options(pipeline)) is None


def test_faults_do_not_count_where_targets_were_checked(pipeline):
    scaled = unfit()[0]
    q, report = pipeline.run([scaled[None]], Q0[None], options(pipeline, checked=1))
    assert report[0, 0] == 1.0
    assert np.isfinite(q).all()


def test_numbers_too_large_are_told_apart(pipeline):
    T = targets(20, "large")
    T[11, 0, 3] = 1e200
    with pytest.raises(Refused) as caught:
        pipeline.run([T], Q0[None], options(pipeline))
    assert not caught.value.unfit
    assert 11 - 8 < caught.value.row <= 11


def test_what_cannot_be_reached_is_no_success(pipeline):
    T = targets(30, "far")
    T[5, 0, 3] += 5.0
    q, report = pipeline.run([T], Q0[None], options(pipeline, tries=20))
    assert report[5, 0] == 0.0
    assert report[:, 0].sum() == 29
    lower, upper = PROBLEM.lower, PROBLEM.upper
    assert ((q >= lower) & (q <= upper)).all()
    assert report[5, 1] > 9.0
    assert 0 <= report[5, -1] < 20


def test_one_takes_nothing_but_what_fits(pipeline):
    given, T = options(pipeline), targets(1, "fits")[0].copy()
    for arguments in (
        (T, Q0), (T[None], Q0, given), (T[:3], Q0, given), (T.astype(np.float32), Q0, given),
        (T.tolist(), Q0, given), (T.T, Q0, given), (T, Q0[:5], given), (T, Q0, given[:-1]),
    ):  # fmt: skip
        assert pipeline.one(*arguments) is None


def test_no_targets(pipeline):
    q, report = pipeline.run([np.zeros((0, 4, 4))], Q0[None], options(pipeline))
    assert q.shape == (0, 6)
    assert report.shape == (0, pipeline.sizes.report)


def test_threads_of_python_share_a_pipeline(pipeline):
    T = targets(2000, "shared")
    expected = pipeline.run([T], Q0[None], options(pipeline))
    failed = []

    def work():
        for _ in range(3):
            q, report = pipeline.run([T], Q0[None], options(pipeline))
            if not (np.array_equal(q, expected[0]) and np.array_equal(report, expected[1])):
                failed.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed


def test_sizes_go_through_json(pipeline):
    sizes = pipeline.sizes
    assert Sizes.from_facts(json.loads(json.dumps(sizes.to_facts()))) == sizes
    assert sizes.inputs == (16, 6)
    assert options(pipeline).shape == (sizes.options,)
    assert sizes.options == len(OPTIONS) + sizes.settings + sizes.measures
    assert sizes.scratch(3) - sizes.scratch(2) == sum(size for _, size in sizes.parts)


def test_scratch_is_aligned():
    for count in (1, 7, 1000):
        room = aligned(count)
        assert room.size == count
        assert room.ctypes.data % 64 == 0
