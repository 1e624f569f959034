"""Programs: from targets to answers in one call; the bits of one target are those of a batch."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import linkwork as lw
from linkwork import ik
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.lanes import NO_SEED
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import host, with_width
from linkwork.mechanism.neutral import neutral
from linkwork.solve.engine import Known
from linkwork.solve.expressions import POSE_AXES, ROUNDING, expressions_of
from linkwork.solve.ik import InverseKinematics
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.problem import make_problem
from linkwork.solve.program import DONE, OPTIONS, Refused, program_of
from linkwork.solve.seeds import starts_of
from linkwork.solve.tasks import Pose
from seeds import rng

ROBOT = lw.load("ur5e")
PROBLEM = make_problem(ROBOT.mechanism, Pose("tool0"))
Q0 = neutral(ROBOT.mechanism)
SETTINGS = settings_of(PROBLEM, Options())


def start_box(problem):
    return np.ascontiguousarray(np.stack(starts_of(problem)))


def built(compiler=None, problem=PROBLEM):
    expressions, box = expressions_of(problem), start_box(problem)
    return program_of(expressions, box, POSE_AXES, compiler=compiler or Compiler())


def options(program, **changes):
    numbers = {"steps": 16, "tries": 1000, "seed": 0, "seed_try": 0, "checked": 0} | changes
    return program.options(numbers, SETTINGS, [*SETTINGS[:2], ROUNDING])


def targets(n, label):
    g = rng(label)
    return ROBOT.fk(g.uniform(-3.0, 3.0, (n, 6)), "tool0")


@pytest.fixture(scope="module")
def program():
    return built()


@pytest.mark.parametrize("seed_try", [-1, 0, 1])
def test_one_target_has_the_bits_of_a_batch(program, seed_try):
    T, q0 = targets(120, "one"), rng("one q0").uniform(-3.0, 3.0, (120, 6))
    given = options(program, seed_try=seed_try)
    q, report = program.run([T], q0, given)
    assert (report[:, -1] > 1).any(), "some should need restarts"
    for k in range(120):
        alone = program.run([T[k : k + 1]], q0[k : k + 1], given)
        assert np.array_equal(alone[0][0], q[k])
        assert np.array_equal(alone[1][0], report[k])
        if array_abi() is not None:
            row = program.one(T[k].copy(), q0[k].copy(), given)
            assert np.array_equal(row, [*q[k], *report[k]])


def test_seeds_save_restarts(program):
    T = targets(2000, "seeds")
    _, plain = program.run([T], Q0[None], options(program, seed_try=-1))
    _, seeded = program.run([T], Q0[None], options(program))
    assert seeded[:, -1].mean() < 0.8 * plain[:, -1].mean()
    assert seeded[:, -2].mean() < 0.8 * plain[:, -2].mean()


def test_a_given_start_comes_before_the_seed(program):
    g = rng("near")
    q = g.uniform(-2.5, 2.5, (300, 6))
    T = ROBOT.fk(q, "tool0")
    near = q + g.uniform(-0.02, 0.02, q.shape)
    found, report = program.run([T], near, options(program, seed_try=1))
    stayed = report[:, -1] == 0
    assert stayed.mean() > 0.9
    assert np.abs(found - q)[stayed].max() < 1.0


def test_chunks_and_threads_change_nothing(program):
    T, q0 = targets(300, "chunks"), rng("chunks q0").uniform(-3.0, 3.0, (300, 6))
    expected = program.run([T], q0, options(program))
    usual = options(program)[OPTIONS.index("budget")]
    for threads, budget in ((3, 1), (4, usual), (1, 2000)):
        told = []
        q, report = program.run(
            [T],
            q0,
            options(program, budget=budget),
            threads=threads,
            progress=lambda *a, t=told: t.append(a),
        )
        assert np.array_equal(q, expected[0])
        assert np.array_equal(report, expected[1])
        assert told[-1] == (300, 300)
        assert [a for a, _ in told] == sorted(a for a, _ in told)


def test_every_width_gives_the_same_bits(program):
    T = targets(50, "widths")
    expected = program.run([T], Q0[None], options(program))
    for width in (2, 4):
        other = built(Compiler(with_width(host(), width)))
        q, report = other.run([T], Q0[None], options(other))
        assert np.array_equal(q, expected[0])
        assert np.array_equal(report, expected[1])
        if array_abi() is not None:
            row = other.one(T[3].copy(), Q0, options(other))
            assert np.array_equal(row, [*q[3], *report[3]])


def test_kept_code_is_the_same(program, tmp_path):
    compiler = Compiler(host(), Cache(tmp_path / "c"))
    assert not built(compiler).made.from_cache

    kept = built(compiler)
    assert kept.made.from_cache
    assert kept.sizes == program.sizes
    T = targets(20, "kept")
    assert np.array_equal(
        kept.run([T], Q0[None], options(kept))[0],
        program.run([T], Q0[None], options(program))[0],
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
def test_what_is_no_pose_is_refused(program, k):
    bad = unfit()[k]
    T = targets(40, "unfit")
    T[27] = bad
    with pytest.raises(Refused) as caught:
        program.run([T], Q0[None], options(program))
    assert caught.value.unfit
    assert 27 - 8 < caught.value.row <= 27
    with pytest.raises(Refused):
        program.run([bad[None]], Q0[None], options(program))
    assert program.one(bad, Q0, options(program)) is None


def test_faults_do_not_count_where_targets_were_checked(program):
    scaled = unfit()[0]
    q, report = program.run([scaled[None]], Q0[None], options(program, checked=1))
    assert report[0, 0] == 1.0
    assert np.isfinite(q).all()


def test_numbers_too_large_are_told_apart(program):
    T = targets(20, "large")
    T[11, 0, 3] = 1e200
    with pytest.raises(Refused) as caught:
        program.run([T], Q0[None], options(program))
    assert not caught.value.unfit
    assert 11 - 8 < caught.value.row <= 11


PANDA, BODY = lw.load("panda"), lw.load("humanoid")


@pytest.mark.slow
def test_parts_share_what_is_compiled_for_them_alone():
    known: Known = {}
    both = InverseKinematics(BODY.mechanism, [Pose("left_foot"), Pose("right_foot")], known=known)
    alone = InverseKinematics(BODY.mechanism, Pose("left_foot"), known=known)
    assert len(both.programs) == 2 and alone.programs[0] is both.programs[0]


def test_seeds_are_where_one_whole_pose_decides():
    for how, seeded in (
        ({}, True),
        ({"objectives": [ik.Centred()]}, True),
        ({"tasks": [Pose("tool0"), ik.Posture(priority=1)]}, True),
        ({"tasks": Pose("tool0", rotation="xy")}, False),
        ({"tasks": ik.Position("tool0")}, False),
        ({"limits": [ik.PositionLimit(0.1)]}, False),
        ({"joints": PANDA.joint_names[:4]}, False),  # others are held
    ):
        problem = make_problem(PANDA.mechanism, how.pop("tasks", Pose("tool0")), **how)
        assert (expressions_of(problem).place is not None) is seeded, how


def test_the_cell_of_a_target_has_a_seed_near_it():
    (program,) = PANDA.solver("tool0").programs
    T = PANDA.fk(PANDA.random(500, seed=1), "tool0")
    begun = program.begin([T], np.tile(PANDA.neutral(), (500, 1)))
    assert begun.rows is not None and not begun.unfit.any()
    seeds = program.tables["seeds"]
    assert np.array_equal(begun.rows, np.floor(begun.rows))
    assert ((begun.rows >= 0) & (begun.rows < len(seeds))).all()
    table = seeds[begun.rows.astype(np.int64)]
    filled = table[:, 0] != NO_SEED
    assert filled.mean() > 0.8
    lower, upper = PANDA.limits.lower[:7], PANDA.limits.upper[:7]
    q = PANDA.neutral() + np.zeros((500, 1))
    q[:, :7] = lower + (table + 0.5) / 65536.0 * (upper - lower)
    near = np.linalg.norm(PANDA.fk(q, "tool0")[:, :3, 3] - T[:, :3, 3], axis=1)[filled]
    far = np.linalg.norm(PANDA.fk(q[::-1], "tool0")[:, :3, 3] - T[:, :3, 3], axis=1)
    assert np.median(near) < 0.3 * np.median(far)


def call_of(listed, rows):
    """What ``solve_listed`` gives: its status."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return kind(listed.function)(rows, listed.arrays)


def test_rows_by_a_list_of_addresses_are_those_of_a_call():
    T, near = targets(1, "listed")[0], rng("listed q0").uniform(-1.0, 1.0, (5, 6))
    solver = ROBOT.solver(tasks=Pose("tool0", target=T))
    given = Options(tries=1, steps=30, nearest_miss=False)
    (listed,) = solver.listed(given, 8)
    listed.q0[:5] = near
    assert call_of(listed, 5) == DONE
    usual = solver.solve(None, near, options=given)
    assert np.array_equal(listed.q[:5], usual.q)
    assert np.array_equal(listed.report[:5, 0] > 0.5, usual.success)


@pytest.mark.slow
def test_parts_by_lists_of_addresses_follow_one_another():
    twin = lw.load("two_arm_torso")
    arms = [name for name in twin.joint_names if "_" in name and "finger" not in name]
    q = twin.random(1, seed=3)[0]
    tasks = [
        Pose(f"{side}_tool0", target=twin.fk(q, f"{side}_tool0")) for side in ("left", "right")
    ]
    solver = twin.solver(tasks=tasks, joints=arms)
    parts = solver.listed(Options(tries=1, steps=40), 4)
    assert len(parts) == len(solver.parts) == 2
    near = q + 0.02 * rng("parts").uniform(-1.0, 1.0, (4, twin.n_q)) * np.isin(
        twin.joint_names, arms
    )
    usual = solver.solve(None, near, options=Options(tries=1, steps=40, nearest_miss=False))
    ok = np.ones(4, bool)
    for part in parts:
        part.q0[:] = near
        assert call_of(part, 4) == DONE
        near, ok = part.q.copy(), ok & (part.report[:, 0] > 0.5)
    assert np.array_equal(ok, usual.success)
    assert np.array_equal(near[ok], usual.q[ok])
