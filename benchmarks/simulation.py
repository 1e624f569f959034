"""Roll-outs beside MuJoCo's threaded `rollout`: same model, same steps, no contacts.

python -m benchmarks.simulation [--robot panda] [--rows 1000] [--steps 1000] [--threads 1]

Both sides keep every state. The states at the end are compared first: no time is given for motions
that differ. MuJoCo gets one model, and a data object for each thread.

five_bar and stewart have loops, for which MuJoCo has points that coincide: `connect`, a stiff
spring. So motions agree as far as it gives way, and what each leaves open is printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
import linkwork.models
from linkwork.mechanism.model import JointType
from linkwork.simulating import simulate

MARK = 20.0
"""How many times faster than MuJoCo a core is meant to be."""

SAME = 1.0e-6
"""By how much the ends of short roll-outs may differ."""

NEAR = 1.0e-3
"""The same where MuJoCo's loops give way."""

CLOSED = {"five_bar": ([0.0, -9.80665, 0.0], 0.3), "stewart": ([0.0, 0.0, -9.80665], 0.02)}
"""Gravity along which the mechanism moves, and how far the actuated joints are from neutral."""


def best(call: Callable[[], Any], rounds: int) -> float:
    """Seconds of the quickest of several calls."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


class Mujoco:
    """The same model in MuJoCo: contacts, limits, damping and friction off."""

    def __init__(self, robot: lw.Robot, name: str, dt: float, threads: int) -> None:
        import mujoco  # noqa: PLC0415  not everybody has it
        from mujoco import rollout  # noqa: PLC0415

        self.mujoco: Any = mujoco
        spec = mujoco.MjSpec.from_file(str(Path(linkwork.models.__file__).parent / f"{name}.urdf"))
        spec.compiler.fusestatic = True
        spec.compiler.balanceinertia = False
        spec.option.timestep = dt
        spec.option.gravity = gravity(name)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        off = mujoco.mjtDisableBit
        spec.option.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
        for joint in spec.joints:
            joint.frictionloss, joint.damping = 0.0, np.zeros_like(joint.damping)
        self._connect(spec, robot, dt)
        self.model: Any = spec.compile()
        # a floating body is measured from the world there, from its joint's place here
        self.away = np.zeros(self.model.nq)
        for start, kind in zip(robot.mechanism.q_start, robot.mechanism.joint_types, strict=False):
            if kind is JointType.FLOATING:
                at = slice(int(start), int(start) + 3)
                self.away[at] = (self.model.qpos0 - robot.neutral())[at]
        self.datas = [mujoco.MjData(self.model) for _ in range(threads)]
        self.pool: Any = rollout.Rollout(nthread=threads if threads > 1 else 0)

    def _connect(self, spec: Any, robot: lw.Robot, dt: float) -> None:
        """A point of each loop's first body held to the second, as stiff as steps of dt allow."""
        m, q0 = robot.mechanism, robot.neutral()
        for loop in m.loops:
            held = spec.add_equality()
            held.type = self.mujoco.mjtEq.mjEQ_CONNECT
            held.objtype = self.mujoco.mjtObj.mjOBJ_BODY
            frames = (loop.frame_a, loop.frame_b)
            held.name1, held.name2 = (m.body_names[int(m.frame_body[m.frame(f)])] for f in frames)
            T = np.linalg.inv(robot.fk(q0, held.name1)) @ robot.fk(q0, loop.frame_a)
            held.data[:3], held.solref = T[:3, 3], [2.0 * dt, 1.0]

    def run(self, q0: np.ndarray, steps: int) -> np.ndarray:
        """The positions (rows, steps, nq)."""
        kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros((q0.shape[0], self.mujoco.mj_stateSize(self.model, kind)))
        state[:, 1 : 1 + self.model.nq] = q0 + self.away
        states, _ = self.pool.rollout(self.model, self.datas, state, nstep=steps)
        return states[:, :, 1 : 1 + self.model.nq] - self.away


def gravity(name: str) -> list[float]:
    """What pulls (m/s²)."""
    return CLOSED[name][0] if name in CLOSED else [0.0, 0.0, -9.80665]


def starts(robot: lw.Robot, name: str, rows: int) -> np.ndarray:
    """Configurations (rows, nq): anywhere, or near neutral and assembled."""
    if name not in CLOSED:
        return robot.random(rows, seed=1)
    m, near = robot.mechanism, robot.neutral()
    at = [int(m.q_start[m.joint(joint)]) for joint in robot.actuated]
    asked = CLOSED[name][1] * np.random.default_rng(1).uniform(-1, 1, (2 * rows, len(at)))
    found = robot.assemble(near[at] + asked, q0=near)
    return found.q[found.success][:rows]


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.simulation", description=__doc__)
    parser.add_argument(
        "--robot",
        default="panda",
        help="a bundled model with a fixed base; five_bar and stewart have loops",
    )
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    robot, dt = lw.load(given.robot), 1.0e-3
    q0, pull = starts(robot, given.robot, given.rows), gravity(given.robot)

    def ours(q: np.ndarray, steps: int, method: Any = "rk4") -> Any:
        more = {"method": method, "gravity": pull, "threads": given.threads}
        return simulate(robot, q, duration=steps * dt, dt=dt, **more)

    mujoco = Mujoco(robot, given.robot, dt, given.threads)
    short = min(100, given.steps)
    ends = [ours(q0[:8], short).q[:, -1], mujoco.run(q0[:8], short)[:, -1]]
    gap = np.abs(ends[0] - ends[1]).max()
    if not gap < (NEAR if given.robot in CLOSED else SAME):
        raise SystemExit(f"the motions differ by {gap:.1e}: nothing is compared")
    print(f"{given.robot}: after {short} steps the states differ by {gap:.1e}")
    if given.robot in CLOSED:
        opens = [np.abs(robot.closure(q)).max() for q in ends]
        print("loops are open by {:.0e}, in MuJoCo by {:.0e} m".format(*opens))
    count = given.rows * given.steps
    share = max(1, given.rows // 10)  # a part is enough for the slower side
    theirs = best(lambda: mujoco.run(q0[:share], given.steps), given.rounds) / share / given.steps
    lines = [
        ("Linkwork, rk4", best(lambda: ours(q0, given.steps), given.rounds) / count),
        (
            "Linkwork, one roll-out",
            best(lambda: ours(q0[0], given.steps), given.rounds) / given.steps,
        ),
        ("Linkwork, euler", best(lambda: ours(q0, given.steps, "euler"), given.rounds) / count),
        (
            "Linkwork, implicit",
            best(lambda: ours(q0, given.steps, "implicit"), given.rounds) / count,
        ),
        ("MuJoCo, rk4, rollout", theirs),
    ]
    for name, seconds in lines:
        print(f"{name:24} {1e9 * seconds:9.1f} ns a step, {theirs / seconds:7.1f} times MuJoCo")
    ratio = theirs / lines[0][1]
    verdict = "met" if ratio >= MARK else "MISSED"
    print(f"mark of {MARK:g} times: {verdict} ({ratio:.0f})")


if __name__ == "__main__":
    main()
