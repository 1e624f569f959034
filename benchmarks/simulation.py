"""Roll-outs beside MuJoCo's threaded `rollout`: same model, same steps, no contacts.

python -m benchmarks.simulation [--robot panda] [--rows 1000] [--steps 1000] [--threads 1]

Both sides keep every state. The states at the end are compared first: no time is given for motions
that differ. MuJoCo gets one model, and a data object for each thread.
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
from linkwork.simulating import simulate

MARK = 20.0
"""How many times faster than MuJoCo a core is meant to be."""

SAME = 1.0e-6
"""By how much the ends of short roll-outs may differ."""


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

    def __init__(self, path: Path, dt: float, threads: int) -> None:
        import mujoco  # noqa: PLC0415  not everybody has it
        from mujoco import rollout  # noqa: PLC0415

        self.mujoco: Any = mujoco
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = True
        spec.compiler.balanceinertia = False
        spec.option.timestep = dt
        spec.option.gravity = [0.0, 0.0, -9.80665]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        off = mujoco.mjtDisableBit
        spec.option.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT
        for joint in spec.joints:
            joint.frictionloss, joint.damping = 0.0, np.zeros_like(joint.damping)
        self.model: Any = spec.compile()
        self.datas = [mujoco.MjData(self.model) for _ in range(threads)]
        self.pool: Any = rollout.Rollout(nthread=threads if threads > 1 else 0)

    def run(self, q0: np.ndarray, steps: int) -> np.ndarray:
        """The positions (rows, steps, nq)."""
        kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros((q0.shape[0], self.mujoco.mj_stateSize(self.model, kind)))
        state[:, 1 : 1 + self.model.nq] = q0
        states, _ = self.pool.rollout(self.model, self.datas, state, nstep=steps)
        return states[:, :, 1 : 1 + self.model.nq]


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.simulation", description=__doc__)
    parser.add_argument("--robot", default="panda", help="a bundled model with a fixed base")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    robot, dt = lw.load(given.robot), 1.0e-3
    q0 = robot.random(given.rows, seed=1)

    def ours(q: np.ndarray, steps: int, method: Any = "rk4") -> Any:
        return simulate(robot, q, duration=steps * dt, dt=dt, method=method, threads=given.threads)

    path = Path(linkwork.models.__file__).parent / f"{given.robot}.urdf"
    mujoco = Mujoco(path, dt, given.threads)
    short = min(100, given.steps)
    gap = np.abs(ours(q0[:8], short).q[:, -1] - mujoco.run(q0[:8], short)[:, -1]).max()
    if not gap < SAME:
        raise SystemExit(f"the motions differ by {gap:.1e}: nothing is compared")
    print(f"{given.robot}: after {short} steps the states differ by {gap:.1e}")
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
