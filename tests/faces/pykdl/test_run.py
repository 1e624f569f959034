"""A script written for PyKDL as it stands, by `linkwork run --as pykdl`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import PyKDL as kdl
from kdl_parser_py.urdf import treeFromFile

ok, tree = treeFromFile("ur5e")
chain = tree.getChain("base_link", "tool0")
n = chain.getNrOfJoints()
q = kdl.JntArray(n)
for k in range(n):
    q[k] = 0.1 * (k + 1)
tip = kdl.Frame()
print(ok, kdl.ChainFkSolverPos_recursive(chain).JntToCart(q, tip))
lower, upper = kdl.JntArray(n), kdl.JntArray(n)
for k in range(n):
    lower[k], upper[k] = -3.0, 3.0
fk, velocities = kdl.ChainFkSolverPos_recursive(chain), kdl.ChainIkSolverVel_pinv(chain)
solver = kdl.ChainIkSolverPos_NR_JL(chain, lower, upper, fk, velocities, 100, 1e-9)
start, found, there = kdl.JntArray(q), kdl.JntArray(n), kdl.Frame()
start[0] += 0.2
print(solver.CartToJnt(start, tip, found), fk.JntToCart(found, there), kdl.Equal(there, tip, 1e-6))
twist, qdot = kdl.diff(tip, tip * kdl.Frame(kdl.Vector(0.1, 0, 0))), kdl.JntArray(n)
print(velocities.CartToJnt(q, twist, qdot), kdl.dot(twist.vel, tip.M.UnitX()))
print(kdl.__file__ is not None, kdl.Frame.__module__)
"""


def test_a_kdl_script_runs_as_it_stands(tmp_path: Path):
    script = tmp_path / "arm.py"
    script.write_text(SCRIPT, encoding="utf-8")
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-m", "linkwork", "run", "--as", "pykdl", str(script)],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["True 0", "0 0 True"]
    code, along = lines[2].split()
    assert int(code) == 0
    assert abs(float(along) - 0.1) < 1e-12
    assert lines[3].endswith("linkwork.faces.pykdl.frame")
