from __future__ import annotations

import time

import pytest
from benchmarks.lines import FEWEST, Line, compile_loop, measure, measure_each


def test_a_line_runs_its_statement_on_every_input_and_gives_the_last_result() -> None:
    seen: list[int] = []
    line = Line("two statements", "seen.append(q); r = 2 * q\nr += one", {"seen": seen, "one": 1})
    assert compile_loop(line)([1, 2, 3]) == 7
    assert seen == [1, 2, 3]


def test_no_input_gives_none() -> None:
    assert compile_loop(Line("none", "r = q"))([]) is None


def test_reserved_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"may not use the names \['q'\]"):
        compile_loop(Line("bad", "r = q", {"q": 1}))


def test_time_is_per_evaluation_and_at_least_one_pass_is_made() -> None:
    calls: list[int] = []
    loop = compile_loop(Line("count", "calls.append(q)", {"calls": calls}))
    found = measure(loop, [0] * 10, per_pass=10, seconds=0.0)
    assert len(calls) == 10 * found["passes"] and found["passes"] >= 1
    assert 0 < found["wall"] and 0 <= found["cpu"]
    twice = measure(loop, [0] * 10, per_pass=1, seconds=0.0)
    assert twice["passes"] >= 1


def test_percentiles_of_single_calls_are_in_order() -> None:
    found = measure_each(compile_loop(Line("one", "r = q")), list(range(200)))
    assert 0 < found["p50"] <= found["p95"] <= found["p99"]


def test_calls_are_timed_one_by_one_until_the_time_is_over() -> None:
    loop = compile_loop(Line("slow", "sleep(0.001); r = q", {"sleep": time.sleep}))
    few = measure_each(loop, list(range(500)), seconds=0.0)
    assert few["calls"] == FEWEST
    assert 1e6 <= few["p50"] <= few["p99"] <= few["max"]
    all_of_them = measure_each(loop, list(range(40)))
    assert all_of_them["calls"] == 40
    idle = measure_each(loop, list(range(30)), clock=time.process_time_ns)
    assert idle["p50"] < 1e6  # asleep: no processor time
