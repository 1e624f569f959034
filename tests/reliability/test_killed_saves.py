"""P16: a save that is killed, or runs out of space, leaves the old robot or the new one, whole.

Not at random moments but at every one: before each call that touches the disk there is a try that
ends there. Random moments are tried in test_atomic and test_saving.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import linkwork

SCENARIOS = Path(__file__).parents[1] / "save_scenarios.py"


def stopped_saves(how: str, folder: Path) -> dict[str, Any]:
    """What `save_scenarios` saw."""
    source = str(Path(linkwork.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, str(SCENARIOS), how, str(folder)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["document", "face"])
def test_p16_a_save_stopped_at_any_step_leaves_the_old_robot_or_the_new_one(
    tmp_path: Path, how: str
):
    said = stopped_saves(how, tmp_path)
    assert said["steps"] > 100  # there is much to stop at
    assert said["old"] > 100  # the description comes last
    assert said["new"] >= 2
    assert said["full"] >= 8  # a full disk is told of


@pytest.mark.sweep(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["loops", "no loops any more", "loops at last"])
def test_p16_a_description_and_its_loops_change_together(tmp_path: Path, how: str):
    said = stopped_saves(how, tmp_path)
    assert said["old"] > 20 and said["new"] > 5
    assert said["full"] >= 5
