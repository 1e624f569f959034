"""Inverse kinematics with tasks: two hands, a drill that may turn, a humanoid that stands.

Run it with ``python examples/05_inverse_kinematics_tasks.py``.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw


def check(solved: bool, what: str) -> None:
    """Say it, and stop where it is not so."""
    print(f"{what}: {'solved' if solved else 'NOT solved'}")
    if not solved:
        raise SystemExit(f"{what} was not solved")


# Two hands hold one box: one hand at a place, the other half a metre from it, wherever that is.
twin = lw.load("two_arm_torso")
left = twin.fk(twin.neutral(), "left_tool0")
apart = np.linalg.inv(left) @ twin.fk(twin.neutral(), "right_tool0")
left[2, 3] += 0.05
hold = [lw.ik.Pose("left_tool0", left), lw.ik.RelativePose("right_tool0", "left_tool0", apart)]
both = twin.ik(tasks=hold, q0=twin.neutral())
check(bool(both.success), "the box, 5 cm higher")

# A drill may turn about its own axis: one number less is asked for, and more targets are in reach.
robot = lw.load("panda")
targets = robot.fk(robot.random(200, seed=4), "tool0")
drill = robot.solver(tasks=lw.ik.Pose("tool0", rotation="xy", axes_of="tool"))
holes = drill.solve(targets)
check(bool(holes.success.all()), f"{len(targets)} holes")

# What is left free is used: of all ways to drill, one with the joints far from their ends.
gentle = robot.solver(
    tasks=lw.ik.Pose("tool0", rotation="xy", axes_of="tool"), objectives=[lw.ik.Centred()]
)
middle = 0.5 * (robot.limits.lower + robot.limits.upper)
half = 0.5 * (robot.limits.upper - robot.limits.lower)
for name, q in (("any way", holes.q), ("centred", gentle.solve(targets).q)):
    way = np.abs((q - middle) / half).mean()
    print(f"  {name}: {way:.0%} of the way from the middle to a limit, on average")

# A humanoid keeps its feet and its balance, and reaches as far as that allows.
person = lw.load("humanoid")
print(f"{person.name}: {person.n_q} joints, {len(person.frame_names)} frames")
stand = person.neutral()
wanted = person.fk(stand, "right_hand")[:3, 3] + [0.1, 0.0, 0.2]
reach = [
    lw.ik.Position("right_hand", wanted),
    lw.ik.CenterOfMass(person.com(stand), axes="xy", tolerance=0.01),
    lw.ik.Posture(stand, priority=1),  # as little else as possible
]
result = person.ik(tasks=reach, q0=stand)
check(bool(result.success), "the shelf")
print(f"  largest turn of a joint: {np.degrees(np.abs(result.q - stand).max()):.0f} degrees")

# Out of reach is not an exception: the reason says how far.
beyond = person.ik(tasks=[lw.ik.Position("right_hand", [3.0, 0.0, 1.0])], q0=stand)
print(f"3 m away: {beyond.reason}")
if beyond.success:
    raise SystemExit("a target out of reach was called solved")
