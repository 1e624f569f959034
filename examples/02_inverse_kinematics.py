"""Inverse kinematics: bring the tool somewhere, near where it was, and see when it cannot be.

Run it with ``python examples/02_inverse_kinematics.py``.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

robot = lw.load("panda")
home = robot.neutral()

# A target: where the tool is in some other configuration.
target = robot.fk(robot.random(seed=4), "tool0")
result = robot.ik(target, "tool0", q0=home)
print(f"solved: {result.success} ({result.reason})")
print(f"off by {result.position_error * 1e3:.4f} mm and {result.rotation_error * 1e3:.4f} mrad")
print("q =", np.round(result.q, 3))
if not result.success:
    raise SystemExit("a pose that the arm has taken was not found again")

# A straight line: each solution is the start of the next one, so that the joints move little.
q = result.q
for step in range(1, 6):
    goal = target.copy()
    goal[2, 3] += 0.002 * step  # metres, upward
    following = robot.ik(goal, "tool0", q0=q)
    moved = float(np.abs(following.q - q).max())
    print(f"{2 * step:3d} mm higher: {following.success}, largest joint step {moved:.4f} rad")
    q = following.q

# Out of reach: no exception, and no solution that is none. The result says what is wrong.
far = target.copy()
far[:3, 3] = [3.0, 0.0, 0.5]
missed = robot.ik(far, "tool0")
print(f"3 m away: {missed.success} ({missed.reason}), {missed.position_error:.2f} m short")
if missed.success:
    raise SystemExit("a target out of reach was called solved")

# A joint that is stuck: lock it, and solve with the others.
stuck = robot.with_locked([robot.joint_names[2]], at=0.3)
print(f"with one joint locked: {len(stuck.joint_names)} joints left")
print("solved:", stuck.ik(stuck.fk(stuck.random(seed=5), "tool0"), "tool0").success)
