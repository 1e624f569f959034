"""What holds for every side's file without its library: pins, names, reasons, traps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases.compute import Reference
from benchmarks.peers import create_peer, peer_names
from benchmarks.tasks import Joint, Robot, Task

from seeds import rng

OPERATIONS = {"pose", "all_poses", "jacobian", "load"}


@pytest.mark.parametrize("name", peer_names())
def test_each_side_pins_all_and_says_why_it_lacks_what_it_lacks(name: str) -> None:
    peer = create_peer(name)
    assert peer.name == name and peer.module
    assert all("==" in item for item in peer.requirement if item != "linkwork")
    assert any(item.startswith("numpy==") for item in peer.requirement)
    for operation in OPERATIONS:
        assert peer.offers(operation) != (operation in peer.lacks), operation
    assert all(tolerance > 1e-9 and reason for tolerance, reason in peer.looser.values())


def task(tmp_path: Path) -> Task:
    return Task(
        Robot("r", "", "", "", 2), tmp_path, tmp_path, (Joint("one", "", 0, 0),), ("x", "y", "z")
    )


def test_angular_rows_first_are_noticed(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "jacobian")
    J = rng("rows").normal(size=(4, 6, 2))
    assert reference.agreement(J, []).ok
    assert not reference.agreement(J[:, [3, 4, 5, 0, 1, 2]], []).ok


def test_single_precision_agrees_only_at_its_own_tolerance(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "jacobian")
    J = rng("single").normal(size=(4, 6, 2))
    assert reference.agreement(J, []).ok
    rounded = J.astype(np.float32).astype(np.float64)
    assert not reference.agreement(rounded, []).ok
    assert reference.agreement(rounded, [], tolerance=1e-5).ok
    assert not reference.agreement(rounded + 1e-4, [], tolerance=1e-5).ok


def test_a_side_with_moving_links_only_is_compared_on_those(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "all_poses")
    T = rng("moving").normal(size=(4, 3, 4, 4))
    assert reference.agreement(T, ["x", "y", "z"]).ok
    assert reference.agreement(T[:, [2, 0]], ["z", "x"], some=True).ok
    assert not reference.agreement(T[:, [0, 2]], ["z", "x"], some=True).ok
    assert "missing" in str(reference.agreement(T[:, [2, 0]], ["z", "x"]))
    assert not reference.agreement(T[:, :0], [], some=True).ok  # nothing in common is no agreement
