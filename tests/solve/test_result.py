"""The result object: shapes, words, brevity."""

from __future__ import annotations

import numpy as np

from linkwork.solve.result import IKResult


def result(success):
    success = np.asarray(success)
    zeros = np.zeros(success.shape)
    whole = zeros.astype(np.int64)
    q = np.zeros((*success.shape, 3))
    return IKResult(q, success, zeros, zeros, whole, whole, lambda row: f"because of {row}")


def test_one_target():
    assert result(True).reason == "solved"
    assert result(False).reason == "because of 0"


def test_a_batch_counts_failures_and_explains_the_first():
    r = result([[True, True], [True, False], [False, True]])
    assert r.reason == "2 of 6 not solved; the first, [1, 1]: because of 3"
    assert r.reason_for(0, 0) == "solved"
    assert r.reason_for(2, 0) == "because of 4"


def test_the_printed_form_stays_short():
    assert len(repr(result(np.ones(100_000, bool)))) < 300
    assert "solved 1 of 1" in repr(result(True))
    assert "solved 0 of 0" in repr(result(np.ones(0, bool)))
