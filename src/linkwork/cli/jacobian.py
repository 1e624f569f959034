"""``linkwork jacobian``: the velocity of a frame for each joint's velocity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import linkwork as lw
from linkwork.algorithms.jacobian import Reference
from linkwork.cli import inputs, output
from linkwork.cli.arguments import JacobianArguments
from linkwork.cli.fk import print_positions
from linkwork.cli.inputs import Angles
from linkwork.errors import UnknownNameError

Floats = NDArray[np.float64]

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


def run(given: JacobianArguments) -> None:
    """Print the Jacobian, and write it where a file is asked for."""
    references = get_args(Reference)
    if given.reference not in references:
        raise UnknownNameError("reference", given.reference, references)
    out = output.target_file(given.out)
    robot = inputs.open_robot(given, given.frame)
    q = inputs.configurations(robot, given.q, given.q_file, Angles(given.deg))
    frame = robot.tip if given.frame is None else given.frame
    J = robot.jacobian(q, frame, reference=cast("Reference", given.reference))
    columns = inputs.velocity_labels(robot.mechanism)
    if out is not None:
        _write(out, J, columns)
    if given.json:
        output.print_json(_as_json(robot, frame, given, (q, J)))
    else:
        _show(robot, frame, given, (q, J))


def _as_json(
    robot: lw.Robot, frame: str, given: JacobianArguments, result: tuple[Floats, Floats]
) -> dict[str, Any]:
    q, J = result
    pairs = zip(np.atleast_2d(q), J.reshape(-1, *J.shape[-2:]), strict=True)
    return {
        "robot": robot.name,
        "base": given.base_frame,
        "frame": frame,
        "reference": given.reference,
        "q_names": inputs.position_labels(robot.mechanism),
        "rows": ROWS,
        "columns": inputs.velocity_labels(robot.mechanism),
        "results": [{"q": positions, "jacobian": matrix} for positions, matrix in pairs],
    }


def _write(path: Path, J: Floats, columns: list[str]) -> None:
    if path.suffix.lower() == ".npy":
        output.write_npy(path, J)
    elif J.ndim == 2:
        output.write_csv(path, ("velocity", *columns), _lines(J))
    else:
        rows = ([k, *line] for k, matrix in enumerate(J) for line in _lines(matrix))
        output.write_csv(path, ("row", "velocity", *columns), rows)


def _lines(matrix: Floats) -> Iterator[list[Any]]:
    for name, values in zip(ROWS, matrix, strict=True):
        yield [name, *values.tolist()]


def _show(
    robot: lw.Robot, frame: str, given: JacobianArguments, result: tuple[Floats, Floats]
) -> None:
    q, J = result
    screen = output.console()
    title = f"{robot.name}: Jacobian of {frame}, reference {given.reference}"
    screen.print(output.heading(title))
    columns = inputs.velocity_labels(robot.mechanism)
    matrices, positions = J.reshape(-1, *J.shape[-2:]), np.atleast_2d(q)
    limit = None if q.ndim == 1 else output.ROWS_SHOWN // len(ROWS)
    for k, matrix in enumerate(matrices[:limit]):
        if q.ndim == 2:
            screen.print(f"row {k}")
        print_positions(screen, robot, positions[k], Angles(given.deg))
        if sum(max(len(name), 11) + 2 for name in columns) + 4 > screen.width:
            screen.print("transposed: a line for each joint", _upright(matrix, columns), sep="\n")
            continue
        shown = output.table(("", *columns), numbers=len(columns))
        for name, values in zip(ROWS, matrix, strict=True):
            shown.add_row(name, *[output.number(v) for v in values])
        screen.print(shown)
    if limit is not None:
        output.tell_rest(len(matrices), limit)


def _upright(matrix: Floats, columns: list[str]) -> Table:
    """Many joints: one line for each of them, so that lines stay short."""
    shown = output.table(("joint", *ROWS), numbers=len(ROWS))
    for name, values in zip(columns, matrix.T, strict=True):
        shown.add_row(name, *[output.number(v) for v in values])
    return shown
