"""From arguments to results: calls, threads and progress, forces as functions, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.errors import InputError, ShapeError
from linkwork.simulation.integrators import IMPLICIT, RK4
from linkwork.simulation.joint_forces import PD
from linkwork.simulation.time_loop import Library, Rollout, rollout_of
from pendulums import LIBRARY, brick, pendulum, request, simulated

METHODS = ("rk4", "euler", "dopri5", "implicit")
M = pendulum(2)
Q0 = np.random.default_rng(5).uniform(-1.0, 1.0, (67, 2))


@pytest.mark.parametrize("torque", [None, lambda t, q, v: 0.0 * v], ids=["given", "asked"])
def test_progress(torque):
    told: list[tuple[int, int]] = []
    how: dict[str, Any] = {"torque": torque, "record": 4, "dt": 1e-4}
    found = simulated(M, Q0, duration=0.0101, progress=lambda *a: told.append(a), **how)
    assert told[-1] == (6767, 6767)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert found.times[[0, 1, -2, -1]] == pytest.approx([0.0, 4e-4, 0.01, 0.0101])
    assert np.isfinite(found.torques).all()


@pytest.mark.parametrize("method", [RK4, IMPLICIT], ids=lambda m: m.name)
def test_code_comes_from_the_cache(tmp_path: Path, method):
    asked = request(M, Q0)

    def made(single: bool) -> Rollout:
        library = Library(Compiler(cache=Cache(tmp_path)))
        return rollout_of(asked.system, method, library, single=single)

    assert [made(single).made.from_cache for single in (True, False, True, False)] == [
        False, False, True, True,
    ]  # fmt: skip
    assert made(True).width == 1


def test_calls_are_short_and_share_the_work():
    rollout = rollout_of(request(M, Q0).system, RK4, LIBRARY, single=False)
    rows, steps = rollout.calls(1_000_000, 1000, 4)
    assert rows % rollout.width == 0
    cost = 0.5 * rollout.stage_size * 4 * (rows / rollout.width) * steps
    assert cost <= 25e6
    assert rollout.calls(3, 10, 2)[0] == rollout.width
    assert rollout.calls(1, 10**9, 1)[1] < 10**8


def test_what_was_used_last_is_kept():
    library, made = Library(Compiler(), most=2), []

    def get(name: str) -> str:
        return library.get((name,), lambda: made.append(name) or name)

    assert [get(x) for x in "abab"] == list("abab")
    assert made == ["a", "b"]
    get("a")
    get("c")  # b goes
    get("a")
    get("b")
    assert made == ["a", "b", "c", "b"]


# forces that are functions of (t, q, v)

Q1 = np.array([[[0.1, 0.2], [0.3, 0.4], [0.5, -0.6]]])  # (1, 3, 2)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", METHODS)
def test_a_law_written_as_a_function_is_the_law(method: str):
    """In a batch of leading shape (1, 3), and of a mechanism with a loop, which stays closed."""
    how = {"method": method, "dt": 0.01, "tolerance": 1e-11}

    def law(t, q, v):
        return 0.5 * np.sin(t) + 8.0 * (Q1 - q) + 2.0 * (-v)

    called = simulated(M, Q1, duration=0.2, torque=law, **how)
    given = PD(8.0, 2.0, feed_forward=lambda t: 0.5 * np.sin(t))
    native = simulated(M, Q1, duration=0.2, torque=given, **how)
    close = {"rtol": 1e-9, "atol": 1e-9 if method == "implicit" else 1e-12}
    np.testing.assert_allclose(called.q, native.q, **close)
    np.testing.assert_allclose(called.torques, native.torques, rtol=1e-8, atol=1e-7)
    assert called.torques.shape == (1, 3, 21, 2)

    bars = lw.load("four_bar")
    q0, how = bars.neutral(), {**how, "dt": 2e-3, "gravity": [0.0, -9.80665, 0.0]}

    def held(_t, q, v):
        tau = np.zeros_like(v)
        tau[..., 0] = 0.5 * (q0[0] - q[..., 0]) - 0.01 * v[..., 0]
        return tau

    called = simulated(bars.mechanism, q0, None, 0.2, torque=held, **how)
    native = simulated(bars.mechanism, q0, None, 0.2, torque=PD(0.5, 0.01), **how)
    close = 1e-6 if method == "implicit" else 1e-9
    np.testing.assert_allclose(called.q, native.q, atol=close)
    assert np.abs(bars.closure(called.q)).max() < 1e-11


def test_what_the_function_sees():
    seen: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = []

    def look(t, q, v):
        seen.append((t, q.shape, v.shape))
        q[...] = np.nan  # it may do with its copies what it likes
        return np.zeros(2)

    result = simulated(M, Q1, duration=0.02, dt=0.01, torque=look)
    assert result.finished.all()
    assert np.isfinite(result.q).all()
    assert all(s[1:] == ((1, 3, 2), (1, 3, 2)) for s in seen)
    times = [s[0] for s in seen]
    assert times == pytest.approx([0, 0.005, 0.005, 0.01, 0.01, 0.015, 0.015, 0.02, 0.02])
    seen.clear()
    simulated(M, Q1[0, 0], duration=0.01, dt=0.01, torque=look)
    assert seen[0] == (0.0, (2,), (2,))


@pytest.mark.parametrize("method", METHODS)
def test_bad_forces_are_refused_by_joint_row_and_time(method: str):
    def bad(t, q, v):
        tau = np.zeros_like(v)
        if t if np.isscalar(t) else np.max(t) > 0.0:
            tau[0, 1, 1] = np.nan
        return tau

    with pytest.raises(InputError, match=r"returned nan for joint 'j2' of row \[0, 1\] at t = "):
        simulated(M, Q1, duration=0.1, dt=0.01, method=method, torque=bad)
    with pytest.raises(ShapeError, match=r"returns must have shape \(..., 2\)"):
        simulated(M, Q1, duration=0.1, method=method, torque=lambda t, q, v: 1.0)
    with pytest.raises(ShapeError, match=r"must return the shape \(1, 3, 2\), not \(5, 2\)"):
        simulated(M, Q1, duration=0.1, method=method, torque=lambda t, q, v: np.zeros((5, 2)))


def test_a_row_whose_forces_are_too_large_fails_and_the_others_go_on():
    def push(t, q, v):
        assert np.isfinite(q).all()
        tau = np.zeros_like(v)
        tau[1] = 1e7 * (t > 0.05)
        return tau

    result = simulated(M, Q1[0], duration=0.1, torque=push)
    assert result.finished.tolist() == [True, False, True]
    assert 0.05 < result.failed_at[1] < 0.06
    free = simulated(M, Q1[0], duration=0.1)
    np.testing.assert_allclose(result.q[[0, 2]], free.q[[0, 2]], atol=1e-13)
    last = int(np.flatnonzero(np.isfinite(result.q[1, :, 0]))[-1])
    assert result.times[last] == pytest.approx(result.ended_at[1])


# what is kept, computed later, and said


def test_energies_and_torques_are_those_of_the_kept_states():
    law = PD(5.0, 1.0, q_target=lambda t: [t, -t])
    result = simulated(M, [[0.1, 0.2], [0.5, 1.0]], None, 0.1, torque=law, record=20,
                       gravity=[1.0, 0.0, -3.0], armature=0.2)  # fmt: skip
    assert result.times.tolist() == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1])
    for row in range(2):
        for k, t in enumerate(result.times):
            q, v = result.q[row, k], result.v[row, k]
            given = {"armature": np.full(2, 0.2)}
            kinetic = evaluate("kinetic_energy", M, q, v, parameters=given)
            potential = evaluate(
                "potential_energy", M, q, parameters={"gravity": np.array([1.0, 0.0, -3.0])}
            )
            assert result.kinetic_energy[row, k] == pytest.approx(float(kinetic), rel=1e-12)
            assert result.potential_energy[row, k] == pytest.approx(float(potential), rel=1e-12)
            expected = 5.0 * (np.array([t, -t]) - q) - v
            np.testing.assert_allclose(result.torques[row, k], expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(result.energy, result.kinetic_energy + result.potential_energy)


@pytest.mark.parametrize("method", METHODS)
def test_no_duration_gives_the_first_state(method: str):
    result = simulated(M, [[0.1, 0.2]], None, 0.0, method=method)
    assert result.times.tolist() == [0.0]
    assert result.q.tolist() == [[[0.1, 0.2]]]
    assert result.finished.all()
    assert result.energy.shape == (1, 1)


def test_divergence_says_when_and_who_and_keeps_what_was_before():
    v0 = [[0.0, 0.0], [0.0, 0.0], [900.0, -2000.0]]
    result = simulated(M, np.full((3, 2), 0.7), v0, 1.0, dt=0.01)
    assert result.finished.tolist() == [True, True, False]
    when = float(result.failed_at[2])
    assert 0.0 < when < 1.0
    assert result.ended_at[2] == pytest.approx(when - 0.01)
    text = result.reason
    assert text.startswith(f"1 of 3 did not finish; the first, [2]: at t = {when:.6g} s joint 'j")
    assert "above max_speed = 1e+05" in text
    assert "dt" in text
    assert result.reason_for(0) == "finished"
    kept = np.isfinite(result.q[2, :, 0])
    assert kept[: int(kept.sum())].all()
    assert np.isnan(result.energy[2, -1])
    assert np.isnan(result.torques[2, -1]).all()
    assert np.isnan(result.at(1.0)[0][2]).all()
    np.testing.assert_array_equal(
        result.q[:2], simulated(M, np.full((2, 2), 0.7), None, 1.0, dt=0.01).q
    )


def test_a_floating_base_tells_its_units():
    fast = simulated(brick(), [0, 0, 0, 1, 0, 0, 0], [0, 0, 9.0, 0, 0, 0], 1.0, max_speed=9.5,
                     gravity=[0, 0, 9.0])  # fmt: skip
    assert "m/s, above max_speed = 9.5" in fast.reason
    spun = simulated(brick(), [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 9.0, 0, 0], 1.0, max_speed=8.0)
    assert "rad/s, above max_speed = 8" in spun.reason
