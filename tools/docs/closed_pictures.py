"""Draw the pictures of docs/closed_mechanisms.md: bundled mechanisms in two states, a simulation.

python tools/docs/closed_pictures.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
DOCS = ROOT / "docs"

FLAT = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
SIDE = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
ABOVE = np.array([[0.87, 0.5, 0.0], [-0.17, 0.3, 0.94]])
"""Two directions of space that a picture's x and y are."""

SIZE, LABEL, GAP = 200, 22, 14  # of one picture, of its name, between two
STYLES = (("#c9ced6", 3.0), ("#1f5f8b", 4.0))  # the first state, the second
GROUND, ROD = "#8a8f98", "#d55e00"


class Shown(NamedTuple):
    """A mechanism, two states of its actuated joints, and how it is looked at."""

    name: str
    states: tuple[Sequence[float], Sequence[float]]
    view: Any


ALL = (
    Shown("four_bar", ([0.4], [2.2]), FLAT),
    Shown("slider_crank", ([0.5], [2.4]), FLAT),
    Shown("five_bar", ([0.2, -0.1], [0.7, 0.5]), FLAT),
    Shown("excavator", ([0.0, 0.05, -0.05], [0.0, 0.3, 0.2]), SIDE),
    Shown("delta", ([0.0, 0.0, 0.0], [0.6, -0.1, 0.2]), ABOVE),
    Shown("stewart", ([0.0] * 6, [0.08, 0.0, 0.06, 0.0, 0.02, 0.1]), ABOVE),
)


def slides_on(m: Any, body: int) -> bool:
    """Whether a body is the rod of a cylinder."""
    return m.body_joint_types[body].name == "PRISMATIC" and m.parent[body] > 0


def ends_of(robot: Any, q: Any) -> dict[int, list[Any]]:
    """What each body carries: joints of other bodies, ends of loops, the tool."""
    m = robot.mechanism
    ends: dict[int, list[Any]] = {k: [] for k in range(len(m.parent))}
    for body, parent in enumerate(m.parent):
        if parent >= 0 and m.body_joint_types[body].n_v == 1 and not slides_on(m, body):
            T, link = robot.fk(q, m.body_names[parent]), m.frame(m.body_names[parent])
            at = m.R_body_frame[link].T @ (m.p_parent_joint[body] - m.p_body_frame[link])
            ends[int(parent)].append(T[:3, :3] @ at + T[:3, 3])
    names = [name for loop in robot.loops for name in (loop.frame_a, loop.frame_b)]
    for name in (*names, *(["tool0"] if "tool0" in m.frame_names else [])):
        ends[int(m.frame_body[m.frame(name)])].append(robot.fk(q, name)[:3, 3])
    return ends


def lines(robot: Any, q: Any) -> Iterator[tuple[str, Any]]:
    """The lines (n, 3) of a mechanism: on the ground, of a body, of a rod.

    A body is a star from its joint to what it carries, or a ring where that is much.
    """
    for loop in robot.loops:
        if loop.held.length:
            yield "rod", np.array([robot.fk(q, f)[:3, 3] for f in (loop.frame_a, loop.frame_b)])
    for body, points in ends_of(robot, q).items():
        m, rod = robot.mechanism, slides_on(robot.mechanism, body)
        start = robot.fk(q, m.body_names[m.parent[body] if rod else body])[:3, 3]
        away = [p for p in points if np.linalg.norm(p - start) > 1e-6]
        kind = "rod" if rod else "ground" if body == 0 else "body"
        if len(away) > 4:
            turns = [float(np.arctan2(p[1] - start[1], p[0] - start[0])) for p in away]
            ring = [away[k] for k in np.argsort(turns)]
            yield kind, np.array([*ring, ring[0]])
        else:
            for p in away:
                yield kind, np.array([start, p])


def drawn(shown: Shown, x: float, y: float) -> str:
    """One mechanism in both states, in a square at x, y, with its name below."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load(shown.name)
    near, both = robot.neutral(), []
    for state in shown.states:
        found = robot.assemble(state, near=near)
        if not found.success:
            raise SystemExit(f"{shown.name}: {found.reason}")
        near = found.q
        both.append([(kind, line @ shown.view.T) for kind, line in lines(robot, found.q)])
    points = np.concatenate([line for state in both for _, line in state])
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (SIZE - 20) / float((high - low).max())
    shift = np.array([x + SIZE / 2, y + SIZE / 2]) - [1, -1] * (low + high) / 2 * scale
    parts: list[str] = []
    for (colour, width), state in zip(STYLES, both, strict=True):
        for kind, line in state:
            at = line * [scale, -scale] + shift
            stroke = {"ground": GROUND, "rod": ROD if width > STYLES[0][1] else "#f0c9a8"}
            ink, thick = stroke.get(kind, colour), 2.0 if kind != "body" else width
            dash = ' stroke-dasharray="2 4"' if kind == "ground" else ""
            text = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
            parts.append(
                f'<polyline points="{text}" stroke="{ink}" stroke-width="{thick:g}"{dash}/>'
            )
            if kind == "body":
                parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{ink}"/>' for a, b in at]
    label = f'<text x="{x + SIZE / 2}" y="{y + SIZE + 15}">{shown.name}</text>'
    return "\n".join([*parts, label])


def mechanisms() -> str:
    """All mechanisms in rows of three."""
    step, below = SIZE + GAP, SIZE + LABEL + GAP
    cells = [drawn(s, GAP + k % 3 * step, GAP + k // 3 * below) for k, s in enumerate(ALL)]
    width, height = GAP + 3 * step, GAP + 2 * below
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">\n'
        "<title>Six mechanisms with loops, each in two states</title>\n"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
        '<g fill="none" stroke-linecap="round" stroke-linejoin="round" font-family="sans-serif" '
        'font-size="14" text-anchor="middle">\n'
        "<style>text { fill: #22262b; }</style>\n" + "\n".join(cells) + "\n</g>\n</svg>\n"
    )


def simulation(path: Path) -> None:
    """The plot of the five-bar's simulation that the page describes."""
    import matplotlib as mpl  # noqa: PLC0415 -- an extra

    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load("five_bar")
    law = lw.PD(kp=30.0, kd=1.5, q_target={"left": 0.5, "right": 0.3})
    q0 = robot.assemble([0.2, -0.1], near=robot.neutral()).q
    result = lw.simulate(robot, q0, duration=0.4, torque=law, gravity=[0, -9.80665, 0], record=4)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "linkwork"}):
        figure = result.plot()
        figure.set_size_inches(8.0, 7.0)
        figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Write both pictures."""
    (DOCS / "closed-mechanisms.svg").write_text(mechanisms(), encoding="utf-8")
    simulation(DOCS / "closed-simulation.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
