"""Results as people read them: messages, states between states, and files."""

from __future__ import annotations

import copy
import csv
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import bennett
from fresh_python import python
from linkwork.errors import InputError
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.result import between, header
from pendulums import brick, orders, pendulum, simulated, slider_urdf
from robots import mechanism_from

M = pendulum(2)


def test_words_about_one_and_about_many():
    one = simulated(M, [0.1, 0.2], None, 0.1)
    assert one.reason == one.reason_for() == "finished"
    assert repr(one) == ("Simulation('pendulum2': 1 roll-out of 0.1 s, 101 states, finished)")
    many = simulated(M, np.zeros((2, 3, 2)), None, 0.1)
    assert many.finished.shape == (2, 3)
    assert "6 roll-outs of 0.1 s, 101 states each, 6 finished" in repr(many)
    assert many.reason_for(1, 2) == "finished"
    assert many.q.shape == (2, 3, 101, 2)
    assert many.energy.shape == (2, 3, 101)


@pytest.mark.parametrize("t", [-0.1, 0.2, float("nan"), [0.05, 0.3]])
def test_instants_outside_are_refused(t):
    with pytest.raises(InputError, match=r"outside the simulated time, 0 to 0\.1 s"):
        simulated(M, [0.1, 0.2], None, 0.1).at(t)


def test_instants_of_the_wrong_kind():
    result = simulated(M, [0.1, 0.2], None, 0.1)
    with pytest.raises(InputError, match="t must be real numbers"):
        result.at("now")
    with pytest.raises(InputError, match=r"t must be a number or an array \(k,\)"):
        result.at([[0.1]])


COPIES = (copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)))


@pytest.mark.parametrize("again", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_a_simulation_is_data(again, tmp_path):
    # functions that no pickle can hold
    functions = {"torque": lambda t, q, v: [0.1 * t, 0.0], "gravity": lambda t: [0, t, -9.8]}
    v0 = [[0.0, 0.0], [900.0, -2000.0]]
    result = simulated(M, [[0.1, 0.2], [0.7, 0.7]], v0, 0.1, dt=0.01, **functions)
    other = again(result)
    for name in ("times", "q", "v", "torques", "energy", "finished", "failed_at", "ended_at"):
        np.testing.assert_array_equal(getattr(other, name), getattr(result, name))
    assert other.mechanism == M
    assert other.reason == result.reason
    assert other.reason_for(1) == result.reason_for(1)
    assert repr(other) == repr(result)
    for mine, its in zip(result.at([0.0, 0.033]), other.at([0.0, 0.033]), strict=True):
        np.testing.assert_array_equal(mine, its)
    other.save(tmp_path / "other.csv")
    result.save(tmp_path / "result.csv")
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "result.csv").read_bytes()


@pytest.mark.slow
def test_a_pickle_is_read_in_another_process(tmp_path):
    bars = lw.load("four_bar")
    q = bars.assemble([1.0]).q
    result = lw.simulate(bars, q, duration=0.05, dt=0.01, armature=0.1, torque=[0.5])
    file = tmp_path / "run.pickle"
    file.write_bytes(pickle.dumps(result))
    code = (
        "import pickle, sys; s = pickle.load(open(sys.argv[1], 'rb')); "
        "q, v = s.at(0.033); print(s.mechanism.name, s.reason, q.tobytes().hex())"
    )
    told = ["four_bar", result.reason, result.at(0.033)[0].tobytes().hex()]
    assert python(code, file).split() == told


def test_truth_is_how_one_went():
    assert simulated(M, [0.1, 0.2], None, 0.1)
    assert not simulated(M, [0.7, 0.7], [900.0, -2000.0], 1.0, dt=0.01)
    many = simulated(M, np.zeros((1, 2)), None, 0.1)
    with pytest.raises(InputError, match=r"`\.finished\.all\(\)`"):
        bool(many)


def test_json_writes_it():
    event = lw.Event(lambda t, q, v: t - 0.05, name="half")
    v0 = [[0.0, 0.0], [900.0, -2000.0]]
    for result in (
        simulated(M, [0.1, 0.2], None, 0.1, method="dopri5", events=[event]),
        simulated(M, np.full((2, 2), 0.7), v0, 0.1, dt=0.01),
    ):
        read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert read["robot"] == "pendulum2"
        assert read["q_names"] == ["j1", "j2"]
        np.testing.assert_array_equal(np.array(read["q"], float), result.q)  # None: NaN
        np.testing.assert_array_equal(np.array(read["energy"], float), result.energy)
        assert read["finished"] == np.asarray(result.finished).tolist()
        assert read["reason"] == result.reason
        assert [e["name"] for e in read["events"]] == [e.name for e in result.events]


# what is said of roll-outs

SLIDER = mechanism_from(slider_urdf())  # between -0.5 and 0.5 m


def test_joints_that_pass_their_limits_are_named():
    """A mass that slides freely at 1 m/s is at 0.5 m after 0.5 s, and at 0.8 m after 0.8 s."""
    one = simulated(SLIDER, [0.0], [1.0], 0.8, dt=0.01)
    assert one.limit_excess == pytest.approx([0.3])
    assert one.reason == (
        "finished; joint 'slide' passes its upper limit of 0.5 m at t = 0.51 s, by up to 0.3 m "
        "(stops=True lets limits push back)"
    )
    assert one
    assert "passes its upper limit" in repr(one)
    many = simulated(SLIDER, [[0.0], [0.0], [0.0]], [[0.1], [-1.0], [-2.0]], 0.8, dt=0.01)
    np.testing.assert_allclose(many.limit_excess, [[0.0], [0.3], [1.1]], atol=1e-12)
    low = "joint 'slide' passes its lower limit of -0.5 m at t = 0.51 s, by up to 0.3 m"
    assert many.reason.startswith(f"2 of 3 pass joint limits; the first, [1]: {low}")
    assert many.reason_for(0) == "finished"
    assert many.reason_for(1).startswith(f"finished; {low}")
    at_the_limit = simulated(SLIDER, [0.0], [1.0], 0.5, dt=0.01)
    assert at_the_limit.reason == "finished"


def test_limits_that_stops_hold_and_states_that_are_not_there():
    held = simulated(SLIDER, [0.0], [1.0], 0.8, stops=True)
    assert 0.0 < held.limit_excess[0] < 0.02
    assert "stops=True" not in held.reason
    wild = simulated(SLIDER, [0.0], [1.0], 0.8, torque=[100.0], max_speed=9.0, dt=0.01)
    assert not wild
    assert wild.limit_excess[0] == pytest.approx(np.nanmax(wild.q) - 0.5)
    assert "above max_speed" in wild.reason.split("; ")[0]
    assert "joint 'slide' passes" in wild.reason


SWING = pendulum(2)  # at rest it hangs


def test_energy_that_changes_by_itself_is_told():
    """Semi-implicit Euler at 20 ms drifts, RK4 does not; where something acts nobody can tell."""
    start = ([1.5, 0.0], None, 5.0)
    drifting = simulated(SWING, *start, method="euler", dt=0.02)
    change = np.abs(drifting.energy - drifting.energy[0]).max() / drifting.kinetic_energy.max()
    assert drifting.energy_drift == pytest.approx(change, rel=1e-6)
    assert drifting.energy_drift > 0.01
    assert f"{100 * drifting.energy_drift:.3g} % of the largest kinetic energy" in drifting.reason
    assert "take a smaller dt" in drifting.reason
    kept = simulated(SWING, *start)
    assert 0.0 < kept.energy_drift < 1e-6
    assert kept.reason == "finished"
    still = simulated(SWING, [0.0, 0.0], None, 5.0)
    assert still.energy_drift < 1e-3
    driven = {"torque": lw.PD(1.0)}, {"torque": [1.0, 0.0]}, {"gravity": lambda t: [t, 0, 0]}
    for acting in driven:
        assert np.isnan(simulated(SWING, *start, dt=0.02, **acting).energy_drift)
    many = simulated(SWING, [[0.0, 0.0], [1.5, 0.0]], None, 5.0, method="euler", dt=0.02)
    assert many.energy_drift[1] == pytest.approx(drifting.energy_drift)
    assert many.reason.startswith("1 of 2 gain or lose energy; the first, [1]: the energy, which")
    assert many.reason_for(0) == "finished"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "euler", "implicit", "dopri5"])
def test_no_roll_out_of_a_bennett_linkage_has_another_energy_in_silence(method: str):
    robot = bennett()
    q = robot.assemble({"j1": 0.7}).q
    speeds = robot.passive_rates(q) @ [[1.5, 3.0, 6.0]]
    found = simulated(robot.mechanism, q, speeds.T, 2.0, method=method, dt=5e-3)
    for row in range(3):
        words = found.reason_for(row)
        assert not found.finished[row] or (found.energy_drift[row] > 0.01) == ("energy" in words)


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("rk4", "take a smaller dt, or method='implicit'"),
        ("euler", "take a smaller dt, method='rk4'"),
        ("implicit", "take a smaller dt)"),
        ("dopri5", "take a smaller tolerance, or max_step"),
    ],
)
def test_what_to_do_about_long_steps_is_of_the_method(method: str, remedy: str):
    law = lw.PD(-1e3, q_target=[0.0])  # drives away
    found = simulated(SLIDER, [0.1], None, 2.0, torque=law, method=method, max_speed=50.0)
    assert not found
    assert "joint 'slide' moves at" in found.reason
    assert remedy in found.reason


# states between states


@pytest.mark.parametrize("s", [0.0, 0.3, 0.5, 1.0])
def test_cubics_are_exact(s: float):
    def x(t):
        return 1 + 2 * t - 3 * t**2 + 0.5 * t**3

    def v(t):
        return 2 - 6 * t + 1.5 * t**2

    h = 0.8
    first, second = np.array([x(0.0), v(0.0)]), np.array([x(h), v(h)])
    found = between(NUMPY, pendulum(1), first, second, np.array([s, h]))
    np.testing.assert_allclose(found, [x(s * h), v(s * h)], rtol=1e-13, atol=1e-14)


def test_orders_on_the_group():
    m = brick()
    q0, v0 = [0, 0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 3.0, 0.1, -2.0]
    fine = simulated(m, q0, v0, 0.4, dt=1e-3)
    errors_q, errors_v = [], []
    for every in (80, 40, 20):
        coarse = simulated(m, q0, v0, 0.4, dt=1e-3, record=every)
        q, v = coarse.at(fine.times)
        errors_q.append(np.abs(q - fine.q).max())
        errors_v.append(np.abs(v - fine.v).max())
        np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1.0, atol=1e-14)
    assert orders(errors_q) == pytest.approx(4.0, abs=0.25)
    assert orders(errors_v) == pytest.approx(3.0, abs=0.25)


# files


def test_npz(tmp_path: Path):
    result = simulated(pendulum(2), [[0.1, 0.2], [0.3, 0.4]], None, 0.1, record=10)
    result.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as read:
        assert set(read) == {
            "times", "q", "v", "torques", "kinetic_energy", "potential_energy", "finished",
            "failed_at", "ended_at", "joint_names",
        }  # fmt: skip
        for name in ("times", "q", "v", "torques", "kinetic_energy", "finished"):
            np.testing.assert_array_equal(read[name], getattr(result, name))
        assert read["joint_names"].tolist() == ["j1", "j2"]


def test_csv_of_one(tmp_path: Path):
    result = simulated(pendulum(2), [0.1, 0.2], [1.0, 2.0], 0.1, record=10)
    result.save(str(tmp_path / "run.CSV"))
    with open(tmp_path / "run.CSV", encoding="utf-8", newline="") as file:
        first, *lines = list(csv.reader(file))
    assert first == header(result) == [
        "time", "q j1", "q j2", "v j1", "v j2", "torque j1", "torque j2", "kinetic energy",
        "potential energy",
    ]  # fmt: skip
    values = np.array(lines, np.float64)
    np.testing.assert_array_equal(values[:, 0], result.times)
    np.testing.assert_array_equal(values[:, 1:3], result.q)
    np.testing.assert_array_equal(values[:, -2], result.kinetic_energy)


def test_csv_of_a_batch_tells_the_rows(tmp_path: Path):
    result = simulated(pendulum(1), [[0.1], [0.2]], None, 0.01, record=5)
    result.save(tmp_path / "run.csv")
    text = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    assert text[0].startswith("row,time,q j1")
    assert [line.split(",")[0] for line in text[1:]] == ["0", "0", "0", "1", "1", "1"]


def test_files_that_are_refused_leave_the_old_file(tmp_path: Path):
    result = simulated(pendulum(1), [0.1], None, 0.01)
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(InputError, match=r"must end in \.npz or \.csv"):
        result.save(tmp_path / "old.txt")
    with pytest.raises(InputError, match="cannot be written"):
        result.save(tmp_path / "none" / "run.npz")
    assert (tmp_path / "old.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["old.txt"]
