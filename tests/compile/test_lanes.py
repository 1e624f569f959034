"""Lanes that iterate and refill, against the same queue worked off one by one in Python."""

from __future__ import annotations

import ctypes
import struct

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.graph import graph_of
from linkwork.compile.lanes import (
    ARRAYS,
    NO_SEED,
    NUMBERS,
    REPORT,
    SEED_STEPS,
    Stall,
    emit_lanes,
)
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import host, new_module
from seeds import rng
from traced_functions import read

STEPS, TRIES, SEED = 9, 6, 11
STARTS = np.array([[-3.0, -2.0], [6.0, 4.0], [0.0, 0.0]])
SETTINGS = np.array([1e-6])
SEEDS = np.array([[50_000, 60_000], [NO_SEED, 3], [40_000, 50_000], [0, NO_SEED - 1]], np.uint16)


def step_function(going=()):
    """Newton's method for x0² = p0, x1³ = p1, from where it often fails in nine steps."""
    x, p, s = cs.SX.sym("x", 2), cs.SX.sym("p", 2), cs.SX.sym("s", 1)
    f = cs.vertcat(x[0] ** 2 - p[0], x[1] ** 3 - p[1])
    after = cs.vertcat(x[0] - f[0] / (2 * x[0] + 0.3), x[1] - 0.9 * f[1] / (3 * x[1] ** 2 + 0.01))
    error = cs.dot(f, f)
    return cs.Function("newton", [x, p, s], [after, cs.vertcat(error - s, error, *going)])


def compiled(step, width, stall=None):
    """The native function for a step, and the code that it lives in."""
    module = new_module("lanes", host())
    emit_lanes(module, graph_of(read(step), fuse=False), width, "run", fused=False, stall=stall)
    code = MachineCode(object_code(module, host(), simplify=True))
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int64, *[ctypes.c_int64] * len(NUMBERS), *[ctypes.c_void_p] * len(ARRAYS)
    )
    return code, kind(code.address("run"))


@pytest.fixture(scope="module", params=[2, 4, 8])
def lanes(request):
    return compiled(step_function(), request.param)


def run(
    lanes, x0, p, *, first=0, last=None, state=None, seeded=None, budget=10**15, tries=(0, TRIES)
):
    """``seeded``: the try that starts at a seed, and the rows of the table."""
    n = len(p)
    x, report = state or (x0.copy(), np.tile([0.0, np.inf, 0.0, np.inf], (n, 1)))
    seed_try, rows = seeded or (-1, np.zeros(n))
    arrays = (x0, p, SETTINGS, STARTS, rows, SEEDS, x, report, np.zeros(0))
    numbers = (first, n if last is None else last, STEPS, *tries, SEED, seed_try, budget)
    total = lanes[1](*numbers, *[a.ctypes.data for a in arrays])
    return x, report, total


def absorb_reference(key: int, bits: int) -> int:
    """`absorb` in Python: the finaliser of SplitMix64."""
    x = ((key ^ bits) + 0x9E3779B97F4A7C15) & ((1 << 64) - 1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = ((x ^ (x >> shift)) * factor) & ((1 << 64) - 1)
    return x ^ (x >> 31)


def unit_interval_reference(bits: int) -> float:
    """`unit_interval` in Python."""
    return (bits >> 11) * 2.0**-53


def random_point(parameters, attempt, x0):
    key = absorb_reference(SEED, attempt)
    for value in parameters:
        key = absorb_reference(key, struct.unpack("<Q", struct.pack("<d", value))[0])
    u = [unit_interval_reference(absorb_reference(key, k)) for k in range(2)]
    return STARTS[0] + np.array(u) * STARTS[1] + STARTS[2] * x0


def expected(x0, parameters, seed_try=-1, row=-1, *, tries=TRIES, stall=None):
    """One problem, by the rules: the first try that succeeds, else the best of the failures."""
    step, best = step_function(), None
    for attempt in range(tries):
        x = x0 if attempt == 0 else random_point(parameters, attempt, x0)
        if attempt == seed_try and row >= 0 and SEEDS[row, 0] != NO_SEED:
            x = STARTS[0] + (SEEDS[row] + 0.5) / SEED_STEPS * STARTS[1]
        mark, marked = np.inf, 0
        for count in range(1, STEPS + 1):
            after, state = (np.array(a).ravel() for a in step(x, parameters, SETTINGS))
            if state[0] <= 0.0:
                return x, [1.0, state[1], count, attempt]
            if stall is not None and state[1] < (1.0 - stall.share) * mark:
                mark, marked = state[1], count
            if count == STEPS or (stall is not None and count - marked >= stall.steps):
                break
            x = after
        if best is None or state[1] < best[1][1]:
            best = (x, [0.0, state[1], count, attempt])
    return best


def problems(n, label):
    g = rng(label)
    p = np.stack([g.uniform(-0.5, 4.0, n), g.uniform(-8.0, 8.0, n)], axis=1)
    return g.uniform(-2.0, 2.0, (n, 2)), p


@pytest.mark.parametrize("n", [1, 3, 8, 61])
def test_each_problem_is_solved_as_if_it_were_alone(lanes, n):
    x0, p = problems(n, f"lanes {n}")
    x, report, total = run(lanes, x0, p)
    assert total >= report[:, REPORT.index("steps")].sum()
    for k in range(n):
        q, row = expected(x0[k], p[k])
        np.testing.assert_allclose(report[k], row, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(x[k], q, rtol=1e-9, atol=1e-12)
    if n > 20:
        assert 0 < report[:, 0].sum() < n, "the problems should be of both kinds"
        assert (report[report[:, 0] == 1][:, 3] > 0).any(), "some should need a restart"


def test_order_neighbours_and_chunks_change_nothing(lanes):
    x0, p = problems(50, "order")
    x, report, _ = run(lanes, x0, p)
    order = rng("permutation").permutation(50)
    y0, r = np.ascontiguousarray(x0[order]), np.ascontiguousarray(p[order])
    moved, moved_report, _ = run(lanes, y0, r)
    assert np.array_equal(moved, x[order])
    assert np.array_equal(moved_report, report[order])
    state = None
    for first, last in ((0, 17), (17, 18), (18, 50)):
        a, b, _ = run(lanes, x0, p, first=first, last=last, state=state)
        state = (a, b)
    assert np.array_equal(state[0], x)
    assert np.array_equal(state[1], report)


def test_tries_in_several_calls_are_those_of_one(lanes):
    x0, p = problems(50, "tries")
    rows = rng("rows of tries").integers(-1, 3, 50).astype(float)
    for seeded in (None, (1, rows)):
        x, report, _ = run(lanes, x0, p, seeded=seeded)
        assert (report[:, 3] > 2).any()
        state = None
        for tries in ((0, 1), (1, 3), (3, TRIES)):
            a, b, _ = run(lanes, x0, p, state=state, seeded=seeded, tries=tries)
            state = (a, b)
        assert np.array_equal(state[0], x)
        assert np.array_equal(state[1], report)


@pytest.mark.parametrize("budget", [0, 40, 400])
def test_a_budget_of_steps_ends_it_between_two_rows(lanes, budget):
    x0, p = problems(50, "budget")
    x, report, total = run(lanes, x0, p)
    state, first, slices = None, 0, 0
    while first < 50:
        a, b, made = run(lanes, x0, p, first=first, state=state, budget=budget)
        state, before, first = (a, b), first, 50 + min(made, 0)
        slices += 1
        assert first > before
        assert np.isinf(b[first:, 1]).all()  # untouched
    assert np.array_equal(state[0], x)
    assert np.array_equal(state[1], report)
    assert 2 <= slices <= max(total / max(budget, 1), 50) + 1


def test_one_problem_alone_has_the_bits_of_the_queue(lanes):
    x0, p = problems(40, "race")
    x, report, _ = run(lanes, x0, p)
    for k in range(40):
        a, b, _ = run(lanes, x0[k : k + 1].copy(), p[k : k + 1].copy())
        assert np.array_equal(a[0], x[k])
        assert np.array_equal(b[0], report[k])


@pytest.mark.sweep(5)
@pytest.mark.parametrize("seed_try", [0, 1, 3])
def test_one_try_starts_at_a_seed(lanes, seed_try):
    x0, p = problems(60, "seeds")
    rows = rng("rows").integers(-1, len(SEEDS), 60).astype(float)
    plain = run(lanes, x0, p)
    x, report, _ = run(lanes, x0, p, seeded=(seed_try, rows))
    for k in range(60):
        q, row = expected(x0[k], p[k], seed_try, int(rows[k]))
        np.testing.assert_allclose(report[k], row, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(x[k], q, rtol=1e-9, atol=1e-12)
        alone = x0[k : k + 1].copy(), p[k : k + 1].copy()
        a, b, _ = run(lanes, *alone, seeded=(seed_try, rows[k : k + 1].copy()))
        assert np.array_equal(a[0], x[k])
        assert np.array_equal(b[0], report[k])
    without = (rows < 0) | (rows == 1)
    assert np.array_equal(report[without], plain[1][without])
    assert not np.array_equal(report[~without], plain[1][~without])


@pytest.mark.parametrize("width", [2, 8])
def test_a_try_goes_on_from_a_solution_while_it_is_told_to(width):
    x0, p = problems(40, "going")
    plain = compiled(step_function(), width)
    x, report, _ = run(plain, x0, p)
    same, stopped, _ = run(compiled(step_function([cs.SX(0.0)]), width), x0, p)
    assert np.array_equal(same, x)
    assert np.array_equal(stopped, report)
    _, kept, _ = run(compiled(step_function([cs.SX(1.0)]), width), x0, p)
    solved = (kept[:, 0] == 1.0) & (report[:, 0] == 1.0) & (kept[:, 3] == report[:, 3])
    assert solved.sum() > 20
    assert (kept[solved, 2] == STEPS).all()
    assert (kept[solved, 1] <= report[solved, 1]).all()
    assert np.median(kept[solved, 1]) < 0.1 * np.median(report[solved, 1])


def test_tries_that_can_no_longer_win_are_stopped(lanes):
    x0, p = problems(60, "stopped")
    _, report, _ = run(lanes, x0, p)
    first = np.flatnonzero((report[:, 0] == 1.0) & (report[:, 3] == 0.0))
    assert len(first) > 10
    for k in first:
        _, _, total = run(lanes, x0[k : k + 1].copy(), p[k : k + 1].copy())
        assert total <= 8 * report[k, 2]


@pytest.mark.parametrize("width", [2, 8])
def test_a_try_is_given_up_where_its_score_has_stopped_falling(width):
    x0, p = problems(80, "stall")
    stall = Stall(steps=2, share=0.1)
    _, patient, total = run(compiled(step_function(), width), x0, p)
    lanes = compiled(step_function(), width, stall)
    x, report, fewer = run(lanes, x0, p)
    assert fewer < 0.8 * total
    for k in range(80):
        q, row = expected(x0[k], p[k], stall=stall)
        np.testing.assert_allclose(report[k], row, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(x[k], q, rtol=1e-9, atol=1e-12)
        a, b, _ = run(lanes, x0[k : k + 1].copy(), p[k : k + 1].copy())
        assert np.array_equal(a[0], x[k]) and np.array_equal(b[0], report[k])
    assert (report[report[:, 0] == 0.0][:, 2] < STEPS).any()
    assert patient[:, 0].sum() > 0


def test_a_row_may_have_fewer_tries(lanes):
    x0, p = problems(60, "fewer")
    most = rng("most").integers(0, TRIES + 3, 60)
    report = np.tile([0.0, np.inf, 0.0, np.inf], (60, 1))
    report[:, REPORT.index("steps")] = -most
    x, report, _ = run(lanes, x0, p, state=(x0.copy(), report))
    for k in range(60):
        tries = min(int(most[k]), TRIES) or TRIES
        q, row = expected(x0[k], p[k], tries=tries)
        np.testing.assert_allclose(report[k], row, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(x[k], q, rtol=1e-9, atol=1e-12)
    failed = report[:, 0] == 0.0
    assert (report[failed, 3] < np.where(most[failed] == 0, TRIES, most[failed])).all()


def test_nothing_to_do(lanes):
    x0, p = problems(3, "none")
    x, report, total = run(lanes, x0, p, first=2, last=2)
    assert total == 0
    assert np.array_equal(x, x0)
    assert np.isinf(report[:, 1]).all()


def test_a_problem_that_overflows_leaves_the_others_alone(lanes):
    x0, p = problems(20, "overflow")
    x, report, _ = run(lanes, x0, p)
    p[7] = 1e200
    y, other, _ = run(lanes, x0, p)
    assert other[7, 0] == 0.0
    assert np.array_equal(np.delete(y, 7, 0), np.delete(x, 7, 0))
    assert np.array_equal(np.delete(other, 7, 0), np.delete(report, 7, 0))


# --- The counter-based generator: the same in compiled code and in Python, and well spread ---


def test_neighbouring_counters_are_uniform_and_uncorrelated():
    u = np.array([unit_interval_reference(absorb_reference(7, k)) for k in range(20_000)])
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(u.var() - 1 / 12) < 0.003
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.03
    counts = np.histogram(u, bins=50, range=(0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 100  # chi-squared with 49 degrees of freedom
