"""``linkwork assemble``: joint positions at which the loops of a mechanism are closed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from click.exceptions import Exit
from numpy.typing import NDArray

import linkwork as lw
from linkwork import settings
from linkwork.cli import closed, inputs, output
from linkwork.cli.arguments import AssembleArguments
from linkwork.cli.inputs import Angles, Table
from linkwork.errors import InputError, ShapeError
from linkwork.solve.closed.assembly import Assembly
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

NOT_ASSEMBLED = 1
"""The exit code where the input was right, and some rows could not be assembled."""


@output.options_named()
def run(given: AssembleArguments) -> None:
    """Assemble, print, write; exit with 1 where some rows are not assembled."""
    _check(given)
    out = output.target_file(given.out)
    robot = inputs.open_robot(given, None)
    if not robot.mechanism.is_closed:
        raise InputError(f"'{robot.name}' has no loops or couplings: there is nothing to assemble")
    angles = Angles(given.deg)
    near = inputs.configuration(robot, given.near, "--near", angles) if given.near else None
    if given.file is None:
        named = inputs.named_values(given.values or [], "assemble")
        named = angles.typed_by_name(robot.mechanism, named)
        start = robot.neutral() if near is None else near
        actuated, labels, rows = _of_names(robot, named, start)
    else:
        actuated, labels, rows = _of_file(robot, given.file)
    asked_for = {"seed": given.seed, "tries": given.tries, "steps": given.steps}
    how: dict[str, Any] = {k: v for k, v in asked_for.items() if v is not None}
    how["threads"] = settings.most_threads() if given.threads is None else given.threads
    solver: Assembly = robot.assembler(actuated)
    if given.every:
        result = solver.all_solutions(rows, near, **how)
    else:
        result = solver.solve(rows, near, follow=given.follow, **how)
    found = 0 not in result.shape
    gaps = closed.gap(robot, result.q) if found else np.zeros(result.shape)
    output.write_solutions(out, inputs.position_labels(robot.mechanism), result)
    if given.json:
        output.print_json(_as_json(robot, labels, result, gaps))
    elif found:
        _print_assembled(robot, labels, result, gaps, angles)
    if not (found and np.all(result.success)):
        output.note(f"linkwork: not assembled: {result.reason}")
        raise Exit(NOT_ASSEMBLED)


def _check(given: AssembleArguments) -> None:
    if given.file is not None and given.values:
        raise InputError("give NAME=VALUE or --file, not both")
    if given.every and given.file is not None:
        raise InputError("--all takes one row of positions, and --file gives many")
    if not given.follow and not given.near:
        raise InputError("--no-follow says how --near is used: give that too")
    searching = given.every or not given.near or not given.follow
    if not searching and (given.tries is not None or given.seed is not None):
        raise InputError(
            "--tries and --seed belong to a search, and the way from --near is followed: "
            "add --no-follow, or leave them out"
        )


# what is asked: actuated joints, the names of their numbers, and rows of positions for them


Asked = tuple[tuple[str, ...], tuple[str, ...], Floats]


def _of_names(robot: lw.Robot, named: dict[str, float | list[float]], start: Floats) -> Asked:
    actuated = robot.actuated or tuple(named)
    if not actuated:
        raise InputError(
            f"'{robot.name}' does not say which joints are actuated: give them as NAME=VALUE"
        )
    for name in named:  # a name that is none is told with those that are
        robot.mechanism.joint(name)
        if name not in actuated:
            raise InputError(f"'{name}' is not actuated: it follows from {', '.join(actuated)}")
    moved = robot.configuration(named)
    places, labels = _places(robot, actuated)
    own, _ = _places(robot, tuple(named))
    whole = start.copy()
    whole[own] = moved[own]
    return actuated, labels, whole[places]


def _of_file(robot: lw.Robot, name: str) -> Asked:
    read = inputs.read_numbers(name)
    header = read.header if isinstance(read, Table) else None
    actuated = robot.actuated or tuple(header or ())
    if not actuated:
        raise InputError(
            f"'{robot.name}' does not say which joints are actuated: name the columns of {name}"
        )
    _, labels = _places(robot, actuated)
    if not isinstance(read, Table):
        rows = np.atleast_2d(read)
    else:
        rows = read.values if header is None else inputs.columns(read, labels)
    if rows.ndim != 2 or rows.shape[1] != len(labels):
        raise ShapeError(
            f"{name} has the shape {rows.shape}; positions of the actuated joints have "
            f"(n, {len(labels)}): {', '.join(labels)}"
        )
    return actuated, labels, np.asarray(rows, np.float64)


def _places(robot: lw.Robot, joints: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
    """The indices in q of the positions of joints, and their names."""
    m = robot.mechanism
    numbers = [m.joint(name) for name in joints]
    places = [k for c in numbers for k in range(int(m.q_start[c]), int(m.q_start[c + 1]))]
    labels = inputs.position_labels(m)
    return places, tuple(labels[k] for k in places)


# what is told


def _as_json(
    robot: lw.Robot, actuated: tuple[str, ...], result: lw.ik.IKResult, gaps: Floats
) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "actuated": actuated,
        "q_names": inputs.position_labels(robot.mechanism),
        "rows": math.prod(result.shape),
        "assembled": int(np.count_nonzero(result.success)),
        "results": [
            {
                "q": one.q,
                "success": one.success,
                "closure": gaps[row],
                "iterations": one.iterations,
                "restarts": one.restarts,
                "reason": one.reason,
            }
            for row, one in result.rows()
        ],
    }


def _print_assembled(
    robot: lw.Robot, actuated: tuple[str, ...], result: lw.ik.IKResult, gaps: Floats, angles: Angles
) -> None:
    screen = Screen()
    if result.shape == ():
        word = "assembled" if result.success else "not assembled; the nearest that was found"
        screen.print(output.heading(f"{robot.name}: {word}"))
        screen.print(inputs.joint_table(robot, result.q, angles, actuated), "")
        screen.print(f"open by          {float(gaps):.1e} (m, rad)")
        screen.print(f"steps            {result.iterations}")
        return
    done, total = int(np.count_nonzero(result.success)), math.prod(result.shape)
    screen.print(output.heading(f"{robot.name}: {done} of {total} assembled"))
    unit, labels = " (deg)" if angles.degrees else "", inputs.position_labels(robot.mechanism)
    q = angles.shown(result.q, inputs.position_angles(robot.mechanism.joint_types))
    columns = ("row", "assembled", "open by (m, rad)", f"q{unit}: " + " ".join(labels))
    shown = TextTable(columns)
    for k in range(min(total, output.ROWS_SHOWN)):
        numbers = " ".join(output.number(v, 4) for v in q[k])
        shown.add_row(str(k), "yes" if result.success[k] else "no", f"{gaps[k]:.1e}", numbers)
    screen.print(shown)
    output.tell_rest(total, output.ROWS_SHOWN)
