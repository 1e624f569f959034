"""The native loop: the same bits at every width, in any pieces, whoever the neighbours are."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.compile.compiler import Compiler
from linkwork.compile.target import WIDTHS, host, with_width
from linkwork.simulation.actuators import PD
from linkwork.simulation.library import Library
from linkwork.simulation.request import Track
from linkwork.simulation.rollout import Rollout, rollout_of
from linkwork.simulation.steppers import EULER, IMPLICIT, RK4
from pendulums import free_tree, pendulum, request
from seeds import rng

M = free_tree(3)
LIBRARIES = {width: Library(Compiler(with_width(host(), width))) for width in WIDTHS}


def rollout(width: int, method=RK4, m=M, **how) -> tuple[Rollout, object]:
    random = rng("native loop")
    q0 = np.zeros((11, m.n_q))
    q0[:, m.n_q - m.n_v :] = random.uniform(-1, 1, (11, m.n_v))
    if m.n_q > m.n_v:
        q0[:, 3:7] = random.standard_normal((11, 4))
    v0 = random.standard_normal((11, m.n_v))
    asked = request(m, q0, v0, duration=0.05, **how)
    made = rollout_of(asked.system, method, LIBRARIES[width], single=width == 1)
    assert made is not None
    return made, asked


def more(method, asked) -> np.ndarray | None:
    return np.zeros((11, 2 * asked.system.mechanism.n_v)) if method is IMPLICIT else None


@pytest.mark.sweep(1)
@pytest.mark.parametrize("method", [RK4, EULER, IMPLICIT], ids=lambda m: m.name)
def test_widths_give_the_same_bits(method):
    found: list[Track] = []
    for width in WIDTHS:
        made, asked = rollout(width, method)
        assert made.width == width
        found.append(made.run(asked, more=more(method, asked)))
    for track in found[1:]:
        np.testing.assert_array_equal(track.q, found[0].q)
        np.testing.assert_array_equal(track.v, found[0].v)
    assert np.isfinite(found[0].q).all()


@pytest.mark.parametrize("pieces", [(8, 1), (8, 7), (64, 3)])
def test_calls_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch, pieces: tuple[int, int]):
    made, asked = rollout(8 if host().width == 8 else 2, record=3)
    whole = made.run(asked)
    monkeypatch.setattr(Rollout, "calls", lambda *_: pieces)
    cut = made.run(asked, threads=2)
    np.testing.assert_array_equal(cut.q, whole.q)
    np.testing.assert_array_equal(cut.v, whole.v)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_roll_out_that_fails_is_noted_and_left_alone(width: int):
    m = pendulum(2)
    v0 = np.zeros((11, 2))
    v0[4], v0[9] = [20.0, -45.0], [0.0, 60.0]
    q0 = np.full((11, 2), [0.5, 2.0])
    asked = request(m, q0, v0, duration=0.2, max_speed=50.0)
    made = rollout_of(asked.system, RK4, LIBRARIES[width], single=width == 1)
    assert made is not None
    track = made.run(asked)
    good = np.setdiff1d(np.arange(11), np.flatnonzero(track.failed >= 0))
    assert track.failed[9] == 0.0
    assert track.failed[4] > 0.0
    assert np.abs(track.remains[[4, 9], 2:]).max(axis=1).min() > 50.0
    assert np.isnan(track.remains[good]).all()
    alone = request(m, q0[:9], duration=0.2)
    kept = made.run(alone)
    np.testing.assert_array_equal(track.q[good], kept.q)
    step = int(track.failed[4])
    assert np.isfinite(track.q[4, : step + 1]).all()
    assert np.isnan(track.q[4, step + 1 :]).all()


def test_constants_and_controls_of_each_row():
    m = pendulum(2)
    gains = np.linspace(1, 5, 11)[:, None] * np.ones(2)
    law = PD(gains, 0.1, q_target=lambda t: np.linspace(0, t, 11)[:, None] * np.ones(2))
    width = host().width
    made, asked = rollout(width, m=m, torque=law)
    track = made.run(asked)
    for row in (0, 4, 10):
        one = request(
            m, asked.q0[row], asked.v0[row], duration=0.05,
            torque=PD(gains[row], 0.1, q_target=lambda t, r=row: np.full(2, t * r / 10)),
        )  # fmt: skip
        single = rollout_of(one.system, RK4, LIBRARIES[width], single=True)
        assert single is not None
        np.testing.assert_allclose(single.run(one).q[0], track.q[row], atol=1e-15)


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_that_are_not_asked_for_are_left_alone(width: int):
    """The lanes beyond the last row repeat it, whatever stands behind it in memory."""
    made, asked = rollout(width)
    size = M.n_q + M.n_v
    state = np.hstack([asked.q0, asked.v0])
    state[5:] = np.nan
    before = state.copy()
    q, v = np.zeros((11, 2, M.n_q)), np.zeros((11, 2, M.n_v))
    failed, remains = np.full(11, -1.0), np.zeros((11, size))
    arrays = (state, asked.constants(), np.zeros((1, 1, 0)), np.array([1e-3, 1e5]))
    arrays = (*arrays, q, v, failed, remains)
    counts = (2, 5, 0, 10, 10, 10, 2, 0, 0)
    done = made._function()(*counts, *[a.ctypes.data for a in arrays])
    assert done == 30
    np.testing.assert_array_equal(failed, -1.0)
    assert not remains.any()
    np.testing.assert_array_equal(state[[0, 1]], before[[0, 1]])
    assert np.isnan(state[5:]).all()
    assert q[2:5, 1].any(axis=1).all()
    assert not q[[0, 1, *range(5, 11)]].any()
    assert not q[:, 0].any()
    np.testing.assert_array_equal(np.hstack([q[2:5, 1], v[2:5, 1]]), state[2:5])
