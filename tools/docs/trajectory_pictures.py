"""Draw the pictures of docs/trajectories.md.

python tools/docs/trajectory_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
DOCS = ROOT / "docs"

COLORS = {"velocity": "#0072b2", "acceleration": "#e69f00", "torque": "#d55e00"}


def save(figure: Any, name: str) -> None:
    """Write a picture, the same each time."""
    mpl.rcParams["svg.hashsalt"] = name
    figure.savefig(DOCS / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def shares() -> None:
    """How much of each limit a spline and the least time use, over time."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    panda = lw.load("panda").with_payload("tool0", 2.0, [0.0, 0.0, 0.05])
    middle = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    way = middle + 0.5 * np.random.default_rng(0).uniform(-1, 1, (8, 7))
    limits: dict[str, Any] = {"acceleration": 20.0, "torque": 0.6 * panda.limits.effort}
    motions = {
        "through: a spline, stretched": lw.trajectory.through(
            way, velocity=panda.limits.velocity, acceleration=20.0
        ),
        "time_optimal": lw.trajectory.time_optimal(way, robot=panda, **limits),
        "time_optimal, jerk=200": lw.trajectory.time_optimal(
            way, robot=panda, jerk=200.0, **limits
        ),
    }
    figure, rows = plt.subplots(3, 1, figsize=(7.2, 5.4), sharex=True, sharey=True)
    for axes, (label, motion) in zip(rows, motions.items(), strict=True):
        t = np.linspace(0.0, motion.duration, 2000)
        v, a = motion.velocity(t), motion.acceleration(t)
        tau = panda.inverse_dynamics(motion(t), v, a)
        used = {
            "velocity": np.abs(v) / panda.limits.velocity,
            "acceleration": np.abs(a) / limits["acceleration"],
            "torque": np.abs(tau) / limits["torque"],
        }
        for name, share in used.items():
            axes.plot(t, share.max(axis=1), color=COLORS[name], lw=1.2, label=name)
        axes.axhline(1.0, color="0.4", lw=0.8, ls=":")
        axes.set_title(f"{label}: {motion.duration:.2f} s", fontsize=9, loc="left")
        axes.grid(alpha=0.25)
    rows[1].set_ylabel("largest share of the limit, of all joints")
    rows[-1].set_xlabel("time (s)")
    rows[1].legend(fontsize=8, ncols=3, loc="upper right")
    figure.tight_layout()
    save(figure, "trajectories-limits")


def corners() -> None:
    """One way as lines with rounded corners and as a spline."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    points = np.array([[0.0, 0.0], [1.0, 0.1], [1.1, 0.9], [0.2, 0.7], [0.6, 1.3]])
    ways = {"deviation=0": 0.0, "deviation=0.02": 0.02, "deviation=0.1": 0.1, "spline": None}
    colors = ("0.6", "#009e73", "#0072b2", "#d55e00")
    figure, axes = plt.subplots(figsize=(4.6, 4.4))
    for (label, deviation), color in zip(ways.items(), colors, strict=True):
        motion = lw.trajectory.time_optimal(
            points, velocity=1.0, acceleration=4.0, deviation=deviation
        )
        q = motion(np.linspace(0.0, motion.duration, 1500))
        told = f"{label}: {motion.duration:.2f} s"
        axes.plot(*q.T, color=color, lw=1.4, label=told)
    axes.plot(*points.T, "o", color="0.2", ms=4)
    axes.set_xlabel("position of joint 1 (rad)")
    axes.set_ylabel("position of joint 2 (rad)")
    axes.set_aspect("equal")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc=(0.02, 0.27))
    figure.tight_layout()
    save(figure, "trajectories-corners")


if __name__ == "__main__":
    shares()
    corners()
