"""C source: a robot's functions for a program without Python, compiled and called here.

Run it with ``python examples/04_c_source.py``. Without a C compiler it only writes the files.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

import linkwork as lw

robot = lw.load("panda")
frame = robot.tip

# --- what it costs, before it leaves ------------------------------------------------------------
kernel = robot.kernel("jacobian", frame)
print(kernel.describe(rows=20_000))

# --- two files for a C project ------------------------------------------------------------------
source, header = Path("panda_jacobian.c"), Path("panda_jacobian.h")
source.write_text(kernel.c_source(name="panda_jacobian"))
header.write_text(kernel.c_header(name="panda_jacobian"))
print(f"wrote {source} ({len(source.read_text().splitlines())} lines) and {header}")

# The same in float, for a microcontroller.
Path("panda_jacobian_f.c").write_text(kernel.c_source(name="panda_jacobian_f", single=True))

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None:
    print("no C compiler here: the files are written, that is all")
    raise SystemExit(0)

# --- compiled, loaded, compared -----------------------------------------------------------------
library = Path("panda_jacobian.so").resolve()
line = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
subprocess.run([*line, str(source), "-o", str(library), "-lm"], check=True)
panda_jacobian = ctypes.CDLL(str(library)).panda_jacobian

J = np.zeros((6, robot.n_v))
worst = 0.0
for q in robot.random(1000, seed=0):
    status = panda_jacobian(ctypes.c_void_p(q.ctypes.data), ctypes.c_void_p(J.ctypes.data))
    if status != 0:
        raise SystemExit("an input or a result is not finite")
    worst = max(worst, float(np.abs(J - robot.jacobian(q, frame)).max()))
print(f"1000 Jacobians by C agree with the kernel's within {worst:.1e}")
if worst > 1e-14:
    raise SystemExit("C and the kernel differ by more than rounding")

q = robot.neutral()
q[0] = np.nan
status = panda_jacobian(ctypes.c_void_p(q.ctypes.data), ctypes.c_void_p(J.ctypes.data))
print(f"with a joint angle that is not a number it returns {status}")
