"""Two revisions beside each other: a line is measured in both, and its row says the ratio."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.revisions import Line, Worker, lines, measure, page, row

ROOT = Path(__file__).resolve().parents[2]
HOW = argparse.Namespace(rounds=2, seconds=1e-4, data=ROOT, core=None)


def measured(line: Line) -> dict[str, object]:
    workers = [Worker(ROOT, ROOT, None, cache="off") for _ in range(2)]
    try:
        return measure(line, [ROOT, ROOT], workers, HOW)
    finally:
        for worker in workers:
            worker.close()


def test_a_line_is_timed_in_both_in_turns_and_in_new_processes():
    for fresh in (False, True):
        found = measured(Line("chain", "a sum", "x = 3", "x + 4", fresh=fresh))
        rounds = 1 if fresh else 2
        assert [len(seconds) for seconds in found["seconds"]] == [rounds] * 2  # type: ignore[arg-type]
        assert row(found)[0] == "a sum" and "MB" in row(found)[-1]


def test_a_line_that_fails_says_which_revision_and_why():
    cells = row(measured(Line("one", "no such name", "", "missing + 1")))
    assert cells[-1] == "old: NameError: name 'missing' is not defined"


def test_the_page_has_a_table_a_group_with_new_over_old():
    made = {
        "group": "load", "name": "panda", "memory": ([1.0], [1.0]),
        "seconds": ([2.0, 4.0], [1.0, 2.0]),
    }  # fmt: skip
    text = page([made], "before", "after")
    assert "## load" in text and "| panda | 3 s | 1.5 s | 0.5 |" in text


def test_every_line_has_a_name_of_its_own():
    names = [(line.group, line.name) for line in lines()]
    assert len(names) == len(set(names)) > 60
