"""HTML for notebooks of robots, results, runs and motions: a drawing, and some words beside it.

Names come from strangers: all of them are escaped. A picture that cannot be made is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork.legible import legible
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.robot_structure import leaders_of
from linkwork.view.drawing import drawing
from linkwork.view.primitives import Layer, Mark, Path, Text, svg
from linkwork.view.strokes import Posture

if TYPE_CHECKING:
    from linkwork.robot import Robot
    from linkwork.simulation.result import Simulation
    from linkwork.solve.result import IKResult
    from linkwork.trajectory import Trajectory

Floats = NDArray[np.float64]

_SIZE = (380.0, 300.0)
_MOST_ROWS = 40
_MOST_GHOSTS = 6
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a9099")
"""Told apart by colour-blind people too. Source: M. Okabe, K. Ito, Color Universal Design, 2008."""


def robot_html(robot: Robot) -> str:
    """A robot: a drawing at its neutral configuration, and its joints with their limits."""
    q = robot.neutral()
    if _is_open(robot.mechanism, q):
        q = robot.assemble(q0=q).q  # the nearest, where it cannot be closed
    return _beside(drawing(robot, q, size=_SIZE).svg, repr(robot), _joint_table(robot.mechanism))


def result_html(result: IKResult) -> str:
    """A result: the mechanism where it ends, of many the first ones as ghosts; and its words."""
    m = result.terms.mechanism
    rows = result.q.reshape(-1, result.q.shape[-1])
    words = _table(("", ""), _facts(result))
    if m is None or not len(rows):
        return _beside("", type(result).__name__, words)
    some = rows[: _MOST_GHOSTS + 1][::-1]  # the first in full
    return _beside(drawing(m, some, shapes=False, size=_SIZE).svg, type(result).__name__, words)


def simulation_html(simulation: Simulation) -> str:
    """A run: ghosts along its first roll-out, the last state in full, and how it went."""
    picture = ""
    if simulation.q.size:
        picture = drawing(simulation.mechanism, path=simulation, shapes=False, size=_SIZE).svg
    told = [("reason", simulation.reason), ("time", f"0 to {simulation.times[-1]:.6g} s")]
    return _beside(picture, repr(simulation).split(",")[0] + ")", _table(("", ""), told))


def trajectory_html(trajectory: Trajectory) -> str:
    """A motion: its positions over time."""
    t, q, _, _ = trajectory.sample(n=200)
    names = trajectory.joint_names or tuple(f"position {k}" for k in range(trajectory.n))
    return _beside(_chart(t, q, names), repr(trajectory), "")


def _is_open(m: Mechanism, q: Floats) -> bool:
    """Whether the ends of a loop are seen to lie apart; without compiling anything."""
    at = Posture(m, q)
    for loop in m.loops:
        a, b = (at.point(m.frame(name)) for name in (loop.frame_a, loop.frame_b))
        gap = abs(float(np.linalg.norm(b - a)) - loop.distance)
        if gap > 1e-3 * float(np.ptp(at.points, axis=0).max(initial=1e-9)):
            return True
    return False


def _facts(result: IKResult) -> list[tuple[str, str]]:
    """The words beside a result's drawing."""
    success = np.asarray(result.success)
    solved = "yes" if success.all() else "no"
    if success.ndim:
        solved = f"{int(np.count_nonzero(success))} of {success.size}"
    told = [("solved", solved), ("reason", result.reason)]
    if success.size:
        worst = [float(np.max(a)) for a in (result.position_error, result.rotation_error)]
        told += [("position error", f"{worst[0]:.2e} m"), ("rotation error", f"{worst[1]:.2e} rad")]
    if success.ndim == 0:
        told.append(("q", np.array2string(result.q, precision=4, separator=", ")))
    return told


# --- tables ---------------------------------------------------------------------------------------


def _beside(picture: str, head: str, table: str) -> str:
    """A picture with a head and a table at its side, below it where there is no room."""
    parts = [f"<div><b>{escape(legible(head))}</b></div>", table]
    shown = f"<div>{picture}</div>" if picture else ""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">'
        f'{shown}<div style="max-width:100%;overflow-x:auto">{"".join(parts)}</div></div>'
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts, all of which are escaped."""
    style = ' style="text-align:left;padding:1px 12px 1px 0"'
    lines = [
        "<tr>" + "".join(f"<td{style}>{escape(legible(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    ]
    titles = "".join(f"<th{style}>{escape(cell)}</th>" for cell in head) if any(head) else ""
    return f"<table>{f'<tr>{titles}</tr>' if titles else ''}{''.join(lines)}</table>"


def _joint_table(m: Mechanism) -> str:
    """The joints that move: their types, limits and what they follow."""
    follows = leaders_of(m)
    beside = {each.joint: ", ".join(each.leaders) for each in m.couplings}
    rows: list[tuple[str, str, str, str]] = []
    for body, kind in enumerate(m.body_joint_types):
        if not kind.n_q:
            continue
        name = m.body_joint_names[body]
        note = "driven" if name in m.actuated else ""
        if name in follows or name in beside:
            note = f"follows {follows.get(name) or beside[name]}"
        rows.append((name, kind.label, _limits(m, name, kind), note))
    if len(rows) > _MOST_ROWS:
        rest = len(rows) - _MOST_ROWS
        rows = [*rows[:_MOST_ROWS], (f"and {rest} more", "", "", "")]
    head = ("joint", "type", "limits", "" if not any(row[3] for row in rows) else "is")
    return _table(head, rows)


def _limits(m: Mechanism, name: str, kind: JointType) -> str:
    """Both limits of a joint with one position."""
    if name not in m.joint_names or kind.n_q != 1:
        return ""
    at = m.q_slice(m.joint(name)).start
    low, high = float(m.lower[at]), float(m.upper[at])
    if not np.isfinite([low, high]).any():
        return "unlimited"
    return f"{low:.4g} to {high:.4g} {'m' if kind.n_lengths else 'rad'}"


# --- a chart --------------------------------------------------------------------------------------


def _chart(t: Floats, q: Floats, names: Sequence[str]) -> str:
    """Positions (n, k) over instants (n,) as SVG."""
    w, h = 460.0, 220.0
    left, right, top, bottom = 48.0, w - 120.0, 12.0, h - 30.0
    low, high = float(q.min(initial=0.0)), float(q.max(initial=0.0))
    span, end = max(high - low, 1e-9), max(float(t[-1]), 1e-9)
    grey = "#767c85"

    def at(x: Floats, y: Floats) -> Floats:
        across = left + (right - left) * x / end
        return np.stack([across, bottom - (bottom - top) * (y - low) / span], axis=-1)

    corners = np.array([[left, top], [left, bottom], [right, bottom]])
    marks: list[Mark] = [Path((corners,), grey, 1.0)]
    for k in range(q.shape[1]):
        colour = _COLOURS[k % len(_COLOURS)]
        marks.append(Path((at(t, q[:, k]),), colour, 1.5, of=names[k]))
        if k < 12:
            name = names[k] if len(names[k]) < 18 else f"{names[k][:16]}…"
            marks.append(
                Text(np.array([right + 8.0, top + 8.0 + 15.0 * k]), name, 11.0, fill=colour)
            )
    for value in (low, high):
        y = float(at(np.zeros(1), np.array([value]))[0, 1])
        marks.append(Text(np.array([left - 5.0, y + 4.0]), f"{value:.3g}", 10.5, "end", grey))
    for value in (0.0, end):
        x = float(at(np.array([value]), np.array([low]))[0, 0])
        marks.append(Text(np.array([x, bottom + 15.0]), f"{value:.4g}", 10.5, "middle", grey))
    middle = np.array([0.5 * (left + right), bottom + 24.0])
    marks.append(Text(middle, "time (s); positions in rad or m", 10.5, "middle", grey))
    return svg([Layer("chart", tuple(marks))], (w, h), "positions over time", "")
