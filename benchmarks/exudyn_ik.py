"""Inverse kinematics of our face beside exudyn's own: `python -m benchmarks.exudyn_ik`.

Both solve the same random poses of a Puma 560, in one process, each target after the other: from
starts near to a solution, where exudyn's search succeeds, and from the solution of the one before.
An answer counts where the tool is within 1e-8 of the pose by exudyn's own forward kinematics.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Sequence
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np


def measured(solve: Any, targets: Sequence[Any], starts: Any, pose: Any) -> tuple[float, float]:
    """The share of targets that are reached, and the seconds of the processor for each."""
    begin = process_time()
    answers = [solve(T, q0) for T, q0 in zip(targets, starts, strict=True)]
    seconds = (process_time() - begin) / len(targets)
    reached = [
        q is not None and np.abs(pose(q) - T).max() < 1e-8
        for (q, _), T in zip(answers, targets, strict=True)
    ]
    return float(np.mean(reached)), seconds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exudyn_ik", description=__doc__)
    parser.add_argument("--targets", type=int, default=1000, help="for ours; exudyn gets a tenth")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("exudyn") is None:
        print("LEFT OUT: exudyn is not installed")
        return 0
    theirs, their_models = map(import_module, ("exudyn.robotics", "exudyn.robotics.models"))
    from linkwork.faces import exudyn_robotics as ours  # noqa: PLC0415  as above
    from linkwork.faces.exudyn_robotics import models  # noqa: PLC0415  as above

    robot = models.LinkDict2Robot(models.ManipulatorPuma560())
    other = their_models.LinkDict2Robot(their_models.ManipulatorPuma560())
    rng = np.random.default_rng(options.seed)
    q = rng.uniform(-math.pi, math.pi, (options.targets, 6))
    targets = [robot.JointHT(each)[-1] for each in q]
    starts = {"0.1 rad away": q + 0.1, "0.3 rad away": q + 0.3}
    starts["the last solution"] = [None] * len(q)
    few = max(options.targets // 10, 1)

    def pose(at: Any) -> Any:
        return np.array(other.JointHT(at)[-1])

    fastest = ours.InverseKinematicsNumerical(robot)
    slowest = theirs.InverseKinematicsNumerical(other)
    fastest.Solve(targets[0])
    print(f"{'call, start':24}{'ours':>18}{'exudyn':>20}{'ratio':>9}")
    for how in ("Solve", "SolveSafe"):
        for name, q0 in starts.items():
            share, ours_s = measured(getattr(fastest, how), targets, q0, pose)
            other_share, theirs_s = measured(getattr(slowest, how), targets[:few], q0[:few], pose)
            line = f"{share:9.2%}{ours_s * 1e6:6.0f} us {other_share:9.1%}{theirs_s * 1e6:7.0f} us"
            print(f"{how + ', ' + name:24}{line}{theirs_s / ours_s:9.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
