"""``linkwork jacobian``: the velocity of a frame for each joint's velocity."""

from __future__ import annotations

from typing import cast, get_args

import numpy as np

from linkwork.algorithms.jacobian import Reference
from linkwork.cli import inputs, output
from linkwork.cli.arguments import JacobianArguments
from linkwork.cli.fk import print_positions
from linkwork.cli.inputs import Angles
from linkwork.errors import UnknownNameError
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


def run(given: JacobianArguments) -> None:
    """Print the Jacobian, and write it where a file is asked for."""
    references = get_args(Reference)
    if given.reference not in references:
        raise UnknownNameError("reference", given.reference, references)
    out = output.target_file(given.out)
    robot, angles = inputs.open_robot(given, given.frame), Angles(given.deg)
    q = inputs.configurations(robot, given.q, given.q_file, angles)
    frame = robot.tip if given.frame is None else given.frame
    J = robot.jacobian(q, frame, reference=cast("Reference", given.reference))
    columns, single = inputs.velocity_labels(robot.mechanism), q.ndim == 1
    matrices, positions = J.reshape(-1, *J.shape[-2:]), np.atleast_2d(q)
    lines = (
        [*(() if single else (k,)), name, *values.tolist()]
        for k, matrix in enumerate(matrices)
        for name, values in zip(ROWS, matrix, strict=True)
    )
    output.write_numbers(out, J, (*(() if single else ("row",)), "velocity", *columns), lines)
    if given.json:
        pairs = zip(positions, matrices, strict=True)
        output.print_json(
            {
                "robot": robot.name,
                "base": given.base_frame,
                "frame": frame,
                "reference": given.reference,
                "q_names": inputs.position_labels(robot.mechanism),
                "rows": ROWS,
                "columns": columns,
                "results": [{"q": q, "jacobian": matrix} for q, matrix in pairs],
            }
        )
        return
    screen = Screen()
    title = f"{robot.name}: Jacobian of {frame}, reference {given.reference}"
    screen.print(output.heading(title))
    upright = sum(max(len(name), 11) + 2 for name in columns) + 4 > screen.width
    limit = None if single else output.ROWS_SHOWN // len(ROWS)
    for k, matrix in enumerate(matrices[:limit]):
        if not single:
            screen.print(f"row {k}")
        print_positions(screen, robot, positions[k], angles)
        if upright:  # many joints: one line for each of them, so that lines stay short
            screen.print("transposed: a line for each joint")
        across, down = (ROWS, columns) if upright else (columns, ROWS)
        shown = TextTable(("joint" if upright else "", *across), numbers=len(across))
        for name, values in zip(down, matrix.T if upright else matrix, strict=True):
            shown.add_row(name, *map(output.number, values))
        screen.print(shown)
    output.tell_rest(len(matrices), limit)
