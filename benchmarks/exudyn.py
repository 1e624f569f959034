"""Our face of exudyn.robotics beside exudyn's: `python -m benchmarks.exudyn`.

Both are called in one process, in turn, with the same robot and arguments; the least of several
rounds counts. Ratios are ours over theirs.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import timeit
from typing import Any

CALLS = (
    "robot.JointHT(q)",
    "robot.LinkHT(q)",
    "robot.COMHT(HT)",
    "robot.Jacobian(HT)",
    "robot.Jacobian(HT, [0.1, 0.2, 0.3], 'trans', 3)",
    "robot.StaticTorques(HT)",
    "module.StdDH2HT([0.1, 0.2, 0.3, 0.4])",
    "tree.ComputeMassMatrixAndForceTerms(q, q)",
    "tree.ForwardDynamicsCRB(q, q)",
)
ROUNDS, COUNT = 7, 200
ROWS = (
    [0.0, 0.672, 0.0, math.pi / 2], [0.0, 0.0, 0.4318, 0.0], [0.0, 0.15, 0.0203, -math.pi / 2],
    [0.0, 0.4318, 0.0, math.pi / 2], [0.0, 0.0, 0.0, -math.pi / 2], [0.0, 0.0, 0.0, 0.0],
)  # fmt: skip
INERTIA = [[0.03, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.04]]


def arm(module: Any, *, local: bool) -> Any:
    """Six joints that turn, of a Puma's lengths; before the joints, or behind them."""
    robot = module.Robot()
    for row in ROWS:
        place = {"localHT" if local else "preHT": module.StdDH2HT(row)}
        robot.AddLink(module.RobotLink(2.0, [0.01, -0.02, 0.1], INERTIA, **place))
    return robot


def names(module: Any) -> dict[str, Any]:
    """The names that `CALLS` use."""
    robot, q = arm(module, local=True), [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
    tree = arm(module, local=False).GetKinematicTree66()
    return {"module": module, "robot": robot, "q": q, "HT": robot.JointHT(q), "tree": tree}


def main() -> int:
    """Measure and print; the exit code."""
    if importlib.util.find_spec("exudyn") is None:
        print("LEFT OUT: exudyn is not installed")
        return 0
    found = [
        names(importlib.import_module(name))
        for name in ("linkwork.faces.exudyn_robotics", "exudyn.robotics")
    ]
    print("| call (microseconds) | ours | theirs | ratio |\n|---|---:|---:|---:|")
    for call in CALLS:
        timers = [timeit.Timer(call, globals=each) for each in found]
        least = [math.inf, math.inf]
        for _ in range(ROUNDS):
            for k, timer in enumerate(timers):
                least[k] = min(least[k], timer.timeit(COUNT) / COUNT * 1e6)
        ours, theirs = least
        print(f"| `{call}` | {ours:.2f} | {theirs:.2f} | {ours / theirs:.3f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
