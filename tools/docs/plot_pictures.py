"""Draw the pictures of docs/plots.md.

python tools/docs/plot_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
DOCS = ROOT / "docs"


def saved(axes: Any, name: str, size: tuple[float, float], **how: Any) -> None:
    """Save the figure of these axes, with the same bytes from the same numbers."""
    figure = np.asarray(axes, dtype=object).reshape(-1)[0].figure
    figure.set_size_inches(*size)
    metadata = {"Date": None} if name.endswith(".svg") else {"Software": None}
    figure.savefig(DOCS / name, metadata=metadata, **how)


def main() -> int:
    """Draw and write them."""
    import matplotlib as mpl  # noqa: PLC0415 -- an extra

    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    mpl.use("Agg")
    robot, arm = lw.load("ur5e"), lw.load("planar_3r")
    q0 = np.array([0.3, -1.2, 1.5, -1.0, -1.5, 0.2])
    turns = np.array(
        [[0, 0, 0, 0, 0, 0], [1, 0.5, -0.9, 0.4, 0.3, 1], [0.4, 0.9, 0.6, -0.5, 0.2, 0.3]]
    )
    move = lw.trajectory.through(q0 + turns, kind="quintic", velocity=1.5, acceleration=6.0)
    way = q0 + np.linspace(0.0, 1.0, 200)[:, None] * [0.0, 0.4, -1.7, 0.9, 1.5, 0.0]
    q = np.array([[0.2, 0.5, 0.4], [0.9, 0.9, 0.6], [1.6, 1.2, 0.9]])
    four = robot.joint_names[:4]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "linkwork"}):
        saved(lw.plots.positions(robot, move), "plots-positions.svg", (8.0, 5.0))
        torques = lw.plots.torques(robot, move, parts=True, losses=True, joints=four)
        saved(torques, "plots-torques.svg", (8.0, 4.2))
        saved(lw.plots.ellipsoids(arm, q), "plots-ellipses.svg", (6.4, 4.6))
        saved(lw.plots.condition(robot, way, length=0.4), "plots-condition.svg", (8.0, 4.6))
    saved(lw.plots.workspace(robot, plane="xz"), "plots-workspace.png", (6.4, 4.8), dpi=80)
    reach = lw.plots.reachability(robot, plane="xz", orientations=24)
    saved(reach, "plots-reach.png", (6.4, 4.8), dpi=80)
    return 0


if __name__ == "__main__":
    sys.exit(main())
