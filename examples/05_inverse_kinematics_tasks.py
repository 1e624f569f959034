"""Inverse kinematics with tasks: two hands, a drill that may turn, a humanoid that stands, a loop.

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
free = lw.ik.Pose("tool0", rotation="xy", axes_of="tool")
gentle = robot.ik(targets, tasks=free, objectives=lw.ik.Centred())
middle = 0.5 * (robot.limits.lower + robot.limits.upper)
half = 0.5 * (robot.limits.upper - robot.limits.lower)
for name, q in (("any way", holes.q), ("centred", gentle.q)):
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

# All ways to reach one pose, and of them the one that moves the joints least.
arm = lw.load("ur5e")
start = np.array([0.0, -1.2, 1.5, -0.3, 1.6, 0.0])
pose = arm.fk(start + 0.3, "tool0")
ways = arm.ik_all(pose, "tool0", q0=start)
print(f"{len(ways.q)} ways; the nearest turns joints by {np.abs(ways.q[0] - start).max():.2f} rad")
check(bool(ways.success.all()), "each of them")

# A control loop: a step each 2 ms, so that the axis of the tool looks at something that moves.
# No joint gets faster than it may, and none past its end.
eye = robot.controller(tasks=lw.ik.Pointing("tool0"), dt=0.002)
q = robot.ik(tasks=lw.ik.Pointing("tool0", [1.0, 0.0, 0.5])).q
fastest = 0.0
for tick in range(1000):
    thing = np.array([1.0, 0.5 * np.sin(0.002 * tick), 0.5])
    v = eye.velocity(q, thing)
    q = robot.integrate(q, 0.002 * v)
    fastest = max(fastest, float(np.max(np.abs(v) / robot.limits.velocity)))
tool = robot.fk(q, "tool0")
way = thing - tool[:3, 3]
off = np.arccos(np.clip(tool[:3, 2] @ way / np.linalg.norm(way), -1.0, 1.0))
print(f"looking {np.degrees(off):.3f} degrees past it, at {fastest:.0%} of the fastest at most")
check(off < 1e-2 and fastest <= 1.0 + 1e-9, "the thing that moves")

# Out of reach is not an exception: the reason says how far.
beyond = person.ik(tasks=[lw.ik.Position("right_hand", [3.0, 0.0, 1.0])], q0=stand)
print(f"3 m away: {beyond.reason}")
if beyond.success:
    raise SystemExit("a target out of reach was called solved")
