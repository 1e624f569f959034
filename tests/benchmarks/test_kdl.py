"""The benchmark of PyKDL's face, without PyKDL: our side of it runs."""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks import pykdl as benchmark
from linkwork.faces import pykdl


def test_every_call_runs_on_our_side() -> None:
    names = benchmark.values(pykdl)
    for code in benchmark.codes_of(benchmark.VALUES):
        eval(code[1], names)
    names = benchmark.solvers(pykdl)
    codes = {name: eval(code, names) for name, code in benchmark.codes_of(benchmark.SOLVERS)}
    assert len(codes) >= 19
    assert set(codes.values()) == {0}
    anew = {name: eval(code, names) for name, code in benchmark.codes_of(benchmark.ANEW)}
    assert anew.pop("chain out of a tree").getNrOfJoints() == 7
    assert len(anew) >= 17
    assert set(anew.values()) == {0}


def test_a_table_has_ratios_and_marks() -> None:
    lines = [benchmark.Line("one", 1e-6, 4e-6), benchmark.Line("two", 5e-6, 2e-6)]
    text = benchmark.table("calls", lines)
    assert "0.25\n" in text
    assert "2.50 **" in text
    assert "2 calls, median ratio 1.38, 1 above 1, 1 above 2" in text


def test_both_sides_are_measured() -> None:
    lines = benchmark.measured([("a sum", "v + w")], [benchmark.values(pykdl)] * 2, 2, warm=10)
    assert lines[0].name == "a sum"
    assert min(lines[0].ours, lines[0].theirs) > 0.0


@pytest.mark.skipif(importlib.util.find_spec("PyKDL") is not None, reason="PyKDL is installed")
def test_without_pykdl_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main([]) == 0
    assert "LEFT OUT: PyKDL" in capsys.readouterr().out
