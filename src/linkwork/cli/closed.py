"""Loops as commands tell of them: which there are, how far open, and what they leave free."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.cli import output
from linkwork.errors import InputError
from linkwork.legible import short
from linkwork.solve.closed.rates import Mobility
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]


def gap(robot: lw.Robot, q: Floats) -> Floats:
    """The largest row of the closure (...), in metres and radians, at q (..., nq)."""
    return np.abs(robot.closure(q)).max(axis=-1, initial=0.0)


def mobility_of(robot: lw.Robot) -> tuple[Mobility | None, str]:
    """The mobility, or why there is none: then the loops cannot be closed."""
    try:
        return robot.mobility(), ""
    except InputError as error:
        return None, str(error)


def records(robot: lw.Robot) -> dict[str, Any]:
    """Loops, couplings, actuated joints and mobility, as JSON has them."""
    if not robot.mechanism.is_closed and not robot.actuated:
        return {"loops": [], "couplings": [], "actuated": [], "mobility": None}
    found = mobility_of(robot)[0] if robot.mechanism.is_closed else None
    return {
        "loops": [dataclasses.asdict(loop) for loop in robot.loops],
        "couplings": [
            {
                "joint": each.joint,
                "leaders": list(each.leaders),
                "operations": [[name, *numbers] for name, numbers in each.function.nodes],
            }
            for each in robot.couplings
        ],
        "actuated": list(robot.actuated),
        "mobility": None if found is None else dataclasses.asdict(found),
    }


def summary(robot: lw.Robot) -> str:
    """For example: 1 loop, actuated: crank; 1 degree of freedom, 3 of 6 rows redundant."""
    counts = [counted(len(robot.loops), "loop")] if robot.loops else []
    counts += [counted(len(robot.couplings), "coupling")] if robot.couplings else []
    counts += [f"actuated: {', '.join(robot.actuated)}"] if robot.actuated else []
    if not robot.mechanism.is_closed:
        return ", ".join(counts)
    found, why = mobility_of(robot)
    if found is None:
        return f"{', '.join(counts)}; {why}"
    text = f"{', '.join(counts)}; {degrees(found.degrees_of_freedom)}"
    if found.redundant:
        text += f", {len(found.redundant)} of {found.rows} rows redundant"
    return text


def degrees(n: int) -> str:
    """1 degree of freedom, 2 degrees of freedom."""
    return f"{n} degree{'' if n == 1 else 's'} of freedom"


def counted(n: int, what: str) -> str:
    """1 loop, 2 loops."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def show(screen: Screen, robot: lw.Robot) -> None:
    """The section of `linkwork info`."""
    if not robot.mechanism.is_closed and not robot.actuated:
        return
    screen.print(output.heading(f"loops: {summary(robot)}"))
    if robot.loops:
        shown = TextTable(("loop", "kind", "frame a", "frame b", "distance (m)"))
        for loop in robot.loops:
            distance = short(loop.distance) if loop.distance else ""
            shown.add_row(loop.name, loop.kind, loop.frame_a, loop.frame_b, distance)
        screen.print(shown)
    for each in robot.couplings:
        leaders = ", ".join(each.leaders)
        screen.print(f"  {each.joint} is a function of {leaders}")
    found = mobility_of(robot)[0] if robot.mechanism.is_closed else None
    if found is not None and found.passive_freedoms:
        n = found.passive_freedoms
        text = f"  {degrees(n)} stay{'s' if n == 1 else ''} when the actuated joints stand still"
        screen.print(text)
    if found is not None and found.independent is False:
        screen.print("  the actuated joints cannot move each for itself")
    screen.print("")
