"""The result as people read it."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError
from linkwork.simulation.result import EventRecord
from pendulums import pendulum, simulated

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


def test_numbers_are_computed_once():
    result = simulated(M, [0.1, 0.2], None, 0.1)
    assert result.energy is result.energy
    assert result.torques is result.torques
    np.testing.assert_array_equal(result.torques, 0.0)


def test_an_event_record():
    record = EventRecord("hit", (), 0.5, np.zeros(1), np.ones(1))
    assert record.name == "hit"
    assert record.time == 0.5


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
    command = [sys.executable, "-c", code, file]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["four_bar", result.reason, result.at(0.033)[0].tobytes().hex()]


def test_truth_is_how_one_went():
    assert simulated(M, [0.1, 0.2], None, 0.1)
    assert not simulated(M, [0.7, 0.7], [900.0, -2000.0], 1.0, dt=0.01)
    many = simulated(M, np.zeros((1, 2)), None, 0.1)
    with pytest.raises(InputError, match=r"`\.finished\.all\(\)`"):
        bool(many)


def test_one_roll_out_has_plain_numbers():
    one = simulated(M, [0.1, 0.2], None, 0.1)
    assert one.finished is True
    assert (one.ended_at, type(one.failed_at)) == (0.1, float)
    assert one.shape == ()


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
