from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.plot import bars, fill_time, save
from benchmarks.report import main, page
from benchmarks.results import Measurement, Report, from_dict
from benchmarks.table import factor, left_out, plain


def entry(peer: str, role: str, ns: float, **more: Any) -> Measurement:
    made = Measurement("single", "panda", "pose", 1, peer, f"{peer} {role}", role, [ns] * 3)
    return replace(made, **{"wall": [ns] * 3, **more})


def report() -> Report:
    made = Report(
        {"processor": "a processor", "avx512": True, "cores": 2, "system": "s", "date": "a day"},
        {"seed": 1, "rounds": 3, "seconds": 0.1},
        {name: {"version": "1", "numpy": "2", "python": "3"} for name in ("linkwork", "drake")},
    )
    made.measurements = [
        entry("linkwork", "bound", 100.0),
        entry("linkwork", "method", 200.0),
        entry("pinocchio", "mark", 800.0),
        entry("pinocchio", "kept", 600.0),
        entry("drake", "arrays", 2000.0),
        entry("drake", "object", 1000.0),
        entry("wrong", "arrays", 1.0, cpu=[], wall=[], disagrees=True, agreement="3e-2 over 9"),
        entry("linkwork", "out", 10.0, case="batch", rows=16_000),
        entry("linkwork", "memory", 5.0, case="batch", rows=16_000),
        entry("pinocchio", "mark", 500.0, case="batch", rows=16_000),
        entry("linkwork", "nothing cached", 0.5e9, case="compile"),
    ]
    made.leave_out("pykdl", "everything", "installing it failed:\nno network")
    return made


def test_a_side_stands_with_its_fastest_line_that_hands_over_numbers() -> None:
    found = {bar.name: bar for bar in bars([m for m in report().measurements if m.rows == 1][:6])}
    assert found["pinocchio"].time == 600.0 and found["pinocchio"].inside is None
    assert found["drake"].time == 2000.0 and found["drake"].inside == 1000.0
    assert found["Linkwork: bound function"].ours and not found["drake"].ours
    assert [bar.time for bar in bars(report().measurements[:6])] == [100, 200, 600, 2000]


def test_a_side_that_hands_over_nothing_is_marked_as_such() -> None:
    found = bars([entry("linkwork", "bound", 1.0), entry("x", "computed", 2.0)])
    assert found[1].only_inside and found[1].time == 2.0


def test_the_memory_bound_is_a_line_and_no_bar() -> None:
    batch = [m for m in report().measurements if m.case == "batch"]
    assert fill_time(batch) == 5.0
    assert {bar.name for bar in bars(batch)} == {"Linkwork: out=", "pinocchio"}


def test_pictures_are_one_for_each_kind(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (pip install matplotlib) is not installed")
    assert save(report(), tmp_path / "p.svg") == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p-batch.svg", "p-single.svg"]
    assert "nothing to show" in save(Report({}, {}), tmp_path / "none.svg")


def test_the_page_has_ratios_marks_reasons_and_versions(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(report().as_dict()))
    (tmp_path / "page-single.svg").write_bytes(b"")
    assert main([str(file), str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "| pinocchio | **6** (600 ns) |" in text
    assert "| drake | **20** / 10 (2 us) |" in text
    assert "| **linkwork, bound** | 100 ns |" in text
    assert "bound met (5), method met (4)" in text
    assert "out met (40)" in text and "MISSED (400 ms)" in text
    assert "| *memory* | 200 M |" in text
    assert "- pykdl, everything: installing it failed: no network" in text
    assert "- wrong, panda pose, wrong arrays: not timed, it disagrees: 3e-2 over 9" in text
    assert "(page-single.svg)" in text and "page-batch.svg" not in text
    assert "a processor (AVX-512" in text and "| drake | 1 | 2 | 3 |" in text


def test_a_saved_report_comes_back_whole() -> None:
    made = report()
    again = from_dict(json.loads(json.dumps(made.as_dict())))
    assert again == made
    assert page(again) == page(made)


def test_what_is_left_out_is_said_once_by_name_and_reason() -> None:
    made = report()
    made.leave_out("pykdl", "everything", "installing it failed:\nno network")
    assert left_out(made) == ["LEFT OUT: pykdl, everything: installing it failed: no network"]
    assert made.problems == []
    assert "wrong arrays" in plain(made)


def test_reasons_do_not_name_folders_of_this_machine() -> None:
    made = Report({}, {})
    made.leave_out("drake", "talos", "error: /work/a-b/c_1.0/talos.urdf:13: 1/2 of http://x.y/z")
    assert made.left_out[0].reason == "error: talos.urdf:13: 1/2 of http://x.y/z"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.198, "0.198"), (5.69, "5.69"), (137.2, "137"), (1528.0, "1,530"), (34242.0, "34,000")],
)
def test_ratios_have_no_exponent(value: float, text: str) -> None:
    assert factor(value) == text
