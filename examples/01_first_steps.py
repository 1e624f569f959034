"""First steps: load a robot, look at it, and ask where its tool is and how it moves.

Run it with ``python examples/01_first_steps.py``.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

robot = lw.load("ur5e")
print(f"{len(robot.joint_names)} joints: {', '.join(robot.joint_names)}")
print(f"{len(robot.frame_names)} frames, the last ones: {', '.join(robot.frame_names[-3:])}")
for finding in robot.findings:
    print(f"about the file: {finding}")

# A configuration is one number for each joint, here in radians.
q = np.array([0.0, -1.2, 1.5, -0.3, 1.6, 0.0])

# Where is the tool? A 4x4 matrix: its rotation, and its position in metres.
T = robot.fk(q, "tool0")
print("position of the tool (m):", np.round(T[:3, 3], 4))

# How does it move? Six rows, linear then angular velocity; one column for each joint.
J = robot.jacobian(q, "tool0")
qd = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0])  # rad/s: the base turns
print("velocity of the tool (m/s):", np.round((J @ qd)[:3], 4))

# How near is it to a posture in which a direction is lost?
print("smallest singular value of the Jacobian:", round(float(np.linalg.svd(J)[1][-1]), 4))

print("centre of mass (m):", np.round(robot.com(q), 4))

# Robots never change. A frame at the tip of a tool of 15 cm gives a new robot.
with_tip = robot.with_frame("tip", "tool0", lw.pose([0.0, 0.0, 0.15]))
distance = np.linalg.norm(with_tip.fk(q, "tip")[:3, 3] - T[:3, 3])
print(f"from the tool to its tip: {distance:.3f} m")
if abs(distance - 0.15) > 1e-12:
    raise SystemExit("the tip is not where it was put")
