"""What works without the packages of an extra, and what says which one it needs."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["casadi"] = None  # as where it is not installed
import numpy as np
import linkwork as lw

r = lw.load("ur5e")
q = r.random(seed=1)
T = r.fk(q, "tool0")
assert r.ik(T, "tool0").success
assert r.inverse_dynamics(q, q, q).shape == (6,)
assert lw.simulate(r, q, duration=0.01).q.shape[-1] == 6
assert lw.load("four_bar").assemble([0.3]).success
assert "double" in r.kernel("fk", "tool0").c_source()
for call in (lambda: r.symbolic("fk", "tool0"),):
    try:
        call()
    except lw.errors.MissingExtraError as error:
        assert "pip install 'linkwork[casadi]'" in str(error), error
    else:
        raise AssertionError("no error")
from linkwork.faces.trip_kinematics.Robot import Robot
print("done")
"""


def test_everything_but_symbols_works_without_casadi():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout == "done\n", done.stderr
