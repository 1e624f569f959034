"""Dormand-Prince: dense output, tolerances, and events found where they are."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import InputError
from linkwork.simulation import adaptive
from linkwork.simulation.actuators import PD
from linkwork.simulation.adaptive import dense_weights
from linkwork.simulation.options import Event
from linkwork.simulation.steppers import DOPRI5
from pendulums import brick, free_tree, pendulum, simulated, slider_urdf
from robots import mechanism_from

SLIDER = mechanism_from(slider_urdf())
G = 9.80665


def test_dense_weights_have_order_four():
    c = np.array(DOPRI5.c)
    s = np.linspace(0.0, 1.0, 11)
    weights = dense_weights(s)
    for k in range(4):
        np.testing.assert_allclose(weights @ c**k, s ** (k + 1) / (k + 1), atol=1e-13)
    np.testing.assert_allclose(weights[0], 0.0, atol=1e-15)
    np.testing.assert_allclose(weights[-1], DOPRI5.b, atol=1e-14)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("m", "q0", "v0"),
    [
        (pendulum(2), [0.4, 0.9], [1.0, -2.0]),
        (brick(), [0, 0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 4.0, 0.1, -3.0]),
    ],
    ids=["pendulum", "brick"],
)
def test_the_error_follows_the_tolerance(m, q0: list[float], v0: list[float]):
    exact = simulated(m, q0, v0, 1.0, dt=1e-4, record=100)
    errors = []
    for tolerance in (1e-5, 1e-7, 1e-9):
        found = simulated(m, q0, v0, 1.0, method="dopri5", tolerance=tolerance, dt=0.01)
        assert found.times.size == 101
        errors.append(np.abs(found.q - exact.q).max())
        assert errors[-1] < 30 * tolerance
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_the_steps_are_of_order_five(monkeypatch: pytest.MonkeyPatch):
    """With steps of one size: the error of the end falls with the fifth power."""
    m = free_tree(3)
    q0 = np.r_[0, 0, 0, 1.0, 0, 0, 0, 0.3, -0.4]
    v0 = np.linspace(-2.0, 2.0, m.n_v)
    exact = simulated(m, q0, v0, 0.4, dt=1e-4, record=0)
    errors = []
    for h in (0.05, 0.025, 0.0125):
        monkeypatch.setattr(
            adaptive._Adaptive, "_next_step",
            lambda self, rows, *_, h=h: rows.__setattr__("h", np.full(1, h)),
        )  # fmt: skip
        monkeypatch.setattr(
            adaptive._Adaptive, "_first_step", lambda self, rows, h=h: np.full(1, h)
        )
        found = simulated(m, q0, v0, 0.4, method="dopri5", tolerance=1.0, record=0)
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(5.0, abs=0.5)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(5.0, abs=0.35)


def test_rows_do_not_depend_on_each_other():
    m = pendulum(2)
    q0 = np.array([[0.1, 0.2], [2.0, -1.0], [0.5, 0.5]])
    batch = simulated(m, q0, None, 0.5, method="dopri5")
    for row in range(3):
        one = simulated(m, q0[row], None, 0.5, method="dopri5")
        np.testing.assert_allclose(one.q, batch.q[row], rtol=0, atol=1e-15)


def fall(event: Event | list[Event], duration: float = 1.0, v0=0.0):
    """A block on a slide that is pulled with 1 g."""
    events = event if isinstance(event, list) else [event]
    return simulated(
        SLIDER, [0.0], [v0], duration, gravity=[G, 0, 0], method="dopri5", events=events, dt=0.01
    )


def test_an_event_is_found_to_the_last_digits():
    result = fall(Event(lambda t, q, v: q[0] - 0.3, name="passed"))
    (found,) = result.events
    assert found.name == "passed"
    assert found.row == ()
    assert found.time == pytest.approx((0.6 / G) ** 0.5, abs=1e-12)
    assert found.q[0] == pytest.approx(0.3, abs=1e-12)
    assert found.v[0] == pytest.approx((0.6 * G) ** 0.5, abs=1e-10)
    assert result.finished
    assert result.reason.startswith(
        "finished; joint 'slide' passes its upper limit of 0.5 m at t ="
    )


def test_a_terminal_event_ends_the_roll_out():
    result = fall(Event(lambda t, q, v: q[0] - 0.3, terminal=True, name="wall"))
    when = (0.6 / G) ** 0.5
    assert result.ended_at == pytest.approx(when, abs=1e-12)
    assert result.finished
    assert result.reason == f"stopped by 'wall' at t = {when:.6g} s"
    last = np.flatnonzero(np.isfinite(result.q[:, 0]))[-1]
    assert result.times[last] <= when < result.times[last + 1]
    # what would have come after it did not happen
    both = fall([
        Event(lambda t, q, v: q[0] - 0.4, name="behind"),
        Event(lambda t, q, v: q[0] - 0.3, terminal=True, name="wall"),
    ])  # fmt: skip
    assert [e.name for e in both.events] == ["wall"]


@pytest.mark.slow
def test_directions():
    def swing(t, q, v):
        return q[0]

    m = pendulum(1)
    found = {}
    for direction in (-1, 0, 1):
        event = Event(swing, direction=direction)
        result = simulated(m, [0.3], None, 4.0, method="dopri5", events=[event])
        found[direction] = [e.time for e in result.events]
        assert all(abs(e.q[0]) < 1e-12 for e in result.events)
        signs = {np.sign(e.v[0]) for e in result.events}
        assert signs == ({1.0, -1.0} if direction == 0 else {float(direction)})
    assert sorted(found[-1] + found[1]) == pytest.approx(found[0])
    assert len(found[0]) == 4


def test_events_of_a_batch_name_their_rows():
    result = simulated(
        pendulum(1), [[0.1], [0.2]], None, 1.0, method="dopri5",
        events=[lambda t, q, v: q[0]],
    )  # fmt: skip
    assert [(e.row, e.name) for e in result.events] == [((0,), "event 0"), ((1,), "event 0")]


def test_events_that_are_no_numbers():
    with pytest.raises(InputError, match="event 0 must return a number, not a str"):
        fall([lambda t, q, v: "x"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="hit returned nan at t = 0 s"):
        fall(Event(lambda t, q, v: float("nan"), name="hit"))


def test_what_explodes_is_told():
    law = PD(-1e3, -1e3, q_target=[[0.0], [0.0]])
    result = simulated(SLIDER, [[0.0], [1e-3]], None, 1.0, torque=law, method="dopri5",
                       max_speed=100.0)  # fmt: skip
    assert result.finished.tolist() == [True, False]
    assert 0.0 < result.failed_at[1] < 1.0
    assert "joint 'slide' moves at" in result.reason_for(1)
    assert np.isnan(result.q[1, -1, 0])
    assert np.isfinite(result.q[0]).all()


def test_forces_without_bound_end_in_a_sentence():
    def pole(t, q, v):
        return np.ones(1) / np.maximum(0.5 - t, 1e-300) ** 2

    result = simulated(SLIDER, [0.0], None, 1.0, torque=pole, method="dopri5", max_speed=1e30)
    assert not result.finished
    assert result.failed_at == pytest.approx(0.5, abs=1e-3)
    assert "no step is short enough" in result.reason


def test_no_time_at_all():
    result = simulated(SLIDER, [0.1], None, 0.0, method="dopri5")
    assert result.q.tolist() == [[0.1]]
    assert result.finished


def test_progress_reaches_the_end():
    told: list[tuple[int, int]] = []
    simulated(pendulum(2), [[0.1, 0.2]] * 2, None, 0.5, method="dopri5",
              progress=lambda *a: told.append(a))  # fmt: skip
    assert told[-1] == (1000, 1000)
    assert [d for d, _ in told] == sorted(d for d, _ in told)
