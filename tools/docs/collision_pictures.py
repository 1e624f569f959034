"""Draw the pictures of docs/collision.md. The one of robots needs a browser.

python tools/docs/collision_pictures.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
DOCS = ROOT / "docs"

SIDE = 380  # pixels
COLORS = {
    "checked": "#d55e00",
    "adjacent": "#56b4e9",
    "cannot touch (proven)": "#009e73",
    "never touch": "#a6d9c9",
}


def robots() -> None:
    """Three robots in the balls of their models."""
    from PIL import Image  # noqa: PLC0415 -- an extra

    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    postures = {
        "panda": {"joint1": 0.3, "joint2": 0.2, "joint4": -1.9, "joint6": 2.1, "joint7": 0.7},
        "quadruped": {f"{leg}_{j}": a for leg in ("fl", "fr", "rl", "rr")
                      for j, a in (("hip", 0.6), ("knee", -1.2))},
        "humanoid": {"left_elbow": -1.2, "right_shoulder_pitch": -0.9, "right_elbow": -0.6},
    }  # fmt: skip
    whole = Image.new("RGB", (SIDE * len(postures), SIDE), "white")
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, places) in enumerate(postures.items()):
            robot = lw.load(name)
            q = robot.configuration(places)
            balls = lw.Scene.of_model(robot.collision(), q)
            file = Path(folder, f"{name}.png")
            show = ["visual", "scene"]
            robot.render(file, q, scene=balls, size=(SIDE, SIDE), show=show, background="white")
            whole.paste(Image.open(file).convert("RGB"), (k * SIDE, 0))
    whole.quantize(96).save(DOCS / "collision-balls.png", optimize=True)


def pairs(plt: Any) -> None:
    """The pair table as a square."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    table = lw.load("panda").collision().pairs
    n = len(table.links)
    figure, axes = plt.subplots(figsize=(5.6, 3.6))
    place = {name: k for k, name in enumerate(table.links)}
    for pair in table:
        kind = "checked" if pair.checked else pair.reason.split(" (no nearer")[0]
        i, j = sorted((place[pair.link_a], place[pair.link_b]))
        axes.add_patch(plt.Rectangle((i, j - 1), 0.94, 0.94, color=COLORS[kind]))
    axes.set(xlim=(0, n - 1), ylim=(n - 1, 0), aspect="equal")
    axes.set_xticks(np.arange(n - 1) + 0.47, table.links[:-1], rotation=45)
    axes.set_yticks(np.arange(n - 1) + 0.47, table.links[1:])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    marks = [plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()]
    axes.legend(marks, list(COLORS), loc="upper right", frameon=False, bbox_to_anchor=(1.6, 1))
    saved(figure, "collision-pairs.svg")


def clearance(plt: Any) -> None:
    """The clearance along a motion around and through a post."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load("panda")
    model, scene = robot.collision(), lw.Scene()
    scene.add_cylinder("post", radius=0.05, length=1.2, pose=(0.45, 0.0, 0.6))
    q0 = np.array([-0.9, 0.4, 0.0, -1.9, 0.0, 2.2, 0.7])
    q1 = q0 * [-1, 1, 1, 1, 1, 1, 1]
    s = np.linspace(0.0, 1.0, 400)
    near = model.clearance(q0 + s[:, None] * (q1 - q0), scene)
    found = model.motion_collides(q0, q1, scene)
    mm = 1e3 * near.distance
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    axes.axhline(0.0, color="0.3", lw=0.8)
    axes.fill_between(s, mm, 0.0, where=mm < 0, color="#d55e00", alpha=0.3, lw=0)
    axes.plot(s, mm, color="#0072b2")
    axes.plot([float(found.t)], [0.0], "o", color="#d55e00")
    told = f"t = {float(found.t):.3f}: {' and '.join(found.names)}"
    axes.annotate(told, (float(found.t), 0.0), (6, 8), textcoords="offset points")
    axes.set(xlabel="t", ylabel="clearance (mm)", xlim=(0, 1))
    axes.spines[["top", "right"]].set_visible(False)
    saved(figure, "collision-clearance.svg")


def saved(figure: Any, name: str) -> None:
    """Save a figure, with the same bytes from the same numbers."""
    figure.savefig(DOCS / name, metadata={"Date": None}, bbox_inches="tight")


def main() -> int:
    """Draw and write them."""
    import matplotlib as mpl  # noqa: PLC0415 -- an extra

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415 -- after the choice of what draws

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "linkwork"}):
        pairs(plt)
        clearance(plt)
    robots()
    return 0


if __name__ == "__main__":
    sys.exit(main())
