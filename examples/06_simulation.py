"""Simulating: a robot that falls, one that is held, and a thousand at once."""

from __future__ import annotations

import numpy as np

import linkwork as lw

robot = lw.load("panda")
q0 = robot.neutral()

# without forces it falls; its energy stays
falling = lw.simulate(robot, q0, duration=1.0)
print(falling)
print(f"energy drifts by {np.abs(falling.energy - falling.energy[0]).max():.1e} J")

# held by a controller, with the rotors' inertia; stiff control takes the implicit method
target = q0 + 0.3
law = lw.PD(kp=400.0, kd=40.0, q_target=target, feed_forward=robot.gravity_forces(target))
held = lw.simulate(robot, q0, duration=2.0, torque=law, armature=0.1, method="implicit")
print(f"held to {np.abs(held.q[-1] - target).max():.1e} rad")

# a thousand roll-outs, compiled and side by side; only the first and the last state are kept
starts = robot.random(1000, seed=1)
many = lw.simulate(robot, starts, duration=1.0, record=0)
print(f"{many.finished.sum()} of {many.finished.size} finished; {many.reason}")

# a function of time and state instead of a law; when does joint 2 pass 0.5 rad?
passed = lw.Event(lambda t, q, v: q[1] - 0.5, name="joint2 passes 0.5 rad")
result = lw.simulate(
    robot,
    q0,
    duration=1.0,
    method="dopri5",
    torque=lambda t, q, v: -2.0 * v,
    events=[passed],
)
for event in result.events:
    print(f"{event.name} at t = {event.time:.6f} s")
