"""Batches and control loops: many configurations in one call, and one configuration very often.

Run it with ``python examples/03_batches_and_control_loop.py``.
"""

from __future__ import annotations

import time

import numpy as np

import linkwork as lw

robot = lw.load("ur5e")

# --- many at once: the reach of the arm ---------------------------------------------------------
qs = robot.random(200_000, seed=0)
robot.fk(qs[:1], "tool0")  # the first call compiles

start = time.perf_counter()
poses = robot.fk(qs, "tool0")
seconds = time.perf_counter() - start
print(f"{len(qs)} poses in {seconds * 1e3:.1f} ms, {seconds / len(qs) * 1e9:.0f} ns each")
reach = np.linalg.norm(poses[:, :3, 3], axis=1)
print(f"the tool is between {reach.min():.3f} m and {reach.max():.3f} m from the base")

# The same rows, the same bits, whatever the number of threads.
if not np.array_equal(poses, robot.fk(qs, "tool0", threads=1)):
    raise SystemExit("the number of threads changed a result")

# A result may go into an array that is there already.
robot.fk(qs, "tool0", out=poses)

# --- many targets -------------------------------------------------------------------------------
start = time.perf_counter()
solved = robot.ik(poses[:2000], "tool0")
seconds = time.perf_counter() - start
print(f"{solved.success.sum()} of 2000 targets solved, compiling included, in {seconds:.2f} s")

# --- one, very often: follow a circle with a damped step ----------------------------------------
fk = robot.function("fk", "tool0")
jacobian = robot.function("jacobian", "tool0")
q = np.array([0.0, -1.2, 1.5, -0.3, 1.6, 0.0])
centre, dt, damping = fk(q)[:3, 3].copy(), 0.002, 1e-4
worst = 0.0
for tick in range(1000):
    angle = 2 * np.pi * tick / 1000
    goal = centre + 0.05 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
    error = goal - fk(q)[:3, 3]
    J = jacobian(q)[:3]
    velocity = 200.0 * error
    q = q + dt * (J.T @ np.linalg.solve(J @ J.T + damping * np.eye(3), velocity))
    worst = max(worst, float(np.linalg.norm(error)))
print(f"a circle of 5 cm followed to {worst * 1e3:.2f} mm")
if worst > 2e-3:
    raise SystemExit("the circle was not followed")
