"""Time laws of the face: closed forms, and exudyn's own on the same profiles."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from linkwork.faces.exudyn_robotics import motion
from seeds import rng


@pytest.fixture(name="original", scope="module")
def _original() -> Any:
    return pytest.importorskip("exudyn.robotics.motion", reason="exudyn is not installed")


def random_profile(g: np.random.Generator, n: int, *, limits: bool) -> tuple[str, tuple[Any, ...]]:
    """The name of a profile, and its arguments."""
    kind, end = int(g.integers(3)), g.uniform(-2.0, 2.0, n)
    if kind == 0:
        return "ProfileConstantAcceleration", (end, float(g.uniform(0.1, 3.0)))
    if kind == 1:
        own = (
            (g.uniform(0.2, 3.0, n), g.uniform(0.2, 9.0, n))
            if not limits or g.random() < 0.5
            else ()
        )
        return "ProfilePTP", (end, False, *own)
    times = np.concatenate([[0.0], np.cumsum(g.uniform(0.1, 1.0, int(g.integers(1, 5))))])
    return "ProfileLinearAccelerationsList", ([[float(t), g.uniform(-2.0, 2.0, n)] for t in times],)


@pytest.mark.parametrize("trial", range(20))
def test_trajectories_are_those_of_exudyn(trial: int, original: Any):
    g = rng(f"exudyn motion {trial}")
    n, limits = int(g.integers(1, 5)), bool(g.integers(2))
    keywords: dict[str, Any] = {"initialTime": float(g.uniform(-1.0, 1.0))}
    if limits:
        keywords |= {
            "maxVelocities": g.uniform(0.2, 2.0, n),
            "maxAccelerations": g.uniform(0.2, 5.0, n),
        }
    start = g.uniform(-1.0, 1.0, n)
    ours, theirs = (m.Trajectory(start, **keywords) for m in (motion, original))
    for _ in range(int(g.integers(1, 5))):
        name, arguments = random_profile(g, n, limits=limits)
        theirs.Add(getattr(original, name)(*arguments))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours.Add(getattr(motion, name)(*arguments))
    times = np.array(ours.GetTimes())
    np.testing.assert_allclose(times, theirs.GetTimes(), atol=1e-12)
    np.testing.assert_allclose(ours.GetFinalCoordinates(), theirs.GetFinalCoordinates(), atol=1e-12)
    for t in [*g.uniform(times[0] - 1.0, times[-1] + 1.0, 200), times[0], *(times[1:] - 1e-9)]:
        np.testing.assert_allclose(ours.Evaluate(t), theirs.Evaluate(t), atol=1e-12)
        k = int(g.integers(n))
        np.testing.assert_allclose(
            ours.EvaluateCoordinate(t, k), theirs.EvaluateCoordinate(t, k), atol=1e-12
        )


def test_half_of_the_way_speeds_up():
    made = motion.Trajectory([0, 1], 3)
    made.Add(motion.ProfileConstantAcceleration([1, 3], 2.0))
    np.testing.assert_allclose(made.Evaluate(3.5), [[0.125, 1.25], [0.5, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(made.Evaluate(5), [[1.0, 3.0], [0.0, 0.0], [-1.0, -2.0]])
    for t, rest in ((3.0, [0, 1]), (2.0, [0, 1]), (5.001, [1, 3])):
        np.testing.assert_array_equal(made.Evaluate(t), [rest, [0, 0], [0, 0]])
    assert made.GetTimes() == [3, 5.0]


@pytest.mark.parametrize("trial", range(10))
@pytest.mark.parametrize("sync", [True, False])
def test_limits_hold_and_one_is_used_up(trial: int, sync: bool):
    """The coordinate that takes longest reaches a limit; synchronised ones stay on a line."""
    g = rng(f"exudyn PTP {trial} {sync}")
    n = int(g.integers(1, 5))
    v, a, start, end = g.uniform(0.2, 2, n), g.uniform(0.2, 5, n), *g.uniform(-2, 2, (2, n))
    made = motion.Trajectory(start, 0.0, v, 10.0 * a)
    made.Add(motion.ProfilePTP(end, syncAccTimes=sync, maxAccelerations=a))
    T = made.GetTimes()[-1]
    states = np.array([made.Evaluate(t) for t in np.linspace(1e-9, T, 501)])
    assert (np.abs(states[:, 1]) <= v * (1 + 1e-12)).all()
    assert (np.abs(states[:, 2]) <= a * (1 + 1e-12)).all()
    np.testing.assert_allclose(states[-1, 0], end, atol=1e-12)
    used = np.maximum(np.abs(states[:, 1]).max(axis=0) / v, np.abs(states[:, 2]).max(axis=0) / a)
    assert used.max() == pytest.approx(1.0, abs=1e-9)
    if sync:
        share = (states[:, 0] - start) / (end - start)
        np.testing.assert_allclose(share, np.repeat(share[:, :1], n, axis=1), atol=1e-12)


def test_what_does_not_move_and_what_is_refused():
    made = motion.Trajectory([1.0, 2.0], 0, [1, 1], [1, 1])
    np.testing.assert_array_equal(made.Evaluate(1.0), [[1, 2], [0, 0], [0, 0]])
    made.Add(motion.ProfilePTP([1.0, 2.0], False))
    assert made.GetTimes() == [0, 0]
    with pytest.warns(UserWarning, match="do not hold for ProfileConstantAcceleration"):
        made.Add(motion.ProfileConstantAcceleration([1.0, 2.0], 1.0))
    np.testing.assert_array_equal(made.Evaluate(0.5), [[1, 2], [0, 0], [0, 0]])
    for time in ("a", [0.5], float("nan")):
        with pytest.raises(ValueError, match="time must be a finite number"):
            made.Evaluate(time)
    with pytest.raises(ValueError, match="maxVelocities must be above zero"):
        made.Add(motion.ProfilePTP([1, 2], maxVelocities=[-1, 1]))
    with pytest.raises(ValueError, match=r"\(3,\) coordinates follows on \(2,\)"):
        made.Add(motion.ProfilePTP([1, 2, 3]))
    with pytest.raises(ValueError, match="needs maxVelocities"):
        motion.Trajectory([0.0]).Add(motion.ProfilePTP([1.0]))
    with pytest.raises(ValueError, match="at least two pairs"):
        motion.ProfileLinearAccelerationsList([])
    with pytest.raises(ValueError, match="begins at time 0, not 1"):
        motion.ProfileLinearAccelerationsList([(1, [0.0]), (2, [1.0])])
    with pytest.raises(ValueError, match="duration"):
        motion.ProfileConstantAcceleration([1.0], -1.0)
