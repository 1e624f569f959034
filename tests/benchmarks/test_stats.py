from __future__ import annotations

import pytest
from benchmarks.stats import ratio, summarize
from hypothesis import given
from hypothesis import strategies as st

times = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=15)


@given(times)
def test_median_lies_between_the_quartiles_and_those_in_the_data(values: list[float]) -> None:
    found = summarize(values)
    assert min(values) <= found.low <= found.median <= found.high <= max(values)
    assert found.rounds == len(values)


@given(times, st.floats(0.1, 100.0))
def test_a_drift_of_the_machine_cancels_in_the_ratio(drift: list[float], factor: float) -> None:
    found = ratio([factor * d for d in drift], drift)
    assert found.median == pytest.approx(factor, rel=1e-12)
    assert found.spread == pytest.approx(0.0, abs=1e-12)


def test_ratio_is_the_median_of_rounds_not_the_ratio_of_medians() -> None:
    assert ratio([2.0, 20.0, 3.0], [1.0, 10.0, 30.0]).median == 2.0


def test_one_outlier_among_seven_rounds_moves_nothing() -> None:
    assert summarize([5.0] * 6 + [500.0]).median == 5.0
    assert summarize([5.0] * 6 + [500.0]).spread == 0.0


def test_nothing_measured_and_rounds_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="no rounds"):
        summarize([])
    with pytest.raises(ValueError, match="rounds differ: 2 and 1"):
        ratio([1.0, 2.0], [1.0])
