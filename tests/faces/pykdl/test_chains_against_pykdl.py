"""Solvers against PyKDL's, in one process where it is installed, else against what it once said.

LINKWORK_KDL_VALUES sets at how many positions; 100000 takes minutes, and with -s the largest
difference of each solver is shown.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from kdl_chain_facts import CASES, CHAINS, FILE, results
from kdl_chains import TOLERANCE, apart, chain, said
from linkwork.faces import pykdl

VALUES = int(os.environ.get("LINKWORK_KDL_VALUES", "30"))
FACTS = json.loads(FILE.read_text(encoding="utf-8"))


def worst(seed: str, theirs: list[dict[str, list[float]]]) -> tuple[float, str]:
    ours = results(pykdl, seed, len(theirs))
    assert [set(one) for one in ours] == [set(one) for one in theirs]
    pairs = zip(ours, theirs, strict=True)
    return max((apart(a[name], b[name]), name) for a, b in pairs for name in b)


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHAINS)
def test_solvers_say_what_pykdl_says(seed: str):
    kdl: Any = pytest.importorskip("PyKDL", reason="PyKDL (python3-pykdl) is not installed")
    segments, scaled = CHAINS[seed]
    theirs, ours = (chain(module, seed, segments, scaled=scaled) for module in (kdl, pykdl))
    found: dict[str, float] = {}
    for k in range(VALUES):
        expected = said(kdl, theirs, f"{seed} {k}", inverses=not scaled)
        got = said(pykdl, ours, f"{seed} {k}", inverses=not scaled)
        assert set(got) == set(expected)
        for name, numbers in expected.items():
            found[name] = max(found.get(name, 0.0), apart(got[name], numbers))
    print(f"chain {seed}, {VALUES} positions", *found.items(), sep="\n")
    assert max(found.values()) < TOLERANCE


@pytest.mark.parametrize("seed", CHAINS)
def test_solvers_say_what_pykdl_said(seed: str):
    assert len(FACTS["chains"][seed]) == CASES
    off, name = worst(seed, FACTS["chains"][seed])
    assert off < TOLERANCE, name


def test_the_facts_are_of_this_version():
    assert FACTS["version"] == pykdl.__version__


def test_the_comparison_can_fail():
    assert apart([1.0, 2.0], [1.0, 2.0 + 1e-10]) > TOLERANCE
    assert apart([1.0], [1.0, 2.0]) == float("inf")
    assert apart([float("nan")], [1.0]) == float("inf")
