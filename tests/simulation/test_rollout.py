"""Roll-outs: their code is kept, threads change nothing, and progress reaches its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.simulation.library import Library
from linkwork.simulation.rollout import Rollout, rollout_of
from linkwork.simulation.steppers import IMPLICIT, RK4
from pendulums import LIBRARY, pendulum, request, simulated

M = pendulum(2)
Q0 = np.random.default_rng(5).uniform(-1.0, 1.0, (67, 2))


def test_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch):
    one = simulated(M, Q0, duration=0.1)
    monkeypatch.setattr(Rollout, "calls", lambda *_: (8, 10))
    many = simulated(M, Q0, duration=0.1, threads=4)
    np.testing.assert_array_equal(one.q, many.q)
    np.testing.assert_array_equal(one.v, many.v)


def test_a_row_alone_has_the_bits_that_it_has_in_a_batch():
    batch = simulated(M, Q0, duration=0.1)
    for row in (0, 7, 66):
        np.testing.assert_array_equal(simulated(M, Q0[row], duration=0.1).q, batch.q[row])


def test_progress(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Rollout, "calls", lambda *_: (16, 25))
    told: list[tuple[int, int]] = []
    simulated(M, Q0, duration=0.1, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6700, 6700)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) == 5 * 4


@pytest.mark.parametrize("method", [RK4, IMPLICIT], ids=lambda m: m.name)
def test_code_comes_from_the_cache(tmp_path: Path, method):
    asked = request(M, Q0)

    def made(single: bool) -> Rollout:
        library = Library(Compiler(cache=Cache(tmp_path)))
        found = rollout_of(asked.system, method, library, single=single)
        assert found is not None
        return found

    assert [made(single).made.from_cache for single in (True, False, True, False)] == [
        False, False, True, True,
    ]  # fmt: skip
    assert made(True).width == 1


def test_calls_are_short_and_share_the_work():
    rollout = rollout_of(request(M, Q0).system, RK4, LIBRARY, single=False)
    assert rollout is not None
    rows, steps = rollout.calls(1_000_000, 1000, 4)
    assert rows % rollout.width == 0
    cost = 0.5 * rollout.stage_size * 4 * (rows / rollout.width) * steps
    assert cost <= 25e6
    assert rollout.calls(3, 10, 2)[0] == rollout.width
    assert rollout.calls(1, 10**9, 1)[1] < 10**8
