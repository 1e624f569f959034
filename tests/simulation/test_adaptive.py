"""Dormand-Prince: dense output, tolerances, and events found where they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.simulation.inputs import Event
from linkwork.simulation.integrators import DOPRI5, dense_weights
from linkwork.simulation.joint_forces import PD
from pendulums import brick, free_tree, orders, pendulum, pendulum_urdf, simulated, slider_urdf
from robots import mechanism_from
from seeds import rng

SLIDER = mechanism_from(slider_urdf())
G = 9.80665


def test_dense_weights_have_order_four():
    c = np.array(DOPRI5.c)
    s = np.linspace(0.0, 1.0, 11)
    weights = np.stack(dense_weights(s), axis=-1)
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


def test_the_steps_are_of_order_five():
    """With steps of one size, which the tolerance would let be longer."""
    m = free_tree(3)
    q0 = np.r_[0, 0, 0, 1.0, 0, 0, 0, 0.3, -0.4]
    v0 = np.linspace(-2.0, 2.0, m.n_v)
    exact = simulated(m, q0, v0, 0.8, dt=1e-4, record=0)
    errors = []
    for h in (0.1, 0.05, 0.025):
        how = {"method": "dopri5", "tolerance": 1e6, "max_step": h, "record": 0}
        found = simulated(m, q0, v0, 0.8, **how)
        errors.append(np.abs(found.q[-1] - exact.q[-1]).max())
    np.testing.assert_allclose(orders(errors), 5.0, atol=0.6)


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


@pytest.mark.slow
def test_forces_without_bound_end_in_a_sentence():
    def pole(t, q, v):
        return np.ones(1) / np.maximum(0.5 - t, 1e-300) ** 2

    result = simulated(SLIDER, [0.0], None, 1.0, torque=pole, method="dopri5", max_speed=1e30)
    assert not result.finished
    assert result.failed_at == pytest.approx(0.5, abs=1e-3)
    assert "no step is short enough" in result.reason


def test_progress_reaches_the_end():
    told: list[tuple[int, int]] = []
    simulated(pendulum(2), [[0.1, 0.2]] * 2, None, 0.5, method="dopri5",
              progress=lambda *a: told.append(a))  # fmt: skip
    assert told[-1] == (1000, 1000)
    assert [d for d, _ in told] == sorted(d for d, _ in told)


DOUBLE = lw.load(pendulum_urdf(2, more='<dynamics damping="0.3"/>'))
STILL = {"gravity": [0.0, 0.0, -G]}


def pulse(kind: str, begin: float, end: float) -> dict:
    """What acts on a double pendulum from ``begin`` to ``end`` only."""

    def inside(t):
        return (np.asarray(t) >= begin) & (np.asarray(t) < end)

    return {
        "torque": {"torque": lambda t, q, v: inside(t) * np.array([200.0, -100.0])},
        "gravity": {"gravity": lambda t: [900.0 * inside(t), 0.0, -G]},
        "target": {"torque": lw.PD(20.0, 1.0, q_target=lambda t: [10.0 * inside(t), 0.0])},
        "wrench": {"external": {"l2": lambda t: [300.0 * inside(t), 0.0, 0.0, 0.0, 0.0, 0.0]}},
    }[kind]


def pulsed(kind: str, q0, begin: float, end: float, duration: float) -> np.ndarray:
    """The last state by SciPy, which integrates the three parts by themselves."""
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")

    def slope(_t, y, on: float):
        q, v = y[:2], y[2:]
        tau, how = -0.3 * v, dict(STILL)
        if kind == "torque":
            tau = tau + on * np.array([200.0, -100.0])
        elif kind == "gravity":
            how["gravity"] = [900.0 * on, 0.0, -G]
        elif kind == "target":
            tau = tau + 20.0 * (np.array([10.0 * on, 0.0]) - q) - v
        else:
            tau = tau + on * 300.0 * DOUBLE.jacobian(q, "l2")[0]
        return np.r_[v, DOUBLE.forward_dynamics(q, v, tau, **how)]

    y = np.r_[q0, 0.0, 0.0]
    for span, on in (((0.0, begin), 0.0), ((begin, end), 1.0), ((end, duration), 0.0)):
        found = integrate.solve_ivp(slope, span, y, "LSODA", args=(on,), rtol=1e-10, atol=1e-11)
        y = found.y[:, -1]
    return y


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", ["torque", "gravity", "target", "wrench"])
def test_no_pulse_is_leapt_over(kind: str):
    """1 ms at any time of 10 s, with its ends as breakpoints."""
    random = rng(f"pulse {kind}")
    begin = random.uniform(0.0, 9.99)
    end, q0 = begin + 1e-3, random.uniform(-0.5, 0.5, 2)
    found = lw.simulate(
        DOUBLE, q0, duration=10.0, method="dopri5", losses=True, record=0,
        breakpoints=[begin, end], **{**STILL, **pulse(kind, begin, end)},
    )  # fmt: skip
    expected = pulsed(kind, q0, begin, end, 10.0)
    np.testing.assert_allclose(np.r_[found.q[-1], found.v[-1]], expected, atol=2e-6)


def test_pulses_as_long_as_the_states_are_apart_need_no_breakpoints():
    """A mass of 2 kg with a damping of 3 N s/m, pushed for 10 ms at any time: v by hand."""
    begin = rng("pulses without breakpoints").uniform(0.0, 0.98, (200, 1))
    robot = lw.load(slider_urdf())

    def push(t, q, v):
        return np.where((t >= begin) & (t < begin + 0.01), 500.0, 0.0)

    how = {"duration": 1.0, "torque": push, "losses": True, "record": 0, "dt": 0.01}
    found = lw.simulate(robot, np.zeros((200, 1)), method="dopri5", **how)
    faded = np.exp(-1.5 * (0.99 - begin)) - np.exp(-1.5 * (1.0 - begin))
    # an edge that is not told of costs up to some hundred tolerances
    np.testing.assert_allclose(found.v[:, -1], 500.0 / 3.0 * faded, rtol=0.0, atol=1e-5)
    leaping = lw.simulate(robot, np.zeros((200, 1)), method="dopri5", max_step=math.inf, **how)
    assert (leaping.v[:, -1] == 0.0).any()  # what a bound on steps is for


def test_a_breakpoint_belongs_to_both_of_its_sides():
    """Whichever side the function takes as its own: a square wave of seven jumps, 0 among them."""
    jumps = np.r_[0.0, np.sort(rng("square wave").uniform(0.0, 1.0, 6))]
    speeds = []
    for own in (np.greater, np.greater_equal):

        def push(t, q, v, own=own):
            return np.array([100.0 * (np.count_nonzero(own(t, jumps)) % 2)])

        found = simulated(
            SLIDER, [0.0], None, 1.0, torque=push, method="dopri5", record=0, breakpoints=jumps
        )
        speeds.append(found.v[-1, 0])
    on = np.diff(np.r_[jumps, 1.0])[::2].sum()
    np.testing.assert_allclose(speeds, 50.0 * on, atol=1e-11)


def test_steps_without_end_are_told():
    """A damper of 1e7 N s/m on 2 kg lets explicit steps be 1e-6 s long."""
    law = PD(0.0, 1e7)
    how = {"torque": law, "method": "dopri5", "dt": 0.1}
    found = simulated(SLIDER, [0.0], [1.0], 1.0, max_steps=500, **how)
    assert not found.finished
    assert "max_steps = 500 are made" in found.reason
    assert "joint 'slide'" in found.reason
    assert "method='implicit'" in found.reason
    with pytest.raises(InputError, match=r"steps of 1e-05 s at most are 100000 for 1 s"):
        simulated(SLIDER, [0.0], None, 1.0, max_step=1e-5, max_steps=99_999, **how)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_step": 0.0}, "max_step must be a finite number above 0"),
        ({"max_steps": 0}, "max_steps must be a whole number from 1"),
        ({"breakpoints": [[0.1]]}, "breakpoints are instants in seconds"),
        ({"breakpoints": [np.nan]}, "breakpoints are instants in seconds"),
        ({"breakpoints": [0.5], "method": "rk4"}, "those of 'rk4' are dt long"),
    ],
)
def test_bounds_of_steps_that_are_refused(wrong: dict, message: str):
    with pytest.raises(InputError, match=message):
        simulated(SLIDER, [0.0], None, 1.0, **{"method": "dopri5", **wrong})
